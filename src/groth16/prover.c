/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Making a prover: which base belongs to which variable, for both kinds of key.
 *
 * A circom key holds infinity for wires that a matrix does not use, often for half of B. The prover
 * looks once which bases are there, so that neither bit sums nor buckets ever meet the others. A
 * bellperson key leaves such bases out; there the shape's densities tell. */
#include "groth16/prover_impl.h"

#include "base/map_file.h"
#include "base/pages.h"
#include "formats/points.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANGE_WORDS = 128, /* support words of one chunk of work */
    COORDINATES = CUZK_POINTS_COORDINATES | CUZK_POINTS_ALLOW_INFINITY
};

/* ---- supports -------------------------------------------------------------------------------- */

struct scan {
    const cuzk_curve *curve;
    const cuzk_group *group;
    const uint8_t *bases;
    uint32_t n_vars;
    uint64_t *support;
    _Atomic bool look_closer; /* a coordinate may not be below p */
};

static bool is_present(const struct scan *s, const uint8_t *base)
{
    uint64_t first_limb;
    memcpy(&first_limb, base, 8);
    return first_limb != 0 || !s->group->affine_is_infinity(base);
}

static void scan_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct scan *s = ctx;
    bool reduced = true;
    size_t n_words = cuzk_bitmap_words(s->n_vars), begin = chunk * RANGE_WORDS;
    size_t end = begin + RANGE_WORDS < n_words ? begin + RANGE_WORDS : n_words;
    for (size_t word = begin; word < end; word++) {
        uint32_t n = s->n_vars - (uint32_t)(64 * word);
        const uint8_t *bases = s->bases + 64 * word * s->group->affine_bytes;
        uint64_t bits = 0;
        n = n < 64 ? n : 64;
        for (uint32_t i = 0; i < n; i++) {
            bits |= (uint64_t)is_present(s, bases + i * s->group->affine_bytes) << i;
        }
        s->support[word] = bits;
        reduced &= cuzk_points_plainly_reduced(s->curve, s->group->id, bases, n);
    }
    if (!reduced) {
        /* relaxed: read after the loop has been joined */
        atomic_store_explicit(&s->look_closer, true, memory_order_relaxed);
    }
}

/* Field arithmetic rests on coordinates below p, and the points of a circom key are used as they
 * lie in the file. Whether they are on the curve is left to the self-check of each proof, or to a
 * deep check of the key. */
static cuzk_status check_coordinates(const cuzk_prover *p, cuzk_zkey_query query, cuzk_pool *pool,
                                     cuzk_error *err)
{
    cuzk_zkey_query_view queries[CUZK_ZKEY_QUERY_COUNT];
    cuzk_zkey_queries(&p->zkey, queries);
    const cuzk_zkey_query_view *q = &queries[query];
    return cuzk_points_check(p->curve, q->group, q->points, q->n, 0, COORDINATES, q->name, pool,
                             err);
}

/* The variables whose base of a query in G1 is not infinity, and how many. Coordinates are checked
 * in the same pass over memory. */
static cuzk_status find_support(const cuzk_prover *p, cuzk_zkey_query query, const void *bases,
                                uint64_t *support, uint64_t *n, cuzk_pool *pool, cuzk_error *err)
{
    struct scan s = {p->curve, &p->curve->g[CUZK_G1], bases, p->n_vars, support, false};
    size_t n_words = cuzk_bitmap_words(p->n_vars);
    cuzk_pool_for(pool, (n_words + RANGE_WORDS - 1) / RANGE_WORDS, scan_range, &s);
    if (s.look_closer) {
        CUZK_TRY(check_coordinates(p, query, pool, err));
    }
    *n = cuzk_bitmap_count(support, p->n_vars);
    return CUZK_OK;
}

static void add_query(cuzk_query_set *set, cuzk_prover_query query, cuzk_group_id group,
                      const void *bases, uint64_t first, cuzk_prover *p)
{
    p->place[query].set = (unsigned)(set - p->sets);
    p->place[query].query = (unsigned)set->n_queries;
    set->queries[set->n_queries++] =
        (cuzk_msm_query){.group = group, .bases = bases, .first = first};
}

