/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A commit-phase-1 output taken apart into its values, found here by a small parser of our own. Of
 * every kind of place in it the first and the last are damaged in every way that JSON allows: the
 * error names that place from the outside in, and an offset that lies there. Written again with
 * keys in any order and any spelling, it reads the same. */
#define _GNU_SOURCE
#include "filecoin/vanilla_porep.h"
#include "filecoin/vanilla_write.h"
#include "golden_case.h"
#include "json_tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0c11;

enum { PLACE_MAX = 400, KINDS_MAX = 160 };
static json_tree tree;
static json_value *values;
static cuzk_fixture file;
static const char *text;

static int setup(void **state)
{
    (void)state;
    file = golden_load("porep-2k-1", "c1.json");
    text = (const char *)file.data;
    json_tree_parse(&tree, text, file.size);
    values = tree.v;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_tree_free(&tree);
    cuzk_test_fixture_free(&file);
    return 0;
}

static bool is_sizes(unsigned v) /* the array of all partitions */
{
    return strncmp(values[v].key, "StackedDrg", 10) == 0;
}

static bool is_digest(unsigned v)
{
    return values[v].kind == '[' && values[values[v].first_child].kind == '0';
}

/* What an element of this array is called. */
static const char *element_name(unsigned array)
{
    static const char *const names[][2] = {{"path", "level"},
                                           {"hashes", "sibling"},
                                           {"rows", "layer"},
                                           {"drg_parents", "parent"},
                                           {"exp_parents", "parent"},
                                           {"parents", "parent"},
                                           {"labeling_proofs", "element"}};
    if (is_digest(array)) {
        return "number";
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(values[array].key, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return is_sizes(array) ? "partition" : "challenge";
}

/* "vanilla_proofs: StackedDrg2KiBV1: partition 0: …", as errors begin; kind_only: without numbers.
 */
static void place_of(char out[PLACE_MAX], unsigned v, bool kind_only)
{
    if (v == 0) {
        strcpy(out, "commit-phase-1 output: ");
        return;
    }
    place_of(out, values[v].parent, kind_only);
    size_t n = strlen(out);
    if (values[v].key[0] != '\0') {
        snprintf(out + n, PLACE_MAX - n, "%s: ", values[v].key);
    } else if (kind_only) {
        snprintf(out + n, PLACE_MAX - n, "%s: ", element_name(values[v].parent));
    } else {
        snprintf(out + n, PLACE_MAX - n, "%s %u: ", element_name(values[v].parent),
                 values[v].index);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Read the text with [begin, end) replaced; cut: and nothing behind it. Must be refused, beginning
 * with the place and mentioning `mention`; an offset that is named must lie in [low, high]. */
static void expect_refused(size_t begin, size_t end, const char *by, bool cut, const char *place,
                           const char *mention, size_t low, size_t high)
{
    size_t n_by = strlen(by), n = begin + n_by + (cut ? 0 : file.size - end);
    uint8_t *copy = malloc(n > 0 ? n : 1); /* of exactly that size, for the sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, begin);
    memcpy(copy + begin, by, n_by);
    if (!cut) {
        memcpy(copy + begin + n_by, text + end, file.size - end);
    }
    cuzk_porep_vanilla v;
    cuzk_error err = {0};
    cuzk_status status = cuzk_porep_vanilla_read(&v, copy, n, &err);
    free(copy);
    bool named = strncmp(err.text, place, strlen(place)) == 0 && strstr(err.text, mention) != NULL;
    bool kind =
        cut ? status == CUZK_E_TRUNCATED
            : status == CUZK_E_FORMAT || status == CUZK_E_MISMATCH || status == CUZK_E_UNSUPPORTED;
    const char *offset = strstr(err.text, "offset ");
    size_t at = offset != NULL ? strtoull(offset + 7, NULL, 10) : low;
    if (!kind || !named || at < low || at > high) {
        fail_msg("\"%.40s\" for [%zu, %zu): status %d, \"%s\"; expected \"%s…%s\", offset %zu to "
                 "%zu",
                 by, begin, end, status, err.text, place, mention, low, high);
    }
    assert_null(v.challenges);
}

/* Another kind of value in its place, an empty one of its own kind, numbers out of range. */
static void replace(unsigned v)
{
    static const char *const others[] = {"null", "true", "{}", "[]", "\"x\"", "-1", "1.5", "1e3"};
    const json_value *x = &values[v];
    char place[PLACE_MAX], mention[64];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        place_of(place, v, false);
        strcpy(mention, x->kind == '"' ? "expected" : "");
        if (others[i][0] == x->kind && x->kind == '{') {
            strcpy(mention, strcmp(x->key, "vanilla_proofs") == 0 ? "no key of a known sector size"
                            : v == 0                              ? "the object has no"
                                                                  : "ends here has no \"");
        } else if (others[i][0] == x->kind && x->kind == '[') {
            snprintf(mention, sizeof mention,
                     is_digest(v)  ? "0 numbers in a digest, expected 32"
                     : is_sizes(v) ? "vanilla_proofs: expected %u partitions, got 0"
                                   : "expected %u elements, got 0",
                     x->n_children);
            if (is_sizes(v)) { /* known only when registered_proof is */
                place_of(place, 0, false);
            }
        } else if (others[i][0] == x->kind && x->kind == '"') {
            strcpy(mention, "registered proof \"x\" is not known");
        }
        expect_refused(x->begin, x->end, others[i], false, place, mention, x->begin,
                       x->begin + strlen(others[i]) + 1);
    }
    static const char *const numbers[] = {"00", "256", "18446744073709551616"};
    for (size_t i = 0; x->kind == '0' && i < 3; i++) {
        if (is_digest(x->parent) || i == 2) {
            place_of(place, v, false);
            expect_refused(x->begin, x->end, numbers[i], false, place, "", x->begin,
                           x->begin + strlen(numbers[i]));
        }
    }
}

/* A member or element that is missing; the message is about what holds it. */
static void take_out(unsigned v)
{
    const json_value *x = &values[v], *parent = &values[x->parent];
    size_t begin = x->key[0] != '\0' ? x->key_begin : x->begin, end = x->end;
    if (text[end] == ',') {
        end++;
    } else if (text[begin - 1] == ',') {
        begin--;
    }
    char place[PLACE_MAX], mention[80];
    place_of(place, x->parent, false);
    if (x->key[0] != '\0') {
        snprintf(mention, sizeof mention, is_sizes(v) ? "no key of a known" : "has no \"%s\"",
                 x->key);
    } else if (is_digest(x->parent)) {
        strcpy(mention, "31 numbers in a digest, expected 32");
    } else if (is_sizes(x->parent)) {
        place_of(place, 0, false);
        strcpy(mention, "vanilla_proofs: expected 1 partitions, got 0");
    } else {
        snprintf(mention, sizeof mention, "expected %u elements, got %u", parent->n_children,
                 parent->n_children - 1);
    }
    expect_refused(begin, end, "", false, place, mention, parent->begin, parent->end);
}

/* A member that is there twice, an element more. */
static void repeat(unsigned v)
{
    const json_value *x = &values[v], *parent = &values[x->parent];
    size_t begin = x->key[0] != '\0' ? x->key_begin : x->begin, n = x->end - begin;
    char place[PLACE_MAX], mention[80] = "the key is there twice", *twice = malloc(2 * n + 2);
    assert_non_null(twice);
    sprintf(twice, "%.*s,%.*s", (int)n, text + begin, (int)n, text + begin);
    place_of(place, v, false);
    if (x->key[0] == '\0') {
        place_of(place, x->parent, false);
        if (is_sizes(x->parent)) {
            place_of(place, 0, false);
            strcpy(mention, "vanilla_proofs: expected 1 partitions, got 2");
        } else {
            snprintf(mention, sizeof mention, "%s %u: ", element_name(x->parent),
                     parent->n_children);
        }
    }
    expect_refused(begin, x->end, twice, false, place, mention, parent->begin, parent->end + n + 1);
    free(twice);
}

/* The text ends in front of it, in it, or behind it. */
static void truncate_at(unsigned v)
{
    const json_value *x = &values[v];
    const size_t cuts[] = {x->begin, (x->begin + x->end) / 2, x->end};
    for (int i = 0; i < (v == 0 ? 2 : 3); i++) {
        expect_refused(cuts[i], 0, "", true, "commit-phase-1 output: ", "the text ends too early",
                       cuts[i], cuts[i]);
    }
}

/* Values to damage: the first and the last of each kind of place. Returns how many. */
static unsigned choose(unsigned out[2 * KINDS_MAX])
{
    static char kinds[KINDS_MAX][PLACE_MAX];
    static unsigned first[KINDS_MAX], last[KINDS_MAX];
    unsigned n_kinds = 0, n = 0;
    for (unsigned v = 0; v < tree.n; v++) {
        char kind[PLACE_MAX];
        if (values[v].kind == 'n' ||
            (v > 0 && is_digest(values[v].parent) && values[v].index % 31 != 0)) {
            continue;
        }
        place_of(kind, v, true);
        unsigned k = 0;
        while (k < n_kinds && strcmp(kinds[k], kind) != 0) {
            k++;
        }
        if (k == n_kinds) {
            assert_true(n_kinds < KINDS_MAX);
            strcpy(kinds[n_kinds], kind);
            first[n_kinds++] = v;
        }
        last[k] = v;
    }
    for (unsigned k = 0; k < n_kinds; k++) {
        out[n++] = first[k];
        if (last[k] != first[k]) {
            out[n++] = last[k];
        }
    }
    return n;
}

static void test_places(void **state)
{
    (void)state;
    static unsigned chosen[2 * KINDS_MAX];
    unsigned n = choose(chosen);
    assert_true(n > 100); /* 2KiB has some 80 kinds of places */
    for (unsigned i = 0; i < n; i++) {
        replace(chosen[i]);
        truncate_at(chosen[i]);
        if (chosen[i] != 0) {
            take_out(chosen[i]);
            repeat(chosen[i]);
        }
    }
}

/* ---- the same in other words ----------------------------------------------------------------- */

static void test_other_words(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        size_t n_other = 0;
        char *other = json_tree_other_words(&tree, &seed, &n_other);
        cuzk_porep_vanilla v;
        cuzk_error err = {0};
        char *written = NULL;
        size_t n = 0;
        if (cuzk_porep_vanilla_read(&v, (const uint8_t *)other, n_other, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        FILE *f = open_memstream(&written, &n);
        assert_non_null(f);
        assert_int_equal(cuzk_porep_vanilla_write(f, &v, false, &err), CUZK_OK);
        fclose(f);
        assert_int_equal(n, file.size);
        assert_memory_equal(written, file.data, n);
        cuzk_porep_vanilla_clear(&v);
        free(written);
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_other_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
