/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/on_device.h"

#include "base/clock.h"
#include "timeline/recorder.h"
#include "work/device_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t cuzk_on_device_bytes(const cuzk_work_devices *devices, const cuzk_key_numbers *numbers)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < devices->n; i++) {
        uint64_t bytes = devices->devices[i].memory_bytes;
        most = bytes > most ? bytes : most;
    }
    return most == 0 ? 0 : cuzk_api_device_plan(numbers, most).total_bytes;
}

/* ---- life ---- */

static bool has_several(const cuzk_work_devices *devices)
{
    unsigned n = 0;
    for (unsigned i = 0; i < devices->n; i++) {
        n += devices->devices[i].memory_bytes > 0;
    }
    return n > 1;
}

cuzk_status cuzk_on_device_init(cuzk_on_device *on, const cuzk_work_devices *devices,
                                const char *circuit, cuzk_error *err)
{
    *on = (cuzk_on_device){.circuit = circuit};
    if (has_several(devices)) {
        CUZK_TRY(cuzk_api_pass_create(&on->pass, err));
    }
    bool has_mutex = pthread_mutex_init(&on->mutex, NULL) == 0;
    if (!has_mutex || pthread_cond_init(&on->changed, NULL) != 0) {
        if (has_mutex) {
            pthread_mutex_destroy(&on->mutex);
        }
        cuzk_api_pass_destroy(on->pass);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    on->devices = devices;
    return CUZK_OK;
}

void cuzk_on_device_clear(cuzk_on_device *on)
{
    if (on->devices == NULL) {
        return;
    }
    for (unsigned i = 0; i < CUZK_WORK_DEVICES_MAX; i++) {
        cuzk_on_device_evict(on, i);
    }
    pthread_cond_destroy(&on->changed);
    pthread_mutex_destroy(&on->mutex);
    cuzk_api_pass_destroy(on->pass);
    *on = (cuzk_on_device){0};
}

/* ---- who copies from whom ---- */

/* With the mutex. */
static bool can_copy(const cuzk_on_device *on, unsigned to, unsigned from)
{
    const cuzk_work_device *d = on->devices->devices;
    return to != from && (on->copies[to].bad_links >> from & 1) == 0 &&
           cuzk_api_device_can_copy(d[to].id, d[from].id);
}

static bool may_give(const cuzk_on_device *on, unsigned device)
{
    return cuzk_api_device_look(on->copies[device].device).may_give;
}

/* Whether copying from the peer that there was would fail again. */
static bool is_bad_link(const cuzk_api_device *made)
{
    return cuzk_api_device_look(made).is_bad_link;
}

/* Devices that copy from one while others wait for the next that has it: more would only share what
 * it can send. */
enum { READERS_GOOD = 2 };

/* Where a device could get the key from now or soon. */
typedef struct {
    int best;        /* of those that have it, that which fewest read; -1: none */
    bool is_coming;  /* one that it could copy from is just getting it */
    bool is_made;    /* one is just getting it, which may be making the points */
    bool is_without; /* one that it could copy from has it, but cannot give it: nor would others */
} sources;

/* With the mutex. */
static sources look_for_sources(const cuzk_on_device *on, unsigned to)
{
    sources s = {.best = -1};
    for (unsigned i = 0; i < on->devices->n; i++) {
        cuzk_copy_state state = on->copies[i].state;
        bool may_copy = can_copy(on, to, i);
        if (state == CUZK_COPY_THERE && may_copy && may_give(on, i)) {
            bool is_better = s.best < 0 || on->copies[i].n_readers < on->copies[s.best].n_readers;
            s.best = is_better ? (int)i : s.best;
        }
        s.is_without = s.is_without || (state == CUZK_COPY_THERE && may_copy && !may_give(on, i));
        s.is_coming = s.is_coming || (state == CUZK_COPY_LOADING && may_copy);
        s.is_made = s.is_made || state == CUZK_COPY_LOADING;
    }
    return s;
}

/* With the mutex: a device to copy from, which is then read; -1: none. Waits for one that is just
 * getting the key, where those that have it are read by enough others, or cannot give it, but then
 * this one could not get it from there either; and, where points are made, for whoever makes them:
 * one does at a time. */
static int find_peer(cuzk_on_device *on, unsigned to, const cuzk_prover *prover)
{
    bool is_made = cuzk_prover_is_made(prover);
    for (;;) {
        sources s = look_for_sources(on, to);
        if (s.best >= 0 && (on->copies[s.best].n_readers < READERS_GOOD || !s.is_coming)) {
            on->copies[s.best].n_readers++;
            return s.best;
        }
        bool waits = is_made ? s.is_made : s.is_coming && (s.best >= 0 || !s.is_without);
        if (!waits) {
            return -1;
        }
        pthread_cond_wait(&on->changed, &on->mutex);
    }
}

typedef struct {
    cuzk_on_device *on;
    int device; /* -1: none, or it is not read any more */
} peer;

/* cuzk_api_device_params.peer_stays */
static bool peer_stays(void *ctx)
{
    const peer *p = ctx;
    pthread_mutex_lock(&p->on->mutex);
    bool stays = p->on->copies[p->device].state == CUZK_COPY_THERE;
    pthread_mutex_unlock(&p->on->mutex);
    return stays;
}

/* cuzk_api_device_params.peer_done; and where it did not come so far. */
static void leave_peer(void *ctx)
{
    peer *p = ctx;
    if (p->device >= 0) {
        pthread_mutex_lock(&p->on->mutex);
        p->on->copies[p->device].n_readers--;
        pthread_cond_broadcast(&p->on->changed);
        pthread_mutex_unlock(&p->on->mutex);
        p->device = -1;
    }
}

/* ---- loading ---- */

/* Where it came from, in words. */
static void name_source(char *out, size_t out_bytes, const cuzk_api_device_facts *f)
{
    bool is_peer = strcmp(f->from, "peer") == 0;
    snprintf(out, out_bytes, is_peer ? "%s cuda:%d" : "%s", f->from, f->peer);
}

static void tell(const cuzk_on_device *on, unsigned device, const cuzk_on_device_load *load,
                 uint64_t begin_ns)
{
    const char *id = on->devices->devices[device].id;
    cuzk_api_device_facts f = cuzk_api_device_look(on->copies[device].device);
    cuzk_device_arrival arrival = {
        .n_bytes = f.arrived_bytes, .ns = f.arrived_ns, .n_read_bytes = f.read_bytes};
    name_source(arrival.from, sizeof arrival.from, &f);
    snprintf(arrival.circuit, sizeof arrival.circuit, "%s", on->circuit);
    cuzk_device_ledger_put(on->devices->ledger, device, f.bytes, &arrival);
    char text[64];
    snprintf(text, sizeof text, "%s: %s", id, arrival.from);
    const cuzk_timespan span = {.begin_ns = begin_ns,
                                .end_ns = cuzk_now_ns(),
                                .value = f.arrived_bytes,
                                .name = CUZK_SPAN_DEVICE_LOAD,
                                .unit = -1,
                                .device = (int8_t)device,
                                .worker = -1,
                                .text = cuzk_recorder_text(text)};
    cuzk_recorder_put(&span);
    if (f.why_not[0] != '\0') {
        cuzk_api_log(load->ctx, CUZK_LOG_WARN, "%s: %s is not copied from another card: %s", id,
                     on->circuit, f.why_not);
    }
    if (f.is_streamed) {
        cuzk_api_log(load->ctx, CUZK_LOG_INFO, "%s: a key that does not fit is streamed, %s", id,
                     f.way);
    } else {
        cuzk_api_log(load->ctx, CUZK_LOG_INFO, "%s: %s: %.1f MiB in %.2f s, %.1f GB/s, from %s%s%s",
                     id, on->circuit, (double)f.arrived_bytes / 1048576, (double)f.arrived_ns / 1e9,
                     (double)f.arrived_bytes / (double)(f.arrived_ns + 1), arrival.from,
                     f.copied_bytes > 0 ? ", " : "", f.copied_bytes > 0 ? f.way : "");
    }
}

/* is_expected: by the pass. */
static cuzk_status put(cuzk_on_device *on, unsigned device, const cuzk_on_device_load *load,
                       bool *is_expected, cuzk_error *err)
{
    uint64_t begin_ns = cuzk_now_ns();
    pthread_mutex_lock(&on->mutex);
    int peer_index = find_peer(on, device, load->prover);
    peer from = {on, peer_index};
    on->copies[device].state = CUZK_COPY_LOADING;
    pthread_mutex_unlock(&on->mutex);
    const cuzk_api_device_params params = {.limit = load->limit,
                                           .pinned = cuzk_device_ledger_pinned(on->devices->ledger),
                                           .peer = from.device < 0 ? NULL
                                                                   : on->copies[from.device].device,
                                           .peer_stays = peer_stays,
                                           .peer_done = leave_peer,
                                           .peer_ctx = &from,
                                           .pass = on->pass,
                                           .is_expected = is_expected,
                                           .is_peer = on->pass != NULL};
    cuzk_api_device *made = NULL;
    cuzk_status status =
        cuzk_api_device_open(&made, on->devices->devices[device].id, load->prover, &params, err);
    leave_peer(&from);
    pthread_mutex_lock(&on->mutex);
    if (peer_index >= 0 && (status == CUZK_E_DEVICE_LOST || is_bad_link(made))) {
        on->copies[device].bad_links |= UINT32_C(1) << peer_index; /* not again */
    }
    on->copies[device].device = made;
    on->copies[device].state = status == CUZK_OK ? CUZK_COPY_THERE : CUZK_COPY_ABSENT;
    pthread_cond_broadcast(&on->changed);
    pthread_mutex_unlock(&on->mutex);
    if (status == CUZK_OK) {
        tell(on, device, load, begin_ns);
    }
    return status;
}

static cuzk_status check_device(const cuzk_on_device *on, unsigned device, cuzk_error *err)
{
    CUZK_FAIL_IF(device >= on->devices->n || on->devices->devices[device].memory_bytes == 0, err,
                 CUZK_E_INTERNAL, "a key for device %u, which has no memory", device);
    return CUZK_OK;
}

cuzk_status cuzk_on_device_put(cuzk_on_device *on, unsigned device, const cuzk_on_device_load *load,
                               cuzk_error *err)
{
    CUZK_TRY(check_device(on, device, err));
    return put(on, device, load, NULL, err);
}

/* ---- several at once ---- */

typedef struct {
    cuzk_on_device *on;
    const cuzk_devices_load *devices;
    const cuzk_on_device_load *load;
    unsigned i; /* of the devices */
    pthread_t thread;
    bool has_thread, is_expected;
} putting;

static void *run_putting(void *ctx)
{
    putting *p = ctx;
    unsigned device = p->devices->devices[p->i];
    cuzk_error err = {0};
    cuzk_status status = check_device(p->on, device, &err);
    if (status == CUZK_OK && p->devices->place != NULL) {
        p->devices->place(p->devices->ctx, device);
    }
    if (status == CUZK_OK) {
        status = put(p->on, device, p->load, &p->is_expected, &err);
    }
    if (p->is_expected) { /* it never came so far */
        cuzk_api_pass_forget(p->on->pass);
    }
    p->devices->errors[p->i] = status == CUZK_OK ? (cuzk_error){0} : err;
    return NULL;
}

/* Whether they all get it from the host, as far as can be told. */
static bool share_pass(cuzk_on_device *on, const cuzk_devices_load *devices)
{
    bool any = on->pass == NULL || devices->n < 2;
    pthread_mutex_lock(&on->mutex);
    for (unsigned i = 0; i < devices->n && !any; i++) {
        unsigned d = devices->devices[i];
        any = d >= on->devices->n;
        for (unsigned j = 0; j < on->devices->n && !any; j++) {
            any = can_copy(on, d, j);
        }
    }
    pthread_mutex_unlock(&on->mutex);
    return !any;
}

static void start_putting(putting *p)
{
    p->has_thread = pthread_create(&p->thread, NULL, run_putting, p) == 0;
    if (!p->has_thread && p->is_expected) { /* after the others, alone */
        p->is_expected = false;
        cuzk_api_pass_forget(p->on->pass);
    }
}

void cuzk_on_device_put_all(cuzk_on_device *on, const cuzk_devices_load *devices,
                            const cuzk_on_device_load *load)
{
    putting all[CUZK_WORK_DEVICES_MAX];
    bool is_shared = share_pass(on, devices) && !cuzk_prover_is_made(load->prover);
    if (is_shared) {
        cuzk_api_pass_expect(on->pass, devices->n);
    }
    for (unsigned i = 0; i < devices->n; i++) {
        all[i] =
            (putting){.on = on, .devices = devices, .load = load, .i = i, .is_expected = is_shared};
    }
    for (unsigned i = 1; i < devices->n; i++) {
        start_putting(&all[i]);
    }
    (void)run_putting(&all[0]);
    for (unsigned i = 1; i < devices->n; i++) {
        if (all[i].has_thread) {
            pthread_join(all[i].thread, NULL);
        } else {
            (void)run_putting(&all[i]);
        }
    }
}

/* ---- and off again ---- */

void cuzk_on_device_evict(cuzk_on_device *on, unsigned device)
{
    pthread_mutex_lock(&on->mutex);
    cuzk_api_device *copy = on->copies[device].device;
    if (copy != NULL) {
        on->copies[device].state = CUZK_COPY_LEAVING;
    }
    while (on->copies[device].n_readers > 0) {
        pthread_cond_wait(&on->changed, &on->mutex);
    }
    pthread_mutex_unlock(&on->mutex);
    if (copy == NULL) {
        return;
    }
    cuzk_api_device_facts f = cuzk_api_device_look(copy);
    cuzk_device_ledger_take(on->devices->ledger, device, f.bytes, on->circuit);
    cuzk_api_device_close(copy);
    pthread_mutex_lock(&on->mutex);
    on->copies[device].device = NULL;
    on->copies[device].state = CUZK_COPY_ABSENT;
    pthread_cond_broadcast(&on->changed);
    pthread_mutex_unlock(&on->mutex);
}

cuzk_status cuzk_on_device_get(const struct cuzk_prove_device **out, const cuzk_on_device *on,
                               unsigned device, cuzk_error *err)
{
    const cuzk_work_devices *devices = on->devices;
    bool is_cpu = device < devices->n && devices->devices[device].memory_bytes == 0;
    CUZK_FAIL_IF(!is_cpu && (device >= devices->n || on->copies[device].device == NULL), err,
                 CUZK_E_INTERNAL, "the key is not on device %u", device);
    *out = is_cpu ? NULL : cuzk_api_device_get(on->copies[device].device);
    return CUZK_OK;
}
