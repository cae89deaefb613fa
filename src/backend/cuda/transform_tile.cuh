/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tiles of a transform's pass: which elements a block and a thread hold, and how they move between
 * windows. transform.h says what a pass is.
 *
 * Position e of a tile has LG bits. Where the pass is not the last one, the upper n_layers bits of
 * e are the row (the bits of the index that the pass splits) and the lower ones the column, so that
 * neighbouring threads touch neighbouring elements; in the last pass the tile is a run of memory
 * and the row is the lower bits. A thread holds the eight positions of a window: three bits of e
 * beginning at bit `base`. */
#ifndef CUZK_BACKEND_CUDA_TRANSFORM_TILE_CUH
#define CUZK_BACKEND_CUDA_TRANSFORM_TILE_CUH

#include "backend/cuda/device_words.cuh"
#include "backend/cuda/transform.h"
#include "field/fields.h"

enum { HELD = 1 << CUZK_TRANSFORM_LG_HELD };

/* Slots of shared memory for a tile's exchanges: one in eight is padding against bank conflicts. */
#define HALVES(lg_tile) ((1 << (lg_tile)) + (1 << (lg_tile)) / 8)

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
template <int LG>
static __device__ __forceinline__ uint32_t index_of(const cuzk_transform_args &a, uint32_t e)
{
    uint32_t below = bits_below(a), lg_columns = LG - a.n_layers;
    if (below == 0) {
        return blockIdx.x << LG | e;
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

template <int LG>
static __device__ __forceinline__ window window_of(const cuzk_transform_args &a, int number)
{
    uint32_t below = bits_below(a);
    uint32_t row_base = below == 0 ? 0 : LG - a.n_layers;
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
template <int LG>
static __device__ __forceinline__ uint32_t index_of_bit(const cuzk_transform_args &a, uint32_t b)
{
    uint32_t below = bits_below(a), lg_columns = LG - a.n_layers;
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

template <int LG>
static __device__ __forceinline__ places places_of(const cuzk_transform_args &a, uint32_t base)
{
    places p = {
        index_of<LG>(a, position_of(base, 0)),
        {index_of_bit<LG>(a, base), index_of_bit<LG>(a, base + 1), index_of_bit<LG>(a, base + 2)}};
    return p;
}

/* The index of element i of a window. (One by one, inverse transforms are a little faster.) */
template <int LG, bool INVERSE>
static __device__ __forceinline__ uint32_t place(const cuzk_transform_args &a, const places &p,
                                                 uint32_t base, uint32_t i)
{
    if (INVERSE) {
        return index_of<LG>(a, position_of(base, i));
    }
    return p.first + (i & 1) * p.stride[0] + (i >> 1 & 1) * p.stride[1] + (i >> 2) * p.stride[2];
}

/* Whether there is an element of that index: small transforms do not fill a tile. */
template <int LG>
static __device__ __forceinline__ bool exists(const cuzk_transform_args &a, uint32_t index)
{
    return a.lg_n >= LG || index >> a.lg_n == 0;
}

/* Of two positions without common bits the slots add up. */
static __device__ __forceinline__ uint32_t slot(uint32_t e)
{
    return e + (e >> 3);
}

/* Wait for those with whom this thread exchanges: in windows from bit 5 down the bits of e from
 * bit 8 up are the warp. */
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

#endif
