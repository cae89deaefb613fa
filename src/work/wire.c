/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/wire.h"

#include "base/bytes.h"

/* A varint of at most 64 bits. */
static cuzk_status read_varint(cuzk_wire *w, uint64_t *out, cuzk_error *err)
{
    size_t begin = w->at;
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        CUZK_FAIL_IF(w->at == w->size, err, CUZK_E_TRUNCATED,
                     "the message ends in the number at byte %zu", begin);
        uint8_t byte = w->data[w->at++];
        CUZK_FAIL_IF(shift == 63 && byte > 1, err, CUZK_E_FORMAT,
                     "the number at byte %zu has more than 64 bits", begin);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            break;
        }
    }
    *out = v;
    return CUZK_OK;
}

static cuzk_status read_fixed(cuzk_wire *w, cuzk_wire_field *out, size_t n_bytes, cuzk_error *err)
{
    CUZK_FAIL_IF(w->size - w->at < n_bytes, err, CUZK_E_TRUNCATED,
                 "field %u at byte %zu: %zu bytes are left of %zu", out->number, out->offset,
                 w->size - w->at, n_bytes);
    const uint8_t *p = w->data + w->at;
    out->value = n_bytes == 8 ? cuzk_load_u64_le(p) : cuzk_load_u32_le(p);
    w->at += n_bytes;
    return CUZK_OK;
}

static cuzk_status read_bytes(cuzk_wire *w, cuzk_wire_field *out, cuzk_error *err)
{
    uint64_t n_bytes;
    CUZK_TRY(read_varint(w, &n_bytes, err));
    CUZK_FAIL_IF(n_bytes > w->size - w->at, err, CUZK_E_TRUNCATED,
                 "field %u at byte %zu: %zu bytes are left of %llu", out->number, out->offset,
                 w->size - w->at, (unsigned long long)n_bytes);
    out->bytes = (cuzk_wire_bytes){w->data + w->at, (size_t)n_bytes};
    w->at += (size_t)n_bytes;
    return CUZK_OK;
}

cuzk_status cuzk_wire_next(cuzk_wire *w, cuzk_wire_field *out, bool *end, cuzk_error *err)
{
    enum { TYPE_BITS = 3, NUMBER_MAX = (1 << 29) - 1 };
    *out = (cuzk_wire_field){.offset = w->at};
    *end = w->at == w->size;
    if (*end) {
        return CUZK_OK;
    }
    uint64_t tag = 0;
    CUZK_TRY(read_varint(w, &tag, err));
    CUZK_FAIL_IF(tag >> TYPE_BITS == 0 || tag >> TYPE_BITS > NUMBER_MAX, err, CUZK_E_FORMAT,
                 "byte %zu: %llu is no field number", out->offset,
                 (unsigned long long)(tag >> TYPE_BITS));
    out->number = (uint32_t)(tag >> TYPE_BITS);
    out->type = (cuzk_wire_type)(tag & ((1 << TYPE_BITS) - 1));
    switch (out->type) {
    case CUZK_WIRE_VARINT:
        return read_varint(w, &out->value, err);
    case CUZK_WIRE_FIXED64:
        return read_fixed(w, out, 8, err);
    case CUZK_WIRE_BYTES:
        return read_bytes(w, out, err);
    case CUZK_WIRE_FIXED32:
        return read_fixed(w, out, 4, err);
    }
    return CUZK_FAIL(err, CUZK_E_FORMAT, "field %u at byte %zu: wire type %d is not known",
                     out->number, out->offset, (int)out->type);
}

cuzk_status cuzk_wire_each(const void *message, size_t n_bytes,
                           cuzk_status (*take)(void *user, const cuzk_wire_field *field,
                                               cuzk_error *err),
                           void *user, cuzk_error *err)
{
    cuzk_wire wire = {message, n_bytes, 0};
    for (;;) {
        cuzk_wire_field field;
        bool end;
        CUZK_TRY(cuzk_wire_next(&wire, &field, &end, err));
        if (end) {
            return CUZK_OK;
        }
        CUZK_TRY(take(user, &field, err));
    }
}

cuzk_status cuzk_wire_expect(const cuzk_wire_field *field, cuzk_wire_type type, const char *name,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(field->type != type, err, CUZK_E_FORMAT,
                 "field %u (%s) at byte %zu has wire type %d, expected %d", field->number, name,
                 field->offset, (int)field->type, (int)type);
    return CUZK_OK;
}
