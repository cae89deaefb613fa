/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times of multi-scalar multiplication, bit sums and fixed-base batches, as CSV on stdout.
 *
 *   bench_msm [--mode msm|bits|fixed|parts|windows] [--path P] [--curve C] [--group 1|2]
 *             [--lg A[-B]] [--threads T] [--runs N]
 *
 * msm:     whole calls, n = 2^A … 2^B (default 12-18; G2 at most 16 unless --group is given)
 * bits:    sum of half of 2^B bases
 * fixed:   2^B multiples of one base
 * parts:   the steps of one msm by themselves: ns a scalar, a digit, an addition
 * windows: every window near the one that the cost model takes, to check the model's constants
 *
 * Columns: name,curve,path,n,threads,min_ms,median_ms,min_cpu_ms,runs,note. Random scalars below r,
 * random distinct bases. Timings are of the whole call with a warm workspace; min_cpu_ms is the
 * processor time of all threads, which says more than the wall time on a busy machine. */
#include "base/bitmap.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/pages.h"
#include "msm/msm_internal.h"
#include "msm/msm_plan.h"

#include "bench_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *mode, *path, *curve;
    int group; /* -1: both */
    unsigned lg_from, lg_to, threads;
    int runs; /* 0: by the time that one takes */
} options;

static uint64_t random_state = 1;

static uint64_t random_u64(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void *must(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "bench_msm: out of memory\n");
        exit(1);
    }
    return p;
}

/* What is measured on: n bases and scalars of one group. */
typedef struct {
    const options *o;
    const cuzk_curve *curve;
    cuzk_group_id group;
    size_t n;
    uint8_t *bases, *scalars; /* scalars canonical */
    cuzk_pool *pool;
} subject;

typedef void (*body)(void *ctx);

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* One warm-up, then the runs; prints a row and returns the minimum in ms, of the
 * processor time for one thread. */
static double measure(const subject *s, const char *name, size_t n, const char *note, body run,
                      void *ctx)
{
    double times[101], cpu = 0;
    uint64_t start = cuzk_now_ns();
    run(ctx);
    double first = (double)(cuzk_now_ns() - start) / 1e6;
    int runs = s->o->runs != 0 ? s->o->runs : first < 20 ? 51 : first < 200 ? 21 : 7;
    runs = runs < 101 ? runs : 101;
    for (int i = 0; i < runs; i++) {
        double cpu_start = cpu_ms();
        start = cuzk_now_ns();
        run(ctx);
        times[i] = (double)(cuzk_now_ns() - start) / 1e6;
        double cpu_used = cpu_ms() - cpu_start;
        cpu = i == 0 || cpu_used < cpu ? cpu_used : cpu;
    }
    qsort(times, (size_t)runs, sizeof *times, by_value);
    printf("%s,%s,%s,%zu,%u,%.4f,%.4f,%.4f,%d,%s\n", name, s->curve->name,
           cuzk_cpu_path_name(cuzk_cpu_path_get()), n, cuzk_pool_threads(s->pool), times[0],
           times[runs / 2], cpu, runs, note);
    fflush(stdout);
    return cuzk_pool_threads(s->pool) == 1 ? cpu : times[0];
}

/* Random scalars, and bases that are random multiples of the generator. */
static void make_subject(subject *s, size_t n)
{
    const cuzk_group *g = &s->curve->g[s->group];
    cuzk_error err = {0};
    cuzk_affine generator;
    cuzk_fr *logs = must(malloc(n * sizeof *logs));
    s->n = n;
    s->scalars = must(cuzk_pages_alloc(32 * n));
    s->bases = must(cuzk_pages_alloc(n * g->affine_bytes));
    for (size_t i = 0; i < 4 * n; i++) {
        cuzk_store_u64_le(s->scalars + 8 * i, random_u64());
    }
    s->curve->fr_batch_from_canonical(logs, s->scalars, n); /* reduces */
    g->generator(&generator);
    cuzk_fixed_base *table;
    check(cuzk_fixed_base_create(&table, s->curve, s->group, &generator, n, s->pool, &err), &err);
    check(cuzk_fixed_base_mul(table, s->bases, logs, n, s->pool, &err), &err);
    cuzk_fixed_base_destroy(table);
    for (size_t i = 0; i < 4 * n; i++) {
        cuzk_store_u64_le(s->scalars + 8 * i, random_u64());
    }
    s->curve->fr_batch_from_canonical(logs, s->scalars, n);
    s->curve->fr_batch_to_canonical(s->scalars, logs, n);
    free(logs);
}

static void free_subject(subject *s)
{
    cuzk_pages_free(s->scalars, 32 * s->n);
    cuzk_pages_free(s->bases, s->n * s->curve->g[s->group].affine_bytes);
}

