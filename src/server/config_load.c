/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading of the configuration: table, then file, environment and flags over it. Every source is
 * read to its end, so that all that is wrong is told at once. */
#include "base/read_file.h"
#include "server/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cuzk_config *config;
    cuzk_config_report *report;
    const cuzk_config_sources *sources;
    const char *file; /* its name in messages */
} loading;

void cuzk_config_report_clear(cuzk_config_report *report)
{
    cuzk_text_clear(&report->errors);
    cuzk_text_clear(&report->warnings);
    *report = (cuzk_config_report){0};
}

/* One line, whatever a file puts into it. */
static void put_line(cuzk_text *out, const char *where, const char *text)
{
    cuzk_text_put(out, where);
    cuzk_text_put(out, where[0] != 0 ? ": " : "");
    for (; *text != 0; text++) {
        char c = iscntrl((unsigned char)*text) ? '?' : *text;
        cuzk_text_put_bytes(out, &c, 1);
    }
    cuzk_text_put(out, "\n");
}

/* The lines that a person reads; a file of nonsense has a mistake a line. */
static void note(cuzk_text *lines, size_t *n, const char *where, const char *text)
{
    enum { LINES_MAX = 100 };
    (*n)++;
    if (*n <= LINES_MAX) {
        put_line(lines, where, text);
    } else if (*n == LINES_MAX + 1) {
        put_line(lines, "", "and more");
    }
}

void cuzk_config_note_error(cuzk_config_report *report, const char *where, const char *text)
{
    note(&report->errors, &report->n_errors, where, text);
}

void cuzk_config_note_warning(cuzk_config_report *report, const char *where, const char *text)
{
    note(&report->warnings, &report->n_warnings, where, text);
}

static const cuzk_config_dead_key *find_dead(const char *key)
{
    size_t n;
    const cuzk_config_dead_key *dead = cuzk_config_dead_keys(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(dead[i].key, key) == 0) {
            return &dead[i];
        }
    }
    return NULL;
}

static void unknown_key(loading *l, const char *where, const char *key)
{
    char text[512];
    const char *nearest = cuzk_config_nearest(key);
    snprintf(text, sizeof text, "%.200s: there is no such key%s%s%s", key,
             nearest != NULL ? "; the nearest is " : "", nearest != NULL ? nearest : "",
             nearest != NULL ? "" : " (see cuzk config explain)");
    cuzk_config_note_error(l->report, where, text);
}

/* The row that a source may set; NULL when it is told already why there is none. */
static const cuzk_config_key *look_up(loading *l, const char *where, const char *key)
{
    const cuzk_config_dead_key *dead = find_dead(key);
    if (dead != NULL) {
        char text[256];
        snprintf(text, sizeof text, "%s has no effect: %s", key, dead->reason);
        cuzk_config_note_warning(l->report, where, text);
        return NULL;
    }
    const cuzk_config_key *row = cuzk_config_find(key);
    if (row == NULL) {
        unknown_key(l, where, key);
    } else if (strncmp(key, "test.", 5) == 0 && !l->sources->allow_test) {
        char text[256];
        snprintf(text, sizeof text, "%s: this is not the tests' program: nothing is injected here",
                 key);
        cuzk_config_note_error(l->report, where, text);
        row = NULL;
    }
    return row;
}

static cuzk_status set_origin(loading *l, const cuzk_config_key *row, const char *origin,
                              cuzk_error *err)
{
    size_t n;
    char **slot = &l->config->origins[row - cuzk_config_keys(&n)];
    char *copy = cuzk_config_copy(origin);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "out of memory");
    free(*slot);
    *slot = copy;
    return CUZK_OK;
}

/* What a set returned: a wrong value is noted, and the reading goes on. */
static cuzk_status note_result(loading *l, const cuzk_config_key *row, const char *where,
                               cuzk_status status, const cuzk_error *found, cuzk_error *err)
{
    if (status == CUZK_OK) {
        return set_origin(l, row, where, err);
    }
    if (status != CUZK_E_ARGUMENT) {
        return CUZK_FAIL(err, status, "%s", found->text);
    }
    char text[CUZK_ERROR_TEXT_MAX + 128];
    snprintf(text, sizeof text, "%s: %s", row->key, found->text);
    cuzk_config_note_error(l->report, where, text);
    return CUZK_OK;
}

