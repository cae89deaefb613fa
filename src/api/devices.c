/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The list of devices. */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

#if CUZK_HAVE_CUDA

#include "backend/cuda/self_test.h"

static void describe(cuzk_device_info *info, int index)
{
    cuzk_cuda_device d;
    cuzk_error err = {0};
    memset(info, 0, sizeof *info);
    snprintf(info->id, sizeof info->id, "cuda:%d", index);
    if (cuzk_cuda_device_open(&d, index, &err) != CUZK_OK) {
        snprintf(info->reason, sizeof info->reason, "%s", err.text);
        return;
    }
    size_t free_bytes = 0, all_bytes = 0;
    snprintf(info->name, sizeof info->name, "%s", d.name);
    info->memory_bytes = d.memory_bytes;
    info->capability = (unsigned)d.capability;
    info->driver = (unsigned)d.driver_version;
    if (CUZK_CU(d.api, cuMemGetInfo)(&free_bytes, &all_bytes) == CUDA_SUCCESS) {
        info->free_bytes = free_bytes;
    }
    info->is_usable = cuzk_cuda_self_test(&d, &err) == CUZK_OK;
    if (!info->is_usable) {
        snprintf(info->reason, sizeof info->reason, "%s", err.text);
    }
    cuzk_cuda_device_close(&d);
}

cuzk_status cuzk_devices(cuzk_device_info *devices, size_t capacity, size_t *n, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, devices);
    CUZK_API_NOT_NULL(err, n);
    const cuzk_cuda_api *api;
    int count = 0;
    CUZK_TRY(cuzk_cuda_driver(&api, err));
    CUZK_CUDA_TRY(api, err, cuDeviceGetCount, (&count));
    size_t found = (size_t)count < capacity ? (size_t)count : capacity;
    for (size_t i = 0; i < found; i++) {
        describe(&devices[i], (int)i);
    }
    *n = found;
    return CUZK_OK;
}

#else

cuzk_status cuzk_devices(cuzk_device_info *devices, size_t capacity, size_t *n, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, devices);
    CUZK_API_NOT_NULL(err, n);
    (void)capacity;
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "this library was built without CUDA");
}

#endif
