/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The folder of parameter files: what is there, whether it is whole, and fetching what is not.
 *
 * A file that was found good is remembered in ".NAME.good", with its size, time of change and
 * inode: as long as these stay, it need not be read again to know.
 *
 * A file is first written as ".NAME.part", which a later fetch continues, and gets its name only
 * when its digest is right: whoever opens NAME finds it whole or not at all. While a file is
 * fetched its fetcher holds a lock on ".NAME.lock", which ends with the process. */
#ifndef CUZK_FILECOIN_PARAM_STORE_H
#define CUZK_FILECOIN_PARAM_STORE_H

#include "base/progress.h"
#include "filecoin/param_manifest.h"

typedef enum {
    CUZK_PARAM_PRESENT, /* a file of the right size, or of a size that is not known */
    CUZK_PARAM_MISSING, /* nothing, or a link to nothing */
    CUZK_PARAM_EMPTY,
    CUZK_PARAM_WRONG_SIZE,
    CUZK_PARAM_NOT_A_FILE,
    CUZK_PARAM_UNREADABLE
} cuzk_param_state;

/** What is there under the entry's name, without reading it. *bytes: its size. */
cuzk_param_state cuzk_param_state_get(uint64_t *bytes, const char *folder,
                                      const cuzk_manifest_entry *entry);

/** Words for a state: "present", "missing", … */
const char *cuzk_param_state_text(cuzk_param_state state);

/** Read the whole file and compare its digest. reporter: may be NULL.
 *  The result is not remembered. Errors: E_FILE (missing, empty, not a file, not readable),
 *  E_MISMATCH (size or digest, with both values), E_CANCELLED. */
cuzk_status cuzk_param_check(const char *folder, const cuzk_manifest_entry *entry,
                             const cuzk_reporter *reporter, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same, but a file that was found good before, with the same digest, and has not changed since
 *  is not read. */
cuzk_status cuzk_param_check_once(const char *folder, const cuzk_manifest_entry *entry,
                                  const cuzk_reporter *reporter, cuzk_error *err) CUZK_WARN_UNUSED;

/** Remember that the file was found good. A folder that cannot be written is none the worse. */
void cuzk_param_remember(const char *folder, const cuzk_manifest_entry *entry);

typedef struct {
    /* Where from: a folder; or a URL that stands for a folder; or one with "{name}" or "{cid}" in
     * it. Several, with commas between them, are tried in turn. */
    const char *source;
    const cuzk_reporter *reporter; /* may be NULL */
    /* Told when another process fetches the file and we wait for it; may be NULL */
    void (*waiting)(void *ctx, const char *name);
    void *waiting_ctx;
} cuzk_param_fetch_params;

/** Make sure that the file is there and whole: check it, or fetch it. *was_there: nothing had to be
 *  fetched. The folder is made if it is missing.
 *
 *  Errors: E_ARGUMENT (the folder's name is empty or too long; no source); E_FILE with what each
 *  source said; E_MISMATCH (a source has other bytes: they are thrown
 *  away); E_UNSUPPORTED (no libcurl); E_CANCELLED: what was received stays and is continued. */
cuzk_status cuzk_param_fetch(bool *was_there, const char *folder, const cuzk_manifest_entry *entry,
                             const cuzk_param_fetch_params *params,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
