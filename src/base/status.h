/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Status codes and the error text that travels with them.
 *
 * Every fallible function returns cuzk_status (0 = OK) and takes a `cuzk_error *err` as its last
 * argument. The text says what was being done, to which object, at which index or offset, what was
 * found and what was expected. The list of codes is one X-macro, so that the enum, the names, the
 * sentences, the process exit codes and the gRPC codes cannot drift apart. */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* X(name, value, exit code, gRPC code, sentence). Values are grouped by tens and never renumbered:
 * argument 10, input data 20, file 30, memory 40, device 50, cancelled 60, internal 90. */
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
    X(E_MEMORY, 40, 1, 8, "not enough memory")                                                     \
    X(E_DEVICE, 50, 1, 14, "a device failed")                                                      \
    X(E_CANCELLED, 60, 1, 1, "the work was cancelled")                                             \
    X(E_DEADLINE, 61, 1, 4, "the deadline passed")                                                 \
    X(E_INTERNAL, 90, 1, 13, "an internal check failed")

typedef enum {
#define CUZK_STATUS_ENUM(name, value, exit_code, grpc, text) CUZK_##name = (value),
    CUZK_STATUS_MAP(CUZK_STATUS_ENUM)
#undef CUZK_STATUS_ENUM
} cuzk_status;

#define CUZK_WARN_UNUSED __attribute__((warn_unused_result))
#define CUZK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum { CUZK_ERROR_TEXT_MAX = 1024 };

/* The first cause of a failure and where it was noticed. All zero = no error. `file` points to a
 * string literal. A NULL `cuzk_error *` is allowed everywhere: the text is then dropped. */
typedef struct {
    cuzk_status status;
    int line;
    const char *file;
    char text[CUZK_ERROR_TEXT_MAX];
} cuzk_error;

/** Name of a status without its prefix, such as "E_FILE"; "UNKNOWN" for a value not in the list. */
const char *cuzk_status_name(cuzk_status status);

/** One English sentence for a status. Never NULL. */
const char *cuzk_status_text(cuzk_status status);

/** Process exit code of a status: 0 success, 1 invalid or failed, 2 usage. */
int cuzk_status_exit_code(cuzk_status status);

/** gRPC status code of a status (google.rpc.Code). */
int cuzk_status_grpc_code(cuzk_status status);

/** Record a failure and return `status`, so that a caller can `return cuzk_fail(...)`.
 *
 *  If err already holds an error, it keeps the first cause. Use through CUZK_FAIL. */
cuzk_status cuzk_fail_at(cuzk_error *err, cuzk_status status, const char *file, int line,
                         const char *fmt, ...) CUZK_PRINTF(5, 6);

/** Put the phase in front of an error text already recorded: "<phase>: <text>". No-op without one.*/
void cuzk_error_prefix(cuzk_error *err, const char *fmt, ...) CUZK_PRINTF(2, 3);

/** Forget the recorded error. */
void cuzk_error_clear(cuzk_error *err);

#define CUZK_FAIL(err, status, ...) cuzk_fail_at((err), (status), __FILE__, __LINE__, __VA_ARGS__)

/* Return from the function with an error when `cond` holds. */
#define CUZK_FAIL_IF(cond, err, status, ...)                                                       \
    do {                                                                                           \
        if (cond) {                                                                                \
            return CUZK_FAIL((err), (status), __VA_ARGS__);                                        \
        }                                                                                          \
    } while (0)

/* Return from the function when `expr` is not CUZK_OK. */
#define CUZK_TRY(expr)                                                                             \
    do {                                                                                           \
        cuzk_status cuzk_try_status_ = (expr);                                                     \
        if (cuzk_try_status_ != CUZK_OK) {                                                         \
            return cuzk_try_status_;                                                               \
        }                                                                                          \
    } while (0)

/* Same, but jumps to the function's one `out:` label; `status` is the function's result variable. */
#define CUZK_TRY_OUT(status, expr)                                                                 \
    do {                                                                                           \
        (status) = (expr);                                                                         \
        if ((status) != CUZK_OK) {                                                                 \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

/* A promise of ours, checked in CUZK_VERIFY builds only; prints and aborts. */
#ifdef CUZK_VERIFY
#define CUZK_ASSERT(cond)                                                                          \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            cuzk_assert_failed(#cond, __FILE__, __LINE__);                                         \
        }                                                                                          \
    } while (0)
#else
#define CUZK_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

/** Print the broken promise to stderr and abort. Only called by CUZK_ASSERT. */
void cuzk_assert_failed(const char *cond, const char *file, int line) __attribute__((noreturn));

#endif
