# SPDX-License-Identifier: MIT OR Apache-2.0
"""Key generation: fresh and from a test trapdoor, both kinds of key, marks and refusals."""
import hashlib, json, os
import harness
from harness import R, read

GROTH = ["product", "cube", "dense", "sparse", "noaux", "inputs300", "poseidon8", "above1024", "exact1024"]


def toxic(name):
    digest = bytearray(hashlib.sha256(b"cuzk test setup/" + name.encode()).digest())
    digest[0] &= 0x3f
    return int.from_bytes(digest, "big") % R["bls12381"]


def trapdoor(cuzk):
    names = ("tau", "alpha", "beta", "gamma", "delta")
    return cuzk.write_json("trapdoor.json", {n: str(toxic(n)) for n in names})


def test_fresh_key(cuzk):
    for curve, circuit in (("bn254", "poseidon2"), ("bn254", "range64"), ("bls12381", "poseidon2")):
        r1cs, wtns = (cuzk.circom(curve, circuit, n) for n in ("circuit.r1cs", "witness.wtns"))
        r = cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json")
        assert r.out.startswith("wrote k.zkey vk.json in ") and "could have kept the secret" in r.err, r
        cuzk.prove_and_verify("k.zkey", wtns, "vk.json")
        cuzk.ok("check", "k.zkey")
        first = read(cuzk.path("k.zkey"))
        cuzk.ok("setup", r1cs, "k.zkey", "--quiet")
        assert read(cuzk.path("k.zkey")) != first
        assert len(first) > 1000 and os.path.getsize(cuzk.path("k.zkey")) == len(first)


def test_json_summary(cuzk):
    r1cs = cuzk.circom("bls12381", "multiplier2", "circuit.r1cs")
    j = cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json", "--params", "k.params", "--json").json()
    assert j["ok"] is True and j["test_key"] is False and j["seconds"] > 0 and j["peak_memory_bytes"] > 1 << 20, j
    assert (j["zkey"], j["vkey"], j["params"]) == ("k.zkey", "vk.json", "k.params") and "vk" not in j, j
    t = cuzk.circom("bls12381", "multiplier2", "trapdoor.json")
    j = cuzk.ok("setup", r1cs, "k.test.zkey", "--test-trapdoor", t, "--json").json()
    assert j["test_key"] is True, j
    cuzk.fails(1, "No such file", "setup", r1cs, "k.test.zkey", "--test-trapdoor", "none")


def test_same_bytes_as_snarkjs(cuzk):
    """With the known trapdoor of a fixture every section but the contributions is the same."""
    for curve, circuit in (("bn254", "multiplier2"), ("bn254", "multiplier1000"), ("bls12381", "multiplier1000"),
                           ("bls12381", "poseidon2")):
        r1cs, t, zkey = (cuzk.circom(curve, circuit, n) for n in ("circuit.r1cs", "trapdoor.json", "circuit.zkey"))
        cuzk.ok("setup", r1cs, "k.test.zkey", "--test-trapdoor", t)
        ours, theirs = (harness.Sections(read(p)) for p in (cuzk.path("k.test.zkey"), zkey))
        for section in (1, 2, 3, 5, 6, 7, 8, 9):
            assert ours.get(section) == theirs.get(section), (curve, circuit, section)
        records = lambda s: sorted(s.get(4)[4 + i:48 + i] for i in range(0, len(s.get(4)) - 4, 44))
        assert records(ours) == records(theirs), (curve, circuit)


def test_same_bytes_as_bellperson(cuzk):
    t = trapdoor(cuzk)
    for name in GROTH:
        r1cs = cuzk.fixture("groth/%s/circuit.r1cs" % name)
        cuzk.ok("setup", r1cs, "--params", "k.test.params", "--vk", "k.test.vk", "--test-trapdoor", t)
        expected = json.loads(read(cuzk.fixture("groth/%s/expected.json" % name)))["params"]
        params, vk = read(cuzk.path("k.test.params")), read(cuzk.path("k.test.vk"))
        n, k = expected["params_bytes"], expected["vk_bytes"]
        assert hashlib.sha256(params[:n]).hexdigest() == expected["params_sha256"], name
        assert hashlib.sha256(vk[:k]).hexdigest() == expected["vk_sha256"], name
        assert params[n:] == vk[k:] and b"test key" in params[n:], name


