/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The simulator against what can be worked out by hand, and against recordings. */
#include "random.h"
#include "schedule.h"
#include "timeline/simulate.h"
#include "timeline/what_if.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A load of equal units: one job of each given number of partitions, all there at once. */
typedef struct {
    cuzk_sim_load load;
    cuzk_sim_job jobs[64];
    cuzk_sim_unit units[4096];
} equal_load;

static equal_load equal;

static cuzk_sim_load *make(cuzk_sim_unit unit, size_t n_jobs, size_t each)
{
    memset(&equal, 0, sizeof equal);
    equal.load = (cuzk_sim_load){equal.jobs, n_jobs, equal.units, n_jobs * each};
    for (size_t j = 0; j < n_jobs; j++) {
        equal.jobs[j] = (cuzk_sim_job){.priority = 2, .first_unit = j * each, .n_units = each};
        for (size_t u = 0; u < each; u++) {
            equal.units[j * each + u] = unit;
            equal.units[j * each + u].job = j;
        }
    }
    return &equal.load;
}

static cuzk_sim_machine machine(unsigned n_devices, unsigned n_workers)
{
    return (cuzk_sim_machine){.n_devices = n_devices,
                              .n_workers = n_workers,
                              .n_witness = 4,
                              .n_finishers = 2,
                              .n_verifiers = 2,
                              .witness_ahead = 2,
                              .is_backlog = true};
}

static cuzk_sim_result run(const cuzk_sim_load *load, cuzk_sim_machine m)
{
    cuzk_sim_result r;
    cuzk_error err = {0};
    assert_int_equal(cuzk_simulate(&r, load, &m, &err), CUZK_OK);
    return r;
}

static uint64_t end_of(const cuzk_sim_load *load, cuzk_sim_machine m)
{
    cuzk_sim_result r = run(load, m);
    uint64_t end = r.end_ns;
    for (size_t u = 0; u < load->n_units; u++) {
        assert_true(r.unit_ends[u] > 0 && r.unit_ends[u] <= end);
    }
    cuzk_sim_result_clear(&r);
    return end;
}

static const cuzk_sim_unit porep = {.witness = 800,
                                    .before = 100,
                                    .copy = 200,
                                    .lane = 900,
                                    .kernel = 880,
                                    .after = 50,
                                    .finish = 30,
                                    .verify = 20,
                                    .bytes = 1000};
enum { CYCLE = 100 + 200 + 900 + 50, TAIL = 30 + 20 };

static void test_one_worker(void **state)
{
    (void)state;
    cuzk_sim_load *load = make(porep, 1, 10);
    assert_int_equal(end_of(load, machine(1, 1)), 800 + 10 * CYCLE + TAIL);
    cuzk_sim_result r = run(load, machine(1, 1));
    assert_int_equal(r.kernel_ns[0], 8800);
    assert_int_equal(r.lane_ns[0], 9000);
    assert_int_equal(r.worker_ns, 10 * CYCLE);
    assert_int_equal(r.witness_ns, 8000);
    assert_int_equal(r.finish_ns + r.verify_ns, 10 * TAIL);
    assert_int_equal(r.lane_wait_ns, 0);
    cuzk_sim_result_clear(&r);
}

static void test_two_workers_overlap(void **state)
{
    (void)state;
    /* the lane never rests between the first and the last: one period each */
    assert_int_equal(end_of(make(porep, 1, 10), machine(1, 2)), 800 + 300 + 10 * 900 + 50 + TAIL);
    /* where the lane is short, two workers halve the cycle */
    cuzk_sim_unit slow = porep;
    slow.lane = 100;
    slow.copy = 900; /* cycle 1150 */
    assert_int_equal(end_of(make(slow, 1, 10), machine(1, 2)),
                     800 + 100 + 900 + 100 + 100 + 50 + 4 * 1150 + TAIL);
}

