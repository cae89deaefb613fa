/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of a proof: rows, quotient, the sum over H, and the sums over the witness; or those
 * of some of the sums.
 *
 * Launches run ahead of the device. The host waits for the numbers of selected variables, which one
 * small kernel for each query counts at the begin, and for the sizes of each sum's first rounds;
 * where memory is short and sums are made in pieces, for every piece. */
#include "backend/cuda/device_prover_impl.h"

cuzk_status cuzk_prover_upload_witness(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                       const cuzk_witness *w, cuzk_error *err)
{
    const size_t words = cuzk_bitmap_words(w->n_vars);
    CUZK_FAIL_IF(w->n_field > d->need.n_field, err, CUZK_E_UNSATISFIED,
                 "the witness has %u values besides bits, the circuit %u: a variable that is a bit "
                 "holds another value",
                 w->n_field, d->need.n_field);
    const struct {
        size_t place;
        const void *from;
        size_t n_bytes;
    } parts[] = {
        {d->at.slots[proof->slot].is_field, w->is_field, 8 * words},
        {d->at.slots[proof->slot].bits, w->bits, 8 * words},
        {d->at.slots[proof->slot].rank, w->rank, 4 * (words + 1)},
        {d->at.slots[proof->slot].field, w->field, 32 * (size_t)w->n_field},
    };
    CUZK_TRY(cuzk_device_times_mark(proof->times, CUZK_TIME_UPLOAD, proof->copies, err));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].n_bytes != 0) {
            CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoDAsync,
                          (cuzk_prover_address(d, parts[i].place), parts[i].from, parts[i].n_bytes,
                           proof->copies));
        }
    }
    CUZK_TRY(cuzk_device_times_mark(proof->times, CUZK_TIME_WAIT, proof->copies, err));
    CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (proof->copies));
    return CUZK_OK;
}

cuzk_status cuzk_prover_quotient(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                 CUstream stream, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    const cuzk_transformer *t = &d->transformer;
    CUdeviceptr a = cuzk_prover_address(d, d->at.slots[proof->slot].a),
                b = cuzk_prover_address(d, d->at.b), c = cuzk_prover_address(d, d->at.c);
    cuzk_rows_witness w = {
        .is_field = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[proof->slot].is_field),
        .bits = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[proof->slot].bits),
        .rank = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[proof->slot].rank),
        .field = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[proof->slot].field)};
    CUZK_TRY(cuzk_device_times_mark(proof->times, CUZK_TIME_ROWS, stream, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 0, &w, a, stream, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 1, &w, b, stream, err));
    CUZK_TRY(cuzk_device_times_mark(proof->times, CUZK_TIME_TRANSFORMS, stream, err));
    CUZK_TRY(cuzk_transform_quotient(
        t, p->is_zkey ? CUZK_DEVICE_QUOTIENT_CIRCOM : CUZK_DEVICE_QUOTIENT_PLAIN, p->lg_n, a, b, c,
        stream, err));
    if (p->is_zkey) { /* values in bit-reversed order; coefficients are in natural order */
        return cuzk_transform_permute(t, p->lg_n, a, stream, err);
    }
    return CUZK_OK;
}

/* ---- in pieces ---- */

