/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits given vanilla proofs with one value changed: each value that the circuit takes breaks a
 * constraint, and each that it does not take leaves the witness as it was. Of every value it is
 * said here which of the two. And that witnesses carry the public inputs that the verifier derives,
 * which is what holds the order of sectors, openings and partitions. */
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/synthetic.h"
#include "gadget/support.h"
#include "golden_case.h"
#include "r1cs/satisfy.h"

#include <stdlib.h>

/* What is being proved. */
static struct {
    cuzk_registered_proof proof;
    cuzk_shape *shape;
    unsigned partition;
    cuzk_porep_vanilla porep;
    cuzk_porep_statement porep_statement;
    cuzk_post_vanilla post;
    cuzk_update_vanilla update;
    cuzk_update_statement update_statement;
    cuzk_witness *right; /* of the vanilla proof as it should be */
} it;

static void assert_ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK) {
        fail_msg("%s", err->text);
    }
}

static cuzk_witness *make_witness(void)
{
    cuzk_witness *w = NULL;
    cuzk_error err = {0};
    cuzk_status s;
    if (it.proof.kind == CUZK_PROOF_POREP) {
        s = cuzk_porep_circuit_witness(&w, it.shape, &it.porep, it.partition, NULL, &err);
    } else if (it.proof.kind == CUZK_PROOF_UPDATE) {
        s = cuzk_update_circuit_witness(&w, it.shape, &it.update, &it.update_statement,
                                        it.partition, NULL, &err);
    } else {
        s = cuzk_post_circuit_witness(&w, it.shape, &it.post, NULL, &err);
    }
    assert_ok(s, &err);
    return w;
}

static bool same_values(const cuzk_witness *a, const cuzk_witness *b)
{
    return memcmp(a->bits, b->bits, cuzk_bitmap_words(a->n_vars) * 8) == 0 &&
           memcmp(a->field, b->field, (size_t)a->n_field * 32) == 0;
}

/* Change the byte, see what becomes of the witness, change it back. */
static void change(const void *place, bool is_taken, const char *what, unsigned i)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)place;
    *byte ^= 1;
    cuzk_witness *w = make_witness();
    *byte ^= 1;
    bool same = same_values(w, it.right);
    cuzk_status s = same ? CUZK_OK : cuzk_shape_check_witness(it.shape, w, NULL, NULL, NULL);
    if (same == is_taken || (is_taken && s != CUZK_E_UNSATISFIED)) {
        fail_msg("%s of %s, %s %u: %s", cuzk_proof_kind_name(it.proof.kind), it.proof.sector->name,
                 what, i,
                 same           ? "is not taken"
                 : s == CUZK_OK ? "may be wrong"
                                : "is taken");
    }
    cuzk_witness_destroy(w);
}

/* The values of a Merkle proof; of the siblings those from `first` on, n of them, are taken. */
static void change_path(cuzk_merkle_proof *p, unsigned n_siblings, unsigned first, unsigned n,
                        bool root, bool leaf, bool index, const char *what)
{
    change(&p->root, root, what, 1000);
    change(&p->leaf, leaf, what, 2000);
    change(&p->index, index, what, 3000);
    for (unsigned i = 0; i < n_siblings; i += 1 + n_siblings / 2) {
        change(&p->siblings[i], i >= first && i < first + n, what, i);
    }
}

static void start(cuzk_proof_kind kind, uint64_t number, const char *size)
{
    memset(&it, 0, sizeof it);
    assert_int_equal(cuzk_registered_proof_get(&it.proof, kind, number, NULL), CUZK_OK);
    assert_int_equal(
        cuzk_registered_proof_resize(&it.proof, cuzk_sector_by_name(size, strlen(size)), NULL),
        CUZK_OK);
}

static void start_witness(void)
{
    it.right = make_witness();
    support_expect_satisfied(it.shape, it.right);
}

