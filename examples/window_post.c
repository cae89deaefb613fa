/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Prove a Filecoin Window PoSt from the vanilla proofs of its sectors and print it in hexadecimal;
 * each partition has been verified then.
 *
 *     cc window_post.c $(pkg-config --cflags --libs cuzk) -o window_post
 *     ./window_post PARAMS REGISTERED_PROOF RANDOMNESS VANILLA...
 *
 * RANDOMNESS: 64 hexadecimal digits. VANILLA: bincode, one file a sector. */
#include <cuzk_filecoin.h>

#include <stdio.h>
#include <stdlib.h>

/* The content of a file; data is NULL on failure. */
static cuzk_bytes read_file(const char *path)
{
    cuzk_bytes out = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        return out;
    }
    long size = ftell(f);
    char *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(f);
    if (data != NULL) {
        out.data = data;
        out.n_bytes = fread(data, 1, (size_t)size, f);
    }
    fclose(f);
    return out;
}

int main(int argc, char **argv)
{
    enum { FIRST_VANILLA = 4, SECTORS_MAX = 64 };
    if (argc <= FIRST_VANILLA || argc > FIRST_VANILLA + SECTORS_MAX) {
        fprintf(stderr, "usage: window_post PARAMS REGISTERED_PROOF RANDOMNESS VANILLA...\n");
        return 2;
    }
    cuzk_error err;
    cuzk_ctx *ctx = NULL;
    cuzk_filecoin_request *request = NULL;
    cuzk_filecoin_key *key = NULL;
    cuzk_filecoin_proof *proof = NULL;
    cuzk_bytes vanilla[SECTORS_MAX] = {{NULL, 0}};
    int code = 1;

    cuzk_filecoin_key_options options = CUZK_FILECOIN_KEY_OPTIONS_INIT;
    options.params_path = argv[1];
    options.allow_test_key = true; /* an example; whoever verifies for real says no */
    if (cuzk_ctx_create(&ctx, NULL, &err) != CUZK_OK ||
        cuzk_filecoin_request_create(&request, CUZK_FILECOIN_WINDOW, &err) != CUZK_OK ||
        cuzk_filecoin_request_set(request, "registered_proof", argv[2], &err) != CUZK_OK ||
        cuzk_filecoin_request_set(request, "randomness", argv[3], &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        goto out;
    }
    for (int i = FIRST_VANILLA; i < argc; i++) {
        cuzk_bytes *v = &vanilla[i - FIRST_VANILLA];
        *v = read_file(argv[i]);
        if (v->data == NULL) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            goto out;
        }
        /* the request borrows the bytes until it is destroyed */
        if (cuzk_filecoin_request_add_vanilla(request, v->data, v->n_bytes, &err) != CUZK_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], err.text);
            goto out;
        }
    }
    /* a server opens the key once and proves many requests with it, from any thread */
    if (cuzk_filecoin_key_open(ctx, &key, request, &options, &err) != CUZK_OK ||
        cuzk_filecoin_prove(ctx, &proof, key, request, NULL, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        goto out;
    }
    cuzk_bytes bytes = cuzk_filecoin_proof_bytes(proof);
    for (size_t i = 0; i < bytes.n_bytes; i++) {
        printf("%02x", ((const unsigned char *)bytes.data)[i]);
    }
    printf("\n");
    code = 0;
out:
    cuzk_filecoin_proof_destroy(proof);
    cuzk_filecoin_key_close(key);
    cuzk_filecoin_request_destroy(request);
    cuzk_ctx_destroy(ctx);
    for (int i = 0; i < SECTORS_MAX; i++) {
        free((void *)vanilla[i].data);
    }
    return code;
}
