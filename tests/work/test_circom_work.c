/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom circuits through the engine's table, and the registry of their keys. */
#include "work/on_device.h"

#include "work_lane.h"
#include "work_memory.h"

#include "cuzk/v1/circom.pb-c.h"
#include "work/circom_work.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cuzk-circom-XXXXXX";
static char outside[] = "/tmp/cuzk-outside-XXXXXX";
static cuzk_ctx *ctx;
static cuzk_work_devices devices;
static unsigned n_warnings;

static void on_log(void *user, cuzk_log_level level, const char *text)
{
    (void)user;
    (void)text;
    n_warnings += level == CUZK_LOG_WARN;
}

static void put_file(const char *at, const char *name, const char *fixture)
{
    char path[256];
    cuzk_fixture f = cuzk_test_fixture(fixture);
    snprintf(path, sizeof path, "%s/%s", at, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(f.data, 1, (size_t)f.size, file), f.size);
    fclose(file);
    cuzk_test_fixture_free(&f);
}

static void empty(const char *at)
{
    char path[1024];
    DIR *d = opendir(at);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", at, e->d_name);
        unlink(path);
    }
    closedir(d);
}

static int open_folder(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    options.log = on_log;
    return mkdtemp(folder) != NULL && mkdtemp(outside) != NULL &&
                   cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK &&
                   cuzk_work_devices_init(&devices, work_cpu, 1, &err) == CUZK_OK
               ? 0
               : -1;
}

static int close_folder(void **state)
{
    (void)state;
    cuzk_ctx_destroy(ctx);
    empty(folder);
    empty(outside);
    rmdir(folder);
    rmdir(outside);
    return 0;
}

