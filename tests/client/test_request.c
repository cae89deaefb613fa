/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of jobs: what they hold for each kind, and every way in which fields and vanilla proofs
 * do not fit together, found before anything is sent. */
#include "client/request.h"

#include "alloc_fail.h"
#include "client_test.h"
#include "fixtures.h"
#include "json_field.h"

/* ---- requests ---- */

enum { FILES_MAX = 8 };

struct made {
    cuzk_filecoin_request *request;
    cuzk_bytes files[FILES_MAX];
    unsigned n_files;
    cuzk_fixture fixtures[FILES_MAX];
    unsigned n_fixtures;
    cuzk_client_job job;
};

static void begin(struct made *m, cuzk_filecoin_kind kind)
{
    cuzk_error err;
    memset(m, 0, sizeof *m);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_filecoin_request_create(&m->request, kind, &err), CUZK_OK);
}

static void set(struct made *m, const char *field, const char *text)
{
    cuzk_error err;
    cuzk_error_clear(&err);
    if (cuzk_filecoin_request_set(m->request, field, text, &err) != CUZK_OK) {
        fail_msg("%s = %s: %s", field, text, err.text);
    }
}

static void add(struct made *m, const void *data, size_t n_bytes)
{
    cuzk_error err;
    cuzk_error_clear(&err);
    if (cuzk_filecoin_request_add_vanilla(m->request, data, n_bytes, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    m->files[m->n_files++] = (cuzk_bytes){data, n_bytes};
}

static void add_fixture(struct made *m, const char *path)
{
    m->fixtures[m->n_fixtures] = cuzk_test_fixture(path);
    add(m, m->fixtures[m->n_fixtures].data, m->fixtures[m->n_fixtures].size);
    m->n_fixtures++;
}

static cuzk_status make(struct made *m, cuzk_error *err)
{
    cuzk_error_clear(err);
    return cuzk_client_job_init(&m->job, m->request, m->files, m->n_files, err);
}

static void end(struct made *m)
{
    cuzk_client_job_clear(&m->job);
    cuzk_client_job_clear(&m->job); /* twice is fine */
    cuzk_filecoin_request_destroy(m->request);
    for (unsigned i = 0; i < m->n_fixtures; i++) {
        cuzk_test_fixture_free(&m->fixtures[i]);
    }
}

static void make_ok(struct made *m)
{
    cuzk_error err;
    if (make(m, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static void make_fails(struct made *m, cuzk_status status, const char *text)
{
    cuzk_error err;
    cuzk_status found = make(m, &err);
    if (found != status || strstr(err.text, text) == NULL) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", (int)found, err.text, (int)status, text);
    }
    assert_null(m->job.vanilla);
}

/* Digits of 32 bytes, all the same. */
static const char *digits(unsigned char byte)
{
    static char text[65];
    for (int i = 0; i < 32; i++) {
        snprintf(text + 2 * i, 3, "%02x", byte);
    }
    return text;
}

/* ---- PoSt ---- */

/* A vanilla proof as far as it is looked at here: a sector's number, comm_r, more. */
static void make_post(uint8_t out[64], uint64_t sector, uint8_t comm_r)
{
    memset(out, 0, 64);
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(sector >> 8 * i);
    }
    memset(out + 8, comm_r, 32);
}

static void begin_window(struct made *m)
{
    begin(m, CUZK_FILECOIN_WINDOW);
    set(m, "registered_proof", "10");
    set(m, "randomness", digits(7));
}

/* Sectors that are not listed are taken over in the order of the proofs. */
static void test_sectors_taken_over(void **state)
{
    (void)state;
    struct made m;
    uint8_t proofs[3][64];
    begin_window(&m);
    set(&m, "partition_index", "9");
    set(&m, "miner_id", "f01234");
    for (int i = 0; i < 3; i++) {
        make_post(proofs[i], UINT64_C(0x0102030405060708) + (unsigned)i, (uint8_t)(i + 1));
        add(&m, proofs[i], 64);
    }
    make_ok(&m);
    const Cuzk__V1__SubmitProofRequest *r = &m.job.message;
    assert_int_equal(r->proof_kind, CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION);
    assert_int_equal(r->registered_proof, 10);
    assert_int_equal(r->sector_size, 2048);
    assert_int_equal(r->miner_id, 1234);
    assert_int_equal(r->partition_index, 9);
    assert_int_equal(r->randomness.len, 32);
    assert_int_equal(r->randomness.data[31], 7);
    assert_int_equal(r->comm_r_old.len, 0);
    assert_int_equal(r->vanilla_proof.len, 0);
    assert_int_equal(r->n_vanilla_proofs, 3);
    assert_int_equal(m.request->n_sectors, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(r->vanilla_proofs[i].len, 64);
        assert_memory_equal(r->vanilla_proofs[i].data, proofs[i], 64);
        assert_int_equal(m.request->sector_ids[i], UINT64_C(0x0102030405060708) + i);
        assert_int_equal(m.request->comm_r[i].b[31], i + 1);
    }
    assert_int_equal(m.job.n_partitions, 2); /* two sectors a partition at this size */
    end(&m);
}

static void test_sectors_compared(void **state)
{
    (void)state;
    static const struct {
        uint64_t sector;
        uint8_t comm_r;
        cuzk_status status;
        const char *text;
    } second[] = {
        {6, 2, CUZK_OK, ""},
        {7, 2, CUZK_E_MISMATCH, "vanilla proof 1 is of sector 7, the request lists sector 6 there"},
        {6, 3, CUZK_E_MISMATCH,
         "vanilla proof 1 is of sector 6, the request lists sector 6 with another comm_r there"},
        {5, 1, CUZK_E_MISMATCH, "vanilla proof 1 is of sector 5, the request lists sector 6"},
    };
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        struct made m;
        cuzk_error err;
        uint8_t proofs[2][64], comm_r[2][32];
        begin_window(&m);
        memset(comm_r[0], 1, 32);
        memset(comm_r[1], 2, 32);
        cuzk_error_clear(&err);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(cuzk_filecoin_request_add_sector(m.request, 5 + k, comm_r[k], &err),
                             CUZK_OK);
        }
        make_post(proofs[0], 5, 1);
        make_post(proofs[1], second[i].sector, second[i].comm_r);
        add(&m, proofs[0], 64);
        add(&m, proofs[1], 64);
        if (second[i].status == CUZK_OK) {
            make_ok(&m);
        } else {
            make_fails(&m, second[i].status, second[i].text);
        }
        end(&m);
    }
}

static void test_post_at_fault(void **state)
{
    (void)state;
    struct made m;
    uint8_t proof[64];
    make_post(proof, 1, 1);
    begin_window(&m); /* nothing to prove */
    make_fails(&m, CUZK_E_ARGUMENT, "no vanilla proof is given");
    end(&m);
    for (size_t n = 1; n < 40; n += 13) { /* too short for what is compared */
        begin_window(&m);
        add(&m, proof, n);
        make_fails(&m, CUZK_E_TRUNCATED, "too few for a sector's number and comm_r");
        end(&m);
    }
    begin(&m, CUZK_FILECOIN_WINDOW);
    set(&m, "registered_proof", "10");
    add(&m, proof, 64);
    make_fails(&m, CUZK_E_ARGUMENT, "the field randomness is missing");
    end(&m);
    begin(&m, CUZK_FILECOIN_WINDOW);
    set(&m, "randomness", digits(1));
    add(&m, proof, 64);
    make_fails(&m, CUZK_E_ARGUMENT, "the field registered_proof is missing");
    end(&m);
    begin(&m, CUZK_FILECOIN_WINNING); /* a number of another kind */
    set(&m, "registered_proof", "8");
    set(&m, "randomness", digits(1));
    add(&m, proof, 64);
    cuzk_error err;
    assert_int_not_equal(make(&m, &err), CUZK_OK);
    assert_true(err.text[0] != '\0');
    end(&m);
    begin_window(&m); /* a size that is not the number's */
    set(&m, "sector_size", "32GiB");
    add(&m, proof, 64);
    make_fails(&m, CUZK_E_MISMATCH, "sector_size");
    end(&m);
    begin_window(&m); /* two sectors are listed, one is proved */
    uint8_t comm_r[32] = {1};
    cuzk_error_clear(&err);
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(cuzk_filecoin_request_add_sector(m.request, k, comm_r, &err), CUZK_OK);
    }
    add(&m, proof, 64);
    make_fails(&m, CUZK_E_MISMATCH, "the request is about 2 sectors, 1 vanilla proofs are given");
    end(&m);
}

