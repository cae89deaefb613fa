/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads beside their devices, on machines that hwloc is told of: two nodes with a processor each
 * of this machine, so that what the system was asked for shows in its own answer. */
#define _GNU_SOURCE
#include "base/placement.h"

#include "base/pool.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static cpu_set_t at_start;
static int cpus[2]; /* the first two processors of this process; -1: there is none */

static cpu_set_t affinity(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

static void expect_affinity(int cpu)
{
    cpu_set_t now = affinity(), one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_true(CPU_EQUAL(&now, &one));
}

static void expect_home(void)
{
    cpu_set_t now = affinity();
    assert_true(CPU_EQUAL(&now, &at_start));
}

/* A file that hwloc reads in the place of the machine: nodes 0 and 1 with one processor and one
 * card each, and a card that is as near to one as to the other. */
static void write_topology(char *path)
{
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    unsigned all = 0;
    for (int i = 0; i < 2; i++) {
        all |= cpus[i] >= 0 ? 1u << cpus[i] : 0;
    }
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
            "<object type=\"Machine\" os_index=\"0\" gp_index=\"1\" cpuset=\"0x%x\" "
            "complete_cpuset=\"0x%x\" allowed_cpuset=\"0x%x\" nodeset=\"0x3\" "
            "complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\">\n",
            all, all, all);
    for (int i = 0; i < 2; i++) {
        unsigned mask = cpus[i] >= 0 ? 1u << cpus[i] : 0;
        char sets[256];
        snprintf(sets, sizeof sets,
                 "cpuset=\"0x%x\" complete_cpuset=\"0x%x\" nodeset=\"0x%x\" "
                 "complete_nodeset=\"0x%x\"",
                 mask, mask, 1u << i, 1u << i);
        fprintf(f, "<object type=\"Package\" os_index=\"%d\" gp_index=\"%d\" %s>\n", i, 10 + i,
                sets);
        fprintf(f,
                "<object type=\"NUMANode\" os_index=\"%d\" gp_index=\"%d\" %s "
                "local_memory=\"1073741824\"/>\n",
                i, 20 + i, sets);
        if (cpus[i] >= 0) {
            fprintf(f, "<object type=\"PU\" os_index=\"%d\" gp_index=\"%d\" %s/>\n", cpus[i],
                    30 + i, sets);
        }
        fprintf(f,
                "<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"000%d:%x1:00.0\" "
                "pci_type=\"0302 [10de:2335] [10de:18be] a1\"/>\n</object>\n",
                40 + i, i, i == 0 ? 4 : 0xc);
    }
    fprintf(f, "<object type=\"PCIDev\" gp_index=\"50\" pci_busid=\"0000:81:00.0\" "
               "pci_type=\"0302 [10de:2335] [10de:18be] a1\"/>\n</object>\n</topology>\n");
    assert_int_equal(fclose(f), 0);
}

static cuzk_placement *create(void)
{
    cuzk_error err = {0};
    cuzk_placement *p = NULL;
    assert_int_equal(cuzk_placement_create(&p, &err), CUZK_OK);
    return p;
}

/* The two nodes, or the test is skipped: a process with one processor has one node. */
static cuzk_placement *create_two(void)
{
    char path[] = "/tmp/cuzk-topology-XXXXXX";
    write_topology(path);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    cuzk_placement *p = create();
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_THISSYSTEM");
    unlink(path);
    if (cpus[1] < 0) {
        assert_int_equal(cuzk_placement_n_nodes(p), 0);
        cuzk_placement_destroy(p);
        skip();
    }
    return p;
}

static void test_nodes(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    assert_string_equal(cuzk_placement_note(p), "2 NUMA nodes: 0, 1");
    assert_int_equal(cuzk_placement_n_nodes(p), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuzk_placement_node(p, (unsigned)i), i);
    }
    cuzk_placement_destroy(p);
}

