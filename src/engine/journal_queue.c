/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal's queue and its writing thread.
 *
 * Requests lie in two queues. In `small` is everything that is written whole in the next commit. A
 * payload of more than a piece goes to `large`, from whose head each commit takes a few pieces, so
 * that a proof that is waited for does not wait for somebody's 100 MB; what is asked about the same
 * job later queues up behind it there. The job's row is written with its last piece: until then the
 * pieces belong to nobody and are deleted when the journal is next opened. */
#include "engine/journal_impl.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH_BYTES = 16 << 20, /* of a commit, about */
    BATCH_REQUESTS = 4096,
    LARGE_PIECES = 2,   /* of them, of large payloads */
    SUM_BYTES = 65536,  /* a payload's sum is worth another thread: 0.1 ms */
    EXPIRE_MAX = 1024,  /* jobs deleted in a commit */
    LOG_PAGES = 2048,   /* 8 MiB: the log is moved into the file when it is longer */
    SHRINK_PAGES = 1024 /* given back to the file system at a time */
};

typedef enum { ACCEPT, UNIT, FINISH, DROP, LOAD, FIND } request_kind;

typedef void (*on_loaded)(void *user, cuzk_status status, const char *error, void *payload,
                          size_t n_bytes);

typedef cuzk_journal_request request;

typedef void (*on_found)(void *user, cuzk_status status, const char *error,
                         const cuzk_journal_entry *entry);

struct cuzk_journal_request {
    request *next;
    request_kind kind;
    uint64_t seq;
    unsigned unit;
    cuzk_journal_job job; /* texts in `copy` */
    cuzk_journal_end end; /* text and answer in `copy` */
    const void *proof;
    size_t n_bytes;     /* of payload, proof or answer */
    uint64_t write_ns;  /* ACCEPT that is not hurried: when it is written at the latest; else 0 */
    cuzk_store_sum sum; /* but for the payload's pieces, whose sums take a while: 1.7 ns a byte,
                           by the thread that writes or, of one piece, beside it */
    cuzk_payload_sum payload_sum;
    size_t n_pieces, n_written; /* of the payload */
    cuzk_journal_done done;
    on_loaded loaded; /* LOAD: in place of done */
    on_found found;   /* FIND: in place of done; the id is in `copy` */
    void *user;
    char copy[];
};

/* ---- asking ---------------------------------------------------------------------------------- */

static void push(cuzk_journal_queue *q, request *r)
{
    r->next = NULL;
    *q->last = r;
    q->last = &r->next;
}

static request *pop(cuzk_journal_queue *q)
{
    request *r = q->first;
    q->first = r->next;
    if (q->first == NULL) {
        q->last = &q->first;
    }
    return r;
}

static bool is_summed_beside(const request *r)
{
    return r->kind == ACCEPT && r->n_pieces == 1 && r->n_bytes >= SUM_BYTES;
}

static void ask(cuzk_journal *journal, request *r)
{
    bool is_large = r->n_pieces > 1;
    pthread_mutex_lock(&journal->mutex);
    for (const request *l = journal->large.first; l != NULL && !is_large; l = l->next) {
        is_large = l->seq == r->seq;
    }
    bool is_first = journal->small.first == NULL;
    push(is_large ? &journal->large : &journal->small, r);
    if (is_summed_beside(r)) {
        r->payload_sum =
            (cuzk_payload_sum){.seq = r->seq, .payload = r->job.payload, .n_bytes = r->n_bytes};
        cuzk_payload_sums_ask(&journal->sums, &r->payload_sum, journal->is_writing);
    }
    journal->n_pressing += !is_large && r->write_ns == 0;
    if (is_large || is_first || r->write_ns == 0) {
        pthread_cond_signal(&journal->wake);
    }
    pthread_mutex_unlock(&journal->mutex);
}

/* A request with n_copy bytes; NULL: done was told that there is no memory. */
static request *make_request(request_kind kind, uint64_t seq, size_t n_copy, cuzk_journal_done done,
                             void *user)
{
    request *r = (request *)calloc(1, sizeof *r + n_copy);
    if (r == NULL) {
        if (done != NULL) {
            done(user, CUZK_E_MEMORY, "writing to the journal: no memory");
        }
        return NULL;
    }
    r->kind = kind;
    r->seq = seq;
    r->done = done;
    r->user = user;
    return r;
}

