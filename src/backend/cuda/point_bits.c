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

/* Counts of the words to their sums before each. */
static cuzk_status count_selected(const cuzk_point_summer *s, const cuzk_select_args *args,
                                  void *scan, CUstream stream, cuzk_error *err)
{
    size_t n_counts = (size_t)args->n_words + 1;
    cuzk_select_args copy = *args;
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_SORT, stream, err));
    CUZK_TRY(cuzk_sum_launch(s, s->select_counts, n_counts, CUZK_BUCKET_BLOCK, &copy, stream, err));
    return cuzk_sum_scan(s, args->counts, scan, n_counts, stream, err);
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

cuzk_status cuzk_select_count(const cuzk_point_summer *s, const cuzk_selection *selection,
                              CUdeviceptr bits, CUdeviceptr is_value, CUdeviceptr out,
                              CUstream stream, cuzk_error *err)
{
    enum { BLOCKS_MOST = 512 };
    cuzk_select_args args = select_args(selection, bits);
    args.value_words = cuzk_device_address(is_value);
    args.totals = cuzk_device_address(out);
    uint64_t n_threads = args.n_words, most = (uint64_t)BLOCKS_MOST * CUZK_BUCKET_BLOCK;
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_SORT, stream, err));
    return cuzk_sum_launch(s, s->select_totals, n_threads < most ? n_threads : most,
                           CUZK_BUCKET_BLOCK, &args, stream, err);
}

cuzk_status cuzk_select_values(const cuzk_point_summer *s, const cuzk_selection *selection,
                               CUdeviceptr is_value, CUdeviceptr rank, CUdeviceptr index,
                               CUdeviceptr which, CUdeviceptr workspace, CUstream stream,
                               cuzk_error *err)
{
    size_t counts_bytes = 0;
    (void)cuzk_sum_take(&counts_bytes, 4 * (((size_t)selection->n_vars + 63) / 64 + 1));
    cuzk_select_args args = select_args(selection, is_value);
    args.counts = cuzk_device_address(workspace);
    args.value_rank = cuzk_device_address(rank);
    args.index = cuzk_device_address(index);
    args.which = cuzk_device_address(which);
    CUZK_TRY(count_selected(s, &args, cuzk_device_address(workspace + counts_bytes), stream, err));
    return cuzk_sum_launch(s, s->field_list, args.n_words, CUZK_BUCKET_BLOCK, &args, stream, err);
}

/* ---- sums ---- */

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

static bit_sum make_sum(const cuzk_point_summer *s, const cuzk_point_bits_params *params,
                        CUdeviceptr workspace, CUstream stream)
{
    const cuzk_group *group = &s->curve->g[params->group];
    return (bit_sum){.s = s,
                     .group = group,
                     .bases = params->bases,
                     .workspace = workspace,
                     .stream = stream,
                     .l = bits_layout(group, params->selection.n_vars, params->n_ones)};
}

/* Where the ones of each word go in the list. */
static cuzk_status count_ones(const bit_sum *c, const cuzk_point_bits_params *p,
                              cuzk_select_args *args, cuzk_error *err)
{
    *args = select_args(&p->selection, p->bits);
    args->counts = place(c, c->l.counts);
    args->list = place(c, c->l.list);
    return count_selected(c->s, args, place(c, c->l.scan), c->stream, err);
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

/* n points of an array to few sums on their way to the mail. */
static cuzk_status fold(const bit_sum *c, cuzk_bit_summing *out, int at, uint32_t n,
                        cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    uint32_t n_blocks = (n + CUZK_FOLD_BLOCK - 1) / CUZK_FOLD_BLOCK;
    n_blocks = n_blocks < FOLD_BLOCKS ? n_blocks : FOLD_BLOCKS;
    cuzk_fold_args args = {
        .x = place(c, c->l.x[at]), .y = place(c, c->l.y[at]), .sums = place(c, c->l.sums), .n = n};
    CUZK_TRY(cuzk_device_times_mark(s->adder.times, CUZK_TIME_REDUCTION, c->stream, err));
    CUZK_TRY(cuzk_sum_launch(s, s->points_fold[c->group->id], (uint64_t)n_blocks * CUZK_FOLD_BLOCK,
                             CUZK_FOLD_BLOCK, &args, c->stream, err));
    out->n_sums = n_blocks;
    return cuzk_sum_send(s, out->mail->bytes + CUZK_SUM_MAIL_POINTS, c->workspace + c->l.sums,
                         3 * c->group->coord_bytes * n_blocks, c->stream, err);
}

/* The list of counted ones, its rounds, the last few. */
static cuzk_status add_ones(const bit_sum *c, cuzk_bit_summing *out, cuzk_select_args *args,
                            uint32_t n_ones, cuzk_error *err)
{
    uint32_t left = 0;
    int at = 0;
    if (n_ones == 0) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_device_times_mark(c->s->adder.times, CUZK_TIME_SORT, c->stream, err));
    CUZK_TRY(cuzk_sum_launch(c->s, c->s->bit_list, args->n_words, CUZK_BUCKET_BLOCK, args,
                             c->stream, err));
    CUZK_TRY(add_rounds(c, n_ones, &at, &left, err));
    return fold(c, out, at, left, err);
}

cuzk_status cuzk_bit_summing_run(cuzk_bit_summing *out, const cuzk_point_summer *s,
                                 const cuzk_point_bits_params *params, CUdeviceptr workspace,
                                 const cuzk_sum_mail *mail, CUstream stream, cuzk_error *err)
{
    bit_sum c = make_sum(s, params, workspace, stream);
    cuzk_select_args args;
    *out = (cuzk_bit_summing){.group = c.group, .mail = mail};
    if (params->n_ones == 0) {
        return CUZK_OK;
    }
    CUZK_TRY(count_ones(&c, params, &args, err));
    return add_ones(&c, out, &args, params->n_ones, err);
}

void cuzk_bit_summing_end(const cuzk_bit_summing *c, cuzk_jac *sum)
{
    size_t one = 3 * c->group->coord_bytes;
    c->group->set_infinity(sum);
    for (uint32_t i = 0; i < c->n_sums; i++) {
        cuzk_jac p = {{0}};
        memcpy(&p, c->mail->bytes + CUZK_SUM_MAIL_POINTS + one * i, one);
        c->group->add(sum, sum, &p);
    }
}

cuzk_status cuzk_point_sum_bits(const cuzk_point_summer *s, cuzk_jac *sum,
                                const cuzk_point_bits_params *params, CUdeviceptr workspace,
                                CUstream stream, cuzk_error *err)
{
    bit_sum c = make_sum(s, params, workspace, stream);
    cuzk_bit_summing out = {.group = c.group, .mail = s->mail};
    uint32_t *found = (uint32_t *)(void *)s->mail->bytes;
    cuzk_select_args args;
    *found = 0;
    if (params->selection.n_vars != 0) {
        CUZK_TRY(count_ones(&c, params, &args, err));
        CUZK_TRY(cuzk_sum_send(s, found, workspace + c.l.counts + 4 * (size_t)args.n_words, 4,
                               stream, err));
        CUZK_CUDA_TRY(s->api, err, cuStreamSynchronize, (stream));
    }
    CUZK_FAIL_IF(*found > params->n_ones, err, CUZK_E_ARGUMENT,
                 "adding up bases by bits on a device: %u ones, expected at most %u", *found,
                 params->n_ones);
    CUZK_TRY(add_ones(&c, &out, &args, *found, err));
    CUZK_CUDA_TRY(s->api, err, cuStreamSynchronize, (stream));
    cuzk_bit_summing_end(&out, sum);
    return CUZK_OK;
}
