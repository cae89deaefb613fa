/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both modular inversions (field/inv.h and field/inv_divsteps.h): every element of small primes,
 * edge values of large ones of one to six words, the promises about the matrices, and the parts
 * that cut numbers into words of 62 and 30 bits. */
#include "bigint.h"
#include "field_test.h"

#include "field/inv.h"
#include "field/inv_divsteps.h"

enum { N_MAX = 6 };

/* A prime 2^bits - minus, in n words. */
typedef struct {
    unsigned bits;
    uint64_t minus;
    int n;
} prime;

static const prime primes[] = {
    {61, 1, 1},   {63, 25, 1}, {89, 1, 2},   {127, 1, 2},   {107, 1, 3}, {191, 19, 3},
    {255, 19, 4}, {127, 1, 4}, {255, 19, 5}, {383, 187, 6}, {61, 1, 6},  {255, 19, 6},
};
enum { N_PRIMES = sizeof primes / sizeof primes[0] };

static void words_of(const prime *q, uint64_t *p, big *m)
{
    big power = big_power_of_two(q->bits), minus = big_of(q->minus);
    *m = big_sub(&power, &minus);
    big_to_words(p, (size_t)q->n, m);
}

/* The functions unroll their loops and want a constant. */
static void gcd_inverse(uint64_t *o, const uint64_t *x, const uint64_t *c, const uint64_t *p,
                        uint64_t n0, int n)
{
    n == 1   ? cuzk_limbs_inv(o, x, c, p, n0, 1)
    : n == 2 ? cuzk_limbs_inv(o, x, c, p, n0, 2)
    : n == 3 ? cuzk_limbs_inv(o, x, c, p, n0, 3)
    : n == 4 ? cuzk_limbs_inv(o, x, c, p, n0, 4)
    : n == 5 ? cuzk_limbs_inv(o, x, c, p, n0, 5)
             : cuzk_limbs_inv(o, x, c, p, n0, 6);
}

static void divsteps_inverse(uint64_t *o, const uint64_t *x, const uint64_t *c, const uint64_t *p,
                             uint64_t n0, int n)
{
    n == 4 ? cuzk_divsteps_inv(o, x, c, p, n0, 4) : cuzk_divsteps_inv(o, x, c, p, n0, 6);
}

static uint64_t minus_inverse(uint64_t p)
{
    uint64_t x = 1;
    for (int i = 0; i < 6; i++) {
        x *= 2 - p * x;
    }
    return 0 - x;
}

/* c/x for one x and c below the modulus m. */
static void check(int n, const big *m, const big *x, const big *c)
{
    uint64_t p[N_MAX], x_words[N_MAX], c_words[N_MAX], found[N_MAX], want[N_MAX];
    size_t bytes = 8 * (size_t)n;
    big_to_words(p, (size_t)n, m);
    big_to_words(x_words, (size_t)n, x);
    big_to_words(c_words, (size_t)n, c);
    big expected = big_inv_mod(x, m);
    expected = big_mul_mod(&expected, c, m);
    big_to_words(want, (size_t)n, &expected);
    gcd_inverse(found, x_words, c_words, p, minus_inverse(p[0]), n);
    if (memcmp(found, want, bytes) != 0) {
        fail_msg("binary gcd, %d words, %u bits, x = 0x%llx…: 0x%llx…, expected 0x%llx…", n,
                 big_bits(m), (unsigned long long)x_words[0], (unsigned long long)found[0],
                 (unsigned long long)want[0]);
    }
    memcpy(found, x_words, bytes);
    gcd_inverse(found, found, c_words, p, minus_inverse(p[0]), n);
    assert_memory_equal(found, want, bytes); /* o = x */
    if (n != 4 && n != 6) {
        return;
    }
    divsteps_inverse(found, x_words, c_words, p, minus_inverse(p[0]), n);
    if (memcmp(found, want, bytes) != 0) {
        fail_msg("division steps, %d words, %u bits, x = 0x%llx…: 0x%llx…, expected 0x%llx…", n,
                 big_bits(m), (unsigned long long)x_words[0], (unsigned long long)found[0],
                 (unsigned long long)want[0]);
    }
    memcpy(found, x_words, bytes);
    divsteps_inverse(found, found, c_words, p, minus_inverse(p[0]), n);
    assert_memory_equal(found, want, bytes);
}

/* Every x of small primes, in words that are nearly all zero. */
static void test_small_primes(void **state)
{
    (void)state;
    static const uint64_t small[] = {3, 5, 7, 13, 127, 251, 257, 509};
    for (size_t k = 0; k < sizeof small / sizeof small[0]; k++) {
        big m = big_of(small[k]);
        for (uint64_t x = 0; x < small[k]; x++) {
            big a = big_of(x), c = big_of(1), last = big_of(small[k] - 1);
            check(1, &m, &a, &c);
            check(4, &m, &a, &last);
            if (x % 8 < 2) {
                check(6, &m, &a, &last);
            }
        }
    }
}

