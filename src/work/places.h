/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the engine's threads stand: beside their device, witness makers spread over the nodes. */
#ifndef CUZK_WORK_PLACES_H
#define CUZK_WORK_PLACES_H

#include "base/placement.h"
#include "work/work_devices.h"

typedef struct cuzk_places {
    cuzk_placement *placement;        /* NULL: threads are left to the system */
    int nodes[CUZK_WORK_DEVICES_MAX]; /* by the engine's device; CUZK_PLACEMENT_ANYWHERE */
} cuzk_places;

/** Learn the machine's nodes, for devices whose nodes are known. is_on false: threads are left to
 *  the system. Clear with cuzk_places_clear. Errors: E_MEMORY. */
cuzk_status cuzk_places_init(cuzk_places *places, const cuzk_work_devices *devices, bool is_on,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** All threads that it placed have ended. All zero is fine. */
void cuzk_places_clear(cuzk_places *places);

/** For people: which nodes there are, or why threads are left to the system. */
const char *cuzk_places_note(const cuzk_places *places);

/** cuzk_engine_options.place; user: the places. */
void cuzk_places_put(void *user, int device, int maker);

#endif
