/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* snarkjs' files taken apart: every value of a verification key, a proof and public values is
 * replaced by each other kind of value, by numbers at their limits, left out and repeated. What is
 * refused names the field and where it stands; what means the same reads the same. */
#define _GNU_SOURCE
#include "fixtures.h"
#include "formats/snarkjs_json.h"
#include "json_tree.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0150;

/* ---- readers --------------------------------------------------------------------------------- */

/* Read, and written in snarkjs' layout if it is accepted; *again is then malloc'ed. */
typedef cuzk_status (*reader)(const uint8_t *data, uint64_t size, char **again, cuzk_error *err);

static cuzk_status keep(cuzk_text *text, char **again)
{
    assert_int_equal(cuzk_text_check(text, NULL), CUZK_OK);
    *again = strdup(text->data);
    cuzk_text_clear(text);
    return CUZK_OK;
}

static cuzk_status read_vk(const uint8_t *data, uint64_t size, char **again, cuzk_error *err)
{
    cuzk_vk vk;
    cuzk_text text = {0};
    CUZK_TRY(cuzk_vk_from_json(&vk, data, size, NULL, NULL, err));
    cuzk_vk_to_json(&text, &vk);
    cuzk_vk_clear(&vk);
    return keep(&text, again);
}

static cuzk_status read_proof(const uint8_t *data, uint64_t size, char **again, cuzk_error *err)
{
    cuzk_proof_points proof;
    cuzk_text text = {0};
    CUZK_TRY(cuzk_proof_from_json(&proof, data, size, NULL, NULL, err));
    cuzk_proof_to_json(&text, &proof, CUZK_JSON_INDENTED);
    return keep(&text, again);
}

static cuzk_status read_public(const uint8_t *data, uint64_t size, char **again, cuzk_error *err)
{
    uint64_t n = 0;
    uint8_t values[8][32];
    cuzk_text text = {0};
    CUZK_TRY(cuzk_public_json_count(&n, data, size, err));
    assert_true(n <= 8);
    CUZK_TRY(
        cuzk_public_from_json(&values[0][0], n, data, size, cuzk_curve_get(CUZK_CURVE_BN254), err));
    cuzk_public_to_json(&text, &values[0][0], n, CUZK_JSON_INDENTED);
    return keep(&text, again);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static cuzk_fixture file;
static json_tree tree;
static reader read_it;

static void load(const char *name, reader r)
{
    file = cuzk_test_fixture(name);
    json_tree_parse(&tree, (const char *)file.data, file.size);
    read_it = r;
}

static void unload(void)
{
    json_tree_free(&tree);
    cuzk_test_fixture_free(&file);
}

/* "line L, column C" of a place. */
static void position(char out[48], size_t at)
{
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = tree.text[i] == '\n' ? 1 : column + 1;
        line += tree.text[i] == '\n';
    }
    snprintf(out, 48, "line %u, column %u: ", line, column);
}

/* The field of the outermost object that a value belongs to; "" for the whole. */
static const char *field_of(unsigned v)
{
    while (v != 0 && tree.v[v].parent != 0) {
        v = tree.v[v].parent;
    }
    return tree.v[v].key;
}

/* What errors call the value's point: "IC[1]", "pi_a", "public signal 0". */
static void point_of(char out[48], unsigned v)
{
    unsigned below = v;
    while (v != 0 && tree.v[v].parent != 0) {
        below = v;
        v = tree.v[v].parent;
    }
    if (tree.v[0].kind == '[') {
        snprintf(out, 48, v == 0 ? "public" : "public signal %u", tree.v[v].index);
    } else if (strcmp(tree.v[v].key, "IC") == 0 && below != v) {
        snprintf(out, 48, "IC[%u]", tree.v[below].index);
    } else {
        snprintf(out, 48, "%s", tree.v[v].key);
    }
}

/* Read with [begin, end) replaced. Returned: the status; *again: what it is written as. */
static cuzk_status read_with(size_t begin, size_t end, const char *by, char **again,
                             cuzk_error *err)
{
    char *copy = NULL;
    int n = asprintf(&copy, "%.*s%s%s", (int)begin, tree.text, by, tree.text + end);
    assert_true(n >= 0);
    *again = NULL;
    cuzk_status status = read_it((const uint8_t *)copy, (uint64_t)n, again, err);
    free(copy);
    return status;
}

