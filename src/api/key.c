/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proving keys of the C library: .zkey and .params behind one object. */
#include "api/api.h"
#include "api/record.h"

#include "formats/detect.h"

#include <stdlib.h>
#include <string.h>

static cuzk_status open_zkey(const cuzk_ctx *ctx, cuzk_key *key, const cuzk_key_options *options,
                             cuzk_error *err)
{
    CUZK_TRY(cuzk_zkey_open(&key->zkey, key->input.data, key->input.size, err));
    CUZK_TRY(cuzk_api_test_key(key->zkey.is_test_key, options->allow_test_key, "key", err));
    if (key->zkey.no_phase2) {
        cuzk_api_log(ctx, CUZK_LOG_WARN,
                     "gamma equals delta: nobody contributed to phase 2 of this key, anybody can "
                     "forge proofs for it");
    }
    key->n_constraints = cuzk_zkey_n_constraints(&key->zkey);
    if (options->r1cs_path != NULL) {
        key->r1cs_path = strdup(options->r1cs_path);
        CUZK_FAIL_IF(key->r1cs_path == NULL, err, CUZK_E_MEMORY, "opening a key: out of memory");
    }
    key->r1cs = options->r1cs;
    cuzk_api_device_choose(&key->choice, ctx, options->device, key->n_constraints,
                           options->drop_pages);
    cuzk_prover_params params = {.drop_mapped_pages =
                                     options->drop_pages && key->input.file.data != NULL};
    return cuzk_prover_create_zkey(&key->prover, &key->zkey, NULL, &params, ctx->pool, err);
}

static cuzk_status open_params(const cuzk_ctx *ctx, cuzk_key *key, const cuzk_key_options *options,
                               cuzk_error *err)
{
    key->is_params = true;
    CUZK_TRY(cuzk_params_open(&key->params, key->input.data, key->input.size, err));
    CUZK_TRY(cuzk_api_test_key(key->params.is_test_key, options->allow_test_key, "key", err));
    CUZK_FAIL_IF(options->r1cs_path == NULL && options->r1cs.data == NULL, err, CUZK_E_ARGUMENT,
                 "a .params file does not say which variables its points belong to: its circuit "
                 "is needed as well (r1cs; --r1cs FILE)");
    cuzk_input r1cs;
    if (options->r1cs_path != NULL) {
        CUZK_TRY(cuzk_input_open_file(&r1cs, options->r1cs_path, err));
    } else {
        CUZK_TRY(cuzk_input_open(&r1cs, options->r1cs.data, options->r1cs.n_bytes, err));
    }
    cuzk_status status = cuzk_api_shape(&key->shape, &r1cs, err);
    cuzk_input_close(&r1cs);
    if (status != CUZK_OK) {
        if (options->r1cs_path != NULL) {
            cuzk_error_prefix(err, "circuit \"%s\"", options->r1cs_path);
        } else {
            cuzk_error_prefix(err, "circuit");
        }
        return status;
    }
    key->n_constraints = key->shape->n_constraints;
    cuzk_api_device_choose(&key->choice, ctx, options->device, key->n_constraints,
                           options->drop_pages);
    bool is_cpu = strcmp(key->choice.name, "cpu") == 0;
    cuzk_prover_params params = {.drop_mapped_pages =
                                     options->drop_pages && key->input.file.data != NULL,
                                 .decode_late = options->drop_pages || !is_cpu,
                                 .device_decodes = !is_cpu && !key->choice.is_auto};
    return cuzk_prover_create_params(&key->prover, &key->params, key->shape, &params, ctx->pool,
                                     err);
}

/* The caller's options, checked before any file is opened. */
static cuzk_status take_options(cuzk_key_options *out, const cuzk_key_options *options,
                                cuzk_error *err)
{
    *out = (cuzk_key_options)CUZK_KEY_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(out, sizeof *out, options, "cuzk_key_options", err));
    return cuzk_api_device_check(out->device, err);
}

/* Take over *input and open what it holds; *input belongs to the key afterwards, or is closed. */
static cuzk_status open_key(const cuzk_ctx *ctx, cuzk_key **key, cuzk_input *input,
                            const char *path, const cuzk_key_options *options, cuzk_error *err)
{
    cuzk_status status;
    uint64_t begin_ns = cuzk_api_record_now();
    cuzk_key *made = calloc(1, sizeof *made);
    if (made == NULL) {
        cuzk_input_close(input);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "opening a key: out of memory");
    }
    made->input = *input;
    made->path = path != NULL ? strdup(path) : NULL; /* without it messages say less */
    cuzk_format format = cuzk_format_detect(input->data, input->size);
    if (format == CUZK_FORMAT_PARAMS || format == CUZK_FORMAT_BELLPERSON) {
        status = open_params(ctx, made, options, err);
    } else {
        status = open_zkey(ctx, made, options, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_api_device_open_chosen(&made->device, &made->pinned, &made->choice, ctx,
                                             made->prover, err);
    }
    cuzk_api_record_span(CUZK_SPAN_RESIDENT_LOAD, begin_ns, input->size, path, status);
    if (status != CUZK_OK) {
        cuzk_key_close(made);
        return status;
    }
    *key = made;
    return CUZK_OK;
}

cuzk_status cuzk_key_open_file(const cuzk_ctx *ctx, cuzk_key **key, const char *path,
                               const cuzk_key_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, path);
    cuzk_key_options o;
    cuzk_input input;
    CUZK_TRY(take_options(&o, options, err));
    CUZK_TRY(cuzk_input_open_file(&input, path, err));
    cuzk_status status = open_key(ctx, key, &input, path, &o, err);
    cuzk_error_prefix(err, "reading key \"%s\"", path);
    return status;
}

cuzk_status cuzk_key_open(const cuzk_ctx *ctx, cuzk_key **key, const void *data, size_t n_bytes,
                          const cuzk_key_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, data);
    cuzk_key_options o;
    cuzk_input input;
    CUZK_TRY(take_options(&o, options, err));
    CUZK_TRY(cuzk_input_open(&input, data, n_bytes, err));
    cuzk_status status = open_key(ctx, key, &input, NULL, &o, err);
    cuzk_error_prefix(err, "reading the key");
    return status;
}

void cuzk_key_close(cuzk_key *key)
{
    if (key != NULL) {
        cuzk_api_device_close(key->device);
        cuzk_api_pinned_destroy(key->pinned);
        cuzk_prover_destroy(key->prover);
        cuzk_shape_destroy(key->shape);
        cuzk_input_close(&key->input);
        free(key->path);
        free(key->r1cs_path);
        free(key);
    }
}

void cuzk_key_get_info(cuzk_key_info *info, const cuzk_key *key)
{
    memset(info, 0, sizeof *info);
    info->format = key->is_params ? "params" : "zkey";
    info->curve = cuzk_prover_curve(key->prover)->snarkjs_name;
    info->n_bytes = key->input.size;
    info->n_vars = cuzk_prover_n_vars(key->prover);
    info->n_public = cuzk_prover_n_inputs(key->prover) - 1;
    info->n_constraints = key->n_constraints;
    info->lg_domain = key->is_params ? key->params.lg_domain : key->zkey.lg_domain;
    info->is_test_key = key->is_params ? key->params.is_test_key : key->zkey.is_test_key;
    memcpy(info->device, key->choice.name, sizeof info->device);
    info->is_unsafe = !key->is_params && key->zkey.no_phase2;
}
