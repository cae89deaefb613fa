/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spans that device events make of a proof hold what their kind says: a kernel's span begins at
 * the event directly before its first kernel and no copy lies in it; every kernel and every copy
 * between host and device lies in a span of its kind. Between the code and the emulated driver all
 * that is put on streams is written down; each of it takes a second. */
#include "backend/cuda/device_prover_impl.h"
#include "device_test.h"
#include "groth16/support.h"

enum { OPS_MAX = 1 << 16, SECOND = 1000 /* ms */ };

typedef enum { KERNEL, UP, DOWN, INSIDE, FILL, EVENT } op_kind;

static const char *const op_names[] = {"a kernel", "a copy up", "a copy down",
                                       "a copy",   "a fill",    "an event"};

/* What was put on streams, in order: number i began after i seconds. */
static struct {
    op_kind kind;
    CUstream stream;
    CUevent event;
} ops[OPS_MAX];
static unsigned n_ops;

static cuzk_cuda_api table;
static cuzk_cuda_device watched;

static void put(op_kind kind, CUstream stream, CUevent event)
{
    assert_true(n_ops < OPS_MAX);
    ops[n_ops].kind = kind;
    ops[n_ops].stream = stream;
    ops[n_ops++].event = event;
}

/* ---- the driver ---- */

#define WATCHED(X)                                                                                 \
    X(cuLaunchKernel, KERNEL,                                                                      \
      (CUfunction f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,       \
       unsigned h, CUstream s, void **p, void **x),                                                \
      (f, a, b, c, d, e, g, h, s, p, x))                                                           \
    X(cuMemcpyHtoDAsync, UP, (CUdeviceptr d, const void *p, size_t n, CUstream s), (d, p, n, s))   \
    X(cuMemcpyDtoHAsync, DOWN, (void *p, CUdeviceptr d, size_t n, CUstream s), (p, d, n, s))       \
    X(cuMemcpyDtoDAsync, INSIDE, (CUdeviceptr d, CUdeviceptr f, size_t n, CUstream s),             \
      (d, f, n, s))                                                                                \
    X(cuMemcpy2DAsync, INSIDE, (const CUDA_MEMCPY2D *c, CUstream s), (c, s))                       \
    X(cuMemsetD8Async, FILL, (CUdeviceptr d, unsigned char b, size_t n, CUstream s), (d, b, n, s))
#define WATCH(name, kind, params, args)                                                            \
    static CUresult watch_##name params                                                            \
    {                                                                                              \
        put(kind, s, NULL);                                                                        \
        return CUZK_CU(device.api, name) args;                                                     \
    }
WATCHED(WATCH)

static CUresult watch_cuEventRecord(CUevent event, CUstream stream)
{
    put(EVENT, stream, event);
    return CUDA_SUCCESS;
}

/* When it was recorded last. */
static float when(CUevent event)
{
    unsigned i = n_ops;
    while (i > 0 && ops[i - 1].event != event) {
        i--;
    }
    assert_true(i > 0);
    return (float)(i - 1) * SECOND;
}

static CUresult watch_cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    *ms = when(end) - when(begin);
    return CUDA_SUCCESS;
}

static void watch(void)
{
    table = *device.api;
#define SET(name, kind, params, args) CUZK_CU(&table, name) = watch_##name;
    WATCHED(SET)
    CUZK_CU(&table, cuEventRecord) = watch_cuEventRecord;
    CUZK_CU(&table, cuEventElapsedTime) = watch_cuEventElapsedTime;
    watched = device;
    watched.api = &table;
}

/* ---- what lies in the spans ---- */

static bool is_of(op_kind op, cuzk_time_kind span)
{
    return op == KERNEL ? cuzk_time_is_kernel(span)
           : op == UP   ? span == CUZK_TIME_UPLOAD
                        : span == CUZK_TIME_DOWNLOAD;
}

/* A span: the numbers of its two events. */
typedef struct {
    unsigned begin, end;
    cuzk_time_kind kind;
} seen_span;

static unsigned n_kernel_spans;

static void check_span(const seen_span *span)
{
    CUstream stream = ops[span->begin].stream;
    assert_int_equal(ops[span->begin].kind, EVENT);
    assert_int_equal(ops[span->end].kind, EVENT);
    assert_ptr_equal(ops[span->end].stream, stream);
    if (!cuzk_time_is_kernel(span->kind)) {
        return;
    }
    n_kernel_spans++;
    unsigned next = span->begin + 1;
    if (ops[next].kind != KERNEL || ops[next].stream != stream) {
        fail_msg("%s: after the event that begins it comes %s, not its first kernel",
                 cuzk_time_kind_name(span->kind), op_names[ops[next].kind]);
    }
    for (unsigned i = next; i < span->end; i++) {
        op_kind kind = ops[i].kind;
        if (ops[i].stream == stream && (kind == UP || kind == DOWN || kind == INSIDE)) {
            fail_msg("%s: %s lies between its events", cuzk_time_kind_name(span->kind),
                     op_names[kind]);
        }
    }
}

