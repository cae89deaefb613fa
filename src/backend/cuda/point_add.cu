/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Batched affine additions in both groups of one curve: point_add.h says what, point_add_tmpl.cuh
 * how. Built once per curve. Blocks per SM by measurement on compute capability 9.0. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/point_add.h"
#include "field/fields.h"

#define PA(name)  g1_##name
#define CF(name)  fp_##name
#define CF_TYPE   fp
#define PA_BLOCKS 4
#include "backend/cuda/point_add_tmpl.cuh"

#define PA(name)  g2_##name
#define CF(name)  fp2_##name
#define CF_TYPE   fp2
#define PA_BLOCKS 2
#include "backend/cuda/point_add_tmpl.cuh"
