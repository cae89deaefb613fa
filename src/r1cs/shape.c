/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What can be said of a finished shape: its fingerprint and which variables are bits. */
#include "r1cs/shape.h"

#include "base/bitmap.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE_ROWS = 1 << 20 }; /* between two reports */

static void free_arrays(cuzk_shape *s)
{
    for (int k = 0; k < 3; k++) {
        free(s->rows[k].begin);
        free(s->rows[k].var);
        free(s->rows[k].code);
    }
    free(s->blocks);
    free(s->choices);
    free(s->coefs);
    free(s->coefs_r2);
    free(s->is_bit);
    free(s->is_field);
    free(s->b_input_density);
    free(s->a_aux_density);
    free(s->b_aux_density);
}

uint64_t cuzk_shape_bytes(const cuzk_shape *s)
{
    uint64_t bytes = sizeof *s + s->n_blocks * sizeof *s->blocks +
                     s->n_choices * sizeof *s->choices +
                     s->n_coefs * (3 * sizeof *s->coefs + sizeof *s->coefs_small);
    for (int k = 0; k < 3; k++) {
        uint64_t n_terms = s->rows[k].begin[s->n_stored_rows];
        bytes += (s->n_stored_rows + (uint64_t)1) * sizeof *s->rows[k].begin +
                 n_terms * (sizeof *s->rows[k].var + sizeof *s->rows[k].code) +
                 8 * cuzk_bitmap_words(s->n_stored_rows);
    }
    return bytes + 16 * cuzk_bitmap_words(s->n_vars) + 8 * cuzk_bitmap_words(s->n_inputs) +
           16 * cuzk_bitmap_words(cuzk_shape_n_aux(s));
}

void cuzk_shape_destroy(cuzk_shape *s)
{
    if (s == NULL) {
        return;
    }
    free(s->coefs_plain);
    free(s->coefs_small);
    for (int k = 0; k < 3; k++) {
        free(s->small_rows[k]);
    }
    if (s->is_view) {
        cuzk_map_file_close(&s->map);
    } else {
        free_arrays(s);
    }
    free(s);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* The block that a constraint is in: the last that begins at it or before it. Empty blocks begin
 * where the next one does. */
static const cuzk_shape_block *block_of(const cuzk_shape *s, uint32_t row)
{
    uint32_t low = 0, high = s->n_blocks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->blocks[middle].first_row <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &s->blocks[low];
}

cuzk_row_run cuzk_shape_run(const cuzk_shape *s, uint32_t row, uint32_t end)
{
    const cuzk_shape_block *b = block_of(s, row);
    uint32_t copy = (row - b->first_row) / b->n_rows;
    uint32_t within = row - b->first_row - copy * b->n_rows;
    uint32_t n = b->n_rows - within;
    uint32_t choice = b->n_choice == 0 ? 0 : s->choices[b->first_of_choices + copy];
    return (cuzk_row_run){.stored_row = b->stored_row + within,
                          .n = n < end - row ? n : end - row,
                          .first_input = b->first_input,
                          .end_input = s->n_inputs,
                          .first_aux = b->first_aux,
                          .add_input = copy * b->input_stride,
                          .add_aux = copy * b->aux_stride,
                          .first_choice = b->first_choice,
                          .n_choice = b->n_choice,
                          .add_choice = choice - b->first_choice};
}

uint64_t cuzk_shape_n_terms(const cuzk_shape *s, cuzk_matrix matrix)
{
    const uint64_t *begin = s->rows[matrix].begin;
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        n += b->n_copies * (begin[b->stored_row + b->n_rows] - begin[b->stored_row]);
    }
    return n;
}

/* ---- fingerprint ----------------------------------------------------------------------------- */

struct key_code {
    uint32_t key, code;
};

static int by_key(const void *x, const void *y)
{
    uint32_t a = ((const struct key_code *)x)->key, b = ((const struct key_code *)y)->key;
    return a < b ? -1 : a > b;
}

