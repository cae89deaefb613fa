/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How long work tells its caller where it is, and learns that it should stop. */
#ifndef CUZK_BASE_PROGRESS_H
#define CUZK_BASE_PROGRESS_H

#include "base/status.h"

#include <stdint.h>

/* report is called from the thread that does the work, between and inside its stages. stage: a
 * string literal; done: 0 … 1 of the whole, never falling. Returns false to cancel. */
typedef struct {
    bool (*report)(void *ctx, const char *stage, double done);
    void *ctx;
} cuzk_reporter;

/** Report that `done` of `total` is through. reporter or its function may be NULL.
 *  Errors: E_CANCELLED when the caller wants to stop. */
static inline cuzk_status cuzk_report_progress(const cuzk_reporter *reporter, const char *stage,
                                               uint64_t done, uint64_t total, cuzk_error *err)
{
    if (reporter == NULL || reporter->report == NULL ||
        reporter->report(reporter->ctx, stage, total == 0 ? 1.0 : (double)done / (double)total)) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_CANCELLED, "cancelled during %s", stage);
}

/* A part of what is reported: its 0 … 1 is the whole's `from` … `to`. */
typedef struct {
    const cuzk_reporter *whole; /* may be NULL */
    const char *stage;          /* told in place of the part's own; NULL: the part's */
    double from, to;
} cuzk_progress_part;

static inline bool cuzk_report_part(void *ctx, const char *stage, double done)
{
    const cuzk_progress_part *part = (const cuzk_progress_part *)ctx;
    return part->whole == NULL || part->whole->report == NULL ||
           part->whole->report(part->whole->ctx, part->stage != NULL ? part->stage : stage,
                               part->from + done * (part->to - part->from));
}

/** The reporter of a part, which is borrowed. */
static inline cuzk_reporter cuzk_part_reporter(cuzk_progress_part *part)
{
    return (cuzk_reporter){cuzk_report_part, part};
}

#endif
