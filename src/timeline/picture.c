/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each row is one path that follows the shares of its columns: small, however many spans there are.
 */
#include "timeline/picture.h"

#include "timeline/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 170, ROW = 26, GAP_ROW = 10, TOP = 56, WIDTH = 1400, LEGEND = 18 };

typedef struct {
    cuzk_text *text;
    const cuzk_recording *recording;
    const cuzk_analysis *a;
    double *columns; /* of the row that is drawn: busy ns of each column */
    size_t n;        /* columns */
    double ns;       /* of a column */
    unsigned y;
} picture;

/* Light to dark, so that they differ without colour too. */
static const char *const cause_colours[CUZK_CAUSES_COUNT] = {
    [CUZK_CAUSE_COPY] = "#56b4e9",     [CUZK_CAUSE_BEFORE] = "#e69f00",
    [CUZK_CAUSE_BETWEEN] = "#f0c36a",  [CUZK_CAUSE_SYNC] = "#b36b00",
    [CUZK_CAUSE_LANE] = "#a0522d",     [CUZK_CAUSE_AFTER] = "#d9a55b",
    [CUZK_CAUSE_HANDOVER] = "#cc79a7", [CUZK_CAUSE_WITNESS] = "#009e73",
    [CUZK_CAUSE_MEMORY] = "#d55e00",   [CUZK_CAUSE_RESIDENT] = "#0072b2",
    [CUZK_CAUSE_QUEUE] = "#66c2a5",    [CUZK_CAUSE_DECODE] = "#8da0cb",
    [CUZK_CAUSE_TAIL] = "#999999",     [CUZK_CAUSE_NO_JOB] = "#e4e4e4",
    [CUZK_CAUSE_UNKNOWN] = "#ff00ff"};

/* Add a span's part inside the picture to its columns. */
static void add(picture *p, uint64_t begin_ns, uint64_t end_ns)
{
    double from = begin_ns > p->a->begin_ns ? (double)(begin_ns - p->a->begin_ns) : 0;
    double to = end_ns < p->a->end_ns
                    ? (double)(end_ns > p->a->begin_ns ? end_ns - p->a->begin_ns : 0)
                    : (double)(p->a->end_ns - p->a->begin_ns);
    for (size_t c = (size_t)(from / p->ns); c < p->n && (double)c * p->ns < to; c++) {
        double left = (double)c * p->ns;
        double right = left + p->ns;
        double begin = from > left ? from : left;
        double end = to < right ? to : right;
        p->columns[c] += end > begin ? end - begin : 0;
    }
}

static void put_label(picture *p, const char *label, unsigned height)
{
    cuzk_text_printf(p->text, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8,
                     p->y + height - 7);
    for (const char *c = label; *c != 0; c++) { /* plain since they were read */
        const char *entity = *c == '<' ? "&lt;" : *c == '&' ? "&amp;" : NULL;
        if (entity != NULL) {
            cuzk_text_put(p->text, entity);
        } else {
            cuzk_text_put_bytes(p->text, c, 1);
        }
    }
    cuzk_text_put(p->text, "</text>\n");
}

/* The columns as a path; full: what fills a column to the top. */
static void put_row(picture *p, const char *label, const char *colour, double full,
                    const char *title)
{
    enum { HEIGHT = ROW - 6 };
    put_label(p, label, ROW);
    cuzk_text_printf(p->text, "<path fill=\"%s\" d=\"M%d %u", colour, LEFT, p->y + HEIGHT);
    double last = -1;
    for (size_t c = 0; c < p->n; c++) {
        double share = full > 0 ? p->columns[c] / full : 0;
        share = share > 1 ? 1 : share;
        if (share != last) {
            cuzk_text_printf(p->text, "H%zuV%.4g", LEFT + c, p->y + HEIGHT * (1 - share));
        }
        last = share;
    }
    cuzk_text_printf(p->text, "H%zuV%uZ\"><title>%s</title></path>\n", LEFT + p->n, p->y + HEIGHT,
                     title);
    p->y += ROW;
    memset(p->columns, 0, p->n * sizeof *p->columns);
}

