/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What must not come out of the prover or pass the verifier: proofs of witnesses that do not
 * satisfy, with stale or damaged keys, of another curve; tampered proofs and public values. */
#include "support.h"

#include "base/bytes.h"
#include "groth16/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_pool *pool;

/* A circuit with its key, ready to prove. */
struct ready {
    const char *name;
    support_bytes bytes;
    cuzk_zkey key;
    cuzk_shape *shape;
    cuzk_witness *w;
    cuzk_prover *prover;        /* knows the key only */
    cuzk_prover *shaped_prover; /* knows the circuit too */
};

static struct ready make_ready(const char *name)
{
    struct ready r = {.name = name, .bytes = support_zkey(name, pool)};
    r.key = support_open_zkey(&r.bytes);
    r.shape = support_shape(name);
    r.w = support_witness(name, r.shape->n_inputs);
    assert_int_equal(cuzk_prover_create_zkey(&r.prover, &r.key, NULL, NULL, pool, NULL), CUZK_OK);
    assert_int_equal(cuzk_prover_create_zkey(&r.shaped_prover, &r.key, r.shape, NULL, pool, NULL),
                     CUZK_OK);
    return r;
}

static void free_ready(struct ready *r)
{
    cuzk_prover_destroy(r->prover);
    cuzk_prover_destroy(r->shaped_prover);
    cuzk_witness_destroy(r->w);
    cuzk_shape_destroy(r->shape);
    free(r->bytes.data);
}

static const char *const names[] = {"circom/bn254/poseidon2", "circom/bls12381/poseidon2",
                                    "circom/bn254/range64"};

static void test_unsatisfied(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ready r = make_ready(names[i]);
        cuzk_proof_points proof, untouched;
        memset(&proof, 0x5a, sizeof proof);
        untouched = proof;
        r.w->field[r.w->n_field / 2][3] ^= 1;
        cuzk_error err = {0};
        assert_int_equal(cuzk_prover_prove(r.prover, &proof, r.w, NULL, pool, &err),
                         CUZK_E_UNSATISFIED);
        assert_non_null(strstr(err.text, ".r1cs"));
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_prover_prove(r.shaped_prover, &proof, r.w, NULL, pool, &err),
                         CUZK_E_UNSATISFIED);
        assert_non_null(strstr(err.text, "breaks constraint"));
        assert_memory_equal(&proof, &untouched, sizeof proof);

        /* switched off by name: delivered, and invalid */
        cuzk_prove_params params = {.without_self_check = true};
        assert_int_equal(cuzk_prover_prove(r.prover, &proof, r.w, &params, pool, NULL), CUZK_OK);
        uint8_t *values = malloc((size_t)r.shape->n_inputs * 32);
        assert_non_null(values);
        cuzk_witness_get_range(r.w, 1, r.shape->n_inputs - 1, values);
        cuzk_verifier v;
        assert_int_equal(cuzk_verifier_init(&v, cuzk_prover_vk(r.prover), true, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_check(&v, &proof, values, r.key.n_public, pool, NULL),
                         CUZK_E_INVALID_PROOF);
        free(values);
        free_ready(&r);
    }
}

/* The key of one version of a circuit, the witness of another with as many wires. */
static void test_stale_key(void **state)
{
    (void)state;
    struct ready r = make_ready("circom/bn254/poseidon2");
    cuzk_shape *other = NULL;
    cuzk_shape_builder *b = NULL;
    const cuzk_curve *curve = r.shape->curve;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    for (uint32_t v = 1; v < r.shape->n_vars; v++) {
        (void)(v < r.shape->n_inputs ? cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN)
                                     : cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN));
    }
    for (uint32_t v = 0; v + 3 < r.shape->n_vars - 2; v++) { /* x_v · x_(v+1) = x_(v+2) */
        for (uint32_t k = 0; k < 3; k++) {
            cuzk_shape_add_term(b, (cuzk_matrix)k, cuzk_var_aux(v + k), &curve->fr_one);
        }
        cuzk_shape_end_constraint(b);
    }
    assert_int_equal(cuzk_shape_builder_finish(b, &other, NULL), CUZK_OK);
    cuzk_trapdoor t = support_trapdoor("circom/bn254/poseidon2", curve);
    support_bytes bytes = support_generate(other, CUZK_KEY_CIRCOM, &t, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_prover *prover = NULL;
    cuzk_proof_points proof;
    cuzk_error err = {0};
    assert_int_equal(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, NULL), CUZK_OK);
    assert_int_equal(cuzk_prover_prove(prover, &proof, r.w, NULL, pool, &err), CUZK_E_UNSATISFIED);
    cuzk_prover_destroy(prover);
    /* with the witness's own .r1cs the witness is fine: it is the key that is another */
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_prover_create_zkey(&prover, &key, r.shape, NULL, pool, NULL), CUZK_OK);
    assert_int_equal(cuzk_prover_prove(prover, &proof, r.w, NULL, pool, &err),
                     CUZK_E_INVALID_PROOF);
    assert_non_null(strstr(err.text, "of another circuit"));
    cuzk_prover_destroy(prover);
    free(bytes.data);
    cuzk_shape_destroy(other);
    free_ready(&r);
}

