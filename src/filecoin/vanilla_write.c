/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_write.h"

#include "filecoin/encode_out.h"
#include "filecoin/graph.h"

#include <stdlib.h>

typedef cuzk_encode_out out_t;

/* Kinds of Merkle proofs, by their number of compound levels. */
static unsigned compound_levels(cuzk_tree tree)
{
    return (tree.sub_arity != 0 ? 1u : 0u) + (tree.top_arity != 0 ? 1u : 0u);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_digest(out_t *out, const void *bytes)
{
    const uint8_t *b = bytes;
    char text[1 + 32 * 4];
    size_t n = 0;
    for (unsigned i = 0; i < 32; i++) {
        text[n++] = i == 0 ? '[' : ',';
        if (b[i] >= 100) {
            text[n++] = (char)('0' + b[i] / 100);
        }
        if (b[i] >= 10) {
            text[n++] = (char)('0' + b[i] / 10 % 10);
        }
        text[n++] = (char)('0' + b[i] % 10);
    }
    text[n++] = ']';
    cuzk_encode_put(out, text, n);
}

static void put_digests(out_t *out, const cuzk_digest *digests, unsigned n)
{
    cuzk_encode_text(out, "[");
    for (unsigned i = 0; i < n; i++) {
        cuzk_encode_text(out, i == 0 ? "" : ",");
        put_digest(out, &digests[i]);
    }
    cuzk_encode_text(out, "]");
}

/* Where a path is being written. */
typedef struct {
    const cuzk_digest *siblings;
    uint64_t index;
    unsigned level;
} place;

static void put_path(out_t *out, cuzk_tree tree, place *p, unsigned n)
{
    cuzk_encode_text(out, "{\"path\":[");
    for (unsigned i = 0; i < n; i++, p->level++) {
        unsigned arity = cuzk_tree_arity(tree, p->level);
        cuzk_encode_text(out, i == 0 ? "{\"hashes\":" : ",{\"hashes\":");
        put_digests(out, p->siblings, arity - 1);
        cuzk_encode_text(out, ",\"index\":");
        cuzk_encode_decimal(out, p->index % arity);
        cuzk_encode_text(out, "}");
        p->siblings += arity - 1;
        p->index /= arity;
    }
    cuzk_encode_text(out, "]}");
}

static void put_merkle(out_t *out, cuzk_tree tree, const cuzk_merkle_proof *proof)
{
    static const char *const kinds[] = {"{\"data\":{\"Single\":{", "{\"data\":{\"Sub\":{",
                                        "{\"data\":{\"Top\":{"};
    static const char *const names[] = {",\"sub_proof\":", ",\"top_proof\":"};
    unsigned above = compound_levels(tree);
    place p = {proof->siblings, proof->index, 0};
    cuzk_encode_text(out, kinds[above]);
    if (above > 0) {
        cuzk_encode_text(out, "\"base_proof\":");
        put_path(out, tree, &p, tree.base_levels);
        for (unsigned i = 0; i < above; i++) {
            cuzk_encode_text(out, names[i]);
            put_path(out, tree, &p, 1);
        }
        cuzk_encode_text(out, ",");
    }
    cuzk_encode_text(out, "\"root\":");
    put_digest(out, &proof->root);
    cuzk_encode_text(out, ",\"leaf\":");
    put_digest(out, &proof->leaf);
    if (above == 0) {
        cuzk_encode_text(out, ",\"path\":");
        put_path(out, tree, &p, tree.base_levels);
    }
    cuzk_encode_text(out, "}}}");
}

static void put_column(out_t *out, cuzk_tree tree, unsigned layers, const cuzk_porep_column *c)
{
    cuzk_encode_text(out, "{\"column\":{\"index\":");
    cuzk_encode_decimal(out, c->node);
    cuzk_encode_text(out, ",\"rows\":");
    put_digests(out, c->rows, layers);
    cuzk_encode_text(out, ",\"_h\":null},\"inclusion_proof\":");
    put_merkle(out, tree, &c->inclusion);
    cuzk_encode_text(out, "}");
}

static void put_columns(out_t *out, cuzk_tree tree, unsigned layers, const cuzk_porep_column *c,
                        unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        cuzk_encode_text(out, i == 0 ? "[" : ",");
        put_column(out, tree, layers, &c[i]);
    }
    cuzk_encode_text(out, "]");
}

/* The labels that a layer's label is made of, from the columns. */
static void put_label_proof(out_t *out, const cuzk_porep_challenge *ch, unsigned layer)
{
    for (unsigned slot = 0; slot < CUZK_LABEL_PARENTS; slot++) {
        unsigned parent = cuzk_label_parent(layer, slot);
        unsigned row = parent < CUZK_DRG_PARENTS ? layer : layer - 1;
        cuzk_encode_text(out, slot == 0 ? "{\"parents\":[" : ",");
        put_digest(out, &ch->parents[parent].rows[row - 1]);
    }
    cuzk_encode_text(out, "],\"layer_index\":");
    cuzk_encode_decimal(out, layer);
    cuzk_encode_text(out, ",\"node\":");
    cuzk_encode_decimal(out, ch->node);
    cuzk_encode_text(out, "}");
}

