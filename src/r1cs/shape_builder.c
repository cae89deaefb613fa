/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Building a shape term by term. Coefficients go through a dictionary (an open-addressing hash
 * table from value to code), since circuits use few distinct ones; rows are appended to growing
 * arrays. */
#include "r1cs/shape_builder_impl.h"

#include <stdlib.h>
#include <string.h>

bool cuzk_builder_failed(cuzk_shape_builder *b, cuzk_status status, const char *what)
{
    if (b->status == CUZK_OK) {
        b->status = status;
        b->what = what;
    }
    return false;
}

bool cuzk_builder_reserve(cuzk_shape_builder *b, struct cuzk_builder_words *w, uint64_t n,
                          const char *what)
{
    if (w->capacity - w->n < n) {
        uint64_t capacity = w->capacity + (w->capacity / 2 > n ? w->capacity / 2 : n + 256);
        uint32_t *data = capacity > SIZE_MAX / sizeof *data
                             ? NULL
                             : realloc(w->data, (size_t)capacity * sizeof *data);
        if (data == NULL) {
            return cuzk_builder_failed(b, CUZK_E_MEMORY, what);
        }
        w->data = data;
        w->capacity = capacity;
    }
    return true;
}

static bool push(cuzk_shape_builder *b, struct cuzk_builder_words *w, uint32_t value,
                 const char *what)
{
    if (!cuzk_builder_reserve(b, w, 1, what)) {
        return false;
    }
    w->data[w->n++] = value;
    return true;
}

static uint64_t hash_fr(const cuzk_fr *a)
{
    uint64_t h = a->l[0] * 0x9e3779b97f4a7c15u ^ a->l[1] * 0xc2b2ae3d27d4eb4fu ^
                 a->l[2] * 0x165667b19e3779f9u ^ a->l[3] * 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

static uint64_t find_slot(const cuzk_shape_builder *b, const cuzk_fr *coef)
{
    uint64_t i = hash_fr(coef) & (b->n_slots - 1);
    while (b->slots[i] != 0 && memcmp(&b->coefs[b->slots[i] - 1], coef, sizeof *coef) != 0) {
        i = (i + 1) & (b->n_slots - 1);
    }
    return i;
}

static bool grow_dictionary(cuzk_shape_builder *b)
{
    uint64_t n_slots = b->n_slots == 0 ? 256 : 2 * b->n_slots;
    uint32_t capacity = (uint32_t)(n_slots / 2);
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    cuzk_fr *coefs = realloc(b->coefs, capacity * sizeof *coefs);
    if (coefs != NULL) {
        b->coefs = coefs;
    }
    if (slots == NULL || coefs == NULL || n_slots > (uint64_t)1 << 32) {
        free(slots);
        return cuzk_builder_failed(b, CUZK_E_MEMORY, "coefficients");
    }
    free(b->slots);
    b->slots = slots;
    b->n_slots = n_slots;
    b->coef_capacity = capacity;
    for (uint32_t i = 0; i < b->n_coefs; i++) {
        b->slots[find_slot(b, &b->coefs[i])] = i + 1;
    }
    return true;
}

static bool code_of(cuzk_shape_builder *b, const cuzk_fr *coef, uint32_t *code)
{
    if (b->n_coefs == b->coef_capacity && !grow_dictionary(b)) {
        return false;
    }
    uint64_t slot = find_slot(b, coef);
    if (b->slots[slot] == 0) {
        b->coefs[b->n_coefs] = *coef;
        b->slots[slot] = ++b->n_coefs;
    }
    *code = b->slots[slot] - 1;
    return true;
}

cuzk_status cuzk_shape_builder_create(cuzk_shape_builder **out, const cuzk_curve *curve,
                                      cuzk_error *err)
{
    cuzk_shape_builder *b = calloc(1, sizeof *b);
    CUZK_FAIL_IF(b == NULL, err, CUZK_E_MEMORY, "building a circuit: out of memory");
    b->curve = curve;
    b->begin_capacity = 256;
    for (int k = 0; k < 3; k++) {
        b->m[k].begin = calloc(b->begin_capacity, sizeof *b->m[k].begin);
        if (b->m[k].begin == NULL) {
            cuzk_builder_failed(b, CUZK_E_MEMORY, "constraints");
        }
    }
    cuzk_fr minus_one;
    uint32_t code;
    curve->fr_neg(&minus_one, &curve->fr_one);
    cuzk_shape_begin_copies(b, 1);
    bool ok =
        b->status == CUZK_OK && code_of(b, &curve->fr_one, &code) && code_of(b, &minus_one, &code);
    (void)cuzk_shape_add_input(b, CUZK_VAR_BIT);
    if (!ok || b->status != CUZK_OK) {
        cuzk_shape_builder_destroy(b);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "building a circuit: out of memory");
    }
    *out = b;
    return CUZK_OK;
}

void cuzk_shape_builder_destroy(cuzk_shape_builder *b)
{
    if (b == NULL) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        free(b->m[k].begin);
        free(b->m[k].var.data);
        free(b->m[k].code.data);
    }
    free(b->input_type.data);
    free(b->aux_type.data);
    free(b->parts);
    free(b->choices.data);
    free(b->coefs);
    free(b->slots);
    free(b);
}

