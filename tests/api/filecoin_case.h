/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The golden cases as requests of the public interface: real small sectors that the reference
 * sealed and proved, with a fixed trapdoor and fixed r and s. */
#ifndef CUZK_TESTS_FILECOIN_CASE_H
#define CUZK_TESTS_FILECOIN_CASE_H

#include "api_test.h"
#include "cuzk_filecoin.h"

enum { CASE_FIELDS_MAX = 16, CASE_SECTORS_MAX = 4, CASE_TEXT_MAX = 80 };

typedef struct {
    const char *name;
    cuzk_filecoin_kind kind;
    /* what the request is made of */
    struct {
        const char *name;
        char text[CASE_TEXT_MAX];
    } fields[CASE_FIELDS_MAX];
    unsigned n_fields;
    uint64_t sector_ids[CASE_SECTORS_MAX];
    uint8_t comm_r[CASE_SECTORS_MAX][32];
    unsigned n_sectors;
    cuzk_fixture json, proof;
} filecoin_case;

/* The trapdoor of all golden keys: toxic(NAME) is the SHA-256 of "cuzk test setup/" and NAME, big
 * endian, without the two highest bits (tests/fixtures/README.md). */
#define CASE_TRAPDOOR                                                                              \
    "{\"tau\": "                                                                                   \
    "\"14821277117319184409956425422294747756858820367321339275450197021300498793402\", "          \
    "\"alpha\": "                                                                                  \
    "\"22399850025332660874491172486988144778163036166355072562985259764336265780791\", "          \
    "\"beta\": \"8449034591105592687417915852385558324236570993753270051568677144473522354365\", " \
    "\"gamma\": "                                                                                  \
    "\"12156471617340181368617240786357907516183252434013357514515371760869814915778\", "          \
    "\"delta\": \"2762455468141902677466894064519811742560039167999559029799301097107111142497\"}"

enum { CASE_PARTITIONS_MAX = 2 };

/* toxic("r/k") and toxic("s/k"), little endian, for k = 0 and 1. */
#define CASE_RS                                                                                    \
    "a48f0c6e476b84d7a2a51d9065b4d4f1c9725372c41a851ae0627a16e564a33e"                             \
    "18c414a782a05f2330da7d25b2ccfd1f20d93b66f59735240657079772e28124"                             \
    "6b948916ed19c74d90f4c80ddf1e5e06319f491a3b32da8f970fa625b98bbc32"                             \
    "3d3f2a485236a139b05488a9a5a0790e317e504223a39a3f07b6321a42b9260b"

static inline char *case_path(char out[128], const char *name, const char *file)
{
    snprintf(out, 128, "cases/%s/%s", name, file);
    return out;
}

/* The value behind `"key":` as text, quotes left out: digits, or hexadecimal ones. */
static inline void case_text(char out[CASE_TEXT_MAX], const char *json, const char *key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *p = strstr(json, pattern);
    if (p == NULL) {
        fprintf(stderr, "no field %s\n", key);
        abort();
    }
    p += strlen(pattern);
    p += strspn(p, " \n\"");
    size_t n = strspn(p, "0123456789abcdef");
    snprintf(out, CASE_TEXT_MAX, "%.*s", (int)n, p);
}

static inline void case_add(filecoin_case *c, const char *field, const char *key)
{
    case_text(c->fields[c->n_fields].text, (const char *)c->json.data, key);
    c->fields[c->n_fields++].name = field;
}

static inline void case_hex(uint8_t *out, size_t n, const char *digits)
{
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 256;
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1) {
            abort();
        }
        out[i] = (uint8_t)byte;
    }
}

/* prover_id is the actor number as LEB128. */
static inline void case_add_miner(filecoin_case *c)
{
    uint8_t id[32];
    char text[CASE_TEXT_MAX];
    case_text(text, (const char *)c->json.data, "prover_id");
    case_hex(id, sizeof id, text);
    unsigned long long miner = 0;
    for (unsigned i = 0;; i++) {
        miner |= (unsigned long long)(id[i] & 127) << 7 * i;
        if (id[i] < 128) {
            break;
        }
    }
    snprintf(c->fields[c->n_fields].text, CASE_TEXT_MAX, "%llu", miner);
    c->fields[c->n_fields++].name = "miner_id";
}

