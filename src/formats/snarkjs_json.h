/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* snarkjs's verification_key.json, proof.json and public.json, read and written, and its Solidity
 * call data.
 *
 * Numbers are decimal strings in plain form. Also read: JSON integers, and strings of hexadecimal
 * digits behind 0x, as snarkjs reads them. A coordinate at or above p, or a public value at or
 * above r, is refused, never reduced: two texts would otherwise mean the same proof. Field and
 * curve names of older tools are read (vk_alfa_1, "groth", bn254, alt_bn128 …); written are always
 * snarkjs's own. Other keys are ignored; a key of ours that occurs twice is refused. */
#ifndef CUZK_FORMATS_SNARKJS_JSON_H
#define CUZK_FORMATS_SNARKJS_JSON_H

#include "base/pool.h"
#include "base/text.h"
#include "formats/proof.h"
#include "formats/vk.h"

/* What a reader took for granted: bits of *notes. */
enum {
    CUZK_JSON_NOTE_NO_CURVE = 1,    /* "curve" is missing: taken from the key, for a key bn128 */
    CUZK_JSON_NOTE_NO_PROTOCOL = 2, /* "protocol" is missing: taken as groth16 */
    CUZK_JSON_NOTE_OLD_NAMES = 4    /* "groth", vk_alfa_1 or vk_alfabeta_12 */
};

/** A sentence for each bit of notes, joined by "; ", into out (256 characters hold all). "" for 0.
 *  curve: the one that was taken. */
void cuzk_json_notes_text(char *out, size_t out_size, unsigned notes, const cuzk_curve *curve);

/* Layout of written JSON. */
typedef enum {
    CUZK_JSON_INDENTED, /* snarkjs: one space a level, keys in its order, no newline at the end */
    CUZK_JSON_COMPACT   /* rapidsnark: no white space, keys sorted */
} cuzk_json_style;

/** Read a verification key. Every point is checked: on the curve, in the subgroup. The file has no
 *  beta and delta in G1: out->has_g1_pair is false. vk_alphabeta_12 is not used.
 *
 *  notes: may be NULL. Returned: clear with cuzk_vk_clear. Memory: the IC points, refused when they
 *  would need more than the text's size plus 64 KiB. Errors: E_FORMAT (what, where; another kind of
 *  file by name), E_TRUNCATED, E_UNSUPPORTED (another protocol or curve), E_MEMORY. */
cuzk_status cuzk_vk_from_json(cuzk_vk *out, const uint8_t *data, uint64_t size, unsigned *notes,
                              cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a proof and check its points (cuzk_proof_points_check).
 *
 *  curve: the verifying key's, which a "curve" in the text must not contradict; NULL: the text must
 *  name it. notes: may be NULL. Errors: E_FORMAT, E_TRUNCATED, E_UNSUPPORTED, E_MISMATCH (another
 *  curve), E_INVALID_PROOF (a coordinate not below p, a point off the curve or subgroup). */
cuzk_status cuzk_proof_from_json(cuzk_proof_points *out, const uint8_t *data, uint64_t size,
                                 const cuzk_curve *curve, unsigned *notes,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Number of public values in a public.json. Errors: E_FORMAT, E_TRUNCATED. */
cuzk_status cuzk_public_json_count(uint64_t *n_values, const uint8_t *data, uint64_t size,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a public.json of n_values values (the key's n_ic - 1) to 32 canonical bytes each.
 *
 *  Errors: E_MISMATCH (another number of values), E_FORMAT, E_TRUNCATED, E_INVALID_PROOF "public
 *  signal I is not below the field order". */
cuzk_status cuzk_public_from_json(uint8_t *values, uint64_t n_values, const uint8_t *data,
                                  uint64_t size, const cuzk_curve *curve,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Append a verification key in snarkjs's layout (indented only). e(alpha, beta) is computed. */
void cuzk_vk_to_json(cuzk_text *text, const cuzk_vk *vk);

/** Append a proof. */
void cuzk_proof_to_json(cuzk_text *text, const cuzk_proof_points *proof, cuzk_json_style style);

/** Append public values, 32 canonical bytes each. None: "[]". */
void cuzk_public_to_json(cuzk_text *text, const uint8_t *values, uint64_t n_values,
                         cuzk_json_style style);

/** No public.json or proof.json that the two functions above write for this curve is longer.
 *  Excludes the NUL. */
uint64_t cuzk_public_json_bytes_max(const cuzk_curve *curve, uint64_t n_values,
                                    cuzk_json_style style);
uint64_t cuzk_proof_json_bytes_max(const cuzk_curve *curve, cuzk_json_style style);

/** Append the arguments of snarkjs's Solidity verifier: a, b, c and the public values, hexadecimal
 *  of at least 64 digits, G2 coordinates with the u-coefficient first. No newline. Points are not
 *  at infinity. */
void cuzk_calldata_write(cuzk_text *text, const cuzk_proof_points *proof, const uint8_t *values,
                         uint64_t n_values);

#endif
