/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's recording, of events that a test makes. */
#include "server/record.h"

#include "base/clock.h"
#include "timeline/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS = 10000 };

/* A restart with more jobs than a thread's ring has room for: each is in the file, with its id. */
static void many_jobs_come_back(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-record-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rec", folder);
    cuzk_engine_kind kinds[CUZK_KINDS_MAX] = {{.name = "none"}};
    const cuzk_record_options options = {
        .path = path, .limit_bytes = UINT64_C(1) << 30, .kinds = kinds};
    cuzk_record *record = NULL;
    cuzk_error err = {0};
    if (cuzk_record_start(&record, &options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    char id[32];
    for (uint64_t i = 0; i < JOBS; i++) {
        snprintf(id, sizeof id, "job-%u", (unsigned)i);
        cuzk_record_observe(record, &(cuzk_event){.id = CUZK_EVENT_RECOVERED,
                                                  .phase = CUZK_EVENT_INSTANT,
                                                  .ns = cuzk_now_ns(),
                                                  .job = i + 1,
                                                  .job_id = id,
                                                  .unit = -1,
                                                  .device = -1,
                                                  .worker = -1,
                                                  .n_units = 1});
    }
    cuzk_record_stop(record);
    cuzk_recording recording = {0};
    if (cuzk_recording_open(&recording, path, UINT64_C(1) << 30, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(recording.n_lost, 0);
    assert_int_equal(recording.n_spans, JOBS);
    bool *seen = calloc(JOBS + 1, sizeof *seen);
    assert_non_null(seen);
    for (size_t i = 0; i < recording.n_spans; i++) {
        const cuzk_timespan *s = &recording.spans[i];
        assert_int_equal(s->name, CUZK_SPAN_JOB_ACCEPTED);
        assert_in_range(s->job, 1, JOBS);
        assert_false(seen[s->job]);
        seen[s->job] = true;
        snprintf(id, sizeof id, "job-%u", (unsigned)s->job - 1);
        assert_string_equal(cuzk_recording_text(&recording, s->text), id);
    }
    free(seen);
    cuzk_recording_clear(&recording);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_jobs_come_back)};
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
