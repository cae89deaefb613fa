/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is told of the daemon, over HTTP and through GetMetrics. */
#include "server/daemon.h"
#include "server/http_circom.h"
#include "server/page.h"
#include "server/status_json.h"
#include "work/device_ledger.h"

#include <assert.h>
#include <string.h>

/* Of the cards; NULL: there is none. */
static const cuzk_memory_view *look_at_memory(cuzk_memory_view *view, const cuzk_server *server)
{
    if (server->ledger == NULL) {
        return NULL;
    }
    cuzk_api_pinned_use pinned = cuzk_api_pinned_look(cuzk_device_ledger_pinned(server->ledger));
    static_assert((int)CUZK_MEMORY_PURPOSES == (int)CUZK_DEVICE_PURPOSES, "the same purposes");
    *view = (cuzk_memory_view){.pinned_limit_bytes = pinned.limit_bytes,
                               .pinned_used_bytes = pinned.used_bytes,
                               .pinned_peak_bytes = pinned.peak_bytes};
    for (unsigned i = 0; i < CUZK_MEMORY_PURPOSES; i++) {
        view->purposes[i] = cuzk_device_purpose_name(i);
    }
    for (unsigned d = 0; d < CUZK_ENGINE_DEVICES_MAX; d++) {
        cuzk_device_ledger_look(server->ledger, d, view->bytes[d]);
        view->n_arrivals[d] =
            cuzk_device_ledger_arrivals(server->ledger, d, view->arrivals[d], CUZK_MEMORY_ARRIVALS);
    }
    return view;
}

cuzk_status cuzk_server_metrics_text(cuzk_server *server, cuzk_text *out, cuzk_error *err)
{
    cuzk_engine_view view;
    CUZK_TRY(cuzk_engine_look(server->engine, &view, false, err));
    cuzk_memory_view memory;
    cuzk_metrics_more more = {
        .memory = look_at_memory(&memory, server),
        .version = cuzk_version(),
        .is_ready = cuzk_server_is_ready(server),
        .is_draining = atomic_load_explicit(&server->is_draining, memory_order_acquire),
        .journal_bytes = server->journal != NULL ? cuzk_journal_bytes(server->journal) : 0,
    };
    if (server->otel != NULL) {
        cuzk_otel_counts spans = cuzk_otel_look(server->otel);
        more.has_otel = true;
        more.otel_sent_total = spans.n_sent;
        more.otel_dropped_total = spans.n_dropped;
    }
    /* what the pointer leads to was made before it was stored */
    cuzk_rpc *rpc = atomic_load_explicit(&server->rpc, memory_order_acquire);
    if (rpc != NULL) {
        cuzk_rpc_view r;
        cuzk_rpc_look(rpc, &r);
        more.has_rpc = true;
        more.rpc_calls = r.calls;
        more.rpc_connections = r.connections;
        more.rpc_receiving = r.receiving;
        more.rpc_waiting = r.waiting;
        more.rpc_calls_total = r.calls_total;
        more.rpc_failed_total = r.calls_failed;
        more.rpc_abandoned_total = r.calls_abandoned;
        more.rpc_received_bytes = r.bytes_received;
        more.rpc_connections_total = r.connections_total;
        more.rpc_refused_total = r.connections_refused;
    }
    cuzk_metrics_text(out, server->metrics, &view, &more);
    cuzk_engine_view_clear(&view);
    return cuzk_text_check(out, err);
}

cuzk_status cuzk_server_status_json(cuzk_server *server, cuzk_text *out, cuzk_error *err)
{
    cuzk_engine_view view;
    CUZK_TRY(cuzk_engine_look(server->engine, &view, true, err));
    cuzk_memory_view memory;
    /* what the pointer leads to was made before it was stored */
    cuzk_rpc *rpc = atomic_load_explicit(&server->rpc, memory_order_acquire);
    cuzk_status_more more = {
        .memory = look_at_memory(&memory, server),
        .numa = cuzk_places_note(server->places),
        .numa_nodes = server->places->nodes,
        .max_witnesses = server->max_witnesses,
        .workers_per_device = (unsigned)server->config->gpus_gpu_workers_per_device,
        .is_ready = cuzk_server_is_ready(server),
        .is_draining = atomic_load_explicit(&server->is_draining, memory_order_acquire),
        .version = cuzk_version(),
        .has_charts = CUZK_HAVE_CHARTS,
        .has_admin = rpc != NULL && cuzk_rpc_has_admin_tokens(rpc),
    };
    cuzk_status_json(out, &view, server->kinds, &more);
    cuzk_engine_view_clear(&view);
    return cuzk_text_check(out, err);
}

#define PLAIN "text/plain; charset=utf-8"

static void answer_text(cuzk_http_call *call, unsigned status, const char *text)
{
    cuzk_http_answer(call, status, PLAIN, text, strlen(text));
}

/* A text that was made, or why it was not. */
static void answer_made(cuzk_http_call *call, cuzk_status status, const char *type, cuzk_text *text,
                        const cuzk_error *err)
{
    if (status == CUZK_OK) {
        cuzk_http_answer(call, 200, type, text->data, text->size);
    } else {
        answer_text(call, 500, err->text);
    }
    cuzk_text_clear(text);
}

static void get_status(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    cuzk_text text = {0};
    cuzk_error err = {0};
    cuzk_status status = cuzk_server_status_json(user, &text, &err);
    answer_made(call, status, "application/json", &text, &err);
}

static void get_metrics(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    cuzk_text text = {0};
    cuzk_error err = {0};
    cuzk_status status = cuzk_server_metrics_text(user, &text, &err);
    answer_made(call, status, "text/plain; version=0.0.4; charset=utf-8", &text, &err);
}

static void get_health(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)user, (void)request;
    answer_text(call, 200, "ok\n");
}

static void get_readiness(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    const cuzk_server *server = user;
    if (cuzk_server_is_ready(server)) {
        answer_text(call, 200, "ready\n");
    } else {
        bool is_draining = atomic_load_explicit(&server->is_draining, memory_order_acquire);
        answer_text(call, 503, is_draining ? "shutting down\n" : "loading srs.preload\n");
    }
}

static void get_page(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    const cuzk_page_file *file = user;
    (void)request;
    cuzk_http_answer(call, 200, file->content_type, file->bytes, file->n_bytes);
}

size_t cuzk_daemon_routes(cuzk_http_route routes[CUZK_DAEMON_ROUTES_MAX], cuzk_server *server,
                          cuzk_live *live, cuzk_http_admin *admin)
{
    const cuzk_http_route own[] = {
        {"GET", "/status*", get_status, server,
         false}, /* the reference answers all that begins so */
        {"GET", "/metrics", get_metrics, server, false},
        {"GET", "/healthz", get_health, server, false},
        {"GET", "/readyz", get_readiness, server, false},
        {"GET", "/timeline.json", cuzk_live_json, live, true},
        {"GET", "/timeline.svg", cuzk_live_picture, live, true},
        {"GET", "/recording", cuzk_live_recording, live, true},
        cuzk_http_admin_route(admin),
    };
    size_t n = sizeof own / sizeof own[0];
    memcpy(routes, own, sizeof own);
    for (size_t i = 0; i < CUZK_PAGE_FILES; i++) {
        routes[n++] = (cuzk_http_route){"GET", cuzk_page_files[i].path, get_page,
                                        (void *)(uintptr_t)&cuzk_page_files[i], true};
    }
    if (server->circom != NULL && server->config->http_prove) {
        cuzk_http_circom_routes(routes + n, server);
        n += CUZK_HTTP_CIRCOM_ROUTES;
    }
    return n;
}
