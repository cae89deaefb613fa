/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "groth16/setup_write.h"

#include "formats/params.h"
#include "formats/zkey_write.h"

static void write_row(cuzk_zkey_writer *w, const cuzk_shape *shape, const cuzk_row_run *run,
                      uint32_t stored_row, uint32_t row)
{
    for (uint32_t k = CUZK_MATRIX_A; k <= CUZK_MATRIX_B; k++) {
        const cuzk_rows *m = &shape->rows[k];
        for (uint64_t t = m->begin[stored_row]; t < m->begin[stored_row + 1]; t++) {
            cuzk_zkey_writer_coeff(w, k, row, cuzk_row_run_var(run, m->var[t]),
                                   &shape->coefs[m->code[t]]);
        }
    }
}

static void write_coeffs(cuzk_zkey_writer *w, const cuzk_shape *shape)
{
    for (uint32_t row = 0; row < shape->n_constraints;) {
        cuzk_row_run run = cuzk_shape_run(shape, row, shape->n_constraints);
        for (uint32_t i = 0; i < run.n; i++, row++) {
            write_row(w, shape, &run, run.stored_row + i, row);
        }
    }
    for (uint32_t i = 0; i < shape->n_inputs; i++) {
        cuzk_zkey_writer_coeff(w, CUZK_MATRIX_A, shape->n_constraints + i, i,
                               &shape->curve->fr_one);
    }
}

cuzk_status cuzk_generated_key_write_zkey(FILE *file, const cuzk_generated_key *key,
                                          const cuzk_shape *shape, cuzk_error *err)
{
    CUZK_FAIL_IF(key->style != CUZK_KEY_CIRCOM || key->n_vars != shape->n_vars ||
                     key->n_inputs != shape->n_inputs,
                 err, CUZK_E_ARGUMENT, "writing a .zkey: not a circom key of this circuit");
    uint64_t n_coeffs = cuzk_shape_n_terms(shape, CUZK_MATRIX_A) +
                        cuzk_shape_n_terms(shape, CUZK_MATRIX_B) + shape->n_inputs;
    CUZK_FAIL_IF(n_coeffs > UINT32_MAX, err, CUZK_E_UNSUPPORTED,
                 "writing a .zkey: %llu coefficients, the format holds at most 2^32 - 1",
                 (unsigned long long)n_coeffs);
    cuzk_zkey_header header = {.vk = &key->vk,
                               .n_vars = key->n_vars,
                               .domain_size = (uint32_t)1 << key->lg_n,
                               .n_coeffs = (uint32_t)n_coeffs,
                               .test_mark = key->is_test_key};
    cuzk_zkey_writer w;
    CUZK_TRY(cuzk_zkey_writer_begin(&w, file, &header, err));
    write_coeffs(&w, shape);
    cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_H, key->h, key->n_h);
    cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_C, key->c, key->n_c);
    cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_A, key->a, key->n_a);
    cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_B1, key->b1, key->n_b);
    cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_B2, key->b2, key->n_b);
    return cuzk_zkey_writer_end(&w, err);
}

cuzk_status cuzk_generated_key_write_params(FILE *file, const cuzk_generated_key *key,
                                            cuzk_error *err)
{
    CUZK_FAIL_IF(key->style != CUZK_KEY_BELLPERSON, err, CUZK_E_ARGUMENT,
                 "writing a .params: not a bellperson key");
    cuzk_params_write_params w = {.vk = &key->vk, .test_mark = key->is_test_key};
    const struct {
        const void *points;
        uint64_t n;
    } arrays[CUZK_PARAMS_ARRAY_COUNT] = {[CUZK_PARAMS_H] = {key->h, key->n_h},
                                         [CUZK_PARAMS_L] = {key->c, key->n_c},
                                         [CUZK_PARAMS_A] = {key->a, key->n_a},
                                         [CUZK_PARAMS_B_G1] = {key->b1, key->n_b},
                                         [CUZK_PARAMS_B_G2] = {key->b2, key->n_b}};
    for (int i = 0; i < CUZK_PARAMS_ARRAY_COUNT; i++) {
        w.arrays[i].points = arrays[i].points;
        w.arrays[i].n = (uint32_t)arrays[i].n;
    }
    return cuzk_params_write(file, &w, err);
}
