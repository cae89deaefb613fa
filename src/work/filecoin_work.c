/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/filecoin_work.h"

#include "api/circuit_counts.h"
#include "filecoin/circuit_get.h"
#include "gadget/poseidon.h"
#include "work/filecoin_decode.h"
#include "work/on_device.h"
#include "work/unit_prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The opaque types of the engine's table. */
struct cuzk_task {
    cuzk_filecoin_decoded *decoded;
};

struct cuzk_resident {
    char circuit[CUZK_CIRCUIT_ID_MAX];
    cuzk_filecoin_key *key;
    uint64_t device_bytes; /* reserved on a device that it is on */
    cuzk_on_device on;
};

struct cuzk_unit_witness {
    cuzk_witness *values;
};

struct cuzk_filecoin_work {
    const cuzk_ctx *ctx;
    const cuzk_work_devices *devices;
    char *params_folder; /* NULL: the environment's */
    char *circuits_folder;
    bool allow_test_key;
    cuzk_filecoin_key_maker key_maker;
    cuzk_work table;
};

/* ---- tasks ----------------------------------------------------------------------------------- */

static void task_destroy(void *user, cuzk_task *task)
{
    (void)user;
    if (task != NULL) {
        cuzk_filecoin_decoded_destroy(task->decoded);
        free(task);
    }
}

static uint64_t resident_device_bytes(const cuzk_filecoin_work *work,
                                      const cuzk_circuit_counts *counts)
{
    cuzk_key_numbers numbers = cuzk_key_numbers_filecoin(counts);
    return cuzk_on_device_bytes(work->devices, &numbers);
}

static cuzk_status fill_info(cuzk_task_info *info, const cuzk_filecoin_work *work,
                             const cuzk_filecoin_decoded *decoded, cuzk_error *err)
{
    const cuzk_filecoin_job *job = &decoded->task.job;
    const cuzk_circuit_counts *counts = NULL;
    char id[CUZK_PARAM_CIRCUIT_MAX];
    cuzk_circuit_id(id, job->proof.kind, job->proof.sector);
    CUZK_TRY(cuzk_circuit_counts_get(&counts, id, err));
    *info = (cuzk_task_info){
        .n_units = job->n_partitions,
        .task_bytes = cuzk_filecoin_task_bytes(&decoded->task),
        .witness_bytes = cuzk_circuit_witness_bytes(counts),
        .host_bytes = cuzk_circuit_host_bytes(counts, cuzk_work_devices_are_cards(work->devices),
                                              work->ctx->pool),
        .resident_bytes =
            cuzk_circuit_resident_bytes(counts, cuzk_work_devices_are_cards(work->devices)),
        .resident_device_bytes = resident_device_bytes(work, counts),
    };
    memcpy(info->digest, decoded->digest, sizeof info->digest);
    snprintf(info->circuit, sizeof info->circuit, "%s", id);
    return CUZK_OK;
}

static cuzk_status decode(void *user, cuzk_task **out, cuzk_task_info *info, const void *payload,
                          size_t n_bytes, cuzk_error *err)
{
    const cuzk_filecoin_work *work = user;
    cuzk_task *task = calloc(1, sizeof *task);
    CUZK_FAIL_IF(task == NULL, err, CUZK_E_MEMORY, "reading a request: out of memory");
    cuzk_status status =
        cuzk_filecoin_decode(&task->decoded, payload, n_bytes, work->ctx->pool, err);
    if (status == CUZK_OK) {
        status = fill_info(info, work, task->decoded, err);
    }
    if (status != CUZK_OK) {
        task_destroy(user, task);
        return status;
    }
    *out = task;
    return CUZK_OK;
}

/* ---- residents ------------------------------------------------------------------------------- */

/* The circuit's proof: kind and sector are what counts. */
static cuzk_status proof_of(cuzk_registered_proof *out, const char *circuit, cuzk_error *err)
{
    *out = (cuzk_registered_proof){.kind = CUZK_PROOF_POREP};
    return cuzk_circuit_id_parse(&out->kind, &out->sector, circuit, err);
}

