/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's proofs checked against chain-side data. */
#include "api/filecoin.h"

#include "formats/proof_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that is checked at once. */
struct partitions {
    unsigned n;
    cuzk_proof_points *points;
    cuzk_digest *values; /* n × job->n_values */
    cuzk_batch_item *items;
};

static void clear_partitions(struct partitions *p)
{
    free(p->points);
    free(p->values);
    free(p->items);
}

static cuzk_status read_partitions(struct partitions *p, unsigned *first_invalid,
                                   const cuzk_filecoin_job *job, const uint8_t *proof,
                                   cuzk_error *err)
{
    p->points = calloc(p->n, sizeof *p->points);
    p->values = calloc((size_t)p->n * job->n_values, sizeof *p->values);
    p->items = calloc(p->n, sizeof *p->items);
    CUZK_FAIL_IF(p->points == NULL || p->values == NULL || p->items == NULL, err, CUZK_E_MEMORY,
                 "verifying %u partitions: out of memory", p->n);
    for (unsigned k = 0; k < p->n; k++) {
        cuzk_digest *values = p->values + (size_t)k * job->n_values;
        cuzk_status status = cuzk_proof_points_read(
            &p->points[k], proof + (size_t)k * CUZK_PROOF_BYTES, CUZK_PROOF_BYTES, err);
        if (status != CUZK_OK) {
            *first_invalid = k;
            return status;
        }
        cuzk_filecoin_job_public_inputs(values, job, k);
        p->items[k] = (cuzk_batch_item){&p->points[k], values, job->n_values};
    }
    return CUZK_OK;
}

/* Put the partition in front of the text, in place of what the batch calls it. */
static void name_partition(cuzk_error *err, unsigned k, unsigned n)
{
    char batch_name[32];
    if (err == NULL) {
        return;
    }
    int length = snprintf(batch_name, sizeof batch_name, "proof %u: ", k);
    if (strncmp(err->text, batch_name, (size_t)length) == 0) {
        memmove(err->text, err->text + length, strlen(err->text + length) + 1);
    }
    cuzk_error_prefix(err, "partition %u of %u", k, n);
}

static cuzk_status verify(const cuzk_ctx *ctx, unsigned *first_invalid, const cuzk_vkey *vkey,
                          const cuzk_filecoin_job *job, const uint8_t *proof, size_t n_bytes,
                          cuzk_error *err)
{
    CUZK_FAIL_IF(vkey->vk.curve->id != CUZK_CURVE_BLS12_381 || vkey->vk.n_ic - 1 != job->n_values,
                 err, CUZK_E_MISMATCH, "the verifying key has %u public values, a %s for %s has %u",
                 vkey->vk.n_ic - 1, cuzk_proof_kind_name(job->proof.kind), job->proof.sector->name,
                 job->n_values);
    CUZK_FAIL_IF(n_bytes != (size_t)job->n_partitions * CUZK_PROOF_BYTES, err, CUZK_E_MISMATCH,
                 "the proof has %zu bytes, expected %u: %u partition%s of 192 bytes", n_bytes,
                 job->n_partitions * CUZK_PROOF_BYTES, job->n_partitions,
                 job->n_partitions == 1 ? "" : "s");
    struct partitions p = {.n = job->n_partitions};
    unsigned bad = 0;
    size_t first = 0;
    cuzk_status status = read_partitions(&p, &bad, job, proof, err);
    if (status == CUZK_OK) {
        status = cuzk_verifier_check_batch(&vkey->verifier, p.items, p.n, &first, ctx->pool, err);
    } else if (status == CUZK_E_INVALID_PROOF) {
        status = cuzk_api_first_invalid(&first, &vkey->verifier, p.items, bad, ctx->pool, err);
    }
    bad = (unsigned)first;
    if (status == CUZK_E_INVALID_PROOF) {
        name_partition(err, bad, p.n);
        if (first_invalid != NULL) {
            *first_invalid = bad;
        }
    }
    clear_partitions(&p);
    return status;
}

cuzk_status cuzk_filecoin_verify(const cuzk_ctx *ctx, unsigned *first_invalid,
                                 const cuzk_vkey *vkey, const cuzk_filecoin_request *request,
                                 const void *proof, size_t proof_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, proof);
    cuzk_filecoin_job job;
    CUZK_TRY(cuzk_filecoin_job_init(&job, request, err));
    uint8_t *bytes = NULL;
    size_t n_bytes = 0;
    cuzk_status status = cuzk_proof_text_read(&bytes, &n_bytes, proof, proof_bytes, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "reading the proof");
        return status;
    }
    status = verify(ctx, first_invalid, vkey, &job, bytes, n_bytes, err);
    free(bytes);
    return status;
}
