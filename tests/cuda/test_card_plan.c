/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What cards of all sizes do with all circuits: pure arithmetic, no device. */
#include "api/api.h"
#include "backend/cuda/card_plan.h"
#include "cuda_test.h"
#include "filecoin/circuit_sizes.h"

static void must(cuzk_status status, const cuzk_error *error)
{
    if (status != CUZK_OK) {
        fail_msg("%s", error->text);
    }
}

static const unsigned sizes[] = {8, 12, 16, 24, 40, 80, 141}; /* GiB of the card */
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* What the driver leaves of a card for one process. */
static uint64_t free_of(unsigned gib)
{
    return ((uint64_t)gib << 30) - (UINT64_C(640) << 20);
}

static cuzk_card_need need_of(const cuzk_key_numbers *k)
{
    return (cuzk_card_need){.curve = k->curve,
                            .lg_n = k->lg_n,
                            .n_vars = k->n_vars,
                            .n_field = k->n_field,
                            .queries = {{CUZK_G1, k->n_h},
                                        {CUZK_G1, k->n_c},
                                        {CUZK_G1, k->n_a},
                                        {CUZK_G1, k->n_b},
                                        {CUZK_G2, k->n_b}},
                            .n_queries = 5,
                            .circuit_bytes = k->rows_bytes};
}

static cuzk_card_need circom(cuzk_curve_id curve, unsigned lg)
{
    uint64_t n = (uint64_t)1 << lg;
    cuzk_key_numbers k =
        cuzk_key_numbers_circom(cuzk_curve_get(curve), lg, (uint32_t)(n - 1), 4 * n);
    return need_of(&k);
}

static cuzk_card_need filecoin(const char *id)
{
    const cuzk_circuit_counts *counts = NULL;
    cuzk_error error = {0};
    must(cuzk_circuit_counts_get(&counts, id, &error), &error);
    cuzk_key_numbers k = cuzk_key_numbers_filecoin(counts);
    return need_of(&k);
}

static cuzk_card_plan decide(const cuzk_card_need *need, uint64_t memory)
{
    const cuzk_card_limits limits = {.memory = memory, .slots = CUZK_CARD_SLOTS};
    return cuzk_card_decide(need, &limits);
}

/* ---- what holds for every plan ---- */

/* Intervals of the arena that must not meet. */
typedef struct {
    size_t at[64], n_bytes[64];
    unsigned n;
} intervals;

static void add(intervals *all, size_t at, size_t n_bytes)
{
    assert_true(all->n < 64);
    all->at[all->n] = at;
    all->n_bytes[all->n++] = n_bytes;
}

static void assert_apart(const intervals *all, size_t total)
{
    for (unsigned i = 0; i < all->n; i++) {
        assert_int_equal(all->at[i] % 256, 0);
        assert_true(all->at[i] + all->n_bytes[i] <= total);
        for (unsigned j = 0; j < i; j++) {
            assert_true(all->at[i] + all->n_bytes[i] <= all->at[j] ||
                        all->at[j] + all->n_bytes[j] <= all->at[i]);
        }
    }
}

/* What is there all the time. */
static intervals lasting(const cuzk_card_places *at, const cuzk_card_plan *plan,
                         const cuzk_card_need *need)
{
    intervals all = {.n = 0};
    size_t words = ((size_t)need->n_vars + 63) / 64;
    add(&all, 0, need->circuit_bytes);
    for (unsigned q = 0; q < need->n_queries && plan->mode == CUZK_CARD_RESIDENT; q++) {
        size_t n_bytes = need->queries[q].n * need->curve->g[need->queries[q].group].affine_bytes;
        add(&all, at->queries[q], q == 0 && plan->is_halved ? 2 * n_bytes : n_bytes);
    }
    for (int i = 0; i < 2 && plan->mode == CUZK_CARD_STREAMED; i++) {
        add(&all, at->stage[i], plan->stage_bytes);
    }
    add(&all, at->factors, 64 * (((size_t)1 << plan->lg_factors) + 1));
    for (unsigned s = 0; s < plan->n_slots; s++) {
        add(&all, at->slots[s].is_field, 8 * words);
        add(&all, at->slots[s].bits, 8 * words);
        add(&all, at->slots[s].rank, 4 * (words + 1));
        add(&all, at->slots[s].field, 32 * (size_t)need->n_field);
        if (s == 0 || plan->mode == CUZK_CARD_STREAMED) {
            add(&all, at->slots[s].a, (size_t)32 << need->lg_n);
        }
    }
    return all;
}

