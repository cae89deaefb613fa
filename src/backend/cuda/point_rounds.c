/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From digits to sums of windows: the sort of a group of windows, the rounds of additions, the
 * reduction. */
#include "backend/cuda/point_summer_impl.h"

#include <string.h>

/* ---- workspace ---- */

size_t cuzk_sum_take(size_t *total, size_t n_bytes)
{
    size_t at = *total;
    *total = (at + n_bytes + 255) & ~(size_t)255;
    return at;
}

static uint32_t tiles(uint64_t n, uint32_t tile)
{
    return (uint32_t)((n + tile - 1) / tile);
}

/* What the rounds of a group use. */
static void add_round_places(cuzk_sum_layout *l, const cuzk_group *g, const cuzk_sum_plan *p)
{
    size_t point = g->coord_bytes, n_entries = (size_t)p->n * p->together;
    size_t n_buckets = l->n_buckets;
    size_t full = n_entries < n_buckets ? n_entries : n_buckets; /* buckets with points */
    size_t points[2] = {(n_entries + full) / 2, (n_entries + 3 * full) / 4 + 1};
    size_t n_counts = ((size_t)p->together * tiles(p->n, CUZK_RADIX_TILE) << CUZK_RADIX_BITS) + 1;
    size_t n_scan = n_counts < n_buckets + 1 ? n_buckets + 1 : n_counts;
    l->codes = cuzk_sum_take(&l->total, 4 * (size_t)p->n * p->coded);
    l->counts = cuzk_sum_take(&l->total, 4 * n_counts);
    l->scan = cuzk_sum_take(&l->total, 4 * (size_t)tiles(n_scan, CUZK_SCAN_TILE));
    l->totals = cuzk_sum_take(&l->total, 4 * CUZK_TOTALS);
    l->segments = cuzk_sum_take(&l->total, 4 * ((size_t)p->together + 1));
    l->list = cuzk_sum_take(&l->total, 8 * points[0]);
    for (int i = 0; i < 2; i++) {
        l->entries[i] = cuzk_sum_take(&l->total, sizeof(cuzk_bucket_entry) * n_entries);
        l->begin[i] = cuzk_sum_take(&l->total, 4 * (n_buckets + 1));
        l->keys[i] = cuzk_sum_take(&l->total, 4 * points[i]);
        l->x[i] = cuzk_sum_take(&l->total, point * points[i]);
        l->y[i] = cuzk_sum_take(&l->total, point * points[i]);
    }
    l->adder = cuzk_sum_take(&l->total, cuzk_point_add_workspace_bytes_max(g, (uint32_t)points[0]));
}

/* What the reduction uses; no level is larger than all buckets. */
static void add_reduction_places(cuzk_sum_layout *l, const cuzk_group *g, const cuzk_sum_plan *p)
{
    size_t n_buckets = (size_t)p->n_windows << p->lg_buckets;
    for (int i = 0; i < 2; i++) {
        l->dense_x[i] = cuzk_sum_take(&l->total, g->coord_bytes * n_buckets);
        l->dense_y[i] = cuzk_sum_take(&l->total, g->coord_bytes * n_buckets);
    }
    l->dense_adder =
        cuzk_sum_take(&l->total, cuzk_point_add_workspace_bytes_max(g, (uint32_t)(n_buckets / 2)));
}

cuzk_sum_layout cuzk_sum_make_layout(const cuzk_group *g, const cuzk_sum_plan *p)
{
    size_t point = g->coord_bytes, n_entries = (size_t)p->n * p->together;
    size_t n_buckets = (size_t)p->together << p->lg_buckets;
    size_t n_final = p->n_groups * (n_entries < n_buckets ? n_entries : n_buckets);
    cuzk_sum_layout l = {.n_buckets = (uint32_t)n_buckets};
    l.final_begin = cuzk_sum_take(&l.total, 4 * (n_buckets + 1) * p->n_groups);
    l.final_x = cuzk_sum_take(&l.total, point * n_final);
    l.final_y = cuzk_sum_take(&l.total, point * n_final);
    l.sums = cuzk_sum_take(&l.total, 3 * point * p->n_windows * cuzk_sum_count(p));
    size_t before = l.total;
    add_round_places(&l, g, p);
    size_t with_rounds = l.total;
    l.total = before;
    add_reduction_places(&l, g, p);
    l.total = l.total < with_rounds ? with_rounds : l.total;
    return l;
}