void cuzk_journal_accept(cuzk_journal *journal, const cuzk_journal_job *job, cuzk_journal_done done,
                         void *user)
{
    size_t n_request = strlen(job->request_id) + 1, n_job = strlen(job->job_id) + 1;
    size_t n_pieces = cuzk_store_n_pieces(job->payload_bytes);
    request *r = make_request(ACCEPT, job->seq, n_request + n_job, done, user);
    if (r == NULL) {
        return;
    }
    char *request_id = r->copy, *job_id = request_id + n_request;
    r->job = *job;
    r->job.request_id = memcpy(request_id, job->request_id, n_request);
    r->job.job_id = memcpy(job_id, job->job_id, n_job);
    r->n_bytes = job->payload_bytes;
    r->n_pieces = n_pieces;
    if (job->is_unhurried && n_pieces <= 1) {
        r->write_ns = cuzk_now_ns() + journal->options.unhurried_ns;
    }
    r->sum = cuzk_store_sum_job(job);
    ask(journal, r);
}

void cuzk_journal_unit(cuzk_journal *journal, uint64_t seq, unsigned unit, const void *proof,
                       size_t n_bytes, cuzk_journal_done done, void *user)
{
    request *r = make_request(UNIT, seq, n_bytes, done, user);
    if (r == NULL) {
        return;
    }
    r->unit = unit;
    r->n_bytes = n_bytes;
    r->proof = memcpy(r->copy, n_bytes == 0 ? "" : proof, n_bytes);
    r->sum = cuzk_store_sum_unit(seq, unit, proof, n_bytes);
    ask(journal, r);
}

void cuzk_journal_finish(cuzk_journal *journal, uint64_t seq, const cuzk_journal_end *end,
                         cuzk_journal_done done, void *user)
{
    size_t n_error = strlen(end->error) + 1;
    request *r = make_request(FINISH, seq, n_error + end->answer_bytes, done, user);
    if (r == NULL) {
        return;
    }
    r->end = *end;
    r->end.error = memcpy(r->copy, end->error, n_error);
    r->end.answer =
        memcpy(r->copy + n_error, end->answer_bytes == 0 ? "" : end->answer, end->answer_bytes);
    r->n_bytes = end->answer_bytes;
    r->sum = cuzk_store_sum_end(seq, end);
    ask(journal, r);
}

void cuzk_journal_drop(cuzk_journal *journal, uint64_t seq)
{
    request *r = make_request(DROP, seq, 0, NULL, NULL);
    if (r != NULL) {
        ask(journal, r);
    }
}

void cuzk_journal_load(cuzk_journal *journal, uint64_t seq, on_loaded done, void *user)
{
    request *r = make_request(LOAD, seq, 0, NULL, user);
    if (r == NULL) {
        done(user, CUZK_E_MEMORY, "reading the journal: no memory", NULL, 0);
        return;
    }
    r->loaded = done;
    ask(journal, r);
}

