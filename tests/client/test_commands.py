# SPDX-License-Identifier: MIT OR Apache-2.0
"""The commands that speak to a daemon, against a scripted one: what they send, what they print, what they make of
answers. The real daemon is tested in tests/server."""
import base64, json, os, signal, subprocess, sys, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
from harness import Skip, read
import fake_daemon
from fake_daemon import Daemon, Hang
from test_filecoin import CASES, VK, options, statement

grpc = fake_daemon.grpc
VANILLA = {"porep": "c1.json", "snap": "vanilla-0.bincode"}


def pb():
    return fake_daemon.messages()


def vanilla_files(cuzk, case):
    """Paths of a golden case's vanilla proofs."""
    if harness.find_fixture("cases/%s/c1.json" % case):
        return [cuzk.fixture("cases/%s/c1.json" % case)]
    paths = []
    while harness.find_fixture("cases/%s/vanilla-%d.bincode" % (case, len(paths))):
        paths.append(cuzk.fixture("cases/%s/vanilla-%d.bincode" % (case, len(paths))))
    return paths


def completed(job_id="job-1", proof=b"p" * 192, **more):
    proving, _ = pb()
    return proving.AwaitProofResponse(job_id=job_id, status=1, proof=proof, total_ms=1234, queue_wait_ms=34,
                                      synthesis_ms=400, gpu_compute_ms=800, **more)


def scripted(proof=b"p" * 192, **answers):
    proving, circom = pb()
    script = {
        "SubmitProof": lambda r: proving.SubmitProofResponse(job_id=r.request_id or "made-id", queue_position=3),
        "AwaitProof": lambda r: completed(r.job_id, proof),
        "Prove": lambda r: proving.ProveResponse(result=completed(r.submit.request_id, proof)),
    }
    script.update(answers)
    return script


def unix(cuzk):
    return "unix:" + cuzk.path("sock")


# ---------------------------------------------------------------- what is sent


def wanted_request(cuzk, case, fields, files):
    """The message as protobuf of another make builds it from the golden case."""
    proving, _ = pb()
    r = proving.SubmitProofRequest(registered_proof=fields["registered_proof"], sector_size=2048)
    data = [read(f) for f in files]
    kind = case_kind(cuzk, case)
    r.proof_kind = {"porep": 1, "snap": 2, "window": 3, "winning": 4}[kind]
    r.miner_id = fields.get("miner_id", 0)
    if kind == "porep":
        r.sector_number = fields["sector_number"]
        r.vanilla_proof = data[0]
    else:
        r.vanilla_proofs.extend(data)
    for name in ("randomness", "comm_r_old", "comm_r_new", "comm_d_new"):
        if name in fields:
            setattr(r, name, bytes.fromhex(fields[name]))
    return r


def case_kind(cuzk, case):
    return statement(cuzk, case)[0]


def test_submit_sends_what_the_files_say(cuzk):
    with Daemon(unix(cuzk), scripted()) as d:
        for case in CASES:
            kind, fields = statement(cuzk, case)
            files = vanilla_files(cuzk, case)
            path = cuzk.write_json("request.json", fields)
            r = cuzk.ok("submit", kind, *files, "--request", path, "--connect", unix(cuzk), "--request-id", "a [1 2] ü",
                        "--priority", "high")
            assert r.out == "job a [1 2] ü: accepted, 3 jobs waiting before it\n", r
            wanted = wanted_request(cuzk, case, fields, files)
            wanted.request_id, wanted.priority = "a [1 2] ü", 3
            sent = d.of("SubmitProof")[-1]
            if kind == "porep" and b"Phase1Out" not in wanted.vanilla_proof:
                envelope = json.loads(sent.vanilla_proof)
                assert sorted(envelope) == ["Phase1Out", "SectorNum", "SectorSize"], envelope.keys()
                assert base64.b64decode(envelope["Phase1Out"], validate=True) == wanted.vanilla_proof
                assert (envelope["SectorNum"], envelope["SectorSize"]) == (fields["sector_number"], 2048), envelope
                wanted.vanilla_proof = sent.vanilla_proof
            assert sent == wanted, "%s: sent %s\nwanted %s" % (case, str(sent)[:500], str(wanted)[:500])


