/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sector sizes, registered proof numbers, circuit ids, parameter file names and digests, against
 * the reference's published registry (parameters.json, version 28) and its numbering. */
#include "filecoin/param_files.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *circuit, *stem, *params_digest, *vk_digest;
} published[] = {
    {"porep-2k",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
     "434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac"},
    {"winning-2k",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
     "82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6"},
    {"wpost-2k",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
     "7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d"},
    {"snap-2k",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
     "311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771"},
    {"porep-8m",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
     "09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4"},
    {"winning-8m",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
     "700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc"},
    {"wpost-8m",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
     "c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00"},
    {"snap-8m",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63",
     "5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687"},
    {"porep-512m",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
     "6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e"},
    {"winning-512m",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781",
     "827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731"},
    {"wpost-512m",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
     "1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba"},
    {"snap-512m",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c",
     "c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f"},
    {"porep-32g",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
     "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
     "6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf"},
    {"winning-32g",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
     "d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819"},
    {"wpost-32g",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
     "2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b"},
    {"snap-32g",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18",
     "1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905"},
    {"porep-64g",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
     "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
     "1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164"},
    {"winning-64g",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
     "2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6"},
    {"wpost-64g",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
     "3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b"},
    {"snap-64g",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7",
     "1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e"},
};
enum { N_PUBLISHED = sizeof published / sizeof published[0] };

static void check_published(cuzk_proof_kind kind, const cuzk_sector *sector, cuzk_param_file file,
                            const char *digest)
{
    const cuzk_param_published *p = cuzk_param_published_get(kind, sector, file);
    assert_non_null(p);
    char hex[2 * CUZK_PARAM_DIGEST_BYTES + 1];
    for (unsigned i = 0; i < CUZK_PARAM_DIGEST_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", p->digest[i]);
    }
    assert_string_equal(hex, digest);
}

static void test_names_and_digests(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_PUBLISHED; i++) {
        cuzk_error err = {0};
        cuzk_proof_kind kind;
        const cuzk_sector *sector;
        assert_int_equal(cuzk_circuit_id_parse(&kind, &sector, published[i].circuit, &err),
                         CUZK_OK);
        char id[CUZK_PARAM_CIRCUIT_MAX];
        assert_string_equal(cuzk_circuit_id(id, kind, sector), published[i].circuit);
        char name[CUZK_PARAM_NAME_MAX];
        char expected[CUZK_PARAM_NAME_MAX];
        snprintf(expected, sizeof expected, "%s.params", published[i].stem);
        assert_string_equal(cuzk_param_file_name(name, kind, sector, CUZK_PARAM_FILE_PARAMS),
                            expected);
        snprintf(expected, sizeof expected, "%s.vk", published[i].stem);
        assert_string_equal(cuzk_param_file_name(name, kind, sector, CUZK_PARAM_FILE_VK), expected);
        check_published(kind, sector, CUZK_PARAM_FILE_PARAMS, published[i].params_digest);
        check_published(kind, sector, CUZK_PARAM_FILE_VK, published[i].vk_digest);
    }
    assert_null(cuzk_param_published_get(CUZK_PROOF_POREP, cuzk_sector_by_name("16KiB", 5),
                                         CUZK_PARAM_FILE_VK));
}

/* The .vk size follows from the number of inputs: 864 bytes of points, a count, 96 bytes an input.
 */
static void test_published_sizes(void **state)
{
    (void)state;
    static const struct {
        cuzk_proof_kind kind;
        const char *size;
        unsigned inputs;
        uint64_t params_bytes;
    } cases[] = {{CUZK_PROOF_POREP, "32GiB", 328, UINT64_C(47373928632)},
                 {CUZK_PROOF_WINDOW, "32GiB", 25840, UINT64_C(60780374232)},
                 {CUZK_PROOF_WINDOW, "64GiB", 25301, UINT64_C(62556733560)},
                 {CUZK_PROOF_WINNING, "2KiB", 133, UINT64_C(47299128)},
                 {CUZK_PROOF_UPDATE, "512MiB", 5, UINT64_C(21741422712)}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cuzk_sector *s = cuzk_sector_by_name(cases[i].size, strlen(cases[i].size));
        assert_int_equal(cuzk_param_published_get(cases[i].kind, s, CUZK_PARAM_FILE_VK)->bytes,
                         864 + 4 + 96 * cases[i].inputs);
        assert_int_equal(cuzk_param_published_get(cases[i].kind, s, CUZK_PARAM_FILE_PARAMS)->bytes,
                         cases[i].params_bytes);
    }
}

