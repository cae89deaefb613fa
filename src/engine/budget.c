/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shares of budget.h. */
#include "engine/budget.h"

#include "base/status.h"

enum { SLICE = 16 }; /* a sixteenth of a share is for CRITICAL */

static const uint64_t INTAKE_MIN = UINT64_C(2) << 30;

void cuzk_budget_init(cuzk_budget *budget, uint64_t total, uint64_t intake)
{
    if (intake == 0) {
        intake = total / 8;
        uint64_t least = total / 2 < INTAKE_MIN ? total / 2 : INTAKE_MIN;
        intake = intake < least ? least : intake;
    }
    *budget = (cuzk_budget){.total = total, .intake = intake};
    budget->shares[CUZK_SHARE_SMALL].cap = intake / 16;
    budget->shares[CUZK_SHARE_PAYLOAD].cap = intake / 2 - intake / 16;
    budget->shares[CUZK_SHARE_TASK].cap = intake - intake / 2;
    budget->shares[CUZK_SHARE_WORK].cap = total - intake;
    budget->shares[CUZK_SHARE_TASK].slice = budget->shares[CUZK_SHARE_TASK].cap / SLICE;
    budget->shares[CUZK_SHARE_WORK].slice = budget->shares[CUZK_SHARE_WORK].cap / SLICE;
}

cuzk_share_id cuzk_budget_payload_share(const cuzk_budget *budget, uint64_t bytes)
{
    bool is_small = bytes <= budget->shares[CUZK_SHARE_SMALL].cap / 16;
    return is_small ? CUZK_SHARE_SMALL : CUZK_SHARE_PAYLOAD;
}

uint64_t cuzk_budget_payload_max(const cuzk_budget *budget)
{
    uint64_t share = budget->shares[CUZK_SHARE_PAYLOAD].cap;
    uint64_t tasks = budget->shares[CUZK_SHARE_TASK].cap;
    uint64_t spare = cuzk_budget_decode_bytes(0);
    uint64_t decoded = tasks > spare ? (tasks - spare) / 2 : 0;
    return share < decoded ? share : decoded;
}

uint64_t cuzk_share_free(const cuzk_share *share, bool is_critical)
{
    uint64_t slice = is_critical || share->held == 0 ? 0 : share->slice;
    uint64_t taken = share->reserved + slice;
    return taken < share->cap ? share->cap - taken : 0;
}

void cuzk_budget_take(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes, bool is_held)
{
    cuzk_share *share = &budget->shares[id];
    share->reserved += bytes;
    share->held += is_held;
    CUZK_ASSERT(share->reserved <= share->cap);
    budget->reserved += bytes;
    if (budget->reserved > budget->peak) {
        budget->peak = budget->reserved;
    }
}

void cuzk_budget_shrink(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes)
{
    CUZK_ASSERT(budget->shares[id].reserved >= bytes);
    budget->shares[id].reserved -= bytes;
    budget->reserved -= bytes;
}

void cuzk_budget_give(cuzk_budget *budget, cuzk_share_id id, uint64_t bytes, bool is_held)
{
    CUZK_ASSERT(!is_held || budget->shares[id].held > 0);
    budget->shares[id].held -= is_held;
    cuzk_budget_shrink(budget, id, bytes);
}
