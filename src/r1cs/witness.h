/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The typed witness: one bitmap for the variables that hold a bit, one dense array of field
 * elements for the others, and a rank structure between them (design: most variables of hash
 * circuits are bits; 32 bytes for each of them would be most of the prover's memory).
 *
 * Variables are numbered as in r1cs/shape.h: ONE, public values, private values. A variable is
 * either a bit (its bit in is_field is clear; its value is its bit in bits) or a field element (its
 * bit in is_field is set; its value is field[rank], rank = number of field variables before it). */
#ifndef CUZK_R1CS_WITNESS_H
#define CUZK_R1CS_WITNESS_H

#include "base/bitmap.h"
#include "base/pool.h"
#include "curve/curve.h"

/* Read-only once made; may be shared by threads. Holds private values: destroy wipes them. */
struct cuzk_witness {
    const cuzk_curve *curve;
    uint32_t n_vars;
    uint32_t n_inputs;  /* ONE and the public values come first */
    uint64_t *is_field; /* n_vars bits */
    uint64_t *bits;     /* n_vars bits; 0 for field variables */
    uint32_t *rank;     /* field variables before variable 64·i; one entry per word and one more */
    uint32_t n_field;
    uint8_t (*field)[32]; /* n_field canonical values, ascending by variable, 64-byte aligned */
};

typedef struct cuzk_witness cuzk_witness;

/** Make a typed witness from plain values, classified by value: 0 and 1 become bits.
 *
 *  values: n_vars × 32 bytes, canonical little-endian, any alignment, not kept. n_inputs: ONE and
 *  the public values, 1 … n_vars. what: name of the witness for messages.
 *  Returned: free with cuzk_witness_destroy. Threads: the pool's.
 *  Errors: E_FORMAT with the index of the first value that is not below r; E_UNSATISFIED when value
 *  0, the constant ONE, is not 1; E_MEMORY. */
cuzk_status cuzk_witness_from_values(cuzk_witness **out, const cuzk_curve *curve,
                                     const void *values, uint32_t n_vars, uint32_t n_inputs,
                                     const char *what, cuzk_pool *pool,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Make a witness whose variables have the types of a circuit, all values zero but ONE: for code
 * that writes values in place.
 *
 *  is_field: bitmap of n_vars bits, copied; bit 0 is clear, since ONE is a bit.
 *  Returned: free with cuzk_witness_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_witness_create(cuzk_witness **out, const cuzk_curve *curve, uint32_t n_vars,
                                uint32_t n_inputs, const uint64_t *is_field,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/** Wipe and free. NULL is fine. */
void cuzk_witness_destroy(cuzk_witness *witness);

/** Index of a field variable's value in `field`, or of the next one behind a bit variable. */
static inline uint32_t cuzk_witness_rank(const cuzk_witness *w, uint32_t var)
{
    uint64_t below = w->is_field[var / 64] & (((uint64_t)1 << (var % 64)) - 1);
    return w->rank[var / 64] + (uint32_t)__builtin_popcountll(below);
}

/** Canonical value of a variable. */
void cuzk_witness_get(const cuzk_witness *witness, uint32_t var, uint8_t out[32]);

/** Canonical values first … first+n-1, 32 bytes each. */
void cuzk_witness_get_range(const cuzk_witness *witness, uint32_t first, uint32_t n, void *out);

/** Bytes that a typed witness of this size holds. */
size_t cuzk_witness_bytes(uint32_t n_vars, uint32_t n_field);

#endif
