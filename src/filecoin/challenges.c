/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/challenges.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/chacha.h"

#define SYNTHETIC_TAG "filecoin.io|PoRep|1|Synthetic|1|"
static const char generation_key[] = SYNTHETIC_TAG "Generation";
static const char selection_key[] = SYNTHETIC_TAG "Selection";
static const char non_interactive_tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
static const char synthetic_nonce[12] = "synth-porep"; /* with its zero byte */

enum { SYNTHETIC_MAX = 1 << 18 };

/* A 256-bit number, little-endian, to one of 1 … nodes - 1. */
static uint64_t to_challenge(const uint8_t x[32], uint64_t nodes)
{
    uint64_t rest = 0; /* < nodes - 1 < 2^32 */
    for (int i = 7; i >= 0; i--) {
        rest = (rest << 32 | cuzk_load_u32_le(x + 4 * i)) % (nodes - 1);
    }
    return rest + 1;
}

/* Key of one of the two keystreams. */
static void synthetic_key(uint8_t key[32], const char *label, const uint8_t replica_id[32],
                          const uint8_t other[32])
{
    uint8_t message[64];
    memcpy(message, replica_id, 32);
    memcpy(message + 32, other, 32);
    cuzk_blake2b_keyed(key, 32, label, strlen(label), message, sizeof message);
}

static void synthetic_block(uint32_t out[CUZK_CHACHA_WORDS], const uint8_t key[32],
                            uint64_t counter)
{
    const uint32_t tail[4] = {(uint32_t)counter, cuzk_load_u32_le(synthetic_nonce),
                              cuzk_load_u32_le(synthetic_nonce + 4),
                              cuzk_load_u32_le(synthetic_nonce + 8)};
    cuzk_chacha_block(out, key, tail, 20);
}

uint64_t cuzk_porep_synthetic_challenge(uint64_t nodes, const uint8_t replica_id[32],
                                        const uint8_t comm_r[32], uint64_t n)
{
    uint8_t key[32];
    uint32_t block[CUZK_CHACHA_WORDS];
    uint8_t x[32];
    synthetic_key(key, generation_key, replica_id, comm_r);
    synthetic_block(block, key, n / 2);
    for (unsigned i = 0; i < 8; i++) {
        cuzk_store_u32_le(x + 4 * i, block[n % 2 * 8 + i]);
    }
    return to_challenge(x, nodes);
}

/* One challenge of the synthetic variant: j picks one of the set. */
static uint64_t select_synthetic(const cuzk_porep_challenge_params *p, uint32_t j)
{
    uint8_t key[32];
    uint32_t block[CUZK_CHACHA_WORDS];
    synthetic_key(key, selection_key, p->replica_id, p->seed);
    synthetic_block(block, key, j / CUZK_CHACHA_WORDS);
    uint32_t n_set = p->nodes < SYNTHETIC_MAX ? (uint32_t)p->nodes : SYNTHETIC_MAX;
    return cuzk_porep_synthetic_challenge(p->nodes, p->replica_id, p->comm_r,
                                          block[j % CUZK_CHACHA_WORDS] % n_set);
}

void cuzk_porep_challenges(uint64_t *out, const cuzk_porep_challenge_params *p, unsigned k)
{
    for (unsigned i = 0; i < p->per_partition; i++) {
        uint32_t j = p->per_partition * k + i;
        if (p->variant == CUZK_POREP_SYNTHETIC) {
            out[i] = select_synthetic(p, j);
            continue;
        }
        cuzk_sha256 sha;
        uint8_t j_le[4];
        uint8_t x[CUZK_SHA256_BYTES];
        cuzk_store_u32_le(j_le, j);
        cuzk_sha256_init(&sha);
        if (p->variant == CUZK_POREP_NON_INTERACTIVE) {
            cuzk_sha256_update(&sha, non_interactive_tag, strlen(non_interactive_tag));
            cuzk_sha256_update(&sha, p->replica_id, 32);
            cuzk_sha256_update(&sha, p->comm_r, 32);
        } else {
            cuzk_sha256_update(&sha, p->replica_id, 32);
            cuzk_sha256_update(&sha, p->seed, 32);
        }
        cuzk_sha256_update(&sha, j_le, sizeof j_le);
        cuzk_sha256_final(&sha, x);
        out[i] = to_challenge(x, p->nodes);
    }
}

void cuzk_replica_id(uint8_t out[32], const uint8_t prover_id[32], uint64_t sector_number,
                     const uint8_t ticket[32], const uint8_t comm_d[32], const uint8_t porep_id[32])
{
    cuzk_sha256 sha;
    uint8_t number[8];
    cuzk_store_u64_be(number, sector_number);
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, prover_id, 32);
    cuzk_sha256_update(&sha, number, sizeof number);
    cuzk_sha256_update(&sha, ticket, 32);
    cuzk_sha256_update(&sha, comm_d, 32);
    cuzk_sha256_update(&sha, porep_id, 32);
    cuzk_sha256_final(&sha, out);
    out[31] &= 0x3f;
}

/* First 8 bytes of the digest, little-endian. */
static uint64_t draw_u64(const void *message, size_t n_bytes)
{
    uint8_t digest[CUZK_SHA256_BYTES];
    cuzk_sha256_digest(digest, message, n_bytes);
    return cuzk_load_u64_le(digest);
}

uint64_t cuzk_post_challenge(const uint8_t randomness[32], uint64_t sector_id, uint64_t q,
                             uint64_t nodes)
{
    uint8_t message[48];
    memcpy(message, randomness, 32);
    cuzk_store_u64_le(message + 32, sector_id);
    cuzk_store_u64_le(message + 40, q);
    return draw_u64(message, sizeof message) % nodes;
}

uint64_t cuzk_post_challenge_index(const cuzk_registered_proof *proof, uint64_t k, uint64_t place,
                                   unsigned n)
{
    if (proof->kind == CUZK_PROOF_WINNING || proof->api == CUZK_API_V1_2) {
        return n;
    }
    uint64_t slots = cuzk_window_sectors(proof->sector);
    return (k * slots + place) * CUZK_WINDOW_CHALLENGES + n;
}
