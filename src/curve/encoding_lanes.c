/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Decoding and encoding on eight lanes, a point each. Built for the paths ifma and ifma-emulated,
 * bls12_381.
 *
 * A coordinate comes as 48 big-endian bytes; the flags of the first byte are zero in a finite
 * uncompressed point and would make it too large. It is taken to Montgomery form by one
 * multiplication and from there to memory form by another. Ranges, in multiples of p: coordinates
 * in Montgomery form and products are below 2.1; anything below 2^35 may be multiplied. */
#include "field/lanes.h"

#include <stdbool.h>

enum { N = FPX8_LIMBS, W = FP_LIMBS };

bool CUZK_INSTANCE(decode_g1)(void *out, const uint8_t *in, size_t n);
bool CUZK_INSTANCE(decode_g2)(void *out, const uint8_t *in, size_t n);
void CUZK_INSTANCE(encode_g1)(uint8_t *out, const void *in, size_t n);
void CUZK_INSTANCE(encode_g2)(uint8_t *out, const void *in, size_t n);

/* w[k] = word k of eight records of n_words (a multiple of 4). */
V8_FN void load_words(v8 *w, const uint8_t *in, int n_words)
{
    V8_UNROLL
    for (int k = 0; k < n_words; k += 8) {
        v8 r[8];
        V8_UNROLL
        for (int i = 0; i < 8; i++) {
            const uint8_t *p = in + 8 * (n_words * i + k);
            r[i] = k + 8 <= n_words ? v8_loadu(p) : v8_loadu_masked(0x0f, p);
        }
        v8_transpose(r);
        V8_UNROLL
        for (int j = 0; j < 8; j++) {
            if (k + j < n_words) {
                w[k + j] = r[j];
            }
        }
    }
}

V8_FN void store_words(uint8_t *out, const v8 *w, int n_words)
{
    V8_UNROLL
    for (int k = 0; k < n_words; k += 8) {
        v8 r[8];
        V8_UNROLL
        for (int j = 0; j < 8; j++) {
            r[j] = k + j < n_words ? w[k + j] : v8_zero();
        }
        v8_transpose(r);
        V8_UNROLL
        for (int i = 0; i < 8; i++) {
            uint8_t *p = out + 8 * (n_words * i + k);
            if (k + 8 <= n_words) {
                v8_storeu(p, r[i]);
            } else {
                v8_storeu_masked(p, 0x0f, r[i]);
            }
        }
    }
}

/* Two coordinates from their big-endian words; the lanes in which both are below p. */
static v8_mask coordinates(fpx8 *o0, const v8 *w0, fpx8 *o1, const v8 *w1)
{
    static const uint64_t r2[N] = CUZK_CC(FP52_R2);
    const v8 *in[2] = {w0, w1};
    fpx8 x[2], k;
    v8_mask below = 0xff;
    for (int s = 0; s < 2; s++) {
        v8 w[W];
        fpx8 t;
        for (int j = 0; j < W; j++) {
            w[j] = v8_bswap(in[s][W - 1 - j]);
        }
        fpx8_from_words(&x[s], w, 0);
        for (int j = 0; j < N; j++) {
            t.l[j] = v8_sub(x[s].l[j], v8_set1(fpx8_multiple(1, j)));
        }
        fpx8_carry(&t);
        below &= v8_test(t.l[N - 1], v8_set1(UINT64_C(1) << 63));
    }
    fpx8_broadcast(&k, r2);
    fpx8_mul2(o0, &x[0], &k, o1, &x[1], &k);
    return below;
}

/* Memory form of two elements. */
static void to_memory(v8 *w0, const fpx8 *a0, v8 *w1, const fpx8 *a1)
{
    static const uint64_t to_mont[N] = CUZK_CC(FP52_TO_MONT);
    fpx8 k, t[2];
    fpx8_broadcast(&k, to_mont);
    fpx8_mul2(&t[0], a0, &k, &t[1], a1, &k);
    for (int s = 0; s < 2; s++) {
        fpx8_reduce_once(&t[s], 2);
        fpx8_reduce_once(&t[s], 1);
    }
    fpx8_to_words(w0, &t[0]);
    fpx8_to_words(w1, &t[1]);
}

/* Whether y² - x³ - 4 is zero in all lanes. */
V8_FN bool is_difference_zero(const fpx8 *y2, const fpx8 *x3)
{
    fpx8 d, one;
    fpx8_set_one(&one);
    fpx8_sub(&d, y2, x3, 12);
    V8_UNROLL
    for (int j = 0; j < N; j++) {
        d.l[j] = v8_sub(d.l[j], v8_shl(one.l[j], 2));
    }
    fpx8_carry(&d);
    return fpx8_is_zero(&d) == 0xff;
}

static bool decode_8_g1(uint8_t *out, const uint8_t *in)
{
    v8 w[2 * W];
    fpx8 x, y, x2, y2;
    load_words(w, in, 2 * W);
    v8_mask good = coordinates(&x, w, &y, w + W);
    to_memory(w, &x, w + W, &y);
    store_words(out, w, 2 * W);
    fpx8_mul2(&x2, &x, &x, &y2, &y, &y);
    fpx8_mul(&x2, &x2, &x);
    return good == 0xff && is_difference_zero(&y2, &x2);
}

