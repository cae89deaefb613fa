/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times of the transforms and quotients of src/poly, CSV on stdout:
 *   name,curve,path,lg_n,threads,runs,min_ns,median_ns,min_ns_per_butterfly
 * A quotient counts as six transforms of lg_n·2^(lg_n-1) butterflies. Arrays are filled with random
 * elements and lie in huge pages where the system gives them.
 *
 *   bench_ntt [--curve NAME] [--path NAME] [--lg FROM-TO] [--threads N,N] [--runs N] [--only NAME]
 */
#include "base/clock.h"
#include "poly/domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RUNS_MAX = 1001, THREADS_MAX = 8 };

static const char *only_name, *only_curve, *only_path;
static unsigned lg_from = 10, lg_to = 20, runs_wanted, n_threads_wanted = 1;
static unsigned threads_wanted[THREADS_MAX] = {1};

static void *huge_alloc(size_t n_bytes)
{
    size_t page = (size_t)2 << 20;
    n_bytes = (n_bytes + page - 1) & ~(page - 1);
    void *p = aligned_alloc(page, n_bytes);
    if (p == NULL) {
        fprintf(stderr, "bench_ntt: no memory for %zu bytes\n", n_bytes);
        exit(1);
    }
    madvise(p, n_bytes, MADV_HUGEPAGE);
    return p;
}

