/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Status codes and error texts of libcuzk. Included by cuzk.h; compiles as C11 and C++.
 *
 * Every call that can fail returns a cuzk_status, 0 (CUZK_OK) on success, and takes a cuzk_error
 * as its last argument, which receives the cause in words. The values are part of the interface:
 * grouped by tens, never renumbered. */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define CUZK_API         __attribute__((visibility("default")))
#define CUZK_WARN_UNUSED __attribute__((warn_unused_result))
#else
#define CUZK_API
#define CUZK_WARN_UNUSED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, exit code of the program, gRPC code, sentence): argument 10, input data 20,
 * file 30, memory 40, device 50, cancelled 60, internal 90. */
#define CUZK_STATUS_MAP(X)                                                                         \
    X(OK, 0, 0, 0, "success")                                                                      \
    X(E_ARGUMENT, 10, 2, 3, "the caller passed an argument that is not allowed")                   \
    X(E_SHORT_BUFFER, 11, 1, 3, "the buffer is too small for the result")                          \
    X(E_FORMAT, 20, 1, 3, "the data is not in the expected format")                                \
    X(E_TRUNCATED, 21, 1, 3, "the data ends before it should")                                     \
    X(E_UNSUPPORTED, 22, 1, 12, "the data is valid but not supported")                             \
    X(E_MISMATCH, 23, 1, 3, "two inputs do not belong together")                                   \
    X(E_WITNESS_LENGTH, 24, 1, 3, "the witness has another length than the circuit")               \
    X(E_UNSATISFIED, 25, 1, 3, "the witness does not satisfy the circuit")                         \
    X(E_INVALID_PROOF, 26, 1, 3, "the proof does not verify")                                      \
    X(E_FILE, 30, 1, 9, "a file could not be read or written")                                     \
    X(E_NOT_FOUND, 31, 1, 5, "there is no such thing")                                             \
    X(E_MEMORY, 40, 1, 8, "not enough memory")                                                     \
    X(E_DEVICE, 50, 1, 14, "a device failed")                                                      \
    X(E_DEVICE_LOST, 51, 1, 14, "a device failed, and fails until it is begun anew")               \
    X(E_CANCELLED, 60, 1, 1, "the work was cancelled")                                             \
    X(E_DEADLINE, 61, 1, 4, "the deadline passed")                                                 \
    X(E_UNAVAILABLE, 62, 1, 14, "no new work is taken now")                                        \
    X(E_INTERNAL, 90, 1, 13, "an internal check failed")

typedef enum {
#define CUZK_STATUS_ENUM(name, value, exit_code, grpc, text) CUZK_##name = (value),
    CUZK_STATUS_MAP(CUZK_STATUS_ENUM)
#undef CUZK_STATUS_ENUM
} cuzk_status;

enum { CUZK_ERROR_TEXT_MAX = 1024 };

/* The first cause of a failure and where it was noticed. All zero means no error. The calls of
 * cuzk.h set it up themselves: an uninitialised one may be passed. Wherever a `cuzk_error *` is
 * asked for, NULL is allowed and drops the text. */
typedef struct {
    cuzk_status status;
    int line;                       /* source position in the library, for bug reports */
    const char *file;               /* a string that lives as long as the program; NULL if none */
    char text[CUZK_ERROR_TEXT_MAX]; /* what was being done, to which object, what was found */
} cuzk_error;

/** Forget the recorded error. NULL is fine. */
CUZK_API void cuzk_error_clear(cuzk_error *err);

/** Name of a status without its prefix, such as "E_FILE"; "UNKNOWN" for a value not in the list. */
CUZK_API const char *cuzk_status_name(cuzk_status status);

/** One English sentence for a status. Never NULL. */
CUZK_API const char *cuzk_status_text(cuzk_status status);

/** Exit code that a program should use: 0 success, 1 invalid or failed, 2 usage. */
CUZK_API int cuzk_status_exit_code(cuzk_status status);

#ifdef __cplusplus
}
#endif

#endif
