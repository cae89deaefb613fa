/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From sorted entries to sums of windows: rounds of additions, and the reduction of buckets. */
#include "backend/cuda/point_summer_impl.h"

#include <string.h>

static cuzk_status launch(const cuzk_summing *c, CUfunction kernel, uint64_t n_threads, void *args,
                          cuzk_error *err)
{
    return cuzk_sum_launch(c->s, kernel, n_threads, CUZK_BUCKET_BLOCK, args, c->stream, err);
}

/* ---- rounds ---- */

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

/* One round. */
typedef struct {
    uint32_t number;
    uint32_t n_points, n_slots; /* before and after: n_points - n_slots pairs */
    uint32_t pairs_before;      /* of the round before */
    size_t before, begin, next; /* positions of the buckets, of the round before and so on */
    const void *entries;        /* of the first round */
    size_t out_x, out_y;
} round_plan;

/* What is added to what. */
static cuzk_status list_pairs(const cuzk_summing *c, const round_plan *r, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    const cuzk_sum_layout *l = &c->l;
    bool is_first = r->number == 0;
    cuzk_bucket_args args = {.entries = is_first ? r->entries : NULL,
                             .keys = cuzk_sum_place(c, l->keys[(r->number + 1) % 2]),
                             .before = is_first ? NULL : cuzk_sum_place(c, r->before),
                             .begin = cuzk_sum_place(c, r->begin),
                             .next = cuzk_sum_place(c, r->next),
                             .list = cuzk_sum_place(c, l->list),
                             .sums = cuzk_sum_place(c, l->scan),
                             .next_keys = cuzk_sum_place(c, l->keys[r->number % 2]),
                             .n = r->n_points,
                             .n_pairs = r->n_points - r->n_slots,
                             .n_pairs_before = r->pairs_before,
                             .n_buckets = l->n_buckets};
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_PAIRS, err));
    size_t n_positions = (size_t)l->n_buckets + 1;
    CUZK_TRY(launch(c, s->counts, cuzk_sum_scan_threads(n_positions), &args, err));
    CUZK_TRY(cuzk_sum_scan_tiles(s, args.next, args.sums, n_positions, c->stream, err));
    const uint32_t of_block = CUZK_PAIRS_EACH * CUZK_BUCKET_BLOCK;
    uint64_t n_blocks = ((uint64_t)r->n_points + of_block - 1) / of_block;
    return launch(c, s->pairs, n_blocks * CUZK_BUCKET_BLOCK, &args, err);
}

/* The pairs' sums, and behind them the points without a partner. */
static cuzk_status add_pairs(const cuzk_summing *c, const round_plan *r, cuzk_error *err)
{
    const cuzk_point_summer *s = c->s;
    const cuzk_sum_layout *l = &c->l;
    cuzk_group_id id = c->group->id;
    bool is_first = r->number == 0;
    uint32_t n_pairs = r->n_points - r->n_slots;
    cuzk_time_kind kind = is_first ? CUZK_TIME_GATHERED : CUZK_TIME_ADDITIONS;
    cuzk_add_args add = {.bases = cuzk_device_address(c->origin),
                         .list = cuzk_sum_place(c, l->list),
                         .in_x = cuzk_sum_place(c, l->x[(r->number + 1) % 2]),
                         .in_y = cuzk_sum_place(c, l->y[(r->number + 1) % 2]),
                         .out_x = cuzk_sum_place(c, r->out_x),
                         .out_y = cuzk_sum_place(c, r->out_y),
                         .n_pairs = n_pairs,
                         .n_copies = r->n_slots - n_pairs,
                         .at = {c->at[0], c->at[1]}};
    cuzk_point_add_plan(&add, c->group, c->workspace + l->adder);
    return cuzk_point_add_launch(&s->adder, id, is_first ? CUZK_ADD_GATHER : CUZK_ADD_LISTED, kind,
                                 &add, c->stream, err);
}

