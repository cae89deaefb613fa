/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A fixed set of spin locks that share out the elements of a large array: for scattered additions,
 * where each critical section is a few nanoseconds and collisions are rare.
 *
 * A lock has a cache line of its own and serves blocks of neighbouring elements: a thread that
 * works in one part of the array keeps the line, and takes it from nobody. */
#ifndef CUZK_BASE_STRIPES_H
#define CUZK_BASE_STRIPES_H

#include <stdatomic.h>
#include <stdint.h>

enum { CUZK_LG_STRIPES = 9, CUZK_STRIPES = 1 << CUZK_LG_STRIPES, CUZK_STRIPE_ELEMENTS = 64 };

/* All zero = all free. */
typedef struct {
    struct {
        _Atomic uint8_t lock;
        uint8_t unused[63]; /* of the line */
    } stripes[CUZK_STRIPES];
} cuzk_stripes;

/* The stripe of an element. Blocks are scattered, since threads often are equally far apart. */
static inline unsigned cuzk_stripe_of(uint64_t element)
{
    uint64_t block = element / CUZK_STRIPE_ELEMENTS;
    return (unsigned)(block * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CUZK_LG_STRIPES));
}

static inline void cuzk_stripes_lock(cuzk_stripes *s, uint64_t element)
{
    /* Acquire: what the last holder wrote is seen. */
    while (atomic_exchange_explicit(&s->stripes[cuzk_stripe_of(element)].lock, 1,
                                    memory_order_acquire)) {
    }
}

static inline void cuzk_stripes_unlock(cuzk_stripes *s, uint64_t element)
{
    atomic_store_explicit(&s->stripes[cuzk_stripe_of(element)].lock, 0, memory_order_release);
}

#endif
