/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a CUDA device does for one partition of a Filecoin proof, at full size and without a key
 * file: the circuit and the witness of a made-up sector are real, the key's points are made on the
 * device, with known logarithms.
 *
 *   bench_gpu_proof KIND SIZE [--device N] [--runs N] [--queue N] [--piece N] [--memory GIB]
 *                   [--pinned GIB] [--record FILE]
 *
 * porep, window, winning or update; 2k … 64g
 *
 * With --memory the key is streamed where it does not fit so much. With it or --pinned the points
 * lie in the host's memory, and so many GiB of that may be pinned (none unless told).
 *
 * CSV on stdout: kind,size,step,median_ms. First one proof after the other. Steps: total, from the
 * typed witness to the sums on the host's clock; then what the proof's streams did, by device
 * events (device_times.h), those of several streams added up; kernels, the time in which at least
 * one ran. Then a queue of proofs and two workers: wall time a proof, and in which part of the time
 * from the first kernel to the last at least one ran; --record writes what `cuzk timeline` reads,
 * of the queue alone. Comments: memory by purpose; how well the
 * clocks are known; whether the sums over the witness (not H) are the multiples of the generator
 * that they must be. Exit code 1 if one is not. */
#include "backend/cuda/device_prover.h"
#include "backend/cuda/point_summer.h"
#include "base/clock.h"
#include "base/pages.h"
#include "bench_gpu.h"
#include "bench_gpu_record.h"
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/synthetic.h"
#include "groth16/prover_impl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LG_PERIOD = 20, PERIOD = 1 << LG_PERIOD }; /* different points; the key repeats them */

static int n_queue = 6;                    /* proofs */
static unsigned device_index, n_units = 1; /* proofs of a job */
static const char *record_path;

static const char *const kinds[] = {"", "porep", "update", "window", "winning"};

/* ---- circuit and witness --------------------------------------------------------------------- */

static void make_witness(const cuzk_registered_proof *proof, cuzk_shape **shape, cuzk_witness **w)
{
    cuzk_error err = {0};
    cuzk_synthetic_params params = {.proof = *proof, .seed = 1, .miner_id = 1000, .n_sectors = 1};
    if (proof->kind == CUZK_PROOF_POREP) {
        cuzk_porep_vanilla vanilla;
        must(cuzk_synthetic_porep(&vanilla, &params, &err), &err);
        must(cuzk_porep_circuit_shape(shape, proof->sector, &err), &err);
        must(cuzk_porep_circuit_witness(w, *shape, &vanilla, 0, NULL, &err), &err);
        cuzk_porep_vanilla_clear(&vanilla);
    } else if (proof->kind == CUZK_PROOF_UPDATE) {
        cuzk_update_vanilla vanilla;
        cuzk_update_statement statement;
        must(cuzk_synthetic_update(&vanilla, &statement, &params, &err), &err);
        must(cuzk_update_circuit_shape(shape, proof->sector, &err), &err);
        must(cuzk_update_circuit_witness(w, *shape, &vanilla, &statement, 0, NULL, &err), &err);
        cuzk_update_vanilla_clear(&vanilla);
    } else {
        cuzk_post_vanilla vanilla;
        uint8_t randomness[32];
        if (proof->kind == CUZK_PROOF_WINDOW) {
            params.n_sectors = cuzk_window_sectors(proof->sector);
        }
        must(cuzk_synthetic_post(&vanilla, randomness, &params, &err), &err);
        must(cuzk_post_circuit_shape(shape, proof->kind, proof->sector, &err), &err);
        must(cuzk_post_circuit_witness(w, *shape, &vanilla, NULL, &err), &err);
        cuzk_post_vanilla_clear(&vanilla);
    }
}

/* ---- a prover without a key ------------------------------------------------------------------ */

static void add_query(cuzk_prover *p, unsigned set, cuzk_group_id group, uint32_t first)
{
    cuzk_query_set *s = &p->sets[set];
    s->queries[s->n_queries++] = (cuzk_msm_query){.group = group, .first = first};
}

