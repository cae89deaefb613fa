/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From what a builder has collected to a shape: handles become variable numbers, now that the
 * number of inputs is known; types and densities are found for the stored rows, then repeated in
 * the copies of each block. */
#include "base/bitmap.h"
#include "r1cs/eval.h"
#include "r1cs/shape_builder_impl.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of variables that part `i` of the builder adds in one copy. */
static uint64_t part_inputs(const cuzk_shape_builder *b, uint32_t i)
{
    uint64_t end = i + 1 < b->n_parts ? b->parts[i + 1].stored_input : b->input_type.n;
    return end - b->parts[i].stored_input;
}

static uint64_t part_aux(const cuzk_shape_builder *b, uint32_t i)
{
    uint64_t end = i + 1 < b->n_parts ? b->parts[i + 1].stored_aux : b->aux_type.n;
    return end - b->parts[i].stored_aux;
}

static uint64_t part_end_row(const cuzk_shape_builder *b, uint32_t i)
{
    return i + 1 < b->n_parts ? b->parts[i + 1].stored_row : b->n_stored_rows;
}

/* Whether rows of part i may name the variable of this kind and index. In a repeated part what is
 * not in front of it must be its own: it moves with the copies. */
static bool may_name(const cuzk_shape_builder *b, uint32_t i, bool aux, uint32_t index)
{
    const struct cuzk_builder_part *p = &b->parts[i];
    uint64_t end = aux ? b->n_aux : b->n_inputs;
    if (p->n_copies > 1) {
        end = aux ? p->first_aux + part_aux(b, i) : p->first_input + part_inputs(b, i);
    }
    return index < end;
}

/* Handles of part i in one matrix become variable numbers; false at one that it may not name. */
static bool resolve_part(cuzk_shape_builder *b, uint32_t i, int k, cuzk_error *err)
{
    struct cuzk_builder_matrix *m = &b->m[k];
    for (uint64_t row = b->parts[i].stored_row; row < part_end_row(b, i); row++) {
        for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
            uint32_t v = m->var.data[t];
            bool aux = (v & CUZK_AUX_FLAG) != 0;
            uint32_t index = v & ~CUZK_AUX_FLAG;
            if (!may_name(b, i, aux, index)) {
                (void)CUZK_FAIL(
                    err, CUZK_E_ARGUMENT,
                    "building a circuit: constraint %llu, side %c: %s variable %u of %llu",
                    (unsigned long long)(b->parts[i].first_row + row - b->parts[i].stored_row),
                    "ABC"[k], aux ? "aux" : "input", index,
                    (unsigned long long)(aux ? b->n_aux : b->n_inputs));
                return false;
            }
            m->var.data[t] = aux ? (uint32_t)(b->n_inputs + index) : index;
        }
    }
    return true;
}

static bool resolve(cuzk_shape_builder *b, cuzk_error *err)
{
    for (uint32_t i = 0; i < b->n_parts; i++) {
        for (int k = 0; k < 3; k++) {
            if (!resolve_part(b, i, k, err)) {
                return false;
            }
        }
    }
    return true;
}

/* Give back what a growing array has to spare; keeps the array when that fails. */
static void *shrink(void *data, uint64_t n, size_t size)
{
    void *p = realloc(data, (size_t)(n == 0 ? 1 : n) * size);
    return p == NULL ? data : p;
}

static void take_rows(cuzk_shape *s, cuzk_shape_builder *b)
{
    s->n_stored_rows = (uint32_t)b->n_stored_rows;
    for (int k = 0; k < 3; k++) {
        struct cuzk_builder_matrix *m = &b->m[k];
        s->rows[k].begin = shrink(m->begin, b->n_stored_rows + 1, sizeof *m->begin);
        s->rows[k].var = shrink(m->var.data, m->var.n, sizeof *m->var.data);
        s->rows[k].code = shrink(m->code.data, m->code.n, sizeof *m->code.data);
        memset(m, 0, sizeof *m);
    }
    s->n_coefs = b->n_coefs;
    s->coefs = shrink(b->coefs, b->n_coefs, sizeof *b->coefs);
    b->coefs = NULL;
}

