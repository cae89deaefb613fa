/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* With L_i the Lagrange polynomials of the domain at tau, the columns a_v, b_v, c_v are sums of
 * coefficient · L_row, and the query of v for C (or ic) is (beta·a_v + alpha·b_v + c_v) over delta
 * (or gamma). The Lagrange values give their memory to the logarithms of H. */
#include "groth16/setup_logs.h"

#include "base/bytes.h"
#include "base/pages.h"
#include "formats/zkey.h"
#include "groth16/fr_random.h"
#include "groth16/lagrange.h"
#include "groth16/setup_columns.h"

enum { RANGE = 4096 };

struct setup {
    const cuzk_shape *shape;
    const cuzk_curve *curve;
    const cuzk_setup_params *params;
    cuzk_pool *pool;
    cuzk_error *err;
    cuzk_setup_logs *logs;
    cuzk_trapdoor t;
    uint64_t n; /* domain size */
    cuzk_fr w;  /* primitive n-th root of unity */
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

/* h_i = L_i(tau) on the domain of n points, for the rows in use. */
static void lagrange_scalars(struct setup *s)
{
    cuzk_fr scale, inverse;
    s->curve->fr_pow_u64(&scale, &s->t.tau, s->n);
    s->curve->fr_sub(&scale, &scale, &s->curve->fr_one);
    inverse_of_n(s, s->n, &inverse);
    s->curve->fr_mul(&scale, &scale, &inverse);
    cuzk_lagrange_at(s->curve, s->logs->h, (size_t)cuzk_shape_n_rows(s->shape), &s->t.tau, &s->w,
                     &s->curve->fr_one, &scale, s->pool);
    cuzk_wipe(&scale, sizeof scale);
}

/* h_i = L_{2i+1}(tau)/delta on the domain of 2n points. */
static void h_scalars_circom(struct setup *s)
{
    cuzk_fr scale, factor, w2;
    s->curve->fr_root_of_unity(&w2, cuzk_key_style_generator(CUZK_KEY_CIRCOM), s->logs->lg_n + 1);
    s->curve->fr_pow_u64(&scale, &s->t.tau, 2 * s->n);
    s->curve->fr_sub(&scale, &scale, &s->curve->fr_one);
    inverse_of_n(s, 2 * s->n, &factor);
    s->curve->fr_mul(&scale, &scale, &factor);
    s->curve->fr_inv(&factor, &s->t.delta);
    s->curve->fr_mul(&scale, &scale, &factor);
    cuzk_lagrange_at(s->curve, s->logs->h, (size_t)s->n, &s->t.tau, &s->w, &w2, &scale, s->pool);
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
        s->logs->h[i] = x;
        s->curve->fr_mul(&x, &x, &s->t.tau);
    }
    cuzk_wipe(&x, sizeof x);
}

/* h_i = tau^i·(tau^n - 1)/delta. */
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
        s->curve->fr_mul(&x, &s->t.beta, &s->logs->a[v]);
        s->curve->fr_add(&s->logs->c[v], &s->logs->c[v], &x);
        s->curve->fr_mul(&x, &s->t.alpha, &s->logs->b[v]);
        s->curve->fr_add(&s->logs->c[v], &s->logs->c[v], &x);
        s->curve->fr_mul(&s->logs->c[v], &s->logs->c[v],
                         v < s->shape->n_inputs ? &g->inverse_gamma : &g->inverse_delta);
    }
}

static void column_scalars(struct setup *s)
{
    struct combine g = {.s = s};
    lagrange_scalars(s);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_A, s->logs->a, s->logs->h, s->pool);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_B, s->logs->b, s->logs->h, s->pool);
    cuzk_setup_columns(s->shape, CUZK_MATRIX_C, s->logs->c, s->logs->h, s->pool);
    s->curve->fr_inv(&g.inverse_gamma, &s->t.gamma);
    s->curve->fr_inv(&g.inverse_delta, &s->t.delta);
    cuzk_pool_for(s->pool, ((size_t)s->shape->n_vars + RANGE - 1) / RANGE, combine_range, &g);
    cuzk_wipe(&g, sizeof g);
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

static void drop_task(void *ctx, size_t task, unsigned thread)
{
    (void)thread;
    const struct setup *s = ctx;
    cuzk_setup_logs *logs = s->logs;
    if (task == 0) {
        logs->n_a = drop_zeros(logs->a, s->shape->n_vars);
    } else {
        logs->n_b = drop_zeros(logs->b, s->shape->n_vars);
    }
}