/* The sets of a bellperson key: C of all, A and B of the variables that occur in them. */
static void make_prover(cuzk_prover *p, const cuzk_shape *shape)
{
    size_t words = cuzk_bitmap_words(shape->n_vars);
    *p = (cuzk_prover){.curve = shape->curve,
                       .n_vars = shape->n_vars,
                       .n_inputs = shape->n_inputs,
                       .shape = shape,
                       .n_sets = 3,
                       .support_a = calloc(words, 8),
                       .support_b = calloc(words, 8)};
    while (((uint64_t)1 << p->lg_n) < cuzk_shape_n_rows(shape)) {
        p->lg_n++;
    }
    p->n = (size_t)1 << p->lg_n;
    p->n_h = p->n - 1;
    for (uint32_t v = 0; v < p->n_vars; v++) {
        bool is_input = v < p->n_inputs;
        if (is_input || cuzk_bitmap_get(shape->a_aux_density, v - p->n_inputs)) {
            cuzk_bitmap_set(p->support_a, v);
        }
        if (is_input ? cuzk_bitmap_get(shape->b_input_density, v)
                     : cuzk_bitmap_get(shape->b_aux_density, v - p->n_inputs)) {
            cuzk_bitmap_set(p->support_b, v);
        }
    }
    p->sets[1].support = p->support_a;
    p->sets[2].support = p->support_b;
    p->sets[1].compact = p->sets[2].compact = true;
    add_query(p, 0, CUZK_G1, p->n_inputs);
    add_query(p, 1, CUZK_G1, 0);
    add_query(p, 2, CUZK_G1, 0);
    add_query(p, 2, CUZK_G2, 0);
}

/* ---- points ---------------------------------------------------------------------------------- */

static uint64_t logarithm(size_t i)
{
    i %= PERIOD;
    return i % TABLE + 1 + TABLE + (i / TABLE + 1) * (TABLE + 1);
}

/* PERIOD points: all sums of an entry of one table and one of the other. */
static CUdeviceptr make_period(const cuzk_point_adder *adder, const cuzk_group *g)
{
    cuzk_error err = {0};
    size_t coordinate = g->coord_bytes;
    CUdeviceptr tables = make_tables(g), list = device_bytes(NULL, 8 * (size_t)PERIOD);
    CUdeviceptr x = device_bytes(NULL, PERIOD * coordinate);
    CUdeviceptr y = device_bytes(NULL, PERIOD * coordinate);
    CUdeviceptr work = device_bytes(NULL, cuzk_point_add_workspace_bytes(g, PERIOD));
    CUdeviceptr points = device_bytes(NULL, PERIOD * 2 * coordinate);
    cuzk_add_args args = {.bases = (void *)(uintptr_t)tables,
                          .list = (void *)(uintptr_t)list,
                          .out_x = (void *)(uintptr_t)x,
                          .out_y = (void *)(uintptr_t)y,
                          .n_pairs = PERIOD};
    fill_list(list, PERIOD, 0, true);
    cuzk_point_add_plan(&args, g, work);
    must(
        cuzk_point_add_launch(adder, g->id, CUZK_ADD_GATHER, CUZK_TIME_GATHERED, &args, NULL, &err),
        &err);
    copy_columns(points, 2 * coordinate, x, coordinate, PERIOD);
    copy_columns(points + coordinate, 2 * coordinate, y, coordinate, PERIOD);
    const CUdeviceptr all[] = {tables, list, x, y, work};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        DRIVER(cuMemFree, (all[i]));
    }
    return points;
}

typedef struct {
    const cuzk_curve *curve;
    CUdeviceptr period[2];
} point_source;

static cuzk_status put_points(void *ctx, unsigned query, uint64_t to, uint64_t n, cuzk_error *err)
{
    enum { QUERY_B2 = 4 };
    point_source *source = ctx;
    cuzk_group_id group = query == QUERY_B2 ? CUZK_G2 : CUZK_G1;
    size_t each = source->curve->g[group].affine_bytes;
    for (uint64_t done = 0; done < n; done += PERIOD) {
        size_t part = n - done < PERIOD ? (size_t)(n - done) : PERIOD;
        CUZK_CUDA_TRY(device.api, err, cuMemcpyDtoDAsync,
                      (to + done * each, source->period[group], part * each, NULL));
    }
    CUZK_CUDA_TRY(device.api, err, cuCtxSynchronize, ());
    return CUZK_OK;
}

