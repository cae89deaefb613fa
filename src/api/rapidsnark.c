/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prover.h and verifier.h on top of cuzk.h. A prover object is a context and a key. */
#include "cuzk.h"
#include "prover.h"
#include "verifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prover {
    cuzk_ctx *ctx;
    cuzk_key *key;
};

static void put_error(char *error_msg, unsigned long long n_bytes, const char *text)
{
    if (error_msg != NULL && n_bytes > 0) {
        snprintf(error_msg, (size_t)n_bytes, "%s", text);
    }
}

/* Put an error's text in the caller's buffer and give the code that stands for it. */
static int fail(const cuzk_error *err, char *error_msg, unsigned long long n_bytes)
{
    put_error(error_msg, n_bytes, err->text);
    return err->status == CUZK_E_WITNESS_LENGTH ? PROVER_INVALID_WITNESS_LENGTH : PROVER_ERROR;
}

static int fail_text(const char *text, char *error_msg, unsigned long long n_bytes)
{
    put_error(error_msg, n_bytes, text);
    return PROVER_ERROR;
}

void groth16_prover_destroy(void *prover_object)
{
    struct prover *prover = prover_object;
    if (prover != NULL) {
        cuzk_key_close(prover->key);
        cuzk_ctx_destroy(prover->ctx);
        free(prover);
    }
}

/* Make an object from a file (path) or a buffer (path NULL). n_threads: as in cuzk_ctx_options. */
static int create(struct prover **out, const char *path, const void *zkey,
                  unsigned long long zkey_size, unsigned n_threads, char *error_msg,
                  unsigned long long error_msg_maxsize)
{
    struct prover *prover = calloc(1, sizeof *prover);
    if (prover == NULL) {
        return fail_text("out of memory", error_msg, error_msg_maxsize);
    }
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = n_threads;
    cuzk_error err;
    cuzk_status status = cuzk_ctx_create(&prover->ctx, &options, &err);
    if (status == CUZK_OK && path != NULL) {
        status = cuzk_key_open_file(prover->ctx, &prover->key, path, NULL, &err);
    } else if (status == CUZK_OK) {
        status = cuzk_key_open(prover->ctx, &prover->key, zkey, (size_t)zkey_size, NULL, &err);
    }
    if (status != CUZK_OK) {
        groth16_prover_destroy(prover);
        return fail(&err, error_msg, error_msg_maxsize);
    }
    *out = prover;
    return PROVER_OK;
}

static int public_size(const char *path, const void *zkey, unsigned long long zkey_size,
                       unsigned long long *size, char *error_msg,
                       unsigned long long error_msg_maxsize)
{
    if (size == NULL) {
        return fail_text("Null public size", error_msg, error_msg_maxsize);
    }
    struct prover *prover = NULL;
    int code = create(&prover, path, zkey, zkey_size, 1, error_msg, error_msg_maxsize);
    if (code == PROVER_OK) {
        cuzk_key_info info;
        cuzk_key_get_info(&info, prover->key);
        *size = cuzk_public_size_max(info.n_public, CUZK_FORM_COMPACT);
        groth16_prover_destroy(prover);
    }
    return code;
}

int groth16_public_size_for_zkey_buf(const void *zkey_buffer, unsigned long long zkey_size,
                                     unsigned long long *size, char *error_msg,
                                     unsigned long long error_msg_maxsize)
{
    return public_size(NULL, zkey_buffer, zkey_size, size, error_msg, error_msg_maxsize);
}

int groth16_public_size_for_zkey_file(const char *zkey_fname, unsigned long long *size,
                                      char *error_msg, unsigned long long error_msg_maxsize)
{
    if (zkey_fname == NULL) {
        return fail_text("Null zkey file name", error_msg, error_msg_maxsize);
    }
    return public_size(zkey_fname, NULL, 0, size, error_msg, error_msg_maxsize);
}

