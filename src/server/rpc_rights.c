/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who may do what (rpc_rights.h). */
#include "server/rpc_rights.h"

#include "base/bytes.h"
#include "base/read_file.h"
#include "base/sha256.h"

#include <grpc/grpc_security.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_MIN = 16, TOKEN_MAX = 4096 };

/* Tokens are kept and compared as digests: equal length, and how long a comparison takes tells
 * nothing of the token. */
typedef struct {
    uint8_t (*digests)[32];
    size_t n;
    bool is_there; /* a file is configured */
} tokens;

struct cuzk_rights {
    pthread_rwlock_t lock; /* guards the tokens */
    tokens submit, admin;
    char **admin_names;
    unsigned n_admin_names;
};

static bool is_visible(char c)
{
    return c > ' ' && c < 0x7f;
}

static cuzk_status add_line(tokens *t, const char *line, size_t n, const char *path, size_t number,
                            cuzk_error *err)
{
    while (n > 0 && !is_visible(line[n - 1]) && (unsigned char)line[n - 1] <= ' ') {
        n--;
    }
    if (n == 0 || line[0] == '#') {
        return CUZK_OK;
    }
    for (size_t i = 0; i < n; i++) {
        CUZK_FAIL_IF(!is_visible(line[i]), err, CUZK_E_FORMAT,
                     "tokens %s: line %zu: a character that is not visible at %zu", path, number,
                     i);
    }
    CUZK_FAIL_IF(n < TOKEN_MIN || n > TOKEN_MAX, err, CUZK_E_FORMAT,
                 "tokens %s: line %zu: a token of %zu characters, expected %d to %d", path, number,
                 n, TOKEN_MIN, TOKEN_MAX);
    void *grown = realloc(t->digests, (t->n + 1) * sizeof *t->digests);
    CUZK_FAIL_IF(grown == NULL, err, CUZK_E_MEMORY, "out of memory");
    t->digests = grown;
    cuzk_sha256_digest(t->digests[t->n++], line, n);
    return CUZK_OK;
}

static cuzk_status read_tokens(tokens *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    if (path == NULL || path[0] == '\0') {
        return CUZK_OK;
    }
    out->is_there = true;
    char *text = NULL;
    size_t n_bytes = 0, number = 0;
    CUZK_TRY(cuzk_read_small_file(&text, &n_bytes, "tokens", path, err));
    cuzk_status status = CUZK_OK;
    for (size_t at = 0; at < n_bytes && status == CUZK_OK;) {
        const char *end = memchr(text + at, '\n', n_bytes - at);
        size_t n = end != NULL ? (size_t)(end - text) - at : n_bytes - at;
        status = add_line(out, text + at, n, path, ++number, err);
        at += n + 1;
    }
    cuzk_wipe(text, n_bytes);
    free(text);
    if (status == CUZK_OK && out->n == 0) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT, "tokens %s: there is no token in it", path);
    }
    if (status != CUZK_OK) {
        free(out->digests);
        out->digests = NULL;
    }
    return status;
}

cuzk_status cuzk_rights_reload(cuzk_rights *rights, const char *token_file,
                               const char *admin_token_file, cuzk_error *err)
{
    tokens submit, admin;
    CUZK_TRY(read_tokens(&submit, token_file, err));
    cuzk_status status = read_tokens(&admin, admin_token_file, err);
    if (status != CUZK_OK) {
        free(submit.digests);
        return status;
    }
    pthread_rwlock_wrlock(&rights->lock);
    tokens old_submit = rights->submit, old_admin = rights->admin;
    rights->submit = submit;
    rights->admin = admin;
    pthread_rwlock_unlock(&rights->lock);
    free(old_submit.digests);
    free(old_admin.digests);
    return CUZK_OK;
}

cuzk_status cuzk_rights_create(cuzk_rights **out, const cuzk_rpc_options *options, cuzk_error *err)
{
    cuzk_rights *rights = calloc(1, sizeof *rights);
    CUZK_FAIL_IF(rights == NULL, err, CUZK_E_MEMORY, "out of memory");
    pthread_rwlock_init(&rights->lock, NULL);
    cuzk_status status =
        cuzk_rights_reload(rights, options->token_file, options->admin_token_file, err);
    if (status == CUZK_OK && options->n_admin_names > 0) {
        rights->admin_names = calloc(options->n_admin_names, sizeof *rights->admin_names);
        for (unsigned i = 0; rights->admin_names != NULL && i < options->n_admin_names; i++) {
            rights->admin_names[i] = strdup(options->admin_names[i]);
            rights->n_admin_names += rights->admin_names[i] != NULL;
        }
        if (rights->n_admin_names != options->n_admin_names) {
            status = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        }
    }
    if (status != CUZK_OK) {
        cuzk_rights_destroy(rights);
        return status;
    }
    *out = rights;
    return CUZK_OK;
}

