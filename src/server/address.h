/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses as the configuration has them: unix:///path (also unix:path), 127.0.0.1:9820,
 * [::1]:9820. Literal ones only: a name would have to be looked up, and what it means may change.
 */
#ifndef CUZK_SERVER_ADDRESS_H
#define CUZK_SERVER_ADDRESS_H

#include "base/status.h"

#include <stdint.h>
#include <sys/socket.h>

typedef struct {
    struct sockaddr_storage address;
    socklen_t size;
    bool is_unix;
    bool is_local; /* a socket file, or loopback: only this machine reaches it */
    uint16_t port; /* 0 where the system shall choose */
} cuzk_address;

/** Read an address. Errors: E_ARGUMENT with what is wrong with it. */
cuzk_status cuzk_address_parse(cuzk_address *out, const char *text,
                               cuzk_error *err) CUZK_WARN_UNUSED;

#endif
