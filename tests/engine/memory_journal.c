/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal of memory_journal.h. */
#include "memory_journal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ASK_ACCEPT, ASK_UNIT, ASK_FINISH, ASK_DROP, ASK_LOAD, ASK_FIND } ask_kind;

typedef struct record {
    struct record *next;
    cuzk_journal_job job;
    bool has_ended;
    cuzk_journal_end end;
    unsigned *units;
    void **proofs;
    size_t *proof_bytes;
    unsigned n_done;
} record;

typedef struct ask {
    struct ask *next;
    ask_kind kind;
    uint64_t seq;
    record *made;         /* ACCEPT */
    const void *borrowed; /* its payload */
    unsigned unit;
    void *proof;
    size_t n_bytes;
    cuzk_journal_end end;
    cuzk_journal_done done;
    void (*loaded)(void *user, cuzk_status status, const char *error, void *payload,
                   size_t n_bytes);
    void (*found)(void *user, cuzk_status status, const char *error,
                  const cuzk_journal_entry *entry);
    char *id;
    void *user;
} ask;

struct cuzk_journal {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    ask *first, *last;
    record *records, *last_record;
    bool is_held, is_ended, is_crashed;
    cuzk_status failure;
    uint64_t next_seq;
    unsigned n_finds;
    long refuse_at; /* -1: none */
};

static void *copy(const void *data, size_t n)
{
    void *out = malloc(n > 0 ? n : 1);
    if (n > 0) {
        memcpy(out, data, n);
    }
    return out;
}

static void free_end(cuzk_journal_end *end)
{
    free((void *)(uintptr_t)end->error);
    free((void *)(uintptr_t)end->answer);
}

static void free_units(record *r)
{
    for (unsigned i = 0; i < r->n_done; i++) {
        free(r->proofs[i]);
    }
    free(r->units);
    free(r->proofs);
    free(r->proof_bytes);
    r->units = NULL;
    r->proofs = NULL;
    r->proof_bytes = NULL;
    r->n_done = 0;
}

static void free_record(record *r)
{
    free_units(r);
    free((void *)(uintptr_t)r->job.request_id);
    free((void *)(uintptr_t)r->job.job_id);
    free((void *)(uintptr_t)r->job.payload);
    if (r->has_ended) {
        free_end(&r->end);
    }
    free(r);
}

static record *find(const cuzk_journal *journal, uint64_t seq)
{
    record *r = journal->records;
    while (r != NULL && r->job.seq != seq) {
        r = r->next;
    }
    return r;
}

static void drop(cuzk_journal *journal, uint64_t seq)
{
    record *before = NULL;
    for (record *r = journal->records; r != NULL; before = r, r = r->next) {
        if (r->job.seq == seq) {
            *(before != NULL ? &before->next : &journal->records) = r->next;
            if (journal->last_record == r) {
                journal->last_record = before;
            }
            free_record(r);
            return;
        }
    }
}

static void add_unit(record *r, ask *a)
{
    unsigned n = r->n_done;
    r->units = realloc(r->units, (n + 1) * sizeof *r->units);
    r->proofs = realloc(r->proofs, (n + 1) * sizeof *r->proofs);
    r->proof_bytes = realloc(r->proof_bytes, (n + 1) * sizeof *r->proof_bytes);
    r->units[n] = a->unit;
    r->proofs[n] = a->proof;
    r->proof_bytes[n] = a->n_bytes;
    r->n_done = n + 1;
    a->proof = NULL;
}

static void apply(cuzk_journal *journal, ask *a)
{
    record *r = a->kind != ASK_ACCEPT ? find(journal, a->seq) : NULL;
    if (a->kind == ASK_ACCEPT) {
        a->made->job.payload = copy(a->borrowed, a->made->job.payload_bytes);
        *(journal->last_record != NULL ? &journal->last_record->next : &journal->records) = a->made;
        journal->last_record = a->made;
        a->made = NULL;
        journal->next_seq = a->seq >= journal->next_seq ? a->seq + 1 : journal->next_seq;
    } else if (a->kind == ASK_DROP) {
        drop(journal, a->seq);
    } else if (r != NULL && a->kind == ASK_UNIT && !r->has_ended) {
        add_unit(r, a);
    } else if (r != NULL && a->kind == ASK_FINISH) {
        free_units(r);
        free((void *)(uintptr_t)r->job.payload);
        r->job.payload = NULL;
        r->has_ended = true;
        r->end = a->end;
        a->end = (cuzk_journal_end){0};
    }
}