/* Forms of the reference daemon's logging that are understood: a filter ("info,h2=warn") by the
 * level that stands alone in it, and the names of its human-readable formats. NULL: not one. */
static const char *old_form(char *room, size_t n_bytes, const char *key, const char *text)
{
    if (strcmp(key, "logging.format") == 0) {
        bool is_human = strcmp(text, "pretty") == 0 || strcmp(text, "compact") == 0 ||
                        strcmp(text, "full") == 0;
        return is_human ? "text" : NULL;
    }
    if (strcmp(key, "logging.level") == 0 && strcmp(text, "trace") == 0) {
        return "debug";
    }
    if (strcmp(key, "logging.level") != 0 || strpbrk(text, ",=") == NULL) {
        return NULL;
    }
    for (const char *p = text; *p != 0;) {
        size_t n = strcspn(p, ",");
        if (memchr(p, '=', n) == NULL && n < n_bytes) {
            memcpy(room, p, n);
            room[n] = 0;
            return room;
        }
        p += n + (p[n] != 0);
    }
    return "info";
}

static cuzk_status set_old_form(loading *l, const cuzk_config_key *row, const char *where,
                                const char *text, bool *done, cuzk_error *err)
{
    char room[32], note[512];
    const char *meant = old_form(room, sizeof room, row->key, text);
    *done = meant != NULL;
    if (meant == NULL) {
        return CUZK_OK;
    }
    snprintf(note, sizeof note, "%s: \"%.200s\" is taken as \"%s\"", row->key, text, meant);
    cuzk_config_note_warning(l->report, where, note);
    cuzk_error found = {0};
    cuzk_status status = cuzk_config_set_text(l->config, row, meant, &found);
    return note_result(l, row, where, status, &found, err);
}

static cuzk_status take_toml(void *user, const cuzk_toml_key *key, cuzk_error *err)
{
    loading *l = user;
    char where[512];
    snprintf(where, sizeof where, "%.400s:%u", l->file, key->line);
    if (key->value.type == CUZK_TOML_TABLE && strchr(key->path, '.') == NULL) {
        /* a section without keys is fine if it is one of ours */
        size_t n, length = strlen(key->path);
        const cuzk_config_key *rows = cuzk_config_keys(&n);
        for (size_t i = 0; i < n; i++) {
            if (strncmp(rows[i].key, key->path, length) == 0 && rows[i].key[length] == '.') {
                return CUZK_OK;
            }
        }
    }
    const cuzk_config_key *row = look_up(l, where, key->path);
    if (row == NULL) {
        return CUZK_OK;
    }
    bool done = false;
    if (key->value.type == CUZK_TOML_TEXT) {
        CUZK_TRY(set_old_form(l, row, where, key->value.text, &done, err));
    }
    if (done) {
        return CUZK_OK;
    }
    cuzk_error found = {0};
    cuzk_status status = cuzk_config_set_toml(l->config, row, &key->value, &found);
    return note_result(l, row, where, status, &found, err);
}

/* An error that ends the reading of the file comes back here, since the walker of the file has no
 * place for it. */
typedef struct {
    loading *loading;
    cuzk_error err;
} walk;

static cuzk_status each_key(void *user, const cuzk_toml_key *key)
{
    walk *w = user;
    return take_toml(w->loading, key, &w->err);
}

static cuzk_status load_text(loading *l, const char *text, size_t n_bytes, cuzk_error *err)
{
    unsigned line = 0;
    cuzk_error parse = {0};
    walk w = {.loading = l};
    cuzk_status status = cuzk_toml_read(text, n_bytes, &line, each_key, &w, &parse);
    if (status == CUZK_E_FORMAT) {
        char where[512];
        snprintf(where, sizeof where, "%.400s:%u", l->file, line);
        cuzk_config_note_error(l->report, where, parse.text);
        return CUZK_OK;
    }
    CUZK_FAIL_IF(status != CUZK_OK, err, status, "%s",
                 w.err.text[0] != 0 ? w.err.text : "out of memory");
    return CUZK_OK;
}