static void check_places(const cuzk_card_plan *plan, const cuzk_card_need *need)
{
    cuzk_card_places at = {.b = 0};
    cuzk_arena arena = {0};
    (void)cuzk_arena_plan(&arena, CUZK_ARENA_CIRCUIT, need->circuit_bytes);
    cuzk_card_place(&at, &arena, plan, need);
    assert_memory_equal(&arena, &plan->arena, sizeof arena);
    intervals quotient = lasting(&at, plan, need), sums = quotient;
    add(&quotient, at.b, (size_t)32 << need->lg_n);
    add(&quotient, at.c, (size_t)32 << need->lg_n);
    assert_apart(&quotient, arena.total);
    add(&sums, at.index, 4);
    add(&sums, at.which, 4);
    add(&sums, at.select, 4);
    add(&sums, at.sums, 4);
    assert_apart(&sums, arena.total);
    for (unsigned q = 1; q < need->n_queries && plan->is_apart; q++) { /* all at once */
        add(&quotient, at.of[q].index, 4 * (size_t)need->n_field);
        add(&quotient, at.of[q].which, 4 * (size_t)need->n_field);
        add(&quotient, at.of[q].select, 4);
        add(&quotient, at.of[q].sums, 4);
    }
    assert_apart(&quotient, arena.total);
}

static void check_plan(const cuzk_card_plan *plan, const cuzk_card_need *need, uint64_t memory)
{
    size_t sum = 0;
    for (int i = 0; i < CUZK_ARENA_PURPOSES; i++) {
        sum += plan->arena.bytes[i];
    }
    assert_int_equal(sum, plan->arena.total);
    if (plan->mode == CUZK_CARD_REFUSED) {
        assert_true(plan->arena.total > memory);
        return;
    }
    assert_true(plan->arena.total <= memory);
    assert_true(plan->n_slots >= 1 && plan->n_slots <= CUZK_CARD_SLOTS);
    assert_true(plan->piece >= 64 && plan->piece % 64 == 0);
    assert_true(plan->lg_factors <= need->lg_n);
    assert_int_equal(plan->arena.bytes[CUZK_ARENA_KEY] != 0, plan->mode == CUZK_CARD_RESIDENT);
    assert_int_equal(plan->arena.bytes[CUZK_ARENA_STAGING] != 0, plan->mode == CUZK_CARD_STREAMED);
    check_places(plan, need);
}

/* More memory never makes it worse: refused, streamed, resident; slots of the same mode. */
static void check_sizes(const cuzk_card_need *need)
{
    cuzk_card_mode before = CUZK_CARD_REFUSED;
    for (unsigned i = 0; i < N_SIZES; i++) {
        cuzk_card_plan plan = decide(need, free_of(sizes[i]));
        check_plan(&plan, need, free_of(sizes[i]));
        assert_true(before != CUZK_CARD_RESIDENT || plan.mode == CUZK_CARD_RESIDENT);
        assert_true(before == CUZK_CARD_REFUSED || plan.mode != CUZK_CARD_REFUSED);
        before = plan.mode;
    }
    /* exactly as much as was planned is enough, and a byte less is something else */
    cuzk_card_plan plan = decide(need, free_of(141));
    if (plan.mode != CUZK_CARD_REFUSED) {
        cuzk_card_plan same = decide(need, plan.arena.total);
        assert_memory_equal(&same.arena, &plan.arena, sizeof plan.arena);
        assert_true(same.mode == plan.mode && same.piece == plan.piece &&
                    same.entries == plan.entries && same.n_slots == plan.n_slots &&
                    same.lg_factors == plan.lg_factors && same.is_apart == plan.is_apart &&
                    same.is_halved == plan.is_halved);
        cuzk_card_plan less = decide(need, plan.arena.total - 1);
        assert_true(less.mode == CUZK_CARD_REFUSED || less.arena.total < plan.arena.total);
    }
}

