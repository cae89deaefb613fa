/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Load for a daemon: which jobs, when, and what came of them. */
#ifndef CUZK_CLIENT_BENCH_H
#define CUZK_CLIENT_BENCH_H

#include "client/request.h"
#include "client/session.h"

enum { CUZK_BENCH_KINDS = 5, CUZK_BENCH_JOBS_MAX = 10000000 };

/* One kind of the mix. */
typedef struct {
    const char *name; /* "porep" */
    unsigned weight;  /* 0: not in the mix */
    /* what is sent, again and again: the one of the kind */
    Cuzk__V1__SubmitProofRequest *submit;
    Cuzk__V1__ProveWitnessRequest *witness;
    /* private to the choice of the next kind */
    int64_t credit;
    /* results; the arrays have room for all jobs of the kind */
    unsigned n_started, n_completed, n_failed;
    double *wall, *total, *queue; /* seconds: seen here; in the daemon; of it in the queue */
    char error[256];              /* the first failure's text; "" */
} cuzk_bench_kind;

typedef struct {
    cuzk_bench_kind kinds[CUZK_BENCH_KINDS];
    unsigned n_jobs;
    unsigned concurrency; /* closed loop: open at once; not used with a rate */
    double rate;          /* open loop: jobs a second; 0: closed loop */
    double seconds;       /* from the first start to the last end */
} cuzk_bench;

/** Read a mix, "porep:1,winning:3", into the weights; NULL: one for each kind that has something to
 *  send. Errors: E_ARGUMENT: the text, a kind twice or without something to send. */
cuzk_status cuzk_bench_mix(cuzk_bench *bench, const char *mix, cuzk_error *err) CUZK_WARN_UNUSED;

/** The kind of the next job: each gets its share of any run of jobs, spread evenly. */
cuzk_bench_kind *cuzk_bench_next(cuzk_bench *bench);

/** Run the load: each job is one call with a fresh request id; one that fails is counted, also
 * where nobody could be reached. False with args->err set: no memory, or interrupted. */
bool cuzk_bench_run(cuzk_bench *bench, cuzk_session *session);

/** The value below which the share q of n sorted values lies (nearest rank); 0 for none. */
double cuzk_bench_percentile(const double *sorted, unsigned n, double q);

#endif
