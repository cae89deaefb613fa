/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The contributions of a ceremony that a .zkey records in its section 10. Not needed for proving.
 */
#ifndef CUZK_FORMATS_ZKEY_CONTRIBUTIONS_H
#define CUZK_FORMATS_ZKEY_CONTRIBUTIONS_H

#include "formats/zkey.h"

enum { CUZK_TRANSCRIPT_BYTES = 64, CUZK_CONTRIBUTION_NAME_MAX = 64 };

/* One record: views into the section. Points are packed affine, as everywhere in a .zkey. */
typedef struct {
    const uint8_t *delta;      /* G1: delta after this contribution */
    const uint8_t *s, *sx;     /* G1: a point and its multiple by the contributor's secret */
    const uint8_t *spx;        /* G2: the same multiple of a point that comes from the transcript */
    const uint8_t *transcript; /* hash of the circuit hash and of everything before it */
    bool is_beacon;            /* made from a public random value, not by a person */
    char name[CUZK_CONTRIBUTION_NAME_MAX]; /* printable; "" for none */
} cuzk_zkey_contribution;

/** Read the record at *offset in the records of a key with section 10, and move *offset behind it.
 *  *offset is 0 for the first; the caller counts them. Points are not looked at. Errors: E_FORMAT
 *  (the section ends too early; a kind that is neither a person nor a beacon). */
cuzk_status cuzk_zkey_contribution_next(const cuzk_zkey *key, uint64_t *offset,
                                        cuzk_zkey_contribution *out,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** Check what the records say by themselves: the section has the length that they need; every point
 *  is on its curve, in the subgroup, not infinity; every transcript is the BLAKE2b hash of the
 *  circuit hash, the records before it and its own s and sx; the last record's delta is the key's.
 *
 *  So no record can be left out, exchanged or added without changing the ones behind it. Not
 *  covered: that a contributor knew the secret (this takes a map from transcripts to points of G2),
 *  that a beacon's value was public, and what the key began from. Fine with no record and without
 *  section 10. Errors: E_FORMAT, with the record's index. */
cuzk_status cuzk_zkey_check_contributions(const cuzk_zkey *key, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
