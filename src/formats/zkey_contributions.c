/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/zkey_contributions.h"

#include "base/blake2b.h"
#include "formats/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BEACON = 1, PARAMETER_NAME = 1, PARAMETER_ITERATIONS = 2, PARAMETER_BEACON_HASH = 3 };

/* The name among the parameters: each is a kind, then (iterations: one byte; else: a length byte
 * and that many bytes). */
static void read_name(cuzk_zkey_contribution *c, const uint8_t *p, uint32_t n)
{
    uint32_t at = 0;
    while (n - at >= 2) {
        uint8_t kind = p[at], length = p[at + 1];
        at += 2;
        if (kind == PARAMETER_ITERATIONS) {
            continue;
        }
        if ((kind != PARAMETER_NAME && kind != PARAMETER_BEACON_HASH) || length > n - at) {
            return;
        }
        for (uint32_t i = 0; kind == PARAMETER_NAME && i < length && i + 1 < sizeof c->name; i++) {
            c->name[i] = p[at + i] >= ' ' && p[at + i] < 0x7f ? (char)p[at + i] : '?';
        }
        at += length;
    }
}

cuzk_status cuzk_zkey_contribution_next(const cuzk_zkey *key, uint64_t *offset,
                                        cuzk_zkey_contribution *out, cuzk_error *err)
{
    size_t g1 = key->curve->g[CUZK_G1].affine_bytes, g2 = key->curve->g[CUZK_G2].affine_bytes;
    uint64_t left = key->contributions_bytes - *offset;
    const uint8_t *p = key->contributions + *offset;
    uint64_t fixed = 3 * g1 + g2 + CUZK_TRANSCRIPT_BYTES + 8;
    CUZK_FAIL_IF(left < fixed, err, CUZK_E_FORMAT,
                 "a record needs %" PRIu64 " bytes at offset %" PRIu64 " of the records, %" PRIu64
                 " are left",
                 fixed, *offset, left);
    memset(out, 0, sizeof *out);
    out->delta = p;
    out->s = p + g1;
    out->sx = p + 2 * g1;
    out->spx = p + 3 * g1;
    out->transcript = out->spx + g2;
    uint32_t kind = cuzk_load_u32_le(out->transcript + CUZK_TRANSCRIPT_BYTES);
    CUZK_FAIL_IF(kind > BEACON, err, CUZK_E_FORMAT,
                 "a record at offset %" PRIu64 " of the records is of kind %" PRIu32
                 ", expected 0 (a person) or 1 (a beacon)",
                 *offset, kind);
    out->is_beacon = kind == BEACON;
    uint32_t n_parameters = cuzk_load_u32_le(out->transcript + CUZK_TRANSCRIPT_BYTES + 4);
    CUZK_FAIL_IF(left - fixed < n_parameters, err, CUZK_E_FORMAT,
                 "a record has %" PRIu32 " bytes of parameters, %" PRIu64 " are left", n_parameters,
                 left - fixed);
    read_name(out, p + fixed, n_parameters);
    *offset += fixed + n_parameters;
    return CUZK_OK;
}

/* Append a point as transcripts hold it: coordinates big-endian in plain form, those of G2 with the
 * coefficient of u first. */
static void hash_point(cuzk_blake2b *hash, const cuzk_curve *curve, cuzk_group_id group,
                       const uint8_t *point)
{
    size_t n = curve->fp_bytes, n_values = curve->g[group].affine_bytes / n;
    for (size_t i = 0; i < n_values; i++) {
        uint64_t limbs[6];
        uint8_t le[48], be[48];
        memcpy(limbs, point + n * (group == CUZK_G2 ? i ^ 1 : i), n);
        curve->fp_to_canonical_le(le, limbs);
        for (size_t k = 0; k < n; k++) {
            be[k] = le[n - 1 - k];
        }
        cuzk_blake2b_update(hash, be, n);
    }
}

static cuzk_status check_points(const cuzk_curve *curve, const cuzk_zkey_contribution *c,
                                cuzk_error *err)
{
    const struct {
        const char *name;
        cuzk_group_id group;
        const uint8_t *point;
    } points[] = {{"delta", CUZK_G1, c->delta},
                  {"s", CUZK_G1, c->s},
                  {"s times x", CUZK_G1, c->sx},
                  {"s' times x", CUZK_G2, c->spx}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        CUZK_TRY(cuzk_points_check(curve, points[i].group, points[i].point, 1, 0,
                                   CUZK_POINTS_SUBGROUP, points[i].name, NULL, err));
    }
    return CUZK_OK;
}

/* One record after those that *hash has taken in, which then takes it in. */
static cuzk_status check_record(const cuzk_curve *curve, cuzk_blake2b *hash,
                                const cuzk_zkey_contribution *c, cuzk_error *err)
{
    CUZK_TRY(check_points(curve, c, err));
    cuzk_blake2b own = *hash;
    uint8_t expected[CUZK_BLAKE2B_BYTES];
    hash_point(&own, curve, CUZK_G1, c->s);
    hash_point(&own, curve, CUZK_G1, c->sx);
    cuzk_blake2b_final(&own, expected);
    CUZK_FAIL_IF(memcmp(c->transcript, expected, sizeof expected) != 0, err, CUZK_E_FORMAT,
                 "its transcript is not the hash of the circuit hash and the records before it");
    hash_point(hash, curve, CUZK_G1, c->delta);
    hash_point(hash, curve, CUZK_G1, c->s);
    hash_point(hash, curve, CUZK_G1, c->sx);
    hash_point(hash, curve, CUZK_G2, c->spx);
    cuzk_blake2b_update(hash, c->transcript, CUZK_TRANSCRIPT_BYTES);
    return CUZK_OK;
}

cuzk_status cuzk_zkey_check_contributions(const cuzk_zkey *key, cuzk_error *err)
{
    const char *where = "zkey section 10 (contributions)";
    if (!key->has_contributions) {
        return CUZK_OK;
    }
    cuzk_blake2b hash;
    cuzk_blake2b_init(&hash);
    cuzk_blake2b_update(&hash, key->circuit_hash, CUZK_ZKEY_CIRCUIT_HASH_BYTES);
    uint64_t offset = 0;
    cuzk_zkey_contribution c;
    for (uint32_t i = 0; i < key->n_contributions; i++) {
        cuzk_status status = cuzk_zkey_contribution_next(key, &offset, &c, err);
        if (status == CUZK_OK) {
            status = check_record(key->curve, &hash, &c, err);
        }
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "%s: record %" PRIu32 " of %" PRIu32, where, i,
                              key->n_contributions);
            return status;
        }
    }
    CUZK_FAIL_IF(offset != key->contributions_bytes, err, CUZK_E_FORMAT,
                 "%s: %" PRIu32 " records end at %" PRIu64 " of %" PRIu64 " bytes", where,
                 key->n_contributions, offset, key->contributions_bytes);
    CUZK_FAIL_IF(key->n_contributions > 0 &&
                     memcmp(c.delta, &key->vk.delta1, key->curve->g[CUZK_G1].affine_bytes) != 0,
                 err, CUZK_E_FORMAT,
                 "%s: the last record's delta is not the key's: record %" PRIu32, where,
                 key->n_contributions - 1);
    return CUZK_OK;
}
