/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs with the large sums on a device: with given r and s they are the only right ones, for keys
 * of both kinds; a device that answers wrongly gives an error and no proof. */
#include "backend/cuda/device_prover.h"
#include "device_test.h"
#include "groth16/prover_impl.h"
#include "groth16/support.h"

#include <pthread.h>

static cuzk_pool *pool;

static cuzk_device_prover_params device_params; /* for the provers that follow */

static cuzk_device_prover *device_prover_of(const cuzk_prover *prover)
{
    cuzk_error error = {0};
    cuzk_device_prover *d = NULL;
    must(cuzk_device_prover_create(&d, &device, prover, &device_params, &error), &error);
    return d;
}

/* On a device prove twice, so that buffers are used again. */
static void expect_proof(const cuzk_prover *prover, const cuzk_witness *w,
                         const cuzk_blinding *blinding, const cuzk_proof_points *expected,
                         const char *name)
{
    cuzk_device_prover *d = device_prover_of(prover);
    cuzk_prove_params params = {.test_blinding = blinding, .device = cuzk_device_prover_get(d)};
    for (int i = 0; i < (device_test_is_small() ? 1 : 2); i++) {
        cuzk_error error = {0};
        cuzk_proof_points found;
        must(cuzk_prover_prove(prover, &found, w, &params, pool, &error), &error);
        if (!support_same_proof(&found, expected)) {
            fail_msg("%s: the proof is another one", name);
        }
    }
    cuzk_device_prover_destroy(d);
}