/* bellperson: identity points leave A and B; the prover finds its way by the densities, which agree
 * with what is left unless a sum of Lagrange values happened to be zero at tau. */
static cuzk_status filter(struct setup *s)
{
    const cuzk_shape *shape = s->shape;
    for (uint32_t v = shape->n_inputs; v < shape->n_vars; v++) {
        CUZK_FAIL_IF(is_zero(&s->logs->c[v]), s->err, CUZK_E_ARGUMENT,
                     "generating a key: aux variable %u is in no constraint; a .params file cannot "
                     "hold its point",
                     v - shape->n_inputs);
    }
    cuzk_pool_for(s->pool, 2, drop_task, s);
    uint64_t n_a = (uint64_t)shape->n_inputs + shape->n_a_aux;
    uint64_t n_b = (uint64_t)shape->n_b_input + shape->n_b_aux;
    CUZK_FAIL_IF(s->logs->n_a != n_a || s->logs->n_b != n_b, s->err, CUZK_E_ARGUMENT,
                 "generating a key: %llu and %llu points in A and B, expected %llu and %llu: a "
                 "column vanishes at tau",
                 (unsigned long long)s->logs->n_a, (unsigned long long)s->logs->n_b,
                 (unsigned long long)n_a, (unsigned long long)n_b);
    return CUZK_OK;
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
    s->logs->lg_n = lg_n;
    s->n = (uint64_t)1 << lg_n;
    s->curve->fr_root_of_unity(&s->w, cuzk_key_style_generator(s->params->style), lg_n);
    return CUZK_OK;
}

static cuzk_status allocate(struct setup *s)
{
    cuzk_setup_logs *logs = s->logs;
    logs->h_bytes = (size_t)s->n * sizeof(cuzk_fr);
    logs->column_bytes = (size_t)s->shape->n_vars * sizeof(cuzk_fr);
    logs->h = cuzk_pages_alloc_dense(logs->h_bytes);
    logs->a = cuzk_pages_alloc_dense(logs->column_bytes);
    logs->b = cuzk_pages_alloc_dense(logs->column_bytes);
    logs->c = cuzk_pages_alloc_dense(logs->column_bytes);
    CUZK_FAIL_IF(logs->h == NULL || logs->a == NULL || logs->b == NULL || logs->c == NULL, s->err,
                 CUZK_E_MEMORY, "generating a key for %u variables: out of memory",
                 s->shape->n_vars);
    return CUZK_OK;
}

static cuzk_status make(struct setup *s)
{
    cuzk_setup_logs *logs = s->logs;
    bool circom = logs->style == CUZK_KEY_CIRCOM;
    CUZK_TRY(check_style(s));
    CUZK_TRY(choose_trapdoor(s));
    logs->t = s->t;
    CUZK_TRY(allocate(s));
    CUZK_TRY(
        cuzk_report_progress(s->params->reporter, "circuit at the secret point", 0, 1, s->err));
    column_scalars(s);
    logs->n_a = logs->n_b = s->shape->n_vars;
    logs->n_h = circom ? s->n : s->n - 1;
    if (circom) {
        h_scalars_circom(s);
        return CUZK_OK;
    }
    CUZK_TRY(filter(s));
    h_scalars_bellperson(s);
    return CUZK_OK;
}

cuzk_status cuzk_setup_logs_make(cuzk_setup_logs *out, const cuzk_shape *shape,
                                 const cuzk_setup_params *params, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_setup_logs logs = {
        .style = params->style, .shape = shape, .is_test = params->test_trapdoor != NULL};
    struct setup s = {.shape = shape,
                      .curve = shape->curve,
                      .params = params,
                      .pool = pool,
                      .err = err,
                      .logs = &logs};
    cuzk_status status = make(&s);
    if (status == CUZK_OK) {
        *out = logs;
    } else {
        cuzk_setup_logs_clear(&logs);
    }
    cuzk_wipe(&logs.t, sizeof logs.t);
    cuzk_wipe(&s.t, sizeof s.t);
    return status;
}

void cuzk_setup_logs_clear(cuzk_setup_logs *logs)
{
    cuzk_fr *const arrays[] = {logs->h, logs->a, logs->b, logs->c};
    for (int i = 0; i < 4; i++) {
        size_t n_bytes = i == 0 ? logs->h_bytes : logs->column_bytes;
        if (arrays[i] != NULL && !logs->is_test) { /* two neighbours of h give tau away */
            cuzk_wipe(arrays[i], n_bytes);
        }
        cuzk_pages_free(arrays[i], n_bytes);
    }
    cuzk_wipe(logs, sizeof *logs);
}
