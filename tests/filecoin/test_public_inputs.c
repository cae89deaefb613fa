/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Public inputs of statements of every registered number and size against
 * tests/vectors/filecoin_inputs.txt, which a program that shares nothing with src/ made
 * (make_inputs.py says what a line holds); and what inputs must depend on, and on what not. */
#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/challenges.h"
#include "filecoin/statement.h"
#include "filecoin/update_values.h"
#include "golden_case.h"

#include <inttypes.h>

#include <stdlib.h>

static const char vectors[] = "tests/vectors/filecoin_inputs.txt";

/* Drawn as make_inputs.py does: from the words of the line and a name. */
static cuzk_digest draw(const char *line, const char *name, int place)
{
    char words[160];
    cuzk_digest out;
    int n = place < 0 ? snprintf(words, sizeof words, "%s %s", line, name)
                      : snprintf(words, sizeof words, "%s %s %d", line, name, place);
    assert_true(n > 0 && n < (int)sizeof words);
    cuzk_sha256_digest(out.b, words, (size_t)n);
    out.b[31] &= 0x3f;
    return out;
}

static cuzk_registered_proof proof_of(cuzk_proof_kind kind, uint64_t number, const char *size)
{
    cuzk_registered_proof p;
    cuzk_error err = {0};
    const cuzk_sector *sector = cuzk_sector_by_name(size, strlen(size));
    assert_non_null(sector);
    if (cuzk_registered_proof_get(&p, kind, number, &err) != CUZK_OK ||
        cuzk_registered_proof_resize(&p, sector, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(p.number, number); /* a registered size keeps its number */
    return p;
}

static cuzk_digest number(uint64_t v)
{
    cuzk_digest out = {{0}};
    cuzk_store_u64_le(out.b, v);
    return out;
}

enum { VALUES_MAX = 2349 * 11 };
static cuzk_digest values[VALUES_MAX];

/* Room behind the inputs of `proof` that must stay as it is. */
static unsigned mark_end(const cuzk_registered_proof *proof)
{
    unsigned n = cuzk_public_inputs_count(proof);
    assert_true(n <= VALUES_MAX);
    if (n < VALUES_MAX) {
        memset(&values[n], 0xa5, sizeof values[n]);
    }
    return n;
}

static void check_end(unsigned n)
{
    for (size_t i = 0; n < VALUES_MAX && i < sizeof values[n]; i++) {
        assert_int_equal(values[n].b[i], 0xa5);
    }
}

static unsigned porep_values(const cuzk_registered_proof *proof, unsigned k, const char *line)
{
    cuzk_porep_statement s = {.proof = *proof,
                              .replica_id = draw(line, "replica_id", -1),
                              .comm_d = draw(line, "comm_d", -1),
                              .comm_r = draw(line, "comm_r", -1)};
    memcpy(s.seed, draw(line, "seed", -1).b, 32);
    assert_true(k < cuzk_proof_partitions(proof));
    unsigned n = mark_end(proof);
    cuzk_porep_public_inputs(values, &s, k);
    return n;
}

/* sectors: as many as the line's words say. */
static unsigned post_values(const cuzk_registered_proof *proof, unsigned k, unsigned n_sectors,
                            const char *line)
{
    uint64_t *ids = calloc(n_sectors, sizeof *ids);
    cuzk_digest *comm_r = calloc(n_sectors, sizeof *comm_r);
    assert_true(ids != NULL && comm_r != NULL);
    for (unsigned i = 0; i < n_sectors; i++) {
        ids[i] = cuzk_load_u64_le(draw(line, "sector", (int)i).b);
        comm_r[i] = draw(line, "comm_r", (int)i);
    }
    cuzk_post_statement s = {.proof = *proof,
                             .partition = k,
                             .n_sectors = n_sectors,
                             .sector_ids = ids,
                             .comm_r = comm_r};
    memcpy(s.randomness, draw(line, "randomness", -1).b, 32);
    unsigned n = mark_end(proof);
    cuzk_post_public_inputs(values, &s);
    free(ids);
    free(comm_r);
    return n;
}

/* The inputs, and behind them node and rho of each challenge. */
static unsigned update_values(const cuzk_registered_proof *proof, unsigned k, const char *line)
{
    cuzk_update_statement s = {.proof = *proof,
                               .comm_r_old = draw(line, "comm_r_old", -1),
                               .comm_r_new = draw(line, "comm_r_new", -1),
                               .comm_d_new = draw(line, "comm_d_new", -1)};
    cuzk_update_shape shape = cuzk_update_shape_of(proof->sector);
    uint64_t nodes[86];
    cuzk_digest phi, rho[86];
    assert_true(k < shape.partitions && shape.challenges <= 86);
    unsigned n = mark_end(proof);
    cuzk_update_public_inputs(values, &s, k);
    check_end(n);
    cuzk_update_phi(&phi, &s.comm_d_new, &s.comm_r_old);
    cuzk_update_challenges(nodes, &shape, &s.comm_r_new, k);
    cuzk_update_rho(rho, &phi, &shape, shape.h, nodes, shape.challenges);
    for (unsigned t = 0; t < shape.challenges; t++) {
        assert_int_equal(nodes[t] >> shape.random_bits, k);
        values[n + 2 * t] = number(nodes[t]);
        values[n + 2 * t + 1] = rho[t];
    }
    return n + 2 * shape.challenges;
}

static void expect_hex(const void *bytes, const char *hex, const char *line)
{
    char found[CUZK_DIGEST_HEX_MAX];
    cuzk_digest digest;
    memcpy(digest.b, bytes, sizeof digest.b);
    if (strcmp(cuzk_digest_hex(found, &digest), hex) != 0) {
        fail_msg("%s: found %s, expected %s", line, found, hex);
    }
}

static void check_line(const char *line, const char *kind, const char *expected)
{
    static const struct {
        const char *name;
        cuzk_proof_kind kind;
    } kinds[] = {{"porep", CUZK_PROOF_POREP},
                 {"window", CUZK_PROOF_WINDOW},
                 {"winning", CUZK_PROOF_WINNING},
                 {"update", CUZK_PROOF_UPDATE}};
    uint64_t registered = 0;
    char size[24];
    unsigned k = 0, n_sectors = 0, n = 0, i = 0;
    assert_int_equal(sscanf(line, "%*s %" SCNu64 " %23s %u %u", &registered, size, &k, &n_sectors),
                     4);
    while (strcmp(kinds[i].name, kind) != 0) {
        assert_true(++i < 4);
    }
    cuzk_registered_proof proof = proof_of(kinds[i].kind, registered, size);
    char words[256]; /* porep and update lines are drawn without the number of sectors */
    snprintf(words, sizeof words, "%s", line);
    if (i == 0 || i == 3) {
        *strrchr(words, ' ') = '\0';
    }
    if (i == 0) {
        n = porep_values(&proof, k, words);
    } else if (i == 3) {
        n = update_values(&proof, k, words);
    } else {
        n = post_values(&proof, k, n_sectors, words);
    }
    if (i != 3) {
        check_end(n);
    }
    uint8_t digest[32];
    cuzk_sha256_digest(digest, values, n * sizeof *values);
    expect_hex(digest, expected, line);
}

static void check_replica(const char *line, const char *expected)
{
    uint64_t registered = 0, miner = 0, sector = 0;
    assert_int_equal(
        sscanf(line, "replica %" SCNu64 " %" SCNu64 " %" SCNu64, &registered, &miner, &sector), 3);
    cuzk_registered_proof proof;
    uint8_t prover_id[32], porep_id[32], out[32];
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_POREP, registered, NULL),
                     CUZK_OK);
    cuzk_prover_id(prover_id, miner);
    cuzk_porep_id(porep_id, &proof);
    cuzk_replica_id(out, prover_id, sector, draw(line, "ticket", -1).b, draw(line, "comm_d", -1).b,
                    porep_id);
    expect_hex(out, expected, line);
}

