# SPDX-License-Identifier: MIT OR Apache-2.0
"""Real proofs through the real daemon, checked by `cuzk verify`, which sees neither daemon nor client.

WindowPoSt and WinningPoSt of 2KiB sectors and circom circuits; with CUZK_NIGHTLY also PoRep and SnapDeals, whose test
parameters take a minute to make."""
import base64, json, os, random, re, shutil
import daemon, harness
from daemon import COMPLETED, FAILED, NIGHTLY, Daemon, read, verify
import grpc

WINDOW, WINNING, SNAP, POREP = "window-2k-1sectors-3", "winning-2k-5", "update-2k-6", "porep-2k-1"


def test_posts(cuzk):
    """Both kinds as Curio sends them; many at once; the id with spaces and brackets; each answer is a proof of its
    own statement."""
    daemon.need_params(cuzk, "window", "winning")
    with Daemon(cuzk) as d:
        cases = [(WINDOW, "wdpost-1000-0-[1 2 3 4 5 6 7 8]"), (WINNING, "winpost-1000-0102030405060708")]
        calls = [(case, d.c.start("Prove", submit=d.golden(case, id if n == 0 else "%s %d" % (case, n))))
                 for n in range(2) for case, id in cases]
        for case, call in calls:
            r = call.result().result
            assert r.status == COMPLETED and len(r.proof) == 192, r
            assert verify(cuzk, case, r.proof), case
        for case, id in cases:  # stored
            again = d.prove(d.golden(case, id))
            assert again.status == COMPLETED and again.job_id == id and again.proof == d.c("AwaitProof", job_id=id).proof
        loaded = {s.circuit_id: s for s in d.c("GetStatus").loaded_srs}
        assert len(loaded) == 2 and all(s.size_bytes > MIN_KEY for s in loaded.values()), loaded
        for id in loaded:
            assert d.c("PreloadSRS", circuit_id=id).already_loaded
            assert d.c("EvictSRS", circuit_id=id).was_loaded
        daemon.wait_until("both to be gone", lambda: not d.c("GetStatus").loaded_srs)
        r = d.prove(d.golden(WINDOW, "loaded again"))
        assert verify(cuzk, WINDOW, r.proof)


MIN_KEY = 1000000


def test_partitions_of_a_window(cuzk):
    """One id, several partitions at once: each is proved for its own sectors (upstream-behaviour 3.6)."""
    daemon.need_params(cuzk, "window")
    case = "window-2k-3sectors-4"
    with Daemon(cuzk) as d:
        whole = d.golden(case, "deadline")
        requests = []
        for partition, sectors in ((0, whole.vanilla_proofs[:2]), (1, whole.vanilla_proofs[2:])):
            r = d.golden(case, "deadline", partition_index=partition)
            del r.vanilla_proofs[:]
            r.vanilla_proofs.extend(sectors)
            requests.append(r)
        calls = [d.c.start("Prove", submit=r) for r in requests]
        results = [c.result().result for c in calls]
        assert all(r.status == COMPLETED and len(r.proof) == 192 for r in results), results
        assert len({r.job_id for r in results}) == 2
        assert verify(cuzk, case, results[0].proof + results[1].proof)
        assert not verify(cuzk, case, results[1].proof + results[0].proof)


