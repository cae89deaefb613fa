/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/inspect.h"

#include "base/bytes.h"
#include "formats/detect.h"
#include "formats/params.h"
#include "formats/points.h"
#include "formats/proof.h"
#include "formats/r1cs_file.h"
#include "formats/sections.h"
#include "formats/shape_file.h"
#include "formats/snarkjs_json.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "formats/zkey_contributions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_LISTED_MAX = 64, GATES_LISTED_MAX = 64, CONTRIBUTIONS_LISTED_MAX = 64 };

typedef struct {
    const uint8_t *data;
    uint64_t size;
    const cuzk_inspect_options *options;
    cuzk_inspect_sink sink;
    void *user;
    cuzk_error *err;
} inspection;

static void put_text(const inspection *in, cuzk_inspect_kind kind, const char *name,
                     const char *fmt, ...) CUZK_PRINTF(4, 5);

static void put_text(const inspection *in, cuzk_inspect_kind kind, const char *name,
                     const char *fmt, ...)
{
    char value[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    in->sink(in->user, kind, name, value, false);
}

static void put_number(const inspection *in, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    in->sink(in->user, CUZK_INSPECT_FACT, name, text, true);
}

static void put_fact(const inspection *in, const char *name, const char *value)
{
    in->sink(in->user, CUZK_INSPECT_FACT, name, value, false);
}

static void warn_test_key(const inspection *in, bool is_test_key)
{
    if (is_test_key) {
        put_text(in, CUZK_INSPECT_WARNING, "test key",
                 "made from a known trapdoor: whoever knows it can forge proofs");
    }
}

static void warn_no_phase2(const inspection *in, bool no_phase2)
{
    if (no_phase2) {
        put_text(in, CUZK_INSPECT_WARNING, "no phase 2",
                 "gamma equals delta: nobody contributed to this key, anybody can forge proofs");
    }
}

/* Whether a verifying key's gamma and delta are the same point. */
static bool vk_has_no_phase2(const cuzk_vk *vk)
{
    return memcmp(&vk->gamma2, &vk->delta2, vk->curve->g[CUZK_G2].affine_bytes) == 0;
}

static const char *section_name(const char *kind, uint32_t id)
{
    static const char *const zkey[] = {NULL, "protocol", "header", "IC", "coefficients", "A",
                                       "B1", "B2",       "C",      "H",  "contributions"};
    static const char *const wtns[] = {NULL, "header", "values"};
    static const char *const r1cs[] = {NULL,     "header",       "constraints",
                                       "labels", "custom gates", "uses of custom gates"};
    const char *const *names = zkey;
    size_t n = sizeof zkey / sizeof zkey[0];
    if (strcmp(kind, "wtns") == 0) {
        names = wtns;
        n = sizeof wtns / sizeof wtns[0];
    } else if (strcmp(kind, "r1cs") == 0) {
        names = r1cs;
        n = sizeof r1cs / sizeof r1cs[0];
    } else if (strcmp(kind, "zkey") != 0) {
        n = 0;
    }
    return id < n && names[id] != NULL ? names[id] : "unknown";
}

static cuzk_status list_sections(const inspection *in, const char *kind, uint32_t version_max)
{
    cuzk_sections s;
    CUZK_TRY(cuzk_sections_open(&s, kind, version_max, in->data, in->size, in->err));
    put_number(in, "version", s.version);
    put_number(in, "sections", s.n_sections);
    uint64_t next = 0;
    cuzk_section section;
    for (uint32_t i = 0; cuzk_sections_next(&s, &next, &section); i++) {
        char name[48];
        if (i == SECTIONS_LISTED_MAX) {
            put_text(in, CUZK_INSPECT_NOTE, "sections", "only the first %d are listed",
                     SECTIONS_LISTED_MAX);
            break;
        }
        snprintf(name, sizeof name, "section %" PRIu32 " (%s)", section.id,
                 section_name(kind, section.id));
        put_text(in, CUZK_INSPECT_FACT, name, "offset %" PRIu64 ", %" PRIu64 " bytes",
                 section.offset, section.size);
    }
    if (s.end < in->size) {
        put_text(in, CUZK_INSPECT_WARNING, "trailing bytes",
                 "%" PRIu64 " bytes follow the last section, which ends at %" PRIu64,
                 in->size - s.end, s.end);
    }
    return CUZK_OK;
}

static void put_infinities(const inspection *in, const cuzk_zkey *key)
{
    static const char *const names[CUZK_ZKEY_QUERY_COUNT] = {
        "points at infinity in H", "points at infinity in C", "points at infinity in A",
        "points at infinity in B1", "points at infinity in B2"};
    cuzk_zkey_query_view queries[CUZK_ZKEY_QUERY_COUNT];
    cuzk_zkey_queries(key, queries);
    for (int i = 0; i < CUZK_ZKEY_QUERY_COUNT; i++) {
        const cuzk_zkey_query_view *q = &queries[i];
        uint64_t n =
            cuzk_points_count_infinity(key->curve, q->group, q->points, q->n, in->options->pool);
        put_number(in, names[i], n);
        if (i == CUZK_ZKEY_QUERY_H && n > 0) {
            put_text(in, CUZK_INSPECT_WARNING, "points at infinity",
                     "%" PRIu64 " in H, where an honest key has none", n);
        }
    }
}

/* Records of section 10. An end that comes too early is a warning: no proof depends on them. */
static void list_contributions(const inspection *in, const cuzk_zkey *key)
{
    uint64_t offset = 0;
    put_number(in, "contributions", key->n_contributions);
    for (uint32_t i = 0; i < key->n_contributions && i < CONTRIBUTIONS_LISTED_MAX; i++) {
        cuzk_zkey_contribution c;
        char name[32];
        cuzk_error err = {0};
        if (cuzk_zkey_contribution_next(key, &offset, &c, &err) != CUZK_OK) {
            put_text(in, CUZK_INSPECT_WARNING, "contributions", "record %" PRIu32 ": %s", i,
                     err.text);
            return;
        }
        snprintf(name, sizeof name, "contribution %" PRIu32, i);
        put_text(in, CUZK_INSPECT_FACT, name, "%s\"%s\"", c.is_beacon ? "beacon, " : "", c.name);
    }
    if (key->n_contributions > CONTRIBUTIONS_LISTED_MAX) {
        put_text(in, CUZK_INSPECT_NOTE, "contributions", "only the first %d are listed",
                 CONTRIBUTIONS_LISTED_MAX);
    }
    if (key->n_contributions == 0 && !key->no_phase2) {
        put_text(in, CUZK_INSPECT_NOTE, "contributions",
                 "none is recorded, yet delta is not gamma: made by one party");
    }
}

static cuzk_status inspect_zkey(const inspection *in)
{
    CUZK_TRY(list_sections(in, "zkey", 1));
    cuzk_zkey key;
    CUZK_TRY(cuzk_zkey_open(&key, in->data, in->size, in->err));
    put_fact(in, "protocol", "groth16");
    put_fact(in, "curve", key.curve->snarkjs_name);
    put_number(in, "wires", key.n_vars);
    put_number(in, "public values", key.n_public);
    put_number(in, "private wires", (uint64_t)key.n_vars - key.n_public - 1);
    put_text(in, CUZK_INSPECT_FACT, "domain", "2^%u", key.lg_domain);
    put_number(in, "coefficients", key.n_coeffs);
    if (key.has_contributions) {
        char hex[2 * 64 + 1];
        for (int i = 0; i < 64; i++) {
            snprintf(hex + 2 * i, 3, "%02x", key.circuit_hash[i]);
        }
        list_contributions(in, &key);
        put_fact(in, "circuit hash", hex);
    } else {
        put_text(in, CUZK_INSPECT_WARNING, "contributions",
                 "section 10 is missing: not needed for proving, but the key's origin cannot be "
                 "checked");
    }
    warn_no_phase2(in, key.no_phase2);
    warn_test_key(in, key.is_test_key);
    if (in->options->deep) {
        CUZK_TRY(cuzk_zkey_check_contributions(&key, in->err));
        CUZK_TRY(cuzk_zkey_check(&key, in->options->pool, in->options->reporter, in->err));
        put_infinities(in, &key);
        put_fact(in, "checked",
                 "every coefficient in range, every point on its curve and in its "
                 "subgroup");
    }
    return CUZK_OK;
}

static cuzk_status inspect_wtns(const inspection *in)
{
    CUZK_TRY(list_sections(in, "wtns", 2));
    cuzk_wtns w;
    CUZK_TRY(cuzk_wtns_open(&w, in->data, in->size, in->err));
    put_fact(in, "curve", w.curve->snarkjs_name);
    put_number(in, "values", w.n_values);
    if (w.n_values == 0) {
        put_text(in, CUZK_INSPECT_WARNING, "values", "no value: the constant 1 is missing");
    }
    if (in->options->deep) {
        CUZK_TRY(cuzk_wtns_check(&w, in->options->pool, in->err));
        static const uint8_t one[32] = {1};
        static const uint8_t zero[32] = {0};
        uint64_t n_zero = 0;
        uint64_t n_one = 0;
        for (uint64_t i = 0; i < w.n_values; i++) {
            n_zero += memcmp(w.values + i * 32, zero, 32) == 0;
            n_one += memcmp(w.values + i * 32, one, 32) == 0;
        }
        put_number(in, "values 0", n_zero);
        put_number(in, "values 1", n_one);
        put_fact(in, "checked", "every value below the field order, the first one is 1");
    }
    return CUZK_OK;
}

/* Lists the names of custom gates: a NUL-terminated name, u32 number of parameters, 32 bytes each.
 * Stops quietly where the section ends too early: nothing relies on it. */
static void list_custom_gates(const inspection *in, const cuzk_r1cs *r)
{
    cuzk_span left = r->custom_gates;
    for (uint32_t i = 0; i < r->n_custom_gates && i < GATES_LISTED_MAX; i++) {
        const uint8_t *end = left.size > 0 ? memchr(left.data, 0, (size_t)left.size) : NULL;
        if (end == NULL || (uint64_t)(left.data + left.size - end) < 5) {
            put_text(in, CUZK_INSPECT_WARNING, "custom gates", "the list ends within gate %" PRIu32,
                     i);
            return;
        }
        char name[64];
        size_t n = (size_t)(end - left.data) < sizeof name - 1 ? (size_t)(end - left.data)
                                                               : sizeof name - 1;
        for (size_t k = 0; k < n; k++) {
            uint8_t c = left.data[k];
            name[k] = c > 0x20 && c < 0x7f ? (char)c : '?';
        }
        name[n] = 0;
        uint64_t n_parameters = cuzk_load_u32_le(end + 1);
        put_text(in, CUZK_INSPECT_NOTE, "custom gate", "%s, %" PRIu64 " parameters", name,
                 n_parameters);
        uint64_t taken = (uint64_t)(end - left.data) + 5 + n_parameters * 32;
        taken = taken < left.size ? taken : left.size;
        left = (cuzk_span){left.data + taken, left.size - taken};
    }
}

static cuzk_status walk_constraints(const inspection *in, const cuzk_r1cs *r)
{
    uint64_t n_terms[3] = {0, 0, 0};
    cuzk_r1cs_iter iter;
    cuzk_r1cs_begin(&iter, r);
    for (;;) {
        cuzk_r1cs_lc lc[3];
        bool more = false;
        CUZK_TRY(cuzk_r1cs_next(&iter, lc, &more, in->err));
        if (!more) {
            break;
        }
        for (int k = 0; k < 3; k++) {
            n_terms[k] += lc[k].n_terms;
        }
    }
    put_number(in, "terms in A", n_terms[0]);
    put_number(in, "terms in B", n_terms[1]);
    put_number(in, "terms in C", n_terms[2]);
    put_fact(in, "checked", "every wire and coefficient in range");
    return CUZK_OK;
}

static cuzk_status inspect_r1cs(const inspection *in)
{
    CUZK_TRY(list_sections(in, "r1cs", 1));
    cuzk_r1cs r;
    CUZK_TRY(cuzk_r1cs_open(&r, in->data, in->size, in->err));
    put_fact(in, "curve", r.curve->snarkjs_name);
    put_number(in, "wires", r.n_wires);
    put_number(in, "public outputs", r.n_pub_out);
    put_number(in, "public inputs", r.n_pub_in);
    put_number(in, "private inputs", r.n_prv_in);
    put_number(in, "labels", r.n_labels);
    put_number(in, "constraints", r.n_constraints);
    if (r.n_custom_gates > 0 || r.n_custom_gate_uses > 0) {
        put_number(in, "custom gates", r.n_custom_gates);
        put_number(in, "uses of custom gates", r.n_custom_gate_uses);
        list_custom_gates(in, &r);
        put_text(in, CUZK_INSPECT_WARNING, "custom gates", "not supported by Groth16");
    }
    return in->options->deep ? walk_constraints(in, &r) : CUZK_OK;
}

static cuzk_status inspect_params(const inspection *in)
{
    cuzk_params p;
    CUZK_TRY(cuzk_params_open(&p, in->data, in->size, in->err));
    put_fact(in, "curve", p.curve->snarkjs_name);
    put_number(in, "public values", p.n_ic - 1);
    put_number(in, "private variables", p.arrays[CUZK_PARAMS_L].n);
    put_text(in, CUZK_INSPECT_FACT, "domain", "2^%u", p.lg_domain);
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        char name[16];
        snprintf(name, sizeof name, "array %s", cuzk_params_array_name(k));
        put_text(in, CUZK_INSPECT_FACT, name, "offset %" PRIu64 ", %" PRIu32 " points",
                 p.arrays[k].offset, p.arrays[k].n);
    }
    cuzk_vk vk;
    CUZK_TRY(cuzk_params_vk(&vk, &p, in->options->pool, in->err));
    warn_no_phase2(in, vk_has_no_phase2(&vk));
    warn_test_key(in, vk.is_test_key);
    cuzk_vk_clear(&vk);
    if (in->options->deep) {
        CUZK_TRY(cuzk_params_check(&p, in->options->pool, in->options->reporter, in->err));
        put_fact(in, "checked", "every point on its curve and in its subgroup, none at infinity");
    }
    return CUZK_OK;
}

