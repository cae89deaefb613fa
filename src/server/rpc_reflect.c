/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers of server reflection, found by walking the descriptors. Numbers of fields are those of
 * google/protobuf/descriptor.proto and of proto/grpc/reflection/v1/reflection.proto. */
#include "server/rpc_reflect.h"

#include "server/rpc_wire.h"

#include <string.h>

enum { FILES_MAX = 32, NOT_FOUND = 5, UNIMPLEMENTED = 12 };

typedef struct {
    const uint8_t *data;
    size_t size;
} span;

static bool is_text(span s, const char *text, size_t n)
{
    return s.size == n && memcmp(s.data, text, n) == 0;
}

/* The nth bytes field of a number (0: the first); empty if there is none. */
static span field_of(span message, uint32_t number, unsigned nth)
{
    if (message.data == NULL) {
        return message;
    }
    cuzk_wire wire = {message.data, message.data + message.size};
    cuzk_wire_field field;
    while (cuzk_wire_read(&wire, &field) == CUZK_WIRE_FIELD) {
        if (field.number == number && field.type == 2 && nth-- == 0) {
            return (span){field.data, field.size};
        }
    }
    return (span){NULL, 0};
}

/* What is left of a dotted name after its first part `name`: with a dot in front, "" if nothing is
 * left, NULL if it begins otherwise. */
static const char *rest_after(const char *symbol, span name)
{
    if (name.size == 0 || strncmp(symbol, (const char *)name.data, name.size) != 0) {
        return NULL;
    }
    const char *rest = symbol + name.size;
    return *rest == '\0' || *rest == '.' ? rest : NULL;
}

/* Whether one of the descriptors in field `number` of `parent` is the symbol, or has it inside as a
 * name in its field `inner` (0: nothing is inside). */
static bool has_member(span parent, uint32_t number, uint32_t inner, const char *symbol)
{
    span item;
    for (unsigned i = 0; (item = field_of(parent, number, i)).data != NULL; i++) {
        const char *rest = rest_after(symbol, field_of(item, 1, 0));
        if (rest != NULL && *rest == '\0') {
            return true;
        }
        if (rest != NULL && inner != 0 && has_member(item, inner, 0, rest + 1)) {
            return true;
        }
    }
    return false;
}

/* Values of an enum are named in the scope around it. */
static bool has_enum(span parent, uint32_t number, const char *symbol)
{
    span item;
    for (unsigned i = 0; (item = field_of(parent, number, i)).data != NULL; i++) {
        if (has_member(item, 2, 0, symbol)) {
            return true;
        }
    }
    return has_member(parent, number, 0, symbol);
}

static bool has_message(span parent, uint32_t number, const char *symbol)
{
    enum { FIELD = 2, NESTED = 3, ENUM = 4, ONEOF = 8 };
    span item;
    for (unsigned i = 0; (item = field_of(parent, number, i)).data != NULL; i++) {
        const char *rest = rest_after(symbol, field_of(item, 1, 0));
        if (rest == NULL) {
            continue;
        }
        if (*rest == '\0' || has_member(item, FIELD, 0, rest + 1) ||
            has_member(item, ONEOF, 0, rest + 1) || has_enum(item, ENUM, rest + 1) ||
            has_message(item, NESTED, rest + 1)) {
            return true;
        }
    }
    return false;
}

static bool has_symbol(span file, const char *symbol)
{
    enum { PACKAGE = 2, MESSAGE = 4, ENUM = 5, SERVICE = 6, METHOD = 2 };
    span package = field_of(file, PACKAGE, 0);
    if (package.size > 0) {
        symbol = rest_after(symbol, package);
        if (symbol == NULL || *symbol == '\0') {
            return false;
        }
        symbol++;
    }
    return has_message(file, MESSAGE, symbol) || has_enum(file, ENUM, symbol) ||
           has_member(file, SERVICE, METHOD, symbol);
}

static void put_error(cuzk_text *out, unsigned code, const char *what, const char *name)
{
    cuzk_text part = {0}, text = {0};
    cuzk_text_printf(&text, "there is no %s %s", what, name);
    cuzk_wire_put_number(&part, 1, code);
    cuzk_wire_put_message(&part, 2, &text);
    cuzk_wire_put_message(out, 7, &part);
}

