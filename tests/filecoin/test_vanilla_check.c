/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Public inputs and vanilla checks: every golden case passes and has the inputs that the
 * reference's verifier derives; a change of any single digest, index or statement is refused, with
 * its place. */
#include "filecoin/check_common.h"
#include "filecoin/update_values.h"
#include "filecoin/vanilla_check.h"
#include "golden_case.h"

#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const porep_cases[] = {"porep-2k-1",     "porep-2k-ni-22",  "porep-2k-synth-20",
                                          "porep-2k-v1-21", "vector-porep-2k", "porep-4k-13",
                                          "porep-16k-11",   "porep-32k-12",    "porep-8m-2"};
static const char *const post_cases[] = {
    "window-2k-1sectors-3",   "window-2k-3sectors-4",   "winning-2k-5",   "vector-window-2k",
    "vector-winning-2k",      "winning-4k-19",          "winning-32k-16", "window-8m-3sectors-24",
    "window-16k-3sectors-18", "window-32k-1sectors-17", "winning-8m-23"};
static const char *const update_cases[] = {"update-2k-6", "vector-update-2k", "update-16k-14",
                                           "update-32k-15", "update-8m-25"};
enum { PIECES_MAX = 4 };

static cuzk_digest json_digest(const char *json, const char *name)
{
    cuzk_digest out;
    json_hex(json, name, out.b, sizeof out.b);
    return out;
}

/* SHA-256 of ONE and the inputs, against the k-th "inputs_sha256" of the case. */
static void assert_inputs(const char *json, unsigned k, const cuzk_digest *inputs, unsigned n)
{
    static const cuzk_digest one = {{1}};
    cuzk_sha256 sha;
    uint8_t found[32];
    uint8_t expected[32];
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, &one, sizeof one);
    cuzk_sha256_update(&sha, inputs, n * sizeof *inputs);
    cuzk_sha256_final(&sha, found);
    const char *p = strstr(json, "\"inputs_sha256\"");
    for (; k > 0; k--) {
        p = strstr(p + 1, "\"inputs_sha256\"");
    }
    json_hex(p, "inputs_sha256", expected, 32);
    assert_memory_equal(found, expected, 32);
}

static void assert_ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK) {
        fail_msg("%s", err->text);
    }
}

static void assert_mismatch(cuzk_status s, const cuzk_error *err, const char *mention)
{
    if (s != CUZK_E_MISMATCH || strstr(err->text, mention) == NULL) {
        fail_msg("status %d; \"%s\" does not mention \"%s\"", s, err->text, mention);
    }
}

/* ---- PoRep ----------------------------------------------------------------------------------- */

static void load_porep(cuzk_porep_vanilla *v, cuzk_porep_statement *s, const char *golden_case)
{
    cuzk_error err = {0};
    cuzk_fixture c1 = golden_load(golden_case, "c1.json");
    cuzk_fixture f = golden_load(golden_case, "expected.json");
    assert_ok(cuzk_porep_vanilla_read(v, c1.data, c1.size, &err), &err);
    const char *json = (const char *)f.data;
    *s = (cuzk_porep_statement){.proof = golden_proof(json, CUZK_PROOF_POREP),
                                .replica_id = json_digest(json, "replica_id"),
                                .comm_d = json_digest(json, "comm_d"),
                                .comm_r = json_digest(json, "comm_r")};
    json_hex(json, "seed", s->seed, 32);
    cuzk_test_fixture_free(&c1);
    cuzk_test_fixture_free(&f);
}

static void test_porep_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof porep_cases / sizeof porep_cases[0]; i++) {
        if (!golden_exists(porep_cases[i])) {
            continue;
        }
        cuzk_porep_vanilla v;
        cuzk_porep_statement s;
        cuzk_porep_statement own;
        cuzk_error err = {0};
        load_porep(&v, &s, porep_cases[i]);
        assert_ok(cuzk_porep_check(&v, &s, NULL, &err), &err);
        cuzk_porep_statement_of(&own, &v);
        assert_memory_equal(&own.replica_id, &s.replica_id, 32);
        assert_memory_equal(own.seed, s.seed, 32);
        cuzk_fixture f = golden_load(porep_cases[i], "expected.json");
        unsigned n = cuzk_public_inputs_count(&s.proof);
        cuzk_digest *inputs = calloc(n, sizeof *inputs);
        assert_int_equal(cuzk_proof_partitions(&s.proof), v.shape.partitions);
        for (unsigned k = 0; k < v.shape.partitions; k++) {
            cuzk_porep_public_inputs(inputs, &s, k);
            assert_inputs((const char *)f.data, k, inputs, n);
        }
        free(inputs);
        cuzk_test_fixture_free(&f);
        cuzk_porep_vanilla_clear(&v);
    }
}

