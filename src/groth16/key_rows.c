/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads take runs of records. Records of one row usually stand together: they are summed in
 * registers and added to the row when the next row begins, under a stripe lock when there is more
 * than one thread, so that neither the order of the records nor the cut between runs matters.
 *
 * A record holds coefficient·R². Its Montgomery product with a canonical witness value is the
 * product in Montgomery form; for a witness bit the coefficients alone are summed, and the sum is
 * brought to Montgomery form once per row by a Montgomery product with the integer 1. Coefficients
 * 1 and -1, which are most of them, are counted instead, so that most rows need no product at all.
 */
#include "groth16/key_rows.h"

#include "base/stripes.h"

#include <string.h>

enum { RUN_RECORDS = 8192, RANGE_ROWS = 1 << 14 };

struct rows {
    const cuzk_zkey *key;
    const cuzk_witness *w;
    cuzk_fr *out[2];              /* a, b */
    cuzk_fr one_r2, minus_one_r2; /* 1 and -1 as records hold them */
    bool locked;
    cuzk_stripes stripes;
    _Atomic uint64_t first_bad;
};

/* The sums of the row at hand. */
struct row_sum {
    uint32_t matrix, row;
    bool has_bits, has_field;
    int32_t ones;  /* bits with coefficient 1, less those with -1 */
    cuzk_fr bits;  /* times R² */
    cuzk_fr field; /* Montgomery form */
};

static void flush(struct rows *g, struct row_sum *s)
{
    static const cuzk_fr integer_one = {{1}};
    const cuzk_curve *curve = g->key->curve;
    if (s->has_bits) {
        curve->fr_mul(&s->bits, &s->bits, &integer_one);
        curve->fr_add(&s->field, &s->field, &s->bits);
    }
    if (s->ones != 0) {
        cuzk_fr n = curve->fr_one;
        if (s->ones != 1 && s->ones != -1) {
            curve->fr_from_u64(&n, (uint64_t)(s->ones < 0 ? -(int64_t)s->ones : s->ones));
        }
        (s->ones < 0 ? curve->fr_sub : curve->fr_add)(&s->field, &s->field, &n);
    }
    if (s->has_bits || s->has_field || s->ones != 0) {
        cuzk_fr *out = &g->out[s->matrix][s->row];
        if (g->locked) {
            cuzk_stripes_lock(&g->stripes, s->row);
        }
        curve->fr_add(out, out, &s->field);
        if (g->locked) {
            cuzk_stripes_unlock(&g->stripes, s->row);
        }
    }
}

static void begin_row(struct row_sum *s, uint32_t matrix, uint32_t row)
{
    memset(s, 0, sizeof *s);
    s->matrix = matrix;
    s->row = row;
}

static void add_record(const struct rows *g, struct row_sum *s, const cuzk_zkey_coeff *c)
{
    const cuzk_witness *w = g->w;
    if (!cuzk_bitmap_get(w->is_field, c->wire)) {
        if (!cuzk_bitmap_get(w->bits, c->wire)) {
            return;
        }
        if (memcmp(&c->value, &g->one_r2, sizeof c->value) == 0) {
            s->ones++;
        } else if (memcmp(&c->value, &g->minus_one_r2, sizeof c->value) == 0) {
            s->ones--;
        } else {
            g->key->curve->fr_add(&s->bits, &s->bits, &c->value);
            s->has_bits = true;
        }
        return;
    }
    cuzk_fr value;
    memcpy(&value, w->field[cuzk_witness_rank(w, c->wire)], sizeof value);
    g->key->curve->fr_mul(&value, &value, &c->value);
    g->key->curve->fr_add(&s->field, &s->field, &value);
    s->has_field = true;
}

static void run(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct rows *g = ctx;
    uint64_t begin = (uint64_t)chunk * RUN_RECORDS;
    uint64_t end = begin + RUN_RECORDS < g->key->n_coeffs ? begin + RUN_RECORDS : g->key->n_coeffs;
    struct row_sum sum;
    begin_row(&sum, 0, 0);
    for (uint64_t i = begin; i < end; i++) {
        cuzk_zkey_coeff c;
        if (!cuzk_zkey_coeff_read(g->key, i, &c)) {
            /* Relaxed: read after the loop has been joined. */
            uint64_t seen = atomic_load_explicit(&g->first_bad, memory_order_relaxed);
            while (i < seen && !atomic_compare_exchange_weak_explicit(&g->first_bad, &seen, i,
                                                                      memory_order_relaxed,
                                                                      memory_order_relaxed)) {
            }
            return;
        }
        if (c.matrix != sum.matrix || c.row != sum.row) {
            flush(g, &sum);
            begin_row(&sum, c.matrix, c.row);
        }
        add_record(g, &sum, &c);
    }
    flush(g, &sum);
}

static void clear(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct rows *g = ctx;
    size_t begin = chunk * RANGE_ROWS, n = g->key->domain_size - begin;
    n = n < RANGE_ROWS ? n : RANGE_ROWS;
    memset(g->out[0] + begin, 0, n * sizeof(cuzk_fr));
    memset(g->out[1] + begin, 0, n * sizeof(cuzk_fr));
}

cuzk_status cuzk_key_eval_rows(const cuzk_zkey *key, const cuzk_witness *witness, cuzk_fr *a,
                               cuzk_fr *b, cuzk_pool *pool, cuzk_error *err)
{
    struct rows g = {.key = key,
                     .w = witness,
                     .out = {a, b},
                     .locked = cuzk_pool_threads(pool) > 1,
                     .first_bad = UINT64_MAX};
    /* the Montgomery form of the Montgomery form of 1 */
    key->curve->fr_batch_from_canonical(&g.one_r2, &key->curve->fr_one, 1);
    key->curve->fr_neg(&g.minus_one_r2, &g.one_r2);
    cuzk_pool_for(pool, ((size_t)key->domain_size + RANGE_ROWS - 1) / RANGE_ROWS, clear, &g);
    cuzk_pool_for(pool, (size_t)((key->n_coeffs + RUN_RECORDS - 1) / RUN_RECORDS), run, &g);
    return g.first_bad == UINT64_MAX ? CUZK_OK : cuzk_zkey_coeff_fail(key, g.first_bad, err);
}
