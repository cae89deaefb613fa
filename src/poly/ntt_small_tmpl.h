/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Transforms and quotients of fewer than 64 points, element by element (radix 2, Cooley-Tukey). */
#ifndef CUZK_POLY_NTT_SMALL_TMPL_H
#define CUZK_POLY_NTT_SMALL_TMPL_H

#include "field/fields.h"
#include "poly/ntt_kernel.h"

enum { SMALL_MAX = 1 << (CUZK_NTT_LG_SMALL - 1) };

/* a[i] *= base^i. */
static void small_scale(fr *a, size_t n, const fr *base)
{
    fr t = *base;
    for (size_t i = 1; i < n; i++) {
        fr_mul(&a[i], &a[i], &t);
        fr_mul(&t, &t, base);
    }
}

static void small_cycle(const struct cuzk_domain *d, fr *a, bool inverse)
{
    size_t n = (size_t)1 << d->lg_n;
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        size_t bit = n >> 1;
        while (bit != 0 && (j & bit) != 0) {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
    }
    for (unsigned lg = 1; lg <= d->lg_n; lg++) {
        size_t half = (size_t)1 << (lg - 1);
        fr step = *(const fr *)(inverse ? &d->root_inv : &d->root), w;
        for (unsigned s = lg; s < d->lg_n; s++) {
            fr_sqr(&step, &step);
        }
        fr_set_one(&w);
        for (size_t j = 0; j < half; j++) {
            for (size_t i = j; i < n; i += 2 * half) {
                fr t;
                fr_mul(&t, &a[i + half], &w);
                fr_sub(&a[i + half], &a[i], &t);
                fr_add(&a[i], &a[i], &t);
            }
            fr_mul(&w, &w, &step);
        }
    }
    for (size_t i = 0; inverse && i < n; i++) {
        fr_mul(&a[i], &a[i], (const fr *)&d->size_inv);
    }
}

static void small_transform(const struct cuzk_domain *d, fr *a, const fr *coset, bool inverse)
{
    size_t n = (size_t)1 << d->lg_n;
    if (coset != NULL && !inverse) {
        small_scale(a, n, coset);
    }
    small_cycle(d, a, inverse);
    if (coset != NULL && inverse) {
        fr s;
        fr_inv(&s, coset);
        small_scale(a, n, &s);
    }
}

static void small_quotient(const struct cuzk_domain *d, cuzk_quotient_form form, void *out, fr *a,
                           fr *b)
{
    size_t n = (size_t)1 << d->lg_n;
    fr c[SMALL_MAX];
    fr *all[3] = {a, b, c};
    const fr *shift = (const fr *)(form == CUZK_QUOTIENT_TEXTBOOK ? &d->shift : &d->half_root);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&c[i], &a[i], &b[i]);
    }
    for (int p = 0; p < 3; p++) {
        small_transform(d, all[p], NULL, true);
        small_transform(d, all[p], shift, false);
    }
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &b[i]);
        fr_sub(&a[i], &a[i], &c[i]);
    }
    if (form != CUZK_QUOTIENT_CIRCOM) {
        /* X^n - 1 on the whole coset */
        fr z = *shift, one;
        for (unsigned i = 0; i < d->lg_n; i++) {
            fr_sqr(&z, &z);
        }
        fr_set_one(&one);
        fr_sub(&z, &z, &one);
        fr_inv(&z, &z);
        for (size_t i = 0; i < n; i++) {
            fr_mul(&a[i], &a[i], &z);
        }
        small_transform(d, a, shift, true);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t plain[FR_LIMBS];
        fr_to_canonical(plain, &a[i]);
        memcpy((char *)out + 32 * i, plain, sizeof plain);
    }
}

#endif
