/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* W3C Trace Context: which trace a request belongs to, as its caller says. */
#ifndef CUZK_BASE_TRACE_CONTEXT_H
#define CUZK_BASE_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: none. */
typedef struct {
    uint8_t trace[16];
    uint8_t span[8]; /* the caller's */
    bool is_set;
    bool is_sampled; /* the caller records it */
} cuzk_trace_context;

/** Read a `traceparent`, "00-TRACE-SPAN-FLAGS" in lower-case hexadecimal; of a later version what
 *  version 00 has. False, and *out zero, for anything else: it is then as if there were none. */
bool cuzk_trace_context_read(cuzk_trace_context *out, const char *text, size_t n_chars);

#endif
