/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The structure of a commit-phase-1 output over the scanner of c1_text.h: one function per kind of
 * object. Each writes its digests to places that are fixed by the sector's shape, so that keys may
 * come in any order. */
#include "filecoin/vanilla_porep.h"

#include "filecoin/c1_text.h"
#include "filecoin/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALL(keys)    ((uint32_t)((1u << COUNT(keys)) - 1))

/* A labeling or encoding proof, as long as its challenge is read. */
typedef struct {
    uint64_t layer, node;
    cuzk_digest parents[CUZK_LABEL_PARENTS];
} label_proof;

typedef struct {
    cuzk_porep_vanilla out;
    cuzk_tree tree_d, tree_r;
    unsigned n_partitions; /* read so far */
    uint32_t n_room;       /* of out.challenges */
    /* of the challenge that is read */
    cuzk_porep_challenge *challenge;
    label_proof labels[CUZK_POREP_LAYERS_MAX];
    label_proof encoding;
    /* top level */
    uint32_t top_keys_seen;
    bool has_proof;                  /* registered_proof was read */
    const cuzk_sector *shape_sector; /* that the key of vanilla_proofs names; NULL before it */
} reader;

/* ---- Merkle proofs --------------------------------------------------------------------------- */

/* One opening, or one of its paths, on the way. */
typedef struct {
    cuzk_merkle_proof *out;
    cuzk_tree tree;
    cuzk_digest *siblings;
    unsigned level; /* of the path's first element */
    unsigned n_levels;
    unsigned at; /* level of the element being read */
} opening;

static unsigned siblings_below(cuzk_tree tree, unsigned level)
{
    unsigned n = 0;
    for (unsigned l = 0; l < level; l++) {
        n += cuzk_tree_arity(tree, l) - 1;
    }
    return n;
}

static unsigned index_bits_below(cuzk_tree tree, unsigned level)
{
    unsigned n = 0;
    for (unsigned l = 0; l < level; l++) {
        n += cuzk_tree_index_bits(tree, l);
    }
    return n;
}

static cuzk_status read_sibling(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    opening *o = ctx;
    return cuzk_c1_fr(text, &o->siblings[siblings_below(o->tree, o->at) + i], err);
}

static cuzk_status read_level_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    opening *o = ctx;
    unsigned arity = cuzk_tree_arity(o->tree, o->at);
    if (key == 0) {
        return cuzk_c1_array_of(text, "sibling", arity - 1, read_sibling, o, err);
    }
    uint64_t index;
    CUZK_TRY(cuzk_c1_integer(text, &index, arity - 1, err));
    o->out->index |= index << index_bits_below(o->tree, o->at);
    return CUZK_OK;
}

static cuzk_status read_level(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    static const char *const keys[] = {"hashes", "index"};
    opening *o = ctx;
    o->at = o->level + i;
    return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_level_key, o, err);
}

static cuzk_status read_path_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    (void)key;
    opening *o = ctx;
    return cuzk_c1_array_of(text, "level", o->n_levels, read_level, o, err);
}

/* {"path": [levels]} with n levels from the given one on. */
static cuzk_status read_path(cuzk_c1_text *text, opening *o, unsigned level, unsigned n,
                             cuzk_error *err)
{
    static const char *const keys[] = {"path"};
    o->level = level;
    o->n_levels = n;
    return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_path_key, o, err);
}

/* The keys of the three kinds; of a kind with fewer levels the first ones. */
static const char *const proof_keys_single[] = {"root", "leaf", "path"};
static const char *const proof_keys_compound[] = {"root", "leaf", "base_proof", "sub_proof",
                                                  "top_proof"};
static const char *const variants[] = {"Single", "Sub", "Top"};

