# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command once against the real daemon, and circom proofs over HTTP."""
import json

from real_daemon import Daemon, circuit
import harness
from harness import read


def test_circom_by_every_way(cuzk):
    wtns, public, vkey = circuit(cuzk)
    with Daemon(cuzk) as d:
        assert cuzk.ok("circuits", "list", *d.to).out == "no circuit is registered\n"
        cuzk.fails(1, ["circuit \"mul\"", "NOT_FOUND"], "submit", "circom", "mul", wtns, *d.to)
        assert "registered (bn128, 1 constraints)" in cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to).out
        assert "was registered" in cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to).out
        assert cuzk.ok("circuits", "list", "--json", *d.to).json()["circuits"][0]["name"] == "mul"
        r = cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "one", "--json", *d.to).json()
        assert r["job_id"] == "one" and r["status"] == "completed", r
        cuzk.ok("verify", vkey, "public.json", "proof.json")
        first = read(cuzk.path("proof.json"))
        # the same id and witness again: the stored result, blinded as it was
        cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "one", *d.to)
        assert read(cuzk.path("proof.json")) == first
        cuzk.ok("await", "one", "--out", "p.json", "--public", "q.json", *d.to)
        assert read(cuzk.path("p.json")) == first and json.loads(read(cuzk.path("q.json"))) == json.loads(read(public))
        # prove --connect writes what prove writes
        key = cuzk.path("circom/multiplier2.zkey")
        assert cuzk.ok("prove", key, wtns, "a.json", "b.json", "--circuit", "mul", "--json", *d.to).json()["verified_here"]
        assert read(cuzk.path("b.json")) == read(cuzk.path("public.json"))
        cuzk.ok("verify", vkey, "b.json", "a.json")
        # HTTP
        status, answer = d.http("POST", "/circom/mul/prove", read(wtns), {"Content-Type": "application/octet-stream"})
        assert status == 200 and answer["status"] == "success", answer
        cuzk.write("h.json", answer["proof"])
        cuzk.write("hp.json", answer["pubData"])
        cuzk.ok("verify", vkey, "hp.json", "h.json")
        assert d.http("GET", "/circom")[1]["circuits"][0]["curve"] == "bn128"
        for path, body, code, text in (("/circom/none/prove", read(wtns), 404, "none"),
                                       ("/circom/mul/prove", b'{"a": 3}', 415, "no witness calculator"),
                                       ("/circom/mul/prove", read(wtns)[:-1], 400, "wtns"),
                                       ("/circom/mul/prove", b"wtns", 400, "")):
            status, answer = d.http("POST", path, body)
            assert status == code and answer["status"] == "failed" and text in answer["error"], (path, status, answer)


def test_a_witness_that_does_not_satisfy(cuzk):
    wtns, _, _ = circuit(cuzk)
    values = harness.wtns_values(read(wtns))
    bad = harness.make_wtns(harness.R["bn254"], [values[0], (values[1] + 1)] + values[2:])
    path = cuzk.write("bad.wtns", bad)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        r = cuzk.fails(1, "failed", "submit", "circom", "mul", path, *d.to)
        assert "proof.json" not in cuzk.names()
        status, answer = d.http("POST", "/circom/mul/prove", bad)
        assert status == 422 and answer["status"] == "failed", (status, answer)
        cuzk.fails(1, "circom: 4 of 4 jobs failed", "bench", "--server", "--jobs", "4", "--circom", "mul=" + path, *d.to)


def test_status_residents_and_metrics(cuzk):
    wtns, _, _ = circuit(cuzk)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        assert "circom:mul: loaded in" in cuzk.ok("preload", "circom:mul", *d.to).out
        assert "was loaded" in cuzk.ok("preload", "circom:mul", *d.to).out
        cuzk.fails(1, "NOT_FOUND", "preload", "nothing-2k", *d.to)
        cuzk.fails(1, "FAILED_PRECONDITION", "preload", "winning-2k", *d.to)
        cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "shown", *d.to)
        text = cuzk.ok("status", *d.to).out
        assert "proofs: 1 completed, 0 failed" in text and "shown" in text and "circom:mul" in text, text
        j = cuzk.ok("status", "--json", *d.to).json()
        assert j["completed"] == 1 and j["http"]["counters"]["total_completed"] == 1, j
        assert "cuzk_proofs_completed_total 1" in cuzk.ok("metrics", *d.to).out
        assert "evicted" in cuzk.ok("evict", "circom:mul", *d.to).out
        assert "was not loaded" in cuzk.ok("evict", "circom:mul", *d.to).out
        assert cuzk.ok("cancel", "shown", *d.to).out == "job shown: had ended already, nothing to cancel\n"
        cuzk.fails(1, "NOT_FOUND", "cancel", "unknown", *d.to)
        cuzk.fails(1, "NOT_FOUND", "await", "unknown", *d.to)
        cuzk.ok("queue", *d.to)


def test_bench(cuzk):
    wtns, _, _ = circuit(cuzk)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        r = cuzk.ok("bench", "--server", "--jobs", "200", "--concurrency", "16", "--circom", "mul=" + wtns, "--json",
                    *d.to).json()
        assert r["ok"] and r["kinds"][0]["completed"] == 200 and 0.0001 < r["kinds"][0]["seconds_p50"] < 5, r
        assert cuzk.ok("status", "--json", *d.to).json()["completed"] == 200


if __name__ == "__main__":
    harness.main(globals())
