/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Transforms over fr of one curve: transform.h says what. Built once per curve.
 *
 * Floor of a pass of nine layers: 4.5 factor multiplications an element (372 lane-cycles each on
 * bls12_381), and 64 bytes to and from memory; the last pass reads a factor of 64 bytes an element
 * too. Launch: one block of CUZK_TRANSFORM_BLOCK threads for 2^CUZK_TRANSFORM_LG_TILE elements;
 * 36 KiB of shared memory; at most 128 registers, so that two blocks fit an SM. The three layers
 * are a loop and not unrolled code: hot code beyond about 120 KB starves the instruction cache.
 *
 * Position e of a tile has 11 bits. Where the pass is not the last one, the upper n_layers bits of
 * e are the row (the bits of the index that the pass splits) and the lower ones the column, so that
 * neighbouring threads touch neighbouring elements; in the last pass the tile is a run of memory
 * and the row is the lower bits. A thread holds the eight positions of a window: three bits of e
 * beginning at bit `base`. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/transform.h"
#include "field/factor.h"

enum {
    LG_TILE = CUZK_TRANSFORM_LG_TILE,
    HELD = 8,
    HALVES = (1 << LG_TILE) + (1 << LG_TILE) / 8,
    BLOCKS = 2 /* on an SM: 128 registers a thread */
};

/* Sixteen bytes in shared memory, moved as one access. */
struct __align__(16) half_element
{
    uint64_t low, high;
};

/* What one window of a pass does. */
typedef struct {
    uint32_t base;      /* its lowest bit of e */
    int top;            /* the layers split at register bits top, top - 1 … */
    int count;          /* … so many */
    uint32_t shift;     /* index bit of register bit 0 */
    uint32_t lg_blocks; /* blocks of the first of these layers: 2^lg_blocks */
} window;

static __device__ __forceinline__ uint32_t low_bits(uint32_t n)
{
    return (1u << n) - 1;
}

/* Index bits below the row. */
static __device__ __forceinline__ uint32_t bits_below(const cuzk_transform_args &a)
{
    return a.lg_n - a.first_layer - a.n_layers;
}

/* The index of position e of this block's tile; 2^lg_n or more where there is none. */
static __device__ __forceinline__ uint32_t index_of(const cuzk_transform_args &a, uint32_t e)
{
    uint32_t below = bits_below(a), lg_columns = LG_TILE - a.n_layers;
    if (below == 0) {
        return blockIdx.x << LG_TILE | e;
    }
    uint32_t column = blockIdx.x << lg_columns | (e & low_bits(lg_columns));
    uint32_t upper = (column >> below) << a.n_layers | e >> lg_columns;
    return upper << below | (column & low_bits(below));
}

static __device__ __forceinline__ uint32_t position_of(uint32_t base, uint32_t held)
{
    uint32_t t = threadIdx.x;
    return (t >> base) << (base + 3) | held << base | (t & low_bits(base));
}

static __device__ __forceinline__ window window_of(const cuzk_transform_args &a, int number)
{
    uint32_t below = bits_below(a);
    uint32_t row_base = below == 0 ? 0 : LG_TILE - a.n_layers;
    int highest = (int)(row_base + a.n_layers) - 1 - 3 * number,
        left = (int)a.n_layers - 3 * number;
    window w;
    w.base = highest >= 2 ? (uint32_t)highest - 2 : 0;
    w.top = highest - (int)w.base;
    w.count = left < 3 ? left : 3;
    w.shift = w.base + below - row_base; /* of columns it is negative; added up it is right */
    w.lg_blocks = a.first_layer + 3 * (uint32_t)number;
    return w;
}

/* What bit b of a position adds to index_of: its bits go their ways one by one. */
static __device__ __forceinline__ uint32_t index_of_bit(const cuzk_transform_args &a, uint32_t b)
{
    uint32_t below = bits_below(a), lg_columns = LG_TILE - a.n_layers;
    if (below == 0) {
        return 1u << b;
    }
    return 1u << (b >= lg_columns ? b - lg_columns + below : b < below ? b : b + a.n_layers);
}

