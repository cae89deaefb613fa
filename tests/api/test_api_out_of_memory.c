/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every allocation behind the calls of cuzk.h fails once: the call says so, nothing is leaked (the
 * sanitizer build tells), no file is left behind, and the next call works. Calls that read JSON are
 * left out: the parser underneath takes memory for granted. */
#include "alloc_fail.h"
#include "filecoin_case.h"

#include <dirent.h>
#include <unistd.h>

static cuzk_error err;
static circuit c;
static cuzk_ctx *ctx;
static cuzk_key *key;
static char folder[] = "/tmp/cuzk-test-XXXXXX";
static filecoin_case window;
static cuzk_fixture vanilla[CASE_SECTORS_MAX];
static char *window_vk;
static char zkey_path[64], r1cs_path[64], out_path[64], vk_path[64];

static void write_file(const char *path, const cuzk_fixture *f)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(f->data, 1, f->size, file), f->size);
    assert_int_equal(fclose(file), 0);
}

static unsigned n_files(void)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static int set_up(void **state)
{
    (void)state;
    c = circuit_open("circom/bls12381/multiplier2");
    assert_non_null(mkdtemp(folder));
    snprintf(zkey_path, sizeof zkey_path, "%s/k.zkey", folder);
    snprintf(r1cs_path, sizeof r1cs_path, "%s/c.r1cs", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(vk_path, sizeof vk_path, "%s/out.json", folder);
    write_file(zkey_path, &c.zkey);
    write_file(r1cs_path, &c.r1cs);
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    assert_ok(cuzk_ctx_create(&ctx, &options, &err));
    assert_ok(cuzk_key_open_file(ctx, &key, zkey_path, NULL, &err));
    window = case_open("window-2k-3sectors-4");
    window_vk = case_vk_path(&window);
    for (unsigned i = 0; i < window.n_sectors; i++) {
        char name[128];
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", i);
        vanilla[i] = cuzk_test_fixture(case_path(name, window.name, file));
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cuzk_key_close(key);
    cuzk_ctx_destroy(ctx);
    unlink(zkey_path);
    unlink(r1cs_path);
    rmdir(folder);
    circuit_close(&c);
    for (unsigned i = 0; i < window.n_sectors; i++) {
        cuzk_test_fixture_free(&vanilla[i]);
    }
    free(window_vk);
    case_close(&window);
    return 0;
}

/* ---- the calls ---- */

static cuzk_status call_ctx(void)
{
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    cuzk_ctx *made = NULL;
    cuzk_status status = cuzk_ctx_create(&made, &options, &err);
    cuzk_ctx_destroy(made);
    return status;
}

static cuzk_status call_key(void)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    options.r1cs_path = r1cs_path;
    cuzk_key *k = NULL;
    cuzk_status status = cuzk_key_open_file(ctx, &k, zkey_path, &options, &err);
    cuzk_key_close(k);
    return status;
}

static cuzk_status call_prove(void)
{
    cuzk_proof *proof = NULL;
    cuzk_status status = cuzk_prove(ctx, &proof, key, c.wtns.data, c.wtns.size, NULL, &err);
    cuzk_proof_destroy(proof);
    return status;
}

static cuzk_status call_write_files(void)
{
    cuzk_proof *proof = NULL;
    cuzk_status status = cuzk_prove(ctx, &proof, key, c.wtns.data, c.wtns.size, NULL, &err);
    if (status == CUZK_OK) {
        status = cuzk_proof_write_files(proof, out_path, vk_path, CUZK_FORM_SNARKJS, &err);
    }
    cuzk_proof_destroy(proof);
    return status;
}

static cuzk_status call_vkey(void)
{
    cuzk_vkey *vkey = NULL;
    cuzk_status status = cuzk_vkey_open_file(ctx, &vkey, zkey_path, false, &err);
    if (status == CUZK_OK) {
        status = cuzk_vkey_write_file(vkey, vk_path, CUZK_FORM_SNARKJS, &err);
    }
    cuzk_vkey_close(vkey);
    return status;
}

static cuzk_status call_setup(void)
{
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;
    options.zkey_path = out_path;
    options.vkey_json_path = vk_path;
    return cuzk_setup_file(ctx, r1cs_path, &options, &err);
}

static cuzk_status call_check_witness(void)
{
    return cuzk_check_witness(ctx, NULL, c.r1cs.data, c.r1cs.size, c.wtns.data, c.wtns.size, &err);
}

static void no_report(void *user, cuzk_report_kind kind, const char *name, const char *value,
                      bool is_number)
{
    (void)user;
    (void)kind;
    (void)name;
    (void)value;
    (void)is_number;
}

static cuzk_status call_inspect(void)
{
    return cuzk_inspect_file(ctx, zkey_path, no_report, NULL, &err);
}

static cuzk_status call_check(void)
{
    cuzk_check_options options = CUZK_CHECK_OPTIONS_INIT;
    options.r1cs_path = r1cs_path;
    return cuzk_check_file(ctx, zkey_path, &options, no_report, NULL, &err);
}

/* A request of the case's fields, with its sectors or its vanilla proofs. */
static cuzk_status make_request(cuzk_filecoin_request **r, bool with_vanilla)
{
    cuzk_status status = cuzk_filecoin_request_create(r, window.kind, &err);
    for (unsigned i = 0; i < window.n_fields && status == CUZK_OK; i++) {
        status = cuzk_filecoin_request_set(*r, window.fields[i].name, window.fields[i].text, &err);
    }
    for (unsigned i = 0; i < window.n_sectors && status == CUZK_OK; i++) {
        status = with_vanilla
                     ? cuzk_filecoin_request_add_vanilla(*r, vanilla[i].data, vanilla[i].size, &err)
                     : cuzk_filecoin_request_add_sector(*r, window.sector_ids[i], window.comm_r[i],
                                                        &err);
    }
    return status;
}

static cuzk_status call_filecoin_check(void)
{
    cuzk_filecoin_request *r = NULL;
    cuzk_status status = make_request(&r, true);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_check(ctx, r, &err);
    }
    cuzk_filecoin_request_destroy(r);
    return status;
}

