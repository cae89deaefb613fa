/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parents of the stacked graph: the reference's parent-cache digests for whole small graphs, and
 * sample nodes of large ones. */
#include "base/bytes.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "filecoin/chacha.h"
#include "filecoin/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void init(cuzk_graph *graph, uint64_t id, unsigned lg_nodes, cuzk_api_version api)
{
    uint8_t porep_id[32] = {0};
    cuzk_store_u64_le(porep_id, id);
    cuzk_graph_init(graph, porep_id, (uint64_t)1 << lg_nodes, api);
}

/* RFC 8439 section 2.3.2: ChaCha20's block function. */
static void test_chacha20_block(void **state)
{
    (void)state;
    uint8_t key[32];
    for (unsigned i = 0; i < 32; i++) {
        key[i] = (uint8_t)i;
    }
    const uint32_t tail[4] = {1, 0x09000000, 0x4a000000, 0};
    static const uint32_t expected[CUZK_CHACHA_WORDS] = {
        0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
        0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
        0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
    uint32_t out[CUZK_CHACHA_WORDS];
    cuzk_chacha_block(out, key, tail, 20);
    assert_memory_equal(out, expected, sizeof out);
}

/* Parents of a run of nodes as the reference's cache files have them. */
enum { NODE_BYTES = 4 * CUZK_PARENTS, CHUNK_NODES = 1 << 10, CHUNKS = 64 };

typedef struct {
    const cuzk_graph *graph;
    uint64_t first;
    uint8_t *bytes;
    bool outside[CHUNKS]; /* a parent is not a node */
} run;

static void write_chunk(void *ctx, size_t chunk, unsigned thread)
{
    run *r = ctx;
    (void)thread;
    for (uint64_t i = chunk * CHUNK_NODES; i < (chunk + 1) * CHUNK_NODES; i++) {
        uint64_t parents[CUZK_PARENTS];
        if (r->first + i >= r->graph->nodes) {
            break;
        }
        cuzk_graph_parents(r->graph, r->first + i, parents);
        for (unsigned p = 0; p < CUZK_PARENTS; p++) {
            r->outside[chunk] = r->outside[chunk] || parents[p] >= r->graph->nodes;
            cuzk_store_u32_le(r->bytes + i * NODE_BYTES + 4 * p, (uint32_t)parents[p]);
        }
    }
}

static void digest_parents(char hex[2 * CUZK_SHA256_BYTES + 1], const cuzk_graph *graph,
                           cuzk_pool *pool)
{
    uint8_t digest[CUZK_SHA256_BYTES];
    cuzk_sha256 sha;
    run r = {.graph = graph, .bytes = malloc((size_t)CHUNKS * CHUNK_NODES * NODE_BYTES)};
    assert_non_null(r.bytes);
    cuzk_sha256_init(&sha);
    for (; r.first < graph->nodes; r.first += CHUNKS * CHUNK_NODES) {
        uint64_t left = graph->nodes - r.first;
        uint64_t n = left < CHUNKS * CHUNK_NODES ? left : CHUNKS * CHUNK_NODES;
        cuzk_pool_for(pool, CHUNKS, write_chunk, &r);
        cuzk_sha256_update(&sha, r.bytes, n * NODE_BYTES);
    }
    for (unsigned i = 0; i < CHUNKS; i++) {
        assert_false(r.outside[i]);
    }
    free(r.bytes);
    cuzk_sha256_final(&sha, digest);
    for (unsigned k = 0; k < CUZK_SHA256_BYTES; k++) {
        snprintf(hex + 2 * k, 3, "%02x", digest[k]);
    }
}

static void test_parent_cache_digests(void **state)
{
    (void)state;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 0, NULL), CUZK_OK);
    static const struct {
        unsigned id, lg_nodes;
        cuzk_api_version api;
        const char *digest;
        bool long_run;
    } cases[] = {
        {0, 6, CUZK_API_V1_0, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d",
         false},
        {5, 6, CUZK_API_V1_1, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97",
         false},
        {1, 18, CUZK_API_V1_0, "a76604f2f59f2744c7151653bbb1d8596b6b57d295e6fa6c1f0c41d725b502ce",
         true},
        {6, 18, CUZK_API_V1_1, "03cd13565ded97c240a5f52e54295ad127bd0461b57904cb3a4d79b097bbecab",
         false},
        {2, 24, CUZK_API_V1_0, "3adcc092423aa76d6a7184016893406da44dd974b219a89cd3ece25e4e3018f5",
         true},
        {7, 24, CUZK_API_V1_1, "b5877d1963793efebc261fd8fde4dd6bc59e6b5c7abf52617a4ee023b8dc173a",
         true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].long_run && getenv("CUZK_NIGHTLY") == NULL) {
            continue;
        }
        cuzk_graph graph;
        init(&graph, cases[i].id, cases[i].lg_nodes, cases[i].api);
        char hex[2 * CUZK_SHA256_BYTES + 1];
        digest_parents(hex, &graph, pool);
        assert_string_equal(hex, cases[i].digest);
    }
    cuzk_pool_destroy(pool);
}

