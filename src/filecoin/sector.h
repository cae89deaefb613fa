/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sector sizes of Filecoin and what each proof makes of them: trees, layers, partitions,
 * challenges.
 *
 * A sector is an array of nodes of 32 bytes. Tree D over the data is binary SHA-256; trees C and R
 * are Poseidon trees of arity 8 at the base, with one level of arity `sub_arity` and one of
 * `top_arity` above where those are not 0. Registered sizes exist on chain; the others are shapes
 * that the reference's tests use, without parameter files.
 *
 * Numbers: the tables of the reference's configuration (proofs 19.1). */
#ifndef CUZK_FILECOIN_SECTOR_H
#define CUZK_FILECOIN_SECTOR_H

#include "base/status.h"

#include <stdint.h>

enum {
    CUZK_NODE_BYTES = 32,
    CUZK_DRG_PARENTS = 6,
    CUZK_EXP_PARENTS = 8,
    CUZK_PARENTS = CUZK_DRG_PARENTS + CUZK_EXP_PARENTS,
    CUZK_LABEL_PARENTS = 37, /* hashed per label, the 6 or 14 parents cycled */
    CUZK_POREP_LAYERS_MAX = 11,
    CUZK_POSEIDON_BASE_ARITY = 8,
    CUZK_WINNING_CHALLENGES = 66,
    CUZK_WINDOW_CHALLENGES = 10, /* per sector */
    CUZK_UPDATE_H_COUNT = 6
};

typedef struct {
    uint64_t bytes;
    const char *name;    /* "32GiB" */
    const char *id;      /* "32g": part of circuit ids */
    uint8_t lg_nodes;    /* log2(bytes / 32): also the depth of tree D */
    uint8_t base_levels; /* levels of arity 8 in trees C and R */
    uint8_t sub_arity;   /* 0: no such level */
    uint8_t top_arity;   /* 0: no such level; only with sub_arity */
    bool registered;     /* exists on chain */
    bool update_only;    /* only the update circuit is defined for it */
} cuzk_sector;

/** Number of sizes, and the i-th one, ascending; NULL for i beyond. */
unsigned cuzk_sector_count(void);
const cuzk_sector *cuzk_sector_at(unsigned i);

/** The size of that many bytes; NULL when there is none. */
const cuzk_sector *cuzk_sector_by_bytes(uint64_t bytes);

/** The size by name: "32GiB", "32g" or the number of bytes in decimal, letters in any case. NULL
 *  when there is none. n_chars: length of name, which need not end there. */
const cuzk_sector *cuzk_sector_by_name(const char *name, size_t n_chars);

/** Names of all sizes with a comma between them, for messages: registered ones first. Static. */
const char *cuzk_sector_names(void);

static inline uint64_t cuzk_sector_nodes(const cuzk_sector *sector)
{
    return (uint64_t)1 << sector->lg_nodes;
}

/* How one proof of replication is cut into circuits. */
typedef struct {
    unsigned layers;
    unsigned partitions;
    unsigned challenges; /* per partition */
    unsigned min_total;  /* challenges that the verifier demands in all */
} cuzk_porep_shape;

/** Shape of a PoRep of that size. non_interactive has many more partitions, the same circuit. */
cuzk_porep_shape cuzk_porep_shape_of(const cuzk_sector *sector, bool non_interactive);

/** Sectors that one Window PoSt partition holds: fewer are padded, more are an error. */
unsigned cuzk_window_sectors(const cuzk_sector *sector);

/* How one update proof is cut into circuits, and the widths of its challenges. */
typedef struct {
    unsigned partitions;
    unsigned partition_bits; /* log2(partitions) */
    unsigned challenges;     /* per partition */
    unsigned apex_bits;      /* a partition has 2^apex_bits apex leaves */
    unsigned challenge_bits; /* log2(nodes) */
    unsigned random_bits;    /* challenge_bits - partition_bits: drawn per challenge */
    unsigned per_digest;     /* challenges that one digest gives */
    unsigned digests;        /* per partition */
    unsigned hs[CUZK_UPDATE_H_COUNT];
    unsigned h;        /* the value used on chain */
    unsigned h_select; /* 2^(place of the first entry of hs equal to h) */
} cuzk_update_shape;

/** Shape of an update proof of that size. */
cuzk_update_shape cuzk_update_shape_of(const cuzk_sector *sector);

#endif
