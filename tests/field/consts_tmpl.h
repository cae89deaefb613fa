/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The generated constants of one curve against whole numbers: part of test_consts.c, which includes
 * it once per curve with K(name), C(name) (the constant) and FPW (words of fp) defined; undefines
 * them. Values are computed here from the family parameter alone. */

typedef struct {
    uint64_t l[4];
} K(fr);

typedef struct {
    uint64_t l[FPW];
} K(fp);

typedef struct {
    K(fp) c0, c1;
} K(fp2);

/* The family's p and r, from |x|. */
static void K(family)(big *p, big *r)
{
    big x = big_of(C(X_ABS)), one = big_of(1), rest;
    big x2 = big_mul(&x, &x), x4 = big_mul(&x2, &x2);
    if (C(B_SMALL) == 3) { /* 36x⁴ + 36x³ + 24x² + 6x + 1, and 18x² */
        big x3 = big_mul(&x2, &x), k = big_of(36), sum = big_add(&x4, &x3);
        sum = big_mul(&sum, &k);
        k = big_of(6);
        big six = big_mul(&x, &k);
        sum = big_add(&sum, &six);
        sum = big_add(&sum, &one);
        k = big_of(18);
        big part = big_mul(&x2, &k);
        *r = big_add(&sum, &part);
        k = big_of(24);
        part = big_mul(&x2, &k);
        *p = big_add(&sum, &part);
    } else { /* x⁴ - x² + 1, and (x - 1)²·r/3 + x; x is negative */
        *r = big_sub(&x4, &x2);
        *r = big_add(r, &one);
        big up = big_add(&x, &one), three = big_of(3), part = big_mul(&up, &up);
        part = big_mul(&part, r);
        part = big_div(&part, &three, &rest);
        assert_true(big_is_zero(&rest));
        *p = big_sub(&part, &x);
    }
}

static void K(check_moduli)(void)
{
    static const uint64_t fr[4] = C(FR_MODULUS), fp[FPW] = C(FP_MODULUS);
    static const uint64_t fr_minus_2[4] = C(FR_MODULUS_MINUS_2);
    static const uint64_t fp_minus_2[FPW] = C(FP_MODULUS_MINUS_2);
    big p, r, two = big_of(2);
    K(family)(&p, &r);
    expect(C_NAME "r", &r, fr, 4);
    expect(C_NAME "p", &p, fp, FPW);
    assert_int_equal(big_bits(&r), C(FR_BITS));
    assert_int_equal(big_bits(&p), C(FP_BITS));
    assert_int_equal(C(FR_LIMBS), 4);
    assert_int_equal(C(FP_LIMBS), FPW);
    assert_true(is_probable_prime(&p) && is_probable_prime(&r));
    big less = big_sub(&r, &two);
    expect(C_NAME "r - 2", &less, fr_minus_2, 4);
    less = big_sub(&p, &two);
    expect(C_NAME "p - 2", &less, fp_minus_2, FPW);
}

static void K(check_montgomery)(void)
{
    static const K(fr) r_one = C(FR_ONE), r_r2 = C(FR_R2), r_half = C(FR_HALF);
    static const K(fp) p_one = C(FP_ONE), p_r2 = C(FP_R2), p_half = C(FP_HALF);
    static const uint64_t r_fold[4] = C(FR_FOLD), p_fold[FPW] = C(FP_FOLD);
    static const uint64_t sqr[2 * FPW] = C(FP_MODULUS_SQR), sqr2[2 * FPW] = C(FP_MODULUS_SQR_X2);
    static const uint64_t sqr5[2 * FPW] = C(FP_MODULUS_SQR_X5), root_exp[FPW] = C(FP_SQRT_EXP);
    big p, r, rest, three = big_of(3), four = big_of(4), five = big_of(5);
    K(family)(&p, &r);
    check_form(C_NAME "fr", &r, 4, C(FR_N0), r_fold, r_one.l, r_r2.l, r_half.l);
    check_form(C_NAME "fp", &p, FPW, C(FP_N0), p_fold, p_one.l, p_r2.l, p_half.l);
    big square = big_mul(&p, &p), twice = big_add(&square, &square);
    expect(C_NAME "p²", &square, sqr, 2 * FPW);
    expect(C_NAME "2p²", &twice, sqr2, 2 * FPW);
    square = big_mul(&square, &five);
    expect(C_NAME "5p²", &square, sqr5, 2 * FPW);
    big e = big_sub(&p, &three);
    e = big_div(&e, &four, &rest);
    assert_true(big_is_zero(&rest)); /* p = 3 mod 4 */
    expect(C_NAME "(p - 3)/4", &e, root_exp, FPW);
}

