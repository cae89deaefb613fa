/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verifying keys, verification and call data of the C library. */
#include "api/api.h"

#include "formats/detect.h"
#include "formats/snarkjs_json.h"

#include <stdlib.h>
#include <string.h>

/* Say in the log what a reader took for granted. */
static void log_notes(const cuzk_ctx *ctx, const char *what, unsigned notes,
                      const cuzk_curve *curve)
{
    if (notes != 0 && ctx->log != NULL) {
        char text[256];
        cuzk_json_notes_text(text, sizeof text, notes, curve);
        cuzk_api_log(ctx, CUZK_LOG_INFO, "%s: %s", what, text);
    }
}

/* The verifying key in a proving key's bytes, every point checked. */
static cuzk_status vk_from_zkey(cuzk_vk *out, const cuzk_zkey *zkey, cuzk_pool *pool,
                                cuzk_error *err)
{
    CUZK_TRY(cuzk_vk_check(&zkey->vk, pool, err));
    CUZK_TRY(cuzk_api_copy_vk(out, &zkey->vk, err));
    out->is_test_key = zkey->is_test_key;
    return CUZK_OK;
}

static cuzk_status read_vk(const cuzk_ctx *ctx, cuzk_vk *out, const cuzk_input *input,
                           cuzk_error *err)
{
    unsigned notes = 0;
    cuzk_zkey zkey;
    cuzk_params params;
    switch (cuzk_format_detect(input->data, input->size)) {
    case CUZK_FORMAT_ZKEY:
        CUZK_TRY(cuzk_zkey_open(&zkey, input->data, input->size, err));
        return vk_from_zkey(out, &zkey, ctx->pool, err);
    case CUZK_FORMAT_PARAMS:
    case CUZK_FORMAT_BELLPERSON:
        CUZK_TRY(cuzk_params_open(&params, input->data, input->size, err));
        CUZK_TRY(cuzk_params_vk(out, &params, ctx->pool, err));
        out->is_test_key = params.is_test_key;
        return CUZK_OK;
    case CUZK_FORMAT_VK:
        return cuzk_vk_read(out, input->data, input->size, ctx->pool, err);
    default:
        CUZK_TRY(cuzk_vk_from_json(out, input->data, input->size, &notes, ctx->pool, err));
        log_notes(ctx, "verifying key", notes, out->curve);
        return CUZK_OK;
    }
}

/* Make the object of a key; *vk belongs to it afterwards, or is cleared. */
static cuzk_status make_vkey(cuzk_vkey **out, cuzk_vk *vk, bool allow_test_key, cuzk_error *err)
{
    cuzk_status status = cuzk_api_test_key(vk->is_test_key, allow_test_key, "verifying key", err);
    cuzk_vkey *made = status == CUZK_OK ? calloc(1, sizeof *made) : NULL;
    if (made == NULL) {
        cuzk_vk_clear(vk);
        return status != CUZK_OK
                   ? status
                   : CUZK_FAIL(err, CUZK_E_MEMORY, "opening a verifying key: out of memory");
    }
    made->vk = *vk;
    status = cuzk_verifier_init(&made->verifier, &made->vk, true, err);
    if (status != CUZK_OK) {
        cuzk_vkey_close(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

static cuzk_status open_vkey(const cuzk_ctx *ctx, cuzk_vkey **out, const cuzk_input *input,
                             bool allow_test_key, cuzk_error *err)
{
    cuzk_vk vk = {0};
    CUZK_TRY(read_vk(ctx, &vk, input, err));
    return make_vkey(out, &vk, allow_test_key, err);
}

cuzk_status cuzk_vkey_open(const cuzk_ctx *ctx, cuzk_vkey **vkey, const void *data, size_t n_bytes,
                           bool allow_test_key, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, data);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open(&input, data, n_bytes, err));
    cuzk_status status = open_vkey(ctx, vkey, &input, allow_test_key, err);
    cuzk_error_prefix(err, "reading the verifying key");
    return status;
}

cuzk_status cuzk_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey, const char *path,
                                bool allow_test_key, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, path);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open_file(&input, path, err));
    cuzk_status status = open_vkey(ctx, vkey, &input, allow_test_key, err);
    cuzk_input_close(&input);
    cuzk_error_prefix(err, "reading verifying key \"%s\"", path);
    return status;
}

