/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of parameter files: the built-in one, written as a parameters.json and read back; and a
 * small one, damaged value by value. */
#define _GNU_SOURCE
#include "filecoin/param_manifest.h"
#include "json_tree.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed03a1;

static cuzk_status read_text(cuzk_manifest *out, const char *text, size_t n, cuzk_error *err)
{
    uint8_t *copy = malloc(n > 0 ? n : 1); /* of that size, for the sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, n);
    cuzk_status s = cuzk_manifest_read(out, copy, n, err);
    free(copy);
    if (s != CUZK_OK) {
        assert_null(out->entries);
        assert_int_equal(out->n, 0);
    }
    return s;
}

static cuzk_manifest read_good(const char *text, size_t n)
{
    cuzk_manifest m;
    cuzk_error err = {0};
    if (read_text(&m, text, n, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return m;
}

static void expect_refused(const char *text, cuzk_status status, const char *mention)
{
    cuzk_manifest m;
    cuzk_error err = {0};
    cuzk_status s = read_text(&m, text, strlen(text), &err);
    if (s != status || strstr(err.text, mention) == NULL) {
        fail_msg("status %d, expected %d; \"%s\" does not mention \"%s\" (%.100s)", s, status,
                 err.text, mention, text);
    }
}

static void expect_equal(const cuzk_manifest_entry *a, const cuzk_manifest_entry *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->cid, b->cid);
    assert_string_equal(a->circuit, b->circuit);
    assert_memory_equal(a->digest, b->digest, sizeof a->digest);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->sector_bytes, b->sector_bytes);
}

/* A list as the network publishes it. */
static char *json_of(const cuzk_manifest *m, bool upper)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    for (unsigned i = 0; i < m->n; i++) {
        const cuzk_manifest_entry *e = &m->entries[i];
        fprintf(f, "%s\n  \"%s\": {\n    \"cid\": \"%s\",\n    \"digest\": \"", i == 0 ? "{" : ",",
                e->name, e->cid);
        for (size_t k = 0; k < sizeof e->digest; k++) {
            fprintf(f, upper ? "%02X" : "%02x", e->digest[k]);
        }
        fprintf(f, "\",\n    \"sector_size\": %llu\n  }", (unsigned long long)e->sector_bytes);
    }
    fprintf(f, "\n}\n");
    fclose(f);
    return text;
}

/* ---- the network's list ---------------------------------------------------------------------- */

static void test_builtin(void **state)
{
    (void)state;
    cuzk_manifest m;
    assert_int_equal(cuzk_manifest_builtin(&m, NULL), CUZK_OK);
    assert_int_equal(m.n, 40); /* five sizes, four kinds, two files */
    for (unsigned i = 0; i < m.n; i++) {
        const cuzk_manifest_entry *e = &m.entries[i];
        cuzk_proof_kind kind;
        const cuzk_sector *sector;
        char name[CUZK_PARAM_NAME_MAX];
        cuzk_param_file file = i % 2 == 0 ? CUZK_PARAM_FILE_PARAMS : CUZK_PARAM_FILE_VK;
        assert_int_equal(cuzk_circuit_id_parse(&kind, &sector, e->circuit, NULL), CUZK_OK);
        assert_int_equal(sector->bytes, e->sector_bytes);
        assert_true(i == 0 || m.entries[i - 1].sector_bytes <= e->sector_bytes);
        assert_string_equal(e->name, cuzk_param_file_name(name, kind, sector, file));
        assert_int_equal(strlen(e->cid), 46);
        assert_int_equal(strncmp(e->cid, "Qm", 2), 0);
        const cuzk_param_published *p = cuzk_param_published_get(kind, sector, file);
        assert_int_equal(p->bytes, e->bytes);
        for (unsigned k = 0; k < i; k++) {
            assert_string_not_equal(m.entries[k].cid, e->cid);
            assert_memory_not_equal(m.entries[k].digest, e->digest, sizeof e->digest);
        }
    }
    for (int upper = 0; upper < 2; upper++) { /* written and read: the same, sizes included */
        char *text = json_of(&m, upper != 0);
        cuzk_manifest again = read_good(text, strlen(text));
        assert_int_equal(again.n, m.n);
        for (unsigned i = 0; i < m.n; i++) {
            expect_equal(&again.entries[i], &m.entries[i]);
        }
        cuzk_manifest_clear(&again);
        free(text);
    }
    /* with another digest a file is not the published one: its size is not known */
    m.entries[4].digest[0] ^= 1;
    char *text = json_of(&m, false);
    cuzk_manifest again = read_good(text, strlen(text));
    assert_int_equal(again.entries[4].bytes, 0);
    assert_string_equal(again.entries[4].circuit, m.entries[4].circuit);
    assert_int_equal(again.entries[5].bytes, m.entries[5].bytes);
    cuzk_manifest_clear(&again);
    cuzk_manifest_clear(&again); /* twice is fine */
    free(text);
    cuzk_manifest_clear(&m);
}

