/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording on other machines: what `cuzk simulate` tells. */
#ifndef CUZK_TIMELINE_WHAT_IF_H
#define CUZK_TIMELINE_WHAT_IF_H

#include "base/text.h"
#include "timeline/simulate.h"

/** The machine that a recording was made on, as far as it shows: devices and workers as they are
 *  named in it; threads, memory and witnesses ahead as the daemon told them, else of each other
 *  stage as many threads as were ever at work at once, as many witnesses ahead as workers, and no
 *  limit of memory.
 *
 *  memory_bytes: host memory for partitions instead; 0: as recorded. Errors: E_ARGUMENT (circuits
 *  with their keys took all of the recorded memory: what partitions had cannot be told), E_MEMORY.
 */
cuzk_status cuzk_what_if_machine(cuzk_sim_machine *out, const cuzk_recording *recording,
                                 uint64_t memory_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

enum { CUZK_WHAT_IF_STAGES = 7 };

typedef struct {
    const cuzk_recording *recording;
    cuzk_sim_machine machine; /* to simulate */
    bool is_changed;          /* it is not the recorded one: the comparison with it is left out */
    bool as_json;
    unsigned n_repeats; /* the jobs so many times, with machine.is_backlog; 0: once */
    bool is_given[CUZK_WHAT_IF_STAGES]; /* by cuzk_what_if_durations */
    uint64_t given_ns[CUZK_WHAT_IF_STAGES];
} cuzk_what_if;

/** Take "witness=2s,lane=900ms" as the length of these stages of every partition. Of the lane the
 *  part in which kernels run stays as large. Errors: E_ARGUMENT. */
cuzk_status cuzk_what_if_durations(cuzk_what_if *what, const char *text,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Set them in n partitions. */
void cuzk_what_if_give_durations(const cuzk_what_if *what, cuzk_sim_unit *units, size_t n);

/** Append what the machine makes of the recording's jobs, how far the simulated time is from the
 *  recorded one, and what would change with a stage that took no time, a worker or a device more or
 *  fewer, a coarse lane; with the gaps of recorded causes that would then not be. Errors: E_FORMAT
 * (no job is whole), E_ARGUMENT, E_MEMORY.
 */
cuzk_status cuzk_what_if_put(cuzk_text *text, const cuzk_what_if *what,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
