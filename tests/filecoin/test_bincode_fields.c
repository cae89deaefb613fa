/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of PoSt and updates, of every shape of tree, laid out field by field from the
 * specification (post.md section 5, snapdeals.md section 5). Every kind of field is given values at
 * its limits, and the file ends at each: what is refused names field and offset, what is accepted
 * is written back to the byte. No byte is without meaning. */
#define _GNU_SOURCE
#include "base/bytes.h"
#include "filecoin/synthetic.h"
#include "filecoin/vanilla_write.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0b1c;

/* Arities leaf to root; kind: 0 Single, 1 Sub, 2 Top. */
static const struct size {
    const char *name;
    unsigned kind, n_levels, arity[11], n_leaves_log;
} sizes[] = {
    {"2KiB", 0, 2, {8, 8}, 6},
    {"4KiB", 1, 3, {8, 8, 2}, 7},
    {"16KiB", 1, 3, {8, 8, 8}, 9},
    {"32KiB", 2, 4, {8, 8, 8, 2}, 10},
    {"8MiB", 0, 6, {8, 8, 8, 8, 8, 8}, 18},
    {"32GiB", 1, 10, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, 30},
    {"64GiB", 2, 11, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2}, 31},
};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], SMALL_SIZES = 4 };

enum type { NUMBER, COUNT, TAG, INDEX, DIGESTS };

struct field {
    enum type type;
    char place[96];       /* as errors name it, without the record */
    const char *kind;     /* fields of the same kind behave alike */
    uint64_t at, n_bytes; /* of digests: all of them */
    uint64_t value;       /* COUNT, TAG: the only right one; INDEX: the arity */
};

enum { FIELDS_MAX = 6000 };
static struct field fields[FIELDS_MAX];
static unsigned n_fields;
static uint64_t end;

static void add(enum type type, const char *kind, uint64_t n_bytes, uint64_t value,
                const char *prefix, const char *name)
{
    assert_true(n_fields < FIELDS_MAX);
    struct field *f = &fields[n_fields++];
    *f = (struct field){.type = type, .kind = kind, .at = end, .n_bytes = n_bytes, .value = value};
    assert_true(snprintf(f->place, sizeof f->place, "%s%s", prefix, name) < (int)sizeof f->place);
    end += n_bytes;
}

/* A Merkle proof; prefix: "inclusion proof 3: ". */
static void add_merkle(unsigned kind, const unsigned *arity, unsigned n_levels, const char *prefix)
{
    char name[64];
    add(TAG, "tag", 4, kind, prefix, "");
    if (kind == 0) {
        add(DIGESTS, "root", 32, 0, prefix, "root: ");
        add(DIGESTS, "leaf", 32, 0, prefix, "leaf: ");
    }
    for (unsigned level = 0; level < n_levels; level++) {
        bool above = level + kind >= n_levels; /* a level with a path of its own */
        if (level == 0 || above) {
            add(COUNT, above ? "own levels" : "levels", 8, above ? 1 : n_levels - kind, prefix,
                "levels of the path: ");
        }
        snprintf(name, sizeof name, "level %u: siblings: ", level);
        add(COUNT, above ? "own count" : "count", 8, arity[level] - 1, prefix, name);
        add(DIGESTS, above ? "own siblings" : "siblings", 32 * (arity[level] - 1), 0, prefix, name);
        snprintf(name, sizeof name, "level %u: index: ", level);
        add(INDEX, above ? "own index" : "index", 8, arity[level], prefix, name);
    }
    if (kind != 0) {
        add(DIGESTS, "root", 32, 0, prefix, "root: ");
        add(DIGESTS, "leaf", 32, 0, prefix, "leaf: ");
    }
}

static void lay_out_post(const struct size *s, unsigned n_openings)
{
    char prefix[32];
    n_fields = 0;
    end = 0;
    add(NUMBER, "id", 8, 0, "", "sector id: ");
    add(DIGESTS, "comm_r", 32, 0, "", "comm_r: ");
    add(COUNT, "entries", 8, 1, "", "sector entries: ");
    add(COUNT, "openings", 8, n_openings, "", "inclusion proofs: ");
    for (unsigned i = 0; i < n_openings; i++) {
        snprintf(prefix, sizeof prefix, "inclusion proof %u: ", i);
        add_merkle(s->kind, s->arity, s->n_levels, prefix);
    }
    add(DIGESTS, "comm_c", 32, 0, "", "comm_c: ");
    add(DIGESTS, "comm_r_last", 32, 0, "", "comm_r_last: ");
}

