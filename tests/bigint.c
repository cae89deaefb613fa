/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bigint.h"

#include <assert.h>
#include <string.h>

static void trim(big *a)
{
    while (a->n > 0 && a->d[a->n - 1] == 0) {
        a->n--;
    }
}

big big_of(uint64_t v)
{
    return big_from_words(&v, 1);
}

big big_from_words(const uint64_t *words, size_t n)
{
    big a = {.n = 2 * (int)n};
    assert(a.n <= BIG_DIGITS);
    for (size_t i = 0; i < n; i++) {
        a.d[2 * i] = (uint32_t)words[i];
        a.d[2 * i + 1] = (uint32_t)(words[i] >> 32);
    }
    trim(&a);
    return a;
}

big big_from_le(const void *bytes, size_t n)
{
    big a = {.n = ((int)n + 3) / 4};
    assert(a.n <= BIG_DIGITS);
    for (size_t i = 0; i < n; i++) {
        a.d[i / 4] |= (uint32_t)((const uint8_t *)bytes)[i] << (8 * (i % 4));
    }
    trim(&a);
    return a;
}

big big_power_of_two(unsigned k)
{
    big a = {.n = (int)k / 32 + 1};
    assert(a.n <= BIG_DIGITS);
    a.d[k / 32] = (uint32_t)1 << (k % 32);
    return a;
}

void big_to_words(uint64_t *words, size_t n, const big *a)
{
    for (size_t i = 0; i < n; i++) {
        words[i] = 2 * i + 1 < BIG_DIGITS ? a->d[2 * i] | (uint64_t)a->d[2 * i + 1] << 32 : 0;
    }
}

void big_to_le(void *bytes, size_t n, const big *a)
{
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)bytes)[i] = i / 4 < BIG_DIGITS ? (uint8_t)(a->d[i / 4] >> (8 * (i % 4))) : 0;
    }
}

int big_compare(const big *a, const big *b)
{
    if (a->n != b->n) {
        return a->n < b->n ? -1 : 1;
    }
    for (int i = a->n - 1; i >= 0; i--) {
        if (a->d[i] != b->d[i]) {
            return a->d[i] < b->d[i] ? -1 : 1;
        }
    }
    return 0;
}

bool big_is_zero(const big *a)
{
    return a->n == 0;
}

unsigned big_bits(const big *a)
{
    unsigned bits = 32 * (unsigned)a->n;
    while (bits > 0 && !big_bit(a, bits - 1)) {
        bits--;
    }
    return bits;
}

bool big_bit(const big *a, unsigned k)
{
    return k / 32 < BIG_DIGITS && (a->d[k / 32] >> (k % 32) & 1) != 0;
}

big big_add(const big *a, const big *b)
{
    big o = {.n = (a->n > b->n ? a->n : b->n) + 1};
    uint64_t carry = 0;
    assert(o.n <= BIG_DIGITS);
    for (int i = 0; i < o.n; i++) {
        carry += (uint64_t)a->d[i] + b->d[i];
        o.d[i] = (uint32_t)carry;
        carry >>= 32;
    }
    trim(&o);
    return o;
}

big big_sub(const big *a, const big *b)
{
    big o = {.n = a->n};
    int64_t carry = 0;
    assert(big_compare(a, b) >= 0);
    for (int i = 0; i < o.n; i++) {
        carry += (int64_t)a->d[i] - b->d[i];
        o.d[i] = (uint32_t)carry;
        carry >>= 32;
    }
    trim(&o);
    return o;
}

big big_mul(const big *a, const big *b)
{
    big o = {.n = a->n + b->n};
    assert(o.n <= BIG_DIGITS);
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->n; j++) {
            carry += (uint64_t)a->d[i] * b->d[j] + o.d[i + j];
            o.d[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        o.d[i + b->n] = (uint32_t)carry;
    }
    trim(&o);
    return o;
}

/* a·2^k for k below 32 */
static big shift_up(const big *a, unsigned k)
{
    big factor = big_of((uint64_t)1 << k);
    return big_mul(a, &factor);
}

