/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: what a recording says. Recordings come from `cuzk serve --record` and
 * cuzk_timeline_record; what is in them and what the names mean: docs/timeline.md. Conventions are
 * those of cuzk.h. */
#ifndef CUZK_TIMELINE_H
#define CUZK_TIMELINE_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUZK_TIMELINE_TEXT = 0,    /* lines for people */
    CUZK_TIMELINE_JSON = 1,    /* one object; every gap and job is in it, times in nanoseconds */
    CUZK_TIMELINE_CHROME = 2,  /* Trace Event Format, for chrome://tracing and Perfetto */
    CUZK_TIMELINE_PICTURE = 3, /* SVG: devices with their gaps, workers, stages */
    CUZK_TIMELINE_NAMES = 4    /* of no recording: what the names of spans and causes mean */
} cuzk_timeline_format;

typedef struct {
    size_t struct_bytes;
    uint64_t from_ns, to_ns; /* look at this part, from the recording's begin; to_ns 0: to its end.
                                CUZK_TIMELINE_CHROME, lengths of spans and the
                                jobs are always of all of it */
    uint64_t gap_ns;         /* gaps that are shorter are counted, not listed */
    uint64_t slice_ns;       /* length of a slice of the series; not 0 */
    size_t n_gaps, n_jobs;   /* how many of the longest are told in a text */
    const char *next_path;   /* the file that the recording goes on in; NULL: none */
} cuzk_timeline_options;

#define CUZK_TIMELINE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cuzk_timeline_options), 0, 0, 1000000, 1000000000, 10, 10, 0                        \
    }

/** Read a recording and analyse it.
 *
 *  path: not looked at for CUZK_TIMELINE_NAMES. text: returned, n_bytes and a NUL; free with
 * cuzk_free. NULL on failure. options: NULL for the values of CUZK_TIMELINE_OPTIONS_INIT. Memory:
 * about 100 bytes a span. Errors: E_FILE; E_FORMAT (no recording, a broken one, one of more than 4
 * GiB); E_UNSUPPORTED (of a later version); E_ARGUMENT (an empty part, too many slices, a next_path
 * in which it does not go on); E_MEMORY. Thread-safe. */
CUZK_API cuzk_status cuzk_timeline_report(char **text, size_t *n_bytes, const char *path,
                                          cuzk_timeline_format format,
                                          const cuzk_timeline_options *options,
                                          cuzk_error *err) CUZK_WARN_UNUSED;

/** Compare two recordings, before and after a change: medians of each span's lengths and the causes
 * of gaps, each with whether the difference is more than noise.
 *
 *  text: returned, n_bytes and a NUL; free with cuzk_free. Errors: as cuzk_timeline_report.
 * Thread-safe.
 */
CUZK_API cuzk_status cuzk_timeline_compare(char **text, size_t *n_bytes, const char *before_path,
                                           const char *after_path, bool as_json,
                                           cuzk_error *err) CUZK_WARN_UNUSED;

typedef struct {
    size_t struct_bytes;
    bool as_json;
    bool has_offset;   /* the clocks are tied by offset_ns, not by what both saw */
    int64_t offset_ns; /* what is added to a time of the file for one of the recording */
} cuzk_timeline_import_options;

#define CUZK_TIMELINE_IMPORT_OPTIONS_INIT                                                          \
    {                                                                                              \
        sizeof(cuzk_timeline_import_options), false, false, 0                                      \
    }

/** Read what another program saw of the devices: an SQLite export of Nsight Systems. Alone: in how
 *  much of the time kernels and copies were active, and each kernel's launches. With a recording:
 *  the same of both over the time that both have, what they differ by, and what one has and the
 *  other not (docs/timeline.md).
 *
 *  text: returned, n_bytes and a NUL; free with cuzk_free. path: the export. recording_path: NULL
 * for none. options: NULL for the values of CUZK_TIMELINE_IMPORT_OPTIONS_INIT. Memory: some 150
 * bytes an activity. Errors: as cuzk_timeline_report; E_FORMAT (no such export, a damaged one, one
 * without kernels); E_UNSUPPORTED (no libsqlite3.so.0); E_ARGUMENT (no device in both, no time in
 * common, an offset of more than 2^60 ns). Thread-safe. */
CUZK_API cuzk_status cuzk_timeline_import(char **text, size_t *n_bytes, const char *path,
                                          const char *recording_path,
                                          const cuzk_timeline_import_options *options,
                                          cuzk_error *err) CUZK_WARN_UNUSED;

