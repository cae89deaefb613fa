/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random calls of the shape builder against a model that does what its header says in the plainest
 * way: every constraint written out, terms in lists. Compared: each term of each constraint, the
 * types, the densities, the fingerprint; in the shape as built, in one read back from its file, and
 * in one compiled from a .r1cs of the model. */
#include "base/bitmap.h"
#include "base/bytes.h"
#include "r1cs/shape_r1cs.h"
#include "r1cs/shape_store.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TERMS_MAX = 6, ROWS_MAX = 4000, VARS_MAX = 4000, NAMES_MAX = 600, STRETCHES_MAX = 12 };

static uint64_t seed = 0xb01dface;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(cuzk_test_random(&seed) % n);
}

/* ---- the model --------------------------------------------------------------------------------
 */

struct side {
    unsigned n;
    cuzk_var var[TERMS_MAX];
    cuzk_fr coef[TERMS_MAX];
};

struct row {
    struct side side[3];
};

/* A stretch of rows of the part (or of what is outside of parts) that is being built. */
struct stretch {
    cuzk_shape_stretch given; /* to the builder */
    unsigned first, n;        /* rows of the model */
};

struct model {
    const cuzk_curve *curve;
    cuzk_shape_builder *builder;
    struct row rows[ROWS_MAX];
    unsigned n_rows;
    cuzk_var_type inputs[VARS_MAX], aux[VARS_MAX];
    uint32_t n_inputs, n_aux;
    cuzk_var names[NAMES_MAX]; /* that may be used now */
    unsigned n_names;
    struct stretch stretches[STRETCHES_MAX];
    unsigned n_stretches;
};

static bool is_aux(cuzk_var v)
{
    return v >= cuzk_var_aux(0);
}

static bool is_zero(const cuzk_fr *x)
{
    return (x->l[0] | x->l[1] | x->l[2] | x->l[3]) == 0;
}

static cuzk_var add_var(struct model *m, bool aux, cuzk_var_type type)
{
    cuzk_var v =
        aux ? cuzk_shape_add_aux(m->builder, type) : cuzk_shape_add_input(m->builder, type);
    assert_true(m->n_aux < VARS_MAX && m->n_inputs < VARS_MAX);
    if (aux) {
        assert_int_equal(v, cuzk_var_aux(m->n_aux));
        m->aux[m->n_aux++] = type;
    } else {
        assert_int_equal(v, m->n_inputs);
        m->inputs[m->n_inputs++] = type;
    }
    return v;
}

static void name(struct model *m, cuzk_var v)
{
    assert_true(m->n_names < NAMES_MAX);
    m->names[m->n_names++] = v;
}

static struct row *add_row(struct model *m)
{
    assert_true(m->n_rows < ROWS_MAX);
    struct row *r = &m->rows[m->n_rows++];
    *r = (struct row){0};
    return r;
}

/* Sums repeated terms at the place of the first that is not zero. */
static void add_term(struct model *m, struct row *r, int k, cuzk_var v, const cuzk_fr *coef)
{
    struct side *s = &r->side[k];
    unsigned i = 0;
    if (is_zero(coef)) {
        cuzk_shape_add_term(m->builder, (cuzk_matrix)k, v, coef);
        return;
    }
    while (i < s->n && s->var[i] != v) {
        i++;
    }
    if (i == s->n) {
        if (s->n == TERMS_MAX) {
            return;
        }
        s->var[i] = v;
        s->coef[i] = *coef;
        s->n++;
    } else {
        m->curve->fr_add(&s->coef[i], &s->coef[i], coef);
    }
    cuzk_shape_add_term(m->builder, (cuzk_matrix)k, v, coef);
}

static void end_row(struct model *m, struct row *r)
{
    cuzk_shape_end_constraint(m->builder);
    for (int k = 0; k < 3; k++) {
        struct side *s = &r->side[k];
        unsigned kept = 0;
        for (unsigned i = 0; i < s->n; i++) {
            if (!is_zero(&s->coef[i])) {
                s->var[kept] = s->var[i];
                s->coef[kept++] = s->coef[i];
            }
        }
        s->n = kept;
    }
}

/* Small, so that sums cancel; or any. */
static cuzk_fr some_coef(const cuzk_curve *curve)
{
    cuzk_fr x;
    curve->fr_from_u64(&x, below(4));
    if (below(6) == 0) {
        for (int i = 0; i < 4; i++) {
            x.l[i] = cuzk_test_random(&seed);
        }
        x.l[3] %= curve->r[3];
    }
    if (below(2) == 0) {
        curve->fr_neg(&x, &x);
    }
    return x;
}

