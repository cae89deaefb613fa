/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording's device spans beside what an independent witness saw of the same devices: the same
 * measures of both over the time that both have. */
#ifndef CUZK_TIMELINE_BESIDE_H
#define CUZK_TIMELINE_BESIDE_H

#include "base/text.h"
#include "timeline/activity.h"
#include "timeline/align.h"
#include "timeline/recording.h"

enum { CUZK_BESIDE_FAMILIES = CUZK_SPAN_KERNEL_REDUCTION - CUZK_SPAN_KERNEL_ROWS + 1 };

/* What one of the two says of a device, within the time that is looked at. */
typedef struct {
    int64_t kernel_ns; /* at least one kernel ran */
    int64_t work_ns;   /* so, or memory was filled or copied inside the device */
    int64_t up_ns, down_ns;
    uint64_t n_kernels, n_up, n_down, n_fills, n_inside; /* ours: spans */
    uint64_t up_bytes, down_bytes;
    uint64_t n_alone; /* spans or kernels, copies that the other has nothing for */
    int64_t alone_ns;
} cuzk_beside_side;

typedef struct {
    unsigned number;                 /* of the file */
    char label[CUZK_ACTIVITY_LABEL]; /* its name; "": not named */
    char id[CUZK_RECORDING_LABEL];   /* of the recording; "": there is none */
    int64_t begin_ns, end_ns;        /* what is looked at; our clock where there is a recording */
    cuzk_beside_side theirs, ours;
} cuzk_beside_device;

/* All launches of a kernel on one device. */
typedef struct {
    uint32_t name;   /* of the activities */
    unsigned device; /* of the witness */
    uint64_t n;
    int64_t total_ns, median_ns, longest_ns;
    int64_t under_ns[CUZK_BESIDE_FAMILIES]; /* of the total: inside our spans of the family */
} cuzk_beside_kernel;

typedef struct {
    const cuzk_activities *activities;
    const cuzk_recording *recording; /* NULL: there is none */
    cuzk_alignment clocks;
    bool is_given;        /* the offset was given, not looked for */
    bool has_hint;        /* both know the wall clock */
    int64_t hint_ns;      /* the offset by it */
    int64_t tolerance_ns; /* parts of spans that are shorter are not missed */
    cuzk_beside_device *devices;
    size_t n_devices;
    cuzk_beside_kernel *kernels; /* by device, then the greatest total */
    size_t n_kernels;
} cuzk_beside;

/** Measure. Both are borrowed until cuzk_beside_clear; recording: NULL for none. offset: NULL to
 *  look for it.
 *
 *  Device N of the file is "cuda:N" of the recording; where each has one device only they are the
 *  same. A span of ours, or a kernel or copy of theirs, is alone where the other side has nothing
 *  of that kind for more than half of it and more than the tolerance. out: zero on failure.
 *  Errors: E_ARGUMENT (no device in both; no time in common); E_MEMORY. Thread-safe. */
cuzk_status cuzk_beside_make(cuzk_beside *out, const cuzk_activities *activities,
                             const cuzk_recording *recording, const int64_t *offset,
                             cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_beside_clear(cuzk_beside *beside);

/** Append it as lines of at most 100 columns / as one JSON object, times in whole nanoseconds. A
 * text that ran out of memory says so. */
void cuzk_beside_put_text(cuzk_text *text, const cuzk_beside *beside);
void cuzk_beside_put_json(cuzk_text *text, const cuzk_beside *beside);

#endif
