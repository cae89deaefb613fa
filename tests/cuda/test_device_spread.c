/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A key that comes to several devices: from one to the next, or in one pass for all of them. The
 * same bytes lie everywhere, each device proves rightly, host memory is read once, and a copy that
 * fails at any point leaves the others unharmed. */
#include "backend/cuda/byte_summer.h"
#include "backend/cuda/device_prover_impl.h"
#include "faulty_driver.h"
#include "groth16/support.h"
#include "whole_key.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_DEVICES = 3 };

static cuzk_cuda_device devices[N_DEVICES];

/* ---- what crosses the bus ---- */

static cuzk_cuda_api counting;
static const cuzk_cuda_api *plain;
static atomic_ullong up_bytes, peer_bytes;
static atomic_uint n_launches, n_retains, n_releases;
static atomic_int bad_copy; /* the copy between devices, counted from 1, that flips a bit */

static CUresult count_up(CUdeviceptr to, const void *from, size_t n, CUstream stream)
{
    up_bytes += n;
    return CUZK_CU(plain, cuMemcpyHtoDAsync)(to, from, n, stream);
}

static CUresult count_peer(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n,
                           CUstream stream)
{
    peer_bytes += n;
    CUresult result = CUZK_CU(plain, cuMemcpyPeerAsync)(to, tc, from, fc, n, stream);
    if (bad_copy > 0 && --bad_copy == 0) {
        ((unsigned char *)(uintptr_t)to)[n / 2] ^= 1;
    }
    return result;
}

static CUresult count_launches(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **p,
                               void **x)
{
    n_launches++;
    return CUZK_CU(plain, cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, s, p, x);
}

static CUresult count_retains(CUcontext *out, CUdevice d)
{
    n_retains++;
    return CUZK_CU(plain, cuDevicePrimaryCtxRetain)(out, d);
}

static CUresult count_releases(CUdevice d)
{
    n_releases++;
    return CUZK_CU(plain, cuDevicePrimaryCtxRelease)(d);
}

static void open_devices(void)
{
    setenv("CUZK_EMULATED_DEVICES", "3", 1);
    device_test_open();
    plain = device.api;
    counting = *plain;
    CUZK_CU(&counting, cuMemcpyHtoDAsync) = count_up;
    CUZK_CU(&counting, cuMemcpyPeerAsync) = count_peer;
    CUZK_CU(&counting, cuLaunchKernel) = count_launches;
    CUZK_CU(&counting, cuDevicePrimaryCtxRetain) = count_retains;
    CUZK_CU(&counting, cuDevicePrimaryCtxRelease) = count_releases;
    for (int i = 0; i < N_DEVICES; i++) {
        devices[i] = device;
        devices[i].api = &counting;
        devices[i].device = i;
        assert_int_equal(CUZK_CU(plain, cuDevicePrimaryCtxRetain)(&devices[i].context, i), 0);
    }
}

/* ---- keys ---- */

static whole_key circom_key(void)
{
    return whole_key_circom("circom/bn254/multiplier2");
}

static cuzk_device_prover *put(const whole_key *k, const cuzk_cuda_device *on,
                               const cuzk_device_prover_params *params)
{
    cuzk_error error = {0};
    cuzk_device_prover *d = NULL;
    must(cuzk_device_prover_create(&d, on, k->prover, params, &error), &error);
    return d;
}

static void expect_proof(const whole_key *k, const cuzk_device_prover *d)
{
    cuzk_error error = {0};
    cuzk_prove_params params = {.test_blinding = &k->blinding, .device = cuzk_device_prover_get(d)};
    cuzk_proof_points found;
    must(cuzk_prover_prove(k->prover, &found, k->witness, &params, NULL, &error), &error);
    assert_true(support_same_proof(&found, &k->expected));
}

static void *bytes_of(const cuzk_device_prover *d, size_t at, size_t n)
{
    cuzk_error error = {0};
    void *out = malloc(n + 1);
    DRIVER(cuCtxSetCurrent, (d->device->context));
    DRIVER(cuMemcpyDtoH, (out, cuzk_prover_address(d, at), n));
    return out;
}

