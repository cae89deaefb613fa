/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static cuzk_status parse_unix(cuzk_address *out, const char *text, const char *path,
                              cuzk_error *err)
{
    struct sockaddr_un *a = (struct sockaddr_un *)&out->address;
    CUZK_FAIL_IF(path[0] != '/', err, CUZK_E_ARGUMENT,
                 "address \"%.200s\": a socket's path begins with /: unix:///run/curio/cuzk.sock",
                 text);
    CUZK_FAIL_IF(strlen(path) >= sizeof a->sun_path, err, CUZK_E_ARGUMENT,
                 "address \"%.200s\": the path has %zu bytes, the system allows %zu", text,
                 strlen(path), sizeof a->sun_path - 1);
    a->sun_family = AF_UNIX;
    memcpy(a->sun_path, path, strlen(path) + 1);
    out->size = (socklen_t)sizeof *a;
    out->is_unix = out->is_local = true;
    return CUZK_OK;
}

static bool parse_port(uint16_t *out, const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n > 5 || strspn(text, "0123456789") != n || atoi(text) > UINT16_MAX) {
        return false;
    }
    *out = (uint16_t)atoi(text);
    return true;
}

static bool parse_ip(cuzk_address *out, const char *ip, bool is_6)
{
    if (is_6) {
        struct sockaddr_in6 *a = (struct sockaddr_in6 *)&out->address;
        a->sin6_family = AF_INET6;
        a->sin6_port = htons(out->port);
        out->size = (socklen_t)sizeof *a;
        bool ok = inet_pton(AF_INET6, ip, &a->sin6_addr) == 1;
        out->is_local = ok && IN6_IS_ADDR_LOOPBACK(&a->sin6_addr);
        return ok;
    }
    struct sockaddr_in *a = (struct sockaddr_in *)&out->address;
    a->sin_family = AF_INET;
    a->sin_port = htons(out->port);
    out->size = (socklen_t)sizeof *a;
    bool ok = inet_pton(AF_INET, ip, &a->sin_addr) == 1;
    out->is_local = ok && (ntohl(a->sin_addr.s_addr) >> 24) == 127;
    return ok;
}

cuzk_status cuzk_address_parse(cuzk_address *out, const char *text, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0) {
        const char *path = text + 5;
        path += strncmp(path, "//", 2) == 0 ? 2 : 0;
        return parse_unix(out, text, path, err);
    }
    bool is_6 = text[0] == '[';
    const char *end = is_6 ? strstr(text, "]:") : strrchr(text, ':');
    char ip[INET6_ADDRSTRLEN] = "";
    size_t n = end != NULL ? (size_t)(end - text) - is_6 : sizeof ip;
    if (n < sizeof ip) {
        memcpy(ip, text + is_6, n);
    }
    if (n >= sizeof ip || !parse_port(&out->port, end + 1 + is_6) || !parse_ip(out, ip, is_6)) {
        return CUZK_FAIL(err, CUZK_E_ARGUMENT,
                         "address \"%.200s\": expected unix:///PATH, IP:PORT or [IP6]:PORT; names "
                         "are not looked up",
                         text);
    }
    return CUZK_OK;
}
