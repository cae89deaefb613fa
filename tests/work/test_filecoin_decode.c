/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SubmitProofRequests decoded and checked: golden ones of all kinds, everything that can be wrong
 * with a field, what a digest depends on, and the memory that a task is said to take. */
#include "cuzk_synthetic.h"
#include "filecoin/vanilla_pieces.h"

#include "filecoin_params.h"
#include "filecoin_payload.h"

#include "base/sha256.h"
#include "work_lane.h"

#include <malloc.h>

/* ---- what passes ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *circuit;
    unsigned first, n, n_units;
} goods[] = {
    {"porep-2k-1", "porep-2k", 0, 0, 1},
    {"porep-2k-synth-20", "porep-2k", 0, 0, 1},
    {"porep-2k-v1-21", "porep-2k", 0, 0, 1},
    {"vector-porep-2k", "porep-2k", 0, 0, 1},
    {"update-2k-6", "snap-2k", 0, 1, 1},
    {"vector-update-2k", "snap-2k", 0, 1, 1},
    {"window-2k-1sectors-3", "wpost-2k", 0, 1, 1},
    {"window-2k-3sectors-4", "wpost-2k", 0, 2, 1},
    {"window-2k-3sectors-4", "wpost-2k", 2, 1, 1},
    {"vector-window-2k", "wpost-2k", 0, 1, 1},
    {"winning-2k-5", "winning-2k", 0, 1, 1},
    {"vector-winning-2k", "winning-2k", 0, 1, 1},
    /* where the larger collection is at hand */
    {"porep-2k-ni-22", "porep-2k", 0, 0, 13},
    {"porep-8m-2", "porep-8m", 0, 0, 1},
    {"update-8m-25", "snap-8m", 0, 4, 4},
    {"window-8m-3sectors-24", "wpost-8m", 0, 2, 1},
    {"winning-8m-23", "winning-8m", 0, 1, 1},
};
enum { N_GOODS = sizeof goods / sizeof goods[0] };

/* Bytes of the heap in use, pages mapped for it included. */
static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void test_golden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_GOODS; i++) {
        char path[128];
        cuzk_task *task = NULL;
        cuzk_task_info info;
        snprintf(path, sizeof path, "cases/%s/expected.json", goods[i].name);
        if (!cuzk_test_fixture_exists(path)) {
            print_message("skipped: no case %s\n", goods[i].name);
            continue;
        }
        payload *p = payload_open(goods[i].name, goods[i].first, goods[i].n);
        size_t n_bytes;
        uint8_t *bytes = payload_pack(p, &n_bytes);
        size_t before = heap_bytes();
        assert_ok(work->decode(work->user, &task, &info, bytes, n_bytes, &err));
        size_t taken = heap_bytes() - before;
        assert_string_equal(info.circuit, goods[i].circuit);
        assert_int_equal(info.n_units, goods[i].n_units);
        assert_false(info.is_unchecked);
#ifndef __SANITIZE_ADDRESS__
        if (taken > info.task_bytes || info.task_bytes > taken + taken / 4 + (96 << 10) ||
            info.task_bytes > 2 * n_bytes + (1 << 20)) {
            fail_msg("%s: a task of %zu bytes is said to take %llu", goods[i].name, taken,
                     (unsigned long long)info.task_bytes);
        }
#else
        (void)taken;
#endif
        assert_true(info.witness_bytes > 1000 && info.host_bytes > 1000);
        work->task_destroy(work->user, task);
        free(bytes);
        payload_close(p);
    }
}

/* ---- the network's sizes --------------------------------------------------------------------- */

/* Sectors that never existed. sector_size, where it is not told, follows from the proof. */
static const struct {
    const char *kind, *size, *circuit;
    unsigned n_sectors, n_units;
    bool is_large; /* takes seconds to make */
} networks[] = {
    {"winning", "32GiB", "winning-32g", 1, 1, false},
    {"winning", "64GiB", "winning-64g", 1, 1, false},
    {"window", "512MiB", "wpost-512m", 2, 1, false},
    {"window", "32GiB", "wpost-32g", 3, 1, false},
    {"porep", "512MiB", "porep-512m", 1, 1, false},
    {"snap", "8MiB", "snap-8m", 1, 4, false},
    {"porep", "32GiB", "porep-32g", 1, 10, true},
    {"porep", "64GiB", "porep-64g", 1, 10, true},
    {"snap", "32GiB", "snap-32g", 1, 16, true},
    {"window", "32GiB", "wpost-32g", 2349, 1, true},
};

