/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bits of all challenges are made in the head, where hashes of comm_r_new are taken apart; the
 * challenges, which use one group of them each, are copies of each other but for that. In witness
 * mode several challenges are made together, so that their paths fill Poseidon's lanes. */
#include "filecoin/circuit_update.h"

#include "base/bytes.h"
#include "filecoin/circuit_part.h"
#include "gadget/poseidon_circuit.h"

enum {
    GROUP = CUZK_MERKLE_LANES / 2, /* challenges made together: two Poseidon paths each */
    APEX_MAX = 128,
    PARTITION_BITS_MAX = 4,
    DIGESTS_MAX = 10,
    CHALLENGES_MAX = 86,
    CHALLENGE_BITS_MAX = 31
};

struct update {
    cuzk_update_shape shape;
    cuzk_merkle_shape tree_r, tree_d_low, tree_d_high; /* below the apex leaves, above its root */
    /* witness mode; blank in shape mode */
    const cuzk_update_statement *statement;
    const cuzk_update_partition *in;
    unsigned partition;
    /* what challenges use of the head */
    cuzk_bit partition_bits[PARTITION_BITS_MAX], h_bits[CUZK_UPDATE_H_COUNT];
    cuzk_num phi, root_r_old, root_r_new, apex[APEX_MAX];
    cuzk_bit digest_bits[DIGESTS_MAX][CUZK_NUM_BITS];
};

/* ---- head -------------------------------------------------------------------------------------
 */

/* A variable that is a public input too. */
static cuzk_num alloc_public(cuzk_cs *cs, const uint8_t value[32])
{
    cuzk_num x = cuzk_cs_alloc_num(cs, value);
    cuzk_cs_inputize(cs, &x);
    return x;
}

static void randomness(cuzk_cs *lanes, size_t n, cuzk_num *out, const cuzk_num *preimages)
{
    cuzk_poseidon_circuit_lanes(lanes, n, out, 2, CUZK_POSEIDON_RANDOMNESS_TAG, preimages);
}

/* The partition's number and the choice of h: one public value. Returns the partition's number. */
static cuzk_num choose_partition(cuzk_cs *cs, struct update *u)
{
    unsigned n = u->shape.partition_bits;
    cuzk_bit bits[PARTITION_BITS_MAX + CUZK_UPDATE_H_COUNT];
    uint8_t value[32] = {0};
    cuzk_store_u64_le(value, u->partition | (uint64_t)u->shape.h_select << n);
    cuzk_num k_and_h = alloc_public(cs, value);
    cuzk_num_decompose(cs, &k_and_h, bits, n + CUZK_UPDATE_H_COUNT);
    memcpy(u->partition_bits, bits, n * sizeof bits[0]);
    memcpy(u->h_bits, bits + n, sizeof u->h_bits);
    return cuzk_num_from_bits(cs, u->partition_bits, n);
}

/* comm_r = H(comm_c, root) */
static void check_comm_r(cuzk_cs *cs, const cuzk_num *comm_c, const cuzk_num *root,
                         const cuzk_num *comm_r)
{
    cuzk_num hash = cuzk_poseidon_circuit(cs, 2, (const cuzk_num[]){*comm_c, *root});
    cuzk_cs_equal(cs, &hash, comm_r);
}

/* The apex leaves lead to comm_d_new along the path of the partition. */
static void check_apex(cuzk_cs *cs, const struct update *u, const cuzk_num *path,
                       const cuzk_num *comm_d_new)
{
    cuzk_num scratch[APEX_MAX / 2];
    cuzk_merkle_place place = {
        .bits = u->partition_bits,
        .siblings = path,
        .leaf = cuzk_merkle_root_sha256(cs, u->apex, u->shape.apex_bits, scratch),
        .root = *comm_d_new};
    cuzk_merkle_check(cs, 1, &u->tree_d_high, &place);
}

