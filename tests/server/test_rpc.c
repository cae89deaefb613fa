/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call and its statuses, through a gRPC client and protobuf-c. */
#include "server/rpc_test.h"

static setting s;

static int set_up(void **state)
{
    (void)state;
    setting_start(&s, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    setting_end(&s);
    return 0;
}

static void expect(const answer *a, grpc_status_code code, const char *part)
{
    if (a->code != code || strstr(a->text, part) == NULL) {
        fail_msg("status %d \"%s\", expected %d \"…%s…\"", a->code, a->text, code, part);
    }
}

static Cuzk__V1__AwaitProofResponse *as_await(const answer *a)
{
    expect(a, GRPC_STATUS_OK, "");
    Cuzk__V1__AwaitProofResponse *m =
        cuzk__v1__await_proof_response__unpack(NULL, a->size, a->data);
    assert_non_null(m);
    return m;
}

static void free_await(Cuzk__V1__AwaitProofResponse *m)
{
    cuzk__v1__await_proof_response__free_unpacked(m, NULL);
}

/* Prove, and what the answer holds. */
static Cuzk__V1__ProveResponse *prove(const char *id, int kind, const char *vanilla)
{
    size_t n;
    answer a;
    uint8_t *request = make_prove(&n, id, kind, vanilla, strlen(vanilla));
    client_call(s.client, &a, PROVING "Prove", request, n, 0);
    free(request);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__ProveResponse *m = cuzk__v1__prove_response__unpack(NULL, a.size, a.data);
    assert_non_null(m);
    assert_non_null(m->result);
    answer_clear(&a);
    return m;
}

static void prove_gives_the_proof(void **state)
{
    (void)state;
    const char *id = "wdpost-1000-0-[1 2 3 4 5 6 7 8]";
    Cuzk__V1__ProveResponse *m = prove(id, 1, "vanilla");
    Cuzk__V1__AwaitProofResponse *r = m->result;
    size_t n;
    uint8_t *inner = make_submit(&n, id, 1, "vanilla", 7), expected[DOUBLE_ANSWER_BYTES];
    double_answer(expected, inner, n);
    assert_string_equal(r->job_id, id);
    assert_int_equal(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    assert_int_equal(r->proof.len, DOUBLE_ANSWER_BYTES);
    assert_memory_equal(r->proof.data, expected, DOUBLE_ANSWER_BYTES);
    assert_string_equal(r->error_message, "");
    assert_int_equal(r->queue_wait_ms, 11);
    assert_int_equal(r->srs_load_ms, 12);
    assert_int_equal(r->synthesis_ms, 13);
    assert_int_equal(r->gpu_compute_ms, 14);
    assert_int_equal(r->total_ms, 15);
    /* the engine's payload is the SubmitProofRequest, without what wraps it */
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_payload_bytes, n);
    assert_memory_equal(view.last_payload, inner, n);
    assert_int_equal(view.last_kind, 1);
    assert_int_equal(view.last_priority, 0);
    assert_string_equal(view.last_id, id);
    free(inner);
    cuzk__v1__prove_response__free_unpacked(m, NULL);
}

static void prove_in_rare_forms(void **state)
{
    (void)state;
    /* an unknown field in front, `submit` in two parts: merged is one after the other */
    static const uint8_t request[] = {0x98, 0x06, 0x05,            /* field 99: 5 */
                                      0x0a, 0x03, 0x0a, 0x01, 'a', /* submit: request_id a */
                                      0x0a, 0x02, 0x10, 0x04};     /* submit: proof_kind 4 */
    answer a;
    client_call(s.client, &a, PROVING "Prove", request, sizeof request, 0);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_payload_bytes, 5);
    assert_memory_equal(view.last_payload,
                        "\x0a\x01"
                        "a\x10\x04",
                        5);
    assert_string_equal(view.last_id, "a");
    assert_int_equal(view.last_kind, 4);

    client_call(s.client, &a, PROVING "Prove", request, 3, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "Prove without `submit`");
    client_call(s.client, &a, PROVING "Prove", "", 0, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "Prove without `submit`");
}

