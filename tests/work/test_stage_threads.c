/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads of the stages where nobody says how many. */
#include "work/stage_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_defaults(void **state)
{
    (void)state;
    static const struct {
        unsigned n_devices, n_processors, each, makers;
    } cases[] = {{1, 1, 2, 1},   {1, 16, 2, 16},   {1, 64, 2, 18}, {2, 64, 2, 18},
                 {4, 64, 4, 18}, {8, 16, 8, 16},   {8, 64, 8, 32}, {8, 128, 8, 32},
                 {5, 64, 5, 20}, {16, 128, 16, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_stage_threads t = cuzk_stage_threads_fill((cuzk_stage_threads){0}, cases[i].n_devices,
                                                       cases[i].n_processors);
        assert_int_equal(t.n_decoders, cases[i].each);
        assert_int_equal(t.n_finishers, cases[i].each);
        assert_int_equal(t.n_verifiers, cases[i].each);
        assert_int_equal(t.n_witness, cases[i].makers);
    }
}

static void test_asked(void **state)
{
    (void)state;
    cuzk_stage_threads t = cuzk_stage_threads_fill((cuzk_stage_threads){3, 100, 0, 1}, 8, 64);
    assert_int_equal(t.n_decoders, 3);
    assert_int_equal(t.n_witness, 100);
    assert_int_equal(t.n_finishers, 8);
    assert_int_equal(t.n_verifiers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_asked),
    };
    return cmocka_run_group_tests_name("stage threads", tests, NULL, NULL);
}
