/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/filecoin_decode.h"

#include "work/digest_put.h"
#include "work/submit_request.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---------------------------------------------------------------------------------- */

static void set_number(cuzk_filecoin_request *r, cuzk_field_id field, uint64_t value)
{
    r->numbers[field] = value;
    r->given |= 1u << field;
}

/* A content identifier of a commitment is 40 bytes: version 1, codec, hash function, length and
 * then the commitment; its text is base32 behind a "b". */
static bool looks_like_cid(cuzk_wire_bytes b)
{
    return b.size > 32 &&
           ((b.data[0] == 1 && b.size <= 48) || (b.data[0] == 'b' && b.data[1] == 'a'));
}

static cuzk_status set_bytes(cuzk_filecoin_request *r, cuzk_field_id field, cuzk_wire_bytes value,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(value.size != 32, err, CUZK_E_ARGUMENT, "%s: %s: %zu bytes, expected 32%s",
                 cuzk_proof_kind_name(r->kind), cuzk_request_field_name(field), value.size,
                 looks_like_cid(value)
                     ? "; it looks like a CID, whose last 32 bytes are the commitment"
                     : "");
    memcpy(r->bytes[field], value.data, 32);
    r->given |= 1u << field;
    return CUZK_OK;
}

static cuzk_status set_sector_size(cuzk_filecoin_request *r, uint64_t bytes, cuzk_error *err)
{
    CUZK_FAIL_IF(bytes != 0 && cuzk_sector_by_bytes(bytes) == NULL, err, CUZK_E_ARGUMENT,
                 "sector_size: no sector has %" PRIu64 " bytes: %s", bytes, cuzk_sector_names());
    if (bytes != 0) {
        set_number(r, CUZK_FIELD_SECTOR_SIZE, bytes);
    }
    return CUZK_OK;
}

static cuzk_status refuse_zero(const uint8_t bytes[32], const char *name, cuzk_error *err)
{
    static const uint8_t zero[32];
    CUZK_FAIL_IF(memcmp(bytes, zero, sizeof zero) == 0, err, CUZK_E_FORMAT,
                 "PoRep: %s of the vanilla proof is all zero", name);
    return CUZK_OK;
}

/* The sector is named by miner_id and sector_number, 0 included: a proof of another one would be
 * good for nothing. */
static cuzk_status set_porep(cuzk_filecoin_request *r, const cuzk_submit_request *s,
                             cuzk_error *err)
{
    cuzk_registered_proof ignored;
    CUZK_TRY(cuzk_registered_proof_get(&ignored, CUZK_PROOF_POREP, s->registered_proof, err));
    CUZK_FAIL_IF(s->vanilla_proof.size == 0, err, CUZK_E_ARGUMENT, "PoRep: vanilla_proof is empty");
    set_number(r, CUZK_FIELD_MINER_ID, s->miner_id);
    set_number(r, CUZK_FIELD_SECTOR_NUMBER, s->sector_number);
    cuzk_status status =
        cuzk_filecoin_request_add_vanilla(r, s->vanilla_proof.data, s->vanilla_proof.size, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "PoRep: vanilla_proof");
        return status;
    }
    CUZK_TRY(refuse_zero(r->porep->comm_r.b, "comm_r", err));
    CUZK_TRY(refuse_zero(r->porep->comm_d.b, "comm_d", err));
    return r->porep->proof.variant == CUZK_POREP_NON_INTERACTIVE
               ? CUZK_OK
               : refuse_zero(r->porep->seed, "seed", err);
}

static cuzk_status set_update(cuzk_filecoin_request *r, const cuzk_submit_request *s,
                              cuzk_error *err)
{
    CUZK_TRY(set_bytes(r, CUZK_FIELD_COMM_R_OLD, s->comm_r_old, err));
    CUZK_TRY(set_bytes(r, CUZK_FIELD_COMM_R_NEW, s->comm_r_new, err));
    return set_bytes(r, CUZK_FIELD_COMM_D_NEW, s->comm_d_new, err);
}

