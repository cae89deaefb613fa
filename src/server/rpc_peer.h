/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How much a connection has received. gRPC 1.51 takes a message whole before it looks at its size,
 * up to 4 GiB, and does not tell how far it is; the kernel does. */
#ifndef CUZK_SERVER_RPC_PEER_H
#define CUZK_SERVER_RPC_PEER_H

#include <stdbool.h>
#include <stdint.h>

/** The descriptor of the connection that gRPC calls `peer`: "fd:17", or "ipv4:10.0.0.1:4711" and
 *  "ipv6:%5B::1%5D:4711", which are looked for among the process' open files. -1: none, as on Unix
 *  sockets of another process' making. */
int cuzk_peer_find(const char *peer);

/** Bytes that a TCP connection has received. False: it is no TCP connection, or has ended. */
bool cuzk_peer_bytes(int fd, uint64_t *bytes);

#endif