/* Where the circuit's parameter file is. Returned: free. */
static cuzk_status find_params(char **path, cuzk_registered_proof *proof,
                               const cuzk_filecoin_work *work, const char *circuit, cuzk_error *err)
{
    const cuzk_circuit_counts *counts = NULL;
    CUZK_TRY(cuzk_circuit_counts_get(&counts, circuit, err));
    CUZK_TRY(proof_of(proof, circuit, err));
    cuzk_error why = {0};
    cuzk_status status = cuzk_filecoin_param_find(
        path, work->params_folder, proof, CUZK_PARAM_FILE_PARAMS, work->allow_test_key, &why);
    if (status != CUZK_OK) {
        return CUZK_FAIL(err, status, "%s%s", why.text,
                         work->params_folder != NULL && status == CUZK_E_FILE
                             ? "; srs.param_cache of the daemon's configuration names the folder"
                             : "");
    }
    return CUZK_OK;
}

static cuzk_status resident_size(void *user, const char *circuit, uint64_t *bytes,
                                 uint64_t *device_bytes, cuzk_error *err)
{
    const cuzk_filecoin_work *work = user;
    const cuzk_circuit_counts *counts = NULL;
    cuzk_registered_proof proof;
    char *path = NULL;
    if (work->key_maker.make == NULL) {
        CUZK_TRY(find_params(&path, &proof, work, circuit, err));
        free(path);
    }
    CUZK_TRY(cuzk_circuit_counts_get(&counts, circuit, err));
    *bytes = cuzk_circuit_resident_bytes(counts, cuzk_work_devices_are_cards(work->devices));
    if (device_bytes != NULL) {
        *device_bytes = resident_device_bytes(work, counts);
    }
    return CUZK_OK;
}

static void resident_close(void *user, cuzk_resident *resident)
{
    (void)user;
    if (resident != NULL) {
        cuzk_on_device_clear(&resident->on);
        cuzk_filecoin_key_close(resident->key);
        free(resident);
    }
}

static cuzk_on_device_load load_of(const cuzk_filecoin_work *work, const cuzk_resident *resident)
{
    return (cuzk_on_device_load){resident->key->prover, resident->device_bytes, work->ctx};
}

static cuzk_status device_load(void *user, cuzk_resident *resident, unsigned device,
                               cuzk_error *err)
{
    const cuzk_on_device_load load = load_of(user, resident);
    return cuzk_on_device_put(&resident->on, device, &load, err);
}

static void devices_load(void *user, cuzk_resident *resident, const cuzk_devices_load *devices)
{
    const cuzk_on_device_load load = load_of(user, resident);
    cuzk_on_device_put_all(&resident->on, devices, &load);
}

static void device_evict(void *user, cuzk_resident *resident, unsigned device)
{
    (void)user;
    cuzk_on_device_evict(&resident->on, device);
}

/* The constants of the hashes, which are made at their first use; key and circuit were read whole
 * when they were loaded. */
static void warm_up(void)
{
    static const unsigned arities[] = {2, 4, 8, 11};
    uint8_t preimage[CUZK_POSEIDON_ARITY_MAX * 32] = {0};
    uint8_t digest[32];
    for (unsigned i = 0; i < sizeof arities / sizeof arities[0]; i++) {
        cuzk_poseidon_hash(arities[i], 0, digest, preimage, 1);
    }
}

static cuzk_status make_key(cuzk_filecoin_key **out, const cuzk_filecoin_work *work,
                            const char *circuit, cuzk_error *err)
{
    cuzk_registered_proof proof;
    char *path = NULL;
    if (work->key_maker.make != NULL) {
        CUZK_TRY(proof_of(&proof, circuit, err));
        return work->key_maker.make(work->key_maker.user, out, &proof, err);
    }
    CUZK_TRY(find_params(&path, &proof, work, circuit, err));
    cuzk_filecoin_key_params params = {.circuits_folder = work->circuits_folder,
                                       .allow_test_key = work->allow_test_key,
                                       .proves_often = true,
                                       .device_decodes =
                                           cuzk_work_devices_are_cards(work->devices)};
    cuzk_status status = cuzk_filecoin_key_make(work->ctx, out, path, &proof, &params, err);
    free(path);
    return status;
}

