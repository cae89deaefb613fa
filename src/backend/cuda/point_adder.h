/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host side of point_add.h: loads the kernels of a curve, plans and launches batches. */
#ifndef CUZK_BACKEND_CUDA_POINT_ADDER_H
#define CUZK_BACKEND_CUDA_POINT_ADDER_H

#include "backend/cuda/device_times.h"
#include "backend/cuda/point_add.h"
#include "curve/curve.h"

typedef struct {
    const cuzk_cuda_api *api;
    CUmodule module;
    CUfunction prefix[2][CUZK_ADD_SOURCES]; /* by cuzk_group_id and source */
    CUfunction inverse[2];
    CUfunction finish[2][CUZK_ADD_SOURCES];
    cuzk_device_times *times; /* marks of what is launched, or NULL; borrowed */
    /* Threads of finish that the device runs at once, 0: not known. */
    uint32_t wave[2][CUZK_ADD_SOURCES];
} cuzk_point_adder;

/** Load the kernels of a curve into the current context. Errors: E_DEVICE. */
cuzk_status cuzk_point_adder_open(cuzk_point_adder *out, const cuzk_cuda_api *api,
                                  cuzk_curve_id curve, cuzk_error *err) CUZK_WARN_UNUSED;

/** From here on batches of a few waves of threads on a device of n_sms multiprocessors have whole
 *  ones: what runs in a last wave that is nearly empty takes as long as in a full one.
 *  Errors: E_DEVICE. */
cuzk_status cuzk_point_adder_fit(cuzk_point_adder *adder, unsigned n_sms,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Unload them; nothing may be running. */
void cuzk_point_adder_close(cuzk_point_adder *adder);

/** Bytes of workspace for a batch of n_pairs additions. */
size_t cuzk_point_add_workspace_bytes(const cuzk_group *group, uint32_t n_pairs);

/** The most that a batch of up to n_pairs additions needs. */
size_t cuzk_point_add_workspace_bytes_max(const cuzk_group *group, uint32_t n_pairs);

/** Fill n_threads, n_inverses and the workspace addresses for args->n_pairs additions.
 *
 *  workspace: that many bytes of device memory, 16-byte aligned, borrowed until the batch is done.
 */
void cuzk_point_add_plan(cuzk_add_args *args, const cuzk_group *group, CUdeviceptr workspace);

/** Launch the three kernels on a stream, or what of them there is to do, and return without
 * waiting.
 *
 *  kind: what the time counts as; but for the reduction inversions count as such. args: planned;
 * operands and outputs as point_add.h says for `source`. Errors: E_DEVICE
 * from the launches; errors inside the kernels come with a later call. */
cuzk_status cuzk_point_add_launch(const cuzk_point_adder *adder, cuzk_group_id group,
                                  cuzk_add_source source, cuzk_time_kind kind,
                                  const cuzk_add_args *args, CUstream stream,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

#endif
