/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A CUDA driver whose devices are the host: memory from malloc, kernels through simt.c, at once.
 *
 * CUZK_EMULATED_DEVICES: how many there are; 1. With several each has memory of its own: a call
 * that is given another device's is refused, and a kernel that touches it ends by SIGSEGV. One may
 * copy from another unless CUZK_EMULATED_PEERS is "none"; a bit of every copy is wrong where it is
 * "wrong". CUZK_EMULATED_BROKEN names a file: as long as it is there the last device cannot be
 * opened.
 *
 * Linked into tests of kernels, and as a library that stands for libcuda.so.1 before the program
 * (LD_LIBRARY_PATH). CUZK_EMULATED_FAULT makes it fail: "init" (cuInit ends the process), "none"
 * (no device), "memory" (none to be had), "image" (no kernels for the device), "bit" (what the
 * device answers has a wrong bit), "unpinned" (host memory that is there cannot be
 * pinned), "copy" (asynchronous copies to the device fail), "lost@PATH" and "dead@PATH" (below). */
#include "backend/cuda/driver.h"
#include "backend/cuda/image.h"
#include "emulated_memory.h"
#include "simt_launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define MODULES(X)                                                                                 \
    X(point_add)                                                                                   \
    X(field_check)                                                                                 \
    X(transform)                                                                                   \
    X(transform_short)                                                                             \
    X(transform_table)                                                                             \
    X(bucket) X(bucket_sort) X(bucket_reduce) X(endomorphism) X(rows) X(fixed_base)

#define DECLARE(stem) extern const simt_kernel simt_##stem##_bn254[], simt_##stem##_bls12_381[];
#pragma GCC visibility push(hidden)
MODULES(DECLARE)
extern const simt_kernel simt_point_decode_bls12_381[], simt_byte_sum_bls12_381[];
#pragma GCC visibility pop

