/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/rpc_peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The other end of a connection as gRPC writes it. */
static bool is_peer(int fd, const char *peer)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char ip[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 32];
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *a = (const struct sockaddr_in *)&address;
        inet_ntop(AF_INET, &a->sin_addr, ip, sizeof ip);
        snprintf(text, sizeof text, "ipv4:%s:%u", ip, ntohs(a->sin_port));
        return strcmp(text, peer) == 0;
    }
    if (address.ss_family != AF_INET6) {
        return false;
    }
    const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)&address;
    inet_ntop(AF_INET6, &a->sin6_addr, ip, sizeof ip);
    snprintf(text, sizeof text, "ipv6:%%5B%s%%5D:%u", ip, ntohs(a->sin6_port));
    if (strcmp(text, peer) == 0) {
        return true;
    }
    /* an IPv4 client of an IPv6 socket */
    snprintf(text, sizeof text, "ipv4:%s:%u", ip + (strncmp(ip, "::ffff:", 7) == 0 ? 7 : 0),
             ntohs(a->sin6_port));
    return strcmp(text, peer) == 0;
}

int cuzk_peer_find(const char *peer)
{
    if (strncmp(peer, "fd:", 3) == 0) {
        return atoi(peer + 3);
    }
    DIR *folder = strncmp(peer, "ip", 2) == 0 ? opendir("/proc/self/fd") : NULL;
    int found = -1;
    for (struct dirent *entry; folder != NULL && found < 0 && (entry = readdir(folder)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && is_peer(fd, peer)) {
            found = fd;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return found;
}

bool cuzk_peer_bytes(int fd, uint64_t *bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return false;
    }
    *bytes = info.tcpi_bytes_received;
    return size >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
}
