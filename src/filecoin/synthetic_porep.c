/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A sealed sector of zeros along the paths that its challenges open. */
#include "base/sha256.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/merkle_roots.h"
#include "filecoin/sparse_tree.h"
#include "filecoin/synthetic.h"

#include <stdlib.h>

/* A node whose labels are known: challenged, or parent of a challenged one. */
typedef struct {
    uint64_t node;
    bool challenged;
    cuzk_digest rows[CUZK_POREP_LAYERS_MAX];
} labelled;

typedef struct {
    const cuzk_synthetic_params *params;
    cuzk_draw draw;
    cuzk_porep_vanilla *out;
    cuzk_graph graph;
    cuzk_tree tree_d, tree_r;
    cuzk_digest zeros[40]; /* nodes of tree D, level by level */
    labelled *nodes;       /* ascending */
    size_t n_nodes;
    cuzk_sparse_tree tree_c, tree_last;
} maker;

static int by_node(const void *a, const void *b)
{
    const labelled *x = a;
    const labelled *y = b;
    return x->node != y->node ? (x->node < y->node ? -1 : 1) : y->challenged - x->challenged;
}

static labelled *find(const maker *m, uint64_t node)
{
    const labelled key = {.node = node};
    size_t low = 0;
    size_t high = m->n_nodes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->nodes[middle].node < key.node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &m->nodes[low];
}

/* What is fixed before anything is chosen: comm_d, replica id, challenges. */
static void fix_statement(maker *m)
{
    const cuzk_synthetic_params *p = m->params;
    cuzk_porep_vanilla *v = m->out;
    memset(&m->zeros[0], 0, sizeof m->zeros[0]);
    for (unsigned l = 0; l < m->tree_d.base_levels; l++) {
        cuzk_digest children[2] = {m->zeros[l], m->zeros[l]};
        cuzk_sha256_digest(m->zeros[l + 1].b, children, sizeof children);
        m->zeros[l + 1].b[31] &= 0x3f;
    }
    cuzk_digest drawn;
    cuzk_draw_digest(&drawn, m->draw, "seed", 0, 0);
    memcpy(v->seed, drawn.b, sizeof v->seed);
    cuzk_draw_digest(&drawn, m->draw, "ticket", 0, 0);
    memcpy(v->ticket, drawn.b, sizeof v->ticket);
    v->comm_d = m->zeros[m->tree_d.base_levels];
    uint8_t porep_id[32];
    uint8_t prover_id[32];
    cuzk_porep_id(porep_id, &p->proof);
    cuzk_prover_id(prover_id, p->miner_id);
    cuzk_replica_id(v->replica_id.b, prover_id, p->sector_number, v->ticket, v->comm_d.b, porep_id);
    cuzk_graph_init(&m->graph, porep_id, cuzk_sector_nodes(p->proof.sector), p->proof.api);
}

/* The challenged nodes and their parents, each once; the labels of parents are drawn. */
static void collect_nodes(maker *m)
{
    cuzk_porep_vanilla *v = m->out;
    cuzk_porep_challenge_params params = {.variant = CUZK_POREP_INTERACTIVE,
                                          .nodes = m->graph.nodes,
                                          .per_partition = v->shape.challenges,
                                          .replica_id = v->replica_id.b,
                                          .seed = v->seed};
    size_t n = 0;
    for (unsigned k = 0; k < v->shape.partitions; k++) {
        uint64_t challenged[32];
        cuzk_porep_challenges(challenged, &params, k);
        for (unsigned c = 0; c < v->shape.challenges; c++) {
            uint64_t parents[CUZK_PARENTS];
            v->challenges[k * v->shape.challenges + c].node = challenged[c];
            m->nodes[n++] = (labelled){.node = challenged[c], .challenged = true};
            cuzk_graph_parents(&m->graph, challenged[c], parents);
            for (unsigned i = 0; i < CUZK_PARENTS; i++) {
                m->nodes[n++] = (labelled){.node = parents[i]};
            }
        }
    }
    qsort(m->nodes, n, sizeof *m->nodes, by_node);
    for (size_t i = 0; i < n; i++) {
        if (m->n_nodes == 0 || m->nodes[m->n_nodes - 1].node != m->nodes[i].node) {
            m->nodes[m->n_nodes++] = m->nodes[i];
        }
    }
    for (size_t i = 0; i < m->n_nodes; i++) {
        for (unsigned l = 0; l < v->shape.layers && !m->nodes[i].challenged; l++) {
            cuzk_draw_digest(&m->nodes[i].rows[l], m->draw, "label", l, m->nodes[i].node);
        }
    }
}

/* Labels of the challenged nodes. Base parents are lower nodes, so that ascending order serves. */
static void compute_labels(maker *m)
{
    for (unsigned layer = 1; layer <= m->out->shape.layers; layer++) {
        for (size_t i = 0; i < m->n_nodes; i++) {
            labelled *node = &m->nodes[i];
            if (!node->challenged) {
                continue;
            }
            uint64_t parents[CUZK_PARENTS];
            const cuzk_digest *labels[CUZK_PARENTS];
            cuzk_graph_parents(&m->graph, node->node, parents);
            for (unsigned k = 0; k < CUZK_PARENTS; k++) {
                unsigned from = k < CUZK_DRG_PARENTS || layer == 1 ? layer : layer - 1;
                labels[k] = &find(m, parents[k])->rows[from - 1];
            }
            cuzk_label(&node->rows[layer - 1], &m->out->replica_id, layer, node->node, labels);
        }
    }
}