static void test_circuit_ids_refused(void **state)
{
    (void)state;
    static const char *const ids[] = {"",          "porep",      "porep-",
                                      "porep-99g", "porep-32G",  "seal-32g",
                                      "porep-1k",  "winning-8k", "snap-32g "};
    for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        cuzk_error err = {0};
        cuzk_proof_kind kind;
        const cuzk_sector *sector;
        assert_int_equal(cuzk_circuit_id_parse(&kind, &sector, ids[i], &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "porep-"));
    }
}

static void test_folder(void **state)
{
    (void)state;
    setenv("FIL_PROOFS_PARAMETER_CACHE", "/somewhere", 1);
    assert_string_equal(cuzk_param_folder(), "/somewhere");
    setenv("FIL_PROOFS_PARAMETER_CACHE", "", 1);
    assert_string_equal(cuzk_param_folder(), "/var/tmp/filecoin-proof-parameters");
    unsetenv("FIL_PROOFS_PARAMETER_CACHE");
    assert_string_equal(cuzk_param_folder(), "/var/tmp/filecoin-proof-parameters");
}

/* BC-077: every number from 0 to 20 and a large one, for each kind. */
static void test_registered_numbers(void **state)
{
    (void)state;
    static const char *const sizes[] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
    for (int kind = 0; kind <= 5; kind++) {
        for (uint64_t n = 0; n <= 21; n++) {
            uint64_t number = n == 21 ? UINT64_C(1) << 63 : n;
            bool valid = (kind == CUZK_PROOF_POREP && number < 20) ||
                         (kind == CUZK_PROOF_UPDATE && number < 5) ||
                         (kind == CUZK_PROOF_WINNING && number < 5) ||
                         (kind == CUZK_PROOF_WINDOW && number >= 5 && number < 15);
            cuzk_registered_proof p;
            cuzk_error err = {0};
            cuzk_status s = cuzk_registered_proof_get(&p, (cuzk_proof_kind)kind, number, &err);
            assert_int_equal(s, valid ? CUZK_OK : CUZK_E_ARGUMENT);
            if (!valid) {
                char text[32];
                snprintf(text, sizeof text, "%" PRIu64,
                         kind < 1 || kind > 4 ? (uint64_t)kind : number);
                assert_non_null(strstr(err.text, text));
                continue;
            }
            assert_int_equal(p.number, number);
            assert_string_equal(p.sector->name, sizes[number % 5]);
            cuzk_api_version api = CUZK_API_V1_0;
            if (kind == CUZK_PROOF_POREP) {
                api = number < 5 ? CUZK_API_V1_0 : number < 10 ? CUZK_API_V1_1 : CUZK_API_V1_2;
            } else if (kind == CUZK_PROOF_UPDATE) {
                api = CUZK_API_V1_1;
            } else if (number >= 10) {
                api = CUZK_API_V1_2;
            }
            assert_int_equal(p.api, api);
            assert_int_equal(p.variant, kind != CUZK_PROOF_POREP || number < 10 ? 0
                                        : number < 15 ? CUZK_POREP_SYNTHETIC
                                                      : CUZK_POREP_NON_INTERACTIVE);
        }
    }
}

static void test_seal_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t number;
        const char *size;
    } cases[] = {{"StackedDrg2KiBV1", 0, "2KiB"},
                 {"StackedDrg32GiBV1_1", 8, "32GiB"},
                 {"StackedDrg32GiBV1_1_Feat_SyntheticPoRep", 13, "32GiB"},
                 {"StackedDrg64GiBV1_2_Feat_NonInteractivePoRep", 19, "64GiB"},
                 {"StackedDrg16KiBV1_1", 5, "16KiB"}};
    cuzk_registered_proof p;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_error err = {0};
        assert_int_equal(
            cuzk_registered_seal_by_name(&p, cases[i].name, strlen(cases[i].name), &err), CUZK_OK);
        assert_int_equal(p.number, cases[i].number);
        assert_string_equal(p.sector->name, cases[i].size);
        char name[CUZK_REGISTERED_NAME_MAX];
        assert_string_equal(cuzk_registered_proof_name(name, &p), cases[i].name);
    }
    static const char *const wrong[] = {"",
                                        "StackedDrg",
                                        "StackedDrg2KiB",
                                        "StackedDrg2KiBV2",
                                        "StackedDrg3KiBV1",
                                        "stackeddrg2KiBV1",
                                        "StackedDrg1KiBV1"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_registered_seal_by_name(&p, wrong[i], strlen(wrong[i]), &err),
                         CUZK_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, wrong[i]));
    }
}

