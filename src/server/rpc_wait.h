/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What stands between a call and the engine: a call may end at any moment, and the engine calls
 * back at any moment, even after the server is gone. A wait belongs to both; whoever comes last
 * frees it. */
#ifndef CUZK_SERVER_RPC_WAIT_H
#define CUZK_SERVER_RPC_WAIT_H

#include "server/rpc_internal.h"

/** Submit a job for a call. submission: its callbacks and `user` are filled in here. charge: what
 * its payload holds of the gate's memory, given back when the engine has taken it. wants_result:
 * the call ends with the job's result, by cuzk_prove_result; otherwise when it is accepted, by
 *  cuzk_prove_submitted. Not accepted: the call fails with the reason. */
void cuzk_wait_submit(cuzk_call *call, cuzk_submission *submission, uint64_t charge,
                      bool wants_result);

/** Wait for a job; the call ends with cuzk_prove_result, or with what the engine says. */
void cuzk_wait_await(cuzk_call *call, const char *job_id, uint64_t timeout_ns);

/** The call goes away; the job stays. may_ask: the engine is still there to be told. */
void cuzk_wait_abandon(cuzk_call *call, bool may_ask);

/* ---- rpc_prove.c: the answers ---- */
void cuzk_prove_submitted(cuzk_call *call, const cuzk_submitted *answer);
void cuzk_prove_result(cuzk_call *call, const cuzk_job_result *result);

#endif
