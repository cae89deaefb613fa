/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A lane and calls without an engine, and a unit taken through its stages. */
#ifndef CUZK_TESTS_WORK_LANE_H
#define CUZK_TESTS_WORK_LANE_H

#include "work_test.h"

/* ---- a lane ---------------------------------------------------------------------------------- */

/* Counts; refuses once when it is told to. One thread at a time. */
struct cuzk_lane {
    unsigned n_taken, n_given, n_offered;
    unsigned lost_at; /* the n-th offer; 0: never */
    bool refuses, is_held;
};

cuzk_status cuzk_lane_take(cuzk_lane *lane, cuzk_error *e)
{
    CUZK_FAIL_IF(lane->refuses, e, CUZK_E_CANCELLED, "cancelled while waiting for the lane");
    lane->n_taken++;
    lane->is_held = true;
    return CUZK_OK;
}

cuzk_status cuzk_lane_yield(cuzk_lane *lane, cuzk_error *e)
{
    assert_true(lane->is_held);
    lane->n_offered++;
    if (lane->lost_at == lane->n_offered) { /* somebody comes first, and then it is cancelled */
        cuzk_lane_give(lane);
        return CUZK_FAIL(e, CUZK_E_CANCELLED, "cancelled while waiting for the lane again");
    }
    return CUZK_OK;
}

void cuzk_lane_give(cuzk_lane *lane)
{
    lane->n_given += lane->is_held;
    lane->is_held = false;
}

/* ---- help ------------------------------------------------------------------------------------ */

/* A device that helps, at once and in the same thread; -1: none does. */
static int work_helper = -1;
static unsigned work_n_helped; /* parts that were made */
static cuzk_status work_help_status;
static cuzk_error work_help_error;

static inline bool work_never(const void *context)
{
    (void)context;
    return false;
}

bool cuzk_help_begin(cuzk_lane *lane, cuzk_help_run run, void *context)
{
    cuzk_lane own = {0};
    cuzk_work_call call = {.lane = &own, .is_cancelled = work_never};
    assert_false(lane->is_held); /* the first device's other proofs go on */
    if (work_helper < 0) {
        return false;
    }
    call.device = (unsigned)work_helper;
    work_help_error = (cuzk_error){0};
    work_help_status = run(context, &call, &work_help_error);
    assert_int_equal(own.n_taken, own.n_given);
    work_n_helped += work_help_status == CUZK_OK;
    return true;
}

cuzk_status cuzk_help_end(cuzk_lane *lane, cuzk_error *e)
{
    assert_false(lane->is_held);
    CUZK_FAIL_IF(work_help_status != CUZK_OK, e, work_help_status, "%s", work_help_error.text);
    return CUZK_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Cancels at the n-th question; negative: never. */
typedef struct {
    int left;
} work_patience;

static inline bool work_is_cancelled(const void *context)
{
    work_patience *patience = (work_patience *)(uintptr_t)context;
    return patience->left >= 0 && patience->left-- == 0;
}

typedef struct {
    cuzk_lane lane;
    work_patience patience;
    cuzk_work_call call;
} work_caller;

static inline void work_caller_init(work_caller *c, unsigned unit)
{
    *c = (work_caller){.patience = {-1}};
    c->call = (cuzk_work_call){
        .unit = unit, .lane = &c->lane, .is_cancelled = work_is_cancelled, .context = &c->patience};
}

/* Witness, both halves of the proof. out: CUZK_UNIT_PROOF_MAX bytes. */
static inline cuzk_status work_prove_unit(const cuzk_work *table, uint8_t *out, size_t *n_bytes,
                                          const cuzk_task *task, const cuzk_resident *resident,
                                          work_caller *c, cuzk_error *e)
{
    cuzk_unit_witness *witness = NULL;
    cuzk_pending *pending = NULL;
    CUZK_TRY(table->witness(table->user, &witness, task, resident, &c->call, e));
    cuzk_status status =
        table->prove_start(table->user, &pending, task, resident, witness, &c->call, e);
    if (status == CUZK_OK) {
        status =
            table->prove_finish(table->user, out, n_bytes, pending, task, resident, &c->call, e);
    }
    table->witness_destroy(table->user, witness);
    return status;
}

#endif
