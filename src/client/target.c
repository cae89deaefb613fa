/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses of a daemon. */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS "expected unix:///PATH, HOST:PORT, [IP6]:PORT, http://HOST:PORT or https://HOST:PORT"

/* The rest of text behind a prefix, or NULL. */
static const char *behind(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static cuzk_status put(char *out, size_t out_bytes, const char *scheme, const char *rest,
                       size_t n_rest, const char *address, cuzk_error *err)
{
    int n = snprintf(out, out_bytes, "%s%.*s", scheme, (int)n_rest, rest);
    CUZK_FAIL_IF(n < 0 || (size_t)n >= out_bytes, err, CUZK_E_ARGUMENT,
                 "address \"%.200s…\": longer than %zu characters", address, out_bytes - 1);
    return CUZK_OK;
}

/* HOST:PORT or [IP6]:PORT of n characters. */
static cuzk_status check_host_port(const char *text, size_t n, const char *address, cuzk_error *err)
{
    enum { PORT_MAX = 65535, PORT_DIGITS_MAX = 5 };
    size_t colon = n;
    while (colon > 0 && text[colon - 1] != ':') {
        colon--;
    }
    CUZK_FAIL_IF(colon == 0, err, CUZK_E_ARGUMENT, "address \"%.200s\": has no port; " FORMS,
                 address);
    const char *port = text + colon;
    size_t n_port = n - colon, n_host = colon - 1;
    bool is_number =
        n_port > 0 && n_port <= PORT_DIGITS_MAX && strspn(port, "0123456789") >= n_port;
    CUZK_FAIL_IF(!is_number || strtoul(port, NULL, 10) > PORT_MAX || port[0] == '0', err,
                 CUZK_E_ARGUMENT,
                 "address \"%.200s\": the port is not a number from 1 to 65535; " FORMS, address);
    bool is_bracketed = n_host > 2 && text[0] == '[' && text[n_host - 1] == ']';
    bool is_plain = n_host > 0 && memchr(text, ':', n_host) == NULL &&
                    memchr(text, '/', n_host) == NULL && memchr(text, '[', n_host) == NULL;
    CUZK_FAIL_IF(!is_bracketed && !is_plain, err, CUZK_E_ARGUMENT,
                 "address \"%.200s\": no host in front of the port; " FORMS, address);
    return CUZK_OK;
}

cuzk_status cuzk_client_target(char *out, size_t out_bytes, bool *is_tls, const char *address,
                               cuzk_error *err)
{
    *is_tls = false;
    const char *path = behind(address, "unix://");
    if (path == NULL) {
        path = behind(address, "unix:");
    }
    if (path == NULL && address[0] == '/') {
        path = address;
    }
    if (path != NULL) {
        CUZK_FAIL_IF(path[0] == '\0', err, CUZK_E_ARGUMENT, "address \"%.200s\": no path; " FORMS,
                     address);
        return put(out, out_bytes, "unix:", path, strlen(path), address, err);
    }
    const char *rest = behind(address, "https://");
    *is_tls = rest != NULL;
    if (rest == NULL) {
        rest = behind(address, "http://");
    }
    if (rest == NULL) {
        rest = address;
    }
    size_t n = strlen(rest);
    if (rest != address && n > 0 && rest[n - 1] == '/') {
        n--;
    }
    CUZK_TRY(check_host_port(rest, n, address, err));
    return put(out, out_bytes, "dns:///", rest, n, address, err);
}
