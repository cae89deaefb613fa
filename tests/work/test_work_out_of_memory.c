/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every allocation of every function of the engine's tables fails once: the function says that
 * memory ran out, leaves nothing behind (the sanitizer build tells) and works the next time. */
#include "alloc_fail.h"
#include "cuzk/v1/circom.pb-c.h"
#include "work/circom_work.h"
#include "work_lane.h"

#include "filecoin_params.h"
#include "filecoin_payload.h"

static struct {
    cuzk_circom_work *circom;
    const cuzk_work *table; /* that the steps are about */
    uint8_t *bytes;         /* payload */
    size_t n_bytes;
    cuzk_task *task;
    cuzk_task_info info;
    cuzk_resident *resident;
    cuzk_unit_witness *witness;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t proof_bytes;
} g;

/* ---- the steps: each frees what it made ------------------------------------------------------ */

static cuzk_status step_decode(cuzk_error *e)
{
    cuzk_task *task = NULL;
    cuzk_task_info info;
    cuzk_status status = g.table->decode(g.table->user, &task, &info, g.bytes, g.n_bytes, e);
    g.table->task_destroy(g.table->user, task);
    return status;
}

static cuzk_status step_size(cuzk_error *e)
{
    uint64_t bytes;
    return g.table->resident_size(g.table->user, g.info.circuit, &bytes, NULL, e);
}

static cuzk_status step_load(cuzk_error *e)
{
    cuzk_resident *resident = NULL;
    uint64_t bytes;
    cuzk_status status =
        g.table->resident_load(g.table->user, &resident, &bytes, g.info.circuit, true, e);
    g.table->resident_close(g.table->user, resident);
    return status;
}

static cuzk_status step_witness(cuzk_error *e)
{
    cuzk_unit_witness *witness = NULL;
    work_caller c;
    work_caller_init(&c, 0);
    cuzk_status status = g.table->witness(g.table->user, &witness, g.task, g.resident, &c.call, e);
    g.table->witness_destroy(g.table->user, witness);
    return status;
}

static cuzk_status step_start(cuzk_error *e)
{
    cuzk_pending *pending = NULL;
    work_caller c;
    work_caller_init(&c, 0);
    cuzk_status status =
        g.table->prove_start(g.table->user, &pending, g.task, g.resident, g.witness, &c.call, e);
    g.table->pending_destroy(g.table->user, pending);
    assert_int_equal(c.lane.n_taken, c.lane.n_given);
    return status;
}

static cuzk_status step_verify(cuzk_error *e)
{
    work_caller c;
    work_caller_init(&c, 0);
    return g.table->verify(g.table->user, g.task, g.resident, g.proof, g.proof_bytes, &c.call, e);
}

static cuzk_status step_assemble(cuzk_error *e)
{
    uint8_t *answer = NULL;
    size_t n;
    cuzk_status status =
        g.table->assemble(g.table->user, &answer, &n, g.task, g.proof, &g.proof_bytes, e);
    free(answer);
    return status;
}

static cuzk_status step_register(cuzk_error *e)
{
    static unsigned n;
    char name[16];
    bool was;
    cuzk_circom_info info = {.path = NULL};
    snprintf(name, sizeof name, "name%u", n++);
    cuzk_status status = cuzk_circom_register(g.circom, &was, &info, name, "p.zkey", e);
    if (status == CUZK_OK) {
        free(info.path);
    }
    return status;
}

static cuzk_status step_list(cuzk_error *e)
{
    cuzk_circom_info *infos = NULL;
    unsigned n = 0;
    cuzk_status status = cuzk_circom_list(g.circom, &infos, &n, e);
    cuzk_circom_list_free(infos, n);
    return status;
}

static cuzk_status step_create(cuzk_error *e)
{
    cuzk_circom_work *made = NULL;
    cuzk_circom_work_options options = {
        .ctx = ctx, .devices = &devices, .folder = folder, .allow_test_key = true};
    cuzk_status status = cuzk_circom_work_create(&made, &options, e);
    cuzk_circom_work_destroy(made);
    return status;
}

/* ---- running them ---------------------------------------------------------------------------- */

