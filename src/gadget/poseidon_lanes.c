/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Poseidon on eight lanes of 52-bit limbs, sixteen hashes at a time: two vectors side by side hide
 * the latency of each other's multiplications. Built for the paths ifma and ifma-emulated.
 *
 * Ranges, in multiples of r; what is multiplied must be below 2^260 = 35.3, what is squared below
 * half of that. A product of values below a and b is below a·b/35.3 + 2, a sum of products the same
 * with the sum of the a·b. Constants are below 1.
 *  - In full rounds sums of 12 elements below 4 are below 4; squared: 3, fourth power: 3, fifth
 * with its constant: 4.
 *  - A block of partial rounds adds a sum of four S-box outputs below 4 to each element: 2.5. After
 *    at most four of them the element is settled: from 4 (or settled: 5) to below 15; settled:
 * below 2^256 + 6·(2^256 mod r) < 4. Sums of 11 such elements and 4 outputs stay below 8, and the
 * S-box of 8 gives squares below 4, fourth powers below 3, outputs below 4. */
#include "field/lanes.h"
#include "gadget/poseidon_table.h"

#include <string.h>

enum { BATCH = 16, N = FRX8_LIMBS };

typedef struct {
    frx8 v[2];
} state;

typedef cuzk_fr52 coef;

#define CONSTANTS(table, name)              CONSTANTS_##name(table)
#define CONSTANTS_crc(table)                ((table)->crc52)
#define CONSTANTS_mds_columns(table)        ((table)->mds52)
#define CONSTANTS_pre_sparse_columns(table) ((table)->pre_sparse52)
#define CONSTANTS_blocked(table)            ((table)->blocked52)

/* Values go out in pairs: 64 bytes per hash. */
typedef struct {
    uint8_t *const *to;
    size_t done; /* bytes of each hash that are written */
    bool waiting;
    v8 words[2][8]; /* words 0 … 3 of the first value of a pair, then of the second */
} sink;

static void set_tag(state *o, uint64_t tag)
{
    static const uint64_t r2[N] = CUZK_CC(FR52_R2);
    frx8 x, k;
    frx8_set_zero(&x);
    x.l[0] = v8_set1(tag & V8_LOW52);
    x.l[1] = v8_set1(tag >> 52);
    frx8_broadcast(&k, r2);
    frx8_mul(&o->v[0], &x, &k);
    o->v[1] = o->v[0];
}

static void add(state *o, const coef *k)
{
    frx8 c;
    frx8_broadcast(&c, k->l);
    for (int s = 0; s < 2; s++) {
        frx8_add(&o->v[s], &o->v[s], &c);
        frx8_carry(&o->v[s]);
    }
}

static void load_add(state *o, const void *const *preimage, unsigned i, const coef *k)
{
    static const uint64_t r2[N] = CUZK_CC(FR52_R2);
    frx8 x[2], to_mont, c;
    for (int s = 0; s < 2; s++) {
        V8_ALIGN uint8_t records[8][32];
        v8 w[4];
        for (int j = 0; j < 8; j++) {
            memcpy(records[j], (const uint8_t *)preimage[8 * s + j] + (size_t)32 * i, 32);
        }
        for (int j = 0; j < 4; j++) {
            w[j] = v8_load(records[2 * j]);
        }
        v8_deinterleave4(w);
        frx8_from_words(&x[s], w, 0);
    }
    frx8_broadcast(&to_mont, r2);
    frx8_broadcast(&c, k->l);
    frx8_mul2_add(&o->v[0], &x[0], &to_mont, &c, &o->v[1], &x[1], &to_mont, &c);
}

/* Words of the canonical values of both vectors: one Montgomery reduction each. a: carried, below
 * 2^260. All columns but the lowest four are small, so the result is below r + (2^-52 mod r) < 2r.
 */
static void to_canonical(v8 w[2][4], const state *a)
{
    const uint64_t *q = v8_constants(frx8_fold52);
    frx8_columns t[2];
    frx8 x[2];
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        V8_UNROLL
        for (int j = 0; j < N; j++) {
            t[s].t[j] = a->v[s].l[j];
        }
        t[s].t[N] = v8_zero();
        t[s].t[N + 1] = v8_zero();
    }
    V8_UNROLL
    for (int i = 1; i < N; i++) {
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_fold_lo(&t[s], q);
        }
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_fold_hi(&t[s], q, v8_zero());
        }
    }
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        frx8_finish_raw(&x[s], &t[s]);
        frx8_carry(&x[s]);
        frx8_reduce_once(&x[s], 1);
        frx8_to_words(w[s], &x[s]);
    }
}

