/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key generation after spec "bellperson generator" (section 4 of the project's notes) and snarkjs's
 * zkey layout: all scalars of a query first, then one fixed-base batch per query.
 *
 * With L_i the Lagrange polynomials of the domain at tau, the columns a_v, b_v, c_v are sums of
 * coefficient · L_row, and the query of v for C (or ic) is (beta·a_v + alpha·b_v + c_v) over delta
 * (or gamma). */
#include "groth16/setup.h"

#include "base/bytes.h"
#include "formats/zkey.h"
#include "groth16/fr_random.h"
#include "groth16/lagrange.h"
#include "groth16/setup_columns.h"
#include "msm/msm.h"

#include <stdlib.h>

enum { RANGE = 4096, SLICE = 1 << 18 };

struct setup {
    const cuzk_shape *shape;
    const cuzk_curve *curve;
    const cuzk_setup_params *params;
    cuzk_pool *pool;
    cuzk_error *err;
    cuzk_generated_key *key;
    cuzk_trapdoor t;
    uint64_t n;         /* domain size */
    cuzk_fr w;          /* primitive n-th root of unity */
    cuzk_fr *scratch;   /* Lagrange values, later the scalars of H: n */
    cuzk_fr *a, *b, *c; /* columns at tau: n_vars each */
    size_t scratch_bytes, column_bytes;
    cuzk_fixed_base *tables[2]; /* of the generators; made when first needed */
    uint64_t work, work_done;   /* points, those of G2 counted three times */
};

unsigned cuzk_setup_lg_domain(cuzk_key_style style, uint64_t n_rows)
{
    unsigned lg = style == CUZK_KEY_CIRCOM ? 1 : 0;
    while (lg < 63 && (uint64_t)1 << lg < n_rows) {
        lg++;
    }
    return lg;
}

static bool is_zero(const cuzk_fr *a)
{
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

static bool is_one(const cuzk_curve *curve, const cuzk_fr *a)
{
    return memcmp(a, &curve->fr_one, sizeof *a) == 0;
}

/* ---- toxic values ---------------------------------------------------------------------------- */

/* Neither zero nor on the domain of 2n points, so that every quotient exists. */
static bool tau_is_usable(const struct setup *s, const cuzk_fr *tau)
{
    cuzk_fr power;
    s->curve->fr_pow_u64(&power, tau, 2 * s->n);
    return !is_zero(tau) && !is_one(s->curve, &power);
}

static cuzk_status random_non_zero(const cuzk_curve *curve, cuzk_fr *out, cuzk_error *err)
{
    do {
        CUZK_TRY(cuzk_fr_random(curve, out, err));
    } while (is_zero(out));
    return CUZK_OK;
}

static cuzk_status choose_trapdoor(struct setup *s)
{
    const cuzk_trapdoor *given = s->params->test_trapdoor;
    if (given != NULL) {
        CUZK_FAIL_IF(is_zero(&given->alpha) || is_zero(&given->beta) || is_zero(&given->gamma) ||
                         is_zero(&given->delta) || !tau_is_usable(s, &given->tau),
                     s->err, CUZK_E_ARGUMENT,
                     "generating a test key: a given trapdoor value is zero or tau is a root of "
                     "unity of the domain");
        s->t = *given;
        return CUZK_OK;
    }
    do {
        CUZK_TRY(cuzk_fr_random(s->curve, &s->t.tau, s->err));
    } while (!tau_is_usable(s, &s->t.tau));
    CUZK_TRY(random_non_zero(s->curve, &s->t.alpha, s->err));
    CUZK_TRY(random_non_zero(s->curve, &s->t.beta, s->err));
    CUZK_TRY(random_non_zero(s->curve, &s->t.delta, s->err));
    if (s->params->style == CUZK_KEY_CIRCOM) {
        s->t.gamma = s->curve->fr_one; /* as in every key of snarkjs */
        return CUZK_OK;
    }
    return random_non_zero(s->curve, &s->t.gamma, s->err);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void inverse_of_n(const struct setup *s, uint64_t n, cuzk_fr *out)
{
    s->curve->fr_from_u64(out, n);
    s->curve->fr_inv(out, out);
}

/* scratch_i = L_i(tau) on the domain of n points, for the rows in use. */
static void lagrange_scalars(struct setup *s)
{
    cuzk_fr scale, inverse;
    s->curve->fr_pow_u64(&scale, &s->t.tau, s->n);
    s->curve->fr_sub(&scale, &scale, &s->curve->fr_one);
    inverse_of_n(s, s->n, &inverse);
    s->curve->fr_mul(&scale, &scale, &inverse);
    cuzk_lagrange_at(s->curve, s->scratch, (size_t)cuzk_shape_n_rows(s->shape), &s->t.tau, &s->w,
                     &s->curve->fr_one, &scale, s->pool);
    cuzk_wipe(&scale, sizeof scale);
}

/* scratch_i = L_{2i+1}(tau)/delta on the domain of 2n points. */
static void h_scalars_circom(struct setup *s)
{
    cuzk_fr scale, factor, w2;
    s->curve->fr_root_of_unity(&w2, cuzk_key_style_generator(CUZK_KEY_CIRCOM), s->key->lg_n + 1);
    s->curve->fr_pow_u64(&scale, &s->t.tau, 2 * s->n);
    s->curve->fr_sub(&scale, &scale, &s->curve->fr_one);
    inverse_of_n(s, 2 * s->n, &factor);
    s->curve->fr_mul(&scale, &scale, &factor);
    s->curve->fr_inv(&factor, &s->t.delta);
    s->curve->fr_mul(&scale, &scale, &factor);
    cuzk_lagrange_at(s->curve, s->scratch, (size_t)s->n, &s->t.tau, &s->w, &w2, &scale, s->pool);
    cuzk_wipe(&scale, sizeof scale);
    cuzk_wipe(&factor, sizeof factor);
}

struct powers {
    const struct setup *s;
    cuzk_fr scale;
};

static void powers_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct powers *p = ctx;
    const struct setup *s = p->s;
    uint64_t begin = (uint64_t)chunk * RANGE;
    uint64_t end = begin + RANGE < s->n ? begin + RANGE : s->n;
    cuzk_fr x;
    s->curve->fr_pow_u64(&x, &s->t.tau, begin);
    s->curve->fr_mul(&x, &x, &p->scale);
    for (uint64_t i = begin; i < end; i++) {
        s->scratch[i] = x;
        s->curve->fr_mul(&x, &x, &s->t.tau);
    }
    cuzk_wipe(&x, sizeof x);
}

/* scratch_i = tau^i·(tau^n - 1)/delta. */
static void h_scalars_bellperson(struct setup *s)
{
    struct powers p = {.s = s};
    cuzk_fr inverse;
    s->curve->fr_pow_u64(&p.scale, &s->t.tau, s->n);
    s->curve->fr_sub(&p.scale, &p.scale, &s->curve->fr_one);
    s->curve->fr_inv(&inverse, &s->t.delta);
    s->curve->fr_mul(&p.scale, &p.scale, &inverse);
    cuzk_pool_for(s->pool, (size_t)((s->n + RANGE - 1) / RANGE), powers_range, &p);
    cuzk_wipe(&p, sizeof p);
    cuzk_wipe(&inverse, sizeof inverse);
}

struct combine {
    const struct setup *s;
    cuzk_fr inverse_gamma, inverse_delta;
};

/* c_v becomes (beta·a_v + alpha·b_v + c_v)/gamma for inputs, /delta for aux variables. */
static void combine_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct combine *g = ctx;
    const struct setup *s = g->s;
    uint64_t begin = (uint64_t)chunk * RANGE;
    uint64_t end = begin + RANGE < s->shape->n_vars ? begin + RANGE : s->shape->n_vars;
    for (uint64_t v = begin; v < end; v++) {
        cuzk_fr x;
        s->curve->fr_mul(&x, &s->t.beta, &s->a[v]);
        s->curve->fr_add(&s->c[v], &s->c[v], &x);
        s->curve->fr_mul(&x, &s->t.alpha, &s->b[v]);
        s->curve->fr_add(&s->c[v], &s->c[v], &x);
        s->curve->fr_mul(&s->c[v], &s->c[v],
                         v < s->shape->n_inputs ? &g->inverse_gamma : &g->inverse_delta);
    }
}

static void column_scalars(struct setup *s)
{
    struct combine g = {.s = s};
    lagrange_scalars(s);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_A, s->a, s->scratch, s->pool);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_B, s->b, s->scratch, s->pool);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_C, s->c, s->scratch, s->pool);
    s->curve->fr_inv(&g.inverse_gamma, &s->t.gamma);
    s->curve->fr_inv(&g.inverse_delta, &s->t.delta);
    cuzk_pool_for(s->pool, ((size_t)s->shape->n_vars + RANGE - 1) / RANGE, combine_range, &g);
    cuzk_wipe(&g, sizeof g);
}

