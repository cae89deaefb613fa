/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a failed call means, in words: whether there was anybody to talk to, and what was said. */
#include "client/channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const struct {
    grpc_status_code code;
    const char *name;
    cuzk_status status;
} codes[] = {
    {GRPC_STATUS_CANCELLED, "CANCELLED", CUZK_E_CANCELLED},
    {GRPC_STATUS_UNKNOWN, "UNKNOWN", CUZK_E_INTERNAL},
    {GRPC_STATUS_INVALID_ARGUMENT, "INVALID_ARGUMENT", CUZK_E_FORMAT},
    {GRPC_STATUS_DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", CUZK_E_DEADLINE},
    {GRPC_STATUS_NOT_FOUND, "NOT_FOUND", CUZK_E_NOT_FOUND},
    {GRPC_STATUS_ALREADY_EXISTS, "ALREADY_EXISTS", CUZK_E_MISMATCH},
    {GRPC_STATUS_PERMISSION_DENIED, "PERMISSION_DENIED", CUZK_E_UNAVAILABLE},
    {GRPC_STATUS_RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", CUZK_E_MEMORY},
    {GRPC_STATUS_FAILED_PRECONDITION, "FAILED_PRECONDITION", CUZK_E_FILE},
    {GRPC_STATUS_ABORTED, "ABORTED", CUZK_E_INTERNAL},
    {GRPC_STATUS_OUT_OF_RANGE, "OUT_OF_RANGE", CUZK_E_FORMAT},
    {GRPC_STATUS_UNIMPLEMENTED, "UNIMPLEMENTED", CUZK_E_UNSUPPORTED},
    {GRPC_STATUS_INTERNAL, "INTERNAL", CUZK_E_INTERNAL},
    {GRPC_STATUS_UNAVAILABLE, "UNAVAILABLE", CUZK_E_UNAVAILABLE},
    {GRPC_STATUS_DATA_LOSS, "DATA_LOSS", CUZK_E_INTERNAL},
    {GRPC_STATUS_UNAUTHENTICATED, "UNAUTHENTICATED", CUZK_E_UNAVAILABLE},
};

/* Why a Unix socket takes no connection, found by trying; gRPC's own words are long and vary. NULL:
 * it does take one, or the path is too long to try. */
static const char *socket_reason(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return "the path is too long for a socket";
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return NULL;
    }
    int reason = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(fd);
    return reason == 0        ? NULL
           : reason == ENOENT ? "there is no such socket; is the daemon running (cuzk serve)?"
           : reason == ECONNREFUSED
               ? "nobody listens on this socket: the daemon that made it has ended"
           : reason == EACCES
               ? "permission denied: the socket's owner, group or mode keeps this user out"
               : strerror(reason);
}

/* gRPC's account of failed connections ends with the last one's reason. */
static const char *last_reason(const char *text)
{
    static const char marker[] = "last error: ";
    for (const char *next = text; (next = strstr(next, marker)) != NULL;) {
        next += sizeof marker - 1;
        text = next;
    }
    static const char *const codes_in_front[] = {"UNKNOWN: ", "UNAVAILABLE: "};
    for (size_t i = 0; i < sizeof codes_in_front / sizeof codes_in_front[0]; i++) {
        size_t n = strlen(codes_in_front[i]);
        if (strncmp(text, codes_in_front[i], n) == 0) {
            text += n;
        }
    }
    return text;
}

/* Which of these it is depends on what was sent when. */
static bool is_closed_at_once(const char *reason)
{
    static const char *const words[] = {"Broken pipe", "Connection reset", "Socket closed"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(reason, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void explain_connection(cuzk_error *error, const cuzk_client *client, const char *text)
{
    static const char unix_scheme[] = "unix:";
    const char *reason = NULL;
    if (strncmp(client->target, unix_scheme, sizeof unix_scheme - 1) == 0) {
        reason = socket_reason(client->target + sizeof unix_scheme - 1);
    }
    const char *hint = "";
    if (reason == NULL) {
        reason = last_reason(text);
        if (client->is_tls) {
            hint = " (TLS: does the daemon use it, and is its certificate signed by what --tls-ca "
                   "or the system names?)";
        } else if (strstr(reason, "Connection refused") != NULL) {
            hint = "; is the daemon running (cuzk serve)?";
        } else if (strstr(reason, "http1.x") != NULL || strstr(reason, "parsing HTTP/2") != NULL) {
            hint = "; this is not gRPC, perhaps the daemon's HTTP port";
        } else if (is_closed_at_once(reason)) {
            hint = ": the connection was closed at once; has the daemon as many as it takes "
                   "(rpc.max_connections)?";
        }
    }
    CUZK_FAIL(error, CUZK_E_UNAVAILABLE, "connecting to %.300s: %.500s%s", client->address, reason,
              hint);
}

/* Whether a call failed since there is no connection, rather than by the daemon's word. */
static bool is_about_connection(const char *text)
{
    static const char *const beginnings[] = {"failed to connect to all addresses",
                                             "DNS resolution failed", "empty address list",
                                             "connections to all backends failing"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strstr(text, beginnings[i]) != NULL) {
            return true;
        }
    }
    return false;
}

cuzk_client_reach cuzk_client_explain(cuzk_error *error, cuzk_client *client,
                                      cuzk_client_method method, grpc_status_code code,
                                      const char *text)
{
    cuzk_error_clear(error);
    const char *name = cuzk_client_method_name(method);
    if (code == GRPC_STATUS_UNAVAILABLE && is_about_connection(text)) {
        explain_connection(error, client, text);
        return CUZK_REACH_NONE;
    }
    grpc_connectivity_state state = grpc_channel_check_connectivity_state(client->channel, 0);
    if (code == GRPC_STATUS_DEADLINE_EXCEEDED) {
        CUZK_FAIL(
            error, CUZK_E_DEADLINE, "%s to %.300s: no answer in time; %s", name, client->address,
            state == GRPC_CHANNEL_READY ? "the connection stands" : "there is no connection yet");
        return CUZK_REACH_DAEMON;
    }
    if (code == GRPC_STATUS_UNAVAILABLE && state != GRPC_CHANNEL_READY) {
        CUZK_FAIL(error, CUZK_E_UNAVAILABLE, "%s to %.300s: the connection was lost: %.500s", name,
                  client->address, text);
        return CUZK_REACH_LOST;
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == code) {
            CUZK_FAIL(error, codes[i].status, "the daemon at %.200s: %s: %.600s", client->address,
                      codes[i].name, text[0] != '\0' ? text : "without a reason");
            return code == GRPC_STATUS_UNAVAILABLE ? CUZK_REACH_LEAVING : CUZK_REACH_DAEMON;
        }
    }
    CUZK_FAIL(error, CUZK_E_INTERNAL, "the daemon at %.200s: status %d: %.600s", client->address,
              (int)code, text);
    return CUZK_REACH_DAEMON;
}
