/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Poseidon: the tables against digests of published ones, hashes and values against the reference's
 * files, random hashes of every count around the batch against the plain definition, and the values
 * of random hashes against the reference's constraints. */
#include "base/cpu.h"
#include "base/sha256.h"
#include "fixtures.h"
#include "formats/wtns.h"
#include "gadget/poseidon.h"
#include "gadget/poseidon_table.h"
#include "r1cs/satisfy.h"
#include "r1cs/shape_r1cs.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0004;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

static const cuzk_curve *curve(void)
{
    return cuzk_curve_get(CUZK_CURVE_BLS12_381);
}

/* 0, 1, r-1, r-2, small or full-width. */
static void random_value(uint8_t out[32])
{
    cuzk_fr x = {{0}};
    uint64_t kind = next_random() % 8;
    if (kind < 4) {
        curve()->fr_from_u64(&x, kind % 2 + kind / 2);
        if (kind >= 2) {
            curve()->fr_neg(&x, &x);
        }
    } else if (kind == 4) {
        curve()->fr_from_u64(&x, next_random());
    } else {
        for (int i = 0; i < 4; i++) {
            x.l[i] = next_random();
        }
        x.l[3] %= curve()->r[3];
    }
    curve()->fr_to_canonical_le(out, &x);
}

static void expect_bytes(const char *what, unsigned arity, size_t index, const void *found,
                         const void *expected)
{
    if (memcmp(found, expected, 32) != 0) {
        const uint8_t *f = found, *e = expected;
        fprintf(stderr, "%s, arity %u, index %zu\nfound    ", what, arity, index);
        for (int i = 0; i < 32; i++) {
            fprintf(stderr, "%02x", f[i]);
        }
        fprintf(stderr, "\nexpected ");
        for (int i = 0; i < 32; i++) {
            fprintf(stderr, "%02x", e[i]);
        }
        fprintf(stderr, "\n");
        fail();
    }
}

static void expect_hex(const char *what, unsigned arity, const void *found, const char *hex)
{
    uint8_t expected[32];
    for (int i = 0; i < 32; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        expected[i] = (uint8_t)byte;
    }
    expect_bytes(what, arity, 0, found, expected);
}

/* ---- known answers ---- */

/* spec: gadgets.md 6.8 */
static const struct {
    unsigned arity;
    uint64_t tag;
    const char *digest;
} known[] = {
    {2, 3, "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"},
    {4, 15, "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"},
    {8, 255, "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423"},
    {11, 2047, "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"},
    {2, (uint64_t)1 << 40, "587707bcc44ea7e5c7677339ea0b58e325fea03481c51fad4e92f0e7c4354a31"},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

/* SHA-256 of the canonical bytes of the tables. */
static const struct {
    unsigned arity, n_partial, n_values;
    const char *rc, *crc, *mds, *pre_sparse, *sparse;
} tables[] = {
    {2, 55, 311, "cf4dfb7448132022e22b32e3dce6b125cb06329448f9e8d8fe53a71c73cbe6d4",
     "b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
     "b55e71db69c416c830c28ca9871f933b6c27220eae309801c981ee3b0885ee51",
     "13d6e8e5ba45b0d2096617d055499f36adad1aab6853de143ed42b14eea9a0f6",
     "a2fe507a83bddb8d57e5a00e7e58e79800c272b0db7dd4141943f6e567e99138"},
    {4, 56, 377, "91e463d6553415b3901b9f26b2ad53e6298ac3e5ab0ef260d397bafe8bdde98e",
     "3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
     "42a9ccbf22e42dc598fbe106f6b5019b46d545a725eb7538ba6bcf3765b350ab",
     "aee67dfb1ae8c43eca89f5742a745c6309f2d302ab741b75d2641b7025d87413",
     "f1c3c3a9fe9ea4a3c38c91971e5f379da38123fe1dcf960b461d84c5ba759f2b"},
    {8, 57, 505, "9a4a743575f0eaf285c93d73f8adaf4e7ef4042c2445b42bddaf1a64e5face72",
     "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
     "82d366586a4b49ae74f4c5bbc94bbed0a0eb064584097367d926ae1f11e30894",
     "dcfbdaea3eb7e347664c8f881c5443b1895f10c85cab0878022eb287defa8587",
     "3f823785875d8cc161c963d2a62d103a3fefab30eb4244cef877d8e624fb79f4"},
    {11, 57, 598, "479dc0d71d694cd50d853dec0c94aeb37df2a69929eaa23b545a52b1226aec06",
     "2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
     "7ef350e5db367cae7828071ca354fefd25c59fe77e31261d27fb2ce8f14ff956",
     "f2a7353f0ce5ad724a7a58bf2db0e37f7c5662f064a6c97466021af83279a96e",
     "810a4d7f126f6e5fb3eb1980b57c70f90bb835219373d955726e30b3ca931556"},
};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

static void digest_elements(cuzk_sha256 *sha, const cuzk_fr *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        curve()->fr_to_canonical_le(bytes, &x[i]);
        cuzk_sha256_update(sha, bytes, 32);
    }
}

