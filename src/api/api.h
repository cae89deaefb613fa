/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the sources of the C library share: the opaque objects of cuzk.h, and opening of inputs. */
#ifndef CUZK_API_API_H
#define CUZK_API_API_H

#include "base/map_file.h"
#include "base/pool.h"
#include "base/text.h"
#include "cuzk.h"
#include "formats/params.h"
#include "formats/proof.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "groth16/prover.h"
#include "groth16/proving.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "r1cs/shape.h"

struct cuzk_ctx {
    cuzk_pool *pool;
    cuzk_log log; /* may be NULL */
    void *log_user;
};

/* The bytes of an input: mapped, or the caller's. */
typedef struct {
    const uint8_t *data;
    uint64_t size;
    cuzk_map_file file; /* all zero for the caller's bytes */
} cuzk_input;

/* Where a key's proofs are made. */
typedef struct {
    char name[16]; /* "cpu", "cuda:0" */
    bool is_auto;  /* chosen for it */
} cuzk_device_choice;

struct cuzk_pinned_pool; /* backend/cuda/pinned_pool.h */

struct cuzk_key {
    cuzk_input input;
    bool is_params;
    cuzk_zkey zkey;     /* when not is_params */
    cuzk_params params; /* when is_params */
    cuzk_shape *shape;  /* of a .params; NULL for a .zkey */
    cuzk_prover *prover;
    struct cuzk_api_device *device; /* of its large sums; NULL: the CPU */
    cuzk_device_choice choice;
    struct cuzk_pinned_pool *pinned; /* of the device */
    uint32_t n_constraints;
    char *path;      /* for messages; NULL for a key from memory */
    char *r1cs_path; /* of a .zkey: the circuit, for messages; NULL if not given */
    cuzk_bytes r1cs; /* the same in memory */
};

struct cuzk_proof {
    cuzk_proof_points points;
    uint32_t n_public;
    uint8_t *values; /* n_public × 32 bytes, canonical */
    cuzk_prove_stats stats;
};

struct cuzk_vkey {
    cuzk_vk vk; /* owns its ic */
    cuzk_verifier verifier;
};

