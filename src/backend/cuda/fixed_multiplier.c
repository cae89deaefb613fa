/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tables and batches. A batch has as many points as its first round of additions has room for:
 * digits → half as many sums as digits → … → a sum a scalar → packed. */
#include "backend/cuda/fixed_multiplier.h"

#include "backend/cuda/fixed_base.h"
#include "backend/cuda/image.h"
#include "backend/cuda/point_adder.h"
#include "msm/msm.h"

#include <stdlib.h>

enum {
    LEVELS = 3,           /* tables of 4, 8 and 16 bits */
    PAIRS_MOST = 1 << 23, /* additions of the first round in G1, which fill the chip; G2: half */
    PAIRS_GOOD = 1 << 20,
    PAIRS_LEAST = 1 << 10,
    FROM_8_BITS = 1 << 9, /* multiples, from which on a larger table is made */
    FROM_16_BITS = 1 << 17
};

/* Offsets in the arena. */
typedef struct {
    size_t tables[2][LEVELS];
    size_t scalars[2];   /* of batches, in turn */
    size_t list, packed; /* of a batch */
    size_t x[2], y[2];   /* sums, in turn */
    size_t adder;
} places;

struct cuzk_fixed_multiplier {
    const cuzk_cuda_api *api;
    const cuzk_curve *curve;
    cuzk_multiplier face;
    cuzk_point_adder adder;
    bool has_adder;
    CUmodule module; /* of fixed_base.cu; NULL: not loaded */
    CUfunction digits, pack[2];
    CUstream stream, copies;    /* kernels; scalars of the batch behind theirs */
    CUevent copied[2], used[2]; /* scalars are there; are not needed any more */
    unsigned n_levels[2];       /* tables */
    uint32_t n_pairs[2];        /* additions of a batch's first round, at most */
    cuzk_arena arena;
    places at;
};

static unsigned bits_of(unsigned level)
{
    return CUZK_FIXED_BITS_MIN << level;
}

static uint32_t table_points(unsigned level)
{
    return cuzk_fixed_windows(bits_of(level)) * cuzk_fixed_multiples(bits_of(level));
}

/* Points of a batch with the table of a level. */
static uint32_t batch_points(const cuzk_fixed_multiplier *m, cuzk_group_id group, unsigned level)
{
    return m->n_pairs[group] / (cuzk_fixed_windows(bits_of(level)) / 2);
}

static CUdeviceptr address(const cuzk_fixed_multiplier *m, size_t place)
{
    return m->arena.at + place;
}

static void *pointer(const cuzk_fixed_multiplier *m, size_t place)
{
    return (void *)(uintptr_t)address(m, place);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- memory ---- */

/* For batches of n_pairs additions in G1 and half as many in G2, which are twice as large. */
static void plan(cuzk_fixed_multiplier *m, uint32_t n_pairs)
{
    const cuzk_arena_purpose w = CUZK_ARENA_WORKSPACE;
    size_t coordinates = 0, adder = 0, packed = 0;
    m->arena = (cuzk_arena){.what = "making a key on the device"};
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        const cuzk_group *group = &m->curve->g[g];
        uint32_t pairs = m->n_pairs[g] = g == CUZK_G2 ? n_pairs / 2 : n_pairs;
        for (unsigned level = 0; level < m->n_levels[g]; level++) {
            m->at.tables[g][level] = cuzk_arena_plan(&m->arena, CUZK_ARENA_TABLES,
                                                     table_points(level) * group->affine_bytes);
            packed = larger(packed, batch_points(m, (cuzk_group_id)g, level) * group->affine_bytes);
        }
        coordinates = larger(coordinates, pairs * group->coord_bytes);
        adder = larger(adder, cuzk_point_add_workspace_bytes_max(group, pairs));
    }
    size_t most = n_pairs / (cuzk_fixed_windows(CUZK_FIXED_BITS_MAX) / 2); /* points */
    m->at.list = cuzk_arena_plan(&m->arena, w, 8 * (size_t)n_pairs);
    m->at.packed = cuzk_arena_plan(&m->arena, w, packed);
    for (int i = 0; i < 2; i++) {
        m->at.scalars[i] = cuzk_arena_plan(&m->arena, w, most * sizeof(cuzk_fr));
        m->at.x[i] = cuzk_arena_plan(&m->arena, w, coordinates >> i);
        m->at.y[i] = cuzk_arena_plan(&m->arena, w, coordinates >> i);
    }
    m->at.adder = cuzk_arena_plan(&m->arena, w, adder);
}

