/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Test parameters of Filecoin's circuits. */
#include "api/filecoin.h"

#include "base/bytes.h"
#include "filecoin/circuit_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Make the folder and those above it that are missing. */
static cuzk_status make_folder(const char *folder, cuzk_error *err)
{
    char *path = strdup(folder);
    CUZK_FAIL_IF(path == NULL, err, CUZK_E_MEMORY, "making a folder: out of memory");
    for (char *p = path + 1; p[-1] != '\0'; p++) {
        char c = *p;
        if (c == '/' || c == '\0') {
            *p = '\0';
            if (mkdir(path, 0777) != 0 && errno != EEXIST) {
                cuzk_status status =
                    CUZK_FAIL(err, CUZK_E_FILE, "making folder \"%s\": %s", path, strerror(errno));
                free(path);
                return status;
            }
            *p = c;
        }
        if (c == '\0') {
            break;
        }
    }
    free(path);
    return CUZK_OK;
}

static cuzk_status make_keys(const cuzk_ctx *ctx, cuzk_proof_kind kind, const cuzk_sector *sector,
                             const char *params_path, const char *vk_path,
                             const cuzk_filecoin_setup_options *o, cuzk_error *err)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_trapdoor trapdoor;
    if (o->trapdoor.data != NULL) {
        CUZK_TRY(
            cuzk_api_read_trapdoor(&trapdoor, curve, o->trapdoor.data, o->trapdoor.n_bytes, err));
    }
    cuzk_setup_options files = CUZK_SETUP_OPTIONS_INIT;
    files.params_path = params_path;
    files.vk_path = vk_path;
    files.device = o->device;
    files.progress = o->progress;
    files.progress_user = o->progress_user;
    cuzk_shape *shape = NULL;
    cuzk_api_multiplier *multiplier = NULL;
    cuzk_reporter reporter = cuzk_api_reporter(o->progress, o->progress_user);
    cuzk_status status = cuzk_api_multiplier_open(&multiplier, o->device, err);
    if (status == CUZK_OK) {
        status = cuzk_circuit_get(&shape, kind, sector, NULL, &reporter, ctx->pool, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_api_make_keys(ctx, shape, &files, o->trapdoor.data != NULL ? &trapdoor : NULL,
                                    true, multiplier, err);
    }
    cuzk_shape_destroy(shape);
    cuzk_api_multiplier_close(multiplier);
    cuzk_wipe(&trapdoor, sizeof trapdoor);
    return status;
}

static cuzk_status setup(const cuzk_ctx *ctx, bool *made, cuzk_proof_kind kind,
                         const cuzk_sector *sector, const cuzk_filecoin_setup_options *o,
                         cuzk_error *err)
{
    const char *folder = o->folder != NULL ? o->folder : cuzk_param_folder();
    char *params_path = NULL;
    char *vk_path = NULL;
    cuzk_status status = cuzk_filecoin_param_path(&params_path, folder, kind, sector,
                                                  CUZK_PARAM_FILE_PARAMS, true, err);
    if (status == CUZK_OK) {
        status =
            cuzk_filecoin_param_path(&vk_path, folder, kind, sector, CUZK_PARAM_FILE_VK, true, err);
    }
    bool there = status == CUZK_OK && access(params_path, F_OK) == 0 && access(vk_path, F_OK) == 0;
    bool needed = status == CUZK_OK && (!there || o->replace);
    if (needed) {
        status = make_folder(folder, err);
    }
    if (needed && status == CUZK_OK) {
        status = make_keys(ctx, kind, sector, params_path, vk_path, o, err);
    }
    if (status == CUZK_OK && made != NULL) {
        *made = needed;
    }
    free(params_path);
    free(vk_path);
    return status;
}

cuzk_status cuzk_filecoin_setup(const cuzk_ctx *ctx, bool *made, cuzk_filecoin_kind kind,
                                const char *sector_size, const cuzk_filecoin_setup_options *options,
                                cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, sector_size);
    cuzk_filecoin_setup_options o = CUZK_FILECOIN_SETUP_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_filecoin_setup_options", err));
    CUZK_TRY(cuzk_api_multiplier_check(o.device, err));
    CUZK_FAIL_IF(kind < CUZK_FILECOIN_POREP || kind > CUZK_FILECOIN_WINNING, err, CUZK_E_ARGUMENT,
                 "proof kind %d is not known", (int)kind);
    const cuzk_sector *sector = cuzk_sector_by_name(sector_size, strlen(sector_size));
    CUZK_FAIL_IF(sector == NULL, err, CUZK_E_ARGUMENT, "\"%.80s\" is not a sector size: %s",
                 sector_size, cuzk_sector_names());
    CUZK_FAIL_IF(sector->update_only && kind != CUZK_FILECOIN_UPDATE, err, CUZK_E_UNSUPPORTED,
                 "there is no %s for sectors of %s", cuzk_proof_kind_name((cuzk_proof_kind)kind),
                 sector->name);
    return setup(ctx, made, (cuzk_proof_kind)kind, sector, &o, err);
}
