/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The workspace of a sum, its launches, and the sort of a group of windows. */
#include "backend/cuda/point_summer_impl.h"

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
    size_t n_all = (size_t)cuzk_sum_parts(p) << p->lg_part;
    size_t full = n_entries < n_buckets ? n_entries : n_buckets; /* buckets with points */
    full = full < n_all ? full : n_all;
    size_t points[2] = {(n_entries + full) / 2, (n_entries + 3 * full) / 4 + 1};
    size_t n_counts = ((size_t)p->together * tiles(p->n, CUZK_RADIX_TILE) << CUZK_RADIX_BITS) + 1;
    size_t n_scan = n_counts < n_buckets + 1 ? n_buckets + 1 : n_counts;
    l->codes = cuzk_sum_take(&l->total, 4 * (size_t)p->n * p->coded);
    l->counts = cuzk_sum_take(&l->total, 4 * n_counts);
    l->scan = cuzk_sum_take(&l->total, 4 * (size_t)tiles(n_scan, CUZK_SCAN_TILE));
    l->segments = cuzk_sum_take(&l->total, 4 * ((size_t)p->together + 1));
    l->list = cuzk_sum_take(&l->total, 8 * points[0]);
    for (int i = 0; i < 3; i++) { /* the third: sorted entries of another group */
        bool is_used = i < 2 || p->n_groups > 1;
        l->entries[i] =
            cuzk_sum_take(&l->total, is_used ? sizeof(cuzk_bucket_entry) * n_entries : 0);
        l->begin[i] = cuzk_sum_take(&l->total, 4 * (n_buckets + 1));
    }
    for (int i = 0; i < 2; i++) {
        l->bounds[i] = cuzk_sum_take(&l->total, 4 * (n_buckets + 1));
        l->totals[i] = cuzk_sum_take(&l->total, 4 * CUZK_TOTALS);
        l->keys[i] = cuzk_sum_take(&l->total, 4 * points[i]);
        l->x[i] = cuzk_sum_take(&l->total, point * points[i]);
        l->y[i] = cuzk_sum_take(&l->total, point * points[i]);
    }
    l->adder = cuzk_sum_take(&l->total, cuzk_point_add_workspace_bytes_max(g, (uint32_t)points[0]));
}

/* What the reduction uses; no level is larger than all buckets. */
static void add_reduction_places(cuzk_sum_layout *l, const cuzk_group *g, const cuzk_sum_plan *p)
{
    size_t n_buckets = (size_t)cuzk_sum_parts(p) << p->lg_part;
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
    size_t n_all = (size_t)cuzk_sum_parts(p) << p->lg_part; /* less than n_buckets of all groups */
    size_t n_final = p->n_groups * (n_entries < n_buckets ? n_entries : n_buckets);
    n_final = n_final < n_all ? n_final : n_all;
    cuzk_sum_layout l = {.n_buckets = (uint32_t)n_buckets};
    l.final_before = cuzk_sum_take(&l.total, 4 * (n_buckets + 1) * p->n_groups);
    l.final_begin = cuzk_sum_take(&l.total, 4 * (n_buckets + 1) * p->n_groups);
    l.final_x = cuzk_sum_take(&l.total, point * n_final);
    l.final_y = cuzk_sum_take(&l.total, point * n_final);
    l.sums = cuzk_sum_take(&l.total, 3 * point * cuzk_sum_parts(p) * cuzk_sum_count(p));
    if (p->has_images) { /* they may begin anywhere in a coordinate (point_summer.c) */
        l.images = cuzk_sum_take(&l.total, g->affine_bytes * p->n_scalars + point);
    }
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

uint64_t cuzk_sum_scan_threads(size_t n)
{
    return (uint64_t)tiles(n, CUZK_SCAN_TILE) * CUZK_BUCKET_BLOCK;
}

static cuzk_scan_args scan_args(void *a, void *sums, size_t n)
{
    return (cuzk_scan_args){
        .a = a, .sums = sums, .n = (uint32_t)n, .n_tiles = tiles(n, CUZK_SCAN_TILE)};
}

cuzk_status cuzk_sum_scan_tiles(const cuzk_point_summer *s, void *a, void *sums, size_t n,
                                CUstream stream, cuzk_error *err)
{
    cuzk_scan_args args = scan_args(a, sums, n);
    if (args.n_tiles > CUZK_SCAN_FEW) {
        CUZK_TRY(cuzk_sum_launch(s, s->scan_top, 1, CUZK_BUCKET_BLOCK, &args, stream, err));
    }
    return cuzk_sum_launch(s, s->scan_apply, cuzk_sum_scan_threads(n), CUZK_BUCKET_BLOCK, &args,
                           stream, err);
}

cuzk_status cuzk_sum_scan(const cuzk_point_summer *s, void *a, void *sums, size_t n,
                          CUstream stream, cuzk_error *err)
{
    cuzk_scan_args args = scan_args(a, sums, n);
    if (args.n_tiles > 1) {
        CUZK_TRY(cuzk_sum_launch(s, s->scan_sums, cuzk_sum_scan_threads(n), CUZK_BUCKET_BLOCK,
                                 &args, stream, err));
    }
    return cuzk_sum_scan_tiles(s, a, sums, n, stream, err);
}

cuzk_status cuzk_sum_send(const cuzk_point_summer *s, void *to, CUdeviceptr from, size_t n_bytes,
                          CUstream stream, cuzk_error *err)
{
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_DOWNLOAD, stream, err));
    CUZK_CUDA_TRY(s->api, err, cuMemcpyDtoHAsync, (to, from, n_bytes, stream));
    return cuzk_device_times_mark(s->adder.times, CUZK_TIME_WAIT, stream, err);
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