/* What all multiples together take, if that is less than a full batch. */
static uint32_t pairs_wanted(const cuzk_fixed_multiplier *m, const uint64_t n[2])
{
    uint32_t pairs = PAIRS_LEAST;
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        uint64_t windows = cuzk_fixed_windows(bits_of(m->n_levels[g] - 1));
        while (pairs < PAIRS_MOST && pairs < n[g] * windows) {
            pairs *= 2;
        }
    }
    return pairs;
}

static void choose_tables(cuzk_fixed_multiplier *m, const uint64_t n[2])
{
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        m->n_levels[g] = n[g] >= FROM_16_BITS ? 3 : n[g] >= FROM_8_BITS ? 2 : 1;
    }
}

uint64_t cuzk_fixed_multiplier_bytes(const cuzk_curve *curve, const uint64_t n[2])
{
    cuzk_fixed_multiplier m = {.curve = curve};
    choose_tables(&m, n);
    uint32_t n_pairs = pairs_wanted(&m, n);
    plan(&m, n_pairs < PAIRS_GOOD ? n_pairs : PAIRS_GOOD);
    return m.arena.total;
}

static cuzk_status reserve(cuzk_fixed_multiplier *m, const cuzk_fixed_multiplier_params *params,
                           cuzk_error *err)
{
    size_t free_bytes = 0, all_bytes = 0, limit = params->memory_limit;
    CUZK_CUDA_TRY(m->api, err, cuMemGetInfo, (&free_bytes, &all_bytes));
    limit = limit == 0 || limit > free_bytes ? free_bytes : limit;
    uint32_t n_pairs = pairs_wanted(m, params->n);
    plan(m, n_pairs);
    while (m->arena.total > limit && n_pairs > PAIRS_LEAST) {
        plan(m, n_pairs /= 2);
    }
    return cuzk_arena_reserve(&m->arena, m->api, limit, err);
}

/* ---- a batch ---- */

static cuzk_status launch(const cuzk_fixed_multiplier *m, CUfunction kernel, uint32_t n, void *args,
                          cuzk_error *err)
{
    void *params[] = {args};
    CUZK_CUDA_TRY(m->api, err, cuLaunchKernel,
                  (kernel, (n + CUZK_FIXED_BLOCK - 1) / CUZK_FIXED_BLOCK, 1, 1, CUZK_FIXED_BLOCK, 1,
                   1, 0, m->stream, params, NULL));
    return CUZK_OK;
}

/* A round: sums of neighbours, from one place to the other; the first one of table entries. */
static cuzk_status add(const cuzk_fixed_multiplier *m, cuzk_group_id group, unsigned level,
                       unsigned round, uint32_t n_pairs, cuzk_error *err)
{
    unsigned to = round % 2, from = 1 - to;
    cuzk_add_args args = {.bases = pointer(m, m->at.tables[group][level]),
                          .list = pointer(m, m->at.list),
                          .in_x = pointer(m, m->at.x[from]),
                          .in_y = pointer(m, m->at.y[from]),
                          .out_x = pointer(m, m->at.x[to]),
                          .out_y = pointer(m, m->at.y[to]),
                          .n_pairs = n_pairs};
    cuzk_point_add_plan(&args, &m->curve->g[group], address(m, m->at.adder));
    return cuzk_point_add_launch(&m->adder, group, round == 0 ? CUZK_ADD_GATHER : CUZK_ADD_PAIRS,
                                 round == 0 ? CUZK_TIME_GATHERED : CUZK_TIME_ADDITIONS, &args,
                                 m->stream, err);
}

/* Scalars to one of the two places, beside the kernels of the batch before, and their digits. The
 * driver returns when it has read them, as they lie in pageable memory. */