/* Piece after piece of a sum of scalar multiples; n_max: the most of such sums. */
static cuzk_status sum_pieces(const cuzk_device_prover *d, cuzk_jac *sum,
                              const cuzk_point_sum_params *all, CUdeviceptr workspace,
                              CUstream stream, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[all->group];
    g->set_infinity(sum);
    for (uint32_t done = 0; done < all->n; done += d->plan.piece) {
        cuzk_point_sum_params piece = *all;
        cuzk_jac part;
        piece.n = cuzk_prover_fewer(all->n - done, d->plan.piece);
        if (all->index == 0) { /* the bases and scalars from there on */
            piece.bases += (size_t)done * g->affine_bytes;
            piece.images += all->images != 0 ? (size_t)done * g->affine_bytes : 0;
            piece.scalars += 32 * (size_t)done;
        } else {
            piece.index += 4 * (size_t)done;
            piece.which += 4 * (size_t)done;
        }
        CUZK_TRY(cuzk_point_sum(&d->summer, &part, &piece, workspace, stream, err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

/* The sum over the bits of a query, in pieces of whole words. */
static cuzk_status bits_pieces(const cuzk_device_prover *d, cuzk_jac *sum,
                               const cuzk_point_bits_params *all, CUdeviceptr workspace,
                               CUstream stream, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[all->group];
    uint32_t n_vars = all->selection.n_vars, first = all->selection.first;
    g->set_infinity(sum);
    for (uint32_t done = 0; done < n_vars; done += d->plan.piece) {
        cuzk_point_bits_params piece = *all;
        cuzk_selection *s = &piece.selection;
        cuzk_jac part;
        piece.bits += done / 8;
        s->n_vars = piece.n_ones = cuzk_prover_fewer(n_vars - done, d->plan.piece);
        s->first = first > done ? first - done : 0;
        s->support += s->support == 0 ? 0 : done / 8;
        if (s->support_rank != 0) {
            s->support_rank += done / 64 * 4;
        } else if (done > first) {
            piece.bases += (size_t)(done - first) * g->affine_bytes;
        }
        CUZK_TRY(cuzk_point_sum_bits(&d->summer, &part, &piece, workspace, stream, err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

/* ---- sums ---- */

static cuzk_point_sum_params h_params(const cuzk_device_prover *d, const cuzk_device_proof *proof)
{
    uint32_t n_max = cuzk_prover_fewer(d->prover->n_h, d->plan.piece);
    CUdeviceptr bases = cuzk_prover_address(d, d->at.queries[0]);
    size_t images = cuzk_card_images(&d->plan, &d->need);
    return (cuzk_point_sum_params){.group = CUZK_G1,
                                   .bases = bases,
                                   .images = images != 0 ? bases + images : 0,
                                   .halves = cuzk_card_halves(&d->plan),
                                   .scalars = cuzk_prover_address(d, d->at.slots[proof->slot].a),
                                   .n = (uint32_t)d->prover->n_h,
                                   .n_max = n_max,
                                   .windows_together = cuzk_card_windows(&d->plan, n_max)};
}

/* From the witness to the sort of the first windows; in pieces to the sum. */
static cuzk_status begin_h(const cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_error *err)
{
    CUstream stream = d->streams[0];
    CUdeviceptr workspace = cuzk_prover_address(d, d->at.h_sums);
    CUZK_TRY(cuzk_prover_quotient(d, proof, stream, err));
    cuzk_point_sum_params params = h_params(d, proof);
    proof->h_is_joined = params.n > d->plan.piece;
    if (proof->h_is_joined) {
        return sum_pieces(d, &proof->h, &params, workspace, stream, err);
    }
    return cuzk_summing_begin(&proof->of_h, &d->summer, &params, workspace, &proof->mail_of_h,
                              stream, err);
}

static cuzk_status run_h(cuzk_device_proof *proof, cuzk_error *err)
{
    return proof->h_is_joined ? CUZK_OK : cuzk_summing_run(&proof->of_h, err);
}

static cuzk_point_sum_params values_params(const cuzk_device_prover *d,
                                           const cuzk_device_proof *proof, unsigned number)
{
    const cuzk_query_run *q = &proof->queries[number];
    uint32_t n_max = cuzk_prover_fewer(d->need.n_field, d->plan.piece);
    return (cuzk_point_sum_params){.group = q->group,
                                   .bases = q->bases,
                                   .scalars =
                                       cuzk_prover_address(d, d->at.slots[proof->slot].field),
                                   .index = cuzk_prover_address(d, d->at.of[number].index),
                                   .which = cuzk_prover_address(d, d->at.of[number].which),
                                   .n = q->n_values,
                                   .n_max = n_max,
                                   .halves = cuzk_card_halves(&d->plan),
                                   .windows_together = cuzk_card_windows(&d->plan, n_max)};
}

static cuzk_status begin_values(const cuzk_device_prover *d, cuzk_device_proof *proof,
                                unsigned number, cuzk_error *err)
{
    cuzk_query_run *q = &proof->queries[number];
    cuzk_point_sum_params params = values_params(d, proof, number);
    CUdeviceptr workspace = cuzk_prover_address(d, d->at.of[number].sums);
    CUZK_TRY(cuzk_select_values(
        &d->summer, &q->selection, cuzk_prover_address(d, d->at.slots[proof->slot].is_field),
        cuzk_prover_address(d, d->at.slots[proof->slot].rank), params.index, params.which,
        cuzk_prover_address(d, d->at.of[number].select), q->stream, err));
    q->is_joined = d->need.n_vars > d->plan.piece;
    if (q->is_joined) {
        return sum_pieces(d, &q->sum, &params, workspace, q->stream, err);
    }
    return cuzk_summing_begin(&q->values, &d->summer, &params, workspace, &q->mail_of_values,
                              q->stream, err);
}

/* The rest of the multiples, then the bits. */
static cuzk_status run_query(const cuzk_device_prover *d, cuzk_device_proof *proof, unsigned number,
                             cuzk_error *err)
{
    cuzk_query_run *q = &proof->queries[number];
    CUdeviceptr workspace = cuzk_prover_address(d, d->at.of[number].sums);
    cuzk_point_bits_params bits = {.group = q->group,
                                   .bases = q->bases,
                                   .bits = cuzk_prover_address(d, d->at.slots[proof->slot].bits),
                                   .selection = q->selection,
                                   .n_ones = q->n_ones};
    if (q->is_joined) {
        cuzk_jac of_bits;
        CUZK_TRY(bits_pieces(d, &of_bits, &bits, workspace, q->stream, err));
        d->prover->curve->g[q->group].add(&q->sum, &q->sum, &of_bits);
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_summing_run(&q->values, err));
    return cuzk_bit_summing_run(&q->ones, &d->summer, &bits, workspace, &q->mail_of_ones, q->stream,
                                err);
}

/* ---- the region ---- */

cuzk_status cuzk_prover_clear_counts(const cuzk_device_prover *d, size_t n_bytes, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuMemsetD8Async,
                  (cuzk_prover_address(d, d->at.counts), 0, n_bytes, d->streams[0]));
    return CUZK_OK;
}

cuzk_status cuzk_prover_fetch_counts(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                     size_t n_bytes, cuzk_error *err)
{
    CUstream stream = d->streams[0];
    cuzk_device_times *times = d->summer.adder.times; /* as the kernels before it */
    CUZK_TRY(cuzk_device_times_mark(times, CUZK_TIME_DOWNLOAD, stream, err));
    CUZK_CUDA_TRY(d->api, err, cuMemcpyDtoHAsync,
                  (proof->counts, cuzk_prover_address(d, d->at.counts), n_bytes, stream));
    return cuzk_device_times_mark(times, CUZK_TIME_WAIT, stream, err);
}

/* What each query is over, and how much of it: on its way to `counts`. */
static cuzk_status prepare_queries(const cuzk_device_prover *d, cuzk_device_proof *proof,
                                   cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    proof->n_queries = 1;
    CUZK_TRY(cuzk_prover_clear_counts(d, CUZK_CARD_COUNT_BYTES, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        for (size_t k = 0; k < set->n_queries; k++) {
            unsigned number = proof->n_queries++;
            cuzk_query_run *q = &proof->queries[number];
            q->group = set->queries[k].group;
            q->bases = cuzk_prover_address(d, d->at.queries[number]);
            q->stream = d->streams[number % d->n_streams];
            q->selection = (cuzk_selection){
                .n_vars = p->n_vars,
                .first = (uint32_t)set->queries[k].first,
                .support = set->support != NULL ? cuzk_prover_address(d, d->support[i]) : 0,
                .support_rank = set->compact ? cuzk_prover_address(d, d->support_rank[i]) : 0};
            CUZK_TRY(cuzk_select_count(
                &d->summer, &q->selection, cuzk_prover_address(d, d->at.slots[proof->slot].bits),
                cuzk_prover_address(d, d->at.slots[proof->slot].is_field),
                cuzk_prover_address(d, d->at.counts) + 8 * (size_t)number, d->streams[0], err));
        }
    }
    CUZK_TRY(cuzk_prover_fetch_counts(d, proof, CUZK_CARD_COUNT_BYTES, err));
    CUZK_CUDA_TRY(d->api, err, cuEventRecord, (proof->mail_of_h.ready[1], d->streams[0]));
    return CUZK_OK;
}

static cuzk_status take_counts(const cuzk_device_prover *d, cuzk_device_proof *proof,
                               cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuEventSynchronize, (proof->mail_of_h.ready[1]));
    for (unsigned i = 1; i < proof->n_queries; i++) {
        proof->queries[i].n_ones = proof->counts[2 * i];
        proof->queries[i].n_values = proof->counts[2 * i + 1];
    }
    return CUZK_OK;
}

static cuzk_status wait_for_all(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                                cuzk_error *err)
{
    for (unsigned i = 0; i < d->n_streams; i++) { /* before the host waits for any of them */
        CUZK_TRY(cuzk_device_times_mark(proof->times, CUZK_TIME_WAIT, d->streams[i], err));
    }
    for (unsigned i = 0; i < d->n_streams; i++) {
        CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (d->streams[i]));
    }
    return CUZK_OK;
}

/* number: of the query; 0: H. */
static bool is_among(cuzk_sums sums, unsigned number)
{
    return (sums >> number & 1) != 0;
}

/* One stream, one place for workspace: one after the other. */
static cuzk_status run_in_turn(const cuzk_device_prover *d, cuzk_device_proof *proof,
                               cuzk_sums sums, cuzk_error *err)
{
    CUZK_TRY(is_among(sums, 0) ? begin_h(d, proof, err) : CUZK_OK);
    CUZK_TRY(take_counts(d, proof, err));
    CUZK_TRY(is_among(sums, 0) ? run_h(proof, err) : CUZK_OK);
    for (unsigned i = 1; i < proof->n_queries; i++) {
        if (is_among(sums, i)) {
            CUZK_TRY(begin_values(d, proof, i, err));
            CUZK_TRY(run_query(d, proof, i, err));
        }
    }
    return CUZK_OK;
}

/* A stream and a place for each sum: those over the witness while the quotient is made. */
static cuzk_status run_side_by_side(const cuzk_device_prover *d, cuzk_device_proof *proof,
                                    cuzk_sums sums, cuzk_error *err)
{
    CUZK_TRY(take_counts(d, proof, err));
    for (unsigned i = 1; i < proof->n_queries; i++) {
        CUZK_TRY(is_among(sums, i) ? begin_values(d, proof, i, err) : CUZK_OK);
    }
    CUZK_TRY(is_among(sums, 0) ? begin_h(d, proof, err) : CUZK_OK);
    for (unsigned i = 1; i < proof->n_queries; i++) {
        CUZK_TRY(is_among(sums, i) ? run_query(d, proof, i, err) : CUZK_OK);
    }
    return is_among(sums, 0) ? run_h(proof, err) : CUZK_OK;
}

cuzk_status cuzk_prover_run(const cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_sums sums,
                            cuzk_error *err)
{
    CUZK_TRY(prepare_queries(d, proof, err));
    CUZK_TRY(d->plan.is_apart ? run_side_by_side(d, proof, sums, err)
                              : run_in_turn(d, proof, sums, err));
    return wait_for_all(d, proof, err);
}

static void join_query(const cuzk_device_prover *d, cuzk_query_run *q)
{
    if (!q->is_joined) {
        cuzk_jac of_ones;
        cuzk_summing_end(&q->values, &q->sum);
        cuzk_bit_summing_end(&q->ones, &of_ones);
        d->prover->curve->g[q->group].add(&q->sum, &q->sum, &of_ones);
    }
}

void cuzk_prover_join(const cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_jac *h,
                      cuzk_query_set *sets)
{
    if (is_among(proof->sums, 0)) {
        if (!proof->h_is_joined) {
            cuzk_summing_end(&proof->of_h, &proof->h);
        }
        *h = proof->h;
    }
    unsigned number = 1;
    for (unsigned i = 0; i < d->prover->n_sets; i++) {
        for (size_t k = 0; k < sets[i].n_queries; k++, number++) {
            if (is_among(proof->sums, number)) {
                join_query(d, &proof->queries[number]);
                sets[i].queries[k].sum = proof->queries[number].sum;
            }
        }
    }
}
