/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A scanner for the JSON (RFC 8259) of commit-phase-1 outputs.
 *
 * Such a text holds some 300,000 digests, each written as an array of 32 numbers: 12 million
 * numbers in 50 MB at 32GiB. The scanner has a fast way for exactly those arrays, and pulls
 * everything else value by value. The text lies in memory as it is, or in base64 inside another
 * JSON string; in the second case it is decoded piece by piece into a window of constant size.
 *
 * Nothing is allocated but the window. All functions return errors that name the byte offset in the
 * text; the functions that walk objects and arrays put the key or the index in front. */
#ifndef CUZK_FILECOIN_C1_TEXT_H
#define CUZK_FILECOIN_C1_TEXT_H

#include "filecoin/vanilla_merkle.h"

enum {
    CUZK_C1_DEPTH_MAX = 64,         /* of values that are skipped */
    CUZK_C1_WINDOW_BYTES = 1 << 16, /* decoded text held at a time */
    CUZK_C1_STRING_MAX = 128        /* longest key or string that is kept */
};

typedef struct {
    const uint8_t *p, *end; /* the text that is at hand and not yet read */
    const uint8_t *begin;   /* where the text that is at hand begins */
    uint64_t begin_offset;  /* its offset in the text */
    /* text in base64 only: the rest of the encoded bytes, up to the string's closing quote */
    const uint8_t *encoded, *encoded_end, *encoded_begin;
    uint64_t encoded_offset; /* of encoded_begin in the input, for messages */
    uint8_t *window;         /* NULL for plain text */
    bool complete;           /* the closing quote was reached */
} cuzk_c1_text;

/** Scan plain text. data: borrowed. */
void cuzk_c1_text_plain(cuzk_c1_text *text, const uint8_t *data, uint64_t size);

/** Scan the base64 string whose opening quote `outer` stands at. Until cuzk_c1_text_decoded_end,
 *  outer must not be used. Errors: E_FORMAT (not a string), E_MEMORY. */
cuzk_status cuzk_c1_text_decoded(cuzk_c1_text *text, cuzk_c1_text *outer,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Free the window and let `outer` stand behind the string. Called in any case. */
void cuzk_c1_text_decoded_end(cuzk_c1_text *text, cuzk_c1_text *outer);

/** Read a string of base64 and decode it. out: room for three bytes for every four characters of
 * the string; *n_bytes: what was written. */
cuzk_status cuzk_c1_base64(cuzk_c1_text *text, uint8_t *out, uint64_t *n_bytes,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Fail unless only white space is left. */
cuzk_status cuzk_c1_text_finish(cuzk_c1_text *text, cuzk_error *err) CUZK_WARN_UNUSED;

/** Fail at the present position: "offset N: <text>". */
cuzk_status cuzk_c1_fail(const cuzk_c1_text *text, cuzk_error *err, cuzk_status status,
                         const char *fmt, ...) CUZK_PRINTF(4, 5);

/** Read a number that is an integer of at most max. */
cuzk_status cuzk_c1_integer(cuzk_c1_text *text, uint64_t *out, uint64_t max,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a string into out, NUL-terminated. Errors: also E_FORMAT when it is longer than out. */
cuzk_status cuzk_c1_string(cuzk_c1_text *text, char out[CUZK_C1_STRING_MAX],
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Read an array of 32 numbers 0 … 255. */
cuzk_status cuzk_c1_digest(cuzk_c1_text *text, cuzk_digest *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same for a digest that must be below the field's order. */
cuzk_status cuzk_c1_fr(cuzk_c1_text *text, cuzk_digest *out, cuzk_error *err) CUZK_WARN_UNUSED;

/* Reads one value: the one of key number i, or element i of an array. */
typedef cuzk_status (*cuzk_c1_read)(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err);

/** Read an object: `read` for each of the n_keys (≤ 32) known keys, in whatever order they stand;
 *  other keys are skipped. required: bit i set when key i must be there. Errors: also E_FORMAT (a
 *  key twice, a key missing). */
cuzk_status cuzk_c1_object(cuzk_c1_text *text, const char *const *keys, unsigned n_keys,
                           uint32_t required, cuzk_c1_read read, void *ctx,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Read an array of any length with `read`. name: of one element, for messages ("level"). *n:
 * elements read. */
cuzk_status cuzk_c1_array(cuzk_c1_text *text, const char *name, unsigned *n, cuzk_c1_read read,
                          void *ctx, cuzk_error *err) CUZK_WARN_UNUSED;

/** Read an array of exactly n elements. Errors: also E_MISMATCH with both numbers. */
cuzk_status cuzk_c1_array_of(cuzk_c1_text *text, const char *name, unsigned n, cuzk_c1_read read,
                             void *ctx, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
