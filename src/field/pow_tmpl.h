/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Template over F(name) and F_T: powers in any field that has set_one, mul and sqr. */

/** o = a^e, e of n_limbs words, least significant first; a^0 = 1, also for a = 0.
 *
 *  Windows of four bits from the top; leading zero windows cost nothing. */
static CUZK_HD inline void F(pow)(F_T *o, const F_T *a, const uint64_t *e, unsigned n_limbs)
{
    F_T table[16], acc;
    F(set_one)(&table[0]);
    table[1] = *a;
    for (int i = 2; i < 16; i++) {
        F(mul)(&table[i], &table[i - 1], a);
    }
    bool started = false;
    F(set_one)(&acc);
    for (unsigned i = 16 * n_limbs; i-- > 0;) {
        unsigned w = (unsigned)(e[i / 16] >> (4 * (i % 16))) & 15;
        if (started) {
            for (int k = 0; k < 4; k++) {
                F(sqr)(&acc, &acc);
            }
        }
        if (w != 0) {
            F(mul)(&acc, &acc, &table[w]);
            started = true;
        }
    }
    *o = acc;
}