static void put_time(picture *p)
{
    cuzk_text length = {0};
    cuzk_report_put_ns(&length, p->a->end_ns - p->a->begin_ns);
    cuzk_text_printf(p->text,
                     "<text x=\"%d\" y=\"20\" font-weight=\"bold\">%s from +%.3f s; %" PRIu64
                     " jobs ended, %" PRIu64 " partitions done</text>\n",
                     LEFT, length.failed ? "?" : length.data,
                     (double)(p->a->begin_ns - p->recording->begin_ns) / 1e9, p->a->n_jobs_ended,
                     p->a->n_units_done);
    cuzk_text_clear(&length);
    for (unsigned i = 0; i <= 10; i++) {
        double s = (double)(p->a->end_ns - p->a->begin_ns) / 1e9 * i / 10;
        size_t x = LEFT + p->n * i / 10;
        cuzk_text_printf(p->text,
                         "<text x=\"%zu\" y=\"%d\" text-anchor=\"%s\" class=\"t\">%.4g s</text>"
                         "<path class=\"g\" d=\"M%zu %dV9999\"/>\n",
                         x, TOP - 12, i == 10 ? "end" : "middle", s, x, TOP - 6);
    }
}

/* Gaps that are listed, each cause as long as it was; their order inside a gap is not kept. */
static void put_gaps(picture *p, unsigned device)
{
    for (size_t g = 0; g < p->a->n_gaps; g++) {
        const cuzk_gap *gap = &p->a->gaps[g];
        if (gap->device != device) {
            continue;
        }
        double x = LEFT + (double)(gap->begin_ns - p->a->begin_ns) / p->ns;
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            double width = (double)gap->cause_ns[c] / p->ns;
            if (width > 0) {
                cuzk_text_printf(
                    p->text,
                    "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s ",
                    x, p->y - 4, width, GAP_ROW, cause_colours[c],
                    cuzk_cause_sentence((cuzk_cause)c));
                cuzk_report_put_ns(p->text, gap->cause_ns[c]);
                cuzk_text_put(p->text, "</title></rect>\n");
                x += width;
            }
        }
    }
    p->y += GAP_ROW + 4;
}

static void add_spans(picture *p, cuzk_span_name name, int device, int worker)
{
    for (size_t i = 0; i < p->recording->n_spans; i++) {
        const cuzk_timespan *s = &p->recording->spans[i];
        if (s->name == name && (device < 0 || s->device == device) &&
            (worker < 0 || s->worker == worker) && s->end_ns > p->a->begin_ns &&
            s->begin_ns < p->a->end_ns) {
            add(p, s->begin_ns, s->end_ns);
        }
    }
}

/* Kernels and copies are unions: the slices of the analysis have them. */
static void add_use(picture *p, const cuzk_device_analysis *d, bool copies)
{
    for (size_t i = 0; i < p->a->n_slices; i++) {
        double ns =
            (double)(copies ? d->slices[i].copy_up + d->slices[i].copy_down : d->slices[i].kernel);
        size_t c = (size_t)((double)(i * p->a->slice_ns) / p->ns);
        p->columns[c < p->n ? c : p->n - 1] += ns;
    }
}

static void put_device(picture *p, unsigned device)
{
    const cuzk_device_analysis *d = &p->a->devices[device];
    char label[CUZK_RECORDING_LABEL + 32];
    const char *id = p->recording->devices[device].id;
    snprintf(label, sizeof label, "%s kernels", id[0] != 0 ? id : "device");
    add_use(p, d, false);
    put_row(p, label, "#1b7837", p->ns,
            "kernel-active: the share of the time in which a kernel ran");
    put_gaps(p, device);
    if (d->n_copies > 0) {
        add_use(p, d, true);
        put_row(p, "copies", "#56b4e9", p->ns, "copy-active");
    }
    add_spans(p, CUZK_SPAN_LANE, (int)device, -1);
    put_row(p, "lane", "#5e3c99", p->ns, "lane-held");
    for (unsigned w = 0; w < d->n_workers; w++) {
        snprintf(label, sizeof label, "worker %u", w);
        add_spans(p, CUZK_SPAN_PROVE_START, (int)device, (int)w);
        put_row(p, label, "#b2abd2", p->ns, "worker-busy: inside prove.start");
    }
    p->y += 8;
}

