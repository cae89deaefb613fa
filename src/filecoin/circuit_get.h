/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The circuit of a proof kind and sector size, from a folder of compiled circuits, or built. */
#ifndef CUZK_FILECOIN_CIRCUIT_GET_H
#define CUZK_FILECOIN_CIRCUIT_GET_H

#include "base/pool.h"
#include "base/progress.h"
#include "filecoin/registered.h"
#include "r1cs/shape.h"

/** The fingerprint that the reference's circuit of that kind and size has, trailing input
 *  constraints included. False when there is no such circuit; out is then left alone. */
bool cuzk_circuit_fingerprint(uint8_t out[CUZK_SHA256_BYTES], cuzk_proof_kind kind,
                              const cuzk_sector *sector);

/** The circuit, mapped from `folder` when it is there; else built, compared with the fingerprint
 *  and written there, which takes up to a minute for the largest. folder NULL: built, kept in
 * memory only and not compared (r1cs/shape_store.h).
 *
 *  reporter: may be NULL. Returned: free with cuzk_shape_destroy. Errors: E_UNSUPPORTED (no such
 *  circuit), E_MEMORY, E_FILE, E_CANCELLED, E_MISMATCH (this program builds another circuit).
 *  Threads: the pool's. */
cuzk_status cuzk_circuit_get(cuzk_shape **out, cuzk_proof_kind kind, const cuzk_sector *sector,
                             const char *folder, const cuzk_reporter *reporter, cuzk_pool *pool,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