static void finish(void)
{
    cuzk_witness_destroy(it.right);
    cuzk_shape_destroy(it.shape);
    cuzk_porep_vanilla_clear(&it.porep);
    cuzk_post_vanilla_clear(&it.post);
    cuzk_update_vanilla_clear(&it.update);
}

/* The witness' public inputs against those that the verifier would use. */
static bool has_inputs(const cuzk_witness *w, const cuzk_digest *expected)
{
    bool same = true;
    assert_int_equal(w->n_inputs, 1 + cuzk_public_inputs_count(&it.proof));
    for (uint32_t i = 1; i < w->n_inputs; i++) {
        uint8_t value[32];
        cuzk_witness_get(w, i, value);
        same = same && memcmp(value, expected[i - 1].b, 32) == 0;
    }
    return same;
}

/* ---- PoSt ------------------------------------------------------------------------------------ */

static uint8_t randomness[32];

static void start_post(cuzk_proof_kind kind, const char *size, uint32_t n_sectors)
{
    cuzk_error err = {0};
    start(kind, kind == CUZK_PROOF_WINDOW ? 10 : 0, size);
    cuzk_synthetic_params params = {
        .proof = it.proof, .seed = 11, .miner_id = 1, .sector_number = 5, .n_sectors = n_sectors};
    assert_ok(cuzk_post_circuit_shape(&it.shape, kind, it.proof.sector, &err), &err);
    assert_ok(cuzk_synthetic_post(&it.post, randomness, &params, &err), &err);
    start_witness();
}

static bool post_inputs_fit(const cuzk_witness *w)
{
    cuzk_digest expected[CUZK_WINNING_CHALLENGES * 2], comm_r[2];
    uint64_t ids[2];
    for (uint32_t i = 0; i < it.post.n_sectors; i++) {
        ids[i] = 5 + i;
        comm_r[i] = it.post.sectors[i].comm_r;
    }
    cuzk_post_statement s = {
        .proof = it.proof, .n_sectors = it.post.n_sectors, .sector_ids = ids, .comm_r = comm_r};
    memcpy(s.randomness, randomness, 32);
    cuzk_post_public_inputs(expected, &s);
    return has_inputs(w, expected);
}

static const char *const sizes[] = {"2KiB", "32KiB"};

static void test_window(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        start_post(CUZK_PROOF_WINDOW, sizes[i], 2);
        assert_true(post_inputs_fit(it.right));
        unsigned n = cuzk_tree_siblings(cuzk_tree_poseidon(it.proof.sector));
        for (unsigned k = 0; k < 2; k++) {
            cuzk_post_sector *s = &it.post.sectors[k];
            change(&s->sector_id, false, "sector_id", k);
            change(&s->comm_r, true, "comm_r", k);
            change(&s->comm_c, true, "comm_c", k);
            change(&s->comm_r_last, true, "comm_r_last", k);
            for (unsigned o = 9 * k; o < it.post.n_openings; o += 9) { /* the first, the last */
                /* the root is comm_r_last, whatever the opening says */
                change_path(&s->openings[o], n, 0, n, false, true, true, "opening");
            }
        }
        finish();
    }
}

/* Slots without a sector are those of the last one. */
static void test_window_padding(void **state)
{
    (void)state;
    start_post(CUZK_PROOF_WINDOW, "2KiB", 1);
    assert_true(post_inputs_fit(it.right));
    cuzk_post_sector twice[2] = {it.post.sectors[0], it.post.sectors[0]};
    cuzk_post_vanilla padded = it.post;
    it.post.sectors = twice;
    it.post.n_sectors = 2;
    cuzk_witness *w = make_witness();
    assert_true(same_values(w, it.right));
    cuzk_witness_destroy(w);
    it.post = padded;
    finish();
}

