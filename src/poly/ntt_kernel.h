/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a domain is made of, and the transforms of one (curve, CPU path) behind function pointers.
 * Internal to src/poly. */
#ifndef CUZK_POLY_NTT_KERNEL_H
#define CUZK_POLY_NTT_KERNEL_H

#include "poly/domain.h"

typedef enum {
    CUZK_QUOTIENT_CIRCOM,
    CUZK_QUOTIENT_PLAIN,
    CUZK_QUOTIENT_TEXTBOOK
} cuzk_quotient_form;

struct cuzk_ntt_kernel {
    size_t factor_bytes; /* one table entry: a fixed multiplier in the kernel's form */
    size_t vector_bytes; /* eight elements in the kernel's form */

    /* Fill domain->factors: 2^lg_cols entries. tmp: 2^lg_cols elements. */
    void (*make_factors)(struct cuzk_domain *domain, cuzk_fr *tmp);

    void (*transform)(const struct cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset,
                      bool inverse, void *ws, cuzk_pool *pool);

    void (*quotient)(const struct cuzk_domain *domain, cuzk_quotient_form form, void *out,
                     cuzk_fr *a, cuzk_fr *b, void *ws, cuzk_pool *pool);
};

typedef struct cuzk_ntt_kernel cuzk_ntt_kernel;

/* A domain of n = rows · cols points, rows = 2^lg_rows, cols = 2^lg_cols, cols = rows or 2·rows.
 * Below 2^CUZK_NTT_LG_SMALL points rows, cols and the tables are not used. */
enum { CUZK_NTT_LG_SMALL = 6 };

struct cuzk_domain {
    const cuzk_curve *curve;
    const cuzk_ntt_kernel *kernel;
    unsigned generator;
    unsigned lg_n, lg_rows, lg_cols;
    bool has_half_root; /* whether half_root exists */
    cuzk_fr root, root_inv;
    cuzk_fr half_root, half_root_inv; /* primitive 2n-th root and its inverse: half_root² = root */
    cuzk_fr size_inv;                 /* 1/n */
    cuzk_fr shift;                    /* the generator as an element: shift^n is not 1 */
    /* Entry b < 2^lg_cols: the root of unity that is turn(b) of a full turn, turn(b) = the bits of
     * b reversed behind the point, halved: 0, 1/4, 1/8, 3/8, 1/16, 5/16, 3/16 … */
    void *factors;
};

/** The kernel of one path; NULL where it is not built or the processor lacks it. */
const cuzk_ntt_kernel *cuzk_ntt_kernel_get(cuzk_curve_id curve, cuzk_cpu_path path);

/* From this size on loops use the pool, and stores of large arrays bypass the caches (8 MiB of
 * elements no longer stay in L2). */
enum { CUZK_NTT_LG_THREADS = 11, CUZK_NTT_LG_STREAM = 18 };

#endif
