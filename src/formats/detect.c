/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/detect.h"

#include "base/bytes.h"
#include "formats/json_pull.h"
#include "formats/params.h"
#include "formats/shape_file.h"
#include "formats/test_key.h"

#include <stdio.h>

enum { JSON_TOKENS_MAX = 64, RAW_VALUE_BYTES = 32, PROOF_BYTES = 192 };

static bool starts_with(const uint8_t *data, uint64_t size, const char *text)
{
    size_t n = strlen(text);
    return size >= n && memcmp(data, text, n) == 0;
}

static cuzk_format detect_key(const char *key)
{
    if (strcmp(key, "pi_a") == 0 || strcmp(key, "pi_b") == 0 || strcmp(key, "pi_c") == 0) {
        return CUZK_FORMAT_PROOF_JSON;
    }
    if (strncmp(key, "vk_", 3) == 0 || strcmp(key, "IC") == 0) {
        return CUZK_FORMAT_VK_JSON;
    }
    return CUZK_FORMAT_JSON;
}

/* Looks at the keys of the outermost object until one tells the kind. */
static cuzk_format detect_json(const uint8_t *data, uint64_t size)
{
    cuzk_format found = CUZK_FORMAT_JSON;
    cuzk_json j;
    cuzk_json_token t;
    cuzk_json_init(&j, data, size);
    if (cuzk_json_next(&j, &t, NULL) != CUZK_OK) {
        found = CUZK_FORMAT_UNKNOWN;
    } else if (t.kind == CUZK_JSON_ARRAY_BEGIN) {
        bool first = cuzk_json_next(&j, &t, NULL) == CUZK_OK;
        if (first && (t.kind == CUZK_JSON_STRING || t.kind == CUZK_JSON_NUMBER ||
                      t.kind == CUZK_JSON_ARRAY_END)) {
            found = CUZK_FORMAT_PUBLIC_JSON;
        }
    } else if (t.kind == CUZK_JSON_OBJECT_BEGIN) {
        for (int i = 0; i < JSON_TOKENS_MAX && found == CUZK_FORMAT_JSON; i++) {
            char key[32];
            if (cuzk_json_next(&j, &t, NULL) != CUZK_OK) {
                break;
            }
            if (j.depth == 1 && t.kind == CUZK_JSON_KEY &&
                cuzk_json_text(&t, key, sizeof key) >= 0) {
                found = detect_key(key);
            }
        }
    }
    cuzk_json_clear(&j);
    return found;
}

static bool is_test_mark_or_nothing(const uint8_t *data, uint64_t size, uint64_t from)
{
    return size == from || (size > from && cuzk_test_key_is_mark(data + from, size - from));
}

static bool looks_like_vk(const uint8_t *data, uint64_t size)
{
    if (size < CUZK_VK_HEAD_BYTES) {
        return false;
    }
    uint64_t n_ic = cuzk_load_u32_be(data + CUZK_VK_HEAD_BYTES - 4);
    return n_ic > 0 && is_test_mark_or_nothing(data, size, cuzk_vk_file_bytes(n_ic));
}

/* The first point, alpha in G1: no other file begins with a point of the curve. */
static bool begins_as_bellperson_key(const uint8_t *data, uint64_t size)
{
    const cuzk_group *g1 = &cuzk_curve_get(CUZK_CURVE_BLS12_381)->g[CUZK_G1];
    cuzk_affine alpha;
    return size >= g1->affine_bytes &&
           g1->decode(&alpha, data, CUZK_POINT_UNCOMPRESSED, false) == CUZK_POINT_OK &&
           !g1->affine_is_infinity(&alpha);
}

/* Compressed points: first bit set in A, B and C, none at infinity. */
static bool looks_like_proof(const uint8_t *data, uint64_t size)
{
    return size > 0 && size % PROOF_BYTES == 0 && (data[0] & 0xc0) == 0x80 &&
           (data[48] & 0xc0) == 0x80 && (data[144] & 0xc0) == 0x80;
}

static bool looks_like_raw_witness(const uint8_t *data, uint64_t size)
{
    static const uint8_t one[RAW_VALUE_BYTES] = {1};
    return size > 0 && size % RAW_VALUE_BYTES == 0 && memcmp(data, one, RAW_VALUE_BYTES) == 0;
}

