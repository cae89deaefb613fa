/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Actions are a table. What may take long has a thread of its own while it runs, a few at most: the
 * port's threads never wait. */
#include "server/http_admin.h"

#include "server/quote.h"
#include "server/rpc.h"
#include "work/circom_work.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { RUNNING_MAX = 4, PARAMETERS_MAX = 2, TEXT_MAX = 4096 };

static const char root[] = "/admin/";

struct cuzk_http_admin {
    cuzk_server *server;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended; /* n_running is less */
    unsigned n_running;   /* threads */
    bool is_stopping;
};

/* What an action came to. */
typedef struct {
    unsigned code;     /* of HTTP */
    cuzk_text members; /* 200: of the answer's object, each with a comma before it */
    cuzk_error err;    /* else */
} outcome;

typedef struct {
    const char *name;
    const char *parameters[PARAMETERS_MAX]; /* of the query; NULL: no more */
    bool is_long;
    void (*run)(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out);
} action;

typedef struct {
    cuzk_http_admin *admin;
    cuzk_http_call *call;
    const action *action;
    char *values[PARAMETERS_MAX]; /* owned */
} task;

/* ---- actions --------------------------------------------------------------------------------- */

static void fail(outcome *out, unsigned code, const char *text)
{
    out->code = code;
    snprintf(out->err.text, sizeof out->err.text, "%s", text);
}

/* What the engine or a file said. */
static void fail_status(outcome *out, cuzk_status status)
{
    switch (status) {
    case CUZK_E_NOT_FOUND:
        out->code = 404;
        break;
    case CUZK_E_ARGUMENT:
        out->code = 400;
        break;
    case CUZK_E_MEMORY: /* what is there leaves no room for it */
    case CUZK_E_MISMATCH:
    case CUZK_E_CANCELLED: /* another call wanted the opposite */
        out->code = 409;
        break;
    case CUZK_E_UNAVAILABLE:
        out->code = 503;
        break;
    default:
        out->code = 500;
    }
}

/* Nothing: whether the token is one. */
static void check(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    (void)values;
    cuzk_text_printf(&out->members, ",\"circom\":%s", server->circom != NULL ? "true" : "false");
}

static void cancel(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    bool was_running = false;
    cuzk_status status = cuzk_engine_cancel(server->engine, &was_running, values[0], &out->err);
    if (status != CUZK_OK) {
        fail_status(out, status);
    } else if (!was_running) {
        fail(out, 409, "the job has ended: there is nothing to cancel");
    }
}

static void preload(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    bool was_loaded = false;
    uint64_t ns = 0;
    cuzk_status status =
        cuzk_engine_preload(server->engine, &was_loaded, &ns, values[0], false, &out->err);
    if (status != CUZK_OK) {
        fail_status(out, status);
        return;
    }
    cuzk_text_printf(&out->members, ",\"already_loaded\":%s,\"load_time_ms\":%" PRIu64,
                     was_loaded ? "true" : "false", ns / 1000000);
}

static void evict(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    bool was_loaded = false;
    uint64_t bytes = 0;
    cuzk_status status =
        cuzk_engine_evict(server->engine, &was_loaded, &bytes, values[0], &out->err);
    if (status != CUZK_OK) {
        fail_status(out, status);
        return;
    }
    cuzk_text_printf(&out->members, ",\"was_loaded\":%s,\"freed_bytes\":%" PRIu64,
                     was_loaded ? "true" : "false", bytes);
}

static void register_circuit(const cuzk_server *server, char *const values[PARAMETERS_MAX],
                             outcome *out)
{
    if (server->circom == NULL) {
        fail(out, 404, CUZK_RPC_NO_CIRCUITS);
        return;
    }
    bool was_there = false;
    cuzk_circom_info info = {0};
    cuzk_status status =
        cuzk_circom_register(server->circom, &was_there, &info, values[0], values[1], &out->err);
    if (status == CUZK_E_FILE || status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED) {
        status = CUZK_E_ARGUMENT; /* the request names the file */
    }
    if (status != CUZK_OK) {
        fail_status(out, status);
        return;
    }
    cuzk_text_printf(&out->members, ",\"already_registered\":%s,\"constraints\":%u",
                     was_there ? "true" : "false", info.n_constraints);
    free(info.path);
}

/* What a device was before drain or add, or why it is not so. */
static void put_was(outcome *out, const cuzk_server *server, unsigned device, cuzk_device_state was,
                    cuzk_status status)
{
    if (status != CUZK_OK) {
        fail_status(out, status);
        return;
    }
    cuzk_text_put(&out->members, ",\"device\":");
    cuzk_text_put_quoted(&out->members, cuzk_engine_device_id(server->engine, device));
    cuzk_text_printf(&out->members, ",\"was\":\"%s\"", cuzk_device_state_name(was));
}

