/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A row's value is gathered in two sums: coefficients of variables that hold the bit 1 are added as
 * they are; field values are multiplied by the coefficient's R² form, which gives Montgomery form
 * at once. Coefficients 1 and -1, the most frequent by far, add the canonical value to a third sum
 * that is brought to Montgomery form once per row. */
#include "r1cs/satisfy.h"

#include "base/decimal.h"

#include <stdatomic.h>
#include <string.h>

enum { RANGE_ROWS = 4096 };

static void load(cuzk_fr *out, const uint8_t *p)
{
    memcpy(out, p, sizeof *out);
}

static void eval_row(const cuzk_shape *s, const cuzk_rows *m, const cuzk_witness *w,
                     const cuzk_row_run *run, uint64_t row, cuzk_fr *out)
{
    const cuzk_curve *curve = s->curve;
    cuzk_fr sum = {{0}}, plain = {{0}}, value;
    bool has_plain = false;
    for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
        uint32_t var = cuzk_row_run_var(run, m->var[t]), code = m->code[t];
        if (!cuzk_bitmap_get(w->is_field, var)) {
            if (cuzk_bitmap_get(w->bits, var)) {
                curve->fr_add(&sum, &sum, &s->coefs[code]);
            }
            continue;
        }
        load(&value, w->field[cuzk_witness_rank(w, var)]);
        if (code == CUZK_COEF_ONE) {
            curve->fr_add(&plain, &plain, &value);
            has_plain = true;
        } else if (code == CUZK_COEF_MINUS_ONE) {
            curve->fr_sub(&plain, &plain, &value);
            has_plain = true;
        } else {
            curve->fr_mul(&value, &value, &s->coefs_r2[code]);
            curve->fr_add(&sum, &sum, &value);
        }
    }
    if (has_plain) {
        curve->fr_mul(&plain, &plain, &s->coefs_r2[CUZK_COEF_ONE]);
        curve->fr_add(&sum, &sum, &plain);
    }
    *out = sum;
}

struct eval {
    const cuzk_shape *shape;
    const cuzk_witness *witness;
    cuzk_matrix matrix;
    cuzk_fr *out;
    uint64_t n_out;
};

static void eval_trailing(const struct eval *e, uint64_t row, cuzk_fr *out)
{
    const cuzk_shape *s = e->shape;
    uint64_t input = row - s->n_constraints;
    memset(out, 0, sizeof *out);
    if (e->matrix == CUZK_MATRIX_A && input < s->n_inputs) {
        uint8_t value[32];
        cuzk_witness_get(e->witness, (uint32_t)input, value);
        s->curve->fr_batch_from_canonical(out, value, 1);
    }
}

static void eval_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct eval *e = ctx;
    const cuzk_shape *s = e->shape;
    uint64_t begin = (uint64_t)chunk * RANGE_ROWS;
    uint64_t end = begin + RANGE_ROWS < e->n_out ? begin + RANGE_ROWS : e->n_out;
    uint64_t i = begin;
    while (i < end && i < s->n_constraints) {
        uint64_t last = end < s->n_constraints ? end : s->n_constraints;
        cuzk_row_run run = cuzk_shape_run(s, (uint32_t)i, (uint32_t)last);
        for (uint32_t k = 0; k < run.n; k++, i++) {
            eval_row(s, &s->rows[e->matrix], e->witness, &run, run.stored_row + k, &e->out[i]);
        }
    }
    for (; i < end; i++) {
        eval_trailing(e, i, &e->out[i]);
    }
}

void cuzk_shape_eval_rows(const cuzk_shape *shape, const cuzk_witness *witness, cuzk_matrix matrix,
                          cuzk_fr *out, uint64_t n_out, cuzk_pool *pool)
{
    struct eval e = {shape, witness, matrix, out, n_out};
    cuzk_pool_for(pool, (size_t)((n_out + RANGE_ROWS - 1) / RANGE_ROWS), eval_range, &e);
}