void groth16_proof_size(unsigned long long *proof_size)
{
    *proof_size = cuzk_proof_size_max(NULL, CUZK_FORM_COMPACT);
}

int groth16_prover_create(void **prover_object, const void *zkey_buffer,
                          unsigned long long zkey_size, char *error_msg,
                          unsigned long long error_msg_maxsize)
{
    if (prover_object == NULL) {
        return fail_text("Null prover object", error_msg, error_msg_maxsize);
    }
    struct prover *prover = NULL;
    int code = create(&prover, NULL, zkey_buffer, zkey_size, 0, error_msg, error_msg_maxsize);
    if (code == PROVER_OK) {
        *prover_object = prover;
    }
    return code;
}

int groth16_prover_create_zkey_file(void **prover_object, const char *zkey_file_path,
                                    char *error_msg, unsigned long long error_msg_maxsize)
{
    if (prover_object == NULL) {
        return fail_text("Null prover object", error_msg, error_msg_maxsize);
    }
    if (zkey_file_path == NULL) {
        return fail_text("Null zkey file path", error_msg, error_msg_maxsize);
    }
    struct prover *prover = NULL;
    int code = create(&prover, zkey_file_path, NULL, 0, 0, error_msg, error_msg_maxsize);
    if (code == PROVER_OK) {
        *prover_object = prover;
    }
    return code;
}

/* The caller's two buffers. */
struct output {
    char *proof;
    unsigned long long *proof_size;
    char *public_values;
    unsigned long long *public_size;
};

/* Write proof and public values where both fit, else only the sizes that would do.
 *
 * Proofs vary in length by some digits from one call to the next. The size asked for is therefore
 * the longest that a proof of this key can have, so that a second call with it cannot fail. */
static int hand_out(const cuzk_proof *proof, const char *curve, const struct output *out,
                    char *error_msg, unsigned long long error_msg_maxsize)
{
    size_t need_proof = cuzk_proof_size_max(curve, CUZK_FORM_COMPACT);
    size_t need_public = cuzk_proof_public_size(proof, CUZK_FORM_COMPACT);
    if (*out->proof_size < need_proof || *out->public_size < need_public) {
        if (error_msg != NULL && error_msg_maxsize > 0) {
            snprintf(error_msg, (size_t)error_msg_maxsize,
                     "buffer too small: proof needs %zu bytes, has %llu; public values need %zu, "
                     "have %llu",
                     need_proof, *out->proof_size, need_public, *out->public_size);
        }
        *out->proof_size = need_proof;
        *out->public_size = need_public;
        return PROVER_ERROR_SHORT_BUFFER;
    }
    cuzk_error err;
    if (cuzk_proof_write(proof, out->proof, (size_t)*out->proof_size, CUZK_FORM_COMPACT, &err) !=
            CUZK_OK ||
        cuzk_proof_public_write(proof, out->public_values, (size_t)*out->public_size,
                                CUZK_FORM_COMPACT, &err) != CUZK_OK) {
        return fail(&err, error_msg, error_msg_maxsize);
    }
    *out->proof_size = strlen(out->proof);
    *out->public_size = strlen(out->public_values);
    return PROVER_OK;
}

/* The reason why a call with these arguments cannot work; NULL if it can. */
static const char *missing_argument(const void *wtns, const struct output *out)
{
    if (wtns == NULL) {
        return "Null witness buffer";
    }
    if (out->proof_size == NULL || out->public_size == NULL) {
        return out->proof_size == NULL ? "Null proof size" : "Null public size";
    }
    if (out->proof == NULL && *out->proof_size != 0) {
        return "Null proof buffer";
    }
    if (out->public_values == NULL && *out->public_size != 0) {
        return "Null public buffer";
    }
    return NULL;
}

