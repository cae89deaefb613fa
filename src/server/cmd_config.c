/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `cuzk config`: check, print, explain; and the texts that are made from the table. */
#include "server/commands.h"
#include "server/config_try.h"
#include "server/options.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static void print_help(void)
{
    printf("usage: cuzk config check [FILE] | print | explain [KEY] | example | manual [options]\n"
           "\nThe daemon's configuration.\n\n"
           "  check [FILE]    say what is wrong in it (exit code 1), and what deserves a warning\n"
           "  print           what is in force, as a file, with where each value comes from\n"
           "  explain [KEY]   what a key means, or all of a section; without one, all keys\n"
           "  example         the example file, every key with its default\n"
           "  manual          the same as a page (docs/configuration.md)\n\noptions:\n");
    cuzk_options_print_help();
    printf("\nexit codes: 0 success, 1 invalid or failed, 2 usage\n");
}

static int usage(const char *text)
{
    fprintf(stderr, "cuzk config: %s (see \"cuzk config --help\")\n", text);
    return EXIT_USAGE;
}

/* Each line of a report as "cuzk config: LEVEL: LINE". */
static void print_lines(const cuzk_text *text, const char *level)
{
    for (const char *p = text->data; p != NULL && *p != 0;) {
        size_t n = strcspn(p, "\n");
        fprintf(stderr, "cuzk config: %s: %.*s\n", level, (int)n, p);
        p += n + (p[n] != 0);
    }
}

static int load(cuzk_config **config, const cuzk_options *options, size_t *n_warnings)
{
    cuzk_config_report report = {0};
    cuzk_config_sources sources = cuzk_options_sources(options);
    cuzk_error err = {0};
    cuzk_status status = cuzk_config_load(config, &report, &sources, &err);
    print_lines(&report.warnings, "warning");
    print_lines(&report.errors, "error");
    if (status != CUZK_OK && report.n_errors == 0) {
        fprintf(stderr, "cuzk config: error: %s\n", err.text);
    }
    *n_warnings = report.n_warnings;
    cuzk_config_report_clear(&report);
    return status == CUZK_OK ? EXIT_OK : EXIT_FAILED;
}

/* What shows only where the daemon would run. */
static int try(const cuzk_config *config, size_t n_warnings)
{
    cuzk_config_report report = {0};
    cuzk_error err = {0};
    cuzk_config_look_for_files(config, &report);
    cuzk_status status = cuzk_config_try(config, &report, &err);
    print_lines(&report.warnings, "warning");
    print_lines(&report.errors, "error");
    n_warnings += report.n_warnings;
    bool ok = status == CUZK_OK && report.n_errors == 0;
    if (status != CUZK_OK) {
        fprintf(stderr, "cuzk config: error: %s\n", err.text);
    }
    cuzk_config_report_clear(&report);
    if (ok) {
        printf("%s: ok%s\n", config->path != NULL ? config->path : "defaults",
               n_warnings > 0 ? ", with warnings" : "");
    }
    return ok ? EXIT_OK : EXIT_FAILED;
}

static int check(cuzk_options *options)
{
    if (options->n_words > 2) {
        return usage("check: too many arguments");
    }
    if (options->n_words == 2) {
        if (options->path != NULL) {
            return usage("check: the file is given twice");
        }
        options->path = options->words[1];
    }
    cuzk_config *config = NULL;
    size_t n_warnings;
    int code = load(&config, options, &n_warnings);
    if (code == EXIT_OK) {
        code = try(config, n_warnings);
    }
    cuzk_config_destroy(config);
    return code;
}

static int put(cuzk_text *text)
{
    if (text->failed || fwrite(text->data, 1, text->size, stdout) != text->size ||
        fflush(stdout) != 0) {
        fprintf(stderr, "cuzk config: error: the result cannot be written\n");
        cuzk_text_clear(text);
        return EXIT_FAILED;
    }
    cuzk_text_clear(text);
    return EXIT_OK;
}

static int print(const cuzk_options *options)
{
    cuzk_config *config = NULL;
    size_t n_warnings;
    int code = load(&config, options, &n_warnings);
    if (code == EXIT_OK) {
        cuzk_text text = {0};
        cuzk_config_print(&text, config);
        code = put(&text);
    }
    cuzk_config_destroy(config);
    return code;
}

/* All keys of a section, or with "" of all sections. Whether there are any. */
static bool explain_section(cuzk_text *text, const char *section)
{
    size_t n, length = strlen(section);
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        bool is_in = length == 0 ||
                     (strncmp(keys[i].key, section, length) == 0 && keys[i].key[length] == '.');
        if (is_in) {
            cuzk_text_put(text, text->size > 0 ? "\n" : "");
            cuzk_config_explain(text, keys[i].key);
        }
    }
    return text->size > 0;
}

static int explain(const cuzk_options *options)
{
    cuzk_text text = {0};
    if (options->n_words > 2) {
        return usage("explain: too many arguments");
    }
    const char *key = options->n_words == 2 ? options->words[1] : "";
    if (explain_section(&text, key) || cuzk_config_explain(&text, key)) {
        return put(&text);
    }
    const char *nearest = cuzk_config_nearest(key);
    fprintf(stderr, "cuzk config explain: \"%.100s\": there is no such key%s%s\n", key,
            nearest != NULL ? "; the nearest is " : "", nearest != NULL ? nearest : "");
    return EXIT_USAGE;
}

static int run(cuzk_options *options)
{
    const char *word = options->n_words > 0 ? options->words[0] : "";
    cuzk_text text = {0};
    if (strcmp(word, "check") == 0) {
        return check(options);
    }
    if (strcmp(word, "explain") == 0) {
        return explain(options);
    }
    if (options->n_words > 1) {
        return usage("too many arguments");
    }
    if (strcmp(word, "print") == 0) {
        return print(options);
    }
    if (strcmp(word, "example") == 0) {
        cuzk_config_write_example(&text);
        return put(&text);
    }
    if (strcmp(word, "manual") == 0) {
        cuzk_config_write_manual(&text);
        return put(&text);
    }
    return usage("expected check, print, explain, example or manual");
}

int cuzk_cmd_config(int argc, char **argv)
{
    static cuzk_options options;
    int code = EXIT_USAGE;
    if (cuzk_options_parse(&options, argc, argv)) {
        if (options.help) {
            print_help();
            code = EXIT_OK;
        } else {
            code = run(&options);
        }
    }
    cuzk_options_clear(&options);
    return code;
}
