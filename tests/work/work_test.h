/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of src/work share: payloads as a client packs them (protobuf-c shares no code with
 * our reader), a lane without an engine, and a unit taken through all of its stages. */
#ifndef CUZK_TESTS_WORK_TEST_H
#define CUZK_TESTS_WORK_TEST_H

#include "cuzk.h"
#include "engine/work.h"
#include "fixtures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_error err;

/* Fail with the work's own words. */
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        cuzk_error_clear(&err);                                                                    \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != CUZK_OK) {                                                                  \
            print_error("%s: %s: %s\n", #expr, cuzk_status_name(status_), err.text);               \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The call fails with this status, and its text holds `part`. */
#define assert_fails(expr, expected, part)                                                         \
    do {                                                                                           \
        cuzk_error_clear(&err);                                                                    \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != (expected) || err.status != (expected) ||                                   \
            strstr(err.text, (part)) == NULL) {                                                    \
            print_error("%s: %s, expected %s with \"%s\": %s\n", #expr, cuzk_status_name(status_), \
                        cuzk_status_name(expected), (part), err.text);                             \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- a lane ---------------------------------------------------------------------------------- */

/* Counts; refuses once when it is told to. One thread at a time. */
struct cuzk_lane {
    unsigned n_taken, n_given;
    bool refuses;
};

cuzk_status cuzk_lane_take(cuzk_lane *lane, cuzk_error *e)
{
    CUZK_FAIL_IF(lane->refuses, e, CUZK_E_CANCELLED, "cancelled while waiting for the lane");
    lane->n_taken++;
    return CUZK_OK;
}

void cuzk_lane_give(cuzk_lane *lane)
{
    lane->n_given++;
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
