/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Number-theoretic transforms on the device: what kernels and host share.
 *
 * A transform is the remainder tree of docs/ntt.md: block b of layer l is a polynomial modulo
 * X^m - z² with m = n/2^l, split modulo X^(m/2) - z and X^(m/2) + z. z is entry b of one table for
 * X^n - 1 and entry 2^l + b for X^n + 1, whatever n is: entry k is the root of unity that is
 * turn(k) of a full turn, turn(k) = the bits of k reversed behind the point, halved. So a forward
 * transform takes coefficients in natural order to values in bit-reversed order, and the values of
 * X^n + 1, those at odd powers of the 2n-th root, cost no other factor. The inverse goes back layer
 * by layer; the inverse of entry k > 0 is minus entry k with the bits below its highest one
 * flipped.
 *
 * Where memory is short the table ends at 2^lg_factors: turns of bits add up, so entry k is the
 * product of entry k mod 2^lg_factors and of entry ⌊k/2^lg_factors⌋ of a second, tiny table of the
 * roots that belong to the upper bits. Only the last layers take the second multiplication.
 *
 * A pass does up to nine layers in one trip through memory: a block takes a tile of 2^11 or 2^10
 * elements, eight a thread, and splits them three layers at a time in registers, with exchanges
 * through shared memory between. With large tiles a pass that is not the last one touches memory in
 * runs of 128 bytes, with small ones of 64, but fewer warps wait for one another: which kernel has
 * which was measured (docs/performance.md). */
#ifndef CUZK_BACKEND_CUDA_TRANSFORM_H
#define CUZK_BACKEND_CUDA_TRANSFORM_H

#include <stdint.h>

enum {
    CUZK_TRANSFORM_LG_MAX = 28,
    CUZK_TRANSFORM_LG_TILE = 11,       /* elements of a block … */
    CUZK_TRANSFORM_LG_SMALL_TILE = 10, /* … of transform_forward and transform_inverse */
    CUZK_TRANSFORM_LG_HELD = 3,        /* elements of a thread */
    CUZK_TRANSFORM_LAYERS_MAX = 9,
    CUZK_TRANSFORM_FACTOR_BYTES = 64,
    CUZK_POINTWISE_BLOCK = 256
};

/* The argument of the passes: transform_forward_first (the first one modulo X^n - 1),
 * transform_forward, transform_inverse, transform_turn (transform_inverse's last pass and the first
 * one of transform_forward modulo X^n + 1), and the _fused and _short forms. Device addresses,
 * 16-byte aligned. */
typedef struct {
    void *values; /* 2^lg_n elements, reduced before the first pass and after the last; in place */
    const void *factors; /* fr_factor of the table; -1 behind its entries */
    uint64_t scale[8];   /* of the _fused and _short kernels: a factor for every result … */
    uint32_t is_scaled;  /* … where this is not 0 */
    uint32_t lg_n;
    /* The layers first_layer … first_layer + n_layers - 1. If others come before and after them and
     * n_layers is not a multiple of 3, as many come after as the tile has bits beyond n_layers:
     * eight elements of a thread that are not all of one row must be of one block. */
    uint32_t first_layer, n_layers;
    uint32_t is_shifted; /* modulo X^n + 1 instead of X^n - 1 */
    uint32_t minus_one;  /* the number that stands for -1: more than those of all entries */
    uint32_t lg_factors; /* of the _short kernels: entries of the table, -1 behind them … */
    uint32_t halvings;   /* of the products below */
    const void *second;  /* … and the second table, 2^(lg_n - lg_factors) fr_factor */
    /* Of the _fused and _short kernels. Where `right` is not NULL: an inverse transform is one of
     * left∘right / 2^halvings, not of `values`, and a forward one leaves that less its values in
     * `left`. Where `minuend` is not NULL an inverse transform gives that less its values. Both
     * before the scale. */
    void *left;
    const void *right, *minuend;
} cuzk_transform_args;

/* The argument of transform_factors: entries 8·t … 8·t + 7 for thread t. */
typedef struct {
    void *factors;                            /* n fr_factor */
    uint32_t n;                               /* a power of two, at least 8 */
    uint32_t unused;                          /* entry n is made too: -1 */
    uint64_t roots[CUZK_TRANSFORM_LG_MAX][4]; /* entry 2^i of the table, Montgomery form */
} cuzk_factors_args;

/* The argument of fr_permute, one thread an element: o with its bit-reversed indices exchanged. */
typedef struct {
    void *o;
    uint32_t n, lg_n;
} cuzk_permute_args;

#endif
