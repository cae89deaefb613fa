/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bench_payload.h"

#include "api/filecoin.h"
#include "base/map_file.h"
#include "base/read_file.h"
#include "bench_util.h"
#include "client/request.h"

void bench_payload_init(bench_payload *out, cuzk_filecoin_kind kind, const char *vanilla_path,
                        const char *request_path, const char *params_folder)
{
    cuzk_error err = {0};
    cuzk_filecoin_request *request = NULL;
    cuzk_map_file vanilla;
    char *json = NULL, *vk_path = NULL;
    size_t n_json = 0;
    check(cuzk_filecoin_request_create(&request, kind, &err), &err);
    check(cuzk_read_small_file(&json, &n_json, "request", request_path, &err), &err);
    check(cuzk_filecoin_request_read_json(request, json, n_json, &err), &err);
    check(cuzk_map_file_open(&vanilla, vanilla_path, &err), &err);
    cuzk_bytes file = {vanilla.data, (size_t)vanilla.size};
    check(cuzk_filecoin_request_add_vanilla(request, file.data, file.n_bytes, &err), &err);
    cuzk_client_job job;
    cuzk_registered_proof proof;
    check(cuzk_client_job_init(&job, request, &file, 1, &err), &err);
    check(cuzk_request_proof(&proof, request, &err), &err);
    *out = (bench_payload){.kind = (unsigned)kind, .n_partitions = job.n_partitions};
    out->size = proof.sector->name;
    cuzk_circuit_id(out->circuit, proof.kind, proof.sector);
    check(cuzk_filecoin_param_path(&vk_path, params_folder, proof.kind, proof.sector,
                                   CUZK_PARAM_FILE_VK, true, &err),
          &err);
    snprintf(out->vk_path, sizeof out->vk_path, "%s", vk_path);
    out->n_bytes = cuzk__v1__submit_proof_request__get_packed_size(&job.message);
    out->bytes = malloc(out->n_bytes);
    if (out->bytes == NULL) {
        check(CUZK_FAIL(&err, CUZK_E_MEMORY, "%zu bytes: out of memory", out->n_bytes), &err);
    }
    cuzk__v1__submit_proof_request__pack(&job.message, out->bytes);
    printf("# request: %zu bytes, of them %zu of vanilla proof; %u partitions\n", out->n_bytes,
           file.n_bytes, job.n_partitions);
    cuzk_client_job_clear(&job);
    cuzk_filecoin_request_destroy(request);
    cuzk_map_file_close(&vanilla);
    free(vk_path);
    free(json);
}

void bench_payload_clear(bench_payload *payload)
{
    free(payload->bytes);
    payload->bytes = NULL;
}
