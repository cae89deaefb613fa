/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the programs that time a CUDA device share. */
#include "bench_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

cuzk_cuda_device device;
int n_runs = 5;

void must(cuzk_status status, const cuzk_error *error)
{
    if (status != CUZK_OK) {
        fprintf(stderr, "bench: %s\n", error->text);
        exit(1);
    }
}

static uint64_t random_state = 1;

uint64_t random_u64(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

CUdeviceptr device_bytes(const void *from, size_t n_bytes)
{
    CUdeviceptr p = 0;
    DRIVER(cuMemAlloc, (&p, n_bytes));
    if (from == NULL) {
        DRIVER(cuMemsetD8, (p, 0xcc, n_bytes));
    } else {
        DRIVER(cuMemcpyHtoD, (p, from, n_bytes));
    }
    return p;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

float median_ms(void (*launch)(void *), void *context)
{
    float ms[RUNS_MAX];
    CUevent begin, end;
    DRIVER(cuEventCreate, (&begin, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate, (&end, CU_EVENT_DEFAULT));
    launch(context);
    for (int i = 0; i < n_runs; i++) {
        DRIVER(cuEventRecord, (begin, NULL));
        launch(context);
        DRIVER(cuEventRecord, (end, NULL));
        DRIVER(cuEventSynchronize, (end));
        DRIVER(cuEventElapsedTime, (&ms[i], begin, end));
    }
    DRIVER(cuEventDestroy, (begin));
    DRIVER(cuEventDestroy, (end));
    qsort(ms, (size_t)n_runs, sizeof(*ms), compare_floats);
    return ms[n_runs / 2];
}

CUdeviceptr make_tables(const cuzk_group *g)
{
    cuzk_jac *p = malloc(2 * TABLE * sizeof(*p)), step;
    char *packed = malloc(2 * TABLE * g->affine_bytes);
    cuzk_affine generator;
    g->generator(&generator);
    g->from_affine(&step, &generator);
    p[0] = step;
    for (int i = 1; i < 2 * TABLE; i++) {
        if (i == TABLE) { /* the second table strides by TABLE·G, past the first */
            step = p[TABLE - 1];
            g->add_affine(&step, &step, &generator);
        }
        g->add(&p[i], &p[i - 1], &step);
    }
    g->batch_to_affine(packed, p, 2 * TABLE);
    CUdeviceptr d = device_bytes(packed, 2 * TABLE * g->affine_bytes);
    free(p);
    free(packed);
    return d;
}

void fill_list(CUdeviceptr list, size_t n_pairs, uint32_t n_bases, bool tables)
{
    uint32_t *entries = malloc(8 * n_pairs);
    for (size_t i = 0; i < n_pairs; i++) {
        if (tables) { /* all sums of an entry of one table and one of the other, then again */
            entries[2 * i] = (uint32_t)(i % TABLE) * 2;
            entries[2 * i + 1] = (uint32_t)(TABLE + i / TABLE % TABLE) * 2;
        } else {
            uint64_t r = random_u64();
            entries[2 * i] = (uint32_t)((r & 0xffffffff) % n_bases) * 2 + (uint32_t)(r >> 63);
            entries[2 * i + 1] = (uint32_t)((r >> 31 & 0xffffffff) % n_bases) * 2;
        }
    }
    DRIVER(cuMemcpyHtoD, (list, entries, 8 * n_pairs));
    free(entries);
}

void copy_columns(CUdeviceptr to, size_t to_pitch, CUdeviceptr from, size_t width, size_t n)
{
    enum { ROWS = 1 << 16 };
    for (size_t done = 0; done < n; done += ROWS) {
        CUDA_MEMCPY2D c = {0};
        c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        c.srcDevice = from + done * width;
        c.dstDevice = to + done * to_pitch;
        c.srcPitch = width;
        c.dstPitch = to_pitch;
        c.WidthInBytes = width;
        c.Height = n - done < ROWS ? n - done : ROWS;
        DRIVER(cuMemcpy2DAsync, (&c, NULL));
    }
    DRIVER(cuCtxSynchronize, ());
}

void bench_gpu_open(int index)
{
    cuzk_error error = {0};
    must(cuzk_cuda_device_open(&device, index, &error), &error);
    time_t now = time(NULL);
    char date[32];
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    printf("# %s, capability %d, %d SMs, %d MHz, driver %d, %s, %d runs\n", device.name,
           device.capability, device.n_sms, device.clock_khz / 1000, device.driver_version, date,
           n_runs);
}
