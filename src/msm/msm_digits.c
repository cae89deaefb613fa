/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalars to signed digits. */
#include "base/bytes.h"
#include "msm/msm_internal.h"

#include <string.h>

enum { RANGE = CUZK_MSM_RANGE, BLOCK = 64 };

__extension__ typedef unsigned __int128 u128;

static void add4(uint64_t o[4], const uint64_t a[4], const uint64_t b[4])
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t t = a[i] + carry;
        carry = t < carry;
        o[i] = t + b[i];
        carry += o[i] < t;
    }
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

/* 1 if a < b, else 0 */
static uint64_t less4(const uint64_t a[4], const uint64_t b[4])
{
    uint64_t unused[4];
    return sub4(unused, a, b);
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

/* What a digit of 0 looks like in a window of t + bias. */
static uint32_t window_bias(const cuzk_msm_windows *w, unsigned window)
{
    unsigned bit = window + 1 < w->n_windows ? w->bits - 1 : w->scalar_bits - w->bits * window;
    return (uint32_t)1 << bit;
}

static size_t range_end(size_t chunk, size_t n)
{
    return (chunk + 1) * RANGE < n ? (chunk + 1) * RANGE : n;
}

/* ---- lengths ---- */

struct scan {
    const cuzk_msm_windows *w;
    const void *scalars;
    size_t n;
    uint32_t *partial;
};

/* Bit length of |t|. */
static unsigned length_of(const cuzk_msm_windows *w, const uint64_t scalar[4])
{
    uint64_t negated[4];
    if (scalar[3] != 0 && w->r[3] - scalar[3] > 1) { /* nearly always: the highest words decide */
        uint64_t other = w->r[3] - scalar[3];
        return 256 - (unsigned)__builtin_clzll(other < scalar[3] ? other : scalar[3]);
    }
    (void)sub4(negated, w->r, scalar);
    return length4(less4(w->half, scalar) ? negated : scalar);
}

static void scan_range(void *ctx, size_t chunk, unsigned thread)
{
    const struct scan *s = ctx;
    uint32_t *lengths = s->partial + (size_t)thread * CUZK_MSM_LENGTHS;
    for (size_t i = chunk * RANGE; i < range_end(chunk, s->n); i++) {
        uint64_t scalar[4];
        load4(scalar, s->scalars, i);
        lengths[length_of(s->w, scalar)]++;
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

struct list {
    const void *scalars;
    size_t n;
    uint32_t *list;
    uint32_t *begins; /* of each range */
};

static uint64_t any_bit(const struct list *l, size_t i)
{
    uint64_t t[4];
    load4(t, l->scalars, i);
    return t[0] | t[1] | t[2] | t[3];
}

static void count_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct list *l = ctx;
    uint32_t count = 0;
    for (size_t i = chunk * RANGE; i < range_end(chunk, l->n); i++) {
        count += any_bit(l, i) != 0;
    }
    l->begins[chunk] = count;
}

static void list_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct list *l = ctx;
    uint32_t *to = l->list + l->begins[chunk], found[RANGE];
    size_t count = 0;
    for (size_t i = chunk * RANGE; i < range_end(chunk, l->n); i++) {
        found[count] = (uint32_t)i;
        count += any_bit(l, i) != 0;
    }
    memcpy(to, found, count * sizeof *to);
}

size_t cuzk_msm_list_nonzero(const void *scalars, size_t n, uint32_t *list, uint32_t *begins,
                             cuzk_pool *pool)
{
    struct list l = {scalars, n, list, begins};
    size_t n_ranges = (n + RANGE - 1) / RANGE;
    uint32_t total = 0;
    cuzk_pool_for(pool, n_ranges, count_range, &l);
    for (size_t r = 0; r < n_ranges; r++) {
        uint32_t count = begins[r];
        begins[r] = total;
        total += count;
    }
    cuzk_pool_for(pool, n_ranges, list_range, &l);
    return total;
}

/* ---- digits ---- */

struct digits {
    const cuzk_msm_windows *w;
    const void *scalars;
    const uint32_t *list;
    size_t n;
    int16_t *digits;
    size_t pitch;
    unsigned n_windows;
    uint32_t *partial;
};

/* words[j][i] = 32-bit word j of t_i + bias, word 8 = 0 */
static void bias_block(const struct digits *d, size_t first, size_t n, uint32_t words[9][BLOCK])
{
    for (size_t i = 0; i < n; i++) {
        uint64_t t[4], add[4];
        load4(t, d->scalars, d->list != NULL ? d->list[first + i] : first + i);
        /* the highest words decide, nearly always; which way is random: no branch on that */
        uint64_t above = t[3] == d->w->half[3] ? less4(d->w->half, t) : d->w->half[3] < t[3];
        uint64_t mask = 0 - above;
        for (int j = 0; j < 4; j++) {
            add[j] = d->w->bias[j] ^ ((d->w->bias[j] ^ d->w->bias_minus_r[j]) & mask);
        }
        add4(t, t, add);
        for (int j = 0; j < 4; j++) {
            words[2 * j][i] = (uint32_t)t[j];
            words[2 * j + 1][i] = (uint32_t)(t[j] >> 32);
        }
    }
}

/* One window of a block: digits to `to`, returns how many of the first n are not 0. All BLOCK of
 * them are computed, so that the loop is a vector loop of fixed length. */
static uint32_t block_window(int16_t *to, const uint32_t *low, const uint32_t *high, unsigned shift,
                             uint32_t mask, uint32_t bias, size_t n)
{
    int16_t digits[BLOCK];
    uint32_t count = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t window = (low[i] >> shift | high[i] << 1 << (31 - shift)) & mask;
        digits[i] = (int16_t)(window - bias);
    }
    memcpy(to, digits, n * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        count += digits[i] != 0;
    }
    return count;
}

static void digits_range(void *ctx, size_t chunk, unsigned thread)
{
    const struct digits *d = ctx;
    uint32_t *nonzero = d->partial + (size_t)thread * d->n_windows;
    uint32_t words[9][BLOCK] = {{0}};
    size_t end = range_end(chunk, d->n);
    for (size_t first = chunk * RANGE; first < end; first += BLOCK) {
        size_t n = end - first < BLOCK ? end - first : BLOCK;
        bias_block(d, first, n, words);
        for (unsigned w = 0; w < d->n_windows; w++) {
            unsigned bit = w * d->w->bits, word = bit / 32;
            unsigned width = w + 1 < d->w->n_windows ? d->w->bits : 16;
            nonzero[w] +=
                block_window(d->digits + w * d->pitch + first, words[word], words[word + 1],
                             bit % 32, ((uint32_t)1 << width) - 1, window_bias(d->w, w), n);
        }
    }
}

void cuzk_msm_digits(const cuzk_msm_windows *w, const void *scalars, const uint32_t *list, size_t n,
                     int16_t *digits, size_t pitch, unsigned n_windows, uint32_t *nonzero,
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
