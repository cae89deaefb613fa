/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the host does for a partition of a 32GiB PoRep whose sums are made on cards: decoding and
 * checking the request, the witness, its way to the card, finishing, verifying; and how many
 * processors and how much of the memory's rate several cards need.
 *
 *   bench_host_side VANILLA REQUEST [CARDS [PARTITION_MS]]
 *
 * VANILLA and REQUEST as "cuzk gen-vanilla porep" writes them. CARDS (8) that take PARTITION_MS
 * (800) for a partition each. CSV: step,threads,wall_ms,cpu_ms,mb of a partition, with one thread
 * and with two (the least of three); cpu_ms of all threads; mb: bytes that pass host memory, as
 * counted from the sizes: the request is read by the decoder and by its digest, a witness is
 * written (a line is read before it is written), a pageable copy is read, written to a pinned
 * buffer, and read by the card. The copy is a memcpy here. The proof that is verified is a real one
 * of a made-up key. Then comments: what the cards need, beside the daemon's own numbers of
 * threads. */
#define _GNU_SOURCE
#include "bench_payload.h"
#include "bench_util.h"

#include "base/clock.h"
#include "base/pages.h"
#include "filecoin/circuit_porep.h"
#include "groth16/verify.h"
#include "work/filecoin_decode.h"
#include "work/stage_threads.h"

#include <string.h>

enum { RUNS = 3, THREADS = 2, IC_MAX = 512 };

typedef enum { DECODE, WITNESS, COPY, FINISH, VERIFY, STEPS } step;

static const char *const step_names[STEPS] = {"decode", "witness", "copy", "finish", "verify"};

/* Of a partition. */
typedef struct {
    double wall_ms, cpu_ms, mb;
} cost;

typedef struct {
    uint64_t wall_ns;
    double cpu_s;
} stopwatch;

static stopwatch start(void)
{
    return (stopwatch){cuzk_now_ns(), cpu_seconds()};
}

/* Keep the least of each of a step that was made for n partitions. */
static void keep(cost *best, const stopwatch *from, unsigned n, double bytes)
{
    double wall_ms = (double)(cuzk_now_ns() - from->wall_ns) / 1e6 / n;
    double cpu_ms = (cpu_seconds() - from->cpu_s) * 1e3 / n;
    bool is_first = best->mb == 0 && best->wall_ms == 0;
    best->wall_ms = is_first || wall_ms < best->wall_ms ? wall_ms : best->wall_ms;
    best->cpu_ms = is_first || cpu_ms < best->cpu_ms ? cpu_ms : best->cpu_ms;
    best->mb = bytes / 1e6 / n;
}

/* ---- a key and a proof that is valid for it -------------------------------------------------- */

/* Logarithms of all points are known: whoever knows them can make a proof without a witness. */
typedef struct {
    cuzk_vk vk;
    uint8_t ic[IC_MAX * sizeof(cuzk_affine)];
    cuzk_fr logs[IC_MAX];
    cuzk_fr alpha, beta, gamma, delta;
} made_key;

static void multiple(cuzk_affine *out, const cuzk_curve *curve, cuzk_group_id id, const cuzk_fr *k)
{
    const cuzk_group *g = &curve->g[id];
    cuzk_affine generator;
    cuzk_jac j;
    memset(out, 0, sizeof *out);
    g->generator(&generator);
    g->from_affine(&j, &generator);
    g->mul(&j, &j, k);
    g->to_affine(out, &j);
}

static void number(cuzk_fr *out, const cuzk_curve *curve, uint64_t v)
{
    curve->fr_from_u64(out, UINT64_C(0x9e3779b97f4a7c15) + v);
    curve->fr_pow_u64(out, out, 65537); /* of full width */
}

