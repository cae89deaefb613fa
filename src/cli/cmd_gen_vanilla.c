/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk gen-vanilla. */
#include "cli/cli.h"
#include "cuzk_synthetic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 999999 };

/* Read a 64-bit number from an option; *out keeps its value when it was not given. False after a
 * usage message. */
static bool read_u64(const cuzk_cli_args *args, uint64_t *out, const char *option)
{
    const char *text = cuzk_cli_value(args, option);
    if (text == NULL) {
        return true;
    }
    size_t n = strlen(text);
    errno = 0;
    uint64_t value = strtoull(text, NULL, 10);
    if (n == 0 || strspn(text, "0123456789") != n || errno != 0) {
        cuzk_cli_usage(args, "%s: \"%s\" is not a number of 64 bits", option, text);
        return false;
    }
    *out = value;
    return true;
}

/* The options of the command line. False after a usage message. */
static bool read_options(const cuzk_cli_args *args, cuzk_synthetic_options *o)
{
    o->kind = args->positional[0];
    o->sector_size = cuzk_cli_value(args, "--sector-size");
    o->envelope = cuzk_cli_value(args, "--c1") != NULL;
    const char *sectors = cuzk_cli_value(args, "--sectors");
    const char *partition = cuzk_cli_value(args, "--partition");
    if (o->sector_size == NULL) {
        cuzk_cli_usage(args, "--sector-size is missing");
        return false;
    }
    return read_u64(args, &o->seed, "--seed") && read_u64(args, &o->miner_id, "--miner-id") &&
           read_u64(args, &o->sector_number, "--sector-number") &&
           read_u64(args, &o->registered_proof, "--registered-proof") &&
           (sectors == NULL ||
            cuzk_cli_number(args, &o->n_sectors, "--sectors", sectors, 1, COUNT_MAX)) &&
           (partition == NULL ||
            cuzk_cli_number(args, &o->partition, "--partition", partition, 0, COUNT_MAX));
}

static void print_done(const cuzk_cli_args *args, const char *vanilla, const char *request,
                       uint64_t ns)
{
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "vanilla", vanilla);
        if (request != NULL) {
            cuzk_cli_json_text(&json, "request", request);
        }
        cuzk_cli_json_seconds(&json, "seconds", ns);
        cuzk_cli_json_number(&json, "peak_memory_bytes", cuzk_cli_peak_memory());
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("wrote %s%s%s in %.2f s; peak memory %.1f MiB\n", vanilla,
               request != NULL ? " " : "", request != NULL ? request : "", (double)ns / 1e9,
               (double)cuzk_cli_peak_memory() / 1048576);
    }
}

int cuzk_cli_gen_vanilla(cuzk_cli_args *args)
{
    cuzk_synthetic_options options = CUZK_SYNTHETIC_OPTIONS_INIT;
    const char *vanilla = args->positional[1];
    const char *request = cuzk_cli_value(args, "--request");
    if (!read_options(args, &options) || cuzk_cli_is_dash(args, vanilla) ||
        cuzk_cli_is_dash(args, request) || cuzk_cli_same_file(args, request, vanilla)) {
        return CUZK_EXIT_USAGE;
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_cli_catch_signals();
    uint64_t begin = cuzk_cli_now_ns();
    cuzk_status status = cuzk_synthetic_vanilla_write(ctx, vanilla, request, &options, &args->err);
    if (status == CUZK_OK) {
        print_done(args, vanilla, request, cuzk_cli_now_ns() - begin);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_ctx_destroy(ctx);
    return code;
}
