/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Accepting connections and handing them to gRPC, or to the relay before it. gRPC's own acceptor
 * takes any number of connections and ends for good when descriptors run out; this one has a limit,
 * and waits.
 *
 * gRPC closes a connection without a word. Which ones are still open is found by looking at them:
 * a descriptor that is another file now, or none, is a connection that has ended. */
#define _GNU_SOURCE /* accept4 */

#include "server/rpc_internal.h"

#include <errno.h>
#include <grpc/grpc_posix.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAUSE_MS = 50, LOOK_NS = 100000000, SPARE_FILES = 64, MANY = 256, KEPT_FOR_SOCKETS = 16 };

typedef struct {
    int fd;
    uint64_t inode;
    bool is_local, is_relayed;
    bool is_ended; /* nothing more is sent on it */
} connection;

struct cuzk_acceptor {
    cuzk_rpc *rpc;
    grpc_server_credentials *credentials;
    int wake;
    pthread_t thread;
    bool has_ended;
    connection *connections; /* max_connections; the acceptor's thread's, and then under lock */
    unsigned n, n_far;       /* n_far: of TCP */
    unsigned far_max;        /* the rest of max_connections is for Unix sockets */
    uint64_t looked_ns;
    atomic_uint n_open;
    atomic_ullong n_total, n_refused;
    pthread_mutex_t lock; /* guards the connections once the thread has ended */
};

static bool is_open(const connection *c)
{
    struct stat st;
    return fstat(c->fd, &st) == 0 && st.st_ino == c->inode;
}

/* Forget connections that have ended. */
static void look(struct cuzk_acceptor *acceptor)
{
    unsigned n = 0, n_far = 0;
    for (unsigned i = 0; i < acceptor->n; i++) {
        connection c = acceptor->connections[i];
        if (is_open(&c)) {
            acceptor->connections[n++] = c;
            n_far += !c.is_local;
        }
    }
    if (acceptor->n - n > MANY) {
        atomic_store_explicit(&acceptor->rpc->wants_trim, true, memory_order_relaxed);
    }
    acceptor->n = n;
    acceptor->n_far = n_far;
    acceptor->looked_ns = cuzk_now_ns();
}

static bool is_full(const struct cuzk_acceptor *acceptor, const cuzk_listener *listener)
{
    return acceptor->n == acceptor->rpc->options.max_connections ||
           (!listener->is_local && acceptor->n_far >= acceptor->far_max);
}

/* False: descriptors or memory have run out. */
static bool accept_one(struct cuzk_acceptor *acceptor, cuzk_listener *listener, bool *more)
{
    cuzk_rpc *rpc = acceptor->rpc;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    *more = fd >= 0 || errno == EINTR || errno == ECONNABORTED;
    if (fd < 0) {
        bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (is_short) {
            CUZK_LOG(rpc->options.log, CUZK_LOG_ERROR,
                     "connections wait: the process may have no more open files");
        }
        return !is_short;
    }
    if (is_full(acceptor, listener) && cuzk_now_ns() - acceptor->looked_ns > LOOK_NS) {
        look(acceptor);
    }
    struct stat st;
    struct rlimit files;
    /* descriptors are given out lowest first: the last ones are for the rest of the process, and
     * for gRPC behind the relay, which does not survive to be without */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)fd + SPARE_FILES >= files.rlim_cur) {
        close(fd);
        atomic_fetch_add_explicit(&acceptor->n_refused, 1, memory_order_relaxed);
        CUZK_LOG(rpc->options.log, CUZK_LOG_ERROR,
                 "connection refused: the process may have hardly any more open files",
                 CUZK_LOG_U("files", files.rlim_cur));
        return true;
    }
    if (is_full(acceptor, listener) || fstat(fd, &st) != 0) {
        close(fd);
        atomic_fetch_add_explicit(&acceptor->n_refused, 1, memory_order_relaxed);
        CUZK_LOG(rpc->options.log, CUZK_LOG_WARN, "connection refused: there are as many as may be",
                 CUZK_LOG_S("address", listener->address), CUZK_LOG_U("connections", acceptor->n),
                 CUZK_LOG_U("max_connections", rpc->options.max_connections),
                 CUZK_LOG_U("max_of_tcp", acceptor->far_max));
        return true;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* no-op on a Unix socket */
    acceptor->connections[acceptor->n++] = (connection){
        .fd = fd,
        .inode = st.st_ino,
        .is_local = listener->is_local,
        .is_relayed = listener->inner_path[0] != '\0',
    };
    acceptor->n_far += !listener->is_local;
    atomic_fetch_add_explicit(&acceptor->n_total, 1, memory_order_relaxed);
    if (listener->inner_path[0] == '\0') {
        grpc_server_add_channel_from_fd(listener->server, fd, acceptor->credentials);
    } else if (!cuzk_relay_add(rpc->relay, fd, listener->inner_path)) {
        CUZK_LOG(rpc->options.log, CUZK_LOG_WARN, "a TLS connection could not be taken");
    }
    return true;
}