static void fill_blocks(cuzk_shape *s, const cuzk_shape_builder *b)
{
    for (uint32_t i = 0; i < b->n_parts; i++) {
        const struct cuzk_builder_part *p = &b->parts[i];
        s->blocks[s->n_blocks++] =
            (cuzk_shape_block){.first_row = (uint32_t)p->first_row,
                               .stored_row = (uint32_t)p->stored_row,
                               .n_rows = (uint32_t)(part_end_row(b, i) - p->stored_row),
                               .n_copies = (uint32_t)p->n_copies,
                               .first_input = (uint32_t)p->first_input,
                               .input_stride = (uint32_t)part_inputs(b, i),
                               .first_aux = (uint32_t)(b->n_inputs + p->first_aux),
                               .aux_stride = (uint32_t)part_aux(b, i)};
        if (p->n_choice > 0) {
            cuzk_shape_block *block = &s->blocks[s->n_blocks - 1];
            block->n_choice = p->n_choice;
            block->first_of_choices = (uint32_t)p->first_of_choices;
            block->first_choice = s->n_inputs + b->choices.data[p->first_of_choices];
        }
    }
    s->n_choices = (uint32_t)b->choices.n;
    for (uint32_t i = 0; i < s->n_choices; i++) {
        s->choices[i] = s->n_inputs + b->choices.data[i];
    }
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

static uint64_t *new_bitmap(size_t n)
{
    return calloc(cuzk_bitmap_words(n) + 1, sizeof(uint64_t));
}

/* Repeat the n bits that start at `first` until there are n_copies of them. */
static void repeat_bits(uint64_t *map, size_t first, size_t n, size_t n_copies)
{
    size_t end = first + n * n_copies;
    for (size_t i = first + n; i < end;) {
        size_t from = i - n, left = end - i, step = 64 - i % 64;
        step = step < left ? step : left;
        step = step < n ? step : n; /* bits that are not there yet are not read */
        uint64_t bits = map[from / 64] >> (from % 64);
        if (from % 64 != 0) {
            bits |= map[from / 64 + 1] << (64 - from % 64);
        }
        bits &= step == 64 ? UINT64_MAX : ((uint64_t)1 << step) - 1;
        map[i / 64] |= bits << (i % 64);
        i += step;
    }
}

/* Repeat in every block what a map of variables, starting at variable `base`, says of copy 0. */
static void repeat_blocks(const cuzk_shape *s, uint64_t *map, uint32_t base)
{
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        if (base == 0) {
            repeat_bits(map, b->first_input, b->input_stride, b->n_copies);
        }
        repeat_bits(map, b->first_aux - base, b->aux_stride, b->n_copies);
    }
}

/* What a density says of the variables that copy 0 chooses holds for those of the other copies. */
static void repeat_choices(const cuzk_shape *s, uint64_t *aux_density)
{
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        for (uint32_t k = 1; b->n_choice > 0 && k < b->n_copies; k++) {
            uint32_t to = s->choices[b->first_of_choices + k] - s->n_inputs;
            for (uint32_t j = 0; j < b->n_choice; j++) {
                if (cuzk_bitmap_get(aux_density, b->first_choice - s->n_inputs + j)) {
                    cuzk_bitmap_set(aux_density, to + j);
                }
            }
        }
    }
}

static void set_type(cuzk_shape *s, uint32_t var, uint32_t type)
{
    if (type == CUZK_VAR_BIT) {
        cuzk_bitmap_set(s->is_bit, var);
    } else if (type == CUZK_VAR_FIELD) {
        cuzk_bitmap_set(s->is_field, var);
    }
}

static void fill_types(cuzk_shape *s, const cuzk_shape_builder *b)
{
    for (uint32_t i = 0; i < b->n_parts; i++) {
        const struct cuzk_builder_part *p = &b->parts[i];
        for (uint32_t k = 0; k < part_inputs(b, i); k++) {
            set_type(s, (uint32_t)p->first_input + k, b->input_type.data[p->stored_input + k]);
        }
        for (uint32_t k = 0; k < part_aux(b, i); k++) {
            set_type(s, s->n_inputs + (uint32_t)p->first_aux + k,
                     b->aux_type.data[p->stored_aux + k]);
        }
    }
    cuzk_shape_mark_bits(s);
    repeat_blocks(s, s->is_bit, 0);
    repeat_blocks(s, s->is_field, 0);
}

