/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of sectors that never existed, through the C library. */
#include "api/api.h"

#include "base/out_file.h"
#include "cuzk_synthetic.h"
#include "filecoin/synthetic.h"
#include "filecoin/vanilla_check.h"
#include "filecoin/vanilla_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A call on the way. */
typedef struct {
    const cuzk_ctx *ctx;
    cuzk_synthetic_params params;
    bool envelope;
    FILE *file;        /* of the vanilla proof */
    cuzk_text request; /* its JSON */
    cuzk_error *err;
} job;

static const struct {
    const char *name;
    cuzk_proof_kind kind;
    uint64_t first_number; /* of the newest registered proofs that can be made, at 2KiB */
} kinds[] = {{"porep", CUZK_PROOF_POREP, 5},
             {"snap", CUZK_PROOF_UPDATE, 0},
             {"window", CUZK_PROOF_WINDOW, 10},
             {"winning", CUZK_PROOF_WINNING, 0}};

/* The registered proof that the options ask for. */
static cuzk_status choose_proof(cuzk_registered_proof *out, const cuzk_synthetic_options *o,
                                cuzk_error *err)
{
    const cuzk_sector *sector = cuzk_sector_by_name(o->sector_size, strlen(o->sector_size));
    CUZK_FAIL_IF(sector == NULL, err, CUZK_E_ARGUMENT,
                 "sector size \"%s\" is not known: expected one of %s", o->sector_size,
                 cuzk_sector_names());
    unsigned k = 0;
    while (k < sizeof kinds / sizeof kinds[0] && strcmp(kinds[k].name, o->kind) != 0) {
        k++;
    }
    CUZK_FAIL_IF(k == sizeof kinds / sizeof kinds[0], err, CUZK_E_ARGUMENT,
                 "kind \"%s\" is not known: expected porep, snap, window or winning", o->kind);
    uint64_t number = o->registered_proof;
    CUZK_TRY(cuzk_registered_proof_get(
        out, kinds[k].kind, number == CUZK_SYNTHETIC_NEWEST ? kinds[k].first_number : number, err));
    CUZK_TRY(cuzk_registered_proof_resize(out, sector, err));
    CUZK_FAIL_IF(number != CUZK_SYNTHETIC_NEWEST && out->number != number, err, CUZK_E_ARGUMENT,
                 "registered proof %" PRIu64 " is not one of sectors of %s (%" PRIu64
                 " would be the number)",
                 number, sector->name, out->number);
    return CUZK_OK;
}

static void put_hex(job *j, const char *name, const void *bytes)
{
    char hex[CUZK_DIGEST_HEX_MAX];
    cuzk_text_printf(&j->request, ",\n \"%s\": \"%s\"", name, cuzk_digest_hex(hex, bytes));
}

/* What every request begins with. */
static void put_head(job *j)
{
    cuzk_text_printf(&j->request,
                     "{\n \"registered_proof\": %" PRIu64 ",\n \"sector_size\": \"%s\"",
                     j->params.proof.number, j->params.proof.sector->name);
}

static cuzk_status make_porep(job *j)
{
    cuzk_porep_vanilla v;
    cuzk_porep_statement s;
    CUZK_TRY(cuzk_synthetic_porep(&v, &j->params, j->err));
    v.sector_number = j->params.sector_number;
    cuzk_porep_statement_of(&s, &v);
    cuzk_status status = cuzk_porep_check(&v, &s, j->ctx->pool, j->err);
    if (status == CUZK_OK) {
        status = cuzk_porep_vanilla_write(j->file, &v, j->envelope, j->err);
    }
    cuzk_text_printf(&j->request, ",\n \"miner_id\": %" PRIu64 ",\n \"sector_number\": %" PRIu64,
                     j->params.miner_id, j->params.sector_number);
    put_hex(j, "ticket", v.ticket);
    put_hex(j, "seed", v.seed);
    put_hex(j, "comm_d", &v.comm_d);
    put_hex(j, "comm_r", &v.comm_r);
    cuzk_porep_vanilla_clear(&v);
    return status;
}