/* Where the eight elements of a window stand. */
typedef struct {
    uint32_t first;     /* index of the first */
    uint32_t stride[3]; /* what bits of the number of another one add to that */
} places;

static __device__ __forceinline__ places places_of(const cuzk_transform_args &a, uint32_t base)
{
    places p = {index_of(a, position_of(base, 0)),
                {index_of_bit(a, base), index_of_bit(a, base + 1), index_of_bit(a, base + 2)}};
    return p;
}

/* The index of element i of a window. (One by one, inverse transforms are a little faster.) */
template <bool INVERSE>
static __device__ __forceinline__ uint32_t place(const cuzk_transform_args &a, const places &p,
                                                 uint32_t base, uint32_t i)
{
    if (INVERSE) {
        return index_of(a, position_of(base, i));
    }
    return p.first + (i & 1) * p.stride[0] + (i >> 1 & 1) * p.stride[1] + (i >> 2) * p.stride[2];
}

/* Whether there is an element of that index: small transforms do not fill a tile. */
static __device__ __forceinline__ bool exists(const cuzk_transform_args &a, uint32_t index)
{
    return a.lg_n >= LG_TILE || index >> a.lg_n == 0;
}

/* Of two positions without common bits the slots add up. */
static __device__ __forceinline__ uint32_t slot(uint32_t e)
{
    return e + (e >> 3);
}

/* Wait for those with whom this thread exchanges: in windows from bit 5 down the upper three bits
 * of e are the warp. */
static __device__ __forceinline__ void meet(bool in_warp)
{
    if (in_warp) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

/* The elements of window bits `from` become those of window bits `to`: the lower halves through
 * shared memory, then the upper ones. */
template <bool INVERSE>
static __device__ __forceinline__ void exchange(fr *v, half_element *shared, uint32_t from,
                                                uint32_t to)
{
    bool in_warp = from <= 5 && to <= 5;
    half_element *out = shared + slot(position_of(from, 0)),
                 *in = shared + slot(position_of(to, 0));
#pragma unroll
    for (int part = 0; part < 4; part += 2) {
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            half_element h = {v[i].l[part], v[i].l[part + 1]};
            (INVERSE ? shared + slot(position_of(from, i)) : out + slot(i << from))[0] = h;
        }
        meet(in_warp);
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            half_element h = *(INVERSE ? shared + slot(position_of(to, i)) : in + slot(i << to));
            v[i].l[part] = h.low;
            v[i].l[part + 1] = h.high;
        }
        meet(in_warp);
    }
}

static __device__ __forceinline__ void read_element(fr *o, const void *array, uint32_t i)
{
    cuzk_read_words(o->l, (const fr *)array + i, FR_LIMBS);
}

/* Have element i on its way to the cache. */
static __device__ __forceinline__ void expect_element(const void *array, uint32_t i)
{
#if defined(CUZK_EMULATED_DEVICE)
    (void)array;
    (void)i;
#else
    asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global((const fr *)array + i)));
#endif
}

/* o = o times element i of right / 2^halvings. */
static __device__ __forceinline__ void multiply_by(fr *o, const cuzk_transform_args &a, uint32_t i)
{
    fr right;
    read_element(&right, a.right, i);
    fr_mul(o, o, &right);
    if (a.halvings != 0) {
        fr_halve(o, o, a.halvings);
    }
}

template <bool INVERSE, bool FUSED>
static __device__ __forceinline__ void load(const cuzk_transform_args &a, fr *v, uint32_t base)
{
    bool is_product = FUSED && INVERSE && a.right != NULL && bits_below(a) == 0;
    const void *from = is_product ? a.left : a.values;
    places p = places_of(a, base);
    uint32_t index[HELD];
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        index[i] = place<INVERSE>(a, p, base, i);
        index[i] = exists(a, index[i]) ? index[i] : 0;
        if (is_product) {
            expect_element(a.right, index[i]);
        }
        read_element(&v[i], from, index[i]);
    }
    if (is_product) {
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            multiply_by(&v[i], a, index[i]);
        }
    }
}

