/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/what_if.h"

#include "base/size_text.h"
#include "timeline/analysis.h"
#include "timeline/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- variants -------------------------------------------------------------------------------- */

typedef enum {
    AS_IT_IS,
    NO_WITNESS,
    ALL_THREADS,
    ALL_MEMORY,
    NO_BEFORE,
    NO_COPY,
    NO_IDLE_LANE,
    NO_AFTER,
    NO_FINISH,
    ALL_JOBS,
    ONE_WORKER,
    MORE_WORKERS,
    COARSE_LANE,
    MORE_DEVICES,
    VARIANTS
} variant;

#define OF(cause) (1u << CUZK_CAUSE_##cause)

/* What is changed, and the causes of gaps that have nothing left to be of. */
static const struct {
    const char *name;
    unsigned causes;
} variants[VARIANTS] = {
    [AS_IT_IS] = {"as it is", 0},
    [NO_WITNESS] = {"witnesses in no time", OF(WITNESS)},
    [ALL_THREADS] = {"a witness thread for each partition", OF(QUEUE)},
    [ALL_MEMORY] = {"no limit of memory", OF(MEMORY)},
    [NO_BEFORE] = {"no host work before the lane", OF(BEFORE)},
    [NO_COPY] = {"copies in no time", OF(COPY)},
    [NO_IDLE_LANE] = {"the lane held while kernels run only", OF(BETWEEN) | OF(SYNC)},
    [NO_AFTER] = {"no host work after the lane", OF(AFTER)},
    [NO_FINISH] = {"finishing and verifying in no time", OF(TAIL)},
    [ALL_JOBS] = {"all jobs at the beginning", OF(NO_JOB)},
    [ONE_WORKER] = {"one worker a device", 0},
    [MORE_WORKERS] = {"one worker a device more", 0},
    [COARSE_LANE] = {"the lane held all through prove.start", 0},
    [MORE_DEVICES] = {"twice the devices, with twice the threads", 0},
};

/* The causes that the model knows nothing of. */
static const unsigned left_out = OF(LANE) | OF(HANDOVER) | OF(RESIDENT) | OF(DECODE) | OF(UNKNOWN);

static void change_units(cuzk_sim_unit *units, size_t n, variant v)
{
    for (size_t u = 0; u < n; u++) {
        units[u].witness = v == NO_WITNESS ? 0 : units[u].witness;
        units[u].before = v == NO_BEFORE ? 0 : units[u].before;
        units[u].copy = v == NO_COPY ? 0 : units[u].copy;
        units[u].lane =
            v == NO_IDLE_LANE && units[u].kernel < units[u].lane ? units[u].kernel : units[u].lane;
        units[u].after = v == NO_AFTER ? 0 : units[u].after;
        units[u].finish = v == NO_FINISH ? 0 : units[u].finish;
        units[u].verify = v == NO_FINISH ? 0 : units[u].verify;
    }
}

static void change_machine(cuzk_sim_machine *m, variant v, size_t n_units)
{
    bool has_more = v == MORE_DEVICES && m->n_devices <= CUZK_SIM_DEVICES / 2;
    m->n_workers = v == ONE_WORKER ? 1 : v == MORE_WORKERS ? m->n_workers + 1 : m->n_workers;
    m->coarse_lane = m->coarse_lane || v == COARSE_LANE;
    m->is_backlog = m->is_backlog || v == ALL_JOBS;
    m->n_witness = v == ALL_THREADS && n_units > m->n_witness ? (unsigned)n_units : m->n_witness;
    m->budget_bytes = v == ALL_MEMORY ? 0 : m->budget_bytes;
    if (has_more) {
        m->n_devices *= 2;
        m->n_witness *= 2;
        m->n_finishers *= 2;
        m->n_verifiers *= 2;
        m->cores *= 2;
        m->n_roots *= 2;
        m->copies *= m->n_roots > 0 ? 1 : 2;
        m->memory_rate *= 2;
        m->budget_bytes *= 2;
        m->critical_bytes *= 2;
    }
}

static cuzk_status simulate(cuzk_sim_result *result, const cuzk_sim_load *load,
                            const cuzk_sim_machine *machine, variant v, cuzk_error *err)
{
    cuzk_sim_load changed = *load;
    cuzk_sim_machine m = *machine;
    changed.units = malloc((load->n_units + 1) * sizeof *changed.units);
    CUZK_FAIL_IF(changed.units == NULL, err, CUZK_E_MEMORY, "simulating: out of memory");
    memcpy(changed.units, load->units, load->n_units * sizeof *changed.units);
    change_units(changed.units, changed.n_units, v);
    change_machine(&m, v, load->n_units);
    cuzk_status status = cuzk_simulate(result, &changed, &m, err);
    free(changed.units);
    return status;
}

/* Units a second of a time. */
static double rate(size_t n_units, uint64_t ns)
{
    return ns == 0 ? 0 : (double)n_units * 1e9 / (double)ns;
}

