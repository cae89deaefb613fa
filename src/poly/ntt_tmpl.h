/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Number-theoretic transforms over octs (eight elements side by side; oct_scalar.h, oct_lanes.h).
 *
 * Four-step form (D. H. Bailey, "FFTs in external or hierarchical memory", 1990): n = rows·cols.
 * Index i = r·cols + c; out index k = k1 + rows·k2:
 *   1. for eight columns c at a time: transform over r (length rows), result k1; multiply by
 *      w^(c·k1); transpose in tiles of 8 × 8, so that the lanes become eight neighbours k1;
 *   2. for eight rows k1 at a time: transform over c (length cols), result k2.
 * Natural order in and out, and every large memory access is a run of 256 bytes or more.
 *
 * A short transform (length ≤ 2^14, "run") works on a buffer of octs that stays in L2, in groups of
 * at most five radix-2 levels on 32 octs that stay in L1. It is the remainder tree of polynomials:
 * block b of level s holds a polynomial modulo X^m - z² and is split modulo X^(m/2) - z and
 * X^(m/2) + z, so that one factor z serves a whole block: u, v → u + z·v, u - z·v. Input in natural
 * order, output in bit-reversed order; the step that follows picks from the buffer in the order it
 * needs, so no reordering pass exists. An inverse run is a forward run picked at index -k.
 *
 * Ranges (octs of the lanes version are not reduced): sources give values below 2r. A butterfly
 * adds between -3r and 3r. The first level of a group adds 3r for each level of the group, so that
 * nothing becomes negative. Factors 1 of the first two levels are skipped: sums double there. */
#ifndef CUZK_POLY_NTT_TMPL_H
#define CUZK_POLY_NTT_TMPL_H

#include "poly/ntt_kernel.h"

enum { LEVELS_MAX = 5, OCTS_MAX = 1 << LEVELS_MAX };

/* ---- workspace ---- */

/* Parts of the workspace: the large array, two tables for shifts that are not powers of the root,
 * and three buffers for each thread. */
static chunk *ws_chunks(void *ws)
{
    return (chunk *)ws;
}

static factor *ws_factors(const struct cuzk_domain *d, void *ws, unsigned which)
{
    char *tables = (char *)ws + ((size_t)32 << d->lg_n);
    return (factor *)(void *)tables + ((size_t)which << d->lg_cols);
}

static oct *ws_buffer(const struct cuzk_domain *d, void *ws, unsigned thread, unsigned which)
{
    return (oct *)(void *)ws_factors(d, ws, 2) + ((size_t)(3 * thread + which) << d->lg_cols);
}

/* ---- sources: where a run takes its input from ---- */

typedef enum { FROM_ELEMENTS, FROM_PRODUCTS, FROM_CHUNKS, FROM_RUN } source_kind;

typedef struct {
    source_kind kind;
    const fr *a, *b; /* FROM_ELEMENTS, FROM_PRODUCTS: oct i is at a[i·step] (times b[…]) */
    size_t step;     /* FROM_CHUNKS: chunk (i / 8)·tile_step + (i mod 8)·step */
    size_t tile_step;
    const chunk *chunks;
    const oct *run; /* FROM_RUN: the result of an earlier run of the same length */
    bool inverse;   /* … which is picked at -i */
    unsigned lg;
} source;

