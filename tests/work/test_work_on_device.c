/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs with their sums on a card, as the engine asks for them: on the machine's card, skipped
 * without one, and with the emulated driver in place of the system's. */
#include "cuzk/v1/circom.pb-c.h"
#include "work/circom_work.h"
#include "work_lane.h"

#include "filecoin_params.h"
#include "filecoin_payload.h"

static cuzk_work_devices cards;
static cuzk_circom_work *circom;

static bool is_emulated(void)
{
    return strncmp(cards.devices[0].name, "Emulated", 8) == 0;
}

static int open_cards(void **state)
{
    static const char *const ids[] = {"cuda:0"};
    if (open_work(state) != 0) {
        return -1;
    }
    if (cuzk_work_devices_init(&cards, ids, 1, &err) != CUZK_OK) {
        print_message("skipped: %s\n", err.text);
        (void)close_work(state);
        exit(77);
    }
    cuzk_circom_work_options options = {
        .ctx = ctx, .devices = &cards, .folder = folder, .allow_test_key = true};
    return cuzk_circom_work_create(&circom, &options, &err) == CUZK_OK ? 0 : -1;
}

static int close_cards(void **state)
{
    cuzk_circom_work_destroy(circom);
    return close_work(state);
}

/* Prove a task on device 0 and verify. */
static void prove(const cuzk_work *table, cuzk_task *task, const cuzk_task_info *info)
{
    cuzk_resident *resident = NULL;
    uint64_t bytes;
    work_caller c;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    work_caller_init(&c, 0);
    assert_ok(table->resident_load(table->user, &resident, &bytes, info->circuit, true, &err));
    assert_fails(work_prove_unit(table, proof, &n_bytes, task, resident, &c, &err), CUZK_E_INTERNAL,
                 "the key is not on device 0");
    assert_fails(table->device_load(table->user, resident, 1, &err), CUZK_E_INTERNAL, "device 1");
    for (int i = 0; i < 2; i++) {
        assert_ok(table->device_load(table->user, resident, 0, &err));
        assert_ok(work_prove_unit(table, proof, &n_bytes, task, resident, &c, &err));
        assert_int_equal(c.lane.n_taken, (unsigned)i + 1);
        assert_int_equal(c.lane.n_given, (unsigned)i + 1);
        assert_ok(table->verify(table->user, task, resident, proof, n_bytes, &c.call, &err));
        if (i == 0) {
            table->device_evict(table->user, resident, 0);
            table->device_evict(table->user, resident, 0); /* nothing there: fine */
        }
    }
    table->resident_close(table->user, resident); /* with what is on the card */
    table->task_destroy(table->user, task);
}

static void test_circom(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"circom/bn254/multiplier2",
                                           "circom/bls12381/multiplier2", "circom/bn254/poseidon2"};
    const cuzk_work *table = cuzk_circom_work_table(circom);
    unsigned n = is_emulated() ? 2 : 3;
    for (unsigned i = 0; i < n; i++) {
        char path[256], name[16];
        bool was;
        cuzk_task *task = NULL;
        cuzk_task_info info;
        snprintf(path, sizeof path, "%s/circuit.zkey", fixtures[i]);
        cuzk_fixture key = cuzk_test_fixture(path);
        snprintf(path, sizeof path, "%s/witness.wtns", fixtures[i]);
        cuzk_fixture w = cuzk_test_fixture(path);
        snprintf(name, sizeof name, "c%u.zkey", i);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(key.data, 1, (size_t)key.size, file), key.size);
        fclose(file);
        assert_ok(cuzk_circom_register(circom, &was, NULL, name, name, &err));
        Cuzk__V1__ProveWitnessRequest r = CUZK__V1__PROVE_WITNESS_REQUEST__INIT;
        r.circuit = name;
        r.witness = (ProtobufCBinaryData){(size_t)w.size, w.data};
        uint8_t bytes[65536];
        assert_true(cuzk__v1__prove_witness_request__get_packed_size(&r) < sizeof bytes);
        size_t n_bytes = cuzk__v1__prove_witness_request__pack(&r, bytes);
        assert_ok(table->decode(table->user, &task, &info, bytes, n_bytes, &err));
        assert_true(info.resident_device_bytes > key.size / 2);
        prove(table, task, &info);
        cuzk_test_fixture_free(&key);
        cuzk_test_fixture_free(&w);
    }
}

static void test_filecoin(void **state)
{
    (void)state;
    if (is_emulated()) {
        print_message("skipped: too large for emulated kernels\n");
        skip();
    }
    cuzk_filecoin_work *on_card = NULL;
    cuzk_task *task = NULL;
    cuzk_task_info info;
    cuzk_filecoin_work_options options = {.ctx = ctx,
                                          .devices = &cards,
                                          .params_folder = folder,
                                          .circuits_folder = folder,
                                          .allow_test_key = true};
    make_parameters(CUZK_FILECOIN_WINDOW);
    assert_ok(cuzk_filecoin_work_create(&on_card, &options, &err));
    payload *p = payload_open("window-2k-1sectors-3", 0, 1);
    assert_ok(payload_decode(p, cuzk_filecoin_work_table(on_card), &task, &info, &err));
    prove(cuzk_filecoin_work_table(on_card), task, &info);
    payload_close(p);
    cuzk_filecoin_work_destroy(on_card);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circom),
                                       cmocka_unit_test(test_filecoin)};
    return cmocka_run_group_tests_name("work_on_device", tests, open_cards, close_cards);
}
