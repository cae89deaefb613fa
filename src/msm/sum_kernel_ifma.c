/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sum kernels on eight lanes: one source, built per curve for the paths ifma and ifma_emulated,
 * for both groups. The method is in sum_kernel_ifma_tmpl.h.
 *
 * Scaled coordinates. Points are added on the isomorphic curve (u²x, u³y), on which the affine
 * formulas for y² = x³ + b hold unchanged, as they do not use b. u is chosen such that the memory
 * form of a coordinate becomes the Montgomery form of the lanes by a shift alone, one so short that
 * the range stays small: with R52/R = 2^e (e = 4 on bn254, 32 on bls12_381) a shift of x by a bits
 * and of y by c bits means the factors 2^(a-e) = u² and 2^(c-e) = u³, hence 2(c - e) = 3(a - e). */
#include "field/lanes.h"
#include "msm/sum_kernel.h"
#include "msm/sum_plan.h"

enum {
#if FPX8_LIMBS == 5
    X_SHIFT = 2, /* u² = 2^-2 */
    Y_SHIFT = 1  /* u³ = 2^-3 */
#else
    X_SHIFT = 12, /* u² = 2^-20 */
    Y_SHIFT = 2   /* u³ = 2^-30 */
#endif
};

/* Ranges, in multiples of p; |x|, |y| are bounds of magnitude, since partial sums are carried
 * values of either sign.
 *
 * bn254 (R52 = 84.6 p). Bases x < 4, |y| < 2; kernel points x, y < 2^256 = 5.3; partial sums
 * 0 ≤ x < 6.3 (folded at every addition), |y| < 5.3 + 3·rounds ≤ 20.3. So dx < 13.3, dy < 73.
 *
 * bls12_381 (R52 = 2^35.3 p). Bases x < 2^12, |y| < 4; kernel points x < 2^18, y < 12; partial sums
 * |x| < 2^(18 + rounds) + 2^7 ≤ 2^23.1, |y| < 12 + 3·rounds. So dx < 2^25, dy < 256.
 *
 * Every product then stays below 3 p (a·b/R52 + 2 p), sums of two products below 27 p. */
enum {
    SLOPE_TIMES = 3, /* more than a slope */
#if FPX8_LIMBS == 5
    DX_TIMES = 7,   /* more than any x */
    X3_TIMES = 14,  /* more than the sum of two x, by at least p */
    DY_TIMES = 37,  /* more than the sum of two |y| before the last round, by at least p */
    NEG_TIMES = 14, /* more than dx */
    OUT_X_TIMES = 0,
    OUT_Y_TIMES = 37
#else
    DX_TIMES = 1 << 24,
    X3_TIMES = 0,
    DY_TIMES = 128,
    NEG_TIMES = 1 << 25,
    OUT_X_TIMES = 1 << 24,
    OUT_Y_TIMES = 128
#endif
};

/* Limbs of some of these multiples of p, in memory: vector instructions read them from there at no
 * cost, while constants would be built in scalar registers again and again. */
typedef struct {
    uint64_t dx[FPX8_LIMBS], x3[FPX8_LIMBS], dy[FPX8_LIMBS], neg[FPX8_LIMBS], slope[FPX8_LIMBS];
} multiples;

static void multiples_set(multiples *m)
{
    fpx8_multiple_limbs(m->dx, DX_TIMES);
    fpx8_multiple_limbs(m->x3, X3_TIMES);
    fpx8_multiple_limbs(m->dy, DY_TIMES);
    fpx8_multiple_limbs(m->neg, NEG_TIMES);
    fpx8_multiple_limbs(m->slope, SLOPE_TIMES);
}

/* o = k - a, raw. */
V8_FN void neg_limbs(fpx8 *o, const fpx8 *a, const uint64_t *k)
{
    V8_UNROLL
    for (int j = 0; j < FPX8_LIMBS; j++) {
        o->l[j] = v8_sub(v8_broadcast(&k[j]), a->l[j]);
    }
}

