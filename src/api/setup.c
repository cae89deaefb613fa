/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key generation through the C library: from a .r1cs to the files asked for, all or none. */
#include "api/api.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/out_file.h"
#include "formats/json_pull.h"
#include "formats/r1cs_file.h"
#include "formats/snarkjs_json.h"
#include "formats/test_key.h"
#include "groth16/setup_write.h"

#include <stdlib.h>
#include <string.h>

enum { OUT_ZKEY, OUT_VKEY_JSON, OUT_PARAMS, OUT_VK, OUT_COUNT };

struct setup {
    const cuzk_ctx *ctx;
    const cuzk_shape *shape;
    const char *paths[OUT_COUNT];
    cuzk_out_file files[OUT_COUNT];    /* those with a path */
    const cuzk_trapdoor *trapdoor;     /* NULL: fresh */
    const cuzk_multiplier *multiplier; /* NULL: the context's threads */
    bool mark_as_test;
    cuzk_reporter reporter;
    double progress_begin, progress_share; /* of the key being made, when there are two */
    cuzk_error *err;
};

/* Progress of one of two keys as part of the whole. */
static bool report_share(void *ctx, const char *stage, double done)
{
    struct setup *s = ctx;
    return s->reporter.report == NULL ||
           s->reporter.report(s->reporter.ctx, stage, s->progress_begin + s->progress_share * done);
}

static cuzk_status generate(struct setup *s, cuzk_generated_key *key, cuzk_key_style style)
{
    cuzk_reporter reporter = {.report = report_share, .ctx = s};
    cuzk_setup_params params = {.style = style,
                                .test_trapdoor = s->trapdoor,
                                .multiplier = s->multiplier,
                                .reporter = &reporter};
    CUZK_TRY(cuzk_setup(key, s->shape, &params, s->ctx->pool, s->err));
    key->is_test_key = s->mark_as_test;
    return CUZK_OK;
}

static cuzk_status write_vkey_json(struct setup *s, const cuzk_vk *vk)
{
    cuzk_text text = {0};
    cuzk_vk_to_json(&text, vk);
    cuzk_status status = cuzk_text_check(&text, s->err);
    if (status == CUZK_OK) {
        /* a failure is reported when the file is committed */
        fwrite(text.data, 1, text.size, s->files[OUT_VKEY_JSON].file);
    }
    cuzk_text_clear(&text);
    return status;
}

static cuzk_status write_vk(struct setup *s, const cuzk_vk *vk)
{
    uint64_t n_bytes = cuzk_vk_file_bytes(vk->n_ic);
    uint8_t *bytes = malloc((size_t)n_bytes);
    CUZK_FAIL_IF(bytes == NULL, s->err, CUZK_E_MEMORY, "writing a verifying key: out of memory");
    cuzk_status status = cuzk_vk_write(bytes, n_bytes, vk, s->err);
    if (status == CUZK_OK) {
        fwrite(bytes, 1, (size_t)n_bytes, s->files[OUT_VK].file);
        if (s->mark_as_test) {
            fwrite(CUZK_TEST_KEY_MARK, 1, CUZK_TEST_KEY_MARK_BYTES, s->files[OUT_VK].file);
        }
    }
    free(bytes);
    return status;
}

static cuzk_status make_circom(struct setup *s)
{
    cuzk_generated_key key = {0};
    cuzk_status status = generate(s, &key, CUZK_KEY_CIRCOM);
    if (status == CUZK_OK && s->paths[OUT_ZKEY] != NULL) {
        status = cuzk_generated_key_write_zkey(s->files[OUT_ZKEY].file, &key, s->shape, s->err);
    }
    if (status == CUZK_OK && s->paths[OUT_VKEY_JSON] != NULL) {
        status = write_vkey_json(s, &key.vk);
    }
    cuzk_generated_key_clear(&key);
    return status;
}

static cuzk_status make_bellperson(struct setup *s)
{
    cuzk_generated_key key = {0};
    cuzk_status status = generate(s, &key, CUZK_KEY_BELLPERSON);
    if (status == CUZK_OK && s->paths[OUT_PARAMS] != NULL) {
        status = cuzk_generated_key_write_params(s->files[OUT_PARAMS].file, &key, s->err);
    }
    if (status == CUZK_OK && s->paths[OUT_VK] != NULL) {
        status = write_vk(s, &key.vk);
    }
    cuzk_generated_key_clear(&key);
    return status;
}

