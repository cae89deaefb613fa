/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/unit_prove.h"

#include <stdlib.h>

struct cuzk_pending {
    cuzk_proving *proving;
    const cuzk_work_call *call; /* of the half that runs */
    cuzk_reporter reporter;
    cuzk_lane *lane; /* offered to others while the CPU makes a sum; NULL: not now */
};

static bool is_wanted(void *ctx, const char *stage, double done)
{
    const cuzk_pending *pending = ctx;
    cuzk_error err; /* cancelled, which the caller says */
    (void)stage;
    (void)done;
    return !pending->call->is_cancelled(pending->call->context) &&
           (pending->lane == NULL || cuzk_lane_yield(pending->lane, &err) == CUZK_OK);
}

void cuzk_unit_pending_destroy(void *user, cuzk_pending *pending)
{
    (void)user;
    if (pending != NULL) {
        cuzk_proving_end(pending->proving);
        free(pending);
    }
}

/* On the CPU a sum may take seconds, in loops of milliseconds, between which the lane is offered,
 * too. */
static cuzk_status sums_with_lane(cuzk_pending *pending, cuzk_lane *lane, bool is_cpu,
                                  cuzk_error *err)
{
    CUZK_TRY(cuzk_lane_take(lane, err));
    pending->lane = is_cpu ? lane : NULL;
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < cuzk_proving_n_sums(pending->proving) && status == CUZK_OK; i++) {
        status = i == 0 ? CUZK_OK : cuzk_lane_yield(lane, err);
        if (status == CUZK_OK) {
            status = cuzk_proving_sum(pending->proving, i, err);
        }
    }
    pending->lane = NULL;
    cuzk_lane_give(lane);
    return status;
}

cuzk_status cuzk_unit_prove_start(cuzk_pending **out, const cuzk_prover *prover,
                                  const cuzk_witness *witness,
                                  const struct cuzk_prove_device *device, const cuzk_ctx *ctx,
                                  const cuzk_work_call *call, cuzk_error *err)
{
    cuzk_pending *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "proving: out of memory");
    made->call = call;
    made->reporter = (cuzk_reporter){is_wanted, made};
    cuzk_prove_params params = {.device = device, .reporter = &made->reporter};
    cuzk_status status =
        cuzk_proving_begin(&made->proving, prover, witness, &params, ctx->pool, err);
    if (status == CUZK_OK) {
        status = cuzk_proving_quotient(made->proving, err);
    }
    if (status == CUZK_OK) {
        status = sums_with_lane(made, call->lane, device == NULL, err);
    }
    if (status != CUZK_OK) {
        cuzk_unit_pending_destroy(NULL, made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_unit_prove_finish(cuzk_proof_points *out, cuzk_pending *pending,
                                   const cuzk_work_call *call, cuzk_error *err)
{
    pending->call = call;
    cuzk_status status = cuzk_proving_assemble(pending->proving, out, err);
    cuzk_unit_pending_destroy(NULL, pending);
    return status;
}