static void expect_digest(const char *what, unsigned arity, const cuzk_fr *x, size_t n,
                          const char *hex)
{
    cuzk_sha256 sha;
    uint8_t out[32];
    cuzk_sha256_init(&sha);
    digest_elements(&sha, x, n);
    cuzk_sha256_final(&sha, out);
    expect_hex(what, arity, out, hex);
}

static void test_tables(void **state)
{
    (void)state;
    for (int i = 0; i < N_TABLES; i++) {
        unsigned arity = tables[i].arity, t = arity + 1, n_partial = tables[i].n_partial;
        static cuzk_fr rc[CUZK_POSEIDON_ROUNDS_MAX * CUZK_POSEIDON_T_MAX];
        const cuzk_poseidon_table *k = cuzk_poseidon_table_get(arity);
        assert_non_null(k);
        assert_int_equal(k->n_partial, n_partial);
        assert_int_equal(cuzk_poseidon_n_values(arity), tables[i].n_values);
        cuzk_poseidon_round_constants(rc, curve(), t, n_partial);
        expect_digest("rc", arity, rc, (size_t)(8 + n_partial) * t, tables[i].rc);
        expect_digest("crc", arity, k->crc, (size_t)8 * t + n_partial, tables[i].crc);
        expect_digest("mds", arity, k->mds, (size_t)t * t, tables[i].mds);
        expect_digest("pre_sparse", arity, k->pre_sparse, (size_t)t * t, tables[i].pre_sparse);
        cuzk_sha256 sha;
        uint8_t out[32];
        cuzk_sha256_init(&sha);
        for (unsigned p = 0; p < n_partial; p++) {
            digest_elements(&sha, k->w_hat[p], t);
            digest_elements(&sha, k->v_rest[p], t - 1);
        }
        cuzk_sha256_final(&sha, out);
        expect_hex("sparse", arity, out, tables[i].sparse);
    }
}

static void test_arities(void **state)
{
    (void)state;
    for (unsigned arity = 0; arity < 40; arity++) {
        bool has = arity == 2 || arity == 4 || arity == 8 || arity == 11;
        assert_int_equal(cuzk_poseidon_has_arity(arity), has);
        assert_int_equal(cuzk_poseidon_table_get(arity) != NULL, has);
    }
}

static void test_known(void **state)
{
    (void)state;
    for (int i = 0; i < N_KNOWN; i++) {
        uint8_t preimage[3 * 11 * 32] = {0}, digest[3][32];
        for (unsigned k = 0; k < known[i].arity; k++) {
            for (unsigned n = 0; n < 3; n++) {
                preimage[32 * (n * known[i].arity + k)] = (uint8_t)k;
            }
        }
        /* alone and in a batch: different code on the eight-lane paths */
        for (size_t n = 1; n <= 3; n++) {
            cuzk_poseidon_hash(known[i].arity, known[i].tag, digest, preimage, n);
            expect_hex("alone", known[i].arity, digest[0], known[i].digest);
            expect_hex("last", known[i].arity, digest[n - 1], known[i].digest);
        }
    }
}

