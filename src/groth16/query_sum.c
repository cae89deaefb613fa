/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The selection by support is one pass over the bitmaps; field values are copied only when some of
 * them are left out. */
#include "groth16/query_sum.h"

#include <string.h>

/* The values of a set after selection, in the forms that cuzk_bit_sum and cuzk_msm take. Indices
 * are those of the bases before a query's `first` is taken off. */
typedef struct {
    const uint64_t *bits;
    size_t n_bits;
    const uint8_t (*scalars)[32];
    const uint32_t *index; /* ascending */
    size_t n_scalars;
} selection;

/* Workspace: selected bits | base indices | selected scalars | the sums' own workspace. */
struct layout {
    size_t index, scalars, inner, total;
    size_t inner_bytes;
};

static size_t align(size_t n)
{
    return (n + 63) / 64 * 64;
}

static uint32_t first_of_all(const cuzk_query_set *set)
{
    uint64_t first = set->queries[0].first;
    for (size_t i = 1; i < set->n_queries; i++) {
        first = set->queries[i].first < first ? set->queries[i].first : first;
    }
    return (uint32_t)first;
}

static void count(const cuzk_query_set *set, const cuzk_witness *w, size_t *n_bits,
                  size_t *n_scalars)
{
    *n_bits = w->n_vars;
    if (set->support == NULL) {
        uint32_t first = first_of_all(set);
        *n_scalars = first < w->n_vars ? w->n_field - cuzk_witness_rank(w, first) : 0;
        return;
    }
    *n_scalars = 0;
    for (size_t i = 0; i < cuzk_bitmap_words(w->n_vars); i++) {
        *n_scalars += (size_t)__builtin_popcountll(w->is_field[i] & set->support[i]);
    }
    if (set->compact) {
        *n_bits = cuzk_bitmap_count(set->support, w->n_vars);
    }
}

/* The selection's part of the workspace; `inner` is where it ends. */
static struct layout plan_selection(const cuzk_query_set *set, size_t n_bits, size_t n_scalars)
{
    bool selects = set->support != NULL;
    struct layout l = {0};
    l.index = align(selects ? cuzk_bitmap_words(n_bits) * 8 : 0);
    l.scalars = l.index + align(n_scalars * sizeof(uint32_t));
    l.inner = l.scalars + align(selects ? n_scalars * 32 : 0);
    return l;
}

/* What the sums of n_scalars field values and n_bits bits take; `most`: or of fewer. */
static struct layout plan_sums(const cuzk_query_set *set, const cuzk_curve *curve, size_t n_bits,
                               size_t n_scalars, bool most, const cuzk_pool *pool)
{
    struct layout l = plan_selection(set, n_bits, n_scalars);
    cuzk_msm_query queries[CUZK_QUERIES_MAX];
    memcpy(queries, set->queries, sizeof queries);
    static const uint32_t any_index = 0;
    cuzk_msm_params params = {
        .base_index = &any_index, .n = n_scalars, .queries = queries, .n_queries = set->n_queries};
    size_t msm = most ? cuzk_msm_workspace_bytes_max(curve, &params, pool)
                      : cuzk_msm_workspace_bytes(curve, &params, pool);
    size_t bit_sum = cuzk_bit_sum_workspace_bytes(curve, n_bits, set->n_queries, pool);
    l.inner_bytes = msm > bit_sum ? msm : bit_sum;
    l.total = l.inner + l.inner_bytes;
    return l;
}

static struct layout plan(const cuzk_query_set *set, const cuzk_witness *w, const cuzk_pool *pool)
{
    size_t n_bits, n_scalars;
    count(set, w, &n_bits, &n_scalars);
    return plan_sums(set, w->curve, n_bits, n_scalars, false, pool);
}

size_t cuzk_query_sums_workspace_bytes(const cuzk_query_set *set, const cuzk_witness *witness,
                                       const cuzk_pool *pool)
{
    return plan(set, witness, pool).total;
}

size_t cuzk_query_sums_bytes_max(const cuzk_curve *curve, uint32_t n_vars, uint32_t n_field,
                                 size_t n_queries, const cuzk_pool *pool)
{
    static const uint64_t any_support = 0; /* only whether there is one is looked at */
    cuzk_query_set set = {.support = &any_support, .n_queries = n_queries};
    size_t most = 0;
    for (int last = CUZK_G1; last <= CUZK_G2; last++) { /* smaller points: perhaps more at once */
        for (size_t i = 0; i < n_queries; i++) {
            set.queries[i].group = i + 1 == n_queries ? (cuzk_group_id)last : CUZK_G1;
        }
        size_t total = plan_sums(&set, curve, n_vars, n_field, true, pool).total;
        most = total > most ? total : most;
    }
    return most;
}

/* Move the bits of `value` that `mask` selects to the low end, in order. */
static uint64_t extract(uint64_t value, uint64_t mask)
{
    uint64_t out = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++) {
        out |= (value >> __builtin_ctzll(mask) & 1) << n;
    }
    return out;
}

