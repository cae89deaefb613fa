/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/merkle_roots.h"

#include "base/sha256.h"
#include "gadget/poseidon.h"

#include <string.h>

/* Paths of one chunk go up together: a multiple of what the hash computes at a time. */
enum { CHUNK = 64, BYTES = 32 };

typedef struct {
    uint8_t *roots;
    const cuzk_merkle_path *paths;
    size_t n;
    const uint8_t *arity; /* NULL: binary SHA-256 */
    unsigned n_levels;
} job;

/* Where a path stands: the node it has reached, the siblings and index bits that are left. */
typedef struct {
    const uint8_t *siblings;
    uint64_t index;
} place;

/* The children of the next node: the value at its place among its siblings. */
static void put_children(uint8_t *children, const uint8_t *value, place *p, unsigned arity)
{
    unsigned at = (unsigned)(p->index & (arity - 1));
    memcpy(children, p->siblings, (size_t)BYTES * at);
    memcpy(children + (size_t)BYTES * at, value, BYTES);
    memcpy(children + (size_t)BYTES * (at + 1), p->siblings + (size_t)BYTES * at,
           (size_t)BYTES * (arity - 1 - at));
    p->siblings += (size_t)BYTES * (arity - 1);
    p->index >>= __builtin_ctz(arity);
}

static void hash_nodes(uint8_t *values, const uint8_t *children, size_t n, unsigned arity,
                       bool poseidon)
{
    if (poseidon) {
        cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), values, children, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *digest = values + BYTES * i;
        cuzk_sha256_digest(digest, children + (size_t)2 * BYTES * i, (size_t)2 * BYTES);
        digest[31] &= 0x3f;
    }
}

static void climb(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const job *j = ctx;
    size_t first = chunk * CHUNK, n = j->n - first < CHUNK ? j->n - first : CHUNK;
    place at[CHUNK];
    uint8_t children[CHUNK * CUZK_MERKLE_ARITY_MAX * BYTES];
    uint8_t *values = j->roots + first * BYTES;
    for (size_t i = 0; i < n; i++) {
        const cuzk_merkle_path *p = &j->paths[first + i];
        memcpy(values + BYTES * i, p->leaf, BYTES);
        at[i] = (place){p->siblings, p->index};
    }
    for (unsigned level = 0; level < j->n_levels; level++) {
        unsigned arity = j->arity == NULL ? 2 : j->arity[level];
        for (size_t i = 0; i < n; i++) {
            put_children(children + BYTES * arity * i, values + BYTES * i, &at[i], arity);
        }
        hash_nodes(values, children, n, arity, j->arity != NULL);
    }
}

static void climb_all(job *j, cuzk_pool *pool)
{
    cuzk_pool_for(pool, (j->n + CHUNK - 1) / CHUNK, climb, j);
}

void cuzk_poseidon_roots(void *roots, const cuzk_merkle_path *paths, size_t n, const uint8_t *arity,
                         unsigned n_levels, cuzk_pool *pool)
{
    static const uint8_t none[1] = {2};
    job j = {roots, paths, n, n_levels == 0 ? none : arity, n_levels};
    climb_all(&j, pool);
}

void cuzk_sha256_roots(void *roots, const cuzk_merkle_path *paths, size_t n, unsigned n_levels,
                       cuzk_pool *pool)
{
    job j = {roots, paths, n, NULL, n_levels};
    climb_all(&j, pool);
}

void cuzk_comm_r(void *out, const void *comm_c, const void *comm_r_last)
{
    uint8_t both[2 * BYTES];
    memcpy(both, comm_c, BYTES);
    memcpy(both + BYTES, comm_r_last, BYTES);
    cuzk_poseidon_hash(2, cuzk_poseidon_merkle_tag(2), out, both, 1);
}
