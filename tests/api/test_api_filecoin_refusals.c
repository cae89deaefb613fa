/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is not proved: vanilla proofs that are wrong or of something else, damaged parameters, keys
 * of another circuit or of nobody; and work that is cancelled. */
#include "filecoin_prove_test.h"

/* Prove a changed job: it must fail, and leave no proof. */
static void refuse(const window *w, cuzk_filecoin_request *r, cuzk_status expected,
                   const char *part)
{
    cuzk_filecoin_proof *proof = NULL;
    assert_fails(cuzk_filecoin_prove(ctx, &proof, w->key, r, NULL, &err), expected, part);
    assert_null(proof);
    if (strstr(part, "the request is a") == NULL) { /* not about the key */
        assert_fails(cuzk_filecoin_check(ctx, r, &err), expected, part);
    } else {
        assert_ok(cuzk_filecoin_check(ctx, r, &err));
    }
}

/* A request of the case's fields and of the files named by `order`. */
static cuzk_filecoin_request *reordered(const window *w, const unsigned *order, unsigned n,
                                        bool with_sectors)
{
    cuzk_filecoin_request *r = NULL;
    if (with_sectors) {
        r = case_request(&w->c);
    } else {
        assert_ok(cuzk_filecoin_request_create(&r, w->c.kind, &err));
        for (unsigned i = 0; i < w->c.n_fields; i++) {
            assert_ok(cuzk_filecoin_request_set(r, w->c.fields[i].name, w->c.fields[i].text, &err));
        }
    }
    for (unsigned i = 0; i < n; i++) {
        const cuzk_fixture *f = &w->j.files[order[i]];
        assert_ok(cuzk_filecoin_request_add_vanilla(r, f->data, f->size, &err));
    }
    return r;
}

/* BC-081, BC-084: order and content of vanilla proofs against the request. */
static void test_wrong_vanilla_proofs(void **state)
{
    (void)state;
    static const unsigned in_order[] = {0, 1, 2}, swapped[] = {1, 0, 2}, twice[] = {0, 0, 2};
    window w = window_open();
    cuzk_filecoin_request *r = reordered(&w, in_order, 0, false);
    refuse(&w, r, CUZK_E_ARGUMENT, "Window PoSt: no vanilla proof is given");
    cuzk_filecoin_request_destroy(r);
    r = reordered(&w, in_order, 2, true);
    refuse(&w, r, CUZK_E_MISMATCH, "about 3 sectors, 2 vanilla proofs are given");
    cuzk_filecoin_request_destroy(r);
    r = reordered(&w, swapped, 3, true);
    refuse(&w, r, CUZK_E_MISMATCH,
           "partition 0: sector 551219 (place 0): the sector's number is 551219, expected 271895");
    cuzk_filecoin_request_destroy(r);
    r = reordered(&w, twice, 3, true);
    refuse(&w, r, CUZK_E_MISMATCH, "partition 0: sector 271895 (place 1)");
    cuzk_filecoin_request_destroy(r);
    /* comm_c changed, in the last partition; a proof cut off */
    uint8_t *last = &w.j.files[2].data[w.j.files[2].size - 40];
    *last ^= 1;
    r = reordered(&w, in_order, 3, false);
    refuse(&w, r, CUZK_E_MISMATCH, "partition 1: sector ");
    cuzk_filecoin_request_destroy(r);
    *last ^= 1;
    w.j.files[2].size -= 1;
    r = reordered(&w, in_order, 3, false);
    refuse(&w, r, CUZK_E_TRUNCATED, "partition 1: vanilla proof of sector 0");
    cuzk_filecoin_request_destroy(r);
    w.j.files[2].size += 1;
    window_close(&w);
}

/* BC-084: a parameter file with a point that is a point, but a wrong one, makes no proof; one that
 * is none is found when the key is opened. */