static void check_circom(const char *name)
{
    char circuit[128];
    snprintf(circuit, sizeof circuit, "%s/circuit.r1cs", name);
    if (!cuzk_test_fixture_exists(circuit)) {
        print_message("left out: no fixture %s\n", circuit);
        return;
    }
    cuzk_error error = {0};
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
    support_fixed_rs(name, key.curve, &blinding, &expected);
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    expect_proof(prover, w, &blinding, &expected, name);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

static void test_circom(void **state)
{
    (void)state;
    check_circom("circom/bn254/multiplier2");
    check_circom("circom/bls12381/multiplier2");
    if (!device_test_is_small() || getenv("CUZK_NIGHTLY") != NULL) {
        check_circom("circom/bn254/poseidon2");
        check_circom("circom/bls12381/manypublic");
        check_circom("circom/bn254/multiplier1000");
        check_circom("circom/bls12381/multiplier1000");
        check_circom("circom/bls12381/range64");
        check_circom("circom/bn254/merkle20");
    }
}

/* ---- a key that is streamed ---- */

typedef struct {
    const cuzk_prover *prover;
    const cuzk_witness *witness;
    const cuzk_prove_params *params;
    const cuzk_proof_points *expected;
    bool is_right;
} caller;

static void *prove_again(void *context)
{
    caller *c = context;
    cuzk_error error = {0};
    cuzk_proof_points found;
    if (cuzk_prover_prove(c->prover, &found, c->witness, c->params, NULL, &error) == CUZK_OK) {
        c->is_right = support_same_proof(&found, c->expected);
    } else {
        printf("%s\n", error.text);
    }
    return NULL;
}

/* A prover whose memory is short of half of the points. */
static cuzk_device_prover *streamed_prover(const cuzk_prover *prover, cuzk_pinned_pool *pinned)
{
    cuzk_error error = {0};
    cuzk_device_prover_params params = {.piece = device_test_is_small() ? 512 : 128,
                                        .pinned = pinned};
    cuzk_device_prover *d = NULL;
    must(cuzk_device_prover_create(&d, &device, prover, &params, &error), &error);
    const cuzk_arena *arena = cuzk_device_prover_memory(d);
    assert_int_equal(cuzk_device_prover_plan(d)->mode, CUZK_CARD_RESIDENT);
    params.memory_limit = arena->total - arena->bytes[CUZK_ARENA_KEY] / 2;
    cuzk_device_prover_destroy(d);
    must(cuzk_device_prover_create(&d, &device, prover, &params, &error), &error);
    assert_int_equal(cuzk_device_prover_plan(d)->mode, CUZK_CARD_STREAMED);
    assert_false(cuzk_device_prover_get(d)->makes_some); /* a pass serves all sums */
    assert_true(cuzk_device_prover_memory(d)->total <= params.memory_limit);
    return d;
}

/* The same proofs, from several threads, which may share passes. */
static void expect_streamed(const cuzk_prover *prover, const cuzk_witness *w,
                            const cuzk_blinding *blinding, const cuzk_proof_points *expected,
                            uint64_t pinned_bytes, cuzk_stream_way way)
{
    enum { CALLERS = 3 };
    cuzk_error error = {0};
    cuzk_pinned_pool *pinned = NULL;
    must(cuzk_pinned_pool_create(&pinned, pinned_bytes, &error), &error);
    cuzk_device_prover *d = streamed_prover(prover, pinned);
    cuzk_prove_params prove = {.test_blinding = blinding, .device = cuzk_device_prover_get(d)};
    caller callers[CALLERS];
    pthread_t threads[CALLERS];
    int n = device_test_is_small() ? 1 : CALLERS;
    for (int i = 0; i < n; i++) {
        callers[i] = (caller){prover, w, &prove, expected, false};
        assert_int_equal(pthread_create(&threads[i], NULL, prove_again, &callers[i]), 0);
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(callers[i].is_right);
    }
    cuzk_stream_stats stats = cuzk_device_prover_stream(d);
    assert_int_equal(stats.way, way);
    assert_true(stats.n_passes >= 1 && stats.n_passes <= (unsigned)n);
    assert_true(stats.n_bytes > 0);
    assert_int_equal(cuzk_pinned_pool_use(pinned).used_bytes > 0, way != CUZK_STREAM_PAGEABLE);
    cuzk_device_prover_destroy(d);
    assert_int_equal(cuzk_pinned_pool_use(pinned).used_bytes, 0);
    cuzk_pinned_pool_destroy(pinned);
}

/* A circom key has points for all variables; its pages are those of one file. */
static void test_circom_streamed(void **state)
{
    (void)state;
    cuzk_error error = {0};
    const char *name = "circom/bn254/poseidon2";
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
    support_fixed_rs(name, key.curve, &blinding, &expected);
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    expect_streamed(prover, w, &blinding, &expected, 1000, CUZK_STREAM_PAGEABLE);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

/* A bellperson key of a circom circuit: coefficients of the quotient, compact queries. */
typedef struct {
    support_bytes bytes;
    cuzk_shape *shape;
    cuzk_witness *w;
    cuzk_params key;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
} bellperson;

static void setup_bellperson(bellperson *b, const char *name)
{
    cuzk_error error = {0};
    *b = (bellperson){.shape = support_shape(name), .blinding = {.r = {3}, .s = {5}}};
    b->w = support_witness(name, b->shape->n_inputs);
    cuzk_trapdoor t = support_trapdoor(name, b->shape->curve);
    b->bytes = support_generate(b->shape, CUZK_KEY_BELLPERSON, &t, pool);
    must(cuzk_params_open(&b->key, b->bytes.data, b->bytes.size, &error), &error);
    support_proof_by_trapdoor(b->shape, b->w, CUZK_KEY_BELLPERSON, &t, &b->blinding, &b->expected);
}

static void drop_bellperson(bellperson *b)
{
    cuzk_witness_destroy(b->w);
    cuzk_shape_destroy(b->shape);
    free(b->bytes.data);
}

static void test_bellperson(void **state)
{
    (void)state;
    cuzk_error error = {0};
    device_params.piece = device_test_is_small() ? 192 : device_params.piece;
    const char *name = "circom/bls12381/range64";
    bellperson b;
    setup_bellperson(&b, name);
    cuzk_prover *prover = NULL;
    must(cuzk_prover_create_params(&prover, &b.key, b.shape, NULL, pool, &error), &error);
    expect_proof(prover, b.w, &b.blinding, &b.expected, name);
    expect_streamed(prover, b.w, &b.blinding, &b.expected, 1 << 30, CUZK_STREAM_PINNED);
    cuzk_prover_destroy(prover);
    drop_bellperson(&b);
}

/* A prover that leaves decoding to the device: the same proofs; a damaged point is found when the
 * key is copied, or by the pass that brings it. */
static void test_device_decodes(void **state)
{
    (void)state;
    cuzk_error error = {0};
    const char *name = "circom/bls12381/range64";
    cuzk_prover_params late = {.decode_late = true, .device_decodes = true};
    bellperson b;
    setup_bellperson(&b, name);
    cuzk_prover *prover = NULL;
    must(cuzk_prover_create_params(&prover, &b.key, b.shape, &late, pool, &error), &error);
    if (!device_test_is_small()) {
        expect_proof(prover, b.w, &b.blinding, &b.expected, name);
    }
    expect_streamed(prover, b.w, &b.blinding, &b.expected, 1000, CUZK_STREAM_PAGEABLE);

    cuzk_proof_points found;
    cuzk_prove_params params = {.test_blinding = &b.blinding};
    assert_int_equal(cuzk_prover_prove(prover, &found, b.w, &params, pool, &error),
                     CUZK_E_ARGUMENT);

    cuzk_device_prover *d = streamed_prover(prover, NULL);
    params.device = cuzk_device_prover_get(d);
    uint64_t bad = b.key.arrays[CUZK_PARAMS_L].n - 2; /* in the last piece of its query */
    b.bytes.data[b.key.arrays[CUZK_PARAMS_L].data - b.bytes.data + 96 * bad + 50] ^= 1;
    error = (cuzk_error){0};
    assert_int_equal(cuzk_prover_prove(prover, &found, b.w, &params, pool, &error), CUZK_E_FORMAT);
    char expected[80];
    (void)snprintf(expected, sizeof expected, "params, array l: point %u: ", (unsigned)bad);
    assert_non_null(strstr(error.text, expected));
    cuzk_device_prover_destroy(d);

    error = (cuzk_error){0};
    assert_int_equal(cuzk_device_prover_create(&d, &device, prover, NULL, &error), CUZK_E_FORMAT);
    assert_non_null(strstr(error.text, expected));
    cuzk_prover_destroy(prover);
    drop_bellperson(&b);
}

/* ---- a key that is made on the device ---- */

/* Another prover's points, as if they were made; one of n_puts calls fails. */
typedef struct {
    const cuzk_prover *from;
    unsigned n_puts, failing;
} maker;

static cuzk_status put_points(void *ctx, unsigned query, uint64_t to, uint64_t n, cuzk_error *err)
{
    maker *m = ctx;
    const cuzk_prover *p = m->from;
    const cuzk_query_set *sets = p->sets;
    const void *points[] = {p->h, sets[0].queries[0].bases, sets[1].queries[0].bases,
                            sets[2].queries[0].bases, sets[2].queries[1].bases};
    assert_int_equal(query, m->n_puts++);
    CUZK_FAIL_IF(m->n_puts == m->failing, err, CUZK_E_DEVICE, "query %u is not made", query);
    CUZK_CUDA_TRY(
        device.api, err, cuMemcpyHtoD,
        (to, points[query], n * p->curve->g[query == 4 ? CUZK_G2 : CUZK_G1].affine_bytes));
    return CUZK_OK;
}

static void test_made(void **state)
{
    (void)state;
    cuzk_error error = {0};
    bellperson b;
    setup_bellperson(&b, "circom/bls12381/multiplier2");
    cuzk_prover *whole = NULL, *made = NULL;
    must(cuzk_prover_create_params(&whole, &b.key, b.shape, NULL, pool, &error), &error);
    maker m = {.from = whole};
    const cuzk_point_source source = {.put = put_points, .ctx = &m};
    cuzk_vk other = *cuzk_prover_vk(whole);
    other.n_ic++;
    assert_int_equal(cuzk_prover_create_made(&made, b.shape, &other, &source, &error),
                     CUZK_E_MISMATCH);
    error = (cuzk_error){0};
    must(cuzk_prover_create_made(&made, b.shape, cuzk_prover_vk(whole), &source, &error), &error);
    expect_proof(made, b.w, &b.blinding, &b.expected, "made");
    assert_int_equal(m.n_puts, 5);

    cuzk_proof_points found;
    cuzk_prove_params params = {.test_blinding = &b.blinding};
    assert_int_equal(cuzk_prover_prove(made, &found, b.w, &params, pool, &error), CUZK_E_ARGUMENT);

    cuzk_device_prover *d = NULL;
    m = (maker){.from = whole, .failing = 5};
    error = (cuzk_error){0};
    assert_int_equal(cuzk_device_prover_create(&d, &device, made, NULL, &error), CUZK_E_DEVICE);
    assert_non_null(strstr(error.text, "query 4 is not made"));

    m = (maker){.from = whole};
    d = device_prover_of(made);
    cuzk_device_prover_params small = {.memory_limit =
                                           cuzk_device_prover_memory(d)->bytes[CUZK_ARENA_KEY]};
    cuzk_device_prover_destroy(d);
    error = (cuzk_error){0}; /* it cannot be streamed */
    assert_int_equal(cuzk_device_prover_create(&d, &device, made, &small, &error), CUZK_E_MEMORY);
    cuzk_prover_destroy(made);
    cuzk_prover_destroy(whole);
    drop_bellperson(&b);
}

/* ---- a device at fault ---- */

/* A device whose answers pass through here: the sum number `wrong` is doubled. */
typedef struct {
    const cuzk_prove_device *right;
    int calls, wrong;
} faulty;

static void spoil(faulty *f, cuzk_group_id group, cuzk_jac *sum)
{
    if (f->calls++ == f->wrong) {
        cuzk_curve_get(CUZK_CURVE_BN254)->g[group].dbl(sum, sum);
    }
}

static cuzk_status faulty_begin(void *context, cuzk_device_proof **out, const cuzk_witness *witness,
                                cuzk_error *err)
{
    const faulty *f = context;
    return f->right->begin(f->right->context, out, witness, err);
}

static cuzk_status faulty_run(void *context, cuzk_device_proof *proof, cuzk_sums sums,
                              cuzk_error *err)
{
    const faulty *f = context;
    return f->right->run(f->right->context, proof, sums, err);
}

static cuzk_status faulty_end(void *context, cuzk_device_proof *proof, cuzk_jac *h,
                              cuzk_query_set *sets, cuzk_error *err)
{
    faulty *f = context;
    cuzk_status status = f->right->end(f->right->context, proof, h, sets, err);
    spoil(f, CUZK_G1, h);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < sets[i].n_queries; k++) {
            spoil(f, sets[i].queries[k].group, &sets[i].queries[k].sum);
        }
    }
    return status;
}