static void store(void *const *digest, const state *a)
{
    v8 w[2][4];
    to_canonical(w, a);
    for (int s = 0; s < 2; s++) {
        V8_ALIGN uint8_t records[8][32];
        v8_interleave4(w[s]);
        for (int j = 0; j < 4; j++) {
            v8_store(records[2 * j], w[s][j]);
        }
        for (int j = 0; j < 8; j++) {
            memcpy(digest[8 * s + j], records[j], 32);
        }
    }
}

static inline void sink_start(sink *to, void *const *values)
{
    to->to = (uint8_t *const *)values;
    to->done = 0;
    to->waiting = false;
}

/* Write the words that wait: whole pairs, or the lower halves. */
static void flush(sink *to, bool whole)
{
    for (int s = 0; s < 2; s++) {
        v8_transpose(to->words[s]);
        for (int j = 0; j < 8; j++) {
            uint8_t *p = to->to[8 * s + j] + to->done;
            if (whole) {
                v8_storeu(p, to->words[s][j]);
            } else {
                v8_storeu_masked(p, 0x0f, to->words[s][j]);
            }
        }
    }
    to->done += whole ? 64 : 32;
    to->waiting = false;
}

V8_NOINLINE void put(sink *to, const state *a)
{
    v8 w[2][4];
    to_canonical(w, a);
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < 4; k++) {
            to->words[s][(to->waiting ? 4 : 0) + k] = w[s][k];
        }
    }
    if (to->waiting) {
        flush(to, true);
    } else {
        to->waiting = true;
    }
}

static inline void sink_end(sink *to)
{
    if (to->waiting) {
        flush(to, false);
    }
}

V8_NOINLINE void square(state *o, const state *a)
{
    frx8_product p[2] = {{&o->v[0], {&a->v[0], NULL}, {&a->v[0], NULL}, NULL, false},
                         {&o->v[1], {&a->v[1], NULL}, {&a->v[1], NULL}, NULL, false}};
    frx8_square(p, 2, 1, LANES_CARRIED);
}

static void sbox(state *o, const coef *k, sink *to, bool with_input)
{
    state x = *o, x2, x4;
    square(&x2, &x);
    square(&x4, &x2);
    if (k != NULL) {
        frx8 c;
        frx8_broadcast(&c, k->l);
        frx8_mul2_add(&o->v[0], &x4.v[0], &x.v[0], &c, &o->v[1], &x4.v[1], &x.v[1], &c);
    } else {
        frx8_mul2(&o->v[0], &x4.v[0], &x.v[0], &o->v[1], &x4.v[1], &x.v[1]);
    }
    if (to != NULL) {
        if (with_input) {
            put(to, &x);
        }
        put(to, &x2);
        put(to, &x4);
        put(to, o);
    }
}

/* Columns 0 … 9 of a sum of at most 16 products: each below 16·10·2^52. */
typedef struct {
    v8 t[2 * N];
} wide;

V8_NOINLINE void sum(state *o, const state *x, const coef *k, unsigned n, const state *plus)
{
    const uint64_t *q = v8_constants(frx8_fold52);
    wide c[2];
    V8_UNROLL
    for (int j = 0; j < 2 * N; j++) {
        /* what is added stands above the columns that are folded away */
        bool above = plus != NULL && j >= N;
        c[0].t[j] = above ? plus->v[0].l[j - N] : v8_zero();
        c[1].t[j] = above ? plus->v[1].l[j - N] : v8_zero();
    }
    for (unsigned i = 0; i < n; i++) {
        V8_UNROLL
        for (int b = 0; b < N; b++) {
            v8 y = v8_broadcast(&k[i].l[b]);
            V8_UNROLL
            for (int a = 0; a < N; a++) {
                V8_UNROLL
                for (int s = 0; s < 2; s++) {
                    c[s].t[a + b] = v8_madd_lo(c[s].t[a + b], x[i].v[s].l[a], y);
                    c[s].t[a + b + 1] = v8_madd_hi(c[s].t[a + b + 1], x[i].v[s].l[a], y);
                }
            }
        }
    }
    frx8_columns t[2];
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        V8_UNROLL
        for (int j = 0; j < N + 2; j++) {
            t[s].t[j] = c[s].t[j];
        }
    }
    V8_UNROLL
    for (int i = 1; i < N; i++) {
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_fold_lo(&t[s], q);
        }
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_fold_hi(&t[s], q, i + N + 1 < 2 * N ? c[s].t[i + N + 1] : v8_zero());
        }
    }
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        frx8_finish_raw(&o->v[s], &t[s]);
        frx8_carry(&o->v[s]);
    }
}

static void settle(state *o)
{
    for (int s = 0; s < 2; s++) {
        frx8_fold_top(&o->v[s]);
        frx8_carry(&o->v[s]);
    }
}

#include "gadget/poseidon_tmpl.h"
