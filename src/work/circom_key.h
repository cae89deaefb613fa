/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A circom key in memory. It is a copy of its file: one that is mapped could change under a proof,
 * or end the process when it is shortened. */
#ifndef CUZK_WORK_CIRCOM_KEY_H
#define CUZK_WORK_CIRCOM_KEY_H

#include "work/circom_registry.h"

typedef struct {
    uint8_t *data; /* the file */
    size_t n_bytes;
    cuzk_prover *prover;
} cuzk_circom_key;

/** Read the key at `path`, which must be the one of which `facts` are known.
 *
 *  out: all zero before; cuzk_circom_key_close, also after a failure. Errors: E_FILE, E_TRUNCATED,
 *  E_FORMAT, E_MISMATCH (another key), E_UNSUPPORTED (a test key), E_MEMORY. */
cuzk_status cuzk_circom_key_open(cuzk_circom_key *out, const char *path,
                                 const cuzk_circom_facts *facts, bool allow_test_key,
                                 const cuzk_ctx *ctx, cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_circom_key_close(cuzk_circom_key *key);

#endif
