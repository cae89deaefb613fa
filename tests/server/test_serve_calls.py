# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every call of the daemon, as its clients make them. The empty work of cuzk-server-test stands for proving.
BC-nnn: cases of docs/cases.md."""
import random, threading, time
import daemon, harness
from daemon import CANCELLED, COMPLETED, FAILED, FOREVER_US, SOON, TIMEOUT, Client, Daemon, null_proof, wait_until
import grpc

WINDOW_ID = "wdpost-1000-0-[12 34 56 78 90 123 45 67]"


def is_code(error, name):
    return error.code() == getattr(grpc.StatusCode, name)


def test_every_call(cuzk):
    """One after the other, on an idle daemon."""
    with Daemon(cuzk, test=True) as d:
        answer = d.c("SubmitProof", d.null("units=3", "one"))
        assert answer.job_id == "one" and answer.queue_position == 0 and answer.assigned_gpu == "", answer
        r = d.c("AwaitProof", job_id="one")
        assert r.status == COMPLETED and r.proof == null_proof(b"units=3", 3) and r.job_id == "one", r
        assert r.error_message == ""
        r = d.prove(d.null("prove_us=30000 witness_us=20000", "two"))
        assert r.status == COMPLETED and 30 <= r.gpu_compute_ms < SOON * 1000 and 20 <= r.synthesis_ms < SOON * 1000, r
        assert r.total_ms >= 50, r
        assert d.c("CancelProof", job_id="one").was_running is False
        status = d.c("GetStatus")
        assert status.total_proofs_completed == 2 and status.total_proofs_failed == 0, status
        assert len(status.gpus) >= 1 and all(g.current_job_id == "" for g in status.gpus), status
        assert [s.circuit_id for s in status.loaded_srs] == ["null-a"] and status.loaded_srs[0].size_bytes == 1000000
        assert sum(q.pending + q.in_progress for q in status.queues) == 0, status
        assert "cuzk_proofs_completed_total 2" in d.c("GetMetrics").prometheus_text
        answer = d.c("PreloadSRS", circuit_id="null-b")
        assert answer.already_loaded is False, answer
        answer = d.c("PreloadSRS", circuit_id="null-b")
        assert answer.already_loaded is True and answer.load_time_ms == 0, answer
        answer = d.c("EvictSRS", circuit_id="null-b")
        assert answer.was_loaded is True and answer.freed_bytes == 1000000, answer
        assert d.c("EvictSRS", circuit_id="null-b").was_loaded is False
        assert list(d.c("ListCircuits").circuits) == []
        d.c.fails("NOT_FOUND", "nobody", "AwaitProof", job_id="nobody")
        d.c.fails("NOT_FOUND", "nobody", "CancelProof", job_id="nobody")
        d.c.fails("INVALID_ARGUMENT", "", "Prove", b"")
        # the longest id has room for another content's digest
        longest = "z" * 958
        assert d.c("SubmitProof", d.null("x=1", longest)).job_id == longest
        assert d.c("SubmitProof", d.null("x=2", longest)).job_id.startswith(longest + "~")
        d.c.fails("INVALID_ARGUMENT", "959 bytes, at most 958", "SubmitProof", d.null("x=1", longest + "z"))


def test_refused_before_anything_is_queued(cuzk):
    """Payloads that cannot be proved, in Prove and SubmitProof; the job does not exist afterwards."""
    with Daemon(cuzk, test=True) as d:
        for request, text in ((d.null("fail=decode:E_FORMAT", "x"), "E_FORMAT"),
                              (d.null("circuit=nowhere", "x"), "nowhere"),
                              (d.null("fail=decode:E_TRUNCATED", "x"), "E_TRUNCATED")):
            d.c.fails("INVALID_ARGUMENT", text, "Prove", submit=request)
            d.c.fails("INVALID_ARGUMENT", text, "SubmitProof", request)
        for kind in (0, 7, 99, -1):
            request = d.null("", "x")
            request.proof_kind = kind
            d.c.fails("INVALID_ARGUMENT", str(kind), "SubmitProof", request)
        d.c.fails("NOT_FOUND", "x", "AwaitProof", job_id="x")
        assert d.unfinished() == 0


def test_failures_are_answers(cuzk):
    """What fails later is OK with FAILED and says which unit and where."""
    with Daemon(cuzk, test=True, config={"pipeline.device_faults": 100}) as d:
        for stage in ("witness", "prove", "finish", "assemble"):
            r = d.prove(d.null("units=3 fail=%s@1" % stage if stage != "assemble" else "fail=assemble", "f-" + stage))
            assert r.status == FAILED and stage in r.error_message and r.proof == b"", r
        r = d.prove(d.null("fail=verify", "bad"))
        assert r.status == FAILED and r.proof == b"" and "verif" in r.error_message, r
        r = d.prove(d.null("circuit=null-missing", "missing"))
        assert r.status == FAILED and "null-missing" in r.error_message, r
        assert d.c("GetStatus").total_proofs_failed == 6
        assert d.prove(d.null("", "good")).status == COMPLETED


def test_ids(cuzk):
    """BC-103: an id is any text; with the same payload it is the same job, with another one another job."""
    with Daemon(cuzk, test=True) as d:
        for id in (WINDOW_ID, "'; DROP TABLE job; --", "../../etc/passwd", "ü" * 300, " ", "\n", "a~b", "%s%n"):
            assert d.c("SubmitProof", d.null("x=" + str(len(id)), id)).job_id == id
            r = d.c("AwaitProof", job_id=id)
            assert r.status == COMPLETED and r.job_id == id, r
        d.c.fails("INVALID_ARGUMENT", "request_id", "SubmitProof", d.null("", "x" * 5000))
        made = {d.c("SubmitProof", d.null("same")).job_id for _ in range(5)}
        assert len(made) == 5 and all(len(m) >= 16 for m in made), made  # empty: one is made each time
        # all partitions of a deadline under one id, at once
        calls = [d.c.start("Prove", submit=d.null("prove_us=50000 n=%d" % i, "deadline")) for i in range(8)]
        results = [c.result().result for c in calls]
        for i, r in enumerate(results):
            assert r.status == COMPLETED and r.proof == null_proof(b"prove_us=50000 n=%d" % i), r
        assert len({r.job_id for r in results}) == 8
        for r in results:  # each can be asked for
            assert d.c("AwaitProof", job_id=r.job_id).proof == r.proof


def test_same_id_in_each_state(cuzk):
    """BC-103, BC-117"""
    d = Daemon(cuzk, test=True)
    with d:
        def proofs(text):
            return len([1 for stage, _, t in d.trace() if stage == "prove" and t == text])
        # running: attached
        slow = d.null("gate=go k=1", "slow")
        first = d.c.start("Prove", submit=slow)
        wait_until("it to run", lambda: proofs("gate=go k=1"))
        second = d.c.start("Prove", submit=slow)
        wait_until("both calls", lambda: d.metrics()["cuzk_rpc_calls"] >= 2)
        d.open_gate("go")
        a, b = first.result().result, second.result().result
        assert a.status == b.status == COMPLETED and a.job_id == b.job_id == "slow" and a.proof == b.proof, (a, b)
        # done: the stored answer
        assert d.prove(slow).proof == a.proof
        assert d.c("SubmitProof", slow).job_id == "slow"
        assert proofs("gate=go k=1") == 1
        # another payload: another job, the first stays
        other = d.c("SubmitProof", d.null("k=2", "slow")).job_id
        assert other != "slow" and d.c("AwaitProof", job_id=other).proof == null_proof(b"k=2")
        assert d.c("AwaitProof", job_id="slow").proof == a.proof
        # failed: a new attempt each time
        for n in (1, 2, 3):
            assert d.prove(d.null("fail=prove:E_INTERNAL", "failing")).status == FAILED
            assert proofs("fail=prove:E_INTERNAL") == n
        # cancelled: a new attempt
        running = d.null("gate=never", "c")
        call = d.c.start("Prove", submit=running)
        wait_until("it to run", lambda: proofs("gate=never"))
        assert d.c("CancelProof", job_id="c").was_running is True
        assert call.result().result.status == CANCELLED
        call = d.c.start("Prove", submit=running)
        wait_until("it to run again", lambda: proofs("gate=never") == 2)
        d.c("CancelProof", job_id="c")
        assert call.result().result.status == CANCELLED
        d.stop()
        d.start()
        # after a restart
        assert d.c("AwaitProof", job_id="slow").proof == a.proof
        assert d.prove(slow).proof == a.proof and d.c("AwaitProof", job_id=other).status == COMPLETED
        assert proofs("gate=go k=1") == 1


def test_await(cuzk):
    """BC-105"""
    with Daemon(cuzk, test=True) as d:
        d.c("SubmitProof", d.null("gate=go", "long"))
        awaiters = [d.c.start("AwaitProof", job_id="long") for _ in range(10)]
        for ms in (1, 200):
            at = time.monotonic()
            r = d.c("AwaitProof", job_id="long", timeout_ms=ms)
            waited = time.monotonic() - at
            assert r.status == TIMEOUT and r.proof == b"" and ms / 1000 <= waited < SOON, (r, waited)
        # a deadline of the call, shorter than the limit; a call that is dropped
        try:
            d.c("AwaitProof", timeout=0.05 / harness.SLOW, job_id="long", timeout_ms=3600000)
            raise AssertionError("no deadline")
        except grpc.RpcError as e:
            assert is_code(e, "DEADLINE_EXCEEDED"), e
        dropped = d.c.start("AwaitProof", job_id="long")
        time.sleep(0.05)
        dropped.cancel()
        d.open_gate("go")
        for a in awaiters:
            assert a.result().status == COMPLETED and a.result().proof == null_proof(b"gate=go")
        assert d.c("AwaitProof", job_id="long", timeout_ms=1).status == COMPLETED


def test_call_that_ends_leaves_its_job(cuzk):
    """A deadline, a reset stream, a lost connection: the job lives on, the repeated request attaches."""
    with Daemon(cuzk, test=True) as d:
        texts = ["gate=go w=%d" % i for i in range(3)]
        # deadline
        try:
            d.c("Prove", submit=d.null(texts[0], "w0"), timeout=0.1 / harness.SLOW)
            raise AssertionError("no deadline")
        except grpc.RpcError as e:
            assert is_code(e, "DEADLINE_EXCEEDED"), e
        # reset
        call = d.c.start("Prove", submit=d.null(texts[1], "w1"))
        wait_until("it to be there", lambda: any(t == texts[1] for _, _, t in d.trace()))
        call.cancel()
        # connection
        with Client(d.target()) as other:
            lost = other.start("Prove", submit=d.null(texts[2], "w2"))
            wait_until("it to be there", lambda: any(t == texts[2] for _, _, t in d.trace()))
        assert lost.done() and lost.code() != grpc.StatusCode.OK
        d.open_gate("go")
        for i, text in enumerate(texts):
            r = d.prove(d.null(text, "w%d" % i))
            assert r.status == COMPLETED and r.job_id == "w%d" % i and r.proof == null_proof(text.encode()), r
            assert len([1 for stage, _, t in d.trace() if stage == "prove" and t == text]) == 1, d.trace()


def test_cancel_in_each_state(cuzk):
    """BC-106"""
    with Daemon(cuzk, test=True, config={"synthesis.threads": 1}) as d:
        idle_bytes = d.status()["memory"]["used_bytes"]
        for stage in ("witness", "prove", "lane", "finish", "verify"):
            text = "%s_us=%d units=2" % (stage, FOREVER_US)
            begin = time.monotonic()
            call = d.c.start("Prove", submit=d.null(text, "in-" + stage))
            wait_until("the stage", lambda: any(s == stage and t == text for s, _, t in d.trace()))
            assert d.c("CancelProof", job_id="in-" + stage).was_running is True
            r = call.result().result
            assert r.status == CANCELLED and r.proof == b"" and time.monotonic() - begin < SOON, r
            assert d.c("CancelProof", job_id="in-" + stage).was_running is False  # a second time
            assert d.c("AwaitProof", job_id="in-" + stage).status == CANCELLED
        # queued behind others; 20 of 40 at random
        blocker = d.c.start("Prove", submit=d.null("gate=never units=16", "blocker"))
        wait_until("the blocker", lambda: any(s == "prove" and "units=16" in t for s, _, t in d.trace()))
        ids = ["q%d" % i for i in range(40)]
        for id in ids:
            d.c("SubmitProof", d.null("q " + id, id))
        gone = random.sample(ids, 20)
        for id in gone:
            assert d.c("CancelProof", job_id=id).was_running is True
        d.c("CancelProof", job_id="blocker")
        assert blocker.result().result.status == CANCELLED
        for id in ids:
            r = d.c("AwaitProof", job_id=id)
            if id in gone:
                assert r.status == CANCELLED and r.proof == b"", r
            else:
                assert r.status == COMPLETED and r.proof == null_proof(b"q " + id.encode()), r
        done = {t for s, _, t in d.trace() if s == "prove"}
        assert not any("q " + id in done for id in gone)
        # all but the circuit is given back
        wait_until("memory to come back", lambda: d.status()["memory"]["used_bytes"] <= idle_bytes + 1000000)
        assert d.unfinished() == 0, d.status()


def test_preload(cuzk):
    """BC-102"""
    with Daemon(cuzk, test=True) as d:
        details = d.c.fails("NOT_FOUND", "porep-99g", "PreloadSRS", circuit_id="porep-99g")
        assert "porep-32g" in details and "winning-32g" in details, details
        d.c.fails("NOT_FOUND", "", "PreloadSRS", circuit_id="")
        d.c.fails("FAILED_PRECONDITION", "porep-32g", "PreloadSRS", circuit_id="porep-32g")
        d.c.fails("FAILED_PRECONDITION", "null-missing", "PreloadSRS", circuit_id="null-missing")
        details = d.c.fails("NOT_FOUND", "porep-99g", "EvictSRS", circuit_id="porep-99g")
        assert "porep-32g" in details and "winning-32g" in details, details
        assert d.c("EvictSRS", circuit_id="porep-32g").was_loaded is False
        # more than there can ever be: both numbers
        details = d.c.fails("RESOURCE_EXHAUSTED", "", "PreloadSRS", circuit_id="null-large")
        assert "1099511627776" in details.replace(",", "") or "1 TiB" in details or "1,024 GiB" in details, details
        # two at once share a load; status answers meanwhile; a job waits for it; evicting meanwhile is no harm
        loads = [d.c.start("PreloadSRS", circuit_id="null-slow") for _ in range(4)]
        job = d.c.start("Prove", submit=d.null("circuit=null-slow", "cold"))
        wait_until("the load", lambda: any(s == "load" and "null-slow" in t for s, _, t in d.trace()))
        for _ in range(20):
            d.c("GetStatus")
        evict = d.c.start("EvictSRS", circuit_id="null-slow")
        wait_until("all calls", lambda: d.metrics()["cuzk_rpc_calls"] >= 6)
        d.open_gate("null-slow")
        assert [c.result().already_loaded for c in loads] == [False] * 4
        assert job.result().result.status == COMPLETED
        evict.result()
        assert len([1 for s, _, t in d.trace() if s == "load" and "null-slow" in t]) <= 2, d.trace()


def test_priorities(cuzk):
    """BC-112: at every hand-over the highest priority goes first, then the oldest job."""
    with Daemon(cuzk, test=True, config={"synthesis.threads": 1, "gpus.gpu_workers_per_device": 1}) as d:
        d.c("SubmitProof", d.null("gate=go prove_us=200000 units=8", "low", priority=1))
        wait_until("it to run", lambda: any(s == "prove" for s, _, t in d.trace()))
        for i, p in enumerate((1, 2, 3, 2, 4)):
            d.c("SubmitProof", d.null("p%d" % i, "p%d" % i, priority=p))
        d.open_gate("go")
        for i in range(5):
            assert d.c("AwaitProof", job_id="p%d" % i).status == COMPLETED
        assert d.c("AwaitProof", job_id="low").status == COMPLETED
        lanes = [t if t.startswith("p") and "_" not in t else "low%d" % u for s, u, t in d.trace() if s == "lane"]
        order = [x for x in lanes if not x.startswith("low")]
        assert order == ["p4", "p2", "p1", "p3", "p0"], lanes
        # the critical one went right after the regions that were running when it came
        assert lanes.index("p4") <= 2, lanes
        assert [x for x in lanes if x.startswith("low")] == ["low%d" % i for i in range(8)], lanes


def test_what_jobs_wait_for(cuzk):
    """GetStatus and /status say what a queued job waits for."""
    with Daemon(cuzk, test=True, config={"synthesis.threads": 1, "gpus.gpu_workers_per_device": 1}) as d:
        d.c("SubmitProof", d.null("lane_us=60000000 units=8", "long"))
        wait_until("it to run", lambda: any(s == "lane" for s, _, t in d.trace()))
        d.c("SubmitProof", d.null("n=1", "later"))
        waiting = d.c("GetStatus").waiting
        assert [(w.job_id, w.reason, w.text) for w in waiting] == [("later", "job", "its turn, behind job long")], waiting
        queued = d.status()["queued"]
        assert [(q["job_id"], q["waits_for"]) for q in queued] == [
            ("later", {"reason": "job", "text": "its turn, behind job long"})], queued
        assert d.c("CancelProof", job_id="long").was_running
        assert d.c("AwaitProof", job_id="later").status == COMPLETED
        assert not d.c("GetStatus").waiting and d.status()["queued"] == []


def test_reflection_and_health(cuzk):
    """BC-121: with the descriptors that reflection gives a client that knows nothing makes a call."""
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.message_factory import MessageFactory

    def varint(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])

    def field(number, data):
        return varint(number << 3 | 2) + varint(len(data)) + data

    def fields(data):
        at = 0

        def number():
            nonlocal at
            n = shift = 0
            while True:
                b = data[at]
                at += 1
                n |= (b & 127) << shift
                shift += 7
                if b < 128:
                    return n
        while at < len(data):
            key = number()
            if key & 7 == 0:
                yield key >> 3, number()
            else:
                size = number()
                yield key >> 3, data[at:at + size]
                at += size

    raw = dict(request_serializer=bytes, response_deserializer=bytes)
    with Daemon(cuzk) as d:
        for version in ("v1", "v1alpha"):
            method = d.c.channel.stream_stream("/grpc.reflection.%s.ServerReflection/ServerReflectionInfo" % version, **raw)
            asked = [field(7, b""), field(4, b"cuzk.v1.ProvingEngine"), field(3, b"cuzk/v1/proving.proto"),
                     field(4, b"cuzk.v1.Nothing")]
            listed, symbol, file, unknown = [dict(fields(a)) for a in method(iter(asked), timeout=SOON)]
            services = {dict(fields(s))[1].decode() for n, s in fields(listed[6]) if n == 1}
            assert {"cuzk.v1.ProvingEngine", "cuzk.v1.Circom", "grpc.health.v1.Health"} <= services, services
            assert dict(fields(unknown[7]))[1] == 5, unknown  # NOT_FOUND
            for answer in (symbol, file):
                pool = descriptor_pool.DescriptorPool()
                for n, data in fields(answer[4]):
                    assert n == 1
                    pool.AddSerializedFile(data)
                service = pool.FindServiceByName("cuzk.v1.ProvingEngine")
                assert len(service.methods) == 8
                method_ = service.FindMethodByName("GetStatus")
                kind = MessageFactory(pool).GetPrototype(method_.output_type)
                call = d.c.channel.unary_unary("/cuzk.v1.ProvingEngine/GetStatus", request_serializer=bytes,
                                               response_deserializer=kind.FromString)
                assert len(call(b"", timeout=SOON).gpus) >= 1
        check = d.c.channel.unary_unary("/grpc.health.v1.Health/Check", **raw)
        for service in (b"", b"cuzk.v1.ProvingEngine", b"cuzk.v1.Circom"):
            assert wait_until("health", lambda: dict(fields(check(field(1, service), timeout=SOON))).get(1) == 1)
        try:
            check(field(1, b"nothing"), timeout=SOON)
            raise AssertionError("health of nothing")
        except grpc.RpcError as e:
            assert is_code(e, "NOT_FOUND"), e
        watch = d.c.channel.unary_stream("/grpc.health.v1.Health/Watch", **raw)(field(1, b""), timeout=SOON)
        assert dict(fields(next(watch))) == {1: 1}
        watch.cancel()
    with Daemon(cuzk, name="off", config={"rpc.reflection": False}) as d:
        method = d.c.channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", **raw)
        try:
            list(method(iter([field(7, b"")]), timeout=SOON))
            raise AssertionError("reflection is off")
        except grpc.RpcError as e:
            assert is_code(e, "UNIMPLEMENTED"), e


def test_metrics(cuzk):
    """BC-122: a scraper's format, the documented names, GetMetrics the same, no series from request text."""
    with Daemon(cuzk, test=True) as d:
        calls = [d.c.start("Prove", submit=d.null("n=%d" % i, "odd \"id\"\n{%d}" % i)) for i in range(300)]
        wait_until("all to be done", lambda: d.c("GetStatus").total_proofs_completed == 300)
        assert all(c.result().result.status == COMPLETED for c in calls)
        code, text = d.get("/metrics")
        assert code == 200
        check_exposition(text)
        check_exposition(d.c("GetMetrics").prometheus_text)
        assert "odd" not in text
        for name in ("cuzk_proofs_completed_total", "cuzk_proofs_failed_total", "cuzk_uptime_seconds", "cuzk_queue_depth",
                     "cuzk_running_jobs", "cuzk_gpu_workers"):
            assert "\n%s " % name in text, name
        m = d.metrics()
        assert m["cuzk_proofs_completed_total"] == 300, m
        assert len(m) < 3000, len(m)
        names = lambda t: {l.split(" ")[0] for l in t.splitlines() if not l.startswith("#")}
        # but for what counts the calls themselves
        assert len(names(text) ^ names(d.c("GetMetrics").prometheus_text)) == 0


