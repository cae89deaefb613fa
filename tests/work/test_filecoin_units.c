/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's proofs through every function of the engine's table, as the engine calls them. PoSt
 * always; PoRep and updates, whose parameters take half a minute, when CUZK_NIGHTLY is set. */
#include "api/filecoin.h" /* before what declares `err` */

#include "filecoin_params.h"
#include "filecoin_payload.h"
#include "work_lane.h"

#include "groth16/verify.h"
#include "r1cs/witness.h"

#include <pthread.h>

/* A case on its way. */
typedef struct {
    payload *p;
    cuzk_task *task;
    cuzk_task_info info;
    cuzk_resident *resident;
} subject;

static subject subject_open(const char *name, unsigned first, unsigned n)
{
    subject s = {.p = payload_open(name, first, n)};
    uint64_t bytes = 0, told = 0;
    assert_ok(payload_decode(s.p, work, &s.task, &s.info, &err));
    assert_ok(work->resident_size(work->user, s.info.circuit, &told, NULL, &err));
    assert_ok(work->resident_load(work->user, &s.resident, &bytes, s.info.circuit, true, &err));
    assert_true(bytes <= told && told == s.info.resident_bytes && bytes > 0);
    return s;
}

static void subject_close(subject *s)
{
    work->resident_close(work->user, s->resident);
    work->task_destroy(work->user, s->task);
    payload_close(s->p);
}

static cuzk_status verify_unit(const subject *s, unsigned unit, const uint8_t *proof, size_t n)
{
    work_caller c;
    work_caller_init(&c, unit);
    return work->verify(work->user, s->task, s->resident, proof, n, &c.call, &err);
}

/* Prove all units; the answer is returned: free. */
static uint8_t *prove_all(const subject *s, size_t *n_bytes)
{
    uint8_t *proofs = calloc(s->info.n_units, CUZK_UNIT_PROOF_MAX);
    size_t sizes[4] = {0};
    uint8_t *answer = NULL;
    for (unsigned k = 0; k < s->info.n_units; k++) {
        work_caller c;
        work_caller_init(&c, k);
        uint8_t *proof = proofs + (size_t)k * CUZK_UNIT_PROOF_MAX;
        assert_ok(work_prove_unit(work, proof, &sizes[k], s->task, s->resident, &c, &err));
        assert_int_equal(c.lane.n_taken, 1);
        assert_int_equal(c.lane.n_given, 1);
        assert_ok(verify_unit(s, k, proof, sizes[k]));
    }
    assert_ok(work->assemble(work->user, &answer, n_bytes, s->task, proofs, sizes, &err));
    sizes[0] = 191;
    uint8_t *none = NULL;
    assert_fails(work->assemble(work->user, &none, n_bytes, s->task, proofs, sizes, &err),
                 CUZK_E_INTERNAL, "partition 0 has 191 bytes");
    *n_bytes = (size_t)s->info.n_units * 192;
    free(proofs);
    return answer;
}

/* ---- golden cases ---------------------------------------------------------------------------- */

/* The answer verifies with what the chain knows, through the library's own interface. */
static void verify_on_chain(const subject *s, const uint8_t *answer, size_t n_bytes)
{
    const Cuzk__V1__SubmitProofRequest *w = &s->p->request;
    static const struct {
        const char *field, *key;
    } fields[][7] = {
        [1] = {{"ticket", "ticket"}, {"seed", "seed"}, {"comm_d", "comm_d"}, {"comm_r", "comm_r"}},
        [2] = {{"comm_r_old", "comm_r_old"},
               {"comm_r_new", "comm_r_new"},
               {"comm_d_new", "comm_d_new"}},
        [3] = {{"randomness", "randomness"}},
        [4] = {{"randomness", "randomness"}},
    };
    cuzk_filecoin_request *r = NULL;
    cuzk_vkey *vkey = NULL;
    char text[80];
    assert_ok(cuzk_filecoin_request_create(&r, (cuzk_filecoin_kind)w->proof_kind, &err));
    snprintf(text, sizeof text, "%llu", (unsigned long long)w->registered_proof);
    assert_ok(cuzk_filecoin_request_set(r, "registered_proof", text, &err));
    for (unsigned i = 0; fields[w->proof_kind][i].field != NULL; i++) {
        const char *key = fields[w->proof_kind][i].key;
        snprintf(text, sizeof text, "%.64s", json_field((const char *)s->p->expected.data, key));
        assert_ok(cuzk_filecoin_request_set(r, fields[w->proof_kind][i].field, text, &err));
    }
    if (w->proof_kind == 1) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)w->miner_id);
        assert_ok(cuzk_filecoin_request_set(r, "miner_id", text, &err));
        snprintf(text, sizeof text, "%llu", (unsigned long long)w->sector_number);
        assert_ok(cuzk_filecoin_request_set(r, "sector_number", text, &err));
    }
    for (unsigned i = 0; w->proof_kind > 2 && i < s->p->n_files; i++) {
        uint64_t number;
        memcpy(&number, s->p->files[i].data, sizeof number);
        assert_ok(cuzk_filecoin_request_add_sector(r, number, s->p->files[i].data + 8, &err));
    }
    if (w->proof_kind == 3) {
        snprintf(text, sizeof text, "%u", w->partition_index);
        assert_ok(cuzk_filecoin_request_set(r, "partition_index", text, &err));
    }
    setenv("FIL_PROOFS_PARAMETER_CACHE", folder, 1);
    assert_ok(cuzk_filecoin_vkey_open_file(ctx, &vkey, r, NULL, true, &err));
    assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, answer, n_bytes, &err));
    unsetenv("FIL_PROOFS_PARAMETER_CACHE");
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(r);
}

