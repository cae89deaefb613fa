# SPDX-License-Identifier: MIT OR Apache-2.0
"""--json of every command: which members there are, of which type, and with which values; --quiet; help."""
import base64, json

from every_command import NO_PARAMETERS, every_command, good_answers, json_of
from fake_daemon import Daemon, completed, messages, unix
import harness
from harness import read

TIMES = {"total_ms": 1234, "queue_wait_ms": 34, "srs_load_ms": 0, "synthesis_ms": 400, "gpu_compute_ms": 800}
CIRCUIT = {"name": "mul", "zkey_path": "/c/mul.zkey", "curve": "bn128", "constraints": 1, "public_values": 1,
           "variables": 4, "size_bytes": 2500}


def wanted(c, got):
    """The whole object of a command; what is the daemon's or the client's choice is taken from `got`."""
    job = {"ok": True, "job_id": got.get("job_id"), "status": "completed"}
    circom = dict(job, circuit="mul" if c.name == "submit circom" else "circuit", proof="out.json",
                  public="out-public.json", verified_here=c.name == "prove", total_ms=12, queue_wait_ms=0,
                  synthesis_ms=0, gpu_compute_ms=0)
    if c.name == "submit winning":
        return dict(job, proof="out.bin", partitions=1, **TIMES) if c.waits else \
            {"ok": True, "job_id": got["job_id"], "queue_position": 3, "partitions": 1}
    return {
        "submit circom": circom,
        "prove": circom,
        "prove winning": dict(job, proof="out.bin", partitions=1, verified_here=False, **TIMES),
        "await": dict(job, proof_bytes=192, proof="out.bin", **TIMES),
        "cancel": {"results": [{"job_id": "j", "was_running": True}], "ok": True},
        "preload": {"results": [{"circuit": "porep-32g", "already_loaded": False, "load_time_ms": 5}], "ok": True},
        "evict": {"results": [{"circuit": "porep-32g", "was_loaded": True, "freed_bytes": 2500}], "ok": True},
        "circuits list": {"ok": True, "circuits": [CIRCUIT]},
        "circuits register": dict({"ok": True, "already_registered": False}, **CIRCUIT),
        "metrics": {"ok": True, "prometheus_text": "a 1\n"},
    }[c.name]


def test_members(cuzk):
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        for c in every_command(cuzk):
            got = json_of(cuzk.ok(*c.line("--connect", unix(cuzk), "--json"), env=NO_PARAMETERS))
            if c.name in ("status", "queue"):
                assert got == {
                    "ok": True, "address": unix(cuzk), "uptime_seconds": 9, "completed": 3, "failed": 0,
                    "workers": [{"ordinal": 0, "name": "cpu", "memory_total_bytes": 0, "memory_free_bytes": 0,
                                 "job_id": "j", "kind": "circom"}],
                    "queues": [{"kind": "circom", "pending": 0, "in_progress": 1}],
                    "parameters": [{"circuit": "circom:mul", "size_bytes": 2500, "users": 1}], "waiting": []}, got
            elif c.name == "bench":
                kind = got["kinds"][0]
                assert (got["jobs"], got["failed"], kind["kind"], kind["completed"]) == (2, 0, "circom", 2), got
                assert 0 < kind["seconds_min"] <= kind["seconds_p50"] <= kind["seconds_p90"] <= kind["seconds_p99"] \
                    <= kind["seconds_max"] <= got["seconds"], got
                assert kind["daemon_seconds_p50"] == 0.012 and "first_error" not in kind, got
                assert abs(kind["per_hour"] - 2 * 3600 / got["seconds"]) < 1 + 0.01 * kind["per_hour"], got
            else:
                assert got == wanted(c, got), (c.name, got)
            if "job_id" in got and c.name not in ("await", "submit circom", "prove"):
                assert got["job_id"] == d.of("SubmitProof")[-1].request_id, got


def test_any_text_is_json(cuzk):
    """Ids and names come through as they are, whatever they hold; what is no UTF-8 becomes U+FFFD."""
    proving, circom = messages()
    names = ['"', "\\", "\n\r\t\x01\x7f", "\u20ac\U0001f408", "</script>", "%s", "a" * 3000, " "]
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        to = ["--connect", unix(cuzk), "--json"]
        for name in names:
            d.answers["ListCircuits"] = circom.ListCircuitsResponse(circuits=[circom.CircuitInfo(name=name)])
            assert json_of(cuzk.ok("circuits", "list", *to))["circuits"][0]["name"] == name
            d.answers["GetMetrics"] = proving.GetMetricsResponse(prometheus_text=name)
            assert json_of(cuzk.ok("metrics", *to))["prometheus_text"] == name
            assert cuzk.ok("metrics", "--connect", unix(cuzk), text=False).out == name.encode()
            d.answers["AwaitProof"] = completed(name)
            assert json_of(cuzk.ok("await", name, *to))["job_id"] == name
            assert d.of("AwaitProof")[-1].job_id == name
        d.answers["GetMetrics"] = b"\x0a\x03a\xffb"
        assert json_of(cuzk.ok("metrics", *to))["prometheus_text"] == "a\ufffdb"


