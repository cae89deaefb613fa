/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Carrying bytes between TLS connections and gRPC (rpc_relay.h): one thread, one buffer; what the
 * other side does not take at once is kept, and no more is read before it has. */
#include "server/rpc_relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10, EVENTS = 64, READS = 16 /* of a connection before others */ };

typedef struct link link_;

typedef struct {
    link_ *link;
    int fd;
    uint32_t events; /* asked of epoll */
    bool has_ended;  /* it sends no more */
    bool is_deaf;    /* it takes no more either; out of epoll, which would tell without end */
    uint8_t *kept;   /* for this end, not taken yet; NULL: nothing */
    size_t kept_from, kept_to;
} end;

struct link {
    end ends[2]; /* the client, gRPC */
    unsigned slot;
    bool is_closed; /* freed when the round of events is over */
    bool is_ending; /* gRPC's end sends no more */
    link_ *next;    /* of the closed ones */
};

/* A connection's number, and what it has sent: read by other threads. */
typedef struct {
    atomic_ullong number; /* 0: free */
    atomic_ullong bytes;
} slot;

struct cuzk_relay {
    char folder[64], prefix[32];
    int epoll, wake;
    pthread_t thread;
    slot *slots;
    unsigned n_slots;
    uint64_t next_number; /* the adding thread's */
    pthread_mutex_t lock; /* guards what follows, and every link: held for a round of events */
    unsigned *free_slots, n_free;
    link_ **links; /* by slot */
    uint8_t buffer[BUFFER_BYTES];
};

void cuzk_relay_path(const cuzk_relay *relay, char path[108], unsigned index)
{
    snprintf(path, 108, "%s/%u.sock", relay->folder, index);
}

/* Parts of "unix-abstract:" and the name that cuzk_relay_add has bound. */
static bool read_name(const cuzk_relay *relay, const char *peer, unsigned *slot_number,
                      unsigned long long *number)
{
    const char *name = strstr(peer, relay->prefix);
    return name != NULL &&
           sscanf(name + strlen(relay->prefix), "%u-%llu", slot_number, number) == 2 &&
           *slot_number < relay->n_slots;
}

bool cuzk_relay_slot(const cuzk_relay *relay, const char *peer, unsigned *slot_number)
{
    unsigned long long number;
    return read_name(relay, peer, slot_number, &number);
}

bool cuzk_relay_bytes(cuzk_relay *relay, const char *peer, uint64_t *bytes)
{
    unsigned slot_number;
    unsigned long long number;
    if (!read_name(relay, peer, &slot_number, &number)) {
        return false;
    }
    slot *s = &relay->slots[slot_number];
    /* the count of a later connection in the same slot would be taken for this one's growth: it is
     * small, and the peer is gone */
    *bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    return atomic_load_explicit(&s->number, memory_order_relaxed) == number;
}

static void ask(cuzk_relay *relay, end *e, uint32_t events)
{
    if (e->events != events && !e->is_deaf) {
        e->events = events;
        struct epoll_event event = {.events = events, .data.ptr = e};
        epoll_ctl(relay->epoll, EPOLL_CTL_MOD, e->fd, &event);
    }
}

static void close_link(link_ *l, link_ **closed)
{
    if (l->is_closed) {
        return;
    }
    l->is_closed = true;
    for (int i = 0; i < 2; i++) {
        close(l->ends[i].fd);
        free(l->ends[i].kept);
        l->ends[i].kept = NULL;
    }
    l->next = *closed;
    *closed = l;
}

/* Send to an end; what it does not take is kept. False: it is gone. */
static bool put(end *to, const uint8_t *data, size_t n)
{
    while (n > 0) {
        ssize_t k = send(to->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k < 0 && errno == EAGAIN) {
            to->kept = malloc(n);
            if (to->kept == NULL) {
                return false;
            }
            memcpy(to->kept, data, n);
            to->kept_from = 0;
            to->kept_to = n;
            return true;
        }
        if (k < 0) {
            return false;
        }
        data += k;
        n -= (size_t)k;
    }
    return true;
}

