/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pinned pool's limit, and pieces of a key through two places: what arrives, in which order,
 * over several passes, ones that are given up, and copies that fail. */
#include "backend/cuda/key_stream.h"
#include "device_test.h"

enum { PLACE_BYTES = 40 << 20, N_PIECES = 5, N_BYTES = 90 << 20, PAGE = 4096 };

static const size_t sizes[N_PIECES] = {PLACE_BYTES, 1, 33 << 20, 12345, 0};

static unsigned char *key; /* page-aligned */
static cuzk_stream_piece pieces[N_PIECES];

static void make_key(void)
{
    key = aligned_alloc(PAGE, N_BYTES);
    for (size_t i = 0; i < N_BYTES; i += 8) {
        uint64_t word = cuda_test_random();
        memcpy(key + i, &word, 8);
    }
    size_t at = 7;
    for (int i = 0; i < N_PIECES; i++) {
        pieces[i] = (cuzk_stream_piece){.from = key + at, .n_bytes = sizes[i]};
        at += sizes[i];
    }
    assert_true(at <= N_BYTES);
}

/* Piece i is at the place: its ends and a few bytes between. */
static void expect_piece(CUdeviceptr at, int i)
{
    cuzk_error error = {0};
    const unsigned char *expected = pieces[i].from;
    for (size_t k = 0; k < sizes[i]; k += sizes[i] / 40 + 1) {
        size_t n = sizes[i] - k < 4096 ? sizes[i] - k : 4096;
        unsigned char found[4096];
        DRIVER(cuMemcpyDtoH, (found, at + k, n));
        assert_memory_equal(found, expected + k, n);
    }
    if (sizes[i] > 0) {
        unsigned char last;
        DRIVER(cuMemcpyDtoH, (&last, at + sizes[i] - 1, 1));
        assert_int_equal(last, expected[sizes[i] - 1]);
    }
}

static void expect_pass(cuzk_key_stream *s, int n)
{
    cuzk_error error = {0};
    cuzk_key_stream_begin(s);
    for (int i = 0; i < n; i++) {
        CUdeviceptr at = 0;
        must(cuzk_key_stream_next(s, &at, &error), &error);
        expect_piece(at, i);
    }
}

typedef struct {
    CUdeviceptr places[2];
    cuzk_pinned_pool *pinned;
    cuzk_key_stream *stream;
} streaming;

static streaming open_stream(uint64_t pinned_bytes)
{
    streaming s = {.places = {device_bytes(NULL, PLACE_BYTES), device_bytes(NULL, PLACE_BYTES)}};
    cuzk_error error = {0};
    const cuzk_stream_source source = {key, N_BYTES};
    must(cuzk_pinned_pool_create(&s.pinned, pinned_bytes, &error), &error);
    cuzk_key_stream_params params = {.device = &device,
                                     .places = {s.places[0], s.places[1]},
                                     .pieces = pieces,
                                     .n_pieces = N_PIECES,
                                     .sources = &source,
                                     .n_sources = 1,
                                     .pinned = s.pinned};
    must(cuzk_key_stream_create(&s.stream, &params, &error), &error);
    return s;
}

static void close_stream(streaming *s)
{
    cuzk_key_stream_destroy(s->stream);
    assert_int_equal(cuzk_pinned_pool_use(s->pinned).used_bytes, 0);
    cuzk_pinned_pool_destroy(s->pinned);
    free_all(s->places, 2);
}

static void check_way(uint64_t pinned_bytes, cuzk_stream_way way)
{
    streaming s = open_stream(pinned_bytes);
    assert_int_equal(cuzk_key_stream_stats(s.stream).way, way);
    assert_true(cuzk_pinned_pool_use(s.pinned).used_bytes <= pinned_bytes);
    expect_pass(s.stream, N_PIECES);
    expect_pass(s.stream, 2); /* given up */
    expect_pass(s.stream, 0);
    expect_pass(s.stream, N_PIECES);
    expect_pass(s.stream, N_PIECES);
    cuzk_stream_stats stats = cuzk_key_stream_stats(s.stream);
    assert_int_equal(stats.n_passes, 5);
    assert_true(stats.n_bytes >= 3 * (uint64_t)(sizes[0] + sizes[1] + sizes[2] + sizes[3]));
    assert_true(stats.busy_ns > 0);
    close_stream(&s);
}

