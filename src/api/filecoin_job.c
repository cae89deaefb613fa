/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From a request to what its circuits state. */
#include "api/filecoin.h"

#include "filecoin/challenges.h"

#include <inttypes.h>
#include <string.h>

enum { TEST_SIZES_BASE = 2048 /* whose numbers sizes without a number of their own take */ };

static cuzk_status proof_of_fields(cuzk_registered_proof *out, const cuzk_filecoin_request *r,
                                   cuzk_error *err)
{
    CUZK_TRY(cuzk_request_need(r, CUZK_FIELD_REGISTERED_PROOF, err));
    CUZK_TRY(cuzk_registered_proof_get(out, r->kind, r->numbers[CUZK_FIELD_REGISTERED_PROOF], err));
    if (!cuzk_request_has(r, CUZK_FIELD_SECTOR_SIZE)) {
        return CUZK_OK;
    }
    const cuzk_sector *sector = cuzk_sector_by_bytes(r->numbers[CUZK_FIELD_SECTOR_SIZE]);
    if (sector == out->sector) {
        return CUZK_OK;
    }
    char name[CUZK_REGISTERED_NAME_MAX];
    CUZK_FAIL_IF(sector->registered || out->sector->bytes != TEST_SIZES_BASE, err, CUZK_E_MISMATCH,
                 "registered proof %" PRIu64 " is %s, sector_size is %s", out->number,
                 cuzk_registered_proof_name(name, out), sector->name);
    return cuzk_registered_proof_resize(out, sector, err);
}

cuzk_status cuzk_request_proof(cuzk_registered_proof *out, const cuzk_filecoin_request *r,
                               cuzk_error *err)
{
    if (r->porep == NULL) {
        return proof_of_fields(out, r, err);
    }
    if (cuzk_request_has(r, CUZK_FIELD_REGISTERED_PROOF)) {
        cuzk_registered_proof known; /* a number that is none is not one of a difference */
        CUZK_TRY(cuzk_registered_proof_get(&known, r->kind, r->numbers[CUZK_FIELD_REGISTERED_PROOF],
                                           err));
    }
    *out = r->porep->proof;
    char name[CUZK_REGISTERED_NAME_MAX];
    CUZK_FAIL_IF(cuzk_request_has(r, CUZK_FIELD_REGISTERED_PROOF) &&
                     r->numbers[CUZK_FIELD_REGISTERED_PROOF] != out->number,
                 err, CUZK_E_MISMATCH, "the vanilla proof is of %s, which is not number %" PRIu64,
                 cuzk_registered_proof_name(name, out), r->numbers[CUZK_FIELD_REGISTERED_PROOF]);
    CUZK_FAIL_IF(cuzk_request_has(r, CUZK_FIELD_SECTOR_SIZE) &&
                     r->numbers[CUZK_FIELD_SECTOR_SIZE] != out->sector->bytes,
                 err, CUZK_E_MISMATCH,
                 "the vanilla proof is of %s, sector_size is %" PRIu64 " bytes",
                 cuzk_registered_proof_name(name, out), r->numbers[CUZK_FIELD_SECTOR_SIZE]);
    return CUZK_OK;
}

/* A field that must be below the field's order. */
static cuzk_status take_digest(cuzk_digest *out, const cuzk_filecoin_request *r,
                               cuzk_field_id field, cuzk_error *err)
{
    CUZK_TRY(cuzk_request_need(r, field, err));
    return cuzk_statement_digest(out, r->bytes[field], cuzk_request_field_name(field), err);
}

/* Bytes of a PoRep's field: as set, or those of its vanilla proof (NULL: there is none), which must
 * agree. */
static cuzk_status take_porep(uint8_t out[32], const cuzk_filecoin_request *r, cuzk_field_id field,
                              const uint8_t *vanilla, cuzk_error *err)
{
    if (vanilla == NULL) {
        CUZK_TRY(cuzk_request_need(r, field, err));
    }
    memcpy(out, vanilla != NULL ? vanilla : r->bytes[field], 32);
    if (vanilla != NULL && cuzk_request_has(r, field) && memcmp(r->bytes[field], out, 32) != 0) {
        char found[CUZK_DIGEST_HEX_MAX];
        char wanted[CUZK_DIGEST_HEX_MAX];
        cuzk_digest given;
        cuzk_digest own;
        memcpy(given.b, r->bytes[field], 32);
        memcpy(own.b, vanilla, 32);
        return CUZK_FAIL(err, CUZK_E_MISMATCH, "%s of the vanilla proof is %s, the request has %s",
                         cuzk_request_field_name(field), cuzk_digest_hex(found, &own),
                         cuzk_digest_hex(wanted, &given));
    }
    return CUZK_OK;
}