/* Between passes values stay as they are: wide, of an inverse transform loose. */
template <bool INVERSE, bool FUSED>
static __device__ __forceinline__ void store(const cuzk_transform_args &a, fr *v, uint32_t base)
{
    bool is_last = INVERSE ? a.first_layer == 0 : bits_below(a) == 0;
    bool is_product = FUSED && !INVERSE && is_last && a.right != NULL;
    bool is_difference = FUSED && INVERSE && is_last && a.minuend != NULL;
    fr *to = (fr *)(is_product ? a.left : a.values);
    places p = places_of(a, base);
    if (is_product || is_difference) {
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            uint32_t index =
                exists(a, place<INVERSE>(a, p, base, i)) ? place<INVERSE>(a, p, base, i) : 0;
            expect_element(INVERSE ? a.minuend : a.left, index);
            if (!INVERSE) {
                expect_element(a.right, index);
            }
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        uint32_t index = place<INVERSE>(a, p, base, i);
        bool is_there = exists(a, index);
        if (is_product || is_difference) {
            fr other;
            read_element(&other, INVERSE ? a.minuend : a.left, is_there ? index : 0);
            if (!INVERSE) {
                multiply_by(&other, a, is_there ? index : 0);
                fr_loosen_wide(&v[i], &v[i]);
            }
            fr_reduce_loose(&v[i], &v[i]);
            fr_sub(&v[i], &other, &v[i]);
        }
        if (FUSED && a.is_scaled != 0) {
            fr_mul_factor(&v[i], &v[i], (const fr_factor *)a.scale);
        }
        if (is_last) {
            if (!INVERSE) {
                fr_loosen_wide(&v[i], &v[i]);
            }
            fr_reduce_loose(&v[i], &v[i]);
        }
        if (is_there) {
            cuzk_write_words(to + index, v[i].l, FR_LIMBS);
        }
    }
}

static __device__ __forceinline__ void read_factor(fr_factor *f, const void *table, uint32_t entry)
{
    cuzk_read_words((uint64_t *)f, (const fr_factor *)table + entry, 2 * FR_LIMBS);
}

/* Four butterflies over register bit T: the splits of one layer. index: of the thread's position
 * with register bits zero. SHORT: the table has only the entries below 2^lg_factors; the others are
 * products of one of them and one of the second table. */
template <int T, bool INVERSE, bool SHORT, bool ONES>
static __device__ __forceinline__ void split(const cuzk_transform_args &a, const window &w, fr *v,
                                             uint32_t index)
{
    if (T > w.top || T <= w.top - w.count) {
        return;
    }
    uint32_t layer = w.lg_blocks + (uint32_t)(w.top - T);
    bool has_second = SHORT && layer + a.is_shifted > a.lg_factors;
#pragma unroll
    for (uint32_t high = 0; high < (4u >> T); high++) {
        if (ONES && T > 0 && high == 0) {
#pragma unroll
            for (uint32_t low = 0; low < (1u << T); low++) {
                fr *p = &v[low], *q = p + (1 << T);
                fr t = *q;
                fr_sub_wide(q, p, &t);
                if (INVERSE) {
                    fr_add_loose(p, p, &t);
                } else {
                    fr_add_wide(p, p, &t);
                }
            }
            continue;
        }
        /* the register bits above T are the lowest of the block's number; columns that do not exist
         * have numbers that are too large */
        uint32_t entry = (index >> (w.shift + T + 1) | high) & low_bits(layer);
        entry += a.is_shifted << layer;
        if (INVERSE) {
            entry = entry == 0 ? a.minus_one : entry ^ (0x7fffffffu >> __clz((int)entry));
        }
        bool is_minus_one = SHORT && entry == a.minus_one; /* it stands behind the first table */
        uint32_t first = is_minus_one ? 1u << a.lg_factors : entry & low_bits(a.lg_factors);
        fr_factor f, second;
        read_factor(&f, a.factors, SHORT ? first : entry);
        if (has_second) {
            read_factor(&second, a.second, is_minus_one ? 0 : entry >> a.lg_factors);
        }
#pragma unroll
        for (uint32_t low = 0; low < (1u << T); low++) {
            fr *p = &v[high << (T + 1) | low], *q = p + (1 << T);
            fr t;
            if (INVERSE) {
                fr_sub_wide(&t, q, p);
                fr_add_loose(p, p, q);
                fr_mul_factor(q, &t, &f);
                if (has_second) {
                    fr_mul_factor(q, q, &second);
                }
            } else {
                fr_mul_factor(&t, q, &f);
                if (has_second) {
                    fr_mul_factor(&t, &t, &second);
                }
                fr_sub_wide(q, p, &t);
                fr_add_wide(p, p, &t);
            }
        }
    }
}

