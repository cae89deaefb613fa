/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's proofs from vanilla proofs: with the golden trapdoor the parameters are the golden
 * ones, and with fixed r and s so are the proofs, byte for byte. The PoSt kinds always; PoRep and
 * updates, whose parameters take half a minute, in the nightly run. */
#include "base/sha256.h"
#include "filecoin_prove_test.h"

enum { MARK_BYTES = 64 };

/* A file of the folder without its mark against the golden digest. */
static void assert_golden_file(const char *path, const filecoin_case *c, const char *digest_field)
{
    char expected[CASE_TEXT_MAX];
    char found[65];
    uint8_t digest[32];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    uint8_t *bytes = malloc((size_t)size);
    rewind(f);
    assert_int_equal(fread(bytes, 1, (size_t)size, f), size);
    fclose(f);
    assert_true(size > MARK_BYTES);
    assert_memory_equal(bytes + size - MARK_BYTES, "\ncuzk test key", 14);
    cuzk_sha256_digest(digest, bytes, (size_t)size - MARK_BYTES);
    free(bytes);
    for (unsigned i = 0; i < 32; i++) {
        snprintf(found + 2 * i, 3, "%02x", digest[i]);
    }
    case_text(expected, (const char *)c->json.data, digest_field);
    assert_string_equal(found, expected);
}

static void assert_golden_proof(const filecoin_case *c, const cuzk_filecoin_key *key)
{
    uint8_t rs[CASE_PARTITIONS_MAX * 64];
    unsigned n = (unsigned)(c->proof.size / PROOF_BYTES);
    case_hex(rs, sizeof rs, CASE_RS);
    job j = job_open(c);
    job_add_files(&j);
    cuzk_filecoin_proof *proof = NULL;
    assert_fails(cuzk_filecoin_prove_with_fixed_rs_for_tests(ctx, &proof, key, j.request, rs, n - 1,
                                                             NULL, &err),
                 CUZK_E_ARGUMENT, "r and s of");
    assert_ok(cuzk_filecoin_prove_with_fixed_rs_for_tests(ctx, &proof, key, j.request, rs, n, NULL,
                                                          &err));
    cuzk_bytes bytes = cuzk_filecoin_proof_bytes(proof);
    assert_int_equal(bytes.n_bytes, c->proof.size);
    assert_memory_equal(bytes.data, c->proof.data, c->proof.size);
    cuzk_filecoin_proof_destroy(proof);
    job_close(&j);
}

/* Cases of one kind, under parameters that are made first and removed again. */
static void golden_cases(const char *sector_size, const char *const *names, unsigned n)
{
    cuzk_filecoin_key *key = NULL;
    char vk_path[1024];
    for (unsigned i = 0; i < n; i++) {
        filecoin_case c = case_open(names[i]);
        if (i == 0) {
            assert_true(make_parameters(c.kind, sector_size));
            assert_false(make_parameters(c.kind, sector_size));
            job j = job_open(&c);
            job_add_files(&j);
            key = open_key(j.request);
            cuzk_filecoin_key_info info;
            cuzk_filecoin_key_get_info(&info, key);
            assert_true(info.is_test_key);
            snprintf(vk_path, sizeof vk_path, "%.*s.vk", (int)(strlen(info.path) - 7), info.path);
            assert_golden_file(info.path, &c, "params_sha256");
            assert_golden_file(vk_path, &c, "vk_sha256");
            job_close(&j);
        }
        assert_golden_proof(&c, key);
        case_close(&c);
    }
    cuzk_filecoin_key_close(key);
}

static void test_golden_post(void **state)
{
    (void)state;
    static const char *const of_window[] = {"window-2k-1sectors-3", "vector-window-2k",
                                            "window-2k-3sectors-4"};
    static const char *const winning[] = {"winning-2k-5", "vector-winning-2k"};
    golden_cases("2KiB", of_window, 3);
    golden_cases("2KiB", winning, getenv("CUZK_NIGHTLY") != NULL ? 2 : 1);
}

static void test_golden_porep_and_update(void **state)
{
    (void)state;
    static const char *const porep[] = {"porep-2k-1", "porep-2k-synth-20", "porep-2k-v1-21",
                                        "vector-porep-2k"};
    static const char *const update[] = {"update-2k-6", "vector-update-2k"};
    static const char *const porep_8m[] = {"porep-8m-2"};
    if (getenv("CUZK_NIGHTLY") == NULL) {
        print_message("skipped: CUZK_NIGHTLY is not set\n");
        skip();
    }
    golden_cases("2KiB", update, 2);
    empty_folder();
    golden_cases("2KiB", porep, 4);
    empty_folder();
    if (cuzk_test_fixture_exists("cases/porep-8m-2/proof.bin")) {
        golden_cases("8MiB", porep_8m, 1);
        empty_folder();
    } else {
        print_message("skipped: no case porep-8m-2\n");
    }
}

static void test_fresh_proofs(void **state)
{
    (void)state;
    static const cuzk_filecoin_form forms[] = {CUZK_FILECOIN_RAW, CUZK_FILECOIN_HEX,
                                               CUZK_FILECOIN_BASE64, CUZK_FILECOIN_JSON};
    window w = window_open();
    job_add_files(&w.j);
    cuzk_filecoin_request *chain = case_request(&w.c);
    cuzk_filecoin_proof *proofs[2];
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_filecoin_vkey_open_file(ctx, &vkey, chain, NULL, true, &err));
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(cuzk_filecoin_prove(ctx, &proofs[i], w.key, w.j.request, NULL, &err));
        cuzk_bytes b = cuzk_filecoin_proof_bytes(proofs[i]);
        assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, chain, b.data, b.n_bytes, &err));
    }
    cuzk_bytes a = cuzk_filecoin_proof_bytes(proofs[0]), b = cuzk_filecoin_proof_bytes(proofs[1]);
    assert_int_equal(a.n_bytes, 2 * PROOF_BYTES);
    assert_true(memcmp(a.data, b.data, a.n_bytes) != 0);
    cuzk_prove_stats stats;
    cuzk_filecoin_proof_get_stats(&stats, proofs[0]);
    assert_string_equal(stats.stage[0], "vanilla");
    assert_string_equal(stats.stage[1], "witness");
    assert_true(stats.n_stages > 4 && stats.n_bits + stats.n_values == 22128 + 23);
    char path[1024];
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/proof-%u", folder, i);
        assert_ok(cuzk_filecoin_proof_write_file(proofs[0], path, forms[i], &err));
        char text[2048];
        FILE *f = fopen(path, "rb");
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, chain, text, n, &err));
    }
    assert_fails(cuzk_filecoin_proof_write_file(proofs[0], path, (cuzk_filecoin_form)4, &err),
                 CUZK_E_ARGUMENT, "form 4");
    cuzk_filecoin_proof_destroy(proofs[0]);
    cuzk_filecoin_proof_destroy(proofs[1]);
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(chain);
    window_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_post),
        cmocka_unit_test(test_golden_porep_and_update),
        cmocka_unit_test(test_fresh_proofs),
    };
    return cmocka_run_group_tests_name("api_filecoin_prove", tests, setup, teardown);
}
