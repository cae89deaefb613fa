/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fields behind function pointers, one table per (curve, CPU path, field), so that one test
 * runs over all of them and paths can be compared. Elements are `words` 64-bit words. */
#ifndef CUZK_TESTS_FIELD_OPS_H
#define CUZK_TESTS_FIELD_OPS_H

#include "base/cpu.h"

#include <stdint.h>

enum { FIELD_WORDS_MAX = 12 };

/* Room for one element of any field, or for one double-width product of fp. */
typedef struct {
    uint64_t l[FIELD_WORDS_MAX];
} elem;

typedef struct {
    const char *name;    /* "bn254 fr adx" */
    const char *curve;   /* "bn254" */
    const char *field;   /* "fr", "fp", "fp2" */
    unsigned words;      /* of an element */
    unsigned base_words; /* of a coordinate: words, or words / 2 in fp2 */
    const uint64_t *modulus;

    bool (*is_reduced)(const elem *a);
    void (*set_zero)(elem *o);
    void (*set_one)(elem *o);
    bool (*is_zero)(const elem *a);
    bool (*is_one)(const elem *a);
    bool (*eq)(const elem *a, const elem *b);
    void (*add)(elem *o, const elem *a, const elem *b);
    void (*sub)(elem *o, const elem *a, const elem *b);
    void (*mul)(elem *o, const elem *a, const elem *b);
    void (*dbl)(elem *o, const elem *a);
    void (*neg)(elem *o, const elem *a);
    void (*sqr)(elem *o, const elem *a);
    void (*inv)(elem *o, const elem *a);
    void (*pow)(elem *o, const elem *a, const uint64_t *e, unsigned n_limbs);
    void (*batch_inv)(void *a, size_t n, void *tmp); /* packed elements */
    void (*from_canonical)(elem *o, const uint64_t *limbs);
    void (*to_canonical)(uint64_t *limbs, const elem *a);
    void (*load)(elem *o, const void *src);
    void (*store)(void *dst, const elem *a);

    bool (*sqrt)(elem *o, const elem *a);                                /* NULL in fr */
    void (*redc_wide)(elem *o, const uint64_t *w);                       /* NULL in fp2 */
    void (*mul_wide)(uint64_t *w, const uint64_t *a, const uint64_t *b); /* NULL in fp2 */
    void (*sqr_wide)(uint64_t *w, const uint64_t *a);                    /* NULL in fp2 */
    void (*conj)(elem *o, const elem *a); /* fp2 only, as the next three */
    void (*mul_by_xi)(elem *o, const elem *a);
    void (*mul_fp)(elem *o, const elem *a, const elem *b);
    void (*xi)(elem *o);
} field_ops;

enum { FIELD_OPS_PER_PATH = 6 }; /* 2 curves × fr, fp, fp2 */

/** The six tables of a path, NULL where the path is not built or the processor lacks it. */
const field_ops *const *field_ops_of_path(cuzk_cpu_path path);

#endif
