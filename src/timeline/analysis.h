/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a recording says of its devices: four utilisations that are never mixed up, every gap of the
 * kernels' activity with its causes, and how much of the workers' other work ran under kernels.
 * Everything is counted in whole nanoseconds of one sweep, so that causes add up to their gap and
 * gaps and activity to the recording's time exactly. */
#ifndef CUZK_TIMELINE_ANALYSIS_H
#define CUZK_TIMELINE_ANALYSIS_H

#include "timeline/cause.h"
#include "timeline/recording.h"

enum { CUZK_ANALYSIS_WORKERS = 9 }; /* of a device; one more than the engine's */

typedef struct {
    uint64_t begin_ns, end_ns; /* what to look at, host clock; 0 and 0: the whole recording */
    uint64_t gap_ns;           /* gaps shorter than this are counted, not listed */
    uint64_t slice_ns;         /* length of a slice of the series; 0: a second */
    bool with_slice_causes;    /* causes of each slice, too: 120 bytes each */
} cuzk_analysis_options;

/* Nanoseconds in which something was so. */
typedef struct {
    uint64_t kernel;    /* at least one kernel ran */
    uint64_t copy_up;   /* a copy to the device was in flight */
    uint64_t copy_down; /* a copy from it */
    uint64_t lane;      /* the lane was held */
    uint64_t worker;    /* workers in prove.start or prove.help, added up over workers */
} cuzk_use;

typedef struct {
    unsigned device;
    uint64_t begin_ns, end_ns;
    uint64_t cause_ns[CUZK_CAUSES_COUNT]; /* their sum is end - begin */
    uint64_t blocked_ns; /* of it: the lane was held while another worker waited for it */
} cuzk_gap;

typedef struct {
    uint64_t busy_ns; /* inside prove.start or prove.help */
    uint64_t lane_wait_ns, lane_ns;
    uint64_t host_ns;       /* the rest of busy_ns: copies and host work outside the lane */
    uint64_t host_under_ns; /* of it: while kernels of the device ran */
    uint64_t n_units;
} cuzk_worker_use;

typedef struct {
    cuzk_use use;
    uint64_t n_kernels, n_copies;
    uint64_t up_bytes, down_bytes;
    uint64_t copy_under_ns;                 /* a copy was in flight while a kernel ran */
    uint64_t cause_ns[CUZK_CAUSES_COUNT];   /* of all gaps, listed or not; no-job included */
    uint64_t blocked_ns[CUZK_CAUSES_COUNT]; /* of it: the lane was held while another worker waited
                                               for it: it is held for too long */
    uint64_t gap_total_ns, n_gaps, longest_ns;
    uint64_t n_units;        /* prove.start spans that ended inside */
    uint64_t clock_error_ns; /* its spans' ends are off at most; has_clock: it is told */
    bool has_clock;
    cuzk_worker_use workers[CUZK_ANALYSIS_WORKERS];
    unsigned n_workers;                          /* named, or seen */
    cuzk_use *slices;                            /* n_slices of them */
    uint64_t (*slice_causes)[CUZK_CAUSES_COUNT]; /* as many; NULL: not asked for */
} cuzk_device_analysis;

typedef struct {
    uint64_t begin_ns, end_ns, slice_ns;
    size_t n_slices; /* the last one may be shorter */
    cuzk_device_analysis *devices;
    size_t n_devices;
    cuzk_gap *gaps; /* of options.gap_ns and more, by begin, then device */
    size_t n_gaps;
    uint64_t n_jobs_ended, n_units_done;
} cuzk_analysis;

/** Analyse a recording.
 *
 *  recording: sorted, as it is read. out: free with cuzk_analysis_clear; zero on failure. Memory:
 * 32 bytes a span, and the gaps. A job that was accepted and has no end in the recording counts as
 *  unfinished to its end. Errors: E_MEMORY, E_ARGUMENT (an empty range, or more than 2^20 slices).
 *  Thread-safe. */
cuzk_status cuzk_analyse(cuzk_analysis *out, const cuzk_recording *recording,
                         const cuzk_analysis_options *options, cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_analysis_clear(cuzk_analysis *analysis);

#endif
