/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/params.h"

#include "base/bytes.h"
#include "curve/encoding_batch.h"
#include "formats/points.h"
#include "formats/test_key.h"

#include <inttypes.h>
#include <stdlib.h>

enum { G1_BYTES = 96, G2_BYTES = 192, WRITE_POINTS = 256 };

static uint64_t point_bytes(cuzk_params_array array)
{
    return array == CUZK_PARAMS_B_G2 ? G2_BYTES : G1_BYTES;
}

const char *cuzk_params_array_name(cuzk_params_array array)
{
    static const char *const names[CUZK_PARAMS_ARRAY_COUNT] = {"h", "l", "a", "b_g1", "b_g2"};
    return names[array];
}

/* Walks the length fields. *end: offset behind the last array. */
static cuzk_status index_arrays(cuzk_params *p, uint64_t *end, const uint8_t *data, uint64_t size,
                                cuzk_error *err)
{
    CUZK_FAIL_IF(size < CUZK_VK_HEAD_BYTES, err, CUZK_E_TRUNCATED,
                 "bellperson key (.params or .vk) truncated: the head of the verifying key alone "
                 "has %d bytes, file size is %" PRIu64,
                 CUZK_VK_HEAD_BYTES, size);
    p->vk = data;
    p->n_ic = cuzk_load_u32_be(data + CUZK_VK_HEAD_BYTES - 4);
    /* counts are 32 bits and points below 2^8 bytes: sums stay far below 2^64 */
    uint64_t offset = cuzk_vk_file_bytes(p->n_ic);
    CUZK_FAIL_IF(offset > size, err, CUZK_E_TRUNCATED,
                 "bellperson key (.params or .vk) truncated: %" PRIu32
                 " input commitments (ic) should end at %" PRIu64 ", file size is %" PRIu64,
                 p->n_ic, offset, size);
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        const char *name = cuzk_params_array_name(k);
        CUZK_FAIL_IF(size - offset < 4, err, CUZK_E_TRUNCATED,
                     "params file truncated: the length of array %s should stand at %" PRIu64
                     ", file size is %" PRIu64,
                     name, offset, size);
        uint32_t n = cuzk_load_u32_be(data + offset);
        offset += 4;
        uint64_t n_bytes = n * point_bytes(k);
        CUZK_FAIL_IF(size - offset < n_bytes, err, CUZK_E_TRUNCATED,
                     "params file truncated: array %s (%" PRIu32 " points) should end at %" PRIu64
                     ", file size is %" PRIu64,
                     name, n, offset + n_bytes, size);
        p->arrays[k].offset = offset;
        p->arrays[k].n = n;
        p->arrays[k].data = data + offset;
        offset += n_bytes;
    }
    *end = offset;
    return CUZK_OK;
}

static bool ends_well(const uint8_t *data, uint64_t size, uint64_t end, bool *marked)
{
    *marked = cuzk_test_key_is_mark(data + end, size - end);
    return *marked || end == size;
}

uint64_t cuzk_params_file_bytes(const uint8_t *data, uint64_t size)
{
    cuzk_params p;
    uint64_t end;
    bool marked;
    bool good = index_arrays(&p, &end, data, size, NULL) == CUZK_OK && p.n_ic > 0 &&
                ends_well(data, size, end, &marked);
    return good ? end : 0;
}

