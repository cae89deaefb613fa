/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/work_devices.h"

#include "api/api.h"
#include "base/cpu.h"

#include <stdio.h>
#include <string.h>

/* The processor as the system calls it, else the CPU path. */
static void name_cpu(char *out, size_t out_bytes)
{
    char line[256];
    snprintf(out, out_bytes, "%s", cuzk_cpu_path_name(cuzk_cpu_path_get()));
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon += 1 + strspn(colon + 1, " \t");
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(out, out_bytes, "%.60s (%s)", colon, cuzk_cpu_path_name(cuzk_cpu_path_get()));
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void add_cpu(cuzk_work_devices *out)
{
    cuzk_work_device *d = &out->devices[out->n++];
    *d = (cuzk_work_device){.id = "cpu", .numa_node = -1};
    name_cpu(d->name, sizeof d->name);
}

static void add_card(cuzk_work_devices *out, const cuzk_device_info *card)
{
    cuzk_work_device *d = &out->devices[out->n++];
    *d = (cuzk_work_device){.memory_bytes = card->free_bytes, .numa_node = card->numa_node};
    snprintf(d->id, sizeof d->id, "%s", card->id);
    snprintf(d->name, sizeof d->name, "%s", card->name);
}

/* The cards of this machine, looked for once. */
typedef struct {
    bool is_known;
    cuzk_device_info infos[CUZK_WORK_DEVICES_MAX];
    size_t n;
} cards;

static cuzk_status look(cards *c, cuzk_error *err)
{
    if (!c->is_known) {
        CUZK_TRY(cuzk_devices(c->infos, CUZK_WORK_DEVICES_MAX, &c->n, err));
        c->is_known = true;
    }
    return CUZK_OK;
}

static cuzk_status add_by_id(cuzk_work_devices *out, cards *c, const char *id, cuzk_error *err)
{
    CUZK_FAIL_IF(out->n == CUZK_WORK_DEVICES_MAX, err, CUZK_E_ARGUMENT,
                 "devices: more than %d are given", (int)CUZK_WORK_DEVICES_MAX);
    for (unsigned i = 0; i < out->n; i++) {
        CUZK_FAIL_IF(strcmp(out->devices[i].id, id) == 0, err, CUZK_E_ARGUMENT,
                     "devices: \"%s\" is given twice", id);
    }
    CUZK_TRY(cuzk_api_device_check(id, err));
    if (strcmp(id, "cpu") == 0) {
        add_cpu(out);
        return CUZK_OK;
    }
    CUZK_TRY(look(c, err));
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->infos[i].id, id) == 0) {
            CUZK_FAIL_IF(!c->infos[i].is_usable, err, CUZK_E_DEVICE, "device \"%s\": %s", id,
                         c->infos[i].reason);
            add_card(out, &c->infos[i]);
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_DEVICE, "device \"%s\" is not there: %zu cards were found", id,
                     c->n);
}

/* A machine without cards, or without their driver, is none the worse. */
static void add_all_cards(cuzk_work_devices *out, cards *c)
{
    if (look(c, NULL) != CUZK_OK) {
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        if (c->infos[i].is_usable) {
            add_card(out, &c->infos[i]);
        }
    }
}

cuzk_status cuzk_work_devices_init(cuzk_work_devices *out, const char *const *ids, unsigned n_ids,
                                   cuzk_error *err)
{
    cuzk_work_devices made = {.n = 0};
    cards c = {.is_known = false};
    if (n_ids == 0) {
        add_all_cards(&made, &c);
        if (made.n == 0) {
            add_cpu(&made);
        }
    }
    for (unsigned i = 0; i < n_ids; i++) {
        CUZK_TRY(add_by_id(&made, &c, ids[i], err));
    }
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_work_devices_renew(const cuzk_work_devices *devices, unsigned device,
                                    cuzk_error *err)
{
    CUZK_FAIL_IF(device >= devices->n, err, CUZK_E_DEVICE, "there is no device %u", device);
    if (devices->devices[device].memory_bytes == 0) {
        return CUZK_OK; /* the processor: nothing is to be opened */
    }
    return cuzk_api_device_renew(devices->devices[device].id, err);
}
