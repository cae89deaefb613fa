/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Passes of transforms with blocks of sizes that the engine does not use, to be measured. Built
 * once per curve. */
#include "backend/cuda/transform_pass.cuh"

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_inverse_large(cuzk_transform_args a)
{
    run_inverse<CUZK_TRANSFORM_LG_TILE, false, false, true>(a);
}
