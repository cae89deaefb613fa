# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verifying and exporting: foreign proofs, JSON variants, batches, call data."""
import json, os
import harness
from harness import R, read
from test_prove import CIRCUITS

Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583


def files(cuzk, curve="bn254", circuit="multiplier1000"):
    return [cuzk.circom(curve, circuit, n) for n in ("verification_key.json", "public.json", "proof.json")]


def test_snarkjs_proofs_verify(cuzk):
    for curve, circuits in CIRCUITS.items():
        for circuit in circuits:
            vkey, public, proof = files(cuzk, curve, circuit)
            r = cuzk.ok("verify", vkey, public, proof)
            assert r.out == "valid\n" and r.err == "", r
            cuzk.ok("verify", cuzk.circom(curve, circuit, "circuit.zkey"), public, proof)
    assert cuzk.ok("verify", vkey, public, proof, "--quiet").out == ""
    assert cuzk.ok("verify", vkey, public, proof, "--json").json() == {"ok": True, "valid": True, "proofs": 1}


def test_invalid_proofs(cuzk):
    vkey, public, proof = files(cuzk)
    p = json.loads(read(proof))
    # two points exchanged: on the curve, in the group, wrong
    swapped = dict(p, pi_a=p["pi_c"], pi_c=p["pi_a"])
    r = cuzk.fails(1, ['swapped.json": invalid: '], "verify", vkey, public, cuzk.write_json("swapped.json", swapped))
    off = dict(p, pi_a=[str(int(p["pi_a"][0]) + 1)] + p["pi_a"][1:])
    cuzk.fails(1, ["invalid", "not on the curve"], "verify", vkey, public, cuzk.write_json("off.json", off))
    large = dict(p, pi_a=[str(int(p["pi_a"][0]) + Q)] + p["pi_a"][1:])
    cuzk.fails(1, "invalid", "verify", vkey, public, cuzk.write_json("large.json", large))
    values = json.loads(read(public))
    values[0] = str((int(values[0]) + 1) % R["bn254"])
    j = cuzk("verify", vkey, cuzk.write_json("pub.json", values), proof, "--json")
    assert j.code == 1 and j.json()["valid"] is False and j.json()["first_invalid"] == 0, j


def test_aliased_public_values(cuzk):
    """BC-031."""
    for curve in R:
        vkey, public, proof = files(cuzk, curve)
        values = json.loads(read(public))
        for i in range(len(values)):
            changed = list(values)
            changed[i] = str(int(values[i]) + R[curve])
            cuzk.fails(1, "public signal %d is not below the field order" % i, "verify", vkey,
                       cuzk.write_json("pub.json", changed), proof)


def test_number_of_public_values(cuzk):
    vkey, public, proof = files(cuzk)
    values = json.loads(read(public))
    for changed in (values[:-1], values + ["0"], []):
        cuzk.fails(1, "", "verify", vkey, cuzk.write_json("pub.json", changed), proof)


def test_missing_and_old_names(cuzk):
    """BC-027, BC-029."""
    vkey, public, proof = files(cuzk)
    p, k = json.loads(read(proof)), json.loads(read(vkey))
    without = lambda d, *names: {n: v for n, v in d.items() if n not in names}
    for changed in (without(p, "curve"), without(p, "protocol"), without(p, "curve", "protocol"),
                    dict(p, protocol="groth")):
        r = cuzk.ok("verify", vkey, public, cuzk.write_json("p.json", changed))
        assert "cuzk verify: note: proof: " in r.err, r
    r = cuzk.ok("verify", vkey, public, cuzk.write_json("p.json", without(p, "curve")))
    assert 'note: proof: "curve" is missing, taken as bn128' in r.err, r
    r = cuzk.ok("verify", cuzk.write_json("vk.json", without(k, "curve")), public, proof)
    assert 'note: verifying key: "curve" is missing, taken as bn128' in r.err, r
    assert '"curve" is missing, taken as bn128' in cuzk.ok("inspect", "vk.json").out
    for curve in ("bls12-381", "bls12381", "secp256k1"):
        cuzk.fails(1, "", "verify", vkey, public, cuzk.write_json("p.json", dict(p, curve=curve)))
    cuzk.fails(1, "plonk", "verify", vkey, public, cuzk.write_json("p.json", dict(p, protocol="plonk")))
    old = {n.replace("alpha", "alfa"): v for n, v in k.items()}
    assert "vk_alfa_1" in old
    cuzk.ok("verify", cuzk.write_json("vk.json", old), public, proof)
    r = cuzk.fails(1, "vk_beta_2", "verify", cuzk.write_json("vk.json", without(k, "vk_beta_2")), public, proof)


def test_curve_names(cuzk):
    """BC-028."""
    vkey, public, proof = files(cuzk)
    k = json.loads(read(vkey))
    for name in ("bn254", "BN254", "alt_bn128", "bn128"):
        cuzk.ok("verify", cuzk.write_json("vk.json", dict(k, curve=name)), public, proof)
    cuzk.fails(1, "", "verify", cuzk.write_json("vk.json", dict(k, curve="bls12381")), public, proof)


