/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A compiled circuit: the rows of A, B and C, the types of its variables and its densities.
 *
 * Variables are numbered inputs first: 0 is the constant ONE, 1 … n_inputs-1 are the public values,
 * n_inputs … n_vars-1 the private ones ("aux"; aux j is variable n_inputs + j). This is the wire
 * order of .r1cs, .wtns and .zkey files. A constraint is ⟨A,w⟩·⟨B,w⟩ = ⟨C,w⟩.
 *
 * Key generation and proving append one more constraint per input: A = 1·input i, B = C = empty
 * (spec/groth16-bellperson.md section 2; circom keys do the same). These are not stored: whoever
 * needs them adds them. They touch no density, since none is kept for inputs in A. */
#ifndef CUZK_R1CS_SHAPE_H
#define CUZK_R1CS_SHAPE_H

#include "base/map_file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "curve/curve.h"

typedef enum { CUZK_MATRIX_A = 0, CUZK_MATRIX_B = 1, CUZK_MATRIX_C = 2 } cuzk_matrix;

/* What is known of a variable from the circuit alone. A bit is 0 or 1 in every satisfying witness;
 * a field variable has no such bound. */
typedef enum { CUZK_VAR_UNKNOWN = 0, CUZK_VAR_BIT = 1, CUZK_VAR_FIELD = 2 } cuzk_var_type;

/* One matrix in row form: stored row i has terms begin[i] … begin[i+1]-1. A term is a variable and
 * a coefficient code (an index into the shape's dictionary). No coefficient is zero and no variable
 * occurs twice in a row; the terms of a row keep the order in which they were given. */
typedef struct {
    uint64_t *begin; /* n_stored_rows + 1 */
    uint32_t *var;
    uint32_t *code;
} cuzk_rows;

/* Rows that a circuit repeats are stored once. A block stands for n_copies · n_rows constraints:
 * its stored rows once per copy. Copy k has the variables of copy 0 moved: inputs from first_input
 * up by k·input_stride, aux variables from first_aux up by k·aux_stride; those in front of the
 * block are the same in every copy, but for one range: the n_choice variables from first_choice up
 * are in copy k those from choices[first_of_choices + k] up. Circuits that repeat nothing are one
 * block of one copy. */
typedef struct {
    uint32_t first_row;  /* constraint */
    uint32_t stored_row; /* where its rows begin in cuzk_rows */
    uint32_t n_rows, n_copies;
    uint32_t first_input, input_stride; /* variable numbers, as in the rows */
    uint32_t first_aux, aux_stride;
    uint32_t first_choice, n_choice, first_of_choices;
} cuzk_shape_block;

/* Constraints one after the other whose rows lie one after the other. */
typedef struct {
    uint32_t stored_row; /* of the first */
    uint32_t n;
    uint32_t first_input, end_input, first_aux; /* what moves */
    uint32_t first_choice, n_choice;
    uint32_t add_input, add_aux, add_choice; /* by how much, modulo 2^32 */
} cuzk_row_run;

/* Codes that every dictionary has. */
enum { CUZK_COEF_ONE = 0, CUZK_COEF_MINUS_ONE = 1 };

/* Read-only once made; may be shared by threads. */
struct cuzk_shape {
    const cuzk_curve *curve;
    uint32_t n_inputs; /* ONE included: at least 1 */
    uint32_t n_vars;
    uint32_t n_constraints; /* without the trailing input constraints */

    uint32_t n_blocks, n_stored_rows;
    cuzk_shape_block *blocks; /* ascending, without gaps */
    uint32_t n_choices;
    uint32_t *choices;
    cuzk_rows rows[3]; /* indexed by cuzk_matrix */

    uint32_t n_coefs;
    cuzk_fr *coefs;    /* Montgomery form */
    cuzk_fr *coefs_r2; /* times 2^256 once more: its Montgomery product with a canonical value is
                          the product in Montgomery form */

    /* Bitmaps of n_vars bits (base/bitmap.h). A variable in neither is of unknown type. */
    uint64_t *is_bit;
    uint64_t *is_field;

