/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The quotients, over the runs of ntt_tmpl.h. All arrays are worked on in place.
 *
 * a, b and c = a∘b are rows × cols matrices of elements, index i = r·cols + c.
 *   A  columns: inverse run over r; result k1. Of c = a∘b into the workspace, of a and b in place.
 *   B  rows k1, eight at a time: inverse run over c (result k2: coefficient k1 + rows·k2), then at
 *      once the forward run over k2 on the shifted coset (result j1): the order in which the
 *      inverse transform leaves the coefficients is the one in which the forward transform wants
 *      them, so the passes between the two transforms are one pass, inside L2.
 *   C  columns j1: forward run over k1, result j2: values at shift·w^(j1 + cols·j2).
 * The circom form ends here with a·b - c. The plain form takes only a and b through B and C,
 * multiplies, and goes back at once:
 *   C' … then inverse run over j2, result k1
 *   D  rows k1: inverse run over j1, result k2: coefficients of e = a·b mod (X^n + 1); in the same
 *      pass the second run of c, and h = (c - e)/2.
 * The textbook form takes a, b and c through B and C and only the quotient through C' and D.
 *
 * Constant factors travel in the multipliers between runs. With ρ = 2^256 an element in memory is
 * x·ρ; oct_mul(a, b) is a·b/R_L; c is stored as c·ρ.
 *   circom: A gives 1/n; B the scale that oct_store_circom wants.
 *   plain: A gives 1/(2nρ), so that the halves of the coefficients of a, b, c stand in plain form;
 *      C' multiplies by 2·R_L/n, so that D has e/2 in plain form.
 *   textbook: A gives 1/n, B R_L/ρ: then a·b/R_L and c have the same factor R_L, which C' removes
 *      together with X^n - 1. */
#ifndef CUZK_POLY_QUOTIENT_TMPL_H
#define CUZK_POLY_QUOTIENT_TMPL_H

#include "poly/ntt_tmpl.h"

struct quotient {
    const struct cuzk_domain *d;
    cuzk_quotient_form form;
    void *ws;
    fr *out; /* plain form */
    const fr *a, *b;
    chunk *poly[3]; /* a, b, c */
    run rows, cols, shifted_cols;
    twist twist_a, twist_b, twist_c;
    const factor *after;     /* shift^(-rows·k2) */
    bool stream, stream_out; /* for a, b, c; for out */
};

/* The tiles of column group `group`: eight columns, all rows. */
static tiles column_tiles(const struct quotient *q, chunk *poly, size_t group)
{
    size_t cols = (size_t)1 << q->d->lg_cols;
    return (tiles){
        .chunks = poly + group, .tile_step = cols, .step = cols / 8, .stream = q->stream};
}

/* The tiles of row group `group`: eight rows, all columns. */
static tiles row_tiles(const struct quotient *q, chunk *poly, size_t group)
{
    size_t cols = (size_t)1 << q->d->lg_cols;
    return (tiles){
        .chunks = poly + group * cols, .tile_step = 1, .step = cols / 8, .stream = q->stream};
}

static source from_tiles(const tiles *t)
{
    return (source){
        .kind = FROM_CHUNKS, .chunks = t->chunks, .tile_step = t->tile_step, .step = t->step};
}

static void quotient_pass_a(void *ctx, size_t group, unsigned thread)
{
    const struct quotient *q = (const struct quotient *)ctx;
    const struct cuzk_domain *d = q->d;
    oct *buf = ws_buffer(d, q->ws, thread, 0), *series = ws_buffer(d, q->ws, thread, 1);
    make_series(series, d->lg_rows, &q->twist_a, 8 * group);
    for (int p = 2; p >= 0; p--) {
        source src = {.kind = p == 2 ? FROM_PRODUCTS : FROM_ELEMENTS,
                      .a = (p == 1 ? q->b : q->a) + 8 * group,
                      .b = q->b + 8 * group,
                      .step = (size_t)1 << d->lg_cols};
        tiles to = column_tiles(q, q->poly[p], group);
        run_all(&q->rows, &src, buf);
        put_tiles(&to, buf, d->lg_rows, true, series);
    }
    oct_fence();
}

static void quotient_pass_b(void *ctx, size_t group, unsigned thread)
{
    const struct quotient *q = (const struct quotient *)ctx;
    const struct cuzk_domain *d = q->d;
    oct *buf = ws_buffer(d, q->ws, thread, 0), *shifted = ws_buffer(d, q->ws, thread, 1);
    oct *series = ws_buffer(d, q->ws, thread, 2);
    make_series(series, d->lg_cols, &q->twist_b, 8 * group);
    for (int p = 0; p < (q->form == CUZK_QUOTIENT_PLAIN ? 2 : 3); p++) {
        tiles at = row_tiles(q, q->poly[p], group);
        source chunks = from_tiles(&at);
        source coefficients = {.kind = FROM_RUN, .run = buf, .inverse = true, .lg = d->lg_cols};
        run_all(&q->cols, &chunks, buf);
        run_all(&q->shifted_cols, &coefficients, shifted);
        put_tiles(&at, shifted, d->lg_cols, false, series);
    }
    oct_fence();
}

