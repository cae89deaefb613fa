/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalar multiplication over one coordinate field: part of scalar_mul.h, which includes it once per
 * group with the macros of point_tmpl.h bound.
 *
 * Sums Σ k_j·P_j of a few terms by Straus's method with signed windows: the terms share the
 * doublings, each has a table of its odd multiples 1 … 15 in affine form. */

#define PT_AFFINE PT(affine)
#define PT_JAC    PT(jac)

/** table_i = (2i + 1)·a for i = 0 … MUL_TABLE - 1. One inversion. */
static inline void PT(odd_multiples)(PT_AFFINE *table, const PT_JAC *a)
{
    PT_JAC multiple[MUL_TABLE], twice;
    multiple[0] = *a;
    PT(dbl)(&twice, a);
    for (int i = 1; i < MUL_TABLE; i++) {
        PT(add)(&multiple[i], &multiple[i - 1], &twice);
    }
    PT(batch_to_affine)(table, multiple, sizeof(multiple[0]), MUL_TABLE);
}

/** o = Σ_j scalars_j·(point whose odd multiples are tables_j), n_terms of them. */
static inline void PT(mul_straus)(PT_JAC *o, const PT_AFFINE (*tables)[MUL_TABLE],
                                  const struct mul_digits *scalars, int n_terms)
{
    PT_AFFINE addend;
    int n_digits = 0;
    for (int j = 0; j < n_terms; j++) {
        n_digits = scalars[j].n > n_digits ? scalars[j].n : n_digits;
    }
    PT(set_infinity)(o);
    for (int i = n_digits; i-- > 0;) {
        PT(dbl)(o, o);
        for (int j = 0; j < n_terms; j++) {
            int digit = i < scalars[j].n ? scalars[j].d[i] : 0;
            if (digit > 0) {
                PT(add_affine)(o, o, &tables[j][digit / 2]);
            } else if (digit < 0) {
                PT(affine_neg)(&addend, &tables[j][-digit / 2]);
                PT(add_affine)(o, o, &addend);
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

#undef PT_AFFINE
#undef PT_JAC
#undef PT
