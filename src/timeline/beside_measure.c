/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/beside_impl.h"

#include <stdlib.h>

static void extend(int64_t *begin, int64_t *end, const cuzk_interval_set sets[SETS])
{
    for (size_t i = 0; i < SETS; i++) {
        if (sets[i].n > 0) {
            *begin = sets[i].v[0].begin < *begin ? sets[i].v[0].begin : *begin;
            *end = sets[i].v[sets[i].n - 1].end > *end ? sets[i].v[sets[i].n - 1].end : *end;
        }
    }
}

static cuzk_status find_common_time(cuzk_beside_making *m, size_t d, cuzk_error *err)
{
    cuzk_beside_device *device = &m->out->devices[d];
    int64_t begin = INT64_MAX, end = INT64_MIN, our_begin = INT64_MAX, our_end = INT64_MIN;
    extend(&begin, &end, m->sets[d].theirs);
    if (m->out->recording != NULL) {
        extend(&our_begin, &our_end, m->sets[d].ours);
        begin = our_begin > begin ? our_begin : begin;
        end = our_end < end ? our_end : end;
    }
    CUZK_FAIL_IF(begin >= end, err, CUZK_E_ARGUMENT, "device %u of the file: %s", device->number,
                 m->out->recording != NULL ? "no time in common with the recording"
                                           : "all that it has takes no time");
    device->begin_ns = begin;
    device->end_ns = end;
    return CUZK_OK;
}

static void measure(cuzk_beside_side *side, const cuzk_interval_set sets[SETS],
                    const cuzk_beside_device *d)
{
    side->kernel_ns = cuzk_intervals_cover(&sets[SET_KERNEL], d->begin_ns, d->end_ns);
    side->work_ns = cuzk_intervals_cover(&sets[SET_WORK], d->begin_ns, d->end_ns);
    side->up_ns = cuzk_intervals_cover(&sets[SET_UP], d->begin_ns, d->end_ns);
    side->down_ns = cuzk_intervals_cover(&sets[SET_DOWN], d->begin_ns, d->end_ns);
}

/* One more that lies in the time that is looked at; other: what there should be something of. */
static void judge(const cuzk_beside *w, cuzk_beside_side *side, const cuzk_cover *other,
                  int64_t begin, int64_t end)
{
    int64_t missed = end - begin - cuzk_cover_of(other, begin, end);
    if (missed > w->tolerance_ns && missed > (end - begin) / 2) {
        side->n_alone++;
        side->alone_ns += missed;
    }
}

static void count_row(cuzk_beside_side *side, const cuzk_activity *row)
{
    side->n_kernels += row->kind == CUZK_ACTIVITY_KERNEL;
    side->n_up += row->kind == CUZK_ACTIVITY_UP;
    side->n_down += row->kind == CUZK_ACTIVITY_DOWN;
    side->n_fills += row->kind == CUZK_ACTIVITY_FILL;
    side->n_inside += row->kind == CUZK_ACTIVITY_INSIDE;
    side->up_bytes += row->kind == CUZK_ACTIVITY_UP ? row->bytes : 0;
    side->down_bytes += row->kind == CUZK_ACTIVITY_DOWN ? row->bytes : 0;
}

static void count_span(cuzk_beside_side *side, const cuzk_timespan *s)
{
    cuzk_beside_set kind = cuzk_beside_set_of_span(s);
    side->n_kernels += kind == SET_KERNEL;
    side->n_up += kind == SET_UP;
    side->n_down += kind == SET_DOWN;
    side->up_bytes += kind == SET_UP ? s->value : 0;
    side->down_bytes += kind == SET_DOWN ? s->value : 0;
}

/* Launches of the kernels are put here in the order of their rows. */
typedef struct {
    uint32_t name;
    unsigned device;
    int64_t ns;
} launch;

typedef struct {
    cuzk_cover theirs[SETS], ours[SETS], families[CUZK_BESIDE_FAMILIES];
} device_covers;

static void clear_covers(device_covers *c)
{
    for (size_t i = 0; i < SETS; i++) {
        cuzk_cover_clear(&c->theirs[i]);
        cuzk_cover_clear(&c->ours[i]);
    }
    for (size_t i = 0; i < CUZK_BESIDE_FAMILIES; i++) {
        cuzk_cover_clear(&c->families[i]);
    }
}

static cuzk_status make_covers(device_covers *c, const cuzk_beside_sets *sets, cuzk_error *err)
{
    for (size_t i = 0; i < SETS; i++) {
        CUZK_TRY(cuzk_cover_make(&c->theirs[i], &sets->theirs[i], err));
        CUZK_TRY(cuzk_cover_make(&c->ours[i], &sets->ours[i], err));
    }
    for (size_t i = 0; i < CUZK_BESIDE_FAMILIES; i++) {
        CUZK_TRY(cuzk_cover_make(&c->families[i], &sets->families[i], err));
    }
    return CUZK_OK;
}

