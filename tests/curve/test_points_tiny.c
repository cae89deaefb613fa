/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The point formulas over tiny curves, exhaustively: every pair of points in every form against the
 * group law's definition. The curves have points of order two (the second) and three, which the
 * subgroups of the real curves lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "field/limbs.h"

#define TINY(name) c13_##name
#define TINY_P     13
#define TINY_B     2
#include "curve/points_tiny_tmpl.h"

#define TINY(name) c19_##name
#define TINY_P     19
#define TINY_B     8
#include "curve/points_tiny_tmpl.h"

#define TINY(name) c23_##name
#define TINY_P     23
#define TINY_B     7
#include "curve/points_tiny_tmpl.h"

#define TINY(name) c31_##name
#define TINY_P     31
#define TINY_B     3
#include "curve/points_tiny_tmpl.h"

static void test_all(void **state)
{
    (void)state;
    assert_int_equal(c13_check(), 19);
    assert_int_equal(c19_check() % 2, 0);
    assert_int_equal(c23_check(), 24);
    assert_int_equal(c31_check(), 43);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
