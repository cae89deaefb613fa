/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Launches of the batched affine additions. */
#include "backend/cuda/point_adder.h"

#include "backend/cuda/image.h"

enum { FEW = 1 << 18, VERY_FEW = 1 << 15 }; /* pairs of a batch */

static const char *const prefix_names[2][CUZK_ADD_SOURCES] = {
    {"g1_add_prefix_gather", "g1_add_prefix_pairs", "g1_add_prefix_listed"},
    {"g2_add_prefix_gather", "g2_add_prefix_pairs", "g2_add_prefix_listed"},
};
static const char *const finish_names[2][CUZK_ADD_SOURCES] = {
    {"g1_add_finish_gather", "g1_add_finish_pairs", "g1_add_finish_listed"},
    {"g2_add_finish_gather", "g2_add_finish_pairs", "g2_add_finish_listed"},
};
static const char *const inverse_names[2] = {"g1_add_inverse", "g2_add_inverse"};

static cuzk_status find_kernels(cuzk_point_adder *a, cuzk_error *err)
{
    for (int g = 0; g < 2; g++) {
        CUZK_CUDA_TRY(a->api, err, cuModuleGetFunction,
                      (&a->inverse[g], a->module, inverse_names[g]));
        for (int s = 0; s < CUZK_ADD_SOURCES; s++) {
            CUZK_CUDA_TRY(a->api, err, cuModuleGetFunction,
                          (&a->prefix[g][s], a->module, prefix_names[g][s]));
            CUZK_CUDA_TRY(a->api, err, cuModuleGetFunction,
                          (&a->finish[g][s], a->module, finish_names[g][s]));
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_point_adder_open(cuzk_point_adder *out, const cuzk_cuda_api *api,
                                  cuzk_curve_id curve, cuzk_error *err)
{
    cuzk_point_adder a = {.api = api};
    const unsigned char *image =
        curve == CUZK_CURVE_BN254 ? CUZK_IMAGE(point_add, bn254) : CUZK_IMAGE(point_add, bls12_381);
    CUZK_CUDA_TRY(api, err, cuModuleLoadData, (&a.module, image));
    cuzk_status status = find_kernels(&a, err);
    if (status != CUZK_OK) {
        cuzk_point_adder_close(&a);
        return status;
    }
    *out = a;
    return CUZK_OK;
}

cuzk_status cuzk_point_adder_fit(cuzk_point_adder *a, unsigned n_sms, cuzk_error *err)
{
    enum { REGISTERS = 1 << 16, GRANULE = 8 }; /* of a multiprocessor, since 7.5; of a thread */
    for (int g = 0; g < 2; g++) {
        for (int s = 0; s < CUZK_ADD_SOURCES; s++) {
            int n = 0;
            CUZK_CUDA_TRY(a->api, err, cuFuncGetAttribute,
                          (&n, CU_FUNC_ATTRIBUTE_NUM_REGS, a->finish[g][s]));
            uint32_t each = ((uint32_t)n + GRANULE - 1) / GRANULE * GRANULE * CUZK_ADD_BLOCK;
            a->wave[g][s] = each == 0 ? 0 : n_sms * (REGISTERS / each) * CUZK_ADD_BLOCK;
        }
    }
    return CUZK_OK;
}

void cuzk_point_adder_close(cuzk_point_adder *adder)
{
    (void)CUZK_CU(adder->api, cuModuleUnload)(adder->module);
}

/* Pairs a thread, as measured on one H200: more of them share an inversion, fewer fill the chip.
 * Small batches take as long as one thread's pairs. */
static uint32_t threads_for(uint32_t n_pairs)
{
    uint32_t pairs_per_thread = n_pairs >= 4u << 20   ? 32
                                : n_pairs >= 1u << 20 ? 16
                                : n_pairs >= FEW      ? 8
                                : n_pairs >= VERY_FEW ? 4
                                                      : 2;
    return (n_pairs + pairs_per_thread - 1) / pairs_per_thread;
}

/* An inversion took as long as 60 multiplications of all its threads, and 46 microseconds, when
 * this was measured (its steps are shorter now): totals that share one are cheap as long as they
 * are few enough not to take longer. */
static uint32_t inverses_for(uint32_t n_threads)
{
    enum { TOTALS = 8, LEAST = 8192, MOST = 1 << 15 };
    uint32_t n = (n_threads + TOTALS - 1) / TOTALS;
    n = n < LEAST ? LEAST : n > MOST ? MOST : n;
    return n < n_threads ? n : n_threads;
}

/* So many threads, or a little less: whole waves. */
static uint32_t whole_waves(uint32_t n_threads, uint32_t wave)
{
    enum { MANY = 8 };
    bool is_few = wave != 0 && n_threads > wave && n_threads / wave < MANY;
    return is_few ? n_threads / wave * wave : n_threads;
}

size_t cuzk_point_add_workspace_bytes(const cuzk_group *group, uint32_t n_pairs)
{
    return group->coord_bytes * ((size_t)n_pairs + 2 * (size_t)threads_for(n_pairs));
}

size_t cuzk_point_add_workspace_bytes_max(const cuzk_group *group, uint32_t n_pairs)
{
    /* two arrays of totals: of two pairs a thread in a batch of very few, and so on */
    size_t very_few = n_pairs < VERY_FEW ? n_pairs : VERY_FEW, few = n_pairs < FEW ? n_pairs : FEW;
    size_t totals = n_pairs / 4 > few / 2 ? n_pairs / 4 : few / 2;
    totals = totals > very_few ? totals : very_few;
    return group->coord_bytes * (n_pairs + totals + 2);
}

void cuzk_point_add_plan(cuzk_add_args *args, const cuzk_group *group, CUdeviceptr workspace)
{
    uint32_t n_threads = threads_for(args->n_pairs);
    CUdeviceptr totals = workspace + group->coord_bytes * (size_t)args->n_pairs;
    args->prefix = (void *)(uintptr_t)workspace;
    args->totals = (void *)(uintptr_t)totals;
    args->total_prefix = (void *)(uintptr_t)(totals + group->coord_bytes * (size_t)n_threads);
    args->n_threads = n_threads;
    args->n_inverses = inverses_for(n_threads);
}

static cuzk_status launch(const cuzk_cuda_api *api, CUfunction kernel, uint32_t n_blocks,
                          const cuzk_add_args *args, CUstream stream, cuzk_error *err)
{
    cuzk_add_args copy = *args;
    void *params[] = {&copy};
    CUZK_CUDA_TRY(api, err, cuLaunchKernel,
                  (kernel, n_blocks, 1, 1, CUZK_ADD_BLOCK, 1, 1, 0, stream, params, NULL));
    return CUZK_OK;
}

static uint32_t blocks_of(uint32_t n_threads)
{
    return (n_threads + CUZK_ADD_BLOCK - 1) / CUZK_ADD_BLOCK;
}

cuzk_status cuzk_point_add_launch(const cuzk_point_adder *adder, cuzk_group_id group,
                                  cuzk_add_source source, cuzk_time_kind kind,
                                  const cuzk_add_args *args, CUstream stream, cuzk_error *err)
{
    const cuzk_cuda_api *api = adder->api;
    cuzk_add_args fitted = *args;
    fitted.copy_from = source;
    fitted.n_threads = whole_waves(args->n_threads, adder->wave[group][source]);
    if (fitted.n_inverses > fitted.n_threads) {
        fitted.n_inverses = fitted.n_threads;
    }
    args = &fitted;
    uint32_t n_blocks = blocks_of(args->n_threads);
    if (n_blocks != 0) {
        CUZK_TRY(cuzk_device_times_mark(adder->times, kind, stream, err));
        CUZK_TRY(launch(api, adder->prefix[group][source], n_blocks, args, stream, err));
    }
    if (n_blocks + args->n_copies != 0) {
        bool is_inversion = n_blocks != 0 && kind != CUZK_TIME_REDUCTION;
        CUZK_TRY(cuzk_device_times_mark(adder->times, is_inversion ? CUZK_TIME_INVERSES : kind,
                                        stream, err));
        CUZK_TRY(launch(api, adder->inverse[group],
                        blocks_of(args->n_inverses) + blocks_of(args->n_copies), args, stream,
                        err));
    }
    if (n_blocks == 0) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_device_times_mark(adder->times, kind, stream, err));
    return launch(api, adder->finish[group][source], n_blocks, args, stream, err);
}