static void test_devices(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    assert_int_equal(cuzk_placement_of_pci(p, "0000:41:00.0"), 0);
    assert_int_equal(cuzk_placement_of_pci(p, "0001:C1:00.0"), 1);
    static const char *const unknown[] = {
        "0000:81:00.0", "0000:c1:00.0",  "0000:41:00.1", "0000:41:01.0", "",
        "41:00.0",      "0000:41:00.0x", "card"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(cuzk_placement_of_pci(p, unknown[i]), CUZK_PLACEMENT_ANYWHERE);
    }
    assert_int_equal(cuzk_placement_of_pci(NULL, "0000:41:00.0"), CUZK_PLACEMENT_ANYWHERE);
    cuzk_placement_destroy(p);
}

/* The policy of the calling thread, and its nodes; false: the system does not tell. */
static bool memory_policy(int *policy, unsigned long *nodes)
{
    unsigned long mask[16] = {0};
    bool is_known = syscall(SYS_get_mempolicy, policy, mask, sizeof mask * 8, NULL, 0) == 0;
    *nodes = mask[0];
    return is_known;
}

static void test_moves(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    int policy = -1;
    unsigned long nodes = 0;
    bool tells = memory_policy(&policy, &nodes);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) {
            assert_true(cuzk_placement_move(p, i));
            expect_affinity(cpus[i]);
            if (tells && i == 0) { /* node 0 is there on every machine */
                assert_true(memory_policy(&policy, &nodes));
                assert_true(policy == MPOL_PREFERRED || policy == 5 /* MPOL_PREFERRED_MANY */ ||
                            policy == MPOL_BIND);
                assert_int_equal(nodes, 1);
            }
        }
        assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
        expect_home();
        if (tells) {
            assert_true(memory_policy(&policy, &nodes));
            assert_int_equal(policy, MPOL_DEFAULT);
        }
    }
    /* one that is not there: anywhere, also from a node */
    assert_true(cuzk_placement_move(p, 1));
    assert_false(cuzk_placement_move(p, 2));
    expect_home();
    assert_false(cuzk_placement_move(p, 7));
    cuzk_placement_destroy(p);
}

/* Where the system put the thread in between is not looked at: no call is made. */
static void test_stays(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    assert_true(cuzk_placement_move(p, 0));
    assert_int_equal(sched_setaffinity(0, sizeof at_start, &at_start), 0);
    assert_true(cuzk_placement_move(p, 0));
    expect_home();
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    cuzk_placement_destroy(p);
}

static void *look(void *arg)
{
    *(cpu_set_t *)arg = affinity();
    return NULL;
}

