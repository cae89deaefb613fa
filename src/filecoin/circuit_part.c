/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/circuit_part.h"

#include <stdatomic.h>

const cuzk_digest cuzk_blank_digests[CUZK_MERKLE_SIBLINGS];

cuzk_merkle_shape cuzk_merkle_shape_of(cuzk_tree tree, cuzk_merkle_hash hash)
{
    cuzk_merkle_shape shape = {.hash = hash, .n_levels = (uint8_t)cuzk_tree_levels(tree)};
    for (unsigned i = 0; i < shape.n_levels && i < CUZK_MERKLE_LEVELS; i++) {
        shape.arity[i] = (uint8_t)cuzk_tree_arity(tree, i);
    }
    return shape;
}

cuzk_merkle_path cuzk_merkle_path_of(const cuzk_merkle_proof *proof)
{
    return (cuzk_merkle_path){.index = proof->index, .siblings = proof->siblings->b};
}

struct parts {
    const cuzk_shape *shape;
    const cuzk_shape_block *block;
    cuzk_witness *witness;
    cuzk_circuit_part_fn write;
    size_t group;
    const void *ctx;
    atomic_bool misplaced; /* a part did not end where it should */
};

/* A cursor at the start of a part; the one behind the last part stands at its end. */
static void begin_part(const struct parts *p, cuzk_cs *cs, size_t part)
{
    const cuzk_shape_block *b = p->block;
    cuzk_cs_witness_begin(cs, p->witness,
                          b->first_aux - p->shape->n_inputs + (uint32_t)part * b->aux_stride,
                          b->first_input + (uint32_t)part * b->input_stride);
}

static void write_group(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct parts *p = ctx;
    cuzk_cs lanes[CUZK_MERKLE_LANES];
    size_t first = chunk * p->group, left = p->block->n_copies - first;
    size_t n = left < p->group ? left : p->group;
    for (size_t i = 0; i < n; i++) {
        begin_part(p, &lanes[i], first + i);
    }
    p->write(lanes, n, first, p->ctx);
    for (size_t i = 0; i < n; i++) {
        const cuzk_shape_block *b = p->block;
        uint32_t next = (uint32_t)(first + i + 1);
        cuzk_cs_witness_end(&lanes[i]);
        if (lanes[i].var != b->first_aux + next * b->aux_stride ||
            lanes[i].input != b->first_input + next * b->input_stride) {
            atomic_store_explicit(&p->misplaced, true, memory_order_relaxed); /* read when joined */
        }
    }
}

/* The repeated part. */
static const cuzk_shape_block *copies_of(const cuzk_shape *shape)
{
    const cuzk_shape_block *b = shape->blocks;
    while (b->n_copies == 1 && b + 1 < shape->blocks + shape->n_blocks) {
        b++;
    }
    return b;
}

cuzk_status cuzk_circuit_witness(cuzk_witness **out, const cuzk_shape *shape, size_t n_parts,
                                 void (*write_head)(cuzk_cs *cs, void *ctx),
                                 cuzk_circuit_part_fn write_parts, size_t group, void *ctx,
                                 cuzk_pool *pool, cuzk_error *err)
{
    CUZK_ASSERT(group <= CUZK_MERKLE_LANES);
    const cuzk_shape_block *block = copies_of(shape);
    CUZK_FAIL_IF(block->n_copies != n_parts, err, CUZK_E_MISMATCH,
                 "making a witness: the circuit has %u equal parts, the proof %zu", block->n_copies,
                 n_parts);
    cuzk_witness *w;
    CUZK_TRY(cuzk_witness_create(&w, shape->curve, shape->n_vars, shape->n_inputs, shape->is_field,
                                 err));
    struct parts p = {.shape = shape,
                      .block = block,
                      .witness = w,
                      .write = write_parts,
                      .group = group,
                      .ctx = ctx};
    cuzk_cs head;
    cuzk_cs_witness_begin(&head, w, 0, 1);
    write_head(&head, ctx);
    cuzk_cs_witness_end(&head);
    bool fits = head.var == block->first_aux && head.input == block->first_input;
    if (fits) {
        cuzk_pool_for(pool, (n_parts + group - 1) / group, write_group, &p);
    }
    if (!fits || p.misplaced) {
        cuzk_witness_destroy(w);
        return CUZK_FAIL(
            err, CUZK_E_MISMATCH,
            "making a witness: the circuit is not that of the proof: its parts have other sizes");
    }
    *out = w;
    return CUZK_OK;
}
