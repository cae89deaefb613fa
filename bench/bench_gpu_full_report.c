/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Jobs' steps out of the recording that the engine's events and the device's kernels left. */
#include "bench_gpu_full.h"

#include "bench_util.h"
#include "timeline/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 1100, RECORDING_MAX = 1 << 30 };

/* Steps of a job. Times in ms but where the name says otherwise. */
#define STEPS(X)                                                                                   \
    X(TOTAL, "total")               /* submitted to answered */                                    \
    X(BEFORE, "to first kernel")    /* submitted to the first kernel's begin */                    \
    X(DECODE, "decode")             /* the decoder's span */                                       \
    X(ACCEPT, "decoded to witness") /* decoded to the first witness' begin */                      \
    X(FIRST, "first witness")       /* of the witness that was ready first */                      \
    X(READY, "witness to kernel")   /* that one is ready to the first kernel's begin */            \
    X(WITNESS, "witness")           /* of a partition, median */                                   \
    X(KERNELS, "kernels")           /* the time in which at least one ran */                       \
    X(EACH, "kernels a partition")  /* that, by partitions */                                      \
    X(UPLOAD, "upload")             /* of a partition, median */                                   \
    X(FINISH, "finish")             /* of a partition, median */                                   \
    X(VERIFY, "verify")             /* of a partition, median */                                   \
    X(AFTER, "last kernel to answer")                                                              \
    X(ACTIVE, "kernels active in job (%)")                                                         \
    X(ACTIVE_IN, "kernels active first to last (%)")                                               \
    X(UP_BYTES, "MB up a partition")

typedef enum {
#define STEP_ENUM(identifier, name) STEP_##identifier,
    STEPS(STEP_ENUM)
#undef STEP_ENUM
        STEPS_COUNT
} step;

static const char *const step_names[STEPS_COUNT] = {
#define STEP_NAME(identifier, name) [STEP_##identifier] = name,
    STEPS(STEP_NAME)
#undef STEP_NAME
};

/* ---- spans ----------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_numbers);
    return n == 0 ? 0 : values[n / 2];
}

static double ms_between(uint64_t from_ns, uint64_t to_ns)
{
    return from_ns == 0 || to_ns == 0 ? 0 : ((double)to_ns - (double)from_ns) / 1e6;
}

/* Spans in the order of their begin. */
typedef struct {
    const cuzk_timespan *at;
    size_t n;
} spans;

