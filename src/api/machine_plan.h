/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Inside cuzk_plan: jobs and machine as they were asked for, what was found out of them, and how it
 * is told. machine_plan.c finds out, machine_plan_jobs.c reads, machine_plan_put.c tells. */
#ifndef CUZK_API_MACHINE_PLAN_H
#define CUZK_API_MACHINE_PLAN_H

#include "api/api.h"
#include "base/text.h"
#include "cuzk_timeline.h"
#include "filecoin/circuit_sizes.h"
#include "timeline/plan.h"

typedef struct {
    char name[32];                     /* "porep-32g", or a kind's label in the recording */
    const char *label;                 /* the kind's in a recording */
    const cuzk_circuit_counts *counts; /* NULL: no Filecoin circuit, its memory is not known */
    cuzk_plan_kind kind;
    cuzk_sim_unit *units; /* kind.of; owned */
    cuzk_device_plan card;
    uint64_t key_bytes, unit_bytes; /* of host memory */
    unsigned group;
} cuzk_planned_jobs;

/* Kinds whose keys stay on a card together, and the machines that they are given: all of each, or
 * some of its cards, with a daemon of its own. */
typedef struct {
    uint64_t card_bytes, key_bytes; /* of all its kinds: of each card, of host memory */
    unsigned n_cards;               /* of a machine */
    uint64_t budget_bytes;          /* of its host memory, for its partitions */
    unsigned n_machines;            /* 0: no number up to the limit is enough */
    cuzk_plan_result one, all;      /* of one machine alone; of each of n_machines */
    unsigned of[CUZK_PLAN_KINDS];   /* its kinds */
    unsigned n;
} cuzk_plan_group;

typedef struct {
    cuzk_plan_options o;
    const char *recording_path; /* NULL: measured durations */
    cuzk_sim_machine machine;   /* without its budget */
    uint64_t budget_bytes;      /* of host memory */
    cuzk_planned_jobs jobs[CUZK_PLAN_KINDS];
    unsigned n_jobs;
    cuzk_plan_group groups[CUZK_PLAN_KINDS];
    unsigned n_groups;
    bool is_shared; /* a machine has all groups, each on cards of its own */
} cuzk_machine_plan;

/** How many it takes; 0: no number up to the limit. Pure. */
unsigned cuzk_machine_plan_machines(const cuzk_machine_plan *plan);

/** Read what --jobs says: KIND[-SIZE]:RATE/UNIT[*N],… Errors: E_ARGUMENT with the word. */
cuzk_status cuzk_machine_plan_read(cuzk_machine_plan *plan, const char *text,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_machine_plan_put_text(cuzk_text *text, const cuzk_machine_plan *plan);
void cuzk_machine_plan_put_json(cuzk_text *text, const cuzk_machine_plan *plan);

/** The resource of which most is needed. Pure. */
cuzk_plan_resource cuzk_machine_plan_limit(const cuzk_plan_result *result);

#endif
