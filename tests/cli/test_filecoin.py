# SPDX-License-Identifier: MIT OR Apache-2.0
"""Filecoin's proofs on the command line: golden proofs against chain-side data; vanilla proofs to proofs."""
import base64, json, os
import harness
from harness import read

WARNING = "is a test key: its proofs prove nothing"


def expected(cuzk, case):
    return json.loads(read(cuzk.fixture("cases/%s/expected.json" % case)))


def miner(e):
    value = 0
    for i, b in enumerate(bytes.fromhex(e["prover_id"])):
        value |= (b & 127) << 7 * i
        if b < 128:
            return value


def statement(cuzk, case):
    """The kind as the command line calls it, and the fields of a request."""
    e = expected(cuzk, case)
    if e["kind"] == "porep":
        fields = {"registered_proof": e["registered_seal_proof"], "miner_id": miner(e), "sector_number": e["sector"]}
        names = ("ticket", "seed", "comm_d", "comm_r")
    elif e["kind"] == "update":
        fields, names = {"registered_proof": e["registered_update_proof"]}, ("comm_r_old", "comm_r_new", "comm_d_new")
    else:
        fields, names = {"registered_proof": e["registered_post_proof"]}, ("randomness",)
        fields["sectors"] = [{"sector_number": n, "comm_r": r} for n, r in zip(e["sectors"], e["comm_r"])]
    fields.update({n: e[n] for n in names})
    return {"update": "snap"}.get(e["kind"], e["kind"]), fields


def options(fields):
    out = []
    for name, value in fields.items():
        out += ["--" + name.replace("_", "-"), value]
    return out


VK = {"porep": "porep-2k-1/porep-2k.vk", "snap": "update-2k-6/update-2k.vk",
      "window": "window-2k-1sectors-3/window-2k.vk", "winning": "winning-2k-5/winning-2k.vk"}
CASES = ["porep-2k-1", "porep-2k-synth-20", "porep-2k-v1-21", "update-2k-6", "window-2k-3sectors-4", "winning-2k-5"]


def vk(cuzk, kind):
    return ["--vk", cuzk.fixture("cases/" + VK[kind]), "--allow-test-key"]


def proof(cuzk, case):
    return cuzk.fixture("cases/%s/proof.bin" % case)


def test_golden_proofs(cuzk):
    for case in CASES:
        kind, fields = statement(cuzk, case)
        path = cuzk.write_json("request.json", fields)
        r = cuzk.ok("verify", kind, proof(cuzk, case), "--request", path, *vk(cuzk, kind))
        n = len(read(proof(cuzk, case))) // 192
        assert r.out == "valid (%d partition%s)\n" % (n, "" if n == 1 else "s") and WARNING in r.err, r
        j = cuzk.ok("verify", kind, proof(cuzk, case), "--request", path, "--json", "-q", *vk(cuzk, kind))
        assert j.json() == {"ok": True, "valid": True, "partitions": n} and j.err == "", j
        if "sectors" not in fields:
            cuzk.ok("verify", kind, *options(fields), proof(cuzk, case), *vk(cuzk, kind))


def test_one_sector_by_options(cuzk):
    for case in ("winning-2k-5", "window-2k-1sectors-3"):
        kind, fields = statement(cuzk, case)
        fields.update(fields.pop("sectors")[0])
        cuzk.ok("verify", kind, proof(cuzk, case), *options(fields), *vk(cuzk, kind))
        # half from a file, half from options, but nothing twice
        path = cuzk.write_json("part.json", {"randomness": fields.pop("randomness"), "sector_size": 2048})
        cuzk.ok("verify", kind, proof(cuzk, case), "--request", path, *options(fields), *vk(cuzk, kind))
        cuzk.fails(2, "sector_size is given twice", "verify", kind, proof(cuzk, case), "--request", path,
                   "--sector-size", "2KiB", *options(fields), *vk(cuzk, kind))


