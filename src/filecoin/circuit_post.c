/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In witness mode several slots are made together, so that their openings fill Poseidon's lanes. */
#include "filecoin/circuit_post.h"

#include "filecoin/circuit_part.h"
#include "gadget/poseidon_circuit.h"

enum {
    /* 8 slots of Window have 80 openings and 16 of Winning 16: multiples of the lanes */
    WINDOW_GROUP = 8,
    WINNING_GROUP = 16,
    OPENINGS_MAX = WINDOW_GROUP * CUZK_WINDOW_CHALLENGES
};

/* What one slot takes. */
struct slot {
    const cuzk_post_sector *sector;
    const cuzk_merkle_proof *openings;
};

struct post {
    unsigned slots;    /* of the circuit */
    unsigned openings; /* per slot */
    size_t group;
    cuzk_merkle_shape tree;
    const cuzk_post_vanilla *vanilla; /* witness mode */
};

static struct post post_of(cuzk_proof_kind kind, const cuzk_sector *sector)
{
    bool window = kind == CUZK_PROOF_WINDOW;
    return (struct post){
        .slots = window ? cuzk_window_sectors(sector) : (unsigned)CUZK_WINNING_CHALLENGES,
        .openings = window ? CUZK_WINDOW_CHALLENGES : 1,
        .group = window ? (size_t)WINDOW_GROUP : (size_t)WINNING_GROUP,
        .tree = cuzk_merkle_shape_of(cuzk_tree_poseidon(sector), CUZK_MERKLE_POSEIDON)};
}

/* Openings of all slots of a group, in any lanes. */
struct openings {
    size_t n;
    cuzk_cs lanes[OPENINGS_MAX];
    cuzk_num leaf[OPENINGS_MAX], root[OPENINGS_MAX];
    cuzk_merkle_path path[OPENINGS_MAX];
};

static void make_openings(struct openings *o, const struct post *p)
{
    for (size_t i = 0; i < o->n; i += CUZK_MERKLE_LANES) {
        size_t n = o->n - i < CUZK_MERKLE_LANES ? o->n - i : CUZK_MERKLE_LANES;
        cuzk_merkle_open(o->lanes + i, n, &p->tree, o->leaf + i, o->path + i, o->root + i);
    }
    for (size_t i = 0; i < o->n; i++) {
        cuzk_cs_witness_end(&o->lanes[i]);
    }
    o->n = 0;
}

static void put_openings(struct openings *o, cuzk_cs *cs, const struct post *p,
                         const cuzk_num *root, const cuzk_merkle_proof *proofs)
{
    for (unsigned i = 0; i < p->openings; i++) {
        o->leaf[o->n] = cuzk_cs_alloc_num(cs, proofs[i].leaf.b);
        o->root[o->n] = *root;
        o->path[o->n] = cuzk_merkle_path_of(&proofs[i]);
        o->lanes[o->n++] = cuzk_cs_split(cs, cuzk_merkle_open_n_aux(&p->tree), 1);
        if (cuzk_cs_is_shape(cs)) {
            make_openings(o, p);
        }
    }
}

/* Slots one after the other in shape mode (n = 1), together in witness mode. */
static void make_slots(cuzk_cs *lanes, size_t n, const struct post *p, const struct slot *slots)
{
    cuzk_num comm_r[WINNING_GROUP], comms[2 * WINNING_GROUP] = {{0}}, hash[WINNING_GROUP];
    for (size_t i = 0; i < n; i++) {
        const cuzk_post_sector *s = slots[i].sector;
        comms[2 * i + 1] = cuzk_cs_alloc_num(&lanes[i], s->comm_r_last.b);
        comms[2 * i] = cuzk_cs_alloc_num(&lanes[i], s->comm_c.b);
        comm_r[i] = cuzk_cs_alloc_num(&lanes[i], s->comm_r.b);
        cuzk_cs_inputize(&lanes[i], &comm_r[i]);
    }
    cuzk_poseidon_circuit_lanes(lanes, n, hash, 2, cuzk_poseidon_merkle_tag(2), comms);
    struct openings o = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        cuzk_cs_equal(&lanes[i], &comm_r[i], &hash[i]);
        put_openings(&o, &lanes[i], p, &comms[2 * i + 1], slots[i].openings);
    }
    make_openings(&o, p);
}

cuzk_status cuzk_post_circuit_shape(cuzk_shape **out, cuzk_proof_kind kind,
                                    const cuzk_sector *sector, cuzk_error *err)
{
    static const cuzk_post_sector blank_sector;
    cuzk_merkle_proof blank[CUZK_WINDOW_CHALLENGES] = {{.siblings = cuzk_blank_digests}};
    for (unsigned i = 1; i < CUZK_WINDOW_CHALLENGES; i++) {
        blank[i] = blank[0];
    }
    struct post p = post_of(kind, sector);
    cuzk_cs cs;
    CUZK_TRY(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), err));
    cuzk_shape_begin_copies(cs.builder, p.slots);
    make_slots(&cs, 1, &p, &(struct slot){&blank_sector, blank});
    cuzk_shape_end_copies(cs.builder);
    return cuzk_cs_shape_finish(&cs, out, err);
}

static void write_head(cuzk_cs *cs, void *ctx)
{
    (void)cs; /* a PoSt circuit has slots only */
    (void)ctx;
}

static void write_slots(cuzk_cs *lanes, size_t n, size_t first, const void *ctx)
{
    const struct post *p = ctx;
    const cuzk_post_vanilla *v = p->vanilla;
    struct slot slots[WINNING_GROUP];
    for (size_t i = 0; i < n; i++) {
        size_t at = first + i;
        if (v->proof.kind == CUZK_PROOF_WINNING) {
            slots[i] = (struct slot){&v->sectors[0], &v->sectors[0].openings[at]};
        } else {
            const cuzk_post_sector *s = &v->sectors[at < v->n_sectors ? at : v->n_sectors - 1];
            slots[i] = (struct slot){s, s->openings};
        }
    }
    make_slots(lanes, n, p, slots);
}

cuzk_status cuzk_post_circuit_witness(cuzk_witness **out, const cuzk_shape *shape,
                                      const cuzk_post_vanilla *vanilla, cuzk_pool *pool,
                                      cuzk_error *err)
{
    struct post p = post_of(vanilla->proof.kind, vanilla->proof.sector);
    p.vanilla = vanilla;
    return cuzk_circuit_witness(out, shape, p.slots, write_head, write_slots, p.group, &p, pool,
                                err);
}
