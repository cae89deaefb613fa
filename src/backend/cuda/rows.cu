/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows times witness: rows.h says what. Built once per curve.
 *
 * Floor: bytes; for each term its variable and code, once per copy, 32 bytes for each row written,
 * and the bitmaps, which stay in the L2 cache. Field values cost a multiplication of 448
 * lane-cycles a term. Coefficients of bits that are set are added up and brought to Montgomery form
 * once a row. Launch: one thread a row, a warp a long row, no shared memory. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/rows.h"
#include "field/fields.h"

/* How the variables of a row move. */
typedef struct {
    uint32_t stored_row;
    uint32_t first_input, end_input, add_input;
    uint32_t first_aux, add_aux;
    uint32_t first_choice, n_choice, add_choice;
} row_place;

static __device__ __forceinline__ row_place place_of(const cuzk_rows_args &a, uint32_t row)
{
    const cuzk_rows_block *b = a.blocks + a.n_blocks - 1;
    while (b->first_row > row) {
        b--;
    }
    uint32_t copy = (row - b->first_row) / b->n_rows;
    uint32_t choice = b->n_choice == 0 ? 0 : a.choices[b->first_of_choices + copy];
    row_place p;
    p.stored_row = b->stored_row + (row - b->first_row) - copy * b->n_rows;
    p.first_input = b->first_input;
    p.end_input = a.n_inputs;
    p.add_input = copy * b->input_stride;
    p.first_aux = b->first_aux;
    p.add_aux = copy * b->aux_stride;
    p.first_choice = b->first_choice;
    p.n_choice = b->n_choice;
    p.add_choice = choice - b->first_choice;
    return p;
}

static __device__ __forceinline__ uint32_t moved(const row_place &p, uint32_t var)
{
    if (var >= p.first_aux) {
        return var + p.add_aux;
    }
    if (var - p.first_choice < p.n_choice) {
        return var + p.add_choice;
    }
    return var >= p.first_input && var < p.end_input ? var + p.add_input : var;
}

/* The sums of a row: of bits times coefficients as they are stored, and of the rest. */
typedef struct {
    fr of_bits, of_values;
} row_sum;

static __device__ __forceinline__ void add_term(row_sum *s, const cuzk_rows_witness &w,
                                                const uint64_t *coef, uint32_t var)
{
    uint64_t is_field = __ldg(w.is_field + var / 64), bit = UINT64_C(1) << var % 64;
    fr c, value;
    if ((is_field & bit) == 0) {
        if ((__ldg(w.bits + var / 64) & bit) != 0) {
            cuzk_read_words(c.l, coef, FR_LIMBS);
            fr_add(&s->of_bits, &s->of_bits, &c);
        }
        return;
    }
    size_t at = w.rank[var / 64] + (uint32_t)__popcll(is_field & (bit - 1));
    cuzk_read_words(c.l, coef, FR_LIMBS);
    cuzk_read_words(value.l, w.field + FR_LIMBS * at, FR_LIMBS);
    fr_mul(&value, &value, &c);
    fr_add(&s->of_values, &s->of_values, &value);
}

static __device__ __forceinline__ void add_stored_term(row_sum *s, const cuzk_rows_args &a,
                                                       const row_place &p, uint32_t t)
{
    uint32_t code = a.code == NULL ? t : a.code[t];
    add_term(s, a.w, a.coefs + FR_LIMBS * (size_t)code, moved(p, a.var[t]));
}

static __device__ __forceinline__ void clear(row_sum *s)
{
    fr_set_zero(&s->of_bits);
    fr_set_zero(&s->of_values);
}

/* The whole sum to of_values. */
static __device__ __forceinline__ void join(row_sum *s)
{
    fr one;
    fr_set_zero(&one);
    one.l[0] = 1; /* the number: takes 2^256 out of what the coefficients have too much */
    fr_mul(&s->of_bits, &s->of_bits, &one);
    fr_add(&s->of_values, &s->of_values, &s->of_bits);
}

static __device__ __forceinline__ void write_row(const cuzk_rows_args &a, uint32_t row,
                                                 const fr *value)
{
    uint32_t to = a.lg_n == 0 ? 0 : __brev(row) >> (32 - a.lg_n);
    cuzk_write_words((fr *)a.out + to, value->l, FR_LIMBS);
}

CUZK_KERNEL __launch_bounds__(CUZK_ROWS_BLOCK) rows_times_witness(cuzk_rows_args a)
{
    uint32_t row = blockIdx.x * CUZK_ROWS_BLOCK + threadIdx.x;
    if (row >> a.lg_n != 0) {
        return;
    }
    row_sum s;
    clear(&s);
    if (row < a.n_constraints) {
        row_place p = place_of(a, row);
        uint32_t t = a.begin[p.stored_row], end = a.begin[p.stored_row + 1];
        if (end - t > CUZK_ROWS_LONG) {
            return;
        }
#pragma unroll 1
        for (; t < end; t++) {
            add_stored_term(&s, a, p, t);
        }
    } else if (a.inputs_follow != 0 && row - a.n_constraints < a.n_inputs) {
        add_term(&s, a.w, a.coefs, row - a.n_constraints); /* the first coefficient is 1 */
    }
    join(&s);
    write_row(a, row, &s.of_values);
}

CUZK_KERNEL __launch_bounds__(CUZK_ROWS_BLOCK) long_rows_times_witness(cuzk_rows_args a)
{
    uint32_t lane = threadIdx.x % 32, i = (blockIdx.x * CUZK_ROWS_BLOCK + threadIdx.x) / 32;
    if (i >= a.n_long) {
        return;
    }
    uint32_t row = a.long_rows[i];
    row_place p = place_of(a, row);
    row_sum s;
    clear(&s);
#pragma unroll 1
    for (uint32_t t = a.begin[p.stored_row] + lane; t < a.begin[p.stored_row + 1]; t += 32) {
        add_stored_term(&s, a, p, t);
    }
    join(&s);
#pragma unroll 1
    for (int by = 16; by > 0; by /= 2) {
        fr other;
#pragma unroll
        for (int j = 0; j < FR_LIMBS; j++) {
            uint64_t word = s.of_values.l[j];
            uint32_t low = __shfl_sync(0xffffffffu, (uint32_t)word, (int)lane ^ by);
            uint32_t high = __shfl_sync(0xffffffffu, (uint32_t)(word >> 32), (int)lane ^ by);
            other.l[j] = (uint64_t)high << 32 | low;
        }
        fr_add(&s.of_values, &s.of_values, &other);
    }
    if (lane == 0) {
        write_row(a, row, &s.of_values);
    }
}
