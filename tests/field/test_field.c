/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fr, fp, fp2 of both curves on every scalar path: against naive arithmetic on words, ring and
 * field laws, aliasing, ranges, and the paths against each other bit for bit. */
#include "field_test.h"

#if defined(CUZK_VERIFY)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { N_NAIVE = 150, N_LAWS = 400, N_PATHS = 4000 };

static bool is_fp2(const field_ops *f)
{
    return f->words != f->base_words;
}

/* from_canonical takes any words modulo p, to_canonical gives them back reduced. */
static void test_canonical(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        for (unsigned i = 0; i < N_NAIVE; i++) {
            uint64_t in[FIELD_WORDS_MAX], back[FIELD_WORDS_MAX], expected[FIELD_WORDS_MAX];
            elem e;
            for (unsigned c = 0; c < f->words; c += f->base_words) {
                if (i % 2) {
                    rand_below(in + c, f->modulus, f->base_words);
                } else {
                    rand_words(in + c, f->base_words);
                }
                naive_mod(expected + c, in + c, f->base_words, f->modulus, f->base_words);
            }
            f->from_canonical(&e, in);
            assert_true(f->is_reduced(&e));
            f->to_canonical(back, &e);
            EXPECT_WORDS(f, "from/to canonical", i, back, expected, f->words, in, NULL);
            f->to_canonical(e.l, &e); /* in place */
            EXPECT_WORDS(f, "to canonical in place", i, e.l, expected, f->words, in, NULL);
        }
    }
}

/* A product in plain words by schoolbook arithmetic; in fp2 coordinate by coordinate. */
static void naive_product(uint64_t *o, const field_ops *f, const uint64_t *a, const uint64_t *b)
{
    unsigned n = f->base_words;
    uint64_t t[FIELD_WORDS_MAX], minus[FIELD_WORDS_MAX], r[FIELD_WORDS_MAX];
    if (!is_fp2(f)) {
        naive_mul(o, a, b, f->modulus, n);
        return;
    }
    uint64_t p_minus_1[FIELD_WORDS_MAX];
    memcpy(p_minus_1, f->modulus, 8 * n);
    p_minus_1[0]--;
    naive_mul(t, a, b, f->modulus, n);
    naive_mul(minus, a + n, b + n, f->modulus, n);
    naive_mul(minus, minus, p_minus_1, f->modulus, n);
    naive_add(r, t, minus, f->modulus, n); /* a0 b0 - a1 b1 */
    naive_mul(t, a, b + n, f->modulus, n);
    naive_mul(minus, a + n, b, f->modulus, n);
    naive_add(r + n, t, minus, f->modulus, n); /* a0 b1 + a1 b0 */
    memcpy(o, r, 16 * n);
}

static void test_naive(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        for (unsigned i = 0; i < N_NAIVE; i++) {
            elem a = rand_elem(f), b = rand_elem(f), o;
            uint64_t x[FIELD_WORDS_MAX], y[FIELD_WORDS_MAX], z[FIELD_WORDS_MAX];
            uint64_t expected[FIELD_WORDS_MAX];
            f->to_canonical(x, &a);
            f->to_canonical(y, &b);

            f->mul(&o, &a, &b);
            f->to_canonical(z, &o);
            naive_product(expected, f, x, y);
            EXPECT_WORDS(f, "mul", i, z, expected, f->words, a.l, b.l);

            f->sqr(&o, &a);
            f->to_canonical(z, &o);
            naive_product(expected, f, x, x);
            EXPECT_WORDS(f, "sqr", i, z, expected, f->words, a.l, NULL);

            f->add(&o, &a, &b);
            f->to_canonical(z, &o);
            for (unsigned c = 0; c < f->words; c += f->base_words) {
                naive_add(expected + c, x + c, y + c, f->modulus, f->base_words);
            }
            EXPECT_WORDS(f, "add", i, z, expected, f->words, a.l, b.l);
        }
    }
}

