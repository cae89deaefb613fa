/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A discrete-event model of the engine's pipeline: given how long each stage of each unit takes,
 * when would they end on another machine, or with another lane? Its rules are those of
 * docs/engine.md: order by priority, then age, then partition; memory in that order; witnesses made
 * ahead up to a limit; a worker inside prove.start, one lane a device. What it leaves out stands in
 * docs/timeline.md, "Simulator". */
#ifndef CUZK_TIMELINE_SIMULATE_H
#define CUZK_TIMELINE_SIMULATE_H

#include "timeline/recording.h"

/* What a unit needs of each stage; ns without waiting. */
typedef struct {
    uint64_t witness, before, copy, lane, after, finish, verify;
    uint64_t kernel; /* of lane: the device computes */
    uint64_t bytes;  /* of host memory, from the witness to the verdict */
    size_t job;
} cuzk_sim_unit;

typedef struct {
    uint64_t arrival_ns; /* accepted; 0 is the beginning */
    unsigned kind, priority;
    size_t first_unit, n_units; /* its units follow one another */
} cuzk_sim_job;

typedef struct {
    cuzk_sim_job *jobs; /* by arrival */
    size_t n_jobs;
    cuzk_sim_unit *units;
    size_t n_units;
} cuzk_sim_load;

typedef struct {
    unsigned n_devices;
    unsigned n_workers;                           /* of a device */
    unsigned n_witness, n_finishers, n_verifiers; /* threads */
    unsigned
        witness_ahead;     /* units a device whose witness is made while all its workers are busy */
    uint64_t budget_bytes; /* 0: no limit */
    uint64_t critical_bytes; /* of them, for what is CRITICAL while others hold some */
    double cores;            /* that the host's stages share; 0: as many as they ask for */
    double copies;           /* that go on at full speed at once, under each root; 0: any number */
    unsigned n_roots;        /* of the bus, devices shared out among them; 0 counts as 1 */
    double memory_rate;      /* bytes a ns (GB/s) of host memory; 0: no limit. Witnesses and copies
                                share it: what they move is CUZK_SIM_*_TRAFFIC times a unit's bytes */
    bool coarse_lane;        /* the lane is held from the beginning of prove.start to its end */
    bool is_backlog;         /* all jobs are there at the beginning */
} cuzk_sim_machine;

enum { CUZK_SIM_DEVICES = 64 };

/* How often a unit's bytes pass host memory: written when its witness is made (a line is read
 * before it is written); copied up from pageable memory: read, written to the driver's buffer, read
 * by the device. */
enum { CUZK_SIM_WITNESS_TRAFFIC = 2, CUZK_SIM_COPY_TRAFFIC = 3 };

/* What units share, as cuzk_sim_result.use tells how much of it is taken. */
typedef enum {
    CUZK_SIM_LANES,
    CUZK_SIM_WORKERS,
    CUZK_SIM_WITNESS_THREADS,
    CUZK_SIM_FINISHERS,
    CUZK_SIM_VERIFIERS,
    CUZK_SIM_CORES,
    CUZK_SIM_COPIES,
    CUZK_SIM_MEMORY_RATE,
    CUZK_SIM_RESOURCES
} cuzk_sim_resource;

typedef struct {
    uint64_t end_ns;                                                 /* of the last unit */
    uint64_t *unit_ends;                                             /* of each unit */
    uint64_t kernel_ns[CUZK_SIM_DEVICES], lane_ns[CUZK_SIM_DEVICES]; /* of each device */
    uint64_t worker_ns, witness_ns, finish_ns, verify_ns; /* busy, added up over threads */
    uint64_t lane_wait_ns;
    uint64_t peak_bytes;
    /* of 1, on average until end_ns; of the fullest root. 0 where there is no limit */
    double use[CUZK_SIM_RESOURCES];
} cuzk_sim_result;

/** The load of a recording: every job that ended in it and whose units' spans are all there,
 * arrivals from the first of them on. Retries count as one unit with their last times.
 *
 *  out: free with cuzk_sim_load_clear. Errors: E_FORMAT (there is none), E_MEMORY. */
cuzk_status cuzk_sim_load_of(cuzk_sim_load *out, const cuzk_recording *recording,
                             cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_sim_load_clear(cuzk_sim_load *load);

/** Run it. result: free with cuzk_sim_result_clear; zero on failure. Errors: E_ARGUMENT (a machine
 *  without threads, a unit that can never have its memory), E_MEMORY. Deterministic. */
cuzk_status cuzk_simulate(cuzk_sim_result *result, const cuzk_sim_load *load,
                          const cuzk_sim_machine *machine, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_sim_result_clear(cuzk_sim_result *result);

#endif