/* The sector's number: as set, or the envelope's. False when neither is there. */
static cuzk_status take_sector_number(bool *has, uint64_t *out, const cuzk_filecoin_request *r,
                                      cuzk_error *err)
{
    bool given = cuzk_request_has(r, CUZK_FIELD_SECTOR_NUMBER);
    bool enveloped = r->porep != NULL && r->porep->has_envelope;
    *has = given || enveloped;
    *out = given ? r->numbers[CUZK_FIELD_SECTOR_NUMBER] : enveloped ? r->porep->sector_number : 0;
    CUZK_FAIL_IF(given && enveloped && *out != r->porep->sector_number, err, CUZK_E_MISMATCH,
                 "SectorNum of the envelope is %" PRIu64 ", sector_number is %" PRIu64,
                 r->porep->sector_number, *out);
    return CUZK_OK;
}

/* replica_id from what names the sector, compared with the vanilla proof's. Without the names a
 * vanilla proof speaks for itself. */
static cuzk_status take_replica_id(cuzk_filecoin_job *job, const cuzk_filecoin_request *r,
                                   cuzk_error *err)
{
    cuzk_porep_statement *s = &job->u.porep;
    const cuzk_porep_vanilla *v = r->porep;
    bool has_number;
    uint64_t number;
    uint8_t ticket[32];
    CUZK_TRY(take_sector_number(&has_number, &number, r, err));
    if (v != NULL) { /* it must agree also where nothing is derived from it */
        CUZK_TRY(take_porep(ticket, r, CUZK_FIELD_TICKET, v->ticket, err));
    }
    if (v != NULL && (!has_number || !cuzk_request_has(r, CUZK_FIELD_MINER_ID))) {
        s->replica_id = v->replica_id;
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_request_need(r, CUZK_FIELD_MINER_ID, err));
    if (!has_number) {
        CUZK_TRY(cuzk_request_need(r, CUZK_FIELD_SECTOR_NUMBER, err));
    }
    uint8_t prover_id[32];
    uint8_t porep_id[32];
    if (v == NULL) {
        CUZK_TRY(take_porep(ticket, r, CUZK_FIELD_TICKET, NULL, err));
    }
    cuzk_prover_id(prover_id, r->numbers[CUZK_FIELD_MINER_ID]);
    cuzk_porep_id(porep_id, &job->proof);
    cuzk_replica_id(s->replica_id.b, prover_id, number, ticket, s->comm_d.b, porep_id);
    if (v != NULL && !cuzk_digest_eq(&s->replica_id, &v->replica_id)) {
        char found[CUZK_DIGEST_HEX_MAX];
        char wanted[CUZK_DIGEST_HEX_MAX];
        return CUZK_FAIL(err, CUZK_E_MISMATCH,
                         "replica_id of the vanilla proof is %s, miner %" PRIu64 " and sector "
                         "%" PRIu64 " give %s: it is of another sector",
                         cuzk_digest_hex(found, &v->replica_id), r->numbers[CUZK_FIELD_MINER_ID],
                         number, cuzk_digest_hex(wanted, &s->replica_id));
    }
    return CUZK_OK;
}

static cuzk_status init_porep(cuzk_filecoin_job *job, const cuzk_filecoin_request *r,
                              cuzk_error *err)
{
    cuzk_porep_statement *s = &job->u.porep;
    const cuzk_porep_vanilla *v = r->porep;
    uint8_t bytes[32];
    s->proof = job->proof;
    CUZK_TRY(take_porep(bytes, r, CUZK_FIELD_COMM_R, v != NULL ? v->comm_r.b : NULL, err));
    CUZK_TRY(cuzk_statement_digest(&s->comm_r, bytes, "comm_r", err));
    CUZK_TRY(take_porep(bytes, r, CUZK_FIELD_COMM_D, v != NULL ? v->comm_d.b : NULL, err));
    CUZK_TRY(cuzk_statement_digest(&s->comm_d, bytes, "comm_d", err));
    if (job->proof.variant != CUZK_POREP_NON_INTERACTIVE) {
        CUZK_TRY(take_porep(s->seed, r, CUZK_FIELD_SEED, v != NULL ? v->seed : NULL, err));
    }
    return take_replica_id(job, r, err);
}

static cuzk_status init_update(cuzk_filecoin_job *job, const cuzk_filecoin_request *r,
                               cuzk_error *err)
{
    cuzk_update_statement *s = &job->u.update;
    s->proof = job->proof;
    CUZK_TRY(take_digest(&s->comm_r_old, r, CUZK_FIELD_COMM_R_OLD, err));
    CUZK_TRY(take_digest(&s->comm_r_new, r, CUZK_FIELD_COMM_R_NEW, err));
    return take_digest(&s->comm_d_new, r, CUZK_FIELD_COMM_D_NEW, err);
}

