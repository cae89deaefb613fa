/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A circom key lists its coefficients in any order: they are brought into rows here, each term with
 * a coefficient of its own. */
#include "backend/cuda/device_rows.h"

#include "backend/cuda/image.h"

#include <stdlib.h>
#include <string.h>

/* ---- plan ---- */

static bool is_long(const cuzk_rows *rows, uint32_t stored_row)
{
    return rows->begin[stored_row + 1] - rows->begin[stored_row] > CUZK_ROWS_LONG;
}

static uint32_t count_long(const cuzk_shape *s, int m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        for (uint32_t row = 0; row < b->n_rows; row++) {
            n += is_long(&s->rows[m], b->stored_row + row) ? b->n_copies : 0;
        }
    }
    return n;
}

static cuzk_status count_shape(cuzk_device_rows *r, cuzk_error *err)
{
    const cuzk_shape *s = r->shape;
    for (int m = 0; m < 2; m++) {
        uint64_t n = s->rows[m].begin[s->n_stored_rows];
        CUZK_FAIL_IF(n > UINT32_MAX, err, CUZK_E_UNSUPPORTED,
                     "moving a circuit to a device: %llu terms in %c, at most 2^32 - 1",
                     (unsigned long long)n, "AB"[m]);
        r->n_terms[m] = (size_t)n;
        r->n_long[m] = count_long(s, m);
    }
    r->n_stored = s->n_stored_rows;
    r->n_constraints = s->n_constraints;
    r->n_inputs = s->n_inputs;
    r->n_blocks = s->n_blocks;
    return CUZK_OK;
}

static cuzk_status count_zkey(cuzk_device_rows *r, cuzk_error *err)
{
    const cuzk_zkey *key = r->zkey;
    CUZK_FAIL_IF(key->n_coeffs > UINT32_MAX, err, CUZK_E_UNSUPPORTED,
                 "moving a circuit to a device: %llu coefficients, at most 2^32 - 1",
                 (unsigned long long)key->n_coeffs);
    uint32_t *of_row = calloc((size_t)2 << r->lg_n, 4); /* terms */
    CUZK_FAIL_IF(of_row == NULL, err, CUZK_E_MEMORY, "moving a circuit to a device: out of memory");
    for (uint64_t i = 0; i < key->n_coeffs; i++) {
        cuzk_zkey_coeff c;
        if (!cuzk_zkey_coeff_read(key, i, &c)) {
            free(of_row);
            return cuzk_zkey_coeff_fail(key, i, err);
        }
        r->n_terms[c.matrix]++;
        of_row[((size_t)c.matrix << r->lg_n) + c.row]++;
    }
    for (size_t i = 0; i < (size_t)2 << r->lg_n; i++) {
        r->n_long[i >> r->lg_n] += of_row[i] > CUZK_ROWS_LONG;
    }
    free(of_row);
    r->n_stored = r->n_constraints = 1u << r->lg_n;
    r->n_inputs = key->n_public + 1;
    r->n_blocks = 1;
    return CUZK_OK;
}

static void plan_memory(cuzk_device_rows *r, cuzk_arena *a)
{
    for (int m = 0; m < 2; m++) {
        r->begin[m] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * ((size_t)r->n_stored + 1));
        r->var[m] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * r->n_terms[m]);
        r->long_rows[m] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * (size_t)r->n_long[m]);
        if (r->shape != NULL) {
            r->code[m] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * r->n_terms[m]);
        } else {
            r->coefs[m] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 32 * r->n_terms[m]);
        }
    }
    r->blocks = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, sizeof(cuzk_rows_block) * r->n_blocks);
    if (r->shape != NULL) {
        r->choices = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * (size_t)r->shape->n_choices);
        r->coefs[0] = r->coefs[1] =
            cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, sizeof(cuzk_fr) * (size_t)r->shape->n_coefs);
    }
}

static cuzk_status find_kernels(cuzk_device_rows *r, cuzk_error *err)
{
    CUZK_CUDA_TRY(r->api, err, cuModuleGetFunction, (&r->kernel, r->module, "rows_times_witness"));
    CUZK_CUDA_TRY(r->api, err, cuModuleGetFunction,
                  (&r->long_kernel, r->module, "long_rows_times_witness"));
    return CUZK_OK;
}

cuzk_status cuzk_device_rows_open(cuzk_device_rows *out, const cuzk_cuda_api *api,
                                  const cuzk_shape *shape, const cuzk_zkey *zkey, unsigned lg_n,
                                  cuzk_arena *arena, cuzk_error *err)
{
    cuzk_device_rows r = {.api = api, .shape = shape, .zkey = zkey, .lg_n = lg_n};
    const cuzk_curve *curve = shape != NULL ? shape->curve : zkey->curve;
    CUZK_TRY(shape != NULL ? count_shape(&r, err) : count_zkey(&r, err));
    plan_memory(&r, arena);
    const unsigned char *image =
        curve->id == CUZK_CURVE_BN254 ? CUZK_IMAGE(rows, bn254) : CUZK_IMAGE(rows, bls12_381);
    CUZK_CUDA_TRY(api, err, cuModuleLoadData, (&r.module, image));
    cuzk_status status = find_kernels(&r, err);
    if (status != CUZK_OK) {
        cuzk_device_rows_close(&r);
        return status;
    }
    *out = r;
    return CUZK_OK;
}

