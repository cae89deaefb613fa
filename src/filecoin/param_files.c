/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/param_files.h"

#include "base/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One circuit's published files, .params and .vk. */
typedef struct {
    cuzk_proof_kind kind;
    unsigned lg_nodes;
    cuzk_param_published files[2];
} published;

/* Digests and content ids: parameters.json, version 28. Sizes: the layout of the files and the
 * circuits' counts. */
static const published manifest[] = {
    {CUZK_PROOF_POREP,
     6,
     {{UINT64_C(1114707768),
       {0x43, 0x4f, 0xb1, 0x33, 0x8e, 0xcf, 0xaf, 0x0f, 0x59, 0x25, 0x6f, 0x30, 0xdd, 0xe4, 0x96,
        0x8f},
       "QmWceMgnWYLopMuM4AoGMvGEau7tNe5UK83XFjH5V9B17h"},
      {UINT64_C(4708),
       {0xdc, 0x1a, 0xde, 0x99, 0x29, 0xad, 0xe1, 0x70, 0x82, 0x38, 0xf1, 0x55, 0x34, 0x30, 0x44,
        0xac},
       "QmamahpFCstMUqHi2qGtVoDnRrsXhid86qsfvoyCTKJqHr"}}},
    {CUZK_PROOF_WINNING,
     6,
     {{UINT64_C(47299128),
       {0x82, 0xc8, 0x80, 0x66, 0xbe, 0x96, 0x8b, 0xb5, 0x50, 0xa0, 0x5e, 0x30, 0xff, 0x6c, 0x24,
        0x13},
       "QmcSTqDcFVLGGVYz1njhUZ7B6fkKtBumsLUwx4nkh22TzS"},
      {UINT64_C(13636),
       {0xff, 0xd7, 0x97, 0x88, 0xd6, 0x14, 0xd2, 0x79, 0x19, 0xae, 0x5b, 0xd2, 0xd9, 0x4e, 0xac,
        0xb6},
       "QmSTCXF2ipGA3f6muVo6kHc2URSx6PzZxGUqu7uykaH5KU"}}},
    {CUZK_PROOF_WINDOW,
     6,
     {{UINT64_C(11501496),
       {0x76, 0x10, 0xb9, 0xf8, 0x2b, 0xfc, 0x88, 0x40, 0x5b, 0x7a, 0x83, 0x2b, 0x65, 0x1c, 0xe2,
        0xf6},
       "QmVxjFRyhmyQaZEtCh7nk2abc7LhFkzhnRX4rcHqCCpikR"},
      {UINT64_C(3076),
       {0x0e, 0x09, 0x58, 0x00, 0x99, 0x36, 0xb9, 0xd5, 0xe5, 0x15, 0xec, 0x97, 0xb8, 0xcb, 0x79,
        0x2d},
       "QmcS5JZs8X3TdtkEBpHAdUYjdNDqcL7fWQFtQz69mpnu2X"}}},
    {CUZK_PROOF_UPDATE,
     6,
     {{UINT64_C(655789464),
       {0x31, 0x1f, 0x92, 0xa3, 0xe7, 0x50, 0x36, 0xce, 0xd0, 0x1b, 0x1c, 0x00, 0x25, 0xf1, 0xfa,
        0x0c},
       "QmYM6Hg7mjmvA3ZHTsqkss1fkdyDju5dDmLiBZGJ5pz9y9"},
      {UINT64_C(1348),
       {0xea, 0xda, 0xd9, 0x78, 0x49, 0x69, 0x89, 0x0d, 0x30, 0xf2, 0x74, 0x97, 0x08, 0xc7, 0x97,
        0x71},
       "QmaQsTLL3nc5dw6wAvaioJSBfd1jhQrA2o6ucFf7XeV74P"}}},
    {CUZK_PROOF_POREP,
     18,
     {{UINT64_C(1429027896),
       {0x09, 0xe6, 0x12, 0xe4, 0xee, 0xb7, 0xa0, 0xeb, 0x95, 0x67, 0x9a, 0x88, 0x40, 0x4f, 0x96,
        0x0c},
       "QmPXAPPuQtuQz7Zz3MHMAMEtsYwqM1o9H1csPLeiMUQwZH"},
      {UINT64_C(4708),
       {0xb6, 0x87, 0xbe, 0xb9, 0xad, 0xbd, 0x9d, 0xab, 0xe2, 0x65, 0xa7, 0xe3, 0x62, 0x08, 0x13,
        0xe4},
       "QmYCuipFyvVW1GojdMrjK1JnMobXtT4zRCZs1CGxjizs99"}}},
    {CUZK_PROOF_WINNING,
     18,
     {{UINT64_C(113383224),
       {0x70, 0x01, 0x71, 0xec, 0xf7, 0x33, 0x4e, 0x31, 0x99, 0x43, 0x7c, 0x93, 0x06, 0x76, 0xaf,
        0x82},
       "QmU9SBzJNrcjRFDiFc4GcApqdApN6z9X7MpUr66mJ2kAJP"},
      {UINT64_C(13636),
       {0x79, 0xeb, 0xb5, 0x5f, 0x56, 0xfd, 0xa4, 0x27, 0x74, 0x3e, 0x35, 0x05, 0x3e, 0xda, 0xd8,
        0xfc},
       "QmbmUMa3TbbW3X5kFhExs6WgC4KeWT18YivaVmXDkB6ANG"}}},
    {CUZK_PROOF_WINDOW,
     18,
     {{UINT64_C(30859704),
       {0xc4, 0x94, 0x99, 0xbb, 0x76, 0xa0, 0x76, 0x28, 0x84, 0x89, 0x6f, 0x96, 0x83, 0x40, 0x3f,
        0x55},
       "QmdNEL2RtqL52GQNuj8uz6mVj5Z34NVnbaJ1yMyh1oXtBx"},
      {UINT64_C(3076),
       {0x34, 0xd4, 0xfe, 0xea, 0xcd, 0x9a, 0xbf, 0x78, 0x8d, 0x69, 0xef, 0x1b, 0xb4, 0xd8, 0xfd,
        0x00},
       "QmUiVYCQUgr6Y13pZFr8acWpSM4xvTXUdcvGmxyuHbKhsc"}}},
    {CUZK_PROOF_UPDATE,
     18,
     {{UINT64_C(4268165208),
       {0x5a, 0xed, 0xd2, 0xcf, 0x3e, 0x5c, 0x0a, 0x15, 0x62, 0x3d, 0x56, 0xa1, 0xb4, 0x31, 0x10,
        0xad},
       "QmQiT4qBGodrVNEgVTDXxBNDdPbaD8Ag7Sx3ZTq1zHX79S"},
      {UINT64_C(1348),
       {0xab, 0xd8, 0x02, 0x69, 0x05, 0x4d, 0x39, 0x1a, 0x73, 0x4f, 0xeb, 0xda, 0xc0, 0xd2, 0xe6,
        0x87},
       "QmdcpKUQvHM8RFRVKbk1yHfEqMcBzhtFWKRp9SNEmWq37i"}}},
    {CUZK_PROOF_POREP,
     24,
     {{UINT64_C(1988841144),
       {0x6c, 0x77, 0x59, 0x7e, 0xb9, 0x1a, 0xb9, 0x36, 0xc1, 0xce, 0xf4, 0xcf, 0x19, 0xeb, 0xa1,
        0xb3},
       "QmYBpTt7LWNAWr1JXThV5VxX7wsQFLd1PHrGYVbrU1EZjC"},
      {UINT64_C(4708),
       {0x06, 0x51, 0x79, 0xda, 0x19, 0xfb, 0xe5, 0x15, 0x50, 0x72, 0x67, 0x67, 0x7f, 0x02, 0x82,
        0x3e},
       "QmWionkqH2B6TXivzBSQeSyBxojaiAFbzhjtwYRrfwd8nH"}}},
    {CUZK_PROOF_WINNING,
     24,
     {{UINT64_C(165299640),
       {0x82, 0x73, 0x59, 0x44, 0x03, 0x49, 0xfe, 0x8f, 0x5a, 0x01, 0x6e, 0x75, 0x98, 0x99, 0x3b,
        0x79},
       "QmVgCsJFRXKLuuUhT3aMYwKVGNA9rDeR6DCrs7cAe8riBT"},
      {UINT64_C(13636),
       {0xbd, 0x2c, 0xd6, 0x2f, 0x65, 0xc1, 0xab, 0x84, 0xf1, 0x9c, 0xa2, 0x7e, 0x97, 0xb7, 0xc7,
        0x31},
       "QmfA31fbCWojSmhSGvvfxmxaYCpMoXP95zEQ9sLvBGHNaN"}}},
    {CUZK_PROOF_WINDOW,
     24,
     {{UINT64_C(45257400),
       {0x1a, 0x7d, 0x4a, 0x9c, 0x8a, 0x50, 0x2a, 0x49, 0x7e, 0xd9, 0x2a, 0x54, 0x36, 0x6a, 0xf3,
        0x3f},
       "QmUiRx71uxfmUE8V3H9sWAsAXoM88KR4eo1ByvvcFNeTLR"},
      {UINT64_C(3076),
       {0x4d, 0xae, 0x97, 0x5d, 0xe4, 0xf0, 0x11, 0xf1, 0x01, 0xf5, 0xa2, 0xf8, 0x6d, 0x1d, 0xaa,
        0xba},
       "QmfCeddjFpWtavzfEzZpJfzSajGNwfL4RjFXWAvA9TSnTV"}}},
    {CUZK_PROOF_UPDATE,
     24,
     {{UINT64_C(21741422712),
       {0xc3, 0xad, 0x7b, 0xb5, 0x49, 0x47, 0x0b, 0x82, 0xad, 0x52, 0xed, 0x07, 0x0a, 0xeb, 0xb4,
        0xf4},
       "Qma5WL6abSqYg9uUQAZ3EHS286bsNsha7oAGsJBD48Bq2q"},
      {UINT64_C(1348),
       {0x99, 0x4c, 0x5b, 0x7d, 0x45, 0x0c, 0xa9, 0xda, 0x34, 0x8c, 0x91, 0x06, 0x89, 0xf2, 0xdc,
        0x7f},
       "QmUa7f9JtJMsqJJ3s3ZXk6WyF4xJLE8FiqYskZGgk8GCDv"}}},
    {CUZK_PROOF_POREP,
     30,
     {{UINT64_C(47373928632),
       {0x6a, 0x38, 0x80, 0x72, 0xa5, 0x18, 0xcf, 0x46, 0xeb, 0xd6, 0x61, 0xf5, 0xcc, 0x46, 0x90,
        0x0a},
       "QmengpM684XLQfG8754ToonszgEg2bQeAGUan5uXTHUQzJ"},
      {UINT64_C(32356),
       {0x0c, 0x7b, 0x4a, 0xac, 0x1c, 0x40, 0xfd, 0xb7, 0xeb, 0x82, 0xbc, 0x35, 0x5b, 0x41, 0xad,
        0xdf},
       "Qmf93EMrADXAK6CyiSfE8xx45fkMfR3uzKEPCvZC1n2kzb"}}},
    {CUZK_PROOF_WINNING,
     30,
     {{UINT64_C(192050232),
       {0xd8, 0x4f, 0x79, 0xa1, 0x6f, 0xe4, 0x0e, 0x9e, 0x25, 0xa3, 0x6e, 0x21, 0x07, 0xbb, 0x1b,
        0xa0},
       "Qmdtczp7p4wrbDofmHdGhiixn9irAcN77mV9AEHZBaTt1i"},
      {UINT64_C(13636),
       {0xfc, 0x02, 0x94, 0x36, 0x78, 0xdd, 0x11, 0x9e, 0x69, 0xe7, 0xfa, 0xb8, 0x42, 0x0e, 0x88,
        0x19},
       "QmZCvxKcKP97vDAk8Nxs9R1fWtqpjQrAhhfXPoCi1nkDoF"}}},
    {CUZK_PROOF_WINDOW,
     30,
     {{UINT64_C(60780374232),
       {0x2c, 0xf4, 0x9e, 0xb2, 0x6f, 0x1f, 0xee, 0x94, 0xc8, 0x57, 0x81, 0xa3, 0x90, 0xdd, 0xb4,
        0xc8},
       "QmaUmfcJt6pozn8ndq1JVBzLRjRJdHMTPd4foa8iw5sjBZ"},
      {UINT64_C(2481508),
       {0x0f, 0x8e, 0xc5, 0x42, 0x48, 0x55, 0x68, 0xfa, 0x34, 0x68, 0xc0, 0x66, 0xe9, 0xfe, 0xd8,
        0x2b},
       "QmR9i9KL3vhhAqTBGj1bPPC7LvkptxrH9RvxJxLN1vvsBE"}}},
    {CUZK_PROOF_UPDATE,
     30,
     {{UINT64_C(34453501368),
       {0x1b, 0x3c, 0xfd, 0x76, 0x1a, 0x96, 0x15, 0x43, 0xf9, 0xeb, 0x27, 0x3e, 0x43, 0x5a, 0x06,
        0xa2},
       "QmNPc75iEfcahCwNKdqnWLtxnjspUGGR4iscjiz3wP3RtS"},
      {UINT64_C(1348),
       {0x3a, 0x69, 0x41, 0x98, 0x37, 0x54, 0x73, 0x7f, 0xde, 0x88, 0x0d, 0x29, 0xc7, 0x09, 0x49,
        0x05},
       "QmdFFUe1gcz9MMHc6YW8aoV48w4ckvcERjt7PkydQAMfCN"}}},
    {CUZK_PROOF_POREP,
     31,
     {{UINT64_C(47624967288),
       {0x18, 0x01, 0xf8, 0xa6, 0xe1, 0xb0, 0x0b, 0xce, 0xb0, 0x0c, 0xc2, 0x73, 0x14, 0xbb, 0x5c,
        0xe3},
       "QmS7ye6Ri2MfFzCkcUJ7FQ6zxDKuJ6J6B8k5PN7wzSR9sX"},
      {UINT64_C(32356),
       {0xa8, 0x98, 0x84, 0x25, 0x2c, 0x04, 0xc2, 0x98, 0xd0, 0xb3, 0xc8, 0x1b, 0xfd, 0x88, 0x41,
        0x64},
       "QmehSmC6BhrgRZakPDta2ewoH9nosNzdjCqQRXsNFNUkLN"}}},
    {CUZK_PROOF_WINNING,
     31,
     {{UINT64_C(200014584),
       {0x21, 0x70, 0xa9, 0x1a, 0xd5, 0xba, 0xe2, 0x2e, 0xa6, 0x1f, 0x2e, 0xa7, 0x66, 0x63, 0x03,
        0x22},
       "QmVkrXc1SLcpgcudK5J25HH93QvR9tNsVhVTYHm5UymXAz"},
      {UINT64_C(13636),
       {0x6d, 0x37, 0x89, 0x14, 0x8f, 0xb6, 0x46, 0x6d, 0x07, 0xee, 0x1e, 0x24, 0xd6, 0x29, 0x2f,
        0xd6},
       "QmbfQjPD7EpzjhWGmvWAsyN2mAZ4PcYhsf3ujuhU9CSuBm"}}},
    {CUZK_PROOF_WINDOW,
     31,
     {{UINT64_C(62556733560),
       {0x38, 0x10, 0xb7, 0x78, 0x0a, 0xc0, 0xe2, 0x99, 0xb2, 0x2a, 0xe7, 0x0f, 0x1f, 0x94, 0xc9,
        0xbc},
       "QmeAN4vuANhXsF8xP2Lx5j2L6yMSdogLzpcvqCJThRGK1V"},
      {UINT64_C(2429764),
       {0x59, 0xd2, 0xbf, 0x18, 0x57, 0xad, 0xc5, 0x9a, 0x4f, 0x08, 0xfc, 0xf2, 0xaf, 0xaa, 0x91,
        0x6b},
       "QmWV8rqZLxs1oQN9jxNWmnT1YdgLwCcscv94VARrhHf1T7"}}},
    {CUZK_PROOF_UPDATE,
     31,
     {{UINT64_C(35507495352),
       {0x1a, 0x39, 0x2e, 0x7b, 0x75, 0x9f, 0xb1, 0x8e, 0x03, 0x6c, 0x75, 0x59, 0xb5, 0xec, 0xe8,
        0x16},
       "QmUB6xTVjzBQGuDNeyJMrrJ1byk58vhPm8eY2Lv9pgwanp"},
      {UINT64_C(1348),
       {0x80, 0xe3, 0x66, 0xdf, 0x2f, 0x10, 0x11, 0x95, 0x3c, 0x2d, 0x01, 0xc7, 0xb7, 0xc9, 0xee,
        0x8e},
       "Qmd794Jty7k26XJ8Eg4NDEks65Qk8G4GVfGkwqvymv8HAg"}}},
};