static void random_row(struct model *m)
{
    struct row *r = add_row(m);
    for (unsigned i = below(9); i > 0; i--) {
        cuzk_var v = m->names[below(4) == 0 ? m->n_names - 1 : below(m->n_names)];
        cuzk_fr coef = some_coef(m->curve);
        add_term(m, r, (int)below(3), v, &coef);
    }
    end_row(m, r);
}

/* A row that says of a new variable that it is 0 or 1, in one of the forms that are recognised, or
 * one that nearly does. */
static void boolean_row(struct model *m)
{
    cuzk_fr s, t, st, minus;
    m->curve->fr_from_u64(&s, 1 + below(5));
    m->curve->fr_from_u64(&t, 1 + below(5));
    m->curve->fr_mul(&st, &s, &t);
    bool squared = below(2) == 0, swapped = below(2) == 0, nearly = below(3) == 0;
    if (nearly) {
        m->curve->fr_add(&st, &st, &m->curve->fr_one);
    }
    m->curve->fr_neg(&minus, &t);
    if (nearly) {
        m->curve->fr_sub(&minus, &minus, &m->curve->fr_one);
    }
    cuzk_var x = add_var(m, below(4) != 0, CUZK_VAR_UNKNOWN);
    struct row *r = add_row(m);
    if (squared) {
        add_term(m, r, 0, x, &s);
        add_term(m, r, 1, x, &t);
        add_term(m, r, 2, x, &st);
    } else {
        add_term(m, r, swapped ? 1 : 0, x, &s);
        add_term(m, r, swapped ? 0 : 1, x, &t);
        add_term(m, r, swapped ? 0 : 1, CUZK_VAR_ONE, &minus);
    }
    end_row(m, r);
    if (!nearly) {
        *(is_aux(x) ? &m->aux[x - cuzk_var_aux(0)] : &m->inputs[x]) = CUZK_VAR_BIT;
    }
}

/* ---- stretches --------------------------------------------------------------------------------
 */

/* Some rows with some variables of their own. */
static void new_stretch(struct model *m)
{
    if (m->n_stretches == STRETCHES_MAX) {
        return;
    }
    struct stretch *s = &m->stretches[m->n_stretches];
    *s = (struct stretch){.first = m->n_rows, .n = 1 + below(4)};
    s->given = (cuzk_shape_stretch){.first_row = cuzk_shape_n_stored_rows(m->builder),
                                    .n_rows = s->n,
                                    .first_own = cuzk_var_aux(m->n_aux),
                                    .n_own = below(4)};
    for (unsigned i = 0; i < 3; i++) {
        cuzk_var v = m->names[below(m->n_names)];
        bool known = v == CUZK_VAR_ONE;
        for (unsigned k = 0; k < s->given.n_given; k++) {
            known = known || s->given.given[k] == v;
        }
        if (!known) {
            s->given.given[s->given.n_given++] = v;
        }
    }
    for (unsigned i = 0; i < s->given.n_own; i++) {
        name(m, add_var(m, true, below(2) == 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD));
    }
    for (unsigned i = 0; i < s->n; i++) {
        random_row(m);
    }
    m->n_stretches++;
}

static cuzk_var replaced(const cuzk_shape_stretch *s, const cuzk_var *given, cuzk_var first_new,
                         cuzk_var v)
{
    for (unsigned i = 0; i < s->n_given; i++) {
        if (v == s->given[i]) {
            return given[i];
        }
    }
    return is_aux(v) && v - s->first_own < s->n_own ? first_new + (v - s->first_own) : v;
}

static void repeat_stretch(struct model *m)
{
    if (m->n_stretches == 0) {
        return;
    }
    const struct stretch *s = &m->stretches[below(m->n_stretches)];
    cuzk_var given[CUZK_SHAPE_GIVEN_MAX], first_new = cuzk_var_aux(m->n_aux);
    for (unsigned i = 0; i < s->given.n_given; i++) {
        given[i] = m->names[below(m->n_names)];
    }
    unsigned before = m->n_rows;
    for (unsigned i = 0; i < s->n; i++) {
        struct row *r = add_row(m);
        *r = m->rows[s->first + i];
        for (int k = 0; k < 3; k++) {
            struct side *side = &r->side[k];
            for (unsigned t = 0; t < side->n; t++) {
                side->var[t] = replaced(&s->given, given, first_new, side->var[t]);
                for (unsigned u = 0; u < t; u++) {
                    if (side->var[u] == side->var[t]) { /* must not be repeated */
                        m->n_rows = before;
                        return;
                    }
                }
            }
        }
    }
    assert_int_equal(cuzk_shape_repeat(m->builder, &s->given, given), first_new);
    for (unsigned i = 0; i < s->given.n_own; i++) {
        cuzk_var v = cuzk_var_aux(m->n_aux);
        m->aux[m->n_aux++] = m->aux[s->given.first_own - cuzk_var_aux(0) + i];
        name(m, v);
    }
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static void random_steps(struct model *m, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        switch (below(8)) {
        case 0:
            name(m, add_var(m, false, below(2) == 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD));
            break;
        case 1:
        case 2:
            name(m, add_var(m, true, below(2) == 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD));
            break;
        case 3:
            boolean_row(m);
            break;
        case 4:
            new_stretch(m);
            break;
        case 5:
            repeat_stretch(m);
            break;
        default:
            random_row(m);
        }
    }
}