static cuzk_status make_digits(const cuzk_fixed_multiplier *m, unsigned level,
                               const cuzk_fr *scalars, uint32_t n, unsigned place, cuzk_error *err)
{
    cuzk_fixed_digits_args digits = {.scalars = pointer(m, m->at.scalars[place]),
                                     .list = pointer(m, m->at.list),
                                     .n = n,
                                     .bits = bits_of(level)};
    CUZK_CUDA_TRY(m->api, err, cuStreamWaitEvent, (m->copies, m->used[place], 0));
    CUZK_CUDA_TRY(m->api, err, cuMemcpyHtoDAsync,
                  (address(m, m->at.scalars[place]), scalars, n * sizeof *scalars, m->copies));
    CUZK_CUDA_TRY(m->api, err, cuEventRecord, (m->copied[place], m->copies));
    CUZK_CUDA_TRY(m->api, err, cuStreamWaitEvent, (m->stream, m->copied[place], 0));
    CUZK_TRY(launch(m, m->digits, n, &digits, err));
    CUZK_CUDA_TRY(m->api, err, cuEventRecord, (m->used[place], m->stream));
    return CUZK_OK;
}

/* Does not wait; scalars stay until the stream was waited for. place: batches take turns. */
static cuzk_status run_batch(const cuzk_fixed_multiplier *m, CUdeviceptr out, cuzk_group_id group,
                             unsigned level, const cuzk_fr *scalars, uint32_t n, unsigned place,
                             cuzk_error *err)
{
    uint32_t windows = cuzk_fixed_windows(bits_of(level));
    CUZK_TRY(make_digits(m, level, scalars, n, place, err));
    unsigned round = 0;
    for (uint32_t w = windows / 2; w > 0; w /= 2, round++) {
        CUZK_TRY(add(m, group, level, round, w * n, err));
    }
    unsigned last = (round - 1) % 2;
    cuzk_pack_args pack = {.x = pointer(m, m->at.x[last]),
                           .y = pointer(m, m->at.y[last]),
                           .points = (void *)(uintptr_t)out,
                           .n = n};
    return launch(m, m->pack[group], n, &pack, err);
}

static cuzk_status wait(const cuzk_fixed_multiplier *m, cuzk_error *err)
{
    CUZK_CUDA_TRY(m->api, err, cuStreamSynchronize, (m->stream));
    return CUZK_OK;
}

/* All batches: to device memory, or, where host is given, through `packed` there. */
static cuzk_status run_batches(const cuzk_fixed_multiplier *m, CUdeviceptr out, uint8_t *host,
                               cuzk_group_id group, unsigned level, const cuzk_fr *scalars,
                               size_t n, cuzk_error *err)
{
    size_t each = m->curve->g[group].affine_bytes, most = batch_points(m, group, level);
    unsigned place = 0;
    for (size_t done = 0; done < n; done += most, place ^= 1) {
        uint32_t part = (uint32_t)(n - done < most ? n - done : most);
        CUdeviceptr to = host != NULL ? address(m, m->at.packed) : out + done * each;
        CUZK_TRY(run_batch(m, to, group, level, scalars + done, part, place, err));
        if (host != NULL) {
            CUZK_CUDA_TRY(m->api, err, cuMemcpyDtoHAsync,
                          (host + done * each, to, part * each, m->stream));
        }
    }
    return CUZK_OK;
}

/* And wait. */
static cuzk_status run(const cuzk_fixed_multiplier *m, CUdeviceptr out, uint8_t *host,
                       cuzk_group_id group, unsigned level, const cuzk_fr *scalars, size_t n,
                       cuzk_error *err)
{
    cuzk_status status = run_batches(m, out, host, group, level, scalars, n, err);
    if (status != CUZK_OK) { /* the caller may free what copies still read and write */
        (void)CUZK_CU(m->api, cuStreamSynchronize)(m->copies);
        (void)CUZK_CU(m->api, cuStreamSynchronize)(m->stream);
        return status;
    }
    return wait(m, err);
}

