/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalar multiplication over one coordinate field: part of scalar_mul.h, which includes it once per
 * group with the macros of point_tmpl.h bound, and PT(split) and PT(images) defined.
 *
 * Sums Σ k_j·P_j of a few terms by Straus's method with signed windows: each scalar is split along
 * the endomorphism into parts, all parts of all terms share the doublings, each term has a table of
 * the odd multiples that its digits ask for, in affine form, and the image of it for every part. */

#define PT_AFFINE PT(affine)
#define PT_JAC    PT(jac)

/* multiple_i = (2i + 1)·a for i < n. */
static inline void PT(odd_multiples)(PT_JAC *multiple, const PT_JAC *a, int n)
{
    PT_JAC twice;
    if (n > 0) {
        multiple[0] = *a;
    }
    if (n > 1) {
        PT(dbl)(&twice, a);
    }
    for (int i = 1; i < n; i++) {
        PT(add)(&multiple[i], &multiple[i - 1], &twice);
    }
}

/** o = Σ k_j·a_j over n_terms ≤ MUL_TERMS points in the subgroup; k: plain words, below r. One
 *  inversion. Stack: up to 90 KiB. */
static inline void PT(mul_terms)(PT_JAC *o, const PT_JAC *a, const uint64_t (*k)[FR_LIMBS],
                                 int n_terms)
{
    struct mul_digits digits[MUL_TERMS][PT(PARTS)];
    PT_JAC multiples[MUL_TERMS * MUL_TABLE];
    PT_AFFINE tables[PT(PARTS)][MUL_TERMS * MUL_TABLE], addend;
    int first[MUL_TERMS], n_digits = 0, n_multiples = 0;
    for (int j = 0; j < n_terms; j++) {
        int highest = -1; /* odd multiple that is used */
        PT(split)(digits[j], k[j]);
        for (int part = 0; part < PT(PARTS); part++) {
            const struct mul_digits *d = &digits[j][part];
            n_digits = d->n > n_digits ? d->n : n_digits;
            highest = d->highest > highest ? d->highest : highest;
        }
        first[j] = n_multiples;
        PT(odd_multiples)(multiples + n_multiples, &a[j], highest + 1);
        n_multiples += highest + 1;
    }
    if (n_multiples == 0) {
        PT(set_infinity)(o);
        return;
    }
    PT(batch_to_affine)(tables[0], multiples, sizeof(multiples[0]), (size_t)n_multiples);
    for (int i = 0; i < n_multiples; i++) {
        PT(images)(tables, i);
    }
    PT(set_infinity)(o);
    for (int i = n_digits; i-- > 0;) {
        PT(dbl)(o, o);
        for (int j = 0; j < n_terms; j++) {
            for (int part = 0; part < PT(PARTS); part++) {
                int digit = i < digits[j][part].n ? digits[j][part].d[i] : 0;
                const PT_AFFINE *table = tables[part] + first[j];
                if (digit > 0) {
                    PT(add_affine)(o, o, &table[digit / 2]);
                } else if (digit < 0) {
                    PT(affine_neg)(&addend, &table[-digit / 2]);
                    PT(add_affine)(o, o, &addend);
                }
            }
        }
    }
}

/** o = k·a by plain double-and-add: for a k with few bits set. */
static inline void PT(mul_sparse)(PT_JAC *o, const PT_JAC *a, uint64_t k)
{
    PT_JAC acc;
    PT(set_infinity)(&acc);
    for (int i = 64; i-- > 0;) {
        PT(dbl)(&acc, &acc);
        if (k >> i & 1) {
            PT(add)(&acc, &acc, a);
        }
    }
    *o = acc;
}

/** o = k·a for a in the subgroup. */
static inline void PT(mul)(PT_JAC *o, const PT_JAC *a, const fr *k)
{
    uint64_t words[1][FR_LIMBS];
    fr_to_canonical(words[0], k);
    PT(mul_terms)(o, a, words, 1);
}

#undef PT_AFFINE
#undef PT_JAC
#undef PT
