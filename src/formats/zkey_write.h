/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing a Groth16 .zkey piece by piece. All lengths follow from the counts given at the start, so
 * the file need not be seekable and nothing is held in memory. */
#ifndef CUZK_FORMATS_ZKEY_WRITE_H
#define CUZK_FORMATS_ZKEY_WRITE_H

#include "formats/vk.h"
#include "formats/zkey.h"

#include <stdio.h>

typedef struct {
    const cuzk_vk *vk; /* with G1 pair; ic is section 3; borrowed for begin */
    uint32_t n_vars;   /* > vk->n_ic - 1, the number of public values */
    uint32_t domain_size;
    uint32_t n_coeffs;
    const uint8_t *circuit_hash; /* 64 bytes of section 10, borrowed until end; NULL: zeros */
    bool test_mark;              /* mark the key as a test key (formats/test_key.h) */
} cuzk_zkey_header;

/* Private to the functions below. */
typedef struct {
    FILE *file;
    const cuzk_curve *curve;
    cuzk_zkey_header header;
    uint32_t n_public;
    cuzk_fr r_squared; /* R² mod r as limbs of the Montgomery form of R */
    uint64_t n_coeffs; /* written so far */
    int query;         /* the one being written; -1: still at the coefficients */
    uint64_t n_points; /* of it, so far */
    bool misused;      /* a call out of order, or with more than the header said */
} cuzk_zkey_writer;

/** Write everything that precedes the first coefficient. file: borrowed until end. Errors:
 *  E_ARGUMENT (counts that do not fit together, no G1 pair). */
cuzk_status cuzk_zkey_writer_begin(cuzk_zkey_writer *w, FILE *file, const cuzk_zkey_header *header,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Append one of the header's n_coeffs coefficients: matrix 0 A, 1 B; value in Montgomery form. The
 *  rows of the public values (A, row n_constraints + i, wire i, value 1) are the caller's to add.
 *  The order of snarkjs: by constraint, A before B; then the public rows. */
void cuzk_zkey_writer_coeff(cuzk_zkey_writer *w, uint32_t matrix, uint32_t row, uint32_t wire,
                            const cuzk_fr *value);

/** Append n packed affine points (memory form) to a query. Queries come in the order of the enum,
 *  each in one or more calls; an empty query needs none. */
void cuzk_zkey_writer_points(cuzk_zkey_writer *w, cuzk_zkey_query query, const void *points,
                             uint64_t n);

/** Write section 10 (the circuit hash, no contributions) and the mark, and flush. Errors: E_FILE
 * for any write that failed since begin; E_ARGUMENT when pieces are missing or came out of order.
 */
cuzk_status cuzk_zkey_writer_end(cuzk_zkey_writer *w, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
