/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Endomorphisms, scalar multiplication and subgroup tests of both groups.
 *
 *   phi(x, y) = (BETA·x, y)                       on G1: multiplication by LAMBDA
 *   psi(x, y) = (PSI_X·conj x, PSI_Y·conj y)      on G2: multiplication by p
 * act as these scalars on the subgroups of order r only; off them psi still is a homomorphism of
 * the curve with psi² - t·psi + p = 0. A scalar is split along their eigenvalues into two parts of
 * 128 bits or four of 64 (Gallant, Lambert, Vanstone 2001; Galbraith, Lin, Scott 2009), which
 * halves or quarters the doublings.
 *
 * Subgroup tests: M. Scott, "A note on group membership tests for G1, G2 and GT on BLS
 * pairing-friendly curves" (2021); Y. Dai et al., "Fast subgroup membership testings for G1, G2 and
 * GT on pairing-friendly curves" (2022). That each test is exact, not only necessary, is asserted
 * by tools/gen_consts.py: the norm of the tested element of Z[psi] has no factor but r in common
 * with the order of the curve. */
#ifndef CUZK_CURVE_SCALAR_MUL_H
#define CUZK_CURVE_SCALAR_MUL_H

#include "curve/groups.h"

enum {
    MUL_WINDOW = 5,
    MUL_TABLE = 1 << (MUL_WINDOW - 2), /* odd multiples 1 … 15 */
    MUL_DIGITS_MAX = 64 * FR_LIMBS + 1,
    MUL_TERMS = 8 /* of one sum that shares its doublings */
};

/* Signed digits, each 0 or odd in [-15, 15], any two nonzero ones at least MUL_WINDOW apart; value
 * Σ d_i 2^i, least significant first; n of them are set, the last of which is not 0. highest: the
 * largest |d_i| / 2, which is the odd multiple's place in a table; -1 where n = 0. */
struct mul_digits {
    int n, highest;
    int8_t d[MUL_DIGITS_MAX];
};

/** o = the digits of k (n_words ≤ FR_LIMBS words), negated when `negative`. */
static inline void mul_digits_set(struct mul_digits *o, const uint64_t *k, int n_words,
                                  bool negative)
{
    int carry = 0;
    o->n = 0;
    o->highest = -1;
    for (int i = 0; i < 64 * n_words + carry;) {
        int word = i / 64, shift = i % 64, bits = 0;
        if (word < n_words) {
            bits = (int)(k[word] >> shift & 31);
            if (shift > 64 - MUL_WINDOW && word + 1 < n_words) {
                bits |= (int)(k[word + 1] << (64 - shift) & 31);
            }
        }
        if ((bits & 1) == carry) { /* carry plus this bit is 0 mod 2 */
            o->d[i++] = 0;
            continue;
        }
        int digit = bits + carry;
        carry = digit > 15;
        digit -= carry << MUL_WINDOW;
        int place = (digit < 0 ? -digit : digit) / 2;
        o->highest = place > o->highest ? place : o->highest;
        o->d[i] = (int8_t)(negative ? -digit : digit);
        o->n = i + 1;
        for (int end = i + MUL_WINDOW; ++i < end && i < MUL_DIGITS_MAX;) {
            o->d[i] = 0;
        }
    }
}

/** o = phi(a). */
static inline void g1_phi(g1_affine *o, const g1_affine *a)
{
    static const fp beta = CUZK_CC(BETA);
    fp_mul(&o->x, &a->x, &beta);
    o->y = a->y;
}

/** o = psi(a). */
static inline void g2_psi(g2_affine *o, const g2_affine *a)
{
    static const fp2 psi_x = CUZK_CC(PSI_X), psi_y = CUZK_CC(PSI_Y);
    fp2_conj(&o->x, &a->x);
    fp2_conj(&o->y, &a->y);
    fp2_mul(&o->x, &o->x, &psi_x);
    fp2_mul(&o->y, &o->y, &psi_y);
}

/** o = psi(psi(a)). */
static inline void g2_psi2(g2_affine *o, const g2_affine *a)
{
    static const fp psi2_x = CUZK_CC(PSI2_X);
    fp2_mul_fp(&o->x, &a->x, &psi2_x);
    fp2_neg(&o->y, &a->y);
}

