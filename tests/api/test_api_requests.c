/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin requests in every way they can be put together: fields one by one or as JSON, in any
 * order, numbers and digests in any spelling, before or after the vanilla proof. The same request
 * verifies the golden proof; one field less, twice or changed is told by its name. */
#include "filecoin_case.h"
#include "random.h"

#include <ctype.h>

static const char *const cases[] = {"porep-2k-1",        "porep-2k-synth-20",   "porep-2k-v1-21",
                                    "update-2k-6",       "winning-2k-5",        "vector-window-2k",
                                    "vector-winning-2k", "window-2k-3sectors-4"};
enum { N_CASES = sizeof cases / sizeof cases[0], JSON_MAX = 4096 };

static uint64_t seed = 0x5eed0a41;
static cuzk_error err;
static cuzk_ctx *ctx;

static int setup(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 1;
    return cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    cuzk_ctx_destroy(ctx);
    return 0;
}

static unsigned below(unsigned n)
{
    return (unsigned)(cuzk_test_random(&seed) % n);
}

static bool is_digest(const char *text)
{
    return strlen(text) == 64;
}

/* A field's text in another spelling: 0x and capitals, zeros in front, the address of an actor. */
static void respell(char out[2 * CASE_TEXT_MAX], const char *name, const char *text)
{
    if (is_digest(text)) {
        sprintf(out, "%s%s", below(2) ? (below(2) ? "0x" : "0X") : "", text);
        for (char *p = out + strlen(out) - 64; *p != '\0'; p++) {
            *p = below(2) ? (char)toupper((unsigned char)*p) : *p;
        }
    } else if (strcmp(name, "miner_id") == 0) {
        sprintf(out, "%s%s", below(3) == 0 ? "f0" : below(2) ? "t0" : "", text);
    } else {
        sprintf(out, "%s%s", below(2) ? "000" : "", text);
    }
}

/* A JSON member; a number at times as one. */
static size_t put_member(char *out, const char *name, const char *text)
{
    char other[2 * CASE_TEXT_MAX];
    respell(other, name, text);
    bool as_number = !is_digest(text) && below(2);
    return (size_t)sprintf(out, as_number ? "%s\"%s\"%s:%s" : "%s\"%s\"%s:\"%s\"",
                           below(2) ? " " : "\n", name, below(2) ? " " : "",
                           as_number ? text : other);
}

static size_t put_sectors(char *out, const filecoin_case *c)
{
    size_t n = (size_t)sprintf(out, "\"sectors\":[");
    for (unsigned i = 0; i < c->n_sectors; i++) {
        char number[32], digest[65];
        sprintf(number, "%llu", (unsigned long long)c->sector_ids[i]);
        for (unsigned k = 0; k < 32; k++) {
            sprintf(digest + 2 * k, "%02x", c->comm_r[i][k]);
        }
        bool turned = below(2);
        n += (size_t)sprintf(out + n, i == 0 ? "{" : ",{");
        n += put_member(out + n, turned ? "comm_r" : "sector_number", turned ? digest : number);
        out[n++] = ',';
        n += put_member(out + n, turned ? "sector_number" : "comm_r", turned ? number : digest);
        out[n++] = '}';
    }
    return n + (size_t)sprintf(out + n, "]");
}

/* Some of the parts as JSON, the others one by one. Parts 0 … n_fields-1 are fields, the next one
 * the sectors. skip: a part that is left out. */
static cuzk_filecoin_request *random_request(const filecoin_case *c, unsigned skip)
{
    cuzk_filecoin_request *r = NULL;
    unsigned n_parts = c->n_fields + (c->n_sectors > 0 ? 1 : 0);
    unsigned order[CASE_FIELDS_MAX + 1] = {0};
    char json[JSON_MAX] = "{";
    size_t n = 1;
    assert_ok(cuzk_filecoin_request_create(&r, c->kind, &err));
    for (unsigned i = 0; i < n_parts; i++) {
        unsigned to = below(i + 1);
        order[i] = order[to];
        order[to] = i;
    }
    unsigned n_json = below(n_parts + 1);
    for (unsigned i = 0; i < n_parts; i++) {
        unsigned part = order[i];
        bool sectors = part == c->n_fields;
        if (part == skip) {
            continue;
        }
        if (i < n_json) {
            n += (size_t)sprintf(json + n, n > 1 ? "," : "");
            n += sectors ? put_sectors(json + n, c)
                         : put_member(json + n, c->fields[part].name, c->fields[part].text);
        } else if (!sectors) {
            char text[2 * CASE_TEXT_MAX];
            respell(text, c->fields[part].name, c->fields[part].text);
            assert_ok(cuzk_filecoin_request_set(r, c->fields[part].name, text, &err));
        } else {
            for (unsigned k = 0; k < c->n_sectors; k++) {
                assert_ok(
                    cuzk_filecoin_request_add_sector(r, c->sector_ids[k], c->comm_r[k], &err));
            }
        }
    }
    strcpy(json + n, "}\n");
    assert_ok(cuzk_filecoin_request_read_json(r, json, strlen(json), &err));
    return r;
}

