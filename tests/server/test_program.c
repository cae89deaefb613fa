/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tests' daemon: all of the real one, and the empty work (tests/engine/null_work.h) as one more
 * kind of proof, proof_kind 6. Its text is SubmitProofRequest.vanilla_proof, and nothing else of
 * the request counts for its result. Takes the keys of section test.
 *
 * With CUZK_TEST_TRACE=FILE it appends a line for each stage that it runs: "STAGE UNIT TEXT". */
#include "server/program.h"

#include "cuzk/v1/proving.pb-c.h"
#include "engine/null_work.h"
#include "server/commands.h"
#include "server/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const null_circuit circuits[] = {
    {.name = "null-a", .bytes = 1000000},
    {.name = "null-b", .bytes = 1000000},
    {.name = "null-slow", .bytes = 1000000, .load_us = 2000000},
    {.name = "null-large", .bytes = (uint64_t)1 << 40},
    {.name = "null-missing", .bytes = 1000000, .load_status = CUZK_E_FILE},
};

static cuzk_work null_table; /* the empty work's, with a decode of our own */
static const cuzk_work *inner;
static int trace_fd = -1;

static cuzk_status decode(void *user, cuzk_task **task, cuzk_task_info *info, const void *payload,
                          size_t n_bytes, cuzk_error *err)
{
    Cuzk__V1__SubmitProofRequest *request =
        cuzk__v1__submit_proof_request__unpack(NULL, n_bytes, (const uint8_t *)payload);
    CUZK_FAIL_IF(request == NULL, err, CUZK_E_FORMAT, "the request is not a protobuf message");
    cuzk_status status =
        inner->decode(user, task, info,
                      request->vanilla_proof.len == 0 ? "" : (char *)request->vanilla_proof.data,
                      request->vanilla_proof.len, err);
    cuzk__v1__submit_proof_request__free_unpacked(request, NULL);
    return status;
}

static cuzk_status trace(void *user, null_stage stage, const char *text, int unit,
                         const cuzk_work_call *call)
{
    static const char *const names[NULL_STAGES] = {"decode", "load",   "witness", "prove",
                                                   "lane",   "finish", "verify",  "assemble"};
    (void)user;
    (void)call;
    char line[4200];
    int n = snprintf(line, sizeof line, "%s %d %.4000s\n", names[stage], unit, text);
    for (int i = 0; i < n - 1; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    return write(trace_fd, line, (size_t)n) == n ? CUZK_OK : CUZK_E_FILE;
}

static cuzk_status add_kinds(cuzk_engine_kind *kinds, cuzk_error *err)
{
    const char *path = getenv("CUZK_TEST_TRACE");
    null_options options = {.circuits = circuits,
                            .n_circuits = sizeof circuits / sizeof circuits[0]};
    if (path != NULL) {
        trace_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        CUZK_FAIL_IF(trace_fd < 0, err, CUZK_E_FILE, "\"%s\" cannot be written", path);
        options.hook = trace;
    }
    null_work *work = null_work_create(&options); /* lives as long as the process */
    CUZK_FAIL_IF(work == NULL, err, CUZK_E_MEMORY, "no memory for the empty work");
    inner = null_work_table(work);
    null_table = *inner;
    null_table.decode = decode;
    kinds[CUZK_KIND_NULL] = (cuzk_engine_kind){
        .name = "null", .label = "null", .priority = CUZK_PRIORITY_NORMAL, .work = &null_table};
    return CUZK_OK;
}

const cuzk_program cuzk_the_program = {.is_test = true, .add_kinds = add_kinds};

int main(int argc, char **argv)
{
    return cuzk_server_main(argc, argv);
}