static void answer_load(cuzk_journal *journal, ask *a)
{
    pthread_mutex_lock(&journal->lock);
    record *r = find(journal, a->seq);
    size_t n = r != NULL ? r->job.payload_bytes : 0;
    void *payload = r != NULL ? copy(r->job.payload, n) : NULL;
    pthread_mutex_unlock(&journal->lock);
    a->loaded(a->user, r != NULL ? CUZK_OK : CUZK_E_NOT_FOUND, r != NULL ? "" : "no such job",
              payload, n);
}

static cuzk_journal_entry entry_of(const record *r)
{
    cuzk_journal_entry entry = {.job = r->job,
                                .has_ended = r->has_ended,
                                .end = r->end,
                                .units = r->units,
                                .proofs = (const void *const *)r->proofs,
                                .proof_bytes = r->proof_bytes,
                                .n_done = r->n_done};
    entry.job.payload = NULL;
    return entry;
}

/* By the job's id only: all that the engine asks. Only this journal's thread changes records. */
static void answer_find(cuzk_journal *journal, ask *a)
{
    const record *found = NULL;
    pthread_mutex_lock(&journal->lock);
    for (const record *r = journal->records; r != NULL; r = r->next) {
        found = r->has_ended && strcmp(r->job.job_id, a->id) == 0 ? r : found;
    }
    journal->n_finds++;
    pthread_mutex_unlock(&journal->lock);
    cuzk_journal_entry entry = found != NULL ? entry_of(found) : (cuzk_journal_entry){0};
    a->found(a->user, found != NULL ? CUZK_OK : CUZK_E_NOT_FOUND,
             found != NULL ? "" : "no such job", found != NULL ? &entry : NULL);
}

static void free_ask(ask *a)
{
    free(a->id);
    if (a->made != NULL) {
        free_record(a->made);
    }
    free(a->proof);
    free_end(&a->end);
    free(a);
}

static void *run(void *arg)
{
    cuzk_journal *journal = (cuzk_journal *)arg;
    pthread_mutex_lock(&journal->lock);
    for (;;) {
        while ((journal->first == NULL || journal->is_held) && !journal->is_ended) {
            pthread_cond_wait(&journal->wake, &journal->lock);
        }
        ask *a = journal->first;
        if (a == NULL) {
            break;
        }
        journal->first = a->next;
        journal->last = a->next != NULL ? journal->last : NULL;
        cuzk_status status = journal->is_crashed ? CUZK_E_FILE : journal->failure;
        if (status == CUZK_OK) {
            apply(journal, a);
        }
        pthread_mutex_unlock(&journal->lock);
        if (a->kind == ASK_LOAD) {
            answer_load(journal, a);
        } else if (a->kind == ASK_FIND) {
            answer_find(journal, a);
        } else if (a->done != NULL) {
            a->done(a->user, status, status != CUZK_OK ? "no space left on the disk" : "");
        }
        free_ask(a);
        pthread_mutex_lock(&journal->lock);
    }
    pthread_mutex_unlock(&journal->lock);
    return NULL;
}

cuzk_journal *memory_journal_create(void)
{
    cuzk_journal *journal = calloc(1, sizeof *journal);
    pthread_mutex_init(&journal->lock, NULL);
    pthread_cond_init(&journal->wake, NULL);
    journal->next_seq = 1;
    journal->refuse_at = -1;
    pthread_create(&journal->thread, NULL, run, journal);
    return journal;
}

void memory_journal_destroy(cuzk_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    journal->is_ended = true;
    journal->is_held = false;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
    pthread_join(journal->thread, NULL);
    while (journal->records != NULL) {
        record *r = journal->records;
        journal->records = r->next;
        free_record(r);
    }
    pthread_mutex_destroy(&journal->lock);
    pthread_cond_destroy(&journal->wake);
    free(journal);
}

static void set(cuzk_journal *journal, bool *flag, bool value)
{
    pthread_mutex_lock(&journal->lock);
    *flag = value;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
}

void memory_journal_hold(cuzk_journal *journal, bool hold)
{
    set(journal, &journal->is_held, hold);
}

void memory_journal_crash(cuzk_journal *journal)
{
    set(journal, &journal->is_crashed, true);
}

void memory_journal_revive(cuzk_journal *journal)
{
    set(journal, &journal->is_crashed, false);
}

void memory_journal_refuse_at(cuzk_journal *journal, unsigned n)
{
    pthread_mutex_lock(&journal->lock);
    journal->refuse_at = (long)n;
    pthread_mutex_unlock(&journal->lock);
}

void memory_journal_fail(cuzk_journal *journal, cuzk_status status)
{
    pthread_mutex_lock(&journal->lock);
    journal->failure = status;
    pthread_mutex_unlock(&journal->lock);
}

