/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: vanilla proofs of sectors that never existed, to test and measure Filecoin proving at
 * any size without a sealed sector. The rules of cuzk.h hold. */
#ifndef CUZK_SYNTHETIC_H
#define CUZK_SYNTHETIC_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_SYNTHETIC_NEWEST UINT64_MAX

typedef struct {
    size_t struct_bytes;
    const char *kind;          /* "porep", "snap", "window" or "winning" */
    const char *sector_size;   /* "2KiB", "32GiB", "64g", or a number of bytes; test sizes too */
    uint64_t registered_proof; /* of that size, or of 2KiB for sizes without a number of their own;
                                  CUZK_SYNTHETIC_NEWEST: the newest that can be made */
    uint64_t seed;             /* everything follows from it */
    uint64_t miner_id;         /* porep: part of the replica id */
    uint64_t sector_number;    /* porep; window and winning: of the first sector */
    unsigned n_sectors;        /* window: in the partition; the others: 1 */
    unsigned partition;        /* window */
    bool envelope;             /* porep: Curio's envelope around the output */
} cuzk_synthetic_options;

#define CUZK_SYNTHETIC_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cuzk_synthetic_options), NULL, NULL, CUZK_SYNTHETIC_NEWEST, 0, 1000, 1, 1, 0, false \
    }

/** Make the vanilla proof of a sector (porep), of the sectors of a partition (window, winning) or
 * of all partitions of an update (snap), check it in full, and write it: a commit-phase-1 output,
 * or a JSON array of base64 strings.
 *
 *  vanilla_path: the file to write. request_path: may be NULL; a JSON object with what the proof
 *  states, in the terms of the chain. Both files are written or neither. options: kind and
 *  sector_size are required.
 *  Errors: E_ARGUMENT (options); E_UNSUPPORTED (a synthetic or non-interactive PoRep: its
 * challenges depend on the labels that they challenge; a kind that the size does not have); E_FILE.
 */
CUZK_API cuzk_status cuzk_synthetic_vanilla_write(const cuzk_ctx *ctx, const char *vanilla_path,
                                                  const char *request_path,
                                                  const cuzk_synthetic_options *options,
                                                  cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
