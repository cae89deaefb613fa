/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arithmetic of `cuzk bench --server`: percentiles and the order of kinds, each against a slow
 * and obvious way to the same; the grammar of --mix. */
#include "client/bench.h"

#include "client_test.h"
#include "random.h"

/* ---- percentiles ---- */

/* The definition: the least value that has a share of per_mille / 1000 of all values at or below
 * it. In whole numbers, so that nothing is rounded. */
static double slow_percentile(const double *values, unsigned n, unsigned per_mille)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t at_or_below = 0;
        for (unsigned k = 0; k < n; k++) {
            at_or_below += values[k] <= values[i];
        }
        if (at_or_below * 1000 >= (uint64_t)per_mille * n) {
            return values[i]; /* the first such, since they are sorted */
        }
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_percentiles(void **state)
{
    (void)state;
    /* those that are printed, and more; as whole numbers and as they are written in the source */
    static const struct {
        unsigned per_mille;
        double share;
    } shares[] = {{500, 0.5},  {900, 0.9},   {990, 0.99}, {1, 0.001},
                  {250, 0.25}, {999, 0.999}, {1000, 1.0}};
    uint64_t seed = 7;
    double values[400];
    for (unsigned n = 1; n <= 400; n += n < 130 ? 1 : 27) {
        for (unsigned i = 0; i < n; i++) { /* with equal ones among them */
            values[i] = (double)(cuzk_test_random(&seed) % (n % 3 == 0 ? 10 : 100000));
        }
        qsort(values, n, sizeof *values, compare);
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            double found = cuzk_bench_percentile(values, n, shares[k].share);
            double wanted = slow_percentile(values, n, shares[k].per_mille);
            if (found != wanted) {
                fail_msg("%u values, share %g: found %g, expected %g", n, shares[k].share, found,
                         wanted);
            }
        }
    }
    assert_true(cuzk_bench_percentile(values, 0, 0.99) == 0);
    assert_true(cuzk_bench_percentile(NULL, 0, 0.5) == 0);
    assert_true(cuzk_bench_percentile(values, 400, 1.5) == values[399]); /* no place behind it */
}

/* The ranks of what is printed are exact for every number of jobs that bench takes: products such
 * as 0.9 * 70 are not rounded over the next whole number. */
static void test_ranks_of_many(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    double *values = malloc(N * sizeof *values);
    assert_non_null(values);
    for (unsigned i = 0; i < N; i++) {
        values[i] = i + 1;
    }
    for (unsigned n = 1; n < N; n += n < 20000 ? 1 : 9973) {
        assert_true(cuzk_bench_percentile(values, n, 0.5) == (n + 1) / 2);
        assert_true(cuzk_bench_percentile(values, n, 0.9) == (9u * n + 9) / 10);
        assert_true(cuzk_bench_percentile(values, n, 0.99) == (99u * n + 99) / 100);
    }
    free(values);
}

/* ---- the order of kinds ---- */

static Cuzk__V1__SubmitProofRequest message;
static Cuzk__V1__ProveWitnessRequest witness;
static const char *const names[CUZK_BENCH_KINDS] = {"porep", "snap", "window", "winning", "circom"};

/* Bit k of with: kind k has something to send. */
static void begin(cuzk_bench *bench, unsigned with)
{
    *bench = (cuzk_bench){.n_jobs = 1};
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        bench->kinds[i].name = names[i];
        if ((with >> i & 1) != 0) {
            bench->kinds[i].submit = i < 4 ? &message : NULL;
            bench->kinds[i].witness = i < 4 ? NULL : &witness;
        }
    }
}

/* After any number of jobs each kind has had its share of them, to less than one job per other
 * kind; after a whole round exactly. */