/* Send what was kept for an end. False: it is gone. */
static bool put_kept(end *to)
{
    while (to->kept != NULL && to->kept_from < to->kept_to) {
        ssize_t k = send(to->fd, to->kept + to->kept_from, to->kept_to - to->kept_from,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        to->kept_from += (size_t)k;
    }
    free(to->kept);
    to->kept = NULL;
    return true;
}

/* Carry what an end has sent. False: the connection is over. */
static bool carry(cuzk_relay *relay, end *from, end *to)
{
    for (int i = 0; i < READS && to->kept == NULL && !from->has_ended; i++) {
        ssize_t k = recv(from->fd, relay->buffer, sizeof relay->buffer, MSG_DONTWAIT);
        if (k < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        if (k == 0) {
            from->has_ended = true;
            return !to->has_ended && shutdown(to->fd, SHUT_WR) == 0;
        }
        if (from == &from->link->ends[0]) {
            atomic_fetch_add_explicit(&relay->slots[from->link->slot].bytes, (uint64_t)k,
                                      memory_order_relaxed);
        }
        if (!put(to, relay->buffer, (size_t)k)) {
            return false;
        }
    }
    return true;
}

static uint32_t events_of(const end *e, const end *other)
{
    /* no more is read than the other end takes */
    uint32_t in = !e->has_ended && other->kept == NULL ? (uint32_t)EPOLLIN : 0;
    return in | (e->kept != NULL ? (uint32_t)EPOLLOUT : 0);
}

static void handle(cuzk_relay *relay, end *e, uint32_t events, link_ **closed)
{
    link_ *l = e->link;
    if (l->is_closed) {
        return;
    }
    end *other = e == &l->ends[0] ? &l->ends[1] : &l->ends[0];
    bool lives = (events & EPOLLERR) == 0;
    if (lives && (events & EPOLLOUT) != 0) {
        lives = put_kept(e);
    }
    if (lives && (events & (EPOLLIN | EPOLLHUP)) != 0) {
        lives = carry(relay, e, other);
    }
    /* an end that hangs up waits until the other one has taken what there is for it */
    if (lives && (events & EPOLLHUP) != 0 && e->has_ended && !e->is_deaf) {
        e->is_deaf = true;
        epoll_ctl(relay->epoll, EPOLL_CTL_DEL, e->fd, NULL);
    }
    if (!lives || (e->is_deaf && other->kept == NULL) || (other->is_deaf && e->kept == NULL)) {
        close_link(l, closed);
        return;
    }
    ask(relay, e, events_of(e, other));
    ask(relay, other, events_of(other, e));
}

static void *run(void *argument)
{
    cuzk_relay *relay = argument;
    struct epoll_event events[EVENTS];
    for (;;) {
        int n = epoll_wait(relay->epoll, events, EVENTS, -1);
        link_ *closed = NULL;
        bool ends = false;
        pthread_mutex_lock(&relay->lock);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr != NULL) {
                handle(relay, events[i].data.ptr, events[i].events, &closed);
            } else {
                ends = true;
            }
        }
        while (closed != NULL) {
            link_ *l = closed;
            closed = l->next;
            atomic_store_explicit(&relay->slots[l->slot].number, 0, memory_order_relaxed);
            relay->links[l->slot] = NULL;
            relay->free_slots[relay->n_free++] = l->slot;
            free(l);
        }
        pthread_mutex_unlock(&relay->lock);
        if (ends) {
            return NULL;
        }
    }
}

/* A connection to gRPC's private listener under a name of its own. */
static int connect_named(const cuzk_relay *relay, const char *path, unsigned slot_number,
                         uint64_t number)
{
    struct sockaddr_un from = {.sun_family = AF_UNIX}, to = {.sun_family = AF_UNIX};
    int n = snprintf(from.sun_path + 1, sizeof from.sun_path - 1, "%s%u-%llu", relay->prefix,
                     slot_number, (unsigned long long)number);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&from, size) != 0 ||
                    connect(fd, (struct sockaddr *)&to, sizeof to) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool cuzk_relay_add(cuzk_relay *relay, int fd, const char *path)
{
    link_ *l = calloc(1, sizeof *l);
    pthread_mutex_lock(&relay->lock);
    bool has_slot = l != NULL && relay->n_free > 0;
    unsigned k = has_slot ? relay->free_slots[--relay->n_free] : 0;
    pthread_mutex_unlock(&relay->lock);
    int inner = has_slot ? connect_named(relay, path, k, ++relay->next_number) : -1;
    if (inner < 0) {
        if (has_slot) {
            pthread_mutex_lock(&relay->lock);
            relay->free_slots[relay->n_free++] = k;
            pthread_mutex_unlock(&relay->lock);
        }
        free(l);
        close(fd);
        return false;
    }
    l->slot = k;
    l->ends[0] = (end){.link = l, .fd = fd, .events = EPOLLIN};
    l->ends[1] = (end){.link = l, .fd = inner, .events = EPOLLIN};
    atomic_store_explicit(&relay->slots[k].bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&relay->slots[k].number, relay->next_number, memory_order_relaxed);
    /* who takes nothing for a minute is gone */
    unsigned timeout_ms = 60000;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    pthread_mutex_lock(&relay->lock);
    relay->links[k] = l;
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &l->ends[i]};
        epoll_ctl(relay->epoll, EPOLL_CTL_ADD, l->ends[i].fd, &event);
    }
    pthread_mutex_unlock(&relay->lock);
    return true;
}

