/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protobuf's wire form, as far as the server reads it itself: messages whose fields are few, whose
 * texts must be seen with their lengths, or that are too large to be copied field by field. */
#ifndef CUZK_SERVER_RPC_WIRE_H
#define CUZK_SERVER_RPC_WIRE_H

#include "base/text.h"
#include "engine/engine.h"

#include <stdint.h>

/* What is left of a message. */
typedef struct {
    const uint8_t *at, *end;
} cuzk_wire;

typedef struct {
    uint32_t number;
    unsigned type;       /* 0: varint, 1: 64 bits, 2: bytes, 5: 32 bits */
    uint64_t value;      /* but for bytes */
    const uint8_t *data; /* bytes; borrowed from the message */
    size_t size;
} cuzk_wire_field;

typedef enum { CUZK_WIRE_END, CUZK_WIRE_FIELD, CUZK_WIRE_BROKEN } cuzk_wire_next;

/** The next field. BROKEN: it does not end where it should, has a number of 0 or above 2^29 - 1, or
 *  is a group, which no message here has; wire then stays where it was. */
cuzk_wire_next cuzk_wire_read(cuzk_wire *wire, cuzk_wire_field *field);

/** A varint at wire->at. False: it does not end in wire or in 10 bytes. */
bool cuzk_wire_varint(cuzk_wire *wire, uint64_t *value);

/** A text of a request: UTF-8 without NUL, shorter than `capacity`. out: NUL-terminated. what: its
 *  name in messages. Errors: E_ARGUMENT. */
cuzk_status cuzk_wire_text(char *out, size_t capacity, const cuzk_wire_field *field,
                           const char *what, cuzk_error *err) CUZK_WARN_UNUSED;

/** Make a text valid UTF-8 in place: what is not becomes '?'. Clients refuse other texts. */
void cuzk_utf8_mend(char *text);

/** Append a field of bytes, also when there are none. */
void cuzk_wire_put_bytes(cuzk_text *out, uint32_t number, const void *data, size_t size);
/** Append a text, a number; nothing where it is the default: NULL, "", 0. */
void cuzk_wire_put_text(cuzk_text *out, uint32_t number, const char *text);
void cuzk_wire_put_number(cuzk_text *out, uint32_t number, uint64_t value);
/** Append a message as a field, and clear it. */
void cuzk_wire_put_message(cuzk_text *out, uint32_t number, cuzk_text *message);

/* What the server takes out of a SubmitProofRequest or ProveWitnessRequest before the engine sees
 * it. */
typedef struct {
    char request_id[CUZK_REQUEST_ID_MAX + 1];
    uint64_t proof_kind; /* SubmitProofRequest only */
    uint64_t priority;
} cuzk_wire_submission;

/** Read those fields; other fields are passed over, but their form is checked. is_witness: a
 *  ProveWitnessRequest. Errors: E_FORMAT (offset), E_ARGUMENT. */
cuzk_status cuzk_wire_read_submission(cuzk_wire_submission *out, const void *message, size_t size,
                                      bool is_witness, cuzk_error *err) CUZK_WARN_UNUSED;

/** Reduce a ProveRequest to its field `submit`, in place: afterwards the message is the
 *  SubmitProofRequest. (Several ones are one after the other, which is what merging them means.)
 *  Errors: E_FORMAT; E_ARGUMENT: there is none. */
cuzk_status cuzk_wire_unwrap_prove(uint8_t *message, size_t *size,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

#endif
