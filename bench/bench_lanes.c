/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The eight-lane code natively, as CSV: nanoseconds per field operation and per point addition.
 *
 *   bench_lanes [REPETITIONS]     default 15
 *
 * Field rows: single operations, that is an eighth of a vector operation; scalar_… is the
 * scalar field's, each waiting for the one before. Kernel rows: one thread, nanoseconds per
 * addition (entries less segments) of segment_sums: l2        lists of 16 random entries over 2048
 * bases msm_2^k   the buckets of one window of an MSM of 2^k random scalars: random order, random
 * lengths points    lists of 16 random entries over 4096 kernel points pairs     lists of 2 equal
 * lists of 16 times the same base: every addition is exceptional long      one list On a shared
 * machine the fastest repetition is the one to compare. */
#include "bench_lanes.h"
#include "base/clock.h"
#include "msm/sum_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if CUZK_HAVE_X86_PATHS
bench_lanes_fn cuzk_bn254_ifma_bench_lanes, cuzk_bls12_381_ifma_bench_lanes;
#endif

static uint64_t state = 1;

static uint64_t next_random(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In huge pages where they are to be had, unless CUZK_BENCH_SMALL_PAGES is set. */
static void *allocate(size_t n_bytes)
{
    size_t page = n_bytes >= (size_t)1 << 20 ? (size_t)1 << 21 : 64;
    void *p = aligned_alloc(page, (n_bytes + page - 1) / page * page);
#if defined(MADV_HUGEPAGE)
    if (p != NULL && page > 64 && getenv("CUZK_BENCH_SMALL_PAGES") == NULL) {
        (void)madvise(p, n_bytes, MADV_HUGEPAGE);
    }
#endif
    if (p == NULL) {
        fprintf(stderr, "bench_lanes: %zu bytes: out of memory\n", n_bytes);
        exit(2);
    }
    memset(p, 0, n_bytes);
    return p;
}

/* n different points: multiples of the generator. */
static char *make_bases(const cuzk_group *g, size_t n)
{
    enum { BATCH = 1024 };
    char *bases = allocate(n * g->affine_bytes), generator[192];
    cuzk_jac *jac = allocate(BATCH * sizeof *jac), sum;
    g->generator(generator);
    g->set_infinity(&sum);
    for (size_t i = 0; i < n; i += BATCH) {
        size_t m = n - i < BATCH ? n - i : BATCH;
        for (size_t k = 0; k < m; k++) {
            g->add_affine(&sum, &sum, generator);
            jac[k] = sum;
        }
        g->batch_to_affine(bases + i * g->affine_bytes, jac, m);
    }
    free(jac);
    return bases;
}

typedef struct {
    const cuzk_sum_kernel *kernel;
    const char *curve, *path;
    int group, n_repetitions;
    void *ws;
} bench;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void time_sums(const bench *b, const char *name, const void *bases, bool kernel_points,
                      const uint32_t *entries, const uint32_t *bounds, size_t n)
{
    void *out = allocate(n * b->kernel->point_bytes);
    double t[256];
    size_t additions = bounds[n] - bounds[0];
    for (size_t s = 0; s < n; s++) {
        additions -= bounds[s + 1] > bounds[s];
    }
    for (int r = 0; r < b->n_repetitions; r++) {
        uint64_t start = cuzk_now_ns();
        b->kernel->segment_sums(out, bases, kernel_points, entries, bounds, n, b->ws);
        t[r] = (double)(cuzk_now_ns() - start) / (double)additions;
    }
    qsort(t, (size_t)b->n_repetitions, sizeof *t, compare);
    printf("%s,%s,g%d,%s,%.2f,%.2f\n", name, b->curve, b->group + 1, b->path, t[0],
           t[b->n_repetitions / 2]);
    fflush(stdout);
    free(out);
}

/* Lists of the same length over random points. */
static void time_lists(const bench *b, const char *name, const void *bases, bool kernel_points,
                       size_t n_bases, size_t n_lists, size_t length)
{
    uint32_t *entries = allocate(n_lists * length * sizeof *entries);
    uint32_t *bounds = allocate((n_lists + 1) * sizeof *bounds);
    for (size_t i = 0; i < n_lists * length; i++) {
        entries[i] = (uint32_t)(next_random() % n_bases << 1 | (next_random() & 1));
    }
    for (size_t i = 0; i <= n_lists; i++) {
        bounds[i] = (uint32_t)(i * length);
    }
    time_sums(b, name, bases, kernel_points, entries, bounds, n_lists);
    free(entries);
    free(bounds);
}

/* Every base once, in one of n/16 lists at random. */
static void time_buckets(const bench *b, const char *name, const void *bases, size_t n)
{
    size_t n_lists = n / 16;
    uint32_t *entries = allocate(n * sizeof *entries), *list = allocate(n * sizeof *list);
    uint32_t *bounds = allocate((n_lists + 2) * sizeof *bounds);
    for (size_t i = 0; i < n; i++) {
        list[i] = (uint32_t)(next_random() % n_lists);
        bounds[list[i] + 2]++;
    }
    for (size_t s = 0; s < n_lists; s++) {
        bounds[s + 2] += bounds[s + 1];
    }
    for (size_t i = 0; i < n; i++) {
        entries[bounds[list[i] + 1]++] = (uint32_t)(i << 1 | (next_random() & 1));
    }
    time_sums(b, name, bases, false, entries, bounds, n_lists);
    free(entries);
    free(list);
    free(bounds);
}

static void run_kernel(const cuzk_curve *curve, int group, cuzk_cpu_path path, int n_repetitions)
{
    const cuzk_group *g = &curve->g[group];
    bench b = {cuzk_sum_kernel_get_path(curve->id, g->id, path),
               curve->name,
               cuzk_cpu_path_name(path),
               group,
               n_repetitions,
               NULL};
    if (b.kernel == NULL) {
        return;
    }
    size_t n = (size_t)1 << (group == 0 ? 18 : 16);
    char *bases = make_bases(g, n);
    b.ws = allocate(b.kernel->workspace_bytes);
    time_lists(&b, "l2", bases, false, 2048, 2048, 16);
    time_buckets(&b, "msm_2^14", bases, (size_t)1 << 14);
    time_buckets(&b, "msm_2^16", bases, (size_t)1 << 16);
    if (group == 0) {
        time_buckets(&b, "msm_2^18", bases, n);
    }
    char *points = allocate(4096 * b.kernel->point_bytes);
    uint32_t *single = allocate(2 * 4097 * sizeof *single);
    for (uint32_t i = 0; i <= 4096; i++) {
        single[i] = i;
        single[4097 + i] = i << 1;
    }
    b.kernel->segment_sums(points, bases, false, single + 4097, single, 4096, b.ws);
    time_lists(&b, "points", points, true, 4096, 2048, 16);
    time_lists(&b, "pairs", points, true, 4096, 8192, 2);
    time_lists(&b, "equal", bases, false, 1, 1024, 16);
    time_lists(&b, "long", bases, false, 2048, 1, 32768);
    free(points);
    free(single);
    free(bases);
    free(b.ws);
}

#if CUZK_HAVE_X86_PATHS
static void run_field(const char *curve, bench_lanes_fn *fn, int n_repetitions)
{
    bench_lanes_row rows[BENCH_LANES_ROWS_MAX];
    int n = fn(rows, n_repetitions);
    for (int i = 0; i < n; i++) {
        printf("%s,%s,,ifma,%.2f,%.2f\n", rows[i].name, curve, rows[i].min, rows[i].median);
    }
}
#endif

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 15;
    if (n < 1 || n > 256) {
        fprintf(stderr, "bench_lanes: repetitions: \"%s\" is not a number in 1 … 256\n", argv[1]);
        return 2;
    }
    printf("name,curve,group,path,min_ns,median_ns\n");
#if CUZK_HAVE_X86_PATHS
    if (cuzk_cpu_supports(CUZK_CPU_IFMA)) {
        run_field("bn254", cuzk_bn254_ifma_bench_lanes, 101);
        run_field("bls12_381", cuzk_bls12_381_ifma_bench_lanes, 101);
    }
#endif
    for (int group = 0; group < 2; group++) {
        run_kernel(cuzk_curve_get(CUZK_CURVE_BN254), group, CUZK_CPU_IFMA, n);
        run_kernel(cuzk_curve_get(CUZK_CURVE_BLS12_381), group, CUZK_CPU_IFMA, n);
    }
    run_kernel(cuzk_curve_get(CUZK_CURVE_BN254), 0, CUZK_CPU_ADX, n < 3 ? n : 3);
    run_kernel(cuzk_curve_get(CUZK_CURVE_BLS12_381), 0, CUZK_CPU_ADX, n < 3 ? n : 3);
    return 0;
}
