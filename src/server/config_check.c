/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What keys say together. */
#include "base/url_text.h"
#include "server/address.h"
#include "server/config_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const cuzk_config *config;
    cuzk_config_report *report;
} checking;

static const char *origin(const checking *c, const char *key)
{
    size_t n;
    return c->config->origins[cuzk_config_find(key) - cuzk_config_keys(&n)];
}

static void wrong(const checking *c, const char *key, const char *text)
{
    char line[CUZK_ERROR_TEXT_MAX + 64];
    snprintf(line, sizeof line, "%s: %s", key, text);
    cuzk_config_note_error(c->report, origin(c, key), line);
}

static void doubtful(const checking *c, const char *key, const char *text)
{
    char line[CUZK_ERROR_TEXT_MAX + 64];
    snprintf(line, sizeof line, "%s: %s", key, text);
    cuzk_config_note_warning(c->report, origin(c, key), line);
}

static void check_listen(const checking *c)
{
    const cuzk_config *f = c->config;
    char text[CUZK_ERROR_TEXT_MAX];
    for (size_t i = 0; i < f->daemon_listen.n; i++) {
        const char *own = f->daemon_listen.items[i];
        cuzk_address address;
        cuzk_error err = {0};
        if (cuzk_address_parse(&address, own, &err) != CUZK_OK) {
            wrong(c, "daemon.listen", err.text);
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(own, f->daemon_listen.items[j]) == 0) {
                snprintf(text, sizeof text, "\"%.200s\" is there twice", own);
                wrong(c, "daemon.listen", text);
            }
        }
        if (!address.is_local && f->tls_cert[0] == 0) {
            snprintf(text, sizeof text,
                     "\"%.200s\" is reached by other machines, without TLS: set tls.cert and "
                     "tls.key, or say daemon.allow_plaintext = true",
                     own);
            if (f->daemon_allow_plaintext) {
                doubtful(c, "daemon.listen", "other machines reach the daemon without TLS");
            } else {
                wrong(c, "daemon.listen", text);
            }
        }
    }
}

static void check_status_listen(const checking *c)
{
    const cuzk_config *f = c->config;
    cuzk_address address;
    cuzk_error err = {0};
    if (f->daemon_status_listen[0] == 0) {
        return;
    }
    if (cuzk_address_parse(&address, f->daemon_status_listen, &err) != CUZK_OK) {
        wrong(c, "daemon.status_listen", err.text);
    } else if (address.is_unix) {
        wrong(c, "daemon.status_listen", "expected IP:PORT or [IP6]:PORT");
    } else if (!address.is_local && !f->http_allow_remote) {
        doubtful(c, "daemon.status_listen",
                 "other machines would reach it: there is no HTTP port until http.allow_remote is "
                 "true");
    }
}

static void check_tls(const checking *c)
{
    const cuzk_config *f = c->config;
    bool has_cert = f->tls_cert[0] != 0, has_key = f->tls_key[0] != 0;
    if (has_cert != has_key) {
        wrong(c, has_cert ? "tls.cert" : "tls.key",
              has_cert ? "tls.key is missing" : "tls.cert is missing");
    }
    if (f->tls_client_ca[0] != 0 && !has_cert) {
        wrong(c, "tls.client_ca", "tls.cert and tls.key are missing");
    }
    if (f->auth_admin_names.n > 0 && f->tls_client_ca[0] == 0) {
        wrong(c, "auth.admin_names", "clients have no certificates without tls.client_ca");
    }
}

static void check_devices(const checking *c)
{
    const cuzk_config_list *devices = &c->config->gpus_devices;
    for (size_t i = 0; i < devices->n; i++) {
        const char *own = devices->items[i];
        const char *number = strncmp(own, "cuda:", 5) == 0 ? own + 5 : own;
        size_t n = strlen(number);
        char text[256];
        if (strcmp(own, "cpu") != 0 && (n == 0 || n > 3 || strspn(number, "0123456789") != n)) {
            snprintf(text, sizeof text,
                     "\"%.100s\" is no device: expected the number of a GPU, or \"cpu\"", own);
            wrong(c, "gpus.devices", text);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(own, devices->items[j]) == 0) {
                snprintf(text, sizeof text, "\"%.100s\" is there twice", own);
                wrong(c, "gpus.devices", text);
            }
        }
    }
}

static void check_otel(const checking *c)
{
    const char *url = c->config->otel_endpoint;
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    if (url[0] != 0 && (scheme == 0 || strcspn(url + scheme, "/?#") == 0)) {
        char text[512];
        snprintf(text, sizeof text, "\"%.300s\" is no URL such as http://localhost:4318/v1/traces",
                 cuzk_url_shown(url).text);
        wrong(c, "otel.endpoint", text);
    }
}

static void check_memory(const checking *c)
{
    const cuzk_config *f = c->config;
    if (f->memory_total_budget != 0 && f->memory_intake >= f->memory_total_budget) {
        wrong(c, "memory.intake", "requests would take all of memory.total_budget");
    }
}

void cuzk_config_check(const cuzk_config *config, cuzk_config_report *report)
{
    checking c = {config, report};
    check_memory(&c);
    check_listen(&c);
    check_status_listen(&c);
    check_tls(&c);
    check_devices(&c);
    check_otel(&c);
    if (config->journal_path[0] == 0) {
        doubtful(&c, "journal.path", "without a journal, jobs are lost when the daemon ends");
    } else if (config->journal_path[0] != '/' && strcmp(config->journal_path, "auto") != 0) {
        wrong(&c, "journal.path", "expected a path that begins with /, \"auto\" or \"none\"");
    }
}

void cuzk_config_look_for_files(const cuzk_config *config, cuzk_config_report *report)
{
    const struct {
        const char *key, *path;
        int mode;
        bool is_folder, may_lack;
    } files[] = {
        {"tls.cert", config->tls_cert, R_OK, false, false},
        {"tls.key", config->tls_key, R_OK, false, false},
        {"tls.client_ca", config->tls_client_ca, R_OK, false, false},
        {"auth.token_file", config->auth_token_file, R_OK, false, false},
        {"auth.admin_token_file", config->auth_admin_token_file, R_OK, false, false},
        {"srs.param_cache", config->srs_param_cache, R_OK | X_OK, true, false},
        {"srs.circuit_cache", config->srs_circuit_cache, R_OK | W_OK | X_OK, true, false},
        {"circom.folder", config->circom_folder, R_OK | X_OK, true, true}, /* none: no circuits */
    };
    checking c = {config, report};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct stat st;
        const char *path = files[i].path, *reason = NULL;
        if (path[0] == 0) {
            continue;
        }
        if (files[i].is_folder && stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
            reason = "not a folder";
        } else if (access(path, files[i].mode) != 0 && !(files[i].may_lack && errno == ENOENT)) {
            reason = strerror(errno);
        }
        if (reason != NULL) {
            char text[512];
            snprintf(text, sizeof text, "\"%.300s\": %s", path, reason);
            doubtful(&c, files[i].key, text);
        }
    }
}
