/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a card does with a key, decided from numbers alone: whether its points stay on the card, are
 * streamed through it, or do not fit; and where everything lies in the arena.
 *
 * Resident: all points on the card. Streamed: the card holds two places for bases, which are filled
 * in turn from pinned host memory while the kernels work on the other; one pass over the key serves
 * as many units as the card has room for. What is tried, in this order, the first that fits:
 *
 *     points     table of factors           slots            sums in pieces of
 *     resident   whole                      as wanted … 1    all … 2^22 scalars
 *     resident   short, 2^-1 … 2^-8 of it   1                all … 2^22
 *     streamed   whole, then short          as wanted … 1    2^24 … 2^22
 *     resident   whole, then short          1                2^21 … 2^16
 *     streamed   whole, then short          1                2^21 … 2^16
 *
 * Where a small circuit's sums fit with a place for each, 8 GiB in all at most, they have that and
 * run side by side: alone they are bound by latency, not by the chip.
 *
 * With each piece scalars are halved if that fits, which takes room for images of the bases and for
 * twice as many entries of a window. Then the windows that are sorted and added up at once are as
 * many as make 2^26 … 2^23 entries, the most that fit. A piece repeats the reduction of buckets: at
 * 2^22 that is a sixth. */
#ifndef CUZK_BACKEND_CUDA_CARD_PLAN_H
#define CUZK_BACKEND_CUDA_CARD_PLAN_H

#include "backend/cuda/device_arena.h"
#include "backend/cuda/point_summer.h"
#include "curve/curve.h"

enum {
    CUZK_CARD_QUERIES_MAX = 8,
    CUZK_CARD_SLOTS_MAX = 4,
    CUZK_CARD_COUNT_BYTES = 256,
    CUZK_CARD_SLOTS = 2 /* wanted: one witness arrives while the other's kernels run */
};

/* A key in numbers. */
typedef struct {
    const cuzk_curve *curve;
    unsigned lg_n;            /* of the domain */
    uint32_t n_vars, n_field; /* variables; the most field values of a witness */
    struct {
        cuzk_group_id group;
        uint64_t n;                   /* points */
    } queries[CUZK_CARD_QUERIES_MAX]; /* H first */
    unsigned n_queries;
    uint64_t circuit_bytes; /* rows, and which variables have bases */
} cuzk_card_need;

typedef struct {
    uint64_t memory; /* bytes of the card that may be taken */
    unsigned slots;  /* witnesses on the card at once, wanted: 1 … CUZK_CARD_SLOTS_MAX */
    uint32_t piece;  /* the most scalars of a sum at a time, a multiple of 64; 0: as many as fit */
    bool is_resident_only; /* the key cannot be streamed */
} cuzk_card_limits;

typedef enum {
    CUZK_CARD_RESIDENT = 0,
    CUZK_CARD_STREAMED = 1,
    CUZK_CARD_REFUSED = 2 /* the rest of the plan is of the smallest way */
} cuzk_card_mode;

typedef struct {
    cuzk_card_mode mode;
    unsigned lg_factors;  /* of the table (transformer.h) */
    unsigned n_slots;     /* witnesses; streamed: also the units that one pass serves */
    uint32_t piece;       /* scalars, and bits, of a sum at a time: a multiple of 64 */
    uint32_t entries;     /* scalars times windows of a sum at a time, or one window */
    uint64_t stage_bytes; /* streamed: of each of the two places of bases */
    bool is_apart;        /* the sums of a proof have places of their own and run side by side */
    bool is_halved;       /* scalars may be halved (point_summer.h); resident: behind the bases of H
                             are their images */
    cuzk_arena arena;     /* bytes by purpose, and in all; nothing is reserved */
} cuzk_card_plan;

/* Offsets in the arena. */
typedef struct {
    size_t queries[CUZK_CARD_QUERIES_MAX]; /* resident */
    size_t stage[2];                       /* streamed */
    size_t worst; /* a word for each query, of decoding (point_decoder.h) */
    size_t factors;
    struct {
        size_t is_field, bits, rank, field; /* of its witness */
        size_t a;                           /* A·w, then the scalars of H */
    } slots[CUZK_CARD_SLOTS_MAX];
    size_t b, c;                       /* while h is made … */
    size_t h_sums;                     /* … in the same place, the sum over H … */
    size_t index, which, select, sums; /* … and in the same place, the other sums */
    struct {
        size_t index, which, select, sums; /* the same of each query, apart or not; not of H */
    } of[CUZK_CARD_QUERIES_MAX];
    size_t counts; /* of what is selected, CUZK_CARD_COUNT_BYTES */
} cuzk_card_places;

/** Decide. Pure. */
cuzk_card_plan cuzk_card_decide(const cuzk_card_need *need, const cuzk_card_limits *limits);

/** E_MEMORY for a refused plan: the bytes of each purpose that the smallest way takes, and the
 *  limit. */
cuzk_status cuzk_card_refuse(const cuzk_card_plan *plan, const cuzk_card_need *need,
                             const cuzk_card_limits *limits, cuzk_error *err) CUZK_WARN_UNUSED;

/** Plan the places of a decided plan behind what the arena has of purpose circuit; where that is
 *  need->circuit_bytes, the arena then equals the plan's. Pure. */
void cuzk_card_place(cuzk_card_places *at, cuzk_arena *arena, const cuzk_card_plan *plan,
                     const cuzk_card_need *need);

/** The windows_together (point_summer.h) of a sum of n scalars; 0: its own choice. Pure. */
unsigned cuzk_card_windows(const cuzk_card_plan *plan, uint32_t n);

/** Whether sums halve scalars. Pure. */
cuzk_halves cuzk_card_halves(const cuzk_card_plan *plan);

/** Bytes from the bases of H to their images; 0: there are none, which is so where the key is
 *  streamed. Pure. */
size_t cuzk_card_images(const cuzk_card_plan *plan, const cuzk_card_need *need);

/** "resident", "streamed" or "refused". */
const char *cuzk_card_mode_name(cuzk_card_mode mode);

/** Bytes of all points. Pure. */
uint64_t cuzk_card_key_bytes(const cuzk_card_need *need);

/** Points of query `query` that a place holds. Pure. */
uint64_t cuzk_card_stage_points(const cuzk_card_plan *plan, const cuzk_card_need *need,
                                unsigned query);

#endif
