/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/prime.h"

#include "base/bytes.h"

#include <inttypes.h>

cuzk_status cuzk_prime_read(cuzk_span *out, cuzk_span *rest, const char *what, cuzk_error *err)
{
    CUZK_FAIL_IF(rest->size < 4, err, CUZK_E_FORMAT, "%s: ends before the length of a field prime",
                 what);
    uint32_t n8 = cuzk_load_u32_le(rest->data);
    CUZK_FAIL_IF(n8 == 0 || n8 > CUZK_PRIME_BYTES_MAX || n8 % 8 != 0, err, CUZK_E_FORMAT,
                 "%s: a field prime of %" PRIu32 " bytes, expected a multiple of 8 up to %d", what,
                 n8, CUZK_PRIME_BYTES_MAX);
    CUZK_FAIL_IF(rest->size - 4 < n8, err, CUZK_E_FORMAT,
                 "%s: ends within a field prime of %" PRIu32 " bytes", what, n8);
    *out = (cuzk_span){rest->data + 4, n8};
    *rest = (cuzk_span){rest->data + 4 + n8, rest->size - 4 - n8};
    return CUZK_OK;
}

cuzk_status cuzk_prime_curve(const cuzk_curve **out, cuzk_span prime, const char *what,
                             cuzk_error *err)
{
    *out = cuzk_curve_by_fr_modulus(prime.data, (size_t)prime.size);
    if (*out == NULL) {
        char hex[CUZK_PRIME_HEX_MAX];
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%s: scalar field prime %s is neither bn128's nor bls12381's", what,
                         cuzk_prime_hex(hex, prime));
    }
    CUZK_FAIL_IF(prime.size != 32, err, CUZK_E_FORMAT,
                 "%s: scalar field values of %" PRIu64 " bytes, expected 32", what, prime.size);
    return CUZK_OK;
}

const char *cuzk_prime_hex(char *hex, cuzk_span value_le)
{
    static const char digits[] = "0123456789abcdef";
    char *p = hex;
    *p++ = '0';
    *p++ = 'x';
    bool started = false;
    for (uint64_t i = 2 * value_le.size; i-- > 0;) {
        unsigned nibble = value_le.data[i / 2] >> (4 * (i & 1)) & 15;
        started = started || nibble != 0 || i == 0;
        if (started) {
            *p++ = digits[nibble];
        }
    }
    *p = 0;
    return hex;
}