static void test_coarse_lane(void **state)
{
    (void)state;
    cuzk_sim_machine m = machine(1, 2);
    m.coarse_lane = true;
    for (m.n_workers = 1; m.n_workers <= 4; m.n_workers++) { /* more workers do not help */
        assert_int_equal(end_of(make(porep, 1, 10), m), 800 + 10 * CYCLE + TAIL);
    }
    /* the historical case: 4.2 s inside the lock, 1.7 s of kernels; without the coarse lock 2.4
     * times */
    cuzk_sim_unit unit = {
        .witness = 1, .before = 1500, .copy = 600, .lane = 1700, .kernel = 1700, .after = 400};
    m.n_workers = 2;
    uint64_t coarse = end_of(make(unit, 1, 100), m);
    m.coarse_lane = false;
    uint64_t fine = end_of(make(unit, 1, 100), m);
    assert_true(coarse / 100 == 4200 && fine / 100 >= 2100 && fine / 100 < 2150);
    m.n_workers = 3;
    assert_true(end_of(make(unit, 1, 100), m) / 100 < 1750);
}

static void test_devices(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        cuzk_sim_machine m = machine(d, 2);
        m.n_witness = 4 * d;
        m.n_finishers = m.n_verifiers = d;
        cuzk_sim_result r = run(make(porep, 2, 60), m);
        uint64_t lanes = 120 / d * 900;
        assert_int_equal(r.end_ns, 800 + 300 + lanes + 50 + TAIL);
        for (unsigned i = 0; i < d; i++) {
            assert_int_equal(r.lane_ns[i], lanes);
        }
        cuzk_sim_result_clear(&r);
    }
    /* witnesses that are made too slowly hold all devices up alike */
    cuzk_sim_machine m = machine(8, 2);
    m.n_witness = 1;
    assert_int_equal(end_of(make(porep, 1, 40), m), 40 * 800 + CYCLE + TAIL);
}

static void test_shared_resources(void **state)
{
    (void)state;
    cuzk_sim_unit only_witness = {.witness = 1000};
    cuzk_sim_machine m = machine(4, 2);
    assert_int_equal(end_of(make(only_witness, 1, 40), m), 40 / 4 * 1000);
    m.cores = 2; /* four threads share two cores */
    assert_int_equal(end_of(make(only_witness, 1, 40), m), 40 / 2 * 1000);
    cuzk_sim_unit only_copy = {.witness = 1, .copy = 1000};
    m = machine(4, 1);
    uint64_t free_bus = end_of(make(only_copy, 1, 40), m);
    m.copies = 1;
    uint64_t one_bus = end_of(make(only_copy, 1, 40), m);
    assert_true(free_bus < 11000 && one_bus >= 40000 && one_bus < 40100);
}

static void test_memory(void **state)
{
    (void)state;
    cuzk_sim_machine m = machine(1, 2);
    m.budget_bytes = 1999; /* one at a time: no overlap at all */
    assert_int_equal(end_of(make(porep, 1, 10), m), 10 * (800 + CYCLE + TAIL));
    m.budget_bytes = 3000;
    cuzk_sim_result r = run(make(porep, 1, 10), m);
    assert_int_equal(r.peak_bytes, 3000);
    cuzk_sim_result_clear(&r);
    m.critical_bytes = 1001; /* is left for what is CRITICAL: one at a time again */
    assert_int_equal(end_of(make(porep, 1, 10), m), 10 * (800 + CYCLE + TAIL));
    m.critical_bytes = 1000;
    r = run(make(porep, 1, 10), m);
    assert_int_equal(r.peak_bytes, 2000);
    cuzk_sim_result_clear(&r);
    m.budget_bytes = 999;
    cuzk_error err = {0};
    assert_int_equal(cuzk_simulate(&r, make(porep, 1, 10), &m, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "1000 bytes"));
    m = machine(1, 0);
    memset(&err, 0, sizeof err);
    assert_int_equal(cuzk_simulate(&r, &equal.load, &m, &err), CUZK_E_ARGUMENT);
}

