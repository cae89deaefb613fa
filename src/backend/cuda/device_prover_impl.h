/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of device_prover.h share: a prover, and its parts in the order of its life. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H
#define CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H

#include "backend/cuda/card_plan.h"
#include "backend/cuda/device_prover.h"
#include "backend/cuda/device_rows.h"
#include "backend/cuda/key_stream.h"
#include "backend/cuda/point_decoder.h"
#include "backend/cuda/point_summing.h"
#include "backend/cuda/transformer.h"
#include "groth16/prover_impl.h"

#include <pthread.h>

enum { CUZK_PROVER_SETS = 3, CUZK_PROVER_PARTS = 2 + CUZK_CARD_QUERIES_MAX };

/* One of the other queries than H in a proof under way. */
typedef struct {
    cuzk_group_id group;
    CUdeviceptr bases;
    cuzk_selection selection;
    CUstream stream;
    uint32_t n_ones, n_values; /* that it selects */
    cuzk_summing values;
    cuzk_bit_summing ones;
    cuzk_sum_mail mail_of_values, mail_of_ones;
    bool is_joined; /* made in pieces: the sum is here already */
    cuzk_jac sum;
} cuzk_query_run;

/* A place for a proof: its witness on the device, and what comes back. */
struct cuzk_device_proof {
    unsigned slot; /* of the places */
    bool is_taken; /* guarded by the prover's mutex */
    /* With a streamed key, guarded by it too: the witness is there; a pass uses it; its sums are
     * made, or error says why not. */
    bool is_ready, is_in_pass, is_served;
    cuzk_error error;
    CUstream copies;
    cuzk_device_times *times;
    uint64_t uploaded_ns, run_ns; /* when it was, and when the lane was the proof's */
    uint64_t uploaded_bytes;
    cuzk_sums sums; /* that were made */
    cuzk_sum_mail mail_of_h;
    cuzk_summing of_h;
    bool h_is_joined;
    cuzk_jac h;
    uint32_t *counts; /* pinned: ones and values of each query */
    unsigned n_queries;
    cuzk_query_run queries[CUZK_CARD_QUERIES_MAX]; /* from 1 on, as need.queries */
};

struct cuzk_device_prover {
    const cuzk_cuda_device *device;
    const cuzk_cuda_api *api;
    const cuzk_prover *prover;
    cuzk_prove_device face;
    char name[24];
    bool has_transformer, has_summer, has_rows, has_decoder;
    pthread_mutex_t lane;  /* held by the proof whose kernels are launched; guards what they use:
                              the streams, summer.adder.times, the workspace */
    pthread_mutex_t mutex; /* guards which proofs are taken, and ms */
    pthread_cond_t proof_free; /* with mutex: a proof is not taken any more */
    cuzk_transformer transformer;
    cuzk_point_summer summer;
    cuzk_point_decoder decoder; /* of a key whose points are encoded */
    cuzk_device_rows rows;
    cuzk_card_need need;
    cuzk_card_plan plan;
    cuzk_arena arena;
    cuzk_card_places at;
    size_t support[CUZK_PROVER_SETS], support_rank[CUZK_PROVER_SETS]; /* places, too */
    struct cuzk_streamed *streamed; /* NULL: the key is resident */
    cuzk_stream_stats load;         /* of a resident key */
    cuzk_arrival arrival;
    bool has_sums;                    /* others may copy from it */
    uint64_t sums[CUZK_PROVER_PARTS]; /* of its parts (device_peer.c) */
    /* The lane's: one for all sums, or one for H and each query where these run side by side. */
    CUstream streams[CUZK_CARD_QUERIES_MAX];
    unsigned n_streams;
    cuzk_device_proof proofs[CUZK_CARD_SLOTS_MAX];
    float ms[CUZK_TIME_KINDS]; /* of proofs since they were asked for */
    void (*spans)(void *ctx, const cuzk_device_span *spans, size_t n, /* NULL: not asked for */
                  const cuzk_device_clock_fit *fit);
    void *spans_ctx;
};

static inline CUdeviceptr cuzk_prover_address(const cuzk_device_prover *d, size_t place)
{
    return d->arena.at + place;
}

