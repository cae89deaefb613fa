/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A journal in memory, in place of the real one: same calls, a thread that answers, and handles for
 * tests. It outlives engines, so that a test can start another one on what the first left. */
#ifndef CUZK_TESTS_ENGINE_MEMORY_JOURNAL_H
#define CUZK_TESTS_ENGINE_MEMORY_JOURNAL_H

#include "engine/journal.h"

cuzk_journal *memory_journal_create(void);
/** Nothing may be asked of it any more. */
void memory_journal_destroy(cuzk_journal *journal);

/** Answer nothing until it is let go. */
void memory_journal_hold(cuzk_journal *journal, bool hold);

/** Refuse all writes with this, until CUZK_OK. */
void memory_journal_fail(cuzk_journal *journal, cuzk_status status);

/** Have no memory for the n-th request from now on (0: the next one), once: it is answered from
 *  inside of it, as the real journal does. */
void memory_journal_refuse_at(cuzk_journal *journal, unsigned n);

/** The process dies at this instant, as far as the journal sees: what has been answered is kept,
 *  what comes is refused and forgotten, until revive. */
void memory_journal_crash(cuzk_journal *journal);
void memory_journal_revive(cuzk_journal *journal);

/** Searches so far. */
unsigned memory_journal_finds(cuzk_journal *journal);

/** Jobs in it, units in it. */
unsigned memory_journal_jobs(cuzk_journal *journal);
unsigned memory_journal_units(cuzk_journal *journal);

#endif
