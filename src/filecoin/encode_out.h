/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes to a file, plain or in base64, a buffer at a time. A failed write is remembered and
 * reported once, at the end. */
#ifndef CUZK_FILECOIN_ENCODE_OUT_H
#define CUZK_FILECOIN_ENCODE_OUT_H

#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

enum { CUZK_ENCODE_BUFFER_BYTES = 3 << 13 }; /* a multiple of 3: base64 groups stay whole */

/* Set `file`, the rest zero, to start. */
typedef struct {
    FILE *file;
    bool base64; /* what is put now is encoded */
    bool failed;
    size_t n;
    uint8_t buffer[CUZK_ENCODE_BUFFER_BYTES];
} cuzk_encode_out;

/** Append n_bytes. */
void cuzk_encode_put(cuzk_encode_out *out, const void *data, size_t n_bytes);

/** Append a string. */
void cuzk_encode_text(cuzk_encode_out *out, const char *s);

/** Append a number in decimal. */
void cuzk_encode_decimal(cuzk_encode_out *out, uint64_t value);

/** Append a number as little-endian bytes, 4 or 8. */
void cuzk_encode_u32(cuzk_encode_out *out, uint32_t value);
void cuzk_encode_u64(cuzk_encode_out *out, uint64_t value);

/** Encode what follows, up to the next call with false, which ends the group with its padding. */
void cuzk_encode_base64(cuzk_encode_out *out, bool on);

/** Write what is buffered. Errors: E_FILE when anything was not written. */
cuzk_status cuzk_encode_finish(cuzk_encode_out *out, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
