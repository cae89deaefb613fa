/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the sources of the client share. Nobody else touches gRPC's types. */
#ifndef CUZK_CLIENT_CHANNEL_H
#define CUZK_CLIENT_CHANNEL_H

#include "client/client.h"

#include <grpc/grpc.h>

enum { CUZK_CLIENT_TARGET_MAX = 512 };

struct cuzk_client {
    char *address; /* as it was given */
    char target[CUZK_CLIENT_TARGET_MAX];
    char *authorization; /* "Bearer …"; NULL: none */
    bool is_tls;
    grpc_channel *channel;
    grpc_completion_queue *queue;
    struct cuzk_client_open_call *calls; /* open ones, a list */
};

/** Make the channel of client->target. Errors: E_FILE, E_ARGUMENT, E_MEMORY. */
cuzk_status cuzk_client_make_channel(cuzk_client *client, const cuzk_client_options *options,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Say in *error what gRPC's status of a call means, to whom it was made and in what state the
 *  connection is. code: not GRPC_STATUS_OK. text: of the daemon, or of gRPC. Returns who spoke. */
cuzk_client_reach cuzk_client_explain(cuzk_error *error, cuzk_client *client,
                                      cuzk_client_method method, grpc_status_code code,
                                      const char *text);

#endif
