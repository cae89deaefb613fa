/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "base/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

cuzk_status cuzk_map_file_open(cuzk_map_file *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    /* O_NONBLOCK: a pipe without a writer is refused below, not waited for */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "opening \"%s\": %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) != 0) {
        int e = errno;
        close(fd);
        return CUZK_FAIL(err, CUZK_E_FILE, "reading the size of \"%s\": %s", path, strerror(e));
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return CUZK_FAIL(err, CUZK_E_FILE, "opening \"%s\": %s, expected a regular file", path,
                         S_ISDIR(st.st_mode) ? "it is a directory" : "it is not a file");
    }
    if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            int e = errno;
            close(fd);
            return CUZK_FAIL(err, CUZK_E_FILE, "mapping \"%s\" (%lld bytes): %s", path,
                             (long long)st.st_size, strerror(e));
        }
        out->data = p;
        out->size = (uint64_t)st.st_size;
    }
    close(fd);
    return CUZK_OK;
}

void cuzk_map_file_close(cuzk_map_file *file)
{
    if (file->data != NULL) {
        munmap((void *)(uintptr_t)file->data, (size_t)file->size);
    }
    memset(file, 0, sizeof *file);
}

void cuzk_map_file_drop(const void *data, uint64_t n_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)data + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)data + n_bytes) & ~(page - 1);
    if (begin < end) {
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}

cuzk_status cuzk_write_file(const char *path, const void *data, size_t n_bytes, cuzk_error *err)
{
    cuzk_out_file out;
    CUZK_TRY(cuzk_out_file_open(&out, path, err));
    if (n_bytes > 0) {
        fwrite(data, 1, n_bytes, out.file); /* commit reports a failure */
    }
    return cuzk_out_file_commit(&out, err);
}
