/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports on files: the formats layer's inspection and the deep check of keys behind cuzk.h's
 * callback. */
#include "api/api.h"

#include "formats/detect.h"
#include "formats/inspect.h"
#include "formats/zkey_contributions.h"
#include "groth16/key_check.h"

_Static_assert((int)CUZK_REPORT_FACT == (int)CUZK_INSPECT_FACT, "same values");
_Static_assert((int)CUZK_REPORT_NOTE == (int)CUZK_INSPECT_NOTE, "same values");
_Static_assert((int)CUZK_REPORT_WARNING == (int)CUZK_INSPECT_WARNING, "same values");
_Static_assert((int)CUZK_REPORT_ERROR == (int)CUZK_INSPECT_ERROR, "same values");

struct sink {
    cuzk_report report;
    void *user;
};

static void pass_on(void *user, cuzk_inspect_kind kind, const char *name, const char *value,
                    bool is_number)
{
    const struct sink *sink = user;
    sink->report(sink->user, (cuzk_report_kind)kind, name, value, is_number);
}

cuzk_status cuzk_inspect_file(const cuzk_ctx *ctx, const char *path, cuzk_report report, void *user,
                              cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, path);
    CUZK_API_NOT_NULL(err, report);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open_file(&input, path, err));
    struct sink sink = {report, user};
    cuzk_inspect_options options = {.pool = ctx->pool};
    cuzk_status status = cuzk_inspect(input.data, input.size, &options, pass_on, &sink, err);
    cuzk_input_close(&input);
    cuzk_error_prefix(err, "\"%s\"", path);
    return status;
}

struct check {
    const cuzk_ctx *ctx;
    cuzk_input input;
    cuzk_shape *shape;        /* NULL without a circuit */
    uint32_t n_contributions; /* of a .zkey */
    cuzk_reporter reporter;
    struct sink sink;
    cuzk_error *err;
};

/* A prover of the key, which is what the deep check takes. */
static cuzk_status make_prover(struct check *c, bool is_params, cuzk_prover **out)
{
    cuzk_prover_params params = {.drop_mapped_pages = true};
    if (is_params) {
        cuzk_params key;
        CUZK_TRY(cuzk_params_open(&key, c->input.data, c->input.size, c->err));
        return cuzk_prover_create_params(out, &key, c->shape, &params, c->ctx->pool, c->err);
    }
    cuzk_zkey key;
    CUZK_TRY(cuzk_zkey_open(&key, c->input.data, c->input.size, c->err));
    CUZK_TRY(cuzk_zkey_check_contributions(&key, c->err));
    c->n_contributions = key.n_contributions;
    return cuzk_prover_create_zkey(out, &key, c->shape, &params, c->ctx->pool, c->err);
}

static cuzk_status check_key(struct check *c, bool is_params)
{
    cuzk_prover *prover = NULL;
    CUZK_TRY(make_prover(c, is_params, &prover));
    cuzk_status status = cuzk_prover_check_key(prover, &c->reporter, c->ctx->pool, c->err);
    cuzk_prover_destroy(prover);
    CUZK_TRY(status);
    c->sink.report(c->sink.user, CUZK_REPORT_FACT, "checked",
                   c->shape != NULL ? "every point and coefficient, that the parts of the key fit "
                                      "together and are the circuit's"
                                    : "every point and coefficient, that the parts of the key fit "
                                      "together",
                   false);
    if (c->n_contributions > 0) {
        c->sink.report(c->sink.user, CUZK_REPORT_NOTE, "contributions",
                       "their records hash into one another and end in this key's delta; not "
                       "checked: that contributors knew their secrets, that a beacon was public, "
                       "what the key began from (snarkjs zkey verify, with circuit and powers of "
                       "tau)",
                       false);
    }
    if (c->shape == NULL) {
        c->sink.report(c->sink.user, CUZK_REPORT_NOTE, "circuit",
                       "not compared: give it as well (r1cs_path, --r1cs FILE)", false);
    }
    return CUZK_OK;
}

static cuzk_status check(struct check *c)
{
    cuzk_format format = cuzk_format_detect(c->input.data, c->input.size);
    bool is_key = format == CUZK_FORMAT_ZKEY || format == CUZK_FORMAT_PARAMS;
    CUZK_FAIL_IF(c->shape != NULL && !is_key, c->err, CUZK_E_ARGUMENT,
                 "a circuit is given to compare with, but the file is not a proving key");
    /* a .params alone does not say which variables its points belong to */
    bool whole = format == CUZK_FORMAT_ZKEY || (is_key && c->shape != NULL);
    cuzk_inspect_options options = {.deep = !whole, .pool = c->ctx->pool, .reporter = &c->reporter};
    CUZK_TRY(cuzk_inspect(c->input.data, c->input.size, &options, pass_on, &c->sink, c->err));
    return whole ? check_key(c, format == CUZK_FORMAT_PARAMS) : CUZK_OK;
}

cuzk_status cuzk_check_file(const cuzk_ctx *ctx, const char *path,
                            const cuzk_check_options *options, cuzk_report report, void *user,
                            cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, path);
    CUZK_API_NOT_NULL(err, report);
    cuzk_check_options o = CUZK_CHECK_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_check_options", err));
    struct check c = {.ctx = ctx,
                      .reporter = cuzk_api_reporter(o.progress, o.progress_user),
                      .sink = {report, user},
                      .err = err};
    CUZK_TRY(cuzk_input_open_file(&c.input, path, err));
    cuzk_status status = CUZK_OK;
    if (o.r1cs_path != NULL) {
        cuzk_input r1cs;
        status = cuzk_input_open_file(&r1cs, o.r1cs_path, err);
        if (status == CUZK_OK) {
            status = cuzk_api_shape(&c.shape, &r1cs, err);
            cuzk_error_prefix(err, "circuit \"%s\"", o.r1cs_path);
            cuzk_input_close(&r1cs);
        }
    }
    if (status == CUZK_OK) {
        status = check(&c);
        if (status != CUZK_E_CANCELLED) {
            cuzk_error_prefix(err, "\"%s\"", path);
        }
    }
    cuzk_shape_destroy(c.shape);
    cuzk_input_close(&c.input);
    return status;
}
