/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk export. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static int export_calldata(cuzk_cli_args *args)
{
    if (args->n_positional != 3) {
        return cuzk_cli_usage(args, "expected: cuzk export calldata PUBLIC PROOF");
    }
    size_t n_public = 0, n_proof = 0;
    char *text = NULL, *proof = NULL;
    char *public_values = cuzk_cli_read_file(args, args->positional[1], &n_public);
    cuzk_status status = args->err.status;
    if (public_values != NULL) {
        proof = cuzk_cli_read_file(args, args->positional[2], &n_proof);
        status = args->err.status;
    }
    if (proof != NULL) {
        status = cuzk_calldata(&text, proof, n_proof, public_values, n_public, &args->err);
        if (status != CUZK_OK) {
            /* the library's text says which of the two it is */
            cuzk_cli_error_names(args, args->positional[1], args->positional[2]);
        }
    }
    int code = CUZK_EXIT_OK;
    if (status == CUZK_OK && args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "calldata", text);
        cuzk_cli_json_end(&json);
    } else if (status == CUZK_OK) {
        printf("%s\n", text);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_free(text);
    free(proof);
    free(public_values);
    return code;
}

static int print_vkey(cuzk_cli_args *args, const cuzk_vkey *vkey, cuzk_form form)
{
    size_t n = cuzk_vkey_size(vkey, form);
    char *text = malloc(n + 1);
    int code = CUZK_EXIT_OK;
    if (text == NULL) {
        cuzk_cli_no_memory(args);
    }
    if (text == NULL || cuzk_vkey_write(vkey, text, n, form, &args->err) != CUZK_OK) {
        code = cuzk_cli_fail(args);
    } else if (args->json) {
        /* one line: no string of a key has a blank in it */
        fputs("{\"ok\":true,\"verification_key\":", stdout);
        for (const char *p = text; *p != '\0'; p++) {
            if (*p != '\n' && *p != ' ') {
                putchar(*p);
            }
        }
        fputs("}\n", stdout);
    } else {
        /* text forms end in NUL */
        fwrite(text, 1, form == CUZK_FORM_BYTES ? n : n - 1, stdout);
    }
    free(text);
    return code;
}

static int export_vkey(cuzk_cli_args *args)
{
    cuzk_form form = CUZK_FORM_SNARKJS;
    const char *name = cuzk_cli_value(args, "--format");
    if (name != NULL && strcmp(name, "bytes") == 0) {
        form = CUZK_FORM_BYTES;
    } else if (name != NULL && strcmp(name, "snarkjs") != 0) {
        return cuzk_cli_usage(args, "--format: \"%s\" is not snarkjs or bytes", name);
    }
    if (args->n_positional == 3 && cuzk_cli_is_dash(args, args->positional[2])) {
        return CUZK_EXIT_USAGE;
    }
    if (args->n_positional == 2 && form == CUZK_FORM_BYTES && args->json) {
        return cuzk_cli_usage(args, "a key in the form bytes does not fit in JSON: give a FILE for "
                                    "it");
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_vkey *vkey = NULL;
    bool allow = cuzk_cli_value(args, "--allow-test-key") != NULL;
    if (cuzk_vkey_open_file(ctx, &vkey, args->positional[1], allow, &args->err) != CUZK_OK) {
        code = cuzk_cli_fail(args);
    } else if (args->n_positional == 2) {
        code = print_vkey(args, vkey, form);
    } else if (cuzk_vkey_write_file(vkey, args->positional[2], form, &args->err) != CUZK_OK) {
        code = cuzk_cli_fail(args);
    } else if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "verification_key", args->positional[2]);
        cuzk_cli_json_end(&json);
    }
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(ctx);
    return code;
}

int cuzk_cli_export(cuzk_cli_args *args)
{
    static const char *const things[] = {"vk", "calldata", NULL};
    const char *what = args->positional[0];
    if (strcmp(what, "vk") == 0) {
        return export_vkey(args);
    }
    if (strcmp(what, "calldata") == 0) {
        return export_calldata(args);
    }
    const char *nearest = cuzk_cli_nearest(what, things);
    return cuzk_cli_usage(args, "\"%s\": unknown thing to export; %s %s", what,
                          nearest != NULL ? "did you mean" : "known are",
                          nearest != NULL ? nearest : "vk and calldata");
}