static void requests_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } wrong[] = {
        {"", 0, "proof_kind 0"},
        {"\x10\x00", 2, "proof_kind 0"},
        {"\x10\x09", 2, "proof_kind 9"},
        {"\x10\x03", 2, "proof_kind 3"}, /* this server has none */
        {"\x10\x05", 2, "proof_kind 5"}, /* circom is not on this wire */
        {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "proof_kind -1"},
        {"\x10", 1, "a broken field at byte 0 of 1"},
        {"\x10\x01\x52\x05zz", 6, "a broken field at byte 2 of 6"},
        {"\x10\x01\x0b\x0c", 4, "a broken field at byte 2 of 4"},
        {"\x0a\x03"
         "a\0b\x10\x01",
         7, "request_id: a NUL at byte 1"},
        {"\x0a\x02"
         "a\xff\x10\x01",
         6, "request_id: not UTF-8 at byte 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        answer a;
        client_call(s.client, &a, PROVING "SubmitProof", wrong[i].bytes, wrong[i].n, 0);
        expect(&a, GRPC_STATUS_INVALID_ARGUMENT, wrong[i].text);
    }
    uint8_t long_id[3 + 959 + 2] = {0x0a, 0xbf, 0x07};
    memset(long_id + 3, 'x', 959);
    memcpy(long_id + 3 + 959, "\x10\x01", 2);
    answer a;
    client_call(s.client, &a, PROVING "SubmitProof", long_id, sizeof long_id, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "request_id: 959 bytes, at most 958");
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.submitted, 0);
}

static void what_the_engine_refuses(void **state)
{
    (void)state;
    static const struct {
        cuzk_status status;
        grpc_status_code code;
    } codes[] = {
        {CUZK_E_ARGUMENT, GRPC_STATUS_INVALID_ARGUMENT},
        {CUZK_E_FORMAT, GRPC_STATUS_INVALID_ARGUMENT},
        {CUZK_E_TRUNCATED, GRPC_STATUS_INVALID_ARGUMENT},
        {CUZK_E_UNSUPPORTED, GRPC_STATUS_UNIMPLEMENTED},
        {CUZK_E_FILE, GRPC_STATUS_FAILED_PRECONDITION},
        {CUZK_E_MEMORY, GRPC_STATUS_RESOURCE_EXHAUSTED},
        {CUZK_E_UNAVAILABLE, GRPC_STATUS_UNAVAILABLE},
        {CUZK_E_INTERNAL, GRPC_STATUS_INTERNAL},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        double_refuse(s.engine, codes[i].status, "because of this");
        size_t n;
        answer a;
        uint8_t *request = make_submit(&n, "id", 1, "x", 1);
        client_call(s.client, &a, PROVING "SubmitProof", request, n, 0);
        expect(&a, codes[i].code, "because of this");
        free(request);
        request = make_prove(&n, "id", 1, "x", 1);
        client_call(s.client, &a, PROVING "Prove", request, n, 0);
        expect(&a, codes[i].code, "because of this");
        free(request);
    }
}

static bool has_submitted(const double_view *view, unsigned n)
{
    return view->accepted >= n;
}

static void a_failure_is_an_answer(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "f", 2, "x", 1);
    call *k = client_start(s.client, PROVING "Prove", request, n, 0);
    free(request);
    assert_true(double_wait(s.engine, has_submitted, 1));
    double_end(s.engine, "f", CUZK_JOB_FAILED, CUZK_E_INVALID_PROOF, "partition 3 \xc3\x28 bad");
    answer a;
    call_wait(k, &a);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__ProveResponse *m = cuzk__v1__prove_response__unpack(NULL, a.size, a.data);
    assert_int_equal(m->result->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
    assert_string_equal(m->result->error_message, "partition 3 ?( bad");
    assert_int_equal(m->result->proof.len, 0);
    cuzk__v1__prove_response__free_unpacked(m, NULL);
    answer_clear(&a);
}

static void the_end_of_the_engine_is_no_answer(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "f", 2, "x", 1);
    call *k = client_start(s.client, PROVING "Prove", request, n, 0);
    free(request);
    assert_true(double_wait(s.engine, has_submitted, 1));
    double_end(s.engine, "f", CUZK_JOB_CANCELLED, CUZK_E_UNAVAILABLE, "the engine ends");
    answer a;
    call_wait(k, &a);
    expect(&a, GRPC_STATUS_UNAVAILABLE, "the engine ends");
}

