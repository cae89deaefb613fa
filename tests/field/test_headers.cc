// SPDX-License-Identifier: MIT OR Apache-2.0
// The field headers are valid C++ : CUDA sees them so. Compiled, not run.
#define CUZK_PATH_IS_ADX  0
#define CUZK_PATH_IS_IFMA 0
#include "field/fields.h"

int main()
{
    fp a = CUZK_CC(FP_ONE), b;
    fp_inv(&b, &a);
    fp2 c = CUZK_CC(XI), d;
    fp2_mul(&d, &c, &c);
    fr e;
    fr_set_one(&e);
    return fp_is_one(&b) && fr_is_one(&e) && !fp2_is_zero(&d) ? 0 : 1;
}
