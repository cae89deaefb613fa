/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Making and running the gRPC server. */
#include "server/rpc_internal.h"
#include "server/rpc_peer.h"

#include <grpc/compression.h>
#include <grpc/support/log.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    EXPECTED_CALLS = 32, /* asked for at once, of a method and listener */
    TICK_MS = 100,
    LOOKAHEAD_BYTES = 32 << 10, /* of a stream that nobody reads yet */
    SMALL_RECEIVES = 64,
    FEW_CALLS = 100,
    SMALL_MESSAGE = 1 << 20,
    QUOTA_BASE = 1 << 30,
    UNREAD_MAX = 64 << 20, /* bytes of answers that wait for their clients, before it is hurried */
    TRIM_BYTES = 64 << 20, /* of messages, after which freed memory is given back to the system */
    KEEPALIVE_MS = 60000,
    KEEPALIVE_WAIT_MS = 20000,
    IDLE_MS = 3600000, /* connections without calls are closed after this; clients open new ones */
    HANDSHAKE_MS = 10000,
    FILES_OF_OTHERS = 256, /* that the rest of the process opens */
    FILES_MIN = 192 /* some 30 are open from the start, and 64 are never given to connections */
};

static const uint64_t second = 1000000000;

/* gRPC has one function for what it wants to say, for the whole process. */
static _Atomic(cuzk_logger *) grpc_log;

static void log_grpc(gpr_log_func_args *args)
{
    /* gRPC's errors are mostly what peers do: somebody else's mistake, not this server's */
    cuzk_log_level level =
        args->severity == GPR_LOG_SEVERITY_ERROR ? CUZK_LOG_WARN : CUZK_LOG_DEBUG;
    CUZK_LOG(atomic_load_explicit(&grpc_log, memory_order_acquire), level, "gRPC says",
             CUZK_LOG_S("text", args->message));
}

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static cuzk_status set_options(cuzk_rpc *rpc, const cuzk_rpc_options *options, cuzk_error *err)
{
    cuzk_rpc_options *o = &rpc->options;
    *o = *options;
    o->socket_mode = options->socket_mode != 0 ? options->socket_mode : 0660;
    o->max_message = or_default(options->max_message, (uint64_t)256 << 20);
    o->max_receives = (unsigned)or_default(options->max_receives, 16);
    o->receive_ns = or_default(options->receive_ns, 20 * second);
    o->answer_ns = or_default(options->answer_ns, 30 * second);
    o->max_connections = (unsigned)or_default(options->max_connections, 1024);
    o->max_streams = (unsigned)or_default(options->max_streams, 1000);
    o->max_calls = (unsigned)or_default(options->max_calls, 20000);
    o->n_threads = (unsigned)or_default(options->n_threads, 2);
    o->last_proof_kind = (unsigned)or_default(options->last_proof_kind, 4);
    CUZK_FAIL_IF(o->max_message > INT_MAX, err, CUZK_E_ARGUMENT,
                 "messages of %llu bytes: at most %d are possible",
                 (unsigned long long)o->max_message, INT_MAX);
    CUZK_FAIL_IF(o->n_threads > sizeof rpc->threads / sizeof *rpc->threads, err, CUZK_E_ARGUMENT,
                 "%u threads: at most %zu are possible", o->n_threads,
                 sizeof rpc->threads / sizeof *rpc->threads);
    CUZK_FAIL_IF(o->last_proof_kind >= CUZK_KINDS_MAX || o->circom_kind >= CUZK_KINDS_MAX, err,
                 CUZK_E_ARGUMENT, "there are no more than %d kinds", CUZK_KINDS_MAX);
    unsigned n = o->n_listen + o->n_listen_fds;
    CUZK_FAIL_IF(n == 0 || n > CUZK_RPC_LISTEN_MAX, err, CUZK_E_ARGUMENT,
                 "%u addresses to listen on, expected 1 to %d", n, CUZK_RPC_LISTEN_MAX);
    memcpy(rpc->kinds, options->kinds, sizeof rpc->kinds);
    if (options->circuits != NULL) {
        rpc->circuits = *options->circuits;
        o->circuits = &rpc->circuits;
    }

    uint64_t largest = cuzk_engine_payload_max(o->engine);
    if (largest < o->max_message) {
        CUZK_LOG(o->log, CUZK_LOG_WARN, "the memory budget has no room for the largest message",
                 CUZK_LOG_U("max_message", o->max_message), CUZK_LOG_U("taken", largest));
        o->max_message = largest;
    }
    CUZK_FAIL_IF(o->max_message == 0, err, CUZK_E_MEMORY,
                 "the memory budget has no room for any message");
    uint64_t fit = largest / o->max_message;
    o->max_receives = o->max_receives < fit ? o->max_receives : (unsigned)fit;
    return CUZK_OK;
}

