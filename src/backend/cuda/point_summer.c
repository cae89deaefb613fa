/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of scalar multiples: windows and groups of them. */
#include "backend/cuda/image.h"
#include "backend/cuda/point_summer_impl.h"
#include "field/limbs.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES_TOGETHER = 1 << 26, /* sorted and added at once, unless one window has more */
    LG_CODES_TOGETHER = 31      /* made at once, unless one group has more */
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
        {&s->digits_halves, s->sort_module, "bucket_digits_halves"},
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
        {&s->points_fold[CUZK_G1], s->reduce_module, "g1_points_fold"},
        {&s->points_fold[CUZK_G2], s->reduce_module, "g2_points_fold"},
        {&s->points_bits[CUZK_G1], s->reduce_module, "g1_points_bits"},
        {&s->points_bits[CUZK_G2], s->reduce_module, "g2_points_bits"},
        {&s->points_images[CUZK_G1], s->image_module, "g1_points_images"},
        {&s->points_images[CUZK_G2], s->image_module, "g2_points_images"},
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
        {&s->image_module,
         is_bn254 ? CUZK_IMAGE(endomorphism, bn254) : CUZK_IMAGE(endomorphism, bls12_381)},
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
    const CUmodule modules[] = {s->image_module, s->reduce_module, s->bucket_module,
                                s->sort_module};
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

/* ---- windows ---- */