void cuzk_device_rows_close(cuzk_device_rows *r)
{
    if (r->module != NULL) {
        (void)CUZK_CU(r->api, cuModuleUnload)(r->module);
    }
}

/* ---- upload ---- */

static cuzk_status copy(const cuzk_device_rows *r, const cuzk_arena *a, size_t offset,
                        const void *from, size_t n_bytes, cuzk_error *err)
{
    if (n_bytes != 0) {
        CUZK_CUDA_TRY(r->api, err, cuMemcpyHtoD, (a->at + offset, from, n_bytes));
    }
    return CUZK_OK;
}

static cuzk_status upload_begin(const cuzk_device_rows *r, const cuzk_arena *a, int m,
                                cuzk_error *err)
{
    uint32_t *begin = malloc(4 * ((size_t)r->n_stored + 1));
    CUZK_FAIL_IF(begin == NULL, err, CUZK_E_MEMORY, "moving a circuit to a device: out of memory");
    for (size_t i = 0; i <= r->n_stored; i++) {
        begin[i] = (uint32_t)r->shape->rows[m].begin[i];
    }
    cuzk_status status = copy(r, a, r->begin[m], begin, 4 * ((size_t)r->n_stored + 1), err);
    free(begin);
    return status;
}

/* The constraints of the matrix that are long. */
static cuzk_status upload_long(const cuzk_device_rows *r, const cuzk_arena *a, int m,
                               cuzk_error *err)
{
    const cuzk_shape *s = r->shape;
    uint32_t *rows = malloc(4 * (size_t)r->n_long[m] + 1), n = 0;
    CUZK_FAIL_IF(rows == NULL, err, CUZK_E_MEMORY, "moving a circuit to a device: out of memory");
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const cuzk_shape_block *b = &s->blocks[i];
        for (uint32_t row = 0; row < b->n_rows; row++) {
            for (uint32_t k = 0; is_long(&s->rows[m], b->stored_row + row) && k < b->n_copies;
                 k++) {
                rows[n++] = b->first_row + k * b->n_rows + row;
            }
        }
    }
    cuzk_status status = copy(r, a, r->long_rows[m], rows, 4 * (size_t)n, err);
    free(rows);
    return status;
}

static cuzk_status upload_blocks(const cuzk_device_rows *r, const cuzk_arena *a, cuzk_error *err)
{
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        const cuzk_shape_block *b = &r->shape->blocks[i];
        cuzk_rows_block block = {.first_row = b->first_row,
                                 .stored_row = b->stored_row,
                                 .n_rows = b->n_rows,
                                 .n_copies = b->n_copies,
                                 .first_input = b->first_input,
                                 .input_stride = b->input_stride,
                                 .first_aux = b->first_aux,
                                 .aux_stride = b->aux_stride,
                                 .first_choice = b->first_choice,
                                 .n_choice = b->n_choice,
                                 .first_of_choices = b->first_of_choices};
        CUZK_TRY(copy(r, a, r->blocks + i * sizeof block, &block, sizeof block, err));
    }
    return CUZK_OK;
}

static cuzk_status upload_shape(const cuzk_device_rows *r, const cuzk_arena *a, cuzk_error *err)
{
    const cuzk_shape *s = r->shape;
    for (int m = 0; m < 2; m++) {
        CUZK_TRY(upload_begin(r, a, m, err));
        CUZK_TRY(upload_long(r, a, m, err));
        CUZK_TRY(copy(r, a, r->var[m], s->rows[m].var, 4 * r->n_terms[m], err));
        CUZK_TRY(copy(r, a, r->code[m], s->rows[m].code, 4 * r->n_terms[m], err));
    }
    CUZK_TRY(upload_blocks(r, a, err));
    CUZK_TRY(copy(r, a, r->choices, s->choices, 4 * (size_t)s->n_choices, err));
    return copy(r, a, r->coefs[0], s->coefs_r2, sizeof(cuzk_fr) * (size_t)s->n_coefs, err);
}

/* The rows of one matrix of a circom key. */
typedef struct {
    uint32_t *begin, *var, *long_rows;
    uint64_t (*coefs)[4];
} key_rows;