void cuzk_relay_end(cuzk_relay *relay, const cuzk_rpc_used *used)
{
    pthread_mutex_lock(&relay->lock);
    for (unsigned i = 0; i < relay->n_slots; i++) {
        link_ *l = relay->links[i];
        if (l != NULL && !l->is_closed && !l->is_ending && !cuzk_rpc_is_used(used, i, true)) {
            /* what gRPC has sent is still received here, and then an end */
            l->is_ending = true;
            shutdown(l->ends[1].fd, SHUT_RD);
        }
    }
    pthread_mutex_unlock(&relay->lock);
}

cuzk_status cuzk_relay_create(cuzk_relay **out, unsigned max, cuzk_error *err)
{
    cuzk_relay *relay = calloc(1, sizeof *relay);
    CUZK_FAIL_IF(relay == NULL, err, CUZK_E_MEMORY, "out of memory");
    const char *runtime = getenv("RUNTIME_DIRECTORY");
    /* systemd may name several folders, and a path must fit a socket's address */
    bool fits = runtime != NULL && runtime[0] == '/' && strlen(runtime) < 40 &&
                strchr(runtime, ':') == NULL;
    snprintf(relay->folder, sizeof relay->folder, "%s/cuzk-tls-XXXXXX", fits ? runtime : "/tmp");
    pthread_mutex_init(&relay->lock, NULL);
    relay->epoll = relay->wake = -1;
    bool has_folder = mkdtemp(relay->folder) != NULL; /* nobody else may enter it */
    snprintf(relay->prefix, sizeof relay->prefix, "cuzk-%d-%.6s-", (int)getpid(),
             relay->folder + strlen(relay->folder) - 6);
    relay->n_slots = relay->n_free = max;
    relay->slots = calloc(max, sizeof *relay->slots);
    relay->links = calloc(max, sizeof(link_ *));
    relay->free_slots = calloc(max, sizeof *relay->free_slots);
    for (unsigned i = 0; relay->free_slots != NULL && i < max; i++) {
        relay->free_slots[i] = max - 1 - i;
    }
    relay->epoll = epoll_create1(EPOLL_CLOEXEC);
    relay->wake = eventfd(0, EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    bool ok = has_folder && relay->slots != NULL && relay->links != NULL &&
              relay->free_slots != NULL && relay->epoll >= 0 && relay->wake >= 0 &&
              epoll_ctl(relay->epoll, EPOLL_CTL_ADD, relay->wake, &event) == 0 &&
              pthread_create(&relay->thread, NULL, run, relay) == 0;
    if (!ok) {
        cuzk_status status =
            has_folder ? CUZK_FAIL(err, CUZK_E_MEMORY, "TLS: out of memory or of descriptors")
                       : CUZK_FAIL(err, CUZK_E_FILE, "TLS: a folder for a private socket, %s: %s",
                                   relay->folder, strerror(errno));
        relay->n_slots = 0;
        close(relay->epoll);
        relay->epoll = -1;
        cuzk_relay_destroy(relay);
        return status;
    }
    *out = relay;
    return CUZK_OK;
}

void cuzk_relay_destroy(cuzk_relay *relay)
{
    if (relay == NULL) {
        return;
    }
    if (relay->epoll >= 0) {
        eventfd_write(relay->wake, 1);
        pthread_join(relay->thread, NULL);
        close(relay->epoll);
    }
    link_ *closed = NULL;
    for (unsigned i = 0; i < relay->n_slots; i++) {
        if (relay->links[i] != NULL) {
            close_link(relay->links[i], &closed);
        }
    }
    while (closed != NULL) {
        link_ *l = closed;
        closed = l->next;
        free(l);
    }
    if (relay->wake >= 0) {
        close(relay->wake);
    }
    rmdir(relay->folder);
    free(relay->slots);
    free(relay->links);
    free(relay->free_slots);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}
