/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of bases selected by bits: the ones as a list in order, neighbours added round by round
 * until few points are left, and those folded. */
#include "backend/cuda/point_summer_impl.h"

#include <string.h>

enum { FOLD_POINTS = 1 << 15, FOLD_BLOCKS = 128 };

typedef struct {
    size_t list, counts, scan, x[2], y[2], adder, sums, total;
} layout;

/* One point more in each array, so that an odd number can be filled up. */
static layout bits_layout(const cuzk_group *g, uint32_t n_bits, uint32_t n_ones)
{
    layout l = {0};
    size_t point = g->coord_bytes, n_counts = ((size_t)n_bits + 63) / 64 + 1;
    size_t n_pairs = ((size_t)n_ones + 1) / 2;
    l.list = cuzk_sum_take(&l.total, 8 * n_pairs);
    l.counts = cuzk_sum_take(&l.total, 4 * n_counts);
    l.scan = cuzk_sum_take(&l.total, 4 * ((n_counts + CUZK_SCAN_TILE - 1) / CUZK_SCAN_TILE));
    for (int i = 0; i < 2; i++) {
        l.x[i] = cuzk_sum_take(&l.total, point * (n_pairs / (i + 1u) + 2));
        l.y[i] = cuzk_sum_take(&l.total, point * (n_pairs / (i + 1u) + 2));
    }
    l.adder = cuzk_sum_take(&l.total, cuzk_point_add_workspace_bytes_max(g, (uint32_t)n_pairs));
    l.sums = cuzk_sum_take(&l.total, 3 * point * FOLD_BLOCKS);
    return l;
}

size_t cuzk_point_sum_bits_bytes(const cuzk_point_summer *s, cuzk_group_id group, uint32_t n_bits,
                                 uint32_t n_ones)
{
    return bits_layout(&s->curve->g[group], n_bits, n_ones).total;
}

/* ---- selections ---- */

/* Counts of the words and their sums before each; found: of all. Waits for the device. */
static cuzk_status count_selected(const cuzk_point_summer *s, const cuzk_select_args *args,
                                  void *scan, uint32_t *found, CUstream stream, cuzk_error *err)
{
    size_t n_counts = (size_t)args->n_words + 1;
    cuzk_select_args copy = *args;
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_SORT, stream, err));
    CUZK_TRY(cuzk_sum_launch(s, s->select_counts, n_counts, CUZK_BUCKET_BLOCK, &copy, stream, err));
    CUZK_TRY(cuzk_sum_scan(s, args->counts, scan, n_counts, stream, err));
    CUZK_TRY(cuzk_sum_read_back(s, found,
                                (CUdeviceptr)(uintptr_t)args->counts + 4 * (size_t)args->n_words, 4,
                                stream, err));
    return cuzk_device_times_mark(s->adder.times, CUZK_TIME_SORT, stream, err);
}

static cuzk_select_args select_args(const cuzk_selection *selection, CUdeviceptr words)
{
    return (cuzk_select_args){.words = cuzk_device_address(words),
                              .support = cuzk_device_address(selection->support),
                              .support_rank = cuzk_device_address(selection->support_rank),
                              .n_words = (selection->n_vars + 63) / 64,
                              .first = selection->first};
}

size_t cuzk_select_values_bytes(uint32_t n_vars)
{
    size_t total = 0, n_counts = ((size_t)n_vars + 63) / 64 + 1;
    (void)cuzk_sum_take(&total, 4 * n_counts);
    (void)cuzk_sum_take(&total, 4 * ((n_counts + CUZK_SCAN_TILE - 1) / CUZK_SCAN_TILE));
    return total;
}

cuzk_status cuzk_select_values(const cuzk_point_summer *s, uint32_t *n,
                               const cuzk_selection *selection, CUdeviceptr is_value,
                               CUdeviceptr rank, CUdeviceptr index, CUdeviceptr which,
                               CUdeviceptr workspace, CUstream stream, cuzk_error *err)
{
    size_t counts_bytes = 0;
    (void)cuzk_sum_take(&counts_bytes, 4 * (((size_t)selection->n_vars + 63) / 64 + 1));
    cuzk_select_args args = select_args(selection, is_value);
    args.counts = cuzk_device_address(workspace);
    args.value_rank = cuzk_device_address(rank);
    args.index = cuzk_device_address(index);
    args.which = cuzk_device_address(which);
    CUZK_TRY(
        count_selected(s, &args, cuzk_device_address(workspace + counts_bytes), n, stream, err));
    return cuzk_sum_launch(s, s->field_list, args.n_words, CUZK_BUCKET_BLOCK, &args, stream, err);
}

typedef struct {
    const cuzk_point_summer *s;
    const cuzk_group *group;
    CUdeviceptr bases, workspace;
    CUstream stream;
    layout l;
} bit_sum;

static void *place(const bit_sum *c, size_t offset)
{
    return cuzk_device_address(c->workspace + offset);
}

