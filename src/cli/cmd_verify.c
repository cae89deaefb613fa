/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk verify. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

static void free_files(cuzk_bytes *files, size_t n)
{
    for (size_t i = 0; files != NULL && i < n; i++) {
        free((void *)files[i].data);
    }
    free(files);
}

static int report(cuzk_cli_args *args, cuzk_status status, size_t n, size_t first_invalid)
{
    if (status != CUZK_OK && status != CUZK_E_INVALID_PROOF) {
        /* the library's text says which pair it is, and which of its two files */
        size_t pair = 0;
        if (n == 1 || (sscanf(args->err.text, "pair %zu: ", &pair) == 1 && pair < n)) {
            cuzk_cli_error_names(args, args->positional[1 + 2 * pair],
                                 args->positional[2 + 2 * pair]);
        }
        return cuzk_cli_fail(args);
    }
    char text[64] = "valid";
    if (n != 1) {
        snprintf(text, sizeof text, "valid (%zu proofs)", n);
    }
    return cuzk_cli_verdict(args, status == CUZK_OK, text, "proofs", n, first_invalid,
                            args->positional[2 + 2 * first_invalid]);
}

static int verify(cuzk_cli_args *args, const cuzk_ctx *ctx)
{
    size_t n = (args->n_positional - 1) / 2;
    /* public values first, then proofs */
    cuzk_bytes *files = calloc(2 * n, sizeof *files);
    if (files == NULL) {
        cuzk_cli_no_memory(args);
        return cuzk_cli_fail(args);
    }
    cuzk_vkey *vkey = NULL;
    int code = CUZK_EXIT_OK;
    bool allow = cuzk_cli_value(args, "--allow-test-key") != NULL;
    if (cuzk_vkey_open_file(ctx, &vkey, args->positional[0], allow, &args->err) != CUZK_OK) {
        code = cuzk_cli_fail(args);
    }
    for (size_t i = 0; i < 2 * n && code == CUZK_EXIT_OK; i++) {
        size_t place = i % 2 * n + i / 2;
        files[place].data =
            cuzk_cli_read_file(args, args->positional[1 + i], &files[place].n_bytes);
        if (files[place].data == NULL) {
            code = cuzk_cli_fail(args);
        }
    }
    if (code == CUZK_EXIT_OK) {
        size_t first_invalid = 0;
        cuzk_status status =
            n == 1 ? cuzk_verify(ctx, vkey, files[1].data, files[1].n_bytes, files[0].data,
                                 files[0].n_bytes, &args->err)
                   : cuzk_verify_batch(ctx, &first_invalid, vkey, files + n, files, n, &args->err);
        code = report(args, status, n, first_invalid);
    }
    cuzk_vkey_close(vkey);
    free_files(files, 2 * n);
    return code;
}

int cuzk_cli_verify(cuzk_cli_args *args)
{
    if (args->n_positional % 2 == 0) {
        return cuzk_cli_usage(args, "a PUBLIC is given without PROOF, expected: cuzk verify %s",
                              args->command->args);
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    code = verify(args, ctx);
    cuzk_ctx_destroy(ctx);
    return code;
}
