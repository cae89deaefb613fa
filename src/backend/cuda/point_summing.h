/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums on a device step by step, so that launches run ahead of the device and several sums share
 * it: what point_summer.h does in one call.
 *
 *     begin → run → (the stream is done) → end
 *
 * The sizes of the rounds of a group of windows come back while the group before is added up; the
 * host waits for the first ones only. Results come back to pinned memory and are put together by
 * the host in `end`. */
#ifndef CUZK_BACKEND_CUDA_POINT_SUMMING_H
#define CUZK_BACKEND_CUDA_POINT_SUMMING_H

#include "backend/cuda/bucket_reduce.h"
#include "backend/cuda/point_summer.h"

/* What comes back from the device for one sum at a time. */
struct cuzk_sum_mail {
    const cuzk_cuda_api *api;
    char *bytes;      /* pinned */
    CUevent ready[2]; /* sizes of rounds are there, for groups with even and odd numbers */
};

/** Pinned memory and events. Returned: close. Errors: E_DEVICE. */
cuzk_status cuzk_sum_mail_open(cuzk_sum_mail *mail, const cuzk_cuda_api *api,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** All zero is fine. */
void cuzk_sum_mail_close(cuzk_sum_mail *mail);

/* Places of a sum by buckets in its workspace. */
typedef struct {
    size_t images;       /* of bases */
    size_t codes;        /* digits of several windows */
    size_t entries[3];   /* before and after a pass of the sort; sorted ones of the group before */
    size_t counts;       /* of the sort's tiles */
    size_t segments;     /* where the windows of a group begin */
    size_t scan;         /* sums of the scan's tiles */
    size_t bounds[2];    /* where buckets begin in sorted entries, by the group's parity */
    size_t begin[3];     /* positions of the buckets of a group in the rounds, in turn */
    size_t final_before; /* the same before the last round, for all groups … */
    size_t final_begin;  /* … and after it */
    size_t keys[2], list, totals[2];
    size_t x[2], y[2];             /* points of a round */
    size_t final_x, final_y;       /* points after the last round, for all groups */
    size_t adder;                  /* workspace of the additions */
    size_t dense_x[2], dense_y[2]; /* sections of the reduction, before and after a level … */
    size_t dense_adder;            /* … in the place of what the rounds used */
    size_t sums;                   /* Jacobian points: cuzk_sum_count(plan) a part of a window */
    size_t total;
    uint32_t n_buckets; /* of a group */
} cuzk_sum_layout;

/* What determines a layout. */
typedef struct {
    uint32_t n_scalars;
    uint32_t n;          /* entries of a window: one a scalar, two where it is halved */
    bool is_halved;      /* scalars are cut in two */
    bool has_images;     /* their bases' images are made in the workspace */
    uint32_t n_windows;  /* of the sum */
    uint32_t n_narrow;   /* the windows before this one are a bit narrower than the others */
    uint32_t lg_part;    /* a narrow window has 2^lg_part buckets, a wide one two such parts */
    uint32_t lg_buckets; /* of the widest windows: room that every window has */
    uint32_t together, n_groups; /* windows of a group; groups */
    uint32_t coded;              /* windows whose digits are made at once: whole groups */
} cuzk_sum_plan;

/* A sum of scalar multiples under way. */
typedef struct {
    const cuzk_point_summer *s;
    const cuzk_group *group;
    cuzk_point_sum_params params;
    CUdeviceptr workspace;
    CUstream stream;
    const cuzk_sum_mail *mail;
    cuzk_sum_plan plan;
    cuzk_sum_layout l;
    int sorted[2];    /* which entries hold the sorted ones, by the group's parity; -1: none */
    uint32_t n_final; /* points after last rounds so far */
    uint32_t points_before[CUZK_BUCKET_GROUPS_MAX]; /* of each group */
    uint32_t pairs[CUZK_BUCKET_GROUPS_MAX];         /* of each group's last round */
    CUdeviceptr origin;                             /* what bases and images are counted from … */
    uint64_t at[2];                                 /* … in coordinates (point_add.h) */
} cuzk_summing;

/** Launch the sort of the first group. Does not wait.
 *
 *  out: written, also where params are refused. workspace: cuzk_point_sum_bytes bytes, mail:
 *  both borrowed until end. Errors: as cuzk_point_sum. */
cuzk_status cuzk_summing_begin(cuzk_summing *out, const cuzk_point_summer *s,
                               const cuzk_point_sum_params *params, CUdeviceptr workspace,
                               const cuzk_sum_mail *mail, CUstream stream,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Launch the rest. Waits until the sizes of the first group's rounds are there. */
cuzk_status cuzk_summing_run(cuzk_summing *c, cuzk_error *err) CUZK_WARN_UNUSED;

/** The sum, once the stream is done with what `run` launched. The host's work: a doubling a bit of
 * a scalar, and as many additions. */
void cuzk_summing_end(const cuzk_summing *c, cuzk_jac *sum);

/* A sum by bits under way. */
typedef struct {
    const cuzk_group *group;
    const cuzk_sum_mail *mail;
    uint32_t n_sums; /* that come back */
} cuzk_bit_summing;

/** Launch all of it. params->n_ones: exactly the ones that are selected. Does not wait. Otherwise
 *  as cuzk_summing_begin. */
cuzk_status cuzk_bit_summing_run(cuzk_bit_summing *out, const cuzk_point_summer *s,
                                 const cuzk_point_bits_params *params, CUdeviceptr workspace,
                                 const cuzk_sum_mail *mail, CUstream stream,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** The sum, once the stream is done. */
void cuzk_bit_summing_end(const cuzk_bit_summing *c, cuzk_jac *sum);

#endif
