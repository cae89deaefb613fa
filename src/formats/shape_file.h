/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The file of a compiled circuit (.shape), read as views into mapped bytes; r1cs/shape_store.h
 * makes a circuit of it and writes it.
 *
 * A header of 256 bytes, then arrays as they are used in memory: little-endian, each at a multiple
 * of 64 bytes, in the order of cuzk_shape_array, the gaps zero. Where each array lies follows from
 * the counts of the header, so there is no index that could contradict them (docs/formats.md). */
#ifndef CUZK_FORMATS_SHAPE_FILE_H
#define CUZK_FORMATS_SHAPE_FILE_H

#include "base/progress.h"
#include "base/sha256.h"
#include "curve/curve.h"
#include "formats/sections.h"

#define CUZK_SHAPE_MAGIC "cuzkshap"

enum {
    CUZK_SHAPE_FILE_VERSION = 1,
    CUZK_SHAPE_HEADER_BYTES = 256, /* the arrays follow */
    CUZK_SHAPE_HEADER_DIGEST = 224 /* offset of the SHA-256 of what stands in front of it */
};

/* The arrays in file order; those of a matrix in the order A, B, C. */
typedef enum {
    CUZK_SHAPE_BLOCKS = 0,
    CUZK_SHAPE_CHOICES,
    CUZK_SHAPE_COEFS,    /* Montgomery form */
    CUZK_SHAPE_COEFS_R2, /* times 2^256 once more */
    CUZK_SHAPE_BEGIN,    /* three: u64, where the terms of each stored row begin */
    CUZK_SHAPE_VAR = CUZK_SHAPE_BEGIN + 3,
    CUZK_SHAPE_CODE = CUZK_SHAPE_VAR + 3,
    CUZK_SHAPE_IS_BIT = CUZK_SHAPE_CODE + 3,
    CUZK_SHAPE_IS_FIELD,
    CUZK_SHAPE_B_INPUT_DENSITY,
    CUZK_SHAPE_A_AUX_DENSITY,
    CUZK_SHAPE_B_AUX_DENSITY,
    CUZK_SHAPE_ARRAY_COUNT
} cuzk_shape_array;

/* What the header says, as in struct cuzk_shape (r1cs/shape.h). */
typedef struct {
    const cuzk_curve *curve;
    uint32_t n_inputs, n_vars, n_constraints;
    uint32_t n_blocks, n_stored_rows, n_coefs;
    uint32_t n_b_input, n_a_aux, n_b_aux, n_choices;
    uint64_t n_terms[3];                    /* stored */
    uint8_t fingerprint[CUZK_SHA256_BYTES]; /* with the trailing input constraints */
    uint8_t body_digest[CUZK_SHA256_BYTES]; /* SHA-256 of what follows the header */
} cuzk_shape_header;

typedef struct {
    cuzk_shape_header header;
    cuzk_span arrays[CUZK_SHAPE_ARRAY_COUNT];
    cuzk_span body;
} cuzk_shape_file;

/** Bytes of an array, without the gap behind it. */
uint64_t cuzk_shape_array_bytes(const cuzk_shape_header *header, cuzk_shape_array array);

/** Zero bytes between an array of n_bytes and the next. */
static inline uint64_t cuzk_shape_array_gap(uint64_t n_bytes)
{
    return (64 - n_bytes % 64) % 64;
}

/** Write the header with its digest. */
void cuzk_shape_header_write(uint8_t out[CUZK_SHAPE_HEADER_BYTES], const cuzk_shape_header *header);

/** Index a file: version, the header's digest, counts against each other and against the file's
 *  size. The arrays are not touched.
 *
 *  data: borrowed for as long as *out is used. Nothing is allocated. Errors: E_FORMAT (another kind
 *  of file, damaged header), E_UNSUPPORTED (version), E_TRUNCATED. */
cuzk_status cuzk_shape_file_open(cuzk_shape_file *out, const uint8_t *data, uint64_t size,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Read the whole file and compare its digest with the header's. reporter: may be NULL.
 *  Errors: E_FORMAT (damaged), E_CANCELLED. */
cuzk_status cuzk_shape_file_check(const cuzk_shape_file *file, const cuzk_reporter *reporter,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

#endif
