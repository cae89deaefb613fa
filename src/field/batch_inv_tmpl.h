/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Template over F(name) and F_T: many inversions for the price of one (Montgomery's trick). */

/** Replace each of the n elements a[i] by 1/a[i]; zeros stay zero.
 *
 *  tmp: n elements of workspace, contents undefined after; must not overlap a.
 *  Cost: one inversion and 3n multiplications. */
static CUZK_HD inline void F(batch_inv)(F_T *a, size_t n, F_T *tmp)
{
    F_T acc;
    F(set_one)(&acc);
    for (size_t i = 0; i < n; i++) {
        tmp[i] = acc;
        if (!F(is_zero)(&a[i])) {
            F(mul)(&acc, &acc, &a[i]);
        }
    }
    F(inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (!F(is_zero)(&a[i])) {
            F_T inverse;
            F(mul)(&inverse, &acc, &tmp[i]);
            F(mul)(&acc, &acc, &a[i]);
            a[i] = inverse;
        }
    }
}
