/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Puts small jobs on a running cuzk-server-test (kind 6, the empty work) and says how many a
 * second:
 *
 *     rpc_load ADDRESS prove|submit|status N CONCURRENT [PAYLOAD [BYTES]]
 *
 * BYTES: zeros behind the payload, as large requests have them.
 * prove: Prove; submit: SubmitProof, then AwaitProof; status: GetStatus. One connection, open loop
 * of CONCURRENT calls. Not a test: it measures. */
#include "base/clock.h"
#include "cuzk/v1/proving.pb-c.h"
#include "server/rpc_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROVING "cuzk.v1.ProvingEngine/"

enum { NULL_KIND = 6, CONCURRENT_MAX = 1024 };

typedef struct {
    call *under_way;
    unsigned long job;
    uint64_t begin_ns;
    int step;
} turn;

static client *c;
static const char *what;
static char *payload;
static size_t n_payload;
static uint8_t *buffer; /* of a message */
static unsigned long next_job;
static char run[32];

static void begin(turn *t)
{
    char id[96];
    snprintf(id, sizeof id, "load-%s-%lu", run, t->job);
    Cuzk__V1__SubmitProofRequest submit;
    cuzk__v1__submit_proof_request__init(&submit);
    submit.request_id = id;
    submit.proof_kind = (Cuzk__V1__ProofKind)NULL_KIND;
    submit.vanilla_proof.data = (uint8_t *)payload;
    submit.vanilla_proof.len = n_payload;
    if (strcmp(what, "prove") == 0) {
        Cuzk__V1__ProveRequest prove;
        cuzk__v1__prove_request__init(&prove);
        prove.submit = &submit;
        size_t n = cuzk__v1__prove_request__pack(&prove, buffer);
        t->under_way = client_start(c, PROVING "Prove", buffer, n, 60000);
    } else if (strcmp(what, "status") == 0) {
        t->under_way = client_start(c, PROVING "GetStatus", "", 0, 60000);
    } else if (t->step == 0) {
        size_t n = cuzk__v1__submit_proof_request__pack(&submit, buffer);
        t->under_way = client_start(c, PROVING "SubmitProof", buffer, n, 60000);
    } else {
        Cuzk__V1__AwaitProofRequest await;
        cuzk__v1__await_proof_request__init(&await);
        await.job_id = id;
        size_t n = cuzk__v1__await_proof_request__pack(&await, buffer);
        t->under_way = client_start(c, PROVING "AwaitProof", buffer, n, 60000);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 5 || atoi(argv[4]) < 1 || atoi(argv[4]) > CONCURRENT_MAX) {
        fprintf(stderr,
                "usage: rpc_load ADDRESS prove|submit|status N CONCURRENT [PAYLOAD [BYTES]]\n");
        return 2;
    }
    what = argv[2];
    unsigned long n = strtoul(argv[3], NULL, 10);
    unsigned width = (unsigned)atoi(argv[4]);
    const char *text = argc > 5 ? argv[5] : "units=1";
    size_t n_behind = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
    n_payload = strlen(text) + n_behind;
    payload = calloc(1, n_payload + 1);
    buffer = malloc(n_payload + 4096);
    if (payload == NULL || buffer == NULL) {
        fprintf(stderr, "rpc_load: no memory for %zu bytes\n", n_payload);
        return 1;
    }
    memcpy(payload, text, strlen(text));
    int steps = strcmp(what, "submit") == 0 ? 2 : 1;
    grpc_init();
    c = client_open(argv[1], NULL);
    snprintf(run, sizeof run, "%llx", (unsigned long long)cuzk_now_ns());
    static turn turns[CONCURRENT_MAX];
    uint64_t *times = calloc(n, sizeof *times);
    unsigned long done = 0;
    uint64_t start = cuzk_now_ns();
    for (unsigned i = 0; i < width && next_job < n; i++) {
        turns[i] = (turn){.job = next_job++, .begin_ns = cuzk_now_ns()};
        begin(&turns[i]);
    }
    for (unsigned i = 0; done < n; i = (i + 1) % width) {
        turn *t = &turns[i];
        if (t->under_way == NULL) {
            continue;
        }
        answer a;
        call_wait(t->under_way, &a);
        t->under_way = NULL;
        if (a.code != GRPC_STATUS_OK) {
            fprintf(stderr, "rpc_load: status %d: %s\n", a.code, a.text);
            return 1;
        }
        answer_clear(&a);
        if (++t->step == steps) {
            times[done++] = cuzk_now_ns() - t->begin_ns;
            if (next_job == n) {
                continue;
            }
            *t = (turn){.job = next_job++, .begin_ns = cuzk_now_ns()};
        }
        begin(t);
    }
    double s = (double)(cuzk_now_ns() - start) * 1e-9;
    qsort(times, n, sizeof *times, compare);
    printf("%s: %lu in %.2f s, %.0f a second; median %.3f ms, 99 %% %.3f ms\n", what, n, s,
           (double)n / s, (double)times[n / 2] * 1e-6, (double)times[n * 99 / 100] * 1e-6);
    client_close(c);
    free(times);
    free(payload);
    free(buffer);
    grpc_shutdown();
    return 0;
}