/* ---- launches ---- */

cuzk_status cuzk_sum_launch(const cuzk_point_summer *s, CUfunction kernel, uint64_t n_threads,
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

cuzk_status cuzk_sum_scan(const cuzk_point_summer *s, void *a, void *sums, size_t n,
                          CUstream stream, cuzk_error *err)
{
    cuzk_scan_args args = {.a = a, .sums = sums, .n = (uint32_t)n};
    args.n_tiles = tiles(n, CUZK_SCAN_TILE);
    uint64_t n_threads = (uint64_t)args.n_tiles * CUZK_BUCKET_BLOCK;
    CUZK_TRY(cuzk_sum_launch(s, s->scan_sums, n_threads, CUZK_BUCKET_BLOCK, &args, stream, err));
    CUZK_TRY(cuzk_sum_launch(s, s->scan_top, 1, CUZK_BUCKET_BLOCK, &args, stream, err));
    return cuzk_sum_launch(s, s->scan_apply, n_threads, CUZK_BUCKET_BLOCK, &args, stream, err);
}

cuzk_status cuzk_sum_read_back(const cuzk_point_summer *s, void *to, CUdeviceptr from,
                               size_t n_bytes, CUstream stream, cuzk_error *err)
{
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_DOWNLOAD, stream, err));
    CUZK_CUDA_TRY(s->api, err, cuMemcpyDtoHAsync, (to, from, n_bytes, stream));
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_WAIT, stream, err));
    CUZK_CUDA_TRY(s->api, err, cuStreamSynchronize, (stream));
    return CUZK_OK;
}

static cuzk_status scan(const cuzk_summing *c, void *a, size_t n, cuzk_error *err)
{
    return cuzk_sum_scan(c->s, a, cuzk_sum_place(c, c->l.scan), n, c->stream, err);
}

static cuzk_status launch(const cuzk_summing *c, CUfunction kernel, uint64_t n_threads, void *args,
                          cuzk_error *err)
{
    return cuzk_sum_launch(c->s, kernel, n_threads, CUZK_BUCKET_BLOCK, args, c->stream, err);
}

/* ---- sort ---- */

/* Codes of n_windows windows to sorted entries, and where the windows begin; returns in *where the
 * array that holds them. */
static cuzk_status sort(const cuzk_summing *c, uint32_t n_windows, CUdeviceptr codes,
                        CUdeviceptr index, int *where, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    int at = 0;
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_SORT, err));
    /* as few passes as possible, of as few bits: entries leave in the longer runs */
    uint32_t n_passes = tiles(c->plan.lg_buckets, CUZK_RADIX_BITS), bits;
    for (uint32_t shift = 0; shift < c->plan.lg_buckets; shift += bits, n_passes--) {
        bits = tiles(c->plan.lg_buckets - shift, n_passes);
        cuzk_radix_args args = {.entries = cuzk_sum_place(c, c->l.entries[at]),
                                .codes = cuzk_device_address(codes),
                                .index = cuzk_device_address(index),
                                .sorted = cuzk_sum_place(c, c->l.entries[1 - at]),
                                .counts = cuzk_sum_place(c, c->l.counts),
                                .segments = cuzk_sum_place(c, c->l.segments),
                                .n = c->plan.n,
                                .n_windows = n_windows,
                                .tiles = tiles(c->plan.n, CUZK_RADIX_TILE),
                                .shift = shift,
                                .bits = bits,
                                .lg_buckets = c->plan.lg_buckets};
        uint64_t n_threads = (uint64_t)n_windows * args.tiles * CUZK_BUCKET_BLOCK;
        size_t n_counts = ((size_t)n_windows * args.tiles << bits) + 1;
        bool is_first = shift == 0;
        CUZK_TRY(
            launch(c, is_first ? s->radix_count_codes : s->radix_count, n_threads, &args, err));
        CUZK_TRY(scan(c, args.counts, n_counts, err));
        if (is_first) {
            CUZK_TRY(launch(c, s->radix_segments, (uint64_t)n_windows + 1, &args, err));
        }
        CUZK_TRY(
            launch(c, is_first ? s->radix_scatter_codes : s->radix_scatter, n_threads, &args, err));
        at = 1 - at;
    }
    *where = at;
    return CUZK_OK;
}

/* ---- rounds ---- */

/* Where the buckets of the sorted entries begin, in begin[0], and how many points every round
 * leaves.
 */
