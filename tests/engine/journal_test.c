/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/journal_test.h"

#include <dirent.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
char journal_path[128];

static int make_folder(const char *name)
{
    snprintf(folder, sizeof folder, "%s/cuzk-journal-XXXXXX", name);
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(journal_path, sizeof journal_path, "%s/journal.db", folder);
    return 0;
}

int journal_setup(void **state)
{
    (void)state;
    return make_folder("/tmp");
}

int journal_setup_in_memory(void **state)
{
    (void)state;
    return make_folder("/dev/shm") == 0 ? 0 : make_folder("/tmp");
}

int journal_teardown(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(d);
    return rmdir(folder);
}

const char *beside(const char *suffix)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s%s", journal_path, suffix);
    return path;
}

cuzk_journal_options plain_options(void)
{
    return (cuzk_journal_options){
        .path = journal_path, .keep_ns = UINT64_MAX, .keep_bytes = UINT64_MAX};
}

cuzk_journal *open_fine(const cuzk_journal_options *options)
{
    cuzk_journal *journal = NULL;
    cuzk_journal_report report;
    cuzk_error err = {0};
    if (cuzk_journal_open(&journal, &report, options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    if (report.was_damaged) {
        fail_msg("damaged: %s", report.reason);
    }
    return journal;
}

void fill(void *out, size_t n_bytes, uint64_t seq, uint64_t part)
{
    uint8_t *p = (uint8_t *)out;
    uint64_t x = seq * 0x9e3779b97f4a7c15u ^ part * 0xd1b54a32d192ed03u ^ 0x5851f42d4c957f2du;
    for (size_t i = 0; i < n_bytes; i++) {
        if (i % 8 == 0) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        p[i] = (uint8_t)(x >> (i % 8 * 8));
    }
}

bool is_filled(const void *data, size_t n_bytes, uint64_t seq, uint64_t part)
{
    uint8_t *expected = (uint8_t *)malloc(n_bytes + 1);
    fill(expected, n_bytes, seq, part);
    bool same = memcmp(expected, data, n_bytes) == 0;
    free(expected);
    return same;
}

/* ids with what people might put into them; one of eight buffers in turn */
static const char *request_id_of(uint64_t seq)
{
    static _Thread_local char texts[8][200];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "wdpost-1000-0-[%llu 2 3] 'x'; DROP TABLE job --\xff\n",
             (unsigned long long)seq);
    return text;
}

static const char *job_id_of(uint64_t seq)
{
    static _Thread_local char texts[8][300];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s~%llu", seq % 3 == 0 ? "" : request_id_of(seq),
             (unsigned long long)seq);
    return text;
}

cuzk_journal_job make_job(uint64_t seq, size_t payload_bytes)
{
    cuzk_journal_job job = {.seq = seq,
                            .request_id = seq % 5 == 0 ? "" : request_id_of(seq),
                            .job_id = job_id_of(seq),
                            .kind = seq % 7,
                            .priority = 1 + seq % 4,
                            .n_units = 1 + seq % 20,
                            .payload_bytes = payload_bytes,
                            .accepted_unix_ms = 1700000000000 + (int64_t)seq};
    void *payload = malloc(payload_bytes + 1);
    fill(payload, payload_bytes, seq, 1);
    fill(job.digest, sizeof job.digest, seq, 2);
    job.payload = payload;
    return job;
}

size_t answer_bytes(uint64_t seq)
{
    return seq % 6 * 192;
}

cuzk_journal_end make_end(uint64_t seq)
{
    static _Thread_local uint8_t answer[6 * 192];
    cuzk_journal_end end = {.state = 2 + (int)(seq % 3),
                            .status = seq % 3 == 0 ? CUZK_OK : CUZK_E_DEVICE,
                            .error = seq % 3 == 0 ? "" : "a unit failed: \"no\" …",
                            .answer = answer,
                            .answer_bytes = answer_bytes(seq),
                            .ended_unix_ms = 1800000000000 + (int64_t)seq};
    fill(answer, sizeof answer, seq, 3);
    fill(end.times, sizeof end.times, seq, 4);
    return end;
}

typedef struct {
    sem_t done;
    cuzk_status status;
    char *text;
} wait;

static void on_done(void *user, cuzk_status status, const char *error)
{
    wait *w = (wait *)user;
    w->status = status;
    if (w->text != NULL) {
        snprintf(w->text, 300, "%s", error);
    }
    sem_post(&w->done);
}

static cuzk_status wait_for(wait *w)
{
    while (sem_wait(&w->done) != 0) {
    }
    sem_destroy(&w->done);
    return w->status;
}

cuzk_status accept_job(cuzk_journal *journal, uint64_t seq, size_t payload_bytes, char *text)
{
    wait w = {.text = text};
    sem_init(&w.done, 0, 0);
    cuzk_journal_job job = make_job(seq, payload_bytes);
    cuzk_journal_accept(journal, &job, on_done, &w);
    cuzk_status status = wait_for(&w);
    free((void *)(uintptr_t)job.payload);
    return status;
}

cuzk_status write_unit(cuzk_journal *journal, uint64_t seq, unsigned unit, char *text)
{
    wait w = {.text = text};
    uint8_t proof[PROOF_BYTES];
    fill(proof, sizeof proof, seq, 100 + unit);
    sem_init(&w.done, 0, 0);
    cuzk_journal_unit(journal, seq, unit, proof, sizeof proof, on_done, &w);
    return wait_for(&w);
}