static void drain(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    unsigned device = 0;
    cuzk_device_state was = CUZK_DEVICE_USED;
    cuzk_status status = cuzk_engine_device_find(server->engine, &device, values[0], &out->err);
    if (status == CUZK_OK) {
        status = cuzk_engine_device_drain(server->engine, &was, device, false, &out->err);
    }
    put_was(out, server, device, was, status);
}

static void add(const cuzk_server *server, char *const values[PARAMETERS_MAX], outcome *out)
{
    unsigned device = 0;
    cuzk_device_state was = CUZK_DEVICE_USED;
    cuzk_status status = cuzk_engine_device_find(server->engine, &device, values[0], &out->err);
    if (status == CUZK_OK) {
        status = cuzk_engine_device_add(server->engine, &was, device, false, &out->err);
    }
    put_was(out, server, device, was, status);
}

static const action actions[] = {{"check", {NULL}, false, check},
                                 {"cancel", {"job"}, false, cancel},
                                 {"preload", {"circuit"}, true, preload},
                                 {"evict", {"circuit"}, true, evict},
                                 {"register", {"name", "zkey"}, true, register_circuit},
                                 {"drain", {"device"}, false, drain},
                                 {"add", {"device"}, false, add}};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* ---- answers --------------------------------------------------------------------------------- */

static void answer(cuzk_http_call *call, outcome *out)
{
    static const char no_memory[] = "{\"ok\":false,\"error\":\"out of memory\"}\n";
    cuzk_text text = {0};
    if (out->code == 200) {
        cuzk_text_put(&text, "{\"ok\":true");
        cuzk_text_put_bytes(&text, out->members.data, out->members.size);
        text.failed = text.failed || out->members.failed;
        cuzk_text_put(&text, "}\n");
    } else {
        cuzk_text_put(&text, "{\"ok\":false,\"error\":");
        cuzk_text_put_quoted(&text, out->err.text);
        cuzk_text_put(&text, "}\n");
    }
    bool is_whole = cuzk_text_check(&text, NULL) == CUZK_OK;
    cuzk_http_answer(call, is_whole ? out->code : 500, "application/json",
                     is_whole ? text.data : no_memory, is_whole ? text.size : sizeof no_memory - 1);
    cuzk_text_clear(&text);
    cuzk_text_clear(&out->members);
}

static void refuse(cuzk_http_call *call, unsigned code, const char *error)
{
    outcome out = {0};
    fail(&out, code, error);
    answer(call, &out);
}

static void free_task(task *t)
{
    for (int i = 0; i < PARAMETERS_MAX; i++) {
        free(t->values[i]);
    }
    free(t);
}

/* Run it, say so in the log, answer. */
static void run_task(task *t)
{
    outcome out = {.code = 200};
    const cuzk_server *server = t->admin->server;
    t->action->run(server, t->values, &out);
    if (t->action->parameters[0] != NULL) {
        CUZK_LOG(server->log, CUZK_LOG_INFO, "administration over HTTP",
                 CUZK_LOG_S("action", t->action->name), CUZK_LOG_S("of", t->values[0]),
                 CUZK_LOG_U("status", out.code), CUZK_LOG_S("reason", out.err.text));
    }
    answer(t->call, &out);
    free_task(t);
}

static void *run_thread(void *user)
{
    task *t = user;
    cuzk_http_admin *admin = t->admin;
    run_task(t);
    pthread_mutex_lock(&admin->lock);
    admin->n_running--;
    pthread_cond_broadcast(&admin->ended);
    pthread_mutex_unlock(&admin->lock);
    return NULL;
}

