/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Keys of Filecoin's circuits: where their files are, whether they are the network's, and opening
 * them. */
#include "api/filecoin.h"
#include "api/record.h"

#include "base/blake2b.h"
#include "filecoin/circuit_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ----------------------------------------------------------------------------------- */

cuzk_status cuzk_filecoin_param_path(char **out, const char *folder, cuzk_proof_kind kind,
                                     const cuzk_sector *sector, cuzk_param_file file, bool test,
                                     cuzk_error *err)
{
    char name[CUZK_PARAM_NAME_MAX];
    cuzk_param_file_name(name, kind, sector, file);
    const char *extension = strrchr(name, '.');
    int stem = (int)(extension - name);
    cuzk_text text = {0};
    cuzk_text_printf(&text, "%s/%.*s%s%s", folder, stem, name, test ? ".test" : "", extension);
    cuzk_status status = cuzk_text_check(&text, err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&text);
        return status;
    }
    *out = text.data; /* handed over */
    return CUZK_OK;
}

/* is_default: nobody named the folder. */
static cuzk_status say_missing(const char *path, const char *why, bool is_default,
                               const cuzk_registered_proof *proof, cuzk_param_file file,
                               cuzk_error *err)
{
    char id[CUZK_PARAM_CIRCUIT_MAX];
    cuzk_circuit_id(id, proof->kind, proof->sector);
    if (cuzk_param_published_get(proof->kind, proof->sector, file) == NULL) {
        return CUZK_FAIL(err, CUZK_E_FILE,
                         "opening \"%s\": %s (the network has none for %s; \"cuzk params setup\" "
                         "makes some for tests)",
                         path, why, id);
    }
    return CUZK_FAIL(err, CUZK_E_FILE,
                     "opening \"%s\": %s (\"cuzk params fetch %s%s\" fetches it%s)", path, why, id,
                     is_default ? "" : " --folder DIR",
                     is_default ? "; FIL_PROOFS_PARAMETER_CACHE names another folder" : "");
}

cuzk_status cuzk_filecoin_param_find(char **out, const char *folder,
                                     const cuzk_registered_proof *proof, cuzk_param_file file,
                                     bool allow_test_key, cuzk_error *err)
{
    bool is_default = folder == NULL;
    folder = is_default ? cuzk_param_folder() : folder;
    char *network = NULL;
    char *test = NULL;
    CUZK_TRY(
        cuzk_filecoin_param_path(&network, folder, proof->kind, proof->sector, file, false, err));
    if (allow_test_key && access(network, F_OK) != 0) {
        cuzk_status status =
            cuzk_filecoin_param_path(&test, folder, proof->kind, proof->sector, file, true, err);
        if (status != CUZK_OK) {
            free(network);
            return status;
        }
        if (access(test, F_OK) == 0) {
            free(network);
            *out = test;
            return CUZK_OK;
        }
        free(test);
    }
    if (access(network, F_OK) != 0) {
        cuzk_status status = say_missing(network, strerror(errno), is_default, proof, file, err);
        free(network);
        return status;
    }
    *out = network;
    return CUZK_OK;
}

/* The file to open: `path` if it is given. Returned: free. */
static cuzk_status find_file(char **out, const char *path, const cuzk_registered_proof *proof,
                             cuzk_param_file file, bool allow_test_key, cuzk_error *err)
{
    if (path == NULL) {
        return cuzk_filecoin_param_find(out, NULL, proof, file, allow_test_key, err);
    }
    *out = strdup(path);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "opening a key: out of memory");
    return CUZK_OK;
}

/* ---- whose key it is ------------------------------------------------------------------------- */

static cuzk_status is_published(bool *out, const cuzk_vk *vk, const cuzk_registered_proof *proof,
                                cuzk_error *err)
{
    const cuzk_param_published *published =
        cuzk_param_published_get(proof->kind, proof->sector, CUZK_PARAM_FILE_VK);
    uint64_t n_bytes = cuzk_vk_file_bytes(vk->n_ic);
    if (published == NULL || !vk->has_g1_pair || n_bytes != published->bytes) {
        *out = false;
        return CUZK_OK;
    }
    uint8_t *bytes = malloc((size_t)n_bytes);
    CUZK_FAIL_IF(bytes == NULL, err, CUZK_E_MEMORY, "checking a verifying key: out of memory");
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    cuzk_status status = cuzk_vk_write(bytes, n_bytes, vk, err);
    if (status == CUZK_OK) {
        cuzk_blake2b_digest(digest, bytes, (size_t)n_bytes);
        *out = memcmp(digest, published->digest, CUZK_PARAM_DIGEST_BYTES) == 0;
    }
    free(bytes);
    return status;
}

