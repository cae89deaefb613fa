/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What occurs more than once in a circuit: stretches whose rows are written again with other
 * variables, and parts that are stored once for all their copies. */
#include "r1cs/shape_builder_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- stretches: rows written again ----------------------------------------------------------- */

uint64_t cuzk_shape_n_stored_rows(const cuzk_shape_builder *b)
{
    return b->n_stored_rows;
}

/* Place of an aux variable's type. */
static uint64_t stored_aux(const cuzk_shape_builder *b, uint64_t index)
{
    uint32_t i = b->n_parts - 1;
    while (i > 0 && b->parts[i].first_aux > index) {
        i--;
    }
    return b->parts[i].stored_aux + (index - b->parts[i].first_aux);
}

static uint32_t replaced(const cuzk_shape_stretch *s, const cuzk_var *given, uint32_t var)
{
    for (uint32_t i = 0; i < s->n_given; i++) {
        if (s->given[i] == var) {
            return given[i];
        }
    }
    return var;
}

static void repeat_rows(cuzk_shape_builder *b, struct cuzk_builder_matrix *m,
                        const cuzk_shape_stretch *s, const cuzk_var *given, uint32_t moved)
{
    uint64_t from = m->begin[s->first_row], n = m->begin[s->first_row + s->n_rows] - from;
    if (!cuzk_builder_reserve(b, &m->var, n, "terms") ||
        !cuzk_builder_reserve(b, &m->code, n, "terms")) {
        return;
    }
    uint64_t by = m->var.n - from;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t v = m->var.data[from + i];
        m->var.data[m->var.n + i] = v - s->first_own < s->n_own ? v + moved : replaced(s, given, v);
        m->code.data[m->code.n + i] = m->code.data[from + i];
    }
    for (uint64_t i = 1; i <= s->n_rows; i++) {
        m->begin[b->n_stored_rows + i] = m->begin[s->first_row + i] + by;
    }
    m->var.n += n;
    m->code.n += n;
}

cuzk_var cuzk_shape_repeat(cuzk_shape_builder *b, const cuzk_shape_stretch *s,
                           const cuzk_var *given)
{
    uint32_t own = (uint32_t)(CUZK_AUX_FLAG + b->n_aux);
    if (b->status != CUZK_OK || !cuzk_builder_reserve_rows(b, s->n_rows) ||
        !cuzk_builder_reserve(b, &b->aux_type, s->n_own, "aux variables")) {
        return CUZK_VAR_ONE;
    }
    if (b->n_aux + s->n_own > CUZK_AUX_FLAG) {
        cuzk_builder_failed(b, CUZK_E_UNSUPPORTED, "aux variables");
        return CUZK_VAR_ONE;
    }
    if (s->n_own != 0) { /* else there may be no types yet */
        memcpy(b->aux_type.data + b->aux_type.n,
               b->aux_type.data + stored_aux(b, s->first_own & ~CUZK_AUX_FLAG),
               s->n_own * sizeof *b->aux_type.data);
    }
    b->aux_type.n += s->n_own;
    b->n_aux += s->n_own;
    for (int k = 0; k < 3; k++) {
        repeat_rows(b, &b->m[k], s, given, own - s->first_own);
    }
    b->n_stored_rows += s->n_rows;
    b->n_constraints += s->n_rows;
    return own;
}

/* ---- copies: stored once --------------------------------------------------------------------- */

/* Whether the part collected last is still empty. */
static bool part_is_empty(const cuzk_shape_builder *b, const struct cuzk_builder_part *p)
{
    return p->stored_row == b->n_stored_rows && p->stored_input == b->input_type.n &&
           p->stored_aux == b->aux_type.n;
}

static void begin_part(cuzk_shape_builder *b, uint32_t n_copies)
{
    if (b->n_parts > 0 && part_is_empty(b, &b->parts[b->n_parts - 1])) {
        b->n_parts--;
    }
    struct cuzk_builder_part *parts = realloc(b->parts, (b->n_parts + 1) * sizeof *parts);
    if (parts == NULL) {
        cuzk_builder_failed(b, CUZK_E_MEMORY, "copies of a part");
        return;
    }
    b->parts = parts;
    b->parts[b->n_parts++] = (struct cuzk_builder_part){.n_copies = n_copies,
                                                        .first_row = b->n_constraints,
                                                        .first_input = b->n_inputs,
                                                        .first_aux = b->n_aux,
                                                        .stored_row = b->n_stored_rows,
                                                        .stored_input = b->input_type.n,
                                                        .stored_aux = b->aux_type.n};
}

void cuzk_shape_begin_copies(cuzk_shape_builder *b, uint32_t n_copies)
{
    if (b->status == CUZK_OK) {
        begin_part(b, n_copies);
    }
}

void cuzk_shape_choose(cuzk_shape_builder *b, const cuzk_var *first, uint32_t n)
{
    if (b->status != CUZK_OK) { /* there may be no part, then */
        return;
    }
    struct cuzk_builder_part *p = &b->parts[b->n_parts - 1];
    if (!cuzk_builder_reserve(b, &b->choices, p->n_copies, "copies of a part")) {
        return;
    }
    p->n_choice = n;
    p->first_of_choices = b->choices.n;
    for (uint64_t k = 0; k < p->n_copies; k++) {
        uint64_t index = first[k] & ~CUZK_AUX_FLAG;
        if ((first[k] & CUZK_AUX_FLAG) == 0 || index + n > p->first_aux) {
            cuzk_builder_failed(b, CUZK_E_ARGUMENT, "variables chosen per copy");
            return;
        }
        b->choices.data[b->choices.n++] = (uint32_t)index;
    }
}

/* Count the copies of what one part has added since its count was `first`. */
static void count_copies(cuzk_shape_builder *b, uint64_t *n, uint64_t first, uint64_t n_copies,
                         uint64_t limit, const char *what)
{
    uint64_t one = *n - first;
    if (one != 0 && n_copies > (limit - first) / one) {
        cuzk_builder_failed(b, CUZK_E_UNSUPPORTED, what);
    } else {
        *n = first + one * n_copies;
    }
}

void cuzk_shape_end_copies(cuzk_shape_builder *b)
{
    if (b->status != CUZK_OK) {
        return;
    }
    const struct cuzk_builder_part p = b->parts[b->n_parts - 1];
    count_copies(b, &b->n_inputs, p.first_input, p.n_copies, CUZK_AUX_FLAG, "inputs");
    count_copies(b, &b->n_aux, p.first_aux, p.n_copies, CUZK_AUX_FLAG, "aux variables");
    count_copies(b, &b->n_constraints, p.first_row, p.n_copies, UINT32_MAX, "constraints");
    begin_part(b, 1);
}