    /* Bit set when the variable occurs with a non-zero coefficient (of some B, A, B). */
    uint64_t *b_input_density;            /* n_inputs bits */
    uint64_t *a_aux_density;              /* n_vars - n_inputs bits */
    uint64_t *b_aux_density;              /* n_vars - n_inputs bits */
    uint32_t n_b_input, n_a_aux, n_b_aux; /* set bits of these */

    /* For evaluation (r1cs/eval.h): these follow from the rest, and are the shape's own in a view
     * too.
     */
    cuzk_fr *coefs_plain;    /* canonical */
    int8_t *coefs_small;     /* the coefficient where it is -8 … 8, else 0 */
    uint64_t *small_rows[3]; /* bitmaps: stored rows of at most 15 bits with such coefficients */

    bool is_view;      /* the arrays are borrowed (r1cs/shape_store.h) */
    cuzk_map_file map; /* of a file that is unmapped with the shape; else zero */
};

typedef struct cuzk_shape cuzk_shape;

static inline uint32_t cuzk_shape_n_aux(const cuzk_shape *shape)
{
    return shape->n_vars - shape->n_inputs;
}

/** Constraints with the trailing input constraints: the number of rows of a key's domain in use. */
static inline uint64_t cuzk_shape_n_rows(const cuzk_shape *shape)
{
    return (uint64_t)shape->n_constraints + shape->n_inputs;
}

/** The stored rows of constraints `row` … at most `end`-1, up to where their variables move in
 * another way: walk all of them by calling again at row + n. row < end ≤ n_constraints. */
cuzk_row_run cuzk_shape_run(const cuzk_shape *shape, uint32_t row, uint32_t end);

/** The variable that a stored row of the run names `var`. */
static inline uint32_t cuzk_row_run_var(const cuzk_row_run *run, uint32_t var)
{
    if (var >= run->first_aux) {
        return var + run->add_aux;
    }
    if (var - run->first_choice < run->n_choice) {
        return var + run->add_choice;
    }
    return var >= run->first_input && var < run->end_input ? var + run->add_input : var;
}

/** Terms of one matrix in all constraints. */
uint64_t cuzk_shape_n_terms(const cuzk_shape *shape, cuzk_matrix matrix);

/** Bytes that a shape holds in memory, mapped ones included. */
uint64_t cuzk_shape_bytes(const cuzk_shape *shape);

/** Free a shape. NULL is fine. */
void cuzk_shape_destroy(cuzk_shape *shape);

/** The canonical fingerprint (spec/groth16-bellperson.md section 8): SHA-256 over all constraints
 *  in order; for A, B, C in turn the number of terms as u32, then per term by ascending key the key
 *  (i for input i, 2^31 + j for aux j) as u32 and the coefficient as 32 bytes, all little-endian.
 *
 *  with_input_constraints: the trailing ones are part of the digest (the identity of a shape).
 *  Errors: E_UNSUPPORTED (2^31 or more inputs or aux variables), E_MEMORY. */
