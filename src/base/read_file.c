/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/read_file.h"

#include "base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read to the end, or one byte more than the limit. False: errno tells why. */
static bool read_all(char *data, size_t *n, int fd)
{
    while (*n <= CUZK_SMALL_FILE_MAX) {
        ssize_t got = read(fd, data + *n, CUZK_SMALL_FILE_MAX + 1 - *n);
        if (got == 0) {
            return true;
        }
        if (got < 0 && errno != EINTR) {
            return false;
        }
        *n += got > 0 ? (size_t)got : 0;
    }
    errno = EFBIG;
    return false;
}

cuzk_status cuzk_read_small_file(char **out, size_t *n_bytes, const char *what, const char *path,
                                 cuzk_error *err)
{
    /* a pipe that nobody writes to is not waited for: it is empty */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "reading %s from \"%.400s\": %s", what, path,
                 strerror(errno));
    (void)!fcntl(fd, F_SETFL, 0);
    char *data = malloc(CUZK_SMALL_FILE_MAX + 1);
    size_t n = 0;
    bool is_read = data != NULL && read_all(data, &n, fd);
    int reason = errno;
    close(fd);
    CUZK_FAIL_IF(data == NULL, err, CUZK_E_MEMORY, "reading %s: out of memory", what);
    if (!is_read) {
        cuzk_wipe(data, n);
        free(data);
        return CUZK_FAIL(err, CUZK_E_FILE, "reading %s from \"%.400s\": %s", what, path,
                         reason == EFBIG ? "larger than 1 MiB" : strerror(reason));
    }
    data[n] = '\0';
    *out = data;
    if (n_bytes != NULL) {
        *n_bytes = n;
    }
    return CUZK_OK;
}
