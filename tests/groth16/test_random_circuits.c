/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random circuits, both curves and both kinds of key, against the proof computed from the trapdoor:
 * variables that occur in one matrix only or nowhere (their points are infinity), no public value,
 * no private value, bits and full-size values in any mixture, domains from 1 on. */
#include "support.h"

#include "base/bitmap.h"
#include "r1cs/satisfy.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_pool *pool;
static uint64_t seed = 0xc12c17;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

static void random_fr(const cuzk_curve *curve, cuzk_fr *out, unsigned percent_bits)
{
    if (next_random() % 100 < percent_bits) {
        curve->fr_from_u64(out, next_random() % 2);
        return;
    }
    switch (next_random() % 4) {
    case 0:
        curve->fr_from_u64(out, next_random() % 300);
        break;
    case 1:
        curve->fr_from_u64(out, next_random() % 3);
        curve->fr_neg(out, out);
        break;
    default:
        for (int i = 0; i < 4; i++) {
            out->l[i] = next_random();
        }
        out->l[3] %= curve->r[3];
    }
}

/* A circuit and a witness that satisfies it: rows of random terms over variables chosen before,
 * each row's product bound to a new variable. */
struct circuit {
    cuzk_shape *shape;
    cuzk_witness *w;
};

struct recipe {
    cuzk_curve_id curve;
    unsigned n_inputs; /* without ONE */
    unsigned n_free;   /* private variables that rows draw from */
    unsigned n_rows;
    unsigned n_unused; /* private variables in no row */
    unsigned percent_bits;
    bool outputs_public; /* rows bind public values first */
};

/* Values by handle: inputs and aux variables in order of creation. */
struct values {
    cuzk_fr input[64], aux[4000];
    unsigned n_input, n_aux;
};

static cuzk_var pick(const struct values *v, const cuzk_fr **value)
{
    uint64_t i = next_random() % (v->n_input + v->n_aux);
    *value = i < v->n_input ? &v->input[i] : &v->aux[i - v->n_input];
    return i < v->n_input ? (cuzk_var)i : cuzk_var_aux((uint32_t)(i - v->n_input));
}

static cuzk_fr random_side(const cuzk_curve *curve, cuzk_shape_builder *b, cuzk_matrix m,
                           const struct values *v)
{
    cuzk_fr sum = {{0}}, coef, x;
    for (uint64_t n = next_random() % 5; n > 0; n--) {
        const cuzk_fr *value;
        cuzk_var var = pick(v, &value);
        random_fr(curve, &coef, 30);
        cuzk_shape_add_term(b, m, var, &coef);
        curve->fr_mul(&x, &coef, value);
        curve->fr_add(&sum, &sum, &x);
    }
    return sum;
}

static void add_row(const cuzk_curve *curve, cuzk_shape_builder *b, struct values *v,
                    bool output_is_public)
{
    cuzk_fr a, c;
    a = random_side(curve, b, CUZK_MATRIX_A, v);
    c = random_side(curve, b, CUZK_MATRIX_B, v);
    curve->fr_mul(&c, &c, &a);
    cuzk_var out;
    if (output_is_public) {
        out = cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN);
        v->input[v->n_input++] = c;
    } else {
        out = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        v->aux[v->n_aux++] = c;
    }
    cuzk_shape_add_term(b, CUZK_MATRIX_C, out, &curve->fr_one);
    cuzk_shape_end_constraint(b);
}

static struct circuit make(const struct recipe *r)
{
    const cuzk_curve *curve = cuzk_curve_get(r->curve);
    struct values *v = calloc(1, sizeof *v);
    cuzk_shape_builder *b = NULL;
    assert_non_null(v);
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    v->input[v->n_input++] = curve->fr_one;
    unsigned bound = r->outputs_public ? r->n_inputs : 0;
    for (unsigned i = bound; i < r->n_inputs; i++) {
        (void)cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN);
        random_fr(curve, &v->input[v->n_input++], r->percent_bits);
    }
    for (unsigned i = 0; i < r->n_free; i++) {
        (void)cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        random_fr(curve, &v->aux[v->n_aux++], r->percent_bits);
    }
    for (unsigned i = 0; i < r->n_rows; i++) {
        add_row(curve, b, v, i < bound);
    }
    for (unsigned i = 0; i < r->n_unused; i++) {
        (void)cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        random_fr(curve, &v->aux[v->n_aux++], r->percent_bits);
    }
    struct circuit c = {0};
    cuzk_error err = {0};
    assert_int_equal(cuzk_shape_builder_finish(b, &c.shape, &err), CUZK_OK);
    uint32_t n = v->n_input + v->n_aux;
    uint8_t *plain = malloc((size_t)n * 32);
    assert_non_null(plain);
    curve->fr_batch_to_canonical(plain, v->input, v->n_input);
    curve->fr_batch_to_canonical(plain + 32 * (size_t)v->n_input, v->aux, v->n_aux);
    assert_int_equal(
        cuzk_witness_from_values(&c.w, curve, plain, n, v->n_input, "random", pool, &err), CUZK_OK);
    free(plain);
    free(v);
    if (cuzk_shape_check_witness(c.shape, c.w, NULL, pool, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return c;
}

static void random_blinding(const cuzk_curve *curve, cuzk_blinding *out)
{
    cuzk_fr x;
    random_fr(curve, &x, 10);
    curve->fr_to_canonical_le(out->r, &x);
    random_fr(curve, &x, 10);
    curve->fr_to_canonical_le(out->s, &x);
}

static void random_trapdoor(const cuzk_curve *curve, cuzk_trapdoor *out)
{
    cuzk_fr *v[5] = {&out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta};
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 4; k++) {
            v[i]->l[k] = next_random();
        }
        v[i]->l[3] %= curve->r[3];
    }
}

