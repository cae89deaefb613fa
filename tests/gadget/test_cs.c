/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The constraint system by itself: cursors that share a witness, in any cut and any order, against
 * the list of values that was written; and what each gadget costs, as gadgets.md counts it. */
#include "base/bytes.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/poseidon_circuit.h"
#include "random.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0c50;

static unsigned below(unsigned n)
{
    return (unsigned)(cuzk_test_random(&seed) % n);
}

/* ---- cursors --------------------------------------------------------------------------------- */

enum { VARS_MAX = 3000, INPUTS_MAX = 40 };

/* The variables of a witness to be: runs of bits and of field variables, and their values. */
struct plan {
    uint32_t n_aux, n_inputs;
    bool is_field[VARS_MAX];
    uint8_t value[VARS_MAX][32];
    uint8_t input[INPUTS_MAX][32];
};

static void random_plan(struct plan *p)
{
    p->n_aux = 1 + below(VARS_MAX);
    p->n_inputs = below(INPUTS_MAX);
    for (uint32_t i = 0; i < p->n_aux;) {
        bool field = below(2);
        for (uint32_t run = 1 + below(below(4) == 0 ? 200 : 20); run > 0 && i < p->n_aux; run--) {
            p->is_field[i] = field;
            memset(p->value[i], 0, 32);
            cuzk_store_u64_le(p->value[i], field ? cuzk_test_random(&seed) : below(2));
            p->value[i][31] = field ? (uint8_t)below(0x73) : 0;
            i++;
        }
    }
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        support_number(p->input[i], cuzk_test_random(&seed));
    }
}

static cuzk_witness *empty_witness(const struct plan *p)
{
    uint32_t n_inputs = 1 + p->n_inputs, n_vars = n_inputs + p->n_aux;
    uint64_t *is_field = calloc(cuzk_bitmap_words(n_vars), sizeof *is_field);
    cuzk_witness *w = NULL;
    assert_non_null(is_field);
    for (uint32_t i = 1; i < n_vars; i++) {
        bool field = i < n_inputs || p->is_field[i - n_inputs];
        is_field[i / 64] |= (uint64_t)field << (i % 64);
    }
    assert_int_equal(cuzk_witness_create(&w, cuzk_curve_get(CUZK_CURVE_BLS12_381), n_vars, n_inputs,
                                         is_field, NULL),
                     CUZK_OK);
    free(is_field);
    return w;
}

/* The next run of one kind, at most `max`, from variable `first` on. */
static uint32_t run_from(const struct plan *p, uint32_t first, uint32_t end, uint32_t max)
{
    uint32_t n = 1;
    while (first + n < end && n < max && p->is_field[first + n] == p->is_field[first]) {
        n++;
    }
    return n;
}

/* Write aux variables first … end-1 through cs, in calls of random sizes. */
static void write_range(cuzk_cs *cs, const struct plan *p, uint32_t first, uint32_t end)
{
    while (first < end) {
        uint32_t n = run_from(p, first, end, 1 + below(p->is_field[first] ? 90 : 64));
        if (!p->is_field[first]) {
            uint64_t bits = 0;
            for (uint32_t i = 0; i < n; i++) {
                bits |= (uint64_t)p->value[first + i][0] << i;
            }
            cuzk_cs_put_bits(cs, bits, n);
        } else if (n == 1) {
            cuzk_num x = cuzk_cs_alloc_num(cs, p->value[first]);
            assert_memory_equal(x.value, p->value[first], 32);
        } else {
            uint8_t(*out)[32] = cuzk_cs_take_fields(cs, n);
            for (uint32_t i = n; i-- > 0;) { /* the order of the writes does not matter */
                memcpy(out[i], p->value[first + i], 32);
            }
        }
        first += n;
    }
}

static void expect_planned(const cuzk_witness *w, const struct plan *p)
{
    uint8_t value[32], one[32] = {1};
    for (uint32_t i = 0; i < w->n_vars; i++) {
        cuzk_witness_get(w, i, value);
        const uint8_t *expected = i == 0            ? one
                                  : i < w->n_inputs ? p->input[i - 1]
                                                    : p->value[i - w->n_inputs];
        if (memcmp(value, expected, 32) != 0) {
            fail_msg("variable %u of %u", i, w->n_vars);
        }
    }
}

