/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The operations of poly/oct_lanes.h at the ends of their ranges: values of every size that the
 * transforms can reach, in limbs that are as far from carried as they can be. Random transforms
 * never come near these bounds. Built once per curve and eight-lane path; run by test_oct.c. */
#include "poly/oct_lanes.h"

#include "oct_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t p52[FRX8_LIMBS] = CUZK_CC(FR52_MODULUS);

/* ---- exact integers in signed 52-bit limbs ---- */

typedef struct {
    int64_t l[FRX8_LIMBS];
} wide;

static wide lane_of(const oct *a, int lane)
{
    wide w;
    for (int j = 0; j < FRX8_LIMBS; j++) {
        uint64_t x[8];
        v8_storeu(x, a->l[j]);
        w.l[j] = (int64_t)x[lane];
    }
    return w;
}

static void set_lane(oct *a, int lane, wide w)
{
    for (int j = 0; j < FRX8_LIMBS; j++) {
        uint64_t x[8];
        v8_storeu(x, a->l[j]);
        x[lane] = (uint64_t)w.l[j];
        a->l[j] = v8_loadu(x);
    }
}

/* Same value, limbs 0 … 3 in [0, 2^52). */
static wide carried(wide w)
{
    for (int j = 0; j + 1 < FRX8_LIMBS; j++) {
        w.l[j + 1] += w.l[j] >> 52;
        w.l[j] &= (int64_t)V8_LOW52;
    }
    return w;
}

/* a + k·r, carried. |k| ≤ 100. */
static wide plus_multiple(wide a, int64_t k)
{
    a = carried(a);
    for (int j = 0; j < FRX8_LIMBS; j++) {
        a.l[j] += k * (int64_t)p52[j];
    }
    return carried(a);
}

static wide minus(wide a, wide b)
{
    for (int j = 0; j < FRX8_LIMBS; j++) {
        a.l[j] -= b.l[j];
    }
    return carried(a);
}

/* low·r ≤ a < high·r? */
static bool within(wide a, int64_t low, int64_t high)
{
    return plus_multiple(a, -low).l[4] >= 0 && plus_multiple(a, -high).l[4] < 0;
}

/* a modulo r, as an element whose Montgomery words are that number. */
static fr residue(wide a)
{
    fr acc, step, limb;
    uint64_t words[FR_LIMBS] = {UINT64_C(1) << 52, 0, 0, 0};
    fr_from_canonical(&step, words);
    fr_set_zero(&acc);
    a = carried(a);
    for (int j = FRX8_LIMBS - 1; j >= 0; j--) {
        bool negative = a.l[j] < 0;
        memset(words, 0, sizeof words);
        words[0] = (uint64_t)(negative ? -a.l[j] : a.l[j]);
        fr_from_canonical(&limb, words);
        if (negative) {
            fr_neg(&limb, &limb);
        }
        fr_mul(&acc, &acc, &step);
        fr_add(&acc, &acc, &limb);
    }
    return acc;
}

static fr power_of_two(int e)
{
    fr two, o;
    fr_set_one(&two);
    fr_dbl(&two, &two);
    if (e < 0) {
        fr_inv(&two, &two);
        e = -e;
    }
    uint64_t words[1] = {(uint64_t)e};
    fr_pow(&o, &two, words, 1);
    return o;
}

/* ---- inputs ---- */

/* A value in [0, high·r): often at an end, or next to a multiple of r. */
static wide random_value(int64_t high)
{
    wide w = {{0}};
    uint64_t kind = check_random() % 8;
    switch (kind == 2 && high == 1 ? 1 : kind) {
    case 0:
        return w;
    case 1:
        w.l[0] = -1;
        return plus_multiple(w, high);
    case 2:
        w.l[0] = (int64_t)(check_random() % 3) - 1;
        return plus_multiple(w, 1 + (int64_t)(check_random() % (uint64_t)(high - 1)));
    default:
        for (int j = 0; j < FRX8_LIMBS; j++) {
            w.l[j] = (int64_t)(check_random() & V8_LOW52);
        }
        w.l[4] %= (int64_t)p52[4];
        return plus_multiple(w, (int64_t)(check_random() % (uint64_t)high));
    }
}

/* The same value in other limbs: up to 2^9 units of the limb above moved into each. */
static wide spread(wide w)
{
    uint64_t kind = check_random() % 4;
    for (int j = 0; kind != 0 && j + 1 < FRX8_LIMBS; j++) {
        int64_t d = kind == 1 ? 512 : kind == 2 ? -512 : (int64_t)(check_random() % 1024) - 512;
        w.l[j] += d * ((int64_t)1 << 52);
        w.l[j + 1] -= d;
    }
    return w;
}

