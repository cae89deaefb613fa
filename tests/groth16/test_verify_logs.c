/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verification against discrete logarithms: keys and proofs are multiples of the generators by
 * known numbers, so that a proof is valid exactly when a·b = alpha·beta + inputs·gamma + c·delta
 * modulo the order. No circuit, no prover, no pairing on the side of the expected answer. */
#include "groth16/verify.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PUBLIC_MAX = 40, BATCH_MAX = 9 };

static uint64_t seed = 0x6070916;
static cuzk_pool *pool;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(cuzk_test_random(&seed) % n);
}

/* ---- keys and proofs with their logarithms ----------------------------------------------------
 */

struct key {
    const cuzk_curve *curve;
    cuzk_fr alpha, beta, gamma, delta, ic[PUBLIC_MAX + 1];
    uint32_t n_public;
    uint8_t ic_points[(PUBLIC_MAX + 1) * sizeof(cuzk_affine)];
    cuzk_vk vk;
};

struct proof {
    cuzk_fr a, b, c, x[PUBLIC_MAX];
    cuzk_proof_points points;
    uint8_t values[PUBLIC_MAX][32];
};

/* 0, 1, -1, small or any. */
static cuzk_fr some_number(const cuzk_curve *curve)
{
    cuzk_fr x = {{0}};
    uint32_t kind = below(8);
    if (kind >= 4) {
        for (int i = 0; i < 4; i++) {
            x.l[i] = cuzk_test_random(&seed);
        }
        x.l[3] %= curve->r[3];
    } else {
        curve->fr_from_u64(&x, kind == 3 ? below(1000) : kind != 0);
        if (kind == 2) {
            curve->fr_neg(&x, &x);
        }
    }
    return x;
}

static bool is_zero(const cuzk_fr *x)
{
    return (x->l[0] | x->l[1] | x->l[2] | x->l[3]) == 0;
}

static cuzk_fr some_unit(const cuzk_curve *curve)
{
    cuzk_fr x = some_number(curve);
    return is_zero(&x) ? curve->fr_one : x;
}

static void point(const cuzk_curve *curve, cuzk_group_id group, void *out, const cuzk_fr *log)
{
    const cuzk_group *g = &curve->g[group];
    cuzk_affine generator;
    cuzk_jac p;
    g->generator(&generator);
    g->from_affine(&p, &generator);
    g->mul(&p, &p, log);
    g->to_affine(out, &p);
}

static void make_key(struct key *k, const cuzk_curve *curve, uint32_t n_public)
{
    *k = (struct key){.curve = curve,
                      .alpha = some_unit(curve),
                      .beta = some_unit(curve),
                      .gamma = some_unit(curve),
                      .delta = some_unit(curve),
                      .n_public = n_public};
    k->vk = (cuzk_vk){.curve = curve, .ic = k->ic_points, .n_ic = n_public + 1};
    point(curve, CUZK_G1, &k->vk.alpha1, &k->alpha);
    point(curve, CUZK_G2, &k->vk.beta2, &k->beta);
    point(curve, CUZK_G2, &k->vk.gamma2, &k->gamma);
    point(curve, CUZK_G2, &k->vk.delta2, &k->delta);
    for (uint32_t i = 0; i <= n_public; i++) {
        k->ic[i] = some_number(curve); /* infinity too: a value that the circuit does not use */
        point(curve, CUZK_G1, k->ic_points + i * curve->g[CUZK_G1].affine_bytes, &k->ic[i]);
    }
    assert_int_equal(cuzk_vk_check(&k->vk, pool, NULL), CUZK_OK);
}

/* a·b - alpha·beta - inputs·gamma */
static cuzk_fr rest(const struct key *k, const struct proof *p)
{
    const cuzk_curve *curve = k->curve;
    cuzk_fr sum, t, inputs = k->ic[0];
    for (uint32_t i = 0; i < k->n_public; i++) {
        curve->fr_mul(&t, &p->x[i], &k->ic[i + 1]);
        curve->fr_add(&inputs, &inputs, &t);
    }
    curve->fr_mul(&sum, &p->a, &p->b);
    curve->fr_mul(&t, &k->alpha, &k->beta);
    curve->fr_sub(&sum, &sum, &t);
    curve->fr_mul(&t, &inputs, &k->gamma);
    curve->fr_sub(&sum, &sum, &t);
    return sum;
}

static bool is_valid(const struct key *k, const struct proof *p)
{
    cuzk_fr t, expected = rest(k, p);
    k->curve->fr_mul(&t, &p->c, &k->delta);
    return memcmp(&t, &expected, sizeof t) == 0;
}