static void a_job_that_is_no_longer_kept(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_submit(&n, "old", 1, "x", 1);
    answer a;
    client_call(s.client, &a, PROVING "SubmitProof", request, n, 0);
    free(request);
    answer_clear(&a);
    double_end(s.engine, "old", CUZK_JOB_FAILED, CUZK_E_NOT_FOUND, "job old is no longer kept");
    request = make_await(&n, "old", 0);
    client_call(s.client, &a, PROVING "AwaitProof", request, n, 0);
    free(request);
    expect(&a, GRPC_STATUS_NOT_FOUND, "no longer kept");
}

static void submit(const char *id)
{
    size_t n;
    answer a;
    uint8_t *request = make_submit(&n, id, 1, "x", 1);
    client_call(s.client, &a, PROVING "SubmitProof", request, n, 0);
    free(request);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__SubmitProofResponse *m =
        cuzk__v1__submit_proof_response__unpack(NULL, a.size, a.data);
    assert_string_equal(m->job_id, id[0] != '\0' ? id : "made-1");
    assert_int_equal(m->queue_position, 7);
    assert_string_equal(m->assigned_gpu, "");
    cuzk__v1__submit_proof_response__free_unpacked(m, NULL);
    answer_clear(&a);
}

static int await(const char *id, uint64_t timeout_ms)
{
    size_t n;
    answer a;
    uint8_t *request = make_await(&n, id, timeout_ms);
    client_call(s.client, &a, PROVING "AwaitProof", request, n, 0);
    free(request);
    Cuzk__V1__AwaitProofResponse *m = as_await(&a);
    int status = (int)m->status;
    assert_string_equal(m->job_id, id);
    assert_int_equal(m->proof.len, status == 1 ? DOUBLE_ANSWER_BYTES : 0);
    free_await(m);
    answer_clear(&a);
    return status;
}

static void submit_and_await(void **state)
{
    (void)state;
    submit("");
    double_hold(s.engine, false, true);
    submit("job one");
    assert_int_equal(await("job one", 20), 4 /* TIMEOUT */);
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_timeout_ns, 20000000);

    /* several may wait for one job */
    call *calls[5];
    size_t n;
    uint8_t *request = make_await(&n, "job one", 0);
    for (int i = 0; i < 5; i++) {
        calls[i] = client_start(s.client, PROVING "AwaitProof", request, n, 0);
    }
    free(request);
    double_hold(s.engine, false, false);
    for (int i = 0; i < 5; i++) {
        answer a;
        call_wait(calls[i], &a);
        Cuzk__V1__AwaitProofResponse *m = as_await(&a);
        assert_int_equal(m->status, 1);
        free_await(m);
        answer_clear(&a);
    }
    assert_int_equal(await("job one", UINT64_MAX), 1);
    double_look(s.engine, &view);
    assert_true(view.last_timeout_ns > UINT64_MAX / 4);

    answer a;
    request = make_await(&n, "nobody", 0);
    client_call(s.client, &a, PROVING "AwaitProof", request, n, 0);
    free(request);
    expect(&a, GRPC_STATUS_NOT_FOUND, "nobody");
    client_call(s.client, &a, PROVING "AwaitProof", "\x0a", 1, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "not a protobuf message");
}

static void cancel(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    submit("c");
    size_t n;
    uint8_t *request = make_await(&n, "c", 0);
    call *waiting = client_start(s.client, PROVING "AwaitProof", request, n, 0);
    answer a;
    for (int turn = 0; turn < 2; turn++) {
        client_call(s.client, &a, PROVING "CancelProof",
                    "\x0a\x01"
                    "c",
                    3, 0);
        expect(&a, GRPC_STATUS_OK, "");
        Cuzk__V1__CancelProofResponse *m =
            cuzk__v1__cancel_proof_response__unpack(NULL, a.size, a.data);
        assert_int_equal(m->was_running, turn == 0);
        cuzk__v1__cancel_proof_response__free_unpacked(m, NULL);
        answer_clear(&a);
    }
    call_wait(waiting, &a);
    Cuzk__V1__AwaitProofResponse *m = as_await(&a);
    assert_int_equal(m->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED);
    free_await(m);
    answer_clear(&a);
    free(request);
    client_call(s.client, &a, PROVING "CancelProof", "\x0a\x01z", 3, 0);
    expect(&a, GRPC_STATUS_NOT_FOUND, "z");
}