/* Cut at random places; a cursor of its own for each piece, written in random order. */
static void test_cursors(void **state)
{
    (void)state;
    static struct plan p;
    for (int round = 0; round < 200; round++) {
        enum { PIECES = 12 };
        cuzk_cs cs, pieces[PIECES];
        uint32_t begin[PIECES + 1] = {0}, first_input[PIECES + 1] = {0};
        unsigned n = 1 + below(PIECES), order[PIECES] = {0};
        random_plan(&p);
        cuzk_witness *w = empty_witness(&p);
        cuzk_cs_witness_begin(&cs, w, 0, 1);
        for (unsigned k = 0; k < n; k++) {
            uint32_t left = p.n_aux - begin[k], inputs_left = p.n_inputs - first_input[k];
            uint32_t own = k + 1 == n ? left : below(left + 1);
            uint32_t own_inputs = k + 1 == n ? inputs_left : below(inputs_left + 1);
            pieces[k] = cuzk_cs_split(&cs, own, own_inputs);
            begin[k + 1] = begin[k] + own;
            first_input[k + 1] = first_input[k] + own_inputs;
            unsigned to = below(k + 1);
            order[k] = order[to];
            order[to] = k;
        }
        assert_int_equal(cs.var, w->n_vars); /* what is split off lies behind it */
        assert_int_equal(cs.input, w->n_inputs);
        for (unsigned i = 0; i < n; i++) {
            unsigned k = order[i];
            write_range(&pieces[k], &p, begin[k], begin[k + 1]);
            for (uint32_t j = first_input[k]; j < first_input[k + 1]; j++) {
                cuzk_cs_alloc_input(&pieces[k], p.input[j]);
            }
            assert_int_equal(pieces[k].var, w->n_inputs + begin[k + 1]);
            if (below(2)) { /* ended twice is as good as once */
                cuzk_cs_witness_end(&pieces[k]);
            }
            cuzk_cs_witness_end(&pieces[k]);
        }
        expect_planned(w, &p);
        cuzk_witness_destroy(w);
    }
}

/* Interleaved: pieces written a run at a time, in turns, ended in between. */
static void test_turns(void **state)
{
    (void)state;
    static struct plan p;
    for (int round = 0; round < 60; round++) {
        random_plan(&p);
        cuzk_witness *w = empty_witness(&p);
        uint32_t middle = below(p.n_aux + 1), at[2] = {0, middle}, end[2] = {middle, p.n_aux};
        cuzk_cs cs[2];
        cuzk_cs_witness_begin(&cs[0], w, 0, 1);
        cuzk_cs_witness_begin(&cs[1], w, middle, 1);
        while (at[0] < end[0] || at[1] < end[1]) {
            unsigned k = at[0] < end[0] && (at[1] >= end[1] || below(2)) ? 0 : 1;
            uint32_t n = run_from(&p, at[k], end[k], 64);
            write_range(&cs[k], &p, at[k], at[k] + n);
            at[k] += n;
            if (below(3) == 0) {
                cuzk_cs_witness_end(&cs[k]); /* it may go on afterwards */
            }
        }
        cuzk_cs_witness_end(&cs[0]);
        cuzk_cs_witness_end(&cs[1]);
        for (uint32_t j = 0; j < p.n_inputs; j++) {
            cuzk_cs_alloc_input(&cs[1], p.input[j]);
        }
        expect_planned(w, &p);
        cuzk_witness_destroy(w);
    }
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* What one call of a gadget adds, without its operands. */
struct cost {
    const char *name;
    uint64_t n_constraints, n_aux;
    void (*gadget)(cuzk_cs *cs, const cuzk_num *nums, const cuzk_bit *bits, unsigned k);
    unsigned k;
};

enum { N_NUMS = 16, N_BITS = 512 };

static void num_add(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b, (void)k;
    (void)cuzk_num_add(cs, &x[0], &x[1]);
}

static void num_mul(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b, (void)k;
    (void)cuzk_num_mul(cs, &x[0], &x[1]);
}

static void num_pick(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)k;
    (void)cuzk_num_pick(cs, b[0], &x[0], &x[1]);
}

static void num_equal(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b, (void)k;
    cuzk_cs_equal(cs, &x[0], &x[1]);
}

static void num_to_words(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b, (void)k;
    cuzk_word words[CUZK_SHA256_WORDS];
    cuzk_num_to_words(cs, &x[0], words);
}

static void num_decompose(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b;
    cuzk_bit out[CUZK_NUM_BITS];
    cuzk_num_decompose(cs, &x[0], out, k);
}

static void num_pack(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)x;
    (void)cuzk_num_from_bits(cs, b, k);
}

static void num_insert(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    cuzk_num out[CUZK_INSERT_MAX];
    cuzk_num_insert(cs, out, &x[0], &x[1], b, k);
}

static void num_select(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    cuzk_num scratch[N_NUMS];
    (void)cuzk_num_select(cs, x, b, k, scratch);
}

static void hash_poseidon(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b;
    (void)cuzk_poseidon_circuit(cs, k, x);
}

static void hash_sha256(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)x;
    cuzk_word message[16], digest[CUZK_SHA256_WORDS];
    for (unsigned w = 0; w < k; w++) {
        message[w] = (cuzk_word){.value = 0};
        for (unsigned i = 0; i < 32; i++) {
            message[w].var[i] = b[32 * w + i].var;
        }
    }
    cuzk_sha256_circuit(cs, digest, message, k);
}

static void hash_node(cuzk_cs *cs, const cuzk_num *x, const cuzk_bit *b, unsigned k)
{
    (void)b, (void)k;
    (void)cuzk_sha256_node(cs, &x[0], &x[1]);
}

