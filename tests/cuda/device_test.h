/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What tests of kernels share. Each is built twice: device_real.c takes the machine's device and
 * skips by name where there is none, emulator/emulated_driver.c runs the kernels on the host. */
#ifndef CUZK_TESTS_DEVICE_TEST_H
#define CUZK_TESTS_DEVICE_TEST_H

#include "backend/cuda/device.h"
#include "base/pool.h"
#include "cuda_test.h"

/* The device under test. */
extern cuzk_cuda_device device;

/** Open `device`, or print why not and exit with 77. */
void device_test_open(void);

/** Whether tests take small inputs: where kernels are emulated, which is about a million times
 *  slower, and where CUZK_DEVICE_TEST_SMALL is set, for runs under compute-sanitizer. */
bool device_test_is_small(void);

/** Whether kernels are emulated. */
bool device_test_is_emulated(void);

/** Threads for the host's side of a comparison: NULL, which is one, where inputs are small. Lives
 * as long as the program. */
cuzk_pool *device_test_pool(void);

/** Fail the test with the error's text unless status is CUZK_OK. */
void must(cuzk_status status, const cuzk_error *error);

/* A driver call that must succeed; `error` is the caller's. */
#define DRIVER(name, args)                                                                         \
    must(cuzk_cuda_check(device.api, CUZK_CU(device.api, name) args, #name, __FILE__, __LINE__,    \
                         &error),                                                                  \
         &error)

/** Device memory of n_bytes filled with 0xcc, or with what `from` holds. */
CUdeviceptr device_bytes(const void *from, size_t n_bytes);

/** n_bytes of device memory, once everything launched is done. Returned: free with free(). */
void *host_bytes(CUdeviceptr from, size_t n_bytes);

void free_all(const CUdeviceptr *p, int n);

#endif
