/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_ = 128, FAMILIES_MAX = 256, SERIES_MAX = 8192 };

typedef struct {
    char families[FAMILIES_MAX][NAME_MAX_]; /* seen so far; the last one is read now */
    size_t n_families;
    char type[16];
    bool has_help, has_type;
    const char *series[SERIES_MAX];
    size_t series_bytes[SERIES_MAX];
    size_t n_series;
    double last_bucket, last_bound; /* of the histogram series that is read now */
    bool saw_infinity;
} reader;

static char wrong[512];

static const char *fail(const char *what, const char *line)
{
    snprintf(wrong, sizeof wrong, "%s: %.*s", what, (int)strcspn(line, "\n"), line);
    return wrong;
}

static size_t name_length(const char *p, bool colon)
{
    size_t n = 0;
    while (isalpha((unsigned char)p[n]) || p[n] == '_' || (colon && p[n] == ':') ||
           (n > 0 && isdigit((unsigned char)p[n]))) {
        n++;
    }
    return n;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* "# HELP name text" or "# TYPE name type" */
static const char *read_comment(reader *r, const char *line)
{
    bool is_help = strncmp(line, "# HELP ", 7) == 0;
    if (!is_help && strncmp(line, "# TYPE ", 7) != 0) {
        return fail("neither HELP nor TYPE", line);
    }
    char name[NAME_MAX_];
    size_t n = name_length(line + 7, true);
    if (n == 0 || n >= sizeof name || line[7 + n] != ' ') {
        return fail("no name", line);
    }
    memcpy(name, line + 7, n);
    name[n] = 0;
    if (is_help) {
        for (size_t i = 0; i < r->n_families; i++) {
            if (strcmp(r->families[i], name) == 0) {
                return fail("family in two pieces", line);
            }
        }
        if (r->n_families == FAMILIES_MAX) {
            return fail("too many families", line);
        }
        strcpy(r->families[r->n_families++], name);
        r->has_help = true;
        r->has_type = false;
        return NULL;
    }
    if (!r->has_help || r->has_type || strcmp(r->families[r->n_families - 1], name) != 0) {
        return fail("TYPE without its HELP in front", line);
    }
    r->has_type = true;
    size_t m = strcspn(line + 8 + n, "\n");
    snprintf(r->type, sizeof r->type, "%.*s", (int)m, line + 8 + n);
    static const char *const types[] = {"counter", "gauge", "histogram", "summary", "untyped"};
    for (size_t i = 0; i < 5; i++) {
        if (strcmp(types[i], r->type) == 0) {
            bool is_counter = i == 0;
            return is_counter != ends_with(name, "_total") ? fail("_total and counter", line)
                                                           : NULL;
        }
    }
    return fail("unknown type", line);
}

/* Labels in braces at p; the end behind them, or NULL. le: the bound of a bucket. */
static const char *skip_labels(const char *p, double *le)
{
    for (p++; *p != '}';) {
        size_t n = name_length(p, false);
        if (n == 0 || p[n] != '=' || p[n + 1] != '"') {
            return NULL;
        }
        if (n == 2 && strncmp(p, "le", 2) == 0) {
            *le = strtod(p + 4, NULL);
        }
        for (p += n + 2; *p != '"'; p++) {
            if (*p == 0 || *p == '\n' || (*p == '\\' && strchr("\\\"n", *++p) == NULL)) {
                return NULL;
            }
        }
        p++;
        if (*p == ',') {
            p++;
        } else if (*p != '}') {
            return NULL;
        }
    }
    return p + 1;
}

static const char *read_bucket(reader *r, const char *line, double le, double value)
{
    if (isnan(le)) {
        return fail("bucket without le", line);
    }
    if (r->saw_infinity || isnan(r->last_bound)) {
        r->last_bound = -INFINITY;
        r->last_bucket = 0;
        r->saw_infinity = false;
    }
    if (!(le > r->last_bound) || value < r->last_bucket) {
        return fail("buckets do not grow", line);
    }
    r->last_bound = le;
    r->last_bucket = value;
    r->saw_infinity = isinf(le);
    return NULL;
}

static const char *read_sample(reader *r, const char *line)
{
    char name[NAME_MAX_];
    size_t n = name_length(line, true);
    if (n == 0 || n >= sizeof name) {
        return fail("no name", line);
    }
    memcpy(name, line, n);
    name[n] = 0;
    double le = NAN;
    const char *p = line + n;
    if (*p == '{') {
        p = skip_labels(p, &le);
    }
    if (p == NULL || *p != ' ') {
        return fail("labels", line);
    }
    size_t series_bytes = (size_t)(p - line);
    char *end;
    double value = strtod(p + 1, &end);
    if (end == p + 1 || *end != '\n') {
        return fail("value", line);
    }
    if (!r->has_type) {
        return fail("sample without TYPE", line);
    }
    const char *family = r->families[r->n_families - 1];
    size_t m = strlen(family);
    if (strncmp(name, family, m) != 0) {
        return fail("sample of another family", line);
    }
    const char *part = name + m;
    bool is_histogram = strcmp(r->type, "histogram") == 0;
    bool is_summary = strcmp(r->type, "summary") == 0;
    bool known = part[0] == 0 ? !is_histogram
                 : is_histogram || is_summary
                     ? strcmp(part, "_sum") == 0 || strcmp(part, "_count") == 0 ||
                           (is_histogram && strcmp(part, "_bucket") == 0)
                     : false;
    if (!known) {
        return fail("no part of its family", line);
    }
    for (size_t i = 0; i < r->n_series; i++) {
        if (r->series_bytes[i] == series_bytes && memcmp(r->series[i], line, series_bytes) == 0) {
            return fail("series comes twice", line);
        }
    }
    if (r->n_series == SERIES_MAX) {
        return fail("too many series", line);
    }
    r->series[r->n_series] = line;
    r->series_bytes[r->n_series++] = series_bytes;
    if (strcmp(part, "_bucket") == 0) {
        return read_bucket(r, line, le, value);
    }
    if (is_histogram && strcmp(part, "_count") == 0 &&
        (!r->saw_infinity || value != r->last_bucket)) {
        return fail("count is not that of the last bucket", line);
    }
    return NULL;
}

const char *cuzk_test_exposition(const char *text)
{
    static reader r;
    memset(&r, 0, sizeof r);
    r.last_bound = NAN;
    for (const char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
        if (strchr(line, '\n') == NULL) {
            return fail("no line break at the end", line);
        }
        const char *found = line[0] == '#' ? read_comment(&r, line) : read_sample(&r, line);
        if (found != NULL) {
            return found;
        }
    }
    return r.n_series == 0 ? "empty" : NULL;
}

double cuzk_test_sample(const char *text, const char *series)
{
    size_t n = strlen(series);
    for (const char *p = strstr(text, series); p != NULL; p = strstr(p + 1, series)) {
        if ((p == text || p[-1] == '\n') && p[n] == ' ') {
            return strtod(p + n + 1, NULL);
        }
    }
    return NAN;
}
