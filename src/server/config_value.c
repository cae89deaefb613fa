/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values of the table's types. */
#include "server/config_value.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    uint64_t factor;
} unit;

/* largest first, those that are powers of 1024 before the others: what is printed uses the first
 * that divides */
static const unit size_units[] = {{"TiB", CUZK_TIB},
                                  {"GiB", CUZK_GIB},
                                  {"MiB", CUZK_MIB},
                                  {"KiB", CUZK_KIB},
                                  {"TB", 1000000000000u},
                                  {"GB", 1000000000u},
                                  {"MB", 1000000u},
                                  {"kB", 1000},
                                  {"KB", 1000},
                                  {"B", 1},
                                  {NULL, 0}};
static const unit time_units[] = {{"d", CUZK_DAY}, {"h", 60 * CUZK_MINUTE}, {"m", CUZK_MINUTE},
                                  {"s", CUZK_SEC}, {"ms", CUZK_MS},         {"us", CUZK_US},
                                  {NULL, 0}};

static void *field(cuzk_config *config, const cuzk_config_key *key)
{
    return (char *)config + key->offset;
}

static const void *field_of(const cuzk_config *config, const cuzk_config_key *key)
{
    return (const char *)config + key->offset;
}

char *cuzk_config_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy != NULL) {
        memcpy(copy, text, n);
    }
    return copy;
}

/* A default in base eight, such as permission bits: shown and read in it. */
static bool is_octal(const cuzk_config_key *key)
{
    return key->type == CUZK_CONFIG_NUMBER && strncmp(key->initial, "0o", 2) == 0;
}

static void put_with_unit(cuzk_text *out, uint64_t value, const unit *units)
{
    for (; units->name != NULL; units++) {
        if (value != 0 && value % units->factor == 0) {
            cuzk_text_printf(out, "%" PRIu64 "%s", value / units->factor, units->name);
            return;
        }
    }
    cuzk_text_printf(out, "%" PRIu64, value);
}

static void put_number(cuzk_text *out, const cuzk_config_key *key, uint64_t value)
{
    switch (key->type) {
    case CUZK_CONFIG_SIZE:
        put_with_unit(out, value, size_units);
        break;
    case CUZK_CONFIG_DURATION:
        put_with_unit(out, value, time_units);
        break;
    default:
        cuzk_text_printf(out, is_octal(key) ? "0o%" PRIo64 : "%" PRIu64, value);
        break;
    }
}

void cuzk_config_expected(cuzk_text *out, const cuzk_config_key *key)
{
    switch (key->type) {
    case CUZK_CONFIG_BOOL:
        cuzk_text_put(out, "true or false");
        return;
    case CUZK_CONFIG_CHOICE:
        for (const char *w = key->words; *w != 0;) {
            size_t n = strcspn(w, "|");
            cuzk_text_printf(out, "%s%.*s", w == key->words ? "one of " : ", ", (int)n, w);
            w += n + (w[n] != 0);
        }
        return;
    case CUZK_CONFIG_TEXT:
        cuzk_text_put(out, "a text");
        break;
    case CUZK_CONFIG_LIST:
        cuzk_text_printf(out, "a text or a list of %" PRIu64 " to %" PRIu64, key->lo, key->hi);
        break;
    default:
        cuzk_text_put(out, key->type == CUZK_CONFIG_SIZE
                               ? "a size such as 5GiB, 512MiB, 4GB, or bytes"
                           : key->type == CUZK_CONFIG_DURATION
                               ? "a time such as 30s, 5m, 2h, 7d, 500ms, 100us, or seconds"
                               : "a whole number");
        cuzk_text_put(out, ", from ");
        put_number(out, key, key->lo);
        cuzk_text_put(out, " to ");
        put_number(out, key, key->hi);
    }
    if (key->words != NULL) {
        cuzk_text_printf(out, ", or \"%s\"", key->words);
    }
}

/* "FOUND is not allowed: expected …" */
static cuzk_status refuse_what(cuzk_error *err, const cuzk_config_key *key, const char *found)
{
    cuzk_text expected = {0};
    cuzk_config_expected(&expected, key);
    cuzk_status status = expected.failed
                             ? CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory")
                             : CUZK_FAIL(err, CUZK_E_ARGUMENT, "%.200s is not allowed: expected %s",
                                         found, expected.data);
    cuzk_text_clear(&expected);
    return status;
}

