/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Makes the constants of Poseidon from their definition. With M̂ the matrix M without row and column
 * 0, the factorisation of gadgets.md 6.6 has closed forms: its k-th matrix keeps column 0 of M, its
 * row 0 is the one of M times M̂^k, the rest is M̂^(k+1). So the sparse matrices need a vector times
 * M̂ and a vector over M̂ each, not an inversion. */
#include "gadget/poseidon_table.h"

#include <pthread.h>
#include <string.h>

enum { T_MAX = CUZK_POSEIDON_T_MAX, HALF = CUZK_POSEIDON_FULL / 2, FIELD_BITS = 255 };

/* A square matrix with rows of n elements. */
typedef struct {
    unsigned n;
    cuzk_fr m[T_MAX * T_MAX];
} matrix;

/* ---- Grain ---- */

__extension__ typedef unsigned __int128 state80;

/* Bit i of the state is s_i; s_0 leaves first. The taps reach up to s_62, so 16 new bits depend on
 * the state alone. `ready` bits wait in `bits`, the next one lowest. */
typedef struct {
    state80 s;
    uint32_t bits;
    unsigned ready;
} grain;

static unsigned next_bit(grain *g)
{
    if (g->ready == 0) {
        state80 s = g->s;
        state80 fresh = (s >> 62 ^ s >> 51 ^ s >> 38 ^ s >> 23 ^ s >> 13 ^ s) & 0xffff;
        g->s = s >> 16 | fresh << 64;
        g->bits = (uint32_t)fresh;
        g->ready = 16;
    }
    unsigned bit = g->bits & 1;
    g->bits >>= 1;
    g->ready--;
    return bit;
}

static void grain_start(grain *g, unsigned t, unsigned n_partial)
{
    const struct {
        unsigned width, value;
    } fields[] = {{2, 1},
                  {4, 1},
                  {12, FIELD_BITS},
                  {12, t},
                  {10, CUZK_POSEIDON_FULL},
                  {10, n_partial},
                  {30, (1u << 30) - 1}};
    memset(g, 0, sizeof *g);
    unsigned place = 0;
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        for (unsigned b = fields[f].width; b-- > 0;) {
            g->s |= (state80)(fields[f].value >> b & 1) << place++;
        }
    }
    for (int i = 0; i < 160; i++) {
        (void)next_bit(g);
    }
}

/* The stream shrinks itself: of each pair of bits the first says whether the second counts. */
static unsigned shrunk_bit(grain *g)
{
    while (next_bit(g) == 0) {
        (void)next_bit(g);
    }
    return next_bit(g);
}

void cuzk_poseidon_round_constants(cuzk_fr *out, const cuzk_curve *curve, unsigned t,
                                   unsigned n_partial)
{
    grain g;
    grain_start(&g, t, n_partial);
    for (size_t i = 0; i < (size_t)(CUZK_POSEIDON_FULL + n_partial) * t;) {
        cuzk_fr x = {{0, 0, 0, 0}};
        for (unsigned b = FIELD_BITS; b-- > 0;) {
            x.l[b / 64] |= (uint64_t)shrunk_bit(&g) << b % 64;
        }
        uint8_t bytes[32]; /* little-endian whatever the machine */
        for (unsigned b = 0; b < 32; b++) {
            bytes[b] = (uint8_t)(x.l[b / 8] >> 8 * (b % 8));
        }
        if (curve->fr_from_canonical_le(&out[i], bytes)) {
            i++;
        }
    }
}

/* ---- matrices ---- */

/* o = v·m; o is not v. */
static void vector_times(const cuzk_curve *c, cuzk_fr *o, const cuzk_fr *v, const matrix *m)
{
    for (unsigned j = 0; j < m->n; j++) {
        cuzk_fr sum = {{0}}, p;
        for (unsigned i = 0; i < m->n; i++) {
            c->fr_mul(&p, &v[i], &m->m[i * m->n + j]);
            c->fr_add(&sum, &sum, &p);
        }
        o[j] = sum;
    }
}

/* o = a·b; o is neither. */
static void times(const cuzk_curve *c, matrix *o, const matrix *a, const matrix *b)
{
    o->n = a->n;
    for (unsigned i = 0; i < a->n; i++) {
        vector_times(c, &o->m[i * a->n], &a->m[i * a->n], b);
    }
}

/* o = m^e, e ≥ 1. */
static void power(const cuzk_curve *c, matrix *o, const matrix *m, unsigned e)
{
    *o = *m;
    for (unsigned bit = 31 - (unsigned)__builtin_clz(e); bit-- > 0;) {
        matrix square;
        times(c, &square, o, o);
        if (e >> bit & 1) {
            times(c, o, &square, m);
        } else {
            *o = square;
        }
    }
}