/* Open the outputs, make the keys, commit. */
static cuzk_status run(struct setup *s)
{
    cuzk_status status = CUZK_OK;
    cuzk_out_file open_files[OUT_COUNT];
    size_t n_open = 0;
    bool write_failed = false;
    for (int i = 0; i < OUT_COUNT && status == CUZK_OK; i++) {
        if (s->paths[i] != NULL) {
            status = cuzk_out_file_open(&s->files[i], s->paths[i], s->err);
        }
    }
    bool circom = s->paths[OUT_ZKEY] != NULL || s->paths[OUT_VKEY_JSON] != NULL;
    bool bellperson = s->paths[OUT_PARAMS] != NULL || s->paths[OUT_VK] != NULL;
    s->progress_share = circom && bellperson ? 0.5 : 1.0;
    if (status == CUZK_OK && circom) {
        status = make_circom(s);
        s->progress_begin += s->progress_share;
    }
    if (status == CUZK_OK && bellperson) {
        status = make_bellperson(s);
    }
    if (status == CUZK_E_FILE) {
        /* the commit meets the same failure and knows the file's name */
        for (int i = 0; i < OUT_COUNT; i++) {
            write_failed = write_failed || (s->files[i].file != NULL && ferror(s->files[i].file));
        }
    }
    if (write_failed) {
        cuzk_error_clear(s->err);
        status = CUZK_OK;
    }
    for (int i = 0; i < OUT_COUNT; i++) {
        if (status != CUZK_OK) {
            cuzk_out_file_abort(&s->files[i]);
        } else if (s->paths[i] != NULL) {
            open_files[n_open++] = s->files[i];
        }
    }
    return status == CUZK_OK ? cuzk_out_files_commit(open_files, n_open, s->err) : status;
}

cuzk_status cuzk_api_make_keys(const cuzk_ctx *ctx, const cuzk_shape *shape,
                               const cuzk_setup_options *o, const cuzk_trapdoor *trapdoor,
                               bool mark_as_test, cuzk_api_multiplier *multiplier, cuzk_error *err)
{
    struct setup s = {.ctx = ctx,
                      .shape = shape,
                      .paths = {o->zkey_path, o->vkey_json_path, o->params_path, o->vk_path},
                      .trapdoor = trapdoor,
                      .mark_as_test = mark_as_test,
                      .reporter = cuzk_api_reporter(o->progress, o->progress_user),
                      .err = err};
    CUZK_FAIL_IF(
        (o->params_path != NULL || o->vk_path != NULL) && shape->curve->id != CUZK_CURVE_BLS12_381,
        err, CUZK_E_UNSUPPORTED, "bellperson's keys are over bls12381, the circuit is over %s",
        shape->curve->snarkjs_name);
    cuzk_status status =
        cuzk_api_multiplier_prepare(&s.multiplier, multiplier, shape, ctx->pool, err);
    status = status != CUZK_OK ? status : run(&s);
    if (multiplier != NULL && (status == CUZK_E_DEVICE || status == CUZK_E_DEVICE_LOST)) {
        cuzk_error_prefix(err, "device \"%s\"", o->device);
    }
    return status;
}

/* The caller's options, checked before any file is opened. */
static cuzk_status take_options(cuzk_setup_options *out, const cuzk_setup_options *options,
                                bool is_test_key, cuzk_error *err)
{
    *out = (cuzk_setup_options)CUZK_SETUP_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(out, sizeof *out, options, "cuzk_setup_options", err));
    const char *const paths[] = {out->zkey_path, out->vkey_json_path, out->params_path,
                                 out->vk_path};
    bool any = false;
    for (int i = 0; i < OUT_COUNT; i++) {
        any = any || paths[i] != NULL;
        CUZK_FAIL_IF(is_test_key && paths[i] != NULL && !cuzk_test_key_file_name(paths[i]), err,
                     CUZK_E_ARGUMENT,
                     "a key from a given trapdoor is a test key and its file must say so: \"%s\" "
                     "does not end in .test.EXTENSION",
                     paths[i]);
    }
    CUZK_FAIL_IF(!any, err, CUZK_E_ARGUMENT, "no output is named");
    return cuzk_api_multiplier_check(out->device, err);
}

static cuzk_status setup_file(const cuzk_ctx *ctx, const cuzk_input *r1cs,
                              const cuzk_setup_options *options, const cuzk_trapdoor *trapdoor,
                              cuzk_error *err)
{
    cuzk_shape *shape = NULL;
    cuzk_api_multiplier *multiplier = NULL;
    CUZK_TRY(cuzk_api_multiplier_open(&multiplier, options->device, err));
    cuzk_status status = cuzk_api_shape(&shape, r1cs, err);
    if (status == CUZK_OK) {
        status =
            cuzk_api_make_keys(ctx, shape, options, trapdoor, trapdoor != NULL, multiplier, err);
    }
    cuzk_shape_destroy(shape);
    cuzk_api_multiplier_close(multiplier);
    return status;
}