static void test_mismatches(void **state)
{
    (void)state;
    struct ready r = make_ready("circom/bn254/poseidon2");
    cuzk_witness *other_curve = support_witness("circom/bls12381/poseidon2", 2);
    cuzk_witness *longer = support_witness("circom/bn254/multiplier1000", 2);
    cuzk_proof_points proof;
    cuzk_error err = {0};
    assert_int_equal(cuzk_prover_prove(r.prover, &proof, other_curve, NULL, pool, &err),
                     CUZK_E_MISMATCH);
    assert_string_equal(err.text, "witness is over bls12381, key is over bn128");
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_prover_prove(r.prover, &proof, longer, NULL, pool, &err),
                     CUZK_E_WITNESS_LENGTH);
    assert_string_equal(err.text, "Invalid witness length. Circuit: 520, witness: 1003");
    cuzk_error_clear(&err);
    cuzk_blinding too_large;
    memset(&too_large, 0xff, sizeof too_large);
    cuzk_prove_params params = {.test_blinding = &too_large};
    assert_int_equal(cuzk_prover_prove(r.prover, &proof, r.w, &params, pool, &err),
                     CUZK_E_ARGUMENT);
    cuzk_error_clear(&err);
    cuzk_prover *p = NULL;
    cuzk_shape *shape = support_shape("circom/bls12381/poseidon2");
    assert_int_equal(cuzk_prover_create_zkey(&p, &r.key, shape, NULL, pool, &err), CUZK_E_MISMATCH);
    assert_null(p);
    cuzk_shape_destroy(shape);
    cuzk_witness_destroy(other_curve);
    cuzk_witness_destroy(longer);
    free_ready(&r);
}

/* Every kind of damage to a key shows as a refused proof, never as a delivered one. */
static void test_damaged_keys(void **state)
{
    (void)state;
    struct ready r = make_ready("circom/bn254/poseidon2");
    size_t g1 = r.key.curve->g[CUZK_G1].affine_bytes, g2 = r.key.curve->g[CUZK_G2].affine_bytes;
    /* the base of a wire that holds a field value and occurs in A and B */
    uint32_t wire = 4;
    const struct {
        const uint8_t *at;
        size_t n_bytes;
    } points[] = {
        {r.key.a + wire * g1, g1},  {r.key.b1 + wire * g1, g1},
        {r.key.b2 + wire * g2, g2}, {r.key.c + (wire - r.key.n_public - 1) * g1, g1},
        {r.key.h + 5 * g1, g1},
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        uint8_t *p = r.bytes.data + (points[i].at - r.bytes.data), saved[192];
        memcpy(saved, p, points[i].n_bytes);
        /* a valid point that is not the right one: its negation, then the generator */
        const cuzk_group *group = &r.key.curve->g[points[i].n_bytes == g1 ? CUZK_G1 : CUZK_G2];
        for (int k = 0; k < 2; k++) {
            if (k == 0) {
                group->affine_neg(p, saved);
            } else {
                group->generator(p);
            }
            cuzk_prover *prover = NULL;
            cuzk_proof_points proof;
            assert_int_equal(cuzk_prover_create_zkey(&prover, &r.key, r.shape, NULL, pool, NULL),
                             CUZK_OK);
            assert_int_equal(cuzk_prover_prove(prover, &proof, r.w, NULL, pool, NULL),
                             CUZK_E_INVALID_PROOF);
            cuzk_prover_destroy(prover);
        }
        memcpy(p, saved, points[i].n_bytes);
    }
    free_ready(&r);
}