static cpu_set_t affinity_of_new_thread(void)
{
    pthread_t thread;
    cpu_set_t set;
    assert_int_equal(pthread_create(&thread, NULL, look, &set), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return set;
}

static void test_leave(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    assert_true(cuzk_placement_move(p, 1));
    cpu_set_t beside = affinity_of_new_thread();
    assert_int_equal(CPU_COUNT(&beside), 1);
    assert_true(CPU_ISSET(cpus[1], &beside));
    cuzk_placement_spot spot = cuzk_placement_leave();
    cpu_set_t anywhere = affinity_of_new_thread();
    assert_true(CPU_EQUAL(&anywhere, &at_start));
    cuzk_placement_return(spot);
    expect_affinity(cpus[1]);
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    cuzk_placement_destroy(p);
    spot = cuzk_placement_leave(); /* the placement is gone: nothing is asked of it */
    cuzk_placement_return(spot);
    expect_home();
}

typedef struct {
    pthread_barrier_t both;
    atomic_int n_home;
} gathering;

static void gather(void *ctx, size_t chunk, unsigned thread)
{
    gathering *g = ctx;
    (void)chunk;
    (void)thread;
    pthread_barrier_wait(&g->both); /* a chunk on each thread */
    cpu_set_t now = affinity();
    g->n_home += CPU_EQUAL(&now, &at_start);
}

/* A pool that a thread on a node is the first to use serves others, too. */
static void test_pool(void **state)
{
    (void)state;
    cuzk_placement *p = create_two();
    cuzk_error err = {0};
    cuzk_pool *pool = NULL;
    gathering g = {.n_home = 0};
    assert_int_equal(pthread_barrier_init(&g.both, NULL, 3), 0);
    assert_int_equal(cuzk_pool_create(&pool, 3, &err), CUZK_OK);
    assert_true(cuzk_placement_move(p, 1));
    cuzk_pool_for(pool, 3, gather, &g);
    expect_affinity(cpus[1]);
    assert_int_equal(g.n_home, 2);
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    cuzk_pool_destroy(pool);
    pthread_barrier_destroy(&g.both);
    cuzk_placement_destroy(p);
}

/* A process that may use the processors of one node only, or that chose its memory itself, is left
 * alone. */
static void test_left_alone(void **state)
{
    (void)state;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[0], &one);
    cuzk_placement *p = create_two(); /* skips where there is one processor */
    cuzk_placement_destroy(p);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    p = create_two();
    assert_int_equal(cuzk_placement_n_nodes(p), 0);
    assert_string_equal(cuzk_placement_note(p), "one NUMA node has all processors of this process");
    assert_int_equal(cuzk_placement_of_pci(p, "0001:c1:00.0"), 1); /* facts are told all the same */
    assert_false(cuzk_placement_move(p, 1));
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    expect_affinity(cpus[0]);
    cuzk_placement_destroy(p);
    assert_int_equal(sched_setaffinity(0, sizeof at_start, &at_start), 0);
    unsigned long mask = 1;
    if (syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, &mask, sizeof mask * 8) == 0) {
        p = create_two();
        assert_int_equal(cuzk_placement_n_nodes(p), 0);
        assert_string_equal(
            cuzk_placement_note(p),
            "2 NUMA nodes, but the process was started with a memory policy of its own");
        cuzk_placement_destroy(p);
        assert_int_equal(syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0), 0);
    }
}

/* This machine, whatever it is; and one that hwloc makes up: its nodes can be moved to, although
 * the system is not asked. */
static void test_machines(void **state)
{
    (void)state;
    cuzk_placement *p = create();
    assert_true(strlen(cuzk_placement_note(p)) > 0);
    for (unsigned i = 0; i < cuzk_placement_n_nodes(p); i++) {
        (void)cuzk_placement_move(p, cuzk_placement_node(p, i));
    }
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    expect_home();
    cuzk_placement_destroy(p);
    setenv("HWLOC_SYNTHETIC", "pack:4 [numa] core:8 pu:2", 1);
    p = create();
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(cuzk_placement_n_nodes(p), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cuzk_placement_node(p, (unsigned)i), i);
        assert_true(cuzk_placement_move(p, i));
        expect_home();
    }
    assert_true(cuzk_placement_move(p, CUZK_PLACEMENT_ANYWHERE));
    cuzk_placement_destroy(p);
    setenv("HWLOC_XMLFILE", "/nonexistent", 1);
    p = create(); /* hwloc takes the machine itself, or tells that it cannot */
    unsetenv("HWLOC_XMLFILE");
    assert_true(strlen(cuzk_placement_note(p)) > 0);
    cuzk_placement_destroy(p);
    cuzk_placement_destroy(NULL);
    assert_int_equal(cuzk_placement_n_nodes(NULL), 0);
    assert_true(cuzk_placement_move(NULL, CUZK_PLACEMENT_ANYWHERE));
    assert_false(cuzk_placement_move(NULL, 0));
}

int main(void)
{
    at_start = affinity();
    cpus[0] = cpus[1] = -1;
    for (int i = 0, n = 0; i < 32 && n < 2; i++) { /* the file's sets have 32 bits */
        if (CPU_ISSET(i, &at_start)) {
            cpus[n++] = i;
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),      cmocka_unit_test(test_devices),
        cmocka_unit_test(test_moves),      cmocka_unit_test(test_stays),
        cmocka_unit_test(test_leave),      cmocka_unit_test(test_pool),
        cmocka_unit_test(test_left_alone), cmocka_unit_test(test_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
