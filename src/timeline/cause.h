/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Why a device ran no kernels. At each instant without a kernel exactly one cause holds: the first
 * of this list's questions (docs/timeline.md, "Causes") that is answered with yes. */
#ifndef CUZK_TIMELINE_CAUSE_H
#define CUZK_TIMELINE_CAUSE_H

/* X(identifier, name, sentence) */
#define CUZK_CAUSES(X)                                                                             \
    X(COPY, "copy", "a copy was in flight")                                                        \
    X(BEFORE, "host-before", "a worker prepared the first launch of its unit")                     \
    X(BETWEEN, "between", "the lane was held between two kernels of a unit")                       \
    X(SYNC, "sync", "the lane was held after the last kernel of its unit")                         \
    X(LANE, "lane", "a worker asked for the lane that nobody held")                                \
    X(AFTER, "host-after", "a worker ended its unit after it gave the lane back")                  \
    X(HANDOVER, "hand-over", "a unit was ready, and no worker had taken it yet")                   \
    X(WITNESS, "witness", "no unit was ready: a witness was being made")                           \
    X(MEMORY, "memory", "no unit was ready: the next one waited for memory of the budget")         \
    X(RESIDENT, "srs", "no unit was ready: a circuit with its key was being loaded")               \
    X(QUEUE, "queue", "no unit was ready: the next one waited for a witness thread")               \
    X(DECODE, "decode", "no unit was ready: a payload was being decoded")                          \
    X(TAIL, "tail", "no unit was left: the last ones were finished, verified or written")          \
    X(NO_JOB, "no-job", "there was no job")                                                        \
    X(UNKNOWN, "unknown", "nothing that was recorded says why")

typedef enum {
#define CUZK_CAUSE_ENUM(identifier, name, sentence) CUZK_CAUSE_##identifier,
    CUZK_CAUSES(CUZK_CAUSE_ENUM)
#undef CUZK_CAUSE_ENUM
        CUZK_CAUSES_COUNT
} cuzk_cause;

/** "host-before". Pure. */
const char *cuzk_cause_name(cuzk_cause cause);
/** A sentence without a full stop. Pure. */
const char *cuzk_cause_sentence(cuzk_cause cause);

#endif
