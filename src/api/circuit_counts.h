/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The memory that follows from the sizes of Filecoin's circuits: a job's bytes are reserved when it
 * is accepted. */
#ifndef CUZK_API_CIRCUIT_COUNTS_H
#define CUZK_API_CIRCUIT_COUNTS_H

#include "api/filecoin_task.h"
#include "filecoin/circuit_sizes.h"

/** Bytes of the key and the circuit in memory, loading included, also when the circuit has to be
 *  compiled. on_cards: the key's points stay in its file, or go to cards through pinned buffers. */
uint64_t cuzk_circuit_resident_bytes(const cuzk_circuit_counts *counts, bool on_cards);

/** Bytes of a unit's witness. */
uint64_t cuzk_circuit_witness_bytes(const cuzk_circuit_counts *counts);

/** Bytes of this process that proving a unit takes beside it: with its sums on a card, or all of it
 *  here. */
uint64_t cuzk_circuit_host_bytes(const cuzk_circuit_counts *counts, bool on_card,
                                 const cuzk_pool *pool);

/** Bytes of a task and the request that it borrows from. */
uint64_t cuzk_filecoin_task_bytes(const cuzk_filecoin_task *task);

#endif