struct row_writer {
    const cuzk_shape *shape;
    const uint8_t *values; /* the dictionary in canonical form, 32 bytes each */
    struct key_code *row;  /* room for the longest row */
    uint8_t *bytes;        /* the same row as it is digested */
    cuzk_sha256 sha;
};

/* Longest row of the three matrices; at least 1, the length of an input constraint. */
static uint64_t longest_row(const cuzk_shape *s)
{
    uint64_t longest = 1;
    for (int k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < s->n_stored_rows; i++) {
            uint64_t n = s->rows[k].begin[i + 1] - s->rows[k].begin[i];
            longest = n > longest ? n : longest;
        }
    }
    return longest;
}

static void digest_row(struct row_writer *w, const cuzk_rows *rows, const cuzk_row_run *run,
                       uint64_t row)
{
    const cuzk_shape *s = w->shape;
    uint64_t begin = rows->begin[row], n = rows->begin[row + 1] - begin;
    bool sorted = true;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t v = cuzk_row_run_var(run, rows->var[begin + i]);
        /* inputs sort before aux variables in both numberings */
        w->row[i].key = v < s->n_inputs ? v : 0x80000000u | (v - s->n_inputs);
        w->row[i].code = rows->code[begin + i];
        sorted = sorted && (i == 0 || w->row[i - 1].key < w->row[i].key);
    }
    if (!sorted) {
        qsort(w->row, (size_t)n, sizeof *w->row, by_key);
    }
    cuzk_store_u32_le(w->bytes, (uint32_t)n);
    for (uint64_t i = 0; i < n; i++) {
        uint8_t *p = w->bytes + 4 + 36 * i;
        cuzk_store_u32_le(p, w->row[i].key);
        memcpy(p + 4, w->values + 32 * (size_t)w->row[i].code, 32);
    }
    cuzk_sha256_update(&w->sha, w->bytes, (size_t)(4 + 36 * n));
}

static void digest_input_constraint(struct row_writer *w, uint32_t input)
{
    memset(w->bytes, 0, 48);
    w->bytes[0] = 1;
    cuzk_store_u32_le(w->bytes + 4, input);
    w->bytes[8] = 1;
    cuzk_sha256_update(&w->sha, w->bytes, 48); /* A's one term, then two empty sides */
}

/* All constraints but the trailing ones. */
static cuzk_status digest_rows(struct row_writer *w, const cuzk_reporter *reporter, cuzk_error *err)
{
    const cuzk_shape *s = w->shape;
    for (uint32_t row = 0; row < s->n_constraints;) {
        uint32_t left = s->n_constraints - row;
        cuzk_row_run run = cuzk_shape_run(s, row, row + (left < SLICE_ROWS ? left : SLICE_ROWS));
        CUZK_TRY(cuzk_report_progress(reporter, "fingerprint", row, s->n_constraints, err));
        for (uint32_t i = 0; i < run.n; i++) {
            for (int k = 0; k < 3; k++) {
                digest_row(w, &s->rows[k], &run, run.stored_row + i);
            }
        }
        row += run.n;
    }
    return CUZK_OK;
}

cuzk_status cuzk_shape_fingerprint(const cuzk_shape *s, bool with_input_constraints,
                                   uint8_t out[CUZK_SHA256_BYTES], cuzk_error *err)
{
    return cuzk_shape_fingerprint_reported(s, with_input_constraints, out, NULL, err);
}