static void status(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    submit("running");
    answer a;
    client_call(s.client, &a, PROVING "GetStatus", "", 0, 0);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__GetStatusResponse *m = cuzk__v1__get_status_response__unpack(NULL, a.size, a.data);
    assert_int_equal(m->n_gpus, 2);
    assert_string_equal(m->gpus[0]->name, "a device");
    assert_string_equal(m->gpus[0]->current_job_id, "");
    assert_int_equal(m->gpus[1]->ordinal, 0);
    assert_int_equal(m->gpus[1]->vram_total_bytes, 900);
    assert_int_equal(m->gpus[1]->vram_free_bytes, 700);
    assert_string_equal(m->gpus[1]->current_job_id, "porep-1-2");
    assert_string_equal(m->gpus[1]->current_proof_kind, "porep-c2");
    assert_int_equal(m->n_loaded_srs, 1);
    assert_string_equal(m->loaded_srs[0]->circuit_id, "porep-32g");
    assert_int_equal(m->loaded_srs[0]->tier, CUZK__V1__SRSSTATUS__TIER__WARM);
    assert_int_equal(m->loaded_srs[0]->size_bytes, 77);
    assert_int_equal(m->loaded_srs[0]->ref_count, 2);
    assert_int_equal(m->n_queues, 2);
    assert_string_equal(m->queues[0]->proof_kind, "porep-c2");
    assert_int_equal(m->queues[0]->pending, 0);
    assert_int_equal(m->queues[0]->in_progress, 1);
    assert_string_equal(m->queues[1]->proof_kind, "winning-post");
    assert_int_equal(m->queues[1]->pending, 3);
    assert_int_equal(m->uptime_seconds, 42);
    assert_int_equal(m->pinned_memory_bytes, 300);
    assert_int_equal(m->pinned_memory_limit_bytes, 1000);
    cuzk__v1__get_status_response__free_unpacked(m, NULL);
    answer_clear(&a);

    client_call(s.client, &a, PROVING "GetMetrics", "", 0, 0);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__GetMetricsResponse *text =
        cuzk__v1__get_metrics_response__unpack(NULL, a.size, a.data);
    assert_string_equal(text->prometheus_text, "cuzk_up 1\n");
    cuzk__v1__get_metrics_response__free_unpacked(text, NULL);
    answer_clear(&a);
}

/* What it is asked for, and what is told of it. */
static void expect_device(const char *method, const char *name, unsigned was, unsigned is)
{
    answer a;
    uint8_t request[16] = {0x0a, (uint8_t)strlen(name)};
    memcpy(request + 2, name, strlen(name));
    client_call(s.client, &a, method, request, 2 + strlen(name), 0);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__DrainDeviceResponse *m = /* both are alike */
        cuzk__v1__drain_device_response__unpack(NULL, a.size, a.data);
    assert_non_null(m);
    assert_int_equal(m->was, was);
    assert_string_equal(m->device->id, "cuda:0");
    assert_int_equal(m->device->state, is);
    assert_int_equal(m->device->memory_bytes, 900);
    assert_int_equal(m->device->n_residents, 2);
    Cuzk__V1__DeviceResident *const *r = m->device->residents;
    assert_string_equal(r[0]->circuit_id, "porep-32g");
    assert_string_equal(r[0]->from, "peer cuda:1");
    assert_true(r[0]->bytes == 50000 && r[0]->read_bytes == 0 && r[0]->load_ms == 2);
    assert_string_equal(r[1]->circuit_id, "circom:mul");
    assert_string_equal(r[1]->from, "file");
    assert_true(r[1]->bytes == 3000 && r[1]->read_bytes == 2000 && r[1]->load_ms == 1);
    cuzk__v1__drain_device_response__free_unpacked(m, NULL);
    answer_clear(&a);
}

