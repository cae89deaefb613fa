/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Picking single fields out of the small JSON files of the fixtures, by name: enough for files
 * whose key names are unique. A missing field ends the test program with its name. */
#ifndef CUZK_TESTS_JSON_FIELD_H
#define CUZK_TESTS_JSON_FIELD_H

#include "base/decimal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The value of `"name":`, leading spaces and an opening quote skipped. */
static inline const char *json_field(const char *json, const char *name)
{
    char key[80];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(json, key);
    if (p == NULL) {
        fprintf(stderr, "no field \"%s\" in the JSON\n", name);
        abort();
    }
    p += strlen(key);
    return p + strspn(p, " \n\"");
}

static inline uint64_t json_u64(const char *json, const char *name)
{
    return strtoull(json_field(json, name), NULL, 10);
}

/** n_bytes from 2·n_bytes hex digits. */
static inline void json_hex(const char *json, const char *name, uint8_t *out, size_t n_bytes)
{
    const char *p = json_field(json, name);
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned byte;
        if (sscanf(p + 2 * i, "%2x", &byte) != 1) {
            fprintf(stderr, "field \"%s\" is not %zu bytes of hex\n", name, n_bytes);
            abort();
        }
        out[i] = (uint8_t)byte;
    }
}

/** 32 little-endian bytes from decimal digits. */
static inline void json_decimal(const char *json, const char *name, uint8_t out[32])
{
    const char *p = json_field(json, name);
    if (!cuzk_decimal_to_le(out, 32, p, strspn(p, "0123456789"))) {
        fprintf(stderr, "field \"%s\" is not a number of 32 bytes\n", name);
        abort();
    }
}

#endif