static void test_laws(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        elem zero, one, x, y, z;
        f->set_zero(&zero);
        f->set_one(&one);
        assert_true(f->is_zero(&zero) && !f->is_one(&zero) && f->is_reduced(&zero));
        assert_true(f->is_one(&one) && !f->is_zero(&one) && f->is_reduced(&one));
        for (unsigned i = 0; i < N_LAWS; i++) {
            elem a = rand_elem(f), b = rand_elem(f), c = rand_elem(f);
            assert_true(f->eq(&a, &a));
            assert_true(f->eq(&a, &b) == (memcmp(a.l, b.l, 8 * f->words) == 0));

            f->add(&x, &a, &b);
            f->sub(&y, &x, &b);
            EXPECT_ELEM(f, "(a + b) - b = a", i, &y, &a, a.l, b.l);
            f->sub(&x, &a, &b);
            f->sub(&y, &b, &a);
            f->neg(&y, &y);
            EXPECT_ELEM(f, "a - b = -(b - a)", i, &x, &y, a.l, b.l);
            f->neg(&x, &a);
            f->add(&y, &x, &a);
            EXPECT_ELEM(f, "-a + a = 0", i, &y, &zero, a.l, NULL);
            f->dbl(&x, &a);
            f->add(&y, &a, &a);
            EXPECT_ELEM(f, "dbl", i, &x, &y, a.l, NULL);

            f->mul(&x, &a, &one);
            EXPECT_ELEM(f, "a·1 = a", i, &x, &a, a.l, NULL);
            f->mul(&x, &zero, &a);
            EXPECT_ELEM(f, "0·a = 0", i, &x, &zero, a.l, NULL);
            f->mul(&x, &a, &b);
            f->mul(&y, &b, &a);
            EXPECT_ELEM(f, "a·b = b·a", i, &x, &y, a.l, b.l);
            f->mul(&x, &x, &c);
            f->mul(&y, &b, &c);
            f->mul(&y, &a, &y);
            EXPECT_ELEM(f, "(a·b)·c = a·(b·c)", i, &x, &y, a.l, b.l);
            f->add(&x, &a, &b);
            f->mul(&x, &x, &c);
            f->mul(&y, &a, &c);
            f->mul(&z, &b, &c);
            f->add(&y, &y, &z);
            EXPECT_ELEM(f, "(a + b)·c = a·c + b·c", i, &x, &y, a.l, b.l);
            f->sqr(&x, &a);
            f->mul(&y, &a, &a);
            EXPECT_ELEM(f, "a² = a·a", i, &x, &y, a.l, NULL);

            f->inv(&x, &a);
            f->mul(&y, &x, &a);
            EXPECT_ELEM(f, "a·1/a = 1, 1/0 = 0", i, &y, f->is_zero(&a) ? &zero : &one, a.l, NULL);
            assert_true(f->is_reduced(&x));
        }
    }
}

/* Outputs may be inputs. */
static void test_aliasing(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        void (*const binary[])(elem *, const elem *, const elem *) = {f->add, f->sub, f->mul};
        void (*const unary[])(elem *, const elem *) = {f->dbl, f->neg,  f->sqr,
                                                       f->inv, f->conj, f->mul_by_xi};
        for (unsigned i = 0; i < 50; i++) {
            elem a = rand_elem(f), b = rand_elem(f), o, x;
            for (unsigned k = 0; k < 3; k++) {
                binary[k](&o, &a, &b);
                x = a;
                binary[k](&x, &x, &b);
                EXPECT_ELEM(f, "binary, o = a", k, &x, &o, a.l, b.l);
                x = b;
                binary[k](&x, &a, &x);
                EXPECT_ELEM(f, "binary, o = b", k, &x, &o, a.l, b.l);
                x = a;
                binary[k](&o, &a, &a);
                binary[k](&x, &x, &x);
                EXPECT_ELEM(f, "binary, o = a = b", k, &x, &o, a.l, NULL);
            }
            for (unsigned k = 0; k < (is_fp2(f) ? 6u : 4u); k++) {
                unary[k](&o, &a);
                x = a;
                unary[k](&x, &x);
                EXPECT_ELEM(f, "unary, o = a", k, &x, &o, a.l, NULL);
            }
        }
    }
}