/* In the last round the positions before and after it are kept for the reduction. */
static cuzk_status run_rounds(cuzk_summing *c, uint32_t group, const uint32_t *totals,
                              cuzk_error *err)
{
    const cuzk_sum_layout *l = &c->l;
    size_t of_group = 4 * ((size_t)l->n_buckets + 1) * group;
    unsigned n_rounds = rounds_of(totals[CUZK_TOTALS_LARGEST]);
    round_plan r = {.n_points = totals[CUZK_TOTALS_ENTRIES],
                    .begin = l->bounds[group % 2],
                    .entries = cuzk_sum_place(c, l->entries[c->sorted[group % 2]])};
    if (n_rounds == 1) {
        CUZK_CUDA_TRY(c->s->api, err, cuMemcpyDtoDAsync,
                      (c->workspace + l->final_before + of_group, c->workspace + r.begin,
                       4 * ((size_t)l->n_buckets + 1), c->stream));
    }
    for (; r.number < n_rounds; r.number++) {
        bool is_last = r.number + 1 == n_rounds;
        size_t done = c->group->coord_bytes * (size_t)c->n_final;
        r.n_slots = totals[r.number];
        r.next = is_last                    ? l->final_begin + of_group
                 : r.number + 2 == n_rounds ? l->final_before + of_group
                                            : l->begin[r.number % 3];
        r.out_x = is_last ? l->final_x + done : l->x[r.number % 2];
        r.out_y = is_last ? l->final_y + done : l->y[r.number % 2];
        CUZK_TRY(list_pairs(c, &r, err));
        CUZK_TRY(add_pairs(c, &r, err));
        r.pairs_before = r.n_points - r.n_slots;
        r.n_points = r.n_slots;
        r.before = r.begin;
        r.begin = r.next;
    }
    c->points_before[group] = c->n_final;
    c->pairs[group] = r.pairs_before;
    c->n_final += r.n_points;
    return CUZK_OK;
}

cuzk_status cuzk_sum_add_group(cuzk_summing *c, uint32_t group, cuzk_error *err)
{
    const uint32_t *totals = cuzk_sum_totals(c, group % 2);
    CUZK_CUDA_TRY(c->s->api, err, cuEventSynchronize, (c->mail->ready[group % 2]));
    return run_rounds(c, group, totals, err);
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
                             .before = cuzk_sum_place(c, l->final_before),
                             .begin = cuzk_sum_place(c, l->final_begin),
                             .out_x = cuzk_sum_place(c, l->dense_x[0]),
                             .out_y = cuzk_sum_place(c, l->dense_y[0]),
                             .n_buckets = cuzk_sum_parts(&c->plan) << c->plan.lg_part,
                             .group_buckets = l->n_buckets,
                             .lg_part = c->plan.lg_part,
                             .lg_buckets = c->plan.lg_buckets,
                             .n_narrow = c->plan.n_narrow};
    memcpy(args.points_before, c->points_before, sizeof(args.points_before));
    memcpy(args.pairs, c->pairs, sizeof(args.pairs));
    return copy_launch(c, c->s->points_spread[c->group->id], args.n_buckets, &args, err);
}

/* Level number `level`, from section arrays `at`: sections of n elements to halves. */
static cuzk_status add_level(const cuzk_summing *c, uint32_t level, uint32_t n, int at,
                             cuzk_error *err)
{
    const cuzk_sum_layout *l = &c->l;
    cuzk_add_args add = {.in_x = cuzk_sum_place(c, l->dense_x[at]),
                         .in_y = cuzk_sum_place(c, l->dense_y[at]),
                         .out_x = cuzk_sum_place(c, l->dense_x[1 - at]),
                         .out_y = cuzk_sum_place(c, l->dense_y[1 - at]),
                         .n_pairs = (level + 1) * (n / 2),
                         .n_copies = n / 2}; /* the elements with odd numbers */
    cuzk_point_add_plan(&add, c->group, c->workspace + l->dense_adder);
    return cuzk_point_add_launch(&c->s->adder, c->group->id, CUZK_ADD_PAIRS, CUZK_TIME_REDUCTION,
                                 &add, c->stream, err);
}

cuzk_status cuzk_sum_reduce(const cuzk_summing *c, cuzk_error *err)
{
    const cuzk_sum_plan *p = &c->plan;
    uint32_t n = cuzk_sum_parts(p) << p->lg_part, level = 0;
    int at = 0;
    CUZK_TRY(cuzk_sum_mark(c, CUZK_TIME_REDUCTION, err));
    CUZK_TRY(spread(c, err));
    for (; p->lg_part - level > CUZK_REDUCE_LG_LAST; level++) {
        CUZK_TRY(add_level(c, level, n, at, err));
        n /= 2;
        at = 1 - at;
    }
    cuzk_bits_fold_args fold = {.x = cuzk_sum_place(c, c->l.dense_x[at]),
                                .y = cuzk_sum_place(c, c->l.dense_y[at]),
                                .sums = cuzk_sum_place(c, c->l.sums),
                                .n_windows = cuzk_sum_parts(p),
                                .n_levels = level,
                                .lg_left = p->lg_part - level,
                                .n_sums = cuzk_sum_count(p)};
    uint32_t n_blocks = fold.n_windows * fold.n_sums;
    CUZK_TRY(cuzk_sum_launch(c->s, c->s->points_bits[c->group->id],
                             (uint64_t)n_blocks * CUZK_FOLD_BLOCK, CUZK_FOLD_BLOCK, &fold,
                             c->stream, err));
    return cuzk_sum_send(c->s, c->mail->bytes + CUZK_SUM_MAIL_POINTS, c->workspace + c->l.sums,
                         3 * c->group->coord_bytes * n_blocks, c->stream, err);
}