static void faulty_drop(void *context, cuzk_device_proof *proof)
{
    const faulty *f = context;
    f->right->drop(f->right->context, proof);
}

/* Sums in pieces, as where memory is short. Small runs do so in test_bellperson. */
static void test_pieces(void **state)
{
    if (device_test_is_small()) {
        skip();
    }
    device_params.piece = 64;
    test_circom(state);
    test_bellperson(state);
    device_params.piece = 0;
}

/* Too little memory is refused with the numbers. */
static void test_memory(void **state)
{
    (void)state;
    cuzk_error error = {0};
    support_bytes bytes = support_zkey("circom/bn254/multiplier2", pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_prover *prover = NULL;
    cuzk_device_prover *d = NULL;
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    cuzk_device_prover_params params = {.memory_limit = 1000};
    assert_int_equal(cuzk_device_prover_create(&d, &device, prover, &params, &error),
                     CUZK_E_MEMORY);
    assert_non_null(strstr(error.text, "MiB of its points streamed (key 0.0, "));
    error = (cuzk_error){0};
    must(cuzk_device_prover_create(&d, &device, prover, NULL, &error), &error);
    const cuzk_arena *arena = cuzk_device_prover_memory(d);
    size_t sum = 0;
    for (int i = 0; i < CUZK_ARENA_PURPOSES; i++) {
        assert_int_equal(arena->bytes[i] > 0, i != CUZK_ARENA_STAGING);
        sum += arena->bytes[i];
    }
    assert_int_equal(sum, arena->total);
    cuzk_device_prover_destroy(d);
    /* exactly as much is enough */
    params.memory_limit = sum;
    must(cuzk_device_prover_create(&d, &device, prover, &params, &error), &error);
    cuzk_device_prover_destroy(d);
    cuzk_prover_destroy(prover);
    free(bytes.data);
}

/* ---- several at once ---- */

typedef struct {
    const cuzk_prover *prover;
    cuzk_device_prover *device;
    const cuzk_witness *witness;
    const cuzk_blinding *blinding;
    const cuzk_proof_points *expected;
    unsigned n_right;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < 3; i++) {
        cuzk_error error = {0};
        cuzk_proof_points found;
        cuzk_prove_params params = {.test_blinding = w->blinding,
                                    .device = cuzk_device_prover_get(w->device)};
        if (cuzk_prover_prove(w->prover, &found, w->witness, &params, NULL, &error) == CUZK_OK) {
            w->n_right += support_same_proof(&found, w->expected) ? 1 : 0;
        } else {
            printf("%s\n", error.text);
        }
    }
    return NULL;
}