static cuzk_status count_rounds(const cuzk_summing *c, const void *entries, uint32_t n_windows,
                                uint32_t totals[CUZK_TOTALS], cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    cuzk_bucket_args args = {.entries = entries,
                             .next = cuzk_sum_place(c, c->l.begin[0]),
                             .begin = cuzk_sum_place(c, c->l.begin[0]),
                             .totals = cuzk_sum_place(c, c->l.totals),
                             .n_entries = cuzk_sum_place(c, c->l.segments + 4 * n_windows),
                             .n_buckets = c->l.n_buckets};
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_PAIRS, err));
    CUZK_CUDA_TRY(s->api, err, cuMemsetD8Async,
                  (c->workspace + c->l.totals, 0, 4 * CUZK_TOTALS, c->stream));
    CUZK_TRY(launch(c, s->bounds, (uint64_t)args.n_buckets + 1, &args, err));
    uint32_t n_blocks = tiles(args.n_buckets, CUZK_BUCKET_BLOCK);
    n_blocks = n_blocks < 1024 ? n_blocks : 1024;
    CUZK_TRY(launch(c, s->totals, (uint64_t)n_blocks * CUZK_BUCKET_BLOCK, &args, err));
    return cuzk_sum_read_back(s, totals, c->workspace + c->l.totals, 4 * CUZK_TOTALS, c->stream,
                              err);
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

/* Sorted entries to final points. */
static cuzk_status add_buckets(cuzk_summing *c, uint32_t group, const void *entries,
                               uint32_t n_windows, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    const cuzk_sum_layout *l = &c->l;
    uint32_t totals[CUZK_TOTALS];
    CUZK_TRY(count_rounds(c, entries, n_windows, totals, err));
    size_t group_begin = l->final_begin + 4 * ((size_t)l->n_buckets + 1) * group;
    uint32_t n_points = totals[CUZK_TOTALS_ENTRIES];
    unsigned n_rounds = rounds_of(totals[CUZK_TOTALS_LARGEST]);
    c->points_before[group] = c->n_final;
    size_t begin = l->begin[0];
    for (unsigned r = 0; r < n_rounds; r++) {
        bool is_last = r + 1 == n_rounds;
        size_t next = is_last ? group_begin : l->begin[(r + 1) % 2];
        cuzk_bucket_args args = {.entries = r == 0 ? entries : NULL,
                                 .keys = cuzk_sum_place(c, l->keys[(r + 1) % 2]),
                                 .begin = cuzk_sum_place(c, begin),
                                 .next = cuzk_sum_place(c, next),
                                 .list = cuzk_sum_place(c, l->list),
                                 .next_keys = cuzk_sum_place(c, l->keys[r % 2]),
                                 .n = n_points,
                                 .n_buckets = l->n_buckets};
        CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_PAIRS, err));
        CUZK_TRY(launch(c, s->counts, (uint64_t)l->n_buckets + 1, &args, err));
        CUZK_TRY(scan(c, args.next, (size_t)l->n_buckets + 1, err));
        CUZK_TRY(launch(c, s->pairs, n_points, &args, err));
        cuzk_add_args add = {.bases = cuzk_device_address(c->bases),
                             .list = args.list,
                             .in_x = cuzk_sum_place(c, l->x[(r + 1) % 2]),
                             .in_y = cuzk_sum_place(c, l->y[(r + 1) % 2]),
                             .out_x = cuzk_sum_place(c, l->x[r % 2]),
                             .out_y = cuzk_sum_place(c, l->y[r % 2]),
                             .n_pairs = totals[r]};
        if (is_last) {
            size_t done = c->group->coord_bytes * (size_t)c->n_final;
            add.out_x = cuzk_sum_place(c, l->final_x + done);
            add.out_y = cuzk_sum_place(c, l->final_y + done);
            c->n_final += totals[r];
        }
        cuzk_point_add_plan(&add, c->group, c->workspace + l->adder);
        CUZK_TRY(cuzk_point_add_launch(
            &s->adder, c->group->id, r == 0 ? CUZK_ADD_GATHER : CUZK_ADD_LISTED,
            r == 0 ? CUZK_TIME_GATHERED : CUZK_TIME_ADDITIONS, &add, c->stream, err));
        n_points = totals[r];
        begin = next;
    }
    return CUZK_OK;
}

