/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine is told about what it proves: one table of functions for each family of proofs.
 *
 * The engine moves jobs, units and bytes; it never sees a wire message, a field element or a file.
 * A family (Filecoin's proofs, circom circuits, the empty one of the tests) decodes payloads into
 * tasks, loads residents (a proving key with its compiled circuit), makes a unit's witness, proves
 * it on a device in two halves, and verifies. Functions may block and may use the CPU; the engine
 * calls them from its stage threads, never under a lock. Unless said otherwise they may run at
 * once in any number of threads, also for the same task, resident or device. */
#ifndef CUZK_ENGINE_WORK_H
#define CUZK_ENGINE_WORK_H

#include "base/status.h"

#include <stdint.h>

/* Opaque to the engine; each family has its own. */
typedef struct cuzk_task cuzk_task;                 /* a decoded payload */
typedef struct cuzk_resident cuzk_resident;         /* key and circuit in host memory */
typedef struct cuzk_unit_witness cuzk_unit_witness; /* of one unit */
typedef struct cuzk_pending cuzk_pending;           /* after prove_start, before prove_finish */

enum {
    CUZK_CIRCUIT_ID_MAX = 128, /* bytes of a circuit's id, its NUL included */
    CUZK_UNITS_MAX = 4096,     /* units of a job */
    CUZK_UNIT_PROOF_MAX = 512  /* bytes of a unit's proof */
};

/* What decoding a payload gives. Bytes are upper bounds that are reserved before the memory is
 * allocated, and held against the process' resident size in tests. */
typedef struct {
    unsigned n_units;                  /* 1 … CUZK_UNITS_MAX */
    char circuit[CUZK_CIRCUIT_ID_MAX]; /* the resident that its units need: "porep-32g" */
    uint8_t digest[32];      /* SHA-256 of all that the result depends on, not of id or priority */
    uint64_t task_bytes;     /* the task, until the job ends */
    uint64_t witness_bytes;  /* of a unit: from before its witness until its proof is verified */
    uint64_t host_bytes;     /* of a unit: from before prove_start until after prove_finish */
    uint64_t device_bytes;   /* of a unit on its device, in prove_start */
    uint64_t resident_bytes; /* host memory of the resident, once loaded */
    uint64_t resident_device_bytes; /* of the resident on a device */
    bool is_unchecked; /* the witness comes from outside and may be wrong: a proof that does not
                          verify is held against a device only if another attempt verifies */
} cuzk_task_info;

/* The right to run kernels on a device, taken by prove_start around its kernel region and nothing
 * else. Handed over to the waiter of the highest priority. */
typedef struct cuzk_lane cuzk_lane;

/** Wait for the lane. Returns without it when the unit was cancelled: E_CANCELLED. */
cuzk_status cuzk_lane_take(cuzk_lane *lane, cuzk_error *err) CUZK_WARN_UNUSED;

/** Between two kernel regions of a unit: let those in that come before it in the engine's order,
 * and wait for the lane again; without such it is kept. A failure leaves the unit without the lane.
 *  Errors: E_CANCELLED. */
cuzk_status cuzk_lane_yield(cuzk_lane *lane, cuzk_error *err) CUZK_WARN_UNUSED;

/** Give the lane back; prove_start must do so before it returns. Nothing where it is not held. */
void cuzk_lane_give(cuzk_lane *lane);

/* A call of a stage: where it runs, and whether it is still wanted. */
typedef struct {
    unsigned unit;   /* index of the unit in its job */
    unsigned device; /* index of the engine's device: prove_start, prove_finish */
    unsigned
        worker; /* of that device: prove_start; 0 … its n_workers, the last for CRITICAL only */
    cuzk_lane *lane; /* prove_start */
    /* Whether to stop early with E_CANCELLED. Cheap; to be asked about every millisecond. */
    bool (*is_cancelled)(const void *context);
    const void *context;
} cuzk_work_call;

/* A part of a unit's proof that another device makes beside the first: its thread calls run.
 * call: as prove_start's, of that device and with its lane. Errors of E_DEVICE and E_DEVICE_LOST
 * are held against that device. */
typedef cuzk_status (*cuzk_help_run)(void *ctx, const cuzk_work_call *call, cuzk_error *err);

/** In prove_start: have another device make a part of the unit, if one may: it has memory of its
 *  own and the unit's resident, has nothing to do, has room for a unit, and no other unit is about
 *  to need it. A unit that is tried once more has no help. lane: the call's. run, ctx: borrowed
 *  until cuzk_help_end, which must follow where this is true. False: nobody helps. */
bool cuzk_help_begin(cuzk_lane *lane, cuzk_help_run run, void *ctx);

/** Wait until run has returned. Without the lane: it may take long. Errors: those of run, and
 *  E_DEVICE_LOST where that device was lost before. */
cuzk_status cuzk_help_end(cuzk_lane *lane, cuzk_error *err) CUZK_WARN_UNUSED;

/* A resident that is put on several devices at once. */
typedef struct {
    const unsigned *devices;
    unsigned n;
    cuzk_error *errors; /* out: what became of each: all zero, it is there. One that fails leaves
                           the others unharmed */
    void (*place)(void *ctx, unsigned device); /* whoever works for a device calls it first, as
                                                  what it allocates is to lie near; may be NULL */
    void *ctx;
} cuzk_devices_load;

typedef struct cuzk_work {
    void *user; /* first argument of every function */

    /** Decode and check a payload in full; what passes can be proved. payload: borrowed for the
     *  call. It may take 2·n_bytes and 1 MiB of memory, the task included: that is reserved
     *  meanwhile. Errors: whatever is wrong with the payload, in words for its sender. */
    cuzk_status (*decode)(void *user, cuzk_task **task, cuzk_task_info *info, const void *payload,
                          size_t n_bytes, cuzk_error *err);
    void (*task_destroy)(void *user, cuzk_task *task);

    /** Size of a resident before it is loaded, in host memory and on a device (may be NULL).
     * Errors: E_NOT_FOUND (no such circuit; the text lists those there are), E_FILE (its file is
     * not there). Cheap. */
    cuzk_status (*resident_size)(void *user, const char *circuit, uint64_t *bytes,
                                 uint64_t *device_bytes, cuzk_error *err);

    /** Load a circuit's key. report: called with 0 … 1; false cancels. bytes: what it takes now.
     *  warm: also pay all that a first proof would. */
    cuzk_status (*resident_load)(void *user, cuzk_resident **out, uint64_t *bytes,
                                 const char *circuit, bool warm, cuzk_error *err);
    void (*resident_close)(void *user, cuzk_resident *resident);

    /** Put the resident on a device / take it off. NULL where a device has no memory of its own. */
    cuzk_status (*device_load)(void *user, cuzk_resident *resident, unsigned device,
                               cuzk_error *err);
    void (*device_evict)(void *user, cuzk_resident *resident, unsigned device);
    /** The same on several devices at once, so that the key is read once. NULL: they are loaded one
     *  after the other. */
    void (*devices_load)(void *user, cuzk_resident *resident, const cuzk_devices_load *load);

    /** Make the witness of call->unit. */
    cuzk_status (*witness)(void *user, cuzk_unit_witness **out, const cuzk_task *task,
                           const cuzk_resident *resident, const cuzk_work_call *call,
                           cuzk_error *err);
    void (*witness_destroy)(void *user, cuzk_unit_witness *witness); /* wiped */

    /** The device's part. Takes and gives call->lane. The witness may be used again: a unit whose
     *  proof does not verify is proved once more. Errors: E_DEVICE (the device failed: the unit is
     *  tried on another one or again), E_DEVICE_LOST (it is begun anew, and the unit goes back to
     *  the queue), others fail the job. */
    cuzk_status (*prove_start)(void *user, cuzk_pending **out, const cuzk_task *task,
                               const cuzk_resident *resident, const cuzk_unit_witness *witness,
                               const cuzk_work_call *call, cuzk_error *err);

    /** The host's part: blinding with fresh values and assembly. proof: at most
     *  CUZK_UNIT_PROOF_MAX bytes. Consumes pending, also on failure. */
    cuzk_status (*prove_finish)(void *user, uint8_t *proof, size_t *proof_bytes,
                                cuzk_pending *pending, const cuzk_task *task,
                                const cuzk_resident *resident, const cuzk_work_call *call,
                                cuzk_error *err);
    void (*pending_destroy)(void *user, cuzk_pending *pending); /* instead of prove_finish */

    /** CUZK_OK exactly when the proof is valid for the unit's public values, which are taken from
     *  the task. E_INVALID_PROOF otherwise. */
    cuzk_status (*verify)(void *user, const cuzk_task *task, const cuzk_resident *resident,
                          const uint8_t *proof, size_t proof_bytes, const cuzk_work_call *call,
                          cuzk_error *err);

    /** The job's answer from its units' proofs, unit 0 first, each of CUZK_UNIT_PROOF_MAX bytes of
     *  which proof_bytes[k] are used. answer: returned; free. */
    cuzk_status (*assemble)(void *user, uint8_t **answer, size_t *answer_bytes,
                            const cuzk_task *task, const uint8_t *proofs, const size_t *proof_bytes,
                            cuzk_error *err);
} cuzk_work;

#endif
