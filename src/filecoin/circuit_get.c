/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/circuit_get.h"

#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "r1cs/shape_store.h"

#include <string.h>

/* The reference's fingerprints of all circuits (tests/fixtures/shapes, which a test compares). */
static const struct {
    cuzk_proof_kind kind;
    const char *sector; /* id */
    const char *fingerprint;
} circuits[] = {
    {CUZK_PROOF_POREP, "2k", "71c0fea6df6fd723527666f9edc811c5f57bc38886629d9dc7eda107a1610126"},
    {CUZK_PROOF_POREP, "4k", "28dc027ce25a4d2f79d6857bf9b0a0365f680ac1fe21cb74d80f3a190e2d78cc"},
    {CUZK_PROOF_POREP, "16k", "40c114d5d03ae53ae7cd35221df8f6f9ee9d921a1f72df6eedb8f7893f750947"},
    {CUZK_PROOF_POREP, "32k", "c5dba324b9e2ca7d671a330d85c76651820e4cacc56d7e11aeff3f24e7f59a3e"},
    {CUZK_PROOF_POREP, "8m", "1ef025c7f3cff9c12a6d10274bd14816cb786cd9ed2458f6269184d90205f3ce"},
    {CUZK_PROOF_POREP, "512m", "3c03aedcaada7174a5e9afd41ccd1d655e45fbf9ab27cd25adb03a2fe0195fe6"},
    {CUZK_PROOF_POREP, "32g", "ccfc3f83c3efb866409a70a967ade4a70dd016e108d191f07a55e8d616ea6071"},
    {CUZK_PROOF_POREP, "64g", "640512083324155b4b57a60d5c32e4e9a6df28f5ee9a9d3a52bfb6e13d0fd434"},
    {CUZK_PROOF_UPDATE, "1k", "2339c3da919f95e943ac140ad427292272d330fb37c4b49a0630954b4d348b21"},
    {CUZK_PROOF_UPDATE, "2k", "cc653cf3ceaff1abc80f7f1e33739cce12bfe6c4ca1f47b031b1010ecc32c4d6"},
    {CUZK_PROOF_UPDATE, "4k", "62bf70290118776c6a7ee23a8d5940e9e0308bf469f0e14cb56bb4bf1fa7fcb1"},
    {CUZK_PROOF_UPDATE, "8k", "2056d1edae8b864ad0a44608951877d306259f6f94feef2343bf754bd921c517"},
    {CUZK_PROOF_UPDATE, "16k", "e08a7a4edc1d9ae1845a2fda070c0757ea31eb2a545e102e608f8eb031e654a7"},
    {CUZK_PROOF_UPDATE, "32k", "892bf0cf68c0c2850ae610cd214f98853a19f86cfbf458d5d16de145bd609869"},
    {CUZK_PROOF_UPDATE, "8m", "74ebec83f41b496447fd1d1da7b86ad3a626b649d0cca598620a0881e8072708"},
    {CUZK_PROOF_UPDATE, "512m", "7f5f3d3775e442a9a80f6b234bd440d75d1f226e3fa99a2ff1599d054108608f"},
    {CUZK_PROOF_UPDATE, "32g", "595eaade5aca179c5d6d612c02ecd74fabaee8329a6ce76288b5d1d6bf3425e6"},
    {CUZK_PROOF_UPDATE, "64g", "e2e6c76d16b46fa4c63e2d654ba669c5b209b6a7555aa068b6bd93fe9181d6fd"},
    {CUZK_PROOF_WINDOW, "2k", "b19b022a50496efd3d5f0944cb004e95b89aa265127ed6c91004b23b1ee52a72"},
    {CUZK_PROOF_WINDOW, "4k", "34b30ada252d8deb38a854c21c4c40a3af28b53f097ddcae732e84dd5a5c991a"},
    {CUZK_PROOF_WINDOW, "16k", "7a31c030b5fe41248beefd1177c86193fe45e8310e9d61629ae2b426e863eb05"},
    {CUZK_PROOF_WINDOW, "32k", "b45609188df5c125b4f06e568e3af73e9e3adfa301bd3921b91647b475f6a973"},
    {CUZK_PROOF_WINDOW, "8m", "061487a97c9989adc166853ad1082fa4ea42ed6a81c1627fffd7415a95f984b7"},
    {CUZK_PROOF_WINDOW, "512m", "da6840f3e97095e70279f51c6cef02f2477276c2d93e5fcb6ea74ad3d9766a43"},
    {CUZK_PROOF_WINDOW, "32g", "ecd1e96e53a0fbdab0e8f7354421f04d5976041b460d48ec4bf1dd7725d47b25"},
    {CUZK_PROOF_WINDOW, "64g", "cb78d33afdb4b655ca34a4037b45246d04b516db13f72ae66a6abe3a4547f370"},
    {CUZK_PROOF_WINNING, "2k", "2ae20abc27cf1e9040714963fd1215148b1a89eae09a47a34ff9699af4ff8094"},
    {CUZK_PROOF_WINNING, "4k", "3269c591348e189f4d6ffa577988026cc52b70d9ef8770c1971f7314db3d8b47"},
    {CUZK_PROOF_WINNING, "16k", "8d71b52872fe21941f71ee51d36f508dd4f0a0a07fa23324076fcdf531052baa"},
    {CUZK_PROOF_WINNING, "32k", "ecd095d22abb15182cb78c426690455aa8adc6e55abdf6e12fca5c7cda1ce83a"},
    {CUZK_PROOF_WINNING, "8m", "d103f41ea62ef09c30403b1d6cecde43deb7573d73b9ad82ca5e38e0c9e4828d"},
    {CUZK_PROOF_WINNING, "512m",
     "a7e5646def50abd28961e6e355826529f958f681def6c0b078bf335c1026e0d2"},
    {CUZK_PROOF_WINNING, "32g", "3e06cdbb8d9cdc7f1b0fb8605f71c2bf4019d25a647ea22e13343a9e0c508ae1"},
    {CUZK_PROOF_WINNING, "64g", "3279053a9698ed9c6af35ca4a5b47597be49c4527625ce060b08dae9c1c2c892"},
};

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