static void lay_out_update(const struct size *s, unsigned n_challenges, unsigned n_apex)
{
    static const unsigned binary[31] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                                        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    char prefix[48];
    n_fields = 0;
    end = 0;
    add(DIGESTS, "comm_c", 32, 0, "", "comm_c: ");
    add(COUNT, "apex count", 8, n_apex, "", "apex leaves: ");
    add(DIGESTS, "apex", (uint64_t)32 * n_apex, 0, "", "apex leaves: ");
    add(COUNT, "challenges", 8, n_challenges, "", "challenge proofs: ");
    for (unsigned i = 0; i < n_challenges; i++) {
        snprintf(prefix, sizeof prefix, "challenge %u: proof_r_old: ", i);
        add_merkle(s->kind, s->arity, s->n_levels, prefix);
        snprintf(prefix, sizeof prefix, "challenge %u: proof_d_new: ", i);
        add_merkle(0, binary, s->n_leaves_log, prefix);
        snprintf(prefix, sizeof prefix, "challenge %u: proof_r_new: ", i);
        add_merkle(s->kind, s->arity, s->n_levels, prefix);
    }
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* What is read: record `which` of all, the others as they are. */
static cuzk_registered_proof proof;
enum { RECORDS_MAX = 4 };
static struct {
    char *data;
    size_t size;
} records[RECORDS_MAX];
static unsigned n_records;

static cuzk_registered_proof proof_of(cuzk_proof_kind kind, const char *size)
{
    cuzk_registered_proof p;
    assert_int_equal(cuzk_registered_proof_get(&p, kind, kind == CUZK_PROOF_WINDOW ? 10 : 0, NULL),
                     CUZK_OK);
    assert_int_equal(
        cuzk_registered_proof_resize(&p, cuzk_sector_by_name(size, strlen(size)), NULL), CUZK_OK);
    return p;
}

/* Record `which` of what was read, as it is written. */
static void write_record(const cuzk_post_vanilla *post, const cuzk_update_vanilla *update,
                         unsigned which, char **data, size_t *size)
{
    FILE *f = open_memstream(data, size);
    assert_non_null(f);
    assert_int_equal(post != NULL ? cuzk_post_sector_write(f, post, which, NULL)
                                  : cuzk_update_partition_write(f, update, which, NULL),
                     CUZK_OK);
    fclose(f);
}

/* Read the records with one of them replaced; if they are accepted that one is written again. */
static cuzk_status read_with(unsigned which, const uint8_t *data, size_t size, char **again,
                             size_t *again_size, cuzk_error *err)
{
    cuzk_vanilla_span spans[RECORDS_MAX];
    for (unsigned i = 0; i < n_records; i++) {
        spans[i] = (cuzk_vanilla_span){(const uint8_t *)records[i].data, records[i].size};
    }
    spans[which] = (cuzk_vanilla_span){data, size};
    cuzk_post_vanilla post;
    cuzk_update_vanilla update;
    bool is_update = proof.kind == CUZK_PROOF_UPDATE;
    cuzk_status status = is_update
                             ? cuzk_update_vanilla_read(&update, &proof, spans, n_records, err)
                             : cuzk_post_vanilla_read(&post, &proof, spans, n_records, err);
    if (status != CUZK_OK) {
        assert_null(is_update ? (void *)update.partitions : (void *)post.sectors);
        return status;
    }
    write_record(is_update ? NULL : &post, is_update ? &update : NULL, which, again, again_size);
    if (is_update) {
        cuzk_update_vanilla_clear(&update);
    } else {
        cuzk_post_vanilla_clear(&post);
    }
    return CUZK_OK;
}

static void make_records(cuzk_proof_kind kind, const char *size)
{
    cuzk_synthetic_params params = {.seed = 4, .miner_id = 1, .sector_number = 9};
    cuzk_post_vanilla post;
    cuzk_update_vanilla update;
    params.proof = proof = proof_of(kind, size);
    params.n_sectors = n_records = kind == CUZK_PROOF_WINDOW ? 2 : 1;
    if (kind == CUZK_PROOF_UPDATE) {
        cuzk_update_statement statement;
        assert_int_equal(cuzk_synthetic_update(&update, &statement, &params, NULL), CUZK_OK);
        n_records = update.shape.partitions;
        assert_true(n_records <= RECORDS_MAX);
    } else {
        uint8_t randomness[32];
        assert_int_equal(cuzk_synthetic_post(&post, randomness, &params, NULL), CUZK_OK);
    }
    bool is_update = kind == CUZK_PROOF_UPDATE;
    for (unsigned i = 0; i < n_records; i++) {
        write_record(is_update ? NULL : &post, is_update ? &update : NULL, i, &records[i].data,
                     &records[i].size);
    }
    if (is_update) {
        cuzk_update_vanilla_clear(&update);
    } else {
        cuzk_post_vanilla_clear(&post);
    }
}

static void free_records(void)
{
    for (unsigned i = 0; i < n_records; i++) {
        free(records[i].data);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* The first `size` bytes of a record with `n` bytes replaced: accepted and written back the same,
 * or refused with that status, the field's place and its offset. */
static void try_bytes(unsigned which, size_t size, const struct field *f, uint64_t at,
                      const void *bytes, size_t n, cuzk_status expected, uint64_t offset)
{
    uint8_t *copy = malloc(size > 0 ? size : 1); /* of exactly that size, for the sanitizers */
    char *again = NULL, place[160], where[48];
    size_t again_size = 0;
    cuzk_error err = {0};
    assert_non_null(copy);
    memcpy(copy, records[which].data, size);
    if (n > 0) {
        memcpy(copy + at, bytes, n);
    }
    cuzk_status status = read_with(which, copy, size, &again, &again_size, &err);
    snprintf(place, sizeof place, "vanilla proof of %s %u: %s",
             proof.kind == CUZK_PROOF_UPDATE ? "partition" : "sector", which, f->place);
    snprintf(where, sizeof where, "at offset %" PRIu64 ": ", offset);
    bool tag_is_cut = status == CUZK_E_TRUNCATED && f->type == TAG;
    if (status != expected ||
        (status != CUZK_OK &&
         (strncmp(err.text, place, strlen(place)) != 0 || strstr(err.text, where) == NULL ||
          (tag_is_cut && strstr(err.text, "kind of Merkle proof: ") == NULL)))) {
        fail_msg("%s of %s: status %d, expected %d with \"%s%s\"; \"%s\"", f->kind,
                 proof.sector->name, status, expected, place, where, err.text);
    }
    if (status == CUZK_OK) {
        assert_int_equal(again_size, size);
        assert_memory_equal(again, copy, size);
    }
    free(again);
    free(copy);
}

static void try_number(unsigned which, const struct field *f, uint64_t value, cuzk_status expected)
{
    uint8_t bytes[8];
    cuzk_store_u64_le(bytes, value);
    try_bytes(which, records[which].size, f, f->at, bytes, f->n_bytes, expected, f->at);
}

/* Digest i of the field: the order of the field less 1, the order itself, and more. */
static void try_digest(unsigned which, const struct field *f, uint64_t i)
{
    static const char *const order_hex =
        "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    uint8_t bytes[32];
    size_t size = records[which].size;
    uint64_t at = f->at + 32 * i;
    for (unsigned k = 0; k < 32; k++) {
        unsigned byte;
        assert_int_equal(sscanf(order_hex + 62 - 2 * k, "%2x", &byte), 1);
        bytes[k] = (uint8_t)byte;
    }
    try_bytes(which, size, f, at, bytes, 32, CUZK_E_FORMAT, at);
    bytes[0] = 0;
    try_bytes(which, size, f, at, bytes, 32, CUZK_OK, 0);
    bytes[31]++;
    try_bytes(which, size, f, at, bytes, 32, CUZK_E_FORMAT, at);
    memset(bytes, 0xff, 32);
    try_bytes(which, size, f, at, bytes, 32, CUZK_E_FORMAT, at);
    memset(bytes, 0, 32);
    try_bytes(which, size, f, at, bytes, 32, CUZK_OK, 0);
}

static void damage(unsigned which, const struct field *f)
{
    const uint64_t wide = UINT64_C(1) << 32;
    switch (f->type) {
    case NUMBER:
        for (unsigned bit = 0; bit < 64; bit += 9) {
            try_number(which, f, (UINT64_C(1) << bit) - 1, CUZK_OK);
        }
        break;
    case COUNT:
        for (int d = -1; d <= 1; d += 2) {
            try_number(which, f, f->value + (uint64_t)(int64_t)d, CUZK_E_MISMATCH);
        }
        try_number(which, f, f->value + wide, CUZK_E_MISMATCH);
        try_number(which, f, UINT64_MAX, CUZK_E_MISMATCH);
        try_number(which, f, 0, CUZK_E_MISMATCH);
        break;
    case TAG:
        for (uint64_t tag = 0; tag < 3; tag++) {
            try_number(which, f, tag, tag == f->value ? CUZK_OK : CUZK_E_MISMATCH);
        }
        try_number(which, f, 3, CUZK_E_FORMAT);
        try_number(which, f, f->value + (1 << 24), CUZK_E_FORMAT);
        break;
    case INDEX:
        for (uint64_t i = 0; i <= f->value; i++) {
            try_number(which, f, i, i < f->value ? CUZK_OK : CUZK_E_FORMAT);
        }
        try_number(which, f, wide, CUZK_E_FORMAT);
        try_number(which, f, UINT64_MAX, CUZK_E_FORMAT);
        break;
    case DIGESTS:
        try_digest(which, f, 0);
        try_digest(which, f, f->n_bytes / 32 - 1);
        break;
    }
    const uint64_t ends[] = {f->at, f->at + 1, f->at + f->n_bytes - 1};
    for (int i = 0; i < 3; i++) {
        try_bytes(which, ends[i], f, 0, NULL, 0, CUZK_E_TRUNCATED, f->at);
    }
}

/* The first and the last field of each kind. */
static void damage_all(unsigned which)
{
    assert_int_equal(end, records[which].size);
    for (unsigned i = 0; i < n_fields; i++) {
        bool first = true, last = true;
        for (unsigned k = 0; k < n_fields; k++) {
            bool same = strcmp(fields[k].kind, fields[i].kind) == 0;
            first = first && (!same || k >= i);
            last = last && (!same || k <= i);
        }
        if (first || last) {
            damage(which, &fields[i]);
        }
    }
}

/* Any bit of a record: what is not refused is kept. */
static void flip_bits(unsigned which, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = cuzk_test_random(&seed) % records[which].size;
        char *again = NULL;
        size_t again_size = 0;
        cuzk_error err = {0};
        records[which].data[at] ^= (char)(1u << (cuzk_test_random(&seed) % 8));
        cuzk_status status = read_with(which, (const uint8_t *)records[which].data,
                                       records[which].size, &again, &again_size, &err);
        if (status == CUZK_OK) {
            assert_int_equal(again_size, records[which].size);
            assert_memory_equal(again, records[which].data, again_size);
        } else {
            assert_non_null(strstr(err.text, "offset"));
            /* back to something that is read, so that damage does not pile up at the front */
            free_records();
            make_records(proof.kind, proof.sector->name);
        }
        free(again);
    }
}

static void test_post(void **state)
{
    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        make_records(CUZK_PROOF_WINDOW, sizes[i].name);
        lay_out_post(&sizes[i], 10);
        damage_all(1);
        if (i < SMALL_SIZES) {
            flip_bits(i % 2, 60);
        }
        free_records();
        make_records(CUZK_PROOF_WINNING, sizes[i].name);
        lay_out_post(&sizes[i], 66);
        assert_int_equal(end, records[0].size);
        damage(0, &fields[n_fields / 2]);
        free_records();
    }
}

static void test_update(void **state)
{
    (void)state;
    static const struct {
        unsigned size, partitions, challenges, n_apex;
    } cases[] = {{0, 1, 10, 8}, {1, 1, 10, 8}, {2, 2, 10, 128}, {3, 2, 10, 128}, {4, 4, 10, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_records(CUZK_PROOF_UPDATE, sizes[cases[i].size].name);
        assert_int_equal(n_records, cases[i].partitions);
        lay_out_update(&sizes[cases[i].size], cases[i].challenges, cases[i].n_apex);
        damage_all(n_records - 1);
        if (i < 2) {
            flip_bits(0, 40);
        }
        free_records();
    }
}

/* A proof of one size is not one of any other, even where a tree has as many levels. */
static void test_other_sizes(void **state)
{
    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        make_records(CUZK_PROOF_WINNING, sizes[i].name);
        for (int k = 0; k < N_SIZES; k++) {
            char *again = NULL;
            size_t again_size = 0;
            cuzk_error err = {0};
            proof = proof_of(CUZK_PROOF_WINNING, sizes[k].name);
            cuzk_status status = read_with(0, (const uint8_t *)records[0].data, records[0].size,
                                           &again, &again_size, &err);
            assert_int_equal(status, i == k ? CUZK_OK : CUZK_E_MISMATCH);
            if (i != k) {
                assert_non_null(strstr(err.text, "inclusion proof 0: "));
            }
            free(again);
        }
        free_records();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