static size_t first_from(const cuzk_recording *r, uint64_t ns)
{
    size_t from = 0, to = r->n_spans;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (r->spans[middle].begin_ns < ns) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* Those that begin in [from, to]. */
static spans spans_between(const cuzk_recording *r, uint64_t from_ns, uint64_t to_ns)
{
    size_t from = first_from(r, from_ns);
    return (spans){r->spans + from, first_from(r, to_ns + 1) - from};
}

/* Median length of a job's spans of a name. */
static double median_of(spans in, uint64_t seq, cuzk_span_name name)
{
    double *ms = malloc((in.n + 1) * sizeof *ms);
    size_t n = 0;
    for (size_t i = 0; ms != NULL && i < in.n; i++) {
        const cuzk_timespan *s = &in.at[i];
        if (s->name == name && s->job == seq) {
            ms[n++] = ms_between(s->begin_ns, s->end_ns);
        }
    }
    double result = ms == NULL ? 0 : median(ms, n);
    free(ms);
    return result;
}

/* When kernels of jobs first … last ran, on a device (-1: on any). */
typedef struct {
    uint64_t first_ns, last_ns, active_ns;
} kernel_use;

static kernel_use kernels_of(spans in, uint64_t first, uint64_t last, int device)
{
    kernel_use use = {0};
    uint64_t covered = 0; /* up to here */
    for (size_t i = 0; i < in.n; i++) {
        const cuzk_timespan *s = &in.at[i];
        if (!cuzk_span_is_kernel(s->name) || s->job < first || s->job > last ||
            (device >= 0 && s->device != device)) {
            continue;
        }
        use.first_ns = use.first_ns == 0 ? s->begin_ns : use.first_ns;
        uint64_t from = s->begin_ns > covered ? s->begin_ns : covered;
        if (s->end_ns > from) {
            use.active_ns += s->end_ns - from;
            covered = s->end_ns;
        }
    }
    use.last_ns = covered;
    return use;
}

/* ---- a job ----------------------------------------------------------------------------------- */

static void find_seq(const cuzk_recording *r, full_job *job)
{
    spans in = spans_between(r, job->submitted_ns, job->answered_ns);
    for (size_t i = 0; i < in.n; i++) {
        const cuzk_timespan *s = &in.at[i];
        const char *id = s->name == CUZK_SPAN_JOB ? cuzk_recording_text(r, s->text) : NULL;
        if (id != NULL && strcmp(id, job->id) == 0) {
            job->seq = s->job;
        }
    }
}

static void measure(double out[STEPS_COUNT], const cuzk_recording *r, const full_job *job)
{
    const cuzk_timespan *decode = NULL, *first = NULL;
    uint64_t begun_ns = 0, up_bytes = 0;
    unsigned n_units = 0;
    spans in = spans_between(r, job->submitted_ns, job->answered_ns);
    for (size_t i = 0; i < in.n; i++) {
        const cuzk_timespan *s = &in.at[i];
        bool is_own = s->job == job->seq;
        if (s->name == CUZK_SPAN_DECODE && decode == NULL) {
            decode = s;
        } else if (s->name == CUZK_SPAN_WITNESS && is_own) {
            begun_ns = begun_ns == 0 ? s->begin_ns : begun_ns;
            first = first == NULL || s->end_ns < first->end_ns ? s : first;
            n_units++;
        } else if (s->name == CUZK_SPAN_COPY_UP && is_own) {
            up_bytes += s->value;
        }
    }
    kernel_use use = kernels_of(in, job->seq, job->seq, -1);
    double each = n_units == 0 ? 1 : n_units, active = (double)use.active_ns;
    out[STEP_TOTAL] = ms_between(job->submitted_ns, job->answered_ns);
    out[STEP_BEFORE] = ms_between(job->submitted_ns, use.first_ns);
    out[STEP_DECODE] = decode == NULL ? 0 : ms_between(decode->begin_ns, decode->end_ns);
    out[STEP_ACCEPT] = decode == NULL ? 0 : ms_between(decode->end_ns, begun_ns);
    out[STEP_FIRST] = first == NULL ? 0 : ms_between(first->begin_ns, first->end_ns);
    out[STEP_READY] = first == NULL ? 0 : ms_between(first->end_ns, use.first_ns);
    out[STEP_WITNESS] = median_of(in, job->seq, CUZK_SPAN_WITNESS);
    out[STEP_KERNELS] = active / 1e6;
    out[STEP_EACH] = active / 1e6 / each;
    out[STEP_UPLOAD] = median_of(in, job->seq, CUZK_SPAN_COPY_UP);
    out[STEP_FINISH] = median_of(in, job->seq, CUZK_SPAN_PROVE_FINISH);
    out[STEP_VERIFY] = median_of(in, job->seq, CUZK_SPAN_VERIFY);
    out[STEP_AFTER] = ms_between(use.last_ns, job->answered_ns);
    out[STEP_ACTIVE] = 100 * active / (double)(job->answered_ns - job->submitted_ns);
    out[STEP_ACTIVE_IN] = 100 * active / (double)(use.last_ns - use.first_ns + 1);
    out[STEP_UP_BYTES] = (double)up_bytes / 1e6 / each;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The median of each step over the jobs of a group. */
static void report_group(const char *name, const char *group, const cuzk_recording *r,
                         const full_job *jobs, size_t n_jobs)
{
    static double all[JOBS_MAX][STEPS_COUNT], column[JOBS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < n_jobs && n < JOBS_MAX; i++) {
        if (strcmp(jobs[i].name, group) == 0) {
            measure(all[n++], r, &jobs[i]);
        }
    }
    for (int s = 0; s < STEPS_COUNT && n > 0; s++) {
        for (size_t i = 0; i < n; i++) {
            column[i] = all[i][s];
        }
        double middle = median(column, n);
        printf("%s,%s,%zu,%s,%.3f,%.3f,%.3f\n", name, group, n, step_names[s], middle, column[0],
               column[n - 1]);
    }
}

/* Of a queue: how busy a device (-1: at least one) was. */
static void report_active(const char *name, const char *id, size_t n, kernel_use use, double all_ns)
{
    double active = (double)use.active_ns;
    double share = 100 * active / (double)(use.last_ns - use.first_ns + 1);
    const char *blank = id[0] != '\0' ? " " : "";
    printf("%s,queue,%zu,kernels active first to last%s%s (%%),%.3f,,\n", name, n, blank, id,
           share);
    printf("%s,queue,%zu,kernels active in all%s%s (%%),%.3f,,\n", name, n, blank, id,
           100 * active / all_ns);
}

/* Jobs that were submitted together: wall time a job, and how busy the devices were. */
static void report_queue(const char *name, const cuzk_recording *r, const full_job *jobs,
                         size_t n_jobs, unsigned n_partitions)
{
    uint64_t from_ns = UINT64_MAX, to_ns = 0, first = UINT64_MAX, last = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_jobs; i++) {
        const full_job *j = &jobs[i];
        if (strcmp(j->name, "queue") == 0) {
            from_ns = j->submitted_ns < from_ns ? j->submitted_ns : from_ns;
            to_ns = j->answered_ns > to_ns ? j->answered_ns : to_ns;
            first = j->seq < first ? j->seq : first;
            last = j->seq > last ? j->seq : last;
            n++;
        }
    }
    if (n == 0) {
        return;
    }
    spans in = spans_between(r, from_ns, to_ns);
    double all_ns = (double)(to_ns - from_ns);
    printf("%s,queue,%zu,wall time a job,%.3f,,\n", name, n, all_ns / 1e6 / (double)n);
    printf("%s,queue,%zu,partitions a second,%.4f,,\n", name, n,
           (double)n * n_partitions * 1e9 / all_ns);
    report_active(name, "", n, kernels_of(in, first, last, -1), all_ns);
    for (size_t d = 0; r->n_devices > 1 && d < r->n_devices; d++) {
        report_active(name, r->devices[d].id, n, kernels_of(in, first, last, (int)d), all_ns);
    }
}

void full_report(const char *name, const char *path, full_job *jobs, size_t n_jobs,
                 unsigned n_partitions)
{
    static const char *const groups[] = {"cold", "warm"};
    cuzk_error err = {0};
    cuzk_recording r;
    check(cuzk_recording_open(&r, path, RECORDING_MAX, &err), &err);
    for (size_t i = 0; i < n_jobs; i++) {
        find_seq(&r, &jobs[i]);
    }
    printf("# recording: %zu spans, %llu lost\n", r.n_spans, (unsigned long long)r.n_lost);
    printf("kind,size,group,jobs,step,median,least,most\n");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        report_group(name, groups[i], &r, jobs, n_jobs);
    }
    report_queue(name, &r, jobs, n_jobs, n_partitions);
    cuzk_recording_clear(&r);
}
