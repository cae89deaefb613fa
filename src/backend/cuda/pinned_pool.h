/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pinned host memory under one limit: pages that devices read and write by themselves, at the full
 * rate of the bus, and that the system can neither move nor swap.
 *
 * A pool only counts and allocates; what it gives may be used with every device. All functions are
 * thread-safe; a pool outlives what it gave. */
#ifndef CUZK_BACKEND_CUDA_PINNED_POOL_H
#define CUZK_BACKEND_CUDA_PINNED_POOL_H

#include "backend/cuda/driver.h"

typedef struct cuzk_pinned_pool cuzk_pinned_pool;

typedef struct {
    uint64_t limit_bytes, used_bytes, peak_bytes;
} cuzk_pinned_use;

/** Returned: free with cuzk_pinned_pool_destroy. Touches no driver. Errors: E_MEMORY. */
cuzk_status cuzk_pinned_pool_create(cuzk_pinned_pool **out, uint64_t limit_bytes,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. Nothing that it gave is left. */
void cuzk_pinned_pool_destroy(cuzk_pinned_pool *pool);

/** n_bytes of pinned memory, zeroed pages, in the current context. Returned: cuzk_pinned_free, with
 *  the same n_bytes. Errors: E_MEMORY: the limit, with the numbers, or the system has none;
 * E_DEVICE.
 */
cuzk_status cuzk_pinned_alloc(void **out, cuzk_pinned_pool *pool, const cuzk_cuda_api *api,
                              size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/** p NULL is fine. */
void cuzk_pinned_free(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, void *p, size_t n_bytes);

/** Pin memory that is there, in whole pages around it, until cuzk_pinned_unregister. False where
 *  the limit or the system does not allow it: the memory works as before, slower. */
bool cuzk_pinned_register(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, const void *p,
                          size_t n_bytes);

void cuzk_pinned_unregister(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, const void *p,
                            size_t n_bytes);

cuzk_pinned_use cuzk_pinned_pool_use(cuzk_pinned_pool *pool);

#endif
