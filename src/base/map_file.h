/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole files mapped read-only, and files written so that a partial one is never seen. */
#ifndef CUZK_BASE_MAP_FILE_H
#define CUZK_BASE_MAP_FILE_H

#include "base/out_file.h"
#include "base/status.h"

#include <stdint.h>

/* A file mapped read-only. data is NULL when size is 0. */
typedef struct {
    const uint8_t *data;
    uint64_t size;
} cuzk_map_file;

/** Map `path`. Refuses directories and anything that is not a regular file, by name.
 *
 *  out: unmap with cuzk_map_file_close. Nothing is read yet. Errors: E_FILE with the system's text.
 */
cuzk_status cuzk_map_file_open(cuzk_map_file *out, const char *path,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Unmap. Safe on an all-zero struct. */
void cuzk_map_file_close(cuzk_map_file *file);

/** Tell the kernel that pages wholly inside [data, data+n_bytes) will not be needed again soon, so
 *  that they stop counting as resident. The contents stay valid. */
void cuzk_map_file_drop(const void *data, uint64_t n_bytes);

/** Write n_bytes to `path` through a temporary file (base/out_file.h).
 *
 *  On failure no partial file is left and an older file keeps its content. Errors: E_FILE. */
cuzk_status cuzk_write_file(const char *path, const void *data, size_t n_bytes,
                            cuzk_error *err) CUZK_WARN_UNUSED;

#endif
