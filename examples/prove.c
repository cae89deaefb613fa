/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Prove a circom witness and verify the proof, with the C library.
 *
 *     cc prove.c $(pkg-config --cflags --libs cuzk) -o prove
 *     ./prove circuit.zkey witness.wtns
 */
#include <cuzk.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: prove KEY.zkey WITNESS.wtns\n");
        return 2;
    }
    cuzk_error err;
    cuzk_ctx *ctx = NULL;
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    cuzk_vkey *vkey = NULL;
    char *proof_json = NULL, *public_json = NULL;
    int code = 1;

    if (cuzk_ctx_create(&ctx, NULL, &err) != CUZK_OK ||
        cuzk_key_open_file(ctx, &key, argv[1], NULL, &err) != CUZK_OK ||
        cuzk_prove_file(ctx, &proof, key, argv[2], NULL, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        goto out;
    }

    size_t proof_bytes = cuzk_proof_size(proof, CUZK_FORM_SNARKJS);
    size_t public_bytes = cuzk_proof_public_size(proof, CUZK_FORM_SNARKJS);
    proof_json = malloc(proof_bytes);
    public_json = malloc(public_bytes);
    if (proof_json == NULL || public_json == NULL ||
        cuzk_proof_write(proof, proof_json, proof_bytes, CUZK_FORM_SNARKJS, &err) != CUZK_OK ||
        cuzk_proof_public_write(proof, public_json, public_bytes, CUZK_FORM_SNARKJS, &err) !=
            CUZK_OK) {
        goto out;
    }
    printf("%s\n%s\n", proof_json, public_json);

    /* sizes of texts count their final NUL, which is not part of the JSON */
    if (cuzk_vkey_from_key(ctx, &vkey, key, &err) != CUZK_OK ||
        cuzk_verify(ctx, vkey, proof_json, proof_bytes - 1, public_json, public_bytes - 1, &err) !=
            CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        goto out;
    }
    code = 0;
out:
    free(proof_json);
    free(public_json);
    cuzk_vkey_close(vkey);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    cuzk_ctx_destroy(ctx);
    return code;
}
