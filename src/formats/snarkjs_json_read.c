/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading snarkjs's JSON with the pull parser, in two passes over the text: the first finds curve,
 * protocol and counts, which may stand behind the points, the second reads the points. */
#include "base/decimal.h"
#include "formats/detect.h"
#include "formats/json_pull.h"
#include "formats/snarkjs_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_TEXT_MAX = 512, /* longest number looked at: far more digits than any field has */
    WIDE_BYTES = 64,       /* numbers are read to this width, then compared with a modulus */
    NAME_MAX_BYTES = 64,
    IC_SLACK_BYTES = 64 << 10
};

/* A key that a reader knows, under its present and its former name. */
typedef struct {
    const char *name;
    const char *old_name;
} field;

typedef struct {
    cuzk_json j;
    const char *kind; /* of file, for messages */
    const field *fields;
    int n_fields;
    unsigned seen; /* bit per field */
    unsigned notes;
    const cuzk_curve *curve;
    cuzk_status out_of_range; /* status for a coordinate that is not below p */
    cuzk_error *err;
} reader;

static void reader_clear(reader *r)
{
    cuzk_json_clear(&r->j);
}

/* A reader that frees its parser on every way out of the block. */
#define READER(name) __attribute__((cleanup(reader_clear))) reader name

/* A file of another known kind is refused by name: swapped arguments are the usual mistake. */
static cuzk_status expect_format(const uint8_t *data, uint64_t size, cuzk_format wanted,
                                 cuzk_error *err)
{
    cuzk_format found = cuzk_format_detect(data, size);
    if (found == wanted || found == CUZK_FORMAT_JSON || found == CUZK_FORMAT_UNKNOWN) {
        return CUZK_OK;
    }
    char text[64];
    cuzk_format_describe(text, sizeof text, data, size);
    return CUZK_FAIL(err, CUZK_E_FORMAT, "%s, expected a %s", text, cuzk_format_name(wanted));
}

static cuzk_status wrong_kind(reader *r, const cuzk_json_token *t, const char *what,
                              const char *expected)
{
    return cuzk_json_fail(&r->j, t->offset, r->err, CUZK_E_FORMAT, "%s: found %s, expected %s",
                          what, cuzk_json_kind_text(t->kind), expected);
}

/* Restarts at the beginning of the outermost object. */
static cuzk_status begin_object(reader *r, const uint8_t *data, uint64_t size)
{
    cuzk_json_token t;
    cuzk_json_clear(&r->j);
    cuzk_json_init(&r->j, data, size);
    r->seen = 0;
    CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
    if (t.kind != CUZK_JSON_OBJECT_BEGIN) {
        return wrong_kind(r, &t, r->kind, "an object");
    }
    return CUZK_OK;
}

/* Steps to the next known field of the outermost object; *which is -1 at its end, and then nothing
 * but white space follows. *value: the first token of the field's value. */
static cuzk_status next_field(reader *r, int *which, cuzk_json_token *value)
{
    for (;;) {
        cuzk_json_token t;
        CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
        if (t.kind == CUZK_JSON_OBJECT_END) {
            *which = -1;
            return cuzk_json_next(&r->j, &t, r->err);
        }
        char key[NAME_MAX_BYTES];
        bool fits = cuzk_json_text(&t, key, sizeof key) >= 0;
        CUZK_TRY(cuzk_json_next(&r->j, value, r->err));
        for (int i = 0; fits && i < r->n_fields; i++) {
            const field *f = &r->fields[i];
            bool old = f->old_name != NULL && strcmp(key, f->old_name) == 0;
            if (!old && strcmp(key, f->name) != 0) {
                continue;
            }
            if ((r->seen >> i & 1) != 0) {
                return cuzk_json_fail(&r->j, t.offset, r->err, CUZK_E_FORMAT,
                                      "\"%s\" occurs twice in this %s", f->name, r->kind);
            }
            r->seen |= 1u << i;
            r->notes |= old ? CUZK_JSON_NOTE_OLD_NAMES : 0;
            *which = i;
            return CUZK_OK;
        }
        CUZK_TRY(cuzk_json_skip(&r->j, value, r->err));
    }
}

