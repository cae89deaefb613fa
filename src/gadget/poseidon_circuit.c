/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of a hash are the same every time but for the variables, and making them means adding up
 * linear combinations of up to a hundred variables. So the first hash of a kind is made that way
 * and the others repeat its rows. Values come from the native hash. */
#include "gadget/poseidon_circuit.h"

#include "gadget/poseidon_table.h"

#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

enum { SBOXES_MAX = CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_FULL + CUZK_POSEIDON_PARTIAL_MAX };

/* Σ coef[k]·(output of S-box k) + one·ONE, k < the number of S-boxes so far. */
typedef struct {
    cuzk_fr one;
    cuzk_fr coef[SBOXES_MAX];
} combination;

/* One hash being built. Element i of the state is the combination s[i]. */
typedef struct {
    cuzk_cs *cs;
    const cuzk_curve *curve;
    const cuzk_poseidon_table *table;
    unsigned t, n_sboxes;
    const cuzk_fr *key; /* next constant */
    cuzk_var output[SBOXES_MAX];
    combination s[CUZK_POSEIDON_T_MAX], fresh[CUZK_POSEIDON_T_MAX];
} hash;

static void term(hash *h, cuzk_matrix side, cuzk_var var, const cuzk_fr *coef)
{
    cuzk_cs_term(h->cs, side, var, coef);
}

/* A new variable equal to the combination: LC · 1 = variable. */
static cuzk_var settle(hash *h, const combination *lc)
{
    cuzk_var l = cuzk_cs_alloc(h->cs, CUZK_VAR_FIELD);
    term(h, CUZK_MATRIX_A, CUZK_VAR_ONE, &lc->one);
    for (unsigned k = 0; k < h->n_sboxes; k++) {
        term(h, CUZK_MATRIX_A, h->output[k], &lc->coef[k]);
    }
    cuzk_cs_plus(h->cs, CUZK_MATRIX_B, CUZK_VAR_ONE);
    cuzk_cs_plus(h->cs, CUZK_MATRIX_C, l);
    cuzk_cs_end_constraint(h->cs);
    return l;
}

/* l + pre (pre may be NULL) on one side of a row */
static void plus_input(hash *h, cuzk_matrix side, cuzk_var l, const cuzk_fr *pre)
{
    if (pre != NULL) {
        term(h, side, CUZK_VAR_ONE, pre);
    }
    cuzk_cs_plus(h->cs, side, l);
}

/* Rows of (l + pre)^5 + post; element i becomes the output variable. */
static void sbox_of(hash *h, unsigned i, cuzk_var l, const cuzk_fr *pre, const cuzk_fr *post)
{
    cuzk_cs *cs = h->cs;
    cuzk_var l2 = cuzk_cs_alloc(cs, CUZK_VAR_FIELD);
    plus_input(h, CUZK_MATRIX_A, l, pre);
    plus_input(h, CUZK_MATRIX_B, l, pre);
    cuzk_cs_plus(cs, CUZK_MATRIX_C, l2);
    cuzk_cs_end_constraint(cs);

    cuzk_var l4 = cuzk_cs_alloc(cs, CUZK_VAR_FIELD);
    cuzk_cs_plus(cs, CUZK_MATRIX_A, l2);
    cuzk_cs_plus(cs, CUZK_MATRIX_B, l2);
    cuzk_cs_plus(cs, CUZK_MATRIX_C, l4);
    cuzk_cs_end_constraint(cs);

    cuzk_var l5 = cuzk_cs_alloc(cs, CUZK_VAR_FIELD);
    plus_input(h, CUZK_MATRIX_A, l, pre);
    cuzk_cs_plus(cs, CUZK_MATRIX_B, l4);
    if (post != NULL) {
        cuzk_fr minus;
        h->curve->fr_neg(&minus, post);
        term(h, CUZK_MATRIX_C, CUZK_VAR_ONE, &minus);
    }
    cuzk_cs_plus(cs, CUZK_MATRIX_C, l5);
    cuzk_cs_end_constraint(cs);

    memset(&h->s[i], 0, sizeof h->s[i]);
    h->s[i].coef[h->n_sboxes] = h->curve->fr_one;
    h->output[h->n_sboxes++] = l5;
}

static void sbox(hash *h, unsigned i, const cuzk_fr *post)
{
    sbox_of(h, i, settle(h, &h->s[i]), NULL, post);
}

