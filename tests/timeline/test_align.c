/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sets of intervals against counting moments, the highest overlap against every offset, and clocks
 * whose difference is known because it was planted. */
#include "random.h"
#include "timeline/align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 5;

static int64_t below(int64_t n)
{
    return (int64_t)(cuzk_test_random(&seed) % (uint64_t)n);
}

static void test_sets(void **state)
{
    (void)state;
    enum { TIME = 200 };
    for (int round = 0; round < 2000; round++) {
        cuzk_interval v[20];
        bool is_in[TIME] = {false};
        size_t n = (size_t)below(20);
        for (size_t i = 0; i < n; i++) {
            v[i].begin = below(TIME);
            v[i].end = v[i].begin + below(TIME - v[i].begin);
            memset(is_in + v[i].begin, true, (size_t)(v[i].end - v[i].begin));
        }
        cuzk_interval_set set = {v, cuzk_intervals_unite(v, n, 0)};
        for (size_t i = 0; i < set.n; i++) {
            assert_true(v[i].begin < v[i].end && (i == 0 || v[i - 1].end < v[i].begin));
        }
        cuzk_cover cover;
        cuzk_error err = {0};
        assert_int_equal(cuzk_cover_make(&cover, &set, &err), CUZK_OK);
        for (int k = 0; k < 20; k++) {
            int64_t begin = below(TIME), end = below(TIME), expected = 0;
            for (int64_t t = begin; t < end; t++) {
                expected += is_in[t];
            }
            assert_int_equal(cuzk_intervals_cover(&set, begin, end), expected);
            assert_int_equal(cuzk_cover_of(&cover, begin, end), expected);
        }
        cuzk_cover_clear(&cover);
        int64_t join = 1 + below(30);
        size_t n_joined = cuzk_intervals_unite(v, set.n, join);
        for (size_t i = 1; i < n_joined; i++) {
            assert_true(v[i].begin - v[i - 1].end >= join);
        }
    }
}

static int64_t overlap(const cuzk_interval_set *a, const cuzk_interval_set *b, int64_t offset)
{
    int64_t sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        sum += cuzk_intervals_cover(a, b->v[i].begin + offset, b->v[i].end + offset);
    }
    return sum;
}

static size_t random_set(cuzk_interval *v, size_t n, int64_t time)
{
    for (size_t i = 0; i < n; i++) {
        v[i].begin = below(time);
        v[i].end = v[i].begin + 1 + below(time / 8);
    }
    return cuzk_intervals_unite(v, n, 0);
}

static void test_highest(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        cuzk_interval v[4][12];
        cuzk_align_track tracks[2];
        for (size_t i = 0; i < 4; i++) {
            size_t n = random_set(v[i], 1 + (size_t)below(12), 500);
            *(i % 2 == 0 ? &tracks[i / 2].ours : &tracks[i / 2].theirs) =
                (cuzk_interval_set){v[i], n};
        }
        cuzk_alignment a;
        cuzk_error err = {0};
        assert_int_equal(cuzk_align(&a, tracks, 2, NULL, &err), CUZK_OK);
        const cuzk_interval_set *o[] = {&tracks[0].ours, &tracks[1].ours};
        int64_t ends[] = {o[0]->v[o[0]->n - 1].end, o[1]->v[o[1]->n - 1].end};
        cuzk_interval whole = {o[0]->v[0].begin < o[1]->v[0].begin ? o[0]->v[0].begin
                                                                   : o[1]->v[0].begin,
                               ends[0] > ends[1] ? ends[0] : ends[1]};
        cuzk_interval_set whole_set = {&whole, 1};
        int64_t best = 0, found = 0;
        for (int64_t offset = -700; offset <= 700; offset++) {
            int64_t sum = 0;
            for (int i = 0; i < 2; i++) {
                sum += 2 * overlap(&tracks[i].ours, &tracks[i].theirs, offset) -
                       overlap(&whole_set, &tracks[i].theirs, offset);
            }
            best = sum > best ? sum : best;
            found = a.n_parts == 0 && offset == a.offset_ns ? sum : found;
        }
        if (a.n_parts == 0) { /* else a line through the parts' offsets */
            assert_int_equal(found, best);
        }
    }
}

/* Runs of work with gaps, as a device has them; and each as kernels, with short gaps between. */
typedef struct {
    cuzk_interval_set runs, kernels;
} planted;