cuzk_status cuzk_shape_fingerprint_reported(const cuzk_shape *s, bool with_input_constraints,
                                            uint8_t out[CUZK_SHA256_BYTES],
                                            const cuzk_reporter *reporter, cuzk_error *err)
{
    CUZK_FAIL_IF(
        (s->n_inputs | cuzk_shape_n_aux(s)) >> 31 != 0, err, CUZK_E_UNSUPPORTED,
        "fingerprint of a circuit with %u inputs and %u aux variables: at most 2^31 - 1 of "
        "each have a key",
        s->n_inputs, cuzk_shape_n_aux(s));
    uint64_t longest = longest_row(s);
    uint8_t *values = malloc(32 * (size_t)s->n_coefs);
    struct row_writer w = {.shape = s, .values = values};
    w.row = malloc((size_t)longest * sizeof *w.row);
    w.bytes = malloc((size_t)(longest * 36 + 48));
    cuzk_status status = CUZK_OK;
    if (values == NULL || w.row == NULL || w.bytes == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "fingerprint of a circuit: out of memory");
        goto out;
    }
    s->curve->fr_batch_to_canonical(values, s->coefs, s->n_coefs);
    cuzk_sha256_init(&w.sha);
    CUZK_TRY_OUT(status, digest_rows(&w, reporter, err));
    for (uint32_t i = 0; with_input_constraints && i < s->n_inputs; i++) {
        digest_input_constraint(&w, i);
    }
    cuzk_sha256_final(&w.sha, out);
out:
    free(values);
    free(w.row);
    free(w.bytes);
    return status;
}

/* ---- boolean variables ----------------------------------------------------------------------- */

/* Whether a row of one matrix is k·x with k ≠ 0. */
static bool is_multiple_of(const cuzk_rows *m, uint64_t row, uint32_t x)
{
    return m->begin[row + 1] - m->begin[row] == 1 && m->var[m->begin[row]] == x;
}

/* Whether a row of one matrix is k·(x - 1) with k ≠ 0; sets x. */
static bool is_x_minus_one(const cuzk_shape *s, const cuzk_rows *m, uint64_t row, uint32_t *x)
{
    uint64_t t = m->begin[row];
    if (m->begin[row + 1] - t != 2 || (m->var[t] == 0) == (m->var[t + 1] == 0)) {
        return false;
    }
    cuzk_fr sum;
    s->curve->fr_add(&sum, &s->coefs[m->code[t]], &s->coefs[m->code[t + 1]]);
    *x = m->var[t] == 0 ? m->var[t + 1] : m->var[t];
    return (sum.l[0] | sum.l[1] | sum.l[2] | sum.l[3]) == 0;
}

/* Whether row i says x·(x - 1) = 0; sets x. */
static bool is_boolean_product(const cuzk_shape *s, uint64_t i, uint32_t *x)
{
    const cuzk_rows *a = &s->rows[CUZK_MATRIX_A], *b = &s->rows[CUZK_MATRIX_B];
    const cuzk_rows *c = &s->rows[CUZK_MATRIX_C];
    return c->begin[i] == c->begin[i + 1] &&
           ((is_x_minus_one(s, a, i, x) && is_multiple_of(b, i, *x)) ||
            (is_x_minus_one(s, b, i, x) && is_multiple_of(a, i, *x)));
}

/* Whether row i says k·x · l·x = k·l·x; sets x. */
static bool is_idempotent(const cuzk_shape *s, uint64_t i, uint32_t *x)
{
    const cuzk_rows *a = &s->rows[CUZK_MATRIX_A], *b = &s->rows[CUZK_MATRIX_B];
    const cuzk_rows *c = &s->rows[CUZK_MATRIX_C];
    if (a->begin[i] == a->begin[i + 1]) {
        return false;
    }
    *x = a->var[a->begin[i]];
    if (!is_multiple_of(a, i, *x) || !is_multiple_of(b, i, *x) || !is_multiple_of(c, i, *x)) {
        return false;
    }
    cuzk_fr product;
    s->curve->fr_mul(&product, &s->coefs[a->code[a->begin[i]]], &s->coefs[b->code[b->begin[i]]]);
    return memcmp(&product, &s->coefs[c->code[c->begin[i]]], sizeof product) == 0;
}

void cuzk_shape_mark_bits(cuzk_shape *s)
{
    for (uint64_t i = 0; i < s->n_stored_rows; i++) {
        uint32_t x;
        if ((is_boolean_product(s, i, &x) || is_idempotent(s, i, &x)) &&
            !cuzk_bitmap_get(s->is_field, x)) {
            cuzk_bitmap_set(s->is_bit, x);
        }
    }
}
