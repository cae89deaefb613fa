/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counting. Every number is an atomic of its own: a text that is made meanwhile may hold a bucket
 * that its sum does not know yet, which the format allows. */
#include "server/metrics_impl.h"

#include <stdlib.h>
#include <string.h>

const double cuzk_metrics_bounds[CUZK_METRICS_BOUNDS] = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1,      2.5,   5,      10,    30,   60,    120,  300, 600};

const char *const cuzk_metrics_stages[CUZK_METRICS_STAGES] = {
    "decode", "resident", "witness", "prove_start", "lane_wait", "lane", "prove_finish", "verify"};

cuzk_status cuzk_metrics_create(cuzk_metrics **out, const cuzk_engine_kind *kinds, cuzk_error *err)
{
    cuzk_metrics *m = calloc(1, sizeof *m);
    CUZK_FAIL_IF(m == NULL, err, CUZK_E_MEMORY, "out of memory");
    m->kinds = kinds;
    *out = m;
    return CUZK_OK;
}

void cuzk_metrics_destroy(cuzk_metrics *metrics)
{
    free(metrics);
}

static void add(atomic_uint_fast64_t *to, uint64_t n)
{
    /* counts stand alone: nothing is read by their order */
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static void add_to_histogram(cuzk_histogram *h, uint64_t ns)
{
    double seconds = (double)ns * 1e-9;
    unsigned i = 0;
    while (i < CUZK_METRICS_BOUNDS && seconds > cuzk_metrics_bounds[i]) {
        i++;
    }
    add(&h->buckets[i], 1);
    add(&h->sum_ns, ns);
}

/* The stage that an event's span belongs to, or -1. */
static int stage_of(cuzk_event_id id)
{
    switch (id) {
    case CUZK_EVENT_DECODE:
        return 0;
    case CUZK_EVENT_RESIDENT:
        return 1;
    case CUZK_EVENT_WITNESS:
        return 2;
    case CUZK_EVENT_PROVE_START:
        return 3;
    case CUZK_EVENT_LANE_WAIT:
        return 4;
    case CUZK_EVENT_LANE:
        return 5;
    case CUZK_EVENT_PROVE_FINISH:
        return 6;
    case CUZK_EVENT_VERIFY:
        return 7;
    default:
        return -1;
    }
}

/* A span ends on the thread on which it began, and spans of one stage do not nest. */
static _Thread_local uint64_t began_ns[CUZK_METRICS_STAGES];
static _Thread_local uint64_t help_began_ns;

/* It is no stage of a unit, which is in prove_start meanwhile. */
static void help(cuzk_metrics *m, const cuzk_event *e)
{
    if (e->phase == CUZK_EVENT_BEGIN) {
        help_began_ns = e->ns;
    } else if (e->device >= 0 && e->device < CUZK_ENGINE_DEVICES_MAX) {
        add(&m->busy_ns[e->device], e->ns - help_began_ns);
    }
}

static void end_span(cuzk_metrics *m, const cuzk_event *e, unsigned stage)
{
    uint64_t ns = e->ns - began_ns[stage];
    add_to_histogram(&m->stages[stage][e->kind], ns);
    if (e->status != CUZK_OK) {
        add(&m->stage_failures[stage][e->kind], 1);
    }
    if (e->device >= 0 && e->device < CUZK_ENGINE_DEVICES_MAX) {
        if (e->id == CUZK_EVENT_LANE) {
            add(&m->lane_ns[e->device], ns);
        } else if (e->id == CUZK_EVENT_PROVE_START) {
            add(&m->busy_ns[e->device], ns);
        }
    }
}

void cuzk_metrics_observe(cuzk_metrics *m, const cuzk_event *e)
{
    if (e->kind >= CUZK_KINDS_MAX) {
        return;
    }
    int stage = stage_of(e->id);
    if (stage >= 0) {
        if (e->phase == CUZK_EVENT_BEGIN) {
            began_ns[stage] = e->ns;
        } else if (e->phase == CUZK_EVENT_END) {
            end_span(m, e, (unsigned)stage);
        }
        return;
    }
    switch (e->id) {
    case CUZK_EVENT_ACCEPTED:
        add(&m->accepted[e->kind], 1);
        break;
    case CUZK_EVENT_ENDED:
        add_to_histogram(&m->jobs[e->kind], e->value);
        break;
    case CUZK_EVENT_EVICTED:
        add(&m->evictions, 1);
        break;
    case CUZK_EVENT_PROVE_HELP:
        help(m, e);
        break;
    case CUZK_EVENT_UNIT_DONE:
        add(&m->units_done[e->kind], 1);
        break;
    case CUZK_EVENT_JOURNAL:
        add(&m->journal_errors, 1);
        break;
    default:
        break;
    }
}
