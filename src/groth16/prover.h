/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The Groth16 prover on the CPU.
 *
 * With w the witness, r and s the blinding:
 *     A = alpha + Σ w_v·A_v + r·delta
 *     B = beta + Σ w_v·B_v + s·delta                       (in G2, and its twin B1 in G1)
 *     C = Σ over private v of w_v·C_v + Σ h_i·H_i + s·A + r·B1 - r·s·delta
 * where the h_i are the quotient's values or coefficients, as the kind of key wants them. Rows a, b
 * of the circuit are evaluated from the key's own coefficients (circom) or from the shape
 * (bellperson). Every proof is verified before it is returned, unless that is switched off by name.
 */
#ifndef CUZK_GROTH16_PROVER_H
#define CUZK_GROTH16_PROVER_H

#include "base/pool.h"
#include "base/progress.h"
#include "formats/params.h"
#include "formats/proof.h"
#include "formats/zkey.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/* A key made ready for proving. Only read by cuzk_prover_prove, so any number of threads may prove
 * with one prover at once; a pool that they share lets their loops take turns. */
typedef struct cuzk_prover cuzk_prover;

struct cuzk_verifier; /* groth16/verify.h */

typedef struct {
    /* The key's bytes are a private mapping of a file (base/map_file.h): its pages are given back
     * to the system after each use and read again from the page cache when they are needed again.
     * For a process that proves once. Never set it for bytes in ordinary memory. */
    bool drop_mapped_pages;

    /* Of a bellperson key, decode points only to check them; each proof decodes them once more, one
     * query at a time, so that memory holds the largest query and not all of them. For a process
     * that makes few proofs, or makes them with a device, which decodes points itself.
     * cuzk_prover_check_key refuses such a prover: E_ARGUMENT. */
    bool decode_late;

    /* With decode_late: points are not looked at here, since all proofs are made with a device,
     * which decodes and checks them for itself. */
    bool device_decodes;

    /* Of a bellperson key in a private mapping of a file, give its pages back as soon as they are
     * decoded: memory never holds both forms. For a process that proves often; the key's bytes are
     * not needed after create. */
    bool drop_decoded_pages;
} cuzk_prover_params;

/** Make a prover of a circom key.
 *
 *  key: copied; the bytes that it views are borrowed until destroy. shape (may be NULL): the same
 *  circuit from its .r1cs, borrowed until destroy; only used to name the broken constraint when a
 *  proof does not verify. Returned: free with cuzk_prover_destroy.
 *  Every point is read once, to see that its coordinates are below p; points off the curve show
 *  when a proof is checked, or with cuzk_prover_check_key.
 *  Errors: E_FORMAT (a coordinate that is not below p: section and index), E_MEMORY, E_MISMATCH
 *  (shape of another circuit). Threads: the pool's.
 *  Memory: two bits a variable and the roots of unity. */