static void test_damaged_parameters(void **state)
{
    (void)state;
    enum { FIRST_H = 868 + 96 * 23 + 4, POINT_BYTES = 96 };
    window w = window_open();
    cuzk_filecoin_key_info info;
    cuzk_filecoin_key_get_info(&info, w.key);
    char path[1024];
    snprintf(path, sizeof path, "%s/damaged.params", folder);
    uint8_t *bytes = malloc((size_t)info.n_bytes);
    FILE *f = fopen(info.path, "rb");
    assert_int_equal(fread(bytes, 1, (size_t)info.n_bytes, f), info.n_bytes);
    fclose(f);
    uint8_t first[POINT_BYTES];
    memcpy(first, bytes + FIRST_H, POINT_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        if (i == 0) { /* two points exchanged */
            memcpy(bytes + FIRST_H, bytes + FIRST_H + POINT_BYTES, POINT_BYTES);
            memcpy(bytes + FIRST_H + POINT_BYTES, first, POINT_BYTES);
        } else {
            bytes[FIRST_H + POINT_BYTES - 1] ^= 1;
        }
        f = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, (size_t)info.n_bytes, f), info.n_bytes);
        fclose(f);
        cuzk_filecoin_key *key = NULL;
        cuzk_filecoin_key_options options = CUZK_FILECOIN_KEY_OPTIONS_INIT;
        options.params_path = path;
        options.allow_test_key = true;
        if (i == 1) {
            assert_fails(cuzk_filecoin_key_open(ctx, &key, w.j.request, &options, &err),
                         CUZK_E_FORMAT, "array h: point 0");
            continue;
        }
        cuzk_filecoin_proof *proof = NULL;
        job j = job_open(&w.c);
        job_add_files(&j);
        assert_ok(cuzk_filecoin_key_open(ctx, &key, j.request, &options, &err));
        assert_fails(cuzk_filecoin_prove(ctx, &proof, key, j.request, NULL, &err),
                     CUZK_E_INVALID_PROOF, "partition 0 of 2: ");
        assert_null(proof);
        cuzk_filecoin_key_close(key);
        job_close(&j);
    }
    free(bytes);
    window_close(&w);
}

static void test_wrong_keys(void **state)
{
    (void)state;
    window w = window_open();
    cuzk_filecoin_key *key = NULL;
    cuzk_filecoin_key_options options = CUZK_FILECOIN_KEY_OPTIONS_INIT;
    cuzk_filecoin_key_info info;
    cuzk_filecoin_key_get_info(&info, w.key);
    options.params_path = info.path;
    assert_fails(cuzk_filecoin_key_open(ctx, &key, w.j.request, &options, &err), CUZK_E_UNSUPPORTED,
                 "trusted setup");
    options.params_path = NULL; /* the network's name only, without leave for test keys */
    assert_fails(cuzk_filecoin_key_open(ctx, &key, w.j.request, &options, &err), CUZK_E_FILE,
                 "99d259380541dc529fb0099096b0.params");
    char path[1024];
    snprintf(path, sizeof path, "%s/empty.params", folder);
    fclose(fopen(path, "wb"));
    options.params_path = path;
    options.allow_test_key = true;
    assert_fails(cuzk_filecoin_key_open(ctx, &key, w.j.request, &options, &err), CUZK_E_TRUNCATED,
                 "the file is empty");
    assert_null(key);
    /* a key of another circuit */
    filecoin_case winning = case_open("winning-2k-5");
    job j = job_open(&winning);
    job_add_files(&j);
    refuse(&w, j.request, CUZK_E_MISMATCH,
           "the key is for a Window PoSt of 2KiB, the request is a Winning PoSt of 2KiB");
    options.params_path = info.path;
    assert_fails(cuzk_filecoin_key_open(ctx, &key, j.request, &options, &err), CUZK_E_MISMATCH,
                 "not of the circuit winning-2k");
    job_close(&j);
    case_close(&winning);
    window_close(&w);
}

