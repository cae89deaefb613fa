/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom's constraint file (.r1cs version 1): a view into mapped bytes with a validating iterator,
 * and a writer. A constraint is A·B - C = 0 over the wires; wire 0 is the constant 1, then public
 * outputs, public inputs, private inputs, internal wires. */
#ifndef CUZK_FORMATS_R1CS_FILE_H
#define CUZK_FORMATS_R1CS_FILE_H

#include "base/bytes.h"
#include "curve/curve.h"
#include "formats/sections.h"

#include <stdio.h>

enum { CUZK_R1CS_TERM_BYTES = 36 }; /* u32 wire, 32 bytes plain coefficient */

typedef struct {
    const cuzk_curve *curve;
    uint32_t n_wires;
    uint32_t n_pub_out, n_pub_in; /* n_pub_out + n_pub_in + n_prv_in < n_wires */
    uint32_t n_prv_in;
    uint64_t n_labels;
    uint32_t n_constraints;
    cuzk_span constraints;   /* content of section 2, walked by cuzk_r1cs_next */
    cuzk_span labels;        /* section 3: n_wires × u64, or empty when the section is missing */
    uint32_t n_custom_gates; /* section 4 */
    uint32_t n_custom_gate_uses; /* section 5 */
    cuzk_span custom_gates;      /* content of section 4 behind the count; not validated */
} cuzk_r1cs;

/* One linear combination: n_terms records of CUZK_R1CS_TERM_BYTES. */
typedef struct {
    uint32_t n_terms;
    const uint8_t *terms;
} cuzk_r1cs_lc;

typedef struct {
    const cuzk_r1cs *r1cs;
    uint64_t offset; /* of the next constraint within section 2 */
    uint32_t row;    /* of the next constraint */
} cuzk_r1cs_iter;

/** Open a .r1cs: index the sections, check the header and what can be told from lengths. Custom
 *  gates are accepted here and refused by cuzk_r1cs_require_groth16.
 *
 *  data: borrowed for as long as *out is used. Nothing is allocated. Errors: E_FORMAT, E_TRUNCATED,
 *  E_UNSUPPORTED (version, unknown prime). */
cuzk_status cuzk_r1cs_open(cuzk_r1cs *out, const uint8_t *data, uint64_t size,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Errors: E_UNSUPPORTED "custom gates are not supported" when the file has any: they are PLONK's,
 *  and leaving them out would lose constraints. */
cuzk_status cuzk_r1cs_require_groth16(const cuzk_r1cs *r1cs, cuzk_error *err) CUZK_WARN_UNUSED;

/** Start before the first constraint. */
void cuzk_r1cs_begin(cuzk_r1cs_iter *iter, const cuzk_r1cs *r1cs);

/** The next constraint, validated: wires below n_wires, coefficients below the field order. A zero
 *  coefficient and a wire that occurs twice in one combination are allowed.
 *
 *  lc: A, B, C. *more: false, and lc untouched, behind the last constraint. Errors: E_FORMAT (bad
 *  constraint, with row, combination and term; bytes left behind the last one), E_TRUNCATED. */
cuzk_status cuzk_r1cs_next(cuzk_r1cs_iter *iter, cuzk_r1cs_lc lc[3], bool *more,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Wire of term i < lc->n_terms. */
static inline uint32_t cuzk_r1cs_term_wire(const cuzk_r1cs_lc *lc, uint32_t i)
{
    return cuzk_load_u32_le(lc->terms + (size_t)i * CUZK_R1CS_TERM_BYTES);
}

/** Coefficient of term i < lc->n_terms: 32 bytes, canonical. */
static inline const uint8_t *cuzk_r1cs_term_value(const cuzk_r1cs_lc *lc, uint32_t i)
{
    return lc->terms + (size_t)i * CUZK_R1CS_TERM_BYTES + 4;
}

/* Writes a file in circom's order of sections: constraints, header, labels. */
typedef struct {
    FILE *file;
    const cuzk_curve *curve;
    uint64_t n_bytes; /* of section 2 so far */
    uint32_t n_constraints;
} cuzk_r1cs_writer;

/* What the header says beside the number of constraints; n_labels is n_wires and wire i has label
 * i, or, where labels is not NULL, labels[i]. */
typedef struct {
    uint32_t n_wires, n_pub_out, n_pub_in, n_prv_in;
    uint64_t n_labels;
    const uint64_t *labels; /* n_wires values or NULL */
} cuzk_r1cs_header;

/** Begin to write to `file`, at its start; it must be seekable. Borrowed until end. */
void cuzk_r1cs_writer_begin(cuzk_r1cs_writer *w, FILE *file, const cuzk_curve *curve);

/** Append a constraint; terms in the form of the file (see cuzk_r1cs_lc). */
void cuzk_r1cs_writer_constraint(cuzk_r1cs_writer *w, const cuzk_r1cs_lc lc[3]);

/** Write the other sections and complete the lengths. Errors: E_FILE for whatever failed since
 *  begin. */
cuzk_status cuzk_r1cs_writer_end(cuzk_r1cs_writer *w, const cuzk_r1cs_header *header,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

#endif