/* ---- keys whose points are not points ---- */

struct points_of_key {
    const char *section;
    const uint8_t *at;
    uint64_t n;
    cuzk_group_id group;
};

/* Write a little-endian number of fp_bytes: p + `more`, or all ones. */
static void put_unreduced(uint8_t *at, const cuzk_curve *curve, uint64_t more)
{
    memset(at, 0xff, curve->fp_bytes);
    if (more != UINT64_MAX) {
        memcpy(at, curve->p, curve->fp_bytes);
        cuzk_store_u64_le(at, curve->p[0] + more);
    }
}

static void expect_no_prover(const struct ready *r, const char *section, uint64_t index)
{
    char expected[128];
    snprintf(expected, sizeof expected, "zkey %s: point %llu: coordinate is not below", section,
             (unsigned long long)index);
    cuzk_prover *prover = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_prover_create_zkey(&prover, &r->key, NULL, NULL, pool, &err),
                     CUZK_E_FORMAT);
    assert_null(prover);
    if (strstr(err.text, expected) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", expected, err.text);
    }
}

/* Field arithmetic must never see a coordinate at or above p: each coordinate of the first, the
 * last and another point of every section. */
static void test_unreduced_coordinates(void **state)
{
    (void)state;
    static const char *const keys[] = {"circom/bn254/poseidon2", "circom/bls12381/multiplier1000"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct ready r = make_ready(keys[i]);
        const cuzk_zkey *k = &r.key;
        const struct points_of_key all[] = {
            {"section 3 (IC)", k->vk.ic, k->vk.n_ic, CUZK_G1},
            {"section 5 (A)", k->a, k->n_vars, CUZK_G1},
            {"section 6 (B1)", k->b1, k->n_vars, CUZK_G1},
            {"section 7 (B2)", k->b2, k->n_vars, CUZK_G2},
            {"section 8 (C)", k->c, k->n_vars - k->n_public - 1, CUZK_G1},
            {"section 9 (H)", k->h, k->domain_size, CUZK_G1},
        };
        for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
            size_t each = k->curve->g[all[s].group].affine_bytes, fp = k->curve->fp_bytes;
            const uint64_t at[] = {0, all[s].n / 2, all[s].n - 1};
            for (size_t t = 0; t < 3; t++) {
                for (size_t c = 0; c < each / fp; c++) {
                    uint8_t *p = r.bytes.data + (all[s].at - r.bytes.data) + at[t] * each + c * fp;
                    uint8_t saved[48];
                    memcpy(saved, p, fp);
                    put_unreduced(p, k->curve, c == 0 ? 0 : c == 1 ? UINT64_MAX : c);
                    expect_no_prover(&r, all[s].section, at[t]);
                    memcpy(p, saved, fp);
                }
            }
        }
        free_ready(&r);
    }
}

/* A coordinate below p that no curve point has: the prover takes the key, no proof leaves it. The
 * second one shares its highest word with p. */
static void test_points_off_the_curve(void **state)
{
    (void)state;
    struct ready r = make_ready("circom/bn254/poseidon2");
    const size_t g1 = 64, g2 = 128;
    const uint32_t wire = 4; /* holds a field value and occurs in A and B */
    const uint8_t *const points[] = {r.key.a + wire * g1, r.key.b2 + wire * g2,
                                     r.key.c + (wire - r.key.n_public - 1) * g1, r.key.h + 5 * g1};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        for (int k = 0; k < 2; k++) {
            uint8_t *p = r.bytes.data + (points[i] - r.bytes.data), saved[32];
            memcpy(saved, p, sizeof saved);
            if (k == 0) {
                p[0] ^= 1;
            } else {
                put_unreduced(p, r.key.curve, 0);
                p[0] -= 1; /* p is odd */
            }
            cuzk_prover *prover = NULL;
            cuzk_proof_points proof;
            cuzk_error err = {0};
            assert_int_equal(cuzk_prover_create_zkey(&prover, &r.key, NULL, NULL, pool, NULL),
                             CUZK_OK);
            assert_int_equal(cuzk_prover_prove(prover, &proof, r.w, NULL, pool, &err),
                             CUZK_E_INVALID_PROOF);
            assert_non_null(strstr(err.text, "not on the curve"));
            assert_non_null(strstr(err.text, "damaged"));
            cuzk_prover_destroy(prover);
            memcpy(p, saved, sizeof saved);
        }
    }
    free_ready(&r);
}