/* ---- updates ---- */

static void test_update(void **state)
{
    (void)state;
    static const char *const fields[] = {"comm_r_old", "comm_r_new", "comm_d_new"};
    uint8_t proof[10] = {1, 2, 3};
    struct made m;
    for (int missing = -1; missing < 3; missing++) {
        begin(&m, CUZK_FILECOIN_UPDATE);
        set(&m, "registered_proof", "0");
        for (int i = 0; i < 3; i++) {
            if (i != missing) {
                set(&m, fields[i], digits((unsigned char)(0x11 * (i + 1))));
            }
        }
        add(&m, proof, sizeof proof);
        if (missing >= 0) {
            make_fails(&m, CUZK_E_ARGUMENT, fields[missing]);
            end(&m);
            continue;
        }
        make_ok(&m);
        const Cuzk__V1__SubmitProofRequest *r = &m.job.message;
        assert_int_equal(r->proof_kind, CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE);
        assert_int_equal(r->comm_r_old.data[0], 0x11);
        assert_int_equal(r->comm_r_new.data[31], 0x22);
        assert_int_equal(r->comm_d_new.data[7], 0x33);
        assert_int_equal(r->randomness.len, 0);
        assert_int_equal(r->n_vanilla_proofs, 1);
        assert_int_equal(m.job.n_partitions, 1);
        end(&m);
    }
}

