/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One wrapper a function; device memory is the emulator's, so that it can be looked at. */
#include "faulty_driver.h"

#include <limits.h>

faulty_driver faulty;
cuzk_cuda_device faulty_device;

static const cuzk_cuda_api *right;
static cuzk_cuda_api table;

enum { HELD_MAX = 64 };
static struct {
    CUdeviceptr at;
    size_t n_bytes;
} memory[HELD_MAX];

static bool fails(const char *name)
{
    if (faulty.only != NULL && strcmp(faulty.only, name) != 0) {
        return false;
    }
    unsigned n = faulty.n_calls++;
    if (n < FAULTY_NAMES_MAX) {
        faulty.names[n] = name;
    }
    if (n != faulty.fail_at && !(faulty.for_good && n > faulty.fail_at)) {
        return false;
    }
    if (faulty.failed == NULL) {
        faulty.failed = name;
    }
    return true;
}

/* Calls that only pass through. */
#define PASS(name, params, args)                                                                   \
    static CUresult pass_##name params                                                             \
    {                                                                                              \
        return fails(#name) ? faulty.result : CUZK_CU(right, name) args;                           \
    }
#define PASSED(X)                                                                                  \
    X(cuDriverGetVersion, (int *v), (v))                                                           \
    X(cuDeviceGetCount, (int *n), (n))                                                             \
    X(cuDeviceGet, (CUdevice * d, int i), (d, i))                                                  \
    X(cuDeviceGetName, (char *s, int n, CUdevice d), (s, n, d))                                    \
    X(cuDeviceGetAttribute, (int *v, CUdevice_attribute a, CUdevice d), (v, a, d))                 \
    X(cuCtxSetCurrent, (CUcontext c), (c))                                                         \
    X(cuCtxSynchronize, (void), ())                                                                \
    X(cuModuleGetFunction, (CUfunction * f, CUmodule m, const char *s), (f, m, s))                 \
    X(cuFuncGetAttribute, (int *v, CUfunction_attribute a, CUfunction f), (v, a, f))               \
    X(cuStreamCreate, (CUstream * s, unsigned f), (s, f))                                          \
    X(cuStreamSynchronize, (CUstream s), (s))                                                      \
    X(cuEventRecord, (CUevent e, CUstream s), (e, s))                                              \
    X(cuEventSynchronize, (CUevent e), (e))                                                        \
    X(cuEventElapsedTime, (float *ms, CUevent a, CUevent b), (ms, a, b))                           \
    X(cuLaunchKernel,                                                                              \
      (CUfunction f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,       \
       unsigned h, CUstream s, void **p, void **x),                                                \
      (f, a, b, c, d, e, g, h, s, p, x))                                                           \
    X(cuDeviceTotalMem, (size_t * n, CUdevice d), (n, d))                                          \
    X(cuMemGetInfo, (size_t * f, size_t * a), (f, a))                                              \
    X(cuMemcpyHtoD, (CUdeviceptr d, const void *s, size_t n), (d, s, n))                           \
    X(cuMemcpyHtoDAsync, (CUdeviceptr d, const void *s, size_t n, CUstream t), (d, s, n, t))       \
    X(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned f), (s, e, f))                           \
    X(cuMemcpyDtoH, (void *d, CUdeviceptr s, size_t n), (d, s, n))                                 \
    X(cuMemsetD8, (CUdeviceptr d, unsigned char b, size_t n), (d, b, n))                           \
    X(cuMemsetD8Async, (CUdeviceptr d, unsigned char b, size_t n, CUstream s), (d, b, n, s))       \
    X(cuMemcpyDtoHAsync, (void *d, CUdeviceptr s, size_t n, CUstream t), (d, s, n, t))             \
    X(cuMemcpyDtoDAsync, (CUdeviceptr d, CUdeviceptr s, size_t n, CUstream t), (d, s, n, t))       \
    X(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *c, CUstream t), (c, t))                               \
    X(cuDeviceCanAccessPeer, (int *v, CUdevice a, CUdevice b), (v, a, b))                          \
    X(cuCtxEnablePeerAccess, (CUcontext c, unsigned f), (c, f))                                    \
    X(cuMemcpyPeerAsync,                                                                           \
      (CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n, CUstream t),            \
      (d, dc, s, sc, n, t))
PASSED(PASS)

/* ---- calls that take, and that give back: the latter do not fail ---- */

static CUresult pass_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
    if (fails("cuDevicePrimaryCtxRetain")) {
        return faulty.result;
    }
    faulty.n_contexts++;
    return CUZK_CU(right, cuDevicePrimaryCtxRetain)(out, d);
}

static CUresult pass_cuDevicePrimaryCtxRelease(CUdevice d)
{
    faulty.n_bad += faulty.n_contexts-- <= 0;
    return CUZK_CU(right, cuDevicePrimaryCtxRelease)(d);
}

static CUresult pass_cuModuleLoadData(CUmodule *out, const void *image)
{
    if (fails("cuModuleLoadData")) {
        return faulty.result;
    }
    CUresult result = CUZK_CU(right, cuModuleLoadData)(out, image);
    faulty.n_modules += result == CUDA_SUCCESS;
    return result;
}

