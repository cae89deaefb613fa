/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the service manager and the daemon tell each other. Without systemd nothing of it happens.
 */
#ifndef CUZK_SERVER_SYSTEMD_H
#define CUZK_SERVER_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

enum { CUZK_LISTEN_FDS_MAX = 16 };

/** Sockets that were passed for listening (TCP or Unix streams); other descriptors that were passed
 *  are closed. Returns how many. To be called once, before threads. */
unsigned cuzk_systemd_listen_fds(int *fds);

/** Whether standard error is the journal's: lines get a priority in front. */
bool cuzk_systemd_has_journal(void);

/** Say that the daemon listens / ends / reads its configuration again; status: a line for people.
 */
void cuzk_systemd_ready(const char *status);
void cuzk_systemd_stopping(const char *status);
void cuzk_systemd_reloading(void);

/** The line for people alone. */
void cuzk_systemd_status(const char *status);

/** How often the watchdog wants to hear of us, ns; 0: there is none. */
uint64_t cuzk_systemd_watchdog_ns(void);
void cuzk_systemd_alive(void);

#endif