/* Fold k into t = min(k, r - k); true for the second: values that are small negative numbers then
 * are as cheap as small ones. */
static inline bool mul_fold(uint64_t t[FR_LIMBS], const uint64_t k[FR_LIMBS])
{
    static const uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    (void)cuzk_limbs_sub(t, r, k, FR_LIMBS);
    if (cuzk_limbs_less(t, k, FR_LIMBS)) {
        return true;
    }
    memcpy(t, k, FR_LIMBS * sizeof k[0]);
    return false;
}

#if CUZK_CURVE_IS_BLS12_381

enum { g1_PARTS = 2, g2_PARTS = 4 };

/* t = k_0 + k_1·|x| + k_2·x² + k_3·|x|³, each part below |x|; t < r < x⁴ and is used up. */
static inline void mul_split_by_x(uint64_t parts[4], uint64_t t[FR_LIMBS])
{
    for (int j = 0; j < 4; j++) {
        cuzk_u128 rest = 0;
        for (int i = FR_LIMBS; i-- > 0;) {
            rest = rest << 64 | t[i];
            t[i] = (uint64_t)(rest / CUZK_CC(X_ABS));
            rest %= CUZK_CC(X_ABS);
        }
        parts[j] = (uint64_t)rest;
    }
}

/* LAMBDA = -x², so k·a = (k_0 + k_1|x|)·a - (k_2 + k_3|x|)·phi(a). */
static inline void g1_split(struct mul_digits digits[g1_PARTS], const uint64_t k[FR_LIMBS])
{
    uint64_t t[FR_LIMBS], parts[4];
    bool negative = mul_fold(t, k);
    mul_split_by_x(parts, t);
    for (int j = 0; j < 2; j++) {
        cuzk_u128 part = (cuzk_u128)parts[2 * j + 1] * CUZK_CC(X_ABS) + parts[2 * j];
        uint64_t words[2] = {(uint64_t)part, (uint64_t)(part >> 64)};
        mul_digits_set(&digits[j], words, 2, negative != (j == 1));
    }
}

/* psi is x = -|x| on the subgroup, so k·a = Σ_j (-1)^j·k_j·psi^j(a). */
static inline void g2_split(struct mul_digits digits[g2_PARTS], const uint64_t k[FR_LIMBS])
{
    uint64_t t[FR_LIMBS], parts[4];
    bool negative = mul_fold(t, k);
    mul_split_by_x(parts, t);
    for (int j = 0; j < 4; j++) {
        mul_digits_set(&digits[j], &parts[j], 1, negative != (j % 2 == 1));
    }
}

/* Entry i of every part's table from that of the first. */
static inline void g2_images(g2_affine tables[g2_PARTS][MUL_TERMS * MUL_TABLE], int i)
{
    g2_psi(&tables[1][i], &tables[0][i]);
    g2_psi2(&tables[2][i], &tables[0][i]);
    g2_psi2(&tables[3][i], &tables[1][i]);
}

#else /* bn254 */

enum { g1_PARTS = 2, g2_PARTS = 2 };

/* o = a·b, na + nb words. */
static inline void mul_words(uint64_t *o, const uint64_t *a, int na, const uint64_t *b, int nb)
{
    for (int i = 0; i < na + nb; i++) {
        o[i] = 0;
    }
    for (int i = 0; i < na; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < nb; j++) {
            o[i + j] = cuzk_mac(a[i], b[j], o[i + j], &carry);
        }
        o[i + nb] = carry;
    }
}

/* k = k_0 + k_1·LAMBDA mod r with both parts below 2^128 in size, by the short vectors (A1, -B1)
 * and (A2, B2) of the lattice a + b·LAMBDA = 0 mod r. With c_1 = floor(t·floor(2^256·B2/r) / 2^256)
 * and c_2 = floor(t·floor(2^256·B1/r) / 2^256) for the folded t: t_0 = t - c_1·A1 - c_2·A2, not
 * negative, and t_1 = c_1·B1 - c_2·B2. */
