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


typedef struct cuzk_domain cuzk_domain;

/** Make a domain with its tables (a few hundred bytes times the square root of n).
 *
 *  generator: the g of cuzk_curve.fr_root_of_unity (5 or 7). lg_n: 0 … CUZK_DOMAIN_LG_MAX and at
 *  most the curve's two-adicity. Returned: free with cuzk_domain_destroy.
 *  Errors: E_UNSUPPORTED (naming the largest domain), E_MEMORY.
 *  Threads: a domain is only read once made; any number of calls may share it. */
cuzk_status cuzk_domain_create(cuzk_domain **out, const cuzk_curve *curve, unsigned generator,
                               unsigned lg_n, cuzk_error *err) CUZK_WARN_UNUSED;

/** Same, with the inner loops of one CPU path instead of this process's. E_UNSUPPORTED where the
 *  path is not built or the processor lacks it. For tests and benchmarks. */
cuzk_status cuzk_domain_create_path(cuzk_domain **out, const cuzk_curve *curve, cuzk_cpu_path path,
                                    unsigned generator, unsigned lg_n,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Free a domain. NULL is fine. */
void cuzk_domain_destroy(cuzk_domain *domain);

/** Bytes held by a domain's tables for this curve and size, before it is made. Pure. */
size_t cuzk_domain_bytes(const cuzk_curve *curve, unsigned lg_n);

/** lg_n of a domain. */
unsigned cuzk_domain_lg(const cuzk_domain *domain);

/** The root w of a domain. */
cuzk_fr cuzk_domain_root(const cuzk_domain *domain);

/** Workspace of the transforms below, bytes: 32·n and a part that grows with the square root of n
 *  for each thread. Pure. */
size_t cuzk_ntt_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool);

/** In place, a: n elements. forward: out_j = Σ_i a_i·w^(ij) (coefficients to evaluations);
 *  inverse: the inverse of it.
 *
 *  coset: NULL, or an element s other than 0: forward evaluates on s·H, inverse takes evaluations
 *  on s·H back to coefficients.
 *  ws: cuzk_ntt_workspace_bytes(domain, pool) bytes, 64-byte aligned, borrowed for the call,
 *  contents undefined after. a needs no alignment beyond its own.
 *  Cost: n/2·lg_n butterflies and about two products an element; no allocation.
 *  Source: Bailey's four-step form (1990), see ntt_tmpl.h. */
void cuzk_ntt_forward(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool);
void cuzk_ntt_inverse(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool);

/** Workspace of the quotients below, bytes: 32·n and a part that grows with the square root of n
 *  for each thread. Pure. */
size_t cuzk_quotient_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool);

/** The same for a domain of 2^lg_n that need not be there, on this process's CPU path. */
size_t cuzk_quotient_bytes(const cuzk_curve *curve, unsigned lg_n, const cuzk_pool *pool);

/** The scalars of a circom key's H query: (a·b - c)(w2^(2i+1)) for i = 0 … n-1, with w2 the 2n-th
 *  root (w2² = w) and c the interpolation of a∘b (spec/circom-formats.md section 1).
 *
 *  a, b: n evaluations on H each, Montgomery form; destroyed. out: n × 32 bytes canonical, aligned
 *  to 8 bytes; may be the same memory as a, else apart from a, b and ws. ws: 64-byte aligned,
 *  cuzk_quotient_workspace_bytes. w2 is derived from the domain's generator.
 *  Errors: E_UNSUPPORTED when the field has no 2n-th root (bn254, 2^28). */
cuzk_status cuzk_quotient_circom(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                 void *ws, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** The n coefficients of h = (a·b - c)/(X^n - 1), c the interpolation of a∘b (spec/groth16-
 *  bellperson.md section 3, design.md section 4 step 3). Coefficient n-1 is zero.
 *
 *  Same arguments. Falls back to the textbook form where there is no 2n-th root. */
cuzk_status cuzk_quotient_plain(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                void *ws, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Same result by the textbook: a·b - c on the coset of the generator, divided by X^n - 1 there,
 *  seven transforms. The reference for the other form, and for the domains that it cannot do. */
void cuzk_quotient_textbook(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b, void *ws,
                            cuzk_pool *pool);

#endif
