/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A damaged journal: what can still be read goes into a new file, the damaged one is set aside.
 *
 * At every instant there is either the damaged journal with its log under its name, or the new one
 * under its own or the name PATH.salvaged, complete: a crash in between costs nothing. */
#ifndef CUZK_ENGINE_JOURNAL_SALVAGE_H
#define CUZK_ENGINE_JOURNAL_SALVAGE_H

#include "engine/journal.h"

/** Make a new journal of what the damaged one at `path` still gives. report: filled, but for
 *  reason. Errors: E_FILE, E_MEMORY; the damaged journal then stays where it is. */
cuzk_status cuzk_salvage(const char *path, cuzk_journal_report *report,
                         cuzk_error *err) CUZK_WARN_UNUSED;

/** Complete a salvage that a crash has cut off, or clear away what it left. Before the journal is
 *  opened. report: set_aside is filled if a salvage was completed. Errors: E_FILE. */
cuzk_status cuzk_salvage_resume(const char *path, cuzk_journal_report *report,
                                cuzk_error *err) CUZK_WARN_UNUSED;

#endif