/* Flip one bit, check, flip it back. */
static void flip_porep(cuzk_porep_vanilla *v, const cuzk_porep_statement *s, const void *digest,
                       const char *mention)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)digest;
    cuzk_error err = {0};
    *byte ^= 1;
    cuzk_status status = cuzk_porep_check(v, s, NULL, &err);
    *byte ^= 1;
    assert_mismatch(status, &err, mention);
}

static void number_porep(cuzk_porep_vanilla *v, const cuzk_porep_statement *s, uint64_t *number,
                         const char *mention)
{
    cuzk_error err = {0};
    *number ^= 1;
    cuzk_status status = cuzk_porep_check(v, s, NULL, &err);
    *number ^= 1;
    assert_mismatch(status, &err, mention);
}

static void test_porep_changes(void **state)
{
    (void)state;
    cuzk_porep_vanilla v;
    cuzk_porep_statement s;
    load_porep(&v, &s, "porep-2k-1");
    unsigned n_d = cuzk_tree_siblings(cuzk_tree_sha256(s.proof.sector));
    unsigned n_r = cuzk_tree_siblings(cuzk_tree_poseidon(s.proof.sector));
    for (unsigned c = 0; c < 2; c++) {
        cuzk_porep_challenge *ch = &v.challenges[c];
        char place[64];
        snprintf(place, sizeof place, "partition 0: challenge %u: tree D: ", c);
        for (unsigned i = 0; i < n_d; i++) {
            flip_porep(&v, &s, &ch->d.siblings[i], place);
        }
        flip_porep(&v, &s, &ch->d.root, place);
        number_porep(&v, &s, &ch->d.index, place);
        number_porep(&v, &s, &ch->node, "the challenged node is ");
        snprintf(place, sizeof place, "partition 0: challenge %u: tree R: ", c);
        for (unsigned i = 0; i < n_r; i++) {
            flip_porep(&v, &s, &ch->r.siblings[i], place);
        }
        flip_porep(&v, &s, &ch->r.root, c == 0 ? "the hash of comm_c and comm_r_last" : place);
        number_porep(&v, &s, &ch->r.index, place);
        snprintf(place, sizeof place, "partition 0: challenge %u: encoding: ", c);
        flip_porep(&v, &s, &ch->r.leaf, place);
        flip_porep(&v, &s, &ch->d.leaf, place);
        for (unsigned p = 0; p <= CUZK_PARENTS; p++) {
            cuzk_porep_column *col = p == 0 ? &ch->column : &ch->parents[p - 1];
            if (p == 0) {
                snprintf(place, sizeof place, "challenge %u: column of the challenge: ", c);
            } else if (p <= CUZK_DRG_PARENTS) {
                snprintf(place, sizeof place, "challenge %u: drg parent %u: ", c, p - 1);
            } else {
                snprintf(place, sizeof place, "challenge %u: exp parent %u: ", c,
                         p - 1 - CUZK_DRG_PARENTS);
            }
            for (unsigned i = 0; i < n_r; i++) {
                flip_porep(&v, &s, &col->inclusion.siblings[i], place);
            }
            flip_porep(&v, &s, &col->inclusion.leaf, place);
            flip_porep(&v, &s, &col->inclusion.root,
                       p == 0 && c == 0 ? "the hash of comm_c and comm_r_last" : place);
            number_porep(&v, &s, &col->node, place);
            number_porep(&v, &s, &col->inclusion.index, place);
            for (unsigned layer = 1; layer <= 2; layer++) {
                char label[64];
                /* a base parent's label enters the same layer first, the expander's the next */
                bool unused = p > CUZK_DRG_PARENTS && layer == 2;
                unsigned noticed = p > CUZK_DRG_PARENTS ? layer + 1 : layer;
                snprintf(label, sizeof label, "challenge %u: layer %u: the label is ", c, noticed);
                flip_porep(&v, &s, &col->rows[layer - 1], unused ? place : label);
            }
        }
    }
    cuzk_porep_vanilla_clear(&v);
}

