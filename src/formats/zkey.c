/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/zkey.h"

#include "formats/points.h"
#include "formats/prime.h"
#include "formats/test_key.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    SECTION_PROTOCOL = 1,
    SECTION_HEADER = 2,
    SECTION_IC = 3,
    SECTION_COEFFS = 4,
    SECTION_A = 5,
    SECTION_B1 = 6,
    SECTION_B2 = 7,
    SECTION_C = 8,
    SECTION_H = 9,
    SECTION_CONTRIBUTIONS = 10
};

static cuzk_status check_protocol(const cuzk_sections *s, cuzk_error *err)
{
    cuzk_span p;
    CUZK_TRY(cuzk_sections_get(s, SECTION_PROTOCOL, "protocol", &p, err));
    CUZK_FAIL_IF(p.size != 4, err, CUZK_E_FORMAT,
                 "zkey section 1 (protocol): %" PRIu64 " bytes, expected 4", p.size);
    uint32_t id = cuzk_load_u32_le(p.data);
    switch (id) {
    case 1:
        return CUZK_OK;
    case 2:
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "zkey is a PLONK key, expected Groth16");
    case 10:
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "zkey is an FFLONK key, expected Groth16");
    default:
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "zkey has the unknown protocol %" PRIu32 ", expected 1 (Groth16)", id);
    }
}

/* Reads the two primes from the front of *rest and finds the curve. */
static cuzk_status read_primes(const cuzk_curve **curve, cuzk_span *rest, cuzk_error *err)
{
    const char *what = "zkey section 2 (header)";
    cuzk_span q;
    cuzk_span r;
    CUZK_TRY(cuzk_prime_read(&q, rest, what, err));
    CUZK_TRY(cuzk_prime_read(&r, rest, what, err));
    CUZK_TRY(cuzk_prime_curve(curve, r, what, err));
    if (q.size != (*curve)->fp_bytes || memcmp(q.data, (*curve)->p, q.size) != 0) {
        char hex[CUZK_PRIME_HEX_MAX];
        return CUZK_FAIL(err, CUZK_E_FORMAT,
                         "%s: base field prime %s (%" PRIu64
                         " bytes) is not the one of %s, which the scalar field prime names",
                         what, cuzk_prime_hex(hex, q), q.size, (*curve)->snarkjs_name);
    }
    return CUZK_OK;
}

static cuzk_status check_counts(const cuzk_zkey *k, cuzk_error *err)
{
    CUZK_FAIL_IF(k->n_public >= k->n_vars, err, CUZK_E_FORMAT,
                 "zkey section 2 (header): %" PRIu32 " public values do not fit %" PRIu32
                 " wires, the constant 1 included",
                 k->n_public, k->n_vars);
    CUZK_FAIL_IF(
        k->domain_size == 0 || (k->domain_size & (k->domain_size - 1)) != 0, err, CUZK_E_FORMAT,
        "zkey section 2 (header): domain size %" PRIu32 " is not a power of two", k->domain_size);
    unsigned lg_max = cuzk_zkey_lg_domain_max(k->curve);
    CUZK_FAIL_IF(
        k->lg_domain > lg_max, err, CUZK_E_UNSUPPORTED,
        "zkey section 2 (header): domain size 2^%u, keys over %s are supported up to 2^%u%s",
        k->lg_domain, k->curve->snarkjs_name, lg_max,
        k->lg_domain == k->curve->two_adicity ? ": the H query of this one is on another coset"
                                              : "");
    CUZK_FAIL_IF(k->n_public >= k->domain_size, err, CUZK_E_FORMAT,
                 "zkey section 2 (header): domain size %" PRIu32
                 " has no room for the rows of %" PRIu32 " public values and the constant 1",
                 k->domain_size, k->n_public);
    return CUZK_OK;
}

static cuzk_status read_header_point(const cuzk_curve *curve, cuzk_group_id group, cuzk_affine *out,
                                     const uint8_t **p, const char *name, cuzk_error *err)
{
    const cuzk_group *g = &curve->g[group];
    char what[64];
    snprintf(what, sizeof what, "zkey section 2 (header): %s", name);
    memset(out, 0, sizeof *out);
    memcpy(out, *p, g->affine_bytes);
    *p += g->affine_bytes;
    return cuzk_points_check(curve, group, out, 1, 0, 0, what, NULL, err);
}

