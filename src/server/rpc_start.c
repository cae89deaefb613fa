/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gRPC server as the daemon has it: options from the configuration, circuits from circom's
 * work. */
#include "server/rpc.h"
#include "server/server.h"
#include "work/circom_work.h"

#include <stdlib.h>

static void tell(cuzk_rpc_circuit_each each, void *context, const cuzk_circom_info *info)
{
    each(context, &(cuzk_rpc_circuit){
                      .name = info->name,
                      .zkey_path = info->path,
                      .curve = info->curve,
                      .n_constraints = info->n_constraints,
                      .n_public = info->n_public,
                      .n_vars = info->n_vars,
                      .size_bytes = info->n_bytes,
                  });
}

static cuzk_status add(void *user, const char *name, const char *zkey_path, bool *was_there,
                       cuzk_rpc_circuit_each each, void *context, cuzk_error *err)
{
    cuzk_circom_info info;
    CUZK_TRY(cuzk_circom_register(user, was_there, &info, name, zkey_path, err));
    tell(each, context, &info);
    free(info.path);
    return CUZK_OK;
}

static cuzk_status list(void *user, cuzk_rpc_circuit_each each, void *context, cuzk_error *err)
{
    cuzk_circom_info *infos;
    unsigned n;
    CUZK_TRY(cuzk_circom_list(user, &infos, &n, err));
    for (unsigned i = 0; i < n; i++) {
        tell(each, context, &infos[i]);
    }
    cuzk_circom_list_free(infos, n);
    return CUZK_OK;
}

static cuzk_status metrics_text(void *user, cuzk_text *out, cuzk_error *err)
{
    return cuzk_server_metrics_text(user, out, err);
}

static unsigned arrivals(void *user, unsigned device, cuzk_device_arrival *out, unsigned n_max)
{
    const cuzk_server *server = user;
    return cuzk_device_ledger_arrivals(server->ledger, device, out, n_max);
}

static bool is_ready(void *user)
{
    return cuzk_server_is_ready(user);
}

cuzk_status cuzk_rpc_start(cuzk_rpc **out, cuzk_server *server, cuzk_error *err)
{
    const cuzk_config *config = server->config;
    cuzk_rpc_circuits circuits = {server->circom, add, list};
    bool has_fds = server->n_listen_fds > 0;
    cuzk_rpc_options options = {
        .listen = (const char *const *)config->daemon_listen.items,
        .n_listen = has_fds ? 0 : (unsigned)config->daemon_listen.n,
        .listen_fds = server->listen_fds,
        .n_listen_fds = server->n_listen_fds,
        .owns_listen_fds = server->owns_listen_fds,
        .allow_plaintext = config->daemon_allow_plaintext,
        .socket_mode = (unsigned)config->daemon_socket_mode,
        .socket_owner = config->daemon_socket_owner,
        .tls_cert = config->tls_cert,
        .tls_key = config->tls_key,
        .tls_client_ca = config->tls_client_ca,
        .token_file = config->auth_token_file,
        .admin_token_file = config->auth_admin_token_file,
        .admin_names = (const char *const *)config->auth_admin_names.items,
        .n_admin_names = (unsigned)config->auth_admin_names.n,
        .max_message = config->rpc_max_message,
        .receive_ns = config->rpc_receive_time,
        .max_connections = (unsigned)config->rpc_max_connections,
        .max_streams = (unsigned)config->rpc_max_streams,
        .n_threads = (unsigned)config->rpc_threads,
        .no_reflection = !config->rpc_reflection,
        .engine = server->engine,
        .kinds = server->kinds,
        .circom_kind = server->kinds[CUZK_KIND_CIRCOM].name != NULL ? CUZK_KIND_CIRCOM : 0,
        .last_proof_kind =
            server->kinds[CUZK_KIND_NULL].name != NULL ? CUZK_KIND_NULL : CUZK_KIND_WINNING,
        .circuits = server->circom != NULL ? &circuits : NULL,
        .metrics_text = metrics_text,
        .arrivals = arrivals,
        .is_ready = is_ready,
        .user = server,
        .log = server->log,
    };
    return cuzk_rpc_create(out, &options, err);
}

cuzk_status cuzk_rpc_reload(cuzk_rpc *rpc, const cuzk_config *config, cuzk_error *err)
{
    return cuzk_rpc_reload_files(rpc, config->auth_token_file, config->auth_admin_token_file, err);
}