static cuzk_fixture read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    cuzk_fixture f = {.size = (uint64_t)ftell(file)};
    rewind(file);
    f.data = calloc(1, (size_t)f.size + 1);
    assert_int_equal(fread(f.data, 1, (size_t)f.size, file), f.size);
    fclose(file);
    return f;
}

/* The request of a synthetic sector's two files. */
static void fill_synthetic(payload *p, const char *kind, cuzk_vanilla_pieces *pieces,
                           ProtobufCBinaryData *proofs)
{
    Cuzk__V1__SubmitProofRequest *r = &p->request;
    const char *json = (const char *)p->expected.data;
    cuzk__v1__submit_proof_request__init(r);
    r->miner_id = 1000;
    r->registered_proof = json_u64(json, "registered_proof");
    if (kind[0] == 'p') {
        r->proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
        r->sector_number = 1;
        r->vanilla_proof = (ProtobufCBinaryData){(size_t)p->c1.size, p->c1.data};
        return;
    }
    assert_ok(cuzk_vanilla_pieces_read(pieces, p->c1.data, p->c1.size, &err));
    for (uint64_t i = 0; i < pieces->n; i++) {
        proofs[i] = (ProtobufCBinaryData){(size_t)pieces->spans[i].size,
                                          (uint8_t *)(uintptr_t)pieces->spans[i].data};
    }
    r->vanilla_proofs = proofs;
    r->n_vanilla_proofs = (size_t)pieces->n;
    if (kind[0] == 's') {
        r->proof_kind = CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE;
        r->comm_r_old = payload_hex(p, 0, "comm_r_old");
        r->comm_r_new = payload_hex(p, 1, "comm_r_new");
        r->comm_d_new = payload_hex(p, 2, "comm_d_new");
        return;
    }
    r->proof_kind = strcmp(kind, "window") == 0 ? CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION
                                                : CUZK__V1__PROOF_KIND__WINNING_POST;
    r->randomness = payload_hex(p, 3, "randomness");
}

static void test_network_sizes(void **state)
{
    (void)state;
    char vanilla[256], request[256];
    snprintf(vanilla, sizeof vanilla, "%s/vanilla.json", folder);
    snprintf(request, sizeof request, "%s/request.json", folder);
    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        if (networks[i].is_large && getenv("CUZK_NIGHTLY") == NULL) {
            continue;
        }
        cuzk_synthetic_options options = CUZK_SYNTHETIC_OPTIONS_INIT;
        static ProtobufCBinaryData proofs[2349];
        cuzk_vanilla_pieces pieces = {0};
        cuzk_task *task = NULL;
        cuzk_task_info info;
        options.kind = networks[i].kind;
        options.sector_size = networks[i].size;
        options.n_sectors = networks[i].n_sectors;
        options.envelope = options.kind[0] == 'p';
        assert_ok(cuzk_synthetic_vanilla_write(ctx, vanilla, request, &options, &err));
        payload *p = calloc(1, sizeof *p);
        p->expected = read_whole(request);
        p->c1 = read_whole(vanilla);
        fill_synthetic(p, options.kind, &pieces, proofs);
        size_t n_bytes;
        uint8_t *bytes = payload_pack(p, &n_bytes);
        size_t before = heap_bytes();
        assert_ok(work->decode(work->user, &task, &info, bytes, n_bytes, &err));
        size_t taken = heap_bytes() - before;
        assert_string_equal(info.circuit, networks[i].circuit);
        assert_int_equal(info.n_units, networks[i].n_units);
#ifndef __SANITIZE_ADDRESS__
        assert_true(taken <= info.task_bytes && info.task_bytes <= taken + taken / 4 + (96 << 10));
#else
        (void)taken;
#endif
        work->task_destroy(work->user, task);
        free(bytes);
        cuzk_vanilla_pieces_clear(&pieces);
        payload_close(p);
    }
}

