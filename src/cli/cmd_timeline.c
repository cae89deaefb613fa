/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk timeline, cuzk simulate: what a recording says; and recordings of this process. */
#include "cli/cli.h"

#include "cuzk_timeline.h"

#include <stdlib.h>
#include <string.h>

/* A number of seconds or milliseconds, up to 1e9, as nanoseconds. False after a usage message. */
static bool time_of(const cuzk_cli_args *args, uint64_t *out, const char *option, double unit_ns)
{
    const char *text = cuzk_cli_value(args, option);
    if (text == NULL) {
        return true;
    }
    char *end;
    double value = strtod(text, &end);
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != 0 || value > 1e9) {
        cuzk_cli_usage(args, "%s: \"%s\" is not a number from 0 to 1e9", option, text);
        return false;
    }
    *out = (uint64_t)(value * unit_ns);
    return true;
}

static bool count_of(const cuzk_cli_args *args, size_t *out, const char *option)
{
    const char *text = cuzk_cli_value(args, option);
    unsigned n;
    if (text == NULL) {
        return true;
    }
    if (!cuzk_cli_number(args, &n, option, text, 0, 1000000)) {
        return false;
    }
    *out = n;
    return true;
}

static bool read_options(const cuzk_cli_args *args, cuzk_timeline_options *o)
{
    if (!time_of(args, &o->gap_ns, "--gap", 1e6) || !time_of(args, &o->slice_ns, "--slice", 1e9) ||
        !time_of(args, &o->from_ns, "--from", 1e9) || !time_of(args, &o->to_ns, "--to", 1e9) ||
        !count_of(args, &o->n_gaps, "--gaps") || !count_of(args, &o->n_jobs, "--jobs")) {
        return false;
    }
    if (o->slice_ns == 0) {
        cuzk_cli_usage(args, "--slice: a slice is longer than 0 s");
        return false;
    }
    return true;
}

/* --import is a report of its own. False after a usage message. */
static bool check_import(const cuzk_cli_args *args)
{
    static const char *const others[] = {"--names", "--chrome", "--svg",  "--compare", "--gap",
                                         "--gaps",  "--jobs",   "--from", "--to",      "--slice"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (cuzk_cli_value(args, others[i]) != NULL) {
            cuzk_cli_usage(args, "--import: %s says nothing there", others[i]);
            return false;
        }
    }
    if (args->n_positional > 1) {
        cuzk_cli_usage(args, "--import: beside one recording");
        return false;
    }
    if (cuzk_cli_value(args, "--offset") != NULL && args->n_positional == 0) {
        cuzk_cli_usage(args, "--offset: behind which recording?");
        return false;
    }
    return true;
}

/* Seconds, of either sign and up to 1e9, as nanoseconds. False after a usage message. */
static bool offset_of(const cuzk_cli_args *args, cuzk_timeline_import_options *o)
{
    const char *text = cuzk_cli_value(args, "--offset");
    if (text == NULL) {
        return true;
    }
    char *end;
    double value = strtod(text, &end);
    if (strspn(text, "+-0123456789.") != strlen(text) || end == text || *end != 0 || value > 1e9 ||
        value < -1e9) {
        cuzk_cli_usage(args, "--offset: \"%s\" is not a number from -1e9 to 1e9", text);
        return false;
    }
    o->has_offset = true;
    o->offset_ns = (int64_t)(value * 1e9 + (value < 0 ? -0.5 : 0.5));
    return true;
}