cuzk_status cuzk_prover_create_zkey(cuzk_prover **out, const cuzk_zkey *key,
                                    const cuzk_shape *shape, const cuzk_prover_params *params,
                                    cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Make a prover of a bellperson key. All points are decoded into memory form (as many bytes as the
 *  file has), since they are stored big-endian.
 *
 *  shape: the key's circuit, borrowed until destroy; so are the key's bytes with decode_late,
 *  without it they are not needed after the call.
 *  Errors: E_FORMAT (a point off the curve), E_MISMATCH (the key has other counts than the shape
 *  gives it), E_MEMORY. */
cuzk_status cuzk_prover_create_params(cuzk_prover **out, const cuzk_params *key,
                                      const cuzk_shape *shape, const cuzk_prover_params *params,
                                      cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/* Where the points of a key are made that no memory of the host and no file holds. */
typedef struct {
    /** Write all n points of a query, packed (curve/curve.h), to this address of the device whose
     *  context is current, and wait until they are there. query: 0 H, then C, A, B1, B2, as in a
     *  .params; called once for each, in this order, whenever a device takes the key; for
     *  one device at a time. */
    cuzk_status (*put)(void *ctx, unsigned query, uint64_t device_address, uint64_t n,
                       cuzk_error *err);
    void *ctx;
    uint64_t device_bytes; /* of the device's memory that put takes beside, from H to B2 */
} cuzk_point_source;

/** Make a prover of a bellperson key whose points are made on each device that takes it: its proofs
 *  can be made with resident keys on devices only. Without one cuzk_proving_begin refuses it.
 *
 *  shape: the key's circuit, borrowed until destroy, as are vk, the key's verifying key, and
 *  source's ctx; source itself is copied. Errors: E_MISMATCH (vk of another circuit), E_MEMORY. */
cuzk_status cuzk_prover_create_made(cuzk_prover **out, const cuzk_shape *shape, const cuzk_vk *vk,
                                    const cuzk_point_source *source,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Free a prover. NULL is fine. No proof may be under way. */
void cuzk_prover_destroy(cuzk_prover *prover);

/** The key's curve, its number of variables and inputs (ONE included), its verifying key. */
const cuzk_curve *cuzk_prover_curve(const cuzk_prover *prover);
uint32_t cuzk_prover_n_vars(const cuzk_prover *prover);
uint32_t cuzk_prover_n_inputs(const cuzk_prover *prover);
const cuzk_vk *cuzk_prover_vk(const cuzk_prover *prover);

/** The verifier of the key, with which a proof is verified against public values from elsewhere. */
const struct cuzk_verifier *cuzk_prover_verifier(const cuzk_prover *prover);

/** Bytes that a prover of a bellperson key holds beside the shape, or one of a circom key beside
 *  the key's bytes. */
size_t cuzk_prover_bytes(const cuzk_prover *prover);

/** Whether its points are made on devices (cuzk_prover_create_made): by one at a time. */
bool cuzk_prover_is_made(const cuzk_prover *prover);

struct cuzk_prove_device;

enum { CUZK_PROVE_STAGES_MAX_INTERNAL = 8 };

/* Wall time of the stages of a proof, in the order in which they began. */
typedef struct {
    struct {
        const char *name; /* string literal */
        uint64_t ns;
    } stages[CUZK_PROVE_STAGES_MAX_INTERNAL];
    unsigned n_stages;
    size_t workspace_bytes;
} cuzk_prove_times;

/* Canonical r and s, 32 bytes little-endian each, below the order of the field. */
typedef struct {
    uint8_t r[32], s[32];
} cuzk_blinding;

/* All zero: a fresh blinding, verified, no report. */
typedef struct {
    /* FOR TESTS ONLY. NULL: fresh r and s from the system's generator. A proof with known r, s
     * gives away the witness. */
    const cuzk_blinding *test_blinding;
    bool without_self_check; /* return the proof unverified: it may be invalid; not with a device */
    /* Takes the large sums (groth16/prove_device.h), made for this prover; NULL: this CPU. Its
     * proofs are verified in any case. */
    const struct cuzk_prove_device *device;
    const cuzk_reporter *reporter;
    cuzk_prove_times *times; /* may be NULL; written on success */
} cuzk_prove_params;

/** Prove.
 *
 *  out: written on success only. Allocates its workspace and frees it, wiped of private values.
 *  Errors: E_MISMATCH (curve), E_WITNESS_LENGTH; E_FORMAT (a bad coefficient in the key);
 *  E_UNSATISFIED: the proof did not verify. With a shape the text names the first constraint that
 *  the witness breaks; without one it says that the .r1cs is needed for that; E_INVALID_PROOF: the
 *  proof did not verify though the witness satisfies the shape, or has a point off the curve: the
 *  key is damaged or of another circuit; E_MEMORY, E_CANCELLED, E_INTERNAL (the system's random
 *  generator). */
cuzk_status cuzk_prover_prove(const cuzk_prover *prover, cuzk_proof_points *out,
                              const cuzk_witness *witness, const cuzk_prove_params *params,
                              cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