def test_submit_json_array_and_envelope(cuzk):
    """The files as Curio keeps them."""
    with Daemon(unix(cuzk), scripted()) as d:
        kind, fields = statement(cuzk, "window-2k-3sectors-4")
        data = [read(f) for f in vanilla_files(cuzk, "window-2k-3sectors-4")]
        array = cuzk.write_json("array.json", [base64.b64encode(x).decode() for x in data])
        del fields["sectors"]
        cuzk.ok("submit", kind, array, "--connect", unix(cuzk), *options(fields), "--partition-index", 7)
        sent = d.of("SubmitProof")[-1]
        assert list(sent.vanilla_proofs) == data and sent.partition_index == 7 and sent.priority == 0
        assert sent.request_id == ""

        kind, fields = statement(cuzk, "porep-2k-1")
        c1 = read(vanilla_files(cuzk, "porep-2k-1")[0])
        envelope = json.dumps({"SectorNum": fields["sector_number"], "Phase1Out": base64.b64encode(c1).decode(),
                               "SectorSize": 2048}).encode()
        path = cuzk.write("envelope.json", envelope)
        r = cuzk.ok("submit", kind, path, "--connect", unix(cuzk), "--miner-id", fields["miner_id"], "--json").json()
        assert r == {"ok": True, "job_id": "made-id", "queue_position": 3, "partitions": 1}, r
        sent = d.of("SubmitProof")[-1]
        assert sent.vanilla_proof == envelope and sent.sector_number == fields["sector_number"]
        assert cuzk.ok("submit", kind, path, "--connect", unix(cuzk), "--miner-id", fields["miner_id"],
                       "--quiet").out == "made-id\n"


def test_what_is_wrong_is_said_before_it_is_sent(cuzk):
    with Daemon(unix(cuzk), scripted()) as d:
        kind, fields = statement(cuzk, "winning-2k-5")
        files = vanilla_files(cuzk, "winning-2k-5")
        to = ["--connect", unix(cuzk)]
        cuzk.fails(2, "the field registered_proof is missing", "submit", kind, *files, *to)
        cuzk.fails(2, "the field randomness is missing", "submit", kind, *files, *to, "--registered-proof",
                   fields["registered_proof"])
        fields["sectors"][0]["sector_number"] += 1
        path = cuzk.write_json("request.json", fields)
        cuzk.fails(1, ["vanilla proof 0 is of sector", "the request lists sector"], "submit", kind, *files, *to,
                   "--request", path)
        fields["sectors"] = 2 * fields["sectors"]
        path = cuzk.write_json("request.json", fields)
        cuzk.fails(1, "about 2 sectors, 1 vanilla proofs", "submit", kind, *files, *to, "--request", path)
        cuzk.fails(2, '--priority: "urgent" is not low, normal, high or critical', "submit", kind, *files, *to,
                   "--priority", "urgent")
        cuzk.fails(2, "--out and --format need --wait", "submit", kind, *files, *to, "--out", "x")
        kind, fields = statement(cuzk, "porep-2k-1")
        files = vanilla_files(cuzk, "porep-2k-1")
        cuzk.fails(2, "the field miner_id is missing", "submit", kind, *files, *to)
        cuzk.fails(2, "the field sector_number is missing", "submit", kind, *files, *to, "--miner-id", 1000)
        cuzk.fails(1, "it is of another sector", "submit", kind, *files, *to, "--miner-id", 1000, "--sector-number",
                   fields["sector_number"])
        cuzk.fails(1, "opening", "submit", kind, "not-there", *to)
        assert not d.requests


# ---------------------------------------------------------------- waiting and results


def test_wait_writes_the_proof(cuzk):
    for case in CASES:
        kind, fields = statement(cuzk, case)
        golden = read(cuzk.fixture("cases/%s/proof.bin" % case))
        files = vanilla_files(cuzk, case)
        path = cuzk.write_json("request.json", fields)
        with Daemon(unix(cuzk), scripted(golden)) as d:
            line = ["--request", path, "--connect", unix(cuzk)]
            r = cuzk.ok("submit", kind, *files, *line, "--wait", "--request-id", "id")
            assert "job id: proved %d partition" % (len(golden) // 192) in r.out and "written to proof.bin" in r.out, r
            assert read(cuzk.path("proof.bin")) == golden
            cuzk.ok("submit", kind, *files, *line, "--wait", "--format", "hex")
            assert read(cuzk.path("proof.txt")) == golden.hex().encode() + b"\n"
            assert d.of("AwaitProof")[0].job_id == "id" and d.of("AwaitProof")[0].timeout_ms == 0
            # prove --connect: the same, verified here
            r = cuzk.ok("prove", kind, *files, *line, "--params", cuzk.fixture("cases/" + VK[kind]),
                        "--allow-test-key", "--format", "json", "--json").json()
            assert r["verified_here"] is True and r["proof"] == "proof.json" and r["total_ms"] == 1234, r
            written = json.loads(read(cuzk.path("proof.json")))
            assert base64.b64decode(written["proof"]) == golden and written["sector_size"] == 2048, written
            empty = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("none")}
            r = cuzk.ok("prove", kind, *files, *line, env=empty)
            assert "verified by the daemon only (no .vk at hand)" in r.out, r