static cuzk_status read_proof_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    opening *o = ctx;
    if (key == 0) {
        return cuzk_c1_fr(text, &o->out->root, err);
    }
    if (key == 1) {
        return cuzk_c1_fr(text, &o->out->leaf, err);
    }
    unsigned base = o->tree.base_levels;
    return key == 2 ? read_path(text, o, 0, base, err) : read_path(text, o, base + key - 3, 1, err);
}

static unsigned variant_of(cuzk_tree tree)
{
    return tree.sub_arity == 0 ? 0 : tree.top_arity == 0 ? 1 : 2;
}

static cuzk_status read_variant(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    opening *o = ctx;
    unsigned expected = variant_of(o->tree);
    if (key != expected) {
        return cuzk_c1_fail(text, err, CUZK_E_MISMATCH,
                            "a Merkle proof of this kind belongs to another sector size: expected "
                            "\"%s\"",
                            variants[expected]);
    }
    unsigned n = expected == 0 ? COUNT(proof_keys_single) : 3 + expected;
    return cuzk_c1_object(text, expected == 0 ? proof_keys_single : proof_keys_compound, n,
                          (1u << n) - 1, read_proof_key, o, err);
}

static cuzk_status read_data(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    (void)key;
    opening *o = ctx;
    return cuzk_c1_object(text, variants, COUNT(variants), 1u << variant_of(o->tree), read_variant,
                          o, err);
}

/* {"data": {"Single" or "Sub" or "Top": …}}; the siblings go to where out->siblings points. */
static cuzk_status read_merkle(cuzk_c1_text *text, cuzk_merkle_proof *out, cuzk_tree tree,
                               cuzk_digest *siblings, cuzk_error *err)
{
    static const char *const keys[] = {"data"};
    opening o = {.out = out, .tree = tree, .siblings = siblings};
    out->siblings = siblings;
    out->index = 0;
    return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_data, &o, err);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Where the digests of a challenge lie: tree D, tree R, the challenge's column, its parents'. */
static unsigned digests_per_column(const reader *r)
{
    return r->out.shape.layers + cuzk_tree_siblings(r->tree_r);
}

static unsigned digests_per_challenge(const reader *r)
{
    return cuzk_tree_siblings(r->tree_d) + cuzk_tree_siblings(r->tree_r) +
           (1 + CUZK_PARENTS) * digests_per_column(r);
}

typedef struct {
    reader *r;
    cuzk_porep_column *out;
    cuzk_digest *rows;
} column;

static cuzk_status read_row(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    column *c = ctx;
    return cuzk_c1_fr(text, &c->rows[i], err);
}

static cuzk_status read_labels_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    column *c = ctx;
    if (key == 0) {
        return cuzk_c1_integer(text, &c->out->node, cuzk_sector_nodes(c->r->shape_sector) - 1, err);
    }
    return cuzk_c1_array_of(text, "layer", c->r->out.shape.layers, read_row, c, err);
}

static cuzk_status read_column_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    static const char *const keys[] = {"index", "rows"};
    column *c = ctx;
    if (key == 0) {
        return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_labels_key, c, err);
    }
    return read_merkle(text, &c->out->inclusion, c->r->tree_r, c->rows + c->r->out.shape.layers,
                       err);
}

/* The column of place 0 (the challenge) or 1 + p (its parent p). */
static cuzk_status read_column(cuzk_c1_text *text, reader *r, unsigned place, cuzk_error *err)
{
    static const char *const keys[] = {"column", "inclusion_proof"};
    cuzk_porep_challenge *ch = r->challenge;
    column c = {.r = r, .out = place == 0 ? &ch->column : &ch->parents[place - 1]};
    c.rows = ch->digests + cuzk_tree_siblings(r->tree_d) + cuzk_tree_siblings(r->tree_r) +
             (size_t)place * digests_per_column(r);
    c.out->rows = c.rows;
    return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_column_key, &c, err);
}

static cuzk_status read_drg_parent(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    return read_column(text, ctx, 1 + i, err);
}

static cuzk_status read_exp_parent(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    return read_column(text, ctx, 1 + CUZK_DRG_PARENTS + i, err);
}

