/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A circuit from the bytes of a file. What the rest of the program takes for granted of a circuit
 * is checked here, in one pass whose loops have no branch per term: half a gigabyte takes 0.1 s. */
#include "base/bitmap.h"
#include "formats/shape_file.h"
#include "r1cs/eval.h"
#include "r1cs/shape_store.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_ROWS = 16384, COEF_BATCH = 64 };

_Static_assert(sizeof(cuzk_shape_block) == 44, "blocks are stored as they are in memory");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are used as they are stored");

/* The arrays of a shape are written to while it is built only. */
static void *array(const cuzk_shape_file *f, int which)
{
    return (void *)(uintptr_t)f->arrays[which].data;
}

static void take_arrays(cuzk_shape *s, const cuzk_shape_file *f)
{
    const cuzk_shape_header *h = &f->header;
    s->curve = h->curve;
    s->n_inputs = h->n_inputs;
    s->n_vars = h->n_vars;
    s->n_constraints = h->n_constraints;
    s->n_blocks = h->n_blocks;
    s->n_stored_rows = h->n_stored_rows;
    s->n_coefs = h->n_coefs;
    s->n_b_input = h->n_b_input;
    s->n_a_aux = h->n_a_aux;
    s->n_b_aux = h->n_b_aux;
    s->n_choices = h->n_choices;
    s->choices = array(f, CUZK_SHAPE_CHOICES);
    s->blocks = array(f, CUZK_SHAPE_BLOCKS);
    s->coefs = array(f, CUZK_SHAPE_COEFS);
    s->coefs_r2 = array(f, CUZK_SHAPE_COEFS_R2);
    for (int k = 0; k < 3; k++) {
        s->rows[k].begin = array(f, CUZK_SHAPE_BEGIN + k);
        s->rows[k].var = array(f, CUZK_SHAPE_VAR + k);
        s->rows[k].code = array(f, CUZK_SHAPE_CODE + k);
    }
    s->is_bit = array(f, CUZK_SHAPE_IS_BIT);
    s->is_field = array(f, CUZK_SHAPE_IS_FIELD);
    s->b_input_density = array(f, CUZK_SHAPE_B_INPUT_DENSITY);
    s->a_aux_density = array(f, CUZK_SHAPE_A_AUX_DENSITY);
    s->b_aux_density = array(f, CUZK_SHAPE_B_AUX_DENSITY);
}

/* ---- blocks and coefficients ----------------------------------------------------------------- */

/* Blocks follow one another without gaps, and their copies make up the circuit. Products of 32-bit
 * counts and sums that are compared at once stay in 64 bits. */
static cuzk_status check_blocks(const cuzk_shape *s, cuzk_error *err)
{
    uint64_t row = 0, stored = 0, input = 0, aux = s->n_inputs;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        bool follows = b->first_row == row && b->stored_row == stored && b->first_input == input &&
                       b->first_aux == aux && b->n_copies > 0;
        row += (uint64_t)b->n_rows * b->n_copies;
        stored += b->n_rows;
        input += (uint64_t)b->input_stride * b->n_copies;
        aux += (uint64_t)b->aux_stride * b->n_copies;
        CUZK_FAIL_IF(!follows || row > s->n_constraints || stored > s->n_stored_rows ||
                         input > s->n_inputs || aux > s->n_vars,
                     err, CUZK_E_FORMAT,
                     "compiled circuit: block %" PRIu32 " of %" PRIu32
                     " does not begin where the one before it ends, or ends beyond the circuit",
                     i, s->n_blocks);
    }
    CUZK_FAIL_IF(row != s->n_constraints || stored != s->n_stored_rows || input != s->n_inputs ||
                     aux != s->n_vars,
                 err, CUZK_E_FORMAT,
                 "compiled circuit: its blocks have %" PRIu64 " constraints and %" PRIu64
                 " variables, the header says %" PRIu32 " and %" PRIu32,
                 row, aux, s->n_constraints, s->n_vars);
    return CUZK_OK;
}

