/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalars to signed digits, and the counting sort of the digits of a window by bucket. */
#include "base/bytes.h"
#include "msm/msm_internal.h"

#include <string.h>

enum { RANGE = 16384, BLOCK = 64 };

__extension__ typedef unsigned __int128 u128;

static uint64_t add4(uint64_t o[4], const uint64_t a[4], const uint64_t b[4])
{
    u128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (u128)a[i] + b[i];
        o[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return (uint64_t)carry;
}

/* o = a - b; returns the borrow */
static uint64_t sub4(uint64_t o[4], const uint64_t a[4], const uint64_t b[4])
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)a[i] - b[i] - borrow;
        o[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

static void load4(uint64_t o[4], const void *scalars, size_t i)
{
    const uint8_t *p = (const uint8_t *)scalars + 32 * i;
    for (int j = 0; j < 4; j++) {
        o[j] = cuzk_load_u64_le(p + 8 * j);
    }
}

static unsigned length4(const uint64_t a[4])
{
    for (int i = 3; i >= 0; i--) {
        if (a[i] != 0) {
            return 64 * (unsigned)i + 64 - (unsigned)__builtin_clzll(a[i]);
        }
    }
    return 0;
}

void cuzk_msm_windows_init(cuzk_msm_windows *w, const cuzk_curve *curve, unsigned bits)
{
    memset(w, 0, sizeof *w);
    w->bits = bits;
    for (int i = 0; i < 4; i++) {
        w->r[i] = curve->r[i];
        w->half[i] = curve->r[i] >> 1 | (i < 3 ? curve->r[i + 1] << 63 : 0);
    }
    w->scalar_bits = length4(w->half);
    w->n_windows = (w->scalar_bits + bits) / bits;
    for (unsigned i = 0; i < w->n_windows; i++) {
        unsigned bit = i + 1 < w->n_windows ? bits * i + bits - 1 : w->scalar_bits;
        w->bias[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    (void)sub4(w->bias_minus_r, w->bias, w->r);
}

uint32_t cuzk_msm_window_bias(const cuzk_msm_windows *w, unsigned window)
{
    unsigned bit = window + 1 < w->n_windows ? w->bits - 1 : w->scalar_bits - w->bits * window;
    return (uint32_t)1 << bit;
}

/* ---- lengths ---- */

struct scan {
    const cuzk_msm_windows *w;
    const void *scalars;
    size_t n;
    uint32_t *partial;
};

static void scan_range(void *ctx, size_t chunk, unsigned thread)
{
    const struct scan *s = ctx;
    uint32_t *lengths = s->partial + (size_t)thread * CUZK_MSM_LENGTHS;
    size_t end = (chunk + 1) * RANGE < s->n ? (chunk + 1) * RANGE : s->n;
    for (size_t i = chunk * RANGE; i < end; i++) {
        uint64_t t[4], negated[4], unused[4];
        load4(t, s->scalars, i);
        if (sub4(unused, s->w->half, t)) {
            (void)sub4(negated, s->w->r, t);
            lengths[length4(negated)]++;
        } else {
            lengths[length4(t)]++;
        }
    }
}

void cuzk_msm_scan(const cuzk_msm_windows *w, const void *scalars, size_t n, uint32_t *lengths,
                   uint32_t *partial, cuzk_pool *pool)
{
    struct scan s = {w, scalars, n, partial};
    unsigned n_threads = cuzk_pool_threads(pool);
    memset(partial, 0, (size_t)n_threads * CUZK_MSM_LENGTHS * sizeof *partial);
    cuzk_pool_for(pool, (n + RANGE - 1) / RANGE, scan_range, &s);
    for (unsigned l = 0; l < CUZK_MSM_LENGTHS; l++) {
        lengths[l] = 0;
        for (unsigned t = 0; t < n_threads; t++) {
            lengths[l] += partial[t * CUZK_MSM_LENGTHS + l];
        }
    }
}

size_t cuzk_msm_list_nonzero(const void *scalars, size_t n, uint32_t *list)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t t[4];
        load4(t, scalars, i);
        list[count] = (uint32_t)i;
        count += (t[0] | t[1] | t[2] | t[3]) != 0;
    }
    return count;
}

/* ---- digits ---- */

struct digits {
    const cuzk_msm_windows *w;
    const void *scalars;
    const uint32_t *list;
    size_t n;
    uint16_t *digits;
    size_t pitch;
    unsigned n_windows;
    uint32_t *partial;
};

/* biased_i = t_i + bias, 32 little-endian bytes each */
static void bias_block(const struct digits *d, size_t first, size_t n, uint8_t *biased)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t t[4], unused[4], add[4];
        load4(t, d->scalars, d->list != NULL ? d->list[first + i] : first + i);
        uint64_t mask = 0 - sub4(unused, d->w->half, t);
        for (int j = 0; j < 4; j++) {
            add[j] = (d->w->bias[j] & ~mask) | (d->w->bias_minus_r[j] & mask);
        }
        (void)add4(t, t, add);
        for (int j = 0; j < 4; j++) {
            cuzk_store_u64_le(biased + 32 * i + 8 * j, t[j]);
        }
    }
}