/* Pass C: values of the first n_polys polynomials on the shifted coset, bit-reversed, in the
 * thread's buffers 0 … n_polys-1. */
static void quotient_values(const struct quotient *q, size_t group, unsigned thread, int n_polys)
{
    for (int p = 0; p < n_polys; p++) {
        tiles at = column_tiles(q, q->poly[p], group);
        source src = from_tiles(&at);
        run_all(&q->rows, &src, ws_buffer(q->d, q->ws, thread, (unsigned)p));
    }
}

static void quotient_pass_c_circom(void *ctx, size_t group, unsigned thread)
{
    const struct quotient *q = (const struct quotient *)ctx;
    const struct cuzk_domain *d = q->d;
    const oct *a = ws_buffer(d, q->ws, thread, 0), *b = ws_buffer(d, q->ws, thread, 1);
    const oct *c = ws_buffer(d, q->ws, thread, 2);
    quotient_values(q, group, thread, 3);
    fr *out = q->out + 8 * group;
    for (size_t k = 0; k < (size_t)1 << d->lg_rows; k += 2) {
        size_t i0 = pick(k, d->lg_rows, false), i1 = pick(k + 1, d->lg_rows, false);
        oct_store2_circom(out + (k << d->lg_cols), &a[i0], &b[i0], &c[i0],
                          out + ((k + 1) << d->lg_cols), &a[i1], &b[i1], &c[i1], q->stream_out);
    }
    oct_fence();
}

static void quotient_pass_c_back(void *ctx, size_t group, unsigned thread)
{
    const struct quotient *q = (const struct quotient *)ctx;
    const struct cuzk_domain *d = q->d;
    oct *a = ws_buffer(d, q->ws, thread, 0), *b = ws_buffer(d, q->ws, thread, 1);
    oct *c = ws_buffer(d, q->ws, thread, 2);
    bool with_c = q->form == CUZK_QUOTIENT_TEXTBOOK;
    quotient_values(q, group, thread, with_c ? 3 : 2);
    for (size_t i = 0; i < (size_t)1 << d->lg_rows; i += 2) {
        if (with_c) {
            oct_mul2_sub(&a[i], &a[i], &b[i], &c[i], &a[i + 1], &a[i + 1], &b[i + 1], &c[i + 1]);
        } else {
            oct_mul2(&a[i], &a[i], &b[i], &a[i + 1], &a[i + 1], &b[i + 1]);
        }
    }
    source values = {.kind = FROM_RUN, .run = a, .inverse = false, .lg = d->lg_rows};
    run_all(&q->rows, &values, b);
    make_series(c, d->lg_rows, &q->twist_c, 8 * group);
    tiles to = column_tiles(q, q->poly[1], group);
    put_tiles(&to, b, d->lg_rows, true, c);
    oct_fence();
}

static void quotient_pass_d(void *ctx, size_t group, unsigned thread)
{
    const struct quotient *q = (const struct quotient *)ctx;
    const struct cuzk_domain *d = q->d;
    oct *e = ws_buffer(d, q->ws, thread, 0), *c = ws_buffer(d, q->ws, thread, 1);
    tiles at = row_tiles(q, q->poly[1], group);
    source src = from_tiles(&at);
    run_all(&q->cols, &src, e);
    if (q->form == CUZK_QUOTIENT_PLAIN) {
        at = row_tiles(q, q->poly[2], group);
        src = from_tiles(&at);
        run_all(&q->cols, &src, c);
    }
    for (size_t k = 0; k < (size_t)1 << d->lg_cols; k += 2) {
        size_t i0 = pick(k, d->lg_cols, true), i1 = pick(k + 1, d->lg_cols, true);
        oct_mul2_factors(&e[i0], &e[i0], &q->after[k], &e[i1], &e[i1], &q->after[k + 1]);
        fr *out0 = q->out + (k << d->lg_rows) + 8 * group;
        fr *out1 = out0 + ((size_t)1 << d->lg_rows);
        if (q->form == CUZK_QUOTIENT_PLAIN) {
            oct_store_difference(out0, &c[i0], &e[i0], q->stream_out);
            oct_store_difference(out1, &c[i1], &e[i1], q->stream_out);
        } else {
            oct_store(out0, &e[i0], q->stream_out);
            oct_store(out1, &e[i1], q->stream_out);
        }
    }
    oct_fence();
}

