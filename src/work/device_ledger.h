/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What keys hold of devices' memory, by purpose, and the pool of pinned host memory through which
 * they get there. All functions are thread-safe. */
#ifndef CUZK_WORK_DEVICE_LEDGER_H
#define CUZK_WORK_DEVICE_LEDGER_H

#include "api/api.h"
#include "work/work_devices.h"

typedef struct cuzk_device_ledger cuzk_device_ledger;

/** pinned_limit: bytes of host memory that may be pinned. Returned: cuzk_device_ledger_destroy.
 *  Errors: E_MEMORY. */
cuzk_status cuzk_device_ledger_create(cuzk_device_ledger **out, uint64_t pinned_limit,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. No key is on a device. */
void cuzk_device_ledger_destroy(cuzk_device_ledger *ledger);

/** The pool of pinned memory; NULL for NULL. */
struct cuzk_pinned_pool *cuzk_device_ledger_pinned(const cuzk_device_ledger *ledger);

/* How a key came to a device. */
typedef struct {
    char circuit[128];
    char from[24];         /* "file", "peer cuda:0", "made" */
    uint64_t n_bytes, ns;  /* of circuit and key; all that it took */
    uint64_t n_read_bytes; /* of the key, read from the host's memory for this device alone */
} cuzk_device_arrival;

/** A key was put on a device. arrival: copied. ledger NULL: nothing happens. */
void cuzk_device_ledger_put(cuzk_device_ledger *ledger, unsigned device,
                            const uint64_t bytes[CUZK_DEVICE_PURPOSES],
                            const cuzk_device_arrival *arrival);

/** It is taken off again. ledger NULL: nothing happens. */
void cuzk_device_ledger_take(cuzk_device_ledger *ledger, unsigned device,
                             const uint64_t bytes[CUZK_DEVICE_PURPOSES], const char *circuit);

/** The keys that are on a device, at most n_max, the last ones first. Returns how many. NULL: 0. */
unsigned cuzk_device_ledger_arrivals(cuzk_device_ledger *ledger, unsigned device,
                                     cuzk_device_arrival *out, unsigned n_max);

/** Bytes of a device by purpose. NULL: zeros. */
void cuzk_device_ledger_look(cuzk_device_ledger *ledger, unsigned device,
                             uint64_t bytes[CUZK_DEVICE_PURPOSES]);

#endif
