/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The golden cases as payloads of the wire. */
#ifndef CUZK_TESTS_FILECOIN_PAYLOAD_H
#define CUZK_TESTS_FILECOIN_PAYLOAD_H

#include "work_test.h"

#include "cuzk/v1/proving.pb-c.h"
#include "formats/proof_text.h"
#include "json_field.h"

enum { PAYLOAD_FILES_MAX = 4 };

/* A request whose bytes fields point into what is held beside it. */
typedef struct {
    Cuzk__V1__SubmitProofRequest request;
    cuzk_fixture expected, c1, files[PAYLOAD_FILES_MAX];
    unsigned n_files;
    ProtobufCBinaryData proofs[PAYLOAD_FILES_MAX];
    cuzk_text envelope;
    uint8_t bytes[4][32];
} payload;

static inline cuzk_fixture payload_file(const char *name, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "cases/%s/%s", name, file);
    return cuzk_test_fixture(path);
}

static inline ProtobufCBinaryData payload_hex(payload *p, unsigned slot, const char *field)
{
    json_hex((const char *)p->expected.data, field, p->bytes[slot], 32);
    return (ProtobufCBinaryData){32, p->bytes[slot]};
}

/* miner_id of a prover_id: LEB128. */
static inline uint64_t payload_miner(const payload *p)
{
    uint8_t id[32];
    uint64_t miner = 0;
    json_hex((const char *)p->expected.data, "prover_id", id, sizeof id);
    for (unsigned i = 0; i == 0 || id[i - 1] >= 128; i++) {
        miner |= (uint64_t)(id[i] & 127) << 7 * i;
    }
    return miner;
}

static inline void payload_envelope(payload *p)
{
    const char *json = (const char *)p->expected.data;
    cuzk_text_printf(&p->envelope, "{\"SectorNum\":%llu,\"Phase1Out\":\"",
                     (unsigned long long)json_u64(json, "sector"));
    cuzk_text_put_base64(&p->envelope, p->c1.data, (size_t)p->c1.size);
    cuzk_text_printf(&p->envelope, "\",\"SectorSize\":%llu}",
                     (unsigned long long)json_u64(json, "sector_size"));
    p->request.vanilla_proof = (ProtobufCBinaryData){p->envelope.size, (uint8_t *)p->envelope.data};
}

/* Files first … first + n - 1 of a case of the other kinds. */
static inline void payload_add_files(payload *p, const char *name, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", first + i);
        p->files[i] = payload_file(name, file);
        p->proofs[i] = (ProtobufCBinaryData){(size_t)p->files[i].size, p->files[i].data};
    }
    p->n_files = n;
    p->request.vanilla_proofs = p->proofs;
    p->request.n_vanilla_proofs = n;
}

/* The payload of a case: of a Window PoSt, the partition of files first … first + n - 1. */
static inline payload *payload_open(const char *name, unsigned first, unsigned n)
{
    payload *p = calloc(1, sizeof *p);
    Cuzk__V1__SubmitProofRequest *r = &p->request;
    const char *kind = strncmp(name, "vector-", 7) == 0 ? name + 7 : name;
    cuzk__v1__submit_proof_request__init(r);
    p->expected = payload_file(name, "expected.json");
    const char *json = (const char *)p->expected.data;
    if (strncmp(kind, "porep", 5) == 0) {
        r->proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
        r->registered_proof = json_u64(json, "registered_seal_proof");
        r->miner_id = payload_miner(p);
        r->sector_number = json_u64(json, "sector");
        p->c1 = payload_file(name, "c1.json");
        payload_envelope(p);
        return p;
    }
    payload_add_files(p, name, first, n);
    if (strncmp(kind, "update", 6) == 0) {
        r->proof_kind = CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE;
        r->registered_proof = json_u64(json, "registered_update_proof");
        r->comm_r_old = payload_hex(p, 0, "comm_r_old");
        r->comm_r_new = payload_hex(p, 1, "comm_r_new");
        r->comm_d_new = payload_hex(p, 2, "comm_d_new");
        return p;
    }
    r->proof_kind = strncmp(kind, "window", 6) == 0 ? CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION
                                                    : CUZK__V1__PROOF_KIND__WINNING_POST;
    r->registered_proof = json_u64(json, "registered_post_proof");
    r->randomness = payload_hex(p, 3, "randomness");
    r->miner_id = 1000;
    r->partition_index = first / 2;
    return p;
}

static inline void payload_close(payload *p)
{
    cuzk_test_fixture_free(&p->expected);
    cuzk_test_fixture_free(&p->c1);
    for (unsigned i = 0; i < p->n_files; i++) {
        cuzk_test_fixture_free(&p->files[i]);
    }
    cuzk_text_clear(&p->envelope);
    free(p);
}

/* The request's bytes. Returned: free. */
static inline uint8_t *payload_pack(const payload *p, size_t *n_bytes)
{
    *n_bytes = cuzk__v1__submit_proof_request__get_packed_size(&p->request);
    uint8_t *bytes = malloc(*n_bytes + 1);
    cuzk__v1__submit_proof_request__pack(&p->request, bytes);
    return bytes;
}

/* Decode the request as it is now. */
static inline cuzk_status payload_decode(const payload *p, const cuzk_work *table, cuzk_task **task,
                                         cuzk_task_info *info, cuzk_error *e)
{
    size_t n_bytes;
    uint8_t *bytes = payload_pack(p, &n_bytes);
    cuzk_status status = table->decode(table->user, task, info, bytes, n_bytes, e);
    memset(bytes, 0xee, n_bytes); /* nothing of it may be needed any more */
    free(bytes);
    return status;
}

#endif