static const cuzk_proof_kind kinds[] = {CUZK_PROOF_POREP, CUZK_PROOF_UPDATE, CUZK_PROOF_WINDOW,
                                        CUZK_PROOF_WINNING};

char *cuzk_circuit_id(char out[CUZK_PARAM_CIRCUIT_MAX], cuzk_proof_kind kind,
                      const cuzk_sector *sector)
{
    snprintf(out, CUZK_PARAM_CIRCUIT_MAX, "%s-%s", cuzk_proof_kind_id(kind), sector->id);
    return out;
}

cuzk_status cuzk_circuit_id_parse(cuzk_proof_kind *kind, const cuzk_sector **sector, const char *id,
                                  cuzk_error *err)
{
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (unsigned i = 0; i < cuzk_sector_count(); i++) {
            const cuzk_sector *s = cuzk_sector_at(i);
            char spelled[CUZK_PARAM_CIRCUIT_MAX];
            if ((!s->update_only || kinds[k] == CUZK_PROOF_UPDATE) &&
                strcmp(id, cuzk_circuit_id(spelled, kinds[k], s)) == 0) {
                *kind = kinds[k];
                *sector = s;
                return CUZK_OK;
            }
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARGUMENT,
                     "circuit \"%s\" is not known: expected porep-, snap-, wpost- or winning- and "
                     "a size such as 2k, 8m, 512m, 32g or 64g",
                     id);
}

