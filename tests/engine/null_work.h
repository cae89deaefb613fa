/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Work that proves nothing, for tests of the engine and of the daemon: as fast as memory, with
 * sizes, delays and failures as the payload says.
 *
 * A payload is text: words NAME=NUMBER and NAME=TEXT between blanks or newlines; after a NUL
 * anything may follow, which counts for the digest only.
 *
 *     units=N                 default 1
 *     circuit=NAME            default "null-a"; those there are: null_work.circuits
 *     task= witness= host= device= BYTES, as declared; fill=1: really taken and written to
 *     decode_us= witness_us= prove_us= lane_us= finish_us= verify_us=   how long each sleeps, in
 *                             slices, watching for a cancellation
 *     fail=STAGE[@UNIT][:STATUS]  decode, witness, prove, help, finish, verify, assemble; default
 * unit: all; default status: E_INTERNAL (verify: E_INVALID_PROOF) regions=N               kernel
 * regions, of lane_us each; default 1 help=1                  another device makes a part of each
 * unit, if the engine has one; what fails there is made without it unchecked=1
 *
 * A unit's proof is 192 bytes that follow from digest and unit, so that a test can tell whose they
 * are: null_work_proof. The answer is all proofs, one after another. */
#ifndef CUZK_TESTS_ENGINE_NULL_WORK_H
#define CUZK_TESTS_ENGINE_NULL_WORK_H

#include "engine/work.h"

enum { NULL_PROOF_BYTES = 192 };

typedef enum {
    NULL_DECODE,
    NULL_LOAD,
    NULL_WITNESS,
    NULL_PROVE, /* prove_start, before the lane */
    NULL_LANE,  /* inside the lane */
    NULL_FINISH,
    NULL_VERIFY,
    NULL_ASSEMBLE,
    NULL_EVICT, /* before it is off the device */
    NULL_HELP,  /* on the device that helps with a unit, before its lane */
    NULL_STAGES
} null_stage;

typedef struct {
    const char *name;
    uint64_t bytes, device_bytes; /* of the resident */
    unsigned load_us, put_us;     /* how long loading it, and putting it on a device, sleeps */
    cuzk_status load_status;      /* not CUZK_OK: loading fails with it */
} null_circuit;

typedef struct {
    const null_circuit *circuits; /* borrowed */
    unsigned n_circuits;
    /* Called when a stage begins; may block: what it returns is the stage's outcome. May be NULL.
     * unit: -1 where there is none. text: the payload's, up to its NUL; a circuit's for
     * LOAD and EVICT, whose outcome nobody asks for. */
    cuzk_status (*hook)(void *user, null_stage stage, const char *text, int unit,
                        const cuzk_work_call *call);
    void *hook_user;
    unsigned refusing; /* bits of devices on which nothing can be put */
} null_options;

/* Bytes and things that are alive, for tests of what is given back. */
typedef struct {
    long tasks, residents, on_device, witnesses, pending;
    long group_loads; /* since it was made: calls of devices_load */
    long n_puts;      /* and times that a resident was put on a device */
    long n_helped;    /* and parts that another device made */
    long bytes;       /* declared ones of tasks, residents, witnesses and pending */
    long bytes_max;
    long device_bytes_max; /* of residents that were on one device at once */
} null_alive;

typedef struct null_work null_work;

/** options: copied, what it points to is borrowed. Returned: null_work_destroy. NULL: no memory. */
null_work *null_work_create(const null_options *options);
void null_work_destroy(null_work *work);

/** The table of functions, alive as long as the work. */
const cuzk_work *null_work_table(const null_work *work);

/** What is alive now. */
null_alive null_work_alive(const null_work *work);

/** The proof of a unit of the job of this payload. */
void null_work_proof(uint8_t proof[NULL_PROOF_BYTES], const void *payload, size_t n_bytes,
                     unsigned unit);

#endif
