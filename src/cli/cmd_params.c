/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk params list | check | fetch. */
#include "cli/cli.h"
#include "cuzk_params.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a run of the command works on. */
typedef struct {
    cuzk_cli_args *args;
    cuzk_params_set *set;
    /* by number of the file */
    bool *selected;
    const char **states; /* what was found; NULL: not looked at */
    unsigned n_files, n_selected;
    uint64_t selected_bytes; /* of files whose size is known */
    bool has_failed;         /* a message has said so */
    cuzk_error first;        /* what was wrong with the first bad file */
} run;

static cuzk_params_file_info info_at(const run *r, unsigned i)
{
    cuzk_params_file_info info;
    cuzk_params_file_get_info(&info, r->set, i);
    return info;
}

/* "32g" for "32GiB": both spellings of a size select. */
static bool is_size(const char *what, const char *size)
{
    size_t n = strlen(what);
    size_t k = strspn(size, "0123456789") + 1;
    return size[0] != '\0' && (strcasecmp(what, size) == 0 ||
                               (n == k && k < strlen(size) && strncasecmp(what, size, k) == 0));
}

/* Select the files of one word of the command line. A size that is fetched brings all verifying
 * keys: they are small, and any of them may be asked for. Returns whether the word fits anything.
 */
static bool select_word(run *r, const char *what, bool with_all_vk)
{
    bool fits = false;
    bool size = false;
    for (unsigned i = 0; i < r->n_files; i++) {
        cuzk_params_file_info info = info_at(r, i);
        bool by_size = is_size(what, info.sector_size);
        if (by_size || strcasecmp(what, info.circuit) == 0 || strcmp(what, info.name) == 0) {
            r->selected[i] = true;
            fits = true;
            size = size || by_size;
        }
    }
    for (unsigned i = 0; i < r->n_files && size && with_all_vk; i++) {
        r->selected[i] = r->selected[i] || info_at(r, i).is_vk;
    }
    return fits;
}

static bool select_files(run *r, bool with_all_vk)
{
    const cuzk_cli_args *args = r->args;
    for (unsigned w = 1; w < args->n_positional; w++) {
        if (!select_word(r, args->positional[w], with_all_vk)) {
            cuzk_cli_usage(args,
                           "\"%s\": no such files; expected a sector size (2KiB, 8MiB, 512MiB, "
                           "32GiB, 64GiB), a circuit such as porep-32g, or a file's name",
                           args->positional[w]);
            return false;
        }
    }
    for (unsigned i = 0; i < r->n_files; i++) {
        r->selected[i] = r->selected[i] || args->n_positional == 1;
        r->n_selected += r->selected[i];
        r->selected_bytes += r->selected[i] ? info_at(r, i).n_bytes : 0;
    }
    return true;
}

static void print_size(uint64_t n_bytes)
{
    if (n_bytes == 0) {
        printf("%12s", "?");
    } else if (n_bytes < 1 << 20) {
        printf("%8.1f KiB", (double)n_bytes / 1024);
    } else {
        printf("%8.1f MiB", (double)n_bytes / 1048576);
    }
}

/* One line a file; with --json all of them are printed at the end. */
static void print_file(run *r, unsigned i, const char *state)
{
    cuzk_params_file_info info = info_at(r, i);
    r->states[i] = state;
    if (!r->args->json && !r->args->quiet) {
        printf("%-12s %-6s", info.circuit, info.is_vk ? "vk" : "params");
        print_size(info.n_bytes);
        printf("  %-10s %s\n", state, info.name);
        fflush(stdout);
    }
}

static void print_json(const run *r, bool ok)
{
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", ok);
    if (!ok) {
        cuzk_cli_json_text(&json, "status", cuzk_status_name(r->first.status));
        cuzk_cli_json_text(&json, "error", r->first.text);
    }
    cuzk_cli_json_text(&json, "folder", cuzk_params_set_folder(r->set));
    cuzk_cli_json_open(&json, "files", '[');
    for (unsigned i = 0; i < r->n_files; i++) {
        cuzk_params_file_info info = info_at(r, i);
        if (r->states[i] == NULL) {
            continue;
        }
        cuzk_cli_json_open(&json, NULL, '{');
        cuzk_cli_json_text(&json, "name", info.name);
        cuzk_cli_json_text(&json, "circuit", info.circuit);
        cuzk_cli_json_text(&json, "sector_size", info.sector_size);
        cuzk_cli_json_number(&json, "n_bytes", info.n_bytes);
        cuzk_cli_json_text(&json, "state", r->states[i]);
        cuzk_cli_json_close(&json, '}');
    }
    cuzk_cli_json_close(&json, ']');
    cuzk_cli_json_end(&json);
}

/* Fail with the library's message, which is then all that is printed. */
static int fail(run *r)
{
    r->has_failed = true;
    return cuzk_cli_fail(r->args);
}

