/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fields of a SubmitProofRequest that say what is to be proved, as views of its bytes. */
#ifndef CUZK_WORK_SUBMIT_REQUEST_H
#define CUZK_WORK_SUBMIT_REQUEST_H

#include "filecoin/vanilla_post.h"
#include "work/wire.h"

enum { CUZK_SUBMIT_PROOFS_MAX = 4096 /* vanilla_proofs: more than any kind has */ };

/* A field that is not there is 0 or empty, as proto3 has it. */
typedef struct {
    uint64_t proof_kind, sector_size, registered_proof, sector_number, miner_id;
    uint64_t partition_index; /* below 2^32 */
    cuzk_wire_bytes vanilla_proof, randomness, comm_r_old, comm_r_new, comm_d_new;
    cuzk_vanilla_span *vanilla_proofs; /* free */
    uint32_t n_vanilla_proofs;
} cuzk_submit_request;

/** Read a SubmitProofRequest. payload: borrowed for as long as *out is used. Of a field that comes
 *  again the last counts; unknown fields are skipped. out: clear with cuzk_submit_request_clear;
 *  all zero on failure. Errors: those of cuzk_wire_next; E_FORMAT (more vanilla proofs than
 *  CUZK_SUBMIT_PROOFS_MAX), E_MEMORY. */
cuzk_status cuzk_submit_request_read(cuzk_submit_request *out, const void *payload, size_t n_bytes,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. */
void cuzk_submit_request_clear(cuzk_submit_request *request);

#endif
