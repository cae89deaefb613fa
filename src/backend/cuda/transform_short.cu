/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The passes of transforms with a table of factors that ends before the domain does: transform.h
 * says what. Built once per curve. */
#include "backend/cuda/transform_pass.cuh"

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_forward_short(cuzk_transform_args a)
{
    run_forward<CUZK_TRANSFORM_LG_TILE, true, true, false>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_inverse_short(cuzk_transform_args a)
{
    run_inverse<CUZK_TRANSFORM_LG_TILE, true, true, false>(a);
}
