# SPDX-License-Identifier: MIT OR Apache-2.0
"""The HTTP port's last minutes: what was done, what is being done now, and why a device was idle."""
import json, os, re, urllib.request, xml.dom.minidom

import daemon
from daemon import harness, Daemon, wait_until, COMPLETED, SOON
from test_serve_record import check_sums, report


def timeline(d, seconds=60):
    code, text = d.get("/timeline.json?seconds=%d" % seconds)
    assert code == 200, (code, text)
    return json.loads(text)


def latest(d, what, condition):
    """The timeline, as soon as it says so: it is a fifth of a second behind."""
    def look():
        j = timeline(d)
        return j if condition(j) else None
    return wait_until(what, look, SOON)


def raw(d, path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (d.http_port, path), timeout=SOON) as r:
        return r.headers, r.read()


def test_last_minutes(cuzk):
    """Jobs, gaps and utilisations of what has just been, without a file; the same as a recording."""
    d = Daemon(cuzk, test=True, name="recent", config={"gpus.gpu_workers_per_device": 1})
    with d:
        for i in range(3):
            assert d.prove(d.null("units=2 prove_us=20000 n=%d" % i, "job-%d" % i)).status == COMPLETED
        j = latest(d, "three jobs", lambda j: j["jobs_ended"] == 3)
        check_sums(j)
        assert [job["id"] for job in j["jobs"]] == ["job-0", "job-1", "job-2"] and j["units_done"] == 6
        assert j["devices"][0]["id"] == "cpu" and j["devices"][0]["units"] == 6
        assert j["devices"][0]["worker_ns"] >= 6 * 20 * 10 ** 6
        assert 0 < len(j["devices"][0]["slices"]) <= 61 and j["spans_lost"] == j["spans_unknown"] == 0
        headers, svg = raw(d, "/timeline.svg?seconds=60")
        assert headers["Content-Type"] == "image/svg+xml"
        labels = [t.firstChild.data for t in xml.dom.minidom.parseString(svg).getElementsByTagName("text")]
        assert "worker 0" in labels and "3 jobs ended, 6 partitions done" in labels[0], labels
        recording = cuzk.write("fetched.rec", raw(d, "/recording?seconds=600")[1])
        to = ["--connect", "unix://" + d.socket, "--status", "127.0.0.1:%d" % d.http_port]
        r = cuzk.ok("record", cuzk.path("command.rec"), "--json", *to).json()
        assert r == {"ok": True, "recording": cuzk.path("command.rec"), "bytes": os.path.getsize(cuzk.path("command.rec"))}, r
        assert report(cuzk, cuzk.path("command.rec"))["jobs_ended"] == 3
        assert "the last 5 seconds at most" in cuzk.ok("record", cuzk.path("command.rec"), "--seconds", "5", *to).out
        cuzk.fails(2, "--seconds", "record", "x.rec", "--seconds", "601", *to)
        cuzk.fails(2, "--status", "record", "x.rec", *to[:2], env={"CUZK_DAEMON_STATUS_LISTEN": ""})
        for path in ("/timeline.json", "/timeline.svg", "/recording"):
            assert raw(d, path)[1]  # a minute
            for bad in ("0", "601", "x", "-1", "1.5", "", "99999"):
                code, text = d.get(path + "?seconds=" + bad)
                assert code == 400 and "1 to 600" in text, (path, bad, code, text)
        assert not os.path.exists(d.folder + "/rec")
    r = report(cuzk, recording)
    check_sums(r)
    assert [job["id"] for job in r["jobs"]] == ["job-0", "job-1", "job-2"] and r["bytes_after_last_piece"] == 0


def test_what_goes_on(cuzk):
    """A span is told before it ends: the worker is busy as long as it is held, and the gap's cause is its own."""
    d = Daemon(cuzk, test=True, name="open", config={"gpus.gpu_workers_per_device": 1})
    with d:
        call = d.c.start("Prove", submit=d.null("gate=open", "held"))
        held = 300 * 10 ** 6
        j = latest(d, "the worker to be busy", lambda j: j["devices"][0]["worker_ns"] > held)
        check_sums(j)
        device = j["devices"][0]
        assert j["jobs_ended"] == 0 and device["kernel_ns"] == 0
        assert device["cause_ns"]["host-before"] > held, device
        d.open_gate("open")
        assert call.result().result.status == COMPLETED
        j = latest(d, "the job's end", lambda j: j["jobs_ended"] == 1)
        check_sums(j)
        before = device["worker_ns"]
        device = j["devices"][0]
        assert device["units"] == 1 and device["worker_ns"] >= before and device["kernel_ns"] > 0