static inline uint32_t cuzk_prover_fewer(size_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* ---- device_plan.c ---- */

/** The number of a set's query in need.queries; H is 0. */
unsigned cuzk_prover_query_number(const cuzk_prover *p, unsigned set, size_t query);

/** Decide, plan the places of all but the rows, which are planned before, and reserve the arena.
 *  Errors: E_MEMORY with the bytes of each purpose; E_DEVICE. */
cuzk_status cuzk_prover_reserve(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- device_residents.c ---- */

/** The points of query `query` in host memory: packed, or as the key's file has them where the
 * prover decodes late. */
const void *cuzk_prover_points(const cuzk_prover *p, unsigned query);

/** Decode n points of a query, from number `first` on, in place, where they are encoded. Does not
 *  wait. */
cuzk_status cuzk_prover_decode_points(const cuzk_device_prover *d, unsigned query, CUdeviceptr at,
                                      uint64_t first, uint64_t n, cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether all that were decoded so far are good. Waits. Errors: E_FORMAT with array and point. */
cuzk_status cuzk_prover_check_decoded(const cuzk_device_prover *d,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** Supports and rows to their places, and a resident key. Errors: E_MEMORY, E_DEVICE, E_FORMAT (a
 *  bad point). */
cuzk_status cuzk_prover_upload_key(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** The images of H, where the plan has them, behind its bases, which came by any stream. Waits.
 *  Errors: E_DEVICE. */
cuzk_status cuzk_prover_make_images(const cuzk_device_prover *d, cuzk_error *err) CUZK_WARN_UNUSED;

/** n_bytes of host memory to a place; waits. */
cuzk_status cuzk_prover_upload(const cuzk_device_prover *d, size_t place, const void *from,
                               size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- device_peer.c ---- */

/** Circuit, points and images from params->peer, and check that they are what it was loaded with.
 *  Waits; calls peer_done once, in any case. Errors: E_UNSUPPORTED (not resident on both, or the
 *  cards do not allow it), E_CANCELLED (peer_stays said no), E_MEMORY, E_DEVICE: what is there is
 * of no use. */
cuzk_status cuzk_prover_copy_from_peer(cuzk_device_prover *d,
                                       const cuzk_device_prover_params *params,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** Make the checksums without which nobody copies from it; where they cannot be made nobody does.
 *  Errors: E_DEVICE, E_DEVICE_LOST. */
cuzk_status cuzk_prover_offer(cuzk_device_prover *d, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- device_sums.c ---- */

/** Copy a witness to a proof's place; waits. Errors: E_UNSATISFIED (more field values than the
 * circuit has), E_DEVICE. */
cuzk_status cuzk_prover_upload_witness(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                       const cuzk_witness *w, cuzk_error *err) CUZK_WARN_UNUSED;

/** Rows and quotient: the scalars of H, plain, in the order of its bases, to the slot's `a`. Does
 * not wait. */
cuzk_status cuzk_prover_quotient(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                 CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** The first n_bytes of the device's counts of selected variables to 0, before what counts them:
 *  cuzk_select_count. Does not wait. Errors: E_DEVICE. */
cuzk_status cuzk_prover_clear_counts(const cuzk_device_prover *d, size_t n_bytes,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** These counts on their way to proof->counts, as a download of their own of the proof that has the
 *  lane. Does not wait.
 *  Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_prover_fetch_counts(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                     size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/** All kernels of some sums of a proof; waits. The caller holds the lane. */
cuzk_status cuzk_prover_run(const cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_sums sums,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** What came back of the sums that were made of a proof, to h and the sets' sums. */
void cuzk_prover_join(const cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_jac *h,
                      cuzk_query_set *sets);

/* ---- device_proofs.c ---- */

/** Streams, and what each proof has of its own; close also after a failure. Errors: E_MEMORY,
 *  E_DEVICE. */
cuzk_status cuzk_prover_open_proofs(cuzk_device_prover *d, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_prover_close_proofs(cuzk_device_prover *d);

/* The functions of cuzk_prove_device. */
cuzk_status cuzk_prover_proof_begin(void *context, cuzk_device_proof **out,
                                    const cuzk_witness *witness, cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_prover_proof_run(void *context, cuzk_device_proof *proof, cuzk_sums sums,
                                  cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_prover_proof_end(void *context, cuzk_device_proof *proof, cuzk_jac *h,
                                  cuzk_query_set *sets, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_prover_proof_drop(void *context, cuzk_device_proof *proof);

/* ---- device_streamed.c ---- */

/** Cut a streamed key into pieces and start its stream. The arena is reserved. Returned:
 *  cuzk_streamed_close. Errors: E_MEMORY, E_DEVICE. */
cuzk_status cuzk_streamed_open(struct cuzk_streamed **out, const cuzk_device_prover *d,
                               cuzk_pinned_pool *pinned, cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. Nothing runs. */
void cuzk_streamed_close(struct cuzk_streamed *streamed);

cuzk_stream_stats cuzk_streamed_stats(const struct cuzk_streamed *streamed);

/** All kernels of a proof, and of all others whose witness is there, unless another proof's pass
 * made its sums. The caller holds the lane. Errors: E_DEVICE, E_FORMAT (a bad point). */
cuzk_status cuzk_streamed_run(cuzk_device_prover *d, cuzk_device_proof *proof,
                              cuzk_error *err) CUZK_WARN_UNUSED;

#endif