/* ---- whole calls ---- */

typedef struct {
    const subject *s;
    size_t n;
    unsigned bits;
    cuzk_msm_query query;
    const uint64_t *bitmap;
    void *ws;
    size_t ws_bytes;
} call;

static cuzk_msm_params params_of(call *c)
{
    return (cuzk_msm_params){.scalars = c->s->scalars,
                             .n = c->n,
                             .queries = &c->query,
                             .n_queries = 1,
                             .window_bits = c->bits};
}

static void run_msm(void *ctx)
{
    call *c = ctx;
    cuzk_error err = {0};
    cuzk_msm_params params = params_of(c);
    check(cuzk_msm(c->s->curve, &params, c->ws, c->ws_bytes, c->s->pool, &err), &err);
}

static double time_msm(const subject *s, size_t n, unsigned bits, const char *note)
{
    char name[32];
    call c = {.s = s, .n = n, .bits = bits, .query = {.group = s->group, .bases = s->bases}};
    cuzk_msm_params params = params_of(&c);
    c.ws_bytes = cuzk_msm_workspace_bytes(s->curve, &params, s->pool);
    c.ws = must(cuzk_pages_alloc(c.ws_bytes));
    snprintf(name, sizeof name, "g%d_msm_2^%d", (int)s->group + 1, 63 - __builtin_clzll(n));
    double ms = measure(s, name, n, note, run_msm, &c);
    cuzk_pages_free(c.ws, c.ws_bytes);
    return ms;
}

static void bench_msm(const subject *s)
{
    for (unsigned lg = s->o->lg_from; (size_t)1 << lg <= s->n; lg++) {
        call c = {.s = s, .n = (size_t)1 << lg, .query = {.group = s->group}};
        cuzk_msm_params params = params_of(&c);
        char note[64];
        snprintf(note, sizeof note, "workspace %.1f MB",
                 (double)cuzk_msm_workspace_bytes(s->curve, &params, s->pool) / 1e6);
        time_msm(s, (size_t)1 << lg, 0, note);
    }
}

static unsigned planned_window(const subject *s, size_t n)
{
    uint32_t lengths[CUZK_MSM_LENGTHS] = {0};
    cuzk_msm_query query = {.group = s->group};
    cuzk_msm_layout layout = {0};
    lengths[253] = (uint32_t)n;
    (void)cuzk_msm_plan(&layout, s->curve, &query, 1, lengths, n, SIZE_MAX, 0,
                        cuzk_pool_threads(s->pool));
    return layout.bits;
}

static void bench_windows(const subject *s)
{
    for (unsigned lg = s->o->lg_from; (size_t)1 << lg <= s->n; lg++) {
        unsigned planned = planned_window(s, (size_t)1 << lg);
        for (unsigned bits = planned - 2; bits <= planned + 2 && bits <= CUZK_MSM_WINDOW_MAX;
             bits++) {
            char note[32];
            snprintf(note, sizeof note, "window %u%s", bits, bits == planned ? " planned" : "");
            time_msm(s, (size_t)1 << lg, bits, note);
        }
    }
}

static void run_bits(void *ctx)
{
    call *c = ctx;
    cuzk_error err = {0};
    cuzk_bit_sum_params params = {
        .bitmap = c->bitmap, .n = c->n, .queries = &c->query, .n_queries = 1};
    check(cuzk_bit_sum(c->s->curve, &params, c->ws, c->ws_bytes, c->s->pool, &err), &err);
}

static void bench_bits(const subject *s)
{
    call c = {.s = s, .n = s->n, .query = {.group = s->group, .bases = s->bases}};
    uint64_t *map = must(malloc(8 * cuzk_bitmap_words(s->n)));
    for (size_t i = 0; i < cuzk_bitmap_words(s->n); i++) {
        map[i] = random_u64();
    }
    if (s->n % 64 != 0) {
        map[s->n / 64] &= ((uint64_t)1 << s->n % 64) - 1;
    }
    c.bitmap = map;
    c.ws_bytes = cuzk_bit_sum_workspace_bytes(s->curve, s->n, 1, s->pool);
    c.ws = must(cuzk_pages_alloc(c.ws_bytes));
    size_t set = cuzk_bitmap_count(map, s->n);
    double ms =
        measure(s, s->group == CUZK_G1 ? "g1_bit_sum" : "g2_bit_sum", set, "", run_bits, &c);
    printf("# %.1f ns a base\n", ms * 1e6 / (double)set);
    cuzk_pages_free(c.ws, c.ws_bytes);
    free(map);
}

typedef struct {
    const subject *s;
    const cuzk_fr *scalars;
    void *out;
    cuzk_fixed_base *table;
} fixed_call;