static cuzk_status read_header(cuzk_zkey *k, cuzk_span header, cuzk_error *err)
{
    cuzk_span rest = header;
    CUZK_TRY(read_primes(&k->curve, &rest, err));
    size_t g1 = k->curve->g[CUZK_G1].affine_bytes;
    size_t g2 = k->curve->g[CUZK_G2].affine_bytes;
    uint64_t expected = 12 + 3 * (uint64_t)g1 + 3 * (uint64_t)g2;
    CUZK_FAIL_IF(rest.size != expected, err, CUZK_E_FORMAT,
                 "zkey section 2 (header): %" PRIu64 " bytes behind the primes, expected %" PRIu64,
                 rest.size, expected);
    k->n_vars = cuzk_load_u32_le(rest.data);
    k->n_public = cuzk_load_u32_le(rest.data + 4);
    k->domain_size = cuzk_load_u32_le(rest.data + 8);
    k->lg_domain = k->domain_size == 0 ? 0 : (unsigned)__builtin_ctz(k->domain_size);
    CUZK_TRY(check_counts(k, err));
    const uint8_t *p = rest.data + 12;
    cuzk_vk *vk = &k->vk;
    CUZK_TRY(read_header_point(k->curve, CUZK_G1, &vk->alpha1, &p, "alpha1", err));
    CUZK_TRY(read_header_point(k->curve, CUZK_G1, &vk->beta1, &p, "beta1", err));
    CUZK_TRY(read_header_point(k->curve, CUZK_G2, &vk->beta2, &p, "beta2", err));
    CUZK_TRY(read_header_point(k->curve, CUZK_G2, &vk->gamma2, &p, "gamma2", err));
    CUZK_TRY(read_header_point(k->curve, CUZK_G1, &vk->delta1, &p, "delta1", err));
    CUZK_TRY(read_header_point(k->curve, CUZK_G2, &vk->delta2, &p, "delta2", err));
    vk->curve = k->curve;
    vk->has_g1_pair = true;
    k->no_phase2 = memcmp(&vk->gamma2, &vk->delta2, g2) == 0;
    return CUZK_OK;
}

/* A section of n_points points. The product cannot overflow: counts are 32 bits, points < 2^8. */
static cuzk_status get_points(const cuzk_sections *s, const cuzk_curve *curve, cuzk_group_id group,
                              uint32_t id, const char *name, uint64_t n_points,
                              const char *expected_from, const uint8_t **out, cuzk_error *err)
{
    cuzk_span p;
    CUZK_TRY(cuzk_sections_get(s, id, name, &p, err));
    uint64_t each = curve->g[group].affine_bytes;
    CUZK_FAIL_IF(p.size != n_points * each, err, CUZK_E_FORMAT,
                 "zkey section %" PRIu32 " (%s): %" PRIu64 " bytes, expected %" PRIu64 " (%" PRIu64
                 " points of %" PRIu64 " bytes, %s)",
                 id, name, p.size, n_points * each, n_points, each, expected_from);
    *out = p.data;
    return CUZK_OK;
}

static cuzk_status get_coeffs(cuzk_zkey *k, const cuzk_sections *s, cuzk_error *err)
{
    cuzk_span p;
    CUZK_TRY(cuzk_sections_get(s, SECTION_COEFFS, "coefficients", &p, err));
    CUZK_FAIL_IF(p.size < 4, err, CUZK_E_FORMAT,
                 "zkey section 4 (coefficients): %" PRIu64 " bytes, expected at least 4", p.size);
    k->n_coeffs = cuzk_load_u32_le(p.data);
    k->coeffs = p.data + 4;
    uint64_t expected = 4 + k->n_coeffs * CUZK_ZKEY_COEFF_BYTES;
    CUZK_FAIL_IF(p.size != expected, err, CUZK_E_FORMAT,
                 "zkey section 4 (coefficients): %" PRIu64 " bytes, expected %" PRIu64 " (%" PRIu64
                 " records of %d bytes)",
                 p.size, expected, k->n_coeffs, CUZK_ZKEY_COEFF_BYTES);
    return CUZK_OK;
}

static cuzk_status get_contributions(cuzk_zkey *k, const cuzk_sections *s, cuzk_error *err)
{
    if (s->n_found[SECTION_CONTRIBUTIONS] == 0) {
        return CUZK_OK;
    }
    cuzk_span p;
    CUZK_TRY(cuzk_sections_get(s, SECTION_CONTRIBUTIONS, "contributions", &p, err));
    CUZK_FAIL_IF(p.size < CUZK_ZKEY_CIRCUIT_HASH_BYTES + 4, err, CUZK_E_FORMAT,
                 "zkey section 10 (contributions): %" PRIu64 " bytes, expected at least %d", p.size,
                 CUZK_ZKEY_CIRCUIT_HASH_BYTES + 4);
    k->has_contributions = true;
    k->circuit_hash = p.data;
    k->n_contributions = cuzk_load_u32_le(p.data + CUZK_ZKEY_CIRCUIT_HASH_BYTES);
    k->contributions = p.data + CUZK_ZKEY_CIRCUIT_HASH_BYTES + 4;
    k->contributions_bytes = p.size - CUZK_ZKEY_CIRCUIT_HASH_BYTES - 4;
    return CUZK_OK;
}

