/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GetStatusResponse from the engine's view. */
#ifndef CUZK_SERVER_RPC_STATUS_H
#define CUZK_SERVER_RPC_STATUS_H

#include "base/text.h"
#include "engine/engine.h"

/** Append a GetStatusResponse on the wire: a gpu for each worker, the residents, a queue for each
 *  kind that has unfinished jobs, whose pending and in_progress add up to their number; the memory
 *  fields are the budget and what is reserved of it. */
void cuzk_status_message(cuzk_text *out, const cuzk_engine_view *view,
                         const cuzk_engine_kind *kinds);

#endif
