/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* shared_ops of one curve, on the portable path. */
#include "shared_ops.h"

#include "backend/cuda/field_check.h"
#include "field/factor.h"
#include "field/inv_divsteps.h"

#define FC(name) fr_##name
#define FC_TYPE  fr
#include "backend/cuda/field_check_tmpl.h"

#define FC(name) fp_##name
#define FC_TYPE  fp
#include "backend/cuda/field_check_tmpl.h"

#define FC(name) fp2_##name
#define FC_TYPE  fp2
#include "backend/cuda/field_check_tmpl.h"

/* Words that are mostly special, as plain value or as Montgomery words. */
static void draw_words(uint64_t *w, const uint64_t *p, int n, uint64_t (*random)(void))
{
    uint64_t kind = random() % 12;
    for (int i = 0; i < n; i++) {
        w[i] = kind < 2 ? 0 : kind == 2 || (kind == 3 && random() % 2) ? UINT64_MAX : random();
    }
    if (kind == 0) {
        w[0] = random() % 3;
    } else if (kind == 1) {
        w[random() % (unsigned)n] = UINT64_C(1) << random() % 64;
    } else if (kind >= 4 && kind < 6) {
        uint64_t low[6] = {1 + random() % 2};
        cuzk_limbs_sub(w, p, low, n);
    } else if (kind == 6) {
        w[random() % (unsigned)n] = random() % 2 ? 0 : UINT64_MAX;
    } else if (kind == 7) { /* zero low halves: the lowest word of a step is zero */
        w[0] = random() << 32;
    }
}

