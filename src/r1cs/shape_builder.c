/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Building a shape term by term. Coefficients go through a dictionary (an open-addressing hash
 * table from value to code), since circuits use few distinct ones; rows are appended to growing
 * arrays; handles become variable numbers at the end, when the number of inputs is known. */
#include "base/bitmap.h"
#include "r1cs/shape.h"

#include <stdlib.h>
#include <string.h>

#define AUX_FLAG 0x80000000u

/* A growing array of 32-bit words. */
struct words {
    uint32_t *data;
    uint64_t n, capacity;
};

struct matrix {
    struct words var, code;
    uint64_t *begin; /* begin[0 … n_constraints]: grown with begin_capacity of the builder */
};

struct cuzk_shape_builder {
    const cuzk_curve *curve;
    cuzk_status status; /* first failure; everything after it is ignored */
    const char *what;   /* what was being grown when it failed */
    uint64_t n_inputs, n_aux, n_constraints, begin_capacity;
    struct words input_type, aux_type; /* cuzk_var_type per variable */
    struct matrix m[3];

    cuzk_fr *coefs;
    uint32_t n_coefs, coef_capacity;
    uint32_t *slots; /* code + 1, or 0 for free; n_slots is a power of two ≥ 2·n_coefs */
    uint64_t n_slots;
};

static bool failed(cuzk_shape_builder *b, cuzk_status status, const char *what)
{
    if (b->status == CUZK_OK) {
        b->status = status;
        b->what = what;
    }
    return false;
}

/* Room for n more words. */
static bool reserve(cuzk_shape_builder *b, struct words *w, uint64_t n, const char *what)
{
    if (w->capacity - w->n < n) {
        uint64_t capacity = w->capacity + (w->capacity / 2 > n ? w->capacity / 2 : n + 256);
        uint32_t *data = capacity > SIZE_MAX / sizeof *data
                             ? NULL
                             : realloc(w->data, (size_t)capacity * sizeof *data);
        if (data == NULL) {
            return failed(b, CUZK_E_MEMORY, what);
        }
        w->data = data;
        w->capacity = capacity;
    }
    return true;
}

static bool push(cuzk_shape_builder *b, struct words *w, uint32_t value, const char *what)
{
    if (!reserve(b, w, 1, what)) {
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
        return failed(b, CUZK_E_MEMORY, "coefficients");
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
            failed(b, CUZK_E_MEMORY, "constraints");
        }
    }
    cuzk_fr minus_one;
    uint32_t code;
    curve->fr_neg(&minus_one, &curve->fr_one);
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
    free(b->coefs);
    free(b->slots);
    free(b);
}

cuzk_var cuzk_shape_add_input(cuzk_shape_builder *b, cuzk_var_type type)
{
    if (b->n_inputs >= AUX_FLAG) {
        failed(b, CUZK_E_UNSUPPORTED, "inputs");
    } else if (push(b, &b->input_type, (uint32_t)type, "inputs")) {
        return (cuzk_var)b->n_inputs++;
    }
    return CUZK_VAR_ONE;
}