/* ---- points ---------------------------------------------------------------------------------- */

static cuzk_status make_table(struct setup *s, cuzk_group_id group)
{
    cuzk_affine generator;
    s->curve->g[group].generator(&generator);
    uint64_t n = s->shape->n_vars;
    n = group == CUZK_G1 ? 3 * n + s->n : n; /* points of the key in this group, about */
    return cuzk_fixed_base_create(&s->tables[group], s->curve, group, &generator, (size_t)n,
                                  s->pool, s->err);
}

/* out = scalars · generator of the group, in slices so that progress can be told. */
static cuzk_status multiply(struct setup *s, uint8_t **out, cuzk_group_id group,
                            const cuzk_fr *scalars, uint64_t n, const char *stage)
{
    const cuzk_group *g = &s->curve->g[group];
    *out = malloc((size_t)(n == 0 ? 1 : n) * g->affine_bytes);
    CUZK_FAIL_IF(*out == NULL, s->err, CUZK_E_MEMORY,
                 "generating a key: %s: %llu points: out of memory", stage, (unsigned long long)n);
    uint64_t weight = group == CUZK_G2 ? 3 : 1; /* in time, about */
    if (s->tables[group] == NULL) {
        CUZK_TRY(make_table(s, group));
    }
    for (uint64_t done = 0; done < n;) {
        uint64_t k = n - done < SLICE ? n - done : SLICE;
        CUZK_TRY(cuzk_report_progress(s->params->reporter, stage, s->work_done, s->work, s->err));
        CUZK_TRY(cuzk_fixed_base_mul(s->tables[group], *out + done * g->affine_bytes,
                                     scalars + done, (size_t)k, s->pool, s->err));
        done += k;
        s->work_done += weight * k;
    }
    return CUZK_OK;
}

