/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A fixed set of one-byte spin locks that share out the elements of a large array: for scattered
 * additions, where each critical section is a few nanoseconds and collisions are rare. */
#ifndef CUZK_BASE_STRIPES_H
#define CUZK_BASE_STRIPES_H

#include <stdatomic.h>
#include <stdint.h>

enum { CUZK_STRIPES = 4096 };

/* All zero = all free. */
typedef struct {
    _Atomic uint8_t lock[CUZK_STRIPES];
} cuzk_stripes;

static inline void cuzk_stripes_lock(cuzk_stripes *s, uint64_t element)
{
    /* Acquire: what the last holder wrote is seen. */
    while (atomic_exchange_explicit(&s->lock[element % CUZK_STRIPES], 1, memory_order_acquire)) {
    }
}

static inline void cuzk_stripes_unlock(cuzk_stripes *s, uint64_t element)
{
    atomic_store_explicit(&s->lock[element % CUZK_STRIPES], 0, memory_order_release);
}

#endif