static void put_vk(const inspection *in, const cuzk_vk *vk)
{
    put_fact(in, "curve", vk->curve->snarkjs_name);
    put_number(in, "public values", vk->n_ic - 1);
    put_number(in, "points at infinity in IC",
               cuzk_points_count_infinity(vk->curve, CUZK_G1, vk->ic, vk->n_ic, NULL));
    put_fact(in, "checked", "every point on its curve and in its subgroup");
    warn_no_phase2(in, vk_has_no_phase2(vk));
    warn_test_key(in, vk->is_test_key);
}

static void put_notes(const inspection *in, unsigned notes, const cuzk_curve *curve)
{
    char text[256];
    cuzk_json_notes_text(text, sizeof text, notes, curve);
    if (notes != 0) {
        put_text(in, CUZK_INSPECT_NOTE, "old layout", "%s", text);
    }
}

static cuzk_status inspect_vk(const inspection *in, bool json)
{
    cuzk_vk vk;
    unsigned notes = 0;
    if (json) {
        CUZK_TRY(cuzk_vk_from_json(&vk, in->data, in->size, &notes, in->options->pool, in->err));
    } else {
        CUZK_TRY(cuzk_vk_read(&vk, in->data, in->size, in->options->pool, in->err));
    }
    put_vk(in, &vk);
    put_notes(in, notes, vk.curve);
    cuzk_vk_clear(&vk);
    return CUZK_OK;
}