static void set_methods(cuzk_rpc *rpc)
{
    const cuzk_method *services[] = {
        cuzk_rpc_prove_methods(), cuzk_rpc_admin_methods(), cuzk_rpc_device_methods(),
        cuzk_rpc_health_methods(), rpc->options.no_reflection ? NULL : cuzk_rpc_reflect_methods()};
    for (size_t s = 0; s < sizeof services / sizeof *services; s++) {
        for (const cuzk_method *m = services[s]; m != NULL && m->path != NULL; m++) {
            rpc->methods[rpc->n_methods++] = m;
        }
    }
}

static grpc_arg int_arg(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)key, .value.integer = value};
}

static grpc_server *make_server(const cuzk_rpc_options *o)
{
    /* the gate bounds what clients send; this bounds what the gate cannot see (Unix sockets, whose
     * bytes nobody counts), far above what the gate allows: gRPC then ends calls at random */
    grpc_resource_quota *quota = grpc_resource_quota_create("cuzk");
    grpc_resource_quota_resize(quota, 2 * o->max_message * o->max_receives + QUOTA_BASE);
    grpc_arg args[] = {
        {.type = GRPC_ARG_POINTER,
         .key = GRPC_ARG_RESOURCE_QUOTA,
         .value.pointer = {quota, grpc_resource_quota_arg_vtable()}},
        int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)o->max_message),
        int_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, (int)o->max_streams),
        int_arg(GRPC_ARG_ALLOW_REUSEPORT, 0), /* two servers on one port must not both start */
        /* a fixed window for what nobody reads yet; it opens to a megabyte for what is read */
        int_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        int_arg(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, LOOKAHEAD_BYTES),
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS),
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_WAIT_MS),
        int_arg(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        /* no limit on pings: for each one beyond a limit gRPC hangs another error, 7 KB, onto the
         * end that it wants to make, while without one it stops reading at 10,000 unanswered */
        int_arg(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0),
        int_arg(GRPC_ARG_MAX_CONNECTION_IDLE_MS, IDLE_MS),
        int_arg(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS),
        int_arg(GRPC_ARG_ENABLE_CHANNELZ, 0),
        /* a small compressed message could be a large one: none is taken */
        int_arg(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE),
        int_arg(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0),
    };
    grpc_channel_args all = {sizeof args / sizeof *args, args};
    grpc_server *server = grpc_server_create(&all, NULL);
    grpc_resource_quota_unref(quota);
    return server;
}

