/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/status_jobs.h"

#include "base/size_text.h"

#include <stdlib.h>

static int compare_queued(const void *a, const void *b)
{
    const cuzk_job_view *x = *(const cuzk_job_view *const *)a;
    const cuzk_job_view *y = *(const cuzk_job_view *const *)b;
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

const cuzk_job_view **cuzk_status_queued(const cuzk_engine_view *view, unsigned *n)
{
    const cuzk_job_view **queued = calloc(view->n_jobs + 1, sizeof *queued);
    *n = 0;
    for (unsigned i = 0; queued != NULL && i < view->n_jobs; i++) {
        if (view->jobs[i].state == CUZK_JOB_QUEUED) {
            queued[(*n)++] = &view->jobs[i];
        }
    }
    if (*n > 1) {
        qsort(queued, *n, sizeof *queued, compare_queued);
    }
    return queued;
}

const char *cuzk_wait_label(cuzk_wait_reason reason)
{
    static const char *const labels[] = {
        "", "job", "memory", "device_memory", "parameters", "threads", "lane", "payload", "device"};
    return labels[reason];
}

static void put_both(cuzk_text *out, const cuzk_wait_view *wait)
{
    cuzk_text_printf(out, "needs %s, %s of %s are free", cuzk_size_of(wait->needed_bytes).text,
                     cuzk_size_of(wait->free_bytes).text, cuzk_size_of(wait->cap_bytes).text);
}

void cuzk_wait_text(cuzk_text *out, const cuzk_wait_view *wait, const cuzk_engine_view *view)
{
    const char *name = wait->name != NULL ? wait->name : "";
    const char *device = wait->device < view->n_devices ? view->devices[wait->device].id : "";
    switch (wait->reason) {
    case CUZK_WAIT_NOTHING:
        break;
    case CUZK_WAIT_JOB:
        cuzk_text_printf(out, "its turn, behind job %s", name);
        break;
    case CUZK_WAIT_MEMORY:
        cuzk_text_put(out, "memory");
        if (wait->name != NULL) {
            cuzk_text_printf(out, " for the parameters of %s", name);
        }
        cuzk_text_put(out, ": ");
        put_both(out, wait);
        break;
    case CUZK_WAIT_DEVICE_MEMORY:
        cuzk_text_printf(out, "memory of %s: ", device);
        put_both(out, wait);
        break;
    case CUZK_WAIT_RESIDENT:
        cuzk_text_printf(out, "the parameters of %s, which are being loaded", name);
        break;
    case CUZK_WAIT_STAGE:
        cuzk_text_printf(out, "stage %s, which is full: %u at once", name, wait->n_threads);
        break;
    case CUZK_WAIT_LANE:
        cuzk_text_printf(out, "the lane of %s, which %s%s holds", device,
                         wait->name != NULL ? "job " : "a cancelled job", name);
        break;
    case CUZK_WAIT_PAYLOAD:
        cuzk_text_put(out, "its payload, which is read from the journal");
        if (wait->needed_bytes > 0) {
            cuzk_text_put(out, ": ");
            put_both(out, wait);
        }
        break;
    case CUZK_WAIT_DEVICE:
        cuzk_text_put(out, "a device: none is used");
        if (wait->needed_bytes > 0) {
            cuzk_text_printf(out, " that has %s of memory, at most %s",
                             cuzk_size_of(wait->needed_bytes).text,
                             cuzk_size_of(wait->cap_bytes).text);
        }
        break;
    }
}
