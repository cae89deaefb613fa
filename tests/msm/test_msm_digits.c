/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The digits of scalars, their lengths, the list of those that are not zero and the sort by bucket,
 * each by itself against whole numbers (tests/bigint.h), for every window size, with scalars at
 * every window's bounds, and with 1 to 5 threads. */
#include "bigint.h"
#include "msm_test.h"
#include "pools.h"

#include "msm/msm_internal.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

/* Scalars as numbers and as bytes. */
typedef struct {
    big r, half;
    size_t n, capacity;
    uint8_t *bytes;
} scalars;

static void scalars_init(scalars *s, const cuzk_curve *curve, size_t capacity)
{
    big one = big_of(1), two = big_of(2), rest;
    s->r = big_from_words(curve->r, 4);
    s->half = big_sub(&s->r, &one);
    s->half = big_div(&s->half, &two, &rest);
    s->n = 0;
    s->capacity = capacity;
    s->bytes = malloc(32 * capacity);
    assert_non_null(s->bytes);
}

static void add_scalar(scalars *s, const big *value)
{
    big reduced = big_mod(value, &s->r);
    assert_true(s->n < s->capacity);
    big_to_le(s->bytes + 32 * s->n++, 32, &reduced);
}

/* A number, its neighbours, and their negatives modulo r. */
static void add_around(scalars *s, const big *value)
{
    for (uint64_t v = 0; v < 3; v++) {
        big one = big_of(1), off = big_of(v), x = big_add(value, &off);
        x = big_sub_mod(&x, &one, &s->r);
        add_scalar(s, &x);
        x = big_sub(&s->r, &x);
        add_scalar(s, &x);
    }
}

/* Scalar i as the number t in -(r-1)/2 … (r-1)/2: its magnitude, and whether it is negative. */
static big magnitude(const scalars *s, size_t i, bool *negative)
{
    big x = big_from_le(s->bytes + 32 * i, 32);
    *negative = big_compare(&x, &s->half) > 0;
    return *negative ? big_sub(&s->r, &x) : x;
}

/* The scalars where digits of `bits` bits are at their bounds: 2^(kw) - 1, 2^(kw-1), all digits the
 * largest, all the smallest, alternating; the middle and the ends of the range. */
static void add_bounds(scalars *s, unsigned bits)
{
    big zero = big_of(0), one = big_of(1), sums[4] = {zero, zero, zero, zero};
    add_around(s, &one);
    add_around(s, &s->half);
    for (unsigned at = 0; at < 253; at += bits) {
        big power = big_power_of_two(at), half = big_power_of_two(at + bits - 1);
        add_around(s, &power);
        if (at + bits < 253) {
            add_around(s, &half);
            big largest = big_sub(&half, &power); /* digit 2^(c-1) - 1 */
            sums[0] = big_add(&sums[0], &largest);
            sums[1] = big_add(&sums[1], &half); /* digit 2^(c-1), or -2^(c-1) and a carry */
            sums[2] = big_add(&sums[2], at / bits % 2 ? &largest : &half);
            sums[3] = big_add(&sums[3], &power); /* all ones */
        }
    }
    for (int k = 0; k < 4; k++) {
        add_around(s, &sums[k]);
    }
}

static void add_random(scalars *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t words[4] = {0};
        for (size_t k = 0; k < 4; k++) {
            words[k] = msm_test_random();
        }
        big x = big_from_words(words, i % 8 == 0 ? msm_test_below(4) : 4);
        add_scalar(s, &x);
    }
}

/* ---- digits ---- */

/* Σ digit_w·2^(cw) over the windows is t, and every digit is in its range. */
static void check_digits(const scalars *s, const cuzk_msm_windows *w, const int16_t *digits,
                         size_t pitch, unsigned n_windows, size_t scalar, size_t column)
{
    big positive = big_of(0), negative = big_of(0);
    int limit = 1 << (w->bits - 1);
    for (unsigned k = 0; k < n_windows; k++) {
        int digit = digits[k * pitch + column];
        big power = big_power_of_two(k * w->bits), size = big_of((uint64_t)abs(digit));
        power = big_mul(&power, &size);
        assert_true(digit >= -limit && digit <= limit);
        assert_true(digit != limit || w->bits < 16);
        if (digit < 0) {
            negative = big_add(&negative, &power);
        } else {
            positive = big_add(&positive, &power);
        }
    }
    bool is_negative;
    big t = magnitude(s, scalar, &is_negative);
    big *larger = is_negative ? &negative : &positive, *other = is_negative ? &positive : &negative;
    assert_true(big_compare(larger, other) >= 0);
    big sum = big_sub(larger, other);
    if (big_compare(&sum, &t) != 0) {
        fail_msg("windows of %u bits: the digits of scalar %zu do not add up", w->bits, scalar);
    }
}

