/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/cs.h"

#include <stdlib.h>
#include <string.h>

/* ---- shape mode ------------------------------------------------------------------------------ */

static void fill_coefs(cuzk_cs_coefs *c, const cuzk_curve *curve)
{
    c->one = c->pow2[0] = curve->fr_one;
    for (int i = 1; i < CUZK_CS_POWERS; i++) {
        curve->fr_add(&c->pow2[i], &c->pow2[i - 1], &c->pow2[i - 1]);
    }
    for (int i = 0; i < CUZK_CS_POWERS; i++) {
        curve->fr_neg(&c->minus_pow2[i], &c->pow2[i]);
    }
    c->minus_one = c->minus_pow2[0];
}

cuzk_status cuzk_cs_shape_init(cuzk_cs *cs, const cuzk_curve *curve, cuzk_error *err)
{
    *cs = (cuzk_cs){.curve = curve};
    cs->coefs = calloc(1, sizeof *cs->coefs);
    CUZK_FAIL_IF(cs->coefs == NULL, err, CUZK_E_MEMORY, "building a circuit: out of memory");
    fill_coefs(cs->coefs, curve);
    return cuzk_shape_builder_create(&cs->builder, curve, err);
}

cuzk_status cuzk_cs_shape_finish(cuzk_cs *cs, cuzk_shape **out, cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    if (out != NULL) {
        status = cuzk_shape_builder_finish(cs->builder, out, err);
    } else {
        cuzk_shape_builder_destroy(cs->builder);
    }
    free(cs->coefs);
    *cs = (cuzk_cs){0};
    return status;
}

/* ---- witness mode ---------------------------------------------------------------------------- */

void cuzk_cs_witness_begin(cuzk_cs *cs, cuzk_witness *witness, uint32_t aux, uint32_t input)
{
    uint32_t var = witness->n_inputs + aux;
    uint32_t at = var < witness->n_vars ? var : witness->n_vars - 1;
    uint32_t rank = cuzk_witness_rank(witness, at);
    *cs = (cuzk_cs){.curve = witness->curve,
                    .witness = witness,
                    .var = var,
                    .first_word = var / 64,
                    .field = witness->field + rank,
                    .n_left = witness->n_field - rank,
                    .input = input};
}

/* The first and the last word of a cursor's range may hold bits of its neighbours, which other
 * threads write; relaxed, since readers wait for the threads to end. */
static void or_word(uint64_t *word, uint64_t bits)
{
    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

/* Whether the witness has the word that the cursor stands in. */
static bool has_word(const cuzk_cs *cs)
{
    return cs->var / 64 < cuzk_bitmap_words(cs->witness->n_vars);
}

void cuzk_cs_flush_word(cuzk_cs *cs)
{
    uint64_t *word = &cs->witness->bits[cs->var / 64];
    if (!has_word(cs)) {
        return;
    }
    if (cs->var / 64 == cs->first_word) {
        or_word(word, cs->word);
    } else {
        *word = cs->word;
    }
}

void cuzk_cs_witness_end(cuzk_cs *cs)
{
    if (cs->word != 0 && has_word(cs)) {
        or_word(&cs->witness->bits[cs->var / 64], cs->word);
        cs->word = 0;
    }
    cs->first_word = cs->var / 64;
}

uint8_t (*cuzk_cs_no_room(void))[32]
{
    static _Thread_local uint8_t values[CUZK_CS_FIELDS][32];
    return values;
}

cuzk_cs cuzk_cs_split(cuzk_cs *cs, uint32_t n_aux, uint32_t n_inputs)
{
    if (cuzk_cs_is_shape(cs)) {
        return *cs;
    }
    cuzk_cs own;
    uint32_t aux = cs->var - cs->witness->n_inputs, input = cs->input;
    cuzk_cs_witness_end(cs);
    cuzk_cs_witness_begin(&own, cs->witness, aux, input);
    cuzk_cs_witness_begin(cs, cs->witness, aux + n_aux, input + n_inputs);
    return own;
}

/* ---- both modes ------------------------------------------------------------------------------ */

cuzk_num cuzk_cs_alloc_num(cuzk_cs *cs, const uint8_t value[32])
{
    cuzk_num x = {0};
    if (cuzk_cs_is_shape(cs)) {
        x.var = cuzk_cs_alloc(cs, CUZK_VAR_FIELD);
    } else {
        memcpy(x.value, value, sizeof x.value);
        memcpy(cuzk_cs_take_fields(cs, 1), value, sizeof x.value);
    }
    return x;
}

cuzk_var cuzk_cs_alloc_input(cuzk_cs *cs, const uint8_t value[32])
{
    if (cuzk_cs_is_shape(cs)) {
        return cuzk_shape_add_input(cs->builder, CUZK_VAR_FIELD);
    }
    /* every input but ONE is a field variable and there is nothing before them */
    if (cs->input < cs->witness->n_inputs) {
        memcpy(cs->witness->field[cs->input - 1], value, 32);
    }
    cs->input++;
    return 0;
}

void cuzk_cs_inputize(cuzk_cs *cs, const cuzk_num *x)
{
    cuzk_num input = {.var = cuzk_cs_alloc_input(cs, x->value)};
    cuzk_cs_equal(cs, &input, x);
}

void cuzk_cs_equal(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y)
{
    if (cuzk_cs_is_shape(cs)) {
        cuzk_cs_plus(cs, CUZK_MATRIX_A, x->var);
        cuzk_cs_plus(cs, CUZK_MATRIX_B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, CUZK_MATRIX_C, y->var);
        cuzk_cs_end_constraint(cs);
    }
}
