/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parameter files: which file belongs to a kind of proof and a sector size, and its digest.
 *
 * A circuit has a short id ("porep-32g"). Its files are named by the SHA-256 of a text that the
 * reference derives from the circuit's parameters; the name is derived here again, not looked up.
 * The digests of the files made in the trusted setup are built in (parameters.json of the
 * reference: the first 16 bytes of BLAKE2b-512). All variants of a PoRep of one size share a
 * circuit. */
#ifndef CUZK_FILECOIN_PARAM_FILES_H
#define CUZK_FILECOIN_PARAM_FILES_H

#include "filecoin/registered.h"

enum {
    CUZK_PARAM_CIRCUIT_MAX = 32,
    CUZK_PARAM_NAME_MAX = 256,
    CUZK_PARAM_IDENTIFIER_MAX = 512,
    CUZK_PARAM_DIGEST_BYTES = 16
};

typedef enum { CUZK_PARAM_FILE_PARAMS = 0, CUZK_PARAM_FILE_VK = 1 } cuzk_param_file;

/* A file that the trusted setup made. */
typedef struct {
    uint64_t bytes;
    uint8_t digest[CUZK_PARAM_DIGEST_BYTES];
    const char *cid; /* under which content-addressed stores have it */
} cuzk_param_published;

/** "porep-32g", "snap-8m", "wpost-64g", "winning-2k". Returns out. */
char *cuzk_circuit_id(char out[CUZK_PARAM_CIRCUIT_MAX], cuzk_proof_kind kind,
                      const cuzk_sector *sector);

/** Kind and sector of a circuit id. Errors: E_ARGUMENT with the form of valid ids. */
cuzk_status cuzk_circuit_id_parse(cuzk_proof_kind *kind, const cuzk_sector **sector, const char *id,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** The text whose digest stands in the file's name. kind must be defined for the sector
 *  (cuzk_registered_proof_resize). Returns out. */
char *cuzk_param_identifier(char out[CUZK_PARAM_IDENTIFIER_MAX], cuzk_proof_kind kind,
                            const cuzk_sector *sector);

/** File name: "v28-stacked-proof-of-replication-…-<64 hex digits>.params" or ".vk". Returns out. */
char *cuzk_param_file_name(char out[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind,
                           const cuzk_sector *sector, cuzk_param_file file);

/** The published file of a circuit; NULL for sizes that have none. Static. */
const cuzk_param_published *
cuzk_param_published_get(cuzk_proof_kind kind, const cuzk_sector *sector, cuzk_param_file file);

/** The folder of parameter files: FIL_PROOFS_PARAMETER_CACHE, else the reference's default. Valid
 *  until the environment changes. */
const char *cuzk_param_folder(void);

#endif
