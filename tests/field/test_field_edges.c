/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fr, fp and fp2 of both curves on every scalar path, every pair of a list of edge values against
 * whole numbers (tests/bigint.h): values that are edges as numbers (0, 1, 2, p-1, p-2, (p±1)/2,
 * R, R², 1/R, powers of two at word boundaries) and values whose Montgomery words are (all ones up
 * to the top word, one bit set, the modulus with one word less). */
#include "bigint.h"
#include "field_test.h"

enum { N_MAX = 64 };

typedef struct {
    const field_ops *f;
    unsigned n; /* words of a coordinate */
    big p, r_inverse;
    elem list[N_MAX]; /* edge coordinates, Montgomery form, in the first n words */
    big value[N_MAX]; /* what they stand for */
    unsigned n_list;
} edge_field;

static void add_edge(edge_field *e, const big *montgomery)
{
    elem x = {{0}};
    big m = big_mod(montgomery, &e->p), value = big_mul_mod(&m, &e->r_inverse, &e->p);
    for (unsigned i = 0; i < e->n_list; i++) {
        if (big_compare(&e->value[i], &value) == 0) {
            return;
        }
    }
    assert_true(e->n_list < N_MAX);
    big_to_words(x.l, e->n, &m);
    e->list[e->n_list] = x;
    e->value[e->n_list++] = value;
}

/* The element of a plain number and of its negative. */
static void add_value(edge_field *e, const big *value)
{
    big r = big_power_of_two(64 * e->n), m = big_mod(value, &e->p);
    m = big_mul_mod(&m, &r, &e->p);
    add_edge(e, &m);
    m = big_sub_mod(&e->p, &m, &e->p);
    add_edge(e, &m);
}

static void make_edges(edge_field *e, const field_ops *f)
{
    memset(e, 0, sizeof *e);
    e->f = f;
    e->n = f->base_words;
    e->p = big_from_words(f->modulus, e->n);
    big r = big_power_of_two(64 * e->n), r_mod = big_mod(&r, &e->p), two = big_of(2), rest;
    e->r_inverse = big_inv_mod(&r_mod, &e->p);
    for (uint64_t v = 0; v < 4; v++) {
        big x = big_of(v);
        add_value(e, &x);
    }
    big half = big_div(&e->p, &two, &rest), r_sqr = big_mul(&r_mod, &r_mod);
    add_value(e, &half);
    add_value(e, &r_mod);
    add_value(e, &r_sqr);
    add_value(e, &e->r_inverse);
    for (unsigned bit = 63; bit < 64 * e->n - 3; bit += 64) {
        for (unsigned k = 0; k < 2;
             k++) { /* either side of the boundary, as numbers and as words */
            big power = big_power_of_two(bit + k);
            add_edge(e, &power);
            if (bit > 64) {
                add_value(e, &power);
            }
        }
    }
    uint64_t words[FIELD_WORDS_MAX];
    memset(words, 0xff, sizeof words); /* ones up to a top word that stays below the modulus */
    words[e->n - 1] = f->modulus[e->n - 1] - 1;
    big ones = big_from_words(words, e->n);
    add_edge(e, &ones);
    for (unsigned k = 0; k < e->n; k++) { /* the modulus less one in one word: borrows all over */
        memcpy(words, f->modulus, 8 * e->n);
        words[k]--;
        big near = big_from_words(words, e->n);
        add_edge(e, &near);
    }
    big minus_one = big_of(1);
    minus_one = big_sub(&e->p, &minus_one);
    add_edge(e, &minus_one); /* the largest words there are */
}

/* An element has the value of coordinates c0, c1. */
static void expect_number(const edge_field *e, const char *what, unsigned i, unsigned j,
                          const elem *found, const big *c0, const big *c1)
{
    const field_ops *f = e->f;
    uint64_t plain[FIELD_WORDS_MAX], want[FIELD_WORDS_MAX] = {0};
    assert_true(f->is_reduced(found));
    f->to_canonical(plain, found);
    big_to_words(want, e->n, c0);
    if (f->words > e->n) {
        big_to_words(want + e->n, e->n, c1);
    }
    if (memcmp(plain, want, 8 * f->words) != 0) {
        fail_msg("%s: %s of edge values %u and %u: 0x%llx…, expected 0x%llx…", f->name, what, i, j,
                 (unsigned long long)plain[0], (unsigned long long)want[0]);
    }
}

