/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time goes from one end of a piece of work to the next. Work of the host shares the cores and
 * copies share the bus, equally: what is left of each piece shrinks at the rate that its class has
 * now. */
#include "timeline/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CRITICAL = 4 }; /* priority: CUZK_PRIORITY_CRITICAL of the engine */

typedef enum { HOST, COPY, DEVICE, CLASSES } work_class;

typedef enum { AT_WITNESS, AT_BEFORE, AT_COPY, AT_LANE, AT_AFTER, AT_FINISH, AT_VERIFY } place;

typedef struct {
    size_t unit;
    place at;
    unsigned device;
    double left; /* ns of work */
} task;

/* Units by their place in the order; the least is first. */
typedef struct {
    uint64_t *ranks;
    size_t n;
} heap;

typedef struct {
    heap wait;            /* units whose worker waits for the lane */
    unsigned n_busy;      /* workers inside prove.start */
    bool is_express_busy; /* the one more that serves what is CRITICAL */
    bool is_held;         /* the lane */
} device;

typedef struct {
    const cuzk_sim_load *load;
    const cuzk_sim_machine *m;
    cuzk_sim_result *out;
    uint64_t *unit_of, *rank_of; /* order */
    double *since;               /* when a unit began to wait for the lane */
    unsigned *on;                /* its device */
    bool *is_express;            /* it has the device's worker for what is CRITICAL */
    heap queued, ready, to_finish, to_verify;
    device *devices;
    task *tasks;
    size_t n_tasks;
    unsigned n_class[CLASSES];
    unsigned n_copies[CUZK_SIM_DEVICES]; /* under each root */
    double memory_wanted;                /* bytes a ns of what goes on, at full speed */
    double host_ns, copy_ns[CUZK_SIM_DEVICES], memory_bytes; /* used so far */
    unsigned n_witness, n_finish, n_verify;                  /* threads that work */
    size_t n_ahead; /* units with a witness, or one in the making */
    size_t next_job;
    uint64_t bytes;
    double now;
} sim;

