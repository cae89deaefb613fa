/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin's proofs from chain-side data: every golden proof verifies; any single bit of a proof,
 * any field, any sector that is changed makes it invalid; requests that are not whole are refused.
 */
#include "filecoin_case.h"

static const char *const cases[] = {
    "porep-2k-1",       "porep-2k-synth-20", "porep-2k-v1-21",       "porep-8m-2",
    "vector-porep-2k",  "update-2k-6",       "vector-update-2k",     "window-2k-1sectors-3",
    "vector-window-2k", "winning-2k-5",      "window-2k-3sectors-4", "vector-winning-2k"};
enum { N_CASES = sizeof cases / sizeof cases[0], PROOF_BYTES = 192 };

static cuzk_error err;
static cuzk_ctx *ctx;

static int setup(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    return cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    cuzk_ctx_destroy(ctx);
    return 0;
}

static cuzk_vkey *open_vkey(const filecoin_case *c, const cuzk_filecoin_request *r)
{
    cuzk_vkey *vkey = NULL;
    char *path = case_vk_path(c);
    assert_ok(cuzk_filecoin_vkey_open_file(ctx, &vkey, r, path, true, &err));
    free(path);
    return vkey;
}

static bool have(const char *name)
{
    char path[128];
    bool found = cuzk_test_fixture_exists(case_path(path, name, "proof.bin"));
    if (!found) {
        print_message("skipped: no case %s\n", name);
    }
    return found;
}

/* Not valid, and said why: the equation, or what the fields alone make impossible. */
static void assert_refused(cuzk_status status)
{
    assert_true(status == CUZK_E_INVALID_PROOF || status == CUZK_E_FORMAT ||
                status == CUZK_E_MISMATCH || status == CUZK_E_ARGUMENT);
    assert_true(strlen(err.text) > 10);
}

static void verify_changed(const filecoin_case *c, const cuzk_vkey *vkey, const char *what)
{
    cuzk_filecoin_request *r = NULL;
    cuzk_status status = CUZK_OK;
    assert_ok(cuzk_filecoin_request_create(&r, c->kind, &err));
    for (unsigned i = 0; i < c->n_fields && status == CUZK_OK; i++) {
        status = cuzk_filecoin_request_set(r, c->fields[i].name, c->fields[i].text, &err);
    }
    for (unsigned i = 0; i < c->n_sectors && status == CUZK_OK; i++) {
        status = cuzk_filecoin_request_add_sector(r, c->sector_ids[i], c->comm_r[i], &err);
    }
    if (status == CUZK_OK) {
        status = cuzk_filecoin_verify(ctx, NULL, vkey, r, c->proof.data, c->proof.size, &err);
    }
    if (status == CUZK_OK) {
        fail_msg("%s: valid although %s was changed", c->name, what);
    }
    assert_refused(status);
    cuzk_filecoin_request_destroy(r);
}

/* Every field: its first digit, and its last. The two highest bits of randomness are not looked at;
 * the digits that are changed here do not hold them. */
static void change_fields(filecoin_case *c, const cuzk_vkey *vkey)
{
    for (unsigned i = 0; i < c->n_fields; i++) {
        char *text = c->fields[i].text;
        size_t n = strlen(text);
        for (unsigned end = 0; end < 2; end++) {
            char *digit = &text[end == 0 ? 0 : n - 1];
            char old = *digit;
            *digit = old == '1' ? '2' : '1';
            verify_changed(c, vkey, c->fields[i].name);
            *digit = old;
        }
    }
    for (unsigned i = 0; i < c->n_sectors; i++) {
        c->sector_ids[i] ^= 1;
        verify_changed(c, vkey, "a sector's number");
        c->sector_ids[i] ^= 1;
        c->comm_r[i][i] ^= 1;
        verify_changed(c, vkey, "a sector's comm_r");
        c->comm_r[i][i] ^= 1;
    }
    if (c->n_sectors > 1) {
        c->n_sectors--;
        verify_changed(c, vkey, "the number of sectors");
        c->n_sectors++;
    }
}

static void test_golden_proofs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_CASES; i++) {
        if (!have(cases[i])) {
            continue;
        }
        filecoin_case c = case_open(cases[i]);
        cuzk_filecoin_request *r = case_request(&c);
        cuzk_vkey *vkey = open_vkey(&c, r);
        unsigned n_partitions = 0;
        assert_ok(cuzk_filecoin_request_partitions(&n_partitions, r, &err));
        assert_int_equal(c.proof.size, PROOF_BYTES * n_partitions);
        assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, c.proof.data, c.proof.size, &err));
        change_fields(&c, vkey);
        cuzk_vkey_close(vkey);
        cuzk_filecoin_request_destroy(r);
        case_close(&c);
    }
}

