/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Commands of cuzk-server. The server and its clients are a program of their own, since loading
 * gRPC would cost every start of this one several milliseconds. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A path relative to the folder of the running program. False: it cannot be told. */
static bool beside(char *out, size_t n, const char *relative)
{
    ssize_t length = readlink("/proc/self/exe", out, n - 1);
    if (length <= 0) {
        return false;
    }
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    size_t room = slash != NULL ? n - (size_t)(slash + 1 - out) : 0;
    return room > 0 && (size_t)snprintf(slash + 1, room, "%s", relative) < room;
}

int cuzk_cli_exec_server(cuzk_cli_args *args)
{
    static const char *const places[] = {"cuzk-server", "../libexec/cuzk/cuzk-server"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (!beside(path, sizeof path, places[i]) || access(path, F_OK) != 0) {
            continue;
        }
        execv(path, (char *const *)args->argv);
        args->err.status = CUZK_E_FILE;
        snprintf(args->err.text, sizeof args->err.text, "starting \"%.500s\": %s", path,
                 strerror(errno));
        return cuzk_cli_fail(args);
    }
    args->err.status = CUZK_E_UNSUPPORTED;
    snprintf(args->err.text, sizeof args->err.text,
             "not supported: this program was built without the proving server (cuzk-server is "
             "neither beside it nor in ../libexec/cuzk)");
    return cuzk_cli_fail(args);
}
