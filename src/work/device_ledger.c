/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/device_ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    struct entry *next;
    cuzk_device_arrival arrival;
} entry;

struct cuzk_device_ledger {
    pthread_mutex_t mutex; /* guards bytes and entries; held for moments, once a load or a look */
    entry *entries[CUZK_WORK_DEVICES_MAX]; /* where there was memory for one */
    uint64_t bytes[CUZK_WORK_DEVICES_MAX][CUZK_DEVICE_PURPOSES];
    struct cuzk_pinned_pool *pinned;
};

cuzk_status cuzk_device_ledger_create(cuzk_device_ledger **out, uint64_t pinned_limit,
                                      cuzk_error *err)
{
    cuzk_device_ledger *made = calloc(1, sizeof *made);
    if (made == NULL || pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(made);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    cuzk_status status = cuzk_api_pinned_create(&made->pinned, pinned_limit, err);
    if (status != CUZK_OK) {
        cuzk_device_ledger_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

static void free_entries(entry *e)
{
    while (e != NULL) {
        entry *next = e->next;
        free(e);
        e = next;
    }
}

void cuzk_device_ledger_destroy(cuzk_device_ledger *ledger)
{
    if (ledger != NULL) {
        for (unsigned i = 0; i < CUZK_WORK_DEVICES_MAX; i++) {
            free_entries(ledger->entries[i]);
        }
        cuzk_api_pinned_destroy(ledger->pinned);
        pthread_mutex_destroy(&ledger->mutex);
        free(ledger);
    }
}

struct cuzk_pinned_pool *cuzk_device_ledger_pinned(const cuzk_device_ledger *ledger)
{
    return ledger == NULL ? NULL : ledger->pinned;
}

void cuzk_device_ledger_put(cuzk_device_ledger *ledger, unsigned device,
                            const uint64_t bytes[CUZK_DEVICE_PURPOSES],
                            const cuzk_device_arrival *arrival)
{
    if (ledger == NULL || device >= CUZK_WORK_DEVICES_MAX) {
        return;
    }
    entry *made = malloc(sizeof *made);
    pthread_mutex_lock(&ledger->mutex);
    for (int i = 0; i < CUZK_DEVICE_PURPOSES; i++) {
        ledger->bytes[device][i] += bytes[i];
    }
    if (made != NULL) {
        *made = (entry){ledger->entries[device], *arrival};
        ledger->entries[device] = made;
    }
    pthread_mutex_unlock(&ledger->mutex);
}

void cuzk_device_ledger_take(cuzk_device_ledger *ledger, unsigned device,
                             const uint64_t bytes[CUZK_DEVICE_PURPOSES], const char *circuit)
{
    if (ledger == NULL || device >= CUZK_WORK_DEVICES_MAX) {
        return;
    }
    pthread_mutex_lock(&ledger->mutex);
    for (int i = 0; i < CUZK_DEVICE_PURPOSES; i++) {
        ledger->bytes[device][i] -= bytes[i];
    }
    entry **at = &ledger->entries[device];
    while (*at != NULL && strcmp((*at)->arrival.circuit, circuit) != 0) {
        at = &(*at)->next;
    }
    entry *gone = *at;
    if (gone != NULL) {
        *at = gone->next;
    }
    pthread_mutex_unlock(&ledger->mutex);
    free(gone);
}

unsigned cuzk_device_ledger_arrivals(cuzk_device_ledger *ledger, unsigned device,
                                     cuzk_device_arrival *out, unsigned n_max)
{
    unsigned n = 0;
    if (ledger == NULL || device >= CUZK_WORK_DEVICES_MAX) {
        return 0;
    }
    pthread_mutex_lock(&ledger->mutex);
    for (const entry *e = ledger->entries[device]; e != NULL && n < n_max; e = e->next) {
        out[n++] = e->arrival;
    }
    pthread_mutex_unlock(&ledger->mutex);
    return n;
}

void cuzk_device_ledger_look(cuzk_device_ledger *ledger, unsigned device,
                             uint64_t bytes[CUZK_DEVICE_PURPOSES])
{
    memset(bytes, 0, CUZK_DEVICE_PURPOSES * sizeof *bytes);
    if (ledger != NULL && device < CUZK_WORK_DEVICES_MAX) {
        pthread_mutex_lock(&ledger->mutex);
        memcpy(bytes, ledger->bytes[device], CUZK_DEVICE_PURPOSES * sizeof *bytes);
        pthread_mutex_unlock(&ledger->mutex);
    }
}