cuzk_status cuzk_vkey_from_key(const cuzk_ctx *ctx, cuzk_vkey **vkey, const cuzk_key *key,
                               cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, key);
    cuzk_vk vk = {0};
    if (key->is_params) {
        CUZK_TRY(cuzk_params_vk(&vk, &key->params, ctx->pool, err));
        vk.is_test_key = key->params.is_test_key;
    } else {
        CUZK_TRY(vk_from_zkey(&vk, &key->zkey, ctx->pool, err));
    }
    /* whoever opened the proving key has already said yes to a test key */
    return make_vkey(vkey, &vk, true, err);
}

void cuzk_vkey_close(cuzk_vkey *vkey)
{
    if (vkey != NULL) {
        cuzk_vk_clear(&vkey->vk);
        free(vkey);
    }
}

uint32_t cuzk_vkey_n_public(const cuzk_vkey *vkey)
{
    return vkey->vk.n_ic - 1;
}

/* Bellperson's form starts with a byte that has the flag of compressed points set. No JSON does,
 * but for a byte order mark. */
static bool is_binary(const cuzk_bytes *in)
{
    const uint8_t *data = in->data;
    return in->n_bytes > 0 && (data[0] & 0x80) != 0 && data[0] != 0xef;
}

/* Decode a proof for a key's curve: JSON, or bellperson's bytes. */
static cuzk_status read_proof(const cuzk_ctx *ctx, cuzk_proof_points *out, const cuzk_bytes *in,
                              const cuzk_curve *curve, cuzk_error *err)
{
    if (is_binary(in)) {
        CUZK_FAIL_IF(curve->id != CUZK_CURVE_BLS12_381, err, CUZK_E_MISMATCH,
                     "the proof has bellperson's form, which is over bls12381; the verifying key "
                     "is over %s",
                     curve->snarkjs_name);
        CUZK_FAIL_IF(in->n_bytes != CUZK_PROOF_BYTES, err, CUZK_E_FORMAT,
                     "the proof has %zu bytes, expected %d: one proof in bellperson's form",
                     in->n_bytes, (int)CUZK_PROOF_BYTES);
        return cuzk_proof_points_read(out, in->data, in->n_bytes, err);
    }
    unsigned notes = 0;
    CUZK_TRY(cuzk_proof_from_json(out, in->data, in->n_bytes, curve, &notes, err));
    log_notes(ctx, "proof", notes, curve);
    return CUZK_OK;
}

/* One proof of a call with its public values, decoded. */
struct item {
    cuzk_proof_points points;
    uint8_t *values; /* n_public × 32 bytes */
};

static cuzk_status read_item(const cuzk_ctx *ctx, struct item *item, const cuzk_vkey *vkey,
                             const cuzk_bytes *proof, const cuzk_bytes *public_values,
                             cuzk_error *err)
{
    uint32_t n_public = vkey->vk.n_ic - 1;
    cuzk_status status = read_proof(ctx, &item->points, proof, vkey->vk.curve, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "proof");
        return status;
    }
    item->values = malloc((size_t)n_public * 32 + 1);
    CUZK_FAIL_IF(item->values == NULL, err, CUZK_E_MEMORY, "verifying: out of memory");
    status = cuzk_public_from_json(item->values, n_public, public_values->data,
                                   public_values->n_bytes, vkey->vk.curve, err);
    cuzk_error_prefix(err, "public values");
    return status;
}

cuzk_status cuzk_verify(const cuzk_ctx *ctx, const cuzk_vkey *vkey, const void *proof,
                        size_t proof_bytes, const void *public_values, size_t public_bytes,
                        cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, public_values);
    cuzk_bytes in_proof = {proof, proof_bytes}, in_public = {public_values, public_bytes};
    struct item item = {.values = NULL};
    cuzk_status status = read_item(ctx, &item, vkey, &in_proof, &in_public, err);
    if (status == CUZK_OK) {
        status = cuzk_verifier_check(&vkey->verifier, &item.points, item.values, vkey->vk.n_ic - 1,
                                     ctx->pool, err);
    }
    free(item.values);
    return status;
}