/* Exchanged, the sectors make a witness that satisfies; but not of the statement. */
static void test_window_order(void **state)
{
    (void)state;
    start_post(CUZK_PROOF_WINDOW, "4KiB", 2);
    cuzk_post_sector first = it.post.sectors[0];
    it.post.sectors[0] = it.post.sectors[1];
    it.post.sectors[1] = first;
    cuzk_witness *w = make_witness();
    support_expect_satisfied(it.shape, w);
    assert_false(same_values(w, it.right));
    it.post.sectors[1] = it.post.sectors[0];
    it.post.sectors[0] = first;
    assert_false(post_inputs_fit(w));
    assert_true(post_inputs_fit(it.right));
    cuzk_witness_destroy(w);
    finish();
}

static void test_winning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        start_post(CUZK_PROOF_WINNING, sizes[i], 1);
        assert_true(post_inputs_fit(it.right));
        unsigned n = cuzk_tree_siblings(cuzk_tree_poseidon(it.proof.sector));
        cuzk_post_sector *s = &it.post.sectors[0];
        change(&s->sector_id, false, "sector_id", 0);
        change(&s->comm_r, true, "comm_r", 0);
        change(&s->comm_c, true, "comm_c", 0);
        change(&s->comm_r_last, true, "comm_r_last", 0);
        for (unsigned o = 65; o < it.post.n_openings; o++) { /* the last */
            change_path(&s->openings[o], n, 0, n, false, true, true, "opening");
        }
        /* exchanged openings satisfy and have other inputs, unless they are of one leaf */
        cuzk_merkle_proof first = s->openings[0];
        s->openings[0] = s->openings[1];
        s->openings[1] = first;
        cuzk_witness *w = make_witness();
        support_expect_satisfied(it.shape, w);
        assert_int_equal(post_inputs_fit(w), s->openings[0].index == s->openings[1].index);
        cuzk_witness_destroy(w);
        finish();
    }
}

/* ---- update ---------------------------------------------------------------------------------- */

static void test_update(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        unsigned partition, random_bits, apex_bits, n_challenges;
    } cases[] = {{"1KiB", 0, 5, 3, 1}, {"16KiB", 1, 8, 7, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_error err = {0};
        start(CUZK_PROOF_UPDATE, 0, cases[i].size);
        it.partition = cases[i].partition;
        cuzk_synthetic_params params = {.proof = it.proof, .seed = 12};
        assert_ok(cuzk_update_circuit_shape(&it.shape, it.proof.sector, &err), &err);
        assert_ok(cuzk_synthetic_update(&it.update, &it.update_statement, &params, &err), &err);
        start_witness();
        cuzk_digest expected[4];
        cuzk_update_public_inputs(expected, &it.update_statement, it.partition);
        assert_true(has_inputs(it.right, expected));
        cuzk_update_partition *p = &it.update.partitions[it.partition];
        cuzk_digest *const comms[] = {
            &it.update_statement.comm_r_old, &it.update_statement.comm_r_new,
            &it.update_statement.comm_d_new, &it.update.partitions[it.partition].comm_c};
        for (unsigned k = 0; k < 4 && cases[i].n_challenges > 0; k++) {
            change(comms[k], true, "commitment", k);
        }
        for (unsigned k = 0; k < 2 && cases[i].n_challenges > 0; k++) { /* the first, the last */
            unsigned a = k * ((1u << cases[i].apex_bits) - 1);
            change(&p->apex_leaves[a], true, "apex leaf", a);
        }
        unsigned n_r = cuzk_tree_siblings(cuzk_tree_poseidon(it.proof.sector));
        unsigned n_d = it.proof.sector->lg_nodes, n_low = cases[i].random_bits - cases[i].apex_bits;
        for (unsigned c = 0; c < cases[i].n_challenges; c++) {
            cuzk_update_challenge *ch = &p->challenges[c];
            /* places are computed from comm_r_new, the new replica from the old and the data */
            change_path(&ch->r_old, n_r, 0, n_r, c == 0, true, false, "r_old");
            change_path(&ch->r_new, 1, 0, n_r, c == 0, false, false, "r_new");
            /* up to the apex leaf; above it stands the apex tree */
            change_path(&ch->d_new, cases[i].random_bits, 0, n_low, false, true, false, "d_new");
        }
        for (unsigned k = cases[i].random_bits; k < n_d; k++) {
            change(&p->challenges[0].d_new.siblings[k], true, "path of the partition", k);
            change(&p->challenges[1].d_new.siblings[k], false, "path of the partition", k);
        }
        /* another partition's proof */
        it.partition ^= 1;
        if (it.partition < it.update.shape.partitions) {
            cuzk_update_partition other = it.update.partitions[0];
            it.update.partitions[0] = it.update.partitions[1];
            it.update.partitions[1] = other;
            cuzk_witness *w = make_witness();
            assert_int_equal(cuzk_shape_check_witness(it.shape, w, NULL, NULL, NULL),
                             CUZK_E_UNSATISFIED);
            cuzk_witness_destroy(w);
        }
        finish();
    }
}