/* row i -= f·(row k) from column 0 on */
static void subtract_row(const cuzk_curve *c, matrix *m, unsigned i, unsigned k, const cuzk_fr *f)
{
    for (unsigned j = 0; j < m->n; j++) {
        cuzk_fr p;
        c->fr_mul(&p, f, &m->m[k * m->n + j]);
        c->fr_sub(&m->m[i * m->n + j], &m->m[i * m->n + j], &p);
    }
}

/* o = m^-1 by elimination. No pivot is zero: every leading minor of a Cauchy matrix is a Cauchy
 * determinant. */
static void invert(const cuzk_curve *c, matrix *o, const matrix *m)
{
    matrix a = *m;
    unsigned n = m->n;
    o->n = n;
    memset(o->m, 0, sizeof o->m);
    for (unsigned i = 0; i < n; i++) {
        o->m[i * n + i] = c->fr_one;
    }
    for (unsigned k = 0; k < n; k++) {
        cuzk_fr pivot;
        c->fr_inv(&pivot, &a.m[k * n + k]);
        for (unsigned j = 0; j < n; j++) {
            c->fr_mul(&a.m[k * n + j], &a.m[k * n + j], &pivot);
            c->fr_mul(&o->m[k * n + j], &o->m[k * n + j], &pivot);
        }
        for (unsigned i = 0; i < n; i++) {
            if (i != k) {
                cuzk_fr f = a.m[i * n + k];
                subtract_row(c, &a, i, k, &f);
                subtract_row(c, o, i, k, &f);
            }
        }
    }
}

/* M[i][j] = 1 / (i + j + t) */
static void make_mds(const cuzk_curve *c, matrix *m, unsigned t)
{
    m->n = t;
    for (unsigned i = 0; i < t; i++) {
        for (unsigned j = 0; j < t; j++) {
            cuzk_fr x;
            c->fr_from_u64(&x, i + j + t);
            c->fr_inv(&m->m[i * t + j], &x);
        }
    }
}

/* ---- the table ---- */

/* Round constants moved behind the S-boxes and, in the partial rounds, through the inverse matrix
 * onto element 0 (gadgets.md 6.5). */
static void compress_constants(const cuzk_curve *c, cuzk_poseidon_table *k, const cuzk_fr *rc,
                               const matrix *inverse)
{
    unsigned t = k->t, n_partial = k->n_partial;
    cuzk_fr *out = k->crc;
    memcpy(out, rc, t * sizeof *out);
    out += t;
    for (unsigned i = 1; i < HALF; i++, out += t) {
        vector_times(c, out, &rc[i * t], inverse);
    }
    cuzk_fr *keys = out + t; /* of the partial rounds; made from the last to the first */
    cuzk_fr acc[T_MAX], v[T_MAX];
    memcpy(acc, &rc[(HALF + n_partial) * t], t * sizeof *acc);
    for (unsigned i = 0; i < n_partial; i++) {
        vector_times(c, v, acc, inverse);
        keys[n_partial - 1 - i] = v[0];
        memcpy(acc, &rc[(HALF + n_partial - 1 - i) * t], t * sizeof *acc);
        for (unsigned j = 1; j < t; j++) {
            c->fr_add(&acc[j], &acc[j], &v[j]);
        }
    }
    vector_times(c, out, acc, inverse);
    out = keys + n_partial;
    for (unsigned i = 1; i < HALF; i++, out += t) {
        vector_times(c, out, &rc[(HALF + n_partial + i) * t], inverse);
    }
}

/* w_hat, v_rest, pre_sparse; the factorisation's k-th matrix belongs to partial round
 * n_partial - 1 - k. */
static void factor(const cuzk_curve *c, cuzk_poseidon_table *table, const matrix *m)
{
    unsigned t = m->n, n = t - 1;
    matrix hat = {.n = n}, inverse, rest;
    cuzk_fr column[T_MAX], row[T_MAX], tmp[T_MAX];
    for (unsigned i = 0; i < n; i++) {
        column[i] = m->m[(i + 1) * t];
        row[i] = m->m[i + 1];
        memcpy(&hat.m[i * n], &m->m[(i + 1) * t + 1], n * sizeof(cuzk_fr));
    }
    invert(c, &inverse, &hat);
    for (unsigned k = table->n_partial; k-- > 0;) {
        memcpy(table->v_rest[k], row, n * sizeof *row);
        vector_times(c, tmp, row, &hat);
        memcpy(row, tmp, sizeof row);
        vector_times(c, tmp, column, &inverse);
        memcpy(column, tmp, sizeof column);
        table->w_hat[k][0] = m->m[0];
        memcpy(&table->w_hat[k][1], column, n * sizeof *column);
    }
    power(c, &rest, &hat, table->n_partial + 1);
    for (unsigned i = 0; i < t; i++) {
        table->pre_sparse[i * t] = m->m[i * t];
        memcpy(&table->pre_sparse[i * t + 1], i == 0 ? row : &rest.m[(i - 1) * n],
               n * sizeof(cuzk_fr));
    }
}