/* Several groups of variables, all of the same types in the same order; their first ones. */
static void add_groups(struct model *m, cuzk_var *first, unsigned n_groups, unsigned n)
{
    uint64_t types = cuzk_test_random(&seed);
    for (unsigned g = 0; g < n_groups; g++) {
        for (unsigned i = 0; i < n; i++) {
            cuzk_var v = add_var(m, true, (types >> i & 1) != 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD);
            first[g] = i == 0 ? v : first[g];
        }
        if (below(2) == 0) {
            name(m, add_var(m, true, CUZK_VAR_FIELD));
        }
    }
}

/* One part of n_copies copies: its rows and variables once, then what the others are. */
static void random_part(struct model *m)
{
    enum { COPIES_MAX = 9, CHOICE_MAX = 3 };
    unsigned n_copies = 1 + below(COPIES_MAX), n_choice = below(CHOICE_MAX + 1);
    cuzk_var group[COPIES_MAX], first[COPIES_MAX];
    add_groups(m, group, COPIES_MAX, n_choice);
    unsigned names = m->n_names, stretches = m->n_stretches;
    uint32_t inputs = m->n_inputs, aux = m->n_aux, rows = m->n_rows;
    cuzk_shape_begin_copies(m->builder, n_copies);
    for (unsigned k = 0; k < n_copies; k++) {
        first[k] = n_choice == 0 ? 0 : group[below(COPIES_MAX)];
    }
    if (n_choice != 0) {
        cuzk_shape_choose(m->builder, first, n_choice);
        for (unsigned i = 0; i < n_choice; i++) {
            name(m, first[0] + i);
        }
    }
    random_steps(m, 1 + below(25));
    cuzk_shape_end_copies(m->builder);
    uint32_t n_inputs = m->n_inputs - inputs, n_aux = m->n_aux - aux, n_rows = m->n_rows - rows;
    for (unsigned k = 1; k < n_copies; k++) {
        for (uint32_t i = 0; i < n_inputs; i++) {
            m->inputs[m->n_inputs++] = m->inputs[inputs + i];
        }
        for (uint32_t i = 0; i < n_aux; i++) {
            m->aux[m->n_aux++] = m->aux[aux + i];
        }
        for (uint32_t i = 0; i < n_rows; i++) {
            struct row *r = add_row(m);
            *r = m->rows[rows + i];
            for (int s = 0; s < 3; s++) {
                for (unsigned t = 0; t < r->side[s].n; t++) {
                    cuzk_var *v = &r->side[s].var[t];
                    if (n_choice != 0 && is_aux(*v) && *v - first[0] < n_choice) {
                        *v += first[k] - first[0];
                    } else if (is_aux(*v) && *v >= cuzk_var_aux(aux)) {
                        *v += k * n_aux;
                    } else if (!is_aux(*v) && *v >= inputs) {
                        *v += k * n_inputs;
                    }
                }
            }
        }
    }
    m->n_names = names;
    m->n_stretches = stretches;
}

