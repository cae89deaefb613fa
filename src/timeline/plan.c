/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/plan.h"

#include "timeline/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An arrival is a throw of a coin in each of so many slots of the mean time between two: nearly
 * what independent callers make. */
enum { SLOTS = 64 };

static const double hour_ns = 3600e9;

const char *cuzk_plan_resource_name(cuzk_plan_resource resource)
{
    static const char *const names[] = {
#define CUZK_PLAN_RESOURCE_NAME(identifier, name) name,
        CUZK_PLAN_RESOURCES(CUZK_PLAN_RESOURCE_NAME)
#undef CUZK_PLAN_RESOURCE_NAME
    };
    return names[resource];
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct {
    const cuzk_plan_kind *kinds;
    size_t n_kinds;
    uint64_t length_ns;
    unsigned n_machines;
    cuzk_sim_load load;
    size_t room; /* of load.jobs */
} making;

static bool add_job(making *m, uint64_t arrival_ns, unsigned kind)
{
    cuzk_sim_load *load = &m->load;
    if (load->n_jobs == m->room) {
        m->room = m->room == 0 ? 256 : 2 * m->room;
        cuzk_sim_job *more = realloc(load->jobs, m->room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        load->jobs = more;
    }
    load->jobs[load->n_jobs++] = (cuzk_sim_job){.arrival_ns = arrival_ns,
                                                .kind = kind,
                                                .priority = m->kinds[kind].priority,
                                                .n_units = m->kinds[kind].n_units};
    load->n_units += m->kinds[kind].n_units;
    return true;
}

/* The jobs of a kind; this machine has each n_machines-th. */
static bool add_jobs(making *m, unsigned kind)
{
    const cuzk_plan_kind *k = &m->kinds[kind];
    double slot_ns = hour_ns / k->per_hour / SLOTS;
    uint64_t state = kind + 1, n = 0;
    for (double at = slot_ns / 2; at < (double)m->length_ns; at += slot_ns) {
        bool arrives = next_random(&state) % SLOTS == 0;
        for (unsigned i = 0; arrives && i < k->at_once; i++) {
            if (n++ % m->n_machines == 0 && !add_job(m, (uint64_t)at, kind)) {
                return false;
            }
        }
    }
    return true;
}

static int by_arrival(const void *a, const void *b)
{
    const cuzk_sim_job *x = a;
    const cuzk_sim_job *y = b;
    return x->arrival_ns != y->arrival_ns ? (x->arrival_ns < y->arrival_ns ? -1 : 1)
                                          : (x->kind > y->kind) - (x->kind < y->kind);
}

static bool add_units(making *m)
{
    cuzk_sim_load *load = &m->load;
    load->units = calloc(load->n_units + 1, sizeof *load->units);
    if (load->units == NULL) {
        return false;
    }
    if (load->n_jobs > 1) {
        qsort(load->jobs, load->n_jobs, sizeof *load->jobs, by_arrival);
    }
    size_t at = 0, turn[CUZK_PLAN_KINDS] = {0};
    for (size_t j = 0; j < load->n_jobs; j++) {
        const cuzk_plan_kind *k = &m->kinds[load->jobs[j].kind];
        load->jobs[j].first_unit = at;
        for (unsigned u = 0; u < k->n_units; u++) {
            load->units[at] = k->of[turn[load->jobs[j].kind]++ % k->n_of];
            load->units[at++].job = j;
        }
    }
    return true;
}

static cuzk_status make_load(making *m, cuzk_error *err)
{
    double units_an_hour = 0;
    for (size_t k = 0; k < m->n_kinds; k++) {
        units_an_hour += m->kinds[k].per_hour * m->kinds[k].at_once * m->kinds[k].n_units;
    }
    double most_ns = CUZK_PLAN_UNITS / (units_an_hour / m->n_machines) * hour_ns;
    m->length_ns = (double)m->length_ns < most_ns ? m->length_ns : (uint64_t)most_ns;
    bool has_memory = true;
    for (unsigned k = 0; k < m->n_kinds; k++) {
        has_memory = has_memory && add_jobs(m, k);
    }
    CUZK_FAIL_IF(!has_memory || !add_units(m), err, CUZK_E_MEMORY, "planning: out of memory");
    return CUZK_OK;
}

/* ---- what comes out -------------------------------------------------------------------------- */

static double sum_of(const cuzk_sim_load *load, cuzk_plan_resource resource)
{
    double sum = 0;
    for (size_t i = 0; i < load->n_units; i++) {
        const cuzk_sim_unit *u = &load->units[i];
        double worker = (double)u->before + (double)u->after;
        double host = (double)u->witness + (double)u->finish + (double)u->verify;
        sum += resource == CUZK_PLAN_DEVICES     ? (double)u->lane
               : resource == CUZK_PLAN_COPIES    ? (double)u->copy
               : resource == CUZK_PLAN_CORES     ? worker + host
               : resource == CUZK_PLAN_WORKERS   ? worker + (double)u->copy + (double)u->lane
               : resource == CUZK_PLAN_WITNESS   ? (double)u->witness
               : resource == CUZK_PLAN_FINISHERS ? (double)u->finish
                                                 : (double)u->verify;
    }
    return sum;
}

static void put_shares(cuzk_plan_result *out, const making *m, const cuzk_sim_machine *machine,
                       const cuzk_sim_result *simulated)
{
    double devices = machine->n_devices;
    const double has[CUZK_PLAN_RESOURCES_COUNT] = {[CUZK_PLAN_DEVICES] = devices,
                                                   [CUZK_PLAN_COPIES] = machine->copies,
                                                   [CUZK_PLAN_CORES] = machine->cores,
                                                   [CUZK_PLAN_WORKERS] =
                                                       devices * machine->n_workers,
                                                   [CUZK_PLAN_WITNESS] = machine->n_witness,
                                                   [CUZK_PLAN_FINISHERS] = machine->n_finishers,
                                                   [CUZK_PLAN_VERIFIERS] = machine->n_verifiers};
    for (int r = 0; r < CUZK_PLAN_MEMORY; r++) {
        double needs = sum_of(&m->load, (cuzk_plan_resource)r);
        out->share[r] = has[r] > 0 ? needs / (has[r] * (double)m->length_ns) : (double)NAN;
    }
    out->share[CUZK_PLAN_MEMORY] =
        machine->budget_bytes > 0 ? (double)simulated->peak_bytes / (double)machine->budget_bytes
                                  : (double)NAN;
}

/* Times of the jobs of a kind, with room for all of them. */
static void put_times(cuzk_plan_times *out, uint64_t *room, const making *m, unsigned kind,
                      const cuzk_sim_result *simulated)
{
    double sum = 0;
    size_t n = 0;
    for (size_t j = 0; j < m->load.n_jobs; j++) {
        const cuzk_sim_job *job = &m->load.jobs[j];
        uint64_t end = 0;
        for (size_t u = job->first_unit; u < job->first_unit + job->n_units; u++) {
            end = simulated->unit_ends[u] > end ? simulated->unit_ends[u] : end;
        }
        if (job->kind == kind) {
            room[n] = end - job->arrival_ns;
            sum += (double)room[n++];
        }
    }
    cuzk_numbers_sort(room, n);
    *out = (cuzk_plan_times){.n_jobs = n};
    if (n > 0) {
        out->mean_ns = (uint64_t)(sum / (double)n);
        out->p99_ns = room[(n * 99 + 99) / 100 - 1];
        out->worst_ns = room[n - 1];
    }
    uint64_t deadline = m->kinds[kind].deadline_ns;
    for (size_t i = n; deadline != 0 && i > 0 && room[i - 1] > deadline; i--) {
        out->n_late++;
    }
}

static cuzk_status run(cuzk_plan_result *out, const making *m, const cuzk_sim_machine *machine,
                       cuzk_error *err)
{
    cuzk_sim_machine backlog = *machine;
    cuzk_sim_result all = {0}, simulated = {0};
    backlog.is_backlog = true;
    CUZK_TRY(cuzk_simulate(&all, &m->load, &backlog, err));
    out->speed = all.end_ns > 0 ? (double)m->length_ns / (double)all.end_ns : INFINITY;
    cuzk_sim_result_clear(&all);
    uint64_t *room = malloc((m->load.n_jobs + 1) * sizeof *room);
    CUZK_FAIL_IF(room == NULL, err, CUZK_E_MEMORY, "planning: out of memory");
    cuzk_status status = cuzk_simulate(&simulated, &m->load, machine, err);
    if (status == CUZK_OK) {
        out->keeps_up = out->speed >= 1;
        for (unsigned k = 0; k < m->n_kinds; k++) {
            put_times(&out->times[k], room, m, k, &simulated);
            out->keeps_up = out->keeps_up && out->times[k].n_late == 0;
        }
        put_shares(out, m, machine, &simulated);
    }
    cuzk_sim_result_clear(&simulated);
    free(room);
    return status;
}

cuzk_status cuzk_plan_run(cuzk_plan_result *result, const cuzk_plan_kind *kinds, size_t n_kinds,
                          const cuzk_sim_machine *machine, uint64_t length_ns, unsigned n_machines,
                          cuzk_error *err)
{
    *result = (cuzk_plan_result){0};
    CUZK_FAIL_IF(n_kinds == 0 || n_kinds > CUZK_PLAN_KINDS || n_machines == 0, err, CUZK_E_ARGUMENT,
                 "planning: %zu kinds of jobs (1 to %d) on %u machines", n_kinds, CUZK_PLAN_KINDS,
                 n_machines);
    making m = {
        .kinds = kinds, .n_kinds = n_kinds, .length_ns = length_ns, .n_machines = n_machines};
    cuzk_status status = make_load(&m, err);
    if (status == CUZK_OK && m.load.n_jobs == 0) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT,
                           "planning: no job arrives in %.1f hours: look at a longer time",
                           (double)m.length_ns / hour_ns);
    }
    result->length_ns = m.length_ns;
    result->n_units = m.load.n_units;
    if (status == CUZK_OK) {
        status = run(result, &m, machine, err);
    }
    cuzk_sim_load_clear(&m.load);
    return status;
}
