/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the tests of src/msm: random numbers with a printed seed, and bases whose discrete
 * logarithms are known, so that any sum is checked by one scalar multiplication. */
#ifndef CUZK_TESTS_MSM_TEST_H
#define CUZK_TESTS_MSM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above first */
#include <cmocka.h>

#include "msm/msm.h"
#include "msm/sum_kernel.h"

/* The state of the random generator (splitmix64). Set by msm_test_begin. */
extern uint64_t msm_test_state;

/** Seed the generator from CUZK_TEST_SEED or a constant, print the seed. Returns 0, or 77 when this
 *  machine cannot run the CPU path of this process, or the path has no kernels of its own. */
int msm_test_begin(void);

/** The next 64 random bits, and a random number below n. */
uint64_t msm_test_random(void);
size_t msm_test_below(size_t n);

/** Whether the long versions of the tests were asked for (CUZK_NIGHTLY). */
bool msm_test_nightly(void);

/** Whether this process runs vector code in plain C, some ten times slower. */
bool msm_test_slow(void);

/* How scalars are drawn. */
typedef enum {
    SCALARS_RANDOM,
    SCALARS_EDGES, /* 0, 1, 2, r-1, r-2, (r-1)/2, (r+1)/2 and their neighbours, powers of two */
    SCALARS_SMALL, /* below 256, and their negatives */
    SCALARS_BITS,
    SCALARS_MIXED,  /* one of the above each time */
    SCALARS_SPARSE, /* one in fifty not zero */
    SCALARS_KINDS
} scalar_kind;

/** A scalar as 32 canonical bytes. */
void msm_test_scalar(const cuzk_curve *curve, uint8_t *out, scalar_kind kind);

/** n of them, malloc'ed. */
uint8_t *msm_test_scalars(const cuzk_curve *curve, size_t n, scalar_kind kind);

/* Bases b_i = k_i · generator. */
typedef struct {
    const cuzk_curve *curve;
    const cuzk_group *group;
    size_t n;
    uint8_t *points; /* packed, at an odd address */
    uint8_t *memory; /* what to free */
    cuzk_fr *logs;   /* k_i */
} test_bases;

/* What the bases look like. */
typedef enum {
    BASES_DISTINCT,  /* k_i random */
    BASES_SERIES,    /* k_i = a + i·d: many equal sums of pairs */
    BASES_EQUAL,     /* all the same */
    BASES_OPPOSITE,  /* P, -P, P, -P … */
    BASES_INFINITE,  /* all at infinity */
    BASES_SPRINKLED, /* distinct with infinities, repetitions and opposites among them */
    BASES_KINDS
} base_kind;

/** Make n bases; free with test_bases_free. */
void test_bases_make(test_bases *out, const cuzk_curve *curve, cuzk_group_id group, size_t n,
                     base_kind kind);
void test_bases_free(test_bases *bases);

/** *sum += scalar · k, scalar canonical. */
void test_accumulate(const cuzk_curve *curve, cuzk_fr *sum, const uint8_t *scalar,
                     const cuzk_fr *k);

/** Fail with `what` and `n` unless sum = log · generator. */
void assert_sum_is(const cuzk_curve *curve, cuzk_group_id group, const cuzk_jac *sum,
                   const cuzk_fr *log, const char *what, size_t n);

/** cuzk_msm with a workspace of its own, of exactly the size that is asked for. */
void test_run_msm(const cuzk_curve *curve, cuzk_msm_params *params, cuzk_pool *pool);

#endif
