/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protobuf's wire form: a tag of number and type in front of each field, varints of seven bits a
 * byte, lengths in front of bytes. Source: protobuf.dev, "Encoding". */
#include "server/rpc_wire.h"

#include "base/bytes.h"
#include "base/utf8.h"

#include <string.h>

bool cuzk_wire_varint(cuzk_wire *wire, uint64_t *value)
{
    uint64_t v = 0;
    const uint8_t *p = wire->at;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == wire->end) {
            return false;
        }
        uint8_t byte = *p++;
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            wire->at = p;
            *value = v;
            return true;
        }
    }
    return false;
}

cuzk_wire_next cuzk_wire_read(cuzk_wire *wire, cuzk_wire_field *field)
{
    if (wire->at == wire->end) {
        return CUZK_WIRE_END;
    }
    cuzk_wire w = *wire;
    uint64_t tag, size;
    if (!cuzk_wire_varint(&w, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
        return CUZK_WIRE_BROKEN;
    }
    *field = (cuzk_wire_field){.number = (uint32_t)(tag >> 3), .type = (unsigned)(tag & 7)};
    switch (field->type) {
    case 0:
        if (!cuzk_wire_varint(&w, &field->value)) {
            return CUZK_WIRE_BROKEN;
        }
        break;
    case 1:
    case 5:
        size = field->type == 1 ? 8 : 4;
        if ((uint64_t)(w.end - w.at) < size) {
            return CUZK_WIRE_BROKEN;
        }
        field->value = size == 8 ? cuzk_load_u64_le(w.at) : cuzk_load_u32_le(w.at);
        w.at += size;
        break;
    case 2:
        if (!cuzk_wire_varint(&w, &size) || size > (uint64_t)(w.end - w.at)) {
            return CUZK_WIRE_BROKEN;
        }
        field->data = w.at;
        field->size = (size_t)size;
        w.at += size;
        break;
    default:
        return CUZK_WIRE_BROKEN;
    }
    *wire = w;
    return CUZK_WIRE_FIELD;
}

void cuzk_utf8_mend(char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        size_t length = cuzk_utf8_length((const uint8_t *)text + i, n - i);
        if (length == 0) {
            text[i] = '?';
            length = 1;
        }
        i += length;
    }
}

cuzk_status cuzk_wire_text(char *out, size_t capacity, const cuzk_wire_field *field,
                           const char *what, cuzk_error *err)
{
    CUZK_FAIL_IF(field->type != 2, err, CUZK_E_ARGUMENT, "%s: wire type %u, expected a string",
                 what, field->type);
    CUZK_FAIL_IF(field->size >= capacity, err, CUZK_E_ARGUMENT,
                 "%s: %zu bytes, at most %zu are taken", what, field->size, capacity - 1);
    for (size_t i = 0; i < field->size;) {
        size_t length = cuzk_utf8_length(field->data + i, field->size - i);
        CUZK_FAIL_IF(length == 0, err, CUZK_E_ARGUMENT, "%s: not UTF-8 at byte %zu", what, i);
        CUZK_FAIL_IF(field->data[i] == 0, err, CUZK_E_ARGUMENT, "%s: a NUL at byte %zu", what, i);
        i += length;
    }
    if (field->size > 0) {
        memcpy(out, field->data, field->size);
    }
    out[field->size] = '\0';
    return CUZK_OK;
}

static void put_varint(cuzk_text *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) {
        bytes[n++] = (char)(value | 0x80);
    }
    bytes[n++] = (char)value;
    cuzk_text_put_bytes(out, bytes, n);
}

void cuzk_wire_put_bytes(cuzk_text *out, uint32_t number, const void *data, size_t size)
{
    put_varint(out, (uint64_t)number << 3 | 2);
    put_varint(out, size);
    if (size > 0) {
        cuzk_text_put_bytes(out, data, size);
    }
}

void cuzk_wire_put_text(cuzk_text *out, uint32_t number, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        cuzk_wire_put_bytes(out, number, text, strlen(text));
    }
}

void cuzk_wire_put_number(cuzk_text *out, uint32_t number, uint64_t value)
{
    if (value != 0) {
        put_varint(out, (uint64_t)number << 3);
        put_varint(out, value);
    }
}

void cuzk_wire_put_message(cuzk_text *out, uint32_t number, cuzk_text *message)
{
    cuzk_wire_put_bytes(out, number, message->data, message->size);
    out->failed |= message->failed;
    cuzk_text_clear(message);
}

cuzk_status cuzk_wire_read_submission(cuzk_wire_submission *out, const void *message, size_t size,
                                      bool is_witness, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    const uint8_t *start = message;
    cuzk_wire wire = {start, start + size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    while ((next = cuzk_wire_read(&wire, &field)) == CUZK_WIRE_FIELD) {
        if (field.number == 1) {
            CUZK_TRY(
                cuzk_wire_text(out->request_id, sizeof out->request_id, &field, "request_id", err));
        } else if (field.number == 2 && !is_witness && field.type == 0) {
            out->proof_kind = field.value;
        } else if (field.number == (is_witness ? 4 : 5) && field.type == 0) {
            out->priority = field.value;
        }
    }
    CUZK_FAIL_IF(next == CUZK_WIRE_BROKEN, err, CUZK_E_FORMAT,
                 "the request is not a protobuf message: a broken field at byte %zu of %zu",
                 (size_t)(wire.at - start), size);
    return CUZK_OK;
}

cuzk_status cuzk_wire_unwrap_prove(uint8_t *message, size_t *size, cuzk_error *err)
{
    cuzk_wire wire = {message, message + *size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    size_t used = 0;
    bool is_there = false;
    /* what is moved down never reaches the field that is read next */
    while ((next = cuzk_wire_read(&wire, &field)) == CUZK_WIRE_FIELD) {
        if (field.number == 1 && field.type == 2) {
            if (field.size > 0) {
                memmove(message + used, field.data, field.size);
            }
            used += field.size;
            is_there = true;
        }
    }
    CUZK_FAIL_IF(next == CUZK_WIRE_BROKEN, err, CUZK_E_FORMAT,
                 "the request is not a protobuf message: a broken field at byte %zu of %zu",
                 (size_t)(wire.at - message), *size);
    CUZK_FAIL_IF(!is_there, err, CUZK_E_ARGUMENT,
                 "Prove without `submit`: there is nothing to prove");
    *size = used;
    return CUZK_OK;
}
