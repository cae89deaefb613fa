/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Launches of the transforms, and the quotients made of them. */
#include "backend/cuda/transformer.h"

#include "backend/cuda/image.h"

#include <string.h>

static void *address(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* Entries of a table, which is made eight at a time, and -1 behind them. */
static uint32_t table_entries(unsigned lg_n)
{
    return 1u << (lg_n < 3 ? 3 : lg_n);
}

static size_t table_bytes(unsigned lg_n)
{
    return CUZK_TRANSFORM_FACTOR_BYTES * ((size_t)table_entries(lg_n) + 1);
}

size_t cuzk_transformer_bytes(unsigned lg_max, unsigned lg_factors)
{
    return table_bytes(lg_factors) + (lg_factors < lg_max ? table_bytes(lg_max - lg_factors) : 0);
}

/* Whether the table ends before the largest domain does. */
static bool is_short(const cuzk_transformer *t)
{
    return t->lg_factors < t->lg_max;
}

static cuzk_status find_kernels(cuzk_transformer *t, cuzk_error *err)
{
    enum { LARGE = CUZK_TRANSFORM_LG_TILE, SMALL = CUZK_TRANSFORM_LG_SMALL_TILE };
    const struct {
        cuzk_transform_kernel *kernel;
        const char *name;
        unsigned lg_tile;
        const char *name_short; /* with a short table; all of large tiles */
    } passes[] = {
        {&t->forward_first, "transform_forward_first", LARGE, "transform_forward_short"},
        {&t->forward, "transform_forward", SMALL, "transform_forward_short"},
        {&t->inverse, "transform_inverse", SMALL, "transform_inverse_short"},
        {&t->forward_fused, "transform_forward_fused", LARGE, "transform_forward_short"},
        {&t->inverse_fused, "transform_inverse_fused", LARGE, "transform_inverse_short"},
        {&t->turn, "transform_turn", LARGE, NULL},
    };
    for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++) {
        const char *name = is_short(t) ? passes[i].name_short : passes[i].name;
        if (name != NULL) {
            passes[i].kernel->lg_tile = is_short(t) ? LARGE : passes[i].lg_tile;
            CUZK_CUDA_TRY(t->api, err, cuModuleGetFunction,
                          (&passes[i].kernel->function, t->passes, name));
        }
    }
    CUZK_CUDA_TRY(t->api, err, cuModuleGetFunction,
                  (&t->make_factors, t->table, "transform_factors"));
    CUZK_CUDA_TRY(t->api, err, cuModuleGetFunction, (&t->permute, t->table, "fr_permute"));
    return CUZK_OK;
}

/* The images of this transformer's curve and table. */
static cuzk_status load_kernels(cuzk_transformer *t, cuzk_error *err)
{
    bool is_bn254 = t->curve->id == CUZK_CURVE_BN254;
    const unsigned char *table = is_bn254 ? CUZK_IMAGE(transform_table, bn254)
                                          : CUZK_IMAGE(transform_table, bls12_381),
                        *passes = is_bn254 ? CUZK_IMAGE(transform, bn254)
                                           : CUZK_IMAGE(transform, bls12_381);
    if (is_short(t)) {
        passes =
            is_bn254 ? CUZK_IMAGE(transform_short, bn254) : CUZK_IMAGE(transform_short, bls12_381);
    }
    CUZK_CUDA_TRY(t->api, err, cuModuleLoadData, (&t->table, table));
    CUZK_CUDA_TRY(t->api, err, cuModuleLoadData, (&t->passes, passes));
    return find_kernels(t, err);
}

static cuzk_status launch(const cuzk_transformer *t, CUfunction kernel, unsigned blocks,
                          unsigned threads, void *args, CUstream stream, cuzk_error *err)
{
    void *params[] = {args};
    CUZK_CUDA_TRY(t->api, err, cuLaunchKernel,
                  (kernel, blocks, 1, 1, threads, 1, 1, 0, stream, params, NULL));
    return CUZK_OK;
}