static inline void g1_split(struct mul_digits digits[g1_PARTS], const uint64_t k[FR_LIMBS])
{
    static const uint64_t a1[2] = CUZK_CC(GLV_A1), b1[2] = CUZK_CC(GLV_B1);
    static const uint64_t a2[2] = CUZK_CC(GLV_A2), b2[2] = CUZK_CC(GLV_B2);
    static const uint64_t q1[3] = CUZK_CC(GLV_Q1), q2[3] = CUZK_CC(GLV_Q2);
    uint64_t t[FR_LIMBS], c1[7], c2[7], u[5], v[5];
    bool negative = mul_fold(t, k), swap;
    mul_words(c1, t, 4, q1, 3);
    mul_words(c2, t, 4, q2, 3);
    mul_words(u, c1 + 4, 3, a1, 2);
    mul_words(v, c2 + 4, 3, a2, 2);
    (void)cuzk_limbs_sub(t, t, u, 3);
    (void)cuzk_limbs_sub(t, t, v, 3);
    CUZK_FIELD_CHECK(t[2] == 0);
    mul_digits_set(&digits[0], t, 2, negative);
    mul_words(u, c1 + 4, 3, b1, 2);
    mul_words(v, c2 + 4, 3, b2, 2);
    swap = cuzk_limbs_less(u, v, 4);
    if (swap) {
        (void)cuzk_limbs_sub(u, v, u, 4);
    } else {
        (void)cuzk_limbs_sub(u, u, v, 4);
    }
    CUZK_FIELD_CHECK(u[2] == 0 && u[3] == 0);
    mul_digits_set(&digits[1], u, 2, negative != swap);
}

/* psi² is p² = -LAMBDA on the subgroup. */
static inline void g2_split(struct mul_digits digits[g2_PARTS], const uint64_t k[FR_LIMBS])
{
    g1_split(digits, k);
}

/* Entry i of every part's table from that of the first. */
static inline void g2_images(g2_affine tables[g2_PARTS][MUL_TERMS * MUL_TABLE], int i)
{
    g2_psi2(&tables[1][i], &tables[0][i]);
    g2_affine_neg(&tables[1][i], &tables[1][i]);
}

#endif

static inline void g1_images(g1_affine tables[g1_PARTS][MUL_TERMS * MUL_TABLE], int i)
{
    g1_phi(&tables[1][i], &tables[0][i]);
}

#define PT(name) g1_##name
#include "curve/mul_tmpl.h"
#define PT(name) g2_##name
#include "curve/mul_tmpl.h"

#if CUZK_CURVE_IS_BLS12_381

/** a of order dividing r? a is on the curve. phi(a) = -x²·a. */
static inline bool g1_in_subgroup(const g1_affine *a)
{
    g1_affine image;
    g1_jac p;
    g1_from_affine(&p, a);
    g1_mul_sparse(&p, &p, CUZK_CC(X_ABS));
    g1_mul_sparse(&p, &p, CUZK_CC(X_ABS));
    g1_neg(&p, &p);
    g1_phi(&image, a);
    return g1_eq_affine(&p, &image);
}

/** a of order dividing r? a is on the curve. psi(a) = x·a. */
static inline bool g2_in_subgroup(const g2_affine *a)
{
    g2_affine image;
    g2_jac p;
    g2_from_affine(&p, a);
    g2_mul_sparse(&p, &p, CUZK_CC(X_ABS));
    g2_neg(&p, &p);
    g2_psi(&image, a);
    return g2_eq_affine(&p, &image);
}

#else /* bn254 */

/** Always: the cofactor of G1 is 1. */
static inline bool g1_in_subgroup(const g1_affine *a)
{
    (void)a;
    return true;
}

/** a of order dividing r? a is on the curve. (x+1)·a + psi(x·a) + psi²(x·a) = psi³(2x·a). */
static inline bool g2_in_subgroup(const g2_affine *a)
{
    g2_affine xa, image;
    g2_jac p, left, right;
    g2_from_affine(&left, a);
    g2_mul_sparse(&p, &left, CUZK_CC(X_ABS));
    g2_add(&left, &left, &p);
    g2_to_affine(&xa, &p);
    g2_psi(&image, &xa);
    g2_add_affine(&left, &left, &image);
    g2_psi2(&image, &image);
    g2_from_affine(&right, &image);
    g2_dbl(&right, &right);
    g2_psi2(&image, &xa);
    g2_add_affine(&left, &left, &image);
    return g2_eq(&left, &right);
}

#endif

#endif