static void devices(void **state)
{
    (void)state;
    expect_device(DEVICES "DrainDevice", "0", CUZK_DEVICE_USED, CUZK_DEVICE_DRAINED);
    expect_device(DEVICES "DrainDevice", "cuda:0", CUZK_DEVICE_DRAINED, CUZK_DEVICE_DRAINED);
    answer a;
    client_call(s.client, &a, DEVICES "ListDevices", "", 0, 0);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__ListDevicesResponse *m =
        cuzk__v1__list_devices_response__unpack(NULL, a.size, a.data);
    assert_int_equal(m->n_devices, 1);
    assert_int_equal(m->devices[0]->state, CUZK_DEVICE_DRAINED);
    cuzk__v1__list_devices_response__free_unpacked(m, NULL);
    answer_clear(&a);
    expect_device(DEVICES "AddDevice", "0", CUZK_DEVICE_DRAINED, CUZK_DEVICE_OPENING);
    expect_device(DEVICES "AddDevice", "cuda:0", CUZK_DEVICE_OPENING, CUZK_DEVICE_OPENING);
    client_call(s.client, &a, DEVICES "DrainDevice",
                "\x0a\x01"
                "7",
                3, 0);
    expect(&a, GRPC_STATUS_NOT_FOUND, "there is no device \"7\": there is cuda:0");
    client_call(s.client, &a, DEVICES "AddDevice", "\x0a\x09", 2, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "not a protobuf message");
}

static void residents(void **state)
{
    (void)state;
    answer a;
    for (int turn = 0; turn < 2; turn++) {
        client_call(s.client, &a, PROVING "PreloadSRS", "\x0a\x05porep", 7, 0);
        expect(&a, GRPC_STATUS_OK, "");
        Cuzk__V1__PreloadSrsResponse *m =
            cuzk__v1__preload_srs_response__unpack(NULL, a.size, a.data);
        assert_int_equal(m->already_loaded, turn == 1);
        assert_int_equal(m->load_time_ms, turn == 0 ? 5 : 0);
        cuzk__v1__preload_srs_response__free_unpacked(m, NULL);
        answer_clear(&a);
    }
    for (int turn = 0; turn < 2; turn++) {
        client_call(s.client, &a, PROVING "EvictSRS", "\x0a\x05porep", 7, 0);
        expect(&a, GRPC_STATUS_OK, "");
        Cuzk__V1__EvictSrsResponse *m = cuzk__v1__evict_srs_response__unpack(NULL, a.size, a.data);
        assert_int_equal(m->was_loaded, turn == 0);
        assert_int_equal(m->freed_bytes, turn == 0 ? 1234567 : 0);
        cuzk__v1__evict_srs_response__free_unpacked(m, NULL);
        answer_clear(&a);
    }
    client_call(s.client, &a, PROVING "EvictSRS", "\x0a\x04none", 6, 0);
    expect(&a, GRPC_STATUS_NOT_FOUND, "there is porep, not none");
    double_preload(s.engine, CUZK_E_NOT_FOUND, "there are porep-32g, wpost-32g", 0);
    client_call(s.client, &a, PROVING "PreloadSRS", "\x0a\x05porep", 7, 0);
    expect(&a, GRPC_STATUS_NOT_FOUND, "there are porep-32g, wpost-32g");
    double_preload(s.engine, CUZK_E_FILE, "its file is not there", 0);
    client_call(s.client, &a, PROVING "PreloadSRS", "\x0a\x05porep", 7, 0);
    expect(&a, GRPC_STATUS_FAILED_PRECONDITION, "its file is not there");
    static const cuzk_status damaged[] = {CUZK_E_FORMAT, CUZK_E_TRUNCATED, CUZK_E_MISMATCH};
    for (int i = 0; i < 3; i++) { /* the operator's file, not the caller's argument */
        double_preload(s.engine, damaged[i], "array b_g1 is cut", 0);
        client_call(s.client, &a, PROVING "PreloadSRS", "\x0a\x05porep", 7, 0);
        expect(&a, GRPC_STATUS_FAILED_PRECONDITION, "array b_g1 is cut");
    }

    /* status does not wait for loads, however many */
    double_preload(s.engine, CUZK_OK, "", 0);
    double_hold_preload(s.engine, true);
    call *loads[8];
    for (int i = 0; i < 8; i++) {
        loads[i] = client_start(s.client, PROVING "PreloadSRS", "\x0a\x05porep", 7, 0);
    }
    client_call(s.client, &a, PROVING "GetStatus", "", 0, 10000);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    double_hold_preload(s.engine, false);
    for (int i = 0; i < 8; i++) {
        call_wait(loads[i], &a);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
    }
}