/* "merkletree-poseidon_hasher-8-8-0" */
static void tree_name(char *out, size_t size, const cuzk_sector *sector)
{
    snprintf(out, size, "merkletree-poseidon_hasher-%d-%u-%u", CUZK_POSEIDON_BASE_ARITY,
             sector->sub_arity, sector->top_arity);
}

char *cuzk_param_identifier(char out[CUZK_PARAM_IDENTIFIER_MAX], cuzk_proof_kind kind,
                            const cuzk_sector *sector)
{
    uint64_t nodes = cuzk_sector_nodes(sector);
    char tree[64];
    tree_name(tree, sizeof tree, sector);
    cuzk_porep_shape porep = cuzk_porep_shape_of(sector, false);
    switch (kind) {
    case CUZK_PROOF_POREP:
        snprintf(out, CUZK_PARAM_IDENTIFIER_MAX,
                 "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{"
                 "expansion_degree: %d base_graph: drgraph::BucketGraph{size: %" PRIu64
                 "; degree: %d; hasher: poseidon_hasher} }, challenges: LayerChallenges { "
                 "layers: %u, max_count: %u }, tree: %s }",
                 CUZK_EXP_PARENTS, nodes, CUZK_DRG_PARENTS, porep.layers, porep.challenges, tree);
        break;
    case CUZK_PROOF_UPDATE:
        snprintf(out, CUZK_PARAM_IDENTIFIER_MAX,
                 "empty_sector_update::PublicParams{ sector_nodes: %" PRIu64 " }", nodes);
        break;
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING: {
        /* Winning: the one sector fills as many slots as it has challenges */
        bool window = kind == CUZK_PROOF_WINDOW;
        snprintf(out, CUZK_PARAM_IDENTIFIER_MAX,
                 "FallbackPoSt::PublicParams{sector_size: %" PRIu64
                 ", challenge_count: %u, sector_count: %u}",
                 sector->bytes, window ? CUZK_WINDOW_CHALLENGES : 1u,
                 window ? cuzk_window_sectors(sector) : CUZK_WINNING_CHALLENGES);
        break;
    }
    }
    return out;
}