static cuzk_status open_listener(cuzk_rpc *rpc, const char *text, int fd, cuzk_error *err)
{
    cuzk_listener *listener = &rpc->listeners[rpc->n_listeners++];
    listener->rpc = rpc;
    listener->fd = -1;
    listener->server = make_server(&rpc->options);
    for (unsigned i = 0; i < rpc->n_methods; i++) {
        listener->registered[i] = grpc_server_register_method(
            listener->server, rpc->methods[i]->path, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
        CUZK_FAIL_IF(listener->registered[i] == NULL, err, CUZK_E_INTERNAL,
                     "gRPC refused method %s", rpc->methods[i]->path);
    }
    grpc_server_register_completion_queue(listener->server, rpc->queue, NULL);
    return cuzk_listener_open(listener, rpc, text, fd, err);
}

/* End calls whose clients do not read: much earlier where their answers take much memory. */
static void cut_slow_readers(cuzk_rpc *rpc, unsigned tick_number)
{
    uint64_t unread = atomic_load_explicit(&rpc->bytes_unread, memory_order_relaxed);
    bool is_much = unread > UNREAD_MAX;
    if (!is_much && tick_number % (1000 / TICK_MS) != 0) {
        return;
    }
    uint64_t patience = rpc->options.answer_ns;
    patience = is_much && patience > second ? second : patience;
    unsigned n;
    pthread_mutex_lock(&rpc->lock);
    cuzk_call **calls = cuzk_rpc_open_calls(rpc, &n);
    pthread_mutex_unlock(&rpc->lock);
    for (unsigned i = 0; i < n; i++) {
        cuzk_call_cut(calls[i], patience);
        cuzk_call_unref(calls[i]);
    }
    free(calls);
}

bool cuzk_rpc_make_room(cuzk_rpc *rpc, bool of_payloads)
{
    cuzk_call *silent = cuzk_gate_make_room(rpc->gate, of_payloads, cuzk_now_ns());
    if (silent != NULL) {
        cuzk_call_displace(silent);
        cuzk_call_unref(silent);
    }
    return silent != NULL;
}

/* When there were more calls than may be, end all small ones that have been silent or behind silent
 * ones for a second: the line would take minutes to pass, and nobody in it would be served. When
 * the service ends, large ones too: it would wait for them until its limit. */
static void clear_line(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    bool was_full = rpc->was_full;
    rpc->was_full = false;
    /* what thousands of calls took is freed when they are gone, without a message that tells */
    rpc->was_crowded |= rpc->n_calls > rpc->options.max_calls / 2;
    if (rpc->was_crowded && rpc->n_calls < FEW_CALLS) {
        rpc->was_crowded = false;
        atomic_store_explicit(&rpc->wants_trim, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&rpc->lock);
    bool stops = atomic_load_explicit(&rpc->is_stopping, memory_order_acquire);
    while ((was_full || stops) && cuzk_rpc_make_room(rpc, stops)) {
    }
}

static void *tick(void *argument)
{
    cuzk_rpc *rpc = argument;
    uint64_t trimmed = 0;
    unsigned ticks = 0;
    pthread_mutex_lock(&rpc->lock);
    while (!rpc->ticker_ends) {
        pthread_mutex_unlock(&rpc->lock);
        cuzk_rpc_health_tick(rpc);
        cuzk_gate_tick(rpc->gate, cuzk_now_ns());
        clear_line(rpc);
        cuzk_rpc_end_idle(rpc);
        cut_slow_readers(rpc, ticks++);
        uint64_t received = atomic_load_explicit(&rpc->bytes_received, memory_order_relaxed);
        bool wants = atomic_exchange_explicit(&rpc->wants_trim, false, memory_order_relaxed);
        if (received - trimmed > TRIM_BYTES || wants) {
            /* gRPC's pieces are small: without this the process stays as large as its uploads */
            malloc_trim(0);
            trimmed = received;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_mutex_lock(&rpc->lock);
        while (!rpc->ticker_ends && pthread_cond_timedwait(&rpc->ticks, &rpc->lock, &until) == 0) {
        }
    }
    pthread_mutex_unlock(&rpc->lock);
    return NULL;
}

/* Lower the number of connections to what the process may open. With too few files gRPC aborts the
 * process, or every connection is refused: the server does not start. */
static cuzk_status fit_connections(cuzk_rpc *rpc, cuzk_error *err)
{
    cuzk_rpc_options *o = &rpc->options;
    struct rlimit limit;
    rlim_t each = rpc->tls != NULL ? 3 : 1; /* the connection, and both ends behind the relay */
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return CUZK_OK;
    }
    CUZK_FAIL_IF(limit.rlim_cur < FILES_MIN, err, CUZK_E_FILE,
                 "the process may have %llu files open, at least %u are needed: raise the limit "
                 "(ulimit -n, LimitNOFILE of a unit)",
                 (unsigned long long)limit.rlim_cur, FILES_MIN);
    rlim_t others = limit.rlim_cur / 2 < FILES_OF_OTHERS ? limit.rlim_cur / 2 : FILES_OF_OTHERS;
    rlim_t fit = (limit.rlim_cur - others) / each;
    if (fit < o->max_connections) {
        CUZK_LOG(o->log, CUZK_LOG_WARN,
                 "fewer connections than configured: the process may not open more files",
                 CUZK_LOG_U("max_connections", o->max_connections), CUZK_LOG_U("taken", fit),
                 CUZK_LOG_U("files", limit.rlim_cur));
        o->max_connections = (unsigned)fit;
    }
    return CUZK_OK;
}

static bool measure(void *user, const char *peer, uint64_t *bytes)
{
    cuzk_rpc *rpc = user;
    return cuzk_peer_bytes(peer, bytes) ||
           (rpc->relay != NULL && cuzk_relay_bytes(rpc->relay, peer, bytes));
}

static cuzk_status start(cuzk_rpc *rpc, const cuzk_rpc_options *options, cuzk_error *err)
{
    CUZK_TRY(set_options(rpc, options, err));
    set_methods(rpc);
    CUZK_TRY(cuzk_rights_create(&rpc->rights, options, err));
    CUZK_TRY(cuzk_tls_create(&rpc->tls, options, err));
    CUZK_TRY(fit_connections(rpc, err));
    if (rpc->tls != NULL) {
        CUZK_TRY(cuzk_relay_create(&rpc->relay, rpc->options.max_connections, err));
    }
    for (unsigned i = 0; i < options->n_listen; i++) {
        CUZK_TRY(open_listener(rpc, options->listen[i], -1, err));
    }
    for (unsigned i = 0; i < options->n_listen_fds; i++) {
        CUZK_TRY(open_listener(rpc, NULL, options->listen_fds[i], err));
    }
    cuzk_gate_options gate = {
        .engine = options->engine,
        .max_message = rpc->options.max_message,
        .n_places = rpc->options.max_receives,
        .patience_ns = {rpc->options.receive_ns, second},
        .small_places = SMALL_RECEIVES,
        .small_message = SMALL_MESSAGE,
        .measure = measure,
        .measure_user = rpc,
    };
    CUZK_TRY(cuzk_gate_create(&rpc->gate, &gate, err));
    CUZK_TRY(cuzk_rpc_helpers_start(rpc, err));
    rpc->has_ticker = pthread_create(&rpc->ticker, NULL, tick, rpc) == 0;
    CUZK_FAIL_IF(!rpc->has_ticker, err, CUZK_E_MEMORY, "a thread cannot be started");
    CUZK_TRY(cuzk_rpc_serving_start(rpc, err));
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        grpc_server_start(rpc->listeners[i].server);
        for (unsigned m = 0; m <= rpc->n_methods; m++) {
            cuzk_call_expect(&rpc->listeners[i], m, EXPECTED_CALLS);
        }
    }
    return cuzk_acceptor_start(rpc, err);
}

cuzk_status cuzk_rpc_create(cuzk_rpc **out, const cuzk_rpc_options *options, cuzk_error *err)
{
    cuzk_rpc *rpc = calloc(1, sizeof *rpc);
    CUZK_FAIL_IF(rpc == NULL, err, CUZK_E_MEMORY, "out of memory");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&rpc->changed, &monotonic);
    pthread_cond_init(&rpc->ticks, &monotonic);
    pthread_cond_init(&rpc->helped, NULL);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&rpc->lock, NULL);
    pthread_mutex_init(&rpc->lead, NULL);
    rpc->options.log = options->log;
    if (options->log != NULL) {
        atomic_store_explicit(&grpc_log, options->log, memory_order_release);
        gpr_set_log_function(log_grpc);
    }
    grpc_init();
    rpc->queue = grpc_completion_queue_create_for_next(NULL);
    cuzk_status status = start(rpc, options, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "gRPC server");
        cuzk_rpc_destroy(rpc);
        return status;
    }
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        CUZK_LOG(options->log, CUZK_LOG_INFO, "serving gRPC",
                 CUZK_LOG_S("address", rpc->listeners[i].address),
                 CUZK_LOG_S("tls", rpc->tls != NULL && !rpc->listeners[i].is_local ? "yes" : "no"));
    }
    *out = rpc;
    return CUZK_OK;
}