static void test_all_circuits(void **state)
{
    (void)state;
    for (unsigned i = 0; cuzk_circuit_counts_at(i) != NULL; i++) {
        cuzk_card_need need = filecoin(cuzk_circuit_counts_at(i)->id);
        check_sizes(&need);
    }
    for (int curve = CUZK_CURVE_BN254; curve <= CUZK_CURVE_BLS12_381; curve++) {
        for (unsigned lg = 1; lg <= 27; lg++) {
            cuzk_card_need need = circom((cuzk_curve_id)curve, lg);
            check_sizes(&need);
        }
    }
}

/* ---- what cards must be able to do ---- */

static void test_promises(void **state)
{
    (void)state;
    cuzk_card_need porep = filecoin("porep-32g"), winning = filecoin("winning-32g");
    assert_int_equal(decide(&porep, free_of(141)).mode, CUZK_CARD_RESIDENT);
    assert_int_equal(decide(&porep, free_of(80)).mode, CUZK_CARD_RESIDENT);
    assert_true(decide(&porep, free_of(141)).is_halved);
    assert_int_equal(decide(&porep, free_of(141)).n_slots, CUZK_CARD_SLOTS);
    assert_int_equal(decide(&porep, free_of(16)).mode, CUZK_CARD_STREAMED);
    assert_int_equal(decide(&porep, free_of(40)).n_slots, 2); /* one pass serves both */
    assert_int_equal(decide(&porep, free_of(8)).mode, CUZK_CARD_REFUSED);
    assert_int_equal(decide(&winning, free_of(8)).mode, CUZK_CARD_RESIDENT);
    for (int curve = CUZK_CURVE_BN254; curve <= CUZK_CURVE_BLS12_381; curve++) {
        for (unsigned lg = 10; lg <= 24; lg++) {
            cuzk_card_need need = circom((cuzk_curve_id)curve, lg);
            assert_int_not_equal(decide(&need, free_of(8)).mode, CUZK_CARD_REFUSED);
        }
    }
}

/* Memory from nothing to all that is wanted: whatever fits is planned right, and never more. */
static void test_all_limits(void **state)
{
    (void)state;
    const cuzk_card_need needs[] = {filecoin("porep-32g"), filecoin("wpost-32g"),
                                    filecoin("porep-2k"), circom(CUZK_CURVE_BN254, 22)};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        for (uint64_t memory = 1 << 20; memory < UINT64_C(200) << 30; memory += memory / 9) {
            cuzk_card_plan plan = decide(&needs[i], memory);
            check_plan(&plan, &needs[i], memory);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_card_need porep = filecoin("porep-32g");
    const cuzk_card_limits limits = {.memory = free_of(8), .slots = 2};
    cuzk_card_plan plan = cuzk_card_decide(&porep, &limits);
    assert_int_equal(cuzk_card_refuse(&plan, &porep, &limits, &error), CUZK_E_MEMORY);
    assert_non_null(strstr(error.text, "even with the 45179."));
    assert_non_null(strstr(error.text, "MiB of its points streamed (key 0.0, circuit "));
    assert_non_null(strstr(error.text, "there are 7552.0"));
    const cuzk_card_limits resident = {.memory = free_of(16), .slots = 2, .is_resident_only = true};
    assert_int_equal(cuzk_card_decide(&porep, &resident).mode, CUZK_CARD_REFUSED);
}

/* A sum in pieces that a test asks for. */
static void test_asked_piece(void **state)
{
    (void)state;
    cuzk_card_need need = circom(CUZK_CURVE_BN254, 10);
    cuzk_card_limits limits = {.memory = free_of(8), .slots = 2, .piece = 128};
    cuzk_card_plan plan = cuzk_card_decide(&need, &limits);
    assert_int_equal(plan.mode, CUZK_CARD_RESIDENT);
    assert_int_equal(plan.piece, 128);
    size_t key = plan.arena.bytes[CUZK_ARENA_KEY];
    limits.memory = plan.arena.total - key / 2;
    plan = cuzk_card_decide(&need, &limits);
    assert_int_equal(plan.mode, CUZK_CARD_STREAMED);
    assert_int_equal(plan.stage_bytes, 128 * 64);
    assert_int_equal(cuzk_card_stage_points(&plan, &need, 0), 128);
    assert_int_equal(cuzk_card_stage_points(&plan, &need, 4), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_circuits), cmocka_unit_test(test_promises),
        cmocka_unit_test(test_all_limits), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_asked_piece)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