static void digits_range(void *ctx, size_t chunk, unsigned thread)
{
    const struct digits *d = ctx;
    uint32_t *nonzero = d->partial + (size_t)thread * d->n_windows;
    /* A window is read as 4 bytes, which may reach beyond the last scalar of the block. */
    uint8_t biased[32 * BLOCK + 4] = {0};
    size_t end = (chunk + 1) * RANGE < d->n ? (chunk + 1) * RANGE : d->n;
    for (size_t first = chunk * RANGE; first < end; first += BLOCK) {
        size_t n = end - first < BLOCK ? end - first : BLOCK;
        bias_block(d, first, n, biased);
        for (unsigned w = 0; w < d->n_windows; w++) {
            unsigned bit = w * d->w->bits, shift = bit % 8;
            unsigned width = w + 1 < d->w->n_windows ? d->w->bits : 256 - bit;
            uint32_t mask = width < 16 ? ((uint32_t)1 << width) - 1 : 0xffff;
            uint32_t zero = cuzk_msm_window_bias(d->w, w), count = 0;
            const uint8_t *from = biased + bit / 8;
            uint16_t *to = d->digits + w * d->pitch + first;
            for (size_t i = 0; i < n; i++) {
                uint32_t digit = cuzk_load_u32_le(from + 32 * i) >> shift & mask;
                to[i] = (uint16_t)digit;
                count += digit != zero;
            }
            nonzero[w] += count;
        }
    }
}

void cuzk_msm_digits(const cuzk_msm_windows *w, const void *scalars, const uint32_t *list, size_t n,
                     uint16_t *digits, size_t pitch, unsigned n_windows, uint32_t *nonzero,
                     uint32_t *partial, cuzk_pool *pool)
{
    struct digits d = {w, scalars, list, n, digits, pitch, n_windows, partial};
    unsigned n_threads = cuzk_pool_threads(pool);
    memset(partial, 0, (size_t)n_threads * n_windows * sizeof *partial);
    cuzk_pool_for(pool, (n + RANGE - 1) / RANGE, digits_range, &d);
    for (unsigned i = 0; i < n_windows; i++) {
        nonzero[i] = 0;
        for (unsigned t = 0; t < n_threads; t++) {
            nonzero[i] += partial[t * n_windows + i];
        }
    }
}

/* ---- sort ---- */

static uint32_t magnitude(uint32_t digit, uint32_t zero)
{
    return digit < zero ? zero - digit : digit - zero;
}

void cuzk_msm_sort_window(const cuzk_msm_windows *w, unsigned window, const uint16_t *digits,
                          const uint32_t *index, size_t n, uint32_t *entries, uint32_t *ends,
                          uint32_t start)
{
    uint32_t zero = cuzk_msm_window_bias(w, window);
    size_t n_buckets = (size_t)1 << (w->bits - 1);
    memset(ends + 1, 0, n_buckets * sizeof *ends);
    for (size_t i = 0; i < n; i++) {
        if (digits[i] != zero) {
            ends[magnitude(digits[i], zero)]++;
        }
    }
    for (size_t b = 1; b <= n_buckets; b++) {
        uint32_t count = ends[b];
        ends[b] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++) {
        if (digits[i] != zero) {
            uint32_t base = index != NULL ? index[i] : (uint32_t)i;
            entries[ends[magnitude(digits[i], zero)]++] = base << 1 | (digits[i] < zero);
        }
    }
}
