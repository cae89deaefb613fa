/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Output files that are never seen half-written, alone or several together.
 *
 * Each file is written to a temporary one in the same folder. Commit closes all of them and, when
 * every one is whole, renames them over their targets: all or none. A link is followed to its
 * target. A target that is neither a regular file nor a folder (a terminal, a pipe) cannot be
 * replaced by a rename: it is written to directly. So is a stream of the process under its name
 * (/dev/stdout, /dev/fd/3), also when it is a regular file: others write to it as well.
 *
 * This is about failures of writing, of the process and of the disk; nothing is forced to the disk,
 * so a crash of the machine soon after commit may lose what was written. */
#ifndef CUZK_BASE_OUT_FILE_H
#define CUZK_BASE_OUT_FILE_H

#include "base/status.h"

#include <stdio.h>

typedef struct {
    FILE *file;      /* where to write; seekable when the target is a regular file and no stream */
    char *path;      /* as the caller named it */
    char *target;    /* the same with links followed */
    char *temporary; /* NULL when written directly */
    char *backup;    /* another name of the target's old content, during commit only */
    bool is_renamed; /* what was written has become target, during commit only */
} cuzk_out_file;

/** Start to write `path`. path is copied.
 *
 *  out: end it with one of the commits or with abort. Errors: E_FILE, with the system's
 *  text; nothing is then left behind. */
cuzk_status cuzk_out_file_open(cuzk_out_file *out, const char *path,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Complete n files: all get their new content, or, on failure, all keep their old one. The structs
 *  are released in any case. Errors: E_FILE for whatever failed since open. */
cuzk_status cuzk_out_files_commit(cuzk_out_file *files, size_t n, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same for one file. *out is zero afterwards. */
cuzk_status cuzk_out_file_commit(cuzk_out_file *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Drop a file that is not committed. Safe on an all-zero struct and after commit. */
void cuzk_out_file_abort(cuzk_out_file *out);

#endif
