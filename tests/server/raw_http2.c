/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HTTP/2 by hand. Source: RFC 9113 (frames), RFC 7541 (literal headers). */
#include "server/raw_http2.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DATA, HEADERS, RST_STREAM = 3, SETTINGS, PING = 6, GOAWAY, WINDOW_UPDATE };

void raw_connect(raw *r, const char *address)
{
    memset(r, 0, sizeof *r);
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_un un;
    } a = {.any = {0}};
    bool is_unix = strncmp(address, "unix://", 7) == 0;
    if (is_unix) {
        a.un.sun_family = AF_UNIX;
        strncpy(a.un.sun_path, address + 7, sizeof a.un.sun_path - 1);
    } else {
        a.in.sin_family = AF_INET;
        a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a.in.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
    }
    r->fd = socket(a.any.sa_family, SOCK_STREAM, 0);
    r->window = r->initial_window = 65535;
    if (connect(r->fd, &a.any, is_unix ? sizeof a.un : sizeof a.in) != 0) {
        close(r->fd);
        r->fd = -1;
    }
}

void raw_open(raw *r, const char *address)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    raw_connect(r, address);
    if (r->fd >= 0 && write(r->fd, preface, sizeof preface - 1) == (ssize_t)sizeof preface - 1) {
        raw_frame(r, SETTINGS, 0, 0, NULL, 0);
        for (int i = 0; i < 1000 && r->n_frames < 2 && !r->is_closed; i++) {
            raw_read(r, 1); /* its settings, and that it has read ours */
        }
    }
}

void raw_close(raw *r)
{
    if (r->fd >= 0) {
        close(r->fd);
        r->fd = -1;
    }
}

