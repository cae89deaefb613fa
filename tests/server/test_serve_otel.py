# SPDX-License-Identifier: MIT OR Apache-2.0
"""otel.endpoint: jobs and their stages at a collector that shares no code with the daemon; traces of callers; what is lost is
counted and holds nothing up."""
import http.server, json, threading, time

import daemon
from daemon import harness, Daemon, wait_until, COMPLETED, SOON

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector:
    """Keeps what is posted; answers `status` after `delay` seconds."""

    def __init__(self, status=200, delay=0):
        collector = self
        self.bodies, self.status, self.delay = [], status, delay

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(collector.delay)
                collector.bodies.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(collector.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/v1/traces" % self.server.server_address[1]

    def spans(self):
        return [s for _, _, b in self.bodies for r in b["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def attributes(span):
    return {a["key"]: list(a["value"].values())[0] for a in span["attributes"]}


def counts(d):
    m = d.metrics()
    return int(m["cuzk_otel_spans_sent_total"]), int(m["cuzk_otel_spans_dropped_total"])


def test_spans(cuzk):
    """A job of three partitions: a span of the job, and five a partition inside it; its caller's trace where there is one."""
    with Collector() as c:
        d = Daemon(cuzk, test=True, name="otel", config={"otel.endpoint": c.url, "otel.service_name": 'prover "1"'})
        begin = time.time_ns()
        with d:
            assert d.prove(d.null("units=3 prove_us=2000 lane_us=3000", "own")).status == COMPLETED
            request = daemon.messages()[0].ProveRequest(submit=d.null("units=2 n=2", "caller's"))
            r = d.c.calls["Prove"][1](request, metadata=[("traceparent", "00-%s-%s-01" % (TRACE, SPAN))], timeout=SOON)
            assert r.result.status == COMPLETED
            r = d.c.calls["Prove"][1](daemon.messages()[0].ProveRequest(submit=d.null("n=3", "not sampled")),
                                   metadata=[("traceparent", "00-%s-%s-00" % (TRACE[::-1], SPAN))], timeout=SOON)
            d.c.calls["Prove"][1](daemon.messages()[0].ProveRequest(submit=d.null("n=4 fail=witness", "failed")),
                               metadata=[("traceparent", "00-%s-%s-zz" % (TRACE, SPAN))], timeout=SOON)
            long = "a" * 126 + "\u00e9"  # cut inside a character
            assert d.prove(d.null("n=5", long)).status == COMPLETED
            wait_until("five jobs' spans", lambda: counts(d)[0] == 3 * 5 + 1 + 2 * 5 + 1 + 1 + 1 + 5 + 1, SOON)
            assert counts(d)[1] == 0
        end = time.time_ns()
        assert {b[:2] for b in c.bodies} == {("/v1/traces", "application/json")}
        resource = c.bodies[0][2]["resourceSpans"][0]["resource"]["attributes"]
        assert resource == [{"key": "service.name", "value": {"stringValue": 'prover "1"'}}], resource
        spans = c.spans()
        assert "not sampled" not in {attributes(s)["cuzk.job_id"] for s in spans}
        assert len([s for s in spans if attributes(s)["cuzk.job_id"].startswith("a" * 126)]) == 6
        assert len({s["spanId"] for s in spans}) == len(spans)
        for name, n_units in (("own", 3), ("caller's", 2)):
            own = [s for s in spans if attributes(s)["cuzk.job_id"] == name]
            (job,) = [s for s in own if s["name"] == "job"]
            assert attributes(job)["cuzk.partitions"] == str(n_units) and attributes(job)["cuzk.kind"] == "null", job
            assert {s["traceId"] for s in own} == {job["traceId"]} and job["status"] == {"code": 1}
            stages = ("witness", "prove.start", "lane", "prove.finish", "verify")
            assert sorted((s["name"], attributes(s)["cuzk.partition"]) for s in own if s is not job) == sorted(
                (n, str(i)) for n in stages for i in range(n_units)), own
            for s in own:
                assert begin <= int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) <= end, s
                assert int(job["startTimeUnixNano"]) <= int(s["startTimeUnixNano"])
                assert s is job or s["parentSpanId"] == job["spanId"]
            if name == "own":
                assert "parentSpanId" not in job and job["traceId"] != TRACE
                lane = [s for s in own if s["name"] == "lane"][0]
                assert int(lane["endTimeUnixNano"]) - int(lane["startTimeUnixNano"]) >= 3 * 10 ** 6
            else:
                assert (job["traceId"], job["parentSpanId"]) == (TRACE, SPAN), job
        failed = [s for s in spans if attributes(s)["cuzk.job_id"] == "failed"]
        (job,) = [s for s in failed if s["name"] == "job"]
        assert job["status"]["code"] == 2 and job["status"]["message"] and job["traceId"] != TRACE, job
        assert "spans exported" in d.log() and "dropped=0" in d.log()


def test_lost(cuzk):
    """No collector, one that refuses, one that is slow: the queue is bounded, jobs go on, and what is lost is counted."""
    for name, collector in (("absent", None), ("refuses", Collector(status=500)), ("slow", Collector(delay=3600))):
        if name == "slow" and not daemon.NIGHTLY:
            continue  # the end waits five seconds for it
        url = collector.url if collector else "http://127.0.0.1:%d/v1/traces" % daemon.free_port()
        url = url.replace("://", "://me:p%40ss@") + "?key=s3cret"
        d = Daemon(cuzk, test=True, name="lost-" + name, config={"otel.endpoint": url, "otel.queue": 16, "journal.path": "none"})
        d.start()
        begin = time.monotonic()
        for i in range(40):
            assert d.prove(d.null("units=4 n=%d" % i)).status == COMPLETED
        assert time.monotonic() - begin < SOON / 4
        sent, dropped = counts(d)
        assert sent == 0 and 0 <= 40 * 21 - dropped <= 32, (name, dropped)  # what is not dropped waits, or is on its way
        begin = time.monotonic()
        assert d.stop() == 0 and time.monotonic() - begin < SOON / 4
        assert "dropped=840" in d.log() and (name == "slow" or "spans cannot be exported" in d.log()), d.log()
        assert name == "slow" or "://***@127.0.0.1:" in d.log() and "/v1/traces?***: " in d.log(), d.log()
        assert not any(word in d.log() for word in ("p%40ss", "p@ss", "s3cret", "me:")), d.log()
        if collector:
            collector.server.shutdown()


def test_refused(cuzk):
    d = Daemon(cuzk, test=True, name="bad", config={"otel.endpoint": "ftp://x"})
    d.spawn()
    assert d.wait_end() != 0 and "is no URL" in d.log(), d.log()
    d.process = None
    d = Daemon(cuzk, test=True, name="worse", config={"otel.endpoint": "me:p4ss@127.0.0.1:4318/v1/traces"})
    d.spawn()
    assert d.wait_end() != 0 and "***@127.0.0.1:4318/v1/traces" in d.log() and "is no URL" in d.log() and "p4ss" not in d.log(), d.log()
    d.process = None


if __name__ == "__main__":
    harness.main(globals())