static void golden(const char *name, unsigned first, unsigned n)
{
    subject s = subject_open(name, first, n);
    size_t n_bytes = 0;
    uint8_t *answer = prove_all(&s, &n_bytes);
    verify_on_chain(&s, answer, n_bytes);
    free(answer);
    subject_close(&s);
}

static void test_golden_post(void **state)
{
    (void)state;
    make_parameters(CUZK_FILECOIN_WINDOW);
    make_parameters(CUZK_FILECOIN_WINNING);
    golden("window-2k-1sectors-3", 0, 1);
    golden("window-2k-3sectors-4", 0, 2);
    golden("window-2k-3sectors-4", 2, 1);
    golden("winning-2k-5", 0, 1);
}

static void test_golden_porep_and_update(void **state)
{
    (void)state;
    if (getenv("CUZK_NIGHTLY") == NULL) {
        print_message("skipped: CUZK_NIGHTLY is not set\n");
        skip();
    }
    make_parameters(CUZK_FILECOIN_UPDATE);
    golden("update-2k-6", 0, 1);
    make_parameters(CUZK_FILECOIN_POREP);
    golden("porep-2k-1", 0, 1);
    golden("porep-2k-synth-20", 0, 1);
}

/* ---- what must not verify -------------------------------------------------------------------- */

struct cuzk_unit_witness {
    cuzk_witness *values; /* as in src/work/filecoin_work.c, to spoil one */
};

