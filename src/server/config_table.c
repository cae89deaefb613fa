/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of the table, and the search for the key that a wrong one was meant to be. */
#include "server/config.h"

#include <string.h>

static const cuzk_config_key keys[] = {
#define LIVE    true
#define RESTART false
#define ROW(section, name, type, lo, hi, initial, words, live, help)                               \
    {#section "." #name,                                                                           \
     CUZK_CONFIG_##type,                                                                           \
     offsetof(cuzk_config, section##_##name),                                                      \
     lo,                                                                                           \
     hi,                                                                                           \
     initial,                                                                                      \
     words,                                                                                        \
     live,                                                                                         \
     help},
    CUZK_CONFIG_KEYS(ROW)
#undef ROW
};

static const cuzk_config_dead_key dead_keys[] = {
#define ROW(key, reason) {key, reason},
    CUZK_CONFIG_DEAD_KEYS(ROW)
#undef ROW
};

const cuzk_config_key *cuzk_config_keys(size_t *n)
{
    *n = sizeof keys / sizeof keys[0];
    return keys;
}

const cuzk_config_dead_key *cuzk_config_dead_keys(size_t *n)
{
    *n = sizeof dead_keys / sizeof dead_keys[0];
    return dead_keys;
}

const cuzk_config_key *cuzk_config_find(const char *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].key, key) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

/* Levenshtein distance; limit + 1 for words that are too long to be one of ours. */
static unsigned distance(const char *a, const char *b, unsigned limit)
{
    enum { WORD_MAX = 63 };
    size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a > WORD_MAX || n_b > WORD_MAX) {
        return limit + 1;
    }
    unsigned rows[2][WORD_MAX + 1];
    for (size_t j = 0; j <= n_b; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        const unsigned *above = rows[(i - 1) % 2];
        unsigned *row = rows[i % 2];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned change = above[j - 1] + (a[i - 1] != b[j - 1]);
            unsigned gap = above[j] < row[j - 1] ? above[j] + 1 : row[j - 1] + 1;
            row[j] = change < gap ? change : gap;
        }
    }
    return rows[n_a % 2][n_b];
}

const char *cuzk_config_nearest(const char *key)
{
    const char *dot = strrchr(key, '.');
    const char *name = dot != NULL ? dot + 1 : key;
    /* one that is in the wrong section, or in none */
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(strchr(keys[i].key, '.') + 1, name) == 0) {
            return keys[i].key;
        }
    }
    size_t length = strlen(key);
    unsigned limit = length <= 3 ? 2 : length <= 6 ? 3 : 4;
    const char *nearest = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *own = keys[i].key;
        unsigned d = distance(key, dot != NULL ? own : strchr(own, '.') + 1, limit);
        if (d < limit) {
            limit = d;
            nearest = own;
        }
    }
    return nearest;
}