def check_exposition(text):
    """The text format 0.0.4, strictly."""
    import re
    kinds, seen, current = {}, set(), None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        m = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line)
        if m:
            if m[1] == "TYPE":
                assert m[2] not in kinds, line
                assert m[3] in ("counter", "gauge", "histogram", "summary", "untyped"), line
                kinds[m[2]], current = m[3], m[2]
            continue
        m = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? '
                         r"([-+0-9.eE]+|NaN|[-+]Inf)", line)
        assert m, line
        base = re.sub(r"_(bucket|sum|count)$", "", m[1]) if kinds.get(current) in ("histogram", "summary") else m[1]
        assert base == current, "%s under TYPE %s" % (line, current)
        assert (m[1], m[2]) not in seen, line
        seen.add((m[1], m[2]))


def test_http(cuzk):
    with Daemon(cuzk, test=True) as d:
        d.c("SubmitProof", d.null("gate=go units=3", "job [1 2]"))
        wait_until("it to run", lambda: any(s == "prove" for s, _, t in d.trace()))
        s = d.status()
        assert [p["job_id"] for p in s["pipelines"]] == ["job [1 2]"], s
        p = s["pipelines"][0]
        assert p["total_partitions"] == 3 and len(p["partitions"]) == 3 and s["counters"]["total_completed"] == 0, p
        assert any(w["current_job"] == "job [1 2]" for w in s["gpu_workers"]), s
        assert d.get("/healthz")[0] == 200 and d.get("/readyz")[0] == 200 and d.get("/nothing")[0] == 404
        d.open_gate("go")
        d.c("AwaitProof", job_id="job [1 2]")
        assert d.status()["counters"]["total_completed"] == 1