const char *cuzk_rpc_address(const cuzk_rpc *rpc, unsigned index)
{
    return index < rpc->n_listeners ? rpc->listeners[index].address : NULL;
}

bool cuzk_rpc_has_admin_tokens(cuzk_rpc *rpc)
{
    return cuzk_rights_has_admin_tokens(rpc->rights);
}

cuzk_token_right cuzk_rpc_token(cuzk_rpc *rpc, const char *token)
{
    return cuzk_rights_of_token(rpc->rights, token);
}

cuzk_status cuzk_rpc_reload_files(cuzk_rpc *rpc, const char *token_file,
                                  const char *admin_token_file, cuzk_error *err)
{
    if (rpc->tls != NULL) {
        CUZK_TRY(cuzk_tls_reload(rpc->tls, err));
    }
    return cuzk_rights_reload(rpc->rights, token_file, admin_token_file, err);
}

unsigned cuzk_rpc_keep_listening(cuzk_rpc *rpc, int *fds, unsigned max)
{
    unsigned n = 0;
    for (unsigned i = 0; i < rpc->n_listeners && n < max; i++) {
        int fd = cuzk_listener_keep(&rpc->listeners[i]);
        if (fd >= 0) {
            fds[n++] = fd;
        }
    }
    return n;
}

void cuzk_rpc_destroy(cuzk_rpc *rpc)
{
    if (rpc == NULL) {
        return;
    }
    cuzk_rpc_drain(rpc, 0);
    if (rpc->gate != NULL) {
        cuzk_gate_close(rpc->gate);
    }
    cuzk_rpc_helpers_stop(rpc);
    cuzk_rpc_end_calls(rpc);
    pthread_mutex_lock(&rpc->lock);
    rpc->ticker_ends = true;
    pthread_cond_broadcast(&rpc->ticks);
    pthread_mutex_unlock(&rpc->lock);
    if (rpc->has_ticker) {
        pthread_join(rpc->ticker, NULL);
    }
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        cuzk_listener_close(&rpc->listeners[i]);
        if (rpc->listeners[i].server != NULL) {
            grpc_server_destroy(rpc->listeners[i].server);
        }
    }
    grpc_completion_queue_shutdown(rpc->queue);
    cuzk_rpc_serving_join(rpc);
    grpc_completion_queue_destroy(rpc->queue);
    cuzk_acceptor_destroy(rpc);
    cuzk_relay_destroy(rpc->relay);
    cuzk_tls_destroy(rpc->tls);
    cuzk_rights_destroy(rpc->rights);
    if (rpc->gate != NULL) {
        cuzk_gate_unref(rpc->gate);
    }
    grpc_shutdown();
    atomic_store_explicit(&grpc_log, NULL, memory_order_release);
    pthread_cond_destroy(&rpc->helped);
    pthread_cond_destroy(&rpc->ticks);
    pthread_cond_destroy(&rpc->changed);
    pthread_mutex_destroy(&rpc->lead);
    pthread_mutex_destroy(&rpc->lock);
    free(rpc);
}

void cuzk_rpc_look(cuzk_rpc *rpc, cuzk_rpc_view *view)
{
    memset(view, 0, sizeof *view);
    cuzk_acceptor_look(rpc, view);
    cuzk_gate_look(rpc->gate, &view->receiving, &view->waiting, &view->receive_bytes);
    view->bytes_unread = atomic_load_explicit(&rpc->bytes_unread, memory_order_relaxed);
    view->bytes_received = atomic_load_explicit(&rpc->bytes_received, memory_order_relaxed);
    pthread_mutex_lock(&rpc->lock);
    view->calls = rpc->n_calls;
    view->blocking = rpc->n_blocking;
    view->calls_total = rpc->calls_total;
    view->calls_failed = rpc->calls_failed;
    view->calls_abandoned = rpc->calls_abandoned;
    pthread_mutex_unlock(&rpc->lock);
}