static cuzk_status read_columns_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    if (key == 0) {
        return read_column(text, ctx, 0, err);
    }
    return key == 1 ? cuzk_c1_array_of(text, "parent", CUZK_DRG_PARENTS, read_drg_parent, ctx, err)
                    : cuzk_c1_array_of(text, "parent", CUZK_EXP_PARENTS, read_exp_parent, ctx, err);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static cuzk_status read_label_parent(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    label_proof *p = ctx;
    return cuzk_c1_digest(text, &p->parents[i], err);
}

static cuzk_status read_label_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    label_proof *p = ctx;
    if (key == 0) {
        return cuzk_c1_array_of(text, "parent", CUZK_LABEL_PARENTS, read_label_parent, p, err);
    }
    return cuzk_c1_integer(text, key == 1 ? &p->layer : &p->node, UINT64_MAX, err);
}

static cuzk_status read_label_proof(cuzk_c1_text *text, label_proof *out, cuzk_error *err)
{
    static const char *const keys[] = {"parents", "layer_index", "node"};
    return cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_label_key, out, err);
}

static cuzk_status read_layer(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    reader *r = ctx;
    return read_label_proof(text, &r->labels[i], err);
}

/* Compare a labeling proof with the columns that hold the same values. */
static cuzk_status check_label_proof(const cuzk_porep_challenge *ch, const label_proof *p,
                                     unsigned layer, cuzk_error *err)
{
    CUZK_FAIL_IF(p->layer != layer, err, CUZK_E_MISMATCH,
                 "layer_index: it is %" PRIu64 ", expected %u", p->layer, layer);
    CUZK_FAIL_IF(p->node != ch->node, err, CUZK_E_MISMATCH,
                 "node: it is %" PRIu64 ", elsewhere in the challenge %" PRIu64, p->node, ch->node);
    for (unsigned slot = 0; slot < CUZK_LABEL_PARENTS; slot++) {
        unsigned parent = cuzk_label_parent(layer, slot);
        /* base parents lie in the same layer, the expander's in the one before */
        unsigned row = parent < CUZK_DRG_PARENTS ? layer : layer - 1;
        CUZK_FAIL_IF(!cuzk_digest_eq(&p->parents[slot], &ch->parents[parent].rows[row - 1]), err,
                     CUZK_E_MISMATCH, "parent %u: it differs from layer %u of the column of %s %u",
                     slot, row, parent < CUZK_DRG_PARENTS ? "drg parent" : "exp parent",
                     parent < CUZK_DRG_PARENTS ? parent : parent - CUZK_DRG_PARENTS);
    }
    return CUZK_OK;
}

static cuzk_status check_labels(reader *r, cuzk_error *err)
{
    unsigned layers = r->out.shape.layers;
    r->challenge->node = r->labels[0].node;
    for (unsigned layer = 1; layer <= layers; layer++) {
        if (check_label_proof(r->challenge, &r->labels[layer - 1], layer, err) != CUZK_OK) {
            cuzk_error_prefix(err, "labeling_proofs: layer %u", layer);
            return CUZK_E_MISMATCH;
        }
    }
    if (check_label_proof(r->challenge, &r->encoding, layers, err) != CUZK_OK) {
        cuzk_error_prefix(err, "encoding_proof");
        return CUZK_E_MISMATCH;
    }
    return CUZK_OK;
}

/* ---- challenges and partitions --------------------------------------------------------------- */

static cuzk_status read_challenge_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    static const char *const columns[] = {"c_x", "drg_parents", "exp_parents"};
    reader *r = ctx;
    cuzk_porep_challenge *ch = r->challenge;
    switch (key) {
    case 0:
        return read_merkle(text, &ch->d, r->tree_d, ch->digests, err);
    case 1:
        return read_merkle(text, &ch->r, r->tree_r, ch->digests + cuzk_tree_siblings(r->tree_d),
                           err);
    case 2:
        return cuzk_c1_object(text, columns, COUNT(columns), ALL(columns), read_columns_key, r,
                              err);
    case 3:
        return cuzk_c1_array_of(text, "element", r->out.shape.layers, read_layer, r, err);
    default:
        return read_label_proof(text, &r->encoding, err);
    }
}