static void test_every_byte_of_a_proof(void **state)
{
    (void)state;
    filecoin_case c = case_open("window-2k-3sectors-4");
    cuzk_filecoin_request *r = case_request(&c);
    cuzk_vkey *vkey = open_vkey(&c, r);
    assert_int_equal(c.proof.size, 2 * PROOF_BYTES);
    for (size_t i = 0; i < c.proof.size; i++) {
        unsigned first_invalid = 99;
        char place[48];
        snprintf(place, sizeof place, "partition %zu of 2: ", i / PROOF_BYTES);
        c.proof.data[i] ^= (uint8_t)(1u << i % 8);
        assert_fails(
            cuzk_filecoin_verify(ctx, &first_invalid, vkey, r, c.proof.data, c.proof.size, &err),
            CUZK_E_INVALID_PROOF, place);
        assert_int_equal(first_invalid, i / PROOF_BYTES);
        c.proof.data[i] ^= (uint8_t)(1u << i % 8);
    }
    /* partitions exchanged, one missing, one too many */
    uint8_t swapped[3 * PROOF_BYTES];
    memcpy(swapped, c.proof.data + PROOF_BYTES, PROOF_BYTES);
    memcpy(swapped + PROOF_BYTES, c.proof.data, 2 * PROOF_BYTES);
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, swapped, 2 * PROOF_BYTES, &err),
                 CUZK_E_INVALID_PROOF, "partition 0 of 2: the proof does not verify");
    /* the first is told, also where the second is found to be no point before it is checked */
    unsigned first_invalid = 99;
    swapped[PROOF_BYTES + 20] ^= 1;
    assert_fails(cuzk_filecoin_verify(ctx, &first_invalid, vkey, r, swapped, 2 * PROOF_BYTES, &err),
                 CUZK_E_INVALID_PROOF, "partition 0 of 2: the proof does not verify");
    assert_int_equal(first_invalid, 0);
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, swapped, 3 * PROOF_BYTES, &err),
                 CUZK_E_MISMATCH, "576 bytes, expected 384: 2 partitions");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, swapped, PROOF_BYTES, &err),
                 CUZK_E_MISMATCH, "192 bytes, expected 384");
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(r);
    case_close(&c);
}

static void test_wrong_keys(void **state)
{
    (void)state;
    filecoin_case window = case_open("window-2k-1sectors-3");
    filecoin_case winning = case_open("winning-2k-5");
    cuzk_filecoin_request *r = case_request(&window);
    cuzk_filecoin_request *r_winning = case_request(&winning);
    cuzk_vkey *vkey = NULL;
    char *path = case_vk_path(&winning);
    char *own = case_vk_path(&window);
    assert_fails(
        cuzk_filecoin_vkey_open_file(ctx, &vkey, r, path, true, &err), CUZK_E_MISMATCH,
        "not of the circuit wpost-2k: it has 132 public values over bls12381, expected 22");
    assert_fails(cuzk_filecoin_vkey_open_file(ctx, &vkey, r, own, false, &err), CUZK_E_UNSUPPORTED,
                 "trusted setup");
    assert_fails(cuzk_filecoin_vkey_open_file(ctx, &vkey, r, "/nowhere/at/all", true, &err),
                 CUZK_E_FILE, "/nowhere/at/all");
    assert_null(vkey);
    vkey = open_vkey(&winning, r_winning);
    assert_fails(
        cuzk_filecoin_verify(ctx, NULL, vkey, r, window.proof.data, window.proof.size, &err),
        CUZK_E_MISMATCH, "has 132 public values, a Window PoSt for 2KiB has 22");
    free(path);
    free(own);
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(r);
    cuzk_filecoin_request_destroy(r_winning);
    case_close(&window);
    case_close(&winning);
}

