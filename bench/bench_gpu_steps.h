/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of bench_gpu_steps. */
#ifndef CUZK_BENCH_GPU_STEPS_H
#define CUZK_BENCH_GPU_STEPS_H

#include "bench_gpu.h"

#include <stdbool.h>

/** Print a line of the table. lane_cycles: what the step costs the multiplier pipe at least; right:
 * whether the result was; one that was not makes the program fail. */
void print_row(const char *curve, const char *operation, unsigned lg_n, float ms,
               double lane_cycles, bool right);

/** n random elements below the order, to be freed: uniform but for the highest word, whose largest
 * value is left out. */
uint64_t *random_elements(const cuzk_curve *curve, size_t n);

/** Lines for transforms and quotients: of 2^lg_max points, or what the curve has, and smaller ones
 * in steps of 3. with_tiles: all sizes from 2^20, and transforms with other kernels than usual. */
void bench_transforms(const cuzk_curve *curve, unsigned lg_max, bool with_tiles);

#endif
