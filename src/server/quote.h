/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Texts of others, such as job ids, in lines and JSON. */
#ifndef CUZK_SERVER_QUOTE_H
#define CUZK_SERVER_QUOTE_H

#include "base/text.h"

enum { CUZK_QUOTE_MAX = 2048 }; /* bytes of a value before it is cut, "..." at its end */

/** Append s as a JSON string with its quotes: valid UTF-8 without control characters whatever s
 *  holds; bytes that are not UTF-8 become U+FFFD. */
void cuzk_text_put_quoted(cuzk_text *out, const char *s);

#endif