static void K(check_lanes)(void)
{
    enum { R_N = C(FR52_LIMBS), P_N = C(FP52_LIMBS) };
    static const uint64_t r52[6][R_N] = {C(FR52_MODULUS), C(FR52_FOLD),      C(FR52_ONE),
                                         C(FR52_R2),      C(FR52_FROM_MONT), C(FR52_TO_MONT)};
    static const uint64_t p52[6][P_N] = {C(FP52_MODULUS), C(FP52_FOLD),      C(FP52_ONE),
                                         C(FP52_R2),      C(FP52_FROM_MONT), C(FP52_TO_MONT)};
    big p, r;
    K(family)(&p, &r);
    check_form52(C_NAME "fr", &r, 4, R_N, C(FR52_N0), &r52[0][0]);
    check_form52(C_NAME "fp", &p, FPW, P_N, C(FP52_N0), &p52[0][0]);
}

/* Roots g^((r-1)/2^s) of order 2^s exactly, where g is no square. */
static void K(check_roots)(void)
{
    static const K(fr) root[2] = {C(FR_ROOT_G5), C(FR_ROOT_G7)};
    static const K(fr) inverse[2] = {C(FR_ROOT_G5_INV), C(FR_ROOT_G7_INV)};
    static const K(fr) generator[2] = {C(FR_G5), C(FR_G7)};
    static const int has[2] = {C(FR_HAS_ROOT_G5), C(FR_HAS_ROOT_G7)};
    big p, r, one = big_of(1), rest, size = big_power_of_two(C(FR_TWO_ADICITY));
    K(family)(&p, &r);
    big odd = big_sub(&r, &one);
    odd = big_div(&odd, &size, &rest);
    assert_true(big_is_zero(&rest) && big_bit(&odd, 0));
    for (int i = 0; i < 2; i++) {
        big g = big_of(i == 0 ? 5 : 7), w = big_pow_mod(&g, &odd, &r);
        expect_element(C_NAME "generator", &g, generator[i].l, 4, &r);
        expect_element(C_NAME "root of unity", &w, root[i].l, 4, &r);
        big inv = big_inv_mod(&w, &r), half = w, minus_one = big_sub(&r, &one);
        expect_element(C_NAME "inverse root of unity", &inv, inverse[i].l, 4, &r);
        for (int k = 1; k < C(FR_TWO_ADICITY); k++) {
            half = big_mul_mod(&half, &half, &r);
        }
        assert_int_equal(has[i], big_compare(&half, &minus_one) == 0);
    }
}