struct check {
    const cuzk_shape *shape;
    const cuzk_witness *witness;
    _Atomic uint64_t first; /* smallest failing constraint so far */
};

static void eval_constraint(const cuzk_shape *s, const cuzk_witness *w, uint64_t i, cuzk_fr v[3])
{
    cuzk_row_run run = cuzk_shape_run(s, (uint32_t)i, (uint32_t)i + 1);
    for (int k = 0; k < 3; k++) {
        eval_row(s, &s->rows[k], w, &run, run.stored_row, &v[k]);
    }
}

static void check_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct check *c = ctx;
    const cuzk_shape *s = c->shape;
    uint64_t begin = (uint64_t)chunk * RANGE_ROWS;
    uint64_t end = begin + RANGE_ROWS < s->n_constraints ? begin + RANGE_ROWS : s->n_constraints;
    /* Relaxed: a stale value only means useless work; the result is read after the loop. */
    uint64_t first = atomic_load_explicit(&c->first, memory_order_relaxed);
    for (uint64_t i = begin; i < end && i < first; i++) {
        cuzk_fr v[3], product;
        eval_constraint(s, c->witness, i, v);
        s->curve->fr_mul(&product, &v[0], &v[1]);
        if (memcmp(&product, &v[2], sizeof product) == 0) {
            continue;
        }
        while (i < first && !atomic_compare_exchange_weak_explicit(
                                &c->first, &first, i, memory_order_relaxed, memory_order_relaxed)) {
        }
        return;
    }
}

static cuzk_status report(const cuzk_shape *s, const cuzk_witness *w, uint64_t constraint,
                          cuzk_violation *out, cuzk_error *err)
{
    cuzk_violation v = {.constraint = constraint};
    cuzk_fr rows[3];
    eval_constraint(s, w, constraint, rows);
    s->curve->fr_to_canonical_le(v.a, &rows[0]);
    s->curve->fr_to_canonical_le(v.b, &rows[1]);
    s->curve->fr_to_canonical_le(v.c, &rows[2]);
    if (out != NULL) {
        *out = v;
    }
    char a[CUZK_DECIMAL_MAX], b[CUZK_DECIMAL_MAX], c[CUZK_DECIMAL_MAX];
    cuzk_decimal_from_le(a, v.a, 32);
    cuzk_decimal_from_le(b, v.b, 32);
    cuzk_decimal_from_le(c, v.c, 32);
    return CUZK_FAIL(err, CUZK_E_UNSATISFIED,
                     "the witness breaks constraint %llu of %u (the first that fails): A·w = %s, "
                     "B·w = %s, C·w = %s",
                     (unsigned long long)constraint, s->n_constraints, a, b, c);
}

cuzk_status cuzk_shape_check_witness(const cuzk_shape *shape, const cuzk_witness *witness,
                                     cuzk_violation *first, cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(shape->curve->id != witness->curve->id, err, CUZK_E_MISMATCH,
                 "witness is over %s, circuit is over %s", witness->curve->snarkjs_name,
                 shape->curve->snarkjs_name);
    CUZK_FAIL_IF(shape->n_vars != witness->n_vars, err, CUZK_E_WITNESS_LENGTH,
                 "Invalid witness length. Circuit: %u, witness: %u", shape->n_vars,
                 witness->n_vars);
    CUZK_FAIL_IF(shape->n_inputs != witness->n_inputs, err, CUZK_E_MISMATCH,
                 "witness with %u public values, circuit has %u", witness->n_inputs - 1,
                 shape->n_inputs - 1);
    struct check c = {.shape = shape, .witness = witness, .first = UINT64_MAX};
    size_t n_ranges = ((size_t)shape->n_constraints + RANGE_ROWS - 1) / RANGE_ROWS;
    cuzk_pool_for(pool, n_ranges, check_range, &c);
    return c.first == UINT64_MAX ? CUZK_OK : report(shape, witness, c.first, first, err);
}