/* The one sector that stands in the fields, or the list. */
static cuzk_status take_sectors(cuzk_filecoin_job *job, const cuzk_filecoin_request *r,
                                cuzk_error *err)
{
    cuzk_post_statement *s = &job->u.post;
    bool one = cuzk_request_has(r, CUZK_FIELD_COMM_R) ||
               (r->n_sectors == 0 && cuzk_request_has(r, CUZK_FIELD_SECTOR_NUMBER));
    CUZK_FAIL_IF(one && r->n_sectors != 0, err, CUZK_E_ARGUMENT,
                 "%s: a list of sectors and comm_r of a single one are given",
                 cuzk_proof_kind_name(r->kind));
    if (one) {
        CUZK_TRY(cuzk_request_need(r, CUZK_FIELD_SECTOR_NUMBER, err));
        CUZK_TRY(take_digest(&job->one_comm_r, r, CUZK_FIELD_COMM_R, err));
        job->one_id = r->numbers[CUZK_FIELD_SECTOR_NUMBER];
        s->sector_ids = &job->one_id;
        s->comm_r = &job->one_comm_r;
        job->n_sectors = 1;
        return CUZK_OK;
    }
    s->sector_ids = r->sector_ids;
    s->comm_r = r->comm_r;
    job->n_sectors = r->n_sectors;
    CUZK_FAIL_IF(
        cuzk_request_has(r, CUZK_FIELD_SECTOR_NUMBER) &&
            (r->n_sectors != 1 || r->sector_ids[0] != r->numbers[CUZK_FIELD_SECTOR_NUMBER]),
        err, CUZK_E_MISMATCH, "sector_number is %" PRIu64 ", which is not the one sector",
        r->numbers[CUZK_FIELD_SECTOR_NUMBER]);
    for (uint32_t i = 0; i < r->n_sectors; i++) {
        cuzk_digest ignored;
        cuzk_status status = cuzk_statement_digest(&ignored, r->comm_r[i].b, "comm_r", err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "sectors: element %u", i);
            return status;
        }
    }
    return CUZK_OK;
}

static cuzk_status init_post(cuzk_filecoin_job *job, const cuzk_filecoin_request *r,
                             cuzk_error *err)
{
    enum { SPARE_BITS = 0x3f /* of the last byte: what the verifier keeps of the randomness */ };
    cuzk_post_statement *s = &job->u.post;
    s->proof = job->proof;
    CUZK_TRY(cuzk_request_need(r, CUZK_FIELD_RANDOMNESS, err));
    memcpy(s->randomness, r->bytes[CUZK_FIELD_RANDOMNESS], sizeof s->randomness);
    s->randomness[31] &= SPARE_BITS;
    s->partition = cuzk_request_has(r, CUZK_FIELD_PARTITION_INDEX)
                       ? r->numbers[CUZK_FIELD_PARTITION_INDEX]
                       : 0;
    CUZK_FAIL_IF(s->partition > UINT32_MAX, err, CUZK_E_FORMAT,
                 "partition_index: %" PRIu64 " is not below 2^32", s->partition);
    CUZK_TRY(take_sectors(job, r, err));
    CUZK_FAIL_IF(job->n_sectors == 0, err, CUZK_E_ARGUMENT, "%s: no sector is given",
                 cuzk_proof_kind_name(r->kind));
    if (job->proof.kind == CUZK_PROOF_WINNING) {
        CUZK_FAIL_IF(job->n_sectors != 1, err, CUZK_E_MISMATCH,
                     "a Winning PoSt is about one sector, %u are given", job->n_sectors);
        return CUZK_OK;
    }
    unsigned per = cuzk_window_sectors(job->proof.sector);
    job->n_partitions = (job->n_sectors + per - 1) / per;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_job_init(cuzk_filecoin_job *out, const cuzk_filecoin_request *r,
                                   cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    CUZK_TRY(cuzk_request_proof(&out->proof, r, err));
    out->n_partitions = cuzk_proof_partitions(&out->proof);
    out->n_values = cuzk_public_inputs_count(&out->proof);
    switch (r->kind) {
    case CUZK_PROOF_POREP:
        return init_porep(out, r, err);
    case CUZK_PROOF_UPDATE:
        return init_update(out, r, err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return init_post(out, r, err);
}

cuzk_post_statement cuzk_filecoin_job_post(const cuzk_filecoin_job *job, unsigned k)
{
    cuzk_post_statement s = job->u.post;
    uint32_t per =
        job->proof.kind == CUZK_PROOF_WINNING ? 1 : cuzk_window_sectors(job->proof.sector);
    uint32_t first = k * per;
    s.partition += k;
    s.sector_ids += first;
    s.comm_r += first;
    s.n_sectors = job->n_sectors - first < per ? job->n_sectors - first : per;
    return s;
}

void cuzk_filecoin_job_public_inputs(cuzk_digest *out, const cuzk_filecoin_job *job, unsigned k)
{
    cuzk_post_statement post;
    switch (job->proof.kind) {
    case CUZK_PROOF_POREP:
        cuzk_porep_public_inputs(out, &job->u.porep, k);
        return;
    case CUZK_PROOF_UPDATE:
        cuzk_update_public_inputs(out, &job->u.update, k);
        return;
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    post = cuzk_filecoin_job_post(job, k);
    cuzk_post_public_inputs(out, &post);
}

cuzk_status cuzk_filecoin_request_partitions(unsigned *n_partitions,
                                             const cuzk_filecoin_request *request, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, n_partitions);
    CUZK_API_NOT_NULL(err, request);
    cuzk_filecoin_job job;
    CUZK_TRY(cuzk_filecoin_job_init(&job, request, err));
    *n_partitions = job.n_partitions;
    return CUZK_OK;
}
