/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Include behind <cmocka.h>. */
#ifndef CUZK_TESTS_MENTIONS_H
#define CUZK_TESTS_MENTIONS_H

#include <string.h>

/* Fails, showing both, when `part` does not occur in `text`. */
static inline void assert_mentions(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_error("no \"%s\" in: %s\n", part, text);
    }
    assert_non_null(strstr(text, part));
}

#endif