/* A file, and those that it needs before it. */
static void put_file(cuzk_text *out, bool *done, span set, unsigned index)
{
    if (index >= FILES_MAX || done[index]) {
        return;
    }
    done[index] = true;
    span file = field_of(set, 1, index), needed, other;
    for (unsigned i = 0; (needed = field_of(file, 3, i)).data != NULL; i++) {
        for (unsigned k = 0; (other = field_of(set, 1, k)).data != NULL; k++) {
            if (is_text(field_of(other, 1, 0), (const char *)needed.data, needed.size)) {
                put_file(out, done, set, k);
            }
        }
    }
    cuzk_wire_put_bytes(out, 1, file.data, file.size);
}

static void put_found(cuzk_text *out, span set, const char *name, bool is_symbol)
{
    span file;
    for (unsigned i = 0; (file = field_of(set, 1, i)).data != NULL; i++) {
        if (is_symbol ? has_symbol(file, name)
                      : is_text(field_of(file, 1, 0), name, strlen(name))) {
            bool done[FILES_MAX] = {false};
            cuzk_text files = {0};
            put_file(&files, done, set, i);
            cuzk_wire_put_message(out, 4, &files);
            return;
        }
    }
    put_error(out, NOT_FOUND, is_symbol ? "symbol" : "file", name);
}

static void put_services(cuzk_text *out, span set)
{
    cuzk_text list = {0};
    span file, service;
    for (unsigned i = 0; (file = field_of(set, 1, i)).data != NULL; i++) {
        span package = field_of(file, 2, 0);
        for (unsigned k = 0; (service = field_of(file, 6, k)).data != NULL; k++) {
            span name = field_of(service, 1, 0);
            cuzk_text full = {0}, part = {0};
            cuzk_text_printf(&full, "%.*s.%.*s", (int)package.size, (const char *)package.data,
                             (int)name.size, (const char *)name.data);
            cuzk_wire_put_message(&part, 1, &full);
            cuzk_wire_put_message(&list, 1, &part);
        }
    }
    cuzk_wire_put_message(out, 6, &list);
}

cuzk_status cuzk_reflect(cuzk_text *out, const uint8_t *request, size_t size, const uint8_t *set,
                         size_t set_size, cuzk_error *err)
{
    cuzk_wire wire = {request, request + size};
    cuzk_wire_field field, asked = {0};
    cuzk_wire_next next;
    char name[512] = "";
    while ((next = cuzk_wire_read(&wire, &field)) == CUZK_WIRE_FIELD) {
        if (field.number >= 3 && field.number <= 7) {
            asked = field;
        } else if (field.number == 1 && field.type == 2) {
            cuzk_wire_put_bytes(out, 1, field.data, field.size);
        }
    }
    CUZK_FAIL_IF(next == CUZK_WIRE_BROKEN, err, CUZK_E_FORMAT,
                 "the request is not a protobuf message");
    if (asked.number != 0 && asked.number != 5) {
        CUZK_TRY(cuzk_wire_text(name, sizeof name, &asked, "the name", err));
    }
    const char *symbol = name[0] == '.' ? name + 1 : name;
    span files = {set, set_size};
    cuzk_wire_put_bytes(out, 2, request, size);
    switch (asked.number) {
    case 3:
        put_found(out, files, name, false);
        break;
    case 4:
        put_found(out, files, symbol, true);
        break;
    case 5:
        put_error(out, NOT_FOUND, "extension", "of any message here");
        break;
    case 6:
        if (has_symbol(field_of(files, 1, 0), symbol) ||
            has_symbol(field_of(files, 1, 1), symbol)) {
            cuzk_text part = {0};
            cuzk_wire_put_text(&part, 1, symbol);
            cuzk_wire_put_message(out, 5, &part);
        } else {
            put_error(out, NOT_FOUND, "type", symbol);
        }
        break;
    case 7:
        put_services(out, files);
        break;
    default:
        put_error(out, UNIMPLEMENTED, "such question:", "the request asks nothing");
    }
    return CUZK_OK;
}