/* Make the table at `to` whose entry 2^i is the root of order 2^(i+first+2). */
static cuzk_status fill_table(const cuzk_transformer *t, CUdeviceptr to, unsigned lg_n,
                              unsigned generator, unsigned first, CUstream stream, cuzk_error *err)
{
    cuzk_factors_args args = {.factors = address(to), .n = table_entries(lg_n)};
    /* the last ones may not exist and are not used then */
    for (unsigned i = 0; i < CUZK_TRANSFORM_LG_MAX; i++) {
        cuzk_fr root = t->curve->fr_one;
        if (i + first + 2 <= t->curve->two_adicity) {
            t->curve->fr_root_of_unity(&root, generator, i + first + 2);
        }
        memcpy(args.roots[i], root.l, sizeof(root.l));
    }
    uint32_t n_threads = args.n / 8;
    return launch(t, t->make_factors, (n_threads + CUZK_POINTWISE_BLOCK - 1) / CUZK_POINTWISE_BLOCK,
                  CUZK_POINTWISE_BLOCK, &args, stream, err);
}

static cuzk_status fill_tables(cuzk_transformer *t, unsigned generator, CUstream stream,
                               cuzk_error *err)
{
    CUZK_TRY(fill_table(t, t->factors, t->lg_factors, generator, 0, stream, err));
    if (!is_short(t)) {
        return CUZK_OK;
    }
    t->second = t->factors + table_bytes(t->lg_factors);
    return fill_table(t, t->second, t->lg_max - t->lg_factors, generator, t->lg_factors, stream,
                      err);
}

cuzk_status cuzk_transformer_open(cuzk_transformer *out, const cuzk_cuda_api *api,
                                  const cuzk_curve *curve, unsigned generator, unsigned lg_max,
                                  unsigned lg_factors, CUdeviceptr factors, CUstream stream,
                                  cuzk_error *err)
{
    unsigned most =
        curve->two_adicity < CUZK_TRANSFORM_LG_MAX ? curve->two_adicity : CUZK_TRANSFORM_LG_MAX;
    CUZK_FAIL_IF(lg_max > most, err, CUZK_E_UNSUPPORTED,
                 "preparing transforms of 2^%u points on %s: the largest are 2^%u", lg_max,
                 curve->name, most);
    CUZK_FAIL_IF(lg_factors > lg_max || (lg_factors < lg_max && lg_factors < 3), err,
                 CUZK_E_ARGUMENT, "preparing transforms of 2^%u points: a table of 2^%u factors",
                 lg_max, lg_factors);
    cuzk_transformer t = {.api = api,
                          .curve = curve,
                          .lg_max = lg_max,
                          .layers_max = CUZK_TRANSFORM_LAYERS_MAX,
                          .lg_factors = lg_factors,
                          .factors = factors};
    cuzk_status status = load_kernels(&t, err);
    status = status != CUZK_OK ? status : fill_tables(&t, generator, stream, err);
    if (status != CUZK_OK) {
        cuzk_transformer_close(&t);
        return status;
    }
    *out = t;
    return CUZK_OK;
}

void cuzk_transformer_close(cuzk_transformer *t)
{
    const CUmodule modules[] = {t->table, t->passes};
    for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
        if (modules[i] != NULL) {
            (void)CUZK_CU(t->api, cuModuleUnload)(modules[i]);
        }
    }
}

/* The passes of a transform: as few as possible, with as equal numbers of layers as possible, so
 * that every pass but the last leaves enough columns for full memory accesses. */
static unsigned pass_count(const cuzk_transformer *t, unsigned lg_n)
{
    return lg_n == 0 ? 1 : (lg_n + t->layers_max - 1) / t->layers_max;
}

/* The first layer of a pass. */
static unsigned pass_begin(unsigned n_passes, unsigned lg_n, unsigned pass)
{
    unsigned begin = 0;
    for (unsigned i = 0; i < pass; i++) {
        begin += (lg_n - begin + n_passes - i - 1) / (n_passes - i);
    }
    return begin;
}

static cuzk_status check_size(const cuzk_transformer *t, cuzk_transform_kind kind, unsigned lg_n,
                              cuzk_error *err)
{
    CUZK_FAIL_IF(lg_n > t->lg_max, err, CUZK_E_ARGUMENT,
                 "transforming 2^%u values on %s: the tables are made for 2^%u", lg_n,
                 t->curve->name, t->lg_max);
    CUZK_FAIL_IF(kind == CUZK_TRANSFORM_SHIFTED && lg_n >= t->curve->two_adicity, err,
                 CUZK_E_UNSUPPORTED,
                 "transforming 2^%u values on %s modulo X^n + 1: needs a root of unity of order "
                 "2^%u, which the field lacks",
                 lg_n, t->curve->name, lg_n + 1);
    return CUZK_OK;
}

