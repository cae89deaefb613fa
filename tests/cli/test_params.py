# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk params: lists, digests, and fetching from folders and from a server that misbehaves. BC-nnn: cases
from the field, see docs/filecoin.md."""
import hashlib, http.server, json, os, signal, subprocess, threading, time
import harness
from harness import Skip, read

VK = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-" \
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.vk"


def files(n=3, size=300000):
    return {"file-%d.params" % i: bytes((i + k * k) & 255 for k in range(size + i)) for i in range(n)}


def manifest(cuzk, content, **change):
    entries = {name: {"cid": "cid-" + name, "sector_size": 2048,
                      "digest": hashlib.blake2b(data).hexdigest()[:32]} for name, data in content.items()}
    for name, digest in change.get("digests", {}).items():
        entries[name]["digest"] = digest
    return cuzk.write_json("parameters.json", entries)


class Server:
    """Serves files by name or cid; `behave` says how, by path."""

    def __init__(self, content, behave=None, ranges=True):
        outer = self
        self.requests, self.content, self.behave = [], dict(content), behave or {}
        self.content.update({"cid-" + k: v for k, v in content.items()})

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def answer(self, status, body, headers=()):
                self.send_response(status)
                for k, v in headers:
                    self.send_header(k, v)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                name = self.path.strip("/").split("/")[-1]
                wanted = self.headers.get("Range")
                outer.requests.append((name, wanted))
                how = outer.behave.get(name)
                if isinstance(how, tuple):
                    return self.answer(*how)
                if name not in outer.content:
                    return self.answer(404, b"<html>no such file here</html>\nmore\n")
                data, begin = outer.content[name], 0
                if wanted and ranges:
                    begin = int(wanted.split("=")[1].split("-")[0])
                    if begin >= len(data):
                        return self.answer(416, b"", [("Content-Range", "bytes */%d" % len(data))])
                    self.send_response(206)
                    self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
                else:
                    self.send_response(200)
                body = data[begin:]
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if how == "break" and len(body) > 50000:
                    self.wfile.write(body[:50000])
                    self.close_connection = True
                elif how == "slow":
                    for i in range(0, len(body), 5000):
                        self.wfile.write(body[i:i + 5000])
                        self.wfile.flush()
                        time.sleep(0.1)
                else:
                    self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # clients that go away are part of the tests
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()


def fetch(cuzk, source, *what, **kw):
    return cuzk("params", "fetch", *what, "--folder", cuzk.path("cache"), "--manifest", cuzk.path("parameters.json"),
                "--from", source, **kw)


def need_downloads(cuzk):
    r = cuzk("params", "fetch", "x", "--manifest", cuzk.write_json("m.json", {"x": {"digest": "0" * 32}}),
             "--folder", cuzk.path("c"), "--from", "http://127.0.0.1:9/")
    if "libcurl" in r.err:
        raise Skip("no libcurl here")
    return r


def names_in(cuzk):
    folder = cuzk.path("cache")
    return sorted(n for n in os.listdir(folder) if not n.endswith(".good")) if os.path.isdir(folder) else []


def test_builtin_list(cuzk):
    r = cuzk.ok("params", "list", "--folder", cuzk.path("none"))
    assert len(r.out.splitlines()) == 40 and r.out.count(" missing ") == 40
    listed = cuzk.ok("params", "list", "2KiB", "winning-32g", "--folder", cuzk.path("none"), "--json").json()
    assert [f["circuit"] for f in listed["files"]] == \
        [c for c in ("porep-2k", "snap-2k", "wpost-2k", "winning-2k", "winning-32g") for _ in range(2)]
    assert cuzk.ok("params", "list", "32g").out == cuzk.ok("params", "list", "32GiB").out != ""
    assert len(cuzk.ok("params", "list", VK).out.splitlines()) == 1
    r = cuzk.ok("params", "list", VK, env={"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("elsewhere")})
    assert " missing " in r.out


def test_states(cuzk):
    content = files(5)
    manifest(cuzk, content)
    os.mkdir(cuzk.path("cache"))
    cuzk.write("cache/file-0.params", content["file-0.params"])
    cuzk.write("cache/file-1.params", b"")
    os.mkdir(cuzk.path("cache/file-2.params"))
    os.symlink("nowhere", cuzk.path("cache/file-3.params"))
    damaged = bytearray(content["file-4.params"])
    damaged[1000] ^= 1
    cuzk.write("cache/file-4.params", damaged)
    common = ("--folder", cuzk.path("cache"), "--manifest", cuzk.path("parameters.json"))
    states = [f["state"] for f in cuzk.ok("params", "list", "--json", *common).json()["files"]]
    assert states == ["present", "empty", "not a file", "missing", "present"], states
    r = cuzk("params", "check", "--json", *common)
    assert r.code == 1 and r.json()["ok"] is False
    assert [f["state"] for f in r.json()["files"]] == ["good", "empty", "not a file", "missing", "damaged"]
    assert "file-4.params: digest " in r.err and "expected " in r.err, r
    cuzk.ok("params", "check", "file-0.params", *common)
    # a published file of another size is known to be wrong without reading it
    cuzk.write("cache/" + VK, b"x" * 100)
    r = cuzk("params", "check", VK, "--folder", cuzk.path("cache"))
    assert r.code == 1 and "100 bytes, expected 3076" in r.err, r


def test_from_folder(cuzk):
    content = files()
    manifest(cuzk, content)
    os.mkdir(cuzk.path("mirror"))
    for name, data in content.items():
        cuzk.write("mirror/" + name, data)
    r = fetch(cuzk, cuzk.path("mirror"), "2KiB")
    assert r.code == 0 and r.out.count(" fetched ") == 3, r
    assert names_in(cuzk) == sorted(content)
    assert all(read(cuzk.path("cache/" + n)) == d for n, d in content.items())
    assert sorted(os.listdir(cuzk.path("cache"))) == sorted(".%s.good" % n for n in content) + sorted(content)
    # BC-094: a complete folder that cannot be written is fine
    os.chmod(cuzk.path("cache"), 0o555)
    r = fetch(cuzk, cuzk.path("no such"), "2KiB")
    os.chmod(cuzk.path("cache"), 0o755)
    assert r.code == 0 and r.out.count(" was there ") == 3, r
    # BC-092: an empty file, and one with other bytes, are fetched again
    cuzk.write("cache/file-0.params", b"")
    cuzk.write("cache/file-1.params", content["file-1.params"][:-1] + b"?")
    r = fetch(cuzk, "file://" + cuzk.path("mirror"), "2KiB")
    assert r.code == 0 and r.out.count(" fetched ") == 2, r
    r = fetch(cuzk, cuzk.path("mirror"), "2KiB", "--dry-run")
    assert r.code == 0 and r.out.count(" present ") == 3, r
    os.unlink(cuzk.path("cache/file-2.params"))
    os.mkdir(cuzk.path("cache/file-2.params"))
    r = fetch(cuzk, cuzk.path("mirror"), "2KiB")
    assert r.code == 1 and "file-2.params: not a file" in r.err, r


def test_remembered(cuzk):
    """BC-097: a good file is read once, until it changes."""
    content = files(1)
    (name, data), = content.items()
    manifest(cuzk, content)
    os.mkdir(cuzk.path("mirror"))
    cuzk.write("mirror/" + name, data)
    common = ("--folder", cuzk.path("cache"), "--manifest", cuzk.path("parameters.json"))
    os.mkdir(cuzk.path("cache"))
    path, note = cuzk.write("cache/" + name, data), cuzk.path("cache/.%s.good" % name)
    cuzk.ok("params", "check", *common)
    damaged = bytearray(data)
    damaged[5] ^= 1
    times = os.stat(path)
    with open(path, "r+b") as f:
        f.write(damaged)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    # the same size, time and inode: fetch believes the note, check never does
    assert " was there " in fetch(cuzk, cuzk.path("mirror"), name).out
    assert cuzk("params", "check", *common).code == 1
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert " fetched " in fetch(cuzk, cuzk.path("mirror"), name).out and read(path) == data
    for text in (b"", b"digest", read(note) + b"x", read(note).replace(b"inode 1", b"inode 2")):
        with open(path, "r+b") as f:
            f.write(damaged)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1000))
        with open(note, "wb") as f:
            f.write(text)
        assert " fetched " in fetch(cuzk, cuzk.path("mirror"), name).out and read(path) == data, text
        assert read(note) != text


def test_from_server(cuzk):
    need_downloads(cuzk)
    content = files()
    manifest(cuzk, content)
    with Server(content, {"file-1.params": "break"}) as server:
        r = fetch(cuzk, server.url + "/some/folder", "2KiB")
        assert r.code == 0 and r.out.count(" fetched ") == 3, r
        # the one that breaks off was taken up where it ended
        offsets = [wanted for name, wanted in server.requests if name == "file-1.params"]
        assert offsets[:3] == [None, "bytes=50000-", "bytes=100000-"], offsets
    assert names_in(cuzk) == sorted(content)
    assert all(read(cuzk.path("cache/" + n)) == d for n, d in content.items())
    for template in ("/ipfs/{cid}", "/get?{name}/{name}"):
        os.unlink(cuzk.path("cache/file-0.params"))
        with Server(content) as server:
            assert fetch(cuzk, server.url + template.replace("get?{name}", "get"), "file-0.params").code == 0
            assert server.requests[0][0] == ("cid-" if "cid" in template else "") + "file-0.params"


def test_bad_answers(cuzk):
    """BC-090: an error page is never stored under the file's name."""
    need_downloads(cuzk)
    content = files(1)
    manifest(cuzk, content)
    page = b"<html><b>busy</b>\r\n"
    with Server(content) as server:
        for answer, texts in (((404, page), ("status 404: <html><b>busy</b>",)),
                              ((403, b"{\"error\":1}"), ("status 403: {\"error\":1}",)),
                              ((502, b""), ("status 502",)),
                              ((200, page), ("what was received is not the file", "<html><b>busy</b>")),
                              ((302, b"", [("Location", "/file-0.params")]), ("redirects",)),
                              ((302, b"", [("Location", "ftp://127.0.0.1/x")]), ("ftp",))):
            server.behave["file-0.params"] = answer
            r = fetch(cuzk, server.url, "2KiB")
            assert r.code == 1 and all(t in r.err for t in texts) and len(r.err.splitlines()) == 2, r
            assert names_in(cuzk) == [], names_in(cuzk)
        # the second source helps; all are named when none does
        server.behave["file-0.params"] = (503, b"later")
        r = fetch(cuzk, "%s,%s/ipfs/{cid}" % (server.url, server.url), "2KiB")
        assert r.code == 0, r
    r = fetch(cuzk, "http://127.0.0.1:9,%s" % cuzk.path("nowhere"), "file-0.params")
    assert r.code == 0 and " was there " in r.out
    os.unlink(cuzk.path("cache/file-0.params"))
    r = fetch(cuzk, "http://127.0.0.1:9,%s" % cuzk.path("nowhere"), "file-0.params")
    assert r.code == 1 and "127.0.0.1:9" in r.err and "nowhere/file-0.params: No such file" in r.err, r


