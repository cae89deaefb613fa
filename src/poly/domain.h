/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Evaluation domains, number-theoretic transforms and the Groth16 quotient on the CPU.
 *
 * A domain of size n = 2^lg_n is H = {w^0 … w^(n-1)}. The root w is given by the caller: it belongs
 * to the file format (snarkjs derives it from 5, Filecoin from 7). Elements are cuzk_fr in
 * Montgomery form, reduced. Natural order in and out. */
#ifndef CUZK_POLY_DOMAIN_H
#define CUZK_POLY_DOMAIN_H

#include "base/pool.h"
#include "curve/curve.h"

enum { CUZK_DOMAIN_LG_MAX = 28 };

typedef struct cuzk_domain cuzk_domain;

/** Make a domain with its twiddle tables.
 *
 *  generator: the g of cuzk_curve.fr_root_of_unity (5 or 7). lg_n: 0 … CUZK_DOMAIN_LG_MAX and at
 *  most the curve's two-adicity. Returned: free with cuzk_domain_destroy.
 *  Errors: E_UNSUPPORTED (naming the largest domain), E_MEMORY. */
cuzk_status cuzk_domain_create(cuzk_domain **out, const cuzk_curve *curve, unsigned generator,
                               unsigned lg_n, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_domain_destroy(cuzk_domain *domain);

/** Bytes held by a domain's tables for this curve and size, before it is made. Pure. */
size_t cuzk_domain_bytes(const cuzk_curve *curve, unsigned lg_n);

/** Workspace of the transforms below, bytes. Pure. */
size_t cuzk_ntt_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool);

/** In place, a: n elements. forward: out_j = Σ_i a_i·w^(ij) (coefficients to evaluations);
 *  inverse: the inverse of it. coset (may be NULL): forward evaluates on coset·H, inverse takes
 *  evaluations on coset·H back to coefficients. ws 64-byte aligned. */
void cuzk_ntt_forward(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool);
void cuzk_ntt_inverse(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool);

/** Workspace of the two quotients below, bytes. Pure. */
size_t cuzk_quotient_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool);

/** The scalars of a circom key's H query: (a·b - c)(w2^(2i+1)) for i = 0 … n-1, with w2 the 2n-th
 *  root (w2² = w) and c the interpolation of a∘b (spec/circom-formats.md section 1).
 *
 *  a, b: n evaluations on H each, Montgomery form; destroyed. out: n × 32 bytes canonical; may be
 *  the same memory as a. Errors: E_UNSUPPORTED when the field has no 2n-th root (bn254, 2^28). */
cuzk_status cuzk_quotient_circom(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                 void *ws, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** The n coefficients of h = (a·b - c)/(X^n - 1), c the interpolation of a∘b (spec/groth16-
 *  bellperson.md section 3, design.md section 4 step 3). Coefficient n-1 is zero.
 *
 *  Same arguments. Falls back to the textbook form where there is no 2n-th root. */
cuzk_status cuzk_quotient_plain(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                void *ws, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