/* sector_size may be 0 or right; the numbers of a PoRep come from its vanilla proof; bare and
 * enveloped, and Go's way of writing it. */
static void test_lenient(void **state)
{
    (void)state;
    cuzk_task *task = NULL;
    cuzk_task_info info;
    payload *p = payload_open("porep-2k-1", 0, 0);
    p->request.sector_size = 2048;
    assert_ok(payload_decode(p, work, &task, &info, &err));
    work->task_destroy(work->user, task);
    p->request.registered_proof = 19; /* known, and another one's */
    p->request.randomness = (ProtobufCBinaryData){3, p->bytes[0]};
    p->request.partition_index = 7;
    p->request.priority = CUZK__V1__PRIORITY__CRITICAL;
    assert_ok(payload_decode(p, work, &task, &info, &err));
    work->task_destroy(work->user, task);
    p->request.vanilla_proof = (ProtobufCBinaryData){(size_t)p->c1.size, p->c1.data};
    assert_ok(payload_decode(p, work, &task, &info, &err));
    work->task_destroy(work->user, task);
    cuzk_fixture go = payload_file("porep-2k-1", "c1-go.json");
    p->request.vanilla_proof = (ProtobufCBinaryData){(size_t)go.size, go.data};
    assert_ok(payload_decode(p, work, &task, &info, &err));
    work->task_destroy(work->user, task);
    cuzk_test_fixture_free(&go);
    payload_close(p);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static uint8_t junk[64];

static void set(ProtobufCBinaryData *field, size_t n)
{
    *field = (ProtobufCBinaryData){n, junk};
}

/* One change of a good request. */
#define CHANGES(X)                                                                                 \
    X(no_kind, r->proof_kind = (Cuzk__V1__ProofKind)0)                                             \
    X(kind_5, r->proof_kind = (Cuzk__V1__ProofKind)5)                                              \
    X(negative_kind, r->proof_kind = (Cuzk__V1__ProofKind)-1)                                      \
    X(size_odd, r->sector_size = 4097)                                                             \
    X(size_8m, r->sector_size = 8 << 20)                                                           \
    X(size_32k, r->sector_size = 32 << 10)                                                         \
    X(proof_15, r->registered_proof = 15)                                                          \
    X(proof_20, r->registered_proof = 20)                                                          \
    X(proof_huge, r->registered_proof = UINT64_MAX / 2 + 1)                                        \
    X(proof_4, r->registered_proof = 4)                                                            \
    X(no_vanilla, r->vanilla_proof.len = 0)                                                        \
    X(cut_vanilla, r->vanilla_proof.len -= 3)                                                      \
    X(tail_vanilla, memcpy(p->envelope.data + p->envelope.size - 1, "x", 1))                       \
    X(junk_vanilla, set(&r->vanilla_proof, 64))                                                    \
    X(miner, r->miner_id++)                                                                        \
    X(sector, r->sector_number++)                                                                  \
    X(no_proofs, r->n_vanilla_proofs = 0)                                                          \
    X(one_proof_more, (p->proofs[p->n_files] = p->proofs[0], r->n_vanilla_proofs++))               \
    X(empty_proof, r->vanilla_proofs[0].len = 0)                                                   \
    X(cut_proof, r->vanilla_proofs[0].len -= 33)                                                   \
    X(swapped_proofs, (p->proofs[0] = p->proofs[1],                                                \
                       p->proofs[1] = (ProtobufCBinaryData){p->files[0].size, p->files[0].data}))  \
    X(spoilt_proof, p->files[0].data[p->files[0].size - 40] ^= 1)                                  \
    X(no_randomness, r->randomness.len = 0)                                                        \
    X(randomness_31, r->randomness.len = 31)                                                       \
    X(randomness_33, set(&r->randomness, 33))                                                      \
    X(other_randomness, p->bytes[3][0] ^= 1)                                                       \
    X(no_comm, r->comm_r_old.len = 0)                                                              \
    X(comm_31, r->comm_r_new.len = 31)                                                             \
    X(comm_cid, (junk[0] = 1, set(&r->comm_d_new, 40)))                                            \
    X(comm_cid_text, (memcpy(junk, "bagboea4b5abcb", 14), set(&r->comm_r_old, 64)))                \
    X(comm_large, memset(p->bytes[0], 0xff, 32))                                                   \
    X(other_comm, p->bytes[1][0] ^= 1)

#define CHANGE(name, what)                                                                         \
    static void name(payload *p)                                                                   \
    {                                                                                              \
        Cuzk__V1__SubmitProofRequest *r = &p->request;                                             \
        what;                                                                                      \
        (void)r;                                                                                   \
    }
CHANGES(CHANGE)

typedef struct {
    void (*change)(payload *p);
    cuzk_status status;
    const char *part;
} refusal;

static void refuse(const char *name, unsigned first, unsigned n, const refusal *refusals,
                   unsigned n_refusals)
{
    for (unsigned i = 0; i < n_refusals; i++) {
        cuzk_task *task = NULL;
        cuzk_task_info info;
        payload *p = payload_open(name, first, n);
        memset(junk, 0x33, sizeof junk);
        refusals[i].change(p);
        assert_fails(payload_decode(p, work, &task, &info, &err), refusals[i].status,
                     refusals[i].part);
        assert_null(task);
        payload_close(p);
    }
}

static void test_refused_porep(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {no_kind, CUZK_E_ARGUMENT, "proof_kind: 0 is not known: 1 PoRep"},
        {kind_5, CUZK_E_ARGUMENT, "proof_kind: 5 is not known"},
        {negative_kind, CUZK_E_ARGUMENT, "proof_kind: 18446744073709551615 is not known"},
        {size_odd, CUZK_E_ARGUMENT, "sector_size: no sector has 4097 bytes: 2KiB"},
        {size_8m, CUZK_E_MISMATCH, "sector_size is 8388608 bytes"},
        {proof_20, CUZK_E_ARGUMENT, "20"},
        {proof_huge, CUZK_E_ARGUMENT, "9223372036854775808"},
        {no_vanilla, CUZK_E_ARGUMENT, "PoRep: vanilla_proof is empty"},
        {cut_vanilla, CUZK_E_TRUNCATED, "PoRep: vanilla_proof"},
        {tail_vanilla, CUZK_E_FORMAT, "PoRep: vanilla_proof"},
        {junk_vanilla, CUZK_E_FORMAT, "PoRep: vanilla_proof"},
        {miner, CUZK_E_MISMATCH, "it is of another sector"},
        {sector, CUZK_E_MISMATCH, "SectorNum of the envelope is"},
    };
    refuse("porep-2k-1", 0, 0, refusals, sizeof refusals / sizeof refusals[0]);
}