static void test_reduced(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        unsigned n = f->base_words;
        for (unsigned c = 0; c < f->words; c += n) {
            elem e = {{0}};
            memcpy(e.l + c, f->modulus, 8 * n);
            assert_false(f->is_reduced(&e)); /* p */
            e.l[c]--;
            assert_true(f->is_reduced(&e)); /* p - 1 */
            e.l[c] += 2;
            assert_false(f->is_reduced(&e)); /* p + 1 */
            memset(e.l + c, 0xff, 8 * n);
            assert_false(f->is_reduced(&e));
        }
        for (unsigned i = 0; i < 20; i++) {
            elem a = rand_elem(f), b = {{0}};
            unsigned char bytes[8 * FIELD_WORDS_MAX + 1];
            assert_true(f->is_reduced(&a));
            f->store(bytes + 1, &a); /* any alignment, little endian words */
            f->load(&b, bytes + 1);
            EXPECT_ELEM(f, "store, load", i, &b, &a, a.l, NULL);
        }
    }
}

static void test_pow(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        elem one, x, y;
        f->set_one(&one);
        for (unsigned i = 0; i < 20; i++) {
            elem a = rand_elem(f);
            y = one;
            for (uint64_t e = 0; e < 40; e++) {
                const uint64_t e2[2] = {e, 0};
                f->pow(&x, &a, e2, 2);
                EXPECT_ELEM(f, "a^e", (unsigned)e, &x, &y, a.l, NULL);
                f->mul(&y, &y, &a);
            }
            const uint64_t high[2] = {0, 1};
            f->pow(&x, &a, high, 2);
            y = a;
            for (unsigned k = 0; k < 64; k++) {
                f->sqr(&y, &y);
            }
            EXPECT_ELEM(f, "a^(2^64)", i, &x, &y, a.l, NULL);
            f->pow(&x, &a, high, 0);
            EXPECT_ELEM(f, "a^() = 1", i, &x, &one, a.l, NULL);

            f->pow(&x, &a, f->modulus, f->base_words); /* Fermat, Frobenius */
            y = a;
            if (is_fp2(f)) {
                f->conj(&y, &a);
            }
            EXPECT_ELEM(f, "a^p", i, &x, &y, a.l, NULL);
        }
    }
}

static void test_batch_inv(void **state)
{
    (void)state;
    static uint64_t a[100 * FIELD_WORDS_MAX], tmp[100 * FIELD_WORDS_MAX];
    elem in[100], x;
    FOR_EACH_FIELD(f)
    {
        for (size_t n = 0; n <= 100; n = n < 4 ? n + 1 : n * 3) {
            for (size_t i = 0; i < n; i++) {
                in[i] = rand_elem(f);
                if (n == 3) {
                    f->set_zero(&in[i]); /* nothing but zeros */
                }
                f->store(a + i * f->words, &in[i]);
            }
            f->batch_inv(a, n, tmp);
            for (size_t i = 0; i < n; i++) {
                f->inv(&x, &in[i]);
                EXPECT_WORDS(f, "batch_inv", (unsigned)i, a + i * f->words, x.l, f->words, in[i].l,
                             NULL);
            }
        }
    }
}

