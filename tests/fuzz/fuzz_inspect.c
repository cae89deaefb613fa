/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* inspect, deep: every format, told from the bytes. */
#include "formats/inspect.h"
#include "fuzz.h"

#include <string.h>

static void check_line(void *user, cuzk_inspect_kind kind, const char *name, const char *value,
                       bool is_number)
{
    unsigned *n_errors = (unsigned *)user;
    *n_errors += kind == CUZK_INSPECT_ERROR;
    CUZK_FUZZ_CHECK(name[0] != 0 && strlen(value) < 2048);
    CUZK_FUZZ_CHECK(!is_number || strspn(value, "0123456789") == strlen(value));
    for (const char *p = name; *p != 0; p++) {
        CUZK_FUZZ_CHECK(*p >= 0x20 && *p < 0x7f);
    }
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_inspect_options options = {.deep = true};
    cuzk_error err = {0};
    unsigned n_errors = 0;
    cuzk_status status = cuzk_inspect(data, size, &options, check_line, &n_errors, &err);
    CUZK_FUZZ_CHECK((status != CUZK_OK) == (n_errors == 1));
    CUZK_FUZZ_CHECK(status == err.status);
}
