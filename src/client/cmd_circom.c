/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk submit circom and cuzk prove KEY WITNESS --connect: circom's proofs by a daemon. */
#include "api/api.h"
#include "client/commands.h"
#include "client/session.h"
#include "formats/snarkjs_json.h"

#include <stdlib.h>
#include <string.h>

enum { CIRCUIT_NAME_MAX = 100 };

/* One command on the way. */
struct circom {
    cuzk_cli_args *args;
    cuzk_session session;
    const char *circuit, *witness_path;
    const char *proof_path, *public_path;
    const char *key_path; /* NULL: the proof is not verified here */
    cuzk_form form;
    const Cuzk__V1__ProveWitnessResponse *answer;
};

/* ---- the result ------------------------------------------------------------------------------ */

/* Proof and public values in another form than the daemon's, which is snarkjs'. */
static cuzk_status convert(cuzk_text *proof, cuzk_text *values, const struct circom *g,
                           const cuzk_vkey *vkey, cuzk_error *err)
{
    const Cuzk__V1__ProveWitnessResponse *a = g->answer;
    const cuzk_curve *curve = vkey->vk.curve;
    cuzk_proof_points points;
    CUZK_TRY(cuzk_proof_from_json(&points, (const uint8_t *)a->proof_json, strlen(a->proof_json),
                                  curve, NULL, err));
    if (g->form == CUZK_FORM_BYTES) {
        uint8_t bytes[CUZK_PROOF_BYTES];
        CUZK_FAIL_IF(curve->id != CUZK_CURVE_BLS12_381, err, CUZK_E_ARGUMENT,
                     "--format bytes is defined for bls12381 only");
        CUZK_TRY(cuzk_proof_points_write(bytes, &points, err));
        cuzk_text_put_bytes(proof, (const char *)bytes, sizeof bytes);
        cuzk_text_put(values, a->public_json);
        CUZK_TRY(cuzk_text_check(proof, err));
        return cuzk_text_check(values, err);
    }
    uint64_t n = vkey->vk.n_ic - 1;
    uint8_t *canonical = malloc(n * 32 + 1);
    CUZK_FAIL_IF(canonical == NULL, err, CUZK_E_MEMORY, "writing public values: out of memory");
    cuzk_status status = cuzk_public_from_json(canonical, n, (const uint8_t *)a->public_json,
                                               strlen(a->public_json), curve, err);
    if (status == CUZK_OK) {
        cuzk_proof_to_json(proof, &points, CUZK_JSON_COMPACT);
        cuzk_public_to_json(values, canonical, n, CUZK_JSON_COMPACT);
        status = cuzk_text_check(proof, err);
    }
    free(canonical);
    return status == CUZK_OK ? cuzk_text_check(values, err) : status;
}

static cuzk_status write_files(const struct circom *g, const char *proof, size_t proof_bytes,
                               const char *values, size_t values_bytes, cuzk_error *err)
{
    const cuzk_session_file files[] = {{g->proof_path, proof, proof_bytes},
                                       {g->public_path, values, values_bytes}};
    return cuzk_session_write(files, 2, err);
}

/* Verify with the key at hand, convert, write. */
static cuzk_status take_result(struct circom *g, cuzk_error *err)
{
    const Cuzk__V1__ProveWitnessResponse *a = g->answer;
    size_t proof_bytes = strlen(a->proof_json), public_bytes = strlen(a->public_json);
    if (g->key_path == NULL) {
        return write_files(g, a->proof_json, proof_bytes, a->public_json, public_bytes, err);
    }
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = g->args->n_threads;
    cuzk_ctx *ctx = NULL;
    cuzk_vkey *vkey = NULL;
    cuzk_text proof = {0}, values = {0};
    CUZK_TRY(cuzk_ctx_create(&ctx, &options, err));
    bool allow = cuzk_cli_value(g->args, "--allow-test-key") != NULL;
    cuzk_status status = cuzk_vkey_open_file(ctx, &vkey, g->key_path, allow, err);
    if (status == CUZK_OK) {
        status =
            cuzk_verify(ctx, vkey, a->proof_json, proof_bytes, a->public_json, public_bytes, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "job %s: the daemon's proof does not verify with \"%s\"",
                              a->job_id, g->key_path);
        }
    }
    if (status == CUZK_OK && g->form == CUZK_FORM_SNARKJS) {
        status = write_files(g, a->proof_json, proof_bytes, a->public_json, public_bytes, err);
    } else if (status == CUZK_OK) {
        status = convert(&proof, &values, g, vkey, err);
        if (status == CUZK_OK) {
            status = write_files(g, proof.data, proof.size, values.data, values.size, err);
        }
    }
    cuzk_text_clear(&proof);
    cuzk_text_clear(&values);
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    return status;
}

