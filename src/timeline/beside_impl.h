/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between the two files of cuzk_beside_make: beside.c (which devices, what they did, clocks) and
 * beside_measure.c (how much it is). */
#ifndef CUZK_TIMELINE_BESIDE_IMPL_H
#define CUZK_TIMELINE_BESIDE_IMPL_H

#include "timeline/beside.h"

/* What a device's rows or spans are of. */
typedef enum {
    SET_KERNEL = 0,
    SET_UP = 1,
    SET_DOWN = 2,
    SET_WORK = 3, /* kernels, fills, copies inside */
    SETS = 4
} cuzk_beside_set;

typedef struct {
    cuzk_interval_set theirs[SETS], ours[SETS]; /* theirs by our clock once it is known */
    cuzk_interval_set families[CUZK_BESIDE_FAMILIES];
} cuzk_beside_sets;

typedef struct {
    cuzk_beside *out;
    const int64_t *offset;
    int of_file[CUZK_ACTIVITY_DEVICES]; /* device of the file → of out, or -1 */
    int of_recording[CUZK_RECORDING_DEVICES];
    cuzk_beside_sets *sets; /* as out->devices */
} cuzk_beside_making;

/* A span of a device's own clock. */
static inline bool cuzk_beside_is_of_device(const cuzk_timespan *s)
{
    return s->device >= 0 &&
           cuzk_span_about_of((cuzk_span_name)s->name)->clock == CUZK_CLOCK_DEVICE;
}

static inline cuzk_beside_set cuzk_beside_set_of_row(const cuzk_activity *row)
{
    return row->kind == CUZK_ACTIVITY_KERNEL ? SET_KERNEL
           : row->kind == CUZK_ACTIVITY_UP   ? SET_UP
           : row->kind == CUZK_ACTIVITY_DOWN ? SET_DOWN
                                             : SET_WORK;
}

static inline cuzk_beside_set cuzk_beside_set_of_span(const cuzk_timespan *s)
{
    return s->name == CUZK_SPAN_COPY_UP     ? SET_UP
           : s->name == CUZK_SPAN_COPY_DOWN ? SET_DOWN
                                            : SET_KERNEL;
}

/** Measure device d, whose sets are made and by one clock: its sides, and lines for its kernels.
 *  Errors: as cuzk_beside_make. */
cuzk_status cuzk_beside_measure(cuzk_beside_making *m, size_t d, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