static void make_key(made_key *key, const cuzk_curve *curve, uint32_t n_ic)
{
    key->vk = (cuzk_vk){.curve = curve, .has_g1_pair = true, .ic = key->ic, .n_ic = n_ic};
    cuzk_fr *const own[] = {&key->alpha, &key->beta, &key->gamma, &key->delta};
    for (unsigned i = 0; i < 4; i++) {
        number(own[i], curve, i);
    }
    multiple(&key->vk.alpha1, curve, CUZK_G1, &key->alpha);
    multiple(&key->vk.beta1, curve, CUZK_G1, &key->beta);
    multiple(&key->vk.delta1, curve, CUZK_G1, &key->delta);
    multiple(&key->vk.beta2, curve, CUZK_G2, &key->beta);
    multiple(&key->vk.gamma2, curve, CUZK_G2, &key->gamma);
    multiple(&key->vk.delta2, curve, CUZK_G2, &key->delta);
    for (uint32_t i = 0; i < n_ic; i++) {
        cuzk_affine point;
        number(&key->logs[i], curve, 100 + i);
        multiple(&point, curve, CUZK_G1, &key->logs[i]);
        memcpy(key->ic + (size_t)i * curve->g[CUZK_G1].affine_bytes, &point,
               curve->g[CUZK_G1].affine_bytes);
    }
}

/* c = (a·b - alpha·beta - gamma·(ic_0 + Σ x_i·ic_i)) / delta */
static void make_proof(cuzk_proof_points *out, const made_key *key, const uint8_t (*values)[32])
{
    const cuzk_curve *curve = key->vk.curve;
    cuzk_fr a, b, c, t, x;
    number(&a, curve, 50);
    number(&b, curve, 51);
    t = key->logs[0];
    for (uint32_t i = 1; i < key->vk.n_ic; i++) {
        (void)curve->fr_from_canonical_le(&x, values[i - 1]);
        curve->fr_mul(&x, &x, &key->logs[i]);
        curve->fr_add(&t, &t, &x);
    }
    curve->fr_mul(&t, &t, &key->gamma);
    curve->fr_mul(&c, &a, &b);
    curve->fr_sub(&c, &c, &t);
    curve->fr_mul(&t, &key->alpha, &key->beta);
    curve->fr_sub(&c, &c, &t);
    curve->fr_inv(&t, &key->delta);
    curve->fr_mul(&c, &c, &t);
    *out = (cuzk_proof_points){.curve = curve};
    multiple(&out->a, curve, CUZK_G1, &a);
    multiple(&out->b, curve, CUZK_G2, &b);
    multiple(&out->c, curve, CUZK_G1, &c);
}

/* ---- steps ----------------------------------------------------------------------------------- */

typedef struct {
    bench_payload payload;
    cuzk_shape *shape;
    cuzk_filecoin_decoded *task;
    made_key key;
    cuzk_verifier verifier;
    uint8_t (*values)[32]; /* public ones of partition 0 */
    cuzk_proof_points proof;
    size_t witness_bytes;
} bench;

static void bench_decode(cost *best, bench *b, cuzk_pool *pool)
{
    cuzk_error err = {0};
    cuzk_filecoin_decoded_destroy(b->task);
    b->task = NULL;
    stopwatch from = start();
    check(cuzk_filecoin_decode(&b->task, b->payload.bytes, b->payload.n_bytes, pool, &err), &err);
    keep(best, &from, b->payload.n_partitions, 2.0 * (double)b->payload.n_bytes);
}

