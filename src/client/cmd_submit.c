/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk submit and cuzk prove --connect: Filecoin's proofs by a daemon. */
#include "client/commands.h"
#include "client/request.h"
#include "client/session.h"

#include <stdlib.h>
#include <string.h>

/* One command on the way. */
struct submission {
    cuzk_cli_args *args;
    cuzk_session session;
    cuzk_filecoin_request *request;
    cuzk_cli_vanilla vanilla;
    cuzk_client_job job;
    char made_id[CUZK_UUID_BYTES];
    cuzk_filecoin_form form;
    const char *out; /* NULL: nothing is written */
    bool is_prove;   /* prove --connect: verify the proof here */
    bool is_verified;
};

/* ---- the proof ------------------------------------------------------------------------------- */

/* Verify here what the daemon sent, if the key is at hand. */
static bool verify_here(struct submission *g, const Cuzk__V1__AwaitProofResponse *answer)
{
    cuzk_cli_args *args = g->args;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = args->n_threads;
    cuzk_ctx *ctx = NULL;
    if (cuzk_ctx_create(&ctx, &options, &args->err) != CUZK_OK) {
        return false;
    }
    const char *path = cuzk_cli_value(args, "--params");
    bool allow = cuzk_cli_value(args, "--allow-test-key") != NULL;
    cuzk_vkey *vkey = NULL;
    cuzk_status status =
        cuzk_filecoin_vkey_open_file(ctx, &vkey, g->request, path, allow, &args->err);
    if (status == CUZK_E_FILE && path == NULL) {
        status = CUZK_OK; /* the daemon has verified it, and says so by sending it */
    } else if (status == CUZK_OK) {
        status = cuzk_filecoin_verify(ctx, NULL, vkey, g->request, answer->proof.data,
                                      answer->proof.len, &args->err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(&args->err, "job %s: the daemon's proof does not verify here",
                              answer->job_id);
        }
        g->is_verified = status == CUZK_OK;
    }
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    return status == CUZK_OK;
}

static bool write_proof(struct submission *g, const Cuzk__V1__AwaitProofResponse *answer)
{
    cuzk_error *err = &g->args->err;
    cuzk_filecoin_proof proof = {.bytes = answer->proof.data};
    if (answer->proof.len != (size_t)g->job.n_partitions * CUZK_PROOF_BYTES) {
        return cuzk_session_fail(&g->session, CUZK_E_INVALID_PROOF,
                                 "job %s: the daemon's proof has %zu bytes, expected %u: %u "
                                 "partition%s of %d bytes",
                                 answer->job_id, answer->proof.len,
                                 g->job.n_partitions * CUZK_PROOF_BYTES, g->job.n_partitions,
                                 g->job.n_partitions == 1 ? "" : "s", CUZK_PROOF_BYTES);
    }
    if (g->is_prove && !verify_here(g, answer)) {
        return false;
    }
    proof.n_partitions = g->job.n_partitions;
    return cuzk_request_proof(&proof.proof, g->request, err) == CUZK_OK &&
           cuzk_filecoin_proof_write_file(&proof, g->out, g->form, err) == CUZK_OK;
}

static void print_done(const struct submission *g, const Cuzk__V1__AwaitProofResponse *answer)
{
    const cuzk_cli_args *args = g->args;
    unsigned n = g->job.n_partitions;
    if (args->json) {
        cuzk_cli_json json;
        cuzk_session_json_begin(&json, answer->job_id, answer->status);
        cuzk_cli_json_text(&json, "proof", g->out);
        cuzk_cli_json_number(&json, "partitions", n);
        if (g->is_prove) {
            cuzk_cli_json_bool(&json, "verified_here", g->is_verified);
        }
        cuzk_session_json_times(&json, answer);
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("job %s: proved %u partition%s, ", answer->job_id, n, n == 1 ? "" : "s");
        cuzk_session_print_times(answer);
        printf("%s; written to %s\n",
               !g->is_prove     ? ""
               : g->is_verified ? "; verified here"
                                : "; verified by the daemon only (no .vk at hand)",
               g->out);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

static void print_accepted(const struct submission *g,
                           const Cuzk__V1__SubmitProofResponse *accepted)
{
    const cuzk_cli_args *args = g->args;
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "job_id", accepted->job_id);
        cuzk_cli_json_number(&json, "queue_position", accepted->queue_position);
        cuzk_cli_json_number(&json, "partitions", g->job.n_partitions);
        cuzk_cli_json_end(&json);
    } else if (args->quiet) {
        printf("%s\n", accepted->job_id);
    } else {
        printf("job %s: accepted, %u job%s waiting before it\n", accepted->job_id,
               accepted->queue_position, accepted->queue_position == 1 ? "" : "s");
    }
}

