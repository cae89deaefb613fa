/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A prover's large sums on a CUDA device: from the typed witness, with the key's points, the rows
 * of its circuit and everything else in memory reserved once. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_PROVER_H
#define CUZK_BACKEND_CUDA_DEVICE_PROVER_H

#include "backend/cuda/card_plan.h"
#include "backend/cuda/device.h"
#include "backend/cuda/device_arena.h"
#include "backend/cuda/device_times.h"
#include "backend/cuda/key_pass.h"
#include "backend/cuda/key_stream.h"
#include "groth16/prove_device.h"
#include "groth16/prover.h"
#include "groth16/proving.h"

typedef struct cuzk_device_prover cuzk_device_prover;

/* How a key and its circuit came to a device. */
typedef enum {
    CUZK_ARRIVAL_FILE = 0, /* from the host's memory, which is the key's file */
    CUZK_ARRIVAL_PEER = 1, /* from another device */
    CUZK_ARRIVAL_MADE = 2  /* its points were made there */
} cuzk_arrival_way;

typedef struct {
    cuzk_arrival_way way;
    int from;          /* PEER: the other's number */
    uint64_t n_bytes;  /* circuit and points; of a streamed key the circuit */
    uint64_t ns;       /* decoding, images and checks included */
    bool may_give;     /* it is resident, with the sums by which a copy of it is checked */
    char why_not[192]; /* there was a peer, but this was against it; else empty */
    bool is_bad_link;  /* and the same may happen again: the copy failed, or was not the same */
} cuzk_arrival;

typedef struct {
    size_t memory_limit; /* bytes of device memory; 0: what is free */
    uint32_t piece; /* the most scalars of a sum at a time, a multiple of 64; 0: as many as fit */
    cuzk_pinned_pool *pinned; /* for a key's way to the device; NULL: nothing is pinned, which is
                                 slow; borrowed until destroy */
    /* Gets the spans of every proof, on the host's clock, when it ends; NULL: nobody. One call at a
     * time, from the thread that ends the proof. */
    void (*spans)(void *ctx, const cuzk_device_span *spans, size_t n,
                  const cuzk_device_clock_fit *fit);
    void *spans_ctx;
    /* The same prover on another device, where its key is resident: it is copied from there, beside
     * proofs that are made there. Where that cannot be done, or what was copied is not what is
     * there, the key comes from the host as without it. NULL: there is none. Borrowed, as is its
     * device, until peer_done, or the end of the call. */
    const cuzk_device_prover *peer;
    bool (*peer_stays)(void *ctx); /* false: give up copying; asked between pieces; NULL: it does */
    void (*peer_done)(void *ctx);  /* nothing of it is read any more: it is copied, or will not be;
                                      once; NULL: nobody wants to know */
    void *peer_ctx;
    cuzk_key_pass
        *pass;         /* where a resident key is loaded together with other devices; NULL: alone */
    bool *is_expected; /* as in cuzk_key_pass_params */
    bool is_peer; /* others may copy from it: costs reading what was loaded once, on the device */
} cuzk_device_prover_params;

/** Copy a prover's circuit to a device and make what its transforms need; copy its key too, or make
 *  ready to stream it (card_plan.h). The points of a prover that decodes late are decoded on the
 *  device, and checked: all when a resident key is copied, with each pass of a streamed one. Those
 *  of a prover with a source are made there; such a key is never streamed.
 *
 *  device, prover, the prover's shape and key: borrowed until destroy; the device's context is made
 *  current in every thread that calls. params: NULL for none. Memory: what
 *  cuzk_device_prover_memory tells. Returned: free with cuzk_device_prover_destroy. Errors:
 * E_MEMORY (with the bytes that are needed for what, and those that are there), E_UNSUPPORTED,
 * E_FORMAT (a bad coefficient or point of the key), E_DEVICE. */
cuzk_status cuzk_device_prover_create(cuzk_device_prover **out, const cuzk_cuda_device *device,
                                      const cuzk_prover *prover,
                                      const cuzk_device_prover_params *params,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** What cuzk_prove_params takes; valid until destroy. Any number of threads may prove with it at
 *  once: their kernels take turns, in the order in which they ask; a witness is copied while
 *  another's kernels run. */
const cuzk_prove_device *cuzk_device_prover_get(const cuzk_device_prover *prover);

/** How the key and its proofs use the device. */
const cuzk_card_plan *cuzk_device_prover_plan(const cuzk_device_prover *prover);

/** What was streamed so far, or how a resident key was copied. */
cuzk_stream_stats cuzk_device_prover_stream(const cuzk_device_prover *prover);

/** "file", "peer", "made". */
const char *cuzk_arrival_way_name(cuzk_arrival_way way);

/** How it came there. */
const cuzk_arrival *cuzk_device_prover_arrival(const cuzk_device_prover *prover);

/** The device memory that is reserved, by purpose. */
const cuzk_arena *cuzk_device_prover_memory(const cuzk_device_prover *prover);

/** Milliseconds of each kind (device_times.h) in the proofs since the last call, without those that
 * failed. */
void cuzk_device_prover_times(cuzk_device_prover *prover, float ms[CUZK_TIME_KINDS]);

/** Wipe private values and free. NULL is fine. No proof may be under way. */
void cuzk_device_prover_destroy(cuzk_device_prover *prover);

#endif