bool CUZK_INSTANCE(decode_g1)(void *out, const uint8_t *in, size_t n)
{
    enum { BYTES = 16 * W };
    bool good = true;
    for (size_t i = 0; i < n && good; i += 8) {
        good = decode_8_g1((uint8_t *)out + BYTES * i, in + BYTES * i);
    }
    return good;
}

/* o = a² in fp2: below 2.1 and 2.1. */
static void square_fp2(fpx8 o[2], const fpx8 a[2])
{
    fpx8 sum, difference, twice;
    fpx8_add(&sum, &a[0], &a[1]);
    fpx8_sub(&difference, &a[0], &a[1], 4);
    fpx8_add(&twice, &a[0], &a[0]);
    fpx8_carry(&sum);
    fpx8_carry(&difference);
    fpx8_carry(&twice);
    fpx8_mul2(&o[0], &sum, &difference, &o[1], &twice, &a[1]);
}

/* o = a·b in fp2: below 7 and 5, not negative. */
static void multiply_fp2(fpx8 o[2], const fpx8 a[2], const fpx8 b[2])
{
    fpx8 t[4];
    fpx8_mul2(&t[0], &a[0], &b[0], &t[1], &a[1], &b[1]);
    fpx8_mul2(&t[2], &a[0], &b[1], &t[3], &a[1], &b[0]);
    fpx8_sub(&o[0], &t[0], &t[1], 3);
    fpx8_add(&o[1], &t[2], &t[3]);
}

/* u-coefficients come first in the encoding. */
static bool decode_8_g2(uint8_t *out, const uint8_t *in)
{
    v8 w[4 * W];
    fpx8 x[2], y[2], x2[2], x3[2], y2[2];
    load_words(w, in, 4 * W);
    v8_mask good = coordinates(&x[1], w, &x[0], w + W);
    good &= coordinates(&y[1], w + 2 * W, &y[0], w + 3 * W);
    to_memory(w, &x[0], w + W, &x[1]);
    to_memory(w + 2 * W, &y[0], w + 3 * W, &y[1]);
    store_words(out, w, 4 * W);
    square_fp2(x2, x);
    multiply_fp2(x3, x2, x);
    square_fp2(y2, y);
    return good == 0xff && is_difference_zero(&y2[0], &x3[0]) && is_difference_zero(&y2[1], &x3[1]);
}

bool CUZK_INSTANCE(decode_g2)(void *out, const uint8_t *in, size_t n)
{
    enum { BYTES = 32 * W };
    bool good = true;
    for (size_t i = 0; i < n && good; i += 8) {
        good = decode_8_g2((uint8_t *)out + BYTES * i, in + BYTES * i);
    }
    return good;
}

/* ---- encoding --------------------------------------------------------------------------------
 */

/* Big-endian words of the plain values of two elements in memory form. Their product with 2^32 over
 * R52 takes the 2^384 out. */
static void plain_words(v8 *o0, const v8 *w0, v8 *o1, const v8 *w1)
{
    static const uint64_t c[N] = {UINT64_C(1) << (52 * N - 64 * W)};
    v8 *out[2] = {o0, o1};
    fpx8 k, x[2];
    fpx8_from_words(&x[0], w0, 0);
    fpx8_from_words(&x[1], w1, 0);
    fpx8_broadcast(&k, c);
    fpx8_mul2(&x[0], &x[0], &k, &x[1], &x[1], &k);
    for (int s = 0; s < 2; s++) {
        v8 w[W];
        fpx8_reduce_once(&x[s], 2);
        fpx8_reduce_once(&x[s], 1);
        fpx8_to_words(w, &x[s]);
        for (int j = 0; j < W; j++) {
            out[s][j] = v8_bswap(w[W - 1 - j]);
        }
    }
}

void CUZK_INSTANCE(encode_g1)(uint8_t *out, const void *in, size_t n)
{
    enum { BYTES = 16 * W };
    for (size_t i = 0; i < n; i += 8) {
        v8 w[2 * W], o[2 * W];
        load_words(w, (const uint8_t *)in + BYTES * i, 2 * W);
        plain_words(o, w, o + W, w + W);
        store_words(out + BYTES * i, o, 2 * W);
    }
}

void CUZK_INSTANCE(encode_g2)(uint8_t *out, const void *in, size_t n)
{
    enum { BYTES = 32 * W };
    for (size_t i = 0; i < n; i += 8) {
        v8 w[4 * W], o[4 * W];
        load_words(w, (const uint8_t *)in + BYTES * i, 4 * W);
        plain_words(o + W, w, o, w + W);
        plain_words(o + 3 * W, w + 2 * W, o + 2 * W, w + 3 * W);
        store_words(out + BYTES * i, o, 4 * W);
    }
}