static inline size_t reverse_bits(size_t i, unsigned bits)
{
    uint64_t x = (uint64_t)i;
    x = (x >> 1 & UINT64_C(0x5555555555555555)) | (x & UINT64_C(0x5555555555555555)) << 1;
    x = (x >> 2 & UINT64_C(0x3333333333333333)) | (x & UINT64_C(0x3333333333333333)) << 2;
    x = (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return (size_t)(__builtin_bswap64(x) >> (64 - bits));
}

/* Place of result k in the buffer of a run of length 2^lg. */
static inline size_t pick(size_t k, unsigned lg, bool inverse)
{
    if (inverse) {
        k = (0 - k) & (((size_t)1 << lg) - 1);
    }
    return reverse_bits(k, lg);
}

static inline void source_load(oct *o, const source *s, size_t i)
{
    switch (s->kind) {
    case FROM_ELEMENTS:
        oct_load(o, s->a + i * s->step);
        break;
    case FROM_CHUNKS:
        oct_load_chunk(o, s->chunks + (i >> 3) * s->tile_step + (i & 7) * s->step);
        break;
    case FROM_RUN:
        *o = s->run[pick(i, s->lg, s->inverse)];
        oct_weaken(o);
        break;
    case FROM_PRODUCTS:
        break; /* only in pairs */
    }
}

/* Octs i and k of the source. */
static inline void source_load2(oct *o0, oct *o1, const source *s, size_t i, size_t k)
{
    if (s->kind == FROM_PRODUCTS) {
        i *= s->step;
        k *= s->step;
        oct_load2_products(o0, o1, s->a + i, s->b + i, s->a + k, s->b + k);
    } else {
        source_load(o0, s, i);
        source_load(o1, s, k);
    }
}

/* ---- runs ---- */

/* A short transform. factors: as domain->factors, shifted false: evaluation at all powers of the
 * root of order 2^lg; shifted true: block b of level s uses factors[2^s + b], evaluation at another
 * coset (at half-odd powers with domain->factors). */
typedef struct {
    unsigned lg;
    const factor *factors;
    bool shifted;
} run;

static inline const factor *run_factor(const run *t, unsigned level, size_t block)
{
    return t->factors + (t->shifted ? (size_t)1 << level : 0) + block;
}

/* `width` (3 … 5) levels from `level` on, over the 2^width octs at x of block `block`. Level 0 of a
 * run that is not shifted is already done. */
static void run_levels(const run *t, oct *x, unsigned width, unsigned level, size_t block)
{
    size_t half = (size_t)1 << (width - 1);
    const factor *f = run_factor(t, level, block);
    unsigned s = 1;
    if (level == 0 && !t->shifted) {
        half >>= 1;
        f = t->factors + 1;
        unsigned raise = 3 * (width - 1);
        for (size_t j = 0; j < half; j++) {
            oct_butterfly_one_second(&x[j], &x[j + half], raise);
        }
        for (oct *u = x + 2 * half; u < x + 3 * half; u += 2) {
            oct_butterfly2_raise(&u[0], &u[half], f, &u[1], &u[half + 1], f, raise);
        }
        s = 2;
    } else {
        for (oct *u = x; u < x + half; u += 2) {
            oct_butterfly2_raise(&u[0], &u[half], f, &u[1], &u[half + 1], f, 3 * width);
        }
    }
    for (; s < width - 1; s++) {
        half = (size_t)1 << (width - 1 - s);
        f = run_factor(t, level + s, block << s);
        for (size_t b = 0; b < (size_t)1 << s; b++, f++) {
            oct *first = x + 2 * half * b;
            for (oct *u = first; u < first + half; u += 2) {
                oct_butterfly2(&u[0], &u[half], f, &u[1], &u[half + 1], f);
            }
        }
    }
    f = run_factor(t, level + s, block << s);
    for (size_t b = 0; b < (size_t)1 << s; b += 2) {
        oct *u = x + 2 * b;
        oct_butterfly2(&u[0], &u[1], &f[b], &u[2], &u[3], &f[b + 1]);
    }
}

/* The octs j, j + stride … of the source to x[0 … n-1]; with level 0 if its factor is 1. */
static inline void load_group(const run *t, const source *src, oct *x, size_t j, size_t n,
                              size_t stride)
{
    for (size_t i = 0; i < n / 2; i++) {
        source_load2(&x[i], &x[i + n / 2], src, j + i * stride, j + (i + n / 2) * stride);
        if (!t->shifted) {
            oct_butterfly_one_first(&x[i], &x[i + n / 2]);
        }
    }
}

/* Transform 2^t->lg octs (lg 3 … 15) from src into buf, bit-reversed. src may not read buf. */
static void run_all(const run *t, const source *src, oct *buf)
{
    unsigned n_groups = (t->lg + LEVELS_MAX - 1) / LEVELS_MAX;
    unsigned level = 0, range = 2;
    for (unsigned g = 0; g < n_groups; g++) {
        /* widths as equal as can be, the larger first, all at least 3 */
        unsigned left = n_groups - g;
        unsigned width = (t->lg - level + left - 1) / left;
        size_t n = (size_t)1 << width, stride = (size_t)1 << (t->lg - level - width);
        range = level == 0 && !t->shifted ? 6 * width - 1 : range + 6 * width;
        unsigned next = left > 1 ? (t->lg - level - width + left - 2) / (left - 1) : 0;
        bool weaken = range + 6 * next > OCT_RANGE_LIMIT;
        for (size_t block = 0; block < (size_t)1 << level; block++) {
            oct *base = buf + (block << (t->lg - level));
            for (size_t j = 0; j < stride; j++) {
                oct local[OCTS_MAX];
                oct *x = stride == 1 ? base : local;
                if (g == 0) {
                    load_group(t, src, x, j, n, stride);
                } else if (stride != 1) {
                    for (size_t i = 0; i < n; i++) {
                        x[i] = base[j + i * stride];
                    }
                }
                run_levels(t, x, width, level, block);
                if (stride != 1) {
                    for (size_t i = 0; i < n; i++) {
                        if (weaken) {
                            oct_weaken(&x[i]);
                        }
                        base[j + i * stride] = x[i];
                    }
                }
            }
        }
        level += width;
        range = weaken ? 2 : range;
    }
}

/* ---- what follows a run ---- */

/* Where tiles of 8 × 8 go: tile g to chunks[g·tile_step], its chunks `step` apart. */
typedef struct {
    chunk *chunks;
    size_t tile_step, step;
    bool stream;
} tiles;

/* Multiply result k by series[k] and store in tiles. */
static void put_tiles(const tiles *to, const oct *buf, unsigned lg, bool inverse, const oct *series)
{
    for (size_t g = 0; g < (size_t)1 << (lg - 3); g++) {
        oct rows[8];
        for (size_t i = 0; i < 8; i += 2) {
            size_t k = 8 * g + i;
            oct_mul2_digits(&rows[i], &buf[pick(k, lg, inverse)], &series[k], &rows[i + 1],
                            &buf[pick(k + 1, lg, inverse)], &series[k + 1]);
        }
        oct_store_tile(to->chunks + g * to->tile_step, to->step, rows, to->stream);
    }
}

/* out[l] = scale·base^(first + l) for l = 0 … 7. */
static void eight_powers(fr out[8], const fr *scale, const fr *base, size_t first)
{
    fr t;
    fr_set_one(&t);
    for (unsigned bit = 64 - (unsigned)__builtin_clzll((uint64_t)first | 1); bit-- > 0;) {
        fr_sqr(&t, &t);
        if (first >> bit & 1) {
            fr_mul(&t, &t, base);
        }
    }
    fr_mul(&out[0], &t, scale);
    for (int l = 1; l < 8; l++) {
        fr_mul(&out[l], &out[l - 1], base);
    }
}

/* The multipliers between two runs: lane l of series[k] is
 * scale·lane_base^c·(root^c·step_base)^k with c = first + l. */
typedef struct {
    fr scale, lane_base, root, step_base;
} twist;

static void make_series(oct *series, unsigned lg, const twist *t, size_t first)
{
    fr start[8], ratio[8];
    eight_powers(start, &t->scale, &t->lane_base, first);
    eight_powers(ratio, &t->step_base, &t->root, first);
    oct_series(series, (size_t)1 << lg, start, ratio);
}

/* ---- tables ---- */

/* w[b] = the root of unity of domain->factors' entry b, for b < 2^lg, lg < lg_n: entry 2^s + b is
 * entry 2^s times entry b, and entry 2^s is the root of order 2^(s+2). Scaled by `first`. */
static void make_roots(const struct cuzk_domain *d, fr *w, unsigned lg, const fr *first)
{
    fr root[CUZK_DOMAIN_LG_MAX + 1], power = *(const fr *)&d->root;
    for (unsigned order = d->lg_n; order >= 2; order--) {
        root[order] = power;
        fr_sqr(&power, &power);
    }
    w[0] = *first;
    for (unsigned s = 0; s < lg; s++) {
        for (size_t b = 0; b < (size_t)1 << s; b++) {
            fr_mul(&w[((size_t)1 << s) + b], &w[b], &root[s + 2]);
        }
    }
}

static void make_factors(struct cuzk_domain *d, cuzk_fr *tmp)
{
    fr one;
    fr_set_one(&one);
    make_roots(d, (fr *)tmp, d->lg_cols, &one);
    for (size_t i = 0; i < (size_t)1 << d->lg_cols; i++) {
        factor_set((factor *)d->factors + i, (const fr *)&tmp[i]);
    }
}

/* Factors of a shifted run of length 2^lg (lg ≤ lg_cols): evaluation at shift·(powers of the root
 * of order 2^lg). tmp: 2^(lg-1) elements. */
static void make_shifted_factors(const struct cuzk_domain *d, factor *f, unsigned lg,
                                 const fr *shift, fr *tmp)
{
    size_t half = (size_t)1 << (lg - 1);
    make_roots(d, tmp, lg - 1, shift);
    /* z of block b is the square of z of its left child 2b */
    for (unsigned s = lg; s-- > 0; half >>= 1) {
        for (size_t b = 0; b < half; b++) {
            factor_set(&f[half + b], &tmp[b]);
        }
        for (size_t b = 0; b < half / 2; b++) {
            fr_sqr(&tmp[b], &tmp[2 * b]);
        }
    }
}

/* f[k] = ratio^k for k = 0 … n-1. */
static void make_power_factors(factor *f, size_t n, const fr *ratio)
{
    fr t;
    fr_set_one(&t);
    for (size_t k = 0; k < n; k++) {
        factor_set(&f[k], &t);
        fr_mul(&t, &t, ratio);
    }
}

/* o = a^(2^lg). */
static void square_often(fr *o, const fr *a, unsigned lg)
{
    *o = *a;
    for (unsigned i = 0; i < lg; i++) {
        fr_sqr(o, o);
    }
}

/* ---- one transform in natural order ---- */

struct transform {
    const struct cuzk_domain *d;
    fr *a;
    void *ws;
    bool inverse;
    run first, second;
    twist between;
    const factor *after; /* multipliers by k2, or NULL */
};

static void transform_columns(void *ctx, size_t group, unsigned thread)
{
    const struct transform *t = (const struct transform *)ctx;
    const struct cuzk_domain *d = t->d;
    oct *buf = ws_buffer(d, t->ws, thread, 0), *series = ws_buffer(d, t->ws, thread, 1);
    source src = {.kind = FROM_ELEMENTS, .a = t->a + 8 * group, .step = (size_t)1 << d->lg_cols};
    make_series(series, d->lg_rows, &t->between, 8 * group);
    run_all(&t->first, &src, buf);
    tiles to = {.chunks = ws_chunks(t->ws) + 8 * group,
                .tile_step = (size_t)1 << d->lg_cols,
                .step = 1,
                .stream = d->lg_n >= CUZK_NTT_LG_STREAM};
    put_tiles(&to, buf, d->lg_rows, t->inverse, series);
    oct_fence();
}

static void transform_rows(void *ctx, size_t group, unsigned thread)
{
    const struct transform *t = (const struct transform *)ctx;
    const struct cuzk_domain *d = t->d;
    oct *buf = ws_buffer(d, t->ws, thread, 0);
    source src = {.kind = FROM_CHUNKS,
                  .chunks = ws_chunks(t->ws) + (group << d->lg_cols),
                  .tile_step = 8,
                  .step = 1};
    run_all(&t->second, &src, buf);
    fr *out = t->a + 8 * group;
    bool stream = d->lg_n >= CUZK_NTT_LG_STREAM && ((uintptr_t)t->a & 63) == 0;
    for (size_t k = 0; k < (size_t)1 << d->lg_cols; k += 2) {
        oct *x0 = &buf[pick(k, d->lg_cols, t->inverse)];
        oct *x1 = &buf[pick(k + 1, d->lg_cols, t->inverse)];
        if (t->after != NULL) {
            oct_mul2_factors(x0, x0, &t->after[k], x1, x1, &t->after[k + 1]);
        }
        oct_store(out + (k << d->lg_rows), x0, stream);
        oct_store(out + ((k + 1) << d->lg_rows), x1, stream);
    }
    oct_fence();
}

static void transform_large(const struct cuzk_domain *d, fr *a, const fr *coset, bool inverse,
                            void *ws, cuzk_pool *pool)
{
    struct transform t = {.d = d, .a = a, .ws = ws, .inverse = inverse};
    t.first = (run){.lg = d->lg_rows, .factors = (const factor *)d->factors};
    t.second = (run){.lg = d->lg_cols, .factors = (const factor *)d->factors};
    fr_set_one(&t.between.scale);
    fr_set_one(&t.between.lane_base);
    fr_set_one(&t.between.step_base);
    t.between.root = *(const fr *)(inverse ? &d->root_inv : &d->root);
    fr *tmp = (fr *)ws; /* free before the first pass */
    if (inverse) {
        t.between.scale = *(const fr *)&d->size_inv;
    }
    if (coset != NULL && !inverse) {
        /* s^i = s^c · (s^cols)^r */
        factor *f = ws_factors(d, ws, 0);
        fr shift;
        square_often(&shift, coset, d->lg_cols);
        make_shifted_factors(d, f, d->lg_rows, &shift, tmp);
        t.first.factors = f;
        t.first.shifted = true;
        t.between.lane_base = *coset;
    } else if (coset != NULL) {
        /* s^-k = s^-k1 · (s^-rows)^k2 */
        factor *f = ws_factors(d, ws, 0);
        fr ratio;
        fr_inv(&t.between.step_base, coset);
        square_often(&ratio, &t.between.step_base, d->lg_rows);
        make_power_factors(f, (size_t)1 << d->lg_cols, &ratio);
        t.after = f;
    }
    pool = d->lg_n < CUZK_NTT_LG_THREADS ? NULL : pool;
    cuzk_pool_for(pool, (size_t)1 << (d->lg_cols - 3), transform_columns, &t);
    cuzk_pool_for(pool, (size_t)1 << (d->lg_rows - 3), transform_rows, &t);
}

#endif
