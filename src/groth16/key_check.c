/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random linear combinations: the "witness" of the sums below is random, so an equation between
 * sums holds for every variable, or fails but for a chance of about 2^-120. The sums themselves are
 * the prover's, over the same bases, which checks the prover's view of the key as well. */
#include "groth16/key_check.h"

#include "base/bytes.h"
#include "base/pages.h"
#include "base/random.h"
#include "formats/points.h"
#include "groth16/fr_random.h"
#include "groth16/key_rows.h"
#include "groth16/prover_impl.h"
#include "r1cs/satisfy.h"

#include <stdlib.h>
#include <string.h>

/* Share of the whole at the beginning of each part, in percent; for reports only. */
enum { AT_VK = 60, AT_ROWS = 61, AT_TWINS = 63, AT_C = 72, AT_H = 82 };

struct check {
    const cuzk_prover *p;
    const cuzk_curve *curve;
    const cuzk_reporter *reporter;
    cuzk_pool *pool;
    cuzk_error *err;
    cuzk_affine g1, g2;
};

/* ---- 1: points ----------------------------------------------------------------------------------
 */

static cuzk_status check_decoded(const struct check *k)
{
    const cuzk_prover *p = k->p;
    CUZK_TRY(cuzk_vk_check(&p->vk, k->pool, k->err));
    for (int i = 0; i < CUZK_PARAMS_ARRAY_COUNT; i++) {
        cuzk_group_id group = i == CUZK_PARAMS_B_G2 ? CUZK_G2 : CUZK_G1;
        uint64_t n = p->decoded_bytes[i] / k->curve->g[group].affine_bytes;
        CUZK_TRY(cuzk_points_check(k->curve, group, p->decoded[i], n, 0, CUZK_POINTS_SUBGROUP,
                                   cuzk_params_array_name((cuzk_params_array)i), k->pool, k->err));
    }
    return CUZK_OK;
}

/* ---- 2: the verifying key -------------------------------------------------------------------- */

/* Whether e(p, q) = e(p2, q2). */
static bool same_pairing(const cuzk_curve *curve, const void *p, const void *q, const void *p2,
                         const void *q2)
{
    uint8_t left[2 * sizeof(cuzk_affine)], right[2 * sizeof(cuzk_affine)];
    size_t n1 = curve->g[CUZK_G1].affine_bytes, n2 = curve->g[CUZK_G2].affine_bytes;
    cuzk_affine negated;
    curve->g[CUZK_G1].affine_neg(&negated, p2);
    memcpy(left, p, n1);
    memcpy(left + n1, &negated, n1);
    memcpy(right, q, n2);
    memcpy(right + n2, q2, n2);
    cuzk_gt product;
    curve->pairing_product(&product, left, right, 2);
    return curve->gt_is_one(&product);
}

static bool same_pairing_jac(const cuzk_curve *curve, const cuzk_jac *p, const void *q,
                             const void *p2, const cuzk_jac *q2)
{
    cuzk_affine ap, aq2;
    curve->g[CUZK_G1].to_affine(&ap, p);
    curve->g[CUZK_G2].to_affine(&aq2, q2);
    return same_pairing(curve, &ap, q, p2, &aq2);
}

static cuzk_status check_vk(const struct check *k)
{
    const cuzk_vk *vk = &k->p->vk;
    CUZK_FAIL_IF(!same_pairing(k->curve, &vk->beta1, &k->g2, &k->g1, &vk->beta2), k->err,
                 CUZK_E_FORMAT, "beta in G1 and beta in G2 have different logarithms");
    CUZK_FAIL_IF(!same_pairing(k->curve, &vk->delta1, &k->g2, &k->g1, &vk->delta2), k->err,
                 CUZK_E_FORMAT, "delta in G1 and delta in G2 have different logarithms");
    return CUZK_OK;
}

/* ---- combinations ---------------------------------------------------------------------------- */

/* n values of 32 bytes: the first one 1, the others random below 2^120 where use says so (NULL:
 * all), else 0. */
static cuzk_status random_values(uint8_t **out, uint32_t n, const uint64_t *leave_out,
                                 cuzk_error *err)
{
    uint8_t *values = calloc(n, 32);
    CUZK_FAIL_IF(values == NULL, err, CUZK_E_MEMORY, "checking a key: out of memory");
    for (uint32_t i = 0; i < n; i++) {
        cuzk_status status = cuzk_random_bytes(values + 32 * (size_t)i, 15, err);
        if (status != CUZK_OK) {
            free(values);
            return status;
        }
        if (i == 0 || (leave_out != NULL && cuzk_bitmap_get(leave_out, i))) {
            memset(values + 32 * (size_t)i, 0, 32);
        }
    }
    values[0] = 1;
    *out = values;
    return CUZK_OK;
}

