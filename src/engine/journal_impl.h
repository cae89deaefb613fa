/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the journal's opening and its queue share. */
#ifndef CUZK_ENGINE_JOURNAL_IMPL_H
#define CUZK_ENGINE_JOURNAL_IMPL_H

#include "engine/journal_store.h"
#include "engine/payload_sums.h"

#include <pthread.h>

typedef struct cuzk_journal_request cuzk_journal_request;

typedef struct {
    cuzk_journal_request *first, **last;
} cuzk_journal_queue;

struct cuzk_journal {
    char *path, *log_path;
    int lock_fd;
    cuzk_journal_options options;
    cuzk_store *store; /* of the writing thread; before its first request also of cuzk_journal_read:
                          guarded by store_mutex */
    pthread_mutex_t store_mutex;
    pthread_mutex_t mutex; /* what follows. Taken after store_mutex where both are */
    pthread_cond_t wake;
    cuzk_journal_queue small, large;
    unsigned n_pressing; /* in small: requests that do not wait for others */
    bool is_closing;
    bool is_writing;        /* a commit is under way */
    cuzk_payload_sums sums; /* its mutex is taken inside this one */
    pthread_t thread;
    bool has_thread;
};

/** Start the writing thread of a journal whose store is open. */
cuzk_status cuzk_journal_start(cuzk_journal *journal, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write what is left and end the thread. */
void cuzk_journal_stop(cuzk_journal *journal);

#endif