/* A support that leaves out less than a tenth of the variables does not pay for its own digits: the
 * query then joins the set of C, which has nearly all of them. */
static cuzk_status plan_zkey_sets(cuzk_prover *p, cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_zkey *key = &p->zkey;
    uint64_t n_a, n_b, enough = p->n_vars - p->n_vars / 10;
    CUZK_TRY(find_support(p, CUZK_ZKEY_QUERY_A, key->a, p->support_a, &n_a, pool, err));
    CUZK_TRY(find_support(p, CUZK_ZKEY_QUERY_B1, key->b1, p->support_b, &n_b, pool, err));
    bool a_is_full = n_a >= enough, b_is_full = n_b >= enough;
    cuzk_query_set *all = &p->sets[p->n_sets++];
    cuzk_query_set *of_a = a_is_full ? all : &p->sets[p->n_sets++];
    cuzk_query_set *of_b = b_is_full ? all : &p->sets[p->n_sets++];
    if (!a_is_full) {
        of_a->support = p->support_a;
    }
    if (!b_is_full) {
        of_b->support = p->support_b;
    }
    add_query(all, CUZK_QUERY_C, CUZK_G1, key->c, p->n_inputs, p);
    add_query(of_a, CUZK_QUERY_A, CUZK_G1, key->a, 0, p);
    add_query(of_b, CUZK_QUERY_B1, CUZK_G1, key->b1, 0, p);
    add_query(of_b, CUZK_QUERY_B2, CUZK_G2, key->b2, 0, p);
    return CUZK_OK;
}

static void plan_params_sets(cuzk_prover *p)
{
    const cuzk_shape *shape = p->shape;
    for (uint32_t v = 0; v < p->n_vars; v++) {
        bool input = v < p->n_inputs;
        if (input || cuzk_bitmap_get(shape->a_aux_density, v - p->n_inputs)) {
            cuzk_bitmap_set(p->support_a, v);
        }
        if (input ? cuzk_bitmap_get(shape->b_input_density, v)
                  : cuzk_bitmap_get(shape->b_aux_density, v - p->n_inputs)) {
            cuzk_bitmap_set(p->support_b, v);
        }
    }
    p->n_sets = 3;
    p->sets[1].support = p->support_a;
    p->sets[2].support = p->support_b;
    p->sets[1].compact = p->sets[2].compact = true;
    add_query(&p->sets[0], CUZK_QUERY_C, CUZK_G1, p->decoded[CUZK_PARAMS_L], p->n_inputs, p);
    add_query(&p->sets[1], CUZK_QUERY_A, CUZK_G1, p->decoded[CUZK_PARAMS_A], 0, p);
    add_query(&p->sets[2], CUZK_QUERY_B1, CUZK_G1, p->decoded[CUZK_PARAMS_B_G1], 0, p);
    add_query(&p->sets[2], CUZK_QUERY_B2, CUZK_G2, p->decoded[CUZK_PARAMS_B_G2], 0, p);
}

/* ---- making ---------------------------------------------------------------------------------- */

static cuzk_status create(cuzk_prover **out, const cuzk_curve *curve, uint32_t n_vars,
                          uint32_t n_inputs, const cuzk_shape *shape,
                          const cuzk_prover_params *params, cuzk_error *err)
{
    cuzk_prover *p = calloc(1, sizeof *p);
    CUZK_FAIL_IF(p == NULL, err, CUZK_E_MEMORY, "making a prover: out of memory");
    p->curve = curve;
    p->n_vars = n_vars;
    p->n_inputs = n_inputs;
    p->shape = shape;
    p->drop = params != NULL && params->drop_mapped_pages;
    p->drop_decoded = params != NULL && params->drop_decoded_pages;
    p->support_a = calloc(cuzk_bitmap_words(n_vars), sizeof *p->support_a);
    p->support_b = calloc(cuzk_bitmap_words(n_vars), sizeof *p->support_b);
    if (p->support_a == NULL || p->support_b == NULL) {
        cuzk_prover_destroy(p);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "making a prover for %u variables: out of memory",
                         n_vars);
    }
    *out = p;
    return CUZK_OK;
}

