/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_TIMELINE_SORT_H
#define CUZK_TIMELINE_SORT_H

#include "base/status.h"
#include "timeline/span.h"

/** Sort spans by begin_ns; those that begin together by the longer, then by name. 32 bytes of
 * memory a span meanwhile. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_spans_sort(cuzk_span *spans, size_t n, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
