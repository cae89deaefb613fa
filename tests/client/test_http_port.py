# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk status and queue where the HTTP port is anything else than the daemon's: what is said, and that GetStatus'
answer is shown all the same."""
import json, socket

from every_command import good_answers, json_of
from fake_daemon import Daemon, unix
from hostile import RawServer, answer_with, http
import harness


def looked_at(cuzk, talk, with_json=True):
    """cuzk status with an HTTP port that talks so: as text, and as JSON."""
    value = {}
    with RawServer(talk) as s:
        text = cuzk.ok("status", "--connect", unix(cuzk), "--status", s.address)
        if with_json:
            value = json_of(cuzk.ok("status", "--connect", unix(cuzk), "--status", s.address, "--json"))
            assert value["completed"] == 3, value
    assert text.err == "" and "proofs: 3 completed" in text.out, text
    if "http_error" in value:
        value["http_error"] = value["http_error"].replace(s.address, "ADDRESS")
    return text.out.replace(s.address, "ADDRESS"), value


ANSWERS = [  # bytes, and what is said about them
    (b"", "the status port ADDRESS: its answer is not HTTP"),
    (b"\r\n\r\n", "its answer is not HTTP"),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "its answer is not HTTP"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "its answer is not HTTP"),  # the head does not end
    (b"\x00" * 5000, "its answer is not HTTP"),
    (b"HTTP/2 200\r\n\r\n", "its answer is not HTTP"),
    (http(b"moved", "301 Moved Permanently", ["Location: /x"]), 'answers "HTTP/1.1 301 Moved Permanently"'),
    (http(b"{}", "404 Not Found"), 'answers "HTTP/1.1 404 Not Found"'),
    (http(b"{}", "500 Internal Server Error"), 'answers "HTTP/1.1 500 Internal Server Error"'),
    (http(b"{}", "2000 OK"), 'answers "HTTP/1.1 2000 OK"'),
    (b"HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 'answers "HTTP/1.1"'),
    (b"HTTP/1.1 200 OK\r\n\r\n{}", "its answer has no length"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "its answer has no length"),
    (b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nContent-Length: 2\r\n\r\n", "its answer has no length"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", "2 bytes came, 3 were announced"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}", "2 bytes came, 1 were announced"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}", "2 bytes came, 18446744073709551615 were"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", "2 bytes came"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}", "2 bytes came, 0 were announced"),
    (http(b""), "reading /status of ADDRESS"),
    (http(b"<html>not found</html>"), "reading /status of ADDRESS: line 1, column"),
    (http(b"[]"), "expected an object, found an array"),
    (http(b'{"uptime_secs": 9'), "reading /status of ADDRESS"),
    (http(b'{"uptime_secs": 9}{'), "reading /status of ADDRESS: line 1, column"),
    (http(b'\xef\xbb\xbf{"uptime_secs": 9}'), "reading /status of ADDRESS: line 1, column"),
    (http(b'{"a": "\xff"}'), "reading /status of ADDRESS: line 1, column"),
    (http(b"{\n\n  \"a\": tru}"), "line 3, column"),
    (http(b'{"uptime_secs": 99999}'), "is another daemon's, which has been up for 1 d 3 h"),
    (http(b'{"uptime_secs": 1e300}'), "is another daemon's"),
    (http(b'{"uptime_secs": -1e300}'), "is another daemon's, which has been up for 0.0 s"),
]


def test_answers(cuzk):
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for i, (data, text) in enumerate(ANSWERS):
            out, value = looked_at(cuzk, answer_with(data), i % 4 == 0)
            assert "jobs are not shown: " in out and text in out, (data[:80], out)
            if value:
                assert "http" not in value and text in value["http_error"], (data[:80], value)


def test_words_of_a_port_are_harmless(cuzk):
    """A status line is shown as it came only where a terminal cannot be told anything by it."""
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for reason in ("\x1b[2J\x07", "a\tb", "\x7f", "x" * 500, "\xff\xfe"):
            data = b"HTTP/1.1 500 " + reason.encode("latin-1") + b"\r\n\r\n"
            out, value = looked_at(cuzk, answer_with(data))
            assert 'answers "HTTP/1.1 500 ' in out, out
            assert not any(ord(c) < 32 and c != "\n" or c == "\x7f" for c in out), repr(out)
            assert max(map(len, out.splitlines())) < 300, out


def test_what_is_taken(cuzk):
    """Odd, but right: another case, another place, white space, pieces."""
    body = b'{"uptime_secs": 9, "pipelines": [{"job_id": "shown-job", "state": "running"}]}'
    length = b"%d" % len(body)
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for data in (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:" + length + b"\r\nA: b\r\n\r\n" + body,
                     b"HTTP/1.0 200 OK\r\nA: Content-Length: 1\r\nContent-Length:   " + length + b"  \r\n\r\n" + body,
                     b"HTTP/1.1 200\r\nContent-Length: " + length + b"\r\n\r\n" + body):
            out, value = looked_at(cuzk, answer_with(data))
            assert "shown-job" in out and value["http"] == json.loads(body), (data, out)

        def in_pieces(connection, n):
            connection.recv(65536)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in http(body):
                connection.sendall(bytes([byte]))
        assert "shown-job" in looked_at(cuzk, in_pieces)[0]


def test_a_body_that_is_too_long(cuzk):
    """More than is taken: the reader stops, and its memory stays bounded."""
    def for_ever(connection, n):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            connection.sendall(b" " * (1 << 20))
    with Daemon(unix(cuzk), good_answers(cuzk)), RawServer(for_ever) as s:
        r = cuzk.ok("status", "--connect", unix(cuzk), "--status", s.address)
        assert "its answer is longer than 67108864 bytes" in r.out, r
        assert harness.SANITIZED or r.peak_bytes < 300 << 20, r.peak_bytes


def test_a_port_that_hangs_up(cuzk):
    body = json.dumps({"uptime_secs": 9, "pipelines": [{"job_id": "x"}]}).encode()
    whole = http(body)

    def cut(n_bytes):
        def talk(connection, n):
            connection.recv(65536)
            connection.sendall(whole[:n_bytes])
        return talk
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for n_bytes in (0, 1, 9, 20, len(whole) - len(body) - 1, len(whole) - len(body), len(whole) - 1):
            out, value = looked_at(cuzk, cut(n_bytes))
            assert "jobs are not shown" in out and value["http_error"], (n_bytes, out)
        out, value = looked_at(cuzk, lambda connection, n: None)  # closed at once
        assert "jobs are not shown" in out, out


def test_a_port_that_is_silent(cuzk):
    """The wait for it has an end, and what GetStatus said is shown."""
    def silent(connection, n):
        while connection.recv(65536):
            pass
    with Daemon(unix(cuzk), good_answers(cuzk)), RawServer(silent) as s:
        r = cuzk.ok("queue", "--connect", unix(cuzk), "--status", s.address)
        assert "circom" in r.out and "no answer" in r.out, r


def test_jobs_in_their_order(cuzk):
    """Running ones by priority and age, queued ones in the daemon's order, ended ones last."""
    jobs = [("late-low", "running", 1, 5), ("ended-b", "failed", 4, 1), ("old-high", "running", 3, 50),
            ("new-high", "running", 3, 2), ("ended-a", "completed", 1, 90), ("critical", "running", 4, 1)]
    body = json.dumps({
        "uptime_secs": 9,
        "pipelines": [dict(job_id=i, state=s, priority=p, age_secs=a, total_partitions=2) for i, s, p, a in jobs],
        "queued": [dict(job_id="queue-%d" % k, priority=k + 1, age_secs=100 - k) for k in range(3)]}).encode()
    with Daemon(unix(cuzk), good_answers(cuzk)):
        out, value = looked_at(cuzk, answer_with(http(body)))
        lines = [line.split()[0] for line in out.splitlines() if line.split()[:1]]
        shown = [word for word in lines if word in [j[0] for j in jobs] or word.startswith("queue-")]
        assert shown == ["critical", "old-high", "new-high", "late-low", "queue-0", "queue-1", "queue-2", "ended-b",
                         "ended-a"], shown
        assert value["http"] == json.loads(body)  # as it came


def test_addresses(cuzk):
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for address in ("x", "x:", ":1", "x:y", "http://", "127.0.0.1:1x"):
            r = cuzk.ok("status", "--connect", unix(cuzk), "--status", address)
            assert 'jobs are not shown: status address "%s": expected HOST:PORT' % address in r.out, r
        for address, text in (("127.0.0.1:99999", ""), ("no-such-host.invalid:1", 'looking up "no-such-host.invalid:1"'),
                              ("h" * 300 + ":1", "too long"), ("[::1]:1", "[::1]:1")):
            assert "jobs are not shown: " + text in cuzk.ok("status", "--connect", unix(cuzk), "--status", address).out \
                or text in cuzk.ok("status", "--connect", unix(cuzk), "--status", address).out


if __name__ == "__main__":
    harness.main(globals())
