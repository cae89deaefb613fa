/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a client sends for the files that "cuzk gen-vanilla" writes. */
#ifndef CUZK_BENCH_BENCH_PAYLOAD_H
#define CUZK_BENCH_BENCH_PAYLOAD_H

#include "cuzk_filecoin.h"
#include "filecoin/param_manifest.h"

typedef struct {
    uint8_t *bytes; /* of the request */
    size_t n_bytes;
    unsigned kind, n_partitions;
    char circuit[CUZK_PARAM_CIRCUIT_MAX];
    const char *size;  /* "32GiB" */
    char vk_path[600]; /* of the verifying key in params_folder */
} bench_payload;

/** Read both files and make the request of them. Errors end the program. */
void bench_payload_init(bench_payload *out, cuzk_filecoin_kind kind, const char *vanilla_path,
                        const char *request_path, const char *params_folder);
void bench_payload_clear(bench_payload *payload);

#endif