static cuzk_status set_post(cuzk_filecoin_request *r, const cuzk_submit_request *s, cuzk_error *err)
{
    set_number(r, CUZK_FIELD_MINER_ID, s->miner_id);
    if (r->kind == CUZK_PROOF_WINDOW) {
        set_number(r, CUZK_FIELD_PARTITION_INDEX, s->partition_index);
    }
    return set_bytes(r, CUZK_FIELD_RANDOMNESS, s->randomness, err);
}

static cuzk_status set_fields(cuzk_filecoin_request *r, const cuzk_submit_request *s,
                              cuzk_error *err)
{
    CUZK_TRY(set_sector_size(r, s->sector_size, err));
    if (r->kind == CUZK_PROOF_POREP) {
        return set_porep(r, s, err);
    }
    set_number(r, CUZK_FIELD_REGISTERED_PROOF, s->registered_proof);
    return r->kind == CUZK_PROOF_UPDATE ? set_update(r, s, err) : set_post(r, s, err);
}

/* One call is one partition of a Window PoSt; the library's request may be a whole deadline. */
static cuzk_status check_one_partition(const cuzk_filecoin_request *r, const cuzk_submit_request *s,
                                       cuzk_error *err)
{
    cuzk_registered_proof proof;
    if (r->kind != CUZK_PROOF_WINDOW) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_request_proof(&proof, r, err));
    unsigned most = cuzk_window_sectors(proof.sector);
    CUZK_FAIL_IF(
        s->n_vanilla_proofs > most, err, CUZK_E_MISMATCH,
        "a Window PoSt partition of %s has at most %u sectors, %u vanilla_proofs are given",
        proof.sector->name, most, s->n_vanilla_proofs);
    return CUZK_OK;
}

/* ---- digest ---------------------------------------------------------------------------------- */

/* What a digest begins with. Of a PoRep it is known once its vanilla proof is read, but nearly
 * always what the request says: so the digest of a large payload is made meanwhile from that, and
 * only where it was wrong once more. */
typedef struct {
    uint64_t kind, number, sector_bytes, partition;
} digest_head;

static digest_head head_of(const cuzk_filecoin_job *job)
{
    bool is_post = job->proof.kind == CUZK_PROOF_WINDOW || job->proof.kind == CUZK_PROOF_WINNING;
    return (digest_head){job->proof.kind, job->proof.number, job->proof.sector->bytes,
                         is_post ? job->u.post.partition : 0};
}

static digest_head guess_head(const cuzk_submit_request *s)
{
    digest_head head = {.kind = s->proof_kind,
                        .number = s->registered_proof,
                        .sector_bytes = s->sector_size,
                        .partition = s->proof_kind == CUZK_PROOF_WINDOW ? s->partition_index : 0};
    cuzk_registered_proof proof;
    if (s->sector_size == 0 && s->proof_kind >= CUZK_PROOF_POREP &&
        s->proof_kind <= CUZK_PROOF_WINNING &&
        cuzk_registered_proof_get(&proof, (cuzk_proof_kind)s->proof_kind, s->registered_proof,
                                  NULL) == CUZK_OK) {
        head.sector_bytes = proof.sector->bytes;
    }
    return head;
}

static bool is_same_head(const digest_head *a, const digest_head *b)
{
    return a->kind == b->kind && a->number == b->number && a->sector_bytes == b->sector_bytes &&
           a->partition == b->partition;
}

static void make_digest(uint8_t out[32], const digest_head *head, const cuzk_submit_request *s)
{
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_digest_put_number(&sha, head->kind);
    cuzk_digest_put_number(&sha, head->number);
    cuzk_digest_put_number(&sha, head->sector_bytes);
    switch (head->kind) {
    case CUZK_PROOF_POREP:
        cuzk_digest_put_number(&sha, s->miner_id);
        cuzk_digest_put_number(&sha, s->sector_number);
        cuzk_digest_put_bytes(&sha, s->vanilla_proof.data, s->vanilla_proof.size);
        break;
    case CUZK_PROOF_UPDATE:
        cuzk_digest_put_bytes(&sha, s->comm_r_old.data, s->comm_r_old.size);
        cuzk_digest_put_bytes(&sha, s->comm_r_new.data, s->comm_r_new.size);
        cuzk_digest_put_bytes(&sha, s->comm_d_new.data, s->comm_d_new.size);
        break;
    default:
        cuzk_digest_put_number(&sha, s->miner_id);
        cuzk_digest_put_bytes(&sha, s->randomness.data, s->randomness.size);
        cuzk_digest_put_number(&sha, head->partition);
        break;
    }
    if (head->kind != CUZK_PROOF_POREP) {
        cuzk_digest_put_number(&sha, s->n_vanilla_proofs);
        for (uint32_t i = 0; i < s->n_vanilla_proofs; i++) {
            cuzk_digest_put_bytes(&sha, s->vanilla_proofs[i].data,
                                  (size_t)s->vanilla_proofs[i].size);
        }
    }
    cuzk_sha256_final(&sha, out);
}

