/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/journal_trace.h"

#include "base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, N_PAGES = 16, FILE_HEADER = 100 };

static unsigned u16_at(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* Strict enough that 64 KiB of noise pass once in millions, text and zeros never. */
static bool is_tree_page(const uint8_t *page, size_t header_at)
{
    const uint8_t *h = page + header_at;
    bool is_inner = h[0] == 2 || h[0] == 5, is_leaf = h[0] == 10 || h[0] == 13;
    unsigned free_at = u16_at(h + 1), n_cells = u16_at(h + 3), content = u16_at(h + 5);
    size_t cells = header_at + (is_inner ? 12 : 8);
    enum { FRAGMENTS_MAX = 60 };
    if (!(is_inner || is_leaf) || h[7] > FRAGMENTS_MAX || content > PAGE ||
        cells + 2 * (size_t)n_cells > content || (n_cells == 0 && content != PAGE) ||
        (free_at != 0 && (free_at < content || free_at >= PAGE))) {
        return false;
    }
    for (unsigned i = 0; i < n_cells; i++) {
        unsigned cell = u16_at(page + cells + 2 * (size_t)i);
        if (cell < content || cell >= PAGE) {
            return false;
        }
    }
    return true;
}

static bool has_trace(const uint8_t *pages, size_t n_bytes)
{
    static const char magic[16] = "SQLite format 3";
    bool found =
        n_bytes > 0 && memcmp(pages, magic, n_bytes < sizeof magic ? n_bytes : sizeof magic) == 0;
    for (size_t i = 0; i < n_bytes / PAGE && !found; i++) {
        found = is_tree_page(pages + i * PAGE, i == 0 ? FILE_HEADER : 0);
    }
    return found;
}

cuzk_status cuzk_trace_check(const char *path, const char *log_path, cuzk_error *err)
{
    struct stat st;
    if (stat(log_path, &st) == 0 && st.st_size > 0) {
        return CUZK_OK;
    }
    uint8_t *pages = (uint8_t *)malloc(N_PAGES * PAGE);
    CUZK_FAIL_IF(pages == NULL, err, CUZK_E_MEMORY, "looking for a journal's traces: no memory");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, pages, N_PAGES * PAGE, 0);
    cuzk_status status = CUZK_OK;
    if (n < 0) {
        status = CUZK_FAIL(err, CUZK_E_FILE, "reading it: %s", strerror(errno));
    } else if (!has_trace(pages, (size_t)n)) {
        status = CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                           "this is not a journal, nor what is left of one; it was not touched");
    }
    if (fd >= 0) {
        close(fd);
    }
    free(pages);
    return status;
}
