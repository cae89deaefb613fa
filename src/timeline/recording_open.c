/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { STEP = 1 << 20 };

/* All of it, unpacked where it is packed (gzread reads both). */
static cuzk_status read_file(gzFile file, const char *path, uint64_t limit, uint8_t **data,
                             size_t *n_bytes, cuzk_error *err)
{
    size_t room = 0;
    for (;;) {
        if (*n_bytes == room) {
            room = room == 0 ? STEP : 2 * room;
            uint8_t *more = realloc(*data, room);
            CUZK_FAIL_IF(more == NULL, err, CUZK_E_MEMORY, "reading %s: no memory for %zu bytes",
                         path, room);
            *data = more;
        }
        size_t n = room - *n_bytes < STEP ? room - *n_bytes : STEP;
        int got = gzread(file, *data + *n_bytes, (unsigned)n);
        if (got < 0) {
            int code;
            const char *why = gzerror(file, &code);
            return CUZK_FAIL(err, CUZK_E_FILE, "reading %s: %s", path,
                             code == Z_ERRNO ? strerror(errno) : why);
        }
        if (got == 0) {
            return CUZK_OK;
        }
        *n_bytes += (size_t)got;
        CUZK_FAIL_IF(*n_bytes > limit, err, CUZK_E_FORMAT,
                     "%s: more than %" PRIu64 " bytes when unpacked", path, limit);
    }
}

/* A regular file alone: opening a pipe would wait for its writer. */
static cuzk_status open_file(gzFile *file, const char *path, cuzk_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "opening %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return CUZK_FAIL(err, CUZK_E_FILE, "opening %s: not a regular file", path);
    }
    *file = gzdopen(fd, "rb");
    if (*file == NULL) {
        close(fd);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "opening %s: out of memory", path);
    }
    return CUZK_OK;
}

static cuzk_status take_file(const char *path, uint64_t limit, uint8_t **data, size_t *n_bytes,
                             cuzk_error *err)
{
    gzFile file;
    CUZK_TRY(open_file(&file, path, err));
    cuzk_status status = read_file(file, path, limit, data, n_bytes, err);
    gzclose_r(file);
    return status;
}

cuzk_status cuzk_recording_open_with(cuzk_recording *out, const char *path, const char *next_path,
                                     uint64_t limit, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    uint8_t *data[2] = {NULL, NULL};
    size_t n_bytes[2] = {0, 0};
    cuzk_status status = take_file(path, limit, &data[0], &n_bytes[0], err);
    if (status == CUZK_OK && next_path != NULL) {
        status = take_file(next_path, limit, &data[1], &n_bytes[1], err);
    }
    if (status == CUZK_OK) {
        const cuzk_recording_part parts[2] = {{data[0], n_bytes[0]}, {data[1], n_bytes[1]}};
        status = cuzk_recording_read_parts(out, parts, next_path != NULL ? 2 : 1, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "%s%s%s", path, next_path != NULL ? ", " : "",
                              next_path != NULL ? next_path : "");
        }
    }
    free(data[0]);
    free(data[1]);
    return status;
}

cuzk_status cuzk_recording_open(cuzk_recording *out, const char *path, uint64_t limit,
                                cuzk_error *err)
{
    return cuzk_recording_open_with(out, path, NULL, limit, err);
}

void cuzk_recording_clear(cuzk_recording *recording)
{
    if (recording->threads != NULL) {
        for (size_t i = 0; i < recording->n_threads; i++) {
            free(recording->threads[i]);
        }
    }
    if (recording->texts != NULL) {
        for (size_t i = 0; i < recording->n_texts; i++) {
            free(recording->texts[i].s);
        }
    }
    free(recording->spans);
    free(recording->threads);
    free(recording->texts);
    memset(recording, 0, sizeof *recording);
}
