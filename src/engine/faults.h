/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Places where a test may make the engine fail.
 *
 * Two sets of bodies, one of which a program links: cuzk_faults_none, in which nothing ever
 * happens, and that of the tests (tests/engine/faults.c), which is told what to do by a text. */
#ifndef CUZK_ENGINE_FAULTS_H
#define CUZK_ENGINE_FAULTS_H

#include "base/status.h"

#include <stdint.h>

/* X(name, word in the text): before the work's function of that name is called, unless said
 * otherwise. */
#define CUZK_FAULT_MAP(X)                                                                          \
    X(DECODE, "decode")                                                                            \
    X(RESIDENT, "resident")                                                                        \
    X(WITNESS, "witness")                                                                          \
    X(PROVE, "prove")   /* with the device */                                                      \
    X(PROOF, "proof")   /* after prove_finish, with the device: the proof is spoiled */            \
    X(OPEN, "open")     /* with the device: before it is begun anew */                             \
    X(FINISH, "finish") /* with the device */                                                      \
    X(VERIFY, "verify")                                                                            \
    X(ASSEMBLE, "assemble")                                                                        \
    X(MEMORY, "memory")   /* where a job's record is allocated */                                  \
    X(JOURNAL, "journal") /* a commit */

typedef enum {
#define CUZK_FAULT_ENUM(name, word) CUZK_FAULT_##name,
    CUZK_FAULT_MAP(CUZK_FAULT_ENUM)
#undef CUZK_FAULT_ENUM
        CUZK_FAULTS
} cuzk_fault;

/** Pass a place: waits or fails as the test asked. device: -1: none. Threads: any; without the
 *  engine's lock, but for MEMORY. */
cuzk_status cuzk_fault_at(cuzk_fault place, int device, cuzk_error *err) CUZK_WARN_UNUSED;

/** Milliseconds by which the wall clock is wrong. */
int64_t cuzk_fault_clock_ms(void);

/** Say what is to fail: the value of the configuration's test.faults, "" for nothing. Not while an
 *  engine runs. Errors: E_ARGUMENT; E_UNSUPPORTED from a program without faults. */
cuzk_status cuzk_faults_set(const char *text, cuzk_error *err) CUZK_WARN_UNUSED;

/** Ready for cuzk_journal_options.fault. user: not used. */
cuzk_status cuzk_faults_journal(void *user, cuzk_error *err);

#endif
