/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/report.h"

static const char *track_word(cuzk_track track)
{
    switch (track) {
    case CUZK_TRACK_JOB:
        return "job";
    case CUZK_TRACK_UNIT:
        return "partition";
    case CUZK_TRACK_THREAD:
        return "thread";
    case CUZK_TRACK_WORKER:
        return "worker of a device";
    case CUZK_TRACK_DEVICE:
        break;
    }
    return "device";
}

void cuzk_report_put_names(cuzk_text *text)
{
    cuzk_text_put(text, "| span | of a | clock | begins when | ends when | contains | value |\n"
                        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < CUZK_SPAN_NAMES; i++) {
        const cuzk_span_about *about = cuzk_span_about_of((cuzk_span_name)i);
        cuzk_text_printf(
            text, "| `%s` | %s | %s | %s | %s | %s | %s |\n", about->name, track_word(about->track),
            about->clock == CUZK_CLOCK_HOST ? "host" : "device", about->begins,
            about->is_instant ? "(an instant)" : about->ends, about->contains, about->value);
    }
    cuzk_text_put(text, "\n| cause | no kernel ran because |\n| --- | --- |\n");
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        cuzk_text_printf(text, "| `%s` | %s |\n", cuzk_cause_name((cuzk_cause)c),
                         cuzk_cause_sentence((cuzk_cause)c));
    }
}
