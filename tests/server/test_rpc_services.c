/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The standard services: health and reflection. What reflection tells is read with protobuf-c's own
 * descriptors beside it. */
#define _GNU_SOURCE /* memmem */

#include "server/rpc_test.h"
#include "server/rpc_wire.h"

#include <time.h>

static setting s;

static void no_reflection(cuzk_rpc_options *options, void *user)
{
    (void)user;
    options->no_reflection = true;
}

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

static size_t text_request(uint8_t *out, uint32_t number, const char *text)
{
    cuzk_text t = {0};
    cuzk_wire_put_bytes(&t, number, text, strlen(text));
    memcpy(out, t.data, t.size);
    size_t n = t.size;
    cuzk_text_clear(&t);
    return n;
}

static void health_check(void **state)
{
    (void)state;
    static const char *const services[] = {"", "cuzk.v1.ProvingEngine", "cuzk.v1.Circom",
                                           "cuzk.v1.Devices"};
    uint8_t request[128];
    answer a;
    for (int ready = 1; ready >= 0; ready--) {
        atomic_store(&s.is_ready, ready == 1);
        for (int i = 0; i < 4; i++) {
            size_t n = text_request(request, 1, services[i]);
            client_call(s.client, &a, "grpc.health.v1.Health/Check", request, n, 0);
            assert_int_equal(a.code, GRPC_STATUS_OK);
            assert_int_equal(a.size, 2);
            assert_memory_equal(a.data, ready == 1 ? "\x08\x01" : "\x08\x02", 2);
            answer_clear(&a);
        }
    }
    size_t n = text_request(request, 1, "other");
    client_call(s.client, &a, "grpc.health.v1.Health/Check", request, n, 0);
    assert_int_equal(a.code, GRPC_STATUS_NOT_FOUND);
}

static void expect_state(call *k, int expected)
{
    answer a;
    assert_true(call_receive(k, &a));
    assert_int_equal(a.size, 2);
    assert_int_equal(a.data[1], expected);
    answer_clear(&a);
}

static void health_watch(void **state)
{
    (void)state;
    call *known = client_stream(s.client, "grpc.health.v1.Health/Watch", 0);
    call_send(known, "", 0);
    call_half_close(known);
    expect_state(known, 1);
    uint8_t request[64];
    size_t n = text_request(request, 1, "other");
    call *unknown = client_stream(s.client, "grpc.health.v1.Health/Watch", 0);
    call_send(unknown, request, n);
    expect_state(unknown, 3);
    call *gone = client_stream(s.client, "grpc.health.v1.Health/Watch", 0);
    call_send(gone, "", 0);
    expect_state(gone, 1);
    call_cancel(gone);
    answer a;
    call_wait(gone, &a);
    atomic_store(&s.is_ready, false);
    expect_state(known, 2);
    atomic_store(&s.is_ready, true);
    expect_state(known, 1);
    /* at the end watchers are told, and go */
    cuzk_rpc_stop(s.rpc);
    expect_state(known, 2);
    assert_false(call_receive(known, &a));
    call_wait(known, &a);
    assert_int_equal(a.code, GRPC_STATUS_UNAVAILABLE);
    call_wait(unknown, &a);
    assert_int_equal(a.code, GRPC_STATUS_UNAVAILABLE);
}

/* The field of a message, or the message's end. */
static cuzk_wire_field field_of(const uint8_t *data, size_t size, uint32_t number)
{
    cuzk_wire wire = {data, data + size};
    cuzk_wire_field f;
    while (cuzk_wire_read(&wire, &f) == CUZK_WIRE_FIELD) {
        if (f.number == number) {
            return f;
        }
    }
    return (cuzk_wire_field){0};
}

static bool holds(const answer *a, const char *text)
{
    return memmem(a->data, a->size, text, strlen(text)) != NULL;
}

static const char *const versions[] = {
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};

