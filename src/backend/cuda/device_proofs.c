/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs under way: places for witnesses, whose turn it is, and when it was.
 *
 * A proof takes a place, copies its witness there on a stream of its own, waits for the lane, runs
 * its kernels, gives the lane to the next and lets the host finish. So one proof's kernels run
 * while another's witness is copied and a third's sums are put together. */
#include "backend/cuda/device_prover_impl.h"
#include "base/clock.h"
#include "timeline/catalogue.h"
#include "timeline/recorder.h"

#include <string.h>

/* ---- what proofs have of their own ---- */

static cuzk_status make_stream(const cuzk_device_prover *d, CUstream *stream, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuStreamCreate, (stream, CU_STREAM_NON_BLOCKING));
    return CUZK_OK;
}

static cuzk_status open_proof(const cuzk_device_prover *d, cuzk_device_proof *proof,
                              cuzk_error *err)
{
    void *counts = NULL;
    CUZK_TRY(make_stream(d, &proof->copies, err));
    CUZK_TRY(cuzk_device_times_create(&proof->times, d->api, err));
    CUZK_CUDA_TRY(d->api, err, cuMemAllocHost, (&counts, CUZK_CARD_COUNT_BYTES));
    proof->counts = counts;
    CUZK_TRY(cuzk_sum_mail_open(&proof->mail_of_h, d->api, err));
    for (unsigned i = 1; i < d->need.n_queries; i++) {
        CUZK_TRY(cuzk_sum_mail_open(&proof->queries[i].mail_of_values, d->api, err));
        CUZK_TRY(cuzk_sum_mail_open(&proof->queries[i].mail_of_ones, d->api, err));
    }
    return CUZK_OK;
}

static void close_stream(const cuzk_device_prover *d, CUstream stream)
{
    if (stream != NULL) {
        (void)CUZK_CU(d->api, cuStreamDestroy)(stream);
    }
}

static void close_proof(const cuzk_device_prover *d, cuzk_device_proof *proof)
{
    for (unsigned i = 1; i < d->need.n_queries; i++) {
        cuzk_sum_mail_close(&proof->queries[i].mail_of_ones);
        cuzk_sum_mail_close(&proof->queries[i].mail_of_values);
    }
    cuzk_sum_mail_close(&proof->mail_of_h);
    if (proof->counts != NULL) {
        (void)CUZK_CU(d->api, cuMemFreeHost)(proof->counts);
    }
    cuzk_device_times_destroy(proof->times);
    close_stream(d, proof->copies);
}

cuzk_status cuzk_prover_open_proofs(cuzk_device_prover *d, cuzk_error *err)
{
    d->n_streams = d->plan.is_apart ? d->need.n_queries : 1;
    for (unsigned i = 0; i < d->n_streams; i++) {
        CUZK_TRY(make_stream(d, &d->streams[i], err));
    }
    for (unsigned i = 0; i < d->plan.n_slots; i++) {
        d->proofs[i].slot = i;
        CUZK_TRY(open_proof(d, &d->proofs[i], err));
    }
    return CUZK_OK;
}

void cuzk_prover_close_proofs(cuzk_device_prover *d)
{
    for (unsigned i = 0; i < d->plan.n_slots; i++) {
        close_proof(d, &d->proofs[i]);
    }
    for (unsigned i = 0; i < d->n_streams; i++) {
        close_stream(d, d->streams[i]);
    }
}

/* ---- places ---- */

static cuzk_device_proof *take_proof(cuzk_device_prover *d)
{
    cuzk_device_proof *proof = NULL;
    pthread_mutex_lock(&d->mutex);
    while (proof == NULL) {
        for (unsigned i = 0; i < d->plan.n_slots && proof == NULL; i++) {
            proof = d->proofs[i].is_taken ? NULL : &d->proofs[i];
        }
        if (proof == NULL) {
            pthread_cond_wait(&d->proof_free, &d->mutex);
        }
    }
    proof->is_taken = true;
    proof->sums = 0;
    pthread_mutex_unlock(&d->mutex);
    return proof;
}

static void free_proof(cuzk_device_prover *d, cuzk_device_proof *proof)
{
    pthread_mutex_lock(&d->mutex);
    proof->is_taken = proof->is_ready = proof->is_served = false;
    pthread_cond_broadcast(&d->proof_free);
    pthread_mutex_unlock(&d->mutex);
}

static cuzk_status use_device(const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuCtxSetCurrent, (d->device->context));
    return CUZK_OK;
}

/* ---- a proof ---- */

cuzk_status cuzk_prover_proof_begin(void *context, cuzk_device_proof **out,
                                    const cuzk_witness *witness, cuzk_error *err)
{
    cuzk_device_prover *d = context;
    CUZK_TRY(use_device(d, err));
    cuzk_device_proof *proof = take_proof(d);
    cuzk_status status = cuzk_device_times_calibrate(proof->times, proof->copies, err);
    status = status != CUZK_OK ? status : cuzk_prover_upload_witness(d, proof, witness, err);
    if (status != CUZK_OK) {
        cuzk_prover_proof_drop(d, proof);
        return status;
    }
    proof->uploaded_ns = cuzk_now_ns();
    proof->uploaded_bytes = cuzk_witness_bytes(witness->n_vars, witness->n_field);
    pthread_mutex_lock(&d->mutex);
    proof->is_ready = true;
    pthread_mutex_unlock(&d->mutex);
    *out = proof;
    return CUZK_OK;
}