/* The variables that the copies of a block choose are aux variables in front of it. */
static bool choices_are_good(const cuzk_shape *s, const cuzk_shape_block *b)
{
    if (b->n_choice == 0) {
        return true;
    }
    uint64_t end = (uint64_t)b->first_of_choices + b->n_copies;
    if (end > s->n_choices || s->choices[b->first_of_choices] != b->first_choice ||
        b->n_choice > b->first_aux - s->n_inputs) {
        return false;
    }
    uint32_t last = b->first_aux - b->n_choice, bad = 0;
    for (uint64_t i = b->first_of_choices; i < end; i++) {
        bad |= (uint32_t)(s->choices[i] < s->n_inputs) | (uint32_t)(s->choices[i] > last);
    }
    return bad == 0;
}

/* No two blocks share choices, so this takes no longer than the file is. */
static cuzk_status check_choices(const cuzk_shape *s, cuzk_error *err)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        CUZK_FAIL_IF(b->n_choice > 0 && (b->first_of_choices != used || !choices_are_good(s, b)),
                     err, CUZK_E_FORMAT,
                     "compiled circuit: block %" PRIu32 " of %" PRIu32
                     ": the variables that its copies choose are not in front of it, or not there",
                     i, s->n_blocks);
        used += b->n_choice > 0 ? b->n_copies : 0;
    }
    CUZK_FAIL_IF(used != s->n_choices, err, CUZK_E_FORMAT,
                 "compiled circuit: its blocks make %" PRIu64 " choices, the header says %" PRIu32,
                 used, s->n_choices);
    return CUZK_OK;
}

static bool is_below(const cuzk_fr *a, const uint64_t *r)
{
    for (int i = 3; i > 0; i--) {
        if (a->l[i] != r[i]) {
            return a->l[i] < r[i];
        }
    }
    return a->l[0] < r[0];
}

static cuzk_status check_coefs(const cuzk_shape *s, cuzk_error *err)
{
    cuzk_fr minus_one, r2[COEF_BATCH];
    s->curve->fr_neg(&minus_one, &s->curve->fr_one);
    CUZK_FAIL_IF(s->n_coefs < 2 ||
                     memcmp(&s->coefs[CUZK_COEF_ONE], &s->curve->fr_one, sizeof minus_one) != 0 ||
                     memcmp(&s->coefs[CUZK_COEF_MINUS_ONE], &minus_one, sizeof minus_one) != 0,
                 err, CUZK_E_FORMAT, "compiled circuit: coefficients 0 and 1 are not 1 and -1");
    for (uint32_t i = 0; i < s->n_coefs; i += COEF_BATCH) {
        uint32_t n = s->n_coefs - i < COEF_BATCH ? s->n_coefs - i : COEF_BATCH;
        bool good = true;
        for (uint32_t k = 0; k < n; k++) {
            const cuzk_fr *c = &s->coefs[i + k];
            good = good && is_below(c, s->curve->r) && (c->l[0] | c->l[1] | c->l[2] | c->l[3]) != 0;
        }
        s->curve->fr_batch_from_canonical(r2, &s->coefs[i], n);
        CUZK_FAIL_IF(!good || memcmp(r2, &s->coefs_r2[i], n * sizeof *r2) != 0, err, CUZK_E_FORMAT,
                     "compiled circuit: one of the coefficients %" PRIu32 " to %" PRIu32
                     " is zero, not below the order, or not the same in both forms",
                     i, i + n - 1);
    }
    return CUZK_OK;
}

/* ---- rows ------------------------------------------------------------------------------------
 */

struct row_check {
    const cuzk_shape *s;
    const uint64_t *n_terms;
    size_t n_ranges;            /* of a matrix */
    _Atomic uint64_t first_bad; /* range; those of A come first */
};

