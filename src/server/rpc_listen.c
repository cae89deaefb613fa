/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Listening sockets, made here or taken over; rpc_accept.c accepts on them. */
#include "server/address.h"
#include "server/rpc_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* "unix://PATH", "127.0.0.1:9820", "[::1]:9820" */
static void name_address(char *out, size_t capacity, const struct sockaddr_storage *address)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_UNIX) {
        snprintf(out, capacity, "unix://%s", ((const struct sockaddr_un *)address)->sun_path);
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &a->sin6_addr, ip, sizeof ip);
        snprintf(out, capacity, "[%s]:%u", ip, ntohs(a->sin6_port));
    } else {
        const struct sockaddr_in *a = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &a->sin_addr, ip, sizeof ip);
        snprintf(out, capacity, "%s:%u", ip, ntohs(a->sin_port));
    }
}

/* Make the folders above a path. */
static cuzk_status make_parents(const char *path, cuzk_error *err)
{
    char folder[sizeof((struct sockaddr_un *)0)->sun_path];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = folder + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        CUZK_FAIL_IF(mkdir(folder, 0755) != 0 && errno != EEXIST, err, CUZK_E_FILE,
                     "making folder %s: %s", folder, strerror(errno));
        *p = '/';
    }
    return CUZK_OK;
}

/* Remove the socket of a server that is gone. What is no socket, or a socket behind which somebody
 * listens, stays, and is an error. */
static cuzk_status remove_stale(const cuzk_address *address, cuzk_error *err)
{
    const char *path = ((const struct sockaddr_un *)&address->address)->sun_path;
    struct stat st;
    if (lstat(path, &st) != 0) {
        CUZK_FAIL_IF(errno != ENOENT, err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
        return CUZK_OK;
    }
    CUZK_FAIL_IF(!S_ISSOCK(st.st_mode), err, CUZK_E_FILE,
                 "%s: there is something that is not a socket; it stays", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "socket: %s", strerror(errno));
    int e = connect(fd, (const struct sockaddr *)&address->address, address->size) == 0 ? 0 : errno;
    close(fd);
    CUZK_FAIL_IF(e == 0 || e == EAGAIN || e == EINPROGRESS, err, CUZK_E_FILE,
                 "%s: another process listens there", path);
    CUZK_FAIL_IF(e != ECONNREFUSED, err, CUZK_E_FILE,
                 "%s: whether a process listens there cannot be seen: %s", path, strerror(e));
    CUZK_FAIL_IF(unlink(path) != 0 && errno != ENOENT, err, CUZK_E_FILE, "removing %s: %s", path,
                 strerror(errno));
    return CUZK_OK;
}

/* The number of a user or group, by name or as digits. */
static bool find_id(uint32_t *id, const char *name, bool is_group)
{
    size_t n = strlen(name);
    if (n > 0 && n < 10 && strspn(name, "0123456789") == n) {
        *id = (uint32_t)strtoul(name, NULL, 10);
        return true;
    }
    char buffer[4096];
    if (is_group) {
        struct group entry, *found = NULL;
        if (getgrnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL) {
            return false;
        }
        *id = found->gr_gid;
    } else {
        struct passwd entry, *found = NULL;
        if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL) {
            return false;
        }
        *id = found->pw_uid;
    }
    return true;
}

/* "USER", "USER:GROUP", ":GROUP" */
static cuzk_status set_owner(const char *path, const char *owner, cuzk_error *err)
{
    if (owner == NULL || owner[0] == '\0') {
        return CUZK_OK;
    }
    char user[256];
    snprintf(user, sizeof user, "%s", owner);
    char *group = strchr(user, ':');
    if (group != NULL) {
        *group++ = '\0';
    }
    uint32_t uid = UINT32_MAX, gid = UINT32_MAX; /* left as they are */
    CUZK_FAIL_IF(user[0] != '\0' && !find_id(&uid, user, false), err, CUZK_E_ARGUMENT,
                 "socket owner \"%s\": there is no user %s", owner, user);
    CUZK_FAIL_IF(group != NULL && group[0] != '\0' && !find_id(&gid, group, true), err,
                 CUZK_E_ARGUMENT, "socket owner \"%s\": there is no group %s", owner, group);
    CUZK_FAIL_IF(lchown(path, uid, gid) != 0, err, CUZK_E_FILE, "%s: giving it to %s: %s", path,
                 owner, strerror(errno));
    return CUZK_OK;
}