cuzk_status cuzk_prover_proof_run(void *context, cuzk_device_proof *proof, cuzk_sums sums,
                                  cuzk_error *err)
{
    cuzk_device_prover *d = context;
    CUZK_TRY(use_device(d, err));
    pthread_mutex_lock(&d->lane);
    proof->run_ns = cuzk_now_ns();
    d->summer.adder.times = proof->times;
    cuzk_status status = d->streamed != NULL ? cuzk_streamed_run(d, proof, err)
                                             : cuzk_prover_run(d, proof, sums, err);
    if (status == CUZK_OK) {
        proof->sums |= sums;
    } else { /* the next proof finds the streams empty; their fault is told already */
        (void)CUZK_CU(d->api, cuCtxSynchronize)();
    }
    pthread_mutex_unlock(&d->lane);
    return status;
}

/* Spans of a proof for the process's timeline, under the work of this thread. */
static void record_spans(const cuzk_device_proof *proof, const cuzk_device_span *spans, size_t n,
                         const cuzk_device_clock_fit *fit)
{
    static const cuzk_span_name names[CUZK_TIME_KINDS] = {
        [CUZK_TIME_UPLOAD] = CUZK_SPAN_COPY_UP,
        [CUZK_TIME_DOWNLOAD] = CUZK_SPAN_COPY_DOWN,
        [CUZK_TIME_ROWS] = CUZK_SPAN_KERNEL_ROWS,
        [CUZK_TIME_TRANSFORMS] = CUZK_SPAN_KERNEL_TRANSFORMS,
        [CUZK_TIME_SORT] = CUZK_SPAN_KERNEL_SORT,
        [CUZK_TIME_PAIRS] = CUZK_SPAN_KERNEL_PAIRS,
        [CUZK_TIME_GATHERED] = CUZK_SPAN_KERNEL_GATHERED,
        [CUZK_TIME_INVERSES] = CUZK_SPAN_KERNEL_INVERSES,
        [CUZK_TIME_ADDITIONS] = CUZK_SPAN_KERNEL_ADDITIONS,
        [CUZK_TIME_REDUCTION] = CUZK_SPAN_KERNEL_REDUCTION,
    };
    for (size_t i = 0; i < n && cuzk_recorder_is_on(); i++) {
        cuzk_time_kind kind = spans[i].kind;
        if (kind != CUZK_TIME_WAIT) {
            cuzk_recorder_put_inner(names[kind], spans[i].begin_ns, spans[i].end_ns,
                                    kind == CUZK_TIME_UPLOAD ? proof->uploaded_bytes : 0);
        }
    }
    uint64_t now_ns = cuzk_now_ns();
    cuzk_recorder_put_inner(CUZK_SPAN_DEVICE_CLOCK, now_ns, now_ns, fit->error_ns);
}

static cuzk_status take_times(cuzk_device_prover *d, cuzk_device_proof *proof, uint64_t ended_ns,
                              cuzk_error *err)
{
    float ms[CUZK_TIME_KINDS];
    CUZK_TRY(cuzk_device_times_calibrate(proof->times, proof->copies, err));
    CUZK_TRY(cuzk_device_times_take(proof->times, ms, err));
    ms[CUZK_TIME_LANE] = (float)(proof->run_ns - proof->uploaded_ns) / 1e6f;
    ms[CUZK_TIME_FINISH] = (float)(cuzk_now_ns() - ended_ns) / 1e6f;
    cuzk_device_clock_fit fit;
    size_t n = 0;
    const cuzk_device_span *spans = cuzk_device_times_spans(proof->times, &n, &fit);
    record_spans(proof, spans, n, &fit);
    pthread_mutex_lock(&d->mutex);
    for (int i = 0; i < CUZK_TIME_KINDS; i++) {
        d->ms[i] += ms[i];
    }
    if (d->spans != NULL) {
        d->spans(d->spans_ctx, spans, n, &fit);
    }
    pthread_mutex_unlock(&d->mutex);
    return CUZK_OK;
}

cuzk_status cuzk_prover_proof_end(void *context, cuzk_device_proof *proof, cuzk_jac *h,
                                  cuzk_query_set *sets, cuzk_error *err)
{
    cuzk_device_prover *d = context;
    uint64_t ended_ns = cuzk_now_ns();
    cuzk_prover_join(d, proof, h, sets);
    cuzk_status status = use_device(d, err);
    status = status != CUZK_OK ? status : take_times(d, proof, ended_ns, err);
    free_proof(d, proof);
    return status;
}

void cuzk_prover_proof_drop(void *context, cuzk_device_proof *proof)
{
    cuzk_device_prover *d = context;
    pthread_mutex_lock(&d->mutex);
    while (proof->is_in_pass) { /* another proof's, which uses the witness: it ends first */
        pthread_cond_wait(&d->proof_free, &d->mutex);
    }
    proof->is_ready = false;
    pthread_mutex_unlock(&d->mutex);
    cuzk_device_times_drop(proof->times);
    free_proof(d, proof);
}
