/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two passes over the values, both in parallel by ranges of variables: classify (bitmaps and counts
 * per range), then, with the ranges' first ranks known, copy the field values. */
#include "r1cs/witness.h"

#include "base/bytes.h"
#include "base/pages.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RANGE_WORDS = 256 }; /* bitmap words of one chunk of work: 16,384 variables, 512 KiB */

struct classify {
    cuzk_witness *w;
    const uint8_t *values;
    _Atomic uint64_t first_bad; /* smallest index of a value that is not below r */
};

static bool below(const uint64_t v[4], const uint64_t *r)
{
    for (int i = 3; i >= 0; i--) {
        if (v[i] != r[i]) {
            return v[i] < r[i];
        }
    }
    return false;
}

static void note_bad(_Atomic uint64_t *first_bad, uint64_t i)
{
    /* Relaxed: read only after the loop has been joined. */
    uint64_t seen = atomic_load_explicit(first_bad, memory_order_relaxed);
    while (i < seen && !atomic_compare_exchange_weak_explicit(
                           first_bad, &seen, i, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void classify_word(struct classify *c, size_t word)
{
    cuzk_witness *w = c->w;
    const uint64_t *r = w->curve->r;
    uint32_t n = w->n_vars - (uint32_t)(64 * word) < 64 ? w->n_vars - (uint32_t)(64 * word) : 64;
    const uint8_t *p = c->values + 64 * word * 32;
    uint64_t is_field = 0, bits = 0;
    for (uint32_t i = 0; i < n; i++, p += 32) {
        uint64_t v[4];
        memcpy(v, p, 32);
        if ((v[1] | v[2] | v[3]) == 0 && v[0] <= 1) {
            bits |= v[0] << i;
            continue;
        }
        is_field |= (uint64_t)1 << i;
        if (v[3] >= r[3] && !below(v, r)) {
            note_bad(&c->first_bad, 64 * word + i);
        }
    }
    w->is_field[word] = is_field;
    w->bits[word] = bits;
}

static void classify_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct classify *c = ctx;
    size_t n_words = cuzk_bitmap_words(c->w->n_vars);
    size_t end = (chunk + 1) * RANGE_WORDS < n_words ? (chunk + 1) * RANGE_WORDS : n_words;
    for (size_t word = chunk * RANGE_WORDS; word < end; word++) {
        classify_word(c, word);
    }
}

static void copy_range(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct classify *c = ctx;
    cuzk_witness *w = c->w;
    size_t n_words = cuzk_bitmap_words(w->n_vars);
    size_t end = (chunk + 1) * RANGE_WORDS < n_words ? (chunk + 1) * RANGE_WORDS : n_words;
    for (size_t word = chunk * RANGE_WORDS; word < end; word++) {
        uint8_t(*out)[32] = w->field + w->rank[word];
        for (uint64_t left = w->is_field[word]; left != 0; left &= left - 1) {
            size_t i = 64 * word + (size_t)__builtin_ctzll(left);
            memcpy(*out++, c->values + 32 * i, 32);
        }
    }
}

static size_t field_bytes(uint32_t n_field)
{
    return ((size_t)n_field * 32 + 63) / 64 * 64 + 64;
}

/* Large arrays come in huge pages: in small ones the faults of a Window PoSt's 4 GB take longer
 * than the arithmetic that fills them, and those of a PoRep's 70 MB a sixth of the time. */
static const size_t pages_from = (size_t)4 << 20;

/* n_bytes of zeros, aligned to 64 bytes. */
static void *array_alloc(size_t n_bytes)
{
    if (n_bytes >= pages_from) {
        return cuzk_pages_alloc_dense(n_bytes);
    }
    size_t rounded = n_bytes / 64 * 64 + 64;
    void *p = aligned_alloc(64, rounded);
    if (p != NULL) {
        memset(p, 0, rounded);
    }
    return p;
}

static void array_free(void *p, size_t n_bytes)
{
    if (p != NULL && n_bytes < pages_from) {
        cuzk_wipe(p, n_bytes);
        free(p);
    } else {
        cuzk_pages_free(p, n_bytes); /* nobody sees the contents again */
    }
}

size_t cuzk_witness_bytes(uint32_t n_vars, uint32_t n_field)
{
    size_t n_words = cuzk_bitmap_words(n_vars);
    return sizeof(cuzk_witness) + n_words * 16 + (n_words + 1) * 4 + field_bytes(n_field);
}

void cuzk_witness_destroy(cuzk_witness *w)
{
    if (w == NULL) {
        return;
    }
    size_t n_words = cuzk_bitmap_words(w->n_vars);
    array_free(w->field, field_bytes(w->n_field));
    array_free(w->is_field, n_words * sizeof *w->is_field);
    array_free(w->bits, n_words * sizeof *w->bits);
    array_free(w->rank, (n_words + 1) * sizeof *w->rank);
    free(w);
}

/* A witness with its bitmaps and room for ranks; NULL without memory. */
static cuzk_witness *new_witness(const cuzk_curve *curve, uint32_t n_vars, uint32_t n_inputs)
{
    size_t n_words = cuzk_bitmap_words(n_vars);
    cuzk_witness *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->curve = curve;
    w->n_vars = n_vars;
    w->n_inputs = n_inputs;
    w->is_field = array_alloc(n_words * sizeof *w->is_field);
    w->bits = array_alloc(n_words * sizeof *w->bits);
    w->rank = array_alloc((n_words + 1) * sizeof *w->rank);
    if (w->is_field == NULL || w->bits == NULL || w->rank == NULL) {
        cuzk_witness_destroy(w);
        return NULL;
    }
    return w;
}

/* Ranks and the array of field values, once is_field is known. */
static bool make_field(cuzk_witness *w)
{
    size_t n_words = cuzk_bitmap_words(w->n_vars);
    for (size_t i = 0; i < n_words; i++) {
        w->rank[i + 1] = w->rank[i] + (uint32_t)__builtin_popcountll(w->is_field[i]);
    }
    w->n_field = w->rank[n_words];
    w->field = array_alloc(field_bytes(w->n_field));
    return w->field != NULL;
}

cuzk_status cuzk_witness_create(cuzk_witness **out, const cuzk_curve *curve, uint32_t n_vars,
                                uint32_t n_inputs, const uint64_t *is_field, cuzk_error *err)
{
    cuzk_witness *w = new_witness(curve, n_vars, n_inputs);
    if (w != NULL) {
        memcpy(w->is_field, is_field, cuzk_bitmap_words(n_vars) * sizeof *is_field);
        w->bits[0] = 1;
    }
    if (w == NULL || !make_field(w)) {
        cuzk_witness_destroy(w);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "a witness of %u values: out of memory", n_vars);
    }
    *out = w;
    return CUZK_OK;
}

static cuzk_status fill(cuzk_witness *w, const void *values, const char *what, cuzk_pool *pool,
                        cuzk_error *err)
{
    struct classify c = {.w = w, .values = values, .first_bad = UINT64_MAX};
    size_t n_words = cuzk_bitmap_words(w->n_vars);
    size_t n_ranges = (n_words + RANGE_WORDS - 1) / RANGE_WORDS;
    cuzk_pool_for(pool, n_ranges, classify_range, &c);
    CUZK_FAIL_IF(c.first_bad != UINT64_MAX, err, CUZK_E_FORMAT,
                 "%s: value %llu is not below the order of the scalar field of %s", what,
                 (unsigned long long)c.first_bad, w->curve->snarkjs_name);
    CUZK_FAIL_IF((w->bits[0] & 1) == 0, err, CUZK_E_UNSATISFIED,
                 "%s: value 0 is the constant 1 of every circuit, found another value", what);
    CUZK_FAIL_IF(!make_field(w), err, CUZK_E_MEMORY, "%s: %u field values: out of memory", what,
                 w->n_field);
    cuzk_pool_for(pool, n_ranges, copy_range, &c);
    return CUZK_OK;
}

cuzk_status cuzk_witness_from_values(cuzk_witness **out, const cuzk_curve *curve,
                                     const void *values, uint32_t n_vars, uint32_t n_inputs,
                                     const char *what, cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(n_inputs == 0 || n_inputs > n_vars, err, CUZK_E_ARGUMENT,
                 "%s: %u public values with the constant 1, %u values in all", what, n_inputs,
                 n_vars);
    cuzk_witness *w = new_witness(curve, n_vars, n_inputs);
    CUZK_FAIL_IF(w == NULL, err, CUZK_E_MEMORY, "%s: %u values: out of memory", what, n_vars);
    cuzk_status status = fill(w, values, what, pool, err);
    if (status != CUZK_OK) {
        cuzk_witness_destroy(w);
        return status;
    }
    *out = w;
    return CUZK_OK;
}

void cuzk_witness_get(const cuzk_witness *w, uint32_t var, uint8_t out[32])
{
    if (cuzk_bitmap_get(w->is_field, var)) {
        memcpy(out, w->field[cuzk_witness_rank(w, var)], 32);
    } else {
        memset(out, 0, 32);
        out[0] = cuzk_bitmap_get(w->bits, var);
    }
}

void cuzk_witness_get_range(const cuzk_witness *w, uint32_t first, uint32_t n, void *out)
{
    uint8_t *p = out;
    for (uint32_t i = 0; i < n; i++, p += 32) {
        cuzk_witness_get(w, first + i, p);
    }
}