/* When the recorded jobs' last unit ended, from the first arrival on. */
static uint64_t recorded_ns(const cuzk_recording *r)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (s->name == CUZK_SPAN_JOB) {
            first = s->begin_ns < first ? s->begin_ns : first;
        } else if (s->name == CUZK_SPAN_VERIFY) {
            last = s->end_ns > last ? s->end_ns : last;
        }
    }
    return last > first ? last - first : 0;
}

/* Time of gaps of all devices by cause. */
typedef struct {
    uint64_t ns[CUZK_CAUSES_COUNT];
    uint64_t n_units; /* that they are told of each of */
} gaps;

static cuzk_status take_gaps(gaps *out, const cuzk_recording *r, const cuzk_sim_load *load,
                             cuzk_error *err)
{
    cuzk_analysis a;
    *out = (gaps){0};
    CUZK_TRY(cuzk_analyse(
        &a, r, &(cuzk_analysis_options){.gap_ns = UINT64_MAX, .slice_ns = UINT64_MAX}, err));
    for (size_t d = 0; d < a.n_devices; d++) {
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            out->ns[c] += a.devices[d].cause_ns[c];
        }
    }
    out->n_units = a.n_units_done > 0 ? a.n_units_done : load->n_units;
    cuzk_analysis_clear(&a);
    return CUZK_OK;
}

/* "between 110.2 us, sync 47.8 us": of each partition; in JSON all of it. */
static void put_gaps(cuzk_text *text, const gaps *g, unsigned causes, bool as_json)
{
    const char *comma = "";
    for (unsigned c = 0; c < CUZK_CAUSES_COUNT; c++) {
        if ((causes & 1u << c) == 0 || (!as_json && g->ns[c] == 0)) {
            continue;
        }
        const char *name = cuzk_cause_name((cuzk_cause)c);
        if (as_json) {
            cuzk_text_printf(text, "%s\"%s\":%" PRIu64, comma, name, g->ns[c]);
        } else {
            cuzk_text_printf(text, "%s%s ", comma, name);
            cuzk_report_put_ns(text, g->ns[c] / g->n_units);
        }
        comma = as_json ? "," : ", ";
    }
}

/* What is taken of each resource, and which is the scarcest. */
static void put_use(cuzk_text *text, const cuzk_sim_result *r, bool as_json)
{
    static const char *const names[CUZK_SIM_RESOURCES] = {
        [CUZK_SIM_LANES] = "lanes",
        [CUZK_SIM_WORKERS] = "workers",
        [CUZK_SIM_WITNESS_THREADS] = "witness threads",
        [CUZK_SIM_FINISHERS] = "finishers",
        [CUZK_SIM_VERIFIERS] = "verifiers",
        [CUZK_SIM_CORES] = "cores",
        [CUZK_SIM_COPIES] = "copies of a root",
        [CUZK_SIM_MEMORY_RATE] = "memory rate",
    };
    unsigned most = 0;
    cuzk_text_put(text, as_json ? ",\"use\":{" : "  in use: ");
    for (unsigned i = 0, n = 0; i < CUZK_SIM_RESOURCES; i++) {
        /* a worker waits for the lane most of the time: it is no resource of its own then */
        most = i != CUZK_SIM_WORKERS && r->use[i] > r->use[most] ? i : most;
        if (as_json) {
            cuzk_text_printf(text, "%s\"%s\":%.6f", i > 0 ? "," : "", names[i], r->use[i]);
        } else if (r->use[i] > 0) {
            cuzk_text_printf(text, "%s%s %.1f%%", n++ > 0 ? ", " : "", names[i], 100 * r->use[i]);
        }
    }
    cuzk_text_printf(text, as_json ? "},\"limit\":\"%s\"" : "; the limit: %s\n", names[most]);
}

static void put_line(cuzk_text *text, const cuzk_what_if *w, variant v, const cuzk_sim_load *load,
                     const cuzk_sim_result *result, double base, const gaps *g)
{
    uint64_t kernels = 0;
    unsigned n_devices = w->machine.n_devices * (v == MORE_DEVICES ? 2 : 1);
    for (unsigned d = 0; d < CUZK_SIM_DEVICES; d++) {
        kernels += result->kernel_ns[d];
    }
    double per_s = rate(load->n_units, result->end_ns);
    double active = result->end_ns == 0 ? 0 : (double)kernels / (double)result->end_ns / n_devices;
    if (w->as_json) {
        cuzk_text_printf(text,
                         "%s{\"variant\":\"%s\",\"end_ns\":%" PRIu64
                         ",\"units_per_s\":%.6f,\"kernel_active\":%.6f,\"peak_bytes\":%" PRIu64,
                         v == AS_IT_IS ? "" : ",", variants[v].name, result->end_ns, per_s, active,
                         result->peak_bytes);
        put_use(text, result, true);
        cuzk_text_put(text, ",\"gap_ns\":{");
        put_gaps(text, g, variants[v].causes, true);
        cuzk_text_put(text, "}}");
    } else {
        cuzk_text_printf(text, "%-44s %10.3f s %12.3f %7.1f%% %6.2fx  ", variants[v].name,
                         (double)result->end_ns / 1e9, per_s, 100 * active,
                         base > 0 ? per_s / base : 1);
        put_gaps(text, g, variants[v].causes, false);
        while (text->size > 0 && text->data[text->size - 1] == ' ') {
            text->data[--text->size] = '\0';
        }
        cuzk_text_put(text, "\n");
        if (v == AS_IT_IS) {
            put_use(text, result, false);
        }
    }
}