static cuzk_circom_work *open_work(bool allow_test_key)
{
    cuzk_circom_work *circom = NULL;
    cuzk_circom_work_options options = {
        .ctx = ctx, .devices = &devices, .folder = folder, .allow_test_key = allow_test_key};
    assert_ok(cuzk_circom_work_create(&circom, &options, &err));
    return circom;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

static cuzk_status decode(const cuzk_work *work, cuzk_task **task, cuzk_task_info *info,
                          const char *name, const uint8_t *witness, size_t n)
{
    Cuzk__V1__ProveWitnessRequest r = CUZK__V1__PROVE_WITNESS_REQUEST__INIT;
    r.request_id = "any id";
    r.circuit = (char *)(uintptr_t)name;
    r.witness = (ProtobufCBinaryData){n, (uint8_t *)(uintptr_t)witness};
    r.priority = CUZK__V1__PRIORITY__HIGH;
    size_t n_bytes = cuzk__v1__prove_witness_request__get_packed_size(&r);
    uint8_t *bytes = malloc(n_bytes);
    cuzk__v1__prove_witness_request__pack(&r, bytes);
    cuzk_status status = work->decode(work->user, task, info, bytes, n_bytes, &err);
    memset(bytes, 0xee, n_bytes);
    free(bytes);
    return status;
}

/* The answer is snarkjs' two files, and verifies with snarkjs' key. */
static void check_answer(const char *fixture, const uint8_t *answer, size_t n_bytes)
{
    char path[128];
    cuzk_vkey *vkey = NULL;
    Cuzk__V1__ProveWitnessResponse *r =
        cuzk__v1__prove_witness_response__unpack(NULL, n_bytes, answer);
    assert_non_null(r);
    assert_string_equal(r->job_id, "");
    snprintf(path, sizeof path, "%s/public.json", fixture);
    cuzk_fixture public_json = cuzk_test_fixture(path);
    assert_int_equal(strlen(r->public_json), public_json.size);
    assert_memory_equal(r->public_json, public_json.data, public_json.size);
    snprintf(path, sizeof path, "%s/verification_key.json", fixture);
    cuzk_fixture vk = cuzk_test_fixture(path);
    assert_ok(cuzk_vkey_open(ctx, &vkey, vk.data, (size_t)vk.size, true, &err));
    assert_ok(cuzk_verify(ctx, vkey, r->proof_json, strlen(r->proof_json), r->public_json,
                          strlen(r->public_json), &err));
    cuzk_vkey_close(vkey);
    cuzk_test_fixture_free(&vk);
    cuzk_test_fixture_free(&public_json);
    cuzk__v1__prove_witness_response__free_unpacked(r, NULL);
}

static void prove_fixture(const cuzk_work *work, const char *name, const char *fixture)
{
    char path[128], id[CUZK_CIRCUIT_ID_MAX];
    cuzk_task *task = NULL;
    cuzk_task_info info;
    cuzk_resident *resident = NULL;
    uint64_t bytes = 0, told = 0;
    uint8_t proof[CUZK_UNIT_PROOF_MAX], *answer = NULL;
    size_t n_bytes = 0, answer_bytes = 0;
    work_caller c;
    snprintf(path, sizeof path, "%s/witness.wtns", fixture);
    cuzk_fixture w = cuzk_test_fixture(path);
    assert_ok(decode(work, &task, &info, name, w.data, (size_t)w.size));
    snprintf(id, sizeof id, "circom:%s", name);
    assert_string_equal(info.circuit, id);
    assert_int_equal(info.n_units, 1);
    assert_true(info.is_unchecked);
    assert_ok(work->resident_size(work->user, id, &told, NULL, &err));
    assert_ok(work->resident_load(work->user, &resident, &bytes, id, true, &err));
    assert_true(bytes <= told && told == info.resident_bytes);
    work_caller_init(&c, 0);
    assert_ok(work_prove_unit(work, proof, &n_bytes, task, resident, &c, &err));
    assert_int_equal(c.lane.n_taken, 1);
    assert_ok(work->verify(work->user, task, resident, proof, n_bytes, &c.call, &err));
    assert_ok(work->assemble(work->user, &answer, &answer_bytes, task, proof, &n_bytes, &err));
    check_answer(fixture, answer, answer_bytes);
    proof[70] ^= 1;
    assert_fails(work->verify(work->user, task, resident, proof, n_bytes, &c.call, &err),
                 CUZK_E_INVALID_PROOF, "does not satisfy");
    assert_fails(work->verify(work->user, task, resident, proof, n_bytes - 1, &c.call, &err),
                 CUZK_E_INVALID_PROOF, "bytes, expected");
    c.patience.left = 3;
    assert_fails(work_prove_unit(work, proof, &n_bytes, task, resident, &c, &err), CUZK_E_CANCELLED,
                 "cancelled");
    assert_int_equal(c.lane.n_taken, c.lane.n_given);
    work->resident_close(work->user, resident);
    work->task_destroy(work->user, task);
    free(answer);
    cuzk_test_fixture_free(&w);
}

static void test_proofs(void **state)
{
    (void)state;
    static const struct {
        const char *name, *fixture;
    } circuits[] = {
        {"poseidon2", "circom/bn254/poseidon2"},
        {"multiplier.bls", "circom/bls12381/multiplier1000"},
        {"multiplier2", "circom/bn254/multiplier2"},
    };
    cuzk_circom_work *circom = open_work(true);
    for (unsigned i = 0; i < sizeof circuits / sizeof circuits[0]; i++) {
        char key[128], file[64];
        bool was = true;
        cuzk_circom_info info;
        snprintf(key, sizeof key, "%s/circuit.zkey", circuits[i].fixture);
        snprintf(file, sizeof file, "%u.zkey", i);
        put_file(folder, file, key);
        assert_ok(cuzk_circom_register(circom, &was, &info, circuits[i].name, file, &err));
        assert_false(was);
        assert_string_equal(info.name, circuits[i].name);
        assert_string_equal(info.curve, i == 1 ? "bls12381" : "bn128");
        free(info.path);
        prove_fixture(cuzk_circom_work_table(circom), circuits[i].name, circuits[i].fixture);
    }
    cuzk_circom_work_destroy(circom);
}

/* A witness of the right length that does not satisfy the circuit: decoded, proved, not verified.
 */
static void test_wrong_witness(void **state)
{
    (void)state;
    cuzk_circom_work *circom = open_work(true);
    const cuzk_work *work = cuzk_circom_work_table(circom);
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/poseidon2/witness.wtns");
    cuzk_task *task = NULL;
    cuzk_task_info info, other;
    cuzk_resident *resident = NULL;
    uint64_t bytes;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes = 0, n = (size_t)w.size;
    work_caller c;
    work_caller_init(&c, 0);
    assert_ok(decode(work, &task, &other, "poseidon2", w.data, n));
    work->task_destroy(work->user, task);
    w.data[n - 32] ^= 1;
    assert_ok(decode(work, &task, &info, "poseidon2", w.data, n));
    assert_memory_not_equal(info.digest, other.digest, sizeof info.digest);
    assert_ok(work->resident_load(work->user, &resident, &bytes, info.circuit, false, &err));
    assert_ok(work_prove_unit(work, proof, &n_bytes, task, resident, &c, &err));
    assert_fails(work->verify(work->user, task, resident, proof, n_bytes, &c.call, &err),
                 CUZK_E_INVALID_PROOF, "the witness does not satisfy the circuit");
    work->task_destroy(work->user, task);
    work->resident_close(work->user, resident);

    assert_fails(decode(work, &task, &info, "poseidon2", w.data, n - 1), CUZK_E_TRUNCATED,
                 "circuit \"poseidon2\"");
    assert_fails(decode(work, &task, &info, "poseidon2", w.data, 0), CUZK_E_ARGUMENT, "empty");
    assert_fails(decode(work, &task, &info, "multiplier2", w.data, n), CUZK_E_WITNESS_LENGTH,
                 "Invalid witness length");
    assert_fails(decode(work, &task, &info, "multiplier.bls", w.data, n), CUZK_E_MISMATCH, "over");
    assert_fails(decode(work, &task, &info, "poseidon", w.data, n), CUZK_E_NOT_FOUND,
                 "there is no circuit \"poseidon\"; there are multiplier.bls, multiplier2, "
                 "poseidon2");
    assert_fails(decode(work, &task, &info, "", w.data, n), CUZK_E_NOT_FOUND, "");
    memset(w.data + n - 32, 0xff, 32);
    assert_fails(decode(work, &task, &info, "poseidon2", w.data, n), CUZK_E_FORMAT, "");
    static const uint8_t cut[] = {0x12, 5, 'a'}, number[] = {0x10, 1};
    assert_fails(work->decode(work->user, &task, &info, cut, sizeof cut, &err), CUZK_E_TRUNCATED,
                 "reading a ProveWitnessRequest: field 2 at byte 0: 1 bytes are left of 5");
    assert_fails(work->decode(work->user, &task, &info, number, sizeof number, &err), CUZK_E_FORMAT,
                 "field 2 (circuit) at byte 0 has wire type 0, expected 2");
    cuzk_test_fixture_free(&w);
    cuzk_circom_work_destroy(circom);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void measure(const char *fixture)
{
    char path[128];
    bool was;
    cuzk_task *task = NULL;
    cuzk_task_info info;
    cuzk_resident *resident = NULL;
    cuzk_unit_witness *witness = NULL;
    cuzk_pending *pending = NULL;
    uint64_t bytes;
    uint8_t proof[CUZK_UNIT_PROOF_MAX];
    size_t n_bytes;
    work_caller c;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    work_caller_init(&c, 0);
    options.n_threads = 2;
    assert_ok(cuzk_ctx_create(&ctx, &options, &err)); /* threads of the parent are not here */
    cuzk_circom_work *circom = open_work(true);
    const cuzk_work *work = cuzk_circom_work_table(circom);
    assert_ok(cuzk_circom_register(circom, &was, NULL, "large", "large.zkey", &err));
    snprintf(path, sizeof path, "%s/witness.wtns", fixture);
    cuzk_fixture w = cuzk_test_fixture(path);
    uint64_t before = memory_begin();
    assert_ok(decode(work, &task, &info, "large", w.data, (size_t)w.size));
    /* what the engine reserves while it decodes, and the request that is packed here */
    memory_hold("large", "decoding", memory_now("VmHWM") - before, 3 * w.size + (1 << 20), 4 << 20);
    assert_true(info.task_bytes < w.size + (128 << 10));
    before = memory_begin();
    assert_ok(work->resident_load(work->user, &resident, &bytes, info.circuit, true, &err));
    memory_hold("large", "resident", memory_now("VmHWM") - before, info.resident_bytes, 2 << 20);
    before = memory_begin();
    assert_ok(work->witness(work->user, &witness, task, resident, &c.call, &err));
    assert_ok(work->prove_start(work->user, &pending, task, resident, witness, &c.call, &err));
    assert_ok(
        work->prove_finish(work->user, proof, &n_bytes, pending, task, resident, &c.call, &err));
    memory_hold("large", "proof", memory_now("VmHWM") - before,
                info.host_bytes + info.witness_bytes, 8 << 20);
    assert_ok(work->verify(work->user, task, resident, proof, n_bytes, &c.call, &err));
    _exit(0);
}

static void test_bytes(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"circom/bn254/eddsa_poseidon", "circom/bn254/merkle20",
                                           "circom/bls12381/merkle20"};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: a sanitizer's memory is not the program's\n");
    skip();
#endif
    for (unsigned i = 0; i < sizeof fixtures / sizeof fixtures[0]; i++) {
        char key[128];
        snprintf(key, sizeof key, "%s/circuit.zkey", fixtures[i]);
        if (!cuzk_test_fixture_exists(key)) {
            print_message("skipped: no fixture %s\n", key);
            continue;
        }
        put_file(folder, "large.zkey", key);
        if (memory_child()) {
            measure(fixtures[i]);
        }
    }
}

/* ---- the registry ---------------------------------------------------------------------------- */

static void expect_list(cuzk_circom_work *circom, const char *const *names, unsigned n_names)
{
    cuzk_circom_info *infos = NULL;
    unsigned n = 99;
    assert_ok(cuzk_circom_list(circom, &infos, &n, &err));
    assert_int_equal(n, n_names);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(infos[i].name, names[i]);
        assert_true(infos[i].n_bytes > 1000 && infos[i].n_vars > 2 && infos[i].path[0] == '/');
    }
    cuzk_circom_list_free(infos, n);
}