static cuzk_status read_challenge(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    static const char *const keys[] = {"comm_d_proofs", "comm_r_last_proof",
                                       "replica_column_proofs", "labeling_proofs",
                                       "encoding_proof"};
    reader *r = ctx;
    r->challenge = &r->out.challenges[r->out.n_challenges];
    *r->challenge = (cuzk_porep_challenge){0};
    r->challenge->digests = malloc(digests_per_challenge(r) * sizeof(cuzk_digest));
    CUZK_FAIL_IF(r->challenge->digests == NULL, err, CUZK_E_MEMORY, "out of memory");
    r->out.n_challenges++;
    (void)i;
    CUZK_TRY(cuzk_c1_object(text, keys, COUNT(keys), ALL(keys), read_challenge_key, r, err));
    return check_labels(r, err);
}

static cuzk_status read_partition(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    reader *r = ctx;
    unsigned each = r->out.shape.challenges;
    if (r->out.n_challenges + each > r->n_room) {
        /* twice as many, so that the copying stays small; a partition needs 40 times the bytes */
        uint32_t room = r->n_room == 0 ? each : 2 * r->n_room;
        cuzk_porep_challenge *grown = realloc(r->out.challenges, room * sizeof *r->out.challenges);
        CUZK_FAIL_IF(grown == NULL, err, CUZK_E_MEMORY, "out of memory");
        r->out.challenges = grown;
        r->n_room = room;
    }
    (void)i;
    return cuzk_c1_array_of(text, "challenge", each, read_challenge, r, err);
}

/* ---- top level ------------------------------------------------------------------------------- */

enum { SHAPE_NAMES_MAX = 16 };

/* The i-th size that has a PoRep, NULL beyond; name: the key under which vanilla_proofs has the
 * proofs of that size, always that of its first registered proof. */
static const cuzk_sector *porep_size(unsigned i, char name[CUZK_REGISTERED_NAME_MAX])
{
    cuzk_registered_proof p;
    for (unsigned k = 0; k < cuzk_sector_count(); k++) {
        const cuzk_sector *sector = cuzk_sector_at(k);
        if (sector->update_only || i-- > 0) {
            continue;
        }
        if (cuzk_registered_proof_get(&p, CUZK_PROOF_POREP, 0, NULL) != CUZK_OK ||
            cuzk_registered_proof_resize(&p, sector, NULL) != CUZK_OK) {
            return NULL;
        }
        cuzk_registered_proof_name(name, &p);
        return sector;
    }
    return NULL;
}

/* Once both are known: registered_proof and the key of vanilla_proofs name the same size. */
static cuzk_status check_size(const reader *r, cuzk_error *err)
{
    CUZK_FAIL_IF(r->has_proof && r->shape_sector != NULL && r->out.proof.sector != r->shape_sector,
                 err, CUZK_E_MISMATCH,
                 "registered_proof is for sectors of %s, vanilla_proofs for %s",
                 r->out.proof.sector->name, r->shape_sector->name);
    return CUZK_OK;
}

static cuzk_status read_shape(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    reader *r = ctx;
    char name[CUZK_REGISTERED_NAME_MAX];
    if (r->shape_sector != NULL) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "proofs of two sector sizes");
    }
    r->shape_sector = porep_size(i, name);
    CUZK_TRY(check_size(r, err));
    r->out.shape = cuzk_porep_shape_of(r->shape_sector, false);
    r->tree_d = cuzk_tree_sha256(r->shape_sector);
    r->tree_r = cuzk_tree_poseidon(r->shape_sector);
    return cuzk_c1_array(text, "partition", &r->n_partitions, read_partition, r, err);
}