/* Edge values: 0 … 3, p - 1 … p - 3, (p ± 1)/2, powers of two around every word boundary of 30, 62
 * and 64 bits, one less, and their negatives. */
static void test_edges(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_PRIMES; k++) {
        uint64_t p[N_MAX];
        big m, one = big_of(1), two = big_of(2), rest;
        words_of(&primes[k], p, &m);
        big c[2] = {one, big_sub(&m, &one)};
        big half = big_div(&m, &two, &rest);
        for (uint64_t v = 0; v < 4; v++) {
            big a = big_of(v), negative = big_sub_mod(&m, &a, &m), near = big_add(&half, &a);
            for (int i = 0; i < 2; i++) {
                check(primes[k].n, &m, &a, &c[i]);
                check(primes[k].n, &m, &negative, &c[i]);
                check(primes[k].n, &m, &near, &c[i]);
            }
        }
        for (unsigned bit = 1; bit < primes[k].bits; bit++) {
            if (bit % 30 > 1 && bit % 62 > 1 && bit % 64 > 1 && bit % 7 != 0) {
                continue;
            }
            big a = big_power_of_two(bit), below = big_sub(&a, &one);
            big negative = big_sub(&m, &a);
            check(primes[k].n, &m, &a, &c[bit % 2]);
            check(primes[k].n, &m, &below, &c[bit % 2]);
            check(primes[k].n, &m, &negative, &c[bit % 2]);
        }
    }
}

static void test_random(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_PRIMES; k++) {
        uint64_t p[N_MAX], w[N_MAX];
        big m;
        words_of(&primes[k], p, &m);
        for (int i = 0; i < 60; i++) {
            rand_words(w, (unsigned)primes[k].n);
            big x = big_from_words(w, (size_t)primes[k].n);
            rand_words(w, (unsigned)primes[k].n);
            big c = big_from_words(w, (size_t)primes[k].n);
            x = big_mod(&x, &m);
            c = big_mod(&c, &m);
            check(primes[k].n, &m, &x, &c);
        }
    }
}

/* Neighbours in Euclid's algorithm whose quotients are all one, or long runs of shifts: Fibonacci
 * numbers against each other, and x·2^k = ±1 modulo p, which leave the top words near a tie. */
static void test_ties(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_PRIMES; k++) {
        uint64_t p[N_MAX];
        big m, one = big_of(1), a = one, b = one, two = big_of(2), x = one;
        words_of(&primes[k], p, &m);
        big half = big_inv_mod(&two, &m);
        for (unsigned i = 0; i < primes[k].bits; i++) {
            big next = big_add(&a, &b);
            a = b;
            b = next;
            if (big_compare(&b, &m) < 0) {
                check(primes[k].n, &m, &b, &one);
            }
            x = big_mul_mod(&x, &half, &m);
            if (i % 3 == 0) {
                big negative = big_sub(&m, &x);
                check(primes[k].n, &m, &x, &one);
                check(primes[k].n, &m, &negative, &one);
            }
        }
        /* x close to p/φ: quotients of one for as long as there are digits */
        big ratio = big_mul(&m, &a), rest, near = big_div(&ratio, &b, &rest);
        for (uint64_t v = 0; v < 20; v++) {
            big step = big_of(v), up = big_add(&near, &step), down = big_sub_mod(&near, &step, &m);
            check(primes[k].n, &m, &up, &one);
            check(primes[k].n, &m, &down, &one);
        }
    }
}

static void test_splits(void **state)
{
    (void)state;
    for (int n = 1; n <= N_MAX; n++) {
        for (int i = 0; i < 400; i++) {
            uint64_t a[N_MAX], back[N_MAX];
            int64_t w62[CUZK_INV_LIMBS_MAX];
            int32_t w30[CUZK_DIVSTEPS_WORDS_MAX];
            rand_words(a, (unsigned)n);
            big value = big_from_words(a, (size_t)n), sum = big_of(0);
            cuzk_inv_split(w62, n + 1, a, n);
            for (int j = n; j >= 0; j--) {
                big digit = big_of((uint64_t)w62[j]), shift = big_power_of_two(62 * (unsigned)j);
                assert_true(w62[j] >= 0 && w62[j] <= (int64_t)CUZK_INV_MASK);
                digit = big_mul(&digit, &shift);
                sum = big_add(&sum, &digit);
            }
            assert_int_equal(big_compare(&sum, &value), 0);
            cuzk_inv_join(back, n, w62, n + 1);
            assert_memory_equal(back, a, 8 * (size_t)n);
            if (n == 4 || n == 6) {
                int words = n == 4 ? 9 : 13;
                sum = big_of(0);
                n == 4 ? cuzk_divsteps_split(w30, 9, a, 4) : cuzk_divsteps_split(w30, 13, a, 6);
                for (int j = 0; j < words; j++) {
                    big digit = big_of((uint64_t)w30[j]);
                    big shift = big_power_of_two(30 * (unsigned)j);
                    assert_true(w30[j] >= 0 && w30[j] <= CUZK_DIVSTEPS_MASK);
                    digit = big_mul(&digit, &shift);
                    sum = big_add(&sum, &digit);
                }
                assert_int_equal(big_compare(&sum, &value), 0);
            }
        }
    }
}