/* Workers do not go on while twice as many proofs wait as can be finished at once. */
static void test_finish_is_full(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {.lane = 10, .finish = 1000};
    cuzk_sim_machine m = machine(1, 1);
    m.n_finishers = 1;
    cuzk_sim_result r = run(make(unit, 1, 8), m);
    assert_int_equal(r.end_ns, 10 + 8 * 1000);
    cuzk_sim_result_clear(&r);
    /* two wait while the last slow one is finished: the last two are taken after it, one by one */
    const cuzk_sim_unit fast = {.lane = 10, .finish = 1};
    cuzk_sim_load *load = make(unit, 2, 4);
    for (size_t u = 4; u < 8; u++) {
        load->units[u].lane = fast.lane;
        load->units[u].finish = fast.finish;
    }
    assert_int_equal(end_of(load, m), 10 + 4 * 1000 + 2 * 10 + 1);
}

/* Where all workers are busy, one more serves what is CRITICAL: it gets the lane next. */
static void test_critical(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {.before = 1000, .lane = 1000};
    cuzk_sim_load *load = make(unit, 2, 1);
    equal.jobs[0].n_units = 1;
    equal.units[1] = (cuzk_sim_unit){.lane = 10, .job = 1};
    equal.jobs[1].priority = 4;
    equal.jobs[1].arrival_ns = 500;
    cuzk_sim_machine m = machine(1, 1);
    m.is_backlog = false;
    cuzk_sim_result r = run(load, m);
    assert_int_equal(r.unit_ends[1], 510);
    assert_int_equal(r.unit_ends[0], 2000);
    cuzk_sim_result_clear(&r);
    equal.jobs[1].priority = 3; /* it waits for the worker */
    r = run(load, m);
    assert_int_equal(r.unit_ends[1], 2010);
    cuzk_sim_result_clear(&r);
}

static void test_order(void **state)
{
    (void)state;
    /* two jobs of five: the older one ends first, its partitions in their order */
    cuzk_sim_load *load = make(porep, 3, 5);
    equal.jobs[2].priority = 4;
    equal.jobs[2].arrival_ns = 4000;
    cuzk_sim_machine m = machine(1, 1);
    m.is_backlog = false;
    cuzk_sim_result r = run(load, m);
    for (size_t u = 1; u < 5; u++) {
        assert_true(r.unit_ends[u] > r.unit_ends[u - 1]);
        assert_true(r.unit_ends[5 + u] > r.unit_ends[4 + u]);
    }
    assert_true(r.unit_ends[14] < r.unit_ends[9]); /* the critical job overtakes */
    /* within the region in progress, and what is ready: its own witness is made meanwhile */
    assert_true(r.unit_ends[10] <= 4000 + 800 + 2 * CYCLE + TAIL);
    cuzk_sim_result_clear(&r);
}

static void test_any_load(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        cuzk_sim_load *load =
            make(porep, 1 + cuzk_test_random(&seed) % 5, 1 + cuzk_test_random(&seed) % 9);
        uint64_t lanes = 0;
        uint64_t longest = 0;
        uint64_t all = 0;
        for (size_t u = 0; u < load->n_units; u++) {
            cuzk_sim_unit *unit = &load->units[u];
            uint64_t *fields[] = {&unit->witness, &unit->before, &unit->copy,  &unit->lane,
                                  &unit->after,   &unit->finish, &unit->verify};
            uint64_t sum = 0;
            for (size_t f = 0; f < 7; f++) {
                *fields[f] = cuzk_test_random(&seed) % 1000;
                sum += *fields[f];
            }
            lanes += unit->lane;
            longest = sum > longest ? sum : longest;
            all += sum;
        }
        cuzk_sim_machine m = machine(1 + (unsigned)(cuzk_test_random(&seed) % 3),
                                     1 + (unsigned)(cuzk_test_random(&seed) % 3));
        m.coarse_lane = cuzk_test_random(&seed) % 2 != 0;
        uint64_t end = end_of(load, m);
        assert_true(end + 10 >= longest && end + 10 >= lanes / m.n_devices && end <= all + 10);
        assert_int_equal(end, end_of(load, m)); /* deterministic */
        m.cores = 1;
        assert_true(end_of(load, m) + 10 >= end || m.n_devices > 1);
    }
}

