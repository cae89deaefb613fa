/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A gRPC server over the engine's double, for its tests. */
#ifndef CUZK_TESTS_RPC_TEST_H
#define CUZK_TESTS_RPC_TEST_H

#include "cuzk/v1/circom.pb-c.h"
#include "cuzk/v1/devices.pb-c.h"
#include "cuzk/v1/proving.pb-c.h"
#include "server/engine_double.h"
#include "server/rpc.h"
#include "server/rpc_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROVING "cuzk.v1.ProvingEngine/"
#define CIRCOM  "cuzk.v1.Circom/"
#define DEVICES "cuzk.v1.Devices/"

typedef struct {
    cuzk_engine *engine;
    cuzk_rpc *rpc;
    client *client; /* of the first address */
    atomic_bool is_ready;
} setting;

/** Engine, server and client. change: alters the options; may be NULL. */
void setting_start(setting *s, void (*change)(cuzk_rpc_options *options, void *user), void *user);
void setting_end(setting *s);

/** Options as setting_start begins with. */
void setting_options(setting *s, cuzk_rpc_options *options);

/** A SubmitProofRequest. Returned: free. */
uint8_t *make_submit(size_t *size, const char *id, int kind, const void *vanilla, size_t n_bytes);
/** A ProveRequest of one. */
uint8_t *make_prove(size_t *size, const char *id, int kind, const void *vanilla, size_t n_bytes);
/** An AwaitProofRequest. */
uint8_t *make_await(size_t *size, const char *id, uint64_t timeout_ms);

/** A folder of this test, removed by folder_remove with what is in it. */
void folder_make(char path[64]);
void folder_remove(const char *path);

#endif
