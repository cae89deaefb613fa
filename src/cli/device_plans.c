/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk devices --plan: what cards do with keys, by their free memory. */
#include "cli/device_plans.h"

#include <stdlib.h>
#include <string.h>

enum { CARDS_MAX = CUZK_DEVICES_MAX, LG_CIRCOM_LEAST = 16, LG_CIRCOM_MOST = 27 };

static const uint64_t gib = UINT64_C(1) << 30;

/* Of a card's memory, for the driver and its context. */
static const uint64_t driver_bytes = UINT64_C(640) << 20;

typedef struct {
    char name[48];
    uint64_t free_bytes;
} card;

static const char *way(const cuzk_device_plan *p)
{
    return !p->fits ? "refused" : p->is_streamed ? "streamed" : "resident";
}

static double in_gib(uint64_t n_bytes)
{
    return (double)n_bytes / (double)gib;
}

static void print_plan(const char *circuit, const cuzk_device_plan *p)
{
    printf("  %-22s %8.1f  %-8s  %8.1f", circuit, in_gib(p->key_bytes), way(p),
           in_gib(p->total_bytes));
    if (p->fits) {
        printf("  %u at once, sums of %llu%s", p->units, (unsigned long long)p->scalars,
               p->is_halved ? " in halves" : "");
    } else {
        printf("  is the least");
    }
    printf("\n");
}

static void json_plan(cuzk_cli_json *json, const char *circuit, const cuzk_device_plan *p)
{
    cuzk_cli_json_open(json, NULL, '{');
    cuzk_cli_json_text(json, "circuit", circuit);
    cuzk_cli_json_text(json, "plan", way(p));
    cuzk_cli_json_number(json, "key_bytes", p->key_bytes);
    cuzk_cli_json_number(json, "total_bytes", p->total_bytes);
    cuzk_cli_json_number(json, "resident_bytes", p->resident_bytes);
    cuzk_cli_json_number(json, "circuit_bytes", p->circuit_bytes);
    cuzk_cli_json_number(json, "table_bytes", p->table_bytes);
    cuzk_cli_json_number(json, "staging_bytes", p->staging_bytes);
    cuzk_cli_json_number(json, "witness_bytes", p->witness_bytes);
    cuzk_cli_json_number(json, "workspace_bytes", p->workspace_bytes);
    cuzk_cli_json_number(json, "units", p->units);
    cuzk_cli_json_number(json, "scalars", p->scalars);
    cuzk_cli_json_bool(json, "halves", p->is_halved);
    cuzk_cli_json_close(json, '}');
}

static void put_plan(cuzk_cli_json *json, const char *circuit, const cuzk_device_plan *p)
{
    if (json != NULL) {
        json_plan(json, circuit, p);
    } else {
        print_plan(circuit, p);
    }
}

/* All circuits of the network, and circom's by size. Plans cannot fail once one was made. */
static void put_card(cuzk_cli_json *json, const card *c)
{
    static const char *const curves[] = {"bn128", "bls12381"};
    cuzk_device_plan plan;
    const char *circuit = NULL;
    for (unsigned i = 0;
         cuzk_filecoin_device_plan(&circuit, &plan, i, c->free_bytes, NULL) == CUZK_OK; i++) {
        put_plan(json, circuit, &plan);
    }
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned lg = LG_CIRCOM_LEAST; lg <= LG_CIRCOM_MOST; lg++) {
            char name[48];
            snprintf(name, sizeof name, "circom %s 2^%u", curves[i], lg);
            if (cuzk_circom_device_plan(&plan, curves[i], lg, c->free_bytes, NULL) == CUZK_OK) {
                put_plan(json, name, &plan);
            }
        }
    }
}

static void put_cards_json(const card *cards, size_t n)
{
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", true);
    cuzk_cli_json_open(&json, "cards", '[');
    for (size_t i = 0; i < n; i++) {
        cuzk_cli_json_open(&json, NULL, '{');
        cuzk_cli_json_text(&json, "card", cards[i].name);
        cuzk_cli_json_number(&json, "free_bytes", cards[i].free_bytes);
        cuzk_cli_json_open(&json, "plans", '[');
        put_card(&json, &cards[i]);
        cuzk_cli_json_close(&json, ']');
        cuzk_cli_json_close(&json, '}');
    }
    cuzk_cli_json_close(&json, ']');
    cuzk_cli_json_end(&json);
}

uint64_t cuzk_cli_card_bytes(unsigned long size_gib)
{
    return size_gib * gib - driver_bytes;
}

/* "16" or "8,16,24". False after a usage message. */
static bool read_sizes(const cuzk_cli_args *args, card *cards, size_t *n, const char *text)
{
    const char *at = text;
    for (*n = 0; *n < CARDS_MAX; at++) {
        char *end = NULL;
        unsigned long size = strtoul(at, &end, 10);
        if (end == at || size < 1 || size > 4096 || (*end != '\0' && *end != ',')) {
            break;
        }
        card *c = &cards[(*n)++];
        snprintf(c->name, sizeof c->name, "a card of %lu GiB", size);
        c->free_bytes = cuzk_cli_card_bytes(size);
        at = end;
        if (*end == '\0') {
            return true;
        }
    }
    (void)cuzk_cli_usage(args, "--memory \"%s\": expected sizes in GiB, such as 16 or 8,16,24",
                         text);
    return false;
}

int cuzk_cli_device_plans(cuzk_cli_args *args, const cuzk_device_info *devices, size_t n_devices)
{
    static card cards[CARDS_MAX];
    const char *sizes = cuzk_cli_value(args, "--memory");
    size_t n = 0;
    if (sizes != NULL && !read_sizes(args, cards, &n, sizes)) {
        return CUZK_EXIT_USAGE;
    }
    for (size_t i = 0; i < n_devices && sizes == NULL; i++) {
        if (devices[i].is_usable) {
            snprintf(cards[n].name, sizeof cards[n].name, "%s", devices[i].id);
            cards[n++].free_bytes = devices[i].free_bytes;
        }
    }
    cuzk_device_plan any;
    if (cuzk_circom_device_plan(&any, "bn128", 1, gib, &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    if (args->json) {
        put_cards_json(cards, n);
        return CUZK_EXIT_OK;
    }
    for (size_t i = 0; i < n; i++) {
        printf("%s, %.1f GiB free:\n  %-22s %8s  %-8s  %8s\n", cards[i].name,
               in_gib(cards[i].free_bytes), "circuit", "key GiB", "points", "card GiB");
        put_card(NULL, &cards[i]);
    }
    if (n == 0) {
        printf("no card to plan for: --memory takes sizes\n");
    }
    return CUZK_EXIT_OK;
}
