/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The state of the analysis' sweep, between its three files: sweep_change.c (what a begin or an end
 * changes), sweep_count.c (what the time between two of them is counted as), analysis.c (the order
 * of things). */
#ifndef CUZK_TIMELINE_SWEEP_H
#define CUZK_TIMELINE_SWEEP_H

#include "timeline/analysis.h"

/* What a worker of a device is doing. */
typedef struct {
    int32_t n_start, n_wait, n_lane; /* spans open: one at most in a sound recording */
    bool had_lane;                   /* in this prove.start */
} cuzk_sweep_worker;

typedef struct {
    int32_t n_kernels, n_up, n_down, n_lane, n_wait, n_start;
    bool had_kernel;         /* in this hold */
    uint64_t last_kernel_ns; /* end of the hold's last kernel; 0: it has none */
    bool in_gap;
    cuzk_gap gap;
    cuzk_sweep_worker workers[CUZK_ANALYSIS_WORKERS];
} cuzk_sweep_device;

/* Of all devices. */
typedef struct {
    int32_t n_ready, n_witness, n_memory, n_resident, n_decode, n_jobs;
    int64_t n_ahead; /* units of unfinished jobs that no worker has taken yet */
} cuzk_sweep_engine;

/* Numbers of jobs, sorted; one for each time. */
typedef struct {
    uint64_t *jobs;
    size_t n;
} cuzk_sweep_jobs;

typedef struct {
    const cuzk_recording *recording;
    cuzk_analysis *out;
    const cuzk_analysis_options *options;
    cuzk_sweep_device *devices;
    cuzk_sweep_engine engine;
    uint64_t *last_kernels; /* of each lane span, in order of begins */
    size_t n_lanes;         /* begun so far */
    cuzk_sweep_jobs started, retried, accepted,
        ended; /* by prove.start, unit.retry, job.accepted, job */
    uint64_t now;
    size_t gaps_room;
    bool failed; /* no memory for a gap */
} cuzk_sweep;

/** Time goes on to `to`: what held since s->now is counted. */
void cuzk_sweep_go_to(cuzk_sweep *s, uint64_t to);

/** A device's gap ends here, if there is one. */
void cuzk_sweep_end_gap(cuzk_sweep *s, size_t device);

/** A span begins (by 1) or ends (by -1) at s->now. */
void cuzk_sweep_change(cuzk_sweep *s, const cuzk_timespan *span, int by);

#endif
