/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Most rows of hash circuits have a few bits with coefficients like 1, -1 and 2: small rows. Their
 * value is a small integer, taken from a table.
 *
 * In the others, plain (canonical) coefficients of variables that hold the bit 1 are summed as
 * 320-bit integers, and so are values with coefficient 1; the sum is reduced and brought to
 * Montgomery form once per row. Whether a bit is set is not branched on: it is as good as random.
 * Other field values are multiplied by the coefficient's R² form, which gives Montgomery form at
 * once. */
#include "r1cs/eval.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_COEF = 8, SMALL_TERMS = 15 };

static bool is_small(const cuzk_fr *plain)
{
    return (plain->l[1] | plain->l[2] | plain->l[3]) == 0 && plain->l[0] <= SMALL_COEF;
}

static void sort_coefs(cuzk_shape *s)
{
    const cuzk_curve *curve = s->curve;
    curve->fr_batch_to_canonical(s->coefs_plain, s->coefs, s->n_coefs);
    for (uint32_t i = 0; i < s->n_coefs; i++) {
        cuzk_fr minus;
        curve->fr_neg(&minus, &s->coefs_plain[i]); /* the same for plain values */
        if (is_small(&s->coefs_plain[i])) {
            s->coefs_small[i] = (int8_t)s->coefs_plain[i].l[0];
        } else if (is_small(&minus)) {
            s->coefs_small[i] = (int8_t)(-(int)minus.l[0]);
        }
    }
}

static void mark_small_rows(cuzk_shape *s)
{
    for (int k = 0; k < 3; k++) {
        const cuzk_rows *m = &s->rows[k];
        for (uint32_t row = 0; row < s->n_stored_rows; row++) {
            bool small = m->begin[row + 1] - m->begin[row] <= SMALL_TERMS;
            for (uint64_t t = m->begin[row]; small && t < m->begin[row + 1]; t++) {
                small = s->coefs_small[m->code[t]] != 0 && cuzk_bitmap_get(s->is_bit, m->var[t]);
            }
            if (small) {
                cuzk_bitmap_set(s->small_rows[k], row);
            }
        }
    }
}

cuzk_status cuzk_eval_prepare(cuzk_shape *s, cuzk_error *err)
{
    s->coefs_plain = malloc(s->n_coefs * sizeof *s->coefs_plain);
    s->coefs_small = calloc(s->n_coefs, sizeof *s->coefs_small);
    bool made = s->coefs_plain != NULL && s->coefs_small != NULL;
    for (int k = 0; k < 3; k++) {
        s->small_rows[k] = calloc(cuzk_bitmap_words(s->n_stored_rows) + 1, sizeof(uint64_t));
        made = made && s->small_rows[k] != NULL;
    }
    CUZK_FAIL_IF(!made, err, CUZK_E_MEMORY, "a circuit of %u constraints: out of memory",
                 s->n_constraints);
    sort_coefs(s);
    mark_small_rows(s);
    return CUZK_OK;
}

void cuzk_eval_init(cuzk_eval *e, const cuzk_shape *s, const cuzk_witness *w)
{
    const cuzk_curve *curve = s->curve;
    e->shape = s;
    e->witness = w;
    uint64_t wrong = 0;
    for (size_t i = 0; i < cuzk_bitmap_words(s->n_vars); i++) {
        wrong |= s->is_bit[i] & w->is_field[i];
    }
    e->typed = wrong == 0;
    /* R as a plain value is fr_one */
    curve->fr_batch_from_canonical(&e->two256, &curve->fr_one, 1);
    cuzk_fr *zero = &e->small[CUZK_EVAL_SMALL];
    memset(zero, 0, sizeof *zero);
    for (int i = 1; i <= CUZK_EVAL_SMALL; i++) {
        curve->fr_add(&zero[i], &zero[i - 1], &curve->fr_one);
        curve->fr_neg(&zero[-i], &zero[i]);
    }
}

static inline uint64_t bit_of(const uint64_t *map, uint32_t var)
{
    return map[var / 64] >> (var % 64) & 1;
}

static inline int32_t small_row(const cuzk_shape *s, const cuzk_rows *m, const uint64_t *bits,
                                const cuzk_row_run *run, uint64_t begin, uint64_t end)
{
    int32_t sum = 0;
    for (uint64_t t = begin; t < end; t++) {
        uint32_t var = cuzk_row_run_var(run, m->var[t]);
        sum += s->coefs_small[m->code[t]] & -(int32_t)bit_of(bits, var);
    }
    return sum;
}

/* sum += x, where all bits of mask are equal: x or 0 */
static inline void add_masked(uint64_t sum[5], const uint64_t *x, uint64_t mask)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)sum[i] + (x[i] & mask);
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    sum[4] += (uint64_t)carry;
}

static void big_row(const cuzk_eval *e, const cuzk_rows *m, const cuzk_row_run *run, uint64_t row,
                    cuzk_fr *out)
{
    const cuzk_shape *s = e->shape;
    const cuzk_witness *w = e->witness;
    const cuzk_curve *curve = s->curve;
    uint64_t plain[5] = {0};
    cuzk_fr sum = {{0}}, value;
    for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
        uint32_t var = cuzk_row_run_var(run, m->var[t]), code = m->code[t];
        if (bit_of(w->is_field, var) == 0) {
            add_masked(plain, s->coefs_plain[code].l, -bit_of(w->bits, var));
            continue;
        }
        memcpy(&value, w->field[cuzk_witness_rank(w, var)], sizeof value);
        if (code == CUZK_COEF_MINUS_ONE) {
            curve->fr_neg(&value, &value);
        } else if (code != CUZK_COEF_ONE) {
            curve->fr_mul(&value, &value, &s->coefs_r2[code]);
            curve->fr_add(&sum, &sum, &value);
            continue;
        }
        add_masked(plain, value.l, UINT64_MAX);
    }
    if ((plain[0] | plain[1] | plain[2] | plain[3]) != 0) {
        curve->fr_batch_from_canonical(&value, plain, 1);
        curve->fr_add(&sum, &sum, &value);
    }
    if (plain[4] != 0) {
        curve->fr_from_u64(&value, plain[4]);
        curve->fr_mul(&value, &value, &e->two256);
        curve->fr_add(&sum, &sum, &value);
    }
    *out = sum;
}

void cuzk_eval_rows(const cuzk_eval *e, cuzk_matrix matrix, uint32_t first, uint32_t end,
                    cuzk_fr *out)
{
    const cuzk_shape *s = e->shape;
    const cuzk_rows *m = &s->rows[matrix];
    const uint64_t *bits = e->witness->bits;
    const cuzk_fr *zero = &e->small[CUZK_EVAL_SMALL];
    while (first < end) {
        const cuzk_row_run run = cuzk_shape_run(s, first, end);
        for (uint32_t i = 0; i < run.n; i++) {
            uint32_t row = run.stored_row + i;
            if (e->typed && cuzk_bitmap_get(s->small_rows[matrix], row)) {
                out[i] = zero[small_row(s, m, bits, &run, m->begin[row], m->begin[row + 1])];
            } else {
                big_row(e, m, &run, row, &out[i]);
            }
        }
        out += run.n;
        first += run.n;
    }
}
