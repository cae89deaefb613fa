/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backend/cuda/point_decoder.h"

#include "backend/cuda/image.h"
#include "backend/cuda/point_decode.h"

cuzk_status cuzk_point_decoder_open(cuzk_point_decoder *out, const cuzk_cuda_api *api,
                                    cuzk_error *err)
{
    static const char *const names[2] = {[CUZK_G1] = "g1_decode", [CUZK_G2] = "g2_decode"};
    cuzk_point_decoder d = {.api = api};
    CUZK_CUDA_TRY(api, err, cuModuleLoadData, (&d.module, CUZK_IMAGE(point_decode, bls12_381)));
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        CUresult result = CUZK_CU(api, cuModuleGetFunction)(&d.decode[g], d.module, names[g]);
        if (result != CUDA_SUCCESS) {
            cuzk_point_decoder_close(&d);
            return cuzk_cuda_check(api, result, "cuModuleGetFunction", __FILE__, __LINE__, err);
        }
    }
    *out = d;
    return CUZK_OK;
}

void cuzk_point_decoder_close(cuzk_point_decoder *d)
{
    if (d->module != NULL) {
        (void)CUZK_CU(d->api, cuModuleUnload)(d->module);
        d->module = NULL;
    }
}

cuzk_status cuzk_point_decoder_run(const cuzk_point_decoder *d, cuzk_group_id group,
                                   CUdeviceptr points, uint32_t first, uint32_t n,
                                   CUdeviceptr worst, CUstream stream, cuzk_error *err)
{
    cuzk_decode_args args = {.points = (void *)(uintptr_t)points,
                             .worst = (void *)(uintptr_t)worst,
                             .n = n,
                             .first = first};
    void *params[] = {&args};
    if (n == 0) {
        return CUZK_OK;
    }
    unsigned blocks = (unsigned)(((uint64_t)n + CUZK_DECODE_BLOCK - 1) / CUZK_DECODE_BLOCK);
    CUZK_CUDA_TRY(
        d->api, err, cuLaunchKernel,
        (d->decode[group], blocks, 1, 1, CUZK_DECODE_BLOCK, 1, 1, 0, stream, params, NULL));
    return CUZK_OK;
}
