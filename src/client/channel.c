/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The channel: credentials from files, limits. */
#include "client/channel.h"

#include "base/bytes.h"
#include "base/read_file.h"

#include <errno.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

static cuzk_status read_pem(char **out, const char *path, const char *what, cuzk_error *err)
{
    *out = NULL;
    if (path == NULL) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_read_small_file(out, NULL, what, path, err));
    if (strstr(*out, "-----BEGIN ") == NULL) {
        free(*out);
        *out = NULL;
        return CUZK_FAIL(err, CUZK_E_FORMAT, "reading %s from \"%.400s\": it is not PEM", what,
                         path);
    }
    return CUZK_OK;
}

/* The token, as the value of a header. */
static cuzk_status read_token(char **out, const char *path, cuzk_error *err)
{
    char *text;
    CUZK_TRY(cuzk_read_small_file(&text, NULL, "the token", path, err));
    size_t n = strcspn(text, "\r\n");
    bool is_fine = n > 0;
    for (size_t i = 0; i < n; i++) {
        is_fine = is_fine && text[i] > ' ' && text[i] < 0x7f;
    }
    size_t size = sizeof "Bearer " + n;
    char *value = is_fine ? malloc(size) : NULL;
    if (value != NULL) {
        snprintf(value, size, "Bearer %.*s", (int)n, text);
    }
    cuzk_wipe(text, strlen(text));
    free(text);
    CUZK_FAIL_IF(!is_fine, err, CUZK_E_FORMAT,
                 "reading the token from \"%.400s\": its first line is %s", path,
                 n == 0 ? "empty" : "not of printable characters without spaces");
    CUZK_FAIL_IF(value == NULL, err, CUZK_E_MEMORY, "reading the token: out of memory");
    *out = value;
    return CUZK_OK;
}

/* ---- credentials ----------------------------------------------------------------------------- */

static cuzk_status tls_credentials(grpc_channel_credentials **out, const cuzk_client_options *o,
                                   cuzk_error *err)
{
    char *ca = NULL, *cert = NULL, *key = NULL;
    cuzk_status status;
    CUZK_TRY_OUT(status, read_pem(&ca, o->tls_ca, "certificates", err));
    CUZK_TRY_OUT(status, read_pem(&cert, o->tls_cert, "the client's certificate", err));
    CUZK_TRY_OUT(status, read_pem(&key, o->tls_key, "the client's key", err));
    grpc_ssl_pem_key_cert_pair pair = {key, cert};
    *out = grpc_ssl_credentials_create(ca, cert != NULL ? &pair : NULL, NULL, NULL);
    if (*out == NULL) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT,
                           "using TLS: gRPC refuses the certificates or the key as they are");
    }
out:
    if (key != NULL) {
        cuzk_wipe(key, strlen(key));
    }
    free(ca);
    free(cert);
    free(key);
    return status;
}

cuzk_status cuzk_client_make_channel(cuzk_client *client, const cuzk_client_options *o,
                                     cuzk_error *err)
{
    grpc_channel_credentials *credentials = NULL;
    if (client->is_tls) {
        CUZK_TRY(tls_credentials(&credentials, o, err));
    } else {
        credentials = grpc_insecure_credentials_create();
    }
    grpc_arg args[] = {
        {GRPC_ARG_INTEGER,
         (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
         {.integer = CUZK_CLIENT_MESSAGE_MAX}},
        {GRPC_ARG_INTEGER,
         (char *)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH,
         {.integer = CUZK_CLIENT_MESSAGE_MAX}},
        /* the daemon is near: a proxy of the environment is for other things */
        {GRPC_ARG_INTEGER, (char *)GRPC_ARG_ENABLE_HTTP_PROXY, {.integer = 0}},
        {GRPC_ARG_STRING,
         (char *)GRPC_SSL_TARGET_NAME_OVERRIDE_ARG,
         {.string = (char *)o->tls_name}},
    };
    size_t n = sizeof args / sizeof args[0];
    grpc_channel_args list = {o->tls_name != NULL ? n : n - 1, args};
    client->channel = grpc_channel_create(client->target, credentials, &list);
    grpc_channel_credentials_release(credentials);
    CUZK_FAIL_IF(client->channel == NULL, err, CUZK_E_INTERNAL,
                 "address \"%.200s\": gRPC makes no channel", o->address);
    return CUZK_OK;
}

/* ---- clients --------------------------------------------------------------------------------- */

/* gRPC's own log: what concerns a caller comes back with the status of a call. */
static void drop_log(gpr_log_func_args *args)
{
    (void)args;
}

static cuzk_status open_client(cuzk_client *client, const cuzk_client_options *o, cuzk_error *err)
{
    bool is_https;
    CUZK_TRY(cuzk_client_target(client->target, sizeof client->target, &is_https, o->address, err));
    CUZK_FAIL_IF((o->tls_cert == NULL) != (o->tls_key == NULL), err, CUZK_E_ARGUMENT,
                 "a client's certificate and its key go together, only the %s is given",
                 o->tls_cert != NULL ? "certificate" : "key");
    client->is_tls = is_https || o->tls_ca != NULL || o->tls_cert != NULL || o->tls_name != NULL;
    client->address = strdup(o->address);
    CUZK_FAIL_IF(client->address == NULL, err, CUZK_E_MEMORY, "making a client: out of memory");
    if (o->token_file != NULL) {
        CUZK_TRY(read_token(&client->authorization, o->token_file, err));
    }
    if (getenv("GRPC_VERBOSITY") == NULL) {
        gpr_set_log_function(drop_log);
    }
    client->queue = grpc_completion_queue_create_for_next(NULL);
    return cuzk_client_make_channel(client, o, err);
}

cuzk_status cuzk_client_open(cuzk_client **out, const cuzk_client_options *options, cuzk_error *err)
{
    cuzk_client *client = calloc(1, sizeof *client);
    CUZK_FAIL_IF(client == NULL, err, CUZK_E_MEMORY, "making a client: out of memory");
    grpc_init();
    cuzk_status status = open_client(client, options, err);
    if (status != CUZK_OK) {
        cuzk_client_close(client);
        return status;
    }
    *out = client;
    return CUZK_OK;
}

void cuzk_client_close(cuzk_client *client)
{
    if (client == NULL) {
        return;
    }
    cuzk_client_cancel(client);
    while (client->calls != NULL) {
        cuzk_client_answer answer;
        if (cuzk_client_next(client, &answer, UINT64_MAX)) {
            cuzk_client_answer_clear(&answer);
        }
    }
    if (client->channel != NULL) {
        grpc_channel_destroy(client->channel);
    }
    if (client->queue != NULL) {
        grpc_completion_queue_shutdown(client->queue);
        while (grpc_completion_queue_next(client->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL)
                   .type != GRPC_QUEUE_SHUTDOWN) {
        }
        grpc_completion_queue_destroy(client->queue);
    }
    if (client->authorization != NULL) {
        cuzk_wipe(client->authorization, strlen(client->authorization));
    }
    free(client->authorization);
    free(client->address);
    free(client);
    grpc_shutdown();
}

const char *cuzk_client_address(const cuzk_client *client)
{
    return client->address;
}
