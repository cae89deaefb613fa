/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk params setup. */
#include "cli/cli.h"
#include "cuzk_filecoin.h"

#include <stdlib.h>
#include <string.h>

static bool parse_kind(const cuzk_cli_args *args, cuzk_filecoin_kind *kind)
{
    static const char *const names[] = {"porep", "snap", "window", "winning", NULL};
    static const cuzk_filecoin_kind kinds[] = {CUZK_FILECOIN_POREP, CUZK_FILECOIN_UPDATE,
                                               CUZK_FILECOIN_WINDOW, CUZK_FILECOIN_WINNING};
    const char *text = args->positional[0];
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = kinds[i];
            return true;
        }
    }
    cuzk_cli_usage(args, "\"%s\" is not porep, snap, window or winning", text);
    return false;
}

static void print_done(const cuzk_cli_args *args, bool made, uint64_t ns)
{
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_bool(&json, "made", made);
        cuzk_cli_json_bool(&json, "test_key", true);
        cuzk_cli_json_seconds(&json, "seconds", ns);
        cuzk_cli_json_number(&json, "peak_memory_bytes", cuzk_cli_peak_memory());
        cuzk_cli_json_end(&json);
    } else if (!args->quiet && made) {
        printf("made test parameters for %s %s in %.2f s; peak memory %.1f MiB\n",
               args->positional[0], args->positional[1], (double)ns / 1e9,
               (double)cuzk_cli_peak_memory() / 1048576);
        fprintf(stderr, "cuzk params setup: note: test parameters: no chain accepts proofs made "
                        "with them\n");
    } else if (!args->quiet) {
        printf("test parameters for %s %s are there already (--replace makes new ones)\n",
               args->positional[0], args->positional[1]);
    }
}

static int setup(cuzk_cli_args *args, const cuzk_ctx *ctx, cuzk_filecoin_kind kind)
{
    cuzk_filecoin_setup_options options = CUZK_FILECOIN_SETUP_OPTIONS_INIT;
    options.folder = cuzk_cli_value(args, "--folder");
    options.replace = cuzk_cli_value(args, "--replace") != NULL;
    options.device = cuzk_cli_value(args, "--device");
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    const char *trapdoor_path = cuzk_cli_value(args, "--test-trapdoor");
    char *trapdoor = NULL;
    if (trapdoor_path != NULL) {
        trapdoor = cuzk_cli_read_file(args, trapdoor_path, &options.trapdoor.n_bytes);
        if (trapdoor == NULL) {
            return cuzk_cli_fail(args);
        }
        options.trapdoor.data = trapdoor;
    }
    bool made = false;
    uint64_t begin = cuzk_cli_now_ns();
    cuzk_status status =
        cuzk_filecoin_setup(ctx, &made, kind, args->positional[1], &options, &args->err);
    cuzk_cli_progress_end(args);
    free(trapdoor);
    if (status != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    print_done(args, made, cuzk_cli_now_ns() - begin);
    return CUZK_EXIT_OK;
}

int cuzk_cli_params_setup(cuzk_cli_args *args)
{
    cuzk_filecoin_kind kind;
    if (!parse_kind(args, &kind)) {
        return CUZK_EXIT_USAGE;
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_cli_catch_signals();
    code = setup(args, ctx, kind);
    cuzk_ctx_destroy(ctx);
    return code;
}
