/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backend/cuda/pinned_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct cuzk_pinned_pool {
    pthread_mutex_t mutex; /* guards the rest */
    cuzk_pinned_use use;
};

cuzk_status cuzk_pinned_pool_create(cuzk_pinned_pool **out, uint64_t limit_bytes, cuzk_error *err)
{
    cuzk_pinned_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL || pthread_mutex_init(&pool->mutex, NULL) != 0) {
        free(pool);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "making a pool of pinned memory: out of memory");
    }
    pool->use.limit_bytes = limit_bytes;
    *out = pool;
    return CUZK_OK;
}

void cuzk_pinned_pool_destroy(cuzk_pinned_pool *pool)
{
    if (pool != NULL) {
        pthread_mutex_destroy(&pool->mutex);
        free(pool);
    }
}

cuzk_pinned_use cuzk_pinned_pool_use(cuzk_pinned_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    cuzk_pinned_use use = pool->use;
    pthread_mutex_unlock(&pool->mutex);
    return use;
}

/* Count n_bytes more, unless that would be too much; before: what was used. */
static bool take(cuzk_pinned_pool *pool, uint64_t n_bytes, uint64_t *before)
{
    pthread_mutex_lock(&pool->mutex);
    cuzk_pinned_use *u = &pool->use;
    *before = u->used_bytes;
    bool fits = n_bytes <= u->limit_bytes - u->used_bytes;
    if (fits) {
        u->used_bytes += n_bytes;
        u->peak_bytes = u->used_bytes > u->peak_bytes ? u->used_bytes : u->peak_bytes;
    }
    pthread_mutex_unlock(&pool->mutex);
    return fits;
}

static void give(cuzk_pinned_pool *pool, uint64_t n_bytes)
{
    pthread_mutex_lock(&pool->mutex);
    pool->use.used_bytes -= n_bytes;
    pthread_mutex_unlock(&pool->mutex);
}

static double mebibytes(uint64_t n_bytes)
{
    return (double)n_bytes / (1 << 20);
}

cuzk_status cuzk_pinned_alloc(void **out, cuzk_pinned_pool *pool, const cuzk_cuda_api *api,
                              size_t n_bytes, cuzk_error *err)
{
    uint64_t before = 0;
    CUZK_FAIL_IF(!take(pool, n_bytes, &before), err, CUZK_E_MEMORY,
                 "pinned host memory: %.1f MiB are wanted, %.1f of at most %.1f are in use",
                 mebibytes(n_bytes), mebibytes(before), mebibytes(pool->use.limit_bytes));
    void *p = NULL;
    CUresult result = CUZK_CU(api, cuMemAllocHost)(&p, n_bytes);
    if (result != CUDA_SUCCESS) {
        give(pool, n_bytes);
        CUZK_FAIL_IF(result == CUDA_ERROR_OUT_OF_MEMORY, err, CUZK_E_MEMORY,
                     "pinned host memory: the system has none of %.1f MiB", mebibytes(n_bytes));
        return cuzk_cuda_check(api, result, "cuMemAllocHost", __FILE__, __LINE__, err);
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_pinned_free(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, void *p, size_t n_bytes)
{
    if (p != NULL) {
        (void)CUZK_CU(api, cuMemFreeHost)(p);
        give(pool, n_bytes);
    }
}

/* Whole pages around the bytes. */
typedef struct {
    uintptr_t begin;
    size_t n_bytes;
} pages;

static pages pages_of(const void *p, size_t n_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)p / page * page;
    return (pages){begin, ((uintptr_t)p + n_bytes + page - 1) / page * page - begin};
}

bool cuzk_pinned_register(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, const void *p,
                          size_t n_bytes)
{
    uint64_t before = 0;
    pages all = pages_of(p, n_bytes);
    if (n_bytes == 0 || !take(pool, all.n_bytes, &before)) {
        return false;
    }
    bool done = CUZK_CU(api, cuMemHostRegister)((void *)all.begin, all.n_bytes,
                                                CU_MEMHOSTREGISTER_PORTABLE) == CUDA_SUCCESS;
    if (!done) {
        give(pool, all.n_bytes);
    }
    return done;
}

void cuzk_pinned_unregister(cuzk_pinned_pool *pool, const cuzk_cuda_api *api, const void *p,
                            size_t n_bytes)
{
    pages all = pages_of(p, n_bytes);
    (void)CUZK_CU(api, cuMemHostUnregister)((void *)all.begin);
    give(pool, all.n_bytes);
}
