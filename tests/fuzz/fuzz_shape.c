/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/bitmap.h"
#include "formats/shape_file.h"
#include "fuzz.h"
#include "r1cs/shape_store.h"

#include <string.h>

/* Everything that a circuit's users index by lies inside it. */
static void walk(const cuzk_shape *s)
{
    uint64_t n_rows = 0;
    for (uint32_t row = 0; row < s->n_constraints && n_rows < 100000;) {
        cuzk_row_run run = cuzk_shape_run(s, row, s->n_constraints);
        CUZK_FUZZ_CHECK(run.n > 0 && run.n <= s->n_constraints - row);
        CUZK_FUZZ_CHECK(run.stored_row < s->n_stored_rows &&
                        run.n <= s->n_stored_rows - run.stored_row);
        for (int k = 0; k < 3; k++) {
            const cuzk_rows *m = &s->rows[k];
            uint64_t end = m->begin[run.stored_row + run.n];
            for (uint64_t t = m->begin[run.stored_row]; t < end; t++) {
                CUZK_FUZZ_CHECK(cuzk_row_run_var(&run, m->var[t]) < s->n_vars);
                CUZK_FUZZ_CHECK(m->code[t] < s->n_coefs);
            }
        }
        row += run.n;
        n_rows++;
    }
}

static void decode(const uint8_t *data, size_t size)
{
    cuzk_shape *s;
    cuzk_error err = {0};
    if (cuzk_shape_view(&s, data, size, NULL, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    walk(s);
    cuzk_shape_destroy(s);
}

/* Once as it is, once with the header's digest made right, or nothing would get past it. The copy
 * is aligned as a mapping is. */
void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    CUZK_FUZZ_CHECK(copy != NULL);
    memcpy(copy, data, size);
    decode(copy, size);
    if (size >= CUZK_SHAPE_HEADER_BYTES) {
        cuzk_sha256_digest(copy + CUZK_SHAPE_HEADER_DIGEST, copy, CUZK_SHAPE_HEADER_DIGEST);
        decode(copy, size);
    }
    free(copy);
}