/* ---- a small list, damaged ------------------------------------------------------------------- */

#define DIGEST "00112233445566778899aabbccddeeff"
static const char small[] =
    "{\"a.params\":{\"cid\":\"QmA\",\"digest\":\"" DIGEST "\",\"sector_size\":2048},\n"
    "\"b.vk\":{\"digest\":\"ff" DIGEST "\"},\"c\":{\"digest\":\"" DIGEST
    "\",\"other\":[1,{\"x\":null}]}}";

/* The second digest has two digits too many: the list is small[] without them. */
static size_t make_small(char out[sizeof small])
{
    const char *extra = strstr(small, "\"ff0011") + 1;
    size_t head = (size_t)(extra - small);
    memcpy(out, small, head);
    strcpy(out + head, extra + 2);
    return strlen(out);
}

static void test_small(void **state)
{
    (void)state;
    char text[sizeof small];
    size_t n = make_small(text);
    expect_refused(small, CUZK_E_FORMAT, "\"digest\" of \"b.vk\" is not 32 hex digits");
    cuzk_manifest m = read_good(text, n);
    assert_int_equal(m.n, 3);
    assert_string_equal(m.entries[0].name, "a.params");
    assert_string_equal(m.entries[0].cid, "QmA");
    assert_int_equal(m.entries[0].sector_bytes, 2048);
    assert_string_equal(m.entries[1].cid, "");
    assert_int_equal(m.entries[1].sector_bytes, 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(m.entries[1].digest[i], 0x11 * i);
    }
    assert_string_equal(m.entries[2].circuit, "");
    json_tree tree;
    json_tree_parse(&tree, text, n);
    for (int round = 0; round < 50; round++) { /* any order, spaces and escapes */
        size_t n_other;
        char *other = json_tree_other_words(&tree, &seed, &n_other);
        cuzk_manifest again = read_good(other, n_other);
        assert_int_equal(again.n, 3);
        for (unsigned i = 0; i < 3; i++) {
            unsigned k = 0;
            while (strcmp(again.entries[k].name, m.entries[i].name) != 0) {
                assert_true(++k < 3);
            }
            expect_equal(&again.entries[k], &m.entries[i]);
        }
        cuzk_manifest_clear(&again);
        free(other);
    }
    for (size_t cut = 0; cut < n; cut++) {
        cuzk_manifest none;
        cuzk_error err = {0};
        assert_int_equal(read_text(&none, text, cut, &err), CUZK_E_TRUNCATED);
    }
    json_tree_free(&tree);
    cuzk_manifest_clear(&m);
}

/* Text t with [begin, end) replaced. Returned: free. */
static char *replaced(const json_tree *t, size_t begin, size_t end, const char *by)
{
    char *out = NULL;
    assert_true(asprintf(&out, "%.*s%s%s", (int)begin, t->text, by, t->text + end) > 0);
    return out;
}

/* Each value as each other kind: refused with its place, but for what nobody looks at. */
static void test_kinds(void **state)
{
    (void)state;
    static const char *const others[] = {"null", "true", "{}", "[]", "\"\"", "-1", "1.5", "\"x\""};
    char text[sizeof small];
    json_tree t;
    json_tree_parse(&t, text, make_small(text));
    for (unsigned v = 0; v < t.n; v++) {
        const json_value *x = &t.v[v];
        bool ignored = strcmp(x->key, "other") == 0;
        for (unsigned p = v; p != 0; p = t.v[p].parent) {
            ignored = ignored || strcmp(t.v[p].key, "other") == 0;
        }
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            bool is_cid = strcmp(x->key, "cid") == 0 && others[i][0] == '"';
            bool is_empty_list = v == 0 && strcmp(others[i], "{}") == 0;
            char *bad = replaced(&t, x->begin, x->end, others[i]);
            cuzk_manifest m;
            cuzk_error err = {0};
            cuzk_status s = read_text(&m, bad, strlen(bad), &err);
            bool fine = ignored || is_cid || is_empty_list;
            if (s != (fine ? CUZK_OK : CUZK_E_FORMAT) ||
                (!fine && (strncmp(err.text, "line ", 5) != 0 ||
                           (v != 0 && strstr(err.text, x->key) == NULL)))) {
                fail_msg("%s: status %d, \"%s\"", bad, s, err.text);
            }
            cuzk_manifest_clear(&m);
            free(bad);
        }
    }
    json_tree_free(&t);
}

