/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "filecoin/http_get.h"
#include "filecoin/param_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 20,
    PATH_TEXT_MAX = 4096,
    ATTEMPTS_MAX = 10,   /* of one source, as long as each receives something */
    WAIT_NS = 200000000, /* between two looks at a lock that another process holds */
    LINE_MAX_BYTES = 160
};

/* One file being fetched. Its progress counts 5 % for looking at what is there, 90 % for receiving,
 * 5 % for checking, so that it never falls. */
typedef struct {
    const char *folder;
    const cuzk_manifest_entry *entry;
    const cuzk_param_fetch_params *params;
    double begin, share; /* of the part that runs */
    char part[PATH_TEXT_MAX];
    int fd; /* of the part */
    uint64_t have;
    uint64_t received_at; /* have when the running attempt began */
    int write_errno;
} fetcher;

static bool report_share(void *ctx, const char *stage, double done)
{
    const fetcher *f = ctx;
    const cuzk_reporter *r = f->params->reporter;
    return r == NULL || r->report == NULL || r->report(r->ctx, stage, f->begin + f->share * done);
}

/* Check what has the entry's name. */
static cuzk_status check_present(fetcher *f, cuzk_error *err)
{
    cuzk_reporter reporter = {report_share, f};
    f->begin = 0;
    f->share = 0.05;
    return cuzk_param_check_once(f->folder, f->entry, &reporter, err);
}