/* Terms to rows: begin[i + 1] counts up from where row i begins, so that it ends where it ends. */
static void fill_rows(const cuzk_zkey *key, uint32_t matrix, uint32_t n_rows, key_rows *out)
{
    cuzk_zkey_coeff c;
    memset(out->begin, 0, 4 * ((size_t)n_rows + 2));
    for (uint64_t i = 0; i < key->n_coeffs; i++) {
        if (cuzk_zkey_coeff_read(key, i, &c) && c.matrix == matrix) {
            out->begin[c.row + 2]++;
        }
    }
    for (uint32_t i = 2; i <= n_rows; i++) {
        out->begin[i] += out->begin[i - 1];
    }
    for (uint64_t i = 0; i < key->n_coeffs; i++) {
        if (cuzk_zkey_coeff_read(key, i, &c) && c.matrix == matrix) {
            uint32_t at = out->begin[c.row + 1]++;
            out->var[at] = c.wire;
            memcpy(out->coefs[at], c.value.l, 32);
        }
    }
    uint32_t n_long = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        if (out->begin[i + 1] - out->begin[i] > CUZK_ROWS_LONG) {
            out->long_rows[n_long++] = i;
        }
    }
}

static cuzk_status upload_key_matrix(const cuzk_device_rows *r, const cuzk_arena *a, int m,
                                     cuzk_error *err)
{
    key_rows rows = {.begin = malloc(4 * ((size_t)r->n_stored + 2)),
                     .var = malloc(4 * r->n_terms[m] + 1),
                     .long_rows = malloc(4 * (size_t)r->n_long[m] + 1),
                     .coefs = malloc(32 * r->n_terms[m] + 1)};
    cuzk_status status = CUZK_OK;
    if (rows.begin == NULL || rows.var == NULL || rows.long_rows == NULL || rows.coefs == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "moving a circuit to a device: out of memory");
    } else {
        fill_rows(r->zkey, (uint32_t)m, r->n_stored, &rows);
        status = copy(r, a, r->begin[m], rows.begin, 4 * ((size_t)r->n_stored + 1), err);
    }
    status = status != CUZK_OK ? status : copy(r, a, r->var[m], rows.var, 4 * r->n_terms[m], err);
    status =
        status != CUZK_OK ? status : copy(r, a, r->coefs[m], rows.coefs, 32 * r->n_terms[m], err);
    status = status != CUZK_OK
                 ? status
                 : copy(r, a, r->long_rows[m], rows.long_rows, 4 * (size_t)r->n_long[m], err);
    free(rows.begin);
    free(rows.var);
    free(rows.long_rows);
    free(rows.coefs);
    return status;
}

cuzk_status cuzk_device_rows_upload(const cuzk_device_rows *r, const cuzk_arena *a, cuzk_error *err)
{
    if (r->shape != NULL) {
        return upload_shape(r, a, err);
    }
    CUZK_TRY(upload_key_matrix(r, a, 0, err));
    CUZK_TRY(upload_key_matrix(r, a, 1, err));
    /* one block in which nothing moves: no variable has such a number */
    cuzk_rows_block block = {
        .n_rows = r->n_stored, .n_copies = 1, .first_aux = UINT32_MAX, .first_input = UINT32_MAX};
    return copy(r, a, r->blocks, &block, sizeof block, err);
}

cuzk_status cuzk_device_rows_eval(const cuzk_device_rows *r, const cuzk_arena *a, unsigned matrix,
                                  const cuzk_rows_witness *w, CUdeviceptr out, CUstream stream,
                                  cuzk_error *err)
{
    bool has_codes = r->shape != NULL;
    cuzk_rows_args args = {.out = (void *)(uintptr_t)out,
                           .begin = (void *)(uintptr_t)(a->at + r->begin[matrix]),
                           .var = (void *)(uintptr_t)(a->at + r->var[matrix]),
                           .code = has_codes ? (void *)(uintptr_t)(a->at + r->code[matrix]) : NULL,
                           .coefs = (void *)(uintptr_t)(a->at + r->coefs[matrix]),
                           .blocks = (void *)(uintptr_t)(a->at + r->blocks),
                           .choices = (void *)(uintptr_t)(a->at + r->choices),
                           .w = *w,
                           .n_blocks = r->n_blocks,
                           .lg_n = r->lg_n,
                           .n_constraints = r->n_constraints,
                           .n_inputs = r->n_inputs,
                           .inputs_follow = has_codes && matrix == 0,
                           .long_rows = (void *)(uintptr_t)(a->at + r->long_rows[matrix]),
                           .n_long = r->n_long[matrix]};
    void *params[] = {&args};
    unsigned blocks = ((1u << r->lg_n) + CUZK_ROWS_BLOCK - 1) / CUZK_ROWS_BLOCK;
    CUZK_CUDA_TRY(r->api, err, cuLaunchKernel,
                  (r->kernel, blocks, 1, 1, CUZK_ROWS_BLOCK, 1, 1, 0, stream, params, NULL));
    blocks = (unsigned)(((uint64_t)args.n_long * 32 + CUZK_ROWS_BLOCK - 1) / CUZK_ROWS_BLOCK);
    if (blocks != 0) {
        CUZK_CUDA_TRY(
            r->api, err, cuLaunchKernel,
            (r->long_kernel, blocks, 1, 1, CUZK_ROWS_BLOCK, 1, 1, 0, stream, params, NULL));
    }
    return CUZK_OK;
}