static void test_wrong_proofs(void **state)
{
    (void)state;
    subject s = subject_open("window-2k-3sectors-4", 0, 2);
    subject other = subject_open("window-2k-3sectors-4", 2, 1);
    work_caller c;
    uint8_t proof[CUZK_UNIT_PROOF_MAX], before[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes = 0;
    work_caller_init(&c, 0);
    assert_ok(work_prove_unit(work, proof, &n_bytes, s.task, s.resident, &c, &err));
    assert_int_equal(n_bytes, 192);
    assert_ok(verify_unit(&s, 0, proof, n_bytes));
    assert_fails(verify_unit(&other, 0, proof, n_bytes), CUZK_E_INVALID_PROOF, "partition 0 of 1");
    assert_fails(verify_unit(&s, 0, proof, n_bytes - 1), CUZK_E_TRUNCATED, "191");
    memcpy(before, proof, n_bytes);
    proof[60] ^= 1;
    assert_fails(verify_unit(&s, 0, proof, n_bytes), CUZK_E_INVALID_PROOF, "partition 0 of 1");

    /* a damaged witness makes a proof that does not verify; the same one whole does */
    cuzk_unit_witness *witness = NULL;
    assert_ok(work->witness(work->user, &witness, s.task, s.resident, &c.call, &err));
    for (unsigned damaged = 2; damaged-- > 0;) {
        cuzk_pending *pending = NULL;
        witness->values->bits[300] ^= (uint64_t)1 << 5;
        witness->values->field[9000][0] ^= 1;
        assert_ok(
            work->prove_start(work->user, &pending, s.task, s.resident, witness, &c.call, &err));
        assert_ok(work->prove_finish(work->user, proof, &n_bytes, pending, s.task, s.resident,
                                     &c.call, &err));
        cuzk_error_clear(&err);
        assert_int_equal(verify_unit(&s, 0, proof, n_bytes),
                         damaged ? CUZK_E_INVALID_PROOF : CUZK_OK);
        assert_memory_not_equal(proof, before, n_bytes); /* fresh r and s */
    }
    work->witness_destroy(work->user, witness);
    subject_close(&s);
    subject_close(&other);
}

/* ---- cancelled ------------------------------------------------------------------------------- */

static void test_cancelled(void **state)
{
    (void)state;
    subject s = subject_open("window-2k-1sectors-3", 0, 1);
    int n_questions = 0;
    /* each proof takes long: all of the first ones, then some between the loops of sums */
    for (;; n_questions += n_questions < 6 ? 1 : 4) {
        work_caller c;
        uint8_t proof[CUZK_UNIT_PROOF_MAX];
        size_t n_bytes;
        work_caller_init(&c, 0);
        c.patience.left = n_questions;
        cuzk_error_clear(&err);
        cuzk_status status = work_prove_unit(work, proof, &n_bytes, s.task, s.resident, &c, &err);
        assert_int_equal(c.lane.n_taken, c.lane.n_given);
        if (status == CUZK_OK) {
            break;
        }
        assert_int_equal(status, CUZK_E_CANCELLED);
    }
    assert_true(n_questions >= 5); /* witness, rows, quotient, H, A B C, assembly */
    work_caller c;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    work_caller_init(&c, 0);
    c.lane.refuses = true;
    assert_fails(work_prove_unit(work, proof, &n_bytes, s.task, s.resident, &c, &err),
                 CUZK_E_CANCELLED, "waiting for the lane");
    assert_int_equal(c.lane.n_given, 0);
    work_caller_init(&c, 0);
    assert_int_equal(work_prove_unit(work, proof, &n_bytes, s.task, s.resident, &c, &err), CUZK_OK);
    /* after H, C, A, and between the loops of each */
    unsigned n_offers = c.lane.n_offered;
    assert_in_range(n_offers, 2 * 3 + 1, 1000);
    const unsigned offers[] = {1, n_offers / 2, n_offers};
    for (int i = 0; i < 3; i++) {
        unsigned offer = offers[i];
        work_caller_init(&c, 0);
        c.lane.lost_at = offer;
        assert_fails(work_prove_unit(work, proof, &n_bytes, s.task, s.resident, &c, &err),
                     CUZK_E_CANCELLED, "cancelled");
        assert_true(c.lane.n_given == 1 && c.lane.n_offered == offer);
    }

    /* given up between the halves */
    cuzk_unit_witness *witness = NULL;
    cuzk_pending *pending = NULL;
    work_caller_init(&c, 0);
    assert_ok(work->witness(work->user, &witness, s.task, s.resident, &c.call, &err));
    assert_ok(work->prove_start(work->user, &pending, s.task, s.resident, witness, &c.call, &err));
    work->pending_destroy(work->user, pending);
    work->witness_destroy(work->user, witness);
    subject_close(&s);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct prover_thread {
    const subject *s;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    cuzk_status status;
    cuzk_error err;
};

static void *prove_in_thread(void *arg)
{
    struct prover_thread *t = arg;
    work_caller c;
    work_caller_init(&c, 0);
    for (int i = 0; i < 2 && t->status == CUZK_OK; i++) {
        t->status =
            work_prove_unit(work, t->proof, &t->n_bytes, t->s->task, t->s->resident, &c, &t->err);
        if (t->status == CUZK_OK) {
            t->status = work->verify(work->user, t->s->task, t->s->resident, t->proof, t->n_bytes,
                                     &c.call, &t->err);
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    subject s = subject_open("window-2k-1sectors-3", 0, 1);
    struct prover_thread threads[2] = {{.s = &s}, {.s = &s}};
    pthread_t ids[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&ids[i], NULL, prove_in_thread, &threads[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(ids[i], NULL);
        if (threads[i].status != CUZK_OK) {
            fail_msg("%s", threads[i].err.text);
        }
    }
    subject_close(&s);
}

/* ---- residents ------------------------------------------------------------------------------- */

static void test_residents(void **state)
{
    (void)state;
    cuzk_resident *resident = NULL;
    uint64_t bytes = 0;
    assert_fails(work->resident_size(work->user, "porep-99g", &bytes, NULL, &err), CUZK_E_NOT_FOUND,
                 "there is no circuit \"porep-99g\"; there are porep-2k, ");
    assert_true(strstr(err.text, "porep-32g") != NULL && strstr(err.text, "winning-64g") != NULL);
    assert_fails(work->resident_size(work->user, "", &bytes, NULL, &err), CUZK_E_NOT_FOUND, "\"\"");
    assert_fails(work->resident_size(work->user, "circom:x", &bytes, NULL, &err), CUZK_E_NOT_FOUND,
                 "");
    assert_fails(
        work->resident_size(work->user, "winning-32g", &bytes, NULL, &err), CUZK_E_FILE,
        "No such file or directory (\"cuzk params fetch winning-32g --folder DIR\" fetches "
        "it); srs.param_cache of the daemon's configuration names the folder");
    assert_fails(work->resident_load(work->user, &resident, &bytes, "winning-32g", false, &err),
                 CUZK_E_FILE, folder);
    assert_fails(work->resident_load(work->user, &resident, &bytes, "none", false, &err),
                 CUZK_E_NOT_FOUND, "none");

    /* a test key where those are not allowed: it is not even looked for */
    cuzk_filecoin_work *strict = NULL;
    cuzk_filecoin_work_options options = {
        .ctx = ctx, .devices = &devices, .params_folder = folder, .circuits_folder = folder};
    assert_ok(cuzk_filecoin_work_create(&strict, &options, &err));
    const cuzk_work *table = cuzk_filecoin_work_table(strict);
    assert_fails(table->resident_load(table->user, &resident, &bytes, "wpost-2k", false, &err),
                 CUZK_E_FILE, "wpost-2k");
    cuzk_filecoin_work_destroy(strict);
    assert_null(resident);
    cuzk_filecoin_work_destroy(NULL);
    work->resident_close(work->user, NULL);
}

/* Keys that a program makes itself: files are not looked for, and what comes back is used. */
static cuzk_status make_key(void *user, cuzk_filecoin_key **out, const cuzk_registered_proof *proof,
                            cuzk_error *e)
{
    const cuzk_filecoin_key_params params = {.allow_test_key = true, .proves_often = true};
    unsigned *n_made = user;
    CUZK_FAIL_IF(proof->kind != CUZK_PROOF_WINDOW, e, CUZK_E_UNSUPPORTED, "a %s of %s is not made",
                 cuzk_proof_kind_name(proof->kind), proof->sector->name);
    ++*n_made;
    char *path = NULL;
    CUZK_TRY(cuzk_filecoin_param_find(&path, folder, proof, CUZK_PARAM_FILE_PARAMS, true, e));
    cuzk_status status = cuzk_filecoin_key_make(ctx, out, path, proof, &params, e);
    free(path);
    return status;
}

static void test_made_keys(void **state)
{
    (void)state;
    unsigned n_made = 0;
    uint64_t bytes = 0;
    cuzk_resident *resident = NULL;
    cuzk_filecoin_work *own = NULL;
    cuzk_filecoin_work_options options = {
        .ctx = ctx, .devices = &devices, .key_maker = {make_key, &n_made}};
    assert_ok(cuzk_filecoin_work_create(&own, &options, &err));
    const cuzk_work *table = cuzk_filecoin_work_table(own);
    assert_ok(table->resident_size(table->user, "winning-32g", &bytes, NULL, &err));
    assert_fails(table->resident_size(table->user, "none", &bytes, NULL, &err), CUZK_E_NOT_FOUND,
                 "none");
    assert_fails(table->resident_load(table->user, &resident, &bytes, "winning-32g", false, &err),
                 CUZK_E_UNSUPPORTED, "of 32GiB is not made");
    assert_null(resident);
    assert_ok(table->resident_load(table->user, &resident, &bytes, "wpost-2k", true, &err));
    assert_int_equal(n_made, 1);

    payload *p = payload_open("window-2k-1sectors-3", 0, 1);
    cuzk_task *task = NULL;
    cuzk_task_info info;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes = 0;
    work_caller c;
    work_caller_init(&c, 0);
    assert_ok(payload_decode(p, table, &task, &info, &err));
    assert_ok(work_prove_unit(table, proof, &n_bytes, task, resident, &c, &err));
    assert_ok(table->verify(table->user, task, resident, proof, n_bytes, &c.call, &err));
    table->task_destroy(table->user, task);
    table->resident_close(table->user, resident);
    payload_close(p);
    cuzk_filecoin_work_destroy(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_post),  cmocka_unit_test(test_golden_porep_and_update),
        cmocka_unit_test(test_wrong_proofs), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_residents),
        cmocka_unit_test(test_made_keys),
    };
    return cmocka_run_group_tests_name("filecoin_units", tests, open_work, close_work);
}
