/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multi-scalar multiplication by signed-digit buckets.
 *
 * Scalars are cut into tiles, each of consecutive scalars that the same queries take. Per tile:
 * digits of all windows; then for a group of windows at a time (bounded memory) a counting sort of
 * (base, sign) by bucket, sums of the buckets by batched affine additions for each query, and the
 * first split of the bucket reduction; at the end the remaining splits for all windows at once and
 * one chain of doublings. Everything up to that chain is exact affine points, so the result does
 * not depend on the number of threads. Tiles of a few scalars are summed as one joint
 * multiplication instead. */
#include "base/bytes.h"
#include "msm/msm_internal.h"
#include "msm/msm_plan.h"

#include <string.h>

enum { LOOP_TASKS_PER_THREAD = 8 }; /* of a loop over entries, at most */

typedef struct {
    const cuzk_curve *curve;
    cuzk_pool *pool;
    cuzk_msm_query *queries;
    const uint8_t *scalars;
    const uint32_t *base_index; /* of its scalars, or NULL: first_index on */
    size_t first_scalar, n;     /* of all */
    uint64_t first_index;       /* the base index that entries count from */

    /* set when its scalars have been looked at */
    cuzk_msm_windows windows;
    cuzk_msm_layout at;
    uint8_t *ws;
    cuzk_thread_ws *threads;
    const cuzk_sum_kernel **kernels; /* of each query; NULL: takes no part in this tile */
    const uint32_t *index; /* base index - first_index of each digit; NULL for 0 … n_digits-1 */
    size_t n_digits;

    /* the windows in work */
    unsigned first_window, n_group;
    uint32_t starts[CUZK_MSM_LENGTHS]; /* position of each window's first entry */
    size_t n_entries, n_tasks;
    /* the query in work */
    const cuzk_sum_kernel *kernel;
    const void *bases;
    size_t first_task; /* of the loop in work */
} tile;

static uint32_t *ws_u32(const tile *t, size_t offset)
{
    return (uint32_t *)(void *)(t->ws + offset);
}

static const void *tile_bases(const tile *t, const cuzk_msm_query *query)
{
    size_t size = t->curve->g[query->group].affine_bytes;
    return (const char *)query->bases + (t->first_index - query->first) * size;
}

/* ---- a few scalars ---- */

/* Few enough that no window pays. */
static bool is_few(const cuzk_msm_params *params, size_t n)
{
    return n <= CUZK_MSM_FEW && params->window_bits == 0;
}

/* Add the sum over the n ≤ CUZK_MSM_FEW scalars listed (NULL: the first n) to query->sum. */
static void add_few(const tile *t, const uint32_t *list, size_t n, cuzk_msm_query *query)
{
    const cuzk_group *g = &t->curve->g[query->group];
    const char *bases = (const char *)tile_bases(t, query);
    char points[CUZK_MSM_FEW * sizeof(cuzk_affine)];
    uint8_t scalars[CUZK_MSM_FEW][32];
    cuzk_jac sum;
    for (size_t i = 0; i < n; i++) {
        size_t at = list != NULL ? list[i] : i;
        uint64_t base = t->base_index != NULL ? t->base_index[at] - t->first_index : at;
        memcpy(points + i * g->affine_bytes, bases + base * g->affine_bytes, g->affine_bytes);
        memcpy(scalars[i], t->scalars + 32 * at, sizeof scalars[i]);
    }
    g->mul_sum(&sum, points, scalars, n);
    cuzk_wipe(scalars, sizeof scalars);
    g->add(&query->sum, &query->sum, &sum);
}

/* The same for all queries that have the tile's bases. */
static void add_few_to_all(const tile *t, const uint32_t *list, size_t n, cuzk_msm_params *params)
{
    for (size_t q = 0; q < params->n_queries; q++) {
        if (params->queries[q].first <= t->first_index) {
            add_few(t, list, n, &params->queries[q]);
        }
    }
}

/* ---- sort ---- */

