/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Requests of Filecoin's proofs from a command line: fields from options and a file, vanilla proofs
 * from files. Shared by the local commands and those that speak to a daemon. */
#include "cli/cli.h"
#include "cuzk_filecoin.h"

#include <stdlib.h>
#include <string.h>

/* The field that an option sets: its name with underscores. False for an option that is none. */
static bool option_field(char *field, size_t n, const char *option)
{
    static const char *const options[] = {"--registered-proof", "--sector-size", "--miner-id",
                                          "--sector-number",    "--ticket",      "--seed",
                                          "--comm-d",           "--comm-r",      "--comm-r-old",
                                          "--comm-r-new",       "--comm-d-new",  "--randomness",
                                          "--partition-index"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(option, options[i]) == 0) {
            snprintf(field, n, "%s", option + 2);
            for (char *p = field; *p != '\0'; p++) {
                *p = *p == '-' ? '_' : *p;
            }
            return true;
        }
    }
    return false;
}

void cuzk_cli_error_name(cuzk_cli_args *args, const char *path)
{
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", args->err.text);
    snprintf(args->err.text, sizeof args->err.text, "\"%s\": %.900s", path, text);
}

/* A request that cannot be is a usage error, wherever its fields stand: on the command line or in
 * the file that takes their place. */
static void blame_usage(cuzk_cli_args *args)
{
    if (args->err.status == CUZK_E_FORMAT || args->err.status == CUZK_E_TRUNCATED) {
        args->err.status = CUZK_E_ARGUMENT;
    }
}

bool cuzk_cli_read_request(cuzk_cli_args *args, cuzk_filecoin_request *request, const char *path)
{
    size_t n_bytes = 0;
    char *json = cuzk_cli_read_file(args, path, &n_bytes);
    if (json == NULL) {
        return false;
    }
    cuzk_status status = cuzk_filecoin_request_read_json(request, json, n_bytes, &args->err);
    free(json);
    if (status != CUZK_OK) {
        cuzk_cli_error_name(args, path);
        blame_usage(args);
    }
    return status == CUZK_OK;
}

bool cuzk_cli_fill_request(cuzk_cli_args *args, cuzk_filecoin_request *request)
{
    const char *path = cuzk_cli_value(args, "--request");
    if (path != NULL && !cuzk_cli_read_request(args, request, path)) {
        return false;
    }
    const cuzk_cli_option *options = args->command->options;
    for (unsigned i = 0; options[i].name != NULL; i++) {
        char field[32];
        if (args->values[i] != NULL && option_field(field, sizeof field, options[i].name) &&
            cuzk_filecoin_request_set(request, field, args->values[i], &args->err) != CUZK_OK) {
            blame_usage(args);
            return false;
        }
    }
    return true;
}

bool cuzk_cli_read_vanilla(cuzk_cli_args *args, cuzk_cli_vanilla *vanilla,
                           cuzk_filecoin_request *request, const char *const *paths, unsigned n)
{
    vanilla->files = calloc(n, sizeof *vanilla->files);
    if (vanilla->files == NULL) {
        cuzk_cli_no_memory(args);
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        size_t n_bytes = 0;
        char *data = cuzk_cli_read_file(args, paths[i], &n_bytes);
        if (data == NULL) {
            return false;
        }
        vanilla->files[i] = (cuzk_bytes){data, n_bytes};
        vanilla->n++;
        if (cuzk_filecoin_request_add_vanilla(request, data, n_bytes, &args->err) != CUZK_OK) {
            cuzk_cli_error_name(args, paths[i]);
            return false;
        }
    }
    return true;
}

void cuzk_cli_free_vanilla(cuzk_cli_vanilla *vanilla)
{
    for (unsigned i = 0; i < vanilla->n; i++) {
        free((void *)vanilla->files[i].data);
    }
    free(vanilla->files);
}

bool cuzk_cli_filecoin_form(const cuzk_cli_args *args, cuzk_filecoin_form *form)
{
    static const char *const names[] = {"raw", "hex", "base64", "json"};
    static const cuzk_filecoin_form forms[] = {CUZK_FILECOIN_RAW, CUZK_FILECOIN_HEX,
                                               CUZK_FILECOIN_BASE64, CUZK_FILECOIN_JSON};
    const char *text = cuzk_cli_value(args, "--format");
    *form = CUZK_FILECOIN_RAW;
    if (text == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *form = forms[i];
            return true;
        }
    }
    cuzk_cli_usage(args, "--format: \"%s\" is not raw, hex, base64 or json", text);
    return false;
}

const char *cuzk_cli_filecoin_out(const cuzk_cli_args *args, cuzk_filecoin_form form)
{
    const char *out = cuzk_cli_value(args, "--out");
    if (out != NULL) {
        return out;
    }
    return form == CUZK_FILECOIN_RAW    ? "proof.bin"
           : form == CUZK_FILECOIN_JSON ? "proof.json"
                                        : "proof.txt";
}
