/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Uncompressed points decoded and encoded eight at a time, for keys with millions of them. */
#ifndef CUZK_CURVE_ENCODING_BATCH_H
#define CUZK_CURVE_ENCODING_BATCH_H

#include "curve/curve.h"

/** Decode n encoded points (n a multiple of 8) into packed affine form: range and curve are
 *  checked, as by the group's decode without check_subgroup.
 *
 *  Returns false when one of them is at infinity or not a valid encoding; decode then tells which
 *  and why, and what was written is undefined. out and in do not overlap. */
typedef bool (*cuzk_decode_batch_fn)(void *out, const uint8_t *in, size_t n);

/** Encode n packed affine points (n a multiple of 8), none of them at infinity, as by the group's
 *  encode. out and in do not overlap. */
typedef void (*cuzk_encode_batch_fn)(uint8_t *out, const void *in, size_t n);

/** The functions of this process's CPU path; NULL where it has none. */
cuzk_decode_batch_fn cuzk_decode_batch_get(cuzk_curve_id curve, cuzk_group_id group);
cuzk_encode_batch_fn cuzk_encode_batch_get(cuzk_curve_id curve, cuzk_group_id group);

#endif
