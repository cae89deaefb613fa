/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The canonical fingerprint against its definition, written out here over lists of terms with
 * coefficients as whole numbers (tests/bigint.h), and what must not and what must change it. */
#define _GNU_SOURCE
#include "base/bytes.h"
#include "bigint.h"
#include "r1cs/shape.h"
#include "r1cs/shape_store.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 12, TERMS = 7, INPUTS = 5, AUX = 9 };

/* A term: key i for input i, 2^31 + j for aux j; the coefficient as a number below r. */
typedef struct {
    uint32_t key;
    big coef;
} term;

typedef struct {
    unsigned n;
    term terms[TERMS];
} side;

typedef struct {
    const cuzk_curve *curve;
    big r;
    unsigned n_inputs, n_aux, n_rows;
    side rows[ROWS][3];
} system_of_rows;

static uint64_t seed = 0xf1239e2;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(cuzk_test_random(&seed) % n);
}

/* Edge coefficients, none zero. */
static big some_coef(const big *r)
{
    uint64_t words[4];
    big one = big_of(1), x = one, shift = big_power_of_two(below(250));
    switch (below(5)) {
    case 0:
        break;
    case 1:
        x = shift;
        break;
    case 2:
        x = big_of(1 + below(9));
        break;
    default:
        for (int i = 0; i < 4; i++) {
            words[i] = cuzk_test_random(&seed);
        }
        x = big_from_words(words, 4);
        x = big_mod(&x, r);
        x = big_is_zero(&x) ? one : x;
        break;
    }
    return below(2) ? big_sub(r, &x) : x;
}

static void draw(system_of_rows *s, const cuzk_curve *curve)
{
    memset(s, 0, sizeof *s);
    s->curve = curve;
    s->r = big_from_words(curve->r, 4);
    s->n_inputs = 1 + below(INPUTS);
    s->n_aux = 1 + below(AUX);
    s->n_rows = below(ROWS + 1);
    for (unsigned i = 0; i < s->n_rows; i++) {
        for (int k = 0; k < 3; k++) {
            side *o = &s->rows[i][k];
            for (unsigned t = below(TERMS + 1); t > 0; t--) { /* keys that are not there yet */
                uint32_t key = below(3) ? 0x80000000u + below(s->n_aux) : below(s->n_inputs);
                bool taken = false;
                for (unsigned j = 0; j < o->n; j++) {
                    taken = taken || o->terms[j].key == key;
                }
                if (!taken) {
                    o->terms[o->n++] = (term){key, some_coef(&s->r)};
                }
            }
        }
    }
}

/* ---- the definition ---------------------------------------------------------------------------
 */

static int by_key(const void *a, const void *b)
{
    const term *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void digest_side(cuzk_sha256 *sha, const side *from)
{
    side s = *from;
    uint8_t bytes[36];
    qsort(s.terms, s.n, sizeof s.terms[0], by_key);
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(s.n >> (8 * i));
    }
    cuzk_sha256_update(sha, bytes, 4);
    for (unsigned t = 0; t < s.n; t++) {
        for (int i = 0; i < 4; i++) {
            bytes[i] = (uint8_t)(s.terms[t].key >> (8 * i));
        }
        big_to_le(bytes + 4, 32, &s.terms[t].coef);
        cuzk_sha256_update(sha, bytes, sizeof bytes);
    }
}

static void define(const system_of_rows *s, bool with_inputs, uint8_t out[32])
{
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    for (unsigned i = 0; i < s->n_rows; i++) {
        for (int k = 0; k < 3; k++) {
            digest_side(&sha, &s->rows[i][k]);
        }
    }
    for (unsigned i = 0; with_inputs && i < s->n_inputs; i++) {
        side a = {.n = 1}, empty = {.n = 0};
        a.terms[0] = (term){i, big_of(1)};
        digest_side(&sha, &a);
        digest_side(&sha, &empty);
        digest_side(&sha, &empty);
    }
    cuzk_sha256_final(&sha, out);
}

/* ---- ways to build the same --------------------------------------------------------------------
 */

static cuzk_fr element(const system_of_rows *s, const big *x)
{
    uint8_t bytes[32];
    cuzk_fr o;
    big_to_le(bytes, 32, x);
    assert_true(s->curve->fr_from_canonical_le(&o, bytes));
    return o;
}

static void add(cuzk_shape_builder *b, const system_of_rows *s, int k, uint32_t key,
                const big *coef)
{
    cuzk_fr c = element(s, coef);
    cuzk_shape_add_term(b, (cuzk_matrix)k, key, &c);
}

