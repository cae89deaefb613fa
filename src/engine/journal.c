/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Opening, closing and reading a journal; its writing is in journal_queue.c. */
#include "engine/journal_impl.h"

#include "base/text.h"
#include "engine/journal_salvage.h"
#include "engine/journal_trace.h"
#include "engine/journal_wal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The folders of a path. */
static cuzk_status make_folders(const char *path, cuzk_error *err)
{
    char *copy = strdup(path);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "no memory");
    cuzk_status status = CUZK_OK;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == CUZK_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0750) != 0 && errno != EEXIST) {
            status =
                CUZK_FAIL(err, CUZK_E_FILE, "making the folder \"%s\": %s", copy, strerror(errno));
        }
        *slash = '/';
    }
    free(copy);
    return status;
}

/* A device or pipe of that name gets no lock beside it, and SQLite's words for it are no help. */
static cuzk_status check_kind(const char *path, cuzk_error *err)
{
    struct stat st;
    CUZK_FAIL_IF(stat(path, &st) == 0 && !S_ISREG(st.st_mode), err, CUZK_E_FILE,
                 "%s, expected a regular file; it was not touched",
                 S_ISDIR(st.st_mode) ? "it is a directory" : "it is not a file");
    return CUZK_OK;
}

/* One process at a time: a lock of its own, so that it also covers salvage. The file stays. */
static cuzk_status take_lock(cuzk_journal *journal, cuzk_error *err)
{
    cuzk_text path = {0};
    cuzk_text_printf(&path, "%s.lock", journal->path);
    cuzk_status status = cuzk_text_check(&path, err);
    if (status == CUZK_OK) {
        journal->lock_fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (journal->lock_fd < 0) {
            status = CUZK_FAIL(err, CUZK_E_FILE, "opening \"%s\": %s", path.data, strerror(errno));
        } else if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) != 0) {
            char holder[24] = "unknown";
            ssize_t n = pread(journal->lock_fd, holder, sizeof holder - 1, 0);
            holder[n > 0 ? strcspn(holder, "\n") : strlen(holder)] = 0;
            status =
                errno == EWOULDBLOCK
                    ? CUZK_FAIL(err, CUZK_E_FILE, "another process has it open (number %s)", holder)
                    : CUZK_FAIL(err, CUZK_E_FILE, "locking \"%s\": %s", path.data, strerror(errno));
        } else if (ftruncate(journal->lock_fd, 0) == 0) {
            dprintf(journal->lock_fd, "%d\n", (int)getpid());
        }
    }
    cuzk_text_clear(&path);
    return status;
}

/* Open the store and check all of it. E_FORMAT: it is damaged. */
static cuzk_status open_store(cuzk_journal *journal, cuzk_error *err)
{
    /* made here and not by SQLite, so that it is its owner's alone */
    int fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "%s", strerror(errno));
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    close(fd);
    enum { LEAST = 512 }; /* SQLite takes a shorter file for a new one */
    CUZK_FAIL_IF(ok && st.st_size > 0 && st.st_size < LEAST, err, CUZK_E_FORMAT,
                 "a file of %lld bytes, expected none or at least %d", (long long)st.st_size,
                 LEAST);
    CUZK_TRY(cuzk_wal_check(journal->log_path, err));
    CUZK_TRY(cuzk_store_open(&journal->store, journal->path, CUZK_STORE_LIVE, err));
    cuzk_status status = cuzk_store_check(journal->store, err);
    if (status != CUZK_OK) {
        cuzk_store_close(journal->store);
        journal->store = NULL;
    }
    return status;
}

/* Take a file from all but its owner. */
static void make_private(const char *path, cuzk_journal_report *report)
{
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & 077) != 0) {
        report->wide_mode |= st.st_mode & 0777;
        report->stays_wide |= chmod(path, st.st_mode & 0700) != 0;
    }
}