/* Spans of all proofs, as a bench collects them. */
typedef struct {
    size_t n_proofs, n_kernels;
    bool in_order; /* no span ends before it begins; those of a stream do not overlap */
} span_check;

static void check_spans(void *ctx, const cuzk_device_span *spans, size_t n,
                        const cuzk_device_clock_fit *fit)
{
    span_check *c = ctx;
    c->n_proofs++;
    assert_true(fit->error_ns < UINT64_C(60000000000));
    for (size_t i = 0; i < n; i++) {
        c->n_kernels += cuzk_time_is_kernel(spans[i].kind);
        c->in_order &= spans[i].begin_ns <= spans[i].end_ns;
    }
}

/* More threads than there are places for proofs. */
static void test_workers(void **state)
{
    enum { WORKERS = 4 };
    (void)state;
    cuzk_error error = {0};
    const char *name = "circom/bn254/multiplier2";
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
    span_check spans = {.in_order = true};
    support_fixed_rs(name, key.curve, &blinding, &expected);
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    device_params.spans = check_spans;
    device_params.spans_ctx = &spans;
    cuzk_device_prover *d = device_prover_of(prover);
    device_params.spans = NULL;
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){prover, d, w, &blinding, &expected, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].n_right, 3);
    }
    assert_int_equal(spans.n_proofs, 3 * WORKERS);
    assert_true(spans.n_kernels >= 3 * WORKERS);
    assert_true(spans.in_order);
    cuzk_device_prover_destroy(d);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

