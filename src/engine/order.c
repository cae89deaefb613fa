/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pairing heap behind order.h. */
#include "engine/order.h"

#include "base/status.h"

/* Make the later of two trees the first child of the other. */
static cuzk_order_node *meld(cuzk_order_node *a, cuzk_order_node *b)
{
    if (a == NULL) {
        return b;
    }
    if (b == NULL) {
        return a;
    }
    if (cuzk_order_before(b, a)) {
        cuzk_order_node *t = a;
        a = b;
        b = t;
    }
    b->prev = a;
    b->next = a->child;
    if (a->child != NULL) {
        a->child->prev = b;
    }
    a->child = b;
    a->next = NULL;
    a->prev = NULL;
    return a;
}

/* One tree of a list of siblings: pairs from left to right, then all from right to left. */
static cuzk_order_node *meld_siblings(cuzk_order_node *first)
{
    cuzk_order_node *pairs = NULL; /* the last pair first */
    while (first != NULL) {
        cuzk_order_node *a = first;
        cuzk_order_node *b = a->next;
        first = b != NULL ? b->next : NULL;
        a->next = NULL;
        if (b != NULL) {
            b->next = NULL;
        }
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    cuzk_order_node *root = NULL;
    while (pairs != NULL) {
        cuzk_order_node *rest = pairs->next;
        pairs->next = NULL;
        root = meld(root, pairs);
        pairs = rest;
    }
    if (root != NULL) {
        root->prev = NULL;
        root->next = NULL;
    }
    return root;
}

void cuzk_order_push(cuzk_order *queue, cuzk_order_node *node)
{
    CUZK_ASSERT(!node->is_queued);
    node->child = NULL;
    node->next = NULL;
    node->prev = NULL;
    node->is_queued = true;
    queue->root = meld(queue->root, node);
    queue->n++;
}

void cuzk_order_remove(cuzk_order *queue, cuzk_order_node *node)
{
    CUZK_ASSERT(node->is_queued && queue->n > 0);
    cuzk_order_node *rest = meld_siblings(node->child);
    if (node == queue->root) {
        queue->root = rest;
    } else {
        if (node->prev->child == node) {
            node->prev->child = node->next;
        } else {
            node->prev->next = node->next;
        }
        if (node->next != NULL) {
            node->next->prev = node->prev;
        }
        queue->root = meld(queue->root, rest);
    }
    node->child = NULL;
    node->next = NULL;
    node->prev = NULL;
    node->is_queued = false;
    queue->n--;
}

cuzk_order_node *cuzk_order_pop(cuzk_order *queue)
{
    cuzk_order_node *first = queue->root;
    if (first != NULL) {
        cuzk_order_remove(queue, first);
    }
    return first;
}