/* What is said about a PoRep's sector must agree with its vanilla proof; found before any key. */
static void test_porep_fields_against_vanilla(void **state)
{
    (void)state;
    static const struct {
        const char *field, *text, *part;
    } wrong[] = {
        {"registered_proof", "6", "StackedDrg2KiBV1_1, which is not number 6"},
        {"sector_size", "8MiB", "sector_size is 8388608 bytes"},
        {"comm_d", NULL, "comm_d of the vanilla proof is 45dd923edf"},
        {"comm_r", NULL, "comm_r of the vanilla proof is 5fe246e936"},
        {"seed", NULL, "seed of the vanilla proof is 072db15931"},
        {"miner_id", "1002", "replica_id of the vanilla proof is a68ffbce38"},
        {"sector_number", "568146", "it is of another sector"},
        {"ticket", NULL, "ticket of the vanilla proof is 461457624a"},
    };
    window w = window_open();
    filecoin_case c = case_open("porep-2k-1");
    job right = job_open(&c);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cuzk_filecoin_request *r = NULL;
        assert_ok(cuzk_filecoin_request_create(&r, c.kind, &err));
        bool set = false;
        for (unsigned k = 0; k < c.n_fields; k++) {
            char text[CASE_TEXT_MAX];
            snprintf(text, sizeof text, "%s", c.fields[k].text);
            if (strcmp(c.fields[k].name, wrong[i].field) == 0) {
                set = true;
                if (wrong[i].text != NULL) {
                    snprintf(text, sizeof text, "%s", wrong[i].text);
                } else {
                    text[10] = text[10] == '0' ? '1' : '0';
                }
            }
            assert_ok(cuzk_filecoin_request_set(r, c.fields[k].name, text, &err));
        }
        if (!set) {
            assert_ok(cuzk_filecoin_request_set(r, wrong[i].field, wrong[i].text, &err));
        }
        assert_ok(
            cuzk_filecoin_request_add_vanilla(r, right.files[0].data, right.files[0].size, &err));
        refuse(&w, r, CUZK_E_MISMATCH, wrong[i].part);
        cuzk_filecoin_request_destroy(r);
    }
    /* everything right: only the key is not */
    cuzk_filecoin_request *r = case_request(&c);
    refuse(&w, r, CUZK_E_ARGUMENT, "PoRep: no vanilla proof is given");
    assert_ok(cuzk_filecoin_request_add_vanilla(r, right.files[0].data, right.files[0].size, &err));
    refuse(&w, r, CUZK_E_MISMATCH, "the request is a PoRep of 2KiB");
    assert_fails(
        cuzk_filecoin_request_add_vanilla(r, right.files[0].data, right.files[0].size, &err),
        CUZK_E_ARGUMENT, "a second one");
    cuzk_filecoin_request_destroy(r);
    job_close(&right);
    case_close(&c);
    window_close(&w);
}

static bool cancel_at(void *user, const char *stage, double done)
{
    (void)done;
    return strcmp(stage, user) != 0;
}

static void test_cancel(void **state)
{
    (void)state;
    window w = window_open();
    job_add_files(&w.j);
    static char *const stages[] = {"vanilla", "witness", "H"};
    for (unsigned i = 0; i < 3; i++) {
        cuzk_filecoin_proof *proof = NULL;
        cuzk_filecoin_prove_options options = CUZK_FILECOIN_PROVE_OPTIONS_INIT;
        options.progress = cancel_at;
        options.progress_user = stages[i];
        assert_fails(cuzk_filecoin_prove(ctx, &proof, w.key, w.j.request, &options, &err),
                     CUZK_E_CANCELLED, stages[i]);
        assert_null(proof);
    }
    window_close(&w);
}

static void test_setup_refusals(void **state)
{
    (void)state;
    cuzk_filecoin_setup_options options = CUZK_FILECOIN_SETUP_OPTIONS_INIT;
    assert_fails(cuzk_filecoin_setup(ctx, NULL, CUZK_FILECOIN_WINDOW, "33GiB", NULL, &err),
                 CUZK_E_ARGUMENT, "\"33GiB\" is not a sector size");
    assert_fails(cuzk_filecoin_setup(ctx, NULL, CUZK_FILECOIN_WINDOW, "1KiB", NULL, &err),
                 CUZK_E_UNSUPPORTED, "no Window PoSt for sectors of 1KiB");
    assert_fails(cuzk_filecoin_setup(ctx, NULL, (cuzk_filecoin_kind)0, "2KiB", NULL, &err),
                 CUZK_E_ARGUMENT, "kind 0");
    options.folder = "/proc/nowhere";
    assert_fails(cuzk_filecoin_setup(ctx, NULL, CUZK_FILECOIN_WINDOW, "2KiB", &options, &err),
                 CUZK_E_FILE, "making folder \"/proc/nowhere\"");
    options.folder = NULL;
    options.replace = true;
    options.trapdoor = (cuzk_bytes){"{}", 2};
    assert_fails(cuzk_filecoin_setup(ctx, NULL, CUZK_FILECOIN_WINDOW, "2KiB", &options, &err),
                 CUZK_E_FORMAT, "reading the trapdoor: \"tau\" is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_vanilla_proofs),
        cmocka_unit_test(test_damaged_parameters),
        cmocka_unit_test(test_wrong_keys),
        cmocka_unit_test(test_porep_fields_against_vanilla),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_setup_refusals),
    };
    return cmocka_run_group_tests_name("api_filecoin_refusals", tests, setup, teardown);
}
