/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What counting (metrics.c) and writing (metrics_text.c) share. */
#ifndef CUZK_SERVER_METRICS_IMPL_H
#define CUZK_SERVER_METRICS_IMPL_H

#include "server/metrics.h"

#include <stdatomic.h>

enum { CUZK_METRICS_BOUNDS = 19, CUZK_METRICS_STAGES = 8 };

extern const double cuzk_metrics_bounds[CUZK_METRICS_BOUNDS]; /* seconds, upper ends of buckets */
extern const char *const cuzk_metrics_stages[CUZK_METRICS_STAGES];

typedef struct {
    atomic_uint_fast64_t buckets[CUZK_METRICS_BOUNDS + 1]; /* not summed up; the last: above all */
    atomic_uint_fast64_t sum_ns;
} cuzk_histogram;

struct cuzk_metrics {
    const cuzk_engine_kind *kinds;
    cuzk_histogram stages[CUZK_METRICS_STAGES][CUZK_KINDS_MAX];
    atomic_uint_fast64_t stage_failures[CUZK_METRICS_STAGES][CUZK_KINDS_MAX];
    cuzk_histogram jobs[CUZK_KINDS_MAX];
    atomic_uint_fast64_t accepted[CUZK_KINDS_MAX], units_done[CUZK_KINDS_MAX];
    atomic_uint_fast64_t lane_ns[CUZK_ENGINE_DEVICES_MAX], busy_ns[CUZK_ENGINE_DEVICES_MAX];
    atomic_uint_fast64_t evictions, journal_errors;
};

#endif