static void circom(void **state)
{
    (void)state;
    answer a;
    static const char *const names[] = {"new", "again"};
    for (int turn = 0; turn < 2; turn++) {
        Cuzk__V1__RegisterCircuitRequest r;
        cuzk__v1__register_circuit_request__init(&r);
        r.name = (char *)names[turn];
        r.zkey_path = "/x.zkey";
        uint8_t bytes[64];
        size_t n = cuzk__v1__register_circuit_request__pack(&r, bytes);
        client_call(s.client, &a, CIRCOM "RegisterCircuit", bytes, n, 0);
        expect(&a, GRPC_STATUS_OK, "");
        Cuzk__V1__RegisterCircuitResponse *m =
            cuzk__v1__register_circuit_response__unpack(NULL, a.size, a.data);
        assert_int_equal(m->already_registered, turn == 1);
        assert_string_equal(m->circuit->name, names[turn]);
        assert_string_equal(m->circuit->zkey_path, "/x.zkey");
        assert_string_equal(m->circuit->curve, "bn128");
        assert_int_equal(m->circuit->n_constraints, 11);
        assert_int_equal(m->circuit->n_public, 12);
        assert_int_equal(m->circuit->n_vars, 13);
        assert_int_equal(m->circuit->size_bytes, 14);
        cuzk__v1__register_circuit_response__free_unpacked(m, NULL);
        answer_clear(&a);
    }
    client_call(s.client, &a, CIRCOM "RegisterCircuit", "\x0a\x05taken", 7, 0);
    expect(&a, GRPC_STATUS_ALREADY_EXISTS, "another file");
    client_call(s.client, &a, CIRCOM "RegisterCircuit", "\x0a\x05mixed", 7, 0);
    expect(&a, GRPC_STATUS_FAILED_PRECONDITION, "of two circuits");
    client_call(s.client, &a, CIRCOM "RegisterCircuit", "\x0a\x04lost", 6, 0);
    expect(&a, GRPC_STATUS_FAILED_PRECONDITION, "no file");
    client_call(s.client, &a, CIRCOM "RegisterCircuit",
                "\x0a\x03"
                "bad",
                5, 0);
    expect(&a, GRPC_STATUS_FAILED_PRECONDITION, "no key");
    client_call(s.client, &a, CIRCOM "RegisterCircuit", "\x0a\x05zz", 4, 0);
    expect(&a, GRPC_STATUS_INVALID_ARGUMENT, "not a protobuf message");

    client_call(s.client, &a, CIRCOM "ListCircuits", "", 0, 0);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__ListCircuitsResponse *list =
        cuzk__v1__list_circuits_response__unpack(NULL, a.size, a.data);
    assert_int_equal(list->n_circuits, 2);
    assert_string_equal(list->circuits[1]->name, "two");
    assert_string_equal(list->circuits[1]->curve, "bls12381");
    cuzk__v1__list_circuits_response__free_unpacked(list, NULL);
    answer_clear(&a);

    /* the double's answer stands for fields 3 and 4: its payload is one, twelve times over */
    Cuzk__V1__ProveWitnessRequest w;
    cuzk__v1__prove_witness_request__init(&w);
    w.request_id = "w";
    w.circuit = "one";
    w.priority = CUZK__V1__PRIORITY__HIGH;
    uint8_t bytes[64];
    size_t n = cuzk__v1__prove_witness_request__pack(&w, bytes);
    double_hold(s.engine, false, true);
    call *k = client_start(s.client, CIRCOM "ProveWitness", bytes, n, 0);
    assert_true(double_wait(s.engine, has_submitted, 1));
    double_end(s.engine, "w", CUZK_JOB_FAILED, CUZK_E_UNSATISFIED, "not satisfied");
    call_wait(k, &a);
    expect(&a, GRPC_STATUS_OK, "");
    Cuzk__V1__ProveWitnessResponse *m =
        cuzk__v1__prove_witness_response__unpack(NULL, a.size, a.data);
    assert_string_equal(m->job_id, "w");
    assert_int_equal(m->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
    assert_string_equal(m->error_message, "not satisfied");
    assert_int_equal(m->queue_wait_ms, 11);
    assert_int_equal(m->synthesis_ms, 13);
    assert_int_equal(m->total_ms, 15);
    cuzk__v1__prove_witness_response__free_unpacked(m, NULL);
    answer_clear(&a);
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_kind, 5);
    assert_int_equal(view.last_priority, 3);
}

