/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses from the command line, the environment, the configuration. */
#include "client/locate.h"

#include "server/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static cuzk_status put(char *out, size_t n_bytes, const char *text, cuzk_error *err)
{
    int n = snprintf(out, n_bytes, "%s", text);
    CUZK_FAIL_IF(n < 0 || (size_t)n >= n_bytes, err, CUZK_E_ARGUMENT,
                 "address \"%.200s…\": longer than %zu characters", text, n_bytes - 1);
    return CUZK_OK;
}

/* An address to listen on, as one to connect to: every interface means this machine too. */
static cuzk_status put_listen(char *out, size_t n_bytes, const char *listen, cuzk_error *err)
{
    static const struct {
        const char *wildcard, *loopback;
    } hosts[] = {{"0.0.0.0:", "127.0.0.1:"}, {"[::]:", "[::1]:"}};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        size_t n = strlen(hosts[i].wildcard);
        if (strncmp(listen, hosts[i].wildcard, n) == 0) {
            int length = snprintf(out, n_bytes, "%s%.100s", hosts[i].loopback, listen + n);
            return length > 0 ? CUZK_OK : CUZK_FAIL(err, CUZK_E_INTERNAL, "writing an address");
        }
    }
    return put(out, n_bytes, listen, err);
}

/* NULL for an environment variable that is not set or empty. */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static cuzk_status from_config(char *address, char *status, size_t n_bytes, const char *path,
                               cuzk_error *err)
{
    cuzk_config *config = NULL;
    cuzk_config_report report = {.n_errors = 0};
    /* keys of the tests' daemon are no reason not to find it */
    cuzk_config_sources sources = {.path = path, .environment = environ, .allow_test = true};
    cuzk_status result = cuzk_config_load(&config, &report, &sources, err);
    if (result != CUZK_OK) {
        cuzk_error_prefix(err, "looking for the daemon's address (--connect names it)");
    } else {
        result = put_listen(address, n_bytes, config->daemon_listen.items[0], err);
    }
    if (result == CUZK_OK) {
        result = put_listen(status, n_bytes, config->daemon_status_listen, err);
    }
    cuzk_config_destroy(config);
    cuzk_config_report_clear(&report);
    return result;
}

cuzk_status cuzk_locate(char *address, char *status, size_t n_bytes,
                        const cuzk_locate_sources *sources, cuzk_error *err)
{
    const char *given = sources->connect != NULL ? sources->connect : environment("CUZK_LISTEN");
    const char *http = sources->status;
    if (http == NULL && sources->connect == NULL) {
        http = environment("CUZK_STATUS_LISTEN"); /* else it may be another daemon's */
    }
    status[0] = '\0';
    if (given != NULL) {
        CUZK_TRY(put(address, n_bytes, given, err));
    } else {
        CUZK_TRY(from_config(address, status, n_bytes, sources->config_path, err));
    }
    return http != NULL ? put(status, n_bytes, http, err) : CUZK_OK;
}
