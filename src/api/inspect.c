/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports on files: the formats layer's inspection behind cuzk.h's callback. */
#include "api/api.h"

#include "formats/inspect.h"

_Static_assert((int)CUZK_REPORT_FACT == (int)CUZK_INSPECT_FACT, "same values");
_Static_assert((int)CUZK_REPORT_NOTE == (int)CUZK_INSPECT_NOTE, "same values");
_Static_assert((int)CUZK_REPORT_WARNING == (int)CUZK_INSPECT_WARNING, "same values");
_Static_assert((int)CUZK_REPORT_ERROR == (int)CUZK_INSPECT_ERROR, "same values");

struct sink {
    cuzk_report report;
    void *user;
};

static void pass_on(void *user, cuzk_inspect_kind kind, const char *name, const char *value,
                    bool is_number)
{
    const struct sink *sink = user;
    sink->report(sink->user, (cuzk_report_kind)kind, name, value, is_number);
}

static cuzk_status report_file(const char *path, const cuzk_inspect_options *options,
                               cuzk_report report, void *user, cuzk_error *err)
{
    cuzk_input input;
    CUZK_TRY(cuzk_input_open_file(&input, path, err));
    struct sink sink = {report, user};
    cuzk_status status = cuzk_inspect(input.data, input.size, options, pass_on, &sink, err);
    cuzk_input_close(&input);
    if (status != CUZK_E_CANCELLED) {
        cuzk_error_prefix(err, "\"%s\"", path);
    }
    return status;
}

cuzk_status cuzk_inspect_file(const cuzk_ctx *ctx, const char *path, cuzk_report report, void *user,
                              cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, path);
    CUZK_API_NOT_NULL(err, report);
    cuzk_inspect_options options = {.pool = ctx->pool};
    return report_file(path, &options, report, user, err);
}

cuzk_status cuzk_check_file(const cuzk_ctx *ctx, const char *path, cuzk_report report, void *user,
                            cuzk_progress progress, void *progress_user, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, path);
    CUZK_API_NOT_NULL(err, report);
    cuzk_reporter reporter = cuzk_api_reporter(progress, progress_user);
    cuzk_inspect_options options = {.deep = true, .pool = ctx->pool, .reporter = &reporter};
    return report_file(path, &options, report, user, err);
}
