/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verifying keys of Filecoin's circuits, and proofs checked against chain-side data. */
#include "api/filecoin.h"

#include "base/blake2b.h"
#include "filecoin/param_files.h"
#include "formats/proof_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ------------------------------------------------------------------------------------ */

cuzk_status cuzk_filecoin_vk_is_published(bool *out, const cuzk_vk *vk,
                                          const cuzk_registered_proof *proof, cuzk_error *err)
{
    const cuzk_param_published *published =
        cuzk_param_published_get(proof->kind, proof->sector, CUZK_PARAM_FILE_VK);
    uint64_t n_bytes = cuzk_vk_file_bytes(vk->n_ic);
    if (published == NULL || !vk->has_g1_pair || n_bytes != published->bytes) {
        *out = false;
        return CUZK_OK;
    }
    uint8_t *bytes = malloc((size_t)n_bytes);
    CUZK_FAIL_IF(bytes == NULL, err, CUZK_E_MEMORY, "checking a verifying key: out of memory");
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    cuzk_status status = cuzk_vk_write(bytes, n_bytes, vk, err);
    if (status == CUZK_OK) {
        cuzk_blake2b_digest(digest, bytes, (size_t)n_bytes);
        *out = memcmp(digest, published->digest, CUZK_PARAM_DIGEST_BYTES) == 0;
    }
    free(bytes);
    return status;
}

/* That the key is of the circuit, and one of the network unless another is allowed. */
static cuzk_status check_vkey(const cuzk_ctx *ctx, const cuzk_vk *vk,
                              const cuzk_registered_proof *proof, bool allow_test_key,
                              cuzk_error *err)
{
    char id[CUZK_CIRCUIT_ID_MAX];
    cuzk_circuit_id(id, proof->kind, proof->sector);
    unsigned expected = cuzk_public_inputs_count(proof);
    CUZK_FAIL_IF(vk->curve->id != CUZK_CURVE_BLS12_381 || vk->n_ic - 1 != expected, err,
                 CUZK_E_MISMATCH,
                 "the key is not of the circuit %s: it has %u public values over %s, expected %u "
                 "over bls12381",
                 id, vk->n_ic - 1, vk->curve->snarkjs_name, expected);
    bool published = false;
    CUZK_TRY(cuzk_filecoin_vk_is_published(&published, vk, proof, err));
    CUZK_FAIL_IF(
        !published && !allow_test_key, err, CUZK_E_UNSUPPORTED,
        "the key is not the one that the network's trusted setup made for %s: whoever made "
        "it can forge proofs; it is used only where that is allowed by name "
        "(allow_test_key, --allow-test-key)",
        id);
    if (!published) {
        cuzk_api_log(ctx, CUZK_LOG_WARN, "the key for %s is a test key: its proofs prove nothing",
                     id);
    }
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey,
                                         const cuzk_filecoin_request *request, const char *path,
                                         bool allow_test_key, cuzk_error *err)
{
    enum { PATH_BYTES = 4096 };
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, request);
    cuzk_registered_proof proof;
    CUZK_TRY(cuzk_request_proof(&proof, request, err));
    char in_folder[PATH_BYTES];
    if (path == NULL) {
        char name[CUZK_PARAM_NAME_MAX];
        cuzk_param_file_name(name, proof.kind, proof.sector, CUZK_PARAM_FILE_VK);
        int n = snprintf(in_folder, sizeof in_folder, "%s/%s", cuzk_param_folder(), name);
        CUZK_FAIL_IF(n < 0 || (size_t)n >= sizeof in_folder, err, CUZK_E_ARGUMENT,
                     "FIL_PROOFS_PARAMETER_CACHE is longer than a path can be");
        path = in_folder;
    }
    cuzk_vkey *opened = NULL;
    CUZK_TRY(cuzk_vkey_open_file(ctx, &opened, path, allow_test_key, err));
    cuzk_status status = check_vkey(ctx, &opened->vk, &proof, allow_test_key, err);
    if (status != CUZK_OK) {
        cuzk_vkey_close(opened);
        cuzk_error_prefix(err, "verifying key \"%s\"", path);
        return status;
    }
    *vkey = opened;
    return CUZK_OK;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

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
    cuzk_status status = read_partitions(&p, &bad, job, proof, err);
    if (status == CUZK_OK) {
        size_t first = 0;
        status = cuzk_verifier_check_batch(&vkey->verifier, p.items, p.n, &first, ctx->pool, err);
        bad = (unsigned)first;
    }
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
