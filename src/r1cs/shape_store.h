/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compiled circuits on disk (formats/shape_file.h): written, mapped, and kept in a folder under
 * their fingerprints, so that each is built once. */
#ifndef CUZK_R1CS_SHAPE_STORE_H
#define CUZK_R1CS_SHAPE_STORE_H

#include "base/pool.h"
#include "base/progress.h"
#include "r1cs/shape.h"

#include <stdio.h>

/** Make a circuit whose arrays are views into the bytes of a shape file.
 *
 *  Everything that memory safety rests on is checked: the header with its digest, blocks without
 *  gaps, rows in order, variables and coefficient codes in range, coefficients below the order,
 *  counts of the bitmaps. The digest of the whole file is not: cuzk_shape_file_check compares it.
 *  data: at a multiple of 8, borrowed until destroy. Returned: free with cuzk_shape_destroy.
 *  Errors: those of cuzk_shape_file_open; E_FORMAT with array and index; E_ARGUMENT (alignment),
 *  E_MEMORY. Threads: the pool's. Time: one pass over the file. */
cuzk_status cuzk_shape_view(cuzk_shape **out, const uint8_t *data, uint64_t size, cuzk_pool *pool,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Map the shape file at `path` and make a circuit of it. fingerprint (may be NULL): written.
 *  Returned: free with cuzk_shape_destroy, which ends the mapping. Errors: E_FILE; those of
 *  cuzk_shape_view, with the path. */
cuzk_status cuzk_shape_open(cuzk_shape **out, uint8_t fingerprint[CUZK_SHA256_BYTES],
                            const char *path, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write a shape file. fingerprint: the circuit's, with the trailing input constraints.
 *  Errors: E_FILE. */
cuzk_status cuzk_shape_write(FILE *file, const cuzk_shape *shape,
                             const uint8_t fingerprint[CUZK_SHA256_BYTES],
                             cuzk_error *err) CUZK_WARN_UNUSED;

/* Where a circuit comes from when it is not on disk. */
typedef struct {
    cuzk_status (*build)(void *ctx, cuzk_shape **out, cuzk_error *err);
    void *ctx;
} cuzk_shape_source;

/** The circuit with this fingerprint, mapped from `folder`, where it is called FINGERPRINT.shape
 *  (64 hex digits). When it is not there, or is of another version or damaged, it is built,
 *  compared with the fingerprint and written: to a temporary file that is renamed, so that two
 *  processes may do so at once.
 *
 *  folder: is made if its parent is there; NULL: the circuit is built and kept in memory only, and
 *  its fingerprint is not looked at. Errors: the source's; E_MISMATCH (the source builds another
 *  circuit); E_FILE; E_MEMORY; E_CANCELLED. Threads: the pool's. */
cuzk_status cuzk_shape_get(cuzk_shape **out, const char *folder,
                           const uint8_t fingerprint[CUZK_SHA256_BYTES],
                           const cuzk_shape_source *source, const cuzk_reporter *reporter,
                           cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
