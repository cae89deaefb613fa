/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/encode_out.h"

#include "base/bytes.h"

#include <errno.h>
#include <inttypes.h>

static void flush_base64(cuzk_encode_out *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[CUZK_ENCODE_BUFFER_BYTES / 3 * 4];
    size_t n = 0;
    for (size_t i = 0; i < out->n; i += 3) {
        size_t have = out->n - i < 3 ? out->n - i : 3;
        uint32_t bits = (uint32_t)out->buffer[i] << 16;
        bits |= have > 1 ? (uint32_t)out->buffer[i + 1] << 8 : 0;
        bits |= have > 2 ? out->buffer[i + 2] : 0;
        for (size_t k = 0; k < 4; k++) {
            text[n++] = k <= have ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
        }
    }
    out->failed = out->failed || fwrite(text, 1, n, out->file) != n;
    out->n = 0;
}

static void flush(cuzk_encode_out *out)
{
    if (out->base64) {
        flush_base64(out);
        return;
    }
    out->failed = out->failed || fwrite(out->buffer, 1, out->n, out->file) != out->n;
    out->n = 0;
}

void cuzk_encode_put(cuzk_encode_out *out, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    while (n_bytes > 0) {
        size_t room = sizeof out->buffer - out->n;
        size_t n = n_bytes < room ? n_bytes : room;
        memcpy(out->buffer + out->n, p, n);
        out->n += n;
        p += n;
        n_bytes -= n;
        if (out->n == sizeof out->buffer) {
            flush(out);
        }
    }
}

void cuzk_encode_text(cuzk_encode_out *out, const char *s)
{
    cuzk_encode_put(out, s, strlen(s));
}

void cuzk_encode_decimal(cuzk_encode_out *out, uint64_t value)
{
    char text[24];
    char *p = text + sizeof text;
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    cuzk_encode_put(out, p, (size_t)(text + sizeof text - p));
}

void cuzk_encode_u32(cuzk_encode_out *out, uint32_t value)
{
    uint8_t bytes[4];
    cuzk_store_u32_le(bytes, value);
    cuzk_encode_put(out, bytes, sizeof bytes);
}

void cuzk_encode_u64(cuzk_encode_out *out, uint64_t value)
{
    uint8_t bytes[8];
    cuzk_store_u64_le(bytes, value);
    cuzk_encode_put(out, bytes, sizeof bytes);
}

void cuzk_encode_base64(cuzk_encode_out *out, bool on)
{
    flush(out);
    out->base64 = on;
}

cuzk_status cuzk_encode_finish(cuzk_encode_out *out, cuzk_error *err)
{
    flush(out);
    bool failed = out->failed || ferror(out->file);
    CUZK_FAIL_IF(failed, err, CUZK_E_FILE, "cannot write: %s",
                 errno != 0 ? strerror(errno) : "unknown error");
    return CUZK_OK;
}
