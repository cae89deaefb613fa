# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk status, queue, circuits, metrics, and circom jobs, against a scripted daemon."""
import json, signal, subprocess, time

from fake_daemon import Daemon, completed, grpc, messages, scripted, unix
import harness
from harness import read


def test_circuits_and_metrics(cuzk):
    proving, circom = messages()
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
    _, circom = messages()
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
    "queued": [{"job_id": "a\nb", "proof_kind": "snap-update", "priority": 1, "age_secs": 12.0, "total_partitions": 16,
                "waits_for": {"reason": "job", "text": "its turn, behind job \x07porep-1000-5"}}],
    "intake": {"waiting": 3, "waits_for": {"reason": "threads", "text": "stage decode, which is full: 2 at once"}},
    "gpu_workers": [{"worker_id": 0, "gpu_ordinal": 0, "state": "proving", "current_job": "porep-1000-5",
                     "current_partition": 2, "busy_secs": 12.25},
                    {"worker_id": 1, "gpu_ordinal": 0, "state": "idle", "current_job": None, "current_partition": None,
                     "busy_secs": None, "reserve": True}],
    "allocations": {"srs": [{"circuit_id": "porep-32g", "bytes": 44 << 30, "last_used_secs_ago": 0.0,
                             "evictable": False, "state": "ready"}], "pce": []},
    "pinned": {"limit_bytes": 64 << 30, "used_bytes": 3 << 30, "peak_bytes": 4 << 30},
}
ARENAS = {"key": 44 << 30, "circuit": 1 << 20, "tables": 8 << 30, "staging": 0, "witness": 181 << 20, "workspace": 40 << 30}


TROUBLES = dict(STATUS, ready=False, draining=False, journal={
    "enabled": True, "failed": True, "was_damaged": True, "salvaged_jobs": 1234}, devices=[
        {"id": "cuda:0", "out": False, "reason": ""}, {"id": "cuda:1", "out": True, "reason": "2 bad proofs"}])


def test_troubles(cuzk):
    to = ["--connect", unix(cuzk)]
    texts = ["not ready yet: what srs.preload names", "journal cannot be written: new work is refused",
             "journal was damaged at the start; 1,234", "device cuda:1 is no longer used: 2 bad proofs"]
    script = scripted(GetStatus=status_answer())
    told = [STATUS]
    with Daemon(unix(cuzk), script, http_status=lambda: (200, json.dumps(told[0]).encode())) as d:
        for told[0] in (TROUBLES, dict(STATUS, draining=True, ready=False, journal={"enabled": False}), STATUS):
            out = cuzk.ok("status", *to, "--status", d.http_address).out
            assert [t in out for t in texts] == 4 * [told[0] is TROUBLES], out
            assert ("shutting down" in out) == ("there is no journal" in out) == told[0].get("draining", False), out
            assert "cuda:0" not in out, out


def test_arenas(cuzk):
    """What devices' memory is reserved for, in the table and, as it came, in the JSON."""
    to = ["--connect", unix(cuzk)]
    told = dict(STATUS, devices=[{"id": "cuda:0", "out": False, "reason": "", "memory": ARENAS}])
    with Daemon(unix(cuzk), scripted(GetStatus=status_answer()), http_status=(200, json.dumps(told).encode())) as d:
        out = cuzk.ok("status", *to, "--status", d.http_address).out
        lines = [line.split() for line in out.splitlines()]
        assert ["arena", "of"] + list(ARENAS) in lines, out
        assert "cuda:0 44.0 GiB 1.0 MiB 8.0 GiB 0 bytes 181.0 MiB 40.0 GiB".split() in lines, out
        assert max(map(len, out.splitlines())) <= 132, out
        j = cuzk.ok("status", "--json", *to, "--status", d.http_address).json()
        assert j["http"]["devices"][0]["memory"] == ARENAS and j["http"]["pinned"] == STATUS["pinned"], j
        assert "arena of" not in cuzk.ok("status", *to).out