static void fill(const cuzk_curve *curve, cuzk_fr *a, size_t n)
{
    uint64_t s = 1;
    for (size_t i = 0; i < n; i++) {
        cuzk_fr raw;
        for (int k = 0; k < 4; k++) {
            s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            raw.l[k] = s ^ s >> 33;
        }
        curve->fr_batch_from_canonical(&a[i], &raw, 1);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- what is measured ---- */

typedef struct {
    const cuzk_domain *d;
    cuzk_fr *a, *b, coset;
    void *ws;
    cuzk_pool *pool;
} job;

static void run_forward(const job *j)
{
    cuzk_ntt_forward(j->d, j->a, NULL, j->ws, j->pool);
}

static void run_inverse(const job *j)
{
    cuzk_ntt_inverse(j->d, j->a, NULL, j->ws, j->pool);
}

static void run_forward_coset(const job *j)
{
    cuzk_ntt_forward(j->d, j->a, &j->coset, j->ws, j->pool);
}

static void run_inverse_coset(const job *j)
{
    cuzk_ntt_inverse(j->d, j->a, &j->coset, j->ws, j->pool);
}

static void run_circom(const job *j)
{
    if (cuzk_quotient_circom(j->d, j->a, j->a, j->b, j->ws, j->pool, NULL) != CUZK_OK) {
        exit(1);
    }
}

static void run_plain(const job *j)
{
    if (cuzk_quotient_plain(j->d, j->a, j->a, j->b, j->ws, j->pool, NULL) != CUZK_OK) {
        exit(1);
    }
}

static const struct {
    const char *name;
    void (*run)(const job *);
    unsigned n_transforms;
} kinds[] = {{"ntt_forward", run_forward, 1},
             {"ntt_inverse", run_inverse, 1},
             {"ntt_forward_coset", run_forward_coset, 1},
             {"ntt_inverse_coset", run_inverse_coset, 1},
             {"quotient_circom", run_circom, 6},
             {"quotient_plain", run_plain, 6}};

static void measure(const cuzk_curve *curve, const char *path, unsigned lg_n, unsigned threads,
                    const job *j)
{
    static uint64_t t[RUNS_MAX];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (only_name != NULL && strstr(kinds[k].name, only_name) == NULL) {
            continue;
        }
        /* about a second for each line, at least five runs */
        unsigned runs = 0, wanted = runs_wanted;
        uint64_t total = 0;
        kinds[k].run(j);
        while (runs < RUNS_MAX && (wanted ? runs < wanted : runs < 5 || total < 1000000000)) {
            uint64_t start = cuzk_now_ns();
            kinds[k].run(j);
            t[runs] = cuzk_now_ns() - start;
            total += t[runs++];
        }
        qsort(t, runs, sizeof *t, compare);
        double butterflies = (double)((uint64_t)lg_n << lg_n) / 2 * kinds[k].n_transforms;
        printf("%s,%s,%s,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%.2f\n", kinds[k].name, curve->name, path,
               lg_n, threads, runs, t[0], t[runs / 2], (double)t[0] / butterflies);
        fflush(stdout);
    }
}

static void bench(const cuzk_curve *curve, cuzk_cpu_path path, unsigned lg_n)
{
    size_t n = (size_t)1 << lg_n;
    cuzk_error err = {0};
    cuzk_domain *d = NULL;
    if (cuzk_domain_create_path(&d, curve, path, 5, lg_n, &err) != CUZK_OK) {
        return; /* the processor lacks the path */
    }
    job j = {.d = d, .a = huge_alloc(32 * n), .b = huge_alloc(32 * n)};
    fill(curve, j.a, n);
    fill(curve, j.b, n);
    curve->fr_from_u64(&j.coset, 7);
    for (unsigned i = 0; i < n_threads_wanted; i++) {
        if (cuzk_pool_create(&j.pool, threads_wanted[i], &err) != CUZK_OK) {
            fprintf(stderr, "bench_ntt: %s\n", err.text);
            exit(1);
        }
        j.ws = huge_alloc(cuzk_quotient_workspace_bytes(d, j.pool));
        measure(curve, cuzk_cpu_path_name(path), lg_n, threads_wanted[i], &j);
        free(j.ws);
        cuzk_pool_destroy(j.pool);
    }
    free(j.a);
    free(j.b);
    cuzk_domain_destroy(d);
}

static void usage(void)
{
    fprintf(stderr, "usage: bench_ntt [--curve NAME] [--path NAME] [--lg FROM-TO] "
                    "[--threads N,N] [--runs N] [--only NAME]\n");
    exit(2);
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i];
        char *value = argv[i + 1], *end = value;
        if (strcmp(name, "--curve") == 0) {
            only_curve = value;
        } else if (strcmp(name, "--path") == 0) {
            only_path = value;
        } else if (strcmp(name, "--only") == 0) {
            only_name = value;
        } else if (strcmp(name, "--runs") == 0) {
            runs_wanted = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--lg") == 0) {
            lg_from = (unsigned)strtoul(value, &end, 10);
            lg_to = *end == '-' ? (unsigned)strtoul(end + 1, NULL, 10) : lg_from;
        } else if (strcmp(name, "--threads") == 0) {
            n_threads_wanted = 0;
            while (n_threads_wanted < THREADS_MAX && *end != '\0') {
                threads_wanted[n_threads_wanted++] = (unsigned)strtoul(end, &end, 10);
                end += *end == ',';
            }
        } else {
            usage();
        }
    }
    if (argc % 2 == 0 || lg_to > CUZK_DOMAIN_LG_MAX) {
        usage();
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    printf("name,curve,path,lg_n,threads,runs,min_ns,median_ns,min_ns_per_butterfly\n");
    for (int id = CUZK_CURVE_BN254; id <= CUZK_CURVE_BLS12_381; id++) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)id);
        if (only_curve != NULL && strcmp(only_curve, curve->name) != 0) {
            continue;
        }
        for (int path = 0; path < CUZK_CPU_PATH_COUNT; path++) {
            const char *name = cuzk_cpu_path_name((cuzk_cpu_path)path);
            /* the emulated path is for tests: measured only when asked for */
            bool wanted =
                only_path != NULL ? strcmp(only_path, name) == 0 : path != CUZK_CPU_IFMA_EMULATED;
            for (unsigned lg_n = lg_from; wanted && lg_n <= lg_to; lg_n += lg_n < 12 ? 1 : 2) {
                bench(curve, (cuzk_cpu_path)path, lg_n);
            }
        }
    }
    return 0;
}
