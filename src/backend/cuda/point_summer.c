/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of scalar multiples: windows and groups of them. */
#include "backend/cuda/image.h"
#include "backend/cuda/point_summer_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES_TOGETHER = 1 << 26, /* sorted and added at once, unless one window has more */
    CODES_TOGETHER = 1 << 29    /* made at once, unless one group has more */
};

/* ---- kernels ---- */

static cuzk_status find_kernels(cuzk_point_summer *s, cuzk_error *err)
{
    const struct {
        CUfunction *function;
        CUmodule module;
        const char *name;
    } kernels[] = {
        {&s->digits, s->sort_module, "bucket_digits"},
        {&s->radix_count, s->sort_module, "radix_count"},
        {&s->radix_count_codes, s->sort_module, "radix_count_codes"},
        {&s->radix_scatter, s->sort_module, "radix_scatter"},
        {&s->radix_scatter_codes, s->sort_module, "radix_scatter_codes"},
        {&s->radix_segments, s->sort_module, "radix_segments"},
        {&s->scan_sums, s->sort_module, "scan_sums"},
        {&s->scan_top, s->sort_module, "scan_top"},
        {&s->scan_apply, s->sort_module, "scan_apply"},
        {&s->bounds, s->bucket_module, "bucket_bounds"},
        {&s->totals, s->bucket_module, "bucket_totals"},
        {&s->counts, s->bucket_module, "bucket_counts"},
        {&s->pairs, s->bucket_module, "bucket_pairs"},
        {&s->select_totals, s->bucket_module, "select_totals"},
        {&s->select_counts, s->bucket_module, "select_counts"},
        {&s->bit_list, s->bucket_module, "bit_list"},
        {&s->field_list, s->bucket_module, "field_list"},
        {&s->points_spread[CUZK_G1], s->reduce_module, "g1_points_spread"},
        {&s->points_spread[CUZK_G2], s->reduce_module, "g2_points_spread"},
        {&s->points_odd[CUZK_G1], s->reduce_module, "g1_points_odd"},
        {&s->points_odd[CUZK_G2], s->reduce_module, "g2_points_odd"},
        {&s->points_fold[CUZK_G1], s->reduce_module, "g1_points_fold"},
        {&s->points_fold[CUZK_G2], s->reduce_module, "g2_points_fold"},
        {&s->points_bits[CUZK_G1], s->reduce_module, "g1_points_bits"},
        {&s->points_bits[CUZK_G2], s->reduce_module, "g2_points_bits"},
        {&s->points_single[CUZK_G1], s->reduce_module, "g1_points_single"},
        {&s->points_single[CUZK_G2], s->reduce_module, "g2_points_single"},
        {&s->points_single_gather[CUZK_G1], s->reduce_module, "g1_points_single_gather"},
        {&s->points_single_gather[CUZK_G2], s->reduce_module, "g2_points_single_gather"},
    };
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        CUZK_CUDA_TRY(s->api, err, cuModuleGetFunction,
                      (kernels[i].function, kernels[i].module, kernels[i].name));
    }
    return CUZK_OK;
}

static cuzk_status load_modules(cuzk_point_summer *s, cuzk_error *err)
{
    bool is_bn254 = s->curve->id == CUZK_CURVE_BN254;
    const struct {
        CUmodule *module;
        const unsigned char *image;
    } modules[] = {
        {&s->sort_module,
         is_bn254 ? CUZK_IMAGE(bucket_sort, bn254) : CUZK_IMAGE(bucket_sort, bls12_381)},
        {&s->bucket_module, is_bn254 ? CUZK_IMAGE(bucket, bn254) : CUZK_IMAGE(bucket, bls12_381)},
        {&s->reduce_module,
         is_bn254 ? CUZK_IMAGE(bucket_reduce, bn254) : CUZK_IMAGE(bucket_reduce, bls12_381)},
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        CUZK_CUDA_TRY(s->api, err, cuModuleLoadData, (modules[i].module, modules[i].image));
    }
    return CUZK_OK;
}