static void random_oct(oct *a, wide values[8], int64_t high, bool raw)
{
    frx8_set_zero(a);
    for (int lane = 0; lane < 8; lane++) {
        values[lane] = random_value(high);
        set_lane(a, lane, raw ? spread(values[lane]) : values[lane]);
    }
}

static fr random_element(void)
{
    uint64_t words[FR_LIMBS];
    fr o;
    for (int i = 0; i < FR_LIMBS; i++) {
        words[i] = check_random() % 8 == 0 ? UINT64_MAX : check_random();
    }
    fr_from_canonical(&o, words);
    return o;
}

/* ---- checks ---- */

static void complain(const char *what, int lane, wide found)
{
    found = carried(found);
    fprintf(stderr,
            "%s: lane %d: %" PRIx64 " %013" PRIx64 " %013" PRIx64 " %013" PRIx64 " %013" PRIx64
            "\n",
            what, lane, (uint64_t)found.l[4], (uint64_t)found.l[3], (uint64_t)found.l[2],
            (uint64_t)found.l[1], (uint64_t)found.l[0]);
    exit(1);
}

/* found ≡ expected, and low·r ≤ found < high·r */
static void expect(const char *what, int lane, wide found, fr expected, int64_t low, int64_t high)
{
    fr r = residue(found);
    if (!fr_eq(&r, &expected) || !within(found, low, high)) {
        complain(what, lane, found);
    }
}

static void expect_carried(const char *what, int lane, wide w)
{
    for (int j = 0; j < FRX8_LIMBS; j++) {
        if (w.l[j] < 0 || w.l[j] >> 52 != 0) {
            complain(what, lane, w);
        }
    }
}

static void check_weaken(void)
{
    oct a;
    wide in[8];
    /* up to the last multiple of r below 2^260 */
    random_oct(&a, in, QUOTIENT, true);
    oct_weaken(&a);
    for (int lane = 0; lane < 8; lane++) {
        expect("weaken", lane, lane_of(&a, lane), residue(in[lane]), 0, 2);
    }
    random_oct(&a, in, QUOTIENT, true);
    weaken_carried(&a);
    for (int lane = 0; lane < 8; lane++) {
        expect("weaken_carried", lane, lane_of(&a, lane), residue(in[lane]), 0, 2);
        expect_carried("weaken_carried", lane, lane_of(&a, lane));
    }
    oct_reduce(&a);
    for (int lane = 0; lane < 8; lane++) {
        expect("reduce", lane, lane_of(&a, lane), residue(in[lane]), 0, 1);
        expect_carried("reduce", lane, lane_of(&a, lane));
    }
}

/* multiplied: a·b·2^-260, for the pairs s = 0, 1 */
static fr product(wide a, wide b)
{
    fr x = residue(a), y = residue(b), r = power_of_two(-260);
    fr_mul(&x, &x, &y);
    fr_mul(&x, &x, &r);
    return x;
}

static void check_mul(void)
{
    oct a[2], b[2], c[2], o[2];
    wide va[2][8], vb[2][8], vc[2][8];
    for (int s = 0; s < 2; s++) {
        random_oct(&a[s], va[s], OCT_RANGE_LIMIT, true);
        random_oct(&b[s], vb[s], OCT_RANGE_LIMIT, true);
        random_oct(&c[s], vc[s], OCT_RANGE_LIMIT, true);
    }
    oct_mul2(&o[0], &a[0], &b[0], &o[1], &a[1], &b[1]);
    for (int s = 0; s < 2; s++) {
        for (int lane = 0; lane < 8; lane++) {
            wide w = lane_of(&o[s], lane);
            expect("mul2", lane, w, product(va[s][lane], vb[s][lane]), 0, 2);
            expect_carried("mul2", lane, w);
        }
    }
    oct_mul2_sub(&o[0], &a[0], &b[0], &c[0], &o[1], &a[1], &b[1], &c[1]);
    for (int s = 0; s < 2; s++) {
        for (int lane = 0; lane < 8; lane++) {
            fr e = product(va[s][lane], vb[s][lane]), x = residue(vc[s][lane]);
            fr_sub(&e, &e, &x);
            expect("mul2_sub", lane, lane_of(&o[s], lane), e, 0, 4);
        }
    }
    /* in place, and the same factor twice */
    oct_mul2(&a[0], &a[0], &a[0], &a[1], &a[1], &b[1]);
    for (int lane = 0; lane < 8; lane++) {
        expect("mul2 in place", lane, lane_of(&a[0], lane), product(va[0][lane], va[0][lane]), 0,
               2);
        expect("mul2 in place", lane, lane_of(&a[1], lane), product(va[1][lane], vb[1][lane]), 0,
               2);
    }
}