/* The card's driver copies the witness' arrays to buffers of its own. */
static void bench_copy(cost *best, bench *b, const cuzk_witness *w)
{
    static uint8_t buffer[1 << 22];
    const struct {
        const void *at;
        size_t n_bytes;
    } arrays[] = {{w->is_field, (w->n_vars + 63) / 64 * 8},
                  {w->bits, (w->n_vars + 63) / 64 * 8},
                  {w->rank, ((size_t)w->n_vars / 64 + 2) * 4},
                  {w->field, (size_t)w->n_field * 32}};
    size_t all = 0;
    stopwatch from = start();
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        all += arrays[i].n_bytes;
        for (size_t k = 0; k < arrays[i].n_bytes; k += sizeof buffer) {
            size_t left = arrays[i].n_bytes - k;
            memcpy(buffer, (const uint8_t *)arrays[i].at + k,
                   left < sizeof buffer ? left : sizeof buffer);
            __asm__ volatile("" ::"r"(buffer) : "memory"); /* it is copied, whoever reads it */
        }
    }
    keep(best, &from, 1, 3.0 * (double)all);
    b->witness_bytes = all;
}

static void bench_witness(cost *best, cost *copy, bench *b, cuzk_pool *pool)
{
    cuzk_error err = {0};
    cuzk_witness *w = NULL;
    stopwatch from = start();
    check(cuzk_filecoin_task_witness(&w, &b->task->task, b->shape, 0, pool, &err), &err);
    keep(best, &from, 1, 2.0 * (double)cuzk_witness_bytes(w->n_vars, w->n_field));
    bench_copy(copy, b, w);
    if (b->values == NULL) {
        uint32_t n = w->n_inputs;
        b->values = calloc(n, 32);
        if (b->values == NULL || n > IC_MAX) {
            check(CUZK_FAIL(&err, CUZK_E_INTERNAL, "%u public values", n), &err);
        }
        cuzk_witness_get_range(w, 1, n - 1, b->values);
        make_key(&b->key, w->curve, n);
        make_proof(&b->proof, &b->key, (const uint8_t(*)[32])b->values);
        check(cuzk_verifier_init(&b->verifier, &b->key.vk, true, &err), &err);
    }
    cuzk_witness_destroy(w);
}

/* Joining the windows of the cards' sums, four in G1 and one in G2: as many doublings as a scalar
 * has bits; then the blinding: five multiples in G1 and one in G2; and the bytes. */
static void bench_finish(cost *best, const bench *b)
{
    enum { BITS = 255, SUMS_G1 = 4, MULTIPLES_G1 = 5 };
    cuzk_error err = {0};
    const cuzk_curve *curve = b->key.vk.curve;
    uint8_t bytes[CUZK_PROOF_BYTES];
    cuzk_proof_points proof = b->proof;
    stopwatch from = start();
    for (int id = CUZK_G1; id <= CUZK_G2; id++) {
        const cuzk_group *g = &curve->g[id];
        cuzk_jac j;
        g->from_affine(&j, id == CUZK_G1 ? &proof.a : &proof.b);
        for (int i = 0; i < (id == CUZK_G1 ? SUMS_G1 : 1) * BITS; i++) {
            g->dbl(&j, &j);
        }
        for (int i = 0; i < (id == CUZK_G1 ? MULTIPLES_G1 : 1); i++) {
            g->mul(&j, &j, &b->key.alpha);
        }
        g->to_affine(id == CUZK_G1 ? &proof.a : &proof.b, &j);
    }
    check(cuzk_proof_points_write(bytes, &proof, &err), &err);
    keep(best, &from, 1, 0);
}

static void bench_verify(cost *best, const bench *b, cuzk_pool *pool)
{
    cuzk_error err = {0};
    uint8_t bytes[CUZK_PROOF_BYTES];
    cuzk_proof_points proof;
    check(cuzk_proof_points_write(bytes, &b->proof, &err), &err);
    stopwatch from = start();
    check(cuzk_proof_points_read(&proof, bytes, sizeof bytes, &err), &err);
    check(cuzk_filecoin_task_verify(&b->task->task, &b->verifier, 0, &proof, pool, &err), &err);
    keep(best, &from, 1, 0);
}