#define DRAW(name)                                                                                 \
    static void name##_draw(void *o, uint64_t (*random)(void))                                     \
    {                                                                                              \
        name a;                                                                                    \
        uint64_t p[sizeof(a.l) / 8];                                                               \
        memcpy(p, name##_p, sizeof(p));                                                            \
        draw_words(a.l, p, (int)(sizeof(p) / 8), random);                                          \
        if (!name##_is_reduced(&a)) {                                                              \
            name##_from_canonical(&a, a.l);                                                        \
        }                                                                                          \
        name##_store(o, &a);                                                                       \
    }
static const uint64_t fr_p[FR_LIMBS] = CUZK_CC(FR_MODULUS);
static const uint64_t fp_p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
DRAW(fr)
DRAW(fp)

static void fp2_draw(void *o, uint64_t (*random)(void))
{
    fp_draw(o, random);
    fp_draw((char *)o + sizeof(fp), random);
}

#define CHECK(name)                                                                                \
    static void name##_check(void *o, const void *a, const void *b)                                \
    {                                                                                              \
        name x, y, results[CUZK_FIELD_CHECK_RESULTS];                                              \
        name##_load(&x, a);                                                                        \
        name##_load(&y, b);                                                                        \
        name##_check_one(results, &x, &y);                                                         \
        memcpy(o, results, sizeof(results));                                                       \
    }
CHECK(fr)
CHECK(fp)
CHECK(fp2)

static void fr_inv_divsteps(void *o, const void *a)
{
    static const fr r2 = CUZK_CC(FR_R2);
    fr x;
    fr_load(&x, a);
    cuzk_divsteps_inv(x.l, x.l, r2.l, fr_p, CUZK_CC(FR_N0), FR_LIMBS);
    fr_store(o, &x);
}

static void fp_inv_divsteps(void *o, const void *a)
{
    static const fp r2 = CUZK_CC(FP_R2);
    fp x;
    fp_load(&x, a);
    cuzk_divsteps_inv(x.l, x.l, r2.l, fp_p, CUZK_CC(FP_N0), FP_LIMBS);
    fp_store(o, &x);
}

#if CUZK_CURVE_IS_BN254
#define CURVE_NAME "bn254"
#else
#define CURVE_NAME "bls12_381"
#endif

extern const shared_ops CUZK_INSTANCE(shared_ops)[SHARED_OPS_FIELDS];
const shared_ops CUZK_INSTANCE(shared_ops)[SHARED_OPS_FIELDS] = {
    {CURVE_NAME " fr", "fr_check", sizeof(fr), fr_draw, fr_check, fr_inv_divsteps},
    {CURVE_NAME " fp", "fp_check", sizeof(fp), fp_draw, fp_check, fp_inv_divsteps},
    {CURVE_NAME " fp2", "fp2_check", sizeof(fp2), fp2_draw, fp2_check, NULL},
};

/* ---- loose values ---- */

/* Below 2p, often at the ends of the ranges. */
static void draw_loose(uint64_t *o, const uint64_t *reduced, const uint64_t *p, int n,
                       uint64_t (*random)(void))
{
    uint64_t kind = random() % 6;
    memcpy(o, reduced, 8 * (size_t)n);
    if (kind < 2) { /* p + a */
        (void)cuzk_limbs_add(o, o, p, n);
    } else if (kind == 2) {
        uint64_t small[6] = {1 + random() % 2};
        (void)cuzk_limbs_add(o, p, p, n);
        (void)cuzk_limbs_sub(o, o, small, n);
    }
}

static void fr_loose_draw(void *o, uint64_t (*random)(void))
{
    fr a;
    fr_draw(&a, random);
    draw_loose(o, a.l, fr_p, FR_LIMBS, random);
}

static void fp_loose_draw(void *o, uint64_t (*random)(void))
{
    fp a;
    fp_draw(&a, random);
    draw_loose(o, a.l, fp_p, FP_LIMBS, random);
}

static void fp2_loose_draw(void *o, uint64_t (*random)(void))
{
    fp_loose_draw(o, random);
    fp_loose_draw((char *)o + sizeof(fp), random);
}

static void fp_reduce(fp *a)
{
    cuzk_limbs_reduce_once(a->l, a->l, fp_p, FP_LIMBS);
}

static void fp2_reduce(fp2 *a)
{
    fp_reduce(&a->c0);
    fp_reduce(&a->c1);
}

#define LOOSE_EXPECT(name)                                                                         \
    static void name##_loose_expect(void *o, const void *a, const void *b)                         \
    {                                                                                              \
        name x, y, results[CUZK_LOOSE_CHECK_RESULTS];                                              \
        name##_load(&x, a);                                                                        \
        name##_load(&y, b);                                                                        \
        name##_reduce(&x);                                                                         \
        name##_reduce(&y);                                                                         \
        name##_mul(&results[0], &x, &y);                                                           \
        name##_sqr(&results[1], &x);                                                               \
        name##_add(&results[2], &results[0], &x);                                                  \
        name##_sub(&results[3], &results[1], &x);                                                  \
        name##_sub(&results[3], &results[3], &y);                                                  \
        memcpy(o, results, sizeof(results));                                                       \
    }
LOOSE_EXPECT(fp)
LOOSE_EXPECT(fp2)

static void factor_expect(void *o, const void *a, const void *b)
{
    fr x, y, results[CUZK_FACTOR_CHECK_RESULTS];
    fr_load(&x, a);
    fr_load(&y, b);
    fr_reduce_loose(&x, &x);
    fr_reduce_loose(&y, &y);
    fr_mul(&results[0], &x, &y);
    fr_add(&results[1], &x, &y);
    fr_sub(&results[2], &x, &y);
    memcpy(o, results, sizeof(results));
}

static void factor_host(void *o, const void *a, const void *b)
{
    fr x, y, reduced, results[CUZK_FACTOR_CHECK_RESULTS];
    fr_factor f;
    fr_load(&x, a);
    fr_load(&y, b);
    fr_reduce_loose(&reduced, &y);
    fr_factor_from(&f, &reduced);
    fr_mul_factor(&results[0], &x, &f);
    fr_add_loose(&results[1], &x, &y);
    fr_sub_wide(&results[2], &x, &y);
    for (int i = 0; i < CUZK_FACTOR_CHECK_RESULTS; i++) {
        fr_reduce_loose(&results[i], &results[i]);
    }
    memcpy(o, results, sizeof(results));
}

extern const loose_ops CUZK_INSTANCE(loose_ops)[LOOSE_OPS];
const loose_ops CUZK_INSTANCE(loose_ops)[LOOSE_OPS] = {
    {CURVE_NAME " fr factor", "fr_factor_check", sizeof(fr), CUZK_FACTOR_CHECK_RESULTS,
     fr_loose_draw, factor_expect, factor_host},
    {CURVE_NAME " fp loose", "fp_loose_check", sizeof(fp), CUZK_LOOSE_CHECK_RESULTS, fp_loose_draw,
     fp_loose_expect, NULL},
    {CURVE_NAME " fp2 loose", "fp2_loose_check", sizeof(fp2), CUZK_LOOSE_CHECK_RESULTS,
     fp2_loose_draw, fp2_loose_expect, NULL},
};
