/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cost model and workspace layout of cuzk_msm.
 *
 * Costs are counted in additions of the tree: one a nonzero digit (with its part of the sort), two
 * a used bucket for the first split of the reduction, six 2^(c/2) a window for the later ones; and
 * a little for every bucket, in use or not. */
#include "msm/msm_plan.h"

static const double DIGIT_COST = 1.02, SPLIT_COST = 1.9, SLOT_COST = 0.07, WINDOW_COST = 100;

/* Workspace that the windows of a group may take: more windows at once give larger batches in the
 * first split and fewer barriers between threads. */
static const size_t group_bytes = (size_t)12 << 20;

static size_t max_point_bytes(const cuzk_curve *curve, const cuzk_msm_query *queries,
                              size_t n_queries, size_t *kernel_ws)
{
    size_t point = 0;
    *kernel_ws = 0;
    for (size_t q = 0; q < n_queries; q++) {
        const cuzk_sum_kernel *k = cuzk_sum_kernel_get(curve->id, queries[q].group);
        point = k->point_bytes > point ? k->point_bytes : point;
        *kernel_ws = k->workspace_bytes > *kernel_ws ? k->workspace_bytes : *kernel_ws;
    }
    return point;
}

static size_t place(size_t *total, size_t n_bytes)
{
    size_t at = *total;
    *total += (n_bytes + 63) / 64 * 64;
    return at;
}

size_t cuzk_msm_tasks(size_t n, unsigned n_threads, uint32_t *begins)
{
    size_t n_tasks = 0, at = 0;
    while (at < n) {
        size_t size = (n - at) / (2 * (size_t)n_threads);
        size = size < CUZK_MSM_TASK_MIN ? CUZK_MSM_TASK_MIN : size;
        size = size < CUZK_MSM_TASK_MAX ? size : CUZK_MSM_TASK_MAX;
        if (n_threads == 1 || size > n - at) {
            size = n - at;
        }
        if (begins != NULL) {
            begins[n_tasks] = (uint32_t)at;
        }
        n_tasks++;
        at += size;
    }
    if (begins != NULL) {
        begins[n_tasks] = (uint32_t)n;
    }
    return n_tasks;
}

/* Everything but `group`, which is given. */
static void lay_out(cuzk_msm_layout *l, size_t n, size_t n_queries, size_t point_bytes,
                    size_t kernel_ws, unsigned n_threads)
{
    size_t buckets = (size_t)l->group << (l->bits - 1), total = 0;
    l->pitch = (n + 2047) / 2048 * 2048 + 96; /* the windows' streams fall into different sets */
    l->digits = place(&total, l->n_windows * l->pitch * sizeof(int16_t));
    l->index = place(&total, n * sizeof(uint32_t));
    l->nonzero = place(&total, l->n_windows * sizeof(uint32_t));
    size_t counters = (size_t)n_threads * CUZK_MSM_LENGTHS, ranges = CUZK_MSM_TILE / CUZK_MSM_RANGE;
    l->counters = place(&total, (counters > ranges ? counters : ranges) * sizeof(uint32_t));
    l->entries = place(&total, l->group * n * sizeof(uint32_t));
    l->bounds = place(&total, (buckets + 1) * sizeof(uint32_t));
    l->full = place(&total, buckets);
    l->n_tasks = cuzk_msm_tasks(l->group * n, n_threads, NULL);
    l->buckets = place(&total, (buckets + l->n_tasks) * point_bytes);
    l->begins = place(&total, (l->n_tasks + 1) * sizeof(uint32_t));
    l->tails = place(&total, l->n_tasks * sizeof(uint32_t));
    l->joined = place(&total, point_bytes);
    l->kernel_ws = kernel_ws;
    l->threads = place(&total, n_threads * sizeof(cuzk_thread_ws));
    l->thread_ws = total;
    for (unsigned t = 0; t < n_threads; t++) {
        place(&total, kernel_ws);
        place(&total, CUZK_WEIGHTED_ENTRIES * sizeof(uint32_t));
        place(&total, (CUZK_WEIGHTED_SEGMENTS + 1) * sizeof(uint32_t));
    }
    size_t slots = 0, problems = l->n_windows;
    for (unsigned k = l->bits - 1;;) {
        k = cuzk_weighted_next(k);
        problems *= 2;
        slots += problems << k;
        if (k == 1) {
            break;
        }
    }
    l->sums_bytes = (slots * point_bytes + 63) / 64 * 64;
    l->sums = place(&total, n_queries * l->sums_bytes);
    l->sums_full_bytes = slots;
    l->sums_full = place(&total, n_queries * slots);
    l->finals_bytes = problems * 2 * sizeof(cuzk_affine);
    l->finals = place(&total, n_queries * l->finals_bytes);
    l->kernels = place(&total, n_queries * sizeof(const cuzk_sum_kernel *));
    l->total = total;
}

/* Additions of a tile. lengths: as counted by cuzk_msm_scan. */
static double cost(const cuzk_msm_layout *l, const uint32_t *lengths)
{
    double total = 0, longer = 0;
    double n_buckets = (double)((size_t)1 << (l->bits - 1));
    double second_split = 6.0 * (double)((size_t)1 << (l->bits / 2));
    unsigned length = CUZK_MSM_LENGTHS;
    for (unsigned w = l->n_windows; w-- > 0;) {
        while (length > w * l->bits + 1) { /* shorter ones have no digit here, nearly */
            longer += lengths[--length];
        }
        total += DIGIT_COST * longer + SPLIT_COST * (longer < n_buckets ? longer : n_buckets) +
                 SLOT_COST * n_buckets + second_split + WINDOW_COST;
    }
    return total;
}

bool cuzk_msm_plan(cuzk_msm_layout *out, const cuzk_curve *curve, const cuzk_msm_query *queries,
                   size_t n_queries, const uint32_t *lengths, size_t n, size_t max_bytes,
                   unsigned bits, unsigned n_threads)
{
    size_t kernel_ws, point_bytes = max_point_bytes(curve, queries, n_queries, &kernel_ws);
    unsigned longest = CUZK_MSM_LENGTHS - 1;
    while (longest > 0 && lengths[longest] == 0) {
        longest--;
    }
    bool found = false;
    double best = 0;
    for (unsigned c = CUZK_MSM_WINDOW_MIN; c <= CUZK_MSM_WINDOW_MAX; c++) {
        if (bits != 0 && c != bits) {
            continue;
        }
        cuzk_msm_windows w;
        cuzk_msm_windows_init(&w, curve, c);
        cuzk_msm_layout l = {.bits = c, .n_windows = (longest + 2 + c - 1) / c};
        l.n_windows = l.n_windows < w.n_windows ? l.n_windows : w.n_windows;
        double this_cost = cost(&l, lengths);
        if (found && this_cost >= best) {
            continue;
        }
        size_t per_window = n * sizeof(uint32_t) + (point_bytes << (c - 1));
        size_t group = group_bytes / per_window;
        group = group < n_threads ? n_threads : group / n_threads * n_threads;
        group = group < l.n_windows ? group : l.n_windows;
        do {
            /* groups of about equal size */
            size_t n_groups = (l.n_windows + group - 1) / group;
            l.group = (unsigned)((l.n_windows + n_groups - 1) / n_groups);
            lay_out(&l, n, n_queries, point_bytes, kernel_ws, n_threads);
        } while (l.total > max_bytes && --group > 0);
        if (l.total <= max_bytes) {
            *out = l;
            best = this_cost;
            found = true;
        }
    }
    return found;
}
