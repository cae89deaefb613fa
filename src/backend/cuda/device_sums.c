/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The large sums of a proof. */
#include "backend/cuda/device_prover_impl.h"

static cuzk_status use_device(const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuCtxSetCurrent, (d->device->context));
    return CUZK_OK;
}

static cuzk_status mark(const cuzk_device_prover *d, cuzk_time_kind kind, cuzk_error *err)
{
    return cuzk_device_times_mark(d->times, kind, NULL, err);
}

static cuzk_status upload_witness(const cuzk_device_prover *d, const cuzk_witness *w,
                                  cuzk_error *err)
{
    size_t words = cuzk_bitmap_words(w->n_vars);
    CUZK_FAIL_IF(w->n_field > d->need.n_field, err, CUZK_E_UNSATISFIED,
                 "the witness has %u values besides bits, the circuit %u: a variable that is a bit "
                 "holds another value",
                 w->n_field, d->need.n_field);
    CUZK_TRY(mark(d, CUZK_TIME_UPLOAD, err));
    CUZK_TRY(cuzk_prover_upload(d, d->at.slots[0].is_field, w->is_field, 8 * words, err));
    CUZK_TRY(cuzk_prover_upload(d, d->at.slots[0].bits, w->bits, 8 * words, err));
    CUZK_TRY(cuzk_prover_upload(d, d->at.slots[0].rank, w->rank, 4 * (words + 1), err));
    return cuzk_prover_upload(d, d->at.slots[0].field, w->field, 32 * (size_t)w->n_field, err);
}

