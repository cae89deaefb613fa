/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which device a key goes to that was left to us: small circuits are proved by the CPU before a
 * card has begun. */
#include "api/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Constraints from which on a card is faster, as measured on one H200 beside processors with IFMA
 * (bench/results/gpu_small_circuits_h200_2026-12-01.csv, docs/performance.md). With the key open
 * the card is faster at 254 constraints already. A process that proves once waits 0.35 s for driver
 * and kernels; sixteen threads take as long as it does in all for some 1.7 million constraints
 * whose values are as wide as the field, and longer from there on; fewer threads for fewer. */
enum { OFTEN_FROM = 1 << 8, ONCE_FROM_A_THREAD = 1 << 17 };

/* "auto", or "auto:N" for N constraints. */
static bool parse(const char *name, uint64_t *from)
{
    if (name == NULL || strncmp(name, "auto", 4) != 0) {
        return false;
    }
    if (name[4] == '\0') {
        return true;
    }
    size_t n = name[4] == ':' ? strspn(name + 5, "0123456789") : 0;
    if (n == 0 || n > 10 || name[5 + n] != '\0') {
        return false;
    }
    *from = strtoull(name + 5, NULL, 10);
    return true;
}

bool cuzk_api_device_is_auto(const char *name)
{
    uint64_t from;
    return parse(name, &from);
}

void cuzk_api_device_choose(cuzk_device_choice *out, const cuzk_ctx *ctx, const char *asked,
                            uint64_t n_constraints, bool proves_once)
{
    uint64_t from =
        proves_once ? (uint64_t)ONCE_FROM_A_THREAD * cuzk_ctx_n_threads(ctx) : OFTEN_FROM;
    *out = (cuzk_device_choice){.is_auto = parse(asked, &from)};
    if (!out->is_auto) {
        snprintf(out->name, sizeof out->name, "%s", asked == NULL ? "cpu" : asked);
        return;
    }
    bool is_card = n_constraints >= from && cuzk_api_device_count() > 0;
    snprintf(out->name, sizeof out->name, "%s", is_card ? "cuda:0" : "cpu");
    cuzk_api_log(ctx, CUZK_LOG_INFO,
                 "device auto: %s for %" PRIu64 " constraints: %s from %" PRIu64
                 " on (another limit: auto:N)",
                 out->name, n_constraints,
                 n_constraints >= from && !is_card ? "there is no card; they are taken"
                                                   : "cards are taken",
                 from);
}

/* Half of the machine's memory may be pinned: by one key, whose pages are there anyway. */
static uint64_t pinned_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages / 2 * (uint64_t)page : 0;
}

static cuzk_status open_card(cuzk_api_device **out, struct cuzk_pinned_pool **pinned,
                             const char *name, const cuzk_prover *prover, cuzk_error *err)
{
    if (strcmp(name, "cpu") != 0) {
        CUZK_TRY(cuzk_api_pinned_create(pinned, pinned_limit(), err));
    }
    const cuzk_api_device_params params = {.pinned = *pinned};
    return cuzk_api_device_open(out, name, prover, &params, err);
}

static void log_facts(const cuzk_ctx *ctx, const char *name, const cuzk_api_device *device)
{
    cuzk_api_device_facts f = cuzk_api_device_look(device);
    if (f.is_streamed) {
        cuzk_api_log(ctx, CUZK_LOG_INFO, "%s: the key does not fit and is streamed, %s", name,
                     f.way);
    } else if (f.copied_ns > 0) {
        cuzk_api_log(ctx, CUZK_LOG_INFO, "%s: %.1f MiB of points copied in %.2f s, %.1f GB/s, %s",
                     name, (double)f.copied_bytes / 1048576, (double)f.copied_ns / 1e9,
                     (double)f.copied_bytes / (double)f.copied_ns, f.way);
    }
}

cuzk_status cuzk_api_device_open_chosen(cuzk_api_device **out, struct cuzk_pinned_pool **pinned,
                                        cuzk_device_choice *choice, const cuzk_ctx *ctx,
                                        const cuzk_prover *prover, cuzk_error *err)
{
    cuzk_status status = open_card(out, pinned, choice->name, prover, err);
    if (status == CUZK_OK) {
        log_facts(ctx, choice->name, *out);
    } else if (choice->is_auto) {
        cuzk_api_log(ctx, CUZK_LOG_WARN, "device auto: cpu instead of %s: %s", choice->name,
                     err != NULL ? err->text : "it cannot be used");
        cuzk_error_clear(err);
        snprintf(choice->name, sizeof choice->name, "cpu");
        *out = NULL;
        return CUZK_OK;
    }
    return status;
}
