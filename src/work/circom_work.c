/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/circom_work.h"

#include "formats/snarkjs_json.h"
#include "poly/domain.h"
#include "work/circom_key.h"
#include "work/digest_put.h"
#include "work/on_device.h"
#include "work/unit_prove.h"
#include "work/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_PREFIX "circom:"

/* The opaque types of the engine's table. */
struct cuzk_task {
    cuzk_witness *values;
};

struct cuzk_resident {
    char circuit[CUZK_CIRCUIT_ID_MAX];
    cuzk_circom_key key;
    uint64_t device_bytes; /* reserved on a device that it is on */
    cuzk_on_device on;
};

struct cuzk_unit_witness {
    const cuzk_witness *values; /* the task's: a witness comes whole */
};

struct cuzk_circom_work {
    const cuzk_ctx *ctx;
    const cuzk_work_devices *devices;
    bool allow_test_key;
    cuzk_circom_registry *registry;
    cuzk_work table;
};

/* What small allocations and stacks come to, of a task or unit and of a key. */
enum { SLACK = 64 << 10, KEY_SLACK = 1 << 20 };

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A ProveWitnessRequest; views of its bytes. */
typedef struct {
    cuzk_wire_bytes circuit, witness;
} request;

static cuzk_status take_field(void *user, const cuzk_wire_field *field, cuzk_error *err)
{
    request *out = user;
    if (field->number == 2) {
        CUZK_TRY(cuzk_wire_expect(field, CUZK_WIRE_BYTES, "circuit", err));
        out->circuit = field->bytes;
    } else if (field->number == 3) {
        CUZK_TRY(cuzk_wire_expect(field, CUZK_WIRE_BYTES, "witness", err));
        out->witness = field->bytes;
    }
    return CUZK_OK;
}

static cuzk_status read_request(request *out, const void *payload, size_t n_bytes, cuzk_error *err)
{
    *out = (request){.circuit = {0}};
    return cuzk_wire_each(payload, n_bytes, take_field, out, err);
}

static void task_destroy(void *user, cuzk_task *task)
{
    (void)user;
    if (task != NULL) {
        cuzk_witness_destroy(task->values);
        free(task);
    }
}

static cuzk_status read_witness(cuzk_witness **out, const cuzk_circom_work *work,
                                const cuzk_circom_facts *facts, const request *r, cuzk_error *err)
{
    cuzk_input input;
    CUZK_FAIL_IF(r->witness.size == 0, err, CUZK_E_ARGUMENT, "witness is empty");
    CUZK_TRY(cuzk_input_open(&input, r->witness.data, r->witness.size, err));
    return cuzk_api_witness(out, work->ctx, &input, facts->curve, facts->n_vars,
                            facts->n_public + 1, err);
}

static uint64_t resident_bytes(const cuzk_circom_facts *facts)
{
    return facts->n_bytes + facts->n_vars / 4 + cuzk_domain_bytes(facts->curve, facts->lg_domain) +
           KEY_SLACK;
}

/* On a device: whatever the witness, since the key stays there from job to job. The file is points
 * and terms of rows. */
static uint64_t device_bytes(const cuzk_circom_work *work, const cuzk_circom_facts *facts)
{
    enum { TERM_BYTES = 12 + 32 };
    const cuzk_group *g = facts->curve->g;
    uint64_t points =
        (((uint64_t)1 << facts->lg_domain) + 3 * (uint64_t)facts->n_vars - (facts->n_public + 1)) *
            g[CUZK_G1].affine_bytes +
        (uint64_t)facts->n_vars * g[CUZK_G2].affine_bytes;
    uint64_t rest = facts->n_bytes > points ? facts->n_bytes - points : 0;
    cuzk_key_numbers numbers =
        cuzk_key_numbers_circom(facts->curve, facts->lg_domain, facts->n_vars, rest / TERM_BYTES);
    return cuzk_on_device_bytes(work->devices, &numbers);
}

