/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What keys hold of devices' memory, and pinned host memory, as status and metrics tell it. */
#ifndef CUZK_SERVER_MEMORY_VIEW_H
#define CUZK_SERVER_MEMORY_VIEW_H

#include "engine/engine.h"
#include "work/device_ledger.h"

enum { CUZK_MEMORY_PURPOSES = 6, CUZK_MEMORY_ARRIVALS = 8 };

typedef struct {
    const char *purposes[CUZK_MEMORY_PURPOSES];                    /* "key", … */
    uint64_t bytes[CUZK_ENGINE_DEVICES_MAX][CUZK_MEMORY_PURPOSES]; /* by the engine's device */
    /* the keys on a device that came last, and how */
    cuzk_device_arrival arrivals[CUZK_ENGINE_DEVICES_MAX][CUZK_MEMORY_ARRIVALS];
    unsigned n_arrivals[CUZK_ENGINE_DEVICES_MAX];
    uint64_t pinned_limit_bytes, pinned_used_bytes, pinned_peak_bytes;
} cuzk_memory_view;

#endif
