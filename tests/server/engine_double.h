/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An engine for tests of what stands in front of it: same calls, no work. What it does with jobs is
 * told by the test; callbacks come from one thread of its own, as the engine's do. */
#ifndef CUZK_TESTS_ENGINE_DOUBLE_H
#define CUZK_TESTS_ENGINE_DOUBLE_H

#include "engine/engine.h"

enum { DOUBLE_ANSWER_BYTES = 192 };

cuzk_engine *double_create(void);
void double_destroy(cuzk_engine *engine);

/* The answer of a job that completes: bytes made of its payload's first and last ones. */
void double_answer(uint8_t out[DOUBLE_ANSWER_BYTES], const void *payload, size_t n_bytes);

/** Refuse submissions with a status; CUZK_OK: accept. */
void double_refuse(cuzk_engine *engine, cuzk_status status, const char *error);
/** Keep submissions unanswered / jobs running, until it is false again. */
void double_hold(cuzk_engine *engine, bool submissions, bool jobs);
/** End a running job. */
void double_end(cuzk_engine *engine, const char *job_id, cuzk_job_state state, cuzk_status status,
                const char *error);
/** What preload does: a status with a text, after some time. */
void double_preload(cuzk_engine *engine, cuzk_status status, const char *error, unsigned delay_ms);
/** Let preloads begin and not end, until it is false again. */
void double_hold_preload(cuzk_engine *engine, bool hold);
/** Bytes that cuzk_engine_reserve has, and the largest payload. */
void double_memory(cuzk_engine *engine, uint64_t total, uint64_t payload_max);

typedef struct {
    unsigned submitted, accepted, waiters, left, cancelled, evicted;
    uint64_t reserved, handed_over; /* bytes */
    size_t last_payload_bytes;
    uint8_t last_payload[64]; /* its beginning */
    unsigned last_kind, last_priority;
    char last_id[CUZK_JOB_ID_MAX];
    uint64_t last_timeout_ns;
} double_view;
void double_look(cuzk_engine *engine, double_view *view);

/** Wait until the condition holds for what double_look shows; false after 10 s. */
bool double_wait(cuzk_engine *engine, bool (*holds)(const double_view *view, unsigned n),
                 unsigned n);

#endif
