/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One curve behind function pointers: scalar field, the two groups, pairing, point encodings.
 *
 * Representation in memory, the same on host and device and in a .zkey file:
 *  - fr: 4 64-bit limbs, least significant first, Montgomery form x·2^256 mod r, reduced (< r).
 *  - fp: fp_limbs limbs (6 on bls12_381, 4 on bn254), Montgomery form x·2^(64·fp_limbs) mod p, < p.
 *  - an affine point of G1: x, y (2·fp_limbs limbs); of G2: x.c0, x.c1, y.c0, y.c1. All bytes zero
 *    is the point at infinity. Arrays are packed: g->affine_bytes per point. Pointers to affine
 *    points are `const void *` and may have any alignment (they may point into a mapped file).
 *  - "canonical" means plain form (not Montgomery), little-endian bytes, below the modulus.
 *
 * The element functions here are for single values and short loops; bulk work is in src/poly and
 * src/msm, which are built from the same headers. Nothing is constant-time unless it ends in _ct.
 * All functions are pure and thread-safe; outputs may alias inputs. */
#ifndef CUZK_CURVE_CURVE_H
#define CUZK_CURVE_CURVE_H

#include "base/cpu.h"
#include "base/status.h"

#include <stdint.h>

/* log2 of the largest evaluation domain that transforms and keys may have. */
enum { CUZK_DOMAIN_LG_MAX = 28 };

typedef enum { CUZK_CURVE_BN254 = 1, CUZK_CURVE_BLS12_381 = 2 } cuzk_curve_id;
typedef enum { CUZK_G1 = 0, CUZK_G2 = 1 } cuzk_group_id;

typedef struct {
    uint64_t l[4];
} cuzk_fr;

/* Big enough for an affine point of either group of either curve; only the first affine_bytes of
 * the group are used. */
typedef struct {
    uint64_t l[24];
} cuzk_affine;

/* Same for a point in Jacobian coordinates X, Y, Z (x = X/Z², y = Y/Z³); Z = 0 is infinity. */
typedef struct {
    uint64_t l[36];
} cuzk_jac;

/* An element of Fp12: 12 fp values, order c0.c0.c0, c0.c0.c1, c0.c1.c0 … c1.c2.c1 for the tower
 * Fp2 = Fp[u]/(u²+1), Fp6 = Fp2[v]/(v³-ξ), Fp12 = Fp6[w]/(w²-v). */
typedef struct {
    uint64_t l[72];
} cuzk_gt;

/* How a point is written in Filecoin and zcash files (big endian, flags in the first byte). */
typedef enum { CUZK_POINT_UNCOMPRESSED, CUZK_POINT_COMPRESSED } cuzk_point_form;

/* What went wrong while a point was decoded. */
typedef enum {
    CUZK_POINT_OK = 0,
    CUZK_POINT_BAD_FLAGS,   /* flag bits that do not fit the form, or infinity with other bits */
    CUZK_POINT_NOT_REDUCED, /* a coordinate is not below p */
    CUZK_POINT_NOT_ON_CURVE,
    CUZK_POINT_NOT_IN_SUBGROUP
} cuzk_point_status;

struct cuzk_group {
    cuzk_group_id id;
    size_t coord_bytes;  /* one coordinate: fp_bytes in G1, 2·fp_bytes in G2 */
    size_t affine_bytes; /* 2·coord_bytes */

    void (*generator)(void *affine_out);
    bool (*affine_is_infinity)(const void *affine);
    bool (*affine_is_reduced)(const void *affine); /* all coordinates below p */
    bool (*on_curve)(const void *affine);          /* infinity: true */
    bool (*in_subgroup)(const void *affine);       /* order divides r; for a point on the curve */
    void (*affine_neg)(void *affine_out, const void *affine);

    void (*set_infinity)(cuzk_jac *out);
    bool (*is_infinity)(const cuzk_jac *a);
    bool (*eq)(const cuzk_jac *a, const cuzk_jac *b);
    void (*from_affine)(cuzk_jac *out, const void *affine);
    void (*to_affine)(void *affine_out, const cuzk_jac *a);
    /* n packed points with one inversion; affine_out and a do not overlap */
    void (*batch_to_affine)(void *affine_out, const cuzk_jac *a, size_t n);
    void (*neg)(cuzk_jac *out, const cuzk_jac *a);
    void (*dbl)(cuzk_jac *out, const cuzk_jac *a);
    void (*add)(cuzk_jac *out, const cuzk_jac *a, const cuzk_jac *b);           /* complete */
    void (*add_affine)(cuzk_jac *out, const cuzk_jac *a, const void *affine_b); /* complete */
    /* k·a, k in Montgomery form; a is in the subgroup (else the result is some other point) */
    void (*mul)(cuzk_jac *out, const cuzk_jac *a, const cuzk_fr *k);
    /* Σ k_i·a_i over n packed affine points in the subgroup and n canonical scalars of 32 bytes,
     * eight terms sharing their doublings: for a few terms (cuzk_msm is for many). Small scalars,
     * negative ones too, cost less. n = 0 gives infinity. */
    void (*mul_sum)(cuzk_jac *out, const void *affine, const void *scalars, size_t n);