static void expect_same_place(const cuzk_device_prover *a, size_t at_a, const cuzk_device_prover *b,
                              size_t at_b, size_t n)
{
    void *x = bytes_of(a, at_a, n), *y = bytes_of(b, at_b, n);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

/* Circuit, points, images. */
static void expect_same_key(const cuzk_device_prover *a, const cuzk_device_prover *b)
{
    size_t images = cuzk_card_images(&a->plan, &a->need);
    assert_int_equal(images, cuzk_card_images(&b->plan, &b->need));
    for (unsigned q = 0; q < a->need.n_queries; q++) {
        size_t each = a->prover->curve->g[a->need.queries[q].group].affine_bytes;
        size_t n = a->need.queries[q].n * each;
        expect_same_place(a, a->at.queries[q], b, b->at.queries[q], n);
        if (q == 0 && images != 0) {
            expect_same_place(a, a->at.queries[0] + images, b, b->at.queries[0] + images, n);
        }
    }
    assert_true(a->has_sums && b->has_sums);
    assert_memory_equal(a->sums, b->sums, sizeof a->sums);
}

/* ---- the emulated devices ---- */

static void touch_with_kernel(CUdeviceptr at)
{
    cuzk_error error = {0};
    cuzk_byte_summer summer;
    uint64_t sum;
    must(cuzk_byte_summer_open(&summer, plain, &error), &error);
    (void)!cuzk_byte_sum(&summer, &sum, at, 256, NULL, &error);
}

/* Memory of one device is not another's: not for copies, and not for kernels. */
static void test_memories(void **state)
{
    (void)state;
    cuzk_error error = {0};
    CUdeviceptr p[2];
    char bytes[256] = {0};
    for (int i = 0; i < 2; i++) {
        DRIVER(cuCtxSetCurrent, (devices[i].context));
        DRIVER(cuMemAlloc, (&p[i], sizeof bytes));
        DRIVER(cuMemcpyHtoD, (p[i], bytes, sizeof bytes));
    }
    assert_int_equal(CUZK_CU(plain, cuMemcpyHtoD)(p[0], bytes, 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(CUZK_CU(plain, cuMemcpyDtoH)(bytes, p[0], 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(CUZK_CU(plain, cuMemsetD8)(p[0], 0, 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(CUZK_CU(plain, cuMemcpyDtoDAsync)(p[1], p[0], 8, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    touch_with_kernel(p[1]); /* its own */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        touch_with_kernel(p[0]);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    for (int i = 0; i < 2; i++) {
        DRIVER(cuMemFree, (p[i]));
    }
}

/* ---- checksums ---- */

/* Each word counts, and so does where it stands. */
static void test_sums(void **state)
{
    (void)state;
    enum { WORDS = 70000 }; /* more than threads */
    static const unsigned places[] = {0, 1, 65535, 65536, WORDS - 1};
    cuzk_error error = {0};
    cuzk_byte_summer summer;
    DRIVER(cuCtxSetCurrent, (devices[0].context));
    must(cuzk_byte_summer_open(&summer, plain, &error), &error);
    uint64_t *words = calloc(WORDS, 8), sums[16];
    unsigned n = 0;
    for (unsigned i = 0; i <= sizeof places / sizeof *places; i++) {
        for (unsigned flips = 0; flips < (i == 0 ? 1 : 2); flips++) {
            if (i > 0) { /* the highest bit of one word, of two words */
                words[places[i - 1]] ^= UINT64_C(1) << 63;
            }
            CUdeviceptr p = device_bytes(words, 8 * (size_t)WORDS);
            must(cuzk_byte_sum(&summer, &sums[n], p, 8 * (size_t)WORDS, NULL, &error), &error);
            n += flips == 0; /* flipped back it is the first one's */
            if (flips == 1) {
                uint64_t again;
                must(cuzk_byte_sum(&summer, &again, p, 8 * (size_t)WORDS, NULL, &error), &error);
                assert_true(again == sums[0]);
            }
            free_all(&p, 1);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i; j++) {
            assert_true(sums[i] != sums[j]);
        }
    }
    free(words);
    cuzk_byte_summer_close(&summer);
}

/* ---- from device to device ---- */

static void test_peers(void **state)
{
    (void)state;
    whole_key k = circom_key();
    cuzk_device_prover *on[N_DEVICES];
    cuzk_device_prover_params params = {.is_peer = true};
    on[0] = put(&k, &devices[0], &params);
    assert_int_equal(cuzk_device_prover_arrival(on[0])->way, CUZK_ARRIVAL_FILE);
    assert_true(cuzk_device_prover_arrival(on[0])->may_give);
    for (int i = 1; i < N_DEVICES; i++) { /* each from the one before, which was copied itself */
        up_bytes = peer_bytes = 0;
        params.peer = on[i - 1];
        on[i] = put(&k, &devices[i], &params);
        const cuzk_arrival *a = cuzk_device_prover_arrival(on[i]);
        assert_int_equal(a->way, CUZK_ARRIVAL_PEER);
        assert_int_equal(a->from, i - 1);
        assert_string_equal(a->why_not, "");
        assert_int_equal(up_bytes, 0); /* of points nothing came from the host */
        assert_true(peer_bytes >= a->n_bytes);
        assert_int_equal(cuzk_device_prover_stream(on[i]).n_read_bytes, 0);
        expect_same_key(on[0], on[i]);
    }
    for (int i = 0; i < N_DEVICES; i++) {
        expect_proof(&k, on[i]);
    }
    cuzk_device_prover_destroy(on[0]); /* the others do not need it */
    expect_proof(&k, on[1]);
    for (int i = 1; i < N_DEVICES; i++) {
        cuzk_device_prover_destroy(on[i]);
    }
    whole_key_drop(&k);
}

/* Whatever is against it, the key comes from the host, and the proof is right. */
static void expect_from_host(const whole_key *k, const cuzk_device_prover_params *params,
                             const char *why, bool is_bad_link)
{
    cuzk_device_prover *d = put(k, &devices[1], params);
    const cuzk_arrival *a = cuzk_device_prover_arrival(d);
    assert_int_equal(a->way, CUZK_ARRIVAL_FILE);
    if (strstr(a->why_not, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", a->why_not, why);
    }
    assert_true(a->is_bad_link == is_bad_link);
    expect_same_key(params->peer, d);
    expect_proof(k, d);
    cuzk_device_prover_destroy(d);
}

static bool stays_for(void *ctx)
{
    unsigned *n = ctx;
    return (*n)-- > 0;
}

static void test_not_from_peer(void **state)
{
    (void)state;
    whole_key k = circom_key();
    cuzk_device_prover_params params = {.is_peer = true};
    cuzk_device_prover *first = put(&k, &devices[0], &params);
    params.peer = first;

    setenv("CUZK_EMULATED_PEERS", "none", 1);
    expect_from_host(&k, &params, "cuda:0: the cards cannot read each other's memory", false);
    unsetenv("CUZK_EMULATED_PEERS");

    for (unsigned n = 0; n < 4; n++) { /* it is wanted away before copy n */
        unsigned left = n;
        params.peer_stays = stays_for;
        params.peer_ctx = &left;
        expect_from_host(&k, &params, "it is wanted away", false);
    }
    params.peer_stays = NULL;

    for (int n = 1; n < 6; n++) { /* a bit of copy n is wrong: the sums tell where */
        bad_copy = n;
        expect_from_host(&k, &params,
                         n == 1 ? "the circuit has the checksum " : " has the checksum ", true);
    }
    first->has_sums = false;
    bad_copy = 0;
    cuzk_device_prover *d = put(&k, &devices[1], &params);
    assert_non_null(strstr(cuzk_device_prover_arrival(d)->why_not, "not resident there"));
    cuzk_device_prover_destroy(d);
    expect_proof(&k, first);
    cuzk_device_prover_destroy(first);
    whole_key_drop(&k);
}

/* The source is gone as soon as nothing of it is read: after the copy, before what came is summed,
 * or when it is given up and the key comes from the host instead. */
typedef struct {
    cuzk_device_prover *source;
    unsigned n_pieces; /* that it stays for */
    unsigned n_done;
    unsigned n_launches; /* before it was done */
} leaving;

static bool leaving_stays(void *ctx)
{
    leaving *l = ctx;
    return l->n_pieces-- > 0;
}

static void leaving_done(void *ctx)
{
    cuzk_error error = {0};
    leaving *l = ctx;
    l->n_done++;
    l->n_launches = n_launches;
    cuzk_device_prover_destroy(l->source);
    DRIVER(cuCtxSetCurrent, (devices[1].context)); /* an eviction is another thread's */
}

static void test_source_leaves(void **state)
{
    (void)state;
    static const unsigned n_pieces[] = {0, 3, 1000};
    whole_key k = circom_key();
    for (unsigned i = 0; i < 3; i++) {
        cuzk_device_prover_params params = {.is_peer = true};
        leaving l = {.source = put(&k, &devices[0], &params), .n_pieces = n_pieces[i]};
        params.peer = l.source;
        params.peer_stays = leaving_stays;
        params.peer_done = leaving_done;
        params.peer_ctx = &l;
        cuzk_device_prover *d = put(&k, &devices[1], &params);
        assert_int_equal(l.n_done, 1);
        assert_int_equal(cuzk_device_prover_arrival(d)->way,
                         i == 2 ? CUZK_ARRIVAL_PEER : CUZK_ARRIVAL_FILE);
        assert_true(n_launches > l.n_launches); /* to sum what came it was not needed */
        expect_proof(&k, d);
        cuzk_device_prover_destroy(d);
    }
    whole_key_drop(&k);
}

/* ---- every call fails once ---- */

static whole_key faulty_key;
static cuzk_device_prover *faulty_peer;
static unsigned n_of_create;

static cuzk_status copy_and_destroy(cuzk_arrival *arrival, cuzk_error *error)
{
    cuzk_device_prover_params params = {.is_peer = true, .peer = faulty_peer};
    cuzk_device_prover *d = NULL;
    cuzk_status status =
        cuzk_device_prover_create(&d, &faulty_device, faulty_key.prover, &params, error);
    n_of_create = faulty.n_calls;
    if (status == CUZK_OK) {
        *arrival = *cuzk_device_prover_arrival(d);
    }
    cuzk_device_prover_destroy(d);
    return status;
}

/* The device that copies: a call that fails once costs it the copy at most; one from which on all
 * fail costs it the load. Nothing is held afterwards, and the other one proves. */
static void test_faults(void **state)
{
    (void)state;
    cuzk_device_prover_params params = {.is_peer = true};
    faulty_key = circom_key();
    faulty_peer = put(&faulty_key, &devices[0], &params);
    device = devices[1];
    faulty_begin();
    cuzk_arrival arrival = {0};
    cuzk_error error = {0};
    must(copy_and_destroy(&arrival, &error), &error);
    assert_int_equal(arrival.way, CUZK_ARRIVAL_PEER);
    unsigned n_calls = n_of_create, n_from_host = 0, n_failed = 0;
    faulty_expect_nothing_held();
    for (unsigned n = 0; n < n_calls; n++) {
        bool is_of_copy = false;
        for (int for_good = 0; for_good < 2; for_good++) {
            error = (cuzk_error){0};
            arrival = (cuzk_arrival){0};
            faulty_fail(NULL, n, CUDA_ERROR_ILLEGAL_ADDRESS, for_good == 1);
            cuzk_status status = copy_and_destroy(&arrival, &error);
            const char *failed = faulty.failed;
            faulty_mend();
            assert_non_null(failed);
            if (status == CUZK_OK) { /* a single fault of the copy */
                assert_int_equal(for_good, 0);
                if (arrival.way != CUZK_ARRIVAL_FILE || strstr(arrival.why_not, failed) == NULL) {
                    fail_msg("call %u, %s: \"%s\"", n, failed, arrival.why_not);
                }
                n_from_host++;
                is_of_copy = true;
            } else {
                assert_int_equal(status,
                                 CUZK_E_DEVICE_LOST); /* a copy that fails is not the end: */
                assert_non_null(strstr(error.text, for_good == 1 ? "(700)" : failed));
                if (is_of_copy) { /* what broke it comes first */
                    const char *from_peer = strstr(error.text, "not from cuda:0: ");
                    assert_non_null(from_peer);
                    assert_non_null(strstr(from_peer, failed));
                }
                n_failed++;
            }
            faulty_expect_nothing_held();
        }
    }
    assert_true(n_from_host >= 8 && n_failed > n_calls); /* the copy's calls, and all others */
    expect_proof(&faulty_key, faulty_peer);

    error = (cuzk_error){0};
    faulty_fail("cuMemAlloc", 0, CUDA_ERROR_OUT_OF_MEMORY, true);
    assert_int_equal(copy_and_destroy(&arrival, &error), CUZK_E_MEMORY);
    faulty_mend();
    faulty_expect_nothing_held();
    expect_proof(&faulty_key, faulty_peer);
    cuzk_device_prover_destroy(faulty_peer);
    whole_key_drop(&faulty_key);
}

static cuzk_status load_alone(bool *may_give, cuzk_error *error)
{
    cuzk_device_prover_params params = {.is_peer = true};
    cuzk_device_prover *d = NULL;
    cuzk_status status =
        cuzk_device_prover_create(&d, &faulty_device, faulty_key.prover, &params, error);
    n_of_create = faulty.n_calls;
    *may_give = status == CUZK_OK && cuzk_device_prover_arrival(d)->may_give;
    cuzk_device_prover_destroy(d);
    return status;
}

/* Memory for the sums is nobody's plan: where there is none for a module or a kernel of theirs, the
 * key is there, but nobody copies it. */
static void test_no_sums(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuModuleLoadData", "cuModuleGetFunction", "cuMemAlloc",
                                        "cuLaunchKernel"};
    cuzk_error error = {0};
    bool may_give = false;
    device = devices[1];
    faulty_key = circom_key();
    faulty_begin();
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        faulty_fail(calls[i], UINT_MAX, CUDA_ERROR_OUT_OF_MEMORY, false);
        must(load_alone(&may_give, &error), &error);
        assert_true(may_give);
        unsigned last = n_of_create - 1;
        faulty_fail(calls[i], last, CUDA_ERROR_OUT_OF_MEMORY, false);
        must(load_alone(&may_give, &error), &error);
        assert_non_null(faulty.failed);
        assert_false(may_give);
        faulty_fail(calls[i], last, CUDA_ERROR_ILLEGAL_ADDRESS, false); /* but a lost device is */
        assert_int_equal(load_alone(&may_give, &error), CUZK_E_DEVICE_LOST);
        cuzk_error_clear(&error);
        faulty_mend();
        faulty_expect_nothing_held();
    }
    whole_key_drop(&faulty_key);
}

/* ---- one pass for all ---- */

typedef struct {
    const whole_key *key;
    const cuzk_cuda_device *device;
    cuzk_device_prover_params params;
    bool is_expected;
    cuzk_device_prover *prover;
    cuzk_status status;
    cuzk_error error;
} pass_load;

static void *run_load(void *ctx)
{
    pass_load *l = ctx;
    l->params.is_expected = &l->is_expected;
    l->status =
        cuzk_device_prover_create(&l->prover, l->device, l->key->prover, &l->params, &l->error);
    if (l->is_expected) {
        cuzk_key_pass_forget(l->params.pass);
    }
    return NULL;
}

static void load_together(pass_load *loads, unsigned n)
{
    pthread_t threads[N_DEVICES];
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_load, &loads[i]), 0);
    }
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static uint64_t key_bytes(const cuzk_device_prover *d)
{
    return cuzk_card_key_bytes(&d->need);
}

static void test_pass(void **state)
{
    (void)state;
    whole_key k = circom_key();
    cuzk_error error = {0};
    cuzk_pinned_pool *pinned = NULL;
    cuzk_key_pass *pass = NULL;
    must(cuzk_pinned_pool_create(&pinned, 1 << 30, &error), &error);
    must(cuzk_key_pass_create(&pass, &error), &error);
    for (unsigned n = 2; n <= N_DEVICES; n++) {
        pass_load loads[N_DEVICES];
        cuzk_key_pass_expect(pass, n);
        for (unsigned i = 0; i < n; i++) {
            loads[i] = (pass_load){.key = &k,
                                   .device = &devices[i],
                                   .is_expected = true,
                                   .params = {.is_peer = true, .pass = pass, .pinned = pinned}};
        }
        load_together(loads, n);
        uint64_t n_read = 0;
        for (unsigned i = 0; i < n; i++) {
            must(loads[i].status, &loads[i].error);
            cuzk_stream_stats stats = cuzk_device_prover_stream(loads[i].prover);
            assert_int_equal(stats.way, CUZK_STREAM_SHARED);
            assert_int_equal(stats.n_bytes, key_bytes(loads[i].prover));
            n_read += stats.n_read_bytes;
            expect_proof(&k, loads[i].prover);
        }
        assert_int_equal(n_read, key_bytes(loads[0].prover)); /* once, by whomever */
        assert_int_equal(cuzk_pinned_pool_use(pinned).used_bytes, 0);
        for (unsigned i = 1; i < n; i++) {
            expect_same_key(loads[0].prover, loads[i].prover);
        }
        for (unsigned i = 0; i < n; i++) {
            cuzk_device_prover_destroy(loads[i].prover);
        }
    }
    /* one alone, which nobody expected; and one without pinned memory */
    cuzk_device_prover_params params = {.pass = pass, .pinned = pinned};
    cuzk_device_prover *d = put(&k, &devices[0], &params);
    assert_int_equal(cuzk_device_prover_stream(d).n_read_bytes, key_bytes(d));
    assert_int_equal(cuzk_device_prover_stream(d).way, CUZK_STREAM_SHARED);
    cuzk_device_prover_destroy(d);
    params.pinned = NULL;
    d = put(&k, &devices[0], &params);
    assert_int_equal(cuzk_device_prover_stream(d).way, CUZK_STREAM_PAGEABLE);
    expect_proof(&k, d);
    cuzk_device_prover_destroy(d);
    assert_true(n_retains >= N_DEVICES);     /* the context in which buffers are pinned is held, */
    assert_int_equal(n_releases, n_retains); /* while there are any */
    cuzk_key_pass_destroy(pass);
    cuzk_pinned_pool_destroy(pinned);
    whole_key_drop(&k);
}

/* A device for which the key turns out to be too large is not waited for by those that share the
 * pass. */
static void test_streamed_leaves_pass(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_pinned_pool *pinned = NULL;
    cuzk_key_pass *pass = NULL;
    whole_key k = whole_key_circom("circom/bn254/poseidon2");
    cuzk_device_prover_params params = {.piece = 128, .is_peer = true};
    cuzk_device_prover *d = put(&k, &devices[0], &params);
    cuzk_arena arena = *cuzk_device_prover_memory(d);
    cuzk_device_prover_destroy(d);
    must(cuzk_pinned_pool_create(&pinned, 1 << 30, &error), &error);
    must(cuzk_key_pass_create(&pass, &error), &error);
    bool is_expected = true;
    cuzk_key_pass_expect(pass, 1);
    params.pass = pass;
    params.is_expected = &is_expected;
    params.pinned = pinned;
    params.memory_limit = arena.total - arena.bytes[CUZK_ARENA_KEY] / 2;
    d = put(&k, &devices[0], &params);
    assert_int_equal(d->plan.mode, CUZK_CARD_STREAMED);
    assert_false(is_expected);
    params.is_expected = NULL;
    params.memory_limit = 0;
    cuzk_device_prover *other = put(&k, &devices[1], &params); /* it would wait for ever */
    assert_int_equal(cuzk_device_prover_stream(other).way, CUZK_STREAM_SHARED);
    cuzk_device_prover_destroy(other);
    cuzk_device_prover_destroy(d);
    cuzk_key_pass_destroy(pass);
    cuzk_pinned_pool_destroy(pinned);
    whole_key_drop(&k);
}

/* ---- points that are made ---- */

static const cuzk_prover *made_from; /* whose points are "made" */
static atomic_uint n_arrived, n_inside, n_inside_most;

static cuzk_group_id group_of(unsigned query)
{
    for (unsigned s = 0; s < made_from->n_sets; s++) {
        for (unsigned i = 0; i < made_from->sets[s].n_queries; i++) {
            if (cuzk_prover_query_number(made_from, s, i) == query) {
                return made_from->sets[s].queries[i].group;
            }
        }
    }
    return CUZK_G1; /* H */
}

/* cuzk_point_source.put: in order for one device, and not for another one meanwhile. */
static cuzk_status put_points(void *ctx, unsigned query, uint64_t at, uint64_t n, cuzk_error *err)
{
    unsigned *next = ctx;
    unsigned last = cuzk_prover_query_number(made_from, made_from->n_sets - 1,
                                             made_from->sets[made_from->n_sets - 1].n_queries - 1);
    CUZK_FAIL_IF(query != (*next)++, err, CUZK_E_INTERNAL, "query %u out of order", query);
    if (query == 0) {
        unsigned inside = ++n_inside;
        n_inside_most = inside > n_inside_most ? inside : n_inside_most;
        n_arrived++;
        for (int i = 0; i < 100 && n_arrived < 2; i++) { /* would another one come now? */
            usleep(1000);
        }
    }
    size_t n_bytes = n * made_from->curve->g[group_of(query)].affine_bytes;
    CUZK_CUDA_TRY(plain, err, cuMemcpyHtoD, (at, cuzk_prover_points(made_from, query), n_bytes));
    if (query == last) {
        n_inside--;
        *next = 0;
    }
    return CUZK_OK;
}

static void test_made_one_by_one(void **state)
{
    (void)state;
    whole_key k = circom_key();
    unsigned next = 0;
    made_from = k.prover;
    n_arrived = n_inside = n_inside_most = 0;
    k.prover->source = (cuzk_point_source){.put = put_points, .ctx = &next};
    pass_load loads[2];
    for (int i = 0; i < 2; i++) {
        loads[i] = (pass_load){.key = &k, .device = &devices[i], .params = {.is_peer = true}};
    }
    load_together(loads, 2);
    for (int i = 0; i < 2; i++) {
        must(loads[i].status, &loads[i].error);
        assert_int_equal(cuzk_device_prover_arrival(loads[i].prover)->way, CUZK_ARRIVAL_MADE);
    }
    assert_int_equal(n_inside_most, 1);
    expect_same_key(loads[0].prover, loads[1].prover);
    expect_proof(&k, loads[1].prover);
    for (int i = 0; i < 2; i++) {
        cuzk_device_prover_destroy(loads[i].prover);
    }
    whole_key_drop(&k);
}

/* ---- the pass by itself ---- */

enum { PIECES = 40, PIECE_BYTES = 1000 };

typedef struct {
    cuzk_key_pass *pass;
    cuzk_pinned_pool *pinned;
    const unsigned char *from;
    const cuzk_cuda_device *device;
    size_t fail_after; /* pieces; SIZE_MAX: it does not */
    size_t wait_at;    /* until `go`; SIZE_MAX: it does not */
    atomic_bool *go, *is_there;
    bool is_expected;
    size_t n_arrived, order[PIECES];
    unsigned char found[PIECES * PIECE_BYTES];
    cuzk_stream_stats stats;
    cuzk_status status;
} member_run;

static cuzk_status on_piece(void *ctx, size_t i, cuzk_error *err)
{
    member_run *m = ctx;
    if (m->n_arrived == m->wait_at) {
        *m->is_there = true;
        while (!*m->go) {
            usleep(1000);
        }
    }
    m->order[m->n_arrived++] = i;
    CUZK_FAIL_IF(m->n_arrived == m->fail_after, err, CUZK_E_DEVICE, "as the test wants it");
    return CUZK_OK;
}

static void *run_member(void *ctx)
{
    member_run *m = ctx;
    cuzk_error error = {0};
    cuzk_stream_piece pieces[PIECES];
    DRIVER(cuCtxSetCurrent, (m->device->context));
    CUdeviceptr at = device_bytes(NULL, PIECES * PIECE_BYTES);
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] =
            (cuzk_stream_piece){m->from + i * PIECE_BYTES, PIECE_BYTES, at + i * PIECE_BYTES};
    }
    const cuzk_key_pass_params params = {.device = m->device,
                                         .pieces = pieces,
                                         .n_pieces = PIECES,
                                         .pinned = m->pinned,
                                         .is_expected = &m->is_expected,
                                         .arrived = on_piece,
                                         .ctx = m};
    m->status = cuzk_key_pass_load(m->pass, &params, &m->stats, &error);
    DRIVER(cuMemcpyDtoH, (m->found, at, sizeof m->found));
    free_all(&at, 1);
    return NULL;
}

static void start_member(pthread_t *thread, member_run *m)
{
    assert_int_equal(pthread_create(thread, NULL, run_member, m), 0);
}

/* One of three fails in the midst, or one comes when half of it is through: the others have all of
 * it, and no byte is read but once, or but what was missed. */
static void test_members(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_pinned_pool *pinned = NULL;
    cuzk_key_pass *pass = NULL;
    static unsigned char from[PIECES * PIECE_BYTES];
    static member_run m[N_DEVICES];
    pthread_t threads[N_DEVICES];
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (unsigned char)(i * 131 + i / 251);
    }
    must(cuzk_pinned_pool_create(&pinned, 1 << 30, &error), &error);
    must(cuzk_key_pass_create(&pass, &error), &error);
    for (size_t fail_after = 1; fail_after < PIECES; fail_after += 7) {
        cuzk_key_pass_expect(pass, N_DEVICES);
        for (int i = 0; i < N_DEVICES; i++) {
            m[i] = (member_run){.pass = pass,
                                .pinned = pinned,
                                .from = from,
                                .device = &devices[i],
                                .fail_after = i == 1 ? fail_after : SIZE_MAX,
                                .wait_at = SIZE_MAX,
                                .is_expected = true};
            start_member(&threads[i], &m[i]);
        }
        uint64_t n_read = 0;
        for (int i = 0; i < N_DEVICES; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(m[i].status, i == 1 ? CUZK_E_DEVICE : CUZK_OK);
            n_read += m[i].stats.n_read_bytes;
        }
        assert_int_equal(n_read, sizeof from);
        assert_memory_equal(m[0].found, from, sizeof from);
        assert_memory_equal(m[2].found, from, sizeof from);
        assert_int_equal(m[1].n_arrived, fail_after);
        assert_int_equal(cuzk_pinned_pool_use(pinned).used_bytes, 0);
    }
    /* the second comes while the first has piece 20, no more than four are read ahead of it */
    atomic_bool go = false, is_there = false;
    for (int i = 0; i < 2; i++) {
        m[i] = (member_run){.pass = pass,
                            .pinned = pinned,
                            .from = from,
                            .device = &devices[i],
                            .fail_after = SIZE_MAX,
                            .wait_at = i == 0 ? 20 : 0,
                            .go = &go,
                            .is_there = &is_there};
    }
    atomic_bool second = false;
    m[1].is_there = &second;
    start_member(&threads[0], &m[0]);
    while (!is_there) {
        usleep(1000);
    }
    start_member(&threads[1], &m[1]);
    while (!second) { /* with its first piece */
        usleep(1000);
    }
    go = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(m[i].status, CUZK_OK);
        assert_memory_equal(m[i].found, from, sizeof from);
    }
    size_t missed =
        (m[1].order[0] + PIECES - m[0].order[0]) % PIECES; /* both go round from there */
    assert_in_range(missed, 20, 25);
    assert_int_equal(m[0].stats.n_read_bytes + m[1].stats.n_read_bytes,
                     (PIECES + missed) * PIECE_BYTES);
    cuzk_key_pass_destroy(pass);
    cuzk_pinned_pool_destroy(pinned);
}

int main(void)
{
    open_devices();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memories),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_not_from_peer),
        cmocka_unit_test(test_source_leaves),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_no_sums),
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_streamed_leaves_pass),
        cmocka_unit_test(test_made_one_by_one),
        cmocka_unit_test(test_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
