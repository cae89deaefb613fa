# SPDX-License-Identifier: MIT OR Apache-2.0
"""HTTP/2 by hand, for clients that misbehave: frames over a plain socket, headers without compression."""
import socket, struct, time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(**values):
    numbers = {"table": 1, "push": 2, "streams": 3, "window": 4, "frame": 5, "headers": 6}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", numbers[k], v) for k, v in values.items()))


def text(value):
    """A string of HPACK without Huffman coding."""
    n = len(value)
    if n < 127:
        return bytes([n]) + value
    n, out = n - 127, b"\x7f"
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n]) + value


def header(name, value):
    return b"\x00" + text(name) + text(value)


def call_headers(path, extra=()):
    pairs = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"localhost"),
             (b"content-type", b"application/grpc"), (b"te", b"trailers")]
    return b"".join(header(n, v) for n, v in pairs + list(extra))


def message(data):
    return b"\x00" + struct.pack(">I", len(data)) + data


def connect(address):
    """A socket to unix:PATH or HOST:PORT."""
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(10)
        while True:
            try:
                s.connect(address[5:])
                break
            except BlockingIOError:  # the queue of those who want in is full
                time.sleep(0.001)
    else:
        host, port = address.rsplit(":", 1)
        s = socket.create_connection((host, int(port)), 10)
    return s


def open_connection(address, **values):
    """A connection that has said hello."""
    s = connect(address)
    s.sendall(PREFACE + settings(**values))
    return s


def call(stream, path, data, end=True):
    return (frame(HEADERS, END_HEADERS, stream, call_headers(path)) +
            frame(DATA, END_STREAM if end else 0, stream, message(data)))
