/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Damaged journals are set aside; a file that never was one, named by a slip, must not be. */
#ifndef CUZK_ENGINE_JOURNAL_TRACE_H
#define CUZK_ENGINE_JOURNAL_TRACE_H

#include "base/status.h"

/** Whether a file that SQLite does not read may be the rest of a journal: its log lies beside it,
 *  it begins as SQLite's files do, or one of its first 16 pages has the form of a B-tree's (tables'
 *  roots lie there). Reads only. Errors: E_UNSUPPORTED: none of that; E_FILE, E_MEMORY. Source:
 *  SQLite's "Database File Format", 1.3 and 1.6. */
cuzk_status cuzk_trace_check(const char *path, const char *log_path,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