unsigned memory_journal_jobs(cuzk_journal *journal)
{
    unsigned n = 0;
    pthread_mutex_lock(&journal->lock);
    for (const record *r = journal->records; r != NULL; r = r->next) {
        n++;
    }
    pthread_mutex_unlock(&journal->lock);
    return n;
}

unsigned memory_journal_finds(cuzk_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    unsigned n = journal->n_finds;
    pthread_mutex_unlock(&journal->lock);
    return n;
}

unsigned memory_journal_units(cuzk_journal *journal)
{
    unsigned n = 0;
    pthread_mutex_lock(&journal->lock);
    for (const record *r = journal->records; r != NULL; r = r->next) {
        n += r->n_done;
    }
    pthread_mutex_unlock(&journal->lock);
    return n;
}

/* ---- the calls of journal.h ------------------------------------------------------------------ */

static void refuse(ask *a)
{
    static const char TEXT[] = "no memory, as asked";
    if (a->loaded != NULL) {
        a->loaded(a->user, CUZK_E_MEMORY, TEXT, NULL, 0);
    } else if (a->found != NULL) {
        a->found(a->user, CUZK_E_MEMORY, TEXT, NULL);
    } else if (a->done != NULL) {
        a->done(a->user, CUZK_E_MEMORY, TEXT);
    }
    free_ask(a);
}

static void put(cuzk_journal *journal, ask a)
{
    ask *made = copy(&a, sizeof a);
    pthread_mutex_lock(&journal->lock);
    bool is_refused = journal->refuse_at == 0;
    journal->refuse_at -= journal->refuse_at >= 0;
    if (is_refused) {
        pthread_mutex_unlock(&journal->lock);
        refuse(made);
        return;
    }
    *(journal->last != NULL ? &journal->last->next : &journal->first) = made;
    journal->last = made;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
}

void cuzk_journal_accept(cuzk_journal *journal, const cuzk_journal_job *job, cuzk_journal_done done,
                         void *user)
{
    record *r = calloc(1, sizeof *r);
    r->job = *job;
    r->job.request_id = strdup(job->request_id);
    r->job.job_id = strdup(job->job_id);
    r->job.payload = NULL;
    put(journal, (ask){.kind = ASK_ACCEPT,
                       .seq = job->seq,
                       .made = r,
                       .borrowed = job->payload,
                       .done = done,
                       .user = user});
}

void cuzk_journal_unit(cuzk_journal *journal, uint64_t seq, unsigned unit, const void *proof,
                       size_t n_bytes, cuzk_journal_done done, void *user)
{
    put(journal, (ask){.kind = ASK_UNIT,
                       .seq = seq,
                       .unit = unit,
                       .proof = copy(proof, n_bytes),
                       .n_bytes = n_bytes,
                       .done = done,
                       .user = user});
}

void cuzk_journal_finish(cuzk_journal *journal, uint64_t seq, const cuzk_journal_end *end,
                         cuzk_journal_done done, void *user)
{
    ask a = {.kind = ASK_FINISH, .seq = seq, .end = *end, .done = done, .user = user};
    a.end.error = strdup(end->error);
    a.end.answer = copy(end->answer, end->answer_bytes);
    put(journal, a);
}

void cuzk_journal_drop(cuzk_journal *journal, uint64_t seq)
{
    put(journal, (ask){.kind = ASK_DROP, .seq = seq});
}

void cuzk_journal_load(cuzk_journal *journal, uint64_t seq,
                       void (*done)(void *user, cuzk_status status, const char *error,
                                    void *payload, size_t n_bytes),
                       void *user)
{
    put(journal, (ask){.kind = ASK_LOAD, .seq = seq, .loaded = done, .user = user});
}

void cuzk_journal_find(cuzk_journal *journal, const char *id,
                       void (*done)(void *user, cuzk_status status, const char *error,
                                    const cuzk_journal_entry *entry),
                       void *user)
{
    put(journal, (ask){.kind = ASK_FIND, .id = strdup(id), .found = done, .user = user});
}

cuzk_status cuzk_journal_read(cuzk_journal *journal, uint64_t *next_seq,
                              cuzk_status (*each)(void *user, const cuzk_journal_entry *entry,
                                                  cuzk_error *err),
                              void *user, cuzk_error *err)
{
    *next_seq = journal->next_seq;
    for (const record *r = journal->records; r != NULL; r = r->next) {
        cuzk_journal_entry entry = entry_of(r);
        CUZK_TRY(each(user, &entry, err));
    }
    return CUZK_OK;
}
