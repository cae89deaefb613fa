/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The way of TLS connections to gRPC, which speaks TLS on listeners of its own only. They have no
 * limit, and gRPC 1.51 stops accepting for good when descriptors have run out once. So connections
 * are accepted here, like plain ones, and their bytes carried, encrypted as they are, to and from a
 * private Unix socket on which gRPC listens.
 *
 * Each connection has a name there, by which gRPC calls its peer, and its bytes are counted. */
#ifndef CUZK_SERVER_RPC_RELAY_H
#define CUZK_SERVER_RPC_RELAY_H

#include "base/status.h"

#include <stdint.h>

typedef struct cuzk_relay cuzk_relay;

/* Connections that have calls: sorted; a descriptor of a plain one, bit 32 and a slot of one that
 * comes through the relay. */
typedef struct {
    uint64_t *connections;
    unsigned n;
} cuzk_rpc_used;

/** Whether a plain connection's descriptor, or a slot of the relay, is among them. used NULL: no.
 */
bool cuzk_rpc_is_used(const cuzk_rpc_used *used, unsigned number, bool is_relayed);

/** Start the thread. max: connections at once. Errors: E_FILE, E_MEMORY. */
cuzk_status cuzk_relay_create(cuzk_relay **out, unsigned max, cuzk_error *err) CUZK_WARN_UNUSED;

/** Close all connections and remove the private folder. NULL is fine. */
void cuzk_relay_destroy(cuzk_relay *relay);

/** A path in the private folder for a listener of gRPC. path: of 108 bytes. */
void cuzk_relay_path(const cuzk_relay *relay, char path[108], unsigned index);

/** Carry a connection to the listener at `path`. fd: handed over, also on failure. False: gRPC or
 * the system did not take it. One thread at a time. */
bool cuzk_relay_add(cuzk_relay *relay, int fd, const char *path);

/** Bytes that the connection of a peer, as gRPC calls it, has sent. False: it is none of this
 * relay. Thread-safe. */
bool cuzk_relay_bytes(cuzk_relay *relay, const char *peer, uint64_t *bytes);

/** The slot of a peer's connection. False: it is none of this relay. Thread-safe. */
bool cuzk_relay_slot(const cuzk_relay *relay, const char *peer, unsigned *slot_number);

/** Carry to the clients what gRPC has sent, then end what is sent to them, on all connections but
 *  those that are used (NULL: none is). Thread-safe. */
void cuzk_relay_end(cuzk_relay *relay, const cuzk_rpc_used *used);

#endif
