/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads of stages beside their devices, on a made-up machine: two nodes with one processor of
 * this machine each. */
#define _GNU_SOURCE
#include "work/places.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cpu_set_t at_start;
static int cpus[2] = {-1, -1};

static void expect_at(int cpu)
{
    cpu_set_t now, expected = at_start;
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    if (cpu >= 0) {
        CPU_ZERO(&expected);
        CPU_SET(cpu, &expected);
    }
    assert_true(CPU_EQUAL(&now, &expected));
}

static const cuzk_work_devices devices = {.devices = {{.id = "cuda:0", .numa_node = 1},
                                                      {.id = "cuda:1", .numa_node = 0},
                                                      {.id = "cuda:2", .numa_node = -1},
                                                      {.id = "cuda:3", .numa_node = 9}},
                                          .n = 4};

static void init_two(cuzk_places *places, bool is_on)
{
    char machine[128];
    cuzk_error err = {0};
    snprintf(machine, sizeof machine, "pack:2 [numa] pu:1(indexes=%d,%d)", cpus[0], cpus[1]);
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    assert_int_equal(cuzk_places_init(places, &devices, is_on, &err), CUZK_OK);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
}

static void test_two_nodes(void **state)
{
    (void)state;
    cuzk_places places;
    if (cpus[1] < 0) {
        skip();
    }
    init_two(&places, true);
    assert_string_equal(cuzk_places_note(&places), "2 NUMA nodes: 0, 1");
    static const struct {
        int device, maker, cpu; /* index into cpus; -1: anywhere */
    } cases[] = {{0, -1, 1}, {1, -1, 0},  {2, -1, -1}, {-1, 0, 0}, {-1, 1, 1}, {-1, -1, -1},
                 {-1, 2, 0}, {-1, 17, 1}, {3, -1, -1}, {0, -1, 1}, {2, -1, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_places_put(&places, cases[i].device, cases[i].maker);
        expect_at(cases[i].cpu < 0 ? -1 : cpus[cases[i].cpu]);
    }
    cuzk_places_clear(&places);
}

static void test_off(void **state)
{
    (void)state;
    cuzk_places places;
    if (cpus[1] < 0) {
        skip();
    }
    init_two(&places, false);
    assert_string_equal(cuzk_places_note(&places), "off");
    cuzk_places_put(&places, 0, -1);
    expect_at(-1);
    cuzk_places_put(&places, -1, 1);
    expect_at(-1);
    cuzk_places_clear(&places);
    cuzk_places_clear(&places);
}

/* One node, as on most machines: nothing is bound, whatever the cards' nodes. */
static void test_one_node(void **state)
{
    (void)state;
    cuzk_places places;
    cuzk_error err = {0};
    setenv("HWLOC_SYNTHETIC", "[numa] core:4 pu:1", 1);
    assert_int_equal(cuzk_places_init(&places, &devices, true, &err), CUZK_OK);
    unsetenv("HWLOC_SYNTHETIC");
    assert_string_equal(cuzk_places_note(&places),
                        "one NUMA node has all processors of this process");
    for (int i = -1; i < 4; i++) {
        cuzk_places_put(&places, i, i < 0 ? 3 : -1);
        expect_at(-1);
    }
    cuzk_places_clear(&places);
}

int main(void)
{
    assert_int_equal(sched_getaffinity(0, sizeof at_start, &at_start), 0);
    for (int i = 0, n = 0; i < CPU_SETSIZE && n < 2; i++) {
        if (CPU_ISSET(i, &at_start)) {
            cpus[n++] = i;
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_nodes),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_one_node),
    };
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