static void test_vectors(void **state)
{
    (void)state;
    char line[256];
    unsigned n_lines = 0;
    FILE *f = fopen(vectors, "r");
    assert_non_null(f);
    for (; fgets(line, sizeof line, f) != NULL; n_lines++) {
        line[strcspn(line, "\n")] = '\0';
        char *expected = strrchr(line, ' '), kind[16];
        *expected++ = '\0';
        assert_int_equal(sscanf(line, "%15s", kind), 1);
        if (strcmp(kind, "replica") == 0) {
            check_replica(line, expected);
        } else {
            check_line(line, kind, expected);
        }
    }
    fclose(f);
    assert_true(n_lines > 200);
}

/* ---- what inputs depend on ------------------------------------------------------------------- */

static cuzk_digest digest_of_porep(const cuzk_porep_statement *s, unsigned k)
{
    cuzk_digest out;
    unsigned n = cuzk_public_inputs_count(&s->proof);
    cuzk_porep_public_inputs(values, s, k);
    cuzk_sha256_digest(out.b, values, n * sizeof *values);
    return out;
}

/* Nodes change with the replica id, and with the seed or comm_r as the variant says. comm_d stands
 * for itself only. */
static void test_porep_dependence(void **state)
{
    (void)state;
    for (uint64_t registered = 0; registered < 20; registered++) {
        cuzk_porep_statement s = {.replica_id = {{1}}, .comm_d = {{2}}, .comm_r = {{3}}};
        assert_int_equal(cuzk_registered_proof_get(&s.proof, CUZK_PROOF_POREP, registered, NULL),
                         CUZK_OK);
        cuzk_digest first = digest_of_porep(&s, 0);
        cuzk_digest nodes = values[3];
        const struct {
            uint8_t *byte;
            bool in_inputs, moves_nodes;
        } parts[] = {
            {s.replica_id.b, true, true},
            {s.comm_d.b, true, false},
            {s.comm_r.b, true, s.proof.variant != CUZK_POREP_INTERACTIVE},
            {s.seed, false, s.proof.variant != CUZK_POREP_NON_INTERACTIVE},
        };
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            unsigned n_moved = 0;
            for (unsigned d = 1; d < 4; d++) { /* one node in 64 stays by chance */
                *parts[i].byte ^= (uint8_t)d << 4;
                cuzk_digest other = digest_of_porep(&s, 0);
                n_moved += !cuzk_digest_eq(&values[3], &nodes);
                assert_int_equal(cuzk_digest_eq(&other, &first),
                                 !parts[i].in_inputs && !parts[i].moves_nodes);
                *parts[i].byte ^= (uint8_t)d << 4;
            }
            assert_int_equal(n_moved > 0, parts[i].moves_nodes);
        }
        /* each partition has nodes of its own */
        for (unsigned k = 1; k < cuzk_proof_partitions(&s.proof); k += 5) {
            cuzk_digest other = digest_of_porep(&s, k);
            assert_false(cuzk_digest_eq(&other, &first));
        }
    }
}