static void test_of_recording(void **state)
{
    (void)state;
    schedule s = {.seed = 3, .now = 1000};
    uint64_t planted[CUZK_CAUSES_COUNT] = {0};
    uint64_t kernel_ns = 0;
    for (uint64_t job = 1; job <= 50; job++) {
        schedule_unit(&s, job, (int)(job % 2), 100000, planted, &kernel_ns);
    }
    schedule_put(&s, CUZK_SPAN_JOB, s.now - 5, 51, -1, -1,
                 -1); /* cancelled: it is not in the load */
    schedule_end(&s);
    cuzk_sim_load load;
    cuzk_error err = {0};
    assert_int_equal(cuzk_sim_load_of(&load, &s.recording, &err), CUZK_OK);
    assert_int_equal(load.n_jobs, 50);
    assert_int_equal(load.n_units, 50);
    uint64_t kernels = 0;
    for (size_t u = 0; u < load.n_units; u++) {
        kernels += load.units[u].kernel;
    }
    assert_int_equal(kernels, kernel_ns);
    /* jobs came one after the other: the recorded end, less the waits that nothing explains */
    cuzk_sim_machine m = machine(1, 2);
    m.is_backlog = false;
    uint64_t end = end_of(&load, m);
    uint64_t recorded = s.recording.end_ns - s.recording.begin_ns;
    assert_true(end <= recorded && end * 100 >= recorded * 97);
    cuzk_sim_load_clear(&load);
    cuzk_recording_clear(&s.recording);
    memset(&s, 0, sizeof s);
    assert_int_equal(cuzk_sim_load_of(&load, &s.recording, &err), CUZK_E_FORMAT);
}

/* What a daemon told of itself; circuits with their keys take of its memory, and where they take
 * all of it partitions have none, not any amount. */
static void test_recorded_memory(void **state)
{
    (void)state;
    schedule s = {.seed = 4, .now = 1000};
    schedule_put(&s, CUZK_SPAN_RESIDENT_LOAD, 10, 0, -1, -1, -1);
    s.recording.spans[0].value = 700;
    s.now += 10;
    schedule_put(&s, CUZK_SPAN_EVICTED, s.now, 0, -1, -1, -1);
    s.recording.spans[1].value = 700;
    s.now += 10;
    schedule_put(&s, CUZK_SPAN_RESIDENT_LOAD, s.now, 0, -1, -1, -1);
    s.recording.spans[2].value = 600;
    schedule_end(&s);
    cuzk_recording_machine *told = &s.recording.machine;
    *told = (cuzk_recording_machine){.work_bytes = 1000,
                                     .critical_bytes = 60,
                                     .n_witness = 3,
                                     .n_finishers = 1,
                                     .n_verifiers = 1,
                                     .witness_ahead = 5};
    cuzk_sim_machine m;
    cuzk_error err = {0};
    assert_int_equal(cuzk_what_if_machine(&m, &s.recording, 0, &err), CUZK_OK);
    assert_int_equal(m.budget_bytes, 300);
    assert_int_equal(m.critical_bytes, 60);
    assert_int_equal(m.witness_ahead, 5);
    for (uint64_t work = 699; work <= 700; work++) {
        told->work_bytes = work;
        memset(&err, 0, sizeof err);
        assert_int_equal(cuzk_what_if_machine(&m, &s.recording, 0, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "took 700 bytes"));
        assert_non_null(strstr(err.text, work == 699 ? "of the 699" : "of the 700"));
    }
    assert_int_equal(cuzk_what_if_machine(&m, &s.recording, 3200, &err), CUZK_OK);
    assert_int_equal(m.budget_bytes, 3200);
    assert_int_equal(m.critical_bytes, 200);
    told->work_bytes = 701;
    assert_int_equal(cuzk_what_if_machine(&m, &s.recording, 0, &err), CUZK_OK);
    assert_int_equal(m.budget_bytes, 1);
    *told = (cuzk_recording_machine){0}; /* not a daemon's: no limit is known */
    assert_int_equal(cuzk_what_if_machine(&m, &s.recording, 0, &err), CUZK_OK);
    assert_int_equal(m.budget_bytes, 0);
    cuzk_recording_clear(&s.recording);
}