/* The same of a value that is shown as it was written. */
static cuzk_status refuse(cuzk_error *err, const cuzk_config_key *key, const char *found)
{
    cuzk_text shown = {0};
    cuzk_text_put_json_string(&shown, found);
    cuzk_status status = shown.failed ? CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory")
                                      : refuse_what(err, key, shown.data);
    cuzk_text_clear(&shown);
    return status;
}

/* The table's bounds. */
static cuzk_status put_checked(cuzk_config *config, const cuzk_config_key *key, uint64_t value,
                               const char *found, cuzk_error *err)
{
    if (value < key->lo || value > key->hi) {
        return refuse(err, key, found);
    }
    *(uint64_t *)field(config, key) = value;
    return CUZK_OK;
}

/* Digits, then one of the units with or without a space; none: times `plain`. */
static bool read_with_unit(uint64_t *out, const char *text, const unit *units, uint64_t plain)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 19) {
        return false;
    }
    uint64_t value = strtoull(text, NULL, 10);
    const char *rest = text + n;
    uint64_t factor = plain;
    if (*rest != 0) {
        rest += *rest == ' ';
        while (units->name != NULL && strcmp(units->name, rest) != 0) {
            units++;
        }
        if (units->name == NULL) {
            return false;
        }
        factor = units->factor;
    }
    return !__builtin_mul_overflow(value, factor, out);
}

static bool read_number(uint64_t *out, const char *text, bool octal)
{
    bool has_prefix = text[0] == '0' && text[1] == 'o';
    int base = has_prefix || (octal && text[0] == '0') ? 8 : 10;
    text += has_prefix ? 2 : 0;
    size_t n = strlen(text);
    if (n == 0 || n > 19 || strspn(text, base == 8 ? "01234567" : "0123456789") != n) {
        return false;
    }
    *out = strtoull(text, NULL, base);
    return true;
}

/* Only valid UTF-8 (without surrogates and overlong forms) and no NUL can stand in a file again. */
static bool is_utf8(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    for (size_t n = strlen(text); n > 0;) {
        size_t length = cuzk_utf8_length(p, n);
        if (length == 0) {
            return false;
        }
        p += length;
        n -= length;
    }
    return true;
}

static cuzk_status set_choice(cuzk_config *config, const cuzk_config_key *key, const char *text,
                              cuzk_error *err)
{
    unsigned index = 0;
    for (const char *w = key->words; *w != 0; index++) {
        size_t n = strcspn(w, "|");
        if (strlen(text) == n && strncmp(w, text, n) == 0) {
            *(unsigned *)field(config, key) = index;
            return CUZK_OK;
        }
        w += n + (w[n] != 0);
    }
    return refuse(err, key, text);
}

static void clear_list(cuzk_config_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (cuzk_config_list){0};
}

/* Copy n items into the field. */
static cuzk_status set_list(cuzk_config *config, const cuzk_config_key *key,
                            const char *const *items, size_t n, cuzk_error *err)
{
    if (n < key->lo || n > key->hi) {
        char found[32];
        snprintf(found, sizeof found, "%zu items", n);
        return refuse_what(err, key, found);
    }
    cuzk_config_list list = {.items = calloc(n + 1, sizeof *list.items)};
    CUZK_FAIL_IF(list.items == NULL, err, CUZK_E_MEMORY, "out of memory");
    for (; list.n < n; list.n++) {
        list.items[list.n] = cuzk_config_copy(items[list.n]);
        if (list.items[list.n] == NULL) {
            clear_list(&list);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        }
    }
    clear_list(field(config, key));
    *(cuzk_config_list *)field(config, key) = list;
    return CUZK_OK;
}

/* Items between commas, without the spaces around them. */
static cuzk_status set_list_text(cuzk_config *config, const cuzk_config_key *key, const char *text,
                                 cuzk_error *err)
{
    char *copy = cuzk_config_copy(text);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "out of memory");
    const char *items[CUZK_CONFIG_ITEMS_MAX + 1];
    size_t n = 0;
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item != NULL && n <= CUZK_CONFIG_ITEMS_MAX;
         item = strsep(&rest, ",")) {
        item += strspn(item, " ");
        size_t length = strlen(item);
        while (length > 0 && item[length - 1] == ' ') {
            item[--length] = 0;
        }
        if (length > 0) {
            items[n++] = item;
        }
    }
    cuzk_status status = set_list(config, key, items, n, err);
    free(copy);
    return status;
}