static int prove(const struct prover *prover, const void *wtns, unsigned long long wtns_size,
                 const struct output *out, char *error_msg, unsigned long long error_msg_maxsize)
{
    const char *missing = missing_argument(wtns, out);
    if (missing != NULL) {
        return fail_text(missing, error_msg, error_msg_maxsize);
    }
    cuzk_error err;
    cuzk_proof *proof = NULL;
    if (cuzk_prove(prover->ctx, &proof, prover->key, wtns, (size_t)wtns_size, NULL, &err) !=
        CUZK_OK) {
        return fail(&err, error_msg, error_msg_maxsize);
    }
    cuzk_key_info info;
    cuzk_key_get_info(&info, prover->key);
    int code = hand_out(proof, info.curve, out, error_msg, error_msg_maxsize);
    cuzk_proof_destroy(proof);
    return code;
}

int groth16_prover_prove(void *prover_object, const void *wtns_buffer, unsigned long long wtns_size,
                         char *proof_buffer, unsigned long long *proof_size, char *public_buffer,
                         unsigned long long *size, char *error_msg,
                         unsigned long long error_msg_maxsize)
{
    if (prover_object == NULL) {
        return fail_text("Null prover object", error_msg, error_msg_maxsize);
    }
    struct output out = {proof_buffer, proof_size, public_buffer, size};
    return prove(prover_object, wtns_buffer, wtns_size, &out, error_msg, error_msg_maxsize);
}

int groth16_prover(const void *zkey_buffer, unsigned long long zkey_size, const void *wtns_buffer,
                   unsigned long long wtns_size, char *proof_buffer, unsigned long long *proof_size,
                   char *public_buffer, unsigned long long *size, char *error_msg,
                   unsigned long long error_msg_maxsize)
{
    struct prover *prover = NULL;
    int code = create(&prover, NULL, zkey_buffer, zkey_size, 0, error_msg, error_msg_maxsize);
    if (code == PROVER_OK) {
        struct output out = {proof_buffer, proof_size, public_buffer, size};
        code = prove(prover, wtns_buffer, wtns_size, &out, error_msg, error_msg_maxsize);
        groth16_prover_destroy(prover);
    }
    return code;
}

int groth16_prover_zkey_file(const char *zkey_file_path, const void *wtns_buffer,
                             unsigned long long wtns_size, char *proof_buffer,
                             unsigned long long *proof_size, char *public_buffer,
                             unsigned long long *size, char *error_msg,
                             unsigned long long error_msg_maxsize)
{
    void *prover = NULL;
    int code =
        groth16_prover_create_zkey_file(&prover, zkey_file_path, error_msg, error_msg_maxsize);
    if (code == PROVER_OK) {
        code = groth16_prover_prove(prover, wtns_buffer, wtns_size, proof_buffer, proof_size,
                                    public_buffer, size, error_msg, error_msg_maxsize);
        groth16_prover_destroy(prover);
    }
    return code;
}

int groth16_verify(const char *proof, const char *inputs, const char *verification_key,
                   char *error_msg, unsigned long error_msg_maxsize)
{
    if (proof == NULL || inputs == NULL || verification_key == NULL) {
        put_error(error_msg, error_msg_maxsize, "Null proof, inputs or verification key");
        return VERIFIER_ERROR;
    }
    cuzk_error err;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 1;
    cuzk_ctx *ctx = NULL;
    cuzk_vkey *vkey = NULL;
    cuzk_status status = cuzk_ctx_create(&ctx, &options, &err);
    if (status == CUZK_OK) {
        status =
            cuzk_vkey_open(ctx, &vkey, verification_key, strlen(verification_key), false, &err);
    }
    if (status == CUZK_OK) {
        status = cuzk_verify(ctx, vkey, proof, strlen(proof), inputs, strlen(inputs), &err);
    }
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    if (status == CUZK_OK) {
        return VERIFIER_VALID_PROOF;
    }
    put_error(error_msg, error_msg_maxsize, err.text);
    return status == CUZK_E_INVALID_PROOF ? VERIFIER_INVALID_PROOF : VERIFIER_ERROR;
}
