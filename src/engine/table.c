/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The hash table of table.h and its hash. */
#include "engine/table.h"

#include "base/bytes.h"
#include "base/random.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 256 };

static inline uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] = rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] = rotl(v[2], 32);
}

uint64_t cuzk_siphash(const uint64_t key[2], const void *data, size_t n_bytes)
{
    const uint8_t *p = (const uint8_t *)data;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t i = 0;
    for (; i + 8 <= n_bytes; i += 8) {
        uint64_t m = cuzk_load_u64_le(p + i);
        v[3] ^= m;
        sip_round(v);
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t last = (uint64_t)n_bytes << 56;
    for (size_t k = 0; i + k < n_bytes; k++) {
        last |= (uint64_t)p[i + k] << (8 * k);
    }
    v[3] ^= last;
    sip_round(v);
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int k = 0; k < 4; k++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

cuzk_status cuzk_table_init(cuzk_table *table, cuzk_error *err)
{
    *table = (cuzk_table){0};
    CUZK_TRY(cuzk_random_bytes(table->key, sizeof table->key, err));
    table->buckets = calloc(FIRST_BUCKETS, sizeof(cuzk_table_node *));
    CUZK_FAIL_IF(table->buckets == NULL, err, CUZK_E_MEMORY, "no memory for a table of jobs");
    table->n_buckets = FIRST_BUCKETS;
    return CUZK_OK;
}

void cuzk_table_clear(cuzk_table *table)
{
    free(table->buckets);
    *table = (cuzk_table){0};
}

uint64_t cuzk_table_hash(const cuzk_table *table, const char *text)
{
    return cuzk_siphash(table->key, text, strlen(text));
}

static void grow(cuzk_table *table)
{
    size_t n_buckets = table->n_buckets * 2;
    cuzk_table_node **buckets = calloc(n_buckets, sizeof *buckets);
    if (buckets == NULL) {
        return;
    }
    for (size_t i = 0; i < table->n_buckets; i++) {
        cuzk_table_node *next = NULL;
        for (cuzk_table_node *node = table->buckets[i]; node != NULL; node = next) {
            next = node->next;
            cuzk_table_node **bucket = &buckets[node->hash & (n_buckets - 1)];
            node->next = *bucket;
            *bucket = node;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->n_buckets = n_buckets;
}

void cuzk_table_add(cuzk_table *table, cuzk_table_node *node, uint64_t hash)
{
    if (table->n >= table->n_buckets) {
        grow(table);
    }
    cuzk_table_node **bucket = &table->buckets[hash & (table->n_buckets - 1)];
    node->hash = hash;
    node->next = *bucket;
    *bucket = node;
    table->n++;
}

void cuzk_table_remove(cuzk_table *table, cuzk_table_node *node)
{
    cuzk_table_node **at = &table->buckets[node->hash & (table->n_buckets - 1)];
    while (*at != node) {
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    table->n--;
}

cuzk_table_node *cuzk_table_find(const cuzk_table *table, uint64_t hash)
{
    cuzk_table_node *node = table->buckets[hash & (table->n_buckets - 1)];
    while (node != NULL && node->hash != hash) {
        node = node->next;
    }
    return node;
}

cuzk_table_node *cuzk_table_next(const cuzk_table_node *node)
{
    uint64_t hash = node->hash;
    cuzk_table_node *next = node->next;
    while (next != NULL && next->hash != hash) {
        next = next->next;
    }
    return next;
}
