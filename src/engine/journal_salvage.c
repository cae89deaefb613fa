/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/journal_salvage.h"

#include "base/text.h"
#include "engine/journal_store.h"
#include "engine/journal_wal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES_MIN = 16, GAP_MAX = 1 << 16, SEQ_STEP = 1 << 20 };

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct {
    char *log, *copy, *copy_journal, *fresh, *salvaged;
    cuzk_text texts[5];
} names;

static void names_clear(names *n)
{
    for (int i = 0; i < 5; i++) {
        cuzk_text_clear(&n->texts[i]);
    }
}

static cuzk_status names_init(names *n, const char *path, cuzk_error *err)
{
    static const char *const suffixes[] = {"-wal", ".salvage-copy", ".salvage-copy-journal",
                                           ".salvage-new", ".salvaged"};
    memset(n, 0, sizeof *n);
    char **out[] = {&n->log, &n->copy, &n->copy_journal, &n->fresh, &n->salvaged};
    for (int i = 0; i < 5; i++) {
        cuzk_text_put(&n->texts[i], path);
        cuzk_text_put(&n->texts[i], suffixes[i]);
        cuzk_status status = cuzk_text_check(&n->texts[i], err);
        if (status != CUZK_OK) {
            names_clear(n);
            return status;
        }
        *out[i] = n->texts[i].data;
    }
    return CUZK_OK;
}

static cuzk_status system_fail(cuzk_error *err, const char *doing, const char *path)
{
    return CUZK_FAIL(err, CUZK_E_FILE, "%s \"%s\": %s", doing, path, strerror(errno));
}

static cuzk_status sync_path(const char *path, int flags, cuzk_error *err)
{
    int fd = open(path, flags | O_CLOEXEC);
    cuzk_status status =
        fd < 0 || fsync(fd) != 0 ? system_fail(err, "writing to disk", path) : CUZK_OK;
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static cuzk_status sync_folder(const char *path, cuzk_error *err)
{
    char *copy = strdup(path);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "salvaging the journal: no memory");
    cuzk_status status = sync_path(dirname(copy), O_RDONLY | O_DIRECTORY, err);
    free(copy);
    return status;
}

static cuzk_status copy_bytes(int in, int out, const char *to, cuzk_error *err)
{
    enum { BLOCK = 1 << 20 };
    char *block = (char *)malloc(BLOCK);
    CUZK_FAIL_IF(block == NULL, err, CUZK_E_MEMORY, "salvaging the journal: no memory");
    cuzk_status status = CUZK_OK;
    for (;;) {
        ssize_t n = read(in, block, BLOCK);
        if (n == 0) {
            break;
        }
        if (n < 0 || write(out, block, (size_t)n) != n) {
            status = system_fail(err, "copying the damaged journal to", to);
            break;
        }
    }
    free(block);
    return status;
}

static cuzk_status copy_file(const char *to, const char *from, cuzk_error *err)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return system_fail(err, "opening", from);
    }
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    cuzk_status status = out < 0 ? system_fail(err, "making", to) : copy_bytes(in, out, to, err);
    close(in);
    if (out >= 0) {
        close(out);
    }
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    cuzk_store *from, *to;
    uint64_t n_salvaged, max_seq;
    uint64_t
        *suspects; /* jobs of which something was seen; those that were not salvaged are lost */
    size_t n_suspects, capacity;
    cuzk_status status; /* of writing */
    cuzk_error *err;
} salvage;

static void suspect(salvage *s, uint64_t seq)
{
    if (s->n_suspects > 0 && s->suspects[s->n_suspects - 1] == seq) {
        return;
    }
    if (s->n_suspects == s->capacity) {
        size_t capacity = s->capacity * 2 + 64;
        uint64_t *more = (uint64_t *)realloc(s->suspects, capacity * sizeof *more);
        if (more == NULL) {
            return; /* a number in a report */
        }
        s->suspects = more;
        s->capacity = capacity;
    }
    s->suspects[s->n_suspects++] = seq;
}

static cuzk_status put_all(salvage *s, const cuzk_journal_entry *e)
{
    const cuzk_journal_job *job = &e->job;
    size_t n_pieces = e->has_ended ? 0 : cuzk_store_n_pieces(job->payload_bytes);
    CUZK_TRY(cuzk_store_put_job(s->to, job, cuzk_store_sum_job(job), s->err));
    for (size_t k = 0; k < n_pieces; k++) {
        const char *data = (const char *)job->payload + k * CUZK_STORE_PIECE_BYTES;
        size_t n = cuzk_store_piece_bytes(job->payload_bytes, k);
        CUZK_TRY(cuzk_store_put_piece(s->to, job->seq, k, data, n,
                                      cuzk_store_sum_piece(job->seq, k, data, n), s->err));
    }
    for (unsigned i = 0; i < e->n_done; i++) {
        CUZK_TRY(cuzk_store_put_unit(
            s->to, job->seq, e->units[i], e->proofs[i], e->proof_bytes[i],
            cuzk_store_sum_unit(job->seq, e->units[i], e->proofs[i], e->proof_bytes[i]), s->err));
    }
    if (e->has_ended) {
        CUZK_TRY(cuzk_store_put_end(s->to, job->seq, &e->end, cuzk_store_sum_end(job->seq, &e->end),
                                    s->err));
    }
    return CUZK_OK;
}