static cuzk_status make_domain(cuzk_prover *p, unsigned generator, unsigned lg_n, cuzk_error *err)
{
    p->lg_n = lg_n;
    p->n = (size_t)1 << lg_n;
    return cuzk_domain_create(&p->domain, p->curve, generator, lg_n, err);
}

/* The coordinates of the points that find_support does not see. */
static cuzk_status check_other_coordinates(const cuzk_prover *p, cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_zkey *key = &p->zkey;
    CUZK_TRY(cuzk_points_check(p->curve, CUZK_G1, p->vk.ic, p->vk.n_ic, 0, COORDINATES,
                               "zkey section 3 (IC)", pool, err));
    CUZK_TRY(check_coordinates(p, CUZK_ZKEY_QUERY_B2, pool, err));
    CUZK_TRY(check_coordinates(p, CUZK_ZKEY_QUERY_C, pool, err));
    CUZK_TRY(check_coordinates(p, CUZK_ZKEY_QUERY_H, pool, err));
    if (p->drop) {
        size_t g1 = p->curve->g[CUZK_G1].affine_bytes, g2 = p->curve->g[CUZK_G2].affine_bytes;
        cuzk_map_file_drop(key->b2, key->n_vars * g2);
        cuzk_map_file_drop(key->c, (key->n_vars - p->n_inputs) * g1);
        cuzk_map_file_drop(key->h, key->domain_size * g1);
    }
    return CUZK_OK;
}

static cuzk_status init_zkey(cuzk_prover *p, const cuzk_zkey *key, cuzk_pool *pool, cuzk_error *err)
{
    p->is_zkey = true;
    p->zkey = *key;
    p->vk = key->vk;
    p->vk.owned = NULL; /* the ic of a zkey is a view */
    p->h = key->h;
    p->n_h = key->domain_size;
    CUZK_TRY(check_other_coordinates(p, pool, err));
    CUZK_TRY(make_domain(p, CUZK_ZKEY_GENERATOR, key->lg_domain, err));
    CUZK_TRY(plan_zkey_sets(p, pool, err));
    return cuzk_verifier_init(&p->verifier, &p->vk, !p->drop, err);
}

cuzk_status cuzk_prover_create_zkey(cuzk_prover **out, const cuzk_zkey *key,
                                    const cuzk_shape *shape, const cuzk_prover_params *params,
                                    cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(shape != NULL &&
                     (shape->curve->id != key->curve->id || shape->n_vars != key->n_vars ||
                      shape->n_inputs != key->n_public + 1),
                 err, CUZK_E_MISMATCH,
                 "the key is over %s for %u wires, %u of them public; the circuit is over %s with "
                 "%u wires, %u of them public",
                 key->curve->snarkjs_name, key->n_vars, key->n_public, shape->curve->snarkjs_name,
                 shape->n_vars, shape->n_inputs - 1);
    cuzk_prover *p = NULL;
    CUZK_TRY(create(&p, key->curve, key->n_vars, key->n_public + 1, shape, params, err));
    cuzk_status status = init_zkey(p, key, pool, err);
    if (status != CUZK_OK) {
        cuzk_prover_destroy(p);
        return status;
    }
    *out = p;
    return CUZK_OK;
}

/* What a .params must hold for a shape. */
static cuzk_status check_params(const cuzk_params *key, const cuzk_shape *shape, cuzk_error *err)
{
    CUZK_FAIL_IF(shape->curve->id != key->curve->id, err, CUZK_E_MISMATCH,
                 "the key is over %s, the circuit over %s", key->curve->snarkjs_name,
                 shape->curve->snarkjs_name);
    uint64_t domain = 1;
    while (domain < cuzk_shape_n_rows(shape)) {
        domain *= 2;
    }
    uint64_t n_b = (uint64_t)shape->n_b_input + shape->n_b_aux;
    const struct {
        const char *what;
        uint64_t found, expected;
    } counts[] = {
        {"ic", key->n_ic, shape->n_inputs},
        {"h", key->arrays[CUZK_PARAMS_H].n, domain - 1},
        {"l", key->arrays[CUZK_PARAMS_L].n, cuzk_shape_n_aux(shape)},
        {"a", key->arrays[CUZK_PARAMS_A].n, (uint64_t)shape->n_inputs + shape->n_a_aux},
        {"b_g1", key->arrays[CUZK_PARAMS_B_G1].n, n_b},
        {"b_g2", key->arrays[CUZK_PARAMS_B_G2].n, n_b},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CUZK_FAIL_IF(counts[i].found != counts[i].expected, err, CUZK_E_MISMATCH,
                     "the key is of another circuit: array %s has %llu points, expected %llu",
                     counts[i].what, (unsigned long long)counts[i].found,
                     (unsigned long long)counts[i].expected);
    }
    return CUZK_OK;
}

