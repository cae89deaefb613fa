/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of PoSt and sector updates in bincode: the golden ones, and damage in every count,
 * tag, index and value. BC-nnn: cases from the field, see docs/filecoin.md. */
#define _GNU_SOURCE
#include "base/bytes.h"
#include "filecoin/vanilla_pieces.h"
#include "filecoin/vanilla_update.h"
#include "filecoin/vanilla_write.h"
#include "golden_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const post_cases[] = {
    "window-2k-1sectors-3",   "window-2k-3sectors-4",   "winning-2k-5",   "vector-window-2k",
    "vector-winning-2k",      "winning-4k-19",          "winning-32k-16", "window-8m-3sectors-24",
    "window-16k-3sectors-18", "window-32k-1sectors-17", "winning-8m-23"};
static const char *const update_cases[] = {"update-2k-6", "vector-update-2k", "update-16k-14",
                                           "update-32k-15", "update-8m-25"};
enum { PIECES_MAX = 4, CHALLENGES_MAX = 256 };

/* The vanilla files of a case. */
typedef struct {
    cuzk_fixture files[PIECES_MAX];
    cuzk_vanilla_span spans[PIECES_MAX];
    unsigned n;
} pieces;

static pieces load(const char *golden_case)
{
    pieces p = {.n = 0};
    for (; p.n < PIECES_MAX; p.n++) {
        char file[32];
        char name[96];
        snprintf(file, sizeof file, "vanilla-%u.bincode", p.n);
        if (!cuzk_test_fixture_exists(golden_name(name, golden_case, file))) {
            break;
        }
        p.files[p.n] = golden_load(golden_case, file);
        p.spans[p.n] = (cuzk_vanilla_span){p.files[p.n].data, p.files[p.n].size};
    }
    return p;
}

static void free_pieces(pieces *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        cuzk_test_fixture_free(&p->files[i]);
    }
}

static cuzk_registered_proof proof_of(const char *golden_case, const char *json)
{
    cuzk_proof_kind kind = strstr(golden_case, "window") != NULL    ? CUZK_PROOF_WINDOW
                           : strstr(golden_case, "winning") != NULL ? CUZK_PROOF_WINNING
                                                                    : CUZK_PROOF_UPDATE;
    return golden_proof(json, kind);
}

/* Writing what was read gives the reference's bytes: file i of one or the other. */
static void assert_written(const cuzk_post_vanilla *post, const cuzk_update_vanilla *update,
                           unsigned i, cuzk_vanilla_span expected)
{
    char *written = NULL;
    size_t n = 0;
    cuzk_error err = {0};
    FILE *file = open_memstream(&written, &n);
    assert_non_null(file);
    assert_int_equal(post != NULL ? cuzk_post_sector_write(file, post, i, &err)
                                  : cuzk_update_partition_write(file, update, i, &err),
                     CUZK_OK);
    fclose(file);
    assert_int_equal(n, expected.size);
    assert_memory_equal(written, expected.data, n);
    free(written);
}

