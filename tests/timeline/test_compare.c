/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rank-sum test against counting pairs, and how often chance alone would be called a change. */
#include "random.h"
#include "timeline/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 11;

/* By its definition: pairs in which b is greater count 1, equal ones a half. */
static double slow(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    double u = 0;
    for (size_t i = 0; i < n_a; i++) {
        for (size_t j = 0; j < n_b; j++) {
            u += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
        }
    }
    double ties = 0;
    for (uint64_t value = 0; value < 64; value++) {
        double t = 0;
        for (size_t i = 0; i < n_a + n_b; i++) {
            t += (i < n_a ? a[i] : b[i - n_a]) == value;
        }
        ties += t * t * t - t;
    }
    double m = (double)n_a;
    double n = (double)n_b;
    double all = m + n;
    double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
    return variance <= 0 ? 0 : (u - m * n / 2) / sqrt(variance);
}

static void fill(uint64_t *values, size_t n, uint64_t range, uint64_t more)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = cuzk_test_random(&seed) % range + more;
    }
}

static void test_against_pairs(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint64_t a[60];
        uint64_t b[60];
        size_t n_a = 8 + cuzk_test_random(&seed) % 52;
        size_t n_b = 8 + cuzk_test_random(&seed) % 52;
        fill(a, n_a, 1 + cuzk_test_random(&seed) % 50, 0);
        fill(b, n_b, 1 + cuzk_test_random(&seed) % 50, cuzk_test_random(&seed) % 10);
        double expected = slow(a, n_a, b, n_b);
        assert_true(fabs(cuzk_rank_sum(a, n_a, b, n_b) - expected) < 1e-9);
    }
}

static void test_few_and_equal(void **state)
{
    (void)state;
    uint64_t a[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint64_t b[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    assert_true(cuzk_rank_sum(a, 7, b, 8) == 0);
    assert_true(cuzk_rank_sum(a, 8, b, 8) > 3);
    assert_true(cuzk_rank_sum(b, 8, a, 8) < -3);
    assert_true(cuzk_rank_sum(a, 8, a, 8) == 0);
}

/* Beyond 3 deviations lies 0.27 % of what chance gives. */
static void test_chance(void **state)
{
    (void)state;
    int n_called = 0;
    for (int round = 0; round < 4000; round++) {
        uint64_t a[40];
        uint64_t b[40];
        fill(a, 40, 1000000, 0);
        fill(b, 40, 1000000, 0);
        n_called += fabs(cuzk_rank_sum(a, 40, b, 40)) > 3;
    }
    assert_true(n_called < 30);
    int n_found = 0; /* and a tenth more of everything is found */
    for (int round = 0; round < 100; round++) {
        uint64_t a[1000];
        uint64_t b[1000];
        fill(a, 1000, 500, 1000);
        fill(b, 1000, 500, 1100);
        n_found += cuzk_rank_sum(a, 1000, b, 1000) > 3;
    }
    assert_int_equal(n_found, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_pairs),
        cmocka_unit_test(test_few_and_equal),
        cmocka_unit_test(test_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
