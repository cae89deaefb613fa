/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the gRPC server reads of a message itself: submissions, the unwrapping of a ProveRequest,
 * and questions of reflection. The first byte chooses. */
#include "fuzz.h"
#include "proto/descriptors.h"
#include "server/rpc_reflect.h"
#include "server/rpc_wire.h"

#include <string.h>

static void submission(const uint8_t *data, size_t size, bool is_witness)
{
    cuzk_wire_submission s;
    cuzk_error err = {0};
    if (cuzk_wire_read_submission(&s, data, size, is_witness, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.text[0] != 0);
        return;
    }
    size_t n = strlen(s.request_id);
    CUZK_FUZZ_CHECK(n < sizeof s.request_id);
    char mended[sizeof s.request_id];
    memcpy(mended, s.request_id, n + 1);
    cuzk_utf8_mend(mended);
    CUZK_FUZZ_CHECK(strcmp(mended, s.request_id) == 0);
}

static void unwrap(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, data, size);
    size_t n = size;
    cuzk_error err = {0};
    if (cuzk_wire_unwrap_prove(copy, &n, &err) == CUZK_OK) {
        CUZK_FUZZ_CHECK(n <= size);
        submission(copy, n, false);
    }
    free(copy);
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return;
    }
    uint8_t choice = data[0] % 4;
    data++;
    size--;
    if (choice < 2) {
        submission(data, size, choice == 1);
    } else if (choice == 2) {
        unwrap(data, size);
    } else {
        cuzk_text out = {0};
        cuzk_error err = {0};
        cuzk_status status =
            cuzk_reflect(&out, data, size, cuzk_proto_descriptors,
                         (size_t)(cuzk_proto_descriptors_end - cuzk_proto_descriptors), &err);
        if (status != CUZK_OK) {
            CUZK_FUZZ_CHECK(err.text[0] != 0);
            cuzk_text_clear(&out);
            return;
        }
        /* an answer is a message again, and repeats the question */
        cuzk_wire wire = {(const uint8_t *)out.data, (const uint8_t *)out.data + out.size};
        cuzk_wire_field field;
        while (wire.at != wire.end) {
            CUZK_FUZZ_CHECK(cuzk_wire_read(&wire, &field) == CUZK_WIRE_FIELD);
            CUZK_FUZZ_CHECK(field.number != 2 ||
                            (field.size == size && memcmp(field.data, data, size) == 0));
        }
        cuzk_text_clear(&out);
    }
}
