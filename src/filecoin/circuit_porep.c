/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A challenge opens 16 paths in Poseidon trees: the columns of its 14 parents and its own column in
 * tree C, its replica node in tree R. In witness mode they are kept back until the labels are known
 * and made together, one lane each. */
#include "filecoin/circuit_porep.h"

#include "filecoin/circuit_label.h"
#include "filecoin/circuit_part.h"
#include "gadget/poseidon_circuit.h"

enum { COLUMNS = CUZK_PARENTS + 1, OPENINGS = COLUMNS + 1, REPLICA = COLUMNS };

_Static_assert((int)OPENINGS <= (int)CUZK_MERKLE_LANES,
               "the openings of a challenge are one batch");

/* What challenges use of the head. */
struct porep {
    unsigned layers;
    cuzk_merkle_shape tree_d, tree_rc;
    cuzk_digest_words replica_id;
    cuzk_num comm_d, comm_r_last, comm_c;
    /* witness mode */
    const cuzk_porep_vanilla *vanilla;
    const cuzk_porep_challenge *challenges; /* of the partition */
};

/* ---- openings ---------------------------------------------------------------------------------
 */

/* The openings of one challenge: columns by number, then the replica node. */
struct openings {
    const struct porep *porep;
    cuzk_cs lanes[OPENINGS];
    cuzk_num rows[COLUMNS * CUZK_POREP_LAYERS_MAX]; /* porep->layers of a column, then the next */
    cuzk_num leaf[OPENINGS], root[OPENINGS];
    cuzk_merkle_path path[OPENINGS];
};

/* Make openings first … first+n-1: columns are hashed, and all paths lead to their roots. */
static void make_openings(struct openings *o, size_t first, size_t n)
{
    const struct porep *p = o->porep;
    size_t n_columns = first + n > COLUMNS ? COLUMNS - first : n;
    if (n_columns > 0) {
        cuzk_poseidon_circuit_lanes(o->lanes + first, n_columns, o->leaf + first, p->layers,
                                    cuzk_poseidon_merkle_tag(p->layers),
                                    o->rows + first * p->layers);
    }
    cuzk_merkle_open(o->lanes + first, n, &p->tree_rc, o->leaf + first, o->path + first,
                     o->root + first);
    for (size_t i = first; i < first + n; i++) {
        cuzk_cs_witness_end(&o->lanes[i]);
    }
}

/* The next n_aux variables of cs are opening i. In shape mode there is nothing to wait for. */
static void put_opening(struct openings *o, size_t i, cuzk_cs *cs, uint32_t n_aux,
                        const cuzk_merkle_proof *proof, const cuzk_num *root)
{
    o->path[i] = cuzk_merkle_path_of(proof);
    o->root[i] = *root;
    o->lanes[i] = cuzk_cs_split(cs, n_aux, 1);
    if (cuzk_cs_is_shape(cs)) {
        make_openings(o, i, 1);
    }
}

static void put_column(struct openings *o, size_t i, cuzk_cs *cs, const cuzk_num *rows,
                       const cuzk_merkle_proof *proof)
{
    const struct porep *p = o->porep;
    for (unsigned l = 0; l < p->layers; l++) {
        o->rows[i * p->layers + l] = rows[l];
    }
    put_opening(o, i, cs, cuzk_poseidon_n_values(p->layers) + cuzk_merkle_open_n_aux(&p->tree_rc),
                proof, &p->comm_c);
}

static void put_replica(struct openings *o, cuzk_cs *cs, const cuzk_num *leaf,
                        const cuzk_merkle_proof *proof)
{
    const struct porep *p = o->porep;
    o->leaf[REPLICA] = *leaf;
    put_opening(o, REPLICA, cs, cuzk_merkle_open_n_aux(&p->tree_rc), proof, &p->comm_r_last);
}

/* ---- one challenge ----------------------------------------------------------------------------
 */

typedef cuzk_num label_column[CUZK_POREP_LAYERS_MAX]; /* layer 1 first */

static void alloc_column(cuzk_cs *cs, label_column out, const cuzk_digest *rows, unsigned layers)
{
    for (unsigned l = 0; l < layers; l++) {
        out[l] = cuzk_cs_alloc_num(cs, rows[l].b);
    }
}

/* The labels of the challenged node. */
static void make_labels(cuzk_cs *cs, const struct porep *p, label_column labels,
                        const label_column *parents, const cuzk_bit node[64])
{
    cuzk_digest_words words[CUZK_PARENTS];
    for (unsigned l = 0; l < p->layers; l++) {
        /* the base graph's parents in this layer, the expander's in the one before */
        unsigned n_parents = l == 0 ? CUZK_DRG_PARENTS : CUZK_PARENTS;
        for (unsigned i = 0; i < n_parents; i++) {
            unsigned row = i < CUZK_DRG_PARENTS ? l : l - 1;
            cuzk_num_to_words(cs, &parents[i][row], words[i].w);
        }
        labels[l] = cuzk_label_circuit(cs, &p->replica_id, l + 1, node, words, n_parents);
    }
}

