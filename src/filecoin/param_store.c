/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "filecoin/param_store.h"

#include "base/blake2b.h"
#include "base/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 20, PATH_TEXT_MAX = 4096 };

static void path_of(char out[PATH_TEXT_MAX], const char *folder, const char *name)
{
    snprintf(out, PATH_TEXT_MAX, "%s/%s", folder, name);
}

cuzk_param_state cuzk_param_state_get(uint64_t *bytes, const char *folder,
                                      const cuzk_manifest_entry *entry)
{
    char path[PATH_TEXT_MAX];
    struct stat st;
    *bytes = 0;
    path_of(path, folder, entry->name);
    if (stat(path, &st) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? CUZK_PARAM_MISSING : CUZK_PARAM_UNREADABLE;
    }
    if (!S_ISREG(st.st_mode)) {
        return CUZK_PARAM_NOT_A_FILE;
    }
    *bytes = (uint64_t)st.st_size;
    if (*bytes == 0) {
        return CUZK_PARAM_EMPTY;
    }
    return entry->bytes != 0 && *bytes != entry->bytes ? CUZK_PARAM_WRONG_SIZE : CUZK_PARAM_PRESENT;
}

const char *cuzk_param_state_text(cuzk_param_state state)
{
    switch (state) {
    case CUZK_PARAM_PRESENT:
        return "present";
    case CUZK_PARAM_MISSING:
        return "missing";
    case CUZK_PARAM_EMPTY:
        return "empty";
    case CUZK_PARAM_WRONG_SIZE:
        return "wrong size";
    case CUZK_PARAM_NOT_A_FILE:
        return "not a file";
    case CUZK_PARAM_UNREADABLE:
        return "not readable";
    }
    return "unknown";
}

static void hex_text(char *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

/* Compare the digest of an open file of that many bytes. */
static cuzk_status check_digest(int fd, const char *path, uint64_t bytes,
                                const cuzk_manifest_entry *entry, const cuzk_reporter *reporter,
                                cuzk_error *err)
{
    uint8_t *piece = malloc(PIECE_BYTES);
    CUZK_FAIL_IF(piece == NULL, err, CUZK_E_MEMORY, "out of memory");
    cuzk_blake2b b;
    cuzk_blake2b_init(&b);
    cuzk_status s = CUZK_OK;
    uint64_t at = 0;
    while (at < bytes && s == CUZK_OK) {
        ssize_t n = pread(fd, piece, PIECE_BYTES, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            s = CUZK_FAIL(err, CUZK_E_FILE, "%s: reading at offset %" PRIu64 ": %s", path, at,
                          n < 0 ? strerror(errno) : "the file ends");
            break;
        }
        cuzk_blake2b_update(&b, piece, (size_t)n);
        at += (uint64_t)n;
        s = cuzk_report_progress(reporter, "checking", at, bytes, err);
    }
    free(piece);
    if (s != CUZK_OK) {
        return s;
    }
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    char found[2 * CUZK_PARAM_DIGEST_BYTES + 1];
    char expected[2 * CUZK_PARAM_DIGEST_BYTES + 1];
    cuzk_blake2b_final(&b, digest);
    hex_text(found, digest, CUZK_PARAM_DIGEST_BYTES);
    hex_text(expected, entry->digest, CUZK_PARAM_DIGEST_BYTES);
    CUZK_FAIL_IF(strcmp(found, expected) != 0, err, CUZK_E_MISMATCH, "%s: digest %s, expected %s",
                 path, found, expected);
    return CUZK_OK;
}

cuzk_status cuzk_param_check(const char *folder, const cuzk_manifest_entry *entry,
                             const cuzk_reporter *reporter, cuzk_error *err)
{
    char path[PATH_TEXT_MAX];
    uint64_t bytes;
    path_of(path, folder, entry->name);
    cuzk_param_state state = cuzk_param_state_get(&bytes, folder, entry);
    CUZK_FAIL_IF(state == CUZK_PARAM_WRONG_SIZE, err, CUZK_E_MISMATCH,
                 "%s: %" PRIu64 " bytes, expected %" PRIu64, path, bytes, entry->bytes);
    CUZK_FAIL_IF(state != CUZK_PARAM_PRESENT, err, CUZK_E_FILE, "%s: %s", path,
                 cuzk_param_state_text(state));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "%s: %s", path, strerror(errno));
    cuzk_status s = check_digest(fd, path, bytes, entry, reporter, err);
    close(fd);
    return s;
}

/* ---- what was found good --------------------------------------------------------------------- */

enum { NOTE_MAX = 160 };

static void note_path(char out[PATH_TEXT_MAX], const char *folder, const cuzk_manifest_entry *entry)
{
    snprintf(out, PATH_TEXT_MAX, "%s/.%s.good", folder, entry->name);
}

/* What the note about the file must say as it is now. False when there is no such file. */
static bool make_note(char out[NOTE_MAX], const char *folder, const cuzk_manifest_entry *entry)
{
    char path[PATH_TEXT_MAX];
    char digest[2 * CUZK_PARAM_DIGEST_BYTES + 1];
    struct stat st;
    path_of(path, folder, entry->name);
    hex_text(digest, entry->digest, sizeof entry->digest);
    if (stat(path, &st) != 0) {
        return false;
    }
    snprintf(out, NOTE_MAX, "digest %s bytes %lld changed %lld.%09ld inode %llu\n", digest,
             (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
             (unsigned long long)st.st_ino);
    return true;
}

void cuzk_param_remember(const char *folder, const cuzk_manifest_entry *entry)
{
    char path[PATH_TEXT_MAX];
    char note[NOTE_MAX];
    note_path(path, folder, entry);
    if (make_note(note, folder, entry)) {
        (void)!cuzk_write_file(path, note, strlen(note), NULL);
    }
}

static bool is_remembered(const char *folder, const cuzk_manifest_entry *entry)
{
    char path[PATH_TEXT_MAX];
    char note[NOTE_MAX];
    char found[NOTE_MAX] = "";
    note_path(path, folder, entry);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t n = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    return make_note(note, folder, entry) && n == strlen(note) && strcmp(found, note) == 0;
}

cuzk_status cuzk_param_check_once(const char *folder, const cuzk_manifest_entry *entry,
                                  const cuzk_reporter *reporter, cuzk_error *err)
{
    if (is_remembered(folder, entry)) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_param_check(folder, entry, reporter, err));
    cuzk_param_remember(folder, entry);
    return CUZK_OK;
}