/* A partition's index matters before interface V1_2 only; so does a sector's place. */
static void test_window_dependence(void **state)
{
    (void)state;
    static const uint64_t ids[2] = {7, 7};
    static const cuzk_digest comm_r[2] = {{{5}}, {{5}}};
    for (uint64_t registered = 5; registered < 15; registered++) {
        cuzk_post_statement s = {.n_sectors = 2, .sector_ids = ids, .comm_r = comm_r};
        assert_int_equal(cuzk_registered_proof_get(&s.proof, CUZK_PROOF_WINDOW, registered, NULL),
                         CUZK_OK);
        bool counted = s.proof.api != CUZK_API_V1_2;
        enum { SLOT = 1 + CUZK_WINDOW_CHALLENGES };
        cuzk_post_public_inputs(values, &s);
        /* the same sector twice: the same challenges, or those that follow */
        assert_int_equal(memcmp(&values[0], &values[SLOT], SLOT * sizeof *values) == 0, !counted);
        cuzk_digest first[SLOT];
        memcpy(first, values, sizeof first);
        s.partition = 1;
        cuzk_post_public_inputs(values, &s);
        assert_int_equal(memcmp(first, values, sizeof first) == 0, !counted);
    }
}

static void test_statement_digest(void **state)
{
    (void)state;
    cuzk_digest out = {{9}};
    cuzk_error err = {0};
    uint8_t order[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                         0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                         0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};
    assert_int_equal(cuzk_statement_digest(&out, order, "comm_x", &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "comm_x is not below the field's order"));
    assert_int_equal(out.b[0], 9); /* left alone */
    order[0] = 0;
    assert_int_equal(cuzk_statement_digest(&out, order, "comm_x", NULL), CUZK_OK);
    assert_memory_equal(out.b, order, 32);
    for (unsigned i = 0; i < 32; i++) { /* each byte counts: one more anywhere is above */
        uint8_t high[32];
        memcpy(high, order, 32);
        if (++high[i] != 0) {
            bool below = i == 0 ? false : high[i] <= order[i];
            assert_int_equal(cuzk_statement_digest(&out, high, "x", NULL) == CUZK_OK, below);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_porep_dependence),
        cmocka_unit_test(test_window_dependence),
        cmocka_unit_test(test_statement_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
