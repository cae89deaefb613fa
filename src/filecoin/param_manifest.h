/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of parameter files: the built-in one, or a parameters.json. */
#ifndef CUZK_FILECOIN_PARAM_MANIFEST_H
#define CUZK_FILECOIN_PARAM_MANIFEST_H

#include "filecoin/param_files.h"

enum { CUZK_MANIFEST_CID_MAX = 96, CUZK_MANIFEST_ENTRIES_MAX = 1024 };

typedef struct {
    char name[CUZK_PARAM_NAME_MAX];  /* of the file; without a folder */
    char cid[CUZK_MANIFEST_CID_MAX]; /* "" when not given */
    uint8_t digest[CUZK_PARAM_DIGEST_BYTES];
    uint64_t bytes;                    /* 0 when not known */
    uint64_t sector_bytes;             /* 0 for files that belong to no sector size */
    char circuit[CUZK_PARAM_CIRCUIT_MAX]; /* "porep-32g"; "" when no circuit of ours has the name */
} cuzk_manifest_entry;

typedef struct {
    cuzk_manifest_entry *entries;
    unsigned n;
} cuzk_manifest;

/** The files of the network's trusted setup: by size, then kind, .params before .vk. Returned:
 *  cuzk_manifest_clear. Errors: E_MEMORY. */
cuzk_status cuzk_manifest_builtin(cuzk_manifest *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a parameters.json: {"FILE NAME": {"cid": …, "digest": 32 hex digits, "sector_size": …}}.
 *
 *  A file, or a key of ours in one, that is there twice is refused. Returned: cuzk_manifest_clear;
 *  all zero on failure. Memory: at most 1 MB, whatever the text
 * says. Errors: E_FORMAT, E_TRUNCATED with line and column; E_MEMORY. */
cuzk_status cuzk_manifest_read(cuzk_manifest *out, const uint8_t *data, uint64_t size,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_manifest_clear(cuzk_manifest *manifest);

#endif
