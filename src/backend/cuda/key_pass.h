/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One pass over a key's points for all devices that load them at the same time, where these cannot
 * copy from one another: each piece is read once, into a pinned buffer that all of them copy it
 * from.
 *
 * Pieces are numbered on and on, over and over the key. A device that joins begins with the piece
 * that is read next and takes as many as the key has; so one that comes late shares what is left
 * and reads alone only what it missed. Whoever needs a piece first that nobody has read reads it,
 * and, while the device copies a piece, the next one. A device that fails leaves; nobody waits for
 * it. The slowest of them sets the pace. */
#ifndef CUZK_BACKEND_CUDA_KEY_PASS_H
#define CUZK_BACKEND_CUDA_KEY_PASS_H

#include "backend/cuda/key_stream.h"

typedef struct cuzk_key_pass cuzk_key_pass;

/** Returned: free with cuzk_key_pass_destroy. Touches no driver; there are buffers only while a
 *  device is in it. Errors: E_MEMORY. */
cuzk_status cuzk_key_pass_create(cuzk_key_pass **out, cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. No device is in it. */
void cuzk_key_pass_destroy(cuzk_key_pass *pass);

/** n more devices will join, or be forgotten: nothing is read before. Thread-safe. */
void cuzk_key_pass_expect(cuzk_key_pass *pass, unsigned n);

/** One that was expected does not come. Thread-safe. */
void cuzk_key_pass_forget(cuzk_key_pass *pass);

typedef struct {
    const cuzk_cuda_device *device;  /* whose context is current */
    const cuzk_stream_piece *pieces; /* to stay; the same for all but `to`. Borrowed for the call */
    size_t n_pieces;
    cuzk_pinned_pool *pinned;
    bool *is_expected; /* set to false when it has come; NULL: it was not expected */
    /* Piece i is on the device; may launch what works on it there, and need not wait. */
    cuzk_status (*arrived)(void *ctx, size_t i, cuzk_error *err);
    void *ctx;
} cuzk_key_pass_params;

/** Join, and return when all pieces are on the device. From several threads at once, one a device.
 *  stats: written in any case; n_read_bytes are those that this call read.
 *
 *  Errors: E_MEMORY: no pinned buffers: nothing was done, and others are not disturbed; E_INTERNAL
 *  (pieces of another key); E_DEVICE; what `arrived` returns. */
cuzk_status cuzk_key_pass_load(cuzk_key_pass *pass, const cuzk_key_pass_params *params,
                               cuzk_stream_stats *stats, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