static void test_porep_statements(void **state)
{
    (void)state;
    cuzk_porep_vanilla v;
    cuzk_porep_statement s;
    load_porep(&v, &s, "porep-2k-1");
    const struct {
        uint8_t *byte;
        const char *mention;
    } changes[] = {{s.replica_id.b, "replica_id of the vanilla proof is "},
                   {s.comm_d.b, "comm_d of the vanilla proof is "},
                   {s.comm_r.b, "comm_r of the vanilla proof is "},
                   {s.seed, "the challenged node is "}};
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        cuzk_error err = {0};
        *changes[i].byte ^= 1;
        cuzk_status status = cuzk_porep_check(&v, &s, NULL, &err);
        *changes[i].byte ^= 1;
        assert_mismatch(status, &err, changes[i].mention);
    }
    cuzk_error err = {0};
    s.proof.number = 0;
    assert_mismatch(cuzk_porep_check(&v, &s, NULL, &err), &err, "another registered proof");
    /* the graph of another interface version: same labels, other parents */
    s.proof.number = v.proof.number;
    s.proof.api = CUZK_API_V1_0;
    cuzk_error_clear(&err);
    assert_mismatch(cuzk_porep_check(&v, &s, NULL, &err), &err, "drg parent 0: the column's index");
    cuzk_porep_vanilla_clear(&v);
}

/* Partitions in another order are other challenges. */
static void test_porep_swapped(void **state)
{
    (void)state;
    CUZK_TEST_NEEDS_FIXTURE("cases/porep-2k-ni-22/c1.json");
    cuzk_porep_vanilla v;
    cuzk_porep_statement s;
    load_porep(&v, &s, "porep-2k-ni-22");
    for (unsigned c = 0; c < 2; c++) {
        cuzk_porep_challenge first = v.challenges[2 * 3 + c];
        v.challenges[2 * 3 + c] = v.challenges[2 * 7 + c];
        v.challenges[2 * 7 + c] = first;
    }
    cuzk_error err = {0};
    assert_mismatch(cuzk_porep_check(&v, &s, NULL, &err), &err,
                    "partition 3: challenge 0: the challenged node is ");
    cuzk_porep_vanilla_clear(&v);
}

/* ---- PoSt ------------------------------------------------------------------------------------ */

/* One partition of a case. */
typedef struct {
    cuzk_post_vanilla v;
    cuzk_post_statement s;
    uint64_t ids[PIECES_MAX];
    cuzk_digest comm_r[PIECES_MAX];
    unsigned n_sectors; /* of the whole case */
} post;

static unsigned slots_of(const cuzk_registered_proof *proof)
{
    return proof->kind == CUZK_PROOF_WINDOW ? cuzk_window_sectors(proof->sector) : 1;
}

static void load_post(post *p, const char *golden_case, unsigned k)
{
    cuzk_fixture f = golden_load(golden_case, "expected.json");
    const char *json = (const char *)f.data;
    cuzk_registered_proof proof = golden_proof(
        json, strstr(golden_case, "window") != NULL ? CUZK_PROOF_WINDOW : CUZK_PROOF_WINNING);
    unsigned slots = slots_of(&proof);
    uint64_t ids[PIECES_MAX];
    *p = (post){.n_sectors = golden_numbers(json, "sectors", ids, PIECES_MAX)};
    unsigned n = p->n_sectors - k * slots < slots ? p->n_sectors - k * slots : slots;
    cuzk_fixture files[PIECES_MAX];
    cuzk_vanilla_span spans[PIECES_MAX];
    for (unsigned i = 0; i < n; i++) {
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", k * slots + i);
        files[i] = golden_load(golden_case, file);
        spans[i] = (cuzk_vanilla_span){files[i].data, files[i].size};
        p->ids[i] = ids[k * slots + i];
        golden_hex_at(json, "comm_r", k * slots + i, p->comm_r[i].b);
    }
    cuzk_error err = {0};
    assert_ok(cuzk_post_vanilla_read(&p->v, &proof, spans, n, &err), &err);
    p->s = (cuzk_post_statement){
        .proof = proof, .partition = k, .n_sectors = n, .sector_ids = p->ids, .comm_r = p->comm_r};
    json_hex(json, "randomness", p->s.randomness, 32);
    for (unsigned i = 0; i < n; i++) {
        cuzk_test_fixture_free(&files[i]);
    }
    cuzk_test_fixture_free(&f);
}