/* The last block whose stored rows begin at `row` or before it. */
static uint32_t block_at(const cuzk_shape *s, uint32_t row)
{
    uint32_t low = 0, high = s->n_blocks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->blocks[middle].stored_row <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether terms begin … end-1 name variables that rows of the block may name (what is not in front
 * of a repeated block is its own), and coefficients that are there. */
static bool terms_are_good(const cuzk_shape *s, const cuzk_shape_block *b, const cuzk_rows *m,
                           uint64_t begin, uint64_t end)
{
    bool repeated = b->n_copies > 1;
    uint32_t n_inputs = repeated ? b->first_input + b->input_stride : s->n_inputs;
    uint32_t n_aux = (repeated ? b->first_aux + b->aux_stride : s->n_vars) - s->n_inputs;
    uint32_t first_aux = s->n_inputs, n_coefs = s->n_coefs, bad = 0;
    for (uint64_t t = begin; t < end; t++) {
        bad |= (uint32_t)(m->var[t] >= n_inputs) & (uint32_t)(m->var[t] - first_aux >= n_aux);
    }
    for (uint64_t t = begin; t < end; t++) {
        bad |= m->code[t] >= n_coefs;
    }
    return bad == 0;
}

static bool rows_are_good(const struct row_check *c, int k, uint32_t row, uint32_t end)
{
    const cuzk_shape *s = c->s;
    const cuzk_rows *m = &s->rows[k];
    bool ascending = m->begin[end] <= c->n_terms[k];
    for (uint32_t i = row; i < end; i++) {
        ascending &= m->begin[i] <= m->begin[i + 1];
    }
    if (!ascending) {
        return false;
    }
    for (uint32_t i = block_at(s, row); row < end; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        uint32_t to = b->stored_row + b->n_rows < end ? b->stored_row + b->n_rows : end;
        if (!terms_are_good(s, b, m, m->begin[row], m->begin[to])) {
            return false;
        }
        row = to;
    }
    return true;
}

static void check_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct row_check *c = ctx;
    uint32_t row = (uint32_t)(chunk % c->n_ranges) * RANGE_ROWS, left = c->s->n_stored_rows - row;
    if (!rows_are_good(c, (int)(chunk / c->n_ranges), row,
                       row + (left < RANGE_ROWS ? left : RANGE_ROWS))) {
        /* relaxed: read after the loop has been joined */
        uint64_t seen = atomic_load_explicit(&c->first_bad, memory_order_relaxed);
        while (chunk < seen &&
               !atomic_compare_exchange_weak_explicit(&c->first_bad, &seen, chunk,
                                                      memory_order_relaxed, memory_order_relaxed)) {
        }
    }
}

