/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of the bases that a bitmap selects.
 *
 * A tree: sixteen consecutive selected bases are one segment of the kernel, sixteen results again,
 * and so on. A task takes a range of bits down to a few points; the points of all tasks are then
 * summed in the same way. Loops over tasks are short, so that the caller is asked between them. */
#include "base/bitmap.h"
#include "msm/msm.h"
#include "msm/sum_kernel.h"

#include <string.h>

enum {
    SEGMENT = 16,
    TASK_MIN = 2048, /* bits */
    TASK_MAX = 32768,
    TASKS_PER_THREAD = 8,
    LOOP_TASKS_PER_THREAD = 16, /* of a loop, at most */
    FEW = 8                     /* bits that are added one by one */
};

/* Workspace of a thread. */
typedef struct {
    uint32_t *entries; /* bit_sum.most */
    uint32_t *bounds;  /* level_1 + 1 */
    uint8_t *points;   /* levels */
    void *kernel;
} thread_ws;

typedef struct {
    const uint64_t *bitmap;
    size_t n, n_tasks, task_bits, task_points;
    size_t most;                      /* points that a thread sums at once, at most TASK_MAX */
    size_t point_bytes, kernel_bytes; /* the larger of both groups */
    size_t threads, points, counts;   /* offsets into the workspace */
    size_t total;
    uint8_t *ws;
    /* the query in work */
    const cuzk_sum_kernel *kernel;
    const void *bases;
    size_t first, affine_bytes;
    size_t first_task; /* of the loop in work */
} bit_sum;

