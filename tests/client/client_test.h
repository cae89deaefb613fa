/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the client's C tests share: cmocka and the headers it wants, and captured output. */
#ifndef CUZK_TESTS_CLIENT_TEST_H
#define CUZK_TESTS_CLIENT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/** Run print(user) and return what it wrote to the stream `fd` (1: stdout, 2: stderr). Returned:
 *  free. */
static inline char *captured(int fd, void (*print)(void *), void *user)
{
    FILE *stream = fd == STDOUT_FILENO ? stdout : stderr, *file = tmpfile();
    fflush(stream);
    int before = dup(fd);
    assert_true(file != NULL && before >= 0 && dup2(fileno(file), fd) == fd);
    print(user);
    fflush(stream);
    assert_int_equal(dup2(before, fd), fd);
    close(before);
    long size = lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
    fclose(file);
    return text;
}

/* That text holds a part; both are printed when it does not. */
#define assert_holds(text, part)                                                                   \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL) {                                                      \
            fail_msg("\"%s\" is not in \"%s\"", (part), (text));                                   \
        }                                                                                          \
    } while (0)

#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        if (strstr((text), (part)) != NULL) {                                                      \
            fail_msg("\"%s\" is in \"%s\"", (part), (text));                                       \
        }                                                                                          \
    } while (0)

#endif