static void run_table(void *ctx)
{
    fixed_call *f = ctx;
    cuzk_error err = {0};
    cuzk_affine base;
    f->s->curve->g[f->s->group].generator(&base);
    cuzk_fixed_base_destroy(f->table);
    check(cuzk_fixed_base_create(&f->table, f->s->curve, f->s->group, &base, f->s->n, f->s->pool,
                                 &err),
          &err);
}

static void run_fixed(void *ctx)
{
    fixed_call *f = ctx;
    cuzk_error err = {0};
    check(cuzk_fixed_base_mul(f->table, f->out, f->scalars, f->s->n, f->s->pool, &err), &err);
}

static void bench_fixed(const subject *s)
{
    size_t n_bytes = s->n * s->curve->g[s->group].affine_bytes;
    cuzk_fr *scalars = must(malloc(s->n * sizeof *scalars));
    s->curve->fr_batch_from_canonical(scalars, s->scalars, s->n);
    fixed_call f = {s, scalars, must(cuzk_pages_alloc(n_bytes)), NULL};
    bool g1 = s->group == CUZK_G1;
    measure(s, g1 ? "g1_fixed_table" : "g2_fixed_table", s->n, "", run_table, &f);
    double ms = measure(s, g1 ? "g1_fixed_base" : "g2_fixed_base", s->n, "", run_fixed, &f);
    printf("# %.1f ns a product\n", ms * 1e6 / (double)s->n);
    cuzk_fixed_base_destroy(f.table);
    cuzk_pages_free(f.out, n_bytes);
    free(scalars);
}

/* ---- steps by themselves ---- */

typedef struct {
    const subject *s;
    const cuzk_sum_kernel *kernel;
    cuzk_msm_windows w;
    size_t n_buckets, pitch;
    uint32_t *lengths, *partial, *nonzero, *entries, *bounds;
    int16_t *digits;
    uint8_t *buckets, *out, *full, *out_full;
    cuzk_thread_ws thread;
    cuzk_weighted in, split;
} parts;

static void run_scan(void *ctx)
{
    parts *p = ctx;
    cuzk_msm_scan(&p->w, p->s->scalars, p->s->n, p->lengths, p->partial, p->s->pool);
}

static void run_digits(void *ctx)
{
    parts *p = ctx;
    cuzk_msm_digits(&p->w, p->s->scalars, NULL, p->s->n, p->digits, p->pitch, p->w.n_windows,
                    p->nonzero, p->partial, p->s->pool);
}

static void run_sort(void *ctx)
{
    parts *p = ctx;
    p->bounds[0] = 0;
    cuzk_msm_sort_window(p->digits + p->pitch, NULL, p->s->n, p->n_buckets, p->entries, p->bounds,
                         0);
}

static void run_tree(void *ctx)
{
    parts *p = ctx;
    p->kernel->segment_sums(p->buckets, p->s->bases, false, p->entries, p->bounds, p->n_buckets,
                            p->thread.kernel);
}

static void run_split(void *ctx)
{
    parts *p = ctx;
    cuzk_weighted_split(p->kernel, &p->in, &p->split, &p->thread, NULL);
}