def test_prove_refuses_a_proof_that_does_not_verify(cuzk):
    kind, fields = statement(cuzk, "winning-2k-5")
    files, path = vanilla_files(cuzk, "winning-2k-5"), cuzk.write_json("request.json", fields)
    line = ["prove", kind, *files, "--request", path, "--connect", unix(cuzk), "--params",
            cuzk.fixture("cases/" + VK[kind]), "--allow-test-key"]
    other = read(cuzk.fixture("cases/update-2k-6/proof.bin"))
    for proof, text in ((other, "the daemon's proof does not verify here"), (other + other, "has 384 bytes, expected 192")):
        with Daemon(unix(cuzk), scripted(proof)):
            cuzk.fails(1, text, *line)
            assert "proof.bin" not in cuzk.names()
    with Daemon(unix(cuzk), scripted(b"")):
        cuzk.fails(1, "calls it completed and sends no proof", *line)


def test_await(cuzk):
    proving, _ = pb()
    ends = {2: "job j: failed: partition 3: no luck", 3: "job j: cancelled", 4: "not done in time; it goes on"}
    with Daemon(unix(cuzk), scripted()) as d:
        r = cuzk.ok("await", "j", "--connect", unix(cuzk))
        assert r.out.startswith("job j: completed, 192 bytes, 1.23 s in the daemon: queue 0.03"), r
        cuzk.ok("await", "j", "--connect", unix(cuzk), "--out", "x.json", "--format", "json", "--timeout", "2.5")
        assert json.loads(read(cuzk.path("x.json")))["job_id"] == "j"
        assert 2000 < d.of("AwaitProof")[-1].timeout_ms <= 2500
        r = cuzk.ok("await", "j", "--connect", unix(cuzk), "--json").json()
        assert (r["status"], r["proof_bytes"], r["gpu_compute_ms"]) == ("completed", 192, 800), r
        for status, text in ends.items():
            d.answers["AwaitProof"] = proving.AwaitProofResponse(job_id="j", status=status,
                                                                 error_message="partition 3: no luck")
            cuzk.fails(1, text, "await", "j", "--connect", unix(cuzk), "--out", "never")
        d.answers["AwaitProof"] = (grpc.StatusCode.NOT_FOUND, 'no job "j"')
        r = cuzk("await", "j", "--connect", unix(cuzk), "--json")
        assert r.code == 1 and r.json()["status"] == "E_NOT_FOUND" and 'NOT_FOUND: no job "j"' in r.err, r
        assert "never" not in cuzk.names()


def test_progress_by_partition(cuzk):
    looks = []

    def status():
        done = len(looks)
        looks.append(done)
        return 200, json.dumps({"uptime_secs": 1.5, "pipelines": [{
            "job_id": "other", "total_partitions": 9, "partitions_done": 9}, {
            "job_id": "id", "total_partitions": 10, "partitions_done": done, "partitions": []}]}).encode()

    def answer(request):
        while len(looks) < 2:
            time.sleep(0.01)
        return completed(request.job_id)
    kind, fields = statement(cuzk, "winning-2k-5")
    path = cuzk.write_json("request.json", fields)
    with Daemon(unix(cuzk), scripted(AwaitProof=answer), http_status=status) as d:
        r = cuzk.ok("submit", kind, *vanilla_files(cuzk, "winning-2k-5"), "--request", path, "--connect", unix(cuzk),
                    "--wait", "--request-id", "id", "--status", d.http_address, "--progress")
    for k in range(2):
        assert "%3d %% of the job: %d of 10 partitions" % (10 * k, k) in r.err, r


def test_interrupt_leaves_the_job(cuzk):
    def hang(request):
        raise Hang()
    with Daemon(unix(cuzk), scripted(AwaitProof=hang)) as d:
        p = subprocess.Popen([cuzk.program, "await", "my-job", "--connect", unix(cuzk)], stderr=subprocess.PIPE)
        while not d.of("AwaitProof"):
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=10 * harness.SLOW)[1].decode()
        assert p.returncode == 1 and "job my-job goes on: cuzk await fetches its proof" in err, (p.returncode, err)
        assert not d.of("CancelProof")


