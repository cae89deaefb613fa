/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_plan: what fits, what limits, and how many machines it takes. */
#include "api/machine_plan.h"

#include "api/circuit_counts.h"
#include "api/durations.h"
#include "base/size_text.h"
#include "timeline/recording.h"

#include <stdlib.h>
#include <string.h>

enum {
    WITNESS_THREADS_MAX = 18, /* what the daemon's configuration has by default, as all of these */
    FINISHERS = 2,
    VERIFIERS = 2,
};
static const uint64_t margin_bytes = UINT64_C(5) << 30;  /* memory.safety_margin */
static const uint64_t recording_max = UINT64_C(4) << 30; /* bytes */

/* ---- durations ------------------------------------------------------------------------------- */

static cuzk_status take_measured(cuzk_planned_jobs *jobs, cuzk_error *err)
{
    const size_t n = sizeof cuzk_durations_measured / sizeof *cuzk_durations_measured;
    size_t i = 0;
    while (i < n && strcmp(cuzk_durations_measured[i].circuit, jobs->name) != 0) {
        i++;
    }
    CUZK_FAIL_IF(i == n, err, CUZK_E_UNSUPPORTED,
                 "%s: no durations of it were measured: give a recording (--recording)",
                 jobs->name);
    CUZK_FAIL_IF(jobs->card.is_streamed, err, CUZK_E_UNSUPPORTED,
                 "%s: on such a card its key of %s is streamed, of which no durations were "
                 "measured: give a recording (--recording)",
                 jobs->name, cuzk_size_of(jobs->card.key_bytes).text);
    const cuzk_durations *d = &cuzk_durations_measured[i];
    jobs->units = malloc(sizeof *jobs->units);
    CUZK_FAIL_IF(jobs->units == NULL, err, CUZK_E_MEMORY, "planning: out of memory");
    *jobs->units = (cuzk_sim_unit){.witness = UINT64_C(1000) * d->witness_us,
                                   .copy = UINT64_C(1000) * d->copy_us,
                                   .lane = UINT64_C(1000) * d->lane_us,
                                   .kernel = UINT64_C(1000) * d->kernel_us,
                                   .finish = UINT64_C(1000) * d->finish_us,
                                   .verify = UINT64_C(1000) * d->verify_us};
    jobs->kind.n_of = 1;
    return CUZK_OK;
}

/* All partitions of the kind that the recording has, to be taken in turn. */
static cuzk_status take_recorded(cuzk_planned_jobs *jobs, const cuzk_recording *recording,
                                 const cuzk_sim_load *load, const char *path, cuzk_error *err)
{
    jobs->units = malloc((load->n_units + 1) * sizeof *jobs->units);
    CUZK_FAIL_IF(jobs->units == NULL, err, CUZK_E_MEMORY, "planning: out of memory");
    for (size_t j = 0; j < load->n_jobs; j++) {
        const cuzk_sim_job *job = &load->jobs[j];
        if (job->kind >= CUZK_RECORDING_KINDS ||
            strcmp(recording->kinds[job->kind], jobs->label) != 0) {
            continue;
        }
        memcpy(jobs->units + jobs->kind.n_of, load->units + job->first_unit,
               job->n_units * sizeof *jobs->units);
        jobs->kind.n_of += job->n_units;
        if (jobs->counts == NULL || jobs->kind.n_units == 0) {
            jobs->kind.n_units = (unsigned)job->n_units;
        }
    }
    CUZK_FAIL_IF(jobs->kind.n_of == 0, err, CUZK_E_NOT_FOUND,
                 "%s: the recording \"%s\" has no whole job of the kind \"%s\"", jobs->name, path,
                 jobs->label);
    return CUZK_OK;
}

