/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "base/bytes.h"
#include "fixtures.h"
#include "json_field.h"
#include "r1cs/satisfy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void support_number(uint8_t out[32], uint64_t v)
{
    memset(out, 0, 32);
    cuzk_store_u64_le(out, v);
}

cuzk_shape *support_shape(support_describe describe, const void *ctx)
{
    cuzk_cs cs;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), NULL), CUZK_OK);
    describe(&cs, ctx);
    if (cuzk_cs_shape_finish(&cs, &s, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

cuzk_witness *support_new_witness(const cuzk_shape *s)
{
    cuzk_witness *w = NULL;
    assert_int_equal(cuzk_witness_create(&w, s->curve, s->n_vars, s->n_inputs, s->is_field, NULL),
                     CUZK_OK);
    return w;
}

cuzk_witness *support_witness(const cuzk_shape *s, support_describe describe, const void *ctx)
{
    cuzk_witness *w = support_new_witness(s);
    cuzk_cs cs;
    cuzk_cs_witness_begin(&cs, w, 0, 1);
    describe(&cs, ctx);
    cuzk_cs_witness_end(&cs);
    assert_int_equal(cs.var, s->n_vars);
    assert_int_equal(cs.input, s->n_inputs);
    assert_ptr_equal(cs.field, w->field + w->n_field);
    return w;
}

void support_expect_satisfied(const cuzk_shape *s, const cuzk_witness *w)
{
    cuzk_error err = {0};
    if (cuzk_shape_check_witness(s, w, NULL, NULL, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static void expect_density(const char *json, const char *field, const uint64_t *map, size_t n)
{
    uint8_t expected[32], found[32];
    json_hex(json, field, expected, 32);
    cuzk_sha256_digest(found, map, cuzk_bitmap_words(n) * 8); /* words are little-endian bytes */
    if (memcmp(found, expected, 32) != 0) {
        fail_msg("%s differs", field);
    }
}

void support_expect_shape(const cuzk_shape *s, const char *json, bool with_input_constraints)
{
    uint64_t extra = with_input_constraints ? s->n_inputs : 0;
    size_t n_aux = cuzk_shape_n_aux(s);
    assert_int_equal(s->n_inputs, json_u64(json, "inputs"));
    assert_int_equal(n_aux, json_u64(json, "aux"));
    assert_int_equal(s->n_constraints + extra, json_u64(json, "constraints"));
    assert_int_equal(cuzk_shape_n_terms(s, CUZK_MATRIX_A) + extra, json_u64(json, "nnz_a"));
    assert_int_equal(cuzk_shape_n_terms(s, CUZK_MATRIX_B), json_u64(json, "nnz_b"));
    assert_int_equal(cuzk_shape_n_terms(s, CUZK_MATRIX_C), json_u64(json, "nnz_c"));
    assert_int_equal(s->n_a_aux, json_u64(json, "a_aux_density"));
    assert_int_equal(s->n_b_aux, json_u64(json, "b_aux_density"));
    assert_int_equal(s->n_b_input, json_u64(json, "b_input_density"));
    expect_density(json, "a_aux_density_sha256", s->a_aux_density, n_aux);
    expect_density(json, "b_aux_density_sha256", s->b_aux_density, n_aux);
    expect_density(json, "b_in_density_sha256", s->b_input_density, s->n_inputs);
    uint8_t expected[32], found[32];
    json_hex(json, "rows_sha256", expected, 32);
    assert_int_equal(cuzk_shape_fingerprint(s, with_input_constraints, found, NULL), CUZK_OK);
    assert_memory_equal(found, expected, 32);
}

void support_values_digest(uint8_t out[32], const cuzk_witness *w, uint32_t first, uint32_t n)
{
    static uint8_t values[4096][32];
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    for (uint32_t done = 0; done < n;) {
        uint32_t part = n - done < 4096 ? n - done : 4096;
        cuzk_witness_get_range(w, first + done, part, values);
        cuzk_sha256_update(&sha, values, (size_t)part * 32);
        done += part;
    }
    cuzk_sha256_final(&sha, out);
}

void support_change(const cuzk_shape *s, cuzk_witness *w, uint32_t var, bool back)
{
    if (!cuzk_bitmap_get(w->is_field, var)) {
        w->bits[var / 64] ^= (uint64_t)1 << (var % 64);
        return;
    }
    cuzk_fr value, one = {{1}};
    uint8_t *place = w->field[cuzk_witness_rank(w, var)];
    memcpy(&value, place, sizeof value);
    (back ? s->curve->fr_sub : s->curve->fr_add)(&value, &value, &one);
    memcpy(place, &value, sizeof value);
}

void support_expect_tight(const cuzk_shape *s, cuzk_witness *w, uint32_t n_samples)
{
    for (uint32_t i = 0; i < n_samples; i++) {
        uint32_t var = 1 + (uint32_t)((uint64_t)i * (s->n_vars - 1) / n_samples);
        support_change(s, w, var, false);
        cuzk_status status = cuzk_shape_check_witness(s, w, NULL, NULL, NULL);
        support_change(s, w, var, true);
        if (status != CUZK_E_UNSATISFIED) {
            fail_msg("variable %u of %u: a wrong value breaks no constraint", var, s->n_vars);
        }
    }
}

static void expect_values(const cuzk_shape *s, const char *json, uint64_t x, support_gadget gadget,
                          const void *ctx)
{
    cuzk_witness *w = support_new_witness(s);
    cuzk_error err = {0};
    cuzk_cs cs;
    cuzk_cs_witness_begin(&cs, w, 0, 1);
    gadget(&cs, x, ctx);
    cuzk_cs_witness_end(&cs);
    assert_int_equal(cs.var, s->n_vars);
    assert_ptr_equal(cs.field, w->field + w->n_field);
    if (cuzk_shape_check_witness(s, w, NULL, NULL, &err) != CUZK_OK) {
        fail_msg("X = %u: %s", (unsigned)x, err.text);
    }
    uint8_t expected[32], found[32];
    json_hex(json, "aux_sha256", expected, 32);
    support_values_digest(found, w, s->n_inputs, cuzk_shape_n_aux(s));
    assert_memory_equal(found, expected, 32);
    uint32_t n_aux = cuzk_shape_n_aux(s);
    support_expect_tight(s, w, x > 1 ? 0 : n_aux < 1000 ? n_aux : 9000000 / n_aux);
    cuzk_witness_destroy(w);
}

void support_expect_gadget(const char *name, support_gadget gadget, const void *ctx)
{
    cuzk_fixture f = cuzk_test_fixture("gadgets/gadgets.json");
    const char *json = json_field((const char *)f.data, name);
    cuzk_cs cs;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), NULL), CUZK_OK);
    gadget(&cs, 0, ctx);
    if (cuzk_cs_shape_finish(&cs, &s, &err) != CUZK_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    support_expect_shape(s, json, false);
    const char *witness = json_field(json, "witness");
    for (int i = 0; i < 3; i++) {
        /* the fields of a witness are sorted: its digest comes before its X */
        uint64_t x = json_u64(witness, "x");
        expect_values(s, witness, x, gadget, ctx);
        witness = strstr(witness, "\"x\":") + 4;
    }
    cuzk_shape_destroy(s);
    cuzk_test_fixture_free(&f);
}
