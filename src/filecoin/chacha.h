/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ChaCha keystream with any number of rounds (RFC 8439 with 20): the base graph draws from 8
 * rounds, synthetic challenges from 20. */
#ifndef CUZK_FILECOIN_CHACHA_H
#define CUZK_FILECOIN_CHACHA_H

#include <stdint.h>

enum { CUZK_CHACHA_WORDS = 16 };

/** One block of keystream, as 16 words, of the state constants | key | words 12 … 15. tail: counter
 *  and nonce, in the layout that the caller's variant has. */
void cuzk_chacha_block(uint32_t out[CUZK_CHACHA_WORDS], const uint8_t key[32],
                       const uint32_t tail[4], unsigned rounds);

#endif
