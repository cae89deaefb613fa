/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counting sort of the digits of a window by bucket, in one pass over all buckets.
 *
 * Measured on a Zen 4 core with 1 MiB of second-level cache, ns a digit: 2.2 for 2^16 digits, 2.6
 * for 2^18, 4.1 for 2^20, 5.8 for 2^22. A sort in two passes (by the high bits of the bucket, then
 * by the low 8) took 3.9, 3.9, 5.9 and 5.5. */
#include "msm/msm_internal.h"

#include <string.h>

/* |digit| without a branch: the sign is random. */
static uint32_t magnitude(int digit)
{
    int sign = digit >> 31;
    return (uint32_t)((digit ^ sign) - sign);
}

void cuzk_msm_sort_window(const int16_t *digits, const uint32_t *index, size_t n, size_t n_buckets,
                          uint32_t *entries, uint32_t *ends, uint32_t start)
{
    memset(ends + 1, 0, n_buckets * sizeof *ends);
    for (size_t i = 0; i < n; i++) {
        if (digits[i] != 0) {
            ends[magnitude(digits[i])]++;
        }
    }
    for (size_t b = 1; b <= n_buckets; b++) {
        uint32_t count = ends[b];
        ends[b] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++) {
        if (digits[i] != 0) {
            uint32_t base = index != NULL ? index[i] : (uint32_t)i;
            entries[ends[magnitude(digits[i])]++] = base << 1 | (digits[i] < 0);
        }
    }
}
