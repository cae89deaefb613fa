/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk inspect and cuzk check: print the library's report on a file. */
#include "cli/cli.h"

#include <string.h>

/* State of a report while it is printed. */
struct printer {
    cuzk_cli_args *args;
    cuzk_cli_json json;
    unsigned n_warnings, n_errors;
};

static const char *kind_name(cuzk_report_kind kind)
{
    switch (kind) {
    case CUZK_REPORT_FACT:
        return "fact";
    case CUZK_REPORT_NOTE:
        return "note";
    case CUZK_REPORT_WARNING:
        return "warning";
    case CUZK_REPORT_ERROR:
        return "error";
    }
    return "";
}

static void print_item(void *user, cuzk_report_kind kind, const char *name, const char *value,
                       bool is_number)
{
    struct printer *p = user;
    cuzk_cli_progress_end(p->args);
    p->n_warnings += kind == CUZK_REPORT_WARNING;
    p->n_errors += kind == CUZK_REPORT_ERROR;
    if (p->args->json) {
        cuzk_cli_json_open(&p->json, NULL, '{');
        cuzk_cli_json_text(&p->json, "kind", kind_name(kind));
        cuzk_cli_json_text(&p->json, "name", name);
        if (is_number) {
            /* exact: a number as the library wrote it */
            printf(",\"value\":%s", value);
        } else {
            cuzk_cli_json_text(&p->json, "value", value);
        }
        cuzk_cli_json_close(&p->json, '}');
    } else if (kind == CUZK_REPORT_ERROR) {
        return; /* the error line on stderr says the same */
    } else if (kind == CUZK_REPORT_FACT) {
        if (!p->args->quiet) {
            printf("%-24s %s\n", name, value);
        }
    } else if (kind != CUZK_REPORT_NOTE || !p->args->quiet) {
        printf("%s: %s%s%s\n", kind_name(kind), name, name[0] != '\0' ? ": " : "", value);
    }
}

static void begin_report(struct printer *p)
{
    if (p->args->json) {
        cuzk_cli_json_begin(&p->json);
        cuzk_cli_json_text(&p->json, "file", p->args->positional[0]);
        cuzk_cli_json_open(&p->json, "report", '[');
    }
}

/* End the report; one error line if it failed. */
static int end_report(struct printer *p, cuzk_status status)
{
    cuzk_cli_args *args = p->args;
    cuzk_cli_progress_end(args);
    bool ok = status == CUZK_OK && p->n_errors == 0;
    if (args->json) {
        cuzk_cli_json_close(&p->json, ']');
        cuzk_cli_json_bool(&p->json, "ok", ok);
        cuzk_cli_json_number(&p->json, "warnings", p->n_warnings);
        if (status != CUZK_OK) {
            cuzk_cli_json_text(&p->json, "status", cuzk_status_name(status));
            cuzk_cli_json_text(&p->json, "error", args->err.text);
        }
        cuzk_cli_json_end(&p->json);
    }
    if (status != CUZK_OK) {
        bool json = args->json;
        args->json = false; /* the object above already says it */
        int code = cuzk_cli_fail(args);
        args->json = json;
        return code;
    }
    return ok ? CUZK_EXIT_OK : CUZK_EXIT_FAILED;
}

int cuzk_cli_inspect(cuzk_cli_args *args)
{
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    struct printer p = {args, {true}, 0, 0};
    begin_report(&p);
    cuzk_status status = cuzk_inspect_file(ctx, args->positional[0], print_item, &p, &args->err);
    code = end_report(&p, status);
    cuzk_ctx_destroy(ctx);
    return code;
}

static int check_witness(cuzk_cli_args *args, const cuzk_ctx *ctx)
{
    uint64_t broken = 0;
    cuzk_status status =
        cuzk_check_witness_file(ctx, &broken, args->positional[0], args->positional[1], &args->err);
    if (status != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("the witness satisfies every constraint\n");
    }
    return CUZK_EXIT_OK;
}

int cuzk_cli_check(cuzk_cli_args *args)
{
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    if (args->n_positional == 2 && cuzk_cli_value(args, "--r1cs") != NULL) {
        code = cuzk_cli_usage(args, "--r1cs goes with a key; the circuit of a witness is FILE");
    } else if (args->n_positional == 2) {
        code = check_witness(args, ctx);
    } else {
        cuzk_cli_catch_signals();
        struct printer p = {args, {true}, 0, 0};
        begin_report(&p);
        cuzk_check_options options = CUZK_CHECK_OPTIONS_INIT;
        options.r1cs_path = cuzk_cli_value(args, "--r1cs");
        options.progress = cuzk_cli_progress;
        options.progress_user = args;
        cuzk_status status =
            cuzk_check_file(ctx, args->positional[0], &options, print_item, &p, &args->err);
        code = end_report(&p, status);
        if (code == CUZK_EXIT_OK && !args->json && !args->quiet) {
            printf("ok\n");
        }
    }
    cuzk_ctx_destroy(ctx);
    return code;
}
