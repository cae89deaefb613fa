/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The whole way from a SubmitProofRequest's bytes to a checked task. */
#include "fuzz.h"
#include "api/circuit_counts.h"
#include "work/filecoin_decode.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_filecoin_decoded *decoded = NULL;
    cuzk_error err = {0};
    if (cuzk_filecoin_decode(&decoded, data, size, NULL, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && decoded == NULL);
        return;
    }
    const cuzk_filecoin_job *job = &decoded->task.job;
    CUZK_FUZZ_CHECK(job->n_partitions > 0 && job->n_partitions <= 4096);
    CUZK_FUZZ_CHECK(cuzk_filecoin_task_bytes(&decoded->task) <= 2 * size + (1 << 20));
    cuzk_filecoin_decoded_destroy(decoded);
}
