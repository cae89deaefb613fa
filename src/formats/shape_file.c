/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/shape_file.h"

#include "base/bitmap.h"
#include "base/bytes.h"
#include "formats/detect.h"

#include <inttypes.h>
#include <string.h>

enum {
    AT_COUNTS = 12, /* the curve and ten counts, u32 each */
    AT_TERMS = 56,  /* three u64 */
    AT_SIZE = 80,
    AT_FINGERPRINT = 128,
    AT_BODY_DIGEST = 160,
    BLOCK_BYTES = 44,
    SLICE = 16 << 20
};

/* The counts in file order, after the curve; NULL behind the last. */
static uint32_t *count_at(cuzk_shape_header *h, unsigned i)
{
    uint32_t *const counts[] = {&h->n_inputs,      &h->n_vars,   &h->n_constraints, &h->n_blocks,
                                &h->n_stored_rows, &h->n_coefs,  &h->n_b_input,     &h->n_a_aux,
                                &h->n_b_aux,       &h->n_choices};
    return i < sizeof counts / sizeof counts[0] ? counts[i] : NULL;
}

uint64_t cuzk_shape_array_bytes(const cuzk_shape_header *h, cuzk_shape_array array)
{
    uint64_t n_aux = (uint64_t)h->n_vars - h->n_inputs;
    switch (array) {
    case CUZK_SHAPE_BLOCKS:
        return (uint64_t)h->n_blocks * BLOCK_BYTES;
    case CUZK_SHAPE_CHOICES:
        return (uint64_t)h->n_choices * 4;
    case CUZK_SHAPE_COEFS:
    case CUZK_SHAPE_COEFS_R2:
        return (uint64_t)h->n_coefs * sizeof(cuzk_fr);
    case CUZK_SHAPE_IS_BIT:
    case CUZK_SHAPE_IS_FIELD:
        return cuzk_bitmap_words(h->n_vars) * 8;
    case CUZK_SHAPE_B_INPUT_DENSITY:
        return cuzk_bitmap_words(h->n_inputs) * 8;
    case CUZK_SHAPE_A_AUX_DENSITY:
    case CUZK_SHAPE_B_AUX_DENSITY:
        return cuzk_bitmap_words(n_aux) * 8;
    default:
        break;
    }
    return array < CUZK_SHAPE_VAR ? ((uint64_t)h->n_stored_rows + 1) * 8
                                  : h->n_terms[(array - CUZK_SHAPE_VAR) % 3] * 4;
}

/* Size of the file; the numbers of terms are below 2^60. */
static uint64_t file_bytes(const cuzk_shape_header *h)
{
    uint64_t n = CUZK_SHAPE_HEADER_BYTES;
    for (int i = 0; i < CUZK_SHAPE_ARRAY_COUNT; i++) {
        uint64_t n_bytes = cuzk_shape_array_bytes(h, i);
        n += n_bytes + cuzk_shape_array_gap(n_bytes);
    }
    return n;
}

void cuzk_shape_header_write(uint8_t out[CUZK_SHAPE_HEADER_BYTES], const cuzk_shape_header *header)
{
    cuzk_shape_header h = *header;
    memset(out, 0, CUZK_SHAPE_HEADER_BYTES);
    memcpy(out, CUZK_SHAPE_MAGIC, 8);
    cuzk_store_u32_le(out + 8, CUZK_SHAPE_FILE_VERSION);
    cuzk_store_u32_le(out + AT_COUNTS, (uint32_t)h.curve->id);
    for (unsigned i = 0; count_at(&h, i) != NULL; i++) {
        cuzk_store_u32_le(out + AT_COUNTS + 4 + 4 * (size_t)i, *count_at(&h, i));
    }
    for (size_t k = 0; k < 3; k++) {
        cuzk_store_u64_le(out + AT_TERMS + 8 * k, h.n_terms[k]);
    }
    cuzk_store_u64_le(out + AT_SIZE, file_bytes(&h));
    memcpy(out + AT_FINGERPRINT, h.fingerprint, sizeof h.fingerprint);
    memcpy(out + AT_BODY_DIGEST, h.body_digest, sizeof h.body_digest);
    cuzk_sha256_digest(out + CUZK_SHAPE_HEADER_DIGEST, out, CUZK_SHAPE_HEADER_DIGEST);
}

/* ---- reading --------------------------------------------------------------------------------- */

static cuzk_status check_magic(const uint8_t *data, uint64_t size, cuzk_error *err)
{
    if (size < 8 || memcmp(data, CUZK_SHAPE_MAGIC, 8) != 0) {
        char found[64];
        cuzk_format_describe(found, sizeof found, data, size);
        return CUZK_FAIL(err, CUZK_E_FORMAT, "%s, expected a compiled circuit (magic \"%s\")",
                         found, CUZK_SHAPE_MAGIC);
    }
    CUZK_FAIL_IF(size < CUZK_SHAPE_HEADER_BYTES, err, CUZK_E_TRUNCATED,
                 "compiled circuit truncated: %" PRIu64 " bytes, the header has %d", size,
                 CUZK_SHAPE_HEADER_BYTES);
    uint32_t version = cuzk_load_u32_le(data + 8);
    CUZK_FAIL_IF(version != CUZK_SHAPE_FILE_VERSION, err, CUZK_E_UNSUPPORTED,
                 "compiled circuit: version %" PRIu32 ", expected %d", version,
                 CUZK_SHAPE_FILE_VERSION);
    return CUZK_OK;
}

