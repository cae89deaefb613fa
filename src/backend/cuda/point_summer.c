/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of points: windows, workspace, and the launches of a group of windows. */
#include "backend/cuda/point_summer.h"

#include "backend/cuda/bucket_reduce.h"
#include "backend/cuda/image.h"

#include <string.h>

enum {
    ENTRIES_TOGETHER = 1 << 25, /* sorted and added at once, unless one window has more */
    WINDOWS_MAX = CUZK_BUCKET_GROUPS_MAX,
    SCALAR_BITS =
        255 /* on both curves; on bn254 the top window is one bit shorter than it could be */
};

static void *address(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* ---- kernels ---- */

static cuzk_status find_kernels(cuzk_point_summer *s, cuzk_error *err)
{
    const struct {
        CUfunction *function;
        CUmodule module;
        const char *name;
    } kernels[] = {
        {&s->digits, s->bucket_module, "bucket_digits"},
        {&s->radix_count, s->bucket_module, "radix_count"},
        {&s->radix_scatter, s->bucket_module, "radix_scatter"},
        {&s->scan_sums, s->bucket_module, "scan_sums"},
        {&s->scan_top, s->bucket_module, "scan_top"},
        {&s->scan_apply, s->bucket_module, "scan_apply"},
        {&s->bounds, s->bucket_module, "bucket_bounds"},
        {&s->totals, s->bucket_module, "bucket_totals"},
        {&s->counts, s->bucket_module, "bucket_counts"},
        {&s->pairs, s->bucket_module, "bucket_pairs"},
        {&s->bit_counts, s->bucket_module, "bit_counts"},
        {&s->bit_entries, s->bucket_module, "bit_entries"},
        {&s->reduce_first[CUZK_G1], s->reduce_module, "g1_reduce_first"},
        {&s->reduce_first[CUZK_G2], s->reduce_module, "g2_reduce_first"},
        {&s->reduce_join[CUZK_G1], s->reduce_module, "g1_reduce_join"},
        {&s->reduce_join[CUZK_G2], s->reduce_module, "g2_reduce_join"},
        {&s->reduce_output[CUZK_G1], s->reduce_module, "g1_reduce_output"},
        {&s->reduce_output[CUZK_G2], s->reduce_module, "g2_reduce_output"},
    };
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        CUZK_CUDA_TRY(s->api, err, cuModuleGetFunction,
                      (kernels[i].function, kernels[i].module, kernels[i].name));
    }
    return CUZK_OK;
}