def status_answer():
    proving, _ = messages()
    return proving.GetStatusResponse(
        gpus=[proving.GPUStatus(ordinal=0, name="NVIDIA H200", vram_total_bytes=140 << 30, vram_free_bytes=90 << 30,
                                current_job_id="porep-1000-5", current_proof_kind="porep-c2"),
              proving.GPUStatus(ordinal=0, name="NVIDIA H200", vram_total_bytes=140 << 30, vram_free_bytes=90 << 30)],
        loaded_srs=[proving.SRSStatus(circuit_id="porep-32g", tier=0, size_bytes=44 << 30, ref_count=1)],
        queues=[proving.QueueStatus(proof_kind="porep-c2", pending=0, in_progress=1),
                proving.QueueStatus(proof_kind="snap-update", pending=1, in_progress=0)],
        waiting=[proving.JobWait(job_id="snap-1000-9", proof_kind="snap-update", reason="memory", needed_bytes=9 << 30,
                                 free_bytes=3 << 29, text="memory: needs 9.0 GiB, 1.5 GiB of 200.0 GiB are free")],
        total_proofs_completed=1234, total_proofs_failed=2, uptime_seconds=7300, pinned_memory_bytes=60 << 30,
        pinned_memory_limit_bytes=250 << 30)


def test_status(cuzk):
    with Daemon(unix(cuzk), scripted(GetStatus=status_answer()), http_status=(200, json.dumps(STATUS, indent=1).encode())) as d:
        to = ["--connect", unix(cuzk)]
        plain = cuzk.ok("status", *to).out
        assert "snap-1000-9 waits for memory: needs 9.0 GiB, 1.5 GiB of 200.0 GiB are free" in plain, plain
        for text in ("up 2 h 1 min; proofs: 1,234 completed, 2 failed", "memory: 60.0 GiB of 250.0 GiB reserved",
                     "name the daemon's HTTP port"):
            assert text in plain, plain
        full = cuzk.ok("status", *to, "--status", "http://" + d.http_address).out
        lines = [" ".join(line.split()) for line in full.splitlines()]
        for line in ("0 NVIDIA H200 90.0 GiB of 140.0 GiB free porep-c2 porep-1000-5 partition 2, 12.2 s",
                     "0 NVIDIA H200 90.0 GiB of 140.0 GiB free idle (for CRITICAL jobs only)", "porep-c2 0 1", "snap-update 1 0",
                     "porep-32g 44.0 GiB 1 hot, ready",
                     "porep-1000-5 porep-c2 normal running 1 min 1 s 2 of 10 [##drw....!]",
                     "w winning-post critical completed 2.5 s 1 of 1", "a?b snap-update low queued 12.0 s 0 of 16", "waits for its turn, behind job ?porep-1000-5",
                     "3 requests wait to be taken in; the first one for stage decode, which is full: 2 at once"):
            assert line in lines, "%r is not in\n%s" % (line, full)
        assert max(map(len, full.splitlines())) <= 132, full
        assert "pinned host memory: 3.0 GiB of 64.0 GiB, at most 4.0 GiB until now" in lines and "arena of" not in full, full
        j = cuzk.ok("status", "--json", *to, "--status", d.http_address).json()
        assert j["http"] == STATUS and j["workers"][0]["name"] == "NVIDIA H200" and j["completed"] == 1234, j
        assert j["waiting"][0]["reason"] == "memory" and j["waiting"][0]["free_bytes"] == 3 << 29, j
        assert "pinned" in j["http"], j
        queue = cuzk.ok("queue", *to, "--status", d.http_address).out
        assert "a?b" in queue and "porep-1000-5" in queue and "winning-post" not in queue, queue
        # a port that is not the daemon's is told, and does not hide the rest
        d.answers["GetStatus"] = messages()[0].GetStatusResponse(uptime_seconds=3)
        r = cuzk.ok("status", *to, "--status", d.http_address)
        assert "is another daemon's, which has been up for 2 h 1 min" in r.out and "porep-1000-5" not in r.out, r
        d.answers["GetStatus"] = status_answer()
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


if __name__ == "__main__":
    harness.main(globals())
