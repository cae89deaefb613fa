/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device facts and the primary context. */
#include "backend/cuda/device.h"

#include <stdio.h>

/* Where it is on the bus. A card is function 0 there. */
static cuzk_status read_address(cuzk_cuda_device *d, cuzk_error *err)
{
    const cuzk_cuda_api *api = d->api;
    int domain = 0, bus = 0, slot = 0;
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, d->device));
    snprintf(d->pci, sizeof d->pci, "%04x:%02x:%02x.0", (unsigned)domain & 0xffff,
             (unsigned)bus & 0xff, (unsigned)slot & 0xff);
    return CUZK_OK;
}

static cuzk_status read_facts(cuzk_cuda_device *d, int index, cuzk_error *err)
{
    const cuzk_cuda_api *api = d->api;
    int n = 0, major = 0, minor = 0;
    CUZK_CUDA_TRY(api, err, cuDeviceGetCount, (&n));
    CUZK_FAIL_IF(index < 0 || index >= n, err, CUZK_E_DEVICE,
                 "opening CUDA device %d: the driver has %d devices", index, n);
    CUZK_CUDA_TRY(api, err, cuDriverGetVersion, (&d->driver_version));
    CUZK_CUDA_TRY(api, err, cuDeviceGet, (&d->device, index));
    CUZK_CUDA_TRY(api, err, cuDeviceGetName, (d->name, (int)sizeof(d->name), d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceTotalMem, (&d->memory_bytes, d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->device));
    d->capability = 10 * major + minor;
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&d->n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->device));
    CUZK_CUDA_TRY(api, err, cuDeviceGetAttribute,
                  (&d->clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, d->device));
    return read_address(d, err);
}

cuzk_status cuzk_cuda_device_open(cuzk_cuda_device *out, int index, cuzk_error *err)
{
    cuzk_cuda_device d = {0};
    CUZK_TRY(cuzk_cuda_driver(&d.api, err));
    CUZK_TRY(read_facts(&d, index, err));
    CUZK_CUDA_TRY(d.api, err, cuDevicePrimaryCtxRetain, (&d.context, d.device));
    cuzk_status status = cuzk_cuda_check(d.api, CUZK_CU(d.api, cuCtxSetCurrent)(d.context),
                                         "cuCtxSetCurrent", __FILE__, __LINE__, err);
    if (status != CUZK_OK) {
        (void)CUZK_CU(d.api, cuDevicePrimaryCtxRelease)(d.device);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

cuzk_status cuzk_cuda_device_reset(int index, cuzk_error *err)
{
    const cuzk_cuda_api *api;
    CUdevice device;
    CUZK_TRY(cuzk_cuda_driver(&api, err));
    CUZK_CUDA_TRY(api, err, cuDeviceGet, (&device, index));
    CUZK_CUDA_TRY(api, err, cuDevicePrimaryCtxReset, (device));
    return CUZK_OK;
}

void cuzk_cuda_device_close(cuzk_cuda_device *device)
{
    (void)CUZK_CU(device->api, cuCtxSetCurrent)(NULL);
    (void)CUZK_CU(device->api, cuDevicePrimaryCtxRelease)(device->device);
    device->context = NULL;
}
