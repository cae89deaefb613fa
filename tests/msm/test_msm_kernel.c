/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sum kernels by themselves: segments of all lengths over all kinds of bases, from packed
 * points and from kernel points, against sums of discrete logarithms. */
#include "msm_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

typedef struct {
    const cuzk_sum_kernel *kernel;
    const cuzk_curve *curve;
    cuzk_group_id group;
    void *ws;
} fixture;

static fixture make_fixture(cuzk_curve_id curve, cuzk_group_id group)
{
    fixture f = {cuzk_sum_kernel_get(curve, group), cuzk_curve_get(curve), group, NULL};
    f.ws = aligned_alloc(64, (f.kernel->workspace_bytes + 63) / 64 * 64);
    assert_non_null(f.ws);
    memset(f.ws, 0xa5, f.kernel->workspace_bytes);
    return f;
}

static void *kernel_points(const fixture *f, size_t n)
{
    void *p = aligned_alloc(64, (n * f->kernel->point_bytes + 64) / 64 * 64);
    assert_non_null(p);
    return p;
}

/* All bases as kernel points, by segments of one entry. */
static void *convert(const fixture *f, const test_bases *bases)
{
    void *points = kernel_points(f, bases->n);
    uint32_t *numbers = malloc((2 * bases->n + 1) * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < bases->n; i++) {
        numbers[i] = (uint32_t)i << 1;
        numbers[bases->n + i] = (uint32_t)i;
    }
    numbers[2 * bases->n] = (uint32_t)bases->n;
    f->kernel->segment_sums(points, bases->points, false, numbers, numbers + bases->n, bases->n,
                            f->ws);
    free(numbers);
    return points;
}

/* Sum segments of the given lengths of random entries and compare each. */
static void check_segments(const fixture *f, const test_bases *bases, const size_t *lengths,
                           size_t n_segments, const char *what)
{
    const cuzk_curve *curve = f->curve;
    size_t offset = 7, total = offset; /* bounds need not begin at 0 */
    uint32_t *bounds = malloc((n_segments + 1) * sizeof *bounds);
    bounds[0] = (uint32_t)offset;
    for (size_t s = 0; s < n_segments; s++) {
        total += lengths[s];
        bounds[s + 1] = (uint32_t)total;
    }
    uint32_t *entries = malloc(total * sizeof *entries);
    for (size_t i = 0; i < total; i++) {
        entries[i] = (uint32_t)(msm_test_below(bases->n) << 1 | msm_test_below(2));
    }
    uint8_t *sums = kernel_points(f, n_segments), *converted = convert(f, bases);
    uint8_t *affine = malloc(n_segments * bases->group->affine_bytes + 8);
    for (int from_kernel_points = 0; from_kernel_points < 2; from_kernel_points++) {
        f->kernel->segment_sums(sums, from_kernel_points ? converted : bases->points,
                                from_kernel_points != 0, entries, bounds, n_segments, f->ws);
        f->kernel->to_affine(affine + 3, sums, n_segments);
        for (size_t s = 0; s < n_segments; s++) {
            cuzk_fr log;
            cuzk_jac sum;
            curve->fr_from_u64(&log, 0);
            for (size_t i = bounds[s]; i < bounds[s + 1]; i++) {
                const cuzk_fr *k = &bases->logs[entries[i] >> 1];
                (entries[i] & 1 ? curve->fr_sub : curve->fr_add)(&log, &log, k);
            }
            const void *point = affine + 3 + s * bases->group->affine_bytes;
            assert_true(bases->group->affine_is_reduced(point));
            bases->group->from_affine(&sum, point);
            assert_sum_is(curve, f->group, &sum, &log, what, lengths[s]);
        }
    }
    free(affine);
    free(converted);
    free(sums);
    free(entries);
    free(bounds);
}

static const char *const kind_names[BASES_KINDS] = {"distinct bases", "bases in series",
                                                    "equal bases",    "opposite bases",
                                                    "infinite bases", "sprinkled bases"};

/* Every length up to 40 and some long ones, shuffled among empty ones. */
static void test_lengths(void **state)
{
    (void)state;
    size_t lengths[64], n = 0;
    for (size_t i = 0; i <= 40; i++) {
        lengths[n++] = i;
    }
    size_t longer[] = {0, 0, 63, 64, 65, 127, 600, 1, 1, 0};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        lengths[n++] = longer[i];
    }
    for (size_t i = n; i-- > 1;) {
        size_t j = msm_test_below(i + 1), t = lengths[i];
        lengths[i] = lengths[j];
        lengths[j] = t;
    }
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            fixture f = make_fixture(curves[c], (cuzk_group_id)g);
            for (int kind = 0; kind < BASES_KINDS; kind++) {
                test_bases bases;
                test_bases_make(&bases, f.curve, f.group, 97, (base_kind)kind);
                check_segments(&f, &bases, lengths, n, kind_names[kind]);
                test_bases_free(&bases);
            }
            free(f.ws);
        }
    }
}

/* Segments longer than any chunk of a kernel, alone and between short ones. */
static void test_long_segments(void **state)
{
    (void)state;
    const size_t lengths[] = {3, 9001, 0, 2, 5000, 8192, 1, 4096, 4097, 17};
    size_t n = msm_test_slow() ? 2 : sizeof lengths / sizeof *lengths;
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            fixture f = make_fixture(curves[c], (cuzk_group_id)g);
            const base_kind kinds[] = {BASES_DISTINCT, BASES_EQUAL, BASES_SPRINKLED};
            for (size_t k = 0; k < 3; k++) {
                test_bases bases;
                test_bases_make(&bases, f.curve, f.group, 1000, kinds[k]);
                check_segments(&f, &bases, lengths, n, kind_names[kinds[k]]);
                test_bases_free(&bases);
            }
            free(f.ws);
        }
    }
}

/* Thousands of short segments: many chunks whose ends fall anywhere. */
static void test_many_segments(void **state)
{
    (void)state;
    size_t n = msm_test_slow() ? 300 : 3000, lengths[3000];
    for (size_t s = 0; s < n; s++) {
        lengths[s] = msm_test_below(msm_test_below(16) == 0 ? 40 : 6);
    }
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            fixture f = make_fixture(curves[c], (cuzk_group_id)g);
            test_bases bases;
            test_bases_make(&bases, f.curve, f.group, 500, BASES_SPRINKLED);
            check_segments(&f, &bases, lengths, g == 0 ? n : n / 4, "many segments");
            test_bases_free(&bases);
            free(f.ws);
        }
    }
}

/* No segments at all leave the output alone. */
static void test_nothing(void **state)
{
    (void)state;
    fixture f = make_fixture(CUZK_CURVE_BN254, CUZK_G1);
    uint8_t out[64] = {1, 2, 3}, copy[64];
    uint32_t bounds[1] = {0};
    memcpy(copy, out, sizeof out);
    f.kernel->segment_sums(out, NULL, false, NULL, bounds, 0, f.ws);
    assert_memory_equal(out, copy, sizeof out);
    free(f.ws);
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_long_segments),
        cmocka_unit_test(test_many_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
