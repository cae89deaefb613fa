/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/compare.h"

#include "timeline/analysis.h"
#include "timeline/job_times.h"
#include "timeline/report.h"
#include "timeline/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 4096, PARTS = 32 };

static const double SURE = 3; /* standard deviations */

/* Newton's: the library is linked without libm. v > 0. */
static double square_root(double v)
{
    double x = v > 1 ? v : 1;
    for (double last = 0; x != last && (last == 0 || x < last);) {
        last = x;
        x = (x + v / x) / 2;
    }
    return x;
}

double cuzk_rank_sum(uint64_t *a, size_t n_a, uint64_t *b, size_t n_b)
{
    if (n_a < CUZK_RANK_LEAST || n_b < CUZK_RANK_LEAST) {
        return 0;
    }
    cuzk_numbers_sort(a, n_a);
    cuzk_numbers_sort(b, n_b);
    double m = (double)n_a;
    double n = (double)n_b;
    double ranks = 0; /* of b */
    double ties = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < n_a || j < n_b) {
        uint64_t value = j == n_b || (i < n_a && a[i] < b[j]) ? a[i] : b[j];
        size_t i_end = i;
        size_t j_end = j;
        while (i_end < n_a && a[i_end] == value) {
            i_end++;
        }
        while (j_end < n_b && b[j_end] == value) {
            j_end++;
        }
        double before = (double)(i + j);
        double equal = (double)(i_end - i + j_end - j);
        ranks += (double)(j_end - j) * (before + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        i = i_end;
        j = j_end;
    }
    double all = m + n;
    double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
    double expected = n * (all + 1) / 2;
    return variance <= 0 ? 0 : (ranks - expected) / square_root(variance);
}

/* ---- lengths of spans ------------------------------------------------------------------------ */

/* At most SAMPLE lengths of a name and kind, evenly over the recording. */
static size_t take_sample(uint64_t lengths[SAMPLE], const cuzk_recording *r,
                          const cuzk_span_times *t)
{
    uint64_t step = t->n / SAMPLE + 1;
    uint64_t seen = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans && n < SAMPLE; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (s->name == t->name && cuzk_span_kind(s) == t->kind && seen++ % step == 0) {
            lengths[n++] = s->end_ns - s->begin_ns;
        }
    }
    return n;
}

static const cuzk_span_times *find(const cuzk_span_times *times, size_t n,
                                   const cuzk_span_times *like)
{
    for (size_t i = 0; i < n; i++) {
        if (times[i].name == like->name && times[i].kind == like->kind) {
            return &times[i];
        }
    }
    return NULL;
}

/* n: values of the smaller sample. */
static const char *verdict(double z, size_t n)
{
    return n < CUZK_RANK_LEAST ? "too few"
           : z > SURE          ? "longer"
           : z < -SURE         ? "shorter"
                               : "as before";
}

static void put_values(cuzk_text *text, bool as_json, bool is_first, const char *name,
                       const char *kind, uint64_t a, uint64_t b, double z, size_t n)
{
    if (as_json) {
        cuzk_text_printf(text, "%s{\"name\":\"%s\",\"kind\":", is_first ? "" : ",", name);
        cuzk_text_put_json_string(text, kind);
        cuzk_text_printf(text,
                         ",\"a_ns\":%" PRIu64 ",\"b_ns\":%" PRIu64
                         ",\"deviations\":%.3f,\"verdict\":\"%s\"}",
                         a, b, z, verdict(z, n));
        return;
    }
    cuzk_text cells[2] = {{0}, {0}};
    cuzk_report_put_ns(&cells[0], a);
    cuzk_report_put_ns(&cells[1], b);
    cuzk_text_printf(text, "%-20s %-20s %12s %12s", name, kind,
                     cells[0].failed ? "?" : cells[0].data, cells[1].failed ? "?" : cells[1].data);
    if (a > 0) {
        cuzk_text_printf(text, " %8.3f", (double)b / (double)a);
    } else {
        cuzk_text_put(text, "        -");
    }
    cuzk_text_printf(text, " %8.1f  %s\n", z, verdict(z, n));
    cuzk_text_clear(&cells[0]);
    cuzk_text_clear(&cells[1]);
}