static bool is_zero(const cuzk_fr *a)
{
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

/* o += f·a */
static void add_scaled(hash *h, cuzk_fr *o, const cuzk_fr *f, const cuzk_fr *a)
{
    if (!is_zero(a)) {
        cuzk_fr p;
        h->curve->fr_mul(&p, f, a);
        h->curve->fr_add(o, o, &p);
    }
}

static void add_combination(hash *h, combination *o, const cuzk_fr *f, const combination *a)
{
    add_scaled(h, &o->one, f, &a->one);
    for (unsigned k = 0; k < h->n_sboxes; k++) {
        add_scaled(h, &o->coef[k], f, &a->coef[k]);
    }
}

static void mix(hash *h, const cuzk_fr *m)
{
    unsigned t = h->t;
    memset(h->fresh, 0, sizeof h->fresh);
    for (unsigned j = 0; j < t; j++) {
        for (unsigned i = 0; i < t; i++) {
            add_combination(h, &h->fresh[j], &m[i * t + j], &h->s[i]);
        }
    }
    memcpy(h->s, h->fresh, sizeof h->s);
}

static void mix_sparse(hash *h, unsigned round)
{
    combination *first = &h->fresh[0];
    memset(first, 0, sizeof *first);
    for (unsigned i = 0; i < h->t; i++) {
        add_combination(h, first, &h->table->w_hat[round][i], &h->s[i]);
    }
    for (unsigned j = 1; j < h->t; j++) {
        add_combination(h, &h->s[j], &h->table->v_rest[round][j - 1], &h->s[0]);
    }
    h->s[0] = *first;
}

static void full_round(hash *h, const cuzk_fr *m)
{
    for (unsigned i = 0; i < h->t; i++) {
        sbox(h, i, h->key++);
    }
    mix(h, m);
}

/* The constant element 0 of the first round, the S-boxes of the others. */
static void first_round(hash *h, uint64_t tag, const cuzk_num *preimage)
{
    cuzk_fr x;
    memset(h->s, 0, sizeof h->s);
    h->curve->fr_from_u64(&x, tag);
    h->curve->fr_add(&x, &x, &h->key[0]);
    h->curve->fr_pow_u64(&x, &x, 5);
    h->curve->fr_add(&h->s[0].one, &x, &h->key[h->t]);
    for (unsigned i = 1; i < h->t; i++) {
        sbox_of(h, i, preimage[i - 1].var, &h->key[i], &h->key[h->t + i]);
    }
    h->key += 2 * h->t;
    mix(h, h->table->mds);
}

static cuzk_var build(cuzk_cs *cs, const cuzk_poseidon_table *table, uint64_t tag,
                      const cuzk_num *preimage)
{
    hash h = {.cs = cs, .curve = cs->curve, .table = table, .t = table->t, .key = table->crc};
    first_round(&h, tag, preimage);
    full_round(&h, table->mds);
    full_round(&h, table->mds);
    full_round(&h, table->pre_sparse);
    for (unsigned k = 0; k < table->n_partial; k++) {
        sbox(&h, 0, h.key++);
        mix_sparse(&h, k);
    }
    for (int i = 0; i < 3; i++) {
        full_round(&h, table->mds);
    }
    for (unsigned i = 0; i < h.t; i++) {
        sbox(&h, i, NULL);
    }
    mix(&h, table->mds);
    return settle(&h, &h.s[1]);
}

static cuzk_shape_stretch *stretch_of(cuzk_cs *cs, unsigned arity, uint64_t tag)
{
    unsigned kind = tag == CUZK_POSEIDON_RANDOMNESS_TAG ? 4
                    : arity == 2                        ? 0
                    : arity == 4                        ? 1
                    : arity == 8                        ? 2
                                                        : 3;
    return &cs->coefs->poseidon[kind];
}

/* Whether all variables of the preimage differ: else a place in the rows would not tell which of
 * them it is. */
static bool are_different(const cuzk_num *x, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (x[i].var == x[k].var) {
                return false;
            }
        }
    }
    return true;
}

static cuzk_var shape_hash(cuzk_cs *cs, const cuzk_poseidon_table *table, uint64_t tag,
                           const cuzk_num *preimage)
{
    cuzk_shape_stretch *known = stretch_of(cs, table->arity, tag);
    cuzk_var given[CUZK_POSEIDON_ARITY_MAX];
    for (unsigned i = 0; i < table->arity; i++) {
        given[i] = preimage[i].var;
    }
    if (known->n_rows != 0) {
        return cuzk_shape_repeat(cs->builder, known, given) + table->n_values - 1;
    }
    cuzk_shape_stretch s = {.first_row = cuzk_shape_n_stored_rows(cs->builder),
                            .n_rows = table->n_values,
                            .n_own = table->n_values,
                            .n_given = table->arity};
    memcpy(s.given, given, table->arity * sizeof *given);
    cuzk_var out = build(cs, table, tag, preimage);
    s.first_own = out - (table->n_values - 1);
    if (are_different(preimage, table->arity)) {
        *known = s;
    }
    return out;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* n ≤ CUZK_POSEIDON_BATCH_MAX hashes. */
static void write_values(cuzk_cs *lanes, size_t n, cuzk_num *out, const cuzk_poseidon_table *table,
                         uint64_t tag, const cuzk_num *preimage)
{
    uint8_t in[CUZK_POSEIDON_BATCH_MAX * CUZK_POSEIDON_ARITY_MAX][32];
    void *to[CUZK_POSEIDON_BATCH_MAX] = {NULL};
    for (size_t i = 0; i < n * table->arity; i++) {
        memcpy(in[i], preimage[i].value, 32);
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = cuzk_cs_take_fields(&lanes[i], table->n_values);
    }
    cuzk_poseidon_values(table->arity, tag, to, in, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(out[i].value, (const uint8_t *)to[i] + (size_t)32 * (table->n_values - 1), 32);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

void cuzk_poseidon_circuit_lanes(cuzk_cs *lanes, size_t n, cuzk_num *out, unsigned arity,
                                 uint64_t tag, const cuzk_num *preimage)
{
    const cuzk_poseidon_table *table = cuzk_poseidon_table_get(arity);
    CUZK_ASSERT(table != NULL && lanes->curve->id == CUZK_CURVE_BLS12_381);
    CUZK_ASSERT(tag == cuzk_poseidon_merkle_tag(arity) ||
                (arity == 2 && tag == CUZK_POSEIDON_RANDOMNESS_TAG));
    if (cuzk_cs_is_shape(lanes)) {
        for (size_t i = 0; i < n; i++) {
            out[i] = (cuzk_num){.var = shape_hash(lanes, table, tag, preimage + i * arity)};
        }
        return;
    }
    for (size_t i = 0; i < n; i += CUZK_POSEIDON_BATCH_MAX) {
        size_t size = n - i < CUZK_POSEIDON_BATCH_MAX ? n - i : CUZK_POSEIDON_BATCH_MAX;
        write_values(lanes + i, size, out + i, table, tag, preimage + i * arity);
    }
}
