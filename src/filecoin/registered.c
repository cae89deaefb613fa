/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/registered.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>

enum { N_SIZES = 5 }; /* registered ones: a group of numbers holds them in ascending order */

/* Groups of N_SIZES numbers. `suffix` follows the size in the chain's name. */
typedef struct {
    cuzk_proof_kind kind;
    const char *prefix;
    const char *suffix;
    cuzk_api_version api;
    cuzk_porep_variant variant;
    uint64_t first;
} group;

static const group groups[] = {
    {CUZK_PROOF_POREP, "StackedDrg", "V1", CUZK_API_V1_0, CUZK_POREP_INTERACTIVE, 0},
    {CUZK_PROOF_POREP, "StackedDrg", "V1_1", CUZK_API_V1_1, CUZK_POREP_INTERACTIVE, 5},
    {CUZK_PROOF_POREP, "StackedDrg", "V1_1_Feat_SyntheticPoRep", CUZK_API_V1_2,
     CUZK_POREP_SYNTHETIC, 10},
    {CUZK_PROOF_POREP, "StackedDrg", "V1_2_Feat_NonInteractivePoRep", CUZK_API_V1_2,
     CUZK_POREP_NON_INTERACTIVE, 15},
    {CUZK_PROOF_UPDATE, "StackedDrg", "V1", CUZK_API_V1_1, CUZK_POREP_INTERACTIVE, 0},
    {CUZK_PROOF_WINNING, "StackedDrgWinning", "V1", CUZK_API_V1_0, CUZK_POREP_INTERACTIVE, 0},
    {CUZK_PROOF_WINDOW, "StackedDrgWindow", "V1", CUZK_API_V1_0, CUZK_POREP_INTERACTIVE, 5},
    {CUZK_PROOF_WINDOW, "StackedDrgWindow", "V1_1", CUZK_API_V1_2, CUZK_POREP_INTERACTIVE, 10},
};
enum { N_GROUPS = sizeof groups / sizeof groups[0] };

const char *cuzk_proof_kind_name(cuzk_proof_kind kind)
{
    switch (kind) {
    case CUZK_PROOF_POREP:
        return "PoRep";
    case CUZK_PROOF_UPDATE:
        return "Update";
    case CUZK_PROOF_WINDOW:
        return "Window PoSt";
    case CUZK_PROOF_WINNING:
        return "Winning PoSt";
    }
    return "unknown";
}

const char *cuzk_proof_kind_id(cuzk_proof_kind kind)
{
    switch (kind) {
    case CUZK_PROOF_POREP:
        return "porep";
    case CUZK_PROOF_UPDATE:
        return "snap";
    case CUZK_PROOF_WINDOW:
        return "wpost";
    case CUZK_PROOF_WINNING:
        return "winning";
    }
    return "unknown";
}

/* The i-th registered size. */
static const cuzk_sector *registered_size(unsigned i)
{
    for (unsigned k = 0;; k++) {
        const cuzk_sector *s = cuzk_sector_at(k);
        if (s == NULL || (s->registered && i-- == 0)) {
            return s;
        }
    }
}

cuzk_status cuzk_registered_proof_get(cuzk_registered_proof *out, cuzk_proof_kind kind,
                                      uint64_t number, cuzk_error *err)
{
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (unsigned g = 0; g < N_GROUPS; g++) {
        if (groups[g].kind != kind) {
            continue;
        }
        uint64_t first = groups[g].first;
        low = first < low ? first : low;
        high = first + N_SIZES - 1 > high ? first + N_SIZES - 1 : high;
        if (number >= first && number - first < N_SIZES) {
            *out = (cuzk_registered_proof){.kind = kind,
                                           .number = number,
                                           .sector = registered_size((unsigned)(number - first)),
                                           .api = groups[g].api,
                                           .variant = groups[g].variant};
            return CUZK_OK;
        }
    }
    CUZK_FAIL_IF(high == 0, err, CUZK_E_ARGUMENT, "proof kind %d is not known", (int)kind);
    return CUZK_FAIL(err, CUZK_E_ARGUMENT,
                     "registered proof %" PRIu64 " of kind %s is not known: expected %" PRIu64
                     " to %" PRIu64,
                     number, cuzk_proof_kind_name(kind), low, high);
}

/* The group that a proof belongs to: its number minus the place of its size, or of 2KiB. */
static const group *group_of(const cuzk_registered_proof *proof)
{
    for (unsigned g = 0; g < N_GROUPS; g++) {
        if (groups[g].kind == proof->kind && proof->number >= groups[g].first &&
            proof->number - groups[g].first < N_SIZES) {
            return &groups[g];
        }
    }
    return NULL;
}

cuzk_status cuzk_registered_proof_resize(cuzk_registered_proof *proof, const cuzk_sector *sector,
                                         cuzk_error *err)
{
    CUZK_FAIL_IF(sector->update_only && proof->kind != CUZK_PROOF_UPDATE, err, CUZK_E_UNSUPPORTED,
                 "there is no %s for sectors of %s", cuzk_proof_kind_name(proof->kind),
                 sector->name);
    proof->number = group_of(proof)->first;
    for (unsigned i = 0; sector->registered && i < N_SIZES; i++) {
        if (registered_size(i) == sector) {
            proof->number += i;
        }
    }
    proof->sector = sector;
    return CUZK_OK;
}

char *cuzk_registered_proof_name(char out[CUZK_REGISTERED_NAME_MAX],
                                 const cuzk_registered_proof *proof)
{
    const group *g = group_of(proof);
    snprintf(out, CUZK_REGISTERED_NAME_MAX, "%s%s%s", g->prefix, proof->sector->name, g->suffix);
    return out;
}

cuzk_status cuzk_registered_seal_by_name(cuzk_registered_proof *out, const char *name,
                                         size_t n_chars, cuzk_error *err)
{
    for (unsigned g = 0; g < N_GROUPS; g++) {
        if (groups[g].kind != CUZK_PROOF_POREP) {
            continue;
        }
        for (unsigned i = 0; i < cuzk_sector_count(); i++) {
            cuzk_registered_proof proof;
            CUZK_TRY(cuzk_registered_proof_get(&proof, CUZK_PROOF_POREP, groups[g].first, err));
            char spelled[CUZK_REGISTERED_NAME_MAX];
            if (cuzk_sector_at(i)->update_only ||
                cuzk_registered_proof_resize(&proof, cuzk_sector_at(i), err) != CUZK_OK) {
                continue;
            }
            cuzk_registered_proof_name(spelled, &proof);
            if (strlen(spelled) == n_chars && memcmp(spelled, name, n_chars) == 0) {
                *out = proof;
                return CUZK_OK;
            }
        }
    }
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "registered proof \"%.*s\" is not known",
                     (int)(n_chars < 80 ? n_chars : 80), name);
}

void cuzk_porep_id(uint8_t out[32], const cuzk_registered_proof *proof)
{
    memset(out, 0, 32);
    cuzk_store_u64_le(out, proof->number);
}

void cuzk_prover_id(uint8_t out[32], uint64_t miner_id)
{
    memset(out, 0, 32);
    unsigned i = 0;
    for (; miner_id >= 0x80; miner_id >>= 7) {
        out[i++] = (uint8_t)(miner_id | 0x80);
    }
    out[i] = (uint8_t)miner_id;
}
