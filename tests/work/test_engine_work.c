/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The real engine over the real work: jobs of several kinds at once, with two workers that share
 * one lane; what fails fails as it should, and everything is given back. */
#include "engine/engine.h"
#include "work/circom_work.h"

#include "filecoin_params.h"
#include "filecoin_payload.h"

#include "cuzk/v1/circom.pb-c.h"

#include <pthread.h>

enum { KIND_WINDOW = 3, KIND_WINNING = 4, KIND_CIRCOM = 5, GIB = 1 << 30 };

static cuzk_circom_work *circom;
static cuzk_engine *engine;

/* ---- calls ----------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all calls */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

typedef struct {
    bool is_answered, is_ended, is_known;
    cuzk_status status;
    cuzk_job_state state;
    char job_id[CUZK_JOB_ID_MAX], text[CUZK_ERROR_TEXT_MAX];
    uint8_t answer[4096];
    size_t answer_bytes;
} call;

static void on_submitted(void *user, const cuzk_submitted *s)
{
    call *c = user;
    pthread_mutex_lock(&mutex);
    c->is_answered = true;
    c->is_known = s->is_known;
    c->status = s->status;
    snprintf(c->job_id, sizeof c->job_id, "%s", s->job_id != NULL ? s->job_id : "");
    snprintf(c->text, sizeof c->text, "%s", s->error != NULL ? s->error : "");
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void on_result(void *user, const cuzk_job_result *r)
{
    call *c = user;
    pthread_mutex_lock(&mutex);
    c->is_ended = true;
    c->state = r->state;
    c->status = r->status;
    snprintf(c->text, sizeof c->text, "%s", r->error != NULL ? r->error : "");
    c->answer_bytes = r->answer_bytes < sizeof c->answer ? r->answer_bytes : 0;
    if (c->answer_bytes > 0) {
        memcpy(c->answer, r->answer, c->answer_bytes);
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_for(call *c)
{
    pthread_mutex_lock(&mutex);
    while (!c->is_ended && !(c->is_answered && c->status != CUZK_OK)) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

/* payload: handed over. */
static void submit(call *c, const char *id, unsigned kind, uint8_t *bytes, size_t n_bytes)
{
    cuzk_submission s = {.request_id = id,
                         .kind = kind,
                         .payload = bytes,
                         .payload_bytes = n_bytes,
                         .on_submitted = on_submitted,
                         .on_result = on_result,
                         .user = c};
    *c = (call){.is_ended = false};
    cuzk_engine_submit(engine, &s, NULL);
}

static void submit_filecoin(call *c, const char *id, unsigned kind, const payload *p)
{
    size_t n_bytes;
    uint8_t *bytes = payload_pack(p, &n_bytes);
    submit(c, id, kind, bytes, n_bytes);
}

/* flip: the last byte of the witness is changed by it. */
static void submit_circom(call *c, const char *id, const char *name, uint8_t flip)
{
    Cuzk__V1__ProveWitnessRequest r = CUZK__V1__PROVE_WITNESS_REQUEST__INIT;
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/poseidon2/witness.wtns");
    w.data[w.size - 32] ^= flip;
    r.circuit = (char *)(uintptr_t)name;
    r.witness = (ProtobufCBinaryData){(size_t)w.size, w.data};
    size_t n_bytes = cuzk__v1__prove_witness_request__get_packed_size(&r);
    uint8_t *bytes = malloc(n_bytes);
    cuzk__v1__prove_witness_request__pack(&r, bytes);
    cuzk_test_fixture_free(&w);
    submit(c, id, KIND_CIRCOM, bytes, n_bytes);
}

static void expect(call *c, cuzk_job_state state, size_t answer_bytes)
{
    wait_for(c);
    if (!c->is_ended || c->state != state ||
        (answer_bytes != 0 && c->answer_bytes != answer_bytes)) {
        fail_msg("job \"%s\": state %d, %zu bytes: %s", c->job_id, (int)c->state, c->answer_bytes,
                 c->text);
    }
}

/* ---- the engine ------------------------------------------------------------------------------ */

static int open_engine(void **state)
{
    if (open_work(state) != 0) {
        return -1;
    }
    make_parameters(CUZK_FILECOIN_WINDOW);
    make_parameters(CUZK_FILECOIN_WINNING);
    char path[256];
    bool was;
    cuzk_fixture key = cuzk_test_fixture("circom/bn254/poseidon2/circuit.zkey");
    snprintf(path, sizeof path, "%s/p.zkey", folder);
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(key.data, 1, (size_t)key.size, file) == key.size;
    if (file == NULL || fclose(file) != 0 || !written) {
        return -1;
    }
    cuzk_test_fixture_free(&key);
    cuzk_circom_work_options of_circom = {
        .ctx = ctx, .devices = &devices, .folder = folder, .allow_test_key = true};
    assert_ok(cuzk_circom_work_create(&circom, &of_circom, &err));
    assert_ok(cuzk_circom_register(circom, &was, NULL, "poseidon2", "p.zkey", &err));
    cuzk_engine_device device = {
        .id = devices.devices[0].id, .name = devices.devices[0].name, .n_workers = 2};
    cuzk_engine_options o = {.devices = &device,
                             .n_devices = 1,
                             .budget_bytes = GIB,
                             .n_decoders = 2,
                             .n_witness = 2,
                             .n_finishers = 1,
                             .n_verifiers = 1,
                             .witness_ahead = 2,
                             .attempts = 2,
                             .device_faults = 2,
                             .keep_ns = (uint64_t)60 * 1000000000,
                             .keep_bytes = 1 << 20};
    o.kinds[KIND_WINDOW] =
        (cuzk_engine_kind){"window-post", "window_post", CUZK_PRIORITY_HIGH, work};
    o.kinds[KIND_WINNING] =
        (cuzk_engine_kind){"winning-post", "winning_post", CUZK_PRIORITY_CRITICAL, work};
    o.kinds[KIND_CIRCOM] = (cuzk_engine_kind){"circom", "circom", CUZK_PRIORITY_NORMAL,
                                              cuzk_circom_work_table(circom)};
    assert_ok(cuzk_engine_create(&engine, &o, &err));
    return 0;
}

static int close_engine(void **state)
{
    cuzk_engine_destroy(engine);
    cuzk_circom_work_destroy(circom);
    return close_work(state);
}

/* The two partitions of a deadline under one id, a repeated request, a Winning PoSt and circom
 * witnesses, all at once. */
static void test_all_kinds(void **state)
{
    (void)state;
    payload *first = payload_open("window-2k-3sectors-4", 0, 2);
    payload *second = payload_open("window-2k-3sectors-4", 2, 1);
    payload *winning = payload_open("winning-2k-5", 0, 1);
    call of_first, again, of_second, of_winning, of_circom[4], wrong;
    submit_filecoin(&of_first, "wdpost [1 2]", KIND_WINDOW, first);
    submit_filecoin(&again, "wdpost [1 2]", KIND_WINDOW, first);
    submit_filecoin(&of_second, "wdpost [1 2]", KIND_WINDOW, second);
    submit_filecoin(&of_winning, "winpost", KIND_WINNING, winning);
    for (unsigned i = 0; i < 4; i++) {
        submit_circom(&of_circom[i], "", "poseidon2", 0);
    }
    submit_circom(&wrong, "wrong", "poseidon2", 1);
    expect(&of_first, CUZK_JOB_COMPLETED, 192);
    expect(&again, CUZK_JOB_COMPLETED, 192);
    expect(&of_second, CUZK_JOB_COMPLETED, 192);
    expect(&of_winning, CUZK_JOB_COMPLETED, 192);
    assert_true(again.is_known != of_first.is_known && !of_second.is_known);
    assert_string_equal(again.job_id, of_first.job_id);
    assert_string_not_equal(of_second.job_id, of_first.job_id);
    assert_memory_equal(again.answer, of_first.answer, 192);
    assert_memory_not_equal(of_second.answer, of_first.answer, 192);
    for (unsigned i = 0; i < 4; i++) {
        expect(&of_circom[i], CUZK_JOB_COMPLETED, 0);
        Cuzk__V1__ProveWitnessResponse *r = cuzk__v1__prove_witness_response__unpack(
            NULL, of_circom[i].answer_bytes, of_circom[i].answer);
        assert_non_null(r);
        assert_non_null(strstr(r->proof_json, "\"pi_a\""));
        cuzk__v1__prove_witness_response__free_unpacked(r, NULL);
    }
    expect(&wrong, CUZK_JOB_FAILED, 0);
    assert_non_null(strstr(wrong.text, "the witness does not satisfy the circuit"));
    payload_close(first);
    payload_close(second);
    payload_close(winning);
}

/* What is wrong with a request is told before anything is queued, with the words of the work; a
 * witness that does not fit does not cost a device. */
static void test_refused(void **state)
{
    (void)state;
    call c;
    payload *p = payload_open("winning-2k-5", 0, 1);
    p->request.randomness.len = 31;
    submit_filecoin(&c, "id", KIND_WINNING, p);
    wait_for(&c);
    assert_int_equal(c.status, CUZK_E_ARGUMENT);
    assert_non_null(strstr(c.text, "randomness: 31 bytes, expected 32"));
    payload_close(p);
    submit_circom(&c, "id", "none", 0);
    wait_for(&c);
    assert_int_equal(c.status, CUZK_E_NOT_FOUND);
    assert_non_null(strstr(c.text, "there is no circuit \"none\"; there are poseidon2"));
    for (unsigned i = 0; i < 3; i++) {
        submit_circom(&c, "", "poseidon2", (uint8_t)(2 + i));
        expect(&c, CUZK_JOB_FAILED, 0);
    }
    submit_circom(&c, "", "poseidon2", 0);
    expect(&c, CUZK_JOB_COMPLETED, 0);

    bool was = false;
    uint64_t ns;
    assert_ok(cuzk_engine_preload(engine, &was, &ns, "circom:poseidon2", false, &err));
    assert_true(was);
    assert_fails(cuzk_engine_preload(engine, &was, &ns, "porep-99g", false, &err), CUZK_E_NOT_FOUND,
                 "porep-99g");
    assert_fails(cuzk_engine_preload(engine, &was, &ns, "winning-32g", false, &err), CUZK_E_FILE,
                 "No such file");
}

/* Nothing is reserved any more but the residents. */
static void test_all_given_back(void **state)
{
    (void)state;
    static const char *const circuits[] = {"wpost-2k", "winning-2k", "circom:poseidon2"};
    cuzk_engine_view view;
    for (unsigned i = 0; i < 3; i++) {
        bool was = false;
        uint64_t bytes = 0;
        assert_ok(cuzk_engine_evict(engine, &was, &bytes, circuits[i], &err));
        assert_true(was && bytes > 100000);
    }
    /* closing a key takes its time */
    for (unsigned i = 0;; i++) {
        assert_ok(cuzk_engine_look(engine, &view, false, &err));
        if (view.n_residents == 0 || i == 1000) {
            break;
        }
        cuzk_engine_view_clear(&view);
        usleep(10000);
    }
    assert_int_equal(view.n_residents, 0);
    /* results that are kept are counted; a task or unit of any of these jobs takes more */
    assert_true(view.reserved_bytes < 65536);
    assert_false(view.devices[0].is_out);
    assert_int_equal(view.devices[0].n_faults, 0);
    assert_int_equal(view.kinds[KIND_WINDOW].completed, 2);
    assert_int_equal(view.kinds[KIND_CIRCOM].completed, 5);
    assert_int_equal(view.kinds[KIND_CIRCOM].failed, 4);
    cuzk_engine_view_clear(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_all_given_back),
    };
    return cmocka_run_group_tests_name("engine_work", tests, open_engine, close_engine);
}