/* A sum of scalar multiples in pieces. n_max: of such sums. */
static cuzk_status sum_pieces(const cuzk_device_prover *d, cuzk_jac *sum,
                              const cuzk_point_sum_params *all, size_t n_max, size_t workspace,
                              cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[all->group];
    g->set_infinity(sum);
    for (uint32_t done = 0; done < all->n; done += d->plan.piece) {
        cuzk_point_sum_params piece = *all;
        cuzk_jac part;
        piece.n = cuzk_prover_fewer(all->n - done, d->plan.piece);
        piece.n_max = cuzk_prover_fewer(n_max, d->plan.piece);
        piece.windows_together = cuzk_card_windows(&d->plan, piece.n_max);
        if (all->index == 0) { /* the bases and scalars from there on */
            piece.bases += (size_t)done * g->affine_bytes;
            piece.scalars += 32 * (size_t)done;
        } else {
            piece.index += 4 * (size_t)done;
            piece.which += 4 * (size_t)done;
        }
        CUZK_TRY(cuzk_point_sum(&d->summer, &part, &piece, cuzk_prover_address(d, workspace), NULL,
                                err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

static cuzk_status h_sum(const cuzk_device_prover *d, cuzk_jac *sum, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    const cuzk_transformer *t = &d->transformer;
    CUdeviceptr a = cuzk_prover_address(d, d->at.slots[0].a), b = cuzk_prover_address(d, d->at.b),
                c = cuzk_prover_address(d, d->at.c);
    cuzk_rows_witness w = {
        .is_field = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[0].is_field),
        .bits = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[0].bits),
        .rank = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[0].rank),
        .field = (void *)(uintptr_t)cuzk_prover_address(d, d->at.slots[0].field)};
    CUZK_TRY(mark(d, CUZK_TIME_ROWS, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 0, &w, a, NULL, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 1, &w, b, NULL, err));
    CUZK_TRY(mark(d, CUZK_TIME_TRANSFORMS, err));
    CUZK_TRY(cuzk_transform_quotient(
        t, p->is_zkey ? CUZK_DEVICE_QUOTIENT_CIRCOM : CUZK_DEVICE_QUOTIENT_PLAIN, p->lg_n, a, b, c,
        NULL, err));
    if (p->is_zkey) { /* values in bit-reversed order; coefficients are in natural order */
        CUZK_TRY(cuzk_transform_permute(t, p->lg_n, a, NULL, err));
    }
    cuzk_point_sum_params params = {.group = CUZK_G1,
                                    .bases = cuzk_prover_address(d, d->at.queries[0]),
                                    .scalars = a,
                                    .n = (uint32_t)p->n_h};
    return sum_pieces(d, sum, &params, p->n_h, d->at.h_sums, err);
}

/* The sum over the bits of a query, in pieces of whole words. */
static cuzk_status bits_sum(const cuzk_device_prover *d, cuzk_jac *sum, cuzk_group_id group,
                            CUdeviceptr bases, const cuzk_selection *all, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[group];
    g->set_infinity(sum);
    for (uint32_t done = 0; done < all->n_vars; done += d->plan.piece) {
        cuzk_point_bits_params piece = {.group = group,
                                        .bases = bases,
                                        .bits =
                                            cuzk_prover_address(d, d->at.slots[0].bits) + done / 8,
                                        .selection = *all};
        cuzk_selection *s = &piece.selection;
        cuzk_jac part;
        s->n_vars = piece.n_ones = cuzk_prover_fewer(all->n_vars - done, d->plan.piece);
        s->first = all->first > done ? all->first - done : 0;
        s->support += all->support == 0 ? 0 : done / 8;
        s->support_rank += all->support_rank == 0 ? 0 : done / 64 * 4;
        if (all->support_rank == 0 && done > all->first) {
            piece.bases += (size_t)(done - all->first) * g->affine_bytes;
        }
        CUZK_TRY(cuzk_point_sum_bits(&d->summer, &part, &piece, cuzk_prover_address(d, d->at.sums),
                                     NULL, err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

static cuzk_status query_sum(const cuzk_device_prover *d, cuzk_msm_query *q, CUdeviceptr bases,
                             const cuzk_selection *selection, cuzk_error *err)
{
    cuzk_jac of_bits;
    cuzk_point_sum_params params = {.group = q->group,
                                    .bases = bases,
                                    .scalars = cuzk_prover_address(d, d->at.slots[0].field),
                                    .index = cuzk_prover_address(d, d->at.index),
                                    .which = cuzk_prover_address(d, d->at.which)};
    CUZK_TRY(cuzk_select_values(&d->summer, &params.n, selection,
                                cuzk_prover_address(d, d->at.slots[0].is_field),
                                cuzk_prover_address(d, d->at.slots[0].rank), params.index,
                                params.which, cuzk_prover_address(d, d->at.select), NULL, err));
    CUZK_TRY(sum_pieces(d, &q->sum, &params, d->need.n_field, d->at.sums, err));
    CUZK_TRY(bits_sum(d, &of_bits, q->group, bases, selection, err));
    d->prover->curve->g[q->group].add(&q->sum, &q->sum, &of_bits);
    return CUZK_OK;
}

cuzk_status cuzk_prover_sums(cuzk_device_prover *d, cuzk_jac *h, cuzk_query_set *sets,
                             const cuzk_witness *witness, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(upload_witness(d, witness, err));
    CUZK_TRY(h_sum(d, h, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        bool compact = sets[i].compact, has_support = sets[i].support != NULL;
        for (size_t k = 0; k < sets[i].n_queries; k++) {
            cuzk_msm_query *q = &sets[i].queries[k];
            cuzk_selection selection = {
                .n_vars = p->n_vars,
                .first = (uint32_t)q->first,
                .support = has_support ? cuzk_prover_address(d, d->support[i]) : 0,
                .support_rank = compact ? cuzk_prover_address(d, d->support_rank[i]) : 0};
            CUZK_TRY(query_sum(
                d, q, cuzk_prover_address(d, d->at.queries[cuzk_prover_query_number(p, i, k)]),
                &selection, err));
        }
    }
    return mark(d, CUZK_TIME_WAIT, err);
}
