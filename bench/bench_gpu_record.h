/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording (docs/timeline.md) of what a program that times a CUDA device did, written as the
 * daemon writes one. Errors end the program. */
#ifndef CUZK_BENCH_GPU_RECORD_H
#define CUZK_BENCH_GPU_RECORD_H

#include "timeline/catalogue.h"

/** Record from now on, jobs of n_units proofs each. Until then the functions below do nothing.
 *  device: its index of the CUDA driver. kind: what the jobs are called. */
void bench_record_start(unsigned device, unsigned n_workers, unsigned n_units, const char *kind);

/** Proofs 0 to n - 1 have come. Call it once, before any of them begins. */
void bench_record_accept(unsigned n);

/** From here on this thread, a worker of the device, is at work on that proof, which waited for it
 *  since it came. */
void bench_record_work(unsigned worker, unsigned proof);

/** What the thread works on was in that stage from begin_ns to end_ns. */
void bench_record_span(cuzk_span_name name, uint64_t begin_ns, uint64_t end_ns);

/** Its proof is done. */
void bench_record_done(void);

/** Write the recording. */
void bench_record_write(const char *path);

#endif
