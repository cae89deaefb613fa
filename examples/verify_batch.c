/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verify many proofs of one key at once.
 *
 *     cc verify_batch.c $(pkg-config --cflags --libs cuzk) -o verify_batch
 *     ./verify_batch verification_key.json public1.json proof1.json [public2.json proof2.json]...
 */
#include <cuzk.h>

#include <stdio.h>
#include <stdlib.h>

/* The content of a file; data is NULL on failure. */
static cuzk_bytes read_file(const char *path)
{
    cuzk_bytes out = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return out;
    }
    enum { CHUNK = 65536 };
    char *data = NULL;
    size_t n = 0;
    for (;;) {
        char *more = realloc(data, n + CHUNK);
        if (more == NULL) {
            break;
        }
        data = more;
        size_t k = fread(data + n, 1, CHUNK, f);
        n += k;
        if (k < CHUNK) {
            out.data = data;
            out.n_bytes = n;
            break;
        }
    }
    fclose(f);
    return out;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc % 2 != 0) {
        fprintf(stderr, "usage: verify_batch VKEY PUBLIC PROOF [PUBLIC PROOF]...\n");
        return 2;
    }
    size_t n = (size_t)(argc - 2) / 2;
    cuzk_bytes *public_values = calloc(n, sizeof *public_values);
    cuzk_bytes *proofs = calloc(n, sizeof *proofs);
    cuzk_error err = {CUZK_OK, 0, NULL, ""};
    cuzk_ctx *ctx = NULL;
    cuzk_vkey *vkey = NULL;
    size_t first_invalid = 0;
    cuzk_status status = CUZK_E_MEMORY;
    if (public_values != NULL && proofs != NULL) {
        for (size_t i = 0; i < n; i++) {
            public_values[i] = read_file(argv[2 + 2 * i]);
            proofs[i] = read_file(argv[3 + 2 * i]);
        }
        status = cuzk_ctx_create(&ctx, NULL, &err);
    }
    if (status == CUZK_OK) {
        status = cuzk_vkey_open_file(ctx, &vkey, argv[1], false, &err);
    }
    if (status == CUZK_OK) {
        status = cuzk_verify_batch(ctx, &first_invalid, vkey, proofs, public_values, n, &err);
    }
    if (status == CUZK_OK) {
        printf("%zu valid proofs\n", n);
    } else if (status == CUZK_E_INVALID_PROOF) {
        printf("%s: invalid: %s\n", argv[3 + 2 * first_invalid], err.text);
    } else {
        printf("%s: %s\n", cuzk_status_text(status), err.text);
    }
    for (size_t i = 0; public_values != NULL && proofs != NULL && i < n; i++) {
        free((void *)public_values[i].data);
        free((void *)proofs[i].data);
    }
    free(public_values);
    free(proofs);
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    return cuzk_status_exit_code(status);
}
