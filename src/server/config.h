/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's configuration: a struct that is made from one table (config_table.h), and the
 * reading of it from a TOML file, the environment and the command line.
 *
 * Later sources win: table, file, environment (CUZK_SECTION_NAME), flags. All that is wrong
 * anywhere is reported together, with file and line; then nothing is applied. */
#ifndef CUZK_SERVER_CONFIG_H
#define CUZK_SERVER_CONFIG_H

#include "base/status.h"
#include "base/text.h"
#include "server/config_table.h"

#include <stdint.h>

typedef struct {
    size_t n;
    char **items;
} cuzk_config_list;

/* C types of the table's types */
typedef bool cuzk_config_BOOL;
typedef uint64_t cuzk_config_NUMBER;
typedef uint64_t cuzk_config_SIZE;     /* bytes */
typedef uint64_t cuzk_config_DURATION; /* ns */
typedef char *cuzk_config_TEXT;        /* never NULL */
typedef unsigned cuzk_config_CHOICE;   /* index of the word */
typedef cuzk_config_list cuzk_config_LIST;

/* Fields are called SECTION_NAME: daemon_listen. A word that a key takes in place of a value
 * ("auto", "never", "none") is 0, for a text the empty one. */
typedef struct cuzk_config {
#define CUZK_CONFIG_FIELD(section, name, type, ...) cuzk_config_##type section##_##name;
    CUZK_CONFIG_KEYS(CUZK_CONFIG_FIELD)
#undef CUZK_CONFIG_FIELD
    char **origins; /* by row of the table: "default", "FILE:LINE", "CUZK_…", "--set" */
    char *path;     /* of the file that was read; NULL: none */
} cuzk_config;

typedef enum {
    CUZK_CONFIG_BOOL,
    CUZK_CONFIG_NUMBER,
    CUZK_CONFIG_SIZE,
    CUZK_CONFIG_DURATION,
    CUZK_CONFIG_TEXT,
    CUZK_CONFIG_CHOICE,
    CUZK_CONFIG_LIST
} cuzk_config_type;

/* A row of the table. */
typedef struct {
    const char *key; /* "daemon.listen" */
    cuzk_config_type type;
    size_t offset;       /* of the field in cuzk_config */
    uint64_t lo, hi;     /* NUMBER, SIZE, DURATION; LIST: how many items */
    const char *initial; /* the default as it stands in a file, with quotes where it needs them */
    const char *words;   /* CHOICE: "error|warn|info"; else the word for 0, or NULL */
    bool is_live;        /* SIGHUP changes it */
    const char *help;    /* sentences, may hold line breaks */
} cuzk_config_key;

/* Keys of the reference daemon that are taken and have no effect. */
typedef struct {
    const char *key;
    const char *reason; /* what stands in its place */
} cuzk_config_dead_key;

/** The table, in the order of the file. *n: rows. */
const cuzk_config_key *cuzk_config_keys(size_t *n);
const cuzk_config_dead_key *cuzk_config_dead_keys(size_t *n);

/** The row of a key, or NULL. */
const cuzk_config_key *cuzk_config_find(const char *key);

/** The known key that is nearest to a wrong one, or NULL when none is near. */
const char *cuzk_config_nearest(const char *key);

/* What was found wrong or worth a warning, one line each: "FILE:LINE: text"; at most 100 of either,
 * all of them counted. */
typedef struct {
    cuzk_text errors, warnings;
    size_t n_errors, n_warnings;
} cuzk_config_report;

void cuzk_config_report_clear(cuzk_config_report *report);

enum { CUZK_CONFIG_ITEMS_MAX = 64 /* of a list */ };

typedef struct {
    const char *path; /* NULL: CUZK_CONFIG_PATH, which may be missing */
    const char *text; /* not NULL: the file's content is this, path is its name in messages */
    size_t text_bytes;
    char *const *environment;      /* "NAME=VALUE", ends with NULL; NULL: none */
    const char *const *flags;      /* "daemon.listen=ADDR", ends with NULL; NULL: none */
    const char *const *flag_names; /* as many: "--listen", "--set", for messages */
    bool allow_test;               /* take the keys of section test: of the tests' program only */
} cuzk_config_sources;

#define CUZK_CONFIG_PATH "/data/zk/cuzk.toml"

/** Read a configuration. Returned: cuzk_config_destroy. report: filled also on success; all zero
 *  before. Errors: E_ARGUMENT with the first of report->errors; E_FILE; E_MEMORY. */
cuzk_status cuzk_config_load(cuzk_config **out, cuzk_config_report *report,
                             const cuzk_config_sources *sources, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_config_destroy(cuzk_config *config);

/** Warn about files and folders that are named and are not there, or cannot be used: they may come
 *  later. */
void cuzk_config_look_for_files(const cuzk_config *config, cuzk_config_report *report);

/** Append a key's value as it stands in a file: 5GiB as "5GiB" with quotes, a list in brackets. */
void cuzk_config_print_value(cuzk_text *out, const cuzk_config *config, const cuzk_config_key *key);

/** Append the whole configuration as a file that cuzk_config_load reads to the same values, each
 *  line with its origin. */
void cuzk_config_print(cuzk_text *out, const cuzk_config *config);

/** Append what the table says about a key: type, bounds, unit, default, names, help. False: no such
 *  key. */
bool cuzk_config_explain(cuzk_text *out, const char *key);

/** Append examples/cuzk.toml / docs/configuration.md, both made from the table alone. */
void cuzk_config_write_example(cuzk_text *out);
void cuzk_config_write_manual(cuzk_text *out);

/** Whether a key has the same value in both. */
bool cuzk_config_is_equal(const cuzk_config *a, const cuzk_config *b, const cuzk_config_key *key);

/** Host memory that this process may use: MemTotal, or the smallest limit of its cgroups (v1 or v2)
 *  if that is less. root: "" for the system, or a folder that stands for / in tests. limited_by:
 *  what decided, for the log; at least 256 bytes. Errors: E_FILE. */
cuzk_status cuzk_memory_limit(uint64_t *bytes, char *limited_by, const char *root,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** memory.total_budget in bytes: as configured, or what cuzk_memory_limit gives less the margin.
 *  Errors: E_FILE, E_ARGUMENT (the margin leaves nothing). */
cuzk_status cuzk_config_budget(uint64_t *bytes, char *limited_by, const cuzk_config *config,
                               const char *root, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