/* A machine to simulate; 0: as it was recorded, or no limit. */
typedef struct {
    size_t struct_bytes;
    unsigned n_devices, n_workers;                /* workers of each device */
    unsigned n_witness, n_finishers, n_verifiers; /* threads */
    unsigned n_cores;                             /* that the host's stages share */
    unsigned n_copies; /* copies that go on at full speed at once, under each root of the bus */
    bool is_backlog;   /* all jobs are there at the beginning */
    bool as_json;
    uint64_t memory_bytes; /* of host memory, for partitions: the circuits' not in it */
    /* "witness=2s,lane=900ms": every partition's, in place of the recorded ones; NULL: none.
     * Stages: witness, host-before, copy, lane, host-after, finish, verify; times in s, ms or us.
     */
    const char *durations;
    unsigned n_roots;     /* of the bus, devices shared out among them; 0: one */
    unsigned memory_gb_s; /* of host memory, which witnesses and copies share */
    unsigned n_repeats;   /* the recording's jobs so many times, with is_backlog; 0: once */
} cuzk_timeline_machine;

#define CUZK_TIMELINE_MACHINE_INIT                                                                 \
    {                                                                                              \
        sizeof(cuzk_timeline_machine), 0, 0, 0, 0, 0, 0, 0, false, false, 0, 0, 0, 0, 0            \
    }

/** Read a recording and run its jobs through a model of the pipeline: on the machine as given, and
 *  with each of its stages in no time, other workers, another lane, twice the devices; beside it
 * what gaps of the devices these would take away, as recorded, by cause.
 *
 *  text: returned, n_bytes and a NUL; free with cuzk_free. machine: NULL for the recorded one.
 * Errors: as cuzk_timeline_report; E_FORMAT (no job of it is whole); E_ARGUMENT (more than 64
 * devices, no memory for a partition, durations). Thread-safe. */
CUZK_API cuzk_status cuzk_timeline_simulate(char **text, size_t *n_bytes, const char *path,
                                            const cuzk_timeline_machine *machine,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

/* A machine to plan with. */
typedef struct {
    size_t struct_bytes;
    unsigned n_gpus;     /* 0: its CPU proves, with a recording's durations */
    uint64_t card_bytes; /* free memory of each GPU */
    uint64_t ram_bytes;  /* of which the daemon leaves 5 GiB (memory.safety_margin) */
    unsigned n_cores;
    unsigned n_workers;      /* of each device */
    unsigned n_copies;       /* at full speed at once, over all devices; 0: one a device */
    unsigned n_machines_max; /* how many are looked at, where one is not enough */
    double hours;            /* in which jobs arrive, less where that would be too many */
    bool as_json;
} cuzk_plan_options;

#define CUZK_PLAN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cuzk_plan_options), 1, UINT64_C(148579024896), UINT64_C(549755813888), 64, 2, 0,    \
            1000, 24, false                                                                        \
    }

/** What a machine makes of jobs that keep coming: what of their keys and partitions fits, how much
 *  of each resource they need, how long they take, and how many machines it takes where one is not
 *  enough. The jobs, at random moments that are the same each time, are run through the model of
 *  cuzk_timeline_simulate.
 *
 *  jobs: "porep:20/h,snap:10/h,wpost:2/h*3,winning:4/h": kind, with a sector size as in "porep-64g"
 * (32GiB without) or as recordings spell it ("porep-c2"), rate by /s, /m, /h or /d, and how many
 * come at once. recording_path: a recording whose partitions' durations are taken, and whose kinds
 * may be named, too; NULL: those that were measured (docs/performance.md). text: returned, n_bytes
 * and a NUL; free with cuzk_free. options: NULL for one machine of CUZK_PLAN_OPTIONS_INIT. Needs no
 * device. Errors: E_ARGUMENT; E_MEMORY (a key that fits no card or no host memory, with the
 * numbers); E_UNSUPPORTED (durations that were not measured; GPUs in a library without CUDA);
 * E_NOT_FOUND (a kind of which the recording has nothing); those of cuzk_timeline_report.
 * Thread-safe. */
CUZK_API cuzk_status cuzk_plan(char **text, size_t *n_bytes, const char *jobs,
                               const char *recording_path, const cuzk_plan_options *options,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** From here on write what this process's keys and proofs do into a recording, until
 *  cuzk_timeline_record_end; it can be read while it is written, and after a crash.
 *
 *  path: a recording that is there becomes PATH.old; anything else that is there is refused. One
 * recording at a time in a process, and none in one that has a daemon's. Errors: E_FILE, E_MEMORY;
 * E_ARGUMENT (one is being written). Thread-safe. */
CUZK_API cuzk_status cuzk_timeline_record(const char *path, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write what is left and close the file. Errors: E_FILE, E_MEMORY (of the whole time: what could
 *  not be written is missing, the rest is there); E_ARGUMENT (none is being written).
 * Thread-safe. */
CUZK_API cuzk_status cuzk_timeline_record_end(cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