static void fail_each(const char *what, cuzk_status (*step)(cuzk_error *e))
{
    cuzk_error e = {0};
    assert_int_equal(step(&e), CUZK_OK);
    unsigned n = 0;
    for (;; n++) {
        cuzk_error_clear(&e);
        alloc_fail_at(n);
        cuzk_status status = step(&e);
        if (!alloc_fail_stop()) {
            assert_int_equal(status, CUZK_OK);
            break;
        }
        /* threads that the system does not give are done without; a file that cannot be mapped is
         * told as such */
        bool is_mapping = status == CUZK_E_FILE && strstr(e.text, "Cannot allocate memory") != NULL;
        if (status != CUZK_OK && !is_mapping &&
            (status != CUZK_E_MEMORY || e.status != CUZK_E_MEMORY)) {
            fail_msg("%s, allocation %u: %s: %s", what, n, cuzk_status_name(status), e.text);
        }
    }
    cuzk_error_clear(&e);
    assert_int_equal(step(&e), CUZK_OK);
    print_message("%s: %u allocations\n", what, n);
}

static void open_unit(void)
{
    uint64_t bytes;
    work_caller c;
    work_caller_init(&c, 0);
    assert_ok(g.table->decode(g.table->user, &g.task, &g.info, g.bytes, g.n_bytes, &err));
    assert_ok(
        g.table->resident_load(g.table->user, &g.resident, &bytes, g.info.circuit, true, &err));
    assert_ok(g.table->witness(g.table->user, &g.witness, g.task, g.resident, &c.call, &err));
    assert_ok(work_prove_unit(g.table, g.proof, &g.proof_bytes, g.task, g.resident, &c, &err));
}

static void close_unit(void)
{
    g.table->witness_destroy(g.table->user, g.witness);
    g.table->resident_close(g.table->user, g.resident);
    g.table->task_destroy(g.table->user, g.task);
    free(g.bytes);
}

static void test_filecoin(void **state)
{
    (void)state;
    g.table = work;
    payload *p = payload_open("window-2k-1sectors-3", 0, 1);
    g.bytes = payload_pack(p, &g.n_bytes);
    make_parameters(CUZK_FILECOIN_WINDOW);
    open_unit();
    fail_each("Window: decode", step_decode);
    fail_each("Window: size", step_size);
    fail_each("Window: load", step_load);
    fail_each("Window: witness", step_witness);
    fail_each("Window: prove start", step_start);
    fail_each("Window: verify", step_verify);
    fail_each("Window: assemble", step_assemble);
    close_unit();
    payload_close(p);
}

/* Vanilla proofs of the other kinds are read by other code. */
static void test_decode(void **state)
{
    (void)state;
    static const char *const names[] = {"porep-2k-1", "update-2k-6", "winning-2k-5"};
    g.table = work;
    for (unsigned i = 0; i < 3; i++) {
        payload *p = payload_open(names[i], 0, i > 0);
        g.bytes = payload_pack(p, &g.n_bytes);
        fail_each(names[i], step_decode);
        free(g.bytes);
        payload_close(p);
    }
}

static void test_circom(void **state)
{
    (void)state;
    char path[256];
    bool was;
    cuzk_fixture key = cuzk_test_fixture("circom/bn254/poseidon2/circuit.zkey");
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/poseidon2/witness.wtns");
    snprintf(path, sizeof path, "%s/p.zkey", folder);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(key.data, 1, (size_t)key.size, file), key.size);
    fclose(file);
    cuzk_circom_work_options options = {
        .ctx = ctx, .devices = &devices, .folder = folder, .allow_test_key = true};
    assert_ok(cuzk_circom_work_create(&g.circom, &options, &err));
    assert_ok(cuzk_circom_register(g.circom, &was, NULL, "poseidon2", "p.zkey", &err));
    Cuzk__V1__ProveWitnessRequest r = CUZK__V1__PROVE_WITNESS_REQUEST__INIT;
    r.circuit = (char *)(uintptr_t) "poseidon2";
    r.witness = (ProtobufCBinaryData){(size_t)w.size, w.data};
    g.n_bytes = cuzk__v1__prove_witness_request__get_packed_size(&r);
    g.bytes = malloc(g.n_bytes);
    cuzk__v1__prove_witness_request__pack(&r, g.bytes);
    g.table = cuzk_circom_work_table(g.circom);
    open_unit();
    fail_each("circom: decode", step_decode);
    fail_each("circom: size", step_size);
    fail_each("circom: load", step_load);
    fail_each("circom: witness", step_witness);
    fail_each("circom: prove start", step_start);
    fail_each("circom: verify", step_verify);
    fail_each("circom: assemble", step_assemble);
    fail_each("circom: register", step_register);
    fail_each("circom: list", step_list);
    fail_each("circom: create", step_create);
    close_unit();
    cuzk_circom_work_destroy(g.circom);
    cuzk_test_fixture_free(&key);
    cuzk_test_fixture_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_filecoin),
        cmocka_unit_test(test_circom),
    };
    return cmocka_run_group_tests_name("work_out_of_memory", tests, open_work, close_work);
}