/* A step of a batch: exceptional lanes of the sum of two rows of points. */
typedef struct {
    v8_mask a_infinite, b_infinite;
    v8_mask doubled;  /* both points equal: the divisor is 2y, the slope's numerator 3x² */
    v8_mask opposite; /* the sum is infinity */
} step_marks;

/* A step: rows (or blocks) a and b, and the block of their sum. */
typedef struct {
    uint32_t a, b, out;
} step_rows;

/* Where a round's points come from. */
typedef enum { FROM_BASES, FROM_POINTS, FROM_BLOCKS } point_source;

/* Pointers that are fetched ahead, some at each step. */
typedef struct {
    const uint64_t *tags;
    size_t n, at;    /* tags, next one */
    size_t per_step; /* tags at each step */
    size_t offsets[4], n_offsets;
} fetch_ahead;

static inline bool any_marks(const step_marks *m)
{
    return (m->a_infinite | m->b_infinite | m->doubled | m->opposite) != 0;
}

/* Offsets that touch every cache line of a record: of records that start at multiples of their
 * power-of-two part the last byte needs none of its own. */
static void fetch_ahead_set(fetch_ahead *f, const char *bases, size_t record)
{
    bool aligned = ((uintptr_t)bases | record) % 32 == 0;
    f->n_offsets = 0;
    for (size_t o = 0; o < record; o += 64) {
        f->offsets[f->n_offsets++] = o;
    }
    if (aligned && record % 64 == 32) {
        f->offsets[f->n_offsets - 1] = record - 1;
    } else if ((uintptr_t)bases % 64 != 0 || record % 64 != 0) {
        f->offsets[f->n_offsets++] = record - 1;
    }
}

static void fetch_some(fetch_ahead *f, size_t n_steps)
{
    size_t end = f->at + n_steps * f->per_step;
    if (end > f->n) {
        end = f->n;
    }
    for (; f->at < end; f->at++) {
        const char *record = sum_tag_record(f->tags[f->at]);
        for (size_t k = 0; k < f->n_offsets; k++) {
            v8_prefetch_l2(record + f->offsets[k]);
        }
    }
}

/* Words first … first + 7 of the records of eight tags: w[k] holds word first + k of all. */
V8_FN void gather_words(v8 *w, const uint64_t *tags, size_t first)
{
    v8 r[8];
    V8_UNROLL
    for (int j = 0; j < 8; j++) {
        r[j] = v8_loadu(sum_tag_record(tags[j]) + 8 * first);
    }
    v8_transpose(r);
    V8_UNROLL
    for (int j = 0; j < 8; j++) {
        w[j] = r[j];
    }
}

/* The lanes of m whose records are zero throughout. */
V8_NOINLINE v8_mask zero_records(v8_mask m, const uint64_t *tags, size_t record_bytes)
{
    for (int j = 0; j < 8; j++) {
        if (m >> j & 1 && memcmp(sum_tag_record(tags[j]), sum_zero_record, record_bytes) != 0) {
            m &= (v8_mask) ~(1 << j);
        }
    }
    return m;
}

/* Words 0 … 7 of eight records, record j at out[j] + offset. */
V8_FN void scatter_words(char *const *out, size_t n, size_t offset, const v8 *w)
{
    v8 r[8];
    V8_UNROLL
    for (int j = 0; j < 8; j++) {
        r[j] = w[j];
    }
    v8_transpose(r);
    for (size_t j = 0; j < n; j++) {
        v8_storeu(out[j] + offset, r[j]);
    }
}

/* Eight lanes, the inverse of one element each, by a single inversion: total = the product of all
 * lanes in every lane. Returns false and leaves o alone if it is zero. a: digits; o: carried. */
