/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom's witness file (.wtns versions 1 and 2), read as a view into mapped bytes, and written. */
#ifndef CUZK_FORMATS_WTNS_H
#define CUZK_FORMATS_WTNS_H

#include "base/pool.h"
#include "curve/curve.h"

typedef struct {
    const cuzk_curve *curve; /* told by the prime: both curves have 32-byte values */
    uint64_t n_values;       /* wires, the constant 1 first; below 2^32 */
    const uint8_t *values;   /* n_values × 32 bytes, canonical when cuzk_wtns_check accepts them */
} cuzk_wtns;

/** Open a .wtns: index the sections, check header and lengths; values are not looked at.
 *
 *  data: borrowed for as long as *out is used. Nothing is allocated. Errors: E_FORMAT (a raw dump
 * of values without header is named as such), E_TRUNCATED, E_UNSUPPORTED (version, unknown prime).
 */
cuzk_status cuzk_wtns_open(cuzk_wtns *out, const uint8_t *data, uint64_t size,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Check that the witness is over `curve` and has n_vars values.
 *  Errors: E_MISMATCH "witness is over …, key is over …"; E_WITNESS_LENGTH "Invalid witness length.
 *  Circuit: …, witness: …". */
cuzk_status cuzk_wtns_check_circuit(const cuzk_wtns *witness, const cuzk_curve *curve,
                                    uint64_t n_vars, cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether the 32 bytes are a value below the field order of the curve. */
bool cuzk_value_is_canonical(const cuzk_curve *curve, const uint8_t *bytes32);

/** Check every value: below the field order, and value 0 is 1.
 *
 *  Values at or above the order are refused, not reduced: two files would otherwise be the same
 *  witness. Errors: E_FORMAT with the first bad index; E_UNSATISFIED when value 0 is not 1. */
cuzk_status cuzk_wtns_check(const cuzk_wtns *witness, cuzk_pool *pool,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Size in bytes of the .wtns file (version 2) of n_values values. */
uint64_t cuzk_wtns_file_bytes(uint64_t n_values);

/** Write a .wtns file to out, cuzk_wtns_file_bytes(n_values) bytes: the same bytes as snarkjs and
 *  circom's calculators write. n_values < 2^32. values: n_values × 32 bytes, canonical; may lie
 *  inside out only at the place where they end up (the last n_values × 32 bytes). */
void cuzk_wtns_write(uint8_t *out, const cuzk_curve *curve, const uint8_t *values,
                     uint64_t n_values);

#endif
