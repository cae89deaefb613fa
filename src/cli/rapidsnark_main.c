/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The programs `prover` and `verifier` as rapidsnark has them: same arguments, the same lines on
 * stderr, exit code 1 for every failure. Results are JSON without white space. */
#include "cli/cli.h"

#include <stdlib.h>

static int fail(const cuzk_error *err)
{
    fprintf(stderr, "Error: %s\n", err->text);
    return EXIT_FAILURE;
}

int cuzk_cli_rapidsnark_prover(int argc, const char *const *argv)
{
    if (argc != 5) {
        fprintf(stderr, "Invalid number of parameters\n"
                        "Usage: prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>\n");
        return EXIT_FAILURE;
    }
    cuzk_cli_watch_inputs("Error: ", argv + 1, 2, false);
    cuzk_error err;
    cuzk_ctx *ctx = NULL;
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    int code = EXIT_SUCCESS;
    if (cuzk_ctx_create(&ctx, NULL, &err) != CUZK_OK ||
        cuzk_key_open_file(ctx, &key, argv[1], NULL, &err) != CUZK_OK ||
        cuzk_prove_file(ctx, &proof, key, argv[2], NULL, &err) != CUZK_OK ||
        cuzk_proof_write_files(proof, argv[3], argv[4], CUZK_FORM_COMPACT, &err) != CUZK_OK) {
        code = fail(&err);
    }
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    cuzk_ctx_destroy(ctx);
    return code;
}

int cuzk_cli_rapidsnark_verifier(int argc, const char *const *argv)
{
    if (argc != 4) {
        fprintf(stderr, "Invalid number of parameters:\n"
                        "Usage: verifier <verification_key.json> <inputs.json> <proof.json>\n");
        return EXIT_FAILURE;
    }
    cuzk_cli_watch_inputs("Error: ", argv + 1, 1, false);
    static const cuzk_cli_command command = {.name = "verifier"};
    cuzk_cli_args args = {.command = &command};
    cuzk_ctx *ctx = NULL;
    cuzk_vkey *vkey = NULL;
    size_t n_public = 0, n_proof = 0;
    char *public_values = cuzk_cli_read_file(&args, argv[2], &n_public);
    char *proof = public_values != NULL ? cuzk_cli_read_file(&args, argv[3], &n_proof) : NULL;
    cuzk_status status = args.err.status;
    if (proof != NULL) {
        status = cuzk_ctx_create(&ctx, NULL, &args.err);
        if (status == CUZK_OK) {
            status = cuzk_vkey_open_file(ctx, &vkey, argv[1], false, &args.err);
        }
        if (status == CUZK_OK) {
            status = cuzk_verify(ctx, vkey, proof, n_proof, public_values, n_public, &args.err);
        }
    }
    int code = EXIT_FAILURE;
    if (status == CUZK_OK) {
        fprintf(stderr, "Result: Valid proof\n");
        code = EXIT_SUCCESS;
    } else if (status == CUZK_E_INVALID_PROOF) {
        fprintf(stderr, "Result: Invalid proof\n");
    } else {
        fail(&args.err);
    }
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    free(proof);
    free(public_values);
    return code;
}