static fr times(wide v, const fr *w)
{
    fr x = residue(v);
    fr_mul(&x, &x, w);
    return x;
}

static void check_butterflies(void)
{
    oct u[2], v[2], o[2];
    wide vu[2][8], vv[2][8];
    factor f[2];
    fr w[2] = {random_element(), random_element()};
    factor_set(&f[0], &w[0]);
    factor_set(&f[1], &w[1]);
    for (unsigned raise = 0; raise <= 15; raise += 3) {
        int64_t range = OCT_RANGE_LIMIT - 3 - (int64_t)raise;
        for (int s = 0; s < 2; s++) {
            random_oct(&u[s], vu[s], range, true);
            random_oct(&v[s], vv[s], OCT_RANGE_LIMIT, true);
        }
        oct_mul2_factors(&o[0], &v[0], &f[0], &o[1], &v[1], &f[1]);
        if (raise == 0) {
            oct_butterfly2(&u[0], &v[0], &f[0], &u[1], &v[1], &f[1]);
        } else {
            oct_butterfly2_raise(&u[0], &v[0], &f[0], &u[1], &v[1], &f[1], raise);
        }
        for (int s = 0; s < 2; s++) {
            for (int lane = 0; lane < 8; lane++) {
                fr x = times(vv[s][lane], &w[s]), sum = residue(vu[s][lane]), difference = sum;
                fr_add(&sum, &sum, &x);
                fr_sub(&difference, &difference, &x);
                wide du = minus(lane_of(&u[s], lane), vu[s][lane]);
                /* in [-3r, 3r) - raise, as it is subtracted */
                wide dv = minus(vu[s][lane], lane_of(&v[s], lane));
                int64_t up = (int64_t)raise;
                if (!within(du, up - 3, up + 3) || !within(dv, -up - 3, -up + 3)) {
                    complain("butterfly2 range", lane, du);
                }
                expect("butterfly2 sum", lane, lane_of(&u[s], lane), sum, -3, OCT_RANGE_LIMIT);
                expect("butterfly2 difference", lane, lane_of(&v[s], lane), difference, -3,
                       OCT_RANGE_LIMIT);
                expect("mul2_factors", lane, lane_of(&o[s], lane), x, 0, 2);
                expect_carried("mul2_factors", lane, lane_of(&o[s], lane));
            }
        }
    }
    for (unsigned raise = 6; raise <= 12; raise += 3) {
        random_oct(&u[0], vu[0], 2, true);
        random_oct(&v[0], vv[0], 2, true);
        random_oct(&u[1], vu[1], 4, true);
        random_oct(&v[1], vv[1], 4, true);
        oct_butterfly_one_first(&u[0], &v[0]);
        oct_butterfly_one_second(&u[1], &v[1], raise);
        for (int s = 0; s < 2; s++) {
            for (int lane = 0; lane < 8; lane++) {
                fr x = residue(vv[s][lane]), sum = residue(vu[s][lane]), difference = sum;
                int64_t low = s == 0 ? 0 : (int64_t)raise, high = s == 0 ? 4 : low + 8;
                fr_add(&sum, &sum, &x);
                fr_sub(&difference, &difference, &x);
                expect("butterfly_one sum", lane, lane_of(&u[s], lane), sum, low, high);
                expect("butterfly_one difference", lane, lane_of(&v[s], lane), difference, low,
                       high + 1);
            }
        }
    }
}

static void check_series(void)
{
    oct out[16];
    fr first[8], ratio[8];
    for (int lane = 0; lane < 8; lane++) {
        first[lane] = random_element();
        ratio[lane] = random_element();
    }
    oct_series(out, 16, first, ratio);
    fr radix = power_of_two(260);
    for (int k = 0; k < 16; k++) {
        for (int lane = 0; lane < 8; lane++) {
            fr e;
            fr_mul(&e, &first[lane], &radix);
            /* digits: what stands above 52 bits does not count */
            wide w = lane_of(&out[k], lane);
            for (int j = 0; j < FRX8_LIMBS; j++) {
                w.l[j] &= (int64_t)V8_LOW52;
            }
            expect("series", lane, w, e, 0, 7);
            fr_mul(&first[lane], &first[lane], &ratio[lane]);
        }
    }
}

