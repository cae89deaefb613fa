/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/rpc_peer.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool cuzk_peer_bytes(const char *peer, uint64_t *bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (strncmp(peer, "fd:", 3) != 0 ||
        getsockopt(atoi(peer + 3), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return false;
    }
    *bytes = info.tcpi_bytes_received;
    return size >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
}
