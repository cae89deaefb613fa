/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_BASE_SIZE_TEXT_H
#define CUZK_BASE_SIZE_TEXT_H

#include <stdint.h>

/* Bytes as people read them: "44.1 GiB". */
typedef struct {
    char text[24];
} cuzk_size_text;
cuzk_size_text cuzk_size_of(uint64_t bytes);

#endif
