/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Domains: argument checks, tables, and the choice of the kernel. */
#include "poly/domain.h"

#include "poly/ntt_kernel.h"

#include <stdlib.h>
#include <string.h>

#define KERNELS(X)                                                                                 \
    X(bn254, portable)                                                                             \
    X(bls12_381, portable)                                                                         \
    X(bn254, ifma_emulated)                                                                        \
    X(bls12_381, ifma_emulated)
#define KERNELS_X86(X)                                                                             \
    X(bn254, adx)                                                                                  \
    X(bls12_381, adx)                                                                              \
    X(bn254, ifma)                                                                                 \
    X(bls12_381, ifma)

#define DECLARE(curve, path) extern const cuzk_ntt_kernel cuzk_##curve##_##path##_ntt_kernel;
KERNELS(DECLARE)
#if CUZK_HAVE_X86_PATHS
KERNELS_X86(DECLARE)
#endif

#define PAIR(path)                                                                                 \
    {                                                                                              \
        &cuzk_bn254_##path##_ntt_kernel, &cuzk_bls12_381_##path##_ntt_kernel                       \
    }

static const cuzk_ntt_kernel *const kernels[CUZK_CPU_PATH_COUNT][2] = {
    [CUZK_CPU_PORTABLE] = PAIR(portable),
    [CUZK_CPU_IFMA_EMULATED] = PAIR(ifma_emulated),
#if CUZK_HAVE_X86_PATHS
    [CUZK_CPU_ADX] = PAIR(adx),
    [CUZK_CPU_IFMA] = PAIR(ifma),
#endif
};

const cuzk_ntt_kernel *cuzk_ntt_kernel_get(cuzk_curve_id curve, cuzk_cpu_path path)
{
    if ((unsigned)path >= CUZK_CPU_PATH_COUNT || !cuzk_cpu_supports(path)) {
        return NULL;
    }
    return kernels[path][curve == CUZK_CURVE_BN254 ? 0 : 1];
}

static unsigned lg_cols_of(unsigned lg_n)
{
    return lg_n < CUZK_NTT_LG_SMALL ? 0 : lg_n - lg_n / 2;
}

static size_t factors_bytes(const cuzk_ntt_kernel *kernel, unsigned lg_n)
{
    size_t bytes = kernel->factor_bytes << lg_cols_of(lg_n);
    return (bytes + 63) & ~(size_t)63;
}

static cuzk_status fill(struct cuzk_domain *d, cuzk_error *err)
{
    const cuzk_curve *curve = d->curve;
    d->has_half_root = d->lg_n < curve->two_adicity;
    if (d->has_half_root) {
        curve->fr_root_of_unity(&d->half_root, d->generator, d->lg_n + 1);
        curve->fr_inv(&d->half_root_inv, &d->half_root);
        curve->fr_mul(&d->root, &d->half_root, &d->half_root);
        curve->fr_mul(&d->root_inv, &d->half_root_inv, &d->half_root_inv);
    } else {
        curve->fr_root_of_unity(&d->root, d->generator, d->lg_n);
        curve->fr_inv(&d->root_inv, &d->root);
    }
    curve->fr_from_u64(&d->size_inv, (uint64_t)1 << d->lg_n);
    curve->fr_inv(&d->size_inv, &d->size_inv);
    curve->fr_from_u64(&d->shift, d->generator);
    if (d->lg_n < CUZK_NTT_LG_SMALL) {
        return CUZK_OK;
    }
    size_t bytes = factors_bytes(d->kernel, d->lg_n);
    d->factors = aligned_alloc(64, bytes);
    cuzk_fr *tmp = malloc(sizeof *tmp << d->lg_cols);
    if (d->factors != NULL && tmp != NULL) {
        d->kernel->make_factors(d, tmp);
    }
    bool ok = d->factors != NULL && tmp != NULL;
    free(tmp);
    CUZK_FAIL_IF(!ok, err, CUZK_E_MEMORY, "making a domain of 2^%u points: no memory for %zu bytes",
                 d->lg_n, bytes);
    return CUZK_OK;
}

