/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalars in halves and images of points: constants and launches. */
#include "backend/cuda/endomorphism.h"
#include "backend/cuda/point_summer_impl.h"
#include "field/halves_consts.h"

#include <string.h>

void cuzk_sum_largest(uint64_t o[4], const cuzk_curve *curve, bool halves)
{
    static const uint64_t most[][2] = {
        [CUZK_CURVE_BN254] = CUZK_BN254_GLV_MOST, [CUZK_CURVE_BLS12_381] = CUZK_BLS12_381_GLV_MOST};
    memset(o, 0, 4 * sizeof *o);
    if (halves) {
        memcpy(o, most[curve->id], sizeof most[0]);
        return;
    }
    for (int i = 0; i < 4; i++) { /* half the order, which is odd */
        o[i] = curve->r[i] >> 1 | (i < 3 ? curve->r[i + 1] << 63 : 0);
    }
}

cuzk_status cuzk_point_images(const cuzk_point_summer *s, cuzk_group_id group, CUdeviceptr bases,
                              CUdeviceptr index, uint32_t n, CUdeviceptr out, CUstream stream,
                              cuzk_error *err)
{
    cuzk_images_args args = {.bases = cuzk_device_address(bases),
                             .index = cuzk_device_address(index),
                             .out = cuzk_device_address(out),
                             .n = n};
    return cuzk_sum_launch(s, s->points_images[group], n, CUZK_IMAGES_BLOCK, &args, stream, err);
}
