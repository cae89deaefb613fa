/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The forms of a proof, its public values and a verifying key, in memory and as files. */
#include "api/api.h"

#include "base/out_file.h"
#include "formats/snarkjs_json.h"
#include "formats/test_key.h"

#include <stdlib.h>
#include <string.h>

static cuzk_json_style style_of(cuzk_form form)
{
    return form == CUZK_FORM_COMPACT ? CUZK_JSON_COMPACT : CUZK_JSON_INDENTED;
}

static bool is_json(cuzk_form form)
{
    return form == CUZK_FORM_SNARKJS || form == CUZK_FORM_COMPACT;
}

/* Fail because a thing cannot be written in a form: why, for the binary one. */
static cuzk_status no_form(cuzk_error *err, const char *what, cuzk_form form,
                           const char *why_no_bytes)
{
    static const char *const names[] = {"snarkjs", "compact", "bytes"};
    CUZK_FAIL_IF((unsigned)form > CUZK_FORM_BYTES, err, CUZK_E_ARGUMENT, "%d is not a form of %s",
                 (int)form, what);
    return CUZK_FAIL(err, CUZK_E_ARGUMENT, "%s cannot have the form \"%s\"%s%s", what, names[form],
                     form == CUZK_FORM_BYTES ? ": " : "",
                     form == CUZK_FORM_BYTES ? why_no_bytes : "");
}

/* The bytes of a form in a growing text: binary forms too. Text forms do not count their NUL. */
static cuzk_status put_proof(cuzk_text *text, const cuzk_proof *proof, cuzk_form form,
                             cuzk_error *err)
{
    if (form == CUZK_FORM_BYTES && proof->points.curve->id == CUZK_CURVE_BLS12_381) {
        uint8_t bytes[CUZK_PROOF_BYTES];
        CUZK_TRY(cuzk_proof_points_write(bytes, &proof->points, err));
        cuzk_text_put_bytes(text, (const char *)bytes, sizeof bytes);
    } else if (is_json(form)) {
        cuzk_proof_to_json(text, &proof->points, style_of(form));
    } else {
        return no_form(err, "a proof over bn128", form,
                       "it is bellperson's, which is over bls12381");
    }
    return cuzk_text_check(text, err);
}

static cuzk_status put_public(cuzk_text *text, const cuzk_proof *proof, cuzk_form form,
                              cuzk_error *err)
{
    if (!is_json(form)) {
        return no_form(err, "a list of public values", form, "bellperson has none");
    }
    cuzk_public_to_json(text, proof->values, proof->n_public, style_of(form));
    return cuzk_text_check(text, err);
}

static cuzk_status put_vkey(cuzk_text *text, const cuzk_vkey *vkey, cuzk_form form, cuzk_error *err)
{
    if (form == CUZK_FORM_SNARKJS) {
        cuzk_vk_to_json(text, &vkey->vk);
    } else if (form == CUZK_FORM_BYTES && vkey->vk.curve->id == CUZK_CURVE_BLS12_381 &&
               vkey->vk.has_g1_pair) {
        uint64_t n_bytes = cuzk_vk_file_bytes(vkey->vk.n_ic);
        uint8_t *bytes = malloc((size_t)n_bytes);
        CUZK_FAIL_IF(bytes == NULL, err, CUZK_E_MEMORY, "writing a verifying key: out of memory");
        cuzk_status status = cuzk_vk_write(bytes, n_bytes, &vkey->vk, err);
        if (status == CUZK_OK) {
            cuzk_text_put_bytes(text, (const char *)bytes, (size_t)n_bytes);
            if (vkey->vk.is_test_key) {
                cuzk_text_put(text, CUZK_TEST_KEY_MARK);
            }
        }
        free(bytes);
        CUZK_TRY(status);
    } else {
        return no_form(err, "this verifying key", form,
                       vkey->vk.curve->id == CUZK_CURVE_BLS12_381
                           ? "a key read from JSON lacks two of the points of a .vk"
                           : "a .vk is bellperson's, which is over bls12381");
    }
    return cuzk_text_check(text, err);
}

/* Copy a text to the caller, with its NUL unless it is binary, and clear it. */
static cuzk_status hand_out(cuzk_text *text, void *out, size_t out_bytes, cuzk_form form,
                            cuzk_error *err)
{
    size_t n_bytes = text->size + (form == CUZK_FORM_BYTES ? 0 : 1);
    cuzk_status status = CUZK_OK;
    if (out_bytes < n_bytes) {
        status = CUZK_FAIL(err, CUZK_E_SHORT_BUFFER, "the buffer has %zu bytes, needed are %zu",
                           out_bytes, n_bytes);
    } else {
        memcpy(out, text->data, n_bytes);
    }
    cuzk_text_clear(text);
    return status;
}

static size_t size_and_clear(cuzk_text *text, cuzk_status status, cuzk_form form)
{
    size_t n_bytes = status == CUZK_OK ? text->size + (form == CUZK_FORM_BYTES ? 0 : 1) : 0;
    cuzk_text_clear(text);
    return n_bytes;
}