/* Long division as on paper: a digit is guessed from the leading digits of what is left and of m,
 * whose highest bit is set for that; the guess is at most two too large (Knuth, vol. 2, 4.3.1). */
big big_div(const big *a, const big *m, big *rest)
{
    big quotient = {.n = 0};
    assert(m->n > 0);
    unsigned shift = (unsigned)__builtin_clz(m->d[m->n - 1]);
    big left = shift_up(a, shift), by = shift_up(m, shift);
    const uint64_t top = by.d[by.n - 1], second = by.n > 1 ? by.d[by.n - 2] : 0;
    for (int i = left.n - by.n; i >= 0; i--) {
        int at = i + by.n; /* the digit above those that m covers */
        uint64_t high = (at < BIG_DIGITS ? (uint64_t)left.d[at] << 32 : 0) | left.d[at - 1];
        uint64_t guess = high / top, over = high % top;
        guess = guess > UINT32_MAX ? UINT32_MAX : guess;
        over = high - guess * top;
        while (over <= UINT32_MAX &&
               guess * second > (over << 32 | (at >= 2 ? left.d[at - 2] : 0))) {
            guess--;
            over += top;
        }
        int64_t carry = 0;
        for (int j = 0; j <= by.n && i + j < BIG_DIGITS; j++) {
            uint64_t product = guess * by.d[j];
            int64_t t = (int64_t)left.d[i + j] + carry - (int64_t)(product & UINT32_MAX);
            left.d[i + j] = (uint32_t)t;
            carry = (t >> 32) - (int64_t)(product >> 32);
        }
        if (carry < 0) { /* one too large */
            uint64_t back = 0;
            guess--;
            for (int j = 0; j <= by.n && i + j < BIG_DIGITS; j++) {
                back += (uint64_t)left.d[i + j] + by.d[j];
                left.d[i + j] = (uint32_t)back;
                back >>= 32;
            }
        }
        quotient.d[i] = (uint32_t)guess;
        quotient.n = quotient.n == 0 && guess != 0 ? i + 1 : quotient.n;
    }
    trim(&left);
    for (int i = 0; i < left.n; i++) { /* back by the shift, from below */
        uint64_t two = left.d[i] | (uint64_t)(i + 1 < left.n ? left.d[i + 1] : 0) << 32;
        left.d[i] = (uint32_t)(two >> shift);
    }
    trim(&left);
    *rest = left;
    return quotient;
}

big big_mod(const big *a, const big *m)
{
    big rest;
    if (big_compare(a, m) < 0) {
        return *a;
    }
    (void)big_div(a, m, &rest);
    return rest;
}

big big_add_mod(const big *a, const big *b, const big *m)
{
    big sum = big_add(a, b);
    return big_mod(&sum, m);
}

big big_sub_mod(const big *a, const big *b, const big *m)
{
    big x = big_mod(a, m), y = big_mod(b, m);
    if (big_compare(&x, &y) < 0) {
        x = big_add(&x, m);
    }
    return big_sub(&x, &y);
}

big big_mul_mod(const big *a, const big *b, const big *m)
{
    big product = big_mul(a, b);
    return big_mod(&product, m);
}

big big_pow_mod(const big *a, const big *e, const big *m)
{
    big one = big_of(1), power = big_mod(&one, m);
    for (unsigned k = big_bits(e); k-- > 0;) {
        power = big_mul_mod(&power, &power, m);
        if (big_bit(e, k)) {
            power = big_mul_mod(&power, a, m);
        }
    }
    return power;
}

big big_inv_mod(const big *a, const big *m)
{
    /* x = s·a and y = t·a modulo m all along */
    big x = *m, y = big_mod(a, m), s = big_of(0), t = big_of(1);
    while (!big_is_zero(&y)) {
        big rest, quotient = big_div(&x, &y, &rest);
        big step = big_mul_mod(&quotient, &t, m);
        big next = big_sub_mod(&s, &step, m);
        x = y;
        y = rest;
        s = t;
        t = next;
    }
    return big_is_zero(a) ? big_of(0) : s;
}
