/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A resident on three emulated cards: put there all at once or one after the other, from one card
 * to the next or in one pass over the key, as the cards allow; taken off while it is copied. */
#include "cuzk/v1/circom.pb-c.h"
#include "groth16/prover.h"
#include "work/circom_work.h"
#include "work/device_ledger.h"
#include "work/on_device.h"
#include "work_lane.h"

#include "filecoin_params.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CARDS = 3 };

static cuzk_work_devices cards;
static cuzk_circom_work *circom;
static const cuzk_work *table;
static cuzk_task *task;
static cuzk_task_info info;

static bool has_peers(void)
{
    return getenv("CUZK_EMULATED_PEERS") == NULL;
}

/* A circuit and a task for it. */
static void make_task(void)
{
    char path[256];
    bool was;
    cuzk_fixture key = cuzk_test_fixture("circom/bn254/multiplier2/circuit.zkey");
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/multiplier2/witness.wtns");
    snprintf(path, sizeof path, "%s/c.zkey", folder);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(key.data, 1, (size_t)key.size, file), key.size);
    fclose(file);
    assert_ok(cuzk_circom_register(circom, &was, NULL, "c", "c.zkey", &err));
    Cuzk__V1__ProveWitnessRequest r = CUZK__V1__PROVE_WITNESS_REQUEST__INIT;
    char name[] = "c";
    r.circuit = name;
    r.witness = (ProtobufCBinaryData){(size_t)w.size, w.data};
    uint8_t bytes[65536];
    assert_true(cuzk__v1__prove_witness_request__get_packed_size(&r) < sizeof bytes);
    size_t n_bytes = cuzk__v1__prove_witness_request__pack(&r, bytes);
    assert_ok(table->decode(table->user, &task, &info, bytes, n_bytes, &err));
    cuzk_test_fixture_free(&key);
    cuzk_test_fixture_free(&w);
}

static int open_cards(void **state)
{
    static const char *const ids[] = {"cuda:0", "cuda:1", "cuda:2"};
    if (open_work(state) != 0) {
        return -1;
    }
    assert_ok(cuzk_work_devices_init(&cards, ids, CARDS, &err));
    assert_ok(cuzk_device_ledger_create(&cards.ledger, 1 << 30, &err));
    cuzk_circom_work_options options = {
        .ctx = ctx, .devices = &cards, .folder = folder, .allow_test_key = true};
    assert_ok(cuzk_circom_work_create(&circom, &options, &err));
    table = cuzk_circom_work_table(circom);
    make_task();
    return 0;
}

static int close_cards(void **state)
{
    table->task_destroy(table->user, task);
    cuzk_circom_work_destroy(circom);
    cuzk_device_ledger_destroy(cards.ledger);
    return close_work(state);
}

static cuzk_resident *load_resident(void)
{
    cuzk_resident *resident = NULL;
    uint64_t bytes;
    assert_ok(table->resident_load(table->user, &resident, &bytes, info.circuit, true, &err));
    return resident;
}

static void expect_proof(const cuzk_resident *resident, unsigned device)
{
    work_caller c;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    work_caller_init(&c, 0);
    c.call.device = device;
    assert_ok(work_prove_unit(table, proof, &n_bytes, task, resident, &c, &err));
    assert_ok(table->verify(table->user, task, resident, proof, n_bytes, &c.call, &err));
}

static cuzk_device_arrival arrival_of(unsigned device)
{
    cuzk_device_arrival a[2];
    assert_int_equal(cuzk_device_ledger_arrivals(cards.ledger, device, a, 2), 1);
    assert_string_equal(a[0].circuit, info.circuit);
    assert_true(a[0].n_bytes > 0 && a[0].ns > 0);
    return a[0];
}

/* From how many cards' loads the key was read, and how often as a whole. */
static void expect_read_once(const unsigned *on, unsigned n, uint64_t key_bytes)
{
    unsigned n_from_file = 0;
    uint64_t n_read = 0;
    for (unsigned i = 0; i < n; i++) {
        cuzk_device_arrival a = arrival_of(on[i]);
        bool is_file = strcmp(a.from, "file") == 0;
        n_from_file += is_file;
        n_read += a.n_read_bytes;
        assert_true(is_file || strncmp(a.from, "peer cuda:", 10) == 0);
    }
    assert_int_equal(n_from_file, has_peers() ? 1 : n);
    assert_int_equal(n_read, key_bytes);
}

