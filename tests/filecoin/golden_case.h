/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The golden cases: real small sectors, sealed and proved (vanilla) by the reference. The 2KiB ones
 * are among the fixtures; larger ones are read where the collection lies beside the tree. */
#ifndef CUZK_TESTS_FILECOIN_GOLDEN_CASE_H
#define CUZK_TESTS_FILECOIN_GOLDEN_CASE_H

#include "filecoin/registered.h"
#include "fixtures.h"
#include "json_field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/** "cases/CASE/FILE", as fixtures.h wants it. Returns out. */
static inline char *golden_name(char out[96], const char *golden_case, const char *file)
{
    snprintf(out, 96, "cases/%s/%s", golden_case, file);
    return out;
}

/** Whether a case is at hand; says that it is skipped where it is not. */
static inline bool golden_exists(const char *golden_case)
{
    char name[96];
    if (cuzk_test_fixture_exists(golden_name(name, golden_case, "expected.json"))) {
        return true;
    }
    print_message("skipped: no case %s\n", golden_case);
    return false;
}

static inline cuzk_fixture golden_load(const char *golden_case, const char *file)
{
    char name[96];
    return cuzk_test_fixture(golden_name(name, golden_case, file));
}

/** All numbers of the array `name`, nested ones in order. Returns how many; max: room in out. */
static inline unsigned golden_numbers(const char *json, const char *name, uint64_t *out,
                                      unsigned max)
{
    const char *p = json_field(json, name);
    unsigned depth = 0;
    unsigned n = 0;
    do {
        if (*p == '[') {
            depth++;
        } else if (*p == ']') {
            depth--;
        } else if (*p >= '0' && *p <= '9') {
            char *end;
            uint64_t v = strtoull(p, &end, 10);
            if (n < max) {
                out[n] = v;
            }
            n++;
            p = end - 1;
        }
        p++;
    } while (depth > 0);
    return n;
}

/** Entry i of an array of hex strings of 32 bytes. */
static inline void golden_hex_at(const char *json, const char *name, unsigned i, uint8_t out[32])
{
    const char *p = strchr(json_field(json, name), '"');
    for (; i > 0; i--) {
        p = strchr(strchr(p + 1, '"') + 1, '"');
    }
    for (unsigned k = 0; k < 32; k++) {
        unsigned byte = 256;
        if (sscanf(p + 1 + 2 * k, "%2x", &byte) != 1) {
            fprintf(stderr, "field \"%s\" is not an array of hex\n", name);
            abort();
        }
        out[k] = (uint8_t)byte;
    }
}

/** The proof of a case: its number, or for sizes without one that of 2KiB, for the case's size. */
static inline cuzk_registered_proof golden_proof(const char *json, cuzk_proof_kind kind)
{
    uint64_t number = kind == CUZK_PROOF_WINDOW ? 10 : 0;
    if (kind == CUZK_PROOF_POREP) {
        number = json_u64(json, "registered_seal_proof");
    }
    cuzk_registered_proof p;
    const cuzk_sector *sector = cuzk_sector_by_bytes(json_u64(json, "sector_size"));
    if (sector == NULL || cuzk_registered_proof_get(&p, kind, number, NULL) != CUZK_OK ||
        cuzk_registered_proof_resize(&p, sector, NULL) != CUZK_OK) {
        fprintf(stderr, "no such proof\n");
        abort();
    }
    return p;
}

#endif