static cuzk_status call_filecoin_verify(void)
{
    cuzk_filecoin_request *r = NULL;
    cuzk_vkey *vkey = NULL;
    cuzk_status status = make_request(&r, false);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_vkey_open_file(ctx, &vkey, r, window_vk, true, &err);
    }
    if (status == CUZK_OK) {
        status =
            cuzk_filecoin_verify(ctx, NULL, vkey, r, window.proof.data, window.proof.size, &err);
    }
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(r);
    return status;
}

static const struct {
    const char *name;
    cuzk_status (*call)(void);
} calls[] = {
    {"cuzk_ctx_create", call_ctx},
    {"cuzk_key_open_file", call_key},
    {"cuzk_prove", call_prove},
    {"cuzk_proof_write_files", call_write_files},
    {"cuzk_vkey_write_file", call_vkey},
    {"cuzk_setup_file", call_setup},
    {"cuzk_check_witness", call_check_witness},
    {"cuzk_inspect_file", call_inspect},
    {"cuzk_check_file", call_check},
    {"cuzk_filecoin_check", call_filecoin_check},
    {"cuzk_filecoin_verify", call_filecoin_verify},
};

static void test_each_allocation_fails(void **state)
{
    (void)state;
    unsigned total = 0, n_tolerated = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        bool done = false;
        for (unsigned n = 0; !done; n++) {
            assert_true(n < 1000);
            alloc_fail_at(n);
            cuzk_status status = calls[i].call();
            done = !alloc_fail_stop();
            total += !done;
            /* a mapping that fails is an error of its file */
            bool told = status == CUZK_E_MEMORY ||
                        (status == CUZK_E_FILE && strstr(err.text, "mapping") != NULL) ||
                        (status == CUZK_E_FILE && strstr(err.text, "Cannot allocate") != NULL);
            n_tolerated += !done && status == CUZK_OK;
            if (done ? status != CUZK_OK : status != CUZK_OK && !told) {
                fail_msg("%s, allocation %u: %s, \"%s\"", calls[i].name, n,
                         cuzk_status_name(status), err.text);
            }
            if (status != CUZK_OK) {
                assert_int_equal(n_files(), 2);
            }
            unlink(out_path);
            unlink(vk_path);
            assert_int_equal(n_files(), 2);
        }
    }
    assert_true(total > 60); /* or the wrappers are not linked */
    assert_true(n_tolerated < total / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
