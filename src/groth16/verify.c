/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both checks compare one product of pairings with a power of e(alpha, beta); the sum over the
 * public values goes through the bucket method, since keys with thousands of them exist. */
#include "groth16/verify.h"

#include "groth16/fr_random.h"
#include "msm/msm.h"

#include <stdlib.h>
#include <string.h>

cuzk_status cuzk_verifier_init(cuzk_verifier *out, const cuzk_vk *vk, bool for_many,
                               cuzk_error *err)
{
    CUZK_FAIL_IF(vk->n_ic == 0, err, CUZK_E_ARGUMENT,
                 "verifying key without input commitments; at least the one of the constant 1 is "
                 "needed");
    out->vk = vk;
    out->has_alpha_beta = for_many;
    if (for_many) {
        vk->curve->pairing_product(&out->alpha_beta, &vk->alpha1, &vk->beta2, 1);
    }
    return CUZK_OK;
}

/* ---- what must hold before any pairing ------------------------------------------------------- */

static cuzk_status check_values(const cuzk_verifier *v, const uint8_t *values, uint64_t n_values,
                                cuzk_error *err)
{
    uint64_t expected = (uint64_t)v->vk->n_ic - 1;
    CUZK_FAIL_IF(n_values != expected, err, CUZK_E_INVALID_PROOF,
                 "%llu public signals, the verifying key has %llu", (unsigned long long)n_values,
                 (unsigned long long)expected);
    for (uint64_t i = 0; i < n_values; i++) {
        cuzk_fr x;
        CUZK_FAIL_IF(!v->vk->curve->fr_from_canonical_le(&x, values + 32 * i), err,
                     CUZK_E_INVALID_PROOF, "public signal %llu is not below the field order",
                     (unsigned long long)i);
    }
    return CUZK_OK;
}