static void unknown_methods(void **state)
{
    (void)state;
    answer a;
    client_call(s.client, &a, PROVING "NoSuchThing", "x", 1, 0);
    expect(&a, GRPC_STATUS_UNIMPLEMENTED, "no method /cuzk.v1.ProvingEngine/NoSuchThing");
    client_call(s.client, &a, "other.Service/Call", "x", 1, 0);
    expect(&a, GRPC_STATUS_UNIMPLEMENTED, "no method /other.Service/Call");
}

static void priorities(void **state)
{
    (void)state;
    static const unsigned wire[] = {0, 1, 4, 5, 77}, expected[] = {0, 1, 4, 2, 2};
    for (int i = 0; i < 5; i++) {
        uint8_t request[] = {0x10, 0x01, 0x28, (uint8_t)wire[i]};
        answer a;
        client_call(s.client, &a, PROVING "SubmitProof", request, sizeof request, 0);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
        double_view view;
        double_look(s.engine, &view);
        assert_int_equal(view.last_priority, expected[i]);
    }
}

static bool has_waiters(const double_view *view, unsigned n)
{
    return view->waiters == n;
}

static bool has_left(const double_view *view, unsigned n)
{
    return view->left == n;
}

static bool has_more_submissions(const double_view *view, unsigned n)
{
    return view->submitted > n;
}

static void a_call_that_ends_leaves_its_job(void **state)
{
    (void)state;
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "kept", 1, "x", 1);
    /* by its deadline, by being cancelled, by a lost connection */
    answer a;
    call *k = client_start(s.client, PROVING "Prove", request, n, 1000);
    assert_true(double_wait(s.engine, has_waiters, 1));
    call_wait(k, &a);
    assert_int_equal(a.code, GRPC_STATUS_DEADLINE_EXCEEDED);
    assert_true(double_wait(s.engine, has_left, 1));
    k = client_start(s.client, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_waiters, 1));
    call_cancel(k);
    call_wait(k, &a);
    assert_int_equal(a.code, GRPC_STATUS_CANCELLED);
    assert_true(double_wait(s.engine, has_left, 2));
    client *other = client_open(cuzk_rpc_address(s.rpc, 0), NULL);
    k = client_start(other, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_waiters, 1));
    client_close(other); /* the channel lives as long as the call */
    call_cancel(k);
    call_wait(k, &a);
    assert_true(double_wait(s.engine, has_left, 3));
    /* before it was accepted */
    double_hold(s.engine, true, true);
    double_view before;
    double_look(s.engine, &before);
    k = client_start(s.client, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_more_submissions, before.submitted));
    call_cancel(k);
    call_wait(k, &a);
    assert_int_equal(a.code, GRPC_STATUS_CANCELLED);
    assert_true(double_wait(s.engine, has_left, 4));
    double_hold(s.engine, false, false);
    assert_int_equal(await("kept", 0), 1);
    free(request);
    cuzk_rpc_view view;
    cuzk_rpc_look(s.rpc, &view);
    assert_int_equal(view.calls_abandoned, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(prove_gives_the_proof),
        TEST(prove_in_rare_forms),
        TEST(requests_that_are_wrong),
        TEST(what_the_engine_refuses),
        TEST(a_failure_is_an_answer),
        TEST(the_end_of_the_engine_is_no_answer),
        TEST(a_job_that_is_no_longer_kept),
        TEST(submit_and_await),
        TEST(cancel),
        TEST(status),
        TEST(residents),
        TEST(devices),
        TEST(circom),
        TEST(unknown_methods),
        TEST(priorities),
        TEST(a_call_that_ends_leaves_its_job),
#undef TEST
    };
    return cmocka_run_group_tests_name("rpc", tests, NULL, NULL);
}
