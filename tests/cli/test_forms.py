# SPDX-License-Identifier: MIT OR Apache-2.0
"""One thing in all the forms that it has, decoded here from the bytes: what inspect says of files, verifying keys as JSON
and .vk, proofs as JSON, compact JSON, 192 bytes and Solidity call data. Random circuits, other ones in every run."""
import json, random, struct
import harness
from groth16_reference import BLS12_381, BN254, verify
from harness import Sections, read
from test_reference import CURVES, Points, bellperson_points, point_of, random_circuit, write_files

NAMES = {"bn254": "bn128", "bls12381": "bls12381"}


def facts(cuzk, path):
    """What inspect says, as a dict; --json and the text say the same."""
    j = cuzk.ok("inspect", path, "--json").json()
    assert j["ok"] is True and j["file"] == path, j
    found = {f["name"]: f["value"] for f in j["report"] if f["kind"] == "fact"}
    text = cuzk.ok("inspect", path).out
    for name, value in found.items():
        assert "%-24s %s\n" % (name, value) in text, (name, value, text)
    return found


def expect(found, **wanted):
    for name, value in wanted.items():
        name = name.replace("_", " ")
        assert found.get(name) == value, (name, found.get(name), value)


def check_sections(found, data, names):
    sections = Sections(data)
    expect(found, sections=len(sections.list), version=sections.version, bytes=len(data))
    at = 12
    for kind, content in sections.list:
        name = "section %d (%s)" % (kind, names[kind])
        assert found[name] == "offset %d, %d bytes" % (at + 12, len(content)), (name, found)
        at += 12 + len(content)


def test_inspect_circom(cuzk):
    for curve in CURVES:
        for _ in range(3):
            circuit, witness = random_circuit(curve, random.randrange(2, 40), 1, random.randrange(1, 60))
            r1cs, wtns = write_files(cuzk, circuit, witness)
            found = facts(cuzk, r1cs)
            check_sections(found, read(r1cs), {1: "header", 2: "constraints", 3: "labels"})
            n_out = found["public outputs"]
            expect(found, format="r1cs", curve=NAMES[curve.name], wires=circuit.n_wires,
                   constraints=len(circuit.constraints), labels=circuit.n_wires, public_inputs=1 - n_out,
                   private_inputs=circuit.n_wires - 2)
            found = facts(cuzk, wtns)
            check_sections(found, read(wtns), {1: "header", 2: "values"})
            expect(found, format="wtns", curve=NAMES[curve.name], values=len(witness))
            cuzk.ok("setup", r1cs, "k.zkey")
            found, data = facts(cuzk, "k.zkey"), read(cuzk.path("k.zkey"))
            check_sections(found, data, {1: "protocol", 2: "header", 3: "IC", 4: "coefficients", 5: "A", 6: "B1", 7: "B2",
                                         8: "C", 9: "H", 10: "contributions"})
            n = circuit.domain()
            # a and b of each constraint and the rows of the public values
            n_coefficients = sum(len(a) + len(b) for a, b, _ in circuit.rows())
            expect(found, format="zkey", protocol="groth16", curve=NAMES[curve.name], wires=circuit.n_wires, public_values=1,
                   private_wires=circuit.n_wires - 2, domain="2^%d" % (n.bit_length() - 1), coefficients=n_coefficients)


def test_inspect_bellperson(cuzk):
    for _ in range(3):
        circuit, witness = random_circuit(BLS12_381, random.randrange(3, 20), 2, random.randrange(1, 30), True)
        r1cs, _ = write_files(cuzk, circuit, witness)
        cuzk.ok("setup", r1cs, "--params", "k.params", "--vk", "k.vk")
        found, data = facts(cuzk, "k.params"), read(cuzk.path("k.params"))
        at = 3 * 96 + 3 * 192
        n_ic, = struct.unpack_from(">I", data, at)
        at += 4 + 96 * n_ic
        assert n_ic == 3
        for name, size in (("h", 96), ("l", 96), ("a", 96), ("b_g1", 96), ("b_g2", 192)):
            n, = struct.unpack_from(">I", data, at)
            assert found["array " + name] == "offset %d, %d points" % (at + 4, n), (name, at, n, found)
            at += 4 + n * size
        assert at == len(data)
        n = circuit.domain()
        expect(found, format="params", curve="bls12381", public_values=2, private_variables=circuit.n_wires - 3,
               domain="2^%d" % (n.bit_length() - 1), bytes=len(data))
        found, vk = facts(cuzk, "k.vk"), read(cuzk.path("k.vk"))
        expect(found, curve="bls12381", public_values=2, bytes=len(vk))
        assert vk == data[:len(vk)]  # the key begins with it


def key_of_zkey(curve, data):
    """The verifying key inside a .zkey."""
    sections = Sections(data)
    head = Points(curve, sections.get(2)[harness.zkey_counts_at(sections.get(2)) + 12:])
    key = {"alpha": head.g1()}
    head.g1()
    key["beta"], key["gamma"] = head.g2(), head.g2()
    head.g1()
    key["delta"] = head.g2()
    key["ic"] = Points(curve, sections.get(3)).all("g1")
    return key


def key_of_json(j):
    key = {n: point_of(j["vk_%s_%d" % (n, 1 if n == "alpha" else 2)]) for n in ("alpha", "beta", "gamma", "delta")}
    key["ic"] = [point_of(p) for p in j["IC"]]
    return key


def key_of_bytes(data):
    at, key = 0, {}
    for name, size in (("alpha", 96), (None, 96), ("beta", 192), ("gamma", 192), (None, 96), ("delta", 192)):
        (point,), at = bellperson_points(data, at, 1, size)
        if name:
            key[name] = point
    n, = struct.unpack_from(">I", data, at)
    key["ic"], at = bellperson_points(data, at + 4, n, 96)
    assert at == len(data)
    return key