/* The file of a Unix socket, to be removed at the end if it is still the same. */
static bool note_socket_file(cuzk_listener *listener, const char *path)
{
    struct stat st;
    snprintf(listener->socket_path, sizeof listener->socket_path, "%s", path);
    bool is_there = lstat(path, &st) == 0;
    listener->socket_inode = is_there ? st.st_ino : 0;
    listener->socket_device = is_there ? st.st_dev : 0;
    return is_there;
}

static cuzk_status open_unix(cuzk_listener *listener, const cuzk_address *address, cuzk_error *err)
{
    const cuzk_rpc_options *options = &listener->rpc->options;
    const char *path = ((const struct sockaddr_un *)&address->address)->sun_path;
    CUZK_TRY(make_parents(path, err));
    CUZK_TRY(remove_stale(address, err));
    /* the mode counts from bind on: nobody gets in between */
    CUZK_FAIL_IF(
        fchmod(listener->fd, options->socket_mode) != 0 ||
            bind(listener->fd, (const struct sockaddr *)&address->address, address->size) != 0,
        err, CUZK_E_FILE, "listening on %s: %s", path, strerror(errno));
    CUZK_FAIL_IF(!note_socket_file(listener, path), err, CUZK_E_FILE, "%s: %s", path,
                 strerror(errno));
    CUZK_TRY(set_owner(path, options->socket_owner, err));
    CUZK_FAIL_IF(chmod(path, options->socket_mode) != 0, err, CUZK_E_FILE, "%s: mode %o: %s", path,
                 options->socket_mode, strerror(errno));
    return CUZK_OK;
}

static cuzk_status open_tcp(cuzk_listener *listener, const cuzk_address *address, const char *text,
                            cuzk_error *err)
{
    /* an address in TIME_WAIT is free; one that somebody listens on is not */
    int on = 1;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    CUZK_FAIL_IF(bind(listener->fd, (const struct sockaddr *)&address->address, address->size) != 0,
                 err, CUZK_E_FILE, "listening on %s: %s", text, strerror(errno));
    return CUZK_OK;
}

static cuzk_status open_socket(cuzk_listener *listener, const cuzk_address *address,
                               const char *text, cuzk_error *err)
{
    listener->fd =
        socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CUZK_FAIL_IF(listener->fd < 0, err, CUZK_E_FILE, "listening on %s: %s", text, strerror(errno));
    CUZK_TRY(address->is_unix ? open_unix(listener, address, err)
                              : open_tcp(listener, address, text, err));
    CUZK_FAIL_IF(listen(listener->fd, BACKLOG) != 0, err, CUZK_E_FILE, "listening on %s: %s", text,
                 strerror(errno));
    return CUZK_OK;
}

/* gRPC's own listener behind the relay. */
static cuzk_status open_inner(cuzk_listener *listener, cuzk_error *err)
{
    cuzk_rpc *rpc = listener->rpc;
    char address[sizeof listener->inner_path + 8];
    cuzk_relay_path(rpc->relay, listener->inner_path, rpc->n_listeners);
    snprintf(address, sizeof address, "unix:%s", listener->inner_path);
    grpc_server_credentials *credentials = cuzk_tls_credentials(rpc->tls, &listener->tls);
    int port = grpc_server_add_http2_port(listener->server, address, credentials);
    grpc_server_credentials_release(credentials);
    CUZK_FAIL_IF(port == 0, err, CUZK_E_FILE, "TLS: gRPC cannot listen on %s",
                 listener->inner_path);
    return CUZK_OK;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    }
    return address->ss_family == AF_UNIX ||
           ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

