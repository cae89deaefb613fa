/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From the bytes of a SubmitProofRequest to a task whose units can be proved. */
#ifndef CUZK_WORK_FILECOIN_DECODE_H
#define CUZK_WORK_FILECOIN_DECODE_H

#include "api/filecoin_task.h"
#include "base/sha256.h"

/* Owns all that it needs; nothing of the payload. Read-only once made. */
typedef struct {
    cuzk_filecoin_request *request; /* that the task borrows from */
    cuzk_filecoin_task task;
    uint8_t digest[CUZK_SHA256_BYTES];
} cuzk_filecoin_decoded;

/** Decode and check (work/filecoin_work.h has the rules). payload: borrowed for the call. Returned:
 *  cuzk_filecoin_decoded_destroy. Errors: E_ARGUMENT, E_FORMAT, E_TRUNCATED, E_MISMATCH,
 *  E_UNSUPPORTED, E_MEMORY. Threads: the pool's. Memory: less than the payload and 256 KiB. */
cuzk_status cuzk_filecoin_decode(cuzk_filecoin_decoded **out, const void *payload, size_t n_bytes,
                                 cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. */
void cuzk_filecoin_decoded_destroy(cuzk_filecoin_decoded *decoded);

#endif
