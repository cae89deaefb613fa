# SPDX-License-Identifier: MIT OR Apache-2.0
"""Keys, proofs and refusals of circuits that nobody chose, against groth16_reference.py: random constraints, witnesses and
secret values, other ones in every run (-seed repeats one)."""
import json, random, struct
import harness
from groth16_reference import BLS12_381, BN254, GROUPS, Circuit, key_scalars, lagrange, verify
from harness import Sections, make_r1cs, make_wtns, read, zkey_counts_at

CURVES = (BN254, BLS12_381)


def coefficient(r):
    return random.choice([1, 1, r - 1, 2, 3, r - 2, random.randrange(1, r), random.randrange(1, r)])


def wire_value(r):
    return random.choice([0, 1, 1, 2, r - 1, random.randrange(256), random.randrange(r)])


def random_circuit(curve, n_wires, n_public, n_constraints, use_all=False):
    """A circuit and a witness that satisfies it: C gets one more term that makes up for the rest. use_all: the first
    constraint has every wire in it."""
    r = curve.r
    witness = [1] + [wire_value(r) for _ in range(n_wires - 1)]
    constraints = []
    for i in range(n_constraints):
        a, b, c = ({w: coefficient(r) for w in random.sample(range(n_wires), random.randrange(0, min(5, n_wires) + 1))}
                   for _ in range(3))
        if use_all and i == 0:
            a = {w: coefficient(r) for w in range(n_wires)}
        value = lambda side: sum(k * witness[w] for w, k in side.items())
        missing = (value(a) * value(b) - value(c)) % r
        if missing:
            wire = random.choice([w for w in range(n_wires) if witness[w]])
            k = (c.get(wire, 0) + missing * pow(witness[wire], -1, r)) % r
            c.pop(wire, None)
            if k:
                c[wire] = k
        constraints.append((a, b, c))
    circuit = Circuit(curve, n_wires, n_public, constraints)
    assert circuit.first_broken(witness) is None
    return circuit, witness


def write_files(cuzk, circuit, witness):
    n_out = random.randrange(circuit.n_public + 1)
    r1cs = make_r1cs(circuit.curve.r, circuit.n_wires, n_out, circuit.n_public - n_out, circuit.constraints)
    return cuzk.write("c.r1cs", r1cs), cuzk.write("w.wtns", make_wtns(circuit.curve.r, witness))


def random_toxic(curve):
    return {n: random.randrange(2, curve.r) for n in ("tau", "alpha", "beta", "gamma", "delta")}


def write_toxic(cuzk, toxic):
    return cuzk.write_json("t.json", {n: str(v) for n, v in toxic.items()})


class Points:
    """Packed points of a zkey (Montgomery form, little-endian)."""

    def __init__(self, curve, data):
        self.curve, self.data, self.at = curve, data, 0

    def number(self):
        n = self.curve.bytes
        self.at += n
        return int.from_bytes(self.data[self.at - n:self.at], "little") * self.curve.montgomery_inverse % self.curve.p

    def g1(self):
        x, y = self.number(), self.number()
        return None if x == y == 0 else (x, y)

    def g2(self):
        x, y = (self.number(), self.number()), (self.number(), self.number())
        return None if x == y == (0, 0) else (x, y)

    def all(self, which):
        out = []
        while self.at < len(self.data):
            out.append(self.g1() if which == "g1" else self.g2())
        return out


def test_zkey(cuzk):
    """Every point of a key is the multiple of the generator that the secret values make it."""
    for curve in CURVES:
        g1, g2 = GROUPS[curve.name]
        circuit, witness = random_circuit(curve, random.randrange(3, 8), random.randrange(0, 3), random.randrange(1, 6))
        r1cs, _ = write_files(cuzk, circuit, witness)
        toxic = random_toxic(curve)
        cuzk.ok("setup", r1cs, "k.test.zkey", "--test-trapdoor", write_toxic(cuzk, toxic))
        key = Sections(read(cuzk.path("k.test.zkey")))
        r, n = curve.r, circuit.domain()
        header = key.get(2)
        at = zkey_counts_at(header)
        assert struct.unpack_from("<III", header, at) == (circuit.n_wires, circuit.n_public, n)
        head = Points(curve, header[at + 12:])
        assert (head.g1(), head.g1()) == (g1.times_generator(toxic["alpha"]), g1.times_generator(toxic["beta"]))
        assert (head.g2(), head.g2()) == (g2.times_generator(toxic["beta"]), g2.times_generator(toxic["gamma"]))
        assert (head.g1(), head.g2()) == (g1.times_generator(toxic["delta"]), g2.times_generator(toxic["delta"]))
        a, b, mixed = key_scalars(circuit, toxic, 5)
        over_gamma, over_delta = (pow(toxic[name], -1, r) for name in ("gamma", "delta"))
        n_ic = circuit.n_public + 1
        # H: the Lagrange basis of the odd points of the doubled domain, over delta
        odd = lagrange(curve, curve.root(5, 2 * n), 2 * n, toxic["tau"])[1::2]
        for section, which, scalars in ((3, g1, [x * over_gamma % r for x in mixed[:n_ic]]), (5, g1, a), (6, g1, b), (7, g2, b),
                                        (8, g1, [x * over_delta % r for x in mixed[n_ic:]]),
                                        (9, g1, [x * over_delta % r for x in odd])):
            found = Points(curve, key.get(section)).all("g1" if which is g1 else "g2")
            assert len(found) == len(scalars), (curve.name, section)
            for i, (point, k) in enumerate(zip(found, scalars)):
                assert point == which.times_generator(k), (curve.name, "section", section, "point", i)


