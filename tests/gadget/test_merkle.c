/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Merkle paths as circuits, against roots computed here: trees of every mixture of arities, right
 * and wrong places, siblings and roots; one path at a time against many; the cursors that share a
 * witness. */
#include "base/pool.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "plain.h"
#include "r1cs/satisfy.h"
#include "random.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0041;

static const cuzk_merkle_shape shapes[] = {
    {CUZK_MERKLE_POSEIDON, 0, {0}},          {CUZK_MERKLE_POSEIDON, 1, {2}},
    {CUZK_MERKLE_POSEIDON, 1, {8}},          {CUZK_MERKLE_POSEIDON, 2, {8, 4}},
    {CUZK_MERKLE_POSEIDON, 3, {8, 8, 2}},    {CUZK_MERKLE_POSEIDON, 4, {8, 8, 8, 2}},
    {CUZK_MERKLE_POSEIDON, 4, {4, 2, 8, 4}}, {CUZK_MERKLE_SHA256, 1, {2}},
    {CUZK_MERKLE_SHA256, 3, {2, 2, 2}},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], SIBLINGS_MAX = 32 };

static void random_value(uint8_t out[32])
{
    for (int i = 0; i < 4; i++) {
        uint64_t r = cuzk_test_random(&seed);
        memcpy(out + 8 * i, &r, 8);
    }
    out[31] &= 0x3f; /* below r */
}

/* One opening and the root that it leads to. */
struct opening {
    const cuzk_merkle_shape *shape;
    uint64_t index;
    uint8_t leaf[32], siblings[SIBLINGS_MAX][32], root[32];
};

static void random_opening(struct opening *o, const cuzk_merkle_shape *shape)
{
    o->shape = shape;
    o->index = 0;
    random_value(o->leaf);
    uint8_t node[32], children[8][32];
    unsigned at = 0, shift = 0;
    memcpy(node, o->leaf, 32);
    for (unsigned level = 0; level < shape->n_levels; level++) {
        unsigned arity = shape->arity[level];
        unsigned place = (unsigned)(cuzk_test_random(&seed) % arity);
        for (unsigned i = 0; i < arity; i++) {
            if (i != place) {
                random_value(o->siblings[at]);
            }
            memcpy(children[i], i == place ? node : o->siblings[at++], 32);
        }
        if (shape->hash == CUZK_MERKLE_SHA256) {
            plain_sha256_node(node, children[0], children[1]);
        } else {
            cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), node, children, 1);
        }
        o->index |= (uint64_t)place << shift;
        shift += (unsigned)__builtin_ctz(arity);
    }
    memcpy(o->root, node, 32);
}

/* ---- openings whose place is a public input ---- */

static void describe_open(cuzk_cs *cs, const void *ctx)
{
    const struct opening *o = ctx;
    cuzk_num leaf = cuzk_cs_alloc_num(cs, o->leaf), root = cuzk_cs_alloc_num(cs, o->root);
    const cuzk_merkle_path path = {o->index, &o->siblings[0][0]};
    cuzk_merkle_open(cs, 1, o->shape, &leaf, &path, &root);
}

static cuzk_status check_open(const cuzk_shape *s, const struct opening *o)
{
    cuzk_witness *w = support_witness(s, describe_open, o);
    uint8_t place[32], expected[32];
    cuzk_witness_get(w, 1, place);
    support_number(expected, o->index);
    assert_memory_equal(place, expected, 32);
    cuzk_status status = cuzk_shape_check_witness(s, w, NULL, NULL, NULL);
    cuzk_witness_destroy(w);
    return status;
}

static void test_open(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        const cuzk_merkle_shape *shape = &shapes[i];
        struct opening o = {.shape = shape};
        cuzk_shape *s = support_shape(describe_open, &o);
        if (shape->hash == CUZK_MERKLE_POSEIDON) {
            assert_int_equal(cuzk_shape_n_aux(s), 2 + cuzk_merkle_open_n_aux(shape));
        }
        unsigned n_bits = cuzk_merkle_index_bits(shape);
        unsigned n_siblings = cuzk_merkle_n_siblings(shape);
        assert_true(n_siblings <= SIBLINGS_MAX);
        for (int round = 0; round < (shape->hash == CUZK_MERKLE_SHA256 ? 1 : 6); round++) {
            random_opening(&o, shape);
            assert_int_equal(check_open(s, &o), CUZK_OK);
            /* another root, leaf, place or sibling leads somewhere else */
            struct opening bad = o;
            bad.root[0] ^= 1;
            assert_int_equal(check_open(s, &bad), CUZK_E_UNSATISFIED);
            bad = o;
            bad.leaf[9] ^= 1;
            assert_int_equal(check_open(s, &bad), CUZK_E_UNSATISFIED);
            for (unsigned bit = 0; bit < n_bits; bit++) {
                bad = o;
                bad.index ^= (uint64_t)1 << bit;
                assert_int_equal(check_open(s, &bad), CUZK_E_UNSATISFIED);
            }
            for (unsigned k = 0; k < n_siblings; k += 1 + n_siblings / 4) {
                bad = o;
                bad.siblings[k][17] ^= 4;
                assert_int_equal(check_open(s, &bad), CUZK_E_UNSATISFIED);
            }
        }
        random_opening(&o, shape);
        cuzk_witness *w = support_witness(s, describe_open, &o);
        support_expect_tight(s, w, s->n_vars - 1 < 60 ? s->n_vars - 1 : 60);
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
    }
}

