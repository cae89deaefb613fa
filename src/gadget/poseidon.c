/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of hashes cut into the batches of the kernel of this process's CPU path. */
#include "gadget/poseidon.h"

#include "gadget/poseidon_table.h"

extern const cuzk_poseidon_kernel cuzk_bls12_381_portable_poseidon_kernel,
    cuzk_bls12_381_ifma_emulated_poseidon_kernel;
#if CUZK_HAVE_X86_PATHS
extern const cuzk_poseidon_kernel cuzk_bls12_381_adx_poseidon_kernel,
    cuzk_bls12_381_ifma_poseidon_kernel;
#endif

const cuzk_poseidon_kernel *cuzk_poseidon_kernel_get(cuzk_cpu_path path)
{
    if (!cuzk_cpu_supports(path)) {
        return NULL;
    }
    switch (path) {
#if CUZK_HAVE_X86_PATHS
    case CUZK_CPU_ADX:
        return &cuzk_bls12_381_adx_poseidon_kernel;
    case CUZK_CPU_IFMA:
        return &cuzk_bls12_381_ifma_poseidon_kernel;
#endif
    case CUZK_CPU_IFMA_EMULATED:
        return &cuzk_bls12_381_ifma_emulated_poseidon_kernel;
    case CUZK_CPU_PORTABLE:
        return &cuzk_bls12_381_portable_poseidon_kernel;
    default:
        return NULL;
    }
}

/* One hash at a time. */
static const cuzk_poseidon_kernel *single_kernel(void)
{
    switch (cuzk_cpu_path_get()) {
#if CUZK_HAVE_X86_PATHS
    case CUZK_CPU_ADX:
    case CUZK_CPU_IFMA:
        return &cuzk_bls12_381_adx_poseidon_kernel;
#endif
    default:
        return &cuzk_bls12_381_portable_poseidon_kernel;
    }
}

bool cuzk_poseidon_has_arity(unsigned arity)
{
    return arity == 2 || arity == 4 || arity == 8 || arity == 11;
}

unsigned cuzk_poseidon_n_values(unsigned arity)
{
    return cuzk_poseidon_table_get(arity)->n_values;
}

size_t cuzk_poseidon_batch(void)
{
    return cuzk_poseidon_kernel_get(cuzk_cpu_path_get())->batch;
}

/* The kernel for n hashes that are left. A batch of sixteen costs as much as two or three scalar
 * ones. */
static const cuzk_poseidon_kernel *choose(size_t n)
{
    const cuzk_poseidon_kernel *kernel = cuzk_poseidon_kernel_get(cuzk_cpu_path_get());
    return n <= 2 ? single_kernel() : kernel;
}

void cuzk_poseidon_hash(unsigned arity, uint64_t tag, void *digest, const void *preimage, size_t n)
{
    const cuzk_poseidon_table *table = cuzk_poseidon_table_get(arity);
    CUZK_ASSERT(table != NULL);
    size_t step;
    for (size_t i = 0; i < n; i += step) {
        const cuzk_poseidon_kernel *kernel = choose(n - i);
        void *out[CUZK_POSEIDON_BATCH_MAX];
        const void *in[CUZK_POSEIDON_BATCH_MAX];
        step = kernel->batch;
        for (size_t k = 0; k < step; k++) {
            /* lanes without a hash repeat the last one */
            size_t at = i + k < n ? i + k : n - 1;
            out[k] = (uint8_t *)digest + 32 * at;
            in[k] = (const uint8_t *)preimage + (size_t)32 * arity * at;
        }
        kernel->hash(table, tag, out, in);
    }
}

void cuzk_poseidon_values(unsigned arity, uint64_t tag, void *const *values, const void *preimage,
                          size_t n)
{
    const cuzk_poseidon_table *table = cuzk_poseidon_table_get(arity);
    CUZK_ASSERT(table != NULL);
    size_t step;
    for (size_t i = 0; i < n; i += step) {
        const cuzk_poseidon_kernel *kernel = choose(n - i);
        void *out[CUZK_POSEIDON_BATCH_MAX];
        const void *in[CUZK_POSEIDON_BATCH_MAX];
        step = kernel->batch;
        for (size_t k = 0; k < step; k++) {
            size_t at = i + k < n ? i + k : n - 1;
            out[k] = values[at];
            in[k] = (const uint8_t *)preimage + (size_t)32 * arity * at;
        }
        kernel->values(table, tag, out, in);
    }
}
