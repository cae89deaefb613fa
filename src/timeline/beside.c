/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/beside_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t TOLERANCE = 20000; /* beside what the clocks' tie is off */

/* ---- which devices ---- */

/* The number in "cuda:N", or -1. */
static int number_of(const char *id)
{
    char end;
    unsigned n;
    return sscanf(id, "cuda:%2u%c", &n, &end) == 1 && n < CUZK_ACTIVITY_DEVICES ? (int)n : -1;
}

static size_t count(const bool *seen, size_t n, size_t *one)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += seen[i];
        *one = seen[i] ? i : *one;
    }
    return found;
}

static void add_device(cuzk_beside_making *m, size_t of_file, int of_recording)
{
    cuzk_beside *out = m->out;
    cuzk_beside_device *d = &out->devices[out->n_devices];
    d->number = (unsigned)of_file;
    memcpy(d->label, out->activities->devices[of_file], sizeof d->label);
    m->of_file[of_file] = (int)out->n_devices;
    if (of_recording >= 0) {
        memcpy(d->id, out->recording->devices[of_recording].id, sizeof d->id);
        m->of_recording[of_recording] = (int)out->n_devices;
    }
    out->n_devices++;
}

/* The device of the recording that is device i of the file, or -1. */
static int counterpart(const cuzk_recording *r, const bool *recorded, size_t i, bool is_only)
{
    size_t one = 0;
    if (is_only && count(recorded, CUZK_RECORDING_DEVICES, &one) == 1) {
        return (int)one;
    }
    for (size_t k = 0; k < r->n_devices; k++) {
        if (recorded[k] && number_of(r->devices[k].id) == (int)i) {
            return (int)k;
        }
    }
    return -1;
}

static cuzk_status match_devices(cuzk_beside_making *m, cuzk_error *err)
{
    cuzk_beside *out = m->out;
    const cuzk_recording *r = out->recording;
    bool seen[CUZK_ACTIVITY_DEVICES] = {false}, recorded[CUZK_RECORDING_DEVICES] = {false};
    for (size_t i = 0; i < out->activities->n; i++) {
        seen[out->activities->rows[i].device] = true;
    }
    for (size_t i = 0; r != NULL && i < r->n_spans; i++) {
        if (cuzk_beside_is_of_device(&r->spans[i])) {
            recorded[r->spans[i].device] = true;
        }
    }
    size_t one = 0;
    CUZK_FAIL_IF(r != NULL && count(recorded, CUZK_RECORDING_DEVICES, &one) == 0, err,
                 CUZK_E_ARGUMENT, "the recording has no kernel or copy of a CUDA device");
    CUZK_FAIL_IF(r != NULL && (r->end_ns > (uint64_t)CUZK_ACTIVITY_TIME_MAX ||
                               r->end_ns - r->begin_ns > (uint64_t)CUZK_ACTIVITY_NS_MAX),
                 err, CUZK_E_FORMAT,
                 "the recording is from %" PRIu64 " to %" PRIu64 " ns: more than a hundred days",
                 r->begin_ns, r->end_ns);
    bool is_only = count(seen, CUZK_ACTIVITY_DEVICES, &one) == 1;
    memset(m->of_file, -1, sizeof m->of_file);
    memset(m->of_recording, -1, sizeof m->of_recording);
    for (size_t i = 0; i < CUZK_ACTIVITY_DEVICES; i++) {
        int of_recording = r == NULL || !seen[i] ? -1 : counterpart(r, recorded, i, is_only);
        if (seen[i] && (r == NULL || of_recording >= 0)) {
            add_device(m, i, of_recording);
        }
    }
    CUZK_FAIL_IF(out->n_devices == 0, err, CUZK_E_ARGUMENT,
                 "no device is in both: device N of the file is \"cuda:N\" of the recording");
    return CUZK_OK;
}

/* ---- sets ---- */

/* Put an interval, or only count it where there is no room yet. */
static void put(cuzk_interval_set *set, int64_t begin, int64_t end)
{
    if (set->v != NULL) {
        set->v[set->n] = (cuzk_interval){begin, end};
    }
    set->n++;
}

static void put_all(cuzk_beside_making *m)
{
    const cuzk_activities *a = m->out->activities;
    const cuzk_recording *r = m->out->recording;
    for (size_t i = 0; i < a->n; i++) {
        const cuzk_activity *row = &a->rows[i];
        int d = m->of_file[row->device];
        if (d < 0) {
            continue;
        }
        cuzk_beside_set kind = cuzk_beside_set_of_row(row);
        put(&m->sets[d].theirs[kind], row->begin_ns, row->end_ns);
        if (kind == SET_KERNEL) {
            put(&m->sets[d].theirs[SET_WORK], row->begin_ns, row->end_ns);
        }
    }
    for (size_t i = 0; r != NULL && i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (!cuzk_beside_is_of_device(s) || m->of_recording[s->device] < 0) {
            continue;
        }
        cuzk_beside_sets *sets = &m->sets[m->of_recording[s->device]];
        cuzk_beside_set kind = cuzk_beside_set_of_span(s);
        put(&sets->ours[kind], (int64_t)s->begin_ns, (int64_t)s->end_ns);
        if (kind == SET_KERNEL) {
            put(&sets->families[s->name - CUZK_SPAN_KERNEL_ROWS], (int64_t)s->begin_ns,
                (int64_t)s->end_ns);
        }
    }
}

/* Every set of a device, one after the other. */
static cuzk_interval_set *set_at(cuzk_beside_sets *sets, size_t i)
{
    return i < SETS       ? &sets->theirs[i]
           : i < 2 * SETS ? &sets->ours[i - SETS]
                          : &sets->families[i - 2 * SETS];
}

