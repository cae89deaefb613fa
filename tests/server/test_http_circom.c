/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom proofs over HTTP: what goes to the engine, and what becomes of its answers. The HTTP port,
 * the engine and the registry are the test's own. */
#include "server/http_circom.h"

#include "cuzk/v1/circom.pb-c.h"
#include "work/circom_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- doubles --------------------------------------------------------------------------------- */

static struct {
    unsigned n, code;
    char type[64], body[4096];
} answered;

void cuzk_http_answer(cuzk_http_call *call, unsigned status, const char *content_type,
                      const void *body, size_t n_bytes)
{
    assert_ptr_equal(call, &answered);
    answered.n++;
    answered.code = status;
    snprintf(answered.type, sizeof answered.type, "%s", content_type);
    snprintf(answered.body, sizeof answered.body, "%.*s", (int)n_bytes, (const char *)body);
}

static cuzk_submission submitted; /* with its payload; kind 0: none */

void cuzk_engine_submit(cuzk_engine *engine, const cuzk_submission *submission, uint64_t *waiter)
{
    assert_non_null(engine);
    assert_null(waiter);
    submitted = *submission;
}

static cuzk_status list_status;

cuzk_status cuzk_circom_list(cuzk_circom_work *work, cuzk_circom_info **infos, unsigned *n,
                             cuzk_error *err)
{
    assert_non_null(work);
    if (list_status != CUZK_OK) {
        return CUZK_FAIL(err, list_status, "no list");
    }
    *infos = calloc(2, sizeof **infos);
    strcpy((*infos)[0].name, "mul");
    (*infos)[0].curve = "bn128";
    (*infos)[0].n_constraints = 1;
    (*infos)[0].n_public = 2;
    (*infos)[0].n_vars = 4;
    (*infos)[0].n_bytes = 3000000000;
    strcpy((*infos)[1].name, "sha");
    (*infos)[1].curve = "bls12381";
    *n = 2;
    return CUZK_OK;
}

void cuzk_circom_list_free(cuzk_circom_info *infos, unsigned n)
{
    assert_int_equal(n, 2);
    free(infos);
}

/* ---- requests -------------------------------------------------------------------------------- */

static cuzk_server server = {.engine = (cuzk_engine *)&server,
                             .circom = (struct cuzk_circom_work *)&server};

/* Ask a route; the answer, if it came at once, is in `answered`. */
static void ask(const char *method, const char *path, const char *type, const char *body)
{
    cuzk_http_route routes[CUZK_HTTP_CIRCOM_ROUTES];
    cuzk_http_circom_routes(routes, &server);
    memset(&answered, 0, sizeof answered);
    memset(&submitted, 0, sizeof submitted);
    const cuzk_http_request request = {.method = method,
                                       .path = path,
                                       .content_type = type,
                                       .body = (const uint8_t *)body,
                                       .body_bytes = strlen(body)};
    const cuzk_http_route *route = &routes[strcmp(method, "POST") == 0 ? 0 : 1];
    assert_string_equal(route->method, method);
    route->handle(route->user, (cuzk_http_call *)&answered, &request);
}