/* ---- the definition ---- */

/* o = v·m */
static void plain_mix(cuzk_fr *v, const cuzk_fr *m, unsigned t)
{
    cuzk_fr fresh[12], p;
    for (unsigned j = 0; j < t; j++) {
        fresh[j] = (cuzk_fr){{0}};
        for (unsigned i = 0; i < t; i++) {
            curve()->fr_mul(&p, &v[i], &m[i * t + j]);
            curve()->fr_add(&fresh[j], &fresh[j], &p);
        }
    }
    memcpy(v, fresh, t * sizeof *v);
}

static void plain_hash(unsigned arity, uint64_t tag, uint8_t out[32], const uint8_t *preimage)
{
    static cuzk_fr rc[12][CUZK_POSEIDON_ROUNDS_MAX * CUZK_POSEIDON_T_MAX];
    static bool have[12];
    const cuzk_poseidon_table *k = cuzk_poseidon_table_get(arity);
    unsigned t = k->t, n_rounds = 8 + k->n_partial;
    if (!have[arity]) {
        cuzk_poseidon_round_constants(rc[arity], curve(), t, k->n_partial);
        have[arity] = true;
    }
    cuzk_fr s[12];
    curve()->fr_from_u64(&s[0], tag);
    for (unsigned i = 0; i < arity; i++) {
        assert_true(curve()->fr_from_canonical_le(&s[i + 1], preimage + 32 * i));
    }
    for (unsigned r = 0; r < n_rounds; r++) {
        for (unsigned i = 0; i < t; i++) {
            curve()->fr_add(&s[i], &s[i], &rc[arity][r * t + i]);
        }
        bool full = r < 4 || r >= n_rounds - 4;
        for (unsigned i = 0; i < (full ? t : 1); i++) {
            curve()->fr_pow_u64(&s[i], &s[i], 5);
        }
        plain_mix(s, k->mds, t);
    }
    curve()->fr_to_canonical_le(out, &s[1]);
}

static void test_definition(void **state)
{
    (void)state;
    enum { N_MAX = 35 };
    static uint8_t preimage[N_MAX * 11 * 32], digest[N_MAX][32], expected[N_MAX][32];
    for (int i = 0; i < N_KNOWN; i++) {
        unsigned arity = known[i].arity;
        for (unsigned k = 0; k < N_MAX * arity; k++) {
            random_value(preimage + 32 * k);
        }
        for (size_t k = 0; k < N_MAX; k++) {
            plain_hash(arity, known[i].tag, expected[k], preimage + 32 * arity * k);
        }
        static const size_t counts[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, N_MAX};
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            memset(digest, 0xee, sizeof digest);
            cuzk_poseidon_hash(arity, known[i].tag, digest, preimage, counts[c]);
            for (size_t k = 0; k < counts[c]; k++) {
                expect_bytes("digest", arity, k, digest[k], expected[k]);
            }
            for (size_t k = counts[c]; k < N_MAX; k++) {
                assert_int_equal(digest[k][0], 0xee);
            }
        }
        /* a level of a tree, in place */
        cuzk_poseidon_hash(arity, known[i].tag, preimage, preimage, N_MAX);
        assert_memory_equal(preimage, expected, sizeof expected);
    }
}

/* ---- the values of the circuit ---- */

static const char *const golden[N_KNOWN] = {"poseidon2", "poseidon4", "poseidon8", "poseidon11",
                                            "poseidon2_tag40"};

static cuzk_fixture golden_file(const char *name, const char *extension)
{
    char path[80];
    snprintf(path, sizeof path, "gadgets/%s.%s", name, extension);
    return cuzk_test_fixture(path);
}