static void fill_info(cuzk_task_info *info, const cuzk_circom_work *work,
                      const cuzk_circom_facts *facts, const request *r, const cuzk_witness *values)
{
    cuzk_proving_counts counts = {.curve = facts->curve,
                                  .lg_n = facts->lg_domain,
                                  .n_vars = facts->n_vars,
                                  .n_field = values->n_field,
                                  .is_zkey = true,
                                  .on_device = cuzk_work_devices_are_cards(work->devices)};
    *info = (cuzk_task_info){
        .n_units = 1,
        .task_bytes = cuzk_witness_bytes(facts->n_vars, values->n_field) + SLACK,
        .witness_bytes = SLACK,
        .host_bytes = cuzk_proving_bytes_max(&counts, work->ctx->pool) + SLACK,
        .resident_bytes = resident_bytes(facts),
        .resident_device_bytes = device_bytes(work, facts),
        .is_unchecked = true,
    };
    snprintf(info->circuit, sizeof info->circuit, ID_PREFIX "%.*s", (int)r->circuit.size,
             (const char *)r->circuit.data);
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_digest_put_bytes(&sha, r->circuit.data, r->circuit.size);
    cuzk_digest_put_bytes(&sha, r->witness.data, r->witness.size);
    cuzk_sha256_final(&sha, info->digest);
}

static cuzk_status decode_fields(cuzk_task *task, cuzk_task_info *info,
                                 const cuzk_circom_work *work, const void *payload, size_t n_bytes,
                                 cuzk_error *err)
{
    request r;
    cuzk_circom_facts facts;
    cuzk_status status = read_request(&r, payload, n_bytes, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "reading a ProveWitnessRequest");
        return status;
    }
    CUZK_TRY(cuzk_circom_registry_find(work->registry, &facts, NULL, (const char *)r.circuit.data,
                                       r.circuit.size, err));
    status = read_witness(&task->values, work, &facts, &r, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "circuit \"%.*s\"", (int)r.circuit.size,
                          (const char *)r.circuit.data);
        return status;
    }
    fill_info(info, work, &facts, &r, task->values);
    return CUZK_OK;
}

static cuzk_status decode(void *user, cuzk_task **out, cuzk_task_info *info, const void *payload,
                          size_t n_bytes, cuzk_error *err)
{
    cuzk_task *task = calloc(1, sizeof *task);
    CUZK_FAIL_IF(task == NULL, err, CUZK_E_MEMORY, "reading a request: out of memory");
    cuzk_status status = decode_fields(task, info, user, payload, n_bytes, err);
    if (status != CUZK_OK) {
        task_destroy(user, task);
        return status;
    }
    *out = task;
    return CUZK_OK;
}

/* ---- residents ------------------------------------------------------------------------------- */

static cuzk_status find_circuit(cuzk_circom_facts *facts, char **path, const cuzk_circom_work *work,
                                const char *circuit, cuzk_error *err)
{
    size_t n = strlen(ID_PREFIX);
    CUZK_FAIL_IF(strncmp(circuit, ID_PREFIX, n) != 0, err, CUZK_E_NOT_FOUND,
                 "\"%.100s\" is no circom circuit: those are called " ID_PREFIX "NAME", circuit);
    return cuzk_circom_registry_find(work->registry, facts, path, circuit + n, strlen(circuit + n),
                                     err);
}

static cuzk_status resident_size(void *user, const char *circuit, uint64_t *bytes,
                                 uint64_t *on_device_bytes, cuzk_error *err)
{
    const cuzk_circom_work *work = user;
    cuzk_circom_facts facts;
    char *path = NULL;
    CUZK_TRY(find_circuit(&facts, &path, work, circuit, err));
    cuzk_status status = access(path, R_OK) == 0 ? CUZK_OK
                                                 : CUZK_FAIL(err, CUZK_E_FILE, "opening \"%s\": %s",
                                                             path, strerror(errno));
    free(path);
    *bytes = resident_bytes(&facts);
    if (on_device_bytes != NULL) {
        *on_device_bytes = device_bytes(work, &facts);
    }
    return status;
}

static void resident_close(void *user, cuzk_resident *resident)
{
    (void)user;
    if (resident != NULL) {
        cuzk_on_device_clear(&resident->on);
        cuzk_circom_key_close(&resident->key);
        free(resident);
    }
}