static void push(heap *h, uint64_t rank)
{
    size_t i = h->n++;
    while (i > 0 && h->ranks[(i - 1) / 2] > rank) {
        h->ranks[i] = h->ranks[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->ranks[i] = rank;
}

static uint64_t pop(heap *h)
{
    uint64_t first = h->ranks[0];
    uint64_t last = h->ranks[--h->n];
    size_t i = 0;
    for (size_t child = 1; child < h->n; child = 2 * i + 1) {
        child += child + 1 < h->n && h->ranks[child + 1] < h->ranks[child];
        if (h->ranks[child] >= last) {
            break;
        }
        h->ranks[i] = h->ranks[child];
        i = child;
    }
    h->ranks[i] = last;
    return first;
}

static work_class class_of(place at)
{
    return at == AT_COPY ? COPY : at == AT_LANE ? DEVICE : HOST;
}

static uint64_t length_of(const cuzk_sim_unit *u, place at)
{
    switch (at) {
    case AT_WITNESS:
        return u->witness;
    case AT_BEFORE:
        return u->before;
    case AT_COPY:
        return u->copy;
    case AT_LANE:
        return u->lane;
    case AT_AFTER:
        return u->after;
    case AT_FINISH:
        return u->finish;
    case AT_VERIFY:
        break;
    }
    return u->verify;
}

static unsigned n_roots(const sim *s)
{
    unsigned n = s->m->n_roots == 0 ? 1 : s->m->n_roots;
    return n < s->m->n_devices ? n : s->m->n_devices;
}

static unsigned root_of(const sim *s, unsigned d)
{
    return (unsigned)((uint64_t)d * n_roots(s) / s->m->n_devices);
}

/* Bytes a ns of host memory that a piece of work moves at full speed. */
static double traffic_of(const sim *s, size_t unit, place at)
{
    const cuzk_sim_unit *u = &s->load->units[unit];
    unsigned times = at == AT_WITNESS ? CUZK_SIM_WITNESS_TRAFFIC
                     : at == AT_COPY  ? CUZK_SIM_COPY_TRAFFIC
                                      : 0;
    uint64_t ns = length_of(u, at);
    return times == 0 || ns == 0 ? 0 : (double)times * (double)u->bytes / (double)ns;
}

/* One more of its class, or (-1) one fewer. */
static void count(sim *s, size_t unit, place at, int more)
{
    s->n_class[class_of(at)] += (unsigned)more;
    s->memory_wanted += more * traffic_of(s, unit, at);
    if (at == AT_COPY) {
        s->n_copies[root_of(s, s->on[unit])] += (unsigned)more;
    }
}

static void begin(sim *s, size_t unit, place at)
{
    s->tasks[s->n_tasks++] =
        (task){unit, at, s->on[unit], (double)length_of(&s->load->units[unit], at)};
    count(s, unit, at, 1);
}

/* ---- hand-overs ------------------------------------------------------------------------------ */

static void arrive(sim *s)
{
    const cuzk_sim_load *load = s->load;
    while (s->next_job < load->n_jobs &&
           (s->m->is_backlog || (double)load->jobs[s->next_job].arrival_ns <= s->now)) {
        const cuzk_sim_job *job = &load->jobs[s->next_job++];
        for (size_t u = job->first_unit; u < job->first_unit + job->n_units; u++) {
            push(&s->queued, s->rank_of[u]);
        }
    }
}

static bool is_critical(const sim *s, size_t unit)
{
    return s->load->jobs[s->load->units[unit].job].priority >= CRITICAL;
}

static bool may_make_witness(const sim *s)
{
    if (s->queued.n == 0 || s->n_witness == s->m->n_witness) {
        return false;
    }
    size_t unit = s->unit_of[s->queued.ranks[0]];
    const cuzk_sim_unit *u = &s->load->units[unit];
    uint64_t slice = is_critical(s, unit) || s->bytes == 0 ? 0 : s->m->critical_bytes;
    if (s->m->budget_bytes != 0 && s->bytes + u->bytes + slice > s->m->budget_bytes) {
        return false;
    }
    size_t limit = (size_t)s->m->witness_ahead * s->m->n_devices;
    for (unsigned d = 0; d < s->m->n_devices; d++) {
        limit += s->m->n_workers - s->devices[d].n_busy;
    }
    return s->n_ahead < limit || is_critical(s, unit);
}

static void make_witnesses(sim *s)
{
    while (may_make_witness(s)) {
        size_t unit = s->unit_of[pop(&s->queued)];
        s->bytes += s->load->units[unit].bytes;
        s->out->peak_bytes = s->bytes > s->out->peak_bytes ? s->bytes : s->out->peak_bytes;
        s->n_witness++;
        s->n_ahead++;
        begin(s, unit, AT_WITNESS);
    }
}

static void want_lane(sim *s, size_t unit)
{
    s->since[unit] = s->now;
    push(&s->devices[s->on[unit]].wait, s->rank_of[unit]);
}

/* The device with the fewest busy workers takes the next unit; where all are busy, the worker that
 * is kept for what is CRITICAL takes that. */
static void take_units(sim *s)
{
    while (s->ready.n > 0 && s->to_finish.n < 2 * (size_t)s->m->n_finishers) {
        unsigned best = 0;
        for (unsigned d = 1; d < s->m->n_devices; d++) {
            best = s->devices[d].n_busy < s->devices[best].n_busy ? d : best;
        }
        size_t unit = s->unit_of[s->ready.ranks[0]];
        bool is_express = s->devices[best].n_busy == s->m->n_workers;
        for (unsigned d = 0; is_express && d < s->m->n_devices; d++) {
            best = s->devices[best].is_express_busy ? d : best;
        }
        if (is_express && (!is_critical(s, unit) || s->devices[best].is_express_busy)) {
            return;
        }
        pop(&s->ready);
        s->devices[best].n_busy += !is_express;
        s->devices[best].is_express_busy = s->devices[best].is_express_busy || is_express;
        s->is_express[unit] = is_express;
        s->on[unit] = best;
        s->n_ahead--;
        if (s->m->coarse_lane) {
            want_lane(s, unit);
        } else {
            begin(s, unit, AT_BEFORE);
        }
    }
}

static void give_lanes(sim *s)
{
    for (unsigned d = 0; d < s->m->n_devices; d++) {
        device *dev = &s->devices[d];
        if (dev->is_held || dev->wait.n == 0) {
            continue;
        }
        size_t unit = s->unit_of[pop(&dev->wait)];
        dev->is_held = true;
        s->out->lane_wait_ns += (uint64_t)(s->now - s->since[unit]);
        begin(s, unit, s->m->coarse_lane ? AT_BEFORE : AT_LANE);
    }
}

static void finish_and_verify(sim *s)
{
    for (; s->to_finish.n > 0 && s->n_finish < s->m->n_finishers; s->n_finish++) {
        begin(s, s->unit_of[pop(&s->to_finish)], AT_FINISH);
    }
    for (; s->to_verify.n > 0 && s->n_verify < s->m->n_verifiers; s->n_verify++) {
        begin(s, s->unit_of[pop(&s->to_verify)], AT_VERIFY);
    }
}

static void hand_over(sim *s)
{
    arrive(s);
    take_units(s);
    make_witnesses(s);
    give_lanes(s);
    finish_and_verify(s);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void end(sim *s, const task *t)
{
    const cuzk_sim_unit *u = &s->load->units[t->unit];
    device *dev = &s->devices[t->device];
    count(s, t->unit, t->at, -1);
    switch (t->at) {
    case AT_WITNESS:
        s->n_witness--;
        push(&s->ready, s->rank_of[t->unit]);
        break;
    case AT_BEFORE:
        begin(s, t->unit, AT_COPY);
        break;
    case AT_COPY:
        if (s->m->coarse_lane) {
            begin(s, t->unit, AT_LANE);
        } else {
            want_lane(s, t->unit);
        }
        break;
    case AT_LANE:
        s->out->kernel_ns[t->device] += u->kernel;
        s->out->lane_ns[t->device] += u->lane;
        dev->is_held = s->m->coarse_lane;
        begin(s, t->unit, AT_AFTER);
        break;
    case AT_AFTER:
        dev->is_held = dev->is_held && !s->m->coarse_lane;
        dev->n_busy -= !s->is_express[t->unit];
        dev->is_express_busy = dev->is_express_busy && !s->is_express[t->unit];
        push(&s->to_finish, s->rank_of[t->unit]);
        break;
    case AT_FINISH:
        s->n_finish--;
        push(&s->to_verify, s->rank_of[t->unit]);
        break;
    case AT_VERIFY:
        s->n_verify--;
        s->bytes -= u->bytes;
        s->out->unit_ends[t->unit] = (uint64_t)(s->now + 0.5);
        s->out->end_ns = s->out->unit_ends[t->unit];
        break;
    }
}

static double share(double most, double wanted)
{
    return most <= 0 || wanted <= most ? 1 : most / wanted;
}

/* How fast a piece of work goes, of 1: the scarcest of what it needs. */
static double rate_of(const sim *s, const task *t)
{
    work_class c = class_of(t->at);
    if (c == DEVICE) {
        return 1;
    }
    double rate = c == HOST ? share(s->m->cores, s->n_class[HOST])
                            : share(s->m->copies, s->n_copies[root_of(s, t->device)]);
    double memory = share(s->m->memory_rate, s->memory_wanted);
    return traffic_of(s, t->unit, t->at) > 0 && memory < rate ? memory : rate;
}

/* What is used in ns, before it goes on. */
static void note_use(sim *s, double ns)
{
    for (size_t i = 0; i < s->n_tasks; i++) {
        const task *t = &s->tasks[i];
        double work = ns * rate_of(s, t);
        s->memory_bytes += work * traffic_of(s, t->unit, t->at);
        s->host_ns += class_of(t->at) == HOST ? work : 0;
        s->copy_ns[t->at == AT_COPY ? root_of(s, t->device) : 0] += t->at == AT_COPY ? work : 0;
    }
}

static double seconds_busy(const sim *s, double ns)
{
    unsigned busy = 0;
    for (unsigned d = 0; d < s->m->n_devices; d++) {
        busy += s->devices[d].n_busy;
    }
    return busy * ns;
}

/* On to the next end of a piece of work, or the next arrival; false: there is nothing left. */
static bool step(sim *s, double busy[4])
{
    double ns = INFINITY;
    for (size_t i = 0; i < s->n_tasks; i++) {
        double left = s->tasks[i].left / rate_of(s, &s->tasks[i]);
        ns = left < ns ? left : ns;
    }
    bool has_next = s->next_job < s->load->n_jobs && !s->m->is_backlog;
    double arrival = has_next ? (double)s->load->jobs[s->next_job].arrival_ns - s->now : INFINITY;
    ns = arrival < ns ? arrival : ns;
    if (isinf(ns)) {
        return false;
    }
    busy[0] += seconds_busy(s, ns);
    busy[1] += s->n_witness * ns;
    busy[2] += s->n_finish * ns;
    busy[3] += s->n_verify * ns;
    note_use(s, ns);
    s->now += ns;
    size_t n = s->n_tasks;
    s->n_tasks = 0; /* what goes on is kept in front; what begins is put behind it */
    task *ended = s->tasks + s->load->n_units + 1; /* the array's second half */
    size_t n_ended = 0;
    for (size_t i = 0; i < n; i++) {
        task t = s->tasks[i];
        t.left -= ns * rate_of(s, &t);
        /* rounding: a millionth of a nanosecond is nothing */
        if (t.left <= 1e-6) {
            ended[n_ended++] = t;
        } else {
            s->tasks[s->n_tasks++] = t;
        }
    }
    for (size_t i = 0; i < n_ended; i++) {
        end(s, &ended[i]);
    }
    return true;
}

/* ---- order and memory ------------------------------------------------------------------------ */

/* Units by priority, then job, then partition. */
static void set_order(sim *s)
{
    size_t rank = 0;
    for (unsigned priority = 8; priority-- > 0;) {
        for (size_t j = 0; j < s->load->n_jobs; j++) {
            const cuzk_sim_job *job = &s->load->jobs[j];
            unsigned p = job->priority < 8 ? job->priority : 7;
            for (size_t u = 0; p == priority && u < job->n_units; u++) {
                s->unit_of[rank] = job->first_unit + u;
                s->rank_of[job->first_unit + u] = rank;
                rank++;
            }
        }
    }
}

static cuzk_status check(const cuzk_sim_load *load, const cuzk_sim_machine *m, cuzk_error *err)
{
    CUZK_FAIL_IF(m->n_devices == 0 || m->n_devices > CUZK_SIM_DEVICES || m->n_workers == 0 ||
                     m->n_witness == 0 || m->n_finishers == 0 || m->n_verifiers == 0,
                 err, CUZK_E_ARGUMENT,
                 "simulating: %u devices (1 to %d), %u workers, %u witness, %u finishing and %u "
                 "verifying threads: each at least 1",
                 m->n_devices, CUZK_SIM_DEVICES, m->n_workers, m->n_witness, m->n_finishers,
                 m->n_verifiers);
    for (size_t u = 0; u < load->n_units; u++) {
        CUZK_FAIL_IF(m->budget_bytes != 0 && load->units[u].bytes > m->budget_bytes, err,
                     CUZK_E_ARGUMENT,
                     "simulating: a partition needs %" PRIu64 " bytes, the budget is %" PRIu64,
                     load->units[u].bytes, m->budget_bytes);
    }
    return CUZK_OK;
}

static bool allocate(sim *s)
{
    size_t n = s->load->n_units + 1;
    heap *heaps[] = {&s->queued, &s->ready, &s->to_finish, &s->to_verify};
    bool has = true;
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        heaps[i]->ranks = malloc(n * sizeof *heaps[i]->ranks);
        has = has && heaps[i]->ranks != NULL;
    }
    s->devices = calloc(s->m->n_devices, sizeof *s->devices);
    for (unsigned d = 0; s->devices != NULL && d < s->m->n_devices; d++) {
        s->devices[d].wait.ranks = malloc((s->m->n_workers + 2) * sizeof(uint64_t));
        has = has && s->devices[d].wait.ranks != NULL;
    }
    s->unit_of = malloc(n * sizeof *s->unit_of);
    s->rank_of = malloc(n * sizeof *s->rank_of);
    s->since = calloc(n, sizeof *s->since);
    s->on = calloc(n, sizeof *s->on);
    s->is_express = calloc(n, sizeof *s->is_express);
    s->tasks = malloc(2 * n * sizeof *s->tasks);
    s->out->unit_ends = calloc(n, sizeof *s->out->unit_ends);
    return has && s->devices != NULL && s->unit_of != NULL && s->rank_of != NULL &&
           s->since != NULL && s->on != NULL && s->is_express != NULL && s->tasks != NULL &&
           s->out->unit_ends != NULL;
}

static void release(sim *s)
{
    for (unsigned d = 0; s->devices != NULL && d < s->m->n_devices; d++) {
        free(s->devices[d].wait.ranks);
    }
    free(s->devices);
    free(s->queued.ranks);
    free(s->ready.ranks);
    free(s->to_finish.ranks);
    free(s->to_verify.ranks);
    free(s->unit_of);
    free(s->rank_of);
    free(s->since);
    free(s->on);
    free(s->is_express);
    free(s->tasks);
}

static void set_use(const sim *s)
{
    const cuzk_sim_machine *m = s->m;
    cuzk_sim_result *r = s->out;
    double ns = (double)r->end_ns, lanes = 0, copies = 0;
    if (ns <= 0) {
        return;
    }
    for (unsigned d = 0; d < m->n_devices; d++) {
        lanes += (double)r->lane_ns[d];
    }
    for (unsigned i = 0; i < n_roots(s); i++) {
        copies = s->copy_ns[i] > copies ? s->copy_ns[i] : copies;
    }
    r->use[CUZK_SIM_LANES] = lanes / ns / m->n_devices;
    r->use[CUZK_SIM_WORKERS] = (double)r->worker_ns / ns / m->n_devices / m->n_workers;
    r->use[CUZK_SIM_WITNESS_THREADS] = (double)r->witness_ns / ns / m->n_witness;
    r->use[CUZK_SIM_FINISHERS] = (double)r->finish_ns / ns / m->n_finishers;
    r->use[CUZK_SIM_VERIFIERS] = (double)r->verify_ns / ns / m->n_verifiers;
    r->use[CUZK_SIM_CORES] = m->cores > 0 ? s->host_ns / ns / m->cores : 0;
    r->use[CUZK_SIM_COPIES] = m->copies > 0 ? copies / ns / m->copies : 0;
    r->use[CUZK_SIM_MEMORY_RATE] = m->memory_rate > 0 ? s->memory_bytes / ns / m->memory_rate : 0;
}

cuzk_status cuzk_simulate(cuzk_sim_result *result, const cuzk_sim_load *load,
                          const cuzk_sim_machine *machine, cuzk_error *err)
{
    memset(result, 0, sizeof *result);
    CUZK_TRY(check(load, machine, err));
    sim s = {.load = load, .m = machine, .out = result};
    if (!allocate(&s)) {
        release(&s);
        cuzk_sim_result_clear(result);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "simulating %zu partitions: out of memory",
                         load->n_units);
    }
    set_order(&s);
    double busy[4] = {0};
    do {
        hand_over(&s);
    } while (step(&s, busy));
    result->worker_ns = (uint64_t)(busy[0] + 0.5);
    result->witness_ns = (uint64_t)(busy[1] + 0.5);
    result->finish_ns = (uint64_t)(busy[2] + 0.5);
    result->verify_ns = (uint64_t)(busy[3] + 0.5);
    set_use(&s);
    release(&s);
    return CUZK_OK;
}

void cuzk_sim_result_clear(cuzk_sim_result *result)
{
    free(result->unit_ends);
    memset(result, 0, sizeof *result);
}
