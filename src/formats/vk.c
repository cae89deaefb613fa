/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/vk.h"

#include "base/bytes.h"
#include "formats/params.h"
#include "formats/points.h"
#include "formats/test_key.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { G1_BYTES = 96, G2_BYTES = 192 };

static_assert(CUZK_VK_HEAD_BYTES == 3 * G1_BYTES + 3 * G2_BYTES + 4, "layout of a .vk file");

void cuzk_vk_clear(cuzk_vk *vk)
{
    free(vk->owned);
    memset(vk, 0, sizeof *vk);
}

/* The six points in the order of the files, by name. */
typedef struct {
    cuzk_group_id group;
    size_t offset;
    const char *name;
} fixed_point;

static const fixed_point fixed_points[] = {
    {CUZK_G1, offsetof(cuzk_vk, alpha1), "alpha (G1)"},
    {CUZK_G1, offsetof(cuzk_vk, beta1), "beta (G1)"},
    {CUZK_G2, offsetof(cuzk_vk, beta2), "beta (G2)"},
    {CUZK_G2, offsetof(cuzk_vk, gamma2), "gamma (G2)"},
    {CUZK_G1, offsetof(cuzk_vk, delta1), "delta (G1)"},
    {CUZK_G2, offsetof(cuzk_vk, delta2), "delta (G2)"},
};
enum { N_FIXED = sizeof fixed_points / sizeof fixed_points[0] };

static bool is_g1_twin(const fixed_point *f)
{
    return f->offset == offsetof(cuzk_vk, beta1) || f->offset == offsetof(cuzk_vk, delta1);
}

cuzk_status cuzk_vk_check(const cuzk_vk *vk, cuzk_pool *pool, cuzk_error *err)
{
    char what[64];
    for (int i = 0; i < N_FIXED; i++) {
        const fixed_point *f = &fixed_points[i];
        if (is_g1_twin(f) && !vk->has_g1_pair) {
            continue;
        }
        snprintf(what, sizeof what, "verifying key, %s", f->name);
        CUZK_TRY(cuzk_points_check(vk->curve, f->group, (const uint8_t *)vk + f->offset, 1, 0,
                                   CUZK_POINTS_SUBGROUP, what, NULL, err));
    }
    return cuzk_points_check(vk->curve, CUZK_G1, vk->ic, vk->n_ic, 0,
                             CUZK_POINTS_ALLOW_INFINITY | CUZK_POINTS_SUBGROUP, "verifying key, IC",
                             pool, err);
}

uint64_t cuzk_vk_file_bytes(uint64_t n_ic)
{
    return CUZK_VK_HEAD_BYTES + n_ic * G1_BYTES;
}

static cuzk_status decode_fixed_points(cuzk_vk *vk, const uint8_t *data, cuzk_error *err)
{
    char what[64];
    for (int i = 0; i < N_FIXED; i++) {
        const fixed_point *f = &fixed_points[i];
        snprintf(what, sizeof what, "verifying key, %s", f->name);
        CUZK_TRY(cuzk_points_decode(vk->curve, f->group, (uint8_t *)vk + f->offset, data, 1, 0,
                                    CUZK_POINTS_SUBGROUP, what, NULL, err));
        data += f->group == CUZK_G1 ? G1_BYTES : G2_BYTES;
    }
    return CUZK_OK;
}

cuzk_status cuzk_vk_read(cuzk_vk *out, const uint8_t *data, uint64_t size, cuzk_pool *pool,
                         cuzk_error *err)
{
    CUZK_FAIL_IF(size < CUZK_VK_HEAD_BYTES, err, CUZK_E_TRUNCATED,
                 "vk file: %" PRIu64 " bytes, expected at least %d", size, CUZK_VK_HEAD_BYTES);
    uint64_t n_ic = cuzk_load_u32_be(data + CUZK_VK_HEAD_BYTES - 4);
    uint64_t expected = cuzk_vk_file_bytes(n_ic);
    CUZK_FAIL_IF(n_ic == 0, err, CUZK_E_FORMAT,
                 "vk file: no input commitments, expected at least the one of the constant 1");
    CUZK_FAIL_IF(size < expected, err, CUZK_E_TRUNCATED,
                 "vk file truncated: %" PRIu64 " input commitments should end at %" PRIu64
                 ", file size is %" PRIu64,
                 n_ic, expected, size);
    bool marked = cuzk_test_key_is_mark(data + expected, size - expected);
    CUZK_FAIL_IF(size > expected && !marked, err, CUZK_E_FORMAT,
                 "vk file: %" PRIu64 " bytes, expected %" PRIu64 " (%" PRIu64 " input commitments)",
                 size, expected, n_ic);
    cuzk_vk vk;
    memset(&vk, 0, sizeof vk);
    vk.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    vk.has_g1_pair = true;
    vk.is_test_key = marked;
    CUZK_TRY(decode_fixed_points(&vk, data, err));
    vk.n_ic = (uint32_t)n_ic;
    vk.owned = malloc((size_t)n_ic * G1_BYTES);
    vk.ic = vk.owned;
    CUZK_FAIL_IF(vk.owned == NULL, err, CUZK_E_MEMORY,
                 "vk file: no memory for %" PRIu64 " input commitments", n_ic);
    cuzk_status status =
        cuzk_points_decode(vk.curve, CUZK_G1, vk.owned, data + CUZK_VK_HEAD_BYTES, n_ic, 0,
                           CUZK_POINTS_SUBGROUP, "verifying key, IC", pool, err);
    if (status != CUZK_OK) {
        cuzk_vk_clear(&vk);
        return status;
    }
    *out = vk;
    return CUZK_OK;
}

cuzk_status cuzk_vk_write(uint8_t *out, uint64_t n_bytes, const cuzk_vk *vk, cuzk_error *err)
{
    CUZK_FAIL_IF(vk->curve->id != CUZK_CURVE_BLS12_381, err, CUZK_E_ARGUMENT,
                 "writing a vk file: the key is over %s, this format exists for bls12381 only",
                 vk->curve->snarkjs_name);
    CUZK_FAIL_IF(!vk->has_g1_pair, err, CUZK_E_ARGUMENT,
                 "writing a vk file: beta and delta in G1 are not known for a key read from JSON");
    CUZK_FAIL_IF(n_bytes != cuzk_vk_file_bytes(vk->n_ic), err, CUZK_E_ARGUMENT,
                 "writing a vk file: a buffer of %" PRIu64 " bytes, expected %" PRIu64, n_bytes,
                 cuzk_vk_file_bytes(vk->n_ic));
    for (int i = 0; i < N_FIXED; i++) {
        const fixed_point *f = &fixed_points[i];
        vk->curve->g[f->group].encode(out, (const uint8_t *)vk + f->offset,
                                      CUZK_POINT_UNCOMPRESSED);
        out += f->group == CUZK_G1 ? G1_BYTES : G2_BYTES;
    }
    cuzk_store_u32_be(out, vk->n_ic);
    out += 4;
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        vk->curve->g[CUZK_G1].encode(out + (size_t)i * G1_BYTES,
                                     (const uint8_t *)vk->ic + (size_t)i * G1_BYTES,
                                     CUZK_POINT_UNCOMPRESSED);
    }
    return CUZK_OK;
}
