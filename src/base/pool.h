/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A pool of threads for data-parallel loops.
 *
 * The caller's thread always takes part, so a pool of one makes no thread and cannot deadlock. A
 * loop body must not start another loop on the same pool. Chunks are handed out by an atomic
 * counter in index order; results must not depend on which thread ran a chunk. */
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include "base/status.h"

typedef struct cuzk_pool cuzk_pool;

/* One chunk of a loop. `thread` is 0 … threads-1 and unique among chunks that run at once: an index
 * into per-thread workspace. */
typedef void (*cuzk_pool_body)(void *ctx, size_t chunk, unsigned thread);

/** Make a pool of n_threads (≥ 1; 0 means one per processor this process may run on, cgroup CPU
 *  quota included). The threads are made by the first loop with more than one chunk; loops run on
 *  those that the system gives then. Returned: free with cuzk_pool_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_pool_create(cuzk_pool **out, unsigned n_threads, cuzk_error *err) CUZK_WARN_UNUSED;

/** End the threads and free the pool. NULL is fine. */
void cuzk_pool_destroy(cuzk_pool *pool);

/** Number of threads, the caller's included. A NULL pool counts as one. */
unsigned cuzk_pool_threads(const cuzk_pool *pool);

/** Run body(ctx, 0 … n_chunks-1, thread) on all threads and return when the last has ended.
 *
 *  pool NULL: run in the caller's thread. Threads: several callers may use one pool at once; their
 *  loops then take turns: the most urgent caller's first, then in the order in which they came. A
 *  loop that runs is paused for a more urgent one, once its chunks under way have ended; no two
 *  loops ever run at once. */
void cuzk_pool_for(cuzk_pool *pool, size_t n_chunks, cuzk_pool_body body, void *ctx);

/** Copy n_bytes on all threads, a MiB at a time. The two may not overlap. pool, threads: as
 *  cuzk_pool_for. */
void cuzk_pool_copy(cuzk_pool *pool, void *to, const void *from, size_t n_bytes);

/** Loops that wait for their turn now. */
unsigned cuzk_pool_waiting(cuzk_pool *pool);

/** How urgent the loops of the calling thread are, in all pools: 0 at first, higher goes first.
 *  Returned: how urgent they were. */
unsigned cuzk_pool_set_urgency(unsigned urgency);

/** Processors this process may run on: affinity mask and cgroup CPU quota, at least 1. */
unsigned cuzk_cpu_count(void);

#endif