/* Signed words of 62 bits: sums and absolute values, to the ends of what 128 bits hold. */
static void test_signed_words(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        cuzk_i128 value[2];
        int64_t w[2][3];
        for (int k = 0; k < 2; k++) {
            uint64_t r[2];
            rand_words(r, 2);
            value[k] = (cuzk_i128)((cuzk_u128)r[1] << 64 | r[0]) >> (2 + rand_u64() % 100);
            w[k][0] = (int64_t)((uint64_t)value[k] & CUZK_INV_MASK);
            w[k][1] = (int64_t)((uint64_t)(value[k] >> 62) & CUZK_INV_MASK);
            w[k][2] = (int64_t)(value[k] >> 124);
        }
        int64_t sign = rand_u64() % 2 ? 1 : -1, sum[3];
        memcpy(sum, w[0], sizeof sum);
        cuzk_inv_add(sum, w[1], sign, 3);
        cuzk_i128 back =
            ((cuzk_i128)sum[2] * ((cuzk_i128)1 << 62) + sum[1]) * ((cuzk_i128)1 << 62) + sum[0];
        assert_true(back == value[0] + sign * value[1]);
        bool was_negative = cuzk_inv_abs(w[0], 3);
        assert_true(was_negative == (value[0] < 0));
        back =
            ((cuzk_i128)w[0][2] * ((cuzk_i128)1 << 62) + w[0][1]) * ((cuzk_i128)1 << 62) + w[0][0];
        assert_true(back == (value[0] < 0 ? -value[0] : value[0]));
    }
}

/* A batch of 62 (30) steps: rows no longer than promised, a determinant of ±2^62 (2^30), and low
 * words that the matrix clears. */
static void test_matrices(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t a[2], b[2];
        rand_words(a, 2);
        rand_words(b, 2);
        b[0] |= 1;
        if (a[0] == 0) {
            a[0] = 1;
        }
        cuzk_inv_matrix m = cuzk_inv_batch(a[0], a[1] >> 2, b[0], b[1] >> 2);
        cuzk_i128 rows[2][2] = {{m.f0, m.g0}, {m.f1, m.g1}}, bound = (cuzk_i128)1 << 62;
        for (int k = 0; k < 2; k++) {
            cuzk_i128 f = rows[k][0] < 0 ? -rows[k][0] : rows[k][0];
            cuzk_i128 g = rows[k][1] < 0 ? -rows[k][1] : rows[k][1];
            assert_true(f + g <= bound);
            uint64_t low = (uint64_t)rows[k][0] * a[0] + (uint64_t)rows[k][1] * b[0];
            assert_true((low & CUZK_INV_MASK) == 0);
        }
        cuzk_i128 det = rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0];
        assert_true(det == bound || det == -bound);

        uint32_t minus_deltas = 2 * (uint32_t)(rand_u64() % 41) - 41;
        cuzk_divsteps_matrix s = cuzk_divsteps_batch(&minus_deltas, (uint32_t)b[0], (uint32_t)a[0]);
        int64_t d30 = (int64_t)s.u * s.r - (int64_t)s.v * s.q;
        assert_true(d30 == (int64_t)1 << 30 || d30 == -((int64_t)1 << 30));
        assert_true(llabs(s.u) + llabs(s.v) <= (int64_t)1 << 30);
        assert_true(llabs(s.q) + llabs(s.r) <= (int64_t)1 << 30);
        uint32_t f = (uint32_t)s.u * (uint32_t)b[0] + (uint32_t)s.v * (uint32_t)a[0];
        uint32_t g = (uint32_t)s.q * (uint32_t)b[0] + (uint32_t)s.r * (uint32_t)a[0];
        assert_true((f & (uint32_t)CUZK_DIVSTEPS_MASK) == 0);
        assert_true((g & (uint32_t)CUZK_DIVSTEPS_MASK) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_primes), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_ties),
        cmocka_unit_test(test_splits),       cmocka_unit_test(test_signed_words),
        cmocka_unit_test(test_matrices),
    };
    field_test_begin();
    return cmocka_run_group_tests_name("inversions", tests, NULL, NULL);
}
