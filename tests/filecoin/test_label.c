/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Labels, natively and as a circuit, of random places and parents against the message written out
 * and hashed by a SHA-256 that shares nothing with src/; columns against one hash at a time; the
 * replica against plain addition. */
#include "filecoin/circuit_label.h"
#include "filecoin/label.h"
#include "gadget/plain.h"
#include "gadget/poseidon.h"
#include "gadget/support.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed01ab;

static void random_value(uint8_t out[32])
{
    for (int i = 0; i < 4; i++) {
        uint64_t r = cuzk_test_random(&seed);
        memcpy(out + 8 * i, &r, 8);
    }
    out[31] &= 0x3f; /* below the order */
}

/* What a label is made of. */
struct node {
    uint8_t replica_id[32], parents[CUZK_PARENTS][32];
    uint32_t layer;
    uint64_t number;
    unsigned n_parents; /* 6 in the first layer, else 14 */
};

static void random_node(struct node *n, uint32_t layer)
{
    random_value(n->replica_id);
    for (int i = 0; i < CUZK_PARENTS; i++) {
        random_value(n->parents[i]);
    }
    n->layer = layer;
    n->n_parents = layer == 1 ? 6 : 14;
    n->number = cuzk_test_random(&seed) >> (cuzk_test_random(&seed) % 64);
    n->number = n->number == 0 ? 1 : n->number;
}

/* replica id | layer, 4 bytes big-endian | node, 8 | 20 zeros | 37 parents, cycled. */
static void plain_label(uint8_t out[32], const struct node *n)
{
    uint8_t message[64 + 37 * 32] = {0};
    memcpy(message, n->replica_id, 32);
    for (int i = 0; i < 4; i++) {
        message[32 + i] = (uint8_t)(n->layer >> (24 - 8 * i));
    }
    for (int i = 0; i < 8; i++) {
        message[36 + i] = (uint8_t)(n->number >> (56 - 8 * i));
    }
    for (unsigned i = 0; i < 37; i++) {
        memcpy(message + 64 + 32 * i, n->parents[i % n->n_parents], 32);
    }
    plain_sha256(out, message, sizeof message);
    out[31] &= 0x3f;
}

static void test_native(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        struct node n;
        cuzk_digest parents[CUZK_PARENTS], replica_id, found;
        const cuzk_digest *list[CUZK_PARENTS] = {NULL};
        uint8_t expected[32];
        random_node(&n, 1 + round % 11);
        plain_label(expected, &n);
        memcpy(replica_id.b, n.replica_id, 32);
        for (unsigned i = 0; i < n.n_parents; i++) { /* those of the expander may be missing */
            memcpy(parents[i].b, n.parents[i], 32);
            list[i] = &parents[i];
        }
        cuzk_label(&found, &replica_id, n.layer, n.number, list);
        assert_memory_equal(found.b, expected, 32);
    }
}

/* ---- as a circuit ---------------------------------------------------------------------------- */

static void describe(cuzk_cs *cs, const void *ctx)
{
    const struct node *n = ctx;
    cuzk_digest_words replica_id, parents[CUZK_PARENTS];
    cuzk_bit bits[64];
    cuzk_num x = cuzk_cs_alloc_num(cs, n->replica_id);
    cuzk_num_to_words(cs, &x, replica_id.w);
    cuzk_alloc_bits(cs, n->number, 64, bits);
    for (unsigned i = 0; i < n->n_parents; i++) {
        x = cuzk_cs_alloc_num(cs, n->parents[i]);
        cuzk_num_to_words(cs, &x, parents[i].w);
    }
    x = cuzk_label_circuit(cs, &replica_id, n->layer, bits, parents, n->n_parents);
    cuzk_cs_inputize(cs, &x);
}

static void test_circuit(void **state)
{
    (void)state;
    for (uint32_t layer = 1; layer <= 11; layer += 5) {
        struct node n;
        random_node(&n, layer);
        cuzk_shape *s =
            support_shape(describe, &n); /* whatever the values: layer and parents only */
        for (int round = 0; round < 3; round++) {
            uint8_t expected[32], label[32];
            random_node(&n, layer);
            plain_label(expected, &n);
            cuzk_witness *w = support_witness(s, describe, &n);
            cuzk_witness_get(w, 1, label);
            assert_memory_equal(label, expected, 32);
            support_expect_satisfied(s, w);
            if (round == 0) {
                support_expect_tight(s, w, 6);
            }
            cuzk_witness_destroy(w);
        }
        cuzk_shape_destroy(s);
    }
}

/* ---- columns and replica --------------------------------------------------------------------- */

static void test_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 37 };
    static const unsigned layers[] = {2, 11};
    for (size_t l = 0; l < 2; l++) {
        uint8_t rows[COLUMNS][CUZK_POREP_LAYERS_MAX][32];
        const cuzk_digest *list[COLUMNS];
        cuzk_digest found[COLUMNS];
        for (unsigned n = 1; n <= COLUMNS; n += 6) {
            for (unsigned i = 0; i < n; i++) {
                for (unsigned k = 0; k < layers[l]; k++) {
                    random_value(rows[i][k]);
                }
                list[i] = (const cuzk_digest *)rows[i];
            }
            cuzk_column_hashes(found, list, layers[l], n);
            for (unsigned i = 0; i < n; i++) {
                cuzk_digest one;
                cuzk_poseidon_hash(layers[l], cuzk_poseidon_merkle_tag(layers[l]), &one, rows[i],
                                   1);
                assert_memory_equal(found[i].b, one.b, 32);
            }
        }
    }
}

static void test_replica(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        cuzk_digest label, data, found;
        uint8_t expected[32];
        random_value(label.b);
        random_value(data.b);
        if (round % 3 == 0) { /* beyond the order: label + data = r - 1 + data */
            static const uint8_t largest[32] = {0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
                                                0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
                                                0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33,
                                                0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};
            memcpy(label.b, largest, 32);
        }
        plain_add(expected, label.b, data.b);
        cuzk_encode(&found, &label, &data);
        assert_memory_equal(found.b, expected, 32);
        cuzk_encode(&label, &label, &data); /* in place */
        assert_memory_equal(label.b, expected, 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_native),
        cmocka_unit_test(test_circuit),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_replica),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