/* The file's bytes; *text NULL: there is no such file. */
static cuzk_status load_file(loading *l, cuzk_error *err)
{
    const cuzk_config_sources *s = l->sources;
    if (s->text != NULL) {
        return load_text(l, s->text, s->text_bytes, err);
    }
    char *text = NULL;
    size_t n_bytes = 0;
    if (access(l->file, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        CUZK_FAIL_IF(s->path != NULL, err, CUZK_E_FILE,
                     "configuration \"%.400s\": there is no "
                     "such file",
                     s->path);
        return CUZK_OK; /* the default file need not be there */
    }
    CUZK_TRY(cuzk_read_small_file(&text, &n_bytes, "the configuration", l->file, err));
    l->config->path = cuzk_config_copy(l->file);
    cuzk_status status = l->config->path != NULL ? load_text(l, text, n_bytes, err)
                                                 : CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    free(text);
    return status;
}

static cuzk_status set_from_text(loading *l, const cuzk_config_key *row, const char *where,
                                 const char *value, cuzk_error *err)
{
    bool done = false;
    CUZK_TRY(set_old_form(l, row, where, value, &done, err));
    if (done) {
        return CUZK_OK;
    }
    cuzk_error found = {0};
    cuzk_status status = cuzk_config_set_text(l->config, row, value, &found);
    return note_result(l, row, where, status, &found, err);
}

/* "CUZK_DAEMON_LISTEN" of "daemon.listen" */
static void variable_name(char *out, size_t n_bytes, const char *key)
{
    snprintf(out, n_bytes, "CUZK_%s", key);
    for (char *p = out; *p != 0; p++) {
        *p = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
    }
}

/* Variables of the reference daemon that have no effect, and what stands in their place. */
static const char *const old_variables[][2] = {
    {"RUST_LOG", "CUZK_LOGGING_LEVEL, logging.level"},
    {"CUZK_GPU_THREADS", "CUZK_GPUS_GPU_THREADS, gpus.gpu_threads"},
    {"CUZK_DISABLE_PCE", "nothing: circuits are always compiled"},
    {"CUZK_DISABLE_SPLIT_PROVE", "nothing: proofs are always finished beside the device's work"},
    {"CUZK_VALIDATE_PARTITIONS", "nothing: every partition is always verified"},
};

/* A variable whose name begins like a section of ours, and that no key has. */
static void unknown_variable(loading *l, const char *name)
{
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    char nearest[160] = "";
    for (size_t i = 0; i < n; i++) {
        char section[80];
        snprintf(section, sizeof section, "CUZK_%.*s_", (int)strcspn(rows[i].key, "."),
                 rows[i].key);
        for (char *p = section; *p != 0; p++) {
            *p = (char)toupper((unsigned char)*p);
        }
        size_t length = strlen(section);
        if (strncmp(name, section, length) != 0 || strcmp(section, "CUZK_TEST_") == 0) {
            continue;
        }
        char key[128];
        snprintf(key, sizeof key, "%.*s.%.60s", (int)strcspn(rows[i].key, "."), rows[i].key,
                 name + length);
        for (char *p = key; *p != 0; p++) {
            *p = (char)tolower((unsigned char)*p);
        }
        const char *meant = cuzk_config_nearest(key);
        variable_name(nearest, sizeof nearest, meant != NULL ? meant : rows[i].key);
        break;
    }
    if (nearest[0] != 0) {
        char text[256];
        snprintf(text, sizeof text, "no key has this name; the nearest is %s", nearest);
        cuzk_config_note_warning(l->report, name, text);
    }
}

static cuzk_status load_variable(loading *l, const char *name, const char *value, cuzk_error *err)
{
    for (size_t i = 0; i < sizeof old_variables / sizeof old_variables[0]; i++) {
        if (strcmp(name, old_variables[i][0]) == 0) {
            char text[160];
            snprintf(text, sizeof text, "has no effect; in its place: %s", old_variables[i][1]);
            cuzk_config_note_warning(l->report, name, text);
            return CUZK_OK;
        }
    }
    if (strncmp(name, "CUZK_", 5) != 0) {
        return CUZK_OK;
    }
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char own[128];
        variable_name(own, sizeof own, rows[i].key);
        if (strcmp(own, name) == 0) {
            const cuzk_config_key *row = look_up(l, name, rows[i].key);
            return row != NULL ? set_from_text(l, row, name, value, err) : CUZK_OK;
        }
    }
    unknown_variable(l, name);
    return CUZK_OK;
}