static void test_ways(void **state)
{
    (void)state;
    check_way(UINT64_C(1) << 30, CUZK_STREAM_PINNED);
    check_way(N_BYTES - 1, CUZK_STREAM_BUFFERED);
    check_way(16 << 20, CUZK_STREAM_PAGEABLE); /* one buffer, not two */
}

static void test_unused(void **state)
{
    (void)state;
    streaming s = open_stream(0); /* nobody asks for anything */
    close_stream(&s);
}

static void test_no_pinning(void **state)
{
    (void)state;
    if (!device_test_is_emulated()) {
        skip();
    }
    setenv("CUZK_EMULATED_FAULT", "unpinned", 1);
    check_way(UINT64_C(1) << 30, CUZK_STREAM_BUFFERED);
    unsetenv("CUZK_EMULATED_FAULT");
}

/* A copy that fails is told to whoever waits for its piece, and tried again in the next pass. */
static void test_failing_copy(void **state)
{
    (void)state;
    if (!device_test_is_emulated()) {
        skip();
    }
    cuzk_error error = {0};
    CUdeviceptr at = 0;
    setenv("CUZK_EMULATED_FAULT", "copy", 1);
    streaming s = open_stream(UINT64_C(1) << 30);
    cuzk_key_stream_begin(s.stream);
    assert_int_equal(cuzk_key_stream_next(s.stream, &at, &error), CUZK_E_DEVICE_LOST);
    assert_non_null(strstr(error.text, "streaming a key: cuMemcpyHtoDAsync"));
    unsetenv("CUZK_EMULATED_FAULT"); /* the thread waits: nothing reads the environment */
    expect_pass(s.stream, N_PIECES);
    close_stream(&s);
}

static void test_pool(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_pinned_pool *pool = NULL;
    void *p = NULL, *q = NULL;
    must(cuzk_pinned_pool_create(&pool, 3 * PAGE, &error), &error);
    must(cuzk_pinned_alloc(&p, pool, device.api, 2 * PAGE, &error), &error);
    assert_int_equal(cuzk_pinned_alloc(&q, pool, device.api, 2 * PAGE, &error), CUZK_E_MEMORY);
    assert_null(q);
    assert_string_equal(error.text,
                        "pinned host memory: 0.0 MiB are wanted, 0.0 of at most 0.0 are in use");
    assert_true(cuzk_pinned_register(pool, device.api, key + 5, PAGE - 5));
    assert_false(cuzk_pinned_register(pool, device.api, key + PAGE, 1));
    assert_false(cuzk_pinned_register(pool, device.api, key, 0));
    cuzk_pinned_use use = cuzk_pinned_pool_use(pool);
    assert_true(use.used_bytes == 3 * PAGE && use.peak_bytes == 3 * PAGE &&
                use.limit_bytes == 3 * PAGE);
    cuzk_pinned_unregister(pool, device.api, key + 5, PAGE - 5);
    cuzk_pinned_free(pool, device.api, p, 2 * PAGE);
    cuzk_pinned_free(pool, device.api, NULL, 2 * PAGE);
    use = cuzk_pinned_pool_use(pool);
    assert_true(use.used_bytes == 0 && use.peak_bytes == 3 * PAGE);
    cuzk_pinned_pool_destroy(pool);
    cuzk_pinned_pool_destroy(NULL);
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    make_key();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways), cmocka_unit_test(test_unused),
                                       cmocka_unit_test(test_no_pinning),
                                       cmocka_unit_test(test_failing_copy),
                                       cmocka_unit_test(test_pool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