static void *accept_all(void *argument)
{
    struct cuzk_acceptor *acceptor = argument;
    cuzk_rpc *rpc = acceptor->rpc;
    struct pollfd fds[CUZK_RPC_LISTEN_MAX + 1];
    cuzk_listener *listeners[CUZK_RPC_LISTEN_MAX];
    nfds_t n = 0;
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        if (rpc->listeners[i].fd >= 0) {
            listeners[n] = &rpc->listeners[i];
            fds[n++] = (struct pollfd){.fd = rpc->listeners[i].fd, .events = POLLIN};
        }
    }
    fds[n] = (struct pollfd){.fd = acceptor->wake, .events = POLLIN};
    for (;;) {
        atomic_store_explicit(&acceptor->n_open, acceptor->n, memory_order_relaxed);
        if (poll(fds, n + 1, 1000) < 0) {
            continue; /* a signal */
        }
        if (fds[n].revents != 0) {
            return NULL;
        }
        bool is_short = false;
        for (nfds_t i = 0; i < n; i++) {
            bool more = fds[i].revents != 0;
            /* one turn is not for ever: others have connections, too */
            for (unsigned k = 0; more && !is_short && k < 64; k++) {
                is_short = !accept_one(acceptor, listeners[i], &more);
            }
        }
        if (is_short) {
            poll(&fds[n], 1, PAUSE_MS);
        } else if (cuzk_now_ns() - acceptor->looked_ns > 10 * (uint64_t)LOOK_NS) {
            look(acceptor);
        }
    }
}

/* How many connections TCP may have: a crowd there does not keep out who comes by a Unix socket,
 * such as the operator. */
static unsigned far_max(const cuzk_rpc *rpc)
{
    unsigned max = rpc->options.max_connections;
    unsigned kept = max / 4 > KEPT_FOR_SOCKETS ? max / 4 : KEPT_FOR_SOCKETS;
    bool has_socket = false;
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        has_socket = has_socket || rpc->listeners[i].is_local;
    }
    return !has_socket ? max : max - (kept < max / 2 ? kept : max / 2);
}

cuzk_status cuzk_acceptor_start(cuzk_rpc *rpc, cuzk_error *err)
{
    struct cuzk_acceptor *acceptor = calloc(1, sizeof *acceptor);
    CUZK_FAIL_IF(acceptor == NULL, err, CUZK_E_MEMORY, "out of memory");
    acceptor->rpc = rpc;
    pthread_mutex_init(&acceptor->lock, NULL);
    acceptor->far_max = far_max(rpc);
    acceptor->wake = eventfd(0, EFD_CLOEXEC);
    acceptor->connections = calloc(rpc->options.max_connections, sizeof *acceptor->connections);
    acceptor->credentials = grpc_insecure_server_credentials_create();
    if (acceptor->wake < 0 || acceptor->connections == NULL ||
        pthread_create(&acceptor->thread, NULL, accept_all, acceptor) != 0) {
        grpc_server_credentials_release(acceptor->credentials);
        close(acceptor->wake);
        pthread_mutex_destroy(&acceptor->lock);
        free(acceptor->connections);
        free(acceptor);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "the thread that accepts connections cannot be made");
    }
    rpc->acceptor = acceptor;
    return CUZK_OK;
}

void cuzk_acceptor_stop(cuzk_rpc *rpc)
{
    struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor != NULL && !acceptor->has_ended) {
        acceptor->has_ended = true;
        eventfd_write(acceptor->wake, 1);
        pthread_join(acceptor->thread, NULL);
    }
}

void cuzk_acceptor_cut(cuzk_rpc *rpc)
{
    struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor == NULL) {
        return;
    }
    cuzk_acceptor_stop(rpc);
    pthread_mutex_lock(&acceptor->lock);
    for (unsigned i = 0; i < acceptor->n; i++) {
        connection c = acceptor->connections[i];
        if (is_open(&c)) {
            shutdown(c.fd, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&acceptor->lock);
}

void cuzk_acceptor_end(cuzk_rpc *rpc, const cuzk_rpc_used *used)
{
    struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor == NULL) {
        return;
    }
    pthread_mutex_lock(&acceptor->lock);
    for (unsigned i = 0; i < acceptor->n; i++) {
        connection *c = &acceptor->connections[i];
        if (!c->is_relayed && !c->is_ended && is_open(c) &&
            !cuzk_rpc_is_used(used, (unsigned)c->fd, false)) {
            c->is_ended = true;
            shutdown(c->fd, SHUT_WR);
        }
    }
    pthread_mutex_unlock(&acceptor->lock);
}

bool cuzk_acceptor_has_open(cuzk_rpc *rpc)
{
    struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor == NULL) {
        return false;
    }
    pthread_mutex_lock(&acceptor->lock);
    look(acceptor);
    bool has_open = acceptor->n > 0;
    pthread_mutex_unlock(&acceptor->lock);
    return has_open;
}

void cuzk_acceptor_destroy(cuzk_rpc *rpc)
{
    struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor == NULL) {
        return;
    }
    cuzk_acceptor_stop(rpc);
    close(acceptor->wake);
    grpc_server_credentials_release(acceptor->credentials);
    pthread_mutex_destroy(&acceptor->lock);
    free(acceptor->connections);
    free(acceptor);
    rpc->acceptor = NULL;
}

void cuzk_acceptor_look(cuzk_rpc *rpc, cuzk_rpc_view *view)
{
    const struct cuzk_acceptor *acceptor = rpc->acceptor;
    if (acceptor != NULL) {
        view->connections = atomic_load_explicit(&acceptor->n_open, memory_order_relaxed);
        view->connections_total = atomic_load_explicit(&acceptor->n_total, memory_order_relaxed);
        view->connections_refused =
            atomic_load_explicit(&acceptor->n_refused, memory_order_relaxed);
    }
}
