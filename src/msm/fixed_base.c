/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Many multiples of one base: window tables of affine points, each multiple one segment of the sum
 * kernel with an entry for each nonzero digit.
 *
 * The table holds m·2^(c·w)·B for every window w and m = 1 … 2^(c-1) (digits are signed). It is
 * built by the kernel as well: the powers of two by doublings, then m = 2^k + i from the points for
 * 2^k and i. */
#include "base/pages.h"
#include "msm/msm_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 1024,                   /* scalars of a task */
    POWERS = CUZK_MSM_LENGTHS + 16, /* doublings of the base, at most */
    TABLE_BYTES_MIN = 8 << 20,      /* a table may have this size, or half of the products', … */
    TABLE_BYTES_MAX = 128 << 20     /* … but no more than this */
};

struct cuzk_fixed_base {
    const cuzk_curve *curve;
    const cuzk_group *group;
    const cuzk_sum_kernel *kernel;
    cuzk_msm_windows windows;
    size_t n_multiples; /* 2^(c-1): table slots of a window */
    size_t table_slots; /* of all windows; behind them 2^k·B for every k */
    size_t table_bytes;
    uint8_t *table;
};

/* One call of many products, or the making of the table. */
typedef struct {
    const cuzk_fixed_base *f;
    uint8_t *thread_ws;
    size_t thread_bytes;
    uint8_t *out;
    const cuzk_fr *scalars;
    size_t n;
} work;

/* Workspace of a thread. */
typedef struct {
    uint8_t *canonical; /* BATCH scalars */
    int16_t *digits;    /* n_windows · BATCH */
    uint32_t *counters; /* 2 · n_windows, asked for by cuzk_msm_digits */
    uint32_t *entries;  /* n_windows · BATCH, or what a window's table takes */
    uint32_t *bounds;   /* BATCH + 1, or as above */
    uint8_t *points;    /* BATCH */
    void *kernel;
} thread_ws;

static size_t take(size_t *total, size_t n_bytes)
{
    size_t at = *total;
    *total += (n_bytes + 63) / 64 * 64;
    return at;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns the bytes of a thread's workspace; fills *t when memory is given. */
static size_t thread_at(const cuzk_fixed_base *f, uint8_t *memory, thread_ws *t)
{
    size_t n_windows = f->windows.n_windows, total = 0;
    size_t canonical = take(&total, (size_t)BATCH * 32);
    size_t digits = take(&total, n_windows * BATCH * sizeof(int16_t));
    size_t counters = take(&total, 2 * n_windows * sizeof(uint32_t));
    size_t entries = take(&total, larger(n_windows * BATCH, f->n_multiples) * sizeof(uint32_t));
    size_t bounds = take(&total, (larger(BATCH, f->n_multiples) + 1) * sizeof(uint32_t));
    size_t points = take(&total, BATCH * f->kernel->point_bytes);
    size_t kernel = take(&total, f->kernel->workspace_bytes);
    if (memory != NULL) {
        t->canonical = memory + canonical;
        t->digits = (int16_t *)(void *)(memory + digits);
        t->counters = (uint32_t *)(void *)(memory + counters);
        t->entries = (uint32_t *)(void *)(memory + entries);
        t->bounds = (uint32_t *)(void *)(memory + bounds);
        t->points = memory + points;
        t->kernel = memory + kernel;
    }
    return total;
}

/* The window with the fewest additions for n scalars whose table is not too large. */
static void choose_window(cuzk_fixed_base *f, size_t n)
{
    double best = 0;
    size_t table_bytes_max = n * f->group->affine_bytes / 2;
    table_bytes_max = larger(table_bytes_max, TABLE_BYTES_MIN);
    table_bytes_max = table_bytes_max < TABLE_BYTES_MAX ? table_bytes_max : TABLE_BYTES_MAX;
    for (unsigned c = CUZK_MSM_WINDOW_MIN; c <= CUZK_MSM_WINDOW_MAX; c++) {
        cuzk_msm_windows w;
        cuzk_msm_windows_init(&w, f->curve, c);
        size_t multiples = (size_t)1 << (c - 1), slots = w.n_windows * multiples;
        double additions = (double)slots + (double)n * (w.n_windows - 1);
        if (slots * f->kernel->point_bytes <= table_bytes_max && (best == 0 || additions < best)) {
            best = additions;
            f->windows = w;
            f->n_multiples = multiples;
            f->table_slots = slots;
        }
    }
}

static cuzk_status begin(work *w, unsigned n_threads, cuzk_error *err)
{
    w->thread_bytes = thread_at(w->f, NULL, NULL);
    w->thread_ws = cuzk_pages_alloc(n_threads * w->thread_bytes);
    CUZK_FAIL_IF(w->thread_ws == NULL, err, CUZK_E_MEMORY,
                 "multiples of one base: out of memory for %u threads of %zu bytes", n_threads,
                 w->thread_bytes);
    return CUZK_OK;
}

static void end(work *w, unsigned n_threads)
{
    cuzk_pages_free(w->thread_ws, n_threads * w->thread_bytes);
}

/* ---- the table ---- */

/* Points 2^k·B behind the table. */
static cuzk_status make_powers(const work *w, const void *base, cuzk_error *err)
{
    const cuzk_fixed_base *f = w->f;
    size_t n = f->windows.n_windows * f->windows.bits;
    cuzk_jac *powers = malloc(n * sizeof *powers);
    uint8_t *packed = malloc(n * f->group->affine_bytes);
    if (powers == NULL || packed == NULL) {
        free(powers);
        free(packed);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "multiples of one base: out of memory");
    }
    thread_ws t;
    (void)thread_at(f, w->thread_ws, &t);
    f->group->from_affine(&powers[0], base);
    for (size_t k = 1; k < n; k++) {
        f->group->dbl(&powers[k], &powers[k - 1]);
    }
    f->group->batch_to_affine(packed, powers, n);
    for (size_t k = 0; k < n; k++) {
        t.entries[k] = (uint32_t)k << 1;
        t.bounds[k] = (uint32_t)k;
    }
    t.bounds[n] = (uint32_t)n;
    f->kernel->segment_sums(f->table + f->table_slots * f->kernel->point_bytes, packed, false,
                            t.entries, t.bounds, n, t.kernel);
    free(packed);
    free(powers);
    return CUZK_OK;
}

