/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/what_if.h"

#include "base/size_text.h"
#include "timeline/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the recorded machine -------------------------------------------------------------------- */

/* The most spans of a name that are open at one moment; at least 1. */
static cuzk_status most_at_once(unsigned *out, const cuzk_recording *r, cuzk_span_name name,
                                cuzk_error *err)
{
    cuzk_place *ends = malloc((r->n_spans + 1) * sizeof *ends);
    cuzk_place *other = malloc((r->n_spans + 1) * sizeof *other);
    if (ends == NULL || other == NULL) {
        free(ends);
        free(other);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "looking at %zu spans: out of memory", r->n_spans);
    }
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        if (r->spans[i].name == name) {
            ends[n++] = (cuzk_place){r->spans[i].end_ns, i};
        }
    }
    const cuzk_place *sorted = cuzk_places_sort(ends, other, n);
    size_t open = 0;
    size_t most = 1;
    size_t ended = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        if (r->spans[i].name != name) {
            continue;
        }
        while (ended < n && sorted[ended].ns <= r->spans[i].begin_ns) {
            ended++;
        }
        open++;
        /* spans of no length end before they begin here */
        most = open > ended && open - ended > most ? open - ended : most;
    }
    free(ends);
    free(other);
    *out = (unsigned)most;
    return CUZK_OK;
}

