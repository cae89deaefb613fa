/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ranges are independent: each starts from its own power of w and shares one inversion among its
 * elements (Montgomery's trick). */
#include "groth16/lagrange.h"

#include <string.h>

enum { RANGE = 512 };

struct lagrange {
    const cuzk_curve *curve;
    cuzk_fr *out;
    size_t n;
    const cuzk_fr *t, *w, *shift, *scale;
};

static bool is_zero(const cuzk_fr *a)
{
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

static void range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct lagrange *g = ctx;
    const cuzk_curve *c = g->curve;
    size_t begin = chunk * RANGE, n = g->n - begin < RANGE ? g->n - begin : RANGE;
    cuzk_fr before[RANGE], x, difference, product = c->fr_one, inverse;
    cuzk_fr *out = g->out + begin;
    c->fr_pow_u64(&x, g->w, begin);
    c->fr_mul(&x, &x, g->shift);
    /* out: t - x_i; before: product of the earlier ones */
    for (size_t i = 0; i < n; i++) {
        c->fr_sub(&out[i], g->t, &x);
        before[i] = product;
        if (!is_zero(&out[i])) {
            c->fr_mul(&product, &product, &out[i]);
        }
        c->fr_mul(&x, &x, g->w);
    }
    c->fr_inv(&inverse, &product);
    for (size_t i = n; i-- > 0;) {
        if (is_zero(&out[i])) {
            continue;
        }
        difference = out[i];
        c->fr_mul(&out[i], &inverse, &before[i]);
        c->fr_mul(&inverse, &inverse, &difference);
        /* x_i = t - difference */
        c->fr_sub(&x, g->t, &difference);
        c->fr_mul(&out[i], &out[i], &x);
        c->fr_mul(&out[i], &out[i], g->scale);
    }
}

void cuzk_lagrange_at(const cuzk_curve *curve, cuzk_fr *out, size_t n, const cuzk_fr *t,
                      const cuzk_fr *w, const cuzk_fr *shift, const cuzk_fr *scale, cuzk_pool *pool)
{
    struct lagrange g = {curve, out, n, t, w, shift, scale};
    cuzk_pool_for(pool, (n + RANGE - 1) / RANGE, range, &g);
}