static cuzk_status check_plain(const cuzk_listener *listener, bool is_unix, bool is_local,
                               cuzk_error *err)
{
    CUZK_FAIL_IF(!is_unix && !is_local && !listener->rpc->options.allow_plaintext, err,
                 CUZK_E_ARGUMENT,
                 "listening on %s: other machines reach it, and there is no TLS certificate; "
                 "plaintext there must be allowed explicitly",
                 listener->address);
    if (!is_unix && !is_local) {
        CUZK_LOG(listener->rpc->options.log, CUZK_LOG_WARN,
                 "gRPC is served without TLS where other machines reach it",
                 CUZK_LOG_S("address", listener->address));
    }
    return CUZK_OK;
}

/* A socket that another process has made and that listens already. */
static cuzk_status take_over(cuzk_listener *listener, int fd, cuzk_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    int listens = 0;
    socklen_t n = sizeof listens;
    listener->fd = fd;
    CUZK_FAIL_IF(getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
                     getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || listens == 0,
                 err, CUZK_E_ARGUMENT, "descriptor %d is not a listening socket", fd);
    name_address(listener->address, sizeof listener->address, &address);
    listener->is_local = address.ss_family == AF_UNIX;
    if (listener->is_local && listener->rpc->options.owns_listen_fds) {
        note_socket_file(listener, ((const struct sockaddr_un *)&address)->sun_path);
    }
    if (listener->rpc->tls != NULL && !listener->is_local) {
        CUZK_TRY(open_inner(listener, err));
    } else {
        CUZK_TRY(check_plain(listener, listener->is_local, is_loopback(&address), err));
    }
    int flags = fcntl(fd, F_GETFL);
    CUZK_FAIL_IF(flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
                     fcntl(fd, F_SETFD, FD_CLOEXEC) != 0,
                 err, CUZK_E_FILE, "descriptor %d: %s", fd, strerror(errno));
    return CUZK_OK;
}

cuzk_status cuzk_listener_open(cuzk_listener *listener, cuzk_rpc *rpc, const char *text, int fd,
                               cuzk_error *err)
{
    if (text == NULL) {
        return take_over(listener, fd, err);
    }
    cuzk_address address;
    CUZK_TRY(cuzk_address_parse(&address, text, err));
    name_address(listener->address, sizeof listener->address, &address.address);
    listener->is_local = address.is_unix;
    if (rpc->tls != NULL && !address.is_unix) {
        CUZK_TRY(open_inner(listener, err));
    } else {
        CUZK_TRY(check_plain(listener, address.is_unix, address.is_local, err));
    }
    CUZK_TRY(open_socket(listener, &address, text, err));
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    if (!address.is_unix && getsockname(listener->fd, (struct sockaddr *)&bound, &size) == 0) {
        name_address(listener->address, sizeof listener->address, &bound);
    }
    return CUZK_OK;
}

int cuzk_listener_keep(cuzk_listener *listener)
{
    enum { ABOVE = 64 /* the numbers of sockets that are handed over */ };
    int fd = listener->fd < 0 ? -1 : fcntl(listener->fd, F_DUPFD_CLOEXEC, ABOVE);
    if (fd >= 0) {
        listener->socket_path[0] = '\0';
    }
    return fd;
}

void cuzk_listener_close(cuzk_listener *listener)
{
    if (listener->fd >= 0) {
        close(listener->fd);
        listener->fd = -1;
    }
    struct stat st;
    if (listener->socket_path[0] != '\0' && lstat(listener->socket_path, &st) == 0 &&
        S_ISSOCK(st.st_mode) && st.st_ino == listener->socket_inode &&
        st.st_dev == listener->socket_device) {
        unlink(listener->socket_path);
    }
    listener->socket_path[0] = '\0';
    if (listener->inner_path[0] != '\0') {
        unlink(listener->inner_path);
    }
}
