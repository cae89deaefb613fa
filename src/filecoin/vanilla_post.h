/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of Window and Winning PoSt, read from bincode: one file a sector. */
#ifndef CUZK_FILECOIN_VANILLA_POST_H
#define CUZK_FILECOIN_VANILLA_POST_H

#include "filecoin/registered.h"
#include "filecoin/vanilla_merkle.h"

typedef struct {
    uint64_t sector_id;
    cuzk_digest comm_r;
    cuzk_digest comm_c;
    cuzk_digest comm_r_last;
    cuzk_merkle_proof *openings; /* n_openings of the set, in tree R */
} cuzk_post_sector;

typedef struct {
    cuzk_registered_proof proof;
    unsigned n_openings; /* per sector: 66 for Winning, 10 for Window */
    uint32_t n_sectors;  /* in the order given; Window: 1 to cuzk_window_sectors, Winning: 1 */
    cuzk_post_sector *sectors;
    /* private: what the pointers above point into */
    cuzk_merkle_proof *openings;
    cuzk_digest *siblings;
} cuzk_post_vanilla;

/* A piece of input. */
typedef struct {
    const uint8_t *data;
    uint64_t size;
} cuzk_vanilla_span;

/** Read the vanilla proofs of one partition: sectors in the order given, which is kept (duplicates
 *  too), since the circuit's slots are filled in that order.
 *
 *  proof: a Window or Winning proof; it fixes the tree and the number of openings. Bytes behind a
 *  sector's proof are ignored, as the reference does. data: read only during the call. out: clear
 *  with cuzk_post_vanilla_clear; all zero on failure. Memory: at most the input's size and a
 *  constant. Errors: E_ARGUMENT (another kind), E_MISMATCH (no sector, or more than a partition
 *  holds), E_FORMAT, E_TRUNCATED, E_MEMORY; with sector, opening, field and offset. */
cuzk_status cuzk_post_vanilla_read(cuzk_post_vanilla *out, const cuzk_registered_proof *proof,
                                   const cuzk_vanilla_span *sectors, uint64_t n_sectors,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Make room for out->n_sectors sectors of out->n_openings openings, and for n_siblings siblings of
 *  all of them: for those who fill such a proof. On failure clear it. Errors: E_MEMORY. */
cuzk_status cuzk_post_vanilla_allocate(cuzk_post_vanilla *out, uint64_t n_siblings,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_post_vanilla_clear(cuzk_post_vanilla *vanilla);

#endif