cuzk_status cuzk_sum_add_group(cuzk_summing *c, uint32_t group, uint32_t n_windows,
                               CUdeviceptr codes, CUdeviceptr index, cuzk_error *err)
{
    int where = 0;
    CUZK_TRY(sort(c, n_windows, codes, index, &where, err));
    return add_buckets(c, group, cuzk_sum_place(c, c->l.entries[where]), n_windows, err);
}

/* ---- reduction ---- */

static cuzk_status copy_launch(const cuzk_summing *c, CUfunction kernel, uint32_t n_threads,
                               void *args, cuzk_error *err)
{
    return cuzk_sum_launch(c->s, kernel, n_threads, CUZK_REDUCE_BLOCK, args, c->stream, err);
}

static cuzk_status spread(const cuzk_summing *c, cuzk_error *err)
{
    const cuzk_sum_layout *l = &c->l;
    cuzk_spread_args args = {.x = cuzk_sum_place(c, l->final_x),
                             .y = cuzk_sum_place(c, l->final_y),
                             .begin = cuzk_sum_place(c, l->final_begin),
                             .out_x = cuzk_sum_place(c, l->dense_x[0]),
                             .out_y = cuzk_sum_place(c, l->dense_y[0]),
                             .n_buckets = c->plan.n_windows << c->plan.lg_buckets,
                             .group_buckets = l->n_buckets};
    memcpy(args.points_before, c->points_before, sizeof(args.points_before));
    return copy_launch(c, c->s->points_spread[c->group->id], args.n_buckets, &args, err);
}

/* Level number `level`, from section arrays `at`: sections of n elements to halves. */
static cuzk_status add_level(const cuzk_summing *c, uint32_t level, uint32_t n, int at,
                             cuzk_error *err)
{
    const cuzk_sum_layout *l = &c->l;
    size_t done = c->group->coord_bytes * (size_t)(level + 1) * (n / 2);
    cuzk_odd_args odd = {.x = cuzk_sum_place(c, l->dense_x[at]),
                         .y = cuzk_sum_place(c, l->dense_y[at]),
                         .out_x = cuzk_sum_place(c, l->dense_x[1 - at] + done),
                         .out_y = cuzk_sum_place(c, l->dense_y[1 - at] + done),
                         .n = n / 2};
    CUZK_TRY(copy_launch(c, c->s->points_odd[c->group->id], odd.n, &odd, err));
    cuzk_add_args add = {.in_x = odd.x,
                         .in_y = odd.y,
                         .out_x = cuzk_sum_place(c, l->dense_x[1 - at]),
                         .out_y = cuzk_sum_place(c, l->dense_y[1 - at]),
                         .n_pairs = (level + 1) * (n / 2)};
    cuzk_point_add_plan(&add, c->group, c->workspace + l->dense_adder);
    return cuzk_point_add_launch(&c->s->adder, c->group->id, CUZK_ADD_PAIRS, CUZK_TIME_REDUCTION,
                                 &add, c->stream, err);
}

cuzk_status cuzk_sum_reduce(const cuzk_summing *c, char *sums, cuzk_error *err)
{
    const cuzk_sum_plan *p = &c->plan;
    uint32_t n = p->n_windows << p->lg_buckets, level = 0;
    int at = 0;
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_REDUCTION, err));
    CUZK_TRY(spread(c, err));
    for (; p->lg_buckets - level > CUZK_REDUCE_LG_LAST; level++) {
        CUZK_TRY(add_level(c, level, n, at, err));
        n /= 2;
        at = 1 - at;
    }
    cuzk_bits_fold_args fold = {.x = cuzk_sum_place(c, c->l.dense_x[at]),
                                .y = cuzk_sum_place(c, c->l.dense_y[at]),
                                .sums = cuzk_sum_place(c, c->l.sums),
                                .n_windows = p->n_windows,
                                .n_levels = level,
                                .lg_left = p->lg_buckets - level,
                                .n_sums = cuzk_sum_count(p)};
    uint32_t n_blocks = p->n_windows * fold.n_sums;
    CUZK_TRY(cuzk_sum_launch(c->s, c->s->points_bits[c->group->id],
                             (uint64_t)n_blocks * CUZK_FOLD_BLOCK, CUZK_FOLD_BLOCK, &fold,
                             c->stream, err));
    return cuzk_sum_read_back(c->s, sums, c->workspace + c->l.sums,
                              3 * c->group->coord_bytes * n_blocks, c->stream, err);
}