/* The most that circuits with their keys took at a time. */
static uint64_t resident_bytes(const cuzk_recording *r)
{
    uint64_t bytes = 0, most = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (s->name == CUZK_SPAN_RESIDENT_LOAD && s->status == 0) {
            bytes += s->value;
        } else if (s->name == CUZK_SPAN_EVICTED) {
            bytes -= s->value < bytes ? s->value : bytes;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Host memory for partitions: what is given, or is left beside circuits with their keys. */
static cuzk_status set_memory(cuzk_sim_machine *out, const cuzk_recording *recording,
                              uint64_t memory_bytes, cuzk_error *err)
{
    const cuzk_recording_machine *m = &recording->machine;
    if (memory_bytes != 0) {
        out->budget_bytes = memory_bytes;
        out->critical_bytes = memory_bytes / 16; /* the part that the engine keeps */
        return CUZK_OK;
    }
    uint64_t resident = resident_bytes(recording);
    CUZK_FAIL_IF(m->work_bytes > 0 && resident >= m->work_bytes, err, CUZK_E_ARGUMENT,
                 "simulating: circuits with their keys took %" PRIu64 " bytes of the %" PRIu64
                 " that they and partitions share: none are left for a partition; give the memory "
                 "for partitions (--memory)",
                 resident, m->work_bytes);
    out->budget_bytes = m->work_bytes > 0 ? m->work_bytes - resident : 0;
    out->critical_bytes = m->critical_bytes;
    return CUZK_OK;
}

cuzk_status cuzk_what_if_machine(cuzk_sim_machine *out, const cuzk_recording *recording,
                                 uint64_t memory_bytes, cuzk_error *err)
{
    *out = (cuzk_sim_machine){
        .n_devices = recording->n_devices > 0 ? (unsigned)recording->n_devices : 1, .n_workers = 1};
    for (size_t i = 0; i < recording->n_devices; i++) {
        unsigned n = recording->devices[i].n_workers;
        out->n_workers = n > out->n_workers ? n : out->n_workers;
    }
    CUZK_TRY(set_memory(out, recording, memory_bytes, err));
    const cuzk_recording_machine *m = &recording->machine;
    if (m->n_witness > 0 && m->n_finishers > 0 && m->n_verifiers > 0) {
        out->n_witness = m->n_witness;
        out->n_finishers = m->n_finishers;
        out->n_verifiers = m->n_verifiers;
        out->witness_ahead = m->witness_ahead;
        return CUZK_OK;
    }
    out->witness_ahead = out->n_workers;
    CUZK_TRY(most_at_once(&out->n_witness, recording, CUZK_SPAN_WITNESS, err));
    CUZK_TRY(most_at_once(&out->n_finishers, recording, CUZK_SPAN_PROVE_FINISH, err));
    return most_at_once(&out->n_verifiers, recording, CUZK_SPAN_VERIFY, err);
}

/* ---- variants -------------------------------------------------------------------------------- */

typedef enum {
    AS_IT_IS,
    NO_WITNESS,
    NO_BEFORE,
    NO_COPY,
    NO_AFTER,
    NO_FINISH,
    ONE_WORKER,
    MORE_WORKERS,
    COARSE_LANE,
    MORE_DEVICES,
    VARIANTS
} variant;

static const char *const names[VARIANTS] = {
    "as it is",
    "witnesses in no time",
    "no host work before the lane",
    "copies in no time",
    "no host work after the lane",
    "finishing and verifying in no time",
    "one worker a device",
    "one worker a device more",
    "the lane held all through prove.start",
    "twice the devices, with twice the threads",
};

static void change_units(cuzk_sim_unit *units, size_t n, variant v)
{
    for (size_t u = 0; u < n; u++) {
        units[u].witness = v == NO_WITNESS ? 0 : units[u].witness;
        units[u].before = v == NO_BEFORE ? 0 : units[u].before;
        units[u].copy = v == NO_COPY ? 0 : units[u].copy;
        units[u].after = v == NO_AFTER ? 0 : units[u].after;
        units[u].finish = v == NO_FINISH ? 0 : units[u].finish;
        units[u].verify = v == NO_FINISH ? 0 : units[u].verify;
    }
}

static void change_machine(cuzk_sim_machine *m, variant v)
{
    m->n_workers = v == ONE_WORKER ? 1 : v == MORE_WORKERS ? m->n_workers + 1 : m->n_workers;
    m->coarse_lane = m->coarse_lane || v == COARSE_LANE;
    if (v == MORE_DEVICES && m->n_devices <= CUZK_SIM_DEVICES / 2) {
        m->n_devices *= 2;
        m->n_witness *= 2;
        m->n_finishers *= 2;
        m->n_verifiers *= 2;
        m->cores *= 2;
        m->copies *= 2;
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
    change_machine(&m, v);
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

static void put_line(cuzk_text *text, const cuzk_what_if *w, variant v, const cuzk_sim_load *load,
                     const cuzk_sim_result *result, double base)
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
                         ",\"units_per_s\":%.6f,\"kernel_active\":%.6f,\"peak_bytes\":%" PRIu64 "}",
                         v == AS_IT_IS ? "" : ",", names[v], result->end_ns, per_s, active,
                         result->peak_bytes);
    } else {
        cuzk_text_printf(text, "%-44s %10.3f s %12.3f %7.1f%% %6.2fx\n", names[v],
                         (double)result->end_ns / 1e9, per_s, 100 * active,
                         base > 0 ? per_s / base : 1);
    }
}

static void put_head(cuzk_text *text, const cuzk_what_if *w, const cuzk_sim_load *load)
{
    const cuzk_sim_machine *m = &w->machine;
    uint64_t ns = recorded_ns(w->recording);
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
                     rate(load->n_units, ns));
    cuzk_text_printf(text, "%-44s %12s %12s %8s %7s\n", "simulated", "until", "partitions/s",
                     "kernels", "");
}

cuzk_status cuzk_what_if_put(cuzk_text *text, const cuzk_what_if *what, cuzk_error *err)
{
    cuzk_sim_load load;
    CUZK_TRY(cuzk_sim_load_of(&load, what->recording, err));
    put_head(text, what, &load);
    double base = 0;
    cuzk_status status = CUZK_OK;
    for (int v = AS_IT_IS; v < VARIANTS && status == CUZK_OK; v++) {
        cuzk_sim_result result;
        status = simulate(&result, &load, &what->machine, (variant)v, err);
        if (status == CUZK_OK) {
            base = v == AS_IT_IS ? rate(load.n_units, result.end_ns) : base;
            put_line(text, what, (variant)v, &load, &result, base);
            if (v == AS_IT_IS && !what->is_changed && !what->as_json) {
                uint64_t ns = recorded_ns(what->recording);
                cuzk_text_printf(text, "%-44s %+11.1f %%\n", "  against the recording",
                                 ns == 0 ? 0 : 100 * ((double)result.end_ns / (double)ns - 1));
            }
            cuzk_sim_result_clear(&result);
        }
    }
    cuzk_text_put(text, what->as_json ? "]}\n" : "");
    cuzk_sim_load_clear(&load);
    return status;
}