/* ---- points in the host's memory ------------------------------------------------------------- */

static void *host_points(const point_source *source, cuzk_group_id group, size_t n)
{
    size_t each = source->curve->g[group].affine_bytes;
    char *points = cuzk_pages_alloc(n * each);
    if (points == NULL) {
        fprintf(stderr, "%zu points: out of memory\n", n);
        exit(1);
    }
    for (size_t done = 0; done < n; done += PERIOD) {
        size_t part = n - done < PERIOD ? n - done : PERIOD;
        if (done == 0) {
            DRIVER(cuMemcpyDtoH, (points, source->period[group], part * each));
        } else {
            memcpy(points + done * each, points, part * each);
        }
    }
    return points;
}

/* They stay until the process ends. */
static void put_host_points(cuzk_prover *p, const point_source *source)
{
    p->h = host_points(source, CUZK_G1, p->n_h);
    for (unsigned i = 0; i < p->n_sets; i++) {
        for (size_t k = 0; k < p->sets[i].n_queries; k++) {
            cuzk_msm_query *q = &p->sets[i].queries[k];
            size_t n = p->sets[i].compact ? cuzk_bitmap_count(p->sets[i].support, p->n_vars)
                                          : p->n_vars - q->first;
            q->bases = host_points(source, q->group, n);
        }
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Σ w_v·log(base of v) over a query, as a plain value. */
static void expected_log(cuzk_fr *k, const cuzk_prover *p, unsigned set, uint32_t first,
                         const cuzk_witness *w)
{
    const cuzk_curve *curve = p->curve;
    const uint64_t *support = p->sets[set].support;
    uint64_t of_bits = 0;
    size_t base = 0;
    memset(k, 0, sizeof *k);
    for (uint32_t v = first; v < p->n_vars; v++) {
        if (support != NULL && !cuzk_bitmap_get(support, v)) {
            continue;
        }
        uint64_t log = logarithm(base++);
        if (!cuzk_bitmap_get(w->is_field, v)) {
            of_bits += cuzk_bitmap_get(w->bits, v) ? log : 0; /* below 2^28 · 2^21 */
            continue;
        }
        cuzk_fr value, factor;
        memcpy(&value, w->field[cuzk_witness_rank(w, v)], 32);
        curve->fr_from_u64(&factor, log);
        curve->fr_mul(&value, &value, &factor); /* plain times Montgomery: plain */
        curve->fr_add(k, k, &value);
    }
    cuzk_fr bits = {{of_bits}};
    curve->fr_add(k, k, &bits);
}

static bool check_sums(const cuzk_prover *p, const cuzk_query_set *sets, const cuzk_witness *w)
{
    bool right = true;
    for (unsigned i = 0; i < p->n_sets; i++) {
        cuzk_fr k;
        expected_log(&k, p, i, (uint32_t)sets[i].queries[0].first, w);
        p->curve->fr_batch_from_canonical(&k, &k, 1);
        for (size_t q = 0; q < sets[i].n_queries; q++) {
            const cuzk_group *g = &p->curve->g[sets[i].queries[q].group];
            cuzk_affine generator;
            cuzk_jac expected;
            g->generator(&generator);
            g->from_affine(&expected, &generator);
            g->mul(&expected, &expected, &k);
            bool same = g->eq(&expected, &sets[i].queries[q].sum);
            printf("# set %u query %zu: %s\n", i, q, same ? "right" : "WRONG");
            right &= same;
        }
    }
    return right;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void print_step(const char *name, const char *step, float *ms)
{
    qsort(ms, (size_t)n_runs, sizeof *ms, compare_floats);
    printf("%s,%s,%.3f\n", name, step, (double)ms[n_runs / 2]);
}

static void prove_once(const cuzk_prove_device *face, const cuzk_prover *p, const cuzk_witness *w,
                       cuzk_query_set *sets, cuzk_jac *h)
{
    cuzk_error err = {0};
    cuzk_device_proof *proof = NULL;
    memcpy(sets, p->sets, sizeof p->sets);
    must(face->begin(face->context, &proof, w, &err), &err);
    must(face->run(face->context, proof, CUZK_SUMS_ALL, &err), &err);
    must(face->end(face->context, proof, h, sets, &err), &err);
}

/* One proof after the other: medians of each kind. */
static void run_alone(const char *name, cuzk_device_prover *d, const cuzk_prover *p,
                      const cuzk_witness *w, cuzk_query_set *sets)
{
    static float ms[CUZK_TIME_KINDS + 1][RUNS_MAX];
    const cuzk_prove_device *face = cuzk_device_prover_get(d);
    const cuzk_group *g1 = &p->curve->g[CUZK_G1];
    cuzk_jac h;
    cuzk_affine packed;
    uint8_t encoded[96];
    for (int r = -1; r < n_runs; r++) { /* the first does not count */
        float of_kinds[CUZK_TIME_KINDS];
        uint64_t begin = cuzk_now_ns();
        prove_once(face, p, w, sets, &h);
        uint64_t end = cuzk_now_ns();
        cuzk_device_prover_times(d, of_kinds);
        for (int k = 0; k < CUZK_TIME_KINDS && r >= 0; k++) {
            ms[k][r] = of_kinds[k];
        }
        ms[CUZK_TIME_KINDS][r < 0 ? 0 : r] = (float)(end - begin) / 1e6f;
    }
    g1->to_affine(&packed, &h);
    g1->encode(encoded, &packed, CUZK_POINT_UNCOMPRESSED);
    printf("# the sum over H begins with %02x%02x%02x%02x, however it is made\n", encoded[0],
           encoded[1], encoded[2], encoded[3]);
    print_step(name, "total", ms[CUZK_TIME_KINDS]);
    for (int k = 0; k < CUZK_TIME_KINDS; k++) {
        print_step(name, cuzk_time_kind_name((cuzk_time_kind)k), ms[k]);
    }
}

/* ---- a queue and two workers ----------------------------------------------------------------- */

enum { WORKERS = 2 };

typedef struct {
    const cuzk_prove_device *face;
    const cuzk_prover *prover;
    const cuzk_witness *witness;
    cuzk_query_set sets[3];
    unsigned number;
    int n_proofs;
    atomic_int *next; /* proof of the queue */
    pthread_mutex_t *lane;
} worker;

/* All spans since they were last forgotten. The device calls one at a time. */
typedef struct {
    cuzk_device_span *spans;
    size_t n, n_room;
    uint64_t error_ns; /* the largest */
    double drift_ppm;  /* of the last proof */
} span_list;

static void keep_spans(void *ctx, const cuzk_device_span *spans, size_t n,
                       const cuzk_device_clock_fit *fit)
{
    span_list *list = ctx;
    if (list->n + n > list->n_room) {
        list->n_room = 2 * (list->n + n);
        list->spans = realloc(list->spans, list->n_room * sizeof *spans);
        if (list->spans == NULL) {
            fprintf(stderr, "spans: out of memory\n");
            exit(1);
        }
    }
    memcpy(list->spans + list->n, spans, n * sizeof *spans);
    list->n += n;
    list->error_ns = fit->error_ns > list->error_ns ? fit->error_ns : list->error_ns;
    list->drift_ppm = fit->drift_ppm;
}

/* As the daemon's workers do it. */
static void prove_in_turn(worker *w, int number)
{
    cuzk_error err = {0};
    cuzk_device_proof *proof = NULL;
    cuzk_jac h;
    memcpy(w->sets, w->prover->sets, sizeof w->prover->sets);
    bench_record_work(w->number, (unsigned)number);
    uint64_t begin = cuzk_now_ns();
    must(w->face->begin(w->face->context, &proof, w->witness, &err), &err);
    uint64_t asked = cuzk_now_ns();
    pthread_mutex_lock(w->lane);
    uint64_t had = cuzk_now_ns();
    must(w->face->run(w->face->context, proof, CUZK_SUMS_ALL, &err), &err);
    uint64_t gave = cuzk_now_ns();
    pthread_mutex_unlock(w->lane);
    must(w->face->end(w->face->context, proof, &h, w->sets, &err), &err);
    uint64_t end = cuzk_now_ns();
    bench_record_span(CUZK_SPAN_PROVE_START, begin, end);
    bench_record_span(CUZK_SPAN_LANE_WAIT, asked, had);
    bench_record_span(CUZK_SPAN_LANE, had, gave);
    bench_record_done();
}

static void *work(void *arg)
{
    worker *w = arg;
    int number;
    while ((number = atomic_fetch_add_explicit(w->next, 1, memory_order_relaxed)) < w->n_proofs) {
        prove_in_turn(w, number);
    }
    return NULL;
}

/* Proofs in a queue: wall time a proof, and in which part of it at least one kernel ran, from the
 * first kernel to the last. */
static void run_queue(const char *name, cuzk_device_prover *d, const cuzk_prover *p,
                      const cuzk_witness *w, span_list *list, int n_proofs)
{
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    atomic_int next = 0;
    pthread_mutex_t lane = PTHREAD_MUTEX_INITIALIZER;
    list->n = 0;
    bench_record_accept((unsigned)n_proofs);
    uint64_t begin = cuzk_now_ns();
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.face = cuzk_device_prover_get(d),
                              .prover = p,
                              .witness = w,
                              .number = (unsigned)i,
                              .n_proofs = n_proofs,
                              .next = &next,
                              .lane = &lane};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    uint64_t wall = cuzk_now_ns() - begin, first = UINT64_MAX, last = 0;
    uint64_t active = cuzk_device_spans_active_ns(list->spans, list->n);
    for (size_t i = 0; i < list->n; i++) {
        if (cuzk_time_is_kernel(list->spans[i].kind)) {
            first = list->spans[i].begin_ns < first ? list->spans[i].begin_ns : first;
            last = list->spans[i].end_ns > last ? list->spans[i].end_ns : last;
        }
    }
    printf("%s,queue of %d: a proof,%.3f\n", name, n_proofs, (double)wall / 1e6 / (double)n_proofs);
    printf("%s,queue of %d: kernels active,%.2f%%\n", name, n_proofs,
           100.0 * (double)active / (double)(last - first));
    printf("# clocks: error at most %.1f us, drift %.2f ppm\n", (double)list->error_ns / 1e3,
           list->drift_ppm);
}

static void print_stream(const cuzk_device_prover *d)
{
    cuzk_stream_stats s = cuzk_device_prover_stream(d);
    printf("# points, %s: %.1f GB in %.2f s, %.1f GB/s; %.2f s waited for; %u passes\n",
           cuzk_stream_way_name(s.way), (double)s.n_bytes / 1e9, (double)s.busy_ns / 1e9,
           (double)s.n_bytes / (double)(s.busy_ns + 1), (double)s.waited_ns / 1e9, s.n_passes);
}

static bool run(const char *name, const cuzk_prover *p, const cuzk_witness *w,
                cuzk_device_prover_params *params)
{
    cuzk_error err = {0};
    cuzk_device_prover *d = NULL;
    cuzk_query_set sets[3];
    span_list list = {0};
    params->spans = keep_spans;
    params->spans_ctx = &list;
    uint64_t begin = cuzk_now_ns();
    must(cuzk_device_prover_create(&d, &device, p, params, &err), &err);
    DRIVER(cuCtxSynchronize, ());
    printf("# %s, created in %.2f s\n", cuzk_card_mode_name(cuzk_device_prover_plan(d)->mode),
           (double)(cuzk_now_ns() - begin) / 1e9);
    const cuzk_arena *arena = cuzk_device_prover_memory(d);
    printf("# device memory, MiB:");
    for (int i = 0; i < CUZK_ARENA_PURPOSES; i++) {
        printf(" %s %zu", cuzk_arena_purpose_name((cuzk_arena_purpose)i), arena->bytes[i] >> 20);
    }
    printf("\n");
    run_alone(name, d, p, w, sets);
    fflush(stdout);
    if (record_path != NULL) {
        bench_record_start(device_index, WORKERS, n_units, name);
    }
    run_queue(name, d, p, w, &list, n_queue);
    if (record_path != NULL) {
        bench_record_write(record_path);
    }
    if (p->source.put == NULL) {
        print_stream(d);
    }
    fflush(stdout);
    bool right = check_sums(p, sets, w);
    cuzk_device_prover_destroy(d);
    free(list.spans);
    return right;
}

static size_t gib(const char *text)
{
    return (size_t)(atof(text) * 1073741824);
}

int main(int argc, char **argv)
{
    int kind = 0;
    size_t pinned_bytes = 0;
    bool from_host = false;
    cuzk_device_prover_params params = {0};
    for (int i = 1; i < 5 && argc > 2; i++) {
        kind = strcmp(argv[1], kinds[i]) == 0 ? i : kind;
    }
    const cuzk_sector *sector = argc > 2 ? cuzk_sector_by_name(argv[2], strlen(argv[2])) : NULL;
    bool good = kind != 0 && sector != NULL && argc % 2 == 1;
    for (int i = 3; good && i < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            device_index = (unsigned)atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--runs") == 0) {
            n_runs = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--queue") == 0) {
            n_queue = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--record") == 0) {
            record_path = argv[i + 1];
        } else if (strcmp(argv[i], "--piece") == 0) {
            params.piece = (uint32_t)atoi(argv[i + 1]) / 64 * 64;
        } else if (strcmp(argv[i], "--memory") == 0) {
            params.memory_limit = gib(argv[i + 1]);
            from_host = true;
        } else if (strcmp(argv[i], "--pinned") == 0) {
            pinned_bytes = gib(argv[i + 1]);
            from_host = true;
        } else {
            good = false;
        }
    }
    if (!good || n_runs < 1 || n_runs > RUNS_MAX || n_queue < 1) {
        fprintf(
            stderr,
            "usage: bench_gpu_proof porep|update|window|winning SIZE [--device N] "
            "[--runs N] [--queue N] [--piece N] [--memory GIB] [--pinned GIB] [--record FILE]\n");
        return 1;
    }
    cuzk_error err = {0};
    cuzk_registered_proof proof;
    uint64_t number = kind == CUZK_PROOF_WINDOW ? 10 : kind == CUZK_PROOF_POREP ? 5 : 0;
    must(cuzk_registered_proof_get(&proof, (cuzk_proof_kind)kind, number, &err), &err);
    must(cuzk_registered_proof_resize(&proof, sector, &err), &err);
    if (kind == CUZK_PROOF_POREP) {
        n_units = cuzk_porep_shape_of(sector, false).partitions;
    } else if (kind == CUZK_PROOF_UPDATE) {
        n_units = cuzk_update_shape_of(sector).partitions;
    }
    cuzk_shape *shape = NULL;
    cuzk_witness *w = NULL;
    make_witness(&proof, &shape, &w);
    bench_gpu_open((int)device_index);
    cuzk_point_adder adder;
    point_source source = {.curve = shape->curve};
    must(cuzk_point_adder_open(&adder, device.api, shape->curve->id, &err), &err);
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        source.period[g] = make_period(&adder, &shape->curve->g[g]);
    }
    cuzk_prover prover;
    char name[64];
    cuzk_pinned_pool *pinned = NULL;
    make_prover(&prover, shape);
    if (from_host) {
        put_host_points(&prover, &source);
        must(cuzk_pinned_pool_create(&pinned, pinned_bytes, &err), &err);
        params.pinned = pinned;
    } else {
        prover.source = (cuzk_point_source){.put = put_points, .ctx = &source};
    }
    snprintf(name, sizeof name, "%s,%s", kinds[kind], sector->name);
    printf("# %u constraints, domain 2^%u, %u variables, %u of them field values\n",
           shape->n_constraints, prover.lg_n, w->n_vars, w->n_field);
    printf("kind,size,step,median_ms\n");
    bool right = run(name, &prover, w, &params);
    cuzk_pinned_pool_destroy(pinned);
    cuzk_point_adder_close(&adder);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(shape);
    free(prover.support_a);
    free(prover.support_b);
    cuzk_cuda_device_close(&device);
    return right ? 0 : 1;
}