/* How the builder is called; none of it is to be seen in the fingerprint. */
enum {
    SHUFFLED = 1,    /* terms of a side in another order */
    SPLIT = 2,       /* a term in two parts that are summed */
    CANCELLED = 4,   /* a term that is added and taken away, and one with coefficient 0 */
    INTERLEAVED = 8, /* sides of a constraint in turn; variables added in a mixture */
    TYPED = 16       /* other variable types */
};

static cuzk_shape *build(const system_of_rows *s, unsigned how)
{
    cuzk_shape_builder *b = NULL;
    cuzk_shape *out = NULL;
    cuzk_error err = {0};
    unsigned n_inputs = 1, n_aux = 0;
    assert_int_equal(cuzk_shape_builder_create(&b, s->curve, NULL), CUZK_OK);
    while (n_inputs < s->n_inputs || n_aux < s->n_aux) {
        cuzk_var_type type = how & TYPED ? (cuzk_var_type)below(3) : CUZK_VAR_FIELD;
        bool input =
            n_inputs < s->n_inputs && (n_aux == s->n_aux || !(how & INTERLEAVED) || below(2) == 0);
        cuzk_var v = input ? cuzk_shape_add_input(b, type) : cuzk_shape_add_aux(b, type);
        assert_int_equal(v, input ? n_inputs++ : 0x80000000u + n_aux++);
    }
    for (unsigned i = 0; i < s->n_rows; i++) {
        unsigned done[3] = {0}, order[3][TERMS];
        for (int k = 0; k < 3; k++) {
            unsigned n = s->rows[i][k].n;
            for (unsigned t = 0; t < n; t++) {
                unsigned j = how & SHUFFLED ? below(t + 1) : t;
                order[k][t] = order[k][j];
                order[k][j] = t;
            }
        }
        for (int k = 0; k < 3;) {
            const side *o = &s->rows[i][k];
            if (done[k] < o->n) {
                const term *t = &o->terms[order[k][done[k]++]];
                big zero = big_of(0), part = some_coef(&s->r);
                if (how & CANCELLED) {
                    add(b, s, k, t->key, &zero);
                    uint32_t other = below(s->n_inputs);
                    big minus = big_sub(&s->r, &part);
                    add(b, s, k, other, &part);
                    add(b, s, k, other, &minus);
                }
                if (how & SPLIT) {
                    big rest = big_sub_mod(&t->coef, &part, &s->r);
                    add(b, s, k, t->key, &part);
                    add(b, s, k, t->key, &rest);
                } else {
                    add(b, s, k, t->key, &t->coef);
                }
            }
            bool all = done[0] == s->rows[i][0].n && done[1] == s->rows[i][1].n &&
                       done[2] == s->rows[i][2].n;
            if (all) {
                break;
            }
            k = how & INTERLEAVED ? (k + 1) % 3 : done[k] == o->n ? k + 1 : k;
        }
        cuzk_shape_end_constraint(b);
    }
    if (cuzk_shape_builder_finish(b, &out, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return out;
}

static void expect(const cuzk_shape *shape, const system_of_rows *s, unsigned how)
{
    uint8_t found[32], expected[32];
    for (int with = 0; with < 2; with++) {
        define(s, with, expected);
        assert_int_equal(cuzk_shape_fingerprint(shape, with, found, NULL), CUZK_OK);
        if (memcmp(found, expected, 32) != 0) {
            fail_msg("%u rows, built in way %u: another fingerprint", s->n_rows, how);
        }
    }
}

static void test_definition(void **state)
{
    (void)state;
    static system_of_rows s;
    for (unsigned round = 0; round < 120; round++) {
        draw(&s, cuzk_curve_get(round % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381));
        for (unsigned how = round % 3; how < 32; how += 3) {
            cuzk_shape *shape = build(&s, how);
            expect(shape, &s, how);
            cuzk_shape_destroy(shape);
        }
    }
}

/* The fingerprint of a circuit that was written and read is the same. */
static void test_stored(void **state)
{
    (void)state;
    static system_of_rows s;
    for (unsigned round = 0; round < 20; round++) {
        draw(&s, cuzk_curve_get(round % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381));
        cuzk_shape *shape = build(&s, 0), *back = NULL;
        uint8_t fingerprint[32];
        char *data = NULL;
        size_t size;
        define(&s, true, fingerprint);
        FILE *f = open_memstream(&data, &size);
        assert_non_null(f);
        assert_int_equal(cuzk_shape_write(f, shape, fingerprint, NULL), CUZK_OK);
        fclose(f);
        assert_int_equal(cuzk_shape_view(&back, (const uint8_t *)data, size, NULL, NULL), CUZK_OK);
        expect(back, &s, 99);
        cuzk_shape_destroy(back);
        cuzk_shape_destroy(shape);
        free(data);
    }
}

/* Every single change of the system changes it: a coefficient by one, a key, a term less, a term on
 * another side, two constraints in another order, an empty constraint, one input more. */
static void test_changes(void **state)
{
    (void)state;
    static system_of_rows s, t;
    uint8_t before[32], after[32];
    big one = big_of(1);
    unsigned n_changes[7] = {0};
    for (unsigned round = 0; round < 60; round++) {
        draw(&s, cuzk_curve_get(round % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381));
        cuzk_shape *shape = build(&s, 0);
        assert_int_equal(cuzk_shape_fingerprint(shape, true, before, NULL), CUZK_OK);
        cuzk_shape_destroy(shape);
        for (unsigned change = 0; change < 7; change++) {
            t = s;
            unsigned row = s.n_rows > 0 ? below(s.n_rows) : 0;
            side *o = &t.rows[row][below(3)];
            term *changed = &o->terms[o->n > 0 ? below(o->n) : 0];
            bool needs_term = change < 4, needs_rows = change == 4;
            if ((needs_term && (s.n_rows == 0 || o->n == 0)) || (needs_rows && s.n_rows < 2)) {
                continue;
            }
            switch (change) {
            case 0:
                changed->coef = big_add_mod(&changed->coef, &one, &t.r);
                if (big_is_zero(&changed->coef)) {
                    continue;
                }
                break;
            case 1: /* a variable that nothing else names */
                changed->key = 0x80000000u + t.n_aux++;
                break;
            case 2:
                *changed = o->terms[--o->n];
                break;
            case 3: { /* to the side behind it */
                side *other = &t.rows[row][(o - t.rows[row] + 1) % 3];
                if (other->n == TERMS) {
                    continue;
                }
                bool taken = false;
                for (unsigned j = 0; j < other->n; j++) {
                    taken = taken || other->terms[j].key == changed->key;
                }
                if (taken) {
                    continue;
                }
                other->terms[other->n++] = *changed;
                *changed = o->terms[--o->n];
                break;
            }
            case 4: {
                unsigned next = (row + 1) % s.n_rows;
                memcpy(t.rows[row], s.rows[next], sizeof t.rows[row]);
                memcpy(t.rows[next], s.rows[row], sizeof t.rows[row]);
                uint8_t x[32], y[32];
                define(&s, false, x);
                define(&t, false, y);
                if (memcmp(x, y, 32) == 0) { /* equal ones */
                    continue;
                }
                break;
            }
            case 5:
                if (t.n_rows == ROWS) {
                    continue;
                }
                memset(t.rows[t.n_rows++], 0, sizeof t.rows[0]);
                break;
            default: /* seen by the trailing constraints alone */
                t.n_inputs++;
                break;
            }
            shape = build(&t, 0);
            expect(shape, &t, 0);
            assert_int_equal(cuzk_shape_fingerprint(shape, true, after, NULL), CUZK_OK);
            assert_memory_not_equal(before, after, 32);
            cuzk_shape_destroy(shape);
            n_changes[change]++;
        }
    }
    for (unsigned change = 0; change < 7; change++) {
        assert_true(n_changes[change] > 10);
    }
}

/* Reports do not fall and end below the whole; one that says no ends the work. */
typedef struct {
    unsigned n, stop_at;
    double last;
} reports;

static bool on_report(void *ctx, const char *stage, double done)
{
    reports *r = ctx;
    assert_string_equal(stage, "fingerprint");
    assert_true(done >= r->last && done <= 1);
    r->last = done;
    return ++r->n != r->stop_at;
}

static void test_reports(void **state)
{
    (void)state;
    static system_of_rows s;
    do {
        draw(&s, cuzk_curve_get(CUZK_CURVE_BN254));
    } while (s.n_rows == 0);
    cuzk_shape *shape = build(&s, 0);
    for (unsigned stop_at = 0; stop_at < 2; stop_at++) {
        reports r = {.stop_at = stop_at};
        const cuzk_reporter reporter = {on_report, &r};
        uint8_t found[32], expected[32];
        cuzk_error err = {0};
        cuzk_status status = cuzk_shape_fingerprint_reported(shape, false, found, &reporter, &err);
        assert_int_equal(status, stop_at == 0 ? CUZK_OK : CUZK_E_CANCELLED);
        assert_true(r.n >= 1);
        define(&s, false, expected);
        assert_true(stop_at != 0 || memcmp(found, expected, 32) == 0);
    }
    cuzk_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_reports),
    };
    return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