cuzk_status cuzk_shape_fingerprint(const cuzk_shape *shape, bool with_input_constraints,
                                   uint8_t out[CUZK_SHA256_BYTES],
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** The same with reports: the largest circuits take a minute. reporter: may be NULL. Errors: also
 *  E_CANCELLED. */
cuzk_status cuzk_shape_fingerprint_reported(const cuzk_shape *shape, bool with_input_constraints,
                                            uint8_t out[CUZK_SHA256_BYTES],
                                            const cuzk_reporter *reporter,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Set the type of every variable that a stored row makes boolean: rows x·(x - 1) = 0 and x·x = x,
 *  in any order, sign and scale of the factors. Variables whose type is known keep it. Called by
 *  cuzk_shape_builder_finish, which repeats it in the copies of a block. */
void cuzk_shape_mark_bits(cuzk_shape *shape);

/* Collects variables and constraints one by one. Inputs and aux variables may be added in any
 * mixture, before or after their first use. An error (memory, counts) is kept and reported by
 * finish, so that circuit code need not test every call. One thread at a time. */
typedef struct cuzk_shape_builder cuzk_shape_builder;

/* Handle of a variable while a shape is built: i for input i, 2^31 + j for aux j. */
typedef uint32_t cuzk_var;

enum { CUZK_VAR_ONE = 0 };

/** The handle of aux variable j < 2^31. */
static inline cuzk_var cuzk_var_aux(uint32_t j)
{
    return 0x80000000u | j;
}

/** Make an empty builder; it already has the input ONE. Returned: give it to finish or destroy.
 *  Errors: E_MEMORY. */
cuzk_status cuzk_shape_builder_create(cuzk_shape_builder **out, const cuzk_curve *curve,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** Drop a builder. NULL is fine. */
void cuzk_shape_builder_destroy(cuzk_shape_builder *builder);

/** Add the next input or aux variable and return its handle. */
cuzk_var cuzk_shape_add_input(cuzk_shape_builder *builder, cuzk_var_type type);
cuzk_var cuzk_shape_add_aux(cuzk_shape_builder *builder, cuzk_var_type type);

/** Add coef·var to one side of the constraint being built. The same variable may be added again:
 *  the coefficients are summed. A coefficient that is or becomes zero is left out of the row.
 *  coef: Montgomery form. */
void cuzk_shape_add_term(cuzk_shape_builder *builder, cuzk_matrix matrix, cuzk_var var,
                         const cuzk_fr *coef);

/** End the constraint being built (sides without a term are empty) and start the next. */
void cuzk_shape_end_constraint(cuzk_shape_builder *builder);

/** Constraints that were ended so far, those of a part that has copies once. */
uint64_t cuzk_shape_n_stored_rows(const cuzk_shape_builder *builder);

enum { CUZK_SHAPE_GIVEN_MAX = 12 };

/* A stretch of the circuit being built that occurs again with other variables. */
typedef struct {
    uint64_t first_row, n_rows; /* its constraints: stored rows */
    cuzk_var first_own;         /* the aux variables that were added in it, one after the other */
    uint32_t n_own;
    uint32_t n_given; /* variables of before that are replaced, all different */
    cuzk_var given[CUZK_SHAPE_GIVEN_MAX];
} cuzk_shape_stretch;

/** Add the stretch once more: n_own aux variables of the same types and n_rows constraints with the
 *  new variables in place of its own and given[i] in place of stretch->given[i]; variables that are
 *  neither stay. No coefficient is looked at, so it is much faster than building the rows.
 *
 *  given: n_given handles. Where they make two variables of one row equal the row must not be
 *  repeated: terms are not merged. Returns the handle of the first new variable. */
cuzk_var cuzk_shape_repeat(cuzk_shape_builder *builder, const cuzk_shape_stretch *stretch,
                           const cuzk_var *given);

/** What is added until end_copies is one of n_copies equal parts of the circuit: it is stored once
 * and stands for all of them, one after the other. Terms may name variables of this part and of
 * what was added before it; what follows must not name variables of a part. Not nested. n_copies
 * ≥ 1. */
void cuzk_shape_begin_copies(cuzk_shape_builder *builder, uint32_t n_copies);
void cuzk_shape_end_copies(cuzk_shape_builder *builder);

/** Between the two: the n aux variables from first[0] up, all added in front of the part, are in
 * copy k the n from first[k] up, which are of the same types. first: one handle per copy. At most
 * once for a part. */
void cuzk_shape_choose(cuzk_shape_builder *builder, const cuzk_var *first, uint32_t n);

/** Turn the builder into a shape; the builder is freed in any case.
 *
 *  out: returned: free with cuzk_shape_destroy. Errors: E_MEMORY, E_ARGUMENT (a term names a
 *  variable that was never added: constraint and variable in the text), E_UNSUPPORTED (too many
 *  variables or constraints). */
cuzk_status cuzk_shape_builder_finish(cuzk_shape_builder *builder, cuzk_shape **out,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

#endif
