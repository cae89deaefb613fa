/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What kind of file some bytes are, told from magic, size and the first keys: for messages such as
 * "this is a wtns file (circom witness), expected a zkey file", and for `cuzk inspect`. A guess:
 * the reader of the kind decides whether the bytes are valid. */
#ifndef CUZK_FORMATS_DETECT_H
#define CUZK_FORMATS_DETECT_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CUZK_FORMAT_UNKNOWN = 0,
    CUZK_FORMAT_EMPTY,
    CUZK_FORMAT_ZKEY,        /* circom proving key */
    CUZK_FORMAT_WTNS,        /* circom witness */
    CUZK_FORMAT_R1CS,        /* circom constraints */
    CUZK_FORMAT_PTAU,        /* snarkjs powers of tau */
    CUZK_FORMAT_SHAPE,       /* our own: a compiled circuit */
    CUZK_FORMAT_PARAMS,      /* bellperson proving key */
    CUZK_FORMAT_VK,          /* bellperson verifying key */
    CUZK_FORMAT_BELLPERSON,  /* begins as one of the two, but has another size than it says */
    CUZK_FORMAT_PROOF,       /* one or more 192-byte proofs */
    CUZK_FORMAT_VK_JSON,     /* snarkjs verification_key.json */
    CUZK_FORMAT_PROOF_JSON,  /* snarkjs proof.json */
    CUZK_FORMAT_PUBLIC_JSON, /* snarkjs public.json */
    CUZK_FORMAT_JSON,        /* other JSON */
    CUZK_FORMAT_RAW_WITNESS, /* 32-byte values without a header, the first of them 1 */
    CUZK_FORMAT_GZIP,
    CUZK_FORMAT_HTML
} cuzk_format;

/** The kind of file that `size` bytes look like. Reads a bounded part of the data (the length
 *  fields of a .params file, the first keys of a JSON object); no allocation. */
cuzk_format cuzk_format_detect(const uint8_t *data, uint64_t size);

/** Short name of one of the formats above: "zkey", "wtns", "verification_key.json", … "unknown". */
const char *cuzk_format_name(cuzk_format format);

/** Write "this is a wtns file (circom witness)" or the like, with the first bytes when the kind is
 *  unknown, into out (out_size ≥ 64 keeps all texts whole). */
void cuzk_format_describe(char *out, size_t out_size, const uint8_t *data, uint64_t size);

#endif
