/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Load: the order of kinds, the loop, what is counted. */
#include "client/bench.h"

#include "base/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the mix --------------------------------------------------------------------------------- */

static cuzk_bench_kind *find_kind(cuzk_bench *bench, const char *name, size_t n)
{
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        if (strlen(bench->kinds[i].name) == n && strncmp(bench->kinds[i].name, name, n) == 0) {
            return &bench->kinds[i];
        }
    }
    return NULL;
}

static bool has_input(const cuzk_bench_kind *kind)
{
    return kind->submit != NULL || kind->witness != NULL;
}

cuzk_status cuzk_bench_mix(cuzk_bench *bench, const char *mix, cuzk_error *err)
{
    enum { WEIGHT_MAX = 1000, WEIGHT_DIGITS_MAX = 4 };
    bool any = false;
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        bench->kinds[i].weight = mix == NULL && has_input(&bench->kinds[i]);
        any = any || bench->kinds[i].weight > 0;
    }
    CUZK_FAIL_IF(mix == NULL && !any, err, CUZK_E_ARGUMENT,
                 "no job is given: --porep, --snap, --window, --winning or --circom");
    for (bool more = mix != NULL; more; mix++) {
        size_t n = strcspn(mix, ":,"), digits = 0;
        unsigned long weight = 1;
        cuzk_bench_kind *kind = find_kind(bench, mix, n);
        CUZK_FAIL_IF(kind == NULL, err, CUZK_E_ARGUMENT,
                     "--mix: \"%.*s\" is not porep, snap, window, winning or circom",
                     (int)(n < 40 ? n : 40), mix);
        if (mix[n] == ':') {
            digits = strspn(mix + n + 1, "0123456789");
            weight = digits <= WEIGHT_DIGITS_MAX ? strtoul(mix + n + 1, NULL, 10) : 0;
            n += 1 + digits;
            CUZK_FAIL_IF(digits == 0 || weight == 0 || weight > WEIGHT_MAX, err, CUZK_E_ARGUMENT,
                         "--mix: the weight of %s is not a number from 1 to %d", kind->name,
                         WEIGHT_MAX);
        }
        CUZK_FAIL_IF(mix[n] != ',' && mix[n] != '\0', err, CUZK_E_ARGUMENT,
                     "--mix: \"%.40s\" behind the weight of %s", mix + n, kind->name);
        CUZK_FAIL_IF(kind->weight > 0, err, CUZK_E_ARGUMENT, "--mix: %s is named twice",
                     kind->name);
        CUZK_FAIL_IF(!has_input(kind), err, CUZK_E_ARGUMENT, "--mix names %s: --%s is missing",
                     kind->name, kind->name);
        kind->weight = (unsigned)weight;
        mix += n;
        more = *mix == ',';
    }
    return CUZK_OK;
}

/* Each kind earns its weight a turn; the richest is taken and pays the sum of the weights. */
cuzk_bench_kind *cuzk_bench_next(cuzk_bench *bench)
{
    cuzk_bench_kind *best = NULL;
    int64_t sum = 0;
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        cuzk_bench_kind *kind = &bench->kinds[i];
        kind->credit += kind->weight;
        sum += kind->weight;
        if (kind->weight > 0 && (best == NULL || kind->credit > best->credit)) {
            best = kind;
        }
    }
    if (best != NULL) {
        best->credit -= sum;
    }
    return best;
}

/* ---- the run --------------------------------------------------------------------------------- */

struct run {
    cuzk_bench *bench;
    cuzk_session *session;
    uint64_t id; /* of the run, random: request ids differ from those of other runs */
    unsigned n_started, n_ended;
};

static bool start(struct run *r)
{
    cuzk_bench_kind *kind = cuzk_bench_next(r->bench);
    cuzk_session *s = r->session;
    char id[64];
    snprintf(id, sizeof id, "bench-%016" PRIx64 "-%u", r->id, r->n_started);
    cuzk_status status;
    if (kind->witness != NULL) {
        kind->witness->request_id = id;
        status = cuzk_client_start(s->client, CUZK_METHOD_PROVE_WITNESS, &kind->witness->base,
                                   s->timeout_ns, kind, &s->args->err);
    } else {
        Cuzk__V1__ProveRequest request;
        cuzk__v1__prove_request__init(&request);
        kind->submit->request_id = id;
        request.submit = kind->submit;
        status = cuzk_client_start(s->client, CUZK_METHOD_PROVE, &request.base, s->timeout_ns, kind,
                                   &s->args->err);
    }
    r->n_started++;
    kind->n_started++;
    return status == CUZK_OK;
}