/* Fail with E_ARGUMENT when a pointer that must not be NULL is. */
#define CUZK_API_NOT_NULL(err, pointer)                                                            \
    CUZK_FAIL_IF((pointer) == NULL, err, CUZK_E_ARGUMENT, "%s: the argument \"%s\" is NULL",       \
                 __func__, #pointer)

/* Copy an options struct of the caller over *out, which holds the defaults: as many bytes as the
 * caller's version of the struct has. out_bytes: size of ours. Fails when the size is not one of
 * ours or an older one. */
cuzk_status cuzk_api_options(void *out, size_t out_bytes, const void *options, const char *what,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/* A device that holds a prover's key. */
typedef struct cuzk_api_device cuzk_api_device;

/** Whether a device's name can be one: NULL, "cpu", "cuda:N", "auto", "auto:N"; E_ARGUMENT
 * otherwise, E_UNSUPPORTED for "cuda:N" in a library without CUDA. */
cuzk_status cuzk_api_device_check(const char *name, cuzk_error *err) CUZK_WARN_UNUSED;

/** The number in "cuda:N"; -1 for NULL and "cpu", -2 for another text. */
int cuzk_api_device_number(const char *name);

/** Add what the device did since the last call to the stats' device stages. NULL: nothing. */
void cuzk_api_device_stats(cuzk_prove_stats *stats, cuzk_api_device *device);

struct cuzk_key_pass; /* backend/cuda/key_pass.h */

/* How a key comes to a device: backend/cuda/device_prover.h. All zero: alone, and not pinned. */
typedef struct {
    uint64_t limit;                  /* the most bytes of the device's memory; 0: what is free */
    struct cuzk_pinned_pool *pinned; /* borrowed until close */
    const cuzk_api_device *peer;     /* has the prover's key and may be copied from; for the call */
    bool (*peer_stays)(void *ctx);
    void (*peer_done)(void *ctx);
    void *peer_ctx;
    struct cuzk_key_pass *pass; /* borrowed for the call */
    bool *is_expected;
    bool is_peer; /* others may copy from it */
} cuzk_api_device_params;

/** Open a device, test it, and copy the prover's key to it or make ready to stream it. name: one
 * that passed the check; for the CPU *out is NULL. prover: borrowed until close. Returned:
 * cuzk_api_device_close. */
cuzk_status cuzk_api_device_open(cuzk_api_device **out, const char *name, const cuzk_prover *prover,
                                 const cuzk_api_device_params *params,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether the cards allow that a device's memory is copied from another's. Names as for open. */
bool cuzk_api_device_can_copy(const char *to, const char *from);

/** A pass over a key for several devices (backend/cuda/key_pass.h); without CUDA *out is NULL, and
 *  the others do nothing with it. Returned: cuzk_api_pass_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_api_pass_create(struct cuzk_key_pass **out, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_api_pass_destroy(struct cuzk_key_pass *pass);
void cuzk_api_pass_expect(struct cuzk_key_pass *pass, unsigned n);
void cuzk_api_pass_forget(struct cuzk_key_pass *pass);

/** A pool of pinned host memory, of at most limit bytes; without CUDA *out is NULL. Returned:
 *  cuzk_api_pinned_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_api_pinned_create(struct cuzk_pinned_pool **out, uint64_t limit,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. Nothing that it gave is left. */
void cuzk_api_pinned_destroy(struct cuzk_pinned_pool *pool);

/* Bytes of pinned memory. */
typedef struct {
    uint64_t limit_bytes, used_bytes, peak_bytes;
} cuzk_api_pinned_use;

/** NULL: all zero. */
cuzk_api_pinned_use cuzk_api_pinned_look(struct cuzk_pinned_pool *pool);

enum { CUZK_DEVICE_PURPOSES = 6 };

/** "key", "circuit", "tables", "staging", "witness", "workspace". */
const char *cuzk_device_purpose_name(unsigned purpose);

/* What a key on a device is about. */
typedef struct {
    uint64_t bytes[CUZK_DEVICE_PURPOSES]; /* of the device's memory */
    bool is_streamed;
    uint64_t copied_bytes, copied_ns;   /* of the key, to the device; resident: once */
    const char *way;                    /* how: "through pinned buffers"; a literal */
    const char *from;                   /* where from: "file", "peer", "made"; a literal */
    int peer;                           /* the card's number, of "peer" */
    bool may_give;                      /* others may copy from it */
    uint64_t arrived_bytes, arrived_ns; /* circuit and key, decoding and checks included */
    uint64_t read_bytes; /* of the key, that were read from the host's memory for it alone */
    const char *why_not; /* why it was not copied from the peer that there was; else "" */
    bool is_bad_link;    /* and trying again would fail again */
} cuzk_api_device_facts;

/** NULL: all zero. */
cuzk_api_device_facts cuzk_api_device_look(const cuzk_api_device *device);

/** Cards that the driver tells of; 0 without a driver, or in a library without CUDA. */
unsigned cuzk_api_device_count(void);

bool cuzk_api_device_is_auto(const char *name);

/** Choose the device of a key: the one that is asked for, or, for "auto", a card for circuits from
 *  so many constraints on that it is faster. proves_once: the process ends with the proof. Says
 * what it chose to the context's log. asked: one that passed the check. */
void cuzk_api_device_choose(cuzk_device_choice *out, const cuzk_ctx *ctx, const char *asked,
                            uint64_t n_constraints, bool proves_once);

/** cuzk_api_device_open with all of its memory, and half of this machine's to be pinned; where
 * "auto" chose a card that cannot be used it is the CPU, with a warning. pinned: returned, *out's;
 * cuzk_api_pinned_destroy after it. Says to the context's log how the key was brought there. */
cuzk_status cuzk_api_device_open_chosen(cuzk_api_device **out, struct cuzk_pinned_pool **pinned,
                                        cuzk_device_choice *choice, const cuzk_ctx *ctx,
                                        const cuzk_prover *prover,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** Begin a device anew after E_DEVICE_LOST: all that this process has on it is gone, and nobody may
 * use it; then test it. free_bytes: of its memory. Errors: E_DEVICE, E_DEVICE_LOST: the driver does
 * not give it back. */
cuzk_status cuzk_api_device_renew(uint64_t *free_bytes, const char *name,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/* A device that multiplies while keys are made. */
typedef struct cuzk_api_multiplier cuzk_api_multiplier;

/** Whether a device's name can be one for that: NULL, "cpu", "cuda:N"; E_ARGUMENT otherwise,
 *  E_UNSUPPORTED for "cuda:N" in a library without CUDA. */
cuzk_status cuzk_api_multiplier_check(const char *name, cuzk_error *err) CUZK_WARN_UNUSED;

/** Open a device and test it; until close its context is current in this thread. name: one that
 *  passed the check; for the CPU *out is NULL. Returned: cuzk_api_multiplier_close. Errors:
 *  E_DEVICE, E_MEMORY. */
cuzk_status cuzk_api_multiplier_open(cuzk_api_multiplier **out, const char *name,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Make its tables for the keys of a shape, once; by the thread that opened it. out: what
 *  cuzk_setup_params takes, of *multiplier; NULL for NULL. Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_api_multiplier_prepare(const cuzk_multiplier **out,
                                        cuzk_api_multiplier *multiplier, const cuzk_shape *shape,
                                        cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. By the thread that opened it. */
void cuzk_api_multiplier_close(cuzk_api_multiplier *multiplier);

/* A key in numbers, before it is at hand. */
typedef struct {
    const cuzk_curve *curve;
    unsigned lg_n;               /* of the domain */
    uint32_t n_vars, n_field;    /* variables; those that are no bits */
    uint64_t n_h, n_c, n_a, n_b; /* points; n_b in either group */
    uint64_t rows_bytes;         /* of the circuit on a device, at most */
} cuzk_key_numbers;

/** What a device does with such a key, with two workers. Pure. In a library without CUDA all zero.
 */
cuzk_device_plan cuzk_api_device_plan(const cuzk_key_numbers *numbers, uint64_t free_bytes);

struct cuzk_circuit_counts; /* filecoin/circuit_sizes.h */

/** Of a Filecoin circuit. Pure. */
cuzk_key_numbers cuzk_key_numbers_filecoin(const struct cuzk_circuit_counts *counts);

/** Of a circom key whose rows take n_rows_bytes in its file or n_terms terms. Pure. */
cuzk_key_numbers cuzk_key_numbers_circom(const cuzk_curve *curve, unsigned lg_n, uint32_t n_vars,
                                         uint64_t n_terms);

/** What cuzk_prove_params takes; NULL for NULL. */
const struct cuzk_prove_device *cuzk_api_device_get(const cuzk_api_device *device);

/** NULL is fine. */
void cuzk_api_device_close(cuzk_api_device *device);

/** Pass a line to the log callback, if there is one. */
void cuzk_api_log(const cuzk_ctx *ctx, cuzk_log_level level, const char *fmt, ...)
    CUZK_PRINTF(3, 4);

/** Map a file / take the caller's bytes. what: "key", "witness" … for messages about a NULL.
 *  Returned: cuzk_input_close. */
cuzk_status cuzk_input_open_file(cuzk_input *out, const char *path,
                                 cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_input_open(cuzk_input *out, const void *data, size_t n_bytes,
                            cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_input_close(cuzk_input *input);

/** Compile a .r1cs to a shape. Returned: cuzk_shape_destroy. */
cuzk_status cuzk_api_shape(cuzk_shape **out, const cuzk_input *r1cs,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Read, check and classify a witness for a circuit of the given curve and counts. n_inputs: ONE
 *  included. Returned: cuzk_witness_destroy. */
cuzk_status cuzk_api_witness(cuzk_witness **out, const cuzk_ctx *ctx, const cuzk_input *input,
                             const cuzk_curve *curve, uint32_t n_vars, uint32_t n_inputs,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Refuse a test key that was not asked for. what: "key", "verifying key". */
cuzk_status cuzk_api_test_key(bool is_test_key, bool allow, const char *what,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** A copy of a verifying key that owns its points. Returned: cuzk_vk_clear. */
cuzk_status cuzk_api_copy_vk(cuzk_vk *out, const cuzk_vk *vk, cuzk_error *err) CUZK_WARN_UNUSED;

/** Proof `bad` of a batch was found invalid while it was read, as err tells; those in front of it
 *  were read only. *first: the first of them that is invalid, or `bad`. Returns E_INVALID_PROOF,
 * err telling about that one; or what kept them from being checked. */
cuzk_status cuzk_api_first_invalid(size_t *first, const cuzk_verifier *verifier,
                                   const cuzk_batch_item *batch, size_t bad, cuzk_pool *pool,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Make the keys of a shape that have a path in the options, and write them: all or none. trapdoor:
 *  NULL for fresh values. mark_as_test: the keys carry the mark of formats/test_key.h; always with
 *  a trapdoor. multiplier: of o->device, open and nothing more. Errors: as cuzk_setup_file. */
cuzk_status cuzk_api_make_keys(const cuzk_ctx *ctx, const cuzk_shape *shape,
                               const cuzk_setup_options *o, const cuzk_trapdoor *trapdoor,
                               bool mark_as_test, cuzk_api_multiplier *multiplier,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a trapdoor from JSON: {"tau": "decimal", "alpha": …, "beta": …, "gamma": …, "delta": …}.
 * The caller wipes it. Errors: E_FORMAT, E_TRUNCATED. */
cuzk_status cuzk_api_read_trapdoor(cuzk_trapdoor *out, const cuzk_curve *curve, const void *data,
                                   size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/** The reporter that calls a progress callback of the caller. */
cuzk_reporter cuzk_api_reporter(cuzk_progress progress, void *user);

#endif