static void make_blocks(const cuzk_curve *c, cuzk_poseidon_table *k)
{
    unsigned t = k->t;
    cuzk_fr *out = k->blocked;
    for (unsigned first = 0; first < k->n_partial; first += CUZK_POSEIDON_BLOCK) {
        unsigned left = k->n_partial - first;
        unsigned size = left < CUZK_POSEIDON_BLOCK ? left : CUZK_POSEIDON_BLOCK;
        for (unsigned m = 0; m < size; m++) {
            memcpy(out, k->w_hat[first + m], t * sizeof *out);
            out += t;
            for (unsigned p = 0; p < m; p++, out++) {
                /* what x_p has put into elements 1 … t-1 */
                memset(out, 0, sizeof *out);
                for (unsigned j = 1; j < t; j++) {
                    cuzk_fr x;
                    c->fr_mul(&x, &k->v_rest[first + p][j - 1], &k->w_hat[first + m][j]);
                    c->fr_add(out, out, &x);
                }
            }
        }
        for (unsigned j = 1; j < t; j++) {
            for (unsigned m = 0; m < size; m++) {
                *out++ = k->v_rest[first + m][j - 1];
            }
        }
    }
    k->n_blocked = (unsigned)(out - k->blocked);
}

/* x·2^256 to x·2^260, in limbs of 52 bits. */
static void to_lanes(const cuzk_curve *c, cuzk_fr52 *out, const cuzk_fr *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cuzk_fr x = in[i];
        for (int k = 0; k < 4; k++) {
            c->fr_add(&x, &x, &x);
        }
        for (unsigned j = 0; j < 5; j++) {
            unsigned word = 52 * j / 64, shift = 52 * j % 64;
            uint64_t limb = x.l[word] >> shift;
            if (shift > 12 && word < 3) {
                limb |= x.l[word + 1] << (64 - shift);
            }
            out[i].l[j] = limb & 0xfffffffffffffu;
        }
    }
}

static void transpose(cuzk_fr *out, const cuzk_fr *in, unsigned t)
{
    for (unsigned i = 0; i < t; i++) {
        for (unsigned j = 0; j < t; j++) {
            out[j * t + i] = in[i * t + j];
        }
    }
}

static void make_table(cuzk_poseidon_table *k, unsigned arity, unsigned n_partial)
{
    const cuzk_curve *c = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    unsigned t = arity + 1;
    k->arity = arity;
    k->t = t;
    k->n_partial = n_partial;
    /* every S-box but that of the constant tag makes three values, those behind the first round a
     * fourth; and the digest */
    unsigned n_sboxes = t * CUZK_POSEIDON_FULL + n_partial;
    k->n_values = 3 * (n_sboxes - 1) + (n_sboxes - t) + 1;

    cuzk_fr rc[CUZK_POSEIDON_ROUNDS_MAX * T_MAX];
    matrix mds, inverse;
    cuzk_poseidon_round_constants(rc, c, t, n_partial);
    make_mds(c, &mds, t);
    invert(c, &inverse, &mds);
    memcpy(k->mds, mds.m, t * t * sizeof *k->mds);
    compress_constants(c, k, rc, &inverse);
    factor(c, k, &mds);
    make_blocks(c, k);
    transpose(k->mds_columns, k->mds, t);
    transpose(k->pre_sparse_columns, k->pre_sparse, t);

    to_lanes(c, k->crc52, k->crc, t * CUZK_POSEIDON_FULL + n_partial);
    to_lanes(c, k->mds52, k->mds_columns, t * t);
    to_lanes(c, k->pre_sparse52, k->pre_sparse_columns, t * t);
    to_lanes(c, k->blocked52, k->blocked, k->n_blocked);
}

static cuzk_poseidon_table table2, table4, table8, table11;
static pthread_once_t once2 = PTHREAD_ONCE_INIT, once4 = PTHREAD_ONCE_INIT,
                      once8 = PTHREAD_ONCE_INIT, once11 = PTHREAD_ONCE_INIT;

static void make2(void)
{
    make_table(&table2, 2, 55);
}

static void make4(void)
{
    make_table(&table4, 4, 56);
}

static void make8(void)
{
    make_table(&table8, 8, 57);
}

static void make11(void)
{
    make_table(&table11, 11, 57);
}

const cuzk_poseidon_table *cuzk_poseidon_table_get(unsigned arity)
{
    switch (arity) {
    case 2:
        (void)pthread_once(&once2, make2);
        return &table2;
    case 4:
        (void)pthread_once(&once4, make4);
        return &table4;
    case 8:
        (void)pthread_once(&once8, make8);
        return &table8;
    case 11:
        (void)pthread_once(&once11, make11);
        return &table11;
    default:
        return NULL;
    }
}
