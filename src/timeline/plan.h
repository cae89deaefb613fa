/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a machine makes of jobs that keep coming: jobs of several kinds arrive at random moments
 * (the same ones each time), are run through the model of the pipeline (timeline/simulate.h), and
 * each resource's use and each job's time is told. */
#ifndef CUZK_TIMELINE_PLAN_H
#define CUZK_TIMELINE_PLAN_H

#include "timeline/simulate.h"

enum { CUZK_PLAN_KINDS = 8, CUZK_PLAN_UNITS = 100000 /* that are simulated at most */ };

/* Jobs of one kind. */
typedef struct {
    double per_hour;         /* moments at which some arrive */
    unsigned at_once;        /* jobs of such a moment */
    unsigned n_units;        /* partitions of a job */
    unsigned priority;       /* as cuzk_sim_job */
    uint64_t deadline_ns;    /* 0: none */
    const cuzk_sim_unit *of; /* n_of partitions to take in turn, their bytes set */
    size_t n_of;
} cuzk_plan_kind;

/* X(identifier, name) */
#define CUZK_PLAN_RESOURCES(X)                                                                     \
    X(DEVICES, "devices")     /* the lane is held */                                               \
    X(COPIES, "copies")       /* a link between host and device is busy */                         \
    X(CORES, "cores")         /* the host's stages */                                              \
    X(WORKERS, "workers")     /* a worker has a unit, without waiting */                           \
    X(WITNESS, "witness")     /* threads */                                                        \
    X(FINISHERS, "finishers") /* threads */                                                        \
    X(VERIFIERS, "verifiers") /* threads */                                                        \
    X(MEMORY, "memory")       /* the most that was taken of the budget for partitions */

typedef enum {
#define CUZK_PLAN_RESOURCE_ENUM(identifier, name) CUZK_PLAN_##identifier,
    CUZK_PLAN_RESOURCES(CUZK_PLAN_RESOURCE_ENUM)
#undef CUZK_PLAN_RESOURCE_ENUM
        CUZK_PLAN_RESOURCES_COUNT
} cuzk_plan_resource;

/** "devices". Pure. */
const char *cuzk_plan_resource_name(cuzk_plan_resource resource);

typedef struct {
    size_t n_jobs, n_late; /* late: after their deadline */
    uint64_t mean_ns, p99_ns, worst_ns;
} cuzk_plan_times;

typedef struct {
    uint64_t length_ns; /* in which jobs arrive */
    size_t n_units;
    /* What the jobs need of what the machine has in that time; more than 1 is more than it has.
     * NAN: there is no limit. */
    double share[CUZK_PLAN_RESOURCES_COUNT];
    double speed;  /* how many times as many such jobs the machine could do, all of them waiting */
    bool keeps_up; /* it is 1 or more, and nothing is late */
    cuzk_plan_times times[CUZK_PLAN_KINDS];
} cuzk_plan_result;

/** One of n_machines alike, among which the jobs of n_kinds are dealt in turn.
 *
 *  length_ns: as long as jobs arrive, less where there would be more than CUZK_PLAN_UNITS
 *  partitions. result: filled. Errors: E_ARGUMENT (no kind or too many, no job in that time, a
 *  partition that has no room; and those of cuzk_simulate), E_MEMORY. Deterministic. */
cuzk_status cuzk_plan_run(cuzk_plan_result *result, const cuzk_plan_kind *kinds, size_t n_kinds,
                          const cuzk_sim_machine *machine, uint64_t length_ns, unsigned n_machines,
                          cuzk_error *err) CUZK_WARN_UNUSED;

#endif