/* That the key is of the circuit, and one of the network unless another is allowed. */
static cuzk_status check_vk(const cuzk_ctx *ctx, bool *published, const cuzk_vk *vk,
                            const cuzk_registered_proof *proof, bool allow_test_key,
                            cuzk_error *err)
{
    char id[CUZK_PARAM_CIRCUIT_MAX];
    cuzk_circuit_id(id, proof->kind, proof->sector);
    unsigned expected = cuzk_public_inputs_count(proof);
    CUZK_FAIL_IF(vk->curve->id != CUZK_CURVE_BLS12_381 || vk->n_ic - 1 != expected, err,
                 CUZK_E_MISMATCH,
                 "the key is not of the circuit %s: it has %u public values over %s, expected %u "
                 "over bls12381",
                 id, vk->n_ic - 1, vk->curve->snarkjs_name, expected);
    CUZK_TRY(is_published(published, vk, proof, err));
    CUZK_FAIL_IF(!*published && !allow_test_key, err, CUZK_E_UNSUPPORTED,
                 "the key is not the one that the network's trusted setup made for %s: whoever "
                 "made it can forge proofs; it is used only where that is allowed by name "
                 "(allow_test_key, --allow-test-key)",
                 id);
    if (!*published) {
        cuzk_api_log(ctx, CUZK_LOG_WARN, "the key for %s is a test key: its proofs prove nothing",
                     id);
    }
    return CUZK_OK;
}

/* ---- verifying keys -------------------------------------------------------------------------- */

static cuzk_status open_vkey(const cuzk_ctx *ctx, cuzk_vkey **out,
                             const cuzk_registered_proof *proof, const char *path,
                             bool allow_test_key, cuzk_error *err)
{
    cuzk_vkey *opened = NULL;
    bool published = false;
    CUZK_TRY(cuzk_vkey_open_file(ctx, &opened, path, allow_test_key, err));
    cuzk_status status = check_vk(ctx, &published, &opened->vk, proof, allow_test_key, err);
    if (status != CUZK_OK) {
        cuzk_vkey_close(opened);
        cuzk_error_prefix(err, "verifying key \"%s\"", path);
        return status;
    }
    *out = opened;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey,
                                         const cuzk_filecoin_request *request, const char *path,
                                         bool allow_test_key, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, vkey);
    CUZK_API_NOT_NULL(err, request);
    cuzk_registered_proof proof;
    char *file = NULL;
    CUZK_TRY(cuzk_request_proof(&proof, request, err));
    CUZK_TRY(find_file(&file, path, &proof, CUZK_PARAM_FILE_VK, allow_test_key, err));
    cuzk_status status = open_vkey(ctx, vkey, &proof, file, allow_test_key, err);
    free(file);
    return status;
}

/* ---- proving keys ---------------------------------------------------------------------------- */

/* Map the parameters and check whose they are. */
static cuzk_status open_params(const cuzk_ctx *ctx, cuzk_filecoin_key *key, cuzk_params *file,
                               const cuzk_filecoin_key_params *o, cuzk_error *err)
{
    cuzk_vk vk = {0};
    CUZK_TRY(cuzk_input_open_file(&key->input, key->path, err));
    key->n_bytes = key->input.size;
    CUZK_FAIL_IF(key->n_bytes == 0, err, CUZK_E_TRUNCATED, "the file is empty");
    CUZK_TRY(cuzk_params_open(file, key->input.data, key->input.size, err));
    key->lg_domain = file->lg_domain;
    CUZK_TRY(cuzk_params_vk(&vk, file, ctx->pool, err));
    cuzk_status status =
        check_vk(ctx, &key->is_published, &vk, &key->proof, o->allow_test_key, err);
    cuzk_vk_clear(&vk);
    CUZK_TRY(status);
    return cuzk_api_test_key(file->is_test_key, o->allow_test_key, "key", err);
}