/* Trees C and R, and the commitments. */
static cuzk_status build_trees(maker *m, cuzk_error *err)
{
    unsigned layers = m->out->shape.layers;
    cuzk_tree_node *leaves = calloc(m->n_nodes, sizeof *leaves);
    CUZK_FAIL_IF(leaves == NULL, err, CUZK_E_MEMORY, "out of memory");
    for (size_t i = 0; i < m->n_nodes; i++) {
        const cuzk_digest *rows = m->nodes[i].rows;
        leaves[i].index = m->nodes[i].node;
        cuzk_column_hashes(&leaves[i].value, &rows, layers, 1);
    }
    cuzk_status s =
        cuzk_sparse_tree_build(&m->tree_c, m->tree_r, leaves, m->n_nodes, m->draw, "tree C", err);
    size_t n = 0;
    for (size_t i = 0; i < m->n_nodes; i++) {
        if (m->nodes[i].challenged) {
            leaves[n].index = m->nodes[i].node;
            cuzk_encode(&leaves[n++].value, &m->nodes[i].rows[layers - 1], &m->zeros[0]);
        }
    }
    if (s == CUZK_OK) {
        s = cuzk_sparse_tree_build(&m->tree_last, m->tree_r, leaves, n, m->draw, "tree R", err);
    }
    if (s == CUZK_OK) {
        cuzk_comm_r(&m->out->comm_r, cuzk_sparse_tree_root(&m->tree_c),
                    cuzk_sparse_tree_root(&m->tree_last));
    }
    free(leaves);
    return s;
}

/* One column into the digests at *to, which is advanced. */
static void open_column(const maker *m, cuzk_porep_column *out, uint64_t node, cuzk_digest **to)
{
    unsigned layers = m->out->shape.layers;
    out->node = node;
    out->rows = *to;
    memcpy(*to, find(m, node)->rows, layers * sizeof **to);
    *to += layers;
    cuzk_sparse_tree_open(&out->inclusion, *to, &m->tree_c, node);
    *to += cuzk_tree_siblings(m->tree_r);
}

static cuzk_status open_challenge(maker *m, cuzk_porep_challenge *ch, cuzk_error *err)
{
    unsigned n_d = cuzk_tree_siblings(m->tree_d);
    unsigned n_r = cuzk_tree_siblings(m->tree_r);
    size_t n = n_d + n_r + (1 + CUZK_PARENTS) * (size_t)(m->out->shape.layers + n_r);
    ch->digests = malloc(n * sizeof *ch->digests);
    CUZK_FAIL_IF(ch->digests == NULL, err, CUZK_E_MEMORY, "out of memory");
    cuzk_digest *to = ch->digests;
    ch->d = (cuzk_merkle_proof){.root = m->out->comm_d, .index = ch->node, .siblings = to};
    memcpy(to, m->zeros, n_d * sizeof *to);
    to += n_d;
    cuzk_sparse_tree_open(&ch->r, to, &m->tree_last, ch->node);
    to += n_r;
    uint64_t parents[CUZK_PARENTS];
    cuzk_graph_parents(&m->graph, ch->node, parents);
    open_column(m, &ch->column, ch->node, &to);
    for (unsigned i = 0; i < CUZK_PARENTS; i++) {
        open_column(m, &ch->parents[i], parents[i], &to);
    }
    return CUZK_OK;
}

static cuzk_status make(maker *m, cuzk_error *err)
{
    cuzk_porep_vanilla *v = m->out;
    v->proof = m->params->proof;
    v->shape = cuzk_porep_shape_of(v->proof.sector, false);
    uint32_t n = v->shape.partitions * v->shape.challenges;
    v->challenges = calloc(n, sizeof *v->challenges);
    v->n_challenges = v->challenges != NULL ? n : 0;
    m->nodes = calloc((size_t)n * (1 + CUZK_PARENTS), sizeof *m->nodes);
    CUZK_FAIL_IF(v->challenges == NULL || m->nodes == NULL, err, CUZK_E_MEMORY, "out of memory");
    fix_statement(m);
    collect_nodes(m);
    compute_labels(m);
    CUZK_TRY(build_trees(m, err));
    for (uint32_t i = 0; i < v->n_challenges; i++) {
        CUZK_TRY(open_challenge(m, &v->challenges[i], err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_synthetic_porep(cuzk_porep_vanilla *out, const cuzk_synthetic_params *params,
                                 cuzk_error *err)
{
    *out = (cuzk_porep_vanilla){0};
    CUZK_FAIL_IF(
        params->proof.variant != CUZK_POREP_INTERACTIVE, err, CUZK_E_UNSUPPORTED,
        "challenges of this PoRep depend on comm_r, which depends on the challenged labels: "
        "only a whole sector has such a proof. The interactive form has the same circuit");
    maker m = {.params = params,
               .draw = {params->seed},
               .out = out,
               .tree_d = cuzk_tree_sha256(params->proof.sector),
               .tree_r = cuzk_tree_poseidon(params->proof.sector)};
    cuzk_status s = make(&m, err);
    if (s != CUZK_OK) {
        cuzk_porep_vanilla_clear(out);
    }
    cuzk_sparse_tree_clear(&m.tree_c);
    cuzk_sparse_tree_clear(&m.tree_last);
    free(m.nodes);
    return s;
}