static int import(cuzk_cli_args *args)
{
    cuzk_timeline_import_options options = CUZK_TIMELINE_IMPORT_OPTIONS_INIT;
    char *text;
    size_t n_bytes;
    options.as_json = args->json;
    if (!offset_of(args, &options)) {
        return CUZK_EXIT_USAGE;
    }
    if (cuzk_timeline_import(&text, &n_bytes, cuzk_cli_value(args, "--import"),
                             args->n_positional > 0 ? args->positional[0] : NULL, &options,
                             &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    fwrite(text, 1, n_bytes, stdout);
    cuzk_free(text);
    return CUZK_EXIT_OK;
}

/* What is asked for; false after a usage message. */
static bool read_format(const cuzk_cli_args *args, cuzk_timeline_format *format)
{
    bool names = cuzk_cli_value(args, "--names") != NULL;
    bool chrome = cuzk_cli_value(args, "--chrome") != NULL;
    bool picture = cuzk_cli_value(args, "--svg") != NULL;
    if (names + chrome + picture + args->json > 1) {
        cuzk_cli_usage(args, "--names, --chrome, --svg and --json are forms of output: give one");
        return false;
    }
    if (cuzk_cli_value(args, "--compare") != NULL && names + chrome + picture > 0) {
        cuzk_cli_usage(args, "--compare prints text or JSON");
        return false;
    }
    if (cuzk_cli_value(args, "--compare") != NULL && args->n_positional > 1) {
        cuzk_cli_usage(args, "--compare: of one recording with another");
        return false;
    }
    if (cuzk_cli_value(args, "--import") != NULL && !check_import(args)) {
        return false;
    }
    if (cuzk_cli_value(args, "--import") != NULL) {
        *format = args->json ? CUZK_TIMELINE_JSON : CUZK_TIMELINE_TEXT;
        return true;
    }
    if (cuzk_cli_value(args, "--offset") != NULL) {
        cuzk_cli_usage(args, "--offset goes with --import");
        return false;
    }
    if (names != (args->n_positional == 0)) {
        cuzk_cli_usage(args, names ? "--names takes no recording" : "which recording?");
        return false;
    }
    *format = names        ? CUZK_TIMELINE_NAMES
              : chrome     ? CUZK_TIMELINE_CHROME
              : picture    ? CUZK_TIMELINE_PICTURE
              : args->json ? CUZK_TIMELINE_JSON
                           : CUZK_TIMELINE_TEXT;
    return true;
}

static cuzk_status report(cuzk_cli_args *args, char **text, size_t *n_bytes,
                          cuzk_timeline_format format, const cuzk_timeline_options *options)
{
    const char *after = cuzk_cli_value(args, "--compare");
    const char *path = format == CUZK_TIMELINE_NAMES ? NULL : args->positional[0];
    if (after != NULL) {
        return cuzk_timeline_compare(text, n_bytes, path, after, args->json, &args->err);
    }
    return cuzk_timeline_report(text, n_bytes, path, format, options, &args->err);
}

int cuzk_cli_timeline(cuzk_cli_args *args)
{
    cuzk_timeline_options options = CUZK_TIMELINE_OPTIONS_INIT;
    cuzk_timeline_format format;
    char *text;
    size_t n_bytes;
    if (!read_options(args, &options) || !read_format(args, &format)) {
        return CUZK_EXIT_USAGE;
    }
    if (cuzk_cli_value(args, "--import") != NULL) {
        return import(args);
    }
    options.next_path = args->n_positional > 1 ? args->positional[1] : NULL;
    if (report(args, &text, &n_bytes, format, &options) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    fwrite(text, 1, n_bytes, stdout); /* cuzk_cli_close_stdout sees what went wrong */
    cuzk_free(text);
    return CUZK_EXIT_OK;
}

int cuzk_cli_simulate(cuzk_cli_args *args)
{
    cuzk_timeline_machine machine = CUZK_TIMELINE_MACHINE_INIT;
    const struct {
        const char *option;
        unsigned *number;
    } numbers[] = {
        {"--devices", &machine.n_devices},         {"--workers", &machine.n_workers},
        {"--witness-threads", &machine.n_witness}, {"--finishers", &machine.n_finishers},
        {"--verifiers", &machine.n_verifiers},     {"--cores", &machine.n_cores},
        {"--copies", &machine.n_copies},           {"--roots", &machine.n_roots},
        {"--memory-rate", &machine.memory_gb_s},   {"--repeat", &machine.n_repeats},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = cuzk_cli_value(args, numbers[i].option);
        if (text != NULL &&
            !cuzk_cli_number(args, numbers[i].number, numbers[i].option, text, 1, 10000)) {
            return CUZK_EXIT_USAGE;
        }
    }
    if (!cuzk_cli_memory_size(args, &machine.memory_bytes, "--memory")) {
        return CUZK_EXIT_USAGE;
    }
    machine.durations = cuzk_cli_value(args, "--durations");
    machine.is_backlog = cuzk_cli_value(args, "--backlog") != NULL;
    if (machine.n_repeats != 0 && !machine.is_backlog) {
        return cuzk_cli_usage(args, "--repeat goes with --backlog");
    }
    machine.as_json = args->json;
    char *text;
    size_t n_bytes;
    if (cuzk_timeline_simulate(&text, &n_bytes, args->positional[0], &machine, &args->err) !=
        CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    fwrite(text, 1, n_bytes, stdout);
    cuzk_free(text);
    return CUZK_EXIT_OK;
}

bool cuzk_cli_timeline_begin(cuzk_cli_args *args)
{
    const char *path = cuzk_cli_value(args, "--timeline");
    args->has_timeline = path != NULL && cuzk_timeline_record(path, &args->err) == CUZK_OK;
    return path == NULL || args->has_timeline;
}

int cuzk_cli_timeline_end(const cuzk_cli_args *args, int code)
{
    cuzk_error err;
    if (!args->has_timeline || cuzk_timeline_record_end(&err) == CUZK_OK) {
        return code;
    }
    cuzk_cli_one_line(err.text);
    fprintf(stderr, "cuzk %s: %s\n", args->command->name, err.text);
    return code == CUZK_EXIT_OK ? CUZK_EXIT_FAILED : code;
}
