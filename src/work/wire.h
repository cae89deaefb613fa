/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protocol buffers' wire format, read in place: nothing is copied or allocated, whatever the bytes
 * say. Payloads are up to 256 MiB and come from anywhere; a general decoder copies them, and takes
 * some fifty bytes for an empty element of two. */
#ifndef CUZK_WORK_WIRE_H
#define CUZK_WORK_WIRE_H

#include "base/status.h"

#include <stdint.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} cuzk_wire_bytes;

typedef enum {
    CUZK_WIRE_VARINT = 0,
    CUZK_WIRE_FIXED64 = 1,
    CUZK_WIRE_BYTES = 2,
    CUZK_WIRE_FIXED32 = 5
} cuzk_wire_type;

/* A message and how far it was read. */
typedef struct {
    const uint8_t *data; /* borrowed */
    size_t size, at;
} cuzk_wire;

typedef struct {
    uint32_t number;
    cuzk_wire_type type;
    size_t offset;         /* where it begins in the message */
    uint64_t value;        /* of a number */
    cuzk_wire_bytes bytes; /* of CUZK_WIRE_BYTES: a view */
} cuzk_wire_field;

/** Read the next field; *end when there is none. Errors: E_TRUNCATED, E_FORMAT (a field number or
 *  wire type that cannot be; groups, which proto3 has not) with the offset. */
cuzk_status cuzk_wire_next(cuzk_wire *wire, cuzk_wire_field *out, bool *end,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Call take for every field, in order, until it fails. Errors: its; those of cuzk_wire_next. */
cuzk_status cuzk_wire_each(const void *message, size_t n_bytes,
                           cuzk_status (*take)(void *user, const cuzk_wire_field *field,
                                               cuzk_error *err),
                           void *user, cuzk_error *err) CUZK_WARN_UNUSED;

/** Fail with E_FORMAT unless the field, called `name`, has this type. */
cuzk_status cuzk_wire_expect(const cuzk_wire_field *field, cuzk_wire_type type, const char *name,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