static cuzk_status multiply_one(struct setup *s, cuzk_affine *out, cuzk_group_id group,
                                const cuzk_fr *scalar)
{
    cuzk_affine generator;
    cuzk_jac p;
    s->curve->g[group].generator(&generator);
    s->curve->g[group].from_affine(&p, &generator);
    s->curve->g[group].mul(&p, &p, scalar);
    memset(out, 0, sizeof *out);
    s->curve->g[group].to_affine(out, &p);
    return CUZK_OK;
}

static cuzk_status make_vk(struct setup *s)
{
    cuzk_vk *vk = &s->key->vk;
    vk->curve = s->curve;
    vk->has_g1_pair = true;
    vk->is_test_key = s->key->is_test_key;
    CUZK_TRY(multiply_one(s, &vk->alpha1, CUZK_G1, &s->t.alpha));
    CUZK_TRY(multiply_one(s, &vk->beta1, CUZK_G1, &s->t.beta));
    CUZK_TRY(multiply_one(s, &vk->delta1, CUZK_G1, &s->t.delta));
    CUZK_TRY(multiply_one(s, &vk->beta2, CUZK_G2, &s->t.beta));
    CUZK_TRY(multiply_one(s, &vk->gamma2, CUZK_G2, &s->t.gamma));
    CUZK_TRY(multiply_one(s, &vk->delta2, CUZK_G2, &s->t.delta));
    uint8_t *ic = NULL;
    cuzk_status status = multiply(s, &ic, CUZK_G1, s->c, s->shape->n_inputs, "input commitments");
    vk->ic = ic;
    vk->owned = ic;
    vk->n_ic = s->shape->n_inputs;
    return status;
}

static uint64_t drop_zeros(cuzk_fr *a, uint64_t n)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!is_zero(&a[i])) {
            a[kept++] = a[i];
        }
    }
    return kept;
}

/* bellperson: identity points leave A and B; the prover finds its way by the densities, which agree
 * with what is left unless a sum of Lagrange values happened to be zero at tau. */
static cuzk_status filter(struct setup *s)
{
    const cuzk_shape *shape = s->shape;
    for (uint32_t v = shape->n_inputs; v < shape->n_vars; v++) {
        CUZK_FAIL_IF(is_zero(&s->c[v]), s->err, CUZK_E_ARGUMENT,
                     "generating a key: aux variable %u is in no constraint; a .params file cannot "
                     "hold its point",
                     v - shape->n_inputs);
    }
    s->key->n_a = drop_zeros(s->a, shape->n_vars);
    s->key->n_b = drop_zeros(s->b, shape->n_vars);
    uint64_t n_a = (uint64_t)shape->n_inputs + shape->n_a_aux;
    uint64_t n_b = (uint64_t)shape->n_b_input + shape->n_b_aux;
    CUZK_FAIL_IF(s->key->n_a != n_a || s->key->n_b != n_b, s->err, CUZK_E_ARGUMENT,
                 "generating a key: %llu and %llu points in A and B, expected %llu and %llu: a "
                 "column vanishes at tau",
                 (unsigned long long)s->key->n_a, (unsigned long long)s->key->n_b,
                 (unsigned long long)n_a, (unsigned long long)n_b);
    return CUZK_OK;
}

