/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How long the stages of a partition were measured to take: what `cuzk plan` goes by without a
 * recording. A number is here only with the file that it was measured into. */
#ifndef CUZK_API_DURATIONS_H
#define CUZK_API_DURATIONS_H

#include <stdint.h>

typedef struct {
    const char *circuit;
    uint32_t witness_us; /* of one core */
    uint32_t copy_us;    /* upload, from pageable memory */
    uint32_t lane_us;    /* wall time a proof with two workers, the key resident */
    uint32_t kernel_us;  /* of it at least one kernel runs */
    uint32_t finish_us;  /* the host's part at the end */
    uint32_t verify_us;  /* 0: not measured */
} cuzk_durations;

/* Witnesses: the first of the files below. Copies, lanes, kernels and verdicts of porep-32g and
 * winning-32g: whole proofs, the second; of the others, and what the host does at the end: the
 * third. */
#define CUZK_DURATIONS_SOURCE                                                                      \
    "measured (docs/performance.md): bench/results/circuit_intel_ifma_2026-11-30.csv, one core of" \
    " a Xeon with AVX-512 IFMA; gpu_full_h200_2026-12-01.json and "                                \
    "gpu_partitions_h200_2026-12-01_lane.csv, one NVIDIA H200; decoding and the journal are not "  \
    "in it, and of snap and wpost no verification"

static const cuzk_durations cuzk_durations_measured[] = {
    {"porep-32g", 75200, 15800, 869000, 855200, 3100, 3400},
    {"snap-32g", 48000, 7000, 842000, 836000, 3400, 0},
    {"wpost-32g", 3570300, 512000, 3520000, 3265000, 5700, 0},
    {"winning-32g", 6800, 1400, 19900, 18800, 2900, 3200},
};

#endif