cuzk_status cuzk_point_summer_open(cuzk_point_summer *out, const cuzk_cuda_api *api,
                                   const cuzk_curve *curve, cuzk_error *err)
{
    cuzk_point_summer s = {.api = api, .curve = curve};
    bool is_bn254 = curve->id == CUZK_CURVE_BN254;
    cuzk_status status = CUZK_OK;
    CUZK_TRY(cuzk_point_adder_open(&s.adder, api, curve->id, err));
    status = cuzk_cuda_check(
        api,
        CUZK_CU(api, cuModuleLoadData)(&s.bucket_module, is_bn254 ? CUZK_IMAGE(bucket, bn254)
                                                                  : CUZK_IMAGE(bucket, bls12_381)),
        "cuModuleLoadData", __FILE__, __LINE__, err);
    if (status == CUZK_OK) {
        status =
            cuzk_cuda_check(api,
                            CUZK_CU(api, cuModuleLoadData)(
                                &s.reduce_module, is_bn254 ? CUZK_IMAGE(bucket_reduce, bn254)
                                                           : CUZK_IMAGE(bucket_reduce, bls12_381)),
                            "cuModuleLoadData", __FILE__, __LINE__, err);
    }
    status = status != CUZK_OK ? status : find_kernels(&s, err);
    if (status != CUZK_OK) {
        cuzk_point_summer_close(&s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void cuzk_point_summer_close(cuzk_point_summer *s)
{
    if (s->reduce_module != NULL) {
        (void)CUZK_CU(s->api, cuModuleUnload)(s->reduce_module);
    }
    if (s->bucket_module != NULL) {
        (void)CUZK_CU(s->api, cuModuleUnload)(s->bucket_module);
    }
    cuzk_point_adder_close(&s->adder);
}

static cuzk_status launch(const cuzk_point_summer *s, CUfunction kernel, uint64_t n_threads,
                          unsigned block, void *args, CUstream stream, cuzk_error *err)
{
    void *params[] = {args};
    unsigned blocks = (unsigned)((n_threads + block - 1) / block);
    if (blocks == 0) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(s->api, err, cuLaunchKernel,
                  (kernel, blocks, 1, 1, block, 1, 1, 0, stream, params, NULL));
    return CUZK_OK;
}

/* ---- workspace ---- */

typedef struct {
    size_t entries[2];  /* before and after a pass of the sort */
    size_t counts;      /* of the sort's tiles, and of words of bits */
    size_t scan;        /* sums of the scan's tiles */
    size_t begin[2];    /* positions of the buckets of a group, of this round and the next */
    size_t final_begin; /* the same after the last round, for all groups */
    size_t keys[2], list, totals;
    size_t x[2], y[2];       /* points of a round */
    size_t final_x, final_y; /* points after the last round, for all groups */
    size_t adder;            /* workspace of the additions */
    size_t s[2], t[2];       /* runs of the reduction */
    size_t sums;             /* a Jacobian point a window */
    size_t total;
    uint32_t n_entries, n_buckets, n_tiles;
} layout;

static size_t take(layout *l, size_t n_bytes)
{
    size_t at = l->total;
    l->total = (at + n_bytes + 255) & ~(size_t)255;
    return at;
}

static uint32_t tiles(uint64_t n, uint32_t tile)
{
    return (uint32_t)((n + tile - 1) / tile);
}

/* n_entries in n_buckets a group; n_windows windows of window_buckets buckets in all. */
static layout make_layout(const cuzk_group *g, uint64_t n_entries, uint32_t n_buckets,
                          uint32_t n_groups, uint32_t n_windows, uint32_t window_buckets,
                          uint32_t n_words)
{
    layout l = {.n_entries = (uint32_t)n_entries, .n_buckets = n_buckets};
    size_t point = g->coord_bytes;
    size_t full = n_entries < n_buckets ? n_entries : n_buckets; /* buckets with points */
    size_t points[2] = {(n_entries + full) / 2, (n_entries + 3 * full) / 4 + 1};
    size_t n_final = n_groups * full, runs = (size_t)n_windows * window_buckets;
    l.n_tiles = tiles(n_entries, CUZK_RADIX_TILE);
    size_t n_counts = (size_t)l.n_tiles << CUZK_RADIX_BITS;
    n_counts = n_counts < (size_t)n_words + 1 ? (size_t)n_words + 1 : n_counts;
    size_t n_scan = n_counts < (size_t)n_buckets + 1 ? (size_t)n_buckets + 1 : n_counts;
    runs = (runs + CUZK_REDUCE_FIRST - 1) / CUZK_REDUCE_FIRST;
    runs = runs < n_windows ? n_windows : runs;
    l.counts = take(&l, 4 * n_counts);
    l.scan = take(&l, 4 * (size_t)tiles(n_scan, CUZK_SCAN_TILE));
    l.totals = take(&l, 4 * CUZK_TOTALS);
    l.list = take(&l, 8 * points[0]);
    for (int i = 0; i < 2; i++) {
        l.entries[i] = take(&l, sizeof(cuzk_bucket_entry) * n_entries);
        l.begin[i] = take(&l, 4 * ((size_t)n_buckets + 1));
        l.keys[i] = take(&l, 4 * points[i]);
        l.x[i] = take(&l, point * points[i]);
        l.y[i] = take(&l, point * points[i]);
        l.s[i] = take(&l, 4 * point * runs);
        l.t[i] = take(&l, 4 * point * runs);
    }
    l.final_begin = take(&l, 4 * ((size_t)n_buckets + 1) * n_groups);
    l.final_x = take(&l, point * n_final);
    l.final_y = take(&l, point * n_final);
    /* smaller batches take more threads a pair, one for eight at most (point_adder.c) */
    l.adder = take(&l, point * (points[0] + points[0] / 4 + 2));
    l.sums = take(&l, 3 * point * n_windows);
    return l;
}

/* ---- the steps ---- */

/* What the steps of one sum share. */
typedef struct {
    const cuzk_point_summer *s;
    const cuzk_group *group;
    CUdeviceptr bases, workspace;
    CUstream stream;
    layout l;
    uint32_t n_final;                               /* points after last rounds so far */
    uint32_t points_before[CUZK_BUCKET_GROUPS_MAX]; /* of each group */
} summing;

static void *place(const summing *c, size_t offset)
{
    return address(c->workspace + offset);
}

static cuzk_status scan(const summing *c, void *a, size_t n, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    cuzk_scan_args args = {.a = a, .sums = place(c, c->l.scan), .n = (uint32_t)n};
    args.n_tiles = tiles(n, CUZK_SCAN_TILE);
    uint64_t n_threads = (uint64_t)args.n_tiles * CUZK_BUCKET_BLOCK;
    CUZK_TRY(launch(s, s->scan_sums, n_threads, CUZK_BUCKET_BLOCK, &args, c->stream, err));
    CUZK_TRY(launch(s, s->scan_top, 1, CUZK_BUCKET_BLOCK, &args, c->stream, err));
    return launch(s, s->scan_apply, n_threads, CUZK_BUCKET_BLOCK, &args, c->stream, err);
}

/* Entries in entries[0] to sorted ones; returns in *where the array that holds them. */
static cuzk_status sort(const summing *c, uint32_t n, uint32_t largest_key, int *where,
                        cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    int at = 0;
    for (uint32_t shift = 0; shift < 32 && largest_key >> shift != 0; shift += CUZK_RADIX_BITS) {
        cuzk_radix_args args = {.entries = place(c, c->l.entries[at]),
                                .sorted = place(c, c->l.entries[1 - at]),
                                .counts = place(c, c->l.counts),
                                .n = n,
                                .n_tiles = tiles(n, CUZK_RADIX_TILE),
                                .shift = shift};
        uint64_t n_threads = (uint64_t)args.n_tiles * CUZK_BUCKET_BLOCK;
        CUZK_TRY(launch(s, s->radix_count, n_threads, CUZK_BUCKET_BLOCK, &args, c->stream, err));
        CUZK_TRY(scan(c, args.counts, (size_t)args.n_tiles << CUZK_RADIX_BITS, err));
        CUZK_TRY(launch(s, s->radix_scatter, n_threads, CUZK_BUCKET_BLOCK, &args, c->stream, err));
        at = 1 - at;
    }
    *where = at;
    return CUZK_OK;
}

static cuzk_status read_back(const summing *c, void *to, size_t offset, size_t n_bytes,
                             cuzk_error *err)
{
    CUZK_CUDA_TRY(c->s->api, err, cuMemcpyDtoHAsync,
                  (to, c->workspace + offset, n_bytes, c->stream));
    CUZK_CUDA_TRY(c->s->api, err, cuStreamSynchronize, (c->stream));
    return CUZK_OK;
}

/* Where the buckets of n sorted entries begin, in begin[0], and how many points every round leaves.
 */
static cuzk_status count_rounds(const summing *c, const void *entries, uint32_t n,
                                uint32_t totals[CUZK_TOTALS], cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    cuzk_bucket_args args = {.entries = entries,
                             .next = place(c, c->l.begin[0]),
                             .begin = place(c, c->l.begin[0]),
                             .totals = place(c, c->l.totals),
                             .n = n,
                             .n_buckets = c->l.n_buckets};
    CUZK_CUDA_TRY(s->api, err, cuMemsetD8Async,
                  (c->workspace + c->l.totals, 0, 4 * CUZK_TOTALS, c->stream));
    CUZK_TRY(launch(s, s->bounds, (uint64_t)args.n_buckets + 1, CUZK_BUCKET_BLOCK, &args, c->stream,
                    err));
    uint32_t n_blocks = tiles(args.n_buckets, CUZK_BUCKET_BLOCK);
    n_blocks = n_blocks < 1024 ? n_blocks : 1024;
    CUZK_TRY(launch(s, s->totals, (uint64_t)n_blocks * CUZK_BUCKET_BLOCK, CUZK_BUCKET_BLOCK, &args,
                    c->stream, err));
    return read_back(c, totals, c->l.totals, 4 * CUZK_TOTALS, err);
}

/* Rounds until no bucket holds two points; at least one, which also takes the points out of their
 * records. */
static unsigned rounds_of(uint32_t largest)
{
    unsigned rounds = 1;
    while (largest > 2) {
        largest -= largest / 2;
        rounds++;
    }
    return rounds;
}

/* Add up the buckets of group number `group`, whose sorted entries are given, to one point each
 * behind the final points of the groups before. */
static cuzk_status add_buckets(summing *c, uint32_t group, const void *entries, uint32_t n,
                               cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    const layout *l = &c->l;
    uint32_t totals[CUZK_TOTALS];
    CUZK_TRY(count_rounds(c, entries, n, totals, err));
    size_t group_begin = l->final_begin + 4 * ((size_t)l->n_buckets + 1) * group;
    uint32_t n_points = totals[CUZK_TOTALS_ENTRIES];
    unsigned n_rounds = rounds_of(totals[CUZK_TOTALS_LARGEST]);
    c->points_before[group] = c->n_final;
    size_t begin = l->begin[0];
    for (unsigned r = 0; r < n_rounds; r++) {
        bool is_last = r + 1 == n_rounds;
        size_t next = is_last ? group_begin : l->begin[(r + 1) % 2];
        cuzk_bucket_args args = {.entries = r == 0 ? entries : NULL,
                                 .keys = place(c, l->keys[(r + 1) % 2]),
                                 .begin = place(c, begin),
                                 .next = place(c, next),
                                 .list = place(c, l->list),
                                 .next_keys = place(c, l->keys[r % 2]),
                                 .n = n_points,
                                 .n_buckets = l->n_buckets};
        CUZK_TRY(launch(s, s->counts, (uint64_t)l->n_buckets + 1, CUZK_BUCKET_BLOCK, &args,
                        c->stream, err));
        CUZK_TRY(scan(c, args.next, (size_t)l->n_buckets + 1, err));
        CUZK_TRY(launch(s, s->pairs, n_points, CUZK_BUCKET_BLOCK, &args, c->stream, err));
        cuzk_add_args add = {.bases = address(c->bases),
                             .list = args.list,
                             .in_x = place(c, l->x[(r + 1) % 2]),
                             .in_y = place(c, l->y[(r + 1) % 2]),
                             .out_x = place(c, l->x[r % 2]),
                             .out_y = place(c, l->y[r % 2]),
                             .n_pairs = totals[r]};
        if (is_last) {
            size_t done = c->group->coord_bytes * (size_t)c->n_final;
            add.out_x = place(c, l->final_x + done);
            add.out_y = place(c, l->final_y + done);
            c->n_final += totals[r];
        }
        cuzk_point_add_plan(&add, c->group, c->workspace + l->adder);
        CUZK_TRY(cuzk_point_add_launch(&s->adder, c->group->id,
                                       r == 0 ? CUZK_ADD_GATHER : CUZK_ADD_LISTED, &add, c->stream,
                                       err));
        n_points = totals[r];
        begin = next;
    }
    return CUZK_OK;
}

/* sums: n_windows Jacobian points, host memory, from the final points. */
static cuzk_status reduce(const summing *c, char *sums, uint32_t n_windows, uint32_t lg_buckets,
                          cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    const layout *l = &c->l;
    cuzk_group_id id = c->group->id;
    uint32_t lg_run = lg_buckets < 4 ? lg_buckets : 4;
    cuzk_reduce_first_args first = {.x = place(c, l->final_x),
                                    .y = place(c, l->final_y),
                                    .begin = place(c, l->final_begin),
                                    .s = place(c, l->s[0]),
                                    .t = place(c, l->t[0]),
                                    .n_runs = n_windows << (lg_buckets - lg_run),
                                    .run = 1u << lg_run,
                                    .group_buckets = l->n_buckets};
    memcpy(first.points_before, c->points_before, sizeof(first.points_before));
    CUZK_TRY(
        launch(s, s->reduce_first[id], first.n_runs, CUZK_REDUCE_BLOCK, &first, c->stream, err));
    int at = 0;
    while (lg_run < lg_buckets) {
        uint32_t lg_join = lg_buckets - lg_run < 3 ? lg_buckets - lg_run : 3;
        cuzk_reduce_join_args join = {.from_s = place(c, l->s[at]),
                                      .from_t = place(c, l->t[at]),
                                      .s = place(c, l->s[1 - at]),
                                      .t = place(c, l->t[1 - at]),
                                      .n_runs = n_windows << (lg_buckets - lg_run - lg_join),
                                      .join = 1u << lg_join,
                                      .lg_run = lg_run};
        CUZK_TRY(
            launch(s, s->reduce_join[id], join.n_runs, CUZK_REDUCE_BLOCK, &join, c->stream, err));
        lg_run += lg_join;
        at = 1 - at;
    }
    cuzk_reduce_join_args output = {
        .from_t = place(c, l->t[at]), .s = place(c, l->sums), .n_runs = n_windows};
    CUZK_TRY(
        launch(s, s->reduce_output[id], n_windows, CUZK_REDUCE_BLOCK, &output, c->stream, err));
    return read_back(c, sums, l->sums, 3 * c->group->coord_bytes * n_windows, err);
}

/* ---- scalars ---- */

typedef struct {
    uint32_t bits, n_windows, together, n_groups;
} window_plan;

/* The window with the fewest multiplications: 6 an entry and a little for singles, and for each
 * bucket a mixed and a full addition. */
static uint32_t best_bits(uint64_t n)
{
    uint32_t best = 4;
    double least = 0;
    for (uint32_t bits = 4; bits <= 22; bits++) {
        double n_windows = (double)((SCALAR_BITS + bits) / bits);
        double cost = n_windows * (6.2 * (double)n + 28.0 * (double)(1u << (bits - 1)));
        if (bits == 4 || cost < least) {
            best = bits;
            least = cost;
        }
    }
    return best;
}

static window_plan plan_windows(const cuzk_point_sum_params *p)
{
    window_plan w = {.bits = p->window_bits != 0 ? p->window_bits : best_bits(p->n)};
    /* k + C of bucket.h stays below 2^(bits·n_windows): k below 0.91·2^255 and C little above half
     * of that range */
    w.n_windows = (SCALAR_BITS + w.bits) / w.bits;
    w.together = p->windows_together;
    if (w.together == 0) {
        w.together = p->n == 0 ? 1 : (uint32_t)(ENTRIES_TOGETHER / p->n);
    }
    w.together = w.together == 0 ? 1 : w.together > w.n_windows ? w.n_windows : w.together;
    w.n_groups = (w.n_windows + w.together - 1) / w.together;
    return w;
}

static layout scalar_layout(const cuzk_point_summer *s, const cuzk_point_sum_params *p,
                            const window_plan *w)
{
    uint32_t window_buckets = 1u << (w->bits - 1);
    return make_layout(&s->curve->g[p->group], (uint64_t)p->n * w->together,
                       w->together * window_buckets, w->n_groups, w->n_windows, window_buckets, 0);
}

size_t cuzk_point_sum_bytes(const cuzk_point_summer *s, const cuzk_point_sum_params *params)
{
    window_plan w = plan_windows(params);
    return scalar_layout(s, params, &w).total;
}

/* C of bucket.h */
static void set_offset(uint64_t offset[5], const window_plan *w)
{
    memset(offset, 0, 5 * sizeof(*offset));
    for (uint32_t i = 0; i < w->n_windows; i++) {
        uint32_t bit = w->bits * (i + 1) - 1;
        offset[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* Σ 2^(bits·i)·sums_i */
static void join_windows(cuzk_jac *out, const cuzk_group *g, const char *sums, const window_plan *w)
{
    g->set_infinity(out);
    for (uint32_t i = w->n_windows; i-- > 0;) {
        cuzk_jac window = {{0}};
        for (uint32_t b = 0; b < w->bits; b++) {
            g->dbl(out, out);
        }
        memcpy(&window, sums + 3 * g->coord_bytes * i, 3 * g->coord_bytes);
        g->add(out, out, &window);
    }
}

cuzk_status cuzk_point_sum(const cuzk_point_summer *s, cuzk_jac *sum,
                           const cuzk_point_sum_params *params, CUdeviceptr workspace,
                           CUstream stream, cuzk_error *err)
{
    CUZK_FAIL_IF(params->window_bits != 0 && (params->window_bits < 4 || params->window_bits > 24),
                 err, CUZK_E_ARGUMENT,
                 "adding up points on a device: windows of %u bits, not 4 to 24",
                 params->window_bits);
    CUZK_FAIL_IF(params->n >= 1u << 28, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u scalars, at most 2^28 - 1", params->n);
    window_plan w = plan_windows(params);
    CUZK_FAIL_IF((uint64_t)params->n * w.together >= 1u << 31, err, CUZK_E_ARGUMENT,
                 "adding up points on a device: %u windows of %u scalars together, at most 2^31",
                 w.together, params->n);
    summing c = {.s = s,
                 .group = &s->curve->g[params->group],
                 .bases = params->bases,
                 .workspace = workspace,
                 .stream = stream,
                 .l = scalar_layout(s, params, &w)};
    if (params->n == 0) {
        c.group->set_infinity(sum);
        return CUZK_OK;
    }
    cuzk_digits_args digits = {.entries = place(&c, c.l.entries[0]),
                               .scalars = address(params->scalars),
                               .index = address(params->index),
                               .n = params->n,
                               .bits = w.bits,
                               .none = c.l.n_buckets};
    set_offset(digits.offset, &w);
    for (uint32_t group = 0; group < w.n_groups; group++) {
        int where = 0;
        digits.first = group * w.together;
        digits.n_windows =
            w.n_windows - digits.first < w.together ? w.n_windows - digits.first : w.together;
        CUZK_TRY(launch(s, s->digits, params->n, CUZK_BUCKET_BLOCK, &digits, stream, err));
        uint32_t n_entries = digits.n_windows * params->n;
        CUZK_TRY(sort(&c, n_entries, digits.none, &where, err));
        CUZK_TRY(add_buckets(&c, group, place(&c, c.l.entries[where]), n_entries, err));
    }
    char sums[3 * sizeof(uint64_t) * 12 * WINDOWS_MAX];
    CUZK_TRY(reduce(&c, sums, w.n_windows, w.bits - 1, err));
    join_windows(sum, c.group, sums, &w);
    return CUZK_OK;
}

/* ---- bits ---- */

static layout bits_layout(const cuzk_point_summer *s, cuzk_group_id group, uint32_t n_bits,
                          uint32_t n_ones)
{
    return make_layout(&s->curve->g[group], n_ones, 1, 1, 1, 1, (n_bits + 63) / 64);
}

size_t cuzk_point_sum_bits_bytes(const cuzk_point_summer *s, cuzk_group_id group, uint32_t n_bits,
                                 uint32_t n_ones)
{
    return bits_layout(s, group, n_bits, n_ones).total;
}

cuzk_status cuzk_point_sum_bits(const cuzk_point_summer *s, cuzk_jac *sum, cuzk_group_id group,
                                CUdeviceptr bases, CUdeviceptr bits, uint32_t n_bits,
                                uint32_t n_ones, CUdeviceptr workspace, CUstream stream,
                                cuzk_error *err)
{
    summing c = {.s = s,
                 .group = &s->curve->g[group],
                 .bases = bases,
                 .workspace = workspace,
                 .stream = stream,
                 .l = bits_layout(s, group, n_bits, n_ones)};
    cuzk_bits_args args = {.words = address(bits),
                           .counts = place(&c, c.l.counts),
                           .entries = place(&c, c.l.entries[0]),
                           .n_words = (n_bits + 63) / 64};
    uint32_t found = 0;
    if (n_bits != 0) {
        size_t n_counts = (size_t)args.n_words + 1;
        CUZK_TRY(launch(s, s->bit_counts, n_counts, CUZK_BUCKET_BLOCK, &args, stream, err));
        CUZK_TRY(scan(&c, args.counts, n_counts, err));
        CUZK_TRY(read_back(&c, &found, c.l.counts + 4 * (size_t)args.n_words, 4, err));
    }
    CUZK_FAIL_IF(found > n_ones, err, CUZK_E_ARGUMENT,
                 "adding up bases by bits on a device: %u ones, expected at most %u", found,
                 n_ones);
    if (found == 0) {
        c.group->set_infinity(sum);
        return CUZK_OK;
    }
    CUZK_TRY(launch(s, s->bit_entries, args.n_words, CUZK_BUCKET_BLOCK, &args, stream, err));
    CUZK_TRY(add_buckets(&c, 0, args.entries, found, err));
    char result[3 * sizeof(uint64_t) * 12];
    CUZK_TRY(reduce(&c, result, 1, 0, err));
    memset(sum, 0, sizeof(*sum));
    memcpy(sum, result, 3 * c.group->coord_bytes);
    return CUZK_OK;
}