/* A proof that is dropped, before and after its kernels, leaves its place to the next. */
static void test_dropped(void **state)
{
    (void)state;
    cuzk_error error = {0};
    const char *name = "circom/bn254/multiplier2";
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    cuzk_device_prover *d = device_prover_of(prover);
    const cuzk_prove_device *face = cuzk_device_prover_get(d);
    for (int i = 0; i < 6; i++) { /* more often than there are places */
        cuzk_device_proof *proof = NULL;
        must(face->begin(face->context, &proof, w, &error), &error);
        if (i == 3) {
            must(face->run(face->context, proof, CUZK_SUMS_ALL, &error), &error);
        }
        face->drop(face->context, proof);
    }
    cuzk_device_prover_destroy(d);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

/* Intervals that touch, overlap, hold one another, and others than kernels'. */
static void test_active(void **state)
{
    (void)state;
    cuzk_device_span spans[] = {
        {CUZK_TIME_SORT, 0, 50, 60},      {CUZK_TIME_ROWS, 0, 10, 20},
        {CUZK_TIME_GATHERED, 1, 15, 25},  {CUZK_TIME_UPLOAD, 1, 0, 100},
        {CUZK_TIME_ADDITIONS, 2, 16, 18}, {CUZK_TIME_REDUCTION, 0, 25, 30},
        {CUZK_TIME_WAIT, 0, 30, 50},      {CUZK_TIME_PAIRS, 0, 70, 70},
    };
    size_t n = sizeof spans / sizeof *spans;
    assert_int_equal(cuzk_device_spans_active_ns(spans, n), 30);
    assert_int_equal(cuzk_device_spans_active_ns(spans, 0), 0);
    assert_int_equal(cuzk_device_spans_active_ns(NULL, 0), 0);
}

static void test_wrong_sums(void **state)
{
    (void)state;
    cuzk_error error = {0};
    const char *name = "circom/bn254/multiplier2";
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &error), &error);
    cuzk_device_prover *d = device_prover_of(prover);
    for (int wrong = 0; wrong <= 5; wrong++) { /* H, A, B1, B2, C in some order, then none */
        faulty f = {.right = cuzk_device_prover_get(d), .wrong = wrong};
        cuzk_prove_device face = {"faulty",   &f,         false,      faulty_begin,
                                  faulty_run, faulty_end, faulty_drop};
        cuzk_prove_params params = {.device = &face, .without_self_check = true};
        cuzk_proof_points proof;
        memset(&proof, 0xcc, sizeof proof);
        error = (cuzk_error){0};
        cuzk_status status = cuzk_prover_prove(prover, &proof, w, &params, pool, &error);
        assert_int_equal(f.calls, 5);
        if (wrong == 5) {
            assert_int_equal(status, CUZK_OK);
            continue;
        }
        assert_int_equal(status, CUZK_E_UNSATISFIED);
        assert_non_null(strstr(error.text, "faulty"));
        for (size_t i = 0; i < sizeof proof; i++) {
            assert_int_equal(((const unsigned char *)&proof)[i], 0xcc);
        }
    }
    cuzk_device_prover_destroy(d);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

int main(void)
{
    device_test_open();
    pool = device_test_pool();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circom),
                                       cmocka_unit_test(test_bellperson),
                                       cmocka_unit_test(test_circom_streamed),
                                       cmocka_unit_test(test_device_decodes),
                                       cmocka_unit_test(test_made),
                                       cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_workers),
                                       cmocka_unit_test(test_dropped),
                                       cmocka_unit_test(test_active),
                                       cmocka_unit_test(test_wrong_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
