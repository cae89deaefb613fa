/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place that touches libcurl. Its header gives names and numbers; the library itself is
 * opened at run time, since it would cost every start of the program ten milliseconds. */
#include "filecoin/http_get.h"

#include "base/url_text.h"

#if CUZK_HAVE_CURL_HEADER
#include <curl/curl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { REDIRECTS_MAX = 10, CONNECT_SECONDS = 30, SILENCE_SECONDS = 60, BODY_LINE_MAX = 160 };

static struct {
    CURLcode (*global_init)(long);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    void (*easy_cleanup)(CURL *);
    const char *(*easy_strerror)(CURLcode);
    bool usable;
} curl;

static bool load_symbol(void *library, void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load_library(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    }
    curl.usable = library != NULL && load_symbol(library, &curl.global_init, "curl_global_init") &&
                  load_symbol(library, &curl.slist_append, "curl_slist_append") &&
                  load_symbol(library, &curl.slist_free_all, "curl_slist_free_all") &&
                  load_symbol(library, &curl.easy_init, "curl_easy_init") &&
                  load_symbol(library, &curl.easy_setopt, "curl_easy_setopt") &&
                  load_symbol(library, &curl.easy_perform, "curl_easy_perform") &&
                  load_symbol(library, &curl.easy_getinfo, "curl_easy_getinfo") &&
                  load_symbol(library, &curl.easy_cleanup, "curl_easy_cleanup") &&
                  load_symbol(library, &curl.easy_strerror, "curl_easy_strerror") &&
                  curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

typedef struct {
    CURL *handle;
    const cuzk_http_sink *sink;
    bool write_failed, cancelled;
    char body[BODY_LINE_MAX]; /* beginning of the body of a bad answer */
    size_t n_body;
} transfer;

static long response_code(const transfer *t)
{
    long code = 0;
    curl.easy_getinfo(t->handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

static size_t on_body(char *data, size_t each, size_t count, void *ctx)
{
    transfer *t = ctx;
    size_t n = each * count;
    long code = response_code(t);
    if (code < 200 || code > 299) {
        size_t room = sizeof t->body - 1 - t->n_body;
        size_t kept = n < room ? n : room;
        memcpy(t->body + t->n_body, data, kept);
        t->n_body += kept;
        return n;
    }
    if (!t->sink->write(t->sink->ctx, data, n)) {
        t->write_failed = true;
        return 0;
    }
    return n;
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t received, curl_off_t up_total,
                       curl_off_t up)
{
    transfer *t = ctx;
    (void)total;
    (void)up_total;
    (void)up;
    if (t->sink->progress != NULL &&
        !t->sink->progress(t->sink->ctx, received > 0 ? (uint64_t)received : 0)) {
        t->cancelled = true;
        return 1;
    }
    return 0;
}

/* The first line of the body, without control characters. */
static const char *first_line(transfer *t)
{
    t->body[t->n_body] = '\0';
    t->body[strcspn(t->body, "\r\n")] = '\0';
    for (char *p = t->body; *p != '\0'; p++) {
        *p = (unsigned char)*p < 0x20 ? ' ' : *p;
    }
    return t->body;
}

static bool set_options(transfer *t, const char *url, uint64_t offset, char *message)
{
    CURL *h = t->handle;
    CURLcode bad = CURLE_OK;
#define SET(option, value) bad = bad == CURLE_OK ? curl.easy_setopt(h, (option), (value)) : bad
    SET(CURLOPT_URL, url);
    SET(CURLOPT_ERRORBUFFER, message);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)SILENCE_SECONDS);
    SET(CURLOPT_USERAGENT, "cuzk");
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_RESUME_FROM_LARGE, (curl_off_t)offset);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, t);
#undef SET
    return bad == CURLE_OK;
}

/* One request. *no_parts: the server gives the whole file only. */
static cuzk_status perform(const char *url, uint64_t offset, const cuzk_http_sink *sink,
                           bool *no_parts, cuzk_error *err)
{
    char message[CURL_ERROR_SIZE] = "";
    cuzk_url_text shown = cuzk_url_shown(url);
    transfer t = {.handle = curl.easy_init(), .sink = sink};
    CUZK_FAIL_IF(t.handle == NULL, err, CUZK_E_MEMORY, "out of memory");
    CURLcode code = CURLE_FAILED_INIT;
    if (set_options(&t, url, offset, message)) {
        code = curl.easy_perform(t.handle);
    }
    long status = response_code(&t);
    curl.easy_cleanup(t.handle);
    *no_parts = code == CURLE_RANGE_ERROR || (offset > 0 && status == 416);
    CUZK_FAIL_IF(t.cancelled, err, CUZK_E_CANCELLED, "%s: cancelled", shown.text);
    CUZK_FAIL_IF(t.write_failed, err, CUZK_E_FILE, "%s: what was received cannot be written",
                 shown.text);
    CUZK_FAIL_IF(code != CURLE_OK, err, CUZK_E_FILE, "%s: %s", shown.text,
                 message[0] != '\0' ? message : curl.easy_strerror(code));
    CUZK_FAIL_IF(status < 200 || status > 299, err, CUZK_E_FILE, "%s: status %ld: %s", shown.text,
                 status, first_line(&t));
    return CUZK_OK;
}

