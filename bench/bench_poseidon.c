/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nanoseconds per Poseidon permutation for each arity and CPU path, as CSV.
 *
 *   bench_poseidon [REPETITIONS]     default 31
 *
 * Rows: hash (preimages in, digests out), values (every value of the circuit, into a buffer that
 * stays in the caches), values_memory (into 64 MiB or more, each byte written once).
 * multiplications is what the definition with sparse matrices takes; floor_ns is that many
 * independent multiplications on the path, measured in this run. Sums that are reduced once go
 * below it. tables: making the constants of an arity. One thread. On a shared machine the fastest
 * repetition is the one to compare. */
#include "base/clock.h"
#include "gadget/poseidon.h"
#include "gadget/poseidon_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef double bench_fr_mul_fn(int n_repetitions);
bench_fr_mul_fn cuzk_bls12_381_portable_bench_fr_mul;
#if CUZK_HAVE_X86_PATHS
bench_fr_mul_fn cuzk_bls12_381_adx_bench_fr_mul, cuzk_bls12_381_ifma_bench_fr_mul;
#endif

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    const cuzk_poseidon_kernel *kernel;
    const cuzk_poseidon_table *table;
    const char *path;
    const uint8_t *preimage;
    uint8_t *out;
    double multiplication_ns;
    int n_repetitions;
} bench;

/* stride: bytes from one hash's results to the next's. */
static void run(const bench *b, const char *name, bool all_values, size_t n, size_t stride)
{
    const cuzk_poseidon_table *k = b->table;
    double t[256];
    for (int r = 0; r < b->n_repetitions; r++) {
        uint64_t start = cuzk_now_ns();
        for (size_t i = 0; i < n; i += b->kernel->batch) {
            void *out[CUZK_POSEIDON_BATCH_MAX];
            const void *in[CUZK_POSEIDON_BATCH_MAX];
            for (size_t j = 0; j < b->kernel->batch; j++) {
                out[j] = b->out + (i + j) * stride;
                in[j] = b->preimage + j * 32 * k->arity;
            }
            (all_values ? b->kernel->values
                        : b->kernel->hash)(k, cuzk_poseidon_merkle_tag(k->arity), out, in);
        }
        t[r] = (double)(cuzk_now_ns() - start) / (double)n;
    }
    qsort(t, (size_t)b->n_repetitions, sizeof *t, compare);
    unsigned multiplications = 3 * (k->t * CUZK_POSEIDON_FULL + k->n_partial) +
                               CUZK_POSEIDON_FULL * k->t * k->t + k->n_partial * (2 * k->t - 1);
    printf("%s,%u,%s,%.0f,%.0f,%u,%.2f,%.0f\n", name, k->arity, b->path, t[0],
           t[b->n_repetitions / 2], multiplications, b->multiplication_ns,
           multiplications * b->multiplication_ns);
    fflush(stdout);
}

static void run_path(cuzk_cpu_path path, bench_fr_mul_fn *fr_mul, int n_repetitions)
{
    static const unsigned arities[] = {2, 4, 8, 11};
    enum { SMALL = 64, LARGE = 4096 };
    static uint8_t preimage[CUZK_POSEIDON_BATCH_MAX * CUZK_POSEIDON_ARITY_MAX * 32];
    bench b = {cuzk_poseidon_kernel_get(path),
               NULL,
               cuzk_cpu_path_name(path),
               preimage,
               NULL,
               0,
               n_repetitions};
    if (b.kernel == NULL) {
        return;
    }
    b.multiplication_ns = fr_mul(101);
    for (size_t i = 0; i < sizeof preimage; i++) {
        preimage[i] = i % 32 == 31 ? 0 : (uint8_t)(i * 167 >> 3);
    }
    for (size_t a = 0; a < sizeof arities / sizeof arities[0]; a++) {
        b.table = cuzk_poseidon_table_get(arities[a]);
        size_t stride = (size_t)32 * b.table->n_values, n_bytes = LARGE * stride;
        size_t page = (size_t)1 << 21;
        b.out = aligned_alloc(page, (n_bytes + page - 1) / page * page);
        if (b.out == NULL) {
            fprintf(stderr, "bench_poseidon: %zu bytes: out of memory\n", n_bytes);
            exit(2);
        }
#if defined(MADV_HUGEPAGE)
        (void)madvise(b.out, n_bytes, MADV_HUGEPAGE);
#endif
        memset(b.out, 0, n_bytes);
        run(&b, "hash", false, SMALL, 32);
        run(&b, "values", true, SMALL, stride);
        bench memory = b;
        memory.n_repetitions = n_repetitions < 5 ? n_repetitions : 5;
        run(&memory, "values_memory", true, LARGE, stride);
        free(b.out);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 31;
    if (n < 1 || n > 256) {
        fprintf(stderr, "bench_poseidon: repetitions: \"%s\" is not a number in 1 … 256\n",
                argv[1]);
        return 2;
    }
    printf("name,arity,path,min_ns,median_ns,multiplications,multiplication_ns,floor_ns\n");
    static const unsigned arities[] = {2, 4, 8, 11};
    for (int i = 0; i < 4; i++) {
        uint64_t start = cuzk_now_ns();
        (void)cuzk_poseidon_table_get(arities[i]);
        printf("tables,%u,,%.0f,,,,\n", arities[i], (double)(cuzk_now_ns() - start));
    }
    run_path(CUZK_CPU_PORTABLE, cuzk_bls12_381_portable_bench_fr_mul, n);
#if CUZK_HAVE_X86_PATHS
    run_path(CUZK_CPU_ADX, cuzk_bls12_381_adx_bench_fr_mul, n);
    run_path(CUZK_CPU_IFMA, cuzk_bls12_381_ifma_bench_fr_mul, n);
#endif
    return 0;
}