static void print_done(const struct circom *g)
{
    const Cuzk__V1__ProveWitnessResponse *a = g->answer;
    if (g->args->json) {
        cuzk_cli_json json;
        cuzk_session_json_begin(&json, a->job_id, a->status);
        cuzk_cli_json_text(&json, "circuit", g->circuit);
        cuzk_cli_json_text(&json, "proof", g->proof_path);
        cuzk_cli_json_text(&json, "public", g->public_path);
        cuzk_cli_json_bool(&json, "verified_here", g->key_path != NULL);
        cuzk_cli_json_number(&json, "total_ms", a->total_ms);
        cuzk_cli_json_number(&json, "queue_wait_ms", a->queue_wait_ms);
        cuzk_cli_json_number(&json, "synthesis_ms", a->synthesis_ms);
        cuzk_cli_json_number(&json, "gpu_compute_ms", a->gpu_compute_ms);
        cuzk_cli_json_end(&json);
    } else if (!g->args->quiet) {
        printf("job %s: proved circuit %s, %.3f s in the daemon: queue %.3f, witness %.3f, proof "
               "%.3f%s; written to %s\n",
               a->job_id, g->circuit, (double)a->total_ms / 1e3, (double)a->queue_wait_ms / 1e3,
               (double)a->synthesis_ms / 1e3, (double)a->gpu_compute_ms / 1e3,
               g->key_path != NULL ? "; verified here" : "", g->proof_path);
    }
}

/* Whether the daemon made the proof. */
static bool completed(struct circom *g)
{
    const Cuzk__V1__ProveWitnessResponse *a = g->answer;
    if (a->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        return a->proof_json[0] != '\0' ||
               cuzk_session_fail(&g->session, CUZK_E_INTERNAL,
                                 "job %s: the daemon calls it completed and sends no proof",
                                 a->job_id);
    }
    return cuzk_session_fail(&g->session, CUZK_E_INVALID_PROOF, "job %s: %s: %.800s", a->job_id,
                             cuzk_session_status_name(a->status), a->error_message);
}

/* ---- the call -------------------------------------------------------------------------------- */

static int prove(struct circom *g, Cuzk__V1__Priority priority)
{
    cuzk_cli_args *args = g->args;
    char made[CUZK_UUID_BYTES];
    const char *id = cuzk_session_id(args, made, &args->err);
    size_t n_bytes = 0;
    char *witness = id == NULL ? NULL : cuzk_cli_read_file(args, g->witness_path, &n_bytes);
    if (witness == NULL) {
        return cuzk_cli_fail(args);
    }
    Cuzk__V1__ProveWitnessRequest request;
    cuzk__v1__prove_witness_request__init(&request);
    request.request_id = (char *)id;
    request.circuit = (char *)g->circuit;
    request.witness.data = (uint8_t *)witness;
    request.witness.len = n_bytes;
    request.priority = priority;
    ProtobufCMessage *message = NULL;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_ask(&g->session, &message, CUZK_METHOD_PROVE_WITNESS, &request.base)) {
        g->answer = (Cuzk__V1__ProveWitnessResponse *)message;
        if (completed(g) && take_result(g, &args->err) == CUZK_OK) {
            print_done(g);
        } else {
            code = cuzk_cli_fail(args);
        }
    } else {
        if (args->err.status == CUZK_E_NOT_FOUND) {
            cuzk_error_prefix(&args->err, "circuit \"%s\" (cuzk circuits register makes one known)",
                              g->circuit);
        }
        code = cuzk_cli_fail(args);
    }
    if (message != NULL) {
        protobuf_c_message_free_unpacked(message, NULL);
    }
    free(witness);
    return code;
}