static void sort_task(void *ctx, size_t task, unsigned thread)
{
    (void)thread;
    const tile *t = ctx;
    size_t n_buckets = (size_t)1 << (t->at.bits - 1), window = t->first_window + task;
    const int16_t *digits = (const int16_t *)(const void *)(t->ws + t->at.digits);
    cuzk_msm_sort_window(digits + window * t->at.pitch, t->index, t->n_digits, n_buckets,
                         ws_u32(t, t->at.entries), ws_u32(t, t->at.bounds) + task * n_buckets,
                         t->starts[task]);
}

static void sort_group(tile *t)
{
    const uint32_t *nonzero = ws_u32(t, t->at.nonzero);
    uint32_t *bounds = ws_u32(t, t->at.bounds), start = 0;
    for (unsigned i = 0; i < t->n_group; i++) {
        t->starts[i] = start;
        start += nonzero[t->first_window + i];
    }
    t->n_entries = start;
    bounds[0] = 0;
    cuzk_pool_for(t->pool, t->n_group, sort_task, t);
    uint8_t *full = t->ws + t->at.full;
    size_t n = (size_t)t->n_group << (t->at.bits - 1);
    for (size_t s = 0; s < n; s++) {
        full[s] = bounds[s + 1] != bounds[s];
    }
}

/* ---- sums of the buckets ---- */