/* All of it, reading meanwhile, so that neither side waits for the other for ever. */
static bool put(raw *r, const uint8_t *data, size_t n)
{
    while (n > 0 && !r->is_closed) {
        struct pollfd p = {.fd = r->fd, .events = POLLOUT | POLLIN};
        if (poll(&p, 1, 5000) <= 0) {
            return false;
        }
        if ((p.revents & POLLIN) != 0) {
            raw_read(r, 0);
        }
        if ((p.revents & POLLOUT) != 0) {
            ssize_t k = send(r->fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (k < 0 && errno != EAGAIN) {
                r->is_closed = true;
            }
            data += k > 0 ? k : 0;
            n -= k > 0 ? (size_t)k : 0;
        }
    }
    return n == 0;
}

bool raw_frame(raw *r, uint8_t type, uint8_t flags, uint32_t stream, const void *data, size_t n)
{
    uint8_t frame[9 + 16384] = {(uint8_t)(n >> 16),
                                (uint8_t)(n >> 8),
                                (uint8_t)n,
                                type,
                                flags,
                                (uint8_t)(stream >> 24),
                                (uint8_t)(stream >> 16),
                                (uint8_t)(stream >> 8),
                                (uint8_t)stream};
    if (n > 0) {
        memcpy(frame + 9, data, n);
    }
    return put(r, frame, 9 + n);
}

static size_t literal(uint8_t *out, const char *name, const char *value)
{
    size_t a = strlen(name), b = strlen(value);
    out[0] = 0;
    out[1] = (uint8_t)a;
    memcpy(out + 2, name, a);
    out[2 + a] = (uint8_t)b;
    memcpy(out + 3 + a, value, b);
    return 3 + a + b;
}

bool raw_call(raw *r, uint32_t stream, const char *path)
{
    return raw_call_with(r, stream, path, "user-agent", "raw");
}

bool raw_call_with(raw *r, uint32_t stream, const char *path, const char *name, const char *value)
{
    uint8_t block[512];
    size_t n = literal(block, ":method", "POST");
    n += literal(block + n, ":scheme", "http");
    n += literal(block + n, ":path", path);
    n += literal(block + n, ":authority", "localhost");
    n += literal(block + n, "te", "trailers");
    n += literal(block + n, "content-type", "application/grpc");
    n += literal(block + n, name, value);
    return raw_frame(r, HEADERS, 4 /* END_HEADERS */, stream, block, n);
}

static int64_t window_of(const raw *r, uint32_t stream)
{
    int64_t own = r->initial_window + r->stream_window[stream / 2 % RAW_STREAMS_MAX];
    return own < r->window ? own : r->window;
}

static void spend(raw *r, uint32_t stream, size_t n)
{
    r->window -= (int64_t)n;
    r->stream_window[stream / 2 % RAW_STREAMS_MAX] -= (int64_t)n;
}

bool raw_message_head(raw *r, uint32_t stream, uint32_t n_bytes)
{
    uint8_t head[5] = {0, (uint8_t)(n_bytes >> 24), (uint8_t)(n_bytes >> 16),
                       (uint8_t)(n_bytes >> 8), (uint8_t)n_bytes};
    spend(r, stream, sizeof head);
    return raw_frame(r, DATA, 0, stream, head, sizeof head);
}

size_t raw_zeros(raw *r, uint32_t stream, size_t n, unsigned ms)
{
    static const uint8_t zeros[16384];
    size_t sent = 0;
    uint64_t end = cuzk_now_ns() + ms * 1000000ull;
    while (sent < n && !r->is_closed && cuzk_now_ns() < end) {
        int64_t window = window_of(r, stream);
        size_t k = n - sent < sizeof zeros ? n - sent : sizeof zeros;
        if (window <= 0) {
            raw_read(r, 10);
            continue;
        }
        k = (int64_t)k < window ? k : (size_t)window;
        if (!raw_frame(r, DATA, 0, stream, zeros, k)) {
            break;
        }
        spend(r, stream, k);
        sent += k;
    }
    return sent;
}

static uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void on_frame(raw *r, uint8_t type, uint8_t flags, uint32_t stream, const uint8_t *data,
                     size_t n)
{
    r->n_frames++;
    r->n_goaway += type == GOAWAY;
    r->n_reset += type == RST_STREAM;
    r->n_headers += type == HEADERS;
    r->n_data += type == DATA;
    if (type == SETTINGS && flags == 0) {
        for (size_t i = 0; i + 6 <= n; i += 6) {
            if (data[i] == 0 && data[i + 1] == 4) {
                r->initial_window = load_u32(data + i + 2);
            }
        }
        raw_frame(r, SETTINGS, 1, 0, NULL, 0);
    } else if (type == PING && flags == 0) {
        raw_frame(r, PING, 1, 0, data, n);
    } else if (type == WINDOW_UPDATE && n == 4) {
        *(stream == 0 ? &r->window : &r->stream_window[stream / 2 % RAW_STREAMS_MAX]) +=
            load_u32(data);
    }
}

static void read_frames(raw *r, unsigned ms)
{
    uint64_t end = cuzk_now_ns() + ms * 1000000ull;
    do {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        if (r->is_closed || poll(&p, 1, ms == 0 ? 0 : 1) <= 0) {
            continue;
        }
        ssize_t k = recv(r->fd, r->in + r->n_in, sizeof r->in - r->n_in, MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN)) {
            r->is_closed = true;
            return;
        }
        r->n_in += k > 0 ? (size_t)k : 0;
        size_t at = 0;
        while (r->n_in - at >= 9) {
            const uint8_t *f = r->in + at;
            size_t n = (size_t)f[0] << 16 | (size_t)f[1] << 8 | f[2];
            if (r->n_in - at < 9 + n) {
                break;
            }
            at += 9 + n;
            on_frame(r, f[3], f[4], load_u32(f + 5) & 0x7fffffff, f + 9, n);
        }
        memmove(r->in, r->in + at, r->n_in - at);
        r->n_in -= at;
    } while (!r->is_closed && cuzk_now_ns() < end);
}

void raw_read(raw *r, unsigned ms)
{
    /* an answer to a frame is sent from inside, and sending reads */
    if (!r->is_reading) {
        r->is_reading = true;
        read_frames(r, ms);
        r->is_reading = false;
    }
}