/* The number of a partition's j-th digest: digests·partition + j. */
static cuzk_num digest_number(cuzk_cs *cs, const struct update *u, const cuzk_num *partition,
                              unsigned j)
{
    uint8_t value[32] = {0};
    cuzk_store_u64_le(value, (uint64_t)u->shape.digests * u->partition + j);
    cuzk_num g = cuzk_cs_alloc_num(cs, value);
    if (cuzk_cs_is_shape(cs)) {
        cuzk_fr coef;
        cs->curve->fr_from_u64(&coef, u->shape.digests);
        cuzk_cs_term(cs, CUZK_MATRIX_A, partition->var, &coef);
        cs->curve->fr_from_u64(&coef, j);
        cuzk_cs_term(cs, CUZK_MATRIX_A, CUZK_VAR_ONE, &coef);
        cuzk_cs_plus(cs, CUZK_MATRIX_B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, CUZK_MATRIX_C, g.var);
        cuzk_cs_end_constraint(cs);
    }
    return g;
}

static void head(cuzk_cs *cs, struct update *u)
{
    const cuzk_update_shape *shape = &u->shape;
    cuzk_num partition = choose_partition(cs, u), digest;
    cuzk_num comm_r_old = alloc_public(cs, u->statement->comm_r_old.b);
    cuzk_num comm_d_new = alloc_public(cs, u->statement->comm_d_new.b);
    cuzk_num comm_r_new = alloc_public(cs, u->statement->comm_r_new.b);
    randomness(cs, 1, &u->phi, (const cuzk_num[]){comm_d_new, comm_r_old});
    const cuzk_update_challenge *first = &u->in->challenges[0];
    cuzk_num comm_c = cuzk_cs_alloc_num(cs, u->in->comm_c.b);
    u->root_r_old = cuzk_cs_alloc_num(cs, first->r_old.root.b);
    u->root_r_new = cuzk_cs_alloc_num(cs, first->r_new.root.b);
    for (unsigned i = 0; i < 1u << shape->apex_bits; i++) {
        u->apex[i] = cuzk_cs_alloc_num(cs, u->in->apex_leaves[i].b);
    }
    cuzk_num path[PARTITION_BITS_MAX];
    for (unsigned i = 0; i < shape->partition_bits; i++) {
        path[i] = cuzk_cs_alloc_num(cs, first->d_new.siblings[shape->random_bits + i].b);
    }
    check_comm_r(cs, &comm_c, &u->root_r_old, &comm_r_old);
    check_comm_r(cs, &comm_c, &u->root_r_new, &comm_r_new);
    check_apex(cs, u, path, &comm_d_new);
    for (unsigned j = 0; j < shape->digests; j++) {
        cuzk_num g = digest_number(cs, u, &partition, j);
        randomness(cs, 1, &digest, (const cuzk_num[]){comm_r_new, g});
        cuzk_num_decompose(cs, &digest, u->digest_bits[j], CUZK_NUM_BITS);
    }
}

/* ---- challenges -------------------------------------------------------------------------------
 */

/* The bits drawn for challenge t. */
static const cuzk_bit *drawn_bits(const struct update *u, size_t t)
{
    const cuzk_update_shape *s = &u->shape;
    return &u->digest_bits[t / s->per_digest][t % s->per_digest * s->random_bits];
}

