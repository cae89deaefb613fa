/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The faults of test programs. The text is a list, parted by blanks or commas, of
 *
 *     PLACE[@DEVICE][+N][*TIMES][~MILLISECONDS][:STATUS]
 *
 * PLACE is a word of CUZK_FAULT_MAP. The first N passes are left alone, the next TIMES (default:
 * all) are slowed down by MILLISECONDS and end in STATUS. Without STATUS they end in E_INTERNAL, or
 * well where MILLISECONDS are given. "clock~MS" turns the wall clock on. */
#include "engine/faults.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RULES_MAX = 32, WORD_MAX = 128 };

typedef struct {
    cuzk_fault place;
    int device; /* -1: any */
    unsigned long skip, times;
    unsigned long ms;
    cuzk_status status;
} rule;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rule rules[RULES_MAX];
static unsigned n_rules;
static int64_t clock_ms;

static const char *const WORDS[] = {
#define WORD(name, word) word,
    CUZK_FAULT_MAP(WORD)
#undef WORD
};

/* The rule that is to act on this pass, if any, counted. */
static bool take_rule(rule *out, cuzk_fault place, int device)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_rules && !found; i++) {
        rule *r = &rules[i];
        if (r->place != place || (r->device >= 0 && r->device != device)) {
            continue;
        }
        if (r->skip > 0) {
            r->skip--;
        } else if (r->times > 0) {
            r->times--;
            *out = *r;
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

cuzk_status cuzk_fault_at(cuzk_fault place, int device, cuzk_error *err)
{
    rule r = {0};
    if (!take_rule(&r, place, device)) {
        return CUZK_OK;
    }
    nanosleep(&(struct timespec){.tv_sec = (time_t)(r.ms / 1000),
                                 .tv_nsec = (long)(r.ms % 1000) * 1000000},
              NULL);
    CUZK_FAIL_IF(r.status != CUZK_OK, err, r.status, "a fault was asked for at %s", WORDS[place]);
    return CUZK_OK;
}

int64_t cuzk_fault_clock_ms(void)
{
    pthread_mutex_lock(&lock);
    int64_t ms = clock_ms;
    pthread_mutex_unlock(&lock);
    return ms;
}

static cuzk_status read_status(cuzk_status *out, const char *name, cuzk_error *err)
{
#define CASE(s, value, exit_code, grpc, sentence)                                                  \
    if (strcmp(#s, name) == 0) {                                                                   \
        *out = CUZK_##s;                                                                           \
        return CUZK_OK;                                                                            \
    }
    CUZK_STATUS_MAP(CASE)
#undef CASE
    return CUZK_FAIL(err, CUZK_E_ARGUMENT, "faults: there is no status %s", name);
}

static cuzk_status read_rule(const char *word, cuzk_error *err)
{
    size_t n = strcspn(word, "@+*~:");
    rule r = {.place = CUZK_FAULTS, .device = -1, .times = (unsigned long)-1};
    for (int i = 0; i < CUZK_FAULTS; i++) {
        if (strlen(WORDS[i]) == n && strncmp(WORDS[i], word, n) == 0) {
            r.place = (cuzk_fault)i;
        }
    }
    bool is_clock = n == 5 && strncmp(word, "clock", n) == 0;
    CUZK_FAIL_IF(r.place == CUZK_FAULTS && !is_clock, err, CUZK_E_ARGUMENT,
                 "faults: there is no place \"%.*s\"", (int)n, word);
    bool is_slow = false;
    bool has_status = false;
    char *p = (char *)(uintptr_t)word + n;
    while (*p != '\0' && !has_status) {
        char sign = *p++;
        if (sign == ':') {
            CUZK_TRY(read_status(&r.status, p, err));
            has_status = true;
            break;
        }
        char *end = NULL;
        long value = strtol(p, &end, 10);
        CUZK_FAIL_IF(end == p, err, CUZK_E_ARGUMENT, "faults: \"%s\": a number belongs after '%c'",
                     word, sign);
        p = end;
        is_slow = is_slow || sign == '~';
        r.device = sign == '@' ? (int)value : r.device;
        r.skip = sign == '+' ? (unsigned long)value : r.skip;
        r.times = sign == '*' ? (unsigned long)value : r.times;
        if (sign == '~' && is_clock) {
            clock_ms = value;
        } else if (sign == '~') {
            r.ms = (unsigned long)value;
        }
    }
    if (!has_status && !is_slow) {
        r.status = CUZK_E_INTERNAL;
    }
    CUZK_FAIL_IF(n_rules == RULES_MAX, err, CUZK_E_ARGUMENT, "faults: more than %d", RULES_MAX);
    if (!is_clock) {
        rules[n_rules++] = r;
    }
    return CUZK_OK;
}

cuzk_status cuzk_faults_set(const char *text, cuzk_error *err)
{
    pthread_mutex_lock(&lock);
    n_rules = 0;
    clock_ms = 0;
    cuzk_status status = CUZK_OK;
    for (const char *p = text; *p != '\0' && status == CUZK_OK;) {
        size_t n = strcspn(p, " ,");
        char word[WORD_MAX];
        if (n > 0 && n < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)n, p);
            status = read_rule(word, err);
        } else if (n > 0) {
            status = CUZK_FAIL(err, CUZK_E_ARGUMENT, "faults: a word of %zu bytes", n);
        }
        p += n + (p[n] != '\0');
    }
    pthread_mutex_unlock(&lock);
    return status;
}

cuzk_status cuzk_faults_journal(void *user, cuzk_error *err)
{
    (void)user;
    return cuzk_fault_at(CUZK_FAULT_JOURNAL, -1, err);
}