/* The segment that holds position `at` (< n_entries): bounds[s] ≤ at < bounds[s+1]. */
static size_t find_segment(const tile *t, size_t at)
{
    const uint32_t *bounds = ws_u32(t, t->at.bounds);
    size_t low = 0, high = (size_t)t->n_group << (t->at.bits - 1);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (bounds[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Move the beginnings of tasks to the end of the segment that they fall into, unless that is a very
 * long one. */
static void place_tasks(tile *t)
{
    const uint32_t *bounds = ws_u32(t, t->at.bounds);
    uint32_t *begins = ws_u32(t, t->at.begins);
    t->n_tasks = cuzk_msm_tasks(t->n_entries, cuzk_pool_threads(t->pool), begins);
    for (size_t task = 1; task < t->n_tasks; task++) {
        size_t s = find_segment(t, begins[task]);
        if (bounds[s] != begins[task] && bounds[s + 1] - bounds[s] <= CUZK_MSM_TASK_MIN / 2) {
            begins[task] = bounds[s + 1];
        }
    }
}

/* Sum the entries of a task into their buckets. Where it ends inside of a segment, the sum of that
 * part goes to a slot of the task's own behind the buckets, named in `tails`. */
static void tree_task(void *ctx, size_t task_in_loop, unsigned thread)
{
    const tile *t = ctx;
    size_t task = t->first_task + task_in_loop;
    const uint32_t *entries = ws_u32(t, t->at.entries), *bounds = ws_u32(t, t->at.bounds);
    char *buckets = (char *)t->ws + t->at.buckets;
    size_t point = t->kernel->point_bytes, n_buckets = (size_t)t->n_group << (t->at.bits - 1);
    void *kernel_ws = t->threads[thread].kernel;
    uint32_t begin = ws_u32(t, t->at.begins)[task], end = ws_u32(t, t->at.begins)[task + 1];
    uint32_t *tail = ws_u32(t, t->at.tails) + task;
    *tail = UINT32_MAX;
    if (begin == end) {
        return;
    }
    size_t first = find_segment(t, begin), last = find_segment(t, end - 1);
    if (begin != bounds[first] && end >= bounds[first + 1]) {
        uint32_t head[2] = {begin, bounds[first + 1]};
        t->kernel->segment_sums(buckets + first * point, t->bases, false, entries, head, 1,
                                kernel_ws);
        begin = head[1];
        first++;
    }
    if (end != bounds[last + 1]) {
        uint32_t part[2] = {begin > bounds[last] ? begin : bounds[last], end};
        t->kernel->segment_sums(buckets + (n_buckets + task) * point, t->bases, false, entries,
                                part, 1, kernel_ws);
        *tail = (uint32_t)last;
    } else {
        last++;
    }
    if (first < last) {
        t->kernel->segment_sums(buckets + first * point, t->bases, false, entries, bounds + first,
                                last - first, kernel_ws);
    }
}

/* Add the parts of segments that several tasks worked on: the last task left its part in the
 * bucket, the others behind the buckets. */
static void join_tails(tile *t)
{
    const uint32_t *tails = ws_u32(t, t->at.tails);
    char *buckets = (char *)t->ws + t->at.buckets, *joined = (char *)t->ws + t->at.joined;
    size_t point = t->kernel->point_bytes, n_buckets = (size_t)t->n_group << (t->at.bits - 1);
    uint32_t *entries = t->threads[0].entries;
    for (size_t task = 0; task < t->n_tasks;) {
        uint32_t segment = tails[task], n = 0;
        if (segment == UINT32_MAX) {
            task++;
            continue;
        }
        entries[n++] = segment << 1;
        for (; task < t->n_tasks && tails[task] == segment && n < CUZK_WEIGHTED_ENTRIES; task++) {
            entries[n++] = (uint32_t)(n_buckets + task) << 1;
        }
        uint32_t bounds[2] = {0, n};
        t->kernel->segment_sums(joined, buckets, true, entries, bounds, 1, t->threads[0].kernel);
        memcpy(buckets + segment * point, joined, point);
    }
}

/* Query q's tasks up to `done` are through, in the windows in work: the caller may let others in,
 * or end it. */
static cuzk_status report_tasks(const tile *t, const cuzk_msm_params *params, size_t q, size_t done,
                                cuzk_error *err)
{
    /* of the tile: windows and queries, which take about as long each, and a query's tasks */
    uint64_t all = (uint64_t)t->at.n_windows * params->n_queries * t->n_tasks;
    uint64_t before = (uint64_t)t->first_window * params->n_queries * t->n_tasks;
    uint64_t through = before + t->n_group * (q * t->n_tasks + done);
    return cuzk_report_progress(params->reporter, "sums", t->first_scalar * all + t->n * through,
                                params->n * all, err);
}

/* Sums of all buckets of query q, in loops that are short. */
static cuzk_status sum_buckets(tile *t, const cuzk_msm_params *params, size_t q, cuzk_error *err)
{
    size_t most = (size_t)LOOP_TASKS_PER_THREAD * cuzk_pool_threads(t->pool), n;
    for (t->first_task = 0; t->first_task < t->n_tasks; t->first_task += n) {
        n = t->n_tasks - t->first_task;
        n = n < most ? n : most;
        cuzk_pool_for(t->pool, n, tree_task, t);
        CUZK_TRY(report_tasks(t, params, q, t->first_task + n, err));
    }
    join_tails(t);
    return CUZK_OK;
}

/* ---- reduction ---- */

/* Problems of one level of a query, from a slot of its area on. */
static cuzk_weighted level_at(const tile *t, size_t query, size_t slot, size_t n_problems,
                              unsigned k)
{
    size_t point = t->kernels[query]->point_bytes;
    uint8_t *points = t->ws + t->at.sums + query * t->at.sums_bytes;
    uint8_t *full = t->ws + t->at.sums_full + query * t->at.sums_full_bytes;
    return (cuzk_weighted){points + slot * point, full + slot, n_problems, k};
}

/* First split of the buckets in work. */
static void reduce_group(const tile *t, size_t query)
{
    unsigned k = cuzk_weighted_next(t->at.bits - 1);
    cuzk_weighted in = {t->ws + t->at.buckets, t->ws + t->at.full, t->n_group, t->at.bits - 1};
    size_t problem = 2 * (size_t)t->first_window;
    cuzk_weighted out = level_at(t, query, problem << k, 2 * (size_t)t->n_group, k);
    cuzk_weighted_split(t->kernels[query], &in, &out, t->threads, t->pool);
}

/* The level after `level`, which begins behind it. */
static cuzk_weighted level_after(const tile *t, size_t query, const cuzk_weighted *level,
                                 size_t *slot)
{
    *slot += level->n_problems << level->k;
    return level_at(t, query, *slot, 2 * level->n_problems, cuzk_weighted_next(level->k));
}

static cuzk_weighted first_level(const tile *t, size_t query)
{
    return level_at(t, query, 0, 2 * (size_t)t->at.n_windows, cuzk_weighted_next(t->at.bits - 1));
}

/* The other splits, until every problem has k = 1. */
static void reduce_all(const tile *t, size_t query)
{
    size_t slot = 0;
    cuzk_weighted level = first_level(t, query);
    while (level.k > 1) {
        cuzk_weighted next = level_after(t, query, &level, &slot);
        cuzk_weighted_split(t->kernels[query], &level, &next, t->threads, t->pool);
        level = next;
    }
}

/* query->sum += the sum of all windows, by doublings from the highest bit. */
static void finish_task(void *ctx, size_t q, unsigned thread)
{
    (void)thread;
    const tile *t = ctx;
    if (t->kernels[q] == NULL) {
        return;
    }
    const cuzk_group *g = &t->curve->g[t->queries[q].group];
    unsigned low[8], levels = 1; /* what a row problem of each level is shifted by */
    size_t slot = 0;
    cuzk_weighted last = first_level(t, q);
    low[0] = t->at.bits - 1 - last.k;
    while (last.k > 1) {
        low[levels++] = last.k - cuzk_weighted_next(last.k);
        last = level_after(t, q, &last, &slot);
    }
    size_t n_slots = 2 * last.n_problems;
    uint8_t *points = t->ws + t->at.finals + q * t->at.finals_bytes;
    t->kernels[q]->to_affine(points, last.points, n_slots);
    uint32_t at[CUZK_MSM_LENGTHS + CUZK_MSM_WINDOW_MAX]; /* slot with that weight, plus 1 */
    memset(at, 0, sizeof at);
    for (size_t s = 0; s < n_slots; s++) {
        if (last.full[s]) {
            size_t path = s >> 1;
            unsigned bit = (unsigned)(path >> levels) * t->at.bits + (s & 1);
            for (unsigned l = 0; l < levels; l++) {
                bit += (path >> (levels - 1 - l) & 1) != 0 ? low[l] : 0;
            }
            CUZK_ASSERT(at[bit] == 0);
            at[bit] = (uint32_t)s + 1;
        }
    }
    cuzk_jac sum;
    g->set_infinity(&sum);
    for (size_t bit = sizeof at / sizeof *at; bit-- > 0;) {
        if (!g->is_infinity(&sum)) {
            g->dbl(&sum, &sum);
        }
        if (at[bit] != 0) {
            g->add_affine(&sum, &sum, points + (at[bit] - 1) * g->affine_bytes);
        }
    }
    g->add(&t->queries[q].sum, &t->queries[q].sum, &sum);
}

/* ---- tiles ---- */

static void set_threads(tile *t)
{
    t->threads = (cuzk_thread_ws *)(void *)(t->ws + t->at.threads);
    uint8_t *next = t->ws + t->at.thread_ws;
    for (unsigned i = 0; i < cuzk_pool_threads(t->pool); i++) {
        t->threads[i].kernel = next;
        next += (t->at.kernel_ws + 63) / 64 * 64;
        t->threads[i].entries = (uint32_t *)(void *)next;
        next += (CUZK_WEIGHTED_ENTRIES * sizeof(uint32_t) + 63) / 64 * 64;
        t->threads[i].bounds = (uint32_t *)(void *)next;
        next += ((CUZK_WEIGHTED_SEGMENTS + 1) * sizeof(uint32_t) + 63) / 64 * 64;
    }
}

/* Digits of the tile's scalars and the base index of each. */
static void make_digits(tile *t)
{
    uint32_t *index = ws_u32(t, t->at.index);
    bool listed = t->n_digits != t->n;
    if (listed) {
        (void)cuzk_msm_list_nonzero(t->scalars, t->n, index, ws_u32(t, t->at.counters), t->pool);
    }
    cuzk_msm_digits(&t->windows, t->scalars, listed ? index : NULL, t->n_digits,
                    (int16_t *)(void *)(t->ws + t->at.digits), t->at.pitch, t->at.n_windows,
                    ws_u32(t, t->at.nonzero), ws_u32(t, t->at.counters), t->pool);
    if (t->base_index != NULL) {
        for (size_t i = 0; i < t->n_digits; i++) {
            index[i] = (uint32_t)(t->base_index[listed ? index[i] : i] - t->first_index);
        }
    }
    t->index = listed || t->base_index != NULL ? index : NULL;
}

/* Add the tile's sum to the queries that have its bases. */
static cuzk_status add_tile(tile *t, cuzk_msm_params *params, size_t ws_bytes, cuzk_error *err)
{
    if (is_few(params, t->n)) {
        add_few_to_all(t, NULL, t->n, params);
        return CUZK_OK;
    }
    uint32_t lengths[CUZK_MSM_LENGTHS];
    cuzk_msm_windows_init(&t->windows, t->curve, CUZK_MSM_WINDOW_MAX);
    cuzk_msm_scan(&t->windows, t->scalars, t->n, lengths, (uint32_t *)(void *)t->ws, t->pool);
    size_t n_nonzero = t->n - lengths[0];
    if (is_few(params, n_nonzero)) {
        uint32_t list[CUZK_MSM_FEW];
        (void)cuzk_msm_list_nonzero(t->scalars, t->n, list, (uint32_t *)(void *)t->ws, t->pool);
        add_few_to_all(t, list, n_nonzero, params);
        return CUZK_OK;
    }
    t->n_digits = n_nonzero < t->n - t->n / 8 ? n_nonzero : t->n;
    CUZK_FAIL_IF(!cuzk_msm_plan(&t->at, t->curve, params->queries, params->n_queries, lengths,
                                t->n_digits, ws_bytes, params->window_bits,
                                cuzk_pool_threads(t->pool)),
                 err, CUZK_E_INTERNAL, "summing %zu bases: no window fits %zu bytes of workspace",
                 t->n, ws_bytes);
    cuzk_msm_windows_init(&t->windows, t->curve, t->at.bits);
    set_threads(t);
    t->kernels = (const cuzk_sum_kernel **)(void *)(t->ws + t->at.kernels);
    for (size_t q = 0; q < params->n_queries; q++) {
        bool takes_part = params->queries[q].first <= t->first_index;
        t->kernels[q] =
            takes_part ? cuzk_sum_kernel_get(t->curve->id, params->queries[q].group) : NULL;
    }
    make_digits(t);
    for (t->first_window = 0; t->first_window < t->at.n_windows; t->first_window += t->n_group) {
        unsigned left = t->at.n_windows - t->first_window;
        t->n_group = left < t->at.group ? left : t->at.group;
        sort_group(t);
        place_tasks(t);
        for (size_t q = 0; q < params->n_queries; q++) {
            if (t->kernels[q] != NULL) {
                t->kernel = t->kernels[q];
                t->bases = tile_bases(t, &params->queries[q]);
                CUZK_TRY(sum_buckets(t, params, q, err));
                reduce_group(t, q);
            }
        }
    }
    for (size_t q = 0; q < params->n_queries; q++) {
        if (t->kernels[q] != NULL) {
            reduce_all(t, q);
        }
    }
    cuzk_pool_for(t->pool, params->n_queries, finish_task, t);
    return CUZK_OK;
}

static uint64_t index_at(const cuzk_msm_params *params, size_t i)
{
    return params->base_index != NULL ? params->base_index[i] : i;
}

/* The end of the tile that begins with scalar i: all its scalars belong to the same queries and
 * their base indices lie within 31 bits. */
static size_t tile_end(const cuzk_msm_params *params, size_t i)
{
    uint64_t first = index_at(params, i), limit = first + ((uint64_t)1 << 31);
    for (size_t q = 0; q < params->n_queries; q++) {
        uint64_t from = params->queries[q].first;
        limit = from > first && from < limit ? from : limit;
    }
    size_t low = i + 1, high = params->n - i < CUZK_MSM_TILE ? params->n : i + CUZK_MSM_TILE;
    while (low < high) { /* the first scalar at or beyond the limit */
        size_t middle = low + (high - low) / 2;
        if (index_at(params, middle) < limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The layout for n scalars of any size; all zero where nothing is sorted. */
static cuzk_msm_layout plan_for(const cuzk_curve *curve, const cuzk_msm_params *params, size_t n,
                                const cuzk_pool *pool)
{
    cuzk_msm_layout layout = {0};
    if (n == 0 || is_few(params, n)) {
        return layout;
    }
    uint32_t lengths[CUZK_MSM_LENGTHS] = {0};
    n = n < CUZK_MSM_TILE ? n : CUZK_MSM_TILE;
    cuzk_msm_windows w;
    cuzk_msm_windows_init(&w, curve, CUZK_MSM_WINDOW_MAX);
    lengths[w.scalar_bits] = (uint32_t)n;
    (void)cuzk_msm_plan(&layout, curve, params->queries, params->n_queries, lengths, n, SIZE_MAX,
                        params->window_bits, cuzk_pool_threads(pool));
    return layout;
}

size_t cuzk_msm_workspace_bytes(const cuzk_curve *curve, const cuzk_msm_params *params,
                                const cuzk_pool *pool)
{
    return plan_for(curve, params, params->n, pool).total;
}

/* Windows get larger with n, and smaller in between, and the windows of a group fewer: the need
 * falls by up to a third at such places. Between them it grows at most as n does, so that steps of
 * a sixteenth and a sixteenth more miss nothing. */
size_t cuzk_msm_workspace_bytes_max(const cuzk_curve *curve, const cuzk_msm_params *params,
                                    const cuzk_pool *pool)
{
    size_t n = params->n < CUZK_MSM_TILE ? params->n : CUZK_MSM_TILE, fewer = 0;
    size_t most = plan_for(curve, params, n, pool).total;
    while (n > 0) {
        n -= n / 16 + 1;
        size_t total = plan_for(curve, params, n, pool).total;
        fewer = total > fewer ? total : fewer;
    }
    fewer += fewer / 16;
    return most > fewer ? most : fewer;
}

cuzk_status cuzk_msm(const cuzk_curve *curve, cuzk_msm_params *params, void *ws, size_t ws_bytes,
                     cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(params->window_bits != 0 && (params->window_bits < CUZK_MSM_WINDOW_MIN ||
                                              params->window_bits > CUZK_MSM_WINDOW_MAX),
                 err, CUZK_E_ARGUMENT, "summing %zu bases: windows of %u bits, expected %d … %d",
                 params->n, params->window_bits, CUZK_MSM_WINDOW_MIN, CUZK_MSM_WINDOW_MAX);
    size_t needed = cuzk_msm_workspace_bytes(curve, params, pool);
    CUZK_FAIL_IF(ws_bytes < needed, err, CUZK_E_SHORT_BUFFER,
                 "summing %zu bases: workspace of %zu bytes, expected %zu", params->n, ws_bytes,
                 needed);
    for (size_t q = 0; q < params->n_queries; q++) {
        curve->g[params->queries[q].group].set_infinity(&params->queries[q].sum);
    }
    if (params->n_queries == 0) {
        return CUZK_OK;
    }
    for (size_t i = 0; i < params->n;) {
        size_t end = tile_end(params, i);
        CUZK_TRY(cuzk_report_progress(params->reporter, "sums", i, params->n, err));
        tile t = {.curve = curve,
                  .pool = pool,
                  .queries = params->queries,
                  .first_scalar = i,
                  .n = end - i,
                  .ws = ws};
        t.scalars = (const uint8_t *)params->scalars + 32 * i;
        t.base_index = params->base_index != NULL ? params->base_index + i : NULL;
        t.first_index = index_at(params, i);
        bool wanted = false;
        for (size_t q = 0; q < params->n_queries; q++) {
            wanted = wanted || params->queries[q].first <= t.first_index;
        }
        if (wanted) {
            CUZK_TRY(add_tile(&t, params, ws_bytes, err));
        }
        i = end;
    }
    return CUZK_OK;
}