def test_forms_of_a_proof(cuzk):
    kind, fields = statement(cuzk, "porep-2k-1")
    raw = read(proof(cuzk, "porep-2k-1"))
    for text in (raw.hex(), base64.b64encode(raw).decode() + "\n",
                 json.dumps({"proof": base64.b64encode(raw).decode(), "other": 1})):
        cuzk.ok("verify", kind, cuzk.write("proof.txt", text), *options(fields), *vk(cuzk, kind))
    cuzk.fails(1, 'proof.txt": reading the proof: offset 5: byte 0x21 is neither', "verify", kind,
               cuzk.write("proof.txt", "hello!!!"), *options(fields), *vk(cuzk, kind))


def test_refused(cuzk):
    kind, fields = statement(cuzk, "porep-2k-1")
    path = proof(cuzk, "porep-2k-1")
    wrong = dict(fields, sector_number=fields["sector_number"] + 1)
    r = cuzk.fails(1, ['proof.bin": invalid: partition 0 of 1: the proof does not verify'], "verify", kind, path,
                   *options(wrong), *vk(cuzk, kind))
    j = cuzk("verify", kind, path, "--json", *options(wrong), *vk(cuzk, kind)).json()
    assert j["ok"] is False and j["valid"] is False and j["first_invalid"] == 0 and "does not" in j["reason"], r
    for name, value in (("registered-proof", "-1"), ("registered-proof", "20"), ("seed", "00"), ("sector-size", "3KiB")):
        rest = {n: v for n, v in fields.items() if n != name.replace("-", "_")}
        cuzk.fails(2, value, "verify", kind, path, "--" + name, value, *options(rest), *vk(cuzk, kind))
    cuzk.fails(1, ["/dev/null", "it is not a file"], "verify", kind, "/dev/null", *options(fields), *vk(cuzk, kind))
    cuzk.fails(1, "trusted setup", "verify", kind, path, *options(fields), *vk(cuzk, kind)[:2])
    cuzk.fails(1, '"not-there.vk": No such file', "verify", kind, path, *options(fields), "--vk", "not-there.vk")
    del wrong["ticket"]
    cuzk.fails(2, "PoRep: the field ticket is missing", "verify", kind, path, *options(wrong), *vk(cuzk, kind))
    cuzk.fails(2, ['x.json": line 1, column 2: a PoRep has no field "sectors"'], "verify", kind, path, "--request",
               cuzk.write_json("x.json", {"sectors": []}))
    cuzk.fails(1, 'two.bin": the proof has 384 bytes, expected 192: 1 partition of 192', "verify", kind,
               cuzk.write("two.bin", read(path) * 2), *options(fields), *vk(cuzk, kind))


def test_key_from_the_parameter_folder(cuzk):
    """Without --vk the key lies where Filecoin's programs keep theirs."""
    kind, fields = statement(cuzk, "winning-2k-5")
    path = cuzk.write_json("request.json", fields)
    command = ["verify", kind, proof(cuzk, "winning-2k-5"), "--request", path, "--allow-test-key"]
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.scratch}
    name = ("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
            "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e.vk")
    cuzk.fails(1, [cuzk.scratch + "/" + name, "No such file"], *command, env=env)
    cuzk.write(name, read(cuzk.fixture("cases/" + VK[kind])))
    cuzk.ok(*command, env=env)