cuzk_status cuzk_fixed_multiplier_run(cuzk_fixed_multiplier *m, CUdeviceptr out,
                                      cuzk_group_id group, const cuzk_fr *scalars, size_t n,
                                      cuzk_error *err)
{
    return run(m, out, NULL, group, m->n_levels[group] - 1, scalars, n, err);
}

/* cuzk_multiplier.multiply */
static cuzk_status run_to_host(void *context, void *out, cuzk_group_id group,
                               const cuzk_fr *scalars, size_t n, cuzk_error *err)
{
    const cuzk_fixed_multiplier *m = context;
    return run(m, 0, out, group, m->n_levels[group] - 1, scalars, n, err);
}

/* ---- tables ---- */

/* m·2^(bits·i) for every window i and m = 0 … 2^(bits-1). */
static void fill_factors(const cuzk_curve *curve, cuzk_fr *out, unsigned bits)
{
    cuzk_fr step = curve->fr_one, two_to_bits;
    uint32_t each = cuzk_fixed_multiples(bits);
    curve->fr_from_u64(&two_to_bits, UINT64_C(1) << bits);
    for (uint32_t i = 0; i < cuzk_fixed_windows(bits); i++) {
        *out = (cuzk_fr){{0}};
        for (uint32_t k = 1; k < each; k++) {
            curve->fr_add(&out[k], &out[k - 1], &step);
        }
        out += each;
        curve->fr_mul(&step, &step, &two_to_bits);
    }
}

static cuzk_status upload(const cuzk_fixed_multiplier *m, size_t place, const void *from,
                          size_t n_bytes, cuzk_error *err)
{
    CUZK_CUDA_TRY(m->api, err, cuMemcpyHtoDAsync, (address(m, place), from, n_bytes, m->stream));
    return wait(m, err);
}

/* The smallest table, by the host. */
static cuzk_status table_from_host(const cuzk_fixed_multiplier *m, cuzk_group_id group,
                                   const cuzk_fr *factors, cuzk_pool *pool, cuzk_error *err)
{
    uint32_t n = table_points(0);
    size_t n_bytes = n * m->curve->g[group].affine_bytes;
    cuzk_fixed_base *base = NULL;
    cuzk_affine generator;
    void *points = malloc(n_bytes);
    CUZK_FAIL_IF(points == NULL, err, CUZK_E_MEMORY, "multiples of a generator: out of memory");
    m->curve->g[group].generator(&generator);
    cuzk_status status = cuzk_fixed_base_create(&base, m->curve, group, &generator, n, pool, err);
    if (status == CUZK_OK) {
        status = cuzk_fixed_base_mul(base, points, factors, n, pool, err);
    }
    if (status == CUZK_OK) {
        status = upload(m, m->at.tables[group][0], points, n_bytes, err);
    }
    cuzk_fixed_base_destroy(base);
    free(points);
    return status;
}

static cuzk_status make_tables(const cuzk_fixed_multiplier *m, cuzk_group_id group, cuzk_pool *pool,
                               cuzk_error *err)
{
    cuzk_fr *factors = malloc(table_points(m->n_levels[group] - 1) * sizeof *factors);
    CUZK_FAIL_IF(factors == NULL, err, CUZK_E_MEMORY, "multiples of a generator: out of memory");
    cuzk_status status = CUZK_OK;
    for (unsigned level = 0; level < m->n_levels[group] && status == CUZK_OK; level++) {
        fill_factors(m->curve, factors, bits_of(level));
        status = level == 0 ? table_from_host(m, group, factors, pool, err)
                            : run(m, address(m, m->at.tables[group][level]), NULL, group, level - 1,
                                  factors, table_points(level), err);
    }
    free(factors);
    return status;
}

/* ---- life ---- */

