/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's circuits in numbers, known before a circuit is at hand. */
#ifndef CUZK_FILECOIN_CIRCUIT_SIZES_H
#define CUZK_FILECOIN_CIRCUIT_SIZES_H

#include "base/status.h"

#include <stdint.h>

/* Of one circuit, as r1cs/shape.h has them. */
typedef struct cuzk_circuit_counts {
    const char *id; /* "porep-32g" */
    uint32_t n_inputs, n_vars, n_constraints;
    uint32_t n_field;      /* variables that are no bits */
    uint32_t n_a_aux, n_b; /* private variables in A; all variables in B */
    uint64_t shape_bytes;  /* cuzk_shape_bytes */
} cuzk_circuit_counts;

/** The i-th circuit; NULL for i beyond. By kind, then ascending by size. */
const cuzk_circuit_counts *cuzk_circuit_counts_at(unsigned i);

/** The circuit of that id. Errors: E_NOT_FOUND listing those that there are. */
cuzk_status cuzk_circuit_counts_get(const cuzk_circuit_counts **out, const char *id,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** log2 of the domain. */
unsigned cuzk_circuit_lg_domain(const cuzk_circuit_counts *counts);

#endif
