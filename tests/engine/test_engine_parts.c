/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine is built of: queues in order, the table of ids, the budget. */
#include "engine/budget.h"
#include "engine/filter.h"
#include "engine/order.h"
#include "engine/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small generator: the same numbers every time. */
static uint64_t next(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *x >> 33;
}

static int compare(const void *a, const void *b)
{
    const cuzk_order_node *x = *(const cuzk_order_node *const *)a;
    const cuzk_order_node *y = *(const cuzk_order_node *const *)b;
    return cuzk_order_before(x, y) ? -1 : cuzk_order_before(y, x) ? 1 : 0;
}

static void test_order_rules(void **state)
{
    (void)state;
    cuzk_order_node a = {.priority = 4, .seq = 9, .unit = 9};
    cuzk_order_node b = {.priority = 2, .seq = 1, .unit = 5};
    cuzk_order_node c = {.priority = 2, .seq = 2, .unit = 0};
    cuzk_order_node d = {.priority = 2, .seq = 2, .unit = 1};
    cuzk_order queue = {0};
    cuzk_order_push(&queue, &d);
    cuzk_order_push(&queue, &b);
    cuzk_order_push(&queue, &a);
    cuzk_order_push(&queue, &c);
    assert_ptr_equal(cuzk_order_pop(&queue), &a);
    assert_ptr_equal(cuzk_order_pop(&queue), &b);
    assert_ptr_equal(cuzk_order_pop(&queue), &c);
    assert_ptr_equal(cuzk_order_first(&queue), &d);
    assert_ptr_equal(cuzk_order_pop(&queue), &d);
    assert_null(cuzk_order_pop(&queue));
    assert_int_equal(queue.n, 0);
}

/* Pushes, pops and removals from anywhere, against a sorted array. */
static void test_order_random(void **state)
{
    (void)state;
    enum { N = 600, STEPS = 40000 };
    static cuzk_order_node nodes[N];
    static cuzk_order_node *sorted[N];
    cuzk_order queue = {0};
    uint64_t x = 1;
    for (int step = 0; step < STEPS; step++) {
        cuzk_order_node *node = &nodes[next(&x) % N];
        if (!node->is_queued) {
            *node = (cuzk_order_node){.priority = 1 + (unsigned)(next(&x) % 4),
                                      .seq = next(&x) % 50,
                                      .unit = (unsigned)(node - nodes)};
            cuzk_order_push(&queue, node);
        } else if (next(&x) % 2 == 0) {
            cuzk_order_remove(&queue, node);
        } else {
            const cuzk_order_node *first = cuzk_order_pop(&queue);
            for (int i = 0; i < N; i++) {
                assert_false(nodes[i].is_queued && cuzk_order_before(&nodes[i], first));
            }
        }
    }
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        if (nodes[i].is_queued) {
            sorted[n++] = &nodes[i];
        }
    }
    assert_int_equal(queue.n, n);
    qsort(sorted, n, sizeof sorted[0], compare);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(cuzk_order_pop(&queue), sorted[i]);
    }
}

/* A vector of the paper's appendix, and of the reference program's table (length 0 and 8). */
static void test_siphash(void **state)
{
    (void)state;
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    uint8_t in[15];
    for (int i = 0; i < 15; i++) {
        in[i] = (uint8_t)i;
    }
    assert_true(cuzk_siphash(key, in, 15) == UINT64_C(0xa129ca6149be45e5));
    assert_true(cuzk_siphash(key, in, 0) == UINT64_C(0x726fdb47dd0e0e31));
    assert_true(cuzk_siphash(key, in, 8) == UINT64_C(0x93f5f5799a932462));
}

static void test_table(void **state)
{
    (void)state;
    enum { N = 3000 };
    static cuzk_table_node nodes[N];
    cuzk_table table;
    assert_int_equal(cuzk_table_init(&table, NULL), CUZK_OK);
    for (size_t i = 0; i < N; i++) { /* three of each hash */
        cuzk_table_add(&table, &nodes[i], i / 3 * 7);
    }
    assert_true(table.n_buckets >= N);
    for (size_t i = 0; i < N; i += 3) {
        unsigned n = 0;
        for (cuzk_table_node *at = cuzk_table_find(&table, i / 3 * 7); at != NULL;
             at = cuzk_table_next(at)) {
            assert_int_equal((size_t)(at - nodes) / 3, i / 3);
            n++;
        }
        assert_int_equal(n, 3);
    }
    for (size_t i = 0; i < N; i += 2) {
        cuzk_table_remove(&table, &nodes[i]);
    }
    assert_int_equal(table.n, N / 2);
    assert_null(cuzk_table_find(&table, 1));
    for (size_t i = 1; i < N; i += 2) {
        cuzk_table_remove(&table, &nodes[i]);
    }
    assert_int_equal(table.n, 0);
    assert_null(cuzk_table_find(&table, 7));
    cuzk_table_clear(&table);
}