size_t cuzk_proof_size(const cuzk_proof *proof, cuzk_form form)
{
    cuzk_text text = {0};
    cuzk_status status = put_proof(&text, proof, form, NULL);
    return size_and_clear(&text, status, form);
}

cuzk_status cuzk_proof_write(const cuzk_proof *proof, void *out, size_t out_bytes, cuzk_form form,
                             cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_FAIL_IF(out == NULL && out_bytes != 0, err, CUZK_E_ARGUMENT, "the buffer is NULL");
    cuzk_text text = {0};
    cuzk_status status = put_proof(&text, proof, form, err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&text);
        return status;
    }
    return hand_out(&text, out, out_bytes, form, err);
}

size_t cuzk_proof_public_size(const cuzk_proof *proof, cuzk_form form)
{
    cuzk_text text = {0};
    cuzk_status status = put_public(&text, proof, form, NULL);
    return size_and_clear(&text, status, form);
}

cuzk_status cuzk_proof_public_write(const cuzk_proof *proof, char *out, size_t out_bytes,
                                    cuzk_form form, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_FAIL_IF(out == NULL && out_bytes != 0, err, CUZK_E_ARGUMENT, "the buffer is NULL");
    cuzk_text text = {0};
    cuzk_status status = put_public(&text, proof, form, err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&text);
        return status;
    }
    return hand_out(&text, out, out_bytes, form, err);
}

cuzk_status cuzk_proof_write_files(const cuzk_proof *proof, const char *proof_path,
                                   const char *public_path, cuzk_form form, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, proof_path);
    CUZK_API_NOT_NULL(err, public_path);
    cuzk_text texts[2] = {{0}};
    const char *paths[2] = {proof_path, public_path};
    cuzk_out_file files[2] = {{0}};
    cuzk_status status = put_proof(&texts[0], proof, form, err);
    if (status == CUZK_OK) {
        status =
            put_public(&texts[1], proof, form == CUZK_FORM_BYTES ? CUZK_FORM_SNARKJS : form, err);
    }
    for (int i = 0; i < 2 && status == CUZK_OK; i++) {
        status = cuzk_out_file_open(&files[i], paths[i], err);
        if (status == CUZK_OK) {
            fwrite(texts[i].data, 1, texts[i].size, files[i].file); /* commit reports failures */
        }
    }
    if (status == CUZK_OK) {
        status = cuzk_out_files_commit(files, 2, err);
    }
    for (int i = 0; i < 2; i++) {
        cuzk_out_file_abort(&files[i]);
        cuzk_text_clear(&texts[i]);
    }
    return status;
}

size_t cuzk_proof_size_max(const char *curve, cuzk_form form)
{
    if (curve == NULL) {
        size_t bn254 = cuzk_proof_size_max("bn128", form);
        size_t bls12_381 = cuzk_proof_size_max("bls12381", form);
        return bn254 > bls12_381 ? bn254 : bls12_381;
    }
    const cuzk_curve *c = cuzk_curve_by_name(curve);
    if (c == NULL) {
        return 0;
    }
    if (form == CUZK_FORM_BYTES) {
        return c->id == CUZK_CURVE_BLS12_381 ? CUZK_PROOF_BYTES : 0;
    }
    return is_json(form) ? (size_t)cuzk_proof_json_bytes_max(c, style_of(form)) + 1 : 0;
}

size_t cuzk_public_size_max(uint32_t n_public, cuzk_form form)
{
    size_t max = 0;
    for (int id = CUZK_CURVE_BN254; is_json(form) && id <= CUZK_CURVE_BLS12_381; id++) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)id);
        size_t n = (size_t)cuzk_public_json_bytes_max(curve, n_public, style_of(form)) + 1;
        max = n > max ? n : max;
    }
    return max;
}

size_t cuzk_vkey_size(const cuzk_vkey *vkey, cuzk_form form)
{
    cuzk_text text = {0};
    cuzk_status status = put_vkey(&text, vkey, form, NULL);
    return size_and_clear(&text, status, form);
}

cuzk_status cuzk_vkey_write(const cuzk_vkey *vkey, void *out, size_t out_bytes, cuzk_form form,
                            cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_FAIL_IF(out == NULL && out_bytes != 0, err, CUZK_E_ARGUMENT, "the buffer is NULL");
    cuzk_text text = {0};
    cuzk_status status = put_vkey(&text, vkey, form, err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&text);
        return status;
    }
    return hand_out(&text, out, out_bytes, form, err);
}

cuzk_status cuzk_vkey_write_file(const cuzk_vkey *vkey, const char *path, cuzk_form form,
                                 cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, path);
    cuzk_text text = {0};
    cuzk_status status = put_vkey(&text, vkey, form, err);
    if (status == CUZK_OK) {
        status = cuzk_write_file(path, text.data, text.size, err);
    }
    cuzk_text_clear(&text);
    return status;
}