void cuzk_rights_destroy(cuzk_rights *rights)
{
    if (rights == NULL) {
        return;
    }
    for (unsigned i = 0; i < rights->n_admin_names; i++) {
        free(rights->admin_names[i]);
    }
    free(rights->admin_names);
    free(rights->submit.digests);
    free(rights->admin.digests);
    pthread_rwlock_destroy(&rights->lock);
    free(rights);
}

static bool holds(const tokens *t, const uint8_t digest[32])
{
    bool found = false;
    for (size_t i = 0; i < t->n; i++) {
        found |= memcmp(t->digests[i], digest, 32) == 0;
    }
    return found;
}

bool cuzk_rights_has_admin_tokens(cuzk_rights *rights)
{
    pthread_rwlock_rdlock(&rights->lock);
    bool is_there = rights->admin.is_there;
    pthread_rwlock_unlock(&rights->lock);
    return is_there;
}

cuzk_token_right cuzk_rights_of_token(cuzk_rights *rights, const char *token)
{
    uint8_t digest[32];
    cuzk_sha256_digest(digest, token, strlen(token));
    pthread_rwlock_rdlock(&rights->lock);
    cuzk_token_right right = holds(&rights->admin, digest)    ? CUZK_TOKEN_ADMINISTERS
                             : holds(&rights->submit, digest) ? CUZK_TOKEN_SUBMITS
                                                              : CUZK_TOKEN_UNKNOWN;
    pthread_rwlock_unlock(&rights->lock);
    return right;
}

/* The digest of the call's token. False: it has none. */
static bool token_of(uint8_t digest[32], const grpc_metadata_array *metadata)
{
    static const char key[] = "authorization";
    static const char scheme[] = "bearer ";
    for (size_t i = 0; i < metadata->count; i++) {
        const grpc_metadata *m = &metadata->metadata[i];
        const char *value = (const char *)GRPC_SLICE_START_PTR(m->value);
        size_t n = GRPC_SLICE_LENGTH(m->value);
        if (GRPC_SLICE_LENGTH(m->key) == sizeof key - 1 &&
            memcmp(GRPC_SLICE_START_PTR(m->key), key, sizeof key - 1) == 0 &&
            n > sizeof scheme - 1 && strncasecmp(value, scheme, sizeof scheme - 1) == 0) {
            cuzk_sha256_digest(digest, value + sizeof scheme - 1, n - (sizeof scheme - 1));
            return true;
        }
    }
    return false;
}

/* Whether the client's certificate, which the handshake verified, has an admin name. */
static bool has_admin_name(const cuzk_rights *rights, grpc_call *call)
{
    static const char *const properties[] = {GRPC_X509_CN_PROPERTY_NAME,
                                             GRPC_X509_SAN_PROPERTY_NAME};
    grpc_auth_context *context = rights->n_admin_names > 0 ? grpc_call_auth_context(call) : NULL;
    if (context == NULL) {
        return false;
    }
    bool found = false;
    if (grpc_auth_context_peer_is_authenticated(context)) {
        for (size_t p = 0; p < sizeof properties / sizeof *properties; p++) {
            grpc_auth_property_iterator it =
                grpc_auth_context_find_properties_by_name(context, properties[p]);
            const grpc_auth_property *property;
            while ((property = grpc_auth_property_iterator_next(&it)) != NULL) {
                for (unsigned i = 0; i < rights->n_admin_names; i++) {
                    found |= strlen(rights->admin_names[i]) == property->value_length &&
                             memcmp(rights->admin_names[i], property->value,
                                    property->value_length) == 0;
                }
            }
        }
    }
    grpc_auth_context_release(context);
    return found;
}

grpc_status_code cuzk_rights_check(cuzk_rights *rights, const char **why, cuzk_right wanted,
                                   bool is_local, const grpc_metadata_array *metadata,
                                   grpc_call *call)
{
    if (wanted == CUZK_RIGHT_NONE || is_local) {
        return GRPC_STATUS_OK;
    }
    uint8_t digest[32];
    bool has_token = token_of(digest, metadata);
    pthread_rwlock_rdlock(&rights->lock);
    bool needs_token = rights->submit.is_there;
    bool is_split = rights->admin.is_there || rights->n_admin_names > 0;
    bool is_admin = has_token && holds(&rights->admin, digest);
    bool is_known = is_admin || (has_token && holds(&rights->submit, digest));
    pthread_rwlock_unlock(&rights->lock);
    if (needs_token && !is_known) {
        *why = has_token ? "the token is not a known one"
                         : "a token is needed: metadata \"authorization: Bearer TOKEN\"";
        return GRPC_STATUS_UNAUTHENTICATED;
    }
    if (wanted == CUZK_RIGHT_ADMIN && is_split && !is_admin && !has_admin_name(rights, call)) {
        *why = "this call administers the server, which this client may not";
        return GRPC_STATUS_PERMISSION_DENIED;
    }
    return GRPC_STATUS_OK;
}