/* C of bucket.h */
static void set_offset(uint64_t offset[4], const cuzk_sum_plan *w)
{
    memset(offset, 0, 4 * sizeof(*offset));
    for (uint32_t i = 0; i < w->n_windows; i++) {
        uint32_t bit = cuzk_sum_first_bit(w, i + 1) - 1;
        offset[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

static uint32_t bits_of(const uint64_t a[4])
{
    uint32_t words = 4;
    while (words > 1 && a[words - 1] == 0) {
        words--;
    }
    return 64 * words - (uint32_t)__builtin_clzll(a[words - 1]);
}

/* Whether numbers up to `largest`, and C on top of them, stay within the windows. C is less than
 * 1/2 + 2^-(bits of a window - 1) of what they hold, a largest number less than 0.48. */
static bool has_room(const cuzk_sum_plan *w, const uint64_t largest[4])
{
    enum { LG_SURELY = 6 };
    uint64_t sum[4], carry = 0;
    if (w->lg_part >= LG_SURELY) {
        return true;
    }
    set_offset(sum, w);
    for (int i = 0; i < 4; i++) {
        sum[i] = cuzk_adc(sum[i], largest[i], &carry);
    }
    return carry == 0 && bits_of(sum) <= cuzk_sum_first_bit(w, w->n_windows);
}

/* So many windows, their widths as equal as can be. */
static void cut_windows(cuzk_sum_plan *w, const uint64_t largest[4], uint32_t n_windows)
{
    uint32_t bits = bits_of(largest);
    w->n_windows = n_windows;
    do {
        bits++; /* for the sign; one more with very narrow windows */
        w->n_narrow = n_windows - bits % n_windows;
        w->lg_part = bits / n_windows - 1;
        w->lg_buckets = w->lg_part + (w->n_narrow < n_windows ? 1 : 0);
    } while (!has_room(w, largest));
}

/* In multiplications: 6 an entry and a little for singles; for each bucket two additions, which
 * take longer where they decide, in small sums (2^20 in 8 windows 7.2 ms, in 7 windows 7.7); an
 * image, and the halving of a scalar, as long as they take; for every group of windows the
 * inversions and short rounds at its end. */
static double cost_of(const cuzk_sum_plan *w)
{
    double entries = (double)w->n_windows * (double)w->n;
    double groups = entries / ENTRIES_TOGETHER;
    groups = groups < (double)w->n_windows ? groups : (double)w->n_windows;
    double of_halves = w->has_images ? 1.2 : w->is_halved ? 0.4 : 0;
    return 7 * entries + of_halves * (double)w->n_scalars + (double)(1 << 24) * groups +
           20 * (double)((uint64_t)cuzk_sum_parts(w) << w->lg_part);
}

/* Windows of n scalars, whole or halved: as few as window_bits allow, or those that cost least. */
static cuzk_sum_plan windows_for(const cuzk_curve *curve, const cuzk_point_sum_params *p,
                                 uint32_t n, bool halved)
{
    enum { LEAST = 4, MOST = 22 };
    cuzk_sum_plan w = {.n_scalars = n,
                       .n = halved ? 2 * n : n,
                       .is_halved = halved,
                       .has_images = halved && p->images == 0};
    uint64_t largest[4];
    cuzk_sum_largest(largest, curve, halved);
    uint32_t bits = bits_of(largest) + 1;
    if (p->window_bits != 0) {
        cut_windows(&w, largest, (bits + p->window_bits - 1) / p->window_bits);
        return w;
    }
    cuzk_sum_plan best = w;
    for (uint32_t n_windows = (bits + MOST - 1) / MOST; n_windows <= bits / LEAST; n_windows++) {
        cut_windows(&w, largest, n_windows);
        if (best.n_windows != 0 && cost_of(&w) >= cost_of(&best)) {
            break; /* buckets are a convex function of the number of windows */
        }
        best = w;
    }
    return best;
}

static bool halves_pay(const cuzk_curve *curve, const cuzk_point_sum_params *p, uint32_t n)
{
    if (p->halves != CUZK_HALVES_BEST) {
        return p->halves == CUZK_HALVES_ALWAYS;
    }
    cuzk_sum_plan whole = windows_for(curve, p, n, false), halved = windows_for(curve, p, n, true);
    return cost_of(&halved) < cost_of(&whole);
}

/* ---- groups of windows ---- */

static uint32_t clamp(uint64_t x, uint32_t least, uint32_t most)
{
    return x < least ? least : x > most ? most : (uint32_t)x;
}

/* At most so many entries and codes at a time, or one window's. */
static void group_windows(cuzk_sum_plan *w, uint64_t entries_max, uint64_t codes_max)
{
    uint32_t n = w->n + (w->n == 0);
    w->together = clamp(entries_max / n, 1, w->n_windows);
    w->n_groups = (w->n_windows + w->together - 1) / w->together;
    w->coded = clamp(codes_max / n / w->together, 1, w->n_groups) * w->together;
}

/* Of the n that the workspace is sized for; fewer scalars may have other windows, and more of them
 * together, where that takes no more memory. */
static cuzk_sum_plan plan_windows(const cuzk_curve *curve, const cuzk_point_sum_params *p)
{
    const cuzk_group *g = &curve->g[p->group];
    uint32_t n = p->n_max != 0 ? p->n_max : p->n;
    cuzk_sum_plan most = windows_for(curve, p, n, halves_pay(curve, p, n));
    uint64_t entries =
        p->windows_together != 0 ? (uint64_t)n * p->windows_together : ENTRIES_TOGETHER;
    group_windows(&most, entries, UINT64_C(1) << LG_CODES_TOGETHER);
    if (n == p->n) {
        return most;
    }
    cuzk_sum_plan w = windows_for(curve, p, p->n, most.is_halved);
    group_windows(&w, (uint64_t)most.n * most.together, (uint64_t)most.n * most.coded);
    if (cuzk_sum_make_layout(g, &w).total > cuzk_sum_make_layout(g, &most).total) {
        w = most; /* no array of it grows with n */
        w.n_scalars = p->n;
        w.n = most.is_halved ? 2 * p->n : p->n;
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

/* sum <- sum + point number i. */
static void add_to(cuzk_jac *sum, const cuzk_group *g, const char *points, size_t i)
{
    size_t one = 3 * g->coord_bytes;
    cuzk_jac p = {{0}};
    memcpy(&p, points + one * i, one);
    g->add(sum, sum, &p);
}

/* Σ 2^(first bit of i)·(window i). A part is Σ of all of it and Σ 2^k·(sum of bit k); of a wide
 * window the upper part's numbers have the bit lg_part, too. */
static void join_windows(cuzk_jac *out, const cuzk_group *g, const char *sums,
                         const cuzk_sum_plan *w)
{
    size_t n_sums = cuzk_sum_count(w), at = n_sums * cuzk_sum_parts(w);
    g->set_infinity(out);
    for (uint32_t i = w->n_windows; i-- > 0;) {
        bool is_wide = i >= w->n_narrow;
        size_t upper = at - n_sums;
        at -= is_wide ? 2 * n_sums : n_sums;
        g->dbl(out, out); /* the highest bit of a digit is its sign */
        if (is_wide) {
            g->dbl(out, out);
            add_to(out, g, sums, upper);
        }
        for (size_t k = n_sums; k-- > 0;) {
            if (k > 0) {
                g->dbl(out, out);
            }
            add_to(out, g, sums, at + k);
            if (is_wide) {
                add_to(out, g, sums, upper + k);
            }
        }
    }
}

static cuzk_status check_params(const cuzk_point_sum_params *p, const cuzk_sum_plan *w,
                                size_t coord_bytes, cuzk_error *err)
{
    CUZK_FAIL_IF(p->window_bits != 0 && (p->window_bits < 4 || p->window_bits > 24), err,
                 CUZK_E_ARGUMENT, "adding up points on a device: windows of %u bits, not 4 to 24",
                 p->window_bits);
    CUZK_FAIL_IF(p->n_max != 0 && p->n > p->n_max, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u scalars, the workspace is for %u", p->n,
                 p->n_max);
    CUZK_FAIL_IF(p->n >= 1u << 28, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u scalars, at most 2^28 - 1", p->n);
    CUZK_FAIL_IF((uint64_t)w->n * w->together >= 1u << 31, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u windows of %u %s together, at most 2^31",
                 w->together, w->n, w->is_halved ? "halves" : "scalars");
    CUdeviceptr away = p->images < p->bases ? p->bases - p->images : p->images - p->bases;
    CUZK_FAIL_IF(p->images != 0 && away % coord_bytes != 0, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: the images are not a whole number of coordinates "
                 "away from the bases");
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
                                   .first_bit = cuzk_sum_first_bit(w, first),
                                   .bits = w->lg_part + 1,
                                   .n_narrow = w->n_narrow};
        memcpy(digits.order, c->s->curve->r, sizeof(digits.order));
        set_offset(digits.offset, w);
        CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_SORT, err));
        CUZK_TRY(cuzk_sum_launch(c->s, w->is_halved ? c->s->digits_halves : c->s->digits, params->n,
                                 CUZK_BUCKET_BLOCK, &digits, c->stream, err));
    }
    return cuzk_sum_sort_group(c, group, clamp(w->together, 0, w->n_windows - first),
                               codes + 4 * (size_t)w->n * of_codes, err);
}

/* Bases and images are counted from the one that lies before the other, in coordinates: images in
 * the workspace begin where that is possible. */
static void find_images(cuzk_summing *c, CUdeviceptr *images)
{
    size_t one = c->group->coord_bytes;
    CUdeviceptr bases = c->params.bases, in_workspace = c->workspace + c->l.images;
    *images = !c->plan.is_halved    ? bases
              : !c->plan.has_images ? c->params.images
                                    : in_workspace + (bases % one + one - in_workspace % one) % one;
    c->origin = bases < *images ? bases : *images;
    c->at[0] = (bases - c->origin) / one;
    c->at[1] = (*images - c->origin) / one;
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
    CUZK_TRY(check_params(params, &out->plan, out->group->coord_bytes, err));
    if (params->n == 0) { /* what listed them is done, and nothing follows */
        return cuzk_sum_mark(out, CUZK_TIME_WAIT, err);
    }
    CUdeviceptr images = 0;
    out->l = cuzk_sum_make_layout(out->group, &out->plan);
    find_images(out, &images);
    if (out->plan.has_images) {
        CUZK_TRY(cuzk_sum_mark(out, CUZK_TIME_GATHERED, err));
        CUZK_TRY(cuzk_point_images(s, params->group, params->bases, params->index, params->n,
                                   images, stream, err));
    }
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