def test_quiet(cuzk):
    """--quiet: nothing but what was asked for, and failures."""
    said = {"submit winning", "status", "queue", "circuits list", "metrics", "bench", "cancel", "preload", "evict"}
    with Daemon(unix(cuzk), good_answers(cuzk)):
        for c in every_command(cuzk):
            r = cuzk.ok(*c.line("--connect", unix(cuzk), "--quiet"), env=NO_PARAMETERS)
            assert r.err == "", (c.name, r)
            if c.name not in said or c.waits:
                assert r.out == "", (c.name, r)


def test_forms_of_a_proof(cuzk):
    """What await and prove write in every form is the daemon's proof, and verifies where it can be verified."""
    _, circom = messages()
    proof = bytes(range(128, 256)) + bytes(range(64))
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        to = ["--connect", unix(cuzk)]
        d.answers["AwaitProof"] = completed("j", proof)
        for form, back in (("raw", lambda b: b), ("hex", lambda b: bytes.fromhex(b.decode())),
                           ("base64", lambda b: base64.b64decode(b, validate=False)),
                           ("json", lambda b: base64.b64decode(json.loads(b)["proof"], validate=True))):
            cuzk.ok("await", "j", "--out", "p", "--format", form, *to)
            data = read(cuzk.path("p"))
            assert back(data) == proof and (form == "raw" or data.endswith(b"\n") and data.count(b"\n") in (1, 4)), data
        zkey, wtns, vkey, proof, public = (cuzk.circom("bls12381", "multiplier2", n) for n in (
            "circuit.zkey", "witness.wtns", "verification_key.json", "proof.json", "public.json"))
        d.answers["ProveWitness"] = circom.ProveWitnessResponse(
            job_id="j", status=1, proof_json=read(proof).decode(), public_json=read(public).decode())
        cuzk.ok("prove", zkey, wtns, "c.json", "cp.json", "--format", "compact", *to)
        cuzk.ok("verify", vkey, "cp.json", "c.json")
        cuzk.ok("prove", zkey, wtns, "--format", "bytes", *to)
        assert len(read(cuzk.path("proof.bin"))) == 192
        cuzk.ok("verify", vkey, "public.json", "proof.bin")


def test_usage(cuzk):
    """Exit code 2 and no connection where the command line is at fault; with --json also as an object."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        to = ["--connect", unix(cuzk)]
        for line in (["submit"], ["submit", "snark", "x"], ["submit", "porep"], ["await"], ["await", "a", "b"], ["cancel"],
                     ["status", "x"], ["circuits"], ["circuits", "remove", "x"], ["circuits", "register", "x"], ["preload"],
                     ["metrics", "--timeout", "0"], ["metrics", "--timeout", "soon"], ["metrics", "--every", "1"],
                     ["await", "j", "--format", "hex"], ["await", "j", "--out", "-"], ["await", "j", "--out", "x", "--format", "pdf"],
                     ["await", "j", "--out", "x", "--public", "x"], ["status", "--every", "1"],
                     ["bench", "--server", "--jobs", "0"], ["bench", "--server", "--jobs", "1.5"],
                     ["bench", "--server", "--concurrency", "10001"], ["bench", "--server", "--rate", "0"],
                     ["bench", "--server", "--rate", "nan"], ["bench", "--server", "--rate", "100001"],
                     ["bench", "--server", "--circom", "x"], ["bench", "--server", "--circom", "=x"],
                     ["bench", "--server", "--circom", "x="], ["bench", "--server", "--mix", ""], ["bench", "--server"],
                     ["bench", "--server", "--snap-request", "x"]):
            r = cuzk(*line, *to)
            assert r.code == 2 and r.out == "" and r.err.startswith("cuzk "), (line, r)
            r = cuzk(*line, *to, "--json")
            assert r.code == 2 and json.loads(r.out)["ok"] is False, (line, r)
        for address in ("", "nowhere", "h:0", "ftp://h:1"):
            cuzk.fails(2, "expected unix:///PATH", "metrics", "--connect", address)
        assert not d.requests, d.requests


def test_words_together_with_outputs(cuzk):
    """Outputs that would replace an input, or cannot be made, are found before anything is sent."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        commands = {(c.name, c.waits): c for c in every_command(cuzk)}
        to = ["--connect", unix(cuzk)]
        winning = commands["prove winning", True].rest[:-2]
        cuzk.fails(2, "written to, and also", "prove", "winning", *winning, "--out", "request.json", *to)
        for out in ("no/such/folder/p", ".", "request.json/p"):
            cuzk.fails(1, "writing", "prove", "winning", *winning, "--out", out, *to)
            cuzk.fails(1, "writing", "await", "j", "--out", out, *to)
        zkey, wtns = commands["prove", False].rest[:2]
        cuzk.fails(2, "written to, and also", "prove", zkey, wtns, "x.json", "x.json", *to)
        cuzk.fails(2, "written to, and also", "submit", "circom", "mul", wtns, "--out", "x", "--public", "x", *to)
        cuzk.fails(1, "opening", "submit", "circom", "mul", "missing.wtns", *to)
        cuzk.fails(2, "--format", "prove", zkey, wtns, "--format", "xml", *to)
        cuzk.write("%s.zkey" % ("n" * 101), b"")
        cuzk.fails(2, "--circuit NAME", "prove", "n" * 101 + ".zkey", wtns, *to)
        assert not d.requests, d.requests


if __name__ == "__main__":
    harness.main(globals())