static void test_refused_update(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {size_8m, CUZK_E_MISMATCH, "sector_size is 8MiB"},
        {size_32k, CUZK_E_MISMATCH, "there are 1 partitions, expected 2"},
        {proof_15, CUZK_E_ARGUMENT, "15"},
        {proof_huge, CUZK_E_ARGUMENT, "9223372036854775808"},
        {proof_4, CUZK_E_MISMATCH, "there are 1 partitions, expected 16"},
        {no_proofs, CUZK_E_ARGUMENT, "Update: no vanilla proof is given"},
        {one_proof_more, CUZK_E_MISMATCH, "partition"},
        {empty_proof, CUZK_E_TRUNCATED, "partition 0"},
        {cut_proof, CUZK_E_TRUNCATED, "partition 0"},
        {spoilt_proof, CUZK_E_MISMATCH, "partition 0: challenge"},
        {no_comm, CUZK_E_ARGUMENT, "Update: comm_r_old: 0 bytes, expected 32"},
        {comm_31, CUZK_E_ARGUMENT, "Update: comm_r_new: 31 bytes, expected 32"},
        {comm_cid, CUZK_E_ARGUMENT, "comm_d_new: 40 bytes, expected 32; it looks like a CID"},
        {comm_cid_text, CUZK_E_ARGUMENT, "comm_r_old: 64 bytes, expected 32; it looks like a CID"},
        {comm_large, CUZK_E_FORMAT, "comm_r_old"},
        {other_comm, CUZK_E_MISMATCH, "comm_r"},
    };
    refuse("update-2k-6", 0, 1, refusals, sizeof refusals / sizeof refusals[0]);
}