/* The highest bits of the challenged node as a number, as many as the chosen h says. */
static cuzk_num select_high(cuzk_cs *cs, const struct update *u, const cuzk_bit *bits)
{
    cuzk_num z[CUZK_UPDATE_H_COUNT];
    cuzk_fr sum = {{0}}, term;
    for (unsigned i = 0; i < CUZK_UPDATE_H_COUNT; i++) {
        unsigned h = u->shape.hs[i];
        cuzk_num high = cuzk_num_from_bits(cs, bits + u->shape.challenge_bits - h, h);
        cuzk_num chosen = {.var = u->h_bits[i].var, .value = {u->h_bits[i].value}};
        z[i] = cuzk_num_mul(cs, &high, &chosen);
        memcpy(&term, z[i].value, sizeof term);
        cs->curve->fr_add(&sum, &sum, &term);
    }
    cuzk_num selected = cuzk_cs_alloc_num(cs, (const uint8_t *)&sum);
    if (cuzk_cs_is_shape(cs)) {
        for (unsigned i = 0; i < CUZK_UPDATE_H_COUNT; i++) {
            cuzk_cs_plus(cs, CUZK_MATRIX_A, z[i].var);
        }
        cuzk_cs_plus(cs, CUZK_MATRIX_B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, CUZK_MATRIX_C, selected.var);
        cuzk_cs_end_constraint(cs);
    }
    return selected;
}

/* Paths in trees R of the challenges of a group. */
struct paths {
    size_t n;
    cuzk_cs lanes[2 * GROUP];
    cuzk_merkle_place places[2 * GROUP];
    cuzk_num siblings[2 * GROUP][CUZK_MERKLE_SIBLINGS];
};

static void make_paths(struct paths *p, const struct update *u)
{
    if (p->n > 0) {
        cuzk_merkle_check(p->lanes, p->n, &u->tree_r, p->places);
    }
    for (size_t i = 0; i < p->n; i++) {
        cuzk_cs_witness_end(&p->lanes[i]);
    }
    p->n = 0;
}

static void alloc_siblings(cuzk_cs *cs, cuzk_num *out, const cuzk_merkle_proof *proof, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        out[i] = cuzk_cs_alloc_num(cs, proof->siblings[i].b);
    }
}

static void put_path(struct paths *p, cuzk_cs *cs, const struct update *u, const cuzk_bit *bits,
                     const cuzk_num *leaf, const cuzk_merkle_proof *proof, const cuzk_num *root)
{
    cuzk_num *siblings = p->siblings[p->n];
    alloc_siblings(cs, siblings, proof, cuzk_merkle_n_siblings(&u->tree_r));
    p->places[p->n] =
        (cuzk_merkle_place){.bits = bits, .siblings = siblings, .leaf = *leaf, .root = *root};
    p->lanes[p->n++] = cuzk_cs_split(cs, cuzk_merkle_check_n_aux(&u->tree_r), 0);
    if (cuzk_cs_is_shape(cs)) {
        make_paths(p, u);
    }
}

/* One challenge, from the node's randomness on. bits: of the node. */
static void challenge(cuzk_cs *cs, const struct update *u, const cuzk_bit *bits,
                      const cuzk_num *rho, const cuzk_update_challenge *in, struct paths *paths)
{
    const cuzk_update_shape *s = &u->shape;
    cuzk_num r_old = cuzk_cs_alloc_num(cs, in->r_old.leaf.b);
    cuzk_num d_new = cuzk_cs_alloc_num(cs, in->d_new.leaf.b);
    cuzk_num masked = cuzk_num_mul(cs, &d_new, rho);
    cuzk_num r_new = cuzk_num_add(cs, &r_old, &masked);
    put_path(paths, cs, u, bits, &r_old, &in->r_old, &u->root_r_old);
    put_path(paths, cs, u, bits, &r_new, &in->r_new, &u->root_r_new);

    unsigned n_low = s->random_bits - s->apex_bits;
    cuzk_num scratch[APEX_MAX / 2], siblings[CHALLENGE_BITS_MAX];
    cuzk_merkle_place place = {.bits = bits, .siblings = siblings, .leaf = d_new};
    place.root = cuzk_num_select(cs, u->apex, bits + n_low, s->apex_bits, scratch);
    alloc_siblings(cs, siblings, &in->d_new, n_low);
    cuzk_merkle_check(cs, 1, &u->tree_d_low, &place);
}