/* ---- the verifier ---- */

static void expect_invalid(const cuzk_verifier *v, const cuzk_proof_points *proof,
                           const uint8_t *values, uint64_t n, const char *reason)
{
    cuzk_error err = {0};
    assert_int_equal(cuzk_verifier_check(v, proof, values, n, pool, &err), CUZK_E_INVALID_PROOF);
    if (strstr(err.text, reason) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", reason, err.text);
    }
}

static void test_tampered_proofs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ready r = make_ready(names[i]);
        const cuzk_curve *curve = r.key.curve;
        const cuzk_group *g1 = &curve->g[CUZK_G1], *g2 = &curve->g[CUZK_G2];
        uint32_t n = r.key.n_public;
        cuzk_proof_points good, bad;
        cuzk_verifier v;
        uint8_t *values = malloc((size_t)(n + 1) * 32);
        assert_non_null(values);
        cuzk_witness_get_range(r.w, 1, n, values);
        assert_int_equal(cuzk_prover_prove(r.prover, &good, r.w, NULL, pool, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_init(&v, cuzk_prover_vk(r.prover), true, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_check(&v, &good, values, n, pool, NULL), CUZK_OK);

        bad = good;
        g1->affine_neg(&bad.a, &good.a);
        expect_invalid(&v, &bad, values, n, "equation");
        g2->affine_neg(&bad.b, &good.b); /* e(-A, -B) = e(A, B): the same statement */
        assert_int_equal(cuzk_verifier_check(&v, &bad, values, n, pool, NULL), CUZK_OK);
        bad = good;
        bad.c = good.a;
        expect_invalid(&v, &bad, values, n, "equation");
        bad = good;
        memset(&bad.a, 0, sizeof bad.a); /* infinity */
        expect_invalid(&v, &bad, values, n, "equation");
        bad = good;
        bad.a.l[0] ^= 1; /* off the curve */
        expect_invalid(&v, &bad, values, n, "curve");
        bad = good;
        memset(bad.b.l, 0xff, 32); /* a coordinate above p */
        expect_invalid(&v, &bad, values, n, "p");

        values[0] ^= 1;
        expect_invalid(&v, &good, values, n, "equation");
        values[0] ^= 1;
        expect_invalid(&v, &good, values, n - 1, "public signals");
        expect_invalid(&v, &good, values, n + 1, "public signals");
        /* x + r is not x */
        uint8_t saved[32];
        memcpy(saved, values, 32);
        uint64_t carry = 0;
        for (int k = 0; k < 4; k++) {
            uint64_t x = cuzk_load_u64_le(saved + 8 * k), sum = x + curve->r[k];
            uint64_t out = sum < x;
            sum += carry;
            carry = out | (sum < carry);
            cuzk_store_u64_le(values + 8 * k, sum);
        }
        if (carry == 0) {
            expect_invalid(&v, &good, values, n, "public signal 0 is not below the field order");
        }
        memset(values, 0xff, 32);
        expect_invalid(&v, &good, values, n, "public signal 0 is not below the field order");
        free(values);
        free_ready(&r);
    }
}