static void test_post_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof post_cases / sizeof post_cases[0]; i++) {
        if (!golden_exists(post_cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(post_cases[i], "expected.json");
        unsigned done = 0;
        unsigned total = 1;
        for (unsigned k = 0; done < total; k++) {
            post p;
            cuzk_error err = {0};
            load_post(&p, post_cases[i], k);
            assert_ok(cuzk_post_check(&p.v, &p.s, NULL, &err), &err);
            unsigned n = cuzk_public_inputs_count(&p.s.proof);
            cuzk_digest *inputs = calloc(n, sizeof *inputs);
            cuzk_post_public_inputs(inputs, &p.s);
            assert_inputs((const char *)f.data, k, inputs, n);
            free(inputs);
            total = p.n_sectors;
            done += slots_of(&p.s.proof);
            cuzk_post_vanilla_clear(&p.v);
        }
        cuzk_test_fixture_free(&f);
    }
}

static void change_post(post *p, const void *place, const char *mention)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)place;
    cuzk_error err = {0};
    *byte ^= 1;
    cuzk_status status = cuzk_post_check(&p->v, &p->s, NULL, &err);
    *byte ^= 1;
    assert_mismatch(status, &err, mention);
}

static void test_post_changes(void **state)
{
    (void)state;
    post p;
    load_post(&p, "window-2k-3sectors-4", 0);
    unsigned n_r = cuzk_tree_siblings(cuzk_tree_poseidon(p.s.proof.sector));
    for (unsigned i = 0; i < 2; i++) {
        cuzk_post_sector *sector = &p.v.sectors[i];
        char place[80];
        snprintf(place, sizeof place, "sector %llu (place %u): ", (unsigned long long)p.ids[i], i);
        change_post(&p, &sector->comm_r, place);
        change_post(&p, &sector->comm_c, place);
        change_post(&p, &sector->comm_r_last, place);
        change_post(&p, &p.comm_r[i], place);
        change_post(&p, &p.ids[i], place);
        change_post(&p, &sector->sector_id, "the sector's number is ");
        for (unsigned n = 0; n < p.v.n_openings; n++) {
            snprintf(place, sizeof place,
                     "sector %llu (place %u): challenge %u: ", (unsigned long long)p.ids[i], i, n);
            change_post(&p, &sector->openings[n].root, place);
            change_post(&p, &sector->openings[n].leaf, place);
            change_post(&p, &sector->openings[n].index, place);
            for (unsigned k = 0; k < n_r; k++) {
                change_post(&p, &sector->openings[n].siblings[k], place);
            }
        }
    }
    change_post(&p, p.s.randomness, "challenge 0: the leaf's index is ");
    /* sectors in another order */
    cuzk_post_sector first = p.v.sectors[0];
    p.v.sectors[0] = p.v.sectors[1];
    p.v.sectors[1] = first;
    cuzk_error err = {0};
    assert_mismatch(cuzk_post_check(&p.v, &p.s, NULL, &err), &err,
                    "(place 0): the sector's number");
    p.s.n_sectors = 1;
    cuzk_error_clear(&err);
    assert_mismatch(cuzk_post_check(&p.v, &p.s, NULL, &err), &err, "the number of vanilla proofs");
    p.s.proof.number = 5;
    cuzk_error_clear(&err);
    assert_mismatch(cuzk_post_check(&p.v, &p.s, NULL, &err), &err, "another registered proof");
    cuzk_post_vanilla_clear(&p.v);
}

/* ---- update ---------------------------------------------------------------------------------- */

static void load_update(cuzk_update_vanilla *v, cuzk_update_statement *s, const char *golden_case)
{
    cuzk_fixture f = golden_load(golden_case, "expected.json");
    const char *json = (const char *)f.data;
    *s = (cuzk_update_statement){.proof = golden_proof(json, CUZK_PROOF_UPDATE),
                                 .comm_r_old = json_digest(json, "comm_r_old"),
                                 .comm_r_new = json_digest(json, "comm_r_new"),
                                 .comm_d_new = json_digest(json, "comm_d_new")};
    unsigned n = cuzk_proof_partitions(&s->proof);
    cuzk_fixture files[PIECES_MAX];
    cuzk_vanilla_span spans[PIECES_MAX];
    for (unsigned i = 0; i < n; i++) {
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", i);
        files[i] = golden_load(golden_case, file);
        spans[i] = (cuzk_vanilla_span){files[i].data, files[i].size};
    }
    cuzk_error err = {0};
    assert_ok(cuzk_update_vanilla_read(v, &s->proof, spans, n, &err), &err);
    for (unsigned i = 0; i < n; i++) {
        cuzk_test_fixture_free(&files[i]);
    }
    cuzk_test_fixture_free(&f);
}

