/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host's side of a device where no kernel runs: opening, plans of memory, times by events,
 * texts of errors. */
#include "backend/cuda/device_prover.h"
#include "backend/cuda/point_adder.h"
#include "backend/cuda/transformer.h"
#include "base/clock.h"
#include "faulty_driver.h"
#include "random.h"

#include <limits.h>

/* ---- errors ---- */

static CUresult no_name(CUresult result, const char **out)
{
    (void)result;
    (void)out;
    return CUDA_ERROR_INVALID_VALUE;
}

static void test_error_texts(void **state)
{
    (void)state;
    cuzk_cuda_api api = *device.api;
    cuzk_error error = {0};
    assert_int_equal(cuzk_cuda_check(&api, CUDA_SUCCESS, "cuX", "f.c", 7, &error), CUZK_OK);
    assert_int_equal(error.status, CUZK_OK);
    assert_int_equal(cuzk_cuda_check(&api, CUDA_ERROR_OUT_OF_MEMORY, "cuX", "f.c", 7, &error),
                     CUZK_E_DEVICE);
    assert_string_equal(error.text, "cuX: CUDA_ERROR_OUT_OF_MEMORY (2): as the test wants it");
    assert_string_equal(error.file, "f.c");
    assert_int_equal(error.line, 7);
    /* the first cause is kept */
    assert_int_equal(cuzk_cuda_check(&api, CUDA_ERROR_UNKNOWN, "cuY", "g.c", 8, &error),
                     CUZK_E_DEVICE);
    assert_non_null(strstr(error.text, "cuX"));
    /* an error that is newer than the driver's own list */
    CUZK_CU(&api, cuGetErrorName) = CUZK_CU(&api, cuGetErrorString) = no_name;
    error = (cuzk_error){0};
    assert_int_equal(cuzk_cuda_check(&api, (CUresult)12345, "cuX", "f.c", 7, &error),
                     CUZK_E_DEVICE);
    assert_string_equal(error.text, "cuX: unknown error (12345): no text");
    assert_int_equal(cuzk_cuda_check(&api, CUDA_ERROR_UNKNOWN, "cuX", "f.c", 7, NULL),
                     CUZK_E_DEVICE);
}

/* ---- memory ---- */

static size_t rounded(size_t n)
{
    return (n + 255) / 256 * 256;
}

static void test_arena_plans(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 100; round++) {
        cuzk_arena arena = {0};
        size_t sum = 0, of[CUZK_ARENA_PURPOSES] = {0};
        for (int i = 0; i < 40; i++) {
            uint64_t r = cuda_test_random();
            cuzk_arena_purpose purpose = (cuzk_arena_purpose)(r % CUZK_ARENA_PURPOSES);
            size_t n = (size_t)(cuzk_test_random(&seed) >> (r >> 8) % 64) >> 24;
            assert_int_equal(cuzk_arena_plan(&arena, purpose, n), sum); /* one behind the other */
            sum += rounded(n);
            of[purpose] += rounded(n);
            assert_int_equal(arena.total, sum);
        }
        assert_memory_equal(arena.bytes, of, sizeof of);
    }
}

static void test_arena_reserve(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    cuzk_error error = {0};
    faulty_begin();
    cuzk_arena arena = {0};
    for (int i = 0; i < CUZK_ARENA_PURPOSES; i++) {
        (void)cuzk_arena_plan(&arena, (cuzk_arena_purpose)i, (size_t)(i + 1) * MIB / 2);
    }
    const cuzk_arena plan = arena;
    /* one byte less than is needed */
    assert_int_equal(cuzk_arena_reserve(&arena, faulty_device.api, arena.total - 1, &error),
                     CUZK_E_MEMORY);
    assert_string_equal(error.text,
                        "a proof with this key needs 10.5 MiB of device memory (key 0.5, "
                        "circuit 1.0, tables 1.5, staging 2.0, witness 2.5, workspace "
                        "3.0), there are 10.5");
    assert_memory_equal(&arena, &plan, sizeof plan);
    /* exactly as much; it comes in one piece, and is wiped before it is given back */
    error = (cuzk_error){0};
    must(cuzk_arena_reserve(&arena, faulty_device.api, arena.total, &error), &error);
    assert_int_equal(faulty.n_memory, 1);
    assert_int_equal(faulty.memory_bytes, arena.total);
    assert_int_equal(arena.at % 256, 0);
    memset((void *)(uintptr_t)arena.at, 0x5a, arena.total);
    cuzk_arena_release(&arena, faulty_device.api);
    assert_int_equal(faulty.n_not_wiped, 0);
    faulty_expect_nothing_held();
    assert_int_equal(arena.total, 0);
    cuzk_arena_release(&arena, faulty_device.api); /* nothing is reserved: fine */
    assert_int_equal(faulty.n_bad, 0);
    /* what the driver says */
    static const struct {
        unsigned call;
        CUresult result;
        cuzk_status status;
        const char *text;
    } faults[] = {
        {0, CUDA_ERROR_DEVICE_UNAVAILABLE, CUZK_E_DEVICE, "cuMemGetInfo"},
        {1, CUDA_ERROR_DEVICE_UNAVAILABLE, CUZK_E_DEVICE, "cuMemAlloc"},
        {1, CUDA_ERROR_OUT_OF_MEMORY, CUZK_E_MEMORY, "there are 1024.0"}, /* but not in one piece */
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        arena = plan;
        error = (cuzk_error){0};
        faulty_fail(NULL, faults[i].call, faults[i].result, false);
        assert_int_equal(cuzk_arena_reserve(&arena, faulty_device.api, 0, &error),
                         faults[i].status);
        assert_non_null(strstr(error.text, faults[i].text));
        assert_int_equal(arena.at, 0);
        faulty_mend();
        cuzk_arena_release(&arena, faulty_device.api);
        faulty_expect_nothing_held();
    }
    /* the limit is not above what is free */
    arena = plan;
    arena.total = (size_t)3 << 30;
    error = (cuzk_error){0};
    assert_int_equal(cuzk_arena_reserve(&arena, faulty_device.api, SIZE_MAX, &error),
                     CUZK_E_MEMORY);
    assert_non_null(strstr(error.text, "there are 1024.0"));
}

