/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk plan: what machines do with jobs that keep coming. */
#include "cli/cli.h"
#include "cli/device_plans.h"

#include "cuzk_timeline.h"

#include <stdlib.h>
#include <string.h>

enum { GIB_MAX = 1 << 20 }; /* of each unit */

bool cuzk_cli_memory_size(const cuzk_cli_args *args, uint64_t *out, const char *option)
{
    const char *text = cuzk_cli_value(args, option);
    if (text == NULL) {
        return true;
    }
    size_t n_digits = strspn(text, "0123456789");
    unsigned long n = n_digits > 0 && n_digits < 8 ? strtoul(text, NULL, 10) : 0;
    unsigned shift = strcmp(text + n_digits, "MiB") == 0   ? 20
                     : strcmp(text + n_digits, "GiB") == 0 ? 30
                     : strcmp(text + n_digits, "TiB") == 0 ? 40
                                                           : 0;
    if (shift == 0 || n == 0 || n > GIB_MAX) {
        cuzk_cli_usage(args, "%s: \"%s\" is not a size such as 512GiB or 2TiB", option, text);
        return false;
    }
    *out = (uint64_t)n << shift;
    return true;
}

static bool hours_of(const cuzk_cli_args *args, double *out)
{
    const char *text = cuzk_cli_value(args, "--hours");
    char *end;
    if (text == NULL) {
        return true;
    }
    *out = strtod(text, &end);
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' || *out <= 0 ||
        *out > 1e5) {
        cuzk_cli_usage(args, "--hours: \"%s\" is not a number above 0, up to 100000", text);
        return false;
    }
    return true;
}

static bool number_of(const cuzk_cli_args *args, unsigned *out, const char *option, unsigned least,
                      unsigned most)
{
    const char *text = cuzk_cli_value(args, option);
    return text == NULL || cuzk_cli_number(args, out, option, text, least, most);
}

int cuzk_cli_plan(cuzk_cli_args *args)
{
    enum { DEVICES_MAX = 64 }; /* of the model */
    cuzk_plan_options o = CUZK_PLAN_OPTIONS_INIT;
    const char *jobs = cuzk_cli_value(args, "--jobs");
    unsigned card_gib = 0;
    if (jobs == NULL) {
        return cuzk_cli_usage(args, "which jobs? --jobs porep:20/h,wpost:48/d");
    }
    if (!cuzk_cli_memory_size(args, &o.ram_bytes, "--ram") || !hours_of(args, &o.hours) ||
        !number_of(args, &o.n_gpus, "--gpus", 0, DEVICES_MAX) ||
        !number_of(args, &card_gib, "--card", 1, 4096) ||
        !number_of(args, &o.n_cores, "--cores", 1, 10000) ||
        !number_of(args, &o.n_workers, "--workers", 1, 8) ||
        !number_of(args, &o.n_copies, "--copies", 1, 10000) ||
        !number_of(args, &o.n_machines_max, "--machines", 1, 100000)) {
        return CUZK_EXIT_USAGE;
    }
    if (card_gib != 0) {
        o.card_bytes = cuzk_cli_card_bytes(card_gib);
    }
    o.as_json = args->json;
    char *text;
    size_t n_bytes;
    if (cuzk_plan(&text, &n_bytes, jobs, cuzk_cli_value(args, "--recording"), &o, &args->err) !=
        CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    fwrite(text, 1, n_bytes, stdout); /* cuzk_cli_close_stdout sees what went wrong */
    cuzk_free(text);
    return CUZK_EXIT_OK;
}