/* A streamed key's way to the device is not a proof's: it has a stream of its own. */
static bool is_of_proof(unsigned i, CUstream uploads)
{
    return ops[i].kind == KERNEL || ops[i].kind == DOWN ||
           (ops[i].kind == UP && ops[i].stream == uploads);
}

/* Every kernel and copy of the proof is in a span of its kind. */
static void check_ops(const seen_span *spans, size_t n, CUstream uploads)
{
    for (unsigned i = 0; i < n_ops; i++) {
        bool is_told = !is_of_proof(i, uploads);
        for (size_t k = 0; k < n && !is_told; k++) {
            is_told = spans[k].begin < i && i < spans[k].end &&
                      ops[spans[k].begin].stream == ops[i].stream &&
                      is_of(ops[i].kind, spans[k].kind);
        }
        if (!is_told) {
            fail_msg("number %u of the proof, %s, lies in no span of its kind", i,
                     op_names[ops[i].kind]);
        }
    }
}

/* The first copy of a proof's witness: of each proof on a stream of its own. */
static unsigned find_upload(unsigned n_before)
{
    CUstream before[CUZK_CARD_SLOTS_MAX];
    unsigned n = 0, i = 0;
    for (;; i++) {
        assert_true(i < n_ops);
        bool is_new = ops[i].kind == UP;
        for (unsigned k = 0; k < n; k++) {
            is_new = is_new && ops[i].stream != before[k];
        }
        if (is_new && n == n_before) {
            return i;
        }
        if (is_new) {
            before[n++] = ops[i].stream;
        }
    }
}

/* The spans of proofs that one pass serves, together. */
static struct {
    seen_span spans[OPS_MAX];
    size_t n;
} together;
static unsigned n_at_once = 1; /* proofs whose witnesses are copied before the first one runs */

/* The witness is copied first, so that its span, and the event before it, tie the clocks. */
static void take_spans(void *ctx, const cuzk_device_span *spans, size_t n,
                       const cuzk_device_clock_fit *fit)
{
    const uint64_t second = UINT64_C(1000000000);
    unsigned *n_proofs = ctx, upload = find_upload(*n_proofs % n_at_once);
    uint64_t upload_ns = 0;
    (void)fit;
    assert_in_range(upload, 1, n_ops - 1);
    for (size_t i = 0; i < n; i++) {
        upload_ns = spans[i].kind == CUZK_TIME_UPLOAD ? spans[i].begin_ns : upload_ns;
    }
    assert_true(upload_ns != 0);
    seen_span *seen = calloc(n, sizeof *seen);
    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        assert_true(spans[i].begin_ns >= upload_ns && spans[i].end_ns >= spans[i].begin_ns);
        seen[i] = (seen_span){
            (unsigned)(upload - 1 + (spans[i].begin_ns - upload_ns + second / 2) / second),
            (unsigned)(upload - 1 + (spans[i].end_ns - upload_ns + second / 2) / second),
            spans[i].kind};
        assert_true(seen[i].end < n_ops);
        check_span(&seen[i]);
    }
    if (n_at_once == 1) {
        check_ops(seen, n, ops[upload].stream);
    } else {
        assert_true(together.n + n <= OPS_MAX);
        memcpy(together.spans + together.n, seen, n * sizeof *seen);
        together.n += n;
    }
    free(seen);
    ++*n_proofs;
}

/* ---- proofs ---- */

typedef struct {
    support_bytes bytes;
    cuzk_zkey key;
    cuzk_witness *witness;
    cuzk_prover *prover;
} circuit;

static circuit open_circuit(const char *name)
{
    circuit c = {.bytes = support_zkey(name, NULL)};
    cuzk_error error = {0};
    c.key = support_open_zkey(&c.bytes);
    c.witness = support_witness(name, c.key.n_public + 1);
    must(cuzk_prover_create_zkey(&c.prover, &c.key, NULL, NULL, NULL, &error), &error);
    return c;
}

static void close_circuit(circuit *c)
{
    cuzk_prover_destroy(c->prover);
    cuzk_witness_destroy(c->witness);
    free(c->bytes.data);
}

