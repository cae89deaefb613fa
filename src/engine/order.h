/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queues in the engine's order: priority, then the oldest job, then the lowest unit; and timers,
 * where seq is a time and the rest zero.
 *
 * A pairing heap whose nodes lie in what is queued: nothing is allocated, so nothing can fail;
 * first is O(1), push O(1), removal anywhere O(log n) amortised. Equal keys leave in any order.
 * Source: Fredman, Sedgewick, Sleator, Tarjan, The pairing heap (1986), two-pass form. */
#ifndef CUZK_ENGINE_ORDER_H
#define CUZK_ENGINE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is a node in no queue. The key must not change while it is in one. */
typedef struct cuzk_order_node {
    struct cuzk_order_node *child; /* first of its children */
    struct cuzk_order_node *next;  /* sibling */
    struct cuzk_order_node *prev;  /* sibling before it, the parent for a first child */
    uint64_t seq;                  /* lower is served first */
    unsigned priority;             /* higher is served first */
    unsigned unit;                 /* lower is served first */
    bool is_queued;
} cuzk_order_node;

/* All zero is an empty queue. Threads: one at a time. */
typedef struct {
    cuzk_order_node *root;
    size_t n;
} cuzk_order;

/** Whether a is served before b. */
static inline bool cuzk_order_before(const cuzk_order_node *a, const cuzk_order_node *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->seq != b->seq) {
        return a->seq < b->seq;
    }
    return a->unit < b->unit;
}

/** The node that is served first, or NULL. It stays queued. */
static inline cuzk_order_node *cuzk_order_first(const cuzk_order *queue)
{
    return queue->root;
}

/** Queue a node, which must not be in any queue. Borrowed until it is removed. */
void cuzk_order_push(cuzk_order *queue, cuzk_order_node *node);

/** Take the first node out; NULL from an empty queue. */
cuzk_order_node *cuzk_order_pop(cuzk_order *queue);

/** Take a node out, which must be in this queue. */
void cuzk_order_remove(cuzk_order *queue, cuzk_order_node *node);

#endif