void cuzk_journal_find(cuzk_journal *journal, const char *id, on_found done, void *user)
{
    size_t n_id = strlen(id) + 1;
    request *r = make_request(FIND, 0, n_id, NULL, user);
    if (r == NULL) {
        done(user, CUZK_E_MEMORY, "reading the journal: no memory", NULL);
        return;
    }
    r->found = done;
    memcpy(r->copy, id, n_id);
    ask(journal, r);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int64_t expire_before_ms(const cuzk_journal *journal)
{
    int64_t now_ms = (int64_t)(cuzk_wall_ns() / 1000000);
    uint64_t keep_ms = journal->options.keep_ns / 1000000;
    return keep_ms > (uint64_t)now_ms ? 0 : now_ms - (int64_t)keep_ms;
}

static cuzk_store_sum piece_sum(cuzk_journal *journal, request *r, size_t piece, const void *data,
                                size_t n_bytes)
{
    return is_summed_beside(r) ? cuzk_payload_sums_get(&journal->sums, &r->payload_sum)
                               : cuzk_store_sum_piece(r->seq, piece, data, n_bytes);
}

/* Write a request, of a large payload the next pieces. */
static cuzk_status write_request(cuzk_journal *journal, request *r, cuzk_error *err)
{
    cuzk_store *store = journal->store;
    switch (r->kind) {
    case ACCEPT: {
        size_t end = r->n_pieces > 1 ? r->n_written + LARGE_PIECES : r->n_pieces;
        for (size_t k = r->n_written; k < end && k < r->n_pieces; k++) {
            const char *piece = (const char *)r->job.payload + k * CUZK_STORE_PIECE_BYTES;
            size_t n_bytes = cuzk_store_piece_bytes(r->n_bytes, k);
            CUZK_TRY(cuzk_store_put_piece(store, r->seq, k, piece, n_bytes,
                                          piece_sum(journal, r, k, piece, n_bytes), err));
        }
        return end >= r->n_pieces ? cuzk_store_put_job(store, &r->job, r->sum, err) : CUZK_OK;
    }
    case UNIT:
        return cuzk_store_put_unit(store, r->seq, r->unit, r->proof, r->n_bytes, r->sum, err);
    case FINISH:
        return cuzk_store_put_end(store, r->seq, &r->end, r->sum, err);
    case DROP:
        return cuzk_store_drop(store, r->seq, err);
    case LOAD: /* after the commit */
    case FIND:
        return CUZK_OK;
    }
    return CUZK_OK;
}

/* What became of a request. */
typedef struct {
    request *r;
    cuzk_status status;
    char error[256];
} outcome;

static void fail(outcome *o, cuzk_status status, const cuzk_error *why)
{
    o->status = status;
    snprintf(o->error, sizeof o->error, "%.*s", (int)sizeof o->error - 1, why->text);
}

static bool ends_transaction(cuzk_status status)
{
    return status != CUZK_OK && status != CUZK_E_NOT_FOUND && status != CUZK_E_ARGUMENT;
}

/* One transaction. Requests that are wrong fail alone; anything else is the failure of all. */
static cuzk_status write_together(cuzk_journal *journal, outcome *all, size_t n, cuzk_error *err)
{
    cuzk_store *store = journal->store;
    unsigned n_deleted;
    CUZK_TRY(cuzk_store_begin(store, err));
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        cuzk_error why = {0};
        fail(&all[i], write_request(journal, all[i].r, &why), &why);
        if (ends_transaction(all[i].status)) {
            status = CUZK_FAIL(err, all[i].status, "%s", why.text);
        }
    }
    if (status == CUZK_OK) {
        status = cuzk_store_expire(store, &n_deleted, expire_before_ms(journal),
                                   journal->options.keep_bytes, EXPIRE_MAX, err);
    }
    if (status == CUZK_OK && journal->options.fault != NULL) {
        status = journal->options.fault(journal->options.fault_user, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_store_commit(store, err);
    }
    if (status != CUZK_OK) {
        cuzk_store_rollback(store);
    }
    return status;
}

/* Write requests, together or, where the disk refuses that, one by one: small ends may still fit
 * where a payload does not, and what they delete makes room. */
static void write_all(cuzk_journal *journal, outcome *all, size_t n)
{
    cuzk_error err = {0};
    size_t n_writes = 0;
    for (size_t i = 0; i < n; i++) {
        n_writes += all[i].r->kind != LOAD && all[i].r->kind != FIND;
    }
    if (n_writes == 0 || write_together(journal, all, n, &err) == CUZK_OK) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (n > 1) {
            cuzk_error_clear(&err);
            if (write_together(journal, &all[i], 1, &err) == CUZK_OK) {
                continue;
            }
        }
        cuzk_error_prefix(&err, "journal \"%s\"", journal->path);
        fail(&all[i], err.status == CUZK_E_MEMORY ? CUZK_E_MEMORY : CUZK_E_FILE, &err);
    }
}

/* Pieces of a payload that did not become a job. They may fail to go, too: then they go when the
 * journal is next opened. */
