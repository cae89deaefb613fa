/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The CUDA driver API, found at run time, so that one binary runs with and without a GPU.
 *
 * libcuda.so.1 is opened at the first call of cuzk_cuda_driver; nothing touches it before. The
 * functions used are listed once below; cuda.h maps each name to its current ABI version. */
#ifndef CUZK_BACKEND_CUDA_DRIVER_H
#define CUZK_BACKEND_CUDA_DRIVER_H

#include "base/status.h"

#include <cuda.h>

#define CUZK_CUDA_FUNCTIONS(X)                                                                     \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuGetErrorString)                                                                            \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDeviceCanAccessPeer)                                                                       \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuDevicePrimaryCtxRelease)                                                                   \
    X(cuDevicePrimaryCtxReset)                                                                     \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuCtxEnablePeerAccess)                                                                       \
    X(cuMemGetInfo)                                                                                \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemAllocHost)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuMemHostRegister)                                                                           \
    X(cuMemHostUnregister)                                                                         \
    X(cuMemcpyHtoD)                                                                                \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemsetD8)                                                                                  \
    X(cuMemsetD8Async)                                                                             \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuMemcpyDtoDAsync)                                                                           \
    X(cuMemcpyPeerAsync)                                                                           \
    X(cuMemcpy2DAsync)                                                                             \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)                                                                              \
    X(cuModuleGetFunction)                                                                         \
    X(cuFuncGetAttribute)                                                                          \
    X(cuLaunchKernel)                                                                              \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamWaitEvent)                                                                           \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventRecord)                                                                               \
    X(cuEventSynchronize)                                                                          \
    X(cuEventElapsedTime)

/* One pointer per function, under its ABI name (for example p_cuMemAlloc_v2 behind
 * CUZK_CU(cuMemAlloc)). */
#define CUZK_CU_JOIN(name)    p_##name
#define CUZK_CU_MEMBER(name)  CUZK_CU_JOIN(name)
#define CUZK_CU_DECLARE(name) __typeof__(&name) CUZK_CU_MEMBER(name);
typedef struct {
    CUZK_CUDA_FUNCTIONS(CUZK_CU_DECLARE)
} cuzk_cuda_api;

/* Call a driver function through the table `api`: CUZK_CU(api, cuInit)(0). */
#define CUZK_CU(api, name) (api)->CUZK_CU_MEMBER(name)

/** Open the driver and initialise it, once per process.
 *
 *  out: the table, valid for the life of the process. Thread-safe.
 *  Errors: E_DEVICE saying what is missing: no driver library, a function it lacks, or the reason
 *  that cuInit gives (no device, driver too old). Every later call gives the same answer. */
cuzk_status cuzk_cuda_driver(const cuzk_cuda_api **out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Turn a driver result into a status; CUDA_SUCCESS gives CUZK_OK. Through CUZK_CUDA_TRY. An error
 *  after which the context is of no more use gives E_DEVICE_LOST, any other E_DEVICE. */
cuzk_status cuzk_cuda_check(const cuzk_cuda_api *api, CUresult result, const char *call,
                            const char *file, int line, cuzk_error *err) CUZK_WARN_UNUSED;

/* Return from the function with E_DEVICE unless the driver call succeeds:
 * CUZK_CUDA_TRY(api, err, cuMemAlloc, (&p, n)). */
#define CUZK_CUDA_TRY(api, err, name, args)                                                        \
    CUZK_TRY(cuzk_cuda_check((api), CUZK_CU(api, name) args, #name, __FILE__, __LINE__, (err)))

#endif
