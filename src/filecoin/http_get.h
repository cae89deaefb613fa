/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Downloads over HTTP and HTTPS, by libcurl, which is loaded when the first one is asked for: the
 * program starts and works without it. */
#ifndef CUZK_FILECOIN_HTTP_GET_H
#define CUZK_FILECOIN_HTTP_GET_H

#include "base/status.h"

#include <stdint.h>

/* Where the bytes go. */
typedef struct {
    /* Write n bytes that follow those written before. False stops the download with E_FILE. */
    bool (*write)(void *ctx, const void *data, size_t n);
    /* Told now and then, with the bytes received in this download. False cancels it. */
    bool (*progress)(void *ctx, uint64_t received);
    /* Start again from the first byte: the server does not give parts. */
    bool (*restart)(void *ctx);
    void *ctx;
} cuzk_http_sink;

/** Get the bytes of `url` from `offset` on.
 *
 *  Answers other than 2xx are never written; the error then holds the status and the first line of
 *  the body. Redirects are followed, ten at most. A server that stays silent for 60 s fails.
 *  Errors: E_UNSUPPORTED (built without libcurl's header, or libcurl is not installed); E_FILE with
 *  the URL (without what may be a secret in it, base/url_text.h) and the cause; E_CANCELLED. */
cuzk_status cuzk_http_get(const char *url, uint64_t offset, const cuzk_http_sink *sink,
                          cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether requests can be made at all. what: for the message. Errors: E_UNSUPPORTED. */
cuzk_status cuzk_http_usable(const char *what, cuzk_error *err) CUZK_WARN_UNUSED;

/** Post n bytes; what is answered is not looked at but for its status. timeout_ms: of all of it.
 *  No redirects, no proxies. Errors: as cuzk_http_get. */
cuzk_status cuzk_http_post(const char *url, const char *content_type, const void *data, size_t n,
                           long timeout_ms, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