static void drop_pieces(cuzk_journal *journal, uint64_t seq)
{
    cuzk_error err = {0};
    if (cuzk_store_begin(journal->store, &err) == CUZK_OK) {
        if (cuzk_store_drop(journal->store, seq, &err) != CUZK_OK ||
            cuzk_store_commit(journal->store, &err) != CUZK_OK) {
            cuzk_store_rollback(journal->store);
        }
    }
}

/* Take the requests of the next commit. The one at the head of `large` stays there; has_large: it
 * is the last of them. */
static outcome *take_batch(cuzk_journal *journal, size_t *n, bool *has_large)
{
    size_t count = 0, bytes = 0;
    const request *end = journal->small.first;
    while (end != NULL && bytes < BATCH_BYTES && count < BATCH_REQUESTS) {
        bytes += end->n_bytes + 512;
        count++;
        end = end->next;
    }
    *has_large = journal->large.first != NULL;
    *n = count + *has_large;
    outcome *all = (outcome *)calloc(*n == 0 ? 1 : *n, sizeof *all);
    if (all == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        all[i].r = pop(&journal->small);
        journal->n_pressing -= all[i].r->write_ns == 0;
    }
    if (*has_large) {
        all[count].r = journal->large.first;
    }
    return all;
}

/* The request at the head of `large` was in a commit: is it through? */
static bool advance_large(cuzk_journal *journal, outcome *o)
{
    request *r = o->r;
    if (o->status == CUZK_OK && r->n_pieces > 1) {
        r->n_written += LARGE_PIECES;
        if (r->n_written < r->n_pieces) {
            return false;
        }
    } else if (o->status != CUZK_OK && r->n_written > 0) {
        drop_pieces(journal, r->seq);
    }
    pthread_mutex_lock(&journal->mutex);
    pop(&journal->large);
    pthread_mutex_unlock(&journal->mutex);
    return true;
}

/* Read a payload and hand it over. */
static void load(cuzk_journal *journal, const request *r)
{
    cuzk_store_row row;
    cuzk_error err = {0};
    void *payload = NULL;
    size_t n_bytes = 0;
    pthread_mutex_lock(&journal->store_mutex);
    cuzk_status status = cuzk_store_load(journal->store, &row, r->seq, true, &err);
    pthread_mutex_unlock(&journal->store_mutex);
    if (status == CUZK_OK && row.entry.has_ended) {
        status = CUZK_FAIL(&err, CUZK_E_NOT_FOUND, "job number %llu has ended",
                           (unsigned long long)r->seq);
        cuzk_store_row_clear(&row);
    } else if (status == CUZK_OK) {
        payload = cuzk_store_row_take_payload(&row, &n_bytes);
        cuzk_store_row_clear(&row);
    }
    cuzk_error_prefix(&err, "journal \"%s\"", journal->path);
    r->loaded(r->user, status, err.text, payload, n_bytes);
}

/* Look for a job and show it. */
static void find(cuzk_journal *journal, const request *r)
{
    cuzk_store_row row = {0};
    cuzk_error err = {0};
    uint64_t seq = 0;
    pthread_mutex_lock(&journal->store_mutex);
    cuzk_status status = cuzk_store_find(journal->store, &seq, r->copy, &err);
    if (status == CUZK_OK) {
        status = cuzk_store_load(journal->store, &row, seq, false, &err);
    }
    pthread_mutex_unlock(&journal->store_mutex);
    cuzk_error_prefix(&err, "journal \"%s\"", journal->path);
    r->found(r->user, status, err.text, status == CUZK_OK ? &row.entry : NULL);
    cuzk_store_row_clear(&row);
}

static void answer(cuzk_journal *journal, const outcome *o)
{
    if (is_summed_beside(o->r)) { /* a commit may fail before it */
        cuzk_payload_sums_drop(&journal->sums, &o->r->payload_sum);
    }
    if (o->r->kind == LOAD) {
        load(journal, o->r);
    } else if (o->r->kind == FIND) {
        find(journal, o->r);
    }
    if (o->r->done != NULL) {
        o->r->done(o->r->user, o->status, o->status == CUZK_OK ? "" : o->error);
    }
    free(o->r);
}