/* The multiples of one window: those with highest bit k from the smaller ones. */
static void table_task(void *ctx, size_t window, unsigned thread)
{
    const work *w = ctx;
    const cuzk_fixed_base *f = w->f;
    thread_ws t;
    (void)thread_at(f, w->thread_ws + thread * w->thread_bytes, &t);
    size_t slot = window * f->n_multiples; /* of multiple 1 */
    for (unsigned k = 0; (size_t)1 << k <= f->n_multiples; k++) {
        size_t first = (size_t)1 << k;
        size_t n = first < f->n_multiples ? first : 1, n_entries = 0;
        uint32_t power = (uint32_t)(f->table_slots + window * f->windows.bits + k) << 1;
        for (size_t i = 0; i < n; i++) {
            t.bounds[i] = (uint32_t)n_entries;
            t.entries[n_entries++] = power;
            if (i != 0) {
                t.entries[n_entries++] = (uint32_t)(slot + i - 1) << 1;
            }
        }
        t.bounds[n] = (uint32_t)n_entries;
        f->kernel->segment_sums(f->table + (slot + first - 1) * f->kernel->point_bytes, f->table,
                                true, t.entries, t.bounds, n, t.kernel);
    }
}

cuzk_status cuzk_fixed_base_create(cuzk_fixed_base **out, const cuzk_curve *curve,
                                   cuzk_group_id group, const void *base, size_t n, cuzk_pool *pool,
                                   cuzk_error *err)
{
    cuzk_fixed_base *f = calloc(1, sizeof *f);
    CUZK_FAIL_IF(f == NULL, err, CUZK_E_MEMORY, "multiples of one base: out of memory");
    cuzk_status status = CUZK_OK;
    work w = {.f = f};
    f->curve = curve;
    f->group = &curve->g[group];
    f->kernel = cuzk_sum_kernel_get(curve->id, group);
    choose_window(f, n);
    f->table_bytes = (f->table_slots + POWERS) * f->kernel->point_bytes;
    f->table = cuzk_pages_alloc(f->table_bytes);
    if (f->table == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY,
                           "multiples of one base: out of memory for a table of %zu points",
                           f->table_slots);
        goto out;
    }
    CUZK_TRY_OUT(status, begin(&w, cuzk_pool_threads(pool), err));
    CUZK_TRY_OUT(status, make_powers(&w, base, err));
    cuzk_pool_for(pool, f->windows.n_windows, table_task, &w);
    *out = f;
out:
    end(&w, cuzk_pool_threads(pool));
    if (status != CUZK_OK) {
        cuzk_fixed_base_destroy(f);
    }
    return status;
}

void cuzk_fixed_base_destroy(cuzk_fixed_base *table)
{
    if (table != NULL) {
        cuzk_pages_free(table->table, table->table_bytes);
        free(table);
    }
}

/* ---- the multiples ---- */

static void multiply_task(void *ctx, size_t task, unsigned thread)
{
    const work *w = ctx;
    const cuzk_fixed_base *f = w->f;
    thread_ws t;
    (void)thread_at(f, w->thread_ws + thread * w->thread_bytes, &t);
    size_t first = task * BATCH, n = w->n - first < BATCH ? w->n - first : BATCH;
    unsigned n_windows = f->windows.n_windows;
    f->curve->fr_batch_to_canonical(t.canonical, w->scalars + first, n);
    cuzk_msm_digits(&f->windows, t.canonical, NULL, n, t.digits, BATCH, n_windows, t.counters,
                    t.counters + n_windows, NULL);
    uint32_t n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        t.bounds[i] = n_entries;
        for (unsigned k = 0; k < n_windows; k++) {
            int digit = t.digits[k * BATCH + i];
            uint32_t slot = (uint32_t)(k * f->n_multiples) + (uint32_t)(digit < 0 ? -digit : digit);
            t.entries[n_entries] = (slot - 1) << 1 | (digit < 0);
            n_entries += digit != 0;
        }
    }
    t.bounds[n] = n_entries;
    f->kernel->segment_sums(t.points, f->table, true, t.entries, t.bounds, n, t.kernel);
    f->kernel->to_affine(w->out + first * f->group->affine_bytes, t.points, n);
}

cuzk_status cuzk_fixed_base_mul(const cuzk_fixed_base *table, void *out, const cuzk_fr *scalars,
                                size_t n, cuzk_pool *pool, cuzk_error *err)
{
    work w = {.f = table, .out = (uint8_t *)out, .scalars = scalars, .n = n};
    CUZK_TRY(begin(&w, cuzk_pool_threads(pool), err));
    cuzk_pool_for(pool, (n + BATCH - 1) / BATCH, multiply_task, &w);
    end(&w, cuzk_pool_threads(pool));
    return CUZK_OK;
}