def test_verifying_keys(cuzk):
    for curve in CURVES:
        circuit, witness = random_circuit(curve, random.randrange(5, 12), random.randrange(0, 4), 6)
        r1cs, _ = write_files(cuzk, circuit, witness)
        cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json")
        key = key_of_zkey(curve, read(cuzk.path("k.zkey")))
        j = json.loads(read(cuzk.path("vk.json")))
        assert key_of_json(j) == key
        assert (j["protocol"], j["curve"], j["nPublic"]) == ("groth16", NAMES[curve.name], circuit.n_public), j
        assert len(key["ic"]) == circuit.n_public + 1
        # the same text from the key, and from the text
        text = read(cuzk.path("vk.json")).decode()
        assert cuzk.ok("export", "vk", "k.zkey").out == text and cuzk.ok("export", "vk", "vk.json").out == text
        if curve is BLS12_381:
            vk = cuzk.ok("export", "vk", "k.zkey", "--format", "bytes", text=False).out
            assert key_of_bytes(vk) == key
            cuzk.write("k.vk", vk)
            assert cuzk.ok("export", "vk", "k.vk").out == text
            assert cuzk.ok("export", "vk", "k.vk", "--format", "bytes", text=False).out == vk
        else:
            cuzk.fails(2, "bls12381", "export", "vk", "k.zkey", "--format", "bytes")


def decompress(curve, data, group):
    """A compressed point of bellperson: x, big-endian, with three flag bits."""
    p, flags = curve.p, data[0] >> 5
    assert flags >> 2 == 1, "not compressed"
    words = [int.from_bytes(bytes([data[k] & (0x1f if k == 0 else 0xff)]) + data[k + 1:k + 48], "big")
             for k in range(0, len(data), 48)]
    if flags >> 1 & 1:
        assert not any(words) and flags == 6
        return None
    larger = flags & 1
    if group == "g1":
        x, = words
        y = pow(x ** 3 + curve.b, (p + 1) // 4, p)
        assert (y * y - x ** 3 - curve.b) % p == 0
        return x, (y if (y > p - y) == larger else p - y)
    x = (words[1], words[0])
    mul = lambda a, b: ((a[0] * b[0] - a[1] * b[1]) % p, (a[0] * b[1] + a[1] * b[0]) % p)
    cube = mul(mul(x, x), x)
    square = ((cube[0] + curve.b) % p, (cube[1] + curve.b) % p)
    # a root in fp2 by roots in fp: with n² = s0² + s1², y0² = (s0 ± n)/2
    n = pow(square[0] ** 2 + square[1] ** 2, (p + 1) // 4, p)
    for sign in (1, -1):
        half = (square[0] + sign * n) * pow(2, -1, p) % p
        y0 = pow(half, (p + 1) // 4, p)
        if y0 * y0 % p == half and y0:
            y = (y0, square[1] * pow(2 * y0, -1, p) % p)
            if mul(y, y) == square:
                other = (p - y[0], (p - y[1]) % p)
                is_larger = (y[1], y[0]) > (other[1], other[0])
                return x, (y if is_larger == larger else other)
    raise AssertionError("no point")


def test_proofs(cuzk):
    for curve in CURVES:
        circuit, witness = random_circuit(curve, 8, 2, 5)
        r1cs, wtns = write_files(cuzk, circuit, witness)
        cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json")
        forms = ["snarkjs", "compact"] + (["bytes"] if curve is BLS12_381 else [])
        for form in forms:
            cuzk.ok("prove", "k.zkey", wtns, "p", "pub", "--format", form)
            cuzk.ok("verify", "vk.json", "pub", "p")
            public, data = read(cuzk.path("pub")).decode(), read(cuzk.path("p"))
            assert json.loads(public) == [str(v) for v in witness[1:3]]
            if form == "bytes":
                assert len(data) == 192
                proof = [decompress(curve, data[:48], "g1"), decompress(curve, data[48:144], "g2"),
                         decompress(curve, data[144:], "g1")]
                key = key_of_zkey(curve, read(cuzk.path("k.zkey")))
                assert verify(curve, key, witness[1:3], proof)
                continue
            j = json.loads(data)
            assert (j["protocol"], j["curve"]) == ("groth16", NAMES[curve.name])
            if form == "compact":  # no white space, keys in order
                assert data.decode() == json.dumps(j, separators=(",", ":"), sort_keys=True)
                assert public == json.dumps([str(v) for v in witness[1:3]], separators=(",", ":"))
            else:
                assert data.decode() == json.dumps(j, indent=1)
                assert public == json.dumps([str(v) for v in witness[1:3]], indent=1)
            calldata = cuzk.ok("export", "calldata", "pub", "p").out
            word = lambda v: '"0x%064x"' % int(v)
            a, b, c = j["pi_a"], j["pi_b"], j["pi_c"]
            pair = lambda x, y: "[%s, %s]" % (word(x), word(y))
            # the two halves of a coordinate of B stand in the other order
            expected = "%s,[%s,%s],%s,[%s]\n" % (pair(a[0], a[1]), pair(b[0][1], b[0][0]), pair(b[1][1], b[1][0]),
                                                pair(c[0], c[1]), ",".join('"0x%064x"' % v for v in witness[1:3]))
            assert calldata == expected, (calldata, expected)


if __name__ == "__main__":
    harness.main({n: f for n, f in globals().items() if getattr(f, "__module__", "") == "__main__"})
