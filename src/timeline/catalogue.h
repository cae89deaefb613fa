/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a recording's spans are called, and what exactly each of them measures: one table, from
 * which names, the analysis and docs/timeline.md are made. A span is never given another meaning; a
 * new meaning is a new name. */
#ifndef CUZK_TIMELINE_CATALOGUE_H
#define CUZK_TIMELINE_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

/* Whose time a span is, and by which of its fields it is found. */
typedef enum {
    CUZK_TRACK_JOB,    /* job */
    CUZK_TRACK_UNIT,   /* job, unit; no thread works on it */
    CUZK_TRACK_THREAD, /* thread, and the unit it works on where there is one */
    CUZK_TRACK_WORKER, /* device, worker, unit */
    CUZK_TRACK_DEVICE  /* device, unit; spans of one device may overlap */
} cuzk_track;

/* Which clock its two ends were read from. */
typedef enum {
    CUZK_CLOCK_HOST,  /* the monotonic clock of the host */
    CUZK_CLOCK_DEVICE /* device events, mapped to the host's clock: docs/timeline.md, "Clocks" */
} cuzk_span_clock;

/* X(identifier, name, track, clock, is_instant, begins, ends, contains, value): an instant has no
 * "ends". The order is free: files carry names. */
#define CUZK_SPANS(X)                                                                              \
    X(JOB, "job", JOB, HOST, 0,                                                                    \
      "the job is in the engine's table: its payload is decoded (one of the journal: it was "      \
      "read)",                                                                                     \
      "the job ended and the journal has its end",                                                 \
      "every unit of it (one of the journal: those that were left), all waiting included; not "    \
      "receiving and decoding the request, not "                                                   \
      "sending the answer",                                                                        \
      "partitions")                                                                                \
    X(JOB_ACCEPTED, "job.accepted", JOB, HOST, 1,                                                  \
      "the journal has the job; its units may have begun (one of the journal: it was read)", "",   \
      "", "partitions")                                                                            \
    X(DECODE, "decode", THREAD, HOST, 0, "a decoder thread takes a payload",                       \
      "its task is made or refused",                                                               \
      "decoding and every check of the payload; not the wait for "                                 \
      "memory before it",                                                                          \
      "bytes of the payload")                                                                      \
    X(RESIDENT_LOAD, "resident.load", THREAD, HOST, 0, "loading of a circuit with its key begins", \
      "it is ready, or failed", "reading files, decoding, copying to the device", "bytes")         \
    X(DEVICE_LOAD, "device.load", DEVICE, HOST, 0,                                                 \
      "a circuit with its key is to come to a device", "it can prove there",                       \
      "reading and copying, from where the text tells; decoding and checks; the wait for another " \
      "device to have it",                                                                         \
      "bytes of circuit and key")                                                                  \
    X(EVICTED, "resident.evicted", THREAD, HOST, 1, "a circuit with its key was freed", "", "",    \
      "bytes")                                                                                     \
    X(WAIT_MEMORY, "wait.memory", UNIT, HOST, 0,                                                   \
      "a unit, or a circuit to load, is first in its order and the budget has no room for it",     \
      "it has its bytes", "waiting only", "")                                                      \
    X(WITNESS, "witness", THREAD, HOST, 0, "a witness thread takes the unit",                      \
      "its typed witness is made, or failed",                                                      \
      "the circuit's run; not the wait for memory before "                                         \
      "it",                                                                                        \
      "bytes of host memory that the unit has until its verdict")                                  \
    X(WAIT_WORKER, "wait.worker", UNIT, HOST, 0, "the unit's witness is ready",                    \
      "a worker of a device takes it", "waiting only", "")                                         \
    X(PROVE_START, "prove.start", WORKER, HOST, 0, "a worker begins with the unit",                \
      "the worker is free for the next one",                                                       \
      "upload, lane.wait, lane, and the host's work "                                              \
      "around them; not prove.finish",                                                             \
      "")                                                                                          \
    X(PROVE_HELP, "prove.help", WORKER, HOST, 0,                                                   \
      "a worker of another device begins to make some sums of the unit",                           \
      "they are made, or failed", "upload, lane.wait and lane of that device", "")                 \
    X(LANE_WAIT, "lane.wait", WORKER, HOST, 0, "the worker asks for the lane", "it has the lane",  \
      "waiting only", "")                                                                          \
    X(LANE, "lane", WORKER, HOST, 0, "the worker has the lane", "it gives the lane back",          \
      "the unit's kernels, and whatever the host does between its launches", "")                   \
    X(PROVE_FINISH, "prove.finish", THREAD, HOST, 0, "a finishing thread takes the unit",          \
      "the unit's proof is assembled", "the last sums, r and s; not the wait before it", "")       \
    X(VERIFY, "verify", THREAD, HOST, 0, "a verifying thread takes the proof",                     \
      "the verdict is known", "the pairing check of one unit", "")                                 \
    X(UNIT_DONE, "unit.done", UNIT, HOST, 1, "the unit's verified proof is in the journal", "",    \
      "", "")                                                                                      \
    X(RETRY, "unit.retry", UNIT, HOST, 1, "the unit will be proved again", "", "", "")             \
    X(DEVICE_OUT, "device.out", DEVICE, HOST, 1, "the device is taken out of use", "", "", "")     \
    X(DEVICE_CLOCK, "device.clock", DEVICE, HOST, 1,                                               \
      "spans of a proof were mapped from the device's clock to the host's", "", "",                \
      "ns that their ends are off at most")                                                        \
    X(DEVICE_LOST, "device.lost", DEVICE, HOST, 1, "the device is lost", "", "", "")               \
    X(DEVICE_DRAINING, "device.draining", DEVICE, HOST, 1,                                         \
      "the device gets no new unit, as asked", "", "", "")                                         \
    X(DEVICE_DRAINED, "device.drained", DEVICE, HOST, 1,                                           \
      "nothing is on the device any more, as asked", "", "", "")                                   \
    X(DEVICE_BACK, "device.back", DEVICE, HOST, 1, "the device is used again", "", "", "")         \
    X(COPY_UP, "copy.up", DEVICE, DEVICE, 0, "a copy from host to device begins",                  \
      "its last byte is there", "the copy alone", "bytes")                                         \
    X(COPY_DOWN, "copy.down", DEVICE, DEVICE, 0, "a copy from device to host begins",              \
      "its last byte is there", "the copy alone", "bytes")                                         \
    X(KERNEL_ROWS, "kernel.rows", DEVICE, DEVICE, 0, "the first kernel of the family begins",      \
      "its last kernel ends", "rows times witness: a and b", "")                                   \
    X(KERNEL_TRANSFORMS, "kernel.transforms", DEVICE, DEVICE, 0,                                   \
      "the first kernel of the family begins", "its last kernel ends",                             \
      "transforms of the quotient, and products of their values", "")                              \
    X(KERNEL_SORT, "kernel.sort", DEVICE, DEVICE, 0, "the first kernel of the family begins",      \
      "its last kernel ends", "digits of scalars, sorting of bucket entries, lists of ones", "")   \
    X(KERNEL_PAIRS, "kernel.pairs", DEVICE, DEVICE, 0, "the first kernel of the family begins",    \
      "its last kernel ends", "which points of a bucket are added", "")                            \
    X(KERNEL_GATHERED, "kernel.gathered", DEVICE, DEVICE, 0,                                       \
      "the first kernel of the family begins", "its last kernel ends", "additions of bases", "")   \
    X(KERNEL_INVERSES, "kernel.inverses", DEVICE, DEVICE, 0,                                       \
      "the first kernel of the family begins", "its last kernel ends",                             \
      "the inversions that additions share; beside them points are copied", "")                    \
    X(KERNEL_ADDITIONS, "kernel.additions", DEVICE, DEVICE, 0,                                     \
      "the first kernel of the family begins", "its last kernel ends", "additions of sums", "")    \
    X(KERNEL_REDUCTION, "kernel.reduction", DEVICE, DEVICE, 0,                                     \
      "the first kernel of the family begins", "its last kernel ends",                             \
      "buckets to windows, and the last points of a sum", "")                                      \
    X(KERNEL_CPU, "kernel.cpu", DEVICE, HOST, 0, "a region of the device \"cpu\" begins",          \
      "it ends", "all arithmetic of the region: the CPU has no kernels of its own", "")

typedef enum {
#define CUZK_SPAN_ENUM(identifier, ...) CUZK_SPAN_##identifier,
    CUZK_SPANS(CUZK_SPAN_ENUM)
#undef CUZK_SPAN_ENUM
        CUZK_SPAN_NAMES
} cuzk_span_name;

typedef struct {
    const char *name;
    cuzk_track track;
    cuzk_span_clock clock;
    int is_instant;
    const char *begins, *ends, *contains; /* sentences without a full stop */
    const char *value;                    /* what the value counts; "" for nothing */
} cuzk_span_about;

/** What is known of a name. Pure. */
const cuzk_span_about *cuzk_span_about_of(cuzk_span_name name);

/** The name spelt so, or CUZK_SPAN_NAMES. Pure. */
cuzk_span_name cuzk_span_find(const char *name, size_t n_bytes);

/** Is it time in which the device computes: what "kernel-active" is the union of? Pure. */
static inline int cuzk_span_is_kernel(uint16_t name)
{
    return name >= CUZK_SPAN_KERNEL_ROWS && name <= CUZK_SPAN_KERNEL_CPU;
}

#endif