/* Challenges first … first+n-1; shape mode: n = 1. */
static void make_challenges(cuzk_cs *lanes, size_t n, const struct update *u, size_t first,
                            const cuzk_update_challenge *in)
{
    cuzk_bit bits[GROUP][CHALLENGE_BITS_MAX];
    cuzk_num preimages[2 * GROUP] = {{0}}, rho[GROUP];
    for (size_t i = 0; i < n; i++) {
        memcpy(bits[i], drawn_bits(u, first + i), u->shape.random_bits * sizeof bits[i][0]);
        memcpy(bits[i] + u->shape.random_bits, u->partition_bits,
               u->shape.partition_bits * sizeof bits[i][0]);
        preimages[2 * i] = u->phi;
        preimages[2 * i + 1] = select_high(&lanes[i], u, bits[i]);
    }
    randomness(lanes, n, rho, preimages);
    struct paths paths = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        challenge(&lanes[i], u, bits[i], &rho[i], &in[i], &paths);
    }
    make_paths(&paths, u);
}

/* ---- the partition ----------------------------------------------------------------------------
 */

static void init(struct update *u, const cuzk_sector *sector)
{
    u->shape = cuzk_update_shape_of(sector);
    u->tree_r = cuzk_merkle_shape_of(cuzk_tree_poseidon(sector), CUZK_MERKLE_POSEIDON);
    cuzk_tree tree_d = cuzk_tree_sha256(sector);
    tree_d.base_levels = (uint8_t)(u->shape.random_bits - u->shape.apex_bits);
    u->tree_d_low = cuzk_merkle_shape_of(tree_d, CUZK_MERKLE_SHA256);
    tree_d.base_levels = (uint8_t)u->shape.partition_bits;
    u->tree_d_high = cuzk_merkle_shape_of(tree_d, CUZK_MERKLE_SHA256);
}

cuzk_status cuzk_update_circuit_shape(cuzk_shape **out, const cuzk_sector *sector, cuzk_error *err)
{
    static const cuzk_update_statement blank_statement;
    static const cuzk_digest blank_apex[APEX_MAX];
    const cuzk_merkle_proof proof = {.siblings = cuzk_blank_digests};
    cuzk_update_challenge blank = {proof, proof, proof};
    cuzk_update_partition in = {.apex_leaves = (cuzk_digest *)blank_apex, .challenges = &blank};
    struct update u = {.statement = &blank_statement, .in = &in};
    cuzk_var drawn[CHALLENGES_MAX];
    cuzk_cs cs;
    init(&u, sector);
    CUZK_TRY(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), err));
    head(&cs, &u);
    for (size_t t = 0; t < u.shape.challenges; t++) {
        drawn[t] = drawn_bits(&u, t)[0].var;
    }
    cuzk_shape_begin_copies(cs.builder, u.shape.challenges);
    cuzk_shape_choose(cs.builder, drawn, u.shape.random_bits);
    make_challenges(&cs, 1, &u, 0, &blank);
    cuzk_shape_end_copies(cs.builder);
    return cuzk_cs_shape_finish(&cs, out, err);
}

static void write_head(cuzk_cs *cs, void *ctx)
{
    head(cs, ctx);
}

static void write_challenges(cuzk_cs *lanes, size_t n, size_t first, const void *ctx)
{
    const struct update *u = ctx;
    make_challenges(lanes, n, u, first, &u->in->challenges[first]);
}

cuzk_status cuzk_update_circuit_witness(cuzk_witness **out, const cuzk_shape *shape,
                                        const cuzk_update_vanilla *vanilla,
                                        const cuzk_update_statement *statement, unsigned partition,
                                        cuzk_pool *pool, cuzk_error *err)
{
    struct update u = {
        .statement = statement, .in = &vanilla->partitions[partition], .partition = partition};
    init(&u, vanilla->proof.sector);
    return cuzk_circuit_witness(out, shape, u.shape.challenges, write_head, write_challenges, GROUP,
                                &u, pool, err);
}
