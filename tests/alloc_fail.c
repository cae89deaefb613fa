/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "alloc_fail.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

static _Atomic long left = -1; /* allocations that still succeed; negative: all do */
static atomic_bool has_failed;

void alloc_fail_at(unsigned n)
{
    has_failed = false;
    left = (long)n;
}

bool alloc_fail_stop(void)
{
    left = -1;
    return has_failed;
}

static bool fails_now(void)
{
    if (left < 0 || atomic_fetch_sub(&left, 1) != 0) {
        return false;
    }
    has_failed = true;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails_now() ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, n);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    return fails_now() ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, offset);
}
