/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/record_file.h"

#include "base/clock.h"
#include "base/random.h"
#include "timeline/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_status write_all(cuzk_record_file *f, const cuzk_text *text, cuzk_error *err)
{
    for (size_t at = 0; at < text->size;) {
        ssize_t n = write(f->fd, text->data + at, text->size - at);
        CUZK_FAIL_IF(n < 0 && errno != EINTR, err, CUZK_E_FILE, "writing the recording \"%s\": %s",
                     f->path, strerror(errno));
        at += n > 0 ? (size_t)n : 0;
    }
    return CUZK_OK;
}

static void close_file(cuzk_record_file *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}

/* Refuse what is there at the path and is no recording, an empty file, or written by somebody. */
static cuzk_status check_target(const char *path, cuzk_error *err)
{
    char magic[8];
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return CUZK_OK;
    }
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "opening \"%s\" for a recording: %s", path,
                 strerror(errno));
    cuzk_status status = CUZK_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        status = CUZK_FAIL(err, CUZK_E_FILE, "the recording \"%s\" is not a regular file", path);
    } else if (st.st_size > 0 && (read(fd, magic, sizeof magic) != (ssize_t)sizeof magic ||
                                  memcmp(magic, CUZK_RECORDING_MAGIC, sizeof magic) != 0)) {
        status = CUZK_FAIL(err, CUZK_E_FILE,
                           "\"%s\" is there and is no recording: name another file for it", path);
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        status = CUZK_FAIL(err, CUZK_E_FILE, "another process writes the recording \"%s\"", path);
    }
    close(fd);
    return status;
}

static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0;
}

static cuzk_status put_start(cuzk_record_file *f, const cuzk_text *head, cuzk_error *err)
{
    cuzk_text start = {0};
    cuzk_recording_put_start(&start, cuzk_wall_ns(), cuzk_now_ns());
    cuzk_recording_set_run(&start, f->run);
    cuzk_text_put_bytes(&start, head->data, head->size);
    cuzk_status status = cuzk_text_check(&start, err);
    if (status == CUZK_OK) {
        status = write_all(f, &start, err);
    }
    f->n_bytes = start.size;
    cuzk_text_clear(&start);
    return status;
}

/* A new file; the one before it becomes PATH.old. One that cannot even be begun is taken away
 * again, so that it never takes the old one's place. */
static cuzk_status begin_file(cuzk_record_file *f, const cuzk_text *head, cuzk_error *err)
{
    close_file(f);
    if (is_empty(f->path)) {
        unlink(f->path);
    }
    CUZK_FAIL_IF(rename(f->path, f->old_path) != 0 && errno != ENOENT, err, CUZK_E_FILE,
                 "renaming the recording \"%s\": %s", f->path, strerror(errno));
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CUZK_FAIL_IF(f->fd < 0, err, CUZK_E_FILE, "creating the recording \"%s\": %s", f->path,
                 strerror(errno));
    cuzk_status status = CUZK_OK;
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0) {
        status = CUZK_FAIL(err, CUZK_E_FILE, "locking the recording \"%s\": %s", f->path,
                           strerror(errno));
    } else {
        status = put_start(f, head, err);
    }
    if (status != CUZK_OK) {
        unlink(f->path);
        close_file(f);
    }
    return status;
}

cuzk_status cuzk_record_file_open(cuzk_record_file *file, const char *path, uint64_t limit_bytes,
                                  const cuzk_text *head, cuzk_error *err)
{
    *file = (cuzk_record_file){.limit_bytes = limit_bytes, .fd = -1};
    while (file->run == 0) {
        CUZK_TRY(cuzk_random_bytes(&file->run, sizeof file->run, err));
    }
    size_t n = strlen(path);
    file->path = strdup(path);
    file->old_path = malloc(n + 5);
    if (file->path == NULL || file->old_path == NULL) {
        cuzk_record_file_close(file);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "starting a recording: out of memory");
    }
    memcpy(file->old_path, path, n);
    memcpy(file->old_path + n, ".old", 5);
    cuzk_status status = check_target(file->path, err);
    if (status == CUZK_OK) {
        status = check_target(file->old_path, err);
    }
    if (status == CUZK_OK) {
        status = begin_file(file, head, err);
    }
    if (status != CUZK_OK) {
        cuzk_record_file_close(file);
    }
    return status;
}

static cuzk_status write_pieces(cuzk_record_file *f, const cuzk_text *pieces, const cuzk_text *head,
                                cuzk_error *err)
{
    if (f->fd < 0 || f->n_bytes + pieces->size > f->limit_bytes / 2) {
        CUZK_TRY(begin_file(f, head, err));
    }
    cuzk_text lost = {0};
    if (f->n_lost > 0) {
        cuzk_recording_put_lost(&lost, f->n_lost);
    }
    cuzk_status status = cuzk_text_check(&lost, err);
    if (status == CUZK_OK) {
        status = write_all(f, &lost, err);
    }
    if (status == CUZK_OK) {
        status = write_all(f, pieces, err);
    }
    if (status == CUZK_OK) {
        f->n_bytes += lost.size + pieces->size;
        f->n_lost = 0;
    } else if (ftruncate(f->fd, (off_t)f->n_bytes) != 0 ||
               lseek(f->fd, (off_t)f->n_bytes, SEEK_SET) < 0) {
        close_file(f); /* a reader ends at the last whole piece all the same */
    }
    cuzk_text_clear(&lost);
    return status;
}

cuzk_status cuzk_record_file_write(cuzk_record_file *file, const cuzk_text *pieces,
                                   uint64_t n_spans, const cuzk_text *head, cuzk_error *err)
{
    cuzk_status status = cuzk_text_check(pieces, err);
    if (status == CUZK_OK) {
        status = write_pieces(file, pieces, head, err);
    }
    file->n_lost += status == CUZK_OK ? 0 : n_spans;
    return status;
}

void cuzk_record_file_close(cuzk_record_file *file)
{
    close_file(file);
    free(file->path);
    free(file->old_path);
    *file = (cuzk_record_file){.fd = -1};
}