static void test_sqrt(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        if (!f->sqrt) {
            continue;
        }
        unsigned n_squares = 0, n_random = 0;
        for (unsigned i = 0; i < 100; i++) {
            elem a = rand_elem(f), square, root, back;
            if (is_fp2(f) && i % 4 == 0) { /* the branch for c1 = 0, both signs of the root */
                memset(a.l + (i % 8 ? 0 : f->base_words), 0, 8 * f->base_words);
            }
            f->sqr(&square, &a);
            assert_true(f->sqrt(&root, &square));
            f->sqr(&back, &root);
            EXPECT_ELEM(f, "sqrt(a²)²", i, &back, &square, a.l, NULL);
            f->neg(&back, &root);
            assert_true(f->eq(&root, &a) || f->eq(&back, &a));

            root = back;
            bool is_square = f->sqrt(&root, &a);
            if (is_square) {
                f->sqr(&back, &root);
                EXPECT_ELEM(f, "sqrt(a)²", i, &back, &a, a.l, NULL);
            } else {
                EXPECT_ELEM(f, "failed sqrt leaves o alone", i, &root, &back, a.l, NULL);
            }
            if (!is_fp2(f)) { /* -1 is no square: of a and -a exactly one is */
                elem minus;
                f->neg(&minus, &a);
                assert_true(f->is_zero(&a) || f->sqrt(&root, &minus) != is_square);
            }
            n_random++;
            n_squares += is_square;
        }
        assert_in_range(n_squares, n_random / 4, n_random - n_random / 8);
    }
}

static void test_fp2_parts(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        if (!is_fp2(f)) {
            continue;
        }
        elem xi, x, y, z;
        f->xi(&xi);
        for (unsigned i = 0; i < N_LAWS; i++) {
            elem a = rand_elem(f), b = rand_elem(f);
            f->mul_by_xi(&x, &a);
            f->mul(&y, &a, &xi);
            EXPECT_ELEM(f, "mul_by_xi", i, &x, &y, a.l, NULL);

            f->conj(&x, &a);
            f->mul(&y, &a, &x);
            z = y;
            memset(z.l + f->base_words, 0, 8 * f->base_words);
            EXPECT_ELEM(f, "a·conj(a) is in fp", i, &y, &z, a.l, NULL);
            f->add(&y, &a, &x);
            memset(z.l, 0, 8 * f->words);
            f->dbl(&x, &a);
            memcpy(z.l, x.l, 8 * f->base_words);
            EXPECT_ELEM(f, "a + conj(a) = 2·c0", i, &y, &z, a.l, NULL);

            f->mul_fp(&x, &a, &b); /* b's c0 */
            memset(b.l + f->base_words, 0, 8 * f->base_words);
            f->mul(&y, &a, &b);
            EXPECT_ELEM(f, "mul_fp", i, &x, &y, a.l, b.l);
            x = a;
            f->mul_fp(&x, &x, &x); /* factor is a coordinate of the output */
            f->mul_fp(&y, &a, &a);
            EXPECT_ELEM(f, "mul_fp, o = a = b", i, &x, &y, a.l, NULL);
        }
    }
}

/* Double-width products of any words, and reductions of anything below 0.9·p·R. */
static void test_wide(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        if (is_fp2(f)) {
            continue;
        }
        unsigned n = f->words;
        uint64_t inverse_r[FIELD_WORDS_MAX], one[FIELD_WORDS_MAX] = {1};
        elem e = {{1}};
        f->to_canonical(inverse_r, &e); /* 1/R mod p */
        for (unsigned i = 0; i < N_NAIVE * 4; i++) {
            uint64_t a[FIELD_WORDS_MAX], b[FIELD_WORDS_MAX], w[FIELD_WORDS_MAX + 4];
            uint64_t x[FIELD_WORDS_MAX], y[FIELD_WORDS_MAX];
            rand_words(a, n);
            rand_words(b, n);
            f->mul_wide(w, a, b);
            naive_mod(x, w, 2 * n, f->modulus, n);
            naive_mul(y, a, b, f->modulus, n);
            EXPECT_WORDS(f, "mul_wide mod p", i, x, y, n, a, b);
            f->sqr_wide(w, a);
            naive_mod(x, w, 2 * n, f->modulus, n);
            naive_mul(y, a, a, f->modulus, n);
            EXPECT_WORDS(f, "sqr_wide mod p", i, x, y, n, a, NULL);

            rand_words(w, n);
            rand_below(w + n, f->modulus, n);
            w[2 * n - 1] -= w[2 * n - 1] / 8; /* high half below 7/8·p */
            f->redc_wide(&e, w);
            assert_true(f->is_reduced(&e));
            naive_mod(x, w, 2 * n, f->modulus, n);
            naive_mul(x, x, inverse_r, f->modulus, n);
            EXPECT_WORDS(f, "redc_wide", i, e.l, x, n, w, w + n);
            naive_mul(y, x, one, f->modulus, n);
            EXPECT_WORDS(f, "reference", i, x, y, n, w, w + n);
        }
    }
}