/* The points and bytes of a proof's numbers. */
static void write_proof(const struct key *k, struct proof *p)
{
    p->points = (cuzk_proof_points){.curve = k->curve};
    point(k->curve, CUZK_G1, &p->points.a, &p->a);
    point(k->curve, CUZK_G2, &p->points.b, &p->b);
    point(k->curve, CUZK_G1, &p->points.c, &p->c);
    for (uint32_t i = 0; i < k->n_public; i++) {
        k->curve->fr_to_canonical_le(p->values[i], &p->x[i]);
    }
}

static void make_valid(const struct key *k, struct proof *p)
{
    cuzk_fr inverse;
    p->a = some_number(k->curve);
    p->b = some_number(k->curve);
    for (uint32_t i = 0; i < k->n_public; i++) {
        p->x[i] = some_number(k->curve);
    }
    p->c = rest(k, p);
    k->curve->fr_inv(&inverse, &k->delta);
    k->curve->fr_mul(&p->c, &p->c, &inverse);
    write_proof(k, p);
}

/* One number is changed: mostly the proof is no longer valid. */
static void change(const struct key *k, struct proof *p)
{
    uint32_t which = below(3 + k->n_public);
    cuzk_fr *x = which == 0 ? &p->a : which == 1 ? &p->b : which == 2 ? &p->c : &p->x[which - 3];
    cuzk_fr by = some_unit(k->curve);
    k->curve->fr_add(x, x, &by);
    write_proof(k, p);
}

/* ---- one by one -------------------------------------------------------------------------------
 */

/* Both kinds of verifier say what the numbers say. */
static void expect_verdict(const struct key *k, const struct proof *p)
{
    for (int for_many = 0; for_many < 2; for_many++) {
        cuzk_verifier v;
        cuzk_error err = {0};
        assert_int_equal(cuzk_verifier_init(&v, &k->vk, for_many != 0, NULL), CUZK_OK);
        cuzk_status found = cuzk_verifier_check(&v, &p->points, p->values, k->n_public, pool, &err);
        assert_int_equal(found, is_valid(k, p) ? CUZK_OK : CUZK_E_INVALID_PROOF);
        assert_true(found == CUZK_OK || strstr(err.text, "the pairing equation does not hold"));
    }
}

static const cuzk_curve *curve_of(int i)
{
    return cuzk_curve_get(i % 2 == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
}

static void test_verdicts(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 2, 3, 5, 8, 9, PUBLIC_MAX};
    unsigned valid = 0, invalid = 0;
    for (int i = 0; i < 24; i++) {
        struct key k;
        struct proof p;
        make_key(&k, curve_of(i), sizes[i / 2 % (sizeof sizes / sizeof sizes[0])]);
        make_valid(&k, &p);
        assert_true(is_valid(&k, &p));
        expect_verdict(&k, &p);
        for (int changes = 0; changes < 3; changes++) {
            change(&k, &p);
            expect_verdict(&k, &p);
            *(is_valid(&k, &p) ? &valid : &invalid) += 1;
        }
    }
    assert_true(invalid > 30);
    print_message("changed proofs: %u valid, %u not\n", valid, invalid);
}

/* What anybody can make of a valid proof without its witness (Groth16 is malleable): valid as well,
 * and it stops being so when only half of it is done. */
static void test_other_proofs_of_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct key k;
        struct proof p, q;
        const cuzk_curve *curve = curve_of(i);
        make_key(&k, curve, 1 + below(3));
        make_valid(&k, &p);
        p.a = p.b = curve->fr_one; /* not 0, so that halves are seen */
        p.c = rest(&k, &p);
        cuzk_fr factor = some_unit(curve), inverse, t;
        curve->fr_inv(&inverse, &k.delta);
        curve->fr_mul(&p.c, &p.c, &inverse);
        /* (f·a, b/f, c) */
        curve->fr_add(&factor, &factor, &curve->fr_one);
        factor = is_zero(&factor) ? curve->fr_one : factor;
        q = p;
        curve->fr_mul(&q.a, &q.a, &factor);
        write_proof(&k, &q);
        expect_verdict(&k, &q);
        curve->fr_inv(&inverse, &factor);
        curve->fr_mul(&q.b, &q.b, &inverse);
        write_proof(&k, &q);
        assert_true(is_valid(&k, &q));
        expect_verdict(&k, &q);
        /* (a, b + f·delta, c + f·a) */
        q = p;
        curve->fr_mul(&t, &factor, &k.delta);
        curve->fr_add(&q.b, &q.b, &t);
        write_proof(&k, &q);
        expect_verdict(&k, &q);
        curve->fr_mul(&t, &factor, &q.a);
        curve->fr_add(&q.c, &q.c, &t);
        write_proof(&k, &q);
        assert_true(is_valid(&k, &q));
        expect_verdict(&k, &q);
        /* (-a, -b, c), and (a, -b, c) */
        q = p;
        curve->fr_neg(&q.b, &q.b);
        write_proof(&k, &q);
        expect_verdict(&k, &q);
        curve->fr_neg(&q.a, &q.a);
        write_proof(&k, &q);
        assert_true(is_valid(&k, &q));
        expect_verdict(&k, &q);
    }
}

