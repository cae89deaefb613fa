/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Poseidon in scalar code, one hash at a time; built for the portable and the adx path. */
#include "base/bytes.h"
#include "field/fields.h"
#include "gadget/poseidon_table.h"

#include <string.h>

typedef fr state;
typedef cuzk_fr coef;

enum { BATCH = 1 };

#define CONSTANTS(table, name) ((table)->name)

typedef struct {
    uint8_t *next;
} sink;

/* Canonical words to little-endian bytes and back, as fr_batch_to_canonical has them. */
static inline void words_to_bytes(uint8_t *out, const uint64_t *w)
{
    for (int k = 0; k < 4; k++) {
        cuzk_store_u64_le(out + 8 * k, w[k]);
    }
}

static inline const fr *constant(const cuzk_fr *k)
{
    return (const fr *)(const void *)k;
}

static void set_tag(state *o, uint64_t tag)
{
    uint64_t w[4] = {tag, 0, 0, 0};
    fr_from_canonical(o, w);
}

static void add(state *o, const coef *k)
{
    fr_add(o, o, constant(k));
}

static void load_add(state *o, const void *const *preimage, unsigned i, const coef *k)
{
    const uint8_t *p = (const uint8_t *)preimage[0] + (size_t)32 * i;
    uint64_t w[4];
    for (int j = 0; j < 4; j++) {
        w[j] = cuzk_load_u64_le(p + 8 * j);
    }
    fr_from_canonical(o, w);
    add(o, k);
}

static void store(void *const *digest, const state *a)
{
    uint64_t w[4];
    fr_to_canonical(w, a);
    words_to_bytes(digest[0], w);
}

static inline void sink_start(sink *to, void *const *values)
{
    to->next = values[0];
}

static inline void put(sink *to, const state *a)
{
    uint64_t w[4];
    fr_to_canonical(w, a);
    words_to_bytes(to->next, w);
    to->next += 32;
}

static inline void sink_end(sink *to)
{
    (void)to;
}

static void sbox(state *o, const coef *k, sink *to, bool with_input)
{
    fr x = *o, x2, x4;
    fr_sqr(&x2, &x);
    fr_sqr(&x4, &x2);
    fr_mul(o, &x4, &x);
    if (k != NULL) {
        add(o, k);
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

/* In place: the five words of h, h < 8·r, minus the multiple of r that leaves h < r. */
static inline void reduce_high(uint64_t *h)
{
    static const uint64_t times4[5] = {UINT64_C(0xfffffffc00000004), UINT64_C(0x4ef6900bfff96ffb),
                                       UINT64_C(0xcce7602026876015), UINT64_C(0xcfb69d4ca675f520),
                                       1};
    static const uint64_t times2[5] = {UINT64_C(0xfffffffe00000002), UINT64_C(0xa77b4805fffcb7fd),
                                       UINT64_C(0x6673b0101343b00a), UINT64_C(0xe7db4ea6533afa90),
                                       0};
    static const uint64_t times1[5] = {UINT64_C(0xffffffff00000001), UINT64_C(0x53bda402fffe5bfe),
                                       UINT64_C(0x3339d80809a1d805), UINT64_C(0x73eda753299d7d48),
                                       0};
    static const uint64_t *const multiples[3] = {times4, times2, times1};
    CUZK_UNROLL
    for (int k = 0; k < 3; k++) {
        uint64_t t[5], borrow = 0;
        CUZK_UNROLL
        for (int j = 0; j < 5; j++) {
            t[j] = cuzk_sbb(h[j], multiples[k][j], &borrow);
        }
        uint64_t keep = 0 - borrow;
        CUZK_UNROLL
        for (int j = 0; j < 5; j++) {
            h[j] = (h[j] & keep) | (t[j] & ~keep);
        }
    }
}

/* At most 16 products below r² = 0.453·r·2^256 each: the high half of their sum is below 8·r. */
static void sum(state *o, const state *x, const coef *k, unsigned n, const state *plus)
{
    uint64_t acc[9] = {0};
    if (plus != NULL) {
        memcpy(acc + 4, plus->l, sizeof plus->l);
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t w[8], carry = 0;
        fr_mul_wide(w, x[i].l, k[i].l);
        CUZK_UNROLL
        for (int j = 0; j < 8; j++) {
            acc[j] = cuzk_adc(acc[j], w[j], &carry);
        }
        acc[8] += carry;
    }
    reduce_high(acc + 4);
    fr high, low;
    memcpy(high.l, acc + 4, sizeof high.l);
    memset(acc + 4, 0, 4 * sizeof *acc);
    fr_redc_wide(&low, acc);
    fr_add(o, &low, &high);
}

static inline void settle(state *o)
{
    (void)o; /* always reduced */
}

#include "gadget/poseidon_tmpl.h"