static const char *name_prefix(cuzk_proof_kind kind)
{
    return kind == CUZK_PROOF_POREP    ? "stacked-proof-of-replication"
           : kind == CUZK_PROOF_UPDATE ? "empty-sector-update"
                                       : "proof-of-spacetime-fallback";
}

char *cuzk_param_file_name(char out[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind,
                           const cuzk_sector *sector, cuzk_param_file file)
{
    char identifier[CUZK_PARAM_IDENTIFIER_MAX];
    char tree[64];
    tree_name(tree, sizeof tree, sector);
    cuzk_param_identifier(identifier, kind, sector);
    uint8_t digest[CUZK_SHA256_BYTES];
    cuzk_sha256_digest(digest, identifier, strlen(identifier));
    char hex[2 * CUZK_SHA256_BYTES + 1];
    for (unsigned i = 0; i < CUZK_SHA256_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    snprintf(out, CUZK_PARAM_NAME_MAX, "v28-%s-%s%s-%s.%s", name_prefix(kind), tree,
             kind == CUZK_PROOF_POREP ? "-sha256_hasher" : "", hex,
             file == CUZK_PARAM_FILE_VK ? "vk" : "params");
    return out;
}

const cuzk_param_published *
cuzk_param_published_get(cuzk_proof_kind kind, const cuzk_sector *sector, cuzk_param_file file)
{
    for (unsigned i = 0; i < sizeof manifest / sizeof manifest[0]; i++) {
        if (manifest[i].kind == kind && manifest[i].lg_nodes == sector->lg_nodes) {
            return &manifest[i].files[file];
        }
    }
    return NULL;
}

const char *cuzk_param_folder(void)
{
    const char *folder = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return folder != NULL && folder[0] != '\0' ? folder : "/var/tmp/filecoin-proof-parameters";
}
