/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times of the steps of a proof on one CUDA device, as CSV on stdout: transforms, quotients, sums
 * of scalar multiples, sums of bases selected by bits.
 *
 *   bench_gpu_steps [--device N] [--runs N] [--curve NAME] [--step ntt|g1|g2] [--lg-ntt N]
 *                   [--lg-g1 N] [--lg-g2 N] [--lg-least N] [--bits N] [--together N] [--halves 1]
 *                   [--waves 0] [--tiles 1]
 *
 * --lg: the largest sizes (default 27, 26, 24); --lg-least: of sums (16); --bits, --together: of
 * the sums (point_summer.h); smaller ones in steps of 2 and 3. --halves 1: sums of multiples in
 * every way: of whole scalars, of halves, and of halves with the images of the bases there already;
 * else in the one that the cost model takes. --waves 0: additions in as many threads as the number
 * of pairs alone says (point_adder.h). --tiles 1: transforms of every size from 2^20, and what was
 * not decided about their blocks (bench_gpu_transforms.c). Columns:
 * curve,operation,lg_n,median_ms,floor_ms,share,result. Floor: the word products of the method's
 * multiplications at the rate of the multiplier pipe, as in bench_gpu.c. Times are device events
 * around the whole step, waits of the host included. result: whether a sum is the multiple of the
 * generator that the known discrete logarithms give; transforms: whether forward and back gives
 * what was there. Exit code 1 if one is wrong. */
#include "bench_gpu_steps.h"
#include "backend/cuda/point_summer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool any_wrong;

/* What is asked for. */
static struct {
    const char *curve, *step; /* NULL: all */
    unsigned lg_ntt, lg_g1, lg_g2, lg_least;
    unsigned window_bits, together; /* cuzk_point_sum_params */
    unsigned halves, waves, tiles;
} choice = {.waves = 1, .lg_ntt = 27, .lg_g1 = 26, .lg_g2 = 24, .lg_least = 16};

void print_row(const char *curve, const char *operation, unsigned lg_n, float ms,
               double lane_cycles, bool right)
{
    double rate = (double)device.n_sms * 128 * device.clock_khz; /* lane-cycles a millisecond */
    double floor_ms = lane_cycles / rate;
    printf("%s,%s,%u,%.3f,%.3f,%.0f%%,%s\n", curve, operation, lg_n, ms, floor_ms,
           100 * floor_ms / ms, right ? "right" : "WRONG");
    fflush(stdout);
    any_wrong |= !right;
}

uint64_t *random_elements(const cuzk_curve *curve, size_t n)
{
    uint64_t *a = malloc(32 * n);
    for (size_t i = 0; i < 4 * n; i++) {
        a[i] = i % 4 == 3 ? random_u64() % curve->r[3] : random_u64();
    }
    return a;
}

/* ---- sums ---- */

/* n packed bases: sums of the entries of two tables (make_tables), by the additions under test. */
static CUdeviceptr make_bases(const cuzk_point_summer *s, const cuzk_group *g, size_t n)
{
    cuzk_error error = {0};
    size_t coordinate = g->coord_bytes;
    CUdeviceptr tables = make_tables(g), list = device_bytes(NULL, 8 * n);
    CUdeviceptr x = device_bytes(NULL, n * coordinate), y = device_bytes(NULL, n * coordinate);
    CUdeviceptr work = device_bytes(NULL, cuzk_point_add_workspace_bytes(g, (uint32_t)n));
    CUdeviceptr bases = device_bytes(NULL, n * 2 * coordinate);
    cuzk_add_args args = {.n_pairs = (uint32_t)n};
    args.bases = (void *)(uintptr_t)tables;
    args.list = (void *)(uintptr_t)list;
    args.out_x = (void *)(uintptr_t)x;
    args.out_y = (void *)(uintptr_t)y;
    fill_list(list, n, 0, true);
    cuzk_point_add_plan(&args, g, work);
    must(cuzk_point_add_launch(&s->adder, g->id, CUZK_ADD_GATHER, CUZK_TIME_GATHERED, &args, NULL,
                               &error),
         &error);
    copy_columns(bases, 2 * coordinate, x, coordinate, n);
    copy_columns(bases + coordinate, 2 * coordinate, y, coordinate, n);
    const CUdeviceptr all[] = {tables, list, x, y, work};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        DRIVER(cuMemFree, (all[i]));
    }
    return bases;
}

static uint64_t logarithm(size_t i)
{
    return i % TABLE + 1 + TABLE + (i / TABLE % TABLE + 1) * (TABLE + 1);
}

typedef struct {
    cuzk_point_summer *s;
    cuzk_point_sum_params params;
    CUdeviceptr bits, workspace, images;
    uint32_t n_ones;
    cuzk_jac sum;
} sum_run;

