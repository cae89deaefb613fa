/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One CUDA device, opened: its facts and its primary context. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_H
#define CUZK_BACKEND_CUDA_DEVICE_H

#include "backend/cuda/driver.h"

typedef struct {
    const cuzk_cuda_api *api;
    CUdevice device;
    CUcontext context;
    char name[96];
    char pci[16];       /* its address on the bus: "0000:41:00.0" */
    int capability;     /* 90 for 9.0 */
    int driver_version; /* 13000 for 13.0 */
    int n_sms;
    int clock_khz; /* highest SM clock */
    size_t memory_bytes;
} cuzk_cuda_device;

/** Open device `index` and make its context current in this thread.
 *
 *  Errors: E_DEVICE: no driver, no such device, or what the driver says. out holds nothing then. */
cuzk_status cuzk_cuda_device_open(cuzk_cuda_device *out, int index,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Destroy the context of device `index` with all that is in it, after an error that stays
 *  (E_DEVICE_LOST), so that the next one to open gets a new one. Nobody may use the old one, in any
 *  thread, and who opened it closes it as before. Errors: E_DEVICE, E_DEVICE_LOST: the driver does
 *  not do it. */
cuzk_status cuzk_cuda_device_reset(int index, cuzk_error *err) CUZK_WARN_UNUSED;

/** Release the context. */
void cuzk_cuda_device_close(cuzk_cuda_device *device);

#endif
