/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom's Groth16 proving key (.zkey version 1), read as views into mapped bytes, and written.
 *
 * Byte tables: docs/formats.md. Points are affine in memory form (curve/curve.h), which is also the
 * file's form; infinity is allowed in the queries A, B1, B2 and C, where it stands for wires that
 * do not occur. The root of unity of these files is snarkjs's: generator 5 on both curves. */
#ifndef CUZK_FORMATS_ZKEY_H
#define CUZK_FORMATS_ZKEY_H

#include "base/bytes.h"
#include "base/pool.h"
#include "base/progress.h"
#include "curve/curve.h"
#include "formats/sections.h"
#include "formats/vk.h"

enum {
    CUZK_ZKEY_COEFF_BYTES = 44, /* u32 matrix, u32 row, u32 wire, 32 bytes value */
    CUZK_ZKEY_GENERATOR = 5,    /* for cuzk_curve.fr_root_of_unity */
    CUZK_ZKEY_CIRCUIT_HASH_BYTES = 64
};

typedef struct {
    const cuzk_curve *curve;
    uint32_t n_vars;   /* wires, the constant 1 included */
    uint32_t n_public; /* public values, the constant 1 not included; n_public < n_vars */
    uint32_t domain_size;
    unsigned lg_domain; /* domain_size = 2^lg_domain, at most cuzk_zkey_lg_domain_max */
    cuzk_vk vk;         /* points copied; vk.ic is a view of section 3 */

    uint64_t n_coeffs;
    const uint8_t *coeffs; /* section 4: n_coeffs records of CUZK_ZKEY_COEFF_BYTES */
    const uint8_t *a;      /* section 5: n_vars points of G1 */
    const uint8_t *b1;     /* section 6: n_vars points of G1 */
    const uint8_t *b2;     /* section 7: n_vars points of G2 */
    const uint8_t *c;      /* section 8: n_vars - n_public - 1 points of G1: the private wires */
    const uint8_t *h;      /* section 9: domain_size points of G1 */

    bool has_contributions;       /* section 10 is there (not needed for proving) */
    uint32_t n_contributions;     /* as the section says; formats/zkey_contributions.h reads them */
    const uint8_t *circuit_hash;  /* 64 bytes, NULL without section 10 */
    const uint8_t *contributions; /* the records */
    uint64_t contributions_bytes;
    bool no_phase2;   /* gamma equals delta: nobody contributed, proofs can be forged */
    bool is_test_key; /* carries the mark of formats/test_key.h */
} cuzk_zkey;

/** log2 of the largest domain of a key: 27 on bn254, 28 on bls12_381. The H query stands on the odd
 *  points of the domain of twice the size, for which the field must have a root of unity; where it
 *  has none (bn254, 2^28) such keys use another coset and are refused. */
static inline unsigned cuzk_zkey_lg_domain_max(const cuzk_curve *curve)
{
    return curve->two_adicity - 1 < CUZK_DOMAIN_LG_MAX ? curve->two_adicity - 1
                                                       : CUZK_DOMAIN_LG_MAX;
}

/** Open a .zkey: index the sections, check the header, the length of each section against the
 *  header's counts, and the six points alpha … delta (on the curve, not infinity).
 *
 *  data: borrowed for as long as *out is used. Nothing is allocated, the long sections are not
 *  touched: their contents are checked by cuzk_zkey_check, coefficients also by
 *  cuzk_zkey_coeff_read. Errors: E_FORMAT, E_TRUNCATED, E_UNSUPPORTED (PLONK, FFLONK, another
 *  protocol, a domain beyond cuzk_zkey_lg_domain_max). */
cuzk_status cuzk_zkey_open(cuzk_zkey *out, const uint8_t *data, uint64_t size,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/* One coefficient of section 4. `value` is the coefficient times R² mod r as raw limbs (R = 2^256):
 * its Montgomery product with a plain witness value is the product in Montgomery form, and
 * its Montgomery product with the integer 1 is the coefficient in Montgomery form. */
typedef struct {
    uint32_t matrix; /* 0: A, 1: B */
    uint32_t row;
    uint32_t wire;
    cuzk_fr value;
} cuzk_zkey_coeff;

/** Read record i < n_coeffs. False when the matrix is not 0 or 1, the row is not below domain_size,
 *  the wire not below n_vars, or the value not below r. */
static inline bool cuzk_zkey_coeff_read(const cuzk_zkey *key, uint64_t i, cuzk_zkey_coeff *out)
{
    const uint8_t *p = key->coeffs + i * CUZK_ZKEY_COEFF_BYTES;
    const uint64_t *r = key->curve->r;
    out->matrix = cuzk_load_u32_le(p);
    out->row = cuzk_load_u32_le(p + 4);
    out->wire = cuzk_load_u32_le(p + 8);
    for (int k = 0; k < 4; k++) {
        out->value.l[k] = cuzk_load_u64_le(p + 12 + 8 * k);
    }
    const uint64_t *v = out->value.l;
    bool below_r = v[3] != r[3]   ? v[3] < r[3]
                   : v[2] != r[2] ? v[2] < r[2]
                   : v[1] != r[1] ? v[1] < r[1]
                                  : v[0] < r[0];
    return below_r && out->matrix <= 1 && out->row < key->domain_size && out->wire < key->n_vars;
}

/** Describe why cuzk_zkey_coeff_read refused record i, as an error. Always fails. */
cuzk_status cuzk_zkey_coeff_fail(const cuzk_zkey *key, uint64_t i, cuzk_error *err);

/** Number of constraints, which the file does not state: its rows are the constraints and then one
 *  row per public value and ONE. Writers put those last; if not, every record is read. */
uint32_t cuzk_zkey_n_constraints(const cuzk_zkey *key);

/** Check every record of section 4 on the pool's threads. Errors: E_FORMAT with the first bad
 *  index. */
cuzk_status cuzk_zkey_check_coeffs(const cuzk_zkey *key, cuzk_pool *pool,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/* The queries, in the order in which files hold them. */
typedef enum {
    CUZK_ZKEY_QUERY_H = 0, /* domain_size points of G1 */
    CUZK_ZKEY_QUERY_C,     /* n_vars - n_public - 1 of G1 */
    CUZK_ZKEY_QUERY_A,     /* n_vars of G1 */
    CUZK_ZKEY_QUERY_B1,    /* n_vars of G1 */
    CUZK_ZKEY_QUERY_B2,    /* n_vars of G2 */
    CUZK_ZKEY_QUERY_COUNT
} cuzk_zkey_query;

typedef struct {
    cuzk_group_id group;
    const uint8_t *points; /* n packed affine points */
    uint64_t n;
    const char *name; /* for messages: "zkey section 5 (A)" */
} cuzk_zkey_query_view;

/** The five queries of a key, indexed by cuzk_zkey_query. */
void cuzk_zkey_queries(const cuzk_zkey *key, cuzk_zkey_query_view out[CUZK_ZKEY_QUERY_COUNT]);

/** Check everything: coefficients, and every point of every section on the curve and in the
 *  subgroup. Minutes for large keys. reporter: may be NULL. Errors: E_FORMAT with section and
 * index; E_CANCELLED. */
cuzk_status cuzk_zkey_check(const cuzk_zkey *key, cuzk_pool *pool, const cuzk_reporter *reporter,
                            cuzk_error *err) CUZK_WARN_UNUSED;

#endif
