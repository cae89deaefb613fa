/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Jobs in a picture of the engine, as /status and GetStatus list them: which are queued, what they
 * wait for. */
#ifndef CUZK_SERVER_STATUS_JOBS_H
#define CUZK_SERVER_STATUS_JOBS_H

#include "base/text.h"
#include "engine/engine.h"

enum { CUZK_STATUS_JOBS_MAX = 256 }; /* listed of a kind: that have begun, that are queued */

/** The queued ones, in the order of service: priority, then age. n: their number. Returned: free;
 *  what it points to is the view's. NULL: no memory, with n 0. */
const cuzk_job_view **cuzk_status_queued(const cuzk_engine_view *view, unsigned *n);

/** A wait in words, to stand behind "waits for"; nothing for NOTHING. view: the one it is in. */
void cuzk_wait_text(cuzk_text *out, const cuzk_wait_view *wait, const cuzk_engine_view *view);

/** A reason for programs: "memory"; "" for NOTHING. */
const char *cuzk_wait_label(cuzk_wait_reason reason);

#endif
