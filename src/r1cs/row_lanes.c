/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of a repeated block, one copy a lane: a term is decoded once for eight copies. Built for the
 * paths ifma and ifma-emulated.
 *
 * Bits of one variable in eight copies are one byte. They are made 64 variables at a time, by
 * transposing eight words of the witness, and kept in a small cache: rows name variables that are
 * near each other. Rows of a few bits, nearly all of a hash circuit, are looked up in a table of
 * their possible values; longer ones add coefficients under masks of bits, products of field values
 * unreduced, and are brought to memory form once. Ranges, in multiples of r, are counted per row:
 * what is multiplied at the end must be in [0, 35). */
#include "r1cs/row_lanes.h"

#include "field/lanes.h"

#include <string.h>

enum {
    N = FRX8_LIMBS,
    SLOTS = 1024,     /* of the cache: 64 variables each */
    SHORT = 3,        /* terms of a row that is looked up */
    PRODUCTS = 16,    /* that are added unreduced: columns stay below 2^60 */
    CARRY_EVERY = 512 /* terms: limbs stay below 2^62 */
};

static const double range = 15; /* in both directions, before values are settled */

typedef struct {
    const cuzk_row_lanes *g;
    const cuzk_rows *rows;
    const cuzk_shape_block *block;
    uint32_t copy, n_lanes;
    cuzk_row_run runs[8]; /* of the copies; lanes without one repeat the last */
    uint32_t tag[SLOTS];  /* number of the 64 variables + 1, 0 for none */
    uint8_t bits[SLOTS][64];
} lanes;

/* ---- values of variables --------------------------------------------------------------------- */

static uint64_t word_at(const cuzk_witness *w, uint64_t bit)
{
    size_t n_words = cuzk_bitmap_words(w->n_vars), i = (size_t)(bit / 64);
    unsigned shift = bit % 64;
    uint64_t low = i < n_words ? w->bits[i] >> shift : 0;
    return shift == 0 || i + 1 >= n_words ? low : low | w->bits[i + 1] << (64 - shift);
}

static void fill_slot(lanes *x, uint32_t slot, uint32_t which)
{
    V8_ALIGN uint64_t words[8];
    for (int k = 0; k < 8; k++) {
        words[k] = word_at(x->g->eval->witness, (uint64_t)x->block->first_aux + x->runs[k].add_aux +
                                                    (uint64_t)64 * which);
    }
    v8 w = v8_load(words);
    for (int j = 0; j < 64; j++) {
        x->bits[slot][j] = v8_test(w, v8_set1(UINT64_C(1) << j));
    }
    x->tag[slot] = which + 1;
}

/* Whether a variable in front of the block is another one in another copy. */
static inline bool is_chosen(const lanes *x, uint32_t var)
{
    const cuzk_shape_block *b = x->block;
    return var - b->first_choice < b->n_choice ||
           (var >= b->first_input && var < x->g->eval->shape->n_inputs);
}

static inline v8_mask bits_of(lanes *x, uint32_t var)
{
    const cuzk_witness *w = x->g->eval->witness;
    uint32_t first_aux = x->block->first_aux;
    if (var >= first_aux) {
        uint32_t which = (var - first_aux) / 64, slot = which % SLOTS;
        if (x->tag[slot] != which + 1) {
            fill_slot(x, slot, which);
        }
        return x->bits[slot][(var - first_aux) % 64];
    }
    if (!is_chosen(x, var)) {
        return cuzk_bitmap_get(w->bits, var) ? 0xff : 0;
    }
    v8_mask m = 0;
    for (int k = 0; k < 8; k++) {
        m |= (v8_mask)(cuzk_bitmap_get(w->bits, cuzk_row_run_var(&x->runs[k], var)) << k);
    }
    return m;
}

typedef enum { IS_BIT, IS_FIELD, IS_MIXED } kind;

static inline kind kind_of(const lanes *x, uint32_t var)
{
    const cuzk_witness *w = x->g->eval->witness;
    if (var >= x->block->first_aux || !is_chosen(x, var)) {
        return cuzk_bitmap_get(w->is_field, var) ? IS_FIELD : IS_BIT;
    }
    unsigned n = 0;
    for (int k = 0; k < 8; k++) {
        n += cuzk_bitmap_get(w->is_field, cuzk_row_run_var(&x->runs[k], var));
    }
    return n == 0 ? IS_BIT : n == 8 ? IS_FIELD : IS_MIXED;
}