/* Wait for an accepted job. False: the daemon does not know it, and nothing is told yet. */
static bool wait_for(struct submission *g, const char *job_id, int *code)
{
    Cuzk__V1__AwaitProofResponse *answer =
        cuzk_session_await(&g->session, job_id, g->job.n_partitions);
    if (answer == NULL && g->args->err.status == CUZK_E_NOT_FOUND) {
        return false;
    }
    if (answer != NULL && cuzk_session_completed(&g->session, answer) && write_proof(g, answer)) {
        print_done(g, answer);
    } else {
        *code = cuzk_cli_fail(g->args);
    }
    if (answer != NULL) {
        protobuf_c_message_free_unpacked(&answer->base, NULL);
    }
    return true;
}

/* Submit, and wait where a proof is wanted. False: the job was accepted, and then the daemon does
 * not know it. */
static bool submit_once(struct submission *g, int *code)
{
    ProtobufCMessage *message;
    if (!cuzk_session_ask(&g->session, &message, CUZK_METHOD_SUBMIT, &g->job.message.base)) {
        *code = cuzk_cli_fail(g->args);
        return true;
    }
    const Cuzk__V1__SubmitProofResponse *accepted = (Cuzk__V1__SubmitProofResponse *)message;
    bool is_known = true;
    if (accepted->job_id[0] == '\0') {
        cuzk_session_fail(&g->session, CUZK_E_FORMAT,
                          "the daemon's answer is without the job's id");
        *code = cuzk_cli_fail(g->args);
    } else if (g->out != NULL) {
        is_known = wait_for(g, accepted->job_id, code);
    } else {
        print_accepted(g, accepted);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return is_known;
}

/* A daemon without a journal that is replaced between acceptance and wait has lost the job: the
 * same id and content are submitted to the next one. */
static int submit(struct submission *g)
{
    enum { SUBMISSIONS_MAX = 4 };
    int code = CUZK_EXIT_OK;
    for (int i = 0; i < SUBMISSIONS_MAX; i++) {
        if (submit_once(g, &code)) {
            return code;
        }
    }
    return cuzk_cli_fail(g->args);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Whether the output can be written and is none of the inputs. */
static int check_out(struct submission *g)
{
    cuzk_cli_args *args = g->args;
    if (cuzk_cli_is_dash(args, g->out) ||
        cuzk_cli_same_file(args, g->out, cuzk_cli_value(args, "--request"))) {
        return CUZK_EXIT_USAGE;
    }
    for (unsigned i = 0; i < args->n_positional; i++) {
        if (cuzk_cli_same_file(args, g->out, args->positional[i])) {
            return CUZK_EXIT_USAGE;
        }
    }
    return cuzk_cli_can_write(args, g->out) ? CUZK_EXIT_OK : cuzk_cli_fail(args);
}

static int prepare(struct submission *g)
{
    cuzk_cli_args *args = g->args;
    Cuzk__V1__Priority priority;
    if (!cuzk_session_priority(args, &priority) || !cuzk_cli_filecoin_form(args, &g->form)) {
        return CUZK_EXIT_USAGE;
    }
    if (g->is_prove || cuzk_cli_value(args, "--wait") != NULL) {
        g->out = cuzk_cli_filecoin_out(args, g->form);
        int code = check_out(g);
        if (code != CUZK_EXIT_OK) {
            return code;
        }
    } else if (cuzk_cli_value(args, "--out") != NULL || cuzk_cli_value(args, "--format") != NULL) {
        return cuzk_cli_usage(args, "--out and --format need --wait: without it no proof is "
                                    "fetched (cuzk await fetches it later)");
    }
    if (!cuzk_cli_fill_request(args, g->request) ||
        !cuzk_cli_read_vanilla(args, &g->vanilla, g->request, args->positional,
                               args->n_positional) ||
        cuzk_client_job_init(&g->job, g->request, g->vanilla.files, g->vanilla.n, &args->err) !=
            CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    g->job.message.request_id = (char *)cuzk_session_id(args, g->made_id, &args->err);
    if (g->job.message.request_id == NULL) {
        return cuzk_cli_fail(args);
    }
    g->job.message.priority = priority;
    return CUZK_EXIT_OK;
}

static int run(cuzk_cli_args *args, cuzk_filecoin_kind kind, bool is_prove)
{
    struct submission g = {.args = args, .is_prove = is_prove};
    if (cuzk_filecoin_request_create(&g.request, kind, &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    int code = prepare(&g);
    if (code == CUZK_EXIT_OK && cuzk_session_open(&g.session, args, &code)) {
        code = submit(&g);
        cuzk_session_close(&g.session);
    }
    cuzk_client_job_clear(&g.job);
    cuzk_cli_free_vanilla(&g.vanilla);
    cuzk_filecoin_request_destroy(g.request);
    return code;
}

int cuzk_cmd_submit_porep(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_POREP, false);
}

int cuzk_cmd_submit_snap(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_UPDATE, false);
}

int cuzk_cmd_submit_window(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_WINDOW, false);
}

int cuzk_cmd_submit_winning(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_WINNING, false);
}

int cuzk_cmd_prove_porep(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_POREP, true);
}

int cuzk_cmd_prove_snap(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_UPDATE, true);
}

int cuzk_cmd_prove_window(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_WINDOW, true);
}

int cuzk_cmd_prove_winning(cuzk_cli_args *args)
{
    return run(args, CUZK_FILECOIN_WINNING, true);
}