static cuzk_status run_pass(const cuzk_transformer *t, const cuzk_transform_kernel *kernel,
                            cuzk_transform_args *args, unsigned pass, CUstream stream,
                            cuzk_error *err)
{
    unsigned n_passes = pass_count(t, args->lg_n);
    args->first_layer = pass_begin(n_passes, args->lg_n, pass);
    args->n_layers = pass_begin(n_passes, args->lg_n, pass + 1) - args->first_layer;
    unsigned lg_blocks = args->lg_n > kernel->lg_tile ? args->lg_n - kernel->lg_tile : 0;
    return launch(t, kernel->function, 1u << lg_blocks,
                  1u << (kernel->lg_tile - CUZK_TRANSFORM_LG_HELD), args, stream, err);
}

/* In a whole table -1 stands at 2^lg_max, in a short one it is asked for by that number. */
static cuzk_transform_args transform_args(const cuzk_transformer *t, cuzk_transform_kind kind,
                                          unsigned lg_n, CUdeviceptr values)
{
    return (cuzk_transform_args){.values = address(values),
                                 .factors = address(t->factors),
                                 .lg_n = lg_n,
                                 .is_shifted = kind == CUZK_TRANSFORM_SHIFTED,
                                 .minus_one = table_entries(t->lg_max),
                                 .lg_factors = t->lg_factors,
                                 .second = address(t->second)};
}

/* The factor of a (field/factor.h): w = a in plain form, q = a·2^256 mod r times -1/r modulo 2^256.
 */
