/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/beside.h"
#include "timeline/report.h"

#include <inttypes.h>

enum { KERNELS_TOLD = 40, NAME_COLUMNS = 38 };

static double percent(int64_t part, int64_t whole)
{
    return whole <= 0 ? 0 : 100 * (double)part / (double)whole;
}

/* A time in a column of 11. */
static void put_column(cuzk_text *text, int64_t ns)
{
    cuzk_text cell = {0};
    cuzk_report_put_ns(&cell, (uint64_t)ns);
    cuzk_text_printf(text, "%11s", cell.failed || cell.data == NULL ? "?" : cell.data);
    text->failed = text->failed || cell.failed;
    cuzk_text_clear(&cell);
}

/* A difference is told in per cent of theirs, where there is any. */
static bool has_difference(int64_t theirs)
{
    return theirs > 0;
}

static double difference(int64_t ours, int64_t theirs)
{
    return 100 * ((double)ours - (double)theirs) / (double)theirs;
}

static void put_clocks(cuzk_text *text, const cuzk_beside *w)
{
    const cuzk_alignment *c = &w->clocks;
    cuzk_text_printf(text, "clocks: theirs %+.9f s is ours, ", (double)c->offset_ns / 1e9);
    if (w->is_given) {
        cuzk_text_put(text, "as it was given\n");
        return;
    }
    cuzk_text_printf(text, "where kernels and copies of both agree best\n");
    if (c->n_parts > 0) {
        cuzk_text_printf(text,
                         "        drift %+.2f ppm, by %u parts of the time, each at most %.1f us "
                         "off\n",
                         c->drift * 1e6, c->n_parts, (double)c->error_ns / 1e3);
    } else {
        cuzk_text_put(text, "        drift not known: too few parts of the time tell their own\n");
    }
    if (w->has_hint) {
        cuzk_text_printf(text, "        the wall clocks of both say %+.3f ms beside it\n",
                         ((double)w->hint_ns - (double)c->offset_ns) / 1e6);
    }
}

static void put_share(cuzk_text *text, const cuzk_beside *w, const cuzk_beside_device *d,
                      const char *name, int64_t ours, int64_t theirs)
{
    int64_t all = d->end_ns - d->begin_ns;
    cuzk_text_printf(text, "  %-34s", name);
    if (w->recording != NULL) {
        cuzk_text_printf(text, " %9.3f %%", percent(ours, all));
    }
    cuzk_text_printf(text, " %9.3f %%", percent(theirs, all));
    if (w->recording != NULL && has_difference(theirs)) {
        cuzk_text_printf(text, " %+9.3f %%", difference(ours, theirs));
    }
    cuzk_text_put(text, "\n");
}

static void put_count(cuzk_text *text, const cuzk_beside *w, const char *name, uint64_t ours,
                      uint64_t theirs)
{
    cuzk_text_printf(text, "  %-34s", name);
    if (w->recording != NULL) {
        cuzk_text_printf(text, " %11" PRIu64, ours);
    }
    cuzk_text_printf(text, " %11" PRIu64 "\n", theirs);
}

static void put_alone(cuzk_text *text, const char *what, const cuzk_beside_side *side, uint64_t n)
{
    cuzk_text_printf(text, "  %s: %" PRIu64 " of %" PRIu64 ", ", what, side->n_alone, n);
    cuzk_report_put_ns(text, (uint64_t)side->alone_ns);
    cuzk_text_put(text, "\n");
}

static uint64_t n_judged(const cuzk_beside_side *side)
{
    return side->n_kernels + side->n_up + side->n_down;
}

static void put_device(cuzk_text *text, const cuzk_beside *w, const cuzk_beside_device *d)
{
    const cuzk_beside_side *o = &d->ours, *t = &d->theirs;
    cuzk_text_printf(text, "\ndevice %u%s%s, ", d->number, d->label[0] != 0 ? ", " : "", d->label);
    if (w->recording != NULL) {
        cuzk_text_printf(text, "%s of the recording: ", d->id[0] != 0 ? d->id : "(not named)");
    }
    cuzk_report_put_ns(text, (uint64_t)(d->end_ns - d->begin_ns));
    cuzk_text_put(text, w->recording != NULL ? " in common\n" : "\n");
    if (w->recording != NULL) {
        cuzk_text_printf(text, "  %-34s %11s %11s %11s\n", "", "ours", "theirs", "difference");
    }
    put_share(text, w, d, "kernel-active", o->kernel_ns, t->kernel_ns);
    put_share(text, w, d, "  fills, copies inside counted too", o->work_ns, t->work_ns);
    put_share(text, w, d, "copy-active, up", o->up_ns, t->up_ns);
    put_share(text, w, d, "copy-active, down", o->down_ns, t->down_ns);
    put_count(text, w, w->recording != NULL ? "spans of kernels, and kernels" : "kernels",
              o->n_kernels, t->n_kernels);
    put_count(text, w, "copies up", o->n_up, t->n_up);
    put_count(text, w, "  bytes", o->up_bytes, t->up_bytes);
    put_count(text, w, "copies down", o->n_down, t->n_down);
    put_count(text, w, "  bytes", o->down_bytes, t->down_bytes);
    put_count(text, w, "fills and copies inside", 0, t->n_fills + t->n_inside);
    if (w->recording != NULL) {
        put_alone(text, "spans of ours without a counterpart", o, n_judged(o));
        put_alone(text, "kernels and copies of theirs without a span of ours", t, n_judged(t));
    }
}