/* What was added is found; of what was not, little. */
static void test_filter(void **state)
{
    (void)state;
    cuzk_filter filter;
    assert_true(cuzk_filter_init(&filter));
    uint64_t key[2] = {1, 2};
    for (uint64_t i = 0; i < 100000; i++) {
        cuzk_filter_add(&filter, cuzk_siphash(key, &i, sizeof i));
    }
    unsigned n_wrong = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        bool has = cuzk_filter_has(&filter, cuzk_siphash(key, &i, sizeof i));
        assert_true(has || i >= 100000);
        n_wrong += i >= 100000 && has;
    }
    assert_true(n_wrong < 20);
    cuzk_filter_clear(&filter);
}

static void test_budget_shares(void **state)
{
    (void)state;
    cuzk_budget b;
    cuzk_budget_init(&b, UINT64_C(64) << 30, 0);
    assert_true(b.intake == UINT64_C(8) << 30);
    cuzk_budget_init(&b, UINT64_C(8) << 30, 0);
    assert_true(b.intake == UINT64_C(2) << 30);
    cuzk_budget_init(&b, 1000, 0);
    assert_int_equal(b.intake, 500);
    cuzk_budget_init(&b, 1000, 160);
    uint64_t sum = 0;
    for (int i = 0; i < CUZK_SHARES; i++) {
        sum += b.shares[i].cap;
    }
    assert_int_equal(sum, 1000);
    assert_int_equal(b.shares[CUZK_SHARE_WORK].cap, 840);
}

static void test_budget_slice(void **state)
{
    (void)state;
    cuzk_budget b;
    cuzk_budget_init(&b, 1600 + 160, 160);
    cuzk_share *work = &b.shares[CUZK_SHARE_WORK];
    assert_int_equal(cuzk_share_free(work, false), 1600); /* alone: all of it */
    cuzk_budget_take(&b, CUZK_SHARE_WORK, 1000, true);
    assert_int_equal(cuzk_share_free(work, false), 500); /* a sixteenth stays for CRITICAL */
    assert_int_equal(cuzk_share_free(work, true), 600);
    cuzk_budget_take(&b, CUZK_SHARE_WORK, 600, true);
    assert_int_equal(cuzk_share_free(work, false), 0);
    assert_int_equal(cuzk_share_free(work, true), 0);
    cuzk_budget_give(&b, CUZK_SHARE_WORK, 1000, true);
    cuzk_budget_shrink(&b, CUZK_SHARE_WORK, 100);
    cuzk_budget_give(&b, CUZK_SHARE_WORK, 500, true);
    assert_int_equal(b.reserved, 0);
    assert_int_equal(b.peak, 1600);
}

/* Whatever may be taken in can be decoded. */
static void test_budget_payloads(void **state)
{
    (void)state;
    for (uint64_t mib = 1; mib <= 8192; mib *= 2) {
        cuzk_budget b;
        cuzk_budget_init(&b, mib << 20, 0);
        uint64_t max = cuzk_budget_payload_max(&b);
        assert_true(max <= b.shares[CUZK_SHARE_PAYLOAD].cap);
        assert_true(max == 0 || cuzk_budget_decode_bytes(max) <= b.shares[CUZK_SHARE_TASK].cap);
        uint64_t small = b.shares[CUZK_SHARE_SMALL].cap / 16;
        assert_int_equal(cuzk_budget_payload_share(&b, small), CUZK_SHARE_SMALL);
        assert_int_equal(cuzk_budget_payload_share(&b, small + 1), CUZK_SHARE_PAYLOAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_rules),     cmocka_unit_test(test_order_random),
        cmocka_unit_test(test_siphash),         cmocka_unit_test(test_table),
        cmocka_unit_test(test_budget_shares),   cmocka_unit_test(test_budget_slice),
        cmocka_unit_test(test_budget_payloads), cmocka_unit_test(test_filter),
    };
    return cmocka_run_group_tests_name("engine: parts", tests, NULL, NULL);
}
