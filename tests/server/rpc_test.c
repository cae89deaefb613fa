/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/rpc_test.h"

#include <unistd.h>

static cuzk_status metrics_text(void *user, cuzk_text *out, cuzk_error *err)
{
    (void)user, (void)err;
    cuzk_text_put(out, "cuzk_up 1\n");
    return CUZK_OK;
}

static bool is_ready(void *user)
{
    return atomic_load(&((setting *)user)->is_ready);
}

static cuzk_status add_circuit(void *user, const char *name, const char *path, bool *was_there,
                               cuzk_rpc_circuit_each each, void *context, cuzk_error *err)
{
    (void)user;
    *was_there = strcmp(name, "taken") == 0;
    CUZK_FAIL_IF(strcmp(name, "mixed") == 0, err, CUZK_E_MISMATCH, "key mixed: of two circuits");
    CUZK_FAIL_IF(strcmp(name, "taken") == 0, err, CUZK_E_MISMATCH, "circuit taken: another file");
    CUZK_FAIL_IF(strcmp(name, "bad") == 0, err, CUZK_E_FORMAT, "circuit bad: no key %s", path);
    CUZK_FAIL_IF(strcmp(name, "lost") == 0, err, CUZK_E_FILE, "circuit lost: no file %s", path);
    *was_there = strcmp(name, "again") == 0;
    each(context, &(cuzk_rpc_circuit){name, path, "bn128", 11, 12, 13, 14});
    return CUZK_OK;
}

static cuzk_status list_circuits(void *user, cuzk_rpc_circuit_each each, void *context,
                                 cuzk_error *err)
{
    (void)user, (void)err;
    each(context, &(cuzk_rpc_circuit){"one", "/a", "bn128", 1, 2, 3, 4});
    each(context, &(cuzk_rpc_circuit){"two", "/b", "bls12381", 5, 6, 7, 8});
    return CUZK_OK;
}

static const cuzk_rpc_circuits circuits = {NULL, add_circuit, list_circuits};

static const cuzk_engine_kind kinds[CUZK_KINDS_MAX] = {
    [1] = {"porep-c2", "porep_c2", CUZK_PRIORITY_NORMAL, NULL},
    [2] = {"snap-update", "snap_update", CUZK_PRIORITY_NORMAL, NULL},
    [4] = {"winning-post", "winning_post", CUZK_PRIORITY_CRITICAL, NULL},
    [5] = {"circom", "circom", CUZK_PRIORITY_NORMAL, NULL},
};

static unsigned arrivals(void *user, unsigned device, cuzk_device_arrival *out, unsigned n_max)
{
    (void)user;
    assert_int_equal(device, 0);
    assert_true(n_max >= 2);
    out[0] = (cuzk_device_arrival){"porep-32g", "peer cuda:1", 50000, 2500000, 0};
    out[1] = (cuzk_device_arrival){"circom:mul", "file", 3000, 1000000, 2000};
    return 2;
}

void setting_options(setting *s, cuzk_rpc_options *options)
{
    static const char *const local[] = {"127.0.0.1:0"};
    *options = (cuzk_rpc_options){
        .listen = local,
        .n_listen = 1,
        .engine = s->engine,
        .kinds = kinds,
        .circom_kind = 5,
        .circuits = &circuits,
        .metrics_text = metrics_text,
        .arrivals = arrivals,
        .is_ready = is_ready,
        .user = s,
    };
}

void setting_start(setting *s, void (*change)(cuzk_rpc_options *options, void *user), void *user)
{
    memset(s, 0, sizeof *s);
    atomic_init(&s->is_ready, true);
    grpc_init();
    s->engine = double_create();
    cuzk_rpc_options options;
    setting_options(s, &options);
    if (change != NULL) {
        change(&options, user);
    }
    cuzk_error err = {0};
    if (cuzk_rpc_create(&s->rpc, &options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    s->client = client_open(cuzk_rpc_address(s->rpc, 0), NULL);
}

void setting_end(setting *s)
{
    client_close(s->client);
    cuzk_rpc_destroy(s->rpc);
    double_destroy(s->engine);
    grpc_shutdown();
}

static void fill(Cuzk__V1__SubmitProofRequest *m, const char *id, int kind, const void *vanilla,
                 size_t n_bytes)
{
    cuzk__v1__submit_proof_request__init(m);
    m->request_id = (char *)id;
    m->proof_kind = (Cuzk__V1__ProofKind)kind;
    m->vanilla_proof.data = (uint8_t *)vanilla;
    m->vanilla_proof.len = n_bytes;
}

uint8_t *make_submit(size_t *size, const char *id, int kind, const void *vanilla, size_t n_bytes)
{
    Cuzk__V1__SubmitProofRequest m;
    fill(&m, id, kind, vanilla, n_bytes);
    *size = cuzk__v1__submit_proof_request__get_packed_size(&m);
    uint8_t *data = malloc(*size + 1);
    cuzk__v1__submit_proof_request__pack(&m, data);
    return data;
}

uint8_t *make_prove(size_t *size, const char *id, int kind, const void *vanilla, size_t n_bytes)
{
    Cuzk__V1__SubmitProofRequest m;
    fill(&m, id, kind, vanilla, n_bytes);
    Cuzk__V1__ProveRequest outer;
    cuzk__v1__prove_request__init(&outer);
    outer.submit = &m;
    *size = cuzk__v1__prove_request__get_packed_size(&outer);
    uint8_t *data = malloc(*size + 1);
    cuzk__v1__prove_request__pack(&outer, data);
    return data;
}

uint8_t *make_await(size_t *size, const char *id, uint64_t timeout_ms)
{
    Cuzk__V1__AwaitProofRequest m;
    cuzk__v1__await_proof_request__init(&m);
    m.job_id = (char *)id;
    m.timeout_ms = timeout_ms;
    *size = cuzk__v1__await_proof_request__get_packed_size(&m);
    uint8_t *data = malloc(*size + 1);
    cuzk__v1__await_proof_request__pack(&m, data);
    return data;
}

void folder_make(char path[64])
{
    snprintf(path, 64, "/tmp/cuzk-rpc-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

void folder_remove(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}
