/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/work_devices.h"

#include "api/api.h"
#include "base/cpu.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A card that comes later may have less memory than it is taken to have by one part of so many: two
 * of a kind differ by what the driver keeps. */
enum { MEMORY_SLACK = 64 };

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

static void set_missing(cuzk_work_device *device, const char *fmt, ...) CUZK_PRINTF(2, 3);
static void set_missing(cuzk_work_device *device, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(device->missing, sizeof device->missing, fmt, args);
    va_end(args);
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
    cuzk_device_info absent = {.numa_node = -1};
    snprintf(absent.id, sizeof absent.id, "%s", id);
    snprintf(absent.name, sizeof absent.name, "%s", id);
    cuzk_error why = {0};
    if (look(c, &why) != CUZK_OK) { /* no card can be used */
        add_card(out, &absent);
        set_missing(&out->devices[out->n - 1], "%s", why.text);
        return CUZK_OK;
    }
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->infos[i].id, id) == 0) {
            add_card(out, &c->infos[i]);
            if (!c->infos[i].is_usable) {
                set_missing(&out->devices[out->n - 1], "%s", c->infos[i].reason);
            }
            return CUZK_OK;
        }
    }
    add_card(out, &absent);
    set_missing(&out->devices[out->n - 1], "it is not there: %zu cards were found", c->n);
    return CUZK_OK;
}

/* What is not known of those that are missing; an error where all are. */
static cuzk_status settle_missing(cuzk_work_devices *made, cuzk_error *err)
{
    uint64_t least = 0;
    bool is_one_there = made->n == 0;
    for (unsigned i = 0; i < made->n; i++) {
        const cuzk_work_device *d = &made->devices[i];
        is_one_there = is_one_there || d->missing[0] == '\0';
        if (d->missing[0] == '\0' && d->memory_bytes > 0 &&
            (least == 0 || d->memory_bytes < least)) {
            least = d->memory_bytes;
        }
    }
    char reasons[400] = "";
    size_t n = 0;
    for (unsigned i = 0; i < made->n; i++) {
        cuzk_work_device *d = &made->devices[i];
        if (d->missing[0] != '\0') {
            d->memory_bytes = d->memory_bytes == 0 ? least : d->memory_bytes;
            n += n < sizeof reasons
                     ? (size_t)snprintf(reasons + n, sizeof reasons - n, "%sdevice \"%s\": %s",
                                        i > 0 ? "; " : "", d->id, d->missing)
                     : 0;
        }
    }
    CUZK_FAIL_IF(!is_one_there, err, CUZK_E_DEVICE, "%s", reasons);
    return CUZK_OK;
}

/* A machine without cards, or without their driver, is none the worse; why they are not used is
 * noted. */
static void add_all_cards(cuzk_work_devices *out, cards *c)
{
    cuzk_error why = {0};
    if (look(c, &why) != CUZK_OK || c->n == 0) {
        snprintf(out->left_out, sizeof out->left_out, "%.500s",
                 why.text[0] != '\0' ? why.text : "the driver finds no card");
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const cuzk_device_info *card = &c->infos[i];
        if (card->is_usable) {
            add_card(out, card);
        } else if (n < sizeof out->left_out) {
            n += (size_t)snprintf(out->left_out + n, sizeof out->left_out - n, "%s%s: %.300s",
                                  n > 0 ? "; " : "", card->id, card->reason);
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
    CUZK_TRY(settle_missing(&made, err));
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_work_devices_renew(const cuzk_work_devices *devices, unsigned device,
                                    cuzk_error *err)
{
    CUZK_FAIL_IF(device >= devices->n, err, CUZK_E_DEVICE, "there is no device %u", device);
    const cuzk_work_device *d = &devices->devices[device];
    uint64_t free_bytes = 0;
    if (d->memory_bytes == 0 && d->missing[0] == '\0') {
        return CUZK_OK; /* the processor: nothing is to be opened */
    }
    CUZK_TRY(cuzk_api_device_renew(&free_bytes, d->id, err));
    if (d->missing[0] == '\0') {
        return CUZK_OK;
    }
    CUZK_FAIL_IF(d->memory_bytes == 0, err, CUZK_E_DEVICE,
                 "it is well now, but what memory it has was not known at the start: it is used "
                 "after a restart");
    uint64_t least = d->memory_bytes - d->memory_bytes / MEMORY_SLACK;
    CUZK_FAIL_IF(free_bytes < least, err, CUZK_E_DEVICE,
                 "it has %" PRIu64 " bytes free, not %" PRIu64
                 " as the smallest card of the start: it is used after a restart",
                 free_bytes, least);
    return CUZK_OK;
}
