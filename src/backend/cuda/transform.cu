/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The passes of transforms with a whole table of factors: transform.h says what. Built once per
 * curve. */
#include "backend/cuda/transform_pass.cuh"

/* The first pass modulo X^n - 1: some of its factors are 1. */
CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_forward_first(cuzk_transform_args a)
{
    run_forward<CUZK_TRANSFORM_LG_TILE, false, false, true>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_SMALL_TILE) transform_forward(cuzk_transform_args a)
{
    /* Its code for factors 1 runs where bench_gpu_transforms.c takes it for first passes, too;
     * without that ptxas spills more, and a transform of 2^27 takes 27.3 instead of 26.3 ms. */
    run_forward<CUZK_TRANSFORM_LG_SMALL_TILE, false, false, true>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_SMALL_TILE) transform_inverse(cuzk_transform_args a)
{
    run_inverse<CUZK_TRANSFORM_LG_SMALL_TILE, false, false, true>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_forward_fused(cuzk_transform_args a)
{
    run_forward<CUZK_TRANSFORM_LG_TILE, false, true, false>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_inverse_fused(cuzk_transform_args a)
{
    run_inverse<CUZK_TRANSFORM_LG_TILE, false, true, false>(a);
}

CUZK_PASS_KERNEL(CUZK_TRANSFORM_LG_TILE) transform_turn(cuzk_transform_args a)
{
    run_turn<CUZK_TRANSFORM_LG_TILE>(a);
}
