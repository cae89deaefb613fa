/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checksums of payloads, made beside the thread that writes them: with payloads of a megabyte,
 * many a second, it would make sums a third of its time. One thread, which takes what is asked for
 * while the writer is busy; what it has not begun the writer makes itself. */
#ifndef CUZK_ENGINE_PAYLOAD_SUMS_H
#define CUZK_ENGINE_PAYLOAD_SUMS_H

#include "engine/journal_store.h"

#include <pthread.h>

typedef enum { CUZK_SUM_NONE, CUZK_SUM_ASKED, CUZK_SUM_BEGUN, CUZK_SUM_MADE } cuzk_sum_state;

/* A payload of one piece. All zero: nothing was asked for. */
typedef struct cuzk_payload_sum cuzk_payload_sum;
struct cuzk_payload_sum {
    cuzk_payload_sum *next;
    cuzk_sum_state state;
    uint64_t seq;
    const void *payload; /* borrowed until the writer has its sum, or drops it */
    size_t n_bytes;
    cuzk_store_sum sum;
};

typedef struct {
    pthread_mutex_t mutex; /* what follows, and the state of all that were asked for */
    pthread_cond_t wake, made;
    cuzk_payload_sum *first, **last;
    bool is_closing;
    pthread_t thread;
} cuzk_payload_sums;

/** Start the thread. Errors: E_MEMORY. */
cuzk_status cuzk_payload_sums_start(cuzk_payload_sums *sums, cuzk_error *err) CUZK_WARN_UNUSED;

/** End it; what was asked for and not begun stays so. */
void cuzk_payload_sums_stop(cuzk_payload_sums *sums);

/** Ask for the sum of p, whose seq, payload and n_bytes are set; in the order in which they will be
 *  written. is_busy: the writer will not come to it at once. Any thread. */
void cuzk_payload_sums_ask(cuzk_payload_sums *sums, cuzk_payload_sum *p, bool is_busy);

/** The sum of p, made here or waited for. */
cuzk_store_sum cuzk_payload_sums_get(cuzk_payload_sums *sums, cuzk_payload_sum *p);

/** Nobody reads p or its payload from here on. */
void cuzk_payload_sums_drop(cuzk_payload_sums *sums, cuzk_payload_sum *p);

#endif
