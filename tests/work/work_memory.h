/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes that a family says it takes, held against the resident size of a process. */
#ifndef CUZK_TESTS_WORK_MEMORY_H
#define CUZK_TESTS_WORK_MEMORY_H

#include "work_test.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

/* A line of /proc/self/status, in bytes. */
static inline uint64_t memory_now(const char *field)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0) {
            sscanf(line + strlen(field), ": %llu", &kib);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return (uint64_t)kib * 1024;
}

/* The highest resident size from now on. */
static inline void memory_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0) {
        print_message("the peak cannot be reset\n");
        _exit(2);
    }
}

/* The resident size to measure from: what was freed is given back, so that it is not used again
 * unseen. */
static inline uint64_t memory_begin(void)
{
    malloc_trim(0);
    memory_reset_peak();
    return memory_now("VmRSS");
}

/* What happened against what was said: never more, and at most a quarter and `room` less. */
static inline void memory_hold(const char *circuit, const char *what, uint64_t taken, uint64_t told,
                               uint64_t room)
{
    print_message("%s: %s: %llu KiB taken, %llu told\n", circuit, what,
                  (unsigned long long)(taken >> 10), (unsigned long long)(told >> 10));
    if (taken > told || told > taken + taken / 4 + room) {
        print_message("%s: %s: %llu bytes taken, %llu told\n", circuit, what,
                      (unsigned long long)taken, (unsigned long long)told);
        _exit(1);
    }
}

/* Whether this is the child, a process of its own, so that nothing that was freed before is used
 * again unseen; it ends with _exit. In the parent: the child has ended well. */
static inline bool memory_child(void)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        return true;
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

#endif
