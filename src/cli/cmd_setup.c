/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk setup. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static cuzk_status run_setup(cuzk_cli_args *args, const cuzk_ctx *ctx,
                             const cuzk_setup_options *options, const char *trapdoor_path)
{
    const char *r1cs = args->positional[0];
    if (trapdoor_path == NULL) {
        return cuzk_setup_file(ctx, r1cs, options, &args->err);
    }
    size_t n_bytes = 0;
    char *trapdoor = cuzk_cli_read_file(args, trapdoor_path, &n_bytes);
    if (trapdoor == NULL) {
        return args->err.status;
    }
    cuzk_status status =
        cuzk_setup_file_with_test_trapdoor(ctx, r1cs, trapdoor, n_bytes, options, &args->err);
    free(trapdoor);
    return status;
}

static void print_done(const cuzk_cli_args *args, const cuzk_setup_options *options, bool is_test,
                       uint64_t ns)
{
    const char *paths[] = {options->zkey_path, options->vkey_json_path, options->params_path,
                           options->vk_path};
    const char *names[] = {"zkey", "vkey", "params", "vk"};
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        for (int i = 0; i < 4; i++) {
            if (paths[i] != NULL) {
                cuzk_cli_json_text(&json, names[i], paths[i]);
            }
        }
        cuzk_cli_json_bool(&json, "test_key", is_test);
        cuzk_cli_json_seconds(&json, "seconds", ns);
        cuzk_cli_json_number(&json, "peak_memory_bytes", cuzk_cli_peak_memory());
        cuzk_cli_json_end(&json);
        return;
    }
    if (args->quiet) {
        return;
    }
    printf("wrote");
    for (int i = 0; i < 4; i++) {
        if (paths[i] != NULL) {
            printf(" %s", paths[i]);
        }
    }
    printf(" in %.2f s; peak memory %.1f MiB\n", (double)ns / 1e9,
           (double)cuzk_cli_peak_memory() / 1048576);
    fprintf(stderr,
            is_test
                ? "cuzk setup: note: a test key: its trapdoor is known, its proofs prove nothing\n"
                : "cuzk setup: note: made by one party, good for tests and trials: whoever ran "
                  "this could have kept the secret and forge proofs\n");
}

int cuzk_cli_setup(cuzk_cli_args *args)
{
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;
    options.zkey_path = args->n_positional > 1 ? args->positional[1] : NULL;
    options.vkey_json_path = cuzk_cli_value(args, "--vkey");
    options.params_path = cuzk_cli_value(args, "--params");
    options.vk_path = cuzk_cli_value(args, "--vk");
    options.device = cuzk_cli_value(args, "--device");
    if (options.zkey_path == NULL && options.vkey_json_path == NULL &&
        options.params_path == NULL && options.vk_path == NULL) {
        return cuzk_cli_usage(args, "nothing to write: give KEY, --params, --vk or --vkey");
    }
    const char *files[] = {args->positional[0], options.zkey_path, options.vkey_json_path,
                           options.params_path, options.vk_path};
    for (int i = 1; i < 5; i++) {
        if (cuzk_cli_is_dash(args, files[i])) {
            return CUZK_EXIT_USAGE;
        }
        for (int j = 0; j < i; j++) {
            if (cuzk_cli_same_file(args, files[i], files[j])) {
                return CUZK_EXIT_USAGE;
            }
        }
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_cli_catch_signals();
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    const char *trapdoor = cuzk_cli_value(args, "--test-trapdoor");
    uint64_t begin = cuzk_cli_now_ns();
    cuzk_status status = run_setup(args, ctx, &options, trapdoor);
    cuzk_cli_progress_end(args);
    if (status == CUZK_OK) {
        print_done(args, &options, trapdoor != NULL, cuzk_cli_now_ns() - begin);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_ctx_destroy(ctx);
    return code;
}