static cuzk_status check_post(job *j, const cuzk_post_vanilla *v, const uint8_t randomness[32])
{
    uint64_t *ids = calloc(v->n_sectors, sizeof *ids);
    cuzk_digest *comm_r = calloc(v->n_sectors, sizeof *comm_r);
    cuzk_status status = CUZK_OK;
    if (ids == NULL || comm_r == NULL) {
        status = CUZK_FAIL(j->err, CUZK_E_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; status == CUZK_OK && i < v->n_sectors; i++) {
        ids[i] = v->sectors[i].sector_id;
        comm_r[i] = v->sectors[i].comm_r;
    }
    if (status == CUZK_OK) {
        cuzk_post_statement s = {.proof = v->proof,
                                 .partition = j->params.partition,
                                 .n_sectors = v->n_sectors,
                                 .sector_ids = ids,
                                 .comm_r = comm_r};
        memcpy(s.randomness, randomness, sizeof s.randomness);
        status = cuzk_post_check(v, &s, j->ctx->pool, j->err);
    }
    free(ids);
    free(comm_r);
    return status;
}

static cuzk_status make_post(job *j)
{
    cuzk_post_vanilla v;
    uint8_t randomness[32];
    CUZK_TRY(cuzk_synthetic_post(&v, randomness, &j->params, j->err));
    cuzk_status status = check_post(j, &v, randomness);
    if (status == CUZK_OK) {
        status = cuzk_post_vanilla_write(j->file, &v, j->err);
    }
    cuzk_text_printf(&j->request, ",\n \"miner_id\": %" PRIu64, j->params.miner_id);
    put_hex(j, "randomness", randomness);
    if (v.proof.kind == CUZK_PROOF_WINDOW) {
        cuzk_text_printf(&j->request, ",\n \"partition_index\": %" PRIu64, j->params.partition);
    }
    for (uint32_t i = 0; i < v.n_sectors; i++) {
        char hex[CUZK_DIGEST_HEX_MAX];
        cuzk_text_printf(&j->request, "%s\n  {\"sector_number\": %" PRIu64 ", \"comm_r\": \"%s\"}",
                         i == 0 ? ",\n \"sectors\": [" : ",", v.sectors[i].sector_id,
                         cuzk_digest_hex(hex, &v.sectors[i].comm_r));
    }
    cuzk_text_put(&j->request, "]");
    cuzk_post_vanilla_clear(&v);
    return status;
}

static cuzk_status make_update(job *j)
{
    cuzk_update_vanilla v;
    cuzk_update_statement s;
    CUZK_TRY(cuzk_synthetic_update(&v, &s, &j->params, j->err));
    cuzk_status status = cuzk_update_check(&v, &s, j->ctx->pool, j->err);
    if (status == CUZK_OK) {
        status = cuzk_update_vanilla_write(j->file, &v, j->err);
    }
    put_hex(j, "comm_r_old", &s.comm_r_old);
    put_hex(j, "comm_r_new", &s.comm_r_new);
    put_hex(j, "comm_d_new", &s.comm_d_new);
    cuzk_update_vanilla_clear(&v);
    return status;
}

static cuzk_status make(job *j)
{
    put_head(j);
    switch (j->params.proof.kind) {
    case CUZK_PROOF_POREP:
        CUZK_TRY(make_porep(j));
        break;
    case CUZK_PROOF_UPDATE:
        CUZK_TRY(make_update(j));
        break;
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        CUZK_TRY(make_post(j));
        break;
    }
    cuzk_text_put(&j->request, "\n}\n");
    return cuzk_text_check(&j->request, j->err);
}

/* Write the files: the vanilla proof, and the request if it has a path. */
static cuzk_status write_files(job *j, const char *vanilla_path, const char *request_path)
{
    cuzk_out_file files[2] = {{0}};
    size_t n = 0;
    cuzk_status status = cuzk_out_file_open(&files[0], vanilla_path, j->err);
    if (status == CUZK_OK) {
        n = 1;
        j->file = files[0].file;
        status = make(j);
        if (status == CUZK_E_FILE && ferror(files[0].file)) {
            /* what could not be written, and why: the commit tells both */
            cuzk_error_clear(j->err);
            return cuzk_out_files_commit(files, n, j->err);
        }
    }
    if (status == CUZK_OK && request_path != NULL) {
        status = cuzk_out_file_open(&files[1], request_path, j->err);
    }
    if (status == CUZK_OK && request_path != NULL) {
        n = 2;
        /* a failure is reported when the file is committed */
        fwrite(j->request.data, 1, j->request.size, files[1].file);
    }
    if (status == CUZK_OK) {
        return cuzk_out_files_commit(files, n, j->err);
    }
    cuzk_out_file_abort(&files[0]);
    cuzk_out_file_abort(&files[1]);
    return status;
}

cuzk_status cuzk_synthetic_vanilla_write(const cuzk_ctx *ctx, const char *vanilla_path,
                                         const char *request_path,
                                         const cuzk_synthetic_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vanilla_path);
    CUZK_API_NOT_NULL(err, options);
    cuzk_synthetic_options o = CUZK_SYNTHETIC_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_synthetic_options", err));
    CUZK_FAIL_IF(o.kind == NULL || o.sector_size == NULL, err, CUZK_E_ARGUMENT,
                 "kind and sector_size must be given");
    job j = {.ctx = ctx,
             .params = {.seed = o.seed,
                        .miner_id = o.miner_id,
                        .sector_number = o.sector_number,
                        .n_sectors = o.n_sectors,
                        .partition = o.partition},
             .envelope = o.envelope,
             .err = err};
    CUZK_TRY(choose_proof(&j.params.proof, &o, err));
    CUZK_FAIL_IF(o.envelope && j.params.proof.kind != CUZK_PROOF_POREP, err, CUZK_E_ARGUMENT,
                 "only a porep has an envelope");
    CUZK_FAIL_IF(o.n_sectors != 1 && j.params.proof.kind != CUZK_PROOF_WINDOW, err, CUZK_E_ARGUMENT,
                 "only a window proof has several sectors");
    cuzk_status status = write_files(&j, vanilla_path, request_path);
    cuzk_text_clear(&j.request);
    return status;
}