/* In a thread of its own; 0, or the code of a refusal. */
static unsigned start_thread(task *t)
{
    cuzk_http_admin *admin = t->admin;
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_mutex_lock(&admin->lock);
    bool may = !admin->is_stopping && admin->n_running < RUNNING_MAX &&
               pthread_create(&thread, &detached, run_thread, t) == 0;
    admin->n_running += may;
    pthread_mutex_unlock(&admin->lock);
    pthread_attr_destroy(&detached);
    return may ? 0 : 503;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The token of `Authorization: Bearer TOKEN`; NULL: there is none. */
static const char *token_of(cuzk_http_call *call)
{
    static const char scheme[] = "bearer ";
    const char *value = cuzk_http_header(call, "Authorization");
    return value != NULL && strncasecmp(value, scheme, sizeof scheme - 1) == 0
               ? value + sizeof scheme - 1
               : NULL;
}

/* Whether a browser says that a page of another origin asks. Programs say nothing. */
static bool is_of_another_origin(cuzk_http_call *call)
{
    const char *origin = cuzk_http_header(call, "Origin"), *host = cuzk_http_header(call, "Host");
    if (origin == NULL) {
        return false;
    }
    const char *rest = strncasecmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncasecmp(origin, "https://", 8) == 0 ? origin + 8 /* a proxy's */
                                                                 : NULL;
    return rest == NULL || host == NULL || strcasecmp(rest, host) != 0;
}

/* Whether the call may; it is answered if not. */
static bool may_administer(cuzk_server *server, cuzk_http_call *call)
{
    static const struct {
        unsigned code;
        const char *text;
    } refusals[] = {
        {403, "there is no administration over HTTP: no auth.admin_token_file is configured"},
        {403, "a page of another origin may not administer"},
        {401, "administration takes a token: the header \"Authorization: Bearer TOKEN\""},
        {401, "the token is not a known one"},
        {403, "the token may submit, not administer"},
    };
    /* what the pointer leads to was made before it was stored */
    cuzk_rpc *rpc = atomic_load_explicit(&server->rpc, memory_order_acquire);
    const char *token = token_of(call);
    int why = -1;
    if (rpc == NULL || !cuzk_rpc_has_admin_tokens(rpc)) {
        why = 0;
    } else if (is_of_another_origin(call)) {
        why = 1;
    } else if (token == NULL) {
        why = 2;
    } else {
        cuzk_token_right right = cuzk_rpc_token(rpc, token);
        why = right == CUZK_TOKEN_ADMINISTERS ? -1 : right == CUZK_TOKEN_UNKNOWN ? 3 : 4;
    }
    if (why >= 0) {
        CUZK_LOG(server->log, CUZK_LOG_WARN, "administration over HTTP is refused",
                 CUZK_LOG_U("status", refusals[why].code),
                 CUZK_LOG_S("reason", refusals[why].text));
        refuse(call, refusals[why].code, refusals[why].text);
    }
    return why < 0;
}

static const action *find_action(const char *path)
{
    for (int i = 0; i < ACTIONS; i++) {
        if (strcmp(path + sizeof root - 1, actions[i].name) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

/* Its values; false: the call is answered, the task gone. */
static bool take_values(task *t)
{
    char text[160] = "";
    for (int i = 0; i < PARAMETERS_MAX && t->action->parameters[i] != NULL && text[0] == 0; i++) {
        const char *value = cuzk_http_query(t->call, t->action->parameters[i]);
        bool is_fit = value != NULL && value[0] != 0 && strlen(value) < TEXT_MAX;
        t->values[i] = is_fit ? strdup(value) : NULL;
        if (!is_fit) {
            snprintf(text, sizeof text,
                     "%s: expected ?%s= and a text of at most %d bytes, found %s", t->action->name,
                     t->action->parameters[i], TEXT_MAX - 1,
                     value == NULL || value[0] == 0 ? "none" : "a longer one");
        } else if (t->values[i] == NULL) {
            snprintf(text, sizeof text, "out of memory");
        }
    }
    if (text[0] != 0) {
        refuse(t->call, strcmp(text, "out of memory") == 0 ? 503 : 400, text);
        free_task(t);
    }
    return text[0] == 0;
}

static void handle(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    cuzk_http_admin *admin = user;
    if (!may_administer(admin->server, call)) {
        return;
    }
    const action *found = find_action(request->path);
    if (found == NULL) {
        refuse(call, 404,
               "there is no such action; there are check, cancel, preload, evict, register, drain "
               "and add");
        return;
    }
    task *t = calloc(1, sizeof *t);
    if (t == NULL) {
        refuse(call, 503, "out of memory");
        return;
    }
    *t = (task){.admin = admin, .call = call, .action = found};
    if (!take_values(t)) {
        return;
    }
    if (!found->is_long) {
        run_task(t);
    } else if (start_thread(t) != 0) {
        refuse(call, 503, "others administer, or the daemon ends; try again");
        free_task(t);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

cuzk_status cuzk_http_admin_create(cuzk_http_admin **out, cuzk_server *server, cuzk_error *err)
{
    cuzk_http_admin *admin = calloc(1, sizeof *admin);
    CUZK_FAIL_IF(admin == NULL, err, CUZK_E_MEMORY, "out of memory");
    admin->server = server;
    pthread_mutex_init(&admin->lock, NULL); /* neither fails on Linux */
    pthread_cond_init(&admin->ended, NULL);
    *out = admin;
    return CUZK_OK;
}

cuzk_http_route cuzk_http_admin_route(cuzk_http_admin *admin)
{
    return (cuzk_http_route){"POST", "/admin/*", handle, admin, true};
}

bool cuzk_http_admin_stop(cuzk_http_admin *admin)
{
    if (admin == NULL) {
        return true;
    }
    pthread_mutex_lock(&admin->lock);
    admin->is_stopping = true;
    bool is_idle = admin->n_running == 0;
    pthread_mutex_unlock(&admin->lock);
    return is_idle;
}

void cuzk_http_admin_destroy(cuzk_http_admin *admin)
{
    if (admin == NULL) {
        return;
    }
    cuzk_http_admin_stop(admin);
    pthread_mutex_lock(&admin->lock);
    while (admin->n_running > 0) {
        pthread_cond_wait(&admin->ended, &admin->lock);
    }
    pthread_mutex_unlock(&admin->lock);
    pthread_cond_destroy(&admin->ended);
    pthread_mutex_destroy(&admin->lock);
    free(admin);
}