static void reflection(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        call *k = client_stream(s.client, versions[v], 0);
        uint8_t request[256];
        answer a;
        size_t n = text_request(request, 7, "");
        call_send(k, request, n);
        assert_true(call_receive(k, &a));
        static const char *const services[] = {"cuzk.v1.ProvingEngine",
                                               "cuzk.v1.Circom",
                                               "cuzk.v1.Devices",
                                               "grpc.health.v1.Health",
                                               "grpc.reflection.v1.ServerReflection",
                                               "grpc.reflection.v1alpha.ServerReflection"};
        cuzk_wire_field list = field_of(a.data, a.size, 6);
        assert_non_null(list.data);
        for (int i = 0; i < 6; i++) {
            assert_true(holds(&a, services[i]));
        }
        cuzk_wire_field original = field_of(a.data, a.size, 2);
        assert_int_equal(original.size, n);
        assert_memory_equal(original.data, request, n);
        answer_clear(&a);

        static const struct {
            uint32_t number;
            const char *name, *file; /* file NULL: there is none */
        } asked[] = {
            {3, "cuzk/v1/proving.proto", "cuzk/v1/proving.proto"},
            {3, "cuzk/v1/other.proto", NULL},
            {4, "cuzk.v1.ProvingEngine", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.ProvingEngine.Prove", "cuzk/v1/proving.proto"},
            {4, ".cuzk.v1.SubmitProofRequest", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.SubmitProofRequest.vanilla_proof", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.AwaitProofResponse.Status", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.AwaitProofResponse.COMPLETED", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.ProofKind", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.WINNING_POST", "cuzk/v1/proving.proto"},
            {4, "cuzk.v1.Circom.ListCircuits", "cuzk/v1/circom.proto"},
            {4, "cuzk.v1.Devices.DrainDevice", "cuzk/v1/devices.proto"},
            {4, "grpc.health.v1.HealthCheckResponse", "grpc/health/v1/health.proto"},
            {4, "grpc.reflection.v1.ServerReflectionRequest.list_services",
             "grpc/reflection/v1/reflection.proto"},
            {4, "grpc.reflection.v1.ServerReflectionRequest.message_request",
             "grpc/reflection/v1/reflection.proto"},
            {4, "cuzk.v1", NULL},
            {4, "cuzk.v1.Nothing", NULL},
            {4, "cuzk.v1.ProofKin", NULL},
            {4, "cuzk.v1.ProvingEngine.Nothing", NULL},
            {4, "", NULL},
        };
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            n = text_request(request, asked[i].number, asked[i].name);
            call_send(k, request, n);
            assert_true(call_receive(k, &a));
            cuzk_wire_field files = field_of(a.data, a.size, 4);
            cuzk_wire_field error = field_of(a.data, a.size, 7);
            if (asked[i].file == NULL) {
                assert_null(files.data);
                assert_int_equal(field_of(error.data, error.size, 1).value, GRPC_STATUS_NOT_FOUND);
            } else {
                assert_non_null(files.data);
                /* the last file is the one asked for */
                cuzk_wire wire = {files.data, files.data + files.size};
                cuzk_wire_field file = {0};
                unsigned n_files = 0;
                while (cuzk_wire_read(&wire, &file) == CUZK_WIRE_FIELD) {
                    n_files++;
                }
                cuzk_wire_field name = field_of(file.data, file.size, 1);
                assert_int_equal(name.size, strlen(asked[i].file));
                assert_memory_equal(name.data, asked[i].file, name.size);
                assert_int_equal(n_files, strstr(asked[i].file, "circom") != NULL ? 2 : 1);
            }
            answer_clear(&a);
        }
        /* a question that is none is an error inside the answer; what is broken ends the call */
        call_send(k, "", 0);
        assert_true(call_receive(k, &a));
        cuzk_wire_field error = field_of(a.data, a.size, 7);
        assert_int_equal(field_of(error.data, error.size, 1).value, GRPC_STATUS_UNIMPLEMENTED);
        answer_clear(&a);
        call_send(k, "\x0a", 1);
        assert_false(call_receive(k, &a));
        call_wait(k, &a);
        assert_int_equal(a.code, GRPC_STATUS_INVALID_ARGUMENT);

        /* ended by the client */
        k = client_stream(s.client, versions[v], 0);
        call_half_close(k);
        assert_false(call_receive(k, &a));
        call_wait(k, &a);
        assert_int_equal(a.code, GRPC_STATUS_OK);
    }
}

static void reflection_can_be_off(void **state)
{
    (void)state;
    setting_start(&s, no_reflection, NULL);
    answer a;
    client_call(s.client, &a, versions[0], "", 0, 0);
    assert_int_equal(a.code, GRPC_STATUS_UNIMPLEMENTED);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(health_check),
        TEST(health_watch),
        TEST(reflection),
        cmocka_unit_test(reflection_can_be_off),
#undef TEST
    };
    return cmocka_run_group_tests_name("rpc services", tests, NULL, NULL);
}