static cuzk_status check_counts(cuzk_params *p, cuzk_error *err)
{
    uint64_t n_h = p->arrays[CUZK_PARAMS_H].n;
    uint64_t n_l = p->arrays[CUZK_PARAMS_L].n;
    uint64_t n_a = p->arrays[CUZK_PARAMS_A].n;
    uint64_t n_b = p->arrays[CUZK_PARAMS_B_G1].n;
    uint64_t n_vars = p->n_ic + n_l;
    CUZK_FAIL_IF(p->n_ic == 0, err, CUZK_E_FORMAT,
                 "params file: no input commitments, expected at least the one of the constant 1");
    CUZK_FAIL_IF((n_h & (n_h + 1)) != 0, err, CUZK_E_FORMAT,
                 "params file: array h has %" PRIu64 " points, expected a power of two less 1",
                 n_h);
    p->lg_domain = (unsigned)__builtin_popcountll(n_h);
    CUZK_FAIL_IF(p->lg_domain > CUZK_DOMAIN_LG_MAX, err, CUZK_E_UNSUPPORTED,
                 "params file: array h is for a domain of 2^%u, keys are supported up to 2^%d",
                 p->lg_domain, CUZK_DOMAIN_LG_MAX);
    p->domain_size = (uint32_t)(n_h + 1);
    CUZK_FAIL_IF(n_a < p->n_ic || n_a > n_vars, err, CUZK_E_FORMAT,
                 "params file: array a has %" PRIu64 " points, expected %" PRIu32 " to %" PRIu64
                 " (%" PRIu32 " inputs, %" PRIu64 " private variables)",
                 n_a, p->n_ic, n_vars, p->n_ic, n_l);
    CUZK_FAIL_IF(n_b > n_vars, err, CUZK_E_FORMAT,
                 "params file: array b_g1 has %" PRIu64 " points, expected at most %" PRIu64
                 " (%" PRIu32 " inputs, %" PRIu64 " private variables)",
                 n_b, n_vars, p->n_ic, n_l);
    CUZK_FAIL_IF(p->arrays[CUZK_PARAMS_B_G2].n != n_b, err, CUZK_E_FORMAT,
                 "params file: array b_g2 has %" PRIu32 " points, b_g1 has %" PRIu64
                 ", expected as many",
                 p->arrays[CUZK_PARAMS_B_G2].n, n_b);
    return CUZK_OK;
}

cuzk_status cuzk_params_open(cuzk_params *out, const uint8_t *data, uint64_t size, cuzk_error *err)
{
    cuzk_params p;
    memset(&p, 0, sizeof p);
    p.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    uint64_t end;
    CUZK_TRY(index_arrays(&p, &end, data, size, err));
    CUZK_FAIL_IF(!ends_well(data, size, end, &p.is_test_key), err, CUZK_E_FORMAT,
                 "params file: the last array ends at %" PRIu64 ", file size is %" PRIu64, end,
                 size);
    CUZK_TRY(check_counts(&p, err));
    *out = p;
    return CUZK_OK;
}

cuzk_status cuzk_params_vk(cuzk_vk *out, const cuzk_params *params, cuzk_pool *pool,
                           cuzk_error *err)
{
    CUZK_TRY(cuzk_vk_read(out, params->vk, cuzk_vk_file_bytes(params->n_ic), pool, err));
    out->is_test_key = params->is_test_key;
    return CUZK_OK;
}

cuzk_status cuzk_params_decode(void *out, const cuzk_params *params, cuzk_params_array array,
                               uint64_t first, uint64_t n, bool check_subgroup, cuzk_pool *pool,
                               cuzk_error *err)
{
    char what[32];
    snprintf(what, sizeof what, "params, array %s", cuzk_params_array_name(array));
    uint64_t n_array = params->arrays[array].n;
    CUZK_FAIL_IF(first > n_array || n > n_array - first, err, CUZK_E_ARGUMENT,
                 "%s: points %" PRIu64 " to %" PRIu64 " asked for, there are %" PRIu64, what, first,
                 first + n, n_array);
    const uint8_t *in = params->arrays[array].data + first * point_bytes(array);
    return cuzk_points_decode(params->curve, array == CUZK_PARAMS_B_G2 ? CUZK_G2 : CUZK_G1, out, in,
                              n, first, check_subgroup ? CUZK_POINTS_SUBGROUP : 0, what, pool, err);
}