def test_continues(cuzk):
    need_downloads(cuzk)
    content = files(1)
    (name, data), = content.items()
    manifest(cuzk, content)
    os.mkdir(cuzk.path("cache"))
    part = cuzk.path("cache/.%s.part" % name)
    for have, ranges in ((data[:1000], True), (data[:1000], False), (data, True), (b"wrong bytes", True),
                         (data + b"more", True)):
        with open(part, "wb") as f:
            f.write(have)
        with Server(content, ranges=ranges) as server:
            assert fetch(cuzk, server.url, name).code == 0, (have[:20], ranges)
            assert server.requests[0][1] == "bytes=%d-" % len(have)
        assert names_in(cuzk) == [name] and read(cuzk.path("cache/" + name)) == data
        os.unlink(cuzk.path("cache/" + name))


def test_two_at_once(cuzk):
    """BC-094: one fetches, the other waits; one that is killed blocks nobody."""
    need_downloads(cuzk)
    if harness.EMULATOR:
        raise Skip("processes under an emulator")
    content = files(1)
    (name, data), = content.items()
    manifest(cuzk, content)
    command = [cuzk.program, "params", "fetch", name, "--folder", cuzk.path("cache"), "--manifest",
               cuzk.path("parameters.json"), "--from"]
    with Server(content, {name: "slow"}) as server:
        first = subprocess.Popen(command + [server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        part = cuzk.path("cache/.%s.part" % name)
        deadline = time.monotonic() + 20
        while not (os.path.exists(part) and os.path.getsize(part) > 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        second = subprocess.Popen(command + [server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        server.behave.clear()
        out, err = second.communicate(timeout=60)
        assert second.returncode == 0 and " fetched " in out, (out, err)
        assert "another process fetches it: waiting" in err, err
        # what the killed one had received was not asked for again
        assert server.requests[1][1] is not None, server.requests
    assert read(cuzk.path("cache/" + name)) == data
    # ended by a signal: exit code, and the part stays
    os.unlink(cuzk.path("cache/" + name))
    with Server(content, {name: "slow"}) as server:
        p = subprocess.Popen(command + [server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while not (os.path.exists(part) and os.path.getsize(part) > 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        assert p.returncode == 1 and "cancelled" in err, (p.returncode, err)
        assert os.path.getsize(part) > 0 and not os.path.exists(cuzk.path("cache/" + name))


def test_manifest(cuzk):
    """BC-093: a broken list is reported with its place."""
    for text, mention in (("", "line 1"), ("[]", "line 1, column 1: an array, expected an object"),
                          ('{"a": 1}', 'column 7: "a" is a number, expected an object'),
                          ('{"a": {}}', 'has no "digest"'),
                          ('{"a": {"digest": "12"}}', '"digest" of "a" is not 32 hex digits'),
                          ('{"a": {"digest": "%s"},\n "../b": {}}' % ("0" * 32), "line 2, column 2: the key is not"),
                          ('{"a": {"digest": "%s"' % ("0" * 32), "ends too early"),
                          ('{"a": {"digest": "%s", "sector_size": -1}}' % ("0" * 32), '"sector_size" of "a"')):
        path = cuzk.write("m.json", text)
        r = cuzk("params", "list", "--manifest", path)
        assert r.code == 1 and path in r.err and mention in r.err, (text, r)
    r = cuzk("params", "list", "--manifest", cuzk.path("no such"))
    assert r.code == 1 and "No such file" in r.err


def test_usage(cuzk):
    cuzk.fails(2, '"33GiB": no such files; expected a sector size (2KiB', "params", "list", "33GiB")
    cuzk.fails(2, "fetch what?", "params", "fetch")
    cuzk.fails(2, '"lst": expected list, check, fetch or setup; did you mean list', "params", "lst")
    cuzk.fails(2, "belong to fetch", "params", "list", "--dry-run")
    cuzk.fails(2, "too few arguments", "params")


def test_size_brings_all_vk(cuzk):
    """BC-095: a size is its .params and every .vk."""
    r = cuzk.ok("params", "fetch", "32GiB", "--dry-run", "--json", "--folder", cuzk.path("none"))
    names = [f["name"] for f in r.json()["files"]]
    assert len(names) == 24 and sum(n.endswith(".vk") for n in names) == 20
    r = cuzk.ok("params", "fetch", "porep-32g", "--dry-run", "--json", "--folder", cuzk.path("none"))
    assert len(r.json()["files"]) == 2


harness.main(globals())