static void run_multiples(void *context)
{
    sum_run *r = context;
    cuzk_error error = {0};
    must(cuzk_point_sum(r->s, &r->sum, &r->params, r->workspace, NULL, &error), &error);
}

static void run_bits(void *context)
{
    sum_run *r = context;
    cuzk_error error = {0};
    cuzk_point_bits_params params = {.group = r->params.group,
                                     .bases = r->params.bases,
                                     .bits = r->bits,
                                     .selection = {.n_vars = r->params.n},
                                     .n_ones = r->n_ones};
    must(cuzk_point_sum_bits(r->s, &r->sum, &params, r->workspace, NULL, &error), &error);
}

/* A sum of nothing is not taken for a right one. */
static bool is_multiple(const sum_run *r, const cuzk_fr *k)
{
    const cuzk_group *g = &r->s->curve->g[r->params.group];
    cuzk_affine generator;
    cuzk_jac expected;
    g->generator(&generator);
    g->from_affine(&expected, &generator);
    g->mul(&expected, &expected, k);
    return g->eq(&expected, &r->sum) && !g->is_infinity(&r->sum);
}

/* One more run, and what its stream did: milliseconds by kind, as a comment. */
static void print_kinds(sum_run *r, void (*run)(void *))
{
    cuzk_error error = {0};
    cuzk_point_summer *s = r->s;
    float ms[CUZK_TIME_KINDS];
    must(cuzk_device_times_create(&s->adder.times, device.api, &error), &error);
    run(r);
    must(cuzk_device_times_take(s->adder.times, ms, &error), &error);
    cuzk_device_times_destroy(s->adder.times);
    s->adder.times = NULL;
    printf("#");
    for (int kind = 0; kind < CUZK_TIME_KINDS; kind++) {
        if (ms[kind] != 0) {
            printf(" %s %.3f,", cuzk_time_kind_name((cuzk_time_kind)kind), ms[kind]);
        }
    }
    printf("\n");
}

enum { WAYS = 3 };

/* With --halves whole scalars, halves, halves and images of bases that are there already. */
static void choose_way(sum_run *r, unsigned way)
{
    cuzk_error error = {0};
    const cuzk_group *g = &r->s->curve->g[r->params.group];
    if (choice.halves == 0) {
        return;
    }
    r->params.halves = way == 0 ? CUZK_HALVES_NEVER : CUZK_HALVES_ALWAYS;
    if (way == WAYS - 1) { /* a whole number of coordinates away from the bases */
        size_t one = g->coord_bytes;
        r->images = device_bytes(NULL, g->affine_bytes * r->params.n + one);
        r->params.images = r->images + (r->params.bases % one + one - r->images % one) % one;
        must(cuzk_point_images(r->s, r->params.group, r->params.bases, 0, r->params.n,
                               r->params.images, NULL, &error),
             &error);
    }
}

static void bench_multiples(sum_run *r, const uint64_t *scalars, unsigned lg_n, int cycles)
{
    const cuzk_curve *curve = r->s->curve;
    char name[32];
    cuzk_fr k = {{0}}, one, log;
    r->params.n = 1u << lg_n;
    for (uint32_t i = 0; i < r->params.n; i++) {
        memcpy(&one, scalars + 4 * (size_t)i, 32);
        curve->fr_from_u64(&log, logarithm(i));
        curve->fr_mul(&one, &one, &log); /* plain times Montgomery: plain */
        curve->fr_add(&k, &k, &one);
    }
    curve->fr_batch_from_canonical(&k, &k, 1);
    unsigned windows = lg_n > 24   ? 13
                       : lg_n > 21 ? 15
                                   : 17; /* about the best for affine additions */
    for (unsigned way = 0; way < (choice.halves != 0 ? WAYS : 1); way++) {
        static const char *const names[WAYS] = {"", " halves", " halves ready"};
        choose_way(r, way);
        r->workspace = device_bytes(NULL, cuzk_point_sum_bytes(r->s, &r->params));
        float ms = median_ms(run_multiples, r);
        snprintf(name, sizeof(name), "msm g%d%s", r->params.group + 1, names[way]);
        print_row(curve->name, name, lg_n, ms, (double)r->params.n * windows * cycles,
                  is_multiple(r, &k));
        print_kinds(r, run_multiples);
        DRIVER(cuMemFree, (r->workspace));
    }
    if (r->params.images != 0) {
        DRIVER(cuMemFree, (r->images));
        r->params.images = 0;
    }
}

