/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the programs that time a CUDA device share. Errors end the program. */
#ifndef CUZK_BENCH_GPU_H
#define CUZK_BENCH_GPU_H

#include "backend/cuda/device.h"
#include "curve/curve.h"

enum { RUNS_MAX = 100, TABLE = 1024 };

extern cuzk_cuda_device device;
extern int n_runs;

/** Open device `index` and print the line of facts that begins a result. */
void bench_gpu_open(int index);

/** Print the error and exit unless status is CUZK_OK. */
void must(cuzk_status status, const cuzk_error *error);

/* A driver call that must succeed. */
#define DRIVER(name, args)                                                                         \
    do {                                                                                           \
        cuzk_error error_ = {0};                                                                   \
        must(cuzk_cuda_check(device.api, CUZK_CU(device.api, name) args, #name, __FILE__,          \
                             __LINE__, &error_),                                                   \
             &error_);                                                                             \
    } while (0)

uint64_t random_u64(void);

/** Device memory of n_bytes filled with 0xcc, or with what `from` holds. */
CUdeviceptr device_bytes(const void *from, size_t n_bytes);

/** Median milliseconds of launch(context) by device events, after one that does not count. */
float median_ms(void (*launch)(void *), void *context);

/** Two tables of TABLE packed multiples of the generator, all different: entry i of the first is
 *  i + 1 times the generator, entry i of the second TABLE + (i + 1)·(TABLE + 1) times. */
CUdeviceptr make_tables(const cuzk_group *g);

/** Fill a list of 2·n_pairs entries: with `tables`, all sums of an entry of one table and one of
 * the other, then again; else random ones of n_bases, some negated. */
void fill_list(CUdeviceptr list, size_t n_pairs, uint32_t n_bases, bool tables);

/** Copy n columns of `width` bytes from a packed array to one with to_pitch bytes a row. */
void copy_columns(CUdeviceptr to, size_t to_pitch, CUdeviceptr from, size_t width, size_t n);

#endif