static bool has_test_mark(const cuzk_sections *s)
{
    uint64_t next = 0;
    cuzk_section section;
    while (cuzk_sections_next(s, &next, &section)) {
        if (section.id == CUZK_TEST_KEY_SECTION &&
            cuzk_test_key_is_mark(s->file.data + section.offset, section.size)) {
            return true;
        }
    }
    return false;
}

cuzk_status cuzk_zkey_open(cuzk_zkey *out, const uint8_t *data, uint64_t size, cuzk_error *err)
{
    cuzk_sections s;
    CUZK_TRY(cuzk_sections_open(&s, "zkey", 1, data, size, err));
    CUZK_TRY(check_protocol(&s, err));
    cuzk_zkey k;
    memset(&k, 0, sizeof k);
    cuzk_span header;
    CUZK_TRY(cuzk_sections_get(&s, SECTION_HEADER, "header", &header, err));
    CUZK_TRY(read_header(&k, header, err));
    const cuzk_curve *c = k.curve;
    const uint8_t *ic = NULL;
    CUZK_TRY(get_points(&s, c, CUZK_G1, SECTION_IC, "IC", (uint64_t)k.n_public + 1, "nPublic + 1",
                        &ic, err));
    k.vk.ic = ic;
    k.vk.n_ic = k.n_public + 1; /* n_public < n_vars < 2^32 */
    CUZK_TRY(get_coeffs(&k, &s, err));
    CUZK_TRY(get_points(&s, c, CUZK_G1, SECTION_A, "A", k.n_vars, "nVars", &k.a, err));
    CUZK_TRY(get_points(&s, c, CUZK_G1, SECTION_B1, "B1", k.n_vars, "nVars", &k.b1, err));
    CUZK_TRY(get_points(&s, c, CUZK_G2, SECTION_B2, "B2", k.n_vars, "nVars", &k.b2, err));
    CUZK_TRY(get_points(&s, c, CUZK_G1, SECTION_C, "C", (uint64_t)k.n_vars - k.n_public - 1,
                        "nVars - nPublic - 1", &k.c, err));
    CUZK_TRY(get_points(&s, c, CUZK_G1, SECTION_H, "H", k.domain_size, "domainSize", &k.h, err));
    CUZK_TRY(get_contributions(&k, &s, err));
    k.is_test_key = has_test_mark(&s);
    k.vk.is_test_key = k.is_test_key;
    *out = k;
    return CUZK_OK;
}

cuzk_status cuzk_zkey_coeff_fail(const cuzk_zkey *key, uint64_t i, cuzk_error *err)
{
    cuzk_zkey_coeff c;
    (void)cuzk_zkey_coeff_read(key, i, &c);
    const char *where = "zkey section 4 (coefficients): record";
    CUZK_FAIL_IF(c.matrix > 1, err, CUZK_E_FORMAT,
                 "%s %" PRIu64 ": matrix %" PRIu32 ", expected 0 (A) or 1 (B)", where, i, c.matrix);
    CUZK_FAIL_IF(c.row >= key->domain_size, err, CUZK_E_FORMAT,
                 "%s %" PRIu64 ": row %" PRIu32 ", expected below the domain size %" PRIu32, where,
                 i, c.row, key->domain_size);
    CUZK_FAIL_IF(c.wire >= key->n_vars, err, CUZK_E_FORMAT,
                 "%s %" PRIu64 ": wire %" PRIu32 ", expected below %" PRIu32, where, i, c.wire,
                 key->n_vars);
    return CUZK_FAIL(err, CUZK_E_FORMAT, "%s %" PRIu64 ": value is not below the field order",
                     where, i);
}

enum { COEFF_CHUNK = 1 << 14 };

typedef struct {
    const cuzk_zkey *key;
    _Atomic uint64_t first_bad;
} coeff_job;