static void factor_of(const cuzk_curve *curve, uint64_t factor[8], const cuzk_fr *a)
{
    uint64_t inverse = 1; /* of r's lowest word: Newton's iteration doubles the bits */
    for (int i = 0; i < 6; i++) {
        inverse *= 2 - curve->r[0] * inverse;
    }
    uint64_t rest[4];
    memcpy(rest, a->l, sizeof(rest));
    curve->fr_to_canonical_le(factor, a);
    for (int i = 0; i < 4; i++) {
        uint64_t m = 0 - rest[i] * inverse, carry = 0;
        factor[4 + i] = m;
        for (int j = i; j < 4; j++) {
            __extension__ unsigned __int128 sum =
                (unsigned __int128)m * curve->r[j - i] + rest[j] + carry;
            rest[j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
}

static void set_scale(const cuzk_transformer *t, cuzk_transform_args *args, const cuzk_fr *scale)
{
    args->is_scaled = scale != NULL;
    if (scale != NULL) {
        factor_of(t->curve, args->scale, scale);
    }
}

static cuzk_status run_forward(const cuzk_transformer *t, cuzk_transform_args *args,
                               const cuzk_fr *scale, CUstream stream, cuzk_error *err)
{
    unsigned last = pass_count(t, args->lg_n) - 1;
    for (unsigned pass = 0; pass <= last; pass++) {
        const cuzk_transform_kernel *kernel =
            pass == 0 && args->is_shifted == 0 ? &t->forward_first : &t->forward;
        if (pass == last) {
            set_scale(t, args, scale);
            kernel = args->right != NULL ? &t->forward_fused : kernel;
        }
        CUZK_TRY(run_pass(t, kernel, args, pass, stream, err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_transform_forward(const cuzk_transformer *t, cuzk_transform_kind kind,
                                   unsigned lg_n, CUdeviceptr values, CUstream stream,
                                   cuzk_error *err)
{
    CUZK_TRY(check_size(t, kind, lg_n, err));
    cuzk_transform_args args = transform_args(t, kind, lg_n, values);
    return run_forward(t, &args, NULL, stream, err);
}

static cuzk_status run_inverse(const cuzk_transformer *t, cuzk_transform_args *args,
                               const cuzk_fr *scale, CUstream stream, cuzk_error *err)
{
    for (unsigned pass = pass_count(t, args->lg_n); pass-- > 0;) {
        if (pass == 0) {
            set_scale(t, args, scale);
        }
        bool is_fused = (pass == pass_count(t, args->lg_n) - 1 && args->right != NULL) ||
                        (pass == 0 && (args->minuend != NULL || scale != NULL));
        CUZK_TRY(run_pass(t, is_fused ? &t->inverse_fused : &t->inverse, args, pass, stream, err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_transform_inverse(const cuzk_transformer *t, cuzk_transform_kind kind,
                                   unsigned lg_n, CUdeviceptr values, const cuzk_fr *scale,
                                   CUstream stream, cuzk_error *err)
{
    CUZK_TRY(check_size(t, kind, lg_n, err));
    cuzk_transform_args args = transform_args(t, kind, lg_n, values);
    return run_inverse(t, &args, scale, stream, err);
}

/* Values on the domain to n times those on the coset: an inverse transform and a forward one, of
 * which the two passes in the middle are one. */
static cuzk_status run_turn(const cuzk_transformer *t, unsigned lg_n, CUdeviceptr values,
                            CUstream stream, cuzk_error *err)
{
    const cuzk_transform_kind plain = CUZK_TRANSFORM_PLAIN, shifted = CUZK_TRANSFORM_SHIFTED;
    if (is_short(t)) { /* there is no such kernel for short tables */
        CUZK_TRY(cuzk_transform_inverse(t, plain, lg_n, values, NULL, stream, err));
        return cuzk_transform_forward(t, shifted, lg_n, values, stream, err);
    }
    cuzk_transform_args args = transform_args(t, plain, lg_n, values);
    for (unsigned pass = pass_count(t, lg_n); pass-- > 0;) {
        CUZK_TRY(run_pass(t, pass == 0 ? &t->turn : &t->inverse, &args, pass, stream, err));
    }
    args.is_shifted = 1;
    for (unsigned pass = 1; pass < pass_count(t, lg_n); pass++) {
        CUZK_TRY(run_pass(t, &t->forward, &args, pass, stream, err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_transform_permute(const cuzk_transformer *t, unsigned lg_n, CUdeviceptr values,
                                   CUstream stream, cuzk_error *err)
{
    CUZK_TRY(check_size(t, CUZK_TRANSFORM_PLAIN, lg_n, err));
    cuzk_permute_args args = {.o = address(values), .n = 1u << lg_n, .lg_n = lg_n};
    return launch(t, t->permute, (args.n + CUZK_POINTWISE_BLOCK - 1) / CUZK_POINTWISE_BLOCK,
                  CUZK_POINTWISE_BLOCK, &args, stream, err);
}

/* Elements in memory are x·ρ, ρ = 2^256, products (x·ρ)(y·ρ)/ρ; inverse transforms multiply by n.
 * So with values a, b and c = a·b on the domain n·c·ρ comes back, n·a·ρ and n·b·ρ go to the coset,
 * and their product there is brought to the scale of n·c·ρ:
 *   circom: n·(a·b)·ρ - n·c·ρ, times 1/(n·ρ);
 *   plain: n·e·ρ from (a·b)·ρ by one more inverse transform; n·(c - e)·ρ, times 1/(2n·ρ). */
cuzk_status cuzk_transform_quotient(const cuzk_transformer *t, cuzk_device_quotient_form form,
                                    unsigned lg_n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                                    CUstream stream, cuzk_error *err)
{
    bool is_circom = form == CUZK_DEVICE_QUOTIENT_CIRCOM;
    cuzk_fr scale, rho_inv = {{1}};
    CUZK_TRY(check_size(t, CUZK_TRANSFORM_SHIFTED, lg_n, err));
    t->curve->fr_from_u64(&scale, UINT64_C(1) << (lg_n + !is_circom));
    t->curve->fr_inv(&scale, &scale);
    t->curve->fr_mul(&scale, &scale, &rho_inv);
    cuzk_transform_args args = transform_args(t, CUZK_TRANSFORM_PLAIN, lg_n, c);
    args.left = address(a);
    args.right = address(b);
    CUZK_TRY(run_inverse(t, &args, NULL, stream, err));
    CUZK_TRY(run_turn(t, lg_n, a, stream, err));
    CUZK_TRY(run_turn(t, lg_n, b, stream, err));
    args = transform_args(t, CUZK_TRANSFORM_SHIFTED, lg_n, is_circom ? c : a);
    args.left = address(a);
    args.right = address(b);
    if (is_circom) {
        args.halvings = lg_n;
        return run_forward(t, &args, &scale, stream, err);
    }
    args.halvings = 2 * lg_n;
    args.minuend = address(c);
    return run_inverse(t, &args, &scale, stream, err);
}