static void put_head(cuzk_text *text, const cuzk_what_if *w, const cuzk_sim_load *load)
{
    const cuzk_sim_machine *m = &w->machine;
    uint64_t ns = recorded_ns(w->recording);
    size_t n_recorded = load->n_units / (w->n_repeats > 1 ? w->n_repeats : 1);
    if (w->as_json) {
        cuzk_text_printf(text,
                         "{\"ok\":true,\"jobs\":%zu,\"units\":%zu,\"recorded_ns\":%" PRIu64
                         ",\"devices\":%u,\"workers\":%u,\"witness_threads\":%u,\"finishers\":%u,"
                         "\"verifiers\":%u,\"memory_bytes\":%" PRIu64 ",\"variants\":[",
                         load->n_jobs, load->n_units, ns, m->n_devices, m->n_workers, m->n_witness,
                         m->n_finishers, m->n_verifiers, m->budget_bytes);
        return;
    }
    cuzk_text_printf(text,
                     "%zu jobs, %zu partitions; %u devices with %u workers each, threads: %u for "
                     "witnesses, %u to finish, %u to verify\n",
                     load->n_jobs, load->n_units, m->n_devices, m->n_workers, m->n_witness,
                     m->n_finishers, m->n_verifiers);
    if (m->budget_bytes > 0) {
        cuzk_text_printf(text, "host memory for partitions: %s\n",
                         cuzk_size_of(m->budget_bytes).text);
    }
    cuzk_text_printf(text, "recorded: %.3f s, %.3f partitions a second\n\n", (double)ns / 1e9,
                     rate(n_recorded, ns));
    cuzk_text_printf(text, "%-44s %12s %12s %8s %7s  %s\n", "simulated", "until", "partitions/s",
                     "kernels", "", "without gaps, recorded of each partition");
}

/* The recording's jobs n times, as if they all were there at the beginning. */
static cuzk_status repeat(cuzk_sim_load *load, unsigned n, cuzk_error *err)
{
    size_t n_jobs = load->n_jobs, n_units = load->n_units;
    cuzk_sim_job *jobs = reallocarray(load->jobs, n_jobs + 1, n * sizeof *jobs);
    load->jobs = jobs != NULL ? jobs : load->jobs;
    cuzk_sim_unit *units = reallocarray(load->units, n_units + 1, n * sizeof *units);
    load->units = units != NULL ? units : load->units;
    CUZK_FAIL_IF(jobs == NULL || units == NULL, err, CUZK_E_MEMORY,
                 "simulating %zu partitions %u times: out of memory", n_units, n);
    for (size_t i = n_jobs; i < n * n_jobs; i++) {
        jobs[i] = jobs[i - n_jobs];
        jobs[i].first_unit += n_units;
    }
    for (size_t i = n_units; i < n * n_units; i++) {
        units[i] = units[i - n_units];
        units[i].job += n_jobs;
    }
    load->n_jobs *= n;
    load->n_units *= n;
    return CUZK_OK;
}

cuzk_status cuzk_what_if_put(cuzk_text *text, const cuzk_what_if *what, cuzk_error *err)
{
    cuzk_sim_load load;
    gaps g;
    CUZK_TRY(cuzk_sim_load_of(&load, what->recording, err));
    double base = 0;
    cuzk_status status = take_gaps(&g, what->recording, &load, err);
    if (status == CUZK_OK && what->n_repeats > 1) {
        status = repeat(&load, what->n_repeats, err);
    }
    if (status == CUZK_OK) {
        cuzk_what_if_give_durations(what, load.units, load.n_units);
        put_head(text, what, &load);
    }
    for (int v = AS_IT_IS; v < VARIANTS && status == CUZK_OK; v++) {
        cuzk_sim_result result;
        status = simulate(&result, &load, &what->machine, (variant)v, err);
        if (status == CUZK_OK) {
            base = v == AS_IT_IS ? rate(load.n_units, result.end_ns) : base;
            put_line(text, what, (variant)v, &load, &result, base, &g);
            if (v == AS_IT_IS && !what->is_changed && !what->as_json) {
                uint64_t ns = recorded_ns(what->recording);
                cuzk_text_printf(text, "%-44s %+11.1f %%\n", "  against the recording",
                                 ns == 0 ? 0 : 100 * ((double)result.end_ns / (double)ns - 1));
            }
            cuzk_sim_result_clear(&result);
        }
    }
    if (status == CUZK_OK) {
        cuzk_text_put(text,
                      what->as_json ? "],\"gap_ns_not_in_the_model\":{" : "not in the model: ");
        put_gaps(text, &g, left_out, what->as_json);
        cuzk_text_put(text, what->as_json ? "}}\n" : "\n");
    }
    cuzk_sim_load_clear(&load);
    return status;
}