cuzk_status finish_job(cuzk_journal *journal, uint64_t seq, char *text)
{
    wait w = {.text = text};
    cuzk_journal_end end = make_end(seq);
    sem_init(&w.done, 0, 0);
    cuzk_journal_finish(journal, seq, &end, on_done, &w);
    return wait_for(&w);
}

static const char *units_fault(const cuzk_journal_entry *entry)
{
    for (unsigned i = 0; i < entry->n_done; i++) {
        if (entry->units[i] >= entry->job.n_units ||
            (i > 0 && entry->units[i] <= entry->units[i - 1])) {
            return "the order of the units";
        }
        if (entry->proof_bytes[i] != PROOF_BYTES ||
            !is_filled(entry->proofs[i], PROOF_BYTES, entry->job.seq, 100 + entry->units[i])) {
            return "a unit's proof";
        }
    }
    return NULL;
}

static const char *end_fault(const cuzk_journal_entry *entry)
{
    cuzk_journal_end end = make_end(entry->job.seq);
    if (entry->end.state != end.state || entry->end.status != end.status ||
        strcmp(entry->end.error, end.error) != 0 || entry->end.ended_unix_ms != end.ended_unix_ms ||
        memcmp(entry->end.times, end.times, sizeof end.times) != 0) {
        return "how it ended";
    }
    if (entry->end.answer_bytes != end.answer_bytes ||
        memcmp(entry->end.answer, end.answer, end.answer_bytes) != 0) {
        return "the answer";
    }
    return entry->job.payload == NULL && entry->n_done == 0 ? NULL : "what is left of its payload";
}

const char *entry_fault(const cuzk_journal_entry *entry)
{
    const cuzk_journal_job *job = &entry->job;
    cuzk_journal_job expected = make_job(job->seq, 0);
    free((void *)(uintptr_t)expected.payload);
    if (strcmp(job->request_id, expected.request_id) != 0 ||
        strcmp(job->job_id, expected.job_id) != 0) {
        return "the ids";
    }
    if (job->kind != expected.kind || job->priority != expected.priority ||
        job->n_units != expected.n_units || job->accepted_unix_ms != expected.accepted_unix_ms ||
        memcmp(job->digest, expected.digest, sizeof job->digest) != 0) {
        return "how it was accepted";
    }
    if (entry->has_ended) {
        return end_fault(entry);
    }
    if (job->payload != NULL) {
        return "a payload that nobody asked for";
    }
    return units_fault(entry);
}

typedef struct {
    sem_t done;
    uint64_t seq;
    loaded what;
} loading;

static void on_loaded(void *user, cuzk_status status, const char *error, void *payload,
                      size_t n_bytes)
{
    loading *l = (loading *)user;
    l->what.status = status;
    l->what.n_bytes = n_bytes;
    l->what.is_intact = status == CUZK_OK ? is_filled(payload, n_bytes, l->seq, 1)
                                          : payload == NULL && strstr(error, journal_path) != NULL;
    free(payload);
    sem_post(&l->done);
}

loaded load_payload(cuzk_journal *journal, uint64_t seq)
{
    loading l = {.seq = seq};
    sem_init(&l.done, 0, 0);
    cuzk_journal_load(journal, seq, on_loaded, &l);
    while (sem_wait(&l.done) != 0) {
    }
    sem_destroy(&l.done);
    return l.what;
}

static cuzk_status on_entry(void *user, const cuzk_journal_entry *entry, cuzk_error *err)
{
    (void)err;
    inventory *in = (inventory *)user;
    const char *fault = entry_fault(entry);
    if (fault != NULL) {
        fail_msg("job %llu: %s", (unsigned long long)entry->job.seq, fault);
    }
    assert_true(in->n_jobs < sizeof in->jobs / sizeof in->jobs[0]);
    assert_true(in->n_jobs == 0 || in->jobs[in->n_jobs - 1].seq < entry->job.seq);
    in->jobs[in->n_jobs].seq = entry->job.seq;
    in->jobs[in->n_jobs].has_ended = entry->has_ended;
    in->jobs[in->n_jobs].n_done = entry->n_done;
    in->jobs[in->n_jobs++].payload_bytes = entry->job.payload_bytes;
    return CUZK_OK;
}

void take_inventory(inventory *out, cuzk_journal *journal)
{
    cuzk_error err = {0};
    memset(out, 0, sizeof *out);
    if (cuzk_journal_read(journal, &out->next_seq, on_entry, out, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    if (out->n_jobs > 0) {
        assert_true(out->jobs[out->n_jobs - 1].seq < out->next_seq);
    }
    for (unsigned i = 0; i < out->n_jobs; i++) {
        if (!out->jobs[i].has_ended) {
            loaded payload = load_payload(journal, out->jobs[i].seq);
            if (payload.status != CUZK_OK || !payload.is_intact ||
                payload.n_bytes != out->jobs[i].payload_bytes) {
                fail_msg("job %llu: the payload", (unsigned long long)out->jobs[i].seq);
            }
        }
    }
}

int find_job(const inventory *in, uint64_t seq)
{
    for (unsigned i = 0; i < in->n_jobs; i++) {
        if (in->jobs[i].seq == seq) {
            return (int)i;
        }
    }
    return -1;
}