static int run(struct circom *g)
{
    cuzk_cli_args *args = g->args;
    Cuzk__V1__Priority priority;
    if (!cuzk_session_priority(args, &priority)) {
        return CUZK_EXIT_USAGE;
    }
    const char *outs[] = {g->proof_path, g->public_path};
    const char *others[] = {g->key_path, g->witness_path, g->public_path};
    for (int i = 0; i < 2; i++) {
        bool clash = cuzk_cli_is_dash(args, outs[i]);
        for (int k = 0; !clash && k < 3 - i; k++) {
            clash = cuzk_cli_same_file(args, outs[i], others[k]);
        }
        if (clash) {
            return CUZK_EXIT_USAGE;
        }
        if (!cuzk_cli_can_write(args, outs[i])) {
            return cuzk_cli_fail(args);
        }
    }
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&g->session, args, &code)) {
        code = prove(g, priority);
        cuzk_session_close(&g->session);
    }
    return code;
}

/* ---- the commands ---------------------------------------------------------------------------- */

int cuzk_cmd_submit_circom(cuzk_cli_args *args)
{
    const char *out = cuzk_cli_value(args, "--out"), *values = cuzk_cli_value(args, "--public");
    struct circom g = {.args = args,
                       .circuit = args->positional[0],
                       .witness_path = args->positional[1],
                       .proof_path = out != NULL ? out : "proof.json",
                       .public_path = values != NULL ? values : "public.json",
                       .form = CUZK_FORM_SNARKJS};
    return run(&g);
}

/* The name of a key's file without its ending, into room for CIRCUIT_NAME_MAX characters and NUL.
 * False: too long. */
static bool stem(char *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t n = strlen(name);
    static const char ending[] = ".zkey";
    if (n > sizeof ending - 1 && strcmp(name + n - (sizeof ending - 1), ending) == 0) {
        n -= sizeof ending - 1;
    }
    if (n > CIRCUIT_NAME_MAX) {
        return false;
    }
    memcpy(out, name, n);
    out[n] = '\0';
    return true;
}

/* The form that --format names. False after a usage message. */
static bool parse_form(const cuzk_cli_args *args, cuzk_form *form)
{
    static const char *const names[] = {"snarkjs", "compact", "bytes"};
    static const cuzk_form forms[] = {CUZK_FORM_SNARKJS, CUZK_FORM_COMPACT, CUZK_FORM_BYTES};
    const char *text = cuzk_cli_value(args, "--format");
    *form = CUZK_FORM_SNARKJS;
    for (size_t i = 0; text != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *form = forms[i];
            return true;
        }
    }
    if (text != NULL) {
        cuzk_cli_usage(args, "--format: \"%s\" is not snarkjs, compact or bytes", text);
    }
    return text == NULL;
}

int cuzk_cmd_prove_circom(cuzk_cli_args *args)
{
    char name[CIRCUIT_NAME_MAX + 1];
    const char *circuit = cuzk_cli_value(args, "--circuit");
    struct circom g = {.args = args,
                       .circuit = circuit != NULL ? circuit : name,
                       .key_path = args->positional[0],
                       .witness_path = args->positional[1]};
    if (args->n_positional == 3) {
        return cuzk_cli_usage(args, "PROOF is given without PUBLIC, expected: cuzk prove %s",
                              args->command->args);
    }
    if (!parse_form(args, &g.form)) {
        return CUZK_EXIT_USAGE;
    }
    if (circuit == NULL && !stem(name, args->positional[0])) {
        return cuzk_cli_usage(args, "the key's file name is no circuit's name: --circuit NAME");
    }
    bool given = args->n_positional == 4;
    g.proof_path = given                       ? args->positional[2]
                   : g.form == CUZK_FORM_BYTES ? "proof.bin"
                                               : "proof.json";
    g.public_path = given ? args->positional[3] : "public.json";
    return run(&g);
}
