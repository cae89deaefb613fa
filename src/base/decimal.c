/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing: repeated division by 10^9, nine digits at a time from the low end. Reading: groups of as
 * many digits as fit a 64-bit word, from the high end. */
#include "base/decimal.h"

#include "base/bytes.h"

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

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* v = v * factor + summand; false when that does not fit n words */
static bool mul_add(uint64_t *v, size_t n, uint64_t factor, uint64_t summand)
{
    uint64_t carry = summand;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 t = (unsigned __int128)v[i] * factor + carry;
        v[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return carry == 0;
}

static bool to_le(void *out, size_t n_bytes, const char *digits, size_t n_digits, unsigned base,
                  size_t group)
{
    uint64_t v[CUZK_DECIMAL_BYTES_MAX / 8] = {0};
    size_t n = n_bytes / 8;
    for (size_t i = 0; i < n_digits;) {
        uint64_t factor = 1;
        uint64_t part = 0;
        for (size_t k = 0; k < group && i < n_digits; k++, i++) {
            int d = digit_value(digits[i]);
            if (d < 0 || (unsigned)d >= base) {
                return false;
            }
            part = part * base + (unsigned)d;
            factor *= base;
        }
        if (!mul_add(v, n, factor, part)) {
            return false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        cuzk_store_u64_le((uint8_t *)out + 8 * i, v[i]);
    }
    return n_digits > 0;
}

bool cuzk_decimal_to_le(void *out, size_t n_bytes, const char *digits, size_t n_digits)
{
    return to_le(out, n_bytes, digits, n_digits, 10, 19);
}

bool cuzk_hex_to_le(void *out, size_t n_bytes, const char *digits, size_t n_digits)
{
    return to_le(out, n_bytes, digits, n_digits, 16, 15);
}