/* The family whose spans have most of a kernel's time. */
static size_t family_of(const cuzk_beside_kernel *k)
{
    size_t best = 0;
    for (size_t f = 1; f < CUZK_BESIDE_FAMILIES; f++) {
        best = k->under_ns[f] > k->under_ns[best] ? f : best;
    }
    return best;
}

static const char *family_name(size_t family)
{
    return cuzk_span_about_of((cuzk_span_name)(CUZK_SPAN_KERNEL_ROWS + family))->name;
}

static void put_kernels(cuzk_text *text, const cuzk_beside *w, size_t device)
{
    const cuzk_beside_device *d = &w->devices[device];
    size_t n_told = 0, n_more = 0;
    cuzk_text_printf(text, "\n  %-*s %8s %11s %8s %11s", NAME_COLUMNS, "kernel", "launches",
                     "total", "of time", "median");
    cuzk_text_put(text, w->recording != NULL ? "  in our spans of\n" : "\n");
    for (size_t i = 0; i < w->n_kernels; i++) {
        const cuzk_beside_kernel *k = &w->kernels[i];
        if (k->device != device) {
            continue;
        }
        if (n_told++ >= KERNELS_TOLD) {
            n_more++;
            continue;
        }
        cuzk_text_printf(text, "  %-*.*s %8" PRIu64, NAME_COLUMNS, NAME_COLUMNS,
                         w->activities->names[k->name], k->n);
        put_column(text, k->total_ns);
        cuzk_text_printf(text, " %6.2f %%", percent(k->total_ns, d->end_ns - d->begin_ns));
        put_column(text, k->median_ns);
        if (w->recording != NULL) {
            size_t f = family_of(k);
            cuzk_text_printf(text, "  %s %.1f %%", k->under_ns[f] > 0 ? family_name(f) : "none",
                             percent(k->under_ns[f], k->total_ns));
        }
        cuzk_text_put(text, "\n");
    }
    if (n_more > 0) {
        cuzk_text_printf(text, "  and %zu more names\n", n_more);
    }
}

void cuzk_beside_put_text(cuzk_text *text, const cuzk_beside *w)
{
    const cuzk_activities *a = w->activities;
    cuzk_text_printf(text, "activities: %zu", a->n);
    if (a->n_untimed > 0) {
        cuzk_text_printf(text, ", and %" PRIu64 " without times", a->n_untimed);
    }
    if (a->n_elsewhere > 0) {
        cuzk_text_printf(text, ", and %" PRIu64 " copies that touch no device", a->n_elsewhere);
    }
    if (a->n_processes > 1) {
        cuzk_text_printf(text,
                         "; of process %" PRId64 ", which has the most kernels: %" PRIu64
                         " of %u others are left out",
                         a->pid, a->n_of_others, a->n_processes - 1);
    }
    cuzk_text_put(text, "\n");
    if (w->recording != NULL) {
        put_clocks(text, w);
    }
    for (size_t d = 0; d < w->n_devices; d++) {
        put_device(text, w, &w->devices[d]);
        put_kernels(text, w, d);
    }
}

/* ---- JSON ---- */