static cuzk_status set_string(cuzk_config *config, const cuzk_config_key *key, const char *text,
                              cuzk_error *err)
{
    char *copy = cuzk_config_copy(text);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "out of memory");
    char **slot = field(config, key);
    free(*slot);
    *slot = copy;
    return CUZK_OK;
}

typedef struct {
    cuzk_config *config;
    const cuzk_config_key *key;
    cuzk_error *err;
} list_of_text;

static cuzk_status take_list(void *user, const cuzk_toml_key *found)
{
    list_of_text *l = user;
    return cuzk_config_set_toml(l->config, l->key, &found->value, l->err);
}

/* A list as it stands in a file: ["a", "b"]. */
static cuzk_status set_list_in_brackets(cuzk_config *config, const cuzk_config_key *key,
                                        const char *text, cuzk_error *err)
{
    if (strpbrk(text, "\r\n") != NULL) {
        return refuse(err, key, text); /* there could be more keys */
    }
    cuzk_text file = {0};
    cuzk_text_printf(&file, "list = %s", text);
    unsigned line;
    list_of_text l = {config, key, err};
    cuzk_status status = file.failed
                             ? CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory")
                             : cuzk_toml_read(file.data, file.size, &line, take_list, &l, NULL);
    cuzk_text_clear(&file);
    return status == CUZK_E_FORMAT ? refuse(err, key, text) : status;
}

cuzk_status cuzk_config_set_text(cuzk_config *config, const cuzk_config_key *key, const char *text,
                                 cuzk_error *err)
{
    CUZK_FAIL_IF(!is_utf8(text), err, CUZK_E_ARGUMENT, "the value is not UTF-8");
    bool is_word =
        key->type != CUZK_CONFIG_CHOICE && key->words != NULL && strcmp(text, key->words) == 0;
    uint64_t value = 0;
    switch (key->type) {
    case CUZK_CONFIG_BOOL: {
        bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
            return refuse(err, key, text);
        }
        *(bool *)field(config, key) = yes;
        return CUZK_OK;
    }
    case CUZK_CONFIG_TEXT:
        return set_string(config, key, is_word ? "" : text, err);
    case CUZK_CONFIG_CHOICE:
        return set_choice(config, key, text, err);
    case CUZK_CONFIG_LIST:
        /* an address of IPv6 begins with a bracket too, and ends in its port */
        return text[0] == '[' && text[strlen(text) - 1] == ']'
                   ? set_list_in_brackets(config, key, text, err)
                   : set_list_text(config, key, text, err);
    default:
        break;
    }
    if (is_word) {
        *(uint64_t *)field(config, key) = 0;
        return CUZK_OK;
    }
    bool ok = key->type == CUZK_CONFIG_SIZE ? read_with_unit(&value, text, size_units, 1)
              : key->type == CUZK_CONFIG_DURATION
                  ? read_with_unit(&value, text, time_units, CUZK_SEC)
                  : read_number(&value, text, is_octal(key));
    return ok ? put_checked(config, key, value, text, err) : refuse(err, key, text);
}

static cuzk_status set_list_toml(cuzk_config *config, const cuzk_config_key *key,
                                 const cuzk_toml_value *value, cuzk_error *err)
{
    const char *items[CUZK_CONFIG_ITEMS_MAX];
    char numbers[CUZK_CONFIG_ITEMS_MAX][24];
    if (value->n_items > CUZK_CONFIG_ITEMS_MAX) {
        return refuse_what(err, key, "a longer list");
    }
    for (size_t i = 0; i < value->n_items; i++) {
        const cuzk_toml_value *v = &value->items[i];
        if (v->type == CUZK_TOML_NUMBER && v->number >= 0) {
            snprintf(numbers[i], sizeof numbers[i], "%" PRId64, v->number);
            items[i] = numbers[i];
        } else if (v->type == CUZK_TOML_TEXT && strlen(v->text) == v->text_bytes) {
            items[i] = v->text;
        } else {
            return CUZK_FAIL(err, CUZK_E_ARGUMENT,
                             "item %zu of the list is neither a text nor a number", i + 1);
        }
    }
    return set_list(config, key, items, value->n_items, err);
}

