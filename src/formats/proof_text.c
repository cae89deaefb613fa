/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/proof_text.h"

#include "formats/json_pull.h"

#include <stdlib.h>
#include <string.h>

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char hex_digits[] = "0123456789abcdef";

void cuzk_text_put_hex(cuzk_text *text, const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        char digits[2] = {hex_digits[data[i] >> 4], hex_digits[data[i] & 15]};
        cuzk_text_put_bytes(text, digits, sizeof digits);
    }
}

void cuzk_text_put_base64(cuzk_text *text, const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 3) {
        size_t n = n_bytes - i < 3 ? n_bytes - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < n; k++) {
            bits |= (uint32_t)data[i + k] << (16 - 8 * k);
        }
        char digits[4];
        for (size_t k = 0; k < 4; k++) {
            digits[k] = (char)(k <= n ? base64_digits[bits >> (18 - 6 * k) & 63] : '=');
        }
        cuzk_text_put_bytes(text, digits, sizeof digits);
    }
}

static int hex_value(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int base64_value(uint8_t c)
{
    const char *place = c != 0 ? strchr(base64_digits, c) : NULL;
    return place != NULL ? (int)(place - base64_digits) : -1;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Points are as good as random: 192 bytes of them hold some that no text has. */
static bool is_text(const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (!is_space(data[i]) && (data[i] < ' ' || data[i] > '~')) {
            return false;
        }
    }
    return true;
}

static cuzk_status decode_hex(uint8_t *out, size_t *n_out, const uint8_t *text, size_t n,
                              cuzk_error *err)
{
    CUZK_FAIL_IF(n % 2 != 0, err, CUZK_E_TRUNCATED, "an odd number of hexadecimal digits: %zu", n);
    for (size_t i = 0; i < n / 2; i++) {
        out[i] = (uint8_t)(hex_value(text[2 * i]) << 4 | hex_value(text[2 * i + 1]));
    }
    *n_out = n / 2;
    return CUZK_OK;
}

/* offset: of text in the input, for messages. */
static cuzk_status decode_base64(uint8_t *out, size_t *n_out, const uint8_t *text, size_t n,
                                 uint64_t offset, cuzk_error *err)
{
    CUZK_FAIL_IF(n % 4 != 0, err, CUZK_E_TRUNCATED,
                 "%zu characters of base64, expected a multiple of 4", n);
    size_t padding = n > 0 && text[n - 1] == '=' ? (text[n - 2] == '=' ? 2 : 1) : 0;
    size_t n_done = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            int v = i + k >= n - padding ? 0 : base64_value(text[i + k]);
            CUZK_FAIL_IF(v < 0, err, CUZK_E_FORMAT,
                         "offset %llu: byte 0x%02x is neither hexadecimal nor base64",
                         (unsigned long long)(offset + i + k), text[i + k]);
            bits = bits << 6 | (uint32_t)v;
        }
        for (size_t k = 0; k < 3 && n_done < n / 4 * 3 - padding; k++) {
            out[n_done++] = (uint8_t)(bits >> (16 - 8 * k));
        }
        CUZK_FAIL_IF(i + 4 == n && padding > 0 && (bits & ((1u << 8 * padding) - 1)) != 0, err,
                     CUZK_E_FORMAT, "the last character of base64 has bits beyond the last byte");
    }
    *n_out = n_done;
    return CUZK_OK;
}

static cuzk_status decode_text(uint8_t *out, size_t *n_out, const uint8_t *text, size_t n,
                               uint64_t offset, cuzk_error *err)
{
    bool is_hex = n > 0;
    for (size_t i = 0; i < n && is_hex; i++) {
        is_hex = hex_value(text[i]) >= 0;
    }
    return is_hex ? decode_hex(out, n_out, text, n, err)
                  : decode_base64(out, n_out, text, n, offset, err);
}

/* The member "proof" of the object behind `json`. */
static cuzk_status decode_member(uint8_t *out, size_t *n_out, cuzk_json *json, cuzk_error *err)
{
    bool found = false;
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(json, &token, err));
    for (;;) {
        CUZK_TRY(cuzk_json_next(json, &token, err));
        if (token.kind == CUZK_JSON_OBJECT_END) {
            break;
        }
        char key[8] = "";
        bool is_proof = cuzk_json_text(&token, key, sizeof key) > 0 && strcmp(key, "proof") == 0;
        CUZK_TRY(cuzk_json_next(json, &token, err));
        if (!is_proof) {
            CUZK_TRY(cuzk_json_skip(json, &token, err));
            continue;
        }
        if (found || token.kind != CUZK_JSON_STRING) {
            return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                                  found ? "\"proof\" is there twice" : "\"proof\" is not a string");
        }
        found = true;
        CUZK_TRY(decode_text(out, n_out, (const uint8_t *)token.text, (size_t)token.size,
                             token.offset + 1, err));
    }
    CUZK_TRY(cuzk_json_next(json, &token, err)); /* nothing behind the object */
    CUZK_FAIL_IF(!found, err, CUZK_E_FORMAT, "the object has no member \"proof\"");
    return CUZK_OK;
}

cuzk_status cuzk_proof_text_read(uint8_t **out, size_t *n_out, const uint8_t *data, size_t n_bytes,
                                 cuzk_error *err)
{
    uint8_t *bytes = malloc(n_bytes + 1); /* no form is shorter than its bytes */
    CUZK_FAIL_IF(bytes == NULL, err, CUZK_E_MEMORY, "reading a proof: out of memory");
    size_t first = 0;
    size_t end = n_bytes;
    cuzk_status status = CUZK_OK;
    bool text = is_text(data, n_bytes);
    while (text && first < end && is_space(data[first])) {
        first++;
    }
    while (text && end > first && is_space(data[end - 1])) {
        end--;
    }
    if (text && first < end && data[first] == '{') {
        cuzk_json json;
        cuzk_json_init(&json, data, n_bytes);
        status = decode_member(bytes, n_out, &json, err);
        cuzk_json_clear(&json);
    } else if (text) {
        status = decode_text(bytes, n_out, data + first, end - first, first, err);
    } else {
        memcpy(bytes, data + first, end - first);
        *n_out = end - first;
    }
    if (status != CUZK_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    return CUZK_OK;
}
