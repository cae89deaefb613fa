/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/proof_text.h"
#include "fuzz.h"

#include <string.h>

/* Bytes written as text are read again as they were. */
static void check_round_trip(void (*put)(cuzk_text *, const uint8_t *, size_t),
                             const uint8_t *bytes, size_t n)
{
    cuzk_text text = {0};
    uint8_t *again = NULL;
    size_t n_again = 0;
    put(&text, bytes, n);
    CUZK_FUZZ_CHECK(!text.failed);
    CUZK_FUZZ_CHECK(cuzk_proof_text_read(&again, &n_again, (const uint8_t *)text.data, text.size,
                                         NULL) == CUZK_OK);
    CUZK_FUZZ_CHECK(n_again == n && memcmp(again, bytes, n) == 0);
    free(again);
    cuzk_text_clear(&text);
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    enum { ROUND_TRIP_MAX = 1 << 16 /* the texts are longer than the input */ };
    uint8_t *bytes = NULL;
    size_t n = 0;
    cuzk_error err = {0};
    if (cuzk_proof_text_read(&bytes, &n, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && bytes == NULL);
        return;
    }
    CUZK_FUZZ_CHECK(n <= size);
    if (n > 0 && n <= ROUND_TRIP_MAX) {
        check_round_trip(cuzk_text_put_hex, bytes, n);
        /* base64 of a few bytes can look like hexadecimal; that of a proof cannot */
        if (n >= 192 && bytes[0] >= 0x80) {
            check_round_trip(cuzk_text_put_base64, bytes, n);
        }
    }
    free(bytes);
}
