/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proof kinds and registered proof numbers: what the number of a request means.
 *
 * One number is read per kind: RegisteredSealProof, RegisteredPoStProof, RegisteredUpdateProof of
 * the chain. docs/filecoin.md has the table. */
#ifndef CUZK_FILECOIN_REGISTERED_H
#define CUZK_FILECOIN_REGISTERED_H

#include "filecoin/sector.h"

/* The numbers are those of ProofKind on the wire. */
typedef enum {
    CUZK_PROOF_POREP = 1,
    CUZK_PROOF_UPDATE = 2,
    CUZK_PROOF_WINDOW = 3,
    CUZK_PROOF_WINNING = 4
} cuzk_proof_kind;

/* Versions of the reference's interface, each with its own graph or challenges. */
typedef enum {
    CUZK_API_V1_0 = 0, /* parents: the predecessor last, expander cut to 32 bits */
    CUZK_API_V1_1 = 1, /* parents: the predecessor first */
    CUZK_API_V1_2 = 2  /* as V1_1; Window PoSt challenges do not depend on a sector's place */
} cuzk_api_version;

/* What the challenges of a PoRep are drawn from. */
typedef enum {
    CUZK_POREP_INTERACTIVE = 0,
    CUZK_POREP_SYNTHETIC = 1,
    CUZK_POREP_NON_INTERACTIVE = 2
} cuzk_porep_variant;

typedef struct {
    cuzk_proof_kind kind;
    uint64_t
        number; /* registered proof; of the 2KiB proof for sizes without a number of their own */
    const cuzk_sector *sector;
    cuzk_api_version api;
    cuzk_porep_variant variant; /* PoRep only, else 0 */
} cuzk_registered_proof;

/** Name of a kind for people: "PoRep", "Update", "Window PoSt", "Winning PoSt". */
const char *cuzk_proof_kind_name(cuzk_proof_kind kind);

/** Name of a kind in circuit ids: "porep", "snap", "wpost", "winning". */
const char *cuzk_proof_kind_id(cuzk_proof_kind kind);

/** The proof of that number. Errors: E_ARGUMENT naming kind, number and the valid range. */
cuzk_status cuzk_registered_proof_get(cuzk_registered_proof *out, cuzk_proof_kind kind,
                                      uint64_t number, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same proof for another sector size, such as a test size. Errors: E_UNSUPPORTED when the kind
 *  is not defined for it. */
cuzk_status cuzk_registered_proof_resize(cuzk_registered_proof *proof, const cuzk_sector *sector,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

enum { CUZK_REGISTERED_NAME_MAX = 64 };

/** Name of a proof as the chain spells it ("StackedDrg32GiBV1_1",
 *  "StackedDrgWindow32GiBV1_1"). Returns out. */
char *cuzk_registered_proof_name(char out[CUZK_REGISTERED_NAME_MAX],
                                 const cuzk_registered_proof *proof);

/** The PoRep that a commit-phase-1 output calls `name` (n_chars characters), test sizes included.
 *  Errors: E_UNSUPPORTED quoting the name. */
cuzk_status cuzk_registered_seal_by_name(cuzk_registered_proof *out, const char *name,
                                         size_t n_chars, cuzk_error *err) CUZK_WARN_UNUSED;

/** porep_id: the number, little-endian, a zero nonce and zeros. */
void cuzk_porep_id(uint8_t out[32], const cuzk_registered_proof *proof);

/** prover_id of a miner: its actor number as LEB128, padded with zeros. */
void cuzk_prover_id(uint8_t out[32], uint64_t miner_id);

#endif