static void test_other_names(void **state)
{
    (void)state;
    cuzk_registered_proof p;
    char name[CUZK_REGISTERED_NAME_MAX];
    assert_int_equal(cuzk_registered_proof_get(&p, CUZK_PROOF_WINDOW, 13, NULL), CUZK_OK);
    assert_string_equal(cuzk_registered_proof_name(name, &p), "StackedDrgWindow32GiBV1_1");
    assert_int_equal(cuzk_registered_proof_resize(&p, cuzk_sector_by_name("16k", 3), NULL),
                     CUZK_OK);
    assert_string_equal(cuzk_registered_proof_name(name, &p), "StackedDrgWindow16KiBV1_1");
    assert_int_equal(p.api, CUZK_API_V1_2);
    assert_int_equal(cuzk_registered_proof_resize(&p, cuzk_sector_by_name("64g", 3), NULL),
                     CUZK_OK);
    assert_int_equal(p.number, 14);
    cuzk_error err = {0};
    assert_int_equal(cuzk_registered_proof_resize(&p, cuzk_sector_by_name("1k", 2), &err),
                     CUZK_E_UNSUPPORTED);
}

/* Trees hold exactly the sector's nodes; the numbers of porep.md, post.md and snapdeals.md. */
static void test_shapes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        uint64_t leaves =
            (s->sub_arity != 0 ? s->sub_arity : 1u) * (s->top_arity != 0 ? s->top_arity : 1u);
        for (unsigned l = 0; l < s->base_levels; l++) {
            leaves *= CUZK_POSEIDON_BASE_ARITY;
        }
        assert_int_equal(leaves, cuzk_sector_nodes(s));
        assert_int_equal(s->bytes, leaves * CUZK_NODE_BYTES);
        cuzk_update_shape u = cuzk_update_shape_of(s);
        assert_int_equal(1u << u.partition_bits, u.partitions);
        assert_true(u.digests * u.per_digest >= u.challenges);
        assert_true(u.partition_bits + u.apex_bits <= s->lg_nodes);
    }
    assert_null(cuzk_sector_at(cuzk_sector_count()));
    const cuzk_sector *large = cuzk_sector_by_bytes(UINT64_C(34359738368));
    assert_ptr_equal(large, cuzk_sector_by_name("32gib", 5));
    assert_ptr_equal(large, cuzk_sector_by_name("34359738368 bytes", 11));
    assert_null(cuzk_sector_by_name("33GiB", 5));
    assert_null(cuzk_sector_by_bytes(0));
    cuzk_porep_shape interactive = cuzk_porep_shape_of(large, false);
    assert_int_equal(interactive.layers, 11);
    assert_int_equal(interactive.partitions, 10);
    assert_int_equal(interactive.challenges, 18);
    cuzk_porep_shape ni = cuzk_porep_shape_of(large, true);
    assert_int_equal(ni.partitions * ni.challenges >= ni.min_total, 1);
    assert_int_equal(ni.partitions, 126);
    static const struct {
        const char *name;
        unsigned partitions, random_bits, per_digest, digests, challenges, h_select;
    } updates[] = {{"2KiB", 1, 6, 42, 1, 10, 1},
                   {"8MiB", 4, 16, 15, 1, 10, 8},
                   {"512MiB", 16, 20, 12, 8, 86, 8},
                   {"32GiB", 16, 26, 9, 10, 86, 8},
                   {"64GiB", 16, 27, 9, 10, 86, 8}};
    for (unsigned i = 0; i < 5; i++) {
        cuzk_update_shape u =
            cuzk_update_shape_of(cuzk_sector_by_name(updates[i].name, strlen(updates[i].name)));
        assert_int_equal(u.partitions, updates[i].partitions);
        assert_int_equal(u.random_bits, updates[i].random_bits);
        assert_int_equal(u.per_digest, updates[i].per_digest);
        assert_int_equal(u.digests, updates[i].digests);
        assert_int_equal(u.challenges, updates[i].challenges);
        assert_int_equal(u.h_select, updates[i].h_select);
    }
}

static void test_ids(void **state)
{
    (void)state;
    uint8_t id[32];
    cuzk_prover_id(id, 1000);
    assert_memory_equal(id, "\xe8\x07\0\0", 4);
    cuzk_prover_id(id, 127);
    assert_memory_equal(id, "\x7f\0", 2);
    cuzk_prover_id(id, UINT64_MAX);
    assert_memory_equal(id, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0", 11);
    cuzk_registered_proof p;
    assert_int_equal(cuzk_registered_proof_get(&p, CUZK_PROOF_POREP, 18, NULL), CUZK_OK);
    cuzk_porep_id(id, &p);
    assert_int_equal(id[0], 18);
    for (unsigned i = 1; i < 32; i++) {
        assert_int_equal(id[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_digests),
        cmocka_unit_test(test_published_sizes),
        cmocka_unit_test(test_circuit_ids_refused),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_registered_numbers),
        cmocka_unit_test(test_seal_names),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
