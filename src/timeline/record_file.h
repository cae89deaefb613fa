/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The file of a recording, with a limit. When half of it is written, it becomes PATH.old, whose
 * predecessor is deleted, and a new one is begun: between half of the limit and all of it is there
 * at any time. Nothing but a recording is ever renamed, deleted or written over, and one file has
 * one writer. One thread at a time. */
#ifndef CUZK_TIMELINE_RECORD_FILE_H
#define CUZK_TIMELINE_RECORD_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

typedef struct {
    char *path, *old_path;
    uint64_t limit_bytes;
    uint32_t run;     /* in the header of each of its files, which go on in one another */
    int fd;           /* -1: none; made when something is written */
    uint64_t n_bytes; /* of the file: whole pieces */
    uint64_t n_lost;  /* spans that could not be written since the last that could */
} cuzk_record_file;

/** Take a path: a recording that is there becomes PATH.old; what is something else, or what another
 *  process writes, is refused. path: copied. head: what every file begins with, as is what is given
 *  to each write. On success end it with cuzk_record_file_close. Errors: E_FILE, E_MEMORY. */
cuzk_status cuzk_record_file_open(cuzk_record_file *file, const char *path, uint64_t limit_bytes,
                                  const cuzk_text *head, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write whole pieces that hold n_spans spans. When they cannot be written, the file stays as it
 *  was, and what was lost is told in it by the next write that can be done. Errors: E_FILE,
 *  E_MEMORY. */
cuzk_status cuzk_record_file_write(cuzk_record_file *file, const cuzk_text *pieces,
                                   uint64_t n_spans, const cuzk_text *head,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Safe on zero with fd -1. */
void cuzk_record_file_close(cuzk_record_file *file);

#endif