static cuzk_status read_vanilla_proofs(cuzk_c1_text *text, reader *r, cuzk_error *err)
{
    char names[SHAPE_NAMES_MAX][CUZK_REGISTERED_NAME_MAX];
    const char *keys[SHAPE_NAMES_MAX];
    unsigned n = 0;
    while (n < SHAPE_NAMES_MAX && porep_size(n, names[n]) != NULL) {
        keys[n] = names[n];
        n++;
    }
    CUZK_TRY(cuzk_c1_object(text, keys, n, 0, read_shape, r, err));
    if (r->shape_sector == NULL) {
        return cuzk_c1_fail(text, err, CUZK_E_UNSUPPORTED,
                            "the object that ends here has no key of a known sector size, such as "
                            "\"%s\"",
                            keys[n - 1]);
    }
    return CUZK_OK;
}

static cuzk_status read_registered_proof(cuzk_c1_text *text, reader *r, cuzk_error *err)
{
    char name[CUZK_C1_STRING_MAX];
    CUZK_TRY(cuzk_c1_string(text, name, err));
    CUZK_TRY(cuzk_registered_seal_by_name(&r->out.proof, name, strlen(name), err));
    r->has_proof = true;
    return check_size(r, err);
}

static cuzk_status read_bytes32(cuzk_c1_text *text, uint8_t out[32], cuzk_error *err)
{
    cuzk_digest d;
    CUZK_TRY(cuzk_c1_digest(text, &d, err));
    memcpy(out, d.b, sizeof d.b);
    return CUZK_OK;
}

/* The keys of the output, then those of the envelope. */
static const char *const top_keys[] = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                       "replica_id",       "seed",           "ticket", "SectorNum",
                                       "Phase1Out",        "SectorSize"};
enum { N_OUTPUT_KEYS = 7, KEY_SECTOR_NUM = 7, KEY_OUTPUT = 8, KEY_SECTOR_SIZE = 9 };

static cuzk_status read_output_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    reader *r = ctx;
    switch (key) {
    case 0:
        return read_registered_proof(text, r, err);
    case 1:
        return read_vanilla_proofs(text, r, err);
    case 2:
        return cuzk_c1_fr(text, &r->out.comm_r, err);
    case 3:
        return cuzk_c1_fr(text, &r->out.comm_d, err);
    case 4:
        return cuzk_c1_fr(text, &r->out.replica_id, err);
    case 5:
        return read_bytes32(text, r->out.seed, err);
    default:
        return read_bytes32(text, r->out.ticket, err);
    }
}

/* The whole output, inside the envelope's string. */
static cuzk_status read_enclosed(cuzk_c1_text *outer, reader *r, cuzk_error *err)
{
    cuzk_c1_text text;
    CUZK_TRY(cuzk_c1_text_decoded(&text, outer, err));
    cuzk_status status = cuzk_c1_object(&text, top_keys, N_OUTPUT_KEYS, (1u << N_OUTPUT_KEYS) - 1,
                                        read_output_key, r, err);
    if (status == CUZK_OK) {
        status = cuzk_c1_text_finish(&text, err);
    }
    cuzk_c1_text_decoded_end(&text, outer);
    return status;
}

static cuzk_status read_top_key(cuzk_c1_text *text, void *ctx, unsigned key, cuzk_error *err)
{
    reader *r = ctx;
    r->top_keys_seen |= 1u << key;
    switch (key) {
    case KEY_SECTOR_NUM:
        return cuzk_c1_integer(text, &r->out.sector_number, UINT64_MAX, err);
    case KEY_SECTOR_SIZE:
        return cuzk_c1_integer(text, &r->out.sector_bytes, UINT64_MAX, err);
    case KEY_OUTPUT:
        return read_enclosed(text, r, err);
    default:
        return read_output_key(text, r, key, err);
    }
}

