/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The old content of a target is kept under a second name until the last rename has worked, so that
 * it can be put back. Where the system can, the two files exchange their names: a rename over an
 * existing file makes ext4 and others write the new content to the disk at once, which takes longer
 * than all the rest of a small proof's output. Elsewhere it gets a second name first: a hard link,
 * or a rename where there are no links. */
#define _GNU_SOURCE
#include "base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *with_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix) + 1;
    char *out = malloc(n + k);
    if (out != NULL) {
        memcpy(out, path, n);
        memcpy(out + n, suffix, k);
    }
    return out;
}

static void release(cuzk_out_file *out)
{
    free(out->path);
    free(out->target);
    free(out->temporary);
    free(out->backup);
    memset(out, 0, sizeof *out);
}

/* Open a temporary file beside the target, with the mode that a new file would get. */
static int open_temporary(cuzk_out_file *out)
{
    out->temporary = with_suffix(out->target, ".tmp-XXXXXX");
    if (out->temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd < 0) {
        int e = errno;
        free(out->temporary);
        out->temporary = NULL;
        errno = e;
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fd;
}

/* The number of a stream of this process that is named as a file; -1: the path is no such name. */
static int stream_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0) {
        return path[8] == 'o' ? STDOUT_FILENO : STDERR_FILENO;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t n = strlen(folders[i]);
        const char *digits = path + n;
        if (strncmp(path, folders[i], n) == 0 && *digits != '\0' && strlen(digits) < 9 &&
            strspn(digits, "0123456789") == strlen(digits)) {
            return atoi(digits);
        }
    }
    return -1;
}

static int open_target(cuzk_out_file *out)
{
    struct stat st;
    int stream = stream_of(out->path);
    if (stream >= 0) {
        return fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (stat(out->path, &st) != 0 || S_ISREG(st.st_mode)) {
        return open_temporary(out);
    }
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    return open(out->target, O_WRONLY | O_CLOEXEC);
}

cuzk_status cuzk_out_file_open(cuzk_out_file *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    out->path = strdup(path);
    out->target = realpath(path, NULL);
    if (out->target == NULL && out->path != NULL) {
        out->target = strdup(path); /* does not exist yet */
    }
    errno = ENOMEM;
    int fd = out->path != NULL && out->target != NULL ? open_target(out) : -1;
    if (fd >= 0) {
        out->file = fdopen(fd, "w");
    }
    if (out->file == NULL) {
        int e = errno;
        if (fd >= 0) {
            close(fd);
        }
        cuzk_out_file_abort(out);
        return CUZK_FAIL(err, CUZK_E_FILE, "writing \"%s\": %s", path, strerror(e));
    }
    return CUZK_OK;
}

void cuzk_out_file_abort(cuzk_out_file *out)
{
    if (out->file != NULL) {
        fclose(out->file);
    }
    if (out->temporary != NULL) {
        unlink(out->temporary);
    }
    release(out);
}

/* Flush and close; closing reports what a full or remote disk noticed late. Returns 0 or errno. */
static int finish(cuzk_out_file *out)
{
    int e = 0;
    if (ferror(out->file)) {
        /* an earlier write failed and its reason is gone: one more byte mostly meets the same one
         */
        clearerr(out->file);
        e = fflush(out->file) != 0 || write(fileno(out->file), "", 1) != 1 ? errno : EIO;
    } else if (fflush(out->file) != 0) {
        e = errno;
    }
    if (fclose(out->file) != 0 && e == 0) {
        e = errno;
    }
    out->file = NULL;
    return e;
}

/* Give the target's old content a second name. Returns 0 or errno. */
static int make_backup(cuzk_out_file *out)
{
    out->backup = with_suffix(out->temporary, ".old");
    if (out->backup == NULL) {
        return ENOMEM;
    }
    if (link(out->target, out->backup) == 0 || rename(out->target, out->backup) == 0) {
        return 0;
    }
    int e = errno;
    free(out->backup);
    out->backup = NULL;
    return e;
}

/* Undo make_backup or replace. */
static void put_back(cuzk_out_file *out)
{
    if (out->backup != NULL) {
        rename(out->backup, out->target);
        /* rename leaves both names when they are links to one file */
        unlink(out->backup);
    } else if (out->is_renamed) {
        unlink(out->target);
    }
}

/* Put the temporary file in the target's place; unless there was nothing, or nobody needs it, the
 * old content is kept as the backup. Returns 0 or errno, and the target is then as before. */
static int replace(cuzk_out_file *out, bool keep_old)
{
    struct stat st;
    bool exists = lstat(out->target, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    if (exists &&
        renameat2(AT_FDCWD, out->temporary, AT_FDCWD, out->target, RENAME_EXCHANGE) == 0) {
        out->backup = out->temporary; /* the name of the old content now */
        out->temporary = NULL;
        out->is_renamed = true;
        return 0;
    }
    int e = exists && keep_old ? make_backup(out) : 0;
    if (e == 0 && rename(out->temporary, out->target) != 0) {
        e = errno;
        put_back(out);
    }
    out->is_renamed = e == 0;
    return e;
}

/* Replace all. Returns 0 or errno with *failed set; all targets are then as before. */
static int replace_all(cuzk_out_file *files, size_t n, size_t *failed)
{
    int e = 0;
    for (size_t i = 0; i < n && e == 0; i++) {
        if (files[i].temporary != NULL) {
            e = replace(&files[i], i + 1 < n);
            *failed = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        cuzk_out_file *f = &files[i];
        if (f->is_renamed && e != 0) {
            put_back(f);
        } else if (f->backup != NULL) {
            unlink(f->backup);
        }
    }
    return e;
}

cuzk_status cuzk_out_files_commit(cuzk_out_file *files, size_t n, cuzk_error *err)
{
    int e = 0;
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        int k = finish(&files[i]);
        if (k != 0 && e == 0) {
            e = k;
            failed = i;
        }
    }
    if (e == 0) {
        e = replace_all(files, n, &failed);
    }
    if (e != 0) {
        CUZK_FAIL(err, CUZK_E_FILE, "writing \"%s\": %s", files[failed].path, strerror(e));
    }
    for (size_t i = 0; i < n; i++) {
        if (e != 0 && files[i].temporary != NULL) {
            unlink(files[i].temporary); /* those renamed are gone under this name */
        }
        release(&files[i]);
    }
    return e != 0 ? CUZK_E_FILE : CUZK_OK;
}

cuzk_status cuzk_out_file_commit(cuzk_out_file *out, cuzk_error *err)
{
    return cuzk_out_files_commit(out, 1, err);
}
