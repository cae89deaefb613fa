/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a file is, what its headers, sections and counts say, and what looks wrong, for every format
 * of this layer: the substance of `cuzk inspect` and `cuzk check`. */
#ifndef CUZK_FORMATS_INSPECT_H
#define CUZK_FORMATS_INSPECT_H

#include "base/pool.h"
#include "base/progress.h"

/* Values as in the public API's cuzk_report_kind. */
typedef enum {
    CUZK_INSPECT_FACT = 0,
    CUZK_INSPECT_NOTE = 1,    /* worth knowing; the file is fine */
    CUZK_INSPECT_WARNING = 2, /* usable, but something looks wrong */
    CUZK_INSPECT_ERROR = 3    /* broken: the last line; its value is the error's text */
} cuzk_inspect_kind;

/* One line. name, value: borrowed for the call; names are words such as "public values" or
 * "section 5 (A)", each at most once but for notes and warnings. is_number: value is a decimal
 * number. Text from the file is printable ASCII, other bytes replaced. */
typedef void (*cuzk_inspect_sink)(void *user, cuzk_inspect_kind kind, const char *name,
                                  const char *value, bool is_number);

typedef struct {
    bool deep; /* also read every value: ranges, points on the curve and in the subgroup, numbers of
                  points at infinity, of zeros and ones; for large keys minutes */
    cuzk_pool *pool;               /* for deep; may be NULL */
    const cuzk_reporter *reporter; /* for deep; may be NULL */
} cuzk_inspect_options;

/** Report on the bytes of a file. Lines come in a fixed order, "format" first.
 *
 *  Memory: for verification_key.json and .vk the input commitments, otherwise a constant. Returns
 *  the reader's status when the file is broken (E_FORMAT, E_TRUNCATED, E_UNSUPPORTED …), after the
 *  report up to there and one CUZK_INSPECT_ERROR line; E_CANCELLED. */
cuzk_status cuzk_inspect(const uint8_t *data, uint64_t size, const cuzk_inspect_options *options,
                         cuzk_inspect_sink sink, void *user, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
