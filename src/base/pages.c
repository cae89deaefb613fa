/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Anonymous private mappings. From 16 MiB on the mapping starts at a multiple of 2 MiB and asks for
 * transparent huge pages: fewer faults, fewer TLB misses. Smaller workspaces are used sparsely by
 * small proofs, and clearing a huge page takes as long as a pairing. */
#define _GNU_SOURCE
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t huge = (size_t)2 << 20, huge_from = (size_t)16 << 20;
static const size_t huge_from_dense = (size_t)4 << 20;

static size_t rounded(size_t n_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return n_bytes == 0 ? page : (n_bytes + page - 1) / page * page;
}

static void *map(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *alloc(size_t n_bytes, size_t from)
{
    if (n_bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t n = rounded(n_bytes);
    if (n < from) {
        return map(n);
    }
    uint8_t *p = map(n + huge);
    if (p == NULL) {
        return NULL;
    }
    size_t skip = (huge - (uintptr_t)p % huge) % huge;
    if (skip > 0) {
        munmap(p, skip);
    }
    if (skip < huge) {
        munmap(p + skip + n, huge - skip);
    }
    madvise(p + skip, n, MADV_HUGEPAGE);
    return p + skip;
}

void *cuzk_pages_alloc(size_t n_bytes)
{
    return alloc(n_bytes, huge_from);
}

void *cuzk_pages_alloc_dense(size_t n_bytes)
{
    return alloc(n_bytes, huge_from_dense);
}

void cuzk_pages_free(void *p, size_t n_bytes)
{
    if (p != NULL) {
        munmap(p, rounded(n_bytes));
    }
}

void cuzk_pages_discard(void *p, size_t n_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)p + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)p + n_bytes) & ~(page - 1);
    if (begin < end) {
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}