static void test_proof_texts(void **state)
{
    (void)state;
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    filecoin_case c = case_open("winning-2k-5");
    cuzk_filecoin_request *r = case_request(&c);
    cuzk_vkey *vkey = open_vkey(&c, r);
    char hex[2 * PROOF_BYTES + 3];
    char b64[PROOF_BYTES / 3 * 4 + 1];
    char json[512];
    char *p = b64;
    for (size_t i = 0; i < PROOF_BYTES; i++) {
        snprintf(hex + 2 * i, 3, i % 2 == 0 ? "%02x" : "%02X", c.proof.data[i]);
    }
    for (size_t i = 0; i < PROOF_BYTES; i += 3) {
        uint32_t bits = (uint32_t)c.proof.data[i] << 16 | (uint32_t)c.proof.data[i + 1] << 8 |
                        c.proof.data[i + 2];
        for (int k = 18; k >= 0; k -= 6) {
            *p++ = base64[bits >> k & 63];
        }
    }
    *p = '\0';
    strcat(hex, "\n");
    snprintf(json, sizeof json, " {\"a\": [{\"proof\": 1}], \"proof\": \"%s\"}\n", b64);
    assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, hex, strlen(hex), &err));
    assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, b64, strlen(b64), &err));
    assert_ok(cuzk_filecoin_verify(ctx, NULL, vkey, r, json, strlen(json), &err));
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, hex, strlen(hex) - 2, &err),
                 CUZK_E_TRUNCATED, "reading the proof: an odd number of hexadecimal digits: 383");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, b64, strlen(b64) - 1, &err),
                 CUZK_E_TRUNCATED, "255 characters of base64");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, b64, strlen(b64) - 4, &err),
                 CUZK_E_MISMATCH, "189 bytes, expected 192");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, "{\"prof\": 1}", 11, &err), CUZK_E_FORMAT,
                 "no member \"proof\"");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, "{\"proof\": 1}", 12, &err),
                 CUZK_E_FORMAT, "not a string");
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, "", 0, &err), CUZK_E_MISMATCH, "0 bytes");
    b64[17] = '-';
    assert_fails(cuzk_filecoin_verify(ctx, NULL, vkey, r, b64, strlen(b64), &err), CUZK_E_FORMAT,
                 "offset 17: byte 0x2d is neither");
    cuzk_vkey_close(vkey);
    cuzk_filecoin_request_destroy(r);
    case_close(&c);
}

/* One call on a fresh request of a kind. */
static void assert_json_fails(cuzk_filecoin_kind kind, const char *json, cuzk_status expected,
                              const char *part)
{
    cuzk_filecoin_request *r = NULL;
    unsigned n = 0;
    assert_ok(cuzk_filecoin_request_create(&r, kind, &err));
    memset(&err, 0xee, sizeof err);
    cuzk_status status = cuzk_filecoin_request_read_json(r, json, strlen(json), &err);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_request_partitions(&n, r, &err);
    }
    if (status != expected || strstr(err.text, part) == NULL) {
        fail_msg("%s: %s, expected %s with \"%s\": %s", json, cuzk_status_name(status),
                 cuzk_status_name(expected), part, err.text);
    }
    cuzk_filecoin_request_destroy(r);
}

#define D32 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define BIG "00000000000000000000000000000000000000000000000000000000000000ff"

