/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sum kernels of every path on the real curves with multiples of one point so small that every
 * exact case occurs at once: all lists of one to four entries from 0, P, 2P and 3P with both signs,
 * then longer ones. Sums are small multiples too, which are known from additions one by one. */
#include "msm_test.h"

#include <stdlib.h>
#include <string.h>

enum { N_BASES = 4, N_ENTRIES = 2 * N_BASES, LIMIT = 3 * 160 }; /* sums in -LIMIT … LIMIT */

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

typedef struct {
    const cuzk_sum_kernel *kernel;
    const cuzk_group *g;
    uint8_t *multiples; /* packed: of -LIMIT … LIMIT */
    uint8_t bases[N_BASES * sizeof(cuzk_affine) + 1];
    uint8_t *kernel_bases;
    void *ws;
} fixture;

static void *buffer(size_t n_bytes)
{
    void *p = aligned_alloc(64, (n_bytes + 127) / 64 * 64);
    assert_non_null(p);
    memset(p, 0xa5, n_bytes);
    return p;
}

static void make(fixture *f, cuzk_curve_id curve, cuzk_group_id group)
{
    f->kernel = cuzk_sum_kernel_get(curve, group);
    f->g = &cuzk_curve_get(curve)->g[group];
    size_t size = f->g->affine_bytes;
    cuzk_jac *all = malloc((2 * LIMIT + 1) * sizeof *all);
    cuzk_affine p;
    f->g->generator(&p);
    f->g->set_infinity(&all[LIMIT]);
    for (int k = 1; k <= LIMIT; k++) {
        f->g->add_affine(&all[LIMIT + k], &all[LIMIT + k - 1], &p);
        f->g->neg(&all[LIMIT - k], &all[LIMIT + k]);
    }
    f->multiples = malloc((2 * LIMIT + 1) * size);
    f->g->batch_to_affine(f->multiples, all, 2 * LIMIT + 1);
    free(all);
    memcpy(f->bases + 1, f->multiples + LIMIT * size, N_BASES * size); /* any alignment */
    f->ws = buffer(f->kernel->workspace_bytes);
    f->kernel_bases = buffer(N_BASES * f->kernel->point_bytes);
    const uint32_t entries[N_BASES] = {0, 2, 4, 6}, bounds[N_BASES + 1] = {0, 1, 2, 3, 4};
    f->kernel->segment_sums(f->kernel_bases, f->bases + 1, false, entries, bounds, N_BASES, f->ws);
}

static void drop(fixture *f)
{
    free(f->multiples);
    free(f->kernel_bases);
    free(f->ws);
}

/* All segments, from packed and from kernel points. */
static void check(const fixture *f, const uint32_t *entries, const uint32_t *bounds, size_t n)
{
    size_t size = f->g->affine_bytes;
    uint8_t *sums = buffer(n * f->kernel->point_bytes), *out = malloc(n * size);
    for (int from_kernel_points = 0; from_kernel_points < 2; from_kernel_points++) {
        f->kernel->segment_sums(sums, from_kernel_points ? f->kernel_bases : f->bases + 1,
                                from_kernel_points != 0, entries, bounds, n, f->ws);
        f->kernel->to_affine(out, sums, n);
        for (size_t s = 0; s < n; s++) {
            int sum = 0;
            for (uint32_t i = bounds[s]; i < bounds[s + 1]; i++) {
                sum += entries[i] & 1 ? -(int)(entries[i] >> 1) : (int)(entries[i] >> 1);
            }
            assert_in_range(sum + LIMIT, 0, 2 * LIMIT);
            if (memcmp(out + s * size, f->multiples + (size_t)(sum + LIMIT) * size, size) != 0) {
                fail_msg("list %zu of %zu, %u entries: not %d·P", s, n, bounds[s + 1] - bounds[s],
                         sum);
            }
        }
    }
    free(out);
    free(sums);
}

#define FOR_EACH_GROUP(f)                                                                          \
    for (int which_ = 0; which_ < 4; which_++)                                                     \
        for (fixture f, *once_ = (make(&f, curves[which_ / 2], (cuzk_group_id)(which_ % 2)), &f);  \
             once_ != NULL; drop(&f), once_ = NULL)

static void test_every_list(void **state)
{
    (void)state;
    FOR_EACH_GROUP(f)
    {
        for (unsigned length = 1; length <= (msm_test_slow() ? 3u : 4u); length++) {
            size_t n = 1;
            for (unsigned k = 0; k < length; k++) {
                n *= N_ENTRIES;
            }
            uint32_t *entries = malloc(n * length * sizeof *entries);
            uint32_t *bounds = malloc((n + 1) * sizeof *bounds);
            for (size_t list = 0; list < n; list++) {
                size_t left = list;
                bounds[list] = (uint32_t)(list * length);
                for (unsigned k = 0; k < length; k++) {
                    entries[list * length + k] = (uint32_t)(left % N_ENTRIES);
                    left /= N_ENTRIES;
                }
            }
            bounds[n] = (uint32_t)(n * length);
            check(&f, entries, bounds, n);
            free(bounds);
            free(entries);
        }
    }
}

/* Lists of lengths around the pieces and trees of the kernels, most of whose partial sums are
 * equal, opposite or infinite in some round; among empty ones; alone and many at once. */
static void test_long_lists(void **state)
{
    (void)state;
    enum { N = 67, LONGEST = 160 };
    FOR_EACH_GROUP(f)
    {
        for (int kind = 0; kind < 6; kind += msm_test_slow() ? 2 : 1) {
            uint32_t entries[N * LONGEST], bounds[N + 1] = {0};
            for (size_t s = 0; s < N; s++) {
                static const uint32_t lengths[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 159, 160};
                uint32_t length = kind == 5 ? (uint32_t)s : lengths[(s + (size_t)kind) % 11];
                bounds[s + 1] = bounds[s] + length;
                for (uint32_t i = 0; i < length; i++) {
                    uint32_t e = (uint32_t)msm_test_below(N_ENTRIES);
                    e = kind == 0 ? 2 : e;                /* P all along: doublings */
                    e = kind == 1 ? 2 + (i & 1) : e;      /* P, -P: infinity in the first round */
                    e = kind == 2 ? 2 + (i >> 1 & 1) : e; /* … in the second */
                    e = kind == 3 ? (i & 1 ? 0 : e) : e;  /* every other one infinite */
                    entries[bounds[s] + i] = e;
                }
            }
            check(&f, entries, bounds, N);
            for (size_t s = 0; s < N; s += 5) {
                check(&f, entries, bounds + s, 1);
            }
        }
    }
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_list),
        cmocka_unit_test(test_long_lists),
    };
    return cmocka_run_group_tests_name("small sums", tests, NULL, NULL);
}