/* ---- openings at a place that the circuit has ---- */

static void describe_check(cuzk_cs *cs, const void *ctx)
{
    const struct opening *o = ctx;
    unsigned n_bits = cuzk_merkle_index_bits(o->shape);
    cuzk_bit bits[64] = {{0}};
    cuzk_num siblings[SIBLINGS_MAX] = {{0}};
    if (n_bits > 0) {
        cuzk_alloc_bits(cs, o->index, n_bits, bits);
    }
    for (unsigned k = 0; k < cuzk_merkle_n_siblings(o->shape); k++) {
        siblings[k] = cuzk_cs_alloc_num(cs, o->siblings[k]);
    }
    cuzk_merkle_place place = {.bits = bits, .siblings = siblings};
    place.leaf = cuzk_cs_alloc_num(cs, o->leaf);
    place.root = cuzk_cs_alloc_num(cs, o->root);
    cuzk_merkle_check(cs, 1, o->shape, &place);
}

static void test_check(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        const cuzk_merkle_shape *shape = &shapes[i];
        struct opening o = {.shape = shape};
        cuzk_shape *s = support_shape(describe_check, &o);
        unsigned own = 2 + cuzk_merkle_index_bits(shape) + cuzk_merkle_n_siblings(shape);
        assert_int_equal(s->n_inputs, 1); /* nothing public */
        if (shape->hash == CUZK_MERKLE_POSEIDON) {
            assert_int_equal(cuzk_shape_n_aux(s), own + cuzk_merkle_check_n_aux(shape));
        }
        for (int round = 0; round < 2; round++) {
            random_opening(&o, shape);
            cuzk_witness *w = support_witness(s, describe_check, &o);
            support_expect_satisfied(s, w);
            support_expect_tight(s, w, s->n_vars - 1 < 40 ? s->n_vars - 1 : 40);
            cuzk_witness_destroy(w);
        }
        cuzk_shape_destroy(s);
    }
}

/* ---- many at once ---- */

/* Paths side by side: each lane has leaf and root, then its opening. */
static void describe_many(cuzk_cs *cs, const void *ctx)
{
    const struct opening *o = ctx;
    for (size_t i = 0; i < CUZK_MERKLE_LANES; i++) {
        describe_open(cs, &o[i]);
    }
}

static void test_lanes(void **state)
{
    (void)state;
    for (int i = 1; i < N_SHAPES - 2; i++) { /* Poseidon trees with levels */
        struct opening o[CUZK_MERKLE_LANES];
        for (int k = 0; k < CUZK_MERKLE_LANES; k++) {
            random_opening(&o[k], &shapes[i]);
        }
        cuzk_shape *s = support_shape(describe_many, o);
        cuzk_witness *one = support_witness(s, describe_many, o);
        support_expect_satisfied(s, one);
        uint32_t n_aux = cuzk_shape_n_aux(s) / CUZK_MERKLE_LANES;
        for (size_t n = 1; n <= CUZK_MERKLE_LANES; n += n == 1 ? 6 : 9) { /* 1, 7, 16 */
            cuzk_witness *many = support_new_witness(s);
            cuzk_cs lanes[CUZK_MERKLE_LANES];
            cuzk_num leaf[CUZK_MERKLE_LANES], root[CUZK_MERKLE_LANES];
            cuzk_merkle_path path[CUZK_MERKLE_LANES];
            for (size_t first = 0; first < CUZK_MERKLE_LANES; first += n) {
                size_t here = CUZK_MERKLE_LANES - first < n ? CUZK_MERKLE_LANES - first : n;
                for (size_t k = 0; k < here; k++) {
                    const struct opening *own = &o[first + k];
                    cuzk_cs_witness_begin(&lanes[k], many, (uint32_t)(first + k) * n_aux,
                                          (uint32_t)(1 + first + k));
                    leaf[k] = cuzk_cs_alloc_num(&lanes[k], own->leaf);
                    root[k] = cuzk_cs_alloc_num(&lanes[k], own->root);
                    path[k] = (cuzk_merkle_path){own->index, &own->siblings[0][0]};
                }
                cuzk_merkle_open(lanes, here, &shapes[i], leaf, path, root);
                for (size_t k = 0; k < here; k++) {
                    cuzk_cs_witness_end(&lanes[k]);
                }
            }
            assert_memory_equal(one->field, many->field, (size_t)one->n_field * 32);
            assert_memory_equal(one->bits, many->bits, cuzk_bitmap_words(one->n_vars) * 8);
            cuzk_witness_destroy(many);
        }
        cuzk_witness_destroy(one);
        cuzk_shape_destroy(s);
    }
}

