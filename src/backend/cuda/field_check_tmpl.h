/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The operations of field_check.h on one pair, for host and device. Include once per field with
 * FC(name) the verbs and FC_TYPE the type; undefines both. */

/** o: CUZK_FIELD_CHECK_RESULTS results of a and b. */
static CUZK_HD inline void FC(check_one)(FC_TYPE *o, const FC_TYPE *a, const FC_TYPE *b)
{
    FC(mul)(&o[0], a, b);
    FC(sqr)(&o[1], a);
    FC(add)(&o[2], a, b);
    FC(sub)(&o[3], a, b);
    FC(neg)(&o[4], a);
    FC(dbl)(&o[5], a);
    FC(inv)(&o[6], a);
    FC(from_canonical)(&o[7], (const uint64_t *)b);
    FC(to_canonical)((uint64_t *)&o[8], a);
}

#undef FC
#undef FC_TYPE
