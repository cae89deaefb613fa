/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of jobs. */
#include "client/request.h"

#include "base/bytes.h"
#include "formats/proof_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- PoRep ----------------------------------------------------------------------------------- */

/* The wire wants Curio's envelope around a commit-phase-1 output. */
static cuzk_status set_porep(cuzk_client_job *job, const cuzk_filecoin_request *r,
                             const cuzk_bytes *files, unsigned n_files, cuzk_error *err)
{
    const cuzk_porep_vanilla *v = r->porep;
    CUZK_FAIL_IF(v == NULL || n_files != 1, err, CUZK_E_ARGUMENT,
                 "PoRep: %u vanilla proofs are given, expected one", v == NULL ? 0 : n_files);
    Cuzk__V1__SubmitProofRequest *m = &job->message;
    uint64_t number = cuzk_request_has(r, CUZK_FIELD_SECTOR_NUMBER)
                          ? r->numbers[CUZK_FIELD_SECTOR_NUMBER]
                      : v->has_envelope ? v->sector_number
                                        : 0;
    CUZK_FAIL_IF(
        !cuzk_request_has(r, CUZK_FIELD_MINER_ID) ||
            (!v->has_envelope && !cuzk_request_has(r, CUZK_FIELD_SECTOR_NUMBER)),
        err, CUZK_E_ARGUMENT,
        "PoRep: the daemon compares the vanilla proof with miner_id and sector_number: the "
        "field %s is missing",
        cuzk_request_has(r, CUZK_FIELD_MINER_ID) ? "sector_number" : "miner_id");
    m->sector_number = number;
    m->vanilla_proof.len = files[0].n_bytes;
    m->vanilla_proof.data = (uint8_t *)files[0].data;
    if (v->has_envelope) {
        return CUZK_OK;
    }
    cuzk_text *text = &job->envelope;
    cuzk_text_printf(text, "{\"SectorNum\":%" PRIu64 ",\"Phase1Out\":\"", number);
    cuzk_text_put_base64(text, files[0].data, files[0].n_bytes);
    cuzk_text_printf(text, "\",\"SectorSize\":%" PRIu64 "}", v->proof.sector->bytes);
    CUZK_TRY(cuzk_text_check(text, err));
    m->vanilla_proof.len = text->size;
    m->vanilla_proof.data = (uint8_t *)text->data;
    return CUZK_OK;
}

/* ---- the other kinds ------------------------------------------------------------------------- */

static cuzk_status set_vanilla(cuzk_client_job *job, const cuzk_filecoin_request *r,
                               cuzk_error *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_files; i++) {
        n += r->files[i].n;
    }
    CUZK_FAIL_IF(n == 0, err, CUZK_E_ARGUMENT, "%s: no vanilla proof is given",
                 cuzk_proof_kind_name(r->kind));
    job->vanilla = calloc(n, sizeof *job->vanilla);
    CUZK_FAIL_IF(job->vanilla == NULL, err, CUZK_E_MEMORY, "making a request: out of memory");
    size_t k = 0;
    for (uint32_t i = 0; i < r->n_files; i++) {
        for (uint64_t j = 0; j < r->files[i].n; j++, k++) {
            job->vanilla[k].len = r->files[i].spans[j].size;
            job->vanilla[k].data = (uint8_t *)r->files[i].spans[j].data;
        }
    }
    job->message.n_vanilla_proofs = n;
    job->message.vanilla_proofs = job->vanilla;
    return CUZK_OK;
}

/* A PoSt's vanilla proof begins with the sector's number and comm_r (docs/filecoin.md). */
static cuzk_status match_sector(cuzk_filecoin_request *r, const ProtobufCBinaryData *v, size_t i,
                                bool listed, cuzk_error *err)
{
    enum { NUMBER_BYTES = 8, HEAD_BYTES = NUMBER_BYTES + 32 };
    CUZK_FAIL_IF(v->len < HEAD_BYTES, err, CUZK_E_TRUNCATED,
                 "vanilla proof %zu: %zu bytes, too few for a sector's number and comm_r", i,
                 v->len);
    uint64_t number = cuzk_load_u64_le(v->data);
    const uint8_t *comm_r = v->data + NUMBER_BYTES;
    if (!listed) {
        return cuzk_filecoin_request_add_sector(r, number, comm_r, err);
    }
    CUZK_FAIL_IF(
        number != r->sector_ids[i] || memcmp(comm_r, r->comm_r[i].b, 32) != 0, err, CUZK_E_MISMATCH,
        "vanilla proof %zu is of sector %" PRIu64 ", the request lists sector %" PRIu64 "%s there",
        i, number, r->sector_ids[i], number == r->sector_ids[i] ? " with another comm_r" : "");
    return CUZK_OK;
}