static void expect_right_proof(const struct recipe *recipe, const struct circuit *c,
                               cuzk_key_style style)
{
    const cuzk_curve *curve = c->shape->curve;
    cuzk_trapdoor t;
    cuzk_blinding blinding;
    cuzk_proof_points expected, found;
    cuzk_prover *prover = NULL;
    cuzk_error err = {0};
    random_trapdoor(curve, &t);
    random_blinding(curve, &blinding);
    support_bytes bytes = support_generate(c->shape, style, &t, pool);
    cuzk_status status;
    if (style == CUZK_KEY_CIRCOM) {
        cuzk_zkey key = support_open_zkey(&bytes);
        status = cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &err);
    } else {
        cuzk_params key;
        assert_int_equal(cuzk_params_open(&key, bytes.data, bytes.size, &err), CUZK_OK);
        status = cuzk_prover_create_params(&prover, &key, c->shape, NULL, pool, &err);
    }
    cuzk_prove_params params = {.test_blinding = &blinding};
    if (status == CUZK_OK) {
        status = cuzk_prover_prove(prover, &found, c->w, &params, pool, &err);
    }
    if (status != CUZK_OK) {
        fail_msg("curve %d, %u rows: %s", (int)recipe->curve, recipe->n_rows, err.text);
    }
    support_proof_by_trapdoor(c->shape, c->w, style, &t, &blinding, &expected);
    assert_true(support_same_proof(&found, &expected));
    cuzk_prover_destroy(prover);
    free(bytes.data);
}

/* bellperson's keys have no place for an aux variable that no row uses. */
static bool uses_all(const cuzk_shape *s)
{
    uint64_t *used = calloc(cuzk_bitmap_words(s->n_vars), 8);
    assert_non_null(used);
    for (int k = 0; k < 3; k++) {
        for (uint64_t t = 0; t < s->rows[k].begin[s->n_constraints]; t++) {
            cuzk_bitmap_set(used, s->rows[k].var[t]);
        }
    }
    bool all = true;
    for (uint32_t v = s->n_inputs; v < s->n_vars; v++) {
        all = all && cuzk_bitmap_get(used, v);
    }
    free(used);
    return all;
}

static void test_random(void **state)
{
    (void)state;
    static const struct recipe recipes[] = {
        /* inputs, free, rows, unused, % bits, outputs public */
        {CUZK_CURVE_BN254, 0, 3, 1, 0, 0, false},
        {CUZK_CURVE_BLS12_381, 0, 3, 5, 2, 0, false},
        {CUZK_CURVE_BN254, 1, 2, 2, 1, 50, false},
        {CUZK_CURVE_BLS12_381, 1, 0, 2, 0, 50, true},
        {CUZK_CURVE_BN254, 3, 0, 3, 0, 50, true},
        {CUZK_CURVE_BN254, 2, 20, 61, 7, 90, false}, /* exactly 64 rows */
        {CUZK_CURVE_BLS12_381, 2, 4, 61, 0, 90, false},
        {CUZK_CURVE_BLS12_381, 2, 20, 62, 9, 100, true}, /* one more than 64 */
        {CUZK_CURVE_BN254, 5, 70, 300, 60, 60, true},
        {CUZK_CURVE_BLS12_381, 60, 100, 500, 0, 70, false},
        {CUZK_CURVE_BN254, 10, 1500, 1000, 500, 97, false},
        {CUZK_CURVE_BLS12_381, 10, 1500, 600, 300, 0, true},
    };
    int n_bellperson = 0;
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        print_message("recipe %zu, seed 0x%llx\n", i, (unsigned long long)seed);
        struct circuit c = make(&recipes[i]);
        expect_right_proof(&recipes[i], &c, CUZK_KEY_CIRCOM);
        if (recipes[i].curve == CUZK_CURVE_BLS12_381 && uses_all(c.shape)) {
            n_bellperson++;
            expect_right_proof(&recipes[i], &c, CUZK_KEY_BELLPERSON);
        }
        cuzk_witness_destroy(c.w);
        cuzk_shape_destroy(c.shape);
    }
    assert_true(n_bellperson >= 2);
}

/* A circuit of nothing but ONE, and one without any constraint. */
static void test_smallest(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct recipe r = {.curve = k % 2 == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381,
                           .n_inputs = k < 2 ? 0 : 2};
        struct circuit c = make(&r);
        expect_right_proof(&r, &c, CUZK_KEY_CIRCOM);
        if (k % 2 == 1) {
            expect_right_proof(&r, &c, CUZK_KEY_BELLPERSON);
        }
        cuzk_witness_destroy(c.w);
        cuzk_shape_destroy(c.shape);
    }
}

int main(void)
{
    if (cuzk_pool_create(&pool, 3, NULL) != CUZK_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_smallest),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
