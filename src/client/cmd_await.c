/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk await. */
#include "base/map_file.h"
#include "base/text.h"
#include "client/commands.h"
#include "client/session.h"
#include "formats/proof_text.h"

#include <string.h>

/* The answer to a circom job is a ProveWitnessResponse with proof.json and public.json. Its first
 * byte is the key of field 3; a Filecoin proof begins with a compressed point, whose highest bit is
 * set. NULL for another job's answer. Returned: free_unpacked. */
static Cuzk__V1__ProveWitnessResponse *circom_answer(const Cuzk__V1__AwaitProofResponse *answer)
{
    enum { KEY_OF_PROOF_JSON = 3 << 3 | 2 };
    if (answer->proof.len == 0 || answer->proof.data[0] != KEY_OF_PROOF_JSON) {
        return NULL;
    }
    return cuzk__v1__prove_witness_response__unpack(NULL, answer->proof.len, answer->proof.data);
}

/* proof.json to out, public.json to where --public says, if it does. */
static cuzk_status write_circom(const cuzk_cli_args *args, const char *out,
                                const Cuzk__V1__ProveWitnessResponse *circom, cuzk_error *err)
{
    const char *values = cuzk_cli_value(args, "--public");
    const cuzk_session_file files[] = {{out, circom->proof_json, strlen(circom->proof_json)},
                                       {values, circom->public_json, strlen(circom->public_json)}};
    return cuzk_session_write(files, values == NULL ? 1 : 2, err);
}

/* The answer in the form that was asked for: as it came (192 bytes a partition), or as text. */
static cuzk_status write_filecoin(const char *path, const Cuzk__V1__AwaitProofResponse *answer,
                                  cuzk_filecoin_form form, cuzk_error *err)
{
    const uint8_t *data = answer->proof.data;
    size_t n = answer->proof.len;
    if (form == CUZK_FILECOIN_RAW) {
        return cuzk_write_file(path, data, n, err);
    }
    cuzk_text text = {0};
    if (form == CUZK_FILECOIN_HEX) {
        cuzk_text_put_hex(&text, data, n);
    } else if (form == CUZK_FILECOIN_BASE64) {
        cuzk_text_put_base64(&text, data, n);
    } else {
        cuzk_text_put(&text, "{\n \"job_id\": ");
        cuzk_text_put_json_string(&text, answer->job_id);
        cuzk_text_put(&text, ",\n \"proof\": \"");
        cuzk_text_put_base64(&text, data, n);
        cuzk_text_put(&text, "\"\n}");
    }
    cuzk_text_put(&text, "\n");
    cuzk_status status = cuzk_text_check(&text, err);
    if (status == CUZK_OK) {
        status = cuzk_write_file(path, text.data, text.size, err);
    }
    cuzk_text_clear(&text);
    return status;
}

static cuzk_status write_answer(const cuzk_cli_args *args, const char *out,
                                const Cuzk__V1__AwaitProofResponse *answer, cuzk_filecoin_form form,
                                cuzk_error *err)
{
    Cuzk__V1__ProveWitnessResponse *circom = circom_answer(answer);
    if (circom == NULL) {
        CUZK_FAIL_IF(cuzk_cli_value(args, "--public") != NULL, err, CUZK_E_MISMATCH,
                     "job %s: it is no circom job, whose public values --public asks for",
                     answer->job_id);
        return write_filecoin(out, answer, form, err);
    }
    cuzk_status status = write_circom(args, out, circom, err);
    cuzk__v1__prove_witness_response__free_unpacked(circom, NULL);
    return status;
}

static void print_answer(const cuzk_cli_args *args, const Cuzk__V1__AwaitProofResponse *answer,
                         const char *out)
{
    if (args->json) {
        cuzk_cli_json json;
        cuzk_session_json_begin(&json, answer->job_id, answer->status);
        cuzk_cli_json_number(&json, "proof_bytes", answer->proof.len);
        if (out != NULL) {
            cuzk_cli_json_text(&json, "proof", out);
        }
        cuzk_session_json_times(&json, answer);
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("job %s: %s, %zu bytes, ", answer->job_id, cuzk_session_status_name(answer->status),
               answer->proof.len);
        cuzk_session_print_times(answer);
        printf("%s%s\n", out != NULL ? "; written to " : "", out != NULL ? out : "");
    }
}

int cuzk_cmd_await(cuzk_cli_args *args)
{
    cuzk_filecoin_form form;
    const char *out = cuzk_cli_value(args, "--out");
    if (!cuzk_cli_filecoin_form(args, &form) || cuzk_cli_is_dash(args, out)) {
        return CUZK_EXIT_USAGE;
    }
    const char *values = cuzk_cli_value(args, "--public");
    if (out == NULL && (values != NULL || cuzk_cli_value(args, "--format") != NULL)) {
        return cuzk_cli_usage(args, "--format and --public need --out");
    }
    if (cuzk_cli_is_dash(args, values) || cuzk_cli_same_file(args, values, out)) {
        return CUZK_EXIT_USAGE;
    }
    if (values != NULL && !cuzk_cli_can_write(args, values)) {
        return cuzk_cli_fail(args);
    }
    if (out != NULL && !cuzk_cli_can_write(args, out)) {
        return cuzk_cli_fail(args);
    }
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (!cuzk_session_open(&session, args, &code)) {
        return code;
    }
    Cuzk__V1__AwaitProofResponse *answer = cuzk_session_await(&session, args->positional[0], 0);
    if (answer != NULL && cuzk_session_completed(&session, answer) &&
        (out == NULL || write_answer(args, out, answer, form, &args->err) == CUZK_OK)) {
        print_answer(args, answer, out);
    } else {
        code = cuzk_cli_fail(args);
    }
    if (answer != NULL) {
        protobuf_c_message_free_unpacked(&answer->base, NULL);
    }
    cuzk_session_close(&session);
    return code;
}
