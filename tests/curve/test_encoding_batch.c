/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Points decoded and encoded eight at a time against the same points one by one; one that is not
 * valid, in any lane and of any kind, refuses a batch. */
#include "curve/encoding_batch.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 40, BYTES_MAX = 192 };

static const cuzk_curve *curve;
static uint8_t affine[2][POINTS][BYTES_MAX]; /* packed in each row */
static uint8_t encoded[2][POINTS * BYTES_MAX];

/* 1·G, -2·G, 3·G … */
static void make_points(cuzk_group_id id)
{
    const cuzk_group *g = &curve->g[id];
    cuzk_jac sum, base;
    cuzk_affine generator;
    g->generator(&generator);
    g->from_affine(&base, &generator);
    sum = base;
    for (int i = 0; i < POINTS; i++) {
        cuzk_jac p = sum;
        if (i % 2 == 1) {
            g->neg(&p, &p);
        }
        g->to_affine(affine[id][i], &p);
        g->encode(encoded[id] + i * g->affine_bytes, affine[id][i], CUZK_POINT_UNCOMPRESSED);
        g->add(&sum, &sum, &base);
    }
}

static int setup(void **state)
{
    (void)state;
    curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    make_points(CUZK_G1);
    make_points(CUZK_G2);
    return 0;
}

static cuzk_decode_batch_fn batch_or_skip(cuzk_group_id id)
{
    cuzk_decode_batch_fn f = cuzk_decode_batch_get(CUZK_CURVE_BLS12_381, id);
    bool has_lanes = cuzk_cpu_path_get() >= CUZK_CPU_IFMA;
    assert_int_equal(f != NULL, has_lanes);
    assert_null(cuzk_decode_batch_get(CUZK_CURVE_BN254, id));
    assert_null(cuzk_encode_batch_get(CUZK_CURVE_BN254, id));
    assert_int_equal(cuzk_encode_batch_get(CUZK_CURVE_BLS12_381, id) != NULL, has_lanes);
    if (f == NULL) {
        skip();
    }
    return f;
}

/* At every alignment. */
static void test_valid(void **state)
{
    (void)state;
    for (int id = 0; id < 2; id++) {
        cuzk_decode_batch_fn f = batch_or_skip((cuzk_group_id)id);
        size_t bytes = curve->g[id].affine_bytes;
        for (size_t shift = 0; shift < 8; shift++) {
            uint8_t in[POINTS * BYTES_MAX + 8], out[POINTS * BYTES_MAX + 8];
            memcpy(in + shift, encoded[id], POINTS * bytes);
            memset(out, 0xa5, sizeof out);
            assert_true(f(out + (7 - shift), in + shift, POINTS));
            uint8_t again[POINTS * BYTES_MAX + 1];
            memset(again, 0xa5, sizeof again);
            cuzk_encode_batch_get(CUZK_CURVE_BLS12_381, (cuzk_group_id)id)(again, out + (7 - shift),
                                                                           POINTS);
            assert_memory_equal(again, encoded[id], POINTS * bytes);
            assert_int_equal(again[POINTS * bytes], 0xa5);
            for (size_t i = 0; i < POINTS; i++) {
                assert_memory_equal(out + (7 - shift) + i * bytes, affine[id][i], bytes);
            }
            for (size_t i = POINTS * bytes; i < POINTS * bytes + shift; i++) {
                assert_int_equal(out[7 - shift + i], 0xa5);
            }
        }
        uint8_t nothing[1] = {7};
        assert_true(f(nothing, encoded[id], 0));
        assert_int_equal(nothing[0], 7);
    }
}

/* Add p to a big-endian coordinate, or set it to p - 1, p or the largest number. */
static void spoil_coordinate(uint8_t *p48, int how)
{
    uint64_t carry = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t old = cuzk_load_u64_be(p48 + 40 - 8 * i), p = curve->p[i];
        if (how == 0) {
            uint64_t sum = old + p, out = sum + carry;
            carry = (sum < old) + (out < sum);
            cuzk_store_u64_be(p48 + 40 - 8 * i, out);
        } else {
            cuzk_store_u64_be(p48 + 40 - 8 * i, how == 3 ? UINT64_MAX : p - (how == 1 && i == 0));
        }
    }
    if (how == 3) {
        p48[0] = 0x1f; /* no flags */
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (int id = 0; id < 2; id++) {
        cuzk_decode_batch_fn f = batch_or_skip((cuzk_group_id)id);
        const cuzk_group *g = &curve->g[id];
        size_t bytes = g->affine_bytes;
        int n_coords = (int)(bytes / 48);
        for (int lane = 0; lane < 16; lane++) {
            for (int kind = 0; kind < 4 * n_coords + 6; kind++) {
                uint8_t in[16 * BYTES_MAX], out[16 * BYTES_MAX];
                cuzk_affine one;
                memcpy(in, encoded[id], 16 * bytes);
                uint8_t *p = in + (size_t)lane * bytes;
                int other = kind - 4 * n_coords;
                if (other < 0) {
                    spoil_coordinate(p + 48 * (kind / 4), kind % 4);
                } else if (other < 3) {
                    p[0] |= (uint8_t)(0x20 << other); /* larger y, infinity, compressed */
                } else if (other == 3) {
                    memset(p, 0, bytes);
                } else if (other == 4) {
                    memset(p, 0, bytes);
                    p[0] = 0x40; /* infinity */
                } else {
                    p[bytes - 1] ^= 1;
                }
                bool valid = g->decode(&one, p, CUZK_POINT_UNCOMPRESSED, false) == CUZK_POINT_OK &&
                             !g->affine_is_infinity(&one);
                assert_false(valid);
                assert_false(f(out, in, 16));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_valid), cmocka_unit_test(test_bad)};
    if (cuzk_cpu_check(NULL) != CUZK_OK) {
        return 77;
    }
    return cmocka_run_group_tests(tests, setup, NULL);
}
