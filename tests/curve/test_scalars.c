/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalars, coordinates and look-ups of struct cuzk_curve. The arithmetic itself is tested in
 * tests/field; here the table: byte orders, ranges, roots of unity, names. */
#include "curve/curve_util.h"

#include <string.h>

static cuzk_curve_id ids[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static const cuzk_curve *curve_of(void **state)
{
    return cuzk_curve_get(*(const cuzk_curve_id *)*state);
}

static bool fr_eq(const cuzk_fr *a, const cuzk_fr *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* Little-endian bytes of the modulus plus a small number. */
static void modulus_plus(uint8_t *out, const uint64_t *modulus, unsigned limbs, int delta)
{
    for (unsigned i = 0; i < 8 * limbs; i++) {
        out[i] = (uint8_t)(modulus[i / 8] >> (8 * (i % 8)));
    }
    int carry = delta;
    for (unsigned i = 0; i < 8 * limbs && carry != 0; i++) {
        carry += out[i];
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

static void test_laws(void **state)
{
    const cuzk_curve *c = curve_of(state);
    uint64_t seed = test_seed();
    cuzk_fr zero, one, a, b, d, s, t, u;
    c->fr_from_u64(&zero, 0);
    c->fr_from_u64(&one, 1);
    assert_true(fr_eq(&one, &c->fr_one));
    for (int i = 0; i < 2000; i++) {
        test_random_fr(c, &a, &seed);
        test_random_fr(c, &b, &seed);
        test_random_fr(c, &d, &seed);
        c->fr_add(&s, &a, &b);
        c->fr_sub(&t, &s, &b);
        assert_true(fr_eq(&t, &a));
        c->fr_neg(&t, &b);
        c->fr_sub(&u, &a, &t);
        assert_true(fr_eq(&u, &s));
        c->fr_mul(&t, &s, &d); /* (a + b)·d = ad + bd */
        c->fr_mul(&u, &a, &d);
        c->fr_mul(&s, &b, &d);
        c->fr_add(&u, &u, &s);
        assert_true(fr_eq(&t, &u));
        c->fr_inv(&t, &a);
        c->fr_mul(&t, &t, &a);
        assert_true(fr_eq(&t, fr_eq(&a, &zero) ? &zero : &one));
        c->fr_pow_u64(&t, &a, 13);
        c->fr_pow_u64(&u, &a, 7);
        c->fr_pow_u64(&s, &a, 6);
        c->fr_mul(&u, &u, &s);
        assert_true(fr_eq(&t, &u));
        c->fr_add(&a, &a, &a); /* in place */
        c->fr_sub(&a, &a, &a);
        assert_true(fr_eq(&a, &zero));
    }
    c->fr_pow_u64(&t, &zero, 0);
    assert_true(fr_eq(&t, &one));
}

static void test_bytes(void **state)
{
    const cuzk_curve *c = curve_of(state);
    uint64_t seed = test_seed();
    uint8_t bytes[48 + 8], back[48 + 8];
    cuzk_fr a, b;
    uint64_t limbs[6];
    for (int delta = -3; delta <= 3; delta++) {
        modulus_plus(bytes, c->r, 4, delta);
        assert_int_equal(c->fr_from_canonical_le(&a, bytes), delta < 0);
        modulus_plus(bytes, c->p, c->fp_limbs, delta);
        assert_int_equal(c->fp_from_canonical_le(limbs, bytes), delta < 0);
        if (delta < 0) {
            c->fp_to_canonical_le(back, limbs);
            assert_memory_equal(back, bytes, c->fp_bytes);
        }
    }
    memset(bytes, 0xff, sizeof(bytes));
    assert_false(c->fr_from_canonical_le(&a, bytes));
    assert_false(c->fp_from_canonical_le(limbs, bytes));
    for (int i = 0; i < 500; i++) {
        size_t shift = (size_t)i % 8;
        test_random_fr(c, &a, &seed);
        c->fr_to_canonical_le(bytes + shift, &a);
        assert_true(c->fr_from_canonical_le(&b, bytes + shift));
        assert_true(fr_eq(&a, &b));
    }
    c->fr_from_u64(&a, UINT64_C(0x0123456789abcdef));
    c->fr_to_canonical_le(bytes, &a);
    static const uint8_t expected[32] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
    assert_memory_equal(bytes, expected, 32);
}

static void test_batches(void **state)
{
    const cuzk_curve *c = curve_of(state);
    uint64_t seed = test_seed();
    enum { N = 33 };
    static uint8_t plain[N * 32 + 8], other[N * 32 + 8];
    cuzk_fr a[N], b[N];
    for (size_t n = 0; n <= N; n += 11) {
        for (size_t i = 0; i < n; i++) {
            test_random_fr(c, &a[i], &seed);
            c->fr_to_canonical_le(plain + 3 + 32 * i, &a[i]);
        }
        c->fr_batch_to_canonical(other + 5, a, n);
        assert_memory_equal(other + 5, plain + 3, 32 * n);
        c->fr_batch_from_canonical(b, plain + 3, n);
        assert_memory_equal(a, b, n * sizeof(a[0]));
        c->fr_batch_to_canonical(b, b, n); /* in place, there and back */
        c->fr_batch_from_canonical(b, b, n);
        assert_memory_equal(a, b, n * sizeof(a[0]));
    }
    /* values from r to 2^256 - 1 are taken modulo r */
    memset(plain, 0xff, 32);
    modulus_plus(plain + 32, c->r, 4, 5);
    c->fr_batch_from_canonical(a, plain, 2);
    c->fr_from_u64(&b[1], 5);
    assert_true(fr_eq(&a[1], &b[1]));
    c->fr_from_u64(&b[0], 2); /* 2^256 - 1 */
    for (int i = 0; i < 4; i++) {
        c->fr_pow_u64(&b[0], &b[0], i == 0 ? 64 : i == 1 ? 4 : 1);
    }
    c->fr_sub(&b[0], &b[0], &c->fr_one);
    assert_true(fr_eq(&a[0], &b[0]));
}

static void test_roots(void **state)
{
    const cuzk_curve *c = curve_of(state);
    cuzk_fr root, t, next, minus_one;
    static const unsigned generators[] = {5, 7};
    c->fr_neg(&minus_one, &c->fr_one);
    for (int g = 0; g < 2; g++) {
        for (unsigned lg = 0; lg <= c->two_adicity; lg++) {
            c->fr_root_of_unity(&root, generators[g], lg);
            t = root;
            for (unsigned i = 1; i < lg; i++) {
                c->fr_mul(&t, &t, &t);
            }
            assert_true(fr_eq(&t, lg == 0 ? &c->fr_one : &minus_one)); /* primitive */
            if (lg > 0) {
                c->fr_mul(&t, &root, &root);
                c->fr_root_of_unity(&next, generators[g], lg - 1);
                assert_true(fr_eq(&t, &next));
            }
        }
    }
    if (c->id == CUZK_CURVE_BLS12_381) { /* spec of Filecoin's parameters */
        hex_to_fr(c, &t, "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b");
        c->fr_root_of_unity(&root, 7, 32);
        assert_true(fr_eq(&root, &t));
    }
}

static void test_lookup(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cuzk_curve_id id;
    } names[] = {
        {"bn254", CUZK_CURVE_BN254},         {"BN254", CUZK_CURVE_BN254},
        {"bn128", CUZK_CURVE_BN254},         {"alt_bn128", CUZK_CURVE_BN254},
        {"bls12_381", CUZK_CURVE_BLS12_381}, {"BLS12-381", CUZK_CURVE_BLS12_381},
        {"bls12381", CUZK_CURVE_BLS12_381},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(cuzk_curve_by_name(names[i].name));
        assert_int_equal(cuzk_curve_by_name(names[i].name)->id, names[i].id);
    }
    assert_null(cuzk_curve_by_name("bn25"));
    assert_null(cuzk_curve_by_name(""));
    assert_null(cuzk_curve_by_name("secp256k1"));
    assert_null(cuzk_curve_get((cuzk_curve_id)0));
    assert_null(cuzk_curve_get((cuzk_curve_id)3));
    for (int i = 0; i < 2; i++) {
        const cuzk_curve *c = cuzk_curve_get(ids[i]);
        uint8_t modulus[33] = {0};
        modulus_plus(modulus, c->r, 4, 0);
        assert_ptr_equal(cuzk_curve_by_fr_modulus(modulus, 32), c);
        assert_ptr_equal(cuzk_curve_by_fr_modulus(modulus, 33), c); /* a zero byte more */
        assert_null(cuzk_curve_by_fr_modulus(modulus, 31));
        modulus[32] = 1;
        assert_null(cuzk_curve_by_fr_modulus(modulus, 33));
        modulus[32] = 0;
        modulus[0] ^= 1;
        assert_null(cuzk_curve_by_fr_modulus(modulus, 32));
        assert_int_equal(c->id, ids[i]);
        assert_int_equal(c->fp_bytes, 8 * c->fp_limbs);
        assert_non_null(cuzk_curve_get_path(ids[i], CUZK_CPU_PORTABLE));
        assert_ptr_equal(cuzk_curve_get_path(ids[i], CUZK_CPU_IFMA_EMULATED),
                         cuzk_curve_get_path(ids[i], CUZK_CPU_PORTABLE));
        if (cuzk_cpu_supports(CUZK_CPU_IFMA)) {
            assert_ptr_equal(cuzk_curve_get_path(ids[i], CUZK_CPU_IFMA),
                             cuzk_curve_get_path(ids[i], CUZK_CPU_ADX));
        } else {
            assert_null(cuzk_curve_get_path(ids[i], CUZK_CPU_IFMA));
        }
        for (int g = 0; g < 2; g++) {
            assert_int_equal(c->g[g].id, g);
            assert_int_equal(c->g[g].coord_bytes, (g == CUZK_G1 ? 1 : 2) * c->fp_bytes);
            assert_int_equal(c->g[g].affine_bytes, 2 * c->g[g].coord_bytes);
        }
    }
}

#define FOR_BOTH(test)                                                                             \
    cmocka_unit_test_prestate(test, &ids[0]), cmocka_unit_test_prestate(test, &ids[1])

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOR_BOTH(test_laws),  FOR_BOTH(test_bytes),          FOR_BOTH(test_batches),
        FOR_BOTH(test_roots), cmocka_unit_test(test_lookup),
    };
    if (!test_path_supported()) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
