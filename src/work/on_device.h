/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A resident's copies on devices that have memory of their own, whatever its family.
 *
 * The first device gets it from the host. Another one copies it from a device that has it, where
 * the cards allow that, and waits for one that is just getting it. Where they do not, those that
 * load it at the same time share one pass over the key (backend/cuda/key_pass.h). */
#ifndef CUZK_WORK_ON_DEVICE_H
#define CUZK_WORK_ON_DEVICE_H

#include "api/api.h"
#include "engine/work.h"
#include "work/work_devices.h"

#include <pthread.h>

typedef enum {
    CUZK_COPY_ABSENT = 0,
    CUZK_COPY_LOADING = 1,
    CUZK_COPY_THERE = 2,
    CUZK_COPY_LEAVING = 3 /* once nobody copies from it */
} cuzk_copy_state;

/* The engine never loads or evicts a copy while it is used for proofs; it may do so with one while
 * another device copies from it. */
typedef struct {
    const cuzk_work_devices *devices;
    const char *circuit;
    struct cuzk_key_pass *pass; /* NULL: there are not several cards */
    pthread_mutex_t mutex;      /* guards states, numbers of readers and bad links */
    pthread_cond_t changed;     /* with it: one of them has */
    struct {
        cuzk_api_device *device; /* written by the one that loads or evicts */
        cuzk_copy_state state;
        unsigned n_readers;          /* devices that copy from it */
        uint32_t bad_links;          /* bits of devices from which copying it here has failed */
    } copies[CUZK_WORK_DEVICES_MAX]; /* by the engine's index of the device */
} cuzk_on_device;

/** None is there yet. devices, circuit: borrowed until clear. Errors: E_MEMORY: nothing to clear.
 */
cuzk_status cuzk_on_device_init(cuzk_on_device *on, const cuzk_work_devices *devices,
                                const char *circuit, cuzk_error *err) CUZK_WARN_UNUSED;

/** Take it off everywhere, and free. All zero: nothing happens. */
void cuzk_on_device_clear(cuzk_on_device *on);

/** What to reserve on a device for a resident with a key of these numbers: what the largest device
 *  would do with it takes, or, where it fits none, what the smallest way would. 0 without cards. */
uint64_t cuzk_on_device_bytes(const cuzk_work_devices *devices, const cuzk_key_numbers *numbers);

/* What is put on devices. */
typedef struct {
    const cuzk_prover *prover; /* borrowed until evict */
    uint64_t limit;            /* bytes that are reserved on each device */
    const cuzk_ctx *ctx;       /* its log says how it came there */
} cuzk_on_device_load;

/** Copy a prover's key to a device, or make ready to stream it. Several devices may load at once.
 *  Errors: E_DEVICE, E_MEMORY, E_INTERNAL (a device without memory). */
cuzk_status cuzk_on_device_put(cuzk_on_device *on, unsigned device, const cuzk_on_device_load *load,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** The same for several devices at once (engine/work.h), with a thread for each: the key is read
 *  once. */
void cuzk_on_device_put_all(cuzk_on_device *on, const cuzk_devices_load *devices,
                            const cuzk_on_device_load *load);

/** Take it off; nothing where it is not there. Devices that copy from it stop, and get it from the
 *  host. */
void cuzk_on_device_evict(cuzk_on_device *on, unsigned device);

/** What proves on the device: *out NULL for the CPU. Takes no lock. Errors: E_INTERNAL (it is not
 *  there). */
cuzk_status cuzk_on_device_get(const struct cuzk_prove_device **out, const cuzk_on_device *on,
                               unsigned device, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
