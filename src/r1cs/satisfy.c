/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "r1cs/satisfy.h"

#include "base/decimal.h"
#include "r1cs/eval.h"
#include "r1cs/row_lanes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_ROWS = 4096, CHECK_ROWS = 64 };

struct eval {
    cuzk_eval eval;
    cuzk_matrix matrix;
    cuzk_fr *out;
    uint64_t first, end; /* rows to evaluate one by one */
    cuzk_row_lanes lanes;
    cuzk_row_lanes_fn lanes_fn;
    size_t n_ranges; /* of a block's rows */
};

static void eval_trailing(const struct eval *e, uint64_t row, cuzk_fr *out)
{
    const cuzk_shape *s = e->eval.shape;
    uint64_t input = row - s->n_constraints;
    memset(out, 0, sizeof *out);
    if (e->matrix == CUZK_MATRIX_A && input < s->n_inputs) {
        uint8_t value[32];
        cuzk_witness_get(e->eval.witness, (uint32_t)input, value);
        s->curve->fr_batch_from_canonical(out, value, 1);
    }
}

static void eval_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct eval *e = ctx;
    uint64_t n_constraints = e->eval.shape->n_constraints;
    uint64_t i = e->first + (uint64_t)chunk * RANGE_ROWS;
    uint64_t end = i + RANGE_ROWS < e->end ? i + RANGE_ROWS : e->end;
    if (i < n_constraints) {
        uint64_t last = end < n_constraints ? end : n_constraints;
        cuzk_eval_rows(&e->eval, e->matrix, (uint32_t)i, (uint32_t)last, &e->out[i]);
        i = last;
    }
    for (; i < end; i++) {
        eval_trailing(e, i, &e->out[i]);
    }
}

/* Rows first … end-1 one by one. */
static void eval_singly(struct eval *e, uint64_t first, uint64_t end, cuzk_pool *pool)
{
    e->first = first;
    e->end = end;
    cuzk_pool_for(pool, (size_t)((end - first + RANGE_ROWS - 1) / RANGE_ROWS), eval_range, e);
}

/* Chunks of one group of copies come one after the other: they read the same part of memory. */
static void eval_copies(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct eval *e = ctx;
    const cuzk_shape_block *b = e->lanes.block;
    uint32_t copy = (uint32_t)(chunk / e->n_ranges) * CUZK_ROW_LANES;
    uint32_t first = (uint32_t)(chunk % e->n_ranges) * RANGE_ROWS;
    uint32_t end = b->n_rows - first < RANGE_ROWS ? b->n_rows : first + RANGE_ROWS;
    uint32_t n_lanes = b->n_copies - copy < CUZK_ROW_LANES ? b->n_copies - copy : CUZK_ROW_LANES;
    e->lanes_fn(&e->lanes, copy, n_lanes, first, end);
}

/* Blocks with this many copies go to the lanes. */
enum { LANES_COPIES_MIN = 3 };

static bool has_lanes_work(const cuzk_shape *s)
{
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        if (s->blocks[i].n_copies >= LANES_COPIES_MIN && s->blocks[i].n_rows > 0) {
            return true;
        }
    }
    return false;
}

/* All constraints; repeated blocks, where the witness lets them, eight copies at a time. Returns
 * the first row that is left to do. */
static uint64_t eval_blocks(struct eval *e, const cuzk_row_coef *coefs, cuzk_pool *pool)
{
    const cuzk_shape *s = e->eval.shape;
    uint64_t done = 0;
    e->lanes.eval = &e->eval;
    e->lanes.coefs = coefs;
    e->lanes.matrix = e->matrix;
    e->lanes.out = e->out;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        if (b->n_copies < LANES_COPIES_MIN || b->n_rows == 0 ||
            !cuzk_row_lanes_fit(e->eval.witness, b, &e->lanes.n_field)) {
            continue;
        }
        eval_singly(e, done, b->first_row, pool);
        e->lanes.block = b;
        e->n_ranges = ((size_t)b->n_rows + RANGE_ROWS - 1) / RANGE_ROWS;
        size_t n_groups = ((size_t)b->n_copies + CUZK_ROW_LANES - 1) / CUZK_ROW_LANES;
        cuzk_pool_for(pool, n_groups * e->n_ranges, eval_copies, e);
        done = b->first_row + (uint64_t)b->n_rows * b->n_copies;
    }
    return done;
}

