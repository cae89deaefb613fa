/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How much a connection has received. gRPC 1.51 takes a message whole before it looks at its size,
 * up to 4 GiB, and does not tell how far it is; the kernel does. */
#ifndef CUZK_SERVER_RPC_PEER_H
#define CUZK_SERVER_RPC_PEER_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes that a plain TCP connection has received. peer: as gRPC calls it, "fd:17". False: it is
 *  another kind of connection, or has ended. */
bool cuzk_peer_bytes(const char *peer, uint64_t *bytes);

#endif
