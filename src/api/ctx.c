/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Context, options, inputs: what every call of the library begins with. */
#include "api/api.h"

#include "base/cpu.h"
#include "r1cs/shape_r1cs.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_OF(x)  #x
#define TEXT_OF2(x) TEXT_OF(x)

const char *cuzk_version(void)
{
    return TEXT_OF2(CUZK_VERSION_MAJOR) "." TEXT_OF2(CUZK_VERSION_MINOR) "." TEXT_OF2(
        CUZK_VERSION_PATCH);
}

cuzk_status cuzk_api_options(void *out, size_t out_bytes, const void *options, const char *what,
                             cuzk_error *err)
{
    if (options == NULL) {
        return CUZK_OK;
    }
    size_t n_bytes;
    memcpy(&n_bytes, options, sizeof n_bytes);
    CUZK_FAIL_IF(n_bytes < sizeof n_bytes || n_bytes > out_bytes, err, CUZK_E_ARGUMENT,
                 "%s: struct_bytes is %zu, expected at most %zu: set the struct up with its INIT "
                 "macro",
                 what, n_bytes, out_bytes);
    memcpy(out, options, n_bytes);
    return CUZK_OK;
}

void cuzk_api_log(const cuzk_ctx *ctx, cuzk_log_level level, const char *fmt, ...)
{
    if (ctx->log == NULL) {
        return;
    }
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ctx->log(ctx->log_user, level, text);
}

cuzk_status cuzk_ctx_create(cuzk_ctx **ctx, const cuzk_ctx_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    cuzk_ctx_options o = CUZK_CTX_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_ctx_options", err));
    CUZK_TRY(cuzk_cpu_check(err));
    cuzk_ctx *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "making a context: out of memory");
    made->log = o.log;
    made->log_user = o.log_user;
    cuzk_status status = cuzk_pool_create(&made->pool, o.n_threads, err);
    if (status != CUZK_OK) {
        free(made);
        return status;
    }
    cuzk_api_log(made, CUZK_LOG_DEBUG, "cuzk %s: cpu path %s, threads %u", cuzk_version(),
                 cuzk_ctx_cpu(made), cuzk_ctx_n_threads(made));
    *ctx = made;
    return CUZK_OK;
}

void cuzk_ctx_destroy(cuzk_ctx *ctx)
{
    if (ctx != NULL) {
        cuzk_pool_destroy(ctx->pool);
        free(ctx);
    }
}

unsigned cuzk_ctx_n_threads(const cuzk_ctx *ctx)
{
    return cuzk_pool_threads(ctx->pool);
}

const char *cuzk_ctx_cpu(const cuzk_ctx *ctx)
{
    (void)ctx;
    return cuzk_cpu_path_name(cuzk_cpu_path_get());
}

void cuzk_free(void *p)
{
    free(p);
}

cuzk_status cuzk_input_open_file(cuzk_input *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    CUZK_TRY(cuzk_map_file_open(&out->file, path, err));
    out->data = out->file.data;
    out->size = out->file.size;
    return CUZK_OK;
}

cuzk_status cuzk_input_open(cuzk_input *out, const void *data, size_t n_bytes, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    CUZK_FAIL_IF(data == NULL && n_bytes != 0, err, CUZK_E_ARGUMENT,
                 "a buffer of %zu bytes is NULL", n_bytes);
    out->data = data;
    out->size = n_bytes;
    return CUZK_OK;
}

void cuzk_input_close(cuzk_input *input)
{
    cuzk_map_file_close(&input->file);
    memset(input, 0, sizeof *input);
}

cuzk_status cuzk_api_shape(cuzk_shape **out, const cuzk_input *r1cs, cuzk_error *err)
{
    cuzk_r1cs file;
    CUZK_TRY(cuzk_r1cs_open(&file, r1cs->data, r1cs->size, err));
    CUZK_TRY(cuzk_r1cs_require_groth16(&file, err));
    return cuzk_shape_from_r1cs(out, &file, err);
}

cuzk_status cuzk_api_witness(cuzk_witness **out, const cuzk_ctx *ctx, const cuzk_input *input,
                             const cuzk_curve *curve, uint32_t n_vars, uint32_t n_inputs,
                             cuzk_error *err)
{
    cuzk_wtns wtns;
    CUZK_TRY(cuzk_wtns_open(&wtns, input->data, input->size, err));
    CUZK_TRY(cuzk_wtns_check_circuit(&wtns, curve, n_vars, err));
    return cuzk_witness_from_values(out, curve, wtns.values, n_vars, n_inputs, "witness", ctx->pool,
                                    err);
}

cuzk_status cuzk_api_test_key(bool is_test_key, bool allow, const char *what, cuzk_error *err)
{
    CUZK_FAIL_IF(
        is_test_key && !allow, err, CUZK_E_UNSUPPORTED,
        "this %s is a test key: its trapdoor is known, anybody can forge proofs for it; it "
        "is used only where that is allowed by name (allow_test_key, --allow-test-key)",
        what);
    return CUZK_OK;
}

cuzk_status cuzk_api_copy_vk(cuzk_vk *out, const cuzk_vk *vk, cuzk_error *err)
{
    size_t n_bytes = (size_t)vk->n_ic * vk->curve->g[CUZK_G1].affine_bytes;
    void *ic = malloc(n_bytes + 1);
    CUZK_FAIL_IF(ic == NULL, err, CUZK_E_MEMORY, "copying a verifying key: out of memory");
    memcpy(ic, vk->ic, n_bytes);
    *out = *vk;
    out->ic = ic;
    out->owned = ic;
    return CUZK_OK;
}

cuzk_reporter cuzk_api_reporter(cuzk_progress progress, void *user)
{
    return (cuzk_reporter){.report = progress, .ctx = user};
}