static void test_sample_parents(void **state)
{
    (void)state;
    static const struct {
        unsigned id, lg_nodes;
        cuzk_api_version api;
        uint64_t node, parents[CUZK_PARENTS];
    } cases[] = {
        {5, 6, CUZK_API_V1_1, 2, {1, 1, 1, 0, 1, 0, 30, 28, 55, 63, 63, 36, 37, 36}},
        {5, 6, CUZK_API_V1_1, 10, {9, 6, 6, 9, 9, 5, 30, 20, 60, 53, 31, 9, 47, 41}},
        {5, 6, CUZK_API_V1_1, 63, {62, 15, 42, 62, 61, 62, 0, 15, 30, 30, 28, 42, 49, 38}},
        {0, 6, CUZK_API_V1_0, 2, {0, 1, 1, 1, 1, 1, 32, 49, 26, 57, 3, 4, 47, 63}},
        {0, 6, CUZK_API_V1_0, 10, {6, 9, 2, 5, 8, 9, 44, 41, 23, 36, 14, 19, 4, 28}},
        {8,
         30,
         CUZK_API_V1_1,
         123456789,
         {123456788, 123452130, 57600536, 121375910, 81802541, 123454429, 756970061, 978149514,
          435142043, 446129461, 759011230, 69080554, 55615519, 90896364}},
        {3,
         30,
         CUZK_API_V1_0,
         123456789,
         {41130102, 123453260, 122832029, 14654775, 123356737, 123456788, 20305614, 169978765,
          305554723, 252811519, 482886680, 302671174, 307841414, 121507768}},
        {9,
         31,
         CUZK_API_V1_1,
         2000000000,
         {1999999999, 1999999993, 1962647136, 1999999788, 1999999886, 1997861841, 1730961925,
          2119997413, 1977501823, 1992944041, 1633349287, 1587301929, 987065099, 1150277945}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_graph graph;
        uint64_t parents[CUZK_PARENTS];
        init(&graph, cases[i].id, cases[i].lg_nodes, cases[i].api);
        cuzk_graph_parents(&graph, cases[i].node, parents);
        assert_memory_equal(parents, cases[i].parents, sizeof parents);
    }
}

static void test_first_nodes_have_no_parents(void **state)
{
    (void)state;
    cuzk_graph graph;
    init(&graph, 5, 6, CUZK_API_V1_1);
    for (uint64_t node = 0; node < 2; node++) {
        uint64_t parents[CUZK_PARENTS];
        cuzk_graph_parents(&graph, node, parents);
        for (unsigned p = 0; p < CUZK_DRG_PARENTS; p++) {
            assert_int_equal(parents[p], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chacha20_block),
        cmocka_unit_test(test_parent_cache_digests),
        cmocka_unit_test(test_sample_parents),
        cmocka_unit_test(test_first_nodes_have_no_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