static cuzk_status open_kernels(cuzk_fixed_multiplier *m, cuzk_error *err)
{
    static const char *const names[2] = {"g1_points_pack", "g2_points_pack"};
    const unsigned char *image = m->curve->id == CUZK_CURVE_BN254
                                     ? CUZK_IMAGE(fixed_base, bn254)
                                     : CUZK_IMAGE(fixed_base, bls12_381);
    CUZK_TRY(cuzk_point_adder_open(&m->adder, m->api, m->curve->id, err));
    m->has_adder = true;
    CUZK_CUDA_TRY(m->api, err, cuModuleLoadData, (&m->module, image));
    CUZK_CUDA_TRY(m->api, err, cuModuleGetFunction, (&m->digits, m->module, "fixed_digits"));
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        CUZK_CUDA_TRY(m->api, err, cuModuleGetFunction, (&m->pack[g], m->module, names[g]));
    }
    CUZK_CUDA_TRY(m->api, err, cuStreamCreate, (&m->stream, CU_STREAM_NON_BLOCKING));
    CUZK_CUDA_TRY(m->api, err, cuStreamCreate, (&m->copies, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        CUZK_CUDA_TRY(m->api, err, cuEventCreate, (&m->copied[i], CU_EVENT_DISABLE_TIMING));
        CUZK_CUDA_TRY(m->api, err, cuEventCreate, (&m->used[i], CU_EVENT_DISABLE_TIMING));
    }
    return CUZK_OK;
}

static cuzk_status open_all(cuzk_fixed_multiplier *m, const cuzk_fixed_multiplier_params *params,
                            cuzk_pool *pool, cuzk_error *err)
{
    CUZK_TRY(open_kernels(m, err));
    CUZK_TRY(reserve(m, params, err));
    CUZK_TRY(make_tables(m, CUZK_G1, pool, err));
    return make_tables(m, CUZK_G2, pool, err);
}

cuzk_status cuzk_fixed_multiplier_create(cuzk_fixed_multiplier **out, const cuzk_cuda_api *api,
                                         const cuzk_curve *curve,
                                         const cuzk_fixed_multiplier_params *params,
                                         cuzk_pool *pool, cuzk_error *err)
{
    cuzk_fixed_multiplier *m = calloc(1, sizeof *m);
    CUZK_FAIL_IF(m == NULL, err, CUZK_E_MEMORY, "preparing a device for a key: out of memory");
    m->api = api;
    m->curve = curve;
    m->face = (cuzk_multiplier){.context = m, .multiply = run_to_host};
    choose_tables(m, params->n);
    cuzk_status status = open_all(m, params, pool, err);
    if (status != CUZK_OK) {
        cuzk_fixed_multiplier_destroy(m);
        return status;
    }
    *out = m;
    return CUZK_OK;
}

const cuzk_multiplier *cuzk_fixed_multiplier_get(const cuzk_fixed_multiplier *m)
{
    return &m->face;
}

const cuzk_arena *cuzk_fixed_multiplier_memory(const cuzk_fixed_multiplier *m)
{
    return &m->arena;
}

unsigned cuzk_fixed_multiplier_bits(const cuzk_fixed_multiplier *m, cuzk_group_id group)
{
    return bits_of(m->n_levels[group] - 1);
}

/* Once nothing runs in it. NULL is fine, for both. */
static void close_stream(const cuzk_fixed_multiplier *m, CUstream stream)
{
    if (stream != NULL) {
        (void)CUZK_CU(m->api, cuStreamSynchronize)(stream);
        (void)CUZK_CU(m->api, cuStreamDestroy)(stream);
    }
}

static void close_event(const cuzk_fixed_multiplier *m, CUevent event)
{
    if (event != NULL) {
        (void)CUZK_CU(m->api, cuEventDestroy)(event);
    }
}

void cuzk_fixed_multiplier_destroy(cuzk_fixed_multiplier *m)
{
    if (m == NULL) {
        return;
    }
    close_stream(m, m->copies);
    close_stream(m, m->stream);
    for (int i = 0; i < 2; i++) {
        close_event(m, m->copied[i]);
        close_event(m, m->used[i]);
    }
    cuzk_arena_release(&m->arena, m->api);
    if (m->module != NULL) {
        (void)CUZK_CU(m->api, cuModuleUnload)(m->module);
    }
    if (m->has_adder) {
        cuzk_point_adder_close(&m->adder);
    }
    free(m);
}