def test_long_job(cuzk):
    """A job is known, with the units that are left, when all that was recorded at its beginning has been dropped."""
    d = Daemon(cuzk, test=True, name="long", config={"recording.memory": "256KiB", "journal.path": "none",
                                                     "logging.level": "warn", "gpus.gpu_workers_per_device": 1,
                                                     "pipeline.max_parallel_synthesis": 1})
    with d:
        call = d.c.start("Prove", submit=d.null("units=10 gate=open@4", "long"))
        first = latest(d, "4 units", lambda j: j["units_done"] == 4)["end_ns"]
        begun, n = latest(d, "all of their spans", lambda j: j["end_ns"] > first)["end_ns"], 0
        while timeline(d, 600)["begin_ns"] <= begun:  # the reserved worker takes them
            calls = [d.c.start("Prove", submit=d.null("units=20 n=%d.%d" % (n, i), "job-%d-%d" % (n, i), priority=4))
                     for i in range(16)]
            assert [c.result().result.status for c in calls] == [COMPLETED] * 16
            n += 1
            assert n < 1000
        since = timeline(d)["end_ns"]
        j = latest(d, "time to pass", lambda j: j["end_ns"] > since + 300 * 10 ** 6)
        check_sums(j)
        causes = j["devices"][0]["cause_ns"]
        assert causes["host-before"] > 0 and causes["no-job"] == 0, causes  # the unit at its gate is begun
        path = cuzk.write("long.rec", raw(d, "/recording?seconds=600")[1])
        spans = json.loads(cuzk.ok("timeline", "--chrome", path).out)["traceEvents"]
        d.open_gate("open")
        assert call.result().result.status == COMPLETED
    assert [e["args"] for e in spans if e["name"] == "job.accepted"][0] == {"job": 1, "partitions": 6}


def test_page(cuzk):
    """All of it is in the program, small, of files of its own; nothing runs that is written into it."""
    d = Daemon(cuzk, test=True, name="page")
    with d:
        headers, html = raw(d, "/")
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        for path in ("/", "/page.js", "/timeline.json", "/timeline.svg", "/recording"):  # not for pages of others
            assert raw(d, path)[0]["Access-Control-Allow-Origin"] is None, path
        text, size = html.decode(), len(html)
        paths = sorted(set(re.findall(r'(?:src|href)="([^"#]+)"', text)))
        assert paths == ["/charts.js", "/icon.svg", "/metrics", "/page.css", "/page.js", "/recording?seconds=60", "/status",
                         "/timeline.svg", "/timeline.svg?seconds=60", "/uPlot.css", "/uPlot.js"], paths
        assert re.findall(r"<script(?![^>]* src=)|<style| on\w+=| style=", text) == []
        for path, kind in (("/page.js", "text/javascript"), ("/charts.js", "text/javascript"), ("/page.css", "text/css"), ("/icon.svg", "image/svg+xml")):
            headers, data = raw(d, path)
            assert headers["Content-Type"].startswith(kind) and b"://" not in data.replace(b"http://www.w3.org/2000/svg", b"")
            assert data == harness.read(os.path.join(harness.TOP, "src/server/page" + path))
            size += len(data)
        # the library, with its license; a build without it says so
        has = d.status()["charts"]
        for path, kind in (("/uPlot.js", "text/javascript"), ("/uPlot.css", "text/css")):
            headers, data = raw(d, path)
            assert headers["Content-Type"].startswith(kind) and (b"Permission is hereby granted" in data) == has, data[:100]
            assert has or data == b"/* built without it */\n", data
            assert data.count(b"://") <= 1 and b"eval(" not in data and b"new Function" not in data  # its own address, in a comment
            assert (len(data) > 2000) == has
            size += len(data)
        print("  %d bytes, charts: %s" % (size, has))
        assert size < 300000, size
        assert "/timeline.svg" in d.get("/nothing")[1] and d.get("/nothing")[0] == 404


def test_nothing_is_kept(cuzk):
    """recording.memory = 0: said so."""
    d = Daemon(cuzk, test=True, name="none", config={"recording.memory": 0})
    with d:
        assert d.prove(d.null("units=1")).status == COMPLETED
        for path in ("/timeline.json", "/timeline.svg", "/recording"):
            code, text = d.get(path)
            assert code == 404 and "recording.memory" in text, (path, code, text)
        cuzk.fails(1, "404", "record", "x.rec", "--connect", "unix://" + d.socket, "--status", "127.0.0.1:%d" % d.http_port)
        assert not os.path.exists(cuzk.path("x.rec"))


def test_bounded(cuzk):
    """More spans than there is memory for: the latest are kept, and the budget has their room."""
    d = Daemon(cuzk, test=True, name="bounded", config={"recording.memory": "1MiB", "journal.path": "none",
                                                        "logging.level": "warn"})
    with d:
        assert d.status()["memory"]["total_bytes"] == (4 << 30) - (256 << 20) - 3 * (1 << 20)
        n, data = 0, b"job-0-0"
        while b"job-0-0" in data or n < 5:
            calls = [d.c.start("Prove", submit=d.null("units=60 n=%d" % i, "job-%d-%d" % (n, i))) for i in range(16)]
            assert [c.result().result.status for c in calls] == [COMPLETED] * 16
            data = raw(d, "/recording?seconds=600")[1]
            assert len(data) < (1 << 20) + (64 << 10), len(data)
            n += 1
            assert n < 1000
        wait_until("the last job", lambda: b"job-%d-15" % (n - 1) in raw(d, "/recording?seconds=600")[1], SOON)
        j = timeline(d, 600)
        check_sums(j)
        assert len(j["jobs"]) <= 64 and len(j["gaps"]) <= 256
        begin, end = j["begin_ns"], j["end_ns"]
        assert 0 < end - begin < 600 * 10 ** 9


if __name__ == "__main__":
    harness.main(globals())
