/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Limits of memory, from trees that stand for /proc and /sys. */
#define _GNU_SOURCE
#include "server/config.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/cuzk-memory-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write a file of the tree, with the folders above it. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; *p != 0; p++) {
        if (*p == '/') {
            *p = 0;
            mkdir(full, 0755);
            *p = '/';
        }
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void limit_is(uint64_t bytes, const char *by)
{
    uint64_t found = 0;
    char limited_by[256];
    cuzk_error err = {0};
    assert_int_equal(cuzk_memory_limit(&found, limited_by, root, &err), CUZK_OK);
    if (found != bytes || strcmp(limited_by, by) != 0) {
        fail_msg("%llu by %s, expected %llu by %s", (unsigned long long)found, limited_by,
                 (unsigned long long)bytes, by);
    }
}

#define MEMINFO "MemTotal:       8388608 kB\nMemFree:  100 kB\n" /* 8GiB */
static const uint64_t gib = 1ull << 30;

static void test_machine(void **state)
{
    (void)state;
    uint64_t bytes;
    char by[256];
    cuzk_error err = {0};
    assert_int_equal(cuzk_memory_limit(&bytes, by, root, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "/proc/meminfo"));
    put("/proc/meminfo", "MemFree: 5 kB\n");
    err = (cuzk_error){0};
    assert_int_equal(cuzk_memory_limit(&bytes, by, root, &err), CUZK_E_FILE);
    put("/proc/meminfo", MEMINFO);
    limit_is(8 * gib, "MemTotal");
}

/* Version 2: every cgroup from the process' own up holds. */
static void test_version_2(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/system.slice/cuzk.service\n");
    limit_is(8 * gib, "MemTotal");
    put("/sys/fs/cgroup/system.slice/cuzk.service/memory.max", "max\n");
    limit_is(8 * gib, "MemTotal");
    put("/sys/fs/cgroup/system.slice/memory.max", "3221225472\n");
    limit_is(3 * gib, "/sys/fs/cgroup/system.slice/memory.max");
    put("/sys/fs/cgroup/system.slice/cuzk.service/memory.max", "2147483648\n");
    limit_is(2 * gib, "/sys/fs/cgroup/system.slice/cuzk.service/memory.max");
    put("/sys/fs/cgroup/memory.max", "1073741824\n"); /* a container's own root */
    limit_is(1 * gib, "/sys/fs/cgroup/memory.max");
}

/* In a container the path may be one of the host, and only the root is there. */
static void test_container(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    put("/sys/fs/cgroup/memory.max", "4294967296\n");
    limit_is(4 * gib, "/sys/fs/cgroup/memory.max");
    put("/proc/self/cgroup", "0::/\n");
    limit_is(4 * gib, "/sys/fs/cgroup/memory.max");
}

static void test_version_1(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "12:cpuset:/other\n5:cpu,memory:/a/b\n1:name=systemd:/x\n0::/x\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    limit_is(8 * gib, "MemTotal");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
    limit_is(1 * gib, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes");
    put("/sys/fs/cgroup/memory/other/memory.limit_in_bytes", "4096\n");
    limit_is(1 * gib, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes");
}

static void test_nonsense(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "\n::\n0:\n0::\n:::::\nmemory\n");
    put("/sys/fs/cgroup/memory.max", "lots\n");
    limit_is(8 * gib, "MemTotal");
}

static void test_budget(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/\n");
    cuzk_config config = {.memory_total_budget = 5 * gib, .memory_safety_margin = 1 * gib};
    uint64_t bytes;
    char by[256];
    cuzk_error err = {0};
    assert_int_equal(cuzk_config_budget(&bytes, by, &config, root, &err), CUZK_OK);
    assert_true(bytes == 5 * gib);
    assert_string_equal(by, "memory.total_budget");
    config.memory_total_budget = 0;
    assert_int_equal(cuzk_config_budget(&bytes, by, &config, root, &err), CUZK_OK);
    assert_true(bytes == 7 * gib);
    config.memory_safety_margin = 5 * gib; /* a quarter of so small a machine */
    assert_int_equal(cuzk_config_budget(&bytes, by, &config, root, &err), CUZK_OK);
    assert_true(bytes == 6 * gib);
    put("/sys/fs/cgroup/memory.max", "2147483648\n");
    config.memory_safety_margin = gib / 4;
    assert_int_equal(cuzk_config_budget(&bytes, by, &config, root, &err), CUZK_OK);
    assert_true(bytes == 2 * gib - gib / 4);
    assert_string_equal(by, "/sys/fs/cgroup/memory.max");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(test_machine),   TEST(test_version_2), TEST(test_container),
        TEST(test_version_1), TEST(test_nonsense),  TEST(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
