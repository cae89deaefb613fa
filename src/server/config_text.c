/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The configuration and its table as text: print, explain, the example file, the manual. */
#include "server/config_value.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Help lines with something in front of each. */
static void put_help(cuzk_text *out, const char *help, const char *prefix)
{
    for (const char *p = help; *p != 0;) {
        size_t n = strcspn(p, "\n");
        cuzk_text_printf(out, "%s%.*s\n", prefix, (int)n, p);
        p += n + (p[n] != 0);
    }
}

static void put_variable(cuzk_text *out, const char *key)
{
    cuzk_text_put(out, "CUZK_");
    for (; *key != 0; key++) {
        char c = *key == '.' ? '_' : (char)toupper((unsigned char)*key);
        cuzk_text_put_bytes(out, &c, 1);
    }
}

/* Whether row i begins a section; its name's length. */
static bool begins_section(const cuzk_config_key *rows, size_t i, int *length)
{
    *length = (int)strcspn(rows[i].key, ".");
    return i == 0 || strncmp(rows[i].key, rows[i - 1].key, (size_t)*length + 1) != 0;
}

static const char *name_of(const cuzk_config_key *row)
{
    return strchr(row->key, '.') + 1;
}

void cuzk_config_print(cuzk_text *out, const cuzk_config *config)
{
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        int length;
        if (strncmp(rows[i].key, "test.", 5) == 0 && strcmp(config->origins[i], "default") == 0) {
            continue; /* a daemon refuses the section */
        }
        if (begins_section(rows, i, &length)) {
            cuzk_text_printf(out, "%s[%.*s]\n", i > 0 ? "\n" : "", length, rows[i].key);
        }
        cuzk_text line = {0};
        cuzk_text_printf(&line, "%s = ", name_of(&rows[i]));
        cuzk_config_print_value(&line, config, &rows[i]);
        cuzk_text_printf(out, "%-48s # ", line.data != NULL ? line.data : "");
        for (const char *o = config->origins[i]; *o != 0; o++) {
            char c = iscntrl((unsigned char)*o) ? '?' : *o;
            cuzk_text_put_bytes(out, &c, 1);
        }
        cuzk_text_put(out, "\n");
        out->failed = out->failed || line.failed;
        cuzk_text_clear(&line);
    }
}

bool cuzk_config_explain(cuzk_text *out, const char *key)
{
    const cuzk_config_key *row = cuzk_config_find(key);
    if (row == NULL) {
        size_t n;
        const cuzk_config_dead_key *dead = cuzk_config_dead_keys(&n);
        for (size_t i = 0; i < n; i++) {
            if (strcmp(dead[i].key, key) == 0) {
                cuzk_text_printf(out, "%s\n  has no effect: %s.\n", key, dead[i].reason);
                return true;
            }
        }
        return false;
    }
    cuzk_text_printf(out, "%s\n", row->key);
    put_help(out, row->help, "  ");
    cuzk_text_put(out, "  takes        ");
    cuzk_config_expected(out, row);
    cuzk_text_printf(out, "\n  default      %s\n  changes      %s\n  environment  ", row->initial,
                     row->is_live ? "while it runs, at SIGHUP" : "with a restart");
    put_variable(out, row->key);
    cuzk_text_printf(out, "\n  flag         --set %s=VALUE\n", row->key);
    return true;
}

void cuzk_config_write_example(cuzk_text *out)
{
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    cuzk_text_put(
        out, "# Configuration of cuzk serve: every key with its default. Made from the "
             "program's own table\n# (cuzk config example); read by default from " CUZK_CONFIG_PATH
             ".\n#\n"
             "# Sizes: 5GiB, 512MiB, 4GB, or bytes. Times: 100us, 500ms, 30s, 5m, 2h, 7d, or "
             "seconds.\n# (live): SIGHUP changes it while the daemon runs.\n");
    for (size_t i = 0; i < n; i++) {
        int length;
        if (strncmp(rows[i].key, "test.", 5) == 0) {
            continue;
        }
        if (begins_section(rows, i, &length)) {
            cuzk_text_printf(out, "\n[%.*s]\n", length, rows[i].key);
        }
        cuzk_text_put(out, "\n");
        put_help(out, rows[i].help, "# ");
        cuzk_text_put(out, "# Takes ");
        cuzk_config_expected(out, &rows[i]);
        cuzk_text_printf(out, ".%s\n%s = %s\n", rows[i].is_live ? " (live)" : "", name_of(&rows[i]),
                         rows[i].initial);
    }
}

void cuzk_config_write_manual(cuzk_text *out)
{
    size_t n;
    const cuzk_config_key *rows = cuzk_config_keys(&n);
    cuzk_text_put(
        out,
        "# Configuration\n\n"
        "This page is made from the program's own table (`cuzk config manual`).\n\n"
        "`cuzk serve` reads `" CUZK_CONFIG_PATH "`, or the file after `-c`; the default file need "
        "not be there. Over the file go\nenvironment variables (`CUZK_` and the key in capitals: "
        "`CUZK_DAEMON_LISTEN`), over these flags (`--set daemon.listen=ADDRESS`,\nand `--listen`, "
        "`--status-listen`, `--journal`, `--log-level`). Lists are written with commas there, or "
        "as\nin the file.\n"
        "An unknown key, a value out of bounds or keys that do not fit together stop the start, "
        "with file and line of each; nothing\nis taken from such a file, also not at SIGHUP.\n\n"
        "    cuzk config check [FILE]    what is wrong in it\n"
        "    cuzk config print           what is in force, and where each value comes from\n"
        "    cuzk config explain [KEY]   what a key means\n\n"
        "Sizes: 5GiB, 512MiB, 4GB, or bytes. Times: 100us, 500ms, 30s, 5m, 2h, 7d, or seconds. A "
        "key that "
        "is *live* changes at SIGHUP\n(`systemctl reload`); the log names those that need a "
        "restart.\n");
    for (size_t i = 0; i < n; i++) {
        int length;
        if (strncmp(rows[i].key, "test.", 5) == 0) {
            continue;
        }
        if (begins_section(rows, i, &length)) {
            cuzk_text_printf(out, "\n## %.*s\n", length, rows[i].key);
        }
        cuzk_text_printf(out, "\n`%s` = `%s`%s\n\n", rows[i].key, rows[i].initial,
                         rows[i].is_live ? ", live" : "");
        put_help(out, rows[i].help, "> ");
        cuzk_text_put(out, "> Takes ");
        cuzk_config_expected(out, &rows[i]);
        cuzk_text_put(out, ".\n");
    }
    cuzk_text_put(out, "\n## Keys of the reference daemon without effect\n\n"
                       "They are taken, and named in a warning.\n\n"
                       "| key | in its place |\n| --- | --- |\n");
    const cuzk_config_dead_key *dead = cuzk_config_dead_keys(&n);
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(out, "| `%s` | %s |\n", dead[i].key, dead[i].reason);
    }
}

bool cuzk_config_is_equal(const cuzk_config *a, const cuzk_config *b, const cuzk_config_key *key)
{
    cuzk_text x = {0}, y = {0};
    cuzk_config_print_value(&x, a, key);
    cuzk_config_print_value(&y, b, key);
    bool equal = !x.failed && !y.failed && x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    cuzk_text_clear(&x);
    cuzk_text_clear(&y);
    return equal;
}