static cuzk_status make_folder(const char *folder, cuzk_error *err)
{
    char path[PATH_TEXT_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *p = path + 1;; p++) {
        if (*p == '/' || *p == '\0') {
            char end = *p;
            *p = '\0';
            CUZK_FAIL_IF(mkdir(path, 0777) != 0 && errno != EEXIST, err, CUZK_E_FILE, "%s: %s",
                         path, strerror(errno));
            *p = end;
            if (end == '\0') {
                return CUZK_OK;
            }
        }
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

static bool put_bytes(void *ctx, const void *data, size_t n)
{
    fetcher *f = ctx;
    const char *p = data;
    while (n > 0) {
        ssize_t written = pwrite(f->fd, p, n, (off_t)f->have);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            f->write_errno = written < 0 ? errno : ENOSPC;
            return false;
        }
        f->have += (uint64_t)written;
        p += written;
        n -= (size_t)written;
    }
    return true;
}

static bool report_received(void *ctx, uint64_t received)
{
    fetcher *f = ctx;
    (void)received;
    uint64_t total = f->entry->bytes;
    return report_share(f, "fetching",
                        total == 0 || f->have > total ? 0 : (double)f->have / (double)total);
}

static bool restart_part(void *ctx)
{
    fetcher *f = ctx;
    f->have = 0;
    return ftruncate(f->fd, 0) == 0;
}

/* Copy the rest from a file. */
static cuzk_status receive_file(fetcher *f, const char *path, cuzk_error *err)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    CUZK_FAIL_IF(from < 0, err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
    uint8_t *piece = malloc(PIECE_BYTES);
    cuzk_status s = CUZK_OK;
    if (piece == NULL) {
        s = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    while (s == CUZK_OK) {
        ssize_t n = pread(from, piece, PIECE_BYTES, (off_t)f->have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n == 0) {
            break;
        }
        if (n < 0) {
            s = CUZK_FAIL(err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
        } else if (!put_bytes(f, piece, (size_t)n)) {
            s = CUZK_FAIL(err, CUZK_E_FILE, "%s: %s", f->part, strerror(f->write_errno));
        } else if (!report_received(f, 0)) {
            s = CUZK_FAIL(err, CUZK_E_CANCELLED, "%s: cancelled", path);
        }
    }
    free(piece);
    close(from);
    return s;
}

/* Download the rest; a connection that breaks is taken up again as long as something comes. */
static cuzk_status receive_url(fetcher *f, const char *url, cuzk_error *err)
{
    cuzk_http_sink sink = {put_bytes, report_received, restart_part, f};
    for (unsigned attempt = 1;; attempt++) {
        cuzk_error why = {0};
        f->received_at = f->have;
        cuzk_status s = cuzk_http_get(url, f->have, &sink, &why);
        bool progressed = f->have > f->received_at;
        if (s == CUZK_E_FILE && f->write_errno == 0 && progressed && attempt < ATTEMPTS_MAX) {
            continue;
        }
        if (s != CUZK_OK && f->write_errno != 0) {
            return CUZK_FAIL(err, CUZK_E_FILE, "%s: %s", f->part, strerror(f->write_errno));
        }
        if (s != CUZK_OK && err != NULL) {
            *err = why;
        }
        return s;
    }
}

static bool is_url(const char *source)
{
    return strncmp(source, "http://", 7) == 0 || strncmp(source, "https://", 8) == 0;
}

/* The place of the file in a source. */
static cuzk_status place_in(char out[PATH_TEXT_MAX], const char *source,
                            const cuzk_manifest_entry *entry, cuzk_error *err)
{
    const char *value = entry->name;
    const char *hole = strstr(source, "{name}");
    size_t hole_chars = strlen("{name}");
    if (hole == NULL && (hole = strstr(source, "{cid}")) != NULL) {
        value = entry->cid;
        hole_chars = strlen("{cid}");
        CUZK_FAIL_IF(value[0] == '\0', err, CUZK_E_ARGUMENT, "%s: the list of files has no cid",
                     entry->name);
    }
    if (hole != NULL) {
        snprintf(out, PATH_TEXT_MAX, "%.*s%s%s", (int)(hole - source), source, value,
                 hole + hole_chars);
        return CUZK_OK;
    }
    size_t n = strlen(source);
    snprintf(out, PATH_TEXT_MAX, "%s%s%s", source, n > 0 && source[n - 1] == '/' ? "" : "/", value);
    return CUZK_OK;
}

static cuzk_status check_space(const fetcher *f, cuzk_error *err)
{
    struct statvfs fs;
    if (f->entry->bytes == 0 || statvfs(f->folder, &fs) != 0) {
        return CUZK_OK;
    }
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    uint64_t needed = f->entry->bytes > f->have ? f->entry->bytes - f->have : 0;
    CUZK_FAIL_IF(free_bytes < needed, err, CUZK_E_FILE,
                 "%s: %" PRIu64 " bytes are needed, %" PRIu64 " are free", f->folder, needed,
                 free_bytes);
    return CUZK_OK;
}

/* ---- what was received ----------------------------------------------------------------------- */

/* The first line of a part that is not what was expected: often a server's own words. */
static void first_line(const fetcher *f, char out[LINE_MAX_BYTES])
{
    ssize_t n = pread(f->fd, out, LINE_MAX_BYTES - 1, 0);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    for (char *p = out; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e) {
            out[0] = '\0';
            return;
        }
    }
}

/* A manifest entry's check on the part: by the same code, under the part's name. */
static cuzk_status check_part(fetcher *f, cuzk_error *err)
{
    cuzk_manifest_entry part = *f->entry;
    cuzk_reporter reporter = {report_share, f};
    cuzk_error why = {0};
    snprintf(part.name, sizeof part.name, "%s", strrchr(f->part, '/') + 1);
    f->begin = 0.95;
    f->share = 0.05;
    cuzk_status s = cuzk_param_check(f->folder, &part, &reporter, &why);
    if (s == CUZK_OK || s == CUZK_E_CANCELLED) {
        return s;
    }
    char line[LINE_MAX_BYTES];
    first_line(f, line);
    return CUZK_FAIL(err, s, "what was received is not the file: %s%s%s%s", why.text,
                     line[0] != '\0' ? "; it begins with \"" : "", line,
                     line[0] != '\0' ? "\"" : "");
}

/* Receive the rest of the part from one source and give it its name. */
static cuzk_status try_source(fetcher *f, const char *source, cuzk_error *err)
{
    char place[PATH_TEXT_MAX];
    char target[PATH_TEXT_MAX];
    CUZK_TRY(
        place_in(place, strncmp(source, "file://", 7) == 0 ? source + 7 : source, f->entry, err));
    bool continued = f->have > 0;
    if (f->entry->bytes == 0 || f->have != f->entry->bytes) {
        CUZK_TRY(check_space(f, err));
        f->begin = 0.05;
        f->share = 0.9;
        f->write_errno = 0;
        CUZK_TRY(is_url(place) ? receive_url(f, place, err) : receive_file(f, place, err));
    }
    cuzk_status s = check_part(f, err);
    if (s != CUZK_OK && s != CUZK_E_CANCELLED) {
        /* wrong bytes are not continued; if some were of an earlier try, once more from the start
         */
        if (restart_part(f) && continued) {
            cuzk_error_clear(err);
            return try_source(f, source, err);
        }
        return s;
    }
    CUZK_TRY(s);
    snprintf(target, sizeof target, "%s/%s", f->folder, f->entry->name);
    CUZK_FAIL_IF(fsync(f->fd) != 0 || rename(f->part, target) != 0, err, CUZK_E_FILE, "%s: %s",
                 target, strerror(errno));
    cuzk_param_remember(f->folder, f->entry);
    return CUZK_OK;
}

/* Each source in turn; the message holds what all of them said. */
static cuzk_status try_sources(fetcher *f, cuzk_error *err)
{
    char said[CUZK_ERROR_TEXT_MAX] = "";
    cuzk_status s = CUZK_E_ARGUMENT;
    char *sources = strdup(f->params->source);
    CUZK_FAIL_IF(sources == NULL, err, CUZK_E_MEMORY, "out of memory");
    char *rest = NULL;
    for (char *source = strtok_r(sources, ",", &rest); source != NULL;
         source = strtok_r(NULL, ",", &rest)) {
        cuzk_error why = {0};
        s = try_source(f, source, &why);
        if (s == CUZK_OK) {
            free(sources);
            return CUZK_OK;
        }
        size_t n = strlen(said);
        snprintf(said + n, sizeof said - n, "%s%.400s", n > 0 ? "; " : "", why.text);
        if (s == CUZK_E_CANCELLED) {
            break;
        }
    }
    free(sources);
    return CUZK_FAIL(err, s, "%s: %s", f->entry->name, said[0] != '\0' ? said : "no source");
}

static cuzk_status fetch_locked(fetcher *f, cuzk_error *err)
{
    struct stat st;
    f->fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    CUZK_FAIL_IF(f->fd < 0, err, CUZK_E_FILE, "%s: %s", f->part, strerror(errno));
    f->have = fstat(f->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (f->entry->bytes != 0 && f->have > f->entry->bytes) {
        (void)restart_part(f);
    }
    cuzk_status s = try_sources(f, err);
    if (s != CUZK_OK && f->have == 0) {
        unlink(f->part);
    }
    close(f->fd);
    return s;
}

/* ---- lock ------------------------------------------------------------------------------------ */

/* Wait for the lock of a file. The lock's file is removed by who had it, so that the one that was
 * opened may no longer be the one that others see: then open again. */
static cuzk_status lock(fetcher *f, const char *path, int *fd, bool *waited, cuzk_error *err)
{
    *waited = false;
    for (;;) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        CUZK_FAIL_IF(*fd < 0, err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
        while (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK && errno != EINTR) {
                cuzk_status s = CUZK_FAIL(err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
                close(*fd);
                return s;
            }
            if (!*waited && f->params->waiting != NULL) {
                f->params->waiting(f->params->waiting_ctx, f->entry->name);
            }
            *waited = true;
            f->begin = f->share = 0;
            if (!report_share(f, "waiting for another process", 0)) {
                close(*fd);
                return CUZK_FAIL(err, CUZK_E_CANCELLED, "%s: cancelled", f->entry->name);
            }
            const struct timespec pause = {0, WAIT_NS};
            nanosleep(&pause, NULL);
        }
        struct stat mine;
        struct stat seen;
        if (fstat(*fd, &mine) == 0 && stat(path, &seen) == 0 && mine.st_ino == seen.st_ino &&
            mine.st_dev == seen.st_dev) {
            return CUZK_OK;
        }
        close(*fd);
    }
}

cuzk_status cuzk_param_fetch(bool *was_there, const char *folder, const cuzk_manifest_entry *entry,
                             const cuzk_param_fetch_params *params, cuzk_error *err)
{
    char lock_path[PATH_TEXT_MAX];
    fetcher f = {.folder = folder, .entry = entry, .params = params, .fd = -1};
    uint64_t bytes;
    *was_there = true;
    CUZK_FAIL_IF(folder[0] == '\0', err, CUZK_E_ARGUMENT, "the folder's name is empty");
    CUZK_FAIL_IF(strlen(folder) + sizeof entry->name + 16 > PATH_TEXT_MAX, err, CUZK_E_ARGUMENT,
                 "the folder's name is too long");
    cuzk_error not_whole = {0};
    cuzk_status s = check_present(&f, &not_whole);
    if (s == CUZK_OK) {
        return CUZK_OK;
    }
    if (s == CUZK_E_CANCELLED ||
        cuzk_param_state_get(&bytes, folder, entry) == CUZK_PARAM_NOT_A_FILE) {
        return CUZK_FAIL(err, s, "%s", not_whole.text);
    }
    *was_there = false;
    CUZK_TRY(make_folder(folder, err));
    snprintf(f.part, sizeof f.part, "%s/.%s.part", folder, entry->name);
    snprintf(lock_path, sizeof lock_path, "%s/.%s.lock", folder, entry->name);
    int fd;
    bool waited;
    CUZK_TRY(lock(&f, lock_path, &fd, &waited, err));
    if (waited && check_present(&f, &not_whole) == CUZK_OK) {
        *was_there = true;
    } else {
        s = fetch_locked(&f, err);
    }
    s = *was_there ? CUZK_OK : s;
    unlink(lock_path);
    close(fd);
    return s;
}