static cuzk_on_device_load load_of(const cuzk_circom_work *work, const cuzk_resident *resident)
{
    return (cuzk_on_device_load){resident->key.prover, resident->device_bytes, work->ctx};
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

static cuzk_status resident_load(void *user, cuzk_resident **out, uint64_t *bytes,
                                 const char *circuit, bool warm, cuzk_error *err)
{
    const cuzk_circom_work *work = user;
    cuzk_circom_facts facts;
    char *path = NULL;
    (void)warm; /* the key was read whole, which is all that a first proof would pay for */
    CUZK_TRY(find_circuit(&facts, &path, work, circuit, err));
    cuzk_resident *made = calloc(1, sizeof *made);
    cuzk_status status = CUZK_OK;
    if (made == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "loading a key: out of memory");
    } else {
        snprintf(made->circuit, sizeof made->circuit, "%s", circuit);
        status =
            cuzk_circom_key_open(&made->key, path, &facts, work->allow_test_key, work->ctx, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_on_device_init(&made->on, work->devices, made->circuit, err);
    }
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "circuit \"%s\": key \"%s\"", circuit + strlen(ID_PREFIX), path);
        resident_close(user, made);
    } else {
        *bytes = made->key.n_bytes + cuzk_prover_bytes(made->key.prover);
        made->device_bytes = device_bytes(work, &facts);
        *out = made;
    }
    free(path);
    return status;
}

/* ---- units ----------------------------------------------------------------------------------- */

static cuzk_status witness(void *user, cuzk_unit_witness **out, const cuzk_task *task,
                           const cuzk_resident *resident, const cuzk_work_call *call,
                           cuzk_error *err)
{
    (void)user;
    (void)resident;
    CUZK_FAIL_IF(call->is_cancelled(call->context), err, CUZK_E_CANCELLED,
                 "cancelled before the witness");
    cuzk_unit_witness *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "making a witness: out of memory");
    made->values = task->values;
    *out = made;
    return CUZK_OK;
}

static void witness_destroy(void *user, cuzk_unit_witness *values)
{
    (void)user;
    free(values);
}

static cuzk_status prove_start(void *user, cuzk_pending **out, const cuzk_task *task,
                               const cuzk_resident *resident, const cuzk_unit_witness *values,
                               const cuzk_work_call *call, cuzk_error *err)
{
    const cuzk_circom_work *work = user;
    (void)task;
    return cuzk_unit_prove_start(out, resident->key.prover, &resident->on, values->values,
                                 work->ctx, call, err);
}

static cuzk_status prove_finish(void *user, uint8_t *proof, size_t *proof_bytes,
                                cuzk_pending *pending, const cuzk_task *task,
                                const cuzk_resident *resident, const cuzk_work_call *call,
                                cuzk_error *err)
{
    cuzk_proof_points points;
    (void)user;
    (void)task;
    (void)resident;
    CUZK_TRY(cuzk_unit_prove_finish(&points, pending, call, err));
    size_t g1 = points.curve->g[CUZK_G1].affine_bytes, g2 = points.curve->g[CUZK_G2].affine_bytes;
    memcpy(proof, &points.a, g1);
    memcpy(proof + g1, &points.b, g2);
    memcpy(proof + g1 + g2, &points.c, g1);
    *proof_bytes = 2 * g1 + g2;
    return CUZK_OK;
}

static cuzk_status read_points(cuzk_proof_points *out, const cuzk_curve *curve,
                               const uint8_t *proof, size_t proof_bytes, cuzk_error *err)
{
    size_t g1 = curve->g[CUZK_G1].affine_bytes, g2 = curve->g[CUZK_G2].affine_bytes;
    CUZK_FAIL_IF(proof_bytes != 2 * g1 + g2, err, CUZK_E_INVALID_PROOF,
                 "the proof has %zu bytes, expected %zu", proof_bytes, 2 * g1 + g2);
    memset(out, 0, sizeof *out);
    out->curve = curve;
    memcpy(&out->a, proof, g1);
    memcpy(&out->b, proof + g1, g2);
    memcpy(&out->c, proof + g1 + g2, g1);
    return CUZK_OK;
}

/* The public values of a task. Returned: free. */
static cuzk_status public_values(uint8_t **out, const cuzk_task *task, cuzk_error *err)
{
    uint32_t n = task->values->n_inputs - 1;
    *out = malloc((size_t)n * 32 + 1);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "%u public values: out of memory", n);
    cuzk_witness_get_range(task->values, 1, n, *out);
    return CUZK_OK;
}