/* What pass D divides out: shift^-1 per coefficient, and the factors of C'. */
static void quotient_set_back(struct quotient *q, const fr *shift)
{
    const struct cuzk_domain *d = q->d;
    fr one, scale, ratio, shift_inv = *(const fr *)&d->half_root_inv;
    fr_set_one(&one);
    oct_radix(&scale);
    if (q->form == CUZK_QUOTIENT_PLAIN) {
        fr_dbl(&scale, &scale);
    } else {
        fr z;
        fr_inv(&shift_inv, shift);
        square_often(&z, shift, d->lg_n);
        fr_sub(&z, &z, &one);
        fr_mul(&scale, &scale, &z);
        fr_inv(&scale, &scale);
    }
    fr_mul(&scale, &scale, (const fr *)&d->size_inv);
    q->twist_c = (twist){.scale = scale,
                         .lane_base = one,
                         .root = *(const fr *)&d->root_inv,
                         .step_base = shift_inv};
    factor *after = ws_factors(d, q->ws, 0);
    square_often(&ratio, &shift_inv, d->lg_rows);
    make_power_factors(after, (size_t)1 << d->lg_cols, &ratio);
    q->after = after;
}

static void quotient_large(const struct cuzk_domain *d, cuzk_quotient_form form, void *out, fr *a,
                           fr *b, void *ws, cuzk_pool *pool)
{
    bool textbook = form == CUZK_QUOTIENT_TEXTBOOK;
    const fr *shift = (const fr *)(textbook ? &d->shift : &d->half_root);
    const factor *roots = (const factor *)d->factors;
    struct quotient q = {.d = d, .form = form, .ws = ws, .out = (fr *)out, .a = a, .b = b};
    q.poly[0] = (chunk *)a;
    q.poly[1] = (chunk *)b;
    q.poly[2] = ws_chunks(ws);
    q.stream = d->lg_n >= CUZK_NTT_LG_STREAM && (((uintptr_t)a | (uintptr_t)b) & 63) == 0;
    q.stream_out = d->lg_n >= CUZK_NTT_LG_STREAM && ((uintptr_t)out & 63) == 0;
    q.rows = (run){.lg = d->lg_rows, .factors = roots};
    q.cols = (run){.lg = d->lg_cols, .factors = roots};
    q.shifted_cols = (run){.lg = d->lg_cols, .factors = roots, .shifted = true};

    fr one;
    fr_set_one(&one);
    q.twist_a = (twist){.scale = *(const fr *)&d->size_inv,
                        .lane_base = one,
                        .root = *(const fr *)&d->root_inv,
                        .step_base = one};
    q.twist_b =
        (twist){.scale = one, .lane_base = *shift, .root = *(const fr *)&d->root, .step_base = one};
    if (form == CUZK_QUOTIENT_CIRCOM) {
        oct_circom_scale(&q.twist_b.scale);
    } else {
        quotient_set_back(&q, shift);
    }
    if (form == CUZK_QUOTIENT_PLAIN) {
        static const fr half = CUZK_CC(FR_HALF);
        fr rho_inv = {{1, 0, 0, 0}}; /* ρ^-1·ρ = 1 */
        fr_mul(&rho_inv, &rho_inv, &half);
        fr_mul(&q.twist_a.scale, &q.twist_a.scale, &rho_inv);
    }
    if (textbook) {
        fr radix, ratio, shift_rows;
        oct_radix(&radix);
        fr_to_canonical(ratio.l, &radix); /* R_L mod r = (R_L/ρ)·ρ */
        q.twist_b.scale = ratio;
        factor *f = ws_factors(d, ws, 1);
        square_often(&shift_rows, shift, d->lg_rows);
        make_shifted_factors(d, f, d->lg_cols, &shift_rows, (fr *)ws);
        q.shifted_cols.factors = f;
    }

    size_t column_groups = (size_t)1 << (d->lg_cols - 3);
    size_t row_groups = (size_t)1 << (d->lg_rows - 3);
    pool = d->lg_n < CUZK_NTT_LG_THREADS ? NULL : pool;
    cuzk_pool_for(pool, column_groups, quotient_pass_a, &q);
    cuzk_pool_for(pool, row_groups, quotient_pass_b, &q);
    if (form == CUZK_QUOTIENT_CIRCOM) {
        cuzk_pool_for(pool, column_groups, quotient_pass_c_circom, &q);
    } else {
        cuzk_pool_for(pool, column_groups, quotient_pass_c_back, &q);
        cuzk_pool_for(pool, row_groups, quotient_pass_d, &q);
    }
}

#endif
