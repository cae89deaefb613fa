/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the rows of repeated blocks need before they go to the lanes. */
#include "base/bitmap.h"
#include "r1cs/row_lanes.h"

#include <string.h>

#define LOW52 0xfffffffffffffu

void cuzk_bn254_ifma_row_lanes(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                               uint32_t first, uint32_t end);
void cuzk_bls12_381_ifma_row_lanes(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                                   uint32_t first, uint32_t end);
void cuzk_bn254_ifma_emulated_row_lanes(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                                        uint32_t first, uint32_t end);
void cuzk_bls12_381_ifma_emulated_row_lanes(const cuzk_row_lanes *g, uint32_t copy,
                                            uint32_t n_lanes, uint32_t first, uint32_t end);

cuzk_row_lanes_fn cuzk_row_lanes_get(cuzk_curve_id curve)
{
    switch (cuzk_cpu_path_get()) {
#if CUZK_HAVE_X86_PATHS
    case CUZK_CPU_IFMA:
        return curve == CUZK_CURVE_BN254 ? cuzk_bn254_ifma_row_lanes
                                         : cuzk_bls12_381_ifma_row_lanes;
#endif
    case CUZK_CPU_IFMA_EMULATED:
        return curve == CUZK_CURVE_BN254 ? cuzk_bn254_ifma_emulated_row_lanes
                                         : cuzk_bls12_381_ifma_emulated_row_lanes;
    default:
        return NULL;
    }
}

/* ---- coefficients ---------------------------------------------------------------------------- */

static void to_limbs(uint64_t o[CUZK_ROW_LIMBS], const uint64_t w[4])
{
    o[0] = w[0] & LOW52;
    o[1] = (w[0] >> 52 | w[1] << 12) & LOW52;
    o[2] = (w[1] >> 40 | w[2] << 24) & LOW52;
    o[3] = (w[2] >> 28 | w[3] << 36) & LOW52;
    o[4] = w[3] >> 16;
}

/* Words of an element's memory form times 16: for x·2^256 those of x·2^260. */
static void shifted_limbs(uint64_t o[CUZK_ROW_LIMBS], const cuzk_curve *curve, const cuzk_fr *x)
{
    cuzk_fr t = *x;
    for (int i = 0; i < 4; i++) {
        curve->fr_add(&t, &t, &t);
    }
    to_limbs(o, t.l);
}

static bool is_less(const uint64_t x[4], const uint64_t y[4])
{
    for (int i = 3; i > 0; i--) {
        if (x[i] != y[i]) {
            return x[i] < y[i];
        }
    }
    return x[0] < y[0];
}

static void coef_init(cuzk_row_coef *c, const cuzk_curve *curve, const cuzk_fr *coef)
{
    cuzk_fr minus;
    uint64_t plain[4], negated[4];
    curve->fr_neg(&minus, coef);
    curve->fr_to_canonical_le(plain, coef);
    curve->fr_to_canonical_le(negated, &minus);
    c->is_negative = is_less(negated, plain);
    to_limbs(c->plain, c->is_negative ? negated : plain);
    shifted_limbs(c->mont, curve, coef);
    uint64_t top = c->is_negative ? negated[3] : plain[3];
    c->size = ((double)top + 1) / (double)curve->r[3];
    c->limb = -1;
    int n_limbs = 0;
    for (int j = 0; j < CUZK_ROW_LIMBS; j++) {
        if (c->plain[j] != 0) {
            n_limbs++;
            c->limb = (int8_t)j;
        }
    }
    if (n_limbs != 1) {
        c->limb = -1;
    }
}

void cuzk_row_coefs_init(cuzk_row_coef *out, uint64_t to_memory[CUZK_ROW_LIMBS],
                         const cuzk_shape *shape)
{
    const cuzk_curve *curve = shape->curve;
    for (uint32_t i = 0; i < shape->n_coefs; i++) {
        coef_init(&out[i], curve, &shape->coefs[i]);
    }
    shifted_limbs(to_memory, curve, &shape->coefs_r2[CUZK_COEF_ONE]); /* 2^512 to 2^516 */
}

/* ---- places of field variables --------------------------------------------------------------- */

/* n ≤ 64 bits from `first` on. */
static uint64_t bits_at(const uint64_t *map, uint64_t first, unsigned n)
{
    unsigned shift = first % 64;
    uint64_t x = map[first / 64] >> shift;
    if (shift + n > 64) {
        x |= map[first / 64 + 1] << (64 - shift);
    }
    return n == 64 ? x : x & (((uint64_t)1 << n) - 1);
}

bool cuzk_row_lanes_fit(const cuzk_witness *w, const cuzk_shape_block *b, uint32_t *n_field)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < b->aux_stride; at += 64) {
        unsigned n = b->aux_stride - at < 64 ? b->aux_stride - at : 64;
        uint64_t first = (uint64_t)b->first_aux + at, pattern = bits_at(w->is_field, first, n);
        count += (uint32_t)__builtin_popcountll(pattern);
        for (uint32_t k = 1; k < b->n_copies; k++) {
            if (bits_at(w->is_field, first + (uint64_t)k * b->aux_stride, n) != pattern) {
                return false;
            }
        }
    }
    *n_field = count;
    return true;
}
