/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The quotients against polynomial arithmetic from the definition, against each other, the portable
 * path and other thread counts. */
#include "poly_test.h"

#include <stdio.h>

typedef struct {
    cuzk_domain *d;
    unsigned lg_n;
    size_t n;
    cuzk_fr *a, *b;        /* evaluations on H */
    cuzk_fr *fa, *fb;      /* what the quotient destroys */
    cuzk_fr *pa, *pb, *pc; /* coefficients of a, b, c */
    cuzk_fr *out, *out2;
    void *ws;
} fixture;

static fixture make(unsigned generator, unsigned lg_n)
{
    fixture f = {.lg_n = lg_n, .n = (size_t)1 << lg_n};
    f.d = domain_of(generator, lg_n);
    cuzk_fr **arrays[] = {&f.a, &f.b, &f.fa, &f.fb, &f.pa, &f.pb, &f.pc, &f.out, &f.out2};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = poly_test_alloc(32 * f.n);
    }
    f.ws = poly_test_alloc(cuzk_quotient_workspace_bytes(f.d, NULL));
    rand_frs(f.a, f.n);
    rand_frs(f.b, f.n);
    return f;
}

static void drop(fixture *f)
{
    cuzk_fr *arrays[] = {f->a, f->b, f->fa, f->fb, f->pa, f->pb, f->pc, f->out, f->out2};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    free(f->ws);
    cuzk_domain_destroy(f->d);
}

static void refill(fixture *f)
{
    memcpy(f->fa, f->a, 32 * f->n);
    memcpy(f->fb, f->b, 32 * f->n);
}

/* Coefficients by the definition: 1/n Σ_j v_j w^(-ij). */
static void interpolate_naive(const fixture *f, cuzk_fr *p, const cuzk_fr *values)
{
    cuzk_fr w = cuzk_domain_root(f->d), w_inv, n_inv;
    K->fr_inv(&w_inv, &w);
    K->fr_from_u64(&n_inv, f->n);
    K->fr_inv(&n_inv, &n_inv);
    for (size_t i = 0; i < f->n; i++) {
        p[i] = mul(n_inv, horner(values, f->n, power(w_inv, i)));
    }
}

static void interpolate(const fixture *f, cuzk_fr *p, const cuzk_fr *values)
{
    memcpy(p, values, 32 * f->n);
    void *ws = poly_test_alloc(cuzk_ntt_workspace_bytes(f->d, NULL));
    cuzk_ntt_inverse(f->d, p, NULL, ws, NULL);
    free(ws);
}

static void coefficients(fixture *f, void (*method)(const fixture *, cuzk_fr *, const cuzk_fr *))
{
    for (size_t i = 0; i < f->n; i++) {
        f->out[i] = mul(f->a[i], f->b[i]);
    }
    method(f, f->pc, f->out);
    method(f, f->pa, f->a);
    method(f, f->pb, f->b);
}

static cuzk_fr canonical(cuzk_fr a)
{
    cuzk_fr o;
    K->fr_to_canonical_le(&o, &a);
    return o;
}

static cuzk_fr from_canonical(const void *p)
{
    cuzk_fr o;
    assert_true(K->fr_from_canonical_le(&o, p));
    return o;
}

/* (a·b - c)(w2^(2i+1)) */
static cuzk_fr odd_point(const fixture *f, unsigned generator, size_t i)
{
    cuzk_fr w2;
    K->fr_root_of_unity(&w2, generator, f->lg_n + 1);
    cuzk_fr x = power(w2, 2 * i + 1);
    cuzk_fr ab = mul(horner(f->pa, f->n, x), horner(f->pb, f->n, x));
    return sub(ab, horner(f->pc, f->n, x));
}

/* ---- small sizes: everything by the definition ---- */