/* Every path gives the same bits as the portable one. */
static void test_paths(void **state)
{
    (void)state;
    const field_ops *const *portable = field_ops_of_path(CUZK_CPU_PORTABLE);
    for (int path = 1; path < CUZK_CPU_PATH_COUNT; path++) {
        const field_ops *const *other = field_ops_of_path((cuzk_cpu_path)path);
        for (int k = 0; other && k < FIELD_OPS_PER_PATH; k++) {
            const field_ops *f = portable[k], *g = other[k];
            for (unsigned i = 0; i < N_PATHS; i++) {
                elem a = rand_elem(f), b = rand_elem(f), x, y;
                f->mul(&x, &a, &b);
                g->mul(&y, &a, &b);
                EXPECT_ELEM(g, "mul", i, &y, &x, a.l, b.l);
                f->sqr(&x, &a);
                g->sqr(&y, &a);
                EXPECT_ELEM(g, "sqr", i, &y, &x, a.l, NULL);
                f->add(&x, &a, &b);
                g->add(&y, &a, &b);
                EXPECT_ELEM(g, "add", i, &y, &x, a.l, b.l);
                f->sub(&x, &a, &b);
                g->sub(&y, &a, &b);
                EXPECT_ELEM(g, "sub", i, &y, &x, a.l, b.l);
                f->neg(&x, &a);
                g->neg(&y, &a);
                EXPECT_ELEM(g, "neg", i, &y, &x, a.l, NULL);
                rand_words(a.l, f->words);
                f->from_canonical(&x, a.l);
                g->from_canonical(&y, a.l);
                EXPECT_ELEM(g, "from_canonical", i, &y, &x, a.l, NULL);
                f->to_canonical(a.l, &x);
                g->to_canonical(b.l, &x);
                EXPECT_ELEM(g, "to_canonical", i, &b, &a, x.l, NULL);
                if (i % 16 == 0) {
                    f->inv(&a, &x);
                    g->inv(&b, &x);
                    EXPECT_ELEM(g, "inv", i, &b, &a, x.l, NULL);
                }
            }
        }
    }
}

#if defined(CUZK_VERIFY)
/* In verify builds an operand that is not reduced aborts. */
static void test_verify(void **state)
{
    (void)state;
    FOR_EACH_FIELD(f)
    {
        for (unsigned k = 0; k < 6; k++) {
            fflush(stdout);
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                elem bad = {{0}}, good, o;
                memcpy(bad.l, f->modulus, 8 * f->base_words);
                f->set_one(&good);
                if (!freopen("/dev/null", "w", stderr)) { /* the assertion's text */
                    _exit(1);
                }
                signal(SIGABRT, SIG_DFL);
                switch (k) {
                case 0:
                    f->add(&o, &good, &bad);
                    break;
                case 1:
                    f->sub(&o, &bad, &good);
                    break;
                case 2:
                    f->mul(&o, &bad, &good);
                    break;
                case 3:
                    f->sqr(&o, &bad);
                    break;
                case 4:
                    f->inv(&o, &bad);
                    break;
                default:
                    f->to_canonical(o.l, &bad);
                    break;
                }
                _exit(0);
            }
            int status = 0;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_naive),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_aliasing),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_batch_inv),
        cmocka_unit_test(test_sqrt),
        cmocka_unit_test(test_fp2_parts),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_paths),
#if defined(CUZK_VERIFY)
        cmocka_unit_test(test_verify),
#endif
    };
    field_test_begin();
    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