static void test_batches(void **state)
{
    (void)state;
    enum { N = 20 };
    struct ready r = make_ready("circom/bn254/multiplier2");
    struct ready other = make_ready("circom/bls12381/multiplier2");
    uint32_t n = r.key.n_public;
    cuzk_proof_points proofs[N], foreign;
    cuzk_batch_item items[N];
    uint8_t values[32], wrong[32];
    cuzk_verifier v;
    cuzk_witness_get_range(r.w, 1, n, values);
    memcpy(wrong, values, 32);
    wrong[0] ^= 4;
    assert_int_equal(cuzk_prover_prove(other.prover, &foreign, other.w, NULL, pool, NULL), CUZK_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(cuzk_prover_prove(r.prover, &proofs[i], r.w, NULL, pool, NULL), CUZK_OK);
        items[i] = (cuzk_batch_item){&proofs[i], values, n};
    }
    assert_int_equal(cuzk_verifier_init(&v, cuzk_prover_vk(r.prover), false, NULL), CUZK_OK);
    for (size_t k = 0; k <= N; k++) {
        size_t first = 99;
        assert_int_equal(cuzk_verifier_check_batch(&v, items, k, &first, pool, NULL), CUZK_OK);
        assert_int_equal(first, 99);
    }
    for (size_t bad = 0; bad < N; bad += 7) {
        for (size_t k = bad + 1; k <= N; k += 6) {
            size_t first = 99;
            cuzk_error err = {0};
            char text[20];
            items[bad].values = wrong;
            items[N - 1].values = wrong;
            assert_int_equal(cuzk_verifier_check_batch(&v, items, k, &first, pool, &err),
                             CUZK_E_INVALID_PROOF);
            assert_int_equal(first, bad);
            snprintf(text, sizeof text, "proof %zu: ", bad);
            assert_non_null(strstr(err.text, text));
            items[N - 1].values = values;
            items[bad].values = values;
        }
    }
    /* two wrong proofs whose errors would cancel without random scalars: swapped C */
    cuzk_affine c = proofs[3].c;
    proofs[3].c = proofs[4].c;
    proofs[4].c = c;
    size_t first = 99;
    assert_int_equal(cuzk_verifier_check_batch(&v, items, N, &first, pool, NULL),
                     CUZK_E_INVALID_PROOF);
    assert_int_equal(first, 3);
    /* malformed behind invalid: the invalid one is first; before it: the malformed one */
    items[10].n_values = 0;
    assert_int_equal(cuzk_verifier_check_batch(&v, items, N, &first, pool, NULL),
                     CUZK_E_INVALID_PROOF);
    assert_int_equal(first, 3);
    items[2].n_values = 0;
    assert_int_equal(cuzk_verifier_check_batch(&v, items, N, &first, pool, NULL),
                     CUZK_E_INVALID_PROOF);
    assert_int_equal(first, 2);
    items[2].n_values = n;
    items[1].proof = &foreign;
    first = 99;
    assert_int_equal(cuzk_verifier_check_batch(&v, items, N, &first, pool, NULL), CUZK_E_MISMATCH);
    assert_int_equal(first, 99);
    free_ready(&r);
    free_ready(&other);
}

struct stop {
    int calls, stop_at;
};

static bool stop_later(void *ctx, const char *stage, double done)
{
    struct stop *s = ctx;
    assert_non_null(stage);
    assert_true(done >= 0 && done <= 1);
    return ++s->calls < s->stop_at;
}

static void test_cancel(void **state)
{
    (void)state;
    struct ready r = make_ready("circom/bn254/poseidon2");
    struct stop stop = {0, 1000};
    cuzk_reporter reporter = {stop_later, &stop};
    cuzk_prove_params params = {.reporter = &reporter};
    cuzk_proof_points proof;
    assert_int_equal(cuzk_prover_prove(r.prover, &proof, r.w, &params, pool, NULL), CUZK_OK);
    int calls = stop.calls;
    assert_true(calls >= 5);
    for (int at = 1; at <= calls; at++) {
        stop = (struct stop){0, at};
        assert_int_equal(cuzk_prover_prove(r.prover, &proof, r.w, &params, pool, NULL),
                         CUZK_E_CANCELLED);
    }
    cuzk_generated_key key;
    cuzk_setup_params setup = {.style = CUZK_KEY_CIRCOM, .reporter = &reporter};
    stop = (struct stop){0, 4};
    assert_int_equal(cuzk_setup(&key, r.shape, &setup, pool, NULL), CUZK_E_CANCELLED);
    free_ready(&r);
}

int main(void)
{
    if (cuzk_pool_create(&pool, 2, NULL) != CUZK_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsatisfied),
        cmocka_unit_test(test_stale_key),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_damaged_keys),
        cmocka_unit_test(test_unreduced_coordinates),
        cmocka_unit_test(test_points_off_the_curve),
        cmocka_unit_test(test_tampered_proofs),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_cancel),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