static void check_definition(void)
{
    for (unsigned lg_n = 0; lg_n <= 7; lg_n++) {
        for (unsigned generator = 5; generator <= 7; generator += 2) {
            fixture f = make(generator, lg_n);
            coefficients(&f, interpolate_naive);

            refill(&f);
            assert_int_equal(cuzk_quotient_circom(f.d, f.out, f.fa, f.fb, f.ws, NULL, &err),
                             CUZK_OK);
            for (size_t i = 0; i < f.n; i++) {
                cuzk_fr e = canonical(odd_point(&f, generator, i));
                check_equal(&f.out[i], &e, 1, "circom quotient", lg_n);
            }

            /* long division of a·b - c by X^n - 1: h_i is coefficient n + i, and the rest is 0 */
            cuzk_fr *p = poly_test_alloc(64 * f.n);
            memset(p, 0, 64 * f.n);
            for (size_t i = 0; i < f.n; i++) {
                for (size_t j = 0; j < f.n; j++) {
                    p[i + j] = add(p[i + j], mul(f.pa[i], f.pb[j]));
                }
            }
            for (size_t i = 0; i < f.n; i++) {
                cuzk_fr rest = sub(add(p[i], p[f.n + i]), f.pc[i]);
                check_equal(&rest, &(cuzk_fr){{0, 0, 0, 0}}, 1, "division", lg_n);
                p[i] = canonical(p[f.n + i]);
            }
            refill(&f);
            assert_int_equal(cuzk_quotient_plain(f.d, f.out, f.fa, f.fb, f.ws, NULL, &err),
                             CUZK_OK);
            check_equal(f.out, p, f.n, "plain quotient", lg_n);
            refill(&f);
            cuzk_quotient_textbook(f.d, f.out, f.fa, f.fb, f.ws, NULL);
            check_equal(f.out, p, f.n, "textbook quotient", lg_n);
            free(p);
            drop(&f);
        }
    }
}

/* ---- larger sizes: random positions and points; the out argument in the place of a ---- */

static void check_large(void)
{
    for (unsigned lg_n = 8; lg_n <= poly_test_lg_max(14, 20); lg_n++) {
        unsigned generator = lg_n % 2 ? 5 : 7;
        fixture f = make(generator, lg_n);
        coefficients(&f, interpolate);

        refill(&f);
        assert_int_equal(cuzk_quotient_circom(f.d, f.fa, f.fa, f.fb, f.ws, NULL, &err), CUZK_OK);
        for (int t = 0; t < 3; t++) {
            size_t i = rand_u64() % f.n;
            cuzk_fr e = canonical(odd_point(&f, generator, i));
            check_equal(&f.fa[i], &e, 1, "circom quotient", lg_n);
        }

        refill(&f);
        assert_int_equal(cuzk_quotient_plain(f.d, f.fa, f.fa, f.fb, f.ws, NULL, &err), CUZK_OK);
        memcpy(f.out, f.fa, 32 * f.n);
        refill(&f);
        cuzk_quotient_textbook(f.d, f.fa, f.fa, f.fb, f.ws, NULL);
        check_equal(f.out, f.fa, f.n, "plain as textbook", lg_n);
        check_equal(&f.out[f.n - 1], &(cuzk_fr){{0, 0, 0, 0}}, 1, "last coefficient", lg_n);

        /* a·b - c = h·(X^n - 1) at a random point */
        cuzk_fr x = rand_fr(), h = zero();
        for (size_t i = f.n; i-- > 0;) {
            h = add(mul(h, x), from_canonical(&f.out[i]));
        }
        h = mul(h, sub(power(x, f.n), K->fr_one));
        cuzk_fr e = mul(horner(f.pa, f.n, x), horner(f.pb, f.n, x));
        e = sub(e, horner(f.pc, f.n, x));
        check_equal(&h, &e, 1, "h·(X^n - 1)", lg_n);
        drop(&f);
    }
}

/* ---- threads, paths ---- */