def test_prove_window(cuzk):
    """From test parameters to a proof that verifies, in every form; several files, or one array."""
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("params/2k")}
    r = cuzk.ok("params", "setup", "window", "2KiB", env=env)
    assert r.out.startswith("made test parameters for window 2KiB in ") and "no chain accepts" in r.err, r
    names = sorted(os.listdir(cuzk.path("params/2k")))
    assert [n.split(".", 1)[1] for n in names] == ["test.params", "test.vk"], names
    assert "there already" in cuzk.ok("params", "setup", "window", "2k", env=env).out
    assert cuzk.ok("params", "setup", "window", "2k", "--json", env=env).json()["made"] is False
    case = "window-2k-3sectors-4"
    files = [cuzk.fixture("cases/%s/vanilla-%d.bincode" % (case, i)) for i in range(3)]
    _, fields = statement(cuzk, case)
    request = cuzk.write_json("request.json", fields)
    fields.pop("sectors")
    cuzk.fails(1, ["0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.params", "No such file"],
               "prove", "window", *files, *options(fields), env=env)
    more = ["--allow-test-key"]
    r = cuzk.ok("prove", "window", *files, *options(fields), *more, env=env)
    assert r.out.startswith("proved 2 partitions of 21,866 constraints (domain 2^15) in ") and WARNING in r.err, r
    assert len(read(cuzk.path("proof.bin"))) == 384
    cuzk.ok("verify", "window", "proof.bin", "--request", request, *more, env=env)
    array = cuzk.write_json("all.json", [base64.b64encode(read(f)).decode() for f in files])
    for form, name in (("base64", "proof.txt"), ("json", "proof.json")):
        j = cuzk.ok("prove", "window", array, "--request", request, "--format", form, "--json", *more, env=env).json()
        assert j["proof"] == name and j["partitions"] == 2 and j["test_key"] is True and "witness" in j["stages"], j
        cuzk.ok("verify", "window", name, "--request", request, *more, env=env)
    before = read(cuzk.path("proof.bin"))
    cuzk.fails(1, "partition 0: sector 697709 (place 0): the sector's number is 697709, expected 271895", "prove",
               "window", *files[::-1], "--request", request, *more, env=env)
    wrong = dict(fields, randomness="00" * 32)
    cuzk.fails(1, ["partition 0: sector 271895", "challenge 0"], "prove", "window", *files, *options(wrong), *more,
               env=env)
    assert read(cuzk.path("proof.bin")) == before
    cuzk.fails(2, '--format: "xml" is not raw', "prove", "window", array, "--format", "xml", env=env)
    cuzk.fails(2, "written to, and also", "prove", "window", array, "--out", array, env=env)
    cuzk.fails(1, '"none": No such file', "prove", "window", array, "none", *options(fields), env=env)
    if not harness.EMULATOR:
        r = harness.run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", cuzk.program, "prove", "window", array, "--circuits", ".",
                         "--out", "o.bin"] + options(fields) + more, cwd=cuzk.scratch, env=env)
        assert r.code == 1 and r.err.endswith('.shape": File too large\n') and "o.bin" not in cuzk.names(), r
    # told before the parameters are looked for
    cuzk.fails(1, 'writing "none/p.bin": No such file', "prove", "window", array, *options(fields), "--out", "none/p.bin")
    text = cuzk.write("text", "[\"####\"]")
    cuzk.fails(1, ['text": ', "element 0"], "prove", "window", text, *options(fields), env=env)


def test_params_setup_refuses(cuzk):
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("params")}
    cuzk.fails(2, '"wpost" is not porep, snap, window or winning', "params", "setup", "wpost", "2KiB", env=env)
    cuzk.fails(2, '"33GiB" is not a sector size', "params", "setup", "window", "33GiB", env=env)
    cuzk.fails(1, "no Window PoSt for sectors of 1KiB", "params", "setup", "window", "1KiB", env=env)
    cuzk.fails(1, '"gamma" is missing', "params", "setup", "window", "2KiB", "--test-trapdoor",
               cuzk.write_json("t.json", {n: "5" for n in ("tau", "alpha", "beta", "delta")}), env=env)
    assert not os.path.exists(cuzk.path("params")) or os.listdir(cuzk.path("params")) == []