static __device__ __forceinline__ int window_count(const cuzk_transform_args &a)
{
    return ((int)a.n_layers + 2) / 3;
}

/* Window bits in which a run of memory is read or written by neighbouring threads. */
static __device__ __forceinline__ uint32_t memory_base(const cuzk_transform_args &a, uint32_t base)
{
    return bits_below(a) == 0 && base < 5 ? 5 : base;
}

/* Exchange so that a thread holds the window that begins at bit `to`. */
template <bool INVERSE>
static __device__ __forceinline__ void hold(fr *v, half_element *shared, uint32_t *base,
                                            uint32_t to)
{
    if (to != *base) {
        exchange<INVERSE>(v, shared, *base, to);
        *base = to;
    }
}

/* The splits of a window. ONES: of the first layers modulo X^n - 1. */
template <bool SHORT, bool ONES>
static __device__ __forceinline__ void
split_window(const cuzk_transform_args &a, fr *v, half_element *shared, uint32_t *base, int number)
{
    window w = window_of(a, number);
    hold<false>(v, shared, base, w.base);
    uint32_t index = index_of(a, position_of(w.base, 0));
    split<2, false, SHORT, ONES>(a, w, v, index);
    split<1, false, SHORT, ONES>(a, w, v, index);
    split<0, false, SHORT, ONES>(a, w, v, index);
}

/* The same back. */
template <bool SHORT, bool ONES>
static __device__ __forceinline__ void join_window(const cuzk_transform_args &a, fr *v,
                                                   half_element *shared, uint32_t *base, int number)
{
    window w = window_of(a, number);
    hold<true>(v, shared, base, w.base);
    uint32_t index = index_of(a, position_of(w.base, 0));
    split<0, true, SHORT, ONES>(a, w, v, index);
    split<1, true, SHORT, ONES>(a, w, v, index);
    split<2, true, SHORT, ONES>(a, w, v, index);
}

/* All windows of a pass. ONES: the first one by code of its own where it has factors 1. */
template <bool SHORT, bool ONES>
static __device__ __forceinline__ void split_windows(const cuzk_transform_args &a, fr *v,
                                                     half_element *shared, uint32_t *base)
{
    int number = 0;
    if (ONES && a.first_layer + a.is_shifted == 0) {
        split_window<SHORT, true>(a, v, shared, base, number++);
    }
#pragma unroll 1
    for (; number < window_count(a); number++) {
        split_window<SHORT, false>(a, v, shared, base, number);
    }
}

template <bool SHORT, bool ONES>
static __device__ __forceinline__ void join_windows(const cuzk_transform_args &a, fr *v,
                                                    half_element *shared, uint32_t *base)
{
    int to = ONES && a.first_layer + a.is_shifted == 0 ? 1 : 0;
#pragma unroll 1
    for (int number = window_count(a) - 1; number >= to; number--) {
        join_window<SHORT, false>(a, v, shared, base, number);
    }
    if (to != 0) {
        join_window<SHORT, true>(a, v, shared, base, 0);
    }
}

template <bool SHORT, bool FUSED>
static __device__ __forceinline__ void run_forward(const cuzk_transform_args &a)
{
    __shared__ half_element shared[HALVES];
    fr v[HELD];
    uint32_t base = memory_base(a, window_of(a, 0).base);
    load<false, FUSED>(a, v, base);
    split_windows<SHORT, !FUSED>(a, v, shared, &base);
    hold<false>(v, shared, &base, memory_base(a, base));
    store<false, FUSED>(a, v, base);
}

