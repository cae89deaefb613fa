/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A client below gRPC's: HTTP/2 frames written by hand, for what no proper client does. */
#ifndef CUZK_TESTS_RAW_HTTP2_H
#define CUZK_TESTS_RAW_HTTP2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAW_STREAMS_MAX = 4096 };

typedef struct {
    int fd;
    int64_t window; /* that the server has opened for the connection */
    int64_t initial_window;
    int64_t stream_window[RAW_STREAMS_MAX]; /* by stream number / 2, over the initial one */
    uint64_t n_frames, n_goaway, n_reset, n_headers, n_data;
    bool is_closed, is_reading;
    uint8_t in[1 << 16];
    size_t n_in;
} raw;

/** Connect to "127.0.0.1:PORT" or "unix://PATH" and say what begins HTTP/2. fd -1: refused. */
void raw_open(raw *r, const char *address);
/** Without a word. */
void raw_connect(raw *r, const char *address);
void raw_close(raw *r);

/** Any frame. */
bool raw_frame(raw *r, uint8_t type, uint8_t flags, uint32_t stream, const void *data, size_t n);
/** The headers of a gRPC call. stream: odd, increasing. */
bool raw_call(raw *r, uint32_t stream, const char *path);
/** The same with one more header. */
bool raw_call_with(raw *r, uint32_t stream, const char *path, const char *name, const char *value);
/** The five bytes in front of a gRPC message. */
bool raw_message_head(raw *r, uint32_t stream, uint32_t n_bytes);
/** n bytes of zeros, as far as the windows allow within ms. Returned: how many were sent. */
size_t raw_zeros(raw *r, uint32_t stream, size_t n, unsigned ms);
/** Read frames for some time; windows and counts are kept. Pings and settings are answered. */
void raw_read(raw *r, unsigned ms);

#endif
