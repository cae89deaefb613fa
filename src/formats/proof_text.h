/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs of Filecoin as text: the bytes of all partitions in hexadecimal, in base64, or in base64
 * as a member of a JSON object. */
#ifndef CUZK_FORMATS_PROOF_TEXT_H
#define CUZK_FORMATS_PROOF_TEXT_H

#include "base/text.h"

#include <stdint.h>

/** Append n_bytes in hexadecimal / in base64 (RFC 4648, padded). */
void cuzk_text_put_hex(cuzk_text *text, const uint8_t *data, size_t n_bytes);
void cuzk_text_put_base64(cuzk_text *text, const uint8_t *data, size_t n_bytes);

/** Read the bytes of a proof, raw or as text: text is what consists of printable characters and
 * white space, as no proof does. Hexadecimal is what consists of hexadecimal digits only: base64 of
 * proofs does not. JSON: the member "proof", other members are ignored.
 *
 *  out: returned; free with free. *n_out: bytes. Errors: E_FORMAT, E_TRUNCATED (with offset),
 *  E_MEMORY. */
cuzk_status cuzk_proof_text_read(uint8_t **out, size_t *n_out, const uint8_t *data, size_t n_bytes,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

#endif
