/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks of the vector primitives and of both eight-lane fields of one curve: operands at the
 * bounds of each function, compared with the scalar fields and, for ranges, with multiples of the
 * modulus. */
#include "field/lanes.h"

#include "lanes_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- field/v8.h ---- */

static void fill(uint64_t x[8])
{
    for (int i = 0; i < 8; i++) {
        x[i] = check_random();
        if (check_random() % 4 == 0) {
            x[i] = check_random() % 2 != 0 ? UINT64_MAX : 0;
        }
    }
}

static void check_same(v8 have, const uint64_t want[8])
{
    uint64_t x[8];
    v8_storeu(x, have);
    for (int i = 0; i < 8; i++) {
        assert_true(x[i] == want[i]);
    }
}

static void check_arithmetic(const uint64_t x[8], const uint64_t y[8], const uint64_t z[8])
{
    uint64_t lo[8], hi[8], sum[8], difference[8], left[8], right[8], arithmetic[8];
    v8 a = v8_loadu(x), b = v8_loadu(y), c = v8_loadu(z);
    for (int i = 0; i < 8; i++) {
        cuzk_u128 t = (cuzk_u128)(y[i] & V8_LOW52) * (z[i] & V8_LOW52);
        lo[i] = x[i] + ((uint64_t)t & V8_LOW52);
        hi[i] = x[i] + (uint64_t)(t >> 52);
        sum[i] = x[i] + y[i];
        difference[i] = x[i] - y[i];
        left[i] = x[i] << 13;
        right[i] = x[i] >> 52;
        arithmetic[i] = (uint64_t)((int64_t)x[i] >> 52);
    }
    check_same(v8_madd_lo(a, b, c), lo);
    check_same(v8_madd_hi(a, b, c), hi);
    check_same(v8_add(a, b), sum);
    check_same(v8_sub(a, b), difference);
    check_same(v8_shl(a, 13), left);
    check_same(v8_shr(a, 52), right);
    check_same(v8_sar(a, 52), arithmetic);
}

static void check_masks(const uint64_t x[8], const uint64_t y[8], const uint64_t z[8])
{
    uint64_t blend[8], sub[8], neg[8], conjunction[8], any[8], either[8], packed[9] = {0};
    v8_mask m = (v8_mask)check_random(), eq = 0, lt = 0, test = 0;
    v8 a = v8_loadu(x), b = v8_loadu(y), c = v8_loadu(z);
    unsigned n = 0;
    for (int i = 0; i < 8; i++) {
        bool on = m >> i & 1;
        blend[i] = on ? y[i] : x[i];
        sub[i] = on ? x[i] - y[i] : x[i];
        neg[i] = on ? 0 - x[i] : x[i];
        conjunction[i] = x[i] & y[i];
        any[i] = x[i] | y[i] | z[i];
        either[i] = x[i] ^ y[i];
        eq |= (v8_mask)((x[i] == y[i]) << i);
        lt |= (v8_mask)((x[i] < y[i]) << i);
        test |= (v8_mask)((conjunction[i] != 0) << i);
        if (on) {
            packed[n++] = x[i];
        }
    }
    check_same(v8_blend(m, a, b), blend);
    check_same(v8_sub_masked(m, a, b), sub);
    check_same(v8_neg_masked(m, a), neg);
    check_same(v8_and(a, b), conjunction);
    check_same(v8_or(v8_or(a, b), c), any);
    check_same(v8_or3(a, b, c), any);
    check_same(v8_xor(a, b), either);
    assert_int_equal(v8_eq(a, b), eq);
    assert_int_equal(v8_lt(a, b), lt);
    assert_int_equal(v8_test(a, b), test);
    assert_int_equal(v8_testn(a, b), (v8_mask)~test);
    uint64_t out[9] = {0};
    assert_int_equal(v8_compress_store(out + 1, m, a), n);
    for (unsigned i = 0; i < n; i++) {
        assert_true(out[i + 1] == packed[i]);
    }
    uint64_t masked[8];
    for (int i = 0; i < 8; i++) {
        masked[i] = m >> i & 1 ? x[i] : 0;
    }
    check_same(v8_loadu_masked(m, x), masked);
    memcpy(masked, y, sizeof masked);
    v8_storeu_masked(masked, m, a);
    for (int i = 0; i < 8; i++) {
        assert_true(masked[i] == (m >> i & 1 ? x[i] : y[i]));
    }
}