/* What is there twice could mean two things. */
static void test_twice(void **state)
{
    (void)state;
    char text[sizeof small];
    json_tree t;
    json_tree_parse(&t, text, make_small(text));
    for (unsigned v = 1; v < t.n; v++) {
        const json_value *x = &t.v[v];
        char *member, mention[64];
        if (x->key[0] == '\0' || strcmp(x->key, "x") == 0) { /* elements; inside of "other" */
            continue;
        }
        int n = (int)(x->end - x->key_begin);
        assert_true(asprintf(&member, "%.*s,%.*s", n, text + x->key_begin, n, text + x->key_begin) >
                    0);
        char *bad = replaced(&t, x->key_begin, x->end, member);
        if (strcmp(x->key, "other") == 0) {
            cuzk_manifest m = read_good(bad, strlen(bad));
            cuzk_manifest_clear(&m);
        } else {
            snprintf(mention, sizeof mention, "\"%s\"", x->key);
            expect_refused(bad, CUZK_E_FORMAT, mention);
            expect_refused(bad, CUZK_E_FORMAT, " twice");
        }
        free(bad);
        free(member);
    }
    json_tree_free(&t);
}

/* A name must stay in the folder, and be one. */
static void test_names(void **state)
{
    (void)state;
    char text[1000], longest[400];
    static const char *const bad[] = {"",      ".",     "..",    ".hidden",   "/a",
                                      "a/b",   "a/",    "../a",  "a\\u002fb", "\\u002e\\u002e",
                                      "a\\nb", "a\\tb", "a\\rb", "a\\u0000b", "\\u0000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "{\"%s\":{\"digest\":\"" DIGEST "\"}}", bad[i]);
        expect_refused(text, CUZK_E_FORMAT, "line 1, column ");
        expect_refused(text, CUZK_E_FORMAT, "the key is not a file's name");
    }
    for (size_t n = 254; n <= 257; n++) {
        memset(longest, 'n', n);
        longest[n] = '\0';
        snprintf(text, sizeof text, "{\"%s\":{\"digest\":\"" DIGEST "\"}}", longest);
        if (n < CUZK_PARAM_NAME_MAX) {
            cuzk_manifest m = read_good(text, strlen(text));
            assert_string_equal(m.entries[0].name, longest);
            cuzk_manifest_clear(&m);
        } else {
            expect_refused(text, CUZK_E_FORMAT, "the key is not a file's name");
        }
    }
    for (size_t n = 94; n <= 97; n++) { /* the same for a cid */
        memset(longest, 'Q', n);
        longest[n] = '\0';
        snprintf(text, sizeof text, "{\"f\":{\"digest\":\"" DIGEST "\",\"cid\":\"%s\"}}", longest);
        if (n < CUZK_MANIFEST_CID_MAX) {
            cuzk_manifest m = read_good(text, strlen(text));
            assert_string_equal(m.entries[0].cid, longest);
            cuzk_manifest_clear(&m);
        } else {
            expect_refused(text, CUZK_E_FORMAT, "\"cid\" of \"f\" is not a cid");
        }
    }
    static const char *const sizes[] = {"-2048", "2048.0", "2e3", "1000000000000000000",
                                        "\"2048\""};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snprintf(text, sizeof text, "{\"f\":{\"digest\":\"" DIGEST "\",\"sector_size\":%s}}",
                 sizes[i]);
        expect_refused(text, CUZK_E_FORMAT, "\"sector_size\" of \"f\" is not a number of bytes");
    }
}

/* As many files as there may be, and one more. */
static void test_number(void **state)
{
    (void)state;
    for (unsigned n = CUZK_MANIFEST_ENTRIES_MAX; n <= CUZK_MANIFEST_ENTRIES_MAX + 1; n++) {
        char *text = malloc(80 * (size_t)n), *p = text;
        assert_non_null(text);
        for (unsigned i = 0; i < n; i++) {
            p += sprintf(p, "%c\"f%u\":{\"digest\":\"" DIGEST "\"}", i == 0 ? '{' : ',', i);
        }
        strcpy(p, "}");
        if (n == CUZK_MANIFEST_ENTRIES_MAX) {
            cuzk_manifest m = read_good(text, strlen(text));
            assert_int_equal(m.n, n);
            assert_string_equal(m.entries[n - 1].name, "f1023");
            cuzk_manifest_clear(&m);
        } else {
            expect_refused(text, CUZK_E_FORMAT, "more than 1024 files");
        }
        free(text);
    }
    expect_refused("{} {}", CUZK_E_FORMAT, "line 1");
    expect_refused("", CUZK_E_TRUNCATED, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin), cmocka_unit_test(test_small), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_twice),   cmocka_unit_test(test_names), cmocka_unit_test(test_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
