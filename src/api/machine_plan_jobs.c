/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api/machine_plan.h"

#include "filecoin/sector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An epoch of the network is 30 s. A Winning PoSt counts in its epoch only; a Window PoSt in the 60
 * epochs of its deadline. */
static const uint64_t epoch_ns = UINT64_C(30000000000);
enum { DEADLINE_EPOCHS = 60 };

static const struct {
    const char *name, *label; /* either is taken; the label is what recordings say */
    unsigned priority;        /* the daemon's (CUZK_PRIORITY_*) */
    unsigned n_epochs;        /* of its deadline; 0: none */
} kinds[] = {
    {"porep", "porep-c2", 2, 0},
    {"snap", "snap-update", 2, 0},
    {"wpost", "window-post", 3, DEADLINE_EPOCHS},
    {"winning", "winning-post", 4, 1},
};

enum { KINDS = sizeof kinds / sizeof *kinds, OTHER_PRIORITY = 2 };

static unsigned partitions_of(unsigned kind, const cuzk_sector *sector)
{
    return kind == 0   ? cuzk_porep_shape_of(sector, false).partitions
           : kind == 1 ? cuzk_update_shape_of(sector).partitions
                       : 1; /* a job of a PoSt is one partition of a deadline */
}

/* How many characters of a text are a kind's word, alone or before "-SIZE"; 0: they are not. */
static size_t word_of(const char *word, const char *text, size_t n_chars)
{
    size_t n = strlen(word);
    bool is_it = n <= n_chars && memcmp(word, text, n) == 0 && (n == n_chars || text[n] == '-');
    return is_it ? n : 0;
}

/* What a name says; without a size 32GiB. One that is no Filecoin proof's is the recording's. */
static cuzk_status take_name(cuzk_planned_jobs *out, const char *text, size_t n_chars,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(n_chars == 0 || n_chars >= sizeof out->name - 4, err, CUZK_E_ARGUMENT,
                 "--jobs: \"%.*s\" is no kind of job", (int)(n_chars < 40 ? n_chars : 40), text);
    unsigned k = 0;
    size_t n_kind = 0;
    for (; k < KINDS && n_kind == 0; k += n_kind == 0) {
        n_kind = word_of(kinds[k].label, text, n_chars);
        n_kind = n_kind > 0 ? n_kind : word_of(kinds[k].name, text, n_chars);
    }
    /* one name for both spellings */
    snprintf(out->name, sizeof out->name, "%s%.*s%s", k < KINDS ? kinds[k].name : "",
             (int)(n_chars - n_kind), text + n_kind, k < KINDS && n_kind == n_chars ? "-32g" : "");
    out->label = k < KINDS ? kinds[k].label : out->name;
    out->kind.priority = k < KINDS ? kinds[k].priority : OTHER_PRIORITY;
    if (k == KINDS) {
        return CUZK_OK;
    }
    const char *size = out->name + strlen(kinds[k].name) + 1;
    const cuzk_sector *sector = cuzk_sector_by_name(size, strlen(size));
    CUZK_TRY(cuzk_circuit_counts_get(&out->counts, out->name, err));
    CUZK_FAIL_IF(sector == NULL, err, CUZK_E_ARGUMENT, "--jobs: \"%s\" is no sector size", size);
    out->kind.deadline_ns = kinds[k].n_epochs * epoch_ns;
    out->kind.n_units = partitions_of(k, sector);
    return CUZK_OK;
}

/* "20/h", or "2/h*3". */
static cuzk_status take_rate(cuzk_planned_jobs *out, const char *text, size_t n_chars,
                             cuzk_error *err)
{
    static const struct {
        const char *name;
        double an_hour;
    } units[] = {{"s", 3600}, {"m", 60}, {"h", 1}, {"d", 1.0 / 24}};
    char word[64] = "";
    snprintf(word, sizeof word, "%.*s", (int)n_chars, text);
    char *end = word;
    double n = strspn(word, "0123456789.") > 0 ? strtod(word, &end) : 0;
    unsigned u = 0;
    while (u < 4 && (end[0] != '/' || end[1] != units[u].name[0])) {
        u++;
    }
    unsigned long at_once = 1;
    char *rest = u < 4 ? end + 2 : end;
    if (u < 4 && rest[0] == '*' && strspn(rest + 1, "0123456789") > 0) {
        at_once = strtoul(rest + 1, &rest, 10);
    }
    CUZK_FAIL_IF(n_chars >= sizeof word || u == 4 || *rest != '\0' || n <= 0 || n > 1e6 ||
                     at_once < 1 || at_once > 10000,
                 err, CUZK_E_ARGUMENT,
                 "--jobs: %s: \"%s\" is no rate: a number, then /s, /m, /h or /d, then *N where N "
                 "come at once",
                 out->name, word);
    out->kind.per_hour = n * units[u].an_hour;
    out->kind.at_once = (unsigned)at_once;
    return CUZK_OK;
}

cuzk_status cuzk_machine_plan_read(cuzk_machine_plan *plan, const char *text, cuzk_error *err)
{
    for (const char *at = text;; at++) {
        size_t n_chars = strcspn(at, ","), n_name = strcspn(at, ":,");
        CUZK_FAIL_IF(plan->n_jobs == CUZK_PLAN_KINDS, err, CUZK_E_ARGUMENT,
                     "--jobs: more than %d kinds", CUZK_PLAN_KINDS);
        CUZK_FAIL_IF(n_name == n_chars, err, CUZK_E_ARGUMENT,
                     "--jobs: \"%.*s\" is not KIND:RATE, such as porep:20/h",
                     (int)(n_chars < 40 ? n_chars : 40), at);
        cuzk_planned_jobs *jobs = &plan->jobs[plan->n_jobs];
        CUZK_TRY(take_name(jobs, at, n_name, err));
        CUZK_TRY(take_rate(jobs, at + n_name + 1, n_chars - n_name - 1, err));
        for (unsigned i = 0; i < plan->n_jobs; i++) {
            CUZK_FAIL_IF(strcmp(plan->jobs[i].name, jobs->name) == 0, err, CUZK_E_ARGUMENT,
                         "--jobs: %s is there twice", jobs->name);
        }
        plan->n_jobs++;
        at += n_chars;
        if (*at == '\0') {
            return CUZK_OK;
        }
    }
}
