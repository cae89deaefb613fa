/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waiting for a job. */
#include "client/session.h"

#include "client/status_read.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAKE_NS = 100000000, /* between two looks at the signals */
    LOOK_NS = 500000000, /* between two looks at a job's partitions */
    LOOK_SHARE = 10      /* or so many times as long as a look takes: the answer waits meanwhile */
};

/* One wait and what it shows. */
struct waiting {
    cuzk_session *session;
    const char *job_id;
    unsigned n_partitions, n_done;
    bool has_shown;
    uint64_t next_ns; /* when the next look at the partitions is due */
};

/* Show how many partitions are done, if the HTTP port tells. */
static void show(struct waiting *w)
{
    cuzk_session *s = w->session;
    uint64_t begin = cuzk_cli_now_ns();
    if (s->args->quiet || s->status_address[0] == '\0' || begin < w->next_ns) {
        return;
    }
    cuzk_status_view view;
    cuzk_status status = cuzk_status_fetch(&view, NULL, s->status_address, NULL);
    uint64_t end = cuzk_cli_now_ns(), pause = LOOK_SHARE * (end - begin);
    w->next_ns = end + (pause > LOOK_NS ? pause : LOOK_NS);
    if (status != CUZK_OK) {
        return; /* it is a matter of comfort only */
    }
    for (size_t i = 0; i < view.n_jobs; i++) {
        const cuzk_status_job *job = &view.jobs[i];
        if (strcmp(job->job_id, w->job_id) != 0) {
            continue;
        }
        char text[96];
        unsigned n = job->n_partitions > 0 ? job->n_partitions : w->n_partitions;
        snprintf(text, sizeof text, "of the job: %u of %u partitions", job->n_done, n);
        if (!w->has_shown || job->n_done != w->n_done || !s->args->progress) {
            unsigned done = job->n_done < n ? job->n_done : n;
            cuzk_cli_progress(s->args, text, n > 0 ? (double)done / n : 0);
        }
        w->has_shown = true;
        w->n_done = job->n_done;
    }
    cuzk_status_view_clear(&view);
}

/* One AwaitProof. NULL with args->err set. */
static Cuzk__V1__AwaitProofResponse *await_once(struct waiting *w, cuzk_client_reach *reach,
                                                uint64_t limit_ns)
{
    cuzk_session *s = w->session;
    Cuzk__V1__AwaitProofRequest request;
    cuzk__v1__await_proof_request__init(&request);
    request.job_id = (char *)w->job_id;
    request.timeout_ms = limit_ns / 1000000;
    if (limit_ns != 0 && request.timeout_ms == 0) {
        request.timeout_ms = 1;
    }
    const uint64_t grace_ns = 5000000000u; /* for the answer to come */
    *reach = CUZK_REACH_DAEMON;
    cuzk_error_clear(&s->args->err);
    if (cuzk_client_start(s->client, CUZK_METHOD_AWAIT, &request.base,
                          limit_ns != 0 ? limit_ns + grace_ns : 0, NULL,
                          &s->args->err) != CUZK_OK) {
        return NULL;
    }
    cuzk_client_answer answer;
    while (!cuzk_client_next(s->client, &answer, WAKE_NS)) {
        if (cuzk_cli_interrupted()) {
            cuzk_client_cancel(s->client);
        } else {
            show(w);
        }
    }
    s->args->err = answer.error;
    *reach = answer.reach;
    s->was_connected = s->was_connected || answer.reach != CUZK_REACH_NONE;
    return (Cuzk__V1__AwaitProofResponse *)answer.message;
}

Cuzk__V1__AwaitProofResponse *cuzk_session_await(cuzk_session *session, const char *job_id,
                                                 unsigned n_partitions)
{
    struct waiting w = {.session = session, .job_id = job_id, .n_partitions = n_partitions};
    cuzk_session_search search = {.begin_ns = cuzk_cli_now_ns()};
    uint64_t limit_ns = session->timeout_ns;
    cuzk_client_reach reach;
    Cuzk__V1__AwaitProofResponse *answer = await_once(&w, &reach, limit_ns);
    while (answer == NULL && cuzk_session_again(session, &search, &limit_ns, reach)) {
        answer = await_once(&w, &reach, limit_ns);
    }
    cuzk_cli_progress_end(session->args);
    if (answer == NULL && cuzk_cli_interrupted()) {
        cuzk_session_fail(session, CUZK_E_CANCELLED,
                          "interrupted; job %s goes on: cuzk await fetches its proof, cuzk cancel "
                          "ends it",
                          job_id);
    }
    return answer;
}
