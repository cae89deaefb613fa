/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The small things under everything: integers in bytes, bitmaps, locks in stripes, reports, keyed
 * hashes. */
#include "base/bitmap.h"
#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/stripes.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0xba5e;

/* ---- integers ----------------------------------------------------------------------------------
 */

/* Every value at every alignment, against its bytes one by one; nothing beside them is written. */
static void test_integers(void **state)
{
    (void)state;
    const uint64_t fixed[] = {0,          1,          0x80,       0xff,
                              0x01020304, 0xfffefdfc, UINT64_MAX, UINT64_C(0x0102030405060708)};
    for (size_t i = 0; i < 200; i++) {
        uint64_t v = i < 8 ? fixed[i] : cuzk_test_random(&seed);
        for (size_t at = 1; at < 9; at++) {
            uint8_t bytes[18], expected[18];
            memset(bytes, 0xa5, sizeof bytes);
            memset(expected, 0xa5, sizeof expected);
            for (int k = 0; k < 8; k++) {
                expected[at + (size_t)k] = (uint8_t)(v >> (8 * k));
            }
            cuzk_store_u64_le(bytes + at, v);
            assert_memory_equal(bytes, expected, sizeof bytes);
            assert_true(cuzk_load_u64_le(bytes + at) == v);
            assert_true(cuzk_load_u64_be(bytes + at) == __builtin_bswap64(v));
            cuzk_store_u64_be(bytes + at, v);
            assert_true(cuzk_load_u64_be(bytes + at) == v);
            assert_int_equal(bytes[at], (uint8_t)(v >> 56));

            uint32_t w = (uint32_t)v;
            memset(bytes, 0xa5, sizeof bytes);
            memset(expected, 0xa5, sizeof expected);
            for (int k = 0; k < 4; k++) {
                expected[at + (size_t)k] = (uint8_t)(w >> (24 - 8 * k));
            }
            cuzk_store_u32_be(bytes + at, w);
            assert_memory_equal(bytes, expected, sizeof bytes);
            assert_int_equal(cuzk_load_u32_be(bytes + at), w);
            assert_int_equal(cuzk_load_u32_le(bytes + at), __builtin_bswap32(w));
            cuzk_store_u32_le(bytes + at, w);
            assert_int_equal(cuzk_load_u32_le(bytes + at), w);
        }
    }
}

static void test_wipe(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 67; n++) {
        uint8_t bytes[70];
        memset(bytes, 0xa5, sizeof bytes);
        cuzk_wipe(bytes + 1, n);
        for (size_t i = 0; i < sizeof bytes; i++) {
            assert_int_equal(bytes[i], i >= 1 && i <= n ? 0 : 0xa5);
        }
    }
}

static void test_bitmaps(void **state)
{
    (void)state;
    enum { N = 260 };
    uint64_t map[N / 64 + 2];
    bool set[N];
    for (unsigned one_in = 1; one_in <= 64; one_in *= 4) {
        memset(map, 0, sizeof map);
        for (size_t i = 0; i < N; i++) {
            set[i] = cuzk_test_random(&seed) % one_in == 0;
            if (set[i]) {
                cuzk_bitmap_set(map, i);
                cuzk_bitmap_set(map, i); /* again changes nothing */
            }
        }
        size_t count = 0;
        for (size_t n = 0; n < N; n++) {
            assert_int_equal(cuzk_bitmap_count(map, n), count); /* bits behind n do not count */
            assert_int_equal(cuzk_bitmap_words(n), n / 64 + (n % 64 != 0));
            assert_int_equal(cuzk_bitmap_get(map, n), set[n]);
            count += set[n];
        }
    }
}

/* ---- locks, reports ----------------------------------------------------------------------------
 */

/* 5 threads add to counters of neighbouring and of colliding elements; none is lost. */
struct counters {
    cuzk_stripes stripes;
    uint64_t n[8];
};

static const uint64_t elements[8] = {
    0, 1, CUZK_STRIPES, CUZK_STRIPES + 1, 2 * CUZK_STRIPES, CUZK_STRIPES - 1, UINT64_MAX, 12345};

