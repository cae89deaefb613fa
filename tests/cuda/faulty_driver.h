/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A driver between the code under test and the emulated one: it counts calls, lets one of them
 * fail, and knows what has not been given back. */
#ifndef CUZK_TESTS_FAULTY_DRIVER_H
#define CUZK_TESTS_FAULTY_DRIVER_H

#include "device_test.h"

enum { FAULTY_NAMES_MAX = 4096 };

typedef struct {
    /* set by the test */
    unsigned fail_at; /* the call that fails, from 0; UINT_MAX: none */
    bool for_good;    /* all calls after it fail, too, but for those that give back */
    CUresult result;  /* what it returns */
    const char *only; /* the function whose calls count; NULL: all */
    /* found out */
    unsigned n_calls;
    const char *names[FAULTY_NAMES_MAX]; /* of the calls since they are counted */
    const char *failed; /* the name of the first call that failed; NULL: none did */
    int n_modules, n_memory, n_pinned, n_events, n_contexts; /* held now */
    size_t memory_bytes, memory_bytes_max;                   /* held now, and at most */
    unsigned n_not_wiped; /* pieces of memory that were given back with a byte that is not 0 */
    unsigned n_bad;       /* given back what was not held */
} faulty_driver;

extern faulty_driver faulty;

/** A device like `device`, behind the faulty driver. */
extern cuzk_cuda_device faulty_device;

/** Begin anew: nothing fails, nothing is held. Fills faulty_device the first time. */
void faulty_begin(void);

/** The next call but n fails with this result, for good or once; of the calls of one function where
 *  `only` is not NULL. Counts begin at 0. */
void faulty_fail(const char *only, unsigned n, CUresult result, bool for_good);

/** The names of the functions that were called since calls are counted, each once. n_max: room.
 *  Returns how many. */
unsigned faulty_names(const char **names, unsigned n_max);

/** Nothing fails from now on. */
void faulty_mend(void);

/** Fail the test unless everything was given back, once. */
void faulty_expect_nothing_held(void);

#endif