/* Every ring operation of a prime field on every pair. */
static void check_pairs(const edge_field *e)
{
    const field_ops *f = e->f;
    const big *p = &e->p;
    for (unsigned i = 0; i < e->n_list; i++) {
        const elem *a = &e->list[i];
        const big *x = &e->value[i];
        elem o;
        big zero = big_of(0), expected;
        f->neg(&o, a);
        expected = big_sub_mod(&zero, x, p);
        expect_number(e, "neg", i, i, &o, &expected, NULL);
        f->dbl(&o, a);
        expected = big_add_mod(x, x, p);
        expect_number(e, "dbl", i, i, &o, &expected, NULL);
        f->sqr(&o, a);
        expected = big_mul_mod(x, x, p);
        expect_number(e, "sqr", i, i, &o, &expected, NULL);
        f->inv(&o, a);
        expected = big_inv_mod(x, p);
        expect_number(e, "inv", i, i, &o, &expected, NULL);
        for (unsigned j = 0; j < e->n_list; j++) {
            const elem *b = &e->list[j];
            const big *y = &e->value[j];
            f->add(&o, a, b);
            expected = big_add_mod(x, y, p);
            expect_number(e, "add", i, j, &o, &expected, NULL);
            f->sub(&o, a, b);
            expected = big_sub_mod(x, y, p);
            expect_number(e, "sub", i, j, &o, &expected, NULL);
            f->mul(&o, a, b);
            expected = big_mul_mod(x, y, p);
            expect_number(e, "mul", i, j, &o, &expected, NULL);
            assert_true(f->eq(a, b) == (i == j));
        }
    }
}

/* The same in fp2, on coordinates that step through the list: a product of sums reaches the bounds
 * of the unreduced products only when all four coordinates are large. */
static void check_fp2(const edge_field *e)
{
    const field_ops *f = e->f;
    const big *p = &e->p;
    size_t bytes = 8 * e->n;
    for (unsigned i = 0; i < e->n_list; i++) {
        for (unsigned j = 0; j < e->n_list; j++) {
            for (unsigned step = 0; step < 3; step++) {
                unsigned k[4] = {i, step == 0 ? i : (i + j) % e->n_list, j,
                                 step == 1 ? j : (j + 7 * step) % e->n_list};
                elem a = {{0}}, b = {{0}}, o;
                const big *a0 = &e->value[k[0]], *a1 = &e->value[k[1]];
                const big *b0 = &e->value[k[2]], *b1 = &e->value[k[3]];
                memcpy(a.l, e->list[k[0]].l, bytes);
                memcpy(a.l + e->n, e->list[k[1]].l, bytes);
                memcpy(b.l, e->list[k[2]].l, bytes);
                memcpy(b.l + e->n, e->list[k[3]].l, bytes);
                big low = big_mul_mod(a0, b0, p), high = big_mul_mod(a1, b1, p);
                big cross = big_mul_mod(a0, b1, p), other = big_mul_mod(a1, b0, p);
                big c0 = big_sub_mod(&low, &high, p), c1 = big_add_mod(&cross, &other, p);
                f->mul(&o, &a, &b);
                expect_number(e, "mul", i, j, &o, &c0, &c1);
                low = big_mul_mod(a0, a0, p);
                high = big_mul_mod(a1, a1, p);
                cross = big_mul_mod(a0, a1, p);
                c0 = big_sub_mod(&low, &high, p);
                c1 = big_add_mod(&cross, &cross, p);
                f->sqr(&o, &a);
                expect_number(e, "sqr", i, j, &o, &c0, &c1);
            }
        }
        /* 1/(c0 + c1·u) = (c0 - c1·u)/(c0² + c1²) */
        elem a = e->list[i], o;
        unsigned second = (i + 5) % e->n_list;
        memcpy(a.l + e->n, e->list[second].l, bytes);
        const big *a0 = &e->value[i], *a1 = &e->value[second];
        big low = big_mul_mod(a0, a0, p), high = big_mul_mod(a1, a1, p), zero = big_of(0);
        big norm = big_add_mod(&low, &high, p);
        norm = big_inv_mod(&norm, p);
        big c0 = big_mul_mod(a0, &norm, p), c1 = big_mul_mod(a1, &norm, p);
        c1 = big_sub_mod(&zero, &c1, p);
        f->inv(&o, &a);
        expect_number(e, "inv", i, second, &o, &c0, &c1);
    }
}

