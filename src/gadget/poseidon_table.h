/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The constants of Poseidon for one arity, and the kernels that use them. Internal to src/gadget.
 *
 * Everything here is derived from the definition (spec: gadgets.md 6.2 to 6.6): round constants
 * from the Grain generator, a Cauchy matrix, the constants moved through the matrix so that a
 * partial round has one ("compressed"), and the matrices of the partial rounds factored into sparse
 * ones. */
#ifndef CUZK_GADGET_POSEIDON_TABLE_H
#define CUZK_GADGET_POSEIDON_TABLE_H

#include "base/cpu.h"
#include "curve/curve.h"

enum {
    CUZK_POSEIDON_T_MAX = 12, /* state elements: arity + 1 */
    CUZK_POSEIDON_FULL = 8,   /* full rounds, half of them at each end */
    CUZK_POSEIDON_PARTIAL_MAX = 57,
    CUZK_POSEIDON_CRC_MAX = CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_FULL + CUZK_POSEIDON_PARTIAL_MAX,
    CUZK_POSEIDON_ROUNDS_MAX = CUZK_POSEIDON_FULL + CUZK_POSEIDON_PARTIAL_MAX,
    /* Partial rounds whose effect on the elements other than 0 is added up in one sum. */
    CUZK_POSEIDON_BLOCK = 4,
    /* Coefficients of the partial rounds: below t + BLOCK each for element 0, t for the others. */
    CUZK_POSEIDON_BLOCKED_MAX =
        CUZK_POSEIDON_PARTIAL_MAX * (2 * CUZK_POSEIDON_T_MAX + CUZK_POSEIDON_BLOCK)
};

/* An element in the Montgomery form of the eight-lane arithmetic (field/lanes.h): canonical limbs
 * of 52 bits of x·2^260 mod r. */
typedef struct {
    uint64_t l[5];
} cuzk_fr52;

/* Constants of one arity. Elements are in Montgomery form. Matrices act on rows: new[j] = Σ_i
 * old[i]·m[i][j]. Read-only once made. */
typedef struct {
    unsigned arity, t; /* t = arity + 1 */
    unsigned n_partial;
    unsigned n_values; /* variables of one hash in the circuit, the preimage not counted */

    /* t·FULL + n_partial: t before the first S-boxes, then those after the S-boxes, round by round;
     * none after the last round. */
    cuzk_fr crc[CUZK_POSEIDON_CRC_MAX];
    cuzk_fr mds[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX];        /* t × t by rows */
    cuzk_fr pre_sparse[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX]; /* after the 4th full round */
    /* Partial round k: new[0] = Σ_i old[i]·w_hat[k][i], new[j] = old[j] + old[0]·v_rest[k][j-1]. */
    cuzk_fr w_hat[CUZK_POSEIDON_PARTIAL_MAX][CUZK_POSEIDON_T_MAX];
    cuzk_fr v_rest[CUZK_POSEIDON_PARTIAL_MAX][CUZK_POSEIDON_T_MAX - 1];

    /* The partial rounds in blocks of at most BLOCK, as coefficients in the order in which they are
     * used. With s the elements of the state at the start of a block and x_m element 0 after the
     * S-box of its round m: per round m the coefficients of x_m, s[1] … s[t-1], x_0 … x_(m-1) in
     * the next element 0; at the end of the block per element j the coefficients of all x_m, to be
     * added to s[j]. The last block is shorter. */
    unsigned n_blocked;
    cuzk_fr blocked[CUZK_POSEIDON_BLOCKED_MAX];

    /* The same for eight lanes; matrices by columns: the coefficients of one sum are neighbours. */
    cuzk_fr52 crc52[CUZK_POSEIDON_CRC_MAX];
    cuzk_fr52 mds52[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX];
    cuzk_fr52 pre_sparse52[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX];
    cuzk_fr52 blocked52[CUZK_POSEIDON_BLOCKED_MAX];
    /* By columns too, for scalar code. */
    cuzk_fr mds_columns[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX];
    cuzk_fr pre_sparse_columns[CUZK_POSEIDON_T_MAX * CUZK_POSEIDON_T_MAX];
} cuzk_poseidon_table;

/** The constants of arity 2, 4, 8 or 11; NULL for another. Made at the first call for the arity
 *  (about 1 ms), then shared. Thread-safe. */
const cuzk_poseidon_table *cuzk_poseidon_table_get(unsigned arity);

/** The round constants of the definition: (FULL + n_partial)·t elements in Montgomery form, round
 * by round. Source: the Grain generator of the Poseidon paper, as gadgets.md 6.2 states it. */
void cuzk_poseidon_round_constants(cuzk_fr *out, const cuzk_curve *curve, unsigned t,
                                   unsigned n_partial);

/* The permutations of one CPU path. */
typedef struct {
    size_t batch; /* hashes that one call computes */

    /** Hash `batch` preimages. digest[i]: 32 bytes, canonical. preimage[i]: arity values of 32
     *  bytes. Both at any alignment. tag: value of state element 0. */
    void (*hash)(const cuzk_poseidon_table *table, uint64_t tag, void *const *digest,
                 const void *const *preimage);

    /** Write all values of the circuit: values[i]: table->n_values values of 32 bytes. */
    void (*values)(const cuzk_poseidon_table *table, uint64_t tag, void *const *values,
                   const void *const *preimage);
} cuzk_poseidon_kernel;

enum { CUZK_POSEIDON_BATCH_MAX = 16 };

/** The kernel of a path; NULL where it is not built or the processor lacks it. */
const cuzk_poseidon_kernel *cuzk_poseidon_kernel_get(cuzk_cpu_path path);

#endif