static cuzk_status inspect_proof(const inspection *in)
{
    uint64_t n;
    CUZK_TRY(cuzk_proof_points_count(&n, in->size, in->err));
    put_fact(in, "curve", "bls12381");
    put_number(in, "proofs", n);
    for (uint64_t i = 0; i < n; i++) {
        cuzk_proof_points proof;
        cuzk_status status = cuzk_proof_points_read(&proof, in->data + i * CUZK_PROOF_BYTES,
                                                    CUZK_PROOF_BYTES, in->err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(in->err, "proof %" PRIu64, i);
            return status;
        }
    }
    put_fact(in, "checked", "every point on its curve and in its subgroup, none at infinity");
    return CUZK_OK;
}

static cuzk_status inspect_proof_json(const inspection *in)
{
    cuzk_proof_points proof;
    unsigned notes = 0;
    CUZK_TRY(cuzk_proof_from_json(&proof, in->data, in->size, NULL, &notes, in->err));
    put_fact(in, "protocol", "groth16");
    put_fact(in, "curve", proof.curve->snarkjs_name);
    put_fact(in, "checked", "every point on its curve and in its subgroup");
    put_notes(in, notes, proof.curve);
    return CUZK_OK;
}

static cuzk_status inspect_public_json(const inspection *in)
{
    uint64_t n;
    CUZK_TRY(cuzk_public_json_count(&n, in->data, in->size, in->err));
    put_number(in, "public values", n);
    if (!in->options->deep) {
        return CUZK_OK;
    }
    /* the file does not name its curve: the larger of the two orders is the limit */
    uint8_t *values = malloc(n > 0 ? (size_t)n * 32 : 1);
    CUZK_FAIL_IF(values == NULL, in->err, CUZK_E_MEMORY, "%" PRIu64 " values: out of memory", n);
    cuzk_status status = cuzk_public_from_json(values, n, in->data, in->size,
                                               cuzk_curve_get(CUZK_CURVE_BLS12_381), in->err);
    free(values);
    if (status == CUZK_OK) {
        put_fact(in, "checked", "every value is below the field order of bls12381");
    }
    return status;
}

