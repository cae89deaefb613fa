/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/places.h"

cuzk_status cuzk_places_init(cuzk_places *places, const cuzk_work_devices *devices, bool is_on,
                             cuzk_error *err)
{
    cuzk_places made = {.placement = NULL};
    for (unsigned i = 0; i < CUZK_WORK_DEVICES_MAX; i++) {
        made.nodes[i] = i < devices->n ? devices->devices[i].numa_node : CUZK_PLACEMENT_ANYWHERE;
    }
    if (is_on) {
        CUZK_TRY(cuzk_placement_create(&made.placement, err));
    }
    *places = made;
    return CUZK_OK;
}

void cuzk_places_clear(cuzk_places *places)
{
    cuzk_placement_destroy(places->placement);
    places->placement = NULL;
}

const char *cuzk_places_note(const cuzk_places *places)
{
    return places->placement != NULL ? cuzk_placement_note(places->placement) : "off";
}

void cuzk_places_put(void *user, int device, int maker)
{
    const cuzk_places *places = user;
    const cuzk_placement *p = places->placement;
    unsigned n = cuzk_placement_n_nodes(p);
    if (n == 0) {
        return;
    }
    int node = CUZK_PLACEMENT_ANYWHERE;
    if (device >= 0) {
        node = places->nodes[device];
    } else if (maker >= 0) {
        node = cuzk_placement_node(p, (unsigned)maker % n);
    }
    /* where the system does not let it, the thread works anywhere */
    (void)cuzk_placement_move(p, node);
}
