/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/zkey_write.h"

#include "base/bytes.h"
#include "formats/test_key.h"
#include "formats/zkey.h"

#include <inttypes.h>

enum { CIRCUIT_HASH_BYTES = 64, PROTOCOL_GROTH16 = 1 };

static void put_u32(FILE *f, uint32_t v)
{
    uint8_t b[4];
    cuzk_store_u32_le(b, v);
    fwrite(b, 1, sizeof b, f);
}

static void put_words(FILE *f, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t b[8];
        cuzk_store_u64_le(b, words[i]);
        fwrite(b, 1, sizeof b, f);
    }
}

static void put_section(FILE *f, uint32_t id, uint64_t n_bytes)
{
    put_u32(f, id);
    put_words(f, &n_bytes, 1);
}

static void put_prime(FILE *f, const uint64_t *limbs, size_t n_bytes)
{
    put_u32(f, (uint32_t)n_bytes);
    put_words(f, limbs, n_bytes / 8);
}

static uint32_t query_section(int query)
{
    static const uint32_t ids[CUZK_ZKEY_QUERY_COUNT] = {9, 8, 5, 6, 7};
    return ids[query];
}

static uint64_t query_points(const cuzk_zkey_writer *w, int query)
{
    switch (query) {
    case CUZK_ZKEY_QUERY_H:
        return w->header.domain_size;
    case CUZK_ZKEY_QUERY_C:
        return (uint64_t)w->header.n_vars - w->n_public - 1;
    default:
        return w->header.n_vars;
    }
}

static uint64_t point_bytes(const cuzk_zkey_writer *w, int query)
{
    return w->curve->g[query == CUZK_ZKEY_QUERY_B2 ? CUZK_G2 : CUZK_G1].affine_bytes;
}

static void put_header_section(cuzk_zkey_writer *w)
{
    const cuzk_curve *c = w->curve;
    const cuzk_vk *vk = w->header.vk;
    size_t g1 = c->g[CUZK_G1].affine_bytes;
    size_t g2 = c->g[CUZK_G2].affine_bytes;
    FILE *f = w->file;
    put_section(f, 2, 4 + c->fp_bytes + 4 + 32 + 12 + 3 * g1 + 3 * g2);
    put_prime(f, c->p, c->fp_bytes);
    put_prime(f, c->r, 32);
    put_u32(f, w->header.n_vars);
    put_u32(f, w->n_public);
    put_u32(f, w->header.domain_size);
    fwrite(&vk->alpha1, 1, g1, f);
    fwrite(&vk->beta1, 1, g1, f);
    fwrite(&vk->beta2, 1, g2, f);
    fwrite(&vk->gamma2, 1, g2, f);
    fwrite(&vk->delta1, 1, g1, f);
    fwrite(&vk->delta2, 1, g2, f);
}

cuzk_status cuzk_zkey_writer_begin(cuzk_zkey_writer *w, FILE *file, const cuzk_zkey_header *header,
                                   cuzk_error *err)
{
    const cuzk_vk *vk = header->vk;
    CUZK_FAIL_IF(!vk->has_g1_pair, err, CUZK_E_ARGUMENT,
                 "writing a zkey: beta and delta in G1 are not known for a key read from JSON");
    CUZK_FAIL_IF(vk->n_ic == 0 || vk->n_ic > header->n_vars, err, CUZK_E_ARGUMENT,
                 "writing a zkey: %" PRIu32 " input commitments for %" PRIu32 " wires", vk->n_ic,
                 header->n_vars);
    CUZK_FAIL_IF(header->domain_size == 0 || (header->domain_size & (header->domain_size - 1)) != 0,
                 err, CUZK_E_ARGUMENT,
                 "writing a zkey: domain size %" PRIu32 " is not a power of two",
                 header->domain_size);
    *w = (cuzk_zkey_writer){
        .file = file, .curve = vk->curve, .header = *header, .n_public = vk->n_ic - 1, .query = -1};
    /* the limbs of 1 in Montgomery form are R mod r */
    (void)w->curve->fr_from_canonical_le(&w->r_squared, &w->curve->fr_one);
    fwrite("zkey", 1, 4, file);
    put_u32(file, 1); /* version */
    put_u32(file, header->test_mark ? 11 : 10);
    put_section(file, 1, 4);
    put_u32(file, PROTOCOL_GROTH16);
    put_header_section(w);
    size_t g1 = w->curve->g[CUZK_G1].affine_bytes;
    put_section(file, 3, vk->n_ic * (uint64_t)g1);
    fwrite(vk->ic, g1, vk->n_ic, file);
    put_section(file, 4, 4 + (uint64_t)header->n_coeffs * CUZK_ZKEY_COEFF_BYTES);
    put_u32(file, header->n_coeffs);
    return CUZK_OK;
}