/* Canonical limbs of a field variable. */
static inline void field_of(frx8 *o, const lanes *x, uint32_t var)
{
    const cuzk_witness *w = x->g->eval->witness;
    const uint8_t *at[8];
    v8 words[4];
    if (var >= x->block->first_aux) {
        size_t step = x->g->n_field;
        const uint8_t(*first)[32] =
            (const uint8_t(*)[32])w->field + cuzk_witness_rank(w, var) + x->copy * step;
        for (uint32_t k = 0; k < 8; k++) {
            at[k] = first[(k < x->n_lanes ? k : x->n_lanes - 1) * step];
        }
    } else {
        for (int k = 0; k < 8; k++) {
            at[k] = w->field[cuzk_witness_rank(w, cuzk_row_run_var(&x->runs[k], var))];
        }
    }
    for (int j = 0; j < 4; j++) {
        v8 low = v8_loadu_masked(0x0f, at[2 * j]), high = v8_loadu_masked(0x0f, at[2 * j + 1]);
        words[j] = v8_blend(0xf0, low, v8_swap4(high));
    }
    v8_deinterleave4(words);
    frx8_from_words(o, words, 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Where row i of the block goes in the first copy; the others follow n_rows apart. */
static inline cuzk_fr *place(const lanes *x, uint32_t i)
{
    const cuzk_shape_block *b = x->block;
    return x->g->out + b->first_row + (size_t)x->copy * b->n_rows + i;
}

/* ---- short rows ------------------------------------------------------------------------------ */

/* Rows of at most SHORT bits; false for others. */
static inline bool short_row(lanes *x, uint64_t begin, uint32_t n, cuzk_fr *out)
{
    const cuzk_shape *s = x->g->eval->shape;
    cuzk_fr values[1 << SHORT];
    v8_mask m[SHORT] = {0};
    memset(&values[0], 0, sizeof values[0]);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t var = x->rows->var[begin + t];
        if (kind_of(x, var) != IS_BIT) {
            return false;
        }
        m[t] = bits_of(x, var);
        const cuzk_fr *coef = &s->coefs[x->rows->code[begin + t]];
        values[1 << t] = *coef;
        for (uint32_t i = 1; i < (uint32_t)1 << t; i++) {
            s->curve->fr_add(&values[(1 << t) + i], coef, &values[i]);
        }
    }
    size_t n_rows = x->block->n_rows;
    for (uint32_t k = 0; k < x->n_lanes; k++) {
        unsigned i = (m[0] >> k & 1) | (m[1] >> k & 1) << 1 | (m[2] >> k & 1) << 2;
        out[k * n_rows] = values[i];
    }
    return true;
}

/* ---- long rows ------------------------------------------------------------------------------- */

typedef struct {
    frx8 sum;         /* raw */
    double low, high; /* it is in [-low, high]·r */
    unsigned n_added; /* since limbs were carried */
    v8 wide[2 * N];   /* columns of products that are not reduced yet */
    unsigned n_wide;
} row_sum;

/* Carried, not negative and small again. */
static void settle(row_sum *a)
{
    frx8 k;
    uint64_t limbs[N];
    frx8_multiple_limbs(limbs, 16);
    frx8_broadcast(&k, limbs);
    frx8_add(&a->sum, &a->sum, &k);
    frx8_carry(&a->sum);
    frx8_fold_top(&a->sum);
    frx8_carry(&a->sum);
    a->low = 0;
    a->high = 7.1; /* 2^256 and 6 times 2^256 mod r on bn254, less on bls12_381 */
    a->n_added = 0;
}

static inline void count(row_sum *a, double low, double high)
{
    a->low += low;
    a->high += high;
    if (a->low > range || a->high > range || ++a->n_added == CARRY_EVERY) {
        settle(a);
    }
}

/* The products so far, which are below 16·r², come to the sum: below 2.5·r. */
static void add_products(row_sum *a)
{
    const uint64_t *q = v8_constants(frx8_fold52);
    frx8_columns t;
    frx8 x;
    if (a->n_wide == 0) {
        return;
    }
    V8_UNROLL
    for (int j = 0; j < N + 2; j++) {
        t.t[j] = a->wide[j];
    }
    V8_UNROLL
    for (int i = 1; i < N; i++) {
        frx8_fold_lo(&t, q);
        frx8_fold_hi(&t, q, i + N + 1 < 2 * N ? a->wide[i + N + 1] : v8_zero());
    }
    frx8_finish_raw(&x, &t);
    frx8_carry(&x);
    frx8_add(&a->sum, &a->sum, &x);
    a->n_wide = 0;
    count(a, 0, 2.5);
}

V8_NOINLINE void add_product(row_sum *a, const frx8 *x, const uint64_t *coef)
{
    if (a->n_wide == 0) {
        V8_UNROLL
        for (int j = 0; j < 2 * N; j++) {
            a->wide[j] = v8_zero();
        }
    }
    V8_UNROLL
    for (int b = 0; b < N; b++) {
        v8 y = v8_broadcast(&coef[b]);
        V8_UNROLL
        for (int i = 0; i < N; i++) {
            a->wide[i + b] = v8_madd_lo(a->wide[i + b], x->l[i], y);
            a->wide[i + b + 1] = v8_madd_hi(a->wide[i + b + 1], x->l[i], y);
        }
    }
    if (++a->n_wide == PRODUCTS) {
        add_products(a);
    }
}

static inline void add_bits(row_sum *a, v8_mask m, const cuzk_row_coef *c)
{
    for (int j = c->limb < 0 ? 0 : c->limb; j < N; j++) {
        v8 y = v8_broadcast(&c->plain[j]);
        a->sum.l[j] =
            c->is_negative ? v8_sub_masked(m, a->sum.l[j], y) : v8_add_masked(m, a->sum.l[j], y);
        if (c->limb >= 0) {
            break;
        }
    }
    count(a, c->is_negative ? c->size : 0, c->is_negative ? 0 : c->size);
}

static inline void add_field(row_sum *a, const frx8 *x, uint32_t code, const cuzk_row_coef *c)
{
    if (code == CUZK_COEF_ONE) {
        frx8_add(&a->sum, &a->sum, x);
        count(a, 0, 1);
    } else if (code == CUZK_COEF_MINUS_ONE) {
        for (int j = 0; j < N; j++) {
            a->sum.l[j] = v8_sub(a->sum.l[j], x->l[j]);
        }
        count(a, 1, 0);
    } else {
        add_product(a, x, c->mont);
    }
}

/* Memory form of the sum to the copies' places. */
static void finish(lanes *x, row_sum *a, cuzk_fr *out)
{
    V8_ALIGN cuzk_fr records[8];
    v8 w[4];
    add_products(a);
    if (a->low > 0) {
        frx8 k;
        uint64_t limbs[N];
        frx8_multiple_limbs(limbs, 16);
        frx8_broadcast(&k, limbs);
        frx8_add(&a->sum, &a->sum, &k);
    }
    frx8_carry(&a->sum);
    frx8_canonical_times(&a->sum, &a->sum, x->g->to_memory);
    frx8_to_words(w, &a->sum);
    v8_interleave4(w);
    for (int j = 0; j < 4; j++) {
        v8_store(&records[2 * j], w[j]);
    }
    size_t n_rows = x->block->n_rows;
    for (uint32_t k = 0; k < x->n_lanes; k++) {
        out[k * n_rows] = records[k];
    }
}

/* False when a variable is a bit in one copy and a field value in another. */
static bool long_row(lanes *x, uint64_t begin, uint64_t end, cuzk_fr *out)
{
    row_sum a; /* columns are cleared when the first product comes */
    frx8_set_zero(&a.sum);
    a.low = a.high = 0;
    a.n_added = a.n_wide = 0;
    for (uint64_t t = begin; t < end; t++) {
        uint32_t var = x->rows->var[t], code = x->rows->code[t];
        const cuzk_row_coef *c = &x->g->coefs[code];
        kind k = kind_of(x, var);
        if (k == IS_MIXED) {
            return false;
        }
        if (k == IS_BIT) {
            add_bits(&a, bits_of(x, var), c);
        } else {
            frx8 value;
            field_of(&value, x, var);
            add_field(&a, &value, code, c);
        }
    }
    finish(x, &a, out);
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void start(lanes *x, const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes)
{
    const cuzk_shape_block *b = g->block;
    x->g = g;
    x->rows = &g->eval->shape->rows[g->matrix];
    x->block = b;
    x->copy = copy;
    x->n_lanes = n_lanes;
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t lane = copy + (k < n_lanes ? k : n_lanes - 1);
        x->runs[k] = cuzk_shape_run(g->eval->shape, b->first_row + lane * b->n_rows,
                                    b->first_row + lane * b->n_rows + 1);
    }
    memset(x->tag, 0, sizeof x->tag);
}

void CUZK_INSTANCE(row_lanes)(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                              uint32_t first, uint32_t end);

void CUZK_INSTANCE(row_lanes)(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                              uint32_t first, uint32_t end)
{
    lanes x;
    start(&x, g, copy, n_lanes);
    for (uint32_t i = first; i < end; i++) {
        uint64_t row = (uint64_t)x.block->stored_row + i;
        uint64_t t = x.rows->begin[row], t_end = x.rows->begin[row + 1];
        cuzk_fr *out = place(&x, i);
        if ((t_end - t > SHORT || !short_row(&x, t, (uint32_t)(t_end - t), out)) &&
            !long_row(&x, t, t_end, out)) {
            for (uint32_t k = 0; k < n_lanes; k++) {
                size_t at = (size_t)k * x.block->n_rows;
                uint32_t constraint = (uint32_t)(out + at - g->out);
                cuzk_eval_rows(g->eval, g->matrix, constraint, constraint + 1, out + at);
            }
        }
    }
}