static cuzk_status match_sectors(const cuzk_client_job *job, cuzk_filecoin_request *r,
                                 cuzk_error *err)
{
    if (cuzk_request_has(r, CUZK_FIELD_COMM_R)) {
        return CUZK_OK; /* one sector, by its fields */
    }
    bool listed = r->n_sectors != 0;
    size_t n = job->message.n_vanilla_proofs;
    CUZK_FAIL_IF(listed && r->n_sectors != n, err, CUZK_E_MISMATCH,
                 "the request is about %u sectors, %zu vanilla proofs are given", r->n_sectors, n);
    for (size_t i = 0; i < n; i++) {
        CUZK_TRY(match_sector(r, &job->vanilla[i], i, listed, err));
    }
    return CUZK_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static ProtobufCBinaryData bytes_of(const cuzk_filecoin_request *r, cuzk_field_id field)
{
    ProtobufCBinaryData data = {0, NULL};
    if (cuzk_request_has(r, field)) {
        data.len = 32;
        data.data = (uint8_t *)r->bytes[field];
    }
    return data;
}

static uint64_t number_of(const cuzk_filecoin_request *r, cuzk_field_id field)
{
    return cuzk_request_has(r, field) ? r->numbers[field] : 0;
}

static cuzk_status fill(cuzk_client_job *job, cuzk_filecoin_request *r, const cuzk_bytes *files,
                        unsigned n_files, cuzk_error *err)
{
    Cuzk__V1__SubmitProofRequest *m = &job->message;
    m->proof_kind = (Cuzk__V1__ProofKind)r->kind;
    cuzk_registered_proof proof;
    CUZK_TRY(cuzk_request_proof(&proof, r, err));
    m->registered_proof = proof.number;
    m->sector_size = proof.sector->bytes;
    m->miner_id = number_of(r, CUZK_FIELD_MINER_ID);
    m->sector_number = number_of(r, CUZK_FIELD_SECTOR_NUMBER);
    m->partition_index = (uint32_t)number_of(r, CUZK_FIELD_PARTITION_INDEX);
    m->randomness = bytes_of(r, CUZK_FIELD_RANDOMNESS);
    m->comm_r_old = bytes_of(r, CUZK_FIELD_COMM_R_OLD);
    m->comm_r_new = bytes_of(r, CUZK_FIELD_COMM_R_NEW);
    m->comm_d_new = bytes_of(r, CUZK_FIELD_COMM_D_NEW);
    if (r->kind == CUZK_PROOF_POREP) {
        CUZK_TRY(set_porep(job, r, files, n_files, err));
    } else {
        CUZK_TRY(set_vanilla(job, r, err));
    }
    if (r->kind == CUZK_PROOF_WINDOW || r->kind == CUZK_PROOF_WINNING) {
        CUZK_TRY(match_sectors(job, r, err));
    }
    return cuzk_filecoin_request_partitions(&job->n_partitions, r, err);
}

cuzk_status cuzk_client_job_init(cuzk_client_job *out, cuzk_filecoin_request *request,
                                 const cuzk_bytes *files, unsigned n_files, cuzk_error *err)
{
    *out = (cuzk_client_job){.n_partitions = 0};
    cuzk__v1__submit_proof_request__init(&out->message);
    cuzk_status status = fill(out, request, files, n_files, err);
    if (status != CUZK_OK) {
        cuzk_client_job_clear(out);
    }
    return status;
}

void cuzk_client_job_clear(cuzk_client_job *job)
{
    cuzk_text_clear(&job->envelope);
    free(job->vanilla);
    job->vanilla = NULL;
}

bool cuzk_client_priority(Cuzk__V1__Priority *out, const char *name)
{
    static const char *const names[] = {"low", "normal", "high", "critical"};
    *out = CUZK__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    for (unsigned i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (Cuzk__V1__Priority)(i + 1);
            return true;
        }
    }
    return name == NULL;
}
