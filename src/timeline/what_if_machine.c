/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is simulated: the machine that a recording was made on, and durations in place of its own.
 */
#include "timeline/what_if.h"

#include "timeline/sort.h"

#include <inttypes.h>
#include <stddef.h>
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

/* ---- given durations ------------------------------------------------------------------------- */

enum { LANE = 3 }; /* of the table */

static const struct {
    const char *name;
    size_t at; /* in a cuzk_sim_unit */
} stages[CUZK_WHAT_IF_STAGES] = {
    {"witness", offsetof(cuzk_sim_unit, witness)},
    {"host-before", offsetof(cuzk_sim_unit, before)},
    {"copy", offsetof(cuzk_sim_unit, copy)},
    {"lane", offsetof(cuzk_sim_unit, lane)},
    {"host-after", offsetof(cuzk_sim_unit, after)},
    {"finish", offsetof(cuzk_sim_unit, finish)},
    {"verify", offsetof(cuzk_sim_unit, verify)},
};

/* "900ms", up to a comma or the end; false: it is no time. */
static bool read_time(uint64_t *ns, const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
    const double most_s = 1e6;
    char *end = NULL;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    for (size_t u = 0; value >= 0 && u < sizeof units / sizeof *units; u++) {
        size_t n = strlen(units[u].name);
        if (strncmp(end, units[u].name, n) == 0 && (end[n] == ',' || end[n] == '\0') &&
            value * units[u].ns <= most_s * 1e9) {
            *ns = (uint64_t)(value * units[u].ns + 0.5);
            return true;
        }
    }
    return false;
}

cuzk_status cuzk_what_if_durations(cuzk_what_if *what, const char *text, cuzk_error *err)
{
    for (const char *at = text;; at++) {
        size_t n_chars = strcspn(at, ","), n_name = strcspn(at, "=,");
        size_t s = 0;
        while (s < CUZK_WHAT_IF_STAGES &&
               (strlen(stages[s].name) != n_name || memcmp(stages[s].name, at, n_name) != 0)) {
            s++;
        }
        CUZK_FAIL_IF(s == CUZK_WHAT_IF_STAGES || n_name == n_chars, err, CUZK_E_ARGUMENT,
                     "durations: \"%.*s\" is not STAGE=TIME; there are witness, host-before, copy, "
                     "lane, host-after, finish, verify",
                     (int)(n_chars < 40 ? n_chars : 40), at);
        CUZK_FAIL_IF(!read_time(&what->given_ns[s], at + n_name + 1), err, CUZK_E_ARGUMENT,
                     "durations: \"%.*s\" is no time such as 2s, 900ms or 50us, up to 1000000s",
                     (int)(n_chars < 40 ? n_chars : 40), at);
        what->is_given[s] = true;
        what->is_changed = true;
        at += n_chars;
        if (*at == '\0') {
            return CUZK_OK;
        }
    }
}

void cuzk_what_if_give_durations(const cuzk_what_if *what, cuzk_sim_unit *units, size_t n)
{
    for (size_t u = 0; u < n; u++) {
        double kernels = units[u].lane > 0 ? (double)units[u].kernel / (double)units[u].lane : 1;
        for (size_t s = 0; s < CUZK_WHAT_IF_STAGES; s++) {
            if (what->is_given[s]) {
                memcpy((char *)&units[u] + stages[s].at, &what->given_ns[s], sizeof(uint64_t));
            }
        }
        if (what->is_given[LANE]) {
            units[u].kernel = (uint64_t)(kernels * (double)units[u].lane);
        }
    }
}