static cuzk_status take_durations(cuzk_machine_plan *plan, cuzk_error *err)
{
    cuzk_recording recording;
    cuzk_sim_load load = {0};
    if (plan->recording_path == NULL) {
        for (unsigned i = 0; i < plan->n_jobs; i++) {
            CUZK_TRY(take_measured(&plan->jobs[i], err));
        }
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_recording_open(&recording, plan->recording_path, recording_max, err));
    cuzk_status status = cuzk_sim_load_of(&load, &recording, err);
    for (unsigned i = 0; status == CUZK_OK && i < plan->n_jobs; i++) {
        status = take_recorded(&plan->jobs[i], &recording, &load, plan->recording_path, err);
    }
    cuzk_sim_load_clear(&load);
    cuzk_recording_clear(&recording);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Of the cards: what each kind's key takes, or that it fits none. */
static cuzk_status take_cards(cuzk_machine_plan *plan, cuzk_error *err)
{
    if (plan->o.n_gpus == 0) {
        return CUZK_OK;
    }
    cuzk_device_plan any; /* says where there is no planner */
    CUZK_TRY(cuzk_circom_device_plan(&any, "bn128", 1, plan->o.card_bytes, err));
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        cuzk_planned_jobs *jobs = &plan->jobs[i];
        if (jobs->counts == NULL) {
            continue;
        }
        cuzk_key_numbers numbers = cuzk_key_numbers_filecoin(jobs->counts);
        jobs->card = cuzk_api_device_plan(&numbers, plan->o.card_bytes);
        CUZK_FAIL_IF(!jobs->card.fits, err, CUZK_E_MEMORY,
                     "%s: its key of %s fits no card with %s free: the smallest way, streamed, "
                     "takes %s",
                     jobs->name, cuzk_size_of(jobs->card.key_bytes).text,
                     cuzk_size_of(plan->o.card_bytes).text,
                     cuzk_size_of(jobs->card.total_bytes).text);
    }
    return CUZK_OK;
}

/* Of the host: a key, and a partition from its witness to its verdict. */
static cuzk_status take_host(cuzk_machine_plan *plan, cuzk_error *err)
{
    bool on_cards = plan->o.n_gpus > 0;
    cuzk_pool *pool = NULL;
    CUZK_TRY(cuzk_pool_create(&pool, plan->o.n_cores, err));
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        cuzk_planned_jobs *jobs = &plan->jobs[i];
        if (jobs->counts != NULL) {
            jobs->key_bytes = cuzk_circuit_resident_bytes(jobs->counts, on_cards) +
                              (jobs->card.is_streamed ? jobs->card.key_bytes : 0);
            jobs->unit_bytes = cuzk_circuit_witness_bytes(jobs->counts) +
                               cuzk_circuit_host_bytes(jobs->counts, on_cards, pool);
        }
        for (size_t u = 0; u < jobs->kind.n_of; u++) {
            if (jobs->counts != NULL) {
                jobs->units[u].bytes = jobs->unit_bytes;
            } else if (jobs->units[u].bytes > jobs->unit_bytes) { /* as the recording tells */
                jobs->unit_bytes = jobs->units[u].bytes;
            }
        }
        jobs->kind.of = jobs->units;
    }
    cuzk_pool_destroy(pool);
    return CUZK_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void add_to_group(cuzk_plan_group *group, const cuzk_planned_jobs *jobs, unsigned number)
{
    group->card_bytes += jobs->card.total_bytes;
    group->key_bytes += jobs->key_bytes;
    group->of[group->n++] = number;
}

static bool has_room(const cuzk_machine_plan *plan, const cuzk_plan_group *group,
                     const cuzk_planned_jobs *jobs)
{
    return (plan->o.n_gpus == 0 ||
            group->card_bytes + jobs->card.total_bytes <= plan->o.card_bytes) &&
           group->key_bytes + jobs->key_bytes + jobs->unit_bytes <= plan->budget_bytes;
}

/* Kinds in the order of their size, each to the first group that has room. */
static cuzk_status make_groups(cuzk_machine_plan *plan, cuzk_error *err)
{
    unsigned order[CUZK_PLAN_KINDS];
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        unsigned at = i;
        for (; at > 0 &&
               plan->jobs[order[at - 1]].card.total_bytes + plan->jobs[order[at - 1]].key_bytes <
                   plan->jobs[i].card.total_bytes + plan->jobs[i].key_bytes;
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        cuzk_planned_jobs *jobs = &plan->jobs[order[i]];
        const cuzk_plan_group none = {0};
        CUZK_FAIL_IF(!has_room(plan, &none, jobs), err, CUZK_E_MEMORY,
                     "%s: in host memory its key and circuit take %s and a partition %s: %s are "
                     "there for them",
                     jobs->name, cuzk_size_of(jobs->key_bytes).text,
                     cuzk_size_of(jobs->unit_bytes).text, cuzk_size_of(plan->budget_bytes).text);
        unsigned g = 0;
        while (g < plan->n_groups && !has_room(plan, &plan->groups[g], jobs)) {
            g++;
        }
        plan->n_groups += g == plan->n_groups;
        jobs->group = g;
        add_to_group(&plan->groups[g], jobs, order[i]);
    }
    return CUZK_OK;
}

