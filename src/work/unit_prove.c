/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/unit_prove.h"

#include "base/bytes.h"
#include "groth16/prove_share.h"

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

/* Sums from number `from` to before `to`. On the CPU one may take seconds, in loops of
 * milliseconds, between which the lane is offered, too. */
static cuzk_status sums_with_lane(cuzk_pending *pending, cuzk_lane *lane, unsigned from,
                                  unsigned to, bool is_cpu, cuzk_error *err)
{
    CUZK_TRY(cuzk_lane_take(lane, err));
    pending->lane = is_cpu ? lane : NULL;
    cuzk_status status = CUZK_OK;
    for (unsigned i = from; i < to && status == CUZK_OK; i++) {
        status = i == from ? CUZK_OK : cuzk_lane_yield(lane, err);
        if (status == CUZK_OK) {
            status = cuzk_proving_sum(pending->proving, i, err);
        }
    }
    pending->lane = NULL;
    cuzk_lane_give(lane);
    return status;
}

/* ---- two cards ---- */

/* What another card makes of a proof. */
typedef struct {
    const cuzk_on_device *on;
    const cuzk_witness *witness;
    cuzk_sums sums;
    cuzk_query_set sets[3];
} part;

/* cuzk_help_run */
static cuzk_status make_part(void *ctx, const cuzk_work_call *call, cuzk_error *err)
{
    part *p = ctx;
    const cuzk_prove_device *device = NULL;
    cuzk_device_proof *proof = NULL;
    CUZK_TRY(cuzk_on_device_get(&device, p->on, call->device, err));
    CUZK_FAIL_IF(device == NULL || !device->makes_some, err, CUZK_E_UNSUPPORTED,
                 "the key is streamed there");
    CUZK_TRY(device->begin(device->context, &proof, p->witness, err));
    cuzk_status status = cuzk_lane_take(call->lane, err);
    if (status == CUZK_OK) {
        status = device->run(device->context, proof, p->sums, err);
        cuzk_lane_give(call->lane);
    }
    if (status != CUZK_OK) {
        device->drop(device->context, proof);
        return status;
    }
    cuzk_jac unused;
    return device->end(device->context, proof, &unused, p->sets, err);
}

/* With the help of another card for some sums, if there is one. */
static cuzk_status sums_of_two(cuzk_pending *pending, part *p, const cuzk_ctx *ctx,
                               const cuzk_work_call *call, cuzk_error *err)
{
    cuzk_proving_leave(pending->proving, p->sums, p->sets);
    if (!cuzk_help_begin(call->lane, make_part, p)) {
        cuzk_proving_leave(pending->proving, 0, p->sets);
        return sums_with_lane(pending, call->lane, 0, 1, false, err);
    }
    cuzk_error why = {0};
    cuzk_status status = sums_with_lane(pending, call->lane, 0, 1, false, err);
    cuzk_status of_part = cuzk_help_end(call->lane, &why);
    if (status == CUZK_OK && of_part == CUZK_OK) {
        cuzk_proving_take(pending->proving, p->sets);
    } else if (status == CUZK_OK) {
        if (of_part != CUZK_E_CANCELLED) {
            cuzk_api_log(ctx, CUZK_LOG_WARN,
                         "%s: another card did not make its part of a proof: %s", p->on->circuit,
                         why.text);
        }
        status = sums_with_lane(pending, call->lane, 1, 2, false, err);
    }
    return status;
}

static cuzk_status make_sums(cuzk_pending *pending, part *p, const cuzk_prover *prover,
                             const cuzk_prove_device *device, const cuzk_ctx *ctx,
                             const cuzk_work_call *call, cuzk_error *err)
{
    uint64_t split_ns = p->on->devices->split_ns;
    if (device != NULL && device->makes_some && split_ns > 0) {
        p->sums = cuzk_prove_share(prover, p->witness, split_ns);
    }
    return p->sums != 0
               ? sums_of_two(pending, p, ctx, call, err)
               : sums_with_lane(pending, call->lane, 0, cuzk_proving_n_sums(pending->proving),
                                device == NULL, err);
}

cuzk_status cuzk_unit_prove_start(cuzk_pending **out, const cuzk_prover *prover,
                                  const cuzk_on_device *on, const cuzk_witness *witness,
                                  const cuzk_ctx *ctx, const cuzk_work_call *call, cuzk_error *err)
{
    const cuzk_prove_device *device = NULL;
    CUZK_TRY(cuzk_on_device_get(&device, on, call->device, err));
    cuzk_pending *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "proving: out of memory");
    made->call = call;
    made->reporter = (cuzk_reporter){is_wanted, made};
    part p = {.on = on, .witness = witness};
    cuzk_prove_params params = {.device = device, .reporter = &made->reporter};
    cuzk_status status =
        cuzk_proving_begin(&made->proving, prover, witness, &params, ctx->pool, err);
    if (status == CUZK_OK) {
        status = cuzk_proving_quotient(made->proving, err);
    }
    if (status == CUZK_OK) {
        status = make_sums(made, &p, prover, device, ctx, call, err);
    }
    cuzk_wipe(p.sets, sizeof p.sets); /* sums over the witness, not blinded yet */
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
