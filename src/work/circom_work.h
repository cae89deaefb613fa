/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom circuits for the engine: keys registered under names, then witnesses proved with them.
 *
 * A payload is a ProveWitnessRequest of proto/cuzk/v1/circom.proto as it came from the wire; its
 * witness is a .wtns file. Whether the witness satisfies the circuit shows only when its proof is
 * verified, since a .zkey holds two of the three matrices. The answer of a job is a
 * ProveWitnessResponse with proof_json and public_json, nothing else: snarkjs' files. A unit's
 * proof is its points A, B, C in memory form (curve/curve.h), 256 bytes on bn254, 384 on bls12381.
 *
 * A circuit is known by its name: 1 to 100 letters, digits, '-', '_' and '.', no '.' in front. Its
 * resident is "circom:NAME" and is a copy: the file may change afterwards, which the next load
 * notices. Registrations are kept in the folder, in the file "circuits.txt": a line for each, name
 * and path below the folder with a space between. */
#ifndef CUZK_WORK_CIRCOM_WORK_H
#define CUZK_WORK_CIRCOM_WORK_H

#include "cuzk.h"
#include "engine/work.h"
#include "work/work_devices.h"

enum { CUZK_CIRCOM_NAME_MAX = 100 };

typedef struct cuzk_circom_work cuzk_circom_work;

typedef struct {
    const cuzk_ctx *ctx;              /* threads and log; borrowed until destroy */
    const cuzk_work_devices *devices; /* borrowed until destroy */
    const char *folder;  /* that keys must lie in, links resolved; NULL: none can be registered */
    bool allow_test_key; /* keys that carry the mark of test keys too */
} cuzk_circom_work_options;

/** Make the work, with the circuits that the folder's circuits.txt lists. One whose file is gone or
 *  damaged is told to the log and left out; it stays in the list.
 *
 *  Returned: cuzk_circom_work_destroy. Errors: E_FILE (the folder or its list cannot be read),
 *  E_FORMAT (a line of the list), E_MEMORY. */
cuzk_status cuzk_circom_work_create(cuzk_circom_work **out, const cuzk_circom_work_options *options,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. The engine that uses it has ended. */
void cuzk_circom_work_destroy(cuzk_circom_work *work);

/** The engine's table. Lives as long as the work. */
const cuzk_work *cuzk_circom_work_table(const cuzk_circom_work *work);

typedef struct {
    char name[CUZK_CIRCOM_NAME_MAX + 1];
    char *path;        /* resolved */
    const char *curve; /* "bn128" or "bls12381"; static */
    uint32_t n_constraints, n_public, n_vars;
    uint64_t n_bytes; /* of the file */
} cuzk_circom_info;

/** Make a key known under a name.
 *
 *  path: absolute, or below the folder. info: may be NULL; its path is returned: free. Written
 *  down before it returns. was_registered: the same file had that name before.
 *  Errors: E_ARGUMENT (the name; a path outside the folder), E_MISMATCH (the name is another
 *  file's: then was_registered too; or what the key says does not fit together), E_FILE, E_FORMAT,
 * E_TRUNCATED (the key), E_UNSUPPORTED (a test key; no folder). */
cuzk_status cuzk_circom_register(cuzk_circom_work *work, bool *was_registered,
                                 cuzk_circom_info *info, const char *name, const char *path,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** All circuits, by name. infos: returned; cuzk_circom_list_free. Errors: E_MEMORY. */
cuzk_status cuzk_circom_list(cuzk_circom_work *work, cuzk_circom_info **infos, unsigned *n,
                             cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_circom_list_free(cuzk_circom_info *infos, unsigned n);

#endif