static void expect_refused(size_t begin, size_t end, const char *by, const char *const *mentions)
{
    char *again = NULL;
    cuzk_error err = {0};
    cuzk_status status = read_with(begin, end, by, &again, &err);
    bool named = status != CUZK_OK;
    for (; *mentions != NULL && named; mentions++) {
        named = strstr(err.text, *mentions) != NULL;
    }
    if (!named) {
        fail_msg("\"%s\" for \"%.*s\": status %d, \"%s\"; expected \"%s\"", by, (int)(end - begin),
                 tree.text + begin, status, err.text,
                 status == CUZK_OK ? "to be refused" : mentions[-1]);
    }
    free(again);
}

static void expect_same(size_t begin, size_t end, const char *by)
{
    char *again = NULL;
    cuzk_error err = {0};
    if (read_with(begin, end, by, &again, &err) != CUZK_OK) {
        fail_msg("\"%s\": %s", by, err.text);
    }
    assert_string_equal(again, tree.text);
    free(again);
}

static bool is_ignored(unsigned v)
{
    return strcmp(field_of(v), "vk_alphabeta_12") == 0;
}

/* Another kind of value at its place. */
static void other_kinds(unsigned v)
{
    static const char *const others[] = {"null", "false", "{}", "[]", "{\"a\":1}", "[[]]"};
    const json_value *x = &tree.v[v];
    char where[48], point[48];
    point_of(point, v);
    position(where, x->begin);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i][0] == '[' && x->kind == '[') {
            /* no element, or one of another kind: told at the value behind the bracket */
            bool may_be_empty = v == 0 && i == 3;
            if (!may_be_empty && strcmp(x->key, "IC") != 0) {
                position(where, x->begin + 1);
                expect_refused(x->begin, x->end, others[i], (const char *[]){point, NULL});
                position(where, x->begin);
            }
            continue;
        }
        if (v == 0) {
            expect_refused(x->begin, x->end, others[i], (const char *[]){NULL});
            continue;
        }
        expect_refused(x->begin, x->end, others[i],
                       (const char *[]){point, where, "found ", ", expected ", NULL});
    }
}

/* Numbers that are none, too large ones, and the same number in its other spellings. */
static void numbers(unsigned v)
{
    static const char *const none[] = {
        "\"\"",    "\"-1\"", "\"1.0\"",   "\"1e3\"",       "\" 1\"", "\"1 \"", "\"0x\"", "\"0xg\"",
        "\"0X1\"", "\"+1\"", "\"1_000\"", "\"11x\"", "-1",     "1.5",    "1e2",    "\"one\""};
    const json_value *x = &tree.v[v];
    char where[48], point[48], same[256];
    point_of(point, v);
    position(where, x->begin);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        expect_refused(x->begin, x->end, none[i],
                       (const char *[]){point, where, "not a number of decimal digits", NULL});
    }
    /* 10^k at least: no field has so many digits */
    for (unsigned digits = 120; digits <= 500; digits += 190) {
        char large[520] = "\"1";
        memset(large + 2, '0', digits);
        strcpy(large + 2 + digits, "\"");
        expect_refused(x->begin, x->end, large, (const char *[]){point, "not below", NULL});
    }
    if (x->kind == '"') { /* as an integer, with zeros in front, with an escape in it */
        int n = (int)(x->end - x->begin - 2);
        const char *digits = tree.text + x->begin + 1;
        snprintf(same, sizeof same, "%.*s", n, digits);
        expect_same(x->begin, x->end, same);
        snprintf(same, sizeof same, "\"0000%.*s\"", n, digits);
        expect_same(x->begin, x->end, same);
        snprintf(same, sizeof same, "\"\\u00%02x%.*s\"", (unsigned char)digits[0], n - 1,
                 digits + 1);
        expect_same(x->begin, x->end, same);
    }
}