/* Make the prover of the parameters and the circuit, which are there. */
static cuzk_status open_prover(const cuzk_ctx *ctx, cuzk_filecoin_key *key, const cuzk_params *file,
                               const cuzk_filecoin_key_params *o, cuzk_error *err)
{
    cuzk_api_device_choose(&key->choice, ctx, o->device, key->shape->n_constraints, o->proves_once);
    bool is_cpu = strcmp(key->choice.name, "cpu") == 0;
    cuzk_prover_params params = {.drop_mapped_pages = o->proves_once,
                                 .decode_late = o->proves_once || o->device_decodes || !is_cpu,
                                 .device_decodes =
                                     o->device_decodes || (!is_cpu && !key->choice.is_auto),
                                 .drop_decoded_pages = o->proves_often};
    CUZK_TRY(cuzk_prover_create_params(&key->prover, file, key->shape, &params, ctx->pool, err));
    if (o->proves_often && !params.decode_late) {
        cuzk_input_close(&key->input);
    }
    return cuzk_api_device_open_chosen(&key->device, &key->pinned, &key->choice, ctx, key->prover,
                                       err);
}

cuzk_status cuzk_filecoin_key_make(const cuzk_ctx *ctx, cuzk_filecoin_key **out, const char *path,
                                   const cuzk_registered_proof *proof,
                                   const cuzk_filecoin_key_params *params, cuzk_error *err)
{
    cuzk_filecoin_key *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "opening a key: out of memory");
    }
    made->proof = *proof;
    made->path = copy;
    cuzk_params file;
    cuzk_status status = open_params(ctx, made, &file, params, err);
    bool has_params = status == CUZK_OK;
    if (has_params) {
        status = cuzk_circuit_get(&made->shape, proof->kind, proof->sector, params->circuits_folder,
                                  &params->reporter, ctx->pool, err);
    }
    bool is_about_circuit = has_params && status != CUZK_OK;
    if (status == CUZK_OK) {
        status = open_prover(ctx, made, &file, params, err);
    }
    if (status != CUZK_OK) {
        if (!is_about_circuit) {
            cuzk_error_prefix(err, "reading parameters \"%s\"", path);
        }
        cuzk_filecoin_key_close(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_key_open(const cuzk_ctx *ctx, cuzk_filecoin_key **key,
                                   const cuzk_filecoin_request *request,
                                   const cuzk_filecoin_key_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, request);
    cuzk_filecoin_key_options o = CUZK_FILECOIN_KEY_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_filecoin_key_options", err));
    CUZK_TRY(cuzk_api_device_check(o.device, err));
    cuzk_registered_proof proof;
    CUZK_TRY(cuzk_request_proof(&proof, request, err));
    char *path = NULL;
    CUZK_TRY(
        find_file(&path, o.params_path, &proof, CUZK_PARAM_FILE_PARAMS, o.allow_test_key, err));
    cuzk_filecoin_key_params params = {.circuits_folder = o.circuits_folder,
                                       .allow_test_key = o.allow_test_key,
                                       .proves_once = o.drop_pages,
                                       .device = o.device,
                                       .reporter = cuzk_api_reporter(o.progress, o.progress_user)};
    uint64_t begin_ns = cuzk_api_record_now();
    cuzk_status status = cuzk_filecoin_key_make(ctx, key, path, &proof, &params, err);
    cuzk_api_record_span(CUZK_SPAN_RESIDENT_LOAD, begin_ns, status == CUZK_OK ? (*key)->n_bytes : 0,
                         path, status);
    free(path);
    return status;
}

void cuzk_filecoin_key_close(cuzk_filecoin_key *key)
{
    if (key != NULL) {
        cuzk_api_device_close(key->device);
        cuzk_api_pinned_destroy(key->pinned);
        cuzk_prover_destroy(key->prover);
        cuzk_shape_destroy(key->shape);
        cuzk_input_close(&key->input);
        free(key->path);
        free(key);
    }
}

void cuzk_filecoin_key_get_info(cuzk_filecoin_key_info *info, const cuzk_filecoin_key *key)
{
    *info = (cuzk_filecoin_key_info){.path = key->path,
                                     .n_bytes = key->n_bytes,
                                     .n_constraints = key->shape->n_constraints,
                                     .n_vars = key->shape->n_vars,
                                     .lg_domain = key->lg_domain,
                                     .is_test_key = !key->is_published};
    memcpy(info->device, key->choice.name, sizeof info->device);
}