static void random_circuit(struct model *m, const cuzk_curve *curve)
{
    memset(m, 0, sizeof *m);
    m->curve = curve;
    m->n_inputs = 1;
    m->inputs[0] = CUZK_VAR_BIT;
    assert_int_equal(cuzk_shape_builder_create(&m->builder, curve, NULL), CUZK_OK);
    name(m, CUZK_VAR_ONE);
    for (unsigned i = below(5); i > 0; i--) {
        random_steps(m, below(20));
        if (below(3) != 0) {
            random_part(m);
        }
    }
    random_steps(m, below(10));
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static uint32_t number_of(const struct model *m, cuzk_var v)
{
    return is_aux(v) ? m->n_inputs + (v - cuzk_var_aux(0)) : v;
}

static cuzk_var_type type_of(const struct model *m, uint32_t var)
{
    return var < m->n_inputs ? m->inputs[var] : m->aux[var - m->n_inputs];
}

static void expect_rows(const cuzk_shape *s, const struct model *m)
{
    for (uint32_t at = 0; at < m->n_rows;) {
        uint32_t end = at + 1 + below(m->n_rows - at);
        cuzk_row_run run = cuzk_shape_run(s, at, end);
        assert_in_range(run.n, 1, end - at);
        for (uint32_t i = 0; i < run.n; i++) {
            for (int k = 0; k < 3; k++) {
                const cuzk_rows *rows = &s->rows[k];
                const struct side *side = &m->rows[at + i].side[k];
                uint64_t t = rows->begin[run.stored_row + i];
                assert_int_equal(rows->begin[run.stored_row + i + 1] - t, side->n);
                for (unsigned j = 0; j < side->n; j++, t++) {
                    assert_int_equal(cuzk_row_run_var(&run, rows->var[t]),
                                     number_of(m, side->var[j]));
                    assert_memory_equal(&s->coefs[rows->code[t]], &side->coef[j],
                                        sizeof side->coef[j]);
                }
            }
        }
        at += run.n;
    }
}

static void expect_densities(const cuzk_shape *s, const struct model *m)
{
    static bool seen[3][2 * VARS_MAX];
    memset(seen, 0, sizeof seen);
    uint64_t n_terms[3] = {0};
    for (unsigned i = 0; i < m->n_rows; i++) {
        for (int k = 0; k < 3; k++) {
            n_terms[k] += m->rows[i].side[k].n;
            for (unsigned t = 0; t < m->rows[i].side[k].n; t++) {
                seen[k][number_of(m, m->rows[i].side[k].var[t])] = true;
            }
        }
    }
    uint32_t n_b_input = 0, n_a_aux = 0, n_b_aux = 0;
    for (uint32_t v = 0; v < s->n_vars; v++) {
        if (v < m->n_inputs) {
            assert_int_equal(cuzk_bitmap_get(s->b_input_density, v), seen[1][v]);
            n_b_input += seen[1][v];
        } else {
            assert_int_equal(cuzk_bitmap_get(s->a_aux_density, v - m->n_inputs), seen[0][v]);
            assert_int_equal(cuzk_bitmap_get(s->b_aux_density, v - m->n_inputs), seen[1][v]);
            n_a_aux += seen[0][v];
            n_b_aux += seen[1][v];
        }
    }
    assert_int_equal(s->n_b_input, n_b_input);
    assert_int_equal(s->n_a_aux, n_a_aux);
    assert_int_equal(s->n_b_aux, n_b_aux);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(cuzk_shape_n_terms(s, (cuzk_matrix)k), n_terms[k]);
    }
}

/* The digest as the header defines it. */
static void model_fingerprint(const struct model *m, bool with_inputs, uint8_t out[32])
{
    cuzk_sha256 h;
    cuzk_sha256_init(&h);
    for (unsigned i = 0; i < m->n_rows + (with_inputs ? m->n_inputs : 0); i++) {
        struct row input = {0};
        const struct row *r = &input;
        if (i < m->n_rows) {
            r = &m->rows[i];
        } else {
            input.side[0] = (struct side){1, {i - m->n_rows}, {m->curve->fr_one}};
        }
        for (int k = 0; k < 3; k++) {
            const struct side *s = &r->side[k];
            uint8_t bytes[36];
            cuzk_store_u32_le(bytes, s->n);
            cuzk_sha256_update(&h, bytes, 4);
            for (int64_t last = -1;;) { /* the next larger key */
                unsigned next = s->n;
                for (unsigned t = 0; t < s->n; t++) {
                    if (s->var[t] > last && (next == s->n || s->var[t] < s->var[next])) {
                        next = t;
                    }
                }
                if (next == s->n) {
                    break;
                }
                last = s->var[next];
                cuzk_store_u32_le(bytes, s->var[next]);
                m->curve->fr_to_canonical_le(bytes + 4, &s->coef[next]);
                cuzk_sha256_update(&h, bytes, sizeof bytes);
            }
        }
    }
    cuzk_sha256_final(&h, out);
}

