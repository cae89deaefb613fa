/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: Filecoin's proofs (PoRep, SnapDeals updates, Window and Winning PoSt), from what the
 * chain knows.
 *
 * The rules of cuzk.h hold, with one addition: where a call says so, a path that is NULL means a
 * file in the folder of parameter files, which is named by the environment variable
 * FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters.
 *
 * Keys: the network's keys come from its trusted setup and are known by their digests, which are
 * built in. Any other key is a test key here, marked or not, and is refused unless allow_test_key
 * is set: whoever made it can forge proofs. */
#ifndef CUZK_FILECOIN_H
#define CUZK_FILECOIN_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of ProofKind in Curio's requests. */
typedef enum {
    CUZK_FILECOIN_POREP = 1,  /* replication of a sector */
    CUZK_FILECOIN_UPDATE = 2, /* SnapDeals: a sector's data replaced */
    CUZK_FILECOIN_WINDOW = 3, /* Window PoSt */
    CUZK_FILECOIN_WINNING = 4 /* Winning PoSt */
} cuzk_filecoin_kind;

/* ---------------------------------------------------------------- requests */

/* What a proof states, as chain-side data: the fields of one kind of proof. */
typedef struct cuzk_filecoin_request cuzk_filecoin_request;

/** Make a request without any field. request: returned; cuzk_filecoin_request_destroy. */
CUZK_API cuzk_status cuzk_filecoin_request_create(cuzk_filecoin_request **request,
                                                  cuzk_filecoin_kind kind,
                                                  cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_filecoin_request_destroy(cuzk_filecoin_request *request);

/** Set a field from text.
 *
 *  Fields: of every kind registered_proof (the chain's number; required), sector_size ("32GiB",
 *  "32g" or bytes: to be compared with the registered proof; test sizes, which have no number of
 *  their own, are given with a number of 2KiB), miner_id (digits, or an address f0…, t0…),
 *  sector_number;
 *  PoRep: miner_id, sector_number, ticket, seed (not for the non-interactive variant), comm_d,
 *  comm_r; Update: comm_r_old, comm_r_new, comm_d_new;
 *  Window and Winning PoSt: randomness; sector_number and comm_r when there is one sector; Window:
 *  partition_index (default 0) of the first partition.
 *  Numbers are decimal; commitments, ticket, seed and randomness 64 hex digits in the order of the
 *  bytes, with or without 0x.
 *  Errors: E_ARGUMENT (no such field for this kind, or it was set before); E_FORMAT (the text). */
CUZK_API cuzk_status cuzk_filecoin_request_set(cuzk_filecoin_request *request, const char *field,
                                               const char *text, cuzk_error *err) CUZK_WARN_UNUSED;

/** Append a sector to a PoSt request. Their order counts: partitions are filled in it. Errors:
 *  E_ARGUMENT (another kind). */
CUZK_API cuzk_status cuzk_filecoin_request_add_sector(cuzk_filecoin_request *request,
                                                      uint64_t sector_number,
                                                      const uint8_t comm_r[32],
                                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** Set the fields of a JSON object: members are the fields above, numbers as numbers or strings;
 *  for PoSt also "sectors": [{"sector_number": …, "comm_r": …}, …]. A member that is not known is
 *  an error, as a misspelt one would be missed silently.
 *  Errors: E_FORMAT, E_TRUNCATED (with line and column); as cuzk_filecoin_request_set. After an
 *  error the request may be half filled: destroy it. */
CUZK_API cuzk_status cuzk_filecoin_request_read_json(cuzk_filecoin_request *request,
                                                     const void *json, size_t n_bytes,
                                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Number of circuits (partitions, 192 bytes of proof each) that a proof of the request has.
 * Errors: E_ARGUMENT, E_FORMAT, E_UNSUPPORTED, E_MISMATCH: a field is missing or fields contradict
 * each other; registered_proof is not known or not of that sector size. */
CUZK_API cuzk_status cuzk_filecoin_request_partitions(unsigned *n_partitions,
                                                      const cuzk_filecoin_request *request,
                                                      cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- verifying */

/** Open the verifying key of a request's circuit.
 *
 *  path: a .vk or .params file; NULL: the circuit's .vk in the folder of parameter files. request:
 *  registered_proof must be set. vkey: returned; cuzk_vkey_close.
 *  Errors: E_FILE; E_FORMAT, E_TRUNCATED; E_MISMATCH (the key is of another circuit: another number
 *  of public values); E_UNSUPPORTED (not a key of the network's trusted setup, without
 *  allow_test_key); as cuzk_filecoin_request_partitions. */
CUZK_API cuzk_status cuzk_filecoin_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey,
                                                  const cuzk_filecoin_request *request,
                                                  const char *path, bool allow_test_key,
                                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify a proof: all partitions at once. CUZK_OK exactly when the proof is valid for what the
 *  request states.
 *
 *  proof: 192 bytes a partition, partition 0 first, raw or as text: hexadecimal, base64, or a JSON
 *  object with a base64 member "proof". White space around text is allowed.
 *  first_invalid: may be NULL; the first invalid partition, written with E_INVALID_PROOF only.
 *  Errors: E_INVALID_PROOF; E_MISMATCH (another number of partitions than the request has, or a key
 *  of another circuit); E_FORMAT, E_TRUNCATED (the text of the proof); as
 *  cuzk_filecoin_request_partitions. */
CUZK_API cuzk_status cuzk_filecoin_verify(const cuzk_ctx *ctx, unsigned *first_invalid,
                                          const cuzk_vkey *vkey,
                                          const cuzk_filecoin_request *request, const void *proof,
                                          size_t proof_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
