/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values of the table's types: from text, from TOML, to text. Inside the configuration only. */
#ifndef CUZK_SERVER_CONFIG_VALUE_H
#define CUZK_SERVER_CONFIG_VALUE_H

#include "server/config.h"
#include "server/toml_read.h"

/** Set a key's field from text as it stands in the environment or a flag: no quotes, lists with
 *  commas, or as in a file. On failure the field keeps its value. Errors: E_ARGUMENT with what was
 * found and what is expected, without the key's name; E_MEMORY. */
cuzk_status cuzk_config_set_text(cuzk_config *config, const cuzk_config_key *key, const char *text,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** The same from a value of a file. */
cuzk_status cuzk_config_set_toml(cuzk_config *config, const cuzk_config_key *key,
                                 const cuzk_toml_value *value, cuzk_error *err) CUZK_WARN_UNUSED;

/** A copy of a text; NULL: no memory. (strdup is not seen by the fuzz targets' count of the heap.)
 */
char *cuzk_config_copy(const char *text);

/** Free what a field points to and zero it. */
void cuzk_config_clear_value(cuzk_config *config, const cuzk_config_key *key);

/** Append what a key takes: "a size such as 50GiB, from 1MiB to 64TiB, or \"auto\"". */
void cuzk_config_expected(cuzk_text *out, const cuzk_config_key *key);

/** Note one line of what is wrong, or worth a warning. where: "FILE:LINE", or "". */
void cuzk_config_note_error(cuzk_config_report *report, const char *where, const char *text);
void cuzk_config_note_warning(cuzk_config_report *report, const char *where, const char *text);

/** Check what keys say together: addresses, TLS, rights. */
void cuzk_config_check(const cuzk_config *config, cuzk_config_report *report);

#endif
