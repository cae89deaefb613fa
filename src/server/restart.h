/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon executes itself again, in the same process: for devices that a driver gives back to
 * new programs only. Jobs are in the journal, listening sockets stay: who connects meanwhile waits
 * until the new program accepts. */
#ifndef CUZK_SERVER_RESTART_H
#define CUZK_SERVER_RESTART_H

#include "server/systemd.h"

enum {
    CUZK_RESTARTS_MAX = 3,      /* in … */
    CUZK_RESTARTS_SECONDS = 600 /* … this time: more would not help */
};

/* What a program hands to the one that follows it. All zero: the first. */
typedef struct {
    unsigned n;           /* restarts in a row */
    int64_t since;        /* Unix time of the first of them */
    unsigned status_port; /* of the HTTP port, for a configuration that lets the system choose */
    unsigned
        owns_sockets; /* 1: the listening sockets are the daemon's, which removes their files */
} cuzk_restarts;

/** What the program before this one handed over; once, at the start. The environment is as it would
 *  be without. */
cuzk_restarts cuzk_restarts_take(void);

/** Whether another restart may help; counts it. now: Unix time. */
bool cuzk_restarts_may(cuzk_restarts *restarts, int64_t now);

/** Execute this program with its own command line, environment and these listening sockets, which
 *  it finds as systemd's. Nothing else of the process is kept. Returns only on failure, with the
 *  reason: the sockets are closed. */
const char *cuzk_restart(const cuzk_restarts *restarts, const int *listen_fds, unsigned n);

#endif