static size_t round_64(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* Points after a first level. */
static size_t level_1(const bit_sum *b)
{
    return b->most / SEGMENT;
}

/* Points of all levels below the bases, each rounded up to 64 bytes. */
static size_t levels(const bit_sum *b)
{
    return level_1(b) + 2 * level_1(b) / SEGMENT;
}

static size_t thread_bytes(const bit_sum *b)
{
    return round_64(b->most * sizeof(uint32_t)) + round_64((level_1(b) + 1) * sizeof(uint32_t)) +
           round_64(levels(b) * b->point_bytes) + round_64(b->kernel_bytes);
}

static void lay_out(bit_sum *b, const cuzk_curve *curve, size_t n, unsigned n_threads)
{
    memset(b, 0, sizeof *b);
    for (int g = 0; g < 2; g++) {
        const cuzk_sum_kernel *k = cuzk_sum_kernel_get(curve->id, (cuzk_group_id)g);
        b->point_bytes = k->point_bytes > b->point_bytes ? k->point_bytes : b->point_bytes;
        b->kernel_bytes =
            k->workspace_bytes > b->kernel_bytes ? k->workspace_bytes : b->kernel_bytes;
    }
    size_t bits = n / ((size_t)TASKS_PER_THREAD * n_threads) / TASK_MIN * TASK_MIN;
    bits = bits < TASK_MIN ? TASK_MIN : bits;
    b->n = n;
    b->task_bits = bits < TASK_MAX ? bits : TASK_MAX;
    b->task_points = b->task_bits / (SEGMENT * SEGMENT);
    b->n_tasks = (n + b->task_bits - 1) / b->task_bits;
    if (n <= FEW) {
        return; /* added one by one */
    }
    /* bounds that grow with n, since what is reserved for more bits must do for fewer */
    size_t points = (n + b->task_bits) / (SEGMENT * SEGMENT); /* ≥ n_tasks · task_points */
    size_t joined = (points + TASK_MIN - 1) / TASK_MIN * TASK_MIN;
    joined = joined < TASK_MAX ? joined : TASK_MAX;
    b->most = joined > b->task_bits ? joined : b->task_bits;
    b->threads = 0;
    b->points = (b->n_tasks == 1 ? 1 : n_threads) * thread_bytes(b);
    b->counts = b->points + round_64(points * b->point_bytes);
    b->total = b->counts + round_64((n / TASK_MIN + 1) * sizeof(uint32_t));
}

static thread_ws thread_of(const bit_sum *b, unsigned thread)
{
    uint8_t *p = b->ws + b->threads + thread * thread_bytes(b);
    thread_ws t;
    t.entries = (uint32_t *)(void *)p;
    p += round_64(b->most * sizeof(uint32_t));
    t.bounds = (uint32_t *)(void *)p;
    p += round_64((level_1(b) + 1) * sizeof(uint32_t));
    t.points = p;
    t.kernel = p + round_64(levels(b) * b->point_bytes);
    return t;
}

/* Sums of the n entries in ws, SEGMENT at a time, to `out`; the entries become 0, 1, … for the next
 * level. Returns the number of sums. */
static size_t sum_level(const bit_sum *b, const thread_ws *ws, void *out, const void *bases,
                        bool kernel_points, size_t n)
{
    size_t n_segments = (n + SEGMENT - 1) / SEGMENT;
    for (size_t s = 0; s < n_segments; s++) {
        ws->bounds[s] = (uint32_t)(s * SEGMENT);
    }
    ws->bounds[n_segments] = (uint32_t)n;
    b->kernel->segment_sums(out, bases, kernel_points, ws->entries, ws->bounds, n_segments,
                            ws->kernel);
    for (size_t i = 0; i < n_segments; i++) {
        ws->entries[i] = (uint32_t)i << 1;
    }
    return n_segments;
}

/* Entries of the set bits from `first` up to `end`, counted from `first`. */
static size_t list_bits(const uint64_t *bitmap, size_t first, size_t end, uint32_t *entries)
{
    size_t n = 0;
    for (size_t i = first / 64 * 64; i < end; i += 64) {
        uint64_t word = bitmap[i / 64];
        word &= i < first ? ~UINT64_C(0) << (first - i) : ~UINT64_C(0);
        for (; word != 0; word &= word - 1) {
            entries[n++] = (uint32_t)(i + (size_t)__builtin_ctzll(word) - first) << 1;
        }
    }
    return n;
}

/* Add the selected bases one by one, if they are few and close together; false when they are not.
 */
static bool add_few(const bit_sum *b, const cuzk_group *g, cuzk_jac *sum)
{
    uint32_t entries[TASK_MIN];
    size_t n = b->n <= TASK_MIN ? list_bits(b->bitmap, b->first, b->n, entries) : SIZE_MAX;
    if (n > FEW) {
        return false;
    }
    g->set_infinity(sum);
    for (size_t i = 0; i < n; i++) {
        g->add_affine(sum, sum, (const char *)b->bases + (entries[i] >> 1) * b->affine_bytes);
    }
    return true;
}

static void sum_task(void *ctx, size_t task_in_loop, unsigned thread)
{
    const bit_sum *b = ctx;
    size_t task = b->first_task + task_in_loop;
    thread_ws ws = thread_of(b, thread);
    uint32_t *count = (uint32_t *)(void *)(b->ws + b->counts) + task;
    size_t first = task * b->task_bits;
    size_t end = b->n - first < b->task_bits ? b->n : first + b->task_bits;
    first = first < b->first ? b->first : first;
    if (first >= end) {
        *count = 0;
        return;
    }
    size_t n = list_bits(b->bitmap, first, end, ws.entries);
    const char *bases = (const char *)b->bases + (first - b->first) * b->affine_bytes;
    n = sum_level(b, &ws, ws.points, bases, false, n);
    uint8_t *out = b->ws + b->points + task * b->task_points * b->kernel->point_bytes;
    *count = (uint32_t)sum_level(b, &ws, out, ws.points, true, n);
}

/* Query q's tasks up to `done` are through. */
static cuzk_status report(const bit_sum *b, const cuzk_bit_sum_params *params, size_t q,
                          size_t done, cuzk_error *err)
{
    return cuzk_report_progress(params->reporter, "sums", q * b->n_tasks + done,
                                params->n_queries * b->n_tasks, err);
}

static cuzk_status run_tasks(bit_sum *b, const cuzk_bit_sum_params *params, size_t q,
                             cuzk_pool *pool, cuzk_error *err)
{
    size_t most = (size_t)LOOP_TASKS_PER_THREAD * cuzk_pool_threads(pool), n;
    for (b->first_task = 0; b->first_task < b->n_tasks; b->first_task += n) {
        n = b->n_tasks - b->first_task;
        n = n < most ? n : most;
        cuzk_pool_for(pool, n, sum_task, b);
        CUZK_TRY(report(b, params, q, b->first_task + n, err));
    }
    return CUZK_OK;
}

/* The sum of the points that the tasks left, as many at a time as a thread's buffers take. */
static cuzk_status join(const bit_sum *b, const cuzk_bit_sum_params *params, size_t q,
                        const cuzk_group *g, cuzk_error *err)
{
    cuzk_jac *sum = &params->queries[q].sum;
    const uint32_t *counts = (const uint32_t *)(const void *)(b->ws + b->counts);
    thread_ws ws = thread_of(b, 0);
    size_t point = b->kernel->point_bytes;
    g->set_infinity(sum);
    for (size_t task = 0; task < b->n_tasks;) {
        const uint8_t *from = b->ws + b->points + task * b->task_points * point;
        size_t n = 0;
        for (size_t slot = 0; task < b->n_tasks && n + b->task_points <= b->most; task++) {
            for (uint32_t i = 0; i < counts[task]; i++) {
                ws.entries[n++] = (uint32_t)(slot + i) << 1;
            }
            slot += b->task_points;
        }
        if (n == 0) {
            continue;
        }
        uint8_t *to = ws.points;
        do {
            n = sum_level(b, &ws, to, from, true, n);
            from = to;
            to += round_64(n * point);
        } while (n > 1);
        cuzk_affine part;
        b->kernel->to_affine(&part, from, 1);
        g->add_affine(sum, sum, &part);
        if (task < b->n_tasks) {
            CUZK_TRY(report(b, params, q, b->n_tasks, err));
        }
    }
    return CUZK_OK;
}

size_t cuzk_bit_sum_workspace_bytes(const cuzk_curve *curve, size_t n, size_t n_queries,
                                    const cuzk_pool *pool)
{
    bit_sum b;
    if (n == 0 || n_queries == 0) {
        return 0;
    }
    lay_out(&b, curve, n, cuzk_pool_threads(pool));
    return b.total;
}

cuzk_status cuzk_bit_sum(const cuzk_curve *curve, cuzk_bit_sum_params *params, void *ws,
                         size_t ws_bytes, cuzk_pool *pool, cuzk_error *err)
{
    bit_sum b;
    cuzk_msm_query *queries = params->queries;
    lay_out(&b, curve, params->n, cuzk_pool_threads(pool));
    CUZK_FAIL_IF(params->n != 0 && params->n_queries != 0 && ws_bytes < b.total, err,
                 CUZK_E_SHORT_BUFFER,
                 "summing bases selected by %zu bits: workspace of %zu bytes, expected %zu",
                 params->n, ws_bytes, b.total);
    b.ws = (uint8_t *)ws;
    b.bitmap = params->bitmap;
    for (size_t q = 0; q < params->n_queries; q++) {
        const cuzk_group *g = &curve->g[queries[q].group];
        if (queries[q].first >= params->n) {
            g->set_infinity(&queries[q].sum);
            continue;
        }
        b.kernel = cuzk_sum_kernel_get(curve->id, queries[q].group);
        b.bases = queries[q].bases;
        b.first = (size_t)queries[q].first;
        b.affine_bytes = g->affine_bytes;
        if (!add_few(&b, g, &queries[q].sum)) {
            CUZK_TRY(run_tasks(&b, params, q, pool, err));
            CUZK_TRY(join(&b, params, q, g, err));
        }
    }
    return CUZK_OK;
}
