/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether a device computes rightly. */
#ifndef CUZK_BACKEND_CUDA_SELF_TEST_H
#define CUZK_BACKEND_CUDA_SELF_TEST_H

#include "backend/cuda/device.h"

/** Load the kernels of both curves and compare small results with the host's: sums in both groups,
 * a transform by direct evaluation and by its inverse.
 *
 *  device: its context is current. Errors: E_DEVICE: which result is wrong, or what the driver says
 *  (no kernels for this device, too little memory); E_MEMORY. Takes a few milliseconds and some
 *  megabytes. */
cuzk_status cuzk_cuda_self_test(const cuzk_cuda_device *device, cuzk_error *err) CUZK_WARN_UNUSED;

/** cuzk_cuda_device_open, then the self-test; where that fails the device is closed again.
 *
 *  out: returned: cuzk_cuda_device_close. Errors: those of both. */
cuzk_status cuzk_cuda_device_open_tested(cuzk_cuda_device *out, int number,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

#endif
