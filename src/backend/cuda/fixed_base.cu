/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Digits of scalars for a table of one point's multiples, and points packed: fixed_base.h. Built
 * once per curve.
 *
 * Floor: bytes; digits 32 and 4 a window for each scalar, packing twice the point. What costs are
 * the additions between them (point_add.h): 15 a point with windows of 16 bits. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/fixed_base.h"
#include "field/fields.h"

/* Two neighbouring entries as one word. `digits`: theirs, still with 2^(bits-1) added, in its
 * lowest bits; first: of the table, of the first one's window. */
static __device__ __forceinline__ uint64_t two_entries(uint64_t digits, uint32_t bits,
                                                       uint32_t first)
{
    const uint32_t half = 1u << (bits - 1), mask = 2 * half - 1;
    uint64_t entries = 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t digit = (uint32_t)(digits >> i * bits) & mask;
        bool negative = digit < half;
        uint32_t size = negative ? half - digit : digit - half;
        uint32_t entry = (first + (uint32_t)i * (half + 1) + size) << 1 | (negative ? 1 : 0);
        entries |= (uint64_t)entry << 32 * i;
    }
    return entries;
}

CUZK_KERNEL __launch_bounds__(CUZK_FIXED_BLOCK) fixed_digits(cuzk_fixed_digits_args a)
{
    uint32_t i = blockIdx.x * CUZK_FIXED_BLOCK + threadIdx.x;
    if (i >= a.n) {
        return;
    }
    fr scalar;
    uint64_t k[FR_LIMBS], carry = 0, halves = 0;
    cuzk_read_words(scalar.l, a.scalars + FR_LIMBS * (size_t)i, FR_LIMBS);
    fr_to_canonical(k, &scalar);
    for (uint32_t at = a.bits - 1; at < 64; at += a.bits) {
        halves |= UINT64_C(1) << at;
    }
    /* with half added to every digit there is no borrow between them; below 2^256, since the order
     * is below 2^255 and the highest words' sum below 2^64 */
#pragma unroll
    for (int j = 0; j < FR_LIMBS; j++) {
        uint64_t sum = k[j] + carry;
        carry = sum < carry;
        k[j] = sum + halves;
        carry += k[j] < sum;
    }
    const uint32_t n_windows = 256 / a.bits, each = (1u << (a.bits - 1)) + 1;
    uint32_t *list = a.list + (size_t)i * n_windows;
    uint32_t window = 0;
#pragma unroll
    for (int j = 0; j < FR_LIMBS; j++) {
        uint64_t digits = k[j];
#pragma unroll 1
        for (uint32_t done = 0; done < 64; done += 4 * a.bits, window += 4) {
            uint64_t entries[2];
            entries[0] = two_entries(digits, a.bits, window * each);
            entries[1] = two_entries(digits >> 2 * a.bits, a.bits, (window + 2) * each);
            cuzk_write_words(list + window, entries, 2);
            digits = a.bits == 16 ? 0 : digits >> 4 * a.bits;
        }
    }
}

template <class T> static __device__ __forceinline__ void pack(const cuzk_pack_args &a)
{
    uint32_t i = blockIdx.x * CUZK_FIXED_BLOCK + threadIdx.x;
    if (i >= a.n) {
        return;
    }
    T x, y;
    T *point = (T *)a.points + 2 * (size_t)i;
    cuzk_read_words((uint64_t *)&x, (const T *)a.x + i, sizeof(T) / 8);
    cuzk_read_words((uint64_t *)&y, (const T *)a.y + i, sizeof(T) / 8);
    cuzk_write_words(point, (const uint64_t *)&x, sizeof(T) / 8);
    cuzk_write_words(point + 1, (const uint64_t *)&y, sizeof(T) / 8);
}

CUZK_KERNEL __launch_bounds__(CUZK_FIXED_BLOCK) g1_points_pack(cuzk_pack_args a)
{
    pack<fp>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_FIXED_BLOCK) g2_points_pack(cuzk_pack_args a)
{
    pack<fp2>(a);
}
