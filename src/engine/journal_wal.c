/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/journal_wal.h"

#include "base/bytes.h"
#include "base/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 32, FRAME_HEADER = 24, MAGIC = 0x377f0682, PAGE_MIN = 512, PAGE_MAX = 65536 };

/* A mapped log. Frames of the current generation carry the header's two salts; older ones may lie
 * behind them. */
typedef struct {
    cuzk_map_file file;
    uint64_t n_frames; /* that fit into the file */
    uint32_t page_bytes;
    bool is_big_endian; /* of the checksums' words */
    bool has_header;    /* whose checksum matches */
    uint8_t salts[8];
} wal;

/* Running checksum over n_bytes, a multiple of 8. */
static void add_sum(uint32_t sum[2], const uint8_t *data, size_t n_bytes, bool is_big_endian)
{
    for (size_t i = 0; i < n_bytes; i += 8) {
        uint32_t a = is_big_endian ? cuzk_load_u32_be(data + i) : cuzk_load_u32_le(data + i);
        uint32_t b =
            is_big_endian ? cuzk_load_u32_be(data + i + 4) : cuzk_load_u32_le(data + i + 4);
        sum[0] += a + sum[1];
        sum[1] += b + sum[0];
    }
}

static const uint8_t *frame_at(const wal *w, uint64_t i)
{
    return w->file.data + HEADER + i * (FRAME_HEADER + (uint64_t)w->page_bytes);
}

static bool is_current(const wal *w, uint64_t i)
{
    return memcmp(frame_at(w, i) + 8, w->salts, sizeof w->salts) == 0;
}

static bool is_commit(const wal *w, uint64_t i)
{
    return cuzk_load_u32_be(frame_at(w, i) + 4) != 0;
}

/* Map a log. Without a readable header its page size is the journal's own and its salts those of
 * the first frame. n_frames 0: there is nothing in it. */
static cuzk_status open_wal(wal *w, const char *path, cuzk_error *err)
{
    memset(w, 0, sizeof *w);
    w->page_bytes = 4096;
    struct stat st;
    if (stat(path, &st) != 0 && errno == ENOENT) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_map_file_open(&w->file, path, err));
    if (w->file.size < HEADER) {
        return CUZK_OK;
    }
    const uint8_t *h = w->file.data;
    uint32_t sum[2] = {0, 0}, magic = cuzk_load_u32_be(h), page = cuzk_load_u32_be(h + 8);
    w->is_big_endian = (magic & 1) != 0;
    add_sum(sum, h, 24, w->is_big_endian);
    w->has_header = (magic & ~1u) == MAGIC && page >= PAGE_MIN && page <= PAGE_MAX &&
                    (page & (page - 1)) == 0 && sum[0] == cuzk_load_u32_be(h + 24) &&
                    sum[1] == cuzk_load_u32_be(h + 28);
    if (w->has_header) {
        w->page_bytes = page;
    }
    w->n_frames = (w->file.size - HEADER) / (FRAME_HEADER + (uint64_t)w->page_bytes);
    if (w->n_frames > 0) {
        memcpy(w->salts, w->has_header ? h + 16 : frame_at(w, 0) + 8, sizeof w->salts);
    }
    return CUZK_OK;
}

cuzk_status cuzk_wal_check(const char *path, cuzk_error *err)
{
    wal w;
    CUZK_TRY(open_wal(&w, path, err));
    cuzk_status status = CUZK_OK;
    uint64_t i = 0, n_lost = 0;
    if (w.n_frames > 0 && w.has_header) {
        uint32_t sum[2] = {cuzk_load_u32_be(w.file.data + 24), cuzk_load_u32_be(w.file.data + 28)};
        for (; i < w.n_frames && is_current(&w, i); i++) {
            const uint8_t *f = frame_at(&w, i);
            add_sum(sum, f, 8, w.is_big_endian);
            add_sum(sum, f + FRAME_HEADER, w.page_bytes, w.is_big_endian);
            if (sum[0] != cuzk_load_u32_be(f + 16) || sum[1] != cuzk_load_u32_be(f + 20)) {
                break;
            }
        }
        for (uint64_t k = i; k < w.n_frames; k++) {
            n_lost += is_current(&w, k) && is_commit(&w, k);
        }
        if (n_lost >= 2) {
            status = CUZK_FAIL(err, CUZK_E_FORMAT,
                               "log: the checksum of frame %llu of %llu does not match, and %llu "
                               "commits follow it",
                               (unsigned long long)i, (unsigned long long)w.n_frames,
                               (unsigned long long)n_lost);
        }
    } else if (w.n_frames > 0) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT, "log: its header is damaged, %llu frames follow",
                           (unsigned long long)w.n_frames);
    }
    cuzk_map_file_close(&w.file);
    return status;
}

static cuzk_status write_at(int fd, const void *data, size_t n_bytes, uint64_t offset,
                            cuzk_error *err)
{
    const uint8_t *p = (const uint8_t *)data;
    while (n_bytes > 0) {
        ssize_t n = pwrite(fd, p, n_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        CUZK_FAIL_IF(n <= 0, err, CUZK_E_FILE, "writing a copy of the damaged journal: %s",
                     strerror(errno));
        p += n;
        n_bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return CUZK_OK;
}

cuzk_status cuzk_wal_apply(const char *db_path, const char *wal_path, cuzk_error *err)
{
    wal w;
    CUZK_TRY(open_wal(&w, wal_path, err));
    int fd = open(db_path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        cuzk_map_file_close(&w.file);
        return CUZK_FAIL(err, CUZK_E_FILE, "opening \"%s\": %s", db_path, strerror(errno));
    }
    cuzk_status status = CUZK_OK;
    uint64_t n = 0; /* frames up to the last commit */
    for (uint64_t i = 0; i < w.n_frames; i++) {
        n = is_current(&w, i) && is_commit(&w, i) ? i + 1 : n;
    }
    /* a page number beyond all that the log and the file hold is a damaged one */
    struct stat st;
    uint64_t n_pages = n;
    if (fstat(fd, &st) == 0) {
        n_pages += (uint64_t)st.st_size / w.page_bytes + 1;
    }
    for (uint64_t i = 0; i < n && status == CUZK_OK; i++) {
        uint64_t page = cuzk_load_u32_be(frame_at(&w, i));
        if (is_current(&w, i) && page != 0 && page <= n_pages) {
            status = write_at(fd, frame_at(&w, i) + FRAME_HEADER, w.page_bytes,
                              (page - 1) * w.page_bytes, err);
        }
    }
    if (status == CUZK_OK) {
        static const uint8_t no_log[2] = {1, 1}; /* file format read and write versions */
        status = write_at(fd, no_log, sizeof no_log, 18, err);
    }
    close(fd);
    cuzk_map_file_close(&w.file);
    return status;
}
