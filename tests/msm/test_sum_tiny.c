/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The scalar sum kernel (msm/sum_kernel_scalar_tmpl.h) over tiny curves with tiny chunks: every
 * list of one, two and three points with both signs, so that every mixture of equal, opposite and
 * infinite points and every way of ending in one meets in one inversion; then lists of every length
 * over many chunks. The second curve has a point of order two: equal and opposite to itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "msm/sum_pairs.h"
#include "random.h"

#define TINY(name) c13_##name
#define TINY_P     13
#define TINY_B     2
#include "curve/points_tiny_tmpl.h"

#define TINY(name) c19_##name
#define TINY_P     19
#define TINY_B     8
#include "curve/points_tiny_tmpl.h"

#define PREFETCH_PAIRS 3
#define BLOCK          3
#define CHUNK          16

#define KN(name) k13_##name
#define CF(name) c13_f_##name
#define CF_TYPE  c13_f
#include "msm/sum_kernel_scalar_tmpl.h"

#define KN(name) k19_##name
#define CF(name) c19_f_##name
#define CF_TYPE  c19_f
#include "msm/sum_kernel_scalar_tmpl.h"

static uint64_t seed = 0x717e;

/* One curve with its kernel. */
typedef struct {
    size_t n_points, point_bytes, ws_bytes;
    const void *points; /* infinity first */
    void (*sum)(void *o, const void *a, const void *b);
    void (*negate)(void *o, const void *a);
    void (*segment_sums)(void *out, const void *bases, bool kernel, const uint32_t *entries,
                         const uint32_t *bounds, size_t n_segments, void *ws);
} tiny;

static void sum13(void *o, const void *a, const void *b)
{
    c13_sum(o, a, b);
}

static void negate13(void *o, const void *a)
{
    c13_affine_neg(o, a);
}

static void sum19(void *o, const void *a, const void *b)
{
    c19_sum(o, a, b);
}

static void negate19(void *o, const void *a)
{
    c19_affine_neg(o, a);
}

static const tiny *curve_of(int which)
{
    static c13_affine p13[28];
    static c19_affine p19[40];
    static tiny all[2];
    if (all[0].n_points == 0) {
        all[0] = (tiny){c13_points(p13), sizeof(c13_affine), sizeof(k13_workspace), p13,
                        sum13,           negate13,           k13_segment_sums};
        all[1] = (tiny){c19_points(p19), sizeof(c19_affine), sizeof(k19_workspace), p19,
                        sum19,           negate19,           k19_segment_sums};
    }
    return &all[which];
}

enum { SEGMENTS_MAX = 60000, ENTRIES_MAX = 3 * SEGMENTS_MAX };

static uint32_t entries[ENTRIES_MAX], bounds[SEGMENTS_MAX + 1];
static uint8_t out[(SEGMENTS_MAX + 1) * 16];

/* The n_segments lists of `bounds` against one addition after the other. */
static void check(const tiny *t, size_t n_segments)
{
    void *ws = aligned_alloc(64, (t->ws_bytes + 63) / 64 * 64);
    assert_non_null(ws);
    memset(ws, n_segments % 2 ? 0xa5 : 0, t->ws_bytes); /* neither must matter */
    memset(out, 0xa5, sizeof out);
    t->segment_sums(out, t->points, false, entries, bounds, n_segments, ws);
    for (size_t s = 0; s < n_segments; s++) {
        uint8_t expected[16] = {0}, point[16];
        for (uint32_t i = bounds[s]; i < bounds[s + 1]; i++) {
            const uint8_t *base = (const uint8_t *)t->points + (entries[i] >> 1) * t->point_bytes;
            memcpy(point, base, t->point_bytes);
            if (entries[i] & 1) {
                t->negate(point, base);
            }
            t->sum(expected, expected, point);
        }
        if (memcmp(out + s * t->point_bytes, expected, t->point_bytes) != 0) {
            fail_msg("list %zu of %zu, %u points from entry %u on: wrong sum", s, n_segments,
                     bounds[s + 1] - bounds[s], bounds[s]);
        }
    }
    assert_int_equal(out[n_segments * t->point_bytes], 0xa5);
    free(ws);
}

/* Every list of `length` entries, in one call and so in one inversion with its neighbours. */
static void check_every(const tiny *t, unsigned length)
{
    size_t n_entries = 2 * t->n_points, n_lists = 1, n = 0;
    for (unsigned k = 0; k < length; k++) {
        n_lists *= n_entries;
    }
    for (size_t list = 0; list < n_lists; list++) {
        size_t left = list;
        bounds[n] = (uint32_t)(n * length);
        for (unsigned k = 0; k < length; k++) {
            entries[n * length + k] = (uint32_t)(left % n_entries);
            left /= n_entries;
        }
        n++;
        bounds[n] = (uint32_t)(n * length);
        if (n == SEGMENTS_MAX || list + 1 == n_lists) {
            check(t, n);
            n = 0;
        }
    }
}

static void test_every_list(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        for (unsigned length = 0; length <= 3; length++) {
            check_every(curve_of(which), length);
        }
    }
}

/* Lists of random lengths, from points that are mostly one and its negative, so that rounds after
 * the first meet the exact cases too. */
static void check_random(const tiny *t, size_t n_segments, size_t longest, size_t few)
{
    uint32_t n = 0;
    for (size_t s = 0; s < n_segments; s++) {
        size_t length = cuzk_test_random(&seed) % (longest + 1);
        bounds[s] = n;
        for (size_t i = 0; i < length; i++) {
            entries[n++] = (uint32_t)(cuzk_test_random(&seed) % (2 * few));
        }
    }
    bounds[n_segments] = n;
    check(t, n_segments);
}

static void test_chunks(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        const tiny *t = curve_of(which);
        /* each length alone, so that the chunks' bounds fall on every place of a list */
        for (uint32_t length = 0; length <= 5 * CHUNK; length++) {
            for (uint32_t before = 0; before <= CHUNK; before++) {
                bounds[0] = 0;
                bounds[1] = before;
                bounds[2] = before + length;
                bounds[3] = bounds[2] + 2;
                for (uint32_t i = 0; i < bounds[3]; i++) {
                    entries[i] = (uint32_t)(cuzk_test_random(&seed) % (2 * t->n_points));
                }
                check(t, 3);
            }
        }
        for (int round = 0; round < 300; round++) {
            check_random(t, 40, 1 + (size_t)round % 50, 2 + (size_t)round % (t->n_points - 2));
        }
    }
}

/* The points and the law that this rests on. */
static void test_reference(void **state)
{
    (void)state;
    assert_int_equal(c13_check(), curve_of(0)->n_points);
    assert_int_equal(c19_check(), curve_of(1)->n_points);
    uint8_t packed[16], again[16];
    memcpy(packed, (const uint8_t *)curve_of(0)->points + curve_of(0)->point_bytes, 16);
    k13_to_affine(again, packed, 1);
    assert_memory_equal(again, packed, 16);
    memcpy(packed, (const uint8_t *)curve_of(1)->points + curve_of(1)->point_bytes, 16);
    k19_to_affine(again, packed, 1);
    assert_memory_equal(again, packed, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_every_list),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests_name("sums over tiny curves", tests, NULL, NULL);
}
