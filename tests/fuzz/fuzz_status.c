/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a daemon's HTTP port tells at /status, read by its client. */
#include "client/status_read.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_status_view view;
    cuzk_error err = {0};
    cuzk_status status = cuzk_status_read(&view, (const char *)data, size, &err);
    CUZK_FUZZ_CHECK((status == CUZK_OK) == (err.text[0] == 0));
    CUZK_FUZZ_CHECK(status == CUZK_OK || (view.jobs == NULL && view.n_jobs == 0));
    CUZK_FUZZ_CHECK(view.n_jobs <= CUZK_STATUS_ITEMS_MAX && view.n_jobs <= size);
    for (size_t i = 0; i < view.n_jobs; i++) {
        const cuzk_status_job *job = &view.jobs[i];
        CUZK_FUZZ_CHECK(strlen(job->job_id) + strlen(job->kind) + strlen(job->state) <= size + 6);
        CUZK_FUZZ_CHECK(strlen(job->partitions) <= size);
    }
    for (size_t i = 0; i < view.n_workers; i++) {
        CUZK_FUZZ_CHECK(view.workers[i].partition >= -1 && strlen(view.workers[i].job_id) <= size);
    }
    for (size_t i = 0; i < view.n_residents; i++) {
        CUZK_FUZZ_CHECK(strlen(view.residents[i].circuit_id) <= size);
    }
    cuzk_status_view_clear(&view);
}
