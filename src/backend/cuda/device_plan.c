/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A prover in the numbers of card_plan.h, and its arena. */
#include "backend/cuda/device_prover_impl.h"

/* Bases of a query: of all variables, or of those in the set's support. */
static size_t bases_of(const cuzk_prover *p, const cuzk_query_set *set, const cuzk_msm_query *q)
{
    size_t n = set->compact ? cuzk_bitmap_count(set->support, p->n_vars) : p->n_vars;
    return n - q->first;
}

unsigned cuzk_prover_query_number(const cuzk_prover *p, unsigned set, size_t query)
{
    unsigned n = 1;
    for (unsigned i = 0; i < set; i++) {
        n += (unsigned)p->sets[i].n_queries;
    }
    return n + (unsigned)query;
}

/* Variables that may hold field values: those that the circuit does not call bits; a circom key
 * says nothing of them. */
static uint32_t count_field(const cuzk_prover *p)
{
    if (p->is_zkey) {
        return p->n_vars;
    }
    return p->n_vars - (uint32_t)cuzk_bitmap_count(p->shape->is_bit, p->n_vars);
}

static cuzk_card_need need_of(const cuzk_prover *p, uint64_t circuit_bytes)
{
    cuzk_card_need need = {.curve = p->curve,
                           .lg_n = p->lg_n,
                           .n_vars = p->n_vars,
                           .n_field = count_field(p),
                           .queries[0] = {CUZK_G1, p->n_h},
                           .n_queries = 1,
                           .circuit_bytes = circuit_bytes};
    for (unsigned i = 0; i < p->n_sets; i++) {
        for (size_t k = 0; k < p->sets[i].n_queries; k++) {
            const cuzk_msm_query *q = &p->sets[i].queries[k];
            need.queries[need.n_queries].group = q->group;
            need.queries[need.n_queries++].n = bases_of(p, &p->sets[i], q);
        }
    }
    return need;
}

static void plan_supports(cuzk_device_prover *d)
{
    size_t words = cuzk_bitmap_words(d->prover->n_vars);
    for (unsigned i = 0; i < d->prover->n_sets; i++) {
        if (d->prover->sets[i].support != NULL) {
            d->support[i] = cuzk_arena_plan(&d->arena, CUZK_ARENA_CIRCUIT, 8 * words);
            d->support_rank[i] = cuzk_arena_plan(&d->arena, CUZK_ARENA_CIRCUIT, 4 * words);
        }
    }
}

/* What may be taken: all that is free but what making the points takes, or less. */
static cuzk_status find_limit(uint64_t *limit, const cuzk_device_prover *d, uint64_t asked,
                              cuzk_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    CUZK_CUDA_TRY(d->api, err, cuMemGetInfo, (&free_bytes, &all_bytes));
    uint64_t beside = d->prover->source.device_bytes;
    free_bytes -= beside < free_bytes ? beside : free_bytes;
    *limit = asked == 0 || asked > free_bytes ? free_bytes : asked;
    return CUZK_OK;
}

cuzk_status cuzk_prover_reserve(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                cuzk_error *err)
{
    cuzk_card_limits limits = {.slots = CUZK_CARD_SLOTS,
                               .piece = params->piece,
                               .is_resident_only = d->prover->source.put != NULL};
    CUZK_TRY(find_limit(&limits.memory, d, params->memory_limit, err));
    plan_supports(d);
    d->need = need_of(d->prover, d->arena.total);
    d->plan = cuzk_card_decide(&d->need, &limits);
    if (d->plan.mode == CUZK_CARD_REFUSED) {
        return cuzk_card_refuse(&d->plan, &d->need, &limits, err);
    }
    cuzk_card_place(&d->at, &d->arena, &d->plan, &d->need);
    return cuzk_arena_reserve(&d->arena, d->api, limits.memory, err);
}