/* A streamed key is told as such, since its own memory is not what is missing. */
static void test_arena_of_a_streamed_key(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_arena arena = {0};
    (void)cuzk_arena_plan(&arena, CUZK_ARENA_STAGING, 1 << 20);
    assert_int_equal(cuzk_arena_too_much(&arena, UINT64_C(5) << 30, 1 << 19, &error),
                     CUZK_E_MEMORY);
    assert_string_equal(error.text,
                        "a proof with this key needs 1.0 MiB of device memory even with "
                        "the 5120.0 MiB of its points streamed (key 0.0, circuit 0.0, "
                        "tables 0.0, staging 1.0, witness 0.0, workspace 0.0), there "
                        "are 0.5");
    (void)cuzk_arena_plan(&arena, CUZK_ARENA_KEY, 1);
    error = (cuzk_error){0};
    assert_int_equal(cuzk_arena_too_much(&arena, UINT64_C(5) << 30, 1 << 19, &error),
                     CUZK_E_MEMORY);
    assert_null(strstr(error.text, "streamed"));
}

/* ---- times ---- */

/* Events of a stream whose clock the test sets: the handle is the place in this list. */
static float recorded[600];
static unsigned n_events;
static float now_ms;

static CUresult make_event(CUevent *out, unsigned flags)
{
    (void)flags;
    *out = (CUevent)(uintptr_t)++n_events;
    return n_events < 600 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroy_event(CUevent event)
{
    recorded[(uintptr_t)event] = -1;
    n_events--;
    return CUDA_SUCCESS;
}

static CUresult record_event(CUevent event, CUstream stream)
{
    (void)stream;
    recorded[(uintptr_t)event] = now_ms;
    return CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent begin, CUevent end)
{
    *ms = recorded[(uintptr_t)end] - recorded[(uintptr_t)begin];
    return CUDA_SUCCESS;
}

static cuzk_device_times *make_times(cuzk_cuda_api *api)
{
    cuzk_device_times *times = NULL;
    cuzk_error error = {0};
    *api = *device.api;
    CUZK_CU(api, cuEventCreate) = make_event;
    CUZK_CU(api, cuEventDestroy) = destroy_event;
    CUZK_CU(api, cuEventRecord) = record_event;
    CUZK_CU(api, cuEventElapsedTime) = elapsed;
    n_events = 0;
    must(cuzk_device_times_create(&times, api, &error), &error);
    return times;
}

/* Marks at random moments against a clock that is kept beside: every millisecond belongs to the
 * kind of the last mark, but the last span, which has not ended. */
static void test_times(void **state)
{
    (void)state;
    cuzk_cuda_api api;
    cuzk_error error = {0};
    uint64_t seed = 23;
    cuzk_device_times *times = make_times(&api);
    unsigned n_most = 0;
    for (int round = 0; round < 50; round++) {
        float wanted[CUZK_TIME_KINDS] = {0}, pending = 0, found[CUZK_TIME_KINDS];
        int kind = -1;
        unsigned n_changes = 0;
        for (uint64_t i = 0, n = cuzk_test_random(&seed) % 500; i < n; i++) {
            uint64_t r = cuzk_test_random(&seed);
            float pause = (float)(r >> 8 & 15);
            now_ms += pause; /* whole numbers: sums are exact */
            pending += pause;
            int next = (int)(r >> 16) & 3; /* often the same again */
            if (next != kind) {
                if (kind >= 0) {
                    wanted[kind] += pending;
                }
                pending = 0;
                n_changes++;
                kind = next;
            }
            must(cuzk_device_times_mark(times, (cuzk_time_kind)next, NULL, &error), &error);
        }
        n_most = n_changes > n_most ? n_changes : n_most;
        assert_int_equal(n_events, n_most); /* only where the kind changes, and used again */
        if (round % 7 == 6) {
            cuzk_device_times_drop(times);
            memset(wanted, 0, sizeof wanted);
        }
        wanted[CUZK_TIME_KERNELS] = wanted[CUZK_TIME_ROWS];
        memset(found, 0xcc, sizeof found);
        must(cuzk_device_times_take(times, found, &error), &error);
        assert_memory_equal(found, wanted, sizeof wanted);
    }
    cuzk_device_times_destroy(times);
    assert_int_equal(n_events, 0);
    cuzk_device_times_destroy(NULL);
    must(cuzk_device_times_mark(NULL, CUZK_TIME_SORT, NULL, &error), &error);
}

/* Two streams whose kernels overlap, and clocks that are told apart: events say what the host's
 * clock says, later by a second, and a thousandth faster or slower; less than what can be told
 * where little time passes. */
static uint64_t host_ns;

static CUresult record_by_host(CUevent event, CUstream stream)
{
    (void)stream;
    recorded[(uintptr_t)event] = (float)((double)(cuzk_now_ns() - host_ns) / 1e6);
    return CUDA_SUCCESS;
}

static void test_clocks(void **state)
{
    (void)state;
    cuzk_cuda_api api;
    cuzk_error error = {0};
    float ms[CUZK_TIME_KINDS];
    cuzk_device_clock_fit fit;
    size_t n = 0;
    cuzk_device_times *times = make_times(&api);
    CUZK_CU(&api, cuEventRecord) = record_by_host;
    host_ns = cuzk_now_ns() - 1000000000;
    uint64_t before = cuzk_now_ns();
    CUstream a = (CUstream)(uintptr_t)1, b = (CUstream)(uintptr_t)2;
    const struct {
        cuzk_time_kind kind;
        CUstream stream;
    } marks[] = {{CUZK_TIME_UPLOAD, a}, {CUZK_TIME_ROWS, a}, {CUZK_TIME_SORT, b},
                 {CUZK_TIME_WAIT, a},   {CUZK_TIME_WAIT, b}, {CUZK_TIME_UPLOAD, a}};
    must(cuzk_device_times_calibrate(times, a, &error), &error);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        must(cuzk_device_times_mark(times, marks[i].kind, marks[i].stream, &error), &error);
    }
    must(cuzk_device_times_calibrate(times, a, &error), &error);
    uint64_t after = cuzk_now_ns();
    must(cuzk_device_times_take(times, ms, &error), &error);
    const cuzk_device_span *spans = cuzk_device_times_spans(times, &n, &fit);
    assert_int_equal(n, 4); /* upload, rows, sort, wait on a; the last marks have not ended */
    for (size_t i = 0; i < n; i++) { /* floats of a second: 60 ns */
        assert_true(spans[i].begin_ns + fit.error_ns + 1000 >= before);
        assert_true(spans[i].end_ns <= after + fit.error_ns + 1000);
        assert_true(spans[i].begin_ns <= spans[i].end_ns);
        assert_int_equal(spans[i].stream, spans[i].kind == CUZK_TIME_SORT);
    }
    assert_true(fit.drift_ppm > -1000 && fit.drift_ppm < 1000);
    assert_true(ms[CUZK_TIME_KERNELS] <= ms[CUZK_TIME_ROWS] + ms[CUZK_TIME_SORT]);
    assert_true(ms[CUZK_TIME_KERNELS] + 1e-3f >= ms[CUZK_TIME_ROWS] &&
                ms[CUZK_TIME_KERNELS] + 1e-3f >= ms[CUZK_TIME_SORT]);
    for (uintptr_t i = 0; i < 17; i++) { /* one stream more than there is room for */
        cuzk_status status = cuzk_device_times_mark(times, CUZK_TIME_ROWS, (CUstream)i, &error);
        assert_int_equal(status, i < 16 ? CUZK_OK : CUZK_E_INTERNAL);
    }
    cuzk_device_times_destroy(times);
    assert_int_equal(n_events, 0);
}

