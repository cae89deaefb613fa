/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the daemon is. */
#ifndef CUZK_CLIENT_LOCATE_H
#define CUZK_CLIENT_LOCATE_H

#include "base/status.h"

typedef struct {
    const char *connect, *status; /* as given on the command line; NULL: not */
    const char *config_path;      /* the daemon's configuration; NULL: the default file */
} cuzk_locate_sources;

/** Addresses of the daemon's gRPC service and of its HTTP port.
 *
 *  address: what is given, else the environment's CUZK_LISTEN, else the first of daemon.listen in
 *  the configuration, whose defaults hold where there is none; a wildcard becomes loopback.
 *  status: what is given; else CUZK_STATUS_LISTEN, unless the daemon was named on the command line;
 *  else the configuration's, if the daemon's address came from there; "": none. n_bytes: room for
 * each. Errors: E_ARGUMENT, E_FILE: a configuration that cannot be read. */
cuzk_status cuzk_locate(char *address, char *status, size_t n_bytes,
                        const cuzk_locate_sources *sources, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