static cuzk_status require_fields(const reader *r, unsigned needed)
{
    for (int i = 0; i < r->n_fields; i++) {
        CUZK_FAIL_IF((needed >> i & 1) != 0 && (r->seen >> i & 1) == 0, r->err, CUZK_E_FORMAT,
                     "\"%s\" is missing in this %s", r->fields[i].name, r->kind);
    }
    return CUZK_OK;
}

/* Reads a number token to WIDE_BYTES little-endian bytes, all 0xff if it is larger than that. */
static cuzk_status read_wide(reader *r, const cuzk_json_token *t, const char *what, uint8_t *wide)
{
    char text[NUMBER_TEXT_MAX];
    bool is_text = t->kind == CUZK_JSON_STRING;
    if (!is_text && t->kind != CUZK_JSON_NUMBER) {
        return wrong_kind(r, t, what, "a number");
    }
    int n = cuzk_json_text(t, text, sizeof text);
    const char *digits = text;
    bool hex = is_text && n > 2 && text[0] == '0' && text[1] == 'x';
    if (hex) {
        digits += 2;
    }
    size_t n_digits = n < 0 ? 0 : strlen(digits);
    if (n_digits == 0 ||
        strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != n_digits) {
        return cuzk_json_fail(&r->j, t->offset, r->err, CUZK_E_FORMAT,
                              "%s: \"%.40s\" is not a number of decimal digits", what,
                              n < 0 ? "(a very long text)" : text);
    }
    if (!(hex ? cuzk_hex_to_le : cuzk_decimal_to_le)(wide, WIDE_BYTES, digits, n_digits)) {
        memset(wide, 0xff, WIDE_BYTES);
    }
    return CUZK_OK;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

/* One base field number whose token is `t`, in Montgomery form. */
static cuzk_status read_coordinate(reader *r, const cuzk_json_token *t, const char *what,
                                   uint8_t *out)
{
    uint8_t wide[WIDE_BYTES];
    uint64_t limbs[6];
    size_t n = r->curve->fp_bytes;
    CUZK_TRY(read_wide(r, t, what, wide));
    if (!is_zero(wide + n, WIDE_BYTES - n) || !r->curve->fp_from_canonical_le(limbs, wide)) {
        return cuzk_json_fail(&r->j, t->offset, r->err, r->out_of_range,
                              "%s: coordinate is not below the base field prime of %s", what,
                              r->curve->snarkjs_name);
    }
    memcpy(out, limbs, n);
    return CUZK_OK;
}

static cuzk_status expect(reader *r, cuzk_json_kind kind, const char *what)
{
    cuzk_json_token t;
    CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
    return t.kind == kind ? CUZK_OK : wrong_kind(r, &t, what, cuzk_json_kind_text(kind));
}

static cuzk_status read_next_coordinate(reader *r, const char *what, uint8_t *out)
{
    cuzk_json_token t;
    CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
    return read_coordinate(r, &t, what, out);
}

/* One coordinate of a point: a number in G1, [c0, c1] in G2; `first` is its first token. */
static cuzk_status read_coordinates(reader *r, const cuzk_json_token *first, cuzk_group_id group,
                                    const char *what, uint8_t *out)
{
    if (group == CUZK_G1) {
        return read_coordinate(r, first, what, out);
    }
    if (first->kind != CUZK_JSON_ARRAY_BEGIN) {
        return wrong_kind(r, first, what, "an array");
    }
    CUZK_TRY(read_next_coordinate(r, what, out));
    CUZK_TRY(read_next_coordinate(r, what, out + r->curve->fp_bytes));
    return expect(r, CUZK_JSON_ARRAY_END, what);
}

/* [x, y] or [x, y, z] with z 1, or 0 for infinity; `first` is the value's first token. */
static cuzk_status read_point(reader *r, const cuzk_json_token *first, cuzk_group_id group,
                              const char *what, void *affine)
{
    size_t n = r->curve->g[group].coord_bytes;
    uint64_t offset = first->offset;
    uint8_t xy[2 * 2 * 48];
    cuzk_json_token t;
    if (first->kind != CUZK_JSON_ARRAY_BEGIN) {
        return wrong_kind(r, first, what, "an array of coordinates");
    }
    for (int k = 0; k < 2; k++) {
        CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
        CUZK_TRY(read_coordinates(r, &t, group, what, xy + (size_t)k * n));
    }
    CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
    bool infinity = false;
    if (t.kind != CUZK_JSON_ARRAY_END) {
        uint8_t z[2 * 48];
        uint8_t one[2 * 48] = {1};
        uint64_t one_fp[6];
        CUZK_TRY(read_coordinates(r, &t, group, what, z));
        CUZK_TRY(expect(r, CUZK_JSON_ARRAY_END, what));
        (void)r->curve->fp_from_canonical_le(one_fp, one);
        memcpy(one, one_fp, r->curve->fp_bytes);
        infinity = is_zero(z, n);
        if (!infinity && memcmp(z, one, n) != 0) {
            return cuzk_json_fail(
                &r->j, offset, r->err, CUZK_E_FORMAT,
                "%s: the third coordinate is neither 1 nor 0: the point is not in "
                "affine form",
                what);
        }
    }
    /* (0, 0), which stands for infinity in memory, is on neither curve */
    if (!infinity && is_zero(xy, 2 * n)) {
        return cuzk_json_fail(&r->j, first->offset, r->err, r->out_of_range, "%s: not on the curve",
                              what);
    }
    if (infinity) {
        memset(xy, 0, 2 * n);
    }
    memcpy(affine, xy, 2 * n);
    return CUZK_OK;
}

static cuzk_status read_name(reader *r, const cuzk_json_token *t, const char *what,
                             char name[NAME_MAX_BYTES])
{
    if (t->kind != CUZK_JSON_STRING) {
        return wrong_kind(r, t, what, "a string");
    }
    if (cuzk_json_text(t, name, NAME_MAX_BYTES) < 0) {
        return cuzk_json_fail(&r->j, t->offset, r->err, CUZK_E_FORMAT, "%s: the text is too long",
                              what);
    }
    return CUZK_OK;
}

static cuzk_status read_protocol(reader *r, const cuzk_json_token *t)
{
    char name[NAME_MAX_BYTES];
    CUZK_TRY(read_name(r, t, "protocol", name));
    if (strcmp(name, "groth") == 0) {
        r->notes |= CUZK_JSON_NOTE_OLD_NAMES;
        return CUZK_OK;
    }
    CUZK_FAIL_IF(strcmp(name, "groth16") != 0, r->err, CUZK_E_UNSUPPORTED,
                 "this %s is for the protocol \"%s\", expected \"groth16\"", r->kind, name);
    return CUZK_OK;
}

static cuzk_status read_curve(reader *r, const cuzk_json_token *t, const cuzk_curve **out)
{
    char name[NAME_MAX_BYTES];
    CUZK_TRY(read_name(r, t, "curve", name));
    *out = cuzk_curve_by_name(name);
    CUZK_FAIL_IF(*out == NULL, r->err, CUZK_E_UNSUPPORTED,
                 "this %s is over the curve \"%s\", expected \"bn128\" or \"bls12381\"", r->kind,
                 name);
    return CUZK_OK;
}

enum { VK_PROTOCOL, VK_CURVE, VK_N_PUBLIC, VK_ALPHA, VK_BETA, VK_GAMMA, VK_DELTA, VK_IC, VK_COUNT };

static const field vk_fields[VK_COUNT] = {
    [VK_PROTOCOL] = {"protocol", NULL}, [VK_CURVE] = {"curve", NULL},
    [VK_N_PUBLIC] = {"nPublic", NULL},  [VK_ALPHA] = {"vk_alpha_1", "vk_alfa_1"},
    [VK_BETA] = {"vk_beta_2", NULL},    [VK_GAMMA] = {"vk_gamma_2", NULL},
    [VK_DELTA] = {"vk_delta_2", NULL},  [VK_IC] = {"IC", NULL},
};

/* Counts the elements of the array that has just begun, and skips it. */
static cuzk_status count_elements(reader *r, const cuzk_json_token *first, const char *what,
                                  uint64_t *n)
{
    if (first->kind != CUZK_JSON_ARRAY_BEGIN) {
        return wrong_kind(r, first, what, "an array");
    }
    *n = 0;
    for (;;) {
        cuzk_json_token t;
        CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
        if (t.kind == CUZK_JSON_ARRAY_END) {
            return CUZK_OK;
        }
        CUZK_TRY(cuzk_json_skip(&r->j, &t, r->err));
        ++*n;
    }
}

/* First pass over a key. */
static cuzk_status scan_vk(reader *r, const uint8_t *data, uint64_t size, uint64_t *n_ic)
{
    uint64_t n_public = 0;
    int which;
    cuzk_json_token t;
    CUZK_TRY(begin_object(r, data, size));
    for (;;) {
        CUZK_TRY(next_field(r, &which, &t));
        if (which < 0) {
            break;
        }
        if (which == VK_PROTOCOL) {
            CUZK_TRY(read_protocol(r, &t));
        } else if (which == VK_CURVE) {
            CUZK_TRY(read_curve(r, &t, &r->curve));
        } else if (which == VK_N_PUBLIC) {
            uint8_t wide[WIDE_BYTES];
            CUZK_TRY(read_wide(r, &t, "nPublic", wide));
            n_public =
                is_zero(wide + 4, WIDE_BYTES - 4)
                    ? (uint64_t)wide[0] | wide[1] << 8 | wide[2] << 16 | (uint64_t)wide[3] << 24
                    : UINT64_MAX - 1;
        } else if (which == VK_IC) {
            CUZK_TRY(count_elements(r, &t, "IC", n_ic));
        } else {
            CUZK_TRY(cuzk_json_skip(&r->j, &t, r->err));
        }
    }
    unsigned optional = 1u << VK_PROTOCOL | 1u << VK_CURVE | 1u << VK_N_PUBLIC;
    CUZK_TRY(require_fields(r, ((1u << VK_COUNT) - 1) & ~optional));
    bool counted = (r->seen >> VK_N_PUBLIC & 1) != 0;
    CUZK_FAIL_IF(*n_ic == 0 || (counted && n_public + 1 != *n_ic), r->err, CUZK_E_FORMAT,
                 "IC: %" PRIu64 " points, expected %" PRIu64 " (nPublic + 1)", *n_ic,
                 counted ? n_public + 1 : 1);
    r->notes |= (r->seen >> VK_PROTOCOL & 1) == 0 ? CUZK_JSON_NOTE_NO_PROTOCOL : 0;
    if (r->curve == NULL) {
        /* keys from the time before the field existed are all over this curve */
        r->curve = cuzk_curve_get(CUZK_CURVE_BN254);
        r->notes |= CUZK_JSON_NOTE_NO_CURVE;
    }
    return CUZK_OK;
}

static cuzk_status read_ic(reader *r, const cuzk_json_token *first, uint8_t *ic, uint64_t n_ic)
{
    size_t each = r->curve->g[CUZK_G1].affine_bytes;
    (void)first;
    for (uint64_t i = 0; i < n_ic; i++) {
        char what[32];
        cuzk_json_token t;
        snprintf(what, sizeof what, "IC[%" PRIu64 "]", i);
        CUZK_TRY(cuzk_json_next(&r->j, &t, r->err));
        CUZK_TRY(read_point(r, &t, CUZK_G1, what, ic + i * each));
    }
    return expect(r, CUZK_JSON_ARRAY_END, "IC");
}

/* Second pass. */
static cuzk_status read_vk_points(reader *r, cuzk_vk *vk, const uint8_t *data, uint64_t size)
{
    int which;
    cuzk_json_token t;
    CUZK_TRY(begin_object(r, data, size));
    for (;;) {
        CUZK_TRY(next_field(r, &which, &t));
        switch (which) {
        case -1:
            return CUZK_OK;
        case VK_ALPHA:
            CUZK_TRY(read_point(r, &t, CUZK_G1, "vk_alpha_1", &vk->alpha1));
            break;
        case VK_BETA:
            CUZK_TRY(read_point(r, &t, CUZK_G2, "vk_beta_2", &vk->beta2));
            break;
        case VK_GAMMA:
            CUZK_TRY(read_point(r, &t, CUZK_G2, "vk_gamma_2", &vk->gamma2));
            break;
        case VK_DELTA:
            CUZK_TRY(read_point(r, &t, CUZK_G2, "vk_delta_2", &vk->delta2));
            break;
        case VK_IC:
            CUZK_TRY(read_ic(r, &t, vk->owned, vk->n_ic));
            break;
        default:
            CUZK_TRY(cuzk_json_skip(&r->j, &t, r->err));
            break;
        }
    }
}

cuzk_status cuzk_vk_from_json(cuzk_vk *out, const uint8_t *data, uint64_t size, unsigned *notes,
                              cuzk_pool *pool, cuzk_error *err)
{
    CUZK_TRY(expect_format(data, size, CUZK_FORMAT_VK_JSON, err));
    READER(r) = {.kind = "verification key",
                 .fields = vk_fields,
                 .n_fields = VK_COUNT,
                 .out_of_range = CUZK_E_FORMAT,
                 .err = err};
    uint64_t n_ic = 0;
    CUZK_TRY(scan_vk(&r, data, size, &n_ic));
    uint64_t each = r.curve->g[CUZK_G1].affine_bytes;
    CUZK_FAIL_IF(n_ic > UINT32_MAX || n_ic * each > size + IC_SLACK_BYTES, err, CUZK_E_FORMAT,
                 "IC: %" PRIu64 " points in a text of %" PRIu64
                 " bytes: too short for points of this curve",
                 n_ic, size);
    cuzk_vk vk;
    memset(&vk, 0, sizeof vk);
    vk.curve = r.curve;
    vk.n_ic = (uint32_t)n_ic;
    vk.owned = malloc((size_t)(n_ic * each));
    vk.ic = vk.owned;
    CUZK_FAIL_IF(vk.owned == NULL, err, CUZK_E_MEMORY, "IC: no memory for %" PRIu64 " points",
                 n_ic);
    cuzk_status status = read_vk_points(&r, &vk, data, size);
    if (status == CUZK_OK) {
        status = cuzk_vk_check(&vk, pool, err);
    }
    if (status != CUZK_OK) {
        cuzk_vk_clear(&vk);
        return status;
    }
    if (notes != NULL) {
        *notes = r.notes;
    }
    *out = vk;
    return CUZK_OK;
}

enum { PROOF_A, PROOF_B, PROOF_C, PROOF_PROTOCOL, PROOF_CURVE, PROOF_COUNT };

static const field proof_fields[PROOF_COUNT] = {
    [PROOF_A] = {"pi_a", NULL},      [PROOF_B] = {"pi_b", NULL},
    [PROOF_C] = {"pi_c", NULL},      [PROOF_PROTOCOL] = {"protocol", NULL},
    [PROOF_CURVE] = {"curve", NULL},
};

/* First pass over a proof: curve and protocol, which stand behind the points. */
static cuzk_status scan_proof(reader *r, const uint8_t *data, uint64_t size,
                              const cuzk_curve *expected)
{
    int which;
    cuzk_json_token t;
    CUZK_TRY(begin_object(r, data, size));
    for (;;) {
        CUZK_TRY(next_field(r, &which, &t));
        if (which < 0) {
            break;
        }
        if (which == PROOF_PROTOCOL) {
            CUZK_TRY(read_protocol(r, &t));
        } else if (which == PROOF_CURVE) {
            CUZK_TRY(read_curve(r, &t, &r->curve));
        } else {
            CUZK_TRY(cuzk_json_skip(&r->j, &t, r->err));
        }
    }
    unsigned optional = 1u << PROOF_PROTOCOL | (expected != NULL ? 1u << PROOF_CURVE : 0);
    CUZK_TRY(require_fields(r, ((1u << PROOF_COUNT) - 1) & ~optional));
    r->notes |= (r->seen >> PROOF_PROTOCOL & 1) == 0 ? CUZK_JSON_NOTE_NO_PROTOCOL : 0;
    r->notes |= r->curve == NULL ? CUZK_JSON_NOTE_NO_CURVE : 0;
    CUZK_FAIL_IF(r->curve != NULL && expected != NULL && r->curve->id != expected->id, r->err,
                 CUZK_E_MISMATCH, "proof is over %s, verification key is over %s",
                 r->curve->snarkjs_name, expected->snarkjs_name);
    r->curve = expected != NULL ? expected : r->curve;
    return CUZK_OK;
}

cuzk_status cuzk_proof_from_json(cuzk_proof_points *out, const uint8_t *data, uint64_t size,
                                 const cuzk_curve *curve, unsigned *notes, cuzk_error *err)
{
    CUZK_TRY(expect_format(data, size, CUZK_FORMAT_PROOF_JSON, err));
    READER(r) = {.kind = "proof",
                 .fields = proof_fields,
                 .n_fields = PROOF_COUNT,
                 .out_of_range = CUZK_E_INVALID_PROOF,
                 .err = err};
    CUZK_TRY(scan_proof(&r, data, size, curve));
    cuzk_proof_points proof;
    memset(&proof, 0, sizeof proof);
    proof.curve = r.curve;
    int which;
    cuzk_json_token t;
    CUZK_TRY(begin_object(&r, data, size));
    for (;;) {
        CUZK_TRY(next_field(&r, &which, &t));
        if (which < 0) {
            break;
        }
        if (which == PROOF_A) {
            CUZK_TRY(read_point(&r, &t, CUZK_G1, "pi_a", &proof.a));
        } else if (which == PROOF_B) {
            CUZK_TRY(read_point(&r, &t, CUZK_G2, "pi_b", &proof.b));
        } else if (which == PROOF_C) {
            CUZK_TRY(read_point(&r, &t, CUZK_G1, "pi_c", &proof.c));
        }
    }
    CUZK_TRY(cuzk_proof_points_check(&proof, err));
    if (notes != NULL) {
        *notes = r.notes;
    }
    *out = proof;
    return CUZK_OK;
}

static cuzk_status begin_public(reader *r, cuzk_json_token *first, const uint8_t *data,
                                uint64_t size)
{
    CUZK_TRY(expect_format(data, size, CUZK_FORMAT_PUBLIC_JSON, r->err));
    cuzk_json_clear(&r->j);
    cuzk_json_init(&r->j, data, size);
    CUZK_TRY(cuzk_json_next(&r->j, first, r->err));
    if (first->kind != CUZK_JSON_ARRAY_BEGIN) {
        return wrong_kind(r, first, r->kind, "an array");
    }
    return CUZK_OK;
}

cuzk_status cuzk_public_json_count(uint64_t *n_values, const uint8_t *data, uint64_t size,
                                   cuzk_error *err)
{
    READER(r) = {.kind = "list of public values", .err = err};
    cuzk_json_token t;
    uint64_t n = 0;
    CUZK_TRY(begin_public(&r, &t, data, size));
    CUZK_TRY(count_elements(&r, &t, r.kind, &n));
    CUZK_TRY(expect(&r, CUZK_JSON_END, r.kind));
    *n_values = n;
    return CUZK_OK;
}

cuzk_status cuzk_public_from_json(uint8_t *values, uint64_t n_values, const uint8_t *data,
                                  uint64_t size, const cuzk_curve *curve, cuzk_error *err)
{
    READER(r) = {.kind = "list of public values", .curve = curve, .err = err};
    cuzk_json_token t;
    uint64_t n = 0;
    CUZK_TRY(cuzk_public_json_count(&n, data, size, err));
    CUZK_FAIL_IF(n != n_values, err, CUZK_E_MISMATCH,
                 "%" PRIu64 " public values, the verification key has %" PRIu64, n, n_values);
    CUZK_TRY(begin_public(&r, &t, data, size));
    for (uint64_t i = 0; i < n; i++) {
        char what[40];
        uint8_t wide[WIDE_BYTES];
        cuzk_fr unused;
        snprintf(what, sizeof what, "public signal %" PRIu64, i);
        CUZK_TRY(cuzk_json_next(&r.j, &t, err));
        CUZK_TRY(read_wide(&r, &t, what, wide));
        CUZK_FAIL_IF(!is_zero(wide + 32, WIDE_BYTES - 32) ||
                         !curve->fr_from_canonical_le(&unused, wide),
                     err, CUZK_E_INVALID_PROOF, "%s is not below the field order", what);
        memcpy(values + i * 32, wide, 32);
    }
    return CUZK_OK;
}

void cuzk_json_notes_text(char *out, size_t out_size, unsigned notes, const cuzk_curve *curve)
{
    char no_curve[64];
    snprintf(no_curve, sizeof no_curve, "\"curve\" is missing, taken as %s", curve->snarkjs_name);
    const struct {
        unsigned bit;
        const char *text;
    } texts[] = {
        {CUZK_JSON_NOTE_NO_CURVE, no_curve},
        {CUZK_JSON_NOTE_NO_PROTOCOL, "\"protocol\" is missing, taken as groth16"},
        {CUZK_JSON_NOTE_OLD_NAMES, "names of an old format are used (groth, vk_alfa_1)"},
    };
    size_t n = 0;
    if (out_size > 0) {
        out[0] = 0;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if ((notes & texts[i].bit) != 0 && n < out_size) {
            int k = snprintf(out + n, out_size - n, "%s%s", n > 0 ? "; " : "", texts[i].text);
            n += k > 0 ? (size_t)k : 0;
        }
    }
}