def test_porep_without_parameters(cuzk):
    """What a PoRep needs is in its commit-phase-1 output; it is checked before parameters are looked for."""
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.scratch}
    _, fields = statement(cuzk, "porep-2k-1")
    c1 = cuzk.fixture("cases/porep-2k-1/c1.json")
    missing = ["v28-stacked-proof-of-replication-", ".params", "No such file"]
    cuzk.fails(1, missing, "prove", "porep", c1, env=env)
    cuzk.fails(1, missing, "prove", "porep", c1, *options(fields), env=env)
    envelope = cuzk.write_json("envelope.json", {"SectorNum": fields["sector_number"], "SectorSize": 2048,
                                                 "Phase1Out": base64.b64encode(read(c1)).decode()})
    miner_id = ["--miner-id", "t0%d" % fields["miner_id"]]
    cuzk.fails(1, missing, "prove", "porep", envelope, *miner_id, env=env)
    cuzk.fails(1, "SectorNum of the envelope is 568145, sector_number is 568146", "prove", "porep", envelope,
               "--sector-number", "568146", env=env)
    cuzk.fails(1, "replica_id of the vanilla proof is a68ffbce38", "prove", "porep", envelope, "--miner-id", "1000", env=env)
    broken = json.loads(read(c1))
    broken["comm_r"][0] ^= 1
    cuzk.fails(1, "comm_r", "prove", "porep", cuzk.write_json("broken.json", broken), env=env)
    cut = cuzk.write("cut.json", read(c1)[:5000])
    cuzk.fails(1, ['cut.json": commit-phase-1 output: ', "offset 5000"], "prove", "porep", cut, env=env)


def test_sectors_that_never_existed(cuzk):
    """gen-vanilla's files are what prove takes: at 32GiB up to the parameters, at 2KiB to the proof."""
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.scratch}
    for kind, circuit in (("porep", "porep-32g"), ("snap", "snap-32g"), ("window", "wpost-32g"), ("winning", "winning-32g")):
        cuzk.ok("gen-vanilla", kind, "v.json", "--sector-size", "32GiB", "--request", "r.json")
        cuzk.fails(1, ["No such file", '"cuzk params fetch %s" fetches it' % circuit], "prove", kind, "v.json",
                   "--request", "r.json", env=env)
        request = json.loads(read(cuzk.path("r.json")))
        field, text = {"porep": ("comm_d", "comm_d of the vanilla proof is"), "snap": ("comm_r_new", "comm_r_new is 00000000"),
                       }.get(kind, ("randomness", "challenge 0: the leaf's index is"))
        request[field] = "00" * 32
        cuzk.fails(1, text, "prove", kind, "v.json", "--request",
                   cuzk.write_json("wrong.json", request), env=env)
    cuzk.ok("gen-vanilla", "window", "v.json", "--sector-size", "2KiB", "--sectors", "2", "--request", "r.json")
    cuzk.ok("params", "setup", "window", "2KiB", env=env)
    cuzk.ok("prove", "window", "v.json", "--request", "r.json", "--allow-test-key", env=env)
    cuzk.ok("verify", "window", "proof.bin", "--request", "r.json", "--allow-test-key", env=env)


def test_two_words(cuzk):
    cuzk.fails(2, "too few arguments, expected: cuzk verify porep PROOF", "verify", "porep")
    cuzk.fails(2, 'cuzk verify porep: "--randomness": unknown option', "verify", "porep", "--randomness", "00")
    assert cuzk.ok("help", "verify", "porep").out == cuzk.ok("verify", "porep", "--help").out
    cuzk.fails(2, '"verify porap": unknown command; did you mean "verify porep"?', "help", "verify", "porap")
    # a file of that name is still a file
    vkey, public = (cuzk.circom("bn254", "multiplier2", n) for n in ("verification_key.json", "public.json"))
    cuzk.write("porep", read(vkey))
    cuzk.ok("verify", "./porep", public, cuzk.circom("bn254", "multiplier2", "proof.json"))


if __name__ == "__main__":
    harness.main(globals())