static CUresult refuse_record(CUevent event, CUstream stream)
{
    (void)event;
    (void)stream;
    return CUDA_ERROR_LAUNCH_FAILED;
}

static void test_times_at_fault(void **state)
{
    (void)state;
    cuzk_cuda_api api;
    cuzk_error error = {0};
    float ms[CUZK_TIME_KINDS];
    cuzk_device_times *times = make_times(&api);
    for (int i = 0; i < 600; i++) { /* more events than the driver has */
        error = (cuzk_error){0};
        cuzk_status status = cuzk_device_times_mark(times, (cuzk_time_kind)(i % 2), NULL, &error);
        assert_int_equal(status, i < 599 ? CUZK_OK : CUZK_E_DEVICE);
    }
    assert_non_null(strstr(error.text, "cuEventCreate"));
    n_events--; /* the one that was refused */
    error = (cuzk_error){0};
    must(cuzk_device_times_take(times, ms, &error), &error);
    must(cuzk_device_times_mark(times, CUZK_TIME_ROWS, NULL, &error), &error);
    CUZK_CU(&api, cuEventRecord) = refuse_record;
    assert_int_equal(cuzk_device_times_mark(times, CUZK_TIME_SORT, NULL, &error), CUZK_E_DEVICE_LOST);
    assert_non_null(strstr(error.text, "cuEventRecord"));
    /* a mark that failed is none */
    CUZK_CU(&api, cuEventRecord) = record_event;
    error = (cuzk_error){0};
    now_ms += 5;
    must(cuzk_device_times_mark(times, CUZK_TIME_WAIT, NULL, &error), &error);
    must(cuzk_device_times_take(times, ms, &error), &error);
    assert_true(ms[CUZK_TIME_ROWS] == 5 && ms[CUZK_TIME_SORT] == 0);
    cuzk_device_times_destroy(times);
    assert_int_equal(n_events, 0);
}

