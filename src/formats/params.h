/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bellperson's proving key (.params, bls12_381), read as views into mapped bytes, and written.
 *
 * A verifying key (formats/vk.h), then five arrays h, l, a, b_g1, b_g2: each a u32 count and that
 * many uncompressed points, everything big-endian. There is no magic: what can be checked is that
 * the file's size is the one that its length fields give. Points at infinity are refused. The root
 * of unity of these keys is Filecoin's: generator 7. */
#ifndef CUZK_FORMATS_PARAMS_H
#define CUZK_FORMATS_PARAMS_H

#include "base/pool.h"
#include "base/progress.h"
#include "curve/curve.h"
#include "formats/vk.h"

#include <stdio.h>

enum {
    CUZK_VK_HEAD_BYTES = 868, /* of a .vk file up to and with the count of ic */
    CUZK_PARAMS_GENERATOR = 7 /* for cuzk_curve.fr_root_of_unity */
};

/* The arrays in file order. */
typedef enum {
    CUZK_PARAMS_H = 0,
    CUZK_PARAMS_L = 1,
    CUZK_PARAMS_A = 2,
    CUZK_PARAMS_B_G1 = 3,
    CUZK_PARAMS_B_G2 = 4,
    CUZK_PARAMS_ARRAY_COUNT = 5
} cuzk_params_array;

typedef struct {
    const cuzk_curve *curve; /* bls12_381 */
    uint32_t n_ic;           /* public values + 1 */
    uint32_t domain_size;    /* number of h points + 1, a power of two */
    unsigned lg_domain;
    struct {
        uint64_t offset;     /* of the first point in the file */
        uint32_t n;          /* points */
        const uint8_t *data; /* n encoded points of 96 (b_g2: 192) bytes */
    } arrays[CUZK_PARAMS_ARRAY_COUNT];
    const uint8_t *vk; /* the file's first CUZK_VK_HEAD_BYTES + 96·n_ic bytes */
    bool is_test_key;  /* the mark of formats/test_key.h follows the last array */
} cuzk_params;

/** "h", "l", "a", "b_g1", "b_g2". */
const char *cuzk_params_array_name(cuzk_params_array array);

/** Size that the length fields give to a .params file, in 64 bits, if it is the file's size (with
 *  or without the test mark); 0 if it is not. Reads the six length fields only. */
uint64_t cuzk_params_file_bytes(const uint8_t *data, uint64_t size);

/** Open a .params file: sizes from the length fields, compared with the file's size and each other
 *  (h is a power of two less 1; b_g1 and b_g2 are equally long; l, a, b and ic fit together).
 *
 *  data: borrowed for as long as *out is used. Nothing is allocated, no point is decoded. Errors:
 *  E_TRUNCATED (array, where it should end, file size), E_FORMAT, E_UNSUPPORTED (domain too large).
 */
cuzk_status cuzk_params_open(cuzk_params *out, const uint8_t *data, uint64_t size,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Decode the verifying key. Returned: clear with cuzk_vk_clear. Errors: as cuzk_vk_read; and
 *  E_FORMAT when gamma or delta is at infinity. */
cuzk_status cuzk_params_vk(cuzk_vk *out, const cuzk_params *params, cuzk_pool *pool,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Decode points first … first + n - 1 of an array into packed affine form, on the pool's threads.
 *
 *  out: n × affine_bytes of G1 (b_g2: G2). Always checked: range, curve, not infinity; the
 *  subgroup when check_subgroup is set. Errors: E_FORMAT "params, array a: point I: reason";
 *  E_ARGUMENT (range beyond the array). */
cuzk_status cuzk_params_decode(void *out, const cuzk_params *params, cuzk_params_array array,
                               uint64_t first, uint64_t n, bool check_subgroup, cuzk_pool *pool,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Check every point: range, curve, subgroup, not infinity. Minutes for large keys. progress: may
 * be NULL. Memory: a constant. Errors: E_FORMAT with array and index; E_CANCELLED; E_MEMORY. */
cuzk_status cuzk_params_check(const cuzk_params *params, cuzk_pool *pool,
                              const cuzk_reporter *reporter, cuzk_error *err) CUZK_WARN_UNUSED;

/* What cuzk_params_write needs: the verifying key and packed affine arrays in memory form. */
typedef struct {
    const cuzk_vk *vk; /* with G1 pair */
    struct {
        const void *points;
        uint32_t n;
    } arrays[CUZK_PARAMS_ARRAY_COUNT];
    bool test_mark; /* append the mark of formats/test_key.h */
} cuzk_params_write_params;

/** Write a .params file. Errors: E_ARGUMENT (not bls12_381, a point at infinity, more than 2^32 - 1
 *  points), E_FILE. Memory: a constant. */
cuzk_status cuzk_params_write(FILE *file, const cuzk_params_write_params *params,
                              cuzk_error *err) CUZK_WARN_UNUSED;

#endif