static void test_pairs(void **state)
{
    (void)state;
    static edge_field e;
    FOR_EACH_FIELD(f)
    {
        make_edges(&e, f);
        assert_true(e.n_list > 25);
        if (f->words == f->base_words) {
            check_pairs(&e);
        } else {
            check_fp2(&e);
        }
    }
}

/* from_canonical takes any words: every multiple of the modulus that fits, plus and minus a
 * little. */
static void test_unreduced(void **state)
{
    (void)state;
    static edge_field e;
    FOR_EACH_FIELD(f)
    {
        make_edges(&e, f);
        big whole = big_power_of_two(64 * e.n), one = big_of(1), multiple = big_of(0);
        for (unsigned k = 0; big_compare(&multiple, &whole) < 0; k++) {
            for (uint64_t v = 0; v < 6; v++) {
                big off = big_of(v % 3), x = big_add(&multiple, &off);
                if (v >= 3 && big_compare(&multiple, &off) >= 0) {
                    x = big_sub(&multiple, &off);
                }
                if (big_compare(&x, &whole) >= 0) {
                    x = big_sub(&whole, &one);
                }
                uint64_t words[FIELD_WORDS_MAX] = {0};
                for (unsigned c = 0; c < f->words; c += e.n) {
                    big_to_words(words + c, e.n, &x);
                }
                elem o;
                f->from_canonical(&o, words);
                x = big_mod(&x, &e.p);
                expect_number(&e, "from_canonical", k, (unsigned)v, &o, &x, &x);
            }
            multiple = big_add(&multiple, &e.p);
        }
    }
}

/* Plain products of any words, and reductions up to the bound 0.9·p·R. */
static void test_wide(void **state)
{
    (void)state;
    static edge_field e;
    FOR_EACH_FIELD(f)
    {
        if (f->words != f->base_words) {
            continue;
        }
        make_edges(&e, f);
        for (unsigned i = 0; i < 400; i++) {
            uint64_t a[FIELD_WORDS_MAX], b[FIELD_WORDS_MAX], w[2 * FIELD_WORDS_MAX];
            uint64_t want[2 * FIELD_WORDS_MAX];
            rand_words(a, e.n);
            rand_words(b, e.n);
            if (i < 4) {
                memset(a, i & 1 ? 0xff : 0, sizeof a);
                memset(b, i & 2 ? 0xff : 0, sizeof b);
            }
            big x = big_from_words(a, e.n), y = big_from_words(b, e.n), product = big_mul(&x, &y);
            f->mul_wide(w, a, b);
            big_to_words(want, 2 * e.n, &product);
            assert_memory_equal(w, want, 16 * e.n);
            product = big_mul(&x, &x);
            f->sqr_wide(w, a);
            big_to_words(want, 2 * e.n, &product);
            assert_memory_equal(w, want, 16 * e.n);

            /* the largest numbers below 0.9·p·R, then any below */
            big nine = big_of(9), ten = big_of(10), rest, r = big_power_of_two(64 * e.n);
            big bound = big_mul(&e.p, &nine);
            bound = big_div(&bound, &ten, &rest);
            big one = big_of(1), shift = big_power_of_two(64 * (e.n - 1));
            bound = big_sub(&bound, &one);
            /* verify builds compare top words, and so want a little less */
            big seen = big_of(f->modulus[e.n - 1] / 10 * 9 + f->modulus[e.n - 1] % 10 * 9 / 10 + 1);
            seen = big_mul(&seen, &shift);
            seen = big_sub(&seen, &one);
            bound = big_compare(&seen, &bound) < 0 ? seen : bound;
            big high = i < 8 ? bound : big_mod(&y, &bound), wide = big_mul(&high, &r);
            wide = big_add(&wide, &x);
            elem o;
            big_to_words(w, 2 * e.n, &wide);
            f->redc_wide(&o, w);
            assert_true(f->is_reduced(&o));
            big expected = big_mul_mod(&wide, &e.r_inverse, &e.p);
            big_to_words(want, e.n, &expected);
            EXPECT_WORDS(f, "redc_wide", i, o.l, want, e.n, w, w + e.n);
        }
    }
}