static inline void case_add_sectors(filecoin_case *c)
{
    const char *json = (const char *)c->json.data;
    const char *id = strchr(strstr(json, "\"sectors\":"), '[');
    const char *digest = strchr(strstr(json, "\"comm_r\":"), '"');
    digest = strchr(digest + 1, '"'); /* closing quote of the key */
    digest = strchr(digest + 1, '"');
    do {
        char *end;
        c->sector_ids[c->n_sectors] = strtoull(id + 1, &end, 10);
        id = end + strspn(end, " \n");
        case_hex(c->comm_r[c->n_sectors++], 32, digest + 1);
        digest = strchr(digest + 1, '"'); /* closing quote */
        digest = strchr(digest + 1, '"');
    } while (*id == ',');
}

static inline filecoin_case case_open(const char *name)
{
    char path[128];
    filecoin_case c = {.name = name};
    const char *kind = strncmp(name, "vector-", 7) == 0 ? name + 7 : name;
    c.json = cuzk_test_fixture(case_path(path, name, "expected.json"));
    case_path(path, name, "proof.bin");
    if (cuzk_test_fixture_exists(path)) {
        c.proof = cuzk_test_fixture(path);
    }
    if (strncmp(kind, "porep", 5) == 0) {
        c.kind = CUZK_FILECOIN_POREP;
        case_add(&c, "registered_proof", "registered_seal_proof");
        case_add_miner(&c);
        case_add(&c, "sector_number", "sector");
        case_add(&c, "ticket", "ticket");
        case_add(&c, "seed", "seed");
        case_add(&c, "comm_d", "comm_d");
        case_add(&c, "comm_r", "comm_r");
    } else if (strncmp(kind, "update", 6) == 0) {
        c.kind = CUZK_FILECOIN_UPDATE;
        case_add(&c, "registered_proof", "registered_update_proof");
        case_add(&c, "comm_r_old", "comm_r_old");
        case_add(&c, "comm_r_new", "comm_r_new");
        case_add(&c, "comm_d_new", "comm_d_new");
    } else {
        c.kind = strncmp(kind, "window", 6) == 0 ? CUZK_FILECOIN_WINDOW : CUZK_FILECOIN_WINNING;
        case_add(&c, "registered_proof", "registered_post_proof");
        case_add(&c, "randomness", "randomness");
        case_add_sectors(&c);
    }
    return c;
}

static inline void case_close(filecoin_case *c)
{
    cuzk_test_fixture_free(&c->json);
    cuzk_test_fixture_free(&c->proof);
}

/* Path of the verifying key of the fixed trapdoor, which all cases of a kind and size share: free
 * with free. */
static inline char *case_vk_path(const filecoin_case *c)
{
    static const char *const of_2k[] = {
        [CUZK_FILECOIN_POREP] = "cases/porep-2k-1/porep-2k.vk",
        [CUZK_FILECOIN_UPDATE] = "cases/update-2k-6/update-2k.vk",
        [CUZK_FILECOIN_WINDOW] = "cases/window-2k-1sectors-3/window-2k.vk",
        [CUZK_FILECOIN_WINNING] = "cases/winning-2k-5/winning-2k.vk"};
    return cuzk_test_fixture_path(
        strcmp(c->name, "porep-8m-2") == 0 ? "cases/porep-8m-2/porep-8m.vk" : of_2k[c->kind]);
}

static inline cuzk_filecoin_request *case_request(const filecoin_case *c)
{
    cuzk_error err;
    cuzk_filecoin_request *r = NULL;
    assert_ok(cuzk_filecoin_request_create(&r, c->kind, &err));
    for (unsigned i = 0; i < c->n_fields; i++) {
        assert_ok(cuzk_filecoin_request_set(r, c->fields[i].name, c->fields[i].text, &err));
    }
    for (unsigned i = 0; i < c->n_sectors; i++) {
        assert_ok(cuzk_filecoin_request_add_sector(r, c->sector_ids[i], c->comm_r[i], &err));
    }
    return r;
}

#endif
