# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk submit and cuzk prove --connect: what is sent, and what becomes of the proof, against a scripted daemon."""
import base64, json, uuid

from fake_daemon import Daemon, completed, messages, scripted, unix, vanilla_files
import harness
from harness import read
from test_filecoin import CASES, VK, options, statement


def wanted_request(cuzk, case, fields, files):
    """The message as protobuf of another make builds it from the golden case."""
    proving, _ = messages()
    r = proving.SubmitProofRequest(registered_proof=fields["registered_proof"], sector_size=2048)
    data = [read(f) for f in files]
    kind = statement(cuzk, case)[0]
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
        assert uuid.UUID(sent.request_id).version == 4, sent.request_id

        kind, fields = statement(cuzk, "porep-2k-1")
        c1 = read(vanilla_files(cuzk, "porep-2k-1")[0])
        envelope = json.dumps({"SectorNum": fields["sector_number"], "Phase1Out": base64.b64encode(c1).decode(),
                               "SectorSize": 2048}).encode()
        path = cuzk.write("envelope.json", envelope)
        r = cuzk.ok("submit", kind, path, "--connect", unix(cuzk), "--miner-id", fields["miner_id"], "--json").json()
        sent = d.of("SubmitProof")[-1]
        assert r == {"ok": True, "job_id": sent.request_id, "queue_position": 3, "partitions": 1}, r
        assert sent.vanilla_proof == envelope and sent.sector_number == fields["sector_number"]
        out = cuzk.ok("submit", kind, path, "--connect", unix(cuzk), "--miner-id", fields["miner_id"], "--quiet").out
        assert out == d.of("SubmitProof")[-1].request_id + "\n" != sent.request_id + "\n", out


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


if __name__ == "__main__":
    harness.main(globals())
