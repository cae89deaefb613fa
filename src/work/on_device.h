/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A resident's copies on devices that have memory of their own, whatever its family. */
#ifndef CUZK_WORK_ON_DEVICE_H
#define CUZK_WORK_ON_DEVICE_H

#include "api/api.h"
#include "work/work_devices.h"

/* By the engine's index of the device; NULL: not there. All zero is empty. The engine never loads
 * or evicts one while it is used. */
typedef struct {
    cuzk_api_device *copies[CUZK_WORK_DEVICES_MAX];
    struct cuzk_device_ledger *ledger; /* where they are noted; NULL: not */
} cuzk_on_device;

/** What to reserve on a device for a resident with a key of these numbers: what the largest device
 *  would do with it takes, or, where it fits none, what the smallest way would. 0 without cards. */
uint64_t cuzk_on_device_bytes(const cuzk_work_devices *devices, const cuzk_key_numbers *numbers);

/** Copy a prover's key to a device, or make ready to stream it. prover: borrowed until evict.
 * limit: the bytes that are reserved. Errors: E_DEVICE, E_MEMORY, E_INTERNAL (a device without
 * memory). */
cuzk_status cuzk_on_device_load(cuzk_on_device *on, const cuzk_work_devices *devices,
                                unsigned device, const cuzk_prover *prover, uint64_t limit,
                                const cuzk_ctx *ctx, cuzk_error *err) CUZK_WARN_UNUSED;

/** Take it off; nothing where it is not there. */
void cuzk_on_device_evict(cuzk_on_device *on, unsigned device);

/** Take it off everywhere. */
void cuzk_on_device_clear(cuzk_on_device *on);

/** What proves on the device: *out NULL for the CPU. Errors: E_INTERNAL (it is not there). */
cuzk_status cuzk_on_device_get(const struct cuzk_prove_device **out, const cuzk_on_device *on,
                               const cuzk_work_devices *devices, unsigned device,
                               cuzk_error *err) CUZK_WARN_UNUSED;

#endif
