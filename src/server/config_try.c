/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/config_try.h"

#include "server/config_value.h"
#include "server/rpc_internal.h"
#include "work/filecoin_work.h"

#include <stdio.h>
#include <string.h>

cuzk_status cuzk_config_try_preload(const cuzk_config_list *circuits, const cuzk_work *filecoin,
                                    cuzk_error *err)
{
    for (size_t i = 0; i < circuits->n; i++) {
        cuzk_error found = {0};
        uint64_t bytes;
        bool is_circom = strncmp(circuits->items[i], "circom:", 7) == 0;
        cuzk_status status = is_circom ? CUZK_OK
                                       : filecoin->resident_size(filecoin->user, circuits->items[i],
                                                                 &bytes, NULL, &found);
        /* a file that is not there may come; a name that is none never will */
        if (status == CUZK_E_NOT_FOUND) {
            return CUZK_FAIL(err, status, "srs.preload: %s", found.text);
        }
    }
    return CUZK_OK;
}

static const char *origin(const cuzk_config *config, const char *key)
{
    size_t n;
    return config->origins[cuzk_config_find(key) - cuzk_config_keys(&n)];
}

static cuzk_status try_preload(const cuzk_config *config, cuzk_config_report *report,
                               cuzk_error *err)
{
    cuzk_ctx_options threads = CUZK_CTX_OPTIONS_INIT;
    cuzk_ctx *ctx = NULL;
    cuzk_filecoin_work *work = NULL;
    cuzk_work_devices devices;
    const char *cpu = "cpu";
    threads.n_threads = 1;
    cuzk_status status = cuzk_work_devices_init(&devices, &cpu, 1, err);
    CUZK_TRY_OUT(status, status);
    CUZK_TRY_OUT(status, cuzk_ctx_create(&ctx, &threads, err));
    cuzk_filecoin_work_options options = {.ctx = ctx,
                                          .devices = &devices,
                                          .params_folder = config->srs_param_cache,
                                          .allow_test_key = config->srs_allow_test_keys};
    CUZK_TRY_OUT(status, cuzk_filecoin_work_create(&work, &options, err));
    cuzk_error found = {0};
    if (cuzk_config_try_preload(&config->srs_preload, cuzk_filecoin_work_table(work), &found) !=
        CUZK_OK) {
        cuzk_config_note_error(report, origin(config, "srs.preload"), found.text);
    }
out:
    cuzk_filecoin_work_destroy(work);
    if (ctx != NULL) {
        cuzk_ctx_destroy(ctx);
    }
    return status;
}

static void try_tls(const cuzk_config *config, cuzk_config_report *report)
{
    cuzk_rpc_options options = {.tls_cert = config->tls_cert,
                                .tls_key = config->tls_key,
                                .tls_client_ca = config->tls_client_ca};
    struct cuzk_tls *tls = NULL;
    cuzk_error found = {0};
    if (cuzk_tls_create(&tls, &options, &found) != CUZK_OK) {
        cuzk_config_note_error(report, origin(config, "tls.cert"), found.text);
    }
    cuzk_tls_destroy(tls);
}

static void try_tokens(const cuzk_config *config, cuzk_config_report *report)
{
    cuzk_rpc_options options = {.token_file = config->auth_token_file,
                                .admin_token_file = config->auth_admin_token_file};
    cuzk_rights *rights = NULL;
    cuzk_error found = {0};
    if (cuzk_rights_create(&rights, &options, &found) != CUZK_OK) {
        bool is_first = config->auth_token_file[0] != 0;
        const char *key = is_first ? "auth.token_file" : "auth.admin_token_file";
        cuzk_config_note_error(report, origin(config, key), found.text);
    }
    cuzk_rights_destroy(rights);
}

cuzk_status cuzk_config_try_memory(uint64_t *budget, char *limited_by, const cuzk_config *config,
                                   cuzk_error *err)
{
    CUZK_TRY(cuzk_config_budget(budget, limited_by, config, "", err));
    CUZK_FAIL_IF(
        config->memory_intake >= *budget, err, CUZK_E_ARGUMENT,
        "memory.intake: requests would take all of the memory budget, %llu bytes (by %.200s)",
        (unsigned long long)*budget, limited_by);
    return CUZK_OK;
}

cuzk_status cuzk_config_try(const cuzk_config *config, cuzk_config_report *report, cuzk_error *err)
{
    uint64_t budget;
    char limited_by[256];
    cuzk_error found = {0};
    if (cuzk_config_try_memory(&budget, limited_by, config, &found) != CUZK_OK) {
        cuzk_config_note_error(report, origin(config, "memory.intake"), found.text);
    }
    try_tls(config, report);
    try_tokens(config, report);
    return config->srs_preload.n > 0 ? try_preload(config, report, err) : CUZK_OK;
}
