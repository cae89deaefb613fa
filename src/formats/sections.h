/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The container of .zkey, .wtns and .r1cs files: a magic, a version, and sections in any order.
 *
 *   4 bytes magic, u32 version, u32 number of sections, then per section u32 id, u64 length, bytes.
 *
 * All integers little-endian. Opening walks the section headers once, checks that each section lies
 * inside the file, and remembers where the sections with a small id are; contents are not touched.
 * Unknown ids are skipped. Nothing is allocated: results are views into the caller's bytes. */
#ifndef CUZK_FORMATS_SECTIONS_H
#define CUZK_FORMATS_SECTIONS_H

#include "base/status.h"

#include <stdint.h>

/* A view of bytes inside the caller's buffer. data is NULL when there are none. */
typedef struct {
    const uint8_t *data;
    uint64_t size;
} cuzk_span;

enum { CUZK_SECTION_ID_COUNT = 16 }; /* ids 0 … 15 are remembered */

typedef struct {
    uint32_t id;
    uint64_t offset; /* of the content, from the start of the file */
    uint64_t size;   /* of the content; offset + size ≤ file size */
} cuzk_section;

typedef struct {
    const char *kind; /* "zkey", "wtns" or "r1cs": string literal */
    cuzk_span file;
    uint32_t version;
    uint32_t n_sections;
    uint64_t end;                              /* offset behind the last section */
    uint32_t n_found[CUZK_SECTION_ID_COUNT];   /* how often each small id occurs */
    cuzk_section first[CUZK_SECTION_ID_COUNT]; /* the first section with that id */
} cuzk_sections;

/** Index the sections of a file of the given kind.
 *
 *  kind: "zkey", "wtns" or "r1cs": also the magic. data: borrowed for as long as *out is used.
 *  Versions 1 … version_max are accepted. Errors: E_FORMAT (another kind of file: the message names
 *  both), E_UNSUPPORTED (version), E_TRUNCATED (a section ends behind the file's end).
 *  Cost: one read per section; no allocation. */
cuzk_status cuzk_sections_open(cuzk_sections *out, const char *kind, uint32_t version_max,
                               const uint8_t *data, uint64_t size,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** The content of the one section `id` (< CUZK_SECTION_ID_COUNT), called `name` in messages.
 *  Errors: E_FORMAT when it is missing or there is more than one. */
cuzk_status cuzk_sections_get(const cuzk_sections *sections, uint32_t id, const char *name,
                              cuzk_span *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Step through all sections in file order. *next_offset: 0 at the start, then left alone. False
 *  behind the last. Only for sections that cuzk_sections_open accepted. */
bool cuzk_sections_next(const cuzk_sections *sections, uint64_t *next_offset, cuzk_section *out);

#endif