static uint64_t read_bytes_alone(void)
{
    cuzk_resident *resident = load_resident();
    assert_ok(table->device_load(table->user, resident, 1, &err));
    cuzk_device_arrival a = arrival_of(1);
    assert_string_equal(a.from, "file");
    expect_proof(resident, 1);
    table->resident_close(table->user, resident);
    assert_int_equal(cuzk_device_ledger_arrivals(cards.ledger, 1, &a, 1), 0);
    assert_true(a.n_read_bytes > 0);
    return a.n_read_bytes;
}

static atomic_uint placed; /* bits of devices */

static void place(void *context, unsigned device)
{
    (void)context;
    placed |= 1u << device;
}

static void test_all_at_once(void **state)
{
    (void)state;
    static const unsigned all[CARDS] = {0, 1, 2};
    uint64_t key_bytes = read_bytes_alone();
    for (unsigned n = 2; n <= CARDS; n++) { /* one alone: above */
        cuzk_resident *resident = load_resident();
        cuzk_error errors[CARDS] = {0};
        const cuzk_devices_load load = {all, n, errors, place, NULL};
        placed = 0;
        table->devices_load(table->user, resident, &load);
        assert_int_equal(placed, (1u << n) - 1); /* each by the thread that works for it */
        for (unsigned i = 0; i < n; i++) {
            assert_ok(errors[i].status);
            expect_proof(resident, i);
        }
        expect_read_once(all, n, key_bytes);
        table->resident_close(table->user, resident);
    }
}

/* One that cannot have it is told so; the others have it, and wait for nobody. */
static void test_one_fails(void **state)
{
    (void)state;
    static const unsigned all[] = {0, CARDS, 2}; /* there is no such card */
    cuzk_resident *resident = load_resident();
    cuzk_error errors[3] = {0};
    const cuzk_devices_load load = {all, 3, errors, NULL, NULL};
    table->devices_load(table->user, resident, &load);
    assert_ok(errors[0].status);
    assert_int_equal(errors[1].status, CUZK_E_INTERNAL);
    assert_ok(errors[2].status);
    expect_proof(resident, 0);
    expect_proof(resident, 2);
    table->resident_close(table->user, resident);
}

/* One after the other, and the first one is gone before the last one comes. */
static void test_one_by_one(void **state)
{
    (void)state;
    cuzk_resident *resident = load_resident();
    assert_ok(table->device_load(table->user, resident, 2, &err));
    assert_string_equal(arrival_of(2).from, "file");
    assert_ok(table->device_load(table->user, resident, 0, &err));
    assert_string_equal(arrival_of(0).from, has_peers() ? "peer cuda:2" : "file");
    table->device_evict(table->user, resident, 2);
    assert_ok(table->device_load(table->user, resident, 1, &err));
    assert_string_equal(arrival_of(1).from, has_peers() ? "peer cuda:0" : "file");
    expect_proof(resident, 0);
    expect_proof(resident, 1);
    table->resident_close(table->user, resident);
    uint64_t bytes[CUZK_DEVICE_PURPOSES];
    for (unsigned d = 0; d < CARDS; d++) {
        cuzk_device_ledger_look(cards.ledger, d, bytes);
        for (int i = 0; i < CUZK_DEVICE_PURPOSES; i++) {
            assert_int_equal(bytes[i], 0);
        }
    }
}