#define ENTRIES(stem)                                                                              \
    {CUZK_IMAGE(stem, bn254), simt_##stem##_bn254},                                                \
        {CUZK_IMAGE(stem, bls12_381), simt_##stem##_bls12_381},
static const struct {
    const unsigned char *image;
    const simt_kernel *kernels; /* ends with a NULL name */
} modules[] = {MODULES(ENTRIES){CUZK_IMAGE(point_decode, bls12_381), simt_point_decode_bls12_381},
               {CUZK_IMAGE(byte_sum, bls12_381), simt_byte_sum_bls12_381}};

static bool has_fault(const char *fault)
{
    const char *text = getenv("CUZK_EMULATED_FAULT");
    return text != NULL && strcmp(text, fault) == 0;
}

/* "lost@PATH" and "dead@PATH": once there is a file PATH the next kernel removes it and fails, and
 * so does everything of its device from then on: until its context is reset, or for the rest of the
 * process. */
static atomic_bool is_lost[EMULATED_DEVICES_MAX];

/* ---- the context ---- */

/* What a context points to says which device it is of. With one device a thread needs none. */
static const char contexts[EMULATED_DEVICES_MAX];
static _Thread_local CUcontext current;

static int device_of(CUcontext context)
{
    return (int)((const char *)context - contexts);
}

/* Where the thread's calls go; below 0: it has no context, or not one of ours. */
static int here(void)
{
    int d = current != NULL ? device_of(current) : emulated_devices() == 1 ? 0 : -1;
    return d < emulated_devices() ? d : -1;
}

static CUresult state(void)
{
    int d = here();
    return d < 0        ? CUDA_ERROR_INVALID_CONTEXT
           : is_lost[d] ? CUDA_ERROR_ILLEGAL_ADDRESS
                        : CUDA_SUCCESS;
}

static CUresult state_after_kernel(void)
{
    const char *text = getenv("CUZK_EMULATED_FAULT"),
               *path = text == NULL ? NULL : strchr(text, '@');
    if (path != NULL && unlink(path + 1) == 0) {
        is_lost[here()] = true;
    }
    return state();
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    const char *text = getenv("CUZK_EMULATED_FAULT");
    bool is_dead = is_lost[device] && text != NULL && strncmp(text, "dead@", 5) == 0;
    is_lost[device] = is_dead;
    return is_dead ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/* Bytes of a fat binary: its header tells its own length at byte 6 and that of the rest at 8. */
static size_t image_bytes(const unsigned char *image)
{
    uint16_t header;
    uint64_t rest;
    memcpy(&header, image + 6, sizeof header);
    memcpy(&rest, image + 8, sizeof rest);
    return header + (size_t)rest;
}

/* ---- device ---- */

CUresult cuInit(unsigned flags)
{
    if (has_fault("init")) {
        fprintf(stderr, "emulated driver: cuInit was called\n");
        abort();
    }
    return has_fault("none") ? CUDA_ERROR_NO_DEVICE
           : flags != 0      ? CUDA_ERROR_INVALID_VALUE
                             : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *out)
{
    *out = 13000;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **out)
{
    *out = result == CUDA_ERROR_NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
           : result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                                : "CUDA_ERROR";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **out)
{
    (void)result;
    *out = "as the test wants it";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *out)
{
    *out = emulated_devices();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int index)
{
    *out = index;
    return index >= 0 && index < emulated_devices() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *out, int n_bytes, CUdevice device)
{
    snprintf(out, (size_t)n_bytes, "Emulated %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice device)
{
    *out = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
           : attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID            ? 0
           : attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID               ? 0x41 + device
           : attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID            ? 0
                                                                       : 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *out, CUdevice device)
{
    (void)device;
    *out = (size_t)2 << 30;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    const char *path = getenv("CUZK_EMULATED_BROKEN");
    if (path != NULL && device == emulated_devices() - 1 && access(path, F_OK) == 0) {
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    }
    *out = (CUcontext)(uintptr_t)&contexts[device];
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return state();
}

/* ---- peers ---- */

static bool peers_are(const char *what)
{
    const char *text = getenv("CUZK_EMULATED_PEERS");
    return text != NULL && strcmp(text, what) == 0;
}

static bool has_peers(void)
{
    return !peers_are("none");
}

CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer)
{
    *out = device != peer && has_peers();
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    static atomic_bool is_enabled[EMULATED_DEVICES_MAX][EMULATED_DEVICES_MAX];
    int from = here(), to = device_of(peer);
    if (from < 0 || from == to || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return !has_peers()                                   ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
           : atomic_exchange(&is_enabled[from][to], true) ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
                                                          : CUDA_SUCCESS;
}

/* ---- memory ---- */

CUresult cuMemGetInfo(size_t *out_free, size_t *out_all)
{
    *out_free = (size_t)1 << 30;
    *out_all = (size_t)2 << 30;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *out, size_t n_bytes)
{
    *out = 0;
    if (here() < 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *out = has_fault("memory") ? 0 : emulated_alloc(here(), n_bytes);
    return *out == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr p)
{
    return emulated_free(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocHost(void **out, size_t n_bytes)
{
    *out = malloc(n_bytes);
    return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
    free(p);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void *p, size_t n_bytes, unsigned flags)
{
    (void)flags;
    bool is_whole = (uintptr_t)p % 4096 == 0 && n_bytes % 4096 == 0 && n_bytes > 0;
    return has_fault("unpinned") || !is_whole ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *p)
{
    return (uintptr_t)p % 4096 == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Whether a piece of memory is the current device's. */
static bool is_here(CUdeviceptr p, size_t n_bytes)
{
    return emulated_is_of(here(), p, n_bytes);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n_bytes)
{
    if (!is_here(to, n_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emulated_copy((void *)(uintptr_t)to, from, n_bytes);
    return state();
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n_bytes, CUstream stream)
{
    (void)stream;
    return has_fault("copy") ? CUDA_ERROR_LAUNCH_TIMEOUT : cuMemcpyHtoD(to, from, n_bytes);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n_bytes, CUstream stream)
{
    (void)stream;
    if (!is_here(from, n_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emulated_copy(to, (const void *)(uintptr_t)from, n_bytes);
    return state();
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n_bytes)
{
    CUresult result = cuMemcpyDtoHAsync(to, from, n_bytes, NULL);
    if (has_fault("bit")) {
        ((unsigned char *)to)[n_bytes / 2] ^= 1;
    }
    return result;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n_bytes, CUstream stream)
{
    (void)stream;
    if (!is_here(to, n_bytes) || !is_here(from, n_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emulated_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n_bytes);
    return state();
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t n_bytes, CUstream stream)
{
    (void)stream;
    if (!emulated_is_of(device_of(to_context), to, n_bytes) ||
        !emulated_is_of(device_of(from_context), from, n_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (is_lost[device_of(from_context)]) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    emulated_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n_bytes);
    if (peers_are("wrong") && n_bytes > 0) {
        ((unsigned char *)(uintptr_t)to)[n_bytes / 2] ^= 1;
    }
    return state();
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char byte, size_t n_bytes)
{
    if (!is_here(to, n_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emulated_fill((void *)(uintptr_t)to, byte, n_bytes);
    return state();
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t n_bytes, CUstream stream)
{
    (void)stream;
    return cuMemsetD8(to, byte, n_bytes);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < c->Height && result == CUDA_SUCCESS; i++) {
        result = cuMemcpyDtoDAsync(c->dstDevice + i * c->dstPitch, c->srcDevice + i * c->srcPitch,
                                   c->WidthInBytes, stream);
    }
    return result != CUDA_SUCCESS ? result : state();
}

/* ---- kernels ---- */

/* Images are told apart by content: the program has copies of its own. */
CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    size_t n_bytes = image_bytes(image);
    for (size_t i = 0; i < sizeof modules / sizeof *modules && !has_fault("image"); i++) {
        if (image_bytes(modules[i].image) == n_bytes &&
            memcmp(modules[i].image, image, n_bytes) == 0) {
            *out = (CUmodule)(uintptr_t)modules[i].kernels;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult cuModuleUnload(CUmodule module)
{
    return module == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    for (const simt_kernel *k = (const simt_kernel *)module; k->name != NULL; k++) {
        if (strcmp(k->name, name) == 0) {
            *out = (CUfunction)(uintptr_t)k;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction f)
{
    (void)attribute;
    (void)f;
    *out = 0;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                        void **params, void **extra)
{
    (void)shared_bytes;
    (void)stream;
    (void)extra;
    if (gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (here() < 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    /* one at a time: the threads of a launch are in static memory */
    emulated_enter(here());
    simt_launch((const simt_kernel *)f, (const unsigned[]){gx, gy, gz},
                (const unsigned[]){bx, by, bz}, params);
    emulated_leave(here());
    return state_after_kernel();
}

/* ---- streams and events: everything is done when a call returns; every record takes 1 ms ---- */

struct CUevent_st {
    int ms;
};

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    static atomic_uintptr_t n;
    (void)flags;
    *out = (CUstream)(atomic_fetch_add_explicit(&n, 1, memory_order_relaxed) + 16);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return state();
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    (void)flags;
    *out = calloc(1, sizeof **out);
    return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    static atomic_int n;
    (void)stream;
    event->ms = atomic_fetch_add_explicit(&n, 1, memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
    (void)event;
    return state();
}

CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    *ms = (float)(end->ms - begin->ms);
    return CUDA_SUCCESS;
}