static void check_moves(const uint64_t x[8], const uint64_t y[8])
{
    uint64_t s1[8], s2[8], s4[8], table[8], words[64];
    v8 a = v8_loadu(x), r[8];
    for (int i = 0; i < 64; i++) {
        words[i] = check_random();
    }
    uint64_t index[8];
    uint64_t gathered[8];
    for (int i = 0; i < 8; i++) {
        s1[i] = x[i ^ 1];
        s2[i] = x[i ^ 2];
        s4[i] = x[i ^ 4];
        table[i] = x[y[i] & 7];
        index[i] = y[i] % 64;
        gathered[i] = words[index[i]];
    }
    check_same(v8_swap1(a), s1);
    check_same(v8_swap2(a), s2);
    check_same(v8_swap4(a), s4);
    check_same(v8_lookup(a, v8_loadu(y)), table);
    check_same(v8_gather(words, v8_loadu(index)), gathered);
    for (int i = 0; i < 8; i++) {
        r[i] = v8_loadu(words + 8 * i);
    }
    v8_transpose(r);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            gathered[j] = words[8 * j + i];
        }
        check_same(r[i], gathered);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = v8_loadu(words + 8 * i);
    }
    v8_deinterleave4(r);
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 8; j++) {
            gathered[j] = words[4 * j + k];
        }
        check_same(r[k], gathered);
    }
    v8_interleave4(r);
    for (int i = 0; i < 4; i++) {
        check_same(r[i], words + 8 * i);
    }
}

static void check_stores(const uint64_t x[8])
{
    uint64_t out[8] V8_ALIGN;
    uint64_t same[8];
    v8 a = v8_loadu(x);
    v8_store(out, a);
    check_same(v8_load(out), x);
    memset(out, 0, sizeof out);
    v8_stream(out, a);
    v8_fence();
    assert_memory_equal(out, x, sizeof out);
    for (int i = 0; i < 8; i++) {
        same[i] = x[3];
    }
    check_same(v8_set1(x[3]), same);
    check_same(v8_broadcast(&v8_constants(x)[3]), same);
    memset(same, 0, sizeof same);
    check_same(v8_zero(), same);
}

static void vectors(void)
{
    for (int n = 0; n < 2000; n++) {
        uint64_t x[8], y[8], z[8];
        fill(x);
        fill(y);
        fill(z);
        if (n % 4 == 0) {
            memcpy(y, x, sizeof y / 2);
        }
        check_arithmetic(x, y, z);
        check_masks(x, y, z);
        check_moves(x, y);
        check_stores(x);
    }
}

/* ---- the fields ---- */

static uint64_t check_lane(const v8 *a, int lane)
{
    uint64_t x;
    memcpy(&x, (const char *)a + 8 * lane, sizeof x);
    return x;
}

static void check_set_lane(v8 *a, int lane, uint64_t x)
{
    memcpy((char *)a + 8 * lane, &x, sizeof x);
}

#define K(name) scalar_##name
#define L(name) frx8_##name
#define L_T     frx8
#define L_N     FRX8_LIMBS
#define L_WORDS FR_LIMBS
#define S(name) fr_##name
#define S_T     fr
#include "lanes_field_checks_tmpl.h"

#define K(name) coordinate_##name
#define L(name) fpx8_##name
#define L_T     fpx8
#define L_N     FPX8_LIMBS
#define L_WORDS FP_LIMBS
#define S(name) fp_##name
#define S_T     fp
#include "lanes_field_checks_tmpl.h"

const lanes_field_checks CUZK_INSTANCE(lanes_field_checks) = {
    .vectors = vectors,
    .scalars = scalar_all,
    .coordinates = coordinate_all,
};
