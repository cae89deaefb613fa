/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Commit-phase-1 outputs: the golden ones in each form they come in, and everything that can be
 * wrong with the text. BC-nnn: cases from the field, see docs/filecoin.md. */
#define _GNU_SOURCE
#include "filecoin/vanilla_porep.h"
#include "filecoin/vanilla_write.h"
#include "golden_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const cases[] = {"porep-2k-1",      "porep-2k-synth-20", "porep-2k-v1-21",
                                    "vector-porep-2k", "porep-2k-ni-22",    "porep-4k-13",
                                    "porep-16k-11",    "porep-32k-12",      "porep-8m-2"};
enum { N_CASES = sizeof cases / sizeof cases[0], CHALLENGES_MAX = 64 };

/* A text that tests change. */
typedef struct {
    char *s;
    size_t n;
} text;

static text make(const void *s, size_t n)
{
    text t = {malloc(n + 1), n};
    assert_non_null(t.s);
    memcpy(t.s, s, n);
    t.s[n] = '\0';
    return t;
}

static text load(const char *golden_case, const char *file)
{
    cuzk_fixture f = golden_load(golden_case, file);
    text t = make(f.data, f.size);
    cuzk_test_fixture_free(&f);
    return t;
}

/* Replace the first occurrence of `from` behind the first occurrence of `behind`. */
static text replaced(text t, const char *behind, const char *from, const char *to)
{
    char *start = strstr(t.s, behind);
    assert_non_null(start);
    char *at = strstr(start, from);
    assert_non_null(at);
    size_t head = (size_t)(at - t.s);
    text out = {NULL, 0};
    int n = asprintf(&out.s, "%.*s%s%s", (int)head, t.s, to, at + strlen(from));
    assert_true(n > 0);
    out.n = (size_t)n;
    return out;
}

/* The text in base64 in an envelope. */
static text enveloped(text t, uint64_t sector, uint64_t bytes)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text out = {malloc(2 * t.n + 200), 0};
    assert_non_null(out.s);
    out.n =
        (size_t)sprintf(out.s, "{\"SectorNum\":%llu,\"Phase1Out\":\"", (unsigned long long)sector);
    for (size_t i = 0; i < t.n; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (i + k < t.n ? (uint8_t)t.s[i + k] : 0);
        }
        for (unsigned k = 0; k < 4; k++) {
            out.s[out.n++] = i + k > t.n ? '=' : alphabet[bits >> (18 - 6 * k) & 63];
        }
    }
    out.n += (size_t)sprintf(out.s + out.n, "\",\"SectorSize\":%llu}", (unsigned long long)bytes);
    return out;
}

/* Read from a copy of exactly the text's size, so that the sanitizers see a read past it. */
static cuzk_status read_text(cuzk_porep_vanilla *out, text t, cuzk_error *err)
{
    uint8_t *exact = malloc(t.n > 0 ? t.n : 1);
    assert_non_null(exact);
    memcpy(exact, t.s, t.n);
    cuzk_status s = cuzk_porep_vanilla_read(out, exact, t.n, err);
    free(exact);
    return s;
}

