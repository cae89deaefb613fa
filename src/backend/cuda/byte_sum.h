/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A checksum of device memory: does a copy hold what the original holds?
 *
 * Thread t of T takes the words t, t + T, t + 2T, … and mixes each into what it has,
 *     h = (h ^ word) · K;  h ^= h >> 29
 * modulo 2^64, from h = t. Each step is one to one in h and in the word, so that a single wrong
 * word of a thread always shows; others are missed once in 2^64. No defence against malice. The
 * host folds the T values in the same way. */
#ifndef CUZK_BACKEND_CUDA_BYTE_SUM_H
#define CUZK_BACKEND_CUDA_BYTE_SUM_H

#include <stdint.h>

enum {
    CUZK_BYTE_SUM_BLOCK = 256,
    CUZK_BYTE_SUM_BLOCKS = 256, /* two a multiprocessor on the largest cards: memory is the limit */
    CUZK_BYTE_SUM_THREADS = CUZK_BYTE_SUM_BLOCK * CUZK_BYTE_SUM_BLOCKS
};

#define CUZK_BYTE_SUM_MIX UINT64_C(0x9e3779b97f4a7c15)

typedef struct {
    const uint64_t *words;
    uint64_t *sums; /* CUZK_BYTE_SUM_THREADS */
    uint64_t n_words;
} cuzk_byte_sum_args;

#endif
