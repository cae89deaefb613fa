/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which inner loops this process uses: chosen once from what the processor has, or pinned.
 *
 * Environment variable CUZK_CPU = portable | adx | ifma | ifma-emulated pins the path (for tests).
 * A path that the processor lacks is refused by cuzk_cpu_check, never silently replaced.
 * "ifma-emulated" runs the eight-lane code with its vector operations in plain C: slow, bit for bit
 * the same algorithm, so that it is tested on machines without AVX-512. */
#ifndef CUZK_BASE_CPU_H
#define CUZK_BASE_CPU_H

#include "base/status.h"

typedef enum {
    CUZK_CPU_PORTABLE = 0,
    CUZK_CPU_ADX = 1,           /* x86-64 with BMI2 (MULX) and ADX */
    CUZK_CPU_IFMA = 2,          /* ADX, and AVX-512 F, DQ, BW, VL, IFMA, VBMI for the bulk loops */
    CUZK_CPU_IFMA_EMULATED = 3, /* bulk loops of IFMA in plain C, the rest portable */
    CUZK_CPU_PATH_COUNT = 4
} cuzk_cpu_path;

/** Name of a path as in CUZK_CPU. */
const char *cuzk_cpu_path_name(cuzk_cpu_path path);

/** Whether this processor (and its operating system) can run a path. Portable: always. */
bool cuzk_cpu_supports(cuzk_cpu_path path);

/** The path of this process: the pinned one if CUZK_CPU is set, valid and supported, else the best.
 *  Decided at the first call, then constant. Thread-safe. */
cuzk_cpu_path cuzk_cpu_path_get(void);

/** CUZK_OK, or E_ARGUMENT when CUZK_CPU names an unknown path or one the processor lacks. Programs
 *  call it before they do any work. */
cuzk_status cuzk_cpu_check(cuzk_error *err) CUZK_WARN_UNUSED;

#endif