static void fill_densities(cuzk_shape *s)
{
    for (int k = CUZK_MATRIX_A; k <= CUZK_MATRIX_B; k++) {
        const cuzk_rows *rows = &s->rows[k];
        uint64_t *aux = k == CUZK_MATRIX_A ? s->a_aux_density : s->b_aux_density;
        for (uint64_t i = 0; i < rows->begin[s->n_stored_rows]; i++) {
            uint32_t v = rows->var[i];
            if (v >= s->n_inputs) {
                cuzk_bitmap_set(aux, v - s->n_inputs);
            } else if (k == CUZK_MATRIX_B) {
                cuzk_bitmap_set(s->b_input_density, v);
            }
        }
        repeat_blocks(s, aux, s->n_inputs);
        repeat_choices(s, aux);
    }
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        repeat_bits(s->b_input_density, b->first_input, b->input_stride, b->n_copies);
    }
    size_t n_aux = cuzk_shape_n_aux(s);
    s->n_a_aux = (uint32_t)cuzk_bitmap_count(s->a_aux_density, n_aux);
    s->n_b_aux = (uint32_t)cuzk_bitmap_count(s->b_aux_density, n_aux);
    s->n_b_input = (uint32_t)cuzk_bitmap_count(s->b_input_density, s->n_inputs);
}

/* ---- the shape ------------------------------------------------------------------------------- */

/* The parts of a shape that are not taken over from the builder. */
static bool allocate(cuzk_shape *s, uint32_t n_parts, uint64_t n_choices)
{
    size_t n_aux = cuzk_shape_n_aux(s);
    s->blocks = calloc(n_parts, sizeof *s->blocks);
    s->choices = calloc(n_choices + 1, sizeof *s->choices);
    s->coefs_r2 = malloc(s->n_coefs * sizeof *s->coefs_r2);
    s->is_bit = new_bitmap(s->n_vars);
    s->is_field = new_bitmap(s->n_vars);
    s->b_input_density = new_bitmap(s->n_inputs);
    s->a_aux_density = new_bitmap(n_aux);
    s->b_aux_density = new_bitmap(n_aux);
    return s->blocks != NULL && s->choices != NULL && s->coefs_r2 != NULL && s->is_bit != NULL &&
           s->is_field != NULL && s->b_input_density != NULL && s->a_aux_density != NULL &&
           s->b_aux_density != NULL;
}

cuzk_status cuzk_shape_builder_finish(cuzk_shape_builder *b, cuzk_shape **out, cuzk_error *err)
{
    cuzk_shape *s = NULL;
    cuzk_status status = b->status;
    if (status != CUZK_OK) {
        (void)CUZK_FAIL(err, status, "building a circuit: %s: %s", b->what,
                        status == CUZK_E_MEMORY     ? "out of memory"
                        : status == CUZK_E_ARGUMENT ? "not in front of the part"
                                                    : "too many");
        goto out;
    }
    if (b->n_inputs + b->n_aux > UINT32_MAX) {
        status = CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                           "building a circuit: %llu variables, at most 2^32 - 1 are supported",
                           (unsigned long long)(b->n_inputs + b->n_aux));
        goto out;
    }
    if (!resolve(b, err)) {
        status = CUZK_E_ARGUMENT;
        goto out;
    }
    s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->curve = b->curve;
        s->n_inputs = (uint32_t)b->n_inputs;
        s->n_vars = (uint32_t)(b->n_inputs + b->n_aux);
        s->n_constraints = (uint32_t)b->n_constraints;
        take_rows(s, b);
    }
    if (s == NULL || !allocate(s, b->n_parts, b->choices.n)) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "building a circuit: out of memory");
        goto out;
    }
    /* The Montgomery form of a value's Montgomery form read as a plain value. */
    s->curve->fr_batch_from_canonical(s->coefs_r2, s->coefs, s->n_coefs);
    fill_blocks(s, b);
    fill_types(s, b);
    fill_densities(s);
    CUZK_TRY_OUT(status, cuzk_eval_prepare(s, err));
    *out = s;
    s = NULL;
out:
    cuzk_shape_destroy(s);
    cuzk_shape_builder_destroy(b);
    return status;
}