static void count_failure(cuzk_bench_kind *kind, const char *text)
{
    if (kind->n_failed++ == 0) {
        snprintf(kind->error, sizeof kind->error, "%.*s", (int)sizeof kind->error - 1, text);
    }
}

static void count_success(cuzk_bench_kind *kind, uint64_t wall_ns, uint64_t total_ms,
                          uint64_t queue_ms)
{
    kind->wall[kind->n_completed] = (double)wall_ns / 1e9;
    kind->total[kind->n_completed] = (double)total_ms / 1e3;
    kind->queue[kind->n_completed] = (double)queue_ms / 1e3;
    kind->n_completed++;
}

static void take_answer(struct run *r, const cuzk_client_answer *answer)
{
    const Cuzk__V1__AwaitProofResponse__Status completed =
        CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    cuzk_bench_kind *kind = answer->user;
    r->n_ended++;
    if (answer->message == NULL) {
        count_failure(kind, answer->error.text);
    } else if (answer->method == CUZK_METHOD_PROVE_WITNESS) {
        const Cuzk__V1__ProveWitnessResponse *a = (Cuzk__V1__ProveWitnessResponse *)answer->message;
        if (a->status == completed && a->proof_json[0] != '\0') {
            count_success(kind, answer->wall_ns, a->total_ms, a->queue_wait_ms);
        } else {
            count_failure(kind, a->error_message);
        }
    } else {
        const Cuzk__V1__AwaitProofResponse *a =
            ((Cuzk__V1__ProveResponse *)answer->message)->result;
        if (a != NULL && a->status == completed && a->proof.len > 0) {
            count_success(kind, answer->wall_ns, a->total_ms, a->queue_wait_ms);
        } else {
            count_failure(kind, a != NULL ? a->error_message : "an answer without a result");
        }
    }
}

/* How long until the next job is to be started: 0: now. */
static uint64_t until_next(const struct run *r, uint64_t begin_ns)
{
    const cuzk_bench *b = r->bench;
    if (r->n_started == b->n_jobs) {
        return UINT64_MAX;
    }
    if (b->rate == 0) {
        return r->n_started - r->n_ended < b->concurrency ? 0 : UINT64_MAX;
    }
    uint64_t due = begin_ns + (uint64_t)((double)r->n_started / b->rate * 1e9);
    uint64_t now = cuzk_cli_now_ns();
    return due > now ? due - now : 0;
}

static void show(struct run *r)
{
    cuzk_cli_args *args = r->session->args;
    if (!args->progress) { /* which would print a line a job */
        cuzk_cli_progress(args, "of the jobs done", (double)r->n_ended / r->bench->n_jobs);
    }
}

static bool run_all(struct run *r)
{
    enum { LOOK_NS = 100000000 };
    cuzk_client *client = r->session->client;
    uint64_t begin_ns = cuzk_cli_now_ns();
    while (r->n_ended < r->bench->n_jobs) {
        if (cuzk_cli_interrupted()) {
            return cuzk_session_fail(r->session, CUZK_E_CANCELLED,
                                     "interrupted after %u of %u jobs; those that were sent go on",
                                     r->n_ended, r->bench->n_jobs);
        }
        uint64_t wait = until_next(r, begin_ns);
        if (wait == 0) {
            if (!start(r)) {
                return false;
            }
            continue;
        }
        wait = wait < LOOK_NS ? wait : LOOK_NS;
        cuzk_client_answer answer;
        if (r->n_started == r->n_ended) {
            nanosleep(&(struct timespec){.tv_nsec = (long)wait}, NULL);
        } else if (cuzk_client_next(client, &answer, wait)) {
            take_answer(r, &answer);
            cuzk_client_answer_clear(&answer);
        }
        show(r);
    }
    r->bench->seconds = (double)(cuzk_cli_now_ns() - begin_ns) / 1e9;
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool cuzk_bench_run(cuzk_bench *bench, cuzk_session *session)
{
    struct run r = {.bench = bench, .session = session};
    if (cuzk_random_bytes(&r.id, sizeof r.id, &session->args->err) != CUZK_OK || !run_all(&r)) {
        return false;
    }
    cuzk_cli_progress_end(session->args);
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        cuzk_bench_kind *k = &bench->kinds[i];
        double *lists[] = {k->wall, k->total, k->queue};
        for (unsigned j = 0; j < 3 && k->n_completed > 0; j++) {
            qsort(lists[j], k->n_completed, sizeof *lists[j], compare);
        }
    }
    return true;
}

double cuzk_bench_percentile(const double *sorted, unsigned n, double q)
{
    if (n == 0) {
        return 0;
    }
    double rank = q * n;
    unsigned k = (unsigned)rank;
    k += k < rank; /* rounded up */
    return sorted[k == 0 ? 0 : k > n ? n - 1 : k - 1];
}