/* Roots exist exactly where Euler's criterion says so, for every edge value; powers with exponents
 * of every length. */
static void test_powers(void **state)
{
    (void)state;
    static edge_field e;
    FOR_EACH_FIELD(f)
    {
        if (f->words != f->base_words) {
            continue;
        }
        make_edges(&e, f);
        big one = big_of(1), two = big_of(2), rest, minus = big_sub(&e.p, &one);
        big euler = big_div(&minus, &two, &rest);
        for (unsigned i = 0; i < e.n_list; i++) {
            elem o = e.list[i];
            big symbol = big_pow_mod(&e.value[i], &euler, &e.p);
            if (f->sqrt != NULL) {
                bool is_square = big_compare(&symbol, &minus) != 0;
                assert_true(f->sqrt(&o, &e.list[i]) == is_square);
                if (is_square) {
                    f->sqr(&o, &o);
                    expect_number(&e, "sqrt²", i, i, &o, &e.value[i], NULL);
                } else {
                    assert_memory_equal(o.l, e.list[i].l, 8 * e.n); /* o is left alone */
                }
            }
            for (unsigned words = 0; words <= 3; words++) {
                uint64_t exponent[3];
                rand_words(exponent, 3);
                big x = big_from_words(exponent, words);
                big expected = big_pow_mod(&e.value[i], &x, &e.p);
                f->pow(&o, &e.list[i], exponent, words);
                expect_number(&e, "pow", i, words, &o, &expected, NULL);
            }
        }
    }
}

/* n inversions at once for n = 0 … 67, zeros at every place; nothing is touched behind the n. */
static void test_batches(void **state)
{
    (void)state;
    enum { N = 67 };
    static edge_field e;
    static uint64_t a[(N + 1) * FIELD_WORDS_MAX], tmp[(N + 1) * FIELD_WORDS_MAX];
    FOR_EACH_FIELD(f)
    {
        make_edges(&e, f);
        for (size_t n = 0; n <= N; n++) {
            elem in[N], inverse;
            memset(a, 0x5a, sizeof a);
            memset(tmp, 0x5a, sizeof tmp);
            for (size_t i = 0; i < n; i++) {
                for (unsigned c = 0; c < f->words; c += e.n) {
                    memcpy(in[i].l + c, e.list[(n + 3 * i + c) % e.n_list].l, 8 * e.n);
                }
                if (i == n / 2) {
                    f->set_zero(&in[i]);
                }
                f->store(a + i * f->words, &in[i]);
            }
            f->batch_inv(a, n, tmp);
            for (size_t i = 0; i < n; i++) {
                f->inv(&inverse, &in[i]);
                EXPECT_WORDS(f, "batch_inv", (unsigned)i, a + i * f->words, inverse.l, f->words,
                             in[i].l, NULL);
            }
            for (size_t i = n * f->words; i < sizeof a / 8; i++) {
                assert_true(a[i] == UINT64_C(0x5a5a5a5a5a5a5a5a) && tmp[i] == a[i]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_unreduced),
        cmocka_unit_test(test_wide),    cmocka_unit_test(test_powers),
        cmocka_unit_test(test_batches),
    };
    field_test_begin();
    return cmocka_run_group_tests_name("field edges", tests, NULL, NULL);
}