static void check_threads_and_paths(void)
{
    for (unsigned lg_n = 0; lg_n <= 12; lg_n += lg_n < 8 ? 2 : 1) {
        fixture f = make(5, lg_n);
        cuzk_domain *p = domain_on(CUZK_CPU_PORTABLE, 5, lg_n);
        void *ws_p = poly_test_alloc(cuzk_quotient_workspace_bytes(p, NULL));
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, 2 + lg_n % 3, &err), CUZK_OK);
        void *ws = poly_test_alloc(cuzk_quotient_workspace_bytes(f.d, pool));
        for (int form = 0; form < 3; form++) {
            for (int run = 0; run < 2; run++) {
                const cuzk_domain *d = run ? p : f.d;
                cuzk_fr *out = run ? f.out2 : f.out;
                void *w = run ? ws_p : ws;
                cuzk_pool *q = run ? NULL : pool;
                refill(&f);
                if (form == 0) {
                    assert_int_equal(cuzk_quotient_circom(d, out, f.fa, f.fb, w, q, &err), CUZK_OK);
                } else if (form == 1) {
                    assert_int_equal(cuzk_quotient_plain(d, out, f.fa, f.fb, w, q, &err), CUZK_OK);
                } else {
                    cuzk_quotient_textbook(d, out, f.fa, f.fb, w, q);
                }
            }
            check_equal(f.out, f.out2, f.n, "quotient as the portable path", lg_n);
        }
        free(ws);
        free(ws_p);
        cuzk_pool_destroy(pool);
        cuzk_domain_destroy(p);
        drop(&f);
    }
}

/* ---- zero and largest values ---- */

static void check_extremes(void)
{
    for (unsigned lg_n = 6; lg_n <= 11; lg_n++) {
        fixture f = make(5, lg_n);
        memset(f.out2, 0, 32 * f.n);
        for (int kind = 0; kind < 2; kind++) {
            for (size_t i = 0; i < f.n; i++) {
                memcpy(f.a[i].l, K->r, 32);
                f.a[i].l[0] -= 1;
                f.b[i] = f.a[i];
                if (kind == 1) {
                    f.b[i] = zero();
                }
            }
            /* constant polynomials: the quotient is 0 */
            refill(&f);
            assert_int_equal(cuzk_quotient_plain(f.d, f.out, f.fa, f.fb, f.ws, NULL, &err),
                             CUZK_OK);
            check_equal(f.out, f.out2, f.n, "plain quotient of constants", lg_n);
            refill(&f);
            assert_int_equal(cuzk_quotient_circom(f.d, f.out, f.fa, f.fb, f.ws, NULL, &err),
                             CUZK_OK);
            check_equal(f.out, f.out2, f.n, "circom quotient of constants", lg_n);
            refill(&f);
            cuzk_quotient_textbook(f.d, f.out, f.fa, f.fb, f.ws, NULL);
            check_equal(f.out, f.out2, f.n, "textbook quotient of constants", lg_n);
        }
        drop(&f);
    }
}

#define FOR_BOTH_CURVES(check)                                                                     \
    static void test_##check(void **unused)                                                        \
    {                                                                                              \
        (void)unused;                                                                              \
        K = cuzk_curve_get_path(CUZK_CURVE_BN254, CUZK_CPU_PORTABLE);                              \
        check_##check();                                                                           \
        K = cuzk_curve_get_path(CUZK_CURVE_BLS12_381, CUZK_CPU_PORTABLE);                          \
        check_##check();                                                                           \
    }

FOR_BOTH_CURVES(definition)
FOR_BOTH_CURVES(large)
FOR_BOTH_CURVES(threads_and_paths)
FOR_BOTH_CURVES(extremes)

static void test_limits(void **unused)
{
    (void)unused;
    K = cuzk_curve_get_path(CUZK_CURVE_BN254, CUZK_CPU_PORTABLE);
    cuzk_domain *d = domain_of(5, 28);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_quotient_circom(d, NULL, NULL, NULL, NULL, NULL, &err),
                     CUZK_E_UNSUPPORTED);
    assert_string_equal(err.text,
                        "computing the quotient for a circom key on bn128: domain 2^28 needs a "
                        "root of unity of order 2^29, which the field lacks; the largest domain is "
                        "2^27");
    cuzk_error_clear(&err);
    cuzk_domain_destroy(d);
}

int main(void)
{
    poly_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_threads_and_paths),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
