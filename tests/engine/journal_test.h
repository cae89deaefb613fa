/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of the journal share: a folder, jobs whose contents follow from their number,
 * calls that wait. */
#ifndef CUZK_TESTS_ENGINE_JOURNAL_TEST_H
#define CUZK_TESTS_ENGINE_JOURNAL_TEST_H

#include "engine/journal.h"

/* The journal's path, in a folder of the test's own. */
extern char journal_path[];

/** Make the folder; remove it with all in it. For cmocka. */
int journal_setup(void **state);
/** The same where syncing costs nothing, for what is about contents alone. At most a few MB. */
int journal_setup_in_memory(void **state);
int journal_teardown(void **state);

/** Path of the journal with a suffix. One of four buffers in turn. */
const char *beside(const char *suffix);

/** Options without limits. */
cuzk_journal_options plain_options(void);

/** Open; any failure or damage fails the test. */
cuzk_journal *open_fine(const cuzk_journal_options *options);

/** Bytes that follow from number, part and index. */
void fill(void *out, size_t n_bytes, uint64_t seq, uint64_t part);
bool is_filled(const void *data, size_t n_bytes, uint64_t seq, uint64_t part);

/** A job's ids, digest, numbers; its payload is allocated: free. */
cuzk_journal_job make_job(uint64_t seq, size_t payload_bytes);
/** How it ends. Valid until the next call in this thread. */
cuzk_journal_end make_end(uint64_t seq);
/** Sizes that make_end and the tests' units use. */
size_t answer_bytes(uint64_t seq);
enum { PROOF_BYTES = 192 };

/** Ask and wait. Returns the outcome; text, if not NULL: at least 300 bytes for the error. */
cuzk_status accept_job(cuzk_journal *journal, uint64_t seq, size_t payload_bytes, char *text);
cuzk_status write_unit(cuzk_journal *journal, uint64_t seq, unsigned unit, char *text);
cuzk_status finish_job(cuzk_journal *journal, uint64_t seq, char *text);

/** NULL if an entry is exactly what its number says it must be, else what is wrong. */
const char *entry_fault(const cuzk_journal_entry *entry);

/* What came of asking for a payload. is_intact: it is the job's; or the error names the journal. */
typedef struct {
    cuzk_status status;
    size_t n_bytes;
    bool is_intact;
} loaded;
loaded load_payload(cuzk_journal *journal, uint64_t seq);

/* What is in a journal. */
typedef struct {
    struct {
        uint64_t seq;
        bool has_ended;
        unsigned n_done;
        size_t payload_bytes;
    } jobs[4096];
    unsigned n_jobs;
    uint64_t next_seq;
} inventory;

/** Read all, payloads of unfinished jobs too; entries that are not intact fail the test. */
void take_inventory(inventory *out, cuzk_journal *journal);
/** Index of a job, or -1. */
int find_job(const inventory *in, uint64_t seq);

#endif
