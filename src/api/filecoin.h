/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the sources behind cuzk_filecoin.h share: the request, and the job that it becomes when all
 * of its fields are there and fit together. */
#ifndef CUZK_API_FILECOIN_H
#define CUZK_API_FILECOIN_H

#include "api/api.h"
#include "cuzk_filecoin.h"
#include "filecoin/param_files.h"
#include "filecoin/statement.h"
#include "filecoin/vanilla_pieces.h"

/* Fields that are numbers, then those that are 32 bytes. */
typedef enum {
    CUZK_FIELD_REGISTERED_PROOF,
    CUZK_FIELD_SECTOR_SIZE,
    CUZK_FIELD_MINER_ID,
    CUZK_FIELD_SECTOR_NUMBER,
    CUZK_FIELD_PARTITION_INDEX,
    CUZK_FIELD_TICKET,
    CUZK_FIELD_SEED,
    CUZK_FIELD_RANDOMNESS,
    CUZK_FIELD_COMM_R,
    CUZK_FIELD_COMM_D,
    CUZK_FIELD_COMM_R_OLD,
    CUZK_FIELD_COMM_R_NEW,
    CUZK_FIELD_COMM_D_NEW,
    CUZK_FIELD_COUNT
} cuzk_field_id;

struct cuzk_filecoin_request {
    cuzk_proof_kind kind;
    uint32_t given; /* bit i: field i is set */
    uint64_t numbers[CUZK_FIELD_TICKET];
    uint8_t bytes[CUZK_FIELD_COUNT][32]; /* from CUZK_FIELD_TICKET on */
    /* PoSt: sectors in their order; two arrays of n_sectors */
    uint64_t *sector_ids;
    cuzk_digest *comm_r;
    uint32_t n_sectors, capacity;
    /* vanilla proofs: a PoRep's; of the other kinds files, each of one proof or more */
    cuzk_porep_vanilla *porep;
    cuzk_vanilla_pieces *files;
    uint32_t n_files, files_capacity;
};

struct cuzk_filecoin_key {
    cuzk_registered_proof proof; /* kind and sector count */
    char *path;
    uint64_t n_bytes; /* of the file */
    unsigned lg_domain;
    cuzk_input input; /* closed where the points are decoded and the process proves often */
    cuzk_shape *shape;
    cuzk_prover *prover;
    struct cuzk_api_device *device; /* of its large sums; NULL: the CPU */
    cuzk_device_choice choice;
    struct cuzk_pinned_pool *pinned; /* of the device */
    bool is_published;
};

struct cuzk_filecoin_proof {
    cuzk_registered_proof proof;
    unsigned n_partitions;
    uint8_t *bytes; /* n_partitions × 192 */
    cuzk_prove_stats stats;
};

static inline bool cuzk_request_has(const cuzk_filecoin_request *request, cuzk_field_id field)
{
    return (request->given >> field & 1) != 0;
}

/** Name of a field: "comm_r". */
const char *cuzk_request_field_name(cuzk_field_id field);

/** Fail with E_ARGUMENT naming the field unless it is set. */
cuzk_status cuzk_request_need(const cuzk_filecoin_request *request, cuzk_field_id field,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** The registered proof of a request, compared with its sector size. Errors: as
 *  cuzk_filecoin_request_partitions. */
cuzk_status cuzk_request_proof(cuzk_registered_proof *out, const cuzk_filecoin_request *request,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/* A request that is complete: what its circuits state. Points into itself: not to be copied. */
typedef struct {
    cuzk_registered_proof proof;
    unsigned n_partitions;
    unsigned n_values; /* public inputs of a partition */
    union {
        cuzk_porep_statement porep;
        cuzk_update_statement update;
        /* of all partitions together; the views that a partition has are made when it is asked for.
         * sector_ids and comm_r: of the request, or `one` */
        cuzk_post_statement post;
    } u;
    uint32_t n_sectors;
    uint64_t one_id;
    cuzk_digest one_comm_r;
} cuzk_filecoin_job;

/** Make the job of a request, which it borrows from. A PoRep's vanilla proof fills in fields that
 *  are not set, and must agree with those that are. Errors: as cuzk_filecoin_request_partitions.
 */
cuzk_status cuzk_filecoin_job_init(cuzk_filecoin_job *out, const cuzk_filecoin_request *request,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** The statement of partition k of a PoSt job: its own sectors. */
cuzk_post_statement cuzk_filecoin_job_post(const cuzk_filecoin_job *job, unsigned k);

/** Public inputs of partition k: n_values values. */
void cuzk_filecoin_job_public_inputs(cuzk_digest *out, const cuzk_filecoin_job *job, unsigned k);

/** Path of a parameter file in a folder. test: NAME.test.EXT. out: returned; free. Errors:
 * E_MEMORY.
 */
cuzk_status cuzk_filecoin_param_path(char **out, const char *folder, cuzk_proof_kind kind,
                                     const cuzk_sector *sector, cuzk_param_file file, bool test,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** The parameter file of a circuit in a folder (NULL: cuzk_param_folder): the network's, or, where
 *  test keys are allowed and it is not there, a test key. out: returned; free. Errors: E_FILE with
 *  the way to get it; E_MEMORY. */
cuzk_status cuzk_filecoin_param_find(char **out, const char *folder,
                                     const cuzk_registered_proof *proof, cuzk_param_file file,
                                     bool allow_test_key, cuzk_error *err) CUZK_WARN_UNUSED;

/* As cuzk_filecoin_key_options, and: */
typedef struct {
    const char *circuits_folder;
    bool allow_test_key;
    bool proves_once;    /* drop_pages */
    bool proves_often;   /* all points are decoded and the file let go: it may change afterwards */
    bool device_decodes; /* … not; proofs are made with devices, which decode the file's points */
    const char *device;
    cuzk_reporter reporter;
} cuzk_filecoin_key_params;

/** Open the key at `path` for the circuit of a proof's kind and sector. Returned:
 *  cuzk_filecoin_key_close. Errors: as cuzk_filecoin_key_open. */
cuzk_status cuzk_filecoin_key_make(const cuzk_ctx *ctx, cuzk_filecoin_key **out, const char *path,
                                   const cuzk_registered_proof *proof,
                                   const cuzk_filecoin_key_params *params,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

#endif