enum { PIECE = 1 << 16 }; /* points decoded at a time */

static size_t point_bytes(const cuzk_prover *p, cuzk_params_array array)
{
    return p->curve->g[array == CUZK_PARAMS_B_G2 ? CUZK_G2 : CUZK_G1].affine_bytes;
}

/* Decode in pieces, giving back the file's pages piece by piece. step: 1 to keep the pieces in out,
 * 0 to write each over the one before it. */
static cuzk_status decode_pieces(const cuzk_prover *p, cuzk_params_array array, uint8_t *out,
                                 size_t step, cuzk_pool *pool, cuzk_error *err)
{
    size_t each = point_bytes(p, array);
    uint64_t n_points = p->params.arrays[array].n;
    for (uint64_t i = 0; i < n_points; i += PIECE) {
        uint64_t n = n_points - i < PIECE ? n_points - i : PIECE;
        CUZK_TRY(
            cuzk_params_decode(out + step * i * each, &p->params, array, i, n, false, pool, err));
        if (p->drop || p->drop_decoded) {
            cuzk_map_file_drop(p->params.arrays[array].data + i * each, n * each);
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_prover_decode(const cuzk_prover *p, cuzk_params_array array, uint8_t *out,
                               cuzk_pool *pool, cuzk_error *err)
{
    return decode_pieces(p, array, out, 1, pool, err);
}

static cuzk_status decode_arrays(cuzk_prover *p, cuzk_pool *pool, cuzk_error *err)
{
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        cuzk_params_array array = (cuzk_params_array)k;
        p->decoded_bytes[k] = p->params.arrays[k].n * point_bytes(p, array);
        if (p->decode_late) {
            continue;
        }
        p->decoded[k] = cuzk_pages_alloc(p->decoded_bytes[k]);
        CUZK_FAIL_IF(p->decoded[k] == NULL, err, CUZK_E_MEMORY,
                     "decoding array %s of the key: %zu bytes: out of memory",
                     cuzk_params_array_name(array), p->decoded_bytes[k]);
        CUZK_TRY(cuzk_prover_decode(p, array, p->decoded[k], pool, err));
    }
    return CUZK_OK;
}

/* Every point is decoded and forgotten. */
static cuzk_status check_arrays(const cuzk_prover *p, cuzk_pool *pool, cuzk_error *err)
{
    size_t n_bytes = (size_t)PIECE * p->curve->g[CUZK_G2].affine_bytes;
    uint8_t *scratch = cuzk_pages_alloc(n_bytes);
    CUZK_FAIL_IF(scratch == NULL, err, CUZK_E_MEMORY, "decoding a key: out of memory");
    cuzk_status status = CUZK_OK;
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT && status == CUZK_OK; k++) {
        status = decode_pieces(p, (cuzk_params_array)k, scratch, 0, pool, err);
    }
    cuzk_pages_free(scratch, n_bytes);
    return status;
}

static cuzk_status init_params(cuzk_prover *p, const cuzk_params *key, cuzk_pool *pool,
                               cuzk_error *err)
{
    CUZK_TRY(make_domain(p, CUZK_PARAMS_GENERATOR, key->lg_domain, err));
    CUZK_TRY(cuzk_params_vk(&p->vk, key, pool, err));
    p->params = *key;
    CUZK_TRY(decode_arrays(p, pool, err));
    if (p->decode_late && !p->device_decodes) {
        CUZK_TRY(check_arrays(p, pool, err));
    } else if (!p->decode_late) {
        memset(&p->params, 0, sizeof p->params); /* the caller may take the bytes away */
    }
    p->h = p->decoded[CUZK_PARAMS_H];
    p->n_h = key->arrays[CUZK_PARAMS_H].n;
    plan_params_sets(p);
    return cuzk_verifier_init(&p->verifier, &p->vk, !p->drop, err);
}

cuzk_status cuzk_prover_create_params(cuzk_prover **out, const cuzk_params *key,
                                      const cuzk_shape *shape, const cuzk_prover_params *params,
                                      cuzk_pool *pool, cuzk_error *err)
{
    CUZK_TRY(check_params(key, shape, err));
    cuzk_prover *p = NULL;
    CUZK_TRY(create(&p, key->curve, shape->n_vars, shape->n_inputs, shape, params, err));
    p->decode_late = params != NULL && params->decode_late;
    p->device_decodes = params != NULL && params->device_decodes;
    cuzk_status status = init_params(p, key, pool, err);
    if (status != CUZK_OK) {
        cuzk_prover_destroy(p);
        return status;
    }
    *out = p;
    return CUZK_OK;
}

static cuzk_status init_made(cuzk_prover *p, const cuzk_vk *vk, cuzk_error *err)
{
    unsigned lg_n = 0;
    while ((uint64_t)1 << lg_n < cuzk_shape_n_rows(p->shape)) {
        lg_n++;
    }
    p->n_h = ((size_t)1 << lg_n) - 1;
    CUZK_TRY(make_domain(p, CUZK_PARAMS_GENERATOR, lg_n, err));
    p->vk = *vk;
    p->vk.owned = NULL; /* borrowed */
    plan_params_sets(p);
    return cuzk_verifier_init(&p->verifier, &p->vk, !p->drop, err);
}

cuzk_status cuzk_prover_create_made(cuzk_prover **out, const cuzk_shape *shape, const cuzk_vk *vk,
                                    const cuzk_point_source *source, cuzk_error *err)
{
    CUZK_FAIL_IF(vk->curve->id != shape->curve->id || vk->n_ic != shape->n_inputs, err,
                 CUZK_E_MISMATCH,
                 "the verifying key is over %s with %u public values, the circuit over %s with %u",
                 vk->curve->snarkjs_name, vk->n_ic, shape->curve->snarkjs_name, shape->n_inputs);
    cuzk_prover *p = NULL;
    CUZK_TRY(create(&p, shape->curve, shape->n_vars, shape->n_inputs, shape, NULL, err));
    p->source = *source;
    p->device_decodes = true; /* a proof on the CPU is refused: there are no points here */
    cuzk_status status = init_made(p, vk, err);
    if (status != CUZK_OK) {
        cuzk_prover_destroy(p);
        return status;
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_prover_destroy(cuzk_prover *p)
{
    if (p == NULL) {
        return;
    }
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        cuzk_pages_free(p->decoded[k], p->decoded_bytes[k]);
    }
    cuzk_vk_clear(&p->vk);
    cuzk_domain_destroy(p->domain);
    free(p->support_a);
    free(p->support_b);
    free(p);
}

const cuzk_curve *cuzk_prover_curve(const cuzk_prover *prover)
{
    return prover->curve;
}

uint32_t cuzk_prover_n_vars(const cuzk_prover *prover)
{
    return prover->n_vars;
}

uint32_t cuzk_prover_n_inputs(const cuzk_prover *prover)
{
    return prover->n_inputs;
}

const cuzk_vk *cuzk_prover_vk(const cuzk_prover *prover)
{
    return &prover->vk;
}

const cuzk_verifier *cuzk_prover_verifier(const cuzk_prover *prover)
{
    return &prover->verifier;
}

bool cuzk_prover_is_made(const cuzk_prover *p)
{
    return p->source.put != NULL;
}

size_t cuzk_prover_bytes(const cuzk_prover *p)
{
    size_t bytes = sizeof *p + cuzk_domain_bytes(p->curve, p->lg_n) +
                   2 * cuzk_bitmap_words(p->n_vars) * sizeof *p->support_a;
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT && !p->decode_late; k++) {
        bytes += p->decoded_bytes[k];
    }
    return bytes;
}