/* A link that copies wrongly is not tried again; others are. */
static void test_bad_link(void **state)
{
    (void)state;
    if (!has_peers()) {
        skip();
    }
    cuzk_resident *resident = load_resident();
    assert_ok(table->device_load(table->user, resident, 0, &err));
    setenv("CUZK_EMULATED_PEERS", "wrong", 1);
    assert_ok(table->device_load(table->user, resident, 1, &err));
    unsetenv("CUZK_EMULATED_PEERS");
    assert_string_equal(arrival_of(1).from, "file");
    table->device_evict(table->user, resident, 1);
    assert_ok(table->device_load(table->user, resident, 1, &err));
    assert_string_equal(arrival_of(1).from, "file");
    expect_proof(resident, 1);
    table->device_evict(table->user, resident, 1);
    assert_ok(table->device_load(table->user, resident, 2, &err));
    assert_string_equal(arrival_of(2).from, "peer cuda:0");
    assert_ok(table->device_load(table->user, resident, 1, &err));
    assert_string_equal(arrival_of(1).from, "peer cuda:2");
    expect_proof(resident, 1);
    table->resident_close(table->user, resident);
}

/* Another card makes some of the sums; where it cannot, has not got the key or streams it, the
 * first one has made all. */
static void test_two_cards(void **state)
{
    (void)state;
    cuzk_resident *resident = load_resident();
    assert_ok(table->device_load(table->user, resident, 0, &err));
    assert_ok(table->device_load(table->user, resident, 1, &err));
    work_n_helped = 0;
    work_helper = 1;
    expect_proof(resident, 0);
    assert_int_equal(work_n_helped, 0); /* as split_ns is 0 */
    cards.split_ns = 1;
    expect_proof(resident, 0);
    assert_int_equal(work_n_helped, 1);
    work_helper = 2; /* where the key is not */
    expect_proof(resident, 0);
    assert_int_equal(work_help_status, CUZK_E_INTERNAL);
    work_helper = -1;
    expect_proof(resident, 0);
    cards.split_ns = UINT64_C(1000000000);
    work_helper = 1;
    expect_proof(resident, 0); /* a second cannot be saved */
    assert_int_equal(work_n_helped, 1);
    cards.split_ns = 0;
    work_helper = -1;
    table->resident_close(table->user, resident);
}

/* ---- whom to copy from ---- */

typedef struct {
    cuzk_on_device on;
    cuzk_fixture bytes;
    cuzk_zkey key;
    cuzk_prover *prover;
    cuzk_on_device_load load;
    pthread_t thread;
    cuzk_status status;
    atomic_bool is_done;
} spread;

static void begin_spread(spread *s)
{
    *s = (spread){.bytes = cuzk_test_fixture("circom/bn254/multiplier2/circuit.zkey")};
    assert_ok(cuzk_zkey_open(&s->key, s->bytes.data, (size_t)s->bytes.size, &err));
    assert_ok(cuzk_prover_create_zkey(&s->prover, &s->key, NULL, NULL, NULL, &err));
    assert_ok(cuzk_on_device_init(&s->on, &cards, info.circuit, &err));
    s->load = (cuzk_on_device_load){.prover = s->prover, .ctx = ctx};
}

static void end_spread(spread *s)
{
    cuzk_on_device_clear(&s->on);
    cuzk_prover_destroy(s->prover);
    cuzk_test_fixture_free(&s->bytes);
}

/* As if so many copied from it, or it was just getting it. */
static void pretend(spread *s, unsigned device, unsigned n_readers, cuzk_copy_state state)
{
    pthread_mutex_lock(&s->on.mutex);
    s->on.copies[device].n_readers = n_readers;
    s->on.copies[device].state = state;
    pthread_cond_broadcast(&s->on.changed);
    pthread_mutex_unlock(&s->on.mutex);
}

static void *put_last(void *context)
{
    spread *s = context;
    cuzk_error error = {0};
    s->status = cuzk_on_device_put(&s->on, 2, &s->load, &error);
    s->is_done = true;
    return NULL;
}

/* From the card that the fewest copy from; where two copy from each, from the next one that has
 * it; and where none will, from one of them after all. */