/* The list of ones; found: how many. Waits for the device. */
static cuzk_status make_list(const bit_sum *c, const cuzk_point_bits_params *p, uint32_t *found,
                             cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    cuzk_select_args args = select_args(&p->selection, p->bits);
    args.counts = place(c, c->l.counts);
    args.list = place(c, c->l.list);
    CUZK_TRY(count_selected(s, &args, place(c, c->l.scan), found, c->stream, err));
    CUZK_FAIL_IF(*found > p->n_ones, err, CUZK_E_ARGUMENT,
                 "adding up bases by bits on a device: %u ones, expected at most %u", *found,
                 p->n_ones);
    return cuzk_sum_launch(s, s->bit_list, args.n_words, CUZK_BUCKET_BLOCK, &args, c->stream, err);
}

/* Point n of array number `at` to infinity. */
static cuzk_status fill_up(const bit_sum *c, int at, uint32_t n, cuzk_error *err)
{
    size_t point = c->group->coord_bytes;
    CUZK_CUDA_TRY(c->s->api, err, cuMemsetD8Async,
                  (c->workspace + c->l.x[at] + n * point, 0, point, c->stream));
    CUZK_CUDA_TRY(c->s->api, err, cuMemsetD8Async,
                  (c->workspace + c->l.y[at] + n * point, 0, point, c->stream));
    return CUZK_OK;
}

/* Rounds over n listed bases; *at: the array that holds the *left points. */
static cuzk_status add_rounds(const bit_sum *c, uint32_t n, int *at, uint32_t *left,
                              cuzk_error *err)
{
    cuzk_add_source source = CUZK_ADD_GATHER;
    int to = 0;
    do {
        cuzk_add_args add = {.bases = cuzk_device_address(c->bases),
                             .list = place(c, c->l.list),
                             .in_x = place(c, c->l.x[1 - to]),
                             .in_y = place(c, c->l.y[1 - to]),
                             .out_x = place(c, c->l.x[to]),
                             .out_y = place(c, c->l.y[to]),
                             .n_pairs = (n + 1) / 2};
        if (source == CUZK_ADD_PAIRS && n % 2 != 0) {
            CUZK_TRY(fill_up(c, 1 - to, n, err));
        }
        cuzk_point_add_plan(&add, c->group, c->workspace + c->l.adder);
        CUZK_TRY(cuzk_point_add_launch(&c->s->adder, c->group->id, source,
                                       source == CUZK_ADD_GATHER ? CUZK_TIME_GATHERED
                                                                 : CUZK_TIME_ADDITIONS,
                                       &add, c->stream, err));
        source = CUZK_ADD_PAIRS;
        n = add.n_pairs;
        to = 1 - to;
    } while (n > FOLD_POINTS);
    *at = 1 - to;
    *left = n;
    return CUZK_OK;
}

/* n points of an array to few sums, and those on the host to one. */
static cuzk_status fold(const bit_sum *c, cuzk_jac *sum, int at, uint32_t n, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    char sums[3 * sizeof(uint64_t) * 12 * FOLD_BLOCKS];
    uint32_t n_blocks = (n + CUZK_FOLD_BLOCK - 1) / CUZK_FOLD_BLOCK;
    n_blocks = n_blocks < FOLD_BLOCKS ? n_blocks : FOLD_BLOCKS;
    cuzk_fold_args args = {
        .x = place(c, c->l.x[at]), .y = place(c, c->l.y[at]), .sums = place(c, c->l.sums), .n = n};
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_REDUCTION, c->stream, err));
    CUZK_TRY(cuzk_sum_launch(s, s->points_fold[c->group->id], (uint64_t)n_blocks * CUZK_FOLD_BLOCK,
                             CUZK_FOLD_BLOCK, &args, c->stream, err));
    size_t one = 3 * c->group->coord_bytes;
    CUZK_TRY(cuzk_sum_read_back(s, sums, c->workspace + c->l.sums, one * n_blocks, c->stream, err));
    c->group->set_infinity(sum);
    for (uint32_t i = 0; i < n_blocks; i++) {
        cuzk_jac p = {{0}};
        memcpy(&p, sums + one * i, one);
        c->group->add(sum, sum, &p);
    }
    return CUZK_OK;
}

cuzk_status cuzk_point_sum_bits(const cuzk_point_summer *s, cuzk_jac *sum,
                                const cuzk_point_bits_params *params, CUdeviceptr workspace,
                                CUstream stream, cuzk_error *err)
{
    const cuzk_group *group = &s->curve->g[params->group];
    bit_sum c = {.s = s,
                 .group = group,
                 .bases = params->bases,
                 .workspace = workspace,
                 .stream = stream,
                 .l = bits_layout(group, params->selection.n_vars, params->n_ones)};
    uint32_t found = 0, left = 0;
    int at = 0;
    if (params->selection.n_vars != 0) {
        CUZK_TRY(make_list(&c, params, &found, err));
    }
    if (found == 0) {
        c.group->set_infinity(sum);
        return CUZK_OK;
    }
    CUZK_TRY(add_rounds(&c, found, &at, &left, err));
    return fold(&c, sum, at, left, err);
}
