/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many threads each stage of the engine has where nobody says. */
#ifndef CUZK_WORK_STAGE_THREADS_H
#define CUZK_WORK_STAGE_THREADS_H

typedef struct {
    unsigned n_decoders, n_witness, n_finishers, n_verifiers; /* 0: as many as are needed */
} cuzk_stage_threads;

/** Fill in what is 0. Of each stage two, and beyond two devices one a device: what takes a device
 *  the least time, a Winning PoSt of 32GiB, takes each of these stages a fifth of it or less
 *  (docs/performance.md, "The host beside several cards"). Witness makers: one a processor, at most
 *  18 or, with more than four devices, four a device. */
cuzk_stage_threads cuzk_stage_threads_fill(cuzk_stage_threads asked, unsigned n_devices,
                                           unsigned n_processors);

#endif
