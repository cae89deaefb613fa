/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes of every way to prove with a key on a card, and the first way that fits. */
#include "backend/cuda/card_plan.h"

#include "backend/cuda/transformer.h"

enum {
    PIECE_MOST = (1 << 28) - 64, /* a resident key: one piece, whatever its size */
    PIECE_STREAMED =
        1 << 24, /* beyond it a tenth of the additions is saved, and the first wait grows */
    PIECE_GOOD = 1 << 22,
    PIECE_LEAST = 1 << 16,
    ENTRIES_MOST = 1 << 26,
    ENTRIES_LEAST = 1 << 23,
    LG_APART = 20,   /* larger sums fill the chip alone */
    SHORTER_MOST = 8 /* a short table has at least 2^-8 of the entries */
};
static const uint64_t APART_MOST = UINT64_C(8) << 30;

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t fewer(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

const char *cuzk_card_mode_name(cuzk_card_mode mode)
{
    return mode == CUZK_CARD_RESIDENT   ? "resident"
           : mode == CUZK_CARD_STREAMED ? "streamed"
                                        : "refused";
}

static size_t point_bytes(const cuzk_card_need *need, unsigned query)
{
    return need->curve->g[need->queries[query].group].affine_bytes;
}

uint64_t cuzk_card_key_bytes(const cuzk_card_need *need)
{
    uint64_t bytes = 0;
    for (unsigned q = 0; q < need->n_queries; q++) {
        bytes += need->queries[q].n * point_bytes(need, q);
    }
    return bytes;
}

uint64_t cuzk_card_stage_points(const cuzk_card_plan *plan, const cuzk_card_need *need,
                                unsigned query)
{
    return plan->stage_bytes / point_bytes(need, query);
}

/* ---- sizes and places ---- */

unsigned cuzk_card_windows(const cuzk_card_plan *plan, uint32_t n)
{
    return plan->entries >= ENTRIES_MOST ? 0 : n == 0 ? 1 : (unsigned)larger(plan->entries / n, 1);
}

cuzk_halves cuzk_card_halves(const cuzk_card_plan *plan)
{
    return plan->is_halved ? CUZK_HALVES_BEST : CUZK_HALVES_NEVER;
}

size_t cuzk_card_images(const cuzk_card_plan *plan, const cuzk_card_need *need)
{
    return plan->is_halved && plan->mode == CUZK_CARD_RESIDENT
               ? need->queries[0].n * point_bytes(need, 0)
               : 0;
}

/* For up to n scalars of a query, with n_max. */
static size_t sum_bytes(const cuzk_card_plan *plan, const cuzk_card_need *need, unsigned query,
                        uint64_t n)
{
    const cuzk_point_summer summer = {.curve = need->curve}; /* all that sizes depend on */
    cuzk_point_sum_params params = {.group = need->queries[query].group,
                                    .images = query == 0 ? cuzk_card_images(plan, need) : 0,
                                    .n_max = (uint32_t)n,
                                    .windows_together = cuzk_card_windows(plan, (uint32_t)n),
                                    .halves = cuzk_card_halves(plan)};
    return cuzk_point_sum_bytes(&summer, &params);
}

/* Workspace of the sums of all queries but H, a piece at a time. */
static size_t query_bytes(const cuzk_card_plan *plan, const cuzk_card_need *need)
{
    const cuzk_point_summer summer = {.curve = need->curve};
    size_t most = 0;
    for (unsigned q = 1; q < need->n_queries; q++) {
        cuzk_group_id group = need->queries[q].group;
        uint32_t n_bits = (uint32_t)fewer(need->n_vars, plan->piece);
        most = larger(most, sum_bytes(plan, need, q, fewer(need->n_field, plan->piece)));
        most = larger(most, cuzk_point_sum_bits_bytes(&summer, group, n_bits, n_bits));
    }
    return most;
}

/* Field values that are listed at a time: of the whole witness, or of a piece of the variables. */
static size_t listed(const cuzk_card_plan *plan, const cuzk_card_need *need)
{
    return plan->mode == CUZK_CARD_RESIDENT ? need->n_field : fewer(need->n_field, plan->piece);
}

static void place_key(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan,
                      const cuzk_card_need *need)
{
    for (unsigned q = 0; q < need->n_queries && plan->mode == CUZK_CARD_RESIDENT; q++) {
        size_t n_bytes = need->queries[q].n * point_bytes(need, q);
        n_bytes += q == 0 ? cuzk_card_images(plan, need) : 0;
        at->queries[q] = cuzk_arena_plan(arena, CUZK_ARENA_KEY, n_bytes);
    }
}

static void place_stage(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan)
{
    for (int i = 0; i < 2 && plan->mode == CUZK_CARD_STREAMED; i++) {
        at->stage[i] = cuzk_arena_plan(arena, CUZK_ARENA_STAGING, plan->stage_bytes);
    }
}

static void place_witnesses(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan,
                            const cuzk_card_need *need)
{
    size_t words = ((size_t)need->n_vars + 63) / 64;
    for (unsigned s = 0; s < plan->n_slots; s++) {
        at->slots[s].is_field = cuzk_arena_plan(arena, CUZK_ARENA_WITNESS, 8 * words);
        at->slots[s].bits = cuzk_arena_plan(arena, CUZK_ARENA_WITNESS, 8 * words);
        at->slots[s].rank = cuzk_arena_plan(arena, CUZK_ARENA_WITNESS, 4 * (words + 1));
        at->slots[s].field = cuzk_arena_plan(arena, CUZK_ARENA_WITNESS, 32 * (size_t)need->n_field);
    }
}

/* Three phases use the same memory, behind the scalars of H: those are made; summed; then the other
 * sums, of which only the witness is needed. */
static void place_workspace(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan,
                            const cuzk_card_need *need)
{
    const cuzk_arena_purpose w = CUZK_ARENA_WORKSPACE;
    size_t vector = sizeof(cuzk_fr) << need->lg_n;
    for (unsigned s = 0; s < plan->n_slots; s++) {
        /* one unit at a time makes its sums, unless a pass serves several */
        bool has_own = s == 0 || plan->mode == CUZK_CARD_STREAMED;
        at->slots[s].a = has_own ? cuzk_arena_plan(arena, w, vector) : at->slots[0].a;
    }
    at->counts = cuzk_arena_plan(arena, w, CUZK_CARD_COUNT_BYTES);
    size_t base = arena->total;
    cuzk_arena quotient = {0}, h = {0}, rest = {0};
    at->b = base + cuzk_arena_plan(&quotient, w, vector);
    at->c = base + cuzk_arena_plan(&quotient, w, vector);
    at->h_sums =
        base +
        cuzk_arena_plan(&h, w, sum_bytes(plan, need, 0, fewer(need->queries[0].n, plan->piece)));
    size_t of_h = larger(quotient.total, h.total);
    base += plan->is_apart ? of_h : 0;
    for (unsigned q = 1; q < need->n_queries; q++) {
        if (q > 1 && !plan->is_apart) {
            at->of[q] = at->of[1];
            continue;
        }
        at->of[q].index = base + cuzk_arena_plan(&rest, w, 4 * listed(plan, need));
        at->of[q].which = base + cuzk_arena_plan(&rest, w, 4 * listed(plan, need));
        at->of[q].select = base + cuzk_arena_plan(&rest, w, cuzk_select_values_bytes(need->n_vars));
        at->of[q].sums = base + cuzk_arena_plan(&rest, w, query_bytes(plan, need));
    }
    at->index = at->of[1].index;
    at->which = at->of[1].which;
    at->select = at->of[1].select;
    at->sums = at->of[1].sums;
    (void)cuzk_arena_plan(arena, w, plan->is_apart ? of_h + rest.total : larger(of_h, rest.total));
}

void cuzk_card_place(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan,
                     const cuzk_card_need *need)
{
    place_key(at, arena, plan, need);
    at->worst = cuzk_arena_plan(arena, CUZK_ARENA_TABLES, 4 * CUZK_CARD_QUERIES_MAX);
    at->factors = cuzk_arena_plan(arena, CUZK_ARENA_TABLES,
                                  cuzk_transformer_bytes(need->lg_n, plan->lg_factors));
    place_stage(at, arena, plan);
    place_witnesses(at, arena, plan, need);
    place_workspace(at, arena, plan, need);
}

/* ---- the decision ---- */

static bool fits(cuzk_card_plan *plan, const cuzk_card_need *need, uint64_t memory)
{
    cuzk_card_places at;
    const cuzk_group *g1 = &need->curve->g[CUZK_G1], *g2 = &need->curve->g[CUZK_G2];
    /* a word of variables, in the larger group, at least */
    plan->stage_bytes =
        plan->mode == CUZK_CARD_STREAMED
            ? larger((uint64_t)plan->piece * g1->affine_bytes, 64 * g2->affine_bytes)
            : 0;
    plan->arena = (cuzk_arena){0};
    (void)cuzk_arena_plan(&plan->arena, CUZK_ARENA_CIRCUIT, need->circuit_bytes);
    cuzk_card_place(&at, &plan->arena, plan, need);
    return plan->arena.total <= memory;
}

/* The most entries that fit. */
static bool find_entries(cuzk_card_plan *plan, const cuzk_card_need *need, uint64_t memory)
{
    for (plan->entries = ENTRIES_MOST; plan->entries >= ENTRIES_LEAST; plan->entries /= 2) {
        if (fits(plan, need, memory)) {
            return true;
        }
    }
    plan->entries = ENTRIES_LEAST; /* for the numbers of a refusal */
    return false;
}

/* The largest piece from `most` down to `least` that fits, halving. */
static bool find_piece(cuzk_card_plan *plan, const cuzk_card_need *need, uint64_t memory,
                       uint32_t most, uint32_t least)
{
    for (plan->piece = most; plan->piece >= least && plan->piece >= 64;
         plan->piece = plan->piece / 128 * 64) {
        for (int halves = 1; halves >= 0; halves--) {
            plan->is_halved = halves != 0;
            if (find_entries(plan, need, memory)) {
                return true;
            }
        }
    }
    return false;
}

/* Pieces of a mode: no larger than the largest query, no smaller than what is asked for. */
typedef struct {
    uint32_t most, good, least;
} piece_range;

static piece_range pieces_of(cuzk_card_mode mode, const cuzk_card_need *need, uint32_t asked)
{
    uint64_t n = need->n_vars;
    for (unsigned q = 0; q < need->n_queries; q++) {
        n = larger(n, need->queries[q].n);
    }
    n = (n + 63) / 64 * 64;
    piece_range p = {.most = mode == CUZK_CARD_STREAMED ? PIECE_STREAMED : PIECE_MOST};
    p.most = (uint32_t)fewer(p.most, larger(n, 64));
    p.most = asked != 0 ? (uint32_t)fewer(p.most, asked) : p.most;
    p.good = (uint32_t)fewer(p.most, PIECE_GOOD);
    p.least = (uint32_t)fewer(p.most, PIECE_LEAST);
    return p;
}

static unsigned least_factors(const cuzk_card_need *need)
{
    return need->lg_n > SHORTER_MOST + 3 ? need->lg_n - SHORTER_MOST : fewer(need->lg_n, 3);
}

/* All tables, from whole to the shortest, with these slots. */
static bool find_tables(cuzk_card_plan *plan, const cuzk_card_need *need, uint64_t memory,
                        uint32_t most, uint32_t least)
{
    unsigned shortest = least_factors(need);
    for (plan->lg_factors = need->lg_n;; plan->lg_factors--) {
        if (find_piece(plan, need, memory, most, least)) {
            return true;
        }
        if (plan->lg_factors == shortest) {
            return false;
        }
    }
}

static bool find_streamed(cuzk_card_plan *plan, const cuzk_card_need *need,
                          const cuzk_card_limits *limits, uint32_t most, uint32_t least)
{
    plan->mode = CUZK_CARD_STREAMED;
    for (plan->n_slots = limits->slots; plan->n_slots > 0; plan->n_slots--) {
        if (find_tables(plan, need, limits->memory, most, least)) {
            return true;
        }
    }
    return false;
}

static bool find_resident(cuzk_card_plan *plan, const cuzk_card_need *need,
                          const cuzk_card_limits *limits, uint32_t most, uint32_t least)
{
    plan->mode = CUZK_CARD_RESIDENT;
    plan->lg_factors = need->lg_n;
    for (plan->n_slots = limits->slots; plan->n_slots > 0; plan->n_slots--) {
        if (find_piece(plan, need, limits->memory, most, least)) {
            return true;
        }
    }
    plan->n_slots = 1;
    return find_tables(plan, need, limits->memory, most, least);
}

static bool find_plan(cuzk_card_plan *plan, const cuzk_card_need *need,
                      const cuzk_card_limits *limits)
{
    piece_range r = pieces_of(CUZK_CARD_RESIDENT, need, limits->piece);
    piece_range s = pieces_of(CUZK_CARD_STREAMED, need, limits->piece);
    bool may_stream = !limits->is_resident_only;
    cuzk_card_limits one = *limits;
    one.slots = 1;
    return find_resident(plan, need, limits, r.most, r.good) ||
           (may_stream && find_streamed(plan, need, limits, s.most, s.good)) ||
           find_resident(plan, need, &one, r.good, r.least) ||
           (may_stream && find_streamed(plan, need, &one, s.good, s.least));
}

cuzk_card_plan cuzk_card_decide(const cuzk_card_need *need, const cuzk_card_limits *limits)
{
    cuzk_card_plan plan = {0};
    if (!find_plan(&plan, need, limits)) {
        plan.mode = CUZK_CARD_REFUSED; /* the last way that was tried is the smallest */
        return plan;
    }
    cuzk_card_plan apart = plan;
    apart.is_apart = true;
    bool in_one = plan.piece >= pieces_of(CUZK_CARD_RESIDENT, need, 0).most;
    bool may_be = plan.mode == CUZK_CARD_RESIDENT && in_one && need->lg_n <= LG_APART;
    return may_be && fits(&apart, need, limits->memory) &&
                   apart.arena.bytes[CUZK_ARENA_WORKSPACE] <= APART_MOST
               ? apart
               : plan;
}

cuzk_status cuzk_card_refuse(const cuzk_card_plan *plan, const cuzk_card_need *need,
                             const cuzk_card_limits *limits, cuzk_error *err)
{
    return cuzk_arena_too_much(&plan->arena, cuzk_card_key_bytes(need), limits->memory, err);
}
