/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/merkle.h"

#include "base/bytes.h"
#include "gadget/poseidon_circuit.h"

/* Bits that choose a child of a node of this arity. */
static unsigned arity_bits(unsigned arity)
{
    return (unsigned)__builtin_ctz(arity);
}

unsigned cuzk_merkle_index_bits(const cuzk_merkle_shape *shape)
{
    unsigned n = 0;
    for (unsigned i = 0; i < shape->n_levels; i++) {
        n += arity_bits(shape->arity[i]);
    }
    return n;
}

unsigned cuzk_merkle_n_siblings(const cuzk_merkle_shape *shape)
{
    unsigned n = 0;
    for (unsigned i = 0; i < shape->n_levels; i++) {
        n += shape->arity[i] - 1u;
    }
    return n;
}

/* Variables of cuzk_num_insert. */
static uint32_t insert_n_aux(unsigned arity)
{
    return arity == 2 ? 2 : arity == 4 ? 8 : 22;
}

uint32_t cuzk_merkle_open_n_aux(const cuzk_merkle_shape *shape)
{
    return cuzk_merkle_index_bits(shape) + cuzk_merkle_n_siblings(shape) +
           cuzk_merkle_check_n_aux(shape);
}

uint32_t cuzk_merkle_check_n_aux(const cuzk_merkle_shape *shape)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < shape->n_levels; i++) {
        n += insert_n_aux(shape->arity[i]) + cuzk_poseidon_n_values(shape->arity[i]);
    }
    return n;
}

/* Parents of n nodes whose children stand one after the other. */
static void hash_level(cuzk_cs *lanes, size_t n, cuzk_merkle_hash hash, unsigned arity,
                       cuzk_num *out, const cuzk_num *children)
{
    if (hash == CUZK_MERKLE_POSEIDON) {
        cuzk_poseidon_circuit_lanes(lanes, n, out, arity, cuzk_poseidon_merkle_tag(arity),
                                    children);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = cuzk_sha256_node(&lanes[i], &children[2 * i], &children[2 * i + 1]);
    }
}

void cuzk_merkle_open(cuzk_cs *lanes, size_t n, const cuzk_merkle_shape *shape,
                      const cuzk_num *leaf, const cuzk_merkle_path *path, const cuzk_num *root)
{
    CUZK_ASSERT(n <= CUZK_MERKLE_LANES && (n == 1 || !cuzk_cs_is_shape(lanes)));
    bool values = !cuzk_cs_is_shape(lanes);
    cuzk_num current[CUZK_MERKLE_LANES], ordered[CUZK_MERKLE_LANES * CUZK_INSERT_MAX];
    cuzk_bit bits[CUZK_MERKLE_LANES][CUZK_MERKLE_LEVELS];
    unsigned n_bits = 0, n_siblings = 0;
    for (size_t i = 0; i < n; i++) {
        current[i] = leaf[i];
    }
    for (unsigned level = 0; level < shape->n_levels; level++) {
        unsigned arity = shape->arity[level], q = arity_bits(arity);
        for (size_t i = 0; i < n; i++) {
            static const uint8_t no_value[32];
            cuzk_num siblings[CUZK_INSERT_MAX];
            uint64_t digit = values ? path[i].index >> n_bits & (arity - 1) : 0;
            cuzk_alloc_bits(&lanes[i], digit, q, &bits[i][n_bits]);
            for (unsigned k = 0; k + 1 < arity; k++) {
                siblings[k] = cuzk_cs_alloc_num(
                    &lanes[i], values ? path[i].siblings + 32 * (n_siblings + k) : no_value);
            }
            cuzk_num_insert(&lanes[i], &ordered[i * arity], &current[i], siblings, &bits[i][n_bits],
                            arity);
        }
        hash_level(lanes, n, shape->hash, arity, current, ordered);
        n_bits += q;
        n_siblings += arity - 1;
    }
    for (size_t i = 0; i < n; i++) {
        cuzk_inputize_bits(&lanes[i], bits[i], n_bits);
        cuzk_cs_equal(&lanes[i], &current[i], &root[i]);
    }
}

void cuzk_merkle_check(cuzk_cs *lanes, size_t n, const cuzk_merkle_shape *shape,
                       const cuzk_merkle_place *places)
{
    CUZK_ASSERT(n <= CUZK_MERKLE_LANES && (n == 1 || !cuzk_cs_is_shape(lanes)));
    cuzk_num current[CUZK_MERKLE_LANES], ordered[CUZK_MERKLE_LANES * CUZK_INSERT_MAX];
    unsigned n_bits = 0, n_siblings = 0;
    for (size_t i = 0; i < n; i++) {
        current[i] = places[i].leaf;
    }
    for (unsigned level = 0; level < shape->n_levels; level++) {
        unsigned arity = shape->arity[level];
        for (size_t i = 0; i < n; i++) {
            cuzk_num_insert(&lanes[i], &ordered[i * arity], &current[i],
                            places[i].siblings + n_siblings, places[i].bits + n_bits, arity);
        }
        hash_level(lanes, n, shape->hash, arity, current, ordered);
        n_bits += arity_bits(arity);
        n_siblings += arity - 1;
    }
    for (size_t i = 0; i < n; i++) {
        cuzk_cs_equal(&lanes[i], &current[i], &places[i].root);
    }
}

cuzk_num cuzk_merkle_root_sha256(cuzk_cs *cs, const cuzk_num *leaves, unsigned lg_n,
                                 cuzk_num *scratch)
{
    const cuzk_num *row = leaves;
    for (size_t n = (size_t)1 << lg_n; n > 1; n /= 2) {
        for (size_t i = 0; i < n / 2; i++) {
            scratch[i] = cuzk_sha256_node(cs, &row[2 * i], &row[2 * i + 1]);
        }
        row = scratch;
    }
    return row[0];
}