/* Time of devices that a group needs in an hour. */
static double lane_of(const cuzk_machine_plan *plan, const cuzk_plan_group *group)
{
    double sum = 0;
    for (unsigned i = 0; i < group->n; i++) {
        const cuzk_plan_kind *k = &plan->jobs[group->of[i]].kind;
        double lane = 0;
        for (size_t u = 0; u < k->n_of; u++) {
            lane += (double)k->of[u].lane / (double)k->n_of;
        }
        sum += k->per_hour * k->at_once * k->n_units * lane;
    }
    return sum;
}

/* Each group gets a card, and the next one goes to the group that needs it most; where there are
 * too few, or the keys have no room together in host memory, each gets machines of its own. */
static void share_machine(cuzk_machine_plan *plan)
{
    unsigned n_cards = plan->machine.n_devices, n = plan->n_groups;
    uint64_t key_bytes = 0, most = 0;
    for (unsigned g = 0; g < n; g++) {
        key_bytes += plan->groups[g].key_bytes;
        for (unsigned i = 0; i < plan->groups[g].n; i++) {
            uint64_t unit_bytes = plan->jobs[plan->groups[g].of[i]].unit_bytes;
            most = unit_bytes > most ? unit_bytes : most;
        }
    }
    uint64_t left = plan->budget_bytes > key_bytes ? plan->budget_bytes - key_bytes : 0;
    plan->is_shared = n > 1 && n <= n_cards && plan->o.n_cores >= n_cards && left / n_cards >= most;
    for (unsigned g = 0; g < n; g++) {
        plan->groups[g].n_cards = plan->is_shared ? 1 : n_cards;
    }
    for (unsigned c = n; plan->is_shared && c < n_cards; c++) {
        cuzk_plan_group *best = &plan->groups[0];
        for (unsigned g = 1; g < n; g++) {
            cuzk_plan_group *group = &plan->groups[g];
            if (lane_of(plan, group) / group->n_cards > lane_of(plan, best) / best->n_cards) {
                best = group;
            }
        }
        best->n_cards++;
    }
    for (unsigned g = 0; g < n; g++) {
        cuzk_plan_group *group = &plan->groups[g];
        group->budget_bytes = plan->is_shared ? left / n_cards * group->n_cards
                                              : plan->budget_bytes - group->key_bytes;
    }
}

unsigned cuzk_machine_plan_machines(const cuzk_machine_plan *plan)
{
    unsigned sum = 0, most = 0;
    for (unsigned g = 0; g < plan->n_groups; g++) {
        unsigned n = plan->groups[g].n_machines;
        if (n == 0) {
            return 0;
        }
        sum += n;
        most = n > most ? n : most;
    }
    return plan->is_shared ? most : sum;
}

/* ---- machines -------------------------------------------------------------------------------- */

static cuzk_status run_group(cuzk_machine_plan *plan, cuzk_plan_group *group, cuzk_error *err)
{
    cuzk_plan_kind kinds[CUZK_PLAN_KINDS];
    cuzk_sim_machine machine = plan->machine;
    uint64_t length_ns = (uint64_t)(plan->o.hours * 3600e9);
    for (unsigned i = 0; i < group->n; i++) {
        kinds[i] = plan->jobs[group->of[i]].kind;
    }
    double part = (double)group->n_cards / machine.n_devices; /* of cores and copies, too */
    machine.n_devices = group->n_cards;
    machine.cores *= part;
    machine.copies *= part;
    unsigned share =
        (unsigned)((uint64_t)plan->o.n_cores * group->n_cards / plan->machine.n_devices);
    if (group->n_cards < plan->machine.n_devices && share < machine.n_witness) {
        machine.n_witness = share > 0 ? share : 1;
    }
    machine.budget_bytes = group->budget_bytes;
    CUZK_TRY(cuzk_plan_run(&group->one, kinds, group->n, &machine, length_ns, 1, err));
    group->all = group->one;
    double least = group->one.speed < 1 ? 1 / group->one.speed : 1;
    unsigned n = least < plan->o.n_machines_max ? (unsigned)least : plan->o.n_machines_max;
    for (n = n < 1 ? 1 : n; !group->all.keeps_up && n < plan->o.n_machines_max;) {
        n += 1 + n / 16;
        n = n < plan->o.n_machines_max ? n : plan->o.n_machines_max;
        CUZK_TRY(cuzk_plan_run(&group->all, kinds, group->n, &machine, length_ns, n, err));
    }
    group->n_machines = group->all.keeps_up ? n : 0;
    return CUZK_OK;
}