def bellperson_points(data, at, n, size):
    """n uncompressed points, big-endian; G2 has the second coordinate of each pair first."""
    out = []
    for _ in range(n):
        words = [int.from_bytes(data[at + k:at + k + 48], "big") for k in range(0, size, 48)]
        if words[0] >> 382 & 1:
            assert words[0] == 1 << 382 and not any(words[1:])
            out.append(None)
        else:
            out.append(tuple(words) if size == 96 else ((words[1], words[0]), (words[3], words[2])))
        at += size
    return out, at


def test_params(cuzk):
    """The same of a bellperson key: another root of unity, powers of tau, and no infinite points."""
    curve = BLS12_381
    g1, g2 = GROUPS[curve.name]
    # a wire of no constraint has no place in such a key
    circuit, witness = random_circuit(curve, random.randrange(3, 7), random.randrange(0, 3), random.randrange(1, 6), True)
    r1cs, wtns = write_files(cuzk, circuit, witness)
    toxic = random_toxic(curve)
    cuzk.ok("setup", r1cs, "--params", "k.test.params", "--test-trapdoor", write_toxic(cuzk, toxic))
    data = read(cuzk.path("k.test.params"))
    r, n, at = curve.r, circuit.domain(), 0
    a, b, mixed = key_scalars(circuit, toxic, 7)
    over_gamma, over_delta = (pow(toxic[name], -1, r) for name in ("gamma", "delta"))
    for which, name in ((g1, "alpha"), (g1, "beta"), (g2, "beta"), (g2, "gamma"), (g1, "delta"), (g2, "delta")):
        points, at = bellperson_points(data, at, 1, 96 if which is g1 else 192)
        assert points[0] == which.times_generator(toxic[name]), name
    n_ic = circuit.n_public + 1
    z = (pow(toxic["tau"], n, r) - 1) * over_delta % r
    for name, which, scalars in (("ic", g1, [x * over_gamma % r for x in mixed[:n_ic]]),
                                 ("h", g1, [pow(toxic["tau"], i, r) * z % r for i in range(n - 1)]),
                                 ("l", g1, [x * over_delta % r for x in mixed[n_ic:]]), ("a", g1, [x for x in a if x]),
                                 ("b_g1", g1, [x for x in b if x]), ("b_g2", g2, [x for x in b if x])):
        count = struct.unpack_from(">I", data, at)[0]
        assert count == len(scalars), (name, count, len(scalars))
        points, at = bellperson_points(data, at + 4, count, 96 if which is g1 else 192)
        for i, (point, k) in enumerate(zip(points, scalars)):
            assert point == which.times_generator(k), (name, i)


def point_of(numbers):
    """A point of snarkjs' JSON."""
    x, y, z = ([tuple(map(int, c)) for c in numbers] if isinstance(numbers[0], list) else map(int, numbers))
    return None if z in (0, (0, 0)) else (x, y)


def test_proofs(cuzk):
    """A fresh key from the system's randomness; its proofs are valid, and no longer so when anything is changed."""
    for curve in CURVES:
        circuit, witness = random_circuit(curve, 9, 3, 7)
        r1cs, wtns = write_files(cuzk, circuit, witness)
        cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json")
        cuzk.ok("prove", "k.zkey", wtns, "p.json", "pub.json")
        vk, p, public = (json.loads(read(cuzk.path(n))) for n in ("vk.json", "p.json", "pub.json"))
        public = [int(v) for v in public]
        assert public == witness[1:4]
        key = {n: point_of(vk["vk_%s_%d" % (n, 1 if n == "alpha" else 2)]) for n in ("alpha", "beta", "gamma", "delta")}
        key["ic"] = [point_of(c) for c in vk["IC"]]
        proof = [point_of(p[n]) for n in ("pi_a", "pi_b", "pi_c")]
        assert verify(curve, key, public, proof), curve.name
        if curve is BN254:
            k = random.randrange(3)
            public[k] = (public[k] + 1) % curve.r
            assert not verify(curve, key, public, proof)
            cuzk.fails(1, "does not verify", "verify", "vk.json", cuzk.write_json("x.json", [str(v) for v in public]), "p.json")


def test_first_broken_constraint(cuzk):
    """Of a witness with one wrong value: the constraint that breaks first, and its three values."""
    for curve in CURVES:
        for _ in range(12):
            circuit, witness = random_circuit(curve, random.randrange(2, 30), 1, random.randrange(1, 40))
            r1cs, wtns = write_files(cuzk, circuit, witness)
            cuzk.ok("check", r1cs, wtns)
            wire = random.randrange(1, circuit.n_wires)
            witness[wire] = (witness[wire] + random.choice([1, curve.r - 1, random.randrange(1, curve.r)])) % curve.r
            wtns = cuzk.write("bad.wtns", make_wtns(curve.r, witness))
            broken = circuit.first_broken(witness)
            if broken is None:  # the wire is in no constraint that notices
                cuzk.ok("check", r1cs, wtns)
                continue
            r = cuzk("check", r1cs, wtns)
            assert r.code == 1, r
            text = r.out + r.err
            assert "constraint %d of %d" % (broken[0], len(circuit.constraints)) in text, (broken, r)
            for name, value in zip("ABC", broken[1:]):
                assert "%s·w = %d" % (name, value) in text, (broken, r)


if __name__ == "__main__":
    harness.main(globals())
