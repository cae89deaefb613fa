/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of bench_gpu_full share. */
#ifndef CUZK_BENCH_GPU_FULL_H
#define CUZK_BENCH_GPU_FULL_H

#include "api/filecoin.h"
#include "work/filecoin_work.h"

/* ---- bench_gpu_full_key.c ---- */

/* Keys of a fixed trapdoor, their points made on the device. One at a time. */
typedef struct {
    const cuzk_ctx *ctx;
    const char *vk_path; /* where its verifying key is written */
    struct cuzk_device_key *key;
} full_keys;

/** A maker of keys over `keys`, which it borrows. */
cuzk_filecoin_key_maker full_key_maker(full_keys *keys);

/** How long its steps took, as a comment of the CSV. */
void full_keys_print(const full_keys *keys);

/** After the engine's and the work's end, and before the context's. */
void full_keys_clear(full_keys *keys);

/* ---- bench_gpu_full_report.c ---- */

/* A job, by the host's clock (cuzk_now_ns): from the call that submits it to the answer. */
typedef struct {
    char name[32]; /* the step's group: "cold", "warm", "queue" */
    uint64_t submitted_ns, answered_ns;
    uint64_t seq; /* the engine's number; found in the recording by its id */
    char id[32];
} full_job;

/** Print the CSV of jobs from the recording at `path`: a row a step; of "warm" ones the medians.
 *  name: "porep,32GiB". n_partitions: of a job. Errors end the program. */
void full_report(const char *name, const char *path, full_job *jobs, size_t n_jobs,
                 unsigned n_partitions);

#endif
