/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A key and its circuit to the device. */
#include "backend/cuda/device_prover_impl.h"

#include <stdlib.h>

cuzk_status cuzk_prover_upload(const cuzk_device_prover *d, size_t place, const void *from,
                               size_t n_bytes, cuzk_error *err)
{
    if (n_bytes != 0) {
        CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (cuzk_prover_address(d, place), from, n_bytes));
    }
    return CUZK_OK;
}

static cuzk_status upload_support(const cuzk_device_prover *d, unsigned i, cuzk_error *err)
{
    const cuzk_query_set *set = &d->prover->sets[i];
    size_t words = cuzk_bitmap_words(d->prover->n_vars);
    if (set->support == NULL) {
        return CUZK_OK;
    }
    uint32_t *rank = malloc(4 * words + 1), before = 0;
    CUZK_FAIL_IF(rank == NULL, err, CUZK_E_MEMORY, "moving a key to a device: out of memory");
    for (size_t w = 0; w < words; w++) {
        rank[w] = before;
        before += (uint32_t)__builtin_popcountll(set->support[w]);
    }
    cuzk_status status = cuzk_prover_upload(d, d->support_rank[i], rank, 4 * words, err);
    free(rank);
    return status != CUZK_OK ? status
                             : cuzk_prover_upload(d, d->support[i], set->support, 8 * words, err);
}

static cuzk_status put_points(const cuzk_device_prover *d, const cuzk_device_prover_params *params,
                              unsigned query, const void *from, cuzk_error *err)
{
    cuzk_group_id group = d->need.queries[query].group;
    size_t n = d->need.queries[query].n, place = d->at.queries[query];
    if (params->points != NULL) {
        return params->points(params->points_ctx, cuzk_prover_address(d, place), group, n, err);
    }
    return cuzk_prover_upload(d, place, from, n * d->prover->curve->g[group].affine_bytes, err);
}

cuzk_status cuzk_prover_upload_key(const cuzk_device_prover *d,
                                   const cuzk_device_prover_params *params, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    CUZK_TRY(put_points(d, params, 0, p->h, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        for (size_t k = 0; k < set->n_queries; k++) {
            CUZK_TRY(put_points(d, params, cuzk_prover_query_number(p, i, k), set->queries[k].bases,
                                err));
        }
        CUZK_TRY(upload_support(d, i, err));
    }
    return cuzk_device_rows_upload(&d->rows, &d->arena, err);
}