def test_malformed_payloads(cuzk):
    """BC-073, 074, 076, 077, 110: each is INVALID_ARGUMENT before anything is queued, and the daemon lives on."""
    daemon.need_params(cuzk, "window", "winning")
    with Daemon(cuzk) as d:
        def refused(request, text=""):
            details = d.c.fails("INVALID_ARGUMENT", text, "Prove", submit=request)
            d.c.fails("INVALID_ARGUMENT", text, "SubmitProof", request)
            assert len(details) > 10, details
        good = d.golden(WINDOW)
        for name, value, text in (("randomness", b"", "randomness"), ("randomness", bytes(31), "31"),
                                  ("registered_proof", 99, "99"), ("registered_proof", 2 ** 63, "9223372036854775808"),
                                  ("randomness", bytes(32), "challenge")):
            refused(d.golden(WINDOW, **{name: value}), text)
        for proofs in ([], [b""], [b"x"], [good.vanilla_proofs[0][:-1]], [good.vanilla_proofs[0]] * 5000,
                       [b"\xff" * 1000]):
            r = d.golden(WINDOW)
            del r.vanilla_proofs[:]
            r.vanilla_proofs.extend(proofs)
            refused(r)
        seed = random.getrandbits(32)
        print("seed", seed)
        rng = random.Random(seed)
        for case in (WINDOW, WINNING):  # one byte changed anywhere
            data = d.golden(case).vanilla_proofs[0]
            n_refused = 0
            for _ in range(40):
                r = d.golden(case, "mutant %d" % rng.getrandbits(60))
                broken = bytearray(data)
                broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
                del r.vanilla_proofs[:]
                r.vanilla_proofs.append(bytes(broken))
                try:
                    d.c("SubmitProof", r)
                except grpc.RpcError as e:
                    assert e.code() == grpc.StatusCode.INVALID_ARGUMENT, e
                    n_refused += 1
            assert n_refused >= 38, n_refused
        for case, other in ((SNAP, "comm_r_new"), (POREP, None)):
            r = d.golden(case)
            if other:
                refused(d.golden(case, **{other: bytes(40)}), "40")
                refused(d.golden(case, **{other: bytes(32)}))
                r.vanilla_proofs[0] = r.vanilla_proofs[0][:-7]
                refused(r)
            else:
                for data in (b"", b"{", b"[" * 100000, r.vanilla_proof + b"x", r.vanilla_proof[:len(r.vanilla_proof) // 2],
                             json.dumps({"SectorNum": 1, "Phase1Out": "####", "SectorSize": 2048}).encode(),
                             json.dumps({"SectorNum": 1, "Phase1Out": base64.b64encode(b"{}").decode(),
                                         "SectorSize": 2048}).encode()):
                    refused(d.golden(case, vanilla_proof=data))
        # not protobuf at all, half of it, fields of another type
        good = d.golden(WINDOW).SerializeToString()
        for data in (b"\xff" * 50, good[:len(good) // 2], b"\x0a\xff\xff\xff\xff\x0f", b"\x0b", b"\x52\x80\x80\x80\x80\x80\x80",
                     b"\x0a\x02\xc3\x28"):
            for name in ("SubmitProof", "AwaitProof", "CancelProof", "PreloadSRS", "EvictSRS"):
                try:
                    answer = d.c(name, data)
                    assert name in ("AwaitProof", "CancelProof", "EvictSRS", "PreloadSRS"), answer
                except grpc.RpcError as e:
                    assert e.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND), (name, data, e)
            d.c.fails("INVALID_ARGUMENT", "", "Prove", b"\x0a" + bytes([len(data) % 128]) + data[:100])
        r = d.prove(d.golden(WINDOW, "after all that"))
        assert r.status == COMPLETED and verify(cuzk, WINDOW, r.proof)


def test_missing_parameters(cuzk):
    """The job fails and says which file; with the file there it is proved."""
    daemon.need_params(cuzk, "window")
    with Daemon(cuzk, config={"srs.param_cache": cuzk.scratch + "/empty", "srs.circuit_cache": ""}) as d:
        text = None
        try:
            r = d.prove(d.golden(WINDOW, "x"))
            assert r.status == FAILED and r.proof == b"", r
            text = r.error_message
        except grpc.RpcError as e:
            assert e.code() == grpc.StatusCode.FAILED_PRECONDITION, e
            text = e.details()
        assert ".params" in text and "No such file" in text, text
        assert d.unfinished() == 0
        # BC-092: what an interrupted start leaves is no file either
        os.makedirs(cuzk.scratch + "/empty")
        path = re.search(r'"([^"]+\.params)"', text).group(1)
        for make, reason in ((lambda: cuzk.write(path, b""), "empty"), (lambda: os.mkdir(path), "it is a directory"),
                             (lambda: os.symlink("nowhere", path), "No such file")):
            make()
            details = d.c.fails("FAILED_PRECONDITION", reason, "PreloadSRS", circuit_id="wpost-2k")
            assert path in details, details
            os.rmdir(path) if os.path.isdir(path) else os.unlink(path)


def test_test_keys_are_refused(cuzk):
    """Without an explicit word in the configuration no proof is made with a key that nobody trusts."""
    daemon.need_params(cuzk, "window")
    with Daemon(cuzk, config={"srs.allow_test_keys": False}) as d:
        try:
            r = d.prove(d.golden(WINDOW, "x"))
            assert r.status == FAILED and r.proof == b"" and "No such file" in r.error_message, r
        except grpc.RpcError as e:
            assert "No such file" in e.details(), e


def test_circom(cuzk):
    """Register, list, prove; a wrong witness; names and paths that are not allowed; over a restart."""
    d = Daemon(cuzk)
    for name in ("multiplier2", "poseidon2"):
        shutil.copy(cuzk.circom("bn254", name, "circuit.zkey"), d.folder + "/circom/%s.zkey" % name)
    shutil.copy(d.folder + "/circom/poseidon2.zkey", cuzk.path("outside.zkey"))
    with d:
        r = d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/multiplier2.zkey")
        assert r.circuit.name == "mul" and r.circuit.curve == "bn128" and not r.already_registered, r
        assert d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/multiplier2.zkey").already_registered
        d.c.fails("ALREADY_EXISTS", "mul", "RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/poseidon2.zkey")
        d.c("RegisterCircuit", name="pos", zkey_path=d.folder + "/circom/poseidon2.zkey")
        for name, path in (("x/y", "multiplier2.zkey"), ("", "multiplier2.zkey"), ("a" * 101, "multiplier2.zkey"),
                           ("a b", "multiplier2.zkey")):
            d.c.fails("INVALID_ARGUMENT", "", "RegisterCircuit", name=name, zkey_path=d.folder + "/circom/" + path)
        for path in (cuzk.path("outside.zkey"), d.folder + "/circom/../../outside.zkey", "/etc/passwd", ""):
            try:
                d.c("RegisterCircuit", name="out", zkey_path=path)
                raise AssertionError(path)
            except grpc.RpcError as e:
                assert e.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED,
                                    grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION), e
        shutil.copy(cuzk.circom("bn254", "multiplier2", "witness.wtns"), d.folder + "/circom/no.zkey")
        d.c.fails("FAILED_PRECONDITION", "no.zkey", "RegisterCircuit", name="no", zkey_path=d.folder + "/circom/no.zkey")
        assert sorted(c.name for c in d.c("ListCircuits").circuits) == ["mul", "pos"]
        calls = [(n, d.c.start("ProveWitness", circuit=n, witness=read(cuzk.circom("bn254", name, "witness.wtns")),
                               request_id="%s %d" % (n, i)))
                 for i in range(5) for n, name in (("mul", "multiplier2"), ("pos", "poseidon2"))]
        for (n, call) in calls:
            check_circom(cuzk, {"mul": "multiplier2", "pos": "poseidon2"}[n], call.result())
        witness = read(cuzk.circom("bn254", "multiplier2", "witness.wtns"))
        for data in (b"", b"wtns", witness[:-1], read(cuzk.circom("bn254", "poseidon2", "witness.wtns"))):
            d.c.fails("INVALID_ARGUMENT", "", "ProveWitness", circuit="mul", witness=data)
        d.c.fails("NOT_FOUND", "nothing", "ProveWitness", circuit="nothing", witness=witness)
        # a witness that does not satisfy the circuit is its sender's fault, not the device's
        values = harness.wtns_values(witness)
        bad = harness.make_wtns(harness.R["bn254"], [values[0], (values[1] + 1) % harness.R["bn254"]] + values[2:])
        for i in range(3):
            r = d.c("ProveWitness", circuit="mul", witness=bad, request_id="bad %d" % i)
            assert r.status == FAILED and r.proof_json == "" and r.error_message != "", r
        check_circom(cuzk, "multiplier2", d.c("ProveWitness", circuit="mul", witness=witness, request_id="good"))
        d.stop()
        d.start()
        assert sorted(c.name for c in d.c("ListCircuits").circuits) == ["mul", "pos"]
        check_circom(cuzk, "multiplier2", d.c("ProveWitness", circuit="mul", witness=witness, request_id="good"))
        # a file that was damaged meanwhile is the operator's, not an argument
        os.truncate(d.folder + "/circom/poseidon2.zkey", 5000)
        d.c.fails("FAILED_PRECONDITION", "register it anew", "PreloadSRS", circuit_id="circom:pos")


