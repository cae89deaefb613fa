/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's circuits in numbers, and the memory that follows from them. Needed before a circuit is
 * at hand: a job's bytes are reserved when it is accepted. */
#ifndef CUZK_WORK_CIRCUIT_COUNTS_H
#define CUZK_WORK_CIRCUIT_COUNTS_H

#include "api/filecoin_task.h"

/* Of one circuit, as r1cs/shape.h has them. */
typedef struct {
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

/** Bytes of the key and the circuit in memory, loading included, also when the circuit has to be
 *  compiled. */
uint64_t cuzk_circuit_resident_bytes(const cuzk_circuit_counts *counts);

/** Bytes of a unit's witness. */
uint64_t cuzk_circuit_witness_bytes(const cuzk_circuit_counts *counts);

/** Bytes of this process that proving a unit takes beside it: with its sums on a card, or all of it
 *  here. */
uint64_t cuzk_circuit_host_bytes(const cuzk_circuit_counts *counts, bool on_card,
                                 const cuzk_pool *pool);

/** Bytes of a device's memory that the key and its proofs take; 0 in a program without devices. */
uint64_t cuzk_circuit_device_bytes(const cuzk_circuit_counts *counts);

/** The same without sums, which can be made in pieces: key, rows, tables and vectors of the domain.
 */
uint64_t cuzk_circuit_device_bytes_least(const cuzk_circuit_counts *counts);

/** Bytes of a task and the request that it borrows from. */
uint64_t cuzk_filecoin_task_bytes(const cuzk_filecoin_task *task);

#endif