cuzk_status cuzk_setup_file(const cuzk_ctx *ctx, const char *r1cs_path,
                            const cuzk_setup_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, r1cs_path);
    cuzk_setup_options o;
    cuzk_input r1cs;
    CUZK_TRY(take_options(&o, options, false, err));
    CUZK_TRY(cuzk_input_open_file(&r1cs, r1cs_path, err));
    cuzk_status status = setup_file(ctx, &r1cs, &o, NULL, err);
    cuzk_input_close(&r1cs);
    if (status != CUZK_E_ARGUMENT && status != CUZK_E_FILE && status != CUZK_E_CANCELLED &&
        status != CUZK_E_DEVICE && status != CUZK_E_DEVICE_LOST) {
        cuzk_error_prefix(err, "circuit \"%s\"", r1cs_path);
    }
    return status;
}

/* One of the five values: a decimal string below the order of the field. */
static cuzk_status read_value(cuzk_fr *out, const cuzk_curve *curve, const cuzk_json_token *token,
                              const char *name, cuzk_error *err)
{
    uint8_t bytes[32];
    bool ok = (token->kind == CUZK_JSON_STRING || token->kind == CUZK_JSON_NUMBER) &&
              cuzk_decimal_to_le(bytes, sizeof bytes, token->text, token->size) &&
              curve->fr_from_canonical_le(out, bytes);
    cuzk_wipe(bytes, sizeof bytes);
    CUZK_FAIL_IF(!ok, err, CUZK_E_FORMAT,
                 "\"%s\" is not a decimal number below the order of the field", name);
    return CUZK_OK;
}

/* Read the members of {"tau": "…", "alpha": …, "beta": …, "gamma": …, "delta": …}; other keys are
 * ignored. *seen: bit i is set when the i-th of `names` was there. */
static cuzk_status read_members(cuzk_json *json, const char *const names[5],
                                cuzk_fr *const values[5], unsigned *seen, const cuzk_curve *curve,
                                cuzk_error *err)
{
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(json, &token, err));
    CUZK_FAIL_IF(token.kind != CUZK_JSON_OBJECT_BEGIN, err, CUZK_E_FORMAT,
                 "expected an object, found %s", cuzk_json_kind_text(token.kind));
    for (;;) {
        CUZK_TRY(cuzk_json_next(json, &token, err));
        if (token.kind == CUZK_JSON_OBJECT_END) {
            return CUZK_OK;
        }
        char key[16] = "";
        int length = cuzk_json_text(&token, key, sizeof key);
        CUZK_TRY(cuzk_json_next(json, &token, err));
        int which = 0;
        while (which < 5 && (length < 0 || strcmp(key, names[which]) != 0)) {
            which++;
        }
        if (which < 5) {
            CUZK_TRY(read_value(values[which], curve, &token, names[which], err));
            *seen |= 1u << which;
        } else {
            CUZK_TRY(cuzk_json_skip(json, &token, err));
        }
    }
}

cuzk_status cuzk_api_read_trapdoor(cuzk_trapdoor *out, const cuzk_curve *curve, const void *data,
                                   size_t n_bytes, cuzk_error *err)
{
    static const char *const names[5] = {"tau", "alpha", "beta", "gamma", "delta"};
    cuzk_fr *values[5] = {&out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta};
    unsigned seen = 0;
    cuzk_json json;
    cuzk_json_init(&json, data, n_bytes);
    cuzk_status status = read_members(&json, names, values, &seen, curve, err);
    cuzk_json_clear(&json);
    for (int i = 0; i < 5 && status == CUZK_OK; i++) {
        if ((seen >> i & 1) == 0) {
            status = CUZK_FAIL(err, CUZK_E_FORMAT, "\"%s\" is missing", names[i]);
        }
    }
    cuzk_error_prefix(err, "reading the trapdoor");
    return status;
}

cuzk_status cuzk_setup_file_with_test_trapdoor(const cuzk_ctx *ctx, const char *r1cs_path,
                                               const void *trapdoor, size_t trapdoor_bytes,
                                               const cuzk_setup_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, r1cs_path);
    CUZK_API_NOT_NULL(err, trapdoor);
    cuzk_setup_options o;
    cuzk_input r1cs;
    CUZK_TRY(take_options(&o, options, true, err));
    CUZK_TRY(cuzk_input_open_file(&r1cs, r1cs_path, err));
    cuzk_r1cs file;
    cuzk_trapdoor values;
    cuzk_status status = cuzk_r1cs_open(&file, r1cs.data, r1cs.size, err);
    cuzk_error_prefix(err, "circuit \"%s\"", r1cs_path);
    if (status == CUZK_OK) {
        status = cuzk_api_read_trapdoor(&values, file.curve, trapdoor, trapdoor_bytes, err);
    }
    if (status == CUZK_OK) {
        status = setup_file(ctx, &r1cs, &o, &values, err);
    }
    cuzk_wipe(&values, sizeof values);
    cuzk_input_close(&r1cs);
    return status;
}
