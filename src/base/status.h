/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Status codes and the error text that travels with them.
 *
 * Every fallible function returns cuzk_status (0 = OK) and takes a `cuzk_error *err` as its last
 * argument. The text says what was being done, to which object, at which index or offset, what was
 * found and what was expected. The codes, the error struct and the calls that callers of the
 * library need too are in the public cuzk_status.h: one list, from which enum, names, sentences,
 * exit codes and gRPC codes are made. */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#include "cuzk_status.h"

#include <stdarg.h>

#define CUZK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/** gRPC status code of a status (google.rpc.Code). */
int cuzk_status_grpc_code(cuzk_status status);

/** Record a failure and return `status`, so that a caller can `return cuzk_fail(...)`.
 *
 *  If err already holds an error, it keeps the first cause. Use through CUZK_FAIL. */
cuzk_status cuzk_fail_at(cuzk_error *err, cuzk_status status, const char *file, int line,
                         const char *fmt, ...) CUZK_PRINTF(5, 6);

/** Put the phase in front of an error text already recorded: "<phase>: <text>". No-op without
 * one.*/
void cuzk_error_prefix(cuzk_error *err, const char *fmt, ...) CUZK_PRINTF(2, 3);

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

/* Same, but jumps to the function's one `out:` label; `status` is the function's result variable.
 */
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