cuzk_status cuzk_domain_create_path(cuzk_domain **out, const cuzk_curve *curve, cuzk_cpu_path path,
                                    unsigned generator, unsigned lg_n, cuzk_error *err)
{
    unsigned lg_max =
        curve->two_adicity < CUZK_DOMAIN_LG_MAX ? curve->two_adicity : CUZK_DOMAIN_LG_MAX;
    CUZK_FAIL_IF(lg_n > lg_max, err, CUZK_E_UNSUPPORTED,
                 "making a domain of 2^%u points on %s: the largest is 2^%u", lg_n,
                 curve->snarkjs_name, lg_max);
    CUZK_FAIL_IF(generator != 5 && generator != 7, err, CUZK_E_ARGUMENT,
                 "making a domain on %s: generator %u of the root of unity; known are 5 and 7",
                 curve->snarkjs_name, generator);
    const cuzk_ntt_kernel *kernel = cuzk_ntt_kernel_get(curve->id, path);
    CUZK_FAIL_IF(kernel == NULL, err, CUZK_E_UNSUPPORTED,
                 "making a domain on %s: CPU path %s is not available here", curve->snarkjs_name,
                 cuzk_cpu_path_name(path));
    struct cuzk_domain *d = calloc(1, sizeof *d);
    CUZK_FAIL_IF(d == NULL, err, CUZK_E_MEMORY, "making a domain of 2^%u points: out of memory",
                 lg_n);
    d->curve = curve;
    d->kernel = kernel;
    d->generator = generator;
    d->lg_n = lg_n;
    d->lg_cols = lg_cols_of(lg_n);
    d->lg_rows = lg_n < CUZK_NTT_LG_SMALL ? 0 : lg_n / 2;
    cuzk_status status = fill(d, err);
    if (status != CUZK_OK) {
        cuzk_domain_destroy(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

cuzk_status cuzk_domain_create(cuzk_domain **out, const cuzk_curve *curve, unsigned generator,
                               unsigned lg_n, cuzk_error *err)
{
    return cuzk_domain_create_path(out, curve, cuzk_cpu_path_get(), generator, lg_n, err);
}

void cuzk_domain_destroy(cuzk_domain *domain)
{
    if (domain != NULL) {
        free(domain->factors);
        free(domain);
    }
}

size_t cuzk_domain_bytes(const cuzk_curve *curve, unsigned lg_n)
{
    size_t tables = 0;
    if (lg_n >= CUZK_NTT_LG_SMALL) {
        tables = factors_bytes(cuzk_ntt_kernel_get(curve->id, cuzk_cpu_path_get()), lg_n);
    }
    return sizeof(struct cuzk_domain) + tables;
}

unsigned cuzk_domain_lg(const cuzk_domain *domain)
{
    return domain->lg_n;
}

cuzk_fr cuzk_domain_root(const cuzk_domain *domain)
{
    return domain->root;
}

static size_t workspace(const cuzk_ntt_kernel *kernel, unsigned lg_n, const cuzk_pool *pool)
{
    if (lg_n < CUZK_NTT_LG_SMALL) {
        return 64; /* not used; aligned_alloc wants a size */
    }
    size_t n_threads = lg_n < CUZK_NTT_LG_THREADS ? 1 : cuzk_pool_threads(pool);
    size_t bytes = (size_t)32 << lg_n;
    bytes += 2 * (kernel->factor_bytes << lg_cols_of(lg_n));
    return bytes + 3 * n_threads * (kernel->vector_bytes << lg_cols_of(lg_n));
}

size_t cuzk_ntt_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool)
{
    return workspace(domain->kernel, domain->lg_n, pool);
}

void cuzk_ntt_forward(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool)
{
    domain->kernel->transform(domain, a, coset, false, ws, pool);
}

void cuzk_ntt_inverse(const cuzk_domain *domain, cuzk_fr *a, const cuzk_fr *coset, void *ws,
                      cuzk_pool *pool)
{
    domain->kernel->transform(domain, a, coset, true, ws, pool);
}

size_t cuzk_quotient_workspace_bytes(const cuzk_domain *domain, const cuzk_pool *pool)
{
    return workspace(domain->kernel, domain->lg_n, pool);
}

size_t cuzk_quotient_bytes(const cuzk_curve *curve, unsigned lg_n, const cuzk_pool *pool)
{
    return workspace(cuzk_ntt_kernel_get(curve->id, cuzk_cpu_path_get()), lg_n, pool);
}

cuzk_status cuzk_quotient_circom(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                 void *ws, cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(!domain->has_half_root, err, CUZK_E_UNSUPPORTED,
                 "computing the quotient for a circom key on %s: domain 2^%u needs a root of unity "
                 "of order 2^%u, which the field lacks; the largest domain is 2^%u",
                 domain->curve->snarkjs_name, domain->lg_n, domain->lg_n + 1,
                 domain->curve->two_adicity - 1);
    domain->kernel->quotient(domain, CUZK_QUOTIENT_CIRCOM, out, a, b, ws, pool);
    return CUZK_OK;
}

cuzk_status cuzk_quotient_plain(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b,
                                void *ws, cuzk_pool *pool, cuzk_error *err)
{
    (void)err;
    cuzk_quotient_form form = domain->has_half_root ? CUZK_QUOTIENT_PLAIN : CUZK_QUOTIENT_TEXTBOOK;
    domain->kernel->quotient(domain, form, out, a, b, ws, pool);
    return CUZK_OK;
}

void cuzk_quotient_textbook(const cuzk_domain *domain, void *out, cuzk_fr *a, cuzk_fr *b, void *ws,
                            cuzk_pool *pool)
{
    domain->kernel->quotient(domain, CUZK_QUOTIENT_TEXTBOOK, out, a, b, ws, pool);
}