/* XI is no square and no cube, so that the tower is one; its powers are Frobenius' factors. */
static void K(check_tower)(void)
{
    static const K(fp2) xi_element = C(XI);
    static const K(fp2) first[5] = {C(FROB1_1), C(FROB1_2), C(FROB1_3), C(FROB1_4), C(FROB1_5)};
    static const K(fp) second[5] = {C(FROB2_1), C(FROB2_2), C(FROB2_3), C(FROB2_4), C(FROB2_5)};
    static const K(fp2) third[5] = {C(FROB3_1), C(FROB3_2), C(FROB3_3), C(FROB3_4), C(FROB3_5)};
    big p, r, one = big_of(1), two = big_of(2), three = big_of(3), six = big_of(6), rest;
    K(family)(&p, &r);
    pair xi = {big_of(C(XI_C0)), one};
    expect_element(C_NAME "XI", &xi.c0, xi_element.c0.l, FPW, &p);
    expect_element(C_NAME "XI", &xi.c1, xi_element.c1.l, FPW, &p);
    big p2 = big_mul(&p, &p), order = big_sub(&p2, &one);
    big half = big_div(&order, &two, &rest), third_part = big_div(&order, &three, &rest);
    pair x = pair_pow(&xi, &half, &p), y = pair_pow(&xi, &third_part, &p);
    assert_false(pair_is_one(&x) || pair_is_one(&y));
    big sixth[3];
    sixth[0] = big_sub(&p, &one);
    sixth[1] = order;
    sixth[2] = big_mul(&p2, &p);
    sixth[2] = big_sub(&sixth[2], &one);
    for (int i = 0; i < 3; i++) {
        sixth[i] = big_div(&sixth[i], &six, &rest);
        assert_true(big_is_zero(&rest));
        pair g = pair_pow(&xi, &sixth[i], &p), power = g;
        for (int k = 0; k < 5; k++) {
            if (i == 1) { /* in Fp */
                expect_element(C_NAME "Frobenius", &power.c0, second[k].l, FPW, &p);
                assert_true(big_is_zero(&power.c1));
            } else {
                const K(fp2) *found = i == 0 ? &first[k] : &third[k];
                expect_element(C_NAME "Frobenius", &power.c0, found->c0.l, FPW, &p);
                expect_element(C_NAME "Frobenius", &power.c1, found->c1.l, FPW, &p);
            }
            power = pair_mul(&power, &g, &p);
        }
    }
}

/* Endomorphisms: (x, y) -> (BETA·x, y) and psi, as powers of XI and cube roots of one. */
static void K(check_endomorphisms)(void)
{
    static const K(fp) beta_element = C(BETA), beta_sqr = C(BETA_SQR), psi2_x = C(PSI2_X);
    static const K(fp2) psi_x = C(PSI_X), psi_y = C(PSI_Y);
    static const uint64_t lambda_words[4] = C(LAMBDA);
    big p, r, one = big_of(1), two = big_of(2), three = big_of(3), rest;
    K(family)(&p, &r);
    big lambda = big_from_words(lambda_words, 4), cube = big_mul_mod(&lambda, &lambda, &r);
    big sum = big_add_mod(&cube, &lambda, &r);
    sum = big_add_mod(&sum, &one, &r);
    assert_true(big_is_zero(&sum)); /* λ² + λ + 1 = 0 */
    big beta = value_of(beta_element.l, FPW, &p), square = big_mul_mod(&beta, &beta, &p);
    expect_element(C_NAME "BETA²", &square, beta_sqr.l, FPW, &p);
    sum = big_add_mod(&square, &beta, &p);
    sum = big_add_mod(&sum, &one, &p);
    assert_true(big_is_zero(&sum));
    pair xi = {big_of(C(XI_C0)), one};
    big order = big_sub(&p, &one), e = big_div(&order, &three, &rest);
    pair x = pair_pow(&xi, &e, &p);
    e = big_div(&order, &two, &rest);
    pair y = pair_pow(&xi, &e, &p);
    if (C(TWIST_IS_M)) { /* the other way round */
        x = pair_inv(&x, &p);
        y = pair_inv(&y, &p);
    }
    expect_element(C_NAME "PSI_X", &x.c0, psi_x.c0.l, FPW, &p);
    expect_element(C_NAME "PSI_X", &x.c1, psi_x.c1.l, FPW, &p);
    expect_element(C_NAME "PSI_Y", &y.c0, psi_y.c0.l, FPW, &p);
    expect_element(C_NAME "PSI_Y", &y.c1, psi_y.c1.l, FPW, &p);
    big norm = big_mul(&x.c0, &x.c0), imaginary = big_mul(&x.c1, &x.c1);
    norm = big_add_mod(&norm, &imaginary, &p); /* x^(p+1) */
    expect_element(C_NAME "PSI2_X", &norm, psi2_x.l, FPW, &p);
}

static void K(test)(void **state)
{
    (void)state;
    K(check_moduli)();
    K(check_montgomery)();
    K(check_lanes)();
    K(check_roots)();
    K(check_tower)();
    K(check_endomorphisms)();
}

#undef K
#undef C
#undef C_NAME
#undef FPW