static void test_post_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof post_cases / sizeof post_cases[0]; i++) {
        if (!golden_exists(post_cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(post_cases[i], "expected.json");
        const char *json = (const char *)f.data;
        cuzk_registered_proof proof = proof_of(post_cases[i], json);
        pieces p = load(post_cases[i]);
        uint64_t challenges[CHALLENGES_MAX];
        uint64_t ids[PIECES_MAX];
        golden_numbers(json, "challenges", challenges, CHALLENGES_MAX);
        assert_int_equal(golden_numbers(json, "sectors", ids, PIECES_MAX), p.n);
        /* partition by partition */
        unsigned slots = proof.kind == CUZK_PROOF_WINDOW ? cuzk_window_sectors(proof.sector) : 1;
        for (unsigned first = 0; first < p.n; first += slots) {
            unsigned n = p.n - first < slots ? p.n - first : slots;
            cuzk_post_vanilla v;
            cuzk_error err = {0};
            if (cuzk_post_vanilla_read(&v, &proof, p.spans + first, n, &err) != CUZK_OK) {
                fail_msg("%s", err.text);
            }
            assert_int_equal(v.n_sectors, n);
            for (unsigned s = 0; s < n; s++) {
                uint8_t expected[32];
                assert_int_equal(v.sectors[s].sector_id, ids[first + s]);
                assert_written(&v, NULL, s, p.spans[first + s]);
                golden_hex_at(json, "comm_r", first + s, expected);
                assert_memory_equal(&v.sectors[s].comm_r, expected, 32);
                golden_hex_at(json, "comm_c", first + s, expected);
                assert_memory_equal(&v.sectors[s].comm_c, expected, 32);
                golden_hex_at(json, "comm_r_last", first + s, expected);
                assert_memory_equal(&v.sectors[s].comm_r_last, expected, 32);
                for (unsigned k = 0; k < v.n_openings; k++) {
                    assert_memory_equal(&v.sectors[s].openings[k].root, expected, 32);
                    assert_int_equal(v.sectors[s].openings[k].index,
                                     challenges[(first + s) * v.n_openings + k]);
                }
            }
            cuzk_post_vanilla_clear(&v);
        }
        free_pieces(&p);
        cuzk_test_fixture_free(&f);
    }
}

static void test_update_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof update_cases / sizeof update_cases[0]; i++) {
        if (!golden_exists(update_cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(update_cases[i], "expected.json");
        const char *json = (const char *)f.data;
        cuzk_registered_proof proof = proof_of(update_cases[i], json);
        pieces p = load(update_cases[i]);
        cuzk_update_vanilla v;
        cuzk_error err = {0};
        if (cuzk_update_vanilla_read(&v, &proof, p.spans, p.n, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        uint64_t challenges[CHALLENGES_MAX];
        uint8_t comm_c[32], comm_d[32], root[32];
        assert_int_equal(golden_numbers(json, "challenges", challenges, CHALLENGES_MAX),
                         v.shape.partitions * v.shape.challenges);
        json_hex(json, "comm_c", comm_c, 32);
        json_hex(json, "comm_d_new", comm_d, 32);
        json_hex(json, "comm_r_last_new", root, 32);
        for (unsigned k = 0; k < v.shape.partitions; k++) {
            assert_memory_equal(&v.partitions[k].comm_c, comm_c, 32);
            assert_written(NULL, &v, k, p.spans[k]);
            for (unsigned c = 0; c < v.shape.challenges; c++) {
                const cuzk_update_challenge *ch = &v.partitions[k].challenges[c];
                uint64_t expected = challenges[k * v.shape.challenges + c];
                assert_int_equal(ch->r_old.index, expected);
                assert_int_equal(ch->d_new.index, expected);
                assert_int_equal(ch->r_new.index, expected);
                assert_memory_equal(&ch->d_new.root, comm_d, 32);
                assert_memory_equal(&ch->r_new.root, root, 32);
            }
        }
        cuzk_update_vanilla_clear(&v);
        free_pieces(&p);
        cuzk_test_fixture_free(&f);
    }
}

/* One file, changed at one place. Copies have exactly the file's size. */
typedef struct {
    uint64_t at;
    uint64_t value;
    unsigned bytes; /* of the value; 0: cut the file there */
    cuzk_status status;
    const char *mention;
} change;

static uint8_t *changed(cuzk_vanilla_span file, const change *c, cuzk_vanilla_span *out)
{
    out->size = c->bytes == 0 ? c->at : file.size;
    uint8_t *copy = malloc(out->size > 0 ? out->size : 1);
    assert_non_null(copy);
    memcpy(copy, file.data, out->size);
    for (unsigned i = 0; i < c->bytes; i++) {
        copy[c->at + i] = (uint8_t)(c->value >> (8 * i));
    }
    out->data = copy;
    return copy;
}

static void check_refused(cuzk_status status, const cuzk_error *err, const change *c)
{
    if (status != c->status || strstr(err->text, c->mention) == NULL) {
        fail_msg("at %llu: status %d, expected %d; \"%s\" does not mention \"%s\"",
                 (unsigned long long)c->at, status, c->status, err->text, c->mention);
    }
}

/* 2KiB: sector 8, comm_r 32, counts 8 + 8, then proofs of 556: tag 4, root 32, leaf 32, count 8,
 * levels of 8 + 224 + 8. */
static void test_post_damage(void **state)
{
    (void)state;
    enum { P0 = 56, PROOF = 556, P3 = P0 + 3 * PROOF, END = P0 + 10 * PROOF };
    static const change changes[] = {
        {0, 0, 0, CUZK_E_TRUNCATED, "sector 1: sector id: at offset 0: 8 bytes expected, 0"},
        {20, 0, 0, CUZK_E_TRUNCATED, "comm_r: at offset 8"},
        {39, 0xff, 1, CUZK_E_FORMAT, "comm_r: at offset 8: value 0 is not below"},
        {40, 2, 8, CUZK_E_MISMATCH, "sector entries: at offset 40: there are 2, expected 1"},
        {40, UINT64_MAX, 8, CUZK_E_MISMATCH, "there are 18446744073709551615"},
        {48, 66, 8, CUZK_E_MISMATCH, "inclusion proofs: at offset 48: there are 66, expected 10"},
        {P3, 1, 4, CUZK_E_MISMATCH, "inclusion proof 3: at offset 1724: the Merkle proof is a Sub"},
        {P3, 3, 4, CUZK_E_FORMAT, "inclusion proof 3: at offset 1724: kind of Merkle proof 3"},
        {P3 + 35, 0xff, 1, CUZK_E_FORMAT, "inclusion proof 3: root"},
        {P3 + 67, 0xff, 1, CUZK_E_FORMAT, "inclusion proof 3: leaf"},
        {P3 + 68, 9, 8, CUZK_E_MISMATCH, "levels of the path: at offset 1792: there are 9"},
        {P3 + 76, 1, 8, CUZK_E_MISMATCH, "inclusion proof 3: level 0: siblings"},
        {P3 + 84 + 63, 0xff, 1, CUZK_E_FORMAT, "level 0: siblings: at offset 1840: value 1"},
        {P3 + 308, 8, 8, CUZK_E_FORMAT, "level 0: index: at offset 2032: 8, expected less than 8"},
        {P3 + 316 + 232, UINT64_MAX, 8, CUZK_E_FORMAT, "level 1: index"},
        {P3 + 400, 0, 0, CUZK_E_TRUNCATED, "inclusion proof 3: level 1: siblings"},
        {END + 31, 0xff, 1, CUZK_E_FORMAT, "comm_c"},
        {END + 63, 0xff, 1, CUZK_E_FORMAT, "comm_r_last"},
        {END + 63, 0, 0, CUZK_E_TRUNCATED, "comm_r_last"},
    };
    pieces p = load("window-2k-3sectors-4");
    cuzk_registered_proof proof;
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 10, NULL), CUZK_OK);
    assert_int_equal(p.spans[1].size, END + 64);
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        cuzk_vanilla_span spans[2] = {p.spans[0]};
        uint8_t *copy = changed(p.spans[1], &changes[i], &spans[1]);
        cuzk_post_vanilla v;
        cuzk_error err = {0};
        check_refused(cuzk_post_vanilla_read(&v, &proof, spans, 2, &err), &err, &changes[i]);
        assert_non_null(strstr(err.text, "vanilla proof of sector 1: "));
        assert_null(v.sectors);
        free(copy);
    }
    for (uint64_t n = 0; n < p.spans[1].size; n++) {
        change cut = {n, 0, 0, CUZK_E_TRUNCATED, "offset"};
        cuzk_vanilla_span span;
        uint8_t *copy = changed(p.spans[1], &cut, &span);
        cuzk_post_vanilla v;
        cuzk_error err = {0};
        check_refused(cuzk_post_vanilla_read(&v, &proof, &span, 1, &err), &err, &cut);
        free(copy);
    }
    free_pieces(&p);
}