/* The numbers may be right and their bytes not: a value with the order added is the same number,
 * and refused. */
static void test_values_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct key k;
        struct proof p;
        cuzk_verifier v;
        cuzk_error err = {0};
        char text[64];
        make_key(&k, curve_of(i), 5);
        make_valid(&k, &p);
        uint32_t which = below(5);
        k.curve->fr_from_u64(&p.x[which], 7);
        p.c = rest(&k, &p);
        cuzk_fr inverse;
        k.curve->fr_inv(&inverse, &k.delta);
        k.curve->fr_mul(&p.c, &p.c, &inverse);
        write_proof(&k, &p);
        expect_verdict(&k, &p);
        for (int j = 0; j < 32; j++) { /* the order ends in ...1, so that 7 does not carry */
            p.values[which][j] = (uint8_t)(k.curve->r[j / 8] >> 8 * (j % 8));
        }
        assert_true(p.values[which][0] <= 255 - 7);
        p.values[which][0] = (uint8_t)(p.values[which][0] + 7);
        assert_int_equal(cuzk_verifier_init(&v, &k.vk, false, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_check(&v, &p.points, p.values, 5, pool, &err),
                         CUZK_E_INVALID_PROOF);
        snprintf(text, sizeof text, "public signal %u is not below the field order", which);
        assert_non_null(strstr(err.text, text));
    }
}

/* ---- many at once -----------------------------------------------------------------------------
 */

static void test_batches(void **state)
{
    (void)state;
    static struct proof proofs[BATCH_MAX];
    for (int i = 0; i < 24; i++) {
        struct key k;
        make_key(&k, curve_of(i), below(6));
        size_t n = below(BATCH_MAX + 1), expected = n;
        cuzk_batch_item items[BATCH_MAX];
        uint32_t odds = below(3) * 4; /* none, one in four, one in eight */
        for (size_t j = 0; j < n; j++) {
            make_valid(&k, &proofs[j]);
            if (odds != 0 && below(odds) == 0) {
                change(&k, &proofs[j]);
            }
            if (expected == n && !is_valid(&k, &proofs[j])) {
                expected = j;
            }
            items[j] = (cuzk_batch_item){&proofs[j].points, proofs[j].values, k.n_public};
        }
        cuzk_verifier v;
        size_t first = 99;
        assert_int_equal(cuzk_verifier_init(&v, &k.vk, i % 3 == 0, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_check_batch(&v, items, n, &first, pool, NULL),
                         expected == n ? CUZK_OK : CUZK_E_INVALID_PROOF);
        assert_int_equal(first, expected == n ? 99 : expected);
    }
}

/* Errors that cancel in the plain sum of the equations do not in a batch. */
static void test_batch_is_not_a_sum(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct key k;
        struct proof p[2];
        const cuzk_curve *curve = curve_of(i);
        make_key(&k, curve, 2);
        make_valid(&k, &p[0]);
        make_valid(&k, &p[1]);
        cuzk_fr by = some_unit(curve);
        curve->fr_add(&p[0].c, &p[0].c, &by);
        curve->fr_sub(&p[1].c, &p[1].c, &by);
        write_proof(&k, &p[0]);
        write_proof(&k, &p[1]);
        cuzk_batch_item items[2] = {{&p[0].points, p[0].values, 2}, {&p[1].points, p[1].values, 2}};
        cuzk_verifier v;
        size_t first = 99;
        assert_int_equal(cuzk_verifier_init(&v, &k.vk, true, NULL), CUZK_OK);
        assert_int_equal(cuzk_verifier_check_batch(&v, items, 2, &first, pool, NULL),
                         CUZK_E_INVALID_PROOF);
        assert_int_equal(first, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),           cmocka_unit_test(test_other_proofs_of_the_same),
        cmocka_unit_test(test_values_are_unique),  cmocka_unit_test(test_batches),
        cmocka_unit_test(test_batch_is_not_a_sum),
    };
    if (cuzk_pool_create(&pool, 2, NULL) != CUZK_OK) {
        return 1;
    }
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
