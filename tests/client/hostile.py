# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ends of connections that do not behave: a server made of a function, and a proxy that stops in the middle."""
import select, socket, threading


class RawServer:
    """with RawServer(talk) as s: … talk(connection, n) is run for the n-th connection, in a thread of its own.

    address: of a Unix socket, or None for a port of 127.0.0.1; then s.address is what to connect to."""

    def __init__(self, talk, path=None):
        self.talk, self.path, self.connections, self.n = talk, path, [], 0

    def __enter__(self):
        if self.path:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.path)
        else:
            self.listener = socket.socket()
            self.listener.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.listener.listen(64)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()
        return self

    def _accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection, self.n), daemon=True).start()
            self.n += 1

    def _serve(self, connection, n):
        try:
            self.talk(connection, n)
        except (OSError, ValueError):  # closed, by the other side or by __exit__
            pass
        finally:
            close(connection)

    def __exit__(self, *args):
        close(self.listener)
        for connection in self.connections:
            close(connection)
        self.thread.join(10)


def close(s):
    try:
        s.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    s.close()


def forward(path, limit, change=lambda data, at: data):
    """A talk that passes bytes between its connection and the Unix socket at path; it hangs up when it has passed
    `limit` bytes of the answer (None: never). change(data, at): what becomes of bytes of the answer from at on."""
    def talk(connection, n):
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(path)
        passed = 0
        while True:
            ready = select.select([connection, daemon], [], [], 10)[0]
            if not ready:
                break
            if connection in ready:
                data = connection.recv(65536)
                if not data:
                    break
                daemon.sendall(data)
            if daemon in ready:
                data = daemon.recv(65536)
                if not data:
                    break
                if limit is not None:
                    data = data[:limit - passed]
                connection.sendall(change(data, passed))
                passed += len(data)
                if passed == limit:
                    break
        close(daemon)
    return talk


def http(body, status="200 OK", headers=()):
    """A whole HTTP answer."""
    lines = ["HTTP/1.1 " + status, *headers, "Content-Length: %d" % len(body)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def answer_with(data):
    """A talk that waits for a request and sends these bytes, or those that data() gives."""
    def talk(connection, n):
        request = b""
        while b"\r\n\r\n" not in request:
            piece = connection.recv(65536)
            if not piece:
                return
            request += piece
        connection.sendall(data() if callable(data) else data)
    return talk