static cuzk_status make_queries(struct setup *s)
{
    cuzk_generated_key *key = s->key;
    bool circom = key->style == CUZK_KEY_CIRCOM;
    key->n_a = key->n_b = s->shape->n_vars;
    key->n_c = cuzk_shape_n_aux(s->shape);
    key->n_h = circom ? s->n : s->n - 1;
    if (!circom) {
        CUZK_TRY(filter(s));
    }
    CUZK_TRY(multiply(s, &key->a, CUZK_G1, s->a, key->n_a, "query A"));
    CUZK_TRY(multiply(s, &key->b1, CUZK_G1, s->b, key->n_b, "query B in G1"));
    CUZK_TRY(multiply(s, &key->b2, CUZK_G2, s->b, key->n_b, "query B in G2"));
    CUZK_TRY(multiply(s, &key->c, CUZK_G1, s->c + s->shape->n_inputs, key->n_c, "query C"));
    if (circom) {
        h_scalars_circom(s);
    } else {
        h_scalars_bellperson(s);
    }
    return multiply(s, &key->h, CUZK_G1, s->scratch, key->n_h, "query H");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status check_style(struct setup *s)
{
    uint64_t rows = cuzk_shape_n_rows(s->shape);
    bool circom = s->params->style == CUZK_KEY_CIRCOM;
    CUZK_FAIL_IF(!circom && s->curve->id != CUZK_CURVE_BLS12_381, s->err, CUZK_E_UNSUPPORTED,
                 "generating a .params key: it is a format of bls12381, the circuit is over %s",
                 s->curve->snarkjs_name);
    unsigned lg_n = cuzk_setup_lg_domain(s->params->style, rows);
    unsigned most = circom ? cuzk_zkey_lg_domain_max(s->curve) : CUZK_DOMAIN_LG_MAX;
    CUZK_FAIL_IF(lg_n > most, s->err, CUZK_E_UNSUPPORTED,
                 "generating a key: %llu constraints need a domain of 2^%u, the largest for this "
                 "kind of key on %s is 2^%u",
                 (unsigned long long)rows, lg_n, s->curve->snarkjs_name, most);
    s->key->lg_n = lg_n;
    s->n = (uint64_t)1 << lg_n;
    s->work = s->n + 6 * (uint64_t)s->shape->n_vars;
    s->curve->fr_root_of_unity(&s->w, cuzk_key_style_generator(s->params->style), lg_n);
    return CUZK_OK;
}

static cuzk_status allocate(struct setup *s)
{
    s->scratch_bytes = (size_t)s->n * sizeof(cuzk_fr);
    s->column_bytes = (size_t)s->shape->n_vars * sizeof(cuzk_fr);
    s->scratch = malloc(s->scratch_bytes);
    s->a = malloc(s->column_bytes);
    s->b = malloc(s->column_bytes);
    s->c = malloc(s->column_bytes);
    CUZK_FAIL_IF(s->scratch == NULL || s->a == NULL || s->b == NULL || s->c == NULL, s->err,
                 CUZK_E_MEMORY, "generating a key for %u variables: out of memory",
                 s->shape->n_vars);
    return CUZK_OK;
}

static void wipe_free(cuzk_fr *p, size_t n_bytes)
{
    if (p != NULL) {
        cuzk_wipe(p, n_bytes);
        free(p);
    }
}

cuzk_status cuzk_setup(cuzk_generated_key *out, const cuzk_shape *shape,
                       const cuzk_setup_params *params, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_generated_key key = {.style = params->style,
                              .is_test_key = params->test_trapdoor != NULL,
                              .n_vars = shape->n_vars,
                              .n_inputs = shape->n_inputs};
    struct setup s = {.shape = shape,
                      .curve = shape->curve,
                      .params = params,
                      .pool = pool,
                      .err = err,
                      .key = &key};
    cuzk_status status = CUZK_OK;
    CUZK_TRY_OUT(status, check_style(&s));
    CUZK_TRY_OUT(status, choose_trapdoor(&s));
    CUZK_TRY_OUT(status, allocate(&s));
    column_scalars(&s);
    CUZK_TRY_OUT(status, make_vk(&s));
    CUZK_TRY_OUT(status, make_queries(&s));
    *out = key;
    memset(&key, 0, sizeof key);
out:
    cuzk_generated_key_clear(&key);
    cuzk_fixed_base_destroy(s.tables[CUZK_G1]);
    cuzk_fixed_base_destroy(s.tables[CUZK_G2]);
    wipe_free(s.scratch, s.scratch_bytes);
    wipe_free(s.a, s.column_bytes);
    wipe_free(s.b, s.column_bytes);
    wipe_free(s.c, s.column_bytes);
    cuzk_wipe(&s.t, sizeof s.t);
    return status;
}

void cuzk_generated_key_clear(cuzk_generated_key *key)
{
    cuzk_vk_clear(&key->vk);
    free(key->a);
    free(key->b1);
    free(key->b2);
    free(key->c);
    free(key->h);
    memset(key, 0, sizeof *key);
}