/* Which of the two forms it was, and that it was whole. */
static cuzk_status check_keys(reader *r, cuzk_error *err)
{
    uint32_t output = (1u << N_OUTPUT_KEYS) - 1;
    uint32_t envelope = ((1u << COUNT(top_keys)) - 1) & ~output;
    uint32_t seen = r->top_keys_seen;
    r->out.has_envelope = (seen & envelope) != 0;
    CUZK_FAIL_IF((seen & envelope) != 0 && (seen & output) != 0, err, CUZK_E_FORMAT,
                 "the keys of a commit-phase-1 output and of an envelope are mixed");
    uint32_t missing = (r->out.has_envelope ? envelope : output) & ~seen;
    CUZK_FAIL_IF(missing != 0, err, CUZK_E_FORMAT, "the object has no \"%s\"",
                 top_keys[__builtin_ctz(missing)]);
    return CUZK_OK;
}

static bool is_zero(const uint8_t b[32])
{
    static const uint8_t zeros[32];
    return memcmp(b, zeros, sizeof zeros) == 0;
}

/* What only the whole text tells. */
static cuzk_status check_whole(reader *r, cuzk_error *err)
{
    cuzk_porep_vanilla *v = &r->out;
    CUZK_TRY(check_keys(r, err));
    CUZK_TRY(check_size(r, err));
    bool non_interactive = v->proof.variant == CUZK_POREP_NON_INTERACTIVE;
    v->shape = cuzk_porep_shape_of(v->proof.sector, non_interactive);
    CUZK_FAIL_IF(r->n_partitions != v->shape.partitions, err, CUZK_E_MISMATCH,
                 "vanilla_proofs: expected %u partitions, got %u", v->shape.partitions,
                 r->n_partitions);
    CUZK_FAIL_IF(v->has_envelope && v->sector_bytes != v->proof.sector->bytes, err, CUZK_E_MISMATCH,
                 "SectorSize is %" PRIu64 ", registered_proof is for sectors of %s (%" PRIu64 ")",
                 v->sector_bytes, v->proof.sector->name, v->proof.sector->bytes);
    CUZK_FAIL_IF(is_zero(v->comm_r.b), err, CUZK_E_FORMAT, "comm_r is zero");
    CUZK_FAIL_IF(is_zero(v->comm_d.b), err, CUZK_E_FORMAT, "comm_d is zero");
    CUZK_FAIL_IF(!non_interactive && is_zero(v->seed), err, CUZK_E_FORMAT, "seed is zero");
    return CUZK_OK;
}

cuzk_status cuzk_porep_vanilla_read(cuzk_porep_vanilla *out, const uint8_t *data, uint64_t size,
                                    cuzk_error *err)
{
    *out = (cuzk_porep_vanilla){0};
    reader *r = calloc(1, sizeof *r);
    CUZK_FAIL_IF(r == NULL, err, CUZK_E_MEMORY, "out of memory");
    cuzk_c1_text text;
    cuzk_c1_text_plain(&text, data, size);
    cuzk_status status = cuzk_c1_object(&text, top_keys, COUNT(top_keys), 0, read_top_key, r, err);
    if (status == CUZK_OK) {
        status = cuzk_c1_text_finish(&text, err);
    }
    if (status == CUZK_OK) {
        status = check_whole(r, err);
    }
    if (status == CUZK_OK) {
        *out = r->out;
    } else {
        cuzk_error_prefix(err, "commit-phase-1 output");
        cuzk_porep_vanilla_clear(&r->out);
    }
    free(r);
    return status;
}

void cuzk_porep_vanilla_clear(cuzk_porep_vanilla *vanilla)
{
    for (uint32_t i = 0; i < vanilla->n_challenges; i++) {
        free(vanilla->challenges[i].digests);
    }
    free(vanilla->challenges);
    *vanilla = (cuzk_porep_vanilla){0};
}
