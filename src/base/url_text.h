/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_BASE_URL_TEXT_H
#define CUZK_BASE_URL_TEXT_H

/* A URL as it may be told to anybody, in a log or an error: what may be a secret is "***". */
typedef struct {
    char text[512]; /* cut where it is longer */
} cuzk_url_text;

/** With "***" for user and password, and for query and fragment: "***@HOST:4318/v1/traces?***"
 *  behind the scheme.
 *  Where an '@' behind a '?' or '#' leaves open which part it ends, all behind "://" is left out.
 *  Any text is taken. Thread-safe. */
cuzk_url_text cuzk_url_shown(const char *url);

#endif
