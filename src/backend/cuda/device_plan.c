/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where everything of a key and its proofs lies in the arena, and how much that is. */
#include "backend/cuda/device_prover_impl.h"

enum { LEAST_PIECE = 1 << 16 };

size_t cuzk_prover_bases(const cuzk_prover *p, const cuzk_query_set *set, const cuzk_msm_query *q)
{
    size_t n = set->compact ? cuzk_bitmap_count(set->support, p->n_vars) : p->n_vars;
    return n - q->first;
}

void cuzk_prover_plan_residents(cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    cuzk_arena *a = &d->arena;
    size_t words = cuzk_bitmap_words(p->n_vars);
    d->at.h = cuzk_arena_plan(a, CUZK_ARENA_KEY, p->n_h * p->curve->g[CUZK_G1].affine_bytes);
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        for (size_t k = 0; k < set->n_queries; k++) {
            const cuzk_msm_query *q = &set->queries[k];
            d->at.queries[i][k] =
                cuzk_arena_plan(a, CUZK_ARENA_KEY,
                                cuzk_prover_bases(p, set, q) * p->curve->g[q->group].affine_bytes);
        }
        if (set->support != NULL) {
            d->at.support[i] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 8 * words);
            d->at.support_rank[i] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * words);
        }
    }
    d->at.factors = cuzk_arena_plan(a, CUZK_ARENA_TABLES, cuzk_transformer_bytes(p->lg_n, p->lg_n));
}

void cuzk_prover_plan_witness(cuzk_device_prover *d)
{
    size_t words = cuzk_bitmap_words(d->prover->n_vars);
    d->at.is_field = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 8 * words);
    d->at.bits = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 8 * words);
    d->at.rank = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 4 * (words + 1));
    d->at.field = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 32 * (size_t)d->n_field_max);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t sum_bytes(const cuzk_device_prover *d, cuzk_group_id group, size_t n)
{
    cuzk_point_sum_params params = {.group = group, .n = cuzk_prover_fewer(n, d->piece)};
    return cuzk_point_sum_bytes(&d->summer, &params);
}

/* Workspace of the sums of all queries, in pieces. */
static size_t query_bytes(const cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    size_t most = 0;
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        uint32_t n_bits = cuzk_prover_fewer(p->n_vars, d->piece);
        most = larger(most, sum_bytes(d, (cuzk_group_id)g, d->n_field_max));
        most =
            larger(most, cuzk_point_sum_bits_bytes(&d->summer, (cuzk_group_id)g, n_bits, n_bits));
    }
    return most;
}

/* The place of the first array of one phase, and the bytes of the larger phase. */
static void plan_workspace(cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    cuzk_arena of_h = {0}, of_queries = {0};
    size_t vector = p->n * sizeof(cuzk_fr);
    d->at.a = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    d->at.b = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    d->at.c = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    /* b and c are of no more use when h is summed */
    size_t h_sum = sum_bytes(d, CUZK_G1, p->n_h);
    d->at.h_sums = d->at.b;
    if (h_sum > of_h.total - d->at.b) {
        (void)cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, h_sum - (of_h.total - d->at.b));
    }
    d->at.index = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, 4 * (size_t)d->n_field_max);
    d->at.which = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, 4 * (size_t)d->n_field_max);
    d->at.select =
        cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, cuzk_select_values_bytes(p->n_vars));
    d->at.sums = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, query_bytes(d));
    size_t base =
        cuzk_arena_plan(&d->arena, CUZK_ARENA_WORKSPACE, larger(of_h.total, of_queries.total));
    size_t *const moved[] = {&d->at.a,     &d->at.b,     &d->at.c,      &d->at.h_sums,
                             &d->at.index, &d->at.which, &d->at.select, &d->at.sums};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        *moved[i] += base;
    }
}

/* Variables that may hold field values: those that the circuit does not call bits; a circom key
 * says nothing of them. */
uint32_t cuzk_prover_count_field(const cuzk_prover *p)
{
    if (p->is_zkey) {
        return p->n_vars;
    }
    return p->n_vars - (uint32_t)cuzk_bitmap_count(p->shape->is_bit, p->n_vars);
}

/* Sums in one piece if there is room, else in smaller ones. */
cuzk_status cuzk_prover_reserve(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                cuzk_error *err)
{
    uint32_t first = params->piece != 0 ? params->piece : (1u << 28) - 64;
    uint32_t least = first < LEAST_PIECE ? first : LEAST_PIECE;
    const cuzk_arena before = d->arena;
    cuzk_status status = CUZK_OK;
    for (d->piece = first; d->piece >= least; d->piece = d->piece / 128 * 64) {
        d->arena = before;
        plan_workspace(d);
        cuzk_error_clear(err);
        status = cuzk_arena_reserve(&d->arena, d->api, params->memory_limit, err);
        if (status != CUZK_E_MEMORY) {
            return status;
        }
    }
    return status;
}
uint64_t cuzk_device_prover_bytes(const cuzk_proving_counts *counts, uint64_t n_g1, uint64_t n_g2)
{
    enum { SLACK = 64 << 20 /* kernels, and places rounded up */, TERMS = 4 };
    const cuzk_group *g = counts->curve->g;
    const cuzk_point_summer summer = {.curve = counts->curve}; /* all that sizes depend on */
    uint64_t n = (uint64_t)1 << counts->lg_n, sums = 0;
    for (int group = CUZK_G1; group <= CUZK_G2; group++) {
        cuzk_point_sum_params params = {.group = (cuzk_group_id)group, .n = counts->n_field};
        uint64_t of_values = cuzk_point_sum_bytes(&summer, &params);
        uint64_t of_bits =
            cuzk_point_sum_bits_bytes(&summer, params.group, counts->n_vars, counts->n_vars);
        sums = larger(sums, larger(of_values, of_bits));
    }
    cuzk_point_sum_params h = {.group = CUZK_G1, .n = (uint32_t)n};
    uint64_t of_h =
        n * sizeof(cuzk_fr) + larger(2 * n * sizeof(cuzk_fr), cuzk_point_sum_bytes(&summer, &h));
    uint64_t of_queries =
        sums + 8 * (uint64_t)counts->n_field + cuzk_select_values_bytes(counts->n_vars);
    uint64_t circuit = 2 * n * (4 + TERMS * (counts->is_zkey ? 36 : 8)) + 3 * counts->n_vars / 4;
    uint64_t witness = 5 * (uint64_t)counts->n_vars / 16 + 32 * (uint64_t)counts->n_field;
    return n_g1 * g[CUZK_G1].affine_bytes + n_g2 * g[CUZK_G2].affine_bytes +
           cuzk_transformer_bytes(counts->lg_n, counts->lg_n) + circuit + witness +
           larger(of_h, of_queries) + SLACK;
}