static void bench_parts(const subject *s)
{
    parts p = {.s = s, .kernel = cuzk_sum_kernel_get(s->curve->id, s->group)};
    unsigned bits = planned_window(s, s->n), threads = cuzk_pool_threads(s->pool);
    cuzk_msm_windows_init(&p.w, s->curve, bits);
    p.n_buckets = (size_t)1 << (bits - 1);
    p.pitch = s->n + 96;
    size_t point = p.kernel->point_bytes;
    p.lengths = must(malloc(CUZK_MSM_LENGTHS * sizeof(uint32_t)));
    p.partial = must(malloc(threads * CUZK_MSM_LENGTHS * sizeof(uint32_t)));
    p.nonzero = must(malloc(CUZK_MSM_LENGTHS * sizeof(uint32_t)));
    p.digits = must(cuzk_pages_alloc(p.w.n_windows * p.pitch * sizeof(int16_t)));
    p.entries = must(cuzk_pages_alloc(s->n * sizeof(uint32_t)));
    p.bounds = must(malloc((p.n_buckets + 1) * sizeof(uint32_t)));
    p.buckets = must(cuzk_pages_alloc(p.n_buckets * point));
    p.out = must(cuzk_pages_alloc(p.n_buckets * point));
    p.full = must(malloc(p.n_buckets));
    p.out_full = must(malloc(p.n_buckets));
    p.thread.kernel = must(cuzk_pages_alloc(p.kernel->workspace_bytes));
    p.thread.entries = must(malloc(CUZK_WEIGHTED_ENTRIES * sizeof(uint32_t)));
    p.thread.bounds = must(malloc((CUZK_WEIGHTED_SEGMENTS + 1) * sizeof(uint32_t)));

    double n = (double)s->n, n_digits = n * p.w.n_windows;
    printf("# window %u, %u windows\n", bits, p.w.n_windows);
    double ms = measure(s, "scan", s->n, "", run_scan, &p);
    printf("# %.2f ns a scalar\n", ms * 1e6 / n);
    ms = measure(s, "digits", s->n, "", run_digits, &p);
    printf("# %.2f ns a digit\n", ms * 1e6 / n_digits);
    ms = measure(s, "sort", s->n, "one window", run_sort, &p);
    printf("# %.2f ns a digit\n", ms * 1e6 / n);
    size_t additions = p.bounds[p.n_buckets];
    for (size_t b = 0; b < p.n_buckets; b++) {
        p.full[b] = p.bounds[b + 1] != p.bounds[b];
        additions -= p.full[b];
    }
    ms = measure(s, "tree", s->n, "one window", run_tree, &p);
    printf("# %.1f ns an addition\n", ms * 1e6 / (double)additions);
    p.in = (cuzk_weighted){p.buckets, p.full, 1, bits - 1};
    p.split = (cuzk_weighted){p.out, p.out_full, 2, cuzk_weighted_next(bits - 1)};
    ms = measure(s, "first_split", p.n_buckets, "one window", run_split, &p);
    printf("# %.1f ns an addition\n", ms * 1e6 / (2.0 * (double)p.n_buckets));

    free(p.thread.bounds);
    free(p.thread.entries);
    cuzk_pages_free(p.thread.kernel, p.kernel->workspace_bytes);
    free(p.out_full);
    free(p.full);
    cuzk_pages_free(p.out, p.n_buckets * point);
    cuzk_pages_free(p.buckets, p.n_buckets * point);
    free(p.bounds);
    cuzk_pages_free(p.entries, s->n * sizeof(uint32_t));
    cuzk_pages_free(p.digits, p.w.n_windows * p.pitch * sizeof(int16_t));
    free(p.nonzero);
    free(p.partial);
    free(p.lengths);
}

/* ---- command line ---- */

static void usage(void)
{
    fprintf(stderr, "usage: bench_msm [--mode msm|bits|fixed|parts|windows] [--path P] [--curve C] "
                    "[--group 1|2] [--lg A[-B]] [--threads T] [--runs N]\n");
    exit(2);
}

static options parse(int argc, char **argv)
{
    options o = {.mode = "msm", .group = -1, .lg_from = 12, .lg_to = 18, .threads = 1};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 >= argc) {
            usage();
        }
        const char *name = argv[i], *value = argv[i + 1];
        char *end;
        if (strcmp(name, "--mode") == 0) {
            o.mode = value;
        } else if (strcmp(name, "--path") == 0) {
            o.path = value;
        } else if (strcmp(name, "--curve") == 0) {
            o.curve = value;
        } else if (strcmp(name, "--group") == 0) {
            o.group = atoi(value) - 1;
        } else if (strcmp(name, "--lg") == 0) {
            o.lg_from = o.lg_to = (unsigned)strtoul(value, &end, 10);
            if (*end == '-') {
                o.lg_to = (unsigned)strtoul(end + 1, NULL, 10);
            }
        } else if (strcmp(name, "--threads") == 0) {
            o.threads = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--runs") == 0) {
            o.runs = atoi(value);
        } else {
            usage();
        }
    }
    return o;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const subject *s);
    } modes[] = {{"msm", bench_msm},
                 {"bits", bench_bits},
                 {"fixed", bench_fixed},
                 {"parts", bench_parts},
                 {"windows", bench_windows}};
    options o = parse(argc, argv);
    cuzk_error err = {0};
    if (o.path != NULL) {
        setenv("CUZK_CPU", o.path, 1);
    }
    check(cuzk_cpu_check(&err), &err);
    const cuzk_curve_id curves[2] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
    printf("name,curve,path,n,threads,min_ms,median_ms,min_cpu_ms,runs,note\n");
    for (int c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            subject s = {.o = &o, .curve = cuzk_curve_get(curves[c]), .group = (cuzk_group_id)g};
            if ((o.curve != NULL && s.curve != cuzk_curve_by_name(o.curve)) ||
                (o.group >= 0 && o.group != g)) {
                continue;
            }
            unsigned lg = o.group < 0 && g == 1 && o.lg_to > 16 ? 16 : o.lg_to;
            check(cuzk_pool_create(&s.pool, o.threads, &err), &err);
            make_subject(&s, (size_t)1 << lg);
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
                if (strcmp(modes[m].name, o.mode) == 0) {
                    modes[m].run(&s);
                }
            }
            free_subject(&s);
            cuzk_pool_destroy(s.pool);
        }
    }
    return 0;
}
