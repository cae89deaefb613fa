/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel of one (curve, CPU path) from the templates. Include after an oct_*.h. */
#include "poly/ntt_small_tmpl.h"
#include "poly/ntt_tmpl.h"
#include "poly/quotient_tmpl.h"

#include <assert.h>

static_assert(sizeof(fr) == sizeof(cuzk_fr), "fr and cuzk_fr are the same bytes");
static_assert(sizeof(chunk) == 256, "a chunk is eight elements in place");

static void kernel_transform(const struct cuzk_domain *d, cuzk_fr *a, const cuzk_fr *coset,
                             bool inverse, void *ws, cuzk_pool *pool)
{
    if (d->lg_n < CUZK_NTT_LG_SMALL) {
        small_transform(d, (fr *)a, (const fr *)coset, inverse);
    } else {
        transform_large(d, (fr *)a, (const fr *)coset, inverse, ws, pool);
    }
}

static void kernel_quotient(const struct cuzk_domain *d, cuzk_quotient_form form, void *out,
                            cuzk_fr *a, cuzk_fr *b, void *ws, cuzk_pool *pool)
{
    if (d->lg_n < CUZK_NTT_LG_SMALL) {
        small_quotient(d, form, out, (fr *)a, (fr *)b);
    } else {
        quotient_large(d, form, out, (fr *)a, (fr *)b, ws, pool);
    }
}

const cuzk_ntt_kernel CUZK_INSTANCE(ntt_kernel) = {
    .factor_bytes = sizeof(factor),
    .vector_bytes = sizeof(oct),
    .make_factors = make_factors,
    .transform = kernel_transform,
    .quotient = kernel_quotient,
};