/* A marked key in the folder. */
static void make_test_key(void)
{
    char path[256];
    char *r1cs = cuzk_test_fixture_path("circom/bn254/multiplier2/circuit.r1cs");
    cuzk_fixture trapdoor = cuzk_test_fixture("circom/bn254/multiplier2/trapdoor.json");
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/t.test.zkey", folder);
    options.zkey_path = path;
    assert_ok(cuzk_setup_file_with_test_trapdoor(ctx, r1cs, trapdoor.data, (size_t)trapdoor.size,
                                                 &options, &err));
    cuzk_test_fixture_free(&trapdoor);
    free(r1cs);
}

/* Put another point in the place of delta in G2 (gamma), which stands at the end of section 2. */
static void spoil_delta(const char *path)
{
    enum { G1 = 64, G2 = 128 };
    uint8_t head[4096];
    FILE *file = fopen(path, "r+b");
    size_t n = fread(head, 1, sizeof head, file), at = 12;
    while (at + 12 < n && head[at] != 2) {
        uint64_t size;
        memcpy(&size, head + at + 4, sizeof size);
        at += 12 + (size_t)size;
    }
    uint64_t size;
    memcpy(&size, head + at + 4, sizeof size);
    size_t end = at + 12 + (size_t)size; /* … gamma2 | delta1 | delta2 */
    assert_true(end < n);
    fseek(file, (long)(end - G2), SEEK_SET);
    fwrite(head + end - G2 - G1 - G2, 1, G2, file);
    fclose(file);
}