static cuzk_status inspect_shape(const inspection *in)
{
    cuzk_shape_file f;
    CUZK_TRY(cuzk_shape_file_open(&f, in->data, in->size, in->err));
    const cuzk_shape_header *h = &f.header;
    char hex[2 * CUZK_SHA256_BYTES + 1];
    for (size_t i = 0; i < CUZK_SHA256_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", h->fingerprint[i]);
    }
    put_number(in, "version", CUZK_SHAPE_FILE_VERSION);
    put_fact(in, "curve", h->curve->snarkjs_name);
    put_fact(in, "fingerprint", hex);
    put_number(in, "variables", h->n_vars);
    put_number(in, "public values", h->n_inputs - 1);
    put_number(in, "constraints", h->n_constraints);
    put_number(in, "stored constraints", h->n_stored_rows);
    put_number(in, "blocks", h->n_blocks);
    put_number(in, "coefficients", h->n_coefs);
    put_number(in, "stored terms in A", h->n_terms[0]);
    put_number(in, "stored terms in B", h->n_terms[1]);
    put_number(in, "stored terms in C", h->n_terms[2]);
    if (in->options->deep) {
        CUZK_TRY(cuzk_shape_file_check(&f, in->options->reporter, in->err));
        put_fact(in, "checked", "the digest of every byte");
    }
    return CUZK_OK;
}