static void put_challenge(out_t *out, const cuzk_porep_vanilla *v, const cuzk_porep_challenge *ch)
{
    unsigned layers = v->shape.layers;
    cuzk_tree tree = cuzk_tree_poseidon(v->proof.sector);
    cuzk_encode_text(out, "{\"comm_d_proofs\":");
    put_merkle(out, cuzk_tree_sha256(v->proof.sector), &ch->d);
    cuzk_encode_text(out, ",\"comm_r_last_proof\":");
    put_merkle(out, tree, &ch->r);
    cuzk_encode_text(out, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(out, tree, layers, &ch->column);
    cuzk_encode_text(out, ",\"drg_parents\":");
    put_columns(out, tree, layers, ch->parents, CUZK_DRG_PARENTS);
    cuzk_encode_text(out, ",\"exp_parents\":");
    put_columns(out, tree, layers, ch->parents + CUZK_DRG_PARENTS, CUZK_EXP_PARENTS);
    cuzk_encode_text(out, "},\"labeling_proofs\":");
    for (unsigned layer = 1; layer <= layers; layer++) {
        cuzk_encode_text(out, layer == 1 ? "[" : ",");
        put_label_proof(out, ch, layer);
    }
    cuzk_encode_text(out, "],\"encoding_proof\":");
    put_label_proof(out, ch, layers);
    cuzk_encode_text(out, "}");
}

static cuzk_status put_output(out_t *out, const cuzk_porep_vanilla *v, cuzk_error *err)
{
    char name[CUZK_REGISTERED_NAME_MAX];
    cuzk_registered_proof plain;
    cuzk_encode_text(out, "{\"registered_proof\":\"");
    cuzk_encode_text(out, cuzk_registered_proof_name(name, &v->proof));
    /* the key names the shape: the first registered proof of the size */
    CUZK_TRY(cuzk_registered_proof_get(&plain, CUZK_PROOF_POREP, 0, err));
    CUZK_TRY(cuzk_registered_proof_resize(&plain, v->proof.sector, err));
    cuzk_encode_text(out, "\",\"vanilla_proofs\":{\"");
    cuzk_encode_text(out, cuzk_registered_proof_name(name, &plain));
    cuzk_encode_text(out, "\":[");
    for (unsigned k = 0; k < v->shape.partitions; k++) {
        cuzk_encode_text(out, k == 0 ? "" : ",");
        for (unsigned c = 0; c < v->shape.challenges; c++) {
            cuzk_encode_text(out, c == 0 ? "[" : ",");
            put_challenge(out, v, cuzk_porep_challenge_at(v, k, c));
        }
        cuzk_encode_text(out, "]");
    }
    const struct {
        const char *name;
        const void *bytes;
    } fields[] = {{"]},\"comm_r\":", &v->comm_r},
                  {",\"comm_d\":", &v->comm_d},
                  {",\"replica_id\":", &v->replica_id},
                  {",\"seed\":", v->seed},
                  {",\"ticket\":", v->ticket}};
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        cuzk_encode_text(out, fields[i].name);
        put_digest(out, fields[i].bytes);
    }
    cuzk_encode_text(out, "}");
    return CUZK_OK;
}

static cuzk_status create(out_t **out, FILE *file, cuzk_error *err)
{
    *out = calloc(1, sizeof **out);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "out of memory");
    (*out)->file = file;
    return CUZK_OK;
}

static cuzk_status finish(out_t *out, cuzk_error *err)
{
    cuzk_status s = cuzk_encode_finish(out, err);
    free(out);
    return s;
}

cuzk_status cuzk_porep_vanilla_write(FILE *file, const cuzk_porep_vanilla *vanilla, bool envelope,
                                     cuzk_error *err)
{
    out_t *out;
    CUZK_TRY(create(&out, file, err));
    if (envelope) {
        cuzk_encode_text(out, "{\"SectorNum\":");
        cuzk_encode_decimal(out, vanilla->sector_number);
        cuzk_encode_text(out, ",\"Phase1Out\":\"");
        cuzk_encode_base64(out, true);
    }
    cuzk_status s = put_output(out, vanilla, err);
    if (envelope) {
        cuzk_encode_base64(out, false);
        cuzk_encode_text(out, "\",\"SectorSize\":");
        cuzk_encode_decimal(out, vanilla->proof.sector->bytes);
        cuzk_encode_text(out, "}");
    }
    cuzk_status written = finish(out, err);
    return s != CUZK_OK ? s : written;
}

