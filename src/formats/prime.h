/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The length-prefixed prime at the head of .zkey, .wtns and .r1cs files: u32 n8, n8 bytes
 * little-endian. The scalar field's prime says which curve a file belongs to. */
#ifndef CUZK_FORMATS_PRIME_H
#define CUZK_FORMATS_PRIME_H

#include "curve/curve.h"
#include "formats/sections.h"

enum { CUZK_PRIME_BYTES_MAX = 64, CUZK_PRIME_HEX_MAX = 2 + 2 * CUZK_PRIME_BYTES_MAX + 1 };

/** Take a prime from the front of *rest. *out: its bytes, 1 … CUZK_PRIME_BYTES_MAX of them.
 *  what: section name for messages. Errors: E_FORMAT. */
cuzk_status cuzk_prime_read(cuzk_span *out, cuzk_span *rest, const char *what,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** The curve whose scalar field has that prime. Errors: E_UNSUPPORTED, naming the prime, when there
 *  is none; E_FORMAT when the value is stored with another length than 32 bytes. */
cuzk_status cuzk_prime_curve(const cuzk_curve **out, cuzk_span prime, const char *what,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** "0x…", big-endian, without leading zeros, into hex (CUZK_PRIME_HEX_MAX characters); at most
 *  CUZK_PRIME_BYTES_MAX bytes. Returns hex. */
const char *cuzk_prime_hex(char *hex, cuzk_span value_le);

#endif