static void test_time_names(void **state)
{
    (void)state;
    for (int i = 0; i < CUZK_TIME_KINDS; i++) {
        assert_true(strlen(cuzk_time_kind_name((cuzk_time_kind)i)) > 2);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(cuzk_time_kind_name((cuzk_time_kind)i),
                                    cuzk_time_kind_name((cuzk_time_kind)k));
        }
    }
}

/* ---- plans of additions ---- */

/* Places of a batch: prefixes, totals, prefixes of totals, one behind the other, within what the
 * plan said, which is within the most it may be. */
static void test_addition_plans(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1,
                                     7,
                                     8,
                                     9,
                                     4095,
                                     4096,
                                     32768,
                                     32769,
                                     1 << 20,
                                     (1 << 20) - 1,
                                     (1 << 22) + 1,
                                     (1 << 22) - 1,
                                     1 << 26};
    for (int id = CUZK_CURVE_BN254; id <= CUZK_CURVE_BLS12_381; id++) {
        for (int k = CUZK_G1; k <= CUZK_G2; k++) {
            const cuzk_group *g = &cuzk_curve_get((cuzk_curve_id)id)->g[k];
            size_t most_before = 0;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                cuzk_add_args args = {.n_pairs = sizes[i]};
                const CUdeviceptr at = 0x10000;
                cuzk_point_add_plan(&args, g, at);
                uint64_t totals = (uint64_t)(uintptr_t)args.totals;
                uint64_t last = (uint64_t)(uintptr_t)args.total_prefix;
                size_t bytes = cuzk_point_add_workspace_bytes(g, sizes[i]);
                assert_int_equal((uintptr_t)args.prefix, at);
                assert_int_equal(totals - at, g->coord_bytes * (uint64_t)sizes[i]);
                assert_int_equal(last - totals, g->coord_bytes * (uint64_t)args.n_threads);
                assert_int_equal(last + g->coord_bytes * (uint64_t)args.n_threads - at, bytes);
                assert_true(bytes <= cuzk_point_add_workspace_bytes_max(g, sizes[i]));
                /* every pair has its thread, every total its inversion */
                uint64_t a_thread = (sizes[i] + args.n_threads - 1) / args.n_threads;
                assert_in_range(a_thread, 1, 32);
                assert_in_range(args.n_inverses, 1, args.n_threads);
            }
            for (uint32_t n = 1; n < 5000; n += 3) { /* batches within a larger one need no more */
                size_t most = cuzk_point_add_workspace_bytes_max(g, n);
                assert_true(most >= most_before);
                assert_true(most >= cuzk_point_add_workspace_bytes(g, n));
                most_before = most;
            }
        }
    }
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_texts),    cmocka_unit_test(test_arena_plans),
        cmocka_unit_test(test_arena_reserve),  cmocka_unit_test(test_arena_of_a_streamed_key),
        cmocka_unit_test(test_times),          cmocka_unit_test(test_times_at_fault),
        cmocka_unit_test(test_time_names),     cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_addition_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