static cuzk_status resident_load(void *user, cuzk_resident **out, uint64_t *bytes,
                                 const char *circuit, bool warm, cuzk_error *err)
{
    const cuzk_filecoin_work *work = user;
    const cuzk_circuit_counts *counts = NULL;
    CUZK_TRY(cuzk_circuit_counts_get(&counts, circuit, err));
    cuzk_resident *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "loading %s: out of memory", circuit);
    snprintf(made->circuit, sizeof made->circuit, "%s", circuit);
    cuzk_status status = make_key(&made->key, work, circuit, err);
    if (status == CUZK_OK) {
        status = cuzk_on_device_init(&made->on, work->devices, made->circuit, err);
    }
    if (status != CUZK_OK) {
        resident_close(user, made);
        return status;
    }
    if (warm) {
        warm_up();
    }
    *bytes = cuzk_prover_bytes(made->key->prover) + cuzk_shape_bytes(made->key->shape);
    made->device_bytes = resident_device_bytes(work, counts);
    *out = made;
    return CUZK_OK;
}

/* ---- units ----------------------------------------------------------------------------------- */

static void witness_destroy(void *user, cuzk_unit_witness *witness)
{
    (void)user;
    if (witness != NULL) {
        cuzk_witness_destroy(witness->values);
        free(witness);
    }
}

/* Errors of a unit say which one it is. */
static cuzk_status name_unit(cuzk_status status, const cuzk_task *task, const cuzk_work_call *call,
                             cuzk_error *err)
{
    if (status != CUZK_OK && status != CUZK_E_CANCELLED) {
        cuzk_error_prefix(err, "partition %u of %u", call->unit,
                          task->decoded->task.job.n_partitions);
    }
    return status;
}

static cuzk_status witness(void *user, cuzk_unit_witness **out, const cuzk_task *task,
                           const cuzk_resident *resident, const cuzk_work_call *call,
                           cuzk_error *err)
{
    const cuzk_filecoin_work *work = user;
    CUZK_FAIL_IF(call->is_cancelled(call->context), err, CUZK_E_CANCELLED,
                 "cancelled before the witness");
    cuzk_unit_witness *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "making a witness: out of memory");
    cuzk_status status =
        cuzk_filecoin_task_witness(&made->values, &task->decoded->task, resident->key->shape,
                                   call->unit, work->ctx->pool, err);
    if (status != CUZK_OK) {
        witness_destroy(user, made);
        return name_unit(status, task, call, err);
    }
    *out = made;
    return CUZK_OK;
}

static cuzk_status prove_start(void *user, cuzk_pending **out, const cuzk_task *task,
                               const cuzk_resident *resident, const cuzk_unit_witness *values,
                               const cuzk_work_call *call, cuzk_error *err)
{
    const cuzk_filecoin_work *work = user;
    return name_unit(cuzk_unit_prove_start(out, resident->key->prover, &resident->on,
                                           values->values, work->ctx, call, err),
                     task, call, err);
}

static cuzk_status prove_finish(void *user, uint8_t *proof, size_t *proof_bytes,
                                cuzk_pending *pending, const cuzk_task *task,
                                const cuzk_resident *resident, const cuzk_work_call *call,
                                cuzk_error *err)
{
    cuzk_proof_points points;
    (void)user;
    (void)resident;
    cuzk_status status = cuzk_unit_prove_finish(&points, pending, call, err);
    if (status == CUZK_OK) {
        status = cuzk_proof_points_write(proof, &points, err);
        *proof_bytes = CUZK_PROOF_BYTES;
    }
    return name_unit(status, task, call, err);
}

