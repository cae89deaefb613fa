/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Repeated division by 10^9, nine digits at a time from the low end. */
#include "base/decimal.h"

#include <string.h>

char *cuzk_decimal_from_le(char *out, const void *value_le, size_t n_bytes)
{
    const uint8_t *p = value_le;
    uint32_t word[CUZK_DECIMAL_BYTES_MAX / 4] = {0};
    for (size_t i = 0; i < n_bytes; i++) {
        word[i / 4] |= (uint32_t)p[i] << (8 * (i % 4));
    }
    size_t n = (n_bytes + 3) / 4;
    char digits[CUZK_DECIMAL_MAX + 9];
    size_t n_digits = 0;
    while (n > 0) {
        if (word[n - 1] == 0) {
            n--;
            continue;
        }
        uint64_t rest = 0;
        for (size_t i = n; i-- > 0;) {
            rest = rest << 32 | word[i];
            word[i] = (uint32_t)(rest / 1000000000);
            rest %= 1000000000;
        }
        for (int i = 0; i < 9; i++, rest /= 10) {
            digits[n_digits++] = (char)('0' + rest % 10);
        }
    }
    while (n_digits > 1 && digits[n_digits - 1] == '0') {
        n_digits--;
    }
    if (n_digits == 0) {
        digits[n_digits++] = '0';
    }
    for (size_t i = 0; i < n_digits; i++) {
        out[i] = digits[n_digits - 1 - i];
    }
    out[n_digits] = '\0';
    return out;
}
