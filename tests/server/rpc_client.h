/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A gRPC client for tests, on the C core: one call at a time, or many under way. */
#ifndef CUZK_TESTS_RPC_CLIENT_H
#define CUZK_TESTS_RPC_CLIENT_H

#include "base/status.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdint.h>

typedef struct client client;

typedef struct {
    const char *ca;         /* PEM text; NULL: plaintext */
    const char *cert, *key; /* PEM texts of the client; NULL: none */
    const char *token;      /* NULL: none */
    int lookahead;          /* bytes of window; 0: the default */
} client_options;

/** address: as cuzk_rpc_address gives it. options: NULL: plaintext. Each has a connection of its
 * own. */
client *client_open(const char *address, const client_options *options);
void client_close(client *c);

/* An answer, or a call that has ended. */
typedef struct {
    grpc_status_code code;
    char text[1200];
    uint8_t *data; /* NULL: no message */
    size_t size;
} answer;
void answer_clear(answer *a);

/** Call a method, "cuzk.v1.ProvingEngine/Prove". deadline_ms: 0: 20 s. */
void client_call(client *c, answer *out, const char *method, const void *request, size_t size,
                 unsigned deadline_ms);

/* A call under way. Streams: messages are sent and received one by one. */
typedef struct call call;
call *client_start(client *c, const char *method, const void *request, size_t size,
                   unsigned deadline_ms);
void call_wait(call *k, answer *out); /* ends and frees it */
void call_cancel(call *k);
call *client_stream(client *c, const char *method, unsigned deadline_ms);
void call_send(call *k, const void *data, size_t size);
bool call_receive(call *k, answer *out); /* false: no more messages */
void call_half_close(call *k);

#endif
