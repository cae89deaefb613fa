/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/url_text.h"

#include <stdio.h>
#include <string.h>

cuzk_url_text cuzk_url_shown(const char *url)
{
    cuzk_url_text out;
    size_t n_word =
        strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    const char *rest = strncmp(url + n_word, "://", 3) == 0 ? url + n_word + 3 : url;
    const char *at = strrchr(rest, '@'); /* a password may have one, too: the last ends it */
    size_t n_kept = strcspn(rest, "?#");
    int n_scheme = (int)(rest - url < 16 ? rest - url : 16);
    if (at != NULL && at > rest + n_kept) {
        snprintf(out.text, sizeof out.text, "%.*s***", n_scheme, url);
        return out;
    }
    const char *shown = at != NULL ? at : rest;
    snprintf(out.text, sizeof out.text, "%.*s%s%.*s%.1s%s", n_scheme, url, at != NULL ? "***" : "",
             (int)(rest + n_kept - shown < 400 ? rest + n_kept - shown : 400), shown, rest + n_kept,
             rest[n_kept] != '\0' ? "***" : "");
    return out;
}