static void test_requests(void **state)
{
    (void)state;
    enum { POREP = 1, UPDATE, WINDOW, WINNING };
    static const struct {
        int kind;
        const char *json;
        cuzk_status status;
        const char *part;
    } bad[] = {
        {POREP, "{}", CUZK_E_ARGUMENT, "PoRep: the field registered_proof is missing"},
        {POREP, "[]", CUZK_E_FORMAT, "expected an object, found"},
        {POREP, "{\"registered_proof\": 5", CUZK_E_TRUNCATED, ""},
        {POREP, "{\"registered_proof\": 20}", CUZK_E_ARGUMENT, "registered proof 20"},
        {POREP, "{\"registered_proof\": -1}", CUZK_E_FORMAT, "\"-1\" is not a decimal number"},
        {POREP, "{\"registered_proof\": 18446744073709551616}", CUZK_E_FORMAT, "below 2^64"},
        {POREP, "{\"registered_proof\": [5]}", CUZK_E_FORMAT, "expected a short string"},
        {POREP, "{\"registered_proof\": 5, \"registered_proof\": 5}", CUZK_E_ARGUMENT,
         "given twice"},
        {POREP, "{\"registered_prof\": 5}", CUZK_E_FORMAT, "no field \"registered_prof\""},
        {POREP, "{\"randomness\": 5}", CUZK_E_FORMAT, "a PoRep has no field \"randomness\""},
        {POREP, "{\"registered_proof\": 5, \"sector_size\": \"32GiB\"}", CUZK_E_MISMATCH,
         "registered proof 5 is StackedDrg2KiBV1_1, sector_size is 32GiB"},
        {POREP, "{\"registered_proof\": 8, \"sector_size\": \"4KiB\"}", CUZK_E_MISMATCH, "is 4KiB"},
        {POREP, "{\"sector_size\": \"33GiB\"}", CUZK_E_FORMAT, "\"33GiB\" is not a sector size"},
        {POREP, "{\"registered_proof\": 5, \"comm_r\": \"" D32 "\"}", CUZK_E_ARGUMENT, "comm_d"},
        {POREP, "{\"registered_proof\": 5, \"comm_r\": \"" BIG "\"}", CUZK_E_FORMAT,
         "comm_r is not below the field's order"},
        /* BC-076 */
        {POREP,
         "{\"comm_r\": \"bagboea4b5abcaahvgjtmdgmxbaa2qegphf7wu3ldqsakzcmd3ifcx6mdvwrf35ty\"}",
         CUZK_E_FORMAT, "it looks like a CID"},
        {POREP,
         "{\"comm_r\": \"0182e20381e80220abababababababababababababababababababababababababababab"
         "abababab\"}",
         CUZK_E_FORMAT, "it looks like a CID"},
        {POREP, "{\"comm_r\": \"00\"}", CUZK_E_FORMAT, "comm_r: \"00\" is not 64 hexadecimal"},
        {POREP, "{\"miner_id\": \"f1abc\"}", CUZK_E_FORMAT, "miner_id: \"f1abc\""},
        {POREP,
         "{\"registered_proof\": 5, \"miner_id\": \"t01000\", \"sector_number\": 1, \"ticket\": "
         "\"" D32 "\", \"comm_r\": \"" D32 "\", \"comm_d\": \"0x" D32 "\"}",
         CUZK_E_ARGUMENT, "the field seed is missing"},
        {UPDATE, "{\"registered_proof\": 0, \"comm_r_old\": \"" D32 "\"}", CUZK_E_ARGUMENT,
         "comm_r_new is missing"},
        {WINDOW, "{\"registered_proof\": 10, \"randomness\": \"" D32 "\"}", CUZK_E_ARGUMENT,
         "Window PoSt: no sector is given"},
        {WINDOW, "{\"registered_proof\": 0}", CUZK_E_ARGUMENT, "expected 5 to 14"},
        {WINDOW, "{\"sectors\": {}}", CUZK_E_FORMAT, "sectors: expected an array"},
        {WINDOW, "{\"sectors\": [1]}", CUZK_E_FORMAT, "element 0: expected an object"},
        {WINDOW, "{\"sectors\": [{\"sector_number\": 1}]}", CUZK_E_FORMAT,
         "sectors: element 0: comm_r is missing"},
        {WINDOW, "{\"sectors\": [{\"sector\": 1}]}", CUZK_E_FORMAT, "\"sector\" is not a member"},
        {WINDOW, "{\"sectors\": [], \"sectors\": []}", CUZK_E_FORMAT, "given twice"},
        {WINDOW,
         "{\"registered_proof\": 10, \"randomness\": \"" D32
         "\", \"sectors\": [{\"sector_number\": 1, \"comm_r\": \"" BIG "\"}]}",
         CUZK_E_FORMAT, "sectors: element 0: comm_r is not below"},
        {WINDOW,
         "{\"registered_proof\": 10, \"randomness\": \"" D32 "\", \"partition_index\": 4294967296}",
         CUZK_E_FORMAT, "partition_index: 4294967296"},
        {WINNING,
         "{\"registered_proof\": 0, \"randomness\": \"" D32
         "\", \"sector_number\": 1, \"comm_r\": \"" D32
         "\", \"sectors\": [{\"sector_number\": 1, \"comm_r\": \"" D32 "\"}]}",
         CUZK_E_ARGUMENT, "a list of sectors and comm_r of a single one"},
        {WINNING,
         "{\"registered_proof\": 0, \"randomness\": \"" D32
         "\", \"sectors\": [{\"sector_number\": 1, \"comm_r\": \"" D32 "\"}, {\"comm_r\": \"" D32
         "\", \"sector_number\": 1}]}",
         CUZK_E_MISMATCH, "about one sector, 2 are given"},
        {WINNING, "{\"partition_index\": 1}", CUZK_E_FORMAT, "no field"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_json_fails((cuzk_filecoin_kind)bad[i].kind, bad[i].json, bad[i].status, bad[i].part);
    }
    cuzk_filecoin_request *r = NULL;
    uint8_t digest[32] = {1};
    unsigned n = 0;
    assert_fails(cuzk_filecoin_request_create(&r, (cuzk_filecoin_kind)5, &err), CUZK_E_ARGUMENT,
                 "kind 5");
    assert_null(r);
    assert_ok(cuzk_filecoin_request_create(&r, CUZK_FILECOIN_POREP, &err));
    assert_fails(cuzk_filecoin_request_add_sector(r, 1, digest, &err), CUZK_E_ARGUMENT,
                 "no list of sectors");
    assert_fails(cuzk_filecoin_request_set(r, "randomness", D32, &err), CUZK_E_ARGUMENT,
                 "no field \"randomness\"");
    assert_fails(cuzk_filecoin_request_set(r, NULL, D32, &err), CUZK_E_ARGUMENT, "NULL");
    cuzk_filecoin_request_destroy(r);

    /* BC-083: partitions of a deadline: 2349 sectors each at 32GiB */
    assert_ok(cuzk_filecoin_request_create(&r, CUZK_FILECOIN_WINDOW, &err));
    assert_ok(cuzk_filecoin_request_set(r, "registered_proof", "13", &err));
    assert_ok(cuzk_filecoin_request_set(r, "sector_size", "34359738368", &err));
    assert_ok(cuzk_filecoin_request_set(r, "randomness", "0X" BIG, &err));
    for (unsigned i = 0; i < 2350; i++) {
        assert_ok(cuzk_filecoin_request_add_sector(r, i, digest, &err));
        assert_ok(cuzk_filecoin_request_partitions(&n, r, &err));
        assert_int_equal(n, i < 2349 ? 1 : 2);
    }
    cuzk_filecoin_request_destroy(r);
    cuzk_filecoin_request_destroy(NULL);
}

/* BC-086: a proof is as long as its partitions, whatever the size. */
static void test_lengths(void **state)
{
    (void)state;
    static const struct {
        cuzk_filecoin_kind kind;
        const char *number;
        unsigned n_partitions;
    } lengths[] = {
        {CUZK_FILECOIN_POREP, "5", 1},   {CUZK_FILECOIN_POREP, "6", 1},
        {CUZK_FILECOIN_POREP, "7", 1},   {CUZK_FILECOIN_POREP, "8", 10},
        {CUZK_FILECOIN_POREP, "9", 10},  {CUZK_FILECOIN_POREP, "13", 10},
        {CUZK_FILECOIN_POREP, "15", 13}, {CUZK_FILECOIN_POREP, "18", 126},
        {CUZK_FILECOIN_UPDATE, "0", 1},  {CUZK_FILECOIN_UPDATE, "1", 4},
        {CUZK_FILECOIN_UPDATE, "2", 16}, {CUZK_FILECOIN_UPDATE, "3", 16},
        {CUZK_FILECOIN_UPDATE, "4", 16}, {CUZK_FILECOIN_WINDOW, "8", 1},
        {CUZK_FILECOIN_WINNING, "3", 1},
    };
    static const char *const digests[] = {"ticket",     "seed",       "comm_d",     "comm_r",
                                          "comm_r_old", "comm_r_new", "comm_d_new", "randomness"};
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        cuzk_filecoin_request *r = NULL;
        unsigned n = 0;
        assert_ok(cuzk_filecoin_request_create(&r, lengths[i].kind, &err));
        assert_ok(cuzk_filecoin_request_set(r, "registered_proof", lengths[i].number, &err));
        assert_ok(cuzk_filecoin_request_set(r, "miner_id", "t01000", &err));
        assert_ok(cuzk_filecoin_request_set(r, "sector_number", "4294967297", &err));
        for (unsigned k = 0; k < sizeof digests / sizeof digests[0]; k++) {
            /* those that the kind has */
            (void)!cuzk_filecoin_request_set(r, digests[k], D32, &err);
        }
        assert_ok(cuzk_filecoin_request_partitions(&n, r, &err));
        assert_int_equal(n, lengths[i].n_partitions);
        cuzk_filecoin_request_destroy(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_proofs), cmocka_unit_test(test_every_byte_of_a_proof),
        cmocka_unit_test(test_wrong_keys),    cmocka_unit_test(test_proof_texts),
        cmocka_unit_test(test_requests),      cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests_name("api_filecoin_verify", tests, setup, teardown);
}
