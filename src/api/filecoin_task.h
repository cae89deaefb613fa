/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A request with its vanilla proofs, read and checked in full: what passes can be proved, partition
 * by partition, in any order. The one-call proof and the engine both work from it. */
#ifndef CUZK_API_FILECOIN_TASK_H
#define CUZK_API_FILECOIN_TASK_H

#include "api/filecoin.h"

/* Read-only once made; may be shared by threads. Not to be copied. */
typedef struct {
    cuzk_filecoin_request request; /* as given, with the sectors of its vanilla proofs */
    cuzk_filecoin_job job;
    /* vanilla proofs of PoSt: one a partition; of an update; a PoRep's is the request's */
    cuzk_post_vanilla *post;
    unsigned n_post;
    cuzk_update_vanilla update;
    uint64_t *sector_ids; /* that the request does not list */
    cuzk_digest *comm_r;
} cuzk_filecoin_task;

/** Read and check.
 *
 *  request: its PoRep vanilla proof and its list of sectors are borrowed until clear. spans: the
 *  other kinds' vanilla proofs, read only during the call. On failure nothing is to be cleared.
 *  Errors: as cuzk_filecoin_check. Threads: the pool's. */
cuzk_status cuzk_filecoin_task_init(cuzk_filecoin_task *out, const cuzk_filecoin_request *request,
                                    const cuzk_vanilla_span *spans, uint64_t n_spans,
                                    cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_filecoin_task_clear(cuzk_filecoin_task *task);

/** The witness of partition k, whose public values were compared with the task's.
 *
 *  shape: of the task's circuit. Returned: cuzk_witness_destroy. Errors: E_MEMORY, E_MISMATCH.
 *  Threads: the pool's. */
cuzk_status cuzk_filecoin_task_witness(cuzk_witness **out, const cuzk_filecoin_task *task,
                                       const cuzk_shape *shape, unsigned k, cuzk_pool *pool,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify the proof of partition k for the public values of the task: CUZK_OK exactly when it is
 *  valid. Errors: E_INVALID_PROOF, E_MEMORY. */
cuzk_status cuzk_filecoin_task_verify(const cuzk_filecoin_task *task, const cuzk_verifier *verifier,
                                      unsigned k, const cuzk_proof_points *proof, cuzk_pool *pool,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

#endif
