/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SQLite's write-ahead log, as far as its damage concerns us (sqlite.org/fileformat2.html, section
 * 4). SQLite reads the log up to the first frame whose checksum is wrong and drops the rest without
 * a word: right after a power failure in the middle of a commit, but not where a bit has changed in
 * the middle of a log. */
#ifndef CUZK_ENGINE_JOURNAL_WAL_H
#define CUZK_ENGINE_JOURNAL_WAL_H

#include "base/status.h"

#include <stdint.h>

/** Whether commits follow the place where SQLite would stop to read. One that follows may be the
 *  last commit that a power failure has cut, which nobody was told of; from two on acknowledged
 *  ones are lost. path: of the log; none is fine.
 *  Errors: E_FORMAT: damaged, with the place; E_FILE. */
cuzk_status cuzk_wal_check(const char *path, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write all pages of a log into a copy of its database, the latest version of each, whether their
 *  checksums match or not (the journal's rows have their own), and mark the copy as one without a
 *  log. wal_path: none is fine. Errors: E_FILE. */
cuzk_status cuzk_wal_apply(const char *db_path, const char *wal_path,
                           cuzk_error *err) CUZK_WARN_UNUSED;

#endif