/* Take a job over if it can be read. Returns whether there is one, in whatever state. */
static bool take(salvage *s, uint64_t seq)
{
    cuzk_store_row row;
    cuzk_status status = cuzk_store_load(s->from, &row, seq, true, NULL);
    if (status == CUZK_OK) {
        status = put_all(s, &row.entry);
        if (status == CUZK_OK) {
            s->n_salvaged++;
            s->max_seq = seq > s->max_seq ? seq : s->max_seq;
        } else if (status == CUZK_E_ARGUMENT) {
            cuzk_error_clear(s->err); /* it came a second time, or its number is damaged */
        } else {
            s->status = status;
        }
        cuzk_store_row_clear(&row);
        return true;
    }
    if (status == CUZK_E_MEMORY || status == CUZK_E_FILE) {
        s->status = CUZK_FAIL(s->err, status, "reading job number %llu of the damaged journal",
                              (unsigned long long)seq);
    }
    return false;
}

static void on_job(void *user, uint64_t seq)
{
    salvage *s = (salvage *)user;
    if (s->status == CUZK_OK && !take(s, seq)) {
        suspect(s, seq);
    }
}

/* A piece or unit: there was a job that it belongs to. */
static void on_part(void *user, uint64_t key)
{
    suspect((salvage *)user, key / CUZK_STORE_PIECES_MAX);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t count_lost(salvage *s)
{
    uint64_t n = 0;
    if (s->n_suspects > 0) {
        qsort(s->suspects, s->n_suspects, sizeof *s->suspects, by_number);
    }
    for (size_t i = 0; i < s->n_suspects; i++) {
        if (i > 0 && s->suspects[i] == s->suspects[i - 1]) {
            continue;
        }
        cuzk_store_row row;
        if (cuzk_store_load(s->to, &row, s->suspects[i], false, NULL) == CUZK_OK) {
            cuzk_store_row_clear(&row);
        } else {
            n++;
        }
    }
    return n;
}

static cuzk_status take_all(salvage *s, cuzk_journal_report *report)
{
    uint64_t from_below, below, ignored;
    cuzk_store_scan_keys(s->from, "job", on_job, s, &from_below, &below);
    /* what neither end reaches is asked for by number */
    unsigned n_missed = 0;
    for (uint64_t seq = from_below; seq < below && n_missed < GAP_MAX && s->status == CUZK_OK;
         seq++) {
        n_missed = take(s, seq) ? 0 : n_missed + 1;
    }
    CUZK_TRY(s->status);
    cuzk_store_scan_keys(s->from, "payload", on_part, s, &from_below, &ignored);
    cuzk_store_scan_keys(s->from, "unit", on_part, s, &from_below, &ignored);
    report->n_salvaged = s->n_salvaged;
    report->n_lost = count_lost(s);
    return CUZK_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The first page holds the header and the table of tables. Both are the same in every journal of a
 * version, but for the number of pages: the one of the new file takes the place of the damaged one.
 */
static cuzk_status replace_first_page(const char *copy, const char *fresh, cuzk_error *err)
{
    uint8_t page[PAGE];
    struct stat st;
    int in = open(fresh, O_RDONLY | O_CLOEXEC), out = open(copy, O_RDWR | O_CLOEXEC);
    bool ok = in >= 0 && out >= 0 && pread(in, page, PAGE, 0) == PAGE && fstat(out, &st) == 0;
    if (ok) {
        uint64_t n_pages = (uint64_t)st.st_size / PAGE;
        n_pages = n_pages < PAGES_MIN ? PAGES_MIN : n_pages; /* else the tables have no place */
        for (int i = 0; i < 4; i++) {
            page[28 + i] = (uint8_t)(n_pages >> (24 - 8 * i)); /* pages of the file */
            page[92 + i] = page[24 + i];                       /* for which that is valid */
            page[32 + i] = page[36 + i] = 0;                   /* free pages: none known */
        }
        ok = ftruncate(out, (off_t)(n_pages * PAGE)) == 0 && pwrite(out, page, PAGE, 0) == PAGE;
    }
    cuzk_status status = ok ? CUZK_OK : system_fail(err, "preparing the copy", copy);
    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        close(out);
    }
    return status;
}

static cuzk_status rebuild(const names *n, const char *path, cuzk_journal_report *report,
                           cuzk_error *err)
{
    salvage s = {.err = err};
    CUZK_TRY(copy_file(n->copy, path, err));
    CUZK_TRY(cuzk_wal_apply(n->copy, n->log, err));
    CUZK_TRY(copy_file(n->fresh, "/dev/null", err)); /* private; SQLite's own would not be */
    CUZK_TRY(cuzk_store_open(&s.to, n->fresh, CUZK_STORE_REBUILD, err));
    cuzk_status status = replace_first_page(n->copy, n->fresh, err);
    if (status == CUZK_OK) {
        status = cuzk_store_open(&s.from, n->copy, CUZK_STORE_DAMAGED, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_store_begin(s.to, err);
    }
    if (status == CUZK_OK) {
        status = take_all(&s, report);
    }
    if (status == CUZK_OK) { /* numbers that the lost ones may have had are left out */
        status = cuzk_store_set_next_seq(s.to, s.max_seq + SEQ_STEP, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_store_commit(s.to, err);
    }
    free(s.suspects);
    cuzk_store_close(s.from);
    cuzk_store_close(s.to);
    CUZK_TRY(status);
    return sync_path(n->fresh, O_RDWR, err);
}

/* A name for the damaged file: of the time at which the salvage was complete, so that going on
 * after a crash finds the same one. */
static cuzk_status name_aside(const names *n, const char *path, char *out, size_t n_out,
                              cuzk_error *err)
{
    struct stat st;
    struct tm tm;
    if (stat(n->salvaged, &st) != 0 || gmtime_r(&st.st_mtime, &tm) == NULL) {
        return system_fail(err, "reading the time of", n->salvaged);
    }
    char when[32];
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
    bool has_log = access(n->log, F_OK) == 0;
    for (int i = 0; i < 1000; i++) {
        char suffix[16] = "", aside_log[1040];
        if (i > 0) {
            snprintf(suffix, sizeof suffix, "-%d", i);
        }
        int length = snprintf(out, n_out, "%s.damaged-%s%s", path, when, suffix);
        CUZK_FAIL_IF(length < 0 || (size_t)length >= n_out, err, CUZK_E_FILE,
                     "the path of the journal is too long: \"%s\"", path);
        snprintf(aside_log, sizeof aside_log, "%s-wal", out);
        if (access(out, F_OK) != 0 && (!has_log || access(aside_log, F_OK) != 0)) {
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_FILE, "no free name \"%s\" for the damaged journal", out);
}

/* Rename a file if it is there. */
static bool move(const char *from, const char *to)
{
    return rename(from, to) == 0 || errno == ENOENT;
}

/* Set the damaged files aside and put PATH.salvaged in their place. Can be done again at any point
 * where it was cut off. */
static cuzk_status switch_over(const names *n, const char *path, cuzk_journal_report *report,
                               cuzk_error *err)
{
    char aside_log[sizeof report->set_aside + 8];
    CUZK_TRY(name_aside(n, path, report->set_aside, sizeof report->set_aside, err));
    snprintf(aside_log, sizeof aside_log, "%s-wal", report->set_aside);
    if (!move(n->log, aside_log) || !move(path, report->set_aside)) {
        return system_fail(err, "setting aside", path);
    }
    if (rename(n->salvaged, path) != 0) {
        return system_fail(err, "renaming", n->salvaged);
    }
    return sync_folder(path, err);
}

cuzk_status cuzk_salvage_resume(const char *path, cuzk_journal_report *report, cuzk_error *err)
{
    names n;
    CUZK_TRY(names_init(&n, path, err));
    cuzk_status status = CUZK_OK;
    if (access(n.salvaged, F_OK) == 0) {
        status = switch_over(&n, path, report, err);
    }
    unlink(n.copy);
    unlink(n.copy_journal);
    unlink(n.fresh);
    names_clear(&n);
    return status;
}

cuzk_status cuzk_salvage(const char *path, cuzk_journal_report *report, cuzk_error *err)
{
    names n;
    CUZK_TRY(names_init(&n, path, err));
    cuzk_status status = rebuild(&n, path, report, err);
    if (status == CUZK_OK && rename(n.fresh, n.salvaged) != 0) {
        status = system_fail(err, "renaming", n.fresh);
    }
    if (status == CUZK_OK) {
        status = sync_folder(path, err);
    }
    if (status == CUZK_OK) {
        status = switch_over(&n, path, report, err);
    }
    unlink(n.copy);
    unlink(n.copy_journal);
    unlink(n.fresh);
    names_clear(&n);
    cuzk_error_prefix(err, "salvaging the damaged journal");
    return status;
}
