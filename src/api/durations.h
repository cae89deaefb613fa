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
} cuzk_durations;

#define CUZK_DURATIONS_SOURCE                                                                      \
    "witness: one core of a Xeon with AVX-512 IFMA, bench/results/"                                \
    "circuit_intel_ifma_2026-11-30.csv; the rest: one NVIDIA H200, bench/results/"                 \
    "gpu_partitions_h200_2026-12-01_lane.csv (docs/performance.md, \"Partitions of 32GiB\"); "     \
    "decoding, verifying and the journal are not in it"

static const cuzk_durations cuzk_durations_measured[] = {
    {"porep-32g", 75200, 11300, 875000, 871000, 3100},
    {"snap-32g", 48000, 7000, 842000, 836000, 3400},
    {"wpost-32g", 3570300, 512000, 3520000, 3265000, 5700},
    {"winning-32g", 6800, 1900, 20000, 19700, 2900},
};

#endif