static int list_files(run *r)
{
    for (unsigned i = 0; i < r->n_files; i++) {
        if (r->selected[i]) {
            print_file(r, i, info_at(r, i).state);
        }
    }
    return CUZK_EXIT_OK;
}

/* Check every selected file; say all that is wrong, and fail if anything is. */
static int check_files(run *r)
{
    int code = CUZK_EXIT_OK;
    for (unsigned i = 0; i < r->n_files; i++) {
        if (!r->selected[i]) {
            continue;
        }
        cuzk_status s =
            cuzk_params_file_check(r->set, i, cuzk_cli_progress, r->args, &r->args->err);
        cuzk_cli_progress_end(r->args);
        if (s == CUZK_E_CANCELLED) {
            return fail(r);
        }
        const char *state = s == CUZK_OK ? "good" : info_at(r, i).state;
        print_file(r, i, s == CUZK_E_MISMATCH && info_at(r, i).is_present ? "damaged" : state);
        if (s != CUZK_OK) {
            fprintf(stderr, "cuzk params: %s\n", r->args->err.text);
            if (r->first.status == CUZK_OK) {
                r->first = r->args->err;
            }
            code = CUZK_EXIT_FAILED;
        }
    }
    return code;
}

static void say_waiting(void *user, const char *name)
{
    cuzk_cli_args *args = user;
    if (!args->quiet) {
        fprintf(stderr, "cuzk params: %s: another process fetches it: waiting\n", name);
    }
}

static int fetch_files(run *r)
{
    cuzk_params_fetch_options options = CUZK_PARAMS_FETCH_OPTIONS_INIT;
    options.source = cuzk_cli_value(r->args, "--from");
    options.progress = cuzk_cli_progress;
    options.progress_user = r->args;
    options.waiting = say_waiting;
    options.waiting_user = r->args;
    if (cuzk_cli_value(r->args, "--dry-run") != NULL) {
        return list_files(r);
    }
    if (!r->args->quiet && !r->args->json) {
        fprintf(stderr, "cuzk params: %u files, %.1f MiB, in %s\n", r->n_selected,
                (double)r->selected_bytes / 1048576, cuzk_params_set_folder(r->set));
    }
    for (unsigned i = 0; i < r->n_files; i++) {
        bool was_there = false;
        if (!r->selected[i]) {
            continue;
        }
        cuzk_status s = cuzk_params_file_fetch(&was_there, r->set, i, &options, &r->args->err);
        cuzk_cli_progress_end(r->args);
        if (s != CUZK_OK) {
            return fail(r);
        }
        print_file(r, i, was_there ? "was there" : "fetched");
    }
    return CUZK_EXIT_OK;
}

static int run_command(run *r)
{
    static const struct {
        const char *name;
        int (*run)(run *r);
    } commands[] = {{"list", list_files}, {"check", check_files}, {"fetch", fetch_files}};
    static const char *const names[] = {"list", "check", "fetch", "setup", NULL};
    cuzk_cli_args *args = r->args;
    unsigned k = 0;
    while (k < 3 && strcmp(commands[k].name, args->positional[0]) != 0) {
        k++;
    }
    if (k == 3) {
        const char *near = cuzk_cli_nearest(args->positional[0], names);
        return cuzk_cli_usage(args, "\"%s\": expected list, check, fetch or setup%s%s",
                              args->positional[0], near != NULL ? "; did you mean " : "",
                              near != NULL ? near : "");
    }
    bool fetch = k == 2;
    if (!fetch &&
        (cuzk_cli_value(args, "--from") != NULL || cuzk_cli_value(args, "--dry-run") != NULL)) {
        return cuzk_cli_usage(args, "--from and --dry-run belong to fetch");
    }
    if (fetch && args->n_positional == 1) {
        return cuzk_cli_usage(args, "fetch what? A sector size (32GiB), a circuit (porep-32g), or "
                                    "a file's name");
    }
    if (cuzk_params_set_open(&r->set, cuzk_cli_value(args, "--folder"),
                             cuzk_cli_value(args, "--manifest"), &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    r->n_files = cuzk_params_set_count(r->set);
    r->selected = calloc(r->n_files > 0 ? r->n_files : 1, sizeof *r->selected);
    r->states = calloc(r->n_files > 0 ? r->n_files : 1, sizeof *r->states);
    if (r->selected == NULL || r->states == NULL) {
        cuzk_cli_no_memory(args);
        return cuzk_cli_fail(args);
    }
    if (!select_files(r, fetch)) {
        return CUZK_EXIT_USAGE;
    }
    cuzk_cli_catch_signals();
    int code = commands[k].run(r);
    if (args->json && !r->has_failed) {
        print_json(r, code == CUZK_EXIT_OK);
    }
    return code;
}

int cuzk_cli_params(cuzk_cli_args *args)
{
    run r = {.args = args};
    int code = run_command(&r);
    free(r.selected);
    free(r.states);
    cuzk_params_set_close(r.set);
    return code;
}
