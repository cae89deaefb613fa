# SPDX-License-Identifier: MIT OR Apache-2.0
"""Answers that are not what the protocol says: cut, changed, of another type, empty, enormous. Every command ends with
exit code 0 or 1 and a message, prints JSON where it is asked for, and leaves no half of a file."""
import json, os, random

from every_command import NO_PARAMETERS, check_failure, every_command, good_answers, json_of
from fake_daemon import Daemon, completed, messages, unix
import harness
from harness import read


def bytes_of(answer, command):
    """The message that a good daemon answers, as bytes."""
    if callable(answer):
        proving, _ = messages()
        answer = answer(proving.SubmitProofRequest(request_id="j") if command.method == "SubmitProof"
                        else proving.AwaitProofRequest(job_id="j"))
    return answer.SerializeToString()


def run_all(cuzk, wrong):
    """Each command against each of the answers wrong(good bytes) gives in place of its own."""
    commands, good = every_command(cuzk), good_answers(cuzk)
    n = 0
    with Daemon(unix(cuzk), good) as d:
        before = cuzk.names()
        for c in commands:
            for data in wrong(bytes_of(good[c.method], c)):
                d.answers = dict(good, **{c.method: data})
                r = cuzk(*c.line("--connect", unix(cuzk), "--json"), env=NO_PARAMETERS)
                assert r.code in (0, 1), (c.name, data[:200], r)
                json_of(r)
                if r.code == 1:
                    assert r.err.startswith("cuzk ") and r.err.count("\n") <= 2, (c.name, data[:200], r)
                    assert cuzk.names() == before, (c.name, data[:200], cuzk.names())
                else:
                    assert all(name in cuzk.names() for name in c.writes), (c.name, cuzk.names())
                for name in set(cuzk.names()) - set(before):
                    os.remove(cuzk.path(name))
                n += 1
    return n