cuzk_var cuzk_shape_add_input(cuzk_shape_builder *b, cuzk_var_type type)
{
    if (b->n_inputs >= CUZK_AUX_FLAG) {
        cuzk_builder_failed(b, CUZK_E_UNSUPPORTED, "inputs");
    } else if (push(b, &b->input_type, (uint32_t)type, "inputs")) {
        return (cuzk_var)b->n_inputs++;
    }
    return CUZK_VAR_ONE;
}

cuzk_var cuzk_shape_add_aux(cuzk_shape_builder *b, cuzk_var_type type)
{
    if (b->n_aux >= CUZK_AUX_FLAG) {
        cuzk_builder_failed(b, CUZK_E_UNSUPPORTED, "aux variables");
    } else if (push(b, &b->aux_type, (uint32_t)type, "aux variables")) {
        return (cuzk_var)(CUZK_AUX_FLAG + b->n_aux++);
    }
    return CUZK_VAR_ONE;
}

static bool is_zero(const cuzk_fr *a)
{
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

void cuzk_shape_add_term(cuzk_shape_builder *b, cuzk_matrix matrix, cuzk_var var,
                         const cuzk_fr *coef)
{
    uint32_t code;
    struct cuzk_builder_matrix *m = &b->m[matrix];
    if (b->status != CUZK_OK || is_zero(coef) || !code_of(b, coef, &code)) {
        return;
    }
    if (push(b, &m->code, code, "terms") && !push(b, &m->var, var, "terms")) {
        m->code.n--;
    }
}

struct term {
    uint32_t var, code;
    uint64_t place;
};

static int by_var(const void *x, const void *y)
{
    const struct term *a = x, *b = y;
    if (a->var != b->var) {
        return a->var < b->var ? -1 : 1;
    }
    return a->place < b->place ? -1 : a->place > b->place;
}

static int by_place(const void *x, const void *y)
{
    const struct term *a = x, *b = y;
    return a->place < b->place ? -1 : a->place > b->place;
}

static bool has_repeats_short(const uint32_t *var, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        for (uint64_t k = 0; k < i; k++) {
            if (var[k] == var[i]) {
                return true;
            }
        }
    }
    return false;
}

static bool is_ascending(const uint32_t *var, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        if (var[i - 1] >= var[i]) {
            return false;
        }
    }
    return true;
}

/* Sum the terms of equal variable in the row that starts at `begin`; the sum takes the place of the
 * first of them, or vanishes. Sorts by variable, merges neighbours, sorts back by place. */
static void merge_row(cuzk_shape_builder *b, struct cuzk_builder_matrix *m, uint64_t begin)
{
    uint64_t n = m->var.n - begin;
    uint32_t *var = m->var.data + begin, *code = m->code.data + begin;
    if (is_ascending(var, n) || (n <= 16 && !has_repeats_short(var, n))) {
        return;
    }
    struct term *t = malloc((size_t)n * sizeof *t);
    if (t == NULL) {
        cuzk_builder_failed(b, CUZK_E_MEMORY, "terms of a row");
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        t[i] = (struct term){var[i], code[i], i};
    }
    qsort(t, (size_t)n, sizeof *t, by_var);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n && b->status == CUZK_OK;) {
        struct term sum = t[i];
        uint64_t k = i + 1;
        if (k < n && t[k].var == sum.var) {
            cuzk_fr coef = b->coefs[sum.code];
            for (; k < n && t[k].var == sum.var; k++) {
                b->curve->fr_add(&coef, &coef, &b->coefs[t[k].code]);
            }
            i = k;
            if (is_zero(&coef) || !code_of(b, &coef, &sum.code)) {
                continue;
            }
        }
        i = k;
        t[kept++] = sum;
    }
    qsort(t, (size_t)kept, sizeof *t, by_place);
    for (uint64_t i = 0; i < kept; i++) {
        var[i] = t[i].var;
        code[i] = t[i].code;
    }
    free(t);
    m->var.n = m->code.n = begin + kept;
}

bool cuzk_builder_reserve_rows(cuzk_shape_builder *b, uint64_t n)
{
    if (n > UINT32_MAX - b->n_constraints) {
        return cuzk_builder_failed(b, CUZK_E_UNSUPPORTED, "constraints");
    }
    uint64_t needed = b->n_stored_rows + n + 1, capacity = b->begin_capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    for (int k = 0; k < 3 && capacity > b->begin_capacity; k++) {
        uint64_t *begin = realloc(b->m[k].begin, (size_t)capacity * sizeof *begin);
        if (begin == NULL) {
            return cuzk_builder_failed(b, CUZK_E_MEMORY, "constraints");
        }
        b->m[k].begin = begin;
    }
    b->begin_capacity = capacity;
    return true;
}

void cuzk_shape_end_constraint(cuzk_shape_builder *b)
{
    if (b->status != CUZK_OK || !cuzk_builder_reserve_rows(b, 1)) {
        return;
    }
    uint64_t next = b->n_stored_rows + 1;
    for (int k = 0; k < 3; k++) {
        merge_row(b, &b->m[k], b->m[k].begin[b->n_stored_rows]);
        b->m[k].begin[next] = b->m[k].var.n;
    }
    b->n_stored_rows = next;
    b->n_constraints++;
}