/* ---- PoRep ---- */

static const char porep_c1[] = "cases/porep-2k-1/c1.json";

static void test_porep(void **state)
{
    (void)state;
    struct made m;
    begin(&m, CUZK_FILECOIN_POREP);
    add_fixture(&m, porep_c1);
    make_fails(&m, CUZK_E_ARGUMENT, "the field miner_id is missing");
    set(&m, "miner_id", "1000");
    make_fails(&m, CUZK_E_ARGUMENT, "the field sector_number is missing");
    set(&m, "sector_number", "18446744073709551615");
    cuzk_error err; /* the vanilla proof is of another sector, which it tells */
    assert_int_equal(make(&m, &err), CUZK_E_MISMATCH);
    end(&m);
    begin(&m, CUZK_FILECOIN_POREP);
    set(&m, "registered_proof", "5");
    set(&m, "miner_id", "1000");
    make_fails(&m, CUZK_E_ARGUMENT, "PoRep: 0 vanilla proofs are given, expected one");
    end(&m);
}

static void number_text(char out[24], uint64_t number)
{
    snprintf(out, 24, "%llu", (unsigned long long)number);
}

/* The actor number in a prover_id: seven bits a byte, the lowest first. */
static uint64_t miner_of(const char *json)
{
    uint8_t id[32];
    uint64_t miner = 0;
    json_hex(json, "prover_id", id, sizeof id);
    for (unsigned i = 0; i < sizeof id; i++) {
        miner |= (uint64_t)(id[i] & 127) << 7 * i;
        if (id[i] < 128) {
            break;
        }
    }
    return miner;
}

/* Curio's envelope comes around a bare output: the text is the output's, whole. */
static void test_envelope(void **state)
{
    (void)state;
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    cuzk_fixture expected = cuzk_test_fixture("cases/porep-2k-1/expected.json");
    char sector[24], miner[24], head[64];
    number_text(sector, json_u64((const char *)expected.data, "sector"));
    number_text(miner, miner_of((const char *)expected.data));
    struct made m;
    begin(&m, CUZK_FILECOIN_POREP);
    add_fixture(&m, porep_c1);
    set(&m, "miner_id", miner);
    set(&m, "sector_number", sector);
    make_ok(&m);
    assert_int_equal(m.job.message.proof_kind, CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT);
    assert_int_equal(m.job.n_partitions, 1);
    const ProtobufCBinaryData *v = &m.job.message.vanilla_proof;
    snprintf(head, sizeof head, "{\"SectorNum\":%s,\"Phase1Out\":\"", sector);
    assert_memory_equal(v->data, head, strlen(head));
    const uint8_t *text = v->data + strlen(head), *c1 = m.fixtures[0].data;
    for (size_t i = 0; i + 2 < m.fixtures[0].size; i += 3, text += 4) {
        unsigned bits = (unsigned)c1[i] << 16 | (unsigned)c1[i + 1] << 8 | c1[i + 2];
        for (int k = 0; k < 4; k++) {
            assert_int_equal(text[k], base64[bits >> (18 - 6 * k) & 63]);
        }
    }
    assert_holds((const char *)text, "\",\"SectorSize\":2048}");
    end(&m);
    cuzk_test_fixture_free(&expected);
}

/* ---- memory ---- */

static void test_no_memory(void **state)
{
    (void)state;
    struct made m;
    uint8_t proofs[2][64];
    bool failed = true;
    for (unsigned n = 0; failed; n++) {
        cuzk_error err;
        begin_window(&m);
        for (unsigned i = 0; i < 2; i++) {
            make_post(proofs[i], i, 1);
            add(&m, proofs[i], 64);
        }
        alloc_fail_at(n);
        cuzk_status status = make(&m, &err);
        failed = alloc_fail_stop();
        assert_int_equal(status, failed ? CUZK_E_MEMORY : CUZK_OK);
        assert_true(!failed || n < 10);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors_taken_over),
        cmocka_unit_test(test_sectors_compared),
        cmocka_unit_test(test_post_at_fault),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_envelope),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