static void assert_read(cuzk_porep_vanilla *out, text t)
{
    cuzk_error err = {0};
    if (read_text(out, t, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

/* Must be refused, with `mention` in the text. */
static void assert_refused(text t, cuzk_status status, const char *mention)
{
    cuzk_error err = {0};
    cuzk_porep_vanilla v;
    cuzk_status s = read_text(&v, t, &err);
    if (s != status || strstr(err.text, mention) == NULL) {
        fail_msg("status %d, expected %d; \"%s\" does not mention \"%s\"", s, status, err.text,
                 mention);
    }
    assert_null(v.challenges);
}

static void assert_merkle_equal(const cuzk_merkle_proof *a, const cuzk_merkle_proof *b,
                                cuzk_tree tree)
{
    assert_memory_equal(&a->root, &b->root, sizeof a->root);
    assert_memory_equal(&a->leaf, &b->leaf, sizeof a->leaf);
    assert_int_equal(a->index, b->index);
    assert_memory_equal(a->siblings, b->siblings, cuzk_tree_siblings(tree) * sizeof(cuzk_digest));
}

static void assert_equal(const cuzk_porep_vanilla *a, const cuzk_porep_vanilla *b)
{
    cuzk_tree r = cuzk_tree_poseidon(a->proof.sector);
    cuzk_tree d = cuzk_tree_sha256(a->proof.sector);
    assert_int_equal(a->proof.number, b->proof.number);
    assert_ptr_equal(a->proof.sector, b->proof.sector);
    assert_memory_equal(&a->comm_r, &b->comm_r, 32);
    assert_memory_equal(&a->comm_d, &b->comm_d, 32);
    assert_memory_equal(&a->replica_id, &b->replica_id, 32);
    assert_memory_equal(a->seed, b->seed, 32);
    assert_memory_equal(a->ticket, b->ticket, 32);
    assert_int_equal(a->n_challenges, b->n_challenges);
    for (uint32_t i = 0; i < a->n_challenges; i++) {
        const cuzk_porep_challenge *x = &a->challenges[i];
        const cuzk_porep_challenge *y = &b->challenges[i];
        assert_int_equal(x->node, y->node);
        assert_merkle_equal(&x->d, &y->d, d);
        assert_merkle_equal(&x->r, &y->r, r);
        for (unsigned p = 0; p <= CUZK_PARENTS; p++) {
            const cuzk_porep_column *cx = p == 0 ? &x->column : &x->parents[p - 1];
            const cuzk_porep_column *cy = p == 0 ? &y->column : &y->parents[p - 1];
            assert_int_equal(cx->node, cy->node);
            assert_memory_equal(cx->rows, cy->rows, a->shape.layers * sizeof(cuzk_digest));
            assert_merkle_equal(&cx->inclusion, &cy->inclusion, r);
        }
    }
}

/* Writing what was read gives the reference's bytes. */
static void assert_written(const cuzk_porep_vanilla *v, bool envelope, text expected)
{
    char *written = NULL;
    size_t n = 0;
    cuzk_error err = {0};
    FILE *file = open_memstream(&written, &n);
    assert_non_null(file);
    assert_int_equal(cuzk_porep_vanilla_write(file, v, envelope, &err), CUZK_OK);
    fclose(file);
    assert_int_equal(n, expected.n);
    assert_memory_equal(written, expected.s, n);
    free(written);
}

static void assert_hex(const char *json, const char *name, const void *bytes)
{
    uint8_t expected[32];
    json_hex(json, name, expected, 32);
    assert_memory_equal(bytes, expected, 32);
}

static void test_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_CASES; i++) {
        if (!golden_exists(cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(cases[i], "expected.json");
        const char *json = (const char *)f.data;
        cuzk_registered_proof proof = golden_proof(json, CUZK_PROOF_POREP);
        text c1 = load(cases[i], "c1.json");
        cuzk_porep_vanilla v;
        assert_read(&v, c1);
        assert_int_equal(v.proof.number, proof.number);
        assert_ptr_equal(v.proof.sector, proof.sector);
        assert_hex(json, "comm_r", &v.comm_r);
        assert_hex(json, "comm_d", &v.comm_d);
        assert_hex(json, "replica_id", &v.replica_id);
        assert_hex(json, "seed", v.seed);
        assert_hex(json, "ticket", v.ticket);
        uint64_t challenges[CHALLENGES_MAX];
        assert_int_equal(golden_numbers(json, "challenges", challenges, CHALLENGES_MAX),
                         v.n_challenges);
        for (uint32_t c = 0; c < v.n_challenges; c++) {
            assert_int_equal(v.challenges[c].node, challenges[c]);
            assert_int_equal(v.challenges[c].d.index, challenges[c]);
            assert_int_equal(v.challenges[c].r.index, challenges[c]);
            assert_int_equal(v.challenges[c].column.node, challenges[c]);
            assert_hex(json, "comm_r_last", &v.challenges[c].r.root);
            assert_hex(json, "comm_c", &v.challenges[c].column.inclusion.root);
        }
        /* in an envelope, ours and the reference's; and with the keys in another order */
        cuzk_porep_vanilla other;
        text wrapped = enveloped(c1, 77, proof.sector->bytes);
        assert_read(&other, wrapped);
        assert_true(other.has_envelope);
        assert_int_equal(other.sector_number, 77);
        assert_equal(&v, &other);
        assert_written(&v, false, c1);
        assert_written(&other, true, wrapped);
        cuzk_porep_vanilla_clear(&other);
        static const char *const files[] = {"c1-envelope.json", "c1-go.json"};
        for (unsigned k = 0; k < 2; k++) {
            char name[96];
            if (cuzk_test_fixture_exists(golden_name(name, cases[i], files[k]))) {
                text t = load(cases[i], files[k]);
                assert_read(&other, t);
                assert_equal(&v, &other);
                assert_int_equal(other.has_envelope, k == 0);
                if (k == 0) {
                    assert_written(&other, true, t);
                }
                cuzk_porep_vanilla_clear(&other);
                free(t.s);
            }
        }
        cuzk_porep_vanilla_clear(&v);
        free(wrapped.s);
        free(c1.s);
        cuzk_test_fixture_free(&f);
    }
}

/* White space between any two tokens, unknown keys anywhere: read the same. */
static void test_spread_out(void **state)
{
    (void)state;
    text c1 = load("porep-2k-1", "c1.json");
    text spread = {malloc(6 * c1.n), 0};
    bool in_string = false;
    for (size_t i = 0; i < c1.n; i++) {
        char c = c1.s[i];
        in_string ^= c == '"';
        bool token = !in_string && strchr("{}[],:", c) != NULL;
        spread.n += (size_t)sprintf(spread.s + spread.n, token ? " %c\n\t\r" : "%c", c);
        if (c == '{' && !in_string) {
            spread.n += (size_t)sprintf(spread.s + spread.n,
                                        "\"\\u0061b\\n\":[{},[],{\"x\":-1.5e+3,\"y\":[true,false]},"
                                        "null,\"\\\"\"],");
        }
    }
    cuzk_porep_vanilla a;
    cuzk_porep_vanilla b;
    assert_read(&a, c1);
    assert_read(&b, spread);
    assert_equal(&a, &b);
    cuzk_porep_vanilla_clear(&b);
    text wrapped = enveloped(spread, 1, 2048);
    assert_read(&b, wrapped);
    assert_equal(&a, &b);
    cuzk_porep_vanilla_clear(&a);
    cuzk_porep_vanilla_clear(&b);
    free(wrapped.s);
    free(spread.s);
    free(c1.s);
}

/* BC-073: white space behind the value is fine, nothing else is. */
static void test_trailing(void **state)
{
    (void)state;
    text c1 = load("porep-2k-1", "c1.json");
    static const struct {
        const char *s;
        size_t n;
        bool good;
    } tails[] = {{" ", 1, true},   {"\n", 1, true},  {"}", 1, false},
                 {"\0", 1, false}, {"{}", 2, false}, {"\n\n x", 4, false}};
    for (unsigned i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        text t = {malloc(c1.n + 8), c1.n + tails[i].n};
        memcpy(t.s, c1.s, c1.n);
        memcpy(t.s + c1.n, tails[i].s, tails[i].n);
        for (int wrap = 0; wrap < 2; wrap++) {
            text u = wrap ? enveloped(t, 1, 2048) : make(t.s, t.n);
            cuzk_porep_vanilla v;
            if (tails[i].good) {
                assert_read(&v, u);
                cuzk_porep_vanilla_clear(&v);
            } else {
                assert_refused(u, CUZK_E_FORMAT, wrap ? "decoded offset" : "offset");
            }
            free(u.s);
        }
        free(t.s);
    }
    free(c1.s);
}

/* BC-074: cut anywhere. */
static void test_truncated(void **state)
{
    (void)state;
    text c1 = load("porep-2k-1", "c1.json");
    text wrapped = enveloped(c1, 1, 2048);
    for (size_t i = 0; i < 1000; i++) {
        size_t n = i < 200 ? i : (i - 200) * 127 % c1.n;
        text t = {c1.s, n};
        assert_refused(t, CUZK_E_TRUNCATED, "ends too early");
        t = make(c1.s, n);
        text u = enveloped(t, 1, 2048);
        assert_refused(u, CUZK_E_TRUNCATED, "Phase1Out");
        free(t.s);
        free(u.s);
        t = (text){wrapped.s, i < 200 ? i : (i - 200) * 167 % wrapped.n};
        assert_refused(t, CUZK_E_TRUNCATED, "");
    }
    free(wrapped.s);
    free(c1.s);
}

/* BC-075: variants of base64. */
static void test_base64(void **state)
{
    (void)state;
    text c1 = load("porep-2k-1", "c1.json");
    for (size_t pad = 0; pad < 3; pad++) {
        text t = make(c1.s, c1.n);
        t.s = realloc(t.s, t.n + 4);
        memset(t.s + t.n, ' ', pad);
        t.n += pad;
        t.s[t.n] = '\0';
        text whole = enveloped(t, 1, 2048);
        cuzk_porep_vanilla v;
        assert_read(&v, whole);
        cuzk_porep_vanilla_clear(&v);
        if (strstr(whole.s, "=\"") != NULL) {
            text unpadded = replaced(whole, "Phase1Out", "=\"", "\"");
            assert_refused(unpadded, CUZK_E_FORMAT, "base64: padding is missing");
            free(unpadded.s);
        }
        char *end = strstr(whole.s, "\",\"SectorSize");
        char *last = end - 1;
        while (*last == '=') {
            last--;
        }
        if (last != end - 1) {
            *last = *last == '/' ? '+' : '/';
            assert_refused(whole, CUZK_E_FORMAT, "unused bits");
        }
        free(whole.s);
        free(t.s);
    }
    text good = enveloped(c1, 1, 2048);
    static const char *const intruders[] = {"-", "_", "\n", "=", "\\/"};
    for (unsigned i = 0; i < sizeof intruders / sizeof intruders[0]; i++) {
        text bad = replaced(good, "Phase1Out\":\"eyJy", "eyJy", "eyJyZQ");
        memcpy(strstr(bad.s, "eyJyZQ") + 4, intruders[i], strlen(intruders[i]));
        assert_refused(bad, CUZK_E_FORMAT, "base64: ");
        free(bad.s);
    }
    text wrong = enveloped(c1, 1, 8388608);
    assert_refused(wrong, CUZK_E_MISMATCH, "SectorSize is 8388608");
    free(wrong.s);
    wrong = replaced(good, "SectorSize", "2048}", "-1}");
    assert_refused(wrong, CUZK_E_FORMAT, "SectorSize");
    free(wrong.s);
    wrong = replaced(good, "{", "\"SectorNum\":1,", "");
    assert_refused(wrong, CUZK_E_FORMAT, "no \"SectorNum\"");
    free(wrong.s);
    wrong = replaced(good, "{", "\"SectorNum\":1,", "\"ticket\":[],");
    assert_refused(wrong, CUZK_E_FORMAT, "ticket: offset 12: 0 numbers in a digest");
    free(wrong.s);
    free(good.s);
    free(c1.s);
}

/* Each change names its place. */
static void test_refused_places(void **state)
{
    (void)state;
    static const struct {
        const char *behind, *from, *to;
        cuzk_status status;
        const char *mention;
    } changes[] = {
        {"{", "StackedDrg2KiBV1_1", "StackedDrg3KiBV1_1", CUZK_E_UNSUPPORTED,
         "registered_proof: registered proof \"StackedDrg3KiBV1_1\" is not known"},
        {"{", "StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1", CUZK_E_MISMATCH,
         "registered_proof is for sectors of 8MiB, vanilla_proofs for 2KiB"},
        {"vanilla_proofs", "StackedDrg2KiBV1", "StackedDrg2KiBV1_1", CUZK_E_UNSUPPORTED,
         "no key of a known sector size"},
        {"comm_d_proofs", "\"Single\"", "\"Sub\"", CUZK_E_MISMATCH,
         "partition 0: challenge 0: comm_d_proofs: data: Sub: "},
        {"comm_r_last_proof", "\"Single\"", "\"Double\"", CUZK_E_FORMAT,
         "comm_r_last_proof: data: "},
        {"comm_d_proofs", "\"index\":", "\"index\":2", CUZK_E_FORMAT,
         "comm_d_proofs: data: Single: path: path: level 0: index: "},
        {"comm_r_last_proof", "\"index\":", "\"index\":9", CUZK_E_FORMAT,
         "comm_r_last_proof: data: Single: path: path: level 0: index"},
        {"comm_r_last_proof", "\"hashes\":[", "\"hashes\":[[],", CUZK_E_FORMAT,
         "level 0: hashes: sibling 0: "},
        {"drg_parents", "\"rows\":[[", "\"rows\":[[1,", CUZK_E_FORMAT,
         "drg_parents: parent 0: column: rows: layer 0: "},
        {"exp_parents", "\"rows\":[[", "\"rows\":[[256,", CUZK_E_FORMAT,
         "exp_parents: parent 0: column: rows: layer 0: number 0: "},
        {"exp_parents", "\"leaf\":[", "\"leaf\":[-", CUZK_E_FORMAT,
         "exp_parents: parent 0: inclusion_proof: data: Single: leaf"},
        {"exp_parents", "\"leaf\":[", "\"leaf\":[0", CUZK_E_FORMAT, "leaf: number 0"},
        {"c_x", "\"rows\"", "\"rowz\"", CUZK_E_FORMAT, "column: "},
        {"c_x", "\"rows\"", "\"index\"", CUZK_E_FORMAT, "index: "},
        {"drg_parents", "[{", "[{},{", CUZK_E_FORMAT, "drg_parents: parent 0: "},
        {"labeling_proofs", "\"layer_index\":1", "\"layer_index\":2", CUZK_E_MISMATCH,
         "partition 0: challenge 0: labeling_proofs: layer 1: layer_index: it is 2, expected 1"},
        {"labeling_proofs", "\"node\":", "\"node\":1", CUZK_E_MISMATCH,
         "labeling_proofs: layer 2: node"},
        {"encoding_proof", "\"node\":", "\"node\":1", CUZK_E_MISMATCH, "encoding_proof: node"},
        {"labeling_proofs", "\"parents\":[[", "\"parents\":[[1", CUZK_E_FORMAT,
         "labeling_proofs: element 0: parents: parent 0"},
        {"]],\"layer_index\":2", "\"layer_index\":2", "\"layer_index\":99999999999999999999",
         CUZK_E_FORMAT, "layer_index: "},
        {"}]]},\"comm_r\"", "]]}", "],[]]}", CUZK_E_MISMATCH, "partition 1: "},
        {"}]]},\"comm_r\"", "\"comm_r\"", "\"comm_d\"", CUZK_E_FORMAT, "twice"},
        {"\"ticket\"", "\"ticket\"", "\"tickets\"", CUZK_E_FORMAT, "no \"ticket\""},
        {"\"seed\"", "\"seed\":[", "\"seed\":[[", CUZK_E_FORMAT, "seed: number 0: "},
        {"{", "{", "{\"x\":tru,", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":\"\\z\",", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":\"\\u12g4\",", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":\"\n\",", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":[1 2],", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":{1:2},", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{\"x\":],", CUZK_E_FORMAT, "x: "},
        {"{", "{", "{,", CUZK_E_FORMAT, "offset 1"},
    };
    text c1 = load("porep-2k-1", "c1.json");
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        text t = replaced(c1, changes[i].behind, changes[i].from, changes[i].to);
        assert_refused(t, changes[i].status, changes[i].mention);
        text wrapped = enveloped(t, 1, 2048);
        assert_refused(wrapped, changes[i].status,
                       strstr(changes[i].mention, "offset 1") == NULL ? changes[i].mention
                                                                      : "decoded offset 1");
        free(wrapped.s);
        free(t.s);
    }
    free(c1.s);
}

/* A value not below the field's order: 32 times 255 in each place where an element stands. */
static void test_not_below_the_order(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "\"root\":",   "\"leaf\":",   "\"rows\":[",     "\"hashes\":[",
        "\"comm_r\":", "\"comm_d\":", "\"replica_id\":"};
    char high[160] = "[";
    for (unsigned i = 0; i < 32; i++) {
        strcat(high, i < 31 ? "255," : "255]");
    }
    text c1 = load("porep-2k-1", "c1.json");
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char *at = strstr(c1.s, keys[i]);
        assert_non_null(at);
        at = strchr(at + strlen(keys[i]) - 1, '[');
        at += at[1] == '[' ? 1 : 0;
        char old[200];
        snprintf(old, sizeof old, "%.*s", (int)(strchr(at, ']') - at) + 1, at);
        text t = replaced(c1, keys[i], old, high);
        assert_refused(t, CUZK_E_FORMAT, "not below the field's order");
        free(t.s);
    }
    free(c1.s);
}

/* BC-079: the number of partitions. */
static void test_partitions(void **state)
{
    (void)state;
    text c1 = load("porep-2k-1", "c1.json");
    char *from = strstr(c1.s, "[[{");
    char *to = strstr(c1.s, "}]]},\"comm_r\"") + 2;
    text two = {NULL, 0};
    int n =
        asprintf(&two.s, "%.*s,%.*s%s", (int)(to - c1.s), c1.s, (int)(to - from - 1), from + 1, to);
    assert_true(n > 0);
    two.n = (size_t)n;
    assert_refused(two, CUZK_E_MISMATCH, "expected 1 partitions, got 2");
    text none = {NULL, 0};
    n = asprintf(&none.s, "%.*s[]%s", (int)(from - c1.s), c1.s, to + 1);
    assert_true(n > 0);
    none.n = (size_t)n;
    assert_refused(none, CUZK_E_MISMATCH, "expected 1 partitions, got 0");
    free(two.s);
    free(none.s);
    free(c1.s);
}

static void test_not_an_output(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "{",
                                        "[",
                                        "null",
                                        "{}",
                                        "\"x\"",
                                        "{\"a\":1}",
                                        "\x7f"
                                        "ELF"};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        text t = make(texts[i], strlen(texts[i]));
        cuzk_error err = {0};
        cuzk_porep_vanilla v;
        assert_true(read_text(&v, t, &err) != CUZK_OK);
        assert_non_null(strstr(err.text, "commit-phase-1 output: "));
        free(t.s);
    }
    /* unknown keys may nest, but not without end */
    text deep = {malloc(1 << 20), 0};
    deep.n = (size_t)sprintf(deep.s, "{\"x\":");
    memset(deep.s + deep.n, '[', 100000);
    deep.n += 100000;
    deep.s[deep.n] = '\0';
    assert_refused(deep, CUZK_E_FORMAT, "nested deeper than 64 levels");
    free(deep.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_spread_out),
        cmocka_unit_test(test_trailing),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_refused_places),
        cmocka_unit_test(test_not_below_the_order),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_not_an_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