def test_test_keys_are_marked_and_refused(cuzk):
    t = trapdoor(cuzk)
    r1cs, wtns = (cuzk.fixture("groth/cube/" + n) for n in ("circuit.r1cs", "witness.wtns"))
    for args in (["k.zkey"], ["--params", "k.params"], ["--vk", "test.vk"], ["k.test.zkey", "--vkey", "vk.json"]):
        cuzk.fails(2, ".test.", "setup", r1cs, *args, "--test-trapdoor", t)
    assert cuzk.names() == ["trapdoor.json"]
    r = cuzk.ok("setup", r1cs, "k.test.zkey", "--params", "k.test.params", "--vk", "k.test.vk", "--test-trapdoor", t)
    assert "its proofs prove nothing" in r.err, r
    allow = "--allow-test-key"
    # renaming does not unmark
    for kind in ("zkey", "params", "vk"):
        os.rename(cuzk.path("k.test." + kind), cuzk.path("real." + kind))
    cuzk.fails(1, "test key", "prove", "real.zkey", wtns)
    cuzk.fails(1, "test key", "prove", "real.params", wtns, "--r1cs", r1cs)
    cuzk.fails(1, "test key", "verify", "real.vk", "x", "x")
    cuzk.fails(1, "test key", "bench", "real.zkey", wtns)
    cuzk.fails(1, "test key", "export", "vk", "real.zkey")
    assert "test key" in cuzk.ok("inspect", "real.zkey").out
    assert "test key" in cuzk.ok("inspect", "real.params").out
    cuzk.ok("prove", "real.zkey", wtns, "p.json", "pub.json", allow)
    cuzk.ok("verify", "real.zkey", "pub.json", "p.json", allow)
    cuzk.ok("prove", "real.params", wtns, "p.bin", "pub.json", "--r1cs", r1cs, allow)
    cuzk.ok("verify", "real.vk", "pub.json", "p.bin", allow)


def test_bad_trapdoors(cuzk):
    r1cs = cuzk.fixture("groth/cube/circuit.r1cs")
    good = {n: str(toxic(n)) for n in ("tau", "alpha", "beta", "gamma", "delta")}
    for change, text in ((dict(tau="0"), "tau"), (dict(delta="0"), ""), (dict(alpha=str(R["bls12381"])), "alpha"),
                         (dict(tau="x"), "tau"), (dict(tau="1"), "")):
        cuzk.fails(cuzk("setup", r1cs, "k.test.zkey", "--test-trapdoor",
                        cuzk.write_json("t.json", dict(good, **change))).code, text, "setup", r1cs, "k.test.zkey",
                   "--test-trapdoor", "t.json")
    del good["beta"]
    cuzk.fails(1, '"beta" is missing', "setup", r1cs, "k.test.zkey", "--test-trapdoor", cuzk.write_json("t.json", good))
    cuzk.fails(1, "", "setup", r1cs, "k.test.zkey", "--test-trapdoor", cuzk.write("t.json", "[1"))
    assert cuzk.names() == ["t.json"]


def test_params_are_for_one_curve(cuzk):
    r1cs = cuzk.circom("bn254", "multiplier2", "circuit.r1cs")
    cuzk.fails(1, ["bls12381", "bn128"], "setup", r1cs, "k.zkey", "--params", "k.params")
    assert cuzk.names() == []


def test_unused_variable_in_params(cuzk):
    p = R["bls12381"]
    r1cs = cuzk.write("c.r1cs", harness.make_r1cs(p, 5, 1, 0, [({2: 1}, {3: 1}, {1: 1})]))
    cuzk.fails(cuzk("setup", r1cs, "--params", "k.params").code, "", "setup", r1cs, "--params", "k.params")
    cuzk.ok("setup", r1cs, "k.zkey")
    assert cuzk.names() == ["c.r1cs", "k.zkey"]


def test_all_or_none(cuzk):
    """One output that cannot be written: no output."""
    r1cs = cuzk.fixture("groth/cube/circuit.r1cs")
    cuzk.fails(1, "none/k.vk", "setup", r1cs, "k.zkey", "--params", "k.params", "--vk", "none/k.vk")
    assert cuzk.names() == []


def test_empty_and_tiny_circuits(cuzk):
    """One constraint, no constraint at all, no private wire."""
    for curve, p in R.items():
        tiny = harness.make_r1cs(p, 2, 1, 0, [({1: 1}, {0: 1}, {1: 1})])
        cuzk.ok("setup", cuzk.write("c.r1cs", tiny), "k.zkey", "--vkey", "vk.json")
        cuzk.prove_and_verify("k.zkey", cuzk.write("w.wtns", harness.make_wtns(p, [1, 17])), "vk.json")
        none = harness.make_r1cs(p, 2, 1, 0, [])
        r = cuzk("setup", cuzk.write("c.r1cs", none), "k.zkey", "--vkey", "vk.json")
        assert r.code in (0, 1), r
        if r.code == 0:
            cuzk.prove_and_verify("k.zkey", "w.wtns", "vk.json")


if __name__ == "__main__":
    harness.main(globals())