static void check_coeff_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    coeff_job *j = ctx;
    uint64_t begin = (uint64_t)chunk * COEFF_CHUNK;
    uint64_t n = j->key->n_coeffs;
    uint64_t end = n - begin < COEFF_CHUNK ? n : begin + COEFF_CHUNK;
    cuzk_zkey_coeff c;
    for (uint64_t i = begin; i < end; i++) {
        if (!cuzk_zkey_coeff_read(j->key, i, &c)) {
            /* relaxed: the pool's join orders this before the caller's load */
            uint64_t seen = atomic_load_explicit(&j->first_bad, memory_order_relaxed);
            while (i < seen && !atomic_compare_exchange_weak_explicit(&j->first_bad, &seen, i,
                                                                      memory_order_relaxed,
                                                                      memory_order_relaxed)) {
            }
            return;
        }
    }
}

cuzk_status cuzk_zkey_check_coeffs(const cuzk_zkey *key, cuzk_pool *pool, cuzk_error *err)
{
    coeff_job j = {.key = key};
    atomic_init(&j.first_bad, UINT64_MAX);
    cuzk_pool_for(pool, (size_t)((key->n_coeffs + COEFF_CHUNK - 1) / COEFF_CHUNK),
                  check_coeff_chunk, &j);
    uint64_t bad = atomic_load(&j.first_bad);
    return bad == UINT64_MAX ? CUZK_OK : cuzk_zkey_coeff_fail(key, bad, err);
}

void cuzk_zkey_queries(const cuzk_zkey *key, cuzk_zkey_query_view out[CUZK_ZKEY_QUERY_COUNT])
{
    uint64_t n_private = (uint64_t)key->n_vars - key->n_public - 1;
    const cuzk_zkey_query_view views[CUZK_ZKEY_QUERY_COUNT] = {
        [CUZK_ZKEY_QUERY_H] = {CUZK_G1, key->h, key->domain_size, "zkey section 9 (H)"},
        [CUZK_ZKEY_QUERY_C] = {CUZK_G1, key->c, n_private, "zkey section 8 (C)"},
        [CUZK_ZKEY_QUERY_A] = {CUZK_G1, key->a, key->n_vars, "zkey section 5 (A)"},
        [CUZK_ZKEY_QUERY_B1] = {CUZK_G1, key->b1, key->n_vars, "zkey section 6 (B1)"},
        [CUZK_ZKEY_QUERY_B2] = {CUZK_G2, key->b2, key->n_vars, "zkey section 7 (B2)"},
    };
    memcpy(out, views, sizeof views);
}

cuzk_status cuzk_zkey_check(const cuzk_zkey *key, cuzk_pool *pool, const cuzk_reporter *reporter,
                            cuzk_error *err)
{
    enum { SLICE_POINTS = 1 << 16 };
    cuzk_zkey_query_view queries[CUZK_ZKEY_QUERY_COUNT];
    cuzk_zkey_queries(key, queries);
    uint64_t total = 0;
    for (int i = 0; i < CUZK_ZKEY_QUERY_COUNT; i++) {
        total += queries[i].n;
    }
    CUZK_TRY(cuzk_zkey_check_coeffs(key, pool, err));
    CUZK_TRY(cuzk_vk_check(&key->vk, pool, err));
    uint64_t done = 0;
    for (int i = 0; i < CUZK_ZKEY_QUERY_COUNT; i++) {
        const cuzk_zkey_query_view *q = &queries[i];
        size_t each = key->curve->g[q->group].affine_bytes;
        for (uint64_t first = 0; first < q->n; first += SLICE_POINTS) {
            uint64_t n = q->n - first < SLICE_POINTS ? q->n - first : SLICE_POINTS;
            CUZK_TRY(cuzk_report_progress(reporter, q->name, done, total, err));
            CUZK_TRY(cuzk_points_check(key->curve, q->group, q->points + first * each, n, first,
                                       CUZK_POINTS_ALLOW_INFINITY | CUZK_POINTS_SUBGROUP, q->name,
                                       pool, err));
            done += n;
        }
    }
    return CUZK_OK;
}

uint32_t cuzk_zkey_n_constraints(const cuzk_zkey *key)
{
    cuzk_zkey_coeff c;
    uint32_t last_row = 0;
    if (key->n_coeffs > 0 && cuzk_zkey_coeff_read(key, key->n_coeffs - 1, &c) && c.matrix == 0 &&
        c.wire == key->n_public && c.row >= key->n_public) {
        return c.row - key->n_public;
    }
    for (uint64_t i = 0; i < key->n_coeffs; i++) {
        if (cuzk_zkey_coeff_read(key, i, &c) && c.row > last_row) {
            last_row = c.row;
        }
    }
    return last_row >= key->n_public ? last_row - key->n_public : 0;
}
