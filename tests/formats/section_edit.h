/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Makes damaged and rearranged copies of section files (.zkey, .wtns, .r1cs) for the tests. */
#ifndef CUZK_TESTS_SECTION_EDIT_H
#define CUZK_TESTS_SECTION_EDIT_H

#include "fixtures.h"

#include <stdint.h>

/* A file in memory, edited in place. */
typedef cuzk_fixture edit_file;

/** A copy of n_bytes. Free with cuzk_test_fixture_free. */
edit_file edit_copy(const uint8_t *data, uint64_t n_bytes);

/** Offset of the content of the first section with that id; aborts when there is none. */
uint64_t edit_section_offset(const edit_file *f, uint32_t id);

/** Length of that section's content. */
uint64_t edit_section_size(const edit_file *f, uint32_t id);

/** Put sections in another order: by ascending key (a simple mixing function of seed and place).
 *  The result replaces *f. */
void edit_shuffle_sections(edit_file *f, uint32_t seed);

/** Remove a section and lower the count. */
void edit_remove_section(edit_file *f, uint32_t id);

/** Append a section with n_bytes of content at the end and raise the count. */
void edit_append_section(edit_file *f, uint32_t id, const void *content, uint64_t n_bytes);

/** Change the length of a section's content: bytes are cut off its end, or zeros are added. */
void edit_resize_section(edit_file *f, uint32_t id, uint64_t n_bytes);

/** Read and write little-endian integers at an offset. */
uint32_t edit_get_u32(const edit_file *f, uint64_t offset);
void edit_put_u32(edit_file *f, uint64_t offset, uint32_t value);
void edit_put_u64(edit_file *f, uint64_t offset, uint64_t value);

#endif