    /* zcash encoding (spec/groth16-bellperson.md 1.1); sizes: coord_bytes compressed, else
     * affine_bytes. bls12_381 only; NULL on bn254, whose p leaves too few spare bits. decode tests
     * range, flags and curve membership, and the subgroup when check_subgroup is set. */
    void (*encode)(uint8_t *out, const void *affine, cuzk_point_form form);
    cuzk_point_status (*decode)(void *affine_out, const uint8_t *in, cuzk_point_form form,
                                bool check_subgroup);
};

struct cuzk_curve {
    cuzk_curve_id id;
    const char *name;         /* "bn254", "bls12_381" */
    const char *snarkjs_name; /* "bn128", "bls12381" */
    unsigned fp_limbs;
    size_t fp_bytes;      /* 8·fp_limbs: 32 or 48 */
    unsigned two_adicity; /* of r-1: 28 on bn254, 32 on bls12_381 */
    const uint64_t *p;    /* fp_limbs limbs */
    const uint64_t *r;    /* 4 limbs */
    cuzk_fr fr_one;       /* 1 in Montgomery form */

    void (*fr_add)(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b);
    void (*fr_sub)(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b);
    void (*fr_neg)(cuzk_fr *out, const cuzk_fr *a);
    void (*fr_mul)(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b); /* Montgomery product */
    void (*fr_inv)(cuzk_fr *out, const cuzk_fr *a);                   /* 0 gives 0 */
    void (*fr_pow_u64)(cuzk_fr *out, const cuzk_fr *a, uint64_t e);
    void (*fr_from_u64)(cuzk_fr *out, uint64_t v);
    /* 32 little-endian bytes, plain form. from_ returns false when the value is not below r. */
    bool (*fr_from_canonical_le)(cuzk_fr *out, const void *bytes32);
    void (*fr_to_canonical_le)(void *bytes32, const cuzk_fr *a);
    /* n elements, packed; in and out may be the same array. from_ does not check the range (the
     * value must be below 2^256; the result is reduced). */
    void (*fr_batch_from_canonical)(cuzk_fr *out, const void *in, size_t n);
    void (*fr_batch_to_canonical)(void *out, const cuzk_fr *in, size_t n);
    /* Primitive 2^lg_n-th root of unity g^((r-1)/2^lg_n). The generator g belongs to the file
     * format: 5 for snarkjs on both curves, 7 for Filecoin's bls12_381. lg_n ≤ two_adicity. */
    void (*fr_root_of_unity)(cuzk_fr *out, unsigned generator, unsigned lg_n);

    /* one fp value; bytes are fp_bytes little-endian plain form */
    bool (*fp_from_canonical_le)(uint64_t *out, const void *bytes);
    void (*fp_to_canonical_le)(void *bytes, const uint64_t *a);

    struct cuzk_group g[2]; /* indexed by cuzk_group_id */

    /* product of e(p_i, q_i); p: n packed affine G1, q: n packed affine G2, in the subgroups; pairs
     * with an infinity contribute 1. n = 0 gives 1. The value is the one of snarkjs (and, on
     * bls12_381, of bellperson and zkcrypto). */
    void (*pairing_product)(cuzk_gt *out, const void *p, const void *q, size_t n);
    /* Its two parts: the product of the pairs' Miller functions, by itself of no meaning, and the
     * power that makes it the product of pairings. Products of parts may be taken (gt_mul) before
     * one final power. */
    void (*miller_product)(cuzk_gt *out, const void *p, const void *q, size_t n);
    void (*final_exp)(cuzk_gt *out, const cuzk_gt *miller);
    void (*gt_mul)(cuzk_gt *out, const cuzk_gt *a, const cuzk_gt *b);
    /* a is a product of pairings */
    void (*gt_pow)(cuzk_gt *out, const cuzk_gt *a, const cuzk_fr *k);
    bool (*gt_is_one)(const cuzk_gt *a);
    bool (*gt_eq)(const cuzk_gt *a, const cuzk_gt *b);
};

typedef struct cuzk_curve cuzk_curve;
typedef struct cuzk_group cuzk_group;

/** The curve with the inner loops of this process's CPU path (base/cpu.h). Never NULL for a valid
 *  id; NULL for another. */
const cuzk_curve *cuzk_curve_get(cuzk_curve_id id);

/** The curve with the inner loops of one path (portable or adx; the two ifma paths give the scalar
 *  code of adx or portable). NULL where that path is not built or the processor lacks it. */
const cuzk_curve *cuzk_curve_get_path(cuzk_curve_id id, cuzk_cpu_path path);

/** The curve whose scalar field modulus is the n_bytes little-endian bytes; NULL if none. */
const cuzk_curve *cuzk_curve_by_fr_modulus(const uint8_t *modulus_le, size_t n_bytes);

/** The curve by name: bn254, BN254, bn128, alt_bn128, bls12_381, bls12-381, bls12381 in any case.
 *  NULL if none. */
const cuzk_curve *cuzk_curve_by_name(const char *name);

#endif