static void test_registry(void **state)
{
    (void)state;
    static const char *const before[] = {"multiplier.bls", "multiplier2", "poseidon2"};
    static const char *const after[] = {"Z", "multiplier.bls", "poseidon2", "y_1-"};
    cuzk_circom_work *circom = open_work(true);
    cuzk_circom_info info;
    char path[256], name[128];
    bool was = false;
    expect_list(circom, before, 3);

    /* the same file again, by another spelling; another file under the name */
    snprintf(path, sizeof path, "%s/./0.zkey", folder);
    assert_ok(cuzk_circom_register(circom, &was, &info, "poseidon2", path, &err));
    assert_true(was);
    assert_int_equal(info.n_public, 1);
    assert_int_equal(info.n_constraints, 517);
    assert_int_equal(info.n_vars, 520);
    free(info.path);
    assert_fails(cuzk_circom_register(circom, &was, NULL, "poseidon2", "1.zkey", &err),
                 CUZK_E_MISMATCH, "\"poseidon2\" is already");

    /* names */
    static const char *const wrong[] = {"", ".a", "a b", "a/b", "../a", "a\n", "ä"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(cuzk_circom_register(circom, &was, NULL, wrong[i], "0.zkey", &err),
                     CUZK_E_ARGUMENT, "letters, digits");
    }
    memset(name, 'a', sizeof name);
    name[101] = '\0';
    assert_fails(cuzk_circom_register(circom, &was, NULL, name, "0.zkey", &err), CUZK_E_ARGUMENT,
                 "1 to 100");

    /* paths */
    put_file(outside, "0.zkey", "circom/bn254/poseidon2/circuit.zkey");
    snprintf(path, sizeof path, "%s/0.zkey", outside);
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", path, &err), CUZK_E_ARGUMENT,
                 "is not in the circuits folder");
    snprintf(name, sizeof name, "%s/link.zkey", folder);
    assert_int_equal(symlink(path, name), 0);
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", "link.zkey", &err), CUZK_E_ARGUMENT,
                 "is not in the circuits folder");
    snprintf(name, sizeof name, "../%s/0.zkey", strrchr(outside, '/') + 1);
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", name, &err), CUZK_E_ARGUMENT,
                 "is not in the circuits folder");
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", ".", &err), CUZK_E_ARGUMENT,
                 "is not in the circuits folder");
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", "none.zkey", &err), CUZK_E_FILE,
                 "No such file");
    assert_fails(cuzk_circom_register(circom, &was, NULL, "x", "circuits.txt", &err), CUZK_E_FORMAT,
                 "expected a zkey file");

    /* two more, one of them loses its file and another its content: what is left is there after a
     * restart, in order */
    put_file(folder, "3.zkey", "circom/bn254/range64/circuit.zkey");
    assert_ok(cuzk_circom_register(circom, &was, NULL, "y_1-", "3.zkey", &err));
    assert_ok(cuzk_circom_register(circom, &was, NULL, "Z", "3.zkey", &err));
    cuzk_circom_work_destroy(circom);
    snprintf(path, sizeof path, "%s/2.zkey", folder);
    assert_int_equal(unlink(path), 0);
    n_warnings = 0;
    circom = open_work(true);
    assert_int_equal(n_warnings, 1);
    expect_list(circom, after, 4);
    const cuzk_work *work = cuzk_circom_work_table(circom);
    uint64_t bytes;
    assert_fails(work->resident_size(work->user, "circom:multiplier2", &bytes, NULL, &err),
                 CUZK_E_NOT_FOUND, "register it anew");
    put_file(folder, "2.zkey", "circom/bn254/multiplier2/circuit.zkey");
    assert_ok(cuzk_circom_register(circom, &was, NULL, "multiplier2", "2.zkey", &err));
    assert_true(was);
    assert_ok(work->resident_size(work->user, "circom:multiplier2", &bytes, NULL, &err));

    /* a file that changes after it was registered */
    cuzk_resident *resident = NULL;
    put_file(folder, "2.zkey", "circom/bn254/range64/circuit.zkey");
    assert_fails(
        work->resident_load(work->user, &resident, &bytes, "circom:multiplier2", false, &err),
        CUZK_E_MISMATCH, "is not the key that was registered");
    /* a key of the same circuit and size, with another delta; it is used once it is registered */
    put_file(folder, "2.zkey", "circom/bn254/multiplier2/circuit.zkey");
    spoil_delta(path);
    assert_fails(
        work->resident_load(work->user, &resident, &bytes, "circom:multiplier2", false, &err),
        CUZK_E_MISMATCH, "register it anew");
    assert_ok(cuzk_circom_register(circom, &was, NULL, "multiplier2", "2.zkey", &err));
    assert_ok(
        work->resident_load(work->user, &resident, &bytes, "circom:multiplier2", false, &err));
    work->resident_close(work->user, resident);
    assert_int_equal(unlink(path), 0);
    assert_fails(work->resident_size(work->user, "circom:multiplier2", &bytes, NULL, &err),
                 CUZK_E_FILE, "No such file");
    assert_fails(
        work->resident_load(work->user, &resident, &bytes, "circom:multiplier2", false, &err),
        CUZK_E_FILE, "No such file");
    assert_fails(work->resident_size(work->user, "porep-32g", &bytes, NULL, &err), CUZK_E_NOT_FOUND,
                 "circom:NAME");
    cuzk_circom_work_destroy(circom);

    /* test keys; no folder; a folder that is none; a list that is none */
    make_test_key();
    circom = open_work(false);
    assert_fails(cuzk_circom_register(circom, &was, NULL, "t", "t.test.zkey", &err),
                 CUZK_E_UNSUPPORTED, "test key");
    cuzk_circom_work_destroy(circom);
    circom = open_work(true);
    assert_ok(cuzk_circom_register(circom, &was, NULL, "t", "t.test.zkey", &err));
    cuzk_circom_work_destroy(circom);
    cuzk_circom_work_options options = {.ctx = ctx, .devices = &devices};
    assert_ok(cuzk_circom_work_create(&circom, &options, &err));
    assert_fails(cuzk_circom_register(circom, &was, NULL, "t", "0.zkey", &err), CUZK_E_UNSUPPORTED,
                 "no circuits folder");
    expect_list(circom, NULL, 0);
    cuzk_circom_work_destroy(circom);
    options.folder = "/nonexistent/folder";
    assert_fails(cuzk_circom_work_create(&circom, &options, &err), CUZK_E_FILE, "/nonexistent");
    static const struct {
        const char *list, *part;
    } lists[] = {
        {"good 0.zkey\nword\n", "line 2: expected a name"},
        {"a/b 0.zkey\n", "line 1: circuit name"},
        {"a 0.zkey\n\na 0.zkey\n", "line 3: \"a\" stands there twice"},
        {"a /etc/passwd\n", "line 1: \"/etc/passwd\" is not in"},
    };
    options.folder = outside;
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        snprintf(path, sizeof path, "%s/circuits.txt", outside);
        FILE *file = fopen(path, "w");
        fputs(lists[i].list, file);
        fclose(file);
        assert_fails(cuzk_circom_work_create(&circom, &options, &err),
                     i == 3   ? CUZK_E_ARGUMENT
                     : i == 1 ? CUZK_E_ARGUMENT
                              : CUZK_E_FORMAT,
                     lists[i].part);
    }
    cuzk_circom_work_destroy(NULL);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void test_devices(void **state)
{
    (void)state;
    static const char *const twice[] = {"cpu", "cpu"}, *const wrong[] = {"gpu:0"},
                             *const empty_id[] = {""}, *const card[] = {"cuda:7"};
    cuzk_work_devices found;
    assert_ok(cuzk_work_devices_init(&found, NULL, 0, &err));
    assert_true(found.n >= 1);
    assert_ok(cuzk_work_devices_init(&found, work_cpu, 1, &err));
    assert_int_equal(found.n, 1);
    assert_string_equal(found.devices[0].id, "cpu");
    assert_true(found.devices[0].name[0] != '\0' && found.devices[0].memory_bytes == 0);
    assert_false(cuzk_work_devices_are_cards(&found));
    assert_fails(cuzk_work_devices_init(&found, twice, 2, &err), CUZK_E_ARGUMENT, "given twice");
    assert_fails(cuzk_work_devices_init(&found, wrong, 1, &err), CUZK_E_ARGUMENT,
                 "device \"gpu:0\": expected cpu, cuda:N, auto or auto:N");
    assert_fails(cuzk_work_devices_init(&found, empty_id, 1, &err), CUZK_E_ARGUMENT, "\"\"");
    cuzk_error_clear(&err);
    cuzk_status status = cuzk_work_devices_init(&found, card, 1, &err);
    assert_true(status == CUZK_E_UNSUPPORTED || status == CUZK_E_DEVICE);
    assert_int_equal(found.n, 1); /* as it was */
    /* the CPU goes on without a card that is not there; its memory nobody knows */
    static const char *const both[] = {"cuda:999", "cpu"};
    cuzk_error_clear(&err);
    status = cuzk_work_devices_init(&found, both, 2, &err);
    if (status != CUZK_E_UNSUPPORTED) {
        assert_ok(status);
        assert_int_equal(found.n, 2);
        assert_string_equal(found.devices[0].id, "cuda:999");
        assert_true(found.devices[0].missing[0] != '\0' && found.devices[0].memory_bytes == 0);
        assert_string_equal(found.devices[1].missing, "");
        assert_int_equal(cuzk_work_devices_renew(&found, 0, &err), CUZK_E_DEVICE);
    }
    /* what is reserved: what the largest card would do with the key, or its least where none fits
     */
    cuzk_work_devices two = {
        .n = 2,
        .devices = {{.memory_bytes = UINT64_C(8) << 30}, {.memory_bytes = UINT64_C(16) << 30}}};
    cuzk_key_numbers numbers =
        cuzk_key_numbers_circom(cuzk_curve_get(CUZK_CURVE_BN254), 24, 1 << 24, UINT64_C(4) << 24);
    cuzk_device_plan plan = cuzk_api_device_plan(&numbers, two.devices[1].memory_bytes);
    assert_int_equal(cuzk_on_device_bytes(&two, &numbers), plan.total_bytes);
    numbers.lg_n = 28;
    cuzk_device_plan refused = cuzk_api_device_plan(&numbers, two.devices[1].memory_bytes);
    assert_int_equal(cuzk_on_device_bytes(&two, &numbers), refused.total_bytes);
    assert_int_equal(cuzk_on_device_bytes(&found, &numbers), 0); /* the CPU */
    if (plan.total_bytes != 0) {                                 /* a program with CUDA */
        assert_true(plan.fits && plan.total_bytes <= two.devices[1].memory_bytes);
        assert_true(!refused.fits && refused.total_bytes > two.devices[1].memory_bytes);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *register_many(void *arg)
{
    for (int i = 0; i < 20; i++) {
        char name[32];
        bool was;
        cuzk_circom_info *infos = NULL;
        unsigned n = 0;
        cuzk_error e = {0};
        snprintf(name, sizeof name, "n%d", i);
        if (cuzk_circom_register(arg, &was, NULL, name, "0.zkey", &e) != CUZK_OK ||
            cuzk_circom_list(arg, &infos, &n, &e) != CUZK_OK) {
            return "failed";
        }
        cuzk_circom_list_free(infos, n);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    cuzk_circom_work *circom = open_work(true);
    cuzk_circom_info *infos = NULL;
    unsigned n_before = 0, n = 0;
    assert_ok(cuzk_circom_list(circom, &infos, &n_before, &err));
    cuzk_circom_list_free(infos, n_before);
    pthread_t ids[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&ids[i], NULL, register_many, circom), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *result = NULL;
        pthread_join(ids[i], &result);
        assert_null(result);
    }
    assert_ok(cuzk_circom_list(circom, &infos, &n, &err));
    assert_int_equal(n, n_before + 20);
    cuzk_circom_list_free(infos, n);
    cuzk_circom_work_destroy(circom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proofs),   cmocka_unit_test(test_wrong_witness),
        cmocka_unit_test(test_registry), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bytes),    cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests_name("circom_work", tests, open_folder, close_folder);
}
