/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api/machine_plan.h"

#include "api/durations.h"
#include "base/size_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *way_of(const cuzk_machine_plan *plan, const cuzk_planned_jobs *jobs)
{
    return plan->o.n_gpus == 0      ? "cpu"
           : jobs->counts == NULL   ? "unknown"
           : jobs->card.is_streamed ? "streamed"
                                    : "resident";
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_kinds(cuzk_text *text, const cuzk_machine_plan *plan)
{
    cuzk_text_printf(text, "\n%-14s %10s %10s %10s  %-9s %12s %12s\n", "jobs", "an hour",
                     "partitions", "on a card", "key", "host: key", "partition");
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        const cuzk_planned_jobs *jobs = &plan->jobs[i];
        cuzk_text_printf(text, "%-14s %10.3g %10u %10s  %-9s %12s %12s\n", jobs->name,
                         jobs->kind.per_hour * jobs->kind.at_once, jobs->kind.n_units,
                         jobs->card.total_bytes > 0 ? cuzk_size_of(jobs->card.total_bytes).text
                                                    : "-",
                         way_of(plan, jobs), cuzk_size_of(jobs->key_bytes).text,
                         cuzk_size_of(jobs->unit_bytes).text);
    }
}

static void put_names(cuzk_text *text, const cuzk_machine_plan *plan, const cuzk_plan_group *group)
{
    for (unsigned i = 0; i < group->n; i++) {
        cuzk_text_printf(text, "%s%s", i == 0 ? "" : ", ", plan->jobs[group->of[i]].name);
    }
}

static void put_result(cuzk_text *text, const cuzk_machine_plan *plan, const cuzk_plan_group *group,
                       const cuzk_plan_result *r)
{
    for (int i = 0; i < CUZK_PLAN_RESOURCES_COUNT; i++) {
        if (!isnan(r->share[i])) {
            cuzk_text_printf(text, "%s%s %.1f %%", i == 0 ? "  needs: " : ", ",
                             cuzk_plan_resource_name((cuzk_plan_resource)i), 100 * r->share[i]);
        }
    }
    cuzk_text_put(text, "\n");
    for (unsigned i = 0; i < group->n; i++) {
        const cuzk_planned_jobs *jobs = &plan->jobs[group->of[i]];
        const cuzk_plan_times *t = &r->times[i];
        cuzk_text_printf(text, "  %-14s %zu jobs: %.3g s on average, 99 %% in %.3g s, worst %.3g s",
                         jobs->name, t->n_jobs, seconds(t->mean_ns), seconds(t->p99_ns),
                         seconds(t->worst_ns));
        if (jobs->kind.deadline_ns != 0) {
            cuzk_text_printf(text, "; %zu later than %.0f s", t->n_late,
                             seconds(jobs->kind.deadline_ns));
        }
        cuzk_text_put(text, "\n");
    }
}

/* What one machine makes of them, and how many it takes. */
static void put_group(cuzk_text *text, const cuzk_machine_plan *plan, const cuzk_plan_group *group)
{
    const cuzk_plan_result *one = &group->one;
    char where[64] = "one machine";
    if (plan->is_shared) {
        snprintf(where, sizeof where, "%u of one machine's %u GPUs", group->n_cards,
                 plan->o.n_gpus);
    }
    cuzk_text_put(text, "\n");
    put_names(text, plan, group);
    cuzk_text_printf(text, ": %.4g hours on %s, %zu partitions\n", seconds(one->length_ns) / 3600,
                     where, one->n_units);
    put_result(text, plan, group, one);
    cuzk_text_printf(text, "  one machine %s: it could do %.3g times as much; first limit: %s\n",
                     one->keeps_up     ? "is enough"
                     : one->speed >= 1 ? "does all, but too late"
                                       : "is not enough",
                     one->speed, cuzk_plan_resource_name(cuzk_machine_plan_limit(one)));
    if (group->n_machines > 1) {
        cuzk_text_printf(text, "  %u machines are enough; each of them:\n", group->n_machines);
        put_result(text, plan, group, &group->all);
    } else if (group->n_machines == 0) {
        cuzk_text_printf(text, "  up to %u machines are not enough; each of so many:\n",
                         plan->o.n_machines_max);
        put_result(text, plan, group, &group->all);
    }
}

