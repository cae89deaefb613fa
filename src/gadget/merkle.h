/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Merkle paths as circuits (spec/gadgets.md sections 7 to 9). Trees are binary with SHA-256, or of
 * any mixture of arities 2, 4 and 8 with Poseidon. The system's curve is bls12_381. */
#ifndef CUZK_GADGET_MERKLE_H
#define CUZK_GADGET_MERKLE_H

#include "gadget/num.h"

enum {
    CUZK_MERKLE_LEVELS = 64,
    CUZK_MERKLE_LANES = 16,   /* paths at once: what Poseidon computes at a time */
    CUZK_MERKLE_SIBLINGS = 80 /* most siblings of a path: 9 levels of arity 8, one of 8, one of 2 */
};

typedef enum { CUZK_MERKLE_SHA256, CUZK_MERKLE_POSEIDON } cuzk_merkle_hash;

/* Levels of a tree, leaf to root. */
typedef struct {
    cuzk_merkle_hash hash;
    uint8_t n_levels;
    uint8_t arity[CUZK_MERKLE_LEVELS]; /* 2 with SHA-256 */
} cuzk_merkle_shape;

/* The way from a leaf to the root. */
typedef struct {
    uint64_t index;          /* of the leaf: the lowest bits choose at the lowest level */
    const uint8_t *siblings; /* arity - 1 canonical values of 32 bytes per level, leaf to root */
} cuzk_merkle_path;

/** Bits of a leaf's index; siblings of a path. */
unsigned cuzk_merkle_index_bits(const cuzk_merkle_shape *shape);
unsigned cuzk_merkle_n_siblings(const cuzk_merkle_shape *shape);

/** Aux variables of cuzk_merkle_open in a Poseidon tree. */
uint32_t cuzk_merkle_open_n_aux(const cuzk_merkle_shape *shape);

/** Openings whose index is a public input: index bits and siblings become variables, the index an
 *  input, and the root must be what the path leads to.
 *
 *  lanes, leaf, path, root: n ≤ CUZK_MERKLE_LANES of each; shape mode: n = 1, path not read. */
void cuzk_merkle_open(cuzk_cs *lanes, size_t n, const cuzk_merkle_shape *shape,
                      const cuzk_num *leaf, const cuzk_merkle_path *path, const cuzk_num *root);

/* An opening at a place that the circuit has computed. */
typedef struct {
    const cuzk_bit *bits;     /* index bits, lowest first */
    const cuzk_num *siblings; /* variables, leaf to root */
    cuzk_num leaf, root;
} cuzk_merkle_place;

/** Aux variables of cuzk_merkle_check in a Poseidon tree. */
uint32_t cuzk_merkle_check_n_aux(const cuzk_merkle_shape *shape);

/** Openings whose index bits and siblings are variables already; no public input.
 *
 *  lanes, places: n ≤ CUZK_MERKLE_LANES of each; shape mode: n = 1. */
void cuzk_merkle_check(cuzk_cs *lanes, size_t n, const cuzk_merkle_shape *shape,
                       const cuzk_merkle_place *places);

/** The root of a binary SHA-256 tree over 2^lg_n leaves, node by node and row by row.
 *  scratch: 2^lg_n / 2 entries (not used for one leaf). */
cuzk_num cuzk_merkle_root_sha256(cuzk_cs *cs, const cuzk_num *leaves, unsigned lg_n,
                                 cuzk_num *scratch);

#endif
