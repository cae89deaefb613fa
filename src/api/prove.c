/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proving through the C library, and what can be asked of a proof. */
#include "api/api.h"
#include "api/record.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "formats/snarkjs_json.h"
#include "r1cs/satisfy.h"

#include <stdlib.h>
#include <string.h>

static void add_stage(cuzk_prove_stats *stats, const char *name, uint64_t ns)
{
    if (stats->n_stages < CUZK_PROVE_STAGES_MAX) {
        stats->stage[stats->n_stages] = name;
        stats->stage_ns[stats->n_stages] = ns;
        stats->n_stages++;
    }
}

/* A proof did not verify and the key came without its circuit in memory: read it, if the caller
 * named it, and put the first broken constraint in the place of the general message. */
static cuzk_status explain(const cuzk_ctx *ctx, const cuzk_key *key, const cuzk_witness *witness,
                           cuzk_error *err)
{
    if (key->is_params || (key->r1cs_path == NULL && key->r1cs.data == NULL)) {
        return CUZK_E_UNSATISFIED;
    }
    cuzk_error found = {0};
    cuzk_input r1cs;
    cuzk_shape *shape = NULL;
    cuzk_status status = key->r1cs_path != NULL
                             ? cuzk_input_open_file(&r1cs, key->r1cs_path, &found)
                             : cuzk_input_open(&r1cs, key->r1cs.data, key->r1cs.n_bytes, &found);
    if (status == CUZK_OK) {
        status = cuzk_api_shape(&shape, &r1cs, &found);
        cuzk_input_close(&r1cs);
    }
    if (status == CUZK_OK) {
        status = cuzk_shape_check_witness(shape, witness, NULL, ctx->pool, &found);
    }
    cuzk_shape_destroy(shape);
    cuzk_error_clear(err);
    if (status == CUZK_OK) {
        return CUZK_FAIL(err, CUZK_E_INVALID_PROOF,
                         "the proof does not verify, though the witness satisfies every "
                         "constraint of the circuit: the key is damaged or of another circuit "
                         "(cuzk check tells)");
    }
    if (status == CUZK_E_UNSATISFIED) {
        return CUZK_FAIL(err, CUZK_E_UNSATISFIED, "%s", found.text);
    }
    return CUZK_FAIL(err, CUZK_E_UNSATISFIED,
                     "the proof does not verify, and the circuit that was given to find the "
                     "broken constraint cannot be used: %s",
                     found.text);
}

static cuzk_status run_prover(const cuzk_ctx *ctx, cuzk_proof *proof, const cuzk_key *key,
                              const cuzk_witness *witness, const cuzk_blinding *blinding,
                              const cuzk_prove_options *options, cuzk_error *err)
{
    cuzk_reporter reporter = cuzk_api_reporter(options->progress, options->progress_user);
    cuzk_prove_times times = {.n_stages = 0};
    cuzk_prove_params params = {.test_blinding = blinding,
                                .without_self_check = options->no_self_check,
                                .device = cuzk_api_device_get(key->device),
                                .reporter = &reporter,
                                .times = &times};
    cuzk_status status =
        cuzk_prover_prove(key->prover, &proof->points, witness, &params, ctx->pool, err);
    if (status == CUZK_E_UNSATISFIED) {
        status = explain(ctx, key, witness, err);
    }
    for (unsigned i = 0; i < times.n_stages; i++) {
        add_stage(&proof->stats, times.stages[i].name, times.stages[i].ns);
    }
    cuzk_api_device_stats(&proof->stats, key->device);
    return status;
}

/* Put in front of an error which of the two inputs it is about. */
static void blame(cuzk_status status, const cuzk_key *key, const char *witness_path,
                  cuzk_error *err)
{
    if (status == CUZK_E_FORMAT || status == CUZK_E_INVALID_PROOF) {
        if (key->path != NULL) {
            cuzk_error_prefix(err, "key \"%s\"", key->path);
        }
    } else if (status == CUZK_E_UNSATISFIED && witness_path != NULL) {
        cuzk_error_prefix(err, "witness \"%s\"", witness_path);
    }
}

/* The part of a proof that does not come from the prover's arithmetic. witness_path: for messages,
 * NULL for a witness from memory. */
static cuzk_status prove_input(const cuzk_ctx *ctx, cuzk_proof **out, const cuzk_key *key,
                               const cuzk_input *input, const char *witness_path,
                               const cuzk_blinding *blinding, const cuzk_prove_options *options,
                               cuzk_error *err)
{
    cuzk_prove_options o = CUZK_PROVE_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_prove_options", err));
    uint64_t begin = cuzk_now_ns();
    uint32_t n_vars = cuzk_prover_n_vars(key->prover);
    uint32_t n_inputs = cuzk_prover_n_inputs(key->prover);
    cuzk_witness *witness = NULL;
    cuzk_api_record record =
        cuzk_api_record_begin(CUZK_API_RECORD_CIRCOM, key->choice.name, 1 /* partition */);
    uint64_t witness_ns = cuzk_api_record_unit(&record, 0);
    cuzk_status status = cuzk_api_witness(&witness, ctx, input, cuzk_prover_curve(key->prover),
                                          n_vars, n_inputs, err);
    cuzk_api_record_witness(&record, witness_ns, status);
    if (status != CUZK_OK) {
        if (witness_path != NULL) {
            cuzk_error_prefix(err, "witness \"%s\"", witness_path);
        }
        cuzk_api_record_end(&record, status);
        return status;
    }
    cuzk_proof *proof = calloc(1, sizeof *proof);
    uint8_t *values = malloc((size_t)n_inputs * 32);
    if (proof == NULL || values == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "proving: out of memory");
        free(values);
        goto out;
    }
    proof->n_public = n_inputs - 1;
    proof->values = values;
    cuzk_witness_get_range(witness, 1, n_inputs - 1, values);
    proof->stats.n_values = witness->n_field;
    proof->stats.n_bits = n_vars - witness->n_field;
    add_stage(&proof->stats, "witness", cuzk_now_ns() - begin);
    status = run_prover(ctx, proof, key, witness, blinding, &o, err);
    blame(status, key, witness_path, err);
    proof->stats.total_ns = cuzk_now_ns() - begin;
    if (status == CUZK_OK) {
        cuzk_api_record_unit_done(&record);
    }
