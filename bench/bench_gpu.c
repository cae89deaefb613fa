/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rates of field operations and batched point additions on one CUDA device, as CSV on stdout.
 *
 *   bench_gpu [--device N] [--runs N] [--lg G1 G2]
 *
 * --lg: 2^G1 additions in G1 and 2^G2 in G2 a batch (default 25 and 23).
 * Columns: curve,operation,n,median_ms,giga_per_s,ceiling,share. Ceiling: the products of 32 by 32
 * bits that the operation needs at 4 cycles of the multiplier pipe each (2 for a low product), over
 * the cycles of all pipes at the clock that the driver reports; 64 lanes an SM and cycle, as
 * measured on compute capability 9.0. Times are device events, median after one warm-up. Points are
 * sums of two tables' entries, so that they differ; outputs are filled with 0xcc first. */
#include "bench_gpu.h"
#include "backend/cuda/image.h"
#include "backend/cuda/point_adder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUZK_DECLARE_IMAGES(gpu_loops);

static void print_row(const char *curve, const char *operation, double n, float ms, int cycles)
{
    double rate = n / ms / 1e6;
    double ceiling = (double)device.n_sms * 128 * device.clock_khz * 1e3 / cycles / 1e9;
    printf("%s,%s,%.0f,%.3f,%.3f,", curve, operation, n, ms, rate);
    if (cycles != 0) {
        printf("%.2f,%.0f%%", ceiling, 100 * rate / ceiling);
    } else {
        printf(",");
    }
    printf("\n");
    fflush(stdout);
}

/* ---- fields ---- */

typedef struct {
    CUfunction kernel;
    CUdeviceptr out, a, b;
    unsigned blocks;
    uint32_t n_rounds;
} loop_run;

