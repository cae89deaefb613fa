/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/submit_request.h"

#include <stdlib.h>
#include <string.h>

enum { VANILLA_PROOFS = 11 };

/* Field numbers of the message; `offset`: where the value goes. */
static const struct {
    uint32_t number;
    cuzk_wire_type type;
    size_t offset;
    const char *name;
} fields[] = {
#define NUMBER(number, name)                                                                       \
    {                                                                                              \
        number, CUZK_WIRE_VARINT, offsetof(cuzk_submit_request, name), #name                       \
    }
#define BYTES(number, name)                                                                        \
    {                                                                                              \
        number, CUZK_WIRE_BYTES, offsetof(cuzk_submit_request, name), #name                        \
    }
    NUMBER(2, proof_kind),    NUMBER(3, sector_size),      NUMBER(4, registered_proof),
    BYTES(10, vanilla_proof), NUMBER(20, sector_number),   NUMBER(21, miner_id),
    BYTES(22, randomness),    NUMBER(23, partition_index), BYTES(30, comm_r_old),
    BYTES(31, comm_r_new),    BYTES(32, comm_d_new),
};
enum { N_FIELDS = sizeof fields / sizeof fields[0] };

/* Take a field; vanilla proofs are counted, and kept where there is room for them. */
static cuzk_status take(void *user, const cuzk_wire_field *field, cuzk_error *err)
{
    cuzk_submit_request *out = user;
    if (field->number == VANILLA_PROOFS) {
        CUZK_TRY(cuzk_wire_expect(field, CUZK_WIRE_BYTES, "vanilla_proofs", err));
        CUZK_FAIL_IF(out->n_vanilla_proofs == CUZK_SUBMIT_PROOFS_MAX, err, CUZK_E_FORMAT,
                     "vanilla_proofs: more than %d", (int)CUZK_SUBMIT_PROOFS_MAX);
        if (out->vanilla_proofs != NULL) {
            out->vanilla_proofs[out->n_vanilla_proofs] =
                (cuzk_vanilla_span){field->bytes.data, field->bytes.size};
        }
        out->n_vanilla_proofs++;
        return CUZK_OK;
    }
    for (unsigned i = 0; i < N_FIELDS; i++) {
        if (fields[i].number == field->number) {
            void *to = (uint8_t *)out + fields[i].offset;
            CUZK_TRY(cuzk_wire_expect(field, fields[i].type, fields[i].name, err));
            if (fields[i].type == CUZK_WIRE_BYTES) {
                memcpy(to, &field->bytes, sizeof field->bytes);
            } else {
                memcpy(to, &field->value, sizeof field->value);
            }
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_submit_request_read(cuzk_submit_request *out, const void *payload, size_t n_bytes,
                                     cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    cuzk_status status = cuzk_wire_each(payload, n_bytes, take, out, err);
    if (status == CUZK_OK && out->n_vanilla_proofs > 0) {
        out->vanilla_proofs = calloc(out->n_vanilla_proofs, sizeof *out->vanilla_proofs);
        out->n_vanilla_proofs = 0;
        status = out->vanilla_proofs == NULL
                     ? CUZK_FAIL(err, CUZK_E_MEMORY, "reading a request: out of memory")
                     : cuzk_wire_each(payload, n_bytes, take, out, err);
    }
    if (status != CUZK_OK) {
        cuzk_submit_request_clear(out);
        return status;
    }
    out->partition_index = (uint32_t)out->partition_index; /* as readers of a uint32 do */
    return CUZK_OK;
}

void cuzk_submit_request_clear(cuzk_submit_request *request)
{
    free(request->vanilla_proofs);
    memset(request, 0, sizeof *request);
}