static void test_digits(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (unsigned bits = CUZK_MSM_WINDOW_MIN; bits <= CUZK_MSM_WINDOW_MAX; bits++) {
            scalars s;
            cuzk_msm_windows w;
            scalars_init(&s, curve, 2500);
            add_bounds(&s, bits);
            add_random(&s, 60);
            cuzk_msm_windows_init(&w, curve, bits);
            assert_int_equal(w.scalar_bits, big_bits(&s.half));
            assert_int_equal(w.n_windows, (w.scalar_bits + 1 + bits - 1) / bits);
            size_t pitch = s.n + 5;
            int16_t *digits = malloc(w.n_windows * pitch * sizeof *digits);
            uint32_t nonzero[130], partial[5 * 130];
            unsigned n_threads = 1 + bits % 5;
            memset(digits, 0x5a, w.n_windows * pitch * sizeof *digits);
            cuzk_msm_digits(&w, s.bytes, NULL, s.n, digits, pitch, w.n_windows, nonzero, partial,
                            pools[n_threads]);
            for (size_t i = 0; i < s.n; i++) {
                check_digits(&s, &w, digits, pitch, w.n_windows, i, i);
            }
            for (unsigned k = 0; k < w.n_windows; k++) {
                uint32_t count = 0;
                for (size_t i = 0; i < s.n; i++) {
                    count += digits[k * pitch + i] != 0;
                }
                assert_int_equal(nonzero[k], count);
                for (size_t i = s.n; i < pitch; i++) {
                    assert_int_equal(digits[k * pitch + i], 0x5a5a); /* between the windows */
                }
            }
            free(digits);
            free(s.bytes);
        }
    }
}

/* A list of scalars, and only the windows that short ones reach. */
static void test_some_digits(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (unsigned bits = CUZK_MSM_WINDOW_MIN; bits <= CUZK_MSM_WINDOW_MAX; bits++) {
            scalars s;
            cuzk_msm_windows w;
            uint32_t list[400], nonzero[130], partial[130];
            int16_t digits[130 * 70];
            scalars_init(&s, curve, 400);
            cuzk_msm_windows_init(&w, curve, bits);
            for (unsigned length = 0; length < 60; length++) { /* |t| < 2^length, and its end */
                uint64_t v = length == 0 ? 0 : UINT64_MAX >> (64 - length);
                big x = big_of(length % 2 ? v : v & msm_test_random());
                add_scalar(&s, &x);
                x = big_sub_mod(&s.r, &x, &s.r);
                add_scalar(&s, &x);
            }
            for (size_t n = 0; n <= 66; n += n < 3 ? 1 : 21) {
                unsigned longest = 0;
                for (size_t i = 0; i < n; i++) {
                    bool negative;
                    list[i] = (uint32_t)msm_test_below(s.n);
                    big t = magnitude(&s, list[i], &negative);
                    longest = big_bits(&t) > longest ? big_bits(&t) : longest;
                }
                unsigned n_windows = (longest + 2 + bits - 1) / bits; /* as msm_plan.c has it */
                n_windows = n_windows < w.n_windows ? n_windows : w.n_windows;
                cuzk_msm_digits(&w, s.bytes, list, n, digits, 70, n_windows, nonzero, partial,
                                NULL);
                for (size_t i = 0; i < n; i++) {
                    check_digits(&s, &w, digits, 70, n_windows, list[i], i);
                }
            }
            free(s.bytes);
        }
    }
}

/* ---- lengths and lists ---- */

static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 8193};

static void test_lengths(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        cuzk_msm_windows w;
        scalars s;
        uint32_t found[CUZK_MSM_LENGTHS], partial[5 * CUZK_MSM_LENGTHS];
        uint8_t *length = malloc(9000);
        scalars_init(&s, curve, 9000);
        cuzk_msm_windows_init(&w, curve, 16);
        for (unsigned bit = 1; bit < 253; bit++) { /* both ends of every length, both signs */
            big x = big_power_of_two(bit);
            add_around(&s, &x);
        }
        add_random(&s, s.capacity - s.n);
        for (size_t i = 0; i < s.n; i++) { /* each by itself */
            bool negative;
            big t = magnitude(&s, i, &negative);
            cuzk_msm_scan(&w, s.bytes + 32 * i, 1, found, partial, NULL);
            length[i] = (uint8_t)big_bits(&t);
            if (found[length[i]] != 1) { /* one more is allowed to negative ones */
                assert_true(negative && found[++length[i]] == 1);
            }
        }
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            uint32_t expected[CUZK_MSM_LENGTHS] = {0};
            for (size_t i = 0; i < sizes[k]; i++) {
                expected[length[i]]++;
            }
            cuzk_msm_scan(&w, s.bytes, sizes[k], found, partial, pools[1 + k % 5]);
            assert_memory_equal(found, expected, sizeof found);
        }
        free(length);
        free(s.bytes);
    }
}