static cuzk_status dispatch(const inspection *in, cuzk_format format)
{
    switch (format) {
    case CUZK_FORMAT_ZKEY:
        return inspect_zkey(in);
    case CUZK_FORMAT_WTNS:
        return inspect_wtns(in);
    case CUZK_FORMAT_R1CS:
        return inspect_r1cs(in);
    case CUZK_FORMAT_PTAU:
        return list_sections(in, "ptau", 1);
    case CUZK_FORMAT_SHAPE:
        return inspect_shape(in);
    case CUZK_FORMAT_PARAMS:
    case CUZK_FORMAT_BELLPERSON: /* refused with the place where it ends short */
        return inspect_params(in);
    case CUZK_FORMAT_VK:
        return inspect_vk(in, false);
    case CUZK_FORMAT_PROOF:
        return inspect_proof(in);
    case CUZK_FORMAT_VK_JSON:
        return inspect_vk(in, true);
    case CUZK_FORMAT_PROOF_JSON:
        return inspect_proof_json(in);
    case CUZK_FORMAT_PUBLIC_JSON:
        return inspect_public_json(in);
    default:
        break;
    }
    char text[64];
    cuzk_format_describe(text, sizeof text, in->data, in->size);
    return CUZK_FAIL(in->err, CUZK_E_FORMAT, "%s; this program does not read it", text);
}

cuzk_status cuzk_inspect(const uint8_t *data, uint64_t size, const cuzk_inspect_options *options,
                         cuzk_inspect_sink sink, void *user, cuzk_error *err)
{
    cuzk_error own = {0};
    inspection in = {data, size, options, sink, user, err != NULL ? err : &own};
    cuzk_format format = cuzk_format_detect(data, size);
    put_fact(&in, "format", cuzk_format_name(format));
    put_number(&in, "bytes", size);
    cuzk_status status = dispatch(&in, format);
    if (status != CUZK_OK) {
        sink(user, CUZK_INSPECT_ERROR, "error", in.err->text, false);
    }
    return status;
}
