/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A driver whose device is the host: memory from malloc, kernels through simt.c, at once. Entries
 * that the tests do not need are NULL. */
#include "backend/cuda/image.h"
#include "device_test.h"
#include "simt_launch.h"

#define MODULES(X) X(point_add) X(field_check) X(transform) X(bucket) X(bucket_reduce)

#define DECLARE(stem) extern const simt_kernel simt_##stem##_bn254[], simt_##stem##_bls12_381[];
MODULES(DECLARE)

#define ENTRIES(stem)                                                                              \
    {CUZK_IMAGE(stem, bn254), simt_##stem##_bn254},                                                \
        {CUZK_IMAGE(stem, bls12_381), simt_##stem##_bls12_381},
static const struct {
    const void *image;
    const simt_kernel *kernels; /* ends with a NULL name */
} modules[] = {MODULES(ENTRIES)};

static CUresult load_module(CUmodule *out, const void *image)
{
    for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
        if (modules[i].image == image) {
            *out = (CUmodule)(uintptr_t)modules[i].kernels;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_IMAGE;
}

static CUresult unload_module(CUmodule module)
{
    return module == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *out, CUmodule module, const char *name)
{
    for (const simt_kernel *k = (const simt_kernel *)module; k->name != NULL; k++) {
        if (strcmp(k->name, name) == 0) {
            *out = (CUfunction)(uintptr_t)k;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                       void **params, void **extra)
{
    (void)shared_bytes;
    (void)stream;
    (void)extra;
    if (gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    simt_launch((const simt_kernel *)f, (const unsigned[]){gx, gy, gz},
                (const unsigned[]){bx, by, bz}, params);
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *out, size_t n_bytes)
{
    void *p = aligned_alloc(256, (n_bytes + 255) & ~(size_t)255);
    *out = (CUdeviceptr)(uintptr_t)p;
    return p == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr p)
{
    free((void *)(uintptr_t)p);
    return CUDA_SUCCESS;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t n_bytes)
{
    memcpy((void *)(uintptr_t)to, from, n_bytes);
    return CUDA_SUCCESS;
}

static CUresult from_device(void *to, CUdeviceptr from, size_t n_bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, n_bytes);
    return CUDA_SUCCESS;
}

static CUresult from_device_async(void *to, CUdeviceptr from, size_t n_bytes, CUstream stream)
{
    (void)stream;
    return from_device(to, from, n_bytes);
}

static CUresult set_bytes(CUdeviceptr to, unsigned char byte, size_t n_bytes)
{
    memset((void *)(uintptr_t)to, byte, n_bytes);
    return CUDA_SUCCESS;
}

static CUresult set_bytes_async(CUdeviceptr to, unsigned char byte, size_t n_bytes, CUstream stream)
{
    (void)stream;
    return set_bytes(to, byte, n_bytes);
}

static CUresult synchronize(void)
{
    return CUDA_SUCCESS;
}

static CUresult set_current(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult synchronize_stream(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult error_text(CUresult result, const char **out)
{
    (void)result;
    *out = "emulated driver";
    return CUDA_SUCCESS;
}

void device_test_open(void)
{
    static cuzk_cuda_api api;
    CUZK_CU(&api, cuGetErrorName) = error_text;
    CUZK_CU(&api, cuGetErrorString) = error_text;
    CUZK_CU(&api, cuModuleLoadData) = load_module;
    CUZK_CU(&api, cuModuleUnload) = unload_module;
    CUZK_CU(&api, cuModuleGetFunction) = get_function;
    CUZK_CU(&api, cuLaunchKernel) = launch;
    CUZK_CU(&api, cuMemAlloc) = allocate;
    CUZK_CU(&api, cuMemFree) = release;
    CUZK_CU(&api, cuMemcpyHtoD) = to_device;
    CUZK_CU(&api, cuMemcpyDtoH) = from_device;
    CUZK_CU(&api, cuMemsetD8) = set_bytes;
    CUZK_CU(&api, cuMemcpyDtoHAsync) = from_device_async;
    CUZK_CU(&api, cuMemsetD8Async) = set_bytes_async;
    CUZK_CU(&api, cuCtxSetCurrent) = set_current;
    CUZK_CU(&api, cuCtxSynchronize) = synchronize;
    CUZK_CU(&api, cuStreamSynchronize) = synchronize_stream;
    device = (cuzk_cuda_device){.api = &api, .name = "emulated", .capability = 90, .n_sms = 1};
    printf("device: emulated on the host\n");
}

bool device_test_is_emulated(void)
{
    return true;
}