static void test_golden_values(void **state)
{
    (void)state;
    for (int i = 0; i < N_KNOWN; i++) {
        cuzk_fixture f = golden_file(golden[i], "wtns");
        cuzk_wtns w;
        assert_int_equal(cuzk_wtns_open(&w, f.data, f.size, NULL), CUZK_OK);
        unsigned arity = known[i].arity, n = cuzk_poseidon_n_values(arity);
        assert_int_equal(w.n_values, 1 + arity + n);
        const uint8_t *preimage = w.values + 32;
        /* one alone and three in a batch, unaligned */
        for (size_t count = 1; count <= 3; count += 2) {
            uint8_t *in = malloc(count * arity * 32 + 1), *out[3];
            for (size_t k = 0; k < count; k++) {
                memcpy(in + 1 + k * arity * 32, preimage, arity * 32);
                out[k] = malloc(32 * (size_t)n + 1);
                assert_non_null(out[k]);
                out[k][32 * (size_t)n] = 0xee;
            }
            cuzk_poseidon_values(arity, known[i].tag, (void *const *)out, in + 1, count);
            for (size_t k = 0; k < count; k++) {
                for (unsigned v = 0; v < n; v++) {
                    expect_bytes(golden[i], arity, v, out[k] + 32 * v,
                                 w.values + 32 * (1 + arity + v));
                }
                assert_int_equal(out[k][32 * (size_t)n], 0xee);
                free(out[k]);
            }
            free(in);
        }
        cuzk_test_fixture_free(&f);
    }
}

/* Values of random preimages: their digest is the hash, and they satisfy the reference's rows. */
static void test_random_values(void **state)
{
    (void)state;
    enum { N = 17 };
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 1, NULL), CUZK_OK);
    for (int i = 0; i < N_KNOWN; i++) {
        unsigned arity = known[i].arity, n = cuzk_poseidon_n_values(arity), n_vars = 1 + arity + n;
        cuzk_fixture f = golden_file(golden[i], "r1cs");
        cuzk_r1cs r1cs;
        cuzk_shape *shape;
        assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_shape_from_r1cs(&shape, &r1cs, NULL), CUZK_OK);
        uint8_t *in = malloc((size_t)N * arity * 32), *vars = malloc((size_t)N * n_vars * 32);
        assert_true(in != NULL && vars != NULL);
        void *out[N];
        for (unsigned k = 0; k < N; k++) {
            uint8_t *v = vars + (size_t)32 * n_vars * k;
            memset(v, 0, 32);
            v[0] = 1;
            for (unsigned e = 0; e < arity; e++) {
                random_value(v + 32 * (1 + e));
            }
            memcpy(in + (size_t)32 * arity * k, v + 32, 32 * arity);
            out[k] = v + 32 * (1 + arity);
        }
        cuzk_poseidon_values(arity, known[i].tag, out, in, N);
        for (unsigned k = 0; k < N; k++) {
            uint8_t *v = vars + (size_t)32 * n_vars * k, digest[32];
            cuzk_witness *w;
            cuzk_error err = {0};
            assert_int_equal(
                cuzk_witness_from_values(&w, curve(), v, n_vars, 1, "values", pool, &err), CUZK_OK);
            if (cuzk_shape_check_witness(shape, w, NULL, pool, &err) != CUZK_OK) {
                fail_msg("arity %u, hash %u: %s", arity, k, err.text);
            }
            cuzk_witness_destroy(w);
            plain_hash(arity, known[i].tag, digest, in + (size_t)32 * arity * k);
            expect_bytes("last value", arity, k, v + 32 * (n_vars - 1), digest);
        }
        free(in);
        free(vars);
        cuzk_shape_destroy(shape);
        cuzk_test_fixture_free(&f);
    }
    cuzk_pool_destroy(pool);
}

int main(void)
{
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        print_message("skipped: %s\n", err.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),        cmocka_unit_test(test_arities),
        cmocka_unit_test(test_known),         cmocka_unit_test(test_definition),
        cmocka_unit_test(test_golden_values), cmocka_unit_test(test_random_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
