/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's proofs for the engine: PoRep, SnapDeals updates, Window and Winning PoSt.
 *
 * A payload is a SubmitProofRequest of proto/cuzk/v1/proving.proto as it came from the wire. Its
 * fields request_id and priority are not looked at; sector_size 0 means that of the proof;
 * a PoRep's registered_proof is taken from its vanilla proof, the one of the request need only be
 * a known number; fields that the kind does not have are ignored, as are unknown ones. A request
 * is checked in full: what passes can be proved. Whatever is wrong with it is E_ARGUMENT, E_FORMAT,
 * E_TRUNCATED, E_MISMATCH, or E_UNSUPPORTED (a proof that is known and not proved here).
 *
 * A unit is a partition, its proof 192 bytes; a job's answer is those of all partitions, the first
 * first. Residents are called as circuits are: "porep-32g", "snap-8m", "wpost-2k", "winning-64g".
 *
 * The digest of a payload is SHA-256 over kind, registered proof and sector size, then per kind
 * what it states (miner_id and sector_number; comm_r_old, comm_r_new, comm_d_new; miner_id,
 * randomness and partition_index) and the vanilla proofs, each field behind its length. */
#ifndef CUZK_WORK_FILECOIN_WORK_H
#define CUZK_WORK_FILECOIN_WORK_H

#include "cuzk.h"
#include "cuzk_filecoin.h"
#include "engine/work.h"
#include "filecoin/registered.h"
#include "work/work_devices.h"

typedef struct cuzk_filecoin_work cuzk_filecoin_work;

/* A program's own way to keys, in place of parameter files: for keys that no file holds. */
typedef struct {
    /** Make the key of a circuit, for any number of proofs: the resident that is loaded. Returned:
     *  cuzk_filecoin_key_close. */
    cuzk_status (*make)(void *user, cuzk_filecoin_key **out, const cuzk_registered_proof *proof,
                        cuzk_error *err);
    void *user;
} cuzk_filecoin_key_maker;

typedef struct {
    const cuzk_ctx *ctx;              /* threads and log; borrowed until destroy */
    const cuzk_work_devices *devices; /* borrowed until destroy */
    const char *params_folder;        /* of parameter files; NULL: FIL_PROOFS_PARAMETER_CACHE or the
                                         reference's default */
    const char *circuits_folder;      /* of compiled circuits; NULL: they are built at each load */
    bool allow_test_key;              /* keys that are not of the network's trusted setup too */
    cuzk_filecoin_key_maker
        key_maker; /* make NULL: parameter files; else those are not looked at */
} cuzk_filecoin_work_options;

/** Make the work. Strings are copied; no file is opened. Returned: cuzk_filecoin_work_destroy.
 *  Errors: E_MEMORY. */
cuzk_status cuzk_filecoin_work_create(cuzk_filecoin_work **out,
                                      const cuzk_filecoin_work_options *options,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. The engine that uses it has ended. */
void cuzk_filecoin_work_destroy(cuzk_filecoin_work *work);

/** The engine's table, for the kinds 1 … 4 alike. Lives as long as the work. */
const cuzk_work *cuzk_filecoin_work_table(const cuzk_filecoin_work *work);

#endif
