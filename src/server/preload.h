/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* srs.preload: a thread that loads circuits one after the other while the daemon serves already,
 * and tries again what failed, such as a file that is not there yet. When all are there the server
 * is ready. */
#ifndef CUZK_SERVER_PRELOAD_H
#define CUZK_SERVER_PRELOAD_H

#include "server/server.h"

typedef struct cuzk_preload cuzk_preload;

/** Start with a list of circuits; copied. Errors: E_MEMORY. */
cuzk_status cuzk_preload_start(cuzk_preload **out, cuzk_server *server,
                               const cuzk_config_list *circuits, cuzk_error *err) CUZK_WARN_UNUSED;

/** Load those of a new list that are not loaded, and stop trying those that it no longer has.
 *  Errors: E_MEMORY: the list stays as it was. */
cuzk_status cuzk_preload_set(cuzk_preload *preload, const cuzk_config_list *circuits,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Stop: true when the thread has ended; false when a load still runs at the deadline on
 *  cuzk_now_ns' clock: then the thread still uses the engine. */
bool cuzk_preload_stop(cuzk_preload *preload, uint64_t deadline_ns);

/** Free it, after a stop that was true. NULL is fine. */
void cuzk_preload_destroy(cuzk_preload *preload);

#endif