static void test_any_way(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_CASES; i++) {
        filecoin_case c = case_open(cases[i]);
        char *path = case_vk_path(&c);
        cuzk_filecoin_request *first = case_request(&c);
        cuzk_vkey *vkey = NULL;
        assert_ok(cuzk_filecoin_vkey_open_file(ctx, &vkey, first, path, true, &err));
        for (int round = 0; round < 12; round++) {
            cuzk_filecoin_request *r = random_request(&c, UINT32_MAX);
            assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, c.proof.data, c.proof.size, &err));
            cuzk_filecoin_request_destroy(r);
        }
        /* each part left out */
        for (unsigned skip = 0; skip < c.n_fields + (c.n_sectors > 0 ? 1 : 0); skip++) {
            char text[96];
            cuzk_filecoin_request *r = random_request(&c, skip);
            snprintf(text, sizeof text, "the field %s is missing", c.fields[skip].name);
            assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, c.proof.data, c.proof.size, &err),
                         CUZK_E_ARGUMENT, skip < c.n_fields ? text : "no sector is given");
            cuzk_filecoin_request_destroy(r);
        }
        cuzk_vkey_close(vkey);
        cuzk_filecoin_request_destroy(first);
        free(path);
        case_close(&c);
    }
}

/* Set or read, then set or read again; the first value stays. */
static void test_twice(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_CASES; i++) {
        filecoin_case c = case_open(cases[i]);
        for (unsigned f = 0; f < c.n_fields; f++) {
            for (int way = 0; way < 4; way++) {
                char json[400], mention[64];
                cuzk_filecoin_request *r = NULL;
                const char *name = c.fields[f].name, *text = c.fields[f].text;
                snprintf(json, sizeof json, "{\"%s\":\"%s\"}", name, text);
                snprintf(mention, sizeof mention, "%s is given twice", name);
                assert_ok(cuzk_filecoin_request_create(&r, c.kind, &err));
                for (int k = 0; k < 2; k++) {
                    bool as_json = way >> k & 1;
                    cuzk_status s =
                        as_json ? cuzk_filecoin_request_read_json(r, json, strlen(json), &err)
                                : cuzk_filecoin_request_set(r, name, text, &err);
                    assert_int_equal(s, k == 0 ? CUZK_OK : CUZK_E_ARGUMENT);
                    assert_true(k == 0 || strstr(err.text, mention) != NULL);
                }
                cuzk_filecoin_request_destroy(r);
            }
        }
        case_close(&c);
    }
}

/* A JSON request that ends early is never taken for a whole one. */
static void test_cut(void **state)
{
    (void)state;
    filecoin_case c = case_open("window-2k-3sectors-4");
    char json[JSON_MAX];
    size_t n = (size_t)sprintf(json, "{");
    n += put_member(json + n, "registered_proof", "10");
    json[n++] = ',';
    n += put_sectors(json + n, &c);
    n += (size_t)sprintf(json + n, "}");
    for (size_t cut = 0; cut <= n; cut++) {
        cuzk_filecoin_request *r = NULL;
        uint8_t *copy = malloc(cut > 0 ? cut : 1); /* of that size, for the sanitizers */
        assert_non_null(copy);
        memcpy(copy, json, cut);
        assert_ok(cuzk_filecoin_request_create(&r, CUZK_FILECOIN_WINDOW, &err));
        cuzk_status s = cuzk_filecoin_request_read_json(r, copy, cut, &err);
        assert_int_equal(s, cut == n ? CUZK_OK : CUZK_E_TRUNCATED);
        cuzk_filecoin_request_destroy(r);
        free(copy);
    }
    case_close(&c);
}

/* Fields beside a commit-phase-1 output that holds them: set before it or behind it, they must
 * agree; what it holds need not be set. */
static void test_fields_beside_vanilla(void **state)
{
    (void)state;
    filecoin_case c = case_open("porep-2k-1");
    cuzk_fixture c1 = cuzk_test_fixture("cases/porep-2k-1/c1.json");
    for (unsigned f = 0; f <= c.n_fields; f++) {
        for (int before = 0; before < 2; before++) {
            for (int changed = 0; changed < 2; changed++) {
                char text[CASE_TEXT_MAX];
                cuzk_filecoin_request *r = NULL;
                assert_ok(cuzk_filecoin_request_create(&r, c.kind, &err));
                if (f < c.n_fields) { /* a digit that changes: never the highest byte's */
                    strcpy(text, c.fields[f].text);
                    char *digit = &text[is_digest(text) ? 20 : strlen(text) - 1];
                    *digit = !changed ? *digit : *digit == '1' ? '2' : '1';
                }
                const bool sets = f < c.n_fields;
                if (before && sets) {
                    assert_ok(cuzk_filecoin_request_set(r, c.fields[f].name, text, &err));
                }
                assert_ok(cuzk_filecoin_request_add_vanilla(r, c1.data, c1.size, &err));
                if (!before && sets) {
                    assert_ok(cuzk_filecoin_request_set(r, c.fields[f].name, text, &err));
                }
                bool alone = sets && (strcmp(c.fields[f].name, "miner_id") == 0 ||
                                      strcmp(c.fields[f].name, "sector_number") == 0);
                if (sets && changed && !alone) { /* those two name the replica together only */
                    assert_fails(cuzk_filecoin_check(ctx, r, &err), CUZK_E_MISMATCH,
                                 strcmp(c.fields[f].name, "registered_proof") == 0
                                     ? "which is not number"
                                     : c.fields[f].name);
                } else {
                    assert_ok(cuzk_filecoin_check(ctx, r, &err));
                }
                cuzk_filecoin_request_destroy(r);
            }
        }
    }
    cuzk_test_fixture_free(&c1);
    case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_way),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_fields_beside_vanilla),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