def test_injected_faults(cuzk):
    """What the client sees of each fault that can be injected."""
    def one(faults, text="", **config):
        return Daemon(cuzk, test=True, name="f%d" % random.getrandbits(32), config=dict({"test.faults": faults}, **config))
    with one(["prove@0*1:E_DEVICE"]) as d:  # tried again
        assert d.prove(d.null("", "a")).status == COMPLETED
    with one(["proof*1"]) as d:  # a wrong proof is proved again
        r = d.prove(d.null("units=2", "a"))
        assert r.status == COMPLETED and r.proof == null_proof(b"units=2", 2), r
    with one(["proof"], **{"pipeline.device_faults": 100}) as d:
        r = d.prove(d.null("units=2", "a"))
        assert r.status == FAILED and r.proof == b"", r
    with one(["decode*1:E_MEMORY"]) as d:
        d.c.fails("RESOURCE_EXHAUSTED", "", "Prove", submit=d.null("", "a"))
        assert d.prove(d.null("", "a")).status == COMPLETED
    with one(["memory*1:E_MEMORY"]) as d:
        d.c.fails("RESOURCE_EXHAUSTED", "", "Prove", submit=d.null("", "a"))
        assert d.prove(d.null("", "a")).status == COMPLETED
    with one(["clock~86400000"]) as d:
        assert d.prove(d.null("", "a")).status == COMPLETED


def test_journal_that_fails(cuzk):
    """A full disk: new work is refused with the reason, accepted work is proved; when there is room all goes on."""
    with Daemon(cuzk, test=True, config={"test.faults": ["journal+1*6:E_FILE"]}) as d:
        first = d.c("SubmitProof", d.null("gate=go", "kept"))
        assert first.job_id == "kept"
        d.c.fails("UNAVAILABLE", "journal", "SubmitProof", d.null("", "refused"))
        d.open_gate("go")
        assert d.c("AwaitProof", job_id="kept").status == COMPLETED
        d.c.fails("NOT_FOUND", "refused", "AwaitProof", job_id="refused")

        def goes_on():
            try:
                return d.c("SubmitProof", d.null("", "later")).job_id == "later"
            except grpc.RpcError:
                return False
        wait_until("a write to succeed", goes_on)
        assert d.c("AwaitProof", job_id="later").status == COMPLETED


if __name__ == "__main__":
    harness.main(globals())