static void test_nonzero(void **state)
{
    (void)state;
    enum { N = 9000 };
    uint8_t *bytes = malloc(32 * N);
    uint32_t *list = malloc((N + 1) * sizeof *list), begins[4];
    for (unsigned one_in = 1; one_in <= 1000; one_in = one_in * 4 + 1) {
        memset(bytes, 0, 32 * N);
        for (size_t i = 0; i < N; i++) { /* one bit, anywhere in the 256 */
            if (msm_test_below(one_in) == 0) {
                bytes[32 * i + msm_test_below(32)] = (uint8_t)(1 << msm_test_below(8));
            }
        }
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            size_t n = sizes[k], expected = 0, first = msm_test_below(N - n + 1);
            static const uint8_t zero[32];
            memset(list, 0x5a, (N + 1) * sizeof *list);
            begins[3] = 0x77777777;
            size_t found =
                cuzk_msm_list_nonzero(bytes + 32 * first, n, list, begins, pools[1 + k % 5]);
            for (size_t i = 0; i < n; i++) {
                if (memcmp(bytes + 32 * (first + i), zero, 32) != 0) {
                    assert_int_equal(list[expected++], i);
                }
            }
            assert_int_equal(found, expected);
            assert_int_equal(list[expected], 0x5a5a5a5a); /* nothing behind them */
            assert_int_equal(begins[3], 0x77777777);
        }
    }
    free(list);
    free(bytes);
}

/* ---- the sort ---- */

static void test_sort(void **state)
{
    (void)state;
    enum { N = 3000 };
    int16_t digits[N];
    uint32_t index[N], entries[N + 20], ends[(1 << 15) + 2];
    for (unsigned bits = 2; bits <= 16; bits++) {
        size_t n_buckets = (size_t)1 << (bits - 1);
        for (int kind = 0; kind < 4; kind++) {
            for (size_t n = 0; n <= N; n = n < 4 ? n + 1 : n * 9 / 2) {
                uint32_t start = (uint32_t)msm_test_below(20), at = start;
                for (size_t i = 0; i < n; i++) {
                    int size = 1 + (int)msm_test_below(n_buckets);
                    size = kind == 1 ? (int)n_buckets : size; /* all in the last bucket */
                    size = kind == 2 ? 1 : size;              /* … in the first */
                    size = kind == 3 && i % 3 ? 0 : size;     /* most of them zero */
                    bool negative = size == 1 << 15 || msm_test_below(2) != 0;
                    digits[i] = (int16_t)(negative ? -size : size);
                    index[i] = (uint32_t)(5 * i + 3);
                }
                const uint32_t *named = kind % 2 ? index : NULL;
                memset(entries, 0x5a, sizeof entries);
                memset(ends, 0x5a, sizeof ends);
                cuzk_msm_sort_window(digits, named, n, n_buckets, entries, ends, start);
                assert_int_equal(ends[0], 0x5a5a5a5a);
                assert_int_equal(ends[n_buckets + 1], 0x5a5a5a5a);
                /* in place order is by bucket, then by position: walk the buckets in use */
                uint8_t *seen = calloc(n + 1, 1);
                for (size_t b = 1; b <= n_buckets; b++) {
                    assert_true(ends[b] >= at);
                    uint32_t last = 0;
                    for (uint32_t first = at; at < ends[b]; at++) {
                        uint32_t base = entries[at] >> 1;
                        uint32_t i = named != NULL ? (base - 3) / 5 : base;
                        assert_true(i < n && seen[i] == 0);
                        assert_true(at == first || i > last);
                        assert_int_equal(abs(digits[i]), b);
                        assert_true((entries[at] & 1) == (digits[i] < 0));
                        assert_true(named == NULL || base == index[i]);
                        seen[i] = 1;
                        last = i;
                    }
                }
                for (size_t i = 0; i < n; i++) {
                    assert_int_equal(seen[i], digits[i] != 0);
                }
                for (size_t i = 0; i < start; i++) {
                    assert_int_equal(entries[i], 0x5a5a5a5a);
                }
                assert_int_equal(entries[at], 0x5a5a5a5a);
                free(seen);
            }
        }
    }
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits),  cmocka_unit_test(test_some_digits),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_nonzero),
        cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests_name("msm digits", tests, make_pools, destroy_pools);
}