/* ---- cursors ---- */

enum { PARTS = 50 };

/* Part k: 1 + 7k mod 30 bits, k mod 5 numbers, bits again, and an input. */
static void part(cuzk_cs *cs, unsigned k)
{
    uint8_t value[32];
    unsigned n_bits = 1 + 7 * k % 30;
    cuzk_alloc_bits(cs, (0x9e3779b97f4a7c15u * (k + 1)) >> (64 - n_bits), n_bits, NULL);
    for (unsigned i = 0; i < k % 5; i++) {
        support_number(value, 1000 * k + i);
        (void)cuzk_cs_alloc_num(cs, value);
    }
    cuzk_alloc_bits(cs, k & 3, 2, NULL);
    support_number(value, 77 + k);
    (void)cuzk_cs_alloc_input(cs, value);
}

static uint32_t part_n_aux(unsigned k)
{
    return 1 + 7 * k % 30 + k % 5 + 2;
}

static void describe_parts(cuzk_cs *cs, const void *ctx)
{
    (void)ctx;
    for (unsigned k = 0; k < PARTS; k++) {
        part(cs, k);
    }
}

struct split {
    cuzk_cs cursors[PARTS];
};

static void write_part(void *ctx, size_t k, unsigned thread)
{
    (void)thread;
    struct split *s = ctx;
    part(&s->cursors[k], (unsigned)k);
    cuzk_cs_witness_end(&s->cursors[k]);
}

/* Neighbours share words of the bitmap; they are written by several threads in any order. */
static void test_split(void **state)
{
    (void)state;
    cuzk_shape *s = support_shape(describe_parts, NULL);
    cuzk_witness *one = support_witness(s, describe_parts, NULL);
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 4, NULL), CUZK_OK);
    for (int round = 0; round < 20; round++) {
        cuzk_witness *many = support_new_witness(s);
        struct split split;
        cuzk_cs cs;
        cuzk_cs_witness_begin(&cs, many, 0, 1);
        for (unsigned k = 0; k < PARTS; k++) {
            split.cursors[k] = cuzk_cs_split(&cs, part_n_aux(k), 1);
        }
        cuzk_cs_witness_end(&cs);
        assert_int_equal(cs.var, s->n_vars);
        assert_int_equal(cs.input, s->n_inputs);
        cuzk_pool_for(pool, PARTS, write_part, &split);
        assert_memory_equal(one->bits, many->bits, cuzk_bitmap_words(one->n_vars) * 8);
        assert_memory_equal(one->field, many->field, (size_t)one->n_field * 32);
        cuzk_witness_destroy(many);
    }
    cuzk_pool_destroy(pool);
    cuzk_witness_destroy(one);
    cuzk_shape_destroy(s);
}

/* A witness that is too small for what is described: the values that have no room are lost, the
 * others are where they belong, and nothing else is written. */
static void test_no_room(void **state)
{
    (void)state;
    cuzk_shape *s = support_shape(describe_parts, NULL);
    cuzk_witness *whole = support_witness(s, describe_parts, NULL);
    for (uint32_t n_vars = s->n_inputs + 1; n_vars < s->n_vars; n_vars += 37) {
        cuzk_witness *w = NULL;
        assert_int_equal(cuzk_witness_create(&w, s->curve, n_vars, s->n_inputs, s->is_field, NULL),
                         CUZK_OK);
        cuzk_cs cs;
        cuzk_cs_witness_begin(&cs, w, 0, 1);
        describe_parts(&cs, NULL);
        cuzk_cs_witness_end(&cs);
        assert_int_equal(cs.var, s->n_vars); /* by which the caller sees it */
        assert_memory_equal(w->bits, whole->bits, n_vars / 64 * 8);
        assert_memory_equal(w->field, whole->field, (size_t)w->n_field * 32);
        cuzk_witness_destroy(w);
    }
    cuzk_witness_destroy(whole);
    cuzk_shape_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),  cmocka_unit_test(test_check),   cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_split), cmocka_unit_test(test_no_room),
    };
#ifdef __SANITIZE_THREAD__
    cmocka_set_test_filter("test_split"); /* the others use one thread */
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