/* Left out, or there twice. */
static void count(unsigned v)
{
    const json_value *x = &tree.v[v], *parent = &tree.v[x->parent];
    size_t begin = x->key[0] != '\0' ? x->key_begin : x->begin, end = x->end;
    char *twice = NULL, name[48], point[48];
    int n = (int)(end - begin);
    assert_true(asprintf(&twice, "%.*s,%.*s", n, tree.text + begin, n, tree.text + begin) > 0);
    snprintf(name, sizeof name, "\"%s\" ", x->key);
    point_of(point, v);
    bool whole_list = x->parent == 0 && x->key[0] == '\0';
    if (x->key[0] != '\0') {
        expect_refused(begin, end, twice, (const char *[]){name, "occurs twice", NULL});
    } else if (!whole_list) { /* points have at most three coordinates, lists fixed lengths */
        bool may_grow = parent->kind == '[' && parent->n_children < 2;
        expect_refused(
            begin, end, twice,
            (const char *[]){may_grow || strcmp(parent->key, "IC") == 0 ? "IC" : point, NULL});
    }
    free(twice);
    bool optional = strcmp(x->key, "protocol") == 0 || strcmp(x->key, "nPublic") == 0 ||
                    strcmp(x->key, "curve") == 0;
    bool third = parent->kind == '[' && x->index == 2;
    if (whole_list || optional || third) {
        return; /* a list of fewer values; what may be missing */
    }
    if (end < tree.size && tree.text[end] == ',') {
        end++;
    } else {
        while (tree.text[begin] != ',' && begin > parent->begin + 1) {
            begin--;
        }
    }
    if (x->key[0] != '\0') {
        expect_refused(begin, end, "", (const char *[]){name, "is missing", NULL});
    } else { /* of a point without x the rest is another point, or none */
        expect_refused(begin, end, "", (const char *[]){NULL});
    }
}

static void damage(const char *name, reader r)
{
    load(name, r);
    for (unsigned v = 0; v < tree.n; v++) {
        const json_value *x = &tree.v[v];
        bool is_name = strcmp(x->key, "protocol") == 0 || strcmp(x->key, "curve") == 0;
        if (is_ignored(v)) {
            continue;
        }
        other_kinds(v);
        if (v != 0) {
            count(v);
        }
        if (x->n_children == 0 && !is_name && x->kind != '[' && strcmp(x->key, "nPublic") != 0) {
            numbers(v);
        }
        if (is_name) {
            expect_refused(x->begin, x->end, "\"groth17\"", (const char *[]){"groth17", NULL});
            expect_refused(x->begin, x->end, "16", (const char *[]){x->key, "a string", NULL});
        }
    }
    unload();
}

static void test_damage(void **state)
{
    (void)state;
    damage("circom/bn254/multiplier2/verification_key.json", read_vk);
    damage("circom/bls12381/multiplier2/verification_key.json", read_vk);
    damage("circom/bn254/multiplier2/proof.json", read_proof);
    damage("circom/bls12381/multiplier2/proof.json", read_proof);
    damage("circom/bn254/poseidon2/public.json", read_public);
}

/* Any order of keys, any spaces, escapes in keys: read and written as snarkjs writes it. */
static void test_other_words(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        reader read;
    } files[] = {{"circom/bn254/multiplier2/verification_key.json", read_vk},
                 {"circom/bls12381/multiplier2/verification_key.json", read_vk},
                 {"circom/bn254/poseidon2/verification_key.json", read_vk},
                 {"circom/bn254/multiplier2/proof.json", read_proof},
                 {"circom/bls12381/poseidon2/proof.json", read_proof},
                 {"circom/bn254/poseidon2/public.json", read_public}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        load(files[i].name, files[i].read);
        for (int round = 0; round < 20; round++) {
            size_t n = 0;
            char *again = NULL, *other = json_tree_other_words(&tree, &seed, &n);
            cuzk_error err = {0};
            if (read_it((const uint8_t *)other, n, &again, &err) != CUZK_OK) {
                fail_msg("%s: %s in %.*s", files[i].name, err.text, (int)n, other);
            }
            assert_string_equal(again, tree.text);
            free(again);
            free(other);
        }
        unload();
    }
}

/* A text that ends early, at every byte. */
static void test_cut(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        reader read;
    } files[] = {{"circom/bn254/multiplier2/verification_key.json", read_vk},
                 {"circom/bn254/multiplier2/proof.json", read_proof},
                 {"circom/bn254/poseidon2/public.json", read_public}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        load(files[i].name, files[i].read);
        for (size_t n = 0; n < tree.v[0].end; n++) {
            uint8_t *copy = malloc(n > 0 ? n : 1); /* of that size, for the sanitizers */
            char *again = NULL;
            cuzk_error err = {0};
            assert_non_null(copy);
            memcpy(copy, tree.text, n);
            cuzk_status status = read_it(copy, n, &again, &err);
            if (status != CUZK_E_TRUNCATED && status != CUZK_E_FORMAT) {
                fail_msg("%s cut at %zu: status %d, %s", files[i].name, n, status, err.text);
            }
            free(copy);
        }
        unload();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other_words),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