static cuzk_status random_witness(const struct check *k, const uint64_t *leave_out,
                                  cuzk_witness **out)
{
    uint8_t *values = NULL;
    CUZK_TRY(random_values(&values, k->p->n_vars, leave_out, k->err));
    cuzk_status status = cuzk_witness_from_values(
        out, k->curve, values, k->p->n_vars, k->p->n_inputs, "random combination", k->pool, k->err);
    free(values);
    return status;
}

/* The sums of all queries for a witness; sums[] is indexed by cuzk_prover_query. */
static cuzk_status sum_queries(const struct check *k, const cuzk_witness *w,
                               cuzk_jac sums[CUZK_QUERY_COUNT])
{
    cuzk_query_set sets[3];
    for (unsigned i = 0; i < k->p->n_sets; i++) {
        sets[i] = k->p->sets[i];
        size_t n = cuzk_query_sums_workspace_bytes(&sets[i], w, k->pool);
        void *ws = cuzk_pages_alloc(n);
        CUZK_FAIL_IF(ws == NULL, k->err, CUZK_E_MEMORY, "checking a key: out of memory");
        cuzk_status status = cuzk_query_sums(&sets[i], w, ws, n, k->pool, k->err);
        cuzk_pages_free(ws, n);
        CUZK_TRY(status);
    }
    for (int q = 0; q < CUZK_QUERY_COUNT; q++) {
        sums[q] = sets[k->p->place[q].set].queries[k->p->place[q].query].sum;
    }
    return CUZK_OK;
}

static cuzk_status sum_points(const struct check *k, cuzk_group_id group, const void *bases,
                              const void *scalars, size_t n, cuzk_jac *out)
{
    cuzk_msm_query query = {.group = group, .bases = bases};
    cuzk_msm_params params = {.scalars = scalars, .n = n, .queries = &query, .n_queries = 1};
    size_t ws_bytes = cuzk_msm_workspace_bytes(k->curve, &params, k->pool);
    void *ws = cuzk_pages_alloc(ws_bytes);
    CUZK_FAIL_IF(ws == NULL, k->err, CUZK_E_MEMORY, "checking a key: out of memory");
    cuzk_status status = cuzk_msm(k->curve, &params, ws, ws_bytes, k->pool, k->err);
    cuzk_pages_free(ws, ws_bytes);
    *out = query.sum;
    return status;
}

/* ---- 3: rows --------------------------------------------------------------------------------- */

static cuzk_status eval_rows(const struct check *k, const cuzk_witness *w, cuzk_fr *a, cuzk_fr *b)
{
    const cuzk_prover *p = k->p;
    if (p->is_zkey) {
        return cuzk_key_eval_rows(&p->zkey, w, a, b, k->pool, k->err);
    }
    cuzk_shape_eval_rows(p->shape, w, CUZK_MATRIX_A, a, p->n, k->pool);
    cuzk_shape_eval_rows(p->shape, w, CUZK_MATRIX_B, b, p->n, k->pool);
    return CUZK_OK;
}

static cuzk_status compare_rows(const struct check *k, const cuzk_witness *w, cuzk_fr *const v[4])
{
    CUZK_TRY(eval_rows(k, w, v[0], v[1]));
    cuzk_shape_eval_rows(k->p->shape, w, CUZK_MATRIX_A, v[2], k->p->n, k->pool);
    cuzk_shape_eval_rows(k->p->shape, w, CUZK_MATRIX_B, v[3], k->p->n, k->pool);
    for (size_t i = 0; i < k->p->n; i++) {
        bool a = memcmp(&v[0][i], &v[2][i], sizeof(cuzk_fr)) == 0;
        bool b = memcmp(&v[1][i], &v[3][i], sizeof(cuzk_fr)) == 0;
        CUZK_FAIL_IF(!a || !b, k->err, CUZK_E_MISMATCH,
                     "row %zu of matrix %s in the key is not that of the circuit", i,
                     a ? "B" : "A");
    }
    return CUZK_OK;
}

static cuzk_status check_rows(const struct check *k)
{
    cuzk_witness *w = NULL;
    CUZK_TRY(random_witness(k, NULL, &w));
    size_t n_bytes = 4 * k->p->n * sizeof(cuzk_fr);
    cuzk_fr *v = cuzk_pages_alloc(n_bytes);
    cuzk_fr *const vectors[4] = {v, v + k->p->n, v + 2 * k->p->n, v + 3 * k->p->n};
    cuzk_status status = v == NULL
                             ? CUZK_FAIL(k->err, CUZK_E_MEMORY, "checking a key: out of memory")
                             : compare_rows(k, w, vectors);
    cuzk_pages_free(v, n_bytes);
    cuzk_witness_destroy(w);
    return status;
}