static cuzk_status put_spans(cuzk_text *text, const cuzk_recording *a, const cuzk_recording *b,
                             bool as_json, cuzk_error *err)
{
    cuzk_span_times *times[2] = {NULL, NULL};
    size_t n[2];
    uint64_t *samples = malloc(2 * SAMPLE * sizeof *samples);
    cuzk_status status =
        samples != NULL ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "comparing: out of memory");
    CUZK_TRY_OUT(status, status);
    CUZK_TRY_OUT(status, cuzk_span_times_get(&times[0], &n[0], a, err));
    CUZK_TRY_OUT(status, cuzk_span_times_get(&times[1], &n[1], b, err));
    bool is_first = true;
    for (size_t i = 0; i < n[0]; i++) {
        const cuzk_span_times *before = &times[0][i];
        const cuzk_span_times *after = find(times[1], n[1], before);
        if (after == NULL) {
            continue;
        }
        size_t n_a = take_sample(samples, a, before);
        size_t n_b = take_sample(samples + SAMPLE, b, after);
        const char *kind = before->kind < CUZK_RECORDING_KINDS ? a->kinds[before->kind] : "";
        put_values(text, as_json, is_first, cuzk_span_about_of((cuzk_span_name)before->name)->name,
                   kind, before->p50_ns, after->p50_ns,
                   cuzk_rank_sum(samples, n_a, samples + SAMPLE, n_b), n_a < n_b ? n_a : n_b);
        is_first = false;
    }
out:
    free(samples);
    free(times[0]);
    free(times[1]);
    return status;
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* Of all devices: each cause's time, and its share in equal parts of the recording, in millionths.
 */
typedef struct {
    uint64_t ns[CUZK_CAUSES_COUNT], n_units;
    size_t n_parts; /* PARTS, or fewer where the recording is only a few ns long */
    uint64_t parts[CUZK_CAUSES_COUNT][PARTS];
} causes;

static cuzk_status get_causes(causes *c, const cuzk_recording *r, cuzk_error *err)
{
    memset(c, 0, sizeof *c);
    uint64_t ns = r->end_ns - r->begin_ns;
    CUZK_FAIL_IF(ns < PARTS, err, CUZK_E_ARGUMENT,
                 "comparing: a recording of %" PRIu64 " ns is too short", ns);
    cuzk_analysis analysis;
    cuzk_analysis_options options = {
        .gap_ns = UINT64_MAX, .slice_ns = (ns + PARTS - 1) / PARTS, .with_slice_causes = true};
    CUZK_TRY(cuzk_analyse(&analysis, r, &options, err));
    for (size_t d = 0; d < analysis.n_devices; d++) {
        for (size_t k = 0; k < CUZK_CAUSES_COUNT; k++) {
            c->ns[k] += analysis.devices[d].cause_ns[k];
            for (size_t i = 0; i < analysis.n_slices; i++) {
                uint64_t left = ns - i * analysis.slice_ns; /* the last one may be shorter */
                uint64_t length = left < analysis.slice_ns ? left : analysis.slice_ns;
                c->parts[k][i] += (uint64_t)(1e6 * (double)analysis.devices[d].slice_causes[i][k] /
                                             (double)length);
            }
        }
    }
    c->n_parts = analysis.n_slices;
    c->n_units = analysis.n_units_done;
    cuzk_analysis_clear(&analysis);
    return CUZK_OK;
}

static uint64_t per_unit(const causes *c, size_t cause)
{
    return c->n_units > 0 ? c->ns[cause] / c->n_units : 0;
}

static cuzk_status put_causes(cuzk_text *text, const cuzk_recording *a, const cuzk_recording *b,
                              bool as_json, cuzk_error *err)
{
    causes *both = calloc(2, sizeof *both);
    CUZK_FAIL_IF(both == NULL, err, CUZK_E_MEMORY, "comparing: out of memory");
    cuzk_status status = get_causes(&both[0], a, err);
    if (status == CUZK_OK) {
        status = get_causes(&both[1], b, err);
    }
    bool is_first = true;
    for (size_t c = 0; c < CUZK_CAUSES_COUNT && status == CUZK_OK; c++) {
        if (both[0].ns[c] + both[1].ns[c] == 0) {
            continue;
        }
        double z =
            cuzk_rank_sum(both[0].parts[c], both[0].n_parts, both[1].parts[c], both[1].n_parts);
        put_values(text, as_json, is_first, cuzk_cause_name((cuzk_cause)c), "",
                   per_unit(&both[0], c), per_unit(&both[1], c), z, both[0].n_parts);
        is_first = false;
    }
    free(both);
    return status;
}

cuzk_status cuzk_compare_put(cuzk_text *text, const cuzk_recording *a, const cuzk_recording *b,
                             bool as_json, cuzk_error *err)
{
    cuzk_text_put(text, as_json ? "{\"ok\":true,\"spans\":[" : "");
    if (!as_json) {
        cuzk_text_printf(text, "%-20s %-20s %12s %12s %8s %8s\n", "median of a span", "kind",
                         "before", "after", "ratio", "sigma");
    }
    CUZK_TRY(put_spans(text, a, b, as_json, err));
    cuzk_text_put(text, as_json ? "],\"causes\":[" : "\ncause of gaps, a partition\n");
    CUZK_TRY(put_causes(text, a, b, as_json, err));
    cuzk_text_put(text, as_json ? "]}\n" : "");
    return CUZK_OK;
}
