/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the table of commands is good for beside parsing: looking commands up, help, and suggestions
 * for misspelt words (edit distance). */
#include "cli/cli.h"

#include <string.h>

const cuzk_cli_option cuzk_cli_common_options[] = {
    {"--threads", "-t", "N", "threads to use (default: one per processor this process may use)"},
    {"--json", NULL, NULL, "print the result as one JSON object on stdout"},
    {"--quiet", "-q", NULL, "print nothing but errors"},
    {"--progress", NULL, NULL, "one line per stage on stderr, also when it is not a terminal"},
    {"--verbose", "-v", NULL, "more facts; errors with status name and source position"},
    {"--help", "-h", NULL, "help on this command"},
    {NULL, NULL, NULL, NULL},
};

/* Levenshtein distance of two short words, at most `limit` + 1. */
static unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
    enum { WORD_MAX = 31 };
    size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a > WORD_MAX || n_b > WORD_MAX) {
        return limit + 1;
    }
    unsigned row[WORD_MAX + 1];
    for (size_t j = 0; j <= n_b; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[n_b];
}

const char *cuzk_cli_nearest(const char *word, const char *const *list)
{
    size_t n = strlen(word);
    unsigned limit = n <= 3 ? 1 : n <= 6 ? 2 : 3;
    const char *nearest = NULL;
    for (; *list != NULL; list++) {
        unsigned d = edit_distance(word, *list, limit);
        if (d <= limit) {
            limit = d == 0 ? 0 : d - 1;
            nearest = *list;
        }
    }
    return nearest;
}

const cuzk_cli_command *cuzk_cli_find_command(const char *name)
{
    for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

const cuzk_cli_command *cuzk_cli_find_command_of_two(const char *first, const char *second)
{
    size_t n = strlen(first);
    for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL; c++) {
        if (strncmp(c->name, first, n) == 0 && c->name[n] == ' ' &&
            strcmp(c->name + n + 1, second) == 0) {
            return c;
        }
    }
    return NULL;
}

int cuzk_cli_unknown_command(const char *word)
{
    enum { COMMANDS_MAX = 64 };
    const char *names[COMMANDS_MAX + 1] = {NULL};
    size_t n = 0;
    for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL && n < COMMANDS_MAX; c++) {
        names[n++] = c->name;
    }
    const char *nearest = cuzk_cli_nearest(word, names);
    if (nearest != NULL) {
        return cuzk_cli_usage(NULL, "\"%s\": unknown command; did you mean \"%s\"?", word, nearest);
    }
    return cuzk_cli_usage(NULL, "\"%s\": unknown command", word);
}

static void print_options(const cuzk_cli_option *options)
{
    for (const cuzk_cli_option *o = options; o != NULL && o->name != NULL; o++) {
        int n =
            printf("  %s%s%s%s%s", o->alias != NULL ? o->alias : "", o->alias != NULL ? ", " : "",
                   o->name, o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
        printf("%*s %s\n", n < 26 ? 26 - n : 0, "", o->help);
    }
}

/* Options as an array of objects. */
static void json_options(cuzk_cli_json *json, const char *key, const cuzk_cli_option *options)
{
    cuzk_cli_json_open(json, key, '[');
    for (const cuzk_cli_option *o = options; o != NULL && o->name != NULL; o++) {
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_text(json, "name", o->name);
        if (o->alias != NULL) {
            cuzk_cli_json_text(json, "alias", o->alias);
        }
        if (o->value != NULL) {
            cuzk_cli_json_text(json, "value", o->value);
        }
        cuzk_cli_json_text(json, "help", o->help);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

static void json_command(cuzk_cli_json *json, const cuzk_cli_command *c)
{
    cuzk_cli_json_text(json, "command", c->name);
    cuzk_cli_json_text(json, "arguments", c->args);
    cuzk_cli_json_text(json, "summary", c->summary);
}

void cuzk_cli_print_command_help(const cuzk_cli_command *c, bool as_json)
{
    if (as_json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        json_command(&json, c);
        if (c->details != NULL) {
            cuzk_cli_json_text(&json, "details", c->details);
        }
        json_options(&json, "options", c->options);
        json_options(&json, "common_options", cuzk_cli_common_options);
        cuzk_cli_json_end(&json);
        return;
    }
    printf("usage: cuzk %s%s%s [options]\n\n%s\n", c->name, c->args[0] != '\0' ? " " : "", c->args,
           c->summary);
    if (c->details != NULL) {
        printf("\n%s\n", c->details);
    }
    printf("\noptions:\n");
    print_options(c->options);
    print_options(cuzk_cli_common_options);
    printf("\nexit codes: 0 success, 1 invalid or failed, 2 usage\n");
}

void cuzk_cli_print_help(bool as_json)
{
    enum { WIDTH = 36 }; /* of the first column */
    if (as_json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_open(&json, "commands", '[');
        for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL; c++) {
            cuzk_cli_json_open(&json, NULL, '{');
            json_command(&json, c);
            cuzk_cli_json_close(&json, '}');
        }
        cuzk_cli_json_close(&json, ']');
        json_options(&json, "common_options", cuzk_cli_common_options);
        cuzk_cli_json_end(&json);
        return;
    }
    printf("usage: cuzk COMMAND [arguments] [options]\n\n"
           "Groth16 proofs on BN254 and BLS12-381 from circom and bellperson files.\n\n"
           "commands:\n");
    for (const cuzk_cli_command *c = cuzk_cli_commands; c->name != NULL; c++) {
        int n = printf("  %s %s", c->name, c->args) - 2;
        if (n > WIDTH) {
            printf("\n  ");
            n = 0;
        }
        printf("%*s %s\n", WIDTH - n, "", c->summary);
    }
    printf("\noptions of every command, in front of it or behind:\n");
    print_options(cuzk_cli_common_options);
    printf("\nexit codes: 0 success, 1 invalid or failed, 2 usage\n"
           "\"cuzk help COMMAND\" tells more.\n");
}

int cuzk_cli_help(cuzk_cli_args *args)
{
    if (args->n_positional == 0) {
        cuzk_cli_print_help(args->json);
        return CUZK_EXIT_OK;
    }
    const char *first = args->positional[0];
    const char *second = args->n_positional > 1 ? args->positional[1] : "";
    const cuzk_cli_command *c = cuzk_cli_find_command(first);
    if (c != NULL && c->run == cuzk_cli_exec_server) {
        return cuzk_cli_exec_server(args); /* which knows more of it than this table */
    }
    if (args->n_positional > 1) {
        c = cuzk_cli_find_command_of_two(first, second);
    }
    if (c == NULL) {
        char word[80];
        snprintf(word, sizeof word, "%.38s%s%.38s", first, second[0] != '\0' ? " " : "", second);
        return cuzk_cli_unknown_command(word);
    }
    cuzk_cli_print_command_help(c, args->json);
    return CUZK_EXIT_OK;
}
