/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel of byte_sum.h. No field is in it: one build serves all keys.
 *
 * Floor: bytes, each read once, neighbours by neighbours. */
#include "backend/cuda/byte_sum.h"
#include "backend/cuda/device_words.cuh"

CUZK_KERNEL __launch_bounds__(CUZK_BYTE_SUM_BLOCK) byte_sum(cuzk_byte_sum_args a)
{
    uint64_t t = (uint64_t)blockIdx.x * CUZK_BYTE_SUM_BLOCK + threadIdx.x, h = t;
    for (uint64_t i = t; i < a.n_words; i += CUZK_BYTE_SUM_THREADS) {
        h = (h ^ a.words[i]) * CUZK_BYTE_SUM_MIX;
        h ^= h >> 29;
    }
    a.sums[t] = h;
}