enum { SETS_ALL = 2 * SETS + CUZK_BESIDE_FAMILIES };

static cuzk_status make_sets(cuzk_beside_making *m, cuzk_error *err)
{
    m->sets = calloc(m->out->n_devices, sizeof *m->sets);
    CUZK_FAIL_IF(m->sets == NULL, err, CUZK_E_MEMORY, "comparing activities: out of memory");
    put_all(m);
    for (size_t d = 0; d < m->out->n_devices; d++) {
        for (size_t i = 0; i < SETS_ALL; i++) {
            cuzk_interval_set *set = set_at(&m->sets[d], i);
            set->v = malloc((set->n + 1) * sizeof *set->v);
            set->n = 0;
            CUZK_FAIL_IF(set->v == NULL, err, CUZK_E_MEMORY, "comparing activities: out of memory");
        }
    }
    put_all(m);
    for (size_t d = 0; d < m->out->n_devices; d++) {
        for (size_t i = 0; i < SETS_ALL; i++) {
            cuzk_interval_set *set = set_at(&m->sets[d], i);
            set->n = cuzk_intervals_unite(set->v, set->n, 0);
        }
    }
    return CUZK_OK;
}

static void free_sets(cuzk_beside_making *m)
{
    for (size_t d = 0; m->sets != NULL && d < m->out->n_devices; d++) {
        for (size_t i = 0; i < SETS_ALL; i++) {
            free(set_at(&m->sets[d], i)->v);
        }
    }
    free(m->sets);
}

/* ---- clocks ---- */

static cuzk_status tie_clocks(cuzk_beside_making *m, cuzk_error *err)
{
    cuzk_beside *out = m->out;
    const cuzk_recording *r = out->recording;
    const int64_t wall_ns = out->activities->begin_wall_ns;
    out->has_hint =
        wall_ns != 0 && r->wall_ns != 0 && r->wall_ns < INT64_MAX / 2 && r->host_ns < INT64_MAX / 4;
    out->hint_ns = out->has_hint ? (int64_t)r->host_ns + (wall_ns - (int64_t)r->wall_ns) : 0;
    out->is_given = m->offset != NULL;
    if (out->is_given) {
        out->clocks.offset_ns = *m->offset;
        return CUZK_OK;
    }
    size_t n_each = SET_DOWN + 1; /* kernels, copies up and down */
    cuzk_align_track *tracks = calloc(out->n_devices * n_each, sizeof *tracks);
    CUZK_FAIL_IF(tracks == NULL, err, CUZK_E_MEMORY, "comparing activities: out of memory");
    for (size_t i = 0; i < out->n_devices * n_each; i++) {
        const cuzk_beside_sets *sets = &m->sets[i / n_each];
        tracks[i] = (cuzk_align_track){sets->ours[i % n_each], sets->theirs[i % n_each]};
    }
    cuzk_status status = cuzk_align(&out->clocks, tracks, out->n_devices * n_each,
                                    out->has_hint ? &out->hint_ns : NULL, err);
    free(tracks);
    return status;
}

/* Their times by our clock. */
static void move_sets(cuzk_beside_making *m)
{
    for (size_t d = 0; d < m->out->n_devices; d++) {
        for (size_t i = 0; i < SETS; i++) {
            cuzk_interval_set *set = &m->sets[d].theirs[i];
            for (size_t k = 0; k < set->n; k++) {
                set->v[k].begin = cuzk_align_to_ours(&m->out->clocks, set->v[k].begin);
                set->v[k].end = cuzk_align_to_ours(&m->out->clocks, set->v[k].end);
            }
            set->n = cuzk_intervals_unite(set->v, set->n, 0); /* rounding may close a gap of 1 ns */
        }
    }
}

/* ---- all of it ---- */

static int by_device_and_total(const void *a, const void *b)
{
    const cuzk_beside_kernel *x = a, *y = b;
    return x->device != y->device       ? (x->device > y->device ? 1 : -1)
           : x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1)
                                        : (x->name > y->name) - (x->name < y->name);
}

static cuzk_status make(cuzk_beside_making *m, cuzk_error *err)
{
    cuzk_beside *out = m->out;
    out->devices = calloc(CUZK_ACTIVITY_DEVICES, sizeof *out->devices);
    CUZK_FAIL_IF(out->devices == NULL, err, CUZK_E_MEMORY, "comparing activities: out of memory");
    CUZK_TRY(match_devices(m, err));
    CUZK_TRY(make_sets(m, err));
    if (out->recording != NULL) {
        CUZK_TRY(tie_clocks(m, err));
        move_sets(m);
    }
    out->tolerance_ns = TOLERANCE + out->clocks.error_ns;
    for (size_t d = 0; d < out->n_devices; d++) {
        CUZK_TRY(cuzk_beside_measure(m, d, err));
    }
    qsort(out->kernels, out->n_kernels, sizeof *out->kernels, by_device_and_total);
    return CUZK_OK;
}

cuzk_status cuzk_beside_make(cuzk_beside *out, const cuzk_activities *activities,
                             const cuzk_recording *recording, const int64_t *offset,
                             cuzk_error *err)
{
    *out = (cuzk_beside){.activities = activities, .recording = recording};
    cuzk_beside_making m = {.out = out, .offset = offset};
    cuzk_status status = make(&m, err);
    free_sets(&m);
    if (status != CUZK_OK) {
        cuzk_beside_clear(out);
    }
    return status;
}

void cuzk_beside_clear(cuzk_beside *beside)
{
    free(beside->devices);
    free(beside->kernels);
    memset(beside, 0, sizeof *beside);
}