/* The tables of gadgets.md. */
static const struct cost costs[] = {
    {"add", 1, 1, num_add, 0},
    {"mul", 1, 1, num_mul, 0},
    {"pick", 1, 1, num_pick, 0},
    {"equal", 1, 0, num_equal, 0},
    {"to_bits_le", 256, 255, num_to_words, 0},
    {"binary_decomp of 255", 256, 255, num_decompose, 255},
    {"binary_decomp of 26", 27, 26, num_decompose, 26},
    {"pack of none", 1, 1, num_pack, 0},
    {"pack of 254", 1, 1, num_pack, 254},
    {"insert among 2", 2, 2, num_insert, 2},
    {"insert among 4", 8, 8, num_insert, 4},
    {"insert among 8", 22, 22, num_insert, 8},
    {"select of 1", 0, 0, num_select, 0},
    {"select of 16", 15, 15, num_select, 4},
    {"poseidon of 2", 311, 311, hash_poseidon, 2},
    {"poseidon of 4", 377, 377, hash_poseidon, 4},
    {"poseidon of 8", 505, 505, hash_poseidon, 8},
    {"poseidon of 11", 598, 598, hash_poseidon, 11},
    {"SHA-256 of 512 bits", 44874, 0, hash_sha256, 16},
    {"SHA-256 node", 45379, 0, hash_node, 0},
};

/* times: how often the gadget is called. */
struct counted {
    const struct cost *cost;
    unsigned times;
};

static void describe_cost(cuzk_cs *cs, const void *ctx)
{
    static const uint8_t zero[32];
    const struct counted *c = ctx;
    cuzk_num nums[N_NUMS];
    static cuzk_bit bits[N_BITS];
    for (unsigned i = 0; i < N_NUMS; i++) {
        nums[i] = cuzk_cs_alloc_num(cs, zero);
    }
    for (unsigned i = 0; i < N_BITS; i += 64) {
        cuzk_alloc_bits(cs, 0, 64, bits + i);
    }
    for (unsigned i = 0; i < c->times; i++) {
        c->cost->gadget(cs, nums, bits, c->cost->k);
    }
}

static void test_costs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        for (unsigned times = 1; times <= (costs[i].n_constraints > 10000 ? 1u : 3u); times++) {
            const struct counted c = {&costs[i], times};
            cuzk_shape *s = support_shape(describe_cost, &c);
            uint64_t constraints = s->n_constraints - N_BITS;
            uint64_t aux = cuzk_shape_n_aux(s) - N_NUMS - N_BITS;
            bool counts_aux = costs[i].n_aux != 0 || costs[i].n_constraints < 2;
            if (constraints != times * costs[i].n_constraints ||
                (counts_aux && aux != times * costs[i].n_aux)) {
                fail_msg("%u times %s: %llu constraints and %llu variables, expected %llu and %llu",
                         times, costs[i].name, (unsigned long long)constraints,
                         (unsigned long long)aux,
                         (unsigned long long)(times * costs[i].n_constraints),
                         (unsigned long long)(times * costs[i].n_aux));
            }
            cuzk_shape_destroy(s);
        }
    }
    for (unsigned arity = 2; arity <= 11; arity += arity == 8 ? 3 : arity) {
        static const unsigned values[12] = {[2] = 311, [4] = 377, [8] = 505, [11] = 598};
        assert_int_equal(cuzk_poseidon_n_values(arity), values[arity]);
    }
}

/* ---- sums that share a row ------------------------------------------------------------------- */

enum { SUMS = 24 };

static void describe_sums(cuzk_cs *cs, const void *ctx)
{
    const unsigned *n_words = ctx;
    cuzk_multi_eq eq;
    cuzk_bit bits[32];
    cuzk_word w = {.value = 0}, out;
    const cuzk_word *list[CUZK_SUM_WORDS];
    cuzk_alloc_bits(cs, 0, 32, bits);
    for (unsigned i = 0; i < 32; i++) {
        w.var[i] = bits[i].var;
    }
    for (unsigned i = 0; i < CUZK_SUM_WORDS; i++) {
        list[i] = &w;
    }
    cuzk_multi_eq_init(&eq);
    for (unsigned i = 0; i < SUMS; i++) {
        cuzk_word_sum(cs, &eq, &out, list, n_words[i]);
    }
    cuzk_multi_eq_flush(cs, &eq);
}

/* A row is closed when the next sum would reach 254 bits. */
static void test_packed_sums(void **state)
{
    (void)state;
    static const unsigned width[CUZK_SUM_WORDS + 1] = {0, 0, 33, 34, 34, 35, 35, 35, 35, 36, 36};
    for (int round = 0; round < 40; round++) {
        unsigned n_words[SUMS], bits = 0, rows = 1;
        uint64_t n_bits = 0;
        for (unsigned i = 0; i < SUMS; i++) {
            n_words[i] = round < 9 ? 2 + (unsigned)round : 2 + below(CUZK_SUM_WORDS - 1);
            unsigned n = width[n_words[i]];
            rows += bits + n >= 254;
            bits = bits + n >= 254 ? n : bits + n;
            n_bits += n;
        }
        cuzk_shape *s = support_shape(describe_sums, n_words);
        assert_int_equal(cuzk_shape_n_aux(s), 32 + n_bits);
        assert_int_equal(s->n_constraints, 32 + n_bits + rows);
        cuzk_shape_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_packed_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