static void test_shares(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 60; round++) {
        cuzk_bench bench;
        begin(&bench, 31);
        unsigned sum = 0, counts[CUZK_BENCH_KINDS] = {0}, n_kinds = 0;
        for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
            bench.kinds[i].weight =
                (unsigned)(cuzk_test_random(&seed) % (round % 4 == 0 ? 1001 : 8));
            sum += bench.kinds[i].weight;
            n_kinds += bench.kinds[i].weight > 0;
        }
        for (unsigned n = 1; sum > 0 && n <= 3 * sum; n++) {
            cuzk_bench_kind *kind = cuzk_bench_next(&bench);
            assert_non_null(kind);
            assert_true(kind->weight > 0);
            counts[kind - bench.kinds]++;
            for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
                int64_t off = (int64_t)counts[i] * sum - (int64_t)n * bench.kinds[i].weight;
                assert_true(off < (int64_t)n_kinds * sum && -off < (int64_t)n_kinds * sum);
                assert_true(n % sum != 0 || off == 0);
            }
        }
    }
    cuzk_bench none;
    begin(&none, 31);
    assert_null(cuzk_bench_next(&none)); /* no kind has a weight */
}

/* ---- --mix ---- */

static void test_mixes(void **state)
{
    (void)state;
    static const struct {
        const char *mix;
        unsigned weights[CUZK_BENCH_KINDS];
    } good[] = {
        {"porep", {1}},
        {"circom:3", {0, 0, 0, 0, 3}},
        {"winning:1000,snap:1", {0, 1, 0, 1000}},
        {"snap:0007", {0, 7}},
        {"circom,winning,window,snap,porep", {1, 1, 1, 1, 1}},
    };
    static const struct {
        const char *mix, *text;
    } bad[] = {
        {"x", "\"x\" is not porep, snap"},
        {"porep ", "\"porep \" is not"},
        {"Porep", "\"Porep\" is not"},
        {"pore", "\"pore\" is not"},
        {"porep:1,", "\"\" is not"},
        {",porep", "\"\" is not"},
        {"porep,,snap", "\"\" is not"},
        {":1", "\"\" is not"},
        {"", "\"\" is not"},
        {"porep:", "the weight of porep is not a number from 1 to 1000"},
        {"porep:0", "the weight of porep is not"},
        {"porep:1001", "the weight of porep is not"},
        {"porep:00001", "the weight of porep is not"},
        {"porep:18446744073709551617", "the weight of porep is not"},
        {"porep:-1", "the weight of porep is not"},
        {"porep: 1", "the weight of porep is not"},
        {"porep:1.5", "\".5\" behind the weight of porep"},
        {"porep:1:2", "\":2\" behind the weight of porep"},
        {"porep:2,porep:2", "porep is named twice"},
        {"porep,snap,porep", "porep is named twice"},
    };
    cuzk_bench bench;
    cuzk_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        begin(&bench, 31);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_bench_mix(&bench, good[i].mix, &err), CUZK_OK);
        for (unsigned k = 0; k < CUZK_BENCH_KINDS; k++) {
            assert_int_equal(bench.kinds[k].weight, good[i].weights[k]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin(&bench, 31);
        cuzk_error_clear(&err);
        if (cuzk_bench_mix(&bench, bad[i].mix, &err) != CUZK_E_ARGUMENT) {
            fail_msg("--mix \"%s\" is taken", bad[i].mix);
        }
        assert_holds(err.text, bad[i].text);
    }
}

/* Without --mix it is one of each that has something to send. */
static void test_no_mix(void **state)
{
    (void)state;
    cuzk_error err;
    for (unsigned with = 0; with < 1u << CUZK_BENCH_KINDS; with++) {
        cuzk_bench bench;
        begin(&bench, with);
        cuzk_error_clear(&err);
        if (with == 0) {
            assert_int_equal(cuzk_bench_mix(&bench, NULL, &err), CUZK_E_ARGUMENT);
            assert_holds(err.text, "no job is given");
            continue;
        }
        assert_int_equal(cuzk_bench_mix(&bench, NULL, &err), CUZK_OK);
        for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
            char text[80];
            assert_int_equal(bench.kinds[i].weight, with >> i & 1);
            /* and what has nothing to send cannot be named */
            cuzk_bench other;
            begin(&other, with);
            cuzk_error_clear(&err);
            if ((with >> i & 1) == 0) {
                assert_int_equal(cuzk_bench_mix(&other, names[i], &err), CUZK_E_ARGUMENT);
                snprintf(text, sizeof text, "--mix names %s: --%s is missing", names[i], names[i]);
                assert_string_equal(err.text, text);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles), cmocka_unit_test(test_ranks_of_many),
        cmocka_unit_test(test_shares),      cmocka_unit_test(test_mixes),
        cmocka_unit_test(test_no_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