static void expect_shape(const cuzk_shape *s, const struct model *m, bool types)
{
    assert_int_equal(s->n_inputs, m->n_inputs);
    assert_int_equal(s->n_vars, m->n_inputs + m->n_aux);
    assert_int_equal(s->n_constraints, m->n_rows);
    for (uint32_t v = 0; types && v < s->n_vars; v++) {
        assert_int_equal(cuzk_bitmap_get(s->is_bit, v), type_of(m, v) == CUZK_VAR_BIT);
        assert_int_equal(cuzk_bitmap_get(s->is_field, v), type_of(m, v) == CUZK_VAR_FIELD);
    }
    expect_rows(s, m);
    expect_densities(s, m);
    for (int with_inputs = 0; with_inputs < 2; with_inputs++) {
        uint8_t found[32], expected[32];
        assert_int_equal(cuzk_shape_fingerprint(s, with_inputs != 0, found, NULL), CUZK_OK);
        model_fingerprint(m, with_inputs != 0, expected);
        assert_memory_equal(found, expected, 32);
    }
}

/* ---- files ------------------------------------------------------------------------------------
 */

static uint8_t *file_bytes(FILE *f, size_t *n)
{
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    uint8_t *bytes = aligned_alloc(64, (*n + 63) / 64 * 64);
    assert_non_null(bytes);
    rewind(f);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

static void expect_stored(const cuzk_shape *s, const struct model *m, cuzk_pool *pool)
{
    uint8_t fingerprint[32];
    model_fingerprint(m, true, fingerprint);
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(cuzk_shape_write(f, s, fingerprint, NULL), CUZK_OK);
    size_t n;
    uint8_t *bytes = file_bytes(f, &n);
    cuzk_shape *view = NULL;
    cuzk_error err = {0};
    if (cuzk_shape_view(&view, bytes, n, pool, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    expect_shape(view, m, true);
    cuzk_shape_destroy(view);
    free(bytes);
}

/* Each term of the model in two, so that the file has repeated wires. */
static void expect_r1cs(const struct model *m)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    cuzk_r1cs_writer w;
    cuzk_r1cs_writer_begin(&w, f, m->curve);
    for (unsigned i = 0; i < m->n_rows; i++) {
        uint8_t terms[3][2 * TERMS_MAX * CUZK_R1CS_TERM_BYTES];
        cuzk_r1cs_lc lc[3];
        for (int k = 0; k < 3; k++) {
            const struct side *s = &m->rows[i].side[k];
            for (unsigned t = 0; t < 2 * s->n; t++) {
                uint8_t *at = terms[k] + (size_t)t * CUZK_R1CS_TERM_BYTES;
                cuzk_fr five, rest;
                m->curve->fr_from_u64(&five, 5);
                m->curve->fr_sub(&rest, &s->coef[t % s->n], &five);
                cuzk_store_u32_le(at, number_of(m, s->var[t % s->n]));
                m->curve->fr_to_canonical_le(at + 4, t < s->n ? &five : &rest);
            }
            lc[k] = (cuzk_r1cs_lc){2 * s->n, terms[k]};
        }
        cuzk_r1cs_writer_constraint(&w, lc);
    }
    uint32_t outputs = below(m->n_inputs);
    cuzk_r1cs_header header = {.n_wires = m->n_inputs + m->n_aux,
                               .n_pub_out = outputs,
                               .n_pub_in = m->n_inputs - 1 - outputs,
                               .n_prv_in = m->n_aux == 0 ? 0 : below(m->n_aux),
                               .n_labels = m->n_inputs + m->n_aux};
    assert_int_equal(cuzk_r1cs_writer_end(&w, &header, NULL), CUZK_OK);
    size_t n;
    uint8_t *bytes = file_bytes(f, &n);
    cuzk_r1cs r1cs;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    if (cuzk_r1cs_open(&r1cs, bytes, n, &err) != CUZK_OK ||
        cuzk_shape_from_r1cs(&s, &r1cs, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    expect_shape(s, m, false);
    cuzk_shape_destroy(s);
    free(bytes);
}

/* ---- the test ---------------------------------------------------------------------------------
 */

static void test_random_circuits(void **state)
{
    (void)state;
    static struct model m;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 2, NULL), CUZK_OK);
    for (int i = 0; i < 300; i++) {
        print_message("circuit %d, seed 0x%llx\n", i, (unsigned long long)seed);
        random_circuit(&m, cuzk_curve_get(i % 2 == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381));
        cuzk_shape *s = NULL;
        cuzk_error err = {0};
        if (cuzk_shape_builder_finish(m.builder, &s, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        expect_shape(s, &m, true);
        expect_stored(s, &m, pool);
        expect_r1cs(&m);
        cuzk_shape_destroy(s);
    }
    cuzk_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_circuits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