static void measure(cost costs[STEPS], bench *b, unsigned n_threads)
{
    cuzk_error err = {0};
    cuzk_pool *pool = NULL;
    check(cuzk_pool_create(&pool, n_threads, &err), &err);
    for (int run = 0; run < RUNS; run++) {
        bench_decode(&costs[DECODE], b, pool);
        bench_witness(&costs[WITNESS], &costs[COPY], b, pool);
        bench_finish(&costs[FINISH], b);
        bench_verify(&costs[VERIFY], b, pool);
    }
    cuzk_pool_destroy(pool);
    for (int s = 0; s < STEPS; s++) {
        printf("%s,%u,%.3f,%.3f,%.1f\n", step_names[s], n_threads, costs[s].wall_ms,
               costs[s].cpu_ms, costs[s].mb);
    }
    fflush(stdout);
}

/* ---- what cards need ------------------------------------------------------------------------- */

/* Threads of a stage that are busy, by the processor time of one. */
static void print_stage(const char *name, double per_s, double ms, unsigned n_small,
                        unsigned n_large)
{
    double busy = per_s * ms / 1e3;
    printf("# %s: %.2f threads at work; the daemon has %u with 64 processors, %u with 128: %s\n",
           name, busy, n_small, n_large, busy <= 0.8 * n_small ? "enough" : "TOO FEW");
}

static void print_needs(const cost one[STEPS], unsigned n_cards, double partition_ms)
{
    double per_s = n_cards * 1e3 / partition_ms, cpu_ms = 0, mb = 0;
    for (int s = 0; s < STEPS; s++) {
        cpu_ms += one[s].cpu_ms;
        mb += one[s].mb;
    }
    cuzk_stage_threads small = cuzk_stage_threads_fill((cuzk_stage_threads){0}, n_cards, 64);
    cuzk_stage_threads large = cuzk_stage_threads_fill((cuzk_stage_threads){0}, n_cards, 128);
    printf("# %u cards, %.0f ms a partition each: %.2f partitions a second\n", n_cards,
           partition_ms, per_s);
    printf("# of a partition: %.1f ms of processors, %.1f MB through host memory\n", cpu_ms, mb);
    printf("# the cards need %.2f processors such as this one, and %.2f GB/s of host memory\n",
           cpu_ms * per_s / 1e3, mb * per_s / 1e3);
    print_stage("decode", per_s, one[DECODE].cpu_ms, small.n_decoders, large.n_decoders);
    print_stage("witness", per_s, one[WITNESS].cpu_ms, small.n_witness, large.n_witness);
    print_stage("finish", per_s, one[FINISH].cpu_ms, small.n_finishers, large.n_finishers);
    print_stage("verify", per_s, one[VERIFY].cpu_ms, small.n_verifiers, large.n_verifiers);
}

int main(int argc, char **argv)
{
    static bench b;
    static cost costs[THREADS + 1][STEPS];
    int n_cards = argc > 3 ? atoi(argv[3]) : 8;
    double partition_ms = argc > 4 ? atof(argv[4]) : 800;
    if (argc < 3 || argc > 5 || n_cards < 1 || n_cards > 64 || !(partition_ms > 0)) {
        fprintf(stderr, "usage: bench_host_side VANILLA REQUEST [CARDS [PARTITION_MS]]\n");
        return 2;
    }
    cuzk_error err = {0};
    bench_payload_init(&b.payload, CUZK_FILECOIN_POREP, argv[1], argv[2], ".");
    const cuzk_sector *sector = cuzk_sector_by_name(b.payload.size, strlen(b.payload.size));
    check(cuzk_porep_circuit_shape(&b.shape, sector, &err), &err);
    printf("step,threads,wall_ms,cpu_ms,mb\n");
    for (unsigned n = 1; n <= THREADS; n++) {
        measure(costs[n], &b, n);
    }
    print_needs(costs[1], (unsigned)n_cards, partition_ms);
    cuzk_filecoin_decoded_destroy(b.task);
    cuzk_shape_destroy(b.shape);
    bench_payload_clear(&b.payload);
    free(b.values);
    return 0;
}