cuzk_status cuzk_api_first_invalid(size_t *first, const cuzk_verifier *verifier,
                                   const cuzk_batch_item *batch, size_t bad, cuzk_pool *pool,
                                   cuzk_error *err)
{
    cuzk_error before = {0};
    *first = bad;
    cuzk_status status = cuzk_verifier_check_batch(verifier, batch, bad, first, pool, &before);
    if (status == CUZK_OK) {
        return CUZK_E_INVALID_PROOF;
    }
    if (err != NULL) {
        *err = before;
    }
    return status;
}

cuzk_status cuzk_verify_batch(const cuzk_ctx *ctx, size_t *first_invalid, const cuzk_vkey *vkey,
                              const cuzk_bytes *proofs, const cuzk_bytes *public_values, size_t n,
                              cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    if (n == 0) {
        return CUZK_OK;
    }
    CUZK_API_NOT_NULL(err, proofs);
    CUZK_API_NOT_NULL(err, public_values);
    struct item *items = calloc(n, sizeof *items);
    cuzk_batch_item *batch = calloc(n, sizeof *batch);
    cuzk_status status = CUZK_OK;
    if (items == NULL || batch == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "verifying %zu proofs: out of memory", n);
    }
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        if (proofs[i].data == NULL || public_values[i].data == NULL) {
            status = CUZK_FAIL(err, CUZK_E_ARGUMENT, "a buffer is NULL");
        } else {
            status = read_item(ctx, &items[i], vkey, &proofs[i], &public_values[i], err);
        }
        cuzk_error_prefix(err, "pair %zu", i);
        batch[i] = (cuzk_batch_item){&items[i].points, items[i].values, vkey->vk.n_ic - 1};
        if (status == CUZK_E_INVALID_PROOF) {
            size_t first;
            status = cuzk_api_first_invalid(&first, &vkey->verifier, batch, i, ctx->pool, err);
            if (status == CUZK_E_INVALID_PROOF && first_invalid != NULL) {
                *first_invalid = first;
            }
        }
    }
    if (status == CUZK_OK) {
        status =
            cuzk_verifier_check_batch(&vkey->verifier, batch, n, first_invalid, ctx->pool, err);
    }
    for (size_t i = 0; items != NULL && i < n; i++) {
        free(items[i].values);
    }
    free(items);
    free(batch);
    return status;
}

cuzk_status cuzk_calldata(char **text, const void *proof, size_t proof_bytes,
                          const void *public_values, size_t public_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, public_values);
    /* a proof without a curve is one of an older tool, which means bn128 */
    cuzk_proof_points points;
    cuzk_status status = cuzk_proof_from_json(&points, proof, proof_bytes,
                                              cuzk_curve_get(CUZK_CURVE_BN254), NULL, err);
    if (status == CUZK_E_MISMATCH) {
        cuzk_error_clear(err);
        status = cuzk_proof_from_json(&points, proof, proof_bytes, NULL, NULL, err);
    }
    CUZK_TRY(status);
    uint64_t n_values = 0;
    CUZK_TRY(cuzk_public_json_count(&n_values, public_values, public_bytes, err));
    uint8_t *values = malloc((size_t)n_values * 32 + 1);
    CUZK_FAIL_IF(values == NULL, err, CUZK_E_MEMORY, "reading public values: out of memory");
    cuzk_text out = {0};
    status =
        cuzk_public_from_json(values, n_values, public_values, public_bytes, points.curve, err);
    if (status == CUZK_OK) {
        cuzk_calldata_write(&out, &points, values, n_values);
        status = cuzk_text_check(&out, err);
    }
    free(values);
    if (status != CUZK_OK) {
        cuzk_text_clear(&out);
        return status;
    }
    *text = out.data; /* handed over */
    return CUZK_OK;
}