static void put_stage(picture *p, cuzk_span_name name, const char *label, const char *colour)
{
    add_spans(p, name, -1, -1);
    double most = 0;
    for (size_t c = 0; c < p->n; c++) {
        most = p->columns[c] > most ? p->columns[c] : most;
    }
    char title[128];
    snprintf(title, sizeof title, "%s: the full height is %.2f at once", label, most / p->ns);
    put_row(p, label, colour, most, title);
}

static void sum_causes(const cuzk_analysis *a, uint64_t all[CUZK_CAUSES_COUNT])
{
    for (size_t d = 0; d < a->n_devices; d++) {
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            all[c] += a->devices[d].cause_ns[c];
        }
    }
}

static void put_legend(picture *p)
{
    uint64_t all[CUZK_CAUSES_COUNT] = {0};
    sum_causes(p->a, all);
    p->y += 6;
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        if (all[c] == 0) {
            continue;
        }
        cuzk_text_printf(p->text,
                         "<rect x=\"%d\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                         "<text x=\"%d\" y=\"%u\">%s: %s, ",
                         LEFT, p->y, cause_colours[c], LEFT + 20, p->y + 11,
                         cuzk_cause_name((cuzk_cause)c), cuzk_cause_sentence((cuzk_cause)c));
        cuzk_report_put_ns(p->text, all[c]);
        cuzk_text_put(p->text, "</text>\n");
        p->y += LEGEND;
    }
}

static unsigned height_of(const cuzk_analysis *a)
{
    enum { STAGES = 5 };
    uint64_t all[CUZK_CAUSES_COUNT] = {0};
    unsigned height = TOP + STAGES * ROW + 20;
    sum_causes(a, all);
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        height += all[c] > 0 ? LEGEND : 0;
    }
    for (size_t d = 0; d < a->n_devices; d++) {
        unsigned rows = 2 + (a->devices[d].n_copies > 0) + a->devices[d].n_workers;
        height += rows * ROW + GAP_ROW + 12;
    }
    return height;
}

cuzk_status cuzk_picture_put(cuzk_text *text, const cuzk_recording *recording,
                             const cuzk_analysis *analysis, cuzk_error *err)
{
    uint64_t all_ns = analysis->end_ns - analysis->begin_ns;
    picture p = {.text = text,
                 .recording = recording,
                 .a = analysis,
                 .n = CUZK_PICTURE_COLUMNS,
                 .ns = all_ns == 0 ? 1 : (double)all_ns / CUZK_PICTURE_COLUMNS,
                 .y = TOP};
    p.columns = calloc(p.n, sizeof *p.columns);
    CUZK_FAIL_IF(p.columns == NULL, err, CUZK_E_MEMORY, "drawing a recording: out of memory");
    cuzk_text_printf(text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                     "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
                     "<title>timeline</title><style>.g{stroke:#ccc;stroke-width:.5}.t{fill:#555}"
                     "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                     WIDTH, height_of(analysis));
    put_time(&p);
    for (size_t d = 0; d < analysis->n_devices; d++) {
        put_device(&p, (unsigned)d);
    }
    put_stage(&p, CUZK_SPAN_DECODE, "decode", "#8da0cb");
    put_stage(&p, CUZK_SPAN_RESIDENT_LOAD, "load circuits", "#0072b2");
    put_stage(&p, CUZK_SPAN_WITNESS, "witness", "#009e73");
    put_stage(&p, CUZK_SPAN_PROVE_FINISH, "finish", "#a6611a");
    put_stage(&p, CUZK_SPAN_VERIFY, "verify", "#dfc27d");
    put_legend(&p);
    cuzk_text_put(text, "</svg>\n");
    free(p.columns);
    return CUZK_OK;
}