static cuzk_status open_or_salvage(cuzk_journal *journal, cuzk_journal_report *report,
                                   cuzk_error *err)
{
    CUZK_TRY(cuzk_salvage_resume(journal->path, report, err));
    if (report->set_aside[0] != 0) {
        report->was_damaged = true;
        snprintf(report->reason, sizeof report->reason,
                 "salvaged by an earlier start that was cut off");
    }
    cuzk_error why = {0};
    cuzk_status status = open_store(journal, &why);
    if (status == CUZK_E_FORMAT) {
        CUZK_TRY(cuzk_trace_check(journal->path, journal->log_path, err));
        make_private(journal->path, report);
        make_private(journal->log_path, report);
        report->was_damaged = true;
        snprintf(report->reason, sizeof report->reason, "%.*s", (int)sizeof report->reason - 1,
                 why.text);
        CUZK_TRY(cuzk_salvage(journal->path, report, err));
        return open_store(journal, err);
    }
    CUZK_FAIL_IF(status != CUZK_OK, err, status, "%s", why.text);
    /* only now it is known to be ours; SQLite makes the log with the file's mode */
    make_private(journal->path, report);
    make_private(journal->log_path, report);
    return CUZK_OK;
}

cuzk_status cuzk_journal_open(cuzk_journal **out, cuzk_journal_report *report,
                              const cuzk_journal_options *options, cuzk_error *err)
{
    memset(report, 0, sizeof *report);
    cuzk_journal *journal = (cuzk_journal *)calloc(1, sizeof *journal);
    cuzk_text log = {0};
    cuzk_text_printf(&log, "%s-wal", options->path);
    if (journal == NULL || log.failed || (journal->path = strdup(options->path)) == NULL) {
        free(journal);
        cuzk_text_clear(&log);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "opening the journal: no memory");
    }
    journal->log_path = log.data;
    journal->lock_fd = -1;
    journal->options = *options;
    journal->options.path = journal->path;
    pthread_mutex_init(&journal->store_mutex, NULL);
    pthread_mutex_init(&journal->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&journal->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    cuzk_error why = {0};
    cuzk_status status = make_folders(journal->path, &why);
    if (status == CUZK_OK) {
        status = check_kind(journal->path, &why);
    }
    if (status == CUZK_OK) {
        status = take_lock(journal, &why);
    }
    if (status == CUZK_OK) {
        status = open_or_salvage(journal, report, &why);
    }
    if (status == CUZK_OK) {
        status = cuzk_journal_start(journal, &why);
    }
    if (status != CUZK_OK) {
        status = CUZK_FAIL(err, status, "opening the journal \"%s\": %s", journal->path, why.text);
        cuzk_journal_close(journal);
        return status;
    }
    *out = journal;
    return CUZK_OK;
}

void cuzk_journal_close(cuzk_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    cuzk_journal_stop(journal);
    cuzk_store_close(journal->store);
    if (journal->lock_fd >= 0) {
        close(journal->lock_fd);
    }
    pthread_cond_destroy(&journal->wake);
    pthread_mutex_destroy(&journal->mutex);
    pthread_mutex_destroy(&journal->store_mutex);
    free(journal->log_path);
    free(journal->path);
    free(journal);
}

cuzk_status cuzk_journal_read(cuzk_journal *journal, uint64_t *next_seq,
                              cuzk_status (*each)(void *user, const cuzk_journal_entry *entry,
                                                  cuzk_error *err),
                              void *user, cuzk_error *err)
{
    pthread_mutex_lock(&journal->store_mutex);
    *next_seq = cuzk_store_next_seq(journal->store);
    cuzk_status status = cuzk_store_each(journal->store, false, each, user, err);
    pthread_mutex_unlock(&journal->store_mutex);
    return status;
}

uint64_t cuzk_journal_bytes(const cuzk_journal *journal)
{
    const char *const paths[] = {journal->path, journal->log_path};
    uint64_t n_bytes = 0;
    for (int i = 0; i < 2; i++) {
        struct stat st;
        n_bytes += stat(paths[i], &st) == 0 ? (uint64_t)st.st_size : 0;
    }
    return n_bytes;
}
