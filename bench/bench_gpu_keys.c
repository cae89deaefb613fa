/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key set-up on a CUDA device: all points of a Filecoin circuit's key from a fixed trapdoor.
 *
 *   bench_gpu_keys KIND SIZE [--device N] [--threads N]     porep, window, winning or update; 2k …
 * 64g
 *
 * CSV on stdout: kind,size,step,seconds,cpu_seconds,points. Steps: circuit; logarithms (Lagrange
 * values and columns, on the host's threads); tables; each query, its scalars on their way to the
 * device included; total, without the circuit. Samples of every query are compared with the CPU's
 * multiples. Comments: memory. Exit code 1 if one is wrong. */
#include "backend/cuda/fixed_multiplier.h"
#include "base/clock.h"
#include "bench_gpu.h"
#include "filecoin/circuit_get.h"
#include "groth16/setup_logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SAMPLES = 256 };

static const char *const kinds[] = {"", "porep", "update", "window", "winning"};
static cuzk_error err;
static const char *kind_name;
static const cuzk_sector *sector;
static cuzk_pool *pool;

/* Wall time and that of all threads. */
typedef struct {
    uint64_t ns;
    clock_t cpu;
} moment;

static moment now(void)
{
    return (moment){cuzk_now_ns(), clock()};
}

static void print_step(const char *step, moment begin, uint64_t n)
{
    printf("%s,%s,%s,%.3f,%.2f,%llu\n", kind_name, sector->name, step,
           (double)(cuzk_now_ns() - begin.ns) / 1e9, (double)(clock() - begin.cpu) / CLOCKS_PER_SEC,
           (unsigned long long)n);
    fflush(stdout);
}

/* Points at n places, the first and the last among them, against the CPU's. */
static bool check_samples(const cuzk_group *g, const char *name, CUdeviceptr points,
                          const cuzk_fr *scalars, uint64_t n)
{
    cuzk_affine generator;
    cuzk_jac p, base;
    g->generator(&generator);
    g->from_affine(&base, &generator);
    for (int i = 0; i < SAMPLES && n > 0; i++) {
        uint64_t at = i == 0 ? 0 : i == 1 ? n - 1 : random_u64() % n;
        char found[sizeof(cuzk_affine)], expected[sizeof(cuzk_affine)];
        DRIVER(cuMemcpyDtoH, (found, points + at * g->affine_bytes, g->affine_bytes));
        g->mul(&p, &base, &scalars[at]);
        g->to_affine(expected, &p);
        if (memcmp(found, expected, g->affine_bytes) != 0) {
            printf("# %s: point %llu of %llu is WRONG\n", name, (unsigned long long)at,
                   (unsigned long long)n);
            return false;
        }
    }
    printf("# %s: %d points are right\n", name, SAMPLES);
    return true;
}

static bool run(const cuzk_setup_logs *logs, const cuzk_shape *shape, moment begin)
{
    const struct {
        const char *name;
        cuzk_group_id group;
        const cuzk_fr *scalars;
        uint64_t n;
    } queries[] = {{"query H", CUZK_G1, logs->h, logs->n_h},
                   {"query C", CUZK_G1, logs->c + shape->n_inputs, cuzk_shape_n_aux(shape)},
                   {"query A", CUZK_G1, logs->a, logs->n_a},
                   {"query B in G1", CUZK_G1, logs->b, logs->n_b},
                   {"query B in G2", CUZK_G2, logs->b, logs->n_b}};
    enum { QUERIES = sizeof queries / sizeof *queries };
    CUdeviceptr points[QUERIES];
    uint64_t n_all = 0, bytes = 0;
    moment step = now();
    bool right = true;
    for (int q = 0; q < QUERIES; q++) {
        size_t n_bytes = queries[q].n * shape->curve->g[queries[q].group].affine_bytes;
        DRIVER(cuMemAlloc, (&points[q], n_bytes + 16));
        n_all += queries[q].n;
        bytes += n_bytes;
    }
    cuzk_fixed_multiplier *m = NULL;
    const cuzk_fixed_multiplier_params params = {.n = {[CUZK_G1] = n_all, [CUZK_G2] = logs->n_b}};
    must(cuzk_fixed_multiplier_create(&m, device.api, shape->curve, &params, pool, &err), &err);
    print_step("tables", step, 0);
    for (int q = 0; q < QUERIES; q++) {
        step = now();
        must(cuzk_fixed_multiplier_run(m, points[q], queries[q].group, queries[q].scalars,
                                       queries[q].n, &err),
             &err);
        print_step(queries[q].name, step, queries[q].n);
    }
    print_step("total", begin, n_all);
    printf("# key %.1f GB; tables and workspace %.2f GB, windows of %u and %u bits\n",
           (double)bytes / 1e9, (double)cuzk_fixed_multiplier_memory(m)->total / 1e9,
           cuzk_fixed_multiplier_bits(m, CUZK_G1), cuzk_fixed_multiplier_bits(m, CUZK_G2));
    for (int q = 0; q < QUERIES; q++) {
        right &= check_samples(&shape->curve->g[queries[q].group], queries[q].name, points[q],
                               queries[q].scalars, queries[q].n);
        DRIVER(cuMemFree, (points[q]));
    }
    cuzk_fixed_multiplier_destroy(m);
    return right;
}

int main(int argc, char **argv)
{
    int index = 0, kind = 0;
    unsigned n_threads = 0;
    for (int i = 1; i < 5 && argc > 2; i++) {
        kind = strcmp(argv[1], kinds[i]) == 0 ? i : kind;
    }
    sector = argc > 2 ? cuzk_sector_by_name(argv[2], strlen(argv[2])) : NULL;
    bool good = kind != 0 && sector != NULL && argc % 2 == 1;
    for (int i = 3; good && i < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            index = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--threads") == 0) {
            n_threads = (unsigned)atoi(argv[i + 1]);
        } else {
            good = false;
        }
    }
    if (!good) {
        fprintf(stderr, "usage: bench_gpu_keys porep|update|window|winning SIZE [--device N] "
                        "[--threads N]\n");
        return 1;
    }
    kind_name = kinds[kind];
    bench_gpu_open(index);
    must(cuzk_pool_create(&pool, n_threads, &err), &err);
    printf("kind,size,step,seconds,cpu_seconds,points\n");
    moment begin = now();
    cuzk_shape *shape = NULL;
    must(cuzk_circuit_get(&shape, (cuzk_proof_kind)kind, sector, NULL, NULL, pool, &err), &err);
    print_step("circuit", begin, 0);

    begin = now();
    cuzk_trapdoor t;
    cuzk_fr *const values[5] = {&t.tau, &t.alpha, &t.beta, &t.gamma, &t.delta};
    for (int i = 0; i < 5; i++) {
        uint64_t words[4] = {random_u64(), random_u64(), random_u64(), random_u64()};
        shape->curve->fr_batch_from_canonical(values[i], words, 1);
    }
    cuzk_setup_logs logs;
    const cuzk_setup_params params = {.style = CUZK_KEY_BELLPERSON, .test_trapdoor = &t};
    must(cuzk_setup_logs_make(&logs, shape, &params, pool, &err), &err);
    print_step("logarithms", begin, 0);
    bool right = run(&logs, shape, begin);
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        printf("# %u threads; peak host memory %.1f GB\n", cuzk_pool_threads(pool),
               (double)use.ru_maxrss * 1024 / 1e9);
    }
    cuzk_setup_logs_clear(&logs);
    cuzk_shape_destroy(shape);
    cuzk_pool_destroy(pool);
    cuzk_cuda_device_close(&device);
    return right ? 0 : 1;
}
