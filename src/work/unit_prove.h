/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proving a unit in the engine's two halves, whatever its family: cuzk_work.prove_start,
 * prove_finish and pending_destroy over groth16/proving.h. */
#ifndef CUZK_WORK_UNIT_PROVE_H
#define CUZK_WORK_UNIT_PROVE_H

#include "api/api.h"
#include "engine/work.h"
#include "groth16/proving.h"
#include "work/on_device.h"

/** Rows and quotient, then, with the lane, the sums, between which, and on the CPU between the
 * loops of which, it is offered to units that come first. Cancelling is noticed between and in
 * them. On a card some sums over the witness are made by another one where that saves at least
 * split_ns of the devices and the engine has one to help; where that fails, by the first one after
 * all, which the log of ctx tells.
 *
 *  prover, witness, on (where its key is: on the device of the call): borrowed until the pending
 *  ends. Returned: ended by finish or destroy. Errors: those of cuzk_proving_*, E_INTERNAL (the key
 *  is not on the device). */
cuzk_status cuzk_unit_prove_start(cuzk_pending **out, const cuzk_prover *prover,
                                  const cuzk_on_device *on, const cuzk_witness *witness,
                                  const cuzk_ctx *ctx, const cuzk_work_call *call,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Blinding and assembly. pending: ended in any case. */
cuzk_status cuzk_unit_prove_finish(cuzk_proof_points *out, cuzk_pending *pending,
                                   const cuzk_work_call *call, cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_unit_pending_destroy(void *user, cuzk_pending *pending);

#endif