static void test_refused_window(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {size_8m, CUZK_E_MISMATCH, "sector_size is 8MiB"},
        {size_32k, CUZK_E_MISMATCH, "it belongs to another sector size"},
        {proof_15, CUZK_E_ARGUMENT, "15"},
        {proof_4, CUZK_E_ARGUMENT, "4"},
        {no_proofs, CUZK_E_ARGUMENT, "Window PoSt: no vanilla proof is given"},
        {one_proof_more, CUZK_E_MISMATCH,
         "a Window PoSt partition of 2KiB has at most 2 sectors, 3 vanilla_proofs are given"},
        {empty_proof, CUZK_E_TRUNCATED, "sector"},
        {cut_proof, CUZK_E_TRUNCATED, "sector"},
        {spoilt_proof, CUZK_E_MISMATCH, "place 0"},
        {no_randomness, CUZK_E_ARGUMENT, "Window PoSt: randomness: 0 bytes, expected 32"},
        {randomness_31, CUZK_E_ARGUMENT, "randomness: 31 bytes"},
        {randomness_33, CUZK_E_ARGUMENT, "randomness: 33 bytes, expected 32"},
        {other_randomness, CUZK_E_MISMATCH, "place 0"},
    };
    refuse("window-2k-3sectors-4", 0, 2, refusals, sizeof refusals / sizeof refusals[0]);
}

static void test_refused_winning(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {proof_15, CUZK_E_ARGUMENT, "15"},
        {one_proof_more, CUZK_E_MISMATCH, "a Winning PoSt is about one sector, 2 vanilla proofs"},
        {randomness_31, CUZK_E_ARGUMENT, "Winning PoSt: randomness: 31 bytes"},
        {other_randomness, CUZK_E_MISMATCH, "challenge"},
        {no_proofs, CUZK_E_ARGUMENT, "Winning PoSt: no vanilla proof is given"},
    };
    refuse("winning-2k-5", 0, 1, refusals, sizeof refusals / sizeof refusals[0]);
}

