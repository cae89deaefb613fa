/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The budget of host memory, cut into shares that cannot starve one another.
 *
 *     payloads, small   1/16 of the intake: payloads so small that they must not wait behind large
 *     payloads          7/16 of the intake
 *     tasks             1/2 of the intake: decoded payloads, until their jobs end
 *     work              the rest: residents and units
 *
 * Whoever holds bytes of one share may wait for bytes of a share further down only: there is no
 * circle of waiting. In the shares of tasks and work a slice is left for what is CRITICAL; others
 * may enter it when nobody else holds a part that will be given back, or they could never run. */
#ifndef CUZK_ENGINE_BUDGET_H
#define CUZK_ENGINE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    CUZK_SHARE_SMALL,
    CUZK_SHARE_PAYLOAD,
    CUZK_SHARE_TASK,
    CUZK_SHARE_WORK,
    CUZK_SHARES
} cuzk_share_id;

/* Also a device's memory. */
typedef struct {
    uint64_t cap;      /* never exceeded by reserved */
    uint64_t slice;    /* of it: for CRITICAL only */
    uint64_t reserved; /* bytes */
    unsigned held;     /* how many hold a part that they give back by themselves */
} cuzk_share;

/* Threads: one at a time. */
typedef struct {
    cuzk_share shares[CUZK_SHARES];
    uint64_t total, intake;
    uint64_t reserved, peak; /* of all shares */
} cuzk_budget;

/** A budget of total bytes. intake: of payloads and tasks, below total; 0: an eighth, but 2 GiB or
 *  half of the total where an eighth is less than both. */
void cuzk_budget_init(cuzk_budget *budget, uint64_t total, uint64_t intake);

/** The share that a payload belongs to: by its size alone, so that it is given back where it was
 *  taken. */
cuzk_share_id cuzk_budget_payload_share(const cuzk_budget *budget, uint64_t bytes);

/** The largest payload that can be taken in: it fits its share, and what decoding takes
 *  (cuzk_budget_decode_bytes) fits the tasks'. */
uint64_t cuzk_budget_payload_max(const cuzk_budget *budget);

/** What is reserved while a payload is decoded: 2·bytes and 1 MiB for the work (work.h), 3 MiB for
 *  the record of the largest job. */
static inline uint64_t cuzk_budget_decode_bytes(uint64_t payload_bytes)
{
    return 2 * payload_bytes + (UINT64_C(4) << 20);
}

/** Bytes that one of this priority may take now. */
uint64_t cuzk_share_free(const cuzk_share *share, bool is_critical);

/** Reserve; they must be free. is_held: will be given back by itself, by an end of work (not: a
 *  resident). */
void cuzk_budget_take(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes, bool is_held);
void cuzk_budget_give(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes, bool is_held);

/** Give back a part and go on holding the rest. */
void cuzk_budget_shrink(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes);

#endif