static cuzk_status make_plan(cuzk_machine_plan *plan, const char *jobs, cuzk_error *err)
{
    const cuzk_plan_options *o = &plan->o;
    CUZK_FAIL_IF(o->ram_bytes <= margin_bytes, err, CUZK_E_ARGUMENT,
                 "planning: %s of memory, of which %s are left to others (memory.safety_margin)",
                 cuzk_size_of(o->ram_bytes).text, cuzk_size_of(margin_bytes).text);
    CUZK_FAIL_IF(o->n_gpus == 0 && plan->recording_path == NULL, err, CUZK_E_UNSUPPORTED,
                 "planning without GPUs: no durations of a CPU were measured for it: give a "
                 "recording (--recording)");
    plan->budget_bytes = o->ram_bytes - margin_bytes;
    unsigned n_devices = o->n_gpus > 0 ? o->n_gpus : 1;
    plan->machine = (cuzk_sim_machine){
        .n_devices = n_devices,
        .n_workers = o->n_workers,
        .n_witness = o->n_cores < WITNESS_THREADS_MAX ? o->n_cores : WITNESS_THREADS_MAX,
        .n_finishers = FINISHERS,
        .n_verifiers = VERIFIERS,
        .witness_ahead = o->n_workers,
        .cores = o->n_cores,
        .copies = o->n_copies > 0 ? o->n_copies : n_devices};
    CUZK_TRY(cuzk_machine_plan_read(plan, jobs, err));
    CUZK_TRY(take_cards(plan, err));
    CUZK_TRY(take_durations(plan, err));
    CUZK_TRY(take_host(plan, err));
    CUZK_TRY(make_groups(plan, err));
    share_machine(plan);
    for (unsigned g = 0; g < plan->n_groups; g++) {
        CUZK_TRY(run_group(plan, &plan->groups[g], err));
    }
    return CUZK_OK;
}

cuzk_plan_resource cuzk_machine_plan_limit(const cuzk_plan_result *result)
{
    cuzk_plan_resource limit = CUZK_PLAN_DEVICES;
    for (int r = 0; r < CUZK_PLAN_RESOURCES_COUNT; r++) {
        if (result->share[r] > result->share[limit]) {
            limit = (cuzk_plan_resource)r;
        }
    }
    return limit;
}

cuzk_status cuzk_plan(char **text, size_t *n_bytes, const char *jobs, const char *recording_path,
                      const cuzk_plan_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, n_bytes);
    CUZK_API_NOT_NULL(err, jobs);
    *text = NULL;
    *n_bytes = 0;
    cuzk_machine_plan plan = {.o = CUZK_PLAN_OPTIONS_INIT, .recording_path = recording_path};
    CUZK_TRY(cuzk_api_options(&plan.o, sizeof plan.o, options, "cuzk_plan_options", err));
    CUZK_FAIL_IF(plan.o.n_cores == 0 || plan.o.n_workers == 0 || plan.o.n_machines_max == 0 ||
                     !(plan.o.hours > 0 && plan.o.hours <= 1e5),
                 err, CUZK_E_ARGUMENT, "cuzk_plan_options: a number that is not set");
    cuzk_text out = {0};
    cuzk_status status = make_plan(&plan, jobs, err);
    if (status == CUZK_OK) {
        if (plan.o.as_json) {
            cuzk_machine_plan_put_json(&out, &plan);
        } else {
            cuzk_machine_plan_put_text(&out, &plan);
        }
        status = cuzk_text_check(&out, err);
    }
    for (unsigned i = 0; i < plan.n_jobs; i++) {
        free(plan.jobs[i].units);
    }
    if (status != CUZK_OK) {
        cuzk_text_clear(&out);
        return status;
    }
    *text = out.data;
    *n_bytes = out.size;
    return CUZK_OK;
}