cuzk_status cuzk_point_summer_open(cuzk_point_summer *out, const cuzk_cuda_api *api,
                                   const cuzk_curve *curve, cuzk_error *err)
{
    cuzk_point_summer s = {.api = api, .curve = curve};
    CUZK_TRY(cuzk_point_adder_open(&s.adder, api, curve->id, err));
    cuzk_status status = load_modules(&s, err);
    status = status != CUZK_OK ? status : find_kernels(&s, err);
    if (status == CUZK_OK) {
        s.mail = calloc(1, sizeof *s.mail);
        status = s.mail != NULL ? cuzk_sum_mail_open(s.mail, api, err)
                                : CUZK_FAIL(err, CUZK_E_MEMORY, "adding up points: out of memory");
    }
    if (status != CUZK_OK) {
        cuzk_point_summer_close(&s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void cuzk_point_summer_close(cuzk_point_summer *s)
{
    const CUmodule modules[] = {s->reduce_module, s->bucket_module, s->sort_module};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (modules[i] != NULL) {
            (void)CUZK_CU(s->api, cuModuleUnload)(modules[i]);
        }
    }
    if (s->mail != NULL) {
        cuzk_sum_mail_close(s->mail);
        free(s->mail);
    }
    cuzk_point_adder_close(&s->adder);
}

cuzk_status cuzk_sum_mail_open(cuzk_sum_mail *mail, const cuzk_cuda_api *api, cuzk_error *err)
{
    const size_t n_bytes =
        CUZK_SUM_MAIL_POINTS + (size_t)CUZK_SUM_POINTS_MAX * CUZK_SUM_POINT_BYTES_MAX;
    cuzk_sum_mail made = {.api = api};
    void *bytes = NULL;
    CUZK_CUDA_TRY(api, err, cuMemAllocHost, (&bytes, n_bytes));
    made.bytes = bytes;
    cuzk_status status = CUZK_OK;
    for (int i = 0; i < 2 && status == CUZK_OK; i++) {
        status = cuzk_cuda_check(
            api, CUZK_CU(api, cuEventCreate)(&made.ready[i], CU_EVENT_DISABLE_TIMING),
            "cuEventCreate", __FILE__, __LINE__, err);
    }
    if (status != CUZK_OK) {
        cuzk_sum_mail_close(&made);
        return status;
    }
    *mail = made;
    return CUZK_OK;
}

void cuzk_sum_mail_close(cuzk_sum_mail *mail)
{
    for (int i = 0; i < 2; i++) {
        if (mail->ready[i] != NULL) {
            (void)CUZK_CU(mail->api, cuEventDestroy)(mail->ready[i]);
        }
    }
    if (mail->bytes != NULL) {
        (void)CUZK_CU(mail->api, cuMemFreeHost)(mail->bytes);
    }
    *mail = (cuzk_sum_mail){0};
}

/* ---- scalars ---- */

/* Windows of `bits` bits: the smaller of k and -k, and C of bucket.h, stay below 2^(bits·count):
 * the order is at most 0.91·2^n for n bits, and C little above half of that range. */
static uint32_t window_count(const cuzk_curve *curve, uint32_t bits)
{
    uint32_t order_bits = 256 - (uint32_t)__builtin_clzll(curve->r[3]);
    return (order_bits + bits - 1) / bits;
}

/* The window with the fewest multiplications: 6 an entry and a little for singles, and for each
 * bucket a mixed and a full addition. */
static uint32_t best_bits(const cuzk_curve *curve, uint64_t n)
{
    uint32_t best = 4;
    double least = 0;
    for (uint32_t bits = 4; bits <= 22; bits++) {
        double n_windows = (double)window_count(curve, bits);
        double cost = n_windows * (7.0 * (double)n + 14.0 * (double)(1u << (bits - 1)));
        if (bits == 4 || cost < least) {
            best = bits;
            least = cost;
        }
    }
    return best;
}

static uint32_t clamp(uint64_t x, uint32_t least, uint32_t most)
{
    return x < least ? least : x > most ? most : (uint32_t)x;
}

/* For n scalars, with at most so many entries and codes at a time, or one window's. */
static cuzk_sum_plan plan_for(const cuzk_curve *curve, uint32_t bits, uint32_t n,
                              uint64_t entries_max, uint64_t codes_max)
{
    bits = bits != 0 ? bits : best_bits(curve, n);
    cuzk_sum_plan w = {.n = n, .lg_buckets = bits - 1, .n_windows = window_count(curve, bits)};
    n += n == 0;
    w.together = clamp(entries_max / n, 1, w.n_windows);
    w.n_groups = (w.n_windows + w.together - 1) / w.together;
    w.coded = clamp(codes_max / n / w.together, 1, w.n_groups) * w.together;
    return w;
}

/* Of the n that the workspace is sized for; fewer scalars may have more windows together, but no
 * more entries and codes. */
static cuzk_sum_plan plan_windows(const cuzk_curve *curve, const cuzk_point_sum_params *p)
{
    uint32_t n = p->n_max != 0 ? p->n_max : p->n;
    uint64_t entries =
        p->windows_together != 0 ? (uint64_t)n * p->windows_together : ENTRIES_TOGETHER;
    cuzk_sum_plan w = plan_for(curve, p->window_bits, n, entries, CODES_TOGETHER);
    if (n != p->n) {
        w = plan_for(curve, p->window_bits, p->n, (uint64_t)n * w.together, (uint64_t)n * w.coded);
    }
    return w;
}

size_t cuzk_point_sum_bytes(const cuzk_point_summer *s, const cuzk_point_sum_params *params)
{
    cuzk_point_sum_params all = *params;
    all.n = params->n_max != 0 ? params->n_max : params->n;
    cuzk_sum_plan plan = plan_windows(s->curve, &all);
    return cuzk_sum_make_layout(&s->curve->g[params->group], &plan).total;
}

/* C of bucket.h */
static void set_offset(uint64_t offset[5], const cuzk_sum_plan *w)
{
    memset(offset, 0, 5 * sizeof(*offset));
    for (uint32_t i = 0; i < w->n_windows; i++) {
        uint32_t bit = (w->lg_buckets + 1) * (i + 1) - 1;
        offset[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* Σ 2^(bits·i)·(window i), each window Σ of all and Σ 2^k·(sum of bit k) of sums. */
static void join_windows(cuzk_jac *out, const cuzk_group *g, const char *sums,
                         const cuzk_sum_plan *w)
{
    size_t one = 3 * g->coord_bytes, n_sums = cuzk_sum_count(w);
    g->set_infinity(out);
    for (uint32_t i = w->n_windows; i-- > 0;) {
        g->dbl(out, out); /* the highest bit of a digit is its sign */
        for (size_t k = n_sums; k-- > 0;) {
            cuzk_jac p = {{0}};
            if (k > 0) {
                g->dbl(out, out);
            }
            memcpy(&p, sums + one * (i * n_sums + k), one);
            g->add(out, out, &p);
        }
    }
}

static cuzk_status check_params(const cuzk_point_sum_params *p, const cuzk_sum_plan *w,
                                cuzk_error *err)
{
    CUZK_FAIL_IF(p->window_bits != 0 && (p->window_bits < 4 || p->window_bits > 24), err,
                 CUZK_E_ARGUMENT, "adding up points on a device: windows of %u bits, not 4 to 24",
                 p->window_bits);
    CUZK_FAIL_IF(p->n_max != 0 && p->n > p->n_max, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u scalars, the workspace is for %u", p->n,
                 p->n_max);
    CUZK_FAIL_IF(p->n >= 1u << 28, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u scalars, at most 2^28 - 1", p->n);
    CUZK_FAIL_IF((uint64_t)p->n * w->together >= 1u << 31, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u windows of %u scalars together, at most 2^31",
                 w->together, p->n);
    return CUZK_OK;
}

/* Group number `group` from scalars to sorted entries; digits are made when the first group that
 * they are for is sorted. */
static cuzk_status sort_group(cuzk_summing *c, uint32_t group, cuzk_error *err)
{
    const cuzk_sum_plan *w = &c->plan;
    const cuzk_point_sum_params *params = &c->params;
    CUdeviceptr codes = c->workspace + c->l.codes;
    uint32_t first = group * w->together, of_codes = first % w->coded;
    if (of_codes == 0) {
        cuzk_digits_args digits = {.codes = cuzk_device_address(codes),
                                   .scalars = cuzk_device_address(params->scalars),
                                   .which = cuzk_device_address(params->which),
                                   .n = params->n,
                                   .first = first,
                                   .n_windows = clamp(w->coded, 0, w->n_windows - first),
                                   .bits = w->lg_buckets + 1};
        memcpy(digits.order, c->s->curve->r, sizeof(digits.order));
        set_offset(digits.offset, w);
        CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_SORT, err));
        CUZK_TRY(cuzk_sum_launch(c->s, c->s->digits, params->n, CUZK_BUCKET_BLOCK, &digits,
                                 c->stream, err));
    }
    return cuzk_sum_sort_group(c, group, clamp(w->together, 0, w->n_windows - first),
                               codes + 4 * (size_t)params->n * of_codes, err);
}

cuzk_status cuzk_summing_begin(cuzk_summing *out, const cuzk_point_summer *s,
                               const cuzk_point_sum_params *params, CUdeviceptr workspace,
                               const cuzk_sum_mail *mail, CUstream stream, cuzk_error *err)
{
    *out = (cuzk_summing){.s = s,
                          .group = &s->curve->g[params->group],
                          .params = *params,
                          .workspace = workspace,
                          .stream = stream,
                          .mail = mail,
                          .plan = plan_windows(s->curve, params),
                          .sorted = {-1, -1}};
    CUZK_TRY(check_params(params, &out->plan, err));
    if (params->n == 0) {
        return CUZK_OK;
    }
    out->l = cuzk_sum_make_layout(out->group, &out->plan);
    return sort_group(out, 0, err);
}

cuzk_status cuzk_summing_run(cuzk_summing *c, cuzk_error *err)
{
    if (c->params.n == 0) {
        return CUZK_OK;
    }
    for (uint32_t group = 0; group < c->plan.n_groups; group++) {
        if (group + 1 < c->plan.n_groups) {
            CUZK_TRY(sort_group(c, group + 1, err));
        }
        CUZK_TRY(cuzk_sum_add_group(c, group, err));
    }
    return cuzk_sum_reduce(c, err);
}

void cuzk_summing_end(const cuzk_summing *c, cuzk_jac *sum)
{
    if (c->params.n == 0) {
        c->group->set_infinity(sum);
    } else {
        join_windows(sum, c->group, c->mail->bytes + CUZK_SUM_MAIL_POINTS, &c->plan);
    }
}

cuzk_status cuzk_point_sum(const cuzk_point_summer *s, cuzk_jac *sum,
                           const cuzk_point_sum_params *params, CUdeviceptr workspace,
                           CUstream stream, cuzk_error *err)
{
    cuzk_summing c;
    CUZK_TRY(cuzk_summing_begin(&c, s, params, workspace, s->mail, stream, err));
    CUZK_TRY(cuzk_summing_run(&c, err));
    CUZK_CUDA_TRY(s->api, err, cuStreamSynchronize, (stream));
    cuzk_summing_end(&c, sum);
    return CUZK_OK;
}
