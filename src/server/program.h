/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What differs between the daemon's program and that of the tests, which is the same but for it:
 * defined by the main.c of each. */
#ifndef CUZK_SERVER_PROGRAM_H
#define CUZK_SERVER_PROGRAM_H

#include "engine/engine.h"
#include "work/work_devices.h"

typedef struct {
    bool is_test; /* takes the keys of section test */
    /** Add kinds of jobs; CUZK_KINDS_MAX entries. NULL: none. Errors: E_MEMORY. */
    cuzk_status (*add_kinds)(cuzk_engine_kind *kinds, cuzk_error *err);
    /** Add devices. NULL: none. */
    void (*add_devices)(cuzk_work_devices *devices);
} cuzk_program;

extern const cuzk_program cuzk_the_program;

#endif