/* ---- 4: B in both groups --------------------------------------------------------------------- */

static const cuzk_msm_query *query_of(const cuzk_prover *p, cuzk_prover_query query)
{
    return &p->sets[p->place[query].set].queries[p->place[query].query];
}

static uint64_t n_points_of_b(const cuzk_prover *p)
{
    return p->is_zkey ? p->n_vars
                      : p->decoded_bytes[CUZK_PARAMS_B_G1] / p->curve->g[CUZK_G1].affine_bytes;
}

/* Whether B1 and B2 agree on points begin … end-1, for these random values. */
static cuzk_status twins_agree(const struct check *k, const uint8_t *values, uint64_t begin,
                               uint64_t end, bool *agree)
{
    const cuzk_prover *p = k->p;
    const uint8_t *b1 = query_of(p, CUZK_QUERY_B1)->bases;
    const uint8_t *b2 = query_of(p, CUZK_QUERY_B2)->bases;
    cuzk_jac s1, s2;
    CUZK_TRY(sum_points(k, CUZK_G1, b1 + begin * k->curve->g[CUZK_G1].affine_bytes,
                        values + 32 * begin, (size_t)(end - begin), &s1));
    CUZK_TRY(sum_points(k, CUZK_G2, b2 + begin * k->curve->g[CUZK_G2].affine_bytes,
                        values + 32 * begin, (size_t)(end - begin), &s2));
    *agree = same_pairing_jac(k->curve, &s1, &k->g2, &k->g1, &s2);
    return CUZK_OK;
}