static bool invert_lanes(fpx8 *o, const fpx8 *a)
{
    static const uint64_t from_mont[FPX8_LIMBS] = CUZK_CC(FP52_FROM_MONT);
    fpx8 s1, s2, s4, pairs, quads, total, others, k;
    for (int j = 0; j < FPX8_LIMBS; j++) {
        s1.l[j] = v8_swap1(a->l[j]);
    }
    fpx8_mul(&pairs, a, &s1);
    for (int j = 0; j < FPX8_LIMBS; j++) {
        s2.l[j] = v8_swap2(pairs.l[j]);
    }
    fpx8_mul2(&quads, &pairs, &s2, &others, &s1, &s2);
    for (int j = 0; j < FPX8_LIMBS; j++) {
        s4.l[j] = v8_swap4(quads.l[j]);
    }
    fpx8_mul2(&total, &quads, &s4, &others, &others, &s4);
    fpx8_reduce_once(&total, 2);
    fpx8_reduce_once(&total, 1);
    v8 words[FP_LIMBS];
    fp t, inverse;
    fpx8_to_words(words, &total);
    for (int i = 0; i < FP_LIMBS; i++) {
        uint64_t lanes[8];
        v8_storeu(lanes, words[i]);
        t.l[i] = lanes[0];
    }
    if (fp_is_zero(&t)) {
        return false;
    }
    /* In words: t = T, and fp_inv gives R²/T. Two factors R52²/R, each divided by R52, make it
     * R52²/T, the inverse of T in the form of the lanes. */
    fp_inv(&inverse, &t);
    for (int i = 0; i < FP_LIMBS; i++) {
        words[i] = v8_set1(inverse.l[i]);
    }
    fpx8_from_words(&total, words, 0);
    fpx8_broadcast(&k, from_mont);
    fpx8_mul(&total, &total, &k);
    fpx8_mul(&total, &total, &k);
    fpx8_mul(o, &total, &others);
    return true;
}

/* Carried, below 2^(64·FP_LIMBS) where that is 5.3 p (bn254); below 2^18 p else. a: carried or raw,
 * a + times·p at least p or not negative and carried. */
static void normalise(fpx8 *a, uint64_t times)
{
    fpx8 zero;
    fpx8_set_zero(&zero);
    fpx8_sub(a, a, &zero, times);
    fpx8_fold_top(a);
    fpx8_carry(a);
    fpx8_fold_top(a);
    fpx8_carry(a);
}

/* The Montgomery form of 2^-n, canonical limbs: n times halved from 1. */
static void power_of_half(uint64_t *o, int n)
{
    static const uint64_t one[FPX8_LIMBS] = CUZK_CC(FP52_ONE);
    static const uint64_t p[FPX8_LIMBS] = CUZK_CC(FP52_MODULUS);
    memcpy(o, one, sizeof one);
    for (; n > 0; n--) {
        uint64_t odd = 0 - (o[0] & 1);
        for (int j = 0; j < FPX8_LIMBS; j++) {
            o[j] += p[j] & odd;
        }
        for (int j = 0; j + 1 < FPX8_LIMBS; j++) {
            o[j + 1] += o[j] >> 52;
            o[j] = (o[j] & V8_LOW52) >> 1 | (o[j + 1] & 1) << 51;
        }
        o[FPX8_LIMBS - 1] >>= 1;
    }
}

#define KN(name) g1_lanes_##name
#define KD       1
#include "msm/sum_kernel_ifma_tmpl.h"

#define KN(name) g2_lanes_##name
#define KD       2
#include "msm/sum_kernel_ifma_tmpl.h"

const cuzk_sum_kernel CUZK_INSTANCE(sum_kernel_g1) = {
    .point_bytes = sizeof(g1_lanes_point),
    .workspace_bytes = sizeof(g1_lanes_workspace),
    .segment_sums = g1_lanes_segment_sums,
    .to_affine = g1_lanes_to_affine,
};

const cuzk_sum_kernel CUZK_INSTANCE(sum_kernel_g2) = {
    .point_bytes = sizeof(g2_lanes_point),
    .workspace_bytes = sizeof(g2_lanes_workspace),
    .segment_sums = g2_lanes_segment_sums,
    .to_affine = g2_lanes_to_affine,
};