/* Codes of n_windows windows to sorted entries in one of the arrays spare[0], spare[1], and where
 * the windows begin; returns in *where the array. */
static cuzk_status sort(const cuzk_summing *c, uint32_t n_windows, CUdeviceptr codes,
                        const int spare[2], int *where, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    int at = 0;
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_SORT, err));
    /* as few passes as possible, of as few bits: entries leave in the longer runs */
    uint32_t n_passes = tiles(c->plan.lg_buckets, CUZK_RADIX_BITS), bits;
    for (uint32_t shift = 0; shift < c->plan.lg_buckets; shift += bits, n_passes--) {
        bits = tiles(c->plan.lg_buckets - shift, n_passes);
        cuzk_radix_args args = {.entries = cuzk_sum_place(c, c->l.entries[spare[at]]),
                                .codes = cuzk_device_address(codes),
                                .index = cuzk_device_address(c->params.index),
                                .images =
                                    cuzk_device_address(c->plan.has_images ? 0 : c->params.index),
                                .sorted = cuzk_sum_place(c, c->l.entries[spare[1 - at]]),
                                .counts = cuzk_sum_place(c, c->l.counts),
                                .segments = cuzk_sum_place(c, c->l.segments),
                                .n = c->plan.n,
                                .n_bases = c->plan.n_scalars,
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
    *where = spare[at];
    return CUZK_OK;
}

/* Where the buckets of the sorted entries begin and, to the mail, how many points every round will
 * leave. */
static cuzk_status count_rounds(const cuzk_summing *c, const void *entries, uint32_t n_windows,
                                uint32_t parity, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    cuzk_bucket_args args = {.entries = entries,
                             .next = cuzk_sum_place(c, c->l.bounds[parity]),
                             .begin = cuzk_sum_place(c, c->l.bounds[parity]),
                             .totals = cuzk_sum_place(c, c->l.totals[parity]),
                             .n_entries = cuzk_sum_place(c, c->l.segments + 4 * n_windows),
                             .n_buckets = c->l.n_buckets};
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_PAIRS, err));
    CUZK_TRY(launch(c, s->bounds, (uint64_t)args.n_buckets + 1, &args, err));
    uint32_t n_blocks = tiles(args.n_buckets, CUZK_BUCKET_BLOCK);
    n_blocks = n_blocks < 1024 ? n_blocks : 1024;
    CUZK_TRY(launch(c, s->totals, (uint64_t)n_blocks * CUZK_BUCKET_BLOCK, &args, err));
    CUZK_TRY(cuzk_sum_send(s, cuzk_sum_totals(c, parity), c->workspace + c->l.totals[parity],
                           4 * CUZK_TOTALS, c->stream, err));
    CUZK_CUDA_TRY(s->api, err, cuEventRecord, (c->mail->ready[parity], c->stream));
    return CUZK_OK;
}

cuzk_status cuzk_sum_sort_group(cuzk_summing *c, uint32_t group, uint32_t n_windows,
                                CUdeviceptr codes, cuzk_error *err)
{
    uint32_t parity = group % 2;
    int taken = group == 0 ? 2 : c->sorted[1 - parity];
    int spare[2] = {(taken + 1) % 3, (taken + 2) % 3};
    CUZK_TRY(sort(c, n_windows, codes, spare, &c->sorted[parity], err));
    return count_rounds(c, cuzk_sum_place(c, c->l.entries[c->sorted[parity]]), n_windows, parity,
                        err);
}