static cuzk_status compare_twins(const struct check *k, const uint8_t *values, uint64_t n)
{
    bool agree = true;
    CUZK_TRY(twins_agree(k, values, 0, n, &agree));
    if (agree) {
        return CUZK_OK;
    }
    /* begin … end-1 holds the first point that differs; everything before begin agrees */
    uint64_t begin = 0, end = n;
    while (end - begin > 1) {
        uint64_t middle = begin + (end - begin) / 2;
        CUZK_TRY(twins_agree(k, values, begin, middle, &agree));
        if (agree) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return CUZK_FAIL(k->err, CUZK_E_FORMAT,
                     "point %llu of query B has different logarithms in G1 and G2",
                     (unsigned long long)begin);
}

static cuzk_status check_twins(const struct check *k)
{
    uint64_t n = n_points_of_b(k->p);
    uint8_t *values = NULL;
    if (n == 0) {
        return CUZK_OK;
    }
    CUZK_TRY(random_values(&values, (uint32_t)n, NULL, k->err));
    cuzk_status status = compare_twins(k, values, n);
    free(values);
    return status;
}

/* ---- 5: C and ic ----------------------------------------------------------------------------- */

/* e(C, delta) · e(ic, gamma) = e(A, beta) · e(alpha, B) for the sums of one combination. */
static cuzk_status check_c_equation(const struct check *k, const cuzk_witness *w)
{
    const cuzk_curve *curve = k->curve;
    const cuzk_vk *vk = &k->p->vk;
    size_t n1 = curve->g[CUZK_G1].affine_bytes, n2 = curve->g[CUZK_G2].affine_bytes;
    cuzk_jac sums[CUZK_QUERY_COUNT], ic;
    CUZK_TRY(sum_queries(k, w, sums));
    uint8_t *inputs = malloc((size_t)w->n_inputs * 32);
    CUZK_FAIL_IF(inputs == NULL, k->err, CUZK_E_MEMORY, "checking a key: out of memory");
    cuzk_witness_get_range(w, 0, w->n_inputs, inputs);
    cuzk_status status = sum_points(k, CUZK_G1, vk->ic, inputs, w->n_inputs, &ic);
    free(inputs);
    CUZK_TRY(status);
    uint8_t p[4 * sizeof(cuzk_affine)], q[4 * sizeof(cuzk_affine)];
    cuzk_affine t;
    curve->g[CUZK_G1].to_affine(p, &sums[CUZK_QUERY_C]);
    curve->g[CUZK_G1].to_affine(p + n1, &ic);
    curve->g[CUZK_G1].to_affine(&t, &sums[CUZK_QUERY_A]);
    curve->g[CUZK_G1].affine_neg(p + 2 * n1, &t);
    curve->g[CUZK_G1].affine_neg(p + 3 * n1, &vk->alpha1);
    memcpy(q, &vk->delta2, n2);
    memcpy(q + n2, &vk->gamma2, n2);
    memcpy(q + 2 * n2, &vk->beta2, n2);
    curve->g[CUZK_G2].to_affine(q + 3 * n2, &sums[CUZK_QUERY_B2]);
    cuzk_gt product;
    curve->pairing_product(&product, p, q, 4);
    CUZK_FAIL_IF(!curve->gt_is_one(&product), k->err, CUZK_E_FORMAT,
                 "queries A, B, C and ic do not belong together: C·delta + ic·gamma is not "
                 "A·beta + alpha·B for the variables that C does not use");
    return CUZK_OK;
}

/* Set the bits of the variables that occur in a matrix. */
static void mark_used(const cuzk_shape *shape, cuzk_matrix matrix, uint64_t *used)
{
    const cuzk_rows *m = &shape->rows[matrix];
    for (uint32_t row = 0; row < shape->n_constraints;) {
        cuzk_row_run run = cuzk_shape_run(shape, row, shape->n_constraints);
        uint64_t end = m->begin[run.stored_row + run.n];
        for (uint64_t t = m->begin[run.stored_row]; t < end; t++) {
            cuzk_bitmap_set(used, cuzk_row_run_var(&run, m->var[t]));
        }
        row += run.n;
    }
}

static cuzk_status check_c(const struct check *k)
{
    const cuzk_shape *shape = k->p->shape;
    uint64_t *used = calloc(cuzk_bitmap_words(shape->n_vars), sizeof *used);
    CUZK_FAIL_IF(used == NULL, k->err, CUZK_E_MEMORY, "checking a key: out of memory");
    mark_used(shape, CUZK_MATRIX_C, used);
    /* the constant 1 always has the value 1: nothing to check where C uses it */
    cuzk_witness *w = NULL;
    cuzk_status status = cuzk_bitmap_get(used, 0) ? CUZK_OK : random_witness(k, used, &w);
    if (status == CUZK_OK && w != NULL) {
        status = check_c_equation(k, w);
    }
    cuzk_witness_destroy(w);
    free(used);
    return status;
}

/* ---- 6: H ------------------------------------------------------------------------------------ */

/* A polynomial combined from B's columns, and its value in G2. The sums of a proof have degree n-2
 * at most, so keys need not be right for degree n-1: bellperson has no point for it, and in a
 * snarkjs ceremony whose powers of tau end at 2n-2 the H points all lack their last term, which
 * cancels in every such sum. Hence three combinations, of which two are made that lack their top
 * term. */
struct polynomial {
    cuzk_fr *coefs; /* n coefficients, Montgomery form */
    cuzk_jac at_tau;
};

/* Scalars that the H query evaluates: values on the odd points (circom), coefficients (bellperson).
 */
static cuzk_status make_polynomial(const struct check *k, struct polynomial *out, cuzk_fr *a,
                                   void *ws)
{
    const cuzk_prover *p = k->p;
    cuzk_witness *w = NULL;
    cuzk_jac sums[CUZK_QUERY_COUNT];
    CUZK_TRY(random_witness(k, NULL, &w));
    cuzk_status status = eval_rows(k, w, a, out->coefs);
    if (status == CUZK_OK) {
        status = sum_queries(k, w, sums);
    }
    cuzk_witness_destroy(w);
    CUZK_TRY(status);
    out->at_tau = sums[CUZK_QUERY_B2];
    cuzk_ntt_inverse(p->domain, out->coefs, NULL, ws, k->pool);
    return CUZK_OK;
}

/* x := top(y)·x - top(x)·y, so that coefficient n-1 vanishes. */
static void cancel_top(const struct check *k, struct polynomial *x, const struct polynomial *y)
{
    const cuzk_curve *curve = k->curve;
    const cuzk_group *g2 = &curve->g[CUZK_G2];
    size_t n = k->p->n;
    cuzk_fr of_x = y->coefs[n - 1], of_y, t;
    cuzk_jac point;
    curve->fr_neg(&of_y, &x->coefs[n - 1]);
    for (size_t i = 0; i < n; i++) {
        curve->fr_mul(&x->coefs[i], &x->coefs[i], &of_x);
        curve->fr_mul(&t, &y->coefs[i], &of_y);
        curve->fr_add(&x->coefs[i], &x->coefs[i], &t);
    }
    g2->mul(&x->at_tau, &x->at_tau, &of_x);
    g2->mul(&point, &y->at_tau, &of_y);
    g2->add(&x->at_tau, &x->at_tau, &point);
}

/* The H query takes values on the odd points (circom) or coefficients (bellperson). */
static cuzk_status evaluate(const struct check *k, struct polynomial *x, void *ws, cuzk_jac *out)
{
    if (k->p->is_zkey) {
        cuzk_fr w2;
        k->curve->fr_root_of_unity(&w2, CUZK_ZKEY_GENERATOR, k->p->lg_n + 1);
        cuzk_ntt_forward(k->p->domain, x->coefs, &w2, ws, k->pool);
    }
    k->curve->fr_batch_to_canonical(x->coefs, x->coefs, k->p->n);
    return sum_points(k, CUZK_G1, k->p->h, x->coefs, k->p->n_h, out);
}

static cuzk_status check_h_with(const struct check *k, struct polynomial x[3], cuzk_fr *a, void *ws)
{
    for (int i = 0; i < 3; i++) {
        CUZK_TRY(make_polynomial(k, &x[i], a, ws));
    }
    cancel_top(k, &x[0], &x[2]);
    cancel_top(k, &x[1], &x[2]);
    cuzk_jac h[2];
    cuzk_affine h1;
    CUZK_TRY(evaluate(k, &x[0], ws, &h[0]));
    CUZK_TRY(evaluate(k, &x[1], ws, &h[1]));
    cuzk_affine second;
    k->curve->g[CUZK_G2].to_affine(&second, &x[1].at_tau);
    k->curve->g[CUZK_G1].to_affine(&h1, &h[1]);
    CUZK_FAIL_IF(!same_pairing_jac(k->curve, &h[0], &second, &h1, &x[0].at_tau), k->err,
                 CUZK_E_FORMAT,
                 "query H does not evaluate the polynomials of B to the points of query B in G2");
    return CUZK_OK;
}

static cuzk_status check_h(const struct check *k)
{
    const cuzk_prover *p = k->p;
    size_t vector = p->n * sizeof(cuzk_fr);
    size_t n_bytes = 4 * vector + 64 + cuzk_ntt_workspace_bytes(p->domain, k->pool);
    uint8_t *m = cuzk_pages_alloc(n_bytes);
    CUZK_FAIL_IF(m == NULL, k->err, CUZK_E_MEMORY, "checking a key: out of memory");
    struct polynomial x[3];
    for (int i = 0; i < 3; i++) {
        x[i].coefs = (cuzk_fr *)(void *)(m + (size_t)i * vector);
    }
    cuzk_fr *a = (cuzk_fr *)(void *)(m + 3 * vector);
    cuzk_status status = check_h_with(k, x, a, m + (4 * vector + 63) / 64 * 64);
    cuzk_pages_free(m, n_bytes);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

cuzk_status cuzk_prover_check_key(const cuzk_prover *prover, const cuzk_reporter *reporter,
                                  cuzk_pool *pool, cuzk_error *err)
{
    cuzk_progress_part part = {.whole = reporter, .from = 0, .to = AT_VK / 100.0};
    cuzk_reporter points = cuzk_part_reporter(&part);
    struct check k = {
        .p = prover, .curve = prover->curve, .reporter = reporter, .pool = pool, .err = err};
    CUZK_FAIL_IF(prover->decode_late || prover->source.put != NULL, err, CUZK_E_ARGUMENT,
                 "checking a key: the prover does not keep its points");
    k.curve->g[CUZK_G1].generator(&k.g1);
    k.curve->g[CUZK_G2].generator(&k.g2);
    CUZK_TRY(cuzk_report_progress(reporter, "points", 0, 100, err));
    CUZK_TRY(prover->is_zkey ? cuzk_zkey_check(&prover->zkey, pool, &points, err)
                             : check_decoded(&k));
    CUZK_TRY(cuzk_report_progress(reporter, "verifying key", AT_VK, 100, err));
    CUZK_TRY(check_vk(&k));
    if (prover->is_zkey && prover->shape != NULL) {
        CUZK_TRY(cuzk_report_progress(reporter, "rows", AT_ROWS, 100, err));
        CUZK_TRY(check_rows(&k));
    }
    CUZK_TRY(cuzk_report_progress(reporter, "query B in both groups", AT_TWINS, 100, err));
    CUZK_TRY(check_twins(&k));
    if (prover->shape != NULL) {
        CUZK_TRY(cuzk_report_progress(reporter, "queries A, B, C", AT_C, 100, err));
        CUZK_TRY(check_c(&k));
    }
    CUZK_TRY(cuzk_report_progress(reporter, "query H", AT_H, 100, err));
    CUZK_TRY(check_h(&k));
    return cuzk_report_progress(reporter, "query H", 100, 100, err);
}