cuzk_status cuzk_params_check(const cuzk_params *params, cuzk_pool *pool,
                              const cuzk_reporter *reporter, cuzk_error *err)
{
    enum { SLICE_POINTS = 1 << 12 };
    cuzk_vk vk;
    CUZK_TRY(cuzk_params_vk(&vk, params, pool, err));
    cuzk_vk_clear(&vk);
    uint64_t total = 0;
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        total += params->arrays[k].n;
    }
    void *decoded = malloc((size_t)SLICE_POINTS * G2_BYTES);
    CUZK_FAIL_IF(decoded == NULL, err, CUZK_E_MEMORY, "checking params: out of memory");
    cuzk_status status = CUZK_OK;
    uint64_t done = 0;
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        uint64_t n_array = params->arrays[k].n;
        for (uint64_t first = 0; first < n_array && status == CUZK_OK; first += SLICE_POINTS) {
            uint64_t n = n_array - first < SLICE_POINTS ? n_array - first : SLICE_POINTS;
            status = cuzk_report_progress(reporter, cuzk_params_array_name(k), done, total, err);
            if (status == CUZK_OK) {
                status = cuzk_params_decode(decoded, params, k, first, n, true, pool, err);
            }
            done += n;
        }
    }
    free(decoded);
    return status;
}

/* n finite points. */
static void encode_points(const cuzk_curve *curve, const cuzk_group *g, uint8_t *out,
                          const uint8_t *points, size_t n)
{
    cuzk_encode_batch_fn encode = cuzk_encode_batch_get(curve->id, g->id);
    size_t done = encode == NULL ? 0 : n - n % 8;
    if (done > 0) {
        encode(out, points, done);
    }
    for (size_t k = done; k < n; k++) {
        g->encode(out + k * g->affine_bytes, points + k * g->affine_bytes, CUZK_POINT_UNCOMPRESSED);
    }
}

static cuzk_status write_array(FILE *f, const cuzk_curve *curve, cuzk_params_array array,
                               const void *points, uint32_t n, cuzk_error *err)
{
    const cuzk_group *g = &curve->g[array == CUZK_PARAMS_B_G2 ? CUZK_G2 : CUZK_G1];
    uint8_t buffer[WRITE_POINTS * G2_BYTES];
    cuzk_store_u32_be(buffer, n);
    fwrite(buffer, 1, 4, f);
    for (uint64_t i = 0; i < n; i += WRITE_POINTS) {
        uint64_t batch = n - i < WRITE_POINTS ? n - i : WRITE_POINTS;
        const uint8_t *p = (const uint8_t *)points + i * g->affine_bytes;
        for (uint64_t k = 0; k < batch; k++) {
            CUZK_FAIL_IF(g->affine_is_infinity(p + k * g->affine_bytes), err, CUZK_E_ARGUMENT,
                         "writing params, array %s: point %" PRIu64 " is at infinity",
                         cuzk_params_array_name(array), i + k);
        }
        encode_points(curve, g, buffer, p, (size_t)batch);
        if (fwrite(buffer, g->affine_bytes, (size_t)batch, f) != batch) {
            return CUZK_FAIL(err, CUZK_E_FILE,
                             "writing params, array %s: write error at point %" PRIu64,
                             cuzk_params_array_name(array), i);
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_params_write(FILE *file, const cuzk_params_write_params *params, cuzk_error *err)
{
    uint64_t n_vk = cuzk_vk_file_bytes(params->vk->n_ic);
    uint8_t *vk = malloc((size_t)n_vk);
    CUZK_FAIL_IF(vk == NULL, err, CUZK_E_MEMORY, "writing params: no memory for %" PRIu64 " bytes",
                 n_vk);
    cuzk_status status = cuzk_vk_write(vk, n_vk, params->vk, err);
    if (status == CUZK_OK && fwrite(vk, 1, (size_t)n_vk, file) != n_vk) {
        status = CUZK_FAIL(err, CUZK_E_FILE, "writing params: write error in the verifying key");
    }
    free(vk);
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT && status == CUZK_OK; k++) {
        status = write_array(file, params->vk->curve, k, params->arrays[k].points,
                             params->arrays[k].n, err);
    }
    CUZK_TRY(status);
    if (params->test_mark) {
        fwrite(CUZK_TEST_KEY_MARK, 1, CUZK_TEST_KEY_MARK_BYTES, file);
    }
    CUZK_FAIL_IF(fflush(file) != 0 || ferror(file), err, CUZK_E_FILE,
                 "writing params: write error");
    return CUZK_OK;
}
