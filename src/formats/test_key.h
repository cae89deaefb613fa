/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The mark of keys that were made from a known trapdoor. Whoever knows the trapdoor can forge
 * proofs, so such keys are marked in their name (".test." before the extension) and in the file,
 * and refused unless the user asks for test keys by name.
 *
 * In a .zkey the mark is an extra section, which other readers skip. A .params or .vk file has no
 * room for it inside, so it follows the last byte, where bellperson's reader, which stops after the
 * last array, never looks. */
#ifndef CUZK_FORMATS_TEST_KEY_H
#define CUZK_FORMATS_TEST_KEY_H

#include "base/status.h"

#include <stdint.h>
#include <string.h>

/* Exactly these bytes, without the terminating NUL. */
#define CUZK_TEST_KEY_MARK "\ncuzk test key: its trapdoor is known, its proofs prove nothing\n"

enum {
    CUZK_TEST_KEY_MARK_BYTES = sizeof CUZK_TEST_KEY_MARK - 1,
    CUZK_TEST_KEY_SECTION = 0x74736574 /* the bytes "test" */
};

/** Whether exactly the mark stands at `data`. */
static inline bool cuzk_test_key_is_mark(const uint8_t *data, uint64_t size)
{
    return size == CUZK_TEST_KEY_MARK_BYTES &&
           memcmp(data, CUZK_TEST_KEY_MARK, CUZK_TEST_KEY_MARK_BYTES) == 0;
}

/** Whether the file name (its last path element) says that it is a test key: NAME.test.EXT. */
static inline bool cuzk_test_key_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *mark = strstr(slash != NULL ? slash + 1 : path, ".test.");
    return mark != NULL && mark[strlen(".test.")] != 0;
}

#endif