bool cuzk_circuit_fingerprint(uint8_t out[CUZK_SHA256_BYTES], cuzk_proof_kind kind,
                              const cuzk_sector *sector)
{
    for (size_t i = 0; i < sizeof circuits / sizeof circuits[0]; i++) {
        if (circuits[i].kind == kind && strcmp(circuits[i].sector, sector->id) == 0) {
            const char *hex = circuits[i].fingerprint;
            for (size_t k = 0; k < CUZK_SHA256_BYTES; k++) {
                out[k] = (uint8_t)(hex_digit(hex[2 * k]) << 4 | hex_digit(hex[2 * k + 1]));
            }
            return true;
        }
    }
    return false;
}

struct circuit {
    cuzk_proof_kind kind;
    const cuzk_sector *sector;
};

static cuzk_status build(void *ctx, cuzk_shape **out, cuzk_error *err)
{
    const struct circuit *c = ctx;
    switch (c->kind) {
    case CUZK_PROOF_POREP:
        return cuzk_porep_circuit_shape(out, c->sector, err);
    case CUZK_PROOF_UPDATE:
        return cuzk_update_circuit_shape(out, c->sector, err);
    default:
        return cuzk_post_circuit_shape(out, c->kind, c->sector, err);
    }
}

cuzk_status cuzk_circuit_get(cuzk_shape **out, cuzk_proof_kind kind, const cuzk_sector *sector,
                             const char *folder, const cuzk_reporter *reporter, cuzk_pool *pool,
                             cuzk_error *err)
{
    uint8_t fingerprint[CUZK_SHA256_BYTES];
    struct circuit circuit = {kind, sector};
    cuzk_shape_source source = {build, &circuit};
    CUZK_FAIL_IF(!cuzk_circuit_fingerprint(fingerprint, kind, sector), err, CUZK_E_UNSUPPORTED,
                 "%s of %s: there is no such circuit", cuzk_proof_kind_name(kind), sector->name);
    return cuzk_shape_get(out, folder, fingerprint, &source, reporter, pool, err);
}
