/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A TOML file as a list of its keys, behind which the C++ of the library stays. */
#ifndef CUZK_SERVER_TOML_READ_H
#define CUZK_SERVER_TOML_READ_H

#include "base/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUZK_TOML_BOOL,
    CUZK_TOML_NUMBER, /* a whole one, with sign */
    CUZK_TOML_TEXT,
    CUZK_TOML_ARRAY,
    CUZK_TOML_TABLE, /* an empty one: others are known by their keys */
    CUZK_TOML_OTHER  /* floating point, dates */
} cuzk_toml_type;

typedef struct cuzk_toml_value {
    cuzk_toml_type type;
    int64_t number; /* also of BOOL: 0 or 1 */
    const char *text;
    size_t text_bytes; /* may hold any UTF-8, NUL too; a NUL follows */
    const struct cuzk_toml_value *items;
    size_t n_items;
} cuzk_toml_value;

typedef struct {
    const char *path; /* names of the tables and of the key, with dots: "daemon.listen" */
    unsigned line;
    cuzk_toml_value value;
} cuzk_toml_key; /* borrowed for the call */

/** Call each for every key of a text, in the order of their lines. n_bytes of UTF-8 at text,
 * borrowed.
 *
 *  line: set to where the text is wrong, when it is. Errors: E_FORMAT with the parser's reason
 *  (before each was called at all), E_MEMORY, and whatever each returns, which ends the reading. */
cuzk_status cuzk_toml_read(const char *text, size_t n_bytes, unsigned *line,
                           cuzk_status (*each)(void *user, const cuzk_toml_key *key), void *user,
                           cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