void cuzk_machine_plan_put_text(cuzk_text *text, const cuzk_machine_plan *plan)
{
    const cuzk_plan_options *o = &plan->o;
    if (o->n_gpus > 0) {
        cuzk_text_printf(text, "a machine: %u GPU%s with %s free each, ", o->n_gpus,
                         o->n_gpus == 1 ? "" : "s", cuzk_size_of(o->card_bytes).text);
    } else {
        cuzk_text_put(text, "a machine: no GPU, ");
    }
    cuzk_text_printf(text, "%s of memory (%s for keys and proofs), %u cores; %u workers a device\n",
                     cuzk_size_of(o->ram_bytes).text, cuzk_size_of(plan->budget_bytes).text,
                     o->n_cores, o->n_workers);
    cuzk_text_printf(text, "durations: %s\n",
                     plan->recording_path != NULL ? plan->recording_path : CUZK_DURATIONS_SOURCE);
    put_kinds(text, plan);
    if (plan->n_groups > 1) {
        cuzk_text_printf(text,
                         "\nnot all keys stay together on a card: they would take turns, which is "
                         "not simulated. %s:\n",
                         plan->is_shared ? "A daemon for each group, with cards of its own "
                                           "(gpus.devices)"
                                         : "Machines for each group");
    }
    for (unsigned g = 0; g < plan->n_groups; g++) {
        put_group(text, plan, &plan->groups[g]);
    }
    unsigned n = cuzk_machine_plan_machines(plan);
    if (n > 0) {
        cuzk_text_printf(text, "\n%u machine%s\n", n, n == 1 ? "" : "s");
    } else {
        cuzk_text_put(text, "\nno number of machines up to the limit is enough\n");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_result_json(cuzk_text *text, const cuzk_machine_plan *plan,
                            const cuzk_plan_group *group, const cuzk_plan_result *r)
{
    cuzk_text_printf(text,
                     "{\"seconds\":%.3f,\"partitions\":%zu,\"keeps_up\":%s,\"speed\":%.6f,"
                     "\"limit\":\"%s\",\"needs\":{",
                     seconds(r->length_ns), r->n_units, r->keeps_up ? "true" : "false",
                     isinf(r->speed) ? 0 : r->speed,
                     cuzk_plan_resource_name(cuzk_machine_plan_limit(r)));
    for (int i = 0; i < CUZK_PLAN_RESOURCES_COUNT; i++) {
        cuzk_text_printf(text, "%s\"%s\":", i == 0 ? "" : ",",
                         cuzk_plan_resource_name((cuzk_plan_resource)i));
        if (isnan(r->share[i])) {
            cuzk_text_put(text, "null");
        } else {
            cuzk_text_printf(text, "%.6f", r->share[i]);
        }
    }
    cuzk_text_put(text, "},\"times\":[");
    for (unsigned i = 0; i < group->n; i++) {
        const cuzk_plan_times *t = &r->times[i];
        cuzk_text_printf(text,
                         "%s{\"jobs\":\"%s\",\"number\":%zu,\"late\":%zu,\"mean_ns\":%" PRIu64
                         ",\"p99_ns\":%" PRIu64 ",\"worst_ns\":%" PRIu64 "}",
                         i == 0 ? "" : ",", plan->jobs[group->of[i]].name, t->n_jobs, t->n_late,
                         t->mean_ns, t->p99_ns, t->worst_ns);
    }
    cuzk_text_put(text, "]}");
}

static void put_kinds_json(cuzk_text *text, const cuzk_machine_plan *plan)
{
    for (unsigned i = 0; i < plan->n_jobs; i++) {
        const cuzk_planned_jobs *jobs = &plan->jobs[i];
        cuzk_text_printf(text,
                         "%s{\"name\":\"%s\",\"per_hour\":%.6f,\"partitions\":%u,\"key\":\"%s\","
                         "\"card_bytes\":%" PRIu64 ",\"host_key_bytes\":%" PRIu64
                         ",\"host_partition_bytes\":%" PRIu64 ",\"deadline_ns\":%" PRIu64
                         ",\"group\":%u}",
                         i == 0 ? "" : ",", jobs->name, jobs->kind.per_hour * jobs->kind.at_once,
                         jobs->kind.n_units, way_of(plan, jobs), jobs->card.total_bytes,
                         jobs->key_bytes, jobs->unit_bytes, jobs->kind.deadline_ns, jobs->group);
    }
}

void cuzk_machine_plan_put_json(cuzk_text *text, const cuzk_machine_plan *plan)
{
    const cuzk_plan_options *o = &plan->o;
    cuzk_text_printf(text,
                     "{\"ok\":true,\"gpus\":%u,\"card_bytes\":%" PRIu64 ",\"ram_bytes\":%" PRIu64
                     ",\"budget_bytes\":%" PRIu64 ",\"cores\":%u,\"workers\":%u,\"durations\":",
                     o->n_gpus, o->card_bytes, o->ram_bytes, plan->budget_bytes, o->n_cores,
                     o->n_workers);
    cuzk_text_put_json_string(text, plan->recording_path != NULL ? plan->recording_path
                                                                 : CUZK_DURATIONS_SOURCE);
    cuzk_text_put(text, ",\"jobs\":[");
    put_kinds_json(text, plan);
    cuzk_text_put(text, "],\"groups\":[");
    for (unsigned g = 0; g < plan->n_groups; g++) {
        const cuzk_plan_group *group = &plan->groups[g];
        cuzk_text_printf(text,
                         "%s{\"card_bytes\":%" PRIu64 ",\"host_key_bytes\":%" PRIu64
                         ",\"budget_bytes\":%" PRIu64 ",\"devices\":%u,\"machines\":%u,\"one\":",
                         g == 0 ? "" : ",", group->card_bytes, group->key_bytes,
                         group->budget_bytes, group->n_cards, group->n_machines);
        put_result_json(text, plan, group, &group->one);
        cuzk_text_put(text, ",\"each\":");
        put_result_json(text, plan, group, &group->all);
        cuzk_text_put(text, "}");
    }
    cuzk_text_printf(text, "],\"shared\":%s,\"machines\":%u}\n", plan->is_shared ? "true" : "false",
                     cuzk_machine_plan_machines(plan));
}