cuzk_status cuzk_http_usable(const char *what, cuzk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    CUZK_FAIL_IF(!curl.usable, err, CUZK_E_UNSUPPORTED,
                 "%s: libcurl is not installed (package libcurl4)", what);
    return CUZK_OK;
}

cuzk_status cuzk_http_get(const char *url, uint64_t offset, const cuzk_http_sink *sink,
                          cuzk_error *err)
{
    CUZK_TRY(cuzk_http_usable(cuzk_url_shown(url).text, err));
    bool no_parts = false;
    cuzk_error first = {0};
    cuzk_status s = perform(url, offset, sink, &no_parts, &first);
    if (s != CUZK_OK && no_parts && sink->restart(sink->ctx)) {
        return perform(url, 0, sink, &no_parts, err);
    }
    if (s != CUZK_OK && err != NULL) {
        *err = first;
    }
    return s;
}

/* ---- posting --------------------------------------------------------------------------------- */

static size_t on_answer(char *data, size_t each, size_t count, void *ctx)
{
    transfer *t = ctx;
    size_t n = each * count, room = sizeof t->body - 1 - t->n_body;
    size_t kept = n < room ? n : room;
    memcpy(t->body + t->n_body, data, kept);
    t->n_body += kept;
    return n;
}

static CURLcode post(transfer *t, const char *url, struct curl_slist *headers, const void *data,
                     size_t n, long timeout_ms, char *message)
{
    CURL *h = t->handle;
    CURLcode bad = CURLE_OK;
#define SET(option, value) bad = bad == CURLE_OK ? curl.easy_setopt(h, (option), (value)) : bad
    SET(CURLOPT_URL, url);
    SET(CURLOPT_ERRORBUFFER, message);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, timeout_ms);
    SET(CURLOPT_USERAGENT, "cuzk");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    SET(CURLOPT_POSTFIELDS, data);
    SET(CURLOPT_WRITEFUNCTION, on_answer);
    SET(CURLOPT_WRITEDATA, t);
#undef SET
    return bad == CURLE_OK ? curl.easy_perform(h) : bad;
}

cuzk_status cuzk_http_post(const char *url, const char *content_type, const void *data, size_t n,
                           long timeout_ms, cuzk_error *err)
{
    CUZK_TRY(cuzk_http_usable(cuzk_url_shown(url).text, err));
    char message[CURL_ERROR_SIZE] = "", type[128];
    cuzk_url_text shown = cuzk_url_shown(url);
    snprintf(type, sizeof type, "Content-Type: %s", content_type);
    transfer t = {.handle = curl.easy_init()};
    struct curl_slist *headers = curl.slist_append(NULL, type);
    CURLcode code = CURLE_OUT_OF_MEMORY;
    long status = 0;
    if (t.handle != NULL && headers != NULL) {
        code = post(&t, url, headers, data, n, timeout_ms, message);
        status = response_code(&t);
    }
    if (t.handle != NULL) {
        curl.easy_cleanup(t.handle);
    }
    curl.slist_free_all(headers);
    CUZK_FAIL_IF(code != CURLE_OK, err, CUZK_E_FILE, "%s: %s", shown.text,
                 message[0] != '\0' ? message : curl.easy_strerror(code));
    CUZK_FAIL_IF(status < 200 || status > 299, err, CUZK_E_FILE, "%s: status %ld: %s", shown.text,
                 status, first_line(&t));
    return CUZK_OK;
}

#else

cuzk_status cuzk_http_usable(const char *what, cuzk_error *err)
{
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "%s: this program was built without libcurl's header",
                     what);
}

cuzk_status cuzk_http_post(const char *url, const char *content_type, const void *data, size_t n,
                           long timeout_ms, cuzk_error *err)
{
    (void)content_type;
    (void)data;
    (void)n;
    (void)timeout_ms;
    return cuzk_http_usable(cuzk_url_shown(url).text, err);
}

cuzk_status cuzk_http_get(const char *url, uint64_t offset, const cuzk_http_sink *sink,
                          cuzk_error *err)
{
    (void)offset;
    (void)sink;
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                     "%s: this program was built without libcurl (package libcurl4-openssl-dev)",
                     cuzk_url_shown(url).text);
}

#endif