static void bench_bits(sum_run *r, unsigned lg_n, int cycles)
{
    const cuzk_curve *curve = r->s->curve;
    char name[32];
    uint32_t n = 1u << lg_n;
    uint64_t *words = malloc(n / 8), total = 0;
    r->params.n = n;
    r->n_ones = 0;
    for (uint32_t i = 0; i < n / 64; i++) {
        words[i] = random_u64();
        r->n_ones += (uint32_t)__builtin_popcountll(words[i]);
        for (uint32_t j = 0; j < 64; j++) {
            total += (words[i] >> j & 1) * logarithm(64 * (size_t)i + j);
        }
    }
    cuzk_fr k;
    curve->fr_from_u64(&k, total);
    r->bits = device_bytes(words, n / 8);
    r->workspace =
        device_bytes(NULL, cuzk_point_sum_bits_bytes(r->s, r->params.group, n, r->n_ones));
    float ms = median_ms(run_bits, r);
    snprintf(name, sizeof(name), "bits g%d", r->params.group + 1);
    print_row(curve->name, name, lg_n, ms, (double)r->n_ones * cycles, is_multiple(r, &k));
    print_kinds(r, run_bits);
    DRIVER(cuMemFree, (r->workspace));
    DRIVER(cuMemFree, (r->bits));
    free(words);
}

static void bench_sums(const cuzk_curve *curve, cuzk_group_id id, unsigned lg_max)
{
    static const int add_cycles[2][2] = {{3056, 7616}, {6792, 16992}}; /* 5M + 1S */
    cuzk_error error = {0};
    cuzk_point_summer s;
    int cycles = add_cycles[curve->id == CUZK_CURVE_BLS12_381][id];
    must(cuzk_point_summer_open(&s, device.api, curve, &error), &error);
    if (choice.waves != 0) {
        must(cuzk_point_adder_fit(&s.adder, (unsigned)device.n_sms, &error), &error);
    }
    sum_run r = {.s = &s,
                 .params = {.group = id,
                            .window_bits = choice.window_bits,
                            .windows_together = choice.together}};
    uint64_t *scalars = random_elements(curve, (size_t)1 << lg_max);
    r.params.scalars = device_bytes(scalars, (size_t)32 << lg_max);
    r.params.bases = make_bases(&s, &curve->g[id], (size_t)1 << lg_max);
    for (unsigned lg_n = 16 + lg_max % 2; lg_n <= lg_max; lg_n += 2) {
        if (lg_n >= choice.lg_least) {
            bench_multiples(&r, scalars, lg_n, cycles);
        }
    }
    bench_bits(&r, lg_max, cycles);
    DRIVER(cuMemFree, (r.params.bases));
    DRIVER(cuMemFree, (r.params.scalars));
    free(scalars);
    cuzk_point_summer_close(&s);
}

static bool is_chosen(const char *asked, const char *what)
{
    return asked == NULL || strcmp(asked, what) == 0;
}

static bool number_option(const char *name, const char *value)
{
    const struct {
        const char *name;
        unsigned *value;
    } numbers[] = {{"--lg-ntt", &choice.lg_ntt},    {"--lg-g1", &choice.lg_g1},
                   {"--lg-g2", &choice.lg_g2},      {"--lg-least", &choice.lg_least},
                   {"--bits", &choice.window_bits}, {"--together", &choice.together},
                   {"--halves", &choice.halves},    {"--waves", &choice.waves},
                   {"--tiles", &choice.tiles}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].value = (unsigned)atoi(value);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    int index = 0;
    bool good = argc % 2 == 1;
    for (int i = 1; good && i < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            index = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--runs") == 0) {
            n_runs = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--curve") == 0) {
            choice.curve = argv[i + 1];
        } else if (strcmp(argv[i], "--step") == 0) {
            choice.step = argv[i + 1];
        } else {
            good = number_option(argv[i], argv[i + 1]);
        }
    }
    if (!good || n_runs < 1 || n_runs > RUNS_MAX || choice.lg_ntt > 28 || choice.lg_g1 > 27 ||
        choice.lg_g2 > 27) {
        fprintf(stderr,
                "usage: bench_gpu_steps [--device N] [--runs N] [--curve NAME] [--step ntt|g1|g2] "
                "[--lg-ntt N] [--lg-g1 N] [--lg-g2 N] [--lg-least N] [--bits N] [--together N] "
                "[--halves 1] [--waves 0] [--tiles 1]\n"
                "1 to %d runs, at most 2^28 values and 2^27 points\n",
                RUNS_MAX);
        return 1;
    }
    bench_gpu_open(index);
    printf("curve,operation,lg_n,median_ms,floor_ms,share,result\n");
    for (int c = CUZK_CURVE_BLS12_381; c >= CUZK_CURVE_BN254; c--) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)c);
        if (!is_chosen(choice.curve, curve->name)) {
            continue;
        }
        if (is_chosen(choice.step, "ntt")) {
            bench_transforms(curve, choice.lg_ntt, choice.tiles != 0);
        }
        if (is_chosen(choice.step, "g1")) {
            bench_sums(curve, CUZK_G1, choice.lg_g1);
        }
        if (is_chosen(choice.step, "g2")) {
            bench_sums(curve, CUZK_G2, choice.lg_g2);
        }
    }
    cuzk_cuda_device_close(&device);
    return any_wrong ? 1 : 0;
}
