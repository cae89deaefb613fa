/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parsing of the command line against the table of commands. */
#include "cli/cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *cuzk_cli_value(const cuzk_cli_args *args, const char *name)
{
    const cuzk_cli_option *options = args->command->options;
    for (unsigned i = 0; options != NULL && options[i].name != NULL; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return args->values[i];
        }
    }
    fprintf(stderr, "cuzk: internal: command %s has no option %s\n", args->command->name, name);
    abort();
}

/* --json was given somewhere: known before the arguments are understood. */
static bool wants_json;

int cuzk_cli_usage(const cuzk_cli_args *args, const char *fmt, ...)
{
    const char *command = args != NULL && args->command != NULL ? args->command->name : NULL;
    char text[CUZK_ERROR_TEXT_MAX];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    cuzk_cli_one_line(text);
    fprintf(stderr, "cuzk%s%s: %s (see \"cuzk help%s%s\")\n", command != NULL ? " " : "",
            command != NULL ? command : "", text, command != NULL ? " " : "",
            command != NULL ? command : "");
    if (wants_json) {
        cuzk_cli_json_failure(CUZK_E_ARGUMENT, text);
    }
    return CUZK_EXIT_USAGE;
}

bool cuzk_cli_is_dash(const cuzk_cli_args *args, const char *output)
{
    bool is_dash = output != NULL && strcmp(output, "-") == 0;
    if (is_dash) {
        cuzk_cli_usage(args, "\"-\" is not taken as a name for an output: /dev/stdout is the "
                             "standard output, ./- a file of that name");
    }
    return is_dash;
}

bool cuzk_cli_number(const cuzk_cli_args *args, unsigned *out, const char *option, const char *text,
                     unsigned lo, unsigned hi)
{
    size_t n = strlen(text);
    bool ok = n > 0 && n <= 9 && strspn(text, "0123456789") == n;
    unsigned long value = ok ? strtoul(text, NULL, 10) : 0;
    if (!ok || value < lo || value > hi) {
        cuzk_cli_usage(args, "%s: \"%s\" is not a number from %u to %u", option, text, lo, hi);
        return false;
    }
    *out = (unsigned)value;
    return true;
}

/* Whether argument `text` is option `o`, and the value after a '=' if it has one. */
static bool matches(const cuzk_cli_option *o, const char *text, const char **attached)
{
    *attached = NULL;
    if (o->alias != NULL && strcmp(text, o->alias) == 0) {
        return true;
    }
    size_t n = strlen(o->name);
    if (strncmp(text, o->name, n) != 0) {
        return false;
    }
    if (text[n] == '=') {
        *attached = text + n + 1;
        return true;
    }
    return text[n] == '\0';
}

static const cuzk_cli_option *find_option(const cuzk_cli_option *options, const char *text,
                                          const char **attached)
{
    for (const cuzk_cli_option *o = options; o != NULL && o->name != NULL; o++) {
        if (matches(o, text, attached)) {
            return o;
        }
    }
    return NULL;
}

/* Whether some command has the option; then it stands in the wrong place, before the command. */
static bool is_of_some_command(const char *text)
{
    const char *attached;
    for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL; c++) {
        if (find_option(c->options, text, &attached) != NULL) {
            return true;
        }
    }
    return false;
}

static int unknown_option(const cuzk_cli_args *args, const char *text)
{
    const char *names[2 * CUZK_CLI_OPTIONS_MAX + 1] = {NULL};
    size_t n = 0;
    if (args->command == NULL && is_of_some_command(text)) {
        return cuzk_cli_usage(args, "\"%s\": belongs behind the command", text);
    }
    const cuzk_cli_option *lists[2] = {args->command != NULL ? args->command->options : NULL,
                                       cuzk_cli_common_options};
    for (int i = 0; i < 2; i++) {
        for (const cuzk_cli_option *o = lists[i]; o != NULL && o->name != NULL; o++) {
            names[n++] = o->name;
        }
    }
    const char *nearest = cuzk_cli_nearest(text, names);
    if (nearest != NULL) {
        return cuzk_cli_usage(args, "\"%s\": unknown option; did you mean \"%s\"?", text, nearest);
    }
    return cuzk_cli_usage(args, "\"%s\": unknown option", text);
}

static int set_common(cuzk_cli_args *args, const cuzk_cli_option *o, const char *value, bool *help)
{
    enum { THREADS_MAX = 1024 };
    switch (o - cuzk_cli_common_options) {
    case 0:
        return cuzk_cli_number(args, &args->n_threads, o->name, value, 1, THREADS_MAX)
                   ? CUZK_EXIT_OK
                   : CUZK_EXIT_USAGE;
    case 1:
        args->json = true;
        break;
    case 2:
        args->quiet = true;
        break;
    case 3:
        args->progress = true;
        break;
    case 4:
        args->verbose = true;
        break;
    default:
        *help = true;
        break;
    }
    return CUZK_EXIT_OK;
}

