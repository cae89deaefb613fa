/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backend/cuda/byte_summer.h"

#include "backend/cuda/byte_sum.h"
#include "backend/cuda/image.h"

#include <stdlib.h>

enum { SUMS_BYTES = 8 * CUZK_BYTE_SUM_THREADS };

static cuzk_status open_all(cuzk_byte_summer *s, cuzk_error *err)
{
    const cuzk_cuda_api *api = s->api;
    s->on_host = malloc(SUMS_BYTES);
    CUZK_FAIL_IF(s->on_host == NULL, err, CUZK_E_MEMORY, "summing device memory: out of memory");
    CUZK_CUDA_TRY(api, err, cuModuleLoadData, (&s->module, CUZK_IMAGE(byte_sum, bls12_381)));
    CUZK_CUDA_TRY(api, err, cuModuleGetFunction, (&s->kernel, s->module, "byte_sum"));
    CUresult result = CUZK_CU(api, cuMemAlloc)(&s->sums, SUMS_BYTES);
    if (result != CUDA_SUCCESS) {
        s->sums = 0;
    }
    CUZK_FAIL_IF(result == CUDA_ERROR_OUT_OF_MEMORY, err, CUZK_E_MEMORY,
                 "summing device memory: %d bytes of it are needed", (int)SUMS_BYTES);
    return cuzk_cuda_check(api, result, "cuMemAlloc", __FILE__, __LINE__, err);
}

cuzk_status cuzk_byte_summer_open(cuzk_byte_summer *out, const cuzk_cuda_api *api, cuzk_error *err)
{
    cuzk_byte_summer s = {.api = api};
    cuzk_status status = open_all(&s, err);
    if (status != CUZK_OK) {
        cuzk_byte_summer_close(&s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void cuzk_byte_summer_close(cuzk_byte_summer *s)
{
    if (s->sums != 0) {
        (void)CUZK_CU(s->api, cuMemFree)(s->sums);
    }
    if (s->module != NULL) {
        (void)CUZK_CU(s->api, cuModuleUnload)(s->module);
    }
    free(s->on_host);
    *s = (cuzk_byte_summer){0};
}

cuzk_status cuzk_byte_sum(const cuzk_byte_summer *s, uint64_t *out, CUdeviceptr at, size_t n_bytes,
                          CUstream stream, cuzk_error *err)
{
    cuzk_byte_sum_args args = {.words = (const uint64_t *)(uintptr_t)at,
                               .sums = (uint64_t *)(uintptr_t)s->sums,
                               .n_words = n_bytes / 8};
    void *params[] = {&args};
    CUZK_CUDA_TRY(s->api, err, cuLaunchKernel,
                  (s->kernel, CUZK_BYTE_SUM_BLOCKS, 1, 1, CUZK_BYTE_SUM_BLOCK, 1, 1, 0, stream,
                   params, NULL));
    CUZK_CUDA_TRY(s->api, err, cuStreamSynchronize, (stream));
    CUZK_CUDA_TRY(s->api, err, cuMemcpyDtoH, (s->on_host, s->sums, SUMS_BYTES));
    uint64_t h = 0;
    for (size_t i = 0; i < CUZK_BYTE_SUM_THREADS; i++) {
        h = (h ^ s->on_host[i]) * CUZK_BYTE_SUM_MIX;
        h ^= h >> 29;
    }
    *out = h;
    return CUZK_OK;
}
