/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/on_device.h"

#include "work/device_ledger.h"

uint64_t cuzk_on_device_bytes(const cuzk_work_devices *devices, const cuzk_key_numbers *numbers)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < devices->n; i++) {
        uint64_t bytes = devices->devices[i].memory_bytes;
        most = bytes > most ? bytes : most;
    }
    return most == 0 ? 0 : cuzk_api_device_plan(numbers, most).total_bytes;
}

cuzk_status cuzk_on_device_load(cuzk_on_device *on, const cuzk_work_devices *devices,
                                unsigned device, const cuzk_prover *prover, uint64_t limit,
                                const cuzk_ctx *ctx, cuzk_error *err)
{
    CUZK_FAIL_IF(device >= devices->n || devices->devices[device].memory_bytes == 0, err,
                 CUZK_E_INTERNAL, "a key for device %u, which has no memory", device);
    const char *id = devices->devices[device].id;
    CUZK_TRY(cuzk_api_device_open(&on->copies[device], id, prover, limit,
                                  cuzk_device_ledger_pinned(devices->ledger), err));
    cuzk_api_device_facts f = cuzk_api_device_look(on->copies[device]);
    on->ledger = devices->ledger;
    cuzk_device_ledger_note(on->ledger, device, f.bytes, true);
    if (f.is_streamed) {
        cuzk_api_log(ctx, CUZK_LOG_INFO, "%s: a key that does not fit is streamed, %s", id, f.way);
    } else {
        cuzk_api_log(ctx, CUZK_LOG_INFO, "%s: %.1f MiB of points copied in %.2f s, %.1f GB/s, %s",
                     id, (double)f.copied_bytes / 1048576, (double)f.copied_ns / 1e9,
                     (double)f.copied_bytes / (double)(f.copied_ns + 1), f.way);
    }
    return CUZK_OK;
}

void cuzk_on_device_evict(cuzk_on_device *on, unsigned device)
{
    cuzk_api_device_facts f = cuzk_api_device_look(on->copies[device]);
    cuzk_device_ledger_note(on->ledger, device, f.bytes, false);
    cuzk_api_device_close(on->copies[device]);
    on->copies[device] = NULL;
}

void cuzk_on_device_clear(cuzk_on_device *on)
{
    for (unsigned i = 0; i < CUZK_WORK_DEVICES_MAX; i++) {
        cuzk_on_device_evict(on, i);
    }
}

cuzk_status cuzk_on_device_get(const struct cuzk_prove_device **out, const cuzk_on_device *on,
                               const cuzk_work_devices *devices, unsigned device, cuzk_error *err)
{
    bool is_cpu = device < devices->n && devices->devices[device].memory_bytes == 0;
    CUZK_FAIL_IF(!is_cpu && (device >= devices->n || on->copies[device] == NULL), err,
                 CUZK_E_INTERNAL, "the key is not on device %u", device);
    *out = is_cpu ? NULL : cuzk_api_device_get(on->copies[device]);
    return CUZK_OK;
}