static void select_bits(const cuzk_query_set *set, const cuzk_witness *w, uint64_t *out,
                        size_t n_bits)
{
    memset(out, 0, cuzk_bitmap_words(n_bits) * 8);
    size_t at = 0; /* next free bit of a compact map */
    for (size_t i = 0; i < cuzk_bitmap_words(w->n_vars); i++) {
        uint64_t mask = set->support[i];
        if (!set->compact) {
            out[i] = w->bits[i] & mask;
        } else if (mask != 0) {
            uint64_t packed = extract(w->bits[i], mask);
            out[at / 64] |= packed << (at % 64);
            if (at % 64 != 0 && packed >> (64 - at % 64) != 0) {
                out[at / 64 + 1] |= packed >> (64 - at % 64);
            }
            at += (size_t)__builtin_popcountll(mask);
        }
    }
}

/* Base indices of all field variables from `first` on. */
static void list_all(const cuzk_witness *w, uint32_t first, uint32_t *index)
{
    for (size_t i = first / 64; i < cuzk_bitmap_words(w->n_vars); i++) {
        uint64_t left = w->is_field[i];
        if (i == first / 64) {
            left = left >> (first % 64) << (first % 64);
        }
        for (; left != 0; left &= left - 1) {
            *index++ = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(left);
        }
    }
}

static void select_field(const cuzk_query_set *set, const cuzk_witness *w, uint32_t *index,
                         uint8_t (*scalars)[32])
{
    uint32_t before = 0; /* support variables in earlier words */
    for (size_t i = 0; i < cuzk_bitmap_words(w->n_vars); i++) {
        uint64_t mask = set->support[i];
        for (uint64_t left = w->is_field[i] & mask; left != 0; left &= left - 1) {
            unsigned k = (unsigned)__builtin_ctzll(left);
            uint64_t below = ((uint64_t)1 << k) - 1;
            uint32_t rank = w->rank[i] + (uint32_t)__builtin_popcountll(w->is_field[i] & below);
            memcpy(*scalars++, w->field[rank], 32);
            *index++ = set->compact ? before + (uint32_t)__builtin_popcountll(mask & below)
                                    : (uint32_t)(64 * i) + k;
        }
        before += (uint32_t)__builtin_popcountll(mask);
    }
}

/* ws then holds private values, as long as the selection is used. */
static void select_values(const cuzk_query_set *set, const cuzk_witness *w, void *ws, selection *s)
{
    count(set, w, &s->n_bits, &s->n_scalars);
    struct layout l = plan_selection(set, s->n_bits, s->n_scalars);
    uint32_t *index = (uint32_t *)(void *)((uint8_t *)ws + l.index);
    s->index = index;
    if (set->support == NULL) {
        uint32_t first = first_of_all(set);
        s->bits = w->bits;
        s->scalars = (const uint8_t(*)[32])(w->field + (w->n_field - s->n_scalars));
        list_all(w, first, index);
        return;
    }
    uint64_t *bits = (uint64_t *)ws;
    uint8_t(*scalars)[32] = (uint8_t(*)[32])((uint8_t *)ws + l.scalars);
    s->bits = bits;
    s->scalars = (const uint8_t(*)[32])scalars;
    select_bits(set, w, bits, s->n_bits);
    select_field(set, w, index, scalars);
}

cuzk_status cuzk_query_sums(cuzk_query_set *set, const cuzk_witness *w, void *ws, size_t ws_bytes,
                            cuzk_pool *pool, cuzk_error *err)
{
    struct layout l = plan(set, w, pool);
    CUZK_FAIL_IF(ws_bytes < l.total, err, CUZK_E_ARGUMENT,
                 "summing queries: %zu bytes of workspace, %zu are needed", ws_bytes, l.total);
    selection s;
    select_values(set, w, ws, &s);
    uint8_t *inner = (uint8_t *)ws + l.inner;
    /* for reports only: half of the bits are set, a field value is some 16 windows */
    double bits = (double)s.n_bits / ((double)s.n_bits + 32.0 * (double)s.n_scalars + 1);
    cuzk_progress_part part_of_bits = {.whole = set->reporter, .from = 0, .to = bits};
    cuzk_progress_part part_of_scalars = {.whole = set->reporter, .from = bits, .to = 1};
    cuzk_reporter on_bits = cuzk_part_reporter(&part_of_bits);
    cuzk_reporter on_scalars = cuzk_part_reporter(&part_of_scalars);
    cuzk_bit_sum_params bit_params = {.bitmap = s.bits,
                                      .n = s.n_bits,
                                      .queries = set->queries,
                                      .n_queries = set->n_queries,
                                      .reporter = &on_bits};
    CUZK_TRY(cuzk_bit_sum(w->curve, &bit_params, inner, l.inner_bytes, pool, err));
    cuzk_jac of_bits[CUZK_QUERIES_MAX];
    for (size_t i = 0; i < set->n_queries; i++) {
        of_bits[i] = set->queries[i].sum;
    }
    cuzk_msm_params params = {.scalars = s.scalars,
                              .base_index = s.index,
                              .n = s.n_scalars,
                              .queries = set->queries,
                              .n_queries = set->n_queries,
                              .reporter = &on_scalars};
    CUZK_TRY(cuzk_msm(w->curve, &params, inner, l.inner_bytes, pool, err));
    for (size_t i = 0; i < set->n_queries; i++) {
        cuzk_msm_query *q = &set->queries[i];
        w->curve->g[q->group].add(&q->sum, &q->sum, &of_bits[i]);
    }
    return CUZK_OK;
}