/* Words of memory as a plain number. */
static fr plain(const fr *words)
{
    fr o;
    fr_from_canonical(&o, words->l);
    return o;
}

static void check_memory(void)
{
    oct a[2], b[2], c[2];
    wide va[2][8], vb[2][8], vc[2][8];
    V8_ALIGN fr memory[2][9];
    for (int s = 0; s < 2; s++) {
        random_oct(&a[s], va[s], OCT_RANGE_LIMIT, true);
        random_oct(&b[s], vb[s], OCT_RANGE_LIMIT, true);
        random_oct(&c[s], vc[s], OCT_RANGE_LIMIT, true);
    }
    bool stream = check_random() & 1;
    fr *out = memory[0] + (stream ? 0 : 1);
    oct_store(out, &a[0], stream);
    for (int lane = 0; lane < 8; lane++) {
        fr e = residue(va[0][lane]), f = plain(&out[lane]);
        if (!fr_is_reduced(&out[lane]) || !fr_eq(&e, &f)) {
            complain("store", lane, va[0][lane]);
        }
    }
    oct_load(&b[0], out);
    for (int lane = 0; lane < 8; lane++) {
        expect("load", lane, lane_of(&b[0], lane), residue(va[0][lane]), 0, 1);
        expect_carried("load", lane, lane_of(&b[0], lane));
    }
    random_oct(&b[0], vb[0], OCT_RANGE_LIMIT, true);

    oct_store2_circom(memory[0], &a[0], &b[0], &c[0], memory[1] + 1, &a[1], &b[1], &c[1], false);
    fr scale = power_of_two(-130);
    for (int s = 0; s < 2; s++) {
        for (int lane = 0; lane < 8; lane++) {
            fr e = product(va[s][lane], vb[s][lane]), x = residue(vc[s][lane]);
            fr_mul(&x, &x, &scale);
            fr_sub(&e, &e, &x);
            fr f = plain(&memory[s][s + lane]);
            if (!fr_is_reduced(&memory[s][s + lane]) || !fr_eq(&e, &f)) {
                complain("store2_circom", lane, va[s][lane]);
            }
        }
    }

    random_oct(&b[0], vb[0], 2, false);
    oct_store_difference(memory[1], &a[0], &b[0], false);
    for (int lane = 0; lane < 8; lane++) {
        fr e = residue(va[0][lane]), x = residue(vb[0][lane]);
        fr_sub(&e, &e, &x);
        fr f = plain(&memory[1][lane]);
        if (!fr_is_reduced(&memory[1][lane]) || !fr_eq(&e, &f)) {
            complain("store_difference", lane, va[0][lane]);
        }
    }
}

static void check_products(void)
{
    fr in[4][8];
    oct o[2];
    for (int i = 0; i < 4; i++) {
        for (int lane = 0; lane < 8; lane++) {
            in[i][lane] = random_element();
        }
    }
    oct_load2_products(&o[0], &o[1], in[0], in[1], in[2], in[3]);
    for (int s = 0; s < 2; s++) {
        for (int lane = 0; lane < 8; lane++) {
            fr x;
            fr_mul(&x, &in[2 * s][lane], &in[2 * s + 1][lane]);
            expect("load2_products", lane, lane_of(&o[s], lane), plain(&x), 0, 2);
            expect_carried("load2_products", lane, lane_of(&o[s], lane));
        }
    }
}

static void check_tiles(void)
{
    oct rows[8];
    wide values[8][8];
    V8_ALIGN chunk chunks[24];
    for (int i = 0; i < 8; i++) {
        random_oct(&rows[i], values[i], 1, false);
        for (int lane = 0; lane < 8; lane++) {
            /* up to the largest weak value */
            values[i][lane].l[4] += (int64_t)(check_random() % 2 * (p52[4] / 4));
            set_lane(&rows[i], lane, values[i][lane]);
        }
    }
    oct_store_tile(chunks, 3, rows, check_random() & 1);
    for (int t = 0; t < 8; t++) {
        oct a;
        oct_load_chunk(&a, &chunks[3 * t]);
        for (int i = 0; i < 8; i++) {
            wide w = lane_of(&a, i);
            if (memcmp(&w, &values[i][t], sizeof w) != 0) {
                complain("tile", i, w);
            }
        }
    }
}

void CUZK_INSTANCE(oct_checks)(void)
{
    for (int i = 0; i < 200; i++) {
        check_weaken();
        check_mul();
        check_butterflies();
        check_series();
        check_memory();
        check_products();
        check_tiles();
    }
}