void cuzk_shape_eval_rows(const cuzk_shape *shape, const cuzk_witness *witness, cuzk_matrix matrix,
                          cuzk_fr *out, uint64_t n_out, cuzk_pool *pool)
{
    struct eval e = {.matrix = matrix, .out = out};
    cuzk_eval_init(&e.eval, shape, witness);
    e.lanes_fn = cuzk_row_lanes_get(shape->curve->id);
    uint64_t done = 0;
    if (e.lanes_fn != NULL && n_out >= shape->n_constraints && has_lanes_work(shape)) {
        /* without memory for it the slow way does */
        cuzk_row_coef *coefs = malloc((size_t)shape->n_coefs * sizeof *coefs);
        if (coefs != NULL) {
            cuzk_row_coefs_init(coefs, e.lanes.to_memory, shape);
            done = eval_blocks(&e, coefs, pool);
            free(coefs);
        }
    }
    eval_singly(&e, done, n_out, pool);
}

struct check {
    cuzk_eval eval;
    _Atomic uint64_t first; /* smallest failing constraint so far */
};

/* The first of the constraints begin … end-1, at most CHECK_ROWS, that fails; end if none. */
static uint32_t first_failing(const cuzk_eval *e, uint32_t begin, uint32_t end)
{
    cuzk_fr v[3][CHECK_ROWS], product;
    for (int k = 0; k < 3; k++) {
        cuzk_eval_rows(e, (cuzk_matrix)k, begin, end, v[k]);
    }
    for (uint32_t i = 0; i < end - begin; i++) {
        e->shape->curve->fr_mul(&product, &v[0][i], &v[1][i]);
        if (memcmp(&product, &v[2][i], sizeof product) != 0) {
            return begin + i;
        }
    }
    return end;
}

static void check_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct check *c = ctx;
    uint64_t n = c->eval.shape->n_constraints, begin = (uint64_t)chunk * RANGE_ROWS;
    uint64_t end = begin + RANGE_ROWS < n ? begin + RANGE_ROWS : n;
    /* Relaxed: a stale value only means useless work; the result is read after the loop. */
    uint64_t first = atomic_load_explicit(&c->first, memory_order_relaxed);
    for (; begin < end && begin < first; begin += CHECK_ROWS) {
        uint64_t last = begin + CHECK_ROWS < end ? begin + CHECK_ROWS : end;
        uint64_t bad = first_failing(&c->eval, (uint32_t)begin, (uint32_t)last);
        if (bad == last) {
            continue;
        }
        while (bad < first &&
               !atomic_compare_exchange_weak_explicit(&c->first, &first, bad, memory_order_relaxed,
                                                      memory_order_relaxed)) {
        }
        return;
    }
}

static cuzk_status report(const cuzk_eval *e, uint32_t constraint, cuzk_violation *out,
                          cuzk_error *err)
{
    const cuzk_shape *s = e->shape;
    cuzk_violation v = {.constraint = constraint};
    cuzk_fr rows[3];
    for (int k = 0; k < 3; k++) {
        cuzk_eval_rows(e, (cuzk_matrix)k, constraint, constraint + 1, &rows[k]);
    }
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
                     "the witness breaks constraint %u of %u (the first that fails): A·w = %s, "
                     "B·w = %s, C·w = %s",
                     constraint, s->n_constraints, a, b, c);
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
    struct check c = {.first = UINT64_MAX};
    cuzk_eval_init(&c.eval, shape, witness);
    size_t n_ranges = ((size_t)shape->n_constraints + RANGE_ROWS - 1) / RANGE_ROWS;
    cuzk_pool_for(pool, n_ranges, check_range, &c);
    return c.first == UINT64_MAX ? CUZK_OK : report(&c.eval, (uint32_t)c.first, first, err);
}