/* Copies share what their root passes: two roots are as good as twice the copies, and a root that
 * has two devices is half as fast for each. */
static void test_roots(void **state)
{
    (void)state;
    const cuzk_sim_unit copying = {.copy = 1000, .lane = 10, .kernel = 10};
    cuzk_sim_load *load = make(copying, 1, 40);
    cuzk_sim_machine m = machine(4, 1);
    uint64_t alone = end_of(load, m);
    assert_in_range(alone, 10000, 10200);
    m.copies = 1;
    assert_in_range(end_of(load, m), 40000, 40200);
    m.n_roots = 2;
    cuzk_sim_result r = run(load, m);
    assert_in_range(r.end_ns, 20000, 20400);
    assert_true(r.use[CUZK_SIM_COPIES] > 0.98 && r.use[CUZK_SIM_COPIES] <= 1.0001);
    cuzk_sim_result_clear(&r);
    m.n_roots = 4;
    assert_int_equal(end_of(load, m), alone);
    m.n_roots = 9; /* more than devices: as many */
    assert_int_equal(end_of(load, m), alone);
}

/* Host memory's rate is shared by witnesses and copies; a lane needs none of it. */
static void test_memory_rate(void **state)
{
    (void)state;
    const cuzk_sim_unit unit = {
        .witness = 1000, .copy = 1000, .lane = 1000, .kernel = 1000, .bytes = 1000};
    cuzk_sim_load *load = make(unit, 1, 1); /* 2 bytes a ns for the witness, 3 for the copy */
    cuzk_sim_machine m = machine(1, 1);
    assert_int_equal(end_of(load, m), 3000);
    m.memory_rate = 3;
    assert_int_equal(end_of(load, m), 3000);
    m.memory_rate = 2;
    assert_int_equal(end_of(load, m), 1000 + 1500 + 1000);
    m.memory_rate = 1;
    cuzk_sim_result r = run(load, m);
    assert_int_equal(r.end_ns, 2000 + 3000 + 1000);
    assert_true(r.use[CUZK_SIM_MEMORY_RATE] > 0.833 && r.use[CUZK_SIM_MEMORY_RATE] < 0.834);
    assert_true(r.use[CUZK_SIM_LANES] > 0.166 && r.use[CUZK_SIM_LANES] < 0.167);
    assert_true(r.use[CUZK_SIM_CORES] == 0 && r.use[CUZK_SIM_COPIES] == 0); /* no limit */
    cuzk_sim_result_clear(&r);
    m.cores = 0.25; /* the witness' scarcest, not the copy's */
    assert_int_equal(end_of(load, m), 4000 + 3000 + 1000);
    load = make(unit, 1, 4); /* four witnesses at once: a quarter each */
    m = machine(4, 1);
    m.memory_rate = 2;
    assert_in_range(end_of(load, m), 4000 + 6000 + 1000, 4000 + 6000 + 1001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_two_workers_overlap),
        cmocka_unit_test(test_coarse_lane),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_shared_resources),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_finish_is_full),
        cmocka_unit_test(test_critical),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_any_load),
        cmocka_unit_test(test_of_recording),
        cmocka_unit_test(test_recorded_memory),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_memory_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