/* 2KiB: comm_c 32, count 8, 8 apex leaves, count 8, then challenges of 556 + 364 + 556. */
static void test_update_damage(void **state)
{
    (void)state;
    enum { C0 = 32 + 8 + 256 + 8, CHALLENGE = 1476, C2 = C0 + 2 * CHALLENGE };
    static const change changes[] = {
        {31, 0xff, 1, CUZK_E_FORMAT, "comm_c: at offset 0"},
        {32, 128, 8, CUZK_E_MISMATCH, "apex leaves: at offset 32: there are 128, expected 8"},
        {40 + 5 * 32 + 31, 0xff, 1, CUZK_E_FORMAT, "apex leaves: at offset 200: value 5"},
        {296, 86, 8, CUZK_E_MISMATCH, "challenge proofs: at offset 296: there are 86, expected 10"},
        {C2, 2, 4, CUZK_E_MISMATCH, "challenge 2: proof_r_old: at offset 3256"},
        {C2 + 556, 1, 4, CUZK_E_MISMATCH, "challenge 2: proof_d_new: at offset"},
        {C2 + 556 + 68, 7, 8, CUZK_E_MISMATCH, "proof_d_new: levels of the path"},
        {C2 + 556 + 76 + 40, 2, 8, CUZK_E_FORMAT, "proof_d_new: level 0: index"},
        {C2 + 556 + 364 + 35, 0xff, 1, CUZK_E_FORMAT, "challenge 2: proof_r_new: root"},
        {C2 + 1000, 0, 0, CUZK_E_TRUNCATED, "challenge 2: proof_r_new: "},
    };
    pieces p = load("update-2k-6");
    cuzk_registered_proof proof;
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_UPDATE, 0, NULL), CUZK_OK);
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        cuzk_vanilla_span span;
        uint8_t *copy = changed(p.spans[0], &changes[i], &span);
        cuzk_update_vanilla v;
        cuzk_error err = {0};
        check_refused(cuzk_update_vanilla_read(&v, &proof, &span, 1, &err), &err, &changes[i]);
        assert_non_null(strstr(err.text, "vanilla proof of partition 0: "));
        assert_null(v.partitions);
        free(copy);
    }
    for (uint64_t n = 0; n < p.spans[0].size; n += n < 600 ? 1 : 37) {
        change cut = {n, 0, 0, CUZK_E_TRUNCATED, "offset"};
        cuzk_vanilla_span span;
        uint8_t *copy = changed(p.spans[0], &cut, &span);
        cuzk_update_vanilla v;
        cuzk_error err = {0};
        check_refused(cuzk_update_vanilla_read(&v, &proof, &span, 1, &err), &err, &cut);
        free(copy);
    }
    free_pieces(&p);
}