void cuzk_zkey_writer_coeff(cuzk_zkey_writer *w, uint32_t matrix, uint32_t row, uint32_t wire,
                            const cuzk_fr *value)
{
    if (w->query >= 0 || w->n_coeffs == w->header.n_coeffs) {
        w->misused = true;
        return;
    }
    cuzk_fr twice_montgomery;
    w->curve->fr_mul(&twice_montgomery, value, &w->r_squared);
    uint8_t record[CUZK_ZKEY_COEFF_BYTES];
    cuzk_store_u32_le(record, matrix);
    cuzk_store_u32_le(record + 4, row);
    cuzk_store_u32_le(record + 8, wire);
    for (int k = 0; k < 4; k++) {
        cuzk_store_u64_le(record + 12 + 8 * k, twice_montgomery.l[k]);
    }
    fwrite(record, 1, sizeof record, w->file);
    w->n_coeffs++;
}

/* Ends the piece being written and starts the sections up to `query`, which are empty but the
 * last. */
static void advance(cuzk_zkey_writer *w, int query)
{
    while (w->query < query) {
        bool complete = w->query < 0 ? w->n_coeffs == w->header.n_coeffs
                                     : w->n_points == query_points(w, w->query);
        w->misused = w->misused || !complete;
        w->query++;
        w->n_points = 0;
        if (w->query < CUZK_ZKEY_QUERY_COUNT) {
            put_section(w->file, query_section(w->query),
                        query_points(w, w->query) * point_bytes(w, w->query));
        }
    }
}

void cuzk_zkey_writer_points(cuzk_zkey_writer *w, cuzk_zkey_query query, const void *points,
                             uint64_t n)
{
    advance(w, (int)query);
    if (w->query != (int)query || n > query_points(w, w->query) - w->n_points) {
        w->misused = true;
        return;
    }
    if (n > 0) {
        fwrite(points, point_bytes(w, w->query), (size_t)n, w->file);
    }
    w->n_points += n;
}

cuzk_status cuzk_zkey_writer_end(cuzk_zkey_writer *w, cuzk_error *err)
{
    static const uint8_t no_hash[CIRCUIT_HASH_BYTES] = {0};
    FILE *f = w->file;
    advance(w, CUZK_ZKEY_QUERY_COUNT);
    put_section(f, 10, CIRCUIT_HASH_BYTES + 4);
    fwrite(w->header.circuit_hash != NULL ? w->header.circuit_hash : no_hash, 1, CIRCUIT_HASH_BYTES,
           f);
    put_u32(f, 0); /* contributions */
    if (w->header.test_mark) {
        put_section(f, CUZK_TEST_KEY_SECTION, CUZK_TEST_KEY_MARK_BYTES);
        fwrite(CUZK_TEST_KEY_MARK, 1, CUZK_TEST_KEY_MARK_BYTES, f);
    }
    CUZK_FAIL_IF(w->misused, err, CUZK_E_ARGUMENT,
                 "writing a zkey: pieces are missing, too long or out of order");
    CUZK_FAIL_IF(fflush(f) != 0 || ferror(f), err, CUZK_E_FILE, "writing a zkey: write error");
    return CUZK_OK;
}