def test_swapped_files(cuzk):
    vkey, public, proof = files(cuzk)
    cuzk.fails(1, ["list of public values", "expected a proof.json"], "verify", vkey, proof, public)
    cuzk.fails(1, "expected a verification_key.json", "verify", proof, public, vkey)
    other = files(cuzk, "bls12381")
    cuzk.fails(1, "bls12381", "verify", vkey, public, other[2])
    for i in range(3):
        for wrong in ("", "{", "[1,2", "null", "[[[[", '{"a":' * 100, "\0\0\0\0"):
            args = [vkey, public, proof]
            args[i] = cuzk.write("x.json", wrong)
            cuzk.fails(1, "", "verify", *args)


def test_batch(cuzk):
    zkey = cuzk.circom("bn254", "poseidon2", "circuit.zkey")
    wtns = cuzk.circom("bn254", "poseidon2", "witness.wtns")
    vkey, public, proof = files(cuzk, "bn254", "poseidon2")
    pairs = []
    for i in range(5):
        cuzk.ok("prove", zkey, wtns, "p%d.json" % i, "pub%d.json" % i)
        pairs += ["pub%d.json" % i, "p%d.json" % i]
    r = cuzk.ok("verify", vkey, *pairs, public, proof)
    assert r.out == "valid (6 proofs)\n", r
    p = json.loads(read(cuzk.path("p3.json")))
    cuzk.write_json("p3.json", dict(p, pi_a=p["pi_c"], pi_c=p["pi_a"]))
    cuzk.fails(1, '"p3.json": invalid: ', "verify", vkey, *pairs)


def test_bellperson_files(cuzk):
    """192-byte proofs under a .vk, and refusals that belong to that form."""
    vk = cuzk.fixture("groth/cube/circuit.vk")
    expected = json.loads(read(cuzk.fixture("groth/cube/expected.json")))
    cuzk.ok("prove", cuzk.fixture("groth/cube/circuit.params"), cuzk.fixture("groth/cube/witness.wtns"), "p.bin",
            "pub.json", "--r1cs", cuzk.fixture("groth/cube/circuit.r1cs"))
    assert "proof_fixed_rs" in expected
    proof = bytes.fromhex(expected["proof_fixed_rs"])
    cuzk.ok("verify", vk, "pub.json", cuzk.write("fixed.bin", proof))
    infinity = bytes([0xc0]) + bytes(47)
    cuzk.fails(1, "infinity", "verify", vk, "pub.json", cuzk.write("x.bin", infinity + proof[48:]))
    cuzk.fails(1, "", "verify", vk, "pub.json", cuzk.write("x.bin", proof[:191]))
    cuzk.fails(1, "384 bytes", "verify", vk, "pub.json", cuzk.write("x.bin", proof * 2))
    bn = cuzk.circom("bn254", "multiplier2", "verification_key.json")
    cuzk.fails(1, "bls12381", "verify", bn, cuzk.circom("bn254", "multiplier2", "public.json"), "fixed.bin")


def calldata(proof, public):
    """snarkjs' text, computed here from the JSON."""
    h = lambda v: '"0x%064x"' % int(v)
    g1 = lambda p: "[%s, %s]" % (h(p[0]), h(p[1]))
    g2 = "[[%s, %s],[%s, %s]]" % (h(proof["pi_b"][0][1]), h(proof["pi_b"][0][0]), h(proof["pi_b"][1][1]),
                                  h(proof["pi_b"][1][0]))
    return "%s,%s,%s,[%s]\n" % (g1(proof["pi_a"]), g2, g1(proof["pi_c"]), ",".join(h(v) for v in public))


def test_calldata(cuzk):
    """BC-030: byte for byte, also for the values 0, 1 and r - 1."""
    for circuit in CIRCUITS["bn254"]:
        _, public, proof = files(cuzk, "bn254", circuit)
        p, values = json.loads(read(proof)), json.loads(read(public))
        assert cuzk.ok("export", "calldata", public, proof).out == calldata(p, values)
    values = ["0", "1", str(R["bn254"] - 1)]
    assert cuzk.ok("export", "calldata", cuzk.write_json("pub.json", values), proof).out == calldata(p, values)
    cuzk.fails(1, [proof, public, "list of public values", "expected a proof.json"], "export", "calldata", proof, public)
    cuzk.fails(1, "below the field order", "export", "calldata", cuzk.write_json("pub.json", [str(R["bn254"])]), proof)


def test_export_vk(cuzk):
    for curve, circuits in CIRCUITS.items():
        for circuit in circuits:
            vkey = read(cuzk.circom(curve, circuit, "verification_key.json"))
            zkey = cuzk.circom(curve, circuit, "circuit.zkey")
            cuzk.ok("export", "vk", zkey, "vk.json")
            assert read(cuzk.path("vk.json")) == vkey, (curve, circuit)
            assert cuzk.ok("export", "vk", zkey, text=False).out == vkey
    cuzk.ok("export", "vk", zkey, "key.vk", "--format", "bytes")
    assert len(read(cuzk.path("key.vk"))) == 868 + 96 * (1 + len(json.loads(read(files(cuzk, curve, circuit)[1]))))
    cuzk.ok("verify", "key.vk", *files(cuzk, curve, circuit)[1:])
    params = cuzk.fixture("groth/cube/circuit.params")
    cuzk.ok("export", "vk", params, "cube.vk", "--format", "bytes")
    assert read(cuzk.path("cube.vk")) == read(cuzk.fixture("groth/cube/circuit.vk"))
    bn = cuzk.circom("bn254", "multiplier2", "circuit.zkey")
    cuzk.fails(2, "which is over bls12381", "export", "vk", bn, "--format", "bytes")


if __name__ == "__main__":
    harness.main(globals())