/* One commit and what follows it. */
static void write_batch(cuzk_journal *journal, outcome *all, size_t n, bool has_large)
{
    pthread_mutex_lock(&journal->store_mutex);
    write_all(journal, all, n);
    if (has_large && !advance_large(journal, &all[n - 1])) {
        n--;
    }
    pthread_mutex_unlock(&journal->store_mutex);
    for (size_t i = 0; i < n; i++) {
        answer(journal, &all[i]);
    }
    pthread_mutex_lock(&journal->store_mutex);
    cuzk_store_checkpoint(journal->store, LOG_PAGES);
    pthread_mutex_unlock(&journal->store_mutex);
    free(all);
}

/* Nothing was asked for in the last second. Returns whether there is more to tidy. */
static bool tidy(cuzk_journal *journal)
{
    pthread_mutex_lock(&journal->store_mutex);
    bool more = false;
    cuzk_error err = {0};
    if (cuzk_store_has_expired(journal->store, expire_before_ms(journal),
                               journal->options.keep_bytes)) {
        more = write_together(journal, NULL, 0, &err) == CUZK_OK;
    } else {
        more = cuzk_store_shrink(journal->store, SHRINK_PAGES);
    }
    cuzk_store_checkpoint(journal->store, more ? LOG_PAGES : 0);
    pthread_mutex_unlock(&journal->store_mutex);
    return more;
}

static bool is_idle(const cuzk_journal *journal)
{
    return journal->small.first == NULL && journal->large.first == NULL;
}

/* Whether all that is asked for may wait, and until when. The oldest is first. */
static bool may_wait(const cuzk_journal *journal, uint64_t *until_ns)
{
    bool waits = journal->small.first != NULL && journal->n_pressing == 0 &&
                 journal->large.first == NULL && !journal->is_closing;
    *until_ns = waits ? journal->small.first->write_ns : 0;
    return waits && cuzk_now_ns() < *until_ns;
}

static int sleep_until(cuzk_journal *journal, uint64_t ns)
{
    struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return pthread_cond_timedwait(&journal->wake, &journal->mutex, &until);
}

static void *run(void *user)
{
    cuzk_journal *journal = (cuzk_journal *)user;
    bool more = false;
    pthread_mutex_lock(&journal->mutex);
    uint64_t until_ns;
    while (!is_idle(journal) || !journal->is_closing) {
        if (may_wait(journal, &until_ns)) {
            sleep_until(journal, until_ns);
            continue;
        }
        if (is_idle(journal)) {
            if (sleep_until(journal, cuzk_now_ns() + (more ? 0 : 1000000000u)) == ETIMEDOUT &&
                is_idle(journal)) {
                pthread_mutex_unlock(&journal->mutex);
                more = tidy(journal);
                pthread_mutex_lock(&journal->mutex);
            }
            continue;
        }
        size_t n;
        bool has_large;
        outcome *all = take_batch(journal, &n, &has_large);
        journal->is_writing = true;
        pthread_mutex_unlock(&journal->mutex);
        if (all != NULL) {
            write_batch(journal, all, n, has_large);
        } else { /* no memory for a list: what is asked for waits */
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        pthread_mutex_lock(&journal->mutex);
        journal->is_writing = false;
    }
    pthread_mutex_unlock(&journal->mutex);
    return NULL;
}

cuzk_status cuzk_journal_start(cuzk_journal *journal, cuzk_error *err)
{
    journal->small.last = &journal->small.first;
    journal->large.last = &journal->large.first;
    if (journal->options.unhurried_ns == 0) {
        journal->options.unhurried_ns = 2000000;
    }
    CUZK_TRY(cuzk_payload_sums_start(&journal->sums, err));
    int rc = pthread_create(&journal->thread, NULL, run, journal);
    if (rc != 0) {
        cuzk_payload_sums_stop(&journal->sums);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "starting its thread: %s", strerror(rc));
    }
    journal->has_thread = true;
    return CUZK_OK;
}

void cuzk_journal_stop(cuzk_journal *journal)
{
    if (journal->has_thread) {
        pthread_mutex_lock(&journal->mutex);
        journal->is_closing = true;
        pthread_cond_signal(&journal->wake);
        pthread_mutex_unlock(&journal->mutex);
        pthread_join(journal->thread, NULL);
        cuzk_payload_sums_stop(&journal->sums);
    }
}