/* One option at argv[*i]; *i moves over its value. */
static int parse_option(cuzk_cli_args *args, int argc, const char *const *argv, int *i, bool *help)
{
    const char *text = argv[*i];
    const char *attached;
    const cuzk_cli_option *own =
        find_option(args->command != NULL ? args->command->options : NULL, text, &attached);
    const cuzk_cli_option *o =
        own != NULL ? own : find_option(cuzk_cli_common_options, text, &attached);
    if (o == NULL) {
        return unknown_option(args, text);
    }
    const char *value = "";
    if (o->value == NULL) {
        if (attached != NULL) {
            return cuzk_cli_usage(args, "%s: takes no value", o->name);
        }
    } else if (attached != NULL) {
        value = attached;
    } else {
        if (*i + 1 >= argc) {
            return cuzk_cli_usage(args, "%s: needs a value (%s)", o->name, o->value);
        }
        value = argv[++*i];
    }
    if (own == NULL) {
        return set_common(args, o, value, help);
    }
    const char **slot = &args->values[own - args->command->options];
    if (*slot != NULL) {
        return cuzk_cli_usage(args, "%s: given twice", o->name);
    }
    *slot = value;
    return CUZK_EXIT_OK;
}

/* The command that argv[*i] names, or two words together; *i moves over the second. "--version" is
 * the one option that is a command. */
static int take_command(cuzk_cli_args *args, int argc, const char *const *argv, int *i)
{
    const char *word = argv[*i];
    if (*i + 1 < argc) {
        args->command = cuzk_cli_find_command_of_two(word, argv[*i + 1]);
    }
    if (args->command != NULL) {
        (*i)++;
        return CUZK_EXIT_OK;
    }
    args->command = cuzk_cli_find_command(strcmp(word, "--version") == 0 ? "version" : word);
    return args->command != NULL ? CUZK_EXIT_OK : cuzk_cli_unknown_command(word);
}

/* Whether the command line is cuzk-server's: the command is, or an option makes it so. */
static bool is_of_server(const cuzk_cli_command *c, int argc, const char *const *argv)
{
    if (c->run == cuzk_cli_exec_server) {
        return true;
    }
    size_t n = c->server_option != NULL ? strlen(c->server_option) : 0;
    for (int i = 1; n > 0 && i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], c->server_option, n) == 0 &&
            (argv[i][n] == '\0' || argv[i][n] == '=')) {
            return true;
        }
    }
    return false;
}

/* positional: room for argc words. */
static int parse(cuzk_cli_args *args, int argc, const char *const *argv, const char **positional,
                 bool *help)
{
    bool options_over = false;
    int code = CUZK_EXIT_OK;
    for (int i = 1; i < argc && code == CUZK_EXIT_OK; i++) {
        const char *text = argv[i];
        bool is_option = !options_over && text[0] == '-' && text[1] != '\0';
        if (is_option && strcmp(text, "--") == 0) {
            options_over = true;
        } else if (args->command == NULL && (!is_option || strcmp(text, "--version") == 0)) {
            code = take_command(args, argc, argv, &i);
            if (code == CUZK_EXIT_OK && is_of_server(args->command, argc, argv)) {
                args->json |= wants_json;
                return cuzk_cli_exec_server(args);
            }
        } else if (is_option) {
            code = parse_option(args, argc, argv, &i, help);
        } else {
            positional[args->n_positional++] = text;
        }
    }
    return code;
}

/* Files of the command line that may be mapped; those to be written do no harm. */
static void watch_inputs(const cuzk_cli_args *args)
{
    enum { PATHS_MAX = 8 };
    const char *paths[PATHS_MAX];
    size_t n = 0;
    const cuzk_cli_option *options = args->command->options;
    for (unsigned i = 0; options != NULL && options[i].name != NULL && n < PATHS_MAX; i++) {
        if (options[i].value != NULL && strcmp(options[i].value, "FILE") == 0) {
            paths[n++] = args->values[i];
        }
    }
    for (unsigned i = 0; i < args->n_positional && n < PATHS_MAX; i++) {
        paths[n++] = args->positional[i];
    }
    char prefix[64];
    snprintf(prefix, sizeof prefix, "cuzk %s: ", args->command->name);
    cuzk_cli_watch_inputs(prefix, paths, n, args->json);
}

static int run(cuzk_cli_args *args, bool help)
{
    const cuzk_cli_command *c = args->command;
    if (c == NULL && !help) {
        return cuzk_cli_usage(NULL, "no command given");
    }
    if (c == NULL) {
        cuzk_cli_print_help(args->json);
        return CUZK_EXIT_OK;
    }
    if (help) {
        cuzk_cli_print_command_help(c, args->json);
        return CUZK_EXIT_OK;
    }
    if (args->n_positional < c->n_args_min || args->n_positional > c->n_args_max) {
        return cuzk_cli_usage(args, "%s arguments, expected: cuzk %s%s%s",
                              args->n_positional < c->n_args_min ? "too few" : "too many", c->name,
                              c->args[0] != '\0' ? " " : "", c->args);
    }
    watch_inputs(args);
    args->result_elsewhere = c->result_elsewhere;
    if (args->result_elsewhere != NULL) {
        signal(SIGPIPE, SIG_IGN); /* a reader of stdout that has gone is no reason to stop */
    }
    return c->run(args);
}

int cuzk_cli_main(int argc, const char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        wants_json |= strcmp(argv[i], "--json") == 0;
    }
    cuzk_cli_args args = {.argv = argv, .begin_ns = cuzk_cli_now_ns()};
    const char **positional = calloc((size_t)argc + 1, sizeof *positional);
    if (positional == NULL) {
        fputs("cuzk: out of memory\n", stderr);
        return CUZK_EXIT_FAILED;
    }
    args.positional = positional;
    bool help = false;
    int code = parse(&args, argc, argv, positional, &help);
    if (code == CUZK_EXIT_OK) {
        code = run(&args, help);
    }
    code = cuzk_cli_close_stdout(&args, code);
    free(positional);
    return code;
}