out:
    cuzk_api_record_end(&record, status);
    cuzk_witness_destroy(witness);
    if (status != CUZK_OK) {
        cuzk_proof_destroy(proof);
        return status;
    }
    *out = proof;
    return CUZK_OK;
}

cuzk_status cuzk_prove(const cuzk_ctx *ctx, cuzk_proof **proof, const cuzk_key *key,
                       const void *witness, size_t witness_bytes, const cuzk_prove_options *options,
                       cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, witness);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open(&input, witness, witness_bytes, err));
    return prove_input(ctx, proof, key, &input, NULL, NULL, options, err);
}

cuzk_status cuzk_prove_file(const cuzk_ctx *ctx, cuzk_proof **proof, const cuzk_key *key,
                            const char *witness_path, const cuzk_prove_options *options,
                            cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, witness_path);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open_file(&input, witness_path, err));
    cuzk_status status = prove_input(ctx, proof, key, &input, witness_path, NULL, options, err);
    cuzk_input_close(&input);
    return status;
}

cuzk_status cuzk_prove_with_fixed_rs_for_tests(const cuzk_ctx *ctx, cuzk_proof **proof,
                                               const cuzk_key *key, const void *witness,
                                               size_t witness_bytes, const uint8_t r[32],
                                               const uint8_t s[32],
                                               const cuzk_prove_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, witness);
    CUZK_API_NOT_NULL(err, r);
    CUZK_API_NOT_NULL(err, s);
    const cuzk_curve *curve = cuzk_prover_curve(key->prover);
    CUZK_FAIL_IF(!cuzk_value_is_canonical(curve, r) || !cuzk_value_is_canonical(curve, s), err,
                 CUZK_E_ARGUMENT, "r and s must be below the order of the scalar field");
    cuzk_blinding blinding;
    memcpy(blinding.r, r, sizeof blinding.r);
    memcpy(blinding.s, s, sizeof blinding.s);
    cuzk_input input;
    CUZK_TRY(cuzk_input_open(&input, witness, witness_bytes, err));
    cuzk_status status = prove_input(ctx, proof, key, &input, NULL, &blinding, options, err);
    cuzk_wipe(&blinding, sizeof blinding);
    return status;
}

void cuzk_proof_destroy(cuzk_proof *proof)
{
    if (proof != NULL) {
        free(proof->values);
        free(proof);
    }
}

void cuzk_proof_get_stats(cuzk_prove_stats *stats, const cuzk_proof *proof)
{
    *stats = proof->stats;
}

static cuzk_status check_witness(const cuzk_ctx *ctx, uint64_t *first_broken,
                                 const cuzk_input *r1cs, const cuzk_input *input, cuzk_error *err)
{
    cuzk_shape *shape = NULL;
    CUZK_TRY(cuzk_api_shape(&shape, r1cs, err));
    cuzk_witness *witness = NULL;
    cuzk_status status =
        cuzk_api_witness(&witness, ctx, input, shape->curve, shape->n_vars, shape->n_inputs, err);
    cuzk_violation first;
    if (status == CUZK_OK) {
        status = cuzk_shape_check_witness(shape, witness, &first, ctx->pool, err);
        if (status == CUZK_E_UNSATISFIED && first_broken != NULL) {
            *first_broken = first.constraint;
        }
    }
    cuzk_witness_destroy(witness);
    cuzk_shape_destroy(shape);
    return status;
}

cuzk_status cuzk_check_witness(const cuzk_ctx *ctx, uint64_t *first_broken, const void *r1cs,
                               size_t r1cs_bytes, const void *witness, size_t witness_bytes,
                               cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, r1cs);
    CUZK_API_NOT_NULL(err, witness);
    cuzk_input in_r1cs, in_witness;
    CUZK_TRY(cuzk_input_open(&in_r1cs, r1cs, r1cs_bytes, err));
    CUZK_TRY(cuzk_input_open(&in_witness, witness, witness_bytes, err));
    return check_witness(ctx, first_broken, &in_r1cs, &in_witness, err);
}

cuzk_status cuzk_check_witness_file(const cuzk_ctx *ctx, uint64_t *first_broken,
                                    const char *r1cs_path, const char *witness_path,
                                    cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, r1cs_path);
    CUZK_API_NOT_NULL(err, witness_path);
    cuzk_input r1cs, witness;
    CUZK_TRY(cuzk_input_open_file(&r1cs, r1cs_path, err));
    cuzk_status status = cuzk_input_open_file(&witness, witness_path, err);
    if (status == CUZK_OK) {
        status = check_witness(ctx, first_broken, &r1cs, &witness, err);
        cuzk_error_prefix(err, "circuit \"%s\", witness \"%s\"", r1cs_path, witness_path);
        cuzk_input_close(&witness);
    }
    cuzk_input_close(&r1cs);
    return status;
}