static CUresult pass_cuModuleUnload(CUmodule module)
{
    faulty.n_bad += faulty.n_modules-- <= 0;
    return CUZK_CU(right, cuModuleUnload)(module);
}

static CUresult pass_cuEventCreate(CUevent *out, unsigned flags)
{
    if (fails("cuEventCreate")) {
        return faulty.result;
    }
    faulty.n_events++;
    return CUZK_CU(right, cuEventCreate)(out, flags);
}

static CUresult pass_cuEventDestroy(CUevent event)
{
    faulty.n_bad += faulty.n_events-- <= 0;
    return CUZK_CU(right, cuEventDestroy)(event);
}

static CUresult pass_cuMemAllocHost(void **out, size_t n_bytes)
{
    if (fails("cuMemAllocHost")) {
        return faulty.result;
    }
    CUresult result = CUZK_CU(right, cuMemAllocHost)(out, n_bytes);
    faulty.n_pinned += result == CUDA_SUCCESS;
    return result;
}

static CUresult pass_cuMemFreeHost(void *p)
{
    faulty.n_bad += faulty.n_pinned-- <= 0;
    return CUZK_CU(right, cuMemFreeHost)(p);
}

static CUresult pass_cuMemAlloc(CUdeviceptr *out, size_t n_bytes)
{
    if (fails("cuMemAlloc")) {
        return faulty.result;
    }
    CUresult result = CUZK_CU(right, cuMemAlloc)(out, n_bytes);
    for (int i = 0; result == CUDA_SUCCESS && i < HELD_MAX; i++) {
        if (memory[i].at == 0) {
            memory[i].at = *out;
            memory[i].n_bytes = n_bytes;
            faulty.n_memory++;
            faulty.memory_bytes += n_bytes;
            faulty.memory_bytes_max = faulty.memory_bytes > faulty.memory_bytes_max
                                          ? faulty.memory_bytes
                                          : faulty.memory_bytes_max;
            return result;
        }
    }
    return result == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : result; /* HELD_MAX is too small */
}

static CUresult pass_cuMemFree(CUdeviceptr p)
{
    for (int i = 0; i < HELD_MAX; i++) {
        if (memory[i].at == p && p != 0) {
            const unsigned char *bytes = (const unsigned char *)(uintptr_t)p;
            size_t n = 0;
            while (n < memory[i].n_bytes && bytes[n] == 0) {
                n++;
            }
            faulty.n_not_wiped += n < memory[i].n_bytes;
            faulty.n_memory--;
            faulty.memory_bytes -= memory[i].n_bytes;
            memory[i].at = 0;
            return CUZK_CU(right, cuMemFree)(p);
        }
    }
    faulty.n_bad++;
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- for tests ---- */

void faulty_begin(void)
{
    right = device.api;
    table = *right;
#define SET(name, params, args) CUZK_CU(&table, name) = pass_##name;
    PASSED(SET)
    CUZK_CU(&table, cuDevicePrimaryCtxRetain) = pass_cuDevicePrimaryCtxRetain;
    CUZK_CU(&table, cuDevicePrimaryCtxRelease) = pass_cuDevicePrimaryCtxRelease;
    CUZK_CU(&table, cuModuleLoadData) = pass_cuModuleLoadData;
    CUZK_CU(&table, cuModuleUnload) = pass_cuModuleUnload;
    CUZK_CU(&table, cuEventCreate) = pass_cuEventCreate;
    CUZK_CU(&table, cuEventDestroy) = pass_cuEventDestroy;
    CUZK_CU(&table, cuMemAllocHost) = pass_cuMemAllocHost;
    CUZK_CU(&table, cuMemFreeHost) = pass_cuMemFreeHost;
    CUZK_CU(&table, cuMemAlloc) = pass_cuMemAlloc;
    CUZK_CU(&table, cuMemFree) = pass_cuMemFree;
    faulty_device = device;
    faulty_device.api = &table;
    faulty = (faulty_driver){.fail_at = UINT_MAX};
    memset(memory, 0, sizeof memory);
}

void faulty_fail(const char *only, unsigned n, CUresult result, bool for_good)
{
    faulty.only = only;
    faulty.n_calls = 0;
    faulty.failed = NULL;
    faulty.fail_at = n;
    faulty.result = result;
    faulty.for_good = for_good;
}

void faulty_mend(void)
{
    faulty_fail(NULL, UINT_MAX, CUDA_SUCCESS, false);
}

unsigned faulty_names(const char **names, unsigned n_max)
{
    unsigned n = 0;
    for (unsigned i = 0; i < faulty.n_calls && i < FAULTY_NAMES_MAX; i++) {
        unsigned k = 0;
        while (k < n && strcmp(names[k], faulty.names[i]) != 0) {
            k++;
        }
        if (k == n && n < n_max) {
            names[n++] = faulty.names[i];
        }
    }
    return n;
}

void faulty_expect_nothing_held(void)
{
    assert_int_equal(faulty.n_modules, 0);
    assert_int_equal(faulty.n_memory, 0);
    assert_int_equal(faulty.n_events, 0);
    assert_int_equal(faulty.n_pinned, 0);
    assert_int_equal(faulty.n_contexts, 0);
    assert_int_equal(faulty.n_bad, 0);
}