/* BC-077: every number of every kind, and some that are none. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n, first_known, last_known;
    } kinds[] = {{"porep-2k-1", 0, 0, 19},
                 {"update-2k-6", 1, 0, 4},
                 {"window-2k-1sectors-3", 1, 5, 14},
                 {"winning-2k-5", 1, 0, 4}};
    for (unsigned k = 0; k < 4; k++) {
        payload *p = payload_open(kinds[k].name, 0, kinds[k].n);
        for (unsigned i = 0; i <= 22; i++) {
            uint64_t number = i == 22 ? (uint64_t)1 << 63 : i;
            bool known = number >= kinds[k].first_known && number <= kinds[k].last_known;
            cuzk_task *task = NULL;
            cuzk_task_info info;
            p->request.registered_proof = number;
            cuzk_error_clear(&err);
            cuzk_status status = payload_decode(p, work, &task, &info, &err);
            if (known ? status == CUZK_E_ARGUMENT || status == CUZK_E_UNSUPPORTED
                      : status != CUZK_E_ARGUMENT) {
                fail_msg("%s: number %llu: %s", kinds[k].name, (unsigned long long)number,
                         err.text);
            }
            work->task_destroy(work->user, task);
        }
        payload_close(p);
    }
}

/* BC-073, BC-075: what may stand behind a commit-phase-1 output, and how it may be wrapped. */
static void test_c1_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* %B: base64 of the output, %C: the output */
        cuzk_status status;
    } forms[] = {
        {"%C", CUZK_OK},
        {"%C \r\n\t", CUZK_OK},
        {" %C", CUZK_OK},
        {"%C}", CUZK_E_FORMAT},
        {"%C%C", CUZK_E_FORMAT},
        {"{\"SectorNum\":%S,\"Phase1Out\":\"%B\",\"SectorSize\":2048}\n", CUZK_OK},
        {"{\"SectorSize\":2048, \"Phase1Out\" : \"%B\" , \"SectorNum\":%S}", CUZK_OK},
        {"{\"SectorNum\":%S,\"Phase1Out\":\"%B\",\"SectorSize\":4096}", CUZK_E_MISMATCH},
        {"{\"SectorNum\":99999,\"Phase1Out\":\"%B\",\"SectorSize\":2048}", CUZK_E_MISMATCH},
        {"{\"SectorNum\":%S,\"Phase1Out\":\"%B=\",\"SectorSize\":2048}", CUZK_E_FORMAT},
        {"{\"SectorNum\":%S,\"Phase1Out\":\"_%B\",\"SectorSize\":2048}", CUZK_E_FORMAT},
        {"{\"SectorNum\":%S,\"Phase1Out\":\"\",\"SectorSize\":2048}", CUZK_E_TRUNCATED},
        {"{\"SectorNum\":-1,\"Phase1Out\":\"%B\",\"SectorSize\":2048}", CUZK_E_FORMAT},
        {"{\"Phase1Out\":\"%B\",\"SectorSize\":2048}", CUZK_E_FORMAT},
    };
    payload *p = payload_open("porep-2k-1", 0, 0);
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        cuzk_text text = {0};
        cuzk_task *task = NULL;
        cuzk_task_info info;
        for (const char *f = forms[i].text; *f != '\0'; f++) {
            if (f[0] != '%') {
                cuzk_text_put_bytes(&text, f, 1);
            } else if (*++f == 'B') {
                cuzk_text_put_base64(&text, p->c1.data, (size_t)p->c1.size);
            } else if (*f == 'C') {
                cuzk_text_put_bytes(&text, (const char *)p->c1.data, (size_t)p->c1.size);
            } else {
                cuzk_text_printf(&text, "%llu", (unsigned long long)p->request.sector_number);
            }
        }
        p->request.vanilla_proof = (ProtobufCBinaryData){text.size, (uint8_t *)text.data};
        cuzk_error_clear(&err);
        cuzk_status status = payload_decode(p, work, &task, &info, &err);
        if (status != forms[i].status) {
            fail_msg("form %u: %s: %s", i, cuzk_status_name(status), err.text);
        }
        work->task_destroy(work->user, task);
        cuzk_text_clear(&text);
    }
    payload_close(p);
}

/* The order of sectors is part of the request, as far as the version of the proof makes it so. */
static void test_sector_order(void **state)
{
    (void)state;
    cuzk_task *task = NULL;
    cuzk_task_info info, other;
    payload *p = payload_open("window-2k-3sectors-4", 0, 2);
    assert_ok(payload_decode(p, work, &task, &info, &err));
    work->task_destroy(work->user, task);
    swapped_proofs(p);
    assert_ok(payload_decode(p, work, &task, &other, &err));
    work->task_destroy(work->user, task);
    assert_memory_not_equal(info.digest, other.digest, 32);
    payload_close(p);
}

/* ---- the wire -------------------------------------------------------------------------------- */