/* ---- PoRep ----------------------------------------------------------------------------------- */

static void test_porep(void **state)
{
    (void)state;
    cuzk_error err = {0};
    cuzk_porep_vanilla porep;
    /* of a real sector: where two subtrees are equal their places can be exchanged */
    cuzk_fixture c1 = golden_load("vector-porep-2k", "c1.json");
    assert_ok(cuzk_porep_vanilla_read(&porep, c1.data, c1.size, &err), &err);
    cuzk_test_fixture_free(&c1);
    start(CUZK_PROOF_POREP, porep.proof.number, "2KiB");
    it.porep = porep;
    assert_ok(cuzk_porep_circuit_shape(&it.shape, it.proof.sector, &err), &err);
    start_witness();
    cuzk_digest expected[39];
    cuzk_porep_statement_of(&it.porep_statement, &it.porep);
    assert_int_equal(cuzk_public_inputs_count(&it.proof), 39);
    cuzk_porep_public_inputs(expected, &it.porep_statement, 0);
    assert_true(has_inputs(it.right, expected));
    change(&it.porep.replica_id, true, "replica_id", 0);
    change(&it.porep.comm_d, true, "comm_d", 0);
    change(&it.porep.comm_r, true, "comm_r", 0);
    change(it.porep.seed, false, "seed", 0);
    change(it.porep.ticket, false, "ticket", 0);
    cuzk_porep_challenge *ch = &it.porep.challenges[0];
    change(&ch->node, true, "node", 0);
    change(&ch->d.root, false, "root of tree D", 0);
    change(&ch->d.leaf, true, "data", 0);
    change(&ch->d.index, true, "place in tree D", 0);
    change(&ch->d.siblings[5], true, "tree D", 5);
    change(&ch->r.root, true, "comm_r_last", 0);
    change(&it.porep.challenges[1].r.root, false, "comm_r_last", 1);
    change(&ch->r.leaf, false, "replica", 0); /* computed from label and data */
    change(&ch->r.index, true, "place in tree R", 0);
    change(&ch->r.siblings[13], true, "tree R", 13);
    change(&ch->column.rows[1], false, "label", 2); /* computed from the parents */
    change(&ch->column.inclusion.root, true, "comm_c", 0);
    change(&ch->column.inclusion.siblings[3], true, "column", 3);
    for (unsigned p = 0; p < CUZK_PARENTS; p += 13) { /* of the base graph, of the expander */
        cuzk_porep_column *parent = &ch->parents[p];
        change(&parent->node, false, "a parent's node", p);
        change(&parent->rows[0], true, "a parent's first label", p);
        change(&parent->rows[1], true, "a parent's last label", p);
        change(&parent->inclusion.leaf, false, "a parent's column", p); /* hashed again */
        change(&parent->inclusion.root, false, "a parent's comm_c", p);
        change(&parent->inclusion.index, true, "a parent's place", p);
        change(&parent->inclusion.siblings[9], true, "a parent's path", p);
    }
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),       cmocka_unit_test(test_window_padding),
        cmocka_unit_test(test_window_order), cmocka_unit_test(test_winning),
        cmocka_unit_test(test_update),       cmocka_unit_test(test_porep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