/* ---- bincode --------------------------------------------------------------------------------- */

static void bin_digests(out_t *out, const cuzk_digest *digests, unsigned n)
{
    cuzk_encode_put(out, digests, n * sizeof *digests);
}

static void bin_path(out_t *out, cuzk_tree tree, place *p, unsigned n)
{
    cuzk_encode_u64(out, n);
    for (unsigned i = 0; i < n; i++, p->level++) {
        unsigned arity = cuzk_tree_arity(tree, p->level);
        cuzk_encode_u64(out, arity - 1);
        bin_digests(out, p->siblings, arity - 1);
        cuzk_encode_u64(out, p->index % arity);
        p->siblings += arity - 1;
        p->index /= arity;
    }
}

static void bin_merkle(out_t *out, cuzk_tree tree, const cuzk_merkle_proof *proof)
{
    unsigned above = compound_levels(tree);
    place p = {proof->siblings, proof->index, 0};
    cuzk_encode_u32(out, above);
    if (above == 0) {
        bin_digests(out, &proof->root, 1);
        bin_digests(out, &proof->leaf, 1);
    }
    bin_path(out, tree, &p, tree.base_levels);
    for (unsigned i = 0; i < above; i++) {
        bin_path(out, tree, &p, 1);
    }
    if (above != 0) {
        bin_digests(out, &proof->root, 1);
        bin_digests(out, &proof->leaf, 1);
    }
}

static void bin_sector(out_t *out, const cuzk_post_vanilla *v, uint32_t i)
{
    const cuzk_post_sector *sector = &v->sectors[i];
    cuzk_encode_u64(out, sector->sector_id);
    bin_digests(out, &sector->comm_r, 1);
    cuzk_encode_u64(out, 1);
    cuzk_encode_u64(out, v->n_openings);
    for (unsigned n = 0; n < v->n_openings; n++) {
        bin_merkle(out, cuzk_tree_poseidon(v->proof.sector), &sector->openings[n]);
    }
    bin_digests(out, &sector->comm_c, 1);
    bin_digests(out, &sector->comm_r_last, 1);
}

static void bin_partition(out_t *out, const cuzk_update_vanilla *v, unsigned k)
{
    const cuzk_update_partition *p = &v->partitions[k];
    cuzk_tree r = cuzk_tree_poseidon(v->proof.sector);
    bin_digests(out, &p->comm_c, 1);
    cuzk_encode_u64(out, 1u << v->shape.apex_bits);
    bin_digests(out, p->apex_leaves, 1u << v->shape.apex_bits);
    cuzk_encode_u64(out, v->shape.challenges);
    for (unsigned c = 0; c < v->shape.challenges; c++) {
        bin_merkle(out, r, &p->challenges[c].r_old);
        bin_merkle(out, cuzk_tree_sha256(v->proof.sector), &p->challenges[c].d_new);
        bin_merkle(out, r, &p->challenges[c].r_new);
    }
}

cuzk_status cuzk_post_sector_write(FILE *file, const cuzk_post_vanilla *vanilla, uint32_t i,
                                   cuzk_error *err)
{
    out_t *out;
    CUZK_TRY(create(&out, file, err));
    bin_sector(out, vanilla, i);
    return finish(out, err);
}

cuzk_status cuzk_update_partition_write(FILE *file, const cuzk_update_vanilla *vanilla, unsigned k,
                                        cuzk_error *err)
{
    out_t *out;
    CUZK_TRY(create(&out, file, err));
    bin_partition(out, vanilla, k);
    return finish(out, err);
}

/* Around each element of the array. */
static void begin_element(out_t *out, bool is_first)
{
    cuzk_encode_text(out, is_first ? "[\"" : "\",\"");
    cuzk_encode_base64(out, true);
}

cuzk_status cuzk_post_vanilla_write(FILE *file, const cuzk_post_vanilla *vanilla, cuzk_error *err)
{
    out_t *out;
    CUZK_TRY(create(&out, file, err));
    for (uint32_t i = 0; i < vanilla->n_sectors; i++) {
        begin_element(out, i == 0);
        bin_sector(out, vanilla, i);
        cuzk_encode_base64(out, false);
    }
    cuzk_encode_text(out, "\"]");
    return finish(out, err);
}

cuzk_status cuzk_update_vanilla_write(FILE *file, const cuzk_update_vanilla *vanilla,
                                      cuzk_error *err)
{
    out_t *out;
    CUZK_TRY(create(&out, file, err));
    for (unsigned k = 0; k < vanilla->shape.partitions; k++) {
        begin_element(out, k == 0);
        bin_partition(out, vanilla, k);
        cuzk_encode_base64(out, false);
    }
    cuzk_encode_text(out, "\"]");
    return finish(out, err);
}
