/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emulated launches: what simt.c gives to the emulated driver. */
#ifndef CUZK_TESTS_SIMT_LAUNCH_H
#define CUZK_TESTS_SIMT_LAUNCH_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;
    void (*run)(void **params); /* the kernel, for the thread that threadIdx and blockIdx name */
} simt_kernel;

/** Run a kernel for every thread of the grid, block after block; params as for cuLaunchKernel.
 *
 *  Threads of a block take turns at barriers, from the first to the last in one launch and from the
 *  last to the first in the next, so that a missing barrier is likely to show in one of them.
 *  Prints and aborts when threads wait for one another in a circle. One caller at a time. */
void simt_launch(const simt_kernel *kernel, const unsigned grid[3], const unsigned block[3],
                 void **params);

#ifdef __cplusplus
}
#endif

#endif