static cuzk_status verify(void *user, const cuzk_task *task, const cuzk_resident *resident,
                          const uint8_t *proof, size_t proof_bytes, const cuzk_work_call *call,
                          cuzk_error *err)
{
    const cuzk_circom_work *work = user;
    cuzk_proof_points points;
    uint8_t *values = NULL;
    (void)call;
    CUZK_TRY(read_points(&points, task->values->curve, proof, proof_bytes, err));
    CUZK_TRY(public_values(&values, task, err));
    cuzk_status status =
        cuzk_verifier_check(cuzk_prover_verifier(resident->key.prover), &points, values,
                            task->values->n_inputs - 1, work->ctx->pool, err);
    free(values);
    if (status == CUZK_E_INVALID_PROOF) {
        cuzk_error_prefix(err, "the witness does not satisfy the circuit, or the key is damaged or "
                               "of another circuit");
    }
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Append a bytes field below 16 of a wire message. */
static void put_field(cuzk_text *out, unsigned number, const cuzk_text *value)
{
    char head[16];
    size_t n = 0;
    head[n++] = (char)(number << 3 | CUZK_WIRE_BYTES);
    for (uint64_t left = value->size;; left >>= 7) {
        head[n++] = (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f) {
            break;
        }
    }
    cuzk_text_put_bytes(out, head, n);
    cuzk_text_put_bytes(out, value->data, value->size);
}

static cuzk_status assemble(void *user, uint8_t **answer, size_t *answer_bytes,
                            const cuzk_task *task, const uint8_t *proofs, const size_t *proof_bytes,
                            cuzk_error *err)
{
    cuzk_proof_points points;
    uint8_t *values = NULL;
    cuzk_text proof_json = {0}, public_json = {0}, message = {0};
    (void)user;
    CUZK_TRY(read_points(&points, task->values->curve, proofs, proof_bytes[0], err));
    CUZK_TRY(public_values(&values, task, err));
    cuzk_proof_to_json(&proof_json, &points, CUZK_JSON_INDENTED);
    cuzk_public_to_json(&public_json, values, task->values->n_inputs - 1, CUZK_JSON_INDENTED);
    free(values);
    cuzk_status status = cuzk_text_check(&proof_json, err);
    if (status == CUZK_OK) {
        status = cuzk_text_check(&public_json, err);
    }
    if (status == CUZK_OK) {
        put_field(&message, 3, &proof_json);
        put_field(&message, 4, &public_json);
        status = cuzk_text_check(&message, err);
    }
    cuzk_text_clear(&proof_json);
    cuzk_text_clear(&public_json);
    if (status != CUZK_OK) {
        cuzk_text_clear(&message);
        return status;
    }
    *answer = (uint8_t *)message.data; /* handed over */
    *answer_bytes = message.size;
    return CUZK_OK;
}

/* ---- the work -------------------------------------------------------------------------------- */

cuzk_status cuzk_circom_work_create(cuzk_circom_work **out, const cuzk_circom_work_options *options,
                                    cuzk_error *err)
{
    cuzk_circom_work *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "out of memory");
    made->ctx = options->ctx;
    made->devices = options->devices;
    made->allow_test_key = options->allow_test_key;
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
    cuzk_status status = cuzk_circom_registry_create(&made->registry, options->ctx, options->folder,
                                                     options->allow_test_key, err);
    if (status != CUZK_OK) {
        cuzk_circom_work_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

void cuzk_circom_work_destroy(cuzk_circom_work *work)
{
    if (work != NULL) {
        cuzk_circom_registry_destroy(work->registry);
        free(work);
    }
}

const cuzk_work *cuzk_circom_work_table(const cuzk_circom_work *work)
{
    return &work->table;
}

cuzk_status cuzk_circom_register(cuzk_circom_work *work, bool *was_registered,
                                 cuzk_circom_info *info, const char *name, const char *path,
                                 cuzk_error *err)
{
    return cuzk_circom_registry_add(work->registry, was_registered, info, name, path, err);
}

cuzk_status cuzk_circom_list(cuzk_circom_work *work, cuzk_circom_info **infos, unsigned *n,
                             cuzk_error *err)
{
    return cuzk_circom_registry_list(work->registry, infos, n, err);
}
