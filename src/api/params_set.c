/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parameter files through the C library. */
#include "api/api.h"

#include "cuzk_params.h"
#include "filecoin/param_store.h"

#include <stdlib.h>
#include <string.h>

static const char default_source[] = "https://proofs.filecoin.io/ipfs/{cid}";

struct cuzk_params_set {
    char *folder;
    cuzk_manifest manifest;
};

static cuzk_status read_manifest(cuzk_manifest *out, const char *path, cuzk_error *err)
{
    if (path == NULL) {
        return cuzk_manifest_builtin(out, err);
    }
    cuzk_map_file file;
    CUZK_TRY(cuzk_map_file_open(&file, path, err));
    cuzk_status s = cuzk_manifest_read(out, file.data, file.size, err);
    cuzk_map_file_close(&file);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "%s", path);
    }
    return s;
}

cuzk_status cuzk_params_set_open(cuzk_params_set **set, const char *folder,
                                 const char *manifest_path, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, set);
    CUZK_FAIL_IF(folder != NULL && folder[0] == '\0', err, CUZK_E_ARGUMENT,
                 "the name of the folder of parameter files is empty");
    cuzk_manifest manifest;
    CUZK_TRY(read_manifest(&manifest, manifest_path, err));
    cuzk_params_set *made = calloc(1, sizeof *made);
    char *copy = strdup(folder != NULL ? folder : cuzk_param_folder());
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        cuzk_manifest_clear(&manifest);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    *made = (cuzk_params_set){copy, manifest};
    *set = made;
    return CUZK_OK;
}

void cuzk_params_set_close(cuzk_params_set *set)
{
    if (set != NULL) {
        cuzk_manifest_clear(&set->manifest);
        free(set->folder);
        free(set);
    }
}

unsigned cuzk_params_set_count(const cuzk_params_set *set)
{
    return set->manifest.n;
}

const char *cuzk_params_set_folder(const cuzk_params_set *set)
{
    return set->folder;
}

void cuzk_params_file_get_info(cuzk_params_file_info *info, const cuzk_params_set *set, unsigned i)
{
    const cuzk_manifest_entry *e = &set->manifest.entries[i];
    const cuzk_sector *sector = cuzk_sector_by_bytes(e->sector_bytes);
    size_t n = strlen(e->name);
    uint64_t bytes;
    cuzk_param_state state = cuzk_param_state_get(&bytes, set->folder, e);
    *info = (cuzk_params_file_info){.name = e->name,
                                    .circuit = e->circuit,
                                    .sector_size = sector != NULL ? sector->name : "",
                                    .is_vk = n > 3 && strcmp(e->name + n - 3, ".vk") == 0,
                                    .n_bytes = e->bytes,
                                    .is_present = state == CUZK_PARAM_PRESENT,
                                    .state = cuzk_param_state_text(state)};
}

/* The file of that number. */
static cuzk_status entry_at(const cuzk_manifest_entry **out, const cuzk_params_set *set, unsigned i,
                            cuzk_error *err)
{
    CUZK_API_NOT_NULL(err, set);
    CUZK_FAIL_IF(i >= set->manifest.n, err, CUZK_E_ARGUMENT, "file %u of a list of %u", i,
                 set->manifest.n);
    *out = &set->manifest.entries[i];
    return CUZK_OK;
}

cuzk_status cuzk_params_file_check(const cuzk_params_set *set, unsigned i, cuzk_progress progress,
                                   void *progress_user, cuzk_error *err)
{
    const cuzk_manifest_entry *entry = NULL;
    cuzk_error_clear(err);
    CUZK_TRY(entry_at(&entry, set, i, err));
    cuzk_reporter reporter = {progress, progress_user};
    CUZK_TRY(cuzk_param_check(set->folder, entry, &reporter, err));
    cuzk_param_remember(set->folder, entry);
    return CUZK_OK;
}

cuzk_status cuzk_params_file_fetch(bool *was_there, const cuzk_params_set *set, unsigned i,
                                   const cuzk_params_fetch_options *options, cuzk_error *err)
{
    const cuzk_manifest_entry *entry = NULL;
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, was_there);
    CUZK_TRY(entry_at(&entry, set, i, err));
    cuzk_params_fetch_options o = CUZK_PARAMS_FETCH_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_params_fetch_options", err));
    cuzk_reporter reporter = {o.progress, o.progress_user};
    cuzk_param_fetch_params params = {.source = o.source != NULL ? o.source : default_source,
                                      .reporter = &reporter,
                                      .waiting = o.waiting,
                                      .waiting_ctx = o.waiting_user};
    bool there;
    CUZK_TRY(cuzk_param_fetch(&there, set->folder, entry, &params, err));
    *was_there = there;
    return CUZK_OK;
}
