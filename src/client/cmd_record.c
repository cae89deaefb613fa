/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk record: the last minutes of a running daemon's recording, for cuzk timeline. */
#include "client/commands.h"
#include "client/session.h"
#include "client/status_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fetch(cuzk_session *session, char **body, size_t *n_bytes, unsigned seconds)
{
    static const char magic[] = "cuzkspan";
    char path[64];
    cuzk_error *err = &session->args->err;
    if (session->status_address[0] == '\0') {
        return cuzk_session_fail(session, CUZK_E_ARGUMENT,
                                 "the daemon's HTTP port has the recording, and it is not known: "
                                 "--status HOST:PORT");
    }
    snprintf(path, sizeof path, "/recording?seconds=%u", seconds);
    if (cuzk_client_http_get(body, n_bytes, session->status_address, path, err) != CUZK_OK) {
        return false;
    }
    if (*n_bytes < sizeof magic - 1 || memcmp(*body, magic, sizeof magic - 1) != 0) {
        free(*body);
        return cuzk_session_fail(session, CUZK_E_FORMAT,
                                 "what the status port %s gives is no recording",
                                 session->status_address);
    }
    return true;
}

static int record(cuzk_session *session, unsigned seconds)
{
    const cuzk_cli_args *args = session->args;
    char *body = NULL;
    size_t n_bytes = 0;
    if (!fetch(session, &body, &n_bytes, seconds)) {
        return cuzk_cli_fail(session->args);
    }
    const cuzk_session_file file = {args->positional[0], body, n_bytes};
    cuzk_status status = cuzk_session_write(&file, 1, &session->args->err);
    free(body);
    if (status != CUZK_OK) {
        return cuzk_cli_fail(session->args);
    }
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "recording", file.path);
        cuzk_cli_json_number(&json, "bytes", n_bytes);
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("%s: %zu bytes, the last %u seconds at most\n", file.path, n_bytes, seconds);
    }
    return CUZK_EXIT_OK;
}

int cuzk_cmd_record(cuzk_cli_args *args)
{
    enum { SECONDS_MAX = 600 }; /* that a daemon keeps */
    unsigned seconds = 60;
    const char *text = cuzk_cli_value(args, "--seconds");
    if (text != NULL && !cuzk_cli_number(args, &seconds, "--seconds", text, 1, SECONDS_MAX)) {
        return CUZK_EXIT_USAGE;
    }
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, args, &code)) {
        code = record(&session, seconds);
        cuzk_session_close(&session);
    }
    return code;
}