static void test_update_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof update_cases / sizeof update_cases[0]; i++) {
        if (!golden_exists(update_cases[i])) {
            continue;
        }
        cuzk_update_vanilla v;
        cuzk_update_statement s;
        cuzk_error err = {0};
        load_update(&v, &s, update_cases[i]);
        assert_ok(cuzk_update_check(&v, &s, NULL, &err), &err);
        cuzk_fixture f = golden_load(update_cases[i], "expected.json");
        cuzk_digest phi;
        cuzk_digest expected = json_digest((const char *)f.data, "phi");
        cuzk_update_phi(&phi, &s.comm_d_new, &s.comm_r_old);
        assert_memory_equal(&phi, &expected, 32);
        assert_int_equal(json_u64((const char *)f.data, "h"), v.shape.h);
        for (unsigned k = 0; k < v.shape.partitions; k++) {
            cuzk_digest inputs[4];
            assert_int_equal(cuzk_public_inputs_count(&s.proof), 4);
            cuzk_update_public_inputs(inputs, &s, k);
            assert_inputs((const char *)f.data, k, inputs, 4);
        }
        cuzk_test_fixture_free(&f);
        cuzk_update_vanilla_clear(&v);
    }
}

/* The reference's own challenge vectors, up to 64GiB. */
static void test_update_challenges(void **state)
{
    (void)state;
    static const cuzk_digest comm_r_new = {{0x10, 0x1c, 0xbe, 0x4b, 0x9c, 0x42, 0x60, 0x4f,
                                            0x04, 0xc7, 0x03, 0xc3, 0x96, 0xf7, 0x88, 0xc6,
                                            0xcb, 0x2d, 0x6d, 0x7d, 0x58, 0xf4, 0x54, 0x30,
                                            0xb1, 0x2e, 0xb2, 0xed, 0xd6, 0x40, 0x07, 0x6c}};
    static const struct {
        unsigned lg_nodes, k;
        uint64_t expected[5];
    } cases[] = {{5, 0, {21, 7, 3, 31, 0}},
                 {6, 0, {53, 51, 56, 3, 0}},
                 {10, 1, {542, 666, 955, 927, 911}},
                 {18, 1, {78878, 130797, 112892, 93994, 78379}},
                 {24, 15, {16388544, 15794686, 16637142, 16319148, 16328348}},
                 {30, 0, {1019125, 27985696, 15282860, 11586600, 44651330}},
                 {30, 1, {109168525, 127316247, 80331041, 97065716, 72310052}},
                 {30, 15, {1038629497, 1053983614, 1030421316, 1027373887, 1068685433}},
                 {31, 14, {1997053129, 1920414070, 2003609080, 1900492803, 1963254685}}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t challenges[86];
        const cuzk_sector *sector = cuzk_sector_by_bytes((uint64_t)32 << cases[i].lg_nodes);
        assert_non_null(sector);
        cuzk_update_shape shape = cuzk_update_shape_of(sector);
        cuzk_update_challenges(challenges, &shape, &comm_r_new, cases[i].k);
        assert_memory_equal(challenges, cases[i].expected, sizeof cases[i].expected);
    }
}

static void change_update(cuzk_update_vanilla *v, const cuzk_update_statement *s, const void *place,
                          const char *mention)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)place;
    cuzk_error err = {0};
    *byte ^= 1;
    cuzk_status status = cuzk_update_check(v, s, NULL, &err);
    *byte ^= 1;
    assert_mismatch(status, &err, mention);
}

static void change_update_proof(cuzk_update_vanilla *v, const cuzk_update_statement *s,
                                cuzk_merkle_proof *proof, unsigned n_siblings, const char *place,
                                const char *root_place)
{
    change_update(v, s, &proof->root, root_place);
    change_update(v, s, &proof->leaf, "encoding: the new replica is ");
    change_update(v, s, &proof->index, place);
    for (unsigned i = 0; i < n_siblings; i++) {
        change_update(v, s, &proof->siblings[i], place);
    }
}