/* Two proofs, the second with what the first left behind. Returns the arena of the prover. */
static cuzk_arena prove(const circuit *c, cuzk_device_prover_params params, bool is_apart,
                        cuzk_card_mode mode)
{
    cuzk_error error = {0};
    cuzk_device_prover *d = NULL;
    unsigned n_proofs = 0;
    params.spans = take_spans;
    params.spans_ctx = &n_proofs;
    n_ops = n_kernel_spans = 0;
    must(cuzk_device_prover_create(&d, &watched, c->prover, &params, &error), &error);
    assert_int_equal(cuzk_device_prover_plan(d)->is_apart, is_apart);
    assert_int_equal(cuzk_device_prover_plan(d)->mode, mode);
    cuzk_arena arena = *cuzk_device_prover_memory(d);
    for (unsigned i = 0; i < 2; i++) {
        cuzk_proof_points proof;
        cuzk_prove_params prove_params = {.device = cuzk_device_prover_get(d)};
        n_ops = 0;
        must(cuzk_prover_prove(c->prover, &proof, c->witness, &prove_params, NULL, &error), &error);
    }
    assert_int_equal(n_proofs, 2);
    assert_true(n_kernel_spans > 2 * 10);
    cuzk_device_prover_destroy(d);
    return arena;
}

/* The sums on streams of their own, and one after the other where that takes too much memory. */
static void test_resident(void **state)
{
    (void)state;
    circuit c = open_circuit("circom/bn254/multiplier2");
    cuzk_device_prover_params params = {0};
    cuzk_arena arena = prove(&c, params, true, CUZK_CARD_RESIDENT);
    params.memory_limit = arena.total - 1;
    prove(&c, params, false, CUZK_CARD_RESIDENT);
    close_circuit(&c);
}

/* The sums in pieces, of a key that is there and of one that is streamed. */
static void test_pieces(void **state)
{
    (void)state;
    circuit c = open_circuit("circom/bn254/poseidon2");
    cuzk_device_prover_params params = {.piece = 128};
    cuzk_arena arena = prove(&c, params, false, CUZK_CARD_RESIDENT);
    params.memory_limit = arena.total - arena.bytes[CUZK_ARENA_KEY] / 2;
    prove(&c, params, false, CUZK_CARD_STREAMED);
    close_circuit(&c);
}

/* What comes back of a proof; whether it is right others check. */
static void end(const cuzk_prover *prover, const cuzk_prove_device *face, cuzk_device_proof *proof)
{
    cuzk_error error = {0};
    cuzk_jac h;
    cuzk_query_set sets[CUZK_PROVER_SETS];
    memcpy(sets, prover->sets, sizeof sets);
    must(face->end(face->context, proof, &h, sets, &error), &error);
}

/* One pass over a streamed key for two proofs: whose clock has what the kernels of a sum are for
 * has the copies between them, too. */
static void test_pass_for_two(void **state)
{
    (void)state;
    circuit c = open_circuit("circom/bn254/poseidon2");
    cuzk_error error = {0};
    cuzk_device_prover *d = NULL;
    unsigned n_proofs = 0;
    cuzk_device_prover_params params = {.piece = 128, .spans = take_spans, .spans_ctx = &n_proofs};
    must(cuzk_device_prover_create(&d, &watched, c.prover, &params, &error), &error);
    cuzk_arena arena = *cuzk_device_prover_memory(d);
    cuzk_device_prover_destroy(d);
    params.memory_limit = arena.total - arena.bytes[CUZK_ARENA_KEY] / 2;
    must(cuzk_device_prover_create(&d, &watched, c.prover, &params, &error), &error);
    assert_int_equal(d->plan.mode, CUZK_CARD_STREAMED);
    assert_true(d->plan.n_slots >= 2);
    const cuzk_prove_device *face = cuzk_device_prover_get(d);
    cuzk_device_proof *proofs[2];
    n_at_once = 2;
    n_ops = n_kernel_spans = 0;
    for (int i = 0; i < 2; i++) {
        must(face->begin(face->context, &proofs[i], c.witness, &error), &error);
    }
    for (int i = 0; i < 2; i++) {
        must(face->run(face->context, proofs[i], CUZK_SUMS_ALL, &error), &error);
    }
    for (int i = 0; i < 2; i++) {
        end(c.prover, face, proofs[i]);
    }
    assert_int_equal(n_proofs, 2);
    check_ops(together.spans, together.n, ops[find_upload(0)].stream);
    n_at_once = 1;
    cuzk_device_prover_destroy(d);
    close_circuit(&c);
}

int main(void)
{
    device_test_open();
    watch();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resident),
                                       cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_pass_for_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
