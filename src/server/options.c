/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The command line of `serve` and `config`. */
#define _GNU_SOURCE
#include "server/options.h"

#include "server/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *alias;
    const char *key; /* that it sets; NULL: config, set */
    const char *value, *help;
} known[] = {
    {"--config", "-c", NULL, "FILE", "the configuration (default: " CUZK_CONFIG_PATH ")"},
    {"--set", NULL, NULL, "KEY=VALUE", "any key: --set memory.total_budget=64GiB"},
    {"--listen", "-l", "daemon.listen", "ADDRESS", "where gRPC is served: unix:///PATH, IP:PORT"},
    {"--status-listen", NULL, "daemon.status_listen", "IP:PORT", "the HTTP port"},
    {"--journal", NULL, "journal.path", "FILE", "the journal; \"none\": no journal"},
    {"--record", NULL, "recording.path", "FILE", "record what happens when, for cuzk timeline"},
    {"--log-level", NULL, "logging.level", "LEVEL", "error, warn, info, debug"},
};

enum { N_KNOWN = sizeof known / sizeof known[0] };

static bool usage(char *const *argv, const char *text, const char *what)
{
    fprintf(stderr, "cuzk %s: %s: %s (see \"cuzk %s --help\")\n", argv[1], what, text, argv[1]);
    return false;
}

static bool take(cuzk_options *o, char *const *argv, size_t i, const char *value)
{
    if (i == 0) {
        o->path = value;
        return true;
    }
    if (o->n_flags == CUZK_OPTIONS_FLAGS_MAX) {
        return usage(argv, "too many of them", known[i].name);
    }
    size_t n = o->n_flags;
    o->flag_names[n] = known[i].name;
    if (known[i].key != NULL) {
        cuzk_text_printf(&o->made[n], "%s=%s", known[i].key, value);
        if (o->made[n].failed) {
            return usage(argv, "out of memory", known[i].name);
        }
        value = o->made[n].data;
    }
    o->flags[n] = value;
    o->n_flags++;
    return true;
}

/* One word at argv[*at] that begins with '-'; *at moves over its value. */
static bool parse_flag(cuzk_options *o, int argc, char *const *argv, int *at)
{
    const char *word = argv[*at];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        o->help = true;
        return true;
    }
    for (size_t i = 0; i < N_KNOWN; i++) {
        size_t n = strlen(known[i].name);
        if (strncmp(word, known[i].name, n) == 0 && word[n] == '=') {
            return take(o, argv, i, word + n + 1);
        }
        if (strcmp(word, known[i].name) == 0 ||
            (known[i].alias != NULL && strcmp(word, known[i].alias) == 0)) {
            if (*at + 1 >= argc) {
                return usage(argv, "needs a value", word);
            }
            return take(o, argv, i, argv[++*at]);
        }
    }
    return usage(argv, "unknown option", word);
}

bool cuzk_options_parse(cuzk_options *options, int argc, char *const *argv)
{
    memset(options, 0, sizeof *options);
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != 0) {
            if (!parse_flag(options, argc, argv, &i)) {
                return false;
            }
        } else if (options->n_words == CUZK_OPTIONS_WORDS_MAX) {
            return usage(argv, "too many arguments", argv[i]);
        } else {
            options->words[options->n_words++] = argv[i];
        }
    }
    return true;
}

void cuzk_options_clear(cuzk_options *options)
{
    for (size_t i = 0; i < CUZK_OPTIONS_FLAGS_MAX; i++) {
        cuzk_text_clear(&options->made[i]);
    }
}

void cuzk_options_print_help(void)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s %s", known[i].alias != NULL ? known[i].alias : "",
                 known[i].alias != NULL ? ", " : "", known[i].name, known[i].value);
        printf("  %-26s %s\n", left, known[i].help);
    }
    printf("  %-26s %s\n", "-h, --help", "this text");
}

cuzk_config_sources cuzk_options_sources(const cuzk_options *options)
{
    return (cuzk_config_sources){.path = options->path,
                                 .environment = environ,
                                 .flags = options->flags,
                                 .flag_names = options->flag_names,
                                 .allow_test = cuzk_the_program.is_test};
}