/* BC-083: how many sectors a partition takes; bytes behind a proof are ignored. */
static void test_counts(void **state)
{
    (void)state;
    pieces p = load("window-2k-3sectors-4");
    cuzk_registered_proof proof;
    cuzk_post_vanilla v;
    cuzk_error err = {0};
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 10, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 0, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "0 sectors, expected 1 to 2"));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 3, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "3 sectors, expected 1 to 2"));
    cuzk_error_clear(&err);
    cuzk_vanilla_span longer = {malloc(p.spans[0].size + 5), p.spans[0].size + 5};
    memcpy((void *)(uintptr_t)longer.data, p.spans[0].data, p.spans[0].size);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, &longer, 1, &err), CUZK_OK);
    cuzk_post_vanilla_clear(&v);
    free((void *)(uintptr_t)longer.data);

    /* a whole 32GiB partition, and one sector more, of proofs of 2KiB: the number decides first */
    cuzk_vanilla_span *many = calloc(2350, sizeof *many);
    for (unsigned i = 0; i < 2350; i++) {
        many[i] = p.spans[0];
    }
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 13, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, many, 2350, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "2350 sectors, expected 1 to 2349"));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, many, 2349, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "another sector size"));
    cuzk_error_clear(&err);
    free(many);

    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINNING, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 2, &err), CUZK_E_MISMATCH);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 1, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "there are 10, expected 66"));
    cuzk_error_clear(&err);
    cuzk_update_vanilla u;
    assert_int_equal(cuzk_update_vanilla_read(&u, &proof, p.spans, 1, &err), CUZK_E_ARGUMENT);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_UPDATE, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 1, &err), CUZK_E_ARGUMENT);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_update_vanilla_read(&u, &proof, p.spans, 3, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "there are 3 partitions, expected 4"));
    free_pieces(&p);
}

/* All proofs in one file: an array of base64 strings; or one proof as it is. */
static void test_pieces(void **state)
{
    (void)state;
    pieces p = load("window-2k-3sectors-4");
    cuzk_registered_proof proof;
    cuzk_post_vanilla v;
    cuzk_error err = {0};
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 10, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&v, &proof, p.spans, 2, &err), CUZK_OK);
    char *written = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&written, &n);
    assert_int_equal(cuzk_post_vanilla_write(file, &v, &err), CUZK_OK);
    fclose(file);
    cuzk_vanilla_pieces read;
    assert_int_equal(cuzk_vanilla_pieces_read(&read, (uint8_t *)written, n, &err), CUZK_OK);
    assert_int_equal(read.n, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(read.spans[i].size, p.spans[i].size);
        assert_memory_equal(read.spans[i].data, p.spans[i].data, p.spans[i].size);
    }
    cuzk_vanilla_pieces_clear(&read);
    for (size_t cut = 1; cut < n; cut += 97) {
        uint8_t *exact = malloc(cut);
        memcpy(exact, written, cut);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_vanilla_pieces_read(&read, exact, cut, &err), CUZK_E_TRUNCATED);
        assert_null(read.spans);
        free(exact);
    }
    written[200] = '-';
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_vanilla_pieces_read(&read, (uint8_t *)written, n, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "element 0: offset 200: base64: byte 0x2d"));
    cuzk_error_clear(&err);
    static const uint8_t sector_91[] = {'[', 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(cuzk_vanilla_pieces_read(&read, sector_91, sizeof sector_91, &err), CUZK_OK);
    assert_int_equal(read.n, 1);
    assert_ptr_equal(read.spans[0].data, sector_91);
    cuzk_vanilla_pieces_clear(&read);
    char *many = malloc(5000 * 3 + 2);
    many[0] = '[';
    for (unsigned i = 0; i < 5000; i++) {
        memcpy(many + 1 + 3 * i, i < 4999 ? "\"\"," : "\"\"]", 3);
    }
    assert_int_equal(cuzk_vanilla_pieces_read(&read, (uint8_t *)many, 15001, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "more than 4096 proofs"));
    cuzk_error_clear(&err);
    free(many);
    static const uint8_t empty[] = " [ ] ";
    assert_int_equal(cuzk_vanilla_pieces_read(&read, empty, 5, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "an array of no proof"));
    assert_null(read.spans);
    free(written);
    cuzk_post_vanilla_clear(&v);
    free_pieces(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post_golden), cmocka_unit_test(test_update_golden),
        cmocka_unit_test(test_post_damage), cmocka_unit_test(test_update_damage),
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
