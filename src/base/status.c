/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tables behind status.h and the formatting of error texts. */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cuzk_status_name(cuzk_status status)
{
    switch (status) {
#define CASE(name, value, exit_code, grpc, text)                                                   \
    case CUZK_##name:                                                                              \
        return #name;
        CUZK_STATUS_MAP(CASE)
#undef CASE
    }
    return "UNKNOWN";
}

const char *cuzk_status_text(cuzk_status status)
{
    switch (status) {
#define CASE(name, value, exit_code, grpc, text)                                                   \
    case CUZK_##name:                                                                              \
        return text;
        CUZK_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

int cuzk_status_exit_code(cuzk_status status)
{
    switch (status) {
#define CASE(name, value, exit_code, grpc, text)                                                   \
    case CUZK_##name:                                                                              \
        return exit_code;
        CUZK_STATUS_MAP(CASE)
#undef CASE
    }
    return 1;
}

int cuzk_status_grpc_code(cuzk_status status)
{
    switch (status) {
#define CASE(name, value, exit_code, grpc, text)                                                   \
    case CUZK_##name:                                                                              \
        return grpc;
        CUZK_STATUS_MAP(CASE)
#undef CASE
    }
    return 2;
}

cuzk_status cuzk_fail_at(cuzk_error *err, cuzk_status status, const char *file, int line,
                         const char *fmt, ...)
{
    if (err != NULL && err->status == CUZK_OK) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, args);
        va_end(args);
        err->status = status;
        err->file = file;
        err->line = line;
    }
    return status;
}

void cuzk_error_prefix(cuzk_error *err, const char *fmt, ...)
{
    if (err == NULL || err->status == CUZK_OK) {
        return;
    }
    char phase[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(phase, sizeof phase, fmt, args);
    va_end(args);

    char tail[CUZK_ERROR_TEXT_MAX];
    memcpy(tail, err->text, sizeof tail);
    size_t n = strlen(phase);
    if (n > sizeof err->text - 3) {
        n = sizeof err->text - 3;
    }
    memcpy(err->text, phase, n);
    memcpy(err->text + n, ": ", 3);
    strncat(err->text, tail, sizeof err->text - n - 3);
}

void cuzk_error_clear(cuzk_error *err)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
    }
}

void cuzk_assert_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "cuzk: internal promise broken at %s:%d: %s\n", file, line, cond);
    abort();
}
