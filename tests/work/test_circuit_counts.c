/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of circuits: counted again from the circuits themselves, and compared with what the
 * reference counted; and the bytes that follow from it, held against what a process really takes.
 * Circuits that take long to build, and PoRep and updates, when CUZK_NIGHTLY is set. */
#include "filecoin/circuit_get.h"
#include "api/circuit_counts.h"

#include "filecoin_params.h"
#include "filecoin_payload.h"
#include "work_lane.h"
#include "work_memory.h"

static bool is_nightly(void)
{
    return getenv("CUZK_NIGHTLY") != NULL;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The reference's counts of a circuit in `all`, its file of shapes. */
static void compare_with_reference(const cuzk_circuit_counts *c, const char *all)
{
    static const char *const kinds[][2] = {{"snap-", "update-"}, {"wpost-", "window-"}, {"", ""}};
    unsigned k = 0;
    while (strncmp(c->id, kinds[k][0], strlen(kinds[k][0])) != 0) {
        k++;
    }
    char name[64];
    snprintf(name, sizeof name, "%s%s", kinds[k][1], c->id + strlen(kinds[k][0]));
    const char *json = json_field(all, name);
    assert_int_equal(c->n_inputs, json_u64(json, "inputs"));
    assert_int_equal(c->n_vars - c->n_inputs, json_u64(json, "aux"));
    /* there the trailing constraint of each input counts */
    assert_int_equal(c->n_constraints + c->n_inputs, json_u64(json, "constraints"));
    assert_int_equal(c->n_a_aux, json_u64(json, "a_aux_density"));
    assert_int_equal(c->n_b, json_u64(json, "b_aux_density") + json_u64(json, "b_input_density"));
}

static void count_again(const cuzk_circuit_counts *c)
{
    cuzk_proof_kind kind;
    const cuzk_sector *sector;
    cuzk_shape *shape = NULL;
    assert_ok(cuzk_circuit_id_parse(&kind, &sector, c->id, &err));
    assert_ok(cuzk_circuit_get(&shape, kind, sector, NULL, NULL, NULL, &err));
    assert_int_equal(c->n_inputs, shape->n_inputs);
    assert_int_equal(c->n_vars, shape->n_vars);
    assert_int_equal(c->n_constraints, shape->n_constraints);
    assert_int_equal(c->n_field, cuzk_bitmap_count(shape->is_field, shape->n_vars));
    assert_int_equal(c->n_a_aux, shape->n_a_aux);
    assert_int_equal(c->n_b, (uint64_t)shape->n_b_input + shape->n_b_aux);
    uint64_t bytes = cuzk_shape_bytes(shape);
    if (c->shape_bytes > bytes || bytes > c->shape_bytes + 4096) {
        fail_msg("%s: %llu bytes of shape, the table has %llu", c->id, (unsigned long long)bytes,
                 (unsigned long long)c->shape_bytes);
    }
    cuzk_shape_destroy(shape);
}

static void test_counts(void **state)
{
    (void)state;
    unsigned n = 0;
    cuzk_fixture all = cuzk_test_fixture("shapes/shapes.json");
    for (const cuzk_circuit_counts *c; (c = cuzk_circuit_counts_at(n)) != NULL; n++) {
        const cuzk_circuit_counts *found = NULL;
        assert_ok(cuzk_circuit_counts_get(&found, c->id, &err));
        assert_ptr_equal(found, c);
        compare_with_reference(c, (const char *)all.data);
        if (is_nightly() || c->n_vars < 1000000) {
            count_again(c);
        }
    }
    cuzk_test_fixture_free(&all);
    assert_int_equal(n, 34);
    assert_int_equal(cuzk_circuit_lg_domain(cuzk_circuit_counts_at(0)), 22);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* In a process of its own, so that nothing that was freed before is used again unseen. */
static void measure(const char *name, unsigned first, unsigned n)
{
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    cuzk_task *task = NULL;
    cuzk_task_info info;
    cuzk_resident *resident = NULL;
    cuzk_unit_witness *witness = NULL;
    cuzk_pending *pending = NULL;
    uint64_t bytes;
    work_caller c;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    work_caller_init(&c, 0);
    options.n_threads = 2;
    assert_ok(cuzk_ctx_create(&ctx, &options, &err));
    cuzk_filecoin_work_options of_work = {.ctx = ctx,
                                          .devices = &devices,
                                          .params_folder = folder,
                                          .circuits_folder = folder,
                                          .allow_test_key = true};
    assert_ok(cuzk_filecoin_work_create(&filecoin, &of_work, &err));
    work = cuzk_filecoin_work_table(filecoin);
    payload *p = payload_open(name, first, n);
    assert_ok(payload_decode(p, work, &task, &info, &err));

    uint64_t before = memory_begin();
    assert_ok(work->resident_load(work->user, &resident, &bytes, info.circuit, true, &err));
    memory_hold(info.circuit, "resident", memory_now("VmHWM") - before, info.resident_bytes,
                20 << 20);
    before = memory_begin();
    assert_ok(work->witness(work->user, &witness, task, resident, &c.call, &err));
    memory_hold(info.circuit, "witness", memory_now("VmHWM") - before, info.witness_bytes, 2 << 20);
    before = memory_begin();
    assert_ok(work->prove_start(work->user, &pending, task, resident, witness, &c.call, &err));
    assert_ok(
        work->prove_finish(work->user, proof, &n_bytes, pending, task, resident, &c.call, &err));
    memory_hold(info.circuit, "proof", memory_now("VmHWM") - before, info.host_bytes, 4 << 20);
    assert_ok(work->verify(work->user, task, resident, proof, n_bytes, &c.call, &err));
    _exit(0);
}

static void expect_measured(const char *name, unsigned first, unsigned n)
{
    if (memory_child()) {
        measure(name, first, n);
    }
}

static void test_bytes(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: a sanitizer's memory is not the program's\n");
    skip();
#endif
    make_parameters(CUZK_FILECOIN_WINDOW);
    make_parameters(CUZK_FILECOIN_WINNING);
    expect_measured("window-2k-3sectors-4", 0, 2);
    expect_measured("winning-2k-5", 0, 1);
    if (is_nightly()) {
        make_parameters(CUZK_FILECOIN_UPDATE);
        expect_measured("update-2k-6", 0, 1);
        make_parameters(CUZK_FILECOIN_POREP);
        expect_measured("porep-2k-1", 0, 1);
    }
}

/* The network's keys: decoded they take as many bytes as their files, which were published. */
static void test_published(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned i = 0; cuzk_circuit_counts_at(i) != NULL; i++) {
        const cuzk_circuit_counts *c = cuzk_circuit_counts_at(i);
        cuzk_proof_kind kind;
        const cuzk_sector *sector;
        assert_ok(cuzk_circuit_id_parse(&kind, &sector, c->id, &err));
        const cuzk_param_published *file =
            cuzk_param_published_get(kind, sector, CUZK_PARAM_FILE_PARAMS);
        if (file == NULL) {
            continue;
        }
        uint64_t told = cuzk_circuit_resident_bytes(c, false);
        uint64_t rest = 3 * c->shape_bytes + c->n_vars / 4;
        assert_true(told > file->bytes + rest && told < file->bytes + rest + (32 << 20));
        n++;
    }
    assert_int_equal(n, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_published),
    };
    return cmocka_run_group_tests_name("circuit_counts", tests, open_work, close_work);
}