cuzk_status cuzk_config_set_toml(cuzk_config *config, const cuzk_config_key *key,
                                 const cuzk_toml_value *value, cuzk_error *err)
{
    bool is_number_type = key->type == CUZK_CONFIG_NUMBER || key->type == CUZK_CONFIG_SIZE ||
                          key->type == CUZK_CONFIG_DURATION;
    if (value->type == CUZK_TOML_BOOL && key->type == CUZK_CONFIG_BOOL) {
        *(bool *)field(config, key) = value->number != 0;
        return CUZK_OK;
    }
    if (value->type == CUZK_TOML_NUMBER && is_number_type) {
        char found[24];
        snprintf(found, sizeof found, "%" PRId64, value->number);
        uint64_t scaled = 0;
        uint64_t factor = key->type == CUZK_CONFIG_DURATION ? CUZK_SEC : 1;
        if (value->number < 0 || __builtin_mul_overflow((uint64_t)value->number, factor, &scaled)) {
            return refuse(err, key, found);
        }
        return put_checked(config, key, scaled, found, err);
    }
    if (value->type == CUZK_TOML_ARRAY && key->type == CUZK_CONFIG_LIST) {
        return set_list_toml(config, key, value, err);
    }
    if (value->type == CUZK_TOML_TEXT && key->type != CUZK_CONFIG_NUMBER &&
        key->type != CUZK_CONFIG_BOOL) {
        CUZK_FAIL_IF(strlen(value->text) != value->text_bytes, err, CUZK_E_ARGUMENT,
                     "the text holds a NUL");
        if (key->type == CUZK_CONFIG_LIST) {
            /* one item, whatever commas it holds; an empty text is an empty list */
            return set_list(config, key, &value->text, value->text[0] != 0, err);
        }
        return cuzk_config_set_text(config, key, value->text, err);
    }
    static const char *const names[] = {"true or false", "a number", "a text",
                                        "a list",        "a table",  "a fraction or a date"};
    return refuse_what(err, key, names[value->type]);
}

void cuzk_config_clear_value(cuzk_config *config, const cuzk_config_key *key)
{
    if (key->type == CUZK_CONFIG_TEXT) {
        char **slot = field(config, key);
        free(*slot);
        *slot = NULL;
    } else if (key->type == CUZK_CONFIG_LIST) {
        clear_list(field(config, key));
    }
}

static void put_list(cuzk_text *out, const cuzk_config_list *list)
{
    cuzk_text_put(out, "[");
    for (size_t i = 0; i < list->n; i++) {
        cuzk_text_put(out, i > 0 ? ", " : "");
        cuzk_text_put_json_string(out, list->items[i]);
    }
    cuzk_text_put(out, "]");
}

void cuzk_config_print_value(cuzk_text *out, const cuzk_config *config, const cuzk_config_key *key)
{
    const void *f = field_of(config, key);
    if (key->type == CUZK_CONFIG_BOOL) {
        cuzk_text_put(out, *(const bool *)f ? "true" : "false");
    } else if (key->type == CUZK_CONFIG_LIST) {
        put_list(out, f);
    } else if (key->type == CUZK_CONFIG_TEXT) {
        const char *text = *(char *const *)f;
        cuzk_text_put_json_string(out, text[0] == 0 && key->words != NULL ? key->words : text);
    } else if (key->type == CUZK_CONFIG_CHOICE) {
        const char *w = key->words;
        for (unsigned i = *(const unsigned *)f; i > 0; i--) {
            w += strcspn(w, "|") + 1;
        }
        cuzk_text_printf(out, "\"%.*s\"", (int)strcspn(w, "|"), w);
    } else {
        uint64_t value = *(const uint64_t *)f;
        const char *quote = key->type == CUZK_CONFIG_NUMBER ? "" : "\"";
        cuzk_text_put(out, quote);
        if (value == 0 && key->words != NULL) {
            cuzk_text_put(out, key->words);
        } else {
            put_number(out, key, value);
        }
        cuzk_text_put(out, quote);
    }
}
