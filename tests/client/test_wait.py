# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk await: ends, progress, interruption, a daemon that is restarted, against a scripted daemon."""
import json, os, signal, subprocess, time

from fake_daemon import Daemon, Hang, Lost, completed, grpc, messages, scripted, unix, vanilla_files
import harness
from harness import read
from test_filecoin import statement


def test_await(cuzk):
    proving, _ = messages()
    ends = {2: "job j: failed: partition 3: no luck", 3: "job j: cancelled", 4: "not done in time; it goes on"}
    with Daemon(unix(cuzk), scripted()) as d:
        r = cuzk.ok("await", "j", "--connect", unix(cuzk))
        assert r.out.startswith("job j: completed, 192 bytes, 1.23 s in the daemon: queue 0.03"), r
        cuzk.ok("await", "j", "--connect", unix(cuzk), "--out", "x.json", "--format", "json", "--timeout", "2.5")
        assert json.loads(read(cuzk.path("x.json")))["job_id"] == "j"
        assert 2000 < d.of("AwaitProof")[-1].timeout_ms <= 2500
        r = cuzk.ok("await", "j", "--connect", unix(cuzk), "--json").json()
        assert (r["status"], r["proof_bytes"], r["gpu_compute_ms"]) == ("completed", 192, 800), r
        circom = messages()[1].ProveWitnessResponse(proof_json='{"pi_a": 1}', public_json='["7"]')
        d.answers["AwaitProof"] = completed("j", circom.SerializeToString())
        cuzk.ok("await", "j", "--connect", unix(cuzk), "--out", "p.json", "--public", "q.json")
        assert read(cuzk.path("p.json")) == b'{"pi_a": 1}' and read(cuzk.path("q.json")) == b'["7"]'
        cuzk.fails(2, "need --out", "await", "j", "--connect", unix(cuzk), "--public", "q.json")
        for status, text in ends.items():
            d.answers["AwaitProof"] = proving.AwaitProofResponse(job_id="j", status=status,
                                                                 error_message="partition 3: no luck")
            cuzk.fails(1, text, "await", "j", "--connect", unix(cuzk), "--out", "never")
        d.answers["AwaitProof"] = (grpc.StatusCode.NOT_FOUND, 'no job "j"')
        r = cuzk("await", "j", "--connect", unix(cuzk), "--json")
        assert r.code == 1 and r.json()["status"] == "E_NOT_FOUND" and 'NOT_FOUND: no job "j"' in r.err, r
        assert "never" not in cuzk.names()


def test_submitted_again(cuzk):
    """A daemon that was replaced after it accepted the job does not know it: the next one gets the same submission."""
    kind, fields = statement(cuzk, "winning-2k-5")
    line = ["submit", kind, *vanilla_files(cuzk, "winning-2k-5"), "--request", cuzk.write_json("request.json", fields),
            "--connect", unix(cuzk), "--wait", "--out", "proof.bin"]
    unknown = (grpc.StatusCode.NOT_FOUND, "no such job") if grpc else None
    with Daemon(unix(cuzk), scripted()) as d:
        d.answers["AwaitProof"] = lambda r: unknown if len(d.of("SubmitProof")) < 2 else completed(r.job_id)
        cuzk.ok(*line)
        first, second = d.of("SubmitProof")
        assert first == second and first.request_id != "", (first, second)
        assert cuzk.path("proof.bin") and len(read(cuzk.path("proof.bin"))) == 192
        d.answers["AwaitProof"] = unknown
        cuzk.fails(1, "NOT_FOUND: no such job", *line)
        assert len(d.of("SubmitProof")) == 2 + 4, len(d.of("SubmitProof"))


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


def test_a_request_that_is_lost_is_sent_again(cuzk):
    """Between a request and its answer the daemon is killed; the next one gets the same request, with the same id."""
    kind, fields = statement(cuzk, "winning-2k-5")
    request = cuzk.write_json("request.json", fields)
    answer = messages()[1].ProveWitnessResponse(job_id="j", status=1, proof_json='{"pi_a": 1}', public_json='["7"]')
    commands = {
        "SubmitProof": ["submit", kind, *vanilla_files(cuzk, "winning-2k-5"), "--request", request],
        "ProveWitness": ["submit", "circom", "mul", cuzk.circom("bn254", "multiplier2", "witness.wtns")],
    }
    for method, command in commands.items():
        with Lost(cuzk) as lost:
            p = subprocess.Popen([cuzk.program, *command, "--connect", unix(cuzk)], cwd=cuzk.scratch,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            header, id = lost.wait()
            assert method.encode() in header, header
        with Daemon(unix(cuzk), scripted(ProveWitness=answer)) as d:
            out, err = p.communicate(timeout=60 * harness.SLOW)
            assert p.returncode == 0, (out, err)
            sent = d.of(method)
            assert [r.request_id for r in sent] == [id], (sent, id)


def test_what_the_daemon_says_is_no_loss(cuzk):
    """Words of the daemon end a command at once, those of a daemon that ends only a submission."""
    codes = {"await": ["UNAUTHENTICATED", "PERMISSION_DENIED"], "submit": ["UNAUTHENTICATED", "UNAVAILABLE"]}
    wtns = cuzk.circom("bn254", "multiplier2", "witness.wtns")
    with Daemon(unix(cuzk), {}) as d:
        for word, rest, method in (("await", ["j"], "AwaitProof"), ("submit", ["circom", "mul", wtns], "ProveWitness")):
            for code in codes[word]:
                d.requests.clear()
                d.answers[method] = (getattr(grpc.StatusCode, code), "no")
                cuzk.fails(1, code + ": no", word, *rest, "--connect", unix(cuzk))
                assert len(d.of(method)) == 1, d.requests


def test_nobody_is_not_waited_for(cuzk):
    begin = time.monotonic()
    cuzk.fails(1, "there is no such socket", "await", "my-job", "--connect", unix(cuzk))
    assert time.monotonic() - begin < 0.9 * harness.SLOW


def test_cancel_preload_evict(cuzk):
    proving, _ = messages()
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


if __name__ == "__main__":
    harness.main(globals())
