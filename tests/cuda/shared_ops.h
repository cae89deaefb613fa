/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What host and device must agree on, per curve: the results of the field check, and the inversion
 * that only device code uses. */
#ifndef CUZK_TESTS_CUDA_SHARED_OPS_H
#define CUZK_TESTS_CUDA_SHARED_OPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* "bls12_381 fp2" */
    const char *kernel;
    size_t bytes; /* of an element */
    /* an edge-heavy element: 0, 1, p - 1, single bits, full words, else random */
    void (*draw)(void *o, uint64_t (*random)(void));
    /* o: CUZK_FIELD_CHECK_RESULTS results of a and b */
    void (*check)(void *o, const void *a, const void *b);
    /* o = 1/a by division steps; NULL for fp2 */
    void (*inv_divsteps)(void *o, const void *a);
} shared_ops;

enum { SHARED_OPS_FIELDS = 3 };

/* A check on loose operands: the host's results by reduced ones. */
typedef struct {
    const char *name; /* "bls12_381 fr factor" */
    const char *kernel;
    size_t bytes; /* of an element */
    int n_results;
    void (*draw)(void *o, uint64_t (*random)(void));
    void (*expect)(void *o, const void *a, const void *b);
    /* the host's own bodies of the same, or NULL */
    void (*host)(void *o, const void *a, const void *b);
} loose_ops;

enum { LOOSE_OPS = 3 };

/** fr, fp, fp2 of curve 0 (bn254) or 1 (bls12_381). */
const shared_ops *shared_ops_of(int curve);
/** Factors and loose values of fr, loose values of fp and of fp2. */
const loose_ops *loose_ops_of(int curve);

#endif
