/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Plans of loads whose answer is known without a simulation. */
#include "timeline/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t S = 1000000000, HOUR = UINT64_C(3600000000000);
static cuzk_error err;
static cuzk_plan_result r;

static cuzk_sim_machine machine(unsigned n_devices)
{
    return (cuzk_sim_machine){.n_devices = n_devices,
                              .n_workers = 2,
                              .n_witness = 4,
                              .n_finishers = 2,
                              .n_verifiers = 2,
                              .witness_ahead = 2,
                              .budget_bytes = 1000,
                              .cores = 8,
                              .copies = n_devices};
}

static void plan(const cuzk_plan_kind *kinds, size_t n, const cuzk_sim_machine *m, unsigned n_m)
{
    assert_int_equal(cuzk_plan_run(&r, kinds, n, m, 8 * HOUR, n_m, &err), CUZK_OK);
}

static void near(double found, double wanted, double part)
{
    if (!(fabs(found - wanted) <= part * wanted)) {
        fail_msg("%g, expected %g", found, wanted);
    }
}

/* Half of a device's time: shares are demand over supply, and twice as much could be done. */
static void test_shares(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {
        .witness = S / 2, .copy = S / 10, .lane = S, .kernel = S, .bytes = 100};
    const cuzk_plan_kind kind = {
        .per_hour = 900, .at_once = 1, .n_units = 2, .priority = 2, .of = &unit, .n_of = 1};
    cuzk_sim_machine m = machine(1);
    plan(&kind, 1, &m, 1);
    near((double)r.times[0].n_jobs, 7200, 0.04); /* the standard deviation: 85 */
    double jobs_a_s = (double)r.times[0].n_jobs / (double)(r.length_ns / S);
    assert_int_equal(r.n_units, 2 * r.times[0].n_jobs);
    near(r.share[CUZK_PLAN_DEVICES], 2 * jobs_a_s, 1e-6);
    near(r.share[CUZK_PLAN_COPIES], 0.2 * jobs_a_s, 1e-6);
    near(r.share[CUZK_PLAN_CORES], jobs_a_s / 8, 1e-6);
    near(r.share[CUZK_PLAN_WORKERS], 2.2 * jobs_a_s / 2, 1e-6);
    near(r.speed, 1 / (2 * jobs_a_s), 0.01);
    assert_true(r.keeps_up && r.share[CUZK_PLAN_MEMORY] > 0 && r.share[CUZK_PLAN_MEMORY] <= 1);
    /* nothing is faster than the way of one that is alone */
    assert_true(r.times[0].mean_ns >= 2600000000u && r.times[0].p99_ns <= r.times[0].worst_ns);
    const cuzk_plan_result before = r;
    plan(&kind, 1, &m, 1);
    assert_memory_equal(&before, &r, sizeof r); /* the same each time */
    m.cores = m.budget_bytes = 0;
    plan(&kind, 1, &m, 1);
    assert_true(isnan(r.share[CUZK_PLAN_CORES]) && isnan(r.share[CUZK_PLAN_MEMORY]));
}

/* Three times what a device can do: two are too few, four machines of one device are enough. */
static void test_machines(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {.lane = S, .kernel = S};
    const cuzk_plan_kind kind = {
        .per_hour = 3600, .at_once = 3, .n_units = 1, .priority = 2, .of = &unit, .n_of = 1};
    cuzk_sim_machine m = machine(1);
    plan(&kind, 1, &m, 1);
    assert_false(r.keeps_up);
    near(r.speed, 1.0 / 3, 0.05);
    assert_true(r.times[0].worst_ns > HOUR);
    plan(&kind, 1, &m, 2);
    assert_false(r.keeps_up);
    plan(&kind, 1, &m, 4);
    assert_true(r.keeps_up);
    near(r.speed, 4.0 / 3, 0.05);
    m = machine(4);
    plan(&kind, 1, &m, 1);
    assert_true(r.keeps_up);
    near(r.speed, 4.0 / 3, 0.05);
}

/* What is urgent comes before the rest, at most after what holds the lane, and may still be late.
 */
static void test_deadlines(void **state)
{
    (void)state;
    const cuzk_sim_unit slow = {.lane = 10 * S}, fast = {.lane = S};
    cuzk_plan_kind kinds[2] = {
        {.per_hour = 300, .at_once = 1, .n_units = 1, .priority = 2, .of = &slow, .n_of = 1},
        {.per_hour = 4,
         .at_once = 1,
         .n_units = 1,
         .priority = 4,
         .deadline_ns = 30 * S,
         .of = &fast,
         .n_of = 1}};
    cuzk_sim_machine m = machine(1);
    plan(kinds, 2, &m, 1);
    assert_true(r.keeps_up && r.times[1].n_late == 0);
    assert_true(r.times[1].worst_ns <= 11 * S && r.times[0].worst_ns > 20 * S);
    kinds[1].deadline_ns = 5 * S;
    plan(kinds, 2, &m, 1);
    assert_true(!r.keeps_up && r.speed > 1 && r.times[1].n_late > 0);
    assert_true(r.times[1].n_late < r.times[1].n_jobs);
}

static cuzk_status attempt(const cuzk_plan_kind *kind, size_t n, const cuzk_sim_machine *m,
                           unsigned n_m)
{
    err = (cuzk_error){0};
    return cuzk_plan_run(&r, kind, n, m, HOUR, n_m, &err);
}

static void test_wrong(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {.lane = S, .bytes = 2000};
    cuzk_plan_kind kind = {
        .per_hour = 0.0001, .at_once = 1, .n_units = 1, .priority = 2, .of = &unit, .n_of = 1};
    cuzk_sim_machine m = machine(1);
    assert_int_equal(attempt(&kind, 0, &m, 1), CUZK_E_ARGUMENT);
    assert_int_equal(attempt(&kind, 1, &m, 0), CUZK_E_ARGUMENT);
    assert_int_equal(attempt(&kind, 1, &m, 1), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no job arrives"));
    kind.per_hour = 100;
    assert_int_equal(attempt(&kind, 1, &m, 1), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "2000"));
    kind.per_hour = 1e9; /* as long as can be simulated */
    m.budget_bytes = 0;
    assert_int_equal(attempt(&kind, 1, &m, 1), CUZK_OK);
    assert_true(r.n_units < 1.02 * CUZK_PLAN_UNITS && r.length_ns < S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