def test_a_restarted_daemon_is_found_again(cuzk):
    """The connection is lost in the middle of a wait; the next process knows the job."""
    calls = []

    def die(request):
        calls.append(1)
        raise Hang()
    first = Daemon(unix(cuzk), scripted(AwaitProof=die))
    first.__enter__()
    p = subprocess.Popen([cuzk.program, "await", "my-job", "--connect", unix(cuzk)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    while not calls:
        time.sleep(0.01)
    first.server.stop(0).wait()
    with Daemon(unix(cuzk), scripted()) as second:
        out, err = p.communicate(timeout=20 * harness.SLOW)
        assert p.returncode == 0 and b"job my-job: completed" in out, (out, err)
        assert second.of("AwaitProof")[0].job_id == "my-job"


# ---------------------------------------------------------------- the other commands


def test_cancel_preload_evict(cuzk):
    proving, _ = pb()
    gone = (grpc.StatusCode.NOT_FOUND, "no circuit \"x\"; there are porep-32g") if grpc else None
    script = scripted(
        CancelProof=lambda r: proving.CancelProofResponse(was_running=r.job_id == "a"),
        PreloadSRS=lambda r: gone if r.circuit_id == "x" else proving.PreloadSrsResponse(
            already_loaded=r.circuit_id == "winning-32g", load_time_ms=1500),
        EvictSRS=lambda r: proving.EvictSrsResponse(was_loaded=r.circuit_id != "snap-32g", freed_bytes=47 << 30))
    to = ["--connect", unix(cuzk)]
    with Daemon(unix(cuzk), script) as d:
        assert cuzk.ok("cancel", "a", "b", *to).out == "job a: cancelled\njob b: had ended already, nothing to cancel\n"
        assert cuzk.ok("preload", "porep-32g", "winning-32g", *to).out == \
            "porep-32g: loaded in 1.50 s\nwinning-32g: was loaded\n"
        assert cuzk.ok("evict", "porep-32g", "snap-32g", *to).out == \
            "porep-32g: evicted, 47.0 GiB\nsnap-32g: was not loaded\n"
        r = cuzk("preload", "x", "porep-32g", "--json", *to)
        assert r.code == 1 and "there are porep-32g" in r.err, r
        j = r.json()
        assert j["ok"] is False and j["results"][0]["status"] == "E_NOT_FOUND", j
        assert j["results"][1] == {"circuit": "porep-32g", "already_loaded": False, "load_time_ms": 1500}, j
        assert cuzk.ok("cancel", "a", "--json", *to).json() == \
            {"results": [{"job_id": "a", "was_running": True}], "ok": True}
        assert [r.job_id for r in d.of("CancelProof")] == ["a", "b", "a"]


def test_circuits_and_metrics(cuzk):
    proving, circom = pb()
    info = circom.CircuitInfo(name="sha", zkey_path="/c/sha.zkey", curve="bn128", n_constraints=31522, n_public=2,
                              n_vars=31000, size_bytes=5 << 20)
    script = scripted(
        ListCircuits=circom.ListCircuitsResponse(circuits=[info]),
        RegisterCircuit=lambda r: circom.RegisterCircuitResponse(circuit=info, already_registered=r.zkey_path == "old"),
        GetMetrics=proving.GetMetricsResponse(prometheus_text="# TYPE a gauge\na 1\n"))
    to = ["--connect", unix(cuzk)]
    with Daemon(unix(cuzk), script) as d:
        out = cuzk.ok("circuits", "list", *to).out
        assert out.split() == "sha bn128 31,522 constraints, 2 public values, key 5.0 MiB: /c/sha.zkey".split(), out
        assert cuzk.ok("circuits", "list", "--json", *to).json()["circuits"][0]["public_values"] == 2
        assert cuzk.ok("circuits", "register", "sha", "new", *to).out == \
            "circuit sha: registered (bn128, 31,522 constraints)\n"
        assert "was registered" in cuzk.ok("circuits", "register", "sha", "old", *to).out
        assert [(r.name, r.zkey_path) for r in d.of("RegisterCircuit")] == [("sha", "new"), ("sha", "old")]
        d.answers["ListCircuits"] = circom.ListCircuitsResponse()
        assert cuzk.ok("circuits", "list", *to).out == "no circuit is registered\n"
        assert cuzk.ok("metrics", *to).out == "# TYPE a gauge\na 1\n"
        assert cuzk.ok("metrics", "--json", *to).json()["prometheus_text"].endswith("a 1\n")


def test_circom(cuzk):
    """A witness goes out, snarkjs' files come back; with the key they are verified and converted."""
    _, circom = pb()
    zkey, wtns, proof, public = (cuzk.circom("bn254", "multiplier2", n) for n in
                                 ("circuit.zkey", "witness.wtns", "proof.json", "public.json"))
    answer = circom.ProveWitnessResponse(job_id="j", status=1, proof_json=read(proof).decode(),
                                         public_json=read(public).decode(), total_ms=12)
    to = ["--connect", unix(cuzk)]
    with Daemon(unix(cuzk), scripted(ProveWitness=answer)) as d:
        r = cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "j", "--priority", "low", *to)
        assert "job j: proved circuit mul, 0.012 s in the daemon" in r.out, r
        assert read(cuzk.path("proof.json")) == read(proof) and read(cuzk.path("public.json")) == read(public)
        sent = d.of("ProveWitness")[-1]
        assert (sent.circuit, sent.witness, sent.request_id, sent.priority) == ("mul", read(wtns), "j", 1), sent
        r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--json", *to).json()
        assert r["verified_here"] is True and d.of("ProveWitness")[-1].circuit == "circuit", r
        assert read(cuzk.path("p.json")) == read(proof)
        cuzk.ok("prove", zkey, wtns, "c.json", "cpub.json", "--format", "compact", "--circuit", "mul", *to)
        compact, wanted = json.loads(read(cuzk.path("c.json"))), json.loads(read(proof))
        assert {k: compact[k] for k in ("pi_a", "pi_b", "pi_c")} == {k: wanted[k] for k in ("pi_a", "pi_b", "pi_c")}
        assert b" " not in read(cuzk.path("c.json")) and d.of("ProveWitness")[-1].circuit == "mul"
        cuzk.fails(2, "--format bytes is defined for bls12381 only", "prove", zkey, wtns, "--format", "bytes", *to)
        cuzk.fails(2, "PROOF is given without PUBLIC", "prove", zkey, wtns, "x", *to)
        # public values of another witness: not what the proof is about
        other = json.dumps([str(int(v) + 1) for v in json.loads(read(public))])
        d.answers["ProveWitness"] = circom.ProveWitnessResponse(job_id="j", status=1, proof_json=answer.proof_json,
                                                                public_json=other)
        cuzk.fails(1, "the daemon's proof does not verify with", "prove", zkey, wtns, "no.json", "nopub.json", *to)
        d.answers["ProveWitness"] = circom.ProveWitnessResponse(job_id="j", status=2, error_message="does not satisfy")
        cuzk.fails(1, "job j: failed: does not satisfy", "submit", "circom", "mul", wtns, "--out", "no.json", *to)
        d.answers["ProveWitness"] = (grpc.StatusCode.NOT_FOUND, "no circuit \"circuit\"")
        cuzk.fails(1, ["cuzk circuits register makes one known", "NOT_FOUND"], "prove", zkey, wtns, "no.json",
                   "nopub.json", *to)
        assert "no.json" not in cuzk.names() and "nopub.json" not in cuzk.names()


STATUS = {
    "uptime_secs": 7300.5, "memory": {"total_bytes": 250 << 30, "used_bytes": 60 << 30, "available_bytes": 0},
    "synthesis": {"max_concurrent": 3, "active": 1}, "unknown": [{"a": [1, {"b": None}]}, "x"],
    "pipelines": [
        {"job_id": "porep-1000-5", "proof_kind": "porep-c2", "started_secs_ago": 61.0, "total_partitions": 10,
         "partitions_done": 2, "state": "running", "priority": 2, "partitions": [
             {"index": i, "state": s, "synth_ms": 1, "gpu_ms": None} for i, s in enumerate(
                 ["done", "done", "gpu", "synth_done", "synthesizing"] + 4 * ["pending"] + ["failed"])]},
        {"job_id": "w", "proof_kind": "winning-post", "started_secs_ago": 2.5, "total_partitions": 1,
         "partitions_done": 1, "state": "completed", "priority": 4, "partitions": []}],
    "queued": [{"job_id": "a\nb", "proof_kind": "snap-update", "priority": 1, "age_secs": 12.0, "total_partitions": 16}],
    "gpu_workers": [{"worker_id": 0, "gpu_ordinal": 0, "state": "proving", "current_job": "porep-1000-5",
                     "current_partition": 2, "busy_secs": 12.25},
                    {"worker_id": 1, "gpu_ordinal": 0, "state": "idle", "current_job": None, "current_partition": None,
                     "busy_secs": None}],
    "allocations": {"srs": [{"circuit_id": "porep-32g", "bytes": 44 << 30, "last_used_secs_ago": 0.0,
                             "evictable": False, "state": "ready"}], "pce": []},
}


def status_answer():
    proving, _ = pb()
    return proving.GetStatusResponse(
        gpus=[proving.GPUStatus(ordinal=0, name="NVIDIA H200", vram_total_bytes=140 << 30, vram_free_bytes=90 << 30,
                                current_job_id="porep-1000-5", current_proof_kind="porep-c2"),
              proving.GPUStatus(ordinal=0, name="NVIDIA H200", vram_total_bytes=140 << 30, vram_free_bytes=90 << 30)],
        loaded_srs=[proving.SRSStatus(circuit_id="porep-32g", tier=0, size_bytes=44 << 30, ref_count=1)],
        queues=[proving.QueueStatus(proof_kind="porep-c2", pending=0, in_progress=1),
                proving.QueueStatus(proof_kind="snap-update", pending=1, in_progress=0)],
        total_proofs_completed=1234, total_proofs_failed=2, uptime_seconds=7300, pinned_memory_bytes=60 << 30,
        pinned_memory_limit_bytes=250 << 30)


def test_status(cuzk):
    with Daemon(unix(cuzk), scripted(GetStatus=status_answer()), http_status=(200, json.dumps(STATUS, indent=1).encode())) as d:
        to = ["--connect", unix(cuzk)]
        plain = cuzk.ok("status", *to).out
        for text in ("up 2 h 1 min; proofs: 1,234 completed, 2 failed", "memory: 60.0 GiB of 250.0 GiB reserved",
                     "name the daemon's HTTP port"):
            assert text in plain, plain
        full = cuzk.ok("status", *to, "--status", "http://" + d.http_address).out
        lines = [" ".join(line.split()) for line in full.splitlines()]
        for line in ("0 NVIDIA H200 90.0 GiB of 140.0 GiB free porep-c2 porep-1000-5 partition 2, 12.2 s",
                     "0 NVIDIA H200 90.0 GiB of 140.0 GiB free idle", "porep-c2 0 1", "snap-update 1 0",
                     "porep-32g 44.0 GiB 1 hot, ready, idle 0.0 s",
                     "porep-1000-5 porep-c2 normal running 1 min 1 s 2 of 10 [##drw....!]",
                     "w winning-post critical completed 2.5 s 1 of 1", "a?b snap-update low queued 12.0 s 0 of 16"):
            assert line in lines, "%r is not in\n%s" % (line, full)
        assert max(map(len, full.splitlines())) <= 132, full
        j = cuzk.ok("status", "--json", *to, "--status", d.http_address).json()
        assert j["http"] == STATUS and j["workers"][0]["name"] == "NVIDIA H200" and j["completed"] == 1234, j
        queue = cuzk.ok("queue", *to, "--status", d.http_address).out
        assert "a?b" in queue and "porep-1000-5" in queue and "winning-post" not in queue, queue
        # a port that is not the daemon's is told, and does not hide the rest
        r = cuzk.ok("status", *to, "--status", "127.0.0.1:1")
        assert "jobs are not shown: connecting to the status port 127.0.0.1:1: Connection refused" in r.out, r
        cuzk.fails(2, "--every needs --watch", "status", "--every", "2", *to)
        cuzk.fails(2, '--every: "x" is not a number of seconds', "status", "--watch", "--every", "x", *to)
        p = subprocess.Popen([cuzk.program, "status", "--watch", "--every", "0.05", *to], stdout=subprocess.PIPE)
        begin = len(d.requests)
        while len(d.requests) < begin + 3:
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        out = p.communicate(timeout=10 * harness.SLOW)[0].decode()
        assert p.returncode == 0 and out.count("daemon at") >= 2, (p.returncode, out)


def test_hostile_status_text(cuzk):
    to = ["--connect", unix(cuzk)]
    texts = [(404, b"no"), (200, b"[]"), (200, b"{"), (200, b'{"pipelines":[{"job_id":'), (200, b""),
             (200, b'{"pipelines":[1,null,"x",{"partitions":[{"index":1e9,"state":"done"},{"index":-1}]}],"memory":3}'),
             (200, b'{"pipelines":{"a":1},"gpu_workers":7,"allocations":[],"queued":null,"uptime_secs":"x"}')]
    with Daemon(unix(cuzk), scripted(GetStatus=status_answer()), http_status=lambda: texts[0]) as d:
        while texts:
            cuzk.ok("status", *to, "--status", d.http_address)
            cuzk.ok("queue", *to, "--status", d.http_address)
            del texts[0]
            if not texts:
                break


# ---------------------------------------------------------------- load


def test_bench(cuzk):
    _, circom = pb()
    answer = circom.ProveWitnessResponse(job_id="j", status=1, proof_json="{}", public_json="[]", total_ms=12)
    kind, fields = statement(cuzk, "winning-2k-5")
    request, wtns = cuzk.write_json("request.json", fields), cuzk.circom("bn254", "multiplier2", "witness.wtns")
    line = ["bench", "--server", "--connect", unix(cuzk), "--winning", *vanilla_files(cuzk, "winning-2k-5"),
            "--winning-request", request, "--circom", "mul=" + wtns]
    with Daemon(unix(cuzk), scripted(ProveWitness=answer)) as d:
        r = cuzk.ok(*line, "--jobs", "40", "--concurrency", "8", "--mix", "winning:3,circom:1", "--json").json()
        kinds = {k["kind"]: k for k in r["kinds"]}
        assert r["ok"] and kinds["winning"]["completed"] == 30 and kinds["circom"]["completed"] == 10, r
        assert kinds["winning"]["daemon_seconds_p50"] == 1.234 and kinds["winning"]["p50_ms"] < 60000, r
        ids = [r.submit.request_id for r in d.of("Prove")] + [r.request_id for r in d.of("ProveWitness")]
        assert len(set(ids)) == 40 and len(d.of("Prove")) == 30, ids
        begin = time.monotonic()
        r = cuzk.ok(*line, "--jobs", "10", "--rate", "20")
        assert time.monotonic() - begin > 0.44 and "open loop, 20 sent a second" in r.out, r
        assert [l.split()[:3] for l in r.out.splitlines()[1:3]] == [["winning", "5", "0"], ["circom", "5", "0"]], r
        assert "winning,5,0," in cuzk.ok(*line, "--jobs", "10", "--csv").out
        d.answers["ProveWitness"] = circom.ProveWitnessResponse(job_id="j", status=2, error_message="bad witness")
        r = cuzk.fails(1, "circom: 2 of 2 jobs failed; the first: bad witness", *line, "--jobs", "4")
        assert "winning" in r.out, r
        cuzk.fails(2, "--mix names porep: --porep is missing", *line, "--mix", "porep:1")
        for mix in ("x", "winning:0", "winning:1x", "winning,winning", "winning:", "winning:99999"):
            cuzk.fails(2, "--mix", *line, "--mix", mix)
        cuzk.fails(2, "exclude each other", *line, "--rate", "1", "--concurrency", "2")
        cuzk.fails(2, "no job is given", *line[:4])


# ---------------------------------------------------------------- reaching the daemon


def make_certificates(cuzk):
    """A CA, the daemon's certificate for localhost, a client's, and a stranger's CA."""
    def run(*args):
        try:
            subprocess.run(args, cwd=cuzk.scratch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            raise Skip("openssl is missing")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for ca in ("ca", "stranger"):
        run("openssl", "req", "-x509", *key, "-keyout", ca + ".key", "-out", ca + ".pem", "-subj", "/CN=" + ca, "-days", "2")
    for name, alt in (("server", "DNS:localhost"), ("client", "DNS:client")):
        run("openssl", "req", *key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        cuzk.write("ext", "subjectAltName=" + alt)
        run("openssl", "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", name + ".pem", "-extfile", "ext", "-days", "2")


def test_tls(cuzk):
    if grpc is None:
        raise Skip("python3-grpcio is missing")
    make_certificates(cuzk)
    pair = (read(cuzk.path("server.key")), read(cuzk.path("server.pem")))
    metrics = {"GetMetrics": pb()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    with Daemon("localhost:0", metrics, grpc.ssl_server_credentials([pair])) as d:
        address = "localhost:%d" % d.port
        assert cuzk.ok("metrics", "--connect", address, "--tls-ca", "ca.pem").out == "a 1\n"
        cuzk.ok("metrics", "--connect", "https://" + address, "--tls-ca", "ca.pem")
        cuzk.ok("metrics", "--connect", "127.0.0.1:%d" % d.port, "--tls-ca", "ca.pem", "--tls-name", "localhost")
        for line in (["--connect", address, "--tls-ca", "stranger.pem"], ["--connect", "https://" + address],
                     ["--connect", address, "--tls-ca", "ca.pem", "--tls-name", "elsewhere"]):
            cuzk.fails(1, ["connecting to", address, "(TLS: "], "metrics", *line)
        cuzk.fails(1, address, "metrics", "--connect", address)
    both = grpc.ssl_server_credentials([pair], read(cuzk.path("ca.pem")), True)
    with Daemon("localhost:0", metrics, both) as d:
        line = ["metrics", "--connect", "localhost:%d" % d.port, "--tls-ca", "ca.pem"]
        cuzk.ok(*line, "--tls-cert", "client.pem", "--tls-key", "client.key")
        cuzk.fails(1, "localhost:%d" % d.port, *line)
        cuzk.fails(2, "only the certificate is given", *line, "--tls-cert", "client.pem")
        cuzk.fails(1, ["the client's key", "it is not PEM"], *line, "--tls-cert", "client.pem", "--tls-key", "ext")
        cuzk.fails(1, ["certificates", "No such file"], "metrics", "--connect", "localhost:1", "--tls-ca", "nowhere")


def test_token(cuzk):
    metrics = {"GetMetrics": pb()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    cuzk.write("token", "s3cret\nsecond line\n")
    with Daemon(unix(cuzk), metrics) as d:
        cuzk.ok("metrics", "--connect", unix(cuzk), "--token-file", "token")
        cuzk.ok("metrics", "--connect", unix(cuzk))
        assert [m.get("authorization") for _, _, m in d.requests] == ["Bearer s3cret", None]
        for text, reason in (("", "empty"), ("\nx", "empty"), ("a b\n", "printable"), ("\u00e9", "printable")):
            cuzk.write("bad", text)
            r = cuzk.fails(1, reason, "metrics", "--connect", unix(cuzk), "--token-file", "bad")
        d.answers["GetMetrics"] = (grpc.StatusCode.UNAUTHENTICATED, "a token is needed")
        cuzk.fails(1, "UNAUTHENTICATED: a token is needed", "metrics", "--connect", unix(cuzk))


def test_daemons_words_reach_the_user(cuzk):
    codes = {"INVALID_ARGUMENT": "E_FORMAT", "NOT_FOUND": "E_NOT_FOUND", "FAILED_PRECONDITION": "E_FILE",
             "RESOURCE_EXHAUSTED": "E_MEMORY", "UNIMPLEMENTED": "E_UNSUPPORTED", "PERMISSION_DENIED": "E_UNAVAILABLE",
             "UNAVAILABLE": "E_UNAVAILABLE", "INTERNAL": "E_INTERNAL", "DEADLINE_EXCEEDED": "E_DEADLINE"}
    with Daemon(unix(cuzk), {}) as d:
        for code, status in codes.items():
            d.answers["PreloadSRS"] = (getattr(grpc.StatusCode, code), "the reason, in words")
            r = cuzk("preload", "x", "--connect", unix(cuzk), "--json")
            assert r.code == 1 and r.json()["results"][0]["status"] == status, r
            if code != "DEADLINE_EXCEEDED":
                assert "the daemon at %s: %s: the reason, in words" % (unix(cuzk), code) in r.err, r


def test_address_of_the_configuration(cuzk):
    metrics = {"GetMetrics": pb()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    with Daemon("127.0.0.1:0", metrics) as d:
        config = cuzk.write("cuzk.toml", '[daemon]\nlisten = "0.0.0.0:%d"\nallow_plaintext = true\n' % d.port)
        assert cuzk.ok("metrics", "--config", config).out == "a 1\n"
        assert cuzk.ok("metrics", env={"CUZK_LISTEN": "127.0.0.1:%d" % d.port}).out == "a 1\n"
        assert cuzk.ok("metrics", env={"CUZK_DAEMON_LISTEN": '127.0.0.1:%d' % d.port}).out == "a 1\n"
        cuzk.fails(1, "there is no such socket", "metrics", "--config", config, "--connect", unix(cuzk))
        bad = cuzk.write("bad.toml", "[daemon]\nlisten = 3\n")
        cuzk.fails(2, ["looking for the daemon's address", "bad.toml"], "metrics", "--config", bad)


if __name__ == "__main__":
    harness.main(globals())