static void put_side(cuzk_text *text, const char *name, const cuzk_beside_side *s)
{
    cuzk_text_printf(text,
                     ",\"%s\":{\"kernel_ns\":%" PRId64 ",\"work_ns\":%" PRId64 ",\"up_ns\":%" PRId64
                     ",\"down_ns\":%" PRId64 ",\"kernels\":%" PRIu64 ",\"copies_up\":%" PRIu64
                     ",\"copies_down\":%" PRIu64 ",\"fills\":%" PRIu64 ",\"copies_inside\":%" PRIu64
                     ",\"up_bytes\":%" PRIu64 ",\"down_bytes\":%" PRIu64 ",\"alone\":%" PRIu64
                     ",\"alone_ns\":%" PRId64 "}",
                     name, s->kernel_ns, s->work_ns, s->up_ns, s->down_ns, s->n_kernels, s->n_up,
                     s->n_down, s->n_fills, s->n_inside, s->up_bytes, s->down_bytes, s->n_alone,
                     s->alone_ns);
}

static void put_json_kernels(cuzk_text *text, const cuzk_beside *w, size_t device)
{
    bool is_first = true;
    cuzk_text_put(text, ",\"kernels\":[");
    for (size_t i = 0; i < w->n_kernels; i++) {
        const cuzk_beside_kernel *k = &w->kernels[i];
        if (k->device != device) {
            continue;
        }
        cuzk_text_put(text, is_first ? "{\"name\":" : ",{\"name\":");
        is_first = false;
        cuzk_text_put_json_string(text, w->activities->names[k->name]);
        cuzk_text_printf(text,
                         ",\"launches\":%" PRIu64 ",\"total_ns\":%" PRId64 ",\"median_ns\":%" PRId64
                         ",\"longest_ns\":%" PRId64,
                         k->n, k->total_ns, k->median_ns, k->longest_ns);
        for (size_t f = 0; f < CUZK_BESIDE_FAMILIES && w->recording != NULL; f++) {
            cuzk_text_printf(text, "%s\"%s\":%" PRId64, f == 0 ? ",\"in_spans_ns\":{" : ",",
                             family_name(f), k->under_ns[f]);
        }
        cuzk_text_put(text, w->recording != NULL ? "}}" : "}");
    }
    cuzk_text_put(text, "]");
}

static void put_json_clocks(cuzk_text *text, const cuzk_beside *w)
{
    const cuzk_alignment *c = &w->clocks;
    cuzk_text_printf(text,
                     ",\"clocks\":{\"offset_ns\":%" PRId64 ",\"by\":\"%s\",\"drift_ppm\":%.4f"
                     ",\"parts\":%u,\"error_ns\":%" PRId64 ",\"wall_offset_ns\":",
                     c->offset_ns, w->is_given ? "given" : "overlap", c->drift * 1e6, c->n_parts,
                     c->error_ns);
    if (w->has_hint) {
        cuzk_text_printf(text, "%" PRId64 "}", w->hint_ns);
    } else {
        cuzk_text_put(text, "null}");
    }
}

void cuzk_beside_put_json(cuzk_text *text, const cuzk_beside *w)
{
    cuzk_text_printf(text,
                     "{\"ok\":true,\"activities\":%zu,\"without_times\":%" PRIu64
                     ",\"elsewhere\":%" PRIu64 ",\"processes\":%u,\"of_others\":%" PRIu64,
                     w->activities->n, w->activities->n_untimed, w->activities->n_elsewhere,
                     w->activities->n_processes, w->activities->n_of_others);
    if (w->activities->pid >= 0) {
        cuzk_text_printf(text, ",\"pid\":%" PRId64, w->activities->pid);
    } else {
        cuzk_text_put(text, ",\"pid\":null");
    }
    if (w->recording != NULL) {
        put_json_clocks(text, w);
    }
    cuzk_text_put(text, ",\"devices\":[");
    for (size_t i = 0; i < w->n_devices; i++) {
        const cuzk_beside_device *d = &w->devices[i];
        cuzk_text_printf(text, "%s{\"device\":%u,\"name\":", i > 0 ? "," : "", d->number);
        cuzk_text_put_json_string(text, d->label);
        cuzk_text_printf(text, ",\"ns\":%" PRId64, d->end_ns - d->begin_ns);
        put_side(text, "theirs", &d->theirs);
        if (w->recording != NULL) {
            cuzk_text_put(text, ",\"id\":");
            cuzk_text_put_json_string(text, d->id);
            put_side(text, "ours", &d->ours);
            cuzk_text_printf(text, ",\"begin_ns\":%" PRId64,
                             d->begin_ns - (int64_t)w->recording->begin_ns);
            if (has_difference(d->theirs.kernel_ns)) {
                cuzk_text_printf(text, ",\"kernel_active_difference_percent\":%.4f",
                                 difference(d->ours.kernel_ns, d->theirs.kernel_ns));
            }
        }
        put_json_kernels(text, w, i);
        cuzk_text_put(text, "}");
    }
    cuzk_text_put(text, "]}\n");
}