static void test_fewest_readers(void **state)
{
    (void)state;
    spread s;
    if (!has_peers()) {
        skip();
    }
    begin_spread(&s);
    for (unsigned d = 0; d < 2; d++) {
        assert_ok(cuzk_on_device_put(&s.on, d, &s.load, &err));
    }
    pretend(&s, 0, 1, CUZK_COPY_THERE);
    assert_ok(cuzk_on_device_put(&s.on, 2, &s.load, &err));
    assert_string_equal(arrival_of(2).from, "peer cuda:1");
    cuzk_on_device_evict(&s.on, 2);

    pretend(&s, 0, 2, CUZK_COPY_THERE);
    pretend(&s, 1, 0, CUZK_COPY_LOADING);
    assert_int_equal(pthread_create(&s.thread, NULL, put_last, &s), 0);
    for (int i = 0; i < 200 && !s.is_done; i++) { /* it would be done by now */
        usleep(1000);
    }
    assert_false(s.is_done);
    pretend(&s, 1, 0, CUZK_COPY_THERE);
    assert_int_equal(pthread_join(s.thread, NULL), 0);
    assert_ok(s.status);
    assert_string_equal(arrival_of(2).from, "peer cuda:1");
    cuzk_on_device_evict(&s.on, 2);

    cuzk_on_device_evict(&s.on, 1);
    pretend(&s, 0, 2, CUZK_COPY_THERE);
    assert_ok(cuzk_on_device_put(&s.on, 2, &s.load, &err));
    assert_string_equal(arrival_of(2).from, "peer cuda:0");
    pretend(&s, 0, 0, CUZK_COPY_THERE);
    end_spread(&s);
}

/* What is noted of a device is freed with the ledger, even of what was not taken off. */
static void test_ledger(void **state)
{
    (void)state;
    cuzk_device_ledger *ledger = NULL;
    const uint64_t bytes[CUZK_DEVICE_PURPOSES] = {1};
    assert_ok(cuzk_device_ledger_create(&ledger, 1 << 20, &err));
    for (unsigned d = 0; d < CARDS; d++) {
        for (int i = 0; i < 2; i++) {
            cuzk_device_arrival arrival = {.from = "file"};
            snprintf(arrival.circuit, sizeof arrival.circuit, "c%d", i);
            cuzk_device_ledger_put(ledger, d, bytes, &arrival);
        }
    }
    cuzk_device_ledger_take(ledger, 1, bytes, "c0");
    cuzk_device_arrival found[2];
    assert_int_equal(cuzk_device_ledger_arrivals(ledger, 1, found, 2), 1);
    assert_string_equal(found[0].circuit, "c1");
    cuzk_device_ledger_destroy(ledger);
}

/* ---- everything at the same time ---- */

typedef struct {
    cuzk_resident *resident;
    unsigned device;
    cuzk_status status;
} changing;

static void *load_and_evict(void *context)
{
    changing *c = context;
    cuzk_error error = {0};
    for (unsigned i = 0; i < 3 && c->status == CUZK_OK; i++) {
        c->status = table->device_load(table->user, c->resident, c->device, &error);
        if (c->status == CUZK_OK && i < 2) {
            table->device_evict(table->user, c->resident, c->device);
        }
    }
    return NULL;
}

/* Each card gets it and loses it again and again while the others copy it from there. */
static void test_coming_and_going(void **state)
{
    (void)state;
    cuzk_resident *resident = load_resident();
    changing c[CARDS];
    pthread_t threads[CARDS];
    for (unsigned d = 0; d < CARDS; d++) {
        c[d] = (changing){resident, d, CUZK_OK};
        assert_int_equal(pthread_create(&threads[d], NULL, load_and_evict, &c[d]), 0);
    }
    for (unsigned d = 0; d < CARDS; d++) {
        assert_int_equal(pthread_join(threads[d], NULL), 0);
        assert_ok(c[d].status);
    }
    for (unsigned d = 0; d < CARDS; d++) {
        expect_proof(resident, d);
    }
    table->resident_close(table->user, resident);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_once),    cmocka_unit_test(test_one_fails),
        cmocka_unit_test(test_one_by_one),     cmocka_unit_test(test_bad_link),
        cmocka_unit_test(test_two_cards),      cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_fewest_readers), cmocka_unit_test(test_coming_and_going)};
    return cmocka_run_group_tests_name("work_spread", tests, open_cards, close_cards);
}