static cuzk_status load_environment(loading *l, cuzk_error *err)
{
    for (char *const *e = l->sources->environment; e != NULL && *e != NULL; e++) {
        const char *equals = strchr(*e, '=');
        char name[128];
        if (equals == NULL || (size_t)(equals - *e) >= sizeof name) {
            continue;
        }
        memcpy(name, *e, (size_t)(equals - *e));
        name[equals - *e] = 0;
        CUZK_TRY(load_variable(l, name, equals + 1, err));
    }
    return CUZK_OK;
}

static cuzk_status load_flags(loading *l, cuzk_error *err)
{
    const char *const *flags = l->sources->flags;
    for (size_t i = 0; flags != NULL && flags[i] != NULL; i++) {
        const char *where = l->sources->flag_names[i];
        const char *equals = strchr(flags[i], '=');
        char key[128];
        if (equals == NULL || (size_t)(equals - flags[i]) >= sizeof key) {
            char text[160];
            snprintf(text, sizeof text, "\"%.80s\": expected SECTION.KEY=VALUE", flags[i]);
            cuzk_config_note_error(l->report, where, text);
            continue;
        }
        memcpy(key, flags[i], (size_t)(equals - flags[i]));
        key[equals - flags[i]] = 0;
        const cuzk_config_key *row = look_up(l, where, key);
        if (row != NULL) {
            CUZK_TRY(set_from_text(l, row, where, equals + 1, err));
        }
    }
    return CUZK_OK;
}

/* The defaults stand in the table as in a file: they are read as one. */
static cuzk_status load_defaults(loading *l, cuzk_error *err)
{
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    cuzk_text text = {0};
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(&text, "%s = %s\n", rows[i].key, rows[i].initial);
    }
    cuzk_config_sources sources = {.allow_test = true};
    loading defaults = {l->config, l->report, &sources, "default"};
    cuzk_status status = cuzk_text_check(&text, err);
    if (status == CUZK_OK) {
        status = load_text(&defaults, text.data, text.size, err);
    }
    cuzk_text_clear(&text);
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        status = set_origin(l, &rows[i], "default", err);
    }
    return status;
}

cuzk_status cuzk_config_load(cuzk_config **out, cuzk_config_report *report,
                             const cuzk_config_sources *sources, cuzk_error *err)
{
    size_t n;
    cuzk_config_keys(&n);
    *out = NULL;
    cuzk_config *config = calloc(1, sizeof *config);
    CUZK_FAIL_IF(config == NULL, err, CUZK_E_MEMORY, "out of memory");
    loading l = {config, report, sources, sources->path != NULL ? sources->path : CUZK_CONFIG_PATH};
    cuzk_status status = CUZK_OK;
    config->origins = calloc(n, sizeof *config->origins);
    if (config->origins == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        goto out;
    }
    CUZK_TRY_OUT(status, load_defaults(&l, err));
    CUZK_TRY_OUT(status, load_file(&l, err));
    CUZK_TRY_OUT(status, load_environment(&l, err));
    CUZK_TRY_OUT(status, load_flags(&l, err));
    cuzk_config_check(config, report);
    if (report->errors.failed || report->warnings.failed) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    } else if (report->n_errors > 0) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT, "%.*s", (int)strcspn(report->errors.data, "\n"),
                           report->errors.data);
    }
out:
    if (status != CUZK_OK) {
        cuzk_config_destroy(config);
        return status;
    }
    *out = config;
    return CUZK_OK;
}

void cuzk_config_destroy(cuzk_config *config)
{
    if (config == NULL) {
        return;
    }
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        cuzk_config_clear_value(config, &rows[i]);
        if (config->origins != NULL) {
            free(config->origins[i]);
        }
    }
    free(config->origins);
    free(config->path);
    free(config);
}