/* The window that an inverse pass begins with. */
static __device__ __forceinline__ uint32_t last_base(const cuzk_transform_args &a)
{
    int count = window_count(a);
    return memory_base(a, count == 0 ? 0 : window_of(a, count - 1).base);
}

template <bool SHORT, bool FUSED>
static __device__ __forceinline__ void run_inverse(const cuzk_transform_args &a)
{
    __shared__ half_element shared[HALVES];
    fr v[HELD];
    uint32_t base = last_base(a);
    load<true, FUSED>(a, v, base);
    join_windows<SHORT, !FUSED>(a, v, shared, &base);
    hold<true>(v, shared, &base, memory_base(a, base));
    store<true, FUSED>(a, v, base);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS) transform_forward(cuzk_transform_args a)
{
    run_forward<false, false>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS) transform_inverse(cuzk_transform_args a)
{
    run_inverse<false, false>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS)
    transform_forward_fused(cuzk_transform_args a)
{
    run_forward<false, true>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS)
    transform_inverse_fused(cuzk_transform_args a)
{
    run_inverse<false, true>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS)
    transform_forward_short(cuzk_transform_args a)
{
    run_forward<true, true>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS)
    transform_inverse_short(cuzk_transform_args a)
{
    run_inverse<true, true>(a);
}

/* The last pass of an inverse transform modulo X^n - 1 and the first one of a forward transform
 * modulo X^n + 1. */
CUZK_KERNEL __launch_bounds__(CUZK_TRANSFORM_BLOCK, BLOCKS) transform_turn(cuzk_transform_args a)
{
    __shared__ half_element shared[HALVES];
    fr v[HELD];
    uint32_t base = last_base(a);
    load<true, false>(a, v, base);
    join_windows<false, true>(a, v, shared, &base);
    a.is_shifted = 1;
    split_windows<false, false>(a, v, shared, &base);
    hold<false>(v, shared, &base, memory_base(a, base));
    store<false, false>(a, v, base);
}

CUZK_KERNEL __launch_bounds__(CUZK_POINTWISE_BLOCK) transform_factors(cuzk_factors_args a)
{
    uint32_t t = blockIdx.x * CUZK_POINTWISE_BLOCK + threadIdx.x;
    if (t >= a.n / 8) {
        return;
    }
    fr base;
    fr_set_one(&base);
#pragma unroll 1
    for (uint32_t i = 3; a.n >> i > 1; i++) {
        if ((t >> (i - 3) & 1) != 0) {
            fr_mul(&base, &base, (const fr *)a.roots[i]);
        }
    }
    fr_factor f;
#pragma unroll 1
    for (uint32_t k = 0; k < 8; k++) {
        fr entry = base;
#pragma unroll 1
        for (uint32_t i = 0; i < 3; i++) {
            if ((k >> i & 1) != 0) {
                fr_mul(&entry, &entry, (const fr *)a.roots[i]);
            }
        }
        fr_factor_from(&f, &entry);
        cuzk_write_words((fr_factor *)a.factors + 8 * (size_t)t + k, (const uint64_t *)&f,
                         2 * FR_LIMBS);
    }
    if (t == 0) {
        fr minus_one;
        fr_set_one(&minus_one);
        fr_neg(&minus_one, &minus_one);
        fr_factor_from(&f, &minus_one);
        cuzk_write_words((fr_factor *)a.factors + a.n, (const uint64_t *)&f, 2 * FR_LIMBS);
    }
}

CUZK_KERNEL __launch_bounds__(CUZK_POINTWISE_BLOCK) fr_permute(cuzk_permute_args p)
{
    uint32_t i = blockIdx.x * CUZK_POINTWISE_BLOCK + threadIdx.x;
    uint32_t j = p.lg_n == 0 ? 0 : __brev(i) >> (32 - p.lg_n);
    if (i < p.n && i < j) {
        fr a, b;
        read_element(&a, p.o, i);
        read_element(&b, p.o, j);
        cuzk_write_words((fr *)p.o + i, b.l, FR_LIMBS);
        cuzk_write_words((fr *)p.o + j, a.l, FR_LIMBS);
    }
}