static void test_malformed(void **state)
{
    (void)state;
    cuzk_task *task = NULL;
    cuzk_task_info info;
    static const struct {
        uint8_t bytes[16];
        size_t n;
        cuzk_status status;
        const char *part;
    } cases[] = {
        {{0}, 0, CUZK_E_ARGUMENT, "proof_kind: 0"},
        {{0x10}, 1, CUZK_E_TRUNCATED, "the message ends in the number at byte 1"},
        {{0x10, 0x80}, 2, CUZK_E_TRUNCATED, "at byte 1"},
        {{0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
         11,
         CUZK_E_FORMAT,
         "more than 64 bits"},
        {{0x52, 0x05, 1}, 3, CUZK_E_TRUNCATED, "field 10 at byte 0: 1 bytes are left of 5"},
        {{0x52, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
         11,
         CUZK_E_TRUNCATED,
         "of 18446744073709551615"},
        {{0x00, 0x00}, 2, CUZK_E_FORMAT, "0 is no field number"},
        {{0x13}, 1, CUZK_E_FORMAT, "field 2 at byte 0: wire type 3 is not known"},
        {{0x16}, 1, CUZK_E_FORMAT, "wire type 6"},
        {{0x12, 0x00}, 2, CUZK_E_FORMAT, "field 2 (proof_kind) at byte 0 has wire type 2"},
        {{0x58, 0x00}, 2, CUZK_E_FORMAT, "field 11 (vanilla_proofs) at byte 0 has wire type 0"},
        {{0x15, 1, 2}, 3, CUZK_E_TRUNCATED, "field 2 at byte 0: 2 bytes are left of 4"},
        {{0x61, 1, 2}, 3, CUZK_E_TRUNCATED, "field 12 at byte 0: 2 bytes are left of 8"},
        /* unknown fields of all types, then a kind */
        {{0x61, 1, 2, 3, 4, 5, 6, 7, 8, 0x68, 5, 0x10, 9}, 13, CUZK_E_ARGUMENT, "proof_kind: 9"},
        /* the last one counts */
        {{0x10, 1, 0x10, 8}, 4, CUZK_E_ARGUMENT, "proof_kind: 8"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_fails(work->decode(work->user, &task, &info, cases[i].bytes, cases[i].n, &err),
                     cases[i].status, cases[i].part);
    }
    /* many empty elements: two bytes each must not become many times as much memory */
    size_t n = 1 << 20;
    uint8_t *bytes = malloc(n);
    for (size_t i = 0; i < n; i += 2) {
        bytes[i] = 0x5a;
        bytes[i + 1] = 0;
    }
    assert_fails(work->decode(work->user, &task, &info, bytes, n, &err), CUZK_E_FORMAT,
                 "vanilla_proofs: more than 4096");
    free(bytes);
}

/* A request cut off anywhere is refused, and never read beyond its end. */
static void test_cut(void **state)
{
    (void)state;
    payload *p = payload_open("winning-2k-5", 0, 1);
    size_t n_bytes;
    uint8_t *bytes = payload_pack(p, &n_bytes);
    for (size_t n = 0; n < n_bytes; n += n < 100 || n + 100 > n_bytes ? 1 : 997) {
        cuzk_task *task = NULL;
        cuzk_task_info info;
        uint8_t *cut = malloc(n + (n == 0));
        memcpy(cut, bytes, n);
        cuzk_error_clear(&err);
        cuzk_status status = work->decode(work->user, &task, &info, cut, n, &err);
        assert_true(status != CUZK_OK && status == err.status && err.text[0] != '\0');
        free(cut);
    }
    free(bytes);
    payload_close(p);
}

/* ---- digests --------------------------------------------------------------------------------- */

/* Changes that leave a request provable: whether they change the digest. */
#define NEUTRAL(X)                                                                                 \
    X(other_id, r->request_id = (char *)(uintptr_t) "another [1 2 3]")                             \
    X(other_priority, r->priority = CUZK__V1__PRIORITY__LOW)                                       \
    X(told_size, r->sector_size = 2048)                                                            \
    X(of_other_kinds, (r->sector_number = 5, set(&r->vanilla_proof, 9)))                           \
    X(spare_bits, p->bytes[3][31] ^= 0x40)                                                         \
    X(other_miner, r->miner_id = 1001)                                                             \
    X(other_partition, r->partition_index = 9)                                                     \
    X(nothing, (void)0)
NEUTRAL(CHANGE)

static void digest_of(uint8_t out[32], void (*change)(payload *p))
{
    cuzk_task *task = NULL;
    cuzk_task_info info;
    payload *p = payload_open("window-2k-1sectors-3", 0, 1);
    p->request.request_id = (char *)(uintptr_t) "an id";
    change(p);
    assert_ok(payload_decode(p, work, &task, &info, &err));
    memcpy(out, info.digest, 32);
    work->task_destroy(work->user, task);
    payload_close(p);
}

static void test_digest(void **state)
{
    (void)state;
    static const struct {
        void (*change)(payload *p);
        bool same;
    } changes[] = {
        {nothing, true},        {other_id, true},     {other_priority, true},   {told_size, true},
        {of_other_kinds, true}, {other_miner, false}, {other_partition, false}, {spare_bits, false},
    };
    uint8_t first[32], found[8][32];
    digest_of(first, nothing);
    for (unsigned i = 0; i < 8; i++) {
        digest_of(found[i], changes[i].change);
        bool same = memcmp(found[i], first, 32) == 0;
        if (same != changes[i].same) {
            fail_msg("change %u: the digest is %s", i, same ? "the same" : "another");
        }
        for (unsigned k = 0; k < i && !changes[i].same; k++) {
            assert_memory_not_equal(found[i], found[k], 32);
        }
    }
    /* all golden cases have digests of their own */
    uint8_t of[N_GOODS][32];
    unsigned n = 0;
    for (unsigned i = 0; i < 12; i++) {
        cuzk_task *task = NULL;
        cuzk_task_info info;
        payload *p = payload_open(goods[i].name, goods[i].first, goods[i].n);
        assert_ok(payload_decode(p, work, &task, &info, &err));
        memcpy(of[n++], info.digest, 32);
        work->task_destroy(work->user, task);
        payload_close(p);
        for (unsigned k = 0; k + 1 < n; k++) {
            assert_memory_not_equal(of[k], of[n - 1], 32);
        }
    }
}

static void put_field(cuzk_sha256 *sha, const void *data, size_t n_bytes)
{
    uint8_t length[8] = {0};
    for (unsigned i = 0; i < 8; i++) {
        length[i] = (uint8_t)((uint64_t)n_bytes >> 8 * i);
    }
    cuzk_sha256_update(sha, length, sizeof length);
    cuzk_sha256_update(sha, data, n_bytes);
}

/* The digest of a large payload is begun before it is read, from what the request says of the
 * proof; a PoRep's request may say something else than its vanilla proof. */
static void test_large_digest(void **state)
{
    (void)state;
    enum { BLANKS = 3 << 20 };
    payload *p = payload_open("porep-2k-1", 0, 0);
    const uint64_t right = p->request.registered_proof;
    const uint64_t numbers[] = {right, right + 2, 0, 8};
    size_t n_bytes = BLANKS + (size_t)p->c1.size;
    uint8_t *text = malloc(n_bytes);
    assert_non_null(text);
    memset(text, ' ', BLANKS);
    memcpy(text + BLANKS, p->c1.data, (size_t)p->c1.size);
    p->request.vanilla_proof = (ProtobufCBinaryData){n_bytes, text};

    const uint64_t fields[] = {1, right, 2048, p->request.miner_id, p->request.sector_number};
    uint8_t expected[32];
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    for (unsigned i = 0; i < 5; i++) {
        put_field(&sha, &fields[i], sizeof fields[i]);
    }
    put_field(&sha, text, n_bytes);
    cuzk_sha256_final(&sha, expected);
    for (unsigned i = 0; i < 8; i++) {
        cuzk_task *task = NULL;
        cuzk_task_info info;
        p->request.registered_proof = numbers[i / 2];
        p->request.sector_size = i % 2 == 0 ? 0 : 2048;
        assert_ok(payload_decode(p, work, &task, &info, &err));
        assert_memory_equal(info.digest, expected, 32);
        work->task_destroy(work->user, task);
    }
    /* what is refused gives the thread back, too */
    cuzk_task *task = NULL;
    cuzk_task_info info;
    text[n_bytes - 1] = '?';
    assert_fails(payload_decode(p, work, &task, &info, &err), CUZK_E_FORMAT, "commit-phase-1");
    assert_null(task);
    free(text);
    payload_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),          cmocka_unit_test(test_network_sizes),
        cmocka_unit_test(test_lenient),         cmocka_unit_test(test_refused_porep),
        cmocka_unit_test(test_refused_update),  cmocka_unit_test(test_refused_window),
        cmocka_unit_test(test_refused_winning), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_c1_forms),        cmocka_unit_test(test_sector_order),
        cmocka_unit_test(test_malformed),       cmocka_unit_test(test_cut),
        cmocka_unit_test(test_digest),          cmocka_unit_test(test_large_digest),
    };
    return cmocka_run_group_tests_name("filecoin_decode", tests, open_work, close_work);
}