def test_cut(cuzk):
    def cut(good):
        return [good[:k] for k in sorted({0, 1, 2, 3, len(good) // 2, len(good) - 1})]
    assert run_all(cuzk, cut) > 60


def test_changed(cuzk):
    def changed(good):
        for _ in range(4):
            data = bytearray(good)
            for _ in range(random.randrange(1, 4)):
                data[random.randrange(len(data))] = random.choice((0, 1, 8, 10, 26, 127, 128, 255, random.randrange(256)))
            yield bytes(data)
    assert run_all(cuzk, changed) >= 60


def test_odd(cuzk):
    """Fields that nobody knows, a length beyond the end, numbers of ten bytes, text that is no UTF-8."""
    def odd(good):
        return [good + b"\xfa\x7f\x03abc", good + b"\x0a\xff\xff\xff\xff\x0f", b"\xff" * 40, b"\x0a\x04\xff\xfe\x1b\x00",
                b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
    assert run_all(cuzk, odd) > 60


def test_answers_that_promise_what_is_not_there(cuzk):
    """Right messages with wrong contents."""
    proving, circom = messages()
    good = good_answers(cuzk)
    proof = good["ProveWitness"].proof_json
    wrong = [
        # a job is accepted, but which?
        ("submit winning", "SubmitProof", proving.SubmitProofResponse(queue_position=3), "without the job's id"),
        ("await", "AwaitProof", completed("j", b""), "calls it completed and sends no proof"),
        ("await", "AwaitProof", proving.AwaitProofResponse(job_id="j"), "job j: unknown"),
        ("prove winning", "AwaitProof", completed("j", b"p" * 191), "has 191 bytes, expected 192: 1 partition of 192"),
        ("prove winning", "AwaitProof", completed("j", b"p" * 384), "has 384 bytes, expected 192"),
        ("submit circom", "ProveWitness", circom.ProveWitnessResponse(job_id="j", status=1, public_json="[]"),
         "calls it completed and sends no proof"),
        ("submit circom", "ProveWitness", circom.ProveWitnessResponse(job_id="j", status=3, error_message="why"),
         "job j: cancelled: why"),
        ("submit circom", "ProveWitness", circom.ProveWitnessResponse(job_id="j", proof_json=proof), "job j: unknown"),
        ("prove", "ProveWitness", circom.ProveWitnessResponse(job_id="j", status=1, proof_json="{}", public_json="[]"),
         "job j: the daemon's proof does not verify with"),
        ("prove", "ProveWitness", circom.ProveWitnessResponse(job_id="j", status=1, proof_json=proof, public_json="[1"),
         "job j: the daemon's proof does not verify with"),
        ("prove", "ProveWitness", circom.ProveWitnessResponse(job_id="j", status=1, proof_json="x", public_json="[]"),
         "job j: the daemon's proof does not verify with"),
        ("circuits register", "RegisterCircuit", circom.RegisterCircuitResponse(already_registered=True),
         "the daemon's answer is without the circuit"),
    ]
    commands = {c.name: c for c in every_command(cuzk)}
    with Daemon(unix(cuzk), good) as d:
        before = cuzk.names()
        for name, method, answer, text in wrong:
            d.answers = dict(good, **{method: answer})
            for more in ([], ["--json"]):
                c = next(c for c in every_command(cuzk) if c.name == name and c.method == method)
                r = cuzk(*c.line("--connect", unix(cuzk), *more), env=NO_PARAMETERS)
                check_failure(r, text)
                assert not more or json_of(r)["error"] in r.err, r
                assert cuzk.names() == before, (name, cuzk.names())
        assert commands


def test_a_circom_answer_of_await(cuzk):
    """await writes what a job of circom's is: both files or none, and says when there are no public values."""
    _, circom = messages()
    answer = circom.ProveWitnessResponse(job_id="j", proof_json='{"pi_a": 1}', public_json='["7"]').SerializeToString()
    good = good_answers(cuzk)
    # its beginning is what tells it from a Filecoin proof
    answer = answer[answer.index(b"\x1a"):]
    with Daemon(unix(cuzk), dict(good, AwaitProof=completed("j", answer))) as d:
        to = ["--connect", unix(cuzk)]
        cuzk.ok("await", "j", "--out", "p.json", "--public", "q.json", *to)
        assert json.loads(read(cuzk.path("q.json"))) == ["7"]
        cuzk.ok("await", "j", "--out", "p2.json", *to)
        assert "p2.json" in cuzk.names()
        before = cuzk.names()
        # the second file cannot be written: then there is no first one
        os.mkdir(cuzk.path("full"))
        os.symlink("/dev/full", cuzk.path("full/q.json"))
        cuzk.fails(1, "q.json", "await", "j", "--out", "p3.json", "--public", "full/q.json", *to)
        assert "p3.json" not in cuzk.names(), cuzk.names()
        # a Filecoin proof has no public values
        d.answers["AwaitProof"] = completed("j")
        cuzk.fails(1, "public", "await", "j", "--out", "p4.bin", "--public", "q4.json", *to)
        assert set(cuzk.names()) == set(before) | {"full"}, cuzk.names()


def test_enormous_answers(cuzk):
    """Long lists are shown, long texts are cut where there is a column for them."""
    proving, circom = messages()
    good = good_answers(cuzk)
    many = circom.ListCircuitsResponse(circuits=[circom.CircuitInfo(name="c%d" % i) for i in range(20000)])
    status = proving.GetStatusResponse(
        gpus=[proving.GPUStatus(name="n" * 100000, current_job_id="j" * 100000, current_proof_kind="k" * 100000)] * 3,
        loaded_srs=[proving.SRSStatus(circuit_id="s" * 100000, tier=77, size_bytes=2**64 - 1, ref_count=2**32 - 1)],
        queues=[proving.QueueStatus(proof_kind="q" * 100000, pending=2**32 - 1, in_progress=2**32 - 1)],
        total_proofs_completed=2**64 - 1, total_proofs_failed=2**64 - 1, uptime_seconds=2**64 - 1,
        pinned_memory_bytes=2**64 - 1, pinned_memory_limit_bytes=2**64 - 1)
    with Daemon(unix(cuzk), dict(good, ListCircuits=many, GetStatus=status)):
        to = ["--connect", unix(cuzk)]
        assert len(cuzk.ok("circuits", "list", *to).out.splitlines()) == 20000
        assert len(cuzk.ok("circuits", "list", "--json", *to).json()["circuits"]) == 20000
        out = cuzk.ok("status", *to).out
        assert "18,446,744,073,709,551,615 completed" in out and "16.0 EiB of 16.0 EiB" in out, out
        assert max(map(len, out.splitlines())) < 200, max(map(len, out.splitlines()))
        j = cuzk.ok("status", "--json", *to).json()
        assert j["completed"] == 2**64 - 1 and len(j["workers"][0]["name"]) == 100000, j.keys()


def test_a_large_proof(cuzk):
    """An answer of many MiB comes whole; one whose field is longer than it says is a failure."""
    with Daemon(unix(cuzk), dict(good_answers(cuzk), AwaitProof=completed("j", b"\x80" * (24 << 20)))) as d:
        cuzk.ok("await", "j", "--out", "big", "--connect", unix(cuzk))
        assert os.path.getsize(cuzk.path("big")) == 24 << 20
        d.answers["AwaitProof"] = b"\x10\x01\x1a\x80\x80\x80\x0c" + b"\x80" * 1000  # 24 MiB announced
        check_failure(cuzk("await", "j", "--connect", unix(cuzk)), "is not a message of that type")


if __name__ == "__main__":
    harness.main(globals())
