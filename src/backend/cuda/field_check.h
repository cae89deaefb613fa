/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many results the field check gives for one pair (a, b), and which: a·b, a², a + b, a - b, -a,
 * 2a, 1/a, from_canonical(words of b), to_canonical(a). */
#ifndef CUZK_BACKEND_CUDA_FIELD_CHECK_H
#define CUZK_BACKEND_CUDA_FIELD_CHECK_H

enum { CUZK_FIELD_CHECK_RESULTS = 9 };

/* The same for loose a and b of fr (field/factor.h): a·b with b as a factor, a + b, a - b; reduced.
 */
enum { CUZK_FACTOR_CHECK_RESULTS = 3 };

/* The same for loose a and b of fp and fp2 (field/loose_ptx.h): a·b, a², a·b + a and a² - a - b,
 * reduced.
 */
enum { CUZK_LOOSE_CHECK_RESULTS = 4 };

#endif