static cuzk_status verify_bytes(const cuzk_filecoin_work *work, const cuzk_task *task,
                                const cuzk_resident *resident, const uint8_t *proof,
                                size_t proof_bytes, unsigned unit, cuzk_error *err)
{
    cuzk_proof_points points;
    CUZK_TRY(cuzk_proof_points_read(&points, proof, proof_bytes, err));
    return cuzk_filecoin_task_verify(&task->decoded->task,
                                     cuzk_prover_verifier(resident->key->prover), unit, &points,
                                     work->ctx->pool, err);
}

static cuzk_status verify(void *user, const cuzk_task *task, const cuzk_resident *resident,
                          const uint8_t *proof, size_t proof_bytes, const cuzk_work_call *call,
                          cuzk_error *err)
{
    return name_unit(verify_bytes(user, task, resident, proof, proof_bytes, call->unit, err), task,
                     call, err);
}

static cuzk_status assemble(void *user, uint8_t **answer, size_t *answer_bytes,
                            const cuzk_task *task, const uint8_t *proofs, const size_t *proof_bytes,
                            cuzk_error *err)
{
    unsigned n = task->decoded->task.job.n_partitions;
    uint8_t *made = malloc((size_t)n * CUZK_PROOF_BYTES);
    (void)user;
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "putting %u proofs together: out of memory", n);
    for (unsigned k = 0; k < n; k++) {
        if (proof_bytes[k] != CUZK_PROOF_BYTES) {
            free(made);
            return CUZK_FAIL(err, CUZK_E_INTERNAL, "the proof of partition %u has %zu bytes", k,
                             proof_bytes[k]);
        }
        memcpy(made + (size_t)k * CUZK_PROOF_BYTES, proofs + (size_t)k * CUZK_UNIT_PROOF_MAX,
               CUZK_PROOF_BYTES);
    }
    *answer = made;
    *answer_bytes = (size_t)n * CUZK_PROOF_BYTES;
    return CUZK_OK;
}

/* ---- the work -------------------------------------------------------------------------------- */

static cuzk_status copy_text(char **out, const char *text, cuzk_error *err)
{
    *out = text == NULL ? NULL : strdup(text);
    CUZK_FAIL_IF(text != NULL && *out == NULL, err, CUZK_E_MEMORY, "out of memory");
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_work_create(cuzk_filecoin_work **out,
                                      const cuzk_filecoin_work_options *options, cuzk_error *err)
{
    cuzk_filecoin_work *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "out of memory");
    made->ctx = options->ctx;
    made->devices = options->devices;
    made->allow_test_key = options->allow_test_key;
    made->key_maker = options->key_maker;
    made->table = (cuzk_work){.user = made,
                              .decode = decode,
                              .task_destroy = task_destroy,
                              .resident_size = resident_size,
                              .resident_load = resident_load,
                              .resident_close = resident_close,
                              .device_load = device_load,
                              .devices_load = devices_load,
                              .device_evict = device_evict,
                              .witness = witness,
                              .witness_destroy = witness_destroy,
                              .prove_start = prove_start,
                              .prove_finish = prove_finish,
                              .pending_destroy = cuzk_unit_pending_destroy,
                              .verify = verify,
                              .assemble = assemble};
    cuzk_status status = copy_text(&made->params_folder, options->params_folder, err);
    if (status == CUZK_OK) {
        status = copy_text(&made->circuits_folder, options->circuits_folder, err);
    }
    if (status != CUZK_OK) {
        cuzk_filecoin_work_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

void cuzk_filecoin_work_destroy(cuzk_filecoin_work *work)
{
    if (work != NULL) {
        free(work->params_folder);
        free(work->circuits_folder);
        free(work);
    }
}

const cuzk_work *cuzk_filecoin_work_table(const cuzk_filecoin_work *work)
{
    return &work->table;
}