/* The header as this program would write it has no other bytes. */
static cuzk_status read_header(cuzk_shape_header *h, const uint8_t *data, uint64_t size,
                               cuzk_error *err)
{
    uint8_t digest[CUZK_SHA256_BYTES], again[CUZK_SHAPE_HEADER_BYTES];
    cuzk_sha256_digest(digest, data, CUZK_SHAPE_HEADER_DIGEST);
    CUZK_FAIL_IF(memcmp(digest, data + CUZK_SHAPE_HEADER_DIGEST, sizeof digest) != 0, err,
                 CUZK_E_FORMAT, "compiled circuit: the header is damaged: its digest differs");
    uint32_t curve = cuzk_load_u32_le(data + AT_COUNTS);
    h->curve = cuzk_curve_get((cuzk_curve_id)curve);
    CUZK_FAIL_IF(h->curve == NULL, err, CUZK_E_FORMAT,
                 "compiled circuit: curve number %" PRIu32 ", expected 1 (bn128) or 2 (bls12381)",
                 curve);
    for (unsigned i = 0; count_at(h, i) != NULL; i++) {
        *count_at(h, i) = cuzk_load_u32_le(data + AT_COUNTS + 4 + 4 * (size_t)i);
    }
    CUZK_FAIL_IF(h->n_inputs == 0 || h->n_inputs > h->n_vars, err, CUZK_E_FORMAT,
                 "compiled circuit: %" PRIu32 " inputs with the constant 1, %" PRIu32
                 " variables in all",
                 h->n_inputs, h->n_vars);
    for (size_t k = 0; k < 3; k++) {
        h->n_terms[k] = cuzk_load_u64_le(data + AT_TERMS + 8 * k);
        CUZK_FAIL_IF(h->n_terms[k] > size / 8, err, CUZK_E_TRUNCATED,
                     "compiled circuit truncated: %" PRIu64 " terms in %c do not fit in %" PRIu64
                     " bytes",
                     h->n_terms[k], "ABC"[k], size);
    }
    memcpy(h->fingerprint, data + AT_FINGERPRINT, sizeof h->fingerprint);
    memcpy(h->body_digest, data + AT_BODY_DIGEST, sizeof h->body_digest);
    uint64_t expected = file_bytes(h);
    CUZK_FAIL_IF(size < expected, err, CUZK_E_TRUNCATED,
                 "compiled circuit truncated: it should end at %" PRIu64 ", file size is %" PRIu64,
                 expected, size);
    CUZK_FAIL_IF(size > expected, err, CUZK_E_FORMAT,
                 "compiled circuit: it ends at %" PRIu64 ", file size is %" PRIu64, expected, size);
    cuzk_shape_header_write(again, h);
    CUZK_FAIL_IF(memcmp(again, data, sizeof again) != 0, err, CUZK_E_FORMAT,
                 "compiled circuit: the header's size field is not %" PRIu64
                 ", or its unused bytes are not zero",
                 expected);
    return CUZK_OK;
}

cuzk_status cuzk_shape_file_open(cuzk_shape_file *out, const uint8_t *data, uint64_t size,
                                 cuzk_error *err)
{
    cuzk_shape_file f;
    memset(&f, 0, sizeof f);
    CUZK_TRY(check_magic(data, size, err));
    CUZK_TRY(read_header(&f.header, data, size, err));
    uint64_t at = CUZK_SHAPE_HEADER_BYTES;
    f.body = (cuzk_span){data + at, size - at};
    for (int i = 0; i < CUZK_SHAPE_ARRAY_COUNT; i++) {
        uint64_t n_bytes = cuzk_shape_array_bytes(&f.header, i);
        f.arrays[i] = (cuzk_span){data + at, n_bytes};
        at += n_bytes + cuzk_shape_array_gap(n_bytes);
    }
    *out = f;
    return CUZK_OK;
}

cuzk_status cuzk_shape_file_check(const cuzk_shape_file *file, const cuzk_reporter *reporter,
                                  cuzk_error *err)
{
    cuzk_sha256 sha;
    uint8_t digest[CUZK_SHA256_BYTES];
    cuzk_sha256_init(&sha);
    for (uint64_t at = 0; at < file->body.size; at += SLICE) {
        uint64_t left = file->body.size - at;
        CUZK_TRY(cuzk_report_progress(reporter, "digest", at, file->body.size, err));
        cuzk_sha256_update(&sha, file->body.data + at, (size_t)(left < SLICE ? left : SLICE));
    }
    cuzk_sha256_final(&sha, digest);
    CUZK_FAIL_IF(memcmp(digest, file->header.body_digest, sizeof digest) != 0, err, CUZK_E_FORMAT,
                 "compiled circuit: damaged: the digest of its arrays differs from the header's");
    return CUZK_OK;
}