static void launch_loop(void *context)
{
    loop_run *r = context;
    void *params[] = {&r->out, &r->a, &r->b, &r->n_rounds};
    DRIVER(cuLaunchKernel, (r->kernel, r->blocks, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
}

/* Lane-cycles of the multiplier pipe for one operation. */
typedef struct {
    const char *name;
    uint32_t n_rounds;
    int cycles_bn254, cycles_bls12_381;
} loop_spec;

static const loop_spec loops[] = {
    {"fr_mul", 256, 528, 448}, {"fr_sqr", 256, 416, 336},   {"fp_mul", 128, 528, 1176},
    {"fp_sqr", 128, 416, 912}, {"fp2_mul", 64, 1312, 2928}, {"fp2_sqr", 64, 1056, 2352},
    {"fp_inv", 1, 0, 0},
};

static void bench_fields(const cuzk_curve *curve)
{
    bool is_bn254 = curve->id == CUZK_CURVE_BN254;
    CUmodule module;
    loop_run r = {.blocks = 16 * (unsigned)device.n_sms};
    /* any words below 2^253 are reduced in all fields, and as 96 bytes hold any element */
    size_t n = 128 * (size_t)r.blocks, n_words = 12 * n;
    uint64_t *words = malloc(8 * n_words);
    for (size_t i = 0; i < n_words; i++) {
        words[i] = random_u64() >> 4;
    }
    r.a = device_bytes(words, 8 * n_words);
    for (size_t i = 0; i < n_words; i++) {
        words[i] = random_u64() >> 4;
    }
    r.b = device_bytes(words, 8 * n_words);
    r.out = device_bytes(NULL, 8 * n_words);
    DRIVER(cuModuleLoadData,
           (&module, is_bn254 ? CUZK_IMAGE(gpu_loops, bn254) : CUZK_IMAGE(gpu_loops, bls12_381)));
    for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_loop", loops[i].name);
        DRIVER(cuModuleGetFunction, (&r.kernel, module, name));
        r.n_rounds = loops[i].n_rounds;
        float ms = median_ms(launch_loop, &r);
        print_row(curve->name, loops[i].name, 2.0 * (double)n * r.n_rounds, ms,
                  is_bn254 ? loops[i].cycles_bn254 : loops[i].cycles_bls12_381);
    }
    DRIVER(cuModuleUnload, (module));
    DRIVER(cuMemFree, (r.a));
    DRIVER(cuMemFree, (r.b));
    DRIVER(cuMemFree, (r.out));
    free(words);
}

/* ---- additions ---- */

typedef struct {
    const cuzk_point_adder *adder;
    cuzk_group_id group;
    cuzk_add_source source;
    cuzk_add_args args;
    CUfunction one; /* if not NULL, launch this kernel alone, with one_threads */
    uint32_t one_threads;
} add_run;

static void launch_add(void *context)
{
    add_run *r = context;
    cuzk_error error = {0};
    if (r->one == NULL) {
        must(cuzk_point_add_launch(r->adder, r->group, r->source, CUZK_TIME_ADDITIONS, &r->args,
                                   NULL, &error),
             &error);
        return;
    }
    void *params[] = {&r->args};
    unsigned blocks = (r->one_threads + CUZK_ADD_BLOCK - 1) / CUZK_ADD_BLOCK;
    DRIVER(cuLaunchKernel, (r->one, blocks, 1, 1, CUZK_ADD_BLOCK, 1, 1, 0, NULL, params, NULL));
}

static void time_add(const cuzk_curve *curve, add_run *r, const char *what, int cycles)
{
    char name[64];
    double n = r->args.n_pairs;
    const cuzk_point_adder *a = r->adder;
    snprintf(name, sizeof(name), "g%d_add %s", r->group + 1, what);
    print_row(curve->name, name, n, median_ms(launch_add, r), cycles);
    const struct {
        const char *part;
        CUfunction kernel;
        uint32_t n_threads;
    } parts[] = {{"prefix", a->prefix[r->group][r->source], r->args.n_threads},
                 {"finish", a->finish[r->group][r->source], r->args.n_threads},
                 {"inverse", a->inverse[r->group], r->args.n_inverses}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        r->one = parts[i].kernel;
        r->one_threads = parts[i].n_threads;
        snprintf(name, sizeof(name), "g%d_add %s: %s", r->group + 1, what, parts[i].part);
        print_row(curve->name, name, n, median_ms(launch_add, r), 0);
    }
    r->one = NULL;
}

static void bench_adds(const cuzk_curve *curve, const cuzk_point_adder *adder, cuzk_group_id id,
                       unsigned lg, int cycles)
{
    const cuzk_group *g = &curve->g[id];
    size_t n_pairs = (size_t)1 << lg, n_points = 2 * n_pairs, coordinate = g->coord_bytes;
    add_run r = {.adder = adder, .group = id, .source = CUZK_ADD_GATHER};
    CUdeviceptr tables = make_tables(g);
    CUdeviceptr list = device_bytes(NULL, 8 * n_points),
                x = device_bytes(NULL, n_points * coordinate);
    CUdeviceptr y = device_bytes(NULL, n_points * coordinate);
    CUdeviceptr out_x = device_bytes(NULL, n_pairs * coordinate);
    CUdeviceptr out_y = device_bytes(NULL, n_pairs * coordinate);
    CUdeviceptr work = device_bytes(NULL, cuzk_point_add_workspace_bytes(g, (uint32_t)n_points));

    /* points into x, y: the sums of the tables, twice over TABLE² different ones if that many */
    fill_list(list, n_points, 0, true);
    r.args.n_pairs = (uint32_t)n_points;
    r.args.bases = (void *)(uintptr_t)tables;
    r.args.list = (void *)(uintptr_t)list;
    r.args.out_x = (void *)(uintptr_t)x;
    r.args.out_y = (void *)(uintptr_t)y;
    cuzk_point_add_plan(&r.args, g, work);
    launch_add(&r);
    DRIVER(cuCtxSynchronize, ());

    r.args.n_pairs = (uint32_t)n_pairs;
    r.args.in_x = r.args.out_x;
    r.args.in_y = r.args.out_y;
    r.args.out_x = (void *)(uintptr_t)out_x;
    r.args.out_y = (void *)(uintptr_t)out_y;
    cuzk_point_add_plan(&r.args, g, work);
    r.source = CUZK_ADD_PAIRS;
    time_add(curve, &r, "contiguous", cycles);

    CUdeviceptr records = device_bytes(NULL, n_points * 2 * coordinate);
    copy_columns(records, 2 * coordinate, x, coordinate, n_points);
    copy_columns(records + coordinate, 2 * coordinate, y, coordinate, n_points);
    fill_list(list, n_pairs, (uint32_t)n_points, false);
    r.args.bases = (void *)(uintptr_t)records;
    r.source = CUZK_ADD_GATHER;
    time_add(curve, &r, "gathered", cycles);

    const CUdeviceptr all[] = {tables, list, x, y, out_x, out_y, work, records};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        DRIVER(cuMemFree, (all[i]));
    }
}

int main(int argc, char **argv)
{
    unsigned lg[2] = {25, 23};
    int index = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            index = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            n_runs = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--lg") == 0 && i + 2 < argc) {
            lg[0] = (unsigned)atoi(argv[++i]);
            lg[1] = (unsigned)atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: bench_gpu [--device N] [--runs N] [--lg G1 G2]\n");
            return 1;
        }
    }
    if (n_runs < 1 || n_runs > RUNS_MAX || lg[0] > 28 || lg[1] > 28) {
        fprintf(stderr, "bench_gpu: 1 to %d runs, at most 2^28 additions\n", RUNS_MAX);
        return 1;
    }
    cuzk_error error = {0};
    bench_gpu_open(index);
    printf("curve,operation,n,median_ms,giga_per_s,ceiling,share\n");
    static const int add_cycles[2][2] = {{3056, 7616}, {6792, 16992}}; /* 5M + 1S */
    for (int c = CUZK_CURVE_BN254; c <= CUZK_CURVE_BLS12_381; c++) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)c);
        cuzk_point_adder adder;
        bench_fields(curve);
        must(cuzk_point_adder_open(&adder, device.api, curve->id, &error), &error);
        for (int g = 0; g < 2; g++) {
            bench_adds(curve, &adder, (cuzk_group_id)g, lg[g],
                       add_cycles[c == CUZK_CURVE_BLS12_381][g]);
        }
        cuzk_point_adder_close(&adder);
    }
    cuzk_cuda_device_close(&device);
    return 0;
}
