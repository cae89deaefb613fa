/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The first byte chooses the kind; the rest is the JSON of a request. */
#include "cuzk_filecoin.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_filecoin_request *r = NULL;
    cuzk_error err;
    unsigned n = 0;
    if (size == 0 ||
        cuzk_filecoin_request_create(&r, (cuzk_filecoin_kind)(1 + data[0] % 4), &err) != CUZK_OK) {
        return;
    }
    cuzk_status status = cuzk_filecoin_request_read_json(r, data + 1, size - 1, &err);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_request_partitions(&n, r, &err);
    }
    CUZK_FUZZ_CHECK(status == CUZK_OK ? n > 0 : err.status == status && err.text[0] != 0);
    cuzk_filecoin_request_destroy(r);
}
