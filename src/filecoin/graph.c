/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/graph.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/chacha.h"

/* Metagraph of the base graph: every node stands for this many. */
enum { META = CUZK_DRG_PARENTS - 1 };

static void tagged_digest(uint8_t out[CUZK_SHA256_BYTES], const char *tag, const uint8_t id[32])
{
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, tag, strlen(tag));
    cuzk_sha256_update(&sha, id, 32);
    cuzk_sha256_final(&sha, out);
}

void cuzk_graph_init(cuzk_graph *graph, const uint8_t porep_id[32], uint64_t nodes,
                     cuzk_api_version api)
{
    *graph = (cuzk_graph){.nodes = nodes, .api = api, .feistel_half = 1};
    uint8_t digest[CUZK_SHA256_BYTES];
    tagged_digest(digest, "Filecoin_DRSample", porep_id);
    memcpy(graph->drg_seed, digest, sizeof graph->drg_seed);
    tagged_digest(digest, "Filecoin_Feistel", porep_id);
    for (unsigned i = 0; i < 3; i++) {
        graph->feistel_keys[i] = cuzk_load_u64_le(digest + 8 * i);
    }
    while ((uint64_t)1 << (2 * graph->feistel_half) < CUZK_EXP_PARENTS * nodes) {
        graph->feistel_half++;
    }
}

/* A stream of 64-bit words: ChaCha8 with a 64-bit block counter and stream 0. */
typedef struct {
    uint8_t key[32];
    uint32_t block[CUZK_CHACHA_WORDS];
    uint32_t counter;
    unsigned used;
} word_stream;

static uint64_t next_u64(word_stream *s)
{
    if (s->used == CUZK_CHACHA_WORDS) {
        const uint32_t tail[4] = {s->counter++, 0, 0, 0};
        cuzk_chacha_block(s->block, s->key, tail, 8);
        s->used = 0;
    }
    uint64_t low = s->block[s->used];
    uint64_t high = s->block[s->used + 1];
    s->used += 2;
    return low | high << 32;
}

static void drg_parents(const cuzk_graph *graph, uint64_t node, uint64_t out[CUZK_DRG_PARENTS])
{
    if (node < 2) {
        memset(out, 0, CUZK_DRG_PARENTS * sizeof out[0]);
        return;
    }
    word_stream s = {.used = CUZK_CHACHA_WORDS};
    memcpy(s.key, graph->drg_seed, sizeof graph->drg_seed);
    cuzk_store_u32_le(s.key + sizeof graph->drg_seed, (uint32_t)node);
    uint64_t x = META * node;
    /* ceil(log2 x): the reference rounds a double, which is exact for x below 2^34 */
    unsigned buckets = 64 - (unsigned)__builtin_clzll(x - 1);
    uint64_t *sampled = graph->api == CUZK_API_V1_0 ? out : out + 1;
    for (unsigned j = 0; j < META; j++) {
        uint64_t bucket = next_u64(&s) % buckets + 1;
        uint64_t big = (uint64_t)1 << bucket < x ? (uint64_t)1 << bucket : x;
        uint64_t small = big / 2 > 2 ? big / 2 : 2;
        uint64_t parent = (x - (small + next_u64(&s) % (big - small + 1))) / META;
        sampled[j] = parent == node ? node - 1 : parent;
    }
    out[graph->api == CUZK_API_V1_0 ? META : 0] = node - 1;
}

/* Round function: 8 bytes of BLAKE2b over the half and the key. */
static uint64_t feistel_round(uint64_t right, uint64_t key)
{
    uint8_t message[16];
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    cuzk_store_u64_be(message, right);
    cuzk_store_u64_be(message + 8, key);
    cuzk_blake2b_digest(digest, message, sizeof message);
    return cuzk_load_u64_be(digest);
}

/* A permutation of 0 … 8·nodes - 1: walks the permutation of 2^(2·half) values back into range. */
static uint64_t permute(const cuzk_graph *graph, uint64_t value)
{
    unsigned half = graph->feistel_half;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = value >> half & mask;
        uint64_t right = value & mask;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t mixed = left ^ (feistel_round(right, graph->feistel_keys[i]) & mask);
            left = right;
            right = mixed;
        }
        value = left << half | right;
    } while (value >= CUZK_EXP_PARENTS * graph->nodes);
    return value;
}

void cuzk_graph_parents(const cuzk_graph *graph, uint64_t node, uint64_t parents[CUZK_PARENTS])
{
    drg_parents(graph, node, parents);
    for (unsigned i = 0; i < CUZK_EXP_PARENTS; i++) {
        uint64_t end = permute(graph, CUZK_EXP_PARENTS * node + i);
        /* API V1_0 cut the edge's end to 32 bits before it made a node of it */
        end = graph->api == CUZK_API_V1_0 ? (uint32_t)end : end;
        parents[CUZK_DRG_PARENTS + i] = end / CUZK_EXP_PARENTS;
    }
}
