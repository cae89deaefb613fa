/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory that ends where a page ends that nobody may touch: one byte too far is a fault at once, in
 * every build. For Linux; include after defining _GNU_SOURCE. */
#ifndef CUZK_TESTS_FENCE_H
#define CUZK_TESTS_FENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* n bytes that end where memory ends. */
typedef struct {
    uint8_t *map, *at;
    size_t map_bytes;
} fenced;

static inline fenced fence(size_t n_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fenced f = {.map_bytes = (n_bytes + page - 1) / page * page + page};
    f.map = mmap(NULL, f.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f.map == MAP_FAILED || mprotect(f.map + f.map_bytes - page, page, PROT_NONE) != 0) {
        abort();
    }
    f.at = f.map + f.map_bytes - page - n_bytes;
    return f;
}

/** A copy that can only be read. */
static inline fenced fenced_copy(const void *data, size_t n_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fenced f = fence(n_bytes);
    if (n_bytes != 0) {
        memcpy(f.at, data, n_bytes);
    }
    if (mprotect(f.map, f.map_bytes - page, PROT_READ) != 0 && n_bytes != 0) {
        abort();
    }
    return f;
}

static inline void unfence(fenced *f)
{
    if (munmap(f->map, f->map_bytes) != 0) {
        abort();
    }
}

#endif