static planted plant(size_t n, int64_t longest, int64_t gap)
{
    enum { EACH = 20 };
    planted p = {{malloc(n * sizeof *p.runs.v), 0}, {malloc(EACH * n * sizeof *p.runs.v), 0}};
    int64_t now = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t begin = now;
        for (int k = 0; k < EACH; k++) {
            int64_t length = 1 + longest / 50 + below(longest / EACH);
            p.kernels.v[p.kernels.n++] = (cuzk_interval){now, now + length};
            now += length + 1 + below(2000);
        }
        p.runs.v[p.runs.n++] = (cuzk_interval){begin, now};
        now += gap / 10 + below(gap);
    }
    return p;
}

static void unplant(planted *p)
{
    free(p->runs.v);
    free(p->kernels.v);
}

/* Their clock: `offset` less, and slow by `drift`. */
static void by_their_clock(cuzk_interval_set *set, int64_t offset, double drift)
{
    for (size_t i = 0; i < set->n; i++) {
        set->v[i].begin -= (int64_t)(drift * (double)set->v[i].begin) + offset;
        set->v[i].end -= (int64_t)(drift * (double)set->v[i].end) + offset;
    }
}

static void check(const cuzk_alignment *a, int64_t offset, double drift, int64_t at, int64_t most)
{
    int64_t theirs = at - (int64_t)(drift * (double)at) - offset;
    int64_t off = cuzk_align_to_ours(a, theirs) - at;
    if (off > most || off < -most) {
        fail_msg("off by %lld ns at %lld, offset %lld, drift %g; found %lld, %g by %u parts",
                 (long long)off, (long long)at, (long long)offset, drift, (long long)a->offset_ns,
                 a->drift, a->n_parts);
    }
}

static void test_planted(void **state)
{
    (void)state;
    static const double drifts[] = {3e-6, -40e-6, 300e-6};
    for (size_t k = 0; k < sizeof drifts / sizeof *drifts; k++) {
        for (int with_hint = 0; with_hint < 2; with_hint++) {
            planted p = plant(200, 50000000, 4000000); /* some 8 s */
            int64_t offset = below(INT64_C(1) << 50) - (INT64_C(1) << 49);
            int64_t end = p.runs.v[p.runs.n - 1].end;
            by_their_clock(&p.kernels, offset, drifts[k]);
            cuzk_align_track track = {p.runs, p.kernels};
            int64_t hint = offset + below(100000000) - 50000000;
            cuzk_alignment a;
            cuzk_error err = {0};
            assert_int_equal(cuzk_align(&a, &track, 1, with_hint ? &hint : NULL, &err), CUZK_OK);
            assert_true(a.by_hint == (with_hint != 0));
            assert_true(a.n_parts >= 4);
            check(&a, offset, drifts[k], 0, 3000);
            check(&a, offset, drifts[k], end / 2, 2000);
            check(&a, offset, drifts[k], end, 3000);
            unplant(&p);
        }
    }
}

/* Ours is a part of what they saw, and a third of theirs is not there. */
static void test_a_part(void **state)
{
    (void)state;
    planted p = plant(400, 20000000, 2000000);
    by_their_clock(&p.kernels, 777777, 10e-6);
    size_t n = 0;
    for (size_t i = 0; i < p.kernels.n; i++) {
        if (below(3) > 0) {
            p.kernels.v[n++] = p.kernels.v[i];
        }
    }
    p.kernels.n = n;
    cuzk_align_track track = {{p.runs.v + 150, 100}, p.kernels};
    cuzk_alignment a;
    cuzk_error err = {0};
    assert_int_equal(cuzk_align(&a, &track, 1, NULL, &err), CUZK_OK);
    check(&a, 777777, 10e-6, track.ours.v[0].begin, 5000);
    check(&a, 777777, 10e-6, track.ours.v[99].end, 5000);
    /* a hint that is wrong is not believed */
    int64_t hint = 100000000000;
    assert_int_equal(cuzk_align(&a, &track, 1, &hint, &err), CUZK_OK);
    assert_false(a.by_hint);
    check(&a, 777777, 10e-6, track.ours.v[50].begin, 5000);
    unplant(&p);
}

static void test_nothing(void **state)
{
    (void)state;
    cuzk_interval v = {1, 2};
    cuzk_align_track track = {{&v, 1}, {&v, 0}};
    cuzk_alignment a;
    cuzk_error err = {0};
    assert_int_equal(cuzk_align(&a, &track, 1, NULL, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no activity"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),    cmocka_unit_test(test_highest),
        cmocka_unit_test(test_planted), cmocka_unit_test(test_a_part),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