def check_circom(cuzk, name, r):
    assert r.status == COMPLETED, r
    cuzk.ok("verify", cuzk.circom("bn254", name, "verification_key.json"), cuzk.write("public.json", r.public_json),
            cuzk.write("proof.json", r.proof_json), "--allow-test-key")


def test_all_filecoin_kinds(cuzk):
    if not NIGHTLY:
        raise harness.Skip("PoRep and SnapDeals take a minute: CUZK_NIGHTLY=1")
    daemon.need_params(cuzk, "window", "winning", "snap", "porep")
    with Daemon(cuzk) as d:
        calls = [(case, d.c.start("Prove", submit=d.golden(case, case), timeout=600))
                 for case in (POREP, SNAP, WINDOW, WINNING, "porep-2k-v1-21", "porep-2k-synth-20")]
        for case, call in calls:
            r = call.result().result
            assert r.status == COMPLETED and len(r.proof) % 192 == 0 and verify(cuzk, case, r.proof), (case, r)
        # Go's dialect of the same output is another payload, and its proof is as good
        import hashlib
        request = d.golden(POREP, POREP)
        request.vanilla_proof = read(cuzk.fixture("cases/%s/c1-go.json" % POREP))
        if b"Phase1Out" not in request.vanilla_proof[:400]:
            e = json.loads(read(cuzk.fixture("cases/%s/expected.json" % POREP)))
            request.vanilla_proof = json.dumps({"SectorNum": e["sector"], "SectorSize": 2048, "Phase1Out":
                                                base64.b64encode(request.vanilla_proof).decode()}).encode()
        r = d.prove(request, timeout=600)
        assert r.status == COMPLETED and verify(cuzk, POREP, r.proof), r
        # the self-check of the sector and miner (upstream-behaviour 17)
        for name, value in (("miner_id", 7), ("sector_number", 7)):
            try:
                r = d.prove(d.golden(POREP, "wrong " + name, **{name: value}), timeout=600)
                assert r.status == FAILED and r.proof == b"", r
            except grpc.RpcError as e:
                assert e.code() == grpc.StatusCode.INVALID_ARGUMENT, e


if __name__ == "__main__":
    harness.main(globals())