static void challenge(cuzk_cs *cs, const struct porep *p, const cuzk_porep_challenge *in)
{
    struct openings o = {.porep = p};
    cuzk_num leaf = cuzk_cs_alloc_num(cs, in->d.leaf.b);
    cuzk_merkle_path path_d = cuzk_merkle_path_of(&in->d);
    cuzk_merkle_open(cs, 1, &p->tree_d, &leaf, &path_d, &p->comm_d);

    label_column parents[CUZK_PARENTS], labels;
    for (unsigned i = 0; i < CUZK_PARENTS; i++) {
        alloc_column(cs, parents[i], in->parents[i].rows, p->layers);
        put_column(&o, i, cs, parents[i], &in->parents[i].inclusion);
    }
    cuzk_bit node[64];
    cuzk_alloc_bits(cs, in->node, 64, node);
    cuzk_inputize_bits(cs, node, 64);
    make_labels(cs, p, labels, parents, node);

    cuzk_num replica = cuzk_num_add(cs, &labels[p->layers - 1], &leaf);
    put_replica(&o, cs, &replica, &in->r);
    put_column(&o, COLUMNS - 1, cs, labels, &in->column.inclusion);
    if (!cuzk_cs_is_shape(cs)) {
        make_openings(&o, 0, OPENINGS);
    }
}

/* ---- the partition ----------------------------------------------------------------------------
 */

static void head(cuzk_cs *cs, struct porep *p)
{
    const cuzk_porep_vanilla *v = p->vanilla;
    const cuzk_porep_challenge *first = p->challenges;
    cuzk_num replica_id = cuzk_cs_alloc_num(cs, v->replica_id.b);
    cuzk_cs_inputize(cs, &replica_id);
    cuzk_num_to_words(cs, &replica_id, p->replica_id.w);
    p->comm_d = cuzk_cs_alloc_num(cs, v->comm_d.b);
    cuzk_cs_inputize(cs, &p->comm_d);
    cuzk_num comm_r = cuzk_cs_alloc_num(cs, v->comm_r.b);
    cuzk_cs_inputize(cs, &comm_r);
    p->comm_r_last = cuzk_cs_alloc_num(cs, first->r.root.b);
    p->comm_c = cuzk_cs_alloc_num(cs, first->column.inclusion.root.b);
    cuzk_num hash = cuzk_poseidon_circuit(cs, 2, (const cuzk_num[]){p->comm_c, p->comm_r_last});
    cuzk_cs_equal(cs, &comm_r, &hash);
}

static void init(struct porep *p, const cuzk_sector *sector)
{
    p->layers = cuzk_porep_shape_of(sector, false).layers;
    p->tree_d = cuzk_merkle_shape_of(cuzk_tree_sha256(sector), CUZK_MERKLE_SHA256);
    p->tree_rc = cuzk_merkle_shape_of(cuzk_tree_poseidon(sector), CUZK_MERKLE_POSEIDON);
}

/* Input whose values are all zero, for shape mode. */
static cuzk_porep_challenge blank_challenge(void)
{
    cuzk_merkle_proof proof = {.siblings = cuzk_blank_digests};
    cuzk_porep_column column = {.rows = cuzk_blank_digests, .inclusion = proof};
    cuzk_porep_challenge c = {.d = proof, .r = proof, .column = column};
    for (unsigned i = 0; i < CUZK_PARENTS; i++) {
        c.parents[i] = column;
    }
    return c;
}

cuzk_status cuzk_porep_circuit_shape(cuzk_shape **out, const cuzk_sector *sector, cuzk_error *err)
{
    cuzk_cs cs;
    cuzk_porep_challenge blank = blank_challenge();
    static const cuzk_porep_vanilla blank_vanilla;
    struct porep p = {.vanilla = &blank_vanilla, .challenges = &blank};
    init(&p, sector);
    CUZK_TRY(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), err));
    head(&cs, &p);
    cuzk_shape_begin_copies(cs.builder, cuzk_porep_shape_of(sector, false).challenges);
    challenge(&cs, &p, &blank);
    cuzk_shape_end_copies(cs.builder);
    return cuzk_cs_shape_finish(&cs, out, err);
}

static void write_head(cuzk_cs *cs, void *ctx)
{
    head(cs, ctx);
}

static void write_challenge(cuzk_cs *lanes, size_t n, size_t first, const void *ctx)
{
    const struct porep *p = ctx;
    for (size_t i = 0; i < n; i++) {
        challenge(&lanes[i], p, &p->challenges[first + i]);
    }
}

cuzk_status cuzk_porep_circuit_witness(cuzk_witness **out, const cuzk_shape *shape,
                                       const cuzk_porep_vanilla *vanilla, unsigned partition,
                                       cuzk_pool *pool, cuzk_error *err)
{
    struct porep p = {.vanilla = vanilla,
                      .challenges = cuzk_porep_challenge_at(vanilla, partition, 0)};
    init(&p, vanilla->proof.sector);
    return cuzk_circuit_witness(out, shape, vanilla->shape.challenges, write_head, write_challenge,
                                1, &p, pool, err);
}