cuzk_format cuzk_format_detect(const uint8_t *data, uint64_t size)
{
    static const struct {
        const char *magic;
        cuzk_format format;
    } magics[] = {
        {"zkey", CUZK_FORMAT_ZKEY},
        {"wtns", CUZK_FORMAT_WTNS},
        {"r1cs", CUZK_FORMAT_R1CS},
        {"ptau", CUZK_FORMAT_PTAU},
        {CUZK_SHAPE_MAGIC, CUZK_FORMAT_SHAPE},
        {"\x1f\x8b", CUZK_FORMAT_GZIP},
        {"<!DOCTYPE", CUZK_FORMAT_HTML},
        {"<!doctype", CUZK_FORMAT_HTML},
        {"<html", CUZK_FORMAT_HTML},
        {"<HTML", CUZK_FORMAT_HTML},
    };
    if (size == 0) {
        return CUZK_FORMAT_EMPTY;
    }
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (starts_with(data, size, magics[i].magic)) {
            return magics[i].format;
        }
    }
    if (looks_like_raw_witness(data, size)) {
        return CUZK_FORMAT_RAW_WITNESS;
    }
    if (looks_like_proof(data, size)) {
        return CUZK_FORMAT_PROOF;
    }
    if (looks_like_vk(data, size)) {
        return CUZK_FORMAT_VK;
    }
    if (cuzk_params_file_bytes(data, size) != 0) {
        return CUZK_FORMAT_PARAMS;
    }
    if (begins_as_bellperson_key(data, size)) {
        return CUZK_FORMAT_BELLPERSON;
    }
    return detect_json(data, size);
}

/* Short name, and how a message calls such a file. */
static const struct {
    const char *name;
    const char *words;
} texts[] = {
    [CUZK_FORMAT_UNKNOWN] = {"unknown", NULL},
    [CUZK_FORMAT_EMPTY] = {"empty", NULL},
    [CUZK_FORMAT_ZKEY] = {"zkey", "a zkey file (circom proving key)"},
    [CUZK_FORMAT_WTNS] = {"wtns", "a wtns file (circom witness)"},
    [CUZK_FORMAT_R1CS] = {"r1cs", "an r1cs file (circom constraints)"},
    [CUZK_FORMAT_PTAU] = {"ptau", "a ptau file (powers of tau)"},
    [CUZK_FORMAT_SHAPE] = {"shape", "a shape file (compiled circuit)"},
    [CUZK_FORMAT_PARAMS] = {"params", "a params file (bellperson proving key)"},
    [CUZK_FORMAT_VK] = {"vk", "a vk file (bellperson verifying key)"},
    [CUZK_FORMAT_BELLPERSON] = {"bellperson key",
                                "a bellperson key (.params, .vk) of the wrong size"},
    [CUZK_FORMAT_PROOF] = {"proof", "a binary proof"},
    [CUZK_FORMAT_VK_JSON] = {"verification_key.json", "a verification key (JSON)"},
    [CUZK_FORMAT_PROOF_JSON] = {"proof.json", "a proof (JSON)"},
    [CUZK_FORMAT_PUBLIC_JSON] = {"public.json", "a list of public values (JSON)"},
    [CUZK_FORMAT_JSON] = {"json", "a JSON file"},
    [CUZK_FORMAT_RAW_WITNESS] = {"raw witness", "a raw witness dump without header"},
    [CUZK_FORMAT_GZIP] = {"gzip", "a gzip file (unpack it first)"},
    [CUZK_FORMAT_HTML] = {"html", "an HTML page"},
};

const char *cuzk_format_name(cuzk_format format)
{
    return texts[format].name;
}

void cuzk_format_describe(char *out, size_t out_size, const uint8_t *data, uint64_t size)
{
    cuzk_format format = cuzk_format_detect(data, size);
    if (format == CUZK_FORMAT_EMPTY) {
        snprintf(out, out_size, "the file is empty");
        return;
    }
    if (format != CUZK_FORMAT_UNKNOWN) {
        snprintf(out, out_size, "this is %s", texts[format].words);
        return;
    }
    char hex[2 * 4 + 1] = "";
    for (uint64_t i = 0; i < 4 && i < size; i++) {
        snprintf(hex + 2 * i, 3, "%02x", data[i]);
    }
    snprintf(out, out_size, "unknown kind of file, starting with bytes %s", hex);
}
