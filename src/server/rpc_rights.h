/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who may do what: submit (everything that concerns one's jobs, status, metrics) or administer
 * (load, evict, register, cancel: what others feel).
 *
 * Files of tokens hold one a line, at least 16 visible characters; empty lines and lines that begin
 * with '#' are passed over. A call shows one as `authorization: Bearer TOKEN`.
 *  - With a token file a call needs a token of either file, or to come over a Unix socket, whose
 *    permissions say who may. Without one any call may submit.
 *  - With neither admin tokens nor admin names whoever may submit may administer. Otherwise that
 *    takes an admin token, a client certificate with an admin name, or a Unix socket. */
#ifndef CUZK_SERVER_RPC_RIGHTS_H
#define CUZK_SERVER_RPC_RIGHTS_H

#include "server/rpc.h"

#include <grpc/grpc.h>

typedef enum {
    CUZK_RIGHT_NONE, /* health and reflection: for anybody */
    CUZK_RIGHT_SUBMIT,
    CUZK_RIGHT_ADMIN
} cuzk_right;

typedef struct cuzk_rights cuzk_rights;

cuzk_status cuzk_rights_create(cuzk_rights **out, const cuzk_rpc_options *options,
                               cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_rights_destroy(cuzk_rights *rights);

/** Read token files again, or others. On an error the old tokens stay. Thread-safe. */
cuzk_status cuzk_rights_reload(cuzk_rights *rights, const char *token_file,
                               const char *admin_token_file, cuzk_error *err) CUZK_WARN_UNUSED;

/** cuzk_rpc_has_admin_tokens, cuzk_rpc_token. */
bool cuzk_rights_has_admin_tokens(cuzk_rights *rights);
cuzk_token_right cuzk_rights_of_token(cuzk_rights *rights, const char *token);

/** Whether a call may: OK, UNAUTHENTICATED (no token, or an unknown one) or PERMISSION_DENIED. why:
 *  a constant text. Thread-safe. */
grpc_status_code cuzk_rights_check(cuzk_rights *rights, const char **why, cuzk_right wanted,
                                   bool is_local, const grpc_metadata_array *metadata,
                                   grpc_call *call);

#endif