static void test_update_changes(void **state)
{
    (void)state;
    cuzk_update_vanilla v;
    cuzk_update_statement s;
    load_update(&v, &s, "update-2k-6");
    unsigned n_r = cuzk_tree_siblings(cuzk_tree_poseidon(s.proof.sector));
    cuzk_update_partition *p = &v.partitions[0];
    change_update(&v, &s, &p->comm_c, "partition 0: the hash of comm_c and the old tree's root");
    for (unsigned i = 0; i < 8; i++) {
        /* noticed by the challenges under it, or else by the tree above */
        change_update(&v, &s, &p->apex_leaves[i], "apex lea");
    }
    for (unsigned c = 0; c < v.shape.challenges; c++) {
        cuzk_update_challenge *ch = &p->challenges[c];
        char place[80];
        snprintf(place, sizeof place, "partition 0: challenge %u: proof_r_old: ", c);
        change_update_proof(&v, &s, &ch->r_old, n_r, place, c == 0 ? "old tree's root" : place);
        snprintf(place, sizeof place, "partition 0: challenge %u: proof_r_new: ", c);
        change_update_proof(&v, &s, &ch->r_new, n_r, place, c == 0 ? "new tree's root" : place);
        snprintf(place, sizeof place, "partition 0: challenge %u: proof_d_new: ", c);
        change_update_proof(&v, &s, &ch->d_new, v.shape.challenge_bits, place, place);
    }
    change_update(&v, &s, &s.comm_r_old, "comm_r_old is ");
    change_update(&v, &s, &s.comm_r_new, "comm_r_new is ");
    change_update(&v, &s, &s.comm_d_new, "comm_d_new is ");
    cuzk_update_vanilla_clear(&v);
}

static void test_update_swapped(void **state)
{
    (void)state;
    CUZK_TEST_NEEDS_FIXTURE("cases/update-8m-25/vanilla-3.bincode");
    cuzk_update_vanilla v;
    cuzk_update_statement s;
    load_update(&v, &s, "update-8m-25");
    cuzk_update_partition first = v.partitions[1];
    v.partitions[1] = v.partitions[3];
    v.partitions[3] = first;
    cuzk_error err = {0};
    assert_mismatch(cuzk_update_check(&v, &s, NULL, &err), &err,
                    "partition 1: challenge 0: proof_r_old: the leaf's index is ");
    first = v.partitions[1];
    v.partitions[1] = v.partitions[3];
    v.partitions[3] = first;
    v.partitions[2].comm_c.b[0] ^= 1;
    cuzk_error_clear(&err);
    assert_mismatch(cuzk_update_check(&v, &s, NULL, &err), &err, "partition 2: comm_c is ");
    cuzk_update_vanilla_clear(&v);
}

/* ---- parts on several threads ---- */

enum { PARTS = 10 };

/* A bit a part: those that are bad. */
static cuzk_status check_bit(const void *ctx, unsigned k, cuzk_pool *pool, cuzk_error *err)
{
    (void)pool;
    CUZK_FAIL_IF((*(const unsigned *)ctx >> k & 1) != 0, err, CUZK_E_MISMATCH, "part %u: bad", k);
    return CUZK_OK;
}

/* Whatever the threads do, the first bad part is told. */
static void test_parts(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 3, 16, 32};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        cuzk_pool *pool = NULL;
        cuzk_error err = {0};
        assert_ok(cuzk_pool_create(&pool, threads[t], &err), &err);
        for (unsigned bad = 0; bad < 1u << PARTS; bad += 5) {
            err = (cuzk_error){0};
            cuzk_status status = cuzk_check_parts(check_bit, &bad, PARTS, pool, &err);
            char expected[32];
            snprintf(expected, sizeof expected, "part %d: bad", __builtin_ctz(bad | 1u << PARTS));
            if (bad == 0) {
                assert_ok(status, &err);
            } else {
                assert_mismatch(status, &err, expected);
            }
        }
        assert_ok(cuzk_check_parts(check_bit, &(unsigned){1}, 0, pool, &err), &err);
        cuzk_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep_golden),
        cmocka_unit_test(test_porep_changes),
        cmocka_unit_test(test_porep_statements),
        cmocka_unit_test(test_porep_swapped),
        cmocka_unit_test(test_post_golden),
        cmocka_unit_test(test_post_changes),
        cmocka_unit_test(test_update_golden),
        cmocka_unit_test(test_update_challenges),
        cmocka_unit_test(test_update_changes),
        cmocka_unit_test(test_update_swapped),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
