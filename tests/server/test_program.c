/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tests' daemon: all of the real one, and the empty work (tests/engine/null_work.h) as one more
 * kind of proof, proof_kind 6. Its text is SubmitProofRequest.vanilla_proof, and nothing else of
 * the request counts for its result. Takes the keys of section test.
 *
 * With CUZK_TEST_DEVICES=N there are N devices, the second one on ("null:1") for the empty work
 * only.
 *
 * With CUZK_TEST_TRACE=FILE it appends a line for each stage that it runs: "STAGE UNIT TEXT".
 * "gate=NAME[@N]" in a text: units wait in their prove stage until there is a file NAME in the
 * working folder, all but the first N that come to such a gate; circuit null-slow is loaded when
 * there is a file "null-slow".
 */
#include "server/program.h"

#include "cuzk/v1/proving.pb-c.h"
#include "engine/null_work.h"
#include "server/commands.h"
#include "server/server.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const null_circuit circuits[] = {
    {.name = "null-a", .bytes = 1000000},
    {.name = "null-b", .bytes = 1000000},
    {.name = "null-slow", .bytes = 1000000},
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

/* Wait for a file. E_CANCELLED where the call is. */
static cuzk_status wait_for(const char *name, const cuzk_work_call *call)
{
    while (access(name, F_OK) != 0) {
        if (call != NULL && call->is_cancelled(call->context)) {
            return CUZK_E_CANCELLED;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return CUZK_OK;
}

/* The gate that a text names. */
static cuzk_status pass_gate(const char *text, const cuzk_work_call *call)
{
    static atomic_int n_came;
    char name[64];
    int n_free = 0;
    const char *gate = strstr(text, "gate=");
    if (gate == NULL || sscanf(gate, "gate=%63[^@ ]@%d", name, &n_free) < 1) {
        return CUZK_OK;
    }
    if (atomic_fetch_add_explicit(&n_came, 1, memory_order_relaxed) < n_free) {
        return CUZK_OK;
    }
    return wait_for(name, call);
}

/* The hook of every stage. */
static cuzk_status trace(void *user, null_stage stage, const char *text, int unit,
                         const cuzk_work_call *call)
{
    static const char *const names[NULL_STAGES] = {"decode", "load",   "witness", "prove",
                                                   "lane",   "finish", "verify",  "assemble",
                                                   "evict"};
    (void)user;
    char line[4200];
    int n = snprintf(line, sizeof line, "%s %d %.4000s\n", names[stage], unit, text);
    for (int i = 0; i < n - 1; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    if (write(trace_fd, line, (size_t)n) != n) {
        return CUZK_E_FILE;
    }
    if (stage == NULL_LOAD && strcmp(text, "null-slow") == 0) {
        return wait_for(text, NULL);
    }
    return stage == NULL_PROVE ? pass_gate(text, call) : CUZK_OK;
}

static void add_devices(cuzk_work_devices *devices)
{
    const char *text = getenv("CUZK_TEST_DEVICES");
    unsigned n = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
    for (n = n < CUZK_WORK_DEVICES_MAX ? n : CUZK_WORK_DEVICES_MAX; devices->n < n; devices->n++) {
        cuzk_work_device *device = &devices->devices[devices->n];
        *device = (cuzk_work_device){.name = "nothing"};
        snprintf(device->id, sizeof device->id, "null:%u", devices->n);
    }
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

const cuzk_program cuzk_the_program = {
    .is_test = true, .add_kinds = add_kinds, .add_devices = add_devices};

int main(int argc, char **argv)
{
    return cuzk_server_main(argc, argv);
}