cuzk_var cuzk_shape_add_aux(cuzk_shape_builder *b, cuzk_var_type type)
{
    if (b->n_aux >= AUX_FLAG) {
        failed(b, CUZK_E_UNSUPPORTED, "aux variables");
    } else if (push(b, &b->aux_type, (uint32_t)type, "aux variables")) {
        return (cuzk_var)(AUX_FLAG + b->n_aux++);
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
    struct matrix *m = &b->m[matrix];
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
static void merge_row(cuzk_shape_builder *b, struct matrix *m, uint64_t begin)
{
    uint64_t n = m->var.n - begin;
    uint32_t *var = m->var.data + begin, *code = m->code.data + begin;
    if (is_ascending(var, n) || (n <= 16 && !has_repeats_short(var, n))) {
        return;
    }
    struct term *t = malloc((size_t)n * sizeof *t);
    if (t == NULL) {
        failed(b, CUZK_E_MEMORY, "terms of a row");
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

/* Room for the ends of n more rows. */
static bool reserve_rows(cuzk_shape_builder *b, uint64_t n)
{
    if (n > UINT32_MAX - b->n_constraints) {
        return failed(b, CUZK_E_UNSUPPORTED, "constraints");
    }
    uint64_t needed = b->n_constraints + n + 1, capacity = b->begin_capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    for (int k = 0; k < 3 && capacity > b->begin_capacity; k++) {
        uint64_t *begin = realloc(b->m[k].begin, (size_t)capacity * sizeof *begin);
        if (begin == NULL) {
            return failed(b, CUZK_E_MEMORY, "constraints");
        }
        b->m[k].begin = begin;
    }
    b->begin_capacity = capacity;
    return true;
}

void cuzk_shape_end_constraint(cuzk_shape_builder *b)
{
    if (b->status != CUZK_OK || !reserve_rows(b, 1)) {
        return;
    }
    uint64_t next = b->n_constraints + 1;
    for (int k = 0; k < 3; k++) {
        merge_row(b, &b->m[k], b->m[k].begin[b->n_constraints]);
        b->m[k].begin[next] = b->m[k].var.n;
    }
    b->n_constraints = next;
}

uint64_t cuzk_shape_n_constraints(const cuzk_shape_builder *b)
{
    return b->n_constraints;
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

static void repeat_rows(cuzk_shape_builder *b, struct matrix *m, const cuzk_shape_stretch *s,
                        const cuzk_var *given, uint32_t moved)
{
    uint64_t from = m->begin[s->first_row], n = m->begin[s->first_row + s->n_rows] - from;
    if (!reserve(b, &m->var, n, "terms") || !reserve(b, &m->code, n, "terms")) {
        return;
    }
    uint64_t by = m->var.n - from;
    memcpy(m->code.data + m->code.n, m->code.data + from, (size_t)n * sizeof *m->code.data);
    const uint32_t *old = m->var.data + from;
    uint32_t *var = m->var.data + m->var.n;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t v = old[i];
        var[i] = v - s->first_own < s->n_own ? v + moved : replaced(s, given, v);
    }
    for (uint64_t i = 1; i <= s->n_rows; i++) {
        m->begin[b->n_constraints + i] = m->begin[s->first_row + i] + by;
    }
    m->var.n += n;
    m->code.n += n;
}

cuzk_var cuzk_shape_repeat(cuzk_shape_builder *b, const cuzk_shape_stretch *s,
                           const cuzk_var *given)
{
    uint32_t own = (uint32_t)(AUX_FLAG + b->n_aux);
    if (b->status != CUZK_OK || !reserve_rows(b, s->n_rows) ||
        !reserve(b, &b->aux_type, s->n_own, "aux variables")) {
        return CUZK_VAR_ONE;
    }
    if (b->n_aux + s->n_own > AUX_FLAG) {
        failed(b, CUZK_E_UNSUPPORTED, "aux variables");
        return CUZK_VAR_ONE;
    }
    memcpy(b->aux_type.data + b->n_aux, b->aux_type.data + (s->first_own & ~AUX_FLAG),
           s->n_own * sizeof *b->aux_type.data);
    b->aux_type.n += s->n_own;
    b->n_aux += s->n_own;
    for (int k = 0; k < 3; k++) {
        repeat_rows(b, &b->m[k], s, given, own - s->first_own);
    }
    b->n_constraints += s->n_rows;
    return own;
}

/* Handles of one matrix become variable numbers; returns false at a handle never given out. */
static bool resolve(cuzk_shape_builder *b, int k, cuzk_error *err)
{
    struct matrix *m = &b->m[k];
    for (uint64_t i = 0; i < m->var.n; i++) {
        uint32_t v = m->var.data[i];
        bool aux = (v & AUX_FLAG) != 0;
        uint32_t index = v & ~AUX_FLAG;
        if (index >= (aux ? b->n_aux : b->n_inputs)) {
            uint64_t row = 0;
            while (row < b->n_constraints && m->begin[row + 1] <= i) {
                row++;
            }
            (void)CUZK_FAIL(err, CUZK_E_ARGUMENT,
                            "building a circuit: constraint %llu, side %c: %s variable %u of %llu",
                            (unsigned long long)row, "ABC"[k], aux ? "aux" : "input", index,
                            (unsigned long long)(aux ? b->n_aux : b->n_inputs));
            return false;
        }
        m->var.data[i] = aux ? (uint32_t)(b->n_inputs + index) : index;
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
    for (int k = 0; k < 3; k++) {
        struct matrix *m = &b->m[k];
        s->rows[k].begin = shrink(m->begin, b->n_constraints + 1, sizeof *m->begin);
        s->rows[k].var = shrink(m->var.data, m->var.n, sizeof *m->var.data);
        s->rows[k].code = shrink(m->code.data, m->code.n, sizeof *m->code.data);
        memset(m, 0, sizeof *m);
    }
    s->n_coefs = b->n_coefs;
    s->coefs = shrink(b->coefs, b->n_coefs, sizeof *b->coefs);
    b->coefs = NULL;
}

static void fill_types(cuzk_shape *s, const cuzk_shape_builder *b)
{
    for (uint64_t i = 0; i < s->n_vars; i++) {
        uint32_t type = i < b->n_inputs ? b->input_type.data[i] : b->aux_type.data[i - b->n_inputs];
        if (type == CUZK_VAR_BIT) {
            cuzk_bitmap_set(s->is_bit, i);
        } else if (type == CUZK_VAR_FIELD) {
            cuzk_bitmap_set(s->is_field, i);
        }
    }
    cuzk_shape_mark_bits(s);
}

static void fill_densities(cuzk_shape *s)
{
    for (int k = CUZK_MATRIX_A; k <= CUZK_MATRIX_B; k++) {
        const cuzk_rows *rows = &s->rows[k];
        uint64_t *aux = k == CUZK_MATRIX_A ? s->a_aux_density : s->b_aux_density;
        for (uint64_t i = 0; i < rows->begin[s->n_constraints]; i++) {
            uint32_t v = rows->var[i];
            if (v >= s->n_inputs) {
                cuzk_bitmap_set(aux, v - s->n_inputs);
            } else if (k == CUZK_MATRIX_B) {
                cuzk_bitmap_set(s->b_input_density, v);
            }
        }
    }
    size_t n_aux = cuzk_shape_n_aux(s);
    s->n_a_aux = (uint32_t)cuzk_bitmap_count(s->a_aux_density, n_aux);
    s->n_b_aux = (uint32_t)cuzk_bitmap_count(s->b_aux_density, n_aux);
    s->n_b_input = (uint32_t)cuzk_bitmap_count(s->b_input_density, s->n_inputs);
}

static uint64_t *new_bitmap(size_t n)
{
    return calloc(cuzk_bitmap_words(n) + 1, sizeof(uint64_t));
}

/* The parts of a shape that are not taken over from the builder. */
static bool allocate(cuzk_shape *s)
{
    size_t n_aux = cuzk_shape_n_aux(s);
    s->coefs_r2 = malloc(s->n_coefs * sizeof *s->coefs_r2);
    s->is_bit = new_bitmap(s->n_vars);
    s->is_field = new_bitmap(s->n_vars);
    s->b_input_density = new_bitmap(s->n_inputs);
    s->a_aux_density = new_bitmap(n_aux);
    s->b_aux_density = new_bitmap(n_aux);
    return s->coefs_r2 != NULL && s->is_bit != NULL && s->is_field != NULL &&
           s->b_input_density != NULL && s->a_aux_density != NULL && s->b_aux_density != NULL;
}

cuzk_status cuzk_shape_builder_finish(cuzk_shape_builder *b, cuzk_shape **out, cuzk_error *err)
{
    cuzk_shape *s = NULL;
    cuzk_status status = b->status;
    if (status != CUZK_OK) {
        (void)CUZK_FAIL(err, status, "building a circuit: %s: %s", b->what,
                        status == CUZK_E_MEMORY ? "out of memory" : "too many");
        goto out;
    }
    if (b->n_inputs + b->n_aux > UINT32_MAX) {
        status = CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                           "building a circuit: %llu variables, at most 2^32 - 1 are supported",
                           (unsigned long long)(b->n_inputs + b->n_aux));
        goto out;
    }
    for (int k = 0; k < 3; k++) {
        if (!resolve(b, k, err)) {
            status = CUZK_E_ARGUMENT;
            goto out;
        }
    }
    s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->curve = b->curve;
        s->n_inputs = (uint32_t)b->n_inputs;
        s->n_vars = (uint32_t)(b->n_inputs + b->n_aux);
        s->n_constraints = (uint32_t)b->n_constraints;
        take_rows(s, b);
    }
    if (s == NULL || !allocate(s)) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "building a circuit: out of memory");
        goto out;
    }
    /* The Montgomery form of a value's Montgomery form read as a plain value. */
    s->curve->fr_batch_from_canonical(s->coefs_r2, s->coefs, s->n_coefs);
    fill_types(s, b);
    fill_densities(s);
    *out = s;
    s = NULL;
out:
    cuzk_shape_destroy(s);
    cuzk_shape_builder_destroy(b);
    return status;
}
