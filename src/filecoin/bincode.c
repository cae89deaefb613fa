/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/bincode.h"

#include "base/bytes.h"

#include <inttypes.h>

/* The next n bytes. */
static cuzk_status take(cuzk_bincode *in, const uint8_t **out, uint64_t n, const char *what,
                        cuzk_error *err)
{
    CUZK_FAIL_IF(in->size - in->at < n, err, CUZK_E_TRUNCATED,
                 "%s: at offset %" PRIu64 ": %" PRIu64 " bytes expected, %" PRIu64 " are left",
                 what, in->at, n, in->size - in->at);
    *out = in->data + in->at;
    in->at += n;
    return CUZK_OK;
}

cuzk_status cuzk_bincode_u64(cuzk_bincode *in, uint64_t *out, const char *what, cuzk_error *err)
{
    const uint8_t *p = NULL;
    CUZK_TRY(take(in, &p, 8, what, err));
    *out = cuzk_load_u64_le(p);
    return CUZK_OK;
}

cuzk_status cuzk_bincode_count(cuzk_bincode *in, uint64_t expected, const char *what,
                               cuzk_error *err)
{
    uint64_t count;
    CUZK_TRY(cuzk_bincode_u64(in, &count, what, err));
    CUZK_FAIL_IF(count != expected, err, CUZK_E_MISMATCH,
                 "%s: at offset %" PRIu64 ": there are %" PRIu64 ", expected %" PRIu64, what,
                 in->at - 8, count, expected);
    return CUZK_OK;
}

cuzk_status cuzk_bincode_digests(cuzk_bincode *in, cuzk_digest *out, unsigned n, const char *what,
                                 cuzk_error *err)
{
    const uint8_t *p = NULL;
    CUZK_TRY(take(in, &p, (uint64_t)n * sizeof *out, what, err));
    memcpy(out, p, n * sizeof *out);
    for (unsigned i = 0; i < n; i++) {
        CUZK_FAIL_IF(!cuzk_digest_is_fr(&out[i]), err, CUZK_E_FORMAT,
                     "%s: at offset %" PRIu64 ": value %u is not below the field's order", what,
                     in->at - (uint64_t)(n - i) * sizeof *out, i);
    }
    return CUZK_OK;
}

/* Levels first … first + n - 1 of a path. */
static cuzk_status read_path(cuzk_bincode *in, cuzk_merkle_proof *out, cuzk_digest **sink,
                             cuzk_tree tree, unsigned first, unsigned n, unsigned *shift,
                             cuzk_error *err)
{
    CUZK_TRY(cuzk_bincode_count(in, n, "levels of the path", err));
    for (unsigned level = first; level < first + n; level++) {
        unsigned arity = cuzk_tree_arity(tree, level);
        uint64_t index = 0;
        cuzk_status status = cuzk_bincode_count(in, arity - 1, "siblings", err);
        if (status == CUZK_OK) {
            status = cuzk_bincode_digests(in, *sink, arity - 1, "siblings", err);
        }
        if (status == CUZK_OK) {
            *sink += arity - 1;
            status = cuzk_bincode_u64(in, &index, "index", err);
        }
        if (status == CUZK_OK && index >= arity) {
            status = CUZK_FAIL(err, CUZK_E_FORMAT,
                               "index: at offset %" PRIu64 ": %" PRIu64 ", expected less than %u",
                               in->at - 8, index, arity);
        }
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "level %u", level);
            return status;
        }
        out->index |= index << *shift;
        *shift += cuzk_tree_index_bits(tree, level);
    }
    return CUZK_OK;
}

static const char *const variants[] = {"Single", "Sub", "Top"};

cuzk_status cuzk_bincode_merkle(cuzk_bincode *in, cuzk_merkle_proof *out, cuzk_digest **sink,
                                cuzk_tree tree, cuzk_error *err)
{
    const uint8_t *p = NULL;
    unsigned expected = tree.sub_arity == 0 ? 0 : tree.top_arity == 0 ? 1 : 2;
    CUZK_TRY(take(in, &p, 4, "kind of Merkle proof", err));
    uint32_t variant = cuzk_load_u32_le(p);
    CUZK_FAIL_IF(variant > 2, err, CUZK_E_FORMAT,
                 "at offset %" PRIu64 ": kind of Merkle proof %" PRIu32 ", expected %u (%s)",
                 in->at - 4, variant, expected, variants[expected]);
    CUZK_FAIL_IF(variant != expected, err, CUZK_E_MISMATCH,
                 "at offset %" PRIu64 ": the Merkle proof is a %s, expected a %s: it belongs to "
                 "another sector size",
                 in->at - 4, variants[variant], variants[expected]);
    unsigned shift = 0;
    out->index = 0;
    out->siblings = *sink;
    if (variant == 0) {
        CUZK_TRY(cuzk_bincode_digests(in, &out->root, 1, "root", err));
        CUZK_TRY(cuzk_bincode_digests(in, &out->leaf, 1, "leaf", err));
    }
    CUZK_TRY(read_path(in, out, sink, tree, 0, tree.base_levels, &shift, err));
    for (unsigned above = 0; above < variant; above++) {
        CUZK_TRY(read_path(in, out, sink, tree, tree.base_levels + above, 1, &shift, err));
    }
    if (variant != 0) {
        CUZK_TRY(cuzk_bincode_digests(in, &out->root, 1, "root", err));
        CUZK_TRY(cuzk_bincode_digests(in, &out->leaf, 1, "leaf", err));
    }
    return CUZK_OK;
}