static void count(void *ctx, size_t chunk, unsigned thread)
{
    struct counters *c = ctx;
    (void)thread;
    for (int i = 0; i < 2000; i++) {
        size_t k = (chunk + (size_t)i) % 8;
        cuzk_stripes_lock(&c->stripes, elements[k]);
        c->n[k]++;
        cuzk_stripes_unlock(&c->stripes, elements[k]);
    }
}

static void test_stripes(void **state)
{
    (void)state;
    static struct counters c;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 5, NULL), CUZK_OK);
    cuzk_pool_for(pool, 8, count, &c);
    cuzk_pool_destroy(pool);
    for (int k = 0; k < 8; k++) {
        assert_int_equal(c.n[k], 2000);
    }
    for (int i = 0; i < CUZK_STRIPES; i++) {
        assert_int_equal(c.stripes.stripes[i].lock, 0);
    }
}

struct report {
    double done;
    bool answer;
};

static bool on_report(void *ctx, const char *stage, double done)
{
    struct report *r = ctx;
    assert_string_equal(stage, "the stage");
    r->done = done;
    return r->answer;
}

static void test_progress(void **state)
{
    (void)state;
    struct report r = {0, true};
    cuzk_reporter reporter = {NULL, NULL};
    cuzk_error err = {0};
    assert_int_equal(cuzk_report_progress(NULL, "the stage", 1, 2, &err), CUZK_OK);
    assert_int_equal(cuzk_report_progress(&reporter, "the stage", 1, 2, &err), CUZK_OK);
    reporter = (cuzk_reporter){on_report, &r};
    static const struct {
        uint64_t done, total;
        double share;
    } cases[] = {{0, 4, 0}, {1, 4, 0.25}, {4, 4, 1}, {0, 0, 1}, {UINT64_MAX, UINT64_MAX, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            cuzk_report_progress(&reporter, "the stage", cases[i].done, cases[i].total, &err),
            CUZK_OK);
        assert_true(r.done == cases[i].share);
    }
    assert_int_equal(err.status, CUZK_OK);
    r.answer = false;
    assert_int_equal(cuzk_report_progress(&reporter, "the stage", 1, 4, &err), CUZK_E_CANCELLED);
    assert_string_equal(err.text, "cancelled during the stage");
    assert_int_equal(cuzk_report_progress(&reporter, "the stage", 1, 4, NULL), CUZK_E_CANCELLED);
}

/* ---- keyed hashes ------------------------------------------------------------------------------
 */

/* Answers of Python's hashlib.blake2b. */
static void test_keyed(void **state)
{
    (void)state;
    uint8_t key[64], out[65];
    char message[151] = "", hex[129];
    for (int i = 0; i < 50; i++) {
        memcpy(message + 3 * i, "abc", 3);
    }
    for (int i = 0; i < 64; i++) {
        key[i] = (uint8_t)i;
    }
    const struct {
        size_t out_bytes, key_bytes, n_bytes;
        const void *key, *data;
        const char *hex;
    } cases[] = {
        {16, 12, 150, "key of seven", message, "59b1021bf0d980d8d293ac4c980e3e39"},
        {64, 64, 0, key, NULL,
         "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
         "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(out, 0xa5, sizeof out);
        cuzk_blake2b_keyed(out, cases[i].out_bytes, cases[i].key, cases[i].key_bytes, cases[i].data,
                           cases[i].n_bytes);
        for (size_t k = 0; k < cases[i].out_bytes; k++) {
            snprintf(hex + 2 * k, 3, "%02x", out[k]);
        }
        assert_string_equal(hex, cases[i].hex);
        assert_int_equal(out[cases[i].out_bytes], 0xa5);
    }
    /* every length of key and digest has its own answer */
    uint8_t seen[128][8];
    size_t n_seen = 0;
    for (size_t n = 1; n <= 64; n++) {
        for (int which = 0; which < 2; which++) {
            size_t out_bytes = which == 0 ? 64 : n < 8 ? 8 : n, key_bytes = which == 0 ? n : 64;
            if (which == 1 && (n < 8 || n == 64)) {
                continue;
            }
            cuzk_blake2b_keyed(out, out_bytes, key, key_bytes, message, 150);
            for (size_t k = 0; k < n_seen; k++) {
                assert_memory_not_equal(seen[k], out, 8);
            }
            memcpy(seen[n_seen++], out, 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_wipe),
        cmocka_unit_test(test_bitmaps),  cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_progress), cmocka_unit_test(test_keyed),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