static cuzk_status check_form(const cuzk_verifier *v, const cuzk_batch_item *item, cuzk_error *err)
{
    CUZK_FAIL_IF(item->proof->curve->id != v->vk->curve->id, err, CUZK_E_MISMATCH,
                 "proof is over %s, verifying key is over %s", item->proof->curve->snarkjs_name,
                 v->vk->curve->snarkjs_name);
    CUZK_TRY(check_values(v, item->values, item->n_values, err));
    return cuzk_proof_points_check(item->proof, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* out = Σ scalar_i · base_i in G1, scalars canonical. */
static cuzk_status sum_g1(const cuzk_curve *curve, cuzk_jac *out, const void *bases,
                          const void *scalars, size_t n, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_msm_query query = {.group = CUZK_G1, .bases = bases};
    cuzk_msm_params params = {.scalars = scalars, .n = n, .queries = &query, .n_queries = 1};
    size_t ws_bytes = cuzk_msm_workspace_bytes(curve, &params, pool);
    void *ws = aligned_alloc(64, (ws_bytes + 127) / 64 * 64);
    CUZK_FAIL_IF(ws == NULL, err, CUZK_E_MEMORY, "summing %zu points: out of memory", n);
    cuzk_status status = cuzk_msm(curve, &params, ws, ws_bytes, pool, err);
    free(ws);
    *out = query.sum;
    return status;
}

/* ic_0 + Σ x_i·ic_i */
static cuzk_status input_sum(const cuzk_verifier *v, const void *values, cuzk_jac *out,
                             cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_vk *vk = v->vk;
    const cuzk_group *g1 = &vk->curve->g[CUZK_G1];
    const uint8_t *ic = vk->ic;
    g1->set_infinity(out);
    if (vk->n_ic > 1) {
        CUZK_TRY(sum_g1(vk->curve, out, ic + g1->affine_bytes, values, vk->n_ic - 1, pool, err));
    }
    g1->add_affine(out, out, ic);
    return CUZK_OK;
}

/* ---- one proof ------------------------------------------------------------------------------- */

/* Pairs of points as pairing_product wants them: packed by the curve's point sizes. */
struct pairs {
    const cuzk_curve *curve;
    uint8_t *p, *q;
    size_t n;
};

static void add_pair(struct pairs *pairs, const void *p, const void *q)
{
    size_t p_bytes = pairs->curve->g[CUZK_G1].affine_bytes;
    size_t q_bytes = pairs->curve->g[CUZK_G2].affine_bytes;
    memcpy(pairs->p + pairs->n * p_bytes, p, p_bytes);
    memcpy(pairs->q + pairs->n * q_bytes, q, q_bytes);
    pairs->n++;
}

static void add_pair_negated(struct pairs *pairs, const cuzk_jac *p, const void *q)
{
    const cuzk_group *g1 = &pairs->curve->g[CUZK_G1];
    cuzk_affine affine;
    g1->to_affine(&affine, p);
    g1->affine_neg(&affine, &affine);
    add_pair(pairs, &affine, q);
}

static cuzk_status check_equation(const cuzk_verifier *v, const cuzk_batch_item *item,
                                  cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_vk *vk = v->vk;
    cuzk_affine p[4], q[4];
    struct pairs pairs = {.curve = vk->curve, .p = (uint8_t *)p, .q = (uint8_t *)q};
    cuzk_jac inputs, c, alpha;
    CUZK_TRY(input_sum(v, item->values, &inputs, pool, err));
    vk->curve->g[CUZK_G1].from_affine(&c, &item->proof->c);
    add_pair(&pairs, &item->proof->a, &item->proof->b);
    add_pair_negated(&pairs, &inputs, &vk->gamma2);
    add_pair_negated(&pairs, &c, &vk->delta2);
    if (!v->has_alpha_beta) {
        vk->curve->g[CUZK_G1].from_affine(&alpha, &vk->alpha1);
        add_pair_negated(&pairs, &alpha, &vk->beta2);
    }
    cuzk_gt product;
    vk->curve->pairing_product(&product, p, q, pairs.n);
    bool holds = v->has_alpha_beta ? vk->curve->gt_eq(&product, &v->alpha_beta)
                                   : vk->curve->gt_is_one(&product);
    CUZK_FAIL_IF(!holds, err, CUZK_E_INVALID_PROOF,
                 "the proof does not verify for this key and these public signals: the pairing "
                 "equation does not hold");
    return CUZK_OK;
}

cuzk_status cuzk_verifier_check(const cuzk_verifier *verifier, const cuzk_proof_points *proof,
                                const void *values, uint64_t n_values, cuzk_pool *pool,
                                cuzk_error *err)
{
    cuzk_batch_item item = {proof, values, n_values};
    CUZK_TRY(check_form(verifier, &item, err));
    return check_equation(verifier, &item, pool, err);
}

/* ---- many proofs ----------------------------------------------------------------------------- */

/* Workspace of one batch. */
struct batch {
    const cuzk_verifier *v;
    const cuzk_batch_item *items;
    size_t n;
    cuzk_fr *z; /* n random scalars */
    uint8_t (*z_plain)[32];
    uint8_t (*ic_scalars)[32]; /* n_ic: Σ z_j, then Σ z_j·x_{j,i} */
    uint8_t *c;                /* n packed points C_j */
    uint8_t *p, *q;            /* pairs: n for the A_j, B_j and three more */
};

static void scale_a(void *ctx, size_t j, unsigned thread)
{
    (void)thread;
    struct batch *b = ctx;
    const cuzk_group *g1 = &b->v->vk->curve->g[CUZK_G1];
    cuzk_jac a;
    g1->from_affine(&a, &b->items[j].proof->a);
    g1->mul(&a, &a, &b->z[j]);
    g1->to_affine(b->p + j * g1->affine_bytes, &a);
}

static void combine_values(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    struct batch *b = ctx;
    const cuzk_curve *curve = b->v->vk->curve;
    cuzk_fr sum = {{0}};
    for (size_t j = 0; j < b->n; j++) {
        cuzk_fr x = b->z[j];
        if (i > 0) {
            const uint8_t *values = b->items[j].values;
            curve->fr_batch_from_canonical(&x, values + 32 * (i - 1), 1);
            curve->fr_mul(&x, &x, &b->z[j]);
        }
        curve->fr_add(&sum, &sum, &x);
    }
    curve->fr_to_canonical_le(b->ic_scalars[i], &sum);
}

enum { PAIRS_PER_CHUNK = 8 };

struct product {
    const struct pairs *pairs;
    cuzk_gt *partial; /* one per chunk */
};

static void product_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct product *g = ctx;
    const cuzk_curve *curve = g->pairs->curve;
    size_t begin = chunk * PAIRS_PER_CHUNK, n = g->pairs->n - begin;
    curve->miller_product(&g->partial[chunk], g->pairs->p + begin * curve->g[CUZK_G1].affine_bytes,
                          g->pairs->q + begin * curve->g[CUZK_G2].affine_bytes,
                          n < PAIRS_PER_CHUNK ? n : PAIRS_PER_CHUNK);
}

static cuzk_status pairing_product(const struct pairs *pairs, cuzk_gt *out, cuzk_pool *pool,
                                   cuzk_error *err)
{
    const cuzk_curve *curve = pairs->curve;
    size_t n_chunks = (pairs->n + PAIRS_PER_CHUNK - 1) / PAIRS_PER_CHUNK;
    if (cuzk_pool_threads(pool) == 1 || n_chunks < 2) {
        curve->pairing_product(out, pairs->p, pairs->q, pairs->n);
        return CUZK_OK;
    }
    struct product g = {pairs, malloc(n_chunks * sizeof(cuzk_gt))};
    CUZK_FAIL_IF(g.partial == NULL, err, CUZK_E_MEMORY, "product of %zu pairings: out of memory",
                 pairs->n);
    cuzk_pool_for(pool, n_chunks, product_chunk, &g);
    *out = g.partial[0];
    for (size_t i = 1; i < n_chunks; i++) {
        curve->gt_mul(out, out, &g.partial[i]);
    }
    curve->final_exp(out, out);
    free(g.partial);
    return CUZK_OK;
}

/* Whether the combined equation holds: with Y = Σ z_j,
 * Π e(z_j A_j, B_j) · e(-Σ z_j C_j, delta) · e(-Σ s_i ic_i, gamma) · e(-Y alpha, beta) = 1. */
static cuzk_status check_combined(struct batch *b, bool *holds, cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_vk *vk = b->v->vk;
    const cuzk_curve *curve = vk->curve;
    size_t p_bytes = curve->g[CUZK_G1].affine_bytes, q_bytes = curve->g[CUZK_G2].affine_bytes;
    CUZK_TRY(cuzk_fr_random_128(curve, b->z, b->n, err));
    curve->fr_batch_to_canonical(b->z_plain, b->z, b->n);
    cuzk_pool_for(pool, b->n, scale_a, b);
    cuzk_pool_for(pool, vk->n_ic, combine_values, b);
    struct pairs pairs = {curve, b->p, b->q, b->n};
    for (size_t j = 0; j < b->n; j++) {
        memcpy(b->q + j * q_bytes, &b->items[j].proof->b, q_bytes);
        memcpy(b->c + j * p_bytes, &b->items[j].proof->c, p_bytes);
    }
    cuzk_jac c, inputs;
    CUZK_TRY(sum_g1(curve, &c, b->c, b->z_plain, b->n, pool, err));
    CUZK_TRY(sum_g1(curve, &inputs, vk->ic, b->ic_scalars, vk->n_ic, pool, err));
    add_pair_negated(&pairs, &c, &vk->delta2);
    add_pair_negated(&pairs, &inputs, &vk->gamma2);
    cuzk_gt product;
    cuzk_fr y;
    cuzk_jac alpha;
    (void)curve->fr_from_canonical_le(&y, b->ic_scalars[0]);
    curve->g[CUZK_G1].from_affine(&alpha, &vk->alpha1);
    curve->g[CUZK_G1].mul(&alpha, &alpha, &y);
    add_pair_negated(&pairs, &alpha, &vk->beta2);
    CUZK_TRY(pairing_product(&pairs, &product, pool, err));
    *holds = curve->gt_is_one(&product);
    return CUZK_OK;
}

static bool allocate_batch(struct batch *b)
{
    const cuzk_curve *curve = b->v->vk->curve;
    size_t p_bytes = curve->g[CUZK_G1].affine_bytes, q_bytes = curve->g[CUZK_G2].affine_bytes;
    b->z = malloc(b->n * sizeof *b->z);
    b->z_plain = malloc(b->n * sizeof *b->z_plain);
    b->ic_scalars = malloc(b->v->vk->n_ic * sizeof *b->ic_scalars);
    b->c = malloc(b->n * p_bytes);
    b->p = malloc((b->n + 3) * p_bytes);
    b->q = malloc((b->n + 3) * q_bytes);
    return b->z != NULL && b->z_plain != NULL && b->ic_scalars != NULL && b->c != NULL &&
           b->p != NULL && b->q != NULL;
}

static void free_batch(struct batch *b)
{
    free(b->z);
    free(b->z_plain);
    free(b->ic_scalars);
    free(b->c);
    free(b->p);
    free(b->q);
}

static cuzk_status fail_item(size_t j, size_t *first_invalid, cuzk_status status, cuzk_error *err)
{
    cuzk_error_prefix(err, "proof %zu", j);
    if (status == CUZK_E_INVALID_PROOF && first_invalid != NULL) {
        *first_invalid = j;
    }
    return status;
}

/* The combination failed: look at the proofs one by one. */
static cuzk_status find_invalid(const struct batch *b, size_t *first_invalid, cuzk_pool *pool,
                                cuzk_error *err)
{
    for (size_t j = 0; j < b->n; j++) {
        cuzk_status status = check_equation(b->v, &b->items[j], pool, err);
        if (status != CUZK_OK) {
            return fail_item(j, first_invalid, status, err);
        }
    }
    return CUZK_FAIL(err, CUZK_E_INTERNAL,
                     "verifying %zu proofs: they fail together and pass one by one", b->n);
}

/* Items that are all well-formed. */
static cuzk_status check_well_formed(struct batch *b, size_t *first_invalid, cuzk_pool *pool,
                                     cuzk_error *err)
{
    if (b->n < 2) {
        cuzk_status status = b->n == 0 ? CUZK_OK : check_equation(b->v, b->items, pool, err);
        return status == CUZK_OK ? status : fail_item(0, first_invalid, status, err);
    }
    bool holds = false;
    cuzk_status status = CUZK_OK;
    if (!allocate_batch(b)) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "verifying %zu proofs: out of memory", b->n);
    } else {
        status = check_combined(b, &holds, pool, err);
    }
    if (status == CUZK_OK && !holds) {
        status = find_invalid(b, first_invalid, pool, err);
    }
    free_batch(b);
    return status;
}

cuzk_status cuzk_verifier_check_batch(const cuzk_verifier *verifier, const cuzk_batch_item *items,
                                      size_t n, size_t *first_invalid, cuzk_pool *pool,
                                      cuzk_error *err)
{
    struct batch b = {.v = verifier, .items = items};
    cuzk_status form = CUZK_OK;
    cuzk_error form_error = {0};
    while (b.n < n && form == CUZK_OK) {
        form = check_form(verifier, &items[b.n], &form_error);
        b.n += form == CUZK_OK;
    }
    /* an invalid proof in front of the malformed one is the first */
    CUZK_TRY(check_well_formed(&b, first_invalid, pool, err));
    if (form == CUZK_OK) {
        return CUZK_OK;
    }
    if (err != NULL) {
        *err = form_error;
    }
    return fail_item(b.n, first_invalid, form, err);
}