static cuzk_status check_rows(const cuzk_shape *s, const uint64_t n_terms[3], cuzk_pool *pool,
                              cuzk_error *err)
{
    for (int k = 0; k < 3; k++) {
        const uint64_t *begin = s->rows[k].begin;
        CUZK_FAIL_IF(begin[0] != 0 || begin[s->n_stored_rows] != n_terms[k], err, CUZK_E_FORMAT,
                     "compiled circuit: the rows of %c have terms %" PRIu64 " to %" PRIu64
                     ", expected 0 to %" PRIu64,
                     "ABC"[k], begin[0], begin[s->n_stored_rows], n_terms[k]);
    }
    size_t n_ranges = ((size_t)s->n_stored_rows + RANGE_ROWS - 1) / RANGE_ROWS;
    struct row_check c = {
        .s = s, .n_terms = n_terms, .n_ranges = n_ranges, .first_bad = UINT64_MAX};
    cuzk_pool_for(pool, 3 * n_ranges, check_range, &c);
    CUZK_FAIL_IF(c.first_bad != UINT64_MAX, err, CUZK_E_FORMAT,
                 "compiled circuit: rows of %c from stored row %" PRIu64
                 " on: terms out of order, or a variable or coefficient that is not there",
                 "ABC"[c.first_bad / n_ranges], c.first_bad % n_ranges * RANGE_ROWS);
    return CUZK_OK;
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

/* Whether a bitmap has `count` bits of the first n set, and none behind them. */
static bool has_bits(const uint64_t *map, size_t n, size_t count)
{
    return cuzk_bitmap_count(map, n) == count && (n % 64 == 0 || map[n / 64] >> (n % 64) == 0);
}

static cuzk_status check_bitmaps(const cuzk_shape *s, cuzk_error *err)
{
    size_t n_aux = cuzk_shape_n_aux(s), n_words = cuzk_bitmap_words(s->n_vars);
    CUZK_FAIL_IF(!has_bits(s->b_input_density, s->n_inputs, s->n_b_input) ||
                     !has_bits(s->a_aux_density, n_aux, s->n_a_aux) ||
                     !has_bits(s->b_aux_density, n_aux, s->n_b_aux),
                 err, CUZK_E_FORMAT,
                 "compiled circuit: densities do not have the numbers of bits that the header "
                 "says");
    uint64_t both = 0;
    for (size_t i = 0; i < n_words; i++) {
        both |= s->is_bit[i] & s->is_field[i];
    }
    uint64_t beyond = s->n_vars % 64 == 0
                          ? 0
                          : (s->is_bit[n_words - 1] | s->is_field[n_words - 1]) >> (s->n_vars % 64);
    CUZK_FAIL_IF(both != 0 || beyond != 0 || !cuzk_bitmap_get(s->is_bit, 0), err, CUZK_E_FORMAT,
                 "compiled circuit: a variable has two types, one beyond the last has a type, or "
                 "the constant 1 is not a bit");
    return CUZK_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status make(cuzk_shape **out, const cuzk_shape_file *f, cuzk_pool *pool,
                        cuzk_error *err)
{
    cuzk_shape *s = calloc(1, sizeof *s);
    CUZK_FAIL_IF(s == NULL, err, CUZK_E_MEMORY, "compiled circuit: out of memory");
    s->is_view = true;
    take_arrays(s, f);
    cuzk_status status = CUZK_OK;
    CUZK_TRY_OUT(status, check_blocks(s, err));
    CUZK_TRY_OUT(status, check_choices(s, err));
    CUZK_TRY_OUT(status, check_coefs(s, err));
    CUZK_TRY_OUT(status, check_rows(s, f->header.n_terms, pool, err));
    CUZK_TRY_OUT(status, check_bitmaps(s, err));
    CUZK_TRY_OUT(status, cuzk_eval_prepare(s, err));
    *out = s;
    s = NULL;
out:
    cuzk_shape_destroy(s);
    return status;
}

cuzk_status cuzk_shape_view(cuzk_shape **out, const uint8_t *data, uint64_t size, cuzk_pool *pool,
                            cuzk_error *err)
{
    CUZK_FAIL_IF((uintptr_t)data % 8 != 0, err, CUZK_E_ARGUMENT,
                 "compiled circuit: its bytes are not aligned");
    cuzk_shape_file f;
    CUZK_TRY(cuzk_shape_file_open(&f, data, size, err));
    return make(out, &f, pool, err);
}

cuzk_status cuzk_shape_open(cuzk_shape **out, uint8_t fingerprint[CUZK_SHA256_BYTES],
                            const char *path, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_map_file map;
    cuzk_shape_file f;
    CUZK_TRY(cuzk_map_file_open(&map, path, err));
    cuzk_status status = cuzk_shape_file_open(&f, map.data, map.size, err);
    if (status == CUZK_OK) {
        status = make(out, &f, pool, err);
    }
    if (status != CUZK_OK) {
        cuzk_map_file_close(&map);
        cuzk_error_prefix(err, "\"%s\"", path);
        return status;
    }
    (*out)->map = map;
    if (fingerprint != NULL) {
        memcpy(fingerprint, f.header.fingerprint, CUZK_SHA256_BYTES);
    }
    return CUZK_OK;
}
