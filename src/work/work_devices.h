/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The devices that proofs are made on, as the engine is told of them. */
#ifndef CUZK_WORK_WORK_DEVICES_H
#define CUZK_WORK_WORK_DEVICES_H

#include "base/status.h"

#include <stdint.h>

enum { CUZK_WORK_DEVICES_MAX = 16 };

typedef struct {
    char id[32];           /* "cpu", "cuda:0" */
    char name[96];         /* of the processor or card */
    uint64_t memory_bytes; /* of its own, free now; 0: it uses the host's, or is missing and nobody
                              knows */
    int numa_node;         /* that it is closest to, as the system numbers it; -1: unknown */
    char missing[256];     /* why it could not be used; "": it can be */
} cuzk_work_device;

struct cuzk_device_ledger; /* work/device_ledger.h */

typedef struct {
    cuzk_work_device devices[CUZK_WORK_DEVICES_MAX]; /* index: the engine's device */
    unsigned n;
    uint64_t split_ns; /* a proof that is alone is made on two cards where that is predicted to save
                          so much time; 0: never */
    struct cuzk_device_ledger *ledger; /* what is on them; NULL: not kept. Borrowed */
    char left_out[512]; /* why there are no cards, or not all, where no ids were given; "": all are
                         */
} cuzk_work_devices;

/** The devices of these ids, in their order; n_ids 0: all cards that can be used, or the CPU where
 *  there is none. Cards are tested: a second or so each. One that is named and not there, or fails
 *  its test, is missing: in the list with the reason, as long as another one can be used. It is
 *  taken to have as much memory as the smallest of the other cards, where its own is not known.
 *
 *  Errors: E_ARGUMENT (an id that is none, or twice, or too many), E_UNSUPPORTED (a card, in a
 *  program without CUDA), E_DEVICE (all are missing, with the reasons).
 */
cuzk_status cuzk_work_devices_init(cuzk_work_devices *out, const char *const *ids, unsigned n_ids,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Begin a device anew that was lost, drained or missing, and test it: whatever was on it must have
 * been taken off. Errors: E_DEVICE: the driver does not give a card to this process, or one that
 * was missing has less memory than it is taken to have, with the reason. */
cuzk_status cuzk_work_devices_renew(const cuzk_work_devices *devices, unsigned device,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether none of them uses the host's memory. */
static inline bool cuzk_work_devices_are_cards(const cuzk_work_devices *devices)
{
    for (unsigned i = 0; i < devices->n; i++) {
        if (devices->devices[i].memory_bytes == 0) {
            return false;
        }
    }
    return true;
}

#endif