/* A digest that a thread of its own makes while the payload is read. */
typedef struct {
    const cuzk_submit_request *s;
    digest_head head;
    uint8_t digest[32];
    pthread_t thread;
    bool is_running;
} digest_ahead;

static void *run_digest(void *arg)
{
    digest_ahead *a = arg;
    make_digest(a->digest, &a->head, a->s);
    return NULL;
}

/* From so many bytes on it is worth a thread; without one the digest is made later. */
static void begin_digest(digest_ahead *a, const cuzk_submit_request *s, size_t n_bytes)
{
    enum { AHEAD_FROM = 1 << 20 };
    *a = (digest_ahead){.s = s, .head = guess_head(s)};
    a->is_running = n_bytes >= AHEAD_FROM && pthread_create(&a->thread, NULL, run_digest, a) == 0;
}

static void end_digest(digest_ahead *a)
{
    if (a->is_running) {
        pthread_join(a->thread, NULL);
    }
}

static void take_digest(cuzk_filecoin_decoded *d, digest_ahead *a)
{
    digest_head head = head_of(&d->task.job);
    bool was_running = a->is_running;
    end_digest(a);
    a->is_running = false;
    if (was_running && is_same_head(&head, &a->head)) {
        memcpy(d->digest, a->digest, sizeof d->digest);
    } else {
        make_digest(d->digest, &head, a->s);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status decode_fields(cuzk_filecoin_decoded *d, const cuzk_submit_request *s,
                                 cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(s->proof_kind < CUZK_PROOF_POREP || s->proof_kind > CUZK_PROOF_WINNING, err,
                 CUZK_E_ARGUMENT,
                 "proof_kind: %" PRIu64 " is not known: 1 PoRep, 2 Update, 3 Window PoSt, 4 "
                 "Winning PoSt",
                 s->proof_kind);
    CUZK_TRY(cuzk_filecoin_request_create(&d->request, (cuzk_filecoin_kind)s->proof_kind, err));
    CUZK_TRY(set_fields(d->request, s, err));
    CUZK_TRY(check_one_partition(d->request, s, err));
    CUZK_TRY(cuzk_filecoin_task_init(&d->task, d->request, s->vanilla_proofs, s->n_vanilla_proofs,
                                     pool, err));
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_decode(cuzk_filecoin_decoded **out, const void *payload, size_t n_bytes,
                                 cuzk_pool *pool, cuzk_error *err)
{
    cuzk_submit_request s;
    cuzk_status status = cuzk_submit_request_read(&s, payload, n_bytes, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "reading a SubmitProofRequest");
        return status;
    }
    digest_ahead ahead;
    begin_digest(&ahead, &s, n_bytes);
    cuzk_filecoin_decoded *made = calloc(1, sizeof *made);
    status = made == NULL ? CUZK_FAIL(err, CUZK_E_MEMORY, "reading a request: out of memory")
                          : decode_fields(made, &s, pool, err);
    if (status == CUZK_OK) {
        take_digest(made, &ahead);
    } else {
        end_digest(&ahead);
    }
    cuzk_submit_request_clear(&s);
    if (status != CUZK_OK) {
        cuzk_filecoin_decoded_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

void cuzk_filecoin_decoded_destroy(cuzk_filecoin_decoded *decoded)
{
    if (decoded != NULL) {
        cuzk_filecoin_task_clear(&decoded->task);
        cuzk_filecoin_request_destroy(decoded->request);
        free(decoded);
    }
}
