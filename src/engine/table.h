/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hash table whose nodes lie in what it holds. Texts of clients are hashed under a random key, so
 * that nobody can choose ids that fall together.
 *
 * The caller compares: cuzk_table_find gives the first node of a hash, cuzk_table_next the others
 * of the same hash. Where memory for more buckets cannot be had the table stays as small as it is:
 * slower, never wrong. */
#ifndef CUZK_ENGINE_TABLE_H
#define CUZK_ENGINE_TABLE_H

#include "base/status.h"

#include <stdint.h>

typedef struct cuzk_table_node {
    struct cuzk_table_node *next;
    uint64_t hash;
} cuzk_table_node;

/* Threads: one at a time. */
typedef struct {
    cuzk_table_node **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;
    uint64_t key[2];
} cuzk_table;

/** An empty table under a fresh key. Returned: cuzk_table_clear. Errors: E_MEMORY, E_INTERNAL. */
cuzk_status cuzk_table_init(cuzk_table *table, cuzk_error *err) CUZK_WARN_UNUSED;

/** Free the buckets; what is held is left alone. All zero is fine. */
void cuzk_table_clear(cuzk_table *table);

/** Hash of a text under the table's key: SipHash-2-4. */
uint64_t cuzk_table_hash(const cuzk_table *table, const char *text);

/** Add a node under a hash. Borrowed until removed. */
void cuzk_table_add(cuzk_table *table, cuzk_table_node *node, uint64_t hash);

/** Remove a node that is in the table. */
void cuzk_table_remove(cuzk_table *table, cuzk_table_node *node);

/** First node of a hash, or NULL. */
cuzk_table_node *cuzk_table_find(const cuzk_table *table, uint64_t hash);

/** Next node of the same hash, or NULL. */
cuzk_table_node *cuzk_table_next(const cuzk_table_node *node);

/** SipHash-2-4 of n_bytes. Source: Aumasson, Bernstein, SipHash: a fast short-input PRF (2012). */
uint64_t cuzk_siphash(const uint64_t key[2], const void *data, size_t n_bytes);

#endif
