/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/wtns.h"

#include "base/bytes.h"
#include "formats/detect.h"
#include "formats/prime.h"
#include "formats/sections.h"

#include <inttypes.h>
#include <stdatomic.h>

enum {
    VALUE_BYTES = 32,
    HEADER_SECTION_BYTES = 4 + VALUE_BYTES + 4,
    FILE_HEAD_BYTES = 12 + 12 + HEADER_SECTION_BYTES + 12, /* all that precedes the values */
    CHUNK = 1 << 14
};

cuzk_status cuzk_wtns_open(cuzk_wtns *out, const uint8_t *data, uint64_t size, cuzk_error *err)
{
    /* no guess, no proof: a dump may be of either curve */
    CUZK_FAIL_IF(cuzk_format_detect(data, size) == CUZK_FORMAT_RAW_WITNESS, err, CUZK_E_FORMAT,
                 "no wtns header; this looks like a raw witness dump of %" PRIu64
                 " values; expected a wtns file",
                 size / VALUE_BYTES);
    cuzk_sections s;
    CUZK_TRY(cuzk_sections_open(&s, "wtns", 2, data, size, err));
    cuzk_span header;
    cuzk_span values;
    CUZK_TRY(cuzk_sections_get(&s, 1, "header", &header, err));
    CUZK_TRY(cuzk_sections_get(&s, 2, "values", &values, err));
    const char *what = "wtns section 1 (header)";
    cuzk_span prime;
    cuzk_wtns w;
    CUZK_TRY(cuzk_prime_read(&prime, &header, what, err));
    CUZK_TRY(cuzk_prime_curve(&w.curve, prime, what, err));
    CUZK_FAIL_IF(header.size != 4, err, CUZK_E_FORMAT,
                 "%s: %" PRIu64 " bytes behind the prime, expected 4", what, header.size);
    w.n_values = cuzk_load_u32_le(header.data);
    w.values = values.data;
    CUZK_FAIL_IF(values.size != w.n_values * VALUE_BYTES, err, CUZK_E_FORMAT,
                 "wtns section 2 (values): %" PRIu64 " bytes, expected %" PRIu64 " (%" PRIu64
                 " values of %d bytes)",
                 values.size, w.n_values * VALUE_BYTES, w.n_values, VALUE_BYTES);
    *out = w;
    return CUZK_OK;
}

cuzk_status cuzk_wtns_check_circuit(const cuzk_wtns *witness, const cuzk_curve *curve,
                                    uint64_t n_vars, cuzk_error *err)
{
    CUZK_FAIL_IF(witness->curve->id != curve->id, err, CUZK_E_MISMATCH,
                 "witness is over %s, key is over %s", witness->curve->snarkjs_name,
                 curve->snarkjs_name);
    CUZK_FAIL_IF(witness->n_values != n_vars, err, CUZK_E_WITNESS_LENGTH,
                 "Invalid witness length. Circuit: %" PRIu64 ", witness: %" PRIu64, n_vars,
                 witness->n_values);
    return CUZK_OK;
}

bool cuzk_value_is_canonical(const cuzk_curve *curve, const uint8_t *bytes32)
{
    for (int k = 3; k >= 0; k--) {
        uint64_t v = cuzk_load_u64_le(bytes32 + 8 * k);
        if (v != curve->r[k]) {
            return v < curve->r[k];
        }
    }
    return false;
}

typedef struct {
    const cuzk_wtns *witness;
    _Atomic uint64_t first_bad;
} check_job;

static void check_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    check_job *j = ctx;
    const cuzk_wtns *w = j->witness;
    uint64_t begin = (uint64_t)chunk * CHUNK;
    uint64_t end = w->n_values - begin < CHUNK ? w->n_values : begin + CHUNK;
    for (uint64_t i = begin; i < end; i++) {
        if (!cuzk_value_is_canonical(w->curve, w->values + i * VALUE_BYTES)) {
            /* relaxed: the pool's join orders this before the caller's load */
            uint64_t seen = atomic_load_explicit(&j->first_bad, memory_order_relaxed);
            while (i < seen && !atomic_compare_exchange_weak_explicit(&j->first_bad, &seen, i,
                                                                      memory_order_relaxed,
                                                                      memory_order_relaxed)) {
            }
            return;
        }
    }
}

cuzk_status cuzk_wtns_check(const cuzk_wtns *witness, cuzk_pool *pool, cuzk_error *err)
{
    check_job j = {.witness = witness};
    atomic_init(&j.first_bad, UINT64_MAX);
    cuzk_pool_for(pool, (size_t)((witness->n_values + CHUNK - 1) / CHUNK), check_chunk, &j);
    uint64_t bad = atomic_load(&j.first_bad);
    char hex[CUZK_PRIME_HEX_MAX];
    if (bad != UINT64_MAX) {
        cuzk_span v = {witness->values + bad * VALUE_BYTES, VALUE_BYTES};
        return CUZK_FAIL(err, CUZK_E_FORMAT,
                         "witness value %" PRIu64 " is %s, not below the field order of %s", bad,
                         cuzk_prime_hex(hex, v), witness->curve->snarkjs_name);
    }
    static const uint8_t one[VALUE_BYTES] = {1};
    if (witness->n_values > 0 && memcmp(witness->values, one, VALUE_BYTES) != 0) {
        cuzk_span v = {witness->values, VALUE_BYTES};
        return CUZK_FAIL(err, CUZK_E_UNSATISFIED,
                         "witness value 0 is %s, expected the constant 1: the witness does not "
                         "satisfy the constraint system",
                         cuzk_prime_hex(hex, v));
    }
    return CUZK_OK;
}

uint64_t cuzk_wtns_file_bytes(uint64_t n_values)
{
    return FILE_HEAD_BYTES + n_values * VALUE_BYTES;
}

void cuzk_wtns_write(uint8_t *out, const cuzk_curve *curve, const uint8_t *values,
                     uint64_t n_values)
{
    if (n_values > 0) {
        memmove(out + FILE_HEAD_BYTES, values, (size_t)(n_values * VALUE_BYTES));
    }
    memcpy(out, "wtns", 4);
    cuzk_store_u32_le(out + 4, 2); /* version */
    cuzk_store_u32_le(out + 8, 2); /* sections */
    cuzk_store_u32_le(out + 12, 1);
    cuzk_store_u64_le(out + 16, HEADER_SECTION_BYTES);
    cuzk_store_u32_le(out + 24, VALUE_BYTES);
    for (int k = 0; k < 4; k++) {
        cuzk_store_u64_le(out + 28 + 8 * k, curve->r[k]);
    }
    cuzk_store_u32_le(out + 60, (uint32_t)n_values);
    cuzk_store_u32_le(out + 64, 2);
    cuzk_store_u64_le(out + 68, n_values * VALUE_BYTES);
}
