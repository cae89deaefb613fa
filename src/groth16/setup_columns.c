/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The matrices are stored by rows, so columns are summed by scattered additions: threads take
 * ranges of rows and lock the stripe of the variable they add to. The constant ONE occurs in most
 * rows of many circuits; it is summed per range first, or everybody would wait for its stripe. */
#include "groth16/setup_columns.h"

#include "base/stripes.h"

#include <string.h>

enum { RANGE_ROWS = 4096, RANGE_CLEARED = 1 << 16 };

struct columns {
    const cuzk_shape *shape;
    cuzk_matrix matrix;
    cuzk_fr *out;
    const cuzk_fr *lagrange;
    cuzk_stripes stripes;
};

static void add_locked(struct columns *g, uint32_t var, const cuzk_fr *value)
{
    cuzk_stripes_lock(&g->stripes, var);
    g->shape->curve->fr_add(&g->out[var], &g->out[var], value);
    cuzk_stripes_unlock(&g->stripes, var);
}

/* Add one row's terms times its Lagrange value. */
static void add_row(struct columns *g, const cuzk_row_run *run, uint64_t row,
                    const cuzk_fr *lagrange, cuzk_fr *one_sum)
{
    const cuzk_shape *s = g->shape;
    const cuzk_curve *curve = s->curve;
    const cuzk_rows *m = &s->rows[g->matrix];
    cuzk_fr product;
    for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
        if (m->code[t] == CUZK_COEF_ONE) {
            product = *lagrange;
        } else if (m->code[t] == CUZK_COEF_MINUS_ONE) {
            curve->fr_neg(&product, lagrange);
        } else {
            curve->fr_mul(&product, &s->coefs[m->code[t]], lagrange);
        }
        if (m->var[t] == 0) {
            curve->fr_add(one_sum, one_sum, &product);
        } else {
            add_locked(g, cuzk_row_run_var(run, m->var[t]), &product);
        }
    }
}

static void range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct columns *g = ctx;
    const cuzk_shape *s = g->shape;
    uint64_t begin = (uint64_t)chunk * RANGE_ROWS;
    uint64_t end = begin + RANGE_ROWS < s->n_constraints ? begin + RANGE_ROWS : s->n_constraints;
    cuzk_fr one_sum = {{0}};
    while (begin < end) {
        cuzk_row_run run = cuzk_shape_run(s, (uint32_t)begin, (uint32_t)end);
        for (uint32_t i = 0; i < run.n; i++) {
            add_row(g, &run, run.stored_row + i, &g->lagrange[begin + i], &one_sum);
        }
        begin += run.n;
    }
    add_locked(g, 0, &one_sum);
}

/* By many threads: of a large circuit this is the first write to gigabytes. */
static void clear(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct columns *g = ctx;
    size_t begin = chunk * RANGE_CLEARED, n = g->shape->n_vars - begin;
    memset(g->out + begin, 0, (n < RANGE_CLEARED ? n : RANGE_CLEARED) * sizeof *g->out);
}

void cuzk_setup_columns(const cuzk_shape *shape, cuzk_matrix matrix, cuzk_fr *out,
                        const cuzk_fr *lagrange, cuzk_pool *pool)
{
    struct columns g = {.shape = shape, .matrix = matrix, .out = out, .lagrange = lagrange};
    cuzk_pool_for(pool, ((size_t)shape->n_vars + RANGE_CLEARED - 1) / RANGE_CLEARED, clear, &g);
    size_t n_ranges = ((size_t)shape->n_constraints + RANGE_ROWS - 1) / RANGE_ROWS;
    cuzk_pool_for(pool, n_ranges, range, &g);
    for (uint32_t i = 0; matrix == CUZK_MATRIX_A && i < shape->n_inputs; i++) {
        shape->curve->fr_add(&out[i], &out[i], &lagrange[shape->n_constraints + i]);
    }
}