static void expect(unsigned code, const char *body)
{
    assert_int_equal(answered.n, 1);
    assert_int_equal(answered.code, code);
    assert_string_equal(answered.type, "application/json");
    assert_string_equal(answered.body, body);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_submission(void **state)
{
    (void)state;
    ask("POST", "/circom/sha-256.v1/prove", "application/octet-stream", "wtns and more");
    assert_int_equal(answered.n, 0);
    assert_int_equal(submitted.kind, CUZK_KIND_CIRCOM);
    assert_string_equal(submitted.request_id, "");
    assert_int_equal(submitted.reserved_bytes, 0);
    /* field 2, circuit; field 3, witness */
    static const char wanted[] = "\x12\x0asha-256.v1\x1a\x0dwtns and more";
    assert_int_equal(submitted.payload_bytes, sizeof wanted - 1);
    assert_memory_equal(submitted.payload, wanted, sizeof wanted - 1);
    free(submitted.payload);
}

static void test_proof(void **state)
{
    (void)state;
    ask("POST", "/circom/mul/prove", "", "wtns");
    free(submitted.payload);
    const cuzk_submitted accepted = {.status = CUZK_OK, .job_id = "id \"1\""};
    submitted.on_submitted(submitted.user, &accepted);
    assert_int_equal(answered.n, 0);
    /* field 3, proof_json; field 4, public_json */
    static const char answer[] = "\x1a\x0b{\n \"a\": 1\n}\x22\x05[\"7\"]";
    cuzk_job_result result = {.job_id = "id \"1\"",
                              .state = CUZK_JOB_COMPLETED,
                              .answer = (const uint8_t *)answer,
                              .answer_bytes = sizeof answer - 1};
    submitted.on_result(submitted.user, &result);
    expect(200, "{\"status\":\"success\",\"job_id\":\"id \\\"1\\\"\","
                "\"proof\":\"{\\u000a \\\"a\\\": 1\\u000a}\",\"pubData\":\"[\\\"7\\\"]\"}\n");
    memset(&answered, 0, sizeof answered);
    result.answer_bytes = 3; /* cut off */
    submitted.on_result(submitted.user, &result);
    assert_int_equal(answered.code, 500);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        cuzk_status status;
        unsigned code;
    } refused[] = {{CUZK_E_NOT_FOUND, 404}, {CUZK_E_FORMAT, 400},
                   {CUZK_E_TRUNCATED, 400}, {CUZK_E_WITNESS_LENGTH, 400},
                   {CUZK_E_MEMORY, 413},    {CUZK_E_UNAVAILABLE, 503},
                   {CUZK_E_FILE, 500}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ask("POST", "/circom/mul/prove", "", "wtns");
        free(submitted.payload);
        const cuzk_submitted answer = {.status = refused[i].status, .error = "the \n reason"};
        submitted.on_submitted(submitted.user, &answer);
        assert_int_equal(answered.code, refused[i].code);
        assert_non_null(strstr(answered.body, "{\"status\":\"failed\",\"error\":\"the "));
        assert_non_null(strstr(answered.body, "reason\"}\n"));
    }
    ask("POST", "/circom/mul/prove", "", "wtns");
    free(submitted.payload);
    cuzk_job_result result = {.job_id = "j",
                              .state = CUZK_JOB_FAILED,
                              .status = CUZK_E_INVALID_PROOF,
                              .error = "does not satisfy"};
    submitted.on_result(submitted.user, &result);
    expect(422, "{\"status\":\"failed\",\"job_id\":\"j\",\"error\":\"does not satisfy\"}\n");
    /* the request was accepted: what is wrong now is the registered file */
    static const cuzk_status damaged[] = {CUZK_E_MISMATCH, CUZK_E_FORMAT, CUZK_E_TRUNCATED};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        memset(&answered, 0, sizeof answered);
        result.status = damaged[i];
        result.error = "not the key";
        submitted.on_result(submitted.user, &result);
        expect(500, "{\"status\":\"failed\",\"job_id\":\"j\",\"error\":\"not the key\"}\n");
    }
    memset(&answered, 0, sizeof answered);
    result.state = CUZK_JOB_CANCELLED;
    result.status = CUZK_E_CANCELLED;
    submitted.on_result(submitted.user, &result);
    assert_int_equal(answered.code, 409);
    assert_non_null(strstr(answered.body, "\"status\":\"aborted\""));
}

static void test_refused_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *path, *type, *body;
        unsigned code;
        const char *text;
    } bad[] = {
        {"/circom/mul/prove", "", "{\"a\": 1}", 415, "no witness calculator here"},
        {"/circom/mul/prove", "application/json; charset=utf-8", "[1]", 415,
         "as JSON are not taken"},
        {"/circom/mul/prove", "", "zkey", 415, "the body is not a .wtns file"},
        {"/circom/mul/prove", "", "", 415, "the body is not a .wtns file"},
        {"/circom/mul", "", "wtns", 404, "expected POST /circom/NAME/prove"},
        {"/circom//prove", "", "wtns", 404, "expected POST"},
        {"/circom/a/b/prove", "", "wtns", 404, "expected POST"},
        {"/circom/mul/prove/", "", "wtns", 404, "expected POST"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ask("POST", bad[i].path, bad[i].type, bad[i].body);
        assert_int_equal(answered.n, 1);
        assert_int_equal(answered.code, bad[i].code);
        assert_non_null(strstr(answered.body, bad[i].text));
        assert_int_equal(submitted.kind, 0);
    }
    char path[256] = "/circom/";
    memset(path + 8, 'a', CUZK_CIRCOM_NAME_MAX + 1);
    strcpy(path + 8 + CUZK_CIRCOM_NAME_MAX + 1, "/prove");
    ask("POST", path, "", "wtns");
    assert_int_equal(answered.code, 404);
    strcpy(path + 8 + CUZK_CIRCOM_NAME_MAX, "/prove");
    ask("POST", path, "", "wtns");
    assert_int_equal(submitted.kind, CUZK_KIND_CIRCOM);
    free(submitted.payload);
}

static void test_list(void **state)
{
    (void)state;
    ask("GET", "/circom", "", "");
    expect(200, "{\"circuits\":[{\"name\":\"mul\",\"curve\":\"bn128\",\"constraints\":1,"
                "\"public_values\":2,\"variables\":4,\"size_bytes\":3000000000},"
                "{\"name\":\"sha\",\"curve\":\"bls12381\",\"constraints\":0,\"public_values\":0,"
                "\"variables\":0,\"size_bytes\":0}]}\n");
    list_status = CUZK_E_MEMORY;
    ask("GET", "/circom", "", "");
    assert_int_equal(answered.code, 500);
    list_status = CUZK_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submission), cmocka_unit_test(test_proof),
        cmocka_unit_test(test_failures),   cmocka_unit_test(test_refused_at_once),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