static void measure_spans(cuzk_beside_making *m, size_t d, const device_covers *covers)
{
    cuzk_beside *out = m->out;
    cuzk_beside_device *device = &out->devices[d];
    for (size_t i = 0; i < out->recording->n_spans; i++) {
        const cuzk_timespan *s = &out->recording->spans[i];
        int64_t begin = (int64_t)s->begin_ns, end = (int64_t)s->end_ns;
        if (cuzk_beside_is_of_device(s) && m->of_recording[s->device] == (int)d &&
            begin >= device->begin_ns && end <= device->end_ns) {
            cuzk_beside_set kind = cuzk_beside_set_of_span(s);
            count_span(&device->ours, s);
            judge(out, &device->ours, &covers->theirs[kind == SET_KERNEL ? SET_WORK : kind], begin,
                  end);
        }
    }
}

/* Rows of a device: counted, judged, and their kernels added up in `kernels` by name. */
static void measure_rows(cuzk_beside_making *m, size_t d, const device_covers *covers,
                         cuzk_beside_kernel *kernels, launch *launches, size_t *n_launches)
{
    cuzk_beside *out = m->out;
    cuzk_beside_device *device = &out->devices[d];
    for (size_t i = 0; i < out->activities->n; i++) {
        const cuzk_activity *row = &out->activities->rows[i];
        int64_t begin = cuzk_align_to_ours(&out->clocks, row->begin_ns);
        int64_t end = cuzk_align_to_ours(&out->clocks, row->end_ns);
        if (m->of_file[row->device] != (int)d || begin < device->begin_ns || end > device->end_ns) {
            continue;
        }
        count_row(&device->theirs, row);
        cuzk_beside_set kind = cuzk_beside_set_of_row(row);
        if (out->recording != NULL && kind != SET_WORK) {
            judge(out, &device->theirs, &covers->ours[kind], begin, end);
        }
        if (row->kind == CUZK_ACTIVITY_KERNEL) {
            launches[(*n_launches)++] = (launch){row->name, (unsigned)d, end - begin};
            for (size_t f = 0; f < CUZK_BESIDE_FAMILIES; f++) {
                kernels[row->name].under_ns[f] += cuzk_cover_of(&covers->families[f], begin, end);
            }
        }
    }
}

static int by_name_and_length(const void *a, const void *b)
{
    const launch *x = a, *y = b;
    return x->name != y->name ? (x->name > y->name ? 1 : -1) : (x->ns > y->ns) - (x->ns < y->ns);
}

/* A line of the table for each name among a device's launches. */
static cuzk_status add_kernels(cuzk_beside *out, size_t d, const cuzk_beside_kernel *by_name,
                               launch *launches, size_t n, cuzk_error *err)
{
    size_t n_names = 0;
    qsort(launches, n, sizeof *launches, by_name_and_length);
    for (size_t i = 0; i < n; i++) {
        n_names += i == 0 || launches[i].name != launches[i - 1].name;
    }
    cuzk_beside_kernel *more = realloc(out->kernels, (out->n_kernels + n_names + 1) * sizeof *more);
    CUZK_FAIL_IF(more == NULL, err, CUZK_E_MEMORY, "comparing activities: out of memory");
    out->kernels = more;
    for (size_t i = 0; i < n;) {
        cuzk_beside_kernel k = by_name[launches[i].name];
        size_t first = i;
        k.name = launches[i].name;
        k.device = (unsigned)d;
        for (; i < n && launches[i].name == k.name; i++) {
            k.total_ns += launches[i].ns;
        }
        k.n = i - first;
        k.median_ns = launches[first + (i - first) / 2].ns;
        k.longest_ns = launches[i - 1].ns;
        out->kernels[out->n_kernels++] = k;
    }
    return CUZK_OK;
}

cuzk_status cuzk_beside_measure(cuzk_beside_making *m, size_t d, cuzk_error *err)
{
    cuzk_beside *out = m->out;
    cuzk_beside_device *device = &out->devices[d];
    CUZK_TRY(find_common_time(m, d, err));
    measure(&device->theirs, m->sets[d].theirs, device);
    measure(&device->ours, m->sets[d].ours, device);
    device->ours.work_ns = device->ours.kernel_ns; /* its spans are of whole families */
    device_covers covers = {0};
    size_t n_launches = 0;
    launch *launches = malloc((out->activities->n + 1) * sizeof *launches);
    cuzk_beside_kernel *by_name = calloc(out->activities->n_names + 1, sizeof *by_name);
    cuzk_status status = launches != NULL && by_name != NULL
                             ? make_covers(&covers, &m->sets[d], err)
                             : CUZK_FAIL(err, CUZK_E_MEMORY, "comparing activities: out of memory");
    if (status == CUZK_OK) {
        if (out->recording != NULL) {
            measure_spans(m, d, &covers);
        }
        measure_rows(m, d, &covers, by_name, launches, &n_launches);
        status = add_kernels(out, d, by_name, launches, n_launches, err);
    }
    clear_covers(&covers);
    free(by_name);
    free(launches);
    return status;
}
