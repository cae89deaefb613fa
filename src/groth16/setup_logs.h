/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What key generation computes before it multiplies: the logarithm of every point of a key to the
 * generator of its group. */
#ifndef CUZK_GROTH16_SETUP_LOGS_H
#define CUZK_GROTH16_SETUP_LOGS_H

#include "groth16/setup.h"

/* Secret like the trapdoor, which is in it. Montgomery form. */
typedef struct {
    cuzk_key_style style;
    const cuzk_shape *shape; /* borrowed */
    unsigned lg_n;           /* domain size 2^lg_n */
    cuzk_trapdoor t;
    cuzk_fr *a, *b, *c, *h; /* b: in both groups; c begins with those of the ic */
    uint64_t n_a, n_b, n_h; /* points; c has n_vars */
    size_t column_bytes, h_bytes;
    bool is_test; /* from a given trapdoor, which is no secret */
} cuzk_setup_logs;

/** Compute them all.
 *
 *  params: multiplier is not read. out: returned; clear with cuzk_setup_logs_clear. Errors: those
 *  of cuzk_setup that are not the multiplier's. Threads: the pool's. Memory: 3 × 32 bytes a
 *  variable and 32 bytes an element of the domain. */
cuzk_status cuzk_setup_logs_make(cuzk_setup_logs *out, const cuzk_shape *shape,
                                 const cuzk_setup_params *params, cuzk_pool *pool,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Give the memory back, wiped unless the trapdoor was given. Safe on an all-zero struct. */
void cuzk_setup_logs_clear(cuzk_setup_logs *logs);

/** The verifying key of a key that is being made, its ic made by params->multiplier or the pool's
 *  threads. out: returned, owns its ic: cuzk_vk_clear. Errors: E_MEMORY, E_CANCELLED, the
 *  multiplier's. */
cuzk_status cuzk_setup_vk(cuzk_vk *out, const cuzk_setup_logs *logs,
                          const cuzk_setup_params *params, cuzk_pool *pool,
                          cuzk_error *err) CUZK_WARN_UNUSED;

#endif
